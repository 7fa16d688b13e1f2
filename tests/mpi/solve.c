/* solve.c - every grid shape for the number of ranks, by the backward error of trs_check_factors:
 * factored grids, unsymmetric patterns, a diagonal matrix, a dense one, a forest; one and many
 * right-hand sides; all element types; transposed; separators inverted; b and x in any partition;
 * factors from a file; errors, the same on all ranks, including memory that runs out on one; grids
 * by the methods of other backends. Run by mpirun with any number of ranks; rank 0 prints 'ok NAME'
 * and 'not ok NAME'. */
#include <float.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/config.h"
#include "base/memory.h"
#include "mpi/verdict.h"
#include "trireme_mpi.h"

/* ---- Systems ---- */

static trs_factors *factored(const char *name, trs_scalar scalar, int leaves) {
  trs_matrix *A;
  trs_factors *F;
  trs_read_options read = {.struct_size = sizeof(trs_read_options), .scalar = scalar};
  trs_factor_options options = {.struct_size = sizeof(trs_factor_options), .tree_leaves = leaves};
  must(trs_matrix_read(&A, name, &read), name);
  must(trs_factor(&F, A, &options), name);
  trs_matrix_destroy(A);
  return F;
}

/* The factors of the entries, which are freed. */
static trs_factors *factored_entries(entries *e, int64_t n, int leaves) {
  trs_factors *F;
  trs_matrix *A = entries_matrix(e, n);
  trs_factor_options options = {.struct_size = sizeof(trs_factor_options), .tree_leaves = leaves};
  must(trs_factor(&F, A, &options), "entries");
  trs_matrix_destroy(A);
  entries_free(e);
  return F;
}

/* A random pattern in which most entries (i, j) lack their mirror (j, i). */
static trs_factors *unsymmetric(int n, trs_scalar scalar, int leaves) {
  entries e = entries_begin(scalar, 4 * n);
  uint64_t seed = 7;
  for (int i = 0; i < n; i++)
    for (int k = 0; k < 4; k++) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      int j = k == 0 ? i : (i + (int)((seed >> 33) % 40)) % n;
      if (k && j == i) continue;
      double value = i == j ? 5 : 0.3 + (double)(e.count % 7) / 7;
      entries_add(&e, i, j, value, (double)(e.count % 3) / 9);
    }
  return factored_entries(&e, n, leaves);
}

/* kind: 0 diagonal, 1 dense, 2 a forest of paths. */
static trs_factors *special(int n, int kind, int leaves) {
  entries e = entries_begin(TRS_DOUBLE, (int64_t)n * n);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      int near = (i - j == 1 || j - i == 1) && i / 9 == j / 9;
      if (i != j && kind == 0) continue;
      if (i != j && kind == 2 && !near) continue;
      entries_add(&e, i, j, i == j ? n + i : 1.0 / (1 + i + 2 * j), 0);
    }
  return factored_entries(&e, n, leaves);
}

/* The factors L and U; both and the entries are freed. */
static trs_factors *joined(trs_matrix *L, trs_matrix *U, entries *e) {
  trs_factors *F;
  must(trs_factors_create(&F, L, TRS_NONUNIT, U, TRS_NONUNIT, NULL, NULL, NULL, NULL), "L U");
  trs_matrix_destroy(L);
  trs_matrix_destroy(U);
  entries_free(e);
  return F;
}

/* L = I, U = diag(1 ... 0 ... 1) */
static trs_factors *singular(int n) {
  entries e = entries_begin(TRS_DOUBLE, n);
  for (int k = 0; k < n; k++) entries_add(&e, k, k, 1, 0);
  trs_matrix *L = entries_matrix(&e, n);
  e.value[17] = 0;
  return joined(L, entries_matrix(&e, n), &e);
}

/* ---- Solves ---- */

static int64_t fullest_row(const trs_matrix *T) {
  trs_matrix_info info = {.struct_size = sizeof info};
  trs_matrix_get_info(T, &info);
  return info.longest_row;
}

static int64_t rows_from(int64_t n, int r) { return n * r * r / ((int64_t)size * size); }

/* Solves, with all rows on rank 0 or distributed in uneven ranges, and checks the result on
 * rank 0. */
