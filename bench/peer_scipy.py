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
import glob
import json
import os
import resource
import statistics
import sys
import time

import numpy as np
import scipy
from scipy.sparse import csc_array, csr_array
from scipy.sparse.linalg import spsolve_triangular

CSR, DOUBLE, NO_TRANS, COL_MAJOR, UNIT = 0, 1, 0, 0, 1
KINDS, ORDERS = ["lu", "ilu0", "ic0", "triangle"], ["nd", "amd", "natural"]


class MatrixInfo(C.Structure):
    _fields_ = [("format", C.c_int), ("scalar", C.c_int)] + [(name, C.c_int64) for name in (
        "nrows", "ncols", "nnz", "nlower", "nupper", "ndiagonal", "missing", "longest", "bytes")]


class ReadOptions(C.Structure):
    _fields_ = [("context", C.c_void_p), ("allow", C.c_int), ("seed", C.c_uint64),
                ("scalar", C.POINTER(C.c_int)), ("progress", C.c_void_p), ("user", C.c_void_p),
                ("reserved", C.c_char * 64)]


class FactorOptions(C.Structure):
    _fields_ = [("kind", C.c_int), ("order", C.c_int), ("order_given", C.c_int),
                ("leaves", C.c_int), ("threshold", C.c_double), ("unscaled", C.c_int),
                ("add_diagonal", C.c_int), ("progress", C.c_void_p), ("user", C.c_void_p),
                ("reserved", C.c_char * 64)]


class FactorsInfo(C.Structure):
    _fields_ = [("kind", C.c_int), ("order", C.c_int), ("scalar", C.c_int), ("n", C.c_int64),
                ("nnz_L", C.c_int64), ("nnz_U", C.c_int64), ("diag_L", C.c_int),
                ("diag_U", C.c_int), ("supernodes", C.c_int64), ("tree_nodes", C.c_int64),
                ("L", C.c_void_p), ("U", C.c_void_p), ("others", C.c_void_p * 7)]


class LastError(C.Structure):
    _fields_ = [("status", C.c_int), ("row", C.c_int64), ("message", C.c_char_p)]


class BackwardError(C.Structure):
    _fields_ = [("componentwise", C.c_double), ("normwise", C.c_double), ("row", C.c_int64)]


def find_library():
    here = os.path.dirname(os.path.abspath(__file__))
    found = glob.glob(os.path.join(here, "../build/src/libtrireme.so")) + ["libtrireme.so.0"]
    return os.environ.get("TRIREME_LIBRARY", found[0])


def call(name, *arguments):
    if getattr(library, name)(*arguments):
        library.trs_last_error.restype = C.POINTER(LastError)
        raise RuntimeError(library.trs_last_error().contents.message.decode())


def read_matrix(entry):
    if entry.startswith("file:"):
        entry = os.path.join(os.environ.get("TRIREME_MATRICES", "."), entry[len("file:"):])
    A, double = C.c_void_p(), C.c_int(DOUBLE)
    call("trs_matrix_read", C.byref(A), entry.encode(),
         C.byref(ReadOptions(scalar=C.pointer(double))))
    return A


def take_triangle(entry, uplo):
    """The matrix object of the system, 1 if its diagonal is one, and what to destroy."""
    if not entry.startswith("factor:"):
        A, T = read_matrix(entry), C.c_void_p()
        call("trs_matrix_triangle", C.byref(T), A, uplo, 1)
        library.trs_matrix_destroy(A)
        return T, 0, lambda: library.trs_matrix_destroy(T)
    kind, entry = entry[len("factor:"):].split(":", 1)
    options = FactorOptions(kind=KINDS.index(kind))
    if entry.split(":")[0] in ORDERS:
        order, entry = entry.split(":", 1)
        options.order, options.order_given = ORDERS.index(order), 1
    A, F, info = read_matrix(entry), C.c_void_p(), FactorsInfo()
    call("trs_factor", C.byref(F), A, C.byref(options))
    library.trs_matrix_destroy(A)
    library.trs_factors_get_info(F, C.byref(info))
    T, unit = (info.L, info.diag_L) if uplo == 1 else (info.U, info.diag_U)
    return C.c_void_p(T), unit, lambda: library.trs_factors_destroy(F)


def arrays(T):
    info, ptr, idx, val = MatrixInfo(), C.c_void_p(), C.c_void_p(), C.c_void_p()
    library.trs_matrix_get_info(T, C.byref(info))
    library.trs_matrix_get_arrays(T, C.byref(ptr), C.byref(idx), C.byref(val))

    def view(address, kind, count):
        return np.ctypeslib.as_array(C.cast(address, C.POINTER(kind)), (count,)).copy()
    parts = (view(val, C.c_double, info.nnz), view(idx, C.c_int32, info.nnz),
             view(ptr, C.c_int64, info.nrows + 1).astype(np.int32))
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
    library = C.CDLL(arguments.library)
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
