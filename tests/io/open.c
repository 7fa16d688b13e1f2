/* open.c - matrices whose values stay in their file: their parts equal those of the whole matrix,
 * to the bit, for every form of file; files that cannot be read in parts, or have changed, are
 * errors. */
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/config.h"
#include "base/memory.h"
#include "io/scratch.h"
#include "io/window.h"
#include "matrix/matrix.h"
#include "test.h"

static const char *const texts[] = {
    "%%MatrixMarket matrix coordinate real general\n"
    "5 5 12\n5 1 0.1\n1 1 2\n2 2 3\n5 5 1e-3\n2 1 -1\n3 3 0\n5 2 7\n4 3 1\n5 1 0.7\n1 5 9\n5 1 "
    "-0.3\n"
    "3 1 2\n",
    "%%MatrixMarket matrix coordinate integer general\n"
    "5 5 8\n5 4 -3\n5 5 2\n4 4 1\n3 3 7\n2 2 2\n1 1 1\n1 4 6\n3 1 12\n",
    "%%MatrixMarket matrix coordinate real symmetric\n"
    "5 5 7\n1 1 4\n2 2 4\n5 5 3\n4 2 -1\n5 1 -2\n5 3 0.5\n4 4 1\n",
    "%%MatrixMarket matrix coordinate real skew-symmetric\n"
    "5 5 3\n4 2 -1\n5 1 -2\n5 3 0.5\n",
    "%%MatrixMarket matrix coordinate complex hermitian\n"
    "5 5 7\n1 1 4 0\n2 2 4 0\n5 5 3 0\n4 2 -1 2\n5 1 -2 1\n5 3 0.5 -0.25\n3 3 1 0\n",
    "%%MatrixMarket matrix coordinate complex general\n"
    "5 5 7\n1 1 4 1\n2 2 4 0\n5 5 3 -1\n4 2 -1 2\n5 1 -2 1\n1 3 0.5 -0.25\n3 3 1 0\n",
    "%%MatrixMarket matrix coordinate pattern symmetric\n"
    "5 5 8\n1 1\n2 2\n3 3\n4 4\n5 5\n5 1\n5 2\n3 1\n",
    "%%MatrixMarket matrix coordinate pattern general\n"
    "5 5 9\n1 1\n2 2\n1 5\n3 3\n4 4\n5 5\n5 1\n5 2\n3 1\n",
    "%%MatrixMarket matrix coordinate real general\n0 0 0\n",
    "%%MatrixMarket matrix coordinate real general\n3 3 0\n",
};

enum { TEXTS = COUNT(texts), PARTS = 3 };

/* The expected matrix, read completely. */
static trs_matrix *read_whole(const char *path, trs_format format, trs_uplo uplo, bool add,
                              const trs_read_options *options) {
  trs_matrix *A, *T = NULL, *B;
  trs_matrix_info info = {.struct_size = sizeof info};
  assert_success(trs_matrix_read(&A, path, options));
  if (uplo != TRS_GENERAL) assert_success(trs_matrix_triangle(&T, A, uplo, add));
  trs_matrix_get_info(A, &info);
  assert_success(trs_matrix_convert(&B, T ? T : A, format, info.scalar));
  trs_matrix_destroy(A);
  trs_matrix_destroy(T);
  return B;
}

static void compare_part(const trs_matrix *D, const trs_matrix *W, int part) {
  size_t size = trs_scalar_size(W->scalar);
  int32_t vector[64] = {0}, count = 0;
  void *val;
  for (int32_t v = part; v < W->nvectors; v += PARTS) vector[count++] = v;
  assert_success(trs_matrix_ask(D, count, vector, &val));
  const char *at = val;
  for (int32_t k = 0; k < count; k++) {
    size_t bytes = (size_t)(W->ptr[vector[k] + 1] - W->ptr[vector[k]]) * size;
    if (bytes) assert_memory_equal(at, (char *)W->val + (size_t)W->ptr[vector[k]] * size, bytes);
    at += bytes;
  }
  trs_free(val);
}

static void compare(const trs_matrix *D, const trs_matrix *W) {
  assert_int_equal(D->format, W->format);
  assert_int_equal(D->scalar, W->scalar);
  assert_int_equal(D->nrows, W->nrows);
  assert_int_equal(D->nnz, W->nnz);
  assert_null(D->val);
  assert_memory_equal(D->ptr, W->ptr, (size_t)(W->nvectors + 1) * sizeof *W->ptr);
  if (W->nnz) assert_memory_equal(D->idx, W->idx, (size_t)W->nnz * sizeof *W->idx);
  for (int part = 0; part < PARTS; part++) compare_part(D, W, part);
}

static void compare_file(const char *path, trs_format format, trs_uplo uplo, bool add,
                         const trs_read_options *options) {
  trs_matrix *D;
  trs_status status = trs_matrix_open(&D, path, format, uplo, add, options);
  if (status == TRS_ERROR_UNSUPPORTED && format == TRS_CSC) return;
  if (status) fail_msg("%s", trs_last_error()->message);
  trs_matrix *W = read_whole(path, format, uplo, add, options);
  compare(D, W);
  trs_matrix_destroy(W);
  trs_matrix_destroy(D);
}

