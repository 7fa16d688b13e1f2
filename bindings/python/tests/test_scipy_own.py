"""SciPy's own tests of spsolve_triangular, with ours in its place."""

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
    monkeypatch.setattr(theirs, "spsolve_triangular", tr.spsolve_triangular)


class TestOurs(Base):
    """Every test that SciPy has."""


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
