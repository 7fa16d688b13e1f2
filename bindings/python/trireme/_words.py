"""The words that options take: types for editors and checkers, and errors that list them.

The tests compare the lists with those of the C library.
"""

import difflib
import math
import operator
import os
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, Literal, NewType, Optional, Sequence, Union
from typing import Protocol, get_args

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

Name = NewType("Name", str)
"""A method with parameters, or a device, that the types below do not list:
``tr.Name("engine:substitute=0")``.  At run time any text will do."""

Uplo = Literal["lower", "upper"]
Trans = Literal["N", "T", "H"]
Store = Literal["same", "mixed"]
RelaxStore = Literal["mixed", "double", "float", "half", "bfloat16"]
Direction = Literal["forward", "backward", "symmetric"]
Order = Literal["default", "nd", "amd", "natural", "rcm", "colour", "colamd"]
PermC = Literal["COLAMD", "MMD_AT_PLUS_A", "MMD_ATA", "NATURAL"]  # SciPy's
MethodName = Literal[
    "auto", "serial", "panels", "threads", "blocks", "subtrees", "columns", "levelset-cpu", "engine",
    "pull", "levelset", "syncfree-csc", "syncfree-csc-rhs", "supernodal", "push", "unified",
    "get-update-put", "zerocopy-block", "zerocopy"]
DeviceName = Literal[
    "auto", "cpu", "serial", "cuda", "cuda:0", "cuda:1", "cuda:2", "cuda:3", "cuda:4", "cuda:5",
    "cuda:6", "cuda:7", "cuda:0-1", "cuda:0-2", "cuda:0-3", "cuda:0-4", "cuda:0-5", "cuda:0-6",
    "cuda:0-7"]
TypeName = Literal["float32", "float64", "complex64", "complex128"]


class TorchDevice(Protocol):
    """torch.device."""

    @property
    def type(self) -> str: ...

    @property
    def index(self) -> Any: ...


class CupyDevice(Protocol):
    """cupy.cuda.Device."""

    @property
    def id(self) -> int: ...


class Shaped(Protocol):
    """A matrix: an array or tensor, sparse or dense, with a shape."""

    @property
    def shape(self) -> Any: ...


RightHandSides = Union[Shaped, Sequence[complex], Sequence[Sequence[complex]], Sequence[Shaped]]
Method = Union[MethodName, Name]
Device = Union[DeviceName, Name, TorchDevice, CupyDevice]
DType = Union[TypeName, "np.dtype[Any]", "type[np.float32]", "type[np.float64]",
              "type[np.complex64]", "type[np.complex128]", "type[float]", "type[complex]"]
Progress = Union[Callable[[str, float], Any], bool]
Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]

MOST_THREADS = 1024


def suggestion(value: Any, words: Iterable[str], others: Optional[Dict[str, str]] = None) -> str:
    """", did you mean "x"?" where a word is near, else nothing."""
    if not isinstance(value, str):
        return ""
    near = (others or {}).get(value.lower()) or \
        next(iter(difflib.get_close_matches(value.lower(), list(words), 1, 0.6)), None)
    return f"; did you mean {near!r}?" if near else ""


def listed(words: Iterable[str]) -> str:
    return ", ".join(repr(word) for word in words)


# What the command, C, LAPACK and other packages call the same.
_ELSEWHERE = {"l": "lower", "u": "upper", "lo": "lower", "up": "upper", "c": "H",
              "gpu": "cuda", "host": "cpu", "n": "N", "t": "T", "h": "H",
              "metis": "nd", "color": "colour", "single": "float"}


def no_array(name: str, value: Any) -> None:
    """An array where an option belongs, such as the b of plan(A, b)."""
    if getattr(value, "shape", ()) != ():
        raise TypeError(f"{name} is an array of shape {tuple(value.shape)}, where an option belongs: "
                        "right-hand sides go to a method of the result, as in plan(A).solve(b)")


def word(table: Iterable[str], name: str, value: Any) -> Any:
    """The table's word for value, which may be another interface's: "L" and "l" are "lower"."""
    words = list(table)
    if isinstance(value, str):
        for made in (value, value.lower(), _ELSEWHERE.get(value.lower())):
            if made in words:
                return made
    no_array(name, value)
    raise ValueError(f"{name} is {value!r}: it must be one of {listed(words)}"
                     f"{suggestion(value, words)}")


def pick(table: Dict[str, int], name: str, value: Any) -> int:
    return table[word(table, name, value)]


def side(uplo: Optional[str], lower: Optional[bool]) -> Any:
    """uplo, or SciPy's lower in its place."""
    if uplo is not None:
        uplo = word(get_args(Uplo), "uplo", uplo)
    if lower is None:
        return "lower" if uplo is None else uplo
    lower = flag("lower", lower)
    if uplo is not None and (uplo == "lower") != lower:
        raise ValueError(f"uplo is {uplo!r} and lower is {lower}: give one of them")
    return "lower" if lower else "upper"


_PLACES = {"auto", "cpu", "serial", "threads", "cuda", "hip", "nvshmem", "opencl"}


