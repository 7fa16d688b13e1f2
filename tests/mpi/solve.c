/* solve.c - every grid shape of the ranks there are, against the backward error that
 * trs_check_factors measures: factored grids, unsymmetric patterns, a diagonal matrix, a dense one,
 * a forest; one and many right-hand sides; all element types; errors, the same on all ranks. Run by
 * mpirun with any number of ranks; rank 0 prints 'ok NAME' and 'not ok NAME'. */
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trireme_mpi.h"

static int rank, size, failures;

/* A verdict of all ranks: good if it is good on each. */
static void say(const char *name, int good) {
  int all;
  MPI_Allreduce(&good, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  failures += !all;
  if (rank == 0) printf("%s %s (%d ranks)\n", all ? "ok" : "not ok", name, size);
}

static void must(trs_status status, const char *what) {
  if (!status) return;
  fprintf(stderr, "rank %d: %s: %s\n", rank, what, trs_last_error()->message);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* ---- Systems ---- */

static trs_factors *factored(const char *name, trs_scalar scalar, int leaves) {
  trs_matrix *A;
  trs_factors *F;
  trs_read_options read = {.scalar = &scalar};
  trs_factor_options options = {.tree_leaves = leaves};
  must(trs_matrix_read(&A, name, &read), name);
  must(trs_factor(&F, A, &options), name);
  trs_matrix_destroy(A);
  return F;
}

/* One rank of every few makes a row or a column that the other triangle lacks. */
static trs_factors *unsymmetric(int n, trs_scalar scalar, int leaves) {
  trs_matrix *A;
  trs_factors *F;
  int32_t *row = malloc(sizeof *row * (size_t)n * 4), *col = malloc(sizeof *col * (size_t)n * 4);
  double *value = malloc(sizeof *value * (size_t)n * 8);
  int64_t count = 0;
  uint64_t seed = 7;
  for (int i = 0; i < n; i++)
    for (int k = 0; k < 4; k++) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      int j = k == 0 ? i : (i + (int)((seed >> 33) % 40)) % n;
      if (k && j == i) continue;
      row[count] = i;
      col[count++] = j;
    }
  for (int64_t p = 0; p < count; p++) {
    double v = row[p] == col[p] ? 5 : 0.3 + (double)(p % 7) / 7;
    int complex_values = scalar >= TRS_SCOMPLEX;
    value[complex_values ? 2 * p : p] = v;
    if (complex_values) value[2 * p + 1] = (double)(p % 3) / 9;
  }
  trs_matrix *D;
  must(trs_matrix_create_coo(&D, scalar >= TRS_SCOMPLEX ? TRS_DCOMPLEX : TRS_DOUBLE, n, n, count,
                             row, col, value),
       "unsymmetric");
  must(trs_matrix_convert(&A, D, TRS_CSR, scalar), "unsymmetric");
  trs_factor_options options = {.tree_leaves = leaves};
  must(trs_factor(&F, A, &options), "unsymmetric");
  trs_matrix_destroy(A);
  trs_matrix_destroy(D);
  free(row);
  free(col);
  free(value);
  return F;
}

/* kind: 0 diagonal, 1 dense, 2 a forest of paths. */
static trs_factors *special(int n, int kind, int leaves) {
  trs_matrix *A;
  trs_factors *F;
  int32_t *row = malloc(sizeof *row * (size_t)n * (size_t)n);
  int32_t *col = malloc(sizeof *col * (size_t)n * (size_t)n);
  double *value = malloc(sizeof *value * (size_t)n * (size_t)n);
  int64_t count = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      int near = (i - j == 1 || j - i == 1) && i / 9 == j / 9;
      if (i != j && kind == 0) continue;
      if (i != j && kind == 2 && !near) continue;
      row[count] = i;
      col[count] = j;
      value[count++] = i == j ? n + i : 1.0 / (1 + i + 2 * j);
    }
  must(trs_matrix_create_coo(&A, TRS_DOUBLE, n, n, count, row, col, value), "special");
  trs_factor_options options = {.tree_leaves = leaves};
  must(trs_factor(&F, A, &options), "special");
  trs_matrix_destroy(A);
  free(row);
  free(col);
  free(value);
  return F;
}

/* ---- Solves ---- */

static int64_t fullest_row(const trs_matrix *T) {
  trs_matrix_info info;
  trs_matrix_get_info(T, &info);
  return info.longest_row;
}

