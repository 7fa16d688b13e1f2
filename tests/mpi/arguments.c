/* arguments.c - NULL for every pointer argument of every public function on ranks: an error on all
 * ranks, whether all ranks or one of them pass NULL.  Run by mpirun; rank 0 prints 'ok NAME' and
 * 'not ok NAME'. */
#include <float.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "api/domains.h"
#include "mpi/verdict.h"
#include "bsr.h"

enum { N = 100 };

static int good;
static trs_context *ctx;
static trs_matrix *A;
static trs_factors *F;
static trs_mpi_plan *plan;
static trs_mpi_plan *R; /* of relaxation */
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
  const trs_mpi_rows rows = {.struct_size = sizeof(trs_mpi_rows)};
  REFUSED("plan is NULL",
          trs_mpi_analyze(but(&made, odd), MPI_COMM_WORLD, NULL, F, TRS_NO_TRANS, &options));
  REFUSED("plan is NULL", trs_mpi_analyze_file(but(&made, odd), MPI_COMM_WORLD, NULL, "F.h5",
                                               TRS_NO_TRANS, &options));
  REFUSED("plan is NULL", trs_mpi_analyze_blocks(but(&made, odd), MPI_COMM_WORLD, NULL, &blocks,
                                                 TRS_NO_TRANS, &options));
  REFUSED("plan is NULL", trs_mpi_analyze_rows(but(&made, odd), MPI_COMM_WORLD, NULL, &rows,
                                               TRS_NO_TRANS, &options));
  REFUSED("rows is NULL", trs_mpi_analyze_rows(&made, MPI_COMM_WORLD, NULL, but(&rows, odd),
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
  for (int k = 0; k < 2; k++) { /* one rank alone has other steps than the others */
    const int steps = odd >= 0 && rank != odd ? 1 : k ? INT_MIN : -1;
    const char *said =
        odd < 0 || size == 1 ? (k ? "steps is -2147483648" : "steps is -1") : "steps";
    REFUSED(said, trs_mpi_refine(plan, x, N, NULL, NULL, b, N, 1, TRS_COL_MAJOR, A, steps));
  }
  if (odd > 0) return; /* ranks without rows take NULL */
  REFUSED("is NULL", trs_mpi_solve(plan, but(x, odd), N, b, N, 1, TRS_COL_MAJOR));
  REFUSED("is NULL", trs_mpi_solve(plan, x, N, but(b, odd), N, 1, TRS_COL_MAJOR));
  REFUSED("is NULL",
          trs_mpi_refine(plan, but(x, odd), N, NULL, NULL, b, N, 1, TRS_COL_MAJOR, A, 1));
  REFUSED("is NULL",
          trs_mpi_refine(plan, x, N, NULL, NULL, but(b, odd), N, 1, TRS_COL_MAJOR, A, 1));
  REFUSED("NULL", trs_mpi_refine(plan, x, N, NULL, NULL, b, N, 1, TRS_COL_MAJOR, but(A, odd), 1));
}

/* Rows that are not the matrix's, and sums that 64 bits do not hold. */
static void distributions_are_checked(void) {
  REFUSED("of the matrix's", trs_mpi_distribute(plan, INT64_MAX, INT64_MAX));
  REFUSED("of the matrix's", trs_mpi_distribute(plan, 1, N));
  if (size > 1) REFUSED("those of rank 1 do not begin", trs_mpi_distribute(plan, 0, N));
  must(trs_mpi_distribute(plan, 0, rank ? 0 : N), "rows on rank 0");
}

static void layouts_are_checked(int odd) {
  const trs_layout other = odd < 0 || rank == odd ? (trs_layout)2 : TRS_COL_MAJOR;
  REFUSED("layout", trs_mpi_solve(plan, x, N, b, N, 1, other));
  must(trs_mpi_relax_update(R, A), "an update after those that failed");
  REFUSED("layout", trs_mpi_relax_sweep(R, x, N, b, N, 1, other, NULL));
}

/* A call of the other kind names those that serve, and nothing moves. */
static void kinds_are_told_apart(void) {
  const trs_matrix *rows = NULL;
  trs_mpi_stats stats = {.struct_size = sizeof stats};
  trs_relax_info info = {.struct_size = sizeof info};
  REFUSED("is of relaxation: call trs_mpi_relax_sweep",
          trs_mpi_solve(R, x, N, b, N, 1, TRS_COL_MAJOR));
  REFUSED("is of relaxation", trs_mpi_refine(R, x, N, NULL, NULL, b, N, 1, TRS_COL_MAJOR, rows, 1));
  REFUSED("is of relaxation", trs_mpi_distribute(R, 0, rank ? 0 : N));
  REFUSED("is of relaxation", trs_mpi_get_stats(R, &stats, TRS_MPI_MAX));
  REFUSED("is of factors: call trs_mpi_solve", trs_mpi_relax_update(plan, A));
  REFUSED("is of factors", trs_mpi_relax_sweep(plan, x, N, b, N, 1, TRS_COL_MAJOR, NULL));
  REFUSED("is of factors", trs_mpi_relax_get_info(plan, &info, NULL, TRS_MPI_MAX));
  REFUSED("plan is NULL", trs_mpi_set_stream(NULL, NULL));
  must(trs_mpi_set_stream(R, NULL), "a stream, which the CPU ignores");
  must(trs_mpi_relax_sweep(R, x, N, b, N, 1, TRS_COL_MAJOR, NULL), "a sweep after these calls");
}

/* A status that no call in this thread has returned has no message of its own. */
static void statuses_are_told(void) {
  const int who = size - 1;
  REFUSED("status = 77", trs_mpi_agree(MPI_COMM_WORLD, rank == who ? (trs_status)77 : TRS_SUCCESS));
  trs_status status = trs_mpi_agree(MPI_COMM_WORLD, rank == who ? TRS_ERROR_FILE : TRS_SUCCESS);
  if (!fails(status, TRS_ERROR_FILE, "file error")) good = 0;
}

static void relaxations_refuse(int odd) {
  static const int64_t ptr[N + 1];
  static const int32_t idx[1];
  trs_mpi_plan *made;
  trs_relax_info info = {.struct_size = sizeof info};
  REFUSED("ctx is NULL: make one by trs_mpi_context_create",
          trs_mpi_relax_create(&made, MPI_COMM_WORLD, but(ctx, odd), A, 1, NULL));
  REFUSED("the address of the plan is NULL",
          trs_mpi_relax_create(but(&made, odd), MPI_COMM_WORLD, ctx, A, 1, NULL));
  REFUSED("the plan is NULL", trs_mpi_relax_update(NULL, A));
  if (odd < 0)
    REFUSED("the plan is NULL",
            trs_mpi_relax_update_bsr(
                NULL, BSR((trs_scalar)0, 0, 0, 0, TRS_ROW_MAJOR, TRS_PTR64, ptr, idx, x)));
  REFUSED("the plan is NULL", trs_mpi_relax_sweep(NULL, x, N, b, N, 1, TRS_COL_MAJOR, NULL));
  if (odd < 0) REFUSED("the plan is NULL", trs_mpi_relax_get_info(NULL, &info, NULL, TRS_MPI_MAX));
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

/* Every field of trs_mpi_options, with a value outside its domain on rank `odd`, or on all. */
static void options_are_checked(int odd) {
  static const domain fields[] = {WHOLE(trs_mpi_options, px, 0, INT32_MAX),
                                  WHOLE(trs_mpi_options, py, 0, INT32_MAX),
                                  WHOLE(trs_mpi_options, pz, 0, INT32_MAX),
                                  WHOLE(trs_mpi_options, flat_trees, 0, 1),
                                  WHOLE(trs_mpi_options, width, 0, INT32_MAX),
                                  WHOLE(trs_mpi_options, relax, -1, 100),
                                  WHOLE(trs_mpi_options, scattered, 0, 1),
                                  WHOLE(trs_mpi_options, scalar, 0, TRS_DCOMPLEX),
                                  REAL(trs_mpi_options, timeout_seconds, -DBL_MAX, DBL_MAX),
                                  WHOLE(trs_mpi_options, nrhs, 0, INT64_MAX),
                                  WHOLE(trs_mpi_options, in_turn, 0, 1)};
  for (size_t k = 0; k < sizeof fields / sizeof *fields; k++)
    for (int v = 0; v < TRIED; v++) {
      const trs_mpi_options options = {
          .struct_size = sizeof(trs_mpi_options), .px = size, .py = 1, .pz = 1};
      trs_mpi_plan *made;
      char shown[32], words[64];
      trs_mpi_options wrong = options;
      if (!put_tried((char *)&wrong, &fields[k], v, shown, sizeof shown)) continue;
      snprintf(words, sizeof words, "%s is %s", fields[k].name, shown);
      REFUSED(words, trs_mpi_analyze(&made, MPI_COMM_WORLD, NULL, F, TRS_NO_TRANS,
                                     odd < 0 || odd == rank ? &wrong : &options));
      if (odd >= 0) continue;
      REFUSED(words,
              trs_mpi_analyze_file(&made, MPI_COMM_WORLD, NULL, "F.h5", TRS_NO_TRANS, &wrong));
    }
}

static void half_a_shape_is_refused(void) {
  const trs_mpi_options half = {.struct_size = sizeof(trs_mpi_options), .px = size};
  trs_mpi_plan *made;
  REFUSED("set all three to at least 1, or all to 0",
          trs_mpi_analyze(&made, MPI_COMM_WORLD, NULL, F, TRS_NO_TRANS, &half));
}

/* Ranks that pass unlike arguments, each of which would do alone. */
static void unlike_arguments_are_refused(int odd) {
  const trs_mpi_options options = {
      .struct_size = sizeof(trs_mpi_options), .px = size, .py = 1, .pz = 1};
  const trs_mpi_options grids = {
      .struct_size = sizeof(trs_mpi_options), .px = 1, .py = 1, .pz = size};
  trs_mpi_options other[5];
  trs_mpi_plan *made, *relaxed;
  trs_matrix *small;
  trs_factors *of_small;
  if (size == 1 || odd < 0) return;
  for (int k = 0; k < 5; k++) other[k] = options;
  other[0].px = 1, other[0].py = size;
  other[1].width = 7;
  other[2].relax = 30;
  other[3].invert = "separators";
  other[4].nrhs = 9;
  for (int k = 0; k < 5; k++)
    REFUSED("the same on all", trs_mpi_analyze(&made, MPI_COMM_WORLD, NULL, F, TRS_NO_TRANS,
                                               rank == odd ? &other[k] : &options));
  REFUSED("the same on all", trs_mpi_analyze(&made, MPI_COMM_WORLD, NULL, F,
                                             rank == odd ? TRS_TRANS : TRS_NO_TRANS, &options));
  if (size == 2)
    REFUSED("the same on all", trs_mpi_analyze(&made, MPI_COMM_WORLD, rank == odd ? NULL : ctx, F,
                                               TRS_NO_TRANS, &grids));
  must(trs_matrix_read(&small, "gen:poisson2d5:7", NULL), "trs_matrix_read");
  must(trs_factor(&of_small, small, NULL), "trs_factor");
  REFUSED("", trs_mpi_analyze(&made, MPI_COMM_WORLD, NULL, rank == odd ? of_small : F, TRS_NO_TRANS,
                              &options));
  REFUSED("the same on all",
          trs_mpi_relax_create(&relaxed, MPI_COMM_WORLD, ctx, A, rank == odd ? 2 : 1, NULL));
  trs_factors_destroy(of_small);
  trs_matrix_destroy(small);
}

/* No rank may wait for another. */
static void inter_communicators_are_refused(void) {
  static const char *const words = "inter-communicator";
  MPI_Comm half, inter;
  trs_mpi_plan *made, *relaxed;
  trs_context *where;
  if (size == 1) return;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank % 2 ? 0 : 1, 7, &inter);
  REFUSED(words, trs_mpi_agree(inter, TRS_SUCCESS));
  REFUSED(words, trs_mpi_context_create(&where, inter, "serial"));
  REFUSED(words, trs_mpi_analyze(&made, inter, NULL, F, TRS_NO_TRANS, NULL));
  REFUSED(words, trs_mpi_analyze_file(&made, inter, NULL, "F.h5", TRS_NO_TRANS, NULL));
  REFUSED(words, trs_mpi_analyze_blocks(&made, inter, NULL, NULL, TRS_NO_TRANS, NULL));
  REFUSED(words, trs_mpi_analyze_rows(&made, inter, NULL, NULL, TRS_NO_TRANS, NULL));
  REFUSED(words, trs_mpi_relax_create(&relaxed, inter, ctx, A, 1, NULL));
  REFUSED(words, trs_mpi_relax_create_bsr(&relaxed, inter, ctx, NULL, NULL));
  REFUSED(words, trs_mpi_agree_f(MPI_Comm_c2f(inter), TRS_SUCCESS));
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
}

static void communicators_are_checked(void) {
  int dims[] = {size, 1}, periods[] = {0, 0};
  MPI_Comm grid, freed;
  trs_mpi_plan *made;
  inter_communicators_are_refused();
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &grid);
  must(trs_mpi_agree(grid, TRS_SUCCESS), "a Cartesian communicator");
  must(trs_mpi_analyze(&made, grid, NULL, F, TRS_NO_TRANS, NULL), "a Cartesian communicator");
  must(trs_mpi_solve(made, x, N, b, N, 1, TRS_COL_MAJOR), "a Cartesian communicator");
  trs_mpi_plan_destroy(made);
  MPI_Comm_free(&grid);
  MPI_Comm_dup(MPI_COMM_WORLD, &freed);
  const MPI_Fint number = MPI_Comm_c2f(freed);
  MPI_Comm_free(&freed);
  REFUSED("MPI_COMM_NULL", trs_mpi_agree(freed, TRS_SUCCESS));
  REFUSED("comm is", trs_mpi_agree_f(number, TRS_SUCCESS));
  MPI_Comm_dup(MPI_COMM_WORLD, &freed);
  const MPI_Comm kept = freed; /* a handle that still looks like one */
  MPI_Comm_free(&freed);
  REFUSED("it was freed", trs_mpi_agree(kept, TRS_SUCCESS));
  REFUSED("it was freed", trs_mpi_analyze(&made, kept, NULL, F, TRS_NO_TRANS, NULL));
}

