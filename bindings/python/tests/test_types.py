"""What editors and type checkers see: the tutorial passes mypy --strict, and misspellings do not."""

import importlib.util
import inspect
import os
import re
import subprocess
import sys
from typing import get_args

import pytest

import trireme as tr
from trireme import _factors, _plan, _relaxation, _words

HERE = os.path.dirname(os.path.abspath(__file__))
PAGE = os.path.join(HERE, "..", "..", "..", "docs", "python.md")
TUTORIAL = os.path.join(HERE, "..", "..", "..", "examples", "tutorial.py")
needs_checkout = pytest.mark.skipif(not os.path.exists(PAGE), reason="not in a checkout")
needs_mypy = pytest.mark.skipif(importlib.util.find_spec("mypy") is None,
                                reason="no mypy (pip install mypy)")

# What the listing of docs/python.md takes as given.
GIVEN = """
from typing import Any
import numpy as np
import numpy.typing as npt
import scipy.sparse.linalg
L: Any
A: Any
bsr: Any
b: npt.NDArray[np.float64]
x: npt.NDArray[np.float64]
new_values: npt.NDArray[np.float64]
"""

# A line for each mistake that a checker must refuse.
REFUSED = """
tr.plan(L, thread=4)
tr.plan(L, "low")
tr.plan(L, uplo="L")
tr.plan(L, lower="yes")
tr.plan(L, trans="C")
tr.plan(L, method="engin")
tr.plan(L, device="gpu")
tr.plan(L, dtype="int")
tr.plan(L, dtype="float16")
tr.plan(L, store="float")
tr.plan(L, threads="4")
tr.plan(L, unit_diagonl=True)
tr.plan(None)
tr.plan("L.mtx")
tr.plan(L).solve(b).no_such_attribute
tr.plan(L).info()
tr.plan(L).solve("b")
tr.lu(L).solve("b")
tr.spsolve(L, "b")
tr.spsolve_triangular(L, "b")
tr.plan(L).sovle(b)
tr.triangle(L, "down")
tr.lu(L, order="metis")
tr.ilu0(L, odrer="nd")
tr.lu(L).plan("C")
tr.lu(L).plan(thread=4)
tr.lu(L).analyze(device="gpu")
tr.lu(L).solve(b, "C")
tr.lu(L).solve_a(b)
tr.relaxation(L, store="single")
tr.relaxation(L, blocksize=4)
tr.relaxation(L).sweep(b, b, direction="up")
tr.read(None)
tr.read("A.mtx", dtype="float16")
tr.write(None, L)
tr.generate(7)
tr.bench(L, b, second=1)
tr.spsolve_triangular(L, b, uplo="lower")
tr.splu(L, "AMD")
tr.spsolve(L, b, permc_spec="METIS")
tr.splu(L).solve(b, "C")
tr.set_num_threads("2")
"""

# What they must accept, with the types that they must see.
ACCEPTED = """
reveal_type(tr.plan(L, lower=True, threads=2, device="cuda:0-3", progress=lambda phase, done: None))
reveal_type(tr.plan(L, "upper", method=tr.Name("engine:substitute=0"), dtype=np.float32))
reveal_type(tr.plan(L, dtype="float32", device=tr.Name("cuda:0,2")).solve(b))
reveal_type(tr.plan(L).solve(b, out=b))
reveal_type(tr.plan(L).levels)
reveal_type(tr.plan(L).shape)
reveal_type(tr.plan(L).picture())
reveal_type(tr.from_factors(L, L).analyze(threads=1))
reveal_type(tr.lu(L)(b))
reveal_type(tr.lu(L).solve_A(b))
reveal_type(tr.spsolve_triangular(L, b))
reveal_type(tr.spsolve(L, b, permc_spec="COLAMD"))
reveal_type(tr.splu(L, "NATURAL").solve(b, "T"))
reveal_type(tr.relaxation(L, 4, store="half"))
reveal_type(tr.batch(tr.lu(L), 3, trans="H", device="cuda"))
"""
SEEN = ["Plan", "Plan", "ndarray", "ndarray", "ndarray", r"tuple\[.*int.*int", "str", "Factors",
        "ndarray", "ndarray", "ndarray", "ndarray", "ndarray", "Relaxation", "FactorsBatch"]


