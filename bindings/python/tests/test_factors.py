"""Factors, relaxation, files."""

import copy
import pickle
import warnings
import threading

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sla

import trireme as tr
from trireme import _api
from trireme._factors import KINDS, ORDERS, _factor
from trireme._matrix import matrix_of

A = tr.generate("poisson2d5:20")
N = A.shape[0]
B = np.random.default_rng(0).uniform(-1, 1, N)


def test_ilu0_and_ic0_precondition_cg():
    plain = []
    sla.cg(A, B, callback=plain.append)
    for make in (tr.ilu0, tr.ic0):
        steps, P = [], make(A)
        x, failed = sla.cg(A, B, M=P.as_linear_operator(), callback=steps.append)
        assert not failed and 2 * len(steps) < len(plain) and "ilu0" in repr(P) or "ic0" in repr(P)
        assert np.linalg.norm(A @ x - B) < 2e-5 * np.linalg.norm(B) * 2


def test_ilu0_is_exact_on_its_pattern():
    P = tr.ilu0(A)
    product = (P.L @ P.U - A).toarray()
    assert np.abs(product[A.toarray() != 0]).max() < 1e-14
    np.testing.assert_allclose(P.L @ (P.U @ P.solve(B)), B, atol=1e-13)
    assert P.kind == "ilu0" and P.unit_L and not P.unit_U and P.perm_r is None and P.scale_r is None


@pytest.mark.parametrize("kind", ["ilu0", "ic0"])
def test_levels_of_fill(kind):
    S = sp.csr_array(tr.generate("poisson2d5:9"))
    off, make = [], getattr(tr, kind)
    for levels in (0, 1, 2, 100):
        F = make(S, levels=levels)
        off.append(np.abs((F.L @ F.U - S).toarray()).max())
        assert F.levels == levels
        F.refactor(3 * S)
        assert abs(F.L - make(3 * S, levels=levels).L).max() == 0
    assert off[0] > off[1] > off[2] > off[3] and off[3] < 1e-14
    for wrong, word in ((-1, "levels"), (2**31, "levels"), (1.5, "levels")):
        with pytest.raises((TypeError, ValueError), match=word):
            make(S, levels=wrong)


@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array])
def test_ic0_of_one_triangle(form):
    M = sp.random(60, 60, 0.1, random_state=5) + 1j * sp.random(60, 60, 0.1, random_state=6)
    M = sp.csr_array(M + M.conj().T + 60 * sp.eye(60))
    whole = tr.ic0(form(M))
    for uplo, take in (("lower", sp.tril), ("upper", sp.triu)):
        other = sp.tril if uplo == "upper" else sp.triu
        nonsense = form(M + 1e9 * other(M, 1 if uplo == "lower" else -1))
        for stored in (form(take(M)), nonsense):
            P = tr.ic0(stored, uplo=uplo)
            np.testing.assert_array_equal(P.L.toarray(), whole.L.toarray())
            np.testing.assert_array_equal(P.U.toarray(), whole.U.toarray())
    with pytest.raises(ValueError, match="uplo is 'left': it must be one of 'lower', 'upper'"):
        tr.ic0(M, uplo="left")
    with pytest.raises(tr.StructureError, match="not hermitian"):
        tr.ic0(form(sp.tril(M)))


def test_ic0_shifts_on_breakdown():
    kershaw = sp.csr_array(np.array([[3.0, -2, 0, 2], [-2, 3, -2, 0], [0, -2, 3, -2], [2, 0, -2, 3]]))
    assert np.linalg.eigvalsh(kershaw.toarray()).min() > 0
    with pytest.raises(tr.SingularMatrixError, match="use a shift"):
        tr.ic0(kershaw)
    P = tr.ic0(kershaw, shift=1e-3)
    doublings = np.log2(P.shift / 1e-3)
    assert doublings == round(doublings) > 0
    product = (P.L @ P.U).toarray() - kershaw.toarray() - P.shift * np.diag(kershaw.diagonal())
    assert np.abs(product[kershaw.toarray() != 0]).max() < 1e-14
    assert tr.ic0(kershaw, shift=P.shift).shift == P.shift and tr.ic0(A, shift=0.5).shift == 0
    with pytest.raises(tr.SingularMatrixError):
        tr.ic0(sp.csr_array(kershaw + P.shift / 2 * sp.diags(kershaw.diagonal())))
    for wrong in (-1e-3, 2.0, np.nan):
        with pytest.raises(ValueError, match="shift"):
            tr.ic0(kershaw, shift=wrong)


