"""What was analysed or factored and is kept for the next call, found by its pattern.

The arrays given are compared with copies of those that were analysed, so that a matrix changed in
place, or another one at the same address, is never taken for the old one.  What is kept belongs to
one user at a time: it leaves the list while a call works with it, and stays out of others' reach as
long as the object that a call returned lives.
"""

import ctypes as C
from collections import OrderedDict
from typing import Any, Callable, List, NamedTuple, Optional, Tuple

import numpy as np

from ._arrays import Dense, dense
from ._context import Lock
from ._matrix import Compressed

MOST = 8
MOST_BYTES = 1 << 28  # of patterns and of L and U; with plans it is two or three times as much


class Entry(NamedTuple):
    """Of the list."""

    made: Any  # a plan over a triangle, or factors
    ptr: Dense  # copies, which the matrix in `made` borrows
    idx: Dense
    bytes: int
    user: "Optional[Callable[[], Any]]" = None  # a weak reference; None: nobody


_entries: "OrderedDict[int, Tuple[Any, Entry]]" = OrderedDict()
_lock = Lock()
_counts = {"hits": 0, "misses": 0, "numbers": 0}
_memcmp = C.CDLL(None).memcmp
_memcmp.restype, _memcmp.argtypes = C.c_int, [C.c_void_p, C.c_void_p, C.c_size_t]


class CacheInfo(NamedTuple):
    """Of `cache_info`."""

    hits: int
    misses: int
    plans: int
    bytes: int


CacheInfo.hits.__doc__ = "Calls that found an analysis or factors of their pattern."
CacheInfo.misses.__doc__ = "Calls that made one."
CacheInfo.plans.__doc__ = "Analyses and factors that are kept."
CacheInfo.bytes.__doc__ = "Bytes of their patterns, and of L and U."


def cache_info() -> CacheInfo:
    """Calls of `spsolve_triangular` for several right-hand sides, `spsolve`, `splu` and
    `factorized` that found what was kept or made it, what is kept, and its bytes."""
    with _lock.lock:
        return CacheInfo(_counts["hits"], _counts["misses"], len(_entries),
                         sum(entry.bytes for _, entry in _entries.values()))


def cache_clear() -> None:
    """Forget what `spsolve_triangular`, `spsolve`, `splu` and `factorized` kept."""
    with _lock.lock:
        dropped = list(_entries.values())
        _entries.clear()
    dropped.clear()  # outside the lock, for it ends objects


def own_pattern(parts: Compressed) -> Compressed:
    """The same matrix with copies of its pattern."""
    ptr, idx = dense(parts.ptr.array.copy()), dense(parts.idx.array.copy())
    return Compressed(parts.format, parts.shape, ptr, idx, parts.val)


def key_of(parts: Compressed, *options: Any) -> Any:
    return (parts.format, parts.shape, parts.idx.shape, parts.ptr.dtype, parts.idx.dtype,
            parts.val.dtype, *options)


def _same(a: Dense, b: Dense) -> bool:
    return a.address == b.address or \
        _memcmp(a.address, b.address, a.shape[0] * a.dtype.itemsize) == 0


def same_pattern(a: Compressed, b: Compressed) -> bool:
    """Whether they have the same arrays but for the values."""
    return key_of(a) == key_of(b) and a.ptr.shape == b.ptr.shape and _same(a.ptr, b.ptr) and _same(a.idx, b.idx)


def _is_like(x: Any, own: Dense) -> bool:
    flags = x.flags
    return bool(x.dtype is own.dtype and x.shape == own.shape and flags.c_contiguous and flags.aligned)


def values_of_same(A: Any, own: Compressed) -> Optional[Dense]:
    """The values of a SciPy matrix that has the pattern of `own` in arrays as C takes them; else None.

    What `compressed` would look at, in some microseconds.
    """
    try:
        if A.format != own.format or A.shape != own.shape:
            return None
        ptr, idx, val = A.indptr, A.indices, A.data
    except AttributeError:
        return None
    if not type(ptr) is type(idx) is type(val) is np.ndarray or \
            not (_is_like(ptr, own.ptr) and _is_like(idx, own.idx) and _is_like(val, own.val)) or \
            not (_same(own.ptr, dense(ptr)) and _same(own.idx, dense(idx))):
        return None
    return dense(val)


def take(key: Any, parts: Compressed) -> Tuple[Optional[Entry], bool]:
    """An entry of this pattern, and whether it is free: then it leaves the list until it is put back.

    One that is not free is returned where no other is, and stays.
    """
    used: Optional[Entry] = None
    with _lock.lock:
        for number, (its_key, entry) in reversed(_entries.items()):
            if its_key == key and _same(entry.ptr, parts.ptr) and _same(entry.idx, parts.idx):
                if entry.user is None or entry.user() is None:
                    del _entries[number]
                    _counts["hits"] += 1
                    return entry, True
                used = used or entry
        _counts["hits" if used else "misses"] += 1
    return used, False


def put(key: Any, entry: Entry) -> None:
    """Into the list; the oldest leave it."""
    dropped: List[Any] = []  # ends outside the lock
    if entry.bytes > MOST_BYTES:
        return
    with _lock.lock:
        _counts["numbers"] += 1
        _entries[_counts["numbers"]] = (key, entry)
        total = sum(kept.bytes for _, kept in _entries.values())
        while len(_entries) > MOST or total > MOST_BYTES:
            _, old = _entries.popitem(last=False)
            total -= old[1].bytes
            dropped.append(old)
