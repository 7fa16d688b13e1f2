/* steps.c - the times of a plan's own steps, from its description: "preprocessing 0.012 ms". */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "runner.h"

/* Seconds behind the word; NAN: the plan tells none. */
static double seconds_after(const char *text, const char *word) {
  const char *at = strstr(text, word);
  return at ? 1e-3 * trs_number(at + strlen(word), NULL) : NAN;
}

void bench_read_steps(bench_row *row, trs_plan *plan) {
  char text[1024];
  (void)trs_plan_describe(plan, text, sizeof text);
  row->preprocessing = fmin(row->preprocessing, seconds_after(text, "preprocessing "));
  row->allocation = fmin(row->allocation, seconds_after(text, "allocation "));
}

void bench_read_loading(bench_row *row, trs_plan *plan) {
  char text[1024];
  (void)trs_plan_describe(plan, text, sizeof text);
  row->loading = fmin(row->loading, seconds_after(text, "loading "));
}

void bench_add_parts(bench_parts *sum, trs_plan *plan) {
  char text[1024];
  (void)trs_plan_describe(plan, text, sizeof text);
  sum->synchronisation += seconds_after(text, "synchronisation ");
  sum->compute += seconds_after(text, "compute ");
}
