/* cublas.c - the peer of block relaxation on a GPU: cuSPARSE's product of a block matrix with a
 * vector and cuBLAS's batched triangular solves, opened at run time: the build needs neither.  The
 * names and numbers below are those of their documented interfaces, versions 12 and 13. */

#include "cublas.h"

#include "cuda.h"
#include "library.h"

enum { DIRECTION_COLUMN = 1, OP_NONE = 0, SIDE_LEFT = 0, FILL_LOWER = 0, FILL_UPPER = 1 };
enum { DIAG_NONUNIT = 0, DIAG_UNIT = 1 };

static struct {
  void *sparse_library, *blas_library, *sparse, *blas, *descriptor;
  int (*sparse_create)(void **);
  int (*create_descriptor)(void **);
  int (*product)(void *, int, int, int, int, int, const float *, void *, const float *, const int *,
                 const int *, int, const float *, const float *, float *);
  int (*blas_create)(void **);
  int (*factor)(void *, int, float *const[], int, int *, int *, int);
  int (*triangle)(void *, int, int, int, int, int, int, const float *, const float *const[], int,
                  float *const[], int, int);
} peer;

static const char *open_both(void) {
  static const char *const sparse[] = {"libcusparse.so.12", "libcusparse.so", NULL};
  static const char *const blas[] = {"libcublas.so.13", "libcublas.so.12", "libcublas.so", NULL};
  static const char *const light[] = {"libcublasLt.so.13", "libcublasLt.so.12", NULL};
  static const char *const linker[] = {"libnvJitLink.so.13", "libnvJitLink.so.12", NULL};
  const char *missing, *unused;
  /* Each library needs one more, which its own search path does not always find. */
  (void)bench_library_open("TRIREME_NVJITLINK", linker, &unused);
  (void)bench_library_open("TRIREME_CUBLASLT", light, &unused);
  peer.sparse_library = bench_library_open("TRIREME_CUSPARSE", sparse, &missing);
  if (missing) return missing;
  peer.blas_library = bench_library_open("TRIREME_CUBLAS", blas, &missing);
  return missing;
}

const char *bench_bsr_load(void) {
  if (peer.blas) return NULL;
  const char *missing = open_both();
  if (missing) return missing;
  if (!bench_library_find(peer.sparse_library, &peer.sparse_create, "cusparseCreate") ||
      !bench_library_find(peer.sparse_library, &peer.create_descriptor, "cusparseCreateMatDescr") ||
      !bench_library_find(peer.sparse_library, &peer.product, "cusparseSbsrmv"))
    return "libcusparse lacks cusparseSbsrmv";
  if (!bench_library_find(peer.blas_library, &peer.blas_create, "cublasCreate_v2") ||
      !bench_library_find(peer.blas_library, &peer.factor, "cublasSgetrfBatched") ||
      !bench_library_find(peer.blas_library, &peer.triangle, "cublasStrsmBatched"))
    return "libcublas lacks its batched functions";
  if (peer.sparse_create(&peer.sparse) || peer.create_descriptor(&peer.descriptor))
    return "cuSPARSE cannot be set up";
  return peer.blas_create(&peer.blas) ? "cuBLAS cannot be set up" : NULL;
}

bool bench_bsr_factor(const bench_bsr *m) {
  return !peer.factor(peer.blas, m->block, m->diagonals, m->block, NULL, m->info, (int)m->rows);
}

/* x of block rows [begin, end) = D^-1 (b - O x); no row of the range reads another one of it. */
bool bench_bsr_relax(const bench_bsr *m, int64_t begin, int64_t end) {
  static const float one = 1, minus = -1;
  const int b = m->block, rows = (int)(end - begin),
            nnzb = (int)(m->off_ptr[end] - m->off_ptr[begin]);
  float *x = m->x + begin * b;
  /* Row pointers count from the first block of the whole matrix. */
  const float *const *d = (const float *const *)m->diagonals + begin;
  return bench_cuda_move_later(x, m->b + begin * b, (size_t)rows * (size_t)b * sizeof *x) &&
         !peer.product(peer.sparse, DIRECTION_COLUMN, OP_NONE, rows, (int)m->rows, nnzb, &minus,
                       peer.descriptor, m->val, m->ptr + begin, m->idx, b, m->x, &one, x) &&
         !peer.triangle(peer.blas, SIDE_LEFT, FILL_LOWER, OP_NONE, DIAG_UNIT, b, 1, &one, d, b,
                        m->xs + begin, b, rows) &&
         !peer.triangle(peer.blas, SIDE_LEFT, FILL_UPPER, OP_NONE, DIAG_NONUNIT, b, 1, &one, d, b,
                        m->xs + begin, b, rows);
}
