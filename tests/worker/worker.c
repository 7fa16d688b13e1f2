/* worker.c - every misbehaviour of a foreign library in its process becomes an error, and the
 * program's signals, children, files and output are as without that process. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/config.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/timer.h"
#include "factor/kinds.h"
#include "io/generated.h"
#include "io/scratch.h"
#include "matrix/matrix.h"
#include "order/graph.h"
#include "order/methods.h"
#include "test.h"
#include "worker/worker.h"

static trs_matrix *small, *large;
static trs_graph graph, large_graph;

static int begin(void **state) {
  assert_success(trs_generated.make(&small, "gen:poisson2d5:30", NULL, NULL, NULL));
  assert_success(trs_generated.make(&large, "gen:poisson3d7:40", NULL, NULL, NULL));
  assert_success(trs_graph_build(&graph, small));
  return trs_graph_build(&large_graph, large);
}

static int end(void **state) {
  trs_matrix_destroy(small);
  trs_matrix_destroy(large);
  trs_graph_free(&graph);
  trs_graph_free(&large_graph);
  return scratch_remove(state);
}

/* Restores the real programs. */
static int restore(void **state) {
  unsetenv("TRIREME_WORKERS");
  unsetenv("TRIREME_WORKER_SECONDS");
  unsetenv("TRIREME_WORKER_MB");
  signal(SIGCHLD, SIG_DFL);
  return 0;
}

static void stand_in(const char *what) {
  static char folder[PATH_MAX];
  if (!*folder) {
    char *slash;
    assert_int_equal(symlink(TRIREME_STAND_IN, scratch("trireme-worker-superlu")), 0);
    snprintf(folder, sizeof folder, "%s", scratch("trireme-worker-metis"));
    assert_int_equal(symlink(TRIREME_STAND_IN, folder), 0);
    slash = strrchr(folder, '/');
    *slash = 0;
  }
  setenv("TRIREME_WORKERS", folder, 1);
  setenv("STAND_IN", what, 1);
}

static trs_status order(const trs_graph *g) {
  int32_t *perm = malloc((size_t)g->n * sizeof *perm);
  trs_status status = trs_order_metis(perm, g);
  free(perm);
  return status;
}

static int count_files(void) {
  DIR *directory = opendir("/proc/self/fd");
  int count = 0;
  assert_non_null(directory);
  while (readdir(directory)) count++;
  closedir(directory);
  return count;
}

static void assert_no_child(void) {
  assert_int_equal(waitpid(-1, NULL, __WALL | WNOHANG), -1);
  assert_int_equal(errno, ECHILD);
}

TEST(what_ends_it_is_named) {
  static const struct {
    const char *what;
    trs_status status;
    const char *words;
  } ends[] = {
      {"exit", TRS_ERROR_INTERNAL, "METIS ended its process with exit status 7: no more of this"},
      {"memory", TRS_ERROR_MEMORY, "METIS ran out of memory: malloc fails"},
      {"mapping", TRS_ERROR_MEMORY, "METIS ran out of memory: x.so: failed to map segment"},
      {"abort", TRS_ERROR_INTERNAL, "METIS ended with signal 6 (Aborted)"},
      {"kill", TRS_ERROR_INTERNAL, "METIS ended with signal 9 (Killed): it was killed, perhaps"},
      {"fault", TRS_ERROR_INTERNAL, "METIS ended with signal 11 (Segmentation fault)"},
      {"old", TRS_ERROR_UNSUPPORTED, "trireme-worker-metis is not of this build"},
      {"short", TRS_ERROR_UNSUPPORTED, "trireme-worker-metis is not of this build"},
      {"nothing", TRS_ERROR_INTERNAL, "METIS: an array of its answer is missing"},
      {"zeros", TRS_ERROR_ARGUMENT, "METIS's order"},
  };
  int before = count_files();
  for (size_t k = 0; k < COUNT(ends); k++) {
    stand_in(ends[k].what);
    assert_failure(ends[k].status, ends[k].words, order(&graph));
    assert_no_child();
  }
  assert_int_equal(count_files(), before);
}

