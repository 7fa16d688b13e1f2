/* generate.c - every generator: known sizes, levels and values, the same bits for every team,
 * invalid arguments, failing allocations. */
#include "io/generated.h"

#include <math.h>
#include <pthread.h>

#include "base/memory.h"
#include "test.h"

typedef struct csr {
  trs_matrix *A;
  int64_t n, nnz;
  const int64_t *ptr;
  const int32_t *idx;
  const double *val;
} csr;

static csr generate(const char *name, int threads) {
  csr m;
  trs_team *team;
  trs_matrix_info info = {.struct_size = sizeof info};
  assert_success(trs_team_create(&team, threads));
  assert_success(trs_generated.make(&m.A, name, team, NULL, NULL));
  trs_team_destroy(team);
  trs_matrix_get_info(m.A, &info);
  assert_int_equal(info.format, TRS_CSR);
  assert_int_equal(info.scalar, TRS_DOUBLE);
  assert_int_equal(info.nrows, info.ncols);
  assert_int_equal(info.missing_diagonal, -1);
  m.n = info.nrows;
  m.nnz = info.nnz;
  const void *val;
  trs_matrix_get_arrays(m.A, &m.ptr, &m.idx, &val);
  m.val = val;
  return m;
}

static int64_t count_levels(const csr *m, bool lower) {
  int64_t *level = calloc((size_t)m->n, sizeof *level), levels = 0;
  for (int64_t k = 0; k < m->n; k++) {
    int64_t i = lower ? k : m->n - 1 - k;
    for (int64_t p = m->ptr[i]; p < m->ptr[i + 1]; p++) {
      int64_t j = m->idx[p];
      if ((lower ? j < i : j > i) && level[j] > level[i]) level[i] = level[j];
    }
    if (++level[i] > levels) levels = level[i];
  }
  free(level);
  return levels;
}

static double entry(const csr *m, int64_t i, int64_t j) {
  for (int64_t p = m->ptr[i]; p < m->ptr[i + 1]; p++)
    if (m->idx[p] == j) return m->val[p];
  return NAN;
}

TEST(sizes_and_levels) {
  static const struct {
    const char *name;
    int64_t n, nnz, levels;
  } known[] = {
      {"gen:poisson2d5:1", 1, 1, 1},
      {"gen:poisson2d5:10", 100, 5 * 100 - 4 * 10, 19},
      {"gen:poisson2d5:7,4", 28, 28 + 2 * (6 * 4 + 7 * 3), 10},
      {"gen:poisson2d9:10", 100, 28 * 28, 28},
      {"gen:poisson2d9:7,4", 28, 19 * 10, 7 + 8 - 2},
      {"gen:poisson3d7:6", 216, 7 * 216 - 6 * 36, 16},
      {"gen:poisson3d7:6,5,4", 120, 120 + 2 * (5 * 20 + 4 * 24 + 3 * 30), 13},
      {"gen:poisson3d27:5", 125, 13 * 13 * 13, 7 * 5 - 6},
      {"gen:poisson3d27:3,4,5", 60, 7 * 10 * 13, 3 + 8 + 20 - 6},
      {"gen:elasticity3d:3,4,5", 180, 9 * 7 * 10 * 13, 3 * (3 + 8 + 20 - 6)},
      {"gen:elasticity3d:9,9,257", 62451, 9 * 25 * 25 * 769, 3147},
      {"gen:wingmesh:2000", 10400, 834600, -1},
      {"gen:chain:1", 1, 1, 1},
      {"gen:chain:100", 100, 298, 100},
      {"gen:random:1,1", 1, 1, 1},
      {"gen:random:100,1", 100, 100 + 2 * 99, -1},
      {"gen:random:100,7", 100, 100 + 2 * (21 + 93 * 7), -1},
      {"gen:random:8,1000", 8, 64, 8},
      {"gen:delaunay:1", 1, 1, 1},
      {"gen:delaunay:2", 2, 4, 2},
      {"gen:delaunay:3", 3, 9, 3},
      {"gen:powerlaw:1", 1, 1, 1},
  };
  for (size_t k = 0; k < COUNT(known); k++) {
    csr m = generate(known[k].name, 2);
    if (m.n != known[k].n || m.nnz != known[k].nnz ||
        (known[k].levels >= 0 && count_levels(&m, true) != known[k].levels))
      fail_msg("%s: n %lld, nnz %lld, levels %lld", known[k].name, (long long)m.n, (long long)m.nnz,
               (long long)count_levels(&m, true));
    trs_matrix_destroy(m.A);
  }
}

