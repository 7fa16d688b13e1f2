/* fork.c - a forked child has none of its parent's threads.  The parent's objects work there as in
 * the parent, or return an error with the reason.  Children report by their exit status; one that
 * hangs is killed. */
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cores.h"
#include "base/random.h"
#include "backend/context.h"
#include "plan/plan.h"
#include "relax/relaxation.h"
#include "solve/threads/kernels.h"
#include "test.h"

enum { PATIENCE = 120 /* seconds, on a busy machine */ };

static trs_context *ctx;
static trs_matrix *A;
static trs_plan *plan;
static int64_t n;
static double *b, *x, *wanted;

static void set_up(const char *where, const char *method, const char *name) {
  trs_options options = {.struct_size = sizeof(trs_options), .method = method, .take_triangle = 1};
  trs_matrix_info info = {.struct_size = sizeof info};
  assert_success(trs_context_create(&ctx, where));
  assert_success(trs_matrix_read(&A, name, NULL));
  trs_matrix_get_info(A, &info);
  n = info.nrows;
  b = malloc((size_t)n * sizeof *b);
  x = malloc((size_t)n * sizeof *x);
  wanted = malloc((size_t)n * sizeof *wanted);
  trs_random_fill(b, n, TRS_DOUBLE, 1);
  assert_success(trs_analyze(&plan, ctx, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, &options));
  assert_success(trs_solve(plan, wanted, n, b, n, 1, TRS_COL_MAJOR));
}

static void tear_down(void) {
  trs_plan_destroy(plan);
  trs_matrix_destroy(A);
  trs_context_destroy(ctx);
  free(b);
  free(x);
  free(wanted);
}

/* 0 if x is right. */
static int solve_anew(trs_plan *with) {
  memset(x, 0, (size_t)n * sizeof *x);
  if (trs_solve(with, x, n, b, n, 1, TRS_COL_MAJOR)) return 2;
  return memcmp(x, wanted, (size_t)n * sizeof *x) ? 3 : 0;
}

/* Runs the work in a child, which must exit with 0. */
static void in_child(int (*work)(void)) {
  fflush(NULL);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    alarm(PATIENCE);
    _exit(work());
  }
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) fail_msg("the child hangs");
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
}

static int child_solves(void) {
  int code = 0;
  for (int k = 0; k < 20 && !code; k++) code = solve_anew(plan);
  return code;
}

static int child_destroys(void) {
  trs_plan_destroy(plan);
  trs_matrix_destroy(A);
  trs_context_destroy(ctx);
  return 0;
}

static int child_updates_and_analyses(void) {
  trs_plan *second;
  trs_options options = {
      .struct_size = sizeof(trs_options), .method = "threads", .take_triangle = 1};
  if (trs_update(plan, A) || solve_anew(plan)) return 4;
  if (trs_analyze(&second, ctx, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, &options)) return 5;
  int code = solve_anew(second);
  trs_plan_destroy(second);
  trs_plan_destroy(plan);
  trs_context_destroy(ctx);
  return code;
}

static int grandchild_solves(void) {
  int status = 0;
  if (child_solves()) return 6;
  pid_t child = fork();
  if (child == 0) {
    alarm(PATIENCE); /* not inherited */
    _exit(child_solves());
  }
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status)) return 7;
  return child_solves();
}

TEST(plans_of_threads_work_in_a_child) {
  set_up("threads:3", "threads", "gen:poisson2d5:60");
  in_child(child_solves);
  assert_int_equal(solve_anew(plan), 0); /* the parent continues */
  in_child(child_destroys);
  in_child(child_updates_and_analyses);
  in_child(grandchild_solves);
  assert_int_equal(solve_anew(plan), 0);
  tear_down();
}

/* The call that uses it does not run on in the child. */
TEST(a_plan_in_use_is_free_in_a_child) {
  set_up("threads:3", "threads", "gen:poisson2d5:60");
  assert_success(trs_guard_take(&plan->guard, "plan"));
  in_child(child_solves);
  assert_success(trs_guard_leave(&plan->guard, TRS_SUCCESS));
  assert_int_equal(solve_anew(plan), 0);
  tear_down();
}

static int child_updates(void) { return trs_update(plan, A) ? 4 : solve_anew(plan); }

