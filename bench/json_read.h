/* json_read.h - objects of one line of JSON. */
#ifndef TRIREME_BENCH_JSON_READ_H
#define TRIREME_BENCH_JSON_READ_H

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

#endif
