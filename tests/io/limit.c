/* limit.c - files that claim, or unpack to, more memory than the reader may use; threads cancelled
 * while they read. */
#include "io/limit.h"

#include <pthread.h>
#include <unistd.h>

#include "base/config.h"
#include "base/machine.h"
#include "base/memory.h"
#include "base/random.h"
#include "factor/file.h"
#include "io/io.h"
#include "io/scratch.h"
#include "matrix/matrix.h"
#include "test.h"

#define HEAD "%%MatrixMarket matrix coordinate real general\n"

enum { MB = 1 << 20 };

/* Rejected with the limit's message, without allocating the claimed size. */
static void assert_limited(const char *path, bool vectors, int64_t limit) {
  trs_read_options options = {.struct_size = sizeof(trs_read_options), .max_bytes = limit};
  int64_t before, after, peak, nrows, ncols;
  void *values;
  trs_matrix *A;
  trs_memory_usage(&before, &peak);
  if (vectors)
    assert_failure(TRS_ERROR_MEMORY, "max_bytes",
                   trs_read_vectors(&values, &nrows, &ncols, TRS_DOUBLE, path, NULL, &options));
  else
    assert_failure(TRS_ERROR_MEMORY, "max_bytes", trs_read_matrix(&A, path, NULL, &options));
  assert_non_null(strstr(trs_last_error()->message, path));
  trs_memory_usage(&after, &peak);
  assert_int_equal(before, after);
}

TEST(headers_are_believed_up_to_the_limit) {
  assert_limited(scratch_text("h.mtx", HEAD "2000000000 2000000000 1\n1 1 1\n"), false, 100 * MB);
  assert_limited(scratch_text("h.mtx", HEAD "2000000000 2000000000 1\n1 1 1\n"), false, 0);
  assert_limited(scratch_text("v.mtx", HEAD "100000 100000 1\n1 1 1\n"), true, 100 * MB);
  int64_t before, peak;
  trs_memory_usage(&before, &peak);
  assert_true(peak < 100 * MB);
}

TEST(what_fits_is_read) {
  static const int64_t limits[] = {0, -1, 3 * MB};
  const char *path = scratch_text("f.mtx", HEAD "2 2 2\n1 1 1\n2 2 1\n");
  for (int k = 0; k < 3; k++) {
    trs_read_options options = {.struct_size = sizeof(trs_read_options), .max_bytes = limits[k]};
    trs_matrix *A;
    assert_success(trs_read_matrix(&A, path, NULL, &options));
    trs_matrix_destroy(A);
  }
  assert_limited(path, false, 16);
  assert_true(trs_machine_memory() > 64 * MB);
}

TEST(generators_have_the_limit_too) {
  trs_matrix *A;
  assert_limited("gen:poisson2d5:1000", false, MB);
  assert_non_null(strstr(trs_last_error()->message, "choose a smaller size"));
  assert_limited("gen:poisson2d5:100", false, MB / 2);
  assert_non_null(strstr(trs_last_error()->message, "0.5 MB held"));
  assert_limited("gen:delaunay:100000", false, MB);
  assert_limited("gen:random:1000000,900000", false, 0); /* 7 TB */
  trs_read_options options = {
      .struct_size = sizeof(trs_read_options), .max_bytes = 2 * MB, .scalar = TRS_FLOAT};
  assert_success(trs_read_matrix(&A, "gen:poisson2d5:100", NULL, &options));
  trs_matrix_destroy(A);
}

TEST(parts_have_the_limit_too) {
  const char *path = scratch_text("f.mtx", HEAD "2000000000 2000000000 1\n1 1 1\n");
  trs_read_options options = {.struct_size = sizeof(trs_read_options), .max_bytes = MB};
  trs_matrix *T;
  assert_failure(TRS_ERROR_MEMORY, "max_bytes",
                 trs_matrix_open(&T, path, TRS_CSR, TRS_LOWER, 0, &options));
}

