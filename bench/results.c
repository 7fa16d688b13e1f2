/* results.c - a file of results as tables and a chart. */

#include "experiment.h"
#include "leave.h"
#include "row.h"

/* The experiment that the rows are of: suites, unless they are another's own. */
static const bench_experiment *find(const bench_rows *rows) {
  for (const bench_experiment *e = bench_experiments + 1; e->name; e++)
    if (e->has(rows)) return e;
  return bench_experiments;
}

int bench_table(const char *path, const char *svg) {
  bench_rows rows;
  int code = bench_rows_read(&rows, path);
  const bench_experiment *e = find(&rows);
  if (code < 0 && svg && !e->draw)
    code = leave_usage("bench", "there is no chart of %s's results: leave out --svg", e->name);
  if (code < 0) e->report(&rows, true);
  if (code < 0 && svg) code = e->draw(&rows, svg);
  bench_rows_free(&rows);
  return code < 0 ? LEAVE_SOLVED : code;
}
