"""Where work runs: one C context per device and number of threads, shared by all plans."""

import ctypes as C
import os
import threading
import weakref
from typing import Any, Dict, Optional

from ._library import ContextHandle, check, library, text
from ._words import device_name, thread_count

_contexts: Dict[str, C.c_void_p] = {}
_lock = threading.Lock()
_default_threads: Optional[int] = None
_locked: "weakref.WeakSet[Any]" = weakref.WeakSet()


def set_num_threads(threads: Optional[int]) -> None:
    """The threads of plans made from now on that do not ask for a number.

    None is the default: TRIREME_NUM_THREADS, or every core that this process may use, or as many as
    OMP_NUM_THREADS, LOKY_MAX_CPU_COUNT or SLURM_CPUS_PER_TASK says.
    """
    global _default_threads
    _default_threads = thread_count(threads)


def get_num_threads() -> int:
    """The threads of plans made from now on that do not ask for a number."""
    return int(library.trs_context_threads(context_of("auto", None)))


def check_threads(device: Any, threads: Optional[int]) -> None:
    """A caller's number of threads beside a device that has none of them."""
    device = device_name(device)
    if threads is not None and thread_count(threads) != 1 and device not in ("auto", "cpu", "threads"):
        raise ValueError(f"threads is {threads} and device {device!r}: threads are the CPU's, of "
                         "device=\"auto\" or \"cpu\"; leave threads out")


def where(device: Any, threads: Optional[int]) -> str:
    """The C library's name for a device and a number of threads."""
    device = device_name(device)
    threads = _default_threads if threads is None else thread_count(threads)
    if device in ("auto", "cpu", "threads"):
        if threads is not None:
            return f"threads:{threads}"
        return "auto" if device == "auto" else "threads"
    return str(device)


def context_of(device: Any, threads: Optional[int]) -> C.c_void_p:
    name = where(device, threads)
    found = _contexts.get(name)
    if found is None:
        with _lock:
            found = _contexts.get(name)
            if found is None:
                found = ContextHandle()
                check(library.trs_context_create(C.byref(found), text(name)))
                _contexts[name] = found
                C.pythonapi.Py_IncRef(C.py_object(found))  # it lasts as long as the process
    return found


class Lock:
    """A lock that a forked child finds open.

    What another thread held it for when the process was forked is lost: `broken` says so.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.broken = False
        _locked.add(self)

    def renew(self) -> None:
        self.broken = self.broken or self.lock.locked()
        self.lock = threading.Lock()


def _after_fork() -> None:
    global _lock
    _lock = threading.Lock()
    for name in [name for name in _contexts if name.startswith(("cuda", "hip", "auto", "nvshmem"))]:
        del _contexts[name]  # its GPU did not survive the fork; plans of it keep it alive
    for lock in list(_locked):
        lock.renew()


os.register_at_fork(after_in_child=_after_fork)
