"""Options outside their domains are errors that name the option; a failed update is remembered."""

import numpy as np
import pytest
import scipy.sparse as sp

import trireme as tr

NAN, INF = float("nan"), float("inf")
WIDE = 2 ** 63  # one more than a 64-bit integer counts
BEYOND = [-1, WIDE, -WIDE - 1, 2 ** 64 + 1]


def system(n=5):
    A = sp.csr_array(tr.generate(f"poisson2d5:{n}"))
    return A, sp.tril(A).tocsr()


def refuses(call, name, value):
    with pytest.raises((ValueError, TypeError, OverflowError)) as caught:
        call()
    assert name in str(caught.value) or isinstance(caught.value, TypeError), (name, value)


@pytest.mark.parametrize("name, values", [
    ("nrhs", BEYOND), ("solves", BEYOND), ("store", ["float", 7, NAN]),
    ("threads", [0, -1, 2 ** 31, 1.5, NAN]), ("uplo", ["diagonal", 1]), ("trans", ["X", 0]),
    ("nrhs", [NAN, 1.5]), ("solves", [NAN])])
def test_options_of_a_plan(name, values):
    _, L = system()
    for value in values:
        refuses(lambda: tr.plan(L, **{name: value}), name, value)


@pytest.mark.parametrize("name, values", [
    ("nrhs", BEYOND + [2 ** 31, NAN]), ("store", ["same"]), ("threads", [0, -1]),
    ("block_size", [-1, 33, 2 ** 32 + 1, NAN])])
def test_options_of_a_relaxation(name, values):
    A, _ = system(4)
    for value in values:
        refuses(lambda: tr.relaxation(A, **{name: value}), name.split("_")[0], value)


@pytest.mark.parametrize("name, values", [
    ("sweeps", BEYOND + [0, 2 ** 31, NAN]), ("omega", [NAN, INF, -INF, 0.0]),
    ("direction", ["down", 0]), ("residual_every", [-1, WIDE, NAN])])
def test_options_of_a_sweep(name, values):
    A, _ = system()
    R = tr.relaxation(A)
    x, b = np.zeros(A.shape[0]), np.ones(A.shape[0])
    for value in values:
        refuses(lambda: R.sweep(x, b, **{name: value}), name, value)
    assert not x.any()


@pytest.mark.parametrize("name, values", [
    ("pivot_threshold", [NAN, INF, -0.1, 1.1]), ("order", ["best", 3])])
def test_options_of_factors(name, values):
    A, _ = system()
    for value in values:
        refuses(lambda: tr.lu(A, **{name: value}), name, value)


def test_a_threshold_of_zero_keeps_the_diagonal():
    A = sp.csr_array(np.array([[1e-3, 1], [1, 1.0]]))
    if "SuperLU  no" in tr.features():
        pytest.skip("SuperLU is not in this build")
    F = tr.lu(A, pivot_threshold=0.0, order="natural", equilibrate=False)
    np.testing.assert_array_equal(F.perm_r if F.perm_r is not None else [0, 1], [0, 1])


@pytest.mark.parametrize("method, threads, shape", [
    ("serial", 1, "grid"), ("threads", 2, "grid"), ("panels", 1, "dense"),
    ("subtrees", 2, "dense"), ("columns", 2, "grid"), (None, 2, "grid")])
def test_after_a_failed_update_a_plan_solves_nothing(method, threads, shape):
    rng = np.random.default_rng(0)
    M = system(30)[1] if shape == "grid" else \
        sp.csr_array(np.tril(rng.standard_normal((100, 100))) / 100 + np.eye(100))
    n, half = M.shape[0], M.shape[0] // 2
    b = rng.standard_normal(n)
    with tr.plan(M, method=method, threads=threads, nrhs=8 if method == "columns" else 1) as p:
        x = p.solve(b)
        singular, not_finite = 2 * M.data, 2 * M.data
        singular[M.indptr[half + 1] - 1] = 0
        not_finite[M.indptr[half + 1] - 1] = NAN
        for values, error, words in [(singular, tr.SingularMatrixError, "zero"),
                                     (not_finite, tr.SingularMatrixError, "finite"),
                                     (M.data[:-1], ValueError, ""),
                                     (M.data * 1j, TypeError, "complex"),
                                     ("values", (TypeError, ValueError), ""),
                                     (sp.csr_array(sp.eye(n)), tr.StructureError, "pattern")]:
            with pytest.raises(error):
                p.update(values)
            for _ in range(2):
                with pytest.raises(error, match="update.*solves nothing.*" + words) as refused:
                    p.solve(b)
                out = b.copy()
                with pytest.raises(error):
                    p.solve(out, out=out)
                np.testing.assert_array_equal(out, b)
            if words in ("zero", "finite"):
                assert refused.value.row == half
            p.update(M.data)
            np.testing.assert_array_equal(p.solve(b), x)


def test_after_a_failed_update_a_relaxation_sweeps_no_more():
    A, _ = system()
    n = A.shape[0]
    R = tr.relaxation(A)
    b = np.ones(n)
    first = np.zeros(n)
    R.sweep(first, b)
    for wrong, error in [(0 * A, tr.SingularMatrixError), (sp.csr_array(sp.eye(3)), ValueError),
                         ("matrix", (TypeError, ValueError))]:
        with pytest.raises(error):
            R.update(wrong)
        x = np.zeros(n)
        with pytest.raises(error, match="update.*solves nothing"):
            R.sweep(x, b)
        assert not x.any()
        R.update(A)
        R.sweep(x, b)
        np.testing.assert_array_equal(x, first)
