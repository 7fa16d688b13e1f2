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
