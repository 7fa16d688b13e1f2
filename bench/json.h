/* json.h - objects of one line of JSON, read and written without a library. */
#ifndef TRIREME_BENCH_JSON_H
#define TRIREME_BENCH_JSON_H

#include <stdio.h>

typedef struct bench_json_value {
  enum { BENCH_JSON_NULL, BENCH_JSON_BOOL, BENCH_JSON_NUMBER, BENCH_JSON_TEXT } kind;
  double number; /* of a number; 0 or 1 */
  const char *text;
} bench_json_value;

/* Calls put for every value in an object except those in arrays; path is its keys with dots between
 * them; put may refuse a value with a reason.  Returns NULL, or the error in the text. */
const char *bench_json_walk(const char *text, void *user,
                            const char *(*put)(void *user, const char *path,
                                               const bench_json_value *value));

/* Writes the keys of path, up to the colon, after `before`, the path written before ("" at first);
 * and the braces that close the last path. */
void bench_json_key(FILE *stream, const char *before, const char *path);
void bench_json_end(FILE *stream, const char *path);
void bench_json_text(FILE *stream, const char *text);

#endif
