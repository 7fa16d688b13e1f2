/* once.c - a triangle in the caller's arrays that is solved only once: no matrix, no plan, one pass
 * that checks each entry before its use.  O(n + nnz); memory for n values if entries of a vector
 * are out of order. */
#include "solve/serial/once.h"

#include "analysis/system.h"
#include "solve/serial/kernels.h"

/* The error of a vector. */
static trs_status explain(const trs_once *o, bool rows) {
  const int64_t base = trs_index_base(o->indexing), i = o->vector;
  const char *word = rows ? "row" : "column";
  bool before = rows == o->lower;
  TRS_TRY(trs_indexing_check_ptr(o->indexing, o->ptr, o->n));
  if (o->missing)
    return trs_fail(TRS_ERROR_STRUCTURE, i,
                    "row %lld (0-based) has no diagonal entry: add one, or solve with a unit "
                    "diagonal",
                    (long long)i);
  TRS_TRY(trs_system_tell_pivot(i, o->pivot));
  for (int64_t p = trs_ptr_at(o->indexing, o->ptr, i); p < trs_ptr_at(o->indexing, o->ptr, i + 1);
       p++) {
    const int64_t given = trs_idx_at(o->indexing, o->idx, p - base);
    const int64_t index = trs_from_base(given, base);
    if (index < 0 || index >= o->n)
      return trs_fail(TRS_ERROR_STRUCTURE, i, "index %lld in %s %lld is outside %lld .. %lld (%s)",
                      (long long)given, word, (long long)(i + base), (long long)base,
                      (long long)(o->n - 1 + base), base ? "1-based" : "0-based");
    if (before ? index > i : index < i)
      return trs_fail(TRS_ERROR_STRUCTURE, i,
                      "%s %lld (0-based) has an entry %s the diagonal of a matrix to be used as %s "
                      "triangular: take that triangle of it, or factor it first",
                      word, (long long)i, o->lower ? "above" : "below",
                      o->lower ? "lower" : "upper");
  }
  return trs_fail(TRS_ERROR_ARGUMENT, i, "the arrays of the matrix changed during the solve");
}

trs_status trs_once_solve(trs_once *o, bool rows, trs_scalar scalar, void *x, const void *b) {
  const trs_serial_kernels *kernels = TRS_ISA_OF(trs_serial_kernels, trs_isa_now());
  if (trs_ptr_at(o->indexing, o->ptr, 0) != trs_index_base(o->indexing))
    return trs_indexing_check_ptr(o->indexing, o->ptr, 0);
  o->vector = -1;
  o->pivot = TRS_PIVOT_GOOD;
  o->missing = false;
  (rows ? kernels->once_by_rows : kernels->once_by_columns)[scalar](o, x, b);
  TRS_FREE_ALL(o->sum, o->adds);
  TRS_TRY(o->lacks);
  return o->vector < 0 ? TRS_SUCCESS : explain(o, rows);
}
