"""The C library: where it is, its functions, its errors, and calls that Ctrl-C can leave."""

import _thread
import atexit
import ctypes as C
import difflib
import errno
import glob
import importlib.util
import os
import re
import sys
import threading
import time
from functools import partial
from typing import Any, Callable, List, Optional, Set, Tuple, Type

from numpy.linalg import LinAlgError

from . import _api
from ._words import named

HERE = os.path.dirname(os.path.abspath(__file__))
VERSION = "0.1.0"
# The build's file, all that an installation may have, and the name that the loader knows.
_BUILT, _INSTALLED, _LOADED = ("libtrireme.dylib", "libtrireme*.dylib", "libtrireme.0.dylib") \
    if sys.platform == "darwin" else ("libtrireme.so", "libtrireme.so*", "libtrireme.so.0")


def text(value: Any) -> bytes:
    """A text or a path for C, which takes a null character for its end."""
    if not isinstance(value, (str, bytes)) and not hasattr(value, "__fspath__"):
        raise TypeError(f"{named(value)} in place of a path or name: a text or a pathlib.Path is "
                        "wanted")
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


class SingularMatrixError(LinAlgError, RuntimeError):
    """A diagonal entry or a pivot is missing, zero or not finite.

    A LinAlgError as of SciPy's `spsolve_triangular`, and a RuntimeError as of its `splu`.

    Attributes
    ----------
    row : int
        The row at fault, or -1.
    system : int
        The system of a `Batch` that is at fault, or -1.
    """

    row = -1
    system = -1


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
                                        _INSTALLED))
    found += glob.glob(os.path.join(HERE, "lib", _INSTALLED))
    found += glob.glob(os.path.join(HERE, "..", "..", "..", "build", "src", _BUILT))
    return found + [_LOADED]


def _advice() -> str:
    """What to do where no library can be used."""
    if "TRIREME_LIBRARY" not in os.environ and \
            os.path.exists(os.path.join(HERE, "..", "..", "..", "CMakeLists.txt")):
        return (f"{HERE} belongs to a checkout that has no library. To use an installed package, start "
                f"Python in another folder and leave {os.path.dirname(HERE)} out of PYTHONPATH; to use "
                "this one, run 'make build' in the checkout, or name the library in TRIREME_LIBRARY")
    return "install the package anew, or name the library in TRIREME_LIBRARY"


def _load() -> C.CDLL:
    path = _candidates()[0]
    try:
        library = C.CDLL(path)
        for name, (result, arguments) in _api.FUNCTIONS.items():
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
    except (OSError, AttributeError) as error:
        raise ImportError(f"{path} is not a library that this package can use ({error}): "
                          f"{_advice()}") from error
    version = library.trs_version().decode()
    if version != VERSION:
        raise ImportError(f"{path} is of version {version}, the package of {VERSION}: install both "
                          "from one source, or name another library in TRIREME_LIBRARY")
    return library


library: Any = _load()
PACKAGED = any("/trireme" + end in str(library._name) for end in ("/lib/", "_cu13/lib/"))

# C's words for what Python calls otherwise; then those for who has a package and no build folder.
_IN_PYTHON = [(r"trs_matrix_triangle extracts the triangle", "trireme.triangle extracts it"),
              (r": in a trs_\w+ it must", ": it must"),
              (r"x and b overlap: .*", "out and b overlap: pass b itself as out, or an array apart from it"),
              (r"call trs_batch_update\w* first", "call update first"),
              ('create the context by "auto", "serial" or "threads"',
               'device is "auto", "cpu" or "serial"'),
              (r"\(max_bytes of trs_read_options, --max-memory\)", "(max_bytes)"),
              (r"\(--precision z, dtype=(\S+), TRS_DCOMPLEX\)", r"(dtype=\1)"),
              (r" \((?:trs|TRS)_\w+\)", "")]
_CUDA = ("install it from the checkout, with nvcc: pip install . -C cmake.define.TRIREME_WITH_CUDA=ON, or for a wheel "
         "its GPU part, pip wheel bindings/python/cu13")
_IN_PACKAGES = [(r"install the CUDA toolkit \(nvcc\) and build Trireme from source|"
                 r"build with -DTRIREME_WITH_CUDA=ON, for which the CUDA toolkit \(nvcc\) is needed",
                 _CUDA),
                ("and build Trireme from source", "and build the package in the checkout, pip install ."),
                (r"build with -DTRIREME_WITH_PAPERS=ON",
                 "build it: pip install . -C cmake.define.TRIREME_WITH_PAPERS=ON in the checkout")]


def in_python(message: str) -> str:
    """A message of the C library in this package's words."""
    for pattern, words in _IN_PYTHON + (_IN_PACKAGES if PACKAGED else []):
        message = re.sub(pattern, words, message)
    return message


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
    row, message = last.row, in_python(last.message.decode(errors="replace"))
    if status == _api.TRS_ERROR_STRUCTURE and _is_missing_diagonal(A, row):
        kind = SingularMatrixError
    error = kind(message)
    if isinstance(error, (StructureError, SingularMatrixError)):
        error.row = row
    return error


