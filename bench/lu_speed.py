"""SciPy's splu beside Trireme's lu: entries of L and U, processor time, backward errors.

    lu_speed.py MATRIX... [--seconds S] >> RUN.json

MATRIX: a Matrix Market file or gen:NAME; each is taken as it is and with its rows in a random order.
Patterns get random values of both signs.  A line of JSON for each system; processor time is that of
this process and of the workers that it waited for.  One thread, unless OPENBLAS_NUM_THREADS and
TRIREME_BLAS_THREADS say otherwise.
"""

import argparse
import json
import os
import resource
import sys

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np  # noqa: E402
import scipy  # noqa: E402
import scipy.io  # noqa: E402
import scipy.sparse as sp  # noqa: E402
from scipy.sparse.linalg import splu  # noqa: E402

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../bindings/python"))
import trireme as tr  # noqa: E402


def read_matrix(name):
    if name.startswith("gen:"):
        return sp.csr_matrix(tr.generate(name[len("gen:"):]))
    A = sp.csr_matrix(scipy.io.mmread(name))
    if scipy.io.mminfo(name)[4] == "pattern":
        rng = np.random.default_rng(7)
        A.data = rng.uniform(0.1, 1, A.nnz) * rng.choice([-1, 1], A.nnz)
    return A.astype(float)


def used():
    return sum(r.ru_utime + r.ru_stime
               for r in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


def time_factors(make, seconds):
    took = []
    while len(took) < 2 or sum(took) < seconds:
        begin = used()
        factors = make()
        took.append(used() - begin)
    return factors, min(took)


def error_of(A, x, b):
    """The componentwise backward error."""
    scale = abs(A) @ abs(x) + abs(b)
    return float(np.max(np.divide(abs(A @ x - b), scale, out=np.zeros_like(b), where=scale > 0)))


def measure(name, A, seconds):
    by_columns, by_rows = sp.csc_matrix(A), sp.csr_array(A)
    b = A @ np.random.default_rng(2).standard_normal(A.shape[0])
    row = {"matrix": name, "rows": A.shape[0], "entries": A.nnz, "scipy": scipy.__version__}
    try:
        S, seconds_scipy = time_factors(lambda: splu(by_columns), seconds)
        F, seconds_trireme = time_factors(lambda: tr.lu(by_rows), seconds)
    except (RuntimeError, np.linalg.LinAlgError) as error:
        return dict(row, error=str(error))
    row["splu"] = {"cpu": seconds_scipy, "fill": S.L.nnz + S.U.nnz - A.shape[0],
                   "error": error_of(A, S.solve(b), b)}
    row["lu"] = {"cpu": seconds_trireme, "fill": F.nnz, "error": error_of(A, F.solve(b), b),
                 "choice": F.choice}
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("matrix", nargs="+")
    parser.add_argument("--seconds", type=float, default=0.4, help="at least, for each system")
    options = parser.parse_args()
    for name in options.matrix:
        A = read_matrix(name)
        order = np.random.default_rng(0).permutation(A.shape[0])
        for label, system in ((name, A), (f"{name} permuted", A[order])):
            print(json.dumps(measure(label, system, options.seconds)), flush=True)


if __name__ == "__main__":
    main()
