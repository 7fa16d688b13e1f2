"""splu, factorized and spsolve beside SciPy's, and what they keep."""

import gc
import inspect
import os
import pickle
import re
import warnings
import weakref

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as theirs
from conftest import DTYPES, in_threads, tolerance

import trireme as tr


OWN_SUPERLU = "SuperLU  yes" in tr.features()  # wheels have SciPy's
PAGE = os.path.join(os.path.dirname(__file__), "..", "..", "..", "docs", "python.md")


@pytest.fixture(autouse=True)
def forget():
    tr.cache_clear()


def matrix(n=60, dtype="float64", form="csc", seed=0, density=0.06):
    """Unsymmetric, with a pattern that seed does not change."""
    shape = np.random.default_rng(5).uniform(size=(n, n)) < density
    rng = np.random.default_rng(seed)
    dense = shape * rng.uniform(-1, 1, (n, n))
    if np.dtype(dtype).kind == "c":
        dense = dense + shape * 1j * rng.uniform(-1, 1, (n, n))
    np.fill_diagonal(dense, rng.uniform(2, 3, n))
    return sp.csc_array(dense.astype(dtype)).asformat(form)


def right(n, dtype="float64", columns=None, order="C"):
    shape = n if columns is None else (n, columns)
    made = np.random.default_rng(1).uniform(-1, 1, shape).astype(dtype)
    return np.asarray(made, order=order)


def backward_error(A, x, b):
    return np.abs(A @ x - b).max() / (np.abs(A).sum(axis=1).max() * np.abs(x).max() + np.abs(b).max())


# ---- As SciPy's ---------------------------------------------------------------------------------

def test_signatures_are_scipys():
    for name in "splu", "factorized", "spsolve":
        mine, other = (inspect.signature(getattr(m, name)) for m in (tr, theirs))
        assert list(mine.parameters) == list(other.parameters)
    for name in "shape", "nnz", "perm_r", "perm_c", "L", "U", "solve":
        assert hasattr(tr.SuperLU, name) and hasattr(theirs.SuperLU, name)


