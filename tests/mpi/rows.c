/* rows.c - L and U in rows that each rank brings: the bits of an analysis of the same factors that
 * every rank has whole, and small backward errors; uneven ranges and ranks without rows, all
 * element types, unit diagonals, transposes, permutations and scalings, grids; memory that runs
 * out; errors, the same on all ranks.  Run by mpirun; rank 0 prints 'ok NAME' and 'not ok NAME'. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "mpi/verdict.h"

enum { N = 120, K = 3 };

/* ---- Factors ---- */

typedef struct sys {
  trs_scalar scalar;
  trs_matrix *side[2]; /* L, U: whole */
  trs_diag diag_L, diag_U;
  int mapped;
  int32_t row_perm[N], col_perm[N];
  double row_scale[N], col_scale[N];
} sys;

/* A random triangle; the pattern of U is not that of L transposed. */
static trs_matrix *triangle(trs_scalar scalar, int upper, int stored) {
  entries e = entries_begin(scalar, 8 * N);
  uint64_t seed = 11 + (uint64_t)upper;
  for (int i = 0; i < N; i++) {
    if (stored) entries_add(&e, i, i, 4 + i % 3, 1);
    for (int k = 1; k <= 3; k++) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      const int far = i + 13 * (k - 1) + 1 + (int)((seed >> 33) % 12);
      if (far < N)
        entries_add(&e, upper ? i : far, upper ? far : i, 0.2 + (double)(k + i % 5) / 9, -0.3);
    }
  }
  trs_matrix *T = entries_matrix(&e, N);
  entries_free(&e);
  return T;
}

static sys system_of(trs_scalar scalar, int unit, int mapped) {
  sys s = {.scalar = scalar,
           .diag_L = unit == 1 ? TRS_UNIT : TRS_NONUNIT,
           .diag_U = unit == 2 ? TRS_UNIT : TRS_NONUNIT,
           .mapped = mapped};
  s.side[0] = triangle(scalar, 0, unit != 1);
  s.side[1] = triangle(scalar, 1, unit != 2);
  for (int i = 0; i < N; i++) {
    s.row_perm[i] = (7 * i + 3) % N;
    s.col_perm[i] = N - 1 - i;
    s.row_scale[i] = 1 + i % 4;
    s.col_scale[i] = 0.5 + i % 3;
  }
  return s;
}

static void destroy(sys *s) {
  trs_matrix_destroy(s->side[0]);
  trs_matrix_destroy(s->side[1]);
}

static trs_factors *whole(const sys *s) {
  trs_factors *F;
  must(trs_factors_create(&F, s->side[0], s->diag_L, s->side[1], s->diag_U,
                          s->mapped ? s->row_perm : NULL, s->mapped ? s->col_perm : NULL,
                          s->mapped ? s->row_scale : NULL, s->mapped ? s->col_scale : NULL),
       "factors");
  return F;
}

/* ---- Rows ---- */

/* The first row of a rank: 0: ranges that grow; 1: rank size / 2 has all; 2: the first ranks have
 * none, the last one row. */
static int64_t row_from(int split, int r) {
  if (split == 0) return (int64_t)N * r * r / ((int64_t)size * size);
  if (split == 1) return r > size / 2 ? N : 0;
  return r == size ? N : r == size - 1 && size > 1 ? N - 1 : 0;
}

static trs_matrix *slice(const trs_matrix *T, int64_t from, int64_t to) {
  trs_matrix *rows;
  trs_matrix_info info = {.struct_size = sizeof info};
  const int64_t *ptr;
  const int32_t *idx;
  const void *val;
  int64_t own[N + 1];
  trs_matrix_get_info(T, &info);
  trs_matrix_get_arrays(T, &ptr, &idx, &val);
  for (int64_t v = from; v <= to; v++) own[v - from] = ptr[v] - ptr[from];
  static const size_t bytes[] = {0, 4, 8, 8, 16}; /* by trs_scalar */
  must(trs_matrix_create(&rows, TRS_CSR, info.scalar, to - from, info.ncols, TRS_PTR64, own,
                         idx + ptr[from],
                         (const char *)val + (size_t)ptr[from] * bytes[info.scalar], TRS_COPY),
       "rows");
  return rows;
}

