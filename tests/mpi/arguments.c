/* arguments.c - NULL for every pointer argument of every public function on ranks: an error on all
 * ranks, whether all ranks or one of them pass NULL.  Run by mpirun; rank 0 prints 'ok NAME' and
 * 'not ok NAME'. */
#include <stdio.h>
#include <string.h>

#include "mpi/verdict.h"
#include "bsr.h"

enum { N = 100 };

static int good;
static trs_context *ctx;
static trs_matrix *A;
static trs_factors *F;
static trs_mpi_plan *plan;
static trs_mpi_relaxation *R;
static double x[N], b[N];

static void conclude(const char *name) {
  say(name, good);
  good = 1;
}
static void refused(const char *call, trs_status status, const char *words) {
  if (status == TRS_ERROR_ARGUMENT && strstr(trs_last_error()->message, words)) return;
  fprintf(stderr, "rank %d: %s: %s: %s\n", rank, call, trs_status_name(status),
          status ? trs_last_error()->message : "");
  good = 0;
}
#define REFUSED(words, call) refused(#call, call, words)

/* The pointer; NULL on rank `odd`, or on all ranks if odd is negative. */
static void *but(const void *pointer, int odd) {
  return odd < 0 || rank == odd ? NULL : (void *)pointer;
}

static void plans_are_not_made(int odd) {
  trs_mpi_plan *made;
  const trs_mpi_options options = {
      .struct_size = sizeof(trs_mpi_options), .px = size, .py = 1, .pz = 1};
  const trs_mpi_blocks blocks = {.struct_size = sizeof(trs_mpi_blocks),
                                 .scalar = TRS_DOUBLE,
                                 .index_bytes = 4,
                                 .scale_bytes = 8,
                                 .px = size,
                                 .py = 1,
                                 .n = N,
                                 .nsupers = 1};
  REFUSED("plan is NULL",
          trs_mpi_analyze(but(&made, odd), MPI_COMM_WORLD, NULL, F, TRS_NO_TRANS, &options));
  REFUSED("plan is NULL", trs_mpi_analyze_file(but(&made, odd), MPI_COMM_WORLD, NULL, "F.h5",
                                               TRS_NO_TRANS, &options));
  REFUSED("plan is NULL", trs_mpi_analyze_blocks(but(&made, odd), MPI_COMM_WORLD, NULL, &blocks,
                                                 TRS_NO_TRANS, &options));
  REFUSED("blocks is NULL", trs_mpi_analyze_blocks(&made, MPI_COMM_WORLD, NULL, but(&blocks, odd),
                                                   TRS_NO_TRANS, &options));
  if (odd > 0) return; /* only rank 0's argument is used */
  REFUSED("factors are NULL",
          trs_mpi_analyze(&made, MPI_COMM_WORLD, NULL, but(F, odd), TRS_NO_TRANS, &options));
  REFUSED("is NULL", trs_mpi_analyze_file(&made, MPI_COMM_WORLD, NULL, but("F.h5", odd),
                                          TRS_NO_TRANS, &options));
  REFUSED("something is missing",
          trs_mpi_analyze_blocks(&made, MPI_COMM_WORLD, NULL, &blocks, TRS_NO_TRANS, &options));
}

static void plans_are_not_used(int odd) {
  trs_mpi_stats stats = {.struct_size = sizeof stats};
  REFUSED("plan is NULL", trs_mpi_solve(NULL, x, N, b, N, 1, TRS_COL_MAJOR));
  REFUSED("plan is NULL", trs_mpi_refine(NULL, x, N, NULL, NULL, b, N, 1, TRS_COL_MAJOR, A, 1));
  REFUSED("plan is NULL", trs_mpi_distribute(NULL, 0, rank ? 0 : N));
  REFUSED("plan is NULL", trs_mpi_get_stats(NULL, &stats, TRS_MPI_MAX)); /* on each rank alone */
  REFUSED("stats is NULL", trs_mpi_get_stats(plan, but(&stats, odd), TRS_MPI_MAX));
  const trs_mpi_over over = odd < 0 || rank == odd ? (trs_mpi_over)3 : TRS_MPI_MAX;
  REFUSED("over = 3", trs_mpi_get_stats(plan, &stats, over));
  if (odd > 0) return; /* ranks without rows take NULL */
  REFUSED("x or b is NULL", trs_mpi_solve(plan, but(x, odd), N, b, N, 1, TRS_COL_MAJOR));
  REFUSED("x or b is NULL", trs_mpi_solve(plan, x, N, but(b, odd), N, 1, TRS_COL_MAJOR));
  REFUSED("x or b is NULL",
          trs_mpi_refine(plan, but(x, odd), N, NULL, NULL, b, N, 1, TRS_COL_MAJOR, A, 1));
  REFUSED("x or b is NULL",
          trs_mpi_refine(plan, x, N, NULL, NULL, but(b, odd), N, 1, TRS_COL_MAJOR, A, 1));
  REFUSED("NULL", trs_mpi_refine(plan, x, N, NULL, NULL, b, N, 1, TRS_COL_MAJOR, but(A, odd), 1));
}

