/* structs.c - copies structures across the public interface, whose two sides may have different
 * versions. */
#include "base/structs.h"

#include <string.h>

enum { MOST = 4096 }; /* bytes; every structure of the interface is far smaller */

static size_t size_of(const void *given) {
  size_t size;
  memcpy(&size, given, sizeof size);
  return size;
}

trs_status trs_struct_check(const void *given, size_t size, const char *type) {
  size_t theirs = size_of(given);
  if (theirs >= sizeof theirs && theirs <= MOST) return TRS_SUCCESS;
  return trs_fail(TRS_ERROR_ARGUMENT, -1,
                  "struct_size of a %s is %zu: set it to sizeof(%s), which is %zu here, and the "
                  "fields that are not used to 0",
                  type, theirs, type, size);
}

trs_status trs_struct_take(void *own, size_t size, const void *given, const char *type) {
  memset(own, 0, size);
  if (given) {
    TRS_TRY(trs_struct_check(given, size, type));
    size_t theirs = size_of(given);
    for (size_t at = size; at < theirs; at++)
      if (((const char *)given)[at])
        return trs_fail(TRS_ERROR_ARGUMENT, -1,
                        "byte %zu of a %s is set, but this library knows %zu bytes of it: the "
                        "program was compiled for a newer version than %s",
                        at, type, size, trs_version());
    memcpy(own, given, theirs < size ? theirs : size);
  }
  memcpy(own, &size, sizeof size);
  return TRS_SUCCESS;
}

trs_status trs_struct_give(void *given, const void *own, size_t size, const char *type) {
  TRS_TRY(trs_struct_check(given, size, type));
  size_t theirs = size_of(given), common = theirs < size ? theirs : size;
  const size_t head = sizeof size;
  memcpy((char *)given + head, (const char *)own + head, common - head);
  if (theirs > size) memset((char *)given + size, 0, theirs - size);
  return TRS_SUCCESS;
}
