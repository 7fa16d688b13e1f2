"""Factors: ILU(0), IC(0), LU, or those the caller has; solves by both sweeps."""

import ctypes as C
import warnings
import weakref
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Optional, Tuple, Union, overload

import numpy as np

from . import _api
from ._arrays import (DTYPES, Dense, check_device_values, dense, keep_stream, settle, stream_address,
                      whole_numbers)
from ._context import Lock, check_threads, context_of
from ._kept import own_pattern, same_pattern, values_of_same
from ._library import (FactorsHandle, PlanHandle, Refusal, Shared, SingularMatrixError, StructureError,
                       Told, UnsupportedError, check, check_file, features, library, make_struct, run,
                       text)
from ._matrix import UPLO, Compressed, Matrix, compressed, copy_of, matrix_of, to_scipy
from ._plan import LONG_ANALYSIS, STORE, TRANS, Solver, make_options, place_of
from ._words import (Device, Method, Order, Path, Progress, RightHandSides, Shaped, Store, Trans, Uplo, flag,
                     is_sparse, named, pick, real, whole, word)

if TYPE_CHECKING:
    import numpy.typing as npt
    from scipy.sparse import csc_array, csr_array
    from scipy.sparse.linalg import LinearOperator

KINDS = {_api.TRS_FACTOR_LU: "lu", _api.TRS_FACTOR_ILU0: "ilu0", _api.TRS_FACTOR_IC0: "ic0",
         _api.TRS_FACTOR_TRIANGLE: "triangle", _api.TRS_FACTOR_BILU0: "bilu0",
         _api.TRS_FACTOR_BIC0: "bic0", _api.TRS_FACTOR_DILU: "dilu"}
ORDERS = {"default": _api.TRS_ORDER_DEFAULT, "nd": _api.TRS_ORDER_ND, "amd": _api.TRS_ORDER_AMD,
          "natural": _api.TRS_ORDER_NATURAL, "rcm": _api.TRS_ORDER_RCM,
          "colour": _api.TRS_ORDER_COLOUR, "colamd": _api.TRS_ORDER_COLAMD}

HOST = -1  # among the numbers of GPUs
LEAST, LEAST_SINGLE = 1e-6, 1e-3  # shares of pivots that lose half the digits, near enough


class FactorsPlan(Solver):
    """A plan for op(A) x = b by both sweeps over the factors; `Factors.plan` makes it."""

    _what = "the factors are"

    def __init__(self, factors: "Factors", trans: Trans = "N", *, device: Device = "auto",
                 threads: Optional[int] = None, method: Optional[Method] = None, nrhs: int = 1,
                 solves: int = 0, store: Store = "same", stream: Any = None,
                 progress: Optional[Progress] = None) -> None:
        factors._refusal.check()
        check_threads(device, threads)
        self._factors = factors
        trans, info = word(TRANS, "trans", trans), factors._info()
        place, address = place_of(device, factors._device), stream_address(stream)
        self._options: Dict[str, Any] = dict(device=place, threads=threads, method=method, nrhs=nrhs,
                                             solves=solves, store=store)
        nnz = info.nnz_L + info.nnz_U
        handle = PlanHandle()
        with Told(progress, "analysis") as told:
            options = make_options(told, method, nrhs, solves, store=pick(STORE, "store", store),
                                   stream=address)

            def analyze() -> None:
                with factors._lock.lock:
                    factors._refusal.check()
                    check(library.trs_analyze_factors(C.byref(handle), context_of(place, threads),
                                                      factors._handle, TRANS[trans], C.byref(options)))
                    super(FactorsPlan, self).__init__(
                        handle, factors, info.n, nnz, factors.dtype, trans, place.startswith("cuda"),
                        factors._device, stream)
                    self._refusal = factors._refusal
                    factors._followers.add(self)
            run(analyze, nnz >= LONG_ANALYSIS, told)

    def clone(self) -> "FactorsPlan":
        with self._factors._lock.lock:
            made = super().clone()
            self._factors._followers.add(made)
        return made

    clone.__doc__ = Solver.clone.__doc__

    def _follow(self, factors: C.c_void_p) -> None:
        """Inside the lock."""
        if self._handle:
            check(library.trs_update_factors(self._ready(), factors))

    def _analyze_again(self, factors: C.c_void_p) -> None:
        """Of factors with another pattern; inside the lock."""
        if not self._handle:
            return
        handle, given = PlanHandle(), self._options
        with Told(None, "analysis") as told:
            options = make_options(told, given["method"], given["nrhs"], given["solves"],
                                   store=STORE[given["store"]], stream=self._stream_now)
            check(library.trs_analyze_factors(
                C.byref(handle), context_of(given["device"], given["threads"]), factors,
                TRANS[self._trans], C.byref(options)))
        keep_stream(handle, self._stream)
        self._handle = handle

    def _with_type(self, name: str) -> str:
        return f"make the factors from a matrix of that type, A.astype({name!r})"

    def __reduce__(self) -> Any:
        return _plan_again, (self._factors, self._trans, self._options)


