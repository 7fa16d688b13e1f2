/* grid.c - tables of short texts, aligned for a terminal or as Markdown. */
#include "grid.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "groups.h"
#include "leave.h"

void bench_grid_add(bench_grid *grid, const char *text) {
  if (grid->cells == grid->room) {
    int64_t room = 2 * grid->room + 256;
    char(*larger)[sizeof *grid->cell] = realloc(grid->cell, (size_t)room * sizeof *larger);
    if (!larger) return; /* one cell less if memory for a table is lacking */
    grid->cell = larger;
    grid->room = room;
  }
  snprintf(grid->cell[grid->cells++], sizeof *grid->cell, "%s", text);
}

void bench_grid_put(bench_grid *grid, const char *format, ...) {
  char text[sizeof *grid->cell];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  bench_grid_add(grid, text);
}

void bench_grid_head(bench_grid *grid, const char *const *heads, int count) {
  for (int k = 0; k < count; k++) bench_grid_add(grid, heads[k]);
  grid->columns += count;
}

void bench_grid_milliseconds(bench_grid *grid, const double *seconds, int count) {
  for (int k = 0; k < count; k++) bench_grid_add(grid, bench_milliseconds(seconds[k]).s);
}

void bench_grid_ratios(bench_grid *grid, const double *values, int count) {
  for (int k = 0; k < count; k++) bench_grid_add(grid, bench_ratio(values[k]).s);
}

short_text bench_milliseconds(double seconds) {
  short_text t = {"-"};
  double ms = 1e3 * seconds;
  int digits = ms < 1 ? 4 : ms < 10 ? 3 : ms < 100 ? 2 : 1;
  if (isfinite(ms)) snprintf(t.s, sizeof t.s, "%.*f", digits, ms);
  return t;
}

short_text bench_ratio(double value) {
  return isnan(value) ? (short_text){"-"} : human_times(value);
}

static void print_markdown(const bench_grid *grid) {
  for (int64_t i = 0; i < grid->cells; i++) {
    bool last = (i + 1) % grid->columns == 0;
    printf("%s%s |%s", i % grid->columns ? " " : "| ", grid->cell[i], last ? "\n" : "");
    if (i + 1 != grid->columns || grid->bare) continue;
    printf("| --- |");
    for (int c = 1; c < grid->columns; c++)
      printf(grid->text_last && c == grid->columns - 1 ? " --- |" : " --: |");
    printf("\n");
  }
}

static int width_of(const bench_grid *grid, int column) {
  size_t width = 0;
  for (int64_t i = column; i < grid->cells; i += grid->columns)
    if (strlen(grid->cell[i]) > width) width = strlen(grid->cell[i]);
  return (int)width;
}

/* The first column, and the columns from begin to end. */
static void print_columns(const bench_grid *grid, int begin, int end) {
  for (int64_t row = 0; row < grid->cells; row += grid->columns) {
    printf("%-*s", width_of(grid, 0), grid->cell[row]);
    for (int c = begin; c < end && row + c < grid->cells; c++)
      printf("  %*s", width_of(grid, c), grid->cell[row + c]);
    printf("\n");
  }
}

/* Columns that do not fit are printed below, again beside the first column. */
static void print_aligned(const bench_grid *grid) {
  static bool told;
  int begin = 1, end;
  do {
    int width = width_of(grid, 0);
    for (end = begin; end < grid->columns; end++) {
      width += 2 + width_of(grid, end);
      if (end > begin && width > output_columns()) break;
    }
    if (begin > 1) printf("\n");
    print_columns(grid, begin, end);
    if (end < grid->columns && !told)
      printf("%s(wider than %d columns; COLUMNS=200 prints it in one piece)%s\n",
             style_on(STYLE_DIM), output_columns(), style_off());
    told |= end < grid->columns;
    begin = end;
  } while (begin < grid->columns);
}

void bench_grid_print(bench_grid *grid, const char *title, bool markdown) {
  if (grid->cells > (grid->bare ? 0 : grid->columns)) {
    if (title && markdown)
      printf("\n**%s**\n\n", title);
    else if (title)
      printf("\n%s%s%s\n", style_on(STYLE_BOLD), title, style_off());
    if (markdown)
      print_markdown(grid);
    else
      print_aligned(grid);
    fflush(stdout);
  }
  free(grid->cell);
  *grid = (bench_grid){0};
}

int bench_gains_open(bench_gains *gains) {
  size_t cells = (size_t)(gains->systems * gains->columns);
  gains->name = calloc((size_t)gains->columns, sizeof *gains->name);
  gains->seconds = calloc(cells, sizeof *gains->seconds);
  if (gains->name && gains->seconds) return -1;
  free(gains->name);
  free(gains->seconds);
  return leave_memory((double)cells * sizeof *gains->seconds, "the table");
}

static double gain_of(const bench_gains *g, int system, int column) {
  const double *seconds = g->seconds + system * g->columns;
  return seconds[0] / seconds[column];
}

void bench_gains_print(bench_gains *gains, const char *title, bool markdown) {
  bench_grid grid = {.columns = gains->columns + 1};
  char label[64];
  bench_grid_add(&grid, "system");
  for (int k = 0; k < gains->columns; k++)
    bench_grid_put(&grid, k ? "%s" : "%s, ms", gains->name[k]);
  for (int s = 0; s < gains->systems; s++) {
    bench_label(label, sizeof label, gains->system[s]);
    bench_grid_add(&grid, label);
    bench_grid_milliseconds(&grid, &gains->seconds[s * gains->columns], 1);
    for (int k = 1; k < gains->columns; k++)
      bench_grid_add(&grid, bench_ratio(gain_of(gains, s, k)).s);
  }
  bench_grid_add(&grid, "geometric mean");
  bench_grid_add(&grid, "");
  for (int k = 1; k < gains->columns; k++) {
    bench_mean mean = {0};
    for (int s = 0; s < gains->systems; s++) bench_mean_add(&mean, gain_of(gains, s, k), s);
    bench_grid_add(&grid, bench_ratio(bench_mean_value(&mean)).s);
  }
  bench_grid_print(&grid, title, markdown);
  free(gains->name);
  free(gains->seconds);
}
