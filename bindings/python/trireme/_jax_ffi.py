"""XLA's custom call for trireme.jax, on the CPU and on GPUs: compiled once, kept in the user's cache
folder."""

import atexit
import ctypes as C
import hashlib
import os
import shlex
import shutil
import stat
import subprocess
import tempfile
import threading
from typing import Any, List, Optional, Tuple

import numpy as np

from . import _api
from ._context import context_of
from ._library import HERE, library

TARGET = "trireme_solve"
SOURCE = os.path.join(HERE, "jax_ffi.c")
# XLA's numbers of the four types.
TYPES = {np.dtype("f4"): 11, np.dtype("f8"): 12, np.dtype("c8"): 15, np.dtype("c16"): 18}
_NAMES = ["trs_update", "trs_solve", "trs_batch_update", "trs_batch_solve", "trs_last_error",
          "trs_context_create", "trs_matrix_create_device", "trs_matrix_set_values",
          "trs_matrix_destroy", "trs_analyze", "trs_plan_set_stream", "trs_plan_wait",
          "trs_plan_destroy", "trs_batch_create"]
# By this function a program says which GPU it runs on.
_ORDINAL = b"XLA_FFI_DeviceOrdinal_Get"


class _Functions(C.Structure):
    _fields_ = [(name, C.c_void_p) for name in _NAMES] + \
        [(name, C.c_int) for name in ("zero_pivot", "not_finite", "row_major")]


class Recipe(C.Structure):
    """What the first call on a GPU makes its plan or batch from: trireme_recipe."""

    _fields_ = [(name, C.c_void_p) for name in ("ptr", "idx", "matrix", "options")] + \
        [(name, C.c_int64) for name in ("options_size", "stream_at")] + \
        [(name, C.c_int) for name in ("format", "scalar", "indexing", "uplo", "trans", "diag",
                                      "only")]


class Handler:
    """The compiled custom call, or why there is none."""

    def __init__(self) -> None:
        self.path, self.lacks = "", ""
        self._lacks_gpu: Optional[str] = None
        try:
            self.path = _build()
            self._library = C.CDLL(self.path)
            self._declare()
            self._register()
        except (OSError, RuntimeError, ImportError, AttributeError) as error:
            self.lacks = str(error) or type(error).__name__

    def _declare(self) -> None:
        lib, address = self._library, C.c_void_p
        lib.trireme_jax_bind.argtypes, lib.trireme_jax_bind.restype = [C.POINTER(_Functions)], None
        lib.trireme_jax_add.restype = address
        lib.trireme_jax_add.argtypes = [C.c_int64, address, address, address, address, C.c_int64,
                                        C.c_int64, C.c_int64, C.c_int, C.POINTER(Recipe)]
        lib.trireme_jax_remove.argtypes, lib.trireme_jax_remove.restype = [address], None
        lib.trireme_jax_bind(_Functions(
            *(C.cast(getattr(library, name), address) for name in _NAMES),
            _api.TRS_ERROR_ZERO_PIVOT, _api.TRS_ERROR_NOT_FINITE, _api.TRS_ROW_MAJOR))

    def _register(self) -> None:
        import jax
        ffi: Any = jax.ffi
        for platform in "cpu", "CUDA":
            ffi.register_ffi_target(TARGET, ffi.pycapsule(self._library.trireme_jax_solve),
                                    platform=platform)
        # At the end the last function runs first: this one before JAX destroys its streams.
        atexit.register(self._leave_streams, os.getpid())

    def _leave_streams(self, process: int) -> None:
        if os.getpid() == process:
            self._library.trireme_jax_leave_streams()

    @property
    def lacks_gpu(self) -> str:
        """Why programs on GPUs call Python; "" if they need not."""
        if self.lacks:
            return self.lacks
        if self._lacks_gpu is None:
            try:
                context_of("cuda", None)
                self._lacks_gpu = "" if _ORDINAL in _headers()[1] else \
                    "this jaxlib does not tell custom calls which GPU they run on (JAX 0.6.2 is new enough)"
            except (RuntimeError, MemoryError) as error:
                self._lacks_gpu = str(error)
        return self._lacks_gpu

    def add(self, key: int, handles: Any, values: int, n: int, nnz: int,
            count: int, dtype: Any, recipe: Optional[Recipe] = None) -> int:
        made = self._library.trireme_jax_add(key, *handles, values, n, nnz, count,
                                             TYPES[dtype],
                                             None if recipe is None else C.byref(recipe))
        if not made:
            raise MemoryError("no memory for a plan of trireme.jax")
        return int(made)

    def remove(self, entry: int) -> None:
        self._library.trireme_jax_remove(entry)


_handler: Optional[Handler] = None
_lock = threading.Lock()


def handler() -> Handler:
    """The custom call, compiled where that has not been done."""
    global _handler
    with _lock:
        if _handler is None:
            _handler = Handler()
        return _handler


def _compiler() -> List[str]:
    for words in (os.environ.get("CC", ""), "cc", "gcc", "clang"):
        command = shlex.split(words)
        if command and shutil.which(command[0]):
            return command
    raise RuntimeError("no C compiler (Debian: gcc; or name one in CC)")


def _headers() -> Tuple[str, bytes]:
    import jax
    folder = jax.ffi.include_dir()
    with open(os.path.join(folder, "xla", "ffi", "api", "c_api.h"), "rb") as file:
        return folder, file.read()


def _folder() -> str:
    """The cache folder, or a new one where it cannot be written to, or others can write to it."""
    cache = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(cache):  # which the specification of that variable has ignored
        cache = os.path.join(os.path.expanduser("~"), ".cache")
    folder = os.path.join(cache, "trireme")
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        folder = os.path.realpath(folder)
        if _is_own(folder) and os.access(folder, os.W_OK):
            return folder
    except OSError:
        pass
    return tempfile.mkdtemp(prefix="trireme-")


def _is_own(folder: str) -> bool:
    """Whether no other user can put a file there; as the C library judges its worker programs."""
    while True:
        about = os.stat(folder)
        own_group = about.st_gid == about.st_uid == os.geteuid() != 0
        writable = about.st_mode & (stat.S_IWOTH if own_group else stat.S_IWOTH | stat.S_IWGRP)
        if about.st_uid not in (0, os.geteuid()) or (writable and not about.st_mode & stat.S_ISVTX):
            return False
        if folder == os.path.dirname(folder):
            return True
        folder = os.path.dirname(folder)


def _build() -> str:
    """The path of the shared object; its name has what it was made from."""
    if os.environ.get("TRIREME_JAX_FFI", "1") == "0":
        raise RuntimeError("TRIREME_JAX_FFI is 0")
    include, header = _headers()
    with open(SOURCE, "rb") as file:
        made_from = file.read() + header + os.uname().machine.encode()
    name = f"jax_ffi-{hashlib.sha256(made_from).hexdigest()[:16]}.so"
    folder = _folder()
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        handle, fresh = tempfile.mkstemp(".so", "jax_ffi-", folder)
        os.close(handle)
        run = subprocess.run(
            _compiler() + ["-std=c11", "-O2", "-shared", "-fPIC", "-fvisibility=hidden", "-pthread"]
            + ["-DTRIREME_DEVICE_ORDINAL"] * (_ORDINAL in header)
            + ["-isystem", include, "-o", fresh, SOURCE],
            capture_output=True, text=True)
        if run.returncode:
            os.unlink(fresh)
            raise RuntimeError(f"the C compiler failed: {run.stderr.strip()[:500]}")
        os.replace(fresh, path)  # another process may do the same at the same time
    return path