/* nlpkkt160 has 118931856 entries in its lower triangle with a full diagonal.  The same formula
 * holds for every N. */
TEST(kkt_has_the_size_of_nlpkkt) {
  for (int64_t n = 1; n <= 9; n++) {
    char name[32];
    snprintf(name, sizeof name, "gen:kkt3d:%d", (int)n);
    csr m = generate(name, 2);
    int64_t rows = 2 * n * n * n + 6 * n * n, side = 3 * n - 2;
    int64_t lower = rows + side * side * side + 6 * side * side;
    assert_int_equal(m.n, rows);
    assert_int_equal(m.nnz, 2 * lower - rows);
    assert_int_equal(count_levels(&m, true), 2);
    assert_int_equal(count_levels(&m, false), 2);
    trs_matrix_destroy(m.A);
  }
  const int64_t n = 160, side = 3 * n - 2;
  assert_int_equal(2 * n * n * n + 6 * n * n, 8345600);
  assert_int_equal(8345600 + side * side * side + 6 * side * side, 118931856);
}

TEST(symmetric_ones_are_symmetric) {
  static const char *const names[] = {
      "gen:poisson2d5:7,9",    "gen:poisson2d9:7,9",     "gen:poisson3d7:4,5,6",
      "gen:poisson3d27:4,5,6", "gen:elasticity3d:3,5,4", "gen:kkt3d:5",
      "gen:delaunay:300",      "gen:random:200,9",       "gen:chain:9",
  };
  for (size_t k = 0; k < COUNT(names); k++) {
    csr m = generate(names[k], 1);
    for (int64_t i = 0; i < m.n; i++)
      for (int64_t p = m.ptr[i]; p < m.ptr[i + 1]; p++)
        if (m.val[p] != entry(&m, m.idx[p], i))
          fail_msg("%s: entries (%lld, %d) differ", names[k], (long long)i, m.idx[p]);
    trs_matrix_destroy(m.A);
  }
}

/* a_ii| >= the sum of the others, so that triangular solves stay bounded. */
TEST(rows_are_diagonally_dominant) {
  static const char *const names[] = {
      "gen:poisson2d5:9", "gen:poisson2d9:9",  "gen:poisson3d7:6",  "gen:poisson3d27:6",
      "gen:chain:9",      "gen:delaunay:1000", "gen:powerlaw:5000", "gen:random:1000,6,seed=5",
  };
  for (size_t k = 0; k < COUNT(names); k++) {
    csr m = generate(names[k], 1);
    for (int64_t i = 0; i < m.n; i++) {
      double others = 0;
      for (int64_t p = m.ptr[i]; p < m.ptr[i + 1]; p++)
        if (m.idx[p] != i) others += fabs(m.val[p]);
      if (!(entry(&m, i, i) >= others)) fail_msg("%s: row %lld", names[k], (long long)i);
    }
    trs_matrix_destroy(m.A);
  }
}

TEST(poisson_coefficients) {
  csr m = generate("gen:poisson2d9:3", 1);
  const double centre[9] = {-1, -4, -1, -4, 20, -4, -1, -4, -1};
  assert_memory_equal(m.val + m.ptr[4], centre, sizeof centre);
  trs_matrix_destroy(m.A);
  m = generate("gen:poisson3d7:3", 1);
  const int32_t neighbours[7] = {4, 10, 12, 13, 14, 16, 22};
  assert_int_equal(m.ptr[14] - m.ptr[13], 7);
  assert_memory_equal(m.idx + m.ptr[13], neighbours, sizeof neighbours);
  for (int p = 0; p < 7; p++) assert_true(m.val[m.ptr[13] + p] == (p == 3 ? 6 : -1));
  trs_matrix_destroy(m.A);
}

/* (A u)_i for a displacement that is linear in the node's position: u = c + M (x, y, z). */
static double apply_linear(const csr *m, int64_t i, int64_t nx, int64_t ny, const double c[3],
                           const double M[3][3]) {
  double sum = 0;
  for (int64_t p = m->ptr[i]; p < m->ptr[i + 1]; p++) {
    int64_t node = m->idx[p] / 3, d = m->idx[p] % 3;
    double x = (double)(node % nx), y = (double)(node / nx % ny), z = (double)(node / nx / ny);
    sum += m->val[p] * (c[d] + M[d][0] * x + M[d][1] * y + M[d][2] * z);
  }
  return sum;
}

