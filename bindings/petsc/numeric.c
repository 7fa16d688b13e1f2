/* numeric.c - the numeric phase: factors of the present values, and a plan that is updated where
 * the pattern of the factors stays.  Incomplete factors take new values where PETSc has them. */
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

/* Incomplete factors take new values, unless these make another pattern. */
static trs_status factor_numbers(trs_factors **made, Mat F, const MatFactorInfo *info) {
  trs_petsc_factor *f = F->data;
  if (f->made) {
    const trs_status status = trs_factors_refactor(f->made, NULL, NULL, f->P.matrix);
    if (status != TRS_ERROR_STRUCTURE) return status;
  }
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

/* ---- Values in the memory of a GPU ---- */

static bool is_on_gpu(const trs_petsc_sweeps *sweeps) { return !sweeps->plan || sweeps->on_gpu; }

/* Whether new values may be factored on the GPU where PETSc has them: its entries are those of P,
 * and the plans solve there. */
static bool can_refactor_there(const trs_petsc_factor *f) {
  return f->made && f->made == f->factors && !f->P.place && f->plain.plan && is_on_gpu(&f->plain) &&
         is_on_gpu(&f->transposed);
}

static trs_status refactor_there(trs_petsc_factor *f, const PetscScalar *val) {
  const trs_petsc_pattern *P = &f->P;
  const trs_status status =
      f->there ? trs_matrix_set_values(f->there, val)
               : trs_matrix_create_device(&f->there, f->context, TRS_CSR, TRS_PETSC_SCALAR, P->n,
                                          P->n, P->given, TRS_PTR64, P->ptr, P->idx, val);
  return status ? status : trs_factors_refactor(f->made, NULL, f->context, f->there);
}

/* *status: TRS_ERROR_UNSUPPORTED if the values must come through host memory. */
static PetscErrorCode factor_there(Mat F, Mat A, trs_status *status) {
  trs_petsc_factor *f = F->data;
  PetscBool cusparse;
  PetscMemType type;
  PetscScalar *val;
  PetscFunctionBegin;
  *status = TRS_ERROR_UNSUPPORTED;
  f->made_there = false;
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATSEQAIJCUSPARSE, &cusparse));
  if (!cusparse || !can_refactor_there(f)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(trs_petsc_pattern_check(&f->P, A));
  PetscCall(MatSeqAIJGetCSRAndMemType(A, NULL, NULL, &val, &type));
  if (!PetscMemTypeCUDA(type)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(trs_petsc_settle()); /* Trireme reads val on the default stream */
  f->shift = 0;
  *status = refactor_there(f, val);
  f->made_there = !*status;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether that status is the last word: other failures may end otherwise on the host, where a
 * shift is searched. */
static bool is_final(trs_status status, const MatFactorInfo *info) {
  return !status || status == TRS_ERROR_NOT_FINITE ||
         (status == TRS_ERROR_ZERO_PIVOT && (int)info->shifttype == (int)MAT_SHIFT_NONE);
}

/* ---- All kinds ---- */

/* Factors, with the diagonal shifted where pivots fail and the caller wants that.  *status says how
 * it ended; *made stays NULL if the factors, or the plan of blocks, have the new values. */
static PetscErrorCode factor(trs_factors **made, Mat F, Mat A, const MatFactorInfo *info,
                             trs_status *status) {
  trs_petsc_factor *f = F->data;
  shift_search s = {0};
  PetscFunctionBegin;
  PetscCall(factor_there(F, A, status));
  if (is_final(*status, info)) PetscFunctionReturn(PETSC_SUCCESS);
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
  if (f->made != f->factors) trs_factors_destroy(f->made);
  trs_factors_destroy(f->factors);
  trs_matrix_destroy(f->there);
  f->plain = f->transposed = (trs_petsc_sweeps){0};
  f->factors = f->made = NULL;
  f->there = NULL;
  f->behind = false;
}

/* Incomplete factors of numbers, with PETSc's order where it has one: its L and U are those of
 * made, whose values change in place. */
static trs_status keep(trs_petsc_factor *f, trs_factors *made) {
  trs_factors_info info = {.struct_size = sizeof info};
  f->made = made;
  if (!f->P.row) {
    f->factors = made;
    return TRS_SUCCESS;
  }
  trs_status status = trs_factors_get_info(made, &info);
  return status ? status
                : trs_factors_create(&f->factors, info.L, info.diag_L, info.U, info.diag_U,
                                     f->P.row, f->P.col, NULL, NULL);
}

static trs_status update_plans(trs_petsc_factor *f) {
  trs_status status = TRS_SUCCESS;
  if (f->plain.plan) status = trs_update_factors(f->plain.plan, f->factors);
  if (!status && f->transposed.plan) status = trs_update_factors(f->transposed.plan, f->factors);
  return status;
}

/* Takes over the factors just made, or the new values of those before. */
static PetscErrorCode adopt(Mat F, trs_factors *made) {
  trs_petsc_factor *f = F->data;
  trs_status status = TRS_SUCCESS;
  PetscFunctionBegin;
  if (!made && f->P.size > 1) { /* the plan has been updated */
    trs_plan_destroy(f->transposed.plan);
    f->transposed = (trs_petsc_sweeps){0};
    f->behind = true;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (made) {
    trs_petsc_drop_factors(f);
    if (trs_petsc_is_complete(F) || f->P.size > 1)
      f->factors = made;
    else
      status = keep(f, made);
  } else {
    PetscCall(PetscLogEventBegin(trs_petsc_event.update, F, 0, 0, 0));
    status = update_plans(f);
    PetscCall(PetscLogEventEnd(trs_petsc_event.update, F, 0, 0, 0));
  }
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
