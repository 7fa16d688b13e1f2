"""XLA's custom call for trireme.jax: compiled once, kept in the user's cache folder."""

import ctypes as C
import hashlib
import os
import shlex
import shutil
import subprocess
import tempfile
import threading
from typing import Any, List, Optional, Tuple

import numpy as np

from . import _api
from ._library import HERE, library

TARGET = "trireme_solve"
SOURCE = os.path.join(HERE, "jax_ffi.c")
# XLA's numbers of the four types.
TYPES = {np.dtype("f4"): 11, np.dtype("f8"): 12, np.dtype("c8"): 15, np.dtype("c16"): 18}
_NAMES = ["trs_update", "trs_solve", "trs_batch_update", "trs_batch_solve", "trs_last_error"]


class _Functions(C.Structure):
    _fields_ = [(name, C.c_void_p) for name in _NAMES] + \
        [(name, C.c_int) for name in ("zero_pivot", "not_finite", "row_major")]


class Handler:
    """The compiled custom call, or why there is none."""

    def __init__(self) -> None:
        self.path, self.lacks = "", ""
        try:
            self.path = _build()
            self._library = C.CDLL(self.path)
            self._register()
        except (OSError, RuntimeError, ImportError, AttributeError) as error:
            self.lacks = str(error) or type(error).__name__

    def _register(self) -> None:
        import jax
        lib = self._library
        address = C.c_void_p
        lib.trireme_jax_bind.argtypes, lib.trireme_jax_bind.restype = [C.POINTER(_Functions)], None
        lib.trireme_jax_add.restype = address
        lib.trireme_jax_add.argtypes = [C.c_int64, address, address, address, address, C.c_int64,
                                        C.c_int64, C.c_int64, C.c_int]
        lib.trireme_jax_remove.argtypes, lib.trireme_jax_remove.restype = [address], None
        lib.trireme_jax_bind(_Functions(
            *(C.cast(getattr(library, name), address) for name in _NAMES),
            _api.TRS_ERROR_ZERO_PIVOT, _api.TRS_ERROR_NOT_FINITE, _api.TRS_ROW_MAJOR))
        ffi: Any = jax.ffi
        ffi.register_ffi_target(TARGET, ffi.pycapsule(lib.trireme_jax_solve), platform="cpu")

    def add(self, key: int, handles: Any, values: int, n: int, nnz: int,
            count: int, dtype: Any) -> int:
        made = self._library.trireme_jax_add(key, *handles, values, n, nnz, count,
                                             TYPES[dtype])
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
    """The cache folder, or a new one where it cannot be written to."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    folder = os.path.join(cache, "trireme")
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        if os.stat(folder).st_uid == os.getuid() and os.access(folder, os.W_OK):
            return folder
    except OSError:
        pass
    return tempfile.mkdtemp(prefix="trireme-")


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
            _compiler() + ["-std=c11", "-O2", "-shared", "-fPIC", "-fvisibility=hidden", "-pthread",
                           "-isystem", include, "-o", fresh, SOURCE],
            capture_output=True, text=True)
        if run.returncode:
            os.unlink(fresh)
            raise RuntimeError(f"the C compiler failed: {run.stderr.strip()[:500]}")
        os.replace(fresh, path)  # another process may do the same at the same time
    return path
