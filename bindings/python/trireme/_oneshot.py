"""spsolve_triangular with SciPy's signature.

One right-hand side is solved straight from A's arrays.  For several, what was analysed is kept for
the next call (_kept.py).  Values are read anew in every call.
"""

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Optional, overload

import numpy as np

from . import _api, _kept
from ._arrays import SCALARS, Dense, contiguous, dense, library_of, overlaps, with_mask
from ._context import where
from ._library import StructureError, library, run
from ._matrix import Compressed, compressed, indexing_of, without_zeros
from ._plan import LONG_SOLVE, Plan, say_which_side
from ._words import Device, RightHandSides, Shaped, Uplo, is_sparse, named

if TYPE_CHECKING:
    import numpy.typing as npt

MANY = 16  # right-hand sides for which several threads are thought of


def _make(parts: Compressed, uplo: Uplo, unit: bool, device: Device) -> _kept.Entry:
    own = _kept.own_pattern(parts)
    made = Plan(own, uplo, unit_diagonal=unit, solves=1, copy=False, device=device)
    return _kept.Entry(made, own.ptr, own.idx, own.ptr.array.nbytes + own.idx.array.nbytes)


_once = library.trs_solve_once


def _solve_at_once(parts: Compressed, right: Dense, out: Any, uplo: Uplo, unit: bool) -> Any:
    """The solution for one right-hand side; None where something is wrong, which plans say better."""
    dtype = parts.val.dtype
    b, x = contiguous(right, dtype), dense(np.empty(right.shape, dtype))
    arguments = (x.address, b.address, _api.TRS_LOWER if uplo == "lower" else _api.TRS_UPPER,
                 _api.TRS_UNIT if unit else _api.TRS_NONUNIT,
                 _api.TRS_CSR if parts.format == "csr" else _api.TRS_CSC, SCALARS[dtype],
                 parts.shape[0], indexing_of(parts), parts.ptr.address, parts.idx.address,
                 parts.val.address)
    if parts.idx.shape[0] < LONG_SOLVE:
        status = _once(*arguments)
    else:
        status = run(lambda: (x, b, parts, _once(*arguments))[3], True)
    if status:
        return None
    if out is None:
        return x.array
    np.copyto(out, x.array)
    return out


def _solve(parts: Compressed, b: Any, out: Any, uplo: Uplo, unit: bool) -> Any:
    # One thread is done with few right-hand sides before several have found their levels.
    device: Device = "serial" if b.ndim == 1 or b.shape[1] < MANY else "auto"
    key = _kept.key_of(parts, uplo, unit, where(device, None))
    entry, _ = _kept.take(key, parts)
    if entry is None:
        entry = _make(parts, uplo, unit, device)
    else:
        entry.made._refresh(parts.val)
    x = entry.made.solve(b, out)
    entry.made._keep.forget_values()
    _kept.put(key, entry)
    return x


@lru_cache(maxsize=256)
def matrix_type(A: Any, b: Any, unit: bool) -> Any:
    """SciPy's type of the result, of which A's values have the precision, complex only if A is.

    SciPy divides by the diagonal first, which makes whole numbers float64; not by a unit one.
    """
    values = A if unit or A.kind not in "biu" else np.float64
    try:
        result = np.promote_types(np.promote_types(values, np.float32), b)
    except TypeError:
        result = None
    if result not in SCALARS:
        raise TypeError(f"A is {A} and b {b}: float64 and complex128 are the widest types, convert to one of "
                        "them")
    return result if A.kind == "c" else np.empty(0, result).real.dtype


@overload
def spsolve_triangular(A: Shaped, b: "npt.NDArray[Any]", lower: bool = True,
                       overwrite_A: bool = False, overwrite_b: bool = False,
                       unit_diagonal: bool = False) -> "npt.NDArray[Any]": ...


@overload
def spsolve_triangular(A: Shaped, b: RightHandSides, lower: bool = True, overwrite_A: bool = False,
                       overwrite_b: bool = False, unit_diagonal: bool = False) -> Any: ...


