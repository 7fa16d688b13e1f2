/* 11_several_gpus.c - L x = b by the GPUs of one machine, with b and x on the GPUs that solve them:
 * every GPU holds the elements of its share.  Only the values of x that another GPU's rows need
 * cross from GPU to GPU.
 *
 *   11_several_gpus [cuda:0-3]      cuda:0,0 runs it on one GPU */
#include <stdio.h>
#include <stdlib.h>

#include <cuda_runtime_api.h>
#include <trireme.h>

enum { MOST = 32, NO_GPU = 77 };

static _Noreturn void stop(const char *what) {
  fprintf(stderr, "%s\n", what);
  exit(EXIT_FAILURE);
}
static void cuda(cudaError_t error) {
  if (error) stop(cudaGetErrorString(error));
}
static void trireme(trs_status status) {
  if (status) stop(trs_last_error()->message);
}

/* A GPU's b, from the host's; elements outside its share may have any value. */
static void place(double **x, double **b, const double *from, int64_t n) {
  cuda(cudaMalloc((void **)x, (size_t)n * sizeof **x));
  cuda(cudaMalloc((void **)b, (size_t)n * sizeof **b));
  cuda(cudaMemcpy(*b, from, (size_t)n * sizeof **b, cudaMemcpyHostToDevice));
}

/* A GPU's rows of x, into the host's. */
static void gather(double *into, const trs_plan *plan, int member, const double *x, int64_t n) {
  trs_plan_share share = {.struct_size = sizeof share};
  int64_t *row = malloc((size_t)n * sizeof *row);
  double *own = malloc((size_t)n * sizeof *own);
  if (!row || !own) stop("no memory");
  trireme(trs_plan_get_share(plan, &share, row, member, 1));
  cuda(cudaMemcpy(own, x, (size_t)n * sizeof *own, cudaMemcpyDeviceToHost));
  for (int64_t k = 0; share.ncolumns && k < share.nrows; k++) into[row[k]] = own[row[k]];
  printf("member %d: %lld rows of %lld\n", member, (long long)share.nrows, (long long)n);
  free(row);
  free(own);
}

int main(int argc, char **argv) {
  const char *where = argc > 1 ? argv[1] : "cuda:0,0";
  double *x[MOST] = {NULL}, *b[MOST] = {NULL};
  trs_context *ctx;
  trs_matrix *A, *L;
  trs_matrix_info info = {.struct_size = sizeof info};
  trs_plan *plan;
  trs_backward_error error = {.struct_size = sizeof error};
  if (trs_context_create(&ctx, where)) { /* no such GPUs, no driver, or a build without CUDA */
    printf("%s\n", trs_last_error()->message);
    return NO_GPU;
  }
  const int members = trs_context_members(ctx, NULL, NULL);
  trireme(trs_matrix_read(&A, "gen:poisson3d7:40", NULL));
  trireme(trs_matrix_triangle(&L, A, TRS_LOWER, 1));
  trs_matrix_get_info(L, &info);
  const int64_t n = info.nrows;
  double *host_b = malloc((size_t)n * sizeof *host_b), *host_x = malloc((size_t)n * sizeof *host_x);
  if (!host_b || !host_x) stop("no memory");
  trs_random_fill(host_b, n, TRS_DOUBLE, 1);

  /* "push" deals rows; without a name the library measures whether that is faster than one GPU,
   * with b and x as they will lie. */
  trs_options options = {.struct_size = sizeof(trs_options), .method = "push", .distributed = 1};
  trireme(trs_analyze(&plan, ctx, L, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, &options));
  for (int m = 0; m < members; m++) {
    cuda(cudaSetDevice(trs_context_gpu(ctx, m)));
    place(&x[m], &b[m], host_b, n);
  }
  trireme(trs_solve_distributed(plan, (void *const *)x, n, (const void *const *)b, n, 1,
                                TRS_COL_MAJOR));
  trireme(trs_plan_wait(plan));

  for (int m = 0; m < members; m++) gather(host_x, plan, m, x[m], n);
  trireme(trs_check(&error, L, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, host_x, n, host_b, n, 1,
                    TRS_COL_MAJOR));
  printf("backward error %.1e\n", error.componentwise);
  if (!(error.componentwise < 1e-14)) stop("that is too much");

  for (int m = 0; m < members; m++) {
    cuda(cudaFree(x[m]));
    cuda(cudaFree(b[m]));
  }
  free(host_b);
  free(host_x);
  trs_plan_destroy(plan);
  trs_matrix_destroy(L);
  trs_matrix_destroy(A);
  trs_context_destroy(ctx);
  return EXIT_SUCCESS;
}
