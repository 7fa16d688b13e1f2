/* shift.c - PETSc's search for a shift of the diagonal.
 *   PETSc looks at every pivot when it is made, and begins again where one fails.  Here the factors
 * are complete before their pivots are judged: a pivot depends on earlier rows alone, so that the
 * first one to fail is the same.  O(entries of L and U) per try. */
#include "shift.h"

enum { MOST_FRACTIONS = 5, MOST_DOUBLINGS = 100, MOST_ROWS = 100 };

/* Pivots by rows of L U, and the sums of absolute values that they are compared with. */
typedef struct pivots {
  PetscScalar *pivot;
  PetscReal *sum;
} pivots;

static PetscErrorCode add_factor(pivots *p, const trs_matrix *T, bool upper, bool sums) {
  trs_matrix_info info = {.struct_size = sizeof info};
  const int64_t *ptr;
  const int32_t *idx;
  const void *values;
  PetscFunctionBegin;
  PetscCall(trs_petsc_check(trs_matrix_get_info(T, &info)));
  PetscCall(trs_petsc_check(trs_matrix_get_arrays(T, &ptr, &idx, &values)));
  const PetscScalar *val = values;
  const bool by_rows = info.format == TRS_CSR;
  for (int64_t v = 0; v < info.nrows; v++)
    for (int64_t q = ptr[v]; q < ptr[v + 1]; q++) {
      const int64_t row = by_rows ? v : idx[q];
      if (idx[q] != v) {
        if (!sums) break; /* of U by rows, whose first entry is the pivot */
        p->sum[row] += PetscAbsScalar(val[q]);
      } else if (upper) {
        p->pivot[row] = val[q];
        if (!sums && by_rows) break;
      }
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static bool is_shifted(const trs_petsc_shift *s, PetscInt row) {
  for (PetscInt k = 0; k < s->count; k++)
    if (s->row[k] == row) return true;
  return false;
}

static bool is_zero(const trs_petsc_rules *rules, PetscScalar pivot, PetscReal sum) {
  const PetscReal bound = rules->zero * sum;
  if (rules->type == MAT_SHIFT_POSITIVE_DEFINITE) return PetscRealPart(pivot) <= bound;
  return PetscAbsScalar(pivot) <= (rules->type == MAT_SHIFT_NONZERO ? bound : rules->zero);
}

/* Of U = L^H, whose diagonal has the roots of the pivots and whose rows are divided by them.  The
 * roots' rounding errors leave a positive number of pivots that PETSc finds to be zero. */
static bool is_root_of_zero(const trs_petsc_rules *rules, PetscReal root, PetscReal sum,
                            PetscScalar diagonal) {
  const PetscReal noise = 4 * PETSC_MACHINE_EPSILON * PetscAbsScalar(diagonal);
  return root * root <= noise || is_zero(rules, root * root, root * sum);
}

static PetscErrorCode find_zero(const trs_petsc_shift *s, const trs_petsc_rules *rules,
                                const trs_petsc_pattern *P, const trs_factors_info *info,
                                const pivots *p, PetscInt *row) {
  const bool roots = info->diag_L == TRS_NONUNIT && info->diag_U == TRS_NONUNIT;
  PetscFunctionBegin;
  for (PetscInt i = 0; i < P->n && *row < 0; i++) {
    const PetscInt own = info->row_perm ? info->row_perm[i] : i;
    const bool zero = roots ? is_root_of_zero(rules, PetscRealPart(p->pivot[i]), p->sum[i],
                                              P->val[P->diagonal[own]])
                            : is_zero(rules, p->pivot[i], p->sum[i]);
    if (zero && !is_shifted(s, own)) *row = own;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode trs_petsc_shift_check(const trs_petsc_shift *s, const trs_petsc_rules *rules,
                                     const trs_petsc_pattern *P, const trs_factors *factors,
                                     PetscInt *row) {
  trs_factors_info info = {.struct_size = sizeof info};
  trs_matrix_info upper = {.struct_size = sizeof upper};
  pivots p;
  PetscFunctionBegin;
  *row = -1;
  if (rules->blocks || (rules->complete && rules->type == MAT_SHIFT_NONE))
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(trs_petsc_check(trs_factors_get_info(factors, &info)));
  PetscCall(trs_petsc_check(trs_matrix_get_info(info.U, &upper)));
  const bool sums = upper.format != TRS_CSR || rules->type == MAT_SHIFT_NONZERO ||
                    rules->type == MAT_SHIFT_POSITIVE_DEFINITE;
  PetscCall(PetscCalloc2(info.n, &p.pivot, info.n, &p.sum));
  PetscCall(add_factor(&p, info.U, true, sums));
  if (sums && !rules->symmetric) PetscCall(add_factor(&p, info.L, false, true));
  PetscCall(find_zero(s, rules, P, &info, &p, row));
  PetscCall(PetscFree2(p.pivot, p.sum));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The shift that makes every row diagonally dominant, and a tenth more. */
static PetscReal dominance(const trs_petsc_pattern *P, PetscReal least) {
  PetscReal top = least;
  for (PetscInt row = 0; row < P->n * P->size; row++) {
    const PetscInt i = row / P->size, r = row % P->size;
    PetscReal others = 0, diagonal = 0;
    for (int64_t p = P->ptr[i]; p < P->ptr[i + 1]; p++)
      for (PetscInt c = 0; c < P->size; c++) {
        const PetscScalar value = P->val[(p * P->size + c) * P->size + r];
        if (P->idx[p] == i && c == r)
          diagonal = PetscRealPart(value);
        else
          others += PetscAbsScalar(value);
      }
    top = PetscMax(top, others - diagonal);
  }
  return (PetscReal)1.1 * top;
}

/* Bisection; that of unsymmetric factors goes on after a success, to a smaller shift. */
static bool next_fraction(trs_petsc_shift *s, const trs_petsc_rules *rules,
                          const trs_petsc_pattern *P, bool failed) {
  if (!failed) {
    if (rules->symmetric || rules->blocks || s->fraction == 0 || s->tries >= MOST_FRACTIONS)
      return false;
    s->high = s->fraction;
    s->fraction = (s->high + s->low) / 2;
  } else {
    if (s->tries && s->fraction >= s->high) return false;
    if (!s->tries) {
      s->top = dominance(P, rules->zero);
      s->high = 1;
    }
    if (s->tries == MOST_FRACTIONS) {
      s->fraction = s->high;
    } else {
      s->low = s->fraction;
      s->fraction = (s->high + s->low) / 2;
    }
  }
  s->amount = s->fraction * s->top;
  return true;
}

static bool next_doubling(trs_petsc_shift *s, const trs_petsc_rules *rules) {
  const PetscReal first = rules->first > 0 ? rules->first : 100 * PETSC_MACHINE_EPSILON;
  if (s->tries == MOST_DOUBLINGS) return false;
  s->amount = s->tries ? 2 * s->amount : first;
  return true;
}

/* Later rows may need no shift once this one has its own. */
static PetscErrorCode next_row(trs_petsc_shift *s, PetscInt row, bool *again) {
  PetscFunctionBegin;
  *again = s->tries < MOST_ROWS && !is_shifted(s, row);
  if (!*again) PetscFunctionReturn(PETSC_SUCCESS);
  if (!s->row) PetscCall(PetscMalloc1(MOST_ROWS, &s->row));
  while (s->count && s->row[s->count - 1] > row) s->count--;
  s->row[s->count++] = row;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode trs_petsc_shift_next(trs_petsc_shift *s, const trs_petsc_rules *rules,
                                    const trs_petsc_pattern *P, PetscInt row, bool *again) {
  PetscFunctionBegin;
  *again = false;
  switch (rules->type) {
    case MAT_SHIFT_POSITIVE_DEFINITE:
      *again = next_fraction(s, rules, P, row >= 0);
      break;
    case MAT_SHIFT_NONZERO:
      *again = row >= 0 && next_doubling(s, rules);
      break;
    case MAT_SHIFT_INBLOCKS:
      if (row >= 0) PetscCall(next_row(s, row, again));
      break;
    default:
      break;
  }
  s->tries++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void add(trs_petsc_pattern *P, PetscInt i, PetscReal amount) {
  const PetscInt size = P->size;
  const int64_t p = P->diagonal[i];
  for (PetscInt r = 0; p >= 0 && r < size; r++) P->val[(p * size + r) * size + r] += amount;
}

void trs_petsc_shift_apply(const trs_petsc_shift *s, const trs_petsc_rules *rules,
                           trs_petsc_pattern *P) {
  const PetscReal first = rules->first > 0 ? rules->first : 100 * PETSC_MACHINE_EPSILON;
  for (PetscInt k = 0; k < s->count; k++) add(P, s->row[k], first);
  for (PetscInt i = 0; s->amount != 0 && i < P->n; i++) add(P, i, s->amount);
}

PetscErrorCode trs_petsc_shift_free(trs_petsc_shift *s) {
  PetscFunctionBegin;
  PetscCall(PetscFree(s->row));
  PetscFunctionReturn(PETSC_SUCCESS);
}