class Shared(ValueError):
    """An update of what clones share, which leaves all of them as they were."""


class Refusal:
    """What the last update of an object raised; the object solves nothing until one succeeds.

    C refuses too, but is not told of values that Python refuses.  Plans of factors have the refusal
    of their factors.
    """

    error: Optional[BaseException] = None

    def __init__(self, name: str, call: str = "update") -> None:
        self.call = f"{call} of {'these' if name == 'factors' else 'this'} {name}"
        self.then = "nothing is solved with them" if name == "factors" else f"the {name} solves nothing"

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: Optional[BaseException], trace: Any) -> None:
        if not isinstance(error, Shared):
            self.error = error

    def check(self) -> None:
        if self.error is None:
            return
        kind = type(self.error) if isinstance(self.error, (LinAlgError, TypeError, ValueError)) \
            else RuntimeError
        said = str(self.error) or type(self.error).__name__
        refused = kind(f"{self.call} failed, and until it succeeds {self.then}; it said: {said}")
        if isinstance(refused, (StructureError, SingularMatrixError)):
            refused.row = getattr(self.error, "row", -1)
        raise refused from self.error


def check(status: int, A: Optional[C.c_void_p] = None) -> None:
    if status:
        raise error_of(status, A)


def check_file(status: int, path: Any, writing: bool = False) -> None:
    """As `check`; of a file that is not there, not allowed or a folder, Python's own exceptions."""
    if status != _api.TRS_ERROR_FILE:
        return check(status)
    name = os.fsdecode(path)
    folder = os.path.dirname(name) or "."
    wanted = folder if writing else name
    if os.path.isdir(name):
        code, hint = errno.EISDIR, ""
    elif not os.path.exists(wanted):
        code, hint = errno.ENOENT, _hint(name, folder)
    elif not os.access(name if os.path.exists(name) else folder,
                       os.W_OK if writing else os.R_OK):
        code, hint = errno.EACCES, ""
    else:
        return check(status)
    raise OSError(code, os.strerror(code) + hint, name)


def _hint(name: str, folder: str) -> str:
    """What a name that is no file may have meant."""
    made = [line.split(":")[0] for line in generators().splitlines()]
    if name.partition(":")[0] in made:
        return f" (trireme.generate({name!r}) makes that matrix)"
    files = os.listdir(folder) if os.path.isdir(folder) and os.access(folder, os.R_OK) else []
    near = difflib.get_close_matches(os.path.basename(name), files, 1, 0.7)
    return f" (the folder has {near[0]!r})" if near else ""


def generators() -> str:
    """What `generate` makes, one per line."""
    return str(library.trs_generator_list().decode()).replace("gen:", "")


class Handle(C.c_void_p):
    """The address of an object of C, which is destroyed with this one, whoever holds that last.

    It belongs to its holder before C sets it, so that no interrupt can come between the two.  Its end
    runs no bytecode, between two of which Python may raise KeyboardInterrupt: the property makes a
    `partial` of C's function and the handle, and both are Python's C code.
    """

    destroy: Any


def _handles_of(function: Any) -> Type[Handle]:
    return type("Handle", (Handle,), {"destroy": function, "__del__": property(partial(partial, function))})


MatrixHandle = _handles_of(library.trs_matrix_destroy)
FactorsHandle = _handles_of(library.trs_factors_destroy)
PlanHandle = _handles_of(library.trs_plan_destroy)
ContextHandle = _handles_of(library.trs_context_destroy)


class Cancelled(RuntimeError):
    """The C library has left a call, as it was told to."""


_ERRORS[_api.TRS_ERROR_CANCELLED] = Cancelled
_calls: "Set[Call]" = set()  # that work, also those that nobody waits for
_closing = False
PATIENCE = 2.0  # seconds that Ctrl-C waits for a call to end: SuiteSparse's orders go on to theirs


class Call:
    """A call of the C library that can be cancelled, and that the end of the interpreter waits for."""

    def __init__(self, call: Callable[[], Any]) -> None:
        self.call: Optional[Callable[[], Any]] = call
        self.flag, self.ended = C.c_int(0), _thread.allocate_lock()
        self.good = self.done = False
        self.value: Any = None
        self.begun = self.left = False
        self.ended.acquire()

    def work(self) -> None:
        self.begun = True  # before it looks at left, which leave sets before it looks at begun
        _calls.add(self)
        try:
            if self.left or _closing:
                raise Cancelled("the call was cancelled before it began")
            library.trs_set_cancel_flag(C.byref(self.flag))
            try:
                self.value, self.good = self.call(), True  # type: ignore[misc]
            finally:
                library.trs_set_cancel_flag(None)
        except BaseException as error:  # handed to who waits
            self.value = error
        if self.left:
            self.value = None
        self.call = None  # and all that it holds
        _calls.discard(self)
        self.done = True
        self.ended.release()

    def wait(self, seconds: float = -1) -> bool:
        """False: the call goes on."""
        if self.done:  # Ctrl-C may have come between acquire and release
            return True
        if not self.ended.acquire(True, seconds):
            return False
        self.ended.release()
        return True

    def cancel(self) -> None:
        self.flag.value = 1

    def leave(self) -> None:
        """Nobody wants the result any more."""
        self.left = True
        self.cancel()
        if self.begun:
            self.wait(PATIENCE)


