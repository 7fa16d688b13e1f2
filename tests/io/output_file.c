/* output_file.c - a file appears complete or not at all, whatever fails. */
#define _GNU_SOURCE /* O_TMPFILE */
#include "io/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/fs.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/config.h"
#include "io/ending.h"
#include "io/io.h"
#include "io/scratch.h"
#include "test.h"

static trs_matrix *A; /* some megabytes as text */

static int make_matrix(void **state) {
  enum { N = 40000 };
  int64_t *ptr = malloc((N + 1) * sizeof *ptr);
  int32_t *idx = malloc(2 * N * sizeof *idx);
  double *val = malloc(2 * N * sizeof *val);
  for (int32_t i = 0; i < N; i++) {
    ptr[i] = 2 * i;
    idx[2 * i] = i ? i - 1 : 0;
    idx[2 * i + 1] = i ? i : 1;
    val[2 * i] = 1.0 / (i + 3);
    val[2 * i + 1] = -1.0 / (i + 7);
  }
  ptr[N] = 2 * N;
  return trs_matrix_create(&A, TRS_CSR, TRS_DOUBLE, N, N, TRS_PTR64, ptr, idx, val, TRS_TAKE);
}

static int end(void **state) {
  trs_matrix_destroy(A);
  return scratch_remove(state);
}

enum { NAMES = 2 + TRS_HAVE_ZLIB + TRS_HAVE_ZSTD };

static const char *name_of(int k) { return k ? scratch_endings[k - 1] : "a.h5"; }

static void assert_content(const char *path, const char *expected) {
  size_t length;
  char *bytes = scratch_load(path, &length);
  assert_string_equal(bytes, expected);
  free(bytes);
}

static trs_status write_text(const char *text, int64_t length, const char *path) {
  trs_output output;
  TRS_TRY(trs_output_open(&output, path));
  return trs_output_close(&output, trs_output_write(&output, text, length));
}

TEST(an_old_file_is_replaced_and_keeps_its_mode) {
  for (int k = 0; k < NAMES; k++) {
    trs_matrix *B;
    struct stat about;
    const char *path = scratch_text(name_of(k), "old");
    assert_int_equal(chmod(path, 0640), 0);
    int files = scratch_count();
    assert_success(trs_write_matrix(A, path, NULL));
    assert_int_equal(scratch_count(), files);
    if (!TRS_HAVE_HDF5 && strstr(path, ".h5")) continue;
    assert_success(trs_read_matrix(&B, path, NULL, NULL));
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0640);
    trs_matrix_destroy(B);
  }
}

/* A file size limit stands in for a full disk. */
TEST(a_full_disk_leaves_the_old_file_alone) {
  struct rlimit before, limit;
  assert_true(signal(SIGXFSZ, SIG_DFL) != SIG_ERR);
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  for (int k = 0; k < NAMES; k++) {
    static const rlim_t sizes[] = {0, 10, 1000, 20000, 500000};
    const char *path = scratch_text(name_of(k), "old");
    int files = scratch_count();
    for (int s = 0; s < 5; s++) {
      limit = before;
      limit.rlim_cur = sizes[s];
      assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
      trs_status status = trs_write_matrix(A, path, NULL);
      assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
      assert_int_equal(status, TRS_ERROR_FILE);
      assert_non_null(strstr(trs_last_error()->message, name_of(k)));
      assert_int_equal(scratch_count(), files);
      assert_content(path, "old");
    }
  }
}

TEST(a_full_device_is_an_error) {
  double x[2] = {1, 2};
  if (access("/dev/full", W_OK)) skip_test("no /dev/full");
  assert_failure(TRS_ERROR_FILE, "/dev/full", trs_write_matrix(A, "/dev/full", NULL));
  assert_failure(TRS_ERROR_FILE, "/dev/full",
                 trs_write_vectors(x, 2, 1, 2, TRS_COL_MAJOR, TRS_DOUBLE, "/dev/full", NULL));
  struct stat about;
  assert_int_equal(stat("/dev/full", &about), 0);
  assert_true(S_ISCHR(about.st_mode));
}

TEST(a_device_takes_the_text_itself) {
  assert_success(trs_write_matrix(A, "/dev/null", NULL));
  struct stat about;
  assert_int_equal(stat("/dev/null", &about), 0);
  assert_true(S_ISCHR(about.st_mode));
}

