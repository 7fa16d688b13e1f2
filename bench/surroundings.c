/* surroundings.c - child processes that take processors, and limits by the affinity mask and by a
 * cgroup.  Children end with their parent. */
#define _GNU_SOURCE
#include "surroundings.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { IDLE, STOLEN, BUSY_BOUND, BUSY, CROWDED, CPUSET, QUOTA, SPINNING, PROGRAMS };

const bench_surrounding bench_surroundings[] = {
    [IDLE] = {"idle", "nothing else"},
    [STOLEN] = {"stolen", "one processor of 16 is taken for 3 ms of every 10"},
    [BUSY_BOUND] = {"bound", "a busy process for each 16 processors, bound to one"},
    [BUSY] = {"busy", "a busy process for each 16 processors, not bound"},
    [CROWDED] = {"crowded", "twice as many busy processes as processors"},
    [CPUSET] = {"cpuset", "a processor of 16 is not in the affinity mask"},
    [QUOTA] = {"quota", "a cgroup with the time of three processors of four"},
    [SPINNING] = {"spinning", "a program whose team of threads spins on all processors"},
    [PROGRAMS] = {"programs", "as many short programs at a time as processors"},
    {0}};

enum { MOST_CHILDREN = 512, PER = 16 };

static struct {
  pid_t child[MOST_CHILDREN];
  int children;
  bool masked;
  cpu_set_t mask;
  char group[256], home[256]; /* the cgroup, and that of the process before */
} now;

static double clock_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- Children ---- */

static void be_busy(double seconds) {
  const double end = clock_seconds() + seconds;
  while (clock_seconds() < end) continue;
}

static void rest(double seconds) {
  (void)nanosleep(&(struct timespec){.tv_nsec = (long)(1e9 * seconds)}, NULL);
}

static void busy(int number) {
  (void)number;
  for (;;) be_busy(1);
}

static void steal(int number) {
  (void)number;
  for (;;) {
    be_busy(3e-3);
    rest(7e-3);
  }
}

static void *spin(void *nothing) {
  busy(0);
  return nothing;
}

static void be_team(int threads) {
  pthread_t thread;
  for (int k = 1; k < threads; k++) (void)pthread_create(&thread, NULL, spin, NULL);
  busy(0);
}

/* A program of 5 to 20 ms, and the next one. */
static void be_programs(int number) {
  for (unsigned k = (unsigned)number;; k++) {
    const pid_t child = fork();
    if (child == 0) {
      be_busy(1e-3 * (5 + k * 7 % 16));
      _exit(0);
    }
    if (child > 0) (void)waitpid(child, NULL, 0);
  }
}

/* The n-th processor of the mask. */
static int processor(int n) {
  cpu_set_t mask;
  if (sched_getaffinity(0, sizeof mask, &mask)) return 0;
  n %= CPU_COUNT(&mask);
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
    if (CPU_ISSET(cpu, &mask) && n-- == 0) return cpu;
  return 0;
}

static void bind_to(int cpu) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  (void)sched_setaffinity(0, sizeof one, &one);
}

/* A thief goes before everybody: as a real-time process, or, where that is forbidden, by the most
 * favourable priority. */
static bool go_first(void) {
  const struct sched_param high = {.sched_priority = 50};
  return !sched_setscheduler(0, SCHED_FIFO, &high) || !setpriority(PRIO_PROCESS, 0, -20);
}

static void start(int count, bool bound, bool first, void (*work)(int), int argument) {
  enum { MIDDLE = 3 }; /* not the first processor, which has interrupts */
  for (int k = 0; k < count && now.children < MOST_CHILDREN; k++) {
    const pid_t parent = getpid(), child = fork();
    if (child > 0) now.child[now.children++] = child;
    if (child) continue;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    if (bound) bind_to(processor(MIDDLE + PER * k));
    if (first) (void)go_first();
    work(argument + k);
    _exit(0);
  }
}

/* ---- Limits ---- */

/* For every thread that this process has. */
static void set_masks(const cpu_set_t *mask) {
  DIR *tasks = opendir("/proc/self/task");
  const struct dirent *task;
  while (tasks && (task = readdir(tasks)))
    if (*task->d_name != '.') (void)sched_setaffinity(atoi(task->d_name), sizeof *mask, mask);
  if (tasks) closedir(tasks);
}