def _again(triangles: Any, order: Any) -> Any:
    """Factors of the L and U of the one and the permutations and scalings of the other info."""
    handle, T, P = FactorsHandle(), triangles, order
    check(library.trs_factors_create(C.byref(handle), T.L, T.diag_L, T.U, T.diag_U, P.row_perm, P.col_perm,
                                     P.row_scale, P.col_scale))
    return handle


def _plan_again(factors: "Factors", trans: Trans, options: Dict[str, Any]) -> FactorsPlan:
    return FactorsPlan(factors, trans, **options)


class Factors:
    """L and U of a matrix, with permutations and scalings; solves ``A x = b``.

    Made by `ilu0`, `ic0`, `lu`, `from_factors` and `read`.  The product is
    ``L U = (P_r D_r A D_c P_c^T)``, where row i of it is row ``perm_r[i]`` of A and column j is
    column ``perm_c[j]``.

    What is stored is an attribute (`nnz`, `shift`, `least_share`); what computes is a method
    (`condition()`).
    """

    def __init__(self, handle: C.c_void_p, keep: Any = None, device: Optional[int] = None) -> None:
        self._handle, self._keep, self._device = handle, keep, device
        info = self._info()
        self._shape: Tuple[int, int] = (int(info.n), int(info.n))
        self._dtype: Any = DTYPES[info.scalar]
        self._nnz = -1
        self._plans: Dict[str, FactorsPlan] = {}
        self._followers: "weakref.WeakSet[FactorsPlan]" = weakref.WeakSet()
        self._least_share, self._refusal = 1.0, Refusal("factors", "refactor")
        self._copied = ""  # the kind of the factors that these are a pickle's copy of
        self._given = False  # by the caller, who knows whether they are complete
        self._pattern: Any = None  # of A (csr or csc, ptr, idx), where SciPy left zeros out of L and U
        self._again: Dict[int, Matrix] = {}  # by GPU, that were refactored; of host memory HOST
        self._lock = Lock()  # held while L and U change, and while they are read

    def _info(self) -> Any:
        info = make_struct(_api.trs_factors_info)
        check(library.trs_factors_get_info(self._handle, C.byref(info)))
        return info

    @property
    def shape(self) -> Tuple[int, int]:
        """(n, n)."""
        return self._shape

    @property
    def dtype(self) -> "np.dtype[Any]":
        """The type of L and U."""
        found: "np.dtype[Any]" = self._dtype
        return found

    @property
    def nnz(self) -> int:
        """Entries of L and U together."""
        if self._nnz < 0:
            info = self._info()
            self._nnz = int(info.nnz_L + info.nnz_U)
        return self._nnz

    @property
    def kind(self) -> str:
        """"lu", "ilu0", "ic0" or "triangle"; of a file also "bilu0", "bic0" or "dilu".

        "given" of `from_factors`, which cannot tell complete factors from incomplete ones.
        """
        return self._copied or ("given" if self._given else KINDS[self._info().kind])

    @property
    def order(self) -> str:
        """The order of elimination, one of those that `lu` takes."""
        found = self._info().order
        return next(name for name, order in ORDERS.items() if order == found)

    @property
    def choice(self) -> str:
        """What `lu` chose by default, and why; "" for other factors."""
        return str(self._info().choice.decode())

    @property
    def shift(self) -> float:
        """`ic0` factored ``A + shift * diag(A)``; 0 if it factored A, and for other kinds."""
        return float(self._info().shift)

    @property
    def levels(self) -> int:
        """The levels of fill of `ilu0` and `ic0`; 0 for other kinds."""
        return int(self._info().levels)

    @property
    def L(self) -> "Union[csr_array, csc_array]":
        """A copy of the lower factor, a SciPy sparse array; a unit diagonal is written out."""
        with self._lock.lock:
            self._refusal.check()
            info = self._info()
            return _with_diagonal(to_scipy(C.c_void_p(info.L)), info.diag_L, "L")

    @property
    def U(self) -> "Union[csr_array, csc_array]":
        """A copy of the upper factor, a SciPy sparse array; a unit diagonal is written out."""
        with self._lock.lock:
            self._refusal.check()
            info = self._info()
            return _with_diagonal(to_scipy(C.c_void_p(info.U)), info.diag_U, "U")

    @property
    def unit_L(self) -> bool:
        """Whether the diagonal of L is ones."""
        return bool(self._info().diag_L)

    @property
    def unit_U(self) -> bool:
        """Whether the diagonal of U is ones."""
        return bool(self._info().diag_U)

    def _vector(self, name: str, dtype: Any) -> Any:
        info = self._info()
        pointer = getattr(info, name)
        return copy_of(pointer, info.n, dtype) if pointer else None

    @property
    def perm_r(self) -> "Optional[npt.NDArray[np.int32]]":
        """Row i of L U is row perm_r[i] of A; (n,) int32, or None for the identity."""
        return self._vector("row_perm", np.int32)

    @property
    def perm_c(self) -> "Optional[npt.NDArray[np.int32]]":
        """Column j of L U is column perm_c[j] of A; (n,) int32, or None for the identity."""
        return self._vector("col_perm", np.int32)

    @property
    def scale_r(self) -> "Optional[npt.NDArray[np.float64]]":
        """Row scalings, by the rows of A; (n,) float64, or None for ones."""
        return self._vector("row_scale", np.float64)

    @property
    def scale_c(self) -> "Optional[npt.NDArray[np.float64]]":
        """Column scalings, by the columns of A; (n,) float64, or None for ones."""
        return self._vector("col_scale", np.float64)

    def plan(self, trans: Trans = "N", *, device: Device = "auto", threads: Optional[int] = None,
             method: Optional[Method] = None, nrhs: int = 1, solves: int = 0, store: Store = "same",
             stream: Any = None, progress: Optional[Progress] = None) -> FactorsPlan:
        """A plan for ``op(A) x = b``; options as `trireme.plan` has them."""
        return FactorsPlan(self, trans, device=device, threads=threads, method=method, nrhs=nrhs,
                           solves=solves, store=store, stream=stream, progress=progress)

    def analyze(self, trans: Trans = "N", *, device: Device = "auto",
                threads: Optional[int] = None, method: Optional[Method] = None, nrhs: int = 1,
                solves: int = 0, store: Store = "same", stream: Any = None,
                progress: Optional[Progress] = None) -> "Factors":
        """Analyse now what the first `solve` for trans would analyse, and with these options.

        The analysis of large factors takes seconds.  Without this call the first `solve`, or
        `as_linear_operator`, takes them.  Options are those of `trireme.plan`; a second call
        analyses anew.

        Returns
        -------
        Factors
            These: ``F = tr.from_factors(splu(A)).analyze(threads=4)``.
        """
        trans = word(TRANS, "trans", trans)
        self._plans[trans] = _without_cycle(self.plan(
            trans, device=device, threads=threads, method=method, nrhs=nrhs, solves=solves,
            store=store, stream=stream, progress=progress))
        return self

    def refactor(self, A: "Union[Shaped, npt.NDArray[Any], Any]", *,
                 threads: Optional[int] = None) -> "Factors":
        """L and U of new values of A, in the patterns and with the pivots of the old ones.

        For complete LU, of `lu`, of `read`, or of `from_factors` with one unit diagonal, and for
        `ilu0` and `ic0`.  Plans of these factors follow.

        Parameters
        ----------
        A : (n, n) sparse array or matrix, or (nnz,) array
            As `trireme.plan` takes it.  Of `ilu0` and `ic0` it may be on a GPU (CuPy, torch): that
            GPU then factors, with the same bits.  After such a call the values alone are enough, in
            the order of that matrix's.  An entry that L and U have no place for is a `StructureError`, and
            a pivot of zero a `SingularMatrixError`, each with the row.
        threads : int, optional
            Of complete LU.  The default is every core.

        Returns
        -------
        Factors
            These: ``x = F.refactor(A).solve(b)``.

        Notes
        -----
        The pivots of complete LU are not chosen anew: `least_share` tells what they are worth.  Below
        1e-6, or 1e-3 in single precision, a RuntimeWarning asks to factor anew.
        An A of another shape or type changes nothing.
        After another exception nothing is solved with these factors until a call succeeds.  Clones of their
        plans, which `close` ends, are a ValueError before anything changes.

        After values on a GPU, L and U are there, until a call with values in host memory.  Plans
        made with ``device="cuda"`` follow, wherever L and U were then; `L`, `U`, `condition` and
        `write` need them in host memory.  Index arrays on a GPU that are given again must not have
        changed.
        """
        if self._copied:
            raise UnsupportedError(f"a pickle's copy of {self._copied} has its L and U, and not how they "
                                   "were made: factor A anew")
        matrix, val = self._matrix_again(A)
        if tuple(matrix.parts.shape) != self._shape:
            raise ValueError(f"A is {' x '.join(map(str, matrix.parts.shape))}, but the factors have "
                             f"{self.shape[0]} rows")
        with self._refusal:
            self._renew(matrix, val, threads)
        if self._least_share < (LEAST_SINGLE if self._dtype.char in "fF" else LEAST):
            warnings.warn(f"refactor: a pivot is {self._least_share:.1e} of the largest entry below it, so x may "
                          "lose as many digits: factor anew by trireme.lu", RuntimeWarning, stacklevel=2)
        return self

    def _renew(self, matrix: Matrix, val: Dense, threads: Optional[int] = None) -> None:
        """Inside the refusal; the matrix has the values for this call."""
        pivots, device = _api.trs_pivots(struct_size=C.sizeof(_api.trs_pivots)), val.device
        place = "threads" if device is None else f"cuda:{device}"
        context = context_of(place, threads if device is None else None)

        def renew() -> None:
            matrix.set_values(val)
            check(library.trs_factors_refactor(self._handle, C.byref(pivots), context, matrix.handle),
                  matrix.handle)

        def refactor(plans: "List[FactorsPlan]", held: int) -> None:
            if held < len(plans):  # plans may solve with L and U where these lie
                with plans[held]._lock.lock:
                    return refactor(plans, held + 1)
            self._check_unshared(plans)
            before = self._handle, self._keep  # alive until no plan is theirs
            try:
                renew()
                follow = FactorsPlan._follow
            except StructureError:
                if not self._complete():
                    raise
                renew()
                follow = FactorsPlan._analyze_again
            for plan in plans:
                follow(plan, self._handle)
            del before

        def call() -> None:
            with self._lock.lock:
                refactor(sorted(self._followers, key=id), 0)

        try:
            run(call, self.nnz >= LONG_ANALYSIS // 20)
        finally:
            if device is None:
                matrix.val = None  # the caller's
        if self._keep is None:
            self._device = device
        self._least_share = float(pivots.least_share)

    def _complete(self) -> bool:
        """Give L and U every entry that values of A can lead to, where SciPy left out zeros; inside the lock.

        All levels of fill are those entries, in the order of the pivots.
        """
        pattern, self._pattern = self._pattern, None
        if pattern is None:
            return False
        form, ptr, idx = pattern
        from scipy.sparse import csc_array, csr_array, identity
        val = np.full(idx.shape, 2.0**-20, self.dtype)  # and a diagonal near 1: no pivot is zero
        A = csr_array((csr_array if form == "csr" else csc_array)((val, idx, ptr), shape=self.shape))
        A = csr_array(A[self.perm_r][:, self.perm_c] + identity(len(ptr) - 1, self.dtype, "csr"))
        made = _factor(matrix_of(A), _api.TRS_FACTOR_ILU0, "natural", None, levels=2**31 - 1)
        self._handle, self._keep, self._nnz = _again(made._info(), self._info()), None, -1
        return True

    def _twin(self) -> "Factors":
        """Others with the same L and U, until one of them is refactored; inside the lock."""
        info = self._info()
        return Factors(_again(info, info))

    def _check_unshared(self, plans: "Iterable[FactorsPlan]") -> None:
        count = 0
        for plan in plans:
            count += plan._origin is not None and plan._handle is not None
        if count:
            raise Shared(f"{count} clone{'s' * (count > 1)} of plans solve with these factors: close the "
                         "clones, refactor, and clone again")

    def _matrix_again(self, A: Any) -> Tuple[Matrix, Dense]:
        """The matrix of a refactorisation, which is kept, so that C knows its pattern, and its new values."""
        kept = self._again.get(HOST)
        val = None if kept is None else values_of_same(A, kept.parts)
        if kept is not None and val is not None:
            return kept, val
        if len(getattr(A, "shape", ())) == 1 and not is_sparse(A):
            return self._matrix_of_values(dense(A))
        if getattr(getattr(A, "dtype", None), "kind", "") == "c" and self.dtype.kind != "c":
            raise TypeError(f"A is complex, and the factors are {self.dtype}: factor A anew")
        parts = compressed(A, self.dtype)
        if parts.val.device is None:
            return self._matrix_on_host(parts), parts.val
        kept = self._again.get(parts.val.device)
        if kept is None or any(getattr(kept.parts, name).address != getattr(parts, name).address
                               for name in ("ptr", "idx")) or kept.count != parts.val.shape:
            kept = self._again[parts.val.device] = Matrix(parts, copy=False,
                                                          device=f"cuda:{parts.val.device}")
        settle(parts.val)
        return kept, parts.val

    def _matrix_on_host(self, parts: Compressed) -> Matrix:
        """Its pattern is a copy, and its values are the caller's, for one call."""
        kept = self._again.get(HOST)
        if kept is None or not same_pattern(kept.parts, parts):
            own = own_pattern(parts)
            kept = self._again[HOST] = Matrix(own, copy=False)
            kept.parts = own._replace(val=parts.val._replace(array=None, address=0))
        return kept

    def _matrix_of_values(self, val: Dense) -> Tuple[Matrix, Dense]:
        if val.device is None:
            raise TypeError("A is an array of values in host memory: pass the matrix with its new values; "
                            "values alone are taken on a GPU")
        kept = self._again.get(val.device)
        if kept is None:
            raise TypeError("A is an array of values, and no call before gave a matrix on their GPU: "
                            "pass the matrix with its new values")
        check_device_values(val, "values", self.dtype)
        kept.check_count(val)
        settle(val)
        return kept, val

    @property
    def least_share(self) -> float:
        """The least size of a pivot over the largest entry below it when it is eliminated, of the last
        `refactor`; 1 before, and for factors that `refactor` does not take.

        `lu` keeps it above its `pivot_threshold`.  One far below that loses as many digits: factor
        anew by `lu`.  It is an attribute, since `refactor` has stored it.
        """
        return self._least_share

    def condition(self) -> float:
        """An estimate of A's condition number in the 1-norm, as LAPACK's gecon makes it.

        It takes up to seventy products and solves with L and U.  It is seldom below a third of
        ``np.linalg.cond(A.todense(), 1)``, never above but for rounding.  `np.inf` if A is singular
        to working precision.  Of incomplete factors it is the condition of their product L U.

        Returns
        -------
        float
        """
        made = C.c_double()

        def estimate() -> None:
            with self._lock.lock:
                self._refusal.check()
                check(library.trs_factors_condition(C.byref(made), self._handle))
        run(estimate, self.nnz >= LONG_ANALYSIS // 20)
        return made.value

    def _plan_of(self, trans: Trans) -> FactorsPlan:
        found = self._plans.get(trans) if isinstance(trans, str) else None
        if found is None:
            trans = word(TRANS, "trans", trans)
            if trans not in self._plans:
                self.analyze(trans)
            found = self._plans[trans]
        return found

    @overload
    def solve(self, b: "npt.NDArray[Any]", trans: Trans = "N",
              out: "Optional[npt.NDArray[Any]]" = None) -> "npt.NDArray[Any]": ...

    @overload
    def solve(self, b: RightHandSides, trans: Trans = "N", out: Any = None) -> Any: ...

    def solve(self, b: Any, trans: Trans = "N", out: Any = None) -> Any:
        """Solve ``op(A) x = b``, as `Solver.solve`.

        The first call for each trans analyses, unless `analyze` did.
        """
        return self._plan_of(trans).solve(b, out)

    @overload
    def solve_A(self, b: "npt.NDArray[Any]") -> "npt.NDArray[Any]": ...

    @overload
    def solve_A(self, b: RightHandSides) -> Any: ...

    def solve_A(self, b: Any) -> Any:
        """Solve ``A x = b``: `solve`, by the name that scikit-sparse has."""
        return self.solve(b)

    __call__ = solve_A

    def matvec(self, v: Any) -> Any:
        """Solve ``A x = v`` for the vector or the columns v, as SciPy's operators do: ``F @ v``.

        NumPy's vectors of a higher precision than the factors' are rounded to it, as
        preconditioners may.
        """
        return self._plan_of("N").matvec(v)

    matmat = __matmul__ = matvec

    def rmatvec(self, v: Any) -> Any:
        """`matvec` of the conjugate transpose."""
        return self._plan_of("H").matvec(v)

    def as_linear_operator(self) -> "LinearOperator":
        """SciPy's LinearOperator of the inverse: ``M=F`` of its solvers makes it by itself."""
        from scipy.sparse.linalg import LinearOperator
        return LinearOperator(self.shape, matvec=self.matvec, matmat=self.matmat,
                              rmatvec=self.rmatvec, dtype=self.dtype)

    def write(self, path: Path) -> None:
        """Write to an HDF5 file, which `read` and the command take."""
        name = text(path)
        with self._lock.lock:
            self._refusal.check()
            check_file(library.trs_factors_write(self._handle, name), name, True)

    def __repr__(self) -> str:
        n = self.shape[0]
        return f"<Factors {self.kind}, {n} x {n}, {self.nnz} entries in L and U, {self.dtype}>"

    def __reduce__(self) -> Any:
        if self._device is not None:
            raise TypeError("factors on a GPU cannot be pickled: pickle those in host memory")
        self._refusal.check()
        return factors_again, (self.L, self.U, self.perm_r, self.perm_c, self.scale_r,
                                self.scale_c, self.unit_L, self.unit_U, self.kind)


def _with_diagonal(T: Any, unit: int, name: str) -> Any:
    if not unit:
        return T
    from scipy.sparse import eye, tril, triu
    strict = tril(T, -1) if name == "L" else triu(T, 1)
    return type(T)(strict + eye(T.shape[0], dtype=T.dtype))


def _without_cycle(plan: FactorsPlan) -> FactorsPlan:
    """The C plan keeps the C factors alive, but not arrays lent to them."""
    keep = plan._factors._keep
    plan._keep = keep if keep is not None else True
    plan._factors = None  # type: ignore[assignment]
    return plan


def factors_again(L: Any, U: Any, perm_r: Any, perm_c: Any, scale_r: Any, scale_c: Any,
                   unit_L: bool, unit_U: bool, kind: str = "lu") -> Factors:
    made = from_factors(L, U, perm_r, perm_c, scale_r=scale_r, scale_c=scale_c,
                        unit_L=unit_L, unit_U=unit_U)
    made._copied = "" if kind in ("lu", "given") else kind
    made._given = kind == "given"
    return made


LONG_FACTORING = 2000  # entries, whose fill may take seconds; without fill a thread costs more than it gives


def _factor(matrix: Matrix, kind: int, order: str, progress: Any, **fields: Any) -> Factors:
    if matrix.parts.shape[0] != matrix.parts.shape[1]:
        raise ValueError(f"A must be a square matrix but its shape is {matrix.parts.shape}.")
    handle = FactorsHandle()
    with Told(progress, "factoring") as told:
        options = make_struct(_api.trs_factor_options, kind=kind,
                              order=pick(ORDERS, "order", order), progress=told.callback, **fields)
        fills = kind == _api.TRS_FACTOR_LU or fields.get("levels", 0) > 0
        long = LONG_FACTORING if fills else LONG_ANALYSIS // 20
        run(lambda: check(library.trs_factor(C.byref(handle), matrix.handle, C.byref(options)),
                          matrix.handle), matrix.parts.idx.shape[0] >= long, told)
        return Factors(handle)


def ilu0(A: Shaped, *, order: Order = "natural", add_diagonal: bool = False, levels: int = 0,
         progress: Optional[Progress] = None) -> Factors:
    """The incomplete LU factors of A on the pattern of A, or with levels of fill.

    Parameters
    ----------
    A : (n, n) sparse array or matrix
        As `trireme.plan` takes it.
    order : {"natural", "nd", "amd", "rcm", "colour"}, optional
        The order of elimination.
    add_diagonal : bool, optional
        Give rows without a diagonal entry, or with a zero one, the sum of their absolute values.
    levels : int, optional
        k of ILU(k): L and U also have the entries up to that level of fill.
    progress : callable or True, optional
        As `trireme.plan` takes it.

    Returns
    -------
    Factors
        A preconditioner for SciPy's solvers, as ``M=``.

    Notes
    -----
    `P.condition()` estimates the condition number of L U, the preconditioner, not of A.
    `P.refactor(A)` takes new values.  `P.least_share` is 1, `P.shift` 0 and `P.choice` empty.

    Examples
    --------
    >>> import numpy as np, trireme as tr
    >>> from scipy.sparse.linalg import bicgstab
    >>> A = tr.generate("poisson2d5:20")
    >>> x, info = bicgstab(A, np.ones(A.shape[0]), M=tr.ilu0(A))
    >>> info
    0
    """
    return _factor(matrix_of(A), _api.TRS_FACTOR_ILU0, order, progress,
                   add_diagonal=int(flag("add_diagonal", add_diagonal)),
                   levels=whole("levels", levels, 0, 2**31 - 1))


def ic0(A: Shaped, *, order: Order = "natural", add_diagonal: bool = False,
        uplo: Optional[Uplo] = None, shift: float = 0, levels: int = 0,
        progress: Optional[Progress] = None) -> Factors:
    """The incomplete Cholesky factors of A, U = L^H, on its pattern or with levels of fill.

    Parameters
    ----------
    A, order, add_diagonal, levels, progress
        As `ilu0` takes them.
    uplo : {None, "lower", "upper"}, optional
        The triangle of A that is read and stands for both, as in LAPACK: entries on the other side
        are ignored.  None: all of A, which must be Hermitian up to rounding.
    shift : float, optional
        Where a pivot is not positive, factor ``A + shift * diag(A)`` instead, with `shift` doubled
        until all pivots are positive; `Factors.shift` tells it.  0: such a pivot raises
        SingularMatrixError.  1e-3 is usual; at most 1.

    Returns
    -------
    Factors

    Examples
    --------
    >>> import numpy as np, trireme as tr
    >>> from scipy.sparse.linalg import cg
    >>> A = tr.generate("poisson2d5:20")
    >>> x, info = cg(A, np.ones(A.shape[0]), M=tr.ic0(A))
    >>> info
    0
    """
    return _factor(matrix_of(A), _api.TRS_FACTOR_IC0, order, progress,
                   add_diagonal=int(flag("add_diagonal", add_diagonal)),
                   uplo=_api.TRS_GENERAL if uplo is None else pick(UPLO, "uplo", uplo),
                   shift=real("shift", shift), levels=whole("levels", levels, 0, 2**31 - 1))


# The orders of elimination that SciPy's SuperLU has.
_SCIPY_ORDERS = {"default": "COLAMD", "colamd": "COLAMD", "amd": "MMD_AT_PLUS_A", "natural": "NATURAL"}


@lru_cache(maxsize=None)
def _has(feature: str) -> bool:
    return any(line.split()[:2] == [feature, "yes"] for line in features().splitlines())


def _scales(A: Any, axis: int) -> Any:
    """The power of two next to 1 over the largest magnitude of each row (axis 1) or column (axis 0), so
    that no product is rounded; 1 for one of zeros."""
    if 0 in A.shape:
        return np.ones(A.shape[1 - axis])
    most = abs(A).max(axis=axis)
    most = np.asarray(most.todense() if hasattr(most, "todense") else most, np.float64).ravel()
    scaled = (most > 0) & np.isfinite(most)
    return np.ldexp(1.0, np.where(scaled, -np.frexp(np.where(scaled, most, 1))[1], 0).clip(-1021, 1021))


def _lu_by_scipy(parts: Compressed, order: str, pivot_threshold: float, equilibrate: bool,
                 progress: Any) -> Factors:
    """By the SuperLU that is part of SciPy: wheels have none of their own."""
    from scipy.sparse import csc_array, csr_array, diags
    from scipy.sparse.linalg import splu
    n = parts.shape[0]
    if parts.shape[1] != n:
        raise ValueError(f"A must be a square matrix but its shape is {parts.shape}.")
    if parts.val.device is not None:
        raise UnsupportedError("lu of a matrix on a GPU: copy it to the host first")
    form = csr_array if parts.format == "csr" else csc_array
    matrix = csc_array(form((parts.val.array, parts.idx.array, parts.ptr.array), shape=parts.shape))
    wrong = matrix.indices[~np.isfinite(matrix.data)]
    if wrong.size:
        error = SingularMatrixError(f"LU: row {wrong.min()} (0-based) has an entry that is NaN or infinite")
        error.row = int(wrong.min())
        raise error
    rows = columns = None
    if equilibrate:
        rows = _scales(matrix, 1)
        matrix = csc_array(diags(rows) @ matrix)
        columns = _scales(matrix, 0)
        matrix = csc_array(matrix @ diags(columns))
    matrix = matrix.astype(parts.val.dtype, copy=False)
    with Told(progress, "factoring") as told:
        told.tell("factoring", 0.0)
        try:
            made = run(lambda: splu(
                matrix, permc_spec=_SCIPY_ORDERS[order], diag_pivot_thresh=pivot_threshold,
                options={"Equil": False}), matrix.nnz >= LONG_ANALYSIS // 20, told)
        except RuntimeError as error:
            raise SingularMatrixError(
                f"A is singular to working precision ({error})") from error
        told.tell("factoring", 1.0)
    factors = from_factors(made.L, made.U, np.argsort(made.perm_r), np.argsort(made.perm_c),
                           scale_r=rows, scale_c=columns, unit_L=True)
    factors._pattern = parts.format, parts.ptr.array.copy(), parts.idx.array.copy()
    factors._given = False
    return factors


def lu(A: Shaped, *, order: Order = "default", pivot_threshold: Optional[float] = None,
       equilibrate: bool = True, progress: Optional[Progress] = None) -> Factors:
    """The LU factors of A, large ones by SuperLU in a worker process or, in wheels, by SciPy's SuperLU.

    Parameters
    ----------
    A : (n, n) sparse array or matrix
        As `trireme.plan` takes it.
    order : {"default", "nd", "amd", "colamd", "natural", "rcm", "colour"}, optional
        The default is nested dissection by METIS, AMD or COLAMD, by the predicted fill and time:
        `Factors.choice` says why.  In wheels, which have no METIS, it is COLAMD,
        and "nd", "rcm" and "colour" are an `UnsupportedError`.
    pivot_threshold : float, optional
        The diagonal stays pivot above this share of its column, from 0 to 1; 0: if it is not zero.
        By default 0.001, if the whole diagonal of doubles then stays; else 0.1, or 0.01 if
        `Factors.choice` says so.
    equilibrate : bool, optional
        Scale rows and columns first.
    progress : callable or True, optional
        As `trireme.plan` takes it.

    Returns
    -------
    Factors

    Notes
    -----
    SciPy's SuperLU runs in this process, and tells `progress` of seconds alone.  It leaves out entries of
    L and U that are zero by chance: a `Factors.refactor` that needs them adds them, and plans are analysed
    anew.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp, trireme as tr
    >>> F = tr.lu(sp.csr_array(np.array([[4.0, 1], [2, 3]])))
    >>> F.solve(np.array([6.0, 8]))
    array([1., 2.])
    >>> F.refactor(sp.csr_array(np.array([[2.0, 1], [2, 3]]))).solve(np.array([4.0, 8]))
    array([1., 2.])
    """
    return lu_of(matrix_of(A), order, pivot_threshold, equilibrate, progress)


def lu_of(matrix: Matrix, order: str, pivot_threshold: Optional[float], equilibrate: bool,
          progress: Optional[Progress] = None) -> Factors:
    """`lu` of a matrix of C."""
    threshold = 0.0  # C: the default
    if pivot_threshold is not None:
        threshold = real("pivot_threshold", pivot_threshold, 0, 1) or np.finfo(float).tiny
    equilibrate = flag("equilibrate", equilibrate)
    pick(ORDERS, "order", order)
    if order in _SCIPY_ORDERS and not _has("SuperLU"):
        return _lu_by_scipy(matrix.parts, order, threshold or 0.1, equilibrate, progress)
    return _factor(matrix, _api.TRS_FACTOR_LU, order, progress, pivot_threshold=threshold,
                   no_equilibration=int(not equilibrate))


def _permutation(perm: Any, n: int, name: str) -> Any:
    if perm is None:
        return None
    made = whole_numbers(perm, name)
    if made.shape != (n,):
        raise ValueError(f"{name} has shape {made.shape}: ({n},) is wanted")
    if n and not 0 <= made.min() <= made.max() < n:
        raise ValueError(f"{name} has {made[(made < 0) | (made >= n)][0]}: a permutation of 0 .. {n - 1} is wanted")
    counts = np.bincount(made, minlength=n)
    if n and counts.max() > 1:
        raise ValueError(f"{name} has {counts.argmax()} more than once: a permutation of 0 .. {n - 1} is wanted")
    return made


def _scaling(scale: Any, n: int, name: str) -> Any:
    if scale is None:
        return None
    try:
        made = np.ascontiguousarray(scale, np.float64)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"{name} is {named(scale)}: an array of real numbers is wanted") from None
    if made.shape != (n,):
        raise ValueError(f"{name} has shape {made.shape}: ({n},) is wanted")
    return made


def _address(array: Any) -> Optional[int]:
    return None if array is None else int(array.ctypes.data)


def from_factors(L: Any, U: Any = None, perm_r: Any = None, perm_c: Any = None, *,
                 scale_r: Any = None, scale_c: Any = None, unit_L: bool = False,
                 unit_U: bool = False) -> Factors:
    """Factors that you already have.

    Parameters
    ----------
    L : (n, n) sparse array or matrix, or SuperLU
        The lower factor; or what `scipy.sparse.linalg.splu` or `spilu` returned, alone.
    U : (n, n) sparse array or matrix, optional
        The upper factor.
    perm_r, perm_c : (n,) array of int, optional
        Row i of L U is row perm_r[i] of A, and column j is column perm_c[j].
    scale_r, scale_c : (n,) array of float, optional
        Scalings of the rows and columns of A.
    unit_L, unit_U : bool, optional
        Take that diagonal for ones, whatever is stored.

    Returns
    -------
    Factors

    Notes
    -----
    The first solve analyses both factors, seconds for ten million entries; `Factors.analyze` does
    it when you choose.

    `Factors.kind` is "given".  Of incomplete factors, as `spilu` makes them, `solve`, `solve_A` and
    `condition` are of L U, not of A, and `refactor` is a StructureError.  The L U of `spilu` is not
    symmetric, even if A is: use it with SciPy's `gmres` or `bicgstab`, not with `cg`.

    SciPy's ``splu(A)`` has the inverse permutations: there row i of A is row perm_r[i] of L U.  An
    object of `splu` is taken by its own convention.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp, trireme as tr
    >>> from scipy.sparse.linalg import gmres, spilu
    >>> A = sp.csc_array(np.array([[4.0, 1], [1, 4]]))
    >>> x, info = gmres(A, np.array([6.0, 9]), M=tr.from_factors(spilu(A)))
    >>> x.round(6)
    array([1., 2.])
    """
    if U is None:
        if not all(hasattr(L, name) for name in ("L", "U", "perm_r", "perm_c")):
            raise TypeError(
                f"L is {named(L)} and U None: L and U are wanted, or what splu or spilu returned, "
                "alone" + ("; trireme.lu and trireme.ilu0 factor a matrix" if is_sparse(L) else ""))
        return from_factors(L.L, L.U, np.argsort(L.perm_r), np.argsort(L.perm_c), unit_L=True)
    unit_L, unit_U = flag("unit_L", unit_L), flag("unit_U", unit_U)
    parts = [compressed(L), compressed(U)]
    if parts[0].shape != parts[1].shape or parts[0].shape[0] != parts[0].shape[1]:
        raise ValueError(f"L has shape {parts[0].shape} and U {parts[1].shape}: they must be "
                         "square and equal")
    dtype = np.promote_types(parts[0].val.dtype, parts[1].val.dtype)
    if parts[0].val.dtype != parts[1].val.dtype:
        parts = [compressed(L, dtype), compressed(U, dtype)]
    device, n = parts[0].val.device, parts[0].shape[0]
    place = "auto" if device is None else f"cuda:{device}"
    own = [Matrix(part, copy=True, device=place) for part in parts]
    perms = [_permutation(perm_r, n, "perm_r"), _permutation(perm_c, n, "perm_c")]
    scales = [_scaling(scale_r, n, "scale_r"), _scaling(scale_c, n, "scale_c")]
    info = [make_struct(_api.trs_matrix_info) for _ in own]
    handle = FactorsHandle()
    for matrix, found in zip(own, info):
        if device is None:
            check(library.trs_matrix_get_info(matrix.handle, C.byref(found)))
    if info[0].nupper and not info[0].nlower and info[1].nlower and not info[1].nupper:
        raise StructureError("L is upper triangular and U lower: the order is from_factors(L, U)")
    check(library.trs_factors_create(
        C.byref(handle), own[0].handle, int(unit_L), own[1].handle, int(unit_U),
        *map(_address, perms), *map(_address, scales)))
    made = Factors(handle, own, device)
    made._given = True
    return made

