"""Files and generated matrices."""

import ctypes as C
from typing import TYPE_CHECKING, Any, Optional, Union

from . import _api
from ._arrays import SCALARS
from ._factors import Factors
from ._library import FactorsHandle, MatrixHandle, Told, check_file, library, make_struct, run, text
from ._matrix import matrix_of, to_scipy
from ._words import DType, Path, Progress, Shaped, exact_type, flag, is_path, named, whole

if TYPE_CHECKING:
    from scipy.sparse import csr_array


def _options(dtype: Any, told: Told, seed: Any, max_bytes: Any, **fields: Any) -> Any:
    scalar = _api.TRS_SCALAR_DEFAULT if dtype is None else SCALARS[exact_type(dtype)]
    made = {"seed": whole("seed", seed, 0, 2**64 - 1),
            "max_bytes": whole("max_bytes", max_bytes, -1)}
    return make_struct(_api.trs_read_options, scalar=scalar, progress=told.callback, **made, **fields)


def _read_matrix(name: bytes, options: Any, told: Told) -> Any:
    handle = MatrixHandle()
    run(lambda: check_file(library.trs_matrix_read(C.byref(handle), name, C.byref(options)), name),
        True, told)
    return to_scipy(handle)


def _read_factors(name: bytes, options: Any, told: Told) -> Factors:
    handle = FactorsHandle()
    run(lambda: check_file(library.trs_factors_read(C.byref(handle), name, C.byref(options)), name),
        True, told)
    return Factors(handle)


def read(path: Path, dtype: Optional[DType] = None, *, allow_nonfinite: bool = False,
         seed: int = 0, max_bytes: int = 0, progress: Optional[Progress] = None) -> Any:
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

    Raises
    ------
    FileNotFoundError, IsADirectoryError, PermissionError
        As `open` raises them.
    ValueError
        The file is not what it says; the message names the line.

    Notes
    -----
    A file that has a pattern only gets random values with which either triangle can be solved,
    the same in every read: entries in [-1, 1], and on the diagonal 1 + the sum of the row's absolute
    values.  SciPy's `mmread` has ones there: ``A = read(path); A.data[:] = 1``.
    """
    if not is_path(path):
        raise TypeError(f"path is {named(path)}: the name of a file is wanted")
    name, content = text(path), C.c_int()
    with Told(progress, "reading") as told:
        options = _options(dtype, told, seed, max_bytes,
                           allow_nonfinite=int(flag("allow_nonfinite", allow_nonfinite)))
        check_file(library.trs_file_content(C.byref(content), name), name)
        reader = _read_factors if content.value == _api.TRS_CONTENT_FACTORS else _read_matrix
        return reader(name, options, told)


def write(path: Path, A: "Union[Shaped, Factors]") -> None:
    """Write a sparse matrix to Matrix Market or HDF5, or factors to HDF5, by the name's ending.

    A folder that does not exist is a FileNotFoundError, as with `open`.
    """
    if not is_path(path):
        swapped = ": the order is write(path, A)" if is_path(A) else ""
        raise TypeError(f"path is {named(path)}, the name of a file is wanted{swapped}")
    if isinstance(A, Factors):
        A.write(path)
        return
    matrix, name = matrix_of(A, stacklevel=4), text(path)
    run(lambda: check_file(library.trs_matrix_write(matrix.handle, name), name, True), True)


def generate(name: str, dtype: Optional[DType] = None, *, seed: int = 0, max_bytes: int = 0,
             progress: Optional[Progress] = None) -> "csr_array":
    """A generated matrix, such as ``generate("poisson3d7:100")``; `generators` lists them.

    `max_bytes` is as `read` takes it, 0 all of the machine's memory.

    Returns
    -------
    csr_array
    """
    if not isinstance(name, str):
        raise TypeError(f"name is {named(name)}: a name such as \"poisson3d7:100\" is wanted")
    with Told(progress, "generating") as told:
        options = _options(dtype, told, seed, max_bytes)
        try:
            return _read_matrix(text(name if name.startswith("gen:") else "gen:" + name), options, told)
        except ValueError as error:  # in the names that this function takes
            error.args = (str(error).replace("gen:", ""),)
            raise