TEST(one_that_hangs_is_stopped) {
  double start = trs_seconds();
  stand_in("hang");
  setenv("TRIREME_WORKER_SECONDS", "0.2", 1);
  assert_failure(TRS_ERROR_STALLED, "METIS was stopped after 0.2 seconds", order(&graph));
  assert_true(trs_seconds() - start < 60);
  assert_no_child();
}

/* A worker that reads a file: its processor time counts, and some patience. */
static trs_status read_file(const char *what) {
  const trs_worker_job job = {"metis", "a reader", "file.h5", -1};
  trs_worker *w;
  trs_worker_message m = {0};
  stand_in(what);
  assert_success(trs_worker_start(&w, &job));
  trs_worker_limit(w, 0.1, 0);
  const trs_status status = trs_worker_ask(w, &m);
  trs_worker_end(w);
  return status;
}

TEST(a_busy_machine_is_no_damaged_file) {
  const double start = trs_seconds();
  assert_success(read_file("late"));
  assert_failure(TRS_ERROR_FORMAT, "was stopped after", read_file("busy"));
  assert_failure(TRS_ERROR_FORMAT, "was stopped after", read_file("hang"));
  assert_true(trs_seconds() - start < 60);
  assert_no_child();
}

typedef struct listener {
  const char *phase; /* the longest silence is measured from this phase on */
  int calls;
  double last, silence;
  char text[64];
} listener;

static void listen(void *user, const char *phase, double done) {
  listener *l = user;
  const double now_it_is = trs_seconds();
  assert_true(done >= 0 && done <= 1);
  if (strncmp(phase, l->phase, strlen(l->phase))) return;
  if (l->calls++ && now_it_is - l->last > l->silence) l->silence = now_it_is - l->last;
  l->last = now_it_is;
  if (done < 1) snprintf(l->text, sizeof l->text, "%s", phase);
}

/* A factorisation whose library says nothing for 3.2 seconds, and is then stopped. */
static void assert_told(trs_order order, const char *phase, const char *words) {
  listener l = {.phase = phase};
  const trs_factor_options options = {.struct_size = sizeof(trs_factor_options),
                                      .order = order,
                                      .progress = listen,
                                      .progress_user = &l};
  trs_factors *F;
  trs_lu_by_superlu = true;
  assert_failure(TRS_ERROR_STALLED, words, trs_factor(&F, small, &options));
  trs_lu_by_superlu = false;
  assert_no_child();
  if (l.calls < 6 || l.silence > 1) /* a call each half second, on a machine with other work */
    print_message("%d calls, %g seconds without one\n", l.calls, l.silence);
  assert_in_range(l.calls, 3, 20);
  assert_true(strstr(l.text, " s") && strncmp(l.text, phase, strlen(phase)) == 0);
}

TEST(one_that_is_silent_does_not_silence_the_call) {
  if (!TRS_HAVE_SUPERLU) skip_test("this build has no SuperLU");
  stand_in("hang");
  setenv("TRIREME_WORKER_SECONDS", "3.2", 1);
  assert_told(TRS_ORDER_NATURAL, "factoring", "SuperLU was stopped after 3.2 seconds");
  assert_told(TRS_ORDER_ND, "ordering", "METIS was stopped after 3.2 seconds");
}

static int flag;

static void *set_flag(void *unused) {
  usleep(100000);
  __atomic_store_n(&flag, 1, __ATOMIC_RELAXED);
  return unused;
}

TEST(one_whose_call_is_cancelled_is_killed) {
  pthread_t thread;
  int files = count_files();
  stand_in("hang");
  assert_success(trs_set_cancel_flag(&flag));
  pthread_create(&thread, NULL, set_flag, NULL);
  assert_failure(TRS_ERROR_CANCELLED, "cancelled", order(&graph));
  pthread_join(thread, NULL);
  assert_no_child();
  assert_int_equal(count_files(), files);
  assert_success(trs_set_cancel_flag(NULL));
}

