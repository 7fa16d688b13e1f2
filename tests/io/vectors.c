/* vectors.c - dense vectors from and to Matrix Market files. */
#include <complex.h>
#include <math.h>

#include "base/config.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/scalar.h"
#include "io/io.h"
#include "io/scratch.h"
#include "test.h"

#define MM "%%MatrixMarket matrix "

static void expect(const char *text, int64_t nrows, int64_t ncols, const double *expected) {
  void *values;
  int64_t rows, columns;
  const char *path = scratch_text("v.mtx", text);
  assert_success(trs_read_vectors(&values, &rows, &columns, TRS_DOUBLE, path, scratch_team, NULL));
  assert_int_equal(rows, nrows);
  assert_int_equal(columns, ncols);
  for (int64_t k = 0; k < nrows * ncols; k++) assert_true(((double *)values)[k] == expected[k]);
  trs_free(values);
}

TEST(arrays_and_coordinates) {
  static const double six[] = {1, 2, 3, 4, 5, 6}, sparse[] = {0, 1.5, 0, 0, 0, -3};
  static const double symmetric[] = {1, 2, 3, 2, 4, 5, 3, 5, 6};
  static const double skew[] = {0, 1, 2, -1, 0, 3, -2, -3, 0};
  expect(MM "array real general\n% c\n\n3 2\n1\n2\n 3 \n4\r\n\n5\n6", 3, 2, six);
  expect(MM "array integer general\n6 1\n+1\n2\n3\n4\n5\n6\n", 6, 1, six);
  expect(MM "coordinate real general\n3 2 3\n3 2 -1\n2 1 1.5\n3 2 -2\n", 3, 2, sparse);
  expect(MM "array real symmetric\n3 3\n1\n2\n3\n4\n5\n6\n", 3, 3, symmetric);
  expect(MM "array real skew-symmetric\n3 3\n1\n2\n3\n", 3, 3, skew);
  expect(MM "array real skew-symmetric\n1 1\n", 1, 1, (double[]){0});
  expect(MM "array real general\n0 4\n", 0, 4, NULL);
}

TEST(vectors_by_the_public_calls) {
  static const double sent[] = {1, -2, 0.5, 3, 4, 1e-300};
  const char *path = scratch("public.mtx");
  void *values;
  int64_t rows, columns;
  assert_success(trs_vectors_write(sent, 3, 2, 3, TRS_COL_MAJOR, TRS_DOUBLE, path));
  assert_success(trs_vectors_read(&values, &rows, &columns, TRS_DOUBLE, path, NULL));
  assert_true(rows == 3 && columns == 2);
  assert_memory_equal(values, sent, sizeof sent);
  trs_free(values);
  assert_success(trs_vectors_write(NULL, 0, 3, 0, TRS_COL_MAJOR, TRS_DOUBLE, path));
  assert_success(trs_vectors_read(&values, &rows, &columns, TRS_DOUBLE, path, NULL));
  assert_true(rows == 0 && columns == 3);
  trs_free(values);
  assert_failure(TRS_ERROR_ARGUMENT, "values is NULL",
                 trs_vectors_write(NULL, 1, 1, 1, TRS_COL_MAJOR, TRS_DOUBLE, path));
  assert_failure(TRS_ERROR_ARGUMENT, "the path is empty",
                 trs_vectors_write(sent, 1, 1, 1, TRS_COL_MAJOR, TRS_DOUBLE, ""));
  assert_failure(TRS_ERROR_ARGUMENT, "path is NULL",
                 trs_vectors_write(sent, 1, 1, 1, TRS_COL_MAJOR, TRS_DOUBLE, NULL));
}

TEST(hermitian_arrays) {
  void *values;
  int64_t rows, columns;
  const char *path = scratch_text("v.mtx", MM "array complex hermitian\n2 2\n1 0\n2 3\n4 0\n");
  assert_success(trs_read_vectors(&values, &rows, &columns, TRS_SCOMPLEX, path, NULL, NULL));
  const float complex *z = values;
  assert_true(z[0] == 1 && z[1] == CMPLXF(2, 3) && z[2] == CMPLXF(2, -3) && z[3] == 4);
  trs_free(values);
}

TEST(what_does_not_fit_is_refused) {
  void *values;
  int64_t rows, columns;
  const char *path = scratch_text("v.mtx", MM "array complex general\n1 1\n1 2\n");
  assert_failure(TRS_ERROR_ARGUMENT, "complex",
                 trs_read_vectors(&values, &rows, &columns, TRS_DOUBLE, path, NULL, NULL));
  path = scratch_text("v.mtx", MM "coordinate pattern general\n1 1 1\n1 1\n");
  assert_failure(TRS_ERROR_FORMAT, "pattern",
                 trs_read_vectors(&values, &rows, &columns, TRS_DOUBLE, path, NULL, NULL));
  path = scratch_text("v.mtx", MM "array real general\n2 1\n1\n1e99\n");
  assert_failure(TRS_ERROR_FORMAT, "v.mtx:4: \"1e99\" overflows the range of a float",
                 trs_read_vectors(&values, &rows, &columns, TRS_FLOAT, path, NULL, NULL));
  path = scratch_text("v.mtx", MM "array real general\n2147483647 2147483647\n1\n");
  assert_failure(TRS_ERROR_FORMAT, "v.mtx:3: the file ends after 1 of",
                 trs_read_vectors(&values, &rows, &columns, TRS_DOUBLE, path, NULL, NULL));
  assert_null(values);
  assert_failure(TRS_ERROR_ARGUMENT, "scalar",
                 trs_read_vectors(&values, &rows, &columns, (trs_scalar)9, path, NULL, NULL));
  assert_failure(
      TRS_ERROR_FILE, "missing",
      trs_read_vectors(&values, &rows, &columns, TRS_DOUBLE, scratch("missing"), NULL, NULL));
}

