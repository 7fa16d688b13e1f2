"""Batches: many systems with one pattern."""

import ctypes as C
from typing import Any, Dict, Optional, Union, overload

import numpy as np

from . import _api
from ._arrays import Dense, assign, contiguous, dense, give_back, like, on_host
from ._context import Lock, check_threads, context_of
from ._factors import Factors, factors_again
from ._library import (PlanHandle, Refusal, StructureError, check, error_of, library, make_struct,
                       run)
from ._matrix import UPLO, kind_if_converted, matrix_of, refuse_order, without_room
from ._plan import LONG_SOLVE, TRANS, Life, struct_dict, tell_triangle
from ._words import Device, Shaped, Trans, Uplo, device_name, flag, named, pick, side, whole


_PIVOTS = (_api.TRS_ERROR_ZERO_PIVOT, _api.TRS_ERROR_NOT_FINITE)


def _in_order(x: Dense) -> bool:
    """Whether its elements follow each other in C order."""
    if 0 in x.shape:  # NumPy's strides of those are any
        return True
    step = x.dtype.itemsize
    for length, stride in zip(x.shape[::-1], x.strides[::-1]):
        if length > 1 and stride != step:
            return False
        step *= length
    return bool(x.address % x.dtype.itemsize == 0)


class Batch(Life):
    """Many systems op(T) x = b with one pattern; `trireme.batch` makes it."""

    def __init__(self, A: Any, count: int, uplo: Uplo = "lower", trans: Trans = "N", *,
                 unit_diagonal: bool = False, take_triangle: bool = False, nrhs: int = 1,
                 device: Device = "auto", threads: Optional[int] = None) -> None:
        unit_diagonal = flag("unit_diagonal", unit_diagonal)
        take_triangle = flag("take_triangle", take_triangle)
        matrix = matrix_of(A)
        parts = matrix.parts
        self._converted = kind_if_converted(A)
        if parts.val.device is not None:
            raise TypeError("a batch takes a matrix in host memory")
        self._begin(count, parts.shape[0], parts.val.dtype, device, threads)
        self._nnz, self._room = parts.idx.shape[0], parts.room
        options = make_struct(_api.trs_batch_options, take_triangle=int(take_triangle),
                              nrhs=whole("nrhs", nrhs))
        run(lambda: check(library.trs_batch_create(
            C.byref(self._handle), context_of(device, threads), matrix.handle,
            pick(UPLO, "uplo", uplo), pick(TRANS, "trans", trans),
            _api.TRS_UNIT if unit_diagonal else _api.TRS_NONUNIT, self._count,
            C.byref(options)), matrix.handle), self._nnz >= LONG_SOLVE // 10)

    def _begin(self, count: int, n: int, dtype: Any, device: Device,
               threads: Optional[int]) -> None:
        self._begin_life()
        self._handle, self._keep = PlanHandle(), None
        self._lock, self._refusal = Lock(), Refusal("batch")
        self._on_gpu = device_name(device, several=False).startswith("cuda")
        check_threads(device, threads)
        self._count, self._n, self._dtype = whole("count", count, 0, 2**31 - 1), n, dtype

    def __reduce__(self) -> Any:
        raise TypeError("a batch cannot be pickled or copied: pickle the matrix or the factors, and "
                        "call trireme.batch with them")

    def _array(self, given: Any, name: str, shape: Any) -> Dense:
        """An array in C order, of the batch's type; JAX's on a GPU in host memory.

        A complex b of a real batch stays complex: it is twice as many real right-hand sides.
        """
        if not hasattr(given, "__array__") and not isinstance(given, (list, tuple)):
            raise TypeError(f"{name} is {named(given)}: an array is wanted")
        source = on_host(dense(given))
        if source.shape[:len(shape)] != shape or len(source.shape) > 3:
            raise ValueError(f"{name} has shape {source.shape}: {shape} is wanted, systems first")
        dtype = self._dtype
        if name == "b" and source.dtype.kind == "c":
            dtype = np.promote_types(dtype, np.complex64)
        if source.dtype != dtype and not np.can_cast(source.dtype, dtype, "same_kind"):
            given = source.dtype.name
            wanted = self._with_type(given) if source.dtype.kind == "c" else \
                "an array of numbers is wanted"
            raise TypeError(f"{name} is of type {source.dtype}, the batch of {dtype}: {wanted}")
        if source.device is None:
            return contiguous(source, dtype)._replace(kind=source.kind)
        self._check_place(source, name)
        if source.dtype == dtype and _in_order(source):
            return source
        fresh = like(source._replace(strides=(2, 1)), dtype)
        assign(fresh, source)
        return fresh

    @staticmethod
    def _with_type(given: str) -> str:
        return f"make the batch of a matrix of that type, L.astype({given!r})"

    def _check_place(self, x: Dense, name: str) -> None:
        if not self._on_gpu:
            raise TypeError(f"{name} is on a GPU, the batch on the CPU: copy {name} to host memory, "
                            "or make the batch with device=\"cuda\"")

    def _info(self) -> Any:
        info = make_struct(_api.trs_batch_info)
        check(library.trs_batch_get_info(self._ready(), C.byref(info)))
        return info

    def _error(self, status: int) -> Optional[Exception]:
        """Of systems that cannot be solved, in the lock; every other failure is raised."""
        if status not in _PIVOTS:
            check(status)
            return None
        error: Any = error_of(status)
        error.system = int(self._info().first_fault)
        return error

    @property
    def info(self) -> Dict[str, Any]:
        """Sizes, method, and the systems that cannot be solved, by the names of trs_batch_info."""
        with self._lock.lock:
            return struct_dict(self._info())

    def update(self, values: Any, *, check_pivots: bool = True) -> None:
        """The values of all systems.

        Parameters
        ----------
        values : (count, nnz) array
            Row s has those of system s, in the order of the `data` of the CSR or CSC matrix that the batch
            was made from.  They are copied.  With device="cuda" they may be CuPy's or torch's on the GPU.
        check_pivots : bool, optional
            Raise SingularMatrixError if a diagonal entry of a system is zero or not finite; its
            `system` and `row` are the first one's.  False: `solve` returns NaN for these systems.
            All others are solved in either case.

        Notes
        -----
        After any other exception the batch solves nothing until an update succeeds.
        """
        checks = flag("check_pivots", check_pivots)
        with self._refusal, self._lock.lock:
            self._check_unshared()
            refuse_order(self._converted, "make the batch of A.tocsr(), and pass values in its order")
            values = without_room(values, self._nnz, self._room)
            own = self._array(values, "values", (self._count, self._nnz))
            self._follow_stream(own)
            error = self._error(library.trs_batch_update(self._ready(), own.address, 0))
        if error is not None and checks:
            raise error

    def solve(self, b: Any, out: Optional[Any] = None, *, check_pivots: bool = True) -> Any:
        """Solve every system.

        Parameters
        ----------
        b : (count, n) or (count, n, k) array
            Right-hand sides of each system, which are rounded to the batch's precision.  With
            device="cuda" it may be CuPy's or torch's on the GPU, and stays there: the call then
            only launches, in the library's current stream.
        out : array of b's shape, optional
            Where the solution goes: C-contiguous, of x's dtype, in b's memory; `b` itself for a
            solve in place.
        check_pivots : bool, optional
            Raise SingularMatrixError if a system cannot be solved; its `system` and `row` are the
            first one's.  False: its x is NaN.

        Returns
        -------
        x : array of b's shape
            Of b's library, or `out`.  Its dtype is the batch's, or the complex one of the same
            precision where b is complex.
        """
        checks = flag("check_pivots", check_pivots)
        source = self._array(b, "b", (self._count, self._n))
        if out is None:
            target = like(source._replace(strides=(2, 1)), source.dtype)
        else:
            target = self._place_for(out, source)
            if target.address != source.address and self._share(target, source):
                source = dense(source.array.copy() if source.kind != "torch" or source.device is None
                               else source.array.clone())
        nrhs = 1 if len(source.shape) == 2 else source.shape[2]
        nrhs *= source.dtype.itemsize // self._dtype.itemsize  # 2: the parts of a complex b
        with self._lock.lock:
            self._refusal.check()
            self._follow_stream(target)
            error = self._error(library.trs_batch_solve(
                self._ready(), target.address, nrhs, 0, source.address, nrhs, 0, nrhs,
                _api.TRS_ROW_MAJOR))
        if error is not None and checks:
            raise error
        return give_back(target, b) if out is None else out

    def _place_for(self, out: Any, source: Dense) -> Dense:
        wanted = (f"out must be a writeable C-contiguous array of shape {source.shape} and type "
                  f"{source.dtype}")
        if not hasattr(out, "__array__"):
            raise ValueError(wanted)
        target = dense(out)
        if target.shape != source.shape or target.dtype != source.dtype or not _in_order(target) or \
                not target.writeable:
            raise ValueError(wanted)
        if target.device != source.device:
            raise TypeError("b and out lie in different memories: put both on one device")
        return target

    @staticmethod
    def _share(x: Dense, b: Dense) -> bool:
        size = x.dtype.itemsize * int(np.prod(x.shape))
        return bool(x.address < b.address + size and b.address < x.address + size)

    def __repr__(self) -> str:
        return f"<Batch of {self._count} systems, {self._n} x {self._n}, {self._nnz} entries>"


class FactorsBatch(Batch):
    """Many systems op(A) x = b with factors of one pattern; `trireme.batch` makes it of `Factors`."""

    def __init__(self, factors: Factors, count: int, trans: Trans = "N", *,
                 hermitian: bool = False, nrhs: int = 1, device: Device = "auto",
                 threads: Optional[int] = None) -> None:
        factors._refusal.check()
        if factors._device is not None:
            raise TypeError("a batch takes factors in host memory")
        # Of factors with the matrices that the caller sees, whose order of entries is theirs.
        L, U = factors.L, factors.U
        seen = factors_again(L, U, factors.perm_r, factors.perm_c, factors.scale_r, factors.scale_c,
                             factors.unit_L, factors.unit_U)
        self._begin(count, L.shape[0], factors.dtype, device, threads)
        self._nnz_L, self._nnz_U = L.nnz, U.nnz
        self._hermitian = flag("hermitian", hermitian) or factors.kind in ("ic0", "bic0")
        options = make_struct(_api.trs_batch_options, nrhs=whole("nrhs", nrhs),
                              hermitian=int(self._hermitian))
        run(lambda: check(library.trs_batch_create_factors(
            C.byref(self._handle), context_of(device, threads), seen._handle,
            pick(TRANS, "trans", trans), self._count, C.byref(options))),
            L.nnz + U.nnz >= LONG_SOLVE // 10)

    @staticmethod
    def _with_type(given: str) -> str:
        return f"make the batch of factors of a matrix of that type, A.astype({given!r})"

    def update(self, L_values: Any, U_values: Any = None, *, check_pivots: bool = True) -> None:
        """The values of all systems.

        Parameters
        ----------
        L_values, U_values : (count, nnz) array
            Row s has those of system s, in the order of ``F.L.data`` and ``F.U.data``, of the
            factors that the batch was made from; a unit diagonal is there, and is not read.  They
            are copied.  U_values is None where U = L^H: of `ic0`, or with hermitian=True.  With
            device="cuda" both may be CuPy's or torch's on the GPU.
        check_pivots : bool, optional
            Raise SingularMatrixError if a diagonal entry of a system is zero or not finite; its
            `system` and `row` are the first one's, and the message names the factor.  False:
            `solve` returns NaN for these systems.  All others are solved in either case.

        Notes
        -----
        After any other exception the batch solves nothing until an update succeeds.
        """
        checks = flag("check_pivots", check_pivots)
        with self._refusal, self._lock.lock:
            self._check_unshared()
            own = self._array(L_values, "L_values", (self._count, self._nnz_L))
            self._follow_stream(own)
            if self._hermitian:
                if U_values is not None:
                    raise ValueError("U is L^H in this batch: its values are those of L, leave "
                                     "U_values out")
                other, address = own, None
            else:
                other = self._array(U_values, "U_values", (self._count, self._nnz_U))
                self._follow_stream(other)
                address = other.address
            error = self._error(library.trs_batch_update_factors(
                self._ready(), own.address, 0, address, 0))
        if error is not None and checks:
            raise error

    def __repr__(self) -> str:
        return (f"<FactorsBatch of {self._count} systems, {self._n} x {self._n}, "
                f"{self._nnz_L + self._nnz_U} entries in L and U>")


@overload
def batch(A: Factors, count: int, *, trans: Trans = "N", hermitian: bool = False, nrhs: int = 1,
          device: Device = "auto", threads: Optional[int] = None) -> FactorsBatch: ...


@overload
def batch(A: Shaped, count: int, uplo: Optional[Uplo] = None, trans: Trans = "N", *,
          lower: Optional[bool] = None, unit_diagonal: bool = False, take_triangle: bool = False,
          nrhs: int = 1, device: Device = "auto", threads: Optional[int] = None) -> Batch: ...


def batch(A: "Union[Shaped, Factors]", count: int, uplo: Optional[Uplo] = None, trans: Trans = "N",
          *, lower: Optional[bool] = None, unit_diagonal: bool = False, take_triangle: bool = False,
          hermitian: bool = False, nrhs: int = 1, device: Device = "auto",
          threads: Optional[int] = None) -> Batch:
    """Many systems with one pattern, each with values and right-hand sides of its own.

    Parameters
    ----------
    A : sparse matrix, or Factors
        The pattern, and the type; its values are not used.  Of factors the patterns of L and U,
        and the permutations and scalings, which all systems share.
    count : int
        Systems.  Of 0 systems `update` takes a (0, nnz) array and `solve` returns an empty one.
    uplo, lower, unit_diagonal, take_triangle
        Of a matrix, as in `plan`.
    hermitian : bool, optional
        Of factors: U = L^H, and `update` takes the values of L alone; so it is of `ic0` without it.
    trans, device, threads
        As in `plan`; device is "auto" (the CPU), "cpu", "serial", or "cuda" for one GPU.
    nrhs : int, optional
        Right-hand sides per system that solves will have; any number is solved.

    Returns
    -------
    Batch or FactorsBatch
        `update(values)`, of factors `update(L_values, U_values)`, takes the values, `solve(b)`
        solves ``op(A) x = b``.

    Notes
    -----
    The bits of a system's x do not depend on the values of the other systems.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp, trireme as tr
    >>> L = sp.csr_array(np.array([[2.0, 0], [1, 4]]))
    >>> B = tr.batch(L, 2)
    >>> B.update(np.array([[2.0, 1, 4], [1, 1, 1]]))        # (count, nnz)
    >>> B.solve(np.array([[2.0, 9], [3, 5]]))               # (count, n)
    array([[1., 2.],
           [3., 2.]])
    >>> F = tr.lu(sp.csr_array(np.array([[4.0, 1], [2, 3]])))
    >>> B = tr.batch(F, 2)
    >>> B.update(np.stack([F.L.data] * 2), np.stack([F.U.data] * 2))
    >>> B.solve(np.array([[6.0, 8], [5, 5]]))
    array([[1., 2.],
           [1., 1.]])
    """
    if isinstance(A, Factors):
        for name, given in (("uplo", uplo), ("lower", lower),
                            ("unit_diagonal", flag("unit_diagonal", unit_diagonal) or None),
                            ("take_triangle", flag("take_triangle", take_triangle) or None)):
            if given is not None:
                raise TypeError(f"{name} is for a batch of a matrix: leave it out for factors")
        return FactorsBatch(A, count, trans, hermitian=hermitian, nrhs=nrhs, device=device,
                            threads=threads)
    if flag("hermitian", hermitian):
        raise TypeError("hermitian is for a batch of factors: leave it out for a matrix")
    which = side(uplo, lower)
    try:
        return Batch(A, count, which, trans, unit_diagonal=unit_diagonal,
                     take_triangle=take_triangle, nrhs=nrhs, device=device, threads=threads)
    except StructureError as error:
        tell_triangle(error, A, which)
        raise
