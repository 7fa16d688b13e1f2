/* report_json.c - the JSON report: a list of members in the order in which they are printed. */
#include "files.h"
#include "json.h"
#include "leave.h"
#include "output.h"
#include "report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INDENT = 2 };

typedef struct member {
  char path[64]; /* names in this program, which are shorter */
  char *value;   /* as it is printed */
} member;

static struct {
  member *list;
  size_t count, room;
  memory_text value; /* of the next member */
  bool lost;         /* memory was short: something is missing */
} report;

/* Returns a stream for the value of the next member; NULL without --json. */
static FILE *begin(void) {
  if (!output_json()) return NULL;
  FILE *stream = memory_text_open(&report.value);
  if (!stream) report.lost = true;
  return stream;
}

/* The index of a new member: behind the last one of the innermost object that has both. */
static size_t index_of(const char *path) {
  size_t index = report.count, most = 0;
  for (size_t k = 0; k < report.count; k++) {
    size_t same = json_common(report.list[k].path, path);
    if (!same || same < most) continue;
    most = same;
    index = k + 1;
  }
  return index;
}

/* Inserts the member; false: no memory. */
static bool insert(const char *path, char *value) {
  if (report.count == report.room) {
    size_t room = 2 * report.room + 64;
    member *larger = realloc(report.list, room * sizeof *larger);
    if (!larger) return false;
    report.list = larger;
    report.room = room;
  }
  size_t index = index_of(path);
  memmove(report.list + index + 1, report.list + index,
          (report.count - index) * sizeof *report.list);
  member *made = report.list + index;
  snprintf(made->path, sizeof made->path, "%s", path);
  made->value = value;
  report.count++;
  return true;
}

/* Takes the value that was written to the stream; it replaces an earlier one of that path. */
static void end(const char *path, FILE *stream) {
  bool bad = ferror(stream);
  if (fclose(stream) || !report.value.text) bad = true;
  for (size_t k = 0; k < report.count && !bad; k++) {
    if (strcmp(report.list[k].path, path) != 0) continue;
    free(report.list[k].value);
    report.list[k].value = report.value.text;
    return;
  }
  if (!bad && insert(path, report.value.text)) return;
  free(report.value.text);
  report.lost = true;
}

/* Prints twelve digits, and shows that the number is not an integer's. */
static void print_real(FILE *stream, double value) {
  char text[32];
  snprintf(text, sizeof text, "%.12g", value);
  if (isfinite(value))
    fprintf(stream, "%s%s", text, strpbrk(text, ".e") ? "" : ".0");
  else
    fputs("null", stream);
}

void report_text(const char *path, const char *text) {
  FILE *stream = begin();
  if (!stream) return;
  json_text(stream, text ? text : "");
  end(path, stream);
}

void report_count(const char *path, int64_t count) {
  FILE *stream = begin();
  if (!stream) return;
  fprintf(stream, "%lld", (long long)count);
  end(path, stream);
}

void report_real(const char *path, double value) {
  FILE *stream = begin();
  if (!stream) return;
  print_real(stream, value);
  end(path, stream);
}

static void put_word(const char *path, const char *word) {
  FILE *stream = begin();
  if (!stream) return;
  fputs(word, stream);
  end(path, stream);
}

void report_bool(const char *path, bool value) { put_word(path, value ? "true" : "false"); }
void report_null(const char *path) { put_word(path, "null"); }

/* Prints what precedes element k of an array, or what ends it: a line per element. */
static void print_mark(FILE *stream, const char *path, int64_t k, int64_t count) {
  if (k == 0)
    fputc('[', stream);
  else if (k < count)
    fputc(',', stream);
  if (count) fprintf(stream, "\n%*s", INDENT * (json_depth(path) + (k < count)), "");
  if (k == count) fputc(']', stream);
}

void report_append(const char *path, const int64_t *values, int64_t count) {
  FILE *stream = begin();
  if (!stream) return;
  for (int64_t k = 0; k <= count; k++) {
    print_mark(stream, path, k, count);
    if (k < count) fprintf(stream, "%lld", (long long)values[k]);
  }
  end(path, stream);
}

void report_append_reals(const char *path, const double *values, int64_t count) {
  FILE *stream = begin();
  if (!stream) return;
  for (int64_t k = 0; k <= count; k++) {
    print_mark(stream, path, k, count);
    if (k < count) print_real(stream, values[k]);
  }
  end(path, stream);
}

/* In place of a report for which there is no memory. */
static int print_loss(int code) {
  static const char message[] = "out of memory for the report of --json";
  const char *status = trs_status_name(TRS_ERROR_MEMORY);
  if (!code) code = leave(LEAVE_UNAVAILABLE, status, -1, message);
  printf(
      "{\"error\": {\"status\": \"%s\", \"message\": \"%s\", \"row\": null, "
      "\"exit_code\": %d}}",
      status, message, code);
  return code;
}

static void print_members(void) {
  const char *before = "";
  for (size_t k = 0; k < report.count; k++) {
    json_key(stdout, before, report.list[k].path, INDENT);
    fputs(report.list[k].value, stdout);
    before = report.list[k].path;
  }
  json_end(stdout, before, INDENT);
}

int report_print(int code) {
  if (!report.count && !report.lost) return code;
  if (report.lost)
    code = print_loss(code);
  else
    print_members();
  putchar('\n');
  for (size_t k = 0; k < report.count; k++) free(report.list[k].value);
  free(report.list);
  memset(&report, 0, sizeof report);
  return code;
}
