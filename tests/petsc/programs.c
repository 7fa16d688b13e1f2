/* programs.c - PETSc matrices and factors for tests. */
#include "petsc/programs.h"

#include "test.h"

PETSC_EXTERN PetscErrorCode PetscDLLibraryRegister_trireme_petsc(void);

static char message[4096];
static bool quiet;

/* Keeps the first message of an error. */
static PetscErrorCode listen(MPI_Comm comm, int line, const char *function, const char *file,
                             PetscErrorCode code, PetscErrorType type, const char *text,
                             void *context) {
  (void)comm, (void)context;
  if (type == PETSC_ERROR_INITIAL) snprintf(message, sizeof message, "%s", text ? text : "");
  if (!quiet) fprintf(stderr, "%s:%d: %s: %s\n", file, line, function, text ? text : "");
  return code;
}

int start_petsc(void **state) {
  if (PetscInitializeNoArguments()) return 1;
  must(PetscLogDefaultBegin());
  must(PetscPushErrorHandler(listen, NULL));
  must(PetscDLLibraryRegister_trireme_petsc());
  return 0;
}

int stop_petsc(void **state) { return PetscFinalize() ? 1 : 0; }

void must(PetscErrorCode code) {
  if (code) fail_msg("PETSc's error %d: %s", (int)code, message);
}

void assert_error(PetscErrorCode expected, const char *words, PetscErrorCode code) {
  if (code != expected) fail_msg("error %d, expected %d: %s", (int)code, (int)expected, message);
  if (!strstr(message, words)) fail_msg("message \"%s\" lacks \"%s\"", message, words);
}

/* In (-1, 1), the same for each pair of rows. */
static double value(PetscInt i, PetscInt j, bool symmetric) {
  if (symmetric && j < i) return value(j, i, false);
  uint64_t mixed = (uint64_t)(i * 7919 + j * 104729 + 1) * 0x9E3779B97F4A7C15u;
  return (double)(mixed >> 11) / (double)(UINT64_C(1) << 52) - 1;
}

static void set_block(Mat A, PetscInt row, PetscInt column, int size, bool symmetric) {
  for (PetscInt i = row * size; i < (row + 1) * size; i++)
    for (PetscInt j = column * size; j < (column + 1) * size; j++)
      must(MatSetValue(A, i, j, i == j ? 6.0 * size : value(i, j, symmetric), INSERT_VALUES));
}

Mat grid(MatType type, int side, int size, bool symmetric) {
  Mat A;
  PetscInt n = (PetscInt)side * side;
  must(MatCreate(PETSC_COMM_SELF, &A));
  must(MatSetSizes(A, n * size, n * size, n * size, n * size));
  must(MatSetBlockSize(A, size));
  must(MatSetType(A, type));
  must(MatSetUp(A));
  must(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  if (!strcmp(type, MATSEQSBAIJ)) must(MatSetOption(A, MAT_IGNORE_LOWER_TRIANGULAR, PETSC_TRUE));
  for (PetscInt p = 0; p < n; p++)
    for (PetscInt q = 0; q < n; q++) {
      PetscInt dx = p % side - q % side, dy = p / side - q / side;
      if (dx * dx <= 1 && dy * dy <= 1) set_block(A, p, q, size, symmetric);
    }
  must(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  must(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  return A;
}

void fill_vector(Vec b) {
  PetscInt n;
  must(VecGetSize(b, &n));
  for (PetscInt i = 0; i < n; i++) must(VecSetValue(b, i, value(i, n, false), INSERT_VALUES));
  must(VecAssemblyBegin(b));
  must(VecAssemblyEnd(b));
}

static MatFactorInfo info_of(const task *t) {
  MatFactorInfo info;
  must(MatFactorInfoInitialize(&info));
  info.levels = t->levels;
  info.fill = 1;
  info.dtcol = t->column_pivot;
  info.diagonal_fill = t->diagonal_fill;
  info.shifttype = (PetscReal)t->shift;
  info.shiftamount = t->amount;
  info.zeropivot = 100 * PETSC_MACHINE_EPSILON;
  return info;
}

static PetscErrorCode numeric(Mat F, Mat A, const task *t) {
  MatFactorInfo info = info_of(t);
  const bool symmetric = t->type == MAT_FACTOR_ICC || t->type == MAT_FACTOR_CHOLESKY;
  return symmetric ? MatCholeskyFactorNumeric(F, A, &info) : MatLUFactorNumeric(F, A, &info);
}

static PetscErrorCode symbolic(Mat F, Mat A, IS row, IS column, const task *t) {
  MatFactorInfo info = info_of(t);
  switch (t->type) {
    case MAT_FACTOR_ICC:
      return MatICCFactorSymbolic(F, A, row, &info);
    case MAT_FACTOR_CHOLESKY:
      return MatCholeskyFactorSymbolic(F, A, row, &info);
    case MAT_FACTOR_ILU:
      return MatILUFactorSymbolic(F, A, row, column, &info);
    default:
      return MatLUFactorSymbolic(F, A, row, column, &info);
  }
}

PetscErrorCode try_factor(Mat A, MatSolverType solver, const task *t, Mat *F) {
  IS row, column;
  must(MatGetFactor(A, solver, t->type, F));
  must(MatGetOrdering(A, t->order ? t->order : "natural", &row, &column));
  quiet = true;
  PetscErrorCode code = symbolic(*F, A, row, column, t);
  if (!code) code = numeric(*F, A, t);
  quiet = false;
  must(ISDestroy(&row));
  must(ISDestroy(&column));
  return code;
}

PetscErrorCode try_again(Mat F, Mat A, const task *t) {
  quiet = true;
  PetscErrorCode code = numeric(F, A, t);
  quiet = false;
  return code;
}

PetscErrorCode try_columns(Mat F, Mat B, Mat X) {
  quiet = true;
  PetscErrorCode code = MatMatSolve(F, B, X);
  quiet = false;
  return code;
}

PetscErrorCode try_forward(Mat F) {
  Vec b, x;
  must(MatCreateVecs(F, &x, &b));
  quiet = true;
  PetscErrorCode code = MatForwardSolve(F, b, x);
  quiet = false;
  must(VecDestroy(&b));
  must(VecDestroy(&x));
  return code;
}

PetscErrorCode try_inertia(Mat F) {
  PetscInt negative;
  quiet = true;
  PetscErrorCode code = MatGetInertia(F, &negative, NULL, NULL);
  quiet = false;
  return code;
}

PetscErrorCode try_apply(PC pc, Vec b, Vec x) {
  quiet = true;
  PetscErrorCode code = PCApply(pc, b, x);
  quiet = false;
  return code;
}

Mat factor(Mat A, MatSolverType solver, const task *t) {
  Mat F;
  must(try_factor(A, solver, t, &F));
  return F;
}

void factor_again(Mat F, Mat A, const task *t) { must(try_again(F, A, t)); }

double residual(Mat A, Mat F) {
  Vec b, x, r;
  PetscReal norm, size;
  must(MatCreateVecs(A, &x, &b));
  must(VecDuplicate(b, &r));
  fill_vector(b);
  must(MatSolve(F, b, x));
  must(MatMult(A, x, r));
  must(VecAXPY(r, -1, b));
  must(VecNorm(r, NORM_2, &norm));
  must(VecNorm(b, NORM_2, &size));
  must(VecDestroy(&b));
  must(VecDestroy(&x));
  must(VecDestroy(&r));
  return (double)(norm / size);
}
