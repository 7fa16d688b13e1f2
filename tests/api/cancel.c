/* cancel.c - the flag of trs_set_cancel_flag ends every call early, and nothing is left of it. */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/config.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/timer.h"
#include "factor/kinds.h"
#include "io/scratch.h"
#include "test.h"

/* LU, as far as the build has it. */
static const trs_factor_kind FIRST_KIND = TRS_HAVE_SUPERLU ? TRS_FACTOR_LU : TRS_FACTOR_ILU0;

static trs_context *ctx;
static trs_matrix *A, *L;
static trs_factors *F;
static trs_plan *plan;
static char text_file[512], gz_file[512], h5_file[512];
static double *x, *b;
static int64_t n;

static int flag;

static void set(int value) { __atomic_store_n(&flag, value, __ATOMIC_RELAXED); }

static int begin(void **state) {
  const trs_factor_options options = {.struct_size = sizeof options, .kind = FIRST_KIND};
  snprintf(text_file, sizeof text_file, "%s", scratch("A.mtx"));
  snprintf(gz_file, sizeof gz_file, "%s", scratch("A.mtx.gz"));
  snprintf(h5_file, sizeof h5_file, "%s", scratch("A.h5"));
  if (trs_context_create(&ctx, "threads:2") || trs_matrix_read(&A, "gen:poisson2d5:120", NULL))
    return 1;
  if (trs_matrix_triangle(&L, A, TRS_LOWER, 0) || trs_factor(&F, A, &options)) return 1;
  if (trs_analyze(&plan, ctx, L, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, NULL)) return 1;
  if (trs_matrix_write(A, text_file)) return 1;
  (void)trs_matrix_write(A, gz_file); /* as far as the build has zlib and HDF5 */
  (void)trs_matrix_write(A, h5_file);
  n = 120 * 120;
  x = calloc((size_t)n, sizeof *x);
  b = calloc((size_t)n, sizeof *b);
  for (int64_t i = 0; i < n; i++) b[i] = 1;
  return trs_set_cancel_flag(&flag) || !x || !b || state == NULL;
}

static int end(void **state) {
  trs_set_cancel_flag(NULL);
  trs_plan_destroy(plan);
  trs_factors_destroy(F);
  trs_matrix_destroy(L);
  trs_matrix_destroy(A);
  trs_context_destroy(ctx);
  free(x);
  free(b);
  return scratch_remove(state);
}

static int restore(void **state) {
  set(0);
  return state == NULL;
}

/* ---- The calls ---- */

static trs_status read_file(const char *path) {
  trs_matrix *made;
  trs_status status = trs_matrix_read(&made, path, NULL);
  trs_matrix_destroy(made);
  return status == TRS_ERROR_UNSUPPORTED ? trs_cancelled() : status;
}

static trs_status read_text(void) { return read_file(text_file); }
static trs_status read_gz(void) {
  return access(gz_file, F_OK) ? trs_cancelled() : read_file(gz_file);
}
static trs_status read_h5(void) {
  return access(h5_file, F_OK) ? trs_cancelled() : read_file(h5_file);
}
static trs_status generate(void) { return read_file("gen:random:30000,8"); }
static trs_status triangulate(void) { return read_file("gen:delaunay:20000"); }

static trs_status write_text(void) {
  trs_status status = trs_matrix_write(A, scratch("out.mtx"));
  assert_int_equal(access(scratch("out.mtx"), F_OK), status ? -1 : 0);
  unlink(scratch("out.mtx"));
  return status;
}

static trs_status factor_by(trs_factor_kind kind, trs_order order) {
  const trs_factor_options options = {.struct_size = sizeof options, .kind = kind, .order = order};
  trs_factors *made;
  trs_status status = trs_factor(&made, A, &options);
  trs_factors_destroy(made);
  return status == TRS_ERROR_UNSUPPORTED ? trs_cancelled() : status;
}

