/* numeric.c - the numeric phase: factors of the present values, and a plan that is updated where
 * the pattern of the factors stays.  Incomplete factors take new values where PETSc has them. */
#include "factor.h"
#include "shift.h"

#include <float.h>
#include <math.h>

enum { EXPLANATION = 640 };

static bool is_pivot_failure(trs_status status) {
  return status == TRS_ERROR_ZERO_PIVOT || status == TRS_ERROR_NOT_FINITE;
}

/* PETSc's default of -pc_factor_column_pivot.  As Trireme's threshold it would exchange hardly any
 * row and lose most digits, so it stands for Trireme's default. */
static const PetscReal petsc_column_pivot = (PetscReal)1e-6;

/* PETSc's ICC is L D L^T, Trireme's L L^H: where PETSc lets pivots be negative, ILU with as many
 * levels has the same L D. */
static trs_factor_kind incomplete_kind(Mat F) {
  const trs_petsc_factor *f = F->data;
  return F->factortype == MAT_FACTOR_ICC && !f->indefinite ? TRS_FACTOR_IC0 : TRS_FACTOR_ILU0;
}

/* The share of its column that a pivot on the diagonal needs, where factors are made. */
static double pivot_threshold(const trs_petsc_rules *rules, PetscReal column_pivot) {
  /* As PETSc's own factors: a shift, and no exchange, makes pivots positive. */
  if (rules->type == MAT_SHIFT_POSITIVE_DEFINITE) return DBL_MIN;
  return column_pivot > petsc_column_pivot ? (double)PetscMin(column_pivot, 1) : 0;
}

/* Complete factors of new values keep their pivots until one loses two digits more than pivoting
 * allows.  TRS_ERROR_STRUCTURE: factors are to be made anew. */
static trs_status refactor_complete(trs_petsc_factor *f, double threshold) {
  const double least = 0.01 * (threshold > 0 ? threshold : 0.01);
  trs_pivots pivots = {.struct_size = sizeof pivots};
  if (f->rigid) return TRS_ERROR_STRUCTURE;
  const trs_status status = trs_factors_refactor(f->made, &pivots, f->context, f->P.matrix);
  f->rigid = status == TRS_ERROR_STRUCTURE;
  if (is_pivot_failure(status) || (!status && pivots.least_share < least))
    return TRS_ERROR_STRUCTURE;
  return status;
}

/* Factors take new values, unless these make another pattern or need other pivots. */
static trs_status factor_numbers(trs_factors **made, Mat F, const trs_petsc_rules *rules,
                                 PetscReal column_pivot) {
  trs_petsc_factor *f = F->data;
  trs_factor_options options = {
      .struct_size = sizeof(trs_factor_options),
      .kind = rules->complete ? TRS_FACTOR_LU : incomplete_kind(F),
      .order = f->reused ? TRS_ORDER_NATURAL : (trs_order)f->order,
      .pivot_threshold = rules->complete ? pivot_threshold(rules, column_pivot) : 0,
      .levels = f->levels};
  if (f->made) {
    const trs_status status = rules->complete
                                  ? refactor_complete(f, options.pivot_threshold)
                                  : trs_factors_refactor(f->made, NULL, NULL, f->P.matrix);
    if (status != TRS_ERROR_STRUCTURE) return status;
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
                      .val = P->now};
}

