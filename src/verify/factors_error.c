/* factors_error.c - multiplies by the factors in long double.  O((nnz(L) + nnz(U)) nrhs). */
#include "verify/factors_error.h"

#include <math.h>

#include "verify/range.h"

static trs_wide scaled(trs_wide value, double divisor) {
  long double d = divisor, m = d < 0 ? -d : d;
  return (trs_wide){value.re / d, value.im / d, value.magnitude / m, value.underflow / m};
}

/* Scaling is one more product, which may underflow. */
static trs_wide unscaled(trs_wide value, double divisor, double smallest) {
  value = scaled(value, divisor);
  value.underflow += smallest;
  return value;
}

/* to[k] = from[perm[k]] / scale[perm[k]]: x in the factors' numbering. */
static void into(trs_wide *to, const trs_wide *from, const int32_t *perm, const double *scale,
                 int64_t n, double smallest) {
  for (int64_t k = 0; k < n; k++) {
    int64_t i = perm ? perm[k] : k;
    to[k] = scale ? unscaled(from[i], scale[i], smallest) : from[i];
  }
}

/* to[perm[k]] = from[k] / scale[perm[k]]: the product in the caller's numbering. */
static void out_of(trs_wide *to, const trs_wide *from, const int32_t *perm, const double *scale,
                   int64_t n) {
  for (int64_t k = 0; k < n; k++) {
    int64_t i = perm ? perm[k] : k;
    to[i] = scale ? scaled(from[k], scale[i]) : from[k];
  }
}

static void apply(const trs_factors *F, trs_trans trans, trs_wide *x, trs_wide *work) {
  trs_operand L = {F->L, TRS_LOWER, trans, F->diag_L}, U = {F->U, TRS_UPPER, trans, F->diag_U};
  bool plain = trans == TRS_NO_TRANS;
  into(work, x, plain ? F->col_perm : F->row_perm, plain ? F->col_scale : F->row_scale, F->n,
       trs_smallest_normal(F->scalar));
  trs_wide_apply(plain ? &U : &L, work, x);
  trs_wide_apply(plain ? &L : &U, x, work);
  out_of(x, work, plain ? F->row_perm : F->col_perm, plain ? F->row_scale : F->col_scale, F->n);
}

trs_status trs_factors_error_of(const trs_factors *F, trs_trans trans, const trs_rhs *rhs,
                                trs_backward_error *error) {
  trs_wide *x, *work = NULL;
  trs_range_begin(error);
  trs_status status = TRS_ALLOC_ALL(TRS_ROOM(&x, F->n), TRS_ROOM(&work, F->n));
  for (int64_t r = 0; !status && r < rhs->nrhs; r++) {
    const trs_rhs column = trs_rhs_columns(rhs, F->scalar, r, 1);
    trs_wide_load(x, column.x, rhs->x_row, F->scalar, F->n);
    apply(F, trans, x, work);
    trs_wide_compare(x, column.b, rhs->b_row, F->scalar, F->n, error);
  }
  if (!status && !isfinite(error->componentwise)) trs_range_explain_factors(F, rhs, error);
  TRS_FREE_ALL(x, work);
  return status;
}
