"""The C library: where it is, its functions, its errors, and calls that Ctrl-C can leave."""

import ctypes as C
import glob
import importlib.util
import os
import threading
from typing import Any, Callable, List, Optional, Tuple, Type

from numpy.linalg import LinAlgError

from . import _api

HERE = os.path.dirname(os.path.abspath(__file__))
VERSION = "0.1.0"


def text(value: Any) -> bytes:
    """A text or a path for C, which takes a null character for its end."""
    made = os.fsencode(value)
    if b"\0" in made:
        raise ValueError(f"{value!r} contains a null character")
    return made


class StructureError(LinAlgError, ValueError):
    """The matrix is not what was said of it: entries on the wrong side, or not square.

    Attributes
    ----------
    row : int
        The row (CSR) or column (CSC) at fault, or -1.
    """

    row = -1


class SingularMatrixError(LinAlgError):
    """A diagonal entry is missing, zero or not finite.

    Attributes
    ----------
    row : int
        The row at fault, or -1.
    """

    row = -1


class UnsupportedError(RuntimeError):
    """Not in this build or not on this machine; the message says what to install."""


_ERRORS = {
    _api.TRS_ERROR_ARGUMENT: ValueError,
    _api.TRS_ERROR_MEMORY: MemoryError,
    _api.TRS_ERROR_FILE: OSError,
    _api.TRS_ERROR_FORMAT: ValueError,
    _api.TRS_ERROR_STRUCTURE: StructureError,
    _api.TRS_ERROR_ZERO_PIVOT: SingularMatrixError,
    _api.TRS_ERROR_NOT_FINITE: SingularMatrixError,
    _api.TRS_ERROR_UNSUPPORTED: UnsupportedError,
}


def _candidates() -> List[str]:
    """Paths in the order of preference; the last one is the loader's to find."""
    told = os.environ.get("TRIREME_LIBRARY")
    if told:
        return [told]
    found = []
    if importlib.util.find_spec("trireme_cu13"):
        import trireme_cu13
        found += glob.glob(os.path.join(os.path.dirname(trireme_cu13.__file__), "lib",
                                        "libtrireme.so"))
    found += glob.glob(os.path.join(HERE, "lib", "libtrireme.so*"))
    found += glob.glob(os.path.join(HERE, "..", "..", "..", "build", "src", "libtrireme.so"))
    return found + ["libtrireme.so.0"]


def _load() -> C.CDLL:
    path = _candidates()[0]
    try:
        library = C.CDLL(path)
        for name, (result, arguments) in _api.FUNCTIONS.items():
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
    except (OSError, AttributeError) as error:
        raise ImportError(f"{path} is not a library that this package can use ({error}): install "
                          "the package anew, or name the library in TRIREME_LIBRARY") from error
    version = library.trs_version().decode()
    if version != VERSION:
        raise ImportError(f"{path} is of version {version}, the package of {VERSION}: install both "
                          "from one source, or name another library in TRIREME_LIBRARY")
    return library


library: Any = _load()


def make_struct(struct: Type[C.Structure], **fields: Any) -> Any:
    """A structure that begins with its size; ctypes alone wraps numbers that do not fit."""
    made = struct(struct_size=C.sizeof(struct), **fields)
    for name, value in fields.items():
        if isinstance(value, int) and getattr(made, name) != value:
            raise ValueError(f"{name} is {value}: {_range(struct, name)}")
    return made


def _range(struct: Any, name: str) -> str:
    kind = dict(struct._fields_)[name]
    bits, signed = 8 * C.sizeof(kind), kind(-1).value < 0
    low, high = (-2**(bits - 1), 2**(bits - 1) - 1) if signed else (0, 2**bits - 1)
    return f"it must be from {low} to {high}"


def _is_missing_diagonal(A: Optional[C.c_void_p], row: int) -> bool:
    info = make_struct(_api.trs_matrix_info)
    return bool(A) and row >= 0 and not library.trs_matrix_get_info(A, C.byref(info)) \
        and info.missing_diagonal == row


