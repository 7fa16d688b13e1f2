/* report_json.c - the JSON report, through jansson (TRIREME_CLI_JSON). */

#include "leave.h"
#include "output.h"
#include "report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if TRIREME_CLI_JSON
#include <jansson.h>

static json_t *root;
static bool lost; /* memory was short: something is missing */

bool report_available(void) { return true; }

/* Puts value at a dotted path and takes its reference; creates the objects on the way. */
static void put(const char *path, json_t *value) {
  if (!root) root = json_object();
  json_t *object = root;
  char name[64];
  for (const char *dot; (dot = strchr(path, '.')); path = dot + 1) {
    snprintf(name, sizeof name, "%.*s", (int)(dot - path), path);
    json_t *inner = json_object_get(object, name);
    if (!inner && json_object_set_new(object, name, inner = json_object())) inner = NULL;
    object = inner; /* jansson takes NULL for an error */
  }
  if (json_object_set_new(object, path, value)) lost = true;
}

void report_text(const char *path, const char *text) {
  if (!output_json()) return;
  json_t *value = json_string(text ? text : "");
  put(path, value ? value : json_string(human_name(text).s)); /* names may be invalid UTF-8 */
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
  for (int64_t i = 0; i < count; i++)
    if (json_array_append_new(array, json_integer(values[i]))) lost = true;
  put(path, array);
}

void report_append_reals(const char *path, const double *values, int64_t count) {
  if (!output_json()) return;
  json_t *array = json_array();
  for (int64_t i = 0; i < count; i++)
    if (json_array_append_new(array, isfinite(values[i]) ? json_real(values[i]) : json_null()))
      lost = true;
  put(path, array);
}

/* Prints the first character of UTF-8 text as a JSON escape; returns the text after it. */
static const char *print_escaped(const char *text) {
  const unsigned char *t = (const unsigned char *)text;
  int more = t[0] < 0x80 ? 0 : t[0] < 0xE0 ? 1 : 2; /* no control is longer */
  unsigned code = more ? t[0] & (0x3Fu >> more) : t[0];
  for (int k = 1; k <= more; k++) code = code << 6 | (t[k] & 0x3Fu);
  printf("\\u%04x", code);
  return text + more + 1;
}

/* Prints names unchanged, but escapes characters that a terminal interprets. */
static void print_text(const char *text) {
  while (*text) {
    size_t length = *text == '\n' ? 1 : trs_printable_length(text);
    if (!length) text = print_escaped(text);
    fwrite(text, 1, length, stdout);
    text += length;
  }
}

typedef struct text {
  char *bytes;
  size_t length;
} text;

/* jansson does not look whether a key was taken. */
static int append(const char *bytes, size_t count, void *user) {
  text *t = user;
  char *grown = lost ? NULL : realloc(t->bytes, t->length + count + 1);
  if (!grown) {
    lost = true;
    return -1;
  }
  memcpy(grown + t->length, bytes, count);
  t->length += count;
  grown[t->length] = 0;
  t->bytes = grown;
  return 0;
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
  if (!root && !lost) return code;
  text t = {0};
  if (json_dump_callback(root, append, &t, JSON_INDENT(2) | JSON_REAL_PRECISION(12))) lost = true;
  if (lost)
    code = print_loss(code);
  else
    print_text(t.bytes);
  putchar('\n');
  free(t.bytes);
  json_decref(root);
  root = NULL;
  lost = false;
  return code;
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
int report_print(int code) { return code; }

#endif
