/* dependents.c - rows become columns: entries are counted, then stored, in the order of the rows.
 * base/transpose.h does so for whole patterns; here the diagonal stays out, without a copy. */
#include "analysis/dependents.h"

#include "base/memory.h"

/* Counts the entries of each column, or stores them.  next: of each column.  The last three are
 * literals. */
static inline __attribute__((always_inline)) void visit(trs_dependents *d, const trs_system *S,
                                                        int64_t *next, bool prefix, bool full,
                                                        bool store) {
  int64_t begin, end;
  for (int64_t i = 0; i < S->n; i++) {
    trs_off_diagonal(S, i, prefix, full, &begin, &end);
    for (int64_t p = begin; p < end; p++) {
      const int64_t at = next[S->idx[p]]++;
      if (store) d->own_row[at] = (int32_t)i;
    }
  }
}

static inline __attribute__((always_inline)) void visit_rows(trs_dependents *d, const trs_system *S,
                                                             int64_t *next, bool store) {
  const bool prefix = trs_system_prefix(S);
  if (!S->has_diagonal)
    visit(d, S, next, prefix, false, store);
  else if (prefix)
    visit(d, S, next, true, true, store);
  else
    visit(d, S, next, false, true, store);
}

/* The next position of each column is stored one place behind its first one. */
static trs_status turn(trs_dependents *d, const trs_system *S) {
  TRS_TRY(TRS_ALLOC_ALL(TRS_ZEROS(&d->own_ptr, S->n + 2), TRS_ROOM(&d->own_row, S->nnz)));
  int64_t *count = d->own_ptr + 2;
  visit_rows(d, S, count, false);
  for (int64_t i = 1; i < S->n; i++) count[i] += count[i - 1];
  visit_rows(d, S, d->own_ptr + 1, true);
  return TRS_SUCCESS;
}

trs_status trs_dependents_create(trs_dependents *d, const trs_system *S) {
  *d = (trs_dependents){0};
  if (S->rows) {
    trs_status status = turn(d, S);
    if (status) trs_dependents_destroy(d);
    TRS_TRY(status);
  }
  d->ptr = S->rows ? d->own_ptr : S->ptr;
  d->row = S->rows ? d->own_row : S->idx;
  return TRS_SUCCESS;
}

void trs_dependents_destroy(trs_dependents *d) {
  TRS_FREE_ALL(d->own_ptr, d->own_row);
  *d = (trs_dependents){0};
}