static int solves_once(const trs_factors *F, trs_mpi_plan *plan, trs_trans trans, int64_t nrhs,
                       int distributed) {
  static const size_t bytes[] = {0, 4, 8, 8, 16}; /* by trs_scalar */
  trs_factors_info info = {.struct_size = sizeof info};
  trs_backward_error error = {.struct_size = sizeof(trs_backward_error)};
  trs_factors_get_info(F, &info);
  size_t each = bytes[info.scalar], room = (size_t)(info.n * nrhs) * each;
  char *b = malloc(room + 1), *x = malloc(room + 1);
  int64_t first = distributed ? rows_from(info.n, rank) : rank ? info.n : 0;
  int64_t end = distributed ? rows_from(info.n, rank + 1) : info.n;
  trs_random_fill(b, info.n * nrhs, info.scalar, 5 + (uint64_t)nrhs);
  memset(x, 255, room);
  must(trs_mpi_distribute(plan, first, end - first), "rows");
  must(trs_mpi_solve(plan, first < end ? x + (size_t)first * each : NULL, info.n,
                     first < end ? b + (size_t)first * each : NULL, info.n, nrhs, TRS_COL_MAJOR),
       "solve");
  for (int r = 1; distributed && r < size; r++)
    for (int64_t j = 0; j < nrhs; j++) {
      int64_t from = rows_from(info.n, r), count = rows_from(info.n, r + 1) - from;
      char *at = x + (size_t)(from + j * info.n) * each;
      if (rank == r) MPI_Send(at, (int)(count * (int64_t)each), MPI_BYTE, 0, 0, MPI_COMM_WORLD);
      if (rank == 0)
        MPI_Recv(at, (int)(count * (int64_t)each), MPI_BYTE, r, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    }
  if (rank == 0)
    must(trs_check_factors(&error, F, trans, x, info.n, b, info.n, nrhs, TRS_COL_MAJOR), "check");
  free(b);
  free(x);
  double eps = info.scalar == TRS_DOUBLE || info.scalar == TRS_DCOMPLEX ? DBL_EPSILON : FLT_EPSILON;
  double limit = 50 * eps * (double)(fullest_row(info.L) + fullest_row(info.U) + 1);
  if (rank == 0 && !(error.componentwise <= limit))
    fprintf(stderr, "backward error %.3g above %.3g\n", error.componentwise, limit);
  return error.componentwise <= limit;
}

/* L23: a rank sends at most 2 messages in a binary tree.  ranks.c checks the depth of the trees. */
static int few_messages(trs_mpi_plan *plan) {
  trs_mpi_stats s = {.struct_size = sizeof s};
  must(trs_mpi_get_stats(plan, &s, TRS_MPI_MAX), "figures");
  return s.tree_sends[0] <= 2 && s.tree_sends[1] <= 2;
}

static int solves_with(const trs_factors *F, trs_mpi_plan *plan, const trs_mpi_options *options,
                       int distributed) {
  static const int64_t many[] = {1, 7, 50};
  int good = 1;
  for (int k = 0; k < 3; k++)
    if (!solves_once(F, plan, op, many[k], distributed)) {
      fprintf(stderr, "rank %d: %s %dx%dx%d, flat %d, scattered %d, invert %s, nrhs %d\n", rank,
              options->method, options->px, options->py, options->pz, options->flat_trees,
              options->scattered, options->invert ? options->invert : "blocks", (int)many[k]);
      good = 0;
    }
  good &= options->flat_trees || few_messages(plan);
  trs_mpi_plan_destroy(plan);
  return good;
}

/* Grids of one rank each by the methods of other backends; with a GPU by its methods, which all
 * ranks share. 0: this build and machine have no such variant. */
static int take_backend(trs_mpi_options *o, int variant) {
  static const char *const backends[] = {"serial", "threads:2", "cuda", "cuda"};
  if (variant >= 3 + TRS_HAVE_PAPERS || (variant >= 2 && !*trs_device_list())) return 0;
  *o = (trs_mpi_options){.struct_size = sizeof *o,
                         .method = variant == 3 ? "grid3d:algorithm=4" : NULL,
                         .pz = size,
                         .px = 1,
                         .py = 1,
                         .width = 16,
                         .nrhs = 7 * (variant % 2)};
  place_at(backends[variant]);
  return 1;
}

static int64_t inverted; /* rows of supernodes, in all solves so far */

static int solves(const trs_factors *F, const trs_mpi_options *options) {
  trs_mpi_plan *plan;
  trs_mpi_stats stats = {.struct_size = sizeof stats};
  if (trs_mpi_analyze(&plan, MPI_COMM_WORLD, place, F, op, options)) {
    fprintf(stderr, "rank %d: %s %dx%dx%d: %s\n", rank, options->method, options->px, options->py,
            options->pz, trs_last_error()->message);
    return 0;
  }
  must(trs_mpi_get_stats(plan, &stats, TRS_MPI_MEAN), "figures");
  inverted += stats.inverted;
  return solves_with(F, plan, options, 0);
}

/* Every shape, both algorithms and L23's own forms of them, both kinds of trees, supernodes
 * scattered or not, separators inverted or not; on many ranks a different selection of these for
 * each shape. */
static int all_shapes(const trs_factors *F, int most_grids) {
  static const char *const methods[][2] = {{"grid3d", "grid3d-baseline"},
                                           {"grid3d:algorithm=2", "grid3d-baseline:lookahead=0"}};
  int good = 1, turn = 0;
  for (int z = 1; z <= size && z <= most_grids; z *= 2)
    for (int x = 1; x <= size / z; x++) {
      if (size % (x * z)) continue;
      trs_mpi_options o = {.struct_size = sizeof(trs_mpi_options),
                           .px = x,
                           .py = size / x / z,
                           .pz = z,
                           .width = 16};
      turn++;
      for (int variant = 0; variant < 16; variant++) {
        if (size > 4 && (variant + turn) % 4) continue;
        o.method = methods[variant / 12][variant % 2];
        if (!TRS_HAVE_PAPERS && strcmp(o.method, "grid3d") != 0) continue;
        o.flat_trees = variant / 2 % 2;
        o.scattered = variant / 4 == 1 || variant == 8 || variant == 12 || variant == 15;
        o.invert = variant == 11 ? "auto" : variant / 4 == 2 ? "separators" : NULL;
        good &= solves(F, &o);
      }
    }
  trs_mpi_options o;
  int grids = (size & (size - 1)) == 0 && size <= most_grids;
  for (int variant = 0; grids && take_backend(&o, variant); variant++) good &= solves(F, &o);
  place_at(NULL);
  return good;
}

/* The triangle of each supernode has a good inverse, but all of them together do not: multipliers
 * of 1 double from row to row. */
static trs_factors *growing(int n) {
  entries e = entries_begin(TRS_DOUBLE, (int64_t)n * n),
          upper = entries_begin(TRS_DOUBLE, (int64_t)n * n);
  for (int r = 0; r < n; r++)
    for (int c = 0; c <= r; c++) {
      entries_add(&e, r, c, r == c ? 1 : -1, 0);
      entries_add(&upper, c, r, r == c ? 2 : 0.01, 0);
    }
  trs_matrix *L = entries_matrix(&e, n);
  entries_free(&e);
  return joined(L, entries_matrix(&upper, n), &upper);
}

/* Dense triangles along the diagonal with pivots and multipliers of 1e-4 to 1: many have an inverse
 * thousands of times too large for their solutions.  All types. */
static trs_factors *graded(trs_scalar scalar) {
  enum { BLOCKS = 80, WIDTH = 8, N = BLOCKS * WIDTH, MOST = N * WIDTH };
  entries e = entries_begin(scalar, MOST);
  trs_factors *F;
  double random[2 * MOST];
  trs_random_fill(random, 2 * MOST, TRS_DOUBLE, 3);
  for (int p = 0; p < MOST; p++) {
    double large = pow(10, -2 * (1 + random[2 * p])), sign = random[2 * p + 1] < 0 ? -1 : 1;
    entries_add(&e, p / WIDTH, p / WIDTH / WIDTH * WIDTH + p % WIDTH, sign * large, large / 3);
  }
  trs_matrix *A = entries_matrix(&e, N);
  must(trs_factor(&F, A,
                  &(trs_factor_options){.struct_size = sizeof(trs_factor_options),
                                        .kind = TRS_FACTOR_TRIANGLE}),
       "graded");
  trs_matrix_destroy(A);
  entries_free(&e);
  return F;
}

/* to = T from, for one real column. */
static void multiply(const trs_matrix *T, const double *from, double *to) {
  trs_matrix_info info = {.struct_size = sizeof info};
  const int64_t *ptr;
  const int32_t *idx;
  const void *val;
  trs_matrix_get_info(T, &info);
  trs_matrix_get_arrays(T, &ptr, &idx, &val);
  for (int64_t r = 0; r < info.nrows; r++) {
    to[r] = 0;
    for (int64_t p = ptr[r]; p < ptr[r + 1]; p++) to[r] += ((const double *)val)[p] * from[idx[p]];
  }
}

/* b = L U x with x in [-1, 1], so that sums cancel which a product with an inverse would round. */
static double error_of_cancelling(const trs_factors *F, const trs_mpi_options *o) {
  trs_factors_info info = {.struct_size = sizeof info};
  trs_mpi_plan *plan;
  trs_backward_error error = {.struct_size = sizeof(trs_backward_error)};
  double x[1000], y[1000], b[1000];
  trs_factors_get_info(F, &info);
  trs_random_fill(x, info.n, TRS_DOUBLE, 8);
  multiply(info.U, x, y);
  multiply(info.L, y, b);
  must(trs_mpi_analyze(&plan, MPI_COMM_WORLD, place, F, op, o), "analysis");
  must(trs_mpi_solve(plan, x, info.n, b, info.n, 1, TRS_COL_MAJOR), "solve");
  if (rank == 0)
    must(trs_check_factors(&error, F, TRS_NO_TRANS, x, info.n, b, info.n, 1, TRS_COL_MAJOR),
         "check");
  trs_mpi_plan_destroy(plan);
  return error.componentwise;
}

static void test_cancellation(void) {
  int good = 1, solved = 0;
  for (int c = 0; c < 4 * 3; c++) {
    trs_factors *F = graded((trs_scalar)(TRS_FLOAT + (c & 3)));
    trs_mpi_options o = {.struct_size = sizeof(trs_mpi_options), .px = 1, .py = size, .pz = 1};
    op = (trs_trans)(c / 4);
    trs_mpi_plan *plan;
    trs_mpi_stats stats = {.struct_size = sizeof stats};
    must(trs_mpi_analyze(&plan, MPI_COMM_WORLD, place, F, op, &o), "analysis");
    must(trs_mpi_get_stats(plan, &stats, TRS_MPI_MEAN), "figures");
    solved += stats.solved > 20 && stats.solved < 160;
    good &= solves_with(F, plan, &o, 0);
    for (o.scattered = 0; TRS_FLOAT + c == TRS_DOUBLE && o.scattered < 2; o.scattered++)
      good &= error_of_cancelling(F, &o) < 100 * DBL_EPSILON;
    trs_factors_destroy(F);
  }
  op = TRS_NO_TRANS;
  say("triangles with large inverses are solved with, all types", good && solved == 12);
}

/* Each of these checks the backward error. */
static void test_inversion(void) {
  trs_mpi_options o = {.struct_size = sizeof(trs_mpi_options),
                       .px = size,
                       .py = 1,
                       .pz = 1,
                       .width = 8,
                       .invert = "separators"};
  trs_mpi_stats stats = {.struct_size = sizeof stats};
  trs_mpi_plan *plan;
  trs_factors *F;
  say("separators were inverted", size == 1 || inverted > 0);
  F = growing(64);
  must(trs_mpi_analyze(&plan, MPI_COMM_WORLD, place, F, op, &o), "analysis");
  must(trs_mpi_get_stats(plan, &stats, TRS_MPI_MEAN), "figures");
  int good = size == 1 || (stats.separators == 1 && stats.inverted == 0);
  say("an inverse that is too large is refused", solves_with(F, plan, &o, 0) && good);
  o = (trs_mpi_options){.struct_size = sizeof(trs_mpi_options),
                        .px = 1,
                        .py = size,
                        .pz = 1,
                        .width = 64,
                        .invert = "blocks"};
  must(trs_mpi_analyze(&plan, MPI_COMM_WORLD, place, F, op, &o), "analysis");
  must(trs_mpi_get_stats(plan, &stats, TRS_MPI_MEAN), "figures");
  say("a supernode without a good inverse is solved with",
      solves_with(F, plan, &o, 0) && stats.supernodes == 1 && stats.solved == 1);
  trs_factors_destroy(F);
  test_cancellation();
  F = unsymmetric(300, TRS_DOUBLE, 8);
  good = 1;
  for (int trans = 0; trans < 3; trans++)
    for (int z = 1; z <= 4 && size % z == 0; z *= 2) {
      op = (trs_trans)trans;
      o = (trs_mpi_options){.struct_size = sizeof(trs_mpi_options),
                            .px = 1,
                            .py = size / z,
                            .pz = z,
                            .width = 8,
                            .invert = "separators"};
      good &= solves(F, &o);
    }
  op = TRS_NO_TRANS;
  say("op(A), separators inverted", good);
  trs_factors_destroy(F);
}

/* Every rank has blocks of every early column of a dense matrix. */
static void test_tree_sends(void) {
  trs_factors *F = special(60, 1, 8);
  int good = 1;
  for (int flat = 0; flat < 2; flat++) {
    trs_mpi_options o = {.struct_size = sizeof(trs_mpi_options),
                         .method = "grid2d",
                         .px = size,
                         .py = 1,
                         .pz = 1,
                         .width = 4,
                         .flat_trees = flat};
    trs_mpi_plan *plan;
    trs_mpi_stats s = {.struct_size = sizeof s};
    must(trs_mpi_analyze(&plan, MPI_COMM_WORLD, place, F, op, &o), "analysis");
    must(trs_mpi_get_stats(plan, &s, TRS_MPI_MAX), "figures");
    int others = size - 1, most = flat || others < 2 ? others : 2;
    good &= few_messages(plan) == (most <= 2) && s.tree_sends[0] == most;
    trs_mpi_plan_destroy(plan);
  }
  say("2 messages a binary tree, more in flat ones", good);
  trs_factors_destroy(F);
}

static void test_systems(void) {
  static const char *const letters[] = {"float", "double", "float complex", "double complex"};
  char name[64];
  for (int s = 0; s < 4; s++) {
    trs_factors *F = unsymmetric(300, (trs_scalar)(TRS_FLOAT + s), 8);
    snprintf(name, sizeof name, "unsymmetric, %s", letters[s]);
    say(name, all_shapes(F, 8));
    trs_factors_destroy(F);
  }
  static const char *const generated[] = {"gen:poisson2d9:20", "gen:poisson3d7:8"};
  for (int g = 0; g < 2; g++) {
    trs_factors *F = factored(generated[g], TRS_DOUBLE, 8);
    say(generated[g], all_shapes(F, 8));
    trs_factors_destroy(F);
  }
  trs_factors *tree = factored("gen:poisson2d5:20", TRS_DOUBLE, 8), *bare;
  trs_factors_info info = {.struct_size = sizeof info};
  trs_factors_get_info(tree, &info);
  must(trs_factors_create(&bare, info.L, info.diag_L, info.U, info.diag_U, NULL, NULL, NULL, NULL),
       "factors without a tree");
  trs_factors_destroy(tree);
  say("factors without a tree", all_shapes(bare, 8));
  trs_factors_destroy(bare);
  static const char *const kinds[] = {"diagonal", "dense", "forest"};
  for (int k = 0; k < 3; k++) {
    trs_factors *F = special(60, k, 8);
    say(kinds[k], all_shapes(F, 8));
    trs_factors_destroy(F);
  }
}

/* ---- Errors ---- */

/* x by rows, with gaps, has the bits of x by columns; and refined. */
static void test_layouts(void) {
  enum { N = 200, K = 5, GAP = 7 };
  static double b[N * K], x[N * K], by_rows[N * GAP];
  trs_factors *F = unsymmetric(N, TRS_DOUBLE, 4);
  trs_mpi_plan *plan;
  const int64_t first = rows_from(N, rank), rows = rows_from(N, rank + 1) - first;
  must(trs_mpi_analyze(&plan, MPI_COMM_WORLD, place, F, op, NULL), "analysis");
  must(trs_mpi_distribute(plan, first, rows), "rows");
  trs_random_fill(b, N * K, TRS_DOUBLE, 4);
  must(trs_mpi_solve(plan, x, N, b, N, K, TRS_COL_MAJOR), "by columns");
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < GAP; j++) by_rows[i * GAP + j] = j < K ? b[i + j * N] : 17;
  must(trs_mpi_solve(plan, by_rows, GAP, by_rows, GAP, K, TRS_ROW_MAJOR), "by rows");
  int good = 1;
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < GAP; j++) good &= by_rows[i * GAP + j] == (j < K ? x[i + j * N] : 17);
  good &= fails(trs_mpi_solve(plan, by_rows, K - 1, by_rows, K - 1, K, TRS_ROW_MAJOR),
                TRS_ERROR_ARGUMENT, "columns of a row-major array") ||
          rows < 2;
  good &= fails(trs_mpi_solve(plan, x, N, b, N, K, (trs_layout)7), TRS_ERROR_ARGUMENT, "layout");
  say("rows of right-hand sides", good);
  trs_mpi_plan_destroy(plan);
  trs_factors_destroy(F);
}

