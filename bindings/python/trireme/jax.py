"""Sparse triangular solves inside jax.jit, jax.grad and jax.vmap.

    L = trireme.jax.pattern(A)                  # outside: analysed once
    x = trireme.jax.solve(L, values, b)         # inside

A compiled program solves where it runs, on the CPU or on a GPU: it calls the plan through XLA's
foreign function interface.  With a jaxlib that does not know this one, and on a GPU without CUDA in
this build, programs call Python (jax.pure_callback); `features` says which.

One primitive has all rules: values (S, nnz) and b (S, n, k) are S systems with k right-hand sides.
vmap over b alone makes columns of one system, vmap over values makes systems of a batch.
The derivative is dx = op(A)^-1 (db - op(dA) x), by the primitive itself, so that every order exists.
"""

import ctypes as C
import hashlib
import threading
import weakref
from types import SimpleNamespace
from typing import Any, Dict, List, Optional, Tuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from . import _api, _jax_ffi
from ._arrays import SCALARS, dense, library_of
from ._batch import Batch
from ._library import SingularMatrixError, StructureError, Told, UnsupportedError, make_struct
from ._matrix import UPLO, Compressed, Matrix, compressed, indexing_of, without_room
from ._plan import TRANS, Plan, make_options, tell_triangle
from ._words import Device, Method, Shaped, Trans, Uplo, device_name, flag, is_sparse, named, side, word


class Pattern:
    """Where the entries of a triangle are, and the plans over them; `pattern` makes it."""

    def __init__(self, parts: Any, options: Dict[str, Any], trans: Trans) -> None:
        if parts.shape[0] != parts.shape[1]:
            raise ValueError(f"A must be a square matrix but its shape is {parts.shape}.")
        self._options, self._trans = options, trans
        ptr, idx = (dense(a.array.copy()) for a in (parts.ptr, parts.idx))
        self._format, self._shape, self._ptr, self._idx = parts.format, parts.shape, ptr, idx
        vector = np.repeat(np.arange(parts.shape[0], dtype=np.int32), np.diff(ptr.array))
        other = idx.array.astype(np.int32)
        self._row: Any
        self._column: Any
        self._row, self._column = (vector, other) if parts.format == "csr" else (other, vector)
        self._nnz, self._room = len(other), parts.room
        self._digest = hashlib.blake2b(digest_size=16)
        for part in (ptr.array.astype(np.int64).tobytes(), other.tobytes(),
                     repr((parts.format, parts.shape, sorted(options.items()))).encode()):
            self._digest.update(part)
        self._solvers: Dict[Any, _Solver] = {}
        self._lock = threading.Lock()
        self._used: Optional[np.ndarray] = None
        self._entries_used()
        dtype = np.dtype(jax.dtypes.canonicalize_dtype(parts.val.dtype))
        if _by_default_on_gpu(options["device"]):
            self._check_structure(dtype)
        else:
            self._solver("N" if trans == "N" else "T", dtype, 1)

    def _with_values(self, values: np.ndarray) -> Compressed:
        return Compressed(self._format, self._shape, self._ptr, self._idx, dense(values))

    def _ones(self, dtype: Any) -> np.ndarray:
        """Values for an analysis of the pattern: ones on the diagonal."""
        return np.where(self._row == self._column, 1, 0).astype(dtype)

    def _check_structure(self, dtype: Any) -> None:
        """The errors of an analysis, which a GPU leaves to the first call there."""
        given = self._options
        Plan(self._with_values(self._ones(dtype)), given["uplo"], device="serial", method="serial",
             copy=False, unit_diagonal=given["unit_diagonal"],
             take_triangle=given["take_triangle"]).close()

    def _entries_used(self) -> None:
        """None: the solution depends on all entries."""
        keep = np.ones(self._nnz, bool)
        if self._options["unit_diagonal"]:
            keep &= self._row != self._column
        if self._options["take_triangle"]:
            lower = self._options["uplo"] == "lower"
            keep &= (self._row >= self._column) if lower else (self._row <= self._column)
        if not keep.all():
            self._used = np.flatnonzero(keep)

    def _usable(self, values: Any) -> Any:
        """Whether each system's diagonal entries can be divided by, as the library judges them."""
        at = np.flatnonzero(self._row == self._column)
        pivots = jnp.zeros((values.shape[0], self._shape[0]), values.dtype)
        pivots = pivots.at[:, self._row[at]].add(values[:, at])
        parts = jnp.abs(jnp.real(pivots)), jnp.abs(jnp.imag(pivots))
        large, small = jnp.maximum(*parts), jnp.minimum(*parts)
        divisor = large + small * (small / large)
        return (jnp.isfinite(large) & jnp.isfinite(divisor) & jnp.isfinite(1 / divisor)).all(1)

    def _solver(self, trans: str, dtype: Any, count: int, gpu: bool = False) -> "_Solver":
        """The plan, or the batch, for systems of that kind."""
        if not gpu and self._options["device"].startswith("cuda"):
            raise UnsupportedError(f"device is {self._options['device']!r}, and the program runs on "
                                   "the CPU: leave device out, then the pattern solves where the "
                                   "program runs")
        with self._lock:
            key = (trans, dtype, count, gpu)
            found = self._solvers.get(key)
            if found is None:
                found = self._solvers[key] = _Solver(self, *key)
            return found

    @property
    def shape(self) -> Tuple[int, int]:
        """(n, n)."""
        return (int(self._shape[0]), int(self._shape[1]))

    @property
    def nnz(self) -> int:
        """Entries."""
        return self._nnz

    def __repr__(self) -> str:
        return (f"<Pattern {self._shape[0]} x {self._shape[0]}, {self._nnz} entries, "
                f"{self._options['uplo']}, {len(self._solvers)} plans>")


