"""trireme solve, factor, gen and info on valid input, with the solutions recomputed here."""

import os
import random
import re

from harness import (FOLDER, check, close, finish, gpu, has, leftovers, matrix, path, read,
                     read_vectors, refuses, run, skip, vectors, write)

N = 40
rng = random.Random(7)


def general(complex_values=False):
    """Triplets of a diagonally dominant matrix, counted from 0."""
    def value():
        return complex(rng.uniform(-1, 1), rng.uniform(-1, 1)) if complex_values else \
            rng.uniform(-1, 1)
    entries = {(i, j): value() for i in range(N) for j in range(N)
               if i != j and rng.random() < 0.15}
    for i in range(N):
        entries[i, i] = 4 + sum(abs(v) for (r, _), v in entries.items() if r == i)
    return entries


def triangle(A, lower):
    return {(i, j): v for (i, j), v in A.items() if (i >= j if lower else i <= j)}


def store(name, A):
    def numbers(v):
        return (repr(v.real), repr(v.imag)) if isinstance(v, complex) else (repr(v),)
    entries = [(i + 1, j + 1, *numbers(v)) for (i, j), v in sorted(A.items())]
    is_complex = any(isinstance(v, complex) for v in A.values())
    if is_complex:
        entries = [(*e, "0") if len(e) == 3 else e for e in entries]
    return matrix(name, N, entries, kind=("complex" if is_complex else "real") + " general")


def times(A, x, trans="n", unit=False):
    b = list(x) if unit else [0] * N
    for (i, j), v in A.items():
        if unit and i == j:
            continue
        if trans == "n":
            b[i] += v * x[j]
        else:
            b[j] += (v.conjugate() if trans == "c" else v) * x[i]
    return b


def flat(text):
    """Without the line breaks of a table."""
    return " ".join(text.split())


A = general()
Z = general(complex_values=True)
store("A.mtx", A)
store("L.mtx", triangle(A, True))
store("U.mtx", triangle(A, False))
store("Z.mtx", Z)
x = [rng.uniform(-1, 1) for _ in range(N)]
y = [rng.uniform(-1, 1) for _ in range(N)]


# ---- every kind of triangle, against b = op(T) x

for lower in (True, False):
    T, uplo, name = triangle(A, lower), "lower" if lower else "upper", "L.mtx" if lower else "U.mtx"
    for trans in "ntc":
        for unit in (False, True):
            vectors("b.mtx", [times(T, x, trans, unit)])
            more = ["--diag", "unit"] if unit else []
            o = run("solve", "A.mtx", "--uplo", uplo, "--trans", trans, *more, "-b", "b.mtx", "-o",
                    "x.mtx")
            check(f"{uplo} triangle of A, trans {trans}, {'unit' if unit else 'nonunit'} diagonal",
                  o.code == 0 and close(read_vectors("x.mtx")[0], x), o)
    vectors("b.mtx", [times(T, x), times(T, y)])
    o = run("solve", name, "-b", "b.mtx", "-o", "x.mtx")
    check(f"a matrix that is {uplo} triangular, as it is, two right-hand sides",
          o.code == 0 and close(read_vectors("x.mtx")[0], x) and close(read_vectors("x.mtx")[1], y)
          and f"{uplo} triangle" in o.out and "2 right-hand sides from b.mtx" in o.out, o)

# ---- precisions

for precision, tolerance in [("s", 1e-4), ("d", 1e-12), ("c", 1e-4), ("z", 1e-12)]:
    vectors("b.mtx", [times(triangle(A, True), x)])
    o = run("solve", "L.mtx", "--precision", precision, "-b", "b.mtx", "-o", "x.mtx")
    check(f"precision {precision}", o.code == 0 and
          close(read_vectors("x.mtx")[0], x, tolerance), o)
o = run("solve", "Z.mtx", "--uplo", "lower", "--trans", "c")
check("a complex matrix is solved in double complex", o.code == 0 and "double complex" in o.out, o)
write("bz.mtx", "%%MatrixMarket matrix array complex general\n1 1\n1 2\n")
write("one.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2\n")
refuses("a complex right-hand side of a real matrix", 3, ["bz.mtx", "--precision z"], "solve",
        "one.mtx", "-b", "bz.mtx")
o = run("solve", "one.mtx", "-b", "bz.mtx", "--precision", "z")
check("is solved in complex numbers", o.code == 0, o)
refuses("complex values are not cut down to real", 2, "Z.mtx", "solve", "Z.mtx", "--uplo", "lower",
        "--precision", "d")

# ---- where and how

for backend in ["serial", "threads", "threads:1", "threads:2", "threads:5", "auto"]:
    o = run("solve", "gen:poisson2d5:60", "--uplo", "lower", "--backend", backend, "--nrhs", "3",
            "--repeat", "3")
    check(f"backend {backend}", o.code == 0 and "median of 3" in o.out, o)
