"""Solves with one triangle: every type, order, stride and shape; what is refused, and how."""

import copy
import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import DTYPES, make_triangle, tolerance
from hypothesis import given, settings
from hypothesis import strategies as st

import trireme as tr

ORDERS = {
    "C": lambda a: np.ascontiguousarray(a),
    "F": lambda a: np.asfortranarray(a),
    "strided": lambda a: np.repeat(a, 2, axis=0)[::2],
    "reversed": lambda a: np.ascontiguousarray(a[::-1])[::-1],
    "columns": lambda a: a if a.ndim == 1 else np.repeat(a, 3, axis=1)[:, ::3],
    "readonly": lambda a: np.frombuffer(np.ascontiguousarray(a).tobytes(), a.dtype).reshape(a.shape),
    "unaligned": lambda a: np.frombuffer(bytearray(b"x" + a.tobytes()), a.dtype, a.size,
                                         1).reshape(a.shape),
}


def random_rhs(shape, dtype, seed=1):
    rng = np.random.default_rng(seed)
    b = rng.uniform(-1, 1, shape)
    if np.dtype(dtype).kind == "c":
        b = b + 1j * rng.uniform(-1, 1, shape)
    return b.astype(dtype)


def applied(A, trans):
    return {"N": A, "T": A.T, "H": A.conj().T}[trans]


@settings(max_examples=120, deadline=None)
@given(n=st.integers(0, 30), columns=st.sampled_from([None, 0, 1, 2, 5]),
       dtype=st.sampled_from(DTYPES + ["int64", "int8"]), b_dtype=st.sampled_from(DTYPES + ["int8"]),
       uplo=st.sampled_from(["lower", "upper"]), trans=st.sampled_from("NTH"),
       form=st.sampled_from(["csr", "csc"]), order=st.sampled_from(list(ORDERS)),
       out_order=st.sampled_from(["none", "C", "F", "columns", "reversed", "unaligned", "b"]),
       wide=st.booleans(), seed=st.integers(0, 100))
def test_any_solve(n, columns, dtype, b_dtype, uplo, trans, form, order, out_order, wide, seed):
    whole = np.dtype(dtype).kind == "i"
    A = make_triangle(n, uplo, "float64" if whole else dtype, form, seed=seed)
    if whole:
        A = sp.csr_array(np.sign(A.toarray()).astype(dtype)).asformat(form)
    if wide:
        A.indptr, A.indices = A.indptr.astype(np.int64), A.indices.astype(np.int64)
    with tr.plan(A, uplo, trans) as p:
        b = ORDERS[order](random_rhs((n,) if columns is None else (n, columns), b_dtype))
        if np.dtype(b_dtype).kind in "fc":
            wanted = np.promote_types(p.dtype, b_dtype)
            if wanted not in (p.dtype, np.promote_types(p.dtype, np.complex64)):
                with pytest.raises(TypeError, match="astype"):
                    p.solve(b)
                return
        else:
            wanted = p.dtype
        kept = b.copy()
        if out_order == "none":
            x = p.solve(b)
        elif out_order == "b" and b.dtype == wanted and b.flags.writeable:
            x = p.solve(b, out=b)
            assert x is b
        else:
            out = ORDERS["C" if out_order == "b" else out_order](np.zeros(b.shape, wanted))
            x = p.solve(b, out=out)
            assert x is out
        assert x.shape == kept.shape and x.dtype == wanted
        if columns is not None and out_order == "none" and min(x.shape) > 1:
            assert x.flags.f_contiguous == b.flags.f_contiguous
        M = applied(A, trans)
        residual = np.abs(M @ x.astype("c16") - kept)
        # The entries of whole matrices let x grow.
        scale = np.abs(M.toarray()) @ np.abs(x).astype("f8") + np.abs(kept)
        assert np.all(residual <= tolerance(wanted) * scale + 1e-30)


def test_unsorted_and_repeated_entries_add_up_and_update_in_the_given_order():
    A = sp.csr_array((np.array([1.0, 3, 2, 4, 2]), np.array([0, 1, 0, 1, 0]), np.array([0, 1, 5])),
                     shape=(2, 2))
    p = tr.plan(A)
    np.testing.assert_allclose(p.solve(np.array([1.0, 11])), [1, 1])
    p.update(2 * A.data)
    np.testing.assert_allclose(p.solve(np.array([2.0, 22])), [1, 1])
    p.update(A)
    np.testing.assert_allclose(p.solve(np.array([1.0, 11])), [1, 1])


