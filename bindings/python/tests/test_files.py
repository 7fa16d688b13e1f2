"""Every file that scipy.io.mmwrite writes is read, with its values."""

import itertools

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

import trireme as tr

pytestmark = pytest.mark.filterwarnings("ignore")

GENERAL = np.array([[2, 0, 1], [1, 3, 0], [0, 0, 4]])
MATRICES = {"general": GENERAL, "symmetric": GENERAL + GENERAL.T, "skew-symmetric": GENERAL - GENERAL.T,
            "hermitian": GENERAL + GENERAL.T, "empty": np.zeros((3, 3)), "wide": GENERAL[:1]}
TYPES = ["bool", "int8", "int32", "int64", "uint8", "uint64", "float32", "float64", "complex64",
         "complex128"]
FIELDS = [None, "real", "complex", "integer", "unsigned-integer", "pattern"]


def stored_zeros(A):
    """The diagonal is stored where it is zero."""
    A = sp.csr_matrix(A + 7 * np.eye(len(A), A.shape[1]).astype(A.dtype) * (A == 0))
    A.data[A.data == 7] = 0
    return A


def files(path, kind, dtype):
    """Each file that SciPy writes of this matrix, by every name that is true of it."""
    D = MATRICES[kind].astype(dtype)
    if kind == "hermitian" and D.dtype.kind == "c":
        D = D + (1j * (GENERAL - GENERAL.T)).astype(dtype)
    names = {None, "general"} | ({kind} & {"symmetric", "skew-symmetric", "hermitian"})
    for A, field, symmetry in itertools.product((D, sp.coo_matrix(D), sp.csc_matrix(D),
                                                 stored_zeros(D)), FIELDS, sorted(names, key=str)):
        if field == "unsigned-integer" and (D.real < 0).any():
            continue
        try:
            scipy.io.mmwrite(path, A, field=field, symmetry=symmetry)
            yield scipy.io.mmread(path)
        except (ValueError, TypeError, OverflowError, IndexError):
            continue  # SciPy refuses to write it, or to read what it wrote


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("kind", MATRICES)
def test_what_scipy_writes(kind, dtype, tmp_path):
    if kind == "skew-symmetric" and dtype[0] in "bu":
        pytest.skip("no such matrix")
    path, count = str(tmp_path / "a.mtx"), 0
    for theirs in files(path, kind, dtype):
        mine = tr.read(path)
        theirs = theirs.toarray() if sp.issparse(theirs) else theirs
        with open(path, encoding="utf-8") as file:
            pattern = "pattern" in file.readline()
        if pattern:
            np.testing.assert_array_equal(mine.toarray() != 0, theirs != 0)
        else:
            np.testing.assert_array_equal(mine.toarray(), theirs)
        count += 1
    assert count


def test_a_pattern_gets_values_that_can_be_solved(tmp_path):
    path = str(tmp_path / "p.mtx")
    scipy.io.mmwrite(path, sp.coo_matrix(np.tril(np.ones((200, 200)))), field="pattern")
    A = tr.read(path)
    np.testing.assert_array_equal(A.toarray(), tr.read(path).toarray())
    assert abs(A - tr.read(path, seed=1)).max() > 0 and abs(A.data).min() > 0
    off = A - sp.diags(A.diagonal())
    assert abs(off).max() <= 1
    np.testing.assert_allclose(A.diagonal(), 1 + np.asarray(abs(off).sum(1)).ravel())
    assert np.isfinite(tr.spsolve_triangular(A, np.ones(200))).all()


def test_harwell_boeing(tmp_path):
    path = str(tmp_path / "a.rb")
    D = sp.csc_matrix(np.array([[1.5, 0, 2], [0, -1e-3, 0], [7e10, 0, 1 / 3]]))
    scipy.io.hb_write(path, D)
    np.testing.assert_array_equal(tr.read(path).toarray(), scipy.io.hb_read(path).toarray())