listed = {part.split(":")[0]: [l.split()[0] for l in part.splitlines()[1:]
                               if l[:1].strip() and not l.startswith("not available")]
          for part in run("methods").out.split("\n\n")}
on_cpu = listed["Solves on one thread of the CPU"] + listed["Solves on all threads of the CPU"]
for method in [] if has("papers") else ["levelset", "levelset-cpu", "syncfree-csc", "zerocopy"]:
    refuses(f"method {method} in a build without papers", 4, "TRIREME_WITH_PAPERS", "solve",
            "gen:poisson2d5:60", "--uplo", "upper", "--method", method)
for place in ["Solves on one thread of the CPU", "Solves on all threads of the CPU", "Solves on one GPU",
              "Solves on several GPUs"]:
    for method in listed[place]:
        if "GPU" in place and method in on_cpu:
            continue  # a context without a GPU takes the CPU's method of this name
        words = ["solve", "gen:poisson2d5:60", "--uplo", "upper", "--method", method]
        if not has("CUDA") and "GPU" in place:
            refuses(f"method {method} without CUDA", 4, "needs CUDA", *words)
        elif "several" in place or "GPU" in place and not gpu():
            refuses(f"method {method} here", 4, f"method {method} cannot be used here", *words)
        else:
            o = run(*words)
            refused = "GPU" in place and o.code == 4 and "cannot be used here" in o.err
            check(f"method {method}", o.code == 0 and method in o.out or refused, o)
check("methods are listed by place", listed["Solves on one thread of the CPU"][0] == "serial" and
      listed["Solves on all threads of the CPU"][0] == "threads", listed)
o = run("solve", "gen:poisson2d5:300", "--uplo", "lower", "--backend", "threads:2")
check("auto says why with a ratio, not with times that it does not know", o.code == 0 and
      re.search(r"chosen: estimated \d\.\d\d times as fast as (serial|threads)", o.out) and
      " ms a solve" not in o.out, o)
check("the reference time comes with a ratio, and is no limit",
      re.search(r"reference time +\S+ \S+; the best solve took\s+(\S+ times|less than)\s+that", o.out) and
      "bound" not in o.out, o)
o = run("solve", "--help")
check("help calls it a reference time", "It is no limit" in o.out and "can beat" not in o.out, o)
check("relax explains omega", "the relaxation factor (default 1)" in run("relax", "--help").out)
for method in ["engine"] + ["levelset", "syncfree-csc", "supernodal"] * has("papers"):
    if not has("CUDA"):
        refuses(f"method {method} without CUDA", 4, "needs CUDA", "solve", "gen:chain:5", "--uplo",
                "lower", "--method", method)
if gpu():
    words = ["solve", "gen:poisson2d5:60", "--uplo", "lower", "--backend", "cuda"]
    for more in [[], ["--trans", "t"], ["--nrhs", "5"], ["--tune"], ["--precision", "z"],
                 ["--method", "syncfree-csc:warps=8"]]:
        o = run(*words, *more)
        check("on a GPU " + " ".join(more), o.code == 0 and "\n  GPU " in o.out and
              "the transfers of b and x" in o.out, o)
    o = run(*words, "--store", "mixed")
    check("values stored as floats", o.code == 0 and "values stored as floats" in o.out, o)
    refuses("no such GPU", 4, "no GPU 900", *words[:-1], "cuda:900")
else:
    for backend in ["cuda", "cuda:1", "cuda:0-3", "cuda:0,0", "nvshmem"]:
        why = "trireme: " if backend == "nvshmem" else "CUDA"  # not in the build, or no GPU
        refuses(f"backend {backend} without a GPU", 4, why, "solve", "gen:poisson2d5:60", "--uplo",
                "lower", "--backend", backend)
    skip("solves on a GPU", run("solve", "gen:chain:5", "--uplo", "lower", "--backend", "cuda").err
         .strip())
    o = run("solve", "gen:poisson2d5:60", "--uplo", "lower", "--store", "mixed", "--trans", "t")
    check("an option that the method does not heed", o.code == 0 and "--store has no effect: serial keeps" in o.err
          and "stored as floats" not in o.out and "stored: values in their own type" in o.out, o)
    o = run("solve", "gen:poisson2d5:60", "--uplo", "lower", "--gpu-memory", "1")
    check("--gpu-memory without a GPU", o.code == 0 and "--gpu-memory has no effect" in o.err,
          o)