TEST(paths_that_cannot_be_written) {
  for (int k = 0; k < NAMES; k++) {
    char path[600];
    snprintf(path, sizeof path, "%s/%s", scratch("missing"), name_of(k));
    assert_failure(TRS_ERROR_FILE, path, trs_write_matrix(A, path, NULL));
    snprintf(path, sizeof path, "%s/%s", scratch_text("file", "x"), name_of(k));
    assert_failure(TRS_ERROR_FILE, path, trs_write_matrix(A, path, NULL));
  }
  assert_failure(TRS_ERROR_FILE, "directory", trs_write_matrix(A, scratch(""), NULL));
  assert_failure(TRS_ERROR_ARGUMENT, "path is NULL", trs_write_matrix(A, NULL, NULL));
  assert_failure(TRS_ERROR_ARGUMENT, "A is NULL", trs_write_matrix(NULL, scratch("a"), NULL));
}

TEST(endings_that_promise_another_format_are_refused) {
  static const char *const others[] = {"a.mtx.BZ2", "a.mtx.xz", "a.bsp", "a.mat"};
  double x[2] = {1, 2};
  int files = scratch_count();
  for (int k = 0; k < 4; k++) {
    const char *path = scratch(others[k]);
    assert_failure(TRS_ERROR_ARGUMENT, ".mtx.zst", trs_write_matrix(A, path, NULL));
    assert_failure(TRS_ERROR_ARGUMENT, "not written",
                   trs_write_vectors(x, 2, 1, 2, TRS_COL_MAJOR, TRS_DOUBLE, path, NULL));
  }
  assert_int_equal(scratch_count(), files);
}

static const char *scratch_pipe(const char *name) {
  const char *path = scratch(name);
  assert_int_equal(mkfifo(path, 0600), 0);
  return path;
}

/* A socket on which nobody listens. */
static const char *scratch_socket(const char *name) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  const char *path = scratch(name);
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
  assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
  close(fd);
  return path;
}

TEST(what_can_be_written_is_told_before) {
  char path[600], before[600], longest[PATH_MAX + 2] = "";
  const char *link = scratch("ahead.mtx");
  snprintf(path, sizeof path, "%s/x", scratch("missing"));
  assert_int_equal(symlink("not_yet.mtx", link), 0);
  int files = scratch_count() + 2;
  assert_int_equal(trs_replace_check(scratch("new.mtx")), 0);
  assert_int_equal(trs_replace_check(scratch_text("a.mtx", "old")), 0);
  assert_int_equal(trs_replace_check(link), 0);
  assert_int_equal(trs_replace_check("/dev/null"), 0);
  assert_int_equal(trs_replace_check(scratch_pipe("unread")),
                   0); /* nobody reads: it does not wait */
  assert_int_equal(trs_replace_check(scratch_socket("unheard")), ENXIO);
  assert_non_null(getcwd(before, sizeof before));
  assert_int_equal(chdir(scratch("")), 0);
  int here = trs_replace_check("here.mtx");
  assert_int_equal(chdir(before), 0);
  assert_int_equal(here, 0);
  assert_int_equal(trs_replace_check(path), ENOENT);
  assert_int_equal(trs_replace_check(scratch("")), EISDIR);
  memset(longest, 'n', PATH_MAX);
  assert_int_equal(trs_replace_check(longest), ENAMETOOLONG);
  assert_string_equal(trs_ending_refused("b/a.mat"), ".mat");
  assert_null(trs_ending_refused("b.mat/a.mtx"));
  assert_int_equal(scratch_count(), files);
  assert_content(scratch("a.mtx"), "old");
}

/* ---- Rights of the file that is replaced. ---- */

static struct stat stat_of(const char *path) {
  struct stat about;
  assert_int_equal(stat(path, &about), 0);
  return about;
}

TEST(every_mode_stays) {
  static const mode_t modes[] = {0, 0400, 0444, 0600, 0640, 0664, 0777, 0707};
  mode_t before = umask(077);
  for (size_t k = 0; k < COUNT(modes); k++) {
    const char *path = scratch_text("mode.mtx", "old");
    assert_int_equal(chmod(path, modes[k]), 0);
    assert_int_equal(trs_replace_check(path), 0);
    assert_success(write_text("new", 3, path));
    assert_int_equal(stat_of(path).st_mode & 0777, modes[k]);
    assert_int_equal(chmod(path, 0600), 0);
    assert_content(path, "new");
  }
  umask(before);
}

enum { STRANGER = 65534, OTHER_GROUP = 100 };