class _Solver:
    """A plan or a batch with what calls from XLA's threads need; on GPUs they make it."""

    def __init__(self, pattern: Pattern, trans: str, dtype: Any, count: int, gpu: bool) -> None:
        self._n = pattern._shape[0]
        self.lock = threading.Lock()
        self._native: Optional[int] = None
        self._values = pattern._ones(dtype)  # the analysis is of the pattern; calls bring values
        self.plan: Optional[Plan] = None
        self.batch: Optional[Batch] = None
        self._recipe: Optional[_jax_ffi.Recipe] = None
        handles: List[Any] = [None, None, None]
        if gpu:
            self._recipe = self._recipe_of(pattern, trans, count)
        else:
            handles = self._make(pattern, trans, count)
        digest = pattern._digest.copy()
        digest.update(repr((trans, dtype.str, count, gpu)).encode())
        self.key = int.from_bytes(digest.digest()[:8], "little", signed=True)
        self._handler = _jax_ffi.handler()
        if not self._handler.lacks:
            self._native = self._handler.add(self.key, handles, self._values.ctypes.data, self._n,
                                             pattern._nnz, count, dtype, self._recipe)

    def _make(self, pattern: Pattern, trans: str, count: int) -> List[Any]:
        options = dict(pattern._options)
        if options["device"] == "auto":
            options["device"] = "cpu"
        if count == 1:
            self.plan = Plan(pattern._with_values(self._values), options.pop("uplo"),
                             trans, copy=False, **options)  # type: ignore[arg-type]
            return [self.plan._handle, self.plan._keep.handle, None]
        A = SimpleNamespace(format=pattern._format, shape=pattern._shape, data=self._values,
                            indptr=pattern._ptr.array, indices=pattern._idx.array)
        self.batch = Batch(A, count, options["uplo"], trans,  # type: ignore[arg-type]
                           unit_diagonal=options["unit_diagonal"],
                           take_triangle=options["take_triangle"], nrhs=options["nrhs"],
                           device=options["device"], threads=options["threads"])
        return [None, None, self.batch._handle]

    def _recipe_of(self, pattern: Pattern, trans: str, count: int) -> _jax_ffi.Recipe:
        given, parts = pattern._options, pattern._with_values(self._values)
        self._parts = parts  # the recipe has their addresses
        take, ordinal = int(given["take_triangle"]), given["device"].partition(":")[2]
        made = _jax_ffi.Recipe(
            ptr=parts.ptr.address, idx=parts.idx.address, indexing=indexing_of(parts),
            format=_api.TRS_CSR if parts.format == "csr" else _api.TRS_CSC,
            scalar=SCALARS[parts.val.dtype], uplo=UPLO[given["uplo"]], trans=TRANS[trans],
            diag=_api.TRS_UNIT if given["unit_diagonal"] else _api.TRS_NONUNIT,
            only=int(ordinal) if ordinal else -1)
        if count == 1:
            with Told(None, "analysis") as told:
                self._given = make_options(told, given["method"], given["nrhs"], given["solves"],
                                           take_triangle=take)
        else:
            self._given = make_struct(_api.trs_batch_options, take_triangle=take,
                                      nrhs=given["nrhs"])
            self._matrix = Matrix(parts, copy=False)
            made.matrix = self._matrix.handle.value
        made.options = C.addressof(self._given)
        return made

    def __del__(self) -> None:
        """First no call finds the plan any more, then it goes."""
        native = getattr(self, "_native", None)
        if native is not None:
            self._handler.remove(native)

    def call(self, values: Any, b: Any, check: bool) -> np.ndarray:
        """The same from Python."""
        values, b = np.asarray(values), np.asarray(b)
        with self.lock:
            if self.batch is not None:
                self.batch.update(values, check_pivots=check)
                return np.asarray(self.batch.solve(b, check_pivots=check))
            assert self.plan is not None
            try:
                self.plan.update(values[0])
            except SingularMatrixError:
                if check:
                    raise
                return np.full(b.shape, np.nan, b.dtype)
            return np.asarray(self.plan.solve(np.ascontiguousarray(b[0])))[None]


