"""simulate.py - simulated solves from outside: 64 ranks of SMPI beside the LogGP model, the same
figures twice, and what both refuse.  Usage: simulate.py BUILD.  Prints 'ok NAME' and so on."""

import json
import os
import shutil
import subprocess
import sys
import tempfile

build = sys.argv[1]
bench = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench", "l23")
tool = os.path.join(build, "simulate", "trireme-simulate")
bad = 0


def verdict(name, truth, why=""):
    global bad
    bad += not truth
    print(f"ok {name}" if truth else f"{why}\nnot ok {name}", flush=True)


def lines(*command):
    result = subprocess.run(command, text=True, capture_output=True, timeout=240)
    return [json.loads(l) for l in result.stdout.splitlines() if l.startswith("{")], result


def grids(solves):
    return [part for s in solves for part in ("--grid", s)]


def refusals(path):
    for name, solve, words in (("three grids", "grid3d:2x2x3:1", "power of two"),
                               ("more grids than leaves", "grid3d:1x1x32:1", "at most the tree's 16"),
                               ("no such method", "grid4d:2x2x2:1", "METHOD"),
                               ("grid2d of two grids", "grid2d:2x2x2:1", "PZ = 1")):
        result = subprocess.run([tool, "loggp", "x", path, solve], text=True, capture_output=True)
        verdict(f"refuses {name}", result.returncode == 1 and words in result.stderr, result.stderr)
    result = subprocess.run([tool, "loggp", "x", bench, "grid3d:1x1x1:1"], text=True,
                            capture_output=True)
    verdict("refuses a file that is none", result.returncode == 1 and "no structure" in
            result.stderr, result.stderr)


def same_everywhere(smpi, loggp):
    """Operations, messages and bytes are facts of the task graph: equal to the last one."""
    for k in (f"{what}_{side}{unit}" for side in "LU" for what, unit in
              (("intra", "_messages"), ("intra", "_bytes"), ("inter", "_messages"),
               ("inter", "_bytes"), ("flops", ""))):
        for of in ("min", "mean", "max"):
            if abs(smpi[k][of] - loggp[k][of]) > 1e-6 * max(smpi[k][of], 1):
                return f"{k}.{of}: {smpi[k][of]} and {loggp[k][of]}"
    return ""


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "p")
        made = subprocess.run([tool, "structure", "gen:poisson2d9:96", path, "leaves=16"], text=True,
                              capture_output=True)
        verdict("structure", made.returncode == 0 and "supernodes" in made.stdout, made.stderr)
        if made.returncode:
            return
        refusals(path)
        if not shutil.which("smpirun") or not os.path.exists(
                os.path.join(build, "simulate", "trireme-smpi")):
            print("skip 64 simulated ranks: no SimGrid in this build (Debian: libsimgrid-dev)")
            return
        solves = ["grid3d:4x4x4:1", "grid3d-baseline:4x4x4:1:scattered", "grid2d:8x8x1:1:flat",
                  "grid3d:2x2x16:3"]
        model, said = lines(bench, build, "model", folder, "--matrix", "p", *grids(solves))
        verdict("model", len(model) == len(solves), said.stderr)
        command = (bench, build, "simulate", folder, "--matrix", "p", "--ranks", "64", *grids(solves))
        first, said = lines(*command)
        verdict("64 simulated ranks", len(first) == len(solves), said.stderr)
        again, _ = lines(*command)
        verdict("the same times twice", [r["solve_s"] for r in first] ==
                [r["solve_s"] for r in again])
        for one, other, solve in zip(first, model, solves):
            ratio = other["solve_s"]["max"] / one["solve_s"]["max"]
            verdict(f"{solve}: model and simulation agree on the time", 0.85 < ratio < 1.15,
                    f"{ratio:.3f}")
            differs = same_everywhere(one, other)
            verdict(f"{solve}: and on operations, messages and bytes", not differs, differs)


main()
sys.exit(bad > 0)
