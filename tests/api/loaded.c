/* loaded.c - a program that loads libtrireme with dlopen, as Python does, in threads that have not
 * called it before: allocations fail there, stacks are the smallest, and the signals are the
 * program's.  The program's own malloc takes the place of the C library's for the library too.
 *
 *   test_api_loaded LIBRARY */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trireme.h"

static atomic_bool counts; /* allocations are counted, and fail */
static atomic_long at, fail_at = -1;
static bool fail_on; /* also all after fail_at */

static bool fails(void) {
  if (!atomic_load(&counts)) return false;
  long now = atomic_fetch_add(&at, 1);
  return fail_at >= 0 && (now == fail_at || (now > fail_at && fail_on));
}

#include "failing_malloc.h"

static void *library;
#define CALL(function) (__extension__(__typeof__(&function)) dlsym(library, #function))

enum { MOST = 30 * 30 };
static int64_t N;
static double x[MOST], b[MOST];
static char folder[64], path[96], matrix[40], where[20];

typedef struct objects {
  trs_context *context;
  trs_matrix *A, *T, *B;
  trs_plan *plan;
  trs_factors *F;
  trs_plan *R;
} objects;

/* Calls of each kind, up to the first that fails. */
static trs_status use(objects *o) {
  const trs_options options = {.struct_size = sizeof options, .method = "threads"};
  const trs_factor_options factor = {.struct_size = sizeof factor, .kind = TRS_FACTOR_ILU0};
  trs_status status = CALL(trs_context_create)(&o->context, where);
  if (!status) status = CALL(trs_matrix_read)(&o->A, matrix, NULL);
  if (!status) status = CALL(trs_matrix_triangle)(&o->T, o->A, TRS_LOWER, 0);
  if (!status)
    status = CALL(trs_analyze)(&o->plan, o->context, o->T, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT,
                               &options);
  if (!status) status = CALL(trs_solve)(o->plan, x, N, b, N, 1, TRS_COL_MAJOR);
  if (!status) status = CALL(trs_factor)(&o->F, o->A, &factor);
  if (!status) status = CALL(trs_relax_create)(&o->R, o->context, o->A, 1, NULL);
  if (!status) status = CALL(trs_relax_sweep)(o->R, x, N, b, N, 1, TRS_COL_MAJOR, NULL);
  if (!status) status = CALL(trs_matrix_write)(o->A, path);
  if (!status) status = CALL(trs_matrix_read)(&o->B, path, NULL);
  return status;
}

static void release(objects *o) {
  CALL(trs_matrix_destroy)(o->B);
  CALL(trs_plan_destroy)(o->R);
  CALL(trs_factors_destroy)(o->F);
  CALL(trs_plan_destroy)(o->plan);
  CALL(trs_matrix_destroy)(o->T);
  CALL(trs_matrix_destroy)(o->A);
  CALL(trs_context_destroy)(o->context);
}

/* 0: all is well; 1: memory is short, and the library says so. */
static void *use_and_judge(void *result) {
  objects o = {0};
  int64_t held = 0, peak;
  atomic_store(&counts, true);
  trs_status status = use(&o);
  const trs_error *error = CALL(trs_last_error)();
  bool told = !status || (error->status == status && *error->message);
  atomic_store(&counts, false);
  release(&o);
  CALL(trs_memory_usage)(&held, &peak);
  *(int *)result = held || !told || (status && status != TRS_ERROR_MEMORY) ? 90 + (int)status
                   : status                                                ? 1
                                                                           : 0;
  return NULL;
}

static int in_thread(void *(*body)(void *), size_t stack) {
  pthread_t thread;
  pthread_attr_t attributes;
  int result = -1;
  pthread_attr_init(&attributes);
  if (stack) pthread_attr_setstacksize(&attributes, stack);
  if (pthread_create(&thread, &attributes, body, &result)) return -2;
  pthread_join(thread, NULL);
  return result;
}

/* The exit status of a child that runs the body in a new thread; less than 0 for a signal. */
static int in_child(void *(*body)(void *), long fails_at) {
  int state = 0;
  fflush(stdout);
  pid_t child = fork();
  if (!child) {
    alarm(100);
    fail_at = fails_at;
    _exit(in_thread(body, 0));
  }
  if (waitpid(child, &state, 0) != child) return -100;
  return WIFEXITED(state) ? WEXITSTATUS(state) : -WTERMSIG(state);
}

static int failed;