/* Transposed and conjugated, distributed, from a file. */
static void test_ways(void) {
  trs_factors *F = unsymmetric(200, TRS_DCOMPLEX, 4);
  trs_mpi_plan *plan;
  int good = 1;
  must(trs_mpi_analyze(&plan, MPI_COMM_WORLD, place, F, op, NULL), "analysis");
  for (int64_t nrhs = 300; nrhs > 1; nrhs /= 5) good &= solves_once(F, plan, TRS_NO_TRANS, nrhs, 1);
  say("more right-hand sides than go through together, then fewer", good);
  trs_mpi_plan_destroy(plan);
  for (int trans = 0; trans < 3; trans++)
    for (int z = 1; z <= 4 && size % z == 0; z *= 2) {
      op = (trs_trans)trans;
      trs_mpi_options o = {
          .struct_size = sizeof(trs_mpi_options), .px = size / z, .py = 1, .pz = z, .width = 16};
      must(trs_mpi_analyze(&plan, MPI_COMM_WORLD, place, F, op, &o), "analysis");
      good &= solves_with(F, plan, &o, 1);
    }
  op = TRS_NO_TRANS;
  say("op(A), rows in any partition", good);
  must(trs_mpi_analyze(&plan, MPI_COMM_WORLD, place, F, op, NULL), "analysis");
  good = trs_mpi_distribute(plan, 0, 200) != TRS_SUCCESS || size == 1;
  good &= trs_mpi_distribute(plan, rank ? 0 : -1, 0) == TRS_ERROR_ARGUMENT;
  say("rows that are not a partition", good);
  trs_mpi_plan_destroy(plan);
  trs_factors_destroy(F);
}

