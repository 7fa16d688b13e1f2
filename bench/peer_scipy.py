"""SciPy beside Trireme: solves the systems of a finished run with spsolve_triangular.

    peer_scipy.py RUN.json [--library libtrireme.so] [--seconds S] >> RUN.json

Every system for which RUN.json has a row of method "serial" is made again through libtrireme, with
the same right-hand side, and the answer is checked by trs_check.  The rows printed are those of
the run with SciPy's times in them.  SciPy 1.14 or newer: before that, spsolve_triangular was a loop
in Python.  It is timed with the matrix by rows and by columns, whichever is faster counts; it has
no analysis to keep, so each solve pays for its own.
"""

import argparse
import ctypes as C
import datetime
import json
import resource
import statistics
import sys
import time

import numpy as np
import scipy
from scipy.sparse import csc_array, csr_array
from scipy.sparse.linalg import spsolve_triangular

from binding import (COL_MAJOR, CSR, DOUBLE, NO_TRANS, UNIT, BackwardError, call, factor,
                     find_library, open_library, pointers, read_matrix)


def take_triangle(entry, uplo):
    """The matrix object of the system, 1 if its diagonal is one, and what to destroy."""
    if not entry.startswith("factor:"):
        A, T = read_matrix(entry), C.c_void_p()
        call("trs_matrix_triangle", C.byref(T), A, uplo, 1)
        library.trs_matrix_destroy(A)
        return T, 0, lambda: library.trs_matrix_destroy(T)
    F, info = factor(entry)
    T, unit = (info.L, info.diag_L) if uplo == 1 else (info.U, info.diag_U)
    return C.c_void_p(T), unit, lambda: library.trs_factors_destroy(F)


def arrays(T):
    ptr, idx, val, info = pointers(T)
    parts = (np.ctypeslib.as_array(val).copy(), np.ctypeslib.as_array(idx).copy(),
             np.ctypeslib.as_array(ptr).astype(np.int32))
    make = csr_array if info.format == CSR else csc_array
    return make(parts, shape=(info.nrows, info.ncols)), info


def time_solves(A, b, lower, unit, seconds):
    took, begin = [], time.perf_counter()
    while len(took) < 5 or time.perf_counter() - begin < seconds:
        start = time.perf_counter()
        x = spsolve_triangular(A, b, lower=lower, unit_diagonal=unit)
        took.append(time.perf_counter() - start)
    return took, x


def check(T, uplo, diag, x, b):
    error, (n, nrhs) = BackwardError(), b.shape
    x = np.asfortranarray(x.reshape(n, nrhs))
    call("trs_check", T, uplo, NO_TRANS, diag, x.ctypes.data_as(C.c_void_p), C.c_int64(n),
         b.ctypes.data_as(C.c_void_p), C.c_int64(n), C.c_int64(nrhs), COL_MAJOR, C.byref(error))
    return error


def solve(row, seconds):
    """The row with SciPy's results in it."""
    lower, nrhs = row["uplo"] == "lower", row["nrhs"]
    T, diag, destroy = take_triangle(row["matrix"], 1 if lower else 2)
    A, info = arrays(T)
    b = np.empty((info.nrows, nrhs), order="F")
    library.trs_random_fill(b.ctypes.data_as(C.c_void_p), C.c_int64(b.size), DOUBLE, C.c_uint64(1))
    right = b[:, 0].copy() if nrhs == 1 else b
    runs = {M.format: time_solves(M, right, lower, diag == UNIT, seconds / 2)
            for M in (A.tocsr(), A.tocsc())}
    form = min(runs, key=lambda f: min(runs[f][0]))
    took, x = runs[form]
    error = check(T, 1 if lower else 2, diag, x, b)
    destroy()
    small = error.componentwise <= 50 * np.finfo(float).eps * (info.longest + 1)
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
        gbs=1e-9 * row["bytes"] / min(took), wrong=wrong,
        backward_error={"componentwise": finite(error.componentwise),
                        "normwise": finite(error.normwise)},
        memory=memory, reason=f"SciPy {scipy.__version__}, NumPy {np.__version__}")


def main():
    global library
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", metavar="RUN.json")
    parser.add_argument("--library", default=find_library(), help="libtrireme.so")
    parser.add_argument("--seconds", type=float, default=0.3, help="of solves a system")
    arguments = parser.parse_args()
    if tuple(map(int, scipy.__version__.split(".")[:2])) < (1, 14):
        sys.exit(f"peer_scipy: SciPy {scipy.__version__} is too old: 1.14 or newer is wanted")
    library = open_library(arguments.library)
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
