"""The Python package beside SciPy, pyAMG and CuPy, in one process.

    python_speed.py [--out RUN.json] [--svg CHART.svg] [--part one-shot,small,plan,cg,gpu]
                    [--matrix poisson3d7:100] [--seconds S]

Real matrices (.mtx.gz) come from the folder TRIREME_MATRICES.  Both triangles of each, with a
diagonal where one is missing, are solved by spsolve_triangular of both packages, which take turns;
SciPy has the matrix by rows and by columns and the faster counts.  Trireme is called twice in turn:
"first" follows SciPy's calls, which leave other arrays in the caches, "again" follows at once.  The
least time of each counts.
A line of JSON per system; tables go to the standard output.
"""

import argparse
import datetime
import glob
import json
import os
import subprocess
import sys
import time

import numpy as np
import scipy
import scipy.sparse as sp
import scipy.sparse.linalg as sla

MOST_STEPS = 1000  # of cg: with SciPy's spilu, which is not symmetric, it need not converge
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../bindings/python"))
import trireme as tr  # noqa: E402


def least(calls, seconds, least_rounds=3):
    """The least time of each call; they take turns."""
    best, begin, rounds = [np.inf] * len(calls), time.perf_counter(), 0
    while rounds < least_rounds or time.perf_counter() - begin < seconds:
        for k, call in enumerate(calls):
            start = time.perf_counter()
            call()
            best[k] = min(best[k], time.perf_counter() - start)
        rounds += 1
    return best


def geometric_mean(values):
    return float(np.exp(np.mean(np.log(values)))) if values else float("nan")


def commit():
    run = subprocess.run(["git", "-C", HERE, "describe", "--always", "--dirty"], text=True,
                         capture_output=True)
    return run.stdout.strip() or os.environ.get("TRIREME_COMMIT", "unknown")


