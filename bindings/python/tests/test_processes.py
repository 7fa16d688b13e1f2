"""Threads, forks, signals, leaks."""

import gc
import multiprocessing
import os
import pickle
import re
import signal
import subprocess
import sys
import threading
import time
import weakref

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import make_triangle

import trireme as tr

L = sp.csr_array(sp.tril(tr.generate("poisson2d5:60")))
N = L.shape[0]
B = np.random.default_rng(0).uniform(-1, 1, N)


def hammer(work, threads=4):
    failures = []

    def guarded(k):
        try:
            work(k)
        except BaseException as error:
            failures.append(error)
    crew = [threading.Thread(target=guarded, args=(k,)) for k in range(threads)]
    for t in crew:
        t.start()
    for t in crew:
        t.join()
    assert not failures, failures


def test_threads_on_one_plan():
    p = tr.plan(L, threads=2, method="threads")
    x = p.solve(B)

    def work(k):
        out = np.empty(N)
        for _ in range(50):
            np.testing.assert_array_equal(p.solve((k + 1) * B, out=out), p.solve((k + 1) * B))
            np.testing.assert_allclose(out, (k + 1) * x)
    hammer(work)


def test_threads_solve_update_and_close_one_plan():
    p = tr.plan(L)
    done = threading.Event()

    def work(k):
        try:
            while not done.is_set():
                if k == 0:
                    p.update(L.data)
                else:
                    np.testing.assert_allclose(L @ p.solve(B), B)
        except ValueError as error:
            assert "closed" in str(error)
        if k == 1:
            done.set()

    def close():
        time.sleep(0.2)
        p.close()
        done.set()
    closer = threading.Thread(target=close)
    closer.start()
    hammer(work)
    closer.join()


def test_threads_on_the_cache():
    tr.cache_clear()
    others = [make_triangle(20 + k) for k in range(12)]

    def work(k):
        for r in range(60):
            np.testing.assert_allclose(L @ tr.spsolve_triangular(L, (k + 1) * B), (k + 1) * B)
            A = others[(r + k) % 12]
            np.testing.assert_allclose(A @ tr.spsolve_triangular(A, np.ones((A.shape[0], 2))), 1)
    hammer(work)
    assert 0 < tr.cache_info().plans <= 8


def test_the_interpreter_runs_while_a_solve_does():
    A = sp.csr_array(sp.tril(tr.generate("chain:400000")))
    p, ticks = tr.plan(A, method="serial"), []
    stop = threading.Event()

    def tick():
        while not stop.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.0005)
    t = threading.Thread(target=tick)
    t.start()
    b, out = np.ones((A.shape[0], 16)), np.empty((A.shape[0], 16))
    begin = time.perf_counter()
    while time.perf_counter() - begin < 0.3:
        p.solve(b, out=out)
    end = time.perf_counter()
    stop.set()
    t.join()
    assert sum(begin < tick < end for tick in ticks) > 20


def in_child(work):
    """What work returns in a forked child, which is killed if it hangs."""
    readable, writable = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        try:
            told = repr(work())
        except BaseException as error:
            told = repr(error)
        os.write(writable, told.encode()[:4000])
        os._exit(0)
    os.close(writable)
    with os.fdopen(readable) as pipe:
        told = pipe.read()
    assert os.waitpid(child, 0)[1] == 0, "the child hung or crashed"
    return told


def test_plans_work_in_a_forked_child():
    x = tr.spsolve_triangular(L, B)
    for options in (dict(), dict(threads=2, method="threads")):
        p = tr.plan(L, **options)
        p.solve(B)
        assert in_child(lambda: bool(np.allclose(p.solve(B), x))) == "True"
    assert in_child(lambda: bool(np.allclose(tr.spsolve_triangular(L, B), x))) == "True"
    assert in_child(lambda: bool(np.allclose(tr.plan(L, threads=2).solve(B), x))) == "True"


def test_forks_while_threads_solve():
    """A plan in use at the fork raises in the child; others work."""
    busy, idle = tr.plan(L, threads=2, method="threads"), tr.plan(L)
    x, stop = idle.solve(B), threading.Event()

    def work():
        out = np.empty(N)
        while not stop.is_set():
            busy.solve(B, out=out)
            tr.spsolve_triangular(L, B)
    crew = [threading.Thread(target=work) for _ in range(2)]
    for t in crew:
        t.start()

    def child():
        assert np.allclose(idle.solve(B), x) and np.allclose(tr.spsolve_triangular(L, B), x)
        try:
            return bool(np.allclose(busy.solve(B), x))
        except RuntimeError as error:
            return "forked" in str(error)
    try:
        assert [in_child(child) for _ in range(10)] == ["True"] * 10
    finally:
        stop.set()
        for t in crew:
            t.join()