enum { NROWS = 1001, NCOLS = 37, LD = 1003 };

/* Written from either layout with gaps between the vectors; read back to the bit. */
static void round_trip(trs_scalar scalar, trs_layout layout, const char *name, trs_team *with) {
  size_t size = trs_scalar_size(scalar);
  void *x = malloc(size * LD * LD), *back;
  int64_t rows, columns;
  trs_random_fill(x, (int64_t)LD * (layout == TRS_COL_MAJOR ? NCOLS : NROWS), scalar, 3);
  assert_success(trs_write_vectors(x, NROWS, NCOLS, LD, layout, scalar, scratch(name), with));
  assert_success(trs_read_vectors(&back, &rows, &columns, scalar, scratch(name), with, NULL));
  assert_int_equal(rows, NROWS);
  assert_int_equal(columns, NCOLS);
  for (int64_t j = 0; j < NCOLS; j++)
    for (int64_t i = 0; i < NROWS; i++)
      assert_memory_equal(
          (char *)back + (size_t)(i + j * NROWS) * size,
          (char *)x + (size_t)(layout == TRS_COL_MAJOR ? i + j * LD : i * LD + j) * size, size);
  free(x);
  trs_free(back);
}

TEST(what_is_written_reads_back_to_the_bit) {
  for (int scalar = TRS_FLOAT; scalar <= TRS_DCOMPLEX; scalar++)
    for (int layout = 0; layout < 2; layout++) {
      round_trip((trs_scalar)scalar, (trs_layout)layout, "v.mtx", scratch_team);
      if (TRS_HAVE_ZLIB) round_trip((trs_scalar)scalar, (trs_layout)layout, "v.mtx.gz", NULL);
      if (TRS_HAVE_ZSTD)
        round_trip((trs_scalar)scalar, (trs_layout)layout, "v.mtx.zst", scratch_team);
    }
}

TEST(bad_arguments) {
  double x[4] = {0};
  const char *path = scratch("w.mtx");
  assert_failure(TRS_ERROR_ARGUMENT, "leading dimension",
                 trs_write_vectors(x, 2, 2, 1, TRS_COL_MAJOR, TRS_DOUBLE, path, NULL));
  assert_failure(TRS_ERROR_ARGUMENT, "values",
                 trs_write_vectors(NULL, 2, 2, 2, TRS_COL_MAJOR, TRS_DOUBLE, path, NULL));
  assert_failure(TRS_ERROR_ARGUMENT, "path",
                 trs_write_vectors(x, 2, 2, 2, TRS_COL_MAJOR, TRS_DOUBLE, NULL, NULL));
  assert_failure(TRS_ERROR_ARGUMENT, "layout",
                 trs_write_vectors(x, 2, 2, 2, (trs_layout)7, TRS_DOUBLE, path, NULL));
  assert_failure(TRS_ERROR_ARGUMENT, "scalar",
                 trs_write_vectors(x, 2, 2, 2, TRS_COL_MAJOR, (trs_scalar)-1, path, NULL));
  assert_failure(TRS_ERROR_UNSUPPORTED, ".mtx",
                 trs_write_vectors(x, 2, 2, 2, TRS_COL_MAJOR, TRS_DOUBLE, scratch("w.h5"), NULL));
}

TEST(failing_allocations) {
  double x[6] = {1, 2, 3, 4, 5, 6};
  void *values;
  int64_t rows, columns;
  assert_survives_failing_allocations(
      trs_write_vectors(x, 3, 2, 3, TRS_COL_MAJOR, TRS_DOUBLE,
                        scratch(TRS_HAVE_ZLIB ? "w.mtx.gz" : "w.mtx"), scratch_team), );
  assert_survives_failing_allocations(
      trs_read_vectors(&values, &rows, &columns, TRS_DOUBLE,
                       scratch(TRS_HAVE_ZLIB ? "w.mtx.gz" : "w.mtx"), scratch_team, NULL),
      trs_free(values));
  const char *path = scratch_text("v.mtx", MM "coordinate real general\n2 2 1\n1 1 1\n");
  assert_survives_failing_allocations(
      trs_read_vectors(&values, &rows, &columns, TRS_DOUBLE, path, scratch_team, NULL),
      trs_free(values));
}

const test_program program = {.begin = scratch_begin, .end = scratch_end};
