/* kernels.h - substitution for each element type: kernels.c, compiled for each level of
 * instructions (base/cpu.h). */
#ifndef TRS_SOLVE_SERIAL_KERNELS_H
#define TRS_SOLVE_SERIAL_KERNELS_H

#include "base/cpu.h"
#include "plan/plan.h"
#include "plan/wide.h"
#include "solve/serial/once.h"
#include "solve/serial/strips.h"

/* The loops of a pass. */
typedef enum trs_serial_kind {
  TRS_SERIAL_ONE,
  TRS_SERIAL_CHAINED, /* rows are short and need the x computed just before */
  TRS_SERIAL_RAGGED,  /* the number of entries changes from row to row */
  TRS_SERIAL_FOUR,    /* four right-hand sides with any strides */
  TRS_SERIAL_WIDE     /* TRS_WIDE adjacent right-hand sides */
} trs_serial_kind;

enum { TRS_SERIAL_BLOCK = 256 }; /* rows loaded, solved and stored together */

/* The right-hand sides r .. r + width - 1 of a trs_rhs, which share one pass over the matrix, and
 * where they are solved: value (i, t) at x[i * xs + t * xc]. */
typedef struct trs_serial_tile {
  trs_serial_kind kind;
  int64_t r;
  int width;
  bool load;  /* the caller's b is copied to x first, and b is x; x then has xc = 1 */
  bool bare;  /* the diagonal is not stored in any row */
  bool store; /* x is copied to the caller's x afterwards; xc = 1 */
  void *x;
  const void *b;
  int64_t xs, xc, bs, bc;
} trs_serial_tile;

typedef struct trs_serial_kernels {
  void (*sweep[TRS_NSCALARS])(const trs_system *S, const trs_rhs *rhs, const trs_serial_tile *tile);
  void (*strips)(const trs_strips *strips, const trs_rhs *rhs, const trs_serial_tile *tile);
  void (*once_by_rows[TRS_NSCALARS])(trs_once *o, void *x, const void *b);
  void (*once_by_columns[TRS_NSCALARS])(trs_once *o, void *x, const void *b);
} trs_serial_kernels;

extern const trs_serial_kernels trs_serial_kernels_baseline, trs_serial_kernels_avx2,
    trs_serial_kernels_avx512;

#endif