def solve_here(p):
    return p.solve(B)


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_multiprocessing(start):
    if start == "spawn" and "TRIREME_INSTALLED" not in os.environ:
        os.environ["PYTHONPATH"] = os.path.dirname(os.path.dirname(tr.__file__))
    p = tr.plan(L, threads=2)
    with multiprocessing.get_context(start).Pool(2) as pool:
        for x in pool.map(solve_here, [p] * 4):
            np.testing.assert_array_equal(x, p.solve(B))


INTERRUPTED = """
import os, signal, sys, threading, time
import trireme as tr
threading.Timer(0.7, os.kill, (os.getpid(), signal.SIGINT)).start()
begin = time.perf_counter()
try:
    tr.generate("poisson3d7:250")
    print("no interrupt after", time.perf_counter() - begin, flush=True)
except KeyboardInterrupt:
    print("interrupted", time.perf_counter() - begin < 0.7 + 5, flush=True)
os._exit(0)
"""


def test_ctrl_c():
    environment = dict(os.environ, PYTHONPATH=os.path.dirname(os.path.dirname(tr.__file__)))
    run = subprocess.run([sys.executable, "-c", INTERRUPTED], env=environment, text=True,
                         capture_output=True, timeout=120)
    assert run.stdout.strip() == "interrupted True", run.stdout + run.stderr


OWN_SUPERLU = "SuperLU  yes" in tr.features()
LONG = "poisson3d7:60" if OWN_SUPERLU else "poisson3d7:30"  # seconds of LU; nothing stops SciPy's in wheels
ENDED = """
import gc, signal, time
import scipy.sparse.linalg  # of lu in wheels; an interrupt within an import of C code ends Python at its end
import trireme as tr
def interrupt(*_):
    raise KeyboardInterrupt
signal.signal(signal.SIGALRM, interrupt)
begin = time.perf_counter()
signal.setitimer(signal.ITIMER_REAL, 0.5)
try:
    tr.lu(tr.generate(LONG), progress=lambda phase, done: None)
except KeyboardInterrupt:
    took = time.perf_counter() - begin
gc.collect()
going_on = 0 if OWN_SUPERLU else 1  # the end waits for it
print("interrupted", took < 20, tr.memory_usage()[0], max(len(tr._library._calls) - going_on, 0))
""".replace("LONG", repr(LONG)).replace("OWN_SUPERLU", repr(OWN_SUPERLU))


def test_ctrl_c_stops_the_work():
    environment = dict(os.environ, PYTHONPATH=os.path.dirname(os.path.dirname(tr.__file__)))
    for _ in range(3):
        run = subprocess.run([sys.executable, "-c", ENDED], env=environment, text=True, capture_output=True,
                             timeout=120)
        assert (run.stdout.strip(), run.returncode) == ("interrupted True 0 0", 0), run.stdout + run.stderr


@pytest.mark.parametrize("seed", [1, 2])
def test_interrupts_at_random_times(seed):
    """Even seeds leave the limits from which calls have a thread of their own as they are."""
    environment = dict(os.environ, PYTHONPATH=os.path.dirname(os.path.dirname(tr.__file__)))
    script = os.path.join(os.path.dirname(__file__), "interrupts.py")
    run = subprocess.run([sys.executable, script, str(seed), "4"], env=environment, text=True,
                         capture_output=True, timeout=300)
    assert run.returncode == 0, run.stdout + run.stderr


def interrupt_after(seconds):
    def interrupt(*_):
        raise KeyboardInterrupt
    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    return before


def test_ctrl_c_before_the_work_begins_waits_for_nothing(monkeypatch):
    from trireme import _library
    begun = []

    def interrupted(work, arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(_library._thread, "start_new_thread", interrupted)
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        _library.run(lambda: begun.append(1), long=True)
    assert time.monotonic() - start < _library.PATIENCE / 2 and not begun


def test_a_call_that_was_left_holds_its_arrays(monkeypatch):
    from trireme import _library, _oneshot
    go_on, seen = threading.Event(), []

    def slow(*_):
        go_on.wait(60)
        return 0

    def dense(array):
        seen.append(weakref.ref(array))
        return was(array)
    was = _oneshot.dense
    monkeypatch.setattr(_library, "PATIENCE", 0.05)
    monkeypatch.setattr(_oneshot, "LONG_SOLVE", 0)
    monkeypatch.setattr(_oneshot, "_once", slow)
    monkeypatch.setattr(_oneshot, "dense", dense)
    before = interrupt_after(0.2)
    try:
        with pytest.raises(KeyboardInterrupt):
            tr.spsolve_triangular(L, np.ones(N))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    gc.collect()
    assert len(seen) == 2 and all(array() is not None for array in seen)  # b and x
    go_on.set()
    limit = time.monotonic() + 60
    while any(array() is not None for array in seen) and time.monotonic() < limit:
        time.sleep(0.01)
    assert not any(array() is not None for array in seen) and not _library._calls


def test_the_interpreter_waits_for_calls_of_daemon_threads():
    code = """
import threading, time
import trireme as tr
A = tr.generate(LONG)
for _ in range(2):
    threading.Thread(target=tr.lu, args=(A,), kwargs=dict(progress=lambda *a: None), daemon=True).start()
time.sleep(0.5)
""".replace("LONG", repr(LONG))
    environment = dict(os.environ, PYTHONPATH=os.path.dirname(os.path.dirname(tr.__file__)))
    begin = time.monotonic()
    run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, timeout=120)
    assert run.returncode == 0 and time.monotonic() - begin < 30, run.stderr


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="no /proc")
def test_ten_thousand_plans_leak_nothing():
    A, b = make_triangle(50), np.ones(50)

    def work(count):
        for k in range(count):
            p = tr.plan(A, threads=1)
            p.solve(b)
            if k % 2:
                p.close()
            if k % 100 == 0:
                tr.ilu0(A).solve(b)
                with pytest.raises(tr.SingularMatrixError):
                    tr.plan(0 * A)
    work(1000)
    gc.collect()
    held, before = tr.memory_usage()[0], resident()
    work(10000)
    gc.collect()
    assert tr.memory_usage()[0] <= held + 4096
    assert resident() < before + 8e6


