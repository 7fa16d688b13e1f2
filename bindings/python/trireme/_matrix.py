"""Sparse matrices of SciPy, CuPy and torch as C matrices."""

import ctypes as C
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple, Optional, Tuple, Union

import numpy as np

from . import _api
from ._arrays import DTYPES, SCALARS, Dense, check_device_values, contiguous, dense, library_of, settle
from ._context import context_of
from ._library import MatrixHandle, StructureError, check, library, make_struct
from ._words import Shaped, Uplo, flag, is_path, named, pick, side

if TYPE_CHECKING:
    from scipy.sparse import csc_array, csr_array

UPLO = {"lower": _api.TRS_LOWER, "upper": _api.TRS_UPPER}


class Compressed(NamedTuple):
    """The three arrays of a CSR or CSC matrix."""

    format: str
    shape: Tuple[int, int]
    ptr: Dense
    idx: Dense
    val: Dense
    room: int = 0  # behind the last entry of the caller's arrays, as SciPy's prune takes away


def _torch_parts(A: Any) -> Tuple[str, Any, Any, Any]:
    import torch
    if A.layout == torch.sparse_csr:
        return "csr", A.crow_indices(), A.col_indices(), A.values()
    if A.layout == getattr(torch, "sparse_csc", None):
        return "csc", A.ccol_indices(), A.row_indices(), A.values()
    raise TypeError(f"a torch tensor of layout {A.layout}: use A.to_sparse_csr()")


def _refuse_others(A: Any) -> None:
    """An error that names what was given in place of a matrix."""
    if is_path(A):
        raise TypeError(f"A is {named(A)}: a matrix is wanted, trireme.read reads one from a file")
    if hasattr(A, "tocsr") or hasattr(A, "__array__") or \
            (isinstance(A, (list, tuple)) and A and isinstance(A[0], (list, tuple))):
        return
    raise TypeError(f"A is {named(A)}: a sparse matrix is wanted, such as SciPy's csr_array")


def _dense_matrix(A: Any) -> Any:
    made = np.asarray(A)
    if made.dtype.kind not in "biufc" or (made.dtype.itemsize > 8 and made.dtype.kind == "f"):
        value_type(made.dtype)  # raises
    return made


def _parts(A: Any, stacklevel: int) -> Tuple[str, Any, Any, Any, Any]:
    """Format, shape and the three arrays; other formats than CSR and CSC are converted."""
    if getattr(A, "format", None) in ("csr", "csc") and hasattr(A, "indptr"):
        return A.format, A.shape, A.indptr, A.indices, A.data
    if library_of(A) == "torch":
        return (*_torch_parts(A)[:1], tuple(A.shape), *_torch_parts(A)[1:])
    if hasattr(A, "to_scipy_sparse"):
        A = A.to_scipy_sparse()
    form = getattr(A, "format", "csr" if hasattr(A, "indptr") else None)
    if form not in ("csr", "csc") or not hasattr(A, "indptr"):
        from scipy.sparse import SparseEfficiencyWarning, csr_array
        _refuse_others(A)
        warnings.warn("CSC or CSR matrix format is required. Converting to CSR matrix.",
                      SparseEfficiencyWarning, stacklevel=stacklevel)
        A = A.tocsr() if hasattr(A, "tocsr") else _dense_matrix(A)
        if len(A.shape) != 2:
            raise ValueError(f"A must have two dimensions, but its shape is {tuple(A.shape)}")
        A, form = csr_array(A), "csr"
    return form, A.shape, A.indptr, A.indices, A.data


_INDEX_TYPES = {np.dtype(np.int32), np.dtype(np.int64)}


def kind_if_converted(A: Any) -> str:
    """What A is, if its arrays are not those of CSR or CSC and have an order of their own; else ""."""
    if isinstance(A, Compressed) or library_of(A) == "torch" or hasattr(A, "to_scipy_sparse") or \
            (hasattr(A, "indptr") and getattr(A, "format", "csr") in ("csr", "csc")):
        return ""
    form = getattr(A, "format", None)
    return f"a {form.upper()} matrix" if isinstance(form, str) else "a dense matrix"


