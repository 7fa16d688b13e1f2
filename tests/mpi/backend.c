/* backend.c - grids of one rank solved by the methods of a backend: on threads, and on a GPU if
 * there is one, which all ranks share.  All types, transposed, refined; x of shared ancestors has
 * the same bits on all grids; a failure on one rank is one on all.  solve.c covers the kinds of
 * systems.  Run by mpirun with 1, 2, 4, ... ranks. */
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/memory.h"
#include "comm/ranks_mpi.h"
#include "device/shared.h"
#include "base/checksum.h"
#include "backend/context.h"
#include "solve/grid3d/grid3d.h"
#include "mpi/columns.h"
#include "mpi/verdict.h"
#include "trireme_mpi.h"

static bool gpu;

/* Builds without CUDA have a stand-in for a GPU's memory; methods of the CPU solve there. */
#ifdef TRS_TEST_STAND_IN
enum { STAND_IN = 1 };
#else
enum { STAND_IN = 0 };
#endif
static bool in_device_memory;

static trs_mpi_options ways(void) {
  return (trs_mpi_options){.struct_size = sizeof(trs_mpi_options), .width = 16};
}

/* A matrix of grid points that also depend on random other points, in one direction. */
static trs_matrix *system_of(int n, trs_scalar scalar) {
  enum { EACH = 4 };
  entries e = entries_begin(scalar, n * EACH);
  for (int i = 0; i < n; i++)
    for (int k = 0; k < EACH; k++) {
      double value = k ? 0.3 + (double)(e.count % 7) / 7 : 4;
      entries_add(&e, i, (i + k * (7 + i % 5)) % n, value, (double)(e.count % 3) / 9);
    }
  trs_matrix *A = entries_matrix(&e, n);
  entries_free(&e);
  return A;
}

static trs_factors *factors_of(const trs_matrix *A) {
  trs_factors *F;
  must(trs_factor(
           &F, A,
           &(trs_factor_options){.struct_size = sizeof(trs_factor_options), .tree_leaves = 8}),
       "factors");
  return F;
}

/* ---- Solutions ---- */

/* The backward error on rank 0, else 0. */
static double error_of(const trs_factors *F, trs_mpi_plan *plan, trs_trans trans, int64_t nrhs) {
  trs_factors_info info = {.struct_size = sizeof info};
  trs_backward_error error = {.struct_size = sizeof error};
  trs_factors_get_info(F, &info);
  size_t bytes = (size_t)(info.n * nrhs) * trs_scalar_size(info.scalar);
  void *b = malloc(bytes), *x = malloc(bytes);
  trs_random_fill(b, info.n * nrhs, info.scalar, 3);
  must(trs_mpi_solve(plan, x, info.n, b, info.n, nrhs, TRS_COL_MAJOR), "solve");
  if (rank == 0)
    must(trs_check_factors(&error, F, trans, x, info.n, b, info.n, nrhs, TRS_COL_MAJOR), "check");
  free(b);
  free(x);
  return error.componentwise;
}

static void test_types(void) {
  static const int64_t many[] = {1, 7, 50};
  int good = 1;
  for (int c = 0; c < 4 * 3; c++) {
    trs_scalar scalar = (trs_scalar)(TRS_FLOAT + (c & 3));
    trs_matrix *A = system_of(200, scalar);
    trs_factors *F = factors_of(A);
    trs_mpi_options o = ways();
    trs_mpi_plan *plan;
    trs_mpi_stats s = {.struct_size = sizeof s};
    op = (trs_trans)(c / 4);
    o.nrhs = many[c % 3];
    o.in_turn = c == 3;
    if (gpu && TRS_HAVE_PAPERS && c % 2) o.method = "grid3d:algorithm=4";
    must(trs_mpi_analyze(&plan, MPI_COMM_WORLD, place, F, op, &o), "analysis");
    for (int k = 0; k < 3; k++)
      good &= error_of(F, plan, op, many[k]) <
              2000 * (trs_scalar_is_double(scalar) ? DBL_EPSILON : FLT_EPSILON);
    must(trs_mpi_get_stats(plan, &s, TRS_MPI_MIN), "figures");
    good &= s.px == 1 && s.py == 1 && s.pz == size && s.solver && *s.solver;
    good &= gpu ? s.gpus >= 1 && s.ranks_on_gpu >= 1 : s.gpus == 0;
    good &= !gpu || !o.method || strstr(s.solver, "supernodal");
    trs_mpi_plan_destroy(plan);
    trs_factors_destroy(F);
    trs_matrix_destroy(A);
  }
  op = TRS_NO_TRANS;
  say("all types, op(A)", good);
}

