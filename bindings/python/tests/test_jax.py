"""JAX: arrays in and out, and trireme.jax inside jit, grad and vmap.

test_jax_gpu.py has what needs a GPU.  Here the custom call of GPUs is called in a stand-in for XLA.
"""

import ctypes as C
import gc
import os
import re
import shlex
import shutil
import subprocess
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import (assert_a_program_keeps_its_plans_and_no_longer, in_threads, jax_program,
                      make_triangle, run_python, tolerance, without_row)

import trireme as tr

# Two devices of the CPU stand in for a CPU and a GPU.
os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + \
    " --xla_force_host_platform_device_count=2"
jax = pytest.importorskip("jax", reason="no jax")
from trireme import _arrays, _jax_ffi  # noqa: E402
from trireme._library import library  # noqa: E402

jnp = jax.numpy
jax.config.update("jax_enable_x64", True)
HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = os.path.join(HERE, "..", "..", "..", "examples")
HANDLER = os.path.join(HERE, "..", "..", "jax")
needs_handler = pytest.mark.skipif(not tr.jax.features("cpu").startswith("ffi"),
                                   reason=tr.jax.features("cpu"))


def test_arrays_in_arrays_out():
    A = make_triangle(30, dtype="float32")
    b = jnp.ones(30, dtype="float32")
    x = tr.spsolve_triangular(A, b)
    assert isinstance(x, jax.Array) and x.devices() == b.devices()
    np.testing.assert_allclose(A @ np.asarray(x), 1, rtol=1e-5)
    on_host = jax.device_put(b, jax.devices("cpu")[0])
    with pytest.raises(ValueError, match="written"):
        tr.plan(A).solve(on_host, out=on_host)


def test_the_solution_lies_where_b_lies(monkeypatch):
    """As on a GPU: b goes through host memory."""
    A, place = make_triangle(30), jax.devices("cpu")[-1]
    b = jax.device_put(jnp.ones((30, 2)), place)
    for pretend in False, True:
        if pretend:
            device_of = _arrays._device_of
            monkeypatch.setattr(_arrays, "_device_of",
                                lambda x, kind: 0 if kind == "jax" else device_of(x, kind))
            monkeypatch.setattr(_arrays, "_on_device", lambda x, kind, device: _arrays.Dense(
                x, kind, 0, x.shape, (16, 8), x.dtype, False, device))
        for x in tr.spsolve_triangular(A, b), tr.plan(A).solve(b), tr.ilu0(A @ A.T).solve(b):
            assert x.devices() == {place}
        np.testing.assert_allclose(A @ np.asarray(tr.plan(A).solve(b)), 1, rtol=1e-12)


def test_traced_arrays_are_refused_and_the_remedy_works():
    A = make_triangle(30, dtype="float32")
    p, b = tr.plan(A), jnp.ones(30, dtype="float32")
    for call in (lambda: jax.jit(p.solve)(b), lambda: jax.grad(lambda b: p.solve(b).sum())(b),
                 lambda: jax.vmap(p.solve)(jnp.stack([b, b])),
                 lambda: jax.jit(lambda b: tr.spsolve_triangular(A, b))(b)):
        with pytest.raises(TypeError, match="traced by jax.jit.*use trireme.jax.solve"):
            call()
    x = jax.jit(lambda b: tr.jax.solve(p, A.data, b))(b)
    np.testing.assert_allclose(x, p.solve(b), rtol=1e-6)


def op(A, values, trans, unit=False):
    full = type(A)((np.asarray(values), A.indices, A.indptr), A.shape).toarray()
    if unit:
        np.fill_diagonal(full, 1)
    return {"N": full, "T": full.T, "H": full.conj().T}[trans]


