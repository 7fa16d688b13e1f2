"""Wrong calls get an error that names the argument and what to write instead."""

import copy
import os
import pathlib
import pickle
import subprocess
import sys
import threading
import time
import types

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import splu

import trireme as tr
from trireme import _library

A = tr.generate("poisson2d5:6")
L, U = tr.triangle(A), tr.triangle(A, "upper")
N = A.shape[0]
B = np.ones(N)


def refused(call, kind, *words):
    with pytest.raises(kind) as caught:
        call()
    for word in words:
        assert word in str(caught.value), (word, str(caught.value))
    return caught.value


# ---- Names ----------------------------------------------------------------------------------------

def test_lower_is_accepted_where_uplo_is():
    x, y = tr.spsolve_triangular(L, B), tr.spsolve_triangular(U, B, lower=False)
    np.testing.assert_array_equal(tr.plan(L, lower=True).solve(B), x)
    np.testing.assert_array_equal(tr.plan(U, lower=False).solve(B), y)
    np.testing.assert_array_equal(tr.plan(U, "upper", lower=False).solve(B), y)
    assert (tr.triangle(A, lower=False) != U).nnz == 0
    refused(lambda: tr.plan(L, "upper", lower=True), ValueError, "uplo", "lower is True", "one of")
    refused(lambda: tr.plan(L, lower="yes"), TypeError, "lower", "True or False")


@pytest.mark.parametrize("options, words", [
    (dict(uplo="low"), ["uplo", "'lower', 'upper'", "did you mean 'lower'"]),
    (dict(trans="TN"), ["trans", "'N', 'T', 'H'"]),
    (dict(store="float"), ["store", "'same', 'mixed'"]),
    (dict(method="thread"), ["method", "'serial'", "'columns'", "did you mean 'threads'"]),
    (dict(method="engin"), ["'engine', 'pull'", "did you mean 'engine'"]),
    (dict(method="engine?:"), ["'engine', 'pull'", "did you mean 'engine'"]),
    (dict(device="gpu"), ["device", '"cpu"', '"cuda:0-3"', "did you mean 'cuda'"]),
    (dict(device="cuda:x"), ["device", '"cuda:1"']), (dict(device="cpu:2"), ["device"]),
    (dict(threads=0), ["threads is 0", "1 to 1024"]), (dict(nrhs=-1), ["nrhs is -1", "from 0"])])
def test_names_list_what_is_valid(options, words):
    error = refused(lambda: tr.plan(L, **options), ValueError, *words)
    assert "trs_" not in str(error) and "trireme methods" not in str(error)


def test_words_of_other_interfaces_are_taken():
    L = sp.csr_array(np.array([[2.0, 0], [1, 4]]))
    for uplo in ("L", "l", "lo", "LOWER"):
        np.testing.assert_array_equal(tr.plan(L, uplo).solve(np.array([2.0, 9])), [1, 2])
    for trans in ("t", "c", "C"):
        np.testing.assert_array_equal(tr.plan(L, "lower", trans).solve(np.array([4.0, 8])), [1, 2])
    assert (tr.triangle(L, "U") != tr.triangle(L, "upper")).nnz == 0
    F = tr.ilu0(L)
    np.testing.assert_array_equal(F.solve(np.array([4.0, 8]), "t"), [1, 2])
    np.testing.assert_array_equal(F.analyze("c").solve(np.array([4.0, 8]), "H"), [1, 2])
    assert (tr.generate("gen:poisson2d5:4") != tr.generate("poisson2d5:4")).nnz == 0


@pytest.mark.parametrize("dtype", ["int", "float16", "flot64", int, np.int32, np.longdouble, "O"])
def test_other_types_are_named(dtype, tmp_path):
    refused(lambda: tr.plan(L, dtype=dtype), TypeError, "dtype", "'float32', 'float64'")
    tr.write(tmp_path / "a.mtx", L)
    refused(lambda: tr.read(tmp_path / "a.mtx", dtype=dtype), TypeError, "dtype", "'float32'")


def test_types_are_accepted_by_every_name():
    for dtype in ("float32", np.float32, np.dtype("f4"), ">f4", "f"):
        assert tr.plan(L, dtype=dtype).dtype == np.float32
    assert tr.plan(L, dtype=float).dtype == np.float64


