/* device.c - matrices on arrays in device memory: their facts agree with the host's, and errors
 * name the row. */
#include "matrix/device.h"

#include <math.h>

#include "api/hog.h"
#include "base/random.h"
#include "gpu.h"
#include "matrix/values.h"
#include "test.h"

/* ---- Wrong arrays ---- */

typedef struct arrays {
  int64_t nrows, ncols, nnz;
  const int64_t *ptr;
  const int32_t *idx;
} arrays;

static void refused(trs_status status, int64_t row, const char *words, trs_format format,
                    const arrays *a) {
  trs_matrix *A;
  int64_t before = gpu_held();
  double val[16] = {1};
  int64_t vectors = format == TRS_CSR ? a->nrows : a->ncols;
  void *ptr = gpu_upload(a->ptr, (size_t)(vectors + 1) * sizeof *a->ptr);
  void *idx = gpu_upload(a->idx, (size_t)a->nnz * sizeof *a->idx);
  void *values = gpu_upload(val, (size_t)a->nnz * sizeof *val);
  assert_failure(status, words,
                 trs_matrix_create_device(&A, gpu_context, format, TRS_DOUBLE, a->nrows, a->ncols,
                                          a->nnz, TRS_PTR64, ptr, idx, values));
  assert_int_equal(trs_last_error()->row, row);
  assert_null(A);
  gpu_free(ptr);
  gpu_free(idx);
  gpu_free(values);
  assert_int_equal(gpu_held(), before);
}

TEST(the_first_offence_is_named) {
  const int64_t good[] = {0, 2, 3, 5}, late[] = {1, 2, 3, 5}, falls[] = {0, 3, 2, 5};
  const int32_t idx[] = {0, 2, 1, 0, 2}, far[] = {0, 3, 1, 0, 2}, below[] = {0, 2, -1, 0, 2};
#define ARRAYS(p, i, entries) &(arrays){3, 3, entries, p, i}
  refused(TRS_ERROR_STRUCTURE, 0, "ptr[0] is 1, not 0 (TRS_BASE1?)", TRS_CSR, ARRAYS(late, idx, 5));
  refused(TRS_ERROR_STRUCTURE, 1, "ptr[2] = 2 is less than ptr[1] = 3", TRS_CSR,
          ARRAYS(falls, idx, 5));
  refused(TRS_ERROR_STRUCTURE, -1, "ptr[3] is 5, but nnz is 4", TRS_CSR, ARRAYS(good, idx, 4));
  refused(TRS_ERROR_STRUCTURE, 0, "index 3 in row 0 is outside 0 .. 2", TRS_CSR,
          ARRAYS(good, far, 5));
  refused(TRS_ERROR_STRUCTURE, 1, "index -1 in column 1", TRS_CSC, ARRAYS(good, below, 5));
}

TEST(wrong_arguments_are_named) {
  trs_matrix *A;
  int64_t ptr[] = {0, 1, 2};
  int32_t idx[] = {0, 1};
  double val[] = {1, 1};
  void *p = gpu_upload(ptr, sizeof ptr), *i = gpu_upload(idx, sizeof idx);
  void *v = gpu_upload(val, sizeof val);
#define CREATE(scalar, rows, nnz, p, i, v) \
  trs_matrix_create_device(&A, gpu_context, TRS_CSR, scalar, rows, 2, nnz, TRS_PTR64, p, i, v)
  assert_failure(TRS_ERROR_ARGUMENT, "val is not device memory",
                 CREATE(TRS_DOUBLE, 2, 2, p, i, val));
  assert_failure(TRS_ERROR_ARGUMENT, "ptr is NULL", CREATE(TRS_DOUBLE, 2, 2, NULL, i, v));
  assert_failure(TRS_ERROR_ARGUMENT, "val is NULL", CREATE(TRS_DOUBLE, 2, 2, p, i, NULL));
  assert_failure(TRS_ERROR_ARGUMENT, "nnz is -1", CREATE(TRS_DOUBLE, 2, -1, p, i, v));
  assert_failure(TRS_ERROR_ARGUMENT, "scalar 9", CREATE((trs_scalar)9, 2, 2, p, i, v));
  assert_failure(TRS_ERROR_ARGUMENT, "-1 x 2", CREATE(TRS_DOUBLE, -1, 2, p, i, v));
  assert_success(CREATE(TRS_DOUBLE, 2, 2, p, i, v));
  assert_failure(TRS_ERROR_ARGUMENT, "not device memory", trs_matrix_set_values(A, val));
  assert_success(trs_matrix_set_values(A, v));
  trs_matrix_destroy(A);
  gpu_free(p);
  gpu_free(i);
  gpu_free(v);
}

