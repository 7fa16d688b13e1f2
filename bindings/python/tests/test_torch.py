"""Tensors of torch on the CPU, gradients."""

import numpy as np
import pytest
from conftest import make_triangle

import trireme as tr

torch = pytest.importorskip("torch", reason="no torch")


def tensor(A):
    return torch.sparse_csr_tensor(torch.as_tensor(A.indptr.astype(np.int64)),
                                   torch.as_tensor(A.indices.astype(np.int64)),
                                   torch.as_tensor(A.data), A.shape)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
def test_tensors_in_tensors_out(dtype):
    A = make_triangle(30, dtype=dtype)
    b = torch.ones(30, 2, dtype=getattr(torch, dtype))
    with tr.plan(tensor(A)) as p:
        x = p.solve(b)
        assert isinstance(x, torch.Tensor)
        np.testing.assert_allclose(A @ x.numpy(), b.numpy(), rtol=1e-5)
        out = torch.zeros_like(b)
        assert p.solve(b, out=out) is out
        np.testing.assert_array_equal(out, x)
    np.testing.assert_array_equal(tr.spsolve_triangular(tensor(A), b), x)
    with pytest.raises(TypeError, match="gradient"):
        tr.plan(A).solve(b.clone().requires_grad_())


@pytest.mark.parametrize("trans", ["N", "H"])
@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("unit", [True, False])
@pytest.mark.parametrize("shape", [(6,), (6, 2)])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_gradients(trans, lower, unit, shape, dtype):
    A = make_triangle(6, "lower" if lower else "upper", dtype, density=0.5)
    pattern = tensor(A)
    kind = getattr(torch, dtype)
    b = torch.randn(shape, dtype=kind, generator=torch.Generator().manual_seed(1))

    def solve(values, b):
        from trireme.torch import solve_values
        return solve_values(pattern, values, b, lower=lower, trans=trans, unit_diagonal=unit)
    values = torch.as_tensor(A.data).clone().requires_grad_()
    assert torch.autograd.gradcheck(solve, (values, b.requires_grad_()))


@pytest.mark.parametrize("trans", ["N", "H"])
@pytest.mark.parametrize("unit", [True, False])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_second_derivatives(trans, unit, dtype):
    A = make_triangle(5, dtype=dtype, density=0.5)
    pattern = tensor(A)
    b = torch.randn(5, 2, dtype=getattr(torch, dtype), generator=torch.Generator().manual_seed(1))

    def solve(values, b):
        return tr.torch.solve_values(pattern, values, b, trans=trans, unit_diagonal=unit)
    values = torch.as_tensor(A.data).clone().requires_grad_()
    assert torch.autograd.gradgradcheck(solve, (values, b.requires_grad_()))


def test_other_arguments_are_named():
    A = make_triangle(6, density=0.5)
    b = torch.ones(6, dtype=torch.float64)
    for call in (lambda: tr.torch.solve(A, b),
                 lambda: tr.torch.solve_values(A, torch.as_tensor(A.data), b)):
        with pytest.raises(TypeError, match="csr_array.*sparse_csr_tensor"):
            call()
    with pytest.raises(TypeError, match="to_sparse_csr"):
        tr.torch.solve(tensor(A).to_sparse_coo(), b)
    with pytest.raises(TypeError, match="b is an ndarray"):
        tr.torch.solve(tensor(A), b.numpy())


def test_limits_are_those_of_the_page():
    """docs/python.md names these errors, and the way round torch.compile."""
    L, b = tensor(make_triangle(6, density=0.5)), torch.ones(6, dtype=torch.float64)
    with pytest.raises(RuntimeError, match="setup_context"):
        torch.func.vmap(lambda b: tr.torch.solve(L, b))(torch.stack([b, b]))
    if hasattr(torch, "compiler"):
        outside = torch.compiler.disable(tr.torch.solve)
        x = torch.compile(lambda b: 2 * outside(L, b), backend="eager")(b)
        torch.testing.assert_close(x, 2 * tr.torch.solve(L, b))


def test_gradient_of_a_sparse_tensor():
    A = make_triangle(6, density=0.5)
    L = tensor(A).requires_grad_()
    b = torch.ones(6, dtype=torch.float64, requires_grad=True)
    x = tr.torch.solve(L, b)
    x.sum().backward()
    g = np.linalg.solve(A.toarray().T, np.ones(6))
    np.testing.assert_allclose(b.grad, g)
    full = -np.outer(g, x.detach().numpy())
    got = L.grad.to_dense().numpy()
    np.testing.assert_allclose(got, full * (A.toarray() != 0))
