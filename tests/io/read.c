/* read.c - the kind of a name: a generator, or a file whose bytes determine its kind. */
#include "base/config.h"
#include "base/memory.h"
#include "io/io.h"
#include "io/scratch.h"
#include "matrix/matrix.h"
#include "test.h"

static void generators_are_read_like_files(void **state) {
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
static void missing_compression_is_named(void **state) {
  trs_matrix *A;
  assert_success(trs_read_matrix(&A, "gen:poisson2d5:4", NULL, NULL));
  if (!TRS_HAVE_ZLIB) {
    trs_matrix *B;
    assert_failure(TRS_ERROR_UNSUPPORTED, "zlib1g-dev",
                   trs_read_matrix(&B, scratch_text("a.mtx.gz", "\x1f\x8b"), NULL, NULL));
    assert_failure(TRS_ERROR_UNSUPPORTED, "zlib1g-dev",
                   trs_write_matrix(A, scratch("b.mtx.gz"), NULL));
  }
  if (!TRS_HAVE_ZSTD) {
    trs_matrix *B;
    assert_failure(TRS_ERROR_UNSUPPORTED, "libzstd-dev",
                   trs_read_matrix(&B, scratch_text("a.zst", "\x28\xb5\x2f\xfd"), NULL, NULL));
    assert_failure(TRS_ERROR_UNSUPPORTED, "libzstd-dev",
                   trs_write_matrix(A, scratch("b.zst"), NULL));
  }
  trs_matrix_destroy(A);
}
#endif

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(generators_are_read_like_files),
#if !TRS_HAVE_ZLIB || !TRS_HAVE_ZSTD
    cmocka_unit_test(missing_compression_is_named),
#endif
};

const test_program program = {TESTS(tests), .end = scratch_remove};
