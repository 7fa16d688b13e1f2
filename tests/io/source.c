/* source.c - files that other programs change while they are read: an error with that reason, never
 * a signal and never a mixture of both contents. */
#include "io/source.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/config.h"
#include "base/memory.h"
#include "io/io.h"
#include "io/scratch.h"
#include "io/window.h"
#include "test.h"

static trs_team *team;
static int64_t default_window;

static int begin(void **state) {
  default_window = trs_window_bytes;
  return trs_team_create(&team, 3);
}

static int end(void **state) {
  trs_team_destroy(team);
  return scratch_remove(state);
}

enum { LINES = 20000 };

static char *lines_of(const char *head, const char *line) {
  char *text = malloc(strlen(head) + LINES * strlen(line) + 1), *at = stpcpy(text, head);
  for (int k = 0; k < LINES; k++) at = stpcpy(at, line);
  return text;
}

static char *matrix_text(void) {
  return lines_of("%%MatrixMarket matrix coordinate real general\n9 9 20000\n", "7 8 0.25\n");
}

static char *array_text(void) {
  return lines_of("%%MatrixMarket matrix array real general\n20000 1\n", "0.123456789\n");
}

/* An old date, so that any change has another one. */
static void make_old(const char *path) {
  const struct timespec both[2] = {{.tv_sec = 1000000}, {.tv_sec = 1000000}};
  assert_int_equal(utimensat(0, path, both, 0), 0);
}

/* ---- A change in the middle of reading, made by the progress callback. ---- */

typedef enum change { SHORTEN, EMPTY, GROW, OVERWRITE, CHANGES } change;

typedef struct intruder {
  const char *path;
  change kind;
  bool done;
} intruder;

static void intrude(void *user, const char *phase, double done) {
  intruder *i = user;
  (void)phase, (void)done;
  if (i->done) return;
  i->done = true;
  int fd = open(i->path, O_RDWR);
  struct stat about;
  assert_true(fd >= 0 && !fstat(fd, &about));
  if (i->kind == SHORTEN) assert_int_equal(ftruncate(fd, about.st_size / 2), 0);
  if (i->kind == EMPTY) assert_int_equal(ftruncate(fd, 0), 0);
  if (i->kind == GROW) assert_int_equal(pwrite(fd, "9 9 9\n", 6, about.st_size), 6);
  if (i->kind == OVERWRITE) assert_int_equal(pwrite(fd, "XXXXXX", 6, about.st_size / 3), 6);
  close(fd);
}

static void read_and_change(const char *name, const char *text, change kind, bool vectors,
                            trs_team *with) {
  const char *path = scratch_packed(name, text, strlen(text));
  intruder i = {path, kind, false};
  trs_read_options options = {
      .struct_size = sizeof(trs_read_options), .progress = intrude, .progress_user = &i};
  void *values;
  int64_t nrows, ncols;
  trs_matrix *A;
  make_old(path);
  if (vectors)
    assert_failure(TRS_ERROR_FILE, "has changed while it was being read",
                   trs_read_vectors(&values, &nrows, &ncols, TRS_DOUBLE, path, with, &options));
  else
    assert_failure(TRS_ERROR_FILE, "has changed while it was being read",
                   trs_read_matrix(&A, path, with, &options));
  assert_non_null(strstr(trs_last_error()->message, name));
}

TEST(changes_are_told) {
  static const char *const names[] = {
    "c.mtx",
#if TRS_HAVE_ZLIB
    "c.mtx.gz",
#endif
#if TRS_HAVE_ZSTD
    "c.mtx.zst",
#endif
  };
  static const int64_t windows[] = {4096, 1 << 24};
  char *matrix = matrix_text(), *array = array_text();
  for (size_t n = 0; n < COUNT(names); n++)
    for (int kind = 0; kind < CHANGES; kind++)
      for (int how = 0; how < 8; how++) {
        trs_window_bytes = windows[how / 4];
        read_and_change(names[n], how % 2 ? array : matrix, (change)kind, how % 2,
                        how / 2 % 2 ? team : NULL);
      }
  trs_window_bytes = default_window;
  free(matrix);
  free(array);
}

/* ---- A change at any moment, by a program that rewrites the file. ---- */

typedef struct rewriter {
  const char *path, *text;
  atomic_bool stop;
} rewriter;

static void *rewrite(void *argument) {
  rewriter *r = argument;
  const size_t length = strlen(r->text);
  while (!atomic_load(&r->stop)) {
    int fd = open(r->path, O_WRONLY);
    if (fd < 0 || ftruncate(fd, 0)) abort();
    usleep(100);
    if (pwrite(fd, r->text, length, 0) != (ssize_t)length) abort();
    close(fd);
    usleep(700);
  }
  return NULL;
}

TEST(a_file_that_is_written_again_and_again) {
  enum { TRIES = 1500 };
  char *text = matrix_text();
  rewriter r = {.path = scratch_text("w.mtx", text), .text = text};
  pthread_t thread;
  int refused = 0;
  pthread_create(&thread, NULL, rewrite, &r);
  trs_window_bytes = 1 << 14;
  for (int k = 0; k < TRIES; k++) {
    trs_matrix *A;
    trs_status status = trs_read_matrix(&A, r.path, team, NULL);
    if (status && status != TRS_ERROR_FILE && status != TRS_ERROR_FORMAT)
      fail_msg("%s", trs_last_error()->message); /* FORMAT: the file did not change while it was
                                                    empty */
    refused += status != TRS_SUCCESS;
    trs_matrix_destroy(A);
  }
  trs_window_bytes = default_window;
  atomic_store(&r.stop, true);
  pthread_join(thread, NULL);
  assert_true(refused > 0);
  free(text);
}

/* ---- Windows. ---- */

TEST(heads_and_lines_at_the_edges_of_windows) {
  char text[800];
  for (int64_t window = 47; window < 140; window++)
    for (int comments = 0; comments < 6; comments++) {
      trs_matrix *A;
      strcpy(text, "%%MatrixMarket matrix coordinate real general\n");
      for (int k = 0; k < comments; k++) strcat(text, "% a comment of 32 characters ...\n");
      strcat(text, "3 3 3\n1 1 1.5\n% between\n\n2 2 2.5D+0\n  % another\n3 3 3.5\n% behind\n");
      trs_window_bytes = window;
      assert_success(
          trs_read_matrix(&A, scratch_text("e.mtx", text), comments % 2 ? team : NULL, NULL));
      trs_matrix_info info = {.struct_size = sizeof info};
      trs_matrix_get_info(A, &info);
      assert_int_equal(info.nnz, 3);
      assert_int_equal(info.ndiagonal, 3);
      trs_matrix_destroy(A);
    }
  trs_window_bytes = default_window;
}

/* Text is never in memory as a whole if a window holds a part of it. */
TEST(large_files_take_no_more_memory) {
  char *text = matrix_text();
  const char *path = scratch_text("l.mtx", text);
  trs_context *ctx;
  trs_matrix *A;
  assert_success(trs_context_create(&ctx, "threads:1"));
  trs_window_bytes = 4096;
  trs_read_options options = {.struct_size = sizeof(trs_read_options),
                              .context = ctx,
                              .max_bytes = 330000}; /* 20000 entries of 12 bytes */
  assert_success(trs_matrix_read(&A, path, &options));
  trs_matrix_destroy(A);
  trs_window_bytes = default_window;
  trs_context_destroy(ctx);
  free(text);
}

const test_program program = {.begin = begin, .end = end};
