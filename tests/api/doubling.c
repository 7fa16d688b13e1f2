/* doubling.c - the time of factorisations, orders and analyses grows as the size of the system
 * does: patterns on which a search without a limit would take quadratic time.  Processor time, the
 * least of a few, of a size and of four times that size. */
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "base/random.h"
#include "support.h"
#include "test.h"

/* Four times the size, times FACTOR: logarithms, caches and new memory are allowed, a square is
 * not. */
enum { SMALL = 12000, TIMES = 4, FACTOR = 3, RUNS = 3 };

static double processor_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- Patterns, by rows; each row has its diagonal entry, if it is not left out ---- */

typedef struct pattern {
  const char *name;
  bool diagonal;
  int (*others)(int64_t n, int64_t i, int64_t *columns); /* at most 4 */
  double (*value)(int64_t n, int64_t i, int64_t column); /* of the others; NULL: 0.25 */
} pattern;

static int chain(int64_t n, int64_t i, int64_t *c) {
  (void)n;
  c[0] = i - 1;
  return i > 0;
}

static int both_neighbours(int64_t n, int64_t i, int64_t *c) {
  int count = 0;
  if (i > 0) c[count++] = i - 1;
  if (i + 1 < n) c[count++] = i + 1;
  return count;
}

static int arrow(int64_t n, int64_t i, int64_t *c) {
  c[0] = n - 1;
  return i < n - 1;
}

static int two_per_row(int64_t n, int64_t i, int64_t *c) {
  c[0] = (i + 1) % n;
  return 1;
}

/* Without diagonals a chain of exchanges leads from each row to the last one. */
static int shifted(int64_t n, int64_t i, int64_t *c) {
  c[0] = (i + 1) % n;
  if (i == 0) return 1;
  c[1] = i;
  return 2;
}

static int stars(int64_t n, int64_t i, int64_t *c) {
  const int64_t size = 1 + (int64_t)sqrt((double)n), centre = i - i % size;
  c[0] = centre;
  return i != centre;
}

/* A tree whose node i hangs on i / 2. */
static int tree(int64_t n, int64_t i, int64_t *c) {
  (void)n;
  c[0] = i / 2;
  return i > 0;
}

static int drawn(int64_t n, int64_t i, int64_t *c) {
  c[0] = (int64_t)trs_random_below(test_seed(), (uint64_t)i, (uint64_t)n);
  return c[0] != i;
}

/* Without a limit each search of LU's matching visits the whole ring of the first third of the
 * rows: entries of the second third are the largest of the last columns, and those of the last
 * third descend.  Two rows without a diagonal entry have LU look for a matching at all. */
static int64_t ring_of(int64_t n) { return ((n - 2) / 3 - 1) | 1; }

static int ring(int64_t n, int64_t i, int64_t *c) {
  const int64_t m = ring_of(n);
  c[0] = i;
  c[1] = i < m ? (i + 1) % m : i < 2 * m ? i + m : i - 2 * m;
  if (i < 3 * m) return 2;
  if (i >= n - 2) c[0] = 2 * n - 3 - i;
  return 1;
}

static double ring_value(int64_t n, int64_t i, int64_t column) {
  const int64_t m = ring_of(n);
  return i >= 2 * m && i < 3 * m && column == i ? exp(-1e-3 * (double)(i - 2 * m + 1)) : 1;
}

static const pattern patterns[] = {
    {"chain", true, chain, NULL},      {"both neighbours", true, both_neighbours, NULL},
    {"arrow", true, arrow, NULL},      {"two per row", true, two_per_row, NULL},
    {"shifted", false, shifted, NULL}, {"stars", true, stars, NULL},
    {"tree", true, tree, NULL},        {"drawn", true, drawn, NULL},
    {"ring", false, ring, ring_value}};

