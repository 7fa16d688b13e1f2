"""Arrays of CuPy and torch on a GPU: they stay there."""

import gc
import weakref

import numpy as np
import pytest
import scipy.sparse as sp

import trireme as tr

if not tr.devices():
    pytest.skip("no GPU, or no CUDA in this build", allow_module_level=True)
L = sp.csr_array(sp.tril(tr.generate("poisson2d5:60")))
N = L.shape[0]


@pytest.fixture(scope="module")
def cupy():
    return pytest.importorskip("cupy", reason="no CuPy")


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("order", "CF")
def test_arrays_stay_on_the_gpu(cupy, dtype, order):
    from cupyx.scipy.sparse import csr_matrix
    A = L.astype(dtype)
    p = tr.plan(csr_matrix(sp.csr_matrix(A)))
    for shape in ((N,), (N, 3)):
        b = cupy.asarray(np.ones(shape, dtype), order=order)
        x = p.solve(b)
        assert isinstance(x, cupy.ndarray) and x.flags.f_contiguous == b.flags.f_contiguous
        np.testing.assert_allclose(A @ x.get(), b.get(), rtol=1e-4)
        out = cupy.empty_like(b)
        assert p.solve(b, out=out) is out and bool((out == x).all())
    if dtype == "float64":
        b = cupy.ones(N, "complex128") * (1 + 2j)
        np.testing.assert_allclose(A @ p.solve(b).get(), b.get())
    with pytest.raises(TypeError, match="host memory"):
        p.solve(np.ones(N, dtype))
    with pytest.raises(TypeError, match="GPU"):
        tr.plan(L, threads=1).solve(cupy.ones(N))


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_batches_take_arrays_of_the_gpu_and_of_the_host(cupy, dtype):
    rng = np.random.default_rng(3)
    A = L.astype(dtype)
    values = (A.data[None] * rng.uniform(1, 2, (40, A.nnz))).astype(dtype)
    B = tr.batch(A, 40, device="cuda", nrhs=3)
    for shape in (40, N), (40, N, 3):
        b = rng.standard_normal(shape).astype(dtype)
        B.update(values)
        x = B.solve(b)
        assert isinstance(x, np.ndarray)
        for k in 0, 39:
            own = sp.csr_array((values[k], A.indices, A.indptr), shape=A.shape)
            np.testing.assert_allclose(own @ x[k], b[k], rtol=2e-3, atol=1e-3)
        with cupy.cuda.Stream(non_blocking=True) as stream:
            B.update(cupy.asarray(values))
            for order in "CF":
                y = B.solve(cupy.asarray(b, order=order))
                assert isinstance(y, cupy.ndarray)
                out = cupy.asarray(b)
                assert B.solve(out, out=out) is out
                stream.synchronize()
                np.testing.assert_array_equal(y.get(), x)
                np.testing.assert_array_equal(out.get(), x)
        if np.dtype(dtype).kind == "f":
            y = B.solve(cupy.asarray(b) * (1 + 2j)).get()
            np.testing.assert_array_equal(y.real, x)
            np.testing.assert_array_equal(y.imag, 2 * x)
    with pytest.raises(TypeError, match="different memories"):
        B.solve(b, out=cupy.asarray(b))
    with pytest.raises(TypeError, match="batch on the CPU"):
        tr.batch(A, 40).update(cupy.asarray(values))


def test_batches_of_torch():
    torch = pytest.importorskip("torch", reason="no torch")
    if not torch.cuda.is_available():
        pytest.skip("torch has no GPU")
    values = np.stack([L.data, 2 * L.data])
    B = tr.batch(L, 2, device="cuda")
    B.update(torch.from_numpy(values).cuda())
    x = B.solve(torch.ones(2, N, dtype=torch.float64).cuda())
    assert x.is_cuda
    np.testing.assert_allclose(L @ x[0].cpu().numpy(), 1)
    np.testing.assert_allclose(x[1].cpu().numpy(), x[0].cpu().numpy() / 2)