o = run("solve", "gen:poisson2d5:60", "--uplo", "lower", "--backend", "serial", "--store", "mixed")
check("one thread stores floats", o.code == 0 and o.err == "" and "values stored as floats" in o.out, o)
o = run("solve", "gen:poisson2d5:60", "--uplo", "lower", "--method", "serial", "--tune")
check("--tune of one method", o.code == 0 and "--tune has no effect with --method serial" in o.err, o)
o = run("solve", "gen:poisson2d5:60", "--uplo", "lower", "--tune")
check("--tune of all methods", o.code == 0 and o.err == "", o)
o = run("solve", "gen:wingmesh:300", "--uplo", "lower", "--method", "blocks", "--store", "mixed", "--json")
check("a method that stores as floats says so", o.code == 0 and o.err == "" and
      o.json()["plan"]["store"] == "mixed", o)
for backend in ["serial", "opencl"]:
    o = run("solve", "gen:poisson2d5:60", "--uplo", "lower", "--backend", backend, "--store", "mixed",
            "--trans", "t", "--gpu-memory", "1", "--json")
    if o.code == 4:
        skip("options of GPUs on an OpenCL device", o.err.strip())
        continue
    check(f"options of GPUs on the backend {backend}", o.code == 0 and "--store has no effect" in o.err and
          "--gpu-memory has no effect" in o.err and o.json()["plan"]["store"] == "same", o)
for name, more in [("trees", ["flat"]), ("scattered", []), ("invert", ["blocks"]), ("width", ["8"])]:
    o = run("solve", "gen:poisson2d5:60", "--uplo", "lower", "--" + name, *more)
    check(f"--{name} without --grid", o.code == 0 and
          f"note: --{name} has no effect without --grid" in o.err, o)
o = run("solve", "gen:poisson2d5:60", "--uplo", "lower", env={
    "OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_RANK": "0"})
check("one of several processes without --grid", o.code == 0 and
      "every process solves the whole system on its own" in o.err, o)
o = run("solve", "gen:poisson2d5:60", "--uplo", "lower", env={
    "OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_RANK": "1"})
check("only the first says so", o.code == 0 and o.err == "", o)
for tasks, said in ((None, False), ("1", False), ("2", True)):
    env = {"PMIX_RANK": "0", **({"SLURM_NTASKS": tasks} if tasks else {})}
    o = run("solve", "gen:poisson2d5:60", "--uplo", "lower", env=env)
    check(f"PMIX_RANK without a size, SLURM_NTASKS {tasks}", o.code == 0 and
          ("every process solves the whole system" in o.err) == said, o)
o = run("solve", "gen:poisson2d5:60", "--uplo", "lower", env={"SLURM_NTASKS": "2"})
check("a batch script of several tasks is one process", o.code == 0 and o.err == "", o)
o = run("solve", "gen:poisson2d5:60", "--uplo", "lower", "--repeat", "1")
check("one repeat", o.code == 0 and ", one solve" in o.out, o)
run("solve", "L.mtx", "--rhs", "random:5", "-o", "x.mtx")
first = read("x.mtx")
run("solve", "L.mtx", "--rhs", "random:5", "-o", "x.mtx", "--backend", "serial")
check("the same seed gives the same system", close(read_vectors("x.mtx")[0],
      [complex(*map(float, l.split())) for l in first.decode().splitlines()[2:]]
      if first.count(b"%") == 2 else read_vectors("x.mtx")[0]))
run("solve", "L.mtx", "--rhs", "random:6", "-o", "x.mtx")
check("another seed gives another", read("x.mtx") != first)

# ---- diagonals

matrix("gap.mtx", 3, [(1, 1, 2), (2, 1, -4), (3, 2, 1), (3, 3, 0)])
refuses("a missing diagonal entry", 3, ["gap.mtx", "row 1 ", "--add-diagonal", "--diag unit"], "solve", "gap.mtx")
for name in ("t", "the"):
    matrix(name, 2, [(1, 1, 1), (2, 1, 1), (2, 2, 0)])
    refuses(f"a zero pivot in a file called {name}", 1, f"trireme: {name}: the diag", "solve", name)
vectors("b.mtx", [[2, 0, 2]])
o = run("solve", "gap.mtx", "--add-diagonal", "-b", "b.mtx", "-o", "x.mtx")
check("--add-diagonal", o.code == 0 and close(read_vectors("x.mtx")[0], [1, 1, 1]), o)
o = run("solve", "gap.mtx", "--diag", "unit")
check("--diag unit needs no diagonal", o.code == 0, o)
matrix("zero.mtx", 2, [(1, 1, 1), (2, 2, 0)])
o = refuses("a zero pivot", 1, ["zero.mtx", "row 1"], "solve", "zero.mtx")
matrix("diagonal.mtx", 2, [(1, 1, 2), (2, 2, 4)])
vectors("b.mtx", [[2, 4]])
for uplo in [[], ["--uplo", "lower"], ["--uplo", "upper"]]:
    o = run("solve", "diagonal.mtx", *uplo, "-b", "b.mtx", "-o", "x.mtx")
    check("a diagonal matrix " + " ".join(uplo), o.code == 0 and
          close(read_vectors("x.mtx")[0], [1, 1]), o)

