/* solve.c - MatSolve, MatSolveTranspose and their forms for many right-hand sides.  Vectors in the
 * memory of a GPU are solved there. */
#include "factor.h"

typedef struct arrays {
  const PetscScalar *b;
  PetscScalar *x;
  PetscInt ldb, ldx, nrhs;
} arrays;

static PetscErrorCode follow_stream(trs_petsc_sweeps *sweeps) {
  void *stream;
  PetscFunctionBegin;
  PetscCall(trs_petsc_stream(&stream));
  if (stream != sweeps->stream)
    PetscCall(trs_petsc_check(trs_plan_set_stream(sweeps->plan, stream)));
  sweeps->stream = stream;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode get_sweeps(Mat F, bool transposed, trs_petsc_sweeps **sweeps) {
  trs_petsc_factor *f = F->data;
  PetscFunctionBegin;
  PetscCall(trs_petsc_check_made(F));
  PetscCall(trs_petsc_need_plan(F, transposed));
  *sweeps = transposed ? &f->transposed : &f->plain;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode solve(Mat F, trs_petsc_sweeps *sweeps, const arrays *v) {
  const trs_petsc_factor *f = F->data;
  trs_factors_info info = {.struct_size = sizeof info};
  trs_status status;
  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(trs_petsc_event.solve, F, 0, 0, 0));
  if (sweeps->on_gpu) {
    PetscCall(follow_stream(sweeps));
    PetscCall(PetscLogGpuTimeBegin());
  }
  status = trs_solve(sweeps->plan, v->x, v->ldx, v->b, v->ldb, v->nrhs, TRS_COL_MAJOR);
  if (sweeps->on_gpu) PetscCall(PetscLogGpuTimeEnd());
  PetscCall(trs_petsc_check(status));
  PetscCall(trs_petsc_check(trs_factors_get_info(f->factors, &info)));
  const PetscLogDouble flops = 2.0 * (double)(info.nnz_L + info.nnz_U) * (double)v->nrhs;
  PetscCall(sweeps->on_gpu ? PetscLogGpuFlops(flops) : PetscLogFlops(flops));
  PetscCall(PetscLogEventEnd(trs_petsc_event.solve, F, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode solve_vector(Mat F, Vec b, Vec x, bool transposed) {
  trs_petsc_sweeps *sweeps = NULL;
  arrays v = {.ldb = PetscMax(F->rmap->n, 1), .ldx = PetscMax(F->rmap->n, 1), .nrhs = 1};
  bool failed;
  PetscFunctionBegin;
  PetscCall(trs_petsc_fill_failed(F, x, &failed));
  if (failed) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(get_sweeps(F, transposed, &sweeps));
  if (sweeps->on_gpu) {
    PetscCall(VecGetArrayReadAndMemType(b, &v.b, NULL));
    PetscCall(VecGetArrayWriteAndMemType(x, &v.x, NULL));
  } else {
    PetscCall(VecGetArrayRead(b, &v.b));
    PetscCall(VecGetArrayWrite(x, &v.x));
  }
  PetscCall(solve(F, sweeps, &v));
  if (sweeps->on_gpu) {
    PetscCall(VecRestoreArrayReadAndMemType(b, &v.b));
    PetscCall(VecRestoreArrayWriteAndMemType(x, &v.x));
  } else {
    PetscCall(VecRestoreArrayRead(b, &v.b));
    PetscCall(VecRestoreArrayWrite(x, &v.x));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode mat_solve(Mat F, Vec b, Vec x) {
  PetscFunctionBegin;
  PetscCall(solve_vector(F, b, x, false));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode mat_solve_transpose(Mat F, Vec b, Vec x) {
  PetscFunctionBegin;
  PetscCall(solve_vector(F, b, x, true));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc 3.18 has no way to dense matrices in the memory of a GPU that is public. */
#if PETSC_VERSION_GE(3, 20, 0)
#define HAVE_DENSE_ON_GPU 1
#else
#define HAVE_DENSE_ON_GPU 0
#endif

static PetscErrorCode get_columns(Mat B, Mat X, bool on_gpu, arrays *v) {
  PetscFunctionBegin;
  PetscCall(MatGetSize(B, NULL, &v->nrhs));
  PetscCall(MatDenseGetLDA(B, &v->ldb));
  PetscCall(MatDenseGetLDA(X, &v->ldx));
#if HAVE_DENSE_ON_GPU
  if (on_gpu) {
    PetscCall(MatDenseGetArrayReadAndMemType(B, &v->b, NULL));
    PetscCall(MatDenseGetArrayWriteAndMemType(X, &v->x, NULL));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  (void)on_gpu;
  PetscCall(MatDenseGetArrayRead(B, &v->b));
  PetscCall(MatDenseGetArrayWrite(X, &v->x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode restore_columns(Mat B, Mat X, bool on_gpu, arrays *v) {
  PetscFunctionBegin;
#if HAVE_DENSE_ON_GPU
  if (on_gpu) {
    PetscCall(MatDenseRestoreArrayReadAndMemType(B, &v->b));
    PetscCall(MatDenseRestoreArrayWriteAndMemType(X, &v->x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  (void)on_gpu;
  PetscCall(MatDenseRestoreArrayRead(B, &v->b));
  PetscCall(MatDenseRestoreArrayWrite(X, &v->x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode fill_columns(Mat F, Mat X) {
  PetscInt n;
  Vec x;
  bool filled;
  PetscFunctionBegin;
  PetscCall(MatGetSize(X, NULL, &n));
  for (PetscInt k = 0; k < n; k++) {
    PetscCall(MatDenseGetColumnVecWrite(X, k, &x));
    PetscCall(trs_petsc_fill_failed(F, x, &filled));
    PetscCall(MatDenseRestoreColumnVecWrite(X, k, &x));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* B and X may be one matrix. */
static PetscErrorCode solve_columns(Mat F, Mat B, Mat X, bool transposed) {
  trs_petsc_sweeps *sweeps = NULL;
  arrays v;
  PetscFunctionBegin;
  if (B == X) {
    Mat copy;
    PetscCall(MatDuplicate(B, MAT_COPY_VALUES, &copy));
    PetscCall(solve_columns(F, copy, X, transposed));
    PetscCall(MatDestroy(&copy));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (((trs_petsc_factor *)F->data)->not_finite) {
    PetscCall(fill_columns(F, X));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(get_sweeps(F, transposed, &sweeps));
  PetscCall(get_columns(B, X, sweeps->on_gpu, &v));
  PetscCall(solve(F, sweeps, &v));
  PetscCall(restore_columns(B, X, sweeps->on_gpu, &v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode mat_mat_solve(Mat F, Mat B, Mat X) {
  PetscFunctionBegin;
  PetscCall(solve_columns(F, B, X, false));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode mat_mat_solve_transpose(Mat F, Mat B, Mat X) {
  PetscFunctionBegin;
  PetscCall(solve_columns(F, B, X, true));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void trs_petsc_set_solves(Mat F) {
  F->ops->solve = mat_solve;
  F->ops->solvetranspose = mat_solve_transpose;
  F->ops->matsolve = mat_mat_solve;
  F->ops->matsolvetranspose = mat_mat_solve_transpose;
  F->ops->getdiagonal = trs_petsc_diagonal;
  if (F->factortype != MAT_FACTOR_ICC && F->factortype != MAT_FACTOR_CHOLESKY) return;
  F->ops->forwardsolve = trs_petsc_forward;
  F->ops->backwardsolve = trs_petsc_backward;
  F->ops->getinertia = trs_petsc_inertia;
}
