/* machine.c - the machine, software and date of a measurement, and its memory use. */
#include "machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <time.h>

#include "base/text.h"
#include "commit.h"
#include "trireme.h"

/* The value behind "key ...:" in a file of such lines. */
static bool find_line(const char *path, const char *key, char *value, size_t size) {
  char line[512];
  FILE *file = fopen(path, "r");
  bool found = false;
  while (file && !found && fgets(line, sizeof line, file)) {
    const char *colon = strchr(line, ':');
    if (!colon || strncmp(line, key, strlen(key)) != 0) continue;
    colon += 1 + strspn(colon + 1, " \t");
    snprintf(value, size, "%.*s", (int)strcspn(colon, "\n"), colon);
    found = true;
  }
  if (file) fclose(file);
  return found;
}

static void look_at_commit(bench_machine *m) {
  static const char mark[] = "-dirty";
  const char *named = getenv("TRIREME_COMMIT");
  snprintf(m->commit, sizeof m->commit, "%s", named && *named ? named : TRIREME_COMMIT_TEXT);
  size_t length = strlen(m->commit), tail = sizeof mark - 1;
  m->dirty = length > tail && !strcmp(m->commit + length - tail, mark);
  if (m->dirty) m->commit[length - tail] = 0;
}

static bench_machine look(void) {
  bench_machine m = {.cpu = "unknown", .os = "unknown"};
  struct utsname name;
  trs_context *ctx = NULL;
  time_t now = time(NULL);
  find_line("/proc/cpuinfo", "model name", m.cpu, sizeof m.cpu);
  if (!uname(&name))
    snprintf(m.os, sizeof m.os, "%.24s %.64s %.24s", name.sysname, name.release, name.machine);
#if defined(__clang__)
  snprintf(m.compiler, sizeof m.compiler, "clang %d.%d.%d", __clang_major__, __clang_minor__,
           __clang_patchlevel__);
#else
  snprintf(m.compiler, sizeof m.compiler, "gcc %s", __VERSION__);
#endif
  m.cores = trs_context_create(&ctx, "auto") ? 1 : trs_context_threads(ctx);
  trs_context_destroy(ctx);
  if (getloadavg(&m.load, 1) < 1) m.load = 0;
  look_at_commit(&m);
  strftime(m.date, sizeof m.date, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
  return m;
}

static bench_machine machine;

const bench_machine *bench_machine_look(void) {
  if (!machine.cores) machine = look();
  return &machine;
}

void bench_machine_note_gpu(const char *gpu) {
  (void)bench_machine_look();
  snprintf(machine.gpu, sizeof machine.gpu, "%s", gpu);
}

void bench_peak_reset(void) {
  FILE *file = fopen("/proc/self/clear_refs", "w");
  if (!file) return;
  fputs("5", file); /* resets the peak of resident memory to the current value */
  fclose(file);
}

double bench_peak_bytes(void) {
  char value[64];
  struct rusage usage;
  if (find_line("/proc/self/status", "VmHWM", value, sizeof value))
    return 1024 * trs_number(value, NULL);
  return getrusage(RUSAGE_SELF, &usage) ? 0 : 1024 * (double)usage.ru_maxrss;
}