TEST(parts_are_those_of_the_whole) {
  for (int t = 0; t < TEXTS; t++)
    for (int kind = 0; kind < 2 * 3 * 2 * 2; kind++) {
      trs_format format = kind % 2 ? TRS_CSC : TRS_CSR;
      trs_uplo uplo = (trs_uplo)(kind / 2 % 3);
      bool add = kind / 6 % 2 && uplo != TRS_GENERAL, narrow = kind / 12;
      trs_read_options options = {.struct_size = sizeof(trs_read_options), .seed = 5};
      if (narrow) options.scalar = strstr(texts[t], "complex") ? TRS_SCOMPLEX : TRS_FLOAT;
      compare_file(scratch_text("m.mtx", texts[t]), format, uplo, add, &options);
    }
}

/* Text of many lines, which several threads read: entries in scattered order, some repeated. */
static char *long_text(int64_t n, int64_t count) {
  char *text = malloc((size_t)count * 40 + 200);
  char *at = text + sprintf(text, "%%%%MatrixMarket matrix coordinate real general\n%d %d %d\n",
                            (int)n, (int)n, (int)(count + n));
  for (int64_t k = 0; k < count + n; k++) {
    int64_t place = k * 7919 % (count + n), i = place < n ? place : place * 31 % n;
    int64_t j = place < n ? place : place * place % n;
    at += sprintf(at, "%d %d %.9g\n", (int)i + 1, (int)j + 1, 0.1 + (double)(place % 1000));
  }
  return text;
}

TEST(threads_read_the_same) {
  enum { ROWS = 60, ENTRIES = 20000 };
  char *text = long_text(ROWS, ENTRIES);
  const char *path = scratch_text("long.mtx", text);
  trs_context *ctx;
  assert_success(trs_context_create(&ctx, "threads:3"));
  const trs_read_options options = {.struct_size = sizeof(trs_read_options), .context = ctx};
  compare_file(path, TRS_CSR, TRS_LOWER, false, &options);
  compare_file(path, TRS_CSC, TRS_UPPER, false, &options);
  compare_file(path, TRS_CSR, TRS_GENERAL, false, &options);
  trs_context_destroy(ctx);
  free(text);
}

static trs_status open_and_ask(const char *path, bool add) {
  const int32_t all[] = {0, 1, 2, 3, 4};
  trs_matrix *D;
  void *val = NULL;
  trs_status status = trs_matrix_open(&D, path, TRS_CSR, TRS_LOWER, add, NULL);
  if (!status) status = trs_matrix_ask(D, 5, all, &val);
  trs_free(val);
  trs_matrix_destroy(D);
  return status;
}

#if TRS_HAVE_ZLIB && TRS_HAVE_ZSTD
/* Through windows of a few lines, and of all lines. */
TEST(compressed_files_stay_so) {
  static const char *const names[] = {"p.mtx.gz", "p.mtx.zst"};
  static const int64_t windows[] = {80, 1000, 100000, 16 << 20};
  const int64_t before = trs_window_bytes;
  char *text = long_text(60, 3000);
  for (int k = 0; k < 2 * 4; k++) {
    trs_matrix *D;
    const char *path = scratch_packed(names[k % 2], text, strlen(text));
    trs_window_bytes = windows[k / 2];
    compare_file(path, TRS_CSR, TRS_LOWER, false, NULL);
    compare_file(path, TRS_CSC, TRS_GENERAL, false, NULL);
    for (int t = 0; t < TEXTS; t++)
      compare_file(scratch_packed(names[k % 2], texts[t], strlen(texts[t])), TRS_CSR, TRS_UPPER,
                   true, NULL);
    const char *bad = "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n1 1 x\n";
    assert_failure(TRS_ERROR_FORMAT, ":4:",
                   trs_matrix_open(&D, scratch_packed(names[k % 2], bad, strlen(bad)), TRS_CSR,
                                   TRS_LOWER, 0, NULL));
    size_t size;
    path = scratch_packed(names[k % 2], text, strlen(text));
    char *bytes = scratch_load(path, &size);
    assert_failure(TRS_ERROR_FORMAT, "truncated",
                   trs_matrix_open(&D, scratch_bytes(names[k % 2], bytes, size - 9), TRS_CSR,
                                   TRS_LOWER, 0, NULL));
    free(bytes);
  }
  trs_window_bytes = 80;
  const char *path = scratch_packed("p.mtx.gz", texts[0], strlen(texts[0]));
  assert_survives_failing_allocations(open_and_ask(path, false), (void)0);
  char comment[5000];
  memset(comment, '%', sizeof comment);
  comment[0] = '\n';
  memcpy(comment + sizeof comment - 8, "\n1 1 1\n", 8);
  char whole[5200] = "%%MatrixMarket matrix coordinate real general\n5 5 1";
  strcat(whole, comment);
  trs_matrix *D;
  assert_failure(TRS_ERROR_FORMAT, "longer than",
                 trs_matrix_open(&D, scratch_packed("p.mtx.gz", whole, strlen(whole)), TRS_CSR,
                                 TRS_LOWER, 0, NULL));
  trs_window_bytes = before;
  free(text);
}
#endif