/* What the function returns in a process of another user who is a member of a group, or -1. */
static int as_stranger(int group, int (*function)(const char *path), const char *path) {
  int state;
  pid_t child = fork();
  if (!child) {
    gid_t groups[] = {(gid_t)group};
    if (setgroups(group >= 0, groups) || setgid(STRANGER) || setuid(STRANGER)) _exit(99);
    _exit(function(path));
  }
  assert_int_equal(waitpid(child, &state, 0), child);
  return WIFEXITED(state) ? WEXITSTATUS(state) : -1;
}

static int write_new(const char *path) { return (int)write_text("new", 3, path); }

TEST(owner_and_group_stay) {
  if (geteuid()) skip_test("only root can give files to others");
  const char *path = scratch_text("owned.mtx", "old");
  assert_int_equal(chown(path, STRANGER, OTHER_GROUP), 0);
  assert_int_equal(chmod(path, 0640), 0);
  assert_success(write_text("new", 3, path));
  assert_int_equal(stat_of(path).st_uid, STRANGER);
  assert_int_equal(stat_of(path).st_gid, OTHER_GROUP);
  assert_int_equal(stat_of(path).st_mode & 0777, 0640);
  assert_int_equal(chmod(scratch(""), 0777), 0);
  assert_int_equal(as_stranger(OTHER_GROUP, write_new, path), TRS_SUCCESS);
  assert_int_equal(stat_of(path).st_gid, OTHER_GROUP);
  assert_int_equal(stat_of(path).st_mode & 0777, 0640);
  assert_int_equal(chmod(path, 0664),
                   0); /* a group that cannot be given: its rights are those of all */
  assert_int_equal(as_stranger(-1, write_new, path), TRS_SUCCESS);
  assert_int_equal(stat_of(path).st_gid, STRANGER);
  assert_int_equal(stat_of(path).st_mode & 0777, 0644);
  assert_int_equal(chmod(scratch(""), 0700), 0);
}

TEST(files_of_others_in_a_sticky_folder_are_told_before) {
  if (geteuid()) skip_test("only root can give files to others");
  const char *path = scratch_text("theirs.mtx", "old");
  assert_int_equal(chmod(path, 0666), 0);
  assert_int_equal(chmod(scratch(""), 01777), 0);
  assert_int_equal(as_stranger(-1, trs_replace_check, path), EPERM);
  assert_int_equal(as_stranger(-1, write_new, path), TRS_ERROR_FILE);
  assert_int_equal(trs_replace_check(path), 0);
  assert_int_equal(chown(path, STRANGER, STRANGER), 0);
  assert_int_equal(as_stranger(-1, trs_replace_check, path), 0);
  assert_int_equal(chmod(scratch(""), 0755), 0);
  assert_int_equal(as_stranger(-1, trs_replace_check, path), EACCES);
  assert_int_equal(chmod(scratch(""), 0700), 0);
}

/* An access list as its extended attribute: version 2, then tag, rights and number of each entry.
 */
typedef struct access_list {
  uint32_t version;
  struct {
    uint16_t tag, rights;
    uint32_t number;
  } entry[5];
} access_list;

static const access_list list_of_a_reader = {
    2, {{1, 6, ~0u}, {2, 4, 1234}, {4, 0, ~0u}, {16, 4, ~0u}, {32, 0, ~0u}}};
static const char own_list[] = "system.posix_acl_access", of_new[] = "system.posix_acl_default";

TEST(access_lists_stay) {
  access_list found;
  const char *path = scratch_text("listed.mtx", "old");
  if (setxattr(path, own_list, &list_of_a_reader, sizeof list_of_a_reader, 0))
    skip_test("this file system has no access lists");
  assert_success(write_text("new", 3, path));
  assert_int_equal(getxattr(path, own_list, &found, sizeof found), sizeof found);
  assert_memory_equal(&found, &list_of_a_reader, sizeof found);
  assert_int_equal(stat_of(path).st_mode & 0777, 0640);
  /* a list that the folder gives to new files is not that of the old one */
  const char *plain = scratch_text("unlisted.mtx", "old");
  assert_int_equal(chmod(plain, 0640), 0);
  assert_int_equal(setxattr(scratch(""), of_new, &list_of_a_reader, sizeof list_of_a_reader, 0), 0);
  assert_success(write_text("new", 3, plain));
  assert_int_equal(getxattr(plain, own_list, &found, sizeof found), -1);
  assert_int_equal(stat_of(plain).st_mode & 0777, 0640);
  assert_success(write_text("new", 3, scratch("listed_new.mtx")));
  assert_int_equal(getxattr(scratch("listed_new.mtx"), own_list, &found, sizeof found),
                   sizeof found);
  assert_int_equal(removexattr(scratch(""), of_new), 0);
}

