"""Plans: a system that was analysed once and is solved as often as you like."""

import ctypes as C
import warnings
import weakref
from typing import TYPE_CHECKING, Any, Dict, Optional, Tuple, TypeVar, overload

import numpy as np

from . import _api
from ._arrays import (SCALARS, Dense, as_pairs, assign, check_device_values, common_layout, contiguous, dense,
                      give_back, keep_stream, like, on_host, overlaps, share_stream, stream_address,
                      stream_of)
from ._context import Lock, check_threads, context_of
from ._library import (PlanHandle, Refusal, Shared, StructureError, Told, check, library, make_struct,
                       run, text)
from ._matrix import (UPLO, Compressed, Matrix, compressed, copy_of, kind_if_converted, refuse_order,
                      value_type, values_in_pattern, without_room, without_zeros)
from ._picture import level_picture
from ._words import (Device, DType, Method, Progress, RightHandSides, Shaped, Store, Trans, Uplo, device_name,
                     exact_type, flag, is_sparse, method_name, named, pick, side, whole, word)

if TYPE_CHECKING:
    import numpy.typing as npt
    from scipy.sparse.linalg import LinearOperator

TRANS = {"N": _api.TRS_NO_TRANS, "T": _api.TRS_TRANS, "H": _api.TRS_CONJ_TRANS}
STORE = {"same": _api.TRS_STORE_DEFAULT, "mixed": _api.TRS_STORE_MIXED}
LONG_ANALYSIS = 2_000_000  # entries from which a call is left to a thread, for Ctrl-C
LONG_SOLVE = 50_000_000  # entries times right-hand sides

Self = TypeVar("Self", bound="Life")
_ndarray, _byref = np.ndarray, C.byref
_from_buffer: Any = C.c_char.from_buffer
_solve = library.trs_solve


class Life:
    """What plans, batches and relaxations have in common: clones, waits and their end."""

    _handle: Any  # a C.c_void_p, or None
    _keep: Any
    _lock: Lock
    _refusal: Refusal
    _stream: Any = None  # that the caller named
    _stream_now = 0  # its address, or that of the last one that was followed

    def _begin_life(self) -> None:
        self._origin: Optional[Life] = None  # of a clone
        self._clones: "weakref.WeakSet[Life]" = weakref.WeakSet()  # of the origin, shared by all

    def clone(self: Self) -> Self:
        """A plan for another thread, which solves at the same time as this one.

        It shares all that solves only read, and has a workspace of its own: the memory of some
        right-hand sides.  While a plan has clones, it takes no new values, nor do they, and factors
        are not refactored: `close` them first.  On several GPUs, and of some methods on a GPU, it is an
        `UnsupportedError`.

        Returns
        -------
        Plan, Batch or Relaxation
            Of this class.

        Examples
        --------
        >>> from concurrent.futures import ThreadPoolExecutor
        >>> import numpy as np, scipy.sparse as sp, trireme as tr
        >>> L = sp.csr_array(np.array([[2.0, 0], [1, 4]]))
        >>> p = tr.plan(L, device="serial")
        >>> with ThreadPoolExecutor(2) as pool:
        ...     list(pool.map(lambda q: q.solve(np.array([2.0, 9])), [p.clone(), p.clone()]))
        [array([1., 2.]), array([1., 2.])]
        """
        made, handle = object.__new__(type(self)), PlanHandle()
        with self._lock.lock:
            self._refusal.check()
            check(library.trs_plan_clone(C.byref(handle), self._ready()))
            made.__dict__.update(self.__dict__)
            made._handle, made._lock, made._origin = handle, Lock(), self._origin or self
            made._clones.add(made)
            share_stream(handle, self._handle)
        return made

    def _check_unshared(self) -> None:
        """Before new values, which neither a clone takes nor a plan with clones."""
        if self._origin is not None:
            raise Shared("a clone has the values of the plan that it was made from: close the clones, "
                         "update that plan, and clone it again")
        count = sum(clone._handle is not None for clone in self._clones)
        if count:
            raise Shared(f"the plan shares its values with {count} clone{'s' * (count > 1)}: close the "
                         "clones, update, and clone again")

    def close(self) -> None:
        """Frees the plan; closing it again does nothing."""
        with self._lock.lock:
            self._handle = None
            self._keep = None

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()

    def _ready(self) -> Any:
        """The handle, inside the lock."""
        if self._lock.broken:
            raise RuntimeError("the process was forked while another thread was using this plan: "
                               "make a new one in the child, or use spawn")
        if not self._handle:
            raise ValueError("the plan is closed")
        return self._handle

    def wait(self) -> None:
        """Wait for solves and sweeps of device arrays, and raise what failed in them."""
        with self._lock.lock:
            check(library.trs_plan_wait(self._ready()))

    def _take_stream(self, stream: Any, address: Optional[int]) -> None:
        """The stream that the caller named, or None, and its address, which C has."""
        self._stream, self._stream_now = stream, address or 0
        keep_stream(self._handle, stream)

    def _follow_stream(self, x: Dense) -> None:
        """Where no stream was named, work on device arrays follows their library's stream."""
        if x.device is None or self._stream is not None:
            return
        stream = stream_of(x)
        address = stream_address(stream) or 0
        if address != self._stream_now:
            check(library.trs_plan_set_stream(self._ready(), address))
            self._stream_now = address
            keep_stream(self._handle, stream)

    def __str__(self) -> str:
        text = C.create_string_buffer(2048)
        with self._lock.lock:
            library.trs_plan_describe(self._ready(), text, len(text))
        return text.value.decode(errors="replace")


