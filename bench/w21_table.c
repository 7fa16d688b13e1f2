/* w21_table.c - the rows of trireme bench w21 from a file, as a Markdown table: of a CPU, of a GPU
 * and its peers, of several GPUs. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "leave.h"
#include "trireme.h"

typedef struct w21_row {
  char matrix[48], place[48], store[16], verdict[24];
  int64_t rows, blocks;
  double number, block_size, sweep_s, gbs, copy_gbs, create_s, residual;
} w21_row;

bool bench_w21_is_line(const char *line) { return strstr(line, "\"suite\": \"w21\"") != NULL; }

static const char *put(void *user, const char *path, const bench_json_value *v) {
  w21_row *row = user;
  const struct {
    const char *name;
    double *to;
  } reals[] = {{"threads", &row->number},    {"gpus", &row->number},
               {"sweep_s", &row->sweep_s},   {"gbs", &row->gbs},
               {"copy_gbs", &row->copy_gbs}, {"create_s", &row->create_s},
               {"residual", &row->residual}, {"block_size", &row->block_size}};
  for (size_t k = 0; k < sizeof reals / sizeof *reals; k++)
    if (!strcmp(path, reals[k].name) && v->kind == BENCH_JSON_NUMBER) *reals[k].to = v->number;
  if (!strcmp(path, "matrix")) snprintf(row->matrix, sizeof row->matrix, "%s", v->text);
  if (!strcmp(path, "variant")) snprintf(row->place, sizeof row->place, "%s", v->text);
  if (!strcmp(path, "store")) snprintf(row->store, sizeof row->store, "%s", v->text);
  if (!strcmp(path, "wrong") && v->number != 0)
    snprintf(row->verdict, sizeof row->verdict, "WRONG");
  if (!strcmp(path, "same_bits"))
    snprintf(row->verdict, sizeof row->verdict, v->number != 0 ? "same bits" : "OTHER BITS");
  return NULL;
}

static int take_line(w21_row *row, const char *line) {
  *row = (w21_row){.number = NAN,
                   .block_size = NAN,
                   .sweep_s = NAN,
                   .gbs = NAN,
                   .copy_gbs = NAN,
                   .create_s = NAN,
                   .residual = NAN,
                   .place = "threads"};
  const char *error = bench_json_walk(line, row, put);
  if (!error && isnan(row->sweep_s)) error = "it has no sweep_s";
  if (!error) return -1;
  return leave(LEAVE_INPUT, trs_status_name(TRS_ERROR_FORMAT), -1, "a result of w21: %s: %.60s",
               error, line);
}

static void add_number(bench_grid *grid, const char *format, double value) {
  char text[48] = "-";
  if (isfinite(value)) snprintf(text, sizeof text, format, value);
  bench_grid_add(grid, text);
}

static void add_row(bench_grid *grid, const w21_row *row) {
  bench_grid_add(grid, row->matrix);
  bench_grid_add(grid, row->place);
  add_number(grid, "%.0f", row->number);
  add_number(grid, "%.0f", row->block_size);
  bench_grid_add(grid, row->store);
  bench_grid_add(grid, bench_milliseconds(row->sweep_s).s);
  add_number(grid, "%.1f", row->gbs);
  add_number(grid, "%.0f %%", 100 * row->gbs / row->copy_gbs);
  bench_grid_add(grid, bench_milliseconds(row->create_s).s);
  add_number(grid, "%.2e", row->residual);
  bench_grid_add(grid, row->verdict);
}

int bench_w21_table(const char *path) {
  static const char *const head[] = {
      "matrix",          "by",        "threads or GPUs", "block",  "store", "sweep, ms", "GB/s",
      "share of a copy", "setup, ms", "residual",        "checked"};
  bench_grid grid = {.columns = sizeof head / sizeof *head};
  for (int c = 0; c < grid.columns; c++) bench_grid_add(&grid, head[c]);
  FILE *file = fopen(path, "r");
  char *line = NULL;
  size_t room = 0;
  int code = -1;
  if (!file)
    return leave(LEAVE_INPUT, trs_status_name(TRS_ERROR_FILE), -1, "%s: %s", path, strerror(errno));
  while (code < 0 && getline(&line, &room, file) > 0) {
    w21_row row;
    if (line[0] != '{') continue;
    code = take_line(&row, line);
    if (code < 0) add_row(&grid, &row);
  }
  free(line);
  fclose(file);
  if (code < 0) bench_grid_print(&grid, "W21: 15 sweeps, the fastest", true);
  if (code >= 0) free(grid.cell);
  return code < 0 ? LEAVE_SOLVED : code;
}
