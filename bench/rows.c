/* rows.c - what was measured, one object a line, written and read through jansson. */
#include "bench.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "output.h"

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

/* "factor:lu:nd:gen:poisson2d5:300" is "lu:nd:poisson2d5:300", "file:wave.mtx.gz" is "wave". */
void bench_label(char *label, size_t size, const bench_row *row) {
  static const char *const prefixes[] = {"factor:", "gen:", "file:"};
  static const char *const endings[] = {".gz", ".zst", ".mtx", ".h5"};
  char name[sizeof row->matrix];
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
  snprintf(label, size, "%.*s %s", (int)size - 3, name, row->upper ? "U" : "L");
}

#if TRIREME_CLI_JSON
#include <jansson.h>

bool bench_json_available(void) { return true; }

static json_t *real(double value) { return isfinite(value) ? json_real(value) : json_null(); }

static json_t *whole(double value) {
  return isfinite(value) ? json_integer((json_int_t)value) : json_null();
}

static json_t *origin(const char *suite) {
  const bench_machine *m = bench_machine_look();
  return json_pack("{s:s, s:b, s:s, s:{s:s, s:i, s:f, s:s, s:s}, s:s, s:s}", "commit", m->commit,
                   "dirty", m->dirty, "date", m->date, "machine", "cpu", m->cpu, "cores", m->cores,
                   "load", m->load, "os", m->os, "compiler", m->compiler, "trireme", trs_version(),
                   "suite", suite);
}

static json_t *identity(const bench_row *r) {
  return json_pack("{s:s, s:s, s:I, s:I, s:I, s:o, s:o, s:s, s:s, s:I, s:s, s:I}", "matrix",
                   r->matrix, "uplo", r->upper ? "upper" : "lower", "n", (json_int_t)r->n, "nnz",
                   (json_int_t)r->nnz, "levels", (json_int_t)r->levels, "parallelism",
                   real(r->parallelism), "dependency", real(r->dependency), "method", r->method,
                   "chosen", r->chosen, "threads", (json_int_t)r->threads, "scalar", r->scalar,
                   "nrhs", (json_int_t)r->nrhs);
}

static json_t *times(const bench_row *r) {
  return json_pack("{s:{s:o, s:o, s:o, s:{s:o, s:o}, s:I}, s:I, s:o, s:o}", "time", "create_s",
                   real(r->create), "analysis_s", real(r->analysis), "update_s", real(r->update),
                   "solve_s", "min", real(r->fastest), "median", real(r->median), "repeats",
                   (json_int_t)r->repeats, "bytes", (json_int_t)r->bytes, "bound_s", real(r->bound),
                   "gbs", real(r->gbs));
}

static json_t *findings(const bench_row *r) {
  double plan = isnan(r->plan_bytes) ? 0 : r->plan_bytes;
  return json_pack("{s:{s:o, s:o}, s:b, s:{s:o, s:o, s:o, s:o, s:o, s:o}, s:s}", "backward_error",
                   "componentwise", real(r->componentwise), "normwise", real(r->normwise), "wrong",
                   r->wrong, "memory", "matrix", whole(r->matrix_bytes), "plan",
                   whole(r->plan_bytes), "vectors", whole(r->vector_bytes), "total",
                   whole(r->matrix_bytes + plan + r->vector_bytes), "analysis_peak",
                   whole(r->analysis_peak), "process_peak", whole(r->process_peak), "reason",
                   r->reason);
}

void bench_row_write(FILE *stream, const char *suite, const bench_row *row) {
  json_t *line = origin(suite), *part[] = {identity(row), times(row), findings(row)};
  for (int i = 0; i < 3; i++) {
    json_object_update(line, part[i]);
    json_decref(part[i]);
  }
  json_dumpf(line, stream, JSON_COMPACT | JSON_REAL_PRECISION(6));
  json_decref(line);
  fputc('\n', stream);
  fflush(stream); /* who waits, or breaks off, has what there is */
}

/* A number, or NAN for null. */
static double number(const json_t *value) {
  return json_is_number(value) ? json_number_value(value) : NAN;
}

static bool unpack(bench_row *r, json_t *line, json_error_t *error) {
  const char *matrix, *uplo, *method, *scalar, *reason = "", *chosen = "";
  json_t *analysis, *create, *update, *plan, *bound;
  json_int_t n, nnz, levels, threads, nrhs;
  int wrong;
  if (json_unpack_ex(line, error, 0,
                     "{s:s, s:s, s:I, s:I, s:I, s:F, s:s, s?s, s:I, s:s, s:I,"
                     " s:{s:o, s:o, s:o, s:{s:F, s:F}}, s:o, s:b, s:{s:F, s:o, s:F}, s?s}",
                     "matrix", &matrix, "uplo", &uplo, "n", &n, "nnz", &nnz, "levels", &levels,
                     "parallelism", &r->parallelism, "method", &method, "chosen", &chosen,
                     "threads", &threads, "scalar", &scalar, "nrhs", &nrhs, "time", "create_s",
                     &create, "analysis_s", &analysis, "update_s", &update, "solve_s", "min",
                     &r->fastest, "median", &r->median, "bound_s", &bound, "wrong", &wrong,
                     "memory", "matrix", &r->matrix_bytes, "plan", &plan, "vectors",
                     &r->vector_bytes, "reason", &reason))
    return false;
  snprintf(r->matrix, sizeof r->matrix, "%s", matrix);
  snprintf(r->method, sizeof r->method, "%s", method);
  snprintf(r->chosen, sizeof r->chosen, "%s", chosen);
  snprintf(r->scalar, sizeof r->scalar, "%s", scalar);
  snprintf(r->reason, sizeof r->reason, "%s", reason);
  r->upper = !strcmp(uplo, "upper");
  r->wrong = wrong;
  r->n = n, r->nnz = nnz, r->levels = levels, r->threads = threads, r->nrhs = nrhs;
  r->create = number(create), r->analysis = number(analysis), r->update = number(update);
  r->plan_bytes = number(plan), r->bound = number(bound);
  return true;
}

static int read_line(bench_rows *rows, const char *path, int64_t number_of_line, const char *text) {
  json_error_t error;
  bench_row row = {0};
  json_t *line = json_loads(text, 0, &error);
  bool good = line && unpack(&row, line, &error);
  json_decref(line);
  if (good) return bench_rows_add(rows, &row);
  return leave(LEAVE_INPUT, trs_status_name(TRS_ERROR_FORMAT), -1,
               "%s:%lld: %s; expected: one result of trireme bench a line", path,
               (long long)number_of_line, error.text);
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

#else

bool bench_json_available(void) { return false; }
void bench_row_write(FILE *stream, const char *suite, const bench_row *row) {
  (void)stream, (void)suite, (void)row;
}
int bench_rows_read(bench_rows *rows, const char *path) {
  *rows = (bench_rows){0};
  (void)path;
  return LEAVE_UNAVAILABLE;
}

#endif
