/* counts.c - lists of numbers in options: --threads 1,2,4 and --nrhs 1,8,32. */
#include <stdlib.h>
#include <string.h>

#include "leave.h"
#include "settings.h"

enum { MOST = sizeof((bench_counts *)0)->value / sizeof *((bench_counts *)0)->value };

int bench_counts_parse(bench_counts *counts, const char *name, const char *list, int64_t limit) {
  *counts = (bench_counts){0};
  for (const char *at = list; at && *at; at += strcspn(at, ","), at += *at == ',') {
    char *end;
    long long value = strtoll(at, &end, 10);
    if (end == at || (*end && *end != ',') || value < 1 || value > limit || counts->count == MOST)
      return leave_usage("bench",
                         "--%s takes up to %d numbers from 1 to %lld, such as 1,2,4, not '%s'",
                         name, MOST, (long long)limit, list);
    counts->value[counts->count++] = value;
    if (value > counts->most) counts->most = value;
  }
  return -1;
}
