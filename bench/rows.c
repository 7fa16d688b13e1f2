/* rows.c - what was measured, one JSON object a line: one table says what is written where, and
 * reads it back. */
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "leave.h"
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

void bench_rows_free(bench_rows *rows) { free(rows->row); }

bench_row bench_row_empty(void) {
  return (bench_row){.create = NAN,
                     .analysis = NAN,
                     .first_analysis = NAN,
                     .ask = NAN,
                     .update = NAN,
                     .fastest = NAN,
                     .median = NAN,
                     .latency = NAN,
                     .bound = NAN,
                     .hop = NAN,
                     .gbs = NAN,
                     .componentwise = NAN,
                     .normwise = NAN,
                     .plan_bytes = NAN,
                     .analysis_peak = NAN,
                     .limit_bytes = NAN,
                     .process_peak = NAN,
                     .nrhs = 1,
                     .backend = "cpu",
                     .layout = "column",
                     .values = "own"};
}

bool bench_on_gpu(const bench_row *row) { return !strcmp(row->backend, "cuda"); }

double bench_row_seconds(const bench_row *row) {
  return bench_on_gpu(row) ? row->median : row->fastest;
}

static int compare(const void *left, const void *right) {
  double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

void bench_row_times(bench_row *row, double *seconds, int64_t repeats) {
  row->repeats = repeats;
  if (!repeats) return;
  qsort(seconds, (size_t)repeats, sizeof *seconds, compare);
  row->fastest = seconds[0];
  row->median = (seconds[(repeats - 1) / 2] + seconds[repeats / 2]) / 2;
}

/* "factor:lu:nd:gen:poisson2d5:300" is "lu:nd:poisson2d5:300", "file:wave.mtx.gz" is "wave". */
void bench_label(char *label, size_t size, const bench_row *row) {
  static const char *const prefixes[] = {"factor:", "gen:", "file:"};
  static const char *const endings[] = {".gz", ".zst", ".mtx", ".h5"};
  char name[sizeof row->matrix], many[24] = "";
  snprintf(name, sizeof name, "%s", row->matrix);
  for (int i = 0; i < 3; i++) {
    char *at = strstr(name, prefixes[i]);
    size_t length = strlen(prefixes[i]);
    if (at) memmove(at, at + length, strlen(at + length) + 1);
  }
  for (int i = 0; i < 4; i++) {
    size_t length = strlen(name), tail = strlen(endings[i]);
    if (length > tail && !strcmp(name + length - tail, endings[i])) name[length - tail] = 0;
  }
  bool single = !strcmp(row->scalar, "float"), rows = !strcmp(row->layout, "row");
  if (row->nrhs > 1) snprintf(many, sizeof many, " x%lld", (long long)row->nrhs);
  int tail = 2 + (int)strlen(many) + 4 * single + 5 * rows;
  snprintf(label, size, "%.*s %s%s%s%s", (int)size - 1 - tail, name, row->upper ? "U" : "L", many,
           rows ? " rows" : "", single ? " f32" : "");
}

/* ---- One table ---- */

typedef enum kind { TEXT, FLAG, WHOLE, REAL, COUNT } kind; /* COUNT: a double without a fraction */
typedef enum need { ALWAYS, SOMETIMES, NEVER } need;       /* to be there when a row is read */

typedef struct field {
  const char *path;
  kind kind;
  size_t offset, size;
  need need;
} field;

#define ROW(member, kind, need) \
  kind, offsetof(bench_row, member), sizeof((bench_row *)0)->member, need
#define MACHINE(member, kind) \
  kind, offsetof(bench_machine, member), sizeof((bench_machine *)0)->member, NEVER

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

/* Keys of one object stand together. */
static const field of_row[] = {
    {"suite", ROW(suite, TEXT, SOMETIMES)},
    {"matrix", ROW(matrix, TEXT, ALWAYS)},
    {"values", ROW(values, TEXT, SOMETIMES)},
    {"uplo", ROW(upper, TEXT, ALWAYS)}, /* "lower" or "upper" */
    {"n", ROW(n, WHOLE, ALWAYS)},
    {"nnz", ROW(nnz, WHOLE, ALWAYS)},
    {"levels", ROW(levels, WHOLE, ALWAYS)},
    {"parallelism", ROW(parallelism, REAL, ALWAYS)},
    {"dependency", ROW(dependency, REAL, SOMETIMES)},
    {"backend", ROW(backend, TEXT, SOMETIMES)},
    {"method", ROW(method, TEXT, ALWAYS)},
    {"chosen", ROW(chosen, TEXT, SOMETIMES)},
    {"plan", ROW(plan, TEXT, SOMETIMES)},
    {"threads", ROW(threads, WHOLE, ALWAYS)},
    {"place", ROW(place, TEXT, SOMETIMES)},
    {"scalar", ROW(scalar, TEXT, ALWAYS)},
    {"nrhs", ROW(nrhs, WHOLE, ALWAYS)},
    {"layout", ROW(layout, TEXT, SOMETIMES)},
    {"time.create_s", ROW(create, REAL, ALWAYS)},
    {"time.ask_s", ROW(ask, REAL, SOMETIMES)},
    {"time.first_analysis_s", ROW(first_analysis, REAL, SOMETIMES)},
    {"time.analysis_s", ROW(analysis, REAL, ALWAYS)},
    {"time.update_s", ROW(update, REAL, ALWAYS)},
    {"time.latency_s", ROW(latency, REAL, SOMETIMES)},
    {"time.solve_s.min", ROW(fastest, REAL, ALWAYS)},
    {"time.solve_s.median", ROW(median, REAL, ALWAYS)},
    {"time.repeats", ROW(repeats, WHOLE, SOMETIMES)},
    {"bytes", ROW(bytes, WHOLE, SOMETIMES)},
    {"bound_s", ROW(bound, REAL, ALWAYS)},
    {"hop_s", ROW(hop, REAL, SOMETIMES)},
    {"gbs", ROW(gbs, REAL, SOMETIMES)},
    {"backward_error.componentwise", ROW(componentwise, REAL, SOMETIMES)},
    {"backward_error.normwise", ROW(normwise, REAL, SOMETIMES)},
    {"backward_error.columns", ROW(checked, WHOLE, SOMETIMES)},
    {"wrong", ROW(wrong, FLAG, ALWAYS)},
    {"memory.matrix", ROW(matrix_bytes, COUNT, ALWAYS)},
    {"memory.plan", ROW(plan_bytes, COUNT, ALWAYS)},
    {"memory.vectors", ROW(vector_bytes, COUNT, ALWAYS)},
    {"memory.limit", ROW(limit_bytes, COUNT, SOMETIMES)},
    {"memory.total", ROW(matrix_bytes, COUNT, NEVER)}, /* their sum */
    {"memory.analysis_peak", ROW(analysis_peak, COUNT, SOMETIMES)},
    {"memory.process_peak", ROW(process_peak, COUNT, SOMETIMES)},
    {"reason", ROW(reason, TEXT, SOMETIMES)},
    {0}};

/* ---- Writing ---- */

static void write_number(FILE *stream, const field *f, double value) {
  if (!isfinite(value))
    fprintf(stream, "null");
  else
    fprintf(stream, f->kind == REAL ? "%.6g" : "%.0f", value);
}

static void write_value(FILE *stream, const field *f, const void *of) {
  const char *at = (const char *)of + f->offset;
  switch (f->kind) {
    case TEXT:
      bench_json_text(stream, at);
      break;
    case FLAG:
      fprintf(stream, *(const bool *)at ? "true" : "false");
      break;
    case WHOLE:
      fprintf(
          stream, "%lld",
          f->size == sizeof(int) ? (long long)*(const int *)at : (long long)*(const int64_t *)at);
      break;
    case REAL:
    case COUNT:
      write_number(stream, f, *(const double *)at);
  }
}

static const char *write_fields(FILE *stream, const field *fields, const void *of,
                                const char *before) {
  for (const field *f = fields; f->path; f++) {
    bench_json_key(stream, before, f->path);
    if (!strcmp(f->path, "uplo")) {
      bench_json_text(stream, ((const bench_row *)of)->upper ? "upper" : "lower");
    } else if (!strcmp(f->path, "memory.total")) {
      const bench_row *r = of;
      double plan = isnan(r->plan_bytes) ? 0 : r->plan_bytes;
      write_number(stream, f, r->matrix_bytes + plan + r->vector_bytes);
    } else {
      write_value(stream, f, of);
    }
    before = f->path;
  }
  return before;
}

void bench_row_write(FILE *stream, const bench_row *row) {
  fputc('{', stream);
  const char *before = write_fields(stream, of_machine, bench_machine_look(), "");
  bench_json_key(stream, before, "trireme");
  bench_json_text(stream, trs_version());
  before = write_fields(stream, of_row, row, "trireme");
  bench_json_end(stream, before);
  fprintf(stream, "}\n");
  fflush(stream); /* who waits, or breaks off, has what there is */
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

static const char *put_number(reading *r, const field *f, const bench_json_value *value) {
  char *at = (char *)&r->row + f->offset;
  bool null = value->kind == BENCH_JSON_NULL && f->kind != WHOLE;
  if (value->kind != BENCH_JSON_NUMBER && !null) return refuse(r, f, "a number");
  if (f->kind == WHOLE)
    *(int64_t *)at = (int64_t)value->number;
  else
    *(double *)at = null ? NAN : value->number;
  return NULL;
}

static const char *put(void *user, const char *path, const bench_json_value *value) {
  reading *r = user;
  for (const field *f = of_row; f->path; f++) {
    if (strcmp(f->path, path) != 0 || f->need == NEVER) continue;
    r->found[f - of_row] = true;
    if (f->kind == TEXT) return put_text(r, f, value);
    if (f->kind != FLAG) return put_number(r, f, value);
    if (value->kind != BENCH_JSON_BOOL) return refuse(r, f, "true or false");
    *(bool *)((char *)&r->row + f->offset) = value->number != 0;
    return NULL;
  }
  return NULL;
}

static int read_line(bench_rows *rows, const char *path, int64_t number_of_line, const char *text) {
  reading r = {.row = bench_row_empty()};
  const char *error = bench_json_walk(text, &r, put);
  for (const field *f = of_row; f->path && !error; f++)
    if (f->need == ALWAYS && !r.found[f - of_row]) {
      snprintf(r.error, sizeof r.error, "%s is missing", f->path);
      error = r.error;
    }
  if (!error) return bench_rows_add(rows, &r.row);
  return leave(LEAVE_INPUT, trs_status_name(TRS_ERROR_FORMAT), -1,
               "%s:%lld: %s; expected: one result of trireme bench a line", path,
               (long long)number_of_line, error);
}

int bench_rows_read(bench_rows *rows, const char *path) {
  FILE *file = fopen(path, "r");
  char *text = NULL;
  size_t size = 0;
  int code = -1;
  *rows = (bench_rows){0};
  if (!file)
    return leave(LEAVE_INPUT, trs_status_name(TRS_ERROR_FILE), -1, "%s: %s", path, strerror(errno));
  for (int64_t number_of_line = 1; code < 0 && getline(&text, &size, file) > 0; number_of_line++)
    if (text[strspn(text, " \t\r\n")]) code = read_line(rows, path, number_of_line, text);
  if (code < 0 && !rows->count)
    code = leave(LEAVE_INPUT, trs_status_name(TRS_ERROR_FORMAT), -1, "%s holds no results", path);
  free(text);
  fclose(file);
  return code;
}
