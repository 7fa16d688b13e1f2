/* read.c - the kind of a name: a generator, or a file whose bytes determine its kind. */
#include "base/config.h"
#include "base/memory.h"
#include "io/io.h"
#include "io/scratch.h"
#include "matrix/matrix.h"
#include "test.h"

TEST(generators_are_read_like_files) {
  for (int scalar = TRS_FLOAT; scalar <= TRS_DCOMPLEX; scalar++) {
    trs_scalar wanted = (trs_scalar)scalar;
    trs_read_options options = {.struct_size = sizeof(trs_read_options), .scalar = wanted};
    trs_matrix *A;
    assert_success(trs_read_matrix(&A, "gen:poisson2d5:4", NULL, &options));
    assert_int_equal(A->scalar, wanted);
    assert_int_equal(A->nrows, 16);
    trs_matrix_destroy(A);
    assert_survives_failing_allocations(trs_read_matrix(&A, "gen:poisson2d5:4", NULL, &options),
                                        trs_matrix_destroy(A));
  }
  trs_matrix *A;
  assert_int_not_equal(trs_read_matrix(&A, "gen:nothing:4", NULL, NULL), TRS_SUCCESS);
  assert_null(A);
}

#if !TRS_HAVE_ZLIB || !TRS_HAVE_ZSTD
static void names_package(const trs_matrix *A, const char *name, const char *head,
                          const char *package) {
  trs_matrix *B;
  assert_failure(TRS_ERROR_UNSUPPORTED, package,
                 trs_read_matrix(&B, scratch_text(name, head), NULL, NULL));
  assert_failure(TRS_ERROR_UNSUPPORTED, package, trs_write_matrix(A, scratch(name), NULL));
}

TEST(missing_compression_is_named) {
  trs_matrix *A;
  assert_success(trs_read_matrix(&A, "gen:poisson2d5:4", NULL, NULL));
  if (!TRS_HAVE_ZLIB) names_package(A, "a.mtx.gz", "\x1f\x8b", "zlib1g-dev");
  if (!TRS_HAVE_ZSTD) names_package(A, "a.mtx.zst", "\x28\xb5\x2f\xfd", "libzstd-dev");
  trs_matrix_destroy(A);
}
#endif

const test_program program = {.end = scratch_remove};
