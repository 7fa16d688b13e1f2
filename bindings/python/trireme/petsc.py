"""Trireme's factors in a PETSc that the program has initialised, as petsc4py and dolfin do.

    from petsc4py import PETSc
    import trireme.petsc
    trireme.petsc.register()
    ksp.pc.setFactorSolverType("trireme")

PETSc's own way, -dll_append, is read while PETSc is initialised.
"""

import ctypes as C
import os
from typing import List, Optional

from ._library import HERE, UnsupportedError, library

NAME = "libtrireme_petsc.so"


def _places() -> List[str]:
    beside = os.path.dirname(os.path.realpath(str(library._name)))
    build = os.path.join(HERE, "..", "..", "..", "build", "bindings", "petsc")
    return [os.path.join(folder, NAME)
            for folder in (beside, os.path.join(beside, "..", "bindings", "petsc"), build)]


def _open(path: Optional[str]) -> C.CDLL:
    """The loader searches for the bare name as for every library."""
    found = [path] if path else [p for p in _places() if os.path.exists(p)] + [NAME]
    try:
        plugin = C.CDLL(found[0])
        plugin.PetscDLLibraryRegister_trireme_petsc  # not of another library
        return plugin
    except (OSError, AttributeError) as error:
        raise UnsupportedError(f"{found[0]} cannot be loaded ({error}): install Debian's "
                               "trireme-petsc or the component petsc of a build, and give register "
                               "its path") from error


def register(path: Optional[str] = None) -> None:
    """Registers the MatSolverType "trireme" and the PC "triremerelax" with the running PETSc.

    Parameters
    ----------
    path : str, optional
        libtrireme_petsc.so, built with the PETSc of this process; without it the one beside
        libtrireme, of the build folder, or of the loader's folders.
    """
    plugin = _open(path)
    running = C.c_int(0)
    plugin.PetscInitialized(C.byref(running))
    if not running.value:
        raise RuntimeError("PETSc is not initialised: call register after petsc4py.init, or after "
                           "from petsc4py import PETSc")
    code = plugin.PetscDLLibraryRegister_trireme_petsc()
    if code:
        raise RuntimeError(f"PETSc's error {code} while libtrireme_petsc registered itself")
