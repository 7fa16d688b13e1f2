/* expand.h - converts the entries of a binary file, in any of its layouts, to a matrix. */
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

/* The arrays come from trs_alloc. */
typedef struct trs_entries {
  trs_entries_kind kind;
  trs_symmetry symmetry;
  bool upper; /* a symmetric matrix is given by its upper triangle, else by its lower one */
  trs_scalar scalar;
  int64_t nrows, ncols, count;
  int64_t *ptr;           /* may be NULL */
  int32_t *major, *minor; /* major may be NULL if ptr is given */
  void *val;
} trs_entries;

/* Checks everything.  Takes ownership of the arrays, also on failure (TRS_ERROR_STRUCTURE). */
trs_status trs_entries_adopt(trs_matrix **A, trs_entries *entries);
/* The check of ptr alone. */
trs_status trs_entries_check_pointers(const trs_entries *entries);
void trs_entries_release(trs_entries *entries);

#endif