static void test_refinement(void) {
  trs_matrix *A = system_of(200, TRS_DOUBLE);
  trs_factors *F = factors_of(A);
  trs_mpi_options o = ways();
  trs_mpi_plan *plan;
  double b[200], x[200], error = 1;
  int taken;
  trs_random_fill(b, 200, TRS_DOUBLE, 3);
  must(trs_mpi_analyze(&plan, MPI_COMM_WORLD, place, F, op, &o), "analysis");
  must(trs_mpi_solve(plan, x, 200, b, 200, 1, TRS_COL_MAJOR), "solve");
  if (rank == 0) x[7] *= 1.01;
  must(trs_mpi_refine(plan, x, 200, &error, &taken, b, 200, 1, TRS_COL_MAJOR, rank ? NULL : A, 3),
       "refinement");
  say("refinement", error < 4 * DBL_EPSILON && taken >= 1);
  trs_mpi_plan_destroy(plan);
  trs_factors_destroy(F);
  trs_matrix_destroy(A);
}

/* ---- Internals ---- */

typedef struct inside {
  trs_ranks ranks;
  trs_context *context;
  trs_grid_solver solver;
} inside;

static void open_inside(inside *in, const trs_factors *F) {
  trs_grid_input input;
  must(trs_ranks_open_mpi(&in->ranks, MPI_COMM_WORLD, 0), "ranks");
  must(trs_mpi_context_create(&in->context, MPI_COMM_WORLD, said_of), "context");
  must(trs_input_factors(&input, F), "input");
  trs_device *device;
  if (in_device_memory) {
    must(trs_device_open(&device, 0), "device");
    in->context->device = device;
  }
  trs_grid_options set = {.shape = {1, 1, size},
                          .supernodes = {.width = 16, .relax = 20, .few = 6},
                          .nrhs = 16,
                          .plans = {.context = in->context, .nrhs = 7}};
  must(trs_grid_solver_create(&in->solver, &in->ranks, &input, &set), "solver");
}

static void close_inside(inside *in) {
  trs_grid_solver_destroy(&in->solver);
  trs_context_destroy(in->context);
  trs_ranks_close(&in->ranks);
}

/* Checksums of x of the rows from each height on are the same for all grids that share them. */
static int shares_bits(inside *in) {
  const trs_rank_part *p = &in->solver.part;
  int good = 1;
  uint32_t *all = malloc((size_t)size * sizeof *all);
  for (int h = 1; h <= p->layout->levels; h++) {
    int64_t first = p->local_to[h - 1] < p->nlocal ? p->local_row[p->local_to[h - 1]] : p->rows;
    uint32_t own =
        trs_crc32(0, p->base + first * trs_row_bytes(p), (p->rows - first) * trs_row_bytes(p));
    must(trs_ranks_records(&in->ranks, &own, all, sizeof own), "records");
    for (int z = 0; z < size; z++) good &= all[z] == all[z >> h << h];
  }
  free(all);
  return good;
}

static void test_bits(void) {
  enum { N = 900 };
  trs_matrix *A;
  static double b[N * 16], x[N * 16], again[N * 16];
  inside in = {0};
  int good = 1, same = 1;
  must(trs_matrix_read(&A, "gen:poisson2d9:30", NULL), "matrix");
  trs_factors *F = factors_of(A);
  trs_random_fill(b, N * 16, TRS_DOUBLE, 3);
  open_inside(&in, F);
  for (int nrhs = 1; nrhs <= 16; nrhs += 5) {
    must(solve_columns(&in.solver, x, b, N, nrhs), "solve");
    good &= shares_bits(&in);
    must(solve_columns(&in.solver, again, b, N, nrhs), "solve");
    same &= rank || memcmp(x, again, sizeof *x * N * (size_t)nrhs) == 0;
  }
  say("x of shared ancestors has the same bits on all grids", good);
  say("solves have the same bits", same);
  close_inside(&in);
  trs_factors_destroy(F);
  trs_matrix_destroy(A);
}

static trs_status (*give)(trs_rank_part *part);

