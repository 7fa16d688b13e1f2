/* create.c - matrices from arrays in any order, conversions, triangles, and invalid input. */
#include "matrix/matrix.h"
#include "bsr.h"
#include "matrix/values.h"
#include "support.h"
#include "test.h"

/* 3 x 3, unsorted, with (0, 2) twice and (2, 0) three times:  [1 0 5; 0 3 0; 9 0 6] */
static const int64_t messy_ptr[] = {0, 3, 4, 8};
static const int32_t messy_idx[] = {2, 0, 2, 1, 0, 2, 0, 0};
static const double messy_val[] = {2, 1, 3, 3, 4, 6, 2, 3};

static void expect_dense(const trs_matrix *A, const double *expected) {
  double dense[64] = {0};
  assert_true(A->nrows * A->ncols <= 64);
  for (int64_t v = 0; v < A->nvectors; v++)
    for (int64_t p = A->ptr[v]; p < A->ptr[v + 1]; p++) {
      if (p > A->ptr[v]) assert_true(A->idx[p] > A->idx[p - 1]);
      int64_t at = A->format == TRS_CSR ? v * A->ncols + A->idx[p] : A->idx[p] * A->ncols + v;
      dense[at] = creal(trs_value_get(A->val, p, A->scalar));
    }
  for (int64_t k = 0; k < A->nrows * A->ncols; k++)
    if (dense[k] != expected[k]) fail_msg("element %lld is %g", (long long)k, dense[k]);
}

static const double messy_dense[] = {1, 0, 5, 0, 3, 0, 9, 0, 6};

TEST(messy_arrays_are_put_in_order) {
  for (trs_ownership own = TRS_COPY; own <= TRS_BORROW; own++) {
    trs_matrix *A;
    assert_success(trs_matrix_create(&A, TRS_CSR, TRS_DOUBLE, 3, 3, TRS_PTR64, messy_ptr, messy_idx,
                                     messy_val, own));
    expect_dense(A, messy_dense);
    double doubled[8];
    for (int k = 0; k < 8; k++) doubled[k] = 2 * messy_val[k];
    assert_success(trs_matrix_set_values(A, doubled));
    const double twice[] = {2, 0, 10, 0, 6, 0, 18, 0, 12};
    expect_dense(A, twice);
    assert_int_equal(A->nlower, 1);
    assert_int_equal(A->nupper, 1);
    assert_int_equal(A->ndiagonal, 3);
    assert_int_equal(A->missing_diagonal, -1);
    trs_matrix_destroy(A);
  }
}

TEST(ordered_arrays_are_borrowed_as_they_are) {
  int64_t ptr[] = {0, 1, 3};
  int32_t idx[] = {0, 0, 1};
  double val[] = {1, 2, 3}, other[] = {4, 5, 6};
  const void *seen;
  trs_matrix *A;
  assert_success(
      trs_matrix_create(&A, TRS_CSR, TRS_DOUBLE, 2, 2, TRS_PTR64, ptr, idx, val, TRS_BORROW));
  trs_matrix_get_arrays(A, NULL, NULL, &seen);
  assert_ptr_equal(seen, val);
  assert_success(trs_matrix_set_values(A, other));
  trs_matrix_get_arrays(A, NULL, NULL, &seen);
  assert_ptr_equal(seen, other);
  trs_matrix_destroy(A);
}

/* The messy matrix in every width and base, each borrowed, copied and taken. */
typedef struct indexed {
  void *ptr, *idx;
} indexed;

static void *indices(const int64_t *from64, const int32_t *from32, int count, bool wide, int base) {
  void *made = malloc((size_t)count * 8);
  for (int k = 0; k < count; k++) {
    int64_t value = (from64 ? from64[k] : from32[k]) + base;
    if (wide)
      ((int64_t *)made)[k] = value;
    else
      ((int32_t *)made)[k] = (int32_t)value;
  }
  return made;
}

static indexed index_arrays(int indexing, const int64_t *ptr, int vectors, const int32_t *idx) {
  int base = indexing & TRS_BASE1 ? 1 : 0;
  return (indexed){indices(ptr, NULL, vectors + 1, !(indexing & TRS_PTR32), base),
                   indices(NULL, idx, (int)ptr[vectors], indexing & TRS_IDX64, base)};
}