def test_batches_of_factors(cupy):
    rng = np.random.default_rng(4)
    F = tr.lu(sp.csc_array(L + L.T))
    L_values = F.L.data[None] * rng.uniform(0.9, 1.1, (40, F.L.nnz))
    U_values = F.U.data[None] * rng.uniform(0.9, 1.1, (40, F.U.nnz))
    b = rng.standard_normal((40, N, 3))
    for trans in "N", "T":
        here, there = tr.batch(F, 40, trans=trans, nrhs=3), tr.batch(F, 40, trans=trans, nrhs=3,
                                                                     device="cuda")
        here.update(L_values, U_values)
        there.update(cupy.asarray(L_values), U_values)
        x = here.solve(b)
        y = there.solve(cupy.asarray(b))
        assert isinstance(y, cupy.ndarray)
        np.testing.assert_allclose(y.get(), x, rtol=1e-6, atol=1e-8 * abs(x).max())
        np.testing.assert_array_equal(there.solve(b), y.get())


def test_one_shot_update_and_host_vectors(cupy):
    from cupyx.scipy.sparse import csr_matrix
    A, b = csr_matrix(sp.csr_matrix(L)), cupy.ones(N)
    x = tr.spsolve_triangular(A, b)
    np.testing.assert_allclose(L @ x.get(), 1)
    p = tr.plan(A)
    p.update(2 * A.data)
    np.testing.assert_allclose(p.solve(b).get(), x.get() / 2)
    q = tr.plan(L, device="cuda")
    np.testing.assert_allclose(L @ q.solve(np.ones(N)), 1)
    assert "cuda" in q.info["backend"] and q.info["device"]


def test_a_plan_keeps_its_stream_alive(cupy):
    stream = cupy.cuda.Stream(non_blocking=True)
    p, kept = tr.plan(L, device="cuda", stream=stream), weakref.ref(stream)
    del stream
    assert kept() is not None
    p.solve(np.ones(N))
    del p
    gc.collect()
    assert kept() is None


def test_streams_and_graphs(cupy):
    from cupyx.scipy.sparse import csr_matrix
    stream = cupy.cuda.Stream(non_blocking=True)
    p = tr.plan(csr_matrix(sp.csr_matrix(L)), stream=stream)
    b, x = cupy.ones(N), cupy.zeros(N)
    cupy.cuda.Device().synchronize()
    p.solve(b, out=x)
    stream.synchronize()
    wanted = x.get()
    np.testing.assert_allclose(L @ wanted, 1)
    with stream:
        stream.begin_capture()
        p.solve(b, out=x)
        graph = stream.end_capture()
    b *= 3
    cupy.cuda.Device().synchronize()
    graph.launch(stream)
    stream.synchronize()
    np.testing.assert_allclose(x.get(), 3 * wanted)
    follows = tr.plan(csr_matrix(sp.csr_matrix(L)))
    with stream:
        y = follows.solve(2 * cupy.ones(N))
    stream.synchronize()
    np.testing.assert_allclose(y.get(), 2 * wanted)


def test_a_plan_and_its_stream_may_be_garbage_of_one_cycle(cupy):
    """Python finalises the objects of a cycle in any order."""
    from cupyx.scipy.sparse import csr_matrix
    A = csr_matrix(sp.csr_matrix(L))
    for _ in range(20):
        cycle = {"stream": cupy.cuda.Stream(non_blocking=True)}
        cycle["plan"] = tr.plan(A, stream=cycle["stream"])
        cycle["x"] = cycle["plan"].solve(cupy.ones(N))
        cycle["self"] = cycle
        del cycle
    gc.collect()
    np.testing.assert_allclose(L @ tr.plan(A).solve(cupy.ones(N)).get(), 1)


def test_a_graph_takes_new_values(cupy):
    from cupyx.scipy.sparse import csr_matrix
    A = csr_matrix(sp.csr_matrix(L))
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        b, x = cupy.ones(N), cupy.empty(N)
        p = tr.plan(A, stream=stream, launch_updates=True)
        stream.synchronize()
        stream.begin_capture()
        p.update(A.data)
        p.solve(b, out=x)
        graph = stream.end_capture()
        for factor in 2.0, 4.0:
            A.data *= 2
            graph.launch(stream)
            p.wait()
            np.testing.assert_allclose(factor * (L @ x.get()), b.get(), rtol=1e-10)
        A.data[A.indptr[8] - 1] = 0
        graph.launch(stream)
        with pytest.raises(tr.SingularMatrixError) as error:
            p.wait()
        assert error.value.row == 7 and bool(cupy.isnan(x[7]))
    with pytest.raises(tr.UnsupportedError, match="launch_updates"):
        tr.plan(L, device="cuda", launch_updates=True)


