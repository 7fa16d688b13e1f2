"""Sparse triangular solves that torch can differentiate.

    x = trireme.torch.solve(L, b)

The gradient of b is L^-H g, that of L's values -(L^-H g) x^H on the pattern of L.
torch.func, vmap and torch.compile cannot look inside.
"""

from typing import Any, Dict, Optional

import torch

from ._plan import Plan
from ._words import Device, Method, Store, Trans, named, side

_FLIP = {"lower": "upper", "upper": "lower"}


def _indices(L: Any) -> Any:
    """Row and column of each entry of a compressed sparse tensor."""
    if L.layout == torch.sparse_csr:
        ptr, idx = L.crow_indices(), L.col_indices()
    else:
        ptr, idx = L.ccol_indices(), L.row_indices()
    count = ptr[1:] - ptr[:-1]
    vector = torch.repeat_interleave(torch.arange(len(count), device=ptr.device), count)
    return (vector, idx) if L.layout == torch.sparse_csr else (idx, vector)


def _with_values(pattern: Any, values: Any) -> Any:
    make = torch.sparse_csr_tensor if pattern.layout == torch.sparse_csr else \
        torch.sparse_csc_tensor
    first, second = (pattern.crow_indices, pattern.col_indices) \
        if pattern.layout == torch.sparse_csr else (pattern.ccol_indices, pattern.row_indices)
    return make(first(), second(), values, pattern.shape)


def _run(L: Any, b: Any, options: Dict[str, Any]) -> Any:
    with Plan(L, **options) as plan:
        x = plan.solve(b)
        if b.is_cuda:
            plan.wait()
        return x


def _gradient_of_values(L: Any, x: Any, g: Any, options: Dict[str, Any]) -> Any:
    """-g x^H on the pattern of op(L), brought back to L's."""
    row, column = _indices(L)
    turned = options["trans"] == "H"
    products = g[column] * x[row].conj() if turned else g[row] * x[column].conj()
    values = -(products if products.dim() == 1 else products.sum(1))
    if turned:
        values = values.conj()
    return values.masked_fill(row == column, 0) if options["unit_diagonal"] else values


class _Solve(torch.autograd.Function):  # type: ignore[misc,unused-ignore]
    """values are L's, a tensor of their own, so that torch follows them."""

    @staticmethod
    def forward(ctx: Any, values: Any, b: Any, pattern: Any, options: Dict[str, Any]) -> Any:
        x = _run(_with_values(pattern, values.detach()), b.detach(), options)
        ctx.pattern, ctx.options = pattern, options
        ctx.save_for_backward(values, x)
        return x

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        values, x = ctx.saved_tensors
        if ctx.options["trans"] == "T":
            raise NotImplementedError("gradients are for trans=\"N\" and \"H\"")
        adjoint = dict(ctx.options, trans="H" if ctx.options["trans"] == "N" else "N")
        # By _Solve itself, so that the gradient can be differentiated too.
        g = _Solve.apply(values, gradient.resolve_conj().contiguous(), ctx.pattern, adjoint)
        wanted, _, _, _ = ctx.needs_input_grad
        of_values = _gradient_of_values(ctx.pattern, x, g, ctx.options) if wanted else None
        return of_values, g if ctx.needs_input_grad[1] else None, None, None


def _check_tensor(L: Any, name: str) -> None:
    if not isinstance(L, torch.Tensor):
        raise TypeError(f"{name} is {named(L)}: a sparse CSR or CSC tensor of torch is wanted, made "
                        "by torch.sparse_csr_tensor(A.indptr, A.indices, A.data, A.shape)")
    if L.layout not in (torch.sparse_csr, torch.sparse_csc):
        raise TypeError(f"{name} is a tensor of layout {L.layout}: make it L.to_sparse_csr()")


def _check_dense(x: Any, name: str) -> None:
    if not isinstance(x, torch.Tensor) or x.is_sparse or x.is_sparse_csr:
        raise TypeError(f"{name} is {named(x)}: a dense tensor of torch is wanted")


def solve_values(pattern: Any, values: Any, b: Any, lower: bool = True, trans: Trans = "N",
                 unit_diagonal: bool = False, *, device: Device = "auto",
                 threads: Optional[int] = None, method: Optional[Method] = None, nrhs: int = 1,
                 solves: int = 1, store: Store = "same", tune: bool = False) -> torch.Tensor:
    """As `solve`, of the matrix with the pattern of one tensor and the values of another."""
    _check_tensor(pattern, "pattern")
    _check_dense(values, "values")
    _check_dense(b, "b")
    options: Dict[str, Any] = dict(
        uplo=side(None, lower), trans=trans, unit_diagonal=unit_diagonal,
        device=device, threads=threads, method=method, nrhs=nrhs, solves=solves, store=store,
        tune=tune)
    return _Solve.apply(values, b, pattern.detach(), options)


def solve(L: Any, b: Any, lower: bool = True, trans: Trans = "N", unit_diagonal: bool = False, *,
          device: Device = "auto", threads: Optional[int] = None, method: Optional[Method] = None,
          nrhs: int = 1, solves: int = 1, store: Store = "same",
          tune: bool = False) -> torch.Tensor:
    """Solve ``op(L) x = b`` so that torch can differentiate it by L's values and by b.

    Parameters
    ----------
    L : (n, n) sparse CSR or CSC tensor
        Triangular.
    b : (n,) or (n, k) tensor
        Of L's type, on L's device.
    lower, unit_diagonal : bool, optional
        Which triangle, and whether its diagonal is taken for ones.
    trans : {"N", "H", "T"}, optional
        "T" has no gradient.
    device, threads, method, nrhs, solves, store, tune : optional
        As `trireme.plan` takes them; solves is 1.

    Returns
    -------
    x : tensor of b's shape
    """
    _check_tensor(L, "L")
    return solve_values(L, _Values.apply(L) if L.requires_grad else L.values(), b, lower, trans,
                        unit_diagonal, device=device, threads=threads, method=method, nrhs=nrhs,
                        solves=solves, store=store, tune=tune)


class _Values(torch.autograd.Function):  # type: ignore[misc,unused-ignore]
    """The values of a sparse tensor, whose gradient is a sparse tensor of the same pattern."""

    @staticmethod
    def forward(ctx: Any, L: Any) -> Any:
        ctx.pattern = L.detach()
        return L.detach().values().clone()

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        return _with_values(ctx.pattern, gradient)