/* Rows from .. to of the system; the maps on rank 0 alone. */
static trs_mpi_rows rows_of(const sys *s, int64_t from, int64_t to) {
  const int mapped = s->mapped && rank == 0;
  return (trs_mpi_rows){.struct_size = sizeof(trs_mpi_rows),
                        .n = N,
                        .first_row = from,
                        .L = from < to ? slice(s->side[0], from, to) : NULL,
                        .U = from < to ? slice(s->side[1], from, to) : NULL,
                        .diag_L = s->diag_L,
                        .diag_U = s->diag_U,
                        .row_perm = mapped ? s->row_perm : NULL,
                        .col_perm = mapped ? s->col_perm : NULL,
                        .row_scale = mapped ? s->row_scale : NULL,
                        .col_scale = mapped ? s->col_scale : NULL};
}

static void drop(trs_mpi_rows *rows) {
  trs_matrix_destroy((trs_matrix *)rows->L);
  trs_matrix_destroy((trs_matrix *)rows->U);
  rows->L = rows->U = NULL;
}

/* ---- Solves ---- */

typedef struct vectors {
  double x[2 * N * K], b[2 * N * K]; /* room for every type; leading dimension N */
} vectors;

static size_t bytes_of(trs_scalar scalar) {
  return scalar == TRS_FLOAT ? 4 : scalar == TRS_DCOMPLEX ? 16 : 8;
}

/* x of this rank's rows, zero elsewhere. */
static void solve(trs_mpi_plan *plan, vectors *v, trs_scalar scalar, int split) {
  const size_t each = bytes_of(scalar);
  const size_t at = (size_t)row_from(split, rank) * each;
  const int any = row_from(split, rank) < row_from(split, rank + 1);
  memset(v->x, 0, sizeof v->x);
  trs_random_fill(v->b, (int64_t)N * K, scalar, 5);
  must(trs_mpi_solve(plan, any ? (char *)v->x + at : NULL, N, any ? (const char *)v->b + at : NULL,
                     N, K, TRS_COL_MAJOR),
       "solve");
}

static int is_small(const trs_factors *F, vectors *v, trs_scalar scalar) {
  static char all[sizeof v->x];
  trs_backward_error error = {.struct_size = sizeof error};
  MPI_Reduce(v->x, all, (int)sizeof all, MPI_BYTE, MPI_BOR, 0, MPI_COMM_WORLD);
  if (rank) return 1;
  must(trs_check_factors(&error, F, op, all, N, v->b, N, K, TRS_COL_MAJOR), "check");
  const double eps = scalar == TRS_DOUBLE || scalar == TRS_DCOMPLEX ? DBL_EPSILON : FLT_EPSILON;
  if (error.componentwise <= 200 * eps) return 1;
  fprintf(stderr, "backward error %.3g\n", error.componentwise);
  return 0;
}

/* The plan of rows has the bits of the plan of whole factors, and b and x lie like the rows. */
static int same_bits(const sys *s, const trs_mpi_options *o, int split) {
  static vectors by_rows, by_factors;
  trs_mpi_plan *plan, *other;
  trs_factors *F = whole(s);
  trs_mpi_rows rows = rows_of(s, row_from(split, rank), row_from(split, rank + 1));
  must(trs_mpi_analyze_rows(&plan, MPI_COMM_WORLD, place, &rows, op, o), "rows");
  drop(&rows);
  solve(plan, &by_rows, s->scalar, split);
  must(trs_mpi_analyze(&other, MPI_COMM_WORLD, place, F, op, o), "factors");
  must(trs_mpi_distribute(other, row_from(split, rank),
                          row_from(split, rank + 1) - row_from(split, rank)),
       "distribute");
  solve(other, &by_factors, s->scalar, split);
  int good = memcmp(by_rows.x, by_factors.x, sizeof by_rows.x) == 0;
  good &= is_small(F, &by_rows, s->scalar);
  if (!good)
    fprintf(stderr, "rank %d: type %d, trans %d, split %d, %d x %d x %d\n", rank, s->scalar, op,
            split, o ? o->px : 0, o ? o->py : 0, o ? o->pz : 0);
  trs_mpi_plan_destroy(plan);
  trs_mpi_plan_destroy(other);
  trs_factors_destroy(F);
  return good;
}