class Solver(Life):
    """What plans over one triangle and over factors have in common."""

    _what = "the plan"  # for messages about types

    def __init__(self, handle: C.c_void_p, keep: Any, n: int, nnz: int, dtype: Any, trans: str,
                 on_gpu: bool, matrix_device: Optional[int], stream: Any) -> None:
        self._handle: Optional[C.c_void_p] = handle
        self._keep: Any = keep
        self._n, self._nnz, self._dtype = n, nnz, np.dtype(dtype)
        self._trans, self._on_gpu, self._matrix_device = trans, on_gpu, matrix_device
        self._take_stream(stream, stream_address(stream))
        self._lock = Lock()
        self._refusal = Refusal("plan")
        self._begin_life()
        self._small = nnz < LONG_SOLVE
        self._shape = (n,)
        self._ld, self._one, self._layout = C.c_int64(max(n, 1)), C.c_int64(1), C.c_int(0)
        if stream is not None and not on_gpu and not self.info["device"]:
            refuse_stream()

    # Solving ---------------------------------------------------------------------------------

    @overload
    def solve(self, b: "npt.NDArray[Any]",
              out: "Optional[npt.NDArray[Any]]" = None) -> "npt.NDArray[Any]": ...

    @overload
    def solve(self, b: RightHandSides, out: Any = None) -> Any: ...

    def solve(self, b: Any, out: Any = None) -> Any:
        """Solve for one or many right-hand sides.

        Parameters
        ----------
        b : (n,) or (n, k) array
            Right-hand sides, of NumPy, CuPy, torch or JAX, in C or F order or with other strides.
            JAX's on a GPU are copied to host memory and x back, unless the matrix is on the GPU.
        out : (n,) or (n, k) array, optional
            Where the solution goes; `b` itself for a solve in place.  With contiguous arrays of the
            plan's dtype nothing is allocated.

        Returns
        -------
        x : (n,) or (n, k) array
            The solution, of b's library: `out` if it was given.  Its dtype is the plan's, or the
            complex one of the same precision where b is complex.
        """
        # Contiguous vectors of NumPy, of the plan's type: what takes a microsecond or two.
        if type(b) is _ndarray and b.shape == self._shape and b.dtype is self._dtype \
                and self._small:
            if out is None:
                out = np.empty(self._shape, self._dtype)
            elif type(out) is not _ndarray or out.shape != self._shape \
                    or out.dtype is not self._dtype:
                return self._solve_any(b, out)
            try:
                source, target = _byref(_from_buffer(b)), _byref(_from_buffer(out))
            except (TypeError, ValueError, BufferError):
                return self._solve_any(b, out)
            lock = self._lock
            with lock.lock:
                if self._handle and not lock.broken and self._refusal.error is None \
                        and b.flags.aligned and out.flags.aligned and self._matrix_device is None:
                    status = _solve(self._handle, target, self._ld, source, self._ld, self._one,
                                    self._layout)
                    if status:
                        check(status)
                    return out
        return self._solve_any(b, out)

    def _solve_any(self, b: Any, out: Any) -> Any:
        if b is None or is_sparse(b) or isinstance(b, str):
            raise TypeError(f"b is {named(b)}: a dense array of numbers is wanted, of {self._n} "
                            f"rows")
        source = dense(b)
        if out is None and self._matrix_device is None:
            source = on_host(source)
        dtype = self._result_type(source.dtype)
        if len(source.shape) not in (1, 2) or source.shape[0] != self._n:
            raise ValueError(f"b has shape {source.shape}: ({self._n},) or ({self._n}, k) is "
                             "wanted, with the rows of the matrix")
        self._check_place(source, "b")
        if out is None:
            target = like(source, dtype)
        else:
            target = dense(out)
            self._check_out(target, source, dtype)
        self._solve_into(target, source)
        return give_back(target, b) if out is None else out

    def _result_type(self, dtype: Any) -> Any:
        dtype = np.dtype(dtype)
        if dtype.kind in "biu":
            return self._dtype
        if dtype.kind not in "fc":
            raise TypeError(f"b is of type {dtype}: a dense array of numbers is wanted")
        complex_type = np.promote_types(self._dtype, np.complex64)
        wanted = np.promote_types(self._dtype, dtype)
        if wanted in (self._dtype, complex_type):
            return wanted
        make = f"{self._with_type(wanted.name)}, or " if wanted in SCALARS else ""
        raise TypeError(f"b is {dtype} and {self._what} {self._dtype}, which would lose digits: {make}"
                        f"pass b.astype({(complex_type if dtype.kind == 'c' else self._dtype).name!r})")

    def _with_type(self, name: str) -> str:
        return f"make the plan with dtype={name!r}"

    def _check_place(self, x: Dense, name: str) -> None:
        if x.device is not None and not self._on_gpu:
            raise TypeError(f"{name} is on a GPU, the plan on the CPU: copy {name} to host memory, "
                            "or make the plan with device=\"cuda\"")
        if self._matrix_device is not None and x.device != self._matrix_device:
            place = "in host memory" if x.device is None else f"on GPU {x.device}"
            raise TypeError(f"{name} is {place}, the matrix on GPU {self._matrix_device}: copy one "
                            "to the other's place")

    def _check_out(self, out: Dense, b: Dense, dtype: Any) -> None:
        self._check_place(out, "out")
        if out.device != b.device:
            raise TypeError("b and out lie in different memories: put both on one device")
        if out.shape != b.shape:
            raise ValueError(f"out has shape {out.shape}, b {b.shape}: they must be equal")
        if out.dtype != dtype:
            raise TypeError(f"out is {out.dtype}: {dtype} is wanted")
        if not out.writeable:
            raise ValueError("out cannot be written to")
        if overlaps(out):
            raise ValueError(f"out has strides {out.strides}, with which elements share memory: pass "
                             "an array of its own")

    def _solve_into(self, x: Dense, b: Dense) -> None:
        """x = op(T)^-1 b, for arrays that were checked."""
        if 0 in x.shape:
            return
        if b.dtype != x.dtype:
            assign(x, b)  # converts
            b = x
        layout = common_layout(x, b)
        if layout is None:
            fresh = like(b, x.dtype)
            if common_layout(fresh, fresh) is None or fresh.strides != b.strides:
                fresh = like(b._replace(strides=x.strides[::-1] if len(x.shape) == 1 else (2, 1)),
                             x.dtype)
            assign(fresh, b)
            self._solve_into(fresh, fresh)
            assign(x, fresh)
        elif x.dtype != self._dtype:
            self._solve_pairs(x, b)
        else:
            self._call(x, b, *layout)

    def _solve_pairs(self, x: Dense, b: Dense) -> None:
        """A complex right-hand side of a real system: twice as many real ones."""
        contiguous = all(leading_row(a) for a in (x, b))
        if contiguous:
            pairs_x, pairs_b = as_pairs(x), as_pairs(b)
            self._solve_into(pairs_x, pairs_b)
            return
        fresh = like(b._replace(strides=(2, 1)), x.dtype)
        assign(fresh, b)
        self._solve_pairs(fresh, fresh)
        assign(x, fresh)

    def _call(self, x: Dense, b: Dense, layout: int, ldx: int, ldb: int) -> None:
        nrhs = 1 if len(x.shape) == 1 else x.shape[1]

        def call() -> None:
            with self._lock.lock:
                handle = self._ready()
                self._refusal.check()
                self._follow_stream(x)
                check(_solve(handle, x.address, ldx, b.address, ldb, nrhs, layout))
        run(call, self._nnz * nrhs >= LONG_SOLVE)

    # What it is ------------------------------------------------------------------------------

    @property
    def shape(self) -> Tuple[int, int]:
        """(n, n)."""
        return (self._n, self._n)

    @property
    def dtype(self) -> "np.dtype[Any]":
        """The type that systems are solved in."""
        return self._dtype

    @property
    def info(self) -> Dict[str, Any]:
        """Method, reason, threads, levels and sizes, by the names of trs_plan_info.

        "store" is "mixed" if the plan keeps values as floats, and "same" if the method keeps their
        type, whatever was asked for.
        """
        info = make_struct(_api.trs_plan_info)
        with self._lock.lock:
            check(library.trs_plan_get_info(self._ready(), C.byref(info)))
            found = struct_dict(info)
        found["store"] = next(word for word, value in STORE.items() if value == info.store)
        return found

    @property
    def levels(self) -> "npt.NDArray[np.int64]":
        """Rows in each level: rows of one level can be solved at once."""
        rows, count = C.c_void_p(), C.c_int64()
        with self._lock.lock:
            check(library.trs_plan_get_levels(self._ready(), C.byref(rows), C.byref(count)))
        try:
            return copy_of(rows, count.value, np.int64)
        finally:
            library.trs_free(rows)

    def bound(self) -> float:
        """The reference time of a solve in seconds, from rates measured on this machine."""
        seconds = C.c_double()
        with self._lock.lock:
            check(library.trs_plan_bound(self._ready(), C.byref(seconds)))
        return seconds.value

    def __str__(self) -> str:
        text, info = super().__str__(), self.info
        return (f"{text}\n{info['n']:,} rows, {info['nnz']:,} "
                f"entries, {info['levels']:,} levels\nreference time: {1e6 * self.bound():.3g} µs "
                "per solve, by bandwidth and latency")

    def __repr__(self) -> str:
        if not self._handle:
            return f"<{type(self).__name__}, closed>"
        info = self.info
        return (f"<{type(self).__name__} {self._n} x {self._n}, {self._nnz} entries, "
                f"{self._dtype}, method {info['method']}, {info['threads']} threads>")

    def picture(self) -> str:
        """An SVG picture of the rows in each level, which notebooks show for a plan.

        Write it to a file: ``pathlib.Path("levels.svg").write_text(p.picture())``.
        """
        return level_picture(self.levels)

    def _repr_svg_(self) -> str:
        return self.picture()

    def matvec(self, v: Any) -> Any:
        """Solve for the vector or the columns v, as SciPy's operators do: ``P @ v``.

        NumPy's vectors of a higher precision than the plan's are rounded to it, as preconditioners
        may.
        """
        if hasattr(v, "__dlpack__") and not isinstance(v, np.ndarray):
            return self.solve(v)
        v = np.asarray(v)
        if v.dtype.kind == "f" and v.dtype != self._dtype:
            v = v.astype(self._dtype)
        elif v.dtype.kind == "c":
            v = v.astype(np.promote_types(self._dtype, np.complex64))
        return self.solve(v)

    matmat = __matmul__ = matvec

    def as_linear_operator(self) -> "LinearOperator":
        """SciPy's LinearOperator of the inverse: ``M=P`` of its solvers makes it by itself."""
        from scipy.sparse.linalg import LinearOperator
        return LinearOperator(self.shape, matvec=self.matvec, matmat=self.matmat, dtype=self._dtype)


