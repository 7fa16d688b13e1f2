"""The tutorial runs, and so does the listing of docs/python.md, line by line on the CPU."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.linalg

import trireme as tr

HERE = os.path.dirname(os.path.abspath(__file__))
PAGE = os.path.join(HERE, "..", "..", "..", "docs", "python.md")


@pytest.mark.skipif(not os.path.exists(PAGE), reason="not in a checkout")
def test_the_listing(tmp_path, monkeypatch):
    listing = re.search(r"## A tour\n+```python\n(.*?)```", open(PAGE, encoding="utf-8").read(),
                        re.S)[1]
    monkeypatch.chdir(tmp_path)
    A = tr.generate("poisson2d5:12")
    L, b = tr.triangle(A), np.ones(144)
    tr.write("A.mtx.gz", A)
    names = dict(A=A, L=L, b=b, new_values=2 * L.data, scipy=scipy, x=np.zeros(144),
                 bsr=scipy.sparse.bsr_array(A, blocksize=(4, 4)))
    exec(compile(listing, "docs/python.md", "exec"), names)
    assert names["info"] == 0 and (abs(names["A"] - A)).nnz == 0
    np.testing.assert_allclose(tr.spsolve_triangular(L, b), tr.plan(L).solve(b))


@pytest.mark.skipif(not os.path.exists(PAGE), reason="not in a checkout")
def test_the_tutorial(tmp_path):
    environment = dict(os.environ, PYTHONPATH=os.path.dirname(os.path.dirname(tr.__file__)))
    run = subprocess.run([sys.executable, os.path.join(HERE, "..", "tutorial.py"), str(tmp_path)],
                         env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert "backward error" in run.stdout and "row 7" in run.stdout and "SciPy" in run.stdout
    assert (tmp_path / "levels.svg").read_text().startswith("<svg")
