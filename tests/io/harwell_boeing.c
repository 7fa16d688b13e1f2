/* harwell_boeing.c - files of the Harwell-Boeing and the Rutherford-Boeing format, and their
 * faults. */
#include <complex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/io.h"
#include "io/scratch.h"
#include "matrix/matrix.h"
#include "matrix/values.h"
#include "test.h"

#define TITLE "A title of at most 72 characters                                        A KEY\n"

/* 3 x 3: 2 at (0, 0), 3 at (1, 1), -5 at (2, 0), 4 at (2, 2); fields without blanks between them.
 */
#define UNSYMMETRIC                                                          \
  TITLE                                                                      \
  "             6             1             1             2             0\n" \
  "RUA                        3             3             4             0\n" \
  "(4I2)           (4I1)           (2E9.2)\n"                                \
  " 1 3 4 5\n1323\n 0.20D+01-0.50E+01\n 0.30e+01 0.400+01\n"

static double complex entry_of(const trs_matrix *A, int64_t i, int32_t j) {
  for (int64_t p = A->ptr[i]; p < A->ptr[i + 1]; p++)
    if (A->idx[p] == j) return trs_value_get(A->val, p, A->scalar);
  return 0;
}

static void expect(const char *text, const double complex *dense) {
  static const char *const names[] = {"a.rb", "a.rb.gz", "a.rb.zst"};
  for (int e = 0; e < 3; e++) {
    trs_matrix *A;
    assert_success(
        trs_read_matrix(&A, scratch_packed(names[e], text, strlen(text)), scratch_team, NULL));
    assert_int_equal(A->format, TRS_CSR);
    for (int k = 0; k < 9; k++) assert_true(entry_of(A, k / 3, k % 3) == dense[k]);
    trs_matrix_destroy(A);
  }
}

TEST(fields_have_a_fixed_width) {
  expect(UNSYMMETRIC, (double complex[]){2, 0, 0, 0, 3, 0, -5, 0, 4});
}

/* Blanks before and between fields, card numbers behind them, groups, numbers without a point,
 * scale factors, blank fields. */
TEST(formats_are_read_as_fortran_reads_them) {
  static const struct {
    const char *format, *values;
  } cases[] = {{"(1X,3F6.1)", "#   1.5  -2.0   4.0\n"},
               {"(3(2X,F4.1))", "   1.5  -2.0   4.0\n"},
               {"(2F6.1)", "   1.5  -2.0      77\n   4.0            78\n"},
               {"(2(1P,E10.3))", " 1.500E+00-2.000E+00\n 4.000E+00\n"},
               {"(3F6.2)", "   150  -200   400\n"},
               {"(2P,3F8.2)", "  150.00 -200.00  400.00\n"},
               {"(F6.1/T3,2F6.1)", "   1.5\nab  -2.0   4.0\n"},
               {"(F6.1,(F6.1,1X))", "   1.5  -2.0 9\n   4.0\n"},
               {"(3D8.1)", "  .15+01   -20+0    4Q+1\n"}};
  for (size_t k = 0; k < COUNT(cases); k++) {
    char text[1024];
    snprintf(text, sizeof text, TITLE "3 1 1 1\nRUA 3 1 3 0\n(2I3) (3I3) %s\n  1  4\n  1  2  3\n%s",
             cases[k].format, cases[k].values);
    trs_matrix *A;
    assert_success(trs_read_matrix(&A, scratch_text("f.rua", text), NULL, NULL));
    const double wanted[] = {1.5, -2, 4};
    for (int i = 0; i < 3; i++)
      if (creal(trs_value_get(A->val, i, A->scalar)) != wanted[i])
        fail_msg("%s: value %d is %g", cases[k].format, i,
                 creal(trs_value_get(A->val, i, A->scalar)));
    trs_matrix_destroy(A);
  }
}

/* As SciPy writes them. */
TEST(fields_may_be_narrower_than_declared) {
  expect(TITLE
         "3 1 1 1\nRUA 3 3 3 0\n(40I2) (40I2) (3E25.16)\n 1 2 3 4\n 1 2 3\n"
         "  1.5000000000000000E+00  7.0000000000000000E+10 -2.0000000000000000E+00\n",
         (double complex[]){1.5, 0, 0, 0, 7e10, 0, 0, 0, -2});
}

TEST(lines_may_end_as_on_other_systems) {
  char text[1024];
  size_t at = 0;
  for (const char *c = UNSYMMETRIC; *c; c++) {
    if (*c == '\n') text[at++] = '\r';
    text[at++] = *c;
  }
  text[at] = '\0';
  expect(text, (double complex[]){2, 0, 0, 0, 3, 0, -5, 0, 4});
}

TEST(right_hand_sides_are_left_out) {
  expect(TITLE
         "             5             1             1             1             1\n"
         "ISA                        3             3             3             0\n"
         "(4I3)           (4I3)           (4I3)           (3F5.1)\n"
         "F                          1             0\n"
         "  1  3  4  4\n  1  3  2\n  7 -1  5\n  1.0  1.0  1.0\n",
         (double complex[]){7, 0, -1, 0, 5, 0, -1, 0, 0});
}