/* Rigid motions have no energy away from the clamped face, stretches none inside, and the whole
 * matrix is positive definite. */
TEST(elasticity_is_elasticity) {
  csr m = generate("gen:elasticity3d:3,4,5", 1);
  const double shift[3] = {0.5, -2, 1}, none[3] = {0, 0, 0};
  const double turn[3][3] = {{0, 1, -2}, {-1, 0, 3}, {2, -3, 0}};
  const double stretch[3][3] = {{1, 2, 0}, {0, -1, 0}, {0, 0, 3}};
  for (int64_t i = 3 * 12; i < m.n; i++)
    assert_true(fabs(apply_linear(&m, i, 3, 4, shift, turn)) < 1e-13);
  for (int64_t z = 1; z < 4; z++)
    for (int64_t y = 1; y < 3; y++)
      for (int64_t c = 0; c < 3; c++)
        assert_true(fabs(apply_linear(&m, 3 * (1 + 3 * (y + 4 * z)) + c, 3, 4, none, stretch)) <
                    1e-13);
  assert_true(fabs(apply_linear(&m, 3, 3, 4, shift, turn)) > 1);
  assert_true(fabs(apply_linear(&m, m.n - 1, 3, 4, none, stretch)) > 0.1);
  trs_matrix_destroy(m.A);
}

/* A = L D L' without pivoting, dense: all pivots must be positive. */
static void assert_positive_definite(const char *name) {
  csr m = generate(name, 1);
  int64_t n = m.n;
  double *D = calloc((size_t)(n * n), sizeof *D);
  for (int64_t i = 0; i < n; i++)
    for (int64_t p = m.ptr[i]; p < m.ptr[i + 1]; p++) D[i * n + m.idx[p]] = m.val[p];
  for (int64_t k = 0; k < n; k++) {
    if (!(D[k * n + k] > 1e-8)) fail_msg("%s: pivot %lld", name, (long long)k);
    for (int64_t i = k + 1; i < n; i++) {
      double l = D[i * n + k] / D[k * n + k];
      for (int64_t j = k; l != 0 && j < n; j++) D[i * n + j] -= l * D[k * n + j];
    }
  }
  free(D);
  trs_matrix_destroy(m.A);
}

TEST(positive_definite) {
  assert_positive_definite("gen:poisson2d5:8");
  assert_positive_definite("gen:poisson2d9:8");
  assert_positive_definite("gen:poisson3d7:5");
  assert_positive_definite("gen:poisson3d27:5");
  assert_positive_definite("gen:elasticity3d:2,3,6");
  assert_positive_definite("gen:delaunay:100");
  assert_positive_definite("gen:random:100,5");
  assert_positive_definite("gen:chain:30");
}

/* The mesh's adjacency is symmetric, its blocks are full, and some 17 blocks lie in a row. */
TEST(the_wing_is_a_mesh) {
  csr m = generate("gen:wingmesh:3000", 2);
  for (int64_t i = 0; i < m.n; i += 5)
    for (int64_t p = m.ptr[i]; p < m.ptr[i + 1]; p++) {
      assert_true(isfinite(m.val[p]));
      assert_int_equal(m.idx[p] % 5, (p - m.ptr[i]) % 5);
      assert_true(!isnan(entry(&m, m.idx[p], i)));
    }
  double each = (double)m.nnz / 5 / (double)m.n - 1;
  assert_true(each > 15 && each < 18);
  trs_matrix_destroy(m.A);
}

static const char *const one_of_each[] = {
    "gen:poisson2d5:31", "gen:poisson2d9:30,7",     "gen:poisson3d7:9", "gen:poisson3d27:8,3,5",
    "gen:kkt3d:6",       "gen:elasticity3d:4,3,9",  "gen:chain:1000",   "gen:delaunay:2000,seed=9",
    "gen:powerlaw:3000", "gen:random:700,4,seed=3", "gen:chain:2",      "gen:random:3,2",
    "gen:wingmesh:300",  "gen:wingmesh:1",
};
enum { NONE_OF_EACH = COUNT(one_of_each) };