static trs_status no_values(void *user, void *val, int64_t count, const int32_t *vector) {
  (void)user, (void)count, (void)vector, (void)val;
  return TRS_SUCCESS;
}

/* With the factors of a matrix that differs slightly from A. */
static void test_refinement(void) {
  enum { N = 144, K = 3 };
  trs_matrix *A, *near, *rows, *deferred;
  trs_factors *F;
  trs_mpi_plan *plan;
  const int64_t *ptr;
  const int32_t *idx;
  const void *val;
  int64_t first = rows_from(N, rank), count = rows_from(N, rank + 1) - first, own[N + 1];
  double *b = malloc(sizeof *b * N * K), *x = malloc(sizeof *x * N * K), error = 1, *changed;
  int taken = 0;
  must(trs_matrix_read(&A, "gen:poisson2d5:12", NULL), "A");
  trs_matrix_get_arrays(A, &ptr, &idx, &val);
  changed = malloc(sizeof *changed * (size_t)ptr[N]);
  for (int64_t p = 0; p < ptr[N]; p++)
    changed[p] = ((const double *)val)[p] * (1 + 1e-3 * (double)(p % 5));
  must(trs_matrix_create(&near, TRS_CSR, TRS_DOUBLE, N, N, TRS_PTR64, ptr, idx, changed, TRS_COPY),
       "near A");
  must(trs_factor(&F, near, NULL), "factors");
  for (int64_t i = 0; i <= count; i++) own[i] = ptr[first + i] - ptr[first];
  must(trs_matrix_create(&rows, TRS_CSR, TRS_DOUBLE, count, N, TRS_PTR64, own, idx + ptr[first],
                         (const double *)val + ptr[first], TRS_COPY),
       "rows");
  must(trs_mpi_analyze(&plan, MPI_COMM_WORLD, place, F, op, NULL), "analysis");
  must(trs_mpi_distribute(plan, first, count), "distribute");
  trs_random_fill(b, N * K, TRS_DOUBLE, 9);
  must(trs_mpi_solve(plan, x, N, b + first, N, K, TRS_COL_MAJOR), "solve");
  must(trs_mpi_refine(plan, x, N, &error, NULL, b + first, N, K, TRS_COL_MAJOR, rows, 0),
       "residual");
  int good = error > 1e-5;
  must(trs_mpi_refine(plan, x, N, &error, &taken, b + first, N, K, TRS_COL_MAJOR, rows, 20),
       "refine");
  good &= error < 1e-15 && taken > 2 && taken < 12;
  say("iterative refinement", good);
  int wrong =
      rank == size - 1; /* with many ranks the first have no rows, and theirs are not read */
  good = trs_mpi_refine(plan, x, N, NULL, NULL, b, N, K, TRS_COL_MAJOR, wrong ? A : rows, 1);
  say("refinement with the wrong rows", size == 1 || good == TRS_ERROR_ARGUMENT);
  must(trs_matrix_create_deferred(&deferred, TRS_CSR, TRS_DOUBLE, count, N, TRS_PTR64, own,
                                  idx + ptr[first], TRS_BORROW, no_values, NULL),
       "deferred");
  say("refinement with values that are not there",
      trs_mpi_refine(plan, x, N, NULL, NULL, b, N, K, TRS_COL_MAJOR, wrong ? deferred : rows, 1) ==
          TRS_ERROR_UNSUPPORTED);
  trs_matrix_destroy(deferred);
  trs_mpi_plan_destroy(plan);
  trs_factors_destroy(F);
  trs_matrix_destroy(A);
  trs_matrix_destroy(near);
  trs_matrix_destroy(rows);
  free(changed);
  free(b);
  free(x);
}