def refuse_order(kind: str, remedy: str) -> None:
    """An array of values, where the matrix was converted: it is in another order than C's."""
    if kind:
        raise TypeError(f"an array of values, but {kind} gave the pattern, whose entries are kept in another "
                        f"order: {remedy}")


def values_in_pattern(parts: Compressed, mine: Compressed) -> Any:
    """The values of a matrix in the order of another's arrays; entries that it lacks are zeros."""
    if parts.shape != mine.shape:
        raise StructureError(f"the matrix is {' x '.join(map(str, parts.shape))}, and the one that was "
                             f"analysed {' x '.join(map(str, mine.shape))}: make a new plan")
    if parts.format == mine.format and np.array_equal(parts.ptr.array, mine.ptr.array) and \
            np.array_equal(parts.idx.array, mine.idx.array):
        return parts.val.array
    keys, given = (_row_and_column(each) for each in (mine, parts))
    order = np.argsort(keys, kind="stable")
    place = np.searchsorted(keys, given, sorter=order)  # the first of repeated entries
    found = place < keys.size
    found[found] = keys[order[place[found]]] == given[found]
    outside = given[~found & (parts.val.array != 0)]
    if outside.size:
        row, column = divmod(int(outside.min()), max(mine.shape[1], 1))
        error = StructureError(f"the matrix has entry ({row}, {column}) (0-based), which is not in the pattern "
                               "that was analysed: make a new plan")
        error.row = row
        raise error
    values = np.zeros(keys.shape, parts.val.dtype)
    np.add.at(values, order[place[found]], parts.val.array[found])
    return values


def _row_and_column(parts: Compressed) -> Any:
    """A number for the place of each entry, in the order of rows."""
    ptr, idx = parts.ptr.array, parts.idx.array.astype(np.int64)
    major = np.repeat(np.arange(ptr.size - 1, dtype=np.int64), np.diff(ptr))
    return major * parts.shape[1] + idx if parts.format == "csr" else idx * parts.shape[1] + major


def _index_array(x: Any) -> Dense:
    made = dense(x)
    if made.dtype not in _INDEX_TYPES:
        if made.device is not None:
            raise TypeError(f"indices of type {made.dtype} in device memory: int32 or int64 is wanted, "
                            "convert them there")
        given = made.array
        with np.errstate(invalid="ignore"):
            made = dense(given.astype(np.int64))
        if not np.array_equal(made.array, given):
            raise ValueError(f"indptr or indices, of type {given.dtype}, have values that are no "
                             "whole numbers below 2^63")
    if made.device is None:
        return contiguous(made)
    if len(made.shape) == 1:
        check_device_values(made, "indices", made.dtype)
    return made


def value_type(dtype: Any) -> Any:
    """The type that values of a dtype are solved in: integers become float64."""
    if isinstance(dtype, np.dtype) and dtype in SCALARS:
        return dtype
    dtype = np.dtype(dtype).newbyteorder("=")
    if dtype in SCALARS:
        return dtype
    if dtype.kind in "biu":
        return np.dtype("f8")
    if dtype == np.float16:
        return np.dtype("f4")
    raise TypeError(f"values of type {dtype}: float32, float64, complex64 and complex128 can be "
                    "used, and what converts to them without loss")


