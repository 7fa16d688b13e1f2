"""spsolve_triangular beside the installed SciPy's: types, shapes, exceptions, values.

DIFFERENCES names what differs on purpose, each with its test and its line in docs/python.md.
"""

import copy
import gc
import itertools
import os
import re
import warnings
import weakref

import numpy as np
import pytest
import scipy
import scipy.sparse as sp
from scipy.sparse.linalg import spsolve_triangular as theirs

import trireme as tr

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "docs",
                    "python.md")
VERSION = tuple(int(part) for part in scipy.__version__.split(".")[:2])
# SciPy 1.14 replaced a loop in Python, which solves in double, by SuperLU; 1.15 mended its indices.
OLD = VERSION < (1, 15)

WHOLE = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
MATRIX_TYPES = WHOLE + ["float32", "float64", "complex64", "complex128"]
RHS_TYPES = MATRIX_TYPES + ["float16", ">f4", ">f8", ">c8", ">c16", ">i4"]
NO_TYPES = ["longdouble", "clongdouble", "object", "U1", "S1", "datetime64[s]", "timedelta64[s]"]

pytestmark = pytest.mark.filterwarnings("ignore")


def outcome(solve, A, b, options):
    """The solution, or the exception."""
    try:
        return solve(copy.deepcopy(A), b.copy() if hasattr(b, "copy") else b, **options)
    except Exception as error:
        return error


def wanted_type(A, b, unit):
    """SciPy's result type since 1.14; `compare` checks it against SciPy's own."""
    A, b = np.dtype(A), np.dtype(b)
    return np.promote_types(np.promote_types("f8" if A.kind in "biu" and not unit else A, "f4"), b)


def compare(A, b, **options):
    """Both give the same, or fail with the same kind of exception."""
    reference = outcome(theirs, A, b, options)
    mine = outcome(tr.spsolve_triangular, A, b, options)
    if isinstance(reference, Exception):
        kind = ValueError if isinstance(reference, ValueError) else type(reference)
        assert isinstance(mine, kind), (reference, mine)
        return
    assert not isinstance(mine, Exception), mine
    assert mine.shape == reference.shape and type(mine) is type(reference)
    assert mine.dtype == wanted_type(A.dtype, np.asarray(b).dtype,
                                     options.get("unit_diagonal", False))
    assert OLD or mine.dtype == reference.dtype
    np.testing.assert_allclose(mine, reference, rtol=50 * np.finfo(mine.dtype).eps, atol=0)


def small(dtype, form="csr", lower=True):
    """Pivots and sums are powers of two, so that solutions in every type have few digits."""
    D = np.array([[1, 0, 0], [1, 1, 0], [1, 1, 1]]).astype(dtype)
    return getattr(sp, form + "_array")(sp.csr_array(D if lower else D.T))


@pytest.mark.parametrize("A_type", MATRIX_TYPES)
def test_every_pair_of_types(A_type):
    for b_type, unit, form in itertools.product(RHS_TYPES, (False, True), ("csr", "csc")):
        for b in (np.ones(3), np.ones((3, 1)), np.ones((3, 2))):
            compare(small(A_type, form), b.astype(b_type), unit_diagonal=unit)


def random_triangle(n, dtype, seed=0):
    rng = np.random.default_rng(seed)
    D = np.tril(rng.integers(1, 3, (n, n)) * (rng.random((n, n)) < 0.5), -1)
    return (D + np.diag(rng.integers(1, 3, n))).astype(dtype)


def rewritten(A, twice=False, zeros=False):
    """The entries of each row from right to left, each in halves if twice; zeros among them."""
    n, rows = A.shape[0], []
    for i in range(n):
        row = [(j, A[i, j]) for j in range(n) if A[i, j] or (zeros and j <= i)][::-1]
        rows.append([(j, v / 2) for j, v in row] * 2 if twice else row)
    data = [v for row in rows for _, v in row]
    made = sp.csr_array((np.array(data, A.dtype), np.array([j for r in rows for j, _ in r], "i4"),
                         np.cumsum([0] + [len(r) for r in rows], dtype="i4")), shape=(n, n))
    return made