# ---- The primitive -------------------------------------------------------------------------------

_FLIP = {"N": "T", "T": "N"}
_solve_p: Any = Primitive("trireme_solve")


def _bind(values: Any, b: Any, **given: Any) -> Any:
    return jnp.zeros_like(b) if 0 in b.shape else _solve_p.bind(values, b, **given)


def _traced(values: Any, b: Any, pattern: Pattern, trans: str, check: bool) -> Any:
    return _solve_p.bind(values, b, pattern=pattern, trans=trans, check=check)


def _times(pattern: Pattern, trans: str, values: Any, x: Any) -> Any:
    """op(A) x for the values of another matrix with this pattern."""
    row, column, used = pattern._row, pattern._column, pattern._used
    if used is not None:
        row, column, values = row[used], column[used], values[:, used]
    if trans == "T":
        row, column = column, row
    return jnp.zeros_like(x).at[:, row, :].add(values[:, :, None] * x[:, column, :])


def _jvp(primals: Any, tangents: Any, **given: Any) -> Any:
    (values, b), (dvalues, db) = primals, tangents
    x = _bind(values, b, **given)
    right = None if isinstance(db, ad.Zero) else db
    if not isinstance(dvalues, ad.Zero):
        product = _times(given["pattern"], given["trans"], dvalues, x)
        right = -product if right is None else right - product
    if right is None:
        return x, jnp.zeros_like(x)
    return x, _bind(values, right, **given)


def _transpose(cotangent: Any, values: Any, b: Any, **given: Any) -> Any:
    if isinstance(cotangent, ad.Zero):
        return None, None
    given["trans"] = _FLIP[given["trans"]]
    return None, _bind(values, cotangent, **given)


def _vmap(arguments: Any, dims: Any, **given: Any) -> Any:
    (values, b), (of_values, of_b) = arguments, dims
    if of_values is None:  # more columns
        b = jnp.moveaxis(b, of_b, -1)
        x = _bind(values, b.reshape(*b.shape[:2], b.shape[2] * b.shape[3]), **given)
        return x.reshape(b.shape), 3
    values = jnp.moveaxis(values, of_values, 0)
    size = values.shape[0]
    b = jnp.broadcast_to(b, (size, *b.shape)) if of_b is None else jnp.moveaxis(b, of_b, 0)
    systems = size * values.shape[1]
    x = _bind(values.reshape(systems, values.shape[2]), b.reshape(systems, *b.shape[2:]), **given)
    return x.reshape(b.shape), 0


_program = jax.jit(_traced, static_argnames=("pattern", "trans", "check"))