/* ---- Facts ---- */

/* A random pattern with entries on both sides, some of the diagonal entries, and empty vectors. */
static triangle random_pattern(int64_t vectors, int64_t other, double density, uint64_t seed) {
  triangle t = {.n = vectors};
  int64_t nnz = 0;
  t.ptr = malloc((size_t)(vectors + 1) * sizeof *t.ptr);
  t.idx = malloc((size_t)(vectors * other + 1) * sizeof *t.idx);
  t.ptr[0] = 0;
  for (int64_t i = 0; i < vectors; i++) {
    bool empty = trs_random_unit(seed + 1, (uint64_t)i) < 0.1;
    for (int64_t j = 0; j < other && !empty; j++)
      if (trs_random_unit(seed, (uint64_t)(i * other + j)) < (i == j ? 0.9 : density))
        t.idx[nnz++] = (int32_t)j;
    t.ptr[i + 1] = nnz;
  }
  t.val = malloc((size_t)(nnz + 1) * sizeof(float));
  trs_random_fill(t.val, nnz + 1, TRS_FLOAT, seed);
  return t;
}

static void same_facts(const trs_matrix *A, const trs_matrix *B) {
  assert_int_equal(A->nnz, B->nnz);
  assert_int_equal(A->nlower, B->nlower);
  assert_int_equal(A->nupper, B->nupper);
  assert_int_equal(A->ndiagonal, B->ndiagonal);
  assert_int_equal(A->first_lower, B->first_lower);
  assert_int_equal(A->first_upper, B->first_upper);
  assert_int_equal(A->missing_diagonal, B->missing_diagonal);
  assert_int_equal(A->longest, B->longest);
}

TEST(facts_are_those_found_on_the_host) {
  static const int64_t sizes[][2] = {{0, 0},   {1, 1},    {5, 0},    {0, 5},     {33, 33},
                                     {31, 90}, {700, 40}, {40, 700}, {600, 600}, {2000, 300}};
  for (size_t k = 0; k < 4 * COUNT(sizes); k++) {
    trs_format format = k % 2 ? TRS_CSC : TRS_CSR;
    double density = k / 2 % 2 ? 0.4 : 0.01;
    int64_t nrows = sizes[k / 4][0], ncols = sizes[k / 4][1];
    int64_t vectors = format == TRS_CSR ? nrows : ncols, other = nrows + ncols - vectors;
    triangle t = random_pattern(vectors, other, density, k);
    int64_t nnz = t.ptr[vectors];
    trs_matrix *A, *B, *C;
    assert_success(trs_matrix_create(&A, format, TRS_FLOAT, nrows, ncols, TRS_PTR64, t.ptr, t.idx,
                                     t.val, TRS_BORROW));
    void *ptr = gpu_upload(t.ptr, (size_t)(vectors + 1) * sizeof *t.ptr);
    void *idx = gpu_upload(t.idx, (size_t)nnz * sizeof *t.idx);
    void *val = gpu_upload(t.val, (size_t)nnz * sizeof(float));
    assert_success(trs_matrix_create_device(&B, gpu_context, format, TRS_FLOAT, nrows, ncols, nnz,
                                            TRS_PTR64, ptr, idx, val));
    same_facts(A, B);
    assert_success(trs_matrix_download(&C, B, true, NULL));
    same_facts(A, C);
    assert_memory_equal(C->ptr, t.ptr, (size_t)(vectors + 1) * sizeof *t.ptr);
    if (nnz) assert_memory_equal(C->idx, t.idx, (size_t)nnz * sizeof *t.idx);
    if (nnz) assert_memory_equal(C->val, t.val, (size_t)nnz * sizeof(float));
    trs_matrix_destroy(A);
    trs_matrix_destroy(B);
    trs_matrix_destroy(C);
    gpu_free(ptr);
    gpu_free(idx);
    gpu_free(val);
    triangle_free(&t);
  }
}

