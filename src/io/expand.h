/* expand.h - the entries of a binary file, in any of its layouts, to a matrix. */
#ifndef TRS_IO_EXPAND_H
#define TRS_IO_EXPAND_H

#include "base/scalar.h"
#include "io/banner.h"

typedef enum trs_entries_kind {
  TRS_ROWS,         /* ptr by row, minor are columns */
  TRS_COLUMNS,      /* ptr by column, minor are rows */
  TRS_PAIRS,        /* major are rows, minor columns */
  TRS_SWAPPED_PAIRS /* major are columns, minor rows */
} trs_entries_kind;

/* Arrays come from trs_alloc. */
typedef struct trs_entries {
  trs_entries_kind kind;
  trs_symmetry symmetry;
  bool upper; /* of a symmetric matrix the upper triangle is given, else the lower */
  trs_scalar scalar;
  int64_t nrows, ncols, count;
  int64_t *ptr;           /* or NULL */
  int32_t *major, *minor; /* major may be NULL where there is ptr */
  void *val;
} trs_entries;

/* Checks everything, and takes the arrays also when it fails (TRS_ERROR_STRUCTURE). */
trs_status trs_entries_adopt(trs_matrix **A, trs_entries *entries);
/* Of these checks, that of ptr. */
trs_status trs_entries_check_pointers(const trs_entries *entries);
void trs_entries_release(trs_entries *entries);

#endif
