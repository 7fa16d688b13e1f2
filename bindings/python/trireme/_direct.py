"""splu, factorized and spsolve with SciPy's signatures.

Factors are kept for the next matrix of their pattern (_kept.py), whose values they then take: L and
U are computed anew with the pivots of before, as long as these are large enough.  An object that
`splu` returned has its factors to itself until it is gone.
"""

import warnings
import weakref
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, NamedTuple, Optional, Tuple, overload

import numpy as np

from . import _kept
from ._context import where
from ._factors import Factors, lu_of
from ._library import Cancelled, SingularMatrixError
from ._matrix import Compressed, Matrix, compressed
from ._oneshot import matrix_type
from ._words import PermC, RightHandSides, Shaped, Trans, is_sparse, named, pick, real

if TYPE_CHECKING:
    import numpy.typing as npt

# The least share of a pivot with which factors take new values: digits are lost by its reciprocal.
LEAST, LEAST_SINGLE = 1e-3, 1e-2  # `lu` by default accepts 0.1, and 0.01 where pivots move
LEAST_OF_THRESHOLD = 0.1
COLUMNS = 64  # of a sparse right-hand side that are dense at a time

# By SuperLU's numbers, too.  COLAMD is SciPy's default, and so ours.
_ORDERS = {"NATURAL": "natural", "MMD_ATA": "colamd", "MMD_AT_PLUS_A": "amd", "COLAMD": "default"}
# SuperLU's options that choose nothing here.
_OTHERS = {"ConditionNumber", "Fact", "ILU_DropRule", "ILU_DropTol", "ILU_FillFactor", "ILU_FillTol",
           "ILU_MILU", "ILU_MILU_Dim", "ILU_Norm", "IterRefine", "PanelSize", "PivotGrowth",
           "PrintStat", "Relax", "ReplaceTinyPivot", "RowPerm", "SolveInitialized",
           "RefineInitialized", "SymmetricMode", "Trans"}


class _Choice(NamedTuple):
    """What is chosen of a factorisation."""

    order: str = "default"
    threshold: Optional[float] = None
    equilibrate: bool = True


class _Kept(NamedTuple):
    factors: Factors
    matrix: Matrix  # of A, without values between calls


_DEFAULT = _Choice()


def _choice(permc_spec: Any, threshold: Any = None, options: Any = None) -> _Choice:
    if permc_spec is threshold is None and not options:
        return _DEFAULT
    given: Dict[str, Any] = dict(options or {})
    permc_spec = given.pop("ColPerm", permc_spec)
    threshold = given.pop("DiagPivotThresh", threshold)
    equilibrate = given.pop("Equil", True)
    for name in given:
        if name not in _OTHERS:
            raise TypeError(f"options has {name!r}, which SuperLU does not have: ColPerm, "
                            "DiagPivotThresh and Equil choose")
    if permc_spec is None:
        permc_spec = "COLAMD"
    elif permc_spec in range(len(_ORDERS)):
        permc_spec = list(_ORDERS)[permc_spec]
    pick(dict.fromkeys(_ORDERS, 0), "permc_spec", permc_spec)
    if threshold is not None:
        threshold = min(max(real("diag_pivot_thresh", threshold), 0.0), 1.0)
    return _Choice(_ORDERS[permc_spec], threshold, equilibrate in (True, "YES"))


def _square(A: Any, b: Any, refusal: str, stacklevel: int) -> Compressed:
    """A's arrays, in the type that SciPy solves in; b: a type."""
    values = getattr(A, "dtype", None)
    kind = matrix_type(values, b, True) if isinstance(values, np.dtype) else None
    parts = compressed(A, kind, stacklevel + 1)
    if parts.shape[0] != parts.shape[1]:
        raise ValueError(f"{refusal} (has shape {parts.shape})")
    if parts.val.device is not None:
        raise TypeError("A is on a GPU: copy it to host memory")
    return parts


def _make(parts: Compressed, choice: _Choice) -> _kept.Entry:
    own = _kept.own_pattern(parts)
    matrix = Matrix(own, copy=False)
    factors = lu_of(matrix, choice.order, choice.threshold, choice.equilibrate)
    size = factors.nnz * (4 + factors.dtype.itemsize) + own.ptr.array.nbytes + own.idx.array.nbytes
    return _kept.Entry(_Kept(factors, matrix), own.ptr, own.idx, size)