def read_only(A):
    for array in (A.data, A.indices, A.indptr):
        array.flags.writeable = False
    return A


def wide(A):
    A.indices, A.indptr = A.indices.astype("i8"), A.indptr.astype("i8")
    return A


def strided(A):
    A.data = np.repeat(A.data, 2)[::2]
    return A


STORAGE = {
    "plain": sp.csr_array,
    "unsorted": rewritten,
    "repeated": lambda D: rewritten(D, twice=D.dtype.kind in "fc"),
    "zeros inside": lambda D: rewritten(D, zeros=True),
    "read-only": lambda D: read_only(sp.csr_array(D)),
    "64-bit indices": lambda D: wide(sp.csr_array(D)),
    "strided": lambda D: strided(sp.csr_array(D)),
    "zero on the diagonal": lambda D: sp.csr_array(D - np.diag(np.eye(len(D))[-1]).astype(D.dtype)
                                                   * D[-1:, -1:]) if len(D) else sp.csr_array(D),
    "no entries": lambda D: sp.csr_array(D.shape, dtype=D.dtype),
    "not square": lambda D: sp.csr_array(np.ones((len(D), len(D) + 1), D.dtype)),
}
RHS = {
    "vector": lambda n: np.arange(1.0, n + 1),
    "column": lambda n: np.arange(1.0, n + 1)[:, None],
    "C order": lambda n: np.ones((n, 2)),
    "Fortran order": lambda n: np.asfortranarray(np.ones((n, 2))),
    "strided": lambda n: np.repeat(np.arange(1.0, n + 1), 2)[::2],
    "reversed": lambda n: np.arange(1.0, n + 1)[::-1],
    "no columns": lambda n: np.ones((n, 0)),
    "read-only": lambda n: np.frombuffer(np.arange(1.0, n + 1).tobytes()),
    "int8": lambda n: np.ones(n, "i1"),
    "complex": lambda n: np.ones((n, 2)) * (1 + 1j),
    "list": lambda n: list(range(n)),
    "too long": lambda n: np.ones(n + 1),
    "three dimensions": lambda n: np.ones((n, 1, 1)),
}


@pytest.mark.parametrize("storage", STORAGE)
@pytest.mark.parametrize("dtype", ["int8", "float32", "float64", "complex64"])
@pytest.mark.parametrize("n", [0, 1, 5])
def test_every_storage(n, dtype, storage):
    lower = STORAGE[storage](random_triangle(n, dtype))
    if storage == "64-bit indices" and VERSION == (1, 14):
        pytest.skip("SciPy 1.14 refuses 64-bit indices")
    for name, make in RHS.items():
        for A, options in ((lower, {}), (lower.T, dict(lower=False)),
                           (lower, dict(unit_diagonal=True)), (lower, dict(overwrite_b=True)),
                           (lower, dict(overwrite_A=True))):
            if storage == "no entries" and n and name in ("too long", "three dimensions"):
                continue  # two faults: which is named is a matter of taste
            if OLD and "overwrite_b" in options:
                continue  # the loop in Python writes into every b
            if OLD and "unit_diagonal" in options and storage == "zero on the diagonal":
                continue  # the loop in Python takes the last entry for the diagonal's
            compare(A, make(n), **options)


@pytest.mark.parametrize("make", ["_array", "_matrix"])
@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"])
def test_every_format(form, make):
    for dtype in ("int16", "float64", "complex64"):
        A = getattr(sp, form + make)(sp.csr_array(random_triangle(5, dtype)))
        for b in (np.ones(5), np.ones((5, 2))):
            for options in ({}, dict(unit_diagonal=True)):
                compare(A, b, **options)
            compare(A.T, b, lower=False)


