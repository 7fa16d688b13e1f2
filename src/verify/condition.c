/* condition.c - the condition number of A = factors in the 1-norm, by estimates of |A| and |A^-1|
 * from a few products and solves with A and A^H (Hager, SIAM J. Sci. Stat. Comput. 5, 1984; Higham,
 * ACM Trans. Math. Softw. 14, 1988), as LAPACK's gecon does, from three starts each.  Lower bounds,
 * seldom below a third.  At most 34 products and as many solves, O(nnz(L) + nnz(U)) each. */
#include <complex.h>
#include <math.h>

#include "base/cancel.h"
#include "base/random.h"
#include "verify/factors_error.h"

/* One of the factors, as op of it is read: vectors are its rows or its columns. */
typedef struct trs_triangle_view {
  int64_t n;
  const int64_t *ptr;
  const int32_t *idx;
  const void *val;
  bool by_rows, unit, conjugate;
  bool forward; /* op(T) is lower triangular */
  bool below;   /* entries of a vector have lesser indices than the vector */
} trs_triangle_view;

#define TRS_TEMPLATE "verify/condition_tmpl.c"
#include "base/instantiate.h"

static void (*const sweep_of[])(const trs_triangle_view *, bool,
                                double complex *) = TRS_TABLE(sweep);

/* ---- op(A) x and its inverse. ---- */

typedef struct estimate {
  const trs_factors *F;
  bool inverse;
  double scale;             /* of vectors that op(A) or its inverse is applied to */
  double complex *x, *work; /* n */
} estimate;

static trs_triangle_view view(const trs_matrix *T, bool lower, trs_diag diag, bool adjoint) {
  const bool csr = T->format == TRS_CSR;
  return (trs_triangle_view){.n = T->nrows,
                             .ptr = T->ptr,
                             .idx = T->idx,
                             .val = T->val,
                             .by_rows = csr != adjoint,
                             .unit = diag == TRS_UNIT,
                             .conjugate = adjoint,
                             .forward = lower != adjoint,
                             .below = lower == csr};
}

static void take(double complex *to, const double complex *from, const int32_t *perm,
                 const double *scale, bool multiply, int64_t n) {
  for (int64_t k = 0; k < n; k++) {
    const int64_t i = perm ? perm[k] : k;
    to[k] = scale ? multiply ? from[i] * scale[i] : from[i] / scale[i] : from[i];
  }
}

static void give(double complex *to, const double complex *from, const int32_t *perm,
                 const double *scale, bool multiply, int64_t n) {
  for (int64_t k = 0; k < n; k++) {
    const int64_t i = perm ? perm[k] : k;
    to[i] = scale ? multiply ? from[k] * scale[i] : from[k] / scale[i] : from[k];
  }
}

/* x becomes scale times A x, A^H x, A^-1 x or A^-H x.  A maps the numbering of columns to that of
 * rows. */
static void apply(const estimate *e, bool adjoint) {
  const trs_factors *F = e->F;
  const bool from_rows = e->inverse != adjoint;
  const trs_triangle_view L = view(F->L, true, F->diag_L, adjoint),
                          U = view(F->U, false, F->diag_U, adjoint);
  if (trs_cancel_asked(trs_cancel_flag())) return;
  for (int64_t i = 0; i < F->n; i++) e->x[i] *= e->scale;
  take(e->work, e->x, from_rows ? F->row_perm : F->col_perm,
       from_rows ? F->row_scale : F->col_scale, e->inverse, F->n);
  sweep_of[F->scalar](from_rows ? &L : &U, e->inverse, e->work);
  sweep_of[F->scalar](from_rows ? &U : &L, e->inverse, e->work);
  give(e->x, e->work, from_rows ? F->col_perm : F->row_perm,
       from_rows ? F->col_scale : F->row_scale, e->inverse, F->n);
}

/* ---- The estimate. ---- */

static double norm_of(const double complex *x, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; i++) sum += cabs(x[i]);
  return sum;
}

static int64_t largest_of(const double complex *x, int64_t n) {
  int64_t at = 0;
  for (int64_t i = 1; i < n; i++)
    if (cabs(x[i]) > cabs(x[at])) at = i;
  return at;
}

static void to_signs(double complex *x, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    const double size = cabs(x[i]);
    x[i] = size > 0 ? x[i] / size : 1;
  }
}

static void to_unit(double complex *x, int64_t n, int64_t at) {
  for (int64_t i = 0; i < n; i++) x[i] = i == at;
}

/* A vector of norm 1 on which cancellation hides little. */
static double try_alternating(const estimate *e) {
  const int64_t n = e->F->n;
  for (int64_t i = 0; i < n; i++)
    e->x[i] =
        (i % 2 ? -1 : 1) * (1 + (n > 1 ? (double)i / (double)(n - 1) : 0)) / (1.5 * (double)n);
  apply(e, false);
  return norm_of(e->x, n);
}

/* A start of norm 1: equal numbers, or others by a seed.  Equal ones alone would not do: the rows
 * of many matrices, such as networks of resistors, add up to nearly zero. */
static void start(const estimate *e, uint64_t seed) {
  const int64_t n = e->F->n;
  double *number = (double *)e->work, sum = 0;
  if (seed) trs_random_fill(number, n, TRS_DOUBLE, seed);
  for (int64_t i = 0; i < n; i++) {
    e->x[i] = seed ? number[i] : 1;
    sum += cabs(e->x[i]);
  }
  for (int64_t i = 0; i < n; i++) e->x[i] /= sum;
}

/* Climbs from unit vector to unit vector as long as the norm of its column grows. */
static double climb(const estimate *e, uint64_t seed) {
  enum { MOST_STEPS = 5 };
  const int64_t n = e->F->n;
  int64_t at = -1;
  start(e, seed);
  apply(e, false);
  double norm = norm_of(e->x, n);
  if (n == 1) return norm;
  for (int step = 0; step < MOST_STEPS && isfinite(norm); step++) {
    to_signs(e->x, n);
    apply(e, true);
    const int64_t next = largest_of(e->x, n);
    if (next == at || (at >= 0 && cabs(e->x[next]) <= cabs(e->x[at]))) break;
    at = next;
    to_unit(e->x, n, at);
    apply(e, false);
    const double found = norm_of(e->x, n);
    if (isnan(found)) return found;
    if (found <= norm) break;
    norm = found;
  }
  return norm;
}

static double estimate_norm(const estimate *e) {
  enum { STARTS = 3 };
  double norm = 0;
  for (uint64_t seed = 0; seed < STARTS; seed++) {
    const double found = climb(e, seed);
    if (!isfinite(found) || e->F->n == 1) return found;
    norm = fmax(norm, found);
  }
  return fmax(norm, try_alternating(e));
}

trs_status trs_condition_of(double *condition, const trs_factors *F) {
  estimate e = {.F = F, .scale = 1};
  TRS_TRY(trs_factors_need_host(F, "trs_factors_condition"));
  TRS_TRY(TRS_ALLOC_ALL(TRS_ROOM(&e.x, F->n), TRS_ROOM(&e.work, F->n)));
  const double norm = estimate_norm(&e);
  e.inverse = true;
  e.scale = fmin(norm, 1); /* the inverse of a small A would overflow */
  *condition = F->n ? norm / e.scale * estimate_norm(&e) : 0;
  if (isnan(*condition)) *condition = INFINITY; /* a pivot of zero, or overflow */
  const trs_status status = trs_cancelled();
  TRS_FREE_ALL(e.x, e.work);
  return status;
}
