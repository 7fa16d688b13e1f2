"""trireme relax on valid systems, with the solution recomputed here, and on invalid ones."""

import json
import os
import random

from harness import check, close, finish, has, matrix, path, read_vectors, refuses, run, skip, vectors

N, B = 30, 3
rng = random.Random(5)
A = {(i, j): rng.uniform(-1, 1) for i in range(N) for j in range(N)
     if i // B == j // B or rng.random() < 0.1}
for i in range(N):
    A[i, i] = 3 + sum(abs(v) for (r, _), v in A.items() if r == i)
x = [rng.uniform(-1, 1) for _ in range(N)]
b = [sum(v * x[j] for (r, j), v in A.items() if r == i) for i in range(N)]
matrix("A.mtx", N, [(i + 1, j + 1, repr(v)) for (i, j), v in sorted(A.items())],
       kind="real general")
vectors("b.mtx", [b, [2 * v for v in b]])

for direction in ("forward", "backward", "symmetric"):
    for size in (1, 3, 10):
        o = run("relax", "A.mtx", "--block-size", size, "--direction", direction, "--sweeps", 60,
                "--store", "f64", "-b", "b.mtx", "-o", "x.mtx")
        got = read_vectors("x.mtx")
        check(f"{direction} sweeps of blocks of {size} converge", o.code == 0 and
              close(got[0], x) and close(got[1], [2 * v for v in x]) and
              "2 right-hand sides" in o.out, o)

for store in ("mixed", "f64", "f32", "f16", "bf16"):
    o = run("relax", "gen:wingmesh:500", "--block-size", 5, "--store", store, "--residual-every", 5,
            "--balanced", "--json")
    r = o.json()
    check(f"{store} on the wing", o.code == 0 and r["relaxation"]["store"] == store and
          r["relaxation"]["colours"] <= 15 and len(r["sweeps"]["residuals"]) == 4 and
          r["residual"] < 0.05 and r["time"]["sweep_s"]["min"] > 0, o)

one = run("relax", "gen:wingmesh:500", "--block-size", 5, "--backend", "serial", "-o", path("1.mtx"))
two = run("relax", "gen:wingmesh:500", "--block-size", 5, "--backend", "threads:2", "-o",
          path("2.mtx"))
check("the same x on one thread and on two", one.code == two.code == 0 and
      read_vectors("1.mtx") == read_vectors("2.mtx"), two)

if has("papers"):
    o = run("bench", "w21", "--suite", "gen:wingmesh:500", "--json", "--threads", 1)
    rows = [json.loads(l) for l in o.out.splitlines()] if o.code == 0 else []
    check("bench w21 times every way of storing", [r["store"] for r in rows] ==
          ["mixed", "f64", "f32", "f16", "bf16"] and all(
              r["gbs"] > 0 and r["copy_gbs"] > 0 and r["residual"] < 0.1 for r in rows), o)
if has("OpenCL"):
    refuses("relaxation on an OpenCL device", 4, "OpenCL", "relax", "gen:wingmesh:500", "--backend",
            "opencl")
else:
    skip("relaxation on an OpenCL device", "no OpenCL")
if has("papers"):
    refuses("bench w21 without CUDA or its runtime", 4, "CUDA", "bench", "w21", "--backend", "cuda",
            "--suite", "gen:wingmesh:500", env={"TRIREME_CUDART": "/none"})
    refuses("threads of bench w21 on a GPU", 2, "--threads are the CPU's", "bench", "w21", "--backend",
            "cuda", "--threads", "2")
    refuses("variants of bench w21 on the CPU", 2, "a GPU's variants", "bench", "w21", "--methods",
            "warp-row")
refuses("a variant of a relaxation on the CPU", 2, "is a GPU's", "relax", "gen:wingmesh:500",
        "--block-size", 5, "--variant", "warp-row")

refuses("block size does not divide", 2, "blocks of 4 do not divide the 30 rows: block row 7",
        "relax", "A.mtx", "--block-size", 4)
refuses("block size too large", 2, "--block-size takes a number", "relax", "A.mtx", "--block-size",
        33)
matrix("hole.mtx", 4, [(1, 1, 1), (2, 2, 1), (3, 1, 1), (4, 2, 1)], kind="real general")
refuses("no diagonal block", 3, "block row 1 (0-based) has no diagonal block", "relax", "hole.mtx",
        "--block-size", 2)
matrix("singular.mtx", 4, [(1, 1, 1), (2, 2, 1), (3, 3, 1), (3, 4, 2), (4, 3, 2), (4, 4, 4)],
       kind="real general")
refuses("singular diagonal block", 1, "diagonal block of block row 1 (0-based) is singular", "relax",
        "singular.mtx", "--block-size", 2)
matrix("complex.mtx", 400, [(i, i, 1, 2) for i in range(1, 401)], kind="complex general")
for more in ([], ["--block-size", 2, "--nrhs", 3], ["-b", path("b.mtx")]):
    refuses("a complex matrix " + " ".join(map(str, more[:1])), 4, ["complex.mtx", "takes real matrices"],
            "relax", "complex.mtx", *more)
matrix("far.mtx", 2, [(1, 1, 1), (1, 2, 9), (2, 1, 9), (2, 2, 1)], kind="real general")
refuses("sweeps that diverge", 1, ["residual", "x was not written"], "relax", "far.mtx", "-o",
        path("no.mtx"))
check("no x of sweeps that diverge", not os.path.exists(path("no.mtx")))

# Not dominated by its diagonal blocks: the bending of a plate in one dimension.  Relaxation of this
# symmetric positive definite matrix converges slowly; with a smaller diagonal it is indefinite, and
# relaxation diverges.
def plate(diagonal):
    return [(i + 1, j + 1, v) for i in range(12) for j, v in
            ((i - 2, 1), (i - 1, -4), (i, diagonal), (i + 1, -4), (i + 2, 1)) if 0 <= j < 12]
matrix("plate.mtx", 12, plate(6), kind="real general")
matrix("indefinite.mtx", 12, plate(5), kind="real general")
few, many = (run("relax", "plate.mtx", "--block-size", 2, "--sweeps", k, "--store", "f64", "--json")
             for k in (20, 2000))
check("a symmetric positive definite system without dominance converges",
      few.code == many.code == 0 and
      many.json()["residual"] < 1e-9 and 0.1 < few.json()["residual"] < 0.5, many)
refuses("a system without dominance diverges", 1,
        ["the sweeps did not reduce the residual", "may not dominate", "--omega"], "relax",
        "indefinite.mtx", "--block-size", 2, "--sweeps", 50, "--store", "f64")

vectors("zero.mtx", [[0.0] * N])
o = run("relax", "A.mtx", "--block-size", 3, "-b", "zero.mtx", "--residual-every", 5)
check("nothing is left of b = 0", o.code == 0 and o.out.count("0.00e+00") == 4 and
      "not finite" not in o.out, o)
matrix("small.mtx", 2, [(1, 1, 1e-30), (2, 2, 1e-30)], kind="real general")
vectors("large.mtx", [[1e30, 1e30]])
refuses("x that no float can hold", 1, ["beyond their range", "unless the sweeps diverge (--store f64)"], "relax",
        "small.mtx", "-b", "large.mtx")
o = run("relax", "small.mtx", "-b", "large.mtx", "--store", "f64")
check("x that a double can hold", o.code == 0, o)
vectors("huge.mtx", [[1e200, 1e-200], [1e-200, 1e-200]])
o = run("relax", "small.mtx", "-b", "huge.mtx", "--store", "f64")
check("residuals whose squares have no place in a double", o.code == 0 and
      "not finite" not in o.out, o)
matrix("none.mtx", 0, [], kind="real general")
o = run("relax", "none.mtx")
check("no rows have no residual", o.code == 0 and "none: the system has no rows" in o.out and
      "0.00e+00 of" not in o.out, o)
o = run("relax", "none.mtx", "--json", "--sweeps", 2, "--residual-every", 1)
check("nor in JSON", o.code == 0 and o.json()["residual"] is None and
      "residuals" not in o.json()["sweeps"], o)
finish()