def test_dense_matrices():
    D = random_triangle(4, "float64")
    for A in (D, np.asfortranarray(D), D.astype("int8")):
        compare(A, np.ones(4))
    np.testing.assert_array_equal(tr.spsolve_triangular(D.tolist(), [1, 2, 3, 4]),
                                  tr.spsolve_triangular(D, np.arange(1.0, 5)))
    for A in (None, 3.0, "abc", np.ones(4), np.ones((2, 2, 2))):
        with pytest.raises(ValueError):
            tr.spsolve_triangular(A, np.ones(4))


def test_right_hand_sides_that_are_none():
    for b in (None, 1.0, "ab", sp.csr_array(np.ones((3, 1))), (x for x in range(3))):
        with pytest.raises(ValueError, match="dims"):
            tr.spsolve_triangular(small("f8"), b)


class Named(np.ndarray):
    """A class of arrays."""


def test_the_solution_is_of_the_class_of_b():
    for b in (np.ones(3).view(Named), np.ma.array(np.ones(3)), np.ones((3, 2)).view(Named)):
        x = tr.spsolve_triangular(small("f8"), b)
        assert type(x) is type(b)
        assert OLD or type(theirs(small("f8"), b)) is type(b)
        assert tr.spsolve_triangular(small("f8"), b, overwrite_b=True) is b


def test_warnings_are_scipys():
    for form in ("csr", "csc", "coo", "lil"):
        A, told = small("f8", form), []
        for solve in (theirs, tr.spsolve_triangular):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                solve(A, np.ones(3))
            told.append({w.category for w in caught})
        assert told[0] == told[1] or (OLD and form == "csc")


# ---- Zeros across the diagonal ----------------------------------------------------------------

ZEROS = {
    "bsr": lambda D: sp.bsr_array(D, blocksize=(2, 2)),
    "stored": lambda D: zeroed(D),
    "csc": lambda D: sp.csc_array(zeroed(D)),
    "repeated": lambda D: cancelled(D),
}


def zeroed(D):
    A = sp.csr_array(np.ones_like(D))
    A.data = D.ravel().copy()
    return A


def cancelled(D):
    """Two entries on the other side of the diagonal whose sum is zero."""
    A, last = sp.csr_array(D), len(D) - 1
    return sp.csr_array((np.r_[np.array([1, -1], D.dtype), A.data],
                         np.r_[[last, last], A.indices].astype("i4"),
                         np.r_[0, A.indptr[1:] + 2].astype("i4")), shape=A.shape)


@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.parametrize("dtype", ["int8", "float32", "float64", "complex128"])
@pytest.mark.parametrize("zeros", ZEROS)
def test_zeros_across_the_diagonal(zeros, dtype, unit):
    D = random_triangle(4, dtype, seed=3)
    T = np.tril(D, -1) + np.eye(4) if unit else D
    for b in (np.ones(4), np.ones((4, 1)), np.ones((4, 2))):
        for A, M, lower in ((ZEROS[zeros](D), T, True), (ZEROS[zeros](D).T, T.T, False)):
            for _ in range(2):  # a plan that was kept
                x = tr.spsolve_triangular(A, b, lower, unit_diagonal=unit)
                np.testing.assert_allclose(M @ x, b, rtol=1e-5, atol=1e-5)
            if not OLD and not unit:
                compare(A, b, lower=lower)


# Memory of this size is given back to the system and reused at once, so that a use of it after its
# end shows as a crash or garbage, which small arrays hide.
@pytest.mark.parametrize("n", [2500, 200000])
@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array])
def test_zeros_across_the_diagonal_of_large_systems(n, form):
    T = sp.coo_array(sp.diags([np.ones(n - 1), np.full(n, 3.0), np.ones(n - 1)], [-1, 0, 1]))
    other = T.copy()
    T.data[T.row < T.col] = 0
    for b in (np.ones(n), np.ones((n, 2))):
        x = tr.spsolve_triangular(form(T), b)
        np.testing.assert_allclose(form(T) @ x, b, rtol=1e-12)
        for wrong in (lambda: tr.spsolve_triangular(form(T), b, lower=False),
                      lambda: tr.spsolve_triangular(form(other), b), lambda: tr.plan(form(other))):
            with pytest.raises(tr.StructureError, match=f"{n - 1} entries lie"):
                wrong()