TEST(every_indexing_gives_the_same_matrix) {
  static const int64_t tidy_ptr[] = {0, 2, 3, 5};
  static const int32_t tidy_idx[] = {0, 2, 1, 0, 2};
  static const double tidy_val[] = {1, 5, 3, 9, 6};
  for (int c = 0; c < 8 * 3 * 2; c++) {
    int indexing = c % 8;
    trs_ownership own = (trs_ownership)(c / 8 % 3);
    bool tidy = c / 24;
    indexed a = index_arrays(indexing, tidy ? tidy_ptr : messy_ptr, 3, tidy ? tidy_idx : messy_idx);
    double *val = malloc(sizeof messy_val);
    memcpy(val, tidy ? tidy_val : messy_val, tidy ? sizeof tidy_val : sizeof messy_val);
    trs_matrix *A;
    const int64_t *ptr;
    const int32_t *idx;
    const void *seen;
    assert_success(
        trs_matrix_create(&A, TRS_CSR, TRS_DOUBLE, 3, 3, indexing, a.ptr, a.idx, val, own));
    expect_dense(A, messy_dense);
    assert_success(trs_matrix_get_arrays(A, &ptr, &idx, &seen));
    if (own == TRS_BORROW && tidy) { /* arrays that need no conversion are not copied */
      assert_true((ptr == a.ptr) == !(indexing & (TRS_PTR32 | TRS_BASE1)));
      assert_true((idx == a.idx) == !(indexing & (TRS_IDX64 | TRS_BASE1)));
      assert_ptr_equal(seen, val);
    }
    trs_matrix_destroy(A);
    if (own == TRS_TAKE) continue; /* AddressSanitizer checks that they are freed */
    free(a.ptr);
    free(a.idx);
    free(val);
  }
}

TEST(wrong_indexings_are_named) {
  static const int64_t ptr[] = {0, 3, 4, 6, 9}, empty_first[] = {0, 0, 3, 5, 6};
  static const int32_t idx[] = {0, 1, 2, 1, 0, 2, 0, 1, 3};
  static const double val[9];
  const int kinds[] = {TRS_PTR32, TRS_PTR64};
  const char *const words[] = {"a 32-bit array given as 64-bit", "a 64-bit array given as 32-bit"};
  trs_matrix *A;
#define CREATE_AS(indexing, p, i) \
  trs_matrix_create(&A, TRS_CSR, TRS_DOUBLE, 4, 4, indexing, p, i, val, TRS_COPY)
  for (int k = 0; k < 2; k++)
    for (int base = 0; base < 2; base++)
      for (int first = 0; first < 2; first++) {
        int kind = kinds[k] | (base ? TRS_BASE1 : 0);
        indexed a = index_arrays(kind, first ? empty_first : ptr, 4, idx);
        if (k == 0 || !first) /* the first half of 64-bit pointers may be valid 32-bit pointers */
          assert_failure(TRS_ERROR_STRUCTURE, words[k], CREATE_AS(kind ^ TRS_PTR32, a.ptr, a.idx));
        assert_failure(TRS_ERROR_STRUCTURE, base ? "(TRS_BASE1?)" : "(TRS_BASE0?)",
                       CREATE_AS(kind ^ TRS_BASE1, a.ptr, a.idx));
        free(a.ptr);
        free(a.idx);
      }
  static const int32_t fortran[] = {1, 4, 5, 7, 10}; /* both the width and the base forgotten */
  assert_failure(TRS_ERROR_STRUCTURE,
                 "ptr[0] is 17179869185, not 0: a 32-bit array given as 64-bit",
                 CREATE_AS(TRS_PTR64, fortran, idx));
  static const int32_t falls[] = {0, 3, 2, 6, 9,
                                  0, 3, 2, 6, 9}; /* the second is not aligned for 64 bits */
  for (int k = 0; k < 10; k += 5)
    assert_failure(TRS_ERROR_STRUCTURE, "ptr[2] = 2 is less than ptr[1] = 3",
                   CREATE_AS(TRS_PTR32, falls + k, idx));
  int64_t far[] = {0, 1, 2, 1, 0, 2, 0, 1, (int64_t)1 << 31};
  assert_failure(TRS_ERROR_STRUCTURE, "index 2147483648 in row 3 is outside 0 .. 3",
                 CREATE_AS(TRS_IDX64, ptr, far));
  far[8] = (int64_t)3 << 32;
  assert_failure(TRS_ERROR_STRUCTURE, "a 32-bit array given as 64-bit (TRS_IDX64)",
                 CREATE_AS(TRS_IDX64, ptr, far));
  indexed one = index_arrays(TRS_BASE1, ptr, 4, idx);
  ((int32_t *)one.idx)[3] = 0;
  assert_failure(TRS_ERROR_STRUCTURE, "index 0 in row 2 is outside 1 .. 4 (1-based)",
                 CREATE_AS(TRS_BASE1, one.ptr, one.idx));
  assert_int_equal(trs_last_error()->row, 1);
  assert_failure(TRS_ERROR_ARGUMENT, "indexing is 8", CREATE_AS(8, one.ptr, one.idx));
  free(one.ptr);
  free(one.idx);
}

