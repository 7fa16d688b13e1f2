"""SciPy's own tests of its direct solvers, with ours in their place."""

import inspect

import numpy as np
import pytest

import trireme as tr

try:
    from scipy.sparse.linalg._dsolve.tests import test_linsolve as theirs
    Base = theirs.TestSpsolveTriangular
except (ImportError, AttributeError) as error:
    pytest.skip(f"this SciPy comes without its tests ({error})", allow_module_level=True)


@pytest.fixture(autouse=True)
def ours(monkeypatch):
    for name in "spsolve_triangular", "splu", "spsolve", "factorized":
        monkeypatch.setattr(theirs, name, getattr(tr, name))
    tr.cache_clear()


class TestOurs(Base):
    """Every test that SciPy has."""


class TestSolve(theirs.TestLinsolve):
    """Every test that SciPy has."""


class TestFactors(theirs.TestSplu):
    """All but those of references to SciPy's object, and of complex vectors for real factors."""

    test_lu_refcount = test_bad_inputs = None


class TestFunctions(theirs.TestFactorized):
    """All but those of complex vectors for real factors, and of NumPy's words for three dimensions."""

    test_call_with_cast_to_complex_without_umfpack = None
    test_call_with_incorrectly_sized_matrix_without_umfpack = None


def test_ours_is_called(monkeypatch):
    called = []

    def counted(*arguments, **options):
        called.append(arguments)
        return tr.spsolve_triangular(*arguments, **options)
    monkeypatch.setattr(theirs, "spsolve_triangular", counted)
    Base().test_bad_shape()
    assert called


def test_signature_is_scipys():
    from scipy.sparse.linalg import spsolve_triangular
    mine = inspect.signature(tr.spsolve_triangular)
    assert list(mine.parameters) == list(inspect.signature(spsolve_triangular).parameters)
    assert np.__version__