/* chattr +i */
static bool set_flag(const char *path, long flag, bool on) {
  long flags = 0;
  int fd = open(path, O_RDONLY);
  bool good = fd >= 0 && !ioctl(fd, FS_IOC_GETFLAGS, &flags);
  flags = on ? flags | flag : flags & ~flag;
  good = good && !ioctl(fd, FS_IOC_SETFLAGS, &flags);
  if (fd >= 0) close(fd);
  return good;
}

TEST(an_immutable_file_stays) {
  const char *path = scratch_text("immutable.mtx", "old");
  int files = scratch_count();
  if (!set_flag(path, FS_IMMUTABLE_FL, true)) skip_test("files cannot be made immutable here");
  trs_status status = write_text("new", 3, path);
  assert_true(set_flag(path, FS_IMMUTABLE_FL, false));
  assert_int_equal(status, TRS_ERROR_FILE);
  assert_int_equal(scratch_count(), files);
  assert_content(path, "old");
}

TEST(names_that_are_too_long_are_told_before) {
  char name[300], path[PATH_MAX + 300], folder[201];
  memset(name, 'n', sizeof name);
  name[256] = '\0';
  int files = scratch_count();
  assert_int_equal(trs_replace_check(scratch(name)), ENAMETOOLONG);
  assert_failure(TRS_ERROR_FILE, "name too long", write_text("new", 3, scratch(name)));
  /* the longest path: that of the temporary file would be longer */
  memset(folder, 'f', sizeof folder - 1);
  folder[sizeof folder - 1] = '\0';
  size_t first = strlen(strcpy(path, scratch("")));
  while (path[first - 1] == '/') path[--first] = '\0';
  size_t length = first;
  while (length + sizeof folder < PATH_MAX - 1 - 10) {
    length += (size_t)snprintf(path + length, sizeof path - length, "/%s", folder);
    assert_int_equal(mkdir(path, 0700), 0);
  }
  memset(name, 'n', sizeof name);
  const size_t rest = PATH_MAX - 1 - length - 1;
  assert_true(rest > 0 && rest < 256);
  name[rest] = '\0';
  snprintf(path + length, sizeof path - length, "/%s", name);
  assert_int_equal(strlen(path), PATH_MAX - 1);
  assert_int_equal(trs_replace_check(path), 0);
  assert_success(write_text("new", 3, path));
  assert_success(write_text("new", 3, path));
  assert_int_equal(unlink(path), 0);
  for (; length > first; length -= sizeof folder) {
    path[length] = '\0';
    assert_int_equal(rmdir(path), 0);
  }
  assert_int_equal(scratch_count(), files);
}

TEST(a_folder_may_go_on_while_the_process_moves) {
  char before[PATH_MAX];
  trs_output output;
  assert_non_null(getcwd(before, sizeof before));
  assert_int_equal(chdir(scratch("")), 0);
  assert_success(trs_output_open(&output, "moved.mtx"));
  assert_int_equal(chdir("/"), 0);
  assert_success(trs_output_close(&output, trs_output_write(&output, "new", 3)));
  assert_int_equal(chdir(before), 0);
  assert_content(scratch("moved.mtx"), "new");
}

TEST(the_longest_names_are_written) {
  char name[256];
  memset(name, 'n', sizeof name);
  strcpy(name + sizeof name - 5, ".mtx");
  assert_success(trs_write_matrix(A, scratch(name), NULL));
  assert_int_equal(access(scratch(name), R_OK), 0);
}