TEST(same_bits_from_any_team) {
  for (int k = 0; k < NONE_OF_EACH; k++) {
    csr one = generate(one_of_each[k], 1);
    for (int threads = 2; threads <= 7; threads += threads == 3 ? 4 : 1) {
      csr m = generate(one_of_each[k], threads);
      assert_int_equal(m.n, one.n);
      assert_int_equal(m.nnz, one.nnz);
      assert_memory_equal(m.ptr, one.ptr, (size_t)(m.n + 1) * sizeof *m.ptr);
      assert_memory_equal(m.idx, one.idx, (size_t)m.nnz * sizeof *m.idx);
      assert_memory_equal(m.val, one.val, (size_t)m.nnz * sizeof *m.val);
      trs_matrix_destroy(m.A);
    }
    trs_matrix_destroy(one.A);
  }
}

static bool same(const char *left, const char *right) {
  csr a = generate(left, 1), b = generate(right, 2);
  bool equal = a.nnz == b.nnz && !memcmp(a.idx, b.idx, (size_t)a.nnz * sizeof *a.idx) &&
               !memcmp(a.val, b.val, (size_t)a.nnz * sizeof *a.val);
  trs_matrix_destroy(a.A);
  trs_matrix_destroy(b.A);
  return equal;
}

TEST(seeds) {
  assert_true(same("gen:random:500,4", "gen:random:500,4,seed=1"));
  assert_true(same("gen:random:500,4,seed=2", "gen:random:500,seed=2,4"));
  assert_false(same("gen:random:500,4", "gen:random:500,4,seed=2"));
  assert_false(same("gen:powerlaw:500", "gen:powerlaw:500,seed=18446744073709551615"));
  assert_false(same("gen:delaunay:500", "gen:delaunay:500,seed=0"));
}

/* P(length >= k) is k^-1.2, before repeated columns merge. */
TEST(powerlaw_has_its_tail) {
  csr m = generate("gen:powerlaw:100000", 2);
  int64_t two = 0, ten = 0, longest = 0;
  for (int64_t i = 0; i < m.n; i++) {
    int64_t length = m.ptr[i + 1] - m.ptr[i] - 1;
    two += length >= 2;
    ten += length >= 10;
    if (length > longest) longest = length;
  }
  assert_in_range(two, 42000, 44500); /* 43500 */
  assert_in_range(ten, 5700, 6600);   /* 6300 */
  assert_in_range(longest, 800, 1265);
  trs_matrix_destroy(m.A);
}

TEST(random_rows_are_spread) {
  csr m = generate("gen:random:20000,5", 2);
  double mean = 0;
  for (int64_t i = 0; i < m.n; i++) {
    int64_t below = 0;
    for (int64_t p = m.ptr[i]; p < m.ptr[i + 1] && m.idx[p] < i; p++, below++)
      mean += (double)m.idx[p] / (double)i;
    assert_int_equal(below, i < 5 ? i : 5);
  }
  mean /= 5.0 * 20000;
  assert_true(fabs(mean - 0.5) < 0.01);
  trs_matrix_destroy(m.A);
}

static const struct {
  const char *name, *words;
} bad[] = {
    {"poisson2d5:4", "starts with 'gen:'"},
    {"gen:", "poisson2d5, poisson2d9, poisson3d7"},
    {"gen:poisson", "no such generator, did you mean gen:poisson2d5?: there are poisson2d5, "},
    {"gen:poisson2d55:3", "no such generator, did you mean gen:poisson2d5?"},
    {"gen:poison3d7:50", "gen:poison3d7:50: no such generator, did you mean gen:poisson3d7?"},
    {"gen:dragon:50", "no such generator: there are poisson2d5, poisson2d9, "},
    {"gen:poisson2d5", "the arguments must be gen:poisson2d5:NX[,NY]"},
    {"gen:poisson2d5:", "the arguments must be gen:poisson2d5:NX[,NY]"},
    {"gen:poisson2d5:0", "NX is '0'"},
    {"gen:poisson2d5:-3", "NX is '-3'"},
    {"gen:poisson2d5:+3", "NX is '+3'"},
    {"gen:poisson2d5:3x", "NX is '3x'"},
    {"gen:poisson2d5:3,", "NY is ''"},
    {"gen:poisson2d5:3, 4", "NY is ' 4'"},
    {"gen:poisson2d5:3:4", "NX is '3:4'"},
    {"gen:poisson2d5:1,2,3", "gen:poisson2d5:NX[,NY]"},
    {"gen:poisson2d5:2147483648", "NX is '2147483648'"},
    {"gen:poisson2d5:99999999999999999999999", "NX is '9999"},
    {"gen:poisson2d5:18446744073709551617", "NX is '1844"},
    {"gen:poisson2d5:50000", "at most 2147483647 rows"},
    {"gen:poisson3d7:2147483647", "at most 2147483647 rows"},
    {"gen:poisson3d7:4,5", "gen:poisson3d7:NX[,NY,NZ]"},
    {"gen:elasticity3d:4", "gen:elasticity3d:NX,NY,NZ"},
    {"gen:elasticity3d:4,1,4", "NY is 1"},
    {"gen:elasticity3d:1000,1000,1000", "at most 2147483647 rows"},
    {"gen:kkt3d:1024", "at most 2147483647 rows"},
    {"gen:kkt3d:2147483647", "at most 2147483647 rows"},
    {"gen:delaunay:400000000", "N is at most"},
    {"gen:random:10", "gen:random:N,K[,seed=S]"},
    {"gen:random:10,seed=4", "gen:random:N,K[,seed=S]"},
    {"gen:random:10,2,seed=", "seed is ''"},
    {"gen:random:10,2,seed=1.5", "seed is '1.5'"},
    {"gen:random:10,2,seed=18446744073709551616", "seed is '18446744073709551616'"},
    {"gen:chain:10,seed=4", "gen:chain:N"},
};