def error_of(status: int, A: Optional[C.c_void_p] = None) -> Exception:
    """The exception for this thread's last failure; A is the matrix that it is about."""
    last = library.trs_last_error().contents
    kind = _ERRORS.get(status, RuntimeError)
    row, message = last.row, last.message.decode(errors="replace")
    if status == _api.TRS_ERROR_STRUCTURE and _is_missing_diagonal(A, row):
        kind = SingularMatrixError
    error = kind(message)
    if isinstance(error, (StructureError, SingularMatrixError)):
        error.row = row
    return error


class Refusal:
    """What the last update of an object raised; the object solves nothing until one succeeds.

    C refuses too, but is not told of values that Python refuses.
    """

    error: Optional[BaseException] = None

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: Optional[BaseException], trace: Any) -> None:
        self.error = error

    def check(self, name: str) -> None:
        if self.error is None:
            return
        kind = type(self.error) if isinstance(self.error, (LinAlgError, TypeError, ValueError)) \
            else RuntimeError
        refused = kind(f"update of this {name} failed, and until it succeeds the {name} solves "
                       f"nothing; it said: {self.error or type(self.error).__name__}")
        if isinstance(refused, (StructureError, SingularMatrixError)):
            refused.row = getattr(self.error, "row", -1)
        raise refused from self.error


def check(status: int, A: Optional[C.c_void_p] = None) -> None:
    if status:
        raise error_of(status, A)


def run(call: Callable[[], Any], long: bool) -> Any:
    """call(), and in the main thread, if it may take long, so that Ctrl-C is answered at once.

    Python hands signals to its main thread alone, and only between two bytecodes: a long call goes
    to a thread of its own, for which the main thread waits.  The C library cannot be stopped inside
    a call; after a Ctrl-C that thread ends its work, keeps what it needs until then, and its result
    is thrown away.
    """
    if not long or threading.current_thread() is not threading.main_thread():
        return call()
    result: List[Tuple[bool, Any]] = []

    def work() -> None:
        try:
            result.append((True, call()))
        except BaseException as error:  # handed to the caller below
            result.append((False, error))

    thread = threading.Thread(target=work, name="trireme", daemon=True)
    thread.start()
    thread.join()
    good, value = result[0]
    if good:
        return value
    raise value


_NO_PROGRESS = _api.trs_progress()


class Progress:
    """A caller's progress function, or a bar of tqdm's, as the C library calls it.

    An exception in the function is raised again once the C call has returned.
    """

    def __init__(self, told: Any) -> None:
        self.told, self.bar = told, None
        self.error: Optional[BaseException] = None
        self.callback = _api.trs_progress(self.call) if told else _NO_PROGRESS
        if told is True:
            try:
                from tqdm.auto import tqdm
                self.bar = tqdm(total=1.0, bar_format="{desc}: {percentage:3.0f}%|{bar}|")
            except ImportError:
                self.callback = _NO_PROGRESS

    def call(self, user: Any, phase: bytes, done: float) -> None:
        try:
            if self.bar is not None:
                self.bar.set_description(phase.decode(), refresh=False)
                self.bar.n = done
                self.bar.refresh()
            else:
                self.told(phase.decode(), done)
        except BaseException as error:
            self.error = error

    def finish(self) -> None:
        if self.bar is not None:
            self.bar.close()
        if self.error is not None:
            raise self.error


def version() -> str:
    """The C library's version."""
    return str(library.trs_version().decode())


def features() -> str:
    """What the build has, one feature per line, and what to install for those it lacks."""
    return str(library.trs_features().decode())


def devices() -> List[str]:
    """The GPUs that can be used, such as "cuda:0    NVIDIA H100"."""
    return [line for line in library.trs_device_list().decode().split("\n") if line]


def memory_usage() -> Tuple[int, int]:
    """Bytes that the C library holds now, and the most it ever held."""
    now, most = C.c_int64(), C.c_int64()
    library.trs_memory_usage(C.byref(now), C.byref(most))
    return now.value, most.value
