/* rows.c - results, one JSON object per line.  One table of fields serves writing and reading. */
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "json_read.h"
#include "leave.h"
#include "machine.h"
#include "row.h"
#include "sort.h"
#include "trireme.h"

int bench_rows_add(bench_rows *rows, const bench_row *row) {
  if (rows->count == rows->room) {
    int64_t room = 2 * rows->room + 64;
    bench_row *larger = realloc(rows->row, (size_t)room * sizeof *larger);
    if (!larger) return leave_memory((double)room * sizeof *larger, "the results");
    rows->row = larger;
    rows->room = room;
  }
  rows->row[rows->count++] = *row;
  return -1;
}

void bench_rows_free(bench_rows *rows) {
  free(rows->row);
  *rows = (bench_rows){0};
}

bench_row_type bench_type_of(const bench_row *row) {
  if (*row->kind) return BENCH_RANKS_ROW;
  if (!strcmp(row->suite, "blocks")) return BENCH_BLOCKS_ROW;
  return !strcmp(row->suite, "w21") ? BENCH_RELAX_ROW : BENCH_SOLVE_ROW;
}

bool bench_on_gpu(const bench_row *row) {
  return !strcmp(row->backend, "cuda") || !strcmp(row->backend, "nvshmem");
}

double bench_row_seconds(const bench_row *row) {
  bench_row_type type = bench_type_of(row);
  if (type == BENCH_RANKS_ROW) return row->value[L23_SOLVE].max;
  if (type == BENCH_RELAX_ROW) return row->sweep;
  return bench_on_gpu(row) ? row->median : row->fastest;
}

void bench_row_times(bench_row *row, double *seconds, int64_t repeats, int64_t batch) {
  double sum = 0;
  row->repeats = repeats;
  row->solves = repeats * batch;
  if (!repeats) return;
  for (int64_t k = 0; k < repeats; k++) sum += seconds[k];
  row->mean = sum / (double)repeats;
  row->median = sort_median(seconds, repeats);
  row->fastest = seconds[0];
}

bool bench_same_matrix(const bench_row *a, const bench_row *b) {
  return a->upper == b->upper && !strcmp(a->matrix, b->matrix) && !strcmp(a->scalar, b->scalar);
}

bool bench_same_system(const bench_row *a, const bench_row *b) {
  return a->nrhs == b->nrhs && bench_same_matrix(a, b) && !strcmp(a->layout, b->layout);
}

/* "factor:lu:nd:gen:poisson2d5:300" is "lu:nd:poisson2d5:300", "file:wave.mtx.gz" is "wave". */
static void shorten(char *name) {
  static const char *const prefixes[] = {"factor:", "gen:", "file:"};
  static const char *const endings[] = {".gz", ".zst", ".mtx", ".h5"};
  for (int i = 0; i < 3; i++) {
    char *at = strstr(name, prefixes[i]);
    size_t length = strlen(prefixes[i]);
    if (at) memmove(at, at + length, strlen(at + length) + 1);
  }
  for (int i = 0; i < 4; i++) {
    size_t length = strlen(name), tail = strlen(endings[i]);
    if (length > tail && !strcmp(name + length - tail, endings[i])) name[length - tail] = 0;
  }
}

/* Cuts a name that is too long and marks the place, but does not cut the text after it. */
void bench_label(char *label, size_t size, const bench_row *row) {
  char name[sizeof row->matrix], many[24] = "", more[80];
  snprintf(name, sizeof name, "%s", row->matrix);
  shorten(name);
  if (row->nrhs > 1) snprintf(many, sizeof many, " x%lld", (long long)row->nrhs);
  switch (bench_type_of(row)) {
    case BENCH_SOLVE_ROW:
      snprintf(more, sizeof more, " %s%s%s%s", row->upper ? "U" : "L", many,
               strcmp(row->layout, "row") ? "" : " rows",
               strcmp(row->scalar, "float") ? "" : " f32");
      break;
    case BENCH_RELAX_ROW:
    case BENCH_BLOCKS_ROW:
      snprintf(more, sizeof more, " %s, blocks of %lld", row->store, (long long)row->block_size);
      break;
    case BENCH_RANKS_ROW:
      snprintf(more, sizeof more, "%s %s %dx%dx%d%s", row->inverted ? "+inverted" : "", row->kind,
               row->px, row->py, row->pz, many);
  }
  const size_t room = size - 1 - strlen(more);
  if (strlen(name) > room) snprintf(name + room - 2, 3, "..");
  snprintf(label, size, "%s%s", name, more);
}