def machine():
    try:
        with open("/proc/cpuinfo") as file:
            name = next(line.split(":")[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        name = "unknown"
    return f"{name}, {len(os.sched_getaffinity(0))} cores"


def facts(part, **more):
    return dict(part=part, commit=commit(), machine=machine(), scipy=scipy.__version__,
                numpy=np.__version__, python=sys.version.split()[0], load=os.getloadavg()[0],
                date=datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
                **more)


def pair(name, T, uplo, seconds):
    """One system by both packages."""
    b = np.random.default_rng(1).uniform(-1, 1, T.shape[0])
    lower, rows, columns = uplo == "lower", sp.csr_array(T), sp.csc_array(T)
    first, again, by_rows, by_columns = least(
        [lambda: tr.spsolve_triangular(rows, b, lower), lambda: tr.spsolve_triangular(rows, b, lower),
         lambda: sla.spsolve_triangular(rows, b, lower),
         lambda: sla.spsolve_triangular(columns, b, lower)], seconds)
    x, y = tr.spsolve_triangular(rows, b, lower), sla.spsolve_triangular(rows, b, lower)
    with tr.plan(rows, uplo) as p:
        error, theirs = p.backward_error(x, b), p.backward_error(y, b)
    return dict(matrix=name, uplo=uplo, n=T.shape[0], nnz=int(T.nnz), first_s=first, again_s=again,
                scipy_s=min(by_rows, by_columns), backward_error=error, scipy_error=theirs)


def one_shot(seconds, write):
    rows = []
    for path in sorted(glob.glob(os.path.join(os.environ.get("TRIREME_MATRICES", "."), "*.mtx.gz"))):
        A = tr.read(path)
        if A.shape[0] != A.shape[1]:
            continue
        for uplo in ("lower", "upper"):
            T = tr.triangle(A, uplo, add_diagonal=True)
            rows.append(write(facts("one-shot", **pair(os.path.basename(path)[:-7], T, uplo, seconds))))
    report("real matrices, both triangles", rows)
    return rows


def small(seconds, write):
    rows = []
    for n in (1, 4, 10, 30, 99):
        T = tr.triangle(sp.csr_array(sp.random(n, n, min(1, 4 / n), random_state=1)), "lower",
                        add_diagonal=True)
        rows.append(write(facts("small", **pair(f"random, n = {n}", T, "lower", seconds))))
    report("n below 100", rows)
    return rows


def report(title, rows):
    for kind in ("first", "again"):
        ratio = [r["scipy_s"] / r[f"{kind}_s"] for r in rows]
        print(f"{title}, {kind} call: {geometric_mean(ratio):.1f} times as fast as SciPy in the "
              f"geometric mean of {len(rows)}, from {min(ratio):.1f} to {max(ratio):.1f}")
    print(f"  largest backward error {max(r['backward_error'] for r in rows):.1e}, "
          f"SciPy's {max(r['scipy_error'] for r in rows):.1e}")


def plan_overhead(seconds, write):
    """plan.solve(out=) and the bare C call, with arguments made beforehand."""
    import ctypes
    from trireme._library import library
    T = tr.triangle(tr.generate("poisson2d5:10"))
    n = T.shape[0]
    b, x, count = np.ones(n), np.empty(n), 1000
    with tr.plan(T) as p:
        made = [ctypes.c_void_p(x.ctypes.data), ctypes.c_int64(n), ctypes.c_void_p(b.ctypes.data),
                ctypes.c_int64(n), ctypes.c_int64(1), ctypes.c_int(0)]
        handle, call = p._handle, library.trs_solve

        def bare():
            for _ in range(count):
                call(handle, *made)

        def whole():
            for _ in range(count):
                p.solve(b, out=x)
        c_call, solve = (t / count for t in least([bare, whole], max(seconds, 1)))
    row = write(facts("plan", matrix="poisson2d5:10", n=n, solve_s=solve, ctypes_s=c_call))
    print(f"plan.solve(b, out=x), n = {n}: {1e6 * solve:.2f} µs, of which the C call through ctypes "
          f"{1e6 * c_call:.2f} µs: {1e6 * (solve - c_call):.2f} µs more")
    return [row]


def preconditioners(A):
    """Name, how it is made, and what it preconditions with."""
    yield "Trireme, ilu0", lambda: tr.ilu0(A).as_linear_operator()
    yield "Trireme, ic0", lambda: tr.ic0(A).as_linear_operator()
    try:
        import pyamg
        from pyamg.relaxation.relaxation import gauss_seidel
    except ImportError:
        pyamg = None
    csr = sp.csr_matrix(A)

    def smoother():
        def apply(r):
            z = np.zeros_like(r)
            gauss_seidel(csr, z, r, iterations=1, sweep="symmetric")
            return z
        return sla.LinearOperator(A.shape, apply, dtype=float)
    if pyamg:
        yield f"pyAMG {pyamg.__version__}, symmetric Gauss-Seidel", smoother
    csc = sp.csc_matrix(A)

    def spilu(**options):
        S = sla.spilu(csc, **options)
        return sla.LinearOperator(A.shape, S.solve)
    yield "SciPy, spilu", spilu
    yield "SciPy, spilu in symmetric mode", lambda: spilu(
        permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0, options={"SymmetricMode": True})


def cg(seconds, write, matrix):
    A = tr.generate(matrix)
    b = np.random.default_rng(1).uniform(-1, 1, A.shape[0])
    rows = []
    for name, make in preconditioners(A):
        start, begin = time.perf_counter(), time.process_time()
        try:
            M = make()
        except (RuntimeError, MemoryError) as error:
            print(f"cg, {name}: {error}")
            continue
        made, steps, cpu = time.perf_counter() - start, [], time.process_time()
        make_cpu = cpu - begin
        start = time.perf_counter()
        x, failed = sla.cg(A, b, rtol=1e-8, M=M, maxiter=MOST_STEPS,
                           callback=lambda _: steps.append(1))
        took, cpu = time.perf_counter() - start, time.process_time() - cpu
        residual = float(np.linalg.norm(A @ x - b) / np.linalg.norm(b))
        rows.append(write(facts("cg", matrix=matrix, preconditioner=name, make_s=made,
                                make_cpu_s=make_cpu, cg_s=took, cg_cpu_s=cpu, steps=len(steps),
                                residual=residual, failed=int(failed))))
        print(f"cg on {matrix}, {name}: {made:.2f} s + {took:.2f} s (processor {make_cpu:.2f} s + "
              f"{cpu:.2f} s), {len(steps)} steps, residual {residual:.1e}", flush=True)
        del M
    return rows


def gpu(seconds, write):
    """Beside CuPy's spsolve_triangular, all arrays on the GPU."""
    import cupy
    from cupyx.scipy.sparse import csr_matrix
    from cupyx.scipy.sparse.linalg import spsolve_triangular
    sync, rows = cupy.cuda.Device().synchronize, []
    for matrix in ("poisson2d5:100", "poisson2d5:1000", "poisson3d7:30", "poisson3d7:100",
                   "random:500000,4", "powerlaw:300000", "kkt3d:40", "delaunay:200000"):
        T = tr.triangle(tr.generate(matrix), add_diagonal=True)
        A, b = csr_matrix(sp.csr_matrix(T)), cupy.asarray(np.random.default_rng(1).uniform(-1, 1, T.shape[0]))
        p, x = tr.plan(A), cupy.empty_like(b)
        calls = [lambda: (p.solve(b, out=x), sync()), lambda: (tr.spsolve_triangular(A, b), sync()),
                 lambda: (spsolve_triangular(A, b), sync())]
        planned, shot, peer = least(calls, seconds, 4)
        with tr.plan(T, threads=1) as check:
            error = check.backward_error(x.get(), b.get())
        rows.append(write(facts("gpu", matrix=matrix, n=T.shape[0], nnz=int(T.nnz), plan_s=planned,
                                one_shot_s=shot, cupy_s=peer, backward_error=error,
                                cupy=cupy.__version__, device=tr.devices()[0])))
        print(f"{matrix}: CuPy {1e3 * peer:.3f} ms, one-shot {1e3 * shot:.3f} ms ({peer / shot:.2f}), "
              f"plan {1e3 * planned:.3f} ms ({peer / planned:.1f}), error {error:.1e}", flush=True)
    for name in ("plan_s", "one_shot_s"):
        ratio = [r["cupy_s"] / r[name] for r in rows]
        print(f"{name}: {geometric_mean(ratio):.2f} times as fast as CuPy, from {min(ratio):.2f} to "
              f"{max(ratio):.2f}")
    return rows


def chart(rows, path):
    """Times as fast as SciPy, one point per system, by the entries of the triangle."""
    width, height, left, bottom = 720, 380, 60, 50
    ratios = [r["scipy_s"] / r[k] for r in rows for k in ("first_s", "again_s")]
    x_low, x_high = (np.log10(f([r["nnz"] for r in rows])) for f in (min, max))
    y_low, y_high = 0.0, max(np.log10(max(ratios)) + 0.1, 1.2)

    def place(nnz, ratio):
        x = left + (np.log10(nnz) - x_low) / max(x_high - x_low, 1e-9) * (width - left - 20)
        return x, height - bottom - (np.log10(ratio) - y_low) / (y_high - y_low) * (height - bottom - 40)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
           'font-family="sans-serif" font-size="13"><rect width="100%" height="100%" fill="white"/>',
           f'<text x="{left}" y="20">spsolve_triangular: times as fast as SciPy {rows[0]["scipy"]}, '
           'one point per triangle</text>']
    for tick in (1, 2, 5, 10, 20, 50, 100):
        if np.log10(tick) <= y_high:
            _, y = place(10**x_low, tick)
            out.append(f'<line x1="{left}" x2="{width - 20}" y1="{y:.1f}" y2="{y:.1f}" '
                       f'stroke="#ddd"/><text x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">{tick}</text>')
    for tick in range(int(np.ceil(x_low)), int(x_high) + 1):
        x, _ = place(10.0**tick, 1)
        out.append(f'<text x="{x:.1f}" y="{height - 28}" text-anchor="middle">10{"⁰¹²³⁴⁵⁶⁷⁸⁹"[tick]}</text>')
    for key, colour, label, at in (("first_s", "#c8553d", "after a call of SciPy", left),
                                   ("again_s", "#2a6f97", "again", 300)):
        points = [place(r["nnz"], r["scipy_s"] / r[key]) for r in rows]
        out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}" fill-opacity="0.7"/>'
                for x, y in points]
        out.append(f'<circle cx="{at + 5}" cy="{height - 12}" r="4" fill="{colour}"/>'
                   f'<text x="{at + 14}" y="{height - 8}">{label}</text>')
    out.append(f'<text x="{width - 20}" y="{height - 8}" text-anchor="end">entries</text></svg>\n')
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(out))


PARTS = {"one-shot": one_shot, "small": small, "plan": plan_overhead, "cg": cg, "gpu": gpu}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", help="JSON lines")
    parser.add_argument("--svg", help="a chart of part one-shot")
    parser.add_argument("--part", default="one-shot,small,plan,cg")
    parser.add_argument("--matrix", default="poisson3d7:100", help="of part cg")
    parser.add_argument("--seconds", type=float, default=0.2, help="for each system")
    arguments = parser.parse_args()
    out = open(arguments.out, "w", encoding="utf-8") if arguments.out else None

    def write(row):
        if out:
            print(json.dumps(row, separators=(",", ":")), file=out, flush=True)
        return row
    for part in arguments.part.split(","):
        more = [arguments.matrix] if part == "cg" else []
        rows = PARTS[part](arguments.seconds, write, *more)
        if part == "one-shot" and arguments.svg:
            chart(rows, arguments.svg)


if __name__ == "__main__":
    main()
