/* json.c - a JSON reader without a tree: it checks the text once, then finds a value by skipping
 * over those before it. */
#include "io/json.h"

#include <string.h>

enum { DEEPEST = 64 };

static const char *skip_space(const char *at, const char *end) {
  while (at < end && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r')) at++;
  return at;
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static const char *skip_string(const char *at, const char *end) {
  for (at++; at < end && *at != '"'; at++) {
    if ((unsigned char)*at < 0x20) return NULL;
    if (*at == '\\' && ++at == end) return NULL;
  }
  return at < end ? at + 1 : NULL;
}

static const char *skip_digits(const char *at, const char *end) {
  if (at == end || !is_digit(*at)) return NULL;
  while (at < end && is_digit(*at)) at++;
  return at;
}

static const char *skip_number(const char *at, const char *end) {
  at = skip_digits(at + (*at == '-'), end);
  if (at && at < end && *at == '.') at = skip_digits(at + 1, end);
  if (at && at < end && (*at == 'e' || *at == 'E')) {
    at++;
    at = skip_digits(at + (at < end && (*at == '+' || *at == '-')), end);
  }
  return at;
}

static const char *skip_word(const char *at, const char *end) {
  static const char *const words[] = {"true", "false", "null"};
  for (int w = 0; w < 3; w++) {
    size_t length = strlen(words[w]);
    if ((size_t)(end - at) >= length && !memcmp(at, words[w], length)) return at + length;
  }
  return NULL;
}

static const char *skip_value(const char *at, const char *end, int depth);

/* The position after the key of an object's member and its colon; NULL if there is none. */
static const char *skip_key(const char *at, const char *end) {
  if (at == end || *at != '"') return NULL;
  at = skip_string(at, end);
  at = at ? skip_space(at, end) : end;
  return at < end && *at == ':' ? skip_space(at + 1, end) : NULL;
}

/* Objects and arrays. */
static const char *skip_group(const char *at, const char *end, int depth) {
  bool object = *at == '{';
  char close = object ? '}' : ']';
  at = skip_space(at + 1, end);
  if (at < end && *at == close) return at + 1;
  while (at && at < end) {
    if (object) at = skip_key(at, end);
    if (at) at = skip_value(at, end, depth + 1);
    if (at) at = skip_space(at, end);
    if (!at || at == end) return NULL;
    if (*at == close) return at + 1;
    if (*at != ',') return NULL;
    at = skip_space(at + 1, end);
  }
  return NULL;
}

static const char *skip_value(const char *at, const char *end, int depth) {
  if (at == end || depth > DEEPEST) return NULL;
  if (*at == '"') return skip_string(at, end);
  if (*at == '{' || *at == '[') return skip_group(at, end, depth);
  return *at == '-' || is_digit(*at) ? skip_number(at, end) : skip_word(at, end);
}

trs_json trs_json_parse(const char *text, size_t length) {
  const char *end = text + length, *begin = skip_space(text, end);
  const char *after = skip_value(begin, end, 0);
  if (!after || skip_space(after, end) != end) return (trs_json){0};
  return (trs_json){begin, after};
}

/* Steps through the elements of a checked array or the members of a checked object.  *at is after
 * the bracket or after the previous element. */
static bool next_element(const char **at, const char *end, trs_json *key, trs_json *value) {
  const char *from = skip_space(*at, end);
  if (from < end && *from == ',') from = skip_space(from + 1, end);
  if (from == end || *from == ']' || *from == '}') return false;
  if (key) {
    *key = (trs_json){from, skip_string(from, end)};
    from = skip_key(from, end);
  }
  *value = (trs_json){from, skip_value(from, end, 0)};
  *at = value->end;
  return true;
}

trs_json trs_json_member(trs_json object, const char *name) {
  if (!object.begin || *object.begin != '{') return (trs_json){0};
  const char *at = object.begin + 1;
  size_t length = strlen(name);
  for (trs_json key, value; next_element(&at, object.end, &key, &value);)
    if ((size_t)(key.end - key.begin) == length + 2 && !memcmp(key.begin + 1, name, length))
      return value;
  return (trs_json){0};
}

trs_json trs_json_element(trs_json array, int64_t index) {
  if (!array.begin || *array.begin != '[') return (trs_json){0};
  const char *at = array.begin + 1;
  trs_json value;
  while (next_element(&at, array.end, NULL, &value))
    if (index-- == 0) return value;
  return (trs_json){0};
}

bool trs_json_integer(trs_json value, int64_t *integer) {
  const char *at = value.begin;
  if (!at || (*at != '-' && !is_digit(*at))) return false;
  bool negative = *at == '-';
  int64_t magnitude = 0;
  int digits = 0;
  for (at += negative; at < value.end && is_digit(*at) && digits < 19; at++, digits++)
    if (digits < 18) magnitude = magnitude * 10 + (*at - '0');
  if (at < value.end && *at == '.')
    for (at++; at < value.end && *at == '0'; at++) continue;
  *integer = negative ? -magnitude : magnitude;
  return at == value.end && digits <= 18;
}

bool trs_json_string(trs_json value, char *text, size_t size) {
  if (!value.begin || *value.begin != '"') return false;
  size_t length = (size_t)(value.end - value.begin) - 2;
  if (length >= size || memchr(value.begin, '\\', length + 2)) return false;
  memcpy(text, value.begin + 1, length);
  text[length] = '\0';
  return true;
}
