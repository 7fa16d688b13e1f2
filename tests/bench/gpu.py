"""trireme bench on a GPU, as far as it goes without one: cuSPARSE's part against a stand-in, and
what is said of results that were made up; l17, x20 and gpus in a small form, with threads of the CPU for GPUs."""

import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir, "cli"))

from harness import (SANITIZED, check, finish, has, has_nan, path, read, refuses, run,  # noqa: E402
                     skip, write)
from recorded import expected, svg  # noqa: E402

FAKE = os.environ["FAKE_CUDA_PATH"]
EXAMPLE = os.environ["PEER_EXAMPLE_PATH"]
PAPERS = has("papers")
CLEAN = {"TRIREME_MATRICES": "", "TRIREME_SUITES": "", "TRIREME_COMMIT": "", "TRIREME_FACTORS": "",
         "TRIREME_CUDART": FAKE, "TRIREME_CUSPARSE": FAKE, "FAKE_CUDA": "",
         "CUDA_VISIBLE_DEVICES": ""}
SMALL, SHORT = "gen:poisson2d5:20", ("--seconds", "0.002")
PEER = ("--backend", "cuda", "--methods", "cusparse", *SHORT)


def bench(*words, env=None, **more):
    o = run("bench", *words, env=dict(CLEAN, **(env or {})), **more)
    if has_nan(o):
        check(f"no number of bench {' '.join(words)} is nan", False, o)
    return o


def rows_of(name):
    return [json.loads(line) for line in read(name).decode().splitlines()]


# ---- The peer

def test_peer():
    for scalar, layout in (("double", "column"), ("double", "row"), ("float", "column"),
                           ("float", "row")):
        o = bench(SMALL, *PEER, "--nrhs", "1,3", "--scalar", scalar, "--layout", layout, "--out",
                  path("peer.json"))
        rows = rows_of("peer.json")
        check(f"cuSPARSE is timed and checked: {scalar}, {layout}", o.code == 0 and
              [(r["uplo"], r["nrhs"], r["chosen"]) for r in rows] ==
              [(u, k, "SpSV" if k == 1 else "SpSM") for u in ("lower", "upper") for k in (1, 3)] and
              all(r["scalar"] == scalar and r["layout"] == layout and not r["wrong"] and
                  r["backend"] == "cuda" and r["method"] == "cusparse" for r in rows), o)
    row = rows[0]
    check("its row tells analysis, buffer, samples and versions", row["memory"]["plan"] == 1000 and
          row["time"]["analysis_s"] >= 0 and row["time"]["first_analysis_s"] >= 0 and
          row["time"]["ask_s"] >= 0 and row["time"]["update_s"] >= 0 and
          row["time"]["latency_s"] > 0 and row["time"]["repeats"] >= 5 and
          row["reason"] == "cuSPARSE 12.1.2" and
          row["machine"]["gpu"] == "Fake, driver 13.0, runtime 13.0", row)
    newer = ("--backend", "cuda", "--methods", "cusparse,cusparse:alg1,cusparse:alg2", *SHORT)
    o = bench(SMALL, *newer, "--nrhs", "1,3", "--out", path("newer.json"), env={"FAKE_CUDA": "newer"})
    check("its newer algorithms solve for one right-hand side", o.code == 0 and
          [r["chosen"] for r in rows_of("newer.json")] ==
          2 * ["SpSV", "SpSV ALG1", "SpSV ALG2", "SpSM"], o)
    o = bench(SMALL, *newer)
    check("an older library is named", o.code == 4 and "this is cuSPARSE 12.1.2" in o.err, o)
    o = bench("factor:ilu0:gen:poisson2d5:10", *PEER, "--out", path("unit.json"))
    check("a unit diagonal is told to cuSPARSE", o.code == 0 and
          not any(r["wrong"] for r in rows_of("unit.json")), o)


def test_programs():
    os.chmod(write("crash", "#!/bin/sh\nexit 1\n"), 0o755)
    os.chmod(write("two", f'#!/bin/sh\ntest $# = 2 && exec {EXAMPLE} "$@"\n'), 0o755)
    o = bench(SMALL, *PEER, "--nrhs", "1,3", "--peer", f"example={path('two')}", "--peer",
              f"lost={path('crash')}", "--out", path("programs.json"))
    rows = [r for r in rows_of("programs.json") if r["program"]]
    check("programs beside cuSPARSE", o.code == 1 and [(r["method"], r["wrong"]) for r in rows] ==
          2 * [("example", False), ("lost", True)] and all(
              r["backend"] == "cuda" and r["nrhs"] == 1 for r in rows) and
          o.out.count(" failed ") == 2 and "2 results are WRONG" in o.err, o)