@pytest.mark.parametrize("trans", ["N", "T", "H"])
@pytest.mark.parametrize("uplo", ["lower", "upper"])
@pytest.mark.parametrize("form", ["csr", "csc"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_solves_in_programs(dtype, form, uplo, trans):
    A = make_triangle(40, uplo, dtype, form)
    for unit in False, True:
        L = tr.jax.pattern(A, uplo, unit_diagonal=unit)
        for shape in (40,), (40, 3):
            b = np.random.default_rng(1).standard_normal(shape).astype(dtype)
            x = jax.jit(lambda v, b: tr.jax.solve(L, v, b, trans))(A.data, b)
            assert x.dtype == dtype and x.shape == shape
            full = op(A, A.data, trans, unit)
            np.testing.assert_allclose(x, np.linalg.solve(full, b), atol=tolerance(dtype))


def test_sizes_of_one_and_none():
    A = make_triangle(20)
    L = tr.jax.pattern(A)
    for shape in (20, 1), (20, 0):
        assert tr.jax.solve(L, A.data, np.ones(shape)).shape == shape
    none = tr.jax.pattern(make_triangle(1)[:0, :0])
    assert tr.jax.solve(none, np.ones(0), np.ones(0)).shape == (0,)


def test_types_are_promoted():
    A = make_triangle(20)
    L = tr.jax.pattern(A)
    b = np.random.default_rng(2).standard_normal((20, 2))
    for values, right, wanted in (
            (A.data.astype("f4"), b, "float64"), (A.data, b + 1j * b[::-1], "complex128"),
            (A.data.astype("f4"), (b + 1j).astype("c8"), "complex64"),
            (A.data + 0j, b, "complex128"), (A.data, np.arange(40).reshape(20, 2), "float64"),
            (np.ones(A.nnz, int), np.ones(20, int), "float64")):
        x = jax.jit(lambda v, b: tr.jax.solve(L, v, b))(values, right)
        assert x.dtype == wanted
        limit = 1e-4 if "f4" in str(values.dtype.str) else 1e-11
        residual = op(A, values, "N") @ np.asarray(x) - right
        assert abs(residual).max() <= limit * max(1, abs(right).max())
    with pytest.raises(TypeError, match="float16.*astype"):
        tr.jax.solve(L, A.data.astype("f2"), np.ones(20, "f2"))
    values, b = A.data.astype("f2"), np.ones(20, "f2")
    x = tr.jax.solve(L, values.astype("float32"), b.astype("float32"))
    assert x.dtype == "float32"


def differences(f, arguments, ways, h=1e-6):
    """The derivative of f along the ways, by central differences."""
    up, down = ([a + s * h * w for a, w in zip(arguments, ways)] for s in (1, -1))
    return (f(*up) - f(*down)) / (2 * h)


@pytest.mark.parametrize("trans", ["N", "T", "H"])
@pytest.mark.parametrize("uplo", ["lower", "upper"])
@pytest.mark.parametrize("unit,take", [(False, False), (True, False), (True, True)])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_derivatives(dtype, unit, take, uplo, trans):
    """Forward, reverse and second derivatives beside central differences."""
    rng = np.random.default_rng(3)
    A = make_triangle(7, uplo, dtype, density=0.6)
    A = (A + 0.1 * A.T).tocsr() if take else A
    L = tr.jax.pattern(A, uplo, unit_diagonal=unit, take_triangle=take)

    def some(shape):
        made = rng.standard_normal(shape)
        return jnp.asarray(made + 1j * rng.standard_normal(shape) if dtype[0] == "c" else made)
    for shape in (7,), (7, 3):
        weight, values = some(shape), jnp.asarray(A.data)
        given, ways = (values, some(shape)), (some(A.nnz), some(shape))

        @jax.jit
        def f(values, b):
            return jnp.sum(weight * tr.jax.solve(L, values, b, trans)**2)

        def along(values, b):
            return jax.jvp(f, (values, b), ways)[1]
        first = differences(f, given, ways)
        np.testing.assert_allclose(along(*given), first, rtol=1e-6)
        # JAX's gradient of a real function; of a complex one, its parts.
        for part in (jnp.real, jnp.imag) if dtype[0] == "c" else (jnp.real,):
            slopes = jax.grad(lambda *a: part(f(*a)), (0, 1))(*given)
            got = sum(jnp.real(jnp.sum(s * w)) for s, w in zip(slopes, ways))
            np.testing.assert_allclose(got, part(first), rtol=1e-6)
        if len(shape) == 1:
            continue
        np.testing.assert_allclose(jax.jit(lambda *a: jax.jvp(along, a, ways)[1])(*given),
                                   differences(along, given, ways), rtol=1e-5)
        if dtype[0] != "c":  # reverse over reverse
            def slope(*a):
                return sum(jnp.sum(s * w) for s, w in
                           zip(jax.grad(f, (0, 1))(*a), ways))
            second = jax.jit(jax.grad(slope, (0, 1)))(*given)
            np.testing.assert_allclose(sum(jnp.sum(s * w) for s, w in zip(second, ways)),
                                       differences(slope, given, ways), rtol=1e-5)


@pytest.mark.parametrize("trans", ["N", "T"])
@pytest.mark.parametrize("shape", [(15,), (15, 2)])
def test_vmap(shape, trans):
    rng = np.random.default_rng(4)
    A = make_triangle(15)
    L = tr.jax.pattern(A)
    values = jnp.asarray(A.data * rng.uniform(1, 2, (6, A.nnz)))
    b = jnp.asarray(rng.standard_normal((6, *shape)))

    def solve(v, b):
        return tr.jax.solve(L, v, b, trans)
    for axes, given in (((0, 0), (values, b)), ((0, None), (values, b[0])),
                        ((None, 0), (values[0], b)), ((1, -1), (values.T, jnp.moveaxis(b, 0, -1)))):
        x = jax.jit(jax.vmap(solve, axes))(*given)
        for k in range(6):
            own = values[k] if axes[0] is not None else values[0]
            right = b[k] if axes[1] is not None else b[0]
            np.testing.assert_allclose(op(A, own, trans) @ x[k], right, atol=1e-12)
    # Twice, and with a gradient inside and outside.
    twice = jax.vmap(jax.vmap(solve, (None, 0)), (0, None))(values, b)
    assert twice.shape == (6, 6, *shape)
    np.testing.assert_allclose(op(A, values[3], trans) @ twice[3, 2], b[2], atol=1e-12)
    inside = jax.vmap(jax.grad(lambda v, b: solve(v, b).sum(), (0, 1)))(values, b)
    outside = jax.grad(lambda v, b: jax.vmap(solve)(v, b).sum(), (0, 1))(values, b)
    for one, other in zip(inside, outside):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)
    assert jax.vmap(solve)(values[:0], b[:0]).shape == (0, *shape)


# JAX raises one or the other, by where it learns of the error.
ERRORS = (RuntimeError, ValueError)


def test_a_zero_pivot_is_named_and_the_program_goes_on():
    A, b = make_triangle(20), np.ones(20)
    L, f = jax_program(A)
    good = f(A.data, b)
    for _ in range(2):
        with pytest.raises(ERRORS, match="row 7 "):
            f(without_row(A, 7), b).block_until_ready()
    np.testing.assert_array_equal(f(A.data, b), good)
    values, right = np.stack([A.data, without_row(A, 7)]), np.stack([b, b])
    with pytest.raises(ERRORS, match="row 7 of system 1"):
        jax.block_until_ready(jax.vmap(f)(values, right))

    def quiet(v, b):
        return tr.jax.solve(L, v, b, check_pivots=False)
    assert np.isnan(jax.jit(quiet)(without_row(A, 7), b)).all()
    x = jax.jit(jax.vmap(quiet))(values, right)
    assert np.isnan(x[1]).all()
    np.testing.assert_allclose(x[0], good, rtol=1e-12)


def test_calls_from_many_threads():
    A = make_triangle(500, density=0.02)
    (_, f), wrong = jax_program(A), []
    wanted = {k: np.asarray(f(A.data * k, np.ones(500))) for k in (1.0, 2.0, 3.0, 4.0)}

    def work(k):
        for _ in range(50):
            if not np.array_equal(f(A.data * k, np.ones(500)), wanted[k]):
                wrong.append(k)
    in_threads(work, wanted)
    assert not wrong


def test_a_program_keeps_its_plans_and_no_longer():
    assert_a_program_keeps_its_plans_and_no_longer(lambda a: a)


def test_patterns_of_plans_and_of_bcsr():
    A, b = make_triangle(20, "upper"), np.ones(20)
    for trans in "N", "T", "H":
        p = tr.plan(A, "upper", trans)
        np.testing.assert_allclose(tr.jax.solve(p, A.data, b), p.solve(b), rtol=1e-12)
        assert tr.jax._pattern_of(p) is tr.jax._pattern_of(p)
    sparse = pytest.importorskip("jax.experimental.sparse")
    B = sparse.BCSR.from_scipy_sparse(A)
    L = tr.jax.pattern(B, lower=False)
    np.testing.assert_allclose(tr.jax.solve(L, B.data, b), tr.plan(A, "upper").solve(b), rtol=1e-12)


def test_operators_of_plans_take_jax_arrays():
    L = make_triangle(6, density=0.9)
    x = tr.plan(L) @ jnp.ones(6)
    assert isinstance(x, jax.Array)
    np.testing.assert_allclose(x, tr.plan(L).solve(np.ones(6)), rtol=1e-12)


def test_mistakes_are_named():
    A, b = make_triangle(6, density=0.9), np.ones(6)
    L = tr.jax.pattern(A)
    assert L.shape == (6, 6) and L.nnz == A.nnz and "lower" in repr(L)
    for kind, words, call in (
            (TypeError, "pattern is a csr_array.*trireme.jax.pattern", lambda: tr.jax.solve(A, A.data, b)),
            (ValueError, "values has shape", lambda: tr.jax.solve(L, A.data[1:], b)),
            (ValueError, "b has shape", lambda: tr.jax.solve(L, A.data, b[1:])),
            (ValueError, "trans is 'X'", lambda: tr.jax.solve(L, A.data, b, "X")),
            (tr.StructureError, 'uplo="lower"', lambda: tr.jax.pattern(A, "upper")),
            (tr.UnsupportedError, "device is 'cuda:0-1': trireme.jax solves on",
             lambda: tr.jax.pattern(A, device="cuda:0-1")),
            (ValueError, "platform is 'tpu'", lambda: tr.jax.features("tpu")),
            (ValueError, "square", lambda: tr.jax.pattern(A[:3]))):
        with pytest.raises(kind, match=words):
            call()


# ---- GPUs, without one --------------------------------------------------------------------------

def test_a_gpu_that_jax_lacks(monkeypatch):
    A, b = make_triangle(6), np.ones(6)
    if not tr.jax._jax_has_gpu():
        for device in "cuda", "cuda:1":
            with pytest.raises(tr.UnsupportedError, match="JAX has no NVIDIA GPU.*leave device out"):
                tr.jax.pattern(A, device=device)
    np.testing.assert_allclose(A @ np.asarray(tr.jax.solve(tr.jax.pattern(A), A.data, b)), b)
    monkeypatch.setattr(tr.jax, "_jax_has_gpu", lambda: True)
    monkeypatch.setattr(_jax_ffi.handler(), "_lacks_gpu", "no CUDA")
    with pytest.raises(tr.UnsupportedError, match="no CUDA"):
        tr.jax.pattern(A, device="cuda")
    assert tr.jax.features("cuda").startswith("pure_callback")
    # The structure is checked outside, and programs on the CPU are refused.
    monkeypatch.setattr(_jax_ffi.handler(), "_lacks_gpu", "")
    with pytest.raises(tr.StructureError, match="above|below"):
        tr.jax.pattern(A, "upper", device="cuda")
    L, f = jax_program(A, device="cuda")
    assert not L._solvers
    with jax.default_device(jax.devices("cpu")[0]), \
            pytest.raises(tr.UnsupportedError, match="runs on the CPU: leave device out"):
        f(A.data, b)


@needs_handler
def test_programs_for_gpus_have_the_custom_call(monkeypatch):
    A, b = make_triangle(6), np.ones((3, 6))
    values = np.stack([A.data] * 3)

    def called_back(*given, **more):  # JAX lowers callbacks for its own platform alone
        raise NotImplementedError("a callback")
    monkeypatch.setattr(tr.jax, "_lower_callback", called_back)
    for device, lacks, calls in (("auto", "", True), ("auto", "no CUDA", False), ("cpu", "", False)):
        monkeypatch.setattr(_jax_ffi.handler(), "_lacks_gpu", lacks)
        L = tr.jax.pattern(A, device=device)
        for quiet in False, True:
            def solve(v, b, L=L, quiet=quiet):
                return tr.jax.solve(L, v, b, check_pivots=not quiet)
            for f, given in ((solve, (values[0], b[0])), (jax.vmap(solve), (values, b)),
                             (jax.vmap(solve, (None, 0)), (values[0], b)),
                             (jax.grad(lambda v, b: solve(v, b).sum(), (0, 1)), (values[0], b[0]))):
                traced = jax.jit(f).trace(*given)
                if calls:
                    text = traced.lower(lowering_platforms=("cuda",)).as_text()
                    assert "custom_call @trireme_solve" in text
                else:
                    with pytest.raises(NotImplementedError, match="a callback"):
                        traced.lower(lowering_platforms=("cuda",))
        text = jax.jit(solve).trace(values[0], b[0]).lower(lowering_platforms=("cpu",)).as_text()
        assert "custom_call @trireme_solve" in text


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_pivots_that_a_gpu_cannot_divide_by(dtype):
    """As the library judges them, which names them on the CPU."""
    A = make_triangle(8, dtype=dtype)
    tiny, huge = np.finfo(dtype).tiny, np.finfo(dtype).max
    L = tr.jax.pattern(A)
    for pivot in (1, 0, np.nan, np.inf, -np.inf, tiny, tiny / 64, huge, -huge, 1j, 0j, tiny * 1j,
                  tiny / 64 * 1j, huge * (1 + 1j), complex(0, np.inf), complex(1, np.nan)):
        if np.iscomplexobj(pivot) and A.dtype.kind != "c":
            continue
        values = A.copy()
        values[3, 3] = pivot
        b = np.ones((1, 8, 1), dtype)
        with np.errstate(all="ignore"):
            good = bool(L._usable(jnp.asarray(values.data[None]))[0])
        wanted = tr.jax.solve(L, values.data, b[0, :, 0], check_pivots=False)
        assert good == (not np.isnan(wanted).all()), pivot
        x = tr.jax._guarded(jnp.asarray(values.data[None]), jnp.asarray(b), L, "N")
        np.testing.assert_array_equal(x[0, :, 0], wanted if good else np.full(8, np.nan))


def test_nan_is_found_where_it_begins():
    """By jax.debug_nans, which runs programs anew."""
    A = make_triangle(16)
    L, values, b = tr.jax.pattern(A), A.data.copy(), jnp.ones(16)
    values[A.indptr[1] - 1] = 0
    f = lambda v: tr.jax.solve(L, v, b, check_pivots=False)  # noqa: E731
    with jax.debug_nans(True):
        np.testing.assert_array_equal(f(A.data), tr.jax.solve(L, A.data, b))
        for program in f, jax.jit(f), jax.grad(lambda v: f(v).sum()):
            with pytest.raises(FloatingPointError):
                program(values)
    assert np.isnan(f(values)).all()


def test_sparse_arguments_are_named():
    A = make_triangle(8)
    L = tr.jax.pattern(A)
    with pytest.raises(TypeError, match=r"values is a csr_\w+: pass an array, A.data"):
        tr.jax.solve(L, A, np.ones(8))
    with pytest.raises(TypeError, match=r"b is a csr_\w+: pass an array, b.toarray"):
        tr.jax.solve(L, A.data, A)
    assert tr.jax.features("gpu") == tr.jax.features("cuda")


@pytest.mark.skipif(not os.path.exists(HANDLER), reason="not in a checkout")
def test_factors_as_the_page_solves_with_them():
    rng = np.random.default_rng(3)
    A = sp.random(60, 60, 0.1, random_state=4, format="csr") + sp.diags(10.0**rng.uniform(-3, 3, 60))
    A, b = sp.csr_matrix(A)[rng.permutation(60)], rng.standard_normal(60)
    with open(os.path.join(HANDLER, "..", "..", "docs", "jax.md"), encoding="utf-8") as file:
        listing = re.search(r"## LU factors\n.*?```python\n(.*?)```", file.read(), re.S)[1]
    given = dict(tr=SimpleNamespace(lu=lambda _: tr.lu(A), generate=tr.generate, jax=tr.jax), jax=jax, b=b)
    exec(listing, given)
    np.testing.assert_allclose(A @ np.asarray(given["x"]), b, atol=1e-9)


def test_room_behind_the_last_entry():
    """Of BCSR with nse above its entries, and of SciPy's matrices."""
    from jax.experimental.sparse import BCSR
    A = make_triangle(25)
    data, indices = np.append(A.data, [np.nan] * 3), np.append(A.indices, [25] * 3)
    B = BCSR((jnp.asarray(data), jnp.asarray(indices), jnp.asarray(A.indptr)), shape=A.shape)
    L = tr.jax.pattern(B)
    b = jnp.ones(25)
    wanted = tr.jax.solve(L, A.data, b)
    np.testing.assert_array_equal(jax.jit(lambda v: tr.jax.solve(L, v, b))(B.data), wanted)
    of_values = jax.grad(lambda v: tr.jax.solve(L, v, b).sum())(B.data)
    assert of_values.shape == (A.nnz + 3,) and not of_values[A.nnz:].any()
    with pytest.raises(ValueError, match="one number per entry"):
        tr.jax.solve(L, data[:-1], b)


class StandIn(_jax_ffi.Handler):
    """The custom call, and XLA and a GPU's memory in the host's: jax_stand_in.c."""

    def __init__(self, path):
        self.path, self.lacks, self._lacks_gpu = path, "", ""
        lib = C.CDLL(path)
        self._declare(lib)
        lib.stand_in_told.restype = C.c_char_p
        lib.stand_in_call.restype = None
        lib.stand_in_call.argtypes = [C.c_char_p, C.c_int64, C.c_int64, C.c_int, C.c_int64,
                                      C.c_int] + [C.c_int64] * 4 + [C.c_void_p] * 3

    def told(self):
        return self._library.stand_in_told().decode().split()

    def call(self, solver, values, b, check=True, gpu=0, stream=1):
        """x and the error of a call, for arrays (count, nnz) and (count, n, k)."""
        values, b = (np.ascontiguousarray(a) for a in (values, b))
        x, text = np.empty_like(b), C.create_string_buffer(512)
        self._library.stand_in_call(text, solver if isinstance(solver, int) else solver.key, check,
                                    gpu, stream, _jax_ffi.TYPES[b.dtype], *values.shape,
                                    *b.shape[1:], x.ctypes.data, values.ctypes.data, b.ctypes.data)
        return x, text.value.decode()


def compiled(source, to, *options):
    """Of a file of the tests, against the headers of the checkout."""
    compiler = shlex.split(os.environ.get("CC") or shutil.which("cc") or "")
    if not compiler or not os.path.exists(HANDLER):
        pytest.skip("no C compiler" if os.path.exists(HANDLER) else "not in a checkout")
    subprocess.run([*compiler, "-std=c11", "-Wall", "-Werror", *options, "-o", to,
                    "-I", HANDLER, "-I", os.path.join(HANDLER, "..", "..", "include"),
                    os.path.join(HERE, source)], check=True)
    return to


@pytest.fixture(scope="module")
def compiled_stand_in(tmp_path_factory):
    path = str(tmp_path_factory.mktemp("stand_in") / "stand_in.so")
    # The library's functions are those of the one that Python has loaded.
    C.CDLL(tr._library.library._name, C.RTLD_GLOBAL)
    return StandIn(compiled("jax_stand_in.c", path, "-shared", "-fPIC", "-pthread",
                             "-Wl,-Bsymbolic"))


def test_the_layouts_are_xlas(tmp_path):
    """Of the installed jaxlib: bindings/jax/xla_ffi.h beside its c_api.h."""
    include = jax.ffi.include_dir()
    with open(os.path.join(include, "xla", "ffi", "api", "c_api.h"), encoding="utf-8") as file:
        names_gpus = ["-DORDINAL"] * ("XLA_FFI_DeviceOrdinal_Get" in file.read())
    ours, theirs = (subprocess.run([compiled("jax_layouts.c", str(tmp_path / name), *options)],
                                   capture_output=True, text=True, check=True).stdout.splitlines()
                    for name, options in (("ours", ()), ("theirs", ("-DTHEIRS", *names_gpus,
                                                                    "-isystem", include))))
    assert len(theirs) > 40 and set(theirs) <= set(ours)
    assert bool(names_gpus) == (set(theirs) == set(ours))


@pytest.fixture
def stand_in(compiled_stand_in, monkeypatch):
    monkeypatch.setattr(_jax_ffi, "_handler", compiled_stand_in)
    compiled_stand_in.told()
    yield compiled_stand_in
    gc.collect()  # what the test made, before the library of the stand-in


def gpu_solver(A, count=1, trans="N", device="auto", **options):
    L = tr.jax.pattern(A, **options)
    L._options["device"] = device
    return L._solver(trans, np.dtype(A.dtype), count, True)


@pytest.mark.parametrize("trans", ["N", "T"])
@pytest.mark.parametrize("uplo", ["lower", "upper"])
@pytest.mark.parametrize("form", ["csr", "csc"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_calls_on_a_gpu(stand_in, dtype, form, uplo, trans):
    A = make_triangle(40, uplo, dtype, form)
    full = (A + 0.1 * A.T).asformat(form)
    for matrix, unit, take in ((A, False, False), (A, True, False), (full, False, True)):
        b = np.random.default_rng(1).standard_normal((3, 40, 2)).astype(dtype)
        values = np.stack([matrix.data, matrix.data * 2, matrix.data * 3]).astype(dtype)
        for count in 1, 3:
            solver = gpu_solver(matrix.astype(dtype), count, trans, uplo=uplo, unit_diagonal=unit,
                                take_triangle=take)
            for first in range(0, 3, count):
                part = slice(first, first + count)
                x, error = stand_in.call(solver, values[part], b[part])
                assert not error
                for k in range(count):
                    own = op(matrix, values[first + k], "N")
                    own = np.tril(own) if uplo == "lower" else np.triu(own)
                    if unit:
                        np.fill_diagonal(own, 1)
                    own = own.T if trans == "T" else own
                    np.testing.assert_allclose(x[k], np.linalg.solve(own, b[first + k]),
                                               atol=tolerance(dtype), rtol=tolerance(dtype))


def test_the_first_call_analyses_and_streams_are_set_when_they_change(stand_in):
    A = make_triangle(20)
    b = np.ones((1, 20, 1))
    solver = gpu_solver(A)
    assert stand_in.told() == []
    # Of these GPUs no other test makes contexts.
    for gpu, stream, what in ((3, 5, ["context:cuda:3", "matrix", "analyze:5"]), (3, 5, ["wait"]),
                              (3, 7, ["stream:7"]), (3, 7, ["wait"]),
                              (4, 9, ["context:cuda:4", "matrix", "analyze:9"]), (3, 7, ["wait"])):
        values = A.data[None] * (1 + stream)
        x, error = stand_in.call(solver, values, b, gpu=gpu, stream=stream)
        assert not error and stand_in.told() == what
        np.testing.assert_allclose(A @ x[0] * (1 + stream), b[0], rtol=1e-12)
    several, both = gpu_solver(A, 2), np.ones((2, 20, 1))
    for stream, what in (5, ["stream:5"]), (5, []), (6, ["stream:6"]):
        x, error = stand_in.call(several, np.stack([A.data, 2 * A.data]), both, gpu=3, stream=stream)
        assert not error and stand_in.told() == what
    # At the end of the process plans leave XLA's streams.
    stand_in._library.trs_jax_leave_streams()
    assert sorted(stand_in.told()) == ["stream:0"] * 3
    assert not stand_in.call(solver, A.data[None], b, gpu=3, stream=7)[1]
    assert stand_in.told() == ["stream:7"]


def test_errors_of_calls_on_a_gpu(stand_in):
    A = make_triangle(20)
    b = np.ones((1, 20, 1))
    solver, bad = gpu_solver(A), without_row(A, 7)[None]
    for _ in range(2):  # no plan is made of such values
        assert "row 7 " in stand_in.call(solver, bad, b)[1]
        assert stand_in.told()[-2:] == ["matrix", "analyze:1"]
    x, error = stand_in.call(solver, A.data[None], b)
    assert not error and stand_in.told() == ["matrix", "analyze:1"]
    for _ in range(2):  # the plan stays
        assert "row 7 " in stand_in.call(solver, bad, b)[1]
        np.testing.assert_array_equal(stand_in.call(solver, A.data[None], b)[0], x)
        assert stand_in.told() == ["wait", "wait"]
    stand_in._library.stand_in_fail()  # as after a kernel that stalled
    assert stand_in.call(solver, A.data[None], b)[1]
    assert not stand_in.call(solver, A.data[None], b)[1]
    assert stand_in.told() == ["wait", "matrix", "analyze:1"]
    several = gpu_solver(A, 2)
    values, both = np.stack([A.data, bad[0]]), np.ones((2, 20, 1))
    assert "row 7 of system 1" in stand_in.call(several, values, both)[1]
    found, error = stand_in.call(several, values, both, check=False)
    assert not error and np.isnan(found[1]).all()
    np.testing.assert_allclose(found[0], x[0], rtol=1e-12)
    only = gpu_solver(A, device="cuda:1", nrhs=2)  # another key
    assert "runs on GPU 0, the pattern's device is cuda:1" in stand_in.call(only, A.data[None], b)[1]
    assert not stand_in.call(only, A.data[None], b, gpu=1)[1]
    assert "other shapes" in stand_in.call(solver, A.data[None, 1:], b)[1]
    key = only.key
    del only
    gc.collect()
    assert "another process" in stand_in.call(key, A.data[None], b)[1]


def test_calls_on_gpus_from_many_threads(stand_in):
    A = make_triangle(200, density=0.05)
    solver, b, wrong = gpu_solver(A), np.ones((1, 200, 1)), []
    wanted = {k: stand_in.call(solver, A.data[None] * k, b)[0] for k in (1.0, 2.0, 3.0, 4.0)}

    def work(k):
        for turn in range(50):
            x, error = stand_in.call(solver, A.data[None] * k, b, gpu=turn % 2, stream=int(k))
            if error or not np.array_equal(x, wanted[k]):
                wrong.append(error)
    in_threads(work, wanted)
    assert not wrong


PROGRAM = """
import numpy as np, jax, trireme as tr
jax.config.update("jax_enable_x64", True)
A = tr.triangle(tr.generate("poisson2d5:12"))
L, b = tr.jax.pattern(A), np.ones((3, 144))
f = jax.jit(jax.vmap(lambda v, b: tr.jax.solve(L, v, b), (None, 0)))
g = jax.jit(jax.vmap(jax.grad(lambda v, b: tr.jax.solve(L, v, b).sum(), (0, 1))))
print(tr.jax.features("cpu"))
print(abs(A @ np.asarray(f(A.data, b)).T - 1).max() < 1e-10)
print([part.shape for part in g(np.stack([A.data] * 3), b)])
try:
    jax.block_until_ready(f(0 * A.data, b))
except (RuntimeError, ValueError) as error:
    print("row 0 " in str(error))
"""


def run_program(before="", **environment):
    lines = run_python("-c", before + PROGRAM, **environment)
    assert lines[1:] == ["True", "[(3, 408), (3, 144)]", "True"]
    return lines[0]


def test_the_custom_call_is_the_librarys():
    assert run_program(PATH="", CC="") == f"ffi: {tr._library.library._name}"
    assert run_program(TRIREME_JAX_FFI="0") == "pure_callback: TRIREME_JAX_FFI is 0"


def test_a_version_that_xla_refuses():
    """A newer XLA supports old versions for a year."""
    said = run_program("import trireme as tr; tr.jax._jax_ffi._version_of_xla = lambda include: 0\n")
    assert said.startswith("pure_callback: ") and "API version" in said


@pytest.mark.skipif(not os.path.exists(EXAMPLES), reason="not in a checkout")
@pytest.mark.parametrize("name", ["18_jax_newton.py", "19_jax_river.py"])
def test_examples(name):
    assert "central differences" in " ".join(run_python(os.path.join(EXAMPLES, name)))
