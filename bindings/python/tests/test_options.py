"""Options outside their domains are errors that name the option; a failed update is remembered."""

import pickle

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


NO_NUMBER = ["", [], {}, b"", object(), 1j]
NO_INTEGER = NO_NUMBER + [1.5, NAN, INF]
NO_FLAG = NO_INTEGER + [2, WIDE, None]


def calls():
    """Every option of every function, as (kinds of wrong values, name, call)."""
    A, L = system()
    F, R, n = tr.ilu0(A), tr.relaxation(A), A.shape[0]
    p = tr.plan(L)

    def sweep(**options):
        return R.sweep(np.zeros(n), np.ones(n), **options)

    def error(**options):
        return p.backward_error(np.ones(n), np.ones(n), **options)

    def given(function, *arguments):
        return lambda **options: function(*arguments, **options)

    of = {tr.plan: (L,), tr.relaxation: (A,), tr.ilu0: (A,), tr.ic0: (A,), tr.lu: (A,),
          tr.triangle: (A,), tr.bench: (L, np.ones(n)), tr.from_factors: (F.L, F.U),
          tr.generate: ("poisson2d5:3",), tr.set_num_threads: ()}
    rows = [(NO_FLAG, tr.plan, "unit_diagonal take_triangle tune copy launch_updates"),
            (NO_INTEGER, tr.plan, "threads nrhs solves"), (NO_NUMBER + [NAN], tr.plan, "stream"),
            (NO_INTEGER + [2.5], tr.plan, "dtype"), (NO_INTEGER, tr.plan, "method device store"),
            (NO_FLAG, tr.relaxation, "balanced copy"),
            (NO_INTEGER, tr.relaxation, "block_size nrhs threads store device colour"),
            (NO_FLAG, tr.ilu0, "add_diagonal"), (NO_FLAG, tr.ic0, "add_diagonal"),
            (NO_NUMBER + [NAN, INF, 10 ** 400], tr.ic0, "shift"), (NO_FLAG, tr.lu, "equilibrate"),
            (NO_INTEGER, tr.lu, "order"), (NO_NUMBER + [INF, 10 ** 400], tr.lu, "pivot_threshold"),
            (NO_FLAG, tr.triangle, "add_diagonal"), (NO_FLAG, tr.bench, "lower unit_diagonal"),
            (NO_NUMBER + [INF], tr.bench, "seconds"), (NO_FLAG, tr.from_factors, "unit_L unit_U"),
            (NO_INTEGER + [2 ** 200], tr.from_factors, "perm_r perm_c"),
            (NO_NUMBER, tr.from_factors, "scale_r scale_c"),
            (NO_INTEGER + [2 ** 64], tr.generate, "seed"), (NO_INTEGER, tr.generate, "max_bytes"),
            (NO_INTEGER + [WIDE, 0, -1], tr.set_num_threads, "threads")]
    rows = [(values, given(function, *of[function]), names) for values, function, names in rows]
    rows += [(NO_FLAG, sweep, "zero"), (NO_INTEGER, sweep, "sweeps residual_every direction"),
             (NO_NUMBER + [10 ** 400], sweep, "omega"), (NO_FLAG, error, "normwise"),
             (NO_INTEGER, F.plan, "threads nrhs solves stream trans")]
    for values, function, names in rows:
        for name in names.split():
            yield name, function, values


def test_what_is_no_option_is_refused_by_name():
    for name, call, values in calls():
        for value in values:
            if name == "stream" and isinstance(value, float) and value != value:
                continue
            with pytest.raises((ValueError, TypeError), match=name):
                call(**{name: value})


def test_flags_are_true_or_false():
    A, L = system()
    for true in (True, 1, np.bool_(True)):
        assert tr.plan(L, unit_diagonal=true).solve(np.ones(L.shape[0]))[0] == 1
    for false in (False, 0, np.bool_(False)):
        assert tr.plan(L, unit_diagonal=false).solve(np.ones(L.shape[0]))[0] != 1


def test_options_without_effect_are_errors_or_told():
    A, L = system()
    for call in (tr.plan, tr.relaxation, lambda L, **options: tr.batch(L, 2, **options),
                 lambda L, **options: tr.ilu0(A).plan(**options)):
        for device in "serial", "cuda", "opencl:0":
            with pytest.raises(ValueError, match="threads is 4 and device"):
                call(L, device=device, threads=4)
        call(L, device="serial", threads=1)
    for p in tr.plan(L, store="mixed", trans="T"), tr.ilu0(A).plan(store="mixed", nrhs=8):
        assert p.info["store"] == "same" and "values in their own type" in str(p)
    for p in (tr.plan(L, store="mixed", method="blocks:size=1"), tr.plan(L, store="mixed", method="serial"),
              tr.ilu0(A).plan(store="mixed", threads=1)):
        assert p.info["store"] == "mixed" and "own type" not in str(p)
    assert tr.plan(L).info["store"] == "same" and "own type" not in str(tr.plan(L))


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
                                     (sp.csr_array(sp.eye(n, k=1)), tr.StructureError, "pattern")]:
            with pytest.raises(error):
                p.update(values)
            for _ in range(2):
                with pytest.raises(error, match="^update of this plan .*solves nothing.*" + words) as refused:
                    p.solve(b)
                out = b.copy()
                with pytest.raises(error):
                    p.solve(out, out=out)
                np.testing.assert_array_equal(out, b)
            with pytest.raises(error, match="solves nothing"):
                pickle.dumps(p)
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
        with pytest.raises(error, match="^update of this relaxation .*solves nothing"):
            R.sweep(x, b)
        assert not x.any()
        R.update(A)
        R.sweep(x, b)
        np.testing.assert_array_equal(x, first)


def test_auto_is_a_method():
    _, L = system()
    auto, default = tr.plan(L, method="auto", device="serial"), tr.plan(L, device="serial")
    told = [[line for line in str(plan).splitlines() if "time" not in line] for plan in (auto, default)]
    assert told[0] == told[1] and len(told[0]) > 2  # the time is from measured figures


def test_masks_are_kept():
    A, L = system()
    mask = np.arange(L.shape[0]) == 1
    b = np.ma.masked_array(np.ones(L.shape[0]), mask=mask)
    for call in (tr.plan(L).solve, tr.lu(A).solve, tr.splu(A).solve, tr.factorized(A),
                 lambda b: tr.spsolve_triangular(L, b)):
        x = call(b)
        assert type(x) is np.ma.MaskedArray
        np.testing.assert_array_equal(x.mask, mask)
        np.testing.assert_array_equal(x.data, call(np.ones(L.shape[0])))


def test_index_arrays_keep_their_values():
    class Arrays:
        format, shape, data = "csr", (2, 2), np.array([2.0, 1, 4])

        def __init__(self, indptr, indices):
            self.indptr, self.indices = indptr, indices

    whole = Arrays(np.array([0.0, 1, 3]), np.array([0.0, 0, 1]))
    np.testing.assert_array_equal(tr.plan(whole, uplo="lower").solve(np.array([2.0, 5])), [1, 1])
    for wrong in (Arrays(np.array([0, 1, 3]), np.array([0, 0.5, 1])),
                  Arrays(np.array([0, 1.5, 3]), np.array([0, 0, 1])),
                  Arrays(np.array([0, 1, 3]), np.array([0, np.nan, 1]))):
        with pytest.raises(ValueError, match="whole numbers"):
            tr.plan(wrong, uplo="lower")
