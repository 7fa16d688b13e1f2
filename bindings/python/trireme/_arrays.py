"""Arrays of NumPy, CuPy, torch and JAX as addresses, shapes and strides, without a copy."""

import ctypes as C
import sys
from typing import Any, Dict, NamedTuple, Optional, Tuple

import numpy as np

from . import _api

SCALARS = {np.dtype("f4"): _api.TRS_FLOAT, np.dtype("f8"): _api.TRS_DOUBLE,
           np.dtype("c8"): _api.TRS_SCOMPLEX, np.dtype("c16"): _api.TRS_DCOMPLEX}
_LIBRARIES = {"cupy": "cupy", "cupyx": "cupy", "torch": "torch", "jax": "jax", "jaxlib": "jax"}
_from_buffer: Any = C.c_char.from_buffer
DTYPES = {scalar: dtype for dtype, scalar in SCALARS.items()}


class Dense(NamedTuple):
    """An array as the C library takes it."""

    array: Any  # what holds the memory: a NumPy array on the host, else the caller's
    kind: str  # "numpy", "cupy", "torch" or "jax": whose array the result is
    address: int
    shape: Tuple[int, ...]
    strides: Tuple[int, ...]  # in bytes
    dtype: Any
    writeable: bool
    device: Optional[int]  # of CUDA; None: host memory


_new: Any = tuple.__new__


def library_of(x: Any) -> str:
    """Whose array x is, without importing anything."""
    return _LIBRARIES.get(type(x).__module__.partition(".")[0], "numpy")


def _device_of(x: Any, kind: str) -> Optional[int]:
    if kind == "cupy":
        return int(x.device.id)
    if kind == "torch":
        if x.device.type not in ("cpu", "cuda"):
            raise TypeError(f"a torch tensor on {x.device}: only cpu and cuda can be used")
        return int(x.device.index or 0) if x.device.type == "cuda" else None
    if kind == "jax":
        if hasattr(x, "aval") and "Tracer" in type(x).__name__:
            raise TypeError("the array is traced by jax.jit, jax.grad or jax.vmap: use "
                            "trireme.jax.solve there")
        place = next(iter(x.devices()))
        if place.platform not in ("cpu", "gpu", "cuda"):
            raise TypeError(f"a JAX array on {place}: only CPUs and NVIDIA's GPUs can be used")
        return None if place.platform == "cpu" else int(place.id)
    return None


def _on_device(x: Any, kind: str, device: int) -> Dense:
    face = x.__cuda_array_interface__
    dtype, shape = np.dtype(face["typestr"]), tuple(face["shape"])
    strides = face.get("strides")
    if strides is None:
        strides = tuple(int(dtype.itemsize * np.prod(shape[k + 1:], dtype=np.int64))
                        for k in range(len(shape)))
    address, readonly = face["data"]
    return Dense(x, kind, address or 0, shape, tuple(strides), dtype, not readonly, device)


def _address(array: Any, flags: Any) -> int:
    """Of the first element; the buffer protocol is several times as fast as NumPy's attributes."""
    if flags.c_contiguous and flags.writeable and array.size and array.dtype.kind in "biufc":
        return C.addressof(_from_buffer(array))
    return int(array.__array_interface__["data"][0])


def dense(x: Any) -> Dense:
    """Any array as Dense; what is not an array becomes one of NumPy."""
    if type(x) is np.ndarray:  # first of all, for small systems are solved in microseconds
        flags = x.flags
        return _new(Dense, (x, "numpy", _address(x, flags), x.shape, x.strides, x.dtype,
                            flags.writeable, None))
    kind = library_of(x)
    if kind == "torch" and x.requires_grad:
        raise TypeError("the tensor requires a gradient: use trireme.torch.solve, or x.detach()")
    device = _device_of(x, kind)
    if device is not None:
        return _on_device(x, kind, device)
    if kind == "torch":
        array = x.numpy()
    else:
        array = np.asarray(x)
    flags = array.flags
    writeable = flags.writeable and kind != "jax"
    return Dense(array, kind, _address(array, flags), array.shape, array.strides, array.dtype,
                 writeable, None)