#define THREE(type)                                                       \
  TITLE                                                                   \
  "3 1 1 1\n" type                                                        \
  "                        3             3             2             0\n" \
  "(4I3) (4I3) (1P,4E12.4E3)\n 1  2  3  3\n 2  3\n"

TEST(symmetries_are_filled_in) {
  expect(THREE("rza") " 1.5000E+000-2.0000E+000\n",
         (double complex[]){0, -1.5, 0, 1.5, 0, 2, 0, -2, 0});
  expect(THREE("cha") " 1.5000E+000 1.0000E+000-2.0000E+000 0.0000E+000\n",
         (double complex[]){0, CMPLX(1.5, -1), 0, CMPLX(1.5, 1), 0, -2, 0, -2, 0});
  expect(THREE("csa") " 1.5000E+000 1.0000E+000\n-2.0000E+000 0.0000E+000\n",
         (double complex[]){0, CMPLX(1.5, 1), 0, CMPLX(1.5, 1), 0, -2, 0, -2, 0});
}

/* As those of the same pattern in a Matrix Market file. */
TEST(patterns_get_values) {
  static const char *const types[][2] = {{"pua", "general"}, {"psa", "symmetric"}};
  for (int k = 0; k < 2; k++) {
    char text[512], market[128];
    trs_matrix *A, *B;
    trs_read_options options = {.struct_size = sizeof options, .seed = 7};
    snprintf(text, sizeof text,
             TITLE "2 1 1 0\n%s 3 3 4 0\n(4I3) (4I3)\n  1  3  4  5\n  1  3  2  3\n", types[k][0]);
    snprintf(market, sizeof market,
             "%%%%MatrixMarket matrix coordinate pattern %s\n3 3 4\n1 1\n3 1\n2 2\n3 3\n",
             types[k][1]);
    assert_success(trs_read_matrix(&A, scratch_text("a.psa", text), NULL, &options));
    assert_success(trs_read_matrix(&B, scratch_text("a.mtx", market), NULL, &options));
    assert_int_equal(A->nnz, B->nnz);
    assert_memory_equal(A->idx, B->idx, (size_t)A->nnz * sizeof *A->idx);
    assert_memory_equal(A->val, B->val, (size_t)A->nnz * sizeof(double));
    trs_matrix_destroy(A);
    trs_matrix_destroy(B);
  }
}

TEST(types_are_converted) {
  trs_matrix *A;
  trs_read_options options = {.struct_size = sizeof options, .scalar = TRS_SCOMPLEX};
  assert_success(trs_read_matrix(&A, scratch_text("a.rb", UNSYMMETRIC), NULL, &options));
  assert_true(A->scalar == TRS_SCOMPLEX && entry_of(A, 2, 0) == -5);
  trs_matrix_destroy(A);
  options.scalar = TRS_FLOAT;
  assert_failure(TRS_ERROR_ARGUMENT, "complex values",
                 trs_read_matrix(&A, scratch_text("a.rb", THREE("cha")), NULL, &options));
  assert_failure(
      TRS_ERROR_FORMAT, "a.rb:7: \"1e99\" is not in the range of a float",
      trs_read_matrix(&A, scratch_text("a.rb", THREE("rza") "        1e99         1e0\n"), NULL,
                      &options));
}

#define SMALL(sizes, formats, body) TITLE "3 1 1 1\n" sizes "\n" formats "\n" body
#define GOOD_SIZES "rua 3 3 2 0"
#define GOOD_FORMATS "(4I3) (4I3) (4E8.1)"

