"""Files and generated matrices."""

import ctypes as C
from typing import Any, Optional

import numpy as np

from . import _api
from ._arrays import SCALARS
from ._factors import Factors
from ._library import Progress, check, library, make_struct, run, text
from ._matrix import matrix_of, to_scipy


def _options(dtype: Any, told: Progress, **fields: Any) -> Any:
    scalar = _api.TRS_SCALAR_DEFAULT
    if dtype is not None:
        if np.dtype(dtype) not in SCALARS:
            raise TypeError(f"dtype is {np.dtype(dtype)}: float32, float64, complex64 or "
                            "complex128 is wanted")
        scalar = SCALARS[np.dtype(dtype)]
    return make_struct(_api.trs_read_options, scalar=scalar, progress=told.callback, **fields)


def _read_matrix(name: bytes, options: Any) -> Any:
    handle = C.c_void_p()
    try:
        run(lambda: check(library.trs_matrix_read(C.byref(handle), name, C.byref(options))), True)
        return to_scipy(handle)
    finally:
        library.trs_matrix_destroy(handle)


def _read_factors(name: bytes, options: Any) -> Factors:
    handle = C.c_void_p()
    run(lambda: check(library.trs_factors_read(C.byref(handle), name, C.byref(options))), True)
    return Factors(handle)


def read(path: Any, dtype: Optional[Any] = None, *, allow_nonfinite: bool = False,
         seed: int = 0, max_bytes: int = 0, progress: Any = None) -> Any:
    """Read a matrix or factors.

    Parameters
    ----------
    path : str or path
        Matrix Market (.mtx, .mtx.gz, .mtx.zst), Rutherford-Boeing (.rb) or HDF5 (.h5), as far as
        the build has zlib, zstd and HDF5.
    dtype : optional
        The type of the values; without it float64, or complex128 where the file is complex.
    allow_nonfinite : bool, optional
        Accept NaN and infinity as values.
    seed : int, optional
        Of the values made for a file that has a pattern only.
    max_bytes : int, optional
        Most memory that the read may take: a file that needs more is a MemoryError.  0 is half of
        the machine's, -1 no limit.
    progress : callable or True, optional
        Called with (phase, done) now and then.

    Returns
    -------
    csr_array, csc_array or Factors

    Notes
    -----
    A file that has a pattern only gets random values with which either triangle can be solved,
    the same in every read: entries in [-1, 1], and on the diagonal 1 + the sum of the row's absolute
    values.  SciPy's `mmread` has ones there: ``A = read(path); A.data[:] = 1``.
    """
    name, told = text(path), Progress(progress)
    options = _options(dtype, told, allow_nonfinite=int(allow_nonfinite), seed=seed,
                       max_bytes=max_bytes)
    content = C.c_int()
    check(library.trs_file_content(C.byref(content), name))
    reader = _read_factors if content.value == _api.TRS_CONTENT_FACTORS else _read_matrix
    made = reader(name, options)
    told.finish()
    return made


def write(path: Any, A: Any) -> None:
    """Write a sparse matrix to Matrix Market or HDF5, or factors to HDF5, by the name's ending."""
    if isinstance(A, Factors):
        A.write(path)
        return
    matrix, name = matrix_of(A, stacklevel=4), text(path)
    run(lambda: check(library.trs_matrix_write(matrix.handle, name)), True)


def generate(name: str, dtype: Optional[Any] = None, *, seed: int = 0, max_bytes: int = 0,
             progress: Any = None) -> Any:
    """A generated matrix, such as ``generate("poisson3d7:100")``; `generators` lists them.

    `max_bytes` is as `read` takes it, 0 all of the machine's memory.

    Returns
    -------
    csr_array
    """
    told = Progress(progress)
    made = _read_matrix(text("gen:" + name), _options(dtype, told, seed=seed, max_bytes=max_bytes))
    told.finish()
    return made


def generators() -> str:
    """What `generate` makes, one per line."""
    return str(library.trs_generator_list().decode()).replace("gen:", "")
