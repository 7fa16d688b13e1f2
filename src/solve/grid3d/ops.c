/* ops.c - block operations on a CPU. */
#include "solve/grid3d/ops.h"

#include <math.h>
#include <string.h>

#include "base/config.h"

#if TRS_HAVE_BLAS
#include <cblas.h>

/* OpenBLAS's own, which another library's cblas.h lacks. */
int openblas_get_num_threads(void);
void openblas_set_num_threads(int threads);

/* Below this many multiplications a call costs more than it saves. */
enum { BLAS_FROM = 2048 };

static void gemm_s(int m, int n, int k, const float *A, const float *B, int ldb, float *C,
                   int ldc) {
  if (n == 1)
    cblas_sgemv(CblasColMajor, CblasNoTrans, m, k, 1, A, m, B, 1, 1, C, 1);
  else
    cblas_sgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, A, m, B, ldb, 1, C, ldc);
}

static void gemm_d(int m, int n, int k, const double *A, const double *B, int ldb, double *C,
                   int ldc) {
  if (n == 1)
    cblas_dgemv(CblasColMajor, CblasNoTrans, m, k, 1, A, m, B, 1, 1, C, 1);
  else
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, A, m, B, ldb, 1, C, ldc);
}

static void gemm_c(int m, int n, int k, const float complex *A, const float complex *B, int ldb,
                   float complex *C, int ldc) {
  const float complex one = 1;
  if (n == 1)
    cblas_cgemv(CblasColMajor, CblasNoTrans, m, k, &one, A, m, B, 1, &one, C, 1);
  else
    cblas_cgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, m, n, k, &one, A, m, B, ldb, &one, C,
                ldc);
}

static void gemm_z(int m, int n, int k, const double complex *A, const double complex *B, int ldb,
                   double complex *C, int ldc) {
  const double complex one = 1;
  if (n == 1)
    cblas_zgemv(CblasColMajor, CblasNoTrans, m, k, &one, A, m, B, 1, &one, C, 1);
  else
    cblas_zgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, m, n, k, &one, A, m, B, ldb, &one, C,
                ldc);
}

int trs_blas_single(void) {
  int threads = openblas_get_num_threads();
  if (threads > 1) openblas_set_num_threads(1);
  return threads;
}

void trs_blas_restore(int threads) {
  if (threads > 1) openblas_set_num_threads(threads);
}
#else
int trs_blas_single(void) { return 1; }
void trs_blas_restore(int threads) { (void)threads; }
#endif

#define TRS_TEMPLATE "solve/grid3d/ops_tmpl.c"
#include "base/instantiate.h"

const trs_block_ops *trs_block_ops_of(trs_scalar scalar) {
  static const trs_block_ops *const ops_of[] = {&ops_s, &ops_d, &ops_c, &ops_z};
  return ops_of[scalar];
}
