/* hdf5.c - matrices in HDF5 containers: written, read back, and rejected if damaged. */
#include "io/hdf5.h"

#include <math.h>
#include <pthread.h>
#include <unistd.h>

#include "base/config.h"
#include "base/memory.h"
#include "base/random.h"
#include "io/io.h"
#include "io/scratch.h"
#include "matrix/matrix.h"
#include "test.h"

static trs_matrix *random_matrix(trs_format format, trs_scalar scalar, int64_t nvec, int64_t other,
                                 int64_t longest) {
  int64_t *ptr = malloc((size_t)(nvec + 1) * sizeof *ptr), nnz = 0;
  int32_t *idx = malloc((size_t)(nvec * longest + 1) * sizeof *idx);
  void *val = malloc((size_t)(nvec * longest + 1) * trs_scalar_size(scalar));
  for (int64_t i = 0; i < nvec; i++) {
    int64_t count = (int64_t)trs_random_below(1, (uint64_t)i, (uint64_t)longest + 1);
    ptr[i] = nnz;
    for (int64_t k = 0; k < count; k++) idx[nnz++] = (int32_t)(other * k / longest);
  }
  ptr[nvec] = nnz;
  trs_random_fill(val, nnz, scalar, 2);
  trs_matrix *A;
  bool rows = format == TRS_CSR;
  assert_success(trs_matrix_create(&A, format, scalar, rows ? nvec : other, rows ? other : nvec,
                                   TRS_PTR64, ptr, idx, val, TRS_TAKE));
  return A;
}

static bool same(const trs_matrix *A, const trs_matrix *B) {
  return A->format == B->format && A->scalar == B->scalar && A->nrows == B->nrows &&
         A->ncols == B->ncols && A->nnz == B->nnz &&
         !memcmp(A->ptr, B->ptr, (size_t)(A->nvectors + 1) * sizeof *A->ptr) &&
         (A->nnz == 0 || (!memcmp(A->idx, B->idx, (size_t)A->nnz * sizeof *A->idx) &&
                          !memcmp(A->val, B->val, (size_t)A->nnz * trs_scalar_size(A->scalar))));
}

static void check_round_trip(trs_matrix *A, trs_team *with) {
  trs_matrix *B;
  trs_read_options options = {.struct_size = sizeof(trs_read_options), .scalar = A->scalar};
  const char *path = scratch("a.h5");
  assert_success(trs_write_matrix(A, path, with));
  assert_success(trs_read_matrix(&B, path, with, &options));
  assert_true(same(A, B));
  trs_matrix_destroy(A);
  trs_matrix_destroy(B);
}

TEST_IF(TRS_HAVE_HDF5, every_type_and_format_reads_back) {
  for (int scalar = TRS_FLOAT; scalar <= TRS_DCOMPLEX; scalar++)
    for (int format = 0; format < 2; format++) {
      trs_format f = (trs_format)format;
      trs_scalar s = (trs_scalar)scalar;
      check_round_trip(random_matrix(f, s, 50, 70, 9), NULL);
      check_round_trip(random_matrix(f, s, 30000, 20000, 20), scratch_team);
      check_round_trip(random_matrix(f, s, 5, 3, 0), scratch_team);
      check_round_trip(random_matrix(f, s, 0, 3, 1), NULL);
    }
}

TEST(the_same_bytes_every_time) {
  size_t first_length, second_length;
  trs_matrix *A = random_matrix(TRS_CSR, TRS_DOUBLE, 30000, 20000, 20);
  assert_success(trs_write_matrix(A, scratch("a.h5"), NULL));
  assert_success(trs_write_matrix(A, scratch("b.h5"), scratch_team));
  char *first = scratch_load(scratch("a.h5"), &first_length);
  char *second = scratch_load(scratch("b.h5"), &second_length);
  assert_int_equal(first_length, second_length);
  assert_memory_equal(first, second, first_length);
  free(first);
  free(second);
  trs_matrix_destroy(A);
}

TEST_IF(TRS_HAVE_HDF5, types_are_converted) {
  trs_matrix *A = random_matrix(TRS_CSR, TRS_FLOAT, 10, 10, 5), *B;
  const char *path = scratch("a.h5");
  assert_success(trs_write_matrix(A, path, NULL));
  assert_success(trs_read_matrix(&B, path, NULL, NULL)); /* double is the default */
  assert_int_equal(B->scalar, TRS_DOUBLE);
  for (int64_t p = 0; p < A->nnz; p++) assert_true(((float *)A->val)[p] == ((double *)B->val)[p]);
  trs_matrix_destroy(A);
  trs_matrix_destroy(B);
  A = random_matrix(TRS_CSR, TRS_DCOMPLEX, 10, 10, 5);
  assert_success(trs_write_matrix(A, path, NULL));
  trs_scalar real = TRS_DOUBLE;
  trs_read_options options = {.struct_size = sizeof(trs_read_options), .scalar = real};
  assert_failure(TRS_ERROR_ARGUMENT, "complex", trs_read_matrix(&B, path, NULL, &options));
  trs_matrix_destroy(A);
}

TEST_IF(TRS_HAVE_HDF5, nonfinite_values_on_request) {
  trs_matrix *A = random_matrix(TRS_CSR, TRS_DOUBLE, 10, 10, 5), *B;
  const char *path = scratch("a.h5");
  trs_read_options options = {.struct_size = sizeof(trs_read_options), .allow_nonfinite = 1};
  ((double *)A->val)[3] = INFINITY;
  ((double *)A->val)[4] = NAN;
  assert_success(trs_write_matrix(A, path, NULL));
  assert_failure(TRS_ERROR_FORMAT, "a.h5: dataset /values: element 3 is not finite",
                 trs_read_matrix(&B, path, NULL, NULL));
  assert_success(trs_read_matrix(&B, path, NULL, &options));
  assert_true(same(A, B));
  trs_matrix_destroy(A);
  trs_matrix_destroy(B);
}

