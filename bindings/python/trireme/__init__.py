"""Trireme: sparse triangular solves, faster than SciPy's and reused.

`spsolve_triangular`, `spsolve`, `splu` and `factorized` replace SciPy's.  `plan` analyses once and solves often.  `ilu0`, `ic0`, `lu`
and `from_factors` make factors, which precondition SciPy's solvers: ``M=tr.ilu0(A)``.
`relaxation` is multicolour Gauss-Seidel.  `trireme.torch.solve` can be differentiated, and
`trireme.jax.solve` compiled and mapped, too.
"""

import inspect as _inspect
from typing import TYPE_CHECKING

from ._batch import Batch, FactorsBatch, batch
from ._bench import bench
from ._context import get_num_threads, set_num_threads
from ._factors import Factors, FactorsPlan, from_factors, ic0, ilu0, lu
from ._direct import SuperLU, factorized, splu, spsolve
from ._files import generate, read, write
from ._kept import CacheInfo, cache_clear, cache_info
from ._library import (VERSION, SingularMatrixError, StructureError, UnsupportedError, devices,
                       features, generators, memory_usage, version)
from ._matrix import triangle
from ._oneshot import spsolve_triangular
from ._plan import Plan, methods, plan
from ._relaxation import Relaxation, relaxation
from ._threadpool import register as register_threadpoolctl
from ._words import Name

if TYPE_CHECKING:
    from . import jax as jax
    from . import torch as torch

__version__ = VERSION
__all__ = ["Batch", "CacheInfo", "Factors", "FactorsBatch", "FactorsPlan", "Name", "Plan",
           "Relaxation", "SingularMatrixError", "StructureError", "SuperLU", "UnsupportedError",
           "batch", "bench", "cache_clear", "cache_info", "devices", "factorized", "features",
           "from_factors", "generate", "generators", "get_num_threads", "ic0", "ilu0", "lu",
           "memory_usage", "methods", "plan", "read", "register_threadpoolctl", "relaxation",
           "set_num_threads", "splu", "spsolve", "spsolve_triangular", "triangle", "version", "write"]


def _without_annotations(thing: object) -> None:
    """help() shows names and defaults: the types fill many lines, and the docstrings have them."""
    classes = thing.__mro__[:-1] if isinstance(thing, type) else []
    for member in [m for c in classes for m in vars(c).values()] or [thing]:
        if _inspect.isfunction(member) and member.__module__.startswith(__name__):
            given = _inspect.signature(member)
            bare = [p.replace(annotation=p.empty) for p in given.parameters.values()]
            setattr(member, "__signature__", given.replace(parameters=bare, return_annotation=given.empty))


for _name in __all__:
    _without_annotations(globals()[_name])
    if isinstance(globals()[_name], type):
        globals()[_name].__module__ = __name__  # tracebacks show the name that users import


def __dir__() -> "list[str]":
    return sorted([*__all__, "__version__", "jax", "torch"])


def __getattr__(name: str) -> object:
    """trireme.jax and trireme.torch are imported when they are asked for."""
    if name in ("jax", "torch"):
        import importlib
        module = importlib.import_module("." + name, __name__)
        for part in ("features", "pattern", "solve"):
            if hasattr(module, part):
                _without_annotations(getattr(module, part))
        return module
    hint = {"spilu": ": trireme.ilu0 makes incomplete factors",
            "cg": ": SciPy has it, and takes M=trireme.ic0(A)",
            "gmres": ": SciPy has it, and takes M=trireme.ilu0(A)"}.get(name, "")
    raise AttributeError(f"module 'trireme' has no attribute {name!r}{hint}")
