"""Batches: each system beside a plan of its own; systems that cannot be solved; misuse."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse as sp

import trireme as tr

RNG = np.random.default_rng(3)


def systems(n, count, dtype, form=sp.csr_array, upper=False):
    A = sp.random(n, n, 0.2, random_state=4) + sp.eye(n)
    A = sp.triu(A) if upper else sp.tril(A)
    L = form(form(A).astype(dtype))
    L.sort_indices()
    values = np.repeat(L.data[None], count, 0) * RNG.uniform(1, 2, (count, L.nnz))
    if np.issubdtype(dtype, np.complexfloating):
        values = values * np.exp(1j * RNG.uniform(0, 6, (count, L.nnz)))
    return L, values.astype(dtype)


def of(L, values):
    return type(L)((values, L.indices, L.indptr), shape=L.shape)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("trans", ["N", "T", "H"])
def test_each_system_is_solved(dtype, form, trans):
    for upper in False, True:
        L, values = systems(29, 19, dtype, form, upper)
        B = tr.batch(L, 19, "upper" if upper else "lower", trans, nrhs=4)
        B.update(values)
        for shape in (19, 29), (19, 29, 1), (19, 29, 5):
            b = RNG.standard_normal(shape).astype(dtype)
            x = B.solve(b)
            assert x.shape == shape and x.dtype == dtype
            for k in range(19):
                op = of(L, values[k]).toarray()
                op = op if trans == "N" else op.T if trans == "T" else op.conj().T
                limit = 100 * np.finfo(dtype).eps * (abs(op) @ abs(x[k]) + abs(b[k]))
                assert (abs(op @ x[k] - b[k]) <= limit).all()
            again = b.copy()
            assert B.solve(again, out=again) is again
            np.testing.assert_array_equal(again, x)


def test_no_system_depends_on_its_neighbours():
    L, values = systems(40, 33, np.float64)
    b = RNG.standard_normal((33, 40))
    B, one = tr.batch(L, 33, threads=2), tr.batch(L, 1)
    B.update(values)
    x = B.solve(b)
    for k in range(33):
        one.update(values[k:k + 1])
        np.testing.assert_array_equal(one.solve(b[k:k + 1])[0], x[k])


def test_a_zero_pivot_keeps_no_other_system_back():
    L, values = systems(10, 9, np.float64)
    values[4, L.indptr[3] - 1] = 0
    B, b = tr.batch(L, 9), np.ones((9, 10))
    values[7, L.indptr[1] - 1] = np.inf
    for call in lambda: B.update(values), lambda: B.solve(b):
        with pytest.raises(tr.SingularMatrixError, match="row 2 of system 4.*1 more system has") as caught:
            call()
        assert (caught.value.system, caught.value.row) == (4, 2)
    assert (B.info["faults"], B.info["first_fault"], B.info["count"]) == (2, 4, 9)
    values[7] = L.data
    B.update(values, check_pivots=False)
    x = B.solve(b, check_pivots=False)
    assert np.isnan(x[4]).all() and np.isfinite(np.delete(x, 4, 0)).all()
    B.update(values, check_pivots=False)
    values[4, L.indptr[3] - 1] = 1
    B.update(values)
    assert np.isfinite(B.solve(b)).all()
    assert (B.info["faults"], B.info["first_fault"]) == (0, -1)
    with pytest.raises(tr.SingularMatrixError) as caught:
        tr.plan(of(L, 0 * L.data))
    assert caught.value.system == -1 and caught.value.row == 0


def test_batches_are_not_copied():
    L, values = systems(10, 2, np.float64)
    F = tr.lu(of(L, values[0]))
    for B in tr.batch(L, 2), tr.batch(F, 2):
        for call in pickle.dumps, copy.copy, copy.deepcopy:
            with pytest.raises(TypeError, match="pickle the matrix or the factors"):
                call(B)
    again = tr.batch(pickle.loads(pickle.dumps(L)), 2)
    again.update(values)
    assert np.isfinite(again.solve(np.ones((2, 10)))).all()


def test_devices_of_a_batch_are_named():
    L, _ = systems(10, 2, np.float64)
    for A in L, tr.lu(L):
        with pytest.raises(ValueError, match="device is 'gpu'.*did you mean 'cuda'") as caught:
            tr.batch(A, 2, device="gpu")
        assert "several" not in str(caught.value)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_complex_right_hand_side_of_real_systems(dtype):
    L, values = systems(21, 11, dtype)
    B = tr.batch(L, 11)
    B.update(values)
    complex_type = np.result_type(dtype, np.complex64)
    for shape in (11, 21), (11, 21, 3):
        b = (RNG.standard_normal(shape) + 1j * RNG.standard_normal(shape)).astype(complex_type)
        x = B.solve(b)
        assert x.dtype == complex_type and x.shape == shape
        np.testing.assert_array_equal(x.real, B.solve(np.ascontiguousarray(b.real)))
        np.testing.assert_array_equal(x.imag, B.solve(np.ascontiguousarray(b.imag)))
        assert B.solve(b, out=b) is b
        np.testing.assert_array_equal(b, x)
    with pytest.raises(ValueError, match=f"out must be.*{np.dtype(complex_type)}"):
        B.solve(b, out=np.empty(b.shape, dtype))


@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array])
def test_of_no_systems_there_is_an_empty_solution(form):
    L, values = systems(10, 3, np.float64, form)
    B = tr.batch(L, 0)
    for _ in range(2):
        for shape in (0, 10), (0, 10, 4):
            x = B.solve(np.ones(shape))
            assert x.shape == shape and x.dtype == np.float64
            assert B.solve(x, out=x) is x
        assert B.solve(np.ones((0, 10), complex)).dtype == complex
        B.update(values[:0])
    with pytest.raises(ValueError, match=r"b has shape \(1, 10\)"):
        B.solve(np.ones((1, 10)))
    assert B.info["count"] == 0 and "0 systems" in repr(B)


def test_the_matrix_is_not_needed_afterwards():
    L = sp.csr_array(sp.diags([np.full(3000, 4.0), np.ones(2999)], [0, -1]))
    values = np.stack([L.data, 2 * L.data])
    kept, b = L.copy(), np.ones((2, 3000))
    B = tr.batch(L, 2)
    L.indices[:] = 0
    L.indptr[:] = 0
    del L
    B.update(values)
    x = B.solve(b)
    for k in range(2):
        assert np.allclose(of(kept, values[k]) @ x[k], b[k])


def test_overlapping_arrays_and_other_orders():
    L, values = systems(20, 5, np.float64)
    B = tr.batch(L, 5)
    B.update(np.asfortranarray(values))
    b = RNG.standard_normal((5, 20, 3))
    x = B.solve(b)
    np.testing.assert_array_equal(B.solve(np.asfortranarray(b)), x)
    room = np.zeros(b.size + 7)
    near, out = room[:b.size].reshape(b.shape), room[7:].reshape(b.shape)
    near[...] = b
    assert B.solve(near, out=out) is out
    np.testing.assert_array_equal(out, x)
    np.testing.assert_array_equal(B.solve(b.tolist()), x)


def test_room_behind_the_last_entry_is_no_entry():
    L, values = systems(20, 3, np.float64)
    roomy = L.copy()
    roomy.data, roomy.indices = np.append(L.data, [9.0, 9.0]), np.append(L.indices, [0, 0]).astype(L.indices.dtype)
    B, b = tr.batch(roomy, 3), RNG.standard_normal((3, 20))
    B.update(values)
    x = B.solve(b)
    for k in range(3):
        assert np.allclose(of(L, values[k]) @ x[k], b[k])
    B.update(np.append(values, np.full((3, 2), np.nan), 1))
    np.testing.assert_array_equal(B.solve(b), x)
    with pytest.raises(ValueError, match=rf"values has shape .* \(3, {L.nnz}\) is wanted"):
        B.update(np.ones((3, L.nnz + 1)))


def test_misuse_is_named():
    L, values = systems(10, 3, np.float64)
    B, b = tr.batch(L, 3), np.ones((3, 10))
    with pytest.raises(ValueError, match="trs_batch_update|update"):
        B.solve(b)
    with pytest.raises(ValueError, match="values has shape"):
        B.update(values[:2])
    with pytest.raises(ValueError, match="update of this batch failed.*values has shape"):
        B.solve(b)
    with pytest.raises(TypeError, match=r"complex128.*L.astype\('complex128'\)"):
        B.update(values.astype(complex))
    with pytest.raises(TypeError, match="of type object.*array of numbers"):
        B.update(values.astype(object))
    with pytest.raises(TypeError, match="update of this batch failed.*of type object"):
        B.solve(b)
    B.update(values)
    with pytest.raises(ValueError, match="b has shape"):
        B.solve(np.ones(10))
    with pytest.raises(ValueError, match="out must be"):
        B.solve(b, out=np.ones((3, 10), np.float32))
    with pytest.raises(TypeError, match="b is"):
        B.solve(None)
    with pytest.raises(ValueError, match="uplo"):
        tr.batch(L, 3, "middle")
    with pytest.raises(tr.StructureError):
        tr.batch(L, 3, lower=False)
    for count in -1, 2 ** 31:
        with pytest.raises(ValueError, match=f"count is {count}: it must be from 0 to 2147483647"):
            tr.batch(L, count)
    assert "3 systems" in repr(B)


# ---- Factors

def matrix(n, dtype, count, form=sp.csc_array):
    """A, and the values of `count` matrices with its pattern."""
    A = sp.random(n, n, 0.1, random_state=5) + 4 * sp.eye(n)
    A = form((A + A.T).astype(dtype))
    A.sort_indices()
    values = A.data[None] * RNG.uniform(0.9, 1.1, (count, A.nnz))
    if np.issubdtype(dtype, np.complexfloating):
        values = values * np.exp(1j * RNG.uniform(0, 0.2, (count, A.nnz)))
    return A, values.astype(dtype)


def factors_of(A, values, F):
    """L_values and U_values by refactorisation."""
    pairs = []
    for own in values:
        F.refactor(of(A, own))
        pairs.append((F.L.data, F.U.data))
    return np.stack([L for L, _ in pairs]), np.stack([U for _, U in pairs])


def op_of(A, trans):
    return A if trans == "N" else A.T if trans == "T" else A.conj().T


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize("trans", ["N", "T", "H"])
def test_each_system_of_factors_is_solved(dtype, trans):
    A, values = matrix(31, dtype, 11)
    F = tr.lu(A)
    L_values, U_values = factors_of(A, values, F)
    B = tr.batch(F, 11, trans=trans, nrhs=4)
    B.update(L_values, U_values)
    for shape in (11, 31), (11, 31, 5):
        b = RNG.standard_normal(shape).astype(dtype)
        x = B.solve(b)
        assert x.shape == shape and x.dtype == dtype
        for k in range(11):
            np.testing.assert_allclose(op_of(of(A, values[k]), trans) @ x[k], b[k],
                                       atol=300 * np.finfo(dtype).eps)
        again = b.copy()
        assert B.solve(again, out=again) is again
        np.testing.assert_array_equal(again, x)
    assert B.info["count"] == 11 and B.info["n"] == 31 and "11 systems" in repr(B)


def test_factors_of_other_libraries_with_permutations_and_scalings():
    n, count = 25, 9
    L, L_values = systems(n, count, np.float64)
    U, U_values = systems(n, count, np.float64, sp.csc_array, upper=True)
    perm_r, perm_c = RNG.permutation(n), RNG.permutation(n)
    scale_r, scale_c = RNG.uniform(0.5, 2, n), RNG.uniform(0.5, 2, n)
    F = tr.from_factors(L, U, perm_r, perm_c, scale_r=scale_r, scale_c=scale_c)
    one = lambda k: tr.from_factors(of(L, L_values[k]), of(U, U_values[k]), perm_r, perm_c,  # noqa: E731
                                    scale_r=scale_r, scale_c=scale_c)
    for trans in "N", "T", "H":
        B, b = tr.batch(F, count, trans=trans), RNG.standard_normal((count, n))
        B.update(L_values, U_values)
        x = B.solve(b)
        for k in range(count):
            np.testing.assert_allclose(x[k], one(k).solve(b[k], trans), rtol=1e-10, atol=1e-12)


def test_values_stand_as_in_the_factors_that_are_seen():
    """A unit diagonal that is not stored has its places, which are not read."""
    n, count = 20, 5
    L, L_values = systems(n, count, np.float64)
    U, U_values = systems(n, count, np.float64, upper=True)
    strict = sp.csr_array(sp.tril(L, -1))
    F = tr.from_factors(strict, U, unit_L=True)
    assert F.L.nnz == strict.nnz + n
    rows = np.repeat(np.arange(n), np.diff(F.L.indptr))
    L_values = np.where(rows == F.L.indices, np.nan, 0.5)[None] * np.ones((count, 1))
    B, b = tr.batch(F, count), RNG.standard_normal((count, n))
    B.update(L_values, U_values)
    x = B.solve(b)
    own = sp.csr_array(F.L)
    own.data[:] = np.where(rows == own.indices, 1, 0.5)
    for k in range(count):
        np.testing.assert_allclose(own @ (of(U, U_values[k]) @ x[k]), b[k], atol=1e-10)
    with pytest.raises(ValueError, match=rf"L_values has shape.*\({count}, {F.L.nnz}\) is wanted"):
        B.update(L_values[:, n:], U_values)


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_of_hermitian_factors_the_values_of_L_are_enough(dtype):
    n, count = 30, 10
    A, _ = matrix(n, dtype, 1)
    if dtype == np.complex128:
        A = A + 0.1j * sp.triu(A, 1) - 0.1j * sp.tril(A, -1)
    F = tr.ic0(A)
    L_values = F.L.data[None] * RNG.uniform(0.9, 1.1, (count, F.L.nnz))
    L = sp.csr_array(F.L) if F.L.format == "csr" else sp.csc_array(F.L)
    b = RNG.standard_normal((count, n)).astype(dtype)
    for trans in "N", "T", "H":
        B = tr.batch(F, count, trans=trans)
        B.update(L_values)
        C = tr.batch(tr.from_factors(L, L.conj().T), count, trans=trans, hermitian=True)
        C.update(L_values)
        x = B.solve(b)
        np.testing.assert_array_equal(C.solve(b), x)
        for k in range(count):
            own = of(L, L_values[k])
            np.testing.assert_allclose(op_of(own @ own.conj().T, trans) @ x[k], b[k], atol=1e-10)
    with pytest.raises(ValueError, match="leave U_values out"):
        B.update(L_values, L_values)
    B.update(L_values)
    B.solve(b)


def test_a_zero_pivot_of_factors_names_the_factor():
    A, values = matrix(20, np.float64, 6)
    F = tr.ilu0(A)
    L_values, U_values = factors_of(A, values, F)
    U = F.U
    at = next(p for p in range(U.nnz)
              if U.indices[p] == 7 and np.searchsorted(U.indptr, p, "right") - 1 == 7)
    good, U_values[2, at] = U_values[2, at], 0
    B, b = tr.batch(F, 6), np.ones((6, 20))
    for call in lambda: B.update(L_values, U_values), lambda: B.solve(b):
        with pytest.raises(tr.SingularMatrixError, match="row 7 of U of system 2") as caught:
            call()
        assert (caught.value.system, caught.value.row) == (2, 7)
    x = B.solve(b, check_pivots=False)
    assert np.isnan(x[2]).all() and np.isfinite(np.delete(x, 2, 0)).all()
    U_values[2, at] = good
    B.update(L_values, U_values)
    np.testing.assert_array_equal(np.delete(B.solve(b), 2, 0), np.delete(x, 2, 0))


def test_complex_right_hand_sides_and_no_systems_of_factors():
    A, values = matrix(20, np.float64, 3)
    F = tr.lu(A)
    L_values, U_values = factors_of(A, values, F)
    B = tr.batch(F, 3)
    B.update(L_values, U_values)
    b = RNG.standard_normal((3, 20)) + 1j * RNG.standard_normal((3, 20))
    x = B.solve(b)
    np.testing.assert_array_equal(x.real, B.solve(np.ascontiguousarray(b.real)))
    none = tr.batch(F, 0)
    none.update(L_values[:0], U_values[:0])
    assert none.solve(b.real[:0]).shape == (0, 20)


def test_misuse_of_factors_is_named():
    A, values = matrix(10, np.float64, 3)
    F = tr.lu(A)
    L_values, U_values = factors_of(A, values, F)
    B, b = tr.batch(F, 3), np.ones((3, 10))
    with pytest.raises(ValueError, match="has no values: call update first"):
        B.solve(b)
    with pytest.raises(TypeError, match="U_values is None"):
        B.update(L_values)
    with pytest.raises(TypeError, match="update of this batch failed.*U_values is None"):
        B.solve(b)
    with pytest.raises(TypeError, match=r"A.astype\('complex128'\)"):
        B.update(L_values.astype(complex), U_values)
    for option in dict(uplo="lower"), dict(lower=True), dict(unit_diagonal=True), dict(take_triangle=True):
        with pytest.raises(TypeError, match=f"{next(iter(option))} is for a batch of a matrix"):
            tr.batch(F, 3, **option)
    with pytest.raises(TypeError, match="hermitian is for a batch of factors"):
        tr.batch(sp.csr_array(np.eye(3)), 3, hermitian=True)
    with pytest.raises(ValueError, match="U is not L\\^H"):
        tr.batch(tr.from_factors(sp.csr_array(np.tril(np.ones((3, 3)))), sp.csr_array(np.eye(3))), 3,
                 hermitian=True)


@pytest.mark.parametrize("wrong", ["no", 2, None, [], 1.0])
def test_flags_are_true_or_false(wrong):
    L = tr.triangle(tr.generate("poisson2d5:4"))
    B = tr.batch(L, 1)
    values = L.data[None, :]
    for call in (lambda: tr.batch(L, 1, unit_diagonal=wrong), lambda: tr.batch(L, 1, take_triangle=wrong),
                 lambda: tr.batch(L, 1, hermitian=wrong), lambda: B.update(values, check_pivots=wrong),
                 lambda: B.solve(np.ones((1, 16)), check_pivots=wrong)):
        with pytest.raises(TypeError, match="it must be True or False"):
            call()


def test_clones_of_batches_solve_in_threads():
    rng = np.random.default_rng(4)
    L = tr.triangle(tr.generate("poisson2d5:9"))
    values, b = L.data * rng.uniform(0.9, 1.1, (20, L.nnz)), rng.standard_normal((20, L.shape[0]))
    B, F = tr.batch(L, 20), tr.batch(tr.ic0(tr.generate("poisson2d5:9")), 20)
    B.update(values)
    F.update(np.tile(tr.ic0(tr.generate("poisson2d5:9")).L.data, (20, 1)))
    for batch, update in (B, lambda: B.update(values)), (F, lambda: F.update(values)):
        right, clones = batch.solve(b), [batch.clone() for _ in range(3)]
        with ThreadPoolExecutor(3) as pool:
            for x in pool.map(lambda clone: clone.solve(b), clones * 5):
                np.testing.assert_array_equal(x, right)
        for changed in update, lambda: clones[0].update(values):
            with pytest.raises(ValueError, match="close the clones"):
                changed()
        np.testing.assert_array_equal(batch.solve(b), right)
        assert type(clones[0]) is type(batch) and clones[0].info["count"] == 20
        for clone in clones:
            clone.close()
        batch.wait()
    B.update(values)
    with tr.batch(L, 2) as closed:
        assert "2 systems of 81 rows" in str(closed)
    with pytest.raises(ValueError, match="the plan is closed"):
        closed.update(values[:2])
