/* 14_petsc.c - a PETSc program that knows nothing of Trireme: the Poisson equation on a square
 * grid, on any number of processes.  Options give it Trireme's factors (docs/petsc.md):
 *
 *   ./14_petsc -n 300 -ksp_type cg -pc_type icc \
 *     -dll_append /usr/local/lib/libtrireme_petsc.so -pc_factor_mat_solver_type trireme -ksp_view
 *
 * With -dof 5 -mat_type baij it has five coupled unknowns per point, and a matrix of blocks.
 */
#include <petscksp.h>

enum { NEIGHBOURS = 5, MOST_UNKNOWNS = 8 };

/* Point i of the five-point Laplacian on an n x n grid, with coupled unknowns. */
static PetscErrorCode set_point(Mat A, PetscInt i, PetscInt n, PetscInt unknowns) {
  PetscInt columns[NEIGHBOURS], count = 0;
  PetscScalar values[NEIGHBOURS * MOST_UNKNOWNS * MOST_UNKNOWNS] = {0}, *row = values;
  const PetscReal coupling = 0.25;
  PetscFunctionBegin;
  if (i >= n) columns[count++] = i - n;
  if (i % n > 0) columns[count++] = i - 1;
  if (i % n < n - 1) columns[count++] = i + 1;
  if (i < n * (n - 1)) columns[count++] = i + n;
  columns[count++] = i;
  for (PetscInt r = 0; r < unknowns; r++, row += count * unknowns) {
    for (PetscInt k = 0; k < count - 1; k++) row[k * unknowns + r] = -1;
    for (PetscInt c = 0; c < unknowns; c++) row[(count - 1) * unknowns + c] = -coupling;
    row[(count - 1) * unknowns + r] = 4 + (unknowns - 1) * coupling;
  }
  PetscCall(MatSetValuesBlocked(A, 1, &i, count, columns, values, INSERT_VALUES));
  PetscFunctionReturn(0);
}

static PetscErrorCode create_matrix(Mat *A, PetscInt n, PetscInt unknowns) {
  PetscInt first, end, rows = n * n * unknowns, entries = NEIGHBOURS * unknowns;
  PetscFunctionBegin;
  PetscCheck(unknowns >= 1 && unknowns <= MOST_UNKNOWNS, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-dof is 1 to %d", MOST_UNKNOWNS);
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, rows, rows));
  PetscCall(MatSetBlockSize(*A, unknowns));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, entries, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, entries, NULL, entries, NULL));
  PetscCall(MatSetUp(*A));
  PetscCall(MatGetOwnershipRange(*A, &first, &end));
  for (PetscInt i = first / unknowns; i < end / unknowns; i++)
    PetscCall(set_point(*A, i, n, unknowns));
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

static PetscErrorCode solve(Mat A) {
  Vec x, b;
  KSP ksp;
  PetscInt iterations;
  KSPConvergedReason reason;
  PetscReal norm, size;
  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(VecNorm(b, NORM_2, &size));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, &iterations));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(VecScale(b, -1));
  PetscCall(MatMultAdd(A, x, b, b));
  PetscCall(VecNorm(b, NORM_2, &norm));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%d iterations, %s, residual %.1e\n", (int)iterations,
                        KSPConvergedReasons[reason], (double)(norm / size)));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv) {
  Mat A;
  PetscInt n = 60, unknowns = 1;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dof", &unknowns, NULL));
  PetscCall(create_matrix(&A, n, unknowns));
  PetscCall(solve(A));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}