@pytest.mark.parametrize("trans", "NTH")
def test_splu_and_spilu_are_taken(trans):
    rng = np.random.default_rng(3)
    M = sp.csc_array(sp.random(80, 80, 0.05, random_state=3) + sp.diags(rng.uniform(0.01, 1, 80)))
    b = rng.uniform(-1, 1, (80, 2))
    for S in (sla.splu(M), sla.spilu(M, drop_tol=1e-3)):
        P = tr.from_factors(S)
        np.testing.assert_allclose(P.solve(b, trans), S.solve(b, trans), rtol=1e-6, atol=1e-9)
    op = {"N": M, "T": M.T, "H": M.T}[trans]
    np.testing.assert_allclose(op @ tr.from_factors(sla.splu(M)).solve(b, trans), b, atol=1e-8)


def test_from_factors_with_permutations_and_scalings():
    rng = np.random.default_rng(4)
    L = sp.csr_array(np.tril(rng.uniform(-1, 1, (9, 9))) + 3 * np.eye(9))
    U = sp.csc_array(np.triu(rng.uniform(-1, 1, (9, 9))) + 3 * np.eye(9)).astype("f4")
    r, c = rng.permutation(9), rng.permutation(9)
    dr, dc = rng.uniform(1, 2, 9), rng.uniform(1, 2, 9)
    M = np.empty((9, 9))
    M[np.ix_(r, c)] = (L @ U).toarray()
    M = M / dr[:, None] / dc[None, :]
    P = tr.from_factors(L, U, r, c, scale_r=dr, scale_c=dc)
    b = rng.uniform(size=9)
    np.testing.assert_allclose(M @ P.solve(b), b, atol=1e-12)
    Q = pickle.loads(pickle.dumps(P))
    np.testing.assert_array_equal(Q.perm_c, c)
    np.testing.assert_allclose(M @ Q.solve(b), b, atol=1e-12)
    with pytest.raises(ValueError, match="perm_r"):
        tr.from_factors(L, U, r[:5])
    with pytest.raises(ValueError, match="perm|twice|permutation"):
        tr.from_factors(L, U, np.zeros(9, int))
    for wrong in (0.5, 2**32):
        with pytest.raises(ValueError, match="perm_c is not of whole numbers"):
            tr.from_factors(L, U, r, c + wrong)


def test_every_kind_and_order_has_a_name():
    def constants(prefix):
        return {getattr(_api, name) for name in dir(_api) if name.startswith(prefix)}
    assert constants("TRS_FACTOR_") == set(KINDS)
    assert constants("TRS_ORDER_") == set(ORDERS.values())
    P = _factor(matrix_of(A), _api.TRS_FACTOR_BILU0, "colour", None, block_size=4)  # as files may have them
    assert P.kind == "bilu0" and "bilu0" in repr(P)
    steps = [len(tr.ilu0(A, order=order).plan().levels) for order in ("natural", "rcm", "colour")]
    assert steps[2] < min(steps[:2])


def test_plans_of_factors():
    P = tr.ic0(A.astype("f4"))
    with P.plan("T", threads=2) as p:
        x = p.solve(B.astype("f4"))
        q = pickle.loads(pickle.dumps(p))
        np.testing.assert_array_equal(q.solve(B.astype("f4")), x)
    y = P.as_linear_operator() @ B  # rounds
    np.testing.assert_allclose(x, y, rtol=1e-3, atol=1e-4)
    assert y.dtype == np.float32


def test_plans_and_factors_are_operators():
    P, T = tr.ilu0(A), sp.csr_array(sp.tril(A))
    x, failed = sla.bicgstab(A, B, M=P)
    assert not failed
    np.testing.assert_allclose(A @ x, B, atol=1e-3)
    np.testing.assert_array_equal(P @ B, P.solve(B))
    np.testing.assert_array_equal(tr.plan(T) @ B, tr.plan(T).solve(B))
    M = sla.aslinearoperator(P)
    np.testing.assert_array_equal(M @ np.stack([B, B], 1), P @ np.stack([B, B], 1))
    np.testing.assert_array_equal(M.H @ B, P.solve(B, "H"))