TEST(what_has_no_parts_is_refused) {
  trs_matrix *D = NULL;
#define OPEN(path) trs_matrix_open(&D, path, TRS_CSR, TRS_LOWER, 0, NULL)
  assert_failure(TRS_ERROR_FILE, "cannot open", OPEN(scratch("none.mtx")));
  assert_failure(TRS_ERROR_UNSUPPORTED, "complete matrices", OPEN("gen:poisson2d5:10"));
  assert_failure(TRS_ERROR_UNSUPPORTED, "HDF5", OPEN(scratch_text("a.h5", "x")));
  assert_failure(TRS_ERROR_UNSUPPORTED, "dense array",
                 OPEN(scratch_text("a.mtx", "%%MatrixMarket matrix array real general\n1 1\n1\n")));
  assert_failure(TRS_ERROR_STRUCTURE, "not square",
                 OPEN(scratch_text("r.mtx",
                                   "%%MatrixMarket matrix coordinate real general\n"
                                   "2 3 1\n1 1 1\n")));
  assert_failure(TRS_ERROR_FORMAT, "bad.mtx:3",
                 OPEN(scratch_text("bad.mtx",
                                   "%%MatrixMarket matrix coordinate real general\n"
                                   "2 2 1\n1 1 x\n")));
  assert_failure(TRS_ERROR_UNSUPPORTED, "not a regular file", OPEN("/dev/null"));
  assert_failure(TRS_ERROR_ARGUMENT, "empty", OPEN(""));
  const char *path = scratch_text("m.mtx", texts[0]);
  assert_failure(TRS_ERROR_UNSUPPORTED, "whole rows",
                 trs_matrix_open(&D, path, TRS_CSC, TRS_LOWER, 1, NULL));
  assert_failure(TRS_ERROR_ARGUMENT, "triangle",
                 trs_matrix_open(&D, path, TRS_CSR, TRS_GENERAL, 1, NULL));
  assert_failure(TRS_ERROR_ARGUMENT, "uplo",
                 trs_matrix_open(&D, path, TRS_CSR, (trs_uplo)3, 0, NULL));
  assert_null(D);
}

static trs_status ask_first(const trs_matrix *D) {
  const int32_t first = 0;
  void *val;
  trs_status status = trs_matrix_ask(D, 1, &first, &val);
  trs_free(val);
  return status;
}

/* Gives the new file the date of the old one. */
static void set_date(const char *path, struct timespec date) {
  const struct timespec both[2] = {date, date};
  assert_int_equal(utimensat(0, path, both, 0), 0);
}

TEST(changes_are_noticed) {
  struct stat about;
  trs_matrix *D;
  const char *text = "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 2\n";
  const char *other = "%%MatrixMarket matrix coordinate real general\n2 2 2\n2 1 1\n2 2 2\n";
  const char *path = scratch_text("c.mtx", text);
  assert_int_equal(stat(path, &about), 0);
  assert_success(trs_matrix_open(&D, path, TRS_CSR, TRS_LOWER, 0, NULL));
  assert_success(ask_first(D));
  (void)scratch_text("c.mtx", other); /* in place: same size, another pattern */
  set_date(path, about.st_mtim);
  assert_failure(TRS_ERROR_FILE, "has changed", ask_first(D));
  (void)scratch_text("c.mtx", text);
  set_date(path, (struct timespec){.tv_sec = about.st_mtim.tv_sec + 10});
  assert_failure(TRS_ERROR_FILE, "has changed", ask_first(D));
  (void)scratch_text("c.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 1\n");
  assert_failure(TRS_ERROR_FILE, "has changed", ask_first(D));
  assert_int_equal(unlink(path), 0);
  assert_failure(TRS_ERROR_FILE, "cannot open", ask_first(D));
  trs_matrix_destroy(D);
}

TEST(the_process_may_change_its_folder) {
  char before[PATH_MAX];
  trs_matrix *T;
  trs_read_options options = {.struct_size = sizeof options};
  (void)scratch_text("here.mtx", texts[0]);
  trs_matrix *W = read_whole(scratch("here.mtx"), TRS_CSR, TRS_LOWER, false, &options);
  assert_non_null(getcwd(before, sizeof before));
  assert_int_equal(chdir(scratch("")), 0);
  assert_success(trs_matrix_open(&T, "here.mtx", TRS_CSR, TRS_LOWER, false, &options));
  assert_int_equal(chdir("/"), 0);
  for (int part = 0; part < PARTS; part++) compare_part(T, W, part);
  assert_int_equal(chdir(before), 0);
  trs_matrix_destroy(T);
  trs_matrix_destroy(W);
}

TEST(every_allocation_may_fail) {
  for (int t = 0; t < 8; t++) {
    const char *path = scratch_text("m.mtx", texts[t]);
    for (int add = 0; add < 2; add++)
      assert_survives_failing_allocations(open_and_ask(path, add), (void)0);
  }
}

const test_program program = {.end = scratch_remove};