def _eager(values: Any, b: Any, **given: Any) -> Any:
    """Outside jit.  With jax.debug_nans JAX would run the program anew, by this function again."""
    if not jax.config.jax_debug_nans:  # type: ignore[attr-defined]
        return _program(values, b, **given)
    with jax.debug_nans(False):
        x = _program(values, b, **given)
        if jnp.isnan(x).any():
            raise FloatingPointError("invalid value (nan) encountered in trireme.jax.solve")
    return x


_solve_p.def_impl(_eager)
_solve_p.def_abstract_eval(lambda values, b, **given: b.update(weak_type=False))
ad.primitive_jvps[_solve_p] = _jvp
ad.primitive_transposes[_solve_p] = _transpose
batching.primitive_batchers[_solve_p] = _vmap

_kept: List[Any] = []


def _keep(context: Any, solver: _Solver) -> None:
    """The compiled program keeps the plan."""
    add = getattr(context.module_context, "add_keepalive", _kept.append)
    add(solver)


def _solver_of(context: Any, pattern: Pattern, trans: str, gpu: bool = False) -> _Solver:
    values = context.avals_in[0]
    return pattern._solver(trans, np.dtype(values.dtype), values.shape[0], gpu)


def _lower_callback(context: Any, *operands: Any, pattern: Pattern, trans: str, check: bool) -> Any:
    solver = _solver_of(context, pattern, trans)

    def call(values: Any, b: Any) -> Any:
        return jax.pure_callback(lambda values, b: solver.call(values, b, check),
                                 jax.eval_shape(jnp.zeros_like, b), values, b)
    return mlir.lower_fun(call, multiple_results=False)(context, *operands)


def _lower_cpu(context: Any, *operands: Any, pattern: Pattern, trans: str, check: bool) -> Any:
    solver = _solver_of(context, pattern, trans)
    if solver._native is None:
        return _lower_callback(context, *operands, pattern=pattern, trans=trans, check=check)
    return _custom_call(context, solver, operands, check)


def _custom_call(context: Any, solver: _Solver, operands: Any, check: bool) -> Any:
    _keep(context, solver)
    return jax.ffi.ffi_lowering(_jax_ffi.TARGET)(context, *operands, key=np.int64(solver.key),
                                                 check=np.int64(check))


def _guarded(values: Any, b: Any, pattern: Pattern, trans: str) -> Any:
    """x, and NaN where a diagonal entry cannot be divided by: a plan refuses such values."""
    usable = pattern._usable(values)
    values = jnp.where(usable[:, None], values, pattern._ones(values.dtype))
    x = _solve_p.bind(values, b, pattern=pattern, trans=trans, check=True)
    return jnp.where(usable[:, None, None], x, jnp.nan)


def _lower_cuda(context: Any, *operands: Any, pattern: Pattern, trans: str, check: bool) -> Any:
    if not _can_solve_on_gpu(pattern._options["device"]):
        return _lower_callback(context, *operands, pattern=pattern, trans=trans, check=check)
    one = context.avals_in[0].shape[0] == 1
    if one and not check and not pattern._options["unit_diagonal"]:
        def call(values: Any, b: Any) -> Any:
            return _guarded(values, b, pattern, trans)
        return mlir.lower_fun(call, multiple_results=False)(context, *operands)
    return _custom_call(context, _solver_of(context, pattern, trans, True), operands, check)


mlir.register_lowering(_solve_p, _lower_callback)
mlir.register_lowering(_solve_p, _lower_cpu, platform="cpu")
mlir.register_lowering(_solve_p, _lower_cuda, platform="cuda")


# ---- For callers ---------------------------------------------------------------------------------

def features(platform: Optional[str] = None) -> str:
    """How compiled programs call the library, and what to install where Python does it.

    Parameters
    ----------
    platform : {"cpu", "cuda"}, optional
        Where the programs run; without it on JAX's default backend.

    Returns
    -------
    str
        "ffi: " and the path of the library with the custom call, or "pure_callback: " and the reason.
    """
    platform = jax.default_backend() if platform is None else platform
    platform = "cuda" if platform == "gpu" else platform
    if platform not in ("cpu", "cuda"):
        raise ValueError(f"platform is {platform!r}: it must be \"cpu\" or \"cuda\"")
    made = _jax_ffi.handler()
    lacks = made.lacks if platform == "cpu" else made.lacks_gpu
    return f"pure_callback: {lacks}" if lacks else f"ffi: {made.path}"