def whole_numbers(values: Any, name: str) -> Any:
    """The values as int32, if that changes none of them."""
    given = np.asarray(values)
    if given.dtype.kind not in "biuf":
        large = given.dtype.kind == "O" and all(isinstance(v, int) for v in given.ravel())
        raise (ValueError if large else TypeError)(f"{name} is not of whole numbers below 2^31")
    with np.errstate(invalid="ignore"):
        made = np.array(given, np.int32, order="C")
    if not np.array_equal(made, given):
        raise ValueError(f"{name} is not of whole numbers below 2^31")
    return made


def contiguous(x: Dense, dtype: Any = None) -> Dense:
    """x in host memory, copied only where it is not contiguous, aligned and of the dtype."""
    dtype = x.dtype if dtype is None else dtype
    if x.dtype == dtype and x.array.flags.c_contiguous and x.array.flags.aligned:
        return x
    return dense(np.array(x.array, dtype, order="C"))


def check_device_values(x: Dense, name: str, dtype: Any) -> None:
    """An array in device memory, which nothing converts, has the type and the order that C reads."""
    gaps = len(x.shape) == 1 and x.shape[0] > 1 and x.strides != (x.dtype.itemsize,)
    if x.dtype != dtype or gaps:
        order = "" if x.dtype != dtype else " with gaps between them"
        raise TypeError(f"{name} of type {x.dtype}{order} in device memory: contiguous {dtype} is wanted, "
                        "convert them there")


def like(x: Dense, dtype: Any) -> Dense:
    """A new array of x's library, place, shape and order, uninitialised."""
    order: Any = "F" if len(x.shape) == 2 and abs(x.strides[0]) < abs(x.strides[1]) else "C"
    if x.device is None:
        return dense(np.empty(x.shape, dtype, order))._replace(kind=x.kind)
    if x.kind == "cupy":
        import cupy
        with cupy.cuda.Device(x.device):
            return dense(cupy.empty(x.shape, dtype, order))
    if x.kind == "torch":
        import torch
        kind = getattr(torch, np.dtype(dtype).name)
        shape = x.shape[::-1] if order == "F" else x.shape
        made = torch.empty(shape, dtype=kind, device=x.array.device)
        return dense(made.T if order == "F" else made)
    raise TypeError("JAX arrays on a GPU cannot be written to: pass out=, an array of CuPy or "
                    "torch, and b through cupy.from_dlpack(b)")


def on_host(x: Dense) -> Dense:
    """An array of JAX on a GPU, which nobody may write to, as a copy in host memory."""
    if x.kind != "jax" or x.device is None:
        return x
    return dense(np.asarray(x.array))._replace(kind="jax", writeable=False)


def give_back(x: Dense, b: Any) -> Any:
    """The array, as an array of the library that b came from; JAX's lie where b lies."""
    if x.device is None and x.kind == "torch":
        import torch
        return torch.from_numpy(x.array)
    if x.device is None and x.kind == "jax":
        import jax
        return jax.device_put(x.array, b.sharding)
    if x.device is None and x.kind == "cupy":
        raise TypeError("host memory cannot become an array of CuPy")
    return with_mask(x.array, b)


def with_mask(x: Any, b: Any) -> Any:
    """x with the mask of b, if b has one: the values under it were used, and are no numbers to trust."""
    return np.ma.array(x, mask=np.ma.getmaskarray(b)) if isinstance(b, np.ma.MaskedArray) else x


def assign(target: Dense, source: Dense) -> None:
    """target[...] = source, in the same memory: on the host, or on the same GPU."""
    if target.device is None:
        np.copyto(target.array, source.array, casting="unsafe")
    elif target.kind == "torch" or source.kind == "torch":
        import torch
        torch.as_tensor(target.array).copy_(torch.as_tensor(source.array, device=f"cuda:{target.device}"))
    else:
        target.array[...] = source.array