def leading_row(x: Dense) -> bool:
    """Whether x is contiguous in C order."""
    size, steps = x.dtype.itemsize, []
    for extent in x.shape[::-1]:
        steps.append(size)
        size *= extent
    return all(e == 1 or s == t for e, s, t in zip(x.shape, x.strides, steps[::-1]))


def struct_dict(info: Any) -> Dict[str, Any]:
    values = {name: getattr(info, name) for name, _ in info._fields_ if name != "struct_size"}
    return {name: v.decode() if isinstance(v, bytes) else v for name, v in values.items()}


def make_options(told: Told, method: Optional[str], nrhs: int, solves: int, **fields: Any) -> Any:
    name = None if method is None else method_name(method, methods())
    fields.update(method=None if name is None else text(name), nrhs=whole("nrhs", nrhs),
                  solves=whole("solves", solves))
    return make_struct(_api.trs_options, progress=told.callback,
                       **{name: v for name, v in fields.items() if v})


def place_of(device: Any, matrix_device: Optional[int]) -> str:
    """The device of a plan: that of the matrix where it was left open."""
    device = device_name(device)
    if matrix_device is None:
        return device
    if device == "auto":
        return f"cuda:{matrix_device}"
    if not device.startswith("cuda"):
        raise TypeError(f"the matrix is on GPU {matrix_device}, device is {device!r}: copy the "
                        "matrix to host memory, or leave device out")
    return device