def _jax_has_gpu() -> bool:
    try:
        return bool(jax.devices("cuda"))
    except RuntimeError:
        return False


def _can_solve_on_gpu(device: str) -> bool:
    """Whether a program on a GPU solves there."""
    return device not in ("cpu", "serial") and not _jax_ffi.handler().lacks_gpu


def _by_default_on_gpu(device: str) -> bool:
    return device.startswith("cuda") or (device == "auto" and jax.default_backend() == "gpu" and
                                         _can_solve_on_gpu(device))


def _place(device: Any) -> str:
    name = device_name(device)
    if name in ("auto", "cpu", "serial"):
        return name
    kind, _, number = name.partition(":")
    if kind != "cuda" or not (number.isdigit() or not number):
        raise UnsupportedError(f"device is {name!r}: trireme.jax solves on \"auto\" (where the "
                               "program runs), \"cpu\", \"serial\", \"cuda\" or \"cuda:1\"")
    if not _jax_has_gpu():
        raise UnsupportedError(f"device is {name!r}, but JAX has no NVIDIA GPU: install jax[cuda13] "
                               "on a machine with one, or leave device out")
    if _jax_ffi.handler().lacks_gpu:
        raise UnsupportedError(f"device is {name!r}, but programs cannot solve there: "
                               f"{_jax_ffi.handler().lacks_gpu}")
    return name


def _on_host(A: Any) -> Any:
    """A matrix of JAX (BCSR) in host memory."""
    if library_of(getattr(A, "indptr", None)) != "jax":
        return A
    parts = [A.indptr, A.indices, A.data]
    if any(isinstance(part, jax.core.Tracer) for part in parts[:2]):
        raise TypeError("the indices of A are traced by jax.jit, jax.grad "
                        "or vmap: make the pattern outside")
    if isinstance(A.data, jax.core.Tracer):
        parts[2] = np.zeros(A.data.shape, A.data.dtype)
    return SimpleNamespace(format="csr", shape=A.shape,
                           **dict(zip(("indptr", "indices", "data"), map(np.asarray, parts))))


def pattern(A: Shaped, uplo: Optional[Uplo] = None, *, lower: Optional[bool] = None,
            unit_diagonal: bool = False, take_triangle: bool = False, device: Device = "auto",
            threads: Optional[int] = None, method: Optional[Method] = None, nrhs: int = 1,
            solves: int = 0) -> Pattern:
    """Analyse the pattern of a triangle, outside jax.jit, for `solve` inside.

    Parameters
    ----------
    A : (n, n) sparse array or matrix
        As `trireme.plan` takes it, and JAX's BCSR, in host memory.  Its values are not used.
    uplo, lower, unit_diagonal, take_triangle, threads, method, nrhs, solves : optional
        As in `trireme.plan`.
    device : str, optional
        "auto": where the program runs, on the CPU or on whichever GPU.  "cpu", "serial": there, with
        copies of the arrays of a program on a GPU.  "cuda", "cuda:1": programs on GPUs, or on that
        one, alone.

    Returns
    -------
    Pattern
        It keeps one plan per element type, transpose, size of a batch, and place; on a GPU the first
        call makes it.  A compiled program keeps the plans that it calls; `jax.clear_caches()` lets
        go of programs.

    Examples
    --------
    >>> L = tr.jax.pattern(A)
    >>> f = jax.jit(lambda values, b: tr.jax.solve(L, values, b).sum())
    >>> jax.grad(f, (0, 1))(A.data, b)
    """
    which = side(uplo, lower)
    options = dict(uplo=which, unit_diagonal=flag("unit_diagonal", unit_diagonal),
                   take_triangle=flag("take_triangle", take_triangle), device=_place(device),
                   threads=threads, method=method, nrhs=nrhs, solves=solves)
    parts = compressed(_on_host(A))
    if parts.val.device is not None:
        raise TypeError("A is on a GPU: a pattern takes a matrix in host memory, A.get() of CuPy's")
    try:
        return Pattern(parts, options, "N")
    except StructureError as error:
        tell_triangle(error, parts, which)
        raise