def _has_taken(kept: _Kept, parts: Compressed, choice: _Choice) -> bool:
    """Whether the factors have A's values, with pivots that are large enough."""
    try:
        with kept.factors._refusal:
            kept.factors._renew(kept.matrix, parts.val)
    except Cancelled:
        raise
    except Exception:  # a new factorisation says what is wrong with A, if something is
        return False
    if choice.threshold is None:
        least = LEAST_SINGLE if parts.val.dtype.char in "fF" else LEAST
    else:
        least = LEAST_OF_THRESHOLD * choice.threshold
    return kept.factors.least_share >= least


def _twin(entry: _kept.Entry, parts: Compressed, choice: _Choice) -> Optional[_kept.Entry]:
    """An entry with A's values beside one that an object has to itself."""
    own = parts._replace(ptr=entry.ptr, idx=entry.idx)
    factors = entry.made.factors
    with factors._lock.lock:
        if factors._refusal.error is not None:
            return None
        made = _Kept(factors._twin(), Matrix(own, copy=False))
        return entry._replace(made=made, user=None) if _has_taken(made, parts, choice) else None


def _factor(parts: Compressed, choice: _Choice) -> Tuple[Any, _kept.Entry]:
    key = _kept.key_of(parts, choice, where("auto", None))
    entry, free = _kept.take(key, parts)
    if entry is not None and not free:
        entry = _twin(entry, parts, choice)
    elif entry is not None and not _has_taken(entry.made, parts, choice):
        entry = None
    if entry is None:
        entry = _make(parts, choice)
    entry.made.matrix.forget_values()
    return key, entry


class SuperLU:
    """What `splu` returns, as SciPy's: ``Pr A Pc = L U``."""

    def __init__(self, factors: Factors, arrays: bool) -> None:
        self._factors, self._arrays, self._n = factors, arrays, factors.shape[0]

    @property
    def shape(self) -> Tuple[int, int]:
        """(n, n)."""
        return (self._n, self._n)

    @property
    def nnz(self) -> int:
        """Entries of L and U together."""
        return self._factors.nnz

    @property
    def perm_r(self) -> "npt.NDArray[np.int32]":
        """Row i of A is row perm_r[i] of L U."""
        return self._inverse(self._factors.perm_r)

    @property
    def perm_c(self) -> "npt.NDArray[np.int32]":
        """Column i of A is column perm_c[i] of L U."""
        return self._inverse(self._factors.perm_c)

    @property
    def L(self) -> Any:
        """A copy of the lower factor, CSC, with its unit diagonal."""
        return self._part(self._factors.L, True)

    @property
    def U(self) -> Any:
        """A copy of the upper factor, CSC."""
        return self._part(self._factors.U, False)

    def _inverse(self, perm: Any) -> Any:
        n = self._n
        made = np.arange(n, dtype=np.int32)
        if perm is not None:
            made[perm] = np.arange(n, dtype=np.int32)
        return made

    def _part(self, T: Any, lower: bool) -> Any:
        """T of ``L U = P_r A P_c^T``, where the factors have scales."""
        from scipy.sparse import csc_array, csc_matrix
        F, made = self._factors, csc_array(T)
        rows = _in_order(F.scale_r, F.perm_r)
        columns = rows if lower else _in_order(F.scale_c, F.perm_c)
        values = made.data
        if rows is not None:
            values = values / rows[made.indices]
        if columns is not None:
            by = np.repeat(columns, np.diff(made.indptr))
            values = values * by if lower else values / by
        made.data = values.astype(T.dtype, copy=False)
        return made if self._arrays else csc_matrix(made)

    @overload
    def solve(self, rhs: "npt.NDArray[Any]", trans: Trans = "N") -> "npt.NDArray[Any]": ...

    @overload
    def solve(self, rhs: Any, trans: Trans = "N") -> Any: ...

    def solve(self, rhs: Any, trans: Trans = "N") -> Any:
        """Solve ``op(A) x = rhs``.

        Parameters
        ----------
        rhs : (n,) or (n, k) array_like
            Right-hand sides.
        trans : {"N", "T", "H"}, optional
            A, its transpose, or its conjugate transpose.

        Returns
        -------
        x : (n,) or (n, k) array
        """
        if type(rhs) is not np.ndarray:
            if is_sparse(rhs) or rhs is None:
                raise TypeError(f"rhs is {named(rhs)}: a dense array of numbers is wanted, of "
                                f"{self._n} rows")
            rhs = rhs if isinstance(rhs, np.ma.MaskedArray) else np.asarray(rhs)
        if rhs.ndim not in (1, 2) or rhs.shape[0] != self._n:
            raise ValueError(f"rhs is of incompatible size: its shape is {rhs.shape}, and "
                             f"({self._n},) or ({self._n}, k) is wanted")
        return self._factors.solve(rhs, trans)

    def __repr__(self) -> str:
        return f"<SuperLU of Trireme, {self._n} x {self._n}, {self.nnz} entries in L and U>"