def refuse_stream() -> None:
    raise ValueError("stream is given, but the work is on the CPU, which has no streams: leave it "
                     "out, or pass device=\"cuda\"")


class Plan(Solver):
    """A triangular system op(T) x = b that was analysed; `trireme.plan` makes it.

    One plan solves one system at a time: calls from several threads wait for each other.
    It can be pickled and copied, which keeps matrix and options and analyses again.
    """

    def __init__(self, A: Any, uplo: Uplo = "lower", trans: Trans = "N", *,
                 unit_diagonal: bool = False, take_triangle: bool = False, device: Device = "auto",
                 threads: Optional[int] = None, method: Optional[Method] = None, nrhs: int = 1,
                 solves: int = 0, store: Store = "same", tune: bool = False, stream: Any = None,
                 dtype: Optional[DType] = None, copy: bool = True, launch_updates: bool = False,
                 progress: Optional[Progress] = None) -> None:
        unit_diagonal = flag("unit_diagonal", unit_diagonal)
        take_triangle, tune = flag("take_triangle", take_triangle), flag("tune", tune)
        launch_updates = flag("launch_updates", launch_updates)
        copy = flag("copy", copy)
        uplo, trans = word(UPLO, "uplo", uplo), word(TRANS, "trans", trans)
        self._options: Dict[str, Any] = dict(uplo=uplo, trans=trans, unit_diagonal=unit_diagonal,
                             take_triangle=take_triangle, device=device, threads=threads,
                             method=method, nrhs=nrhs, solves=solves, store=store, tune=tune,
                             launch_updates=launch_updates)
        kind = dict(uplo=UPLO[uplo], trans=TRANS[trans],
                    diag=_api.TRS_UNIT if unit_diagonal else _api.TRS_NONUNIT)
        self._converted = kind_if_converted(A)
        parts = A if hasattr(A, "_replace") else \
            compressed(A, None if dtype is None else exact_type(dtype))
        if parts.shape[0] != parts.shape[1]:
            raise ValueError(f"A must be a square matrix but its shape is {parts.shape}.")
        check_threads(device, threads)
        place, address = place_of(device, parts.val.device), stream_address(stream)
        self._options["device"] = place
        handle = PlanHandle()
        with Told(progress, "analysis") as told:
            options = make_options(told, method, nrhs, solves, take_triangle=int(take_triangle),
                                   store=pick(STORE, "store", store), tune=int(tune),
                                   launch_updates=int(launch_updates), stream=address)

            def analyze() -> Matrix:
                matrix = Matrix(parts, copy, place)
                check(library.trs_analyze(C.byref(handle), context_of(place, threads),
                                          matrix.handle, kind["uplo"], kind["trans"], kind["diag"],
                                          C.byref(options)), matrix.handle)
                return matrix
            matrix = run(analyze, parts.idx.shape[0] >= LONG_ANALYSIS, told)
            super().__init__(handle, matrix, parts.shape[0], parts.idx.shape[0], parts.val.dtype,
                             trans, place.startswith("cuda"), parts.val.device, stream)

    def update(self, values: Any) -> None:
        """New values in the same pattern.

        Parameters
        ----------
        values : (nnz,) array, or sparse matrix
            In the order of the `data` of the CSR or CSC matrix that the plan was made from.  A matrix may
            have any format and order; entries that it lacks become zeros.  A plan of a matrix in another
            format, such as COO, takes matrices alone.

        Notes
        -----
        After an exception, of whatever kind, the plan solves nothing until an update succeeds:
        `solve` raises what `update` raised.  A plan with clones, and a clone, raise ValueError and stay as they
        were.
        """
        self._check_unshared()
        with self._refusal:
            self._update(values)

    def _update(self, values: Any) -> None:
        if values is None or isinstance(values, str):
            raise TypeError(f"values is {named(values)}: an array of {self._nnz} numbers or a "
                            "sparse matrix is wanted")
        if is_sparse(values) or (self._converted == "a dense matrix" and np.ndim(values) == 2):
            values = self._values_of(compressed(values, self._dtype, stacklevel=6))
        else:
            refuse_order(self._converted, "pass the matrix with its new values")
            values = without_room(values, self._nnz, self._keep.parts.room if self._keep else 0)
        new = dense(values)
        self._check_place(new, "values")
        if new.dtype != self._dtype and not np.can_cast(new.dtype, self._dtype, "same_kind"):
            raise TypeError(f"values of type {new.dtype}: the plan has {self._dtype}")
        if new.device is not None:
            check_device_values(new, "values", self._dtype)
        elif not self._keep or not self._keep.copied:
            new = contiguous(new, self._dtype)
        self._refresh(new)

    def _refresh(self, new: Dense) -> None:
        def call() -> None:
            with self._lock.lock:
                handle = self._ready()
                self._check_unshared()
                self._follow_stream(new)
                self._keep.set_values(new)
                check(library.trs_update(handle, self._keep.handle), self._keep.handle)
        run(call, self._nnz >= LONG_ANALYSIS)

    def _values_of(self, parts: Any) -> Any:
        mine = self._keep.parts if self._keep else parts
        if mine.val.device is None and parts.val.device is None:
            return values_in_pattern(parts, mine)
        if parts.format != mine.format or parts.shape != mine.shape:
            raise StructureError("the matrix has another pattern than the one that was analysed: "
                                 "make a new plan")
        return parts.val.array

    def backward_error(self, x: Any, b: Any, normwise: bool = False) -> float:
        """The componentwise backward error of a solution, max |b - op(T) x| / (|op(T)| |x| + |b|).

        With `normwise` the ratio of the largest of each.  Residuals are accumulated in a higher
        precision than x.
        """
        error, normwise = make_struct(_api.trs_backward_error), flag("normwise", normwise)
        own = [np.asarray(a, self._dtype).reshape(self._n, -1, order="A") for a in (x, b)]
        own = [np.asfortranarray(a) for a in own]
        options = self._options
        with self._lock.lock:
            self._ready()
            check(library.trs_check(
                C.byref(error), self._keep.handle, UPLO[options["uplo"]], TRANS[options["trans"]],
                int(options["unit_diagonal"]), own[0].ctypes.data, max(1, self._n),
                own[1].ctypes.data, max(1, self._n), own[0].shape[1],
                _api.TRS_COL_MAJOR))
        return float(error.normwise if normwise else error.componentwise)

    def __reduce__(self) -> Any:
        with self._lock.lock:
            self._ready()
            self._refusal.check()
            parts = self._keep.parts
            if parts.val.device is not None:
                raise TypeError("a plan of a matrix on a GPU cannot be pickled: pickle one of a "
                                "matrix in host memory")
            arrays = [a.array for a in (parts.ptr, parts.idx, self._keep.val)]
            return _again, (parts.format, parts.shape, arrays, self._options, self._converted, parts.room)


