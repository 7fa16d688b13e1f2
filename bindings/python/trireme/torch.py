"""Sparse triangular solves that torch can differentiate, compile and map.

    x = trireme.torch.solve(L, b)
    P = trireme.torch.pattern(L)                       # outside torch.compile and torch.func
    x = trireme.torch.solve_values(P, values, b)       # inside

The gradient of b is L^-H g, that of L's values -(L^-H g) x^H on the pattern of L.
torch.compile sees one custom operator, and one autograd function has its rules: values (S, nnz) and b (S, n, k) are S systems with k
right-hand sides.  vmap over b alone makes columns of one system, vmap over values makes systems of a
batch.  The gradient is made of the operator itself, so that every order exists.
"""

from typing import Any, Dict, Optional, Tuple

import torch

from ._arrays import dense
from ._batch import Batch
from ._matrix import Compressed
from ._plan import Plan
from ._words import Device, Method, Store, Trans, device_name, named, side

_torch: Any = torch


class Pattern:
    """Where the entries of a sparse CSR or CSC tensor are; `pattern` makes it."""

    def __init__(self, L: Any) -> None:
        _check_tensor(L, "L")
        self.format = "csr" if L.layout == torch.sparse_csr else "csc"
        self.n = int(L.shape[0])
        self.ptr, self.idx = (L.crow_indices(), L.col_indices()) if self.format == "csr" else \
            (L.ccol_indices(), L.row_indices())


def pattern(L: Any) -> Pattern:
    """The pattern of a sparse tensor for `solve_values` inside torch.compile.

    torch.compile and torch.func refuse sparse tensors; of this object they see dense ones.
    """
    return Pattern(L)


def _entries(form: str, ptr: Any, idx: Any) -> Tuple[Any, Any]:
    """Row and column of each entry."""
    count = ptr[1:] - ptr[:-1]
    vector = torch.repeat_interleave(torch.arange(len(count), device=ptr.device), count,
                                     output_size=len(idx))
    return (vector, idx) if form == "csr" else (idx, vector)


def _forward(ptr: torch.Tensor, idx: torch.Tensor, values: torch.Tensor, b: torch.Tensor, trans: str,
           form: str, uplo: str, unit_diagonal: bool, device: str, threads: Optional[int],
           method: Optional[str], nrhs: int, solves: int, store: str, tune: bool) -> torch.Tensor:
    """values (S, nnz), b (S, n, k): op(L)^-1 b in each system."""
    given: Dict[str, Any] = dict(uplo=uplo, trans=trans, unit_diagonal=unit_diagonal, device=device,
                                 threads=threads, method=method, nrhs=nrhs, solves=solves,
                                 store=store, tune=tune)
    n = b.shape[1]
    values, b = (a.detach().resolve_conj().resolve_neg().contiguous() for a in (values, b))
    if 0 in b.shape:
        return torch.empty_like(b)
    parts = [Compressed(form, (n, n), dense(ptr), dense(idx), dense(own)) for own in values]
    if len(parts) > 1 and _batches(given) and (given["device"] == "auto" or not b.is_cuda):
        batch = Batch(_Host(parts[0]), len(parts), given["uplo"], given["trans"],
                      unit_diagonal=given["unit_diagonal"], nrhs=b.shape[2],
                      device=b.device if b.is_cuda else given["device"],
                      threads=None if b.is_cuda else given["threads"])
        batch.update(values)
        x: torch.Tensor = batch.solve(b)
        return x
    return torch.stack([_run(own, right, given) for own, right in zip(parts, b)])


class _Host:
    """A matrix as Batch takes it."""

    def __init__(self, parts: Compressed) -> None:
        self.format, self.shape = parts.format, parts.shape
        self.indptr, self.indices, self.data = (
            a.array if a.device is None else a.array.cpu().numpy() for a in (parts.ptr, parts.idx, parts.val))


def _batches(options: Dict[str, Any]) -> bool:
    return options["device"] in ("auto", "cpu", "serial") and options["method"] is None


def _run(parts: Compressed, b: Any, options: Dict[str, Any]) -> Any:
    with Plan(parts, **options) as plan:
        x = plan.solve(b)
        if b.is_cuda:
            plan.wait()
        return x


_operator: Any = _torch.library.custom_op("trireme::solve", _forward, mutates_args=())
_operator.register_fake(lambda ptr, idx, values, b, *options:
                        torch.empty(b.shape, dtype=b.dtype, device=b.device))