static trs_status lu_default(void) { return factor_by(TRS_FACTOR_LU, TRS_ORDER_DEFAULT); }
static trs_status lu_nd(void) { return factor_by(TRS_FACTOR_LU, TRS_ORDER_ND); }
static trs_status lu_natural(void) { return factor_by(TRS_FACTOR_LU, TRS_ORDER_NATURAL); }
static trs_status lu_amd(void) { return factor_by(TRS_FACTOR_LU, TRS_ORDER_AMD); }
static trs_status lu_colamd(void) { return factor_by(TRS_FACTOR_LU, TRS_ORDER_COLAMD); }
static trs_status ilu0(void) { return factor_by(TRS_FACTOR_ILU0, TRS_ORDER_NATURAL); }
static trs_status ic0(void) { return factor_by(TRS_FACTOR_IC0, TRS_ORDER_RCM); }
static trs_status bilu0(void) { return factor_by(TRS_FACTOR_BILU0, TRS_ORDER_COLOUR); }

static trs_status refactor(void) { return trs_factors_refactor(F, NULL, ctx, A); }

static trs_status condition(void) {
  double made;
  return trs_factors_condition(&made, F);
}

static trs_status analyze_by(const trs_options *options) {
  trs_plan *made;
  trs_status status = trs_analyze(&made, ctx, L, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, options);
  trs_plan_destroy(made);
  return status;
}

static trs_status analyze(void) { return analyze_by(NULL); }

static trs_status tune(void) {
  return analyze_by(&(trs_options){.struct_size = sizeof(trs_options), .tune = 1});
}

static trs_status analyze_factors(void) {
  trs_plan *made;
  trs_status status = trs_analyze_factors(&made, ctx, F, TRS_NO_TRANS, NULL);
  trs_plan_destroy(made);
  return status;
}

static trs_status update(void) { return trs_update(plan, L); }

static trs_status solve(void) { return trs_solve(plan, x, n, b, n, 1, TRS_COL_MAJOR); }

static const struct {
  const char *name;
  trs_status (*run)(void);
} calls[] = {{"read_text", read_text},
             {"read_gz", read_gz},
             {"read_h5", read_h5},
             {"generate", generate},
             {"triangulate", triangulate},
             {"write_text", write_text},
             {"lu_default", lu_default},
             {"lu_nd", lu_nd},
             {"lu_natural", lu_natural},
             {"lu_amd", lu_amd},
             {"lu_colamd", lu_colamd},
             {"ilu0", ilu0},
             {"ic0", ic0},
             {"bilu0", bilu0},
             {"refactor", refactor},
             {"condition", condition},
             {"analyze", analyze},
             {"tune", tune},
             {"analyze_factors", analyze_factors},
             {"update", update},
             {"solve", solve}};

static void assert_nothing_left(const char *name, int64_t before) {
  int64_t now_held, peak;
  trs_memory_usage(&now_held, &peak);
  if (now_held > before) fail_msg("%s leaves %lld bytes", name, (long long)(now_held - before));
  assert_int_equal(waitpid(-1, NULL, __WALL | WNOHANG), -1);
}

/* ---- Tests ---- */

TEST(a_set_flag_ends_every_call) {
  int64_t before, peak;
  for (size_t k = 0; k < COUNT(calls); k++) assert_success(calls[k].run());
  trs_memory_usage(&before, &peak);
  set(1);
  for (size_t k = 0; k < COUNT(calls); k++) {
    const trs_status status = calls[k].run();
    if (status != TRS_ERROR_CANCELLED) fail_msg("%s returns %d", calls[k].name, (int)status);
    assert_string_equal(trs_last_error()->message + strlen(trs_last_error()->message) - 9,
                        "cancelled");
    assert_nothing_left(calls[k].name, before);
  }
  set(0);
  assert_success(update());
  assert_success(refactor());
  for (size_t k = 0; k < COUNT(calls); k++) assert_success(calls[k].run());
}

/* Also where it has not begun: the plan may read new values from the caller's arrays. */
TEST(after_a_cancelled_update_nothing_is_solved_until_another_one_succeeds) {
  set(1);
  assert_int_equal(update(), TRS_ERROR_CANCELLED);
  set(0);
  assert_failure(TRS_ERROR_CANCELLED, "until it succeeds the plan solves nothing", solve());
  assert_success(update());
  assert_success(solve());
}

static void *read_in_thread(void *unused) {
  (void)unused;
  return read_text() == TRS_SUCCESS ? NULL : text_file;
}

