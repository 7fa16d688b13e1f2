/* blocks_rows.c - shared by the parts of bench blocks: rows, their check and their table. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blocks.h"
#include "experiment.h"
#include "grid.h"
#include "machine.h"
#include "output.h"

static const char *const heads[] = {
    "matrix",          "by",           "threads",      "store",      "solve, ms", "GB/s",
    "share of a copy", "times scalar", "analysis, ms", "update, ms", "in solves", "backward error",
    "off by"};
enum { COLUMNS = sizeof heads / sizeof *heads };

/* ---- Rows ---- */

const trs_store blocks_stores[BLOCKS_STORES] = {TRS_STORE_DEFAULT, TRS_STORE_MIXED, TRS_STORE_HALF,
                                                TRS_STORE_BFLOAT};

/* Bytes that both sweeps read or write, each counted once: blocks off the diagonals with their
 * indices (or entries with theirs), factors of the diagonal blocks in double, b and x. */
static int64_t bytes_of(const blocks_run *run, const bench_row *row, trs_store store,
                        bool by_scalars) {
  static const int64_t size[] = {
      [TRS_STORE_DEFAULT] = 8, [TRS_STORE_MIXED] = 4, [TRS_STORE_HALF] = 2, [TRS_STORE_BFLOAT] = 2};
  const int64_t square = BLOCKS_SIZE * BLOCKS_SIZE, vectors = 2 * run->info.n * 8;
  const int64_t entries = run->info.nnz_L + run->info.nnz_U;
  if (by_scalars) return entries * 12 + vectors;
  const int64_t diagonals = 2 * row->n, off = entries / square - diagonals;
  return off * (square * size[store] + 4) + diagonals * square * 8 + vectors;
}

bench_row blocks_row(const blocks_run *run, const char *method, trs_store store, bool by_scalars) {
  static const char *const stores[] = {[TRS_STORE_DEFAULT] = "f64",
                                       [TRS_STORE_MIXED] = "f32",
                                       [TRS_STORE_HALF] = "f16",
                                       [TRS_STORE_BFLOAT] = "bf16"};
  bench_row row = bench_row_empty();
  snprintf(row.suite, sizeof row.suite, "blocks");
  snprintf(row.matrix, sizeof row.matrix, "%s", run->name);
  snprintf(row.backend, sizeof row.backend, run->set->device < 0 ? "cpu" : "cuda");
  snprintf(row.method, sizeof row.method, "%s", method);
  snprintf(row.store, sizeof row.store, "%s", stores[store]);
  row.n = run->info.n / BLOCKS_SIZE;
  row.block_size = BLOCKS_SIZE;
  row.blocks = (run->info.nnz_L + run->info.nnz_U) / (BLOCKS_SIZE * BLOCKS_SIZE);
  row.copy_gbs = run->copy_gbs;
  row.bytes = bytes_of(run, &row, store, by_scalars);
  return row;
}

/* ---- The check ---- */

static double difference(const double *x, const double *expected, int64_t n) {
  double most = 0, worst = 0;
  for (int64_t i = 0; i < n; i++) {
    const double off = fabs(x[i] - expected[i]);
    most = fmax(most, fabs(expected[i]));
    if (!(off <= worst)) worst = off;
  }
  return most > 0 ? worst / most : worst;
}

/* The first solution by scalars is checked in the factors; others are compared with it. */
static void check(blocks_run *run, bench_row *row) {
  static const char *const stores[] = {"f64", "f32", "f16", "bf16"};
  static const double limits[] = {1e-10, 1e-3, 0.2, 1};
  trs_backward_error error = {.struct_size = sizeof error};
  const int64_t n = run->info.n;
  if (!run->has_expected) {
    trs_status status =
        trs_check_factors(&error, run->F, TRS_NO_TRANS, run->x, n, run->b, n, 1, TRS_COL_MAJOR);
    row->normwise = status ? NAN : error.normwise;
    row->wrong = !(row->normwise < 1e-13);
    memcpy(run->expected, run->x, (size_t)n * sizeof *run->x);
    run->has_expected = true;
    return;
  }
  row->difference = difference(run->x, run->expected, n);
  for (int k = 0; k < 4; k++)
    if (!strcmp(row->store, stores[k])) row->wrong = !(row->difference < limits[k]);
}

/* ---- Tables ---- */

static void add_number(bench_grid *grid, const char *format, double value) {
  char text[48] = "-";
  if (isfinite(value)) snprintf(text, sizeof text, format, value);
  bench_grid_add(grid, text);
}

static void add_row(bench_grid *grid, const bench_row *row) {
  const double solve = bench_row_seconds(row);
  bench_grid_add(grid, row->matrix);
  bench_grid_add(grid, row->method);
  add_number(grid, "%.0f", row->threads ? (double)row->threads : NAN);
  bench_grid_add(grid, row->store);
  bench_grid_milliseconds(grid, &solve, 1);
  add_number(grid, "%.1f", row->gbs);
  add_number(grid, "%.0f %%", 100 * row->gbs / row->copy_gbs);
  add_number(grid, "%.2f", row->speedup);
  bench_grid_milliseconds(grid, &row->analysis, 1);
  bench_grid_milliseconds(grid, &row->update, 1);
  add_number(grid, "%.1f", row->update / solve);
  add_number(grid, "%.0e", row->normwise);
  if (row->wrong)
    bench_grid_add(grid, "WRONG");
  else
    add_number(grid, "%.0e", row->difference);
}

static void print_head(const blocks_run *run, const bench_row *row, bench_grid *grid) {
  const char *gpu = bench_machine_look()->gpu;
  printf("\n%s: block ILU(0), %s block rows, %s blocks; a copy moves %.0f GB/s%s%s\n\n", run->name,
         human_count(row->n).s, human_count(row->blocks).s, run->copy_gbs, *gpu ? "; " : "", gpu);
  bench_grid_head(grid, heads, COLUMNS);
}

void blocks_show(blocks_run *run, bench_row *row, bool by_scalars) {
  bench_grid grid = {.columns = run->headed ? COLUMNS : 0, .bare = run->headed};
  const double solve = bench_row_seconds(row);
  check(run, row);
  row->gbs = (double)row->bytes / solve * 1e-9;
  row->speedup = run->scalar_s / solve;
  if (by_scalars && !(run->scalar_s < solve)) run->scalar_s = solve;
  if (!run->set->json) {
    if (!run->headed) print_head(run, row, &grid);
    add_row(&grid, row);
    bench_grid_print(&grid, NULL, true);
    fflush(stdout);
  }
  run->headed = true;
  run->wrong |= row->wrong;
  if (run->set->json) bench_row_write(stdout, row);
  if (run->out) bench_row_write(run->out, row);
}

void bench_blocks_report(const bench_rows *rows, bool markdown) {
  bench_grid grid = {0};
  bench_grid_head(&grid, heads, COLUMNS);
  for (int64_t i = 0; i < rows->count; i++) add_row(&grid, &rows->row[i]);
  bench_grid_print(&grid, "Block ILU(0), blocks of 5", markdown);
}