/* Rows and columns are numbered at random if mixed. */
static trs_matrix *make(const pattern *P, int64_t n, bool mixed) {
  int64_t *ptr = malloc((size_t)(n + 1) * sizeof *ptr), columns[4];
  int32_t *idx = malloc((size_t)(5 * n) * sizeof *idx), *name = malloc((size_t)n * sizeof *name);
  double *val = malloc((size_t)(5 * n) * sizeof *val);
  trs_matrix *A;
  int64_t nnz = 0;
  for (int64_t i = 0; i < n; i++) name[i] = (int32_t)i;
  for (int64_t i = n; mixed && i > 1; i--) {
    const int64_t k = (int64_t)trs_random_below(test_seed() + 1, (uint64_t)i, (uint64_t)i);
    const int32_t last = name[i - 1];
    name[i - 1] = name[k];
    name[k] = last;
  }
  int32_t *row_of = malloc((size_t)n * sizeof *row_of);
  for (int64_t i = 0; i < n; i++) row_of[name[i]] = (int32_t)i;
  for (int64_t r = 0; r < n; r++) {
    const int64_t i = row_of[r];
    const int count = P->others(n, i, columns);
    ptr[r] = nnz;
    for (int k = 0; k < count; k++) {
      idx[nnz] = name[columns[k]];
      val[nnz++] = P->value ? P->value(n, i, columns[k]) : 0.25;
    }
    if (P->diagonal) {
      idx[nnz] = (int32_t)r;
      val[nnz++] = 4;
    }
  }
  ptr[n] = nnz;
  assert_success(
      trs_matrix_create(&A, TRS_CSR, TRS_DOUBLE, n, n, TRS_PTR64, ptr, idx, val, TRS_COPY));
  free(ptr), free(idx), free(val), free(name), free(row_of);
  return A;
}

/* ---- What is timed: false if the matrix cannot have it ---- */

typedef struct work {
  const char *name;
  trs_factor_kind kind;
  trs_order order;
  const char *method; /* an analysis by it, of L of the triangle; NULL: a factorisation */
} work;

static const work works[] = {{"LU, default order", TRS_FACTOR_LU, TRS_ORDER_DEFAULT, NULL},
                             {"LU, AMD", TRS_FACTOR_LU, TRS_ORDER_AMD, NULL},
                             {"LU, COLAMD", TRS_FACTOR_LU, TRS_ORDER_COLAMD, NULL},
                             {"LU, nested dissection", TRS_FACTOR_LU, TRS_ORDER_ND, NULL},
                             {"ILU(0), RCM", TRS_FACTOR_ILU0, TRS_ORDER_RCM, NULL},
                             {"ILU(0), colours", TRS_FACTOR_ILU0, TRS_ORDER_COLOUR, NULL},
                             {"triangle, AMD", TRS_FACTOR_TRIANGLE, TRS_ORDER_AMD, NULL},
                             {"auto", 0, 0, "auto"},
                             {"threads", 0, 0, "threads"},
                             {"panels", 0, 0, "panels"},
                             {"subtrees", 0, 0, "subtrees"},
                             {"columns", 0, 0, "columns"}};

static bool factor(const work *w, const trs_matrix *A) {
  trs_factors *F;
  trs_factor_options how = {.struct_size = sizeof how, .kind = w->kind, .order = w->order};
  if (trs_factor(&F, A, &how)) return false;
  trs_factors_destroy(F);
  return true;
}

static bool analyse(const work *w, const trs_matrix *T, trs_context *ctx) {
  trs_plan *plan;
  trs_options how = {.struct_size = sizeof how, .method = w->method};
  if (trs_analyze(&plan, ctx, T, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, &how)) return false;
  trs_plan_destroy(plan);
  return true;
}

/* The least processor time; infinite if it cannot be done. */
static double seconds_of(const work *w, const pattern *P, int64_t n, bool mixed, trs_context *ctx) {
  trs_matrix *A = make(P, n, mixed), *T;
  double least = INFINITY;
  assert_success(trs_matrix_triangle(&T, A, TRS_LOWER, 1));
  for (int k = 0; k < RUNS; k++) {
    const double start = processor_seconds();
    if (!(w->method ? analyse(w, T, ctx) : factor(w, A))) break;
    least = fmin(least, processor_seconds() - start);
  }
  trs_matrix_destroy(T);
  trs_matrix_destroy(A);
  return least;
}

TEST(time_grows_as_the_size_does) {
  static const double BRIEF = 5e-3; /* what is shorter is not worth a complaint */
  trs_context *ctx;
  int timed = 0;
  assert_success(trs_context_create(&ctx, "threads:2"));
  for (size_t p = 0; p < COUNT(patterns); p++)
    for (size_t w = 0; w < COUNT(works); w++)
      for (int mixed = 0; mixed < 2; mixed++) {
        const double few = seconds_of(&works[w], &patterns[p], SMALL, mixed, ctx);
        const double many = seconds_of(&works[w], &patterns[p], TIMES * SMALL, mixed, ctx);
        if (!isfinite(few) || !isfinite(many)) continue;
        timed++;
        if (many > BRIEF && many > TIMES * FACTOR * few)
          fail_msg("%s of \"%s\"%s: %.2f ms for %d rows, %.2f for %d", works[w].name,
                   patterns[p].name, mixed ? ", mixed" : "", 1e3 * few, SMALL, 1e3 * many,
                   TIMES * SMALL);
      }
  trs_context_destroy(ctx);
  assert_true(timed > 100);
}

const test_program program = {0};