def test_failures():
    o = bench(SMALL, *PEER, env={"FAKE_CUDA": "wrong"})
    check("a wrong answer is WRONG and leaves with 1", o.code == 1 and o.out.count("WRONG") == 2, o)
    for how in ("refuse", "lost"):
        o = bench(SMALL, *PEER, env={"FAKE_CUDA": how})
        check(f"a peer that fails is left out: {how}", o.code == 0 and
              "without cusparse: " in o.err and "WRONG" not in o.out, o)
    env = dict(CLEAN, TRIREME_CUSPARSE="/none")
    refuses("cuSPARSE that is not there", 4, "cuSPARSE", "bench", SMALL, *PEER, env=env)
    env = dict(CLEAN, TRIREME_CUDART="/none")
    refuses("a runtime that is not there", 4, "CUDA runtime", "bench", SMALL, *PEER, env=env)
    refuses("a GPU that is not there", 4, "CUDA", "bench", SMALL, "--backend", "cuda", *SHORT,
            env=CLEAN)
    for name in ("l17", "x20") if PAPERS else ():
        refuses(f"{name} without a GPU", 4, "CUDA", "bench", name, *SHORT, env=CLEAN)


def test_usage():
    for name, said, words in (
            ("unknown backend", "--backend", ("--backend", "gpu")),
            ("no number of a GPU", "--backend", ("--backend", "cuda:x")),
            ("options of a GPU on the CPU", "--backend cuda", ("--scalar", "float")),
            ("threads on a GPU", "--threads", ("--backend", "cuda", "--threads", "2")),
            ("unknown method", "'fast:p=1'", ("--backend", "cuda", "--methods", "fast:p=1")),
            ("Markdown of a run", "--markdown", ("--markdown",))):
        refuses(name, 2, said, "bench", *words, env=CLEAN)
    for name, said, words in (
            ("l17 on the CPU", "l17", ("l17", "--backend", "cpu")),
            ("l17 on no backend", "opencls", ("l17", "--backend", "opencls")),
            ("l17 with methods", "l17", ("l17", "--methods", "auto")),
            ("x20 on the CPU", "x20", ("x20", "--backend", "cpu"))) if PAPERS else ():
        refuses(name, 2, said, "bench", *words, env=CLEAN)


# ---- Several GPUs, for which threads stand

def on_fakes(*words, env=None):
    preload = {"LD_PRELOAD": os.environ["FAKE_GPUS_PATH"]}
    return bench(*words, env=dict(preload, **(env or {})))


def gpus(*words, env=None):
    return on_fakes("gpus", *words, "--seconds", "0.01", env=env)


def without_fakes(what):
    """Why threads cannot stand for GPUs in this build; what is skipped then."""
    why = ""
    if SANITIZED or os.environ["TRIREME_SHARED"] != "ON":
        why = "threads stand for GPUs in a shared library without sanitizers only"
    elif os.environ.get("TRIREME_CUDA") == "0":
        why = "the methods of GPUs are not in a build without CUDA"
    if why:
        skip(what, why)
    return why


