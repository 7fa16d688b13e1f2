"""The tutorial and the listings of the pages run as they stand, on the CPU."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse.linalg

import trireme as tr

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..", "..")
PAGE = os.path.join(ROOT, "docs", "python.md")


def first_listing(page, heading=""):
    """The first piece of Python below a heading, with nothing that the reader would have to add."""
    with open(os.path.join(ROOT, page), encoding="utf-8") as file:
        return re.search(heading + r".*?```python\n(.*?)```", file.read(), re.S)[1]


@pytest.mark.skipif(not os.path.exists(PAGE), reason="not in a checkout")
def test_the_listing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(compile(first_listing("docs/python.md", "## A tour\n"), "docs/python.md", "exec"), names)
    assert names["info"] == 0 and (names["A"] != tr.generate("poisson2d5:100")).nnz == 0


@pytest.mark.skipif(not os.path.exists(PAGE), reason="not in a checkout")
@pytest.mark.parametrize("page", ["README.md", "bindings/python/README.md"])
def test_the_readme(page):
    names = {}
    exec(compile(first_listing(page), page, "exec"), names)
    np.testing.assert_allclose(names["L"] @ names["x"], names["b"])
    x, info = scipy.sparse.linalg.cg(names["A"], names["b"], M=names["M"])  # as its comment says
    assert info == 0


@pytest.mark.skipif(not os.path.exists(PAGE), reason="not in a checkout")
def test_the_tutorial(tmp_path):
    environment = dict(os.environ, PYTHONPATH=os.path.dirname(os.path.dirname(tr.__file__)))
    run = subprocess.run([sys.executable, os.path.join(HERE, "..", "..", "..", "examples", "tutorial.py"), str(tmp_path)],
                         env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert "backward error" in run.stdout and "row 7" in run.stdout and "SciPy" in run.stdout
    assert (tmp_path / "levels.svg").read_text().startswith("<svg")
