/* fail_malloc.c - preloaded: fails one allocation of a process, whoever asks for it, or all from
 * there on.
 *
 *   TORTURE_FAIL_IN   the program's name
 *   TORTURE_FAIL_AT   number of the allocation, counted from the start of main
 *   TORTURE_FAIL_ON   if set, all that follow fail too
 *   TORTURE_COUNT     a folder in which each process leaves the number of its allocations, 8 bytes
 *                     in a file PROGRAM.PROCESS, however it ends */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static atomic_long own, *allocations; /* NULL until the constructor has run */
static long fail_at = -1;
static int fail_on;

static int fails(void) {
  if (!allocations) return 0;
  long number = atomic_fetch_add(allocations, 1);
  return fail_at >= 0 && (number == fail_at || (number > fail_at && fail_on));
}

#include "failing_malloc.h"

static const char *program_name(void) {
  static char path[4096];
  ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  path[length > 0 ? length : 0] = '\0';
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static atomic_long *counter(const char *folder) {
  char path[4200];
  snprintf(path, sizeof path, "%s/%s.%ld", folder, program_name(), (long)getpid());
  int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0 || ftruncate(fd, sizeof own)) return &own;
  void *shared = mmap(NULL, sizeof own, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  return shared == MAP_FAILED ? &own : shared;
}

__attribute__((constructor)) static void begin(void) {
  const char *in = getenv("TORTURE_FAIL_IN"), *at = getenv("TORTURE_FAIL_AT");
  const char *folder = getenv("TORTURE_COUNT");
  if (in && at && !strcmp(in, program_name())) fail_at = atol(at);
  fail_on = getenv("TORTURE_FAIL_ON") != NULL;
  allocations = folder ? counter(folder) : &own;
}