/* One entry in half a million is out of range: it is found, and before a later one. */
TEST(one_wrong_entry_among_many) {
  enum { N = 100000, EACH = 5 };
  int64_t *ptr = malloc((N + 1) * sizeof *ptr);
  int32_t *idx = malloc(N * EACH * sizeof *idx);
  float *val = calloc(N * EACH, sizeof *val);
  for (int64_t i = 0; i <= N; i++) ptr[i] = i * EACH;
  for (int64_t i = 0; i < N; i++)
    for (int k = 0; k < EACH; k++) idx[i * EACH + k] = (int32_t)((i + k * 7) % (N - 100)) + k;
  for (int64_t i = 0; i < N; i++) /* the rows above wrap around here */
    for (int k = 1; k < EACH; k++)
      if (idx[i * EACH + k] <= idx[i * EACH + k - 1])
        for (int all = 0; all < EACH; all++) idx[i * EACH + all] = all;
  void *p = gpu_upload(ptr, (N + 1) * sizeof *ptr), *v = gpu_upload(val, N * EACH * sizeof *val);
  for (int wrong = 0; wrong < 2; wrong++) {
    if (wrong) idx[77777 * EACH + 2] = N, idx[88888 * EACH] = N;
    void *i = gpu_upload(idx, N * EACH * sizeof *idx);
    trs_matrix *A;
    trs_status status = trs_matrix_create_device(&A, gpu_context, TRS_CSC, TRS_FLOAT, N, N,
                                                 N * EACH, TRS_PTR64, p, i, v);
    assert_int_equal(status, wrong ? TRS_ERROR_STRUCTURE : TRS_SUCCESS);
    if (wrong) assert_int_equal(trs_last_error()->row, 77777);
    trs_matrix_destroy(A);
    gpu_free(i);
  }
  gpu_free(p);
  gpu_free(v);
  free(ptr);
  free(idx);
  free(val);
}

/* ---- The diagonal ---- */

static void set_diagonal(both_sides *s, int64_t i, bool prefix, double complex value) {
  int64_t at = prefix ? s->t.ptr[i + 1] - 1 : s->t.ptr[i];
  trs_value_set(s->t.val, at, s->scalar, value);
}

/* The same error as on the host, for the first bad row. */
static void same_verdict(both_sides *s, trs_uplo uplo, trs_status expected, int64_t row) {
  int64_t bytes = s->t.ptr[s->t.n] * (int64_t)scalar_bytes(s->scalar);
  trs_plan *plan;
  char message[512] = "";
  assert_success(trs_device_copy(s->val, s->t.val, bytes, NULL));
  assert_success(trs_device_wait(NULL));
  for (int side = 0; side < 2; side++) {
    assert_int_equal(trs_analyze(&plan, gpu_context, side ? s->there : s->here, uplo, TRS_NO_TRANS,
                                 TRS_NONUNIT, NULL),
                     expected);
    assert_int_equal(trs_last_error()->row, row);
    if (side) assert_string_equal(trs_last_error()->message, message);
    snprintf(message, sizeof message, "%s", trs_last_error()->message);
    assert_null(plan);
  }
}

TEST(the_diagonal_is_looked_at) {
  for (int c = 0; c < 16; c++) {
    trs_scalar scalar = (trs_scalar)(TRS_FLOAT + c % 4);
    trs_format format = c / 4 % 2 ? TRS_CSC : TRS_CSR;
    bool prefix = c / 8;
    triangle t = triangle_random(3000, 0.005, 3000, prefix, scalar, false, 3);
    both_sides s = both_sides_of(t, format, scalar);
    trs_uplo uplo = prefix == (format == TRS_CSR) ? TRS_LOWER : TRS_UPPER;
    set_diagonal(&s, 2500, prefix, NAN);
    same_verdict(&s, uplo, TRS_ERROR_NOT_FINITE, 2500);
    set_diagonal(&s, 1700, prefix, 0);
    same_verdict(&s, uplo, TRS_ERROR_ZERO_PIVOT, 1700);
    bool wide = scalar == TRS_DOUBLE || scalar == TRS_DCOMPLEX;
    set_diagonal(&s, 900, prefix, wide ? 1e-310 : 1e-39);
    same_verdict(&s, uplo, TRS_ERROR_NOT_FINITE, 900);
    set_diagonal(&s, 0, prefix, -INFINITY);
    same_verdict(&s, uplo, TRS_ERROR_NOT_FINITE, 0);
    both_sides_free(&s);
  }
}