def _in_order(scale: Any, perm: Any) -> Any:
    return scale if scale is None or perm is None else scale[perm]


def _is_matrix(A: Any) -> bool:
    """Of SciPy's older class, whose products are those of matrices."""
    return type(A).__name__.endswith("_matrix")


def splu(A: Shaped, permc_spec: Optional[PermC] = None, diag_pivot_thresh: Optional[float] = None,
         relax: Optional[int] = None, panel_size: Optional[int] = None,
         options: Optional[Dict[str, Any]] = None) -> SuperLU:
    """The LU factors of A; SciPy's function of this name, faster for patterns that come again.

    Parameters
    ----------
    A : (n, n) sparse array or matrix
        CSR or CSC; other formats are converted with a SparseEfficiencyWarning.
    permc_spec : {"COLAMD", "MMD_AT_PLUS_A", "MMD_ATA", "NATURAL"}, optional
        The order of elimination: `trireme.lu` chooses for COLAMD, which is the default; AMD; COLAMD;
        none.  SuperLU's numbers from 0 to 3 are taken, too.
    diag_pivot_thresh : float, optional
        The diagonal stays pivot above this share of its column, at most 1; by default that of
        `trireme.lu`.
    relax, panel_size : int, optional
        Taken for SciPy's sake.
    options : dict, optional
        ``ColPerm``, ``DiagPivotThresh`` and ``Equil``, which scales rows and columns and is True by
        default.  SuperLU's others choose nothing.

    Returns
    -------
    SuperLU
        With `solve`, and SciPy's `L`, `U`, `perm_r`, `perm_c`, `shape` and `nnz`.

    Raises
    ------
    SingularMatrixError
        A kind of RuntimeError, as SciPy's, and of numpy.linalg.LinAlgError; `.row` says where.

    Notes
    -----
    Factors are kept, the last eight of them and 256 MiB.  Of a matrix with the pattern and the type
    of an earlier one, whose `SuperLU` is gone, L and U are computed with the pivots of before,
    several times as fast, and so the last digits depend on the calls before.  Where a pivot has less
    than a thousandth of the largest entry below it (in single precision a hundredth, and a tenth of
    `diag_pivot_thresh` if that is given), A is factored anew.  `cache_clear` forgets.
    `trireme.lu` keeps nothing and lets you choose.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp, trireme as tr
    >>> tr.splu(sp.csc_array(np.array([[2.0, 1], [1, 4]]))).solve(np.array([3.0, 5]))
    array([1., 1.])
    """
    return _splu(A, _choice(permc_spec, diag_pivot_thresh, options))


def _splu(A: Any, choice: _Choice) -> SuperLU:
    parts = _square(A, np.float32, "can only factor square matrices", 4)
    try:
        key, entry = _factor(parts, choice)
    except SingularMatrixError as error:
        if np.isfinite(parts.val.array).all():
            error.args = (f"Factor is exactly singular: {error}",)
        raise
    made = SuperLU(entry.made.factors, not _is_matrix(A))
    _kept.put(key, entry._replace(user=weakref.ref(made)))
    return made


def factorized(A: Shaped) -> Callable[[Any], Any]:
    """A function that solves ``A x = b``; SciPy's function of this name.

    Parameters
    ----------
    A : (n, n) sparse array or matrix
        As `splu` takes it.

    Returns
    -------
    solve : callable
        ``splu(A).solve``.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp, trireme as tr
    >>> solve = tr.factorized(sp.csc_array(np.array([[2.0, 1], [1, 4]])))
    >>> solve(np.array([3.0, 5]))
    array([1., 1.])
    """
    return _splu(A, _DEFAULT).solve