static const struct {
  const char *text, *words;
} bad_files[] = {
    {SMALL("rua 3 3", GOOD_FORMATS, ""), "a.rb:3: the line must be \"type rows columns entries\""},
    {SMALL("rua 2147483648 3 2", GOOD_FORMATS, ""), "a.rb:3: the matrix is too large"},
    {SMALL("rsa 3 4 2", GOOD_FORMATS, ""), "a.rb:3: the matrix is not square"},
    {SMALL(GOOD_SIZES, "(4I3) (4I3)", ""), "a.rb:4: the line must hold the formats"},
    {SMALL(GOOD_SIZES, "(4I3) (4I0) (E8.1)", ""), "a.rb:4: the line must hold the formats"},
    {SMALL(GOOD_SIZES, "(4I3) (4I3) (E999.1)", ""), "a.rb:4: the line must hold the formats"},
    {SMALL("rua 3 3 999999999999999999", GOOD_FORMATS, "  1\n"), "a.rb:3: the file is too short"},
    {SMALL("rua 3 2147483647 2", GOOD_FORMATS, "  1\n"), "a.rb:3: the file is too short"},
    {SMALL(GOOD_SIZES, GOOD_FORMATS, "  0  1  2  3\n  1  2\n  1.0     2.0\n"),
     "a.rb:5: \"0\" is a pointer outside 1 .. 1"},
    {SMALL(GOOD_SIZES, GOOD_FORMATS, "  1  2  1  3\n  1  2\n  1.0     2.0\n"),
     "a.rb:5: \"1\" is a pointer outside 2 .. 3"},
    {SMALL(GOOD_SIZES, GOOD_FORMATS, "  1  2  4  3\n  1  2\n  1.0     2.0\n"),
     "a.rb:5: \"4\" is a pointer outside 2 .. 3"},
    {SMALL(GOOD_SIZES, GOOD_FORMATS, "  1  2  2  2\n  1  2\n  1.0     2.0\n"),
     "a.rb:5: the last pointer"},
    {SMALL(GOOD_SIZES, GOOD_FORMATS, "  1  2  3  3\n  1  4\n  1.0     2.0\n"),
     "a.rb:6: \"4\" is a row index outside 1 .. 3"},
    {SMALL(GOOD_SIZES, GOOD_FORMATS, "  1  2  3  3\n  1 -2\n  1.0     2.0\n"),
     "a.rb:6: \"-2\" is not a row index"},
    {SMALL(GOOD_SIZES, GOOD_FORMATS, "  1  2  3  3\n  1  2\n  1.0     x\n"),
     "a.rb:7: \"x\" is not a finite number"},
    {SMALL(GOOD_SIZES, GOOD_FORMATS, "  1  2  3  3\n  1  2\n  1.0     nan\n"),
     "a.rb:7: \"nan\" is not a finite number"},
    {SMALL(GOOD_SIZES, GOOD_FORMATS, "  1  2  3  3\n  1  2\n  1.0   1.0.0\n"),
     "a.rb:7: \"1.0.0\" is not a finite number"},
    {SMALL(GOOD_SIZES, GOOD_FORMATS, "  1  2  3  3\n  1  2\n  1.0\n       \n"),
     "the file ends before its last number"},
    {SMALL("rua 3 3 2 0", GOOD_FORMATS, "  1  3  3  3\n  1  1\n  1.0     2.0\n"),
     "a.rb: 1 of 2 entries repeat others"},
    {SMALL("rsa 3 3 2 0", GOOD_FORMATS, "  1  2  3  3\n  1  1\n  1.0     2.0\n"),
     "a.rb: entry (0, 1) (0-based) of a symmetric structure lies outside its lower triangle"},
    {SMALL("rza 3 3 2 0", GOOD_FORMATS, "  1  2  3  3\n  1  3\n  1.0     2.0\n"),
     "a.rb: entry (0, 0) (0-based) on the diagonal of a skew-symmetric matrix is not zero"},
};

TEST(bad_files_are_refused) {
  for (size_t k = 0; k < sizeof bad_files / sizeof *bad_files; k++) {
    trs_matrix *A;
    assert_failure(TRS_ERROR_FORMAT, bad_files[k].words,
                   trs_read_matrix(&A, scratch_text("a.rb", bad_files[k].text), NULL, NULL));
    assert_null(A);
  }
}

TEST(what_is_not_supported) {
  trs_matrix *A;
  void *b;
  int64_t nrows, ncols;
  assert_failure(TRS_ERROR_UNSUPPORTED, "elements that are not assembled",
                 trs_read_matrix(&A, scratch_text("a.rse", THREE("rse")), NULL, NULL));
  const char *path = scratch_text("a.rb", UNSYMMETRIC);
  assert_failure(TRS_ERROR_UNSUPPORTED, "vectors must be in the Matrix Market format",
                 trs_read_vectors(&b, &nrows, &ncols, TRS_DOUBLE, path, NULL, NULL));
  assert_failure(TRS_ERROR_UNSUPPORTED, "read all of it (trs_matrix_read)",
                 trs_open_matrix(&A, path, TRS_CSR, TRS_LOWER, false, NULL, NULL));
}

TEST(failing_allocations_while_reading) {
  trs_matrix *A;
  const char *path = scratch_text("a.rb", UNSYMMETRIC);
  assert_survives_failing_allocations(trs_read_matrix(&A, path, NULL, NULL), trs_matrix_destroy(A));
}

/* Longer than the first window. */
TEST(large_files) {
  enum { N = 400000 };
  trs_matrix *A;
  char *text = malloc(64 + 3 * 20 * (size_t)N), *at = text;
  at += sprintf(at, TITLE "9 3 3 3\nrua %d %d %d 0\n(1I8) (1I8) (1E8.1)\n", N, N, N);
  for (int j = 0; j <= N; j++) at += sprintf(at, "%8d\n", j + 1);
  for (int j = 0; j < N; j++) at += sprintf(at, "%8d\n", N - j);
  for (int j = 0; j < N; j++) at += sprintf(at, "%8.1e\n", (double)(j % 10));
  assert_success(trs_read_matrix(&A, scratch_text("a.rb", text), scratch_team, NULL));
  assert_true(A->nnz == N && entry_of(A, N - 8, 7) == 7);
  trs_matrix_destroy(A);
  free(text);
}

const test_program program = {.begin = scratch_begin, .end = scratch_end};