static int refused_file(const char *path, trs_status expected, const char *words) {
  trs_mpi_plan *plan;
  trs_status status = trs_mpi_analyze_file(&plan, MPI_COMM_WORLD, place, path, op, NULL);
  return fails(status, expected, words) && !plan;
}

/* Changes a few bytes in the middle of U's values. */
static void damage(const char *path) {
  unsigned char bytes[8] = {0};
  FILE *file = fopen(path, "r+b");
  if (!file || fseek(file, 0, SEEK_END)) return;
  fseek(file, ftell(file) - 4000, SEEK_SET);
  if (fread(bytes, 1, sizeof bytes, file) == sizeof bytes) bytes[3] ^= 1;
  fseek(file, -(long)sizeof bytes, SEEK_CUR);
  fwrite(bytes, 1, sizeof bytes, file);
  fclose(file);
}

/* L = U' with a 1 in each row of L, one or two places before the diagonal: patterns that differ
 * only in their indices. */
static trs_factors *banded(int shift) {
  enum { N = 40 };
  trs_matrix *L, *U;
  trs_factors *F;
  int64_t ptr[N + 1] = {0};
  int32_t idx[2 * N];
  double val[2 * N];
  for (int i = 0; i < N; i++) {
    ptr[i + 1] = ptr[i];
    if (i > 1) idx[ptr[i + 1]++] = i - shift;
    idx[ptr[i + 1]++] = i;
  }
  for (int64_t p = 0; p < ptr[N]; p++) val[p] = 1;
  must(trs_matrix_create(&L, TRS_CSR, TRS_DOUBLE, N, N, TRS_PTR64, ptr, idx, val, TRS_COPY), "L");
  must(trs_matrix_create(&U, TRS_CSC, TRS_DOUBLE, N, N, TRS_PTR64, ptr, idx, val, TRS_COPY), "U");
  must(trs_factors_create(&F, L, TRS_NONUNIT, U, TRS_NONUNIT, NULL, NULL, NULL, NULL), "L U");
  trs_matrix_destroy(L);
  trs_matrix_destroy(U);
  return F;
}

/* The last rank's file differs from that of the other ranks, as if each node had a disk of its
 * own. */
static int refused_other(trs_factors *most, trs_factors *last) {
  char path[64] = "/tmp/trireme-mpi-XXXXXX.h5";
  int good = mkstemps(path, 3) >= 0;
  must(trs_factors_write(rank == size - 1 ? last : most, path), path);
  good &= refused_file(path, TRS_ERROR_FORMAT, "than rank 0's");
  remove(path);
  trs_factors_destroy(most);
  trs_factors_destroy(last);
  return good;
}