/* A copy in memory from malloc. */
static void *given(const void *from, size_t bytes) { return memcpy(malloc(bytes), from, bytes); }

/* Base 1 must not be subtracted from the least number. */
TEST(the_least_numbers_are_outside) {
  static const int64_t ptr[] = {1, 2, 4}, fallen[] = {1, 2, INT64_MIN};
  static const int64_t idx[] = {1, INT64_MIN, 2}, good[] = {1, 1, 2};
  static const double val[] = {1, 1, 1}, b[] = {1, 1};
  enum { WIDE = TRS_PTR64 | TRS_IDX64 | TRS_BASE1 };
  trs_matrix *A;
  double x[2];
  assert_failure(TRS_ERROR_STRUCTURE, "index -9223372036854775808",
                 trs_matrix_create(&A, TRS_CSR, TRS_DOUBLE, 2, 2, WIDE, ptr, idx, val, TRS_COPY));
  assert_failure(TRS_ERROR_STRUCTURE, "column -9223372036854775808",
                 trs_matrix_create_coo(&A, TRS_DOUBLE, 2, 2, 3, WIDE, good, idx, val));
  assert_failure(TRS_ERROR_STRUCTURE, "row -9223372036854775808",
                 trs_matrix_create_coo(&A, TRS_DOUBLE, 2, 2, 3, WIDE, idx, good, val));
  assert_failure(
      TRS_ERROR_STRUCTURE, "outside 0 .. 1",
      trs_matrix_create_bsr(&A, BSR(TRS_DOUBLE, 2, 2, 1, TRS_ROW_MAJOR, WIDE, ptr, idx, val)));
  assert_failure(
      TRS_ERROR_STRUCTURE, "index -9223372036854775808",
      trs_solve_once(x, b, TRS_LOWER, TRS_NONUNIT, TRS_CSR, TRS_DOUBLE, 2, WIDE, ptr, idx, val));
  assert_failure(
      TRS_ERROR_STRUCTURE, "less than ptr[1]",
      trs_matrix_create(&A, TRS_CSR, TRS_DOUBLE, 2, 2, WIDE, fallen, good, val, TRS_COPY));
}

/* AddressSanitizer checks it. */
TEST(taken_arrays_are_freed) {
  static const int64_t ptr[] = {0, 1, 3};
  static const int32_t good[] = {0, 0, 1}, turned[] = {0, 1, 0}, far[] = {0, 0, 7};
  static const double val[] = {1, 2, 3};
  static const int32_t *const cases[] = {good, turned, far, good, good};
  for (int k = 0; k < 5; k++) {
    trs_matrix *A = NULL;
    trs_status status = trs_matrix_create(
        k == 3 ? NULL : &A, TRS_CSR, TRS_DOUBLE, k == 4 ? -1 : 2, 2, TRS_PTR64,
        given(ptr, sizeof ptr), given(cases[k], sizeof good), given(val, sizeof val), TRS_TAKE);
    assert_int_equal(status, k < 2    ? TRS_SUCCESS
                             : k == 2 ? TRS_ERROR_STRUCTURE
                                      : TRS_ERROR_ARGUMENT);
    if (k < 2) assert_success(trs_matrix_set_values(A, given((double[]){4, 5, 6}, sizeof val)));
    if (k < 2) expect_dense(A, k ? (double[]){4, 0, 6, 5} : (double[]){4, 0, 5, 6});
    trs_matrix_destroy(A);
  }
  trs_matrix *A;
  assert_failure(
      TRS_ERROR_ARGUMENT, "give is NULL",
      trs_matrix_create_deferred(&A, TRS_CSR, TRS_DOUBLE, 2, 2, TRS_PTR64, given(ptr, sizeof ptr),
                                 given(good, sizeof good), TRS_TAKE, NULL, NULL));
}

