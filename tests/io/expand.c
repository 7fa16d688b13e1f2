/* expand.c - entries of a symmetric matrix, and valid values on their diagonal. */
#include "io/expand.h"

#include "base/memory.h"
#include "matrix/matrix.h"
#include "test.h"

/* 2 x 2, (0, 0) and (1, 0). */
static trs_status expand(trs_matrix **A, trs_symmetry symmetry, double complex diagonal) {
  trs_entries e = {.kind = TRS_PAIRS, .symmetry = symmetry, .scalar = TRS_DCOMPLEX};
  double complex *val;
  e.nrows = e.ncols = e.count = 2;
  assert_success(TRS_ALLOC_ZERO(&e.major, 2));
  assert_success(TRS_ALLOC_ZERO(&e.minor, 2));
  assert_success(TRS_ALLOC(&val, 2));
  e.major[1] = 1;
  val[0] = diagonal;
  val[1] = CMPLX(2, 3);
  e.val = val;
  *A = NULL;
  return trs_entries_adopt(A, &e);
}

TEST(symmetric_entries_are_mirrored) {
  static const struct {
    trs_symmetry symmetry;
    double complex diagonal, mirrored;
  } cases[] = {{TRS_SYMMETRIC, CMPLX(1, 5), CMPLX(2, 3)},
               {TRS_SKEW_SYMMETRIC, CMPLX(0, 0), CMPLX(-2, -3)},
               {TRS_HERMITIAN, CMPLX(1, 0), CMPLX(2, -3)}};
  for (int k = 0; k < 3; k++) {
    trs_matrix *A;
    assert_success(expand(&A, cases[k].symmetry, cases[k].diagonal));
    const double complex *val = A->val;
    assert_true(A->nnz == 3 && val[0] == cases[k].diagonal && val[1] == cases[k].mirrored);
    trs_matrix_destroy(A);
  }
}

TEST(a_diagonal_that_cannot_be_is_refused) {
  trs_matrix *A;
  assert_failure(TRS_ERROR_STRUCTURE, "diagonal of a skew-symmetric matrix is not zero",
                 expand(&A, TRS_SKEW_SYMMETRIC, 1));
  assert_failure(TRS_ERROR_STRUCTURE, "diagonal of a hermitian matrix is not real",
                 expand(&A, TRS_HERMITIAN, CMPLX(1, 1)));
}

/* Two entries at one position, in pairs and in a triangle of a symmetric matrix. */
TEST(repeated_entries_are_refused) {
  static const int32_t major[] = {1, 0, 1}, minor[] = {0, 0, 0};
  for (int symmetry = 0; symmetry < 2; symmetry++) {
    trs_entries e = {.kind = TRS_PAIRS, .symmetry = (trs_symmetry)symmetry, .scalar = TRS_DOUBLE};
    trs_matrix *A;
    e.nrows = e.ncols = 2;
    e.count = 3;
    assert_success(TRS_ALLOC(&e.major, 3));
    assert_success(TRS_ALLOC(&e.minor, 3));
    assert_success(trs_alloc_zero(&e.val, 3, sizeof(double)));
    memcpy(e.major, major, sizeof major);
    memcpy(e.minor, minor, sizeof minor);
    assert_failure(TRS_ERROR_STRUCTURE, "entries repeat others", trs_entries_adopt(&A, &e));
    assert_null(A);
  }
}
