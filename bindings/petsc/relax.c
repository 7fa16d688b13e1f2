/* relax.c - the PC "triremerelax": multicolour relaxation of block systems (trs_relax_sweep) as a
 * preconditioner, a smoother and, below KSPRICHARDSON, a solver. */
#include <math.h>
#include <petsc/private/pcimpl.h>

#include "trireme_petsc.h"

typedef struct relax {
  char backend[TRS_PETSC_NAME];
  PetscInt sweeps, store, direction;
  PetscReal omega;
  PetscBool balanced;
  PetscInt blocks; /* entries, or blocks, of the matrix that R was made from */
  trs_context *context;
  trs_plan *R;
  bool failed;     /* the last set-up, of which the solver may have been told alone */
  bool not_finite; /* the last set-up had NaN or infinity, and sweeps give infinity */
  bool on_gpu;
  void *stream; /* R's */
} relax;

/* Positions in stores. */
enum { STORE_DOUBLE = 1, STORE_FLOAT };
static const char *const stores[] = {"mixed",  "double",    "float", "half",
                                     "bfloat", "trs_store", "",      NULL};
static const char *const directions[] = {"forward", "backward", "symmetric", "trs_sweep_direction",
                                         "",        NULL};

static PetscErrorCode check_options(PC pc) {
  const relax *r = pc->data;
  PetscFunctionBegin;
  PetscCheck(r->sweeps >= 1, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "Trireme: -pc_triremerelax_sweeps is %" PetscInt_FMT ": it must be at least 1",
             r->sweeps);
  PetscCheck(!PetscIsInfOrNanReal(r->omega) && r->omega != 0, PetscObjectComm((PetscObject)pc),
             PETSC_ERR_ARG_OUTOFRANGE,
             "Trireme: -pc_triremerelax_omega is %g: it must be a finite number other than 0",
             (double)r->omega);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The next set-up makes R. */
static PetscErrorCode forget(PC pc) {
  relax *r = pc->data;
  PetscFunctionBegin;
  trs_plan_destroy(r->R);
  r->R = NULL;
  r->stream = NULL;
  r->context = NULL;
  pc->setupcalled = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode read_options(PC pc) {
  relax *r = pc->data;
  const relax before = *r;
  PetscBool same;
  PetscFunctionBegin;
  if (!r->backend[0]) PetscCall(trs_petsc_default_backend(r->backend));
  PetscOptionsBegin(PetscObjectComm((PetscObject)pc), ((PetscObject)pc)->prefix,
                    "Trireme's block relaxation", "PC");
  PetscCall(PetscOptionsString("-pc_triremerelax_backend",
                               "Where sweeps run: auto, serial, threads:N, cuda", "None",
                               r->backend, r->backend, sizeof r->backend, NULL));
  PetscCall(PetscOptionsInt("-pc_triremerelax_sweeps", "Sweeps in each application", "None",
                            r->sweeps, &r->sweeps, NULL));
  PetscCall(PetscOptionsEList("-pc_triremerelax_direction", "Order of the colours", "None",
                              directions, 3, directions[r->direction], &r->direction, NULL));
  PetscCall(PetscOptionsReal("-pc_triremerelax_omega", "Relaxation factor", "None", r->omega,
                             &r->omega, NULL));
  PetscCall(PetscOptionsEList("-pc_triremerelax_store", "How blocks are stored", "None", stores, 5,
                              stores[r->store], &r->store, NULL));
  PetscCall(PetscOptionsBool("-pc_triremerelax_balanced", "Colours of nearly equal size", "None",
                             r->balanced, &r->balanced, NULL));
  PetscOptionsEnd();
  PetscCall(check_options(pc));
  PetscCall(PetscStrcmp(r->backend, before.backend, &same));
  if (!same || r->store != before.store || r->balanced != before.balanced) PetscCall(forget(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if PETSC_VERSION_GE(3, 23, 0)
static PetscErrorCode set_from_options(PC pc, PetscOptionItems group) {
#else
static PetscErrorCode set_from_options(PC pc, PetscOptionItems *group) {
#endif
  (void)group; /* of PC's own options */
  PetscFunctionBegin;
  PetscCall(read_options(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes or updates R from the rows or block rows of A. */
static trs_status take(relax *r, bool blocks, PetscInt n, PetscInt size, const PetscInt *ptr,
                       const PetscInt *idx, const PetscScalar *val) {
  trs_relax_options options = {.struct_size = sizeof(trs_relax_options),
                               .store = (trs_store)(TRS_STORE_MIXED + r->store),
                               .balanced = r->balanced == PETSC_TRUE};
  const trs_blocks B = {.struct_size = sizeof(trs_blocks),
                        .scalar = TRS_PETSC_SCALAR,
                        .block_size = (int)size,
                        .nrows = n,
                        .layout = TRS_COL_MAJOR,
                        .indexing = TRS_PETSC_INDEXING,
                        .ptr = ptr,
                        .idx = idx,
                        .val = val};
  trs_matrix *A = NULL;
  trs_status status;
  if (blocks) /* PETSc's blocks are column-major */
    return r->R ? trs_update_bsr(r->R, &B) : trs_relax_create_bsr(&r->R, r->context, &B, &options);
  status = trs_matrix_create(&A, TRS_CSR, TRS_PETSC_SCALAR, n, n, TRS_PETSC_INDEXING, ptr, idx, val,
                             TRS_BORROW);
  if (!status)
    status =
        r->R ? trs_update(r->R, A) : trs_relax_create(&r->R, r->context, A, (int)size, &options);
  trs_matrix_destroy(A);
  return status;
}

/* "auto" relaxes on the CPU beside a GPU too. */
static void find_place(relax *r) {
  trs_relax_info info = {.struct_size = sizeof info};
  r->on_gpu = r->R && !trs_relax_get_info(r->R, &info) && info.device_bytes > 0;
}

/* Singular blocks, NaN and infinity are the solver's to hear of; all else is an error.  After a
 * failed preconditioner KSPGMRES and KSPFGMRES of PETSc 3.18 fail at later values, too, but not
 * after NaN. */
static PetscErrorCode judge(PC pc, trs_status status) {
  relax *r = pc->data;
  PetscFunctionBegin;
  r->not_finite = status == TRS_ERROR_NOT_FINITE && !pc->erroriffailure;
  if (r->not_finite) {
    PetscCall(PetscInfo(pc, "Trireme: %s\n", trs_last_error()->message));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (status == TRS_ERROR_ZERO_PIVOT && !pc->erroriffailure) {
    PetscCall(PetscInfo(pc, "Trireme: %s\n", trs_last_error()->message));
    pc->failedreason = PC_FACTOR_NUMERIC_ZEROPIVOT;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(trs_petsc_check(status));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode set_up(PC pc) {
  relax *r = pc->data;
  Mat A = pc->pmat;
  const PetscInt *ptr, *idx;
  PetscInt n, size;
  PetscBool blocks, rows, done;
  PetscScalar *val;
  trs_status status;
  PetscFunctionBegin;
  pc->failedreason = PC_NOERROR;
  r->failed = true;
  r->not_finite = false;
  if (!r->backend[0]) PetscCall(trs_petsc_default_backend(r->backend));
  PetscCall(trs_petsc_context(&r->context, r->backend, "-pc_triremerelax_backend"));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATSEQBAIJ, &blocks));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATSEQAIJ, &rows));
  PetscCheck(blocks || rows, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "Trireme: triremerelax takes seqaij and seqbaij, not %s: use -mat_type aij or baij, "
             "and on several processes -pc_type bjacobi -sub_pc_type triremerelax",
             ((PetscObject)A)->type_name);
  PetscCall(PetscLogEventBegin(trs_petsc_event.relax_setup, pc, A, 0, 0));
  PetscCall(MatGetBlockSize(A, &size));
  PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, blocks, &n, &ptr, &idx, &done));
  PetscCall(blocks ? MatSeqBAIJGetArray(A, &val)
                   : MatSeqAIJGetArrayRead(A, (const PetscScalar **)&val));
  if (r->R && (pc->flag != SAME_NONZERO_PATTERN || ptr[n] != r->blocks)) {
    trs_plan_destroy(r->R);
    r->R = NULL;
    r->stream = NULL;
  }
  r->blocks = ptr[n];
  status = take(r, blocks, n, size, ptr, idx, val);
  r->failed = status != TRS_SUCCESS;
  find_place(r);
  PetscCall(blocks ? MatSeqBAIJRestoreArray(A, &val)
                   : MatSeqAIJRestoreArrayRead(A, (const PetscScalar **)&val));
  PetscCall(MatRestoreRowIJ(A, 0, PETSC_FALSE, blocks, &n, &ptr, &idx, &done));
  PetscCall(judge(pc, status));
  PetscCall(PetscLogEventEnd(trs_petsc_event.relax_setup, pc, A, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On a GPU, vectors stay in its memory. */
static PetscErrorCode sweep(PC pc, Vec b, Vec x, const trs_sweep_options *options) {
  relax *r = pc->data;
  const PetscScalar *from;
  PetscScalar *to;
  PetscInt n;
  trs_status status;
  PetscFunctionBegin;
  /* A solver that looks at norms stops at infinity, and says so. */
  if (pc->failedreason || r->not_finite) {
    PetscCall(VecSet(x, (PetscScalar)INFINITY));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCheck(!r->failed, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONGSTATE,
             "Trireme: the last set-up of this preconditioner failed (PCSetUp): set it up again "
             "before it is applied");
  PetscCall(PetscLogEventBegin(trs_petsc_event.relax, pc, b, x, 0));
  PetscCall(VecGetLocalSize(b, &n));
  PetscCall(r->on_gpu ? VecGetArrayReadAndMemType(b, &from, NULL) : VecGetArrayRead(b, &from));
  PetscCall(r->on_gpu ? VecGetArrayAndMemType(x, &to, NULL) : VecGetArray(x, &to));
  if (r->on_gpu) {
    void *stream;
    PetscCall(trs_petsc_stream(&stream));
    if (stream != r->stream) PetscCall(trs_petsc_check(trs_plan_set_stream(r->R, stream)));
    r->stream = stream;
    PetscCall(PetscLogGpuTimeBegin());
  }
  n = PetscMax(n, 1);
  status = trs_relax_sweep(r->R, to, n, from, n, 1, TRS_COL_MAJOR, options);
  if (r->on_gpu) PetscCall(PetscLogGpuTimeEnd());
  PetscCall(trs_petsc_check(status));
  PetscCall(r->on_gpu ? VecRestoreArrayReadAndMemType(b, &from) : VecRestoreArrayRead(b, &from));
  PetscCall(r->on_gpu ? VecRestoreArrayAndMemType(x, &to) : VecRestoreArray(x, &to));
  PetscCall(PetscLogEventEnd(trs_petsc_event.relax, pc, b, x, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static trs_sweep_options sweep_options(const relax *r) {
  return (trs_sweep_options){.struct_size = sizeof(trs_sweep_options),
                             .sweeps = r->sweeps,
                             .direction = (trs_sweep_direction)r->direction,
                             .omega = (double)r->omega};
}

static PetscErrorCode apply(PC pc, Vec b, Vec x) {
  trs_sweep_options options = sweep_options(pc->data);
  PetscFunctionBegin;
  PetscCall(sweep(pc, b, x, &options));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode apply_richardson(PC pc, Vec b, Vec x, Vec work, PetscReal rtol,
                                       PetscReal abstol, PetscReal dtol, PetscInt its,
                                       PetscBool from_zero, PetscInt *done,
                                       PCRichardsonConvergedReason *reason) {
  trs_sweep_options options = sweep_options(pc->data);
  (void)work, (void)rtol, (void)abstol, (void)dtol;
  PetscFunctionBegin;
  options.sweeps *= its;
  options.keep_x = !from_zero;
  PetscCall(sweep(pc, b, x, &options));
  *done = its;
  *reason = PCRICHARDSON_CONVERGED_ITS;
  if (pc->failedreason) *reason = (PCRichardsonConvergedReason)KSP_DIVERGED_PC_FAILED;
  if (((const relax *)pc->data)->not_finite)
    *reason = (PCRichardsonConvergedReason)KSP_DIVERGED_NANORINF;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode view(PC pc, PetscViewer viewer) {
  const relax *r = pc->data;
  trs_relax_info info = {.struct_size = sizeof info};
  PetscBool text;
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &text));
  if (!text || !r->R) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(trs_petsc_check(trs_relax_get_info(r->R, &info)));
  PetscCall(PetscViewerASCIIPrintf(viewer,
                                   "  Trireme %s: %" PetscInt_FMT
                                   " %s sweep(s) on %s, omega %g, blocks of %d stored as %s\n",
                                   trs_version(), r->sweeps, directions[r->direction], r->backend,
                                   (double)r->omega, info.block_size, stores[r->store]));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  %lld colours of %lld to %lld rows, %s\n",
                                   (long long)info.colours, (long long)info.smallest_colour,
                                   (long long)info.largest_colour, info.variant));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode reset(PC pc) {
  PetscFunctionBegin;
  PetscCall(forget(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode destroy(PC pc) {
  PetscFunctionBegin;
  PetscCall(reset(pc));
  PetscCall(PetscFree(pc->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode create(PC pc) {
  relax *r;
  PetscFunctionBegin;
  PetscCall(PetscNew(&r));
  r->sweeps = 1;
  r->omega = 1;
  r->store = PetscDefined(USE_REAL_SINGLE) ? STORE_FLOAT : STORE_DOUBLE; /* KSPs count on it */
  r->direction = TRS_SWEEP_SYMMETRIC; /* keeps a symmetric matrix's preconditioner symmetric */
  pc->data = r;
  pc->ops->setup = set_up;
  pc->ops->setfromoptions = set_from_options;
  pc->ops->apply = apply;
  pc->ops->applyrichardson = apply_richardson;
  pc->ops->view = view;
  pc->ops->reset = reset;
  pc->ops->destroy = destroy;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode trs_petsc_register_relax(void) {
  PetscFunctionBegin;
  PetscCall(PCRegister("triremerelax", create));
  PetscFunctionReturn(PETSC_SUCCESS);
}