def compressed(A: Any, dtype: Any = None, stacklevel: int = 4) -> Compressed:
    """The arrays of A, in the C library's types; copied only where the types differ."""
    form, shape, ptr, idx, val = _parts(A, stacklevel + 1)
    if len(shape) != 2:
        raise ValueError(f"A must have two dimensions, but its shape is {tuple(shape)}")
    ptr, idx, values = _index_array(ptr), _index_array(idx), dense(val)
    wanted = value_type(values.dtype if dtype is None else dtype)
    if values.dtype.kind == "c" and wanted.kind != "c":
        raise TypeError(f"values of type {values.dtype} would lose their imaginary parts: pass "
                        f"dtype={np.promote_types(wanted, np.complex64).name!r}")
    if values.device is None:
        values = contiguous(values, wanted)
    else:
        check_device_values(values, "values", wanted)
    if not (ptr.device == idx.device == values.device):
        raise TypeError("indptr, indices and data lie in different memories: put all on one device")
    nvec = shape[0] if form == "csr" else shape[1]
    if ptr.shape != (nvec + 1,) or idx.shape != values.shape:
        raise ValueError(f"indptr has shape {ptr.shape}, indices {idx.shape} and data "
                         f"{values.shape}: {(nvec + 1,)} and two of one length are wanted")
    if values.device is None and nvec and ptr.array.item(0) == 1:
        raise ValueError("indptr begins with 1, as arrays that count from 1 do: pass indptr - 1 and "
                         "indices - 1")
    room = 0
    if values.device is None:
        count = ptr.array.item(-1)
        room = idx.shape[0] - count if count >= 0 else 0
        if room < 0:
            raise ValueError(f"indptr ends with {count}, but indices and data have {idx.shape[0]} entries")
        if room:
            idx, values = dense(idx.array[:count]), dense(values.array[:count])
    return Compressed(form, (int(shape[0]), int(shape[1])), ptr, idx, values, room)


def without_room(values: Any, nnz: int, room: int) -> Any:
    """Of values as long as the matrix's data were, (nnz + room,) or (count, nnz + room), the entries."""
    shape = getattr(values, "shape", None)
    return values[..., :nnz] if room and shape and shape[-1] == nnz + room else values


def _own(x: Dense) -> Dense:
    return dense(x.array.copy()) if x.device is None else x


def indexing_of(parts: Compressed) -> int:
    """The widths of ptr and idx, as C takes them."""
    return (_api.TRS_PTR32 if parts.ptr.dtype.itemsize == 4 else _api.TRS_PTR64) | \
        (_api.TRS_IDX32 if parts.idx.dtype.itemsize == 4 else _api.TRS_IDX64)


class Matrix:
    """A C matrix that borrows arrays which this object keeps: its own copies, or the caller's."""

    def __init__(self, parts: Compressed, copy: bool, device: str = "auto",
                 values: bool = True) -> None:
        ptr, idx, val = parts.ptr, parts.idx, parts.val
        if copy:
            ptr, idx, val = _own(ptr), _own(idx), _own(val) if values else val
        self.parts: Any = Compressed(parts.format, parts.shape, ptr, idx, val, parts.room)
        self.val: Any = val
        self.count, self.copied = val.shape, copy
        self.handle = MatrixHandle()
        indexing = indexing_of(parts)
        form = _api.TRS_CSR if parts.format == "csr" else _api.TRS_CSC
        scalar = SCALARS[val.dtype]
        if val.device is None:
            check(library.trs_matrix_create(C.byref(self.handle), form, scalar, *parts.shape,
                                            indexing, ptr.address, idx.address, val.address,
                                            _api.TRS_BORROW))
        else:
            settle(val)
            check(library.trs_matrix_create_device(
                C.byref(self.handle), context_of(device, None), form, scalar, *parts.shape,
                idx.shape[0], indexing, ptr.address, idx.address, val.address))

    def check_count(self, val: Dense) -> None:
        if val.shape != self.count:
            raise ValueError(f"{val.shape[0] if val.shape else 0} values for a pattern of "
                             f"{self.count[0]} entries")

    def set_values(self, val: Dense) -> None:
        """New values: into the own copy, or the caller's array in place of the one before."""
        self.check_count(val)
        if self.copied and val.device is None:
            np.copyto(self.val.array, val.array, casting="same_kind")
            val = self.val
        check(library.trs_matrix_set_values(self.handle, val.address))
        self.val = val

    def forget_values(self) -> None:
        """Lets go of the caller's arrays: new values must come before C reads any."""
        self.parts = self.val = None


