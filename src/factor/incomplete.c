/* incomplete.c - ILU(0) and IC(0) of new values of A.  On the host the factorisation runs again in
 * the old order; on a GPU gpu.c runs it.  Both give the same bits.  Cost: that of trs_factor
 * without its order. */
#include "factor/incomplete.h"

#include <string.h>

#include "factor/kinds.h"
#include "matrix/device.h"

const trs_matrix *trs_incomplete_pattern(const trs_factors *F, bool lower) {
  const trs_matrix *T = lower ? F->L : F->U, *kept = lower ? F->L_here : F->U_here;
  return kept ? kept : T;
}

/* ---- On the host ---- */

static int64_t first_difference(const trs_matrix *T, const trs_matrix *made) {
  if (T->format == made->format && T->nnz == made->nnz &&
      !memcmp(T->ptr, made->ptr, (size_t)(T->nrows + 1) * sizeof *T->ptr) &&
      (!T->nnz || !memcmp(T->idx, made->idx, (size_t)T->nnz * sizeof *T->idx)))
    return -1;
  int64_t i = 0;
  for (; i < T->nrows - 1; i++) {
    const int64_t count = T->ptr[i + 1] - T->ptr[i];
    if (count != made->ptr[i + 1] - made->ptr[i] ||
        (count &&
         memcmp(T->idx + T->ptr[i], made->idx + made->ptr[i], (size_t)count * sizeof *T->idx)))
      break;
  }
  return i;
}

static trs_status same_patterns(const trs_factors *F, const trs_factors *made) {
  int64_t i = first_difference(trs_incomplete_pattern(F, true), made->L);
  if (i < 0) i = first_difference(trs_incomplete_pattern(F, false), made->U);
  if (i < 0) return TRS_SUCCESS;
  const int64_t row = F->row_perm ? F->row_perm[i] : i;
  return trs_fail(TRS_ERROR_STRUCTURE, row,
                  "row %lld (0-based) has other entries than in the matrix that was factored: "
                  "factor this one anew",
                  (long long)row);
}

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

static void take_values(const trs_matrix *T, const trs_matrix *made) {
  if (T->nnz) memcpy(T->val, made->val, (size_t)T->nnz * trs_scalar_size(T->scalar));
}

/* Whether each row of B is that of L and behind it that of U, which share the diagonal of IC(0). */
static bool has_patterns(const trs_factors *F, const trs_matrix *B) {
  const trs_matrix *L = trs_incomplete_pattern(F, true), *U = trs_incomplete_pattern(F, false);
  const int64_t shared = F->kind == TRS_FACTOR_IC0;
  if (B->nnz != L->nnz + U->nnz - shared * F->n) return false;
  for (int64_t i = 0; i < F->n; i++) {
    const int64_t below = L->ptr[i + 1] - L->ptr[i], above = U->ptr[i + 1] - U->ptr[i] - shared;
    const int32_t *idx = B->idx + B->ptr[i];
    if (B->ptr[i + 1] - B->ptr[i] != below + above ||
        (below && memcmp(idx, L->idx + L->ptr[i], (size_t)below * sizeof *idx)) ||
        (above && memcmp(idx + below, U->idx + U->ptr[i] + shared, (size_t)above * sizeof *idx)))
      return false;
  }
  return true;
}

/* Into L and U as they are, where A is by rows, has their pattern and needs no shift.  *done says
 * whether that is so. */
static trs_status run_in_place(trs_factors *F, const trs_matrix *A, bool *done) {
  trs_matrix *B = NULL;
  *done = A->format == TRS_CSR && !F->recipe.uplo && !F->recipe.add_diagonal;
  if (!*done) return TRS_SUCCESS;
  if (F->row_perm)
    TRS_TRY(trs_matrix_permute(&B, A, F->row_perm, F->row_perm));
  else
    B = trs_matrix_retain(A);
  const trs_factor_input input = {.B = B, .perm = F->col_perm, .block = 1};
  trs_status status = TRS_SUCCESS;
  const bool known = A->number == F->source;
  *done = known || has_patterns(F, B);
  if (*done) {
    return_here(F);
    status = F->kind == TRS_FACTOR_IC0 ? trs_ic0_values(F, &input, F->mirror, known)
                                       : trs_ilu0_values(F, &input);
    if (!known) F->source = status ? 0 : A->number; /* a failure leaves mirror incomplete */
    if (status == TRS_ERROR_ZERO_PIVOT && F->recipe.shift > 0) {
      *done = false;
      status = TRS_SUCCESS;
    }
  }
  trs_matrix_destroy(B);
  if (!status && *done) F->shift = 0;
  return status;
}

static trs_status run_here(trs_factors *F, const trs_matrix *A) {
  trs_factors made = {0};
  bool done;
  TRS_TRY(run_in_place(F, A, &done));
  if (done) return TRS_SUCCESS;
  trs_status status = trs_factor_again(&made, F, A);
  if (!status) status = same_patterns(F, &made);
  if (!status) {
    return_here(F);
    take_values(F->L, made.L);
    take_values(F->U, made.U);
    F->shift = made.shift;
  }
  trs_matrix_destroy(made.L);
  trs_matrix_destroy(made.U);
  return status;
}

/* ---- On a GPU ---- */

static trs_status fail(const trs_factors *F, const trs_incomplete_run *run) {
  const trs_factor_input input = {.perm = F->col_perm};
  const bool cholesky = F->kind == TRS_FACTOR_IC0;
  if (run->outcome == TRS_RUN_OVERFLOW) return trs_fail_not_finite(F, run->row);
  return trs_fail_pivot(&input, cholesky ? "IC(0)" : "ILU(0)", run->row,
                        run->outcome == TRS_RUN_NOT_FINITE,
                        cholesky ? TRS_IC0_ADVICE : TRS_ILU0_ADVICE);
}

/* As trs_factor_shift. */
static trs_status run_shifted(const trs_factors *F, const trs_matrix *A, trs_incomplete_run *run) {
  const double first = F->recipe.shift;
  if (run->start >= 0) return trs_fail_shift_start(F->kind, F->col_perm, run->start);
  for (int k = 0; run->outcome == TRS_RUN_ZERO && k < TRS_SHIFT_TRIES; k++) {
    run->shift = k ? 2 * run->shift : first;
    TRS_TRY(trs_incomplete_gpu_run(F, A, run));
  }
  if (run->outcome != TRS_RUN_ZERO) return TRS_SUCCESS;
  return trs_fail_shift(F->kind, F->col_perm ? F->col_perm[run->row] : run->row, first, run->shift);
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
                  trs_factor_name(F->kind));
}

trs_status trs_incomplete_refactor(trs_factors *F, const trs_matrix *A) {
  TRS_TRY(check_form(F));
  return A->on_device ? run_there(F, A) : run_here(F, A);
}