/* A small file and the matrix in it. */
static char *small_file(trs_matrix **A, size_t *length) {
  *A = random_matrix(TRS_CSR, TRS_DOUBLE, 6, 8, 4);
  assert_success(trs_write_matrix(*A, scratch("s.h5"), NULL));
  return scratch_load(scratch("s.h5"), length);
}

TEST_IF(TRS_HAVE_HDF5, a_file_cut_short_is_refused) {
  trs_matrix *A, *B;
  size_t length;
  char *bytes = small_file(&A, &length);
  for (size_t cut = 0; cut < length; cut += cut < 1500 ? 23 : 611)
    assert_failure(TRS_ERROR_FORMAT, "c.h5",
                   trs_read_matrix(&B, scratch_bytes("c.h5", bytes, cut), NULL, NULL));
  assert_failure(TRS_ERROR_FORMAT, "c.h5",
                 trs_read_matrix(&B, scratch_bytes("c.h5", bytes, length - 1), NULL, NULL));
  trs_matrix_destroy(A);
  free(bytes);
}

/* Every change is detected, unless it hits a byte without meaning. */
TEST_IF(TRS_HAVE_HDF5, damage_is_noticed) {
  trs_matrix *A, *B;
  size_t length, refused = 0;
  char *bytes = small_file(&A, &length);
  for (size_t at = 0; at < length; at++) {
    if (bytes[at] == 0 ? at % 97 : at % 5) continue; /* most bytes are padding */
    char bit = (char)(1 << trs_random_below(3, at, 8));
    bytes[at] ^= bit;
    trs_status status = trs_read_matrix(&B, scratch_bytes("d.h5", bytes, length), NULL, NULL);
    if (status) {
      if (status != TRS_ERROR_FORMAT) fail_msg("byte %d: %s", (int)at, trs_last_error()->message);
      refused++;
    } else {
      if (!same(A, B)) fail_msg("byte %d: the damage went unnoticed", (int)at);
      trs_matrix_destroy(B);
    }
    bytes[at] ^= bit;
  }
  assert_true(refused > 100);
  trs_matrix_destroy(A);
  free(bytes);
}

TEST_IF(TRS_HAVE_HDF5, the_damaged_dataset_is_named) {
  trs_matrix *A, *B;
  size_t length;
  char *bytes = small_file(&A, &length);
  bytes[length - 1] ^= 1; /* values come last */
  assert_failure(TRS_ERROR_FORMAT, "e.h5: dataset /values is damaged: its checksum",
                 trs_read_matrix(&B, scratch_bytes("e.h5", bytes, length), NULL, NULL));
  trs_matrix_destroy(A);
  free(bytes);
}

TEST_IF(TRS_HAVE_HDF5, files_that_are_something_else) {
  trs_matrix *A;
  assert_failure(TRS_ERROR_FORMAT, "is not an HDF5 file",
                 trs_read_matrix(&A, scratch_text("f.h5", "text"), NULL, NULL));
  assert_failure(TRS_ERROR_FORMAT, "is not an HDF5 file",
                 trs_read_matrix(&A, scratch_text("f.h5", ""), NULL, NULL));
  assert_failure(TRS_ERROR_FILE, "missing.h5",
                 trs_read_matrix(&A, scratch("missing.h5"), NULL, NULL));
}

TEST_IF(TRS_HAVE_HDF5, a_container_is_known_by_its_first_bytes) {
  trs_matrix *A, *B;
  size_t length;
  char *bytes = small_file(&A, &length);
  assert_success(trs_read_matrix(&B, scratch_bytes("renamed.mtx", bytes, length), NULL, NULL));
  assert_true(same(A, B));
  trs_matrix_destroy(A);
  trs_matrix_destroy(B);
  free(bytes);
}

static void *read_often(void *argument) {
  for (int k = 0; k < 20; k++) {
    trs_matrix *A;
    if (trs_read_matrix(&A, argument, NULL, NULL)) return argument;
    trs_matrix_destroy(A);
    if (!trs_read_matrix(&A, "/nonexistent/x.h5", NULL, NULL)) return argument;
  }
  return NULL;
}

TEST_IF(TRS_HAVE_HDF5, threads_may_read_at_once) {
  trs_matrix *A = random_matrix(TRS_CSR, TRS_DOUBLE, 100, 80, 4);
  const char *path = scratch("g.h5");
  pthread_t threads[4];
  assert_success(trs_write_matrix(A, path, NULL));
  for (int k = 0; k < 4; k++) pthread_create(&threads[k], NULL, read_often, (void *)path);
  for (int k = 0; k < 4; k++) {
    void *result;
    pthread_join(threads[k], &result);
    assert_null(result);
  }
  trs_matrix_destroy(A);
}

TEST_IF(TRS_HAVE_HDF5, failing_allocations) {
  trs_matrix *A = random_matrix(TRS_CSR, TRS_FLOAT, 100, 80, 4), *B;
  const char *path = scratch("h.h5");
  assert_survives_failing_allocations(trs_write_matrix(A, path, scratch_team), );
  assert_survives_failing_allocations(trs_read_matrix(&B, path, scratch_team, NULL),
                                      trs_matrix_destroy(B));
  trs_matrix_destroy(A);
}

TEST_IF(!TRS_HAVE_HDF5, what_is_missing_is_named) {
  trs_matrix *A;
  assert_failure(TRS_ERROR_UNSUPPORTED, "libhdf5-dev",
                 trs_read_matrix(&A, scratch_text("a.h5", "x"), NULL, NULL));
}

const test_program program = {.begin = scratch_begin, .end = scratch_end};
