/* cores.c - the affinity mask, the processor time that cgroups allow, and the limits of the
 * environment.
 *
 * /proc/self/cgroup names the group.  Version 2 has "QUOTA PERIOD" in cpu.max; version 1 has the
 * two numbers in cpu.cfs_quota_us and cpu.cfs_period_us.  Limits of the groups above apply too.
 * Inside a container the name may be the host's, while the container's own group is mounted at the
 * top; directories that do not exist are therefore skipped. */
#define _GNU_SOURCE
#include "base/cores.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/places.h"

/* Returns the number of integers read from "DIRECTORY/NAME", 0 to 2.  "max" is not an integer. */
static int read_numbers(const char *directory, const char *name, long long *first,
                        long long *second) {
  char path[1024], text[64] = "";
  int length = snprintf(path, sizeof path, "%s/%s", directory, name);
  if (length < 0 || (size_t)length >= sizeof path) return 0;
  FILE *file = fopen(path, "re");
  if (!file) return 0;
  char *line = fgets(text, sizeof text, file);
  fclose(file);
  int read = line ? sscanf(line, "%lld %lld", first, second) : 0;
  return read > 0 ? read : 0;
}

static int limit_of(const char *directory, bool version2) {
  long long quota = 0, period = 0, none;
  bool limited = version2 ? read_numbers(directory, "cpu.max", &quota, &period) == 2
                          : read_numbers(directory, "cpu.cfs_quota_us", &quota, &none) == 1 &&
                                read_numbers(directory, "cpu.cfs_period_us", &period, &none) == 1;
  if (!limited || quota <= 0 || period <= 0) return 0;
  long long cores = (quota - 1) / period + 1;
  return cores < TRS_MOST_THREADS ? (int)cores : TRS_MOST_THREADS;
}

static int smaller_limit(int a, int b) { return a == 0 || (b > 0 && b < a) ? b : a; }

/* The smallest limit of a group and of the groups above it, up to the mount. */
static int limit_along(const char *mount, const char *group, bool version2) {
  char directory[1024];
  int length = snprintf(directory, sizeof directory, "%s%s", mount, group), least = 0;
  if (length < 0 || (size_t)length >= sizeof directory) return 0;
  for (;;) {
    least = smaller_limit(least, limit_of(directory, version2));
    char *cut = strrchr(directory + strlen(mount), '/');
    if (!cut) return least;
    *cut = '\0';
  }
}

/* "ID:CONTROLLERS:GROUP"; version 2 is "0::GROUP". */
static int limit_of_line(const char *root, char *line) {
  static const char *const mounts[] = {"cpu", "cpu,cpuacct", "cpuacct,cpu"};
  char mount[512], *controllers = strchr(line, ':');
  char *group = controllers ? strchr(controllers + 1, ':') : NULL;
  int least = 0;
  if (!group) return 0;
  *group++ = '\0';
  group[strcspn(group, "\n")] = '\0';
  controllers++;
  if (!*controllers) {
    snprintf(mount, sizeof mount, "%s/sys/fs/cgroup", root);
    return limit_along(mount, group, true);
  }
  for (char *rest = controllers, *name; (name = strsep(&rest, ","));)
    for (size_t k = 0; !strcmp(name, "cpu") && k < sizeof mounts / sizeof *mounts; k++) {
      snprintf(mount, sizeof mount, "%s/sys/fs/cgroup/%s", root, mounts[k]);
      least = smaller_limit(least, limit_along(mount, group, false));
    }
  return least;
}

int trs_quota_cores(const char *root) {
  char line[1024];
  int least = 0;
  snprintf(line, sizeof line, "%s/proc/self/cgroup", root);
  FILE *file = fopen(line, "re");
  while (file && fgets(line, sizeof line, file))
    least = smaller_limit(least, limit_of_line(root, line));
  if (file) fclose(file);
  return least;
}

int trs_cores(void) { return smaller_limit(trs_affinity_cores(), trs_quota_cores("")); }

/* A limit that OpenMP, joblib or Slurm was given; 0: none.  Of a list, which OpenMP takes for
 * nested regions, the first number.  What is no such list is ignored, as OpenMP does. */
static int limit_of_variable(const char *name) {
  const char *text = getenv(name);
  int first = 0;
  while (text && *text) {
    char *rest;
    text += strspn(text, " \t");
    if (*text < '0' || *text > '9') return 0;
    const unsigned long number = strtoul(text, &rest, 10); /* ULONG_MAX if it is larger */
    if (number == 0) return 0;
    if (!first) first = number < TRS_MOST_THREADS ? (int)number : TRS_MOST_THREADS;
    rest += strspn(rest, " \t");
    if (*rest && (*rest != ',' || !rest[1])) return 0;
    text = rest + (*rest == ',');
  }
  return first;
}

static int default_cores(void) {
  static const char *const names[] = {"OMP_NUM_THREADS", "LOKY_MAX_CPU_COUNT",
                                      "SLURM_CPUS_PER_TASK"};
  int cores = trs_cores();
  for (size_t k = 0; k < sizeof names / sizeof *names; k++)
    cores = smaller_limit(cores, limit_of_variable(names[k]));
  return cores;
}

trs_status trs_default_threads(int *threads) {
  const char *text = getenv("TRIREME_NUM_THREADS");
  char *rest;
  *threads = default_cores();
  if (!text || !*text) return TRS_SUCCESS;
  long given = strtol(text, &rest, 10);
  if (rest == text || *rest || given < 1 || given > TRS_MOST_THREADS)
    return trs_fail(TRS_ERROR_ARGUMENT, -1,
                    "the environment variable TRIREME_NUM_THREADS is \"%s\": it must be 1 to %d",
                    text, TRS_MOST_THREADS);
  *threads = (int)given;
  return TRS_SUCCESS;
}