static void test_other_files(void) {
  trs_factors *F[4][2];
  int good = 1;
  for (int k = 0; k < 3; k++) F[k][0] = factored("gen:poisson2d5:9", TRS_DOUBLE, 2);
  F[0][1] = factored("gen:poisson2d5:8", TRS_DOUBLE, 2);
  F[1][1] = factored("gen:poisson2d5:9", TRS_DOUBLE, 4);
  F[2][1] = factored("gen:poisson2d5:9", TRS_FLOAT, 2);
  F[3][0] = banded(1);
  F[3][1] = banded(2);
  for (int k = 0; k < 4; k++) good &= refused_other(F[k][0], F[k][1]);
  say("another file on one rank: order, tree, values, indices", good);
}

static void test_files(void) {
  char path[64] = "/tmp/trireme-mpi-XXXXXX.h5";
  trs_factors *F = unsymmetric(300, TRS_DCOMPLEX, 8);
  trs_mpi_plan *plan;
  int good = 1, written = 1;
  if (rank == 0) written = mkstemps(path, 3) >= 0 && !trs_factors_write(F, path);
  MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD);
  MPI_Bcast(&written, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (!written) {
    if (rank == 0) printf("skip factors from a file: %s\n", trs_last_error()->message);
    trs_factors_destroy(F);
    return;
  }
  for (int z = 1; z <= 8 && size % z == 0; z *= 2) {
    trs_mpi_options o = {.struct_size = sizeof(trs_mpi_options), .px = 1, .py = size / z, .pz = z};
    must(trs_mpi_analyze_file(&plan, MPI_COMM_WORLD, place, path, op, &o), "file");
    good &= solves_with(F, plan, &o, 1);
    o.invert = "separators";
    o.width = 16;
    must(trs_mpi_analyze_file(&plan, MPI_COMM_WORLD, place, path, op, &o), "file");
    good &= solves_with(F, plan, &o, 1);
  }
  say("factors from a file", good);
  for (int trans = 0; trans < 3; trans++) {
    op = (trs_trans)trans;
    trs_mpi_options o = {
        .struct_size = sizeof(trs_mpi_options), .px = 1, .py = size, .pz = 1, .width = 8};
    must(trs_mpi_analyze_file(&plan, MPI_COMM_WORLD, place, path, op, &o), "file");
    good &= solves_with(F, plan, &o, 1);
  }
  op = TRS_NO_TRANS;
  say("op(A) from a file", good);
  if (size > 1) test_other_files();
  say("no such file on one rank",
      refused_file(rank == size - 1 ? "/no/such.h5" : path, TRS_ERROR_FILE, "/no/such.h5"));
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) damage(path);
  MPI_Barrier(MPI_COMM_WORLD);
  say("a damaged file", refused_file(path, TRS_ERROR_FORMAT, "damaged"));
  if (rank == 0) remove(path);
  trs_factors_destroy(F);
}

static int64_t held(void) {
  int64_t current, peak;
  trs_memory_usage(&current, &peak);
  return current;
}

/* Every allocation of one rank fails in turn, in the analysis of factors in memory and in a first
 * solve; with a file, whose reader needs a process, every fourth.  No rank keeps memory. */