TEST(a_matrix_without_entries_has_no_values_to_set) {
  const int64_t ptr[] = {0, 0, 0};
  for (trs_ownership own = TRS_COPY; own <= TRS_BORROW; own++) {
    trs_matrix *A;
    assert_success(
        trs_matrix_create(&A, TRS_CSR, TRS_DOUBLE, 2, 2, TRS_PTR64, ptr, NULL, NULL, own));
    assert_success(trs_matrix_set_values(A, NULL));
    trs_matrix_destroy(A);
  }
}

TEST(triplets_in_any_order) {
  int32_t row[] = {2, 0, 2, 0, 1, 2}, col[] = {2, 2, 0, 0, 1, 0};
  double val[] = {6, 5, 4, 1, 3, 5};
  trs_matrix *A;
  assert_success(trs_matrix_create_coo(&A, TRS_DOUBLE, 3, 3, 6, TRS_IDX32, row, col, val));
  expect_dense(A, messy_dense);
  for (int k = 0; k < 6; k++) val[k] *= 2;
  assert_success(trs_matrix_set_values(A, val));
  const double twice[] = {2, 0, 10, 0, 6, 0, 18, 0, 12};
  expect_dense(A, twice);
  trs_matrix_destroy(A);
  row[4] = 3;
  assert_failure(TRS_ERROR_STRUCTURE, "triplet 4 lies at row 3",
                 trs_matrix_create_coo(&A, TRS_DOUBLE, 3, 3, 6, TRS_IDX32, row, col, val));
}

TEST(formats_and_types_convert) {
  trs_matrix *A, *B, *C, *none;
  assert_success(trs_matrix_create(&A, TRS_CSR, TRS_DOUBLE, 3, 3, TRS_PTR64, messy_ptr, messy_idx,
                                   messy_val, TRS_COPY));
  for (trs_scalar scalar = TRS_FLOAT; scalar <= TRS_DCOMPLEX; scalar++) {
    assert_success(trs_matrix_convert(&B, A, TRS_CSC, scalar));
    assert_int_equal(B->format, TRS_CSC);
    assert_int_equal(B->scalar, scalar);
    expect_dense(B, messy_dense);
    assert_success(trs_matrix_convert(&C, B, TRS_CSR, scalar));
    expect_dense(C, messy_dense);
    if (scalar == TRS_DCOMPLEX)
      assert_failure(TRS_ERROR_ARGUMENT, "cannot become real",
                     trs_matrix_convert(&none, C, TRS_CSR, TRS_DOUBLE));
    trs_matrix_destroy(B);
    trs_matrix_destroy(C);
  }
  trs_matrix_destroy(A);
}

TEST(triangles_with_a_dense_diagonal) {
  /* [0 2 0; 3 . 4; 5 -6 7]: a zero diagonal and a missing one */
  int64_t ptr[] = {0, 2, 4, 7};
  int32_t idx[] = {0, 1, 0, 2, 0, 1, 2};
  double val[] = {0, 2, 3, 4, 5, -6, 7};
  const double lower[] = {1, 0, 0, 3, 3, 0, 5, -6, 7}, upper[] = {2, 2, 0, 0, 4, 4, 0, 0, 7};
  trs_matrix *A, *B, *T;
  assert_success(
      trs_matrix_create(&A, TRS_CSR, TRS_DOUBLE, 3, 3, TRS_PTR64, ptr, idx, val, TRS_COPY));
  for (trs_format format = TRS_CSR; format <= TRS_CSC; format++) {
    assert_success(trs_matrix_convert(&B, A, format, TRS_DOUBLE));
    assert_success(trs_matrix_triangle(&T, B, TRS_LOWER, 1));
    expect_dense(T, lower);
    trs_matrix_destroy(T);
    assert_success(trs_matrix_triangle(&T, B, TRS_UPPER, 1));
    expect_dense(T, upper);
    trs_matrix_destroy(T);
    trs_matrix_destroy(B);
  }
  assert_success(trs_matrix_triangle(&T, A, TRS_LOWER, 0));
  assert_int_equal(T->nnz, 5);
  assert_int_equal(T->missing_diagonal, 1);
  trs_matrix_destroy(T);
  trs_matrix_destroy(A);
}