def test_devices_may_be_objects():
    cpu = types.SimpleNamespace(type="cpu", index=None)  # as torch.device is
    assert tr.plan(L, device=cpu, threads=2).solve(B).shape == (N,)
    refused(lambda: tr.plan(L, device=3), TypeError, "device is 3", '"auto"')
    if not tr.devices():
        gpu = types.SimpleNamespace(type="cuda", index=1)
        refused(lambda: tr.plan(L, device=gpu), tr.UnsupportedError, "CUDA")


def test_fields_have_descriptions():
    for thing in (tr.CacheInfo, type(tr.bench(L, B, seconds=0)[0])):
        assert all("Alias for" not in getattr(thing, field).__doc__ for field in thing._fields)


# ---- Arguments --------------------------------------------------------------------------------------

@pytest.mark.parametrize("value, words", [
    (None, "A is None"), ("L.mtx", "trireme.read"), (pathlib.Path("L.mtx"), "trireme.read"),
    (7, "A is an int"), ([1, 2], "A is a list"), (object(), "A is an object")])
def test_what_is_no_matrix_is_named(value, words):
    for call in (tr.plan, tr.triangle, tr.ilu0, tr.relaxation, lambda A: tr.write("a.mtx", A)):
        refused(lambda: call(value), TypeError, words)
    assert not os.path.exists("a.mtx")


def test_swapped_arguments_are_named():
    refused(lambda: tr.write(L, "a.mtx"), TypeError, "csr_array", "write(path, A)")
    refused(lambda: tr.spsolve_triangular(B, L), TypeError, "spsolve_triangular(A, b)")
    refused(lambda: tr.bench(B, L), TypeError, "bench(L, b)")
    for call in (tr.plan, tr.relaxation, tr.batch):
        for b in (B, L):
            refused(lambda: call(L, b), TypeError, "of shape", "plan(A).solve(b)")
    refused(lambda: tr.from_factors(U, L), tr.StructureError, "from_factors(L, U)")
    refused(lambda: tr.from_factors(L), TypeError, "splu", "trireme.lu")
    for b in (L, None, "b"):
        refused(lambda: tr.plan(L).solve(b), TypeError, "b is", "dense array", str(N))
    refused(lambda: tr.plan(L).update(None), TypeError, "values is None")


def test_a_misspelt_generator_is_suggested():
    for call in (tr.generate, lambda name: tr.read("gen:" + name)):
        refused(lambda: call("poison3d7:50"), ValueError, "poison3d7:50: no such generator",
                "poisson3d7?", "poisson2d5, poisson2d9")
    assert "gen:" not in str(refused(lambda: tr.generate("poison3d7:50"), ValueError))
    assert "gen:" not in str(refused(lambda: tr.generate("poisson3d7:x"), ValueError))
    for order in ("COLAM", "colmad"):
        refused(lambda: tr.lu(A, order=order), ValueError, "did you mean 'colamd'")


def test_the_wrong_side_names_the_options():
    refused(lambda: tr.plan(U), tr.StructureError, 'uplo="upper"')
    refused(lambda: tr.plan(L, lower=False), tr.StructureError, 'uplo="lower"')
    error = refused(lambda: tr.plan(A), tr.StructureError, "take_triangle=True", "trireme.lu")
    assert error.row == 0
    refused(lambda: tr.spsolve_triangular(U, B), tr.StructureError, "A is upper triangular", "lower=False")
    refused(lambda: tr.spsolve_triangular(A, B), tr.StructureError, "trireme.triangle", "trireme.lu")
    refused(lambda: tr.from_factors(A, U), tr.StructureError, "trireme.triangle")
    refused(lambda: tr.batch(U, 2), tr.StructureError, 'A is upper triangular, pass uplo="upper"')
    refused(lambda: tr.batch(A, 2), tr.StructureError, "take_triangle=True", "trireme.lu")


def test_zeros_on_the_wrong_side_are_named():
    """New values may be no zeros there: a plan passes over them where the caller says so."""
    Z = A.copy()
    Z.data[Z.indices > np.repeat(np.arange(Z.shape[0]), np.diff(Z.indptr))] = 0
    for make in tr.plan, lambda Z, **more: tr.batch(Z, 2, **more):
        for form in "csr", "csc", "coo":
            said = str(refused(lambda: make(Z.asformat(form)), tr.StructureError,
                               "all of them are zeros, pass take_triangle=True"))
            assert "factor" not in said
        make(Z, take_triangle=True)
    np.testing.assert_allclose(tr.plan(Z, take_triangle=True).solve(B), tr.spsolve_triangular(Z, B))