def device_name(device: Any, several: bool = True) -> str:
    """The C library's name for a device, that may be an object of torch's or CuPy's.

    several: messages name several GPUs, too."""
    if type(device) is str and device in _PLACES:
        return device
    if not isinstance(device, str):
        kind = getattr(device, "type", None)
        if isinstance(kind, str):
            index = getattr(device, "index", None)
            device = kind if index is None or kind == "cpu" else f"{kind}:{index}"
        elif hasattr(device, "id") and type(device).__module__.startswith("cupy"):
            device = f"cuda:{device.id}"
    place, _, rest = device.partition(":") if isinstance(device, str) else ("", "", "")
    if place not in _PLACES or (place in ("auto", "cpu", "serial") and rest) or \
            (place == "cuda" and (device.endswith(":") or set(rest) - set("0123456789-,"))):
        kind = TypeError if not isinstance(device, str) else ValueError
        raise kind(f"device is {device!r}: it must be \"auto\", \"cpu\", \"serial\" (one thread of "
                   "the CPU), \"cuda\", " + ("\"cuda:1\" for another GPU, or \"cuda:0-3\" for several"
                                           if several else "or \"cuda:1\" for another GPU") +
                   f"{suggestion(device, ('auto', 'cpu', 'serial', 'cuda'), _ELSEWHERE)}")
    return str(device)


def thread_count(threads: Any) -> Optional[int]:
    if threads is None:
        return None
    try:
        made = operator.index(threads)
    except TypeError:
        raise TypeError(f"threads is {threads!r}: an integer is wanted, or None") from None
    if not 1 <= made <= MOST_THREADS:
        raise ValueError(f"threads is {made}: it must be from 1 to {MOST_THREADS}, or None for "
                         "all cores")
    return made


def whole(name: str, value: Any, low: int = 0, high: int = 2**63 - 1) -> int:
    """An integer, such as a number of right-hand sides."""
    try:
        made = operator.index(value)
    except TypeError:
        no_array(name, value)
        raise TypeError(f"{name} is {value!r}: an integer is wanted") from None
    if not low <= made <= high:
        raise ValueError(f"{name} is {made}: it must be from {low} to {high}")
    return made


def real(name: str, value: Any, low: float = -math.inf, high: float = math.inf) -> float:
    """A finite number."""
    try:
        if isinstance(value, (str, bytes)):
            raise TypeError
        made = float(value)
    except TypeError:
        raise TypeError(f"{name} is {value!r}: a number is wanted") from None
    except OverflowError:
        made = math.inf
    if not (math.isfinite(made) and low <= made <= high):
        domain = f"from {low} to {high}" if math.isfinite(high) else "finite"
        raise ValueError(f"{name} is {value!r}: it must be {domain}")
    return made


def flag(name: str, value: Any) -> bool:
    """True or False, or 1 or 0."""
    if isinstance(value, (bool, np.bool_)) or (isinstance(value, int) and value in (0, 1)):
        return bool(value)
    raise TypeError(f"{name} is {value!r}: it must be True or False")


def method_name(method: Any, methods: str) -> Optional[str]:
    """The name, if the library knows it; methods is the library's list."""
    if method is None or (isinstance(method, str) and method == "auto"):  # as C and the command say it
        return None
    if not isinstance(method, str):
        raise TypeError(f"method is {method!r}: a name such as \"serial\" is wanted, or None")
    known = list(dict.fromkeys(line.split()[0] for line in methods.splitlines()))
    name = method.partition(":")[0]
    if name not in known and "\0" not in method:  # which C's text refuses
        usable = list(dict.fromkeys(line.split()[0] for line in methods.splitlines()
                                    if "[not in this build" not in line))
        others = [word for word in known if word not in usable]
        elsewhere = f", in other builds {listed(others)}" if others else ""
        raise ValueError(f"method is {method!r}: it must be one of {listed(usable)}{elsewhere}, which "
                         f"trireme.methods() describes, or None{suggestion(name, known)}")
    return method


def exact_type(dtype: Any) -> Any:
    """The dtype that a caller asks for, one of the four."""
    try:
        made = np.dtype(dtype) if isinstance(dtype, (str, type, np.dtype)) else None
    except TypeError:
        made = None
    if made is None or made.name not in get_args(TypeName):
        given = dtype if isinstance(dtype, str) or made is None else made.name
        raise TypeError(f"dtype is {given!r}: it must be one of {listed(get_args(TypeName))}"
                        f"{suggestion(given, get_args(TypeName))}")
    return made.newbyteorder("=")


def named(x: Any) -> str:
    """What x is, for a message: None, a str, a list, a csr_array."""
    if x is None:
        return "None"
    if isinstance(x, str):
        return f"the text {x[:40]!r}"
    name = type(x).__name__
    return f"{'an' if name[:1].lower() in 'aeiou' or name[:2] == 'nd' else 'a'} {name}"


def is_path(x: Any) -> bool:
    return isinstance(x, (str, bytes)) or hasattr(x, "__fspath__")


def is_sparse(x: Any) -> bool:
    """Whether x is a sparse matrix of some library, without importing any."""
    return hasattr(x, "indptr") or hasattr(x, "to_scipy_sparse") or hasattr(x, "tocsr") or \
        "sparse" in str(getattr(x, "layout", ""))
