/* span.c - columns to and from a stage. */
#include "solve/cuda/span.h"

/* Row-major if either array is.  A single column may be contiguous in one array and strided in the
 * other. */
trs_span trs_span_of(const trs_rhs *rhs, const trs_system *S, int64_t first, int64_t width) {
  return (trs_span){.n = S->n,
                    .size = (int64_t)trs_scalar_size(S->scalar),
                    .first = first,
                    .width = width,
                    .row_major = rhs->x_row != 1 || rhs->b_row != 1};
}

trs_rhs trs_span_staged(const trs_span *s, void *x, const void *b) {
  trs_rhs staged = {.x = x, .b = b, .nrhs = s->width};
  staged.x_row = staged.b_row = s->row_major ? s->width : 1;
  staged.x_col = staged.b_col = s->row_major ? 1 : s->n;
  return staged;
}

/* Plain copies, one per column: between two GPUs these are the fast ones. */
static trs_status copy_columns(const trs_span *s, char *to, int64_t to_col, const char *from,
                               int64_t from_col, trs_stream stream) {
  const int64_t bytes = s->n * s->size;
  if (to_col == s->n && from_col == s->n)
    return trs_device_copy(to, from, bytes * s->width, stream);
  for (int64_t c = 0; c < s->width; c++)
    TRS_TRY(
        trs_device_copy(to + c * to_col * s->size, from + c * from_col * s->size, bytes, stream));
  return TRS_SUCCESS;
}

trs_status trs_span_bring(const trs_span *s, void *stage, const trs_rhs *rhs, trs_stream stream) {
  const char *b = (const char *)rhs->b + s->first * rhs->b_col * s->size;
  const int64_t row = s->width * s->size;
  if (!s->row_major) return copy_columns(s, stage, s->n, b, rhs->b_col, stream);
  return trs_device_copy_rows(stage, row, b, rhs->b_row * s->size, row, s->n, stream);
}

trs_status trs_span_take(const trs_span *s, const void *stage, const trs_rhs *rhs,
                         trs_stream stream) {
  char *x = (char *)rhs->x + s->first * rhs->x_col * s->size;
  const int64_t row = s->width * s->size;
  if (!s->row_major) return copy_columns(s, x, rhs->x_col, stage, s->n, stream);
  return trs_device_copy_rows(x, rhs->x_row * s->size, stage, row, row, s->n, stream);
}