static int memory_runs_out(const trs_factors *F, const char *path, int victim) {
  trs_mpi_options o = {.struct_size = sizeof(trs_mpi_options),
                       .px = 1,
                       .py = size,
                       .pz = 1,
                       .width = 8,
                       .invert = "separators"};
  double b[81], x[81];
  int good = 1, all = 1;
  char who[32];
  snprintf(who, sizeof who, "rank %d: ", victim);
  for (int64_t k = 0; all; k += path ? 4 : 1) {
    trs_mpi_plan *plan;
    int64_t before = held();
    if (rank == victim) trs_memory_fail_after(k);
    trs_status status = path ? trs_mpi_analyze_file(&plan, MPI_COMM_WORLD, place, path, op, &o)
                             : trs_mpi_analyze(&plan, MPI_COMM_WORLD, place, F, op, &o);
    if (!status) {
      trs_random_fill(b, 81, TRS_DOUBLE, 3);
      status = trs_mpi_solve(plan, x, 81, b, 81, 1, TRS_COL_MAJOR);
      trs_mpi_plan_destroy(plan);
    }
    trs_memory_fail_after(-1);
    good &= (!status || status == TRS_ERROR_MEMORY) && held() == before;
    if (status && size > 1)
      good &= strstr(trs_last_error()->message, who) || strstr(trs_last_error()->message, "memory");
    MPI_Allreduce(&status, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    good &= all == (int)status;
  }
  return good;
}

/* A solve with few right-hand sides, and with more. */
static int solves_again(const trs_factors *F, trs_mpi_plan *plan, int64_t nrhs) {
  double *b = malloc(sizeof *b * 81 * (size_t)nrhs), *x = malloc(sizeof *x * 81 * (size_t)nrhs);
  trs_backward_error error = {.struct_size = sizeof(trs_backward_error)};
  trs_random_fill(b, 81 * nrhs, TRS_DOUBLE, 3);
  trs_status status = trs_mpi_solve(plan, x, 81, b, 81, nrhs, TRS_COL_MAJOR);
  if (!status && rank == 0)
    must(trs_check_factors(&error, F, TRS_NO_TRANS, x, 81, b, 81, nrhs, TRS_COL_MAJOR), "check");
  free(b);
  free(x);
  return !status && error.componentwise < 1e-12;
}

/* Every allocation of one rank fails in turn in a solve with more right-hand sides than before.
 * Then the ranks solve with as many as before, or as in that solve, without an effect of the
 * failure. */
static int solves_after_failure(const trs_factors *F, int pz, int victim) {
  trs_mpi_options o = {
      .struct_size = sizeof(trs_mpi_options), .px = 1, .py = size / pz, .pz = pz, .width = 8};
  double b[81 * 3], x[81 * 3];
  int good = 1, all = 1;
  trs_random_fill(b, 81 * 3, TRS_DOUBLE, 3);
  for (int64_t k = 0; all; k++) {
    trs_mpi_plan *plan;
    must(trs_mpi_analyze(&plan, MPI_COMM_WORLD, place, F, op, &o), "analysis");
    if (k % 2) good &= solves_again(F, plan, 1);
    if (rank == victim) trs_memory_fail_after(k / 2);
    trs_status status = trs_mpi_solve(plan, x, 81, b, 81, 3, TRS_COL_MAJOR);
    trs_memory_fail_after(-1);
    all = status != TRS_SUCCESS;
    good &= !status || status == TRS_ERROR_MEMORY;
    good &= solves_again(F, plan, k / 2 % 2 ? 1 : 3) && solves_again(F, plan, 3);
    trs_mpi_plan_destroy(plan);
  }
  return good;
}

/* ---- One rank's flag cancels the call on all ranks, at any time ---- */

static int flag;
static struct timespec delay;

static void set_flag(int value) { __atomic_store_n(&flag, value, __ATOMIC_RELAXED); }

static void *set_later(void *unused) {
  nanosleep(&delay, NULL);
  set_flag(1);
  return unused;
}

/* The same status on all ranks, none or this one. */
static int agreed(trs_status status) {
  int least, most, own = (int)status;
  MPI_Allreduce(&own, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(&own, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return least == most && (!status || status == TRS_ERROR_CANCELLED);
}

static void test_cancel(void) {
  const int victim = size - 1;
  const trs_mpi_options o = {
      .struct_size = sizeof(trs_mpi_options), .px = 1, .py = size, .pz = 1, .width = 8};
  trs_factors *F = factored("gen:poisson2d5:9", TRS_DOUBLE, 2);
  double b[81], x[81];
  int good = 1, cancelled = 0;
  trs_mpi_plan *plan;
  trs_random_fill(b, 81, TRS_DOUBLE, 3);
  must(trs_set_cancel_flag(&flag), "flag");
  for (int k = 0; k < 20; k++) {
    const int64_t before = held();
    pthread_t thread;
    delay.tv_nsec = k * 200000L; /* at 0 the flag is set from the first */
    if (rank == victim && k == 0) set_flag(1);
    if (rank == victim && k && pthread_create(&thread, NULL, set_later, NULL)) abort();
    trs_status status = trs_mpi_analyze(&plan, MPI_COMM_WORLD, place, F, TRS_NO_TRANS, &o);
    good &= agreed(status) && (k || status);
    while (!status) {
      status = trs_mpi_solve(plan, x, 81, b, 81, 1, TRS_COL_MAJOR);
      good &= agreed(status);
      if (status) trs_mpi_plan_destroy(plan);
    }
    good &= strstr(trs_last_error()->message, "cancelled") != NULL;
    if (rank == victim && k) pthread_join(thread, NULL);
    set_flag(0);
    cancelled += status != TRS_SUCCESS;
    good &= held() == before;
  }
  must(trs_mpi_analyze(&plan, MPI_COMM_WORLD, place, F, TRS_NO_TRANS, &o), "analysis");
  set_flag(rank == victim);
  const trs_status status = trs_mpi_solve(plan, x, 81, b, 81, 1, TRS_COL_MAJOR);
  set_flag(0);
  good &= status == TRS_ERROR_CANCELLED && solves_again(F, plan, 1);
  must(trs_set_cancel_flag(NULL), "flag");
  trs_mpi_plan_destroy(plan);
  trs_factors_destroy(F);
  say("a rank's flag cancels the call of all", good && cancelled == 20);
}

static void test_memory(void) {
  char path[64] = "/tmp/trireme-mpi-XXXXXX.h5";
  trs_factors *F = factored("gen:poisson2d5:9", TRS_DOUBLE, 2);
  int written = 1;
  say("memory that runs out on one rank", memory_runs_out(F, NULL, size / 2));
  say("solves after one that ran out of memory", solves_after_failure(F, 1, size / 2));
  if (size % 2 == 0)
    say("solves after one that ran out of memory, Pz = 2", solves_after_failure(F, 2, size - 1));
  if (rank == 0) written = mkstemps(path, 3) >= 0 && !trs_factors_write(F, path);
  MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD);
  MPI_Bcast(&written, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (written && size <= 4) {
    say("memory that runs out on rank 0, which reads the pattern", memory_runs_out(F, path, 0));
    say("memory that runs out on the last, which reads a part", memory_runs_out(F, path, size - 1));
  }
  if (rank == 0) remove(path);
  trs_factors_destroy(F);
}

/* Each option differs in turn on the last rank. */
static void test_different_options(void) {
  static const trs_scalar single = TRS_FLOAT;
  const trs_mpi_options base = {
      .struct_size = sizeof(trs_mpi_options), .px = 1, .py = size, .pz = 1, .invert = "blocks"};
  trs_factors *F = factored("gen:poisson2d5:9", TRS_DOUBLE, 2);
  const char *const word[] = {"method", "px",        "py",     "flat_trees", "width",
                              "trans",  "scattered", "scalar", "invert"};
  for (int k = 0; k < 9; k++) {
    trs_mpi_options other[] = {base, base, base, base, base, base, base, base, base};
    char name[64];
    other[0].method = "grid2d";
    other[1].px = size, other[1].py = 1;
    other[2].py = 0;
    other[3].flat_trees = 1;
    other[4].width = 9;
    op = k == 5 && rank == size - 1 ? TRS_TRANS : TRS_NO_TRANS;
    other[6].scattered = 1;
    other[7].scalar = single;
    other[8].invert = "separators";
    snprintf(name, sizeof name, "another %s on one rank", word[k]);
    say(name, plan_refused(F, rank == size - 1 ? other[k] : base, TRS_ERROR_ARGUMENT, word[k]));
  }
  op = TRS_NO_TRANS;
  trs_factors_destroy(F);
}

/* The same L and U on all ranks, but different permutations, scalings and so on. */
static void test_different_factors(void) {
  trs_factors *F = factored("gen:poisson2d5:9", TRS_DOUBLE, 2), *G;
  const trs_mpi_options o = {.struct_size = sizeof(trs_mpi_options), .px = size, .py = 1, .pz = 1};
  trs_factors_info info = {.struct_size = sizeof info};
  int32_t own[81];
  int odd = rank == size - 1;
  trs_factors_get_info(F, &info);
  for (int i = 0; i < 81; i++) own[i] = (i + odd) % 81;
  must(trs_factors_create(&G, info.L, info.diag_L, info.U, info.diag_U, own, NULL, NULL, NULL),
       "permuted");
  say("another permutation on one rank",
      plan_refused(G, o, TRS_ERROR_ARGUMENT, "others than those"));
  trs_factors_destroy(G);
  must(trs_factors_create(&G, info.L, info.diag_L, info.U, odd ? TRS_UNIT : TRS_NONUNIT, NULL, NULL,
                          NULL, NULL),
       "unit");
  say("a unit diagonal on one rank", plan_refused(G, o, TRS_ERROR_ARGUMENT, "others than those"));
  trs_factors_destroy(G);
  trs_factors_destroy(F);
}

static void test_null(void) {
  double b[1] = {0};
  trs_mpi_plan *plan;
  int good = trs_mpi_solve(NULL, b, 1, b, 1, 1, TRS_COL_MAJOR) == TRS_ERROR_ARGUMENT;
  good &= trs_mpi_distribute(NULL, 0, 0) == TRS_ERROR_ARGUMENT;
  good &=
      trs_mpi_refine(NULL, b, 1, NULL, NULL, b, 1, 1, TRS_COL_MAJOR, NULL, 1) == TRS_ERROR_ARGUMENT;
  good &= trs_mpi_get_stats(NULL, NULL, TRS_MPI_MAX) == TRS_ERROR_ARGUMENT;
  good &= trs_mpi_analyze_file(rank ? &plan : NULL, MPI_COMM_WORLD, place, "x", op, NULL) ==
          TRS_ERROR_ARGUMENT;
  good &=
      trs_mpi_analyze(&plan, MPI_COMM_WORLD, place, NULL, op, NULL) == TRS_ERROR_ARGUMENT && !plan;
  good &=
      trs_mpi_analyze_blocks(&plan, MPI_COMM_WORLD, place, NULL, op, NULL) == TRS_ERROR_ARGUMENT &&
      !plan;
  good &=
      trs_mpi_analyze_file(&plan, MPI_COMM_WORLD, place, rank == size - 1 ? NULL : "/no/such.h5",
                           op, NULL) == TRS_ERROR_ARGUMENT;
  say("arguments that are NULL", good);
}

static void test_errors(void) {
  trs_factors *F = factored("gen:poisson2d5:9", TRS_DOUBLE, 2);
  trs_mpi_options o = {.struct_size = sizeof(trs_mpi_options), .px = size + 1, .py = 1, .pz = 1};
  say("a grid that does not multiply to the ranks",
      plan_refused(F, o, TRS_ERROR_ARGUMENT, "but there are"));
  o = (trs_mpi_options){.struct_size = sizeof(trs_mpi_options), .px = 1, .py = 1, .pz = size};
  if (size & (size - 1))
    say("Pz is no power of two", plan_refused(F, o, TRS_ERROR_ARGUMENT, "power of two"));
  else if (size > 2)
    say("Pz larger than the tree", plan_refused(F, o, TRS_ERROR_ARGUMENT, "leaves"));
  o = (trs_mpi_options){.struct_size = sizeof(trs_mpi_options), .method = "grid4d"};
  say("no such method", plan_refused(F, o, TRS_ERROR_ARGUMENT, "grid4d"));
  o = (trs_mpi_options){.struct_size = sizeof(trs_mpi_options), .invert = "all"};
  say("no such inversion", plan_refused(F, o, TRS_ERROR_ARGUMENT, "separators"));
  o = (trs_mpi_options){.struct_size = sizeof(trs_mpi_options), .px = 1, .py = size, .pz = 1};
  if (rank == size - 1) o.method = "wrong on one rank";
  say("a failure of one rank is one of all",
      plan_refused(F, o, TRS_ERROR_ARGUMENT, "wrong on one"));
  trs_status status = TRS_SUCCESS;
  if (rank == size / 2) status = trs_matrix_read(&(trs_matrix *){NULL}, "no/such/file.mtx", NULL);
  say("trs_mpi_agree", trs_mpi_agree(MPI_COMM_WORLD, status) == TRS_ERROR_FILE &&
                           strstr(trs_last_error()->message, "no/such/file.mtx"));
  trs_factors_destroy(F);
  F = factored(rank == size - 1 ? "gen:poisson2d5:8" : "gen:poisson2d5:9", TRS_DOUBLE, 2);
  o = (trs_mpi_options){.struct_size = sizeof(trs_mpi_options), .px = size, .py = 1, .pz = 1};
  if (size > 1)
    say("other factors on one rank",
        plan_refused(F, o, TRS_ERROR_ARGUMENT, "others than those of rank"));
  trs_factors_destroy(F);
  if (size > 1) test_different_options();
  if (size > 1) test_different_factors();
  test_null();
  F = singular(40);
  say("a singular diagonal block", plan_refused(F, o, TRS_ERROR_ZERO_PIVOT, "row 17"));
  trs_factors_destroy(F);
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  if (!makes_factors()) return MPI_Finalize();
  test_systems();
  test_tree_sends();
  test_inversion();
  test_layouts();
  test_ways();
  test_refinement();
  test_files();
  test_errors();
  test_memory();
  test_cancel();
  MPI_Finalize();
  return failures != 0;
}
