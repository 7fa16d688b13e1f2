/* report_json.c - the JSON report: values by their paths, objects in the order in which they came.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "leave.h"
#include "output.h"
#include "report.h"

typedef struct entry {
  char *path, *value; /* value: as JSON */
} entry;

static entry *entries;
static size_t count;
static bool lost; /* memory was short: something is missing */

/* The entry of a path, which is new if it has no value; NULL: out of memory. */
static entry *entry_of(const char *path) {
  for (size_t k = 0; k < count; k++)
    if (!strcmp(entries[k].path, path)) return &entries[k];
  entry *grown = realloc(entries, (count + 1) * sizeof *entries);
  if (!grown) return NULL;
  entries = grown;
  entries[count] = (entry){.path = strdup(path)};
  return entries[count].path ? &entries[count++] : NULL;
}

/* Takes value, which comes from malloc; NULL: out of memory. */
static void put(const char *path, char *value) {
  entry *e = output_json() && value ? entry_of(path) : NULL;
  if (e) {
    free(e->value);
    e->value = value;
    return;
  }
  lost |= output_json();
  free(value);
}

static char *text_of_real(double value) {
  char text[32];
  if (!isfinite(value)) return strdup("null");
  snprintf(text, sizeof text - 2, "%.12g", value);
  return strdup(strpbrk(text, ".e") ? text : strcat(text, ".0"));
}

/* The length in bytes of the control character in UTF-8 that text begins with; 0: it is none. */
static size_t control_length(const char *text) {
  const unsigned char *t = (const unsigned char *)text;
  if (t[0] < 0x80) return 1;
  if (t[0] == 0xC2) return (t[1] & 0xC0) == 0x80 ? 2 : 0;
  bool marks = t[0] == 0xE2 && (t[1] == 0x80 || t[1] == 0x81) && (t[2] & 0xC0) == 0x80;
  return marks ? 3 : 0;
}

static unsigned code_of(const char *control, size_t length) {
  const unsigned char *t = (const unsigned char *)control;
  unsigned code = length == 1 ? t[0] : t[0] & (0x7Fu >> length);
  for (size_t k = 1; k < length; k++) code = code << 6 | (t[k] & 0x3Fu);
  return code;
}

/* The text in quotes, with escapes for what a terminal interprets; NULL: out of memory, or not
 * UTF-8, as names may be. */
static char *quoted(const char *text, bool *valid) {
  char *result = malloc(6 * strlen(text) + 3), *to = result;
  *valid = true;
  if (!result) return NULL;
  *to++ = '"';
  for (size_t length; *valid && *text; text += length) {
    length = trs_printable_length(text);
    if (!length) {
      length = control_length(text);
      *valid = length > 0;
      to += sprintf(to, "\\u%04x", code_of(text, length));
    } else {
      if (*text == '"' || *text == '\\') *to++ = '\\';
      memcpy(to, text, length);
      to += length;
    }
  }
  strcpy(to, "\"");
  return result;
}

void report_text(const char *path, const char *text) {
  bool valid;
  if (!output_json()) return;
  char *value = quoted(text ? text : "", &valid);
  if (!valid) {
    free(value);
    value = quoted(human_name(text).s, &valid);
  }
  put(path, value);
}

void report_count(const char *path, int64_t value) {
  char text[24];
  snprintf(text, sizeof text, "%lld", (long long)value);
  put(path, strdup(text));
}

void report_real(const char *path, double value) { put(path, text_of_real(value)); }
void report_bool(const char *path, bool value) { put(path, strdup(value ? "true" : "false")); }
void report_null(const char *path) { put(path, strdup("null")); }

void report_append(const char *path, const int64_t *values, int64_t length) {
  enum { MOST = 24 }; /* bytes per number */
  char *text = malloc((size_t)length * MOST + 3), *to = text;
  if (text) *to++ = '[';
  for (int64_t i = 0; text && i < length; i++)
    to += sprintf(to, "%s%lld", i ? ", " : "", (long long)values[i]);
  if (text) strcpy(to, "]");
  put(path, text);
}

void report_append_reals(const char *path, const double *values, int64_t length) {
  enum { MOST = 32 };
  char *text = malloc((size_t)length * MOST + 3), *to = text;
  if (text) *to++ = '[';
  for (int64_t i = 0; text && i < length; i++) {
    char *one = text_of_real(values[i]);
    lost |= !one;
    to += sprintf(to, "%s%s", i ? ", " : "", one ? one : "null");
    free(one);
  }
  if (text) strcpy(to, "]");
  put(path, text);
}

static bool same_name(const char *a, const char *b, size_t length) {
  return !strncmp(a, b, length) && (!a[length] || a[length] == '.');
}

/* Prints the object at the first `at` bytes of a path; names of its members begin there. */
static void print_object(const char *path, size_t at, int depth) {
  const char *before = "{\n";
  for (size_t k = 0; k < count; k++) {
    if (strncmp(entries[k].path, path, at) != 0) continue;
    const size_t end = at + strcspn(entries[k].path + at, ".");
    size_t first = 0;
    while (!same_name(entries[first].path, entries[k].path, end)) first++;
    if (first < k) continue;
    printf("%s%*s\"%.*s\": ", before, 2 * depth, "", (int)(end - at), entries[k].path + at);
    before = ",\n";
    if (entries[k].path[end])
      print_object(entries[k].path, end + 1, depth + 1);
    else
      fputs(entries[k].value, stdout);
  }
  printf("\n%*s}", 2 * depth - 2, "");
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

int report_print(int code) {
  if (!count && !lost) return code;
  if (lost)
    code = print_loss(code);
  else
    print_object("", 0, 1);
  putchar('\n');
  for (size_t k = 0; k < count; k++) {
    free(entries[k].path);
    free(entries[k].value);
  }
  free(entries);
  entries = NULL;
  count = 0;
  lost = false;
  return code;
}
