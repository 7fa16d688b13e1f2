"""trireme.jax in programs on a GPU: arrays stay there, and XLA's stream orders the work."""

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import (assert_a_program_keeps_its_plans_and_no_longer, in_threads, jax_program,
                      make_triangle, run_python, tolerance, without_row)

import trireme as tr

jax = pytest.importorskip("jax", reason="no jax")
if not tr.jax._jax_has_gpu():
    pytest.skip("JAX has no GPU", allow_module_level=True)
if not tr.jax.features("cuda").startswith("ffi"):
    pytest.skip(tr.jax.features("cuda"), allow_module_level=True)
jnp = jax.numpy
jax.config.update("jax_enable_x64", True)
GPUS = jax.devices("cuda")
ERRORS = (RuntimeError, ValueError)


@pytest.fixture(autouse=True)
def no_callback(monkeypatch):
    def refuse(*given, **more):
        raise AssertionError("a callback")
    monkeypatch.setattr(tr.jax, "_lower_callback", refuse)


def there(x, gpu=0):
    return jax.device_put(jnp.asarray(x), GPUS[gpu])


def large(n=200):
    """A triangle of many levels, and as many right-hand sides' worth of work as shows a race."""
    return sp.csr_array(sp.tril(tr.generate(f"poisson2d5:{n}")))


