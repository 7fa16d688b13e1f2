"""What the tests share: systems and a limit of time for what might hang."""

import faulthandler
import gc
import os
import subprocess
import sys
import threading
import weakref

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


def without_row(A, row):
    """A's values with a zero pivot there."""
    made = A.copy()
    made[row, row] = 0
    return made.data


def in_threads(work, arguments):
    """Calls work(argument) in a thread for each of them, and waits."""
    threads = [threading.Thread(target=work, args=(k,)) for k in arguments]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def run_python(*words, **environment):
    """The lines that a Python with this package prints."""
    import trireme
    given = dict(os.environ, PYTHONPATH=os.path.dirname(os.path.dirname(trireme.__file__)),
                 **environment)
    run = subprocess.run([sys.executable, *words], env=given, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return run.stdout.splitlines()


def jax_program(A, **options):
    """A's pattern, and a program that solves with it."""
    import jax
    import trireme as tr
    L = tr.jax.pattern(A, **options)
    return L, jax.jit(lambda v, b: tr.jax.solve(L, v, b))


def assert_a_program_keeps_its_plans_and_no_longer(put):
    """put: where arrays are to lie."""
    import jax
    A = make_triangle(20)
    values, b = put(A.data), put(np.ones(20))
    L, f = jax_program(A)
    x = np.asarray(f(values, b))
    watch = weakref.ref(next(iter(L._solvers.values())))
    del L
    gc.collect()
    np.testing.assert_array_equal(f(values, b), x)
    assert watch() is not None
    del f
    jax.clear_caches()
    gc.collect()
    assert watch() is None