def _again(form: str, shape: Any, arrays: Any, options: Dict[str, Any], converted: str = "",
           room: int = 0) -> Plan:
    ptr, idx, val = map(dense, arrays)
    made = Plan(Compressed(form, shape, ptr, idx, val, room), **options)
    made._converted = converted
    return made


def say_which_side(error: StructureError, general: str, other: str) -> None:
    """The remedy of a wrong side in this package's words, for a general matrix or for the other
    triangle."""
    for kind in ("take that triangle", "it is upper triangular", "it is lower triangular"):
        before, found, _ = str(error).partition(kind)
        if found:
            error.args = (before + (general if kind.startswith("take") else
                                    f"A{kind[2:]}, pass {other}"),)


def tell_triangle(error: StructureError, A: Any, which: Uplo, dtype: Any = None) -> None:
    """The remedy of a wrong side where take_triangle is an option; A may be `Compressed`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parts = A if isinstance(A, Compressed) else compressed(A, dtype)
    zeros = parts.val.device is None and without_zeros(parts, which) is not None
    say_which_side(error, f"all of them are zeros, pass take_triangle=True for its {which} triangle"
                   if zeros else f"pass take_triangle=True to solve with its {which} triangle, or "
                   "factor A first (trireme.lu, trireme.ilu0)",
                   f'uplo="{"upper" if which == "lower" else "lower"}"')


def plan(A: Shaped, uplo: Optional[Uplo] = None, trans: Trans = "N", *,
         lower: Optional[bool] = None, unit_diagonal: bool = False, take_triangle: bool = False,
         device: Device = "auto", threads: Optional[int] = None, method: Optional[Method] = None,
         nrhs: int = 1, solves: int = 0, store: Store = "same", tune: bool = False,
         stream: Any = None, dtype: Optional[DType] = None, copy: bool = True,
         launch_updates: bool = False, progress: Optional[Progress] = None) -> Plan:
    """Analyse a triangular system once, to solve it as often as you like.

    Parameters
    ----------
    A : (n, n) sparse array or matrix
        CSR or CSC, of SciPy, CuPy or torch, or anything with `indptr`, `indices` and `data`, with
        int32 or int64 indices, sorted or not; repeated entries add up.  Other formats are converted
        with a SparseEfficiencyWarning.  float32, float64, complex64 and complex128 are solved as
        they are, integers as float64.
    uplo : {"lower", "upper"}, optional
        The triangle that A is; without it "lower".
    trans : {"N", "T", "H"}
        Solve with A, its transpose, or its conjugate transpose.
    lower : bool, optional
        In place of `uplo`, as SciPy's `spsolve_triangular` takes it.
    unit_diagonal : bool, optional
        Take the diagonal for ones, whatever is stored.
    take_triangle : bool, optional
        Use the named triangle of a general matrix; without it entries on the other side are an
        error.
    device : str, torch.device or cupy.cuda.Device, optional
        "auto", "cpu", "serial" (one thread of the CPU), "cuda", "cuda:1", or "cuda:0-3" for several
        GPUs.
    threads : int, optional
        CPU threads; without it `set_num_threads`, TRIREME_NUM_THREADS, or all cores, or as many as
        OMP_NUM_THREADS, LOKY_MAX_CPU_COUNT or SLURM_CPUS_PER_TASK says.
    method : str, optional
        A method by name (`trireme.methods()`); without it the one with the lowest estimate.
        Type checkers take parameters as ``trireme.Name("engine:substitute=0")``.
    nrhs, solves : int, optional
        Right-hand sides expected in a solve, and solves expected (0: many).
    store : {"same", "mixed"}, optional
        "mixed": keep off-diagonal values of double systems as floats, on a GPU and in the methods
        "serial" (by rows, `nrhs` at most 1) and "blocks".  Other methods keep their type;
        `info["store"]` and ``print(plan)`` say so.
        "blocks" then rounds x to floats: a Krylov method may report less than the true residual.
    tune : bool, optional
        Time the candidates once and keep the fastest: settings on a GPU, methods on a CPU.
    stream : optional
        A stream of CuPy or torch for solves of device arrays; without it they follow the current
        stream of the library that b came from.  A plan on the CPU has no streams: ValueError.
    dtype : optional
        The type to solve in, float32, float64, complex64 or complex128; A's values are converted.
    copy : bool, optional
        False: use A's arrays where they lie.  They must then not change while the plan lives.
        Arrays on a GPU are always used where they lie.
    launch_updates : bool, optional
        For a matrix on a GPU: `update` only launches, so that a CUDA graph can contain it together
        with solves.  `wait` and later calls raise what was wrong with the values; x is NaN then.
    progress : callable or True, optional
        Called with (phase, done) now and then, from another thread; in a phase that tells nothing
        for a second the seconds follow its name.  True shows a bar where tqdm is there.

    Returns
    -------
    Plan

    Raises
    ------
    SingularMatrixError
        A diagonal entry is missing, zero or not finite; `.row` says where.
    StructureError
        Entries on the wrong side; `.row` says where.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp, trireme as tr
    >>> L = sp.csr_array(np.array([[2.0, 0], [1, 4]]))
    >>> with tr.plan(L) as p:
    ...     x = p.solve(np.array([2.0, 9]))
    >>> x
    array([1., 2.])
    """
    which = side(uplo, lower)
    try:
        return Plan(A, which, trans, unit_diagonal=unit_diagonal, take_triangle=take_triangle,
                    device=device, threads=threads, method=method, nrhs=nrhs, solves=solves,
                    store=store, tune=tune, stream=stream, dtype=dtype, copy=copy,
                    launch_updates=launch_updates, progress=progress)
    except StructureError as error:
        tell_triangle(error, A, which, dtype)
        raise


def methods() -> str:
    """The methods by name, one per line, and what they are for."""
    return str(library.trs_method_list().decode())


__all__ = ["Plan", "Solver", "methods", "plan", "SCALARS", "value_type"]