@pytest.mark.parametrize("form", ["csc", "csr"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("columns", [None, 1, 3])
def test_solutions_of_every_type(dtype, form, columns):
    for seed in range(3):  # factored, and twice with new values
        A = matrix(dtype=dtype, form=form, seed=seed)
        S = tr.splu(A)
        for order in "C", "F":
            b = right(60, dtype, columns, order)
            for trans, op in ("N", A), ("T", A.T), ("H", A.conj().T):
                x = S.solve(b, trans)
                assert x.dtype == A.dtype and x.shape == b.shape
                assert backward_error(op, x, b) < tolerance(dtype)
            x = tr.spsolve(A, b)
            assert x.dtype == A.dtype and x.shape == theirs.spsolve(A, b).shape
            assert backward_error(A, x, b.reshape(x.shape)) < tolerance(dtype)
        del S
    assert tr.cache_info().plans <= 2


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("options", [{}, {"permc_spec": "NATURAL"}, {"permc_spec": "MMD_AT_PLUS_A"},
                                     {"permc_spec": 3, "diag_pivot_thresh": 7.5, "panel_size": 10},
                                     {"options": {"Equil": False, "SymmetricMode": True}}])
def test_factors_are_those_of_the_permuted_matrix(dtype, options):
    for seed in range(2):
        A = matrix(dtype=dtype, seed=seed)
        A.data *= 3
        S = tr.splu(A, **options)
        n = A.shape[0]
        assert S.shape == A.shape and S.nnz >= A.nnz
        assert sorted(S.perm_r) == sorted(S.perm_c) == list(range(n))
        assert S.L.format == S.U.format == "csc" and S.L.dtype == S.U.dtype == A.dtype
        assert isinstance(S.L, sp.csc_array)
        np.testing.assert_array_equal(S.L.diagonal(), 1)
        Pr = sp.csc_array((np.ones(n), (S.perm_r, np.arange(n))))
        Pc = sp.csc_array((np.ones(n), (np.arange(n), S.perm_c)))
        difference = (Pr @ A @ Pc).toarray() - (S.L @ S.U).toarray()
        assert np.abs(difference).max() < 100 * np.finfo(dtype).eps * np.abs(A.data).max()
        if options.get("permc_spec") == "NATURAL":
            np.testing.assert_array_equal(S.perm_c, np.arange(n))
        del S
    assert isinstance(tr.splu(sp.csc_matrix(A)).U, sp.csc_matrix)


@pytest.mark.parametrize("A_type", ["int8", "int64", "float32", "float64", "complex64"])
@pytest.mark.parametrize("b_type", ["int64", "float32", "float64", "complex128"])
def test_types_of_spsolve_are_scipys(A_type, b_type):
    A = sp.csc_array(np.array([[4, 1, 0], [1, 5, 2], [0, 1, 3]]).astype(A_type))
    b = np.arange(3).astype(b_type)
    x = theirs.spsolve(A, b)
    mine = tr.spsolve(A, b)
    assert mine.dtype == x.dtype
    np.testing.assert_allclose(mine, x, rtol=1e-5)
    if A_type[:3] == "int":
        assert tr.splu(A).solve(np.ones(3, "f4")).dtype == theirs.splu(A).solve(np.ones(3, "f4")).dtype


def test_shapes_of_right_hand_sides():
    A = matrix()
    for b in (right(60), right(60, columns=1), right(60, columns=4), right(60, columns=0),
              list(right(60)), right(60, columns=4)[:, ::2], sp.csc_matrix(right(60, columns=1))):
        x = tr.spsolve(A, b)
        if 0 not in np.shape(b):
            assert x.shape == theirs.spsolve(A, b).shape
    for bad in right(59), right(59, columns=2), np.ones((60, 2, 2)), 3.0:
        for call in lambda: tr.spsolve(A, bad), lambda: tr.splu(A).solve(bad):
            with pytest.raises(ValueError):
                call()
    with pytest.raises(ValueError, match="matrix - rhs dimension mismatch"):
        tr.spsolve(A, right(59))
    with pytest.raises(ValueError, match="rhs is of incompatible size"):
        tr.splu(A).solve(right(59))
    with pytest.raises(ValueError, match="trans"):
        tr.splu(A).solve(right(60), "X")
    for b in sp.csc_array(np.eye(60)), None:
        with pytest.raises(TypeError, match="rhs is"):
            tr.splu(A).solve(b)
    with pytest.raises(TypeError, match="spsolve.A, b."):
        tr.spsolve(right(60), A)


@pytest.mark.parametrize("make", [sp.csc_array, sp.csr_matrix])
def test_sparse_right_hand_sides(make):
    A = make(matrix())
    B = sp.random(60, 130, 0.05, format="csc", random_state=0)
    for b in B, sp.csc_array(B):
        x = tr.spsolve(A, b)
        assert type(x) is type(theirs.spsolve(A, b)) is make and x.shape == (60, 130)
        assert np.abs((A @ x - B).toarray()).max() < 1e-12
    with pytest.warns(sp.SparseEfficiencyWarning, match="sparse b"):
        tr.spsolve(A, B.tocsr())
    assert tr.spsolve(A, B[:, :0]).shape == (60, 0)


@pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning")
def test_a_dense_matrix_has_sparse_right_hand_sides():
    A, B = matrix(), sp.random(60, 3, 0.2, format="csc", random_state=0)
    np.testing.assert_array_equal(tr.spsolve(A.toarray(), B).toarray(), tr.spsolve(A, B).toarray())
    with pytest.raises(TypeError, match=r"the order is spsolve\(A, b\)"):
        tr.spsolve(np.ones((60, 3)), A)


def test_formats_are_converted_with_scipys_warning():
    A, b = matrix(), right(60)
    x = tr.spsolve(A, b)
    for made in A.tocoo(), A.tolil(), A.toarray():
        for call in tr.splu, tr.factorized, lambda M: tr.spsolve(M, b):
            with pytest.warns(sp.SparseEfficiencyWarning) as caught:
                call(made)
            assert caught[0].filename == __file__
        np.testing.assert_allclose(x, tr.factorized(A)(b), rtol=1e-12)


def test_a_is_not_changed():
    A = matrix()
    twice = sp.csc_array((np.concatenate([A.data, A.data]), (np.concatenate([A.tocoo().row] * 2),
                                                            np.concatenate([A.tocoo().col] * 2))))
    backwards = sp.csr_array((A.data[::-1].copy(), A.indices[::-1].copy(),
                              (A.nnz - A.indptr[::-1]).astype(A.indptr.dtype)), shape=A.shape)
    for M in A, twice, backwards:
        before = [a.copy() for a in (M.data, M.indices, M.indptr)]
        x = tr.spsolve(M, right(60))
        for a, was in zip((M.data, M.indices, M.indptr), before):
            np.testing.assert_array_equal(a, was)
        assert backward_error(M, x, right(60)) < 1e-14


# ---- What is wrong with A -------------------------------------------------------------------------

def singular(kind):
    A = matrix()
    if kind == "structure":
        A[:, [7]] = 0
        A.eliminate_zeros()
    else:
        A = A.tolil()
        A[:, [8]] = 2 * A[:, [7]]
        A[[8], :] = A[[7], :]
        A = A.tocsc()
        A[8, 8], A[7, 8], A[8, 7] = 2 * A[7, 7], 2 * A[7, 7], A[7, 7]
    return A


@pytest.mark.parametrize("kind", ["structure", "values"])
def test_singular_matrices_are_refused_as_by_scipy(kind):
    A = singular(kind)
    for call in tr.splu, tr.factorized:
        with pytest.raises(RuntimeError, match="Factor is exactly singular") as caught:
            call(A)
        assert isinstance(caught.value, (tr.SingularMatrixError, np.linalg.LinAlgError))
        assert caught.value.row >= (0 if OWN_SUPERLU else -1)
    for b in right(60), right(60, columns=2):
        with pytest.warns(theirs.MatrixRankWarning, match="Matrix is exactly singular") as warned:
            x = tr.spsolve(A, b)
        assert warned[0].filename == __file__
        assert x.shape == b.shape and np.isnan(x).all()
    with pytest.raises(RuntimeError):
        tr.spsolve(A, sp.csc_array(right(60, columns=2)))


def test_values_that_make_kept_factors_singular():
    A, b = matrix(), right(60)
    x = tr.spsolve(A, b)
    Z = A.copy()
    Z.data[:] = 0
    with pytest.warns(theirs.MatrixRankWarning):
        tr.spsolve(Z, b)
    np.testing.assert_allclose(tr.spsolve(A, b), x, rtol=1e-12)
    N = A.copy()
    N.data[3] = np.nan
    for call in tr.splu, lambda M: tr.spsolve(M, b):
        with pytest.raises(tr.SingularMatrixError, match="NaN") as caught:
            call(N)
        assert "singular:" not in str(caught.value)
    np.testing.assert_allclose(tr.spsolve(A, b), x, rtol=1e-12)


def test_wrong_arguments_are_named():
    A = matrix()
    for call in tr.splu, tr.factorized:
        with pytest.raises(ValueError, match="can only factor square matrices"):
            call(A[:, :59])
    with pytest.raises(ValueError, match="matrix must be square"):
        tr.spsolve(A[:, :59], right(60))
    with pytest.raises(ValueError, match="permc_spec is 'AMD'.*'COLAMD'"):
        tr.splu(A, "AMD")
    for number in 4, -1:
        with pytest.raises(ValueError, match=f"permc_spec is {number}"):
            tr.splu(A, number)
    with pytest.raises(ValueError, match="diag_pivot_thresh is nan"):
        tr.splu(A, diag_pivot_thresh=np.nan)
    with pytest.raises(TypeError, match="'Pivot'.*DiagPivotThresh"):
        tr.splu(A, options={"Pivot": 1})
    with pytest.raises(TypeError, match="A is None"):
        tr.splu(None)
    with pytest.raises(TypeError, match="float128|longdouble"):
        tr.splu(A.astype(np.longdouble))
    with pytest.raises(TypeError, match="loses? digits|would lose"):
        tr.splu(A.astype("f4")).solve(right(60))


# ---- What is kept ---------------------------------------------------------------------------------

def counts():
    info = tr.cache_info()
    return info.hits, info.misses


def test_a_loop_refactors():
    b, before = right(60), counts()
    for seed in range(8):
        S = tr.splu(matrix(seed=seed))  # the last one lives until this one is made: two in turn
        assert backward_error(matrix(seed=seed), S.solve(b), b) < 1e-14
    assert counts() == (before[0] + 7, before[1] + 1)
    del S
    for seed in range(4):
        assert backward_error(matrix(seed=seed), tr.spsolve(matrix(seed=seed), b), b) < 1e-14
        assert backward_error(matrix(seed=seed), tr.factorized(matrix(seed=seed))(b), b) < 1e-14
    assert counts() == (before[0] + 15, before[1] + 1)


def test_an_object_keeps_its_values():
    b = right(60)
    made = [tr.splu(matrix(seed=seed)) for seed in range(12)]
    solve = tr.factorized(matrix(seed=20))
    L = made[0].L
    for seed in range(5):
        tr.spsolve(matrix(seed=seed + 30), b)
    for seed, S in enumerate(made):
        assert backward_error(matrix(seed=seed), S.solve(b), b) < 1e-14
    assert backward_error(matrix(seed=20), solve(b), b) < 1e-14
    assert (L != made[0].L).nnz == 0


def test_patterns_types_and_options_are_told_apart():
    b = right(60)
    A = matrix()
    others = [matrix(density=0.05), A.tocsr(), A.astype("f4"), A.astype("c16"), A.T.tocsc()]
    for M in [A, *others, A, *others]:
        dtype = np.promote_types(M.dtype, "f4")
        assert backward_error(M, tr.spsolve(M, b.astype(dtype)), b) < tolerance(dtype)
    S = [tr.splu(A, spec) for spec in ("NATURAL", "COLAMD", "NATURAL")]
    np.testing.assert_array_equal(S[2].perm_c, np.arange(60))
    in_place = A.copy()  # another pattern in the same arrays
    tr.spsolve(in_place, b)
    in_place.indices[:] = A.T.tocsc().indices
    in_place.indptr[:] = A.T.tocsc().indptr
    assert backward_error(in_place, tr.spsolve(in_place, b), b) < 1e-13


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_pivots_that_became_small_are_chosen_anew(dtype):
    A, b = matrix(dtype=dtype), right(60, dtype)
    tr.spsolve(A, b)
    B = A.copy()
    B.setdiag(B.diagonal() * 1e-6)
    assert B.nnz == A.nnz
    error = backward_error(B, tr.spsolve(B, b), b)
    assert error < tolerance(dtype)
    try:
        kept = tr.lu(A).refactor(B).solve(b)
    except tr.SingularMatrixError:  # by SciPy's pivots in single precision
        assert not OWN_SUPERLU
    else:
        assert tolerance(dtype) < backward_error(B, kept, b)


def test_the_list_is_bounded(monkeypatch):
    from trireme import _kept
    for n in range(10, 40):
        tr.spsolve(matrix(n), right(n))
    assert tr.cache_info().plans == _kept.MOST
    assert tr.cache_info().bytes > 0
    monkeypatch.setattr(_kept, "MOST_BYTES", 1000)
    tr.cache_clear()
    tr.spsolve(matrix(4), right(4))
    tr.spsolve(matrix(60), right(60))  # too large, and pushes nothing out
    assert tr.cache_info().plans == 1
    tr.cache_clear()
    assert tr.cache_info().plans == 0


def test_nothing_keeps_arrays_and_all_memory_comes_back():
    A, b = matrix(), right(60)
    tr.splu(A).solve(b)
    tr.cache_clear()
    gc.collect()
    before = tr.memory_usage()[0]
    S, x = tr.splu(A), tr.spsolve(A, b)
    left = [weakref.ref(a) for a in (A.data, A.indices, A.indptr)]
    del A
    gc.collect()
    assert [array() for array in left] == [None] * 3
    np.testing.assert_allclose(S.solve(b), x, rtol=1e-12)
    assert tr.memory_usage()[0] > before
    tr.cache_clear()
    assert backward_error(matrix(), S.solve(b), b) < 1e-14
    del S
    gc.collect()
    assert tr.memory_usage()[0] == before


def test_threads_share_what_is_kept():
    faults, b = [], right(60)

    def work(k):
        for seed in range(k, k + 30):
            A = matrix(seed=seed)
            S = tr.splu(A)
            for x in S.solve(b), tr.spsolve(A, b):
                if backward_error(A, x, b) > 1e-13:
                    faults.append((k, seed))
    in_threads(work, range(4))
    assert not faults


def test_copies_of_objects_have_the_values():
    S, b = tr.splu(matrix()), right(60)
    copy = pickle.loads(pickle.dumps(S))
    np.testing.assert_allclose(copy.solve(b), S.solve(b), rtol=1e-13)
    tr.spsolve(matrix(seed=3), b)
    np.testing.assert_allclose(copy.solve(b), S.solve(b), rtol=1e-13)


def test_empty_and_tiny_systems():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert tr.spsolve(sp.csc_array((0, 0)), np.ones(0)).shape == (0,)
        np.testing.assert_array_equal(tr.spsolve(sp.csr_array([[2.0]]), [4]), [2])
    assert tr.splu(sp.csc_array([[2.0]])).solve(np.array([[4.0, 2]])).tolist() == [[2, 1]]


# ---- Differences ----------------------------------------------------------------------------------

def digits():
    A, b = matrix(), right(60)
    first, again = tr.spsolve(A, b), tr.spsolve(A, b)
    np.testing.assert_allclose(again, first, rtol=1e-12)


def options():
    S, T = tr.splu(matrix()), tr.splu(matrix(), relax=1, panel_size=3, options={"PrintStat": True})
    np.testing.assert_allclose(S.solve(right(60)), T.solve(right(60)), rtol=1e-12)


def rows():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tr.splu(matrix(form="csr"))


def not_finite():
    A = matrix()
    A.data[0] = np.inf
    with pytest.raises(tr.SingularMatrixError):
        tr.spsolve(A, right(60))


def complex_right():
    b = right(60) + 1j
    assert backward_error(matrix(), tr.splu(matrix()).solve(b), b) < 1e-14
    with pytest.raises(TypeError):
        theirs.splu(matrix()).solve(b)


DIFFERENCES = {"last digits": digits, "choose nothing": options, "without a warning": rows,
               "NaN or infinite": not_finite, "complex right-hand side": complex_right}


@pytest.mark.parametrize("difference", DIFFERENCES)
def test_differences(difference):
    DIFFERENCES[difference]()


@pytest.mark.skipif(not os.path.exists(PAGE), reason="not in a checkout")
def test_differences_are_documented():
    with open(PAGE, encoding="utf-8") as page:
        listed = re.search(r"### Differences of splu.*?\n(.*?)\n##", page.read(), re.S)[1]
    lines = [line for line in listed.split("\n") if line.startswith("- ")]
    assert len(lines) == len(DIFFERENCES)
    for name, line in zip(DIFFERENCES, lines):
        assert name in line
