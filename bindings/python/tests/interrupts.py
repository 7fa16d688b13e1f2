#!/usr/bin/env python3
"""interrupts.py - Ctrl-C at random times in every call of the package.

    interrupts.py SEED SECONDS

Prints a line per fault, leaves with 1 if there is one, and is interrupted once more while it ends.
A fault is another exception than KeyboardInterrupt, a call that does not end, memory of the C
library that nobody holds, or a progress function that is called afterwards.
"""

import gc
import os
import random
import signal
import sys
import tempfile
import time

import numpy as np
import scipy.sparse as sp

import trireme as tr
from trireme import _batch, _factors, _library, _oneshot, _plan, _relaxation

SEED, SECONDS = int(sys.argv[1]), float(sys.argv[2])
FOLDER = tempfile.TemporaryDirectory()
rng = random.Random(SEED)
faults, told = [], []

if SEED % 2:  # every call in a thread of its own
    for module in (_batch, _factors, _oneshot, _plan, _relaxation):
        for name in ("LONG_ANALYSIS", "LONG_SOLVE", "LONG_FACTORING"):
            if hasattr(module, name):
                setattr(module, name, 0)

A = sp.csr_array(tr.generate("poisson2d5:90"))
L = sp.csr_array(sp.tril(A))
N = A.shape[0]
B, MANY = np.ones(N), np.ones((N, 20))
PLAN, F, I = tr.plan(L, threads=2), tr.lu(A, order="amd"), tr.ilu0(A)
FACTORED, BATCH = F.plan(), tr.batch(L, 3)
R = tr.relaxation(sp.bsr_array(A, blocksize=(4, 4)))
VALUES = np.stack([L.data] * 3)
X = np.zeros(N)
MTX, H5 = (os.path.join(FOLDER.name, name) for name in ("a.mtx", "f.h5"))
tr.write(MTX, A)
HAS_HDF5 = "HDF5     yes" in tr.features()
if HAS_HDF5:
    tr.write(H5, F)


def progress(phase, done):
    told.append(phase)


CALLS = {
    "generate": lambda: tr.generate("poisson2d5:90"),
    "read": lambda: tr.read(MTX, progress=progress),
    "read factors": lambda: tr.read(H5) if HAS_HDF5 else None,
    "write": lambda: tr.write(os.path.join(FOLDER.name, "b.mtx"), A),
    "lu": lambda: tr.lu(A, order="amd"),
    "lu with progress": lambda: tr.lu(A, progress=progress),
    "ilu0": lambda: tr.ilu0(A, progress=progress),
    "ic0": lambda: tr.ic0(A, order="rcm"),
    "plan": lambda: tr.plan(L),
    "plan with progress": lambda: tr.plan(L, tune=True, progress=progress),
    "clone": lambda: PLAN.clone(),
    "plan of factors": lambda: F.plan(),
    "analyze": lambda: tr.from_factors(F.L, F.U, F.perm_r, F.perm_c).analyze(),
    "solve": lambda: PLAN.solve(B),
    "solve many": lambda: PLAN.solve(MANY),
    "solve of factors": lambda: FACTORED.solve(B),
    "update": lambda: PLAN.update(L.data),
    "refactor": lambda: F.refactor(A),
    "refactor ilu0": lambda: I.refactor(A),
    "condition": lambda: F.condition(),
    "backward error": lambda: PLAN.backward_error(B, B),
    "triangle": lambda: tr.triangle(A),
    "once": lambda: tr.spsolve_triangular(L, B),
    "once many": lambda: tr.spsolve_triangular(L, MANY),
    "splu": lambda: tr.splu(A, "MMD_AT_PLUS_A").solve(B),
    "spsolve": lambda: [tr.spsolve(A, B, "MMD_AT_PLUS_A") for _ in range(2)],
    "batch": lambda: tr.batch(L, 3),
    "batch of factors": lambda: tr.batch(I, 3),
    "batch update": lambda: BATCH.update(VALUES),
    "batch solve": lambda: BATCH.solve(np.ones((3, N))),
    "relaxation": lambda: tr.relaxation(sp.bsr_array(A, blocksize=(4, 4))),
    "sweep": lambda: R.sweep(X, B, 4, residual_every=1),
    "sweep update": lambda: R.update(sp.bsr_array(A, blocksize=(4, 4))),
}
RESTORE = ("update", "refactor", "refactor ilu0", "batch update", "sweep update")


def interrupt(*_):
    raise KeyboardInterrupt


def settle(name, held=0):
    """Waits until all calls have ended and no more memory is held; returns what is held."""
    limit = time.monotonic() + 60
    tr.cache_clear()
    gc.collect()
    while (_library._calls or (held and tr.memory_usage()[0] > held)) and time.monotonic() < limit:
        time.sleep(0.002)
        gc.collect()
    if _library._calls:
        faults.append(f"{name}: a call goes on for a minute")
    return tr.memory_usage()[0]


def attempt(name, seconds):
    """True if the call was interrupted."""
    hit = False
    try:
        try:
            signal.setitimer(signal.ITIMER_REAL, 1e-6 + rng.uniform(0, 1.3) * seconds)
            CALLS[name]()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except KeyboardInterrupt:
        hit = True
    except BaseException as error:
        faults.append(f"{name}: {error!r}")
    return hit


def main():
    signal.signal(signal.SIGALRM, interrupt)
    took = {}
    for name, call in CALLS.items():
        call()
        begin = time.perf_counter()
        call()
        took[name] = time.perf_counter() - begin
    PLAN.update(L.data)
    BATCH.update(VALUES)
    end, tries, hits, held = time.monotonic() + SECONDS, 0, 0, settle("start")
    names = list(CALLS)
    while time.monotonic() < end and not faults:
        name = rng.choice(names)
        hits += attempt(name, took[name])
        tries += 1
        settle(name)
        if name in RESTORE:
            CALLS[name]()
        now, count = settle(name, held), len(told)
        if now > held:
            faults.append(f"{name}: {now - held} bytes are left")
        held = now
        if tries % 50 == 0:
            time.sleep(0.05)
            if len(told) != count:
                faults.append(f"{name}: its progress function is called afterwards")
    for fault in faults:
        print(fault, flush=True)
    print(f"{tries} tries, {hits} interrupts", flush=True)
    try:  # the interpreter ends while a call is on
        signal.setitimer(signal.ITIMER_REAL, rng.uniform(0, 0.01))
        tr.lu(tr.generate("poisson2d5:150"), progress=progress)
    except KeyboardInterrupt:
        pass
    signal.setitimer(signal.ITIMER_REAL, 0)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
