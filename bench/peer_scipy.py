"""SciPy beside Trireme: solves the systems of a finished run with spsolve_triangular.

    peer_scipy.py RUN.json [--seconds S] >> RUN.json

Every system for which RUN.json has a row of method "serial" is made again by the Python package,
with the same right-hand side, and the answer is checked.  The rows printed are those of the run with
SciPy's times in them.  SciPy 1.14 or newer: before that, spsolve_triangular was a loop in Python.
It is timed with the matrix by rows and by columns, whichever is faster counts; it has no analysis to
keep, so each solve pays for its own.
"""

import argparse
import datetime
import json
import os
import resource
import statistics
import sys
import time

import numpy as np
import scipy
from scipy.sparse.linalg import spsolve_triangular

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../bindings/python"))
import trireme as tr  # noqa: E402


def read_matrix(entry):
    """What a suite calls file:NAME or gen:NAME."""
    if entry.startswith("gen:"):
        return tr.generate(entry[len("gen:"):])
    if entry.startswith("file:"):
        entry = os.path.join(os.environ.get("TRIREME_MATRICES", "."), entry[len("file:"):])
    return tr.read(entry)


def factor(entry):
    """The factors that "factor:KIND[:ORDER]:MATRIX" names."""
    kind, entry = entry[len("factor:"):].split(":", 1)
    options = {}
    if kind == "triangle":
        raise RuntimeError("the Python package makes no triangles of a reordered matrix")
    if entry.split(":")[0] in ("nd", "amd", "natural", "rcm", "colour"):
        options["order"], entry = entry.split(":", 1)
    return {"lu": tr.lu, "ilu0": tr.ilu0, "ic0": tr.ic0}[kind](read_matrix(entry), **options)


def take_triangle(entry, uplo):
    """The matrix of the system, and whether its diagonal is one."""
    if not entry.startswith("factor:"):
        return tr.triangle(read_matrix(entry), uplo, add_diagonal=True), False
    F = factor(entry)
    return (F.L, F.unit_L) if uplo == "lower" else (F.U, F.unit_U)


def time_solves(A, b, lower, unit, seconds):
    took, begin = [], time.perf_counter()
    while len(took) < 5 or time.perf_counter() - begin < seconds:
        start = time.perf_counter()
        x = spsolve_triangular(A, b, lower=lower, unit_diagonal=unit)
        took.append(time.perf_counter() - start)
    return took, x


def random_rhs(n, nrhs):
    """The right-hand side of the C benchmark."""
    b = np.empty((n, nrhs), order="F")
    from trireme import _api
    from trireme._library import library
    library.trs_random_fill(b.ctypes.data, b.size, _api.TRS_DOUBLE, 1)
    return b


def solve(row, seconds):
    """The row with SciPy's results in it."""
    T, unit = take_triangle(row["matrix"], row["uplo"])
    b = random_rhs(T.shape[0], row["nrhs"])
    right = b[:, 0].copy() if row["nrhs"] == 1 else b
    runs = {M.format: time_solves(M, right, row["uplo"] == "lower", unit, seconds / 2)
            for M in (T.tocsr(), T.tocsc())}
    form = min(runs, key=lambda f: min(runs[f][0]))
    took, x = runs[form]
    with tr.plan(T, row["uplo"], unit_diagonal=unit, threads=1) as p:
        error = {"componentwise": p.backward_error(x, right),
                 "normwise": p.backward_error(x, right, normwise=True)}
    longest = np.diff(T.indptr).max(initial=0)
    small = error["componentwise"] <= 50 * np.finfo(float).eps * (longest + 1)
    return describe(row, took, form, error, not small)


def describe(row, took, form, error, wrong):
    def finite(value):
        return value if np.isfinite(value) else None
    memory = dict(row["memory"], plan=None, analysis_peak=None,
                  process_peak=1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    return dict(
        row, method="scipy", chosen=f"spsolve_triangular, {form}", threads=1,
        date=datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        time={"create_s": None, "analysis_s": None, "update_s": None,
              "solve_s": {"min": min(took), "median": statistics.median(took)},
              "repeats": len(took)},
        gbs=1e-9 * row["bytes"] / min(took), wrong=bool(wrong),
        backward_error={name: finite(value) for name, value in error.items()},
        memory=memory, reason=f"SciPy {scipy.__version__}, NumPy {np.__version__}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", metavar="RUN.json")
    parser.add_argument("--seconds", type=float, default=0.3, help="of solves a system")
    arguments = parser.parse_args()
    if tuple(map(int, scipy.__version__.split(".")[:2])) < (1, 14):
        sys.exit(f"peer_scipy: SciPy {scipy.__version__} is too old: 1.14 or newer is wanted")
    with open(arguments.run) as run:
        rows = [json.loads(line) for line in run if line.strip()]
    for row in rows:
        if row["method"] != "serial":
            continue
        try:
            print(json.dumps(solve(row, arguments.seconds), separators=(",", ":")), flush=True)
        except (RuntimeError, np.linalg.LinAlgError) as error:
            print(f"peer_scipy: {row['matrix']} {row['uplo']}: {error}", file=sys.stderr)


if __name__ == "__main__":
    main()
