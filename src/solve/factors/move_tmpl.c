/* move_tmpl.c - copies right-hand sides into the workspace and solutions out of it, permuted and
 * scaled; each thread moves a share of the rows. */

static void NAME(gather)(void *argument, int rank, int size) {
  const trs_move_job *job = argument;
  const trs_moves *s = job->moves;
  const trs_rhs *R = job->rhs;
  const SCALAR *b = (const SCALAR *)R->b + job->first * R->b_col;
  SCALAR *work = job->work;
  int64_t begin, end;
  trs_share(job->n, rank, size, &begin, &end);
  for (int64_t i = begin; i < end; i++) {
    int64_t from = s->in_perm ? s->in_perm[i] : i;
    REAL scale = s->in_scale ? (REAL)s->in_scale[from] : 1;
    for (int t = 0; t < job->width; t++)
      work[i * job->width + t] = scale * b[from * R->b_row + t * R->b_col];
  }
}

static void NAME(scatter)(void *argument, int rank, int size) {
  const trs_move_job *job = argument;
  const trs_moves *s = job->moves;
  const trs_rhs *R = job->rhs;
  SCALAR *x = (SCALAR *)R->x + job->first * R->x_col;
  const SCALAR *work = job->work;
  int64_t begin, end;
  trs_share(job->n, rank, size, &begin, &end);
  for (int64_t i = begin; i < end; i++) {
    int64_t to = s->out_perm ? s->out_perm[i] : i;
    REAL scale = s->out_scale ? (REAL)s->out_scale[to] : 1;
    for (int t = 0; t < job->width; t++)
      x[to * R->x_row + t * R->x_col] = scale * work[i * job->width + t];
  }
}