def test_gpus():
    refuses("gpus without a GPU", 4, "CUDA", "bench", "gpus", *SHORT, env=CLEAN)
    if without_fakes("bench gpus"):
        return
    suite = write("gpus.txt", "gen:kkt3d:12\ngen:chain:500\ngen:none:1\n")
    words = ("--suite", suite, "--nrhs", "1,3", "--out", path("gpus.json"))
    o = gpus("--suite", "gen:kkt3d:12", env={"FAKE_GPUS": "1"})
    check("gpus with one GPU", o.code == 4 and "there is one: cuda:0" in o.err, o)
    for name, said, more in (("a list that is none", "cuda:0-3 or cuda:0,2", ("--backend", "cuda:0-")),
                             ("seventeen GPUs", "at most 16", ("--backend", "cuda:0-16")),
                             ("gpus on the CPU", "cuda:0,1", ("--backend", "cpu")),
                             ("an unknown method beside auto", "'fast'", ("--methods", "fast")),
                             ("gpus in float", "--scalar is for suites", ("--scalar", "float"))):
        o = gpus(*more)
        check(name, o.code == 2 and said in o.err, o)
    o = gpus(*words, "--methods", "columns:block=8", "--svg", path("gpus.svg"))
    rows = rows_of("gpus.json")
    seen = [(r["matrix"], r["nrhs"], r["method"], r["threads"], r["place"]) for r in rows]
    ways = [("auto", 1, "first"), ("auto", 2, "first"), ("auto", 2, "spread"),
            ("auto", 2, "streams"), ("zerocopy", 2, "first"), ("columns:block=8", 2, "first"),
            ("columns:block=8", 2, "spread"), ("columns:block=8", 2, "streams")]
    few = [w for w in ways if w[0] != "zerocopy"]
    expected_rows = ([("gen:kkt3d:12", 1, *w) for w in ways] +
                     [("gen:chain:500", 1, *w) for w in ways])
    check("an entry that fails is told, the others run", o.code == 2 and "none" in o.err and
          seen[:16] == expected_rows and "parallelism is below 5000" in o.err, o)
    check("answers are right", not any(r["wrong"] for r in rows) and
          all(r["time"]["solve_s"]["median"] > 0 and r["hop_s"] > 0 for r in rows), o)
    capped = [r for r in rows if r["suite"] == "gpus capped"]
    check("a system larger than the limit, and one that fits", len(capped) == 3 and
          [(r["threads"], r["place"]) for r in capped] ==
          [(2, "first"), (2, "spread"), (1, "first")] and
          capped[0]["bytes"] > 1.3 * capped[0]["memory"]["limit"] > 1.3 * 2 * capped[2]["bytes"], o)
    svg("gpus.svg", o, ["auto, 1 GPU", "auto, 2 GPUs, spread", "1 right-hand side, "])
    again = bench("--table", path("gpus.json"))
    check("its tables", again.code == 0 and "| auto, 1 GPU, ms | auto, 2 GPUs |" in again.out and
          "Geometric means and worst cases" in again.out and "auto over zerocopy" in again.out and
          "than what plans may hold" in again.out, again)
    o = gpus("--suite", "gen:kkt3d:20", "--nrhs", "3", "--methods", "columns", "--out",
             path("many.json"))
    rows = rows_of("many.json")
    check("right-hand sides dealt are checked at every member", o.code == 0 and
          [(r["method"], r["threads"], r["place"]) for r in rows if r["suite"] == "gpus"] ==
          [w[:1] + w[1:] if w[0] == "auto" else ("columns",) + w[1:] for w in few] and
          all(r["backward_error"]["columns"] == 2 for r in rows if r["nrhs"] == 3), o)
    o = gpus("--suite", "gen:kkt3d:20", "--nrhs", "1,16", "--out", path("small.json"),
             env={"FAKE_CUDA": "small"})
    check("right-hand sides without room are left out, which is said", o.code == 0 and
          "skipped gen:kkt3d:20: 16 right-hand sides: CUDA says" in o.err and
          {r["nrhs"] for r in rows_of("small.json")} == {1}, o)
    o = gpus("--suite", "gen:kkt3d:12", "--nrhs", "1", env={"FAKE_GPUS_WRONG": "1"})
    check("a row that no member solved is WRONG", o.code == 1 and "3 results are WRONG" in o.err, o)
    o = gpus("--suite", "gen:kkt3d:12", "--nrhs", "1", "--backend", "cuda:0,0")
    check("a GPU may stand for two", o.code == 0 and "stands for several" in o.err, o)
    o = gpus("--suite", "gen:kkt3d:12", "--nrhs", "1", "--backend", "cuda:0-3",
             "--out", path("four.json"), env={"FAKE_GPUS_ROOM": "1"})
    capped = [r for r in rows_of("four.json") if r["suite"] == "gpus capped"]
    check("without room the limit is raised", o.code == 0 and
          [r["threads"] for r in capped] == [4, 4, 1] and
          {r["threads"] for r in rows_of("four.json")} == {1, 2, 4}, o)


# ---- Tables

def made_up(matrix, uplo, method, median, analysis=1e-3, **more):
    """A row with times in round numbers; memory as a share of the matrix, which has 1 MB."""
    row = {"suite": more.get("suite", "made up"), "matrix": matrix, "values": "own", "uplo": uplo,
           "n": 10000, "nnz": 50000, "levels": 100, "parallelism": 100.0, "dependency": 5.0,
           "backend": "cuda", "method": method, "chosen": more.get("chosen", method), "threads": 1,
           "scalar": more.get("scalar", "double"), "nrhs": more.get("nrhs", 1), "layout": "column",
           "time": {"create_s": None, "ask_s": 1e-5, "first_analysis_s": 2 * analysis,
                    "analysis_s": analysis, "update_s": analysis / 2,
                    "latency_s": median and median + 1e-5,
                    "solve_s": {"min": 0.9 * median if median else None, "median": median},
                    "repeats": 15},
           "bytes": more.get("bytes", 800000), "bound_s": more.get("bound", 2e-5), "gbs": 1.0,
           "backward_error": {"componentwise": 1e-16, "normwise": 1e-16, "columns": 1},
           "wrong": more.get("wrong", False),
           "memory": {"matrix": 1000000, "plan": round(1e6 * more.get("memory", 1)),
                      "vectors": 160000, "total": 2160000, "analysis_peak": None,
                      "process_peak": None},
           "reason": "cuSPARSE 12.9.4" if method.startswith("cusparse") else "made up"}
    return row