static trs_status fail_to_give(trs_rank_part *part) {
  trs_status status = give(part);
  return status ? status : trs_fail(TRS_ERROR_STALLED, 3, "row 3 waited");
}

static void test_failure(void) {
  trs_matrix *A = system_of(200, TRS_DOUBLE);
  trs_factors *F = factors_of(A);
  inside in = {0};
  char words[64];
  double b[200], x[200];
  trs_random_fill(b, 200, TRS_DOUBLE, 3);
  open_inside(&in, F);
  trs_local_solver *solver = in.solver.part.solver;
  give = solver->give;
  if (rank == size - 1) solver->give = fail_to_give;
  trs_status status = solve_columns(&in.solver, x, b, 200, 1);
  snprintf(words, sizeof words, size > 1 ? "rank %d: row 3 waited" : "row 3 waited", size - 1);
  int good = status == TRS_ERROR_STALLED && !strcmp(trs_last_error()->message, words);
  solver->give = give;
  good &= !solve_columns(&in.solver, x, b, 200, 1);
  say("a solve that fails on one rank", good);
  close_inside(&in);
  trs_factors_destroy(F);
  trs_matrix_destroy(A);
}

/* ---- Memory ---- */

/* Every allocation of one rank fails in turn. */
static void test_memory(void) {
  trs_matrix *A = system_of(60, TRS_DOUBLE);
  trs_factors *F = factors_of(A);
  int good = 1, all = 1;
  double b[60], x[60];
  trs_random_fill(b, 60, TRS_DOUBLE, 3);
  for (int64_t k = 0; all; k += 1 + k / 8) {
    trs_mpi_options o = ways();
    trs_mpi_plan *plan;
    int64_t before, after;
    trs_memory_usage(&before, NULL);
    if (rank == size - 1) trs_memory_fail_after(k);
    trs_status status = trs_mpi_analyze(&plan, MPI_COMM_WORLD, place, F, op, &o);
    if (!status) status = trs_mpi_solve(plan, x, 60, b, 60, 1, TRS_COL_MAJOR);
    trs_memory_fail_after(-1);
    trs_mpi_plan_destroy(plan);
    trs_memory_usage(&after, NULL);
    good &= (!status || status == TRS_ERROR_MEMORY) && before == after;
    all = status != TRS_SUCCESS;
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  }
  say("memory that runs out on one rank", good);
  trs_factors_destroy(F);
  trs_matrix_destroy(A);
}

#if TRS_HAVE_CUDA
/* A GPU with memory for this rank's plans, but not for those of all ranks. */
static void test_gpu_memory(void) {
  trs_matrix *A = system_of(200, TRS_DOUBLE);
  trs_factors *F = factors_of(A);
  trs_mpi_options o = ways();
  trs_mpi_plan *plan;
  trs_context *context;
  char words[32];
  must(trs_mpi_context_create(&context, MPI_COMM_WORLD, "cuda"), "context");
  if (rank == size - 1) trs_device_limit(context->device, 3000);
  trs_status status = trs_mpi_analyze(&plan, MPI_COMM_WORLD, place, F, op, &o);
  trs_device_limit(context->device, 0);
  snprintf(words, sizeof words, size > 1 ? "rank %d: " : "GPU", size - 1);
  say("a GPU of one rank is short of memory",
      status == TRS_ERROR_MEMORY && !plan && strstr(trs_last_error()->message, words));
  trs_context_destroy(context);
  trs_factors_destroy(F);
  trs_matrix_destroy(A);
}