TEST(a_missing_diagonal_entry_is_named) {
  triangle t = triangle_random(500, 0.05, 500, true, TRS_DOUBLE, true, 3);
  both_sides s = both_sides_of(t, TRS_CSR, TRS_DOUBLE);
  trs_plan *plan;
  assert_failure(
      TRS_ERROR_STRUCTURE, "row 0 (0-based) has no diagonal",
      trs_analyze(&plan, gpu_context, s.there, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, NULL));
  assert_failure(TRS_ERROR_STRUCTURE, "lie below the diagonal",
                 trs_analyze(&plan, gpu_context, s.there, TRS_UPPER, TRS_NO_TRANS, TRS_UNIT, NULL));
  both_sides_free(&s);
}

/* ---- Functions that cannot read them ---- */

/* ---- Arrays of any indexing and order ---- */

/* A square matrix as SciPy, hypre or Fortran codes store it: entries in any order within a vector,
 * some repeated, of either width and base; host and device arrays. */
typedef struct loose {
  int64_t n, nnz;
  int indexing;
  void *ptr, *idx;
  double *val;
  void *there_ptr, *there_idx, *there_val;
} loose;

static void put(void *array, bool wide, int64_t at, int64_t value) {
  if (wide)
    ((int64_t *)array)[at] = value;
  else
    ((int32_t *)array)[at] = (int32_t)value;
}

/* Row i has 1 to 9 entries, the diagonal first and large, as in hypre.  sorted: ascending without
 * repeats. */
static loose loose_make(int64_t n, int indexing, bool sorted, uint64_t seed) {
  loose m = {.n = n, .indexing = indexing};
  const int64_t base = indexing & TRS_BASE1 ? 1 : 0;
  const bool wide_ptr = !(indexing & TRS_PTR32), wide_idx = indexing & TRS_IDX64;
  m.ptr = malloc((size_t)(n + 1) * 8);
  m.idx = malloc((size_t)n * 72 + 8);
  m.val = malloc((size_t)n * 72 + 8);
  put(m.ptr, wide_ptr, 0, base);
  for (int64_t i = 0; i < n; i++) {
    int64_t others = (int64_t)(trs_random_unit(seed, (uint64_t)i) * 9);
    int64_t from = i - others / 2 < 0 ? 0 : i - others / 2;
    if (!sorted) put(m.idx, wide_idx, m.nnz, i + base), m.val[m.nnz++] = 20 + (double)(i % 3);
    for (int64_t k = 0; k < others; k++) {
      int64_t j = sorted ? from + k
                         : (int64_t)(trs_random_unit(seed + 1, (uint64_t)(9 * i + k)) * (double)n);
      if (j >= n || (sorted && j == i)) break;
      put(m.idx, wide_idx, m.nnz, j + base);
      m.val[m.nnz++] = 0.02 * trs_random_signed(seed + 2, (uint64_t)(9 * i + k));
    }
    if (sorted) { /* the diagonal is the last of the entries up to i */
      put(m.idx, wide_idx, m.nnz, i + base);
      m.val[m.nnz++] = 20;
    }
    put(m.ptr, wide_ptr, i + 1, m.nnz + base);
  }
  m.there_ptr = gpu_upload(m.ptr, (size_t)(n + 1) * (wide_ptr ? 8 : 4));
  m.there_idx = gpu_upload(m.idx, (size_t)m.nnz * (wide_idx ? 8 : 4));
  m.there_val = gpu_upload(m.val, (size_t)m.nnz * 8);
  return m;
}

static void loose_free(loose *m) {
  free(m->ptr), free(m->idx), free(m->val);
  gpu_free(m->there_ptr);
  gpu_free(m->there_idx);
  gpu_free(m->there_val);
}

