/* l23_rows.c - rows of trireme bench l23 from and to lines of JSON. */
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "l23.h"
#include "leave.h"
#include "trireme.h"

static const char *const names[L23_VALUES] = {"solve_s",          "bytes",
                                              "inter_L_s",        "inter_U_s",
                                              "inter_L_messages", "inter_U_messages",
                                              "inter_L_bytes",    "inter_U_bytes",
                                              "intra_L_s",        "intra_U_s",
                                              "intra_L_messages", "intra_U_messages",
                                              "intra_L_bytes",    "intra_U_bytes",
                                              "flop_L_s",         "flop_U_s",
                                              "flops_L",          "flops_U",
                                              "leaf_entries"};

static const char INVERTED[] = "+inverted";

/* ---- Reading. ---- */

static double *real_of(l23_row *row, const char *path) {
  size_t length = strcspn(path, ".");
  if (!strcmp(path, "replicated")) return &row->replicated;
  if (!strcmp(path, "replicated_work")) return &row->replicated_work;
  if (!strcmp(path, "volume_bound")) return &row->volume_bound;
  for (int k = 0; k < L23_VALUES; k++) {
    if (strlen(names[k]) != length || strncmp(names[k], path, length) != 0) continue;
    if (!strcmp(path + length, ".min")) return &row->value[k].min;
    if (!strcmp(path + length, ".mean")) return &row->value[k].mean;
    if (!strcmp(path + length, ".max")) return &row->value[k].max;
  }
  return NULL;
}

static void put_text(char *to, size_t size, const char *text) { snprintf(to, size, "%s", text); }

static void put_matrix(l23_row *row, const char *text) {
  size_t length = strlen(text), tail = sizeof INVERTED - 1;
  put_text(row->matrix, sizeof row->matrix, text);
  if (length < tail || length >= sizeof row->matrix || strcmp(text + length - tail, INVERTED) != 0)
    return;
  row->matrix[length - tail] = 0;
  row->inverted = true;
}

static const char *put(void *user, const char *path, const bench_json_value *value) {
  l23_row *row = user;
  double *real = real_of(row, path);
  if (real) *real = value->number;
  if (!strcmp(path, "kind")) put_text(row->kind, sizeof row->kind, value->text);
  if (!strcmp(path, "matrix")) put_matrix(row, value->text);
  if (!strcmp(path, "method")) put_text(row->method, sizeof row->method, value->text);
  if (!strcmp(path, "trees")) put_text(row->trees, sizeof row->trees, value->text);
  if (!strcmp(path, "homes")) row->homes = value->number != 0;
  if (!strcmp(path, "inverted") && value->number != 0) row->inverted = true;
  if (!strcmp(path, "n")) row->n = (int64_t)value->number;
  if (!strcmp(path, "supernodes")) row->supernodes = (int64_t)value->number;
  if (!strcmp(path, "ranks")) row->ranks = (int64_t)value->number;
  if (!strcmp(path, "nrhs")) row->nrhs = (int64_t)value->number;
  if (!strcmp(path, "px")) row->px = (int)value->number;
  if (!strcmp(path, "py")) row->py = (int)value->number;
  if (!strcmp(path, "pz")) row->pz = (int)value->number;
  return NULL;
}

bool l23_is_line(const char *line) {
  return strstr(line, "\"kind\"") && strstr(line, "\"solve_s\"") && strstr(line, "\"pz\"");
}

int l23_rows_add(l23_rows *rows, const char *line) {
  if (rows->count == rows->room) {
    int64_t room = 2 * rows->room + 64;
    l23_row *larger = realloc(rows->row, (size_t)room * sizeof *larger);
    if (!larger) return leave_memory((double)room * sizeof *larger, "the results");
    rows->row = larger;
    rows->room = room;
  }
  l23_row row = {0};
  const char *error = bench_json_walk(line, &row, put);
  if (!error && (!row.ranks || !row.kind[0] || !(row.value[L23_SOLVE].max > 0)))
    error = "it has no kind, ranks or solve_s";
  if (error)
    return leave(LEAVE_INPUT, trs_status_name(TRS_ERROR_FORMAT), -1, "a result of l23: %s: %.60s",
                 error, line);
  rows->row[rows->count++] = row;
  return -1;
}

int l23_rows_read(l23_rows *rows, const char *path) {
  FILE *file = fopen(path, "r");
  char *line = NULL;
  size_t room = 0;
  int code = -1;
  if (!file)
    return leave(LEAVE_INPUT, trs_status_name(TRS_ERROR_FILE), -1, "%s: %s", path, strerror(errno));
  while (code < 0 && getline(&line, &room, file) > 0)
    if (line[0] == '{') code = l23_rows_add(rows, line);
  free(line);
  fclose(file);
  return code;
}

void l23_rows_free(l23_rows *rows) {
  free(rows->row);
  *rows = (l23_rows){0};
}

/* ---- Writing. ---- */

static void write_head(FILE *stream) {
  const bench_machine *m = bench_machine_look();
  fprintf(stream, "{\"commit\":\"%s%s\",\"date\":\"%.10s\",\"cores\":%d,\"load\":%.2f,", m->commit,
          m->dirty ? "-dirty" : "", m->date, m->cores, m->load);
}

void l23_write_line(FILE *stream, const char *line) {
  write_head(stream);
  fprintf(stream, "%.*s\n", (int)strcspn(line + 1, "\n"), line + 1);
  fflush(stream);
}

void l23_row_write(FILE *stream, const l23_row *row) {
  fprintf(stream,
          "{\"kind\":\"%s\",\"matrix\":\"%s\",\"inverted\":%s,\"n\":%lld,\"supernodes\":%lld,"
          "\"method\":\"%s\",\"trees\":\"%s\",\"homes\":%s,\"ranks\":%lld,\"px\":%d,\"py\":%d,"
          "\"pz\":%d,\"nrhs\":%lld",
          row->kind, row->matrix, row->inverted ? "true" : "false", (long long)row->n,
          (long long)row->supernodes, row->method, row->trees, row->homes ? "true" : "false",
          (long long)row->ranks, row->px, row->py, row->pz, (long long)row->nrhs);
  for (int k = 0; k < L23_VALUES; k++)
    fprintf(stream, ",\"%s\":{\"min\":%.9g,\"mean\":%.9g,\"max\":%.9g}", names[k],
            row->value[k].min, row->value[k].mean, row->value[k].max);
  fprintf(stream, ",\"replicated\":%.6g,\"replicated_work\":%.6g,\"volume_bound\":%.6g}\n",
          row->replicated, row->replicated_work, row->volume_bound);
  fflush(stream);
}
