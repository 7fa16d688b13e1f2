/* span.h - some columns of the caller's b and x, and their layout in a stage in device memory:
 * rows of all columns if one of the arrays is row-major, else columns. */
#ifndef TRS_SOLVE_CUDA_SPAN_H
#define TRS_SOLVE_CUDA_SPAN_H

#include "plan/plan.h"

typedef struct trs_span {
  trs_rhs rhs;    /* the part of the caller's arrays */
  int64_t n;      /* rows of that part */
  int64_t height; /* rows of the stage */
  int64_t size;   /* bytes per value */
  bool row_major; /* the stage's layout */
} trs_span;

/* From column first on: `width` columns, or as many as there are. */
trs_span trs_span_of(const trs_rhs *rhs, const trs_system *S, int64_t first, int64_t width);

/* Rows begin .. end - 1 of s, for a stage of `height` rows. */
trs_span trs_span_rows(const trs_span *s, int64_t begin, int64_t end, int64_t height);

/* The bytes from a stage's first value to its row. */
int64_t trs_span_row_at(const trs_span *s, int64_t row);

/* The columns as they lie in stages for x and b, which may be the same memory. */
trs_rhs trs_span_staged(const trs_span *s, void *x, const void *b);

/* Copy from the caller's b to a stage, and from a stage to the caller's x.  stage: of the part's
 * first row. */
trs_status trs_span_bring(const trs_span *s, void *stage, trs_stream stream);
trs_status trs_span_take(const trs_span *s, const void *stage, trs_stream stream);

/* Launches a solve of device arrays on a stream; neither allocates nor waits.  x may be b. */
typedef trs_status (*trs_gpu_launch)(trs_plan *plan, const trs_rhs *rhs, trs_stream stream);

/* The width of a stage for solves like this one. */
int64_t trs_stage_width(const trs_plan *plan, int64_t nrhs, int64_t most);

/* For x or b in host memory: brings `width` columns at a time to the stage, launches their solve
 * there, and copies x out of it, in the order of plan->stream. */
trs_status trs_solve_staged(trs_plan *plan, const trs_rhs *rhs, void *stage, int64_t width,
                            trs_gpu_launch launch);

#endif