TEST(links_are_followed) {
  const char *target = scratch_text("target.mtx", "old"), *link = scratch("link.mtx");
  struct stat about;
  assert_int_equal(symlink("target.mtx", link), 0);
  assert_success(trs_write_matrix(A, link, NULL));
  assert_int_equal(lstat(link, &about), 0);
  assert_true(S_ISLNK(about.st_mode));
  assert_int_equal(stat(target, &about), 0);
  assert_true(about.st_size > 1000);
  assert_int_equal(symlink("later.mtx", scratch("early.mtx")), 0);
  assert_int_equal(symlink("early.mtx", scratch("earlier.mtx")), 0);
  assert_success(trs_write_matrix(A, scratch("earlier.mtx"), NULL));
  assert_int_equal(lstat(scratch("early.mtx"), &about), 0);
  assert_true(S_ISLNK(about.st_mode));
  assert_int_equal(lstat(scratch("later.mtx"), &about), 0);
  assert_true(S_ISREG(about.st_mode) && about.st_size > 1000);
  assert_int_equal(symlink("nowhere/x", scratch("broken.mtx")), 0);
  assert_failure(TRS_ERROR_FILE, "broken.mtx", trs_write_matrix(A, scratch("broken.mtx"), NULL));
}

/* /dev/stdout is such a link if standard output is a pipe. */
TEST(a_link_to_a_pipe_is_written_to) {
  int ends[2];
  char file[64], text[16] = "";
  if (access("/proc/self/fd", X_OK)) skip_test("no /proc");
  assert_int_equal(pipe(ends), 0);
  snprintf(file, sizeof file, "/proc/self/fd/%d", ends[1]);
  assert_int_equal(symlink(file, scratch("pipe")), 0);
  assert_success(write_text("words", 5, scratch("pipe")));
  assert_int_equal(read(ends[0], text, sizeof text), 5);
  assert_string_equal(text, "words");
  close(ends[0]);
  close(ends[1]);
}

/* The program neither ignores nor blocks the signal, which would end it. */
TEST(a_reader_that_has_left_is_an_error) {
  int ends[2];
  char file[64];
  sigset_t pending;
  if (access("/proc/self/fd", X_OK)) skip_test("no /proc");
  assert_true(signal(SIGPIPE, SIG_DFL) != SIG_ERR);
  for (int k = 1; k < NAMES; k++) {
    assert_int_equal(pipe(ends), 0);
    snprintf(file, sizeof file, "/proc/self/fd/%d", ends[1]);
    unlink(scratch(name_of(k)));
    assert_int_equal(symlink(file, scratch(name_of(k))), 0);
    close(ends[0]);
    assert_failure(TRS_ERROR_FILE, "Broken pipe", trs_write_matrix(A, scratch(name_of(k)), NULL));
    close(ends[1]);
    unlink(scratch(name_of(k)));
  }
  sigpending(&pending);
  assert_int_equal(sigismember(&pending, SIGPIPE), 0);
}

static void *read_some(void *fd) {
  char bytes[100];
  (void)!read(*(int *)fd, bytes, sizeof bytes);
  close(*(int *)fd);
  return NULL;
}

/* The kernel raises the signal too if a part is written before the reader leaves. */
TEST(a_reader_that_leaves_is_an_error) {
  for (int k = 0; k < 200; k++) {
    int ends[2];
    char name[64];
    pthread_t reader;
    assert_int_equal(pipe(ends), 0);
    snprintf(name, sizeof name, "/dev/fd/%d", ends[1]);
    if (access(name, W_OK)) skip_test("no /dev/fd");
    assert_int_equal(pthread_create(&reader, NULL, read_some, &ends[0]), 0);
    assert_failure(TRS_ERROR_FILE, "Broken pipe", trs_write_matrix(A, name, NULL));
    pthread_join(reader, NULL);
    close(ends[1]);
  }
}

static void *read_slowly(void *fd) {
  static char bytes[1 << 16];
  int64_t sum = 0;
  for (ssize_t got; (got = read(*(int *)fd, bytes, sizeof bytes)) > 0;) sum += got;
  return (void *)(intptr_t)sum;
}

