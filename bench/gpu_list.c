/* gpu_list.c - the GPUs of a run on several: those of --backend, else all. */
#include "gpu_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "leave.h"

static int leave_list(const char *backend) {
  return leave_usage("bench",
                     "--backend takes GPUs, at most %d, such as cuda:0-3 or cuda:0,2, not '%s'",
                     BENCH_MOST_GPUS, backend);
}

/* "0-3,5": numbers, and pairs with a dash between them; a GPU may occur several times. */
static int parse(bench_gpu_list *gpus, const char *backend) {
  enum { MOST_NUMBER = 1023 };
  const char *text = strchr(backend, ':');
  do {
    char *end;
    if (!text) return leave_list(backend);
    long first = strtol(++text, &end, 10), last = first;
    bool good = end != text && *text != '-';
    if (good && *end == '-') {
      text = end + 1;
      last = strtol(text, &end, 10);
      good = end != text;
    }
    if (!good || first < 0 || last < first || last > MOST_NUMBER || (*end && *end != ','))
      return leave_list(backend);
    for (long k = first; k <= last; k++) {
      if (gpus->count == BENCH_MOST_GPUS) return leave_list(backend);
      gpus->number[gpus->count++] = (int)k;
    }
    text = *end ? end : NULL;
  } while (text);
  return -1;
}

int bench_gpu_list_find(bench_gpu_list *gpus, const char *backend) {
  *gpus = (bench_gpu_list){0};
  if (backend) return parse(gpus, backend);
  for (const char *line = trs_device_list(); *line && gpus->count < BENCH_MOST_GPUS;
       line += *line == '\n') {
    gpus->number[gpus->count] = gpus->count;
    gpus->count++;
    line += strcspn(line, "\n");
  }
  return -1;
}

int bench_gpu_list_open(const bench_gpu_list *gpus, int count, trs_context **ctx) {
  char where[BENCH_MOST_GPUS * 8 + 8] = "cuda:0"; /* count 0: its error names what is missing */
  size_t used = 0;
  for (int k = 0; k < count; k++)
    used +=
        (size_t)snprintf(where + used, sizeof where - used, k ? ",%d" : "cuda:%d", gpus->number[k]);
  return trs_context_create(ctx, where) ? leave_library(NULL) : -1;
}

int bench_gpu_list_distinct(const bench_gpu_list *gpus) {
  int distinct = 0;
  for (int k = 0; k < gpus->count; k++) {
    bool again = false;
    for (int j = 0; j < k; j++) again |= gpus->number[j] == gpus->number[k];
    distinct += !again;
  }
  return distinct;
}
