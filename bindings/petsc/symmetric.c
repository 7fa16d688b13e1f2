/* symmetric.c - what PETSc asks of factors of a symmetric matrix beside solves: M = R R^T with
 * MatForwardSolve for R and MatBackwardSolve for R^T, the pivots and their signs.
 *   With S A S = P^T L U P, where U = D L^T: R = S^-1 P^T L D^(1/2).  Where U = L^T, D is one. */
#include "factor.h"

typedef struct facts {
  trs_factors_info info;
  const int64_t *ptr; /* of U */
  const int32_t *idx;
  const PetscScalar *val;
  bool roots; /* U = L^H */
} facts;

static PetscErrorCode get_facts(Mat F, facts *t) {
  const trs_petsc_factor *f = F->data;
  const void *val;
  PetscFunctionBegin;
  PetscCall(trs_petsc_need_factors(F));
  PetscCheck(!f->made_there, PetscObjectComm((PetscObject)F), PETSC_ERR_SUP,
             "Trireme: the factors are in the memory of a GPU: use -mat_trireme_backend serial");
  t->info.struct_size = sizeof t->info;
  PetscCall(trs_petsc_check(trs_factors_get_info(f->factors, &t->info)));
  PetscCall(trs_petsc_check(trs_matrix_get_arrays(t->info.U, &t->ptr, &t->idx, &val)));
  t->val = val;
  t->roots = t->info.diag_L == TRS_NONUNIT && t->info.diag_U == TRS_NONUNIT;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscInt given(const int32_t *perm, PetscInt i) { return perm ? perm[i] : i; }

/* Of the matrix without scalings, in the order of L U. */
static PetscScalar pivot_of(const facts *t, PetscInt i) {
  PetscScalar pivot = 0;
  for (int64_t p = t->ptr[i]; p < t->ptr[i + 1]; p++)
    if (t->idx[p] == i) pivot = t->val[p];
  if (t->roots) pivot *= PetscConj(pivot);
  if (t->info.row_scale) pivot /= t->info.row_scale[given(t->info.row_perm, i)];
  if (t->info.col_scale) pivot /= t->info.col_scale[given(t->info.col_perm, i)];
  return pivot;
}

/* -1, or the first row whose pivot lies off the diagonal. */
static PetscInt first_exchange(const facts *t) {
  for (PetscInt i = 0; i < (PetscInt)t->info.n; i++)
    if (given(t->info.row_perm, i) != given(t->info.col_perm, i)) return given(t->info.row_perm, i);
  return -1;
}

static PetscErrorCode check_exchanges(Mat F, const facts *t, const char *what) {
  const PetscInt row = first_exchange(t);
  PetscFunctionBegin;
  PetscCheck(row < 0, PetscObjectComm((PetscObject)F), PETSC_ERR_SUP,
             "Trireme: %s: row %" PetscInt_FMT
             " (0-based) was exchanged for its pivot, so that the factors are not symmetric: use "
             "-pc_factor_column_pivot 1e-5, which keeps smaller pivots on the diagonal",
             what, row);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode trs_petsc_inertia(Mat F, PetscInt *negative, PetscInt *zero, PetscInt *positive) {
  PetscInt count[3] = {0};
  facts t = {0};
  PetscFunctionBegin;
  PetscCall(get_facts(F, &t));
  PetscCall(check_exchanges(F, &t, "MatGetInertia"));
  for (PetscInt i = 0; i < (PetscInt)t.info.n; i++) {
    const PetscReal pivot = PetscRealPart(pivot_of(&t, i));
    count[pivot < 0 ? 0 : pivot > 0 ? 2 : 1]++;
  }
  if (negative) *negative = count[0];
  if (zero) *zero = count[1];
  if (positive) *positive = count[2];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode trs_petsc_diagonal(Mat F, Vec d) {
  PetscScalar *to;
  facts t = {0};
  PetscFunctionBegin;
  PetscCall(get_facts(F, &t));
  PetscCall(VecGetArrayWrite(d, &to));
  for (PetscInt i = 0; i < (PetscInt)t.info.n; i++) to[i] = pivot_of(&t, i);
  PetscCall(VecRestoreArrayWrite(d, &to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Half solves ---- */

void trs_petsc_drop_halves(trs_petsc_factor *f) {
  trs_plan_destroy(f->half.plan[0]);
  trs_plan_destroy(f->half.plan[1]);
  (void)PetscFree(f->half.scale[0]);
  (void)PetscFree(f->half.scale[1]);
  (void)PetscFree(f->half.room);
  f->half = (trs_petsc_halves){0};
}

static bool same_scales(const facts *t) {
  const double *r = t->info.row_scale, *c = t->info.col_scale;
  for (int64_t i = 0; (r || c) && i < t->info.n; i++)
    if ((r ? r[i] : 1) != (c ? c[i] : 1)) return false;
  return true;
}

/* scale[0]: of b, in the matrix's order; scale[1]: D^(-1/2), in that of L U. */
static PetscErrorCode make_scales(Mat F, const facts *t) {
  trs_petsc_halves *h = &((trs_petsc_factor *)F->data)->half;
  const PetscInt n = (PetscInt)t->info.n;
  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &h->scale[0]));
  PetscCall(PetscMalloc1(n, &h->scale[1]));
  PetscCall(PetscMalloc1(n, &h->room));
  for (PetscInt i = 0; i < n; i++) {
    const PetscInt row = given(t->info.row_perm, i);
    const PetscReal s = t->info.row_scale ? (PetscReal)t->info.row_scale[row] : 1;
    const PetscReal pivot = PetscRealPart(pivot_of(t, i)) * s * s;
    PetscCheck(pivot > 0, PetscObjectComm((PetscObject)F), PETSC_ERR_SUP,
               "Trireme: MatForwardSolve and MatBackwardSolve: the pivot of row %" PetscInt_FMT
               " (0-based) is %g: these solves are for positive pivots; use "
               "-pc_factor_shift_type positive_definite, or -ksp_pc_side left",
               row, (double)pivot);
    h->scale[0][row] = s;
    h->scale[1][i] = t->roots ? 1 : 1 / PetscSqrtReal(pivot);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode need_halves(Mat F, facts *t) {
  trs_petsc_factor *f = F->data;
  const trs_options options = {.struct_size = sizeof(trs_options), .method = "auto"};
  trs_petsc_halves *h = &f->half;
  PetscFunctionBegin;
  PetscCall(get_facts(F, t));
  if (h->plan[1]) PetscFunctionReturn(PETSC_SUCCESS);
  trs_petsc_drop_halves(f);
  PetscCall(check_exchanges(F, t, "MatForwardSolve and MatBackwardSolve"));
  PetscCheck(same_scales(t), PetscObjectComm((PetscObject)F), PETSC_ERR_SUP,
             "Trireme: MatForwardSolve and MatBackwardSolve: rows and columns of the matrix were "
             "scaled differently, so that the factors are not symmetric: use -ksp_pc_side left");
  PetscCall(make_scales(F, t));
  PetscCall(trs_petsc_check(trs_analyze(&h->plan[0], f->context, t->info.L, TRS_LOWER, TRS_NO_TRANS,
                                        t->info.diag_L, &options)));
  PetscCall(trs_petsc_check(trs_analyze(&h->plan[1], f->context, t->info.U, TRS_UPPER, TRS_NO_TRANS,
                                        t->info.diag_U, &options)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode trs_petsc_forward(Mat F, Vec b, Vec y) {
  const trs_petsc_halves *h = &((trs_petsc_factor *)F->data)->half;
  const PetscScalar *from;
  PetscScalar *to;
  facts t = {0};
  bool failed;
  PetscFunctionBegin;
  PetscCall(trs_petsc_fill_failed(F, y, &failed));
  if (failed) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(need_halves(F, &t));
  const PetscInt n = (PetscInt)t.info.n;
  PetscCall(VecGetArrayRead(b, &from));
  for (PetscInt i = 0; i < n; i++) {
    const PetscInt row = given(t.info.row_perm, i);
    h->room[i] = h->scale[0][row] * from[row];
  }
  PetscCall(VecRestoreArrayRead(b, &from));
  PetscCall(VecGetArrayWrite(y, &to));
  PetscCall(trs_petsc_check(
      trs_solve(h->plan[0], to, PetscMax(n, 1), h->room, PetscMax(n, 1), 1, TRS_COL_MAJOR)));
  for (PetscInt i = 0; i < n; i++) to[i] *= h->scale[1][i];
  PetscCall(VecRestoreArrayWrite(y, &to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode trs_petsc_backward(Mat F, Vec y, Vec x) {
  const trs_petsc_halves *h = &((trs_petsc_factor *)F->data)->half;
  const PetscScalar *from;
  PetscScalar *to;
  facts t = {0};
  bool failed;
  PetscFunctionBegin;
  PetscCall(trs_petsc_fill_failed(F, x, &failed));
  if (failed) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(need_halves(F, &t));
  const PetscInt n = (PetscInt)t.info.n;
  PetscCall(VecGetArrayRead(y, &from));
  for (PetscInt i = 0; i < n; i++) h->room[i] = from[i] / h->scale[1][i];
  PetscCall(VecRestoreArrayRead(y, &from));
  PetscCall(trs_petsc_check(
      trs_solve(h->plan[1], h->room, PetscMax(n, 1), h->room, PetscMax(n, 1), 1, TRS_COL_MAJOR)));
  PetscCall(VecGetArrayWrite(x, &to));
  for (PetscInt i = 0; i < n; i++) {
    const PetscInt row = given(t.info.row_perm, i);
    to[row] = h->scale[0][row] * h->room[i];
  }
  PetscCall(VecRestoreArrayWrite(x, &to));
  PetscFunctionReturn(PETSC_SUCCESS);
}
