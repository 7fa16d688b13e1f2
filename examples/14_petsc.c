/* 14_petsc.c - a PETSc program that knows nothing of Trireme: the Poisson equation on a square
 * grid, on any number of processes.  Options give it Trireme's factors (docs/petsc.md):
 *
 *   ./14_petsc -n 300 -ksp_type cg -pc_type icc \
 *     -dll_append /usr/local/lib/libtrireme_petsc.so -pc_factor_mat_solver_type trireme -ksp_view
 */
#include <petscksp.h>

/* Row i of the five-point Laplacian on an n x n grid. */
static PetscErrorCode set_row(Mat A, PetscInt i, PetscInt n) {
  PetscInt columns[5], count = 0;
  PetscScalar values[5];
  PetscFunctionBegin;
  if (i >= n) columns[count++] = i - n;
  if (i % n > 0) columns[count++] = i - 1;
  if (i % n < n - 1) columns[count++] = i + 1;
  if (i < n * (n - 1)) columns[count++] = i + n;
  for (PetscInt k = 0; k < count; k++) values[k] = -1;
  columns[count] = i;
  values[count++] = 4;
  PetscCall(MatSetValues(A, 1, &i, count, columns, values, INSERT_VALUES));
  PetscFunctionReturn(0);
}

static PetscErrorCode create_matrix(Mat *A, PetscInt n) {
  PetscInt first, end;
  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, n * n, n * n));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, 5, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 5, NULL, 5, NULL));
  PetscCall(MatSetUp(*A));
  PetscCall(MatGetOwnershipRange(*A, &first, &end));
  for (PetscInt i = first; i < end; i++) PetscCall(set_row(*A, i, n));
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
  PetscInt n = 60;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCall(create_matrix(&A, n));
  PetscCall(solve(A));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}