static const char *take_processors_away(int count) {
  cpu_set_t fewer;
  if (sched_getaffinity(0, sizeof now.mask, &now.mask)) return "its affinity mask is unknown";
  if (CPU_COUNT(&now.mask) <= count) return "it has one processor";
  fewer = now.mask;
  for (int k = 0; k < count; k++) CPU_CLR(processor(CPU_COUNT(&now.mask) - 1 - k), &fewer);
  now.masked = true;
  set_masks(&fewer);
  return NULL;
}

static bool write_text(const char *folder, const char *name, const char *text) {
  char path[600];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "w");
  bool good = file && fputs(text, file) >= 0;
  if (file) good &= fclose(file) == 0;
  return good;
}

/* The folder of the cgroup of this process, of version 2 or of the controller "cpu". */
static bool find_group(bool *version2) {
  char line[512];
  bool found = false;
  FILE *file = fopen("/proc/self/cgroup", "r");
  while (file && !found && fgets(line, sizeof line, file)) {
    char *name = strchr(line, ':'), *group = name ? strchr(name + 1, ':') : NULL;
    if (!group) continue;
    *group++ = '\0';
    group[strcspn(group, "\n")] = '\0';
    *version2 = name[1] == '\0';
    snprintf(now.home, sizeof now.home, "/sys/fs/cgroup%s%.200s", *version2 ? "" : "/cpu", group);
    found = (*version2 || !strcmp(name + 1, "cpu")) && !access(now.home, W_OK);
    if (found && *version2)
      found = write_text(now.home, "cgroup.subtree_control", "+cpu") || errno == EBUSY;
  }
  if (file) fclose(file);
  return found;
}

static const char *limit_time(int processors) {
  char text[64];
  bool version2;
  const long period = 100000, quota = period * 3 * processors / 4;
  if (!find_group(&version2)) return "no cgroup that may be changed";
  snprintf(now.group, sizeof now.group, "%.200s/trireme-bench-%ld", now.home, (long)getpid());
  bool good = !mkdir(now.group, 0755);
  snprintf(text, sizeof text, version2 ? "%ld %ld" : "%ld", quota, period);
  good = good && write_text(now.group, version2 ? "cpu.max" : "cpu.cfs_quota_us", text);
  snprintf(text, sizeof text, "%ld", (long)getpid());
  good = good && write_text(now.group, "cgroup.procs", text);
  if (good) return NULL;
  (void)rmdir(now.group);
  *now.group = '\0';
  return "a cgroup with a limit cannot be made";
}

/* ---- Surroundings ---- */

const char *bench_surrounding_begin(int k, int processors) {
  const int parts = (processors + PER - 1) / PER;
  const char *why = NULL;
  memset(&now, 0, sizeof now);
  if (k == STOLEN) start(parts, true, true, steal, 0);
  if (k == BUSY_BOUND) start(parts, true, false, busy, 0);
  if (k == BUSY) start(parts, false, false, busy, 0);
  if (k == CROWDED) start(2 * processors, false, false, busy, 0);
  if (k == SPINNING) start(1, false, false, be_team, processors);
  if (k == PROGRAMS) start(processors, false, false, be_programs, 1);
  if (k == CPUSET) why = take_processors_away(parts);
  if (k == QUOTA) why = limit_time(processors);
  rest(20e-3);
  return why;
}

void bench_surrounding_end(void) {
  char text[32];
  for (int k = 0; k < now.children; k++) (void)kill(now.child[k], SIGKILL);
  for (int k = 0; k < now.children; k++) (void)waitpid(now.child[k], NULL, 0);
  if (now.masked) set_masks(&now.mask);
  snprintf(text, sizeof text, "%ld", (long)getpid());
  if (*now.group && write_text(now.home, "cgroup.procs", text)) (void)rmdir(now.group);
  memset(&now, 0, sizeof now);
}

/* ---- What the kernel counts ---- */

/* The eighth number of the first line of /proc/stat. */
static double stolen_seconds(void) {
  double ticks = 0;
  FILE *file = fopen("/proc/stat", "r");
  if (file && fscanf(file, "cpu %*f %*f %*f %*f %*f %*f %*f %lf", &ticks) != 1) ticks = 0;
  if (file) fclose(file);
  return ticks / (double)sysconf(_SC_CLK_TCK);
}

bench_losses bench_losses_now(void) {
  struct rusage usage;
  return (bench_losses){.stolen = stolen_seconds(),
                        .switches = getrusage(RUSAGE_SELF, &usage) ? 0 : usage.ru_nivcsw};
}
