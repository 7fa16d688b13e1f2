/* ops.h - what a rank does with blocks of numbers, behind a small table: CPU here, through BLAS
 * where the build has it and blocks are large enough, in plain C otherwise.  All arrays are by
 * columns. */
#ifndef TRS_SOLVE_GRID3D_OPS_H
#define TRS_SOLVE_GRID3D_OPS_H

#include "base/scalar.h"
#include "base/status.h"

typedef struct trs_block_ops {
  /* C (m x n, by ldc) += A (m x k, dense) B (k x n, by ldb) */
  void (*multiply)(int64_t m, int64_t n, int64_t k, const void *A, const void *B, int64_t ldb,
                   void *C, int64_t ldc);
  /* to[list[i], j] += from[i, j];  to[i, j] = from[list[i], j], from and to dense on one side */
  void (*scatter)(int64_t m, int64_t n, const int32_t *list, const void *from, void *to,
                  int64_t ldto);
  void (*gather)(int64_t m, int64_t n, const int32_t *list, const void *from, int64_t ldfrom,
                 void *to);
  void (*add)(int64_t count, const void *from, void *to);
  void (*negate)(int64_t count, void *values);
  void (*reverse)(int64_t count, const void *from, void *to);
  /* The first diagonal entry of D (width x width) that is zero or not finite, or -1. */
  int64_t (*bad_diagonal)(int64_t width, const void *D, bool *zero);
  /* out[i, j] = scale[from + i] * in[perm[i], j], and the way back; perm and scale may be NULL. */
  void (*take)(int64_t m, int64_t n, int64_t first, const int32_t *perm, const double *scale,
               const void *in, int64_t ldin, void *out);
  void (*put)(int64_t m, int64_t n, int64_t first, const int32_t *perm, const double *scale,
              const void *in, void *out, int64_t ldout);
} trs_block_ops;

const trs_block_ops *trs_block_ops_of(trs_scalar scalar);

/* BLAS threads are no help beside other ranks on the same cores: one while a solve lasts. */
int trs_blas_single(void);
void trs_blas_restore(int threads);

#endif
