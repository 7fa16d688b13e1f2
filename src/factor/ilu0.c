/* ilu0.c - incomplete LU without fill (Meijerink and van der Vorst 1977) or with levels of it, row
 * by row in the IKJ order of Saad 2003, section 10.3: L U agrees with the matrix on their pattern.
 * L is unit; its diagonal is not stored.  O(n + sum over entries (i, k) below the diagonal of the
 * lesser of the entries in row k of U and, times a logarithm, in row i). */
#include <math.h>

#include "base/cancel.h"
#include "factor/kinds.h"

/* The row of a failed elimination; else whether all values are finite, and reciprocals of pivots.
 */
typedef struct ilu0_outcome {
  int64_t row;     /* -1: the call was cancelled */
  bool not_finite; /* else the pivot is zero */
  bool usable;
} ilu0_outcome;

#define TRS_TEMPLATE "factor/ilu0_tmpl.c"
#include "base/instantiate.h"

static bool (*const eliminate_of[])(const trs_factors *, const trs_matrix *, void *,
                                    ilu0_outcome *) = TRS_TABLE(eliminate);

static trs_status values(const trs_factors *F, const trs_factor_input *input) {
  const trs_scalar scalar = input->B->scalar;
  ilu0_outcome outcome = {.row = -1};
  void *work;
  TRS_TRY(trs_alloc_zero(&work, input->B->nrows, trs_scalar_size(scalar)));
  trs_factor_set_divides(F, false);
  const bool done = eliminate_of[scalar](F, input->B, work, &outcome);
  trs_free(work);
  if (!done && outcome.row < 0) return TRS_ERROR_CANCELLED;
  if (!done)
    return trs_fail_pivot(input, trs_factor_name(F->kind, F->levels), outcome.row,
                          outcome.not_finite, TRS_ILU0_ADVICE);
  if (!outcome.usable) return trs_factor_check_values(F);
  trs_factor_set_divides(F, true);
  return TRS_SUCCESS;
}

trs_status trs_factor_ilu0(trs_factors *parts, const trs_factor_input *input) {
  parts->diag_L = TRS_UNIT;
  parts->diag_U = TRS_NONUNIT;
  if (!parts->L) TRS_TRY(trs_factor_patterns(parts, input));
  return values(parts, input);
}