# ---- numerical failure

matrix("overflow.mtx", 3, [(1, 1, 1e-300), (2, 1, 1e300), (2, 2, 1), (3, 2, 1), (3, 3, 1)])
before = os.listdir(FOLDER)
o = refuses("a solution that overflows", 1,
            ["x overflows double: first in row 1 of right-hand side 0 (0-based)", "no solution is written"],
            "solve", "overflow.mtx", "-o", "bad.mtx")
check("a wrong solution is not written", not leftovers(before), leftovers(before))
check("and the table says so", "NOT small" in o.out, o)
matrix("unit.mtx", 40000, [(1, 1, 1)], columns=1)
for options in [["--uplo", "lower"], ["--uplo", "upper", "--trans", "t", "--precision", "s"]]:
    o = run("solve", "gen:poisson2d5:200", *options, "-b", "unit.mtx", "-o", "x.mtx")
    check("a solution in range " + " ".join(options), o.code == 0 and
          ("below the range" in o.out) == ("s" in options), o)
o = run("solve", "gen:poisson2d5:600", "--uplo", "lower", "-b",
        matrix("unit.mtx", 360000, [(1, 1, 1)], columns=1), "-o", "x.mtx")
check("a solution that underflows", o.code == 0 and "below the range of double" in o.out, o)

# ---- JSON

KEYS = ["matrix.n", "matrix.nnz", "matrix.levels", "plan.backend", "plan.method", "plan.reason",
        "time.analysis_s", "time.update_s", "time.solve_s.min", "time.solve_s.median", "bytes",
        "bound_s", "backward_error.componentwise", "backward_error.normwise"]
MORE = ["matrix.name", "matrix.scalar", "matrix.kind", "system.trans", "system.diag", "system.nrhs",
        "plan.threads", "memory.peak_bytes", "version", "command"]


def at(report, key):
    for word in key.split("."):
        report = report[word] if isinstance(report, dict) and word in report else None
    return report


o = run("solve", "gen:poisson2d5:50", "--uplo", "lower", "--nrhs", "2", "--json")
j = o.json()
check("--json prints JSON and nothing else", o.code == 0 and j and o.err == "", o)
for key in KEYS + MORE:
    check(f"JSON has {key}", at(j, key) is not None, o)
for key in KEYS:
    if not key.startswith("plan"):
        check(f"JSON's {key} is a number", isinstance(at(j, key), (int, float)), o)
check("JSON's device", "device" in at(j, "plan") and at(j, "plan.store") == "same", o)
check("JSON's numbers", at(j, "matrix.n") == 2500 and at(j, "matrix.nnz") == 7400 and
      at(j, "matrix.levels") == 99 and at(j, "system.nrhs") == 2, o)
check("JSON's times", 0 < at(j, "time.solve_s.min") <= at(j, "time.solve_s.median"), o)
check("JSON's backward error", at(j, "backward_error.componentwise") <=
      at(j, "backward_error.limit") and "error" not in j, o)
if has("OpenCL"):
    o = run("solve", "gen:poisson2d5:50", "--uplo", "lower", "--backend", "opencl", "--json")
    if "there is no OpenCL device" in o.err + o.out:
        skip("JSON's time on an OpenCL device", "no OpenCL device")
    else:
        j = o.json()
        check("JSON's time on an OpenCL device", o.code == 0 and 0 < at(j, "time.device_s") < 1, o)
else:
    skip("JSON's time on an OpenCL device", "no OpenCL")
o = run("solve", "overflow.mtx", "--json")
j = o.json()
check("JSON of a numerical failure", o.code == 1 and at(j, "error.exit_code") == 1 and
      at(j, "matrix.n") == 3 and "backward_error" in j and
      o.err.startswith("trireme: "), o)
o = run("solve", "zero.mtx", "--json")
check("JSON of a zero pivot", o.code == 1 and at(o.json(), "error.row") == 1 and
      at(o.json(), "error.status") == "zero pivot", o)
o = run("info", "A.mtx", "--json")
j = o.json()
check("JSON of info", o.code == 0 and at(j, "matrix.n") == N and
      sum(at(j, "lower.level_rows")) == N and at(j, "upper.levels") > 0 and
      at(j, "matrix.symmetric_pattern") is False, o)
o = run("info", "gen:chain:9", "--json")
j = o.json()
check("columns by length: one has 1 entry, eight have 2 to 3", o.code == 0 and
      at(j, "lower.columns.by_length") == [0, 1, 8] and
      (at(j, "lower.columns.shortest"), at(j, "lower.columns.longest")) == (1, 2), o)
o = run("info", "A.mtx")
check("info tells the lengths of columns", "columns " in o.out and "column lengths" in o.out, o)

# ---- factors