TEST(variables_that_are_no_numbers_are_refused) {
  static const char *const names[] = {"TRIREME_WORKER_SECONDS", "TRIREME_WORKER_MB",
                                      "TRIREME_BLAS_THREADS"};
  static const char *const values[] = {"ten", "10 s", "-1"};
  for (int k = 0; k < 9; k++) {
    char said[100];
    snprintf(said, sizeof said, "%s is \"%s\": it must be a number", names[k / 3], values[k % 3]);
    setenv(names[k / 3], values[k % 3], 1);
    assert_failure(TRS_ERROR_ARGUMENT, said, order(&graph));
    unsetenv(names[k / 3]);
    assert_no_child();
  }
}

TEST(one_that_is_missing_is_named) {
  setenv("TRIREME_WORKERS", "/nowhere", 1);
  assert_failure(TRS_ERROR_UNSUPPORTED,
                 "/nowhere/trireme-worker-metis does not exist; TRIREME_WORKERS", order(&graph));
}

/* ---- Programs that others planted. ---- */

/* scratch(FOLDER)/trireme-worker-metis, which leaves a file scratch("ran"). */
static void plant(const char *folder) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/trireme-worker-metis", scratch(folder));
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fprintf(file, "#!/bin/sh\n: > '%s'\n", scratch("ran"));
  fclose(file);
  assert_int_equal(chmod(path, 0755), 0);
}

static void assert_not_run(const char *words) {
  assert_failure(TRS_ERROR_UNSUPPORTED, words, order(&graph));
  assert_int_equal(access(scratch("ran"), F_OK), -1);
  assert_no_child();
}

TEST(one_that_others_can_write_is_not_run) {
  char planted[PATH_MAX];
  mkdir(scratch("open"), 0755);
  mkdir(scratch("open/in"), 0755);
  plant("open/in");
  snprintf(planted, sizeof planted, "%s/trireme-worker-metis", scratch("open/in"));
  setenv("TRIREME_WORKERS", scratch("open/in"), 1);
  assert_int_equal(chmod(scratch("open"), 0777), 0);
  assert_not_run("/open (mode 777); let nobody else write to the program and its folders (chmod");
  assert_int_equal(chmod(scratch("open"), 0755), 0);
  assert_int_equal(chmod(scratch("open/in"), 01777), 0);
  assert_not_run("other users can write to the folder of");
  assert_int_equal(chmod(scratch("open/in"), 0755), 0);
  assert_int_equal(chmod(planted, 0757), 0);
  assert_not_run("trireme-worker-metis (mode 757)");
  assert_int_equal(chmod(planted, 0644), 0);
  assert_not_run("trireme-worker-metis is not run: it is not executable");
  assert_int_equal(chmod(planted, 0755), 0);
  if (geteuid() == 0) {
    assert_int_equal(chmod(planted, 0775), 0);
    assert_not_run("trireme-worker-metis (mode 775)");
    assert_int_equal(chmod(planted, 0755), 0);
    assert_int_equal(chown(planted, 12345, 0), 0);
    assert_not_run("trireme-worker-metis belongs to another user (12345)");
  }
}

TEST(a_folder_relative_to_the_current_one_is_refused) {
  setenv("TRIREME_WORKERS", "libexec", 1);
  assert_failure(TRS_ERROR_UNSUPPORTED, "it is named relative to the current folder",
                 order(&graph));
}

