/* incomplete.c - ILU and IC of new values of A.  On the host the factorisation runs again in the
 * old order and patterns; on a GPU gpu.c runs it.  Both give the same bits.  Cost: that of
 * trs_factor without its order. */
#include "factor/incomplete.h"

#include "factor/kinds.h"
#include "matrix/device.h"

const trs_matrix *trs_incomplete_pattern(const trs_factors *F, bool lower) {
  const trs_matrix *T = lower ? F->L : F->U, *kept = lower ? F->L_here : F->U_here;
  return kept ? kept : T;
}

/* ---- On the host ---- */

static void replace(trs_matrix **T, const trs_matrix *by) {
  trs_matrix *before = *T;
  *T = trs_matrix_retain(by);
  trs_matrix_destroy(before);
}

/* L and U come back to host memory, if they were on a GPU. */
static void return_here(trs_factors *F) {
  if (!F->L->on_device) return;
  replace(&F->L, F->L_here);
  replace(&F->U, F->U_here);
}

static trs_status run_here(trs_factors *F, const trs_matrix *A) {
  return_here(F);
  return trs_factor_again(F, A);
}

/* ---- On a GPU ---- */

static trs_status fail(const trs_factors *F, const trs_incomplete_run *run) {
  const trs_factor_input input = {.perm = F->col_perm};
  const bool cholesky = F->kind == TRS_FACTOR_IC0;
  if (run->outcome == TRS_RUN_OVERFLOW) return trs_fail_not_finite(F, run->row);
  return trs_fail_pivot(&input, trs_factor_name(F->kind, F->levels), run->row,
                        run->outcome == TRS_RUN_NOT_FINITE,
                        cholesky ? TRS_IC0_ADVICE : TRS_ILU0_ADVICE);
}

/* As trs_factor_shift. */
static trs_status run_shifted(trs_factors *F, const trs_matrix *A, trs_incomplete_run *run) {
  const double first = F->recipe.shift;
  if (run->start >= 0) return trs_fail_shift_start(F, F->col_perm, run->start);
  for (int k = 0; run->outcome == TRS_RUN_ZERO && k < TRS_SHIFT_TRIES; k++) {
    run->shift = k ? 2 * run->shift : first;
    TRS_TRY(trs_incomplete_gpu_run(F, A, run));
  }
  if (run->outcome != TRS_RUN_ZERO) return TRS_SUCCESS;
  F->shift = run->shift;
  return trs_fail_shift(F, F->col_perm ? F->col_perm[run->row] : run->row, first);
}

static trs_status run_there(trs_factors *F, const trs_matrix *A) {
  trs_incomplete_run run = {0};
  if (F->recipe.add_diagonal)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "factors made with add_diagonal take new values from host memory alone");
  TRS_TRY(trs_incomplete_gpu_take(F, A));
  if (!F->L_here) {
    F->L_here = trs_matrix_retain(F->L);
    F->U_here = trs_matrix_retain(F->U);
  }
  replace(&F->L, trs_incomplete_gpu_factor(F, true));
  replace(&F->U, trs_incomplete_gpu_factor(F, false));
  TRS_TRY(trs_incomplete_gpu_run(F, A, &run));
  if (run.outcome == TRS_RUN_ZERO && F->recipe.shift > 0) TRS_TRY(run_shifted(F, A, &run));
  if (run.outcome != TRS_RUN_DONE) return fail(F, &run);
  F->shift = run.shift;
  return TRS_SUCCESS;
}

/* trs_factor's own L and U of these kinds.  Of a user or a file they may be others. */
static trs_status check_form(const trs_factors *F) {
  const trs_matrix *L = trs_incomplete_pattern(F, true), *U = trs_incomplete_pattern(F, false);
  const bool cholesky = F->kind == TRS_FACTOR_IC0;
  if (!L->on_device && !U->on_device && L->format == TRS_CSR && U->format == TRS_CSR &&
      U->ndiagonal == F->n && L->ndiagonal == (cholesky ? F->n : 0) &&
      (!cholesky || L->nnz == U->nnz))
    return TRS_SUCCESS;
  return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                  "L and U are not stored as trs_factor stores %s: factor the matrix anew",
                  trs_factor_name(F->kind, F->levels));
}

trs_status trs_incomplete_refactor(trs_factors *F, const trs_matrix *A) {
  TRS_TRY(check_form(F));
  return A->on_device ? run_there(F, A) : run_here(F, A);
}