if has("HDF5"):
    kinds = {"triangle": [], "ilu0": [], "ic0": ["gen:poisson2d5:12"],
             "lu": []}
    if not has("SuperLU"):
        refuses("large lu without SuperLU", 4, "libsuperlu-dev", "factor", "gen:poisson3d7:24",
                "-o", "F.h5")
    for kind, source in kinds.items():
        more = ["--order", "natural"] if kind == "lu" else []
        o = run("factor", *(source or ["A.mtx"]), "-o", "F.h5", "--kind", kind, *more)
        check(f"factor --kind {kind}", o.code == 0 and kind in o.out and
              f"written         F.h5" in o.out, o)
        for trans in "nt":
            o = run("solve", "F.h5", "--trans", trans)
            system = {"n": "A x = b;", "t": "A^T x = b;"} if kind == "lu" else \
                {"n": " L U x = b, ", "t": " (L U)^T x = b, "}
            check(f"solve with factors {kind}, trans {trans}", o.code == 0 and system[trans] in o.out and
                  ("where L U is only near A" in flat(o.out)) == (kind in ("ilu0", "ic0")), o)
        o = run("info", "F.h5")
        check(f"info of factors {kind}", o.code == 0 and kind in o.out and "in L" in o.out, o)
    if has("SuperLU"):
        orders = ["natural"] + ["nd"] * has("METIS") + ["amd"] * has("AMD")
        for order in orders:
            for trans in "nt":
                vectors("b.mtx", [times(A, x, trans)])
                run("factor", "A.mtx", "-o", "F.h5", "--order", order)
                o = run("solve", "F.h5", "-b", "b.mtx", "-o", "x.mtx", "--trans", trans)
                check(f"A x = b through LU, order {order}, trans {trans}",
                      o.code == 0 and close(read_vectors("x.mtx")[0], x, 1e-10), o)
        o = run("factor", "gen:poisson3d7:8", "-o", "F.h5", "--leaves", "4", "--pivot-threshold",
                "0.5", "--order", orders[-1])
        check("factor with all its options", o.code == 0, o)
        matrix("arrow.mtx", 4, [(1, 1, 1e-3), (2, 2, 1), (3, 3, 1), (4, 4, 1)] +
               [(4, k, 1) for k in (1, 2, 3)] + [(k, 4, 1) for k in (1, 2, 3)])
        fill = {}
        for threshold in ["0", "1e-9", "0.1"]:
            o = run("factor", "arrow.mtx", "-o", "F.h5", "--order", "natural",
                    "--pivot-threshold", threshold)
            fill[threshold] = [line for line in o.out.split("\n") if "in L" in line] or str(o)
        check("pivot threshold 0 keeps the diagonal",
              fill["0"] == fill["1e-9"] != fill["0.1"], fill)
        refuses("leaves not a power of two", 2, "--leaves takes a power of two, not 3", "factor",
                "gen:poisson3d7:8", "-o", "F.h5", "--leaves", "3", "--order", "nd")
    o = run("factor", "A.mtx", "-o", "G.h5", "--kind", "ic0", "--leaves", 4, "--pivot-threshold", 1)
    check("notes on options without effect", "--leaves has no effect with --order natural" in o.err and
          "--pivot-threshold has no effect with --kind ic0" in o.err, o)
    refuses("--block-size with a kind without blocks", 2, "--block-size is for --kind bilu0",
            "factor", "A.mtx", "-o", "G.h5", "--kind", "ilu0", "--block-size", 2)
    o = run("factor", "A.mtx", "-o", "G.h5", "--kind", "dilu", "--block-size", 2, "--pivot-threshold", 1)
    check("a pivot threshold inside blocks", o.code == 0 and "note" not in o.err, o)
    kershaw = {(i, i): 3.0 for i in range(4)}
    kershaw.update({(i, j): -2.0 for i in range(4) for j in range(4) if abs(i - j) == 1})
    kershaw.update({(0, 3): 2.0, (3, 0): 2.0})
    for name, T in [("kershaw.mtx", kershaw), ("lower.mtx", triangle(kershaw, True)),
                    ("upper.mtx", {**triangle(kershaw, False), (3, 0): 7.0})]:
        matrix(name, 4, [(i + 1, j + 1, v) for (i, j), v in sorted(T.items())], kind="real general")
    for kind in ("ic0", "bic0"):
        refuses(f"{kind} of Kershaw's matrix", 1, "use a shift", "factor", "kershaw.mtx", "-o",
                "G.h5", "--kind", kind)
        shifts = []
        for words in (["kershaw.mtx"], ["lower.mtx", "--uplo", "lower"],
                      ["upper.mtx", "--uplo", "upper"]):
            o = run("factor", *words, "-o", "G.h5", "--kind", kind, "--shift", "1e-3", "--json")
            shifts.append(at(o.json(), "factors.shift"))
            check(f"{kind} of {words[0]} with a shift", o.code == 0 and shifts[-1] > 1e-3 and
                  at(o.json(), "factors.backward_error") < 1e-14, o)
            check("the error of A is that of a whole matrix",
                  (at(o.json(), "factors.backward_error_of_A") is None) == (len(words) > 1), o)
            check("info tells the shift", f"factors of A + {shifts[-1]:.4g} diag(A)" in
                  run("info", "G.h5").out, o)
            vectors("b.mtx", [[1, 2, 3, 4]])
            check("and solve takes the factors", run("solve", "G.h5", "-b", "b.mtx").code == 0)
        check("the shift is that of the whole matrix", len(set(shifts)) == 1, shifts)
        o = run("factor", "kershaw.mtx", "-o", "G.h5", "--kind", kind, "--shift", "1e-3")
        check("the report tells the shift", f"A + {shifts[0]:.4g} diag(A) was factored" in o.out, o)
    refuses("one triangle without --uplo", 3, "say by uplo which triangle is stored", "factor", "lower.mtx",
            "-o", "G.h5", "--kind", "ic0")
    for words in (["--uplo", "lower"], ["--shift", "1e-3"]):
        refuses(f"{words[0]} with another kind", 2, f"{words[0]} is for --kind ic0 and bic0", "factor",
                "A.mtx", "-o", "G.h5", "--kind", "ilu0", *words)
    refuses("--levels with another kind", 2, "--levels is for --kind ilu0 and ic0", "factor", "A.mtx",
            "-o", "G.h5", "--levels", "1")
    o = run("factor", "A.mtx", "-o", "G.h5", "--kind", "ilu0", "--levels", "99", "--json")
    check("all levels are the complete factors", at(o.json(), "factors.levels") == 99 and
          at(o.json(), "factors.backward_error_of_A") < 1e-12, o)
    refuses("--uplo with factors", 2, "to which --uplo does not apply", "solve", "F.h5", "--uplo", "lower")
    refuses("--diag with factors", 2, "to which --diag does not apply", "solve", "F.h5", "--diag", "unit")
    refuses("factors of factors", 3, "needs a matrix", "factor", "F.h5", "-o", "G.h5")
    o = run("factor", "A.mtx", "-o", "F.h5", "--kind", "ilu0", "--json")
    of_A = at(o.json(), "factors.backward_error_of_A")
    check("errors of incomplete factors", at(o.json(), "factors.backward_error") < 1e-14 and
          of_A > 1e-6, o)
    j = run("solve", "F.h5", "--matrix", "A.mtx", "--json").json()
    check("--matrix", at(j, "backward_error.componentwise") < 1e-14 and
          at(j, "backward_error_of_matrix.componentwise") == of_A, j)
    check("JSON of factor", o.code == 0 and at(o.json(), "factors.kind") == "ilu0" and
          at(o.json(), "output.bytes") > 0 and at(o.json(), "factors.fill") > 0, o)
    for kind in ("ilu0", "lu") if has("SuperLU") and has("METIS") else ("ilu0",):
        o = run("solve", "A.mtx", "--factor", kind, "--json", "-o", "x1.mtx")
        j = o.json()
        check("--factor solves A x = b", o.code == 0 and at(j, "backward_error.componentwise") < 1e-14 and
              (at(j, "backward_error_of_matrix.componentwise") < 1e-14) == (kind == "lu") and
              at(j, "time.factor_s") > 0 and at(j, "matrix.kind") == "factors", o)
    for also in (("--uplo", "lower"), ("--diag", "unit"), ("--add-diagonal",), ("--matrix", "A.mtx"),
                 ("--grid", "1x1x1")):
        o = run("solve", "not-read.mtx", "--factor", "ilu0", *also)
        check("--factor leaves no choice of a triangle or matrix", o.code == 2 and also[0] in o.err, o)
    o = run("solve", "F.h5", "--factor", "lu")
    check("--factor is for a matrix", o.code == 3 and "holds factors" in o.err, o)
    o = run("solve", "F.h5", "--json")
    check("JSON of a solve with factors", o.code == 0 and
          all(at(o.json(), k) is not None for k in KEYS) and
          at(o.json(), "matrix.kind") == "factors", o)