def spsolve_triangular(A: Any, b: Any, lower: bool = True, overwrite_A: bool = False,
                       overwrite_b: bool = False, unit_diagonal: bool = False) -> Any:
    """Solve ``A x = b`` for a triangular A; SciPy's function of this name, faster.

    Parameters
    ----------
    A : (n, n) sparse array or matrix
        CSR or CSC; other formats are converted with a SparseEfficiencyWarning.
    b : (n,) or (n, k) array_like
        Right-hand sides.
    lower : bool, optional
        Whether A is lower (the default) or upper triangular.
    overwrite_A : bool, optional
        Taken for SciPy's sake: A is never changed.
    overwrite_b : bool, optional
        Put the solution into b, if b has its type.
    unit_diagonal : bool, optional
        Take the diagonal for ones, whatever is stored.

    Returns
    -------
    x : (n,) or (n, k) array
        Of b's class, and of the type that NumPy promotes A's, float32 and b's to, where integers
        of A count as float64 unless `unit_diagonal` is set.

    Raises
    ------
    SingularMatrixError, StructureError
        Kinds of numpy.linalg.LinAlgError; `.row` says where.

    Notes
    -----
    One right-hand side is solved by one thread straight from A's arrays.  For several, the analysis
    is kept, for the last eight patterns, and found by the pattern of A; values are read
    anew.  `trireme.plan` saves all checks, and lets you choose.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp, trireme as tr
    >>> tr.spsolve_triangular(sp.csr_array(np.array([[2.0, 0], [1, 4]])), [2.0, 9])
    array([1., 2.])
    """
    if type(b) is not np.ndarray and is_sparse(b) and not is_sparse(A):
        raise TypeError(f"A is {named(A)} and b {named(b)}: the order is spsolve_triangular(A, b)")
    if not type(lower) is type(overwrite_A) is type(overwrite_b) is type(unit_diagonal) is bool:
        _check_flags(lower=lower, overwrite_A=overwrite_A, overwrite_b=overwrite_b,
                     unit_diagonal=unit_diagonal)
    right = dense(np.asarray(b) if isinstance(b, (list, tuple)) else b)
    uplo: Uplo = "lower" if lower else "upper"
    values = getattr(A, "dtype", None)
    if values is None:
        A = A if hasattr(A, "indptr") else np.asarray(A)
        values = A.data.dtype if hasattr(A, "indptr") else A.dtype
    if right.device is not None or not isinstance(values, np.dtype) or library_of(A) == "cupy":
        return _solve_elsewhere(A, b, right, uplo, unit_diagonal)
    _check_shapes(A, right)
    parts = compressed(A, matrix_type(values, right.dtype, unit_diagonal), stacklevel=3)
    if parts.val.device is not None:
        raise TypeError("A is on a GPU and b in host memory: copy one to the other's place")
    out = None
    if overwrite_b and right.writeable and not overlaps(right) and \
            right.dtype == np.promote_types(parts.val.dtype, right.dtype):
        out = right.array
    try:
        x = _solve_host(parts, right, b, out, uplo, unit_diagonal)
    except StructureError as error:
        clean = without_zeros(parts, uplo)
        if clean is None:
            say_which_side(error, "take one triangle with trireme.triangle, or factor A first "
                           "(trireme.lu, trireme.ilu0)", f"lower={not lower}")
            raise
        x = _solve_host(clean, right, b, out, uplo, unit_diagonal)
    if type(b) is np.ndarray or not isinstance(b, np.ndarray):
        return x
    return b if out is not None else with_mask(x, b) if isinstance(b, np.ma.MaskedArray) else x.view(type(b))


def _check_flags(**flags: Any) -> None:
    """As SciPy takes them: any value that is true or false, but no array and no word."""
    for name, value in flags.items():
        if isinstance(value, (list, tuple)) or getattr(value, "shape", ()) != ():
            raise TypeError(f"{name} is True or False, not {named(value)}: x is what the call returns; "
                            "pass overwrite_b=True to put it into b")
        if isinstance(value, (str, bytes)):
            more = ": lower=False solves with the upper triangle" if name == "lower" else ""
            raise TypeError(f"{name} is True or False, not {value!r}{more}")


def _check_shapes(A: Any, right: Dense) -> None:
    """SciPy's errors, in its words."""
    shape = A.shape
    if len(shape) != 2:
        raise ValueError(f"A must have two dimensions, but its shape is {shape}")
    if shape[0] != shape[1]:
        raise ValueError(f"A must be a square matrix but its shape is {shape}.")
    if len(right.shape) not in (1, 2):
        raise ValueError(f"b must have 1 or 2 dims but its shape is {right.shape}.")
    if right.shape[0] != shape[0]:
        raise ValueError("The size of the dimensions of A must be equal to the size of the first "
                         f"dimension of b but the shape of A is {shape} and the shape of b "
                         f"is {right.shape}.")


def _solve_host(parts: Compressed, right: Dense, b: Any, out: Any, uplo: Uplo, unit: bool) -> Any:
    if right.kind == "numpy" and (len(right.shape) == 1 or right.shape[1] == 1) and \
            (right.dtype.kind != "c" or parts.val.dtype.kind == "c"):
        x = _solve_at_once(parts, right, out, uplo, unit)
        if x is not None:
            return x
    return _solve(parts, right.array if right.kind == "numpy" else b, out, uplo, unit)


def _solve_elsewhere(A: Any, b: Any, right: Dense, uplo: Uplo, unit: bool) -> Any:
    """Of torch, or on a GPU: a plan for this call alone."""
    with Plan(A, uplo, unit_diagonal=unit, solves=1, copy=False) as made:
        x = made.solve(b)
        if right.device is not None:
            made.wait()
        return x


__all__ = ["spsolve_triangular", "_api"]