def test_a_plan_does_not_follow_changes_of_the_matrix():
    A = make_triangle(30)
    b = np.ones(30)
    p = tr.plan(A)
    x = p.solve(b)
    A.data *= 2
    A.indices[:] = 0
    np.testing.assert_array_equal(p.solve(b), x)


def test_lent_arrays():
    A = make_triangle(30)
    p = tr.plan(A, copy=False)
    x = p.solve(np.ones(30))
    p.update(2 * A.data)
    np.testing.assert_allclose(p.solve(np.ones(30)), x / 2)


def test_unit_diagonal_and_take_triangle():
    A = sp.csr_array(np.array([[5.0, 7], [1, 6]]))
    np.testing.assert_allclose(tr.plan(A, take_triangle=True).solve(np.array([5.0, 7])), [1, 1])
    np.testing.assert_allclose(
        tr.plan(A, "upper", unit_diagonal=True, take_triangle=True).solve(np.array([8.0, 1])), [1, 1])


def test_one_shot_reads_values_anew_and_finds_patterns():
    tr.cache_clear()
    A, b = make_triangle(40), np.ones((40, 2))
    before = tr.cache_info()
    x = tr.spsolve_triangular(A, b)
    A.data *= 2
    np.testing.assert_allclose(tr.spsolve_triangular(A, b), x / 2)
    np.testing.assert_allclose(tr.spsolve_triangular(A.copy(), b), x / 2)
    after = tr.cache_info()
    assert (after.hits - before.hits, after.misses - before.misses, after.plans) == (2, 1, 1)
    keep = A.indices.copy()  # another pattern in the same arrays
    row = int(np.flatnonzero(np.diff(A.indptr) == 2)[0])
    k = A.indptr[row]
    A.indices[k] = (A.indices[k] + 1) % row if row > 1 else A.indices[k]
    changed = tr.spsolve_triangular(A, b)
    assert np.array_equal(keep, A.indices) or not np.allclose(changed, x / 2)
    np.testing.assert_allclose(A @ changed, b)


def test_one_shot_of_one_right_hand_side():
    tr.cache_clear()
    for n in (0, 1, 2, 50):
        for dtype in ("f4", "f8", "c8", "c16", "i4"):
            for lower in (True, False):
                A = make_triangle(n) if n else sp.csr_array((0, 0))
                A = (A if lower else A.T).astype(dtype if dtype != "i4" else "f8")
                for M in (sp.csr_array(A), sp.csc_array(A), unsorted(sp.csr_array(A))):
                    for b in (np.arange(n), np.ones((n, 1)), np.ones(2 * n)[::2]):
                        x = tr.spsolve_triangular(M, b, lower)
                        assert x.shape == b.shape
                        np.testing.assert_allclose(A @ x, b, rtol=1e-4, atol=1e-3)
    assert tr.cache_info().plans == 0


def unsorted(A):
    """The same matrix with the entries of each row from right to left, and 64-bit indices."""
    order = np.concatenate([np.arange(e - 1, b - 1, -1) for b, e in zip(A.indptr, A.indptr[1:])]
                           or [np.empty(0, int)]).astype(int)
    made = sp.csr_array((A.data[order], A.indices[order].astype(np.int64), A.indptr), shape=A.shape)
    made.indices = A.indices[order].astype(np.int64)
    return made


@pytest.mark.parametrize("spoil", ["index", "negative", "pointer", "above", "zero", "nan", "missing"])
def test_one_shot_refuses_what_is_wrong_and_leaves_b(spoil):
    A, b = make_triangle(30), np.ones(30)
    k = A.indptr[20]
    if spoil == "index":
        A.indices[k] = 1 << 30
    elif spoil == "negative":
        A.indices[k] = -1
    elif spoil == "pointer":
        A.indptr[20] = A.indptr[21] + 1
    elif spoil == "above":
        A.indices[k] = 29
    elif spoil == "missing":
        A.indices[A.indptr[21] - 1] = 3
    else:
        A.data[A.indptr[21] - 1] = 0 if spoil == "zero" else np.nan
    with pytest.raises(np.linalg.LinAlgError):
        tr.spsolve_triangular(A, b, overwrite_b=True)
    np.testing.assert_array_equal(b, 1)


def test_the_cache_is_bounded_and_holds_no_values():
    tr.cache_clear()
    for n in range(5, 40):
        tr.spsolve_triangular(make_triangle(n), np.ones((n, 2)))
    assert 0 < tr.cache_info().plans <= 8
    tr.cache_clear()
    assert tr.cache_info().plans == 0


def test_overwrite_b():
    A, b = make_triangle(20), np.ones(20)
    x = tr.spsolve_triangular(A, b, overwrite_b=True)
    assert x is b
    b = np.ones(20)
    assert tr.spsolve_triangular(A, b) is not b and np.all(b == 1)


