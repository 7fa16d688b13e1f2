/* numeric.c - the numeric phase: factors of the present values, and a plan that is updated where
 * the pattern of the factors stays. */
#include "factor.h"

/* PETSc's search for a shift of the diagonal, as in MatPivotCheck_nz and MatPivotCheck_pd. Positive
 * definite: fractions of `top`, which makes the matrix diagonally dominant, by bisection. */
typedef struct shift_search {
  PetscReal amount, top, fraction;
  int tries;
} shift_search;

enum { MOST_FRACTIONS = 5 };

static PetscReal dominance(const trs_petsc_pattern *P) {
  PetscReal top = 0;
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

/* After a failed pivot: false if there is no other shift to try. */
static bool shift_again(shift_search *s, const trs_petsc_pattern *P, const MatFactorInfo *info) {
  enum { MOST_DOUBLINGS = 100 };
  MatFactorShiftType type = (MatFactorShiftType)(int)info->shifttype;
  if (type == MAT_SHIFT_NONE) return false;
  if (type == MAT_SHIFT_POSITIVE_DEFINITE) {
    if (s->fraction >= 1) return false;
    if (!s->tries) s->top = dominance(P);
    s->fraction = s->tries == MOST_FRACTIONS ? 1 : (1 + s->fraction) / 2;
    s->amount = s->fraction * s->top;
  } else {
    PetscReal first = info->shiftamount > 0 ? info->shiftamount : 100 * PETSC_MACHINE_EPSILON;
    if (s->tries == MOST_DOUBLINGS) return false;
    s->amount = s->tries ? 2 * s->amount : first;
  }
  s->tries++;
  return true;
}

static bool is_pivot_failure(trs_status status) {
  return status == TRS_ERROR_ZERO_PIVOT || status == TRS_ERROR_NOT_FINITE;
}

/* PETSc's default of -pc_factor_column_pivot.  As Trireme's threshold it would exchange hardly any
 * row and lose most digits, so it stands for Trireme's default. */
static const PetscReal petsc_column_pivot = (PetscReal)1e-6;

static trs_status factor_numbers(trs_factors **made, Mat F, const MatFactorInfo *info) {
  trs_petsc_factor *f = F->data;
  trs_factor_options options = {.struct_size = sizeof(trs_factor_options),
                                .order = (trs_order)f->order};
  if (trs_petsc_is_complete(F)) {
    options.kind = TRS_FACTOR_LU;
    if (info->dtcol > petsc_column_pivot) options.pivot_threshold = PetscMin(info->dtcol, 1);
  } else {
    options.kind = F->factortype == MAT_FACTOR_ICC ? TRS_FACTOR_IC0 : TRS_FACTOR_ILU0;
  }
  return trs_factor(made, f->P.matrix, &options);
}

/* PETSc's blocks are column-major. */
static trs_blocks blocks_of(const trs_petsc_pattern *P) {
  return (trs_blocks){.struct_size = sizeof(trs_blocks),
                      .scalar = TRS_PETSC_SCALAR,
                      .block_size = (int)P->size,
                      .nrows = P->n,
                      .layout = TRS_COL_MAJOR,
                      .indexing = TRS_PTR64,
                      .ptr = P->ptr,
                      .idx = P->idx,
                      .val = P->val};
}

/* The matrix of numbers that Trireme makes of the blocks is not needed after the factorisation. */
static trs_status factor_blocks(trs_factors **made, Mat F) {
  trs_petsc_factor *f = F->data;
  const trs_petsc_pattern *P = &f->P;
  trs_factor_options options = {
      .struct_size = sizeof(trs_factor_options),
      .kind = F->factortype == MAT_FACTOR_ICC ? TRS_FACTOR_BIC0 : TRS_FACTOR_BILU0,
      .order = (trs_order)f->order};
  trs_matrix *matrix;
  const trs_blocks blocks = blocks_of(P);
  trs_status status = trs_matrix_create_bsr(&matrix, &blocks);
  if (status) return status;
  status = trs_factor(made, matrix, &options);
  trs_matrix_destroy(matrix);
  return status;
}

/* New values of blocks are factored in the plan.  TRS_ERROR_UNSUPPORTED: there is no plan by
 * blocks.
 */
static PetscErrorCode update_blocks(Mat F, trs_status *status) {
  const trs_petsc_factor *f = F->data;
  const trs_petsc_pattern *P = &f->P;
  PetscFunctionBegin;
  *status = TRS_ERROR_UNSUPPORTED;
  if (P->size == 1 || !f->plain.plan) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLogEventBegin(trs_petsc_event.update, F, 0, 0, 0));
  const trs_blocks blocks = blocks_of(P);
  *status = trs_update_bsr(f->plain.plan, &blocks);
  PetscCall(PetscLogEventEnd(trs_petsc_event.update, F, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Factors, with the diagonal shifted where pivots fail and the caller wants that.  *status says how
 * it ended; *made stays NULL if the plan has the new values. */
static PetscErrorCode factor(trs_factors **made, Mat F, Mat A, const MatFactorInfo *info,
                             trs_status *status) {
  trs_petsc_factor *f = F->data;
  shift_search s = {0};
  PetscFunctionBegin;
  do {
    PetscCall(trs_petsc_pattern_fill(&f->P, A, s.amount));
    f->shift = s.amount;
    PetscCall(update_blocks(F, status));
    if (*status == TRS_ERROR_UNSUPPORTED)
      *status = f->P.size > 1 ? factor_blocks(made, F) : factor_numbers(made, F, info);
  } while (*status == TRS_ERROR_ZERO_PIVOT && !trs_petsc_is_complete(F) &&
           shift_again(&s, &f->P, info));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A failed pivot is an error only if the caller asked for that; else the solver reads it from F. */
static PetscErrorCode report_pivot(Mat F, Mat A) {
  trs_petsc_factor *f = F->data;
  const trs_error *error = trs_last_error();
  PetscInt row = (PetscInt)error->row;
  PetscFunctionBegin;
  if (f->P.row && row >= 0 && row < f->P.n) row = f->P.row[row];
  PetscCheck(!A->erroriffailure, PETSC_COMM_SELF, PETSC_ERR_MAT_LU_ZRPVT,
             "Trireme: %s (row %" PetscInt_FMT " of the matrix, 0-based)", error->message, row);
  PetscCall(PetscInfo(F, "Trireme: %s (row %" PetscInt_FMT " of the matrix, 0-based)\n",
                      error->message, row));
  F->factorerrortype = MAT_FACTOR_NUMERIC_ZEROPIVOT;
  F->factorerror_zeropivot_row = row;
  F->factorerror_zeropivot_value = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

void trs_petsc_drop_factors(trs_petsc_factor *f) {
  trs_plan_destroy(f->plain.plan);
  trs_plan_destroy(f->transposed.plan);
  trs_factors_destroy(f->factors);
  trs_matrix_destroy(f->L);
  trs_matrix_destroy(f->U);
  f->plain = f->transposed = (trs_petsc_sweeps){0};
  f->factors = NULL;
  f->L = f->U = NULL;
  f->behind = false;
}

static trs_status copy(trs_matrix **result, const trs_matrix *T) {
  trs_matrix_info info = {.struct_size = sizeof info};
  const int64_t *ptr;
  const int32_t *idx;
  const void *val;
  trs_status status = trs_matrix_get_info(T, &info);
  if (!status) status = trs_matrix_get_arrays(T, &ptr, &idx, &val);
  if (status) return status;
  return trs_matrix_create(result, info.format, info.scalar, info.nrows, info.ncols, TRS_PTR64, ptr,
                           idx, val, TRS_COPY);
}

static trs_status set_values(trs_matrix *mine, const trs_matrix *T) {
  const void *val;
  trs_status status = trs_matrix_get_arrays(T, NULL, NULL, &val);
  return status ? status : trs_matrix_set_values(mine, val);
}

/* Incomplete factors: f has matrices of its own, whose values change and whose pattern stays. */
static trs_status keep(trs_petsc_factor *f, const trs_factors *made) {
  trs_factors_info info = {.struct_size = sizeof info};
  trs_status status = trs_factors_get_info(made, &info);
  if (!status) status = copy(&f->L, info.L);
  if (!status) status = copy(&f->U, info.U);
  if (status) return status;
  return trs_factors_create(&f->factors, f->L, info.diag_L, f->U, info.diag_U,
                            f->P.row ? f->P.row : info.row_perm,
                            f->P.col ? f->P.col : info.col_perm, NULL, NULL);
}

static trs_status renew(trs_petsc_factor *f, const trs_factors *made) {
  trs_factors_info info = {.struct_size = sizeof info};
  trs_status status = trs_factors_get_info(made, &info);
  if (!status) status = set_values(f->L, info.L);
  if (!status) status = set_values(f->U, info.U);
  if (!status && f->plain.plan) status = trs_update_factors(f->plain.plan, f->factors);
  if (!status && f->transposed.plan) status = trs_update_factors(f->transposed.plan, f->factors);
  return status;
}

/* Takes over the factors just made. */
static PetscErrorCode adopt(Mat F, trs_factors *made) {
  trs_petsc_factor *f = F->data;
  trs_status status = TRS_SUCCESS;
  PetscFunctionBegin;
  if (!made) { /* the plan has been updated */
    trs_plan_destroy(f->transposed.plan);
    f->transposed = (trs_petsc_sweeps){0};
    f->behind = true;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (trs_petsc_is_complete(F) || f->P.size > 1) { /* pivoting may have changed the pattern */
    trs_petsc_drop_factors(f);
    f->factors = made;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (f->L) {
    PetscCall(PetscLogEventBegin(trs_petsc_event.update, F, 0, 0, 0));
    status = renew(f, made);
    PetscCall(PetscLogEventEnd(trs_petsc_event.update, F, 0, 0, 0));
  } else {
    status = keep(f, made);
  }
  trs_factors_destroy(made);
  if (status) trs_petsc_drop_factors(f);
  PetscCall(trs_petsc_check(status));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On a CPU the information would cost a count of levels. */
static trs_status find_place(trs_petsc_sweeps *sweeps, const trs_context *context) {
  trs_plan_info info = {.struct_size = sizeof info};
  if (trs_context_gpu(context, 0) < 0) return TRS_SUCCESS;
  trs_status status = trs_plan_get_info(sweeps->plan, &info);
  sweeps->on_gpu = info.device != NULL;
  return status;
}

/* Blocks are factored again for a plan that updates do not serve. */
static trs_status catch_up(Mat F) {
  trs_petsc_factor *f = F->data;
  trs_factors *made;
  if (!f->behind) return TRS_SUCCESS;
  trs_status status = factor_blocks(&made, F);
  if (status) return status;
  trs_factors_destroy(f->factors);
  f->factors = made;
  f->behind = false;
  return TRS_SUCCESS;
}

PetscErrorCode trs_petsc_need_plan(Mat F, bool transposed) {
  trs_petsc_factor *f = F->data;
  trs_petsc_sweeps *sweeps = transposed ? &f->transposed : &f->plain;
  static const trs_store stores[] = {TRS_STORE_DEFAULT, TRS_STORE_MIXED, TRS_STORE_HALF,
                                     TRS_STORE_BFLOAT};
  trs_options options = {.struct_size = sizeof(trs_options),
                         .method = f->method[0] ? f->method : NULL,
                         .nrhs = f->nrhs,
                         .store = stores[f->store]};
  PetscFunctionBegin;
  if (sweeps->plan) PetscFunctionReturn(PETSC_SUCCESS);
  /* A PETSc with CUDA fails here on a machine without a GPU. */
  if (trs_context_gpu(f->context, 0) >= 0) PetscCall(trs_petsc_stream(&sweeps->stream));
  options.stream = sweeps->stream;
  PetscCall(trs_petsc_check(catch_up(F)));
  PetscCall(PetscLogEventBegin(trs_petsc_event.analyze, F, 0, 0, 0));
  const trs_status status = trs_analyze_factors(&sweeps->plan, f->context, f->factors,
                                                transposed ? TRS_TRANS : TRS_NO_TRANS, &options);
  if (status == TRS_ERROR_ARGUMENT && options.method)
    PetscCall(trs_petsc_check_option(status, "-mat_trireme_method"));
  PetscCall(trs_petsc_check(status));
  PetscCall(PetscLogEventEnd(trs_petsc_event.analyze, F, 0, 0, 0));
  PetscCall(trs_petsc_check(find_place(sweeps, f->context)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode trs_petsc_numeric(Mat F, Mat A, const MatFactorInfo *info) {
  trs_petsc_factor *f = F->data;
  trs_factors *made = NULL;
  trs_status status = TRS_SUCCESS;
  Mat converted;
  PetscFunctionBegin;
  F->factorerrortype = MAT_FACTOR_NOERROR;
  f->failed = true;
  PetscCall(trs_petsc_convert(f, A, &converted));
  PetscCall(PetscLogEventBegin(trs_petsc_event.factor, F, A, 0, 0));
  PetscCall(factor(&made, F, converted, info, &status));
  PetscCall(PetscLogEventEnd(trs_petsc_event.factor, F, A, 0, 0));
  F->assembled = F->preallocated = PETSC_TRUE;
  if (is_pivot_failure(status)) {
    PetscCall(report_pivot(F, A));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(trs_petsc_check(status));
  PetscCall(adopt(F, made));
  f->failed = false;
  PetscCall(trs_petsc_need_plan(F, false));
  PetscFunctionReturn(PETSC_SUCCESS);
}