/* Every shape; unit diagonals, transposes, maps and ranges in turn. */
static int all_shapes(trs_scalar scalar) {
  int good = 1, turn = 0;
  for (int unit = 0; unit < 3; unit++)
    for (int mapped = 0; mapped < 2; mapped++) {
      sys s = system_of(scalar, unit, mapped);
      for (int z = 1; z <= size; z *= 2)
        for (int trans = 0; trans < 3; trans++) {
          if (size % z) continue;
          trs_mpi_options o = {.struct_size = sizeof o,
                               .px = 1,
                               .py = size / z,
                               .pz = z,
                               .width = 16,
                               .invert = turn % 2 ? "separators" : NULL};
          op = (trs_trans)trans;
          good &= same_bits(&s, &o, turn++ % 3);
        }
      op = TRS_NO_TRANS;
      good &= same_bits(&s, NULL, turn % 3);
      destroy(&s);
    }
  return good;
}

static void test_bits(void) {
  static const char *const letters[] = {"float", "double", "float complex", "double complex"};
  char name[64];
  for (int t = 0; t < 4; t++) {
    snprintf(name, sizeof name, "rows of L and U, %s", letters[t]);
    say(name, all_shapes((trs_scalar)(TRS_FLOAT + t)));
  }
  sys s = system_of(TRS_DOUBLE, 1, 1);
  const trs_mpi_options grids = {.struct_size = sizeof grids, .px = 1, .py = 1, .pz = size};
  place_at("threads:2");
  if ((size & (size - 1)) == 0) say("rows, with a context", same_bits(&s, &grids, 0));
  place_at(NULL);
  destroy(&s);
}

/* b and x elsewhere than the rows, and a system of no rows. */
static void test_distribution(void) {
  static vectors first, second;
  trs_mpi_plan *plan;
  sys s = system_of(TRS_DOUBLE, 0, 1);
  trs_factors *F = whole(&s);
  trs_mpi_rows rows = rows_of(&s, row_from(0, rank), row_from(0, rank + 1));
  must(trs_mpi_analyze_rows(&plan, MPI_COMM_WORLD, NULL, &rows, op, NULL), "rows");
  drop(&rows);
  solve(plan, &first, TRS_DOUBLE, 0);
  must(trs_mpi_distribute(plan, row_from(1, rank), row_from(1, rank + 1) - row_from(1, rank)),
       "distribute");
  solve(plan, &second, TRS_DOUBLE, 1);
  int good = is_small(F, &first, TRS_DOUBLE) & is_small(F, &second, TRS_DOUBLE);
  trs_mpi_plan_destroy(plan);
  const trs_mpi_rows none = {.struct_size = sizeof none};
  must(trs_mpi_analyze_rows(&plan, MPI_COMM_WORLD, NULL, &none, op, NULL), "no rows");
  good &= !trs_mpi_solve(plan, NULL, 0, NULL, 0, 1, TRS_COL_MAJOR);
  trs_mpi_plan_destroy(plan);
  say("rows, then another distribution; no rows at all", good);
  trs_factors_destroy(F);
  destroy(&s);
}

/* ---- Errors ---- */

static int refused(const trs_mpi_rows *rows, trs_status expected, const char *words) {
  trs_mpi_plan *plan;
  return fails(trs_mpi_analyze_rows(&plan, MPI_COMM_WORLD, NULL, rows, op, NULL), expected,
               words) &&
         !plan;
}

/* The message names this rank if there are several, and a row. */
static int names_rank(int who) {
  char words[32];
  snprintf(words, sizeof words, "rank %d: ", who);
  return size == 1 || strstr(trs_last_error()->message, words);
}

/* The last rank's rows are wrong in turn. */
static void test_ranges(const sys *s) {
  const int last = rank == size - 1;
  const int64_t from = row_from(0, rank), to = row_from(0, rank + 1);
  trs_mpi_rows rows = rows_of(s, from + last, to);
  int good = refused(&rows, TRS_ERROR_ARGUMENT, "but the ranks before have rows 0 to ");
  say("a gap between the rows of two ranks", good && names_rank(size - 1));
  rows.first_row = last ? from + 2 : from;
  say("rows beyond the last",
      refused(&rows, TRS_ERROR_ARGUMENT, "of the factors' 120 rows") && names_rank(size - 1));
  drop(&rows);
  rows = rows_of(s, from, to - last);
  say("rows that no rank has", refused(&rows, TRS_ERROR_ARGUMENT, "119 rows of the factors' 120"));
  drop(&rows);
}

