/* span.h - some columns of the caller's b and x, and their layout in a stage in device memory:
 * rows of `width` if one of the arrays is row-major, else columns of n. */
#ifndef TRS_SOLVE_CUDA_SPAN_H
#define TRS_SOLVE_CUDA_SPAN_H

#include "plan/method.h"

typedef struct trs_span {
  int64_t n, size; /* rows; bytes per value */
  int64_t first, width;
  bool row_major;
} trs_span;

/* Columns first .. first + width - 1. */
trs_span trs_span_of(const trs_rhs *rhs, const trs_system *S, int64_t first, int64_t width);

/* The columns as they lie in stages for x and b, which may be the same memory. */
trs_rhs trs_span_staged(const trs_span *s, void *x, const void *b);

/* Copy from rhs->b to a stage, and from a stage to rhs->x. */
trs_status trs_span_bring(const trs_span *s, void *stage, const trs_rhs *rhs, trs_stream stream);
trs_status trs_span_take(const trs_span *s, const void *stage, const trs_rhs *rhs,
                         trs_stream stream);

#endif