TEST(the_flag_is_of_one_thread) {
  pthread_t thread;
  void *failed;
  set(1);
  assert_int_equal(pthread_create(&thread, NULL, read_in_thread, NULL), 0);
  pthread_join(thread, &failed);
  assert_null(failed);
  assert_success(trs_set_cancel_flag(NULL));
  assert_success(read_text());
  assert_success(trs_set_cancel_flag(&flag));
}

/* What runs still uses the caller's arrays. */
TEST(a_wait_waits) {
  set(1);
  assert_success(trs_plan_wait(plan));
  assert_int_equal(trs_plan_set_stream(plan, NULL), TRS_ERROR_CANCELLED);
}

static void cancel_at(void *user, const char *phase, double done) {
  const char *at = user;
  if (done >= 0 && !strcmp(phase, at)) set(1);
}

/* A callback sets the flag, in the thread that called. */
TEST(a_progress_callback_cancels) {
  static char *const phases[] = {"ordering", "factoring"};
  int64_t before, peak;
  trs_memory_usage(&before, &peak);
  for (size_t k = 0; k < COUNT(phases); k++)
    for (int kind = FIRST_KIND; kind <= TRS_FACTOR_IC0; kind++) {
      const trs_factor_options options = {.struct_size = sizeof options,
                                          .kind = (trs_factor_kind)kind,
                                          .progress = cancel_at,
                                          .progress_user = phases[k]};
      trs_factors *made;
      assert_int_equal(trs_factor(&made, A, &options), TRS_ERROR_CANCELLED);
      assert_null(made);
      set(0);
      assert_nothing_left(phases[k], before);
    }
  const trs_read_options reading = {
      .struct_size = sizeof reading, .progress = cancel_at, .progress_user = "reading"};
  trs_matrix *made;
  assert_int_equal(trs_matrix_read(&made, text_file, &reading), TRS_ERROR_CANCELLED);
  set(0);
  const trs_options analysis = {
      .struct_size = sizeof analysis, .progress = cancel_at, .progress_user = "analysing"};
  assert_int_equal(analyze_by(&analysis), TRS_ERROR_CANCELLED);
}

static atomic_long wait_ns;
static double set_at; /* processor time, so that other work on the machine does not count */

static double processor_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *set_later(void *unused) {
  const struct timespec wait = {0, atomic_load(&wait_ns)};
  nanosleep(&wait, NULL);
  set_at = processor_seconds();
  set(1);
  return unused;
}

/* At random times, of each call. */
TEST(another_thread_cancels) {
  const int tries = SANITIZED ? 3 : 6;
  double longest = 0;
  int64_t before, peak;
  int cancelled = 0;
  const char *slowest = "";
  trs_memory_usage(&before, &peak);
  for (size_t k = 0; k < COUNT(calls); k++) {
    double start = trs_seconds();
    assert_success(calls[k].run());
    const double seconds = trs_seconds() - start;
    for (int try = 0; try < tries; try++) {
      pthread_t thread;
      const uint64_t most = (uint64_t)(1e9 * fmin(seconds, 0.9)) + 1000;
      atomic_store(&wait_ns, (long)trs_random_below(test_seed() + k, (uint64_t)try, (int64_t)most));
      assert_int_equal(pthread_create(&thread, NULL, set_later, NULL), 0);
      const trs_status status = calls[k].run();
      const double now_it_is = processor_seconds();
      pthread_join(thread, NULL);
      set(0);
      if (status && status != TRS_ERROR_CANCELLED)
        fail_msg("%s: %s", calls[k].name, trs_last_error()->message);
      cancelled += status != TRS_SUCCESS;
      if (status && now_it_is - set_at > longest) {
        longest = now_it_is - set_at;
        slowest = calls[k].name;
      }
      if (status) { /* what refuses is restored */
        assert_success(update());
        assert_success(refactor());
      }
    }
    assert_nothing_left(calls[k].name, before);
  }
  print_message("%d calls were cancelled, the slowest (%s) within %.3f s of processor time\n",
                cancelled, slowest, longest);
  assert_true(cancelled > tries);
  assert_true(longest < 2);
}

const test_program program = {.begin = begin, .end = end, .after_each = restore};