def leading(x: Dense, row_major: bool) -> Optional[int]:
    """The leading dimension of x in that layout, or None where its strides have none."""
    size = x.dtype.itemsize
    n, nrhs = (x.shape[0], 1) if len(x.shape) == 1 else x.shape
    s0, s1 = (x.strides[0], size) if len(x.strides) == 1 else x.strides
    if n <= 1:
        s0 = nrhs * size if row_major else size
    if nrhs <= 1:
        s1 = size if row_major else max(n * size, s0)
        if not row_major and s0 != size:
            return None
    inner, outer, least = (s1, s0, nrhs) if row_major else (s0, s1, n)
    if inner != size or outer % size or outer < least * size or x.address % x.dtype.alignment:
        return None
    return max(1, outer // size)


def overlaps(x: Dense) -> bool:
    """Whether two elements of x share bytes, as strides of 0 and sliding windows make them."""
    steps = sorted((abs(s), n) for s, n in zip(x.strides, x.shape) if n > 1)
    if 0 in x.shape or not steps:
        return False
    if steps[0][0] < x.dtype.itemsize:
        return True
    if len(steps) < 2 or steps[1][0] >= steps[0][0] * steps[0][1]:
        return False
    (inner, count), (outer, rows) = steps
    places = np.arange(1, rows, dtype=np.int64) * outer  # row 0 reaches to inner * (count - 1)
    nearest = np.minimum(places // inner, count - 1) * inner, \
        np.minimum(places // inner + 1, count - 1) * inner
    return any(bool((np.abs(places - at) < x.dtype.itemsize).any()) for at in nearest)


def common_layout(x: Dense, b: Dense) -> Optional[Tuple[int, int, int]]:
    """The layout that both have, with their leading dimensions."""
    for layout in (_api.TRS_COL_MAJOR, _api.TRS_ROW_MAJOR):
        ldx, ldb = (leading(a, layout == _api.TRS_ROW_MAJOR) for a in (x, b))
        if ldx is not None and ldb is not None:
            return layout, ldx, ldb
    return None


def as_pairs(x: Dense) -> Dense:
    """A complex array as a real one with a column for each part: real systems solve both."""
    half = np.dtype(f"f{x.dtype.itemsize // 2}")
    n, nrhs = (x.shape[0], 1) if len(x.shape) == 1 else x.shape
    if x.kind == "torch" and x.device is not None:
        import torch
        array: Any = torch.view_as_real(x.array).reshape(n, 2 * nrhs)
    else:
        array = x.array.reshape(n, nrhs).view(half)
    return dense(array)._replace(kind=x.kind, writeable=x.writeable)


def stream_of(x: Dense) -> Any:
    """The stream that x's library is working on, or None for the default one."""
    if x.kind == "torch":
        import torch
        return torch.cuda.current_stream(x.device)
    cupy = sys.modules.get("cupy")
    return cupy.cuda.get_current_stream(x.device) if cupy else None


def settle(x: Dense) -> None:
    """Waits for the work of x's library that fills x: C reads matrices on the default stream."""
    stream: Any = None if x.device is None else stream_of(x)
    if stream_address(stream):
        stream.synchronize()


# By the address of the object that C uses them for.  A stream that only its plan held could be gone
# before the plan, where both are garbage of one cycle.
_streams: Dict[int, Any] = {}


def keep_stream(handle: Any, stream: Any) -> None:
    """Keeps a stream until another one takes its place, or until C has destroyed its object."""
    if stream is not None:
        handle.destroy.errcheck = _forget_stream
        _streams[handle.value] = stream
    else:
        _streams.pop(handle.value, None)


def share_stream(handle: Any, other: Any) -> None:
    """Keeps the stream of another object for this one, too."""
    keep_stream(handle, _streams.get(other.value))


def _forget_stream(_: Any, function: Any, arguments: Any, streams: Dict[int, Any] = _streams) -> None:
    """After a call of C's function that destroys."""
    streams.pop(arguments[0].value, None)


def stream_address(stream: Any) -> Optional[int]:
    """A stream of CuPy's or torch's, or an address."""
    if stream is None or isinstance(stream, int):
        if stream and not 0 <= stream < 2**64:
            raise ValueError(f"stream is {stream}, which is no address")
        return stream
    for name in ("ptr", "cuda_stream"):
        if hasattr(stream, name):
            return int(getattr(stream, name))
    raise TypeError(f"stream is a {type(stream).__name__}: pass a stream of CuPy or torch, or the "
                    "address of a cudaStream_t")