def write_rows(name, rows):
    write(name, "".join(json.dumps(r) + "\n" for r in rows))
    return path(name)


def gpu_rows():
    rows = []
    for matrix, uplo, engine, cusparse in (("gen:poisson2d5:100", "lower", 1e-4, 4e-4),
                                           ("gen:poisson2d5:100", "upper", 1e-4, 9e-4),
                                           ("file:wave.mtx.gz", "lower", 5e-4, 4e-4)):
        rows += [made_up(matrix, uplo, "auto", engine, 5e-4, chosen="engine", memory=1.2),
                 made_up(matrix, uplo, "engine+f32", engine / 1.5, 5e-4),
                 made_up(matrix, uplo, "syncfree-csc:warps=8", 2e-3, 1e-4, memory=0.1),
                 made_up(matrix, uplo, "cusparse", cusparse, 5e-3, memory=2)]
    rows += [made_up("gen:poisson2d5:100", "lower", "cusparse:alg2", 3e-4, 6e-3, memory=2)]
    rows += [made_up("gen:poisson2d5:100", "lower", "auto", 8e-4, 6e-3, nrhs=8, bound=None),
             made_up("gen:poisson2d5:100", "lower", "cusparse", 8e-3, 5e-3, nrhs=8, bound=None),
             made_up("gen:lost:1", "lower", "auto", None, wrong=True),
             made_up("gen:lost:1", "lower", "cusparse", 1e-3)]
    return rows


def test_tables_of_programs():
    rows = []
    for matrix, engine, fast, slow in (("gen:poisson2d5:100", 1e-4, 4e-4, 8e-4),
                                       ("file:wave.mtx.gz", 2e-4, 1e-4, None)):
        rows += [made_up(matrix, "lower", "auto", engine, 1e-3),
                 made_up(matrix, "lower", "cusparse", 2e-4),
                 dict(made_up(matrix, "lower", "fast", fast, 2e-3), program="fast.x", reason="v1"),
                 dict(made_up(matrix, "lower", "slow", slow, 4e-3, wrong=slow is None),
                      program="slow.x", reason="v2" if slow else "left with code 1")]
    o = bench("--table", write_rows("programs.json", rows))
    check("a table of programs", o.code == 0 and "| fast, ms | slow, ms |" in o.out and
          "| engine : fastest program | engine : reference |" in o.out and
          "| engine against the fastest program, a solve | 1.41 | 2 |" in o.out and
          "| engine against the fastest program, the least | 0.50 | 2 | wave L |" in o.out and
          "| fast | 2 | 0 | 0 | 2.00 | v1 |" in o.out and
          "| slow | 1 | 0 | 1 | 4.00 | v2 |" in o.out and
          "| files | 1 | 0.50 | - | 0.50 | 0.50 | wave L |" in o.out and
          "| all | 2 | 1.41 | 8.00 | 1.41 | 0.50 | wave L |" in o.out, o)


def test_tables():
    o = bench("--table", write_rows("gpu.json", gpu_rows()), "--svg", path("gpu.svg"))
    check("a table of a GPU is as recorded", o.code == 0 and o.out == expected("gpu.txt"), o)
    svg("gpu.svg", o, ["cuSPARSE 12.9.4", "1 right-hand side, 4 systems",
                       "8 right-hand sides, 1 system"])
    faster = [dict(r, time=dict(r["time"], solve_s={"min": 1e-5, "median": 1e-5}))
              for r in gpu_rows()[:4]]
    o = bench("--compare", path("gpu.json"), write_rows("faster.json", faster))
    check("runs on a GPU are compared by their medians", o.code == 0 and
          "syncfree-csc:warps=8" in o.out and "10.0 over 1" in o.out, o)


# ---- L17