else:
    o = run("factor", "A.mtx", "-o", "F.h5", "--kind", "triangle")
    check("factors are written without HDF5", o.code == 0, o)
    refuses("but not read", 4, "libhdf5-dev", "solve", "F.h5")

# ---- factors that solve makes

for words, system in [([], "L U x = b, where L U is only near A; 1 right-hand side"),
                      (["--trans", "t"], "(L U)^T x = b, where L U is only near A;")]:
    o = run("solve", "gen:poisson2d5:12", "--factor", "ilu0", *words)
    check("incomplete factors solve another system", o.code == 0 and system in flat(o.out) and
          "normwise: the error of the incomplete factorisation" in flat(o.out), o)
errors, entries = [], []
for levels in (0, 1, 3):
    j = run("solve", "gen:poisson2d5:12", "--factor", "ilu0", "--levels", levels, "--json").json()
    errors.append(at(j, "backward_error_of_matrix.componentwise"))
    entries.append(at(j, "matrix.nnz"))
check("more levels of fill are nearer to A", errors == sorted(errors, reverse=True) and
      entries == sorted(set(entries)), (errors, entries))
for words in ([], ["--factor", "lu"]):
    refuses("levels of fill without incomplete factors", 2, "--levels is for --factor ilu0 and ic0",
            "solve", "not-read.mtx", "--levels", 2, *words)
