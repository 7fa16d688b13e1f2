/* check.c - the backward errors of answers.  An error takes longer to compute than the solve, so
 * each check has a thread of its own. */
#include <math.h>
#include <stdlib.h>

#include "check.h"

static void *find(void *argument) {
  bench_check *c = argument;
  const bench_system *s = c->system;
  int64_t n = s->info.nrows;
  c->error.struct_size = sizeof c->error;
  c->status = trs_check(&c->error, c->T, s->uplo, TRS_NO_TRANS, s->diag, c->x, n, c->b, n,
                        c->columns, TRS_COL_MAJOR);
  return NULL;
}

void bench_check_begin(bench_check *c) {
  c->given = true;
  c->started = !pthread_create(&c->thread, NULL, find, c);
  if (!c->started) (void)find(c);
}

void bench_check_end(bench_check *c) {
  if (c->started) pthread_join(c->thread, NULL);
  if (c->given) {
    bench_judge(c->row, c->system, &c->error, c->epsilon, c->by_norm);
    c->row->checked = c->columns;
    c->row->wrong |= c->status != TRS_SUCCESS;
  }
  free(c->x);
  c->x = NULL;
}

void bench_judge(bench_row *row, const bench_system *system, const trs_backward_error *error,
                 double epsilon, bool by_norm) {
  double limit = 50 * epsilon * (double)(system->info.longest_row + 1);
  row->componentwise = error->componentwise;
  row->normwise = error->normwise;
  double found = by_norm ? error->normwise : error->componentwise;
  row->wrong = !(found <= limit && isfinite(error->normwise));
}