/* The matrix that borrows the blocks is not needed after the factorisation. */
static trs_status factor_blocks(trs_factors **made, Mat F) {
  trs_petsc_factor *f = F->data;
  const trs_petsc_pattern *P = &f->P;
  trs_factor_options options = {
      .struct_size = sizeof(trs_factor_options),
      .kind = F->factortype == MAT_FACTOR_ICC ? TRS_FACTOR_BIC0 : TRS_FACTOR_BILU0,
      .order = (trs_order)f->order};
  trs_matrix *matrix;
  trs_blocks blocks = blocks_of(P);
  blocks.ownership = TRS_BORROW;
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
  trs_petsc_factor *f = F->data;
  const trs_petsc_pattern *P = &f->P;
  PetscFunctionBegin;
  *status = TRS_ERROR_UNSUPPORTED;
  if (P->size == 1 || !f->plain.plan) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLogEventBegin(trs_petsc_event.update, F, 0, 0, 0));
  PetscCall(trs_petsc_pattern_own(&f->P)); /* factors for other plans are made of them later */
  const trs_blocks blocks = blocks_of(P);
  *status = trs_update_bsr(f->plain.plan, &blocks);
  PetscCall(PetscLogEventEnd(trs_petsc_event.update, F, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Values in the memory of a GPU ---- */

static bool is_on_gpu(const trs_petsc_sweeps *sweeps) { return !sweeps->plan || sweeps->on_gpu; }

/* Whether new values may be factored on the GPU where PETSc has them: its entries are those of P,
 * and the plans solve there. */
static bool can_refactor_there(Mat F) {
  const trs_petsc_factor *f = F->data;
  return !trs_petsc_is_complete(F) && f->made && f->made == f->factors && !f->P.place &&
         f->plain.plan && is_on_gpu(&f->plain) && is_on_gpu(&f->transposed);
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
  if (!cusparse || !can_refactor_there(F)) PetscFunctionReturn(PETSC_SUCCESS);
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

static trs_petsc_rules rules_of(Mat F, const MatFactorInfo *info) {
  const trs_petsc_factor *f = F->data;
  trs_petsc_rules rules = {
      .type = (MatFactorShiftType)(int)info->shifttype,
      .zero = info->zeropivot,
      .first = info->shiftamount,
      .complete = trs_petsc_is_complete(F),
      .symmetric = F->factortype == MAT_FACTOR_ICC || F->factortype == MAT_FACTOR_CHOLESKY,
      .blocks = f->P.size > 1};
  /* A shift of one pivot is for pivots that stay where they are. */
  if (rules.type == MAT_SHIFT_INBLOCKS && (rules.complete || rules.blocks))
    rules.type = MAT_SHIFT_NONZERO;
  return rules;
}

/* One try.  *row: of the pattern, whose pivot failed, or -1. */
static PetscErrorCode try_values(trs_factors **made, Mat F, const trs_petsc_shift *s,
                                 const trs_petsc_rules *rules, PetscReal column_pivot,
                                 trs_status *status, PetscInt *row) {
  trs_petsc_factor *f = F->data;
  const bool any_sign = rules->type != MAT_SHIFT_POSITIVE_DEFINITE;
  PetscFunctionBegin;
  trs_factors_destroy(*made);
  *made = NULL;
  *row = -1;
  PetscCall(update_blocks(F, status));
  if (*status == TRS_ERROR_UNSUPPORTED)
    *status = rules->blocks ? factor_blocks(made, F) : factor_numbers(made, F, rules, column_pivot);
  if (*status == TRS_ERROR_ZERO_PIVOT && !rules->blocks && any_sign &&
      F->factortype == MAT_FACTOR_ICC && !f->indefinite) {
    trs_petsc_drop_factors(f);
    f->indefinite = true;
    *status = factor_numbers(made, F, rules, column_pivot);
  }
  if (*status == TRS_ERROR_ZERO_PIVOT) *row = (PetscInt)trs_last_error()->row;
  if (*status) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(trs_petsc_shift_check(s, rules, &f->P, *made ? *made : f->made, row));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Factors, with the diagonal shifted where pivots fail and the caller wants that.  *status says how
 * it ended, and *row the row of the pattern whose pivot failed, or -1; *made stays NULL if the
 * factors, or the plan of blocks, have the new values. */
static PetscErrorCode factor(trs_factors **made, Mat F, Mat A, const MatFactorInfo *info,
                             trs_status *status, PetscInt *row) {
  trs_petsc_factor *f = F->data;
  const trs_petsc_rules rules = rules_of(F, info);
  trs_petsc_shift s = {0};
  bool again = false;
  PetscFunctionBegin;
  *row = -1;
  PetscCall(factor_there(F, A, status));
  if (is_final(*status, info)) PetscFunctionReturn(PETSC_SUCCESS);
  do {
    PetscCall(trs_petsc_pattern_fill(&f->P, A));
    PetscCall(trs_petsc_shift_apply(&s, &rules, &f->P));
    PetscCall(try_values(made, F, &s, &rules, info->dtcol, status, row));
    if (*status && *status != TRS_ERROR_ZERO_PIVOT) break;
    f->shift = s.amount;
    f->shifted_rows = s.count;
    PetscCall(trs_petsc_shift_next(&s, &rules, &f->P, *row, &again));
  } while (again);
  PetscCall(trs_petsc_shift_free(&s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Trireme counts rows in PETSc's order, the caller in that of the matrix. */
static PetscErrorCode explain(Mat F, PetscInt row, const char *what, char text[EXPLANATION]) {
  const trs_petsc_factor *f = F->data;
  PetscFunctionBegin;
  if (f->P.row && row >= 0 && row < f->P.n)
    PetscCall(PetscSNPrintf(text, EXPLANATION,
                            "row %" PetscInt_FMT
                            " of the matrix (0-based), which is row %" PetscInt_FMT
                            " in the order of -pc_factor_mat_ordering_type: %s",
                            (PetscInt)f->P.row[row], row, what));
  else
    PetscCall(PetscStrncpy(text, what, EXPLANATION));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A failed pivot is an error only if the caller asked for that; else the solver reads it from F, or
 * meets NaN, as with PETSc's own factors of values that are not finite: PCILU and PCICC of 3.18
 * refuse all later values of a pattern once F has an error. */
static PetscErrorCode report_pivot(Mat F, Mat A, PetscInt row, const char *what) {
  trs_petsc_factor *f = F->data;
  char text[EXPLANATION];
  PetscFunctionBegin;
  PetscCall(explain(F, row, what, text));
  if (f->P.row && row >= 0 && row < f->P.n) row = f->P.row[row];
  PetscCheck(!A->erroriffailure, PETSC_COMM_SELF, PETSC_ERR_MAT_LU_ZRPVT, "Trireme: %s", text);
  PetscCall(PetscInfo(F, "Trireme: %s\n", text));
  if (f->not_finite) PetscFunctionReturn(PETSC_SUCCESS);
  F->factorerrortype = MAT_FACTOR_NUMERIC_ZEROPIVOT;
  F->factorerror_zeropivot_row = row;
  F->factorerror_zeropivot_value = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* How the numeric phase ended: *failed if pivots did and the solver reads that from F. */
static PetscErrorCode judge(Mat F, Mat A, const MatFactorInfo *info, trs_status status,
                            PetscInt row, bool *failed) {
  char text[EXPLANATION];
  PetscFunctionBegin;
  *failed = is_pivot_failure(status) || (!status && row >= 0);
  if (*failed && !status) {
    PetscCall(PetscSNPrintf(text, sizeof text,
                            "the pivot of row %" PetscInt_FMT
                            " (0-based) counts as zero: -pc_factor_zeropivot is %g",
                            row, (double)info->zeropivot));
    PetscCall(report_pivot(F, A, row, text));
  } else if (*failed) {
    PetscCall(report_pivot(F, A, (PetscInt)trs_last_error()->row, trs_petsc_message()));
  } else if (status) {
    PetscCall(explain(F, (PetscInt)trs_last_error()->row, trs_petsc_message(), text));
    PetscCall(trs_petsc_fail(status, text));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

void trs_petsc_drop_factors(trs_petsc_factor *f) {
  trs_petsc_drop_halves(f);
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

/* A permutation, or scalings by the rows that it names, in the numbering of PETSc's matrix. */
static PetscErrorCode compose(PetscInt n, const int32_t *outer, const int32_t *inner,
                              const double *scale, int32_t **perm, double **scales) {
  PetscFunctionBegin;
  *perm = NULL;
  *scales = NULL;
  PetscCall(PetscMalloc1(n, perm));
  for (PetscInt i = 0; i < n; i++) (*perm)[i] = outer[inner ? inner[i] : i];
  if (!scale) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(n, scales));
  for (PetscInt i = 0; i < n; i++) (*scales)[outer[i]] = scale[i];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Factors of numbers, in the order that P has: L and U are those of made, whose values change in
 * place. */
static PetscErrorCode keep(trs_petsc_factor *f, trs_factors *made, trs_status *status) {
  trs_factors_info info = {.struct_size = sizeof info};
  int32_t *row, *col;
  double *row_scale, *col_scale;
  PetscFunctionBegin;
  f->made = made;
  f->factors = f->P.row ? NULL : made;
  *status = trs_factors_get_info(made, &info);
  if (*status || !f->P.row) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(compose(f->P.n, f->P.row, info.row_perm, info.row_scale, &row, &row_scale));
  PetscCall(compose(f->P.n, f->P.col, info.col_perm, info.col_scale, &col, &col_scale));
  *status = trs_factors_create(&f->factors, info.L, info.diag_L, info.U, info.diag_U, row, col,
                               row_scale, col_scale);
  PetscCall(PetscFree(row));
  PetscCall(PetscFree(row_scale));
  PetscCall(PetscFree(col));
  PetscCall(PetscFree(col_scale));
  PetscFunctionReturn(PETSC_SUCCESS);
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
  trs_petsc_drop_halves(f);
  if (!made && f->P.size > 1) { /* the plan has been updated */
    trs_plan_destroy(f->transposed.plan);
    f->transposed = (trs_petsc_sweeps){0};
    f->behind = true;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (made) {
    trs_petsc_drop_factors(f);
    if (f->P.size > 1)
      f->factors = made;
    else
      PetscCall(keep(f, made, &status));
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

PetscErrorCode trs_petsc_check_made(Mat F) {
  const trs_petsc_factor *f = F->data;
  PetscFunctionBegin;
  PetscCheck(!f->failed && f->factors, PetscObjectComm((PetscObject)F), PETSC_ERR_ARG_WRONGSTATE,
             "Trireme: the last numeric factorisation of this matrix failed "
             "(MatLUFactorNumeric or MatCholeskyFactorNumeric): factor it again before it solves");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode trs_petsc_fill_failed(Mat F, Vec x, bool *filled) {
  const trs_petsc_factor *f = F->data;
  PetscFunctionBegin;
  *filled = f->not_finite || F->factorerrortype != MAT_FACTOR_NOERROR;
  if (*filled) PetscCall(VecSet(x, (PetscScalar)(f->not_finite ? NAN : INFINITY)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode trs_petsc_need_factors(Mat F) {
  PetscFunctionBegin;
  PetscCall(trs_petsc_check_made(F));
  PetscCall(trs_petsc_check(catch_up(F)));
  PetscFunctionReturn(PETSC_SUCCESS);
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
  PetscInt row;
  bool failed;
  Mat converted;
  PetscFunctionBegin;
  F->factorerrortype = MAT_FACTOR_NOERROR;
  f->failed = true;
  f->not_finite = false;
  PetscCall(trs_petsc_convert(f, A, &converted));
  PetscCall(PetscLogEventBegin(trs_petsc_event.factor, F, A, 0, 0));
  PetscCall(factor(&made, F, converted, info, &status, &row));
  PetscCall(PetscLogEventEnd(trs_petsc_event.factor, F, A, 0, 0));
  F->assembled = F->preallocated = PETSC_TRUE;
  if (status || row >= 0) trs_factors_destroy(made);
  f->not_finite = status == TRS_ERROR_NOT_FINITE;
  PetscCall(judge(F, A, info, status, row, &failed));
  if (failed) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(adopt(F, made));
  f->failed = false;
  PetscCall(trs_petsc_need_plan(F, false));
  PetscFunctionReturn(PETSC_SUCCESS);
}