def l17_rows():
    """Means in round numbers, medians that no table shows; steps of the synchronization-free methods."""
    rows = []

    def add(part, matrix, uplo, method, mean, analysis=1e-3, **more):
        row = made_up(matrix, uplo, method, 7 * mean, analysis, suite="l17 " + part, **more)
        row["time"]["solve_s"]["mean"] = mean
        row["time"].update(solves=100, steps=more.get("steps"))
        if not more.get("steps"):
            del row["time"]["steps"]
        row["threads"] = more.get("threads", 1)
        row["backend"] = "cpu" if part == "host" else "cuda"
        rows.append(row)

    def steps(seconds):
        return {"preprocessing_s": seconds, "loading_s": 4e-3, "allocation_s": 5e-4}
    sizes = [f"syncfree-csc:warps={w},scratchpad={s}" for s in ("yes", "no") for w in (4, 8, 16, 32)]
    many = [f"syncfree-csc-rhs:strategy={s}" for s in ("adaptive", "rhs", "nnz")]
    for scale, matrix in ((1, "gen:chain:9"), (3, "gen:kkt3d:50")):
        for scalar in ("double", "float"):
            for uplo in ("lower", "upper"):
                for k, m in enumerate(["cusparse", "auto", "levelset"]):
                    add("rates", matrix, uplo, m, 1e-4 * (4 - k) * scale, 2e-3 * scale, scalar=scalar)
                for k, m in enumerate(sizes):
                    add("rates", matrix, uplo, m, 1e-4 * (1 + k % 4 + 2 * (k > 3) * scale), 8e-3,
                        scalar=scalar, steps=steps(1e-5 * scale))
        for uplo in ("lower", "upper"):
            for nrhs in (1, 32):
                for k, m in enumerate(["cusparse", "auto"] + many):
                    add("strategies", matrix, uplo, m, 1e-4 * nrhs / (k + 1) * scale, 6e-3, nrhs=nrhs,
                        steps=steps(2e-5) if k > 1 else None)
                for threads in (1, 4):
                    add("host", matrix, uplo, "mkl", 1e-2 * scale / threads, 5e-2, nrhs=nrhs,
                        threads=threads)
            add("host", matrix, uplo, "serial", 2e-2)
            add("host", matrix, uplo, "levelset-cpu", 1e-2, 5e-2, threads=4,
                steps={"preprocessing_s": 4e-2, "synchronisation_s": 8e-3, "compute_s": 2e-3})
            for nrhs in (2, 64):
                for k in range(5):
                    add("p", matrix, uplo, f"syncfree-csc-rhs:p={4 << k}", 1e-4 * nrhs / (1 + k * scale),
                        nrhs=nrhs)
        for k in range(11):
            add("q", matrix, "upper", f"syncfree-csc-rhs:q={16 << k}", 1e-4 * 16 / (k + 1), nrhs=16)
    return rows


def test_l17():
    o = bench("--table", write_rows("l17.json", l17_rows()), "--svg", path("l17"))
    check("the tables of L17 are as recorded", o.code == 0 and o.out == expected("l17.txt"), o)
    for part, words in (("rates", ["engine", "median", "single precision, backward, 2 systems"]), ("scratchpad", ["single precision", "harmonic mean", "warps per block"]),
                        ("strategies", ["adaptive", "GFlop/s", "polyline"]), ("p", ["p 8", "as with p = 4", "4 triangles"]), ("q", ["16 right-hand sides", "harmonic mean"]),
                        ("preprocessing", ["syncfree-csc", "in-degrees"])):
        svg(f"l17-{part}.svg", o, words)
    old = [dict(r, time={k: v for k, v in r["time"].items() if k not in ("solves", "steps")})
           for r in l17_rows()]
    for r in old:
        r["time"]["solve_s"] = {k: r["time"]["solve_s"][k] for k in ("min", "median")}
    o = bench("--table", write_rows("l17_old.json", old))
    check("without means, tables are of medians and say so", o.code == 0 and
          "Figure 7: SpTRSV, GFlop/s, single, forward, medians" in o.out, o)