static void relaxations_refuse(int odd) {
  static const int64_t ptr[N + 1];
  static const int32_t idx[1];
  trs_mpi_relaxation *made;
  trs_relax_info info = {.struct_size = sizeof info};
  REFUSED("ctx is NULL", trs_mpi_relax_create(&made, MPI_COMM_WORLD, but(ctx, odd), A, 1, NULL));
  REFUSED("R is NULL", trs_mpi_relax_create(but(&made, odd), MPI_COMM_WORLD, ctx, A, 1, NULL));
  REFUSED("R is NULL", trs_mpi_relax_update(NULL, A));
  if (odd < 0)
    REFUSED("R is NULL", trs_mpi_relax_update_bsr(NULL, BSR((trs_scalar)0, 0, 0, 0, TRS_ROW_MAJOR,
                                                            TRS_PTR64, ptr, idx, x)));
  REFUSED("R is NULL", trs_mpi_relax_sweep(NULL, x, N, b, N, 1, TRS_COL_MAJOR, NULL));
  if (odd < 0) REFUSED("R is NULL", trs_mpi_relax_get_info(NULL, &info, NULL, TRS_MPI_MAX));
  if (odd > 0) return;
  REFUSED("NULL", trs_mpi_relax_create(&made, MPI_COMM_WORLD, ctx, but(A, odd), 1, NULL));
  REFUSED("NULL", trs_mpi_relax_update(R, but(A, odd)));
  REFUSED("NULL",
          trs_mpi_relax_create_bsr(
              &made, MPI_COMM_WORLD, ctx,
              BSR(TRS_DOUBLE, N, 0, 1, TRS_ROW_MAJOR, TRS_PTR64, but(ptr, odd), idx, x), NULL));
  REFUSED("NULL", trs_mpi_relax_sweep(R, but(x, odd), N, b, N, 1, TRS_COL_MAJOR, NULL));
  REFUSED("NULL", trs_mpi_relax_sweep(R, x, N, but(b, odd), N, 1, TRS_COL_MAJOR, NULL));
}

static void set_up(void) {
  const trs_mpi_options options = {
      .struct_size = sizeof(trs_mpi_options), .px = size, .py = 1, .pz = 1};
  must(trs_context_create(&ctx, "serial"), "trs_context_create");
  must(trs_matrix_read(&A, "gen:poisson2d5:10", NULL), "trs_matrix_read");
  must(trs_factor(&F, A, NULL), "trs_factor");
  must(trs_mpi_analyze(&plan, MPI_COMM_WORLD, NULL, F, TRS_NO_TRANS, &options), "trs_mpi_analyze");
  must(trs_mpi_relax_create(&R, MPI_COMM_WORLD, ctx, rank ? NULL : A, 1, NULL),
       "trs_mpi_relax_create");
  trs_random_fill(b, N, TRS_DOUBLE, 1);
}

static void tear_down(void) {
  trs_mpi_plan_destroy(plan);
  trs_mpi_plan_destroy(NULL);
  trs_mpi_relax_destroy(R);
  trs_mpi_relax_destroy(NULL);
  trs_factors_destroy(F);
  trs_matrix_destroy(A);
  trs_context_destroy(ctx);
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  good = 1;
  set_up();
  for (int odd = -1; odd < size; odd++) {
    plans_are_not_used(odd);
    relaxations_refuse(odd);
  }
  conclude("plans and relaxations refuse NULL");
  trs_mpi_plan *made;
  for (int odd = -1; odd < size; odd++) plans_are_not_made(odd);
  REFUSED("MPI_COMM_NULL", trs_mpi_analyze(&made, MPI_COMM_NULL, NULL, F, TRS_NO_TRANS, NULL));
  REFUSED("MPI_COMM_NULL", trs_mpi_relax_create(&R, MPI_COMM_NULL, ctx, A, 1, NULL));
  REFUSED("MPI_COMM_NULL", trs_mpi_agree(MPI_COMM_NULL, TRS_SUCCESS));
  must(trs_mpi_solve(plan, x, N, b, N, 1, TRS_COL_MAJOR),
       "trs_mpi_solve"); /* none of the calls above has changed anything */
  conclude("plans are not made of NULL");
  tear_down();
  MPI_Finalize();
  return failures != 0;
}