def test_number_of_threads():
    before = tr.get_num_threads()
    try:
        tr.set_num_threads(2)
        assert tr.get_num_threads() == 2 and tr.plan(L, method="threads").info["threads"] == 2
        tr.set_num_threads(1)
        assert tr.get_num_threads() == 1
        with pytest.raises(ValueError, match="threads"):
            tr.set_num_threads(0)
    finally:
        tr.set_num_threads(None)
    assert tr.get_num_threads() == before


def test_the_environment_sets_threads():
    environment = dict(os.environ, TRIREME_NUM_THREADS="3",
                       PYTHONPATH=os.path.dirname(os.path.dirname(tr.__file__)))
    run = subprocess.run([sys.executable, "-c", "import trireme; print(trireme.get_num_threads())"],
                         env=environment, capture_output=True, text=True)
    assert run.stdout.strip() == "3", run.stderr


def test_threadpoolctl():
    control = pytest.importorskip("threadpoolctl", "3.2", reason="no threadpoolctl 3.2")
    tr.register_threadpoolctl()
    with control.threadpool_limits(1, user_api="trireme"):
        assert tr.get_num_threads() == 1
    tr.set_num_threads(None)


@pytest.mark.parametrize("make", [lambda: tr.plan(L, device="serial"),
                                  lambda: tr.lu(L @ L.T).plan(device="serial")])
def test_clones_solve_in_threads(make):
    p = make()
    x = p.solve(B)
    clones = [p.clone() for _ in range(4)]
    assert type(clones[0]) is type(p)

    def work(k):
        with clones[k % 4].clone() as mine:
            for _ in range(20):
                np.testing.assert_array_equal(mine.solve(B), x)
    hammer(work)
    p.close()
    np.testing.assert_array_equal(clones[0].solve(B), x)
    assert clones[0].info["method"] and not pickle.loads(pickle.dumps(clones[1]))._origin
    clones[0].close()
    with pytest.raises(ValueError, match="the plan is closed"):
        clones[0].clone()


def test_a_plan_with_clones_takes_no_new_values():
    p = tr.plan(L, device="serial")
    x, clone = p.solve(B), p.clone()
    for values in (2 * L.data, "text"):
        with pytest.raises(ValueError, match="with 1 clone: close the clones, update, and clone again"):
            p.update(values)
        with pytest.raises(ValueError, match="a clone has the values of the plan"):
            clone.update(values)
    np.testing.assert_array_equal(p.solve(B), x)  # all are as they were
    np.testing.assert_array_equal(clone.solve(B), x)
    clone.close()
    p.update(2 * L.data)
    again = p.clone()
    del clone
    np.testing.assert_array_equal(again.solve(B), p.solve(B))
    assert abs(2 * again.solve(B) - x).max() < 1e-12 * abs(x).max()
    del again  # what is garbage is no clone
    gc.collect()
    p.update(L.data)


def test_factors_whose_plans_have_clones_are_not_refactored():
    A = sp.csr_array(L @ L.T)
    A.data *= np.random.default_rng(4).uniform(0.9, 1.1, A.nnz)  # no entry of the factors is zero by chance
    F = tr.lu(A)
    p = F.plan(device="serial")
    x, clones = p.solve(B), [p.clone(), p.clone()]
    p.close()
    with pytest.raises(ValueError, match="2 clones of plans solve with these factors: close the clones"):
        F.refactor(2 * A)
    np.testing.assert_array_equal(clones[0].solve(B), x)
    for clone in clones:
        clone.close()
    np.testing.assert_allclose(2 * F.refactor(2 * A).solve(B), x, rtol=1e-9)


# Programs that others planted ---------------------------------------------------------------------

@pytest.mark.skipif("TRIREME_INSTALLED" not in os.environ, reason="a checkout's library has its prefix")
def test_an_installed_package_searches_beside_itself_alone():
    with open(tr._library.library._name, "rb") as file:
        assert not re.search(rb"\0/[^\0]*libexec/trireme", file.read())