complete = has("SuperLU") and has("METIS")
o = run("solve", "gen:poisson2d5:12", "--factor", "lu")
if complete:
    check("complete factors solve A x = b", o.code == 0 and "A x = b; 1 right-hand side" in flat(o.out) and
          "incomplete" not in o.out and "condition" not in o.out, o)
else:
    check("complete factors say what they need", o.code == 4 and "which is not in this build" in o.err, o)
check("the help says what each gives", "and of L U x = b, where L U is only near A, for incomplete ones (ilu0, ic0)"
      in flat(run("solve", "--help").out) and "--factor ilu0|ic0    for L U x = b" in run("solve", "-h").out)
nearly = [(1, 1, 1), (1, 2, 2), (2, 1, 2)]
matrix("nearly.mtx", 2, [*nearly, (2, 2, "4.000001")])
if complete:
    o = run("solve", "nearly.mtx", "--factor", "lu", "--precision", "s")
    check("1/eps is that of the type", o.code == 0 and "beyond 1/eps" in o.out, o)
    # b = A (1, 1): no solve with it enlarges anything
    vectors("b.mtx", [[3, 6]])
    for last, beyond in [("4.000000000000001", True), ("4.0001", False), ("5", False)]:
        matrix("nearly.mtx", 2, [*nearly, (2, 2, last)])
        for words in ([], ["-b", "b.mtx"], ["-b", "b.mtx", "--trans", "t"]):
            o = run("solve", "nearly.mtx", "--factor", "lu", *words)
            check(f"the condition of [1 2; 2 {last}] {' '.join(words)}", o.code == 0 and
                  ("beyond 1/eps: perhaps no digit of x is right" in flat(o.out)) == beyond, o)
            condition = at(run("solve", "nearly.mtx", "--factor", "lu", *words, "--json").json(),
                           "factors.condition")
            check("and in JSON", condition > 4e16 if beyond else condition is None, condition)
else:
    skip("conditions of complete factors", "SuperLU or METIS is not in this build")
o = run("solve", "nearly.mtx", "--factor", "ilu0")
check("of incomplete factors no condition is told", o.code == 0 and "condition" not in o.out, o)
for option in ("order", "shift", "kind", "block-size"):
    for words in (["--" + option, "1"], [f"--{option}=1"]):
        refuses(f"--{option} belongs to factor", 2,
                f"there is no option --{option}; trireme factor has it, and writes what trireme solve reads",
                "solve", "nearly.mtx", "--factor", "ilu0", *words)
o = run("factor", "nearly.mtx", "--trans", "t", "-o", "G.h5")
check("factor sends nobody to solve", o.code == 2 and "there is no option --trans\n" in o.err, o)

for words in (["A.mtx", "--factor", "ilu0", "-o", "A.mtx"], ["A.mtx", "--factor", "ilu0", "-o", "./A.mtx"],
              ["A.mtx", "--factor", "ilu0", "-b", "own.mtx", "-o", "own.mtx"]):
    vectors("own.mtx", [[1.0]])
    kept = [read(name) for name in ("A.mtx", "own.mtx")]
    refuses("an output that is an input", 2, f"{words[-1]} is read, and -o would replace it: name another file",
            "solve", *words)
    check("and both are as before", kept == [read(name) for name in ("A.mtx", "own.mtx")])

# ---- several right-hand sides

for nrhs, label in [(1, ""), (3, " per right-hand side"), (16, " per right-hand side")]:
    words = ["solve", "gen:poisson2d5:300", "--uplo", "lower", "--backend", "threads:2", "--nrhs", nrhs]
    o = run(*words)
    check(f"the reference time of {nrhs}", o.code == 0 and
          re.search(rf"reference time [\d.]+ \S+{label}; the best", flat(o.out)) and
          f"({'per' if nrhs > 1 else 'one'} right-hand side, idle cores)" in flat(o.out), o)
    j = run(*words, "--json").json()
    check("is compared with the time of each", abs(at(j, "bound_ratio") * at(j, "bound_s") * nrhs /
                                                   at(j, "time.solve_s.min") - 1) < 1e-6, j)
