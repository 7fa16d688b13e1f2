"""XLA's custom call for trireme.jax, on the CPU and on GPUs: bindings/jax/handler.c in the library."""

import atexit
import ctypes as C
import os
import re
import threading
from typing import Any, Optional

import numpy as np

from ._context import context_of
from ._library import library

TARGET = "trireme_solve"
# XLA's numbers of the four types.
TYPES = {np.dtype("f4"): 11, np.dtype("f8"): 12, np.dtype("c8"): 15, np.dtype("c16"): 18}


class Recipe(C.Structure):
    """What the first call on a GPU makes its plan or batch from: trs_jax_recipe."""

    _fields_ = [(name, C.c_void_p) for name in ("ptr", "idx", "matrix", "options")] + \
        [(name, C.c_int) for name in ("format", "scalar", "indexing", "uplo", "trans", "diag",
                                      "only")]


class Handler:
    """The custom call as XLA knows it, or why XLA does not."""

    def __init__(self) -> None:
        self.path, self.lacks = str(library._name), ""
        self._lacks_gpu: Optional[str] = None
        self._declare(library)
        try:
            self._register()
        except (OSError, RuntimeError, ImportError, AttributeError) as error:
            self.lacks = str(error) or type(error).__name__

    def _declare(self, lib: Any) -> None:
        self._library, address = lib, C.c_void_p
        lib.trs_jax_add.restype = address
        lib.trs_jax_add.argtypes = [C.c_int64, address, address, address, address, C.c_int64,
                                    C.c_int64, C.c_int64, C.c_int, C.POINTER(Recipe)]
        lib.trs_jax_remove.argtypes, lib.trs_jax_remove.restype = [address], None
        lib.trs_jax_leave_streams.restype = None

    def _register(self) -> None:
        if os.environ.get("TRIREME_JAX_FFI", "1") == "0":
            raise RuntimeError("TRIREME_JAX_FFI is 0")
        import jax
        ffi: Any = jax.ffi
        self._library.trs_jax_announce(_version_of_xla(ffi.include_dir()))
        jax.devices()  # backends that have started refuse another version here, and not in a program
        for platform in "cpu", "CUDA":
            ffi.register_ffi_target(TARGET, ffi.pycapsule(self._library.trs_jax_solve),
                                    platform=platform)
        # At the end the last function runs first: this one before JAX destroys its streams.
        atexit.register(self._leave_streams, os.getpid())

    def _leave_streams(self, process: int) -> None:
        if os.getpid() == process:
            self._library.trs_jax_leave_streams()

    @property
    def lacks_gpu(self) -> str:
        """Why programs on GPUs call Python; "" if they need not."""
        if self.lacks:
            return self.lacks
        if self._lacks_gpu is None:
            try:
                context_of("cuda", None)
                import jaxlib.version
                self._lacks_gpu = "" if jaxlib.version.__version_info__ >= (0, 6, 2) else \
                    "this jaxlib does not tell custom calls which GPU they run on (JAX 0.6.2 is new enough)"
            except (RuntimeError, MemoryError) as error:
                self._lacks_gpu = str(error)
        return self._lacks_gpu

    def add(self, key: int, handles: Any, values: int, n: int, nnz: int,
            count: int, dtype: Any, recipe: Optional[Recipe] = None) -> int:
        made = self._library.trs_jax_add(key, *handles, values, n, nnz, count, TYPES[dtype],
                                         None if recipe is None else C.byref(recipe))
        if not made:
            raise MemoryError("no memory for a plan of trireme.jax")
        return int(made)

    def remove(self, entry: int) -> None:
        self._library.trs_jax_remove(entry)


def _version_of_xla(include: str) -> int:
    """The minor version of the installed jaxlib's interface."""
    with open(os.path.join(include, "xla", "ffi", "api", "c_api.h"), encoding="utf-8") as file:
        found = dict(re.findall(r"#define XLA_FFI_API_(MAJOR|MINOR) (\d+)", file.read()))
    if found.get("MAJOR") != "0" or "MINOR" not in found:
        raise RuntimeError(f"this jaxlib's interface is of version {found}, not 0.1 or newer")
    return int(found["MINOR"])


_handler: Optional[Handler] = None
_lock = threading.Lock()


def handler() -> Handler:
    """The custom call, which XLA learns of at the first use."""
    global _handler
    with _lock:
        if _handler is None:
            _handler = Handler()
        return _handler