/* ---- One table ---- */

/* COUNT: a double without a fraction; TRUTH: an int, -1 if unknown; SPREAD: three doubles. */
typedef enum kind { TEXT, FLAG, WHOLE, REAL, COUNT, TRUTH, SPREAD } kind;

typedef struct field {
  const char *path;
  kind kind;
  size_t offset, size;
  int types, needed; /* kinds of rows that have the field; kinds that must have it when read */
} field;

#define ROW(member, kind) kind, offsetof(bench_row, member), sizeof((bench_row *)0)->member
#define MACHINE(member, kind) \
  kind, offsetof(bench_machine, member), sizeof((bench_machine *)0)->member, ALL, 0

enum { SOLVE = BENCH_SOLVE_ROW, RELAX = BENCH_RELAX_ROW, RANKS = BENCH_RANKS_ROW };
enum { BLOCKS = BENCH_BLOCKS_ROW, ALL = SOLVE | RELAX | RANKS | BLOCKS };

static const field of_machine[] = {{"commit", MACHINE(commit, TEXT)},
                                   {"dirty", MACHINE(dirty, FLAG)},
                                   {"date", MACHINE(date, TEXT)},
                                   {"machine.cpu", MACHINE(cpu, TEXT)},
                                   {"machine.cores", MACHINE(cores, WHOLE)},
                                   {"machine.load", MACHINE(load, REAL)},
                                   {"machine.os", MACHINE(os, TEXT)},
                                   {"machine.compiler", MACHINE(compiler, TEXT)},
                                   {"machine.gpu", MACHINE(gpu, TEXT)},
                                   {0}};

