"""Multicolour relaxation of block systems."""

import ctypes as C
from typing import TYPE_CHECKING, Any, Dict, Optional

import numpy as np

from . import _api
from ._arrays import SCALARS, Dense, common_layout, dense, stream_address, whole_numbers
from ._context import Lock, check_threads, context_of
from ._library import PlanHandle, Refusal, check, library, make_struct, run
from ._matrix import matrix_of
from ._plan import LONG_SOLVE, Life, refuse_stream, struct_dict
from ._words import Device, Direction, RelaxStore, Shaped, device_name, flag, pick, real, whole

if TYPE_CHECKING:
    import numpy.typing as npt
    from scipy.sparse.linalg import LinearOperator

STORES = {"mixed": _api.TRS_STORE_MIXED, "double": _api.TRS_STORE_DOUBLE,
          "float": _api.TRS_STORE_FLOAT, "half": _api.TRS_STORE_HALF,
          "bfloat16": _api.TRS_STORE_BFLOAT}
DIRECTIONS = {"forward": _api.TRS_SWEEP_FORWARD, "backward": _api.TRS_SWEEP_BACKWARD,
              "symmetric": _api.TRS_SWEEP_SYMMETRIC}


class _Blocks:
    """The arrays of a BSR matrix, kept for a call."""

    def __init__(self, A: Any) -> None:
        data = np.asarray(A.data)
        if data.ndim != 3 or data.shape[1] != data.shape[2]:
            raise ValueError(f"the blocks have shape {data.shape[1:]}: square ones are wanted")
        wanted = data.dtype if data.dtype == np.float32 else np.dtype("f8")
        if data.dtype.kind == "c":
            raise TypeError("relaxation is of real matrices")
        self.size = int(data.shape[1])
        self.rows = int(A.shape[0]) // self.size
        if A.shape[0] != A.shape[1]:
            raise ValueError(f"A must be a square matrix but its shape is {A.shape}.")
        self.val = np.require(data, wanted, ["C", "A"])
        kind = np.int64 if 8 in (A.indptr.dtype.itemsize, A.indices.dtype.itemsize) else np.int32
        self.ptr = np.require(A.indptr, kind, ["C", "A"])
        self.idx = np.require(A.indices, kind, ["C", "A"])
        self.indexing = _api.TRS_PTR32 if kind == np.int32 else _api.TRS_PTR64 | _api.TRS_IDX64
        if self.ptr.shape != (self.rows + 1,) or self.idx.shape[0] < self.ptr[-1] or \
                self.val.shape[0] < self.ptr[-1]:
            raise ValueError("indptr, indices and data do not belong together")

    def described(self) -> Any:
        """The address of a trs_blocks, for one call."""
        return C.byref(make_struct(
            _api.trs_blocks, scalar=SCALARS[self.val.dtype], block_size=self.size, nrows=self.rows,
            layout=_api.TRS_ROW_MAJOR, indexing=self.indexing, ptr=self.ptr.ctypes.data,
            idx=self.idx.ctypes.data, val=self.val.ctypes.data))


def _is_bsr(A: Any) -> bool:
    return getattr(A, "format", None) == "bsr"


def _copy_of(A: Any) -> Any:
    """A copy in SciPy's arrays, for pickles; None of a matrix on a GPU."""
    from scipy.sparse import bsr_array, csc_array, csr_array
    if _is_bsr(A):
        return bsr_array((np.array(A.data), np.array(A.indices), np.array(A.indptr)),
                         shape=A.shape)
    parts = matrix_of(A).parts
    if parts.val.device is not None:
        return None
    return (csr_array if parts.format == "csr" else csc_array)(
        tuple(np.array(a.array) for a in (parts.val, parts.idx, parts.ptr)), shape=parts.shape)