def test_l17_runs():
    """Every part of l17 on a small system, both triangles: what is measured, and in which tables."""
    if without_fakes("bench l17"):
        return
    o = on_fakes("l17", "--suite", "gen:kkt3d:6", "--seconds", "0.002", "--markdown", "--out",
                 path("l17_run.json"), "--svg", path("l17_run"),
                 env={"TRIREME_MKL": os.environ["FAKE_MKL_PATH"]})
    rows = rows_of("l17_run.json")

    def of(part, **like):
        return [r for r in rows if r["suite"] == "l17 " + part and
                all(r[k] == v for k, v in like.items())]
    check("l17 runs on stand-ins, and every answer is right", o.code == 0 and rows and
          not any(r["wrong"] for r in rows), o)
    for uplo in ("lower", "upper"):
        check(f"l17 measures all of {uplo}",
            len(of("rates", uplo=uplo, scalar="double")) == 11 and
            len(of("rates", uplo=uplo, scalar="float")) == 11 and
            len(of("strategies", uplo=uplo)) == 5 * 9 and
            {(r["method"].split("=")[1], r["nrhs"]) for r in of("p", uplo=uplo)} ==
            {(str(p), k) for p in (4, 8, 16, 32, 64) for k in (2, 4, 8, 16, 32, 64)} and
            {int(r["method"].split("=")[1]) for r in of("q", uplo=uplo)} ==
            {16 << k for k in range(11)} and len(of("q", uplo=uplo)) == 11 * 3 and
            {r["method"] for r in of("host", uplo=uplo)} == {"serial", "levelset-cpu", "mkl"}, o)
    syncfree = [r for r in rows if r["method"].startswith("syncfree")]
    others = [r for r in of("rates") if r["method"] == "levelset"]
    check("the synchronization-free methods get columns, the others rows",
          all("by columns of op(A)" in r["plan"] for r in syncfree) and
          all("by rows of op(A)" in r["plan"] for r in others), o)
    check("and tell what their preprocessing costs, without transposition and allocation",
          all((r["time"]["steps"]["preprocessing_s"], r["time"]["steps"]["loading_s"],
               r["time"]["steps"]["allocation_s"]) == (0.00025, 0.004, 0.0005) for r in syncfree), o)
    check("means are of at most 100 solves, and of at least one in each of five rounds",
          all(5 <= r["time"]["solves"] <= 100 and r["time"]["solve_s"]["min"] <=
              r["time"]["solve_s"]["mean"] for r in rows), o)
    barriers = of("host", method="levelset-cpu")
    check("level sets with barriers are broken down", len(barriers) == 4 and all(
        r["time"]["steps"][k] > 0 for r in barriers
        for k in ("preprocessing_s", "synchronisation_s", "compute_s")) and all(
        r["time"]["steps"]["synchronisation_s"] + r["time"]["steps"]["compute_s"] <=
        1.0001 * r["time"]["solve_s"]["mean"] for r in barriers), o)
    check("l17 prints its figures and tables", all(f"L17, {title}" in o.out for title in (
        "Table I:", "Figure 7", "Figure 8", "Figure 9", "Figure 10", "Figure 11", "Figure 12",
        "section 5.3", "Table IV", "Table V", "section 5.4")), o)
    svg("l17_run-q.svg", o, ["Times as fast as with q = 8192", "right-hand sides", "harmonic mean"])


def test_l17_opencl():
    """Without a GPU of CUDA: the synchronization-free methods alone, where OpenCL is."""
    o = run("solve", "gen:chain:9", "--uplo", "lower", "--backend", "opencl", env=CLEAN)
    if o.code:
        skip("bench l17 --backend opencl", "no OpenCL device: " + o.err.strip().splitlines()[-1])
        return
    o = bench("l17", "--suite", "gen:kkt3d:4", "--seconds", "0.0001", "--backend", "opencl", "--nrhs",
              "1,8", "--markdown", "--out", path("l17_opencl.json"))
    rows = [r for r in rows_of("l17_opencl.json") if r["suite"] != "l17 host"]
    check("l17 runs on an OpenCL device", o.code == 0 and rows and
          not any(r["wrong"] for r in rows) and
          all(r["backend"] == "opencl" and r["method"].startswith("syncfree") for r in rows) and
          "L17, Figure 12" in o.out, o)


# ---- X20

def x20_rows():
    rows = []
    for name, scale in (("gen:chain:9", 1), ("gen:kkt3d:50", 3)):
        def add(suite, method, gpus, seconds):
            row = made_up(name, "lower", method, seconds * 1e-3, suite="x20 " + suite)
            row["threads"] = gpus
            rows.append(row)
        for gpus in (1, 2, 3):
            add("unified", "unified", gpus, 4 * gpus)
        for k, method in enumerate(("unified", "unified:tasks=8", "zerocopy-block",
                                    "zerocopy:tasks=8")):
            add("designs", method, 2, 16 / (1 + scale * k))
        for method, seconds in (("get-update-put", 30), ("zerocopy-block", 3)):
            add("communication", method, 2, seconds)
        for k, tasks in enumerate((4, 8, 16, 32)):
            add("tasks", f"zerocopy:tasks={tasks}", 2, 8 / (1 << k))
        add("scaling", "cusparse", 1, 5)
        for gpus in (1, 2):
            add("scaling", "zerocopy:total=32", gpus, 10 / gpus)
    return rows


