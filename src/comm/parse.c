/* parse.c - the GPUs named after "cuda:", such as "0-3" and "0,2,2". */
#include <stdlib.h>

#include "comm/group.h"

enum { MOST_ORDINAL = 1023 };

/* Reads a number at *at and advances *at past it; -1 if there is none. */
static int read_number(const char **at) {
  char *rest;
  if (**at < '0' || **at > '9') return -1;
  long number = strtol(*at, &rest, 10);
  *at = rest;
  return number <= MOST_ORDINAL ? (int)number : -1;
}

trs_status trs_group_parse(const char *list, int *ordinals, int *count) {
  const char *at = list;
  *count = 0;
  for (;;) {
    int first = read_number(&at), last = first;
    if (first >= 0 && *at == '-') {
      at++;
      last = read_number(&at);
    }
    if (first < 0 || last < first || (*at && *at != ','))
      return trs_fail(TRS_ERROR_ARGUMENT, -1,
                      "\"cuda:%s\": a GPU's number follows cuda:, from 0, or several: cuda:0,2 or "
                      "cuda:0-3",
                      list);
    for (int ordinal = first; ordinal <= last; ordinal++) {
      if (*count == TRS_MOST_MEMBERS)
        return trs_fail(TRS_ERROR_ARGUMENT, -1, "\"cuda:%s\": more than %d GPUs", list,
                        TRS_MOST_MEMBERS);
      ordinals[(*count)++] = ordinal;
    }
    if (!*at) return TRS_SUCCESS;
    at++;
  }
}
