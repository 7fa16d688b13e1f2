"""Batches: each system beside a plan of its own; systems that cannot be solved; misuse."""

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
