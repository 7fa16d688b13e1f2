"""Tensors of torch on the CPU, gradients."""

import numpy as np
import pytest
from conftest import make_triangle

import trireme as tr

torch = pytest.importorskip("torch", "2.4", reason="no torch 2.4 or newer")


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


@pytest.mark.parametrize("trans", ["N", "T", "H"])
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


@pytest.mark.parametrize("trans", ["N", "T", "H"])
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
    with pytest.raises(ValueError, match=r"b has shape \(5,\)"):
        tr.torch.solve(tensor(A), b[1:])
    with pytest.raises(TypeError, match=r"float16.*values.float\(\)"):
        tr.torch.solve_values(tensor(A), torch.as_tensor(A.data).half(), b.half())
    values, b = torch.as_tensor(A.data).half(), b.half()
    assert tr.torch.solve_values(tensor(A), values.float(), b.float()).dtype == torch.float32


def system(n=6):
    """A pattern, its values and a right-hand side."""
    A = make_triangle(n, density=0.5)
    return tr.torch.pattern(tensor(A)), torch.as_tensor(A.data).clone(), \
        torch.linspace(1, 2, n, dtype=torch.float64)


@pytest.mark.parametrize("trans", ["N", "T"])
@pytest.mark.parametrize("columns", [(), (2,)])
def test_vmap(trans, columns):
    P, values, b = system()
    b = torch.stack([b] * 2, 1) if columns else b
    many, right = torch.stack([values, 2 * values, 3 * values]), torch.stack([b, 2 * b, 4 * b])

    def solve(values, b):
        return tr.torch.solve_values(P, values, b, trans=trans)
    x = solve(values, b)
    vmap = torch.func.vmap
    for got, factors in ((vmap(solve)(many, right), (1, 1, 4 / 3)),
                         (vmap(solve, (None, 0))(values, right), (1, 2, 4)),
                         (vmap(solve, (0, None))(many, b), (1, 1 / 2, 1 / 3)),
                         (vmap(solve, (1, -1))(many.T, right.movedim(0, -1)), (1, 1, 4 / 3))):
        torch.testing.assert_close(got, torch.stack([f * x for f in factors]))
    twice = vmap(vmap(solve, (None, 0)), (0, None))(many, right)
    torch.testing.assert_close(twice[2, 1], 2 / 3 * x)
    slopes = vmap(torch.func.grad(lambda v, b: solve(v, b).sum(), (0, 1)))(many, right)
    for k in range(3):
        v, r = many[k].clone().requires_grad_(), right[k].clone().requires_grad_()
        solve(v, r).sum().backward()
        torch.testing.assert_close(slopes[0][k], v.grad)
        torch.testing.assert_close(slopes[1][k], r.grad)


def test_transforms_of_torch_func():
    P, values, b = system()

    def loss(values, b):
        return (tr.torch.solve_values(P, values, b)**2).sum()
    v = values.clone().requires_grad_()
    loss(v, b).backward()
    torch.testing.assert_close(torch.func.grad(loss)(values, b), v.grad)
    second = torch.func.jacrev(torch.func.jacrev(loss))(values, b)
    torch.testing.assert_close(
        second, torch.autograd.functional.hessian(lambda v: loss(v, b), values))


def test_compile():
    P, values, b = system()

    def loss(values, b):
        return (2 * tr.torch.solve_values(P, values, b)).sum()
    compiled = torch.compile(loss, fullgraph=True, backend="aot_eager")
    v = values.clone().requires_grad_()
    x = compiled(v, b)
    x.backward()
    torch.testing.assert_close(x.detach(), loss(values, b))
    torch.testing.assert_close(v.grad, torch.func.grad(loss)(values, b))


def test_limits_are_those_of_the_page():
    """docs/python.md names these errors, and the ways round them."""
    P, values, b = system()
    with pytest.raises(NotImplementedError, match="jvp"):
        torch.func.jvp(lambda b: tr.torch.solve_values(P, values, b), (b,), (b,))
    L = tensor(make_triangle(6, density=0.5))
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
