/* machine.c - the machine's memory and the limits of Linux control groups: those of version 2 and
 * of version 1's memory controller, for the process's own group and all groups above it. */
#include "base/machine.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int64_t lesser(int64_t a, int64_t b) { return a < b ? a : b; }

/* The number in a file; INT64_MAX if the file has none, such as "max". */
static int64_t number_in(const char *path) {
  long long value;
  FILE *file = fopen(path, "re");
  if (!file) return INT64_MAX;
  bool found = fscanf(file, "%lld", &value) == 1 && value > 0;
  (void)fclose(file);
  return found ? value : INT64_MAX;
}

/* The smallest limit in the folder root/group and in those above it.  In a container the root is
 * often the group itself. */
static int64_t group_limit(const char *root, const char *group, const char *name) {
  char path[PATH_MAX], part[PATH_MAX];
  int64_t least = INT64_MAX;
  snprintf(part, sizeof part, "%s", strcmp(group, "/") ? group : "");
  for (;;) {
    if (snprintf(path, sizeof path, "%s%s/%s", root, part, name) < (int)sizeof path)
      least = lesser(least, number_in(path));
    char *slash = strrchr(part, '/');
    if (!slash) return least;
    *slash = '\0';
  }
}

/* Lines of /proc/self/cgroup are NUMBER:CONTROLLERS:GROUP. */
static int64_t group_limits(void) {
  char line[PATH_MAX + 64];
  int64_t least = INT64_MAX;
  FILE *file = fopen("/proc/self/cgroup", "re");
  if (!file) return least;
  while (fgets(line, sizeof line, file)) {
    char *controllers = strchr(line, ':'),
         *group = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!group) continue;
    *group++ = '\0';
    group[strcspn(group, "\n")] = '\0';
    if (!controllers[1])
      least = lesser(least, group_limit("/sys/fs/cgroup", group, "memory.max"));
    else if (!strcmp(controllers + 1, "memory"))
      least = lesser(least, group_limit("/sys/fs/cgroup/memory", group, "memory.limit_in_bytes"));
  }
  (void)fclose(file);
  return least;
}

int64_t trs_machine_memory(void) {
  long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  int64_t machine = pages > 0 && page > 0 ? (int64_t)pages * page : INT64_MAX;
  return lesser(machine, group_limits());
}