@pytest.mark.parametrize("method", [None, "pull"])
@pytest.mark.parametrize("trans", ["N", "T", "H"])
@pytest.mark.parametrize("uplo", ["lower", "upper"])
@pytest.mark.parametrize("form", ["csr", "csc"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_arrays_stay_on_the_gpu(dtype, form, uplo, trans, method):
    A = make_triangle(40, uplo, dtype, form)
    full = {"N": A, "T": A.T, "H": A.conj().T}[trans].toarray()
    L = tr.jax.pattern(A, uplo, method=method)
    f = jax.jit(lambda v, b: tr.jax.solve(L, v, b, trans))
    for shape in (40,), (40, 3):
        for k in 1, 2, 3:  # new values in each call
            b = np.random.default_rng(k).standard_normal(shape).astype(dtype)
            values, right = there(A.data * dtype_of(dtype)(k)), there(b)
            with jax.transfer_guard("disallow"):
                x = f(values, right)
            assert x.devices() == {GPUS[0]} and x.dtype == dtype
            np.testing.assert_allclose(k * (full @ np.asarray(x)), b, atol=40 * tolerance(dtype))


def dtype_of(dtype):
    return np.dtype(dtype).type


def test_options_and_unsorted_entries():
    A = make_triangle(40)
    full = sp.csr_array(A + 0.1 * A.T)
    b = np.random.default_rng(1).standard_normal(40)
    lower = np.tril(full.toarray())
    unit = lower - np.diag(np.diag(lower)) + np.eye(40)
    for options, dense in ((dict(take_triangle=True), lower),
                           (dict(take_triangle=True, unit_diagonal=True), unit)):
        L = tr.jax.pattern(full, **options)
        for scale in 1, 2:
            x = tr.jax.solve(L, there(full.data * scale), there(b))
            wanted = np.diag(np.diag(dense)) + scale * (dense - np.diag(np.diag(dense))) \
                if "unit_diagonal" in options else scale * dense
            np.testing.assert_allclose(wanted @ np.asarray(x), b, atol=1e-10)
    order = np.concatenate([np.arange(A.indptr[i], A.indptr[i + 1])[::-1] for i in range(40)])
    mixed = SimpleMatrix(A, order)
    L = tr.jax.pattern(mixed)
    for scale in 1, 2, 3:
        x = tr.jax.solve(L, there(mixed.data * scale), there(b))
        np.testing.assert_allclose(scale * (A @ np.asarray(x)), b, atol=1e-10)


class SimpleMatrix:
    """A CSR matrix whose rows' entries are in another order, which SciPy leaves alone."""

    format = "csr"

    def __init__(self, A, order):
        self.shape, self.indptr = A.shape, A.indptr
        self.indices, self.data = A.indices[order], A.data[order]


def test_the_stream_orders_what_comes_before_and_after():
    A = large()
    n = A.shape[0]
    L = tr.jax.pattern(A)

    @jax.jit
    def f(values, b, k):
        for _ in range(3):
            b = tr.jax.solve(L, values * k, b * k + 0) * 1
        return b, b.sum()

    values, b = there(A.data), there(np.ones(n))
    wanted = np.asarray(f(values, b, 1.0)[0])
    made = [f(values, b, float(k)) for k in range(1, 21)]  # all are launched before one is read
    for x, total in made:
        np.testing.assert_allclose(np.asarray(x), wanted, rtol=1e-9)
        np.testing.assert_allclose(float(total), wanted.sum(), rtol=1e-9)
    given = jax.jit(lambda v, b: tr.jax.solve(L, v, b), donate_argnums=(0, 1))
    for k in 1, 2, 3:
        x = given(there(A.data * k), there(np.ones(n)))
        np.testing.assert_allclose(k * (A @ np.asarray(x)), 1, rtol=1e-9)


def test_loops_with_new_values():
    A = large(30)
    n = A.shape[0]
    L = tr.jax.pattern(A)
    scales = np.linspace(1, 2, 12)

    @jax.jit
    def run(values, b, scales):
        def step(x, scale):
            x = tr.jax.solve(L, values * scale, x + 1)
            return x, x.sum()
        return jax.lax.scan(step, b, scales)
    x, sums = run(there(A.data), there(np.zeros(n)), there(scales))
    own = np.zeros(n)
    for k, scale in enumerate(scales):
        own = tr.spsolve_triangular(sp.csr_array(A * scale), own + 1)
        np.testing.assert_allclose(float(sums[k]), own.sum(), rtol=1e-9)
    np.testing.assert_allclose(np.asarray(x), own, rtol=1e-9)


@pytest.mark.parametrize("trans", ["N", "T"])
def test_vmap_and_derivatives_are_the_cpus(trans):
    rng = np.random.default_rng(4)
    A = make_triangle(15)
    L, host = tr.jax.pattern(A), jax.devices("cpu")[0]
    values, b = A.data * rng.uniform(1, 2, (6, A.nnz)), rng.standard_normal((6, 15, 2))

    def solve(v, b):
        return tr.jax.solve(L, v, b, trans)

    def loss(v, b):
        return (solve(v, b)**2).sum()
    for f, given in ((jax.vmap(solve), (values, b)), (jax.vmap(solve, (0, None)), (values, b[0])),
                     (jax.vmap(solve, (None, 0)), (values[0], b)),
                     (jax.grad(loss, (0, 1)), (values[0], b[0])),
                     (jax.vmap(jax.grad(loss, (0, 1))), (values, b)),
                     (jax.grad(lambda v, b: jax.vmap(solve)(v, b).sum(), (0, 1)), (values, b)),
                     (jax.hessian(lambda v, b: loss(v, b)), (values[0], b[0]))):
        got = jax.jit(f)(*(there(a) for a in given))
        wanted = jax.jit(f)(*(jax.device_put(a, host) for a in given))
        for one, other in zip(jax.tree.leaves(got), jax.tree.leaves(wanted)):
            assert one.devices() == {GPUS[0]} and other.devices() == {host}
            np.testing.assert_allclose(np.asarray(one), np.asarray(other), rtol=1e-9, atol=1e-11)


def test_errors_name_the_row_and_the_program_goes_on():
    A, b = make_triangle(20), np.ones(20)
    for first in "bad", "good":  # with and without a plan that was made before
        L, f = jax_program(A)
        if first == "good":
            good = np.asarray(f(there(A.data), there(b)))
        for _ in range(2):
            with pytest.raises(ERRORS, match="row 7 "):
                f(there(without_row(A, 7)), there(b)).block_until_ready()
        x = np.asarray(f(there(A.data), there(b)))
        np.testing.assert_allclose(A @ x, b, rtol=1e-12)
        if first == "good":
            np.testing.assert_array_equal(x, good)
    values, right = there(np.stack([A.data, without_row(A, 7)])), there(np.stack([b, b]))
    with pytest.raises(ERRORS, match="row 7 of system 1"):
        jax.block_until_ready(jax.vmap(f)(values, right))

    def quiet(v, b):
        return tr.jax.solve(L, v, b, check_pivots=False)
    assert np.isnan(jax.jit(quiet)(there(without_row(A, 7)), there(b))).all()
    np.testing.assert_allclose(A @ np.asarray(jax.jit(quiet)(there(A.data), there(b))), b)
    x = np.asarray(jax.jit(jax.vmap(quiet))(values, right))
    assert np.isnan(x[1]).all()
    np.testing.assert_allclose(A @ x[0], b, rtol=1e-12)


def test_programs_in_many_threads():
    A = large(60)
    n = A.shape[0]
    L, wrong = tr.jax.pattern(A), []
    programs = [jax.jit(lambda v, b, k=k: tr.jax.solve(L, v, b) * k) for k in (1, 2)]
    b = there(np.ones(n))
    wanted = {k: [np.asarray(f(there(A.data * k), b)) for f in programs] for k in (1.0, 2.0, 3.0)}

    def work(k):
        values = there(A.data * k)
        for turn in range(40):
            if not np.array_equal(programs[turn % 2](values, b), wanted[k][turn % 2]):
                wrong.append(k)
    in_threads(work, wanted)
    assert not wrong


@pytest.mark.skipif(len(GPUS) < 2, reason="one GPU")
def test_programs_solve_on_the_gpu_that_they_run_on():
    A, b = make_triangle(20), np.ones(20)
    _, f = jax_program(A)
    for turn in range(6):
        gpu = turn % 2
        x = f(there(A.data * (1 + turn), gpu), there(b, gpu))
        assert x.devices() == {GPUS[gpu]}
        np.testing.assert_allclose((1 + turn) * (A @ np.asarray(x)), b, rtol=1e-12)
    only = tr.jax.pattern(A, device="cuda:1")
    np.testing.assert_allclose(A @ np.asarray(tr.jax.solve(only, there(A.data, 1), there(b, 1))), b)
    with pytest.raises(ERRORS, match="leave device out"):
        tr.jax.solve(only, there(A.data, 0), there(b, 0)).block_until_ready()


def test_devices_that_are_named(monkeypatch):
    A, b = make_triangle(20), np.ones(20)
    for device in "cuda", f"cuda:{GPUS[0].local_hardware_id}":
        L = tr.jax.pattern(A, device=device)
        np.testing.assert_allclose(A @ np.asarray(tr.jax.solve(L, there(A.data), there(b))), b)
    host = jax.devices("cpu")[0]
    with pytest.raises(tr.UnsupportedError, match="leave device out"):
        tr.jax.solve(L, jax.device_put(A.data, host), jax.device_put(b, host))
    p = tr.plan(A, device="cuda")
    np.testing.assert_allclose(A @ np.asarray(tr.jax.solve(p, there(A.data), there(b))), b)
    monkeypatch.undo()  # on the CPU, by a callback
    x = tr.jax.solve(tr.jax.pattern(A, device="cpu"), there(A.data), there(b))
    assert x.devices() == {GPUS[0]}
    np.testing.assert_allclose(A @ np.asarray(x), b)


def test_a_program_keeps_its_plans_and_no_longer():
    assert_a_program_keeps_its_plans_and_no_longer(there)


PROGRAM = """
import numpy as np, jax, trireme as tr
jax.config.update("jax_enable_x64", True)
A = tr.triangle(tr.generate("poisson2d5:300"))
L = tr.jax.pattern(A)
f = jax.jit(jax.vmap(lambda v, b: tr.jax.solve(L, v, b), (0, None)))
g = jax.jit(lambda v, b: tr.jax.solve(L, v, b))
x = [g(A.data * k, np.ones(A.shape[0])) for k in (1, 2, 3)]
y = f(np.stack([A.data, 2 * A.data]), np.ones(A.shape[0]))
print(abs(A @ np.asarray(y[1]) - 0.5).max() < 1e-9)
"""


def test_a_process_ends_with_solves_in_flight():
    assert run_python("-c", PROGRAM) == ["True"]
