"""Batches: many systems with one pattern."""

import ctypes as C
from typing import TYPE_CHECKING, Any, Optional

import numpy as np

from . import _api
from ._context import Lock, context_of
from ._library import Refusal, check, library, make_struct, run
from ._matrix import UPLO, matrix_of
from ._plan import LONG_SOLVE, TRANS
from ._words import Device, Shaped, Trans, Uplo, named, pick, side, whole

if TYPE_CHECKING:
    import numpy.typing as npt


class Batch:
    """Many systems op(T) x = b with one pattern; `trireme.batch` makes it."""

    def __init__(self, A: Any, count: int, uplo: Uplo = "lower", trans: Trans = "N", *,
                 unit_diagonal: bool = False, take_triangle: bool = False, nrhs: int = 1,
                 device: Device = "auto", threads: Optional[int] = None) -> None:
        self._handle, self._lock, self._refusal = C.c_void_p(), Lock(), Refusal()
        matrix = matrix_of(A)
        parts = matrix.parts
        if parts.val.device is not None:
            raise TypeError("a batch takes a matrix in host memory")
        self._count, self._n = whole("count", count), parts.shape[0]
        self._nnz, self._dtype = parts.idx.shape[0], parts.val.dtype
        options = make_struct(_api.trs_batch_options, take_triangle=int(take_triangle),
                              nrhs=whole("nrhs", nrhs))
        run(lambda: check(library.trs_batch_create(
            C.byref(self._handle), context_of(device, threads), matrix.handle,
            pick(UPLO, "uplo", uplo), pick(TRANS, "trans", trans),
            _api.TRS_UNIT if unit_diagonal else _api.TRS_NONUNIT, self._count,
            C.byref(options)), matrix.handle), self._nnz >= LONG_SOLVE // 10)

    def __del__(self, destroy: Any = library.trs_batch_destroy) -> None:
        if getattr(self, "_handle", None):
            destroy(self._handle)

    def _array(self, given: Any, name: str, shape: Any) -> Any:
        """A contiguous array of the batch's type."""
        if not hasattr(given, "__array__") and not isinstance(given, (list, tuple)):
            raise TypeError(f"{name} is {named(given)}: an array is wanted")
        made = np.asarray(given)
        if made.shape[:len(shape)] != shape or made.ndim > 3:
            raise ValueError(f"{name} has shape {made.shape}: {shape} is wanted, systems first")
        if made.dtype != self._dtype and not np.can_cast(made.dtype, self._dtype, "same_kind"):
            raise TypeError(f"{name} is of type {made.dtype}: the batch has {self._dtype}")
        return np.ascontiguousarray(made, self._dtype)

    @staticmethod
    def _tell(status: int, check_pivots: bool) -> None:
        if check_pivots or status not in (_api.TRS_ERROR_ZERO_PIVOT, _api.TRS_ERROR_NOT_FINITE):
            check(status)

    def update(self, values: Any, *, check_pivots: bool = True) -> None:
        """The values of all systems.

        Parameters
        ----------
        values : (count, nnz) array
            Row s has those of system s, in the order of the `data` of the matrix that the batch was
            made from.  They are copied.
        check_pivots : bool, optional
            Raise SingularMatrixError if a diagonal entry of a system is zero or not finite; it names
            system and row.  False: `solve` returns NaN for these systems.  All others are solved in
            either case.
        """
        own = self._array(values, "values", (self._count, self._nnz))
        with self._refusal, self._lock.lock:
            status = library.trs_batch_update(self._handle, own.ctypes.data, 0)
            if status not in (_api.TRS_ERROR_ZERO_PIVOT, _api.TRS_ERROR_NOT_FINITE):
                check(status)
        self._tell(status, check_pivots)

    def solve(self, b: Any, out: Optional[Any] = None, *, check_pivots: bool = True) -> "npt.NDArray[Any]":
        """Solve every system.

        Parameters
        ----------
        b : (count, n) or (count, n, k) array
            Right-hand sides of each system.
        out : array of b's shape, optional
            Where the solution goes: C-contiguous, of the batch's dtype; `b` itself for a solve in
            place.
        check_pivots : bool, optional
            Raise SingularMatrixError if a system cannot be solved.  False: its x is NaN.

        Returns
        -------
        x : array of b's shape
        """
        own = self._array(b, "b", (self._count, self._n))
        if out is None:
            out = np.empty(own.shape, self._dtype)
        elif not isinstance(out, np.ndarray) or out.shape != own.shape or \
                out.dtype != self._dtype or not out.flags.c_contiguous or not out.flags.writeable:
            raise ValueError(f"out must be a writeable C-contiguous array of shape {own.shape} and "
                             f"type {self._dtype}")
        if own is not out and np.shares_memory(own, out):
            own = own.copy()
        nrhs = 1 if own.ndim == 2 else own.shape[2]
        with self._lock.lock:
            self._refusal.check("batch")
            status = library.trs_batch_solve(self._handle, out.ctypes.data, nrhs, 0,
                                             own.ctypes.data, nrhs, 0, nrhs, _api.TRS_ROW_MAJOR)
        self._tell(status, check_pivots)
        return out

    def __repr__(self) -> str:
        return f"<Batch of {self._count} systems, {self._n} x {self._n}, {self._nnz} entries>"


def batch(A: Shaped, count: int, uplo: Optional[Uplo] = None, trans: Trans = "N", *,
          lower: Optional[bool] = None, unit_diagonal: bool = False, take_triangle: bool = False,
          nrhs: int = 1, device: Device = "auto", threads: Optional[int] = None) -> Batch:
    """Many systems with one pattern, each with values and right-hand sides of its own, on the CPU.

    Parameters
    ----------
    A : sparse matrix
        The pattern, and the type; its values are not used.
    count : int
        Systems.
    uplo, trans, lower, unit_diagonal, take_triangle, device, threads
        As in `plan`; device is "auto", "cpu" or "serial".
    nrhs : int, optional
        Right-hand sides per system that solves will have; any number is solved.

    Returns
    -------
    Batch
        `update(values)` takes the values, `solve(b)` solves.

    Notes
    -----
    The bits of a system's x do not depend on the other systems.

    Examples
    --------
    >>> B = tr.batch(L, len(values))
    >>> B.update(values)                      # (count, nnz)
    >>> x = B.solve(b)                        # (count, n)
    """
    return Batch(A, count, side(uplo, lower), trans, unit_diagonal=unit_diagonal,
                 take_triangle=take_triangle, nrhs=nrhs, device=device, threads=threads)