@pytest.mark.parametrize("make", [sp.csr_matrix, sp.csc_matrix, sp.csr_array, sp.csc_array])
def test_matrices_and_arrays(make):
    A, b = make_triangle(20), np.ones((20, 2))
    x = tr.spsolve_triangular(make(A), b)
    assert type(x) is np.ndarray
    np.testing.assert_allclose(A @ x, b)


def test_other_formats_warn():
    A = make_triangle(20)
    for other in (A.tocoo(), A.tolil(), A.toarray()):
        with pytest.warns(sp.SparseEfficiencyWarning) as told:
            tr.plan(other)
        assert told[0].filename == __file__
        with pytest.warns(sp.SparseEfficiencyWarning) as told:
            tr.spsolve_triangular(other, np.ones(20))
        assert told[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tr.plan(A)


class Bare:
    """Anything with three arrays and a shape."""

    def __init__(self, A):
        self.indptr, self.indices, self.data, self.shape = A.indptr, A.indices, A.data, A.shape


def test_anything_with_three_arrays():
    A = make_triangle(20)
    np.testing.assert_allclose(A @ tr.plan(Bare(A)).solve(np.ones(20)), np.ones(20))


def refused(kind, match, call, *arguments, **options):
    with pytest.raises(kind, match=match) as told:
        call(*arguments, **options)
    return told.value


def test_singular_matrices_name_the_row():
    dense = np.tril(np.ones((5, 5)))
    dense[3, 3] = 0
    error = refused(tr.SingularMatrixError, "3", tr.plan, sp.csr_array(dense))
    assert error.row == 3 and isinstance(error, np.linalg.LinAlgError)
    A = sp.csr_array(np.tril(np.ones((5, 5))))
    A.data[A.indptr[3] - 1] = 0
    assert refused(tr.SingularMatrixError, "2", tr.plan, A).row == 2
    A.data[A.indptr[3] - 1] = np.nan
    assert refused(tr.SingularMatrixError, "2", tr.spsolve_triangular, A, np.ones(5)).row == 2


def test_entries_on_the_other_side():
    error = refused(tr.StructureError, "above", tr.plan, sp.csr_array(np.ones((3, 3))))
    assert isinstance(error, (np.linalg.LinAlgError, ValueError)) and error.row == 0


def test_shapes_are_named():
    A = make_triangle(5)
    p = tr.plan(A)
    refused(ValueError, r"\(4,\)", p.solve, np.ones(4))
    refused(ValueError, r"\(5, 2, 2\)", p.solve, np.ones((5, 2, 2)))
    refused(ValueError, r"\(4,\)", p.solve, np.ones(5), out=np.ones(4))
    refused(TypeError, "float32", p.solve, np.ones(5), out=np.ones(5, "f4"))
    readonly = np.ones(5)
    readonly.flags.writeable = False
    refused(ValueError, "written", p.solve, np.ones(5), out=readonly)
    refused(ValueError, r"\(3, 4\)", tr.plan, sp.csr_array(np.ones((3, 4))))
    for b in (None, np.ones(5, object), np.array(["1"] * 5), sp.csr_array(np.ones((5, 1)))):
        refused(TypeError, "dense array of numbers", p.solve, b)
    refused(TypeError, r"digits: pass b.astype\('float64'\)", p.solve, np.ones(5, "g"))
    for threads in (2.5, "2"):
        refused(TypeError, "integer", tr.plan, A, threads=threads)
        refused(TypeError, "integer", tr.set_num_threads, threads)
    refused(TypeError, "device is None", tr.plan, A, device=None)
    refused(ValueError, "nrhs is .* to 9223372036854775807", tr.plan, A, nrhs=2**70)
    refused(ValueError, "seed is -1: it must be from 0", tr.generate, "poisson2d5:3", seed=-1)
    refused(ValueError, "uplo", tr.plan, A, "both")
    refused(ValueError, "trans", tr.plan, A, trans="X")
    refused(ValueError, "values", p.update, np.ones(3))
    refused(TypeError, "complex", p.update, A.data + 1j)
    refused(ValueError, "pattern", p.update, make_triangle(5, density=0.9, seed=5))
    refused(ValueError, "method", tr.plan, A, method="fastest")
    refused(TypeError, "object", tr.plan, Bare(A.astype(object) if False else ObjectValues(A)))


class ObjectValues:
    """Values of a type that cannot be solved in."""

    def __init__(self, A):
        self.indptr, self.indices, self.shape = A.indptr, A.indices, A.shape
        self.data = A.data.astype(object)


def test_arrays_that_do_not_belong_together_are_refused():
    A = Bare(make_triangle(10))
    for name, value in (("indptr", A.indptr[:-1]), ("indices", A.indices[:-1]),
                        ("indptr", A.indptr + 1), ("indices", A.indices + 100),
                        ("indptr", A.indptr[::-1].copy()), ("indices", A.indices - 1)):
        bad = Bare(make_triangle(10))
        setattr(bad, name, value)
        with pytest.raises(ValueError):
            tr.plan(bad)


def test_a_closed_plan_says_so():
    p = tr.plan(make_triangle(5))
    p.close()
    p.close()
    for call in (lambda: p.solve(np.ones(5)), lambda: p.solve(np.ones(5), out=np.ones(5)),
                 lambda: p.info, lambda: p.update(np.ones(5)), lambda: pickle.dumps(p)):
        refused(ValueError, "closed", call)
    assert "closed" in repr(p)


def test_after_a_failed_update_the_plan_recovers():
    A = make_triangle(10)
    p = tr.plan(A)
    x = p.solve(np.ones(10))
    with pytest.raises(tr.SingularMatrixError):
        p.update(np.zeros(A.nnz))
    p.update(A.data)
    np.testing.assert_array_equal(p.solve(np.ones(10)), x)


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy,
                                   lambda p: pickle.loads(pickle.dumps(p))])
