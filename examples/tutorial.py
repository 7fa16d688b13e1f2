"""A tour of the package: run it, or paste it cell by cell into a notebook.

    tutorial.py [FOLDER]     pictures go there (default: the current folder), with matplotlib
"""

import os
import sys

import numpy as np
import scipy.sparse.linalg as sla

import trireme as tr

folder = sys.argv[1] if len(sys.argv) > 1 else "."

# %% A matrix, its lower triangle, a right-hand side
A = tr.generate("poisson2d5:60")
L = tr.triangle(A)
b = np.random.default_rng(0).uniform(-1, 1, 60 * 60)

# %% SciPy's function, faster
x = tr.spsolve_triangular(L, b)
print("largest residual:", np.abs(L @ x - b).max())

# %% Analyse once, solve often
p = tr.plan(L)
print(p)
for _ in range(10):
    p.solve(b, out=x)
print("backward error:", p.backward_error(x, b))

# %% New values in the same pattern, the transpose, many right-hand sides
p.update(2 * L.data)
print("half as large:", np.allclose(2 * p.solve(b), x))
X = tr.plan(L, trans="T").solve(np.stack([b, 2 * b], axis=1))
print("two right-hand sides:", X.shape)

# %% A preconditioner: cg for a symmetric positive definite A, bicgstab for a general one
for solver, name, M in ((sla.cg, "cg", None), (sla.cg, "cg with IC(0)", tr.ic0(A)),
                        (sla.bicgstab, "bicgstab", None), (sla.bicgstab, "bicgstab with ILU(0)", tr.ilu0(A))):
    steps = []
    solver(A, b, M=M, callback=lambda _: steps.append(1))
    print(f"{name}: {len(steps)} steps")

# %% What goes wrong says where
broken = L.copy()
broken.data[broken.indptr[8] - 1] = 0
try:
    tr.plan(broken)
except tr.SingularMatrixError as error:
    print(f"row {error.row}: {error}")

# %% Times beside SciPy
table = tr.bench(L, b, seconds=0.1)
print(table)

# %% Pictures: the rows that can be solved at once, and the times
with open(os.path.join(folder, "levels.svg"), "w", encoding="utf-8") as file:
    file.write(p.picture())  # what a notebook shows for a plan
try:
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
except ImportError:
    print("no picture of the times: matplotlib is not installed")
    sys.exit(0)
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.5), layout="constrained")
left.plot(p.levels)
left.set(title="rows per level", xlabel="level")
right.barh([row.name for row in table], [1e6 * row.seconds for row in table])
right.set(title="one solve, µs", xscale="log")
figure.savefig(os.path.join(folder, "tutorial.svg"))