def test_operators_take_integers_and_complex_vectors():
    P = tr.ilu0(A)
    M = P.as_linear_operator()
    np.testing.assert_allclose(M @ np.ones(N, np.int8), P.solve(np.ones(N)))
    np.testing.assert_allclose(M @ (B + 2j * B), (1 + 2j) * P.solve(B))
    np.testing.assert_allclose(M.H @ B, P.solve(B, "H"))
    np.testing.assert_allclose(M @ np.stack([B, B], 1), np.stack([P.solve(B)] * 2, 1))
    np.testing.assert_allclose(tr.plan(sp.csr_array(sp.tril(A))).as_linear_operator() @ B,
                               tr.spsolve_triangular(sp.csr_array(sp.tril(A)), B))


def test_lu_or_what_to_install():
    try:
        P = tr.lu(A)
    except tr.UnsupportedError as error:
        assert any(name in str(error).lower() for name in ("superlu", "metis"))
        return
    np.testing.assert_allclose(A @ P.solve(B), B, atol=1e-12)
    np.testing.assert_allclose(A @ pickle.loads(pickle.dumps(P)).solve(B), B, atol=1e-12)


def test_copies_keep_the_name_of_their_kind():
    for make in tr.ilu0, tr.ic0, tr.lu:
        F = make(A)
        for again in pickle.loads(pickle.dumps(F)), copy.copy(F), copy.deepcopy(copy.copy(F)):
            assert again.kind == F.kind
            np.testing.assert_allclose(again.solve(B), F.solve(B), rtol=1e-12)
            if F.kind == "lu":
                again.refactor(A)
                continue
            with pytest.raises(tr.UnsupportedError, match=f"copy of {F.kind}.*factor A anew"):
                again.refactor(A)
            np.testing.assert_allclose(again.solve(B), F.solve(B), rtol=1e-12)
            make(A).refactor(A)


def test_lu_tells_its_order_and_its_condition():
    if "SuperLU  yes" not in tr.features():
        pytest.skip("this build has no SuperLU")
    rng = np.random.default_rng(5)
    for n in (1, 2, 7, 40):
        D = rng.standard_normal((n, n)) * 10.0 ** rng.integers(-3, 3, n)
        F = tr.lu(sp.csr_array(D))
        assert F.order in ("nd", "amd", "colamd") and F.choice
        right = np.linalg.cond(D, 1)
        assert right / 10 <= F.condition() <= right * (1 + 1e-6)
    if "COLAMD   yes" in tr.features():
        F = tr.lu(sp.csr_array(D), order="colamd")
        assert F.order == "colamd" and F.choice == ""
        np.testing.assert_allclose(D @ F.solve(np.ones(n)), np.ones(n), atol=1e-6)


def test_what_is_stored_is_an_attribute_and_what_computes_a_method():
    """As the docstrings say, also of incomplete factors."""
    P = tr.ilu0(A)
    assert P.least_share == 1 and P.shift == 0 and P.choice == ""
    product = (P.L @ P.U).toarray()
    right = np.linalg.cond(product, 1)
    assert right / 10 <= P.condition() <= right * (1 + 1e-6)
    for word in "condition()", "refactor", "least_share", "shift", "choice":
        assert word in tr.ilu0.__doc__, word


@pytest.mark.parametrize("dtype", ["f", "d", "F", "D"])
def test_scipy_leaves_out_zeros_and_refactor_adds_them(monkeypatch, dtype):
    """As in a wheel: L and U of SciPy's SuperLU, of a matrix with zeros stored and made."""
    monkeypatch.setattr(tr._factors, "_has", lambda feature: False)
    rng = np.random.default_rng(3)
    n, tolerance = 60, 1e-3 if dtype in "fF" else 1e-10
    b = rng.standard_normal(n).astype(dtype)
    for form, order in ("csr", "default"), ("csc", "natural"):
        A = sp.random(n, n, 0.05, form, random_state=rng) + sp.diags(np.full(n, 4.0))
        A = A.asformat(form)
        other, zeros = A.copy().astype(dtype), rng.random(A.nnz) < 0.5
        A.data[zeros & (A.data < 4)] = 0  # and stays stored
        A = A.astype(dtype)
        F = tr.lu(A, order=order)
        entries = F.nnz
        plan, closed, turned = F.plan(), F.plan(), F.plan("T", nrhs=3)
        closed.close()
        for new in other, A, other * 2:
            F.refactor(new)
            for p, M in (plan, new), (turned, new.T), (F, new):
                x = p.solve(b)
                assert np.abs(M @ x - b).max() < tolerance * 4
        assert F.nnz > entries and F.kind == "lu"
        assert np.abs((F.L @ F.U)[np.argsort(F.perm_r)][:, np.argsort(F.perm_c)].toarray() / np.outer(
            F.scale_r, F.scale_c) - new.toarray()).max() < tolerance * 40
        outside = np.argwhere(((abs(F.L) + abs(F.U)).toarray() == 0))[0]
        row, column = F.perm_r[outside[0]], F.perm_c[outside[1]]
        with pytest.raises(tr.StructureError, match=rf"entry \({row}, {column}\)"):
            F.refactor((other + sp.coo_matrix(([1.0], ([row], [column])), (n, n))).asformat(form).astype(dtype))
        F.refactor(other)
        assert np.abs(other @ plan.solve(b) - b).max() < tolerance