static void test_kinds(const sys *s) {
  static const int32_t all_same[N];
  static const double zeros[N];
  const int last = rank == size - 1;
  const trs_mpi_rows right = rows_of(s, row_from(0, rank), row_from(0, rank + 1));
  trs_mpi_rows rows = right;
  if (last) rows.n = N + 1;
  say("another n on one rank",
      refused(&rows, TRS_ERROR_ARGUMENT, size > 1 ? "rows: n is 121, but 120" : "columns"));
  rows = right;
  if (last) rows.diag_U = TRS_UNIT;
  if (size > 1)
    say("another diagonal on one rank",
        refused(&rows, TRS_ERROR_ARGUMENT, "rows: diag_U") && names_rank(size - 1));
  if (last) rows.diag_U = (trs_diag)7;
  say("no such diagonal", refused(&rows, TRS_ERROR_ARGUMENT, "TRS_UNIT or"));
  rows = right;
  if (last) rows.U = NULL;
  int good = refused(&rows, TRS_ERROR_ARGUMENT, "U is NULL, and L is not");
  rows = right;
  if (last) rows.L = NULL;
  good &= refused(&rows, TRS_ERROR_ARGUMENT, "L is NULL, and U is not") && names_rank(size - 1);
  say("L or U is NULL on one rank", good);
  rows = right;
  if (last) rows.struct_size = 4;
  say("a structure of another size", refused(&rows, TRS_ERROR_ARGUMENT, "struct_size"));
  rows = right;
  if (rank == 0) rows.row_perm = all_same;
  good = refused(&rows, TRS_ERROR_ARGUMENT, "row_perm");
  rows = right;
  if (rank == 0) rows.col_scale = zeros;
  good &= refused(&rows, TRS_ERROR_ARGUMENT, "col_scale[0] is 0");
  say("maps that are none", good);
  rows = right;
  drop(&rows);
}

static trs_status no_values(void *user, void *val, int64_t count, const int32_t *vector) {
  (void)user, (void)count, (void)vector, (void)val;
  return TRS_SUCCESS;
}

/* The last rank's matrix is another, which is destroyed. */
static int refused_matrix(const sys *s, int upper, trs_matrix *wrong, trs_status expected,
                          const char *words) {
  trs_mpi_rows right = rows_of(s, row_from(0, rank), row_from(0, rank + 1)), rows = right;
  if (rank == size - 1 && upper) rows.U = wrong;
  if (rank == size - 1 && !upper) rows.L = wrong;
  const int good = refused(&rows, expected, words) && names_rank(size - 1);
  drop(&right);
  trs_matrix_destroy(wrong);
  return good;
}

static void test_matrices(const sys *s) {
  const int64_t from = row_from(0, size - 1);
  trs_matrix *turned, *other, *right = slice(s->side[0], from, N);
  const int64_t *ptr;
  const int32_t *idx;
  const void *val;
  must(trs_matrix_convert(&turned, right, TRS_CSC, s->scalar), "CSC");
  say("rows in CSC", refused_matrix(s, 0, turned, TRS_ERROR_ARGUMENT, "L is in CSC"));
  must(trs_matrix_convert(&other, right, TRS_CSR, TRS_FLOAT), "float");
  say("L of another type than U",
      refused_matrix(s, 0, other, TRS_ERROR_ARGUMENT, "L has scalar type s, U has d"));
  trs_matrix_get_arrays(right, &ptr, &idx, &val);
  must(trs_matrix_create_deferred(&other, TRS_CSR, TRS_DOUBLE, N - from, N, TRS_PTR64, ptr, idx,
                                  TRS_COPY, no_values, NULL),
       "deferred");
  say("values that are not there",
      refused_matrix(s, 0, other, TRS_ERROR_UNSUPPORTED, "trs_mpi_analyze_rows"));
  say("U has fewer rows than L",
      refused_matrix(s, 1, slice(s->side[1], from, N - 1), TRS_ERROR_ARGUMENT, "U has"));
  say("U where L belongs", refused_matrix(s, 0, slice(s->side[1], from, N), TRS_ERROR_STRUCTURE,
                                          "L is not lower triangular: row"));
  say("L where U belongs", refused_matrix(s, 1, slice(s->side[0], from, N), TRS_ERROR_STRUCTURE,
                                          "U is not upper triangular: row"));
  sys bare = system_of(TRS_DOUBLE, 1, 0);
  char words[64];
  snprintf(words, sizeof words, "row %d (0-based) of L has no diagonal entry", (int)from);
  int good = refused_matrix(s, 0, slice(bare.side[0], from, N), TRS_ERROR_STRUCTURE, words);
  say("no diagonal entry", good && trs_last_error()->row == from);
  destroy(&bare);
  trs_matrix_destroy(right);
}