def by_processes(rows, gpus):
    """Rows of a run with a process per GPU, half as fast."""
    kept = [r for r in rows if r["method"].startswith("zerocopy") and r["threads"] == gpus]
    return [dict(r, backend="nvshmem", time=dict(r["time"], solve_s={
        k: 2 * v for k, v in r["time"]["solve_s"].items()})) for r in kept]


def test_x20():
    o = bench("--table", write_rows("x20.json", x20_rows()), "--svg", path("x20"))
    check("the tables of X20", o.code == 0 and "| chain:9 L | 5.000 | 0.50 | 1.00 |" in o.out
          and "Spearman" in o.out and "| geometric mean |  | 2.00 | 4.00 | 8.00 |" in o.out, o)
    check("managed memory is compared with two GPUs, and one GPU stands apart",
          "| unified, 2 GPUs, ms | unified, 3 GPUs | unified, 1 GPU |" in o.out
          and "| chain:9 L | 8.000 | 0.67 | 2.00 |" in o.out, o)
    check("read-only communication beside Get-Update-Put",
          "| get-update-put, 2 GPUs, ms | zerocopy-block, 2 GPUs |" in o.out
          and "| chain:9 L | 30.00 | 10.0 |" in o.out, o)
    # 10000 rows, 50000 entries: 120,000 bytes of arrays per GPU beside 840,008
    check("the share of the intermediate arrays", "arrays, 1 GPU, % | 2 GPUs, % |" in o.out
          and "| 12 | 22 |" in o.out, o)
    check("Figure 7 is printed with and without the analysis",
          "**X20, Figure 7, analysis and solve" in o.out and "**X20, Figure 7, solve alone" in o.out
          and "| chain:9 L | 17.0" in o.out and "| chain:9 L | 16.0" in o.out, o)
    for part in ("unified", "designs", "communication", "tasks", "scaling"):
        svg(f"x20-{part}.svg", o, ["times as fast as"])
    one = [r for r in x20_rows() if r["matrix"] == "gen:chain:9"]
    o = bench("--table", write_rows("one.json", one))
    check("a rank correlation of one system is left out, which is said", o.code == 0 and
          "Rank correlation of the gain with X20's metrics (Spearman): left out, for it takes two systems"
          in o.out and "with parallelism" not in o.out, o)
    alike = one + [dict(r, matrix="gen:chain:8") for r in one]
    o = bench("--table", write_rows("alike.json", alike))
    check("of systems that are alike there is none", o.code == 0 and
          "| zerocopy over unified | - | - | 2 |" in o.out, o)
    both = write_rows("both.json", x20_rows() + by_processes(x20_rows(), 2))
    o = bench("--table", both)
    check("rows with a process per GPU have columns of their own", o.code == 0 and
          "| zerocopy 8, 2 GPUs | zerocopy-block, 2 GPUs, NVSHMEM | zerocopy 8, 2 GPUs, NVSHMEM |"
          in o.out, o)
    o = bench("--table", write_rows("processes.json", by_processes(x20_rows(), 2)))
    check("and tables of their own", o.code == 0 and "zerocopy-block, 2 GPUs, NVSHMEM, ms" in o.out
          and "zerocopy over unified" not in o.out, o)


def test_x20_machines():
    """Figure 8: two machines from stored results."""
    twice = [dict(r, time=dict(r["time"], solve_s={"min": 1, "median": r["time"]["solve_s"]["median"] / 2}))
             for r in x20_rows()]
    first, second = write_rows("first.json", x20_rows()), write_rows("second.json", twice)
    o = bench("--compare", first, second, env={"COLUMNS": "200"})
    said = o.out.partition("Figure 8, solve alone")[2].split("\n")
    check("two machines are compared as in Figure 8", o.code == 0 and
          "X20, Figure 8, analysis and solve" in o.out and
          "unified, 2 GPUs, before, ms  zerocopy 8, 2 GPUs, before  unified, 2 GPUs, after  "
          "zerocopy 8, 2 GPUs, after" in said[1] and
          said[2].split() == ["chain:9", "L", "16.00", "4.00", "2.00", "8.00"], o)
    o = bench("--compare", first, write_rows("gpu_after.json", gpu_rows()))
    check("other results have no Figure 8", "Figure 8" not in o.out, o)