def matrix_arrays(A: Any) -> Tuple[str, Tuple[int, int], np.ndarray, np.ndarray, np.ndarray]:
    """Format, shape and copies of the arrays of a C matrix in host memory."""
    info = make_struct(_api.trs_matrix_info)
    check(library.trs_matrix_get_info(A, C.byref(info)))
    ptr, idx, val = C.c_void_p(), C.c_void_p(), C.c_void_p()
    check(library.trs_matrix_get_arrays(A, C.byref(ptr), C.byref(idx), C.byref(val)))
    form = "csr" if info.format == _api.TRS_CSR else "csc"
    nvec = info.nrows if form == "csr" else info.ncols
    narrow = np.int32 if info.nnz < 2**31 else np.int64
    return (form, (info.nrows, info.ncols), copy_of(ptr, nvec + 1, np.int64).astype(narrow),
            copy_of(idx, info.nnz, np.int32), copy_of(val, info.nnz, DTYPES[info.scalar]))


def without_zeros(parts: Compressed, uplo: Uplo) -> Optional[Compressed]:
    """The triangle of a matrix whose entries on the other side add up to zeros, else None."""
    matrix = Matrix(parts, copy=False)  # named, so that it outlives the call: its handle keeps nothing
    form, shape, ptr, idx, val = matrix_arrays(matrix.handle)
    vector = np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))
    across = idx > vector if (uplo == "lower") == (form == "csr") else idx < vector
    if not across.any() or val[across].any():
        return None
    keep = ~across
    own = np.concatenate([[0], np.cumsum(keep)]).astype(ptr.dtype)[ptr]
    return Compressed(form, shape, dense(own), dense(idx[keep]), dense(val[keep]))


def copy_of(pointer: Any, count: int, dtype: Any) -> np.ndarray:
    """A copy of count elements of C memory."""
    made = np.empty(count, dtype)
    address = pointer if isinstance(pointer, int) else pointer.value
    if count:
        C.memmove(made.ctypes.data, address, made.nbytes)
    return made


def to_scipy(A: Any) -> Any:
    """A C matrix as SciPy's csr_array or csc_array."""
    from scipy.sparse import csc_array, csr_array
    form, shape, ptr, idx, val = matrix_arrays(A)
    return (csr_array if form == "csr" else csc_array)((val, idx, ptr), shape=shape)


def matrix_of(A: Any, dtype: Optional[Any] = None, stacklevel: int = 4) -> Matrix:
    """A's arrays, borrowed for a call that copies what it needs."""
    return Matrix(compressed(A, dtype, stacklevel + 1), copy=False)


def triangle(A: Shaped, uplo: Optional[Uplo] = None, *, lower: Optional[bool] = None,
             add_diagonal: bool = False) -> "Union[csr_array, csc_array]":
    """The lower or upper triangle of a matrix, with its diagonal.

    Parameters
    ----------
    A : (n, n) sparse array or matrix
        As `trireme.plan` takes it.
    uplo : {"lower", "upper"}, optional
        Which; without it the lower one.
    lower : bool, optional
        In place of `uplo`.
    add_diagonal : bool, optional
        Give rows without a diagonal entry, or with a zero one, the sum of the absolute values of
        the triangle's row, at least 1, so that it can be solved with.

    Returns
    -------
    csr_array or csc_array
    """
    which = pick(UPLO, "uplo", side(uplo, lower))
    matrix, handle = matrix_of(A), MatrixHandle()
    check(library.trs_matrix_triangle(C.byref(handle), matrix.handle, which,
                                      int(flag("add_diagonal", add_diagonal))))
    return to_scipy(handle)