def test_copies_keep_matrix_and_options(again):
    A = make_triangle(30, "upper", "complex64", "csc")
    p = tr.plan(A, "upper", "H", threads=1, method="serial")
    q = again(p)
    p.close()
    assert q.info["reason"] == "asked for by name" and q.dtype == np.complex64
    b = random_rhs(30, "complex64")
    np.testing.assert_allclose(A.conj().T @ q.solve(b), b, rtol=1e-4, atol=1e-5)


def test_what_a_plan_tells():
    A = sp.csr_array(sp.tril(tr.generate("poisson2d5:20")))
    p = tr.plan(A, threads=2, method="threads")
    assert p.info["levels"] == 39 == len(p.levels) and p.levels.sum() == 400
    text = str(p)
    assert "threads" in text and "39 levels" in text and "µs" in text
    assert p._repr_svg_().startswith("<svg") and p.bound() > 0
    assert p.shape == (400, 400) and "method threads" in repr(p)
    x = p.solve(np.ones(400))
    assert p.backward_error(x, np.ones(400)) < 1e-15 < p.backward_error(x + 1e-9, np.ones(400))


def test_progress_is_told_and_its_exception_comes_through():
    told = []
    tr.plan(make_triangle(30), progress=lambda phase, done: told.append((phase, done)))
    assert told[0][1] == 0 and told[-1] == ("analysing", 1)

    def stop(phase, done):
        raise KeyError("mine")
    with pytest.raises(KeyError, match="mine"):
        tr.plan(make_triangle(30), progress=stop)


class Stream:
    """A stream as CuPy's, the default one."""

    ptr = 0


def test_the_cpu_has_no_streams():
    L = make_triangle(5)
    for make in (tr.plan, tr.relaxation, tr.ilu0(L).plan):
        A = () if getattr(make, "__name__", "") == "plan" and make is not tr.plan else (L,)
        refused(TypeError, "stream", make, *A, stream="mine")
        refused(ValueError, "stream", make, *A, stream=-1)
        for device in ("auto", "cpu", "serial"):
            refused(ValueError, "stream is given.*device=\"cuda\"", make, *A, stream=Stream(),
                    device=device)


@pytest.mark.parametrize("trans", ["N", "T"])
def test_elements_of_out_that_share_memory_are_refused(trans):
    view = np.lib.stride_tricks.as_strided
    L = make_triangle(6)
    n, plans = L.shape[0], [tr.plan(L, trans=trans), tr.ilu0(L).plan(trans)]
    room = np.zeros(8 * n * n)
    for p in plans:
        b, B = np.ones(n), np.ones((n, 3))
        wanted, Wanted = p.solve(b), p.solve(B)
        for strides in [(0,), (4,), (-4,)]:
            refused(ValueError, "out has strides", p.solve, b, out=view(room[n:], (n,), strides))
        for strides in [(0, 8), (8, 0), (8, 8), (16, 8), (8, 16), (24, 0), (16, 24), (8, 40), (24, 12)]:
            refused(ValueError, "out has strides", p.solve, B, out=view(room, (n, 3), strides))
        for strides in [(24, 8), (8, 8 * n), (8, 8 * n + 16), (64, 16), (16 * n, 8), (48, 16), (48, -16)]:
            out = view(room[n:], (n, 3), strides)
            assert p.solve(B, out=out) is out
            np.testing.assert_array_equal(out, Wanted)
        out = room[:16 * n:16][::-1]
        np.testing.assert_array_equal(p.solve(b, out=out), wanted)
        odd = np.ones((2, 3))  # rows that interleave share nothing
        two = tr.plan(sp.csr_array(np.array([[2.0, 0], [1, 4]])), trans=trans)
        out = view(room, (2, 3), (24, 16))
        np.testing.assert_array_equal(two.solve(odd, out=out), two.solve(odd))