def test_x20_runs():
    """Every part of x20 on a small system and two stand-ins for GPUs."""
    if without_fakes("bench x20"):
        return
    o = on_fakes("x20", "--suite", "gen:kkt3d:6", "--seconds", "0.0001", "--markdown", "--out",
                 path("x20_run.json"), "--svg", path("x20_run"))
    rows = rows_of("x20_run.json")
    check("x20 runs on stand-ins, and every answer is right", o.code == 0 and rows and
          not any(r["wrong"] for r in rows), o)
    check("x20 measures all of its figures", [(r["suite"][4:], r["method"], r["threads"])
                                              for r in rows] ==
          [("unified", "unified", 1), ("unified", "unified", 2), ("designs", "unified", 2),
           ("designs", "unified:tasks=8", 2), ("designs", "zerocopy-block", 2),
           ("designs", "zerocopy:tasks=8", 2)] + COMMUNICATION +
          [("tasks", f"zerocopy:tasks={t}", 2) for t in (4, 8, 16, 32)] +
          [("scaling", "cusparse", 1), ("scaling", "auto", 1), ("scaling", "zerocopy:total=32", 1),
           ("scaling", "zerocopy:total=32", 2), ("scaling", "auto", 2)], o)
    check("x20 prints its figures and tables", all(f"X20, {title}" in o.out for title in (
        "Table I", "Figure 3b", "Figure 7, analysis and solve", "Figure 7, solve alone", "IV-B",
        "Figure 9", "Figure 10")), o)
    o = on_fakes("x20", "--suite", "gen:kkt3d:6", "--seconds", "0", "--backend", "cuda:0-15", "--out",
                 path("x20_sixteen.json"), env={"FAKE_GPUS": "16"})
    rows = rows_of("x20_sixteen.json")
    check("x20 runs on sixteen GPUs", o.code == 0 and
          [r["threads"] for r in rows if r["method"] == "zerocopy:total=32"] == [*range(1, 17)], o)


COMMUNICATION = [("communication", m, 2) for m in (
    "get-update-put", "get-update-put:tasks=8", "zerocopy-block", "zerocopy:tasks=8")]


def test_x20_processes():
    """x20 with a process per GPU, one after the other: they do not wait for each other here."""
    words = ("x20", "--backend", "nvshmem", "--suite", "gen:kkt3d:6", "--seconds", "0.0001")
    if "NVSHMEM" not in bench(*words).err:
        check("x20 says what is missing for a process per GPU", bench(*words).code == 4)
    else:
        refuses("x20 without NVSHMEM or a GPU", 4, "NVSHMEM", "bench", *words, env=CLEAN)
    refuses("gpus over NVSHMEM", 2, "cuda:0,1", "bench", "gpus", "--backend", "nvshmem", env=CLEAN)
    if without_fakes("bench x20 with a process per GPU"):
        return
    said = []
    for rank in range(2):
        env = {"PMI_RANK": str(rank), "PMI_SIZE": "2", "FAKE_GPUS_CALLS": path(f"calls{rank}"),
               "FAKE_GPUS_SLOW": str(3 * rank)}
        said.append(on_fakes(*words, "--markdown", "--out", path(f"rank{rank}.json"), env=env))
    rows = rows_of("rank0.json")
    check("the first process reports, the other one is silent", said[0].code == said[1].code == 0 and
          "Figure 7, solve alone" in said[0].out and not said[1].out and
          not os.path.exists(path("rank1.json")), said[1])
    check("x20 with a process per GPU measures what it can", [
        (r["suite"][4:], r["method"], r["threads"]) for r in rows] == [
        ("designs", "zerocopy-block", 2), ("designs", "zerocopy:tasks=8", 2)] + COMMUNICATION +
          [("tasks", f"zerocopy:tasks={t}", 2) for t in (4, 8, 16, 32)] +
          [("scaling", "zerocopy:total=32", 2)] and
          all(r["backend"] == "nvshmem" and not r["wrong"] for r in rows), said[0])
    calls = [read(f"calls{rank}") for rank in range(2)]
    check("every process makes the same calls, however long they take", calls[0] == calls[1] and
          b"0" not in calls[0].split(), calls)


test_peer()
test_programs()
test_failures()
test_gpus()
test_usage()
test_tables()
test_tables_of_programs()
if PAPERS:
    test_l17()
    test_l17_runs()
    test_l17_opencl()
    test_x20()
    test_x20_machines()
    test_x20_runs()
    test_x20_processes()
else:
    skip("l17 and x20", "this build leaves papers out")
finish()