static double error_of(const trs_factors *F, trs_mpi_plan *plan, int64_t nrhs, uint64_t seed) {
  static const size_t bytes[] = {4, 8, 8, 16};
  trs_factors_info info;
  trs_backward_error error = {0};
  trs_factors_get_info(F, &info);
  size_t room = (size_t)(info.n * nrhs) * bytes[info.scalar];
  void *b = malloc(room + 1), *x = malloc(room + 1);
  trs_random_fill(b, info.n * nrhs, info.scalar, seed);
  memset(x, 255, room);
  must(trs_mpi_solve(plan, rank ? NULL : x, info.n, rank ? NULL : b, info.n, nrhs), "solve");
  if (rank == 0)
    must(trs_check_factors(F, TRS_NO_TRANS, x, info.n, b, info.n, nrhs, TRS_COL_MAJOR, &error),
         "check");
  free(b);
  free(x);
  double eps = info.scalar % 2 ? DBL_EPSILON : FLT_EPSILON;
  double limit = 50 * eps * (double)(fullest_row(info.L) + fullest_row(info.U) + 1);
  if (rank == 0 && !(error.componentwise <= limit))
    fprintf(stderr, "backward error %.3g above %.3g\n", error.componentwise, limit);
  return error.componentwise <= limit ? 0 : 1;
}

static int solves(const trs_factors *F, const trs_mpi_options *options) {
  static const int64_t many[] = {1, 7, 50};
  trs_mpi_plan *plan;
  int good = 1;
  if (trs_mpi_analyze(MPI_COMM_WORLD, &plan, F, options)) {
    fprintf(stderr, "rank %d: %s %dx%dx%d: %s\n", rank, options->method, options->px, options->py,
            options->pz, trs_last_error()->message);
    return 0;
  }
  for (int k = 0; k < 3; k++)
    if (error_of(F, plan, many[k], 5 + (uint64_t)k) != 0) {
      fprintf(stderr, "rank %d: %s %dx%dx%d, nrhs %d\n", rank, options->method, options->px,
              options->py, options->pz, (int)many[k]);
      good = 0;
    }
  trs_mpi_plan_destroy(plan);
  return good;
}

/* Every shape of the ranks there are, both algorithms, both kinds of trees. */
static int all_shapes(const trs_factors *F, int most_grids) {
  int good = 1;
  for (int z = 1; z <= size && z <= most_grids; z *= 2)
    for (int x = 1; x <= size / z; x++) {
      if (size % (x * z)) continue;
      trs_mpi_options o = {.px = x, .py = size / x / z, .pz = z, .width = 16};
      for (int variant = 0; variant < 4; variant++) {
        o.method = variant % 2 ? "grid3d-baseline" : "grid3d";
        o.flat_trees = variant / 2;
        good &= solves(F, &o);
      }
    }
  return good;
}

static void test_systems(void) {
  static const char *const letters[] = {"float", "double", "float complex", "double complex"};
  char name[64];
  for (int s = 0; s < 4; s++) {
    trs_factors *F = unsymmetric(300, (trs_scalar)s, 8);
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
  trs_factors_info info;
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

static int refused(const trs_factors *F, trs_mpi_options o, trs_status expected,
                   const char *words) {
  trs_mpi_plan *plan;
  trs_status status = trs_mpi_analyze(MPI_COMM_WORLD, &plan, F, &o);
  int good = status == expected && !plan && strstr(trs_last_error()->message, words);
  if (!good)
    fprintf(stderr, "rank %d: %s, \"%s\" lacks \"%s\"\n", rank, trs_status_name(status),
            trs_last_error()->message, words);
  if (!status) trs_mpi_plan_destroy(plan);
  return good;
}

static void test_errors(void) {
  trs_factors *F = factored("gen:poisson2d5:9", TRS_DOUBLE, 2);
  trs_mpi_options o = {.px = size + 1, .py = 1, .pz = 1};
  say("a grid that does not multiply to the ranks",
      refused(F, o, TRS_ERROR_ARGUMENT, "but there are"));
  o = (trs_mpi_options){.px = 1, .py = 1, .pz = size};
  if (size & (size - 1))
    say("Pz is no power of two", refused(F, o, TRS_ERROR_ARGUMENT, "power of two"));
  else if (size > 2)
    say("Pz larger than the tree", refused(F, o, TRS_ERROR_ARGUMENT, "leaves"));
  o = (trs_mpi_options){.method = "grid4d"};
  say("no such method", refused(F, o, TRS_ERROR_ARGUMENT, "grid4d"));
  o = (trs_mpi_options){.px = 1, .py = size, .pz = 1};
  if (rank == size - 1) o.method = "wrong on one rank";
  say("a failure of one rank is one of all", refused(F, o, TRS_ERROR_ARGUMENT, "wrong on one"));
  trs_status status = TRS_SUCCESS;
  if (rank == size / 2) status = trs_matrix_read(&(trs_matrix *){NULL}, "no/such/file.mtx", NULL);
  say("trs_mpi_agree", trs_mpi_agree(MPI_COMM_WORLD, status) == TRS_ERROR_FILE &&
                           strstr(trs_last_error()->message, "no/such/file.mtx"));
  trs_factors_destroy(F);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  test_systems();
  test_errors();
  MPI_Finalize();
  return failures != 0;
}
