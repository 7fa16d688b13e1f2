/* report_json.c - the JSON report, through jansson (TRIREME_CLI_JSON). */

#include "output.h"
#include "report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if TRIREME_CLI_JSON
#include <jansson.h>

static json_t *root;

bool report_available(void) { return true; }

/* Puts value, whose reference it takes, at a dotted path, making the objects on the way. */
static void put(const char *path, json_t *value) {
  if (!root) root = json_object();
  json_t *object = root;
  char name[64];
  for (const char *dot; (dot = strchr(path, '.')); path = dot + 1) {
    snprintf(name, sizeof name, "%.*s", (int)(dot - path), path);
    json_t *inner = json_object_get(object, name);
    if (!inner) json_object_set_new(object, name, inner = json_object());
    object = inner;
  }
  json_object_set_new(object, path, value);
}

void report_text(const char *path, const char *text) {
  if (!output_json()) return;
  json_t *value = json_string(text ? text : "");
  put(path, value ? value : json_string(human_name(text).s)); /* names need not be UTF-8 */
}

void report_count(const char *path, int64_t count) {
  if (output_json()) put(path, json_integer(count));
}

void report_real(const char *path, double value) {
  if (output_json()) put(path, isfinite(value) ? json_real(value) : json_null());
}

void report_bool(const char *path, bool value) {
  if (output_json()) put(path, json_boolean(value));
}

void report_null(const char *path) {
  if (output_json()) put(path, json_null());
}

void report_append(const char *path, const int64_t *values, int64_t count) {
  if (!output_json()) return;
  json_t *array = json_array();
  for (int64_t i = 0; i < count; i++) json_array_append_new(array, json_integer(values[i]));
  put(path, array);
}

void report_append_reals(const char *path, const double *values, int64_t count) {
  if (!output_json()) return;
  json_t *array = json_array();
  for (int64_t i = 0; i < count; i++)
    json_array_append_new(array, isfinite(values[i]) ? json_real(values[i]) : json_null());
  put(path, array);
}

/* The first character of UTF-8 text as JSON escapes it; the text behind it. */
static const char *print_escaped(const char *text) {
  const unsigned char *t = (const unsigned char *)text;
  int more = t[0] < 0x80 ? 0 : t[0] < 0xE0 ? 1 : 2; /* none of a terminal's controls is longer */
  unsigned code = more ? t[0] & (0x3Fu >> more) : t[0];
  for (int k = 1; k <= more; k++) code = code << 6 | (t[k] & 0x3Fu);
  printf("\\u%04x", code);
  return text + more + 1;
}

/* Names have their letters, but nothing that a terminal obeys. */
static void print_text(const char *text) {
  while (*text) {
    size_t length = *text == '\n' ? 1 : trs_printable_length(text);
    if (!length) text = print_escaped(text);
    fwrite(text, 1, length, stdout);
    text += length;
  }
}

void report_print(void) {
  if (!root) return;
  char *text = json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
  if (text) print_text(text);
  free(text);
  putchar('\n');
  json_decref(root);
  root = NULL;
}

#else

bool report_available(void) { return false; }
void report_text(const char *path, const char *text) { (void)path, (void)text; }
void report_count(const char *path, int64_t count) { (void)path, (void)count; }
void report_real(const char *path, double value) { (void)path, (void)value; }
void report_bool(const char *path, bool value) { (void)path, (void)value; }
void report_null(const char *path) { (void)path; }
void report_append(const char *path, const int64_t *values, int64_t count) {
  (void)path, (void)values, (void)count;
}
void report_append_reals(const char *path, const double *values, int64_t count) {
  (void)path, (void)values, (void)count;
}
void report_print(void) {}

#endif