def test_refactor_and_plans_follow():
    S = sp.csc_matrix(A)
    F = tr.from_factors(sla.splu(S))
    plan, other = F.plan(), sp.csc_matrix(S + 0.5 * sp.diags(np.arange(N)))
    x = F.solve(B)
    assert F.refactor(other) is F and 0.1 < F.least_share <= 1
    for solved in (F.solve(B), plan.solve(B), F.plan("T").solve(B)):
        assert np.abs(other @ solved - B).max() < 1e-12
    with pytest.raises(tr.StructureError, match=r"entry \(0, 399\)") as caught:
        F.refactor(sp.csc_matrix(S + sp.coo_matrix(([1.0], ([0], [399])), S.shape)))
    assert caught.value.row == 0
    for use in (lambda: plan.solve(B), lambda: F.solve(B), F.plan, F.condition, lambda: F.L,
                lambda: F.U, lambda: F.write("f.h5"), lambda: pickle.dumps(F),
                lambda: pickle.dumps(plan), lambda: F.plan("T")):
        with pytest.raises(tr.StructureError, match="^refactor of these factors failed, and until it "
                           r"succeeds nothing .*entry \(0, 399\)") as caught:
            use()
        assert caught.value.row == 0
    np.testing.assert_allclose(F.refactor(S, threads=2).solve(B), x, rtol=1e-12)
    with pytest.raises(TypeError):
        F.refactor("A")
    for use in (lambda: plan.solve(B), F.plan, F.condition, lambda: pickle.dumps(F)):
        use()  # the factors are as before
    np.testing.assert_allclose(F.refactor(S).solve(B), x, rtol=1e-12)
    np.testing.assert_array_equal(plan.solve(B), F.solve(B))


@pytest.mark.parametrize("kind", ["lu", "ilu0", "ic0"])
def test_refactor_beside_solves_of_other_threads(kind):
    S = sp.csr_array(tr.generate("poisson2d5:30"))
    F, b = getattr(tr, kind)(S), np.ones(900)
    plan, wrong, done = F.plan(threads=1), [], threading.Event()
    old, new = F.solve(b), F.refactor(2 * S).solve(b)

    def change():
        for k in range(300):
            F.refactor((1 + k % 2) * S)
        done.set()

    thread = threading.Thread(target=change)
    thread.start()
    while not done.is_set():
        for x in (F.solve(b), plan.solve(b)):
            if not (np.allclose(x, old, rtol=1e-9) or np.allclose(x, new, rtol=1e-9)):
                wrong.append(x)
    thread.join()
    assert not wrong


def test_values_without_their_matrix_and_complex_ones_are_refused_by_refactor():
    F = tr.lu(A)
    with pytest.raises(TypeError, match="in host memory: pass the matrix"):
        F.refactor(sp.csr_array(A).data)
    with pytest.raises(TypeError, match="A is complex, and the factors are float64: factor A anew"):
        F.refactor(sp.csr_array(A) * 1j)
    with pytest.raises(ValueError, match=f"A is 5 x 5, but the factors have {N} rows"):
        F.refactor(sp.csr_array(A)[:5, :5])
    F.solve(np.ones(N))  # the factors are as before
    F.refactor(A)