@overload
def spsolve(A: Shaped, b: "npt.NDArray[Any]", permc_spec: Optional[PermC] = None,
            use_umfpack: bool = True) -> "npt.NDArray[Any]": ...


@overload
def spsolve(A: Shaped, b: RightHandSides, permc_spec: Optional[PermC] = None,
            use_umfpack: bool = True) -> Any: ...


def spsolve(A: Any, b: Any, permc_spec: Optional[PermC] = None, use_umfpack: bool = True) -> Any:
    """Solve ``A x = b``; SciPy's function of this name, faster for patterns that come again.

    Parameters
    ----------
    A : (n, n) sparse array or matrix
        CSR or CSC; other formats are converted with a SparseEfficiencyWarning.
    b : (n,) or (n, k) array_like, or sparse array or matrix
        Right-hand sides.  One with a single column is a vector.
    permc_spec : {"COLAMD", "MMD_AT_PLUS_A", "MMD_ATA", "NATURAL"}, optional
        As `splu` takes it.
    use_umfpack : bool, optional
        Taken for SciPy's sake.

    Returns
    -------
    x : (n,) or (n, k) array, or sparse array or matrix
        Sparse, in A's class, if b is sparse and has several columns.  If A is singular, x is NaN, and
        a MatrixRankWarning says so.

    Notes
    -----
    Factors are kept as by `splu`.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp, trireme as tr
    >>> tr.spsolve(sp.csc_array(np.array([[2.0, 1], [1, 4]])), np.array([3.0, 5]))
    array([1., 1.])
    """
    sparse = type(b) is not np.ndarray and is_sparse(b)
    if sparse and not is_sparse(A) and np.shape(A) != (b.shape[0], b.shape[0]):
        raise TypeError(f"A is {named(A)} and b {named(b)}: the order is spsolve(A, b)")
    if sparse and hasattr(b, "to_scipy_sparse"):
        b = b.to_scipy_sparse()
    right: Any = b if sparse else np.asarray(b)
    if right.ndim not in (1, 2):
        raise ValueError(f"b must have 1 or 2 dims but its shape is {right.shape}.")
    parts = _square(A, right.dtype, "matrix must be square", 3)
    n = parts.shape[0]
    if right.shape[0] != n:
        raise ValueError(f"matrix - rhs dimension mismatch ({parts.shape} - {right.shape[0]})")
    vector = right.ndim == 1 or right.shape[1] == 1
    if vector:
        right = (right.toarray() if sparse else right).reshape(n)
    try:
        key, entry = _factor(parts, _choice(permc_spec))
    except SingularMatrixError as error:
        return _of_singular(error, parts, right, sparse and not vector)
    if sparse and not vector:
        x = _solve_sparse(entry.made.factors, A, right)
    else:
        x = entry.made.factors.solve(right)
    _kept.put(key, entry)
    return x


def _of_singular(error: SingularMatrixError, parts: Compressed, right: Any, sparse: bool) -> Any:
    """What SciPy makes of a singular matrix."""
    from scipy.sparse.linalg import MatrixRankWarning
    if sparse or not np.isfinite(parts.val.array).all():
        raise error
    warnings.warn(f"Matrix is exactly singular: {error}", MatrixRankWarning, stacklevel=3)
    return np.full(right.shape, np.nan, np.promote_types(parts.val.dtype, right.dtype))


def _solve_sparse(factors: Factors, A: Any, b: Any) -> Any:
    """Some columns at a time."""
    from scipy.sparse import SparseEfficiencyWarning, csc_array, csc_matrix, hstack
    if b.format != "csc":
        warnings.warn("spsolve is more efficient when sparse b is in the CSC matrix format",
                      SparseEfficiencyWarning, stacklevel=3)
        b = b.tocsc()
    make = csc_matrix if _is_matrix(A) else csc_array

    def columns() -> Iterator[Any]:
        for begin in range(0, b.shape[1], COLUMNS):
            yield make(factors.solve(b[:, begin:begin + COLUMNS].toarray()))
    made = make(hstack(list(columns()), "csc")) if b.shape[1] else make(b.shape, dtype=factors.dtype)
    return made.asformat(A.format) if getattr(A, "format", "") in ("csr", "csc") else made


__all__ = ["SuperLU", "factorized", "splu", "spsolve"]
