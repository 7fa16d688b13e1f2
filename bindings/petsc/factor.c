/* factor.c - the MatSolverType "trireme": what PETSc asks of a factored matrix but numbers
 * (numeric.c) and solves (solve.c). */
#include "factor.h"

enum { ORDERS = 7, STORES = 4, MOST_BLOCK = 32 };
static const char *const orders[] = {"default", "nd",     "amd",       "natural", "rcm",
                                     "colour",  "colamd", "trs_order", "",        NULL};
static const char *const stores[] = {"same", "mixed", "half", "bfloat", "trs_store", "", NULL};

bool trs_petsc_is_complete(Mat F) {
  return F->factortype == MAT_FACTOR_LU || F->factortype == MAT_FACTOR_CHOLESKY;
}

static const char *kind_name(Mat F) {
  switch (F->factortype) {
    case MAT_FACTOR_ILU:
      return "ILU";
    case MAT_FACTOR_ICC:
      return "ICC";
    case MAT_FACTOR_CHOLESKY:
      return "Cholesky, as LU of the whole matrix,";
    default:
      return "LU";
  }
}

static PetscErrorCode read_options(Mat F) {
  trs_petsc_factor *f = F->data;
  const char *prefix = ((PetscObject)F)->prefix;
  PetscFunctionBegin;
  PetscCall(trs_petsc_default_backend(f->backend));
  PetscOptionsBegin(PetscObjectComm((PetscObject)F), prefix, "Trireme's triangular solves", "Mat");
  PetscCall(PetscOptionsString("-mat_trireme_backend",
                               "Where solves run: auto, serial, threads:N, cuda, cuda:1", "None",
                               f->backend, f->backend, sizeof f->backend, NULL));
  PetscCall(PetscOptionsString("-mat_trireme_method", "Method of solves, from 'trireme methods'",
                               "None", "auto", f->method, sizeof f->method, NULL));
  PetscCall(PetscOptionsInt("-mat_trireme_nrhs", "Right-hand sides expected in each solve", "None",
                            f->nrhs, &f->nrhs, NULL));
  PetscCall(PetscOptionsEList("-mat_trireme_order", "Trireme's order of the factors", "None",
                              orders, ORDERS, orders[f->order], &f->order, NULL));
  PetscCall(PetscOptionsEList("-mat_trireme_store", "How off-diagonal values are stored", "None",
                              stores, STORES, stores[f->store], &f->store, NULL));
  PetscCall(PetscOptionsBool("-mat_trireme_block", "Incomplete factors of blocks as whole blocks",
                             "None", f->block, &f->block, NULL));
  PetscOptionsEnd();
  PetscCheck(f->nrhs >= 1, PetscObjectComm((PetscObject)F), PETSC_ERR_ARG_OUTOFRANGE,
             "Trireme: -mat_trireme_nrhs is %" PetscInt_FMT ": it must be at least 1", f->nrhs);
  PetscCall(trs_petsc_context(&f->context, f->backend, "-mat_trireme_backend"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode trs_petsc_convert(trs_petsc_factor *f, Mat A, Mat *converted) {
  const MatType form = f->whole ? MATSEQBAIJ : MATSEQAIJ;
  PetscBool same;
  PetscFunctionBegin;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, form, &same));
  *converted = A;
  if (same) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(
      MatConvert(A, form, f->converted ? MAT_REUSE_MATRIX : MAT_INITIAL_MATRIX, &f->converted));
  *converted = f->converted;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode is_natural(IS row, IS col, PetscBool *natural) {
  PetscBool rows = PETSC_TRUE, columns = PETSC_TRUE;
  PetscFunctionBegin;
  if (row) PetscCall(ISIdentity(row, &rows));
  if (col) PetscCall(ISIdentity(col, &columns));
  *natural = rows && columns ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whole blocks, or rows of numbers. */
static PetscErrorCode choose_form(Mat F, Mat A, IS row, IS col) {
  trs_petsc_factor *f = F->data;
  PetscBool blocks, natural = PETSC_TRUE;
  PetscInt size;
  PetscFunctionBegin;
  f->whole = f->indefinite = false;
  f->why = NULL;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, &blocks, MATSEQBAIJ, MATSEQSBAIJ, ""));
  PetscCall(MatGetBlockSize(A, &size));
  if (!blocks || size == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(is_natural(row, col, &natural));
  if (trs_petsc_is_complete(F))
    f->why = "complete factors have no blocks";
  else if (PetscDefined(USE_COMPLEX))
    f->why = "blocks of Trireme are real";
  else if (size > MOST_BLOCK)
    f->why = "blocks of Trireme have 32 rows at most";
  else if (!f->block)
    f->why = "-mat_trireme_block 0";
  else if (!natural)
    f->why = "-pc_factor_mat_ordering_type; -mat_trireme_order keeps blocks";
  else
    f->whole = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of incomplete factors: one order, PETSc's or Trireme's, and levels of blocks in PETSc's alone. */
static PetscErrorCode check_order(Mat F, Mat A, IS row, IS col, const MatFactorInfo *info) {
  const trs_petsc_factor *f = F->data;
  PetscBool natural;
  PetscFunctionBegin;
  PetscCall(is_natural(row, col, &natural));
  PetscCheck(
      trs_petsc_is_complete(F) || f->order == TRS_ORDER_DEFAULT || f->order == TRS_ORDER_NATURAL ||
          (natural && !(f->whole && info->levels >= 1)),
      PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
      "Trireme: -mat_trireme_order %s of incomplete factors is for PETSc's natural order, of "
      "blocks also for no levels of fill: use -pc_factor_mat_ordering_type instead",
      orders[f->order]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode drop(trs_petsc_factor *f) {
  PetscFunctionBegin;
  trs_petsc_drop_factors(f);
  PetscCall(trs_petsc_pattern_destroy(&f->P));
  PetscCall(MatDestroy(&f->converted));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* -pc_factor_reuse_ordering: a PC calls the symbolic phase again on the factors that it has.
 * Trireme's own order, as rows and columns of the matrix; both stay NULL where there is none. */
static PetscErrorCode take_reused(Mat F, Mat A, IS *row, IS *col) {
  const trs_petsc_factor *f = F->data;
  trs_factors_info info = {.struct_size = sizeof info};
  PetscInt *index;
  PetscFunctionBegin;
  if (!f->made || f->made_there) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(trs_petsc_check(trs_factors_get_info(f->factors, &info)));
  if (!info.row_perm || !info.col_perm || info.n != A->rmap->n) PetscFunctionReturn(PETSC_SUCCESS);
  for (int side = 0; side < 2; side++) {
    const int32_t *perm = side ? info.col_perm : info.row_perm;
    PetscCall(PetscMalloc1(info.n, &index));
    for (int64_t i = 0; i < info.n; i++) index[i] = perm[i];
    PetscCall(ISCreateGeneral(PETSC_COMM_SELF, (PetscInt)info.n, index, PETSC_OWN_POINTER,
                              side ? col : row));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Complete factors take no order of PETSc's, but one of the same name; another name than an order's
 * is an error, as for PETSc's own factors. */
static PetscErrorCode read_ordering(Mat F) {
  trs_petsc_factor *f = F->data;
  PetscErrorCode (*found)(Mat, MatOrderingType, IS *, IS *) = NULL;
  PetscBool given, same;
  PetscFunctionBegin;
  f->ignored[0] = '\0';
  PetscCall(PetscOptionsGetString(((PetscObject)F)->options, ((PetscObject)F)->prefix,
                                  "-pc_factor_mat_ordering_type", f->ignored, sizeof f->ignored,
                                  &given));
  if (!given) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscFunctionListFind(MatOrderingList, f->ignored, &found));
  PetscCheck(found, PetscObjectComm((PetscObject)F), PETSC_ERR_ARG_UNKNOWN_TYPE,
             "Trireme: -pc_factor_mat_ordering_type: PETSc has no order \"%s\"; -mat_trireme_order "
             "takes nd, amd, natural, rcm, colamd",
             f->ignored);
  for (PetscInt k = TRS_ORDER_ND; k <= TRS_ORDER_RCM; k++) {
    PetscCall(PetscStrcmp(f->ignored, orders[k], &same));
    if (!same) continue;
    if (f->order == TRS_ORDER_DEFAULT) f->order = k;
    f->ignored[0] = '\0';
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode make_pattern(Mat F, Mat A, IS row, IS col, const MatFactorInfo *info) {
  trs_petsc_factor *f = F->data;
  const bool complete = trs_petsc_is_complete(F);
  IS kept[2] = {NULL, NULL};
  Mat converted;
  PetscFunctionBegin;
  if (complete || f->order != TRS_ORDER_DEFAULT) PetscCall(take_reused(F, A, &kept[0], &kept[1]));
  f->reused = kept[0] != NULL;
  PetscCall(drop(f));
  PetscCall(trs_petsc_convert(f, A, &converted));
  if (complete || f->reused) row = kept[0], col = kept[1];
  const int levels = complete ? 0 : (int)info->levels;
  PetscCall(trs_petsc_pattern_create(&f->P, converted, row, col, levels,
                                     !complete && info->diagonal_fill > 0));
  f->levels = f->P.size > 1 ? 0 : levels;
  PetscCall(ISDestroy(&kept[0]));
  PetscCall(ISDestroy(&kept[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode symbolic(Mat F, Mat A, IS row, IS col, const MatFactorInfo *info) {
  trs_petsc_factor *f = F->data;
  PetscFunctionBegin;
  PetscCheck(A->rmap->N == A->cmap->N, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONG,
             "Trireme: the matrix is %" PetscInt_FMT " x %" PetscInt_FMT
             ": factors are of square matrices",
             A->rmap->N, A->cmap->N);
  f->rigid = false;
  PetscCall(read_options(F));
  if (trs_petsc_is_complete(F)) PetscCall(read_ordering(F));
  PetscCall(choose_form(F, A, row, col));
  PetscCall(check_order(F, A, row, col, info));
  PetscCall(make_pattern(F, A, row, col, info));
  F->ops->lufactornumeric = F->ops->choleskyfactornumeric = trs_petsc_numeric;
  trs_petsc_set_solves(F);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* LU of the whole matrix: it takes indefinite matrices too, and has a second triangle. */
static PetscErrorCode symbolic_cholesky(Mat F, Mat A, IS perm, const MatFactorInfo *info) {
  PetscFunctionBegin;
  PetscCall(symbolic(F, A, perm, perm, info));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode symbolic_icc(Mat F, Mat A, IS perm, const MatFactorInfo *info) {
  PetscFunctionBegin;
  PetscCheck(!PetscDefined(USE_COMPLEX) || A->hermitian == PETSC_BOOL3_TRUE,
             PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
             "Trireme: ICC of complex matrices is for Hermitian ones: MatSetOption(A, "
             "MAT_HERMITIAN, PETSC_TRUE) says that this one is, -pc_type ilu takes any");
  PetscCall(symbolic(F, A, perm, perm, info));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode destroy(Mat F) {
  PetscFunctionBegin;
  PetscCall(drop(F->data));
  PetscCall(PetscFree(F->data));
  PetscCall(PetscObjectComposeFunction((PetscObject)F, "MatFactorGetSolverType_C", NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode print_order(Mat F, PetscViewer viewer) {
  const trs_petsc_factor *f = F->data;
  trs_factors_info info = {.struct_size = sizeof info};
  PetscFunctionBegin;
  PetscCall(trs_petsc_check(trs_factors_get_info(f->made ? f->made : f->factors, &info)));
  if (f->reused)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  order: that of the factors before\n"));
  else if (f->P.row)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  order: PETSc's\n"));
  else
    PetscCall(PetscViewerASCIIPrintf(viewer, "  order: Trireme's %s%s%s\n", orders[info.order],
                                     *info.choice ? ": " : "", info.choice));
  if (f->ignored[0])
    PetscCall(PetscViewerASCIIPrintf(
        viewer, "  not used: -pc_factor_mat_ordering_type %s, for PETSc's own complete factors\n",
        f->ignored));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode print(Mat F, PetscViewer viewer) {
  trs_petsc_factor *f = F->data;
  trs_plan_info info = {.struct_size = sizeof info};
  char text[2048], *line = text;
  PetscFunctionBegin;
  PetscCall(trs_petsc_check(trs_plan_get_info(f->plain.plan, &info)));
  trs_plan_describe(f->plain.plan, text, sizeof text);
  PetscCall(PetscViewerASCIIPrintf(viewer, "Trireme %s: %s on %s, %d thread(s)%s%s\n",
                                   trs_version(), kind_name(F), f->backend, info.threads,
                                   info.device ? ", " : "", info.device ? info.device : ""));
  for (char *end; line && *line; line = end) {
    PetscCall(PetscStrchr(line, '\n', &end));
    if (end) *end++ = '\0';
    PetscCall(PetscViewerASCIIPrintf(viewer, "  %s\n", line));
  }
  PetscCall(PetscViewerASCIIPrintf(
      viewer,
      "  levels of both triangles: %lld, memory of the plan beside the factors: %lld bytes\n",
      (long long)info.levels, (long long)info.plan_bytes));
  PetscCall(print_order(F, viewer));
  if (f->made_there)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  the present values were factored on the GPU\n"));
  if (f->shift > 0)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  added to the diagonal: %g\n", (double)f->shift));
  if (f->shifted_rows > 0)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  pivots that were shifted: %" PetscInt_FMT "\n",
                                     f->shifted_rows));
  if (f->why)
    PetscCall(
        PetscViewerASCIIPrintf(viewer, "  blocks are factored as rows of numbers: %s\n", f->why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode view(Mat F, PetscViewer viewer) {
  trs_petsc_factor *f = F->data;
  PetscBool text;
  PetscViewerFormat format;
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &text));
  if (!text || !f->plain.plan) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerGetFormat(viewer, &format));
  if (format == PETSC_VIEWER_ASCII_INFO || format == PETSC_VIEWER_ASCII_INFO_DETAIL)
    PetscCall(print(F, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode get_info(Mat F, MatInfoType type, MatInfo *info) {
  trs_petsc_factor *f = F->data;
  trs_factors_info factors = {.struct_size = sizeof factors};
  (void)type;
  PetscFunctionBegin;
  PetscCall(PetscMemzero(info, sizeof *info));
  info->block_size = PetscMax(f->P.size, 1);
  info->nz_used = (PetscLogDouble)trs_petsc_pattern_numbers(&f->P);
  if (f->factors) {
    PetscCall(trs_petsc_check(trs_factors_get_info(f->factors, &factors)));
    info->nz_used = (PetscLogDouble)(factors.nnz_L + factors.nnz_U);
  }
  info->nz_allocated = info->nz_used;
  info->fill_ratio_needed =
      f->P.given ? info->nz_used / ((PetscLogDouble)f->P.given * f->P.size * f->P.size) : 1;
  info->fill_ratio_given = info->fill_ratio_needed;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode solver_type(Mat F, MatSolverType *type) {
  (void)F;
  PetscFunctionBegin;
  *type = "trireme";
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc orders the matrix for incomplete factors, Trireme for complete ones. */
static PetscErrorCode set_orderings(Mat F) {
  PetscFunctionBegin;
  F->canuseordering = trs_petsc_is_complete(F) ? PETSC_FALSE : PETSC_TRUE;
  for (int k = 0; k < MAT_FACTOR_NUM_TYPES; k++)
    PetscCall(PetscStrallocpy(F->canuseordering ? MATORDERINGNATURAL : MATORDERINGEXTERNAL,
                              (char **)&F->preferredordering[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode get_factor(Mat A, MatFactorType type, Mat *result) {
  trs_petsc_factor *f;
  Mat F;
  PetscFunctionBegin;
  PetscCall(MatCreate(PetscObjectComm((PetscObject)A), &F));
  PetscCall(MatSetSizes(F, A->rmap->n, A->cmap->n, A->rmap->N, A->cmap->N));
  PetscCall(PetscStrallocpy("trireme", &((PetscObject)F)->type_name));
  PetscCall(MatSetUp(F));
  PetscCall(PetscNew(&f));
  f->nrhs = 1;
  f->block = PETSC_TRUE;
  F->data = f;
  F->ops->destroy = destroy;
  F->ops->view = view;
  F->ops->getinfo = get_info;
  F->ops->lufactorsymbolic = F->ops->ilufactorsymbolic = symbolic;
  F->ops->iccfactorsymbolic = symbolic_icc;
  F->ops->choleskyfactorsymbolic = symbolic_cholesky;
  F->factortype = type;
  PetscCall(set_orderings(F));
  PetscCall(PetscFree(F->solvertype));
  PetscCall(PetscStrallocpy("trireme", &F->solvertype));
  PetscCall(PetscObjectComposeFunction((PetscObject)F, "MatFactorGetSolverType_C", solver_type));
  *result = F;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode trs_petsc_register_factors(void) {
  static const char *const types[] = {MATSEQAIJ, "seqaijcusparse", MATSEQBAIJ};
  static const MatFactorType kinds[] = {MAT_FACTOR_ICC, MAT_FACTOR_CHOLESKY, MAT_FACTOR_ILU,
                                        MAT_FACTOR_LU};
  PetscFunctionBegin;
  for (int k = 0; k < 4; k++)
    for (int t = 0; t < 3; t++)
      PetscCall(MatSolverTypeRegister("trireme", types[t], kinds[k], get_factor));
  for (int k = 0; k < 2; k++) /* symmetric */
    PetscCall(MatSolverTypeRegister("trireme", MATSEQSBAIJ, kinds[k], get_factor));
  PetscFunctionReturn(PETSC_SUCCESS);
}