static trs_matrix *loose_here(const loose *m, trs_format format) {
  trs_matrix *A;
  assert_success(trs_matrix_create(&A, format, TRS_DOUBLE, m->n, m->n, m->indexing, m->ptr, m->idx,
                                   m->val, TRS_BORROW));
  return A;
}

/* Where the pattern comes from: bits for ptr and idx in host memory. */
enum { PTR_HERE = 1, IDX_HERE = 2 };

static trs_matrix *loose_there(const loose *m, trs_format format, int from) {
  trs_matrix *A;
  const void *ptr = from & PTR_HERE ? m->ptr : m->there_ptr;
  const void *idx = from & IDX_HERE ? m->idx : m->there_idx;
  assert_success(trs_matrix_create_device(&A, gpu_context, format, TRS_DOUBLE, m->n, m->n, m->nnz,
                                          m->indexing, ptr, idx, m->there_val));
  return A;
}

static void loose_scale(loose *m) {
  for (int64_t p = 0; p < m->nnz; p++) m->val[p] *= 1.5 + (double)(p % 4);
  assert_success(trs_device_copy(m->there_val, m->val, m->nnz * 8, NULL));
  assert_success(trs_device_wait(NULL));
}

/* The same entries and values in both memories. */
static void same_matrix(const trs_matrix *here, const trs_matrix *there) {
  const int64_t *ptr, *far_ptr;
  const int32_t *idx, *far_idx;
  const void *val, *far_val;
  same_facts(here, there);
  assert_success(trs_matrix_get_arrays(here, &ptr, &idx, &val));
  assert_success(trs_matrix_get_arrays(there, &far_ptr, &far_idx, &far_val));
  const size_t room = (size_t)(here->nnz + here->nvectors + 1) * 8;
  char *copy = malloc(room);
  gpu_fetch(copy, far_ptr, (size_t)(here->nvectors + 1) * 8);
  assert_memory_equal(copy, ptr, (size_t)(here->nvectors + 1) * 8);
  gpu_fetch(copy, far_idx, (size_t)here->nnz * 4);
  assert_memory_equal(copy, idx, (size_t)here->nnz * 4);
  gpu_fetch(copy, far_val, (size_t)here->nnz * 8);
  assert_memory_equal(copy, val, (size_t)here->nnz * 8);
  free(copy);
}

TEST(arrays_of_any_indexing_and_order) {
  static const int64_t sizes[] = {1, 40, 3000, 70000};
  int64_t before = gpu_held();
  for (int c = 0; c < 8 * 2 * 2 * 4 * 4; c++) {
    trs_format format = c / 8 % 2 ? TRS_CSC : TRS_CSR;
    loose m = loose_make(sizes[c / 32 % 4], c % 8, c / 16 % 2, (uint64_t)c);
    trs_matrix *here = loose_here(&m, format), *there = loose_there(&m, format, c / 128);
    same_matrix(here, there);
    loose_scale(&m);
    same_matrix(here, there);
    trs_matrix_destroy(here);
    trs_matrix_destroy(there);
    loose_free(&m);
  }
  assert_int_equal(gpu_held(), before);
}

TEST(wrong_arrays_of_any_indexing_are_named) {
  trs_matrix *A;
  int64_t before = gpu_held();
  for (int indexing = 0; indexing < 8; indexing++) {
    const long long base = indexing & TRS_BASE1 ? 1 : 0;
    char words[128];
    loose m = loose_make(40, indexing, false, 5);
#define CREATE_AS(kind, nnz, idx)                                                                \
  trs_matrix_create_device(&A, gpu_context, TRS_CSR, TRS_DOUBLE, 40, 40, nnz, kind, m.there_ptr, \
                           idx, m.there_val)
    snprintf(words, sizeof words, "a %d-bit array given as %d-bit", indexing & TRS_PTR32 ? 32 : 64,
             indexing & TRS_PTR32 ? 64 : 32);
    if (!(indexing & TRS_PTR32)) /* in the opposite case the read would go beyond the array */
      assert_failure(TRS_ERROR_STRUCTURE, words,
                     CREATE_AS(indexing ^ TRS_PTR32, m.nnz, m.there_idx));
    put(m.idx, indexing & TRS_IDX64, m.nnz - 1, 40 + base);
    void *idx = gpu_upload(m.idx, (size_t)m.nnz * (indexing & TRS_IDX64 ? 8 : 4));
    snprintf(words, sizeof words, "index %lld in row %lld is outside %lld .. %lld", 40 + base,
             39 + base, base, 39 + base);
    assert_failure(TRS_ERROR_STRUCTURE, words, CREATE_AS(indexing, m.nnz, idx));
    assert_int_equal(trs_last_error()->row, 39);
    assert_failure(TRS_ERROR_STRUCTURE, words, CREATE_AS(indexing, m.nnz, m.idx));
    assert_int_equal(trs_last_error()->row, 39);
    gpu_free(idx);
    loose_free(&m);
  }
  assert_int_equal(gpu_held(), before);
}