_ADJOINT = {"N": "H", "H": "N", "T": "N"}


class _Solve(torch.autograd.Function):  # type: ignore[misc,unused-ignore]
    """The operator with its rules, which torch.func takes from here alone.

    It has no jvp: torch.compile refuses functions that have one.
    """

    @staticmethod
    def forward(ptr: Any, idx: Any, values: Any, b: Any, trans: str, *options: Any) -> Any:
        return _torch.ops.trireme.solve(ptr, idx, values, b, trans, *options)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ptr, idx, values, _, ctx.trans, *ctx.options = inputs
        ctx.save_for_backward(ptr, idx, values, output)

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        """-g x^H on the pattern of op(L), brought back to L's."""
        ptr, idx, values, x = ctx.saved_tensors
        trans = ctx.trans
        form, _, unit_diagonal = ctx.options[:3]
        right = gradient.conj() if trans == "T" else gradient  # conj(L)^-1 g = conj(L^-1 conj(g))
        # torch.compile traces no function inside a rule before torch 2.12, and has no second
        # derivatives, for which the function is here.
        solve = torch.ops.trireme.solve if torch.compiler.is_compiling() else _Solve.apply
        g = solve(ptr, idx, values, right, _ADJOINT[trans], *ctx.options)
        g = g.conj() if trans == "T" else g
        of_values = None
        if ctx.needs_input_grad[2]:
            row, column = _entries(form, ptr, idx)
            if trans != "N":
                row, column = column, row
            of_values = -(g[:, row] * x[:, column].conj()).sum(2)
            of_values = of_values.conj() if trans == "H" else of_values
            if unit_diagonal:
                of_values = of_values.masked_fill(row == column, 0)
        of_options = [None] * (1 + len(ctx.options))
        return (None, None, of_values, g if ctx.needs_input_grad[3] else None, *of_options)

    @staticmethod
    def vmap(info: Any, dims: Any, ptr: Any, idx: Any, values: Any, b: Any, *options: Any) -> Any:
        if dims[0] is not None or dims[1] is not None:
            raise NotImplementedError("vmap over patterns: call trireme.torch.solve in a loop")
        if dims[2] is None:  # more columns
            b = b.movedim(dims[3], -1)
            return _Solve.apply(ptr, idx, values, b.flatten(2), *options).reshape(b.shape), 3
        values = values.movedim(dims[2], 0)
        b = b.expand(len(values), *b.shape) if dims[3] is None else b.movedim(dims[3], 0)
        x = _Solve.apply(ptr, idx, values.flatten(0, 1), b.flatten(0, 1), *options)
        return x.reshape(b.shape), 0


def _with_values(pattern: Any, values: Any) -> Any:
    make = torch.sparse_csr_tensor if pattern.layout == torch.sparse_csr else \
        torch.sparse_csc_tensor
    first, second = (pattern.crow_indices, pattern.col_indices) \
        if pattern.layout == torch.sparse_csr else (pattern.ccol_indices, pattern.row_indices)
    return make(first(), second(), values, pattern.shape)


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
    """As `solve`, of the matrix with the pattern of one tensor and the values of another.

    Inside torch.compile and torch.func give `trireme.torch.pattern(L)`, made outside, as the pattern.
    """
    own = pattern if isinstance(pattern, Pattern) else Pattern(pattern)
    _check_dense(values, "values")
    _check_dense(b, "b")
    if b.dim() not in (1, 2) or b.shape[0] != own.n:
        raise ValueError(f"b has shape {tuple(b.shape)}: ({own.n},) or ({own.n}, k) is wanted, with "
                         "the rows of the matrix")
    dtype = torch.promote_types(values.dtype, b.dtype)
    if dtype not in (torch.float32, torch.float64, torch.complex64, torch.complex128):
        raise TypeError(f"values are {values.dtype} and b is {b.dtype}: pass values.float() and "
                        "b.float(), or another of float32, float64, complex64 and complex128")
    columns = (b if b.dim() == 2 else b[:, None]).to(dtype)
    x = _Solve.apply(own.ptr, own.idx, values.to(dtype)[None], columns[None], trans, own.format,
                     side(None, lower), unit_diagonal, device_name(device), threads, method, nrhs,
                     solves, store, tune)[0]
    return x if b.dim() == 2 else x[:, 0]


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
        Solve with L, its conjugate transpose or its transpose.
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
