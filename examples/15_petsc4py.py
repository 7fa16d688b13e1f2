"""15_petsc4py.py - conjugate gradients in petsc4py, preconditioned by Trireme's ICC(0).

    PETSC_OPTIONS="-dll_append /usr/local/lib/libtrireme_petsc.so" python3 15_petsc4py.py
"""
import sys

import petsc4py

petsc4py.init(sys.argv)
from petsc4py import PETSc  # noqa: E402  (after init, which reads the options)


def poisson(n):
    """The five-point Laplacian on an n x n grid."""
    A = PETSc.Mat().createAIJ([n * n, n * n], nnz=5, comm=PETSc.COMM_SELF)
    for i in range(n * n):
        A[i, i] = 4
        if i % n:
            A[i, i - 1] = A[i - 1, i] = -1
        if i >= n:
            A[i, i - n] = A[i - n, i] = -1
    A.assemble()
    return A


A = poisson(PETSc.Options().getInt("n", 60))
x, b = A.createVecs()
b.set(1)

ksp = PETSc.KSP().create(comm=PETSc.COMM_SELF)
ksp.setOperators(A)
ksp.setType("cg")
ksp.pc.setType("icc")
ksp.pc.setFactorSolverType("trireme")
ksp.setFromOptions()
ksp.solve(b, x)
print(f"{ksp.its} iterations, reason {ksp.reason}, solver {ksp.pc.getFactorSolverType()}, "
      f"residual {(b - A * x).norm() / b.norm():.1e}")
sys.exit(ksp.reason <= 0)