#ifdef TRIREME_SHARED
/* A program that loads the library by a relative path, and then changes its folder. */
static int load_and_move(void) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "lib/%s", strrchr(TRIREME_SHARED, '/') + 1);
  if (chdir(scratch("here"))) return 10;
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library || chdir(scratch("elsewhere"))) return 11;
  __typeof__(&trs_matrix_read) read_matrix;
  __typeof__(&trs_factor) factor;
  *(void **)&read_matrix = dlsym(library, "trs_matrix_read");
  *(void **)&factor = dlsym(library, "trs_factor");
  const trs_factor_options options = {.struct_size = sizeof options, .order = TRS_ORDER_ND};
  trs_matrix *A;
  trs_factors *F;
  if (read_matrix(&A, "gen:poisson2d5:30", NULL)) return 12;
  return (int)factor(&F, A, &options);
}

TEST(the_current_folder_is_not_searched) {
  static const char *const folders[] = {"here", "elsewhere", "elsewhere/lib", "elsewhere/libexec",
                                        "elsewhere/libexec/trireme"};
  char lib[PATH_MAX];
  int how;
  for (size_t k = 0; k < COUNT(folders); k++) mkdir(scratch(folders[k]), 0755);
  snprintf(lib, sizeof lib, "%s", TRIREME_SHARED);
  *strrchr(lib, '/') = 0;
  assert_int_equal(symlink(lib, scratch("here/lib")), 0);
  plant("elsewhere/libexec/trireme");
  pid_t child = fork();
  if (child == 0) _exit(load_and_move());
  assert_int_equal(waitpid(child, &how, 0), child);
  assert_int_equal(access(scratch("ran"), F_OK), -1);
  assert_int_equal(how, 0);
}
#endif

TEST(blas_has_one_thread_unless_told_otherwise) {
  stand_in("threads");
  setenv("OPENBLAS_NUM_THREADS", "16", 1);
  assert_failure(TRS_ERROR_INTERNAL, "status 0: 1 1", order(&graph));
  setenv("TRIREME_BLAS_THREADS", "3", 1);
  assert_failure(TRS_ERROR_INTERNAL, "status 0: 3 3", order(&graph));
  unsetenv("TRIREME_BLAS_THREADS");
  unsetenv("OPENBLAS_NUM_THREADS");
}

/* The process number of the stand-in, once it is written. */
static pid_t read_number(const char *path) {
  for (int tries = 0; tries < 6000; tries++) {
    FILE *file = fopen(path, "r");
    long pid = 0;
    int found = file ? fscanf(file, "%ld", &pid) : 0;
    if (file) fclose(file);
    if (found == 1) return (pid_t)pid;
    usleep(10000);
  }
  fail_msg("the stand-in has not started");
  return 0;
}

TEST(it_ends_with_the_program) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s", scratch("number"));
  stand_in("hang");
  setenv("STAND_IN_FILE", path, 1);
  pid_t child = fork();
  if (child == 0) _exit(order(&graph) ? 1 : 0);
  pid_t worker = read_number(path);
  unsetenv("STAND_IN_FILE");
  kill(child, SIGKILL);
  assert_int_equal(waitpid(child, NULL, 0), child);
  for (int tries = 0; tries < 6000 && !kill(worker, 0); tries++) {
    char line[256] = "", name[64];
    snprintf(name, sizeof name, "/proc/%ld/stat", (long)worker);
    FILE *file = fopen(name, "r");
    if (file && fgets(line, sizeof line, file) && strstr(line, ") Z ")) worker = INT_MAX;
    if (file) fclose(file); /* a zombie if no process adopts it */
    usleep(10000);
  }
  assert_int_equal(kill(worker, 0), -1);
}

/* ---- Signals of the program. ---- */

static atomic_int terms, children, done;

static void count_signal(int number) {
  if (number == SIGTERM) terms++;
  if (number == SIGCHLD) children++;
}

static void *send_terms(void *unused) {
  while (!atomic_load(&done)) {
    kill(getpid(), SIGTERM);
    usleep(2000);
  }
  return unused;
}

static void *order_large(void *perm) { return trs_order_metis(perm, &large_graph) ? perm : NULL; }