/* Another thread of the parent reads the caller's values at the time of the fork. */
TEST(values_that_a_thread_reads_are_free_in_a_child) {
  static const int64_t ptr[] = {0, 1, 3};
  static const int32_t idx[] = {0, 1, 0};
  static const double val[] = {1, 2, 3};
  set_up("serial", "serial", "gen:poisson2d5:2");
  trs_plan_destroy(plan);
  trs_matrix_destroy(A);
  n = 2;
  assert_success(
      trs_matrix_create(&A, TRS_CSR, TRS_DOUBLE, n, n, TRS_PTR64, ptr, idx, val, TRS_BORROW));
  assert_success(trs_analyze(&plan, ctx, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, NULL));
  assert_success(trs_solve(plan, wanted, n, b, n, 1, TRS_COL_MAJOR));
  trs_single_wait(&A->renewing);
  in_child(child_updates);
  assert_success(trs_single_give(&A->renewing, TRS_SUCCESS));
  assert_int_equal(child_updates(), 0);
  tear_down();
}

/* Large enough for several threads if there are two cores. */
TEST(plans_of_auto_work_in_a_child) {
  set_up("auto", NULL, "gen:poisson2d5:300");
  in_child(child_solves);
  in_child(child_destroys);
  assert_int_equal(solve_anew(plan), 0);
  tear_down();
}

/* The child is forked during a solve of the parent's other thread, which never ends in the child's
 * memory. */
static void *solve_for_a_while(void *stop) {
  double *own = malloc((size_t)n * sizeof *own);
  while (!atomic_load((atomic_bool *)stop))
    if (trs_solve(plan, own, n, b, n, 1, TRS_COL_MAJOR)) abort();
  free(own);
  return NULL;
}

/* Another b than the parent's, so that an x which the parent's solve left behind is wrong. */
static int child_solves_twice_as_much(void) {
  for (int64_t i = 0; i < n; i++) b[i] *= 2;
  for (int64_t i = 0; i < n; i++) wanted[i] *= 2;
  return child_solves();
}

/* by_values: rows wait for x itself. */
static void fork_in_the_middle(const char *where, const char *system, bool by_values) {
  pthread_t other;
  atomic_bool stop = false;
  set_up(where, "threads", system);
  trs_threads_state *s = plan->state;
  const int way = by_values ? TRS_THREADS_BY_VALUES : __builtin_ctz(s->ways);
  s->pace[TRS_THREADS_DIRECT] = (trs_pace){.best = way, .last = s->schedule.threads};
  s->pace[TRS_THREADS_DIRECT].way[way].members = s->schedule.threads; /* always */
  assert_int_equal(pthread_create(&other, NULL, solve_for_a_while, &stop), 0);
  for (int k = 0; k < 20; k++) {
    usleep((unsigned)trs_random_below(test_seed(), (uint64_t)k, 3000));
    in_child(child_solves_twice_as_much);
  }
  atomic_store(&stop, true);
  pthread_join(other, NULL);
  assert_int_equal(solve_anew(plan), 0);
  tear_down();
}

TEST(a_fork_in_the_middle_of_a_solve) {
  fork_in_the_middle("threads:3", "gen:poisson2d5:60", false);
}

TEST(a_fork_in_the_middle_of_a_solve_by_values) {
  fork_in_the_middle("threads:5", "gen:poisson3d27:20", true);
}

/* ---- Progress ---- */

static int calls;

static void count_calls(void *user, const char *phase, double done) {
  (void)user;
  (void)phase;
  (void)done;
  calls++;
}

static int child_analyses_with_progress(void) {
  trs_plan *second;
  trs_options options = {.struct_size = sizeof(trs_options),
                         .method = "threads",
                         .take_triangle = 1,
                         .progress = count_calls};
  calls = 0;
  if (trs_analyze(&second, ctx, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, &options)) return 8;
  return calls > 0 ? solve_anew(second) : 9;
}

/* Forks once.  The child continues with the call, and so does the parent. */
static void fork_in_between(void *user, const char *phase, double done) {
  (void)phase;
  pid_t *child = user;
  if (done > 0.3 && *child < 0 && (*child = fork()) == 0) alarm(PATIENCE);
}

