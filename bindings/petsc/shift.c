/* shift.c - PETSc's search for a shift of the diagonal.
 *   PETSc looks at every pivot when it is made, and begins again where one fails.  Here the factors
 * are complete before their pivots are judged: a pivot depends on earlier rows alone, so that the
 * first one to fail is the same.  O(entries of L and U) per try. */
#include "shift.h"

enum { MOST_FRACTIONS = 5, MOST_DOUBLINGS = 100, MOST_ROWS = 100 };

/* L or U by rows. */
typedef struct side {
  trs_matrix *own; /* where the factor is by columns, else NULL */
  const int64_t *ptr;
  const int32_t *idx;
  const PetscScalar *val;
} side;

static PetscErrorCode take_side(side *s, const trs_matrix *T) {
  trs_matrix_info info = {.struct_size = sizeof info};
  const void *val;
  PetscFunctionBegin;
  PetscCall(trs_petsc_check(trs_matrix_get_info(T, &info)));
  if (info.format == TRS_CSC)
    PetscCall(trs_petsc_check(trs_matrix_convert(&s->own, T, TRS_CSR, info.scalar)));
  PetscCall(trs_petsc_check(trs_matrix_get_arrays(s->own ? s->own : T, &s->ptr, &s->idx, &val)));
  s->val = val;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscReal sum_of(const side *s, int64_t begin, int64_t end) {
  PetscReal sum = 0;
  for (int64_t p = begin; p < end; p++) sum += PetscAbsScalar(s->val[p]);
  return sum;
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

typedef struct judged {
  trs_factors_info info;
  side L, U;
  bool sums, with_L; /* what PETSc compares pivots with */
  PetscReal most;    /* no row's sum is larger */
} judged;

/* More than the sum of each row; four maxima, as one would wait for itself. */
static PetscErrorCode bound_sums(PetscReal *most, const side *s, const trs_matrix *T) {
  trs_matrix_info info = {.struct_size = sizeof info};
  PetscReal part[4] = {0};
  PetscFunctionBegin;
  PetscCall(trs_petsc_check(trs_matrix_get_info(T, &info)));
  for (int64_t p = 0; p < info.nnz; p++) {
    const PetscReal size = PetscAbsScalar(s->val[p]);
    part[p % 4] = PetscMax(part[p % 4], size);
  }
  *most += 2 * (PetscReal)info.longest_row *
           PetscMax(PetscMax(part[0], part[1]), PetscMax(part[2], part[3]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* own: the row of the pattern. */
static bool counts_as_zero(const trs_petsc_rules *rules, const trs_petsc_pattern *P,
                           const judged *t, PetscInt own, PetscScalar pivot, PetscReal sum) {
  const bool roots = t->info.diag_L == TRS_NONUNIT && t->info.diag_U == TRS_NONUNIT;
  if (!roots) return is_zero(rules, pivot, sum);
  return is_root_of_zero(rules, PetscRealPart(pivot), sum, P->now[P->diagonal[own]]);
}

/* U's rows begin with their pivots. */
static void find_zero(const trs_petsc_shift *s, const trs_petsc_rules *rules,
                      const trs_petsc_pattern *P, const judged *t, PetscInt *row) {
  for (PetscInt i = 0; i < P->n && *row < 0; i++) {
    const PetscInt own = t->info.row_perm ? t->info.row_perm[i] : i;
    const int64_t p = t->U.ptr[i];
    if (!counts_as_zero(rules, P, t, own, t->U.val[p], t->most)) continue;
    PetscReal sum = t->sums ? sum_of(&t->U, p + 1, t->U.ptr[i + 1]) : 0;
    if (t->with_L) sum += sum_of(&t->L, t->L.ptr[i], t->L.ptr[i + 1]);
    if (counts_as_zero(rules, P, t, own, t->U.val[p], sum) && !is_shifted(s, own)) *row = own;
  }
}

PetscErrorCode trs_petsc_shift_check(const trs_petsc_shift *s, const trs_petsc_rules *rules,
                                     const trs_petsc_pattern *P, const trs_factors *factors,
                                     PetscInt *row) {
  judged t = {.info.struct_size = sizeof t.info};
  PetscFunctionBegin;
  *row = -1;
  if (rules->blocks || (rules->complete && rules->type == MAT_SHIFT_NONE))
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(trs_petsc_check(trs_factors_get_info(factors, &t.info)));
  t.sums = rules->type == MAT_SHIFT_NONZERO || rules->type == MAT_SHIFT_POSITIVE_DEFINITE;
  t.with_L = t.sums && !rules->symmetric;
  PetscCall(take_side(&t.U, t.info.U));
  if (t.with_L) PetscCall(take_side(&t.L, t.info.L));
  if (t.sums) PetscCall(bound_sums(&t.most, &t.U, t.info.U));
  if (t.with_L) PetscCall(bound_sums(&t.most, &t.L, t.info.L));
  find_zero(s, rules, P, &t, row);
  trs_matrix_destroy(t.L.own);
  trs_matrix_destroy(t.U.own);
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
        const PetscScalar value = P->now[(p * P->size + c) * P->size + r];
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

PetscErrorCode trs_petsc_shift_apply(const trs_petsc_shift *s, const trs_petsc_rules *rules,
                                     trs_petsc_pattern *P) {
  const PetscReal first = rules->first > 0 ? rules->first : 100 * PETSC_MACHINE_EPSILON;
  PetscFunctionBegin;
  if (s->amount == 0 && !s->count) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(trs_petsc_pattern_own(P));
  for (PetscInt k = 0; k < s->count; k++) add(P, s->row[k], first);
  for (PetscInt i = 0; s->amount != 0 && i < P->n; i++) add(P, i, s->amount);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode trs_petsc_shift_free(trs_petsc_shift *s) {
  PetscFunctionBegin;
  PetscCall(PetscFree(s->row));
  PetscFunctionReturn(PETSC_SUCCESS);
}
