/* domains.h - fields of option structures, and values outside their domains. */
#ifndef TRS_TEST_API_DOMAINS_H
#define TRS_TEST_API_DOMAINS_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef struct domain {
  const char *name;
  size_t at, bytes;
  bool real;
  int64_t least, most; /* of whole numbers */
  double low, high;    /* of reals */
} domain;

#define WHOLE(type, field, least, most) \
  { #field, offsetof(type, field), sizeof(((type *)0)->field), false, least, most, 0, 0 }
#define REAL(type, field, low, high) \
  { #field, offsetof(type, field), sizeof(((type *)0)->field), true, 0, 0, low, high }

enum { TRIED = 5 };

static inline void put_whole(char *options, const domain *d, int64_t value, char *shown,
                             size_t size) {
  const int32_t narrow = (int32_t)value;
  memcpy(options + d->at, d->bytes == 4 ? (const void *)&narrow : (const void *)&value, d->bytes);
  snprintf(shown, size, "%lld", (long long)value);
}

static inline void put_real(char *options, const domain *d, double value, char *shown,
                            size_t size) {
  memcpy(options + d->at, &value, sizeof value);
  snprintf(shown, size, "%g", value);
}

/* Sets the field to the v-th value outside its domain, and shows it as messages do; false if there
 * is no such value. */
static inline bool put_tried(char *options, const domain *d, int v, char *shown, size_t size) {
  if (d->real) {
    const double values[TRIED] = {NAN, INFINITY, -INFINITY, nextafter(d->low, -INFINITY),
                                  nextafter(d->high, INFINITY)};
    if (v > 2 && !isfinite(values[v])) return false;
    put_real(options, d, values[v], shown, size);
    return true;
  }
  const int64_t first = d->bytes == 4 ? INT32_MIN : INT64_MIN,
                last = d->bytes == 4 ? INT32_MAX : INT64_MAX;
  const int64_t values[TRIED] = {d->least > first ? d->least - 1 : first,
                                 d->most < last ? d->most + 1 : last, first, last,
                                 d->least > first ? d->least - 1 : first};
  if (values[v] >= d->least && values[v] <= d->most) return false;
  put_whole(options, d, values[v], shown, size);
  return true;
}

/* Sets the field to the first or the last value of its domain. */
static inline void put_end(char *options, const domain *d, int end, char *shown, size_t size) {
  if (d->real)
    put_real(options, d, end ? d->high : d->low, shown, size);
  else
    put_whole(options, d, end ? d->most : d->least, shown, size);
}

/* True if the message says that the field is that value. */
static inline bool names(const char *message, const char *name, const char *shown) {
  char words[96];
  snprintf(words, sizeof words, "%s is %s", name, shown);
  return strstr(message, words) != NULL;
}

#endif
