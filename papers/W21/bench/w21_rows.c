/* w21_rows.c - shared by the parts of bench w21: the matrix, the time of a sweep on GPUs, rows and
 * their table. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cuda.h"
#include "experiment.h"
#include "grid.h"
#include "leave.h"
#include "machine.h"
#include "output.h"
#include "progress.h"
#include "row.h"
#include "w21.h"

enum { ROUNDS = 10 }; /* the least of ten, as in the paper (VII) */
static const char *const stores[] = {"mixed", "f64", "f32", "f16", "bf16"};

int w21_read(w21_run *run) {
  trs_read_options how = {.struct_size = sizeof(trs_read_options), .progress = progress_show};
  trs_matrix_info info = {.struct_size = sizeof info};
  progress_begin();
  trs_status status = trs_matrix_read(&run->A, run->name, &how);
  progress_end();
  if (status) return leave_library(NULL);
  trs_matrix_get_info(run->A, &info);
  run->n = info.nrows;
  return -1;
}

trs_status w21_time(trs_plan *R, void *x, const void *b, int64_t n, double *sweep) {
  trs_sweep_options how = {.struct_size = sizeof(trs_sweep_options), .sweeps = W21_SWEEPS};
  trs_status status = TRS_SUCCESS;
  *sweep = INFINITY;
  for (int round = 0; round < ROUNDS && !status; round++) {
    (void)bench_cuda_start();
    status = trs_relax_sweep(R, x, n, b, n, 1, TRS_COL_MAJOR, &how);
    double took = bench_cuda_stop() / W21_SWEEPS;
    if (took > 0 && took < *sweep) *sweep = took;
  }
  return status ? status : trs_plan_wait(R);
}

/* ---- Rows ---- */

static const char *const heads[] = {
    "matrix",    "by",       "threads or GPUs", "block",         "store",
    "sweep, ms", "GB/s",     "share of a copy", "times one GPU", "setup, ms",
    "rounding",  "residual", "checked"};
enum { COLUMNS = sizeof heads / sizeof *heads };

static void add_number(bench_grid *grid, const char *format, double value) {
  char text[48] = "-";
  if (isfinite(value)) snprintf(text, sizeof text, format, value);
  bench_grid_add(grid, text);
}

/* The reference of the comparison of x. */
static void add_verdict(bench_grid *grid, const bench_row *row) {
  if (row->wrong || row->same_bits == 0)
    bench_grid_add(grid, row->wrong ? "WRONG" : "OTHER BITS");
  else if (row->same_bits > 0)
    bench_grid_add(grid, "same bits");
  else if (isfinite(row->difference))
    bench_grid_put(grid, "within %.0e", row->difference);
  else
    bench_grid_add(grid, "");
}

static void add_row(bench_grid *grid, const bench_row *row) {
  bench_grid_add(grid, row->matrix);
  bench_grid_add(grid, row->method);
  add_number(grid, "%.0f", row->threads ? (double)row->threads : NAN);
  add_number(grid, "%.0f", (double)row->block_size);
  bench_grid_add(grid, row->store);
  bench_grid_milliseconds(grid, &row->sweep, 1);
  add_number(grid, "%.1f", row->gbs);
  add_number(grid, "%.0f %%", 100 * row->gbs / row->copy_gbs);
  add_number(grid, "%.2f", row->speedup);
  bench_grid_milliseconds(grid, &row->create, 1);
  add_number(grid, "%.0e", row->rounding);
  add_number(grid, "%.2e", row->residual);
  add_verdict(grid, row);
}

bench_row w21_row(const w21_run *run, trs_store store, const trs_relax_info *info) {
  bench_row row = bench_row_empty();
  snprintf(row.suite, sizeof row.suite, "w21");
  snprintf(row.matrix, sizeof row.matrix, "%s", run->name);
  snprintf(row.backend, sizeof row.backend, run->set->device < 0 ? "cpu" : "cuda");
  snprintf(row.method, sizeof row.method, "%s", info->variant);
  snprintf(row.store, sizeof row.store, "%s", stores[store - TRS_STORE_MIXED]);
  row.threads = run->set->device < 0 ? info->threads : info->domains;
  row.n = info->nrows;
  row.blocks = info->nblocks;
  row.block_size = info->block_size;
  row.colours = info->colours;
  row.sweeps = W21_SWEEPS;
  row.bytes = info->sweep_bytes;
  row.create = info->create_seconds;
  row.update = info->update_seconds;
  row.rounding = info->rounding;
  return row;
}

/* What of the paper a row belongs to. */
static const char *title_of(const bench_row *row) {
  const bool one_gpu = !strcmp(row->backend, "cuda") && row->threads <= 1;
  if (!one_gpu)
    return "W21's case, n_iter = 15, on CPUs or several GPUs: beyond the paper's tables";
  if (row->block_size == W21_BLOCK && !strcmp(row->store, "mixed"))
    return "W21, Figure 4 and Tables II and III: the variants, blocks in single precision (mixed)";
  if (row->block_size == W21_BLOCK && !strcmp(row->store, "f64"))
    return "W21, Tables II and III: the variants, f64";
  return "W21's case in other formats and sizes of blocks: beyond the paper's tables";
}

void w21_show(w21_run *run, bench_row *row) {
  const char *title = title_of(row);
  if (run->title != title && !run->set->json) printf("%s**%s**\n", run->title ? "\n" : "", title);
  if (run->title != title) run->headed = false;
  run->title = title;
  bench_grid grid = {.columns = run->headed ? COLUMNS : 0, .bare = run->headed};
  row->gbs = (double)row->bytes / row->sweep * 1e-9;
  if (!run->set->json) {
    if (!run->headed) {
      printf("\n%s: %s block rows, %s blocks off the diagonal, %s colours, %d sweeps%s%s\n\n",
             run->name, human_count(row->n).s, human_count(row->blocks).s,
             human_count(row->colours).s, W21_SWEEPS, *bench_machine_look()->gpu ? "; " : "",
             bench_machine_look()->gpu);
      bench_grid_head(&grid, heads, COLUMNS);
    }
    add_row(&grid, row);
    bench_grid_print(&grid, NULL, true);
  }
  run->headed = true;
  run->wrong |= row->wrong || row->same_bits == 0;
  if (run->set->json) bench_row_write(stdout, row);
  if (run->out) bench_row_write(run->out, row);
}

void bench_w21_report(const bench_rows *rows, bool markdown) {
  for (int64_t begin = 0, i = 0; begin < rows->count; begin = i) {
    const char *title = title_of(&rows->row[begin]);
    bench_grid grid = {0};
    bench_grid_head(&grid, heads, COLUMNS);
    for (i = begin; i < rows->count && title_of(&rows->row[i]) == title; i++)
      add_row(&grid, &rows->row[i]);
    bench_grid_print(&grid, title, markdown);
  }
}