@pytest.mark.parametrize("kind", ["ilu0", "ic0"])
@pytest.mark.parametrize("order", ["natural", "rcm"])
def test_refactor_of_incomplete_factors(kind, order):
    make = getattr(tr, kind)
    S = sp.csr_array(A)
    other = sp.csr_array(S + sp.diags(np.linspace(0.5, 1, N)))
    F, new = make(S, order=order), make(other, order=order)
    plan, x = F.plan(), new.solve(B)
    for again in (other, sp.csc_array(other), sp.csr_matrix(other)):
        F.refactor(S)
        assert F.refactor(again) is F
        assert (F.L != new.L).nnz == 0 and (F.U != new.U).nnz == 0
        np.testing.assert_array_equal(plan.solve(B), F.solve(B))
        np.testing.assert_allclose(F.solve(B), x, rtol=1e-12)
    with pytest.raises(TypeError, match="pass the matrix"):
        F.refactor(other.data)
    F.refactor(other)
    bad = other.copy()
    bad.data[other.indptr[7]:other.indptr[8]] = 0
    with pytest.raises((tr.SingularMatrixError, tr.StructureError)) as caught:
        F.refactor(bad)
    with pytest.raises(type(caught.value), match="until it succeeds"):
        plan.solve(B)
    F.refactor(other)
    with pytest.raises(tr.StructureError, match="other entries"):
        F.refactor(sp.csr_array(sp.eye(N)))


def test_singular_matrices_cannot_be_factored():
    with pytest.raises(tr.SingularMatrixError):
        tr.ilu0(sp.csr_array(np.array([[1.0, 0], [1, 0]])))


@pytest.mark.parametrize("store", ["mixed", "double", "float", "half", "bfloat16"])
def test_relaxation(store):
    M = sp.bsr_array(A + 4 * sp.eye(N), blocksize=(4, 4))
    R = tr.relaxation(M, store=store)
    x = np.zeros(N)
    norms = R.sweep(x, B, sweeps=15, residual_every=5)
    assert norms.shape == (4, 1) and norms[-1] < 1e-4 * norms[0] and R.info["block_size"] == 4
    np.testing.assert_allclose(M @ x, B, atol=0.1)
    by_size = tr.relaxation(M.tocsr(), 4, store=store)
    y = np.full(N, 7.0)
    by_size.sweep(y, B, sweeps=15, zero=True)
    np.testing.assert_allclose(x, y, atol=1e-5)
    R.update(2 * M)
    R.sweep(y, B, sweeps=15, zero=True, direction="symmetric")
    np.testing.assert_allclose(2 * (M @ y), B, atol=0.1)


def test_relaxation_preconditions_and_refuses():
    M = sp.bsr_array(A, blocksize=(4, 4))
    R = tr.relaxation(M, store="double")
    x, failed = sla.cg(A, B, M=R.as_linear_operator(direction="symmetric"))
    assert not failed
    with pytest.raises(ValueError, match="x has shape"):
        R.sweep(np.zeros(3), B)
    with pytest.raises(TypeError, match="float32"):
        R.sweep(np.zeros(N, "f4"), B)
    with pytest.raises(ValueError, match="store"):
        tr.relaxation(M, store="double precision")
    with pytest.raises(ValueError, match="colour"):
        tr.relaxation(M, colour=[0, 1])
    for wrong in (0.5, 2**32):
        with pytest.raises(ValueError, match="colour is not of whole numbers"):
            tr.relaxation(A, colour=np.arange(N) + wrong)


def test_a_relaxation_lives_as_a_plan_does():
    R = tr.relaxation(A, 4, store="double")
    right, x = np.zeros(N), np.zeros(N)
    R.sweep(right, B, 2)
    R.wait()
    assert "blocks of 4" in str(R) and "colours" in str(R)
    with R.clone() as clone:
        clone.sweep(x, B, 2)
        np.testing.assert_array_equal(x, right)
        for changed in R, clone:
            with pytest.raises(ValueError, match="close the clones"):
                changed.update(A)
    R.update(A)
    R.close()
    for call in (lambda: R.sweep(x, B), lambda: R.info, R.clone, R.wait, lambda: R.update(A)):
        with pytest.raises(ValueError, match="the plan is closed"):
            call()


def test_triangles():
    M = sp.csr_array(np.array([[0.0, 2, 0], [3, 4, 0], [-5, 0, 0]]))
    np.testing.assert_array_equal(tr.triangle(M).toarray(), np.tril(M.toarray()))
    np.testing.assert_array_equal(tr.triangle(M, "upper", add_diagonal=True).toarray(),
                                  [[2, 2, 0], [0, 4, 0], [0, 0, 1]])
    with pytest.raises(ValueError, match="uplo"):
        tr.triangle(M, "left")


