"""The tutorial and the listings of the pages run as they stand, on the CPU."""

import doctest
import os
import pydoc
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
def test_the_quick_start(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tr.write("A.mtx", tr.generate("poisson3d7:30"))  # as the page's command does
    names = {}
    with open(os.path.join(ROOT, "docs", "quick-start.md"), encoding="utf-8") as file:
        listings = re.findall(r"```python\n(.*?)```", file.read(), re.S)
    for listing in listings:
        exec(compile(listing, "docs/quick-start.md", "exec"), names)
    said = capsys.readouterr().out
    assert names["info"] == 0 and "chosen: " in said and "trireme.triangle" in said
    np.testing.assert_allclose(names["A"] @ names["x"], names["ones"], atol=1e-4)
    assert len(listings) == 6 and tr.read("b.mtx").shape == (27000, 1)


@pytest.mark.skipif(not os.path.exists(PAGE), reason="not in a checkout")
def test_the_tutorial(tmp_path):
    environment = dict(os.environ, PYTHONPATH=os.path.dirname(os.path.dirname(tr.__file__)))
    run = subprocess.run([sys.executable, os.path.join(HERE, "..", "..", "..", "examples", "tutorial.py"), str(tmp_path)],
                         env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert "backward error" in run.stdout and "row 7" in run.stdout and "SciPy" in run.stdout
    assert (tmp_path / "levels.svg").read_text().startswith("<svg")


@pytest.mark.parametrize("name", ["batch", "factorized", "from_factors", "ic0", "ilu0", "lu", "plan",
                                  "splu", "spsolve", "spsolve_triangular"])
def test_the_examples_of_docstrings(name):
    examples = doctest.DocTestFinder(recurse=False).find(getattr(tr, name), name, globs={})
    assert [e for e in examples if e.examples], "it has no example"
    for example in examples:
        assert doctest.DocTestRunner().run(example).failed == 0


def test_help_begins_with_words():
    text = pydoc.render_doc(tr.plan, renderer=pydoc.plaintext)
    assert "Analyse a triangular system" in text.split("\n", 4)[3] and "Literal" not in text
    for name in set(tr.__all__) - {"Name"}:  # nothing of the package's insides
        text = pydoc.render_doc(getattr(tr, name), renderer=pydoc.plaintext)
        assert not re.search(r"_kept\.|_oneshot\.|ForwardRef|trireme\._words", text), name
    assert set(dir(tr)) == {*tr.__all__, "__version__", "jax", "torch"}
