/* cores.c - limits of cgroups in an imitated system, TRIREME_NUM_THREADS, and the limits of other
 * programs. */
#define _GNU_SOURCE
#include "base/cores.h"

#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/scratch.h"
#include "backend/context.h"
#include "test.h"

static char root[200];

/* Writes a file and its directories, under a separate root per test. */
static void put(const char *name, const char *text) {
  char path[512];
  snprintf(path, sizeof path, "%s%s", root, name);
  for (char *at = path + strlen(root) + 1; (at = strchr(at, '/')); at++) {
    *at = '\0';
    (void)mkdir(path, 0700);
    *at = '/';
  }
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

static void begin(const char *name) {
  snprintf(root, sizeof root, "%s", scratch(name));
  (void)mkdir(root, 0700);
}

TEST(version_2_is_read_up_to_the_root) {
  begin("v2");
  assert_int_equal(trs_quota_cores(root), 0); /* no cgroups at all */
  put("/proc/self/cgroup", "0::/a/b\n");
  assert_int_equal(trs_quota_cores(root), 0);
  put("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
  assert_int_equal(trs_quota_cores(root), 0);
  put("/sys/fs/cgroup/a/b/cpu.max", "350000 100000\n");
  assert_int_equal(trs_quota_cores(root), 4); /* rounded up */
  put("/sys/fs/cgroup/a/cpu.max", "150000 100000\n");
  assert_int_equal(trs_quota_cores(root), 2); /* the limit of the group above */
  put("/sys/fs/cgroup/cpu.max", "50000 100000\n");
  assert_int_equal(trs_quota_cores(root), 1);
}

TEST(version_1_is_read_where_its_controller_is_mounted) {
  begin("v1");
  put("/proc/self/cgroup", "9:memory:/m\n4:cpu,cpuacct:/box\n0::/\n");
  put("/sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_quota_us", "-1\n");
  put("/sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_period_us", "100000\n");
  assert_int_equal(trs_quota_cores(root), 0);
  put("/sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_quota_us", "300000\n");
  assert_int_equal(trs_quota_cores(root), 3);
  /* A container's own group is at the top of the mount; the name is the host's. */
  put("/proc/self/cgroup", "4:cpu,cpuacct:/docker/0123\n");
  put("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "200000\n");
  put("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  assert_int_equal(trs_quota_cores(root), 2);
}

TEST(nonsense_is_no_limit) {
  static const char *const text[] = {"", "max", "100000", "0 100000", "-5 100000", "5 0", "a b"};
  begin("nonsense");
  put("/proc/self/cgroup", "no colon\n1:two\n0::/x\n");
  for (size_t k = 0; k < COUNT(text); k++) {
    put("/sys/fs/cgroup/x/cpu.max", text[k]);
    assert_int_equal(trs_quota_cores(root), 0);
  }
}

TEST(the_environment_sets_the_default) {
  static const char *const wrong[] = {"0", "-1", "two", "2x", "1025", "99999999999999999999"};
  trs_context *ctx;
  setenv("TRIREME_NUM_THREADS", "3", 1);
  for (int k = 0; k < 2; k++) {
    assert_success(trs_context_create(&ctx, k ? "threads" : NULL));
    assert_int_equal(trs_context_threads(ctx), 3);
    trs_context_destroy(ctx);
  }
  assert_success(trs_context_create(&ctx, "threads:2")); /* an explicit number takes precedence */
  assert_int_equal(trs_context_threads(ctx), 2);
  trs_context_destroy(ctx);
  for (size_t k = 0; k < COUNT(wrong); k++) {
    setenv("TRIREME_NUM_THREADS", wrong[k], 1);
    assert_failure(TRS_ERROR_ARGUMENT, "TRIREME_NUM_THREADS", trs_context_create(&ctx, "auto"));
    assert_success(trs_context_create(&ctx, "serial"));
    trs_context_destroy(ctx);
  }
  unsetenv("TRIREME_NUM_THREADS");
  assert_success(trs_context_create(&ctx, "threads"));
  assert_int_equal(trs_context_threads(ctx), trs_cores());
  trs_context_destroy(ctx);
}

TEST(limits_of_other_programs_lower_the_default) {
  static const char *const names[] = {"OMP_NUM_THREADS", "LOKY_MAX_CPU_COUNT",
                                      "SLURM_CPUS_PER_TASK"};
  static const struct {
    const char *text;
    int most; /* 0: ignored */
  } of[] = {{"1", 1},   {"1,2", 1}, {" 1 , 4", 1}, {"99999", 0}, {"99999999999999999999999", 0},
            {"", 0},    {"0", 0},   {"-1", 0},     {"abc", 0},   {"1x", 0},
            {"1.5", 0}, {"1,", 0},  {"1,,2", 0},   {"1,0", 0},   {"4,2", 4},
            {" ", 0},   {"+1", 0},  {"2", 2},      {"1 2", 0}};
  trs_context *ctx;
  for (size_t v = 0; v < COUNT(names); v++) {
    for (size_t k = 0; k < COUNT(of); k++) {
      const int cores = trs_cores(), most = of[k].most;
      setenv(names[v], of[k].text, 1);
      assert_success(trs_context_create(&ctx, k % 2 ? "threads" : NULL));
      assert_int_equal(trs_context_threads(ctx), most && most < cores ? most : cores);
      trs_context_destroy(ctx);
    }
    setenv(names[v], "1", 1);
    setenv("TRIREME_NUM_THREADS", "3", 1); /* takes precedence, as a number in the name does */
    assert_success(trs_context_create(&ctx, "threads"));
    assert_int_equal(trs_context_threads(ctx), 3);
    trs_context_destroy(ctx);
    unsetenv("TRIREME_NUM_THREADS");
    assert_success(trs_context_create(&ctx, "threads:2"));
    assert_int_equal(trs_context_threads(ctx), 2);
    trs_context_destroy(ctx);
    unsetenv(names[v]);
  }
}

TEST(too_many_threads_are_told) {
  trs_context *ctx;
  trs_matrix *A;
  trs_plan *plan;
  char text[1024], where[32], words[64];
  trs_options options = {
      .struct_size = sizeof(trs_options), .method = "threads", .take_triangle = 1};
  assert_success(trs_matrix_read(&A, "gen:poisson2d5:40", NULL));
  for (int more = 0; more < 2; more++) {
    snprintf(where, sizeof where, "threads:%d", trs_cores() + more);
    snprintf(words, sizeof words, "%d threads share %d core", trs_cores() + 1, trs_cores());
    assert_success(trs_context_create(&ctx, where));
    assert_success(trs_analyze(&plan, ctx, A, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, &options));
    assert_true(trs_plan_describe(plan, text, sizeof text) < sizeof text);
    assert_int_equal(strstr(text, words) != NULL, more);
    trs_plan_destroy(plan);
    trs_context_destroy(ctx);
  }
  trs_matrix_destroy(A);
}

static int erase(const char *path, const struct stat *about, int type, struct FTW *at) {
  (void)about;
  (void)at;
  return type == FTW_DP ? rmdir(path) : unlink(path);
}

static int clean_up(void **state) {
  char top[256];
  snprintf(top, sizeof top, "%s", scratch(""));
  return nftw(top, erase, 8, FTW_DEPTH | FTW_PHYS);
}

const test_program program = {.end = clean_up};