def mypy(folder, text):
    """Lines of mypy's answer about a program; the package is found as a user's installation is."""
    program = folder / "program.py"
    program.write_text(text, encoding="utf-8")
    settings = folder / "mypy.ini"
    settings.write_text("[mypy]\nstrict = true\n" + "".join(
        f"[mypy-{name}.*]\nignore_missing_imports = true\n"
        for name in ("scipy", "matplotlib", "cupy", "cupyx", "jax", "torch", "tqdm", "threadpoolctl",
                     "trireme_cu13")), encoding="utf-8")
    environment = dict(os.environ, MYPYPATH=os.path.dirname(os.path.dirname(tr.__file__)))
    run = subprocess.run([sys.executable, "-m", "mypy", "--config-file", settings, "--no-color-output",
                          "--cache-dir", folder / "cache", "--follow-imports=silent", program],
                         env=environment, capture_output=True, text=True, cwd=folder)
    assert run.returncode in (0, 1), run.stdout + run.stderr
    return [line for line in run.stdout.splitlines() if line.startswith("program.py")]


@needs_mypy
@needs_checkout
def test_the_tutorial_and_the_listing_pass(tmp_path):
    with open(TUTORIAL, encoding="utf-8") as file:
        assert mypy(tmp_path, file.read()) == []
    with open(PAGE, encoding="utf-8") as file:
        listing = re.search(r"## A tour\n+```python\n(.*?)```", file.read(), re.S)[1]
    assert mypy(tmp_path, GIVEN + listing) == []


@needs_mypy
@needs_checkout
def test_the_package_passes(tmp_path):
    """By the settings of pyproject.toml."""
    run = subprocess.run([sys.executable, "-m", "mypy", "--cache-dir", tmp_path],
                         capture_output=True, text=True, cwd=os.path.join(HERE, "..", "..", ".."))
    assert run.returncode == 0, run.stdout + run.stderr


@needs_mypy
def test_misspellings_are_refused(tmp_path):
    head = GIVEN + "import trireme as tr\n"
    lines = REFUSED.strip().splitlines()
    told = mypy(tmp_path, head + "\n".join(lines) + "\n")
    first = head.count("\n") + 1
    faulty = {int(line.split(":")[1]) - first for line in told if " error: " in line}
    assert [line for k, line in enumerate(lines) if k not in faulty] == []


@needs_mypy
def test_results_have_types(tmp_path):
    told = mypy(tmp_path, GIVEN + "import trireme as tr\n" + ACCEPTED)
    assert [line for line in told if " error: " in line] == []
    seen = [line for line in told if "Revealed type" in line]
    assert len(seen) == len(SEEN)
    for line, kind in zip(seen, SEEN):
        assert re.search(kind, line), line


# ---- The lists of the types are those of the library ----------------------------------------------

@pytest.mark.parametrize("words, table", [
    (_words.Uplo, _plan.UPLO), (_words.Trans, _plan.TRANS), (_words.Store, _plan.STORE),
    (_words.Order, _factors.ORDERS), (_words.RelaxStore, _relaxation.STORES),
    (_words.Direction, _relaxation.DIRECTIONS)])
def test_words_are_those_of_the_tables(words, table):
    assert list(get_args(words)) == list(table)


def test_methods_are_the_librarys():
    listed = [line.split()[0] for line in tr.methods().splitlines()]
    assert list(get_args(_words.MethodName)) == ["auto", *dict.fromkeys(listed)]


def test_devices_and_types_are_accepted():
    for name in get_args(_words.DeviceName):
        assert _words.device_name(name) == name
    for name in get_args(_words.TypeName):
        assert _words.exact_type(name) == name


@pytest.mark.parametrize("front, made, only", [
    (tr.plan, tr.Plan.__init__, {"lower"}), (tr.relaxation, tr.Relaxation.__init__, set()),
    (tr.Factors.plan, tr.FactorsPlan.__init__, set()),
    (tr.Factors.analyze, tr.FactorsPlan.__init__, set())])
def test_options_are_the_same_at_both_ends(front, made, only):
    def options(function):
        return {name: (value.default, str(function.__annotations__[name])) for name, value in
                inspect.signature(function).parameters.items()
                if value.kind == value.KEYWORD_ONLY and name not in only}
    assert options(front) == options(made)
