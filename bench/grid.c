/* grid.c - tables of short texts, aligned for a terminal or as Markdown. */
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "output.h"

void bench_grid_add(bench_grid *grid, const char *text) {
  if (grid->cells == grid->room) {
    int64_t room = 2 * grid->room + 256;
    char(*larger)[48] = realloc(grid->cell, (size_t)room * sizeof *larger);
    if (!larger) return; /* a cell less, where memory for a table is lacking */
    grid->cell = larger;
    grid->room = room;
  }
  snprintf(grid->cell[grid->cells++], sizeof *grid->cell, "%s", text);
}

static void print_markdown(const bench_grid *grid) {
  for (int64_t i = 0; i < grid->cells; i++) {
    bool last = (i + 1) % grid->columns == 0;
    printf("%s%s |%s", i % grid->columns ? " " : "| ", grid->cell[i], last ? "\n" : "");
    if (i + 1 != grid->columns) continue;
    printf("| --- |");
    for (int c = 1; c < grid->columns; c++) printf(" --: |");
    printf("\n");
  }
}

static int width_of(const bench_grid *grid, int column) {
  size_t width = 0;
  for (int64_t i = column; i < grid->cells; i += grid->columns)
    if (strlen(grid->cell[i]) > width) width = strlen(grid->cell[i]);
  return (int)width;
}

/* The first column, and those from begin to end. */
static void print_columns(const bench_grid *grid, int begin, int end) {
  for (int64_t row = 0; row < grid->cells; row += grid->columns) {
    printf("%-*s", width_of(grid, 0), grid->cell[row]);
    for (int c = begin; c < end && row + c < grid->cells; c++)
      printf("  %*s", width_of(grid, c), grid->cell[row + c]);
    printf("\n");
  }
}

/* Columns that do not fit stand below, beside the first one again. */
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
  if (markdown)
    printf("\n**%s**\n\n", title);
  else
    printf("\n%s%s%s\n", style_on(STYLE_BOLD), title, style_off());
  if (markdown)
    print_markdown(grid);
  else
    print_aligned(grid);
  fflush(stdout);
  free(grid->cell);
  *grid = (bench_grid){0};
}