TEST(refusals) {
  for (size_t k = 0; k < COUNT(bad); k++) {
    trs_matrix *A = (trs_matrix *)&A;
    assert_failure(TRS_ERROR_ARGUMENT, bad[k].words,
                   trs_generated.make(&A, bad[k].name, NULL, NULL, NULL));
    assert_null(A);
  }
  trs_matrix *A;
  assert_failure(TRS_ERROR_ARGUMENT, "gen:", trs_generated.make(&A, NULL, NULL, NULL, NULL));
}

TEST(a_long_name_is_refused_in_bounds) {
  static char name[5000] = "gen:chain:";
  memset(name + 10, '7', sizeof name - 11);
  trs_matrix *A;
  assert_failure(TRS_ERROR_ARGUMENT, "gen:chain:777",
                 trs_generated.make(&A, name, NULL, NULL, NULL));
  memset(name + 4, 'x', sizeof name - 5);
  assert_failure(TRS_ERROR_ARGUMENT, "there are poisson2d5",
                 trs_generated.make(&A, name, NULL, NULL, NULL));
}

TEST(failing_allocations) {
  trs_team *team;
  assert_success(trs_team_create(&team, 2));
  int64_t before, after, peak;
  trs_memory_usage(&before, &peak);
  for (int k = 0; k < NONE_OF_EACH; k++) {
    trs_status status = TRS_ERROR_MEMORY;
    for (int n = 0; status; n++) {
      trs_matrix *A;
      trs_memory_fail_after(n);
      status = trs_generated.make(&A, one_of_each[k], team, NULL, NULL);
      trs_memory_fail_after(-1);
      if (status) assert_int_equal(status, TRS_ERROR_MEMORY);
      if (status) assert_null(A);
      assert_in_range(n, 0, 200);
      trs_matrix_destroy(A);
      trs_memory_usage(&after, &peak);
      assert_int_equal(after, before);
    }
  }
  trs_team_destroy(team);
}

typedef struct watch {
  pthread_t thread;
  int calls;
  double last;
} watch;

static void note(void *user, const char *phase, double done) {
  watch *w = user;
  if (!phase || !pthread_equal(w->thread, pthread_self()) || !(done >= 0 && done <= 1)) abort();
  w->calls++;
  w->last = done;
}

TEST(progress_is_told) {
  trs_team *team;
  assert_success(trs_team_create(&team, 3));
  for (int k = 0; k < NONE_OF_EACH; k++) {
    watch w = {.thread = pthread_self()};
    trs_matrix *A;
    assert_success(trs_generated.make(&A, one_of_each[k], team, note, &w));
    assert_true(w.calls > 0);
    assert_true(w.last == 1);
    trs_matrix_destroy(A);
  }
  trs_team_destroy(team);
}

TEST(the_list) {
  const char *list = trs_generator_list();
  int lines = 0;
  for (const char *at = list; *at; lines++) {
    const char *end = strchr(at, '\n');
    assert_non_null(end);
    assert_true(end - at <= 100);
    assert_memory_equal(at, "gen:", 4);
    at = end + 1;
  }
  assert_int_equal(lines, 11);
  assert_non_null(strstr(list, "gen:poisson3d7:NX[,NY,NZ] "));
  assert_ptr_equal(list, trs_generator_list());
  assert_true(trs_is_generated("gen:x"));
  assert_false(trs_is_generated("gen.mtx"));
  assert_false(trs_is_generated(NULL));
}
