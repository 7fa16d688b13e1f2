/* incomplete.c - cuSPARSE's csrilu02 and csric02, opened at run time.  The names and numbers are
 * those of its documented legacy interface, deprecated since version 12. */
#include "incomplete.h"

#include <stddef.h>

#include "cuda.h"
#include "cusparse.h"
#include "progress.h"

typedef int ask_function(void *, int, int, void *, double *, const int32_t *, const int32_t *,
                         void *, int *);
typedef int analysis_function(void *, int, int, void *, const double *, const int32_t *,
                              const int32_t *, void *, int, void *);
typedef int factor_function(void *, int, int, void *, double *, const int32_t *, const int32_t *,
                            void *, int, void *);
typedef int pivot_function(void *, void *, int *);

static struct {
  int (*create_matrix)(void **);
  void *matrix;
  struct {
    int (*create)(void **), (*destroy)(void *);
    ask_function *ask;
    analysis_function *analyze;
    factor_function *factor;
    pivot_function *pivot;
  } of[2]; /* ILU, IC */
} legacy;

const char *bench_incomplete_load(void) {
  if (legacy.matrix) return NULL;
  const bool found = bench_cusparse_find(&legacy.create_matrix, "cusparseCreateMatDescr") &&
                     bench_cusparse_find(&legacy.of[0].create, "cusparseCreateCsrilu02Info") &&
                     bench_cusparse_find(&legacy.of[0].destroy, "cusparseDestroyCsrilu02Info") &&
                     bench_cusparse_find(&legacy.of[0].ask, "cusparseDcsrilu02_bufferSize") &&
                     bench_cusparse_find(&legacy.of[0].analyze, "cusparseDcsrilu02_analysis") &&
                     bench_cusparse_find(&legacy.of[0].factor, "cusparseDcsrilu02") &&
                     bench_cusparse_find(&legacy.of[0].pivot, "cusparseXcsrilu02_zeroPivot") &&
                     bench_cusparse_find(&legacy.of[1].create, "cusparseCreateCsric02Info") &&
                     bench_cusparse_find(&legacy.of[1].destroy, "cusparseDestroyCsric02Info") &&
                     bench_cusparse_find(&legacy.of[1].ask, "cusparseDcsric02_bufferSize") &&
                     bench_cusparse_find(&legacy.of[1].analyze, "cusparseDcsric02_analysis") &&
                     bench_cusparse_find(&legacy.of[1].factor, "cusparseDcsric02") &&
                     bench_cusparse_find(&legacy.of[1].pivot, "cusparseXcsric02_zeroPivot");
  if (!found) return "this libcusparse has no csrilu02 and csric02: version 12 has";
  return bench_cusparse_good(legacy.create_matrix(&legacy.matrix)) ? NULL : bench_cusparse_error();
}

bool bench_incomplete_analyze(bench_incomplete *s, double *seconds) {
  int bytes = 0;
  void *handle = bench_cusparse_handle();
  bool good = bench_cusparse_good(legacy.of[s->cholesky].create(&s->info)) &&
              bench_cusparse_good(legacy.of[s->cholesky].ask(
                  handle, s->n, s->nnz, legacy.matrix, s->val, s->ptr, s->idx, s->info, &bytes)) &&
              bench_cuda_alloc(&s->buffer, (size_t)bytes) && bench_cuda_wait();
  const double start = seconds_now();
  good = good &&
         bench_cusparse_good(legacy.of[s->cholesky].analyze(handle, s->n, s->nnz, legacy.matrix,
                                                            s->val, s->ptr, s->idx, s->info,
                                                            s->by_levels, s->buffer)) &&
         bench_cuda_wait();
  *seconds = seconds_now() - start;
  return good;
}

/* The pivot's place is -1 if none is zero; the call that asks waits. */
bool bench_incomplete_factor(const bench_incomplete *s, double *seconds) {
  int place = -1;
  void *handle = bench_cusparse_handle();
  const double start = seconds_now();
  const bool good = bench_cusparse_good(legacy.of[s->cholesky].factor(
                        handle, s->n, s->nnz, legacy.matrix, s->val, s->ptr, s->idx, s->info,
                        s->by_levels, s->buffer)) &&
                    bench_cusparse_good(legacy.of[s->cholesky].pivot(handle, s->info, &place)) &&
                    bench_cuda_wait();
  *seconds = seconds_now() - start;
  return good && place < 0;
}

void bench_incomplete_free(bench_incomplete *s) {
  if (s->info) (void)legacy.of[s->cholesky].destroy(s->info);
  BENCH_CUDA_FREE(s->buffer);
  s->info = s->buffer = NULL;
}