static int analyse_and_fork(void) {
  trs_plan *second;
  pid_t child = -1;
  int status = 0;
  trs_options options = {.struct_size = sizeof(trs_options),
                         .method = "threads",
                         .take_triangle = 1,
                         .progress = fork_in_between,
                         .progress_user = &child};
  if (trs_analyze(&second, ctx, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, &options)) return 10;
  int code = solve_anew(second);
  if (child == 0) _exit(code);
  if (child < 0 || waitpid(child, &status, 0) != child) return 11;
  return WIFEXITED(status) && !WEXITSTATUS(status) ? code : 12;
}

TEST(progress_callbacks_are_called_in_a_child) {
  set_up("threads:3", "threads", "gen:poisson2d5:60");
  in_child(child_analyses_with_progress);
  tear_down();
}

/* The address sanitizer of clang 14 does not guard its allocator in a fork: if a thread that starts
 * is in the allocator then, the allocator stays locked in the child. */
TEST(progress_callbacks_may_fork) {
#ifdef TRS_SANITIZE_ADDRESS
  skip_test("the address sanitizer keeps its allocator locked in some children");
#endif
  set_up("threads:3", "threads", "gen:poisson2d5:60");
  in_child(analyse_and_fork);
  tear_down();
}

/* ---- Relaxation, reading, contexts ---- */

static trs_plan *R;

static int sweep_once(double *to) {
  return trs_relax_sweep(
             R, to, n, b, n, 1, TRS_COL_MAJOR,
             &(trs_sweep_options){.struct_size = sizeof(trs_sweep_options), .sweeps = 5})
             ? 13
             : 0;
}

static int child_relaxes(void) {
  if (trs_update(R, A) || sweep_once(x)) return 14;
  if (memcmp(x, wanted, (size_t)n * sizeof *x)) return 15;
  trs_plan_destroy(R);
  return 0;
}

TEST(relaxation_works_in_a_child) {
  set_up("threads:3", "threads", "gen:poisson2d5:60");
  assert_success(trs_relax_create(&R, ctx, A, 1, NULL));
  assert_int_equal(sweep_once(wanted), 0);
  in_child(child_relaxes);
  assert_int_equal(sweep_once(x), 0);
  assert_memory_equal(x, wanted, (size_t)n * sizeof *x);
  trs_plan_destroy(R);
  tear_down();
}

static int child_reads(void) {
  trs_matrix *B;
  trs_read_options options = {.struct_size = sizeof(trs_read_options), .context = ctx};
  if (trs_matrix_read(&B, "gen:poisson2d5:200", &options)) return 16;
  trs_matrix_destroy(B);
  return 0;
}

static int child_makes_its_own(void) {
  trs_context *own;
  trs_plan *second;
  trs_options options = {
      .struct_size = sizeof(trs_options), .method = "threads", .take_triangle = 1};
  if (trs_context_create(&own, "threads:3")) return 17;
  if (trs_analyze(&second, own, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, &options)) return 18;
  int code = solve_anew(second);
  trs_plan_destroy(second);
  trs_context_destroy(own);
  return code;
}

TEST(contexts_work_in_a_child) {
  set_up("threads:3", "threads", "gen:poisson2d5:60");
  in_child(child_reads);
  in_child(child_makes_its_own);
  tear_down();
}

/* ---- A GPU.  The error needs no CUDA. ---- */

static int child_is_refused(void) {
  trs_options options = {.struct_size = sizeof(trs_options), .take_triangle = 1};
  trs_plan *second;
  trs_read_options reading = {.struct_size = sizeof(trs_read_options), .context = ctx};
  trs_matrix *B;
  if (trs_analyze(&second, ctx, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, &options) !=
      TRS_ERROR_UNSUPPORTED)
    return 19;
  if (!strstr(trs_last_error()->message, "before this process was forked")) return 20;
  if (trs_relax_create(&R, ctx, A, 1, NULL) != TRS_ERROR_UNSUPPORTED) return 21;
  if (trs_matrix_read(&B, "gen:poisson2d5:4", &reading) != TRS_ERROR_UNSUPPORTED) return 22;
  trs_context_destroy(ctx);
  return 0;
}

TEST(contexts_of_a_gpu_are_refused_in_a_child) {
  set_up("threads:2", "threads", "gen:poisson2d5:20");
  const trs_backend *threads = ctx->backend, gpu = {.name = "gpu", .gpu = true};
  ctx->backend = &gpu;
  in_child(child_is_refused);
  ctx->backend = threads;
  tear_down();
}
