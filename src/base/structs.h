/* structs.h - structures of the public interface, which begin with struct_size and may grow.
 *
 * A caller compiled with an older header passes a shorter structure, a caller with a newer header a
 * longer one.  The library copies an argument into a structure of its own size before it reads a
 * field, and writes results back within the caller's size. */
#ifndef TRS_BASE_STRUCTS_H
#define TRS_BASE_STRUCTS_H

#include "base/status.h"

/* *own = *given.  Fields that the caller's structure lacks become zero; NULL stands for all zero.
 * Fails if struct_size is impossible, or if the caller sets a field that this library does not
 * know. */
#define TRS_STRUCT_TAKE(type, own, given) \
  trs_struct_take(1 ? (own) : (type *)0, sizeof(type), 1 ? (given) : (const type *)0, #type)

/* Fails unless *given can be written to. */
#define TRS_STRUCT_CHECK(type, given) \
  trs_struct_check(1 ? (given) : (const type *)0, sizeof(type), #type)

/* *given = *own, except struct_size.  Fields that only the caller's structure has become zero. */
#define TRS_STRUCT_GIVE(type, given, own) \
  trs_struct_give(1 ? (given) : (type *)0, 1 ? (own) : (const type *)0, sizeof(type), #type)

TRS_API trs_status trs_struct_take(void *own, size_t size, const void *given, const char *type);
TRS_API trs_status trs_struct_check(const void *given, size_t size, const char *type);
TRS_API trs_status trs_struct_give(void *given, const void *own, size_t size, const char *type);

#endif