def test_files(tmp_path):
    for name in ("a.mtx", "a.mtx.gz"):
        tr.write(tmp_path / name, A)
        C = tr.read(tmp_path / name)
        assert C.dtype == np.float64 and (abs(C - A)).nnz == 0
        assert tr.read(str(tmp_path / name), "complex64").dtype == np.complex64
    with pytest.raises(OSError, match="none.mtx"):
        tr.read(tmp_path / "none.mtx")
    (tmp_path / "bad.mtx").write_text("%%MatrixMarket matrix coordinate real general\n1 1 1\n2 1 1\n")
    with pytest.raises(ValueError, match="line 3|bad.mtx"):
        tr.read(tmp_path / "bad.mtx")
    with pytest.raises(ValueError, match="poisson"):
        tr.generate("poissn:3")
    for call in (lambda: tr.read(f"{tmp_path}/a.mtx\0.gz"), lambda: tr.generate("chain:3\0"),
                 lambda: tr.write(f"{tmp_path}/b.mtx\0", A), lambda: tr.ilu0(A).write("f.h5\0"),
                 lambda: tr.ilu0(A).plan(method="serial\0")):
        with pytest.raises(ValueError, match="null character"):
            call()
    try:
        tr.write(tmp_path / "f.h5", tr.ilu0(A))
        P = tr.read(tmp_path / "f.h5")
    except tr.UnsupportedError as error:
        assert "hdf5" in str(error).lower()
        return
    np.testing.assert_allclose(P.solve(B), tr.ilu0(A).solve(B))


def test_a_zero_by_chance_is_added(monkeypatch):
    monkeypatch.setattr(tr._factors, "_has", lambda feature: False)  # as in a wheel
    A = np.array([[2.0, 0, 1, 0], [0, 2, 1, 0], [0, 0, 2, 0], [1, -1, 0, 2]])  # L U has a 0 at (3, 2)
    F = tr.lu(sp.csr_array(A), order="natural", equilibrate=False)
    A[3, 1], b = 1, np.arange(1.0, 5)
    np.testing.assert_allclose(A @ F.refactor(sp.csr_array(A)).solve(b), b)
    np.testing.assert_allclose(A @ F.refactor(sp.csr_array(2 * A)).solve(2 * b), b)


@pytest.mark.parametrize("dtype, small", [("d", 1e-20), ("D", 1e-9), ("f", 1e-5)])
def test_refactor_warns_of_small_pivots(dtype, small):
    first = sp.csc_array(np.array([[5.0, 1, 0], [1, 6, 1], [0, 1, -3]], dtype))
    then = sp.csc_array(np.array([[small, 1, 0], [1, 1, 1], [0, 1, -3]], dtype))
    F = tr.lu(first)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        F.refactor(first)
    with pytest.warns(RuntimeWarning, match="a pivot is .* factor anew by trireme.lu") as told:
        F.refactor(then)
    assert told[0].filename == __file__ and F.least_share < 1e-3
    F.solve(np.ones(3, dtype))


def test_refactor_sees_index_arrays_that_were_changed_in_place():
    rng = np.random.default_rng(2)
    S = sp.csc_matrix(sp.random(40, 40, 0.1, random_state=rng) + sp.diags(np.full(40, 6.0)))
    S.sort_indices()
    F, b = tr.lu(S), rng.standard_normal(40)
    other = S.T.tocsc()
    for turn in range(3):
        S.data = S.data * rng.uniform(0.9, 1.1, S.nnz)
        assert np.abs(S @ F.refactor(S).solve(b) - b).max() < 1e-12
        for j in range(40):  # the same matrix, the entries of each column in another order, in place
            begin, end = S.indptr[j:j + 2]
            order = begin + rng.permutation(end - begin)
            S.indices[begin:end], S.data[begin:end] = S.indices[order], S.data[order]
        S.has_sorted_indices = False
        kept = S.data.copy()
        assert np.abs(S @ F.refactor(S).solve(b) - b).max() < 1e-12
        S.data[:] = 0  # the factors have values of their own
        assert np.abs(sp.csc_matrix((kept, S.indices, S.indptr)) @ F.solve(b) - b).max() < 1e-12
        S.data[:] = kept
        with pytest.raises(tr.StructureError):
            F.refactor(other)
        assert np.abs(S @ F.refactor(S).solve(b) - b).max() < 1e-12