#if TRS_HAVE_ZLIB || TRS_HAVE_ZSTD
/* Text that compresses a thousand times. */
TEST(small_files_that_unpack_to_much) {
  static const char *const names[] = {
#if TRS_HAVE_ZLIB
    "b.mtx.gz",
#endif
#if TRS_HAVE_ZSTD
    "b.mtx.zst",
#endif
  };
  enum { LENGTH = 64 * MB };
  char *text = malloc(LENGTH);
  for (size_t n = 0; n < COUNT(names); n++) {
    int64_t before, peak;
    trs_matrix *A;
    memset(text, '\n', LENGTH); /* valid except for its length */
    memcpy(text, HEAD "1 1 1\n", strlen(HEAD "1 1 1\n"));
    assert_limited(scratch_packed(names[n], text, LENGTH), false, 16 * MB);
    memset(text, 'x', LENGTH); /* unpacking stops after the beginning */
    assert_failure(TRS_ERROR_FORMAT, "not a Matrix Market file",
                   trs_read_matrix(&A, scratch_packed(names[n], text, LENGTH), NULL, NULL));
    const int head = (int)strlen(HEAD "1 1 1\n"); /* now more entries than declared */
    memcpy(text, HEAD "1 1 1\n", (size_t)head);
    for (int at = head; at < LENGTH; at++) text[at] = "1 1 1\n"[(at - head) % 6];
    assert_failure(TRS_ERROR_FORMAT, "more entries than the 1",
                   trs_read_matrix(&A, scratch_packed(names[n], text, LENGTH), NULL, NULL));
    trs_memory_usage(&before, &peak);
    assert_true(peak < 32 * MB);
  }
  free(text);
}
#endif

#if TRS_HAVE_HDF5
TEST(containers_have_the_limit_too) {
  trs_matrix *A;
  assert_success(trs_read_matrix(&A, "gen:poisson2d5:30", NULL, NULL));
  assert_success(trs_write_matrix(A, scratch("l.h5"), NULL));
  trs_matrix_destroy(A);
  assert_limited(scratch("l.h5"), false, 20000);
  trs_factors *F;
  assert_success(trs_read_matrix(&A, "gen:poisson2d5:30", NULL, NULL));
  assert_success(trs_factor(
      &F, A,
      &(trs_factor_options){.struct_size = sizeof(trs_factor_options), .kind = TRS_FACTOR_ILU0}));
  assert_success(trs_write_factors(F, scratch("f.h5"), NULL));
  trs_factors_destroy(F);
  trs_matrix_destroy(A);
  assert_failure(TRS_ERROR_MEMORY, "max_bytes",
                 trs_read_factors(&F, scratch("f.h5"), NULL,
                                  &(trs_read_options){.struct_size = sizeof(trs_read_options),
                                                      .max_bytes = 20000}));
  assert_null(F);
}
#endif

/* ---- Cancelled threads. ---- */

static void *read_for_ever(void *path) {
  for (;;) {
    trs_matrix *A;
    if (trs_matrix_read(&A, path, NULL)) abort();
    trs_matrix_destroy(A);
    pthread_testcancel();
  }
  return NULL;
}

static void *read_once(void *path) {
  trs_matrix *A;
  trs_status status = trs_matrix_read(&A, path, NULL);
  trs_matrix_destroy(A);
  return status ? path : NULL;
}

/* Wherever they are cancelled, other threads continue to read and nothing is left behind. */
TEST(cancelled_threads_keep_nothing) {
#if defined TRS_SANITIZE_ADDRESS && defined __clang__
  skip_test("clang's address sanitizer reports the end of a cancelled thread");
#endif
  trs_matrix *A;
  static const char *const names[] = {"c.mtx", TRS_HAVE_HDF5 ? "c.h5" : "d.mtx"};
  assert_success(trs_read_matrix(&A, "gen:poisson2d5:60", NULL, NULL));
  alarm(300); /* a lock that stays held would stop the test */
  for (int k = 0; k < 60; k++) {
    char *path = (char *)scratch(names[k % 2]);
    int64_t before, after, peak;
    pthread_t thread;
    void *result;
    if (k < 2) assert_success(trs_write_matrix(A, path, NULL));
    trs_memory_usage(&before, &peak);
    assert_int_equal(pthread_create(&thread, NULL, read_for_ever, path), 0);
    usleep((unsigned)trs_random_below(test_seed(), (uint64_t)k, 5000));
    pthread_cancel(thread);
    pthread_join(thread, &result);
    assert_true(result == PTHREAD_CANCELED);
    trs_memory_usage(&after, &peak);
    assert_int_equal(before, after);
    pthread_create(&thread, NULL, read_once, path);
    pthread_join(thread, &result);
    assert_null(result);
  }
  alarm(0);
  trs_matrix_destroy(A);
}

const test_program program = {.end = scratch_remove};