TEST(signals_are_the_programs) {
  size_t bytes = (size_t)large_graph.n * sizeof(int32_t);
  int32_t *expected = malloc(bytes), *perm = malloc(bytes);
  struct sigaction act = {.sa_handler = count_signal}, old_term, old_child;
  assert_success(trs_order_metis(expected, &large_graph));
  sigaction(SIGTERM, &act, &old_term);
  sigaction(SIGCHLD, &act, &old_child);
  for (int in_thread = 0; in_thread < 2; in_thread++) {
    pthread_t sender, orderer;
    void *failed = NULL;
    atomic_store(&terms, 0);
    atomic_store(&children, 0);
    atomic_store(&done, 0);
    memset(perm, 0, bytes);
    pthread_create(&sender, NULL, send_terms, NULL);
    if (in_thread) {
      pthread_create(&orderer, NULL, order_large, perm);
      pthread_join(orderer, &failed);
    } else {
      failed = order_large(perm);
    }
    atomic_store(&done, 1);
    pthread_join(sender, NULL);
    assert_null(failed);
    assert_memory_equal(perm, expected, bytes);
    assert_true(terms > 0);
    assert_int_equal(children, 0);
    struct sigaction now_there;
    sigaction(SIGTERM, NULL, &now_there);
    assert_true(now_there.sa_handler == count_signal);
  }
  sigaction(SIGTERM, &old_term, NULL);
  sigaction(SIGCHLD, &old_child, NULL);
  free(expected);
  free(perm);
}

TEST(a_program_that_ignores_its_children_learns_as_much) {
  signal(SIGCHLD, SIG_IGN);
  stand_in("fault");
  assert_failure(TRS_ERROR_INTERNAL, "signal 11", order(&graph));
  restore(NULL);
  assert_success(order(&graph));
  assert_no_child();
}

static void *wait_for_all(void *unused) {
  while (!atomic_load(&done)) waitpid(-1, NULL, WNOHANG);
  return unused;
}

TEST(a_program_that_waits_for_any_child_does_not_take_it) {
  pthread_t waiter;
  atomic_store(&done, 0);
  pthread_create(&waiter, NULL, wait_for_all, NULL);
  stand_in("fault");
  for (int k = 0; k < 50; k++) assert_failure(TRS_ERROR_INTERNAL, "signal 11", order(&graph));
  atomic_store(&done, 1);
  pthread_join(waiter, NULL);
}

TEST(a_thread_is_cancelled_afterwards) {
  int32_t *perm = malloc((size_t)large_graph.n * sizeof *perm);
  int64_t before, now_held, peak;
  int files = count_files();
  void *result;
  pthread_t thread;
  trs_memory_usage(&before, &peak);
  pthread_create(&thread, NULL, order_large, perm);
  usleep((unsigned)trs_random_below(test_seed(), 0, 6000));
  pthread_cancel(thread);
  pthread_join(thread, &result);
  trs_memory_usage(&now_held, &peak);
  assert_int_equal(now_held, before);
  assert_int_equal(count_files(), files);
  assert_no_child();
  free(perm);
}

static void *order_often(void *expected) {
  int32_t *perm = malloc((size_t)graph.n * sizeof *perm);
  void *failed = NULL;
  for (int k = 0; k < 10 && !failed; k++)
    if (trs_order_metis(perm, &graph) || memcmp(perm, expected, (size_t)graph.n * sizeof *perm))
      failed = expected;
  free(perm);
  return failed;
}

TEST(threads_order_at_once) {
  enum { THREADS = 4 };
  int32_t *expected = malloc((size_t)graph.n * sizeof *expected);
  pthread_t threads[THREADS];
  assert_success(trs_order_metis(expected, &graph));
  for (int k = 0; k < THREADS; k++) pthread_create(&threads[k], NULL, order_often, expected);
  for (int k = 0; k < THREADS; k++) {
    void *failed;
    pthread_join(threads[k], &failed);
    assert_null(failed);
  }
  free(expected);
}