/* Arrays from cudaMalloc that are shorter than declared are not read beyond their end. */
TEST(arrays_that_are_too_short_are_refused) {
  enum { N = 1 << 20 };
  trs_matrix *A;
  int32_t *ptr = malloc((N + 1) * sizeof *ptr);
  int64_t before = gpu_held();
  for (int32_t i = 0; i <= N; i++) ptr[i] = i;
  int32_t *p = hog_take((N + 1) * sizeof *p), *idx = hog_take(N * sizeof *idx);
  double *val = hog_take(N * sizeof *val);
  assert_true(p && idx && val);
  assert_success(trs_device_copy(p, ptr, (N + 1) * sizeof *p, NULL));
  assert_success(trs_device_copy(idx, ptr, N * sizeof *idx, NULL));
  assert_success(trs_device_fill(val, 0, N * sizeof *val, NULL));
#define CREATE_LONG(scalar, n, indexing) \
  trs_matrix_create_device(&A, gpu_context, TRS_CSR, scalar, n, n, n, indexing, p, idx, val)
  assert_success(CREATE_LONG(TRS_DOUBLE, N, TRS_PTR32));
  trs_matrix_destroy(A);
  assert_failure(TRS_ERROR_ARGUMENT, "a 32-bit array given as 64-bit (TRS_PTR64)?",
                 CREATE_LONG(TRS_DOUBLE, N, TRS_PTR64));
  assert_failure(TRS_ERROR_ARGUMENT, "a 32-bit array given as 64-bit (TRS_IDX64)?",
                 CREATE_LONG(TRS_DOUBLE, N, TRS_PTR32 | TRS_IDX64));
  assert_failure(TRS_ERROR_ARGUMENT, "val has room for", CREATE_LONG(TRS_DCOMPLEX, N, TRS_PTR32));
  assert_int_equal(gpu_held(), before);
  hog_give(p), hog_give(idx), hog_give(val);
  free(ptr);
}

/* ---- Both factors in one matrix, and one triangle of a general matrix ---- */

TEST(solves_follow_the_values_of_one_matrix) {
  enum { N = 3000 };
  double *b = malloc(N * sizeof *b), *x = malloc(N * sizeof *x);
  int64_t before = gpu_held();
  trs_random_fill(b, N, TRS_DOUBLE, 9);
  for (int c = 0; c < 2 * 2 * 3; c++) {
    trs_trans trans = (trs_trans)(c / 4);
    loose m = loose_make(N, c % 2 ? TRS_PTR32 : TRS_PTR32 | TRS_BASE1, c / 2 % 2, (uint64_t)c);
    trs_matrix *here = loose_here(&m, TRS_CSR), *there = loose_there(&m, TRS_CSR, c % 4);
    trs_options cut = {.struct_size = sizeof cut, .take_triangle = 1};
    trs_backward_error error = {.struct_size = sizeof error};
    trs_factors *F, *G;
    trs_plan *both, *lower;
    assert_success(
        trs_factors_create(&F, here, TRS_UNIT, here, TRS_NONUNIT, NULL, NULL, NULL, NULL));
    assert_success(
        trs_factors_create(&G, there, TRS_UNIT, there, TRS_NONUNIT, NULL, NULL, NULL, NULL));
    assert_success(trs_analyze_factors(&both, gpu_context, G, trans, NULL));
    assert_success(trs_analyze(&lower, gpu_context, there, TRS_LOWER, trans, TRS_NONUNIT, &cut));
    for (int turn = 0; turn < 2; turn++) {
      if (turn) {
        loose_scale(&m);
        assert_success(trs_update_factors(both, G));
        assert_success(trs_update(lower, there));
      }
      assert_success(trs_solve(both, x, N, b, N, 1, TRS_COL_MAJOR));
      assert_success(trs_check_factors(&error, F, trans, x, N, b, N, 1, TRS_COL_MAJOR));
      assert_true(error.componentwise < 1e-13);
      assert_success(trs_solve(lower, x, N, b, N, 1, TRS_COL_MAJOR));
      assert_success(
          trs_check(&error, here, TRS_LOWER, trans, TRS_NONUNIT, x, N, b, N, 1, TRS_COL_MAJOR));
      assert_true(error.componentwise < 1e-13);
    }
    trs_matrix_destroy(there); /* plans and factors keep it alive */
    trs_plan_destroy(both);
    trs_plan_destroy(lower);
    trs_factors_destroy(F);
    trs_factors_destroy(G);
    trs_matrix_destroy(here);
    loose_free(&m);
  }
  assert_int_equal(gpu_held(), before);
  free(b);
  free(x);
}