/* All ranks but the last have floats. */
static void test_types(const sys *s) {
  sys single = system_of(TRS_FLOAT, 0, 0);
  trs_mpi_rows rows =
      rows_of(rank == size - 1 ? s : &single, row_from(0, rank), row_from(0, rank + 1));
  if (size > 1)
    say("another element type on one rank",
        refused(&rows, TRS_ERROR_ARGUMENT, "their scalar type is d, but s on rank") &&
            names_rank(size - 1));
  drop(&rows);
  destroy(&single);
}

/* U's diagonal entry of row 77 is zero, then NaN. */
static void test_pivots(void) {
  sys s = system_of(TRS_DOUBLE, 0, 0);
  const int64_t *ptr;
  const int32_t *idx;
  const void *val;
  double *own;
  trs_matrix_get_arrays(s.side[1], &ptr, &idx, &val);
  own = malloc(sizeof *own * (size_t)ptr[N]);
  memcpy(own, val, sizeof *own * (size_t)ptr[N]);
  for (int k = 0; k < 2; k++) {
    own[ptr[77]] = k ? (double)NAN : 0;
    must(trs_matrix_set_values(s.side[1], own), "values");
    trs_mpi_rows rows = rows_of(&s, row_from(0, rank), row_from(0, rank + 1));
    int good = refused(&rows, k ? TRS_ERROR_NOT_FINITE : TRS_ERROR_ZERO_PIVOT, "row 77 ");
    say(k ? "a pivot that is NaN" : "a zero pivot", good && trs_last_error()->row == 77);
    drop(&rows);
  }
  free(own);
  destroy(&s);
}

static int64_t held(void) {
  int64_t current, peak;
  trs_memory_usage(&current, &peak);
  return current;
}

/* Every allocation of one rank fails in turn.  No rank keeps memory. */
static int memory_runs_out(const sys *s, int victim) {
  const trs_mpi_options o = {
      .struct_size = sizeof o, .px = 1, .py = size, .pz = 1, .width = 8, .invert = "separators"};
  trs_mpi_rows rows = rows_of(s, row_from(0, rank), row_from(0, rank + 1));
  int good = 1, all = 1;
  for (int64_t k = 0; all; k++) {
    trs_mpi_plan *plan;
    const int64_t before = held();
    if (rank == victim) trs_memory_fail_after(k);
    trs_status status = trs_mpi_analyze_rows(&plan, MPI_COMM_WORLD, NULL, &rows, op, &o);
    trs_memory_fail_after(-1);
    trs_mpi_plan_destroy(plan);
    good &= (!status || status == TRS_ERROR_MEMORY) && held() == before;
    MPI_Allreduce(&status, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    good &= all == (int)status;
  }
  drop(&rows);
  return good;
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  test_bits();
  test_distribution();
  sys s = system_of(TRS_DOUBLE, 0, 1), plain = system_of(TRS_DOUBLE, 0, 0);
  test_ranges(&plain);
  test_kinds(&plain);
  test_matrices(&plain);
  test_types(&plain);
  test_pivots();
  say("memory that runs out on rank 0", memory_runs_out(&s, 0));
  if (size > 1) say("memory that runs out on the last rank", memory_runs_out(&s, size - 1));
  destroy(&s);
  destroy(&plain);
  MPI_Finalize();
  return failures != 0;
}