static void set_up(void) {
  const trs_mpi_options options = {
      .struct_size = sizeof(trs_mpi_options), .px = size, .py = 1, .pz = 1};
  must(trs_mpi_context_create(&ctx, MPI_COMM_WORLD, "serial"), "trs_mpi_context_create");
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
  trs_mpi_plan_destroy(R);
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
    layouts_are_checked(odd);
  }
  distributions_are_checked();
  statuses_are_told();
  kinds_are_told_apart();
  conclude("plans and relaxations refuse NULL");
  trs_mpi_plan *made, *none;
  for (int odd = -1; odd < size; odd++) plans_are_not_made(odd);
  REFUSED("MPI_COMM_NULL", trs_mpi_analyze(&made, MPI_COMM_NULL, NULL, F, TRS_NO_TRANS, NULL));
  REFUSED("MPI_COMM_NULL", trs_mpi_relax_create(&none, MPI_COMM_NULL, ctx, A, 1, NULL));
  REFUSED("MPI_COMM_NULL", trs_mpi_agree(MPI_COMM_NULL, TRS_SUCCESS));
  must(trs_mpi_solve(plan, x, N, b, N, 1, TRS_COL_MAJOR),
       "trs_mpi_solve"); /* none of the calls above has changed anything */
  conclude("plans are not made of NULL");
  for (int odd = -1; odd < size; odd++) options_are_checked(odd);
  half_a_shape_is_refused();
  conclude("options outside their domains are refused on all ranks");
  for (int odd = -1; odd < size; odd++) unlike_arguments_are_refused(odd);
  conclude("unlike arguments are refused on all ranks");
  communicators_are_checked();
  conclude("communicators are checked");
  MPI_Finalize(); /* a program may hold objects until its end */
  REFUSED("MPI is finalised", trs_mpi_solve(plan, x, N, b, N, 1, TRS_COL_MAJOR));
  REFUSED("MPI is finalised", trs_mpi_relax_sweep(R, x, N, b, N, 1, TRS_COL_MAJOR, NULL));
  tear_down();
  return failures || !good;
}