class Relaxation(Life):
    """Gauss-Seidel by colours on block rows; `trireme.relaxation` makes it.

    It can be pickled and copied, which keeps matrix and options and colours again.
    """

    def __init__(self, A: Any, block_size: Optional[int] = None, *, store: RelaxStore = "mixed",
                 nrhs: int = 1, balanced: bool = False, colour: Any = None,
                 device: Device = "auto", threads: Optional[int] = None, stream: Any = None,
                 copy: bool = True) -> None:
        self._begin_life()
        self._handle, self._keep = PlanHandle(), None
        self._lock = Lock()
        self._refusal = Refusal("relaxation")
        check_threads(device, threads)
        context = context_of(device, threads)
        if block_size is not None:
            block_size = whole("block_size", block_size, 1, 32)
        balanced, copy = flag("balanced", balanced), flag("copy", copy)
        if colour is not None:
            colour = whole_numbers(colour, "colour")
        self._options: Dict[str, Any] = dict(
            store=store, nrhs=whole("nrhs", nrhs), balanced=balanced, colour=colour,
            device=device_name(device), threads=threads)
        options = make_struct(_api.trs_relax_options, store=pick(STORES, "store", store), nrhs=nrhs,
                              balanced=int(balanced),
                              colour=None if colour is None else colour.ctypes.data)
        options.held = colour  # by the call, which Ctrl-C may leave
        if _is_bsr(A) and block_size in (None, A.blocksize[0]):
            blocks = _Blocks(A)
            self._check_colour(colour, blocks.rows)
            self._block_size, self._n = blocks.size, blocks.rows * blocks.size
            self._dtype = blocks.val.dtype
            run(lambda: check(library.trs_relax_create_bsr(
                C.byref(self._handle), context, blocks.described(), C.byref(options))),
                blocks.val.size >= LONG_SOLVE // 10)
        else:
            matrix = matrix_of(A.tocsr() if _is_bsr(A) else A, stacklevel=5)
            self._block_size, self._n = block_size or 1, matrix.parts.shape[0]
            self._check_colour(colour, self._n // self._block_size)
            self._dtype = matrix.parts.val.dtype
            run(lambda: check(library.trs_relax_create(
                C.byref(self._handle), context, matrix.handle, self._block_size,
                C.byref(options))), matrix.parts.idx.shape[0] >= LONG_SOLVE // 10)
        self._copies, self._copy = copy, _copy_of(A) if copy else None
        self._on_gpu = self.info["variant"] != "threads"
        self._take_stream(stream, stream_address(stream))
        if stream is not None:
            if not self._on_gpu:
                refuse_stream()
            check(library.trs_plan_set_stream(self._handle, stream_address(stream)))

    @staticmethod
    def _check_colour(colour: Any, rows: int) -> None:
        if colour is not None and colour.shape != (rows,):
            raise ValueError(f"colour has shape {colour.shape}: ({rows},) is wanted")

    def _vector(self, array: Any, name: str) -> Dense:
        made = dense(array)
        if made.device is not None and not self._on_gpu:
            raise TypeError(f"{name} is on a GPU, the relaxation on the CPU: copy {name} to host memory, or "
                            "make the relaxation with device=\"cuda\"")
        if made.dtype != self._dtype:
            if name == "x" or made.device is not None or \
                    not np.can_cast(made.dtype, self._dtype, "same_kind"):
                raise TypeError(f"{name} is {made.dtype}: {self._dtype} is wanted")
            made = dense(made.array.astype(self._dtype))
        if len(made.shape) not in (1, 2) or made.shape[0] != self._n:
            raise ValueError(f"{name} has shape {made.shape}: ({self._n},) or ({self._n}, k) is "
                             "wanted")
        return made

    def sweep(self, x: Any, b: Any, sweeps: int = 1, *, direction: Direction = "forward",
              omega: float = 1.0, zero: bool = False,
              residual_every: int = 0) -> "Optional[npt.NDArray[np.float64]]":
        """Sweep towards the solution of A x = b; x is changed in place.

        Parameters
        ----------
        x, b : (n,) or (n, k) array
            The approximation, and the right-hand side.
        sweeps : int, optional
            How many.
        direction : {"forward", "backward", "symmetric"}, optional
            The order of the colours; symmetric is forward, then backward.
        omega : float, optional
            The factor of relaxation.
        zero : bool, optional
            Start from zero, whatever x holds.
        residual_every : int, optional
            Measure |b - A x| before the first sweep and after every so many.

        Returns
        -------
        residuals : (m, k) array or None
            2-norms, one row per measurement; None where none was asked for.
        """
        own, given = self._vector(x, "x"), self._vector(b, "b")
        if own.shape != given.shape:
            raise ValueError(f"x has shape {own.shape}, b {given.shape}: they must be equal")
        layout = common_layout(own, given)
        if layout is None or not own.writeable:
            raise ValueError("x and b must be writable arrays of one order, C or Fortran")
        nrhs = 1 if len(own.shape) == 1 else own.shape[1]
        sweeps, omega = whole("sweeps", sweeps), real("omega", omega)
        if sweeps == 0 or omega == 0:  # C takes 0 for its default
            raise ValueError(f"{'omega' if sweeps else 'sweeps'} is 0: x would stay as it is")
        every = whole("residual_every", residual_every)
        residuals = np.zeros((1 + sweeps // every, nrhs)) if every > 0 else None
        options = make_struct(_api.trs_sweep_options, sweeps=sweeps, omega=omega,
                              direction=pick(DIRECTIONS, "direction", direction),
                              keep_x=int(not flag("zero", zero)), residual_every=every,
                              residuals=None if residuals is None else residuals.ctypes.data)

        options.held = residuals  # a call that Ctrl-C left still writes them

        def call() -> None:
            with self._lock.lock:
                self._refusal.check()
                self._follow_stream(own if own.device is not None else given)
                check(library.trs_relax_sweep(self._ready(), own.address, layout[1], given.address,
                                              layout[2], nrhs, layout[0], C.byref(options)))
        run(call, self._n * nrhs * sweeps >= LONG_SOLVE // 20)
        return residuals

    def update(self, A: Any) -> None:
        """New values in the same pattern, of a matrix of the kind that was given at first.

        After an exception the relaxation sweeps no more until an update succeeds.
        """
        with self._refusal, self._lock.lock:
            self._check_unshared()
            if _is_bsr(A) and A.blocksize[0] == self._block_size:
                blocks = _Blocks(A)
                if blocks.rows * blocks.size != self._n or blocks.val.dtype != self._dtype:
                    raise ValueError(f"A is {A.shape} of {blocks.val.dtype}: {(self._n, self._n)} "
                                     f"of {self._dtype} is wanted")
                check(library.trs_update_bsr(self._ready(), blocks.described()))
            else:
                matrix = matrix_of(A, self._dtype)
                check(library.trs_update(self._ready(), matrix.handle))
            self._copy = _copy_of(A) if self._copies else None

    @property
    def info(self) -> Dict[str, Any]:
        """Colours, blocks, bytes and times, by the names of trs_relax_info."""
        info = make_struct(_api.trs_relax_info)
        with self._lock.lock:
            check(library.trs_relax_get_info(self._ready(), C.byref(info)))
            found = struct_dict(info)
        for pointer in ("colour_ptr", "row"):
            del found[pointer]
        return found

    def as_linear_operator(self, sweeps: int = 1, *, direction: Direction = "forward",
                           omega: float = 1.0) -> "LinearOperator":
        """SciPy's LinearOperator of some sweeps from zero, a preconditioner."""
        from scipy.sparse.linalg import LinearOperator

        def apply(v: Any) -> Any:
            b = np.array(v, self._dtype, order="C")
            x = np.zeros_like(b)
            self.sweep(x, b, sweeps, zero=True, direction=direction, omega=omega)
            return x
        return LinearOperator((self._n, self._n), matvec=apply, matmat=apply, dtype=self._dtype)

    def __reduce__(self) -> Any:
        with self._lock.lock:
            self._ready()
            self._refusal.check()
            if self._copy is None:
                raise TypeError("a relaxation with copy=False, or of a matrix on a GPU, has no copy "
                                "of the matrix and cannot be pickled: make it with copy=True of a "
                                "matrix in host memory")
            return _again, (self._copy, self._block_size, self._options)

    def __repr__(self) -> str:
        info = self.info
        return (f"<Relaxation {self._n} x {self._n}, blocks of {self._block_size}, "
                f"{info['colours']} colours, {info['threads']} threads>")


def _again(A: Any, block_size: int, options: Dict[str, Any]) -> Relaxation:
    return Relaxation(A, block_size, **options)


def relaxation(A: Shaped, block_size: Optional[int] = None, *, store: RelaxStore = "mixed",
               nrhs: int = 1, balanced: bool = False, colour: Any = None, device: Device = "auto",
               threads: Optional[int] = None, stream: Any = None, copy: bool = True) -> Relaxation:
    """Prepare multicolour Gauss-Seidel relaxation of a block system.

    Parameters
    ----------
    A : (n, n) sparse array or matrix
        BSR with square blocks, or CSR or CSC with `block_size`; float32 or float64.
    block_size : int, optional
        Rows of a block, 1 to 32; the default is BSR's own, else 1.
    store : {"mixed", "double", "float", "half", "bfloat16"}, optional
        How entries off the diagonal blocks are kept; all but "double" keep x in float.  Inside a
        Krylov method use "double": its residual by recurrence may fall far below the true one.
    nrhs : int, optional
        Right-hand sides swept side by side.
    balanced : bool, optional
        Even out the colours.
    colour : (n / block_size,) array of int, optional
        Your own colouring.
    device, threads, stream : optional
        As `trireme.plan` takes them.
    copy : bool, optional
        Keep a copy of A, which pickles of the relaxation need.  Sweeps do not use it.

    Returns
    -------
    Relaxation
    """
    return Relaxation(A, block_size, store=store, nrhs=nrhs, balanced=balanced, colour=colour,
                      device=device, threads=threads, stream=stream, copy=copy)