TEST(functions_of_the_host_refuse) {
  both_sides s =
      both_sides_of(triangle_random(50, 0.2, 50, true, TRS_DOUBLE, false, 3), TRS_CSR, TRS_DOUBLE);
  trs_matrix *B;
  trs_factors *F;
  trs_plan *plan;
  trs_backward_error error = {.struct_size = sizeof error};
  double x[50] = {0};
  trs_context *cpu;
  trs_options serial = {.struct_size = sizeof(trs_options), .method = "serial"},
              cut = {.struct_size = sizeof(trs_options), .take_triangle = 1};
#define REFUSED(call) assert_failure(TRS_ERROR_UNSUPPORTED, "in device memory", call)
#define ANALYZE(ctx, uplo, options) \
  trs_analyze(&plan, ctx, s.there, uplo, TRS_NO_TRANS, TRS_NONUNIT, options)
  REFUSED(trs_matrix_convert(&B, s.there, TRS_CSC, TRS_DOUBLE));
  REFUSED(trs_matrix_triangle(&B, s.there, TRS_LOWER, 0));
  REFUSED(trs_matrix_write(s.there, "/nowhere/x.mtx"));
  REFUSED(trs_factor(&F, s.there, NULL));
  REFUSED(trs_check(&error, s.there, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, x, 50, x, 50, 1,
                    TRS_COL_MAJOR));
  assert_success(ANALYZE(gpu_context, TRS_UPPER, &cut)); /* cut on the device: the diagonal */
  trs_plan_destroy(plan);
  assert_success(
      trs_factors_create(&F, s.there, TRS_NONUNIT, s.there, TRS_NONUNIT, NULL, NULL, NULL, NULL));
  REFUSED(trs_check_factors(&error, F, TRS_NO_TRANS, x, 50, x, 50, 1, TRS_COL_MAJOR));
  REFUSED(trs_factors_write(F, "/nowhere/F.h5"));
  trs_factors_destroy(F);
  loose m = loose_make(1, TRS_PTR32, true, 1);
  trs_matrix *one = loose_there(&m, TRS_CSR, 0), *other = loose_here(&m, TRS_CSR);
  assert_failure(TRS_ERROR_UNSUPPORTED, "different memories",
                 trs_factors_create(&F, one, TRS_UNIT, other, TRS_NONUNIT, NULL, NULL, NULL, NULL));
  trs_matrix_destroy(one);
  trs_matrix_destroy(other);
  loose_free(&m);
  assert_failure(TRS_ERROR_UNSUPPORTED, "another backend",
                 ANALYZE(gpu_context, TRS_LOWER, &serial));
  assert_success(trs_context_create(&cpu, "threads:2"));
  REFUSED(ANALYZE(cpu, TRS_LOWER, NULL));
  trs_context_destroy(cpu);
  assert_success(
      trs_analyze(&plan, gpu_context, s.here, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, NULL));
  assert_failure(TRS_ERROR_ARGUMENT, "in device memory", trs_update(plan, s.there));
  trs_plan_destroy(plan);
  both_sides_free(&s);
}

const test_program program = {.end = gpu_stop, .lacks = gpu_lacks};