@atexit.register
def _stop_calls() -> None:
    """Before the interpreter ends: it would end the threads of calls that tell of their progress, and
    of SciPy's SuperLU, which nothing stops and which breaks the end of Python."""
    global _closing
    _closing = True
    calls = list(_calls)
    for call in calls:
        call.cancel()
    for call in calls:
        call.wait()


os.register_at_fork(after_in_child=_calls.clear)  # their threads are the parent's


def run(call: Callable[[], Any], long: bool, told: "Optional[Told]" = None) -> Any:
    """call(), and in a thread of its own if it may take long or tells of its progress.

    Python hands signals to its main thread alone, and only between two bytecodes, so the main thread
    waits meanwhile.  Ctrl-C cancels the call.  If it does not end soon, it goes on in the background:
    `call` holds all that it reads and writes, and its result is destroyed with the last holder.
    Threads are Python's lowest: Ctrl-C during `threading.Thread.start` can raise RuntimeError.
    """
    asked = told is not None and told.told
    if not asked and not long:
        return call()
    made = Call(call)
    if told is not None:
        told.cancel = made.cancel
        if told.error is not None:
            raise told.error
    if asked or _thread.get_ident() == threading.main_thread().ident:
        try:
            _start(made)
            while not made.wait(TICK if asked else -1):
                told.tick()  # type: ignore[union-attr]
        except BaseException:
            if told is not None:
                told.over = True
            made.leave()
            raise
    else:
        made.work()
    value, made.value = made.value, None  # told is in a cycle, and keeps nothing large
    if made.good:
        return value
    try:
        raise value
    finally:
        del value


def _start(made: Call) -> None:
    try:
        _thread.start_new_thread(made.work, ())
    except RuntimeError:  # the machine has no thread left
        made.work()


_NO_PROGRESS = _api.trs_progress()
TICK = 1.0  # seconds


class Told:
    """A caller's progress function, or a bar of tqdm's, told by the C library and by who waits.

    The C library tells of what it counts.  A phase that it cannot count, such as SuperLU's, is told
    every second, with the seconds.  An exception in the function cancels the call, and is raised
    once that has ended.
    """

    def __init__(self, told: Any, phase: str) -> None:
        if told is not None and not isinstance(told, bool) and not callable(told):
            raise TypeError(f"progress is {told!r}: a function of (phase, done), or True, is wanted")
        self.told, self.bar, self.over = told, None, False
        self.error: Optional[BaseException] = None
        self.phase, self.done = phase, 0.0
        self.began = self.last = time.monotonic()
        self.lock = threading.Lock()
        self.cancel: Callable[[], None] = lambda: None
        self.callback = _api.trs_progress(self.call) if told else _NO_PROGRESS
        if told is True:
            try:
                from tqdm.auto import tqdm
                self.bar = tqdm(total=1.0, bar_format="{desc}: {percentage:3.0f}%|{bar}|")
            except ImportError:
                self.told, self.callback = None, _NO_PROGRESS

    def __enter__(self) -> "Told":
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        self.over = True
        with self.lock:
            if self.bar is not None:
                self.bar.close()
        if self.error is not None and (kind is None or kind is Cancelled):
            raise self.error from None

    def call(self, user: Any, phase: bytes, done: float) -> None:
        self.tell(phase.decode(), done)

    def tell(self, name: str, done: float) -> None:
        if not self.told:
            return
        with self.lock:
            self.last = time.monotonic()
            if name != self.phase:
                self.phase, self.began = name, self.last
            self.done = done
            self._tell(name, done)

    def tick(self) -> None:
        with self.lock:
            now = time.monotonic()
            if now - self.last >= TICK:
                self._tell(f"{self.phase}, {now - self.began:.0f} s", self.done)

    def _tell(self, phase: str, done: float) -> None:
        """Inside the lock.  A call that was left by Ctrl-C tells no more."""
        if self.over or self.error is not None:
            return
        try:
            if self.bar is not None:
                self.bar.set_description(phase, refresh=False)
                self.bar.n = done
                self.bar.refresh()
            else:
                self.told(phase, done)
        except BaseException as error:
            self.error = error
            self.cancel()


def version() -> str:
    """The C library's version."""
    return str(library.trs_version().decode())


def features() -> str:
    """What the build has, one feature per line, and what to install for those it lacks.

    Without MPI, which this package does not use.
    """
    told = in_python(str(library.trs_features().decode()))
    return "".join(line for line in told.splitlines(True) if not line.startswith("MPI "))


def devices() -> List[str]:
    """The GPUs that can be used, such as "cuda:0    NVIDIA H100"."""
    return [line for line in library.trs_device_list().decode().split("\n") if line]


def memory_usage() -> Tuple[int, int]:
    """Bytes that the C library holds now, and the most it ever held."""
    now, most = C.c_int64(), C.c_int64()
    library.trs_memory_usage(C.byref(now), C.byref(most))
    return now.value, most.value
