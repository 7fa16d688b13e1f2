/* span.c - columns to and from a stage. */
#include "solve/cuda/span.h"

/* Row-major if either array is.  A single column may be contiguous in one array and strided in the
 * other. */
trs_span trs_span_of(const trs_rhs *rhs, const trs_system *S, int64_t first, int64_t width) {
  return (trs_span){.rhs = trs_rhs_columns(rhs, S->scalar, first, width),
                    .n = S->n,
                    .height = S->n,
                    .size = (int64_t)trs_scalar_size(S->scalar),
                    .row_major = rhs->x_row != 1 || rhs->b_row != 1};
}

trs_span trs_span_rows(const trs_span *s, int64_t begin, int64_t end, int64_t height) {
  trs_span rows = *s;
  rows.rhs.x = (char *)s->rhs.x + begin * s->rhs.x_row * s->size;
  rows.rhs.b = (const char *)s->rhs.b + begin * s->rhs.b_row * s->size;
  rows.n = end - begin;
  rows.height = height;
  return rows;
}

int64_t trs_span_row_at(const trs_span *s, int64_t row) {
  return row * (s->row_major ? s->rhs.nrhs : 1) * s->size;
}

trs_rhs trs_span_staged(const trs_span *s, void *x, const void *b) {
  trs_rhs staged = {.x = x, .b = b, .nrhs = s->rhs.nrhs};
  staged.x_row = staged.b_row = s->row_major ? s->rhs.nrhs : 1;
  staged.x_col = staged.b_col = s->row_major ? 1 : s->height;
  return staged;
}

/* Plain copies, one per column: between two GPUs these are the fast ones. */
static trs_status copy_columns(const trs_span *s, char *to, int64_t to_col, const char *from,
                               int64_t from_col, trs_stream stream) {
  const int64_t bytes = s->n * s->size;
  if (to_col == s->n && from_col == s->n)
    return trs_device_copy(to, from, bytes * s->rhs.nrhs, stream);
  for (int64_t c = 0; c < s->rhs.nrhs; c++)
    TRS_TRY(
        trs_device_copy(to + c * to_col * s->size, from + c * from_col * s->size, bytes, stream));
  return TRS_SUCCESS;
}

trs_status trs_span_bring(const trs_span *s, void *stage, trs_stream stream) {
  const int64_t row = s->rhs.nrhs * s->size;
  if (!s->row_major) return copy_columns(s, stage, s->height, s->rhs.b, s->rhs.b_col, stream);
  return trs_device_copy_rows(stage, row, s->rhs.b, s->rhs.b_row * s->size, row, s->n, stream);
}

trs_status trs_span_take(const trs_span *s, const void *stage, trs_stream stream) {
  const int64_t row = s->rhs.nrhs * s->size;
  if (!s->row_major) return copy_columns(s, s->rhs.x, s->rhs.x_col, stage, s->height, stream);
  return trs_device_copy_rows(s->rhs.x, s->rhs.x_row * s->size, stage, row, row, s->n, stream);
}

int64_t trs_stage_width(const trs_plan *plan, int64_t nrhs, int64_t most) {
  int64_t hint = plan->options.nrhs > nrhs ? plan->options.nrhs : nrhs;
  return hint < most ? hint : most;
}

trs_status trs_solve_staged(trs_plan *plan, const trs_rhs *rhs, void *stage, int64_t width,
                            trs_gpu_launch launch) {
  for (int64_t first = 0; first < rhs->nrhs; first += width) {
    const trs_span s = trs_span_of(rhs, &plan->system, first, width);
    const trs_rhs staged = trs_span_staged(&s, stage, stage);
    TRS_TRY(trs_span_bring(&s, stage, plan->stream));
    TRS_TRY(launch(plan, &staged, plan->stream));
    TRS_TRY(trs_span_take(&s, stage, plan->stream));
  }
  return TRS_SUCCESS;
}