@pytest.mark.parametrize("kind", ["ilu0", "ic0"])
@pytest.mark.parametrize("order", ["natural", "rcm"])
def test_refactor_where_the_values_are(cupy, kind, order):
    from cupyx.scipy.sparse import csr_matrix
    make = getattr(tr, kind)
    A = sp.csr_array(tr.generate("poisson2d5:47,31"))
    other = sp.csr_array(A + sp.diags(np.linspace(0.5, 1, A.shape[0])))
    F, new = make(A, order=order), make(other, order=order)
    plan, b = F.plan(device="cuda"), np.ones(A.shape[0])
    x = new.solve(b)
    there = csr_matrix(sp.csr_matrix(other))
    for again in (there, there, cupy.asarray(other.data), other):
        F.refactor(A)
        assert F.refactor(again) is F
        np.testing.assert_allclose(plan.solve(cupy.asarray(b)).get(), x, rtol=1e-10)
        if again is not other:
            np.testing.assert_allclose(F.plan().solve(cupy.asarray(b)).get(), x, rtol=1e-10)
            with pytest.raises(tr.UnsupportedError, match="device memory"):
                F.condition()
    assert (F.L != new.L).nnz == 0 and (F.U != new.U).nnz == 0
    with pytest.raises(TypeError, match="pass the matrix"):
        make(A).refactor(cupy.asarray(other.data))
    bad = cupy.asarray(other.data)
    bad[int(other.indptr[7]):int(other.indptr[8])] = 0
    with pytest.raises(tr.SingularMatrixError) as caught:
        F.refactor(bad)
    assert caught.value.row is not None
    with pytest.raises(tr.SingularMatrixError, match="until it succeeds"):
        plan.solve(cupy.asarray(b))
    F.refactor(cupy.asarray(other.data))
    np.testing.assert_allclose(plan.solve(cupy.asarray(b)).get(), x, rtol=1e-10)


def test_refactor_of_values_of_torch():
    torch = pytest.importorskip("torch", reason="no torch")
    if not torch.cuda.is_available():
        pytest.skip("torch has no GPU")
    A = sp.csr_array(tr.generate("poisson2d5:47,31"))
    F, values = tr.ilu0(A), torch.as_tensor(2 * A.data, device="cuda")
    plan, b = F.plan(device="cuda"), torch.ones(A.shape[0], dtype=torch.float64, device="cuda")
    F.refactor(torch.sparse_csr_tensor(torch.as_tensor(A.indptr, device="cuda"),
                                       torch.as_tensor(A.indices, device="cuda"), values, A.shape))
    F.refactor(values)
    np.testing.assert_allclose(2 * plan.solve(b).cpu().numpy(), tr.ilu0(A).solve(np.ones(A.shape[0])),
                               rtol=1e-10)


def test_torch_on_the_gpu():
    torch = pytest.importorskip("torch", reason="no torch")
    if not torch.cuda.is_available():
        pytest.skip("torch sees no GPU")
    A = torch.sparse_csr_tensor(torch.as_tensor(L.indptr.astype(np.int64)),
                                torch.as_tensor(L.indices.astype(np.int64)),
                                torch.as_tensor(L.data), L.shape).cuda().requires_grad_()
    b = torch.ones(N, dtype=torch.float64, device="cuda", requires_grad=True)
    x = tr.torch.solve(A, b)
    assert x.is_cuda
    x.sum().backward()
    np.testing.assert_allclose(L @ x.detach().cpu().numpy(), 1)
    np.testing.assert_allclose(L.T @ b.grad.cpu().numpy(), 1)
    with tr.plan(A.detach()) as p:
        out = torch.empty(N, dtype=torch.float64, device="cuda")
        p.solve(b.detach(), out=out)
        torch.testing.assert_close(out, x.detach())  # of another plan: other bits


def test_a_forked_child_raises():
    from test_processes import in_child
    p = tr.plan(L, device="cuda")
    p.solve(np.ones(N))
    assert "fork" in in_child(lambda: p.solve(np.ones(N)))