def test_b_whose_elements_share_memory_is_not_overwritten():
    L, n = make_triangle(16), 16
    B = np.lib.stride_tricks.as_strided(np.ones(3), (n, 3), (0, 8))
    x = tr.spsolve_triangular(L, B, overwrite_b=True)
    np.testing.assert_allclose(L @ x, 1)
    assert (B == 1).all()


def test_bench_is_a_table():
    table = tr.bench(make_triangle(50), np.ones(50), seconds=0.01)
    assert len(table) == 4 and "SciPy" in str(table) and all(row.error < 1e-10 for row in table)


@pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning")
def test_update_takes_any_format_order_and_part_of_the_pattern():
    rng = np.random.default_rng(0)
    for k in range(120):
        n, b = int(rng.integers(1, 12)), rng.standard_normal(12)
        T = sp.csr_matrix(sp.tril(sp.random(n, n, 0.4, random_state=rng), -1) + sp.diags(rng.uniform(1, 2, n)))
        plan = tr.plan(T.asformat(("csr", "csc", "coo", "bsr")[k % 4]), take_triangle=k % 4 == 3)
        new = T.copy()
        new.data = rng.uniform(1, 2, new.nnz) * (rng.random(new.nnz) > 0.3)
        new.setdiag(rng.uniform(1, 2, n))
        new.eliminate_zeros()
        entries, order = new.tocoo(), rng.permutation(new.nnz)
        given = sp.coo_matrix((entries.data[order], (entries.row[order], entries.col[order])), new.shape)
        for form in "csr", "csc", "coo", "bsr", "lil", "dok":
            plan.update(given.asformat(form))
            assert np.abs(new @ plan.solve(b[:n]) - b[:n]).max() < 1e-12, (k, form)
        outside = given.tolil()
        if n > 1 and plan.info["nnz"] == T.nnz:
            outside[0, n - 1] = 1
            with pytest.raises(tr.StructureError, match=rf"entry \(0, {n - 1}\)"):
                plan.update(outside)


def test_update_after_a_matrix_with_room_for_more_entries():
    L = sp.csr_array(np.array([[2.0, 0], [1, 4]]))
    roomy = L.copy()
    roomy.data, roomy.indices = np.append(L.data, 9.0), np.append(L.indices, 0).astype(L.indices.dtype)
    for first, second in (roomy, L), (L, roomy), (roomy, roomy):
        p = tr.plan(first)
        p.update(second * 2 if second is L else second)
        scale = 2 if second is L else 1
        np.testing.assert_array_equal(p.solve(np.array([2.0, 9]) * scale), [1, 2])
        p.update(L.data * 4)
        np.testing.assert_array_equal(p.solve(np.array([8.0, 36])), [1, 2])
        p.update(first.data * 2)
        np.testing.assert_array_equal(p.solve(np.array([4.0, 18])), [1, 2])


def test_values_alone_are_refused_where_the_matrix_was_converted():
    L = sp.coo_matrix(([4.0, 1, 2], ([1, 1, 0], [1, 0, 0])), (2, 2))
    b = np.array([2.0, 9])
    with pytest.warns(sp.SparseEfficiencyWarning):
        plan, batch, full = tr.plan(L), tr.batch(L, 1), tr.plan(L.toarray())
    for update in (lambda: plan.update(L.data), lambda: pickle.loads(pickle.dumps(plan)).update(L.data)):
        with pytest.raises(TypeError, match="a COO matrix gave the pattern.*pass the matrix with its new values"):
            update()
        with pytest.warns(sp.SparseEfficiencyWarning):
            plan.update(L)
    with pytest.raises(TypeError, match=r"make the batch of A.tocsr\(\)"):
        batch.update(L.data[None])
    with pytest.raises(TypeError, match="a dense matrix gave the pattern"):
        full.update(L.data)
    full.update(2 * L.toarray())
    np.testing.assert_allclose(plan.solve(b), [1, 2])
    np.testing.assert_allclose(full.solve(2 * b), [1, 2])
