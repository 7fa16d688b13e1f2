"""What the tests share: systems and a limit of time for what might hang."""

import faulthandler
import os
import sys

import numpy as np
import pytest
import scipy.sparse as sp

if "TRIREME_INSTALLED" not in os.environ:  # else the package that is installed is tested
    sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))

DTYPES = ["float32", "float64", "complex64", "complex128"]


@pytest.fixture(autouse=True)
def limit():
    """A test that hangs ends the run, with the stacks of all threads."""
    faulthandler.dump_traceback_later(300, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


def make_triangle(n, uplo="lower", dtype="float64", form="csr", density=0.2, seed=0):
    """A well-conditioned random triangle."""
    rng = np.random.default_rng(seed)
    dense = rng.uniform(-1, 1, (n, n)) * (rng.uniform(size=(n, n)) < density)
    if np.dtype(dtype).kind == "c":
        dense = dense + 1j * rng.uniform(-1, 1, (n, n)) * (dense != 0)
    dense = np.tril(dense, -1) / max(1, n * density) + np.diag(rng.uniform(1, 2, n))
    dense = dense.astype(dtype)
    made = sp.csr_array(dense if uplo == "lower" else dense.T)
    return made.asformat(form)


def tolerance(dtype):
    return 200 * np.finfo(dtype).eps