/* ---- Limits of the program. ---- */

/* Runs body in a process of its own, because it changes limits; the exit status is the
 * trs_status. */
static int in_child(trs_status (*body)(void)) {
  int state;
  pid_t pid = fork();
  if (pid == 0) _exit((int)body());
  assert_int_equal(waitpid(pid, &state, 0), pid);
  assert_true(WIFEXITED(state));
  return WEXITSTATUS(state);
}

static trs_status order_without_standard_files(void) {
  for (int file = 0; file < 3; file++) close(file);
  return order(&graph);
}

static trs_status order_with_small_files(void) {
  const struct rlimit limit = {1000, RLIM_INFINITY};
  setrlimit(RLIMIT_FSIZE, &limit);
  return order(&graph);
}

static trs_status order_with_few_files(void) {
  const struct rlimit limit = {5, 5};
  setrlimit(RLIMIT_NOFILE, &limit);
  return order(&graph);
}

TEST(limits_of_the_program_are_kept) {
  assert_int_equal(in_child(order_without_standard_files), TRS_SUCCESS);
  assert_int_equal(in_child(order_with_small_files), TRS_ERROR_MEMORY);
  assert_int_equal(in_child(order_with_few_files), TRS_ERROR_FILE);
}

static void *close_soon(void *pipe_end) {
  usleep(20000);
  close(*(int *)pipe_end);
  return NULL;
}

/* A pipe that the program closes meanwhile has no other writer, so its reader, which then ends the
 * worker, does not have to wait. */
TEST(files_of_the_program_are_not_held) {
  int ends[2], how;
  char byte, path[PATH_MAX];
  pthread_t closer;
  snprintf(path, sizeof path, "%s", scratch("reader"));
  stand_in("hang");
  setenv("STAND_IN_FILE", path, 1);
  setenv("TRIREME_WORKER_SECONDS", "100", 1);
  assert_int_equal(pipe(ends), 0);
  pid_t reader = fork();
  if (reader == 0) {
    close(ends[1]);
    _exit(read(ends[0], &byte, 1) == 0 ? kill(read_number(path), SIGKILL) : 1);
  }
  close(ends[0]);
  pthread_create(&closer, NULL, close_soon, &ends[1]);
  assert_failure(TRS_ERROR_INTERNAL, "signal 9", order(&graph));
  unsetenv("STAND_IN_FILE");
  pthread_join(closer, NULL);
  assert_int_equal(waitpid(reader, &how, 0), reader);
  assert_int_equal(how, 0);
}

TEST(short_memory_is_an_error) {
#if defined TRS_SANITIZE_ADDRESS || defined TRS_SANITIZE_THREAD
  skip_test("a sanitizer needs the address space for itself");
#endif
  setenv("TRIREME_WORKER_MB", "10", 1);
  assert_failure(TRS_ERROR_MEMORY, "memory", order(&large_graph));
#if TRS_HAVE_SUPERLU
  trs_factors *F;
  int refused = 0, factored = 0;
  trs_lu_by_superlu = true;
  for (int mb = 10; !factored; mb += mb / 4) {
    char text[16];
    snprintf(text, sizeof text, "%d", mb);
    setenv("TRIREME_WORKER_MB", text, 1);
    trs_status status = trs_factor(&F, small, NULL);
    if (status && status != TRS_ERROR_MEMORY) fail_msg("%d MB: %s", mb, trs_last_error()->message);
    factored = !status;
    refused += !factored;
    if (factored) trs_factors_destroy(F);
  }
  trs_lu_by_superlu = false;
  assert_true(refused > 5);
#endif
}

static const char *metis(void) { return TRS_HAVE_METIS ? NULL : "no METIS in this build"; }

const test_program program = {.begin = begin, .end = end, .after_each = restore, .lacks = metis};
