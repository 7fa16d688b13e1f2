"""Arrays of JAX on the CPU."""

import numpy as np
import pytest
from conftest import make_triangle

import trireme as tr

jax = pytest.importorskip("jax", reason="no jax")


def test_arrays_in_arrays_out():
    A = make_triangle(30, dtype="float32")
    b = jax.numpy.ones(30, dtype="float32")
    x = tr.spsolve_triangular(A, b)
    assert isinstance(x, jax.Array)
    np.testing.assert_allclose(A @ np.asarray(x), 1, rtol=1e-5)
    with pytest.raises(ValueError, match="written"):
        tr.plan(A).solve(b, out=b)


def test_traced_arrays_are_refused_and_a_callback_works():
    A = make_triangle(30, dtype="float32")
    p, b = tr.plan(A), jax.numpy.ones(30, dtype="float32")
    for call in (lambda: jax.jit(p.solve)(b), lambda: jax.grad(lambda b: p.solve(b).sum())(b),
                 lambda: jax.vmap(p.solve)(jax.numpy.stack([b, b])),
                 lambda: jax.jit(lambda b: tr.spsolve_triangular(A, b))(b)):
        with pytest.raises(TypeError, match="traced by jax.jit.*pure_callback"):
            call()

    def solve(b):
        return jax.pure_callback(lambda b: p.solve(np.asarray(b)),
                                 jax.ShapeDtypeStruct(b.shape, b.dtype), b)
    np.testing.assert_array_equal(jax.jit(solve)(b), p.solve(b))
