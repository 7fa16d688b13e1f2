/* parameters.c - "key=value,key=value". */
#include "plan/parameters.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"

static trs_status bad_value(const char *name, const trs_parameter *it, const char *value,
                            size_t length) {
  char domain[256];
  size_t used = 0;
  if (!it->words)
    snprintf(domain, sizeof domain, "a number from %lld to %lld", (long long)it->least,
             (long long)it->most);
  for (int w = 0; it->words && it->words[w] && used < sizeof domain; w++)
    used +=
        (size_t)snprintf(domain + used, sizeof domain - used, "%s%s", w ? ", " : "", it->words[w]);
  return trs_fail(TRS_ERROR_ARGUMENT, -1, "method %s: %s=%.*s: it takes %s", name, it->key,
                  (int)length, value, domain);
}

static trs_status set(const char *name, const trs_parameter *it, const char *value, size_t length) {
  for (int w = 0; it->words && it->words[w]; w++)
    if (strlen(it->words[w]) == length && !strncmp(it->words[w], value, length)) {
      *it->value = w;
      return TRS_SUCCESS;
    }
  char *end;
  long long number = strtoll(value, &end, 10);
  if (it->words || length == 0 || end != value + length || number < it->least || number > it->most)
    return bad_value(name, it, value, length);
  *it->value = number;
  return TRS_SUCCESS;
}

static trs_status unknown(const char *name, const trs_parameter *table, int count, const char *key,
                          size_t length) {
  char known[256] = "none", words[256] = "", typed[64], near[64];
  size_t used = 0, words_used = 0;
  for (int k = 0; k < count && used < sizeof known; k++) {
    used +=
        (size_t)snprintf(known + used, sizeof known - used, "%s%s", k ? ", " : "", table[k].key);
    words_used +=
        (size_t)snprintf(words + words_used, sizeof words - words_used, "%s|", table[k].key);
  }
  snprintf(typed, sizeof typed, "%.*s", (int)length, key);
  return trs_fail(TRS_ERROR_ARGUMENT, -1, "method %s has no parameter \"%s\"%s: it has %s", name,
                  typed, trs_suggestion(near, sizeof near, typed, words), known);
}

trs_status trs_parameters_parse(const char *name, const char *text, const trs_parameter *table,
                                int count) {
  for (const char *at = text; at && *at;) {
    size_t length = strcspn(at, ","), key = strcspn(at, "=,");
    int k = 0;
    while (k < count && (strlen(table[k].key) != key || strncmp(table[k].key, at, key) != 0)) k++;
    if (k == count) return unknown(name, table, count, at, key);
    const char *value = at + key + (at[key] == '=');
    TRS_TRY(set(name, &table[k], value, (size_t)(at + length - value)));
    at += length + (at[length] == ',');
  }
  return TRS_SUCCESS;
}

trs_status trs_parameters_read(const trs_plan *plan, const trs_parameter *table, int count) {
  return trs_parameters_parse(plan->method->name, plan->parameters, table, count);
}
