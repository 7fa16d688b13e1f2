"""libtrireme through ctypes, as far as the scripts of this folder use it."""

import ctypes as C
import glob
import os

CSR, DOUBLE, NO_TRANS, COL_MAJOR, UNIT = 0, 2, 0, 0, 1
KINDS, ORDERS = ["lu", "ilu0", "ic0", "triangle"], ["nd", "amd", "natural"]


class Sized(C.Structure):
    """A structure that begins with its size."""

    def __init__(self, **fields):
        super().__init__(struct_size=C.sizeof(self), **fields)


class MatrixInfo(Sized):
    _fields_ = [("struct_size", C.c_size_t), ("format", C.c_int), ("scalar", C.c_int)] + [(name, C.c_int64) for name in (
        "nrows", "ncols", "nnz", "nlower", "nupper", "ndiagonal", "missing", "longest", "bytes")]


class ReadOptions(Sized):
    _fields_ = [("struct_size", C.c_size_t), ("context", C.c_void_p), ("allow", C.c_int),
                ("seed", C.c_uint64), ("scalar", C.c_int), ("progress", C.c_void_p),
                ("user", C.c_void_p)]


class FactorOptions(Sized):
    _fields_ = [("struct_size", C.c_size_t), ("kind", C.c_int), ("order", C.c_int),
                ("leaves", C.c_int), ("threshold", C.c_double), ("unscaled", C.c_int),
                ("add_diagonal", C.c_int), ("progress", C.c_void_p), ("user", C.c_void_p)]


class FactorsInfo(Sized):
    _fields_ = [("struct_size", C.c_size_t), ("kind", C.c_int), ("order", C.c_int), ("scalar", C.c_int), ("n", C.c_int64),
                ("nnz_L", C.c_int64), ("nnz_U", C.c_int64), ("diag_L", C.c_int),
                ("diag_U", C.c_int), ("supernodes", C.c_int64), ("tree_nodes", C.c_int64),
                ("L", C.c_void_p), ("U", C.c_void_p), ("others", C.c_void_p * 7)]


class LastError(C.Structure):
    _fields_ = [("status", C.c_int), ("row", C.c_int64), ("message", C.c_char_p)]


class BackwardError(Sized):
    _fields_ = [("struct_size", C.c_size_t), ("componentwise", C.c_double),
                ("normwise", C.c_double), ("row", C.c_int64), ("underflow_rows", C.c_int64),
                ("range", C.c_int), ("range_row", C.c_int64), ("range_column", C.c_int64)]


def find_library():
    here = os.path.dirname(os.path.abspath(__file__))
    found = glob.glob(os.path.join(here, "../build/src/libtrireme.so")) + ["libtrireme.so.0"]
    return os.environ.get("TRIREME_LIBRARY", found[0])


def open_library(path):
    global library
    library = C.CDLL(path)
    return library


def call(name, *arguments):
    if getattr(library, name)(*arguments):
        library.trs_last_error.restype = C.POINTER(LastError)
        raise RuntimeError(library.trs_last_error().contents.message.decode())


def read_matrix(entry):
    if entry.startswith("file:"):
        entry = os.path.join(os.environ.get("TRIREME_MATRICES", "."), entry[len("file:"):])
    A = C.c_void_p()
    call("trs_matrix_read", C.byref(A), entry.encode(), C.byref(ReadOptions(scalar=DOUBLE)))
    return A


def factor(entry):
    """The factors that "factor:KIND[:ORDER]:MATRIX" names, and what they are."""
    kind, entry = entry[len("factor:"):].split(":", 1)
    options = FactorOptions(kind=KINDS.index(kind))
    if entry.split(":")[0] in ORDERS:
        order, entry = entry.split(":", 1)
        options.order = 1 + ORDERS.index(order)
    A, F, info = read_matrix(entry), C.c_void_p(), FactorsInfo()
    call("trs_factor", C.byref(F), A, C.byref(options))
    library.trs_matrix_destroy(A)
    library.trs_factors_get_info(F, C.byref(info))
    return F, info


def pointers(T):
    """Row (or column) pointers, indices and values as ctypes arrays that live as long as T."""
    info, ptr, idx, val = MatrixInfo(), C.c_void_p(), C.c_void_p(), C.c_void_p()
    library.trs_matrix_get_info(T, C.byref(info))
    library.trs_matrix_get_arrays(T, C.byref(ptr), C.byref(idx), C.byref(val))
    vectors = info.nrows if info.format == CSR else info.ncols
    return (C.cast(ptr, C.POINTER(C.c_int64 * (vectors + 1))).contents,
            C.cast(idx, C.POINTER(C.c_int32 * info.nnz)).contents,
            C.cast(val, C.POINTER(C.c_double * info.nnz)).contents, info)