def test_arrays_that_count_from_one():
    class Own:
        format, shape, data = "csr", L.shape, L.data
        indptr, indices = L.indptr + 1, L.indices + 1
    for call in (lambda: tr.plan(Own()), lambda: tr.spsolve_triangular(Own(), B), lambda: tr.lu(Own())):
        refused(call, ValueError, "indptr begins with 1", "pass indptr - 1 and indices - 1")
    Own.indptr, Own.indices = Own.indptr - 1, Own.indices - 1
    np.testing.assert_array_equal(tr.plan(Own()).solve(B), tr.plan(L).solve(B))


# ---- Files --------------------------------------------------------------------------------------------

def test_files_raise_what_open_raises(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    error = refused(lambda: tr.read("nope.mtx"), FileNotFoundError, "nope.mtx")
    assert error.filename == "nope.mtx" and error.errno == 2
    refused(lambda: tr.read(tmp_path), IsADirectoryError)
    refused(lambda: tr.write(tmp_path / "no" / "a.mtx", L), FileNotFoundError, "no/a.mtx")
    tr.write("matrix.mtx", L)
    refused(lambda: tr.read("matrx.mtx"), FileNotFoundError, "'matrix.mtx'")
    refused(lambda: tr.read("poisson2d5:6"), FileNotFoundError, "trireme.generate('poisson2d5:6')")
    for path in (None, 7, L):
        refused(lambda: tr.read(path), TypeError, "path is")
    if os.getuid():
        os.chmod("matrix.mtx", 0)
        refused(lambda: tr.read("matrix.mtx"), PermissionError)


# ---- Words of C in Python's ---------------------------------------------------------------------------

@pytest.mark.parametrize("message, words", [
    ("this build has no CUDA: install the CUDA toolkit (nvcc) and build Trireme from source",
     ["bindings/python/cu13", "TRIREME_WITH_CUDA=ON"]),
    ("this build has no CUDA: build with -DTRIREME_WITH_CUDA=ON, for which the CUDA toolkit (nvcc) is needed",
     ["bindings/python/cu13", "pip install . -C cmake.define.TRIREME_WITH_CUDA=ON"]),
    ("this build has no OpenCL: install ocl-icd-opencl-dev and build with -DTRIREME_WITH_PAPERS=ON",
     ["ocl-icd-opencl-dev", "pip install . -C cmake.define.TRIREME_WITH_PAPERS=ON"]),
    ("a.h5 is an HDF5 file, which this build cannot read: install libhdf5-dev and build Trireme from source",
     ["libhdf5-dev", "pip install ."]),
    ("method levelset repeats a paper, and this build leaves papers out: build with "
     "-DTRIREME_WITH_PAPERS=ON", ["pip install . -C cmake.define.TRIREME_WITH_PAPERS=ON"])])
def test_remedies_of_a_package_are_pips(monkeypatch, message, words):
    monkeypatch.setattr(_library, "PACKAGED", True)
    told = _library.in_python(message)
    assert "from source" not in told
    assert all(word in told for word in words), told


def test_features_have_no_other_remedy_in_a_package(monkeypatch):
    monkeypatch.setattr(_library, "PACKAGED", True)
    assert "from source" not in tr.features()
    assert "MPI" not in tr.features() and "zlib" in tr.features()


def test_names_of_c_are_not_told():
    for message in ("nrhs is -1: in a trs_options it must be at least 0",
                    "L is not lower triangular: row 0; trs_matrix_triangle extracts the triangle",
                    "raise the limit (max_bytes of trs_read_options, --max-memory)",
                    'a complex type (--precision z, dtype="complex128", TRS_DCOMPLEX)',
                    "read all of it (trs_matrix_read)"):
        told = _library.in_python(message)
        assert "trs_" not in told and "TRS_" not in told and "--" not in told, told


# ---- Plans, factors, relaxations ------------------------------------------------------------------------

def test_a_picture():
    with tr.plan(L) as p:
        assert p.picture().startswith("<svg") and p.picture() == p._repr_svg_()
    assert tr.ilu0(A).plan().picture().startswith("<svg")


def test_factors_answer_to_scikit_sparses_names():
    F = tr.ilu0(A)
    x = F.solve(B)
    np.testing.assert_array_equal(F(B), x)
    np.testing.assert_array_equal(F.solve_A(B), x)


def test_factors_are_analysed_when_the_caller_chooses(monkeypatch):
    made = []
    plan = tr.Factors.plan

    def counted(self, *given, **options):
        made.append(options)
        return plan(self, *given, **options)
    monkeypatch.setattr(tr.Factors, "plan", counted)
    F = tr.from_factors(splu(sp.csc_array(A)))
    assert F.analyze(threads=1) is F and made[0]["threads"] == 1
    x = F.solve(B)
    F.as_linear_operator()
    assert len(made) == 1
    np.testing.assert_allclose(A @ x, B)
    np.testing.assert_allclose(A.T @ F.solve(B, "T"), B)
    assert len(made) == 2
    F.analyze(method="serial")
    np.testing.assert_allclose(A @ F(B), B)
    assert len(made) == 3 and made[2]["method"] == "serial"


@pytest.mark.parametrize("form", ["csr", "csc", "bsr"])
def test_relaxations_can_be_pickled(form):
    M = sp.bsr_array(A, blocksize=(4, 4)) if form == "bsr" else A.asformat(form)
    size = None if form == "bsr" else 4
    R = tr.relaxation(M, size, store="double", colour=np.arange(N // 4) % 9, threads=1)

    def swept(relaxation):
        x = np.zeros(N)
        relaxation.sweep(x, B, 3)
        return x
    M.data *= 7  # the copy is R's own
    for again in (pickle.loads(pickle.dumps(R)), copy.copy(R)):
        np.testing.assert_array_equal(swept(again), swept(R))
        assert again.info["colours"] == R.info["colours"]
    R.update(M)
    np.testing.assert_array_equal(swept(pickle.loads(pickle.dumps(R))), swept(R))
    refused(lambda: pickle.dumps(tr.relaxation(M, size, copy=False)), TypeError, "copy=True")


# ---- Progress -------------------------------------------------------------------------------------------

def test_a_phase_that_tells_nothing_is_told_with_its_seconds(monkeypatch):
    monkeypatch.setattr(_library, "TICK", 0.02)
    told = []
    with _library.Told(lambda phase, done: told.append((phase, done)), "factoring") as t:
        def work():
            limit = time.monotonic() + 30
            while len(told) < 3 and time.monotonic() < limit:
                time.sleep(0.01)
            t.call(None, b"numbers", 0.5)
            while len(told) < 6 and time.monotonic() < limit:
                time.sleep(0.01)
        _library.run(work, False, t)
    count = len(told)
    assert told[0][0].startswith("factoring, ") and told[0][0].endswith(" s")
    assert ("numbers", 0.5) in told and told[-1][0].startswith("numbers, ") and told[-1][1] == 0.5
    t.call(None, b"late", 1.0)  # a call that Ctrl-C left may go on
    assert len(told) == count


def test_progress_of_factors(monkeypatch):
    monkeypatch.setattr(_library, "TICK", 0.001)
    told = []
    tr.lu(tr.generate("poisson2d5:150"), progress=lambda phase, done: told.append(phase))
    assert any(phase.endswith(" s") for phase in told), told


def test_an_error_in_progress_cancels_and_is_raised():
    def fails(phase, done):
        raise KeyError(phase)
    with pytest.raises(KeyError):
        tr.lu(tr.generate("poisson2d5:30"), progress=fails)
    begin = time.monotonic()
    with pytest.raises(KeyError):
        tr.lu(tr.generate("poisson3d7:60"), progress=fails)  # which takes a minute
    assert time.monotonic() - begin < 20
    with pytest.raises(tr.SingularMatrixError):
        tr.lu(0 * A, progress=lambda phase, done: None)
    refused(lambda: tr.plan(L, progress=3), TypeError, "progress", "(phase, done)")
    assert not _library._calls


def test_the_module_is_the_command():
    package = pathlib.Path(tr.__file__).parent
    told = subprocess.run([sys.executable, "-m", "trireme", "solve", "gen:poisson2d5:9", "--uplo", "lower"],
                          env=dict(os.environ, PYTHONPATH=str(package.parent)), capture_output=True,
                          text=True, timeout=120)
    beside = pathlib.Path(os.environ.get("TRIREME_LIBRARY", "")).parent.parent / "cli" / "trireme"
    if (package / "bin" / "trireme").exists() or beside.exists():
        assert told.returncode == 0 and "backward error" in told.stdout, told
    else:
        assert told.returncode == 1 and "this installation of the Python package has no command" in told.stderr, told