def test_zeros_across_the_diagonal_hide_no_other_fault():
    A = zeroed(np.array([[1.0, 0, 0], [1, 0, 0], [1, 1, 1]]))
    with pytest.raises(tr.SingularMatrixError) as told:
        tr.spsolve_triangular(A, np.ones(3))
    assert told.value.row == 1
    A = zeroed(np.array([[1.0, 0, 5], [1, 1, 0], [1, 1, 1]]))
    for b in (np.ones(3), np.ones((3, 2))):
        with pytest.raises(tr.StructureError):
            tr.spsolve_triangular(A, b)
    A.indices[1] = 1 << 30
    with pytest.raises(tr.StructureError):
        tr.spsolve_triangular(A, np.ones(3))


# ---- Differences ------------------------------------------------------------------------------

def other_side():
    for b in (np.ones(2), np.ones((2, 2))):
        with pytest.raises(tr.StructureError):
            tr.spsolve_triangular(sp.csr_array(np.array([[1.0, 2], [3, 4]])), b)


def diagonal_not_finite():
    for value in (np.nan, np.inf, 5e-324):
        A = small("f8")
        A.data[2] = value
        with pytest.raises(tr.SingularMatrixError):
            tr.spsolve_triangular(A, np.ones(3))


def unit_and_zeros():
    x = tr.spsolve_triangular(zeroed(np.array([[2.0, 0], [3, 4]])), np.ones(2), unit_diagonal=True)
    np.testing.assert_array_equal(x, [1, -2])


def more_types_of_A():
    for dtype in ("float16", ">f8", ">i4"):
        A = small("f8")
        A.data = A.data.astype(dtype)
        x = tr.spsolve_triangular(A, np.ones(3, "f4"))
        np.testing.assert_array_equal(x, [1, 0, 0])
        assert x.dtype == wanted_type(dtype, "f4", False)


def no_types():
    for dtype in NO_TYPES:
        with pytest.raises(TypeError, match="widest types"):
            tr.spsolve_triangular(small("f8"), np.array([1, 1, 1]).astype(dtype))
    for dtype in ("longdouble", "clongdouble", "object"):
        A = small("f8")
        A.data = A.data.astype(dtype)
        with pytest.raises(TypeError, match="widest types"):
            tr.spsolve_triangular(A, np.ones(3))


def sums_of_integers():
    A = sp.csr_array((np.array([100, 100], "i1"), np.zeros(2, "i4"), np.array([0, 2])), (1, 1))
    assert tr.spsolve_triangular(A, [200]) == 1


def not_finite_b():
    x = tr.spsolve_triangular(sp.csr_array(np.diag([2.0, 1, 4])), np.array([np.inf, 1, np.nan]))
    np.testing.assert_array_equal(x, [np.inf, 1, np.nan])


def matrix_class():
    x = tr.spsolve_triangular(small("f8"), np.asmatrix(np.ones((3, 2))))
    assert isinstance(x, np.matrix) and x.shape == (3, 2)


def single_precision():
    assert tr.spsolve_triangular(small("f4"), np.ones(3, "f4")).dtype == np.float32
    assert theirs(small("f4"), np.ones(3, "f4")).dtype == ("f8" if VERSION < (1, 14) else "f4")