/* b and x of rank 0 in device memory, with gaps between the columns. */
static void test_device_vectors(void) {
  enum { N = 200, LD = 210, NRHS = 3 };
  trs_matrix *A = system_of(N, TRS_DOUBLE);
  trs_factors *F = factors_of(A);
  trs_mpi_options o = ways();
  trs_mpi_plan *plan;
  trs_context *context;
  trs_backward_error error = {.struct_size = sizeof error};
  static double b[LD * NRHS], x[LD * NRHS];
  void *there[2] = {NULL, NULL};
  double left = 1;
  trs_random_fill(b, LD * NRHS, TRS_DOUBLE, 3);
  for (int i = 0; i < LD * NRHS; i++) x[i] = 17;
  must(trs_context_create(&context, "cuda"), "context");
  trs_device *device = context->device;
  trs_stream stream; /* which waits for no other */
  int before = trs_device_enter(device);
  must(trs_device_stream_create(device, &stream), "stream");
  must(trs_mpi_analyze(&plan, MPI_COMM_WORLD, place, F, op, &o), "analysis");
  must(trs_mpi_set_stream(plan, stream), "stream");
  for (int k = 0; k < 2 && rank == 0; k++) {
    must(trs_device_alloc(device, &there[k], LD * NRHS, sizeof *b, stream), "room");
    must(trs_device_copy(there[k], k ? b : x, sizeof b, stream), "copy");
  }
  must(trs_mpi_solve(plan, there[0], LD, there[1], LD, NRHS, TRS_COL_MAJOR), "solve");
  must(trs_mpi_refine(plan, there[0], LD, &left, NULL, there[1], LD, NRHS, TRS_COL_MAJOR,
                      rank ? NULL : A, 2),
       "refinement");
  int good = left < 4 * DBL_EPSILON;
  if (rank == 0) {
    must(trs_device_copy(x, there[0], sizeof x, stream), "copy");
    must(trs_device_wait(stream), "copy");
    must(trs_check_factors(&error, F, TRS_NO_TRANS, x, LD, b, LD, NRHS, TRS_COL_MAJOR), "check");
    good &= error.componentwise < 2000 * DBL_EPSILON && x[N] == 17 && x[LD + N] == 17;
  }
  for (int k = 0; k < 2; k++) trs_device_free(device, there[k], stream);
  trs_device_stream_destroy(device, stream);
  trs_device_leave(before);
  say("b and x in device memory", good);
  trs_mpi_plan_destroy(plan);
  trs_context_destroy(context);
  trs_factors_destroy(F);
  trs_matrix_destroy(A);
}

/* x and b of rank 0 by rows in device memory have the bits of x and b by columns on the host. */
static void test_device_rows(void) {
  enum { N = 200, GAP = 5, NRHS = 3 };
  trs_matrix *A = system_of(N, TRS_DOUBLE);
  trs_factors *F = factors_of(A);
  trs_mpi_options o = ways();
  trs_mpi_plan *plan;
  trs_context *context;
  static double b[N * NRHS], x[N * NRHS], by_rows[N * GAP];
  void *there = NULL;
  trs_random_fill(b, N * NRHS, TRS_DOUBLE, 3);
  for (int i = 0; i < N; i++)
    for (int j = 0; j < GAP; j++) by_rows[i * GAP + j] = j < NRHS ? b[i + j * N] : 17;
  must(trs_context_create(&context, "cuda"), "context");
  trs_device *device = context->device;
  int before = trs_device_enter(device);
  must(trs_mpi_analyze(&plan, MPI_COMM_WORLD, place, F, op, &o), "analysis");
  must(trs_mpi_solve(plan, x, N, b, N, NRHS, TRS_COL_MAJOR), "on the host");
  if (rank == 0) {
    must(trs_device_alloc(device, &there, N * GAP, sizeof *b, NULL), "room");
    must(trs_device_copy(there, by_rows, sizeof by_rows, NULL), "copy");
  }
  must(trs_mpi_solve(plan, there, GAP, there, GAP, NRHS, TRS_ROW_MAJOR), "by rows");
  int good = 1;
  if (rank == 0) {
    must(trs_device_copy(by_rows, there, sizeof by_rows, NULL), "copy");
    must(trs_device_wait(NULL), "copy");
    for (int i = 0; i < N; i++)
      for (int j = 0; j < GAP; j++) good &= by_rows[i * GAP + j] == (j < NRHS ? x[i + j * N] : 17);
  }
  trs_device_free(device, there, NULL);
  trs_device_leave(before);
  say("b and x by rows in device memory", good);
  trs_mpi_plan_destroy(plan);
  trs_context_destroy(context);
  trs_factors_destroy(F);
  trs_matrix_destroy(A);
}

#else
static void test_gpu_memory(void) {}
static void test_device_vectors(void) {}
static void test_device_rows(void) {}
#endif

/* ---- Errors ---- */