o = run("solve", "gen:poisson2d5:100", "--uplo", "lower", "--backend", "serial")
check("why one thread has no panels", o.code == 0 and "chosen: adjacent rows seldom have the same pattern, "
      "so dense panels would not pay" in flat(o.out), o)

# ---- gen and info

for name in ["gen:poisson2d5:9", "poisson2d5:9"]:
    o = run("gen", name, "-o", "P.mtx")
    check(f"gen {name}", o.code == 0 and "81 x 81, 369 entries" in o.out, o)
a, b = run("info", "P.mtx").out, run("info", "gen:poisson2d5:9").out
check("a generated file is what its name is",
      [l for l in a.splitlines()[1:] if "reference time" not in l] ==
      [l for l in b.splitlines()[1:] if "reference time" not in l], a + b)
for words, said in [(["A.mtx"], ["general", "unsymmetric pattern"]),
                    (["P.mtx"], ["symmetric", "17", "1 to 9"]),
                    (["L.mtx"], ["lower triangular"]),
                    (["U.mtx"], ["upper triangular"]),
                    (["diagonal.mtx"], ["diagonal"]),
                    (["gap.mtx"], ["1 entry missing, the first in row 1 (0-based)"])]:
    o = run("info", *words)
    check("info " + words[0], o.code == 0 and all(s in o.out for s in said), o)

# Symmetry as IC(0) judges it: 100 units of roundoff, relative to the root of both diagonal entries
# or to the larger entry.
UNIT = 2.0 ** -53
for name, left, right, diagonals, said in [
        ("equal", 0.5, 0.5, (2, 8), "symmetric"), ("zero", 0.0, None, (2, 8), "symmetric"),
        ("noise", 300 * UNIT, -90 * UNIT, (2, 8), "symmetric up to rounding"),
        ("noise without a mirror", 390 * UNIT, None, (2, 8), "symmetric up to rounding"),
        ("mirror without noise", None, -390 * UNIT, (2, 8), "symmetric up to rounding"),
        ("a large entry", 64.0, 64 + 64 * 90 * UNIT, (2, 8), "symmetric up to rounding"),
        ("beyond", 300 * UNIT, -110 * UNIT, (2, 8), "symmetric pattern, unsymmetric values"),
        ("beyond without a mirror", 410 * UNIT, None, (2, 8), "unsymmetric pattern"),
        ("a large entry beyond", 64.0, 64 + 64 * 110 * UNIT, (2, 8),
         "symmetric pattern, unsymmetric values")]:
    near = [(1, 1, diagonals[0]), (2, 2, diagonals[1]), (2, 3, 1e-3), (3, 2, 1e-3), (3, 3, 1)] + \
        [(1, 2, repr(left))] * (left is not None) + [(2, 1, repr(right))] * (right is not None)
    matrix("near.mtx", 3, near, kind="real general")
    o = run("info", "near.mtx")
    check(f"info: {name}", o.code == 0 and f", {said}\n" in o.out, o)
    j = run("info", "near.mtx", "--json").json()
    taken = run("factor", "near.mtx", "-o", "G.h5", "--kind", "ic0")
    check("and IC(0) agrees", not has("HDF5") or at(j, "matrix.symmetric") ==
          ("not symmetric" not in taken.err), taken)
    check("JSON tells the two apart", at(j, "matrix.symmetric") == ("unsymmetric" not in said) and
          at(j, "matrix.exactly_symmetric") == (said == "symmetric"), j)
matrix("near.mtx", 2, [(1, 1, 2, 0), (1, 2, 1, 1 + 4 * UNIT), (2, 1, 1, -1), (2, 2, 2, 0)],
       kind="complex general")
check("info: hermitian up to rounding", ", hermitian up to rounding\n" in run("info", "near.mtx").out)
matrix("near.mtx", 3, [(1, 2, 1), (2, 1, -1), (3, 1, 2), (1, 3, -2)], kind="real general")
check("info: skew-symmetric", ", skew-symmetric\n" in run("info", "near.mtx").out)
matrix("wide.mtx", 2, [(1, 1, 1), (2, 5, 1)], columns=5)
o = run("info", "wide.mtx")
check("info of a rectangular matrix", o.code == 0 and "rectangular" in o.out, o)
matrix("none.mtx", 0, [])
for words in [["info", "none.mtx"], ["solve", "none.mtx"]]:
    o = run(*words)
    check(f"a matrix without rows, {words[0]}", o.code == 0, o)
matrix("zero.mtx", 2, [(1, 1, 2), (1, 2, 0), (2, 1, 1), (2, 2, 3)])
refuses("a stored zero across the diagonal is named", 3, "1 above, 1 of them stored zeros",
        "solve", "zero.mtx")
o = run("info", "P.mtx", env={"LC_ALL": "C"})
check("plain letters where the locale has no others", o.out.isascii(), o)
finish()