TEST(permutations) {
  const int32_t rows[] = {2, 0, 1}, cols[] = {1, 2, 0}, twice[] = {0, 0, 1};
  const double expected[] = {0, 6, 9, 0, 5, 1, 3, 0, 0};
  trs_matrix *A, *B, *C;
  assert_success(trs_matrix_create(&A, TRS_CSR, TRS_DOUBLE, 3, 3, TRS_PTR64, messy_ptr, messy_idx,
                                   messy_val, TRS_COPY));
  assert_success(trs_matrix_permute(&B, A, rows, cols));
  expect_dense(B, expected);
  assert_success(trs_matrix_convert(&C, A, TRS_CSC, TRS_DOUBLE));
  trs_matrix_destroy(B);
  assert_success(trs_matrix_permute(&B, C, rows, cols));
  expect_dense(B, expected);
  trs_matrix_destroy(B);
  trs_matrix_destroy(C);
  trs_matrix_destroy(A);
  assert_success(trs_permutation_check(rows, 3, "rows"));
  assert_failure(TRS_ERROR_ARGUMENT, "twice[1] = 0 is there twice",
                 trs_permutation_check(twice, 3, "twice"));
}

TEST(wrong_arguments_are_named) {
  int64_t ptr[] = {0, 1, 2}, falling[] = {0, 2, 1}, late[] = {1, 1, 2}, negative_end[] = {0, 3, -5};
  int32_t idx[] = {0, 1}, far[] = {0, 2}, negative[] = {-1, 1};
  double val[] = {1, 1};
  trs_matrix *A;
#define CREATE(scalar, rows, p, i, v) \
  trs_matrix_create(&A, TRS_CSR, scalar, rows, 2, TRS_PTR64, p, i, v, TRS_COPY)
  assert_failure(TRS_ERROR_ARGUMENT, "scalar 9", CREATE((trs_scalar)9, 2, ptr, idx, val));
  assert_failure(TRS_ERROR_ARGUMENT, "-1 x 2", CREATE(TRS_DOUBLE, -1, ptr, idx, val));
  assert_failure(TRS_ERROR_ARGUMENT, "2147483648 x 2",
                 CREATE(TRS_DOUBLE, (int64_t)1 << 31, ptr, idx, val));
  assert_failure(TRS_ERROR_ARGUMENT, "ptr is NULL", CREATE(TRS_DOUBLE, 2, NULL, idx, val));
  assert_failure(TRS_ERROR_ARGUMENT, "idx is NULL", CREATE(TRS_DOUBLE, 2, ptr, NULL, val));
  assert_failure(TRS_ERROR_ARGUMENT, "val is NULL", CREATE(TRS_DOUBLE, 2, ptr, idx, NULL));
  assert_failure(TRS_ERROR_STRUCTURE, "ptr[2] = 1 is less",
                 CREATE(TRS_DOUBLE, 2, falling, idx, val));
  assert_failure(TRS_ERROR_STRUCTURE, "ptr[2] = -5 is less",
                 CREATE(TRS_DOUBLE, 2, negative_end, idx, val));
  assert_failure(TRS_ERROR_STRUCTURE, "ptr[0] is 1", CREATE(TRS_DOUBLE, 2, late, idx, val));
  assert_failure(TRS_ERROR_STRUCTURE, "index 2 in row 1", CREATE(TRS_DOUBLE, 2, ptr, far, val));
  assert_failure(TRS_ERROR_STRUCTURE, "index -1 in row 0",
                 CREATE(TRS_DOUBLE, 2, ptr, negative, val));
  assert_int_equal(trs_last_error()->row, 0);
}

TEST(failing_allocations_leak_nothing) {
  int64_t before, after, peak;
  trs_memory_usage(&before, &peak);
  for (int64_t n = 0;; n++) {
    trs_matrix *A = NULL, *B = NULL, *T = NULL;
    trs_memory_fail_after(n);
    trs_status status = trs_matrix_create(&A, TRS_CSR, TRS_DOUBLE, 3, 3, TRS_PTR64, messy_ptr,
                                          messy_idx, messy_val, TRS_COPY);
    if (!status) status = trs_matrix_convert(&B, A, TRS_CSC, TRS_DCOMPLEX);
    if (!status) status = trs_matrix_triangle(&T, B, TRS_UPPER, 1);
    trs_memory_fail_after(-1);
    if (status) assert_int_equal(status, TRS_ERROR_MEMORY);
    trs_matrix_destroy(A);
    trs_matrix_destroy(B);
    trs_matrix_destroy(T);
    trs_memory_usage(&after, &peak);
    assert_int_equal(after, before);
    if (!status) break;
  }
}