def no_flags():
    L, b = small("f8"), np.ones(3)
    for value, name in ((b, "an ndarray"), (np.ones(1), "an ndarray"), ([True], "a list"),
                        (L, f"a {type(L).__name__}")):
        with pytest.raises(TypeError, match=f"lower is True or False, not {name}: .*overwrite_b=True"):
            tr.spsolve_triangular(L, b, value)
    with pytest.raises(TypeError, match="unit_diagonal is True or False, not an ndarray"):
        tr.spsolve_triangular(L, b, unit_diagonal=b)
    for value in ("upper", b"U"):
        with pytest.raises(TypeError, match="not .*: lower=False solves with the upper triangle"):
            tr.spsolve_triangular(L, b, value)
    with pytest.raises(TypeError, match="overwrite_b is True or False, not 'no'$"):
        tr.spsolve_triangular(L, b, overwrite_b="no")
    x = theirs(L, b)
    for value in (True, np.True_, 1, np.array(True)):
        np.testing.assert_allclose(tr.spsolve_triangular(L, b, value), x)
    for value in (False, 0, None):
        np.testing.assert_allclose(tr.spsolve_triangular(sp.csr_array(L.T), b, value),
                                   theirs(sp.csr_array(L.T), b, value))


DIFFERENCES = {
    "other side": other_side,
    "not finite": diagonal_not_finite,
    "unit_diagonal": unit_and_zeros,
    "float16": more_types_of_A,
    "TypeError": no_types,
    "wrap": sums_of_integers,
    "NaN and infinity in b": not_finite_b,
    "numpy.matrix": matrix_class,
    "single precision": single_precision,
    "truth value": no_flags,
}


@pytest.mark.parametrize("difference", DIFFERENCES)
def test_differences(difference):
    DIFFERENCES[difference]()


@pytest.mark.skipif(not os.path.exists(PAGE), reason="not in a checkout")
def test_differences_are_documented():
    with open(PAGE, encoding="utf-8") as page:
        listed = re.search(r"### Differences from SciPy\n(.*?)\n##", page.read(), re.S)[1]
    lines = [line for line in listed.split("\n") if line.startswith("- ")]
    assert len(lines) == len(DIFFERENCES)
    for name, line in zip(DIFFERENCES, lines):
        assert name in line


# ---- Lifetimes --------------------------------------------------------------------------------

def arrays_of(A):
    return [weakref.ref(a) for a in (A.data, A.indices, A.indptr)]


def matrix_for_lifetimes(sort):
    A = tr.generate("poisson2d5:20")
    return A if sort else sp.csr_array(rewritten(A.toarray()))


@pytest.mark.parametrize("sort", [True, False])
@pytest.mark.parametrize("make", ["ilu0", "ic0", "relaxation", "plan", "spsolve_triangular"])
def test_nothing_keeps_the_matrix(make, sort):
    A = matrix_for_lifetimes(sort)
    b = np.ones((400, 2))
    if make in ("ilu0", "ic0"):
        made = getattr(tr, make)(A)
        x = made.solve(b)
    elif make == "relaxation":
        made = tr.relaxation(A)
    elif make == "plan":
        made = tr.plan(A, take_triangle=True)
        x = made.solve(b)
    else:
        A = sp.csr_array(sp.tril(A))
        tr.spsolve_triangular(A, b)
    left = arrays_of(A)
    before = tr.memory_usage()[0]
    del A
    gc.collect()
    assert [array() for array in left] == [None] * 3
    if make in ("ilu0", "ic0", "plan"):
        np.testing.assert_array_equal(made.solve(b), x)
    assert tr.memory_usage()[0] <= before


@pytest.mark.parametrize("make", ["ilu0", "ic0"])
def test_factors_keep_no_copy(make):
    """Of a matrix whose entries are not in order the library makes a sorted copy."""
    held = []
    for sort in (True, False):
        A, before = matrix_for_lifetimes(sort), tr.memory_usage()[0]
        made = getattr(tr, make)(A)
        held.append(tr.memory_usage()[0] - before)
        del made
    assert held[0] == held[1]
