/* request.c - parses the arguments of a generator by its signature, "NX[,NY,NZ]" or
 * "N,K[,seed=S]". */
#include "gallery/request.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const long long MOST = INT32_MAX;

/* The name of argument k, counted from 0, in a signature; NULL after the last. */
static const char *argument_name(const char *signature, int k, int *length) {
  static const char marks[] = "[],";
  for (const char *at = signature;; k--) {
    at += strspn(at, marks);
    *length = (int)strcspn(at, marks);
    if (!*length || !strncmp(at, "seed=", 5)) return NULL;
    if (k == 0) return at;
    at += *length;
  }
}

static int count_names(const char *signature) {
  int count = 0, length;
  while (argument_name(signature, count, &length)) count++;
  return count;
}

/* The number of required arguments: those before the first bracket. */
static int count_required(const char *signature) {
  int count = 1;
  for (; *signature && *signature != '['; signature++) count += *signature == ',';
  return count;
}

static trs_status bad_count(const trs_request *request, const trs_generator *generator) {
  return trs_fail(TRS_ERROR_ARGUMENT, -1, "%s: the arguments must be gen:%s:%s", request->name,
                  generator->name, generator->arguments);
}

/* Accepts only decimal digits; the value is at most `limit`. */
static bool parse_number(const char *text, int length, uint64_t limit, uint64_t *value) {
  *value = 0;
  for (int i = 0; i < length; i++) {
    if (text[i] < '0' || text[i] > '9') return false;
    if (__builtin_mul_overflow(*value, 10u, value) ||
        __builtin_add_overflow(*value, (uint64_t)(text[i] - '0'), value) || *value > limit)
      return false;
  }
  return length > 0;
}

static trs_status parse_value(trs_request *request, const char *signature, int k, const char *text,
                              int length) {
  int name_length;
  const char *name = argument_name(signature, k, &name_length);
  uint64_t value;
  if (!parse_number(text, length, (uint64_t)MOST, &value) || value == 0)
    return trs_fail(TRS_ERROR_ARGUMENT, -1,
                    "%s: %.*s is '%.*s'; expected a whole number in 1 .. %lld", request->name,
                    name_length, name, length, text, MOST);
  request->value[k] = (int64_t)value;
  return TRS_SUCCESS;
}

trs_status trs_request_parse(trs_request *request, const trs_generator *generator,
                             const char *text) {
  const char *signature = generator->arguments;
  bool seeded = strstr(signature, "seed=") != NULL;
  int names = count_names(signature), given = 0;
  request->seed = 1;
  for (const char *at = text; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
    int length = (int)strcspn(at, ",");
    if (seeded && length >= 5 && !strncmp(at, "seed=", 5)) {
      if (!parse_number(at + 5, length - 5, UINT64_MAX, &request->seed))
        return trs_fail(TRS_ERROR_ARGUMENT, -1,
                        "%s: seed is '%.*s'; expected a whole number below 2^64", request->name,
                        length - 5, at + 5);
      continue;
    }
    if (given == names || !*text) return bad_count(request, generator);
    TRS_TRY(parse_value(request, signature, given++, at, length));
  }
  if (given != names && given != count_required(signature)) return bad_count(request, generator);
  for (int k = given; k < TRS_REQUEST_VALUES; k++) request->value[k] = request->value[0];
  return TRS_SUCCESS;
}

trs_status trs_request_rows(const trs_request *request, int64_t a, int64_t b, int64_t c,
                            int64_t d) {
  int64_t rows;
  if (__builtin_mul_overflow(a, b, &rows) || __builtin_mul_overflow(rows, c, &rows) ||
      __builtin_mul_overflow(rows, d, &rows) || rows > MOST)
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "%s: too large, a matrix has at most %lld rows",
                    request->name, MOST);
  return TRS_SUCCESS;
}
