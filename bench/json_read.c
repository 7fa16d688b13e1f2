/* json_read.c - reads objects of one line, the format of results. */
#include "json_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "output.h"

enum { MOST_DEEP = 8, MOST_TEXT = 2048, MOST_PATH = 256 };

typedef struct reader {
  const char *at, *error;
  void *user;
  const char *(*put)(void *user, const char *path, const bench_json_value *value);
  char path[MOST_PATH], text[MOST_TEXT];
  int depth, arrays;
} reader;

static bool fail(reader *r, const char *error) {
  if (!r->error) r->error = error;
  return false;
}

static char next(reader *r) {
  r->at += strspn(r->at, " \t\r\n");
  return *r->at;
}

static bool take(reader *r, char c) {
  if (next(r) != c) return false;
  r->at++;
  return true;
}

static size_t put_utf8(char *to, unsigned code) {
  size_t used = 0;
  if (code < 0x80) {
    to[used++] = (char)code;
  } else if (code < 0x800) {
    to[used++] = (char)(0xc0 | code >> 6);
    to[used++] = (char)(0x80 | (code & 0x3f));
  } else {
    to[used++] = (char)(0xe0 | code >> 12);
    to[used++] = (char)(0x80 | (code >> 6 & 0x3f));
    to[used++] = (char)(0x80 | (code & 0x3f));
  }
  return used;
}

/* The character of an escape sequence; 0: invalid. */
static size_t take_escape(reader *r, char *to) {
  static const char letters[] = "\"\\/bfnrt", means[] = "\"\\/\b\f\n\r\t";
  char c = *r->at++;
  const char *found = c ? strchr(letters, c) : NULL;
  if (found) {
    *to = means[found - letters];
    return 1;
  }
  char digits[5] = {0}, *end;
  if (c != 'u' || strnlen(r->at, 4) < 4) return 0;
  memcpy(digits, r->at, 4);
  r->at += 4;
  unsigned long code = strtoul(digits, &end, 16);
  return *end ? 0 : put_utf8(to, (unsigned)code);
}

/* Reads into r->text; longer text is cut. */
static bool take_text(reader *r) {
  size_t used = 0;
  if (!take(r, '"')) return fail(r, "a text is missing");
  while (*r->at && *r->at != '"') {
    char letters[4];
    size_t count = 1;
    if (*r->at == '\\') {
      r->at++;
      count = take_escape(r, letters);
      if (!count) return fail(r, "a text has a bad escape");
    } else {
      letters[0] = *r->at++;
    }
    if (used + count < MOST_TEXT) memcpy(r->text + used, letters, count), used += count;
  }
  r->text[used] = 0;
  snprintf(r->text, sizeof r->text, "%s", human_name(r->text).s); /* tables print it */
  if (*r->at != '"') return fail(r, "the line ends inside a text");
  r->at++;
  return true;
}

static bool take_word(reader *r, const char *word) {
  size_t length = strlen(word);
  if (strncmp(r->at, word, length) != 0) return false;
  r->at += length;
  return true;
}

static bool take_scalar(reader *r, bench_json_value *value) {
  const char *end;
  char first = next(r);
  *value = (bench_json_value){.kind = BENCH_JSON_NULL, .text = ""};
  if (first == '"') {
    value->kind = BENCH_JSON_TEXT;
    value->text = r->text;
    return take_text(r);
  }
  if (take_word(r, "null")) return true;
  value->kind = BENCH_JSON_BOOL;
  if (take_word(r, "false")) return true;
  value->number = 1;
  if (take_word(r, "true")) return true;
  value->kind = BENCH_JSON_NUMBER;
  value->number = trs_number(r->at, &end);
  if (end == r->at || (first != '-' && (first < '0' || first > '9')))
    return fail(r, "a value is missing");
  r->at = end;
  return true;
}

static bool take_value(reader *r, size_t length);

static bool take_members(reader *r, size_t length) {
  if (take(r, '}')) return true;
  do {
    if (!take_text(r)) return false;
    size_t more = strlen(r->text);
    if (length + more + 2 > MOST_PATH) return fail(r, "a key is too long");
    if (length) r->path[length] = '.';
    memcpy(r->path + length + (length > 0), r->text, more + 1);
    if (!take(r, ':')) return fail(r, "a colon is missing");
    if (!take_value(r, length + (length > 0) + more)) return false;
  } while (take(r, ','));
  return take(r, '}') || fail(r, "a closing brace is missing");
}

static bool take_elements(reader *r, size_t length) {
  if (take(r, ']')) return true;
  do
    if (!take_value(r, length)) return false;
  while (take(r, ','));
  return take(r, ']') || fail(r, "a closing bracket is missing");
}

/* The value at the path of the given length. */
static bool take_value(reader *r, size_t length) {
  bench_json_value value;
  bool good;
  if (++r->depth > MOST_DEEP) return fail(r, "objects are nested too deeply");
  if (take(r, '{')) {
    good = take_members(r, length);
  } else if (take(r, '[')) {
    r->arrays++;
    good = take_elements(r, length);
    r->arrays--;
  } else {
    good = take_scalar(r, &value);
    r->path[length] = 0;
    const char *refused = good && !r->arrays ? r->put(r->user, r->path, &value) : NULL;
    if (refused) good = fail(r, refused);
  }
  r->depth--;
  return good;
}

const char *bench_json_walk(const char *text, void *user,
                            const char *(*put)(void *user, const char *path,
                                               const bench_json_value *value)) {
  reader r = {.at = text, .user = user, .put = put};
  if (next(&r) != '{') return "an opening brace is missing";
  if (take_value(&r, 0) && next(&r)) fail(&r, "something follows the object");
  return r.error;
}