_of_plans: "weakref.WeakKeyDictionary[Plan, Pattern]" = weakref.WeakKeyDictionary()


def _pattern_of(given: Any) -> Pattern:
    if isinstance(given, Pattern):
        return given
    if not isinstance(given, Plan):
        raise TypeError(f"pattern is {named(given)}: make it once, outside, by "
                        "trireme.jax.pattern(A), or pass a plan")
    found = _of_plans.get(given)
    if found is None:
        with given._lock.lock:
            given._ready()
            parts, options = given._keep.parts, dict(given._options)
        if parts.val.device is not None:
            raise TypeError("the plan's matrix is on a GPU: make the plan from a matrix in host "
                            "memory")
        for word in ("store", "tune"):
            del options[word]
        options["device"] = _place(options["device"])
        found = _of_plans[given] = Pattern(parts, options, options.pop("trans"))
    return found


def _common_type(values: Any, b: Any) -> Any:
    dtype = np.dtype(jnp.result_type(values, b))
    if dtype.kind in "biu":
        dtype = np.dtype(jnp.result_type(float))
    if dtype not in SCALARS:
        raise TypeError(f"values are {values.dtype} and b is {b.dtype}: pass "
                        "values.astype('float32') and b.astype('float32'), or another of float32, "
                        "float64, complex64 and complex128")
    return dtype


def solve(pattern: "Pattern | Plan", values: Any, b: Any, trans: Optional[Trans] = None, *,
          check_pivots: bool = True) -> jax.Array:
    """Solve ``op(A) x = b`` inside or outside jax.jit, jax.grad, jax.jvp and jax.vmap.

    Parameters
    ----------
    pattern : Pattern, or Plan
        Of A, from `trireme.jax.pattern`; a plan gives its pattern and options, not its values.
    values : (nnz,) array
        A's values, in the order of the `data` of the matrix that the pattern was made from.
    b : (n,) or (n, k) array
        Right-hand sides.
    trans : {"N", "T", "H"}, optional
        Solve with A, its transpose or its conjugate transpose; without it a plan's own, or "N".
    check_pivots : bool, optional
        A diagonal entry that is zero or not finite is an error of the compiled program, which names
        the row.  False: x of such a system is NaN.

    Returns
    -------
    x : array of b's shape, of the common type of values and b
    """
    own = _pattern_of(pattern)
    trans = own._trans if trans is None else word(TRANS, "trans", trans)
    check = flag("check_pivots", check_pivots)
    for name, given in ("values", values), ("b", b):
        if is_sparse(given):
            raise TypeError(f"{name} is {named(given)}: pass an array" +
                            (", A.data" if name == "values" else ", b.toarray()"))
    values, b = jnp.asarray(values), jnp.asarray(b)
    values = without_room(values, own._nnz, own._room)
    if values.shape != (own._nnz,):
        raise ValueError(f"values has shape {values.shape}: ({own._nnz},) is wanted, one number per "
                         "entry of the pattern; jax.vmap is for more")
    n = own._shape[0]
    if b.ndim not in (1, 2) or b.shape[0] != n:
        raise ValueError(f"b has shape {b.shape}: ({n},) or ({n}, k) is wanted, with the rows of "
                         "the matrix")
    dtype = _common_type(values, b)
    right = b.astype(dtype).reshape(n, -1) if b.size else jnp.zeros((n, 0), dtype)
    pairs = dtype.kind == "c" and values.dtype.kind != "c"
    if pairs:  # a complex right-hand side of a real system: two real ones
        right = jnp.concatenate([right.real, right.imag], 1)
    values = values.astype(right.dtype)
    if trans == "H":
        values, trans = values.conj(), "T"
    x = _bind(values[None], right[None], pattern=own, trans=trans, check=check)[0]
    if pairs:
        half = x.shape[1] // 2
        x = jax.lax.complex(x[:, :half], x[:, half:])
    return x.reshape(b.shape)