/* Another program, which has the pipe too, may have made it so. */
TEST(a_nonblocking_pipe_takes_all) {
  int ends[2];
  char name[64];
  void *sum;
  size_t length;
  pthread_t reader;
  assert_int_equal(pipe(ends), 0);
  assert_int_equal(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
  snprintf(name, sizeof name, "/dev/fd/%d", ends[1]);
  if (access(name, W_OK)) skip_test("no /dev/fd");
  assert_int_equal(pthread_create(&reader, NULL, read_slowly, &ends[0]), 0);
  assert_success(trs_write_matrix(A, name, NULL));
  close(ends[1]);
  pthread_join(reader, &sum);
  close(ends[0]);
  assert_success(trs_write_matrix(A, scratch("whole.mtx"), NULL));
  free(scratch_load(scratch("whole.mtx"), &length));
  assert_int_equal((intptr_t)sum, length);
}

/* /dev/stdout is such a link if standard output goes to a file, by > or by >>. */
TEST(what_is_open_is_written_where_it_stands) {
  static const int flags[] = {O_WRONLY, O_WRONLY | O_APPEND};
  if (access("/proc/self/fd", X_OK)) skip_test("no /proc");
  for (int k = 0; k < 2; k++) {
    char name[64], path[512];
    snprintf(path, sizeof path, "%s", scratch_text("open.mtx", k ? "old " : ""));
    int fd = open(path, flags[k]);
    assert_true(fd >= 0);
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    unlink(scratch("open"));
    assert_int_equal(symlink(name, scratch("open")), 0);
    assert_int_equal(trs_replace_check(scratch("open")), 0);
    assert_success(write_text("first ", 6, scratch("open")));
    assert_int_equal(write(fd, "own ", 4), 4);
    snprintf(name, sizeof name, "/dev/fd/%d", fd);
    assert_success(write_text("last", 4, access(name, W_OK) ? scratch("open") : name));
    assert_content(path, k ? "old first own last" : "first own last");
    assert_int_equal(close(fd), 0);
  }
  int fd = open(scratch("open.mtx"), O_RDONLY);
  char name[64];
  snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
  assert_int_equal(trs_replace_check(name), EBADF);
  assert_failure(TRS_ERROR_FILE, name, write_text("x", 1, name));
  assert_content(scratch("open.mtx"), "old first own last");
  close(fd);
}

/* The name of a descriptor has many spellings: none of them is replaced. */
TEST(descriptors_are_known_by_any_name) {
  static const char *const folders[] = {"/proc/thread-self/fd", "/dev/../dev/fd", "/dev//fd"};
  char process[64], path[512], name[128], expected[64] = "";
  if (access("/proc/thread-self/fd", X_OK)) skip_test("no /proc");
  snprintf(process, sizeof process, "/proc/%d/fd", (int)getpid());
  snprintf(path, sizeof path, "%s", scratch_text("spelt.mtx", ""));
  const int fd = open(path, O_WRONLY | O_APPEND);
  assert_true(fd >= 0);
  for (int k = 0; k < 4; k++) {
    const char *folder = k < 3 ? folders[k] : process;
    if (access(folder, X_OK)) continue;
    snprintf(name, sizeof name, "%s/%d", folder, fd);
    assert_success(write_text("new ", 4, name));
    assert_int_equal(write(fd, "own ", 4), 4);
    strcat(expected, "new own ");
    assert_content(path, expected);
  }
  assert_true(*expected);
  close(fd);
}

TEST(texts_are_written_as_matrices_are) {
  struct stat about;
  const char *path = scratch_text("words.svg", "old");
  assert_int_equal(chmod(path, 0600), 0);
  assert_success(write_text("new words", 9, path));
  assert_content(path, "new words");
  assert_int_equal(stat(path, &about), 0);
  assert_int_equal(about.st_mode & 0777, 0600);
  assert_success(write_text("", 0, path));
  assert_content(path, "");
}

static void kill_a_writer(void) {
  trs_output output;
  if (trs_output_open(&output, scratch("killed.mtx")) == TRS_SUCCESS)
    (void)!trs_output_write(&output, "new", 3);
  raise(SIGKILL);
}

static bool nameless_files(void) {
#ifdef O_TMPFILE
  int fd = open(scratch(""), O_TMPFILE | O_RDWR, 0600);
  if (fd >= 0) close(fd);
  return fd >= 0 && !access("/proc/self/fd", X_OK);
#else
  return false;
#endif
}

TEST(a_killed_writer_leaves_nothing) {
  int status, files = scratch_count();
  if (!nameless_files()) skip_test("this file system has no O_TMPFILE");
  pid_t child = fork();
  if (!child) kill_a_writer();
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFSIGNALED(status));
  assert_int_equal(scratch_count(), files);
}

TEST(a_failure_removes_the_temporary_file) {
  trs_output output;
  const char *path = scratch_text("b.mtx", "old");
  int files = scratch_count();
  assert_success(trs_output_open(&output, path));
  assert_success(trs_output_write(&output, "new", 3));
  assert_content(path, "old");
  assert_int_equal(trs_output_close(&output, TRS_ERROR_MEMORY), TRS_ERROR_MEMORY);
  assert_int_equal(scratch_count(), files);
  assert_content(path, "old");
}

const test_program program = {.begin = make_matrix, .end = end};