static void check(const char *name, bool good) {
  printf("%s %s\n", good ? "ok" : "not ok", name);
  failed += !good;
}

static void check_allocations(void) {
  long tries = 0, bad = 0;
  for (int on = 0; on < 2; on++) {
    fail_on = on;
    for (long n = 0, result = 1; result == 1 || n < 40; n++, tries++) {
      result = in_child(use_and_judge, n);
      if (result == 0 || result == 1) continue;
      printf("allocation %ld fails%s: %ld\n", n, on ? ", and all after it" : "", result);
      bad++;
      if (bad > 5) break;
      result = 1;
    }
  }
  printf("%ld allocations failed\n", tries);
  check("allocations_that_fail_in_a_new_thread", !bad && tries > 100);
}

/* A solve and a failing call. */
static objects made;
static void *solve_and_fail(void *result) {
  trs_status status = CALL(trs_solve)(made.plan, x, N, b, N, 1, TRS_COL_MAJOR);
  bool fails = CALL(trs_solve)(NULL, x, N, b, N, 1, TRS_COL_MAJOR) == TRS_ERROR_ARGUMENT &&
               strstr(CALL(trs_last_error)()->message, "plan is NULL");
  *(int *)result = status || !fails;
  return NULL;
}

/* True if the thread blocks every signal that does not report a fault of its own. */
static bool blocks_all(const char *task) {
  static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGKILL, SIGSTOP};
  char status[300], line[200];
  unsigned long long blocked = 0, needed = 0x7fffffff;
  snprintf(status, sizeof status, "/proc/self/task/%s/status", task);
  FILE *file = fopen(status, "r");
  while (file && fgets(line, sizeof line, file)) (void)sscanf(line, "SigBlk: %llx", &blocked);
  if (file) fclose(file);
  for (size_t k = 0; k < sizeof faults / sizeof *faults; k++) needed &= ~(1ull << (faults[k] - 1));
  return (blocked & needed) == needed;
}

static void check_signals(void) {
  char own[16];
  int others = 0, bad = 0, got = 0;
  snprintf(own, sizeof own, "%ld", (long)getpid());
  DIR *tasks = opendir("/proc/self/task");
  for (struct dirent *entry; tasks && (entry = readdir(tasks));) {
    if (*entry->d_name == '.' || !strcmp(entry->d_name, own)) continue;
    others++;
    bad += !blocks_all(entry->d_name);
  }
  if (tasks) closedir(tasks);
  check("threads_of_the_library_block_signals", !bad && others >= 2);
  sigset_t all, one, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  bool waits = true;
  for (int number = 1; number < SIGRTMIN && waits; number++) {
    if (number == SIGKILL || number == SIGSTOP || number == SIGSEGV || number == SIGBUS ||
        number == SIGFPE || number == SIGILL || number == SIGTRAP || number == SIGSYS)
      continue;
    sigemptyset(&one);
    if (number >= NSIG || sigaddset(&one, number)) continue;
    kill(getpid(), number);
    waits = !sigwait(&one, &got) && got == number;
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  check("sigwait_gets_the_signals_of_the_program", waits);
}

int main(int count, char **words) {
  library = count > 1 ? dlopen(words[1], RTLD_NOW) : NULL;
  if (!library) return printf("not ok loading: %s\n", dlerror()), 1;
  snprintf(folder, sizeof folder, "%s/trireme-loaded-XXXXXX", "/tmp");
  if (!mkdtemp(folder)) return printf("not ok folder\n"), 1;
  snprintf(path, sizeof path, "%s/a.mtx", folder);
  /* tests/torture varies the size and the number of threads */
  const char *seed = getenv("TRIREME_SEED");
  const long number = seed ? atol(seed) : 0, side = 20 + number % 11 - number / 11 % 19;
  N = side * side;
  snprintf(matrix, sizeof matrix, "gen:poisson2d5:%ld", side);
  snprintf(where, sizeof where, "threads:%ld", 3 + number % 4);
  for (int i = 0; i < MOST; i++) b[i] = 1;
  check_allocations();
  check("a_small_stack_for_everything", in_thread(use_and_judge, 65536) == 0);
  check("everything_in_this_thread", use(&made) == TRS_SUCCESS);
  check("the_smallest_stack", in_thread(solve_and_fail, PTHREAD_STACK_MIN) == 0);
  check_signals();
  release(&made);
  unlink(path);
  rmdir(folder);
  return failed > 0;
}
