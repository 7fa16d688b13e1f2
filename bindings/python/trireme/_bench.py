"""A small table of times beside SciPy and, where the matrix is on a GPU, CuPy."""

import os
import statistics
import time
from typing import Any, Callable, List, NamedTuple, Optional

import numpy as np

from ._arrays import dense
from ._kept import cache_clear
from ._oneshot import spsolve_triangular
from ._plan import plan
from ._words import Shaped, flag, is_sparse, named, real


class Row(NamedTuple):
    """A line of `bench`."""

    name: str
    seconds: float
    repeats: int
    error: float


Row.name.__doc__ = "The function that solved."
Row.seconds.__doc__ = "The median of its times."
Row.repeats.__doc__ = "How often it was timed."
Row.error.__doc__ = "The largest difference from the first line's answer, relative."


class Table(List[Row]):
    """What `bench` measured; prints as a table."""

    load = 0.0
    """Programs that wanted a core in the minute before."""

    def __str__(self) -> str:
        base = self[-1].seconds if self else 1.0
        lines = [f"{'':34}{'median':>12}{'times as fast':>15}{'difference':>12}"]
        lines += [f"{r.name:34}{1e6 * r.seconds:>9.1f} µs{base / r.seconds:>15.1f}{r.error:>12.1e}"
                  for r in self]
        if self and self.load > (os.cpu_count() or 1):
            lines.append(f"the load was {self.load:.1f} before: other programs used the cores, and the times are off")
        return "\n".join(lines)


def _finish(kind: str) -> None:
    if kind == "cupy":
        import cupy
        cupy.cuda.get_current_stream().synchronize()


def _time(call: Callable[[], Any], seconds: float, kind: str, before: Any = None) -> Any:
    took: List[float] = []
    begin, x = time.perf_counter(), None
    while len(took) < 3 or (time.perf_counter() - begin < seconds and len(took) < 10000):
        if before:
            before()
        start = time.perf_counter()
        x = call()
        _finish(kind)
        took.append(time.perf_counter() - start)
    return took, x


def bench(L: Shaped, b: Any, lower: bool = True, unit_diagonal: bool = False,
          seconds: float = 0.3, threads: Optional[int] = None) -> Table:
    """Times of solving L x = b, beside SciPy's `spsolve_triangular`, or CuPy's for arrays of CuPy.

    Parameters
    ----------
    L : (n, n) sparse array or matrix
        CSR or CSC, of SciPy or CuPy.
    b : (n,) or (n, k) array
        Of the same library.
    lower, unit_diagonal : bool, optional
        As `spsolve_triangular` takes them.
    seconds : float, optional
        For each line.
    threads : int, optional
        Of the plan.

    Returns
    -------
    Table
        A list of (name, seconds, repeats, error) that prints as a table; "times as fast" is beside the
        last line.  It says so where other programs used the cores.
    """
    if is_sparse(b) and not is_sparse(L):
        raise TypeError(f"L is {named(L)} and b {named(b)}: the order is bench(L, b)")
    seconds, kind, load = real("seconds", seconds), dense(b).kind, os.getloadavg()[0]
    rows: List[Any] = []
    flags = dict(lower=flag("lower", lower), unit_diagonal=flag("unit_diagonal", unit_diagonal))
    if kind == "numpy":
        rows.append(("Trireme, first call", *_time(lambda: spsolve_triangular(L, b, **flags),
                                                   seconds, kind, cache_clear)))
    rows.append(("Trireme, spsolve_triangular", *_time(lambda: spsolve_triangular(L, b, **flags),
                                                       seconds, kind)))
    with plan(L, "lower" if lower else "upper", unit_diagonal=unit_diagonal,
              threads=threads) as p:
        out = p.solve(b)
        rows.append((f"Trireme, plan ({p.info['method']})", *_time(lambda: p.solve(b, out=out),
                                                                  seconds, kind)))
    if kind == "cupy":
        import cupy
        from cupyx.scipy.sparse.linalg import spsolve_triangular as peer
        name = f"CuPy {cupy.__version__}, spsolve_triangular"
    else:
        import scipy
        from scipy.sparse.linalg import spsolve_triangular as peer
        name = f"SciPy {scipy.__version__}, spsolve_triangular"
    rows.append((name, *_time(lambda: peer(L, b, **flags), seconds, kind)))
    first = rows[0][2]
    table = Table(Row(name, statistics.median(took), len(took), _difference(x, first))
                  for name, took, x in rows)
    table.load = load
    return table


def _difference(x: Any, first: Any) -> float:
    host = [a.get() if hasattr(a, "get") else np.asarray(a) for a in (x, first)]
    return float(np.max(np.abs(host[0] - host[1]), initial=0)
                 / max(float(np.max(np.abs(host[1]), initial=0)), np.finfo(float).tiny))