/* Keys of one object must be adjacent. */
static const field of_row[] = {
    {"suite", ROW(suite, TEXT), SOLVE | RELAX | BLOCKS, 0},
    {"kind", ROW(kind, TEXT), RANKS, RANKS},
    {"matrix", ROW(matrix, TEXT), ALL, ALL},
    {"inverted", ROW(inverted, FLAG), RANKS, 0},
    {"values", ROW(values, TEXT), SOLVE, 0},
    {"uplo", ROW(upper, TEXT), SOLVE, SOLVE}, /* "lower" or "upper" */
    {"n", ROW(n, WHOLE), SOLVE | RANKS, SOLVE},
    {"supernodes", ROW(supernodes, WHOLE), RANKS, 0},
    {"nnz", ROW(nnz, WHOLE), SOLVE, SOLVE},
    {"levels", ROW(levels, WHOLE), SOLVE | BLOCKS, SOLVE},
    {"parallelism", ROW(parallelism, REAL), SOLVE, SOLVE},
    {"dependency", ROW(dependency, REAL), SOLVE, 0},
    {"backend", ROW(backend, TEXT), SOLVE | RELAX | BLOCKS, 0},
    {"method", ROW(method, TEXT), SOLVE | RANKS | BLOCKS, SOLVE | RANKS | BLOCKS},
    {"variant", ROW(method, TEXT), RELAX, 0},
    {"store", ROW(store, TEXT), RELAX | BLOCKS, 0},
    {"chosen", ROW(chosen, TEXT), SOLVE, 0},
    {"program", ROW(program, TEXT), SOLVE, 0},
    {"plan", ROW(plan, TEXT), SOLVE, 0},
    {"threads", ROW(threads, WHOLE), SOLVE | RELAX | BLOCKS, SOLVE},
    {"gpus", ROW(threads, WHOLE), 0, 0}, /* in older relaxations */
    {"place", ROW(place, TEXT), SOLVE, 0},
    {"scalar", ROW(scalar, TEXT), SOLVE, SOLVE},
    {"trees", ROW(trees, TEXT), RANKS, 0},
    {"homes", ROW(homes, FLAG), RANKS, 0},
    {"ranks", ROW(ranks, WHOLE), RANKS, RANKS},
    {"px", ROW(px, WHOLE), RANKS, RANKS},
    {"py", ROW(py, WHOLE), RANKS, RANKS},
    {"pz", ROW(pz, WHOLE), RANKS, RANKS},
    {"nrhs", ROW(nrhs, WHOLE), SOLVE | RANKS, SOLVE | RANKS},
    {"layout", ROW(layout, TEXT), SOLVE, 0},
    {"rows", ROW(n, WHOLE), RELAX | BLOCKS, 0},
    {"blocks", ROW(blocks, WHOLE), RELAX | BLOCKS, BLOCKS},
    {"block_size", ROW(block_size, WHOLE), RELAX | BLOCKS, BLOCKS},
    {"colours", ROW(colours, WHOLE), RELAX, 0},
    {"sweeps", ROW(sweeps, WHOLE), RELAX, 0},
    {"sweep_s", ROW(sweep, REAL), RELAX, RELAX},
    {"create_s", ROW(create, REAL), RELAX, 0},
    {"update_s", ROW(update, REAL), RELAX, 0},
    {"time.create_s", ROW(create, REAL), SOLVE, SOLVE},
    {"time.ask_s", ROW(ask, REAL), SOLVE, 0},
    {"time.first_analysis_s", ROW(first_analysis, REAL), SOLVE, 0},
    {"time.analysis_s", ROW(analysis, REAL), SOLVE | BLOCKS, SOLVE},
    {"time.update_s", ROW(update, REAL), SOLVE | BLOCKS, SOLVE},
    {"time.latency_s", ROW(latency, REAL), SOLVE, 0},
    {"time.solve_s.min", ROW(fastest, REAL), SOLVE | BLOCKS, SOLVE | BLOCKS},
    {"time.solve_s.median", ROW(median, REAL), SOLVE | BLOCKS, SOLVE | BLOCKS},
    {"time.solve_s.mean", ROW(mean, REAL), SOLVE, 0},
    {"time.repeats", ROW(repeats, WHOLE), SOLVE | BLOCKS, 0},
    {"time.solves", ROW(solves, WHOLE), SOLVE, 0},
    {"time.steps.preprocessing_s", ROW(preprocessing, REAL), SOLVE, 0},
    {"time.steps.loading_s", ROW(loading, REAL), SOLVE, 0},
    {"time.steps.allocation_s", ROW(allocation, REAL), SOLVE, 0},
    {"time.steps.synchronisation_s", ROW(synchronisation, REAL), SOLVE, 0},
    {"time.steps.compute_s", ROW(compute, REAL), SOLVE, 0},
    {"bytes", ROW(bytes, WHOLE), SOLVE | RELAX | BLOCKS, 0},
    {"bound_s", ROW(bound, REAL), SOLVE, SOLVE},
    {"hop_s", ROW(hop, REAL), SOLVE, 0},
    {"gbs", ROW(gbs, REAL), SOLVE | RELAX | BLOCKS, 0},
    {"copy_gbs", ROW(copy_gbs, REAL), RELAX | BLOCKS, 0},
    {"speedup", ROW(speedup, REAL), RELAX | BLOCKS, 0},
    {"rounding", ROW(rounding, REAL), RELAX, 0},
    {"residual", ROW(residual, REAL), RELAX, 0},
    {"difference", ROW(difference, REAL), RELAX | BLOCKS, 0},
    {"same_bits", ROW(same_bits, TRUTH), RELAX, 0},
    {"backward_error.componentwise", ROW(componentwise, REAL), SOLVE, 0},
    {"backward_error.normwise", ROW(normwise, REAL), SOLVE | BLOCKS, 0},
    {"backward_error.columns", ROW(checked, WHOLE), SOLVE, 0},
    {"wrong", ROW(wrong, FLAG), SOLVE | RELAX | BLOCKS, SOLVE},
    {"memory.matrix", ROW(matrix_bytes, COUNT), SOLVE, SOLVE},
    {"memory.plan", ROW(plan_bytes, COUNT), SOLVE, SOLVE},
    {"memory.vectors", ROW(vector_bytes, COUNT), SOLVE, SOLVE},
    {"memory.limit", ROW(limit_bytes, COUNT), SOLVE, 0},
    {"memory.total", 0, 0, 0, SOLVE, 0}, /* their sum */
    {"memory.analysis_peak", ROW(analysis_peak, COUNT), SOLVE, 0},
    {"memory.process_peak", ROW(process_peak, COUNT), SOLVE, 0},
    {"reason", ROW(reason, TEXT), SOLVE, 0},
#define VALUE(name, key) \
  {key, ROW(value[L23_##name], SPREAD), RANKS, L23_##name == L23_SOLVE ? RANKS : 0},
#include "ranks.def"
#undef VALUE
    {"leaf_entries", ROW(value[L23_LEAF], SPREAD), RANKS, 0},
    {"factor_bytes", ROW(factor_bytes, REAL), RANKS, 0},
    {"replicated", ROW(replicated, REAL), RANKS, 0},
    {"replicated_work", ROW(replicated_work, REAL), RANKS, 0},
    {"volume_bound", ROW(volume_bound, REAL), RANKS, 0},
    {"host_s", ROW(host_s, REAL), RANKS, 0},
    {0}};

bench_row bench_row_empty(void) {
  bench_row row = {
      .nrhs = 1, .backend = "cpu", .layout = "column", .values = "own", .same_bits = -1};
  for (const field *f = of_row; f->path; f++)
    if (f->kind == REAL || f->kind == COUNT) *(double *)((char *)&row + f->offset) = NAN;
  return row;
}

/* ---- Writing ---- */

static void write_number(FILE *stream, const char *format, double value) {
  if (isfinite(value))
    fprintf(stream, format, value);
  else
    fprintf(stream, "null");
}

static long long whole_at(const field *f, const void *at) {
  return f->size == sizeof(int) ? *(const int *)at : (long long)*(const int64_t *)at;
}

static void write_value(FILE *stream, const field *f, const void *of) {
  const void *at = (const char *)of + f->offset;
  const bench_spread *s = at;
  switch (f->kind) {
    case TEXT:
      json_text(stream, at);
      break;
    case FLAG:
      fprintf(stream, *(const bool *)at ? "true" : "false");
      break;
    case TRUTH:
      fprintf(stream, "%s", *(const int *)at < 0 ? "null" : *(const int *)at ? "true" : "false");
      break;
    case WHOLE:
      fprintf(stream, "%lld", whole_at(f, at));
      break;
    case REAL:
    case COUNT:
      write_number(stream, f->kind == REAL ? "%.6g" : "%.0f", *(const double *)at);
      break;
    case SPREAD:
      fprintf(stream, "{\"min\":%.9g,\"mean\":%.9g,\"max\":%.9g}", s->min, s->mean, s->max);
  }
}

static const char *write_fields(FILE *stream, const field *fields, const void *of, int types,
                                const char *before) {
  for (const field *f = fields; f->path; f++) {
    const bench_row *row = of;
    if (!(f->types & types)) continue;
    json_key(stream, before, f->path, 0);
    if (!strcmp(f->path, "uplo"))
      json_text(stream, row->upper ? "upper" : "lower");
    else if (!strcmp(f->path, "memory.total"))
      write_number(
          stream, "%.0f",
          row->matrix_bytes + (isnan(row->plan_bytes) ? 0 : row->plan_bytes) + row->vector_bytes);
    else
      write_value(stream, f, of);
    before = f->path;
  }
  return before;
}

void bench_row_write(FILE *stream, const bench_row *row) {
  const char *before = write_fields(stream, of_machine, bench_machine_look(), ALL, "");
  json_key(stream, before, "trireme", 0);
  json_text(stream, trs_version());
  before = write_fields(stream, of_row, row, (int)bench_type_of(row), "trireme");
  json_end(stream, before, 0);
  fputc('\n', stream);
  fflush(stream); /* an interrupted run keeps its rows */
}

/* ---- Reading ---- */

typedef struct reading {
  bench_row row;
  bool found[sizeof of_row / sizeof *of_row];
  char error[128];
} reading;

static const char *refuse(reading *r, const field *f, const char *expected) {
  snprintf(r->error, sizeof r->error, "%s is not %s", f->path, expected);
  return r->error;
}

static const char *put_text(reading *r, const field *f, const bench_json_value *value) {
  if (value->kind != BENCH_JSON_TEXT) return refuse(r, f, "a text");
  if (!strcmp(f->path, "uplo"))
    r->row.upper = !strcmp(value->text, "upper");
  else
    snprintf((char *)&r->row + f->offset, f->size, "%s", value->text);
  return NULL;
}

static const char *put_truth(reading *r, const field *f, const bench_json_value *value) {
  void *at = (char *)&r->row + f->offset;
  bool null = value->kind == BENCH_JSON_NULL && f->kind == TRUTH;
  if (value->kind != BENCH_JSON_BOOL && !null) return refuse(r, f, "true or false");
  if (f->kind == FLAG)
    *(bool *)at = value->number != 0;
  else
    *(int *)at = null ? -1 : value->number != 0;
  return NULL;
}

static double *part_of(bench_spread *s, const char *name) {
  if (!strcmp(name, "min")) return &s->min;
  return !strcmp(name, "mean") ? &s->mean : &s->max;
}

/* part: "min", "mean" or "max" of a spread. */
static const char *put_number(reading *r, const field *f, const bench_json_value *value,
                              const char *part) {
  void *at = (char *)&r->row + f->offset;
  bool null = value->kind == BENCH_JSON_NULL && f->kind != WHOLE && f->kind != SPREAD;
  if (value->kind != BENCH_JSON_NUMBER && !null) return refuse(r, f, "a number");
  if (f->kind == SPREAD)
    *part_of(at, part) = value->number;
  else if (f->kind == WHOLE && f->size == sizeof(int))
    *(int *)at = (int)value->number;
  else if (f->kind == WHOLE)
    *(int64_t *)at = (int64_t)value->number;
  else
    *(double *)at = null ? NAN : value->number;
  return NULL;
}

/* True if path is the field's path, or that of a part of a spread. */
static bool is_path(const field *f, const char *path) {
  size_t length = strlen(f->path);
  if (f->kind == SPREAD) return !strncmp(path, f->path, length) && path[length] == '.';
  return f->size && !strcmp(path, f->path);
}

static const char *put(void *user, const char *path, const bench_json_value *value) {
  reading *r = user;
  for (const field *f = of_row; f->path; f++) {
    if (!is_path(f, path)) continue;
    r->found[f - of_row] = true;
    if (f->kind == TEXT) return put_text(r, f, value);
    if (f->kind == FLAG || f->kind == TRUTH) return put_truth(r, f, value);
    return put_number(r, f, value, path + strlen(f->path) + (f->kind == SPREAD));
  }
  return NULL;
}

/* "+inverted" after the matrix of a solve on ranks means that separators are inverted; older rows
 * of a relaxation on the CPU name no variant. */
static void complete(bench_row *row) {
  static const char tail[] = "+inverted";
  size_t length = strlen(row->matrix), end = sizeof tail - 1;
  bench_row_type type = bench_type_of(row);
  if (type == BENCH_RELAX_ROW && !*row->method)
    snprintf(row->method, sizeof row->method, "threads");
  if (type == BENCH_RANKS_ROW) snprintf(row->suite, sizeof row->suite, "l23");
  if (type != BENCH_RANKS_ROW || length < end || strcmp(row->matrix + length - end, tail) != 0)
    return;
  row->matrix[length - end] = 0;
  row->inverted = true;
}

int bench_rows_add_line(bench_rows *rows, const char *where, const char *line) {
  reading r = {.row = bench_row_empty()};
  const char *error = bench_json_walk(line, &r, put);
  for (const field *f = of_row; f->path && !error; f++)
    if ((f->needed & (int)bench_type_of(&r.row)) && !r.found[f - of_row]) {
      snprintf(r.error, sizeof r.error, "%s is missing", f->path);
      error = r.error;
    }
  complete(&r.row);
  if (!error) return bench_rows_add(rows, &r.row);
  return leave(LEAVE_INPUT, trs_status_name(TRS_ERROR_FORMAT), -1,
               "%s: %s; expected: one result of trireme bench per line", where, error);
}

int bench_rows_read(bench_rows *rows, const char *path) {
  FILE *file = fopen(path, "r");
  char *text = NULL, where[1100];
  size_t size = 0;
  int code = -1;
  *rows = (bench_rows){0};
  if (!file)
    return leave(LEAVE_INPUT, trs_status_name(TRS_ERROR_FILE), -1, "%s: %s", path, strerror(errno));
  for (int number = 1; code < 0 && getline(&text, &size, file) > 0; number++) {
    snprintf(where, sizeof where, "%s:%d", path, number);
    if (text[strspn(text, " \t\r\n")]) code = bench_rows_add_line(rows, where, text);
  }
  if (code < 0 && !rows->count)
    code = leave(LEAVE_INPUT, trs_status_name(TRS_ERROR_FORMAT), -1, "%s holds no results", path);
  free(text);
  fclose(file);
  return code;
}