static void test_gpu_errors(const trs_factors *F) {
  trs_mpi_options o = ways();
  place_at("cuda");
  o.method = "grid3d:algorithm=5", o.px = 1, o.py = 2, o.pz = 1;
  say("Algorithm 5 with Py = 2", plan_refused(F, o, TRS_ERROR_ARGUMENT, "not 1 x 2 x 1"));
  o.px = 2, o.py = 1, o.invert = "separators";
  say("Algorithm 5 with separators inverted",
      plan_refused(F, o, TRS_ERROR_ARGUMENT, "not \"separators\""));
  o.invert = NULL, o.px = 1, o.py = size;
  if (size > 1) {
    o.method = "grid3d:algorithm=4";
    say("Algorithm 4 on several GPUs", plan_refused(F, o, TRS_ERROR_ARGUMENT, "grids of one GPU"));
    o.method = NULL, o.in_turn = 1;
    say("several GPUs in turn", plan_refused(F, o, TRS_ERROR_ARGUMENT, "cannot sweep in turn"));
  }
  place_at(NULL);
}

static void test_errors(void) {
  trs_matrix *A = system_of(60, TRS_DOUBLE);
  trs_factors *F = factors_of(A);
  said_of = NULL;
  trs_mpi_options o = ways();
  place_at("serial"), o.method = "grid3d:algorithm=4";
  say("Algorithm 4 without a GPU", plan_refused(F, o, TRS_ERROR_ARGUMENT, "needs a GPU"));
  o.method = "grid3d:algorithm=5", o.px = 2, o.py = 1, o.pz = 1;
  say("Algorithm 5 without a GPU", plan_refused(F, o, TRS_ERROR_ARGUMENT, "needs a GPU"));
  o.invert = NULL, o.px = o.py = o.pz = 0;
  o.method = "grid3d-baseline";
  say("the baseline on a backend",
      plan_refused(F, o, TRS_ERROR_UNSUPPORTED, "leave out the threads"));
  o.method = NULL, o.px = size, o.py = o.pz = 1;
  if (size > 1)
    say("grids of several ranks on a backend",
        plan_refused(F, o, TRS_ERROR_UNSUPPORTED, "Px and Py must be 1"));
  if (gpu) test_gpu_errors(F);
  o.px = o.py = o.pz = 0;
  place_at(rank ? "threads" : "serial");
  if (size > 1)
    say("another backend on one rank", plan_refused(F, o, TRS_ERROR_ARGUMENT, "the context's"));
  trs_context_destroy(place);
  must(trs_context_create(&place, "auto"), "auto");
  say("a context that chooses", plan_refused(F, o, TRS_ERROR_ARGUMENT, "trs_mpi_context_create"));
  place_at(NULL);
  trs_context *context;
  say("several GPUs for a rank", fails(trs_mpi_context_create(&context, MPI_COMM_WORLD, "cuda:0-3"),
                                       TRS_ERROR_ARGUMENT, "not \"cuda:0-3\""));
  char words[32];
  snprintf(words, sizeof words, size > 1 ? "rank %d: " : "GPU", size - 1);
  if (!gpu) snprintf(words, sizeof words, "%s", size > 1 ? "rank 0: " : "");
  const char *where = gpu && rank < size - 1 ? "cuda" : "cuda:99";
  if (gpu || !STAND_IN)
    say(gpu ? "a rank without a GPU" : "no rank has a GPU",
        fails(trs_mpi_context_create(&context, MPI_COMM_WORLD, where), TRS_ERROR_UNSUPPORTED,
              words));
  say("a stream for no plan", trs_mpi_set_stream(NULL, NULL) == TRS_ERROR_ARGUMENT);
  say("a context without a name",
      trs_mpi_context_create(&context, MPI_COMM_WORLD, NULL) == TRS_ERROR_ARGUMENT && !context);
  trs_factors_destroy(F);
  trs_matrix_destroy(A);
}

/* Rows in device memory, with shared ones through pinned memory. */
static void test_staging(void) {
  said_of = "serial";
  place_at("serial");
  in_device_memory = true;
  test_bits();
  test_failure();
  in_device_memory = false;
}

static void test_backend(const char *name) {
  said_of = name;
  place_at(name);
  gpu = name[0] == 'c';
  test_types();
  test_refinement();
  test_bits();
  test_failure();
  test_memory();
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  if (!makes_factors()) return MPI_Finalize();
  test_backend("serial");
  if (size < 8) test_backend("threads:2");
  if (STAND_IN) test_staging();
  if (*trs_device_list()) {
    test_backend("cuda");
    test_gpu_memory();
    test_device_vectors();
    test_device_rows();
  } else if (rank == 0) {
    printf("skip solves on a GPU: there is none\n");
  }
  test_errors();
  MPI_Finalize();
  return failures != 0;
}
