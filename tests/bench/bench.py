"""trireme bench: runs, their results, peers, comparisons and tables, and what it says when it must
refuse."""

import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir, "cli"))

from harness import (FOLDER, TRIREME, check, finish, has, has_nan, matrix, path, read,  # noqa: E402
                     refuses, run, skip, write)
from recorded import data, expected, svg  # noqa: E402

FAKE = os.environ["FAKE_MKL_PATH"]
EXAMPLE = os.environ["PEER_EXAMPLE_PATH"]
PAPERS = has("papers")
CLEAN = {"TRIREME_MATRICES": "", "TRIREME_FACTORS": "", "TRIREME_SUITES": "",
         "TRIREME_COMMIT": "", "TRIREME_MKL": "/none"}
SMALL, SHORT = "gen:poisson2d5:20", ("--seconds", "0.002")
KEYS = ["commit", "dirty", "date", "machine.cpu", "machine.cores", "machine.os", "machine.compiler",
        "trireme", "suite", "matrix", "uplo", "n", "nnz", "levels", "parallelism", "dependency",
        "method", "chosen", "threads", "scalar", "nrhs", "time.create_s", "time.analysis_s",
        "time.update_s", "time.solve_s.min", "time.solve_s.median", "time.repeats", "bytes",
        "bound_s", "gbs", "backward_error.componentwise", "backward_error.normwise", "wrong",
        "memory.matrix", "memory.plan", "memory.vectors", "memory.total", "memory.analysis_peak",
        "memory.process_peak", "reason"]


def bench(*words, env=None, **more):
    o = run("bench", *words, env=dict(CLEAN, **(env or {})), **more)
    if has_nan(o):
        check(f"no number of bench {' '.join(words)} is nan", False, o)
    return o


def lines(text):
    try:
        return [json.loads(line) for line in text.splitlines()]
    except ValueError:
        return []


def holds(row, key):
    for name in key.split("."):
        if name not in row:
            return False
        row = row[name]
    return True


def test_quick():
    o = bench("quick", "--json", "--peer", "none", "--threads", "2", *SHORT)
    rows = lines(o.out)
    check("quick runs", o.code == 0 and len(rows) == 36, o)
    check("quick has every key", all(holds(r, k) for r in rows for k in KEYS), o)
    check("quick is right", all(not r["wrong"] and r["backward_error"]["componentwise"] < 1e-13
                                for r in rows), o)
    check("quick's times are in order", all(
        0 < r["time"]["solve_s"]["min"] <= r["time"]["solve_s"]["median"]
        and r["time"]["repeats"] >= 5 and r["time"]["analysis_s"] > 0 for r in rows), o)
    check("quick counts memory", all(
        r["memory"]["total"] == r["memory"]["matrix"] + r["memory"]["plan"] + r["memory"]["vectors"]
        for r in rows), o)
    check("auto says what it chose", all(r["chosen"] in ("serial", "panels", "threads") and r["reason"]
                                         for r in rows if r["method"] == "auto"), o)


def test_rows():
    o = bench(SMALL, "--uplo", "upper", "--threads", "1,2", "--nrhs", "3", "--json",
              "--out", path("rows.json"), *SHORT, env={"TRIREME_COMMIT": "abc-dirty"})
    rows = lines(o.out)
    check("one row a method and thread count", o.code == 0 and
          [(r["method"], r["threads"]) for r in rows] ==
          [("serial", 1), ("threads", 1), ("threads", 2), ("auto", 2)], o)
    check("triangle and right-hand sides as asked for",
          all(r["uplo"] == "upper" and r["nrhs"] == 3 for r in rows), o)
    check("--out has the same rows", read("rows.json").decode() == o.out, o)
    check("the commit is recorded", all(r["commit"] == "abc" and r["dirty"] for r in rows), o)
    o = bench(SMALL, "--methods", "serial", "--json", *SHORT)
    check("--methods chooses", [r["method"] for r in lines(o.out)] == ["serial"] * 2, o)
    o = bench("factor:ilu0:gen:poisson2d5:10", "--json", *SHORT)
    check("factors are L and U", o.code == 0 and
          {(r["uplo"], r["nnz"]) for r in lines(o.out)} == {("lower", 180), ("upper", 280)}, o)


def test_out():
    o = bench(SMALL, "--methods", "serial", "--nrhs", "1,2", "--peer", "none", "--out",
              path("out.json"), "--svg", path("out.svg"), *SHORT)
    rows = lines(read("out.json").decode())
    check("--out has a row a triangle and number of right-hand sides", o.code == 0 and
          [(r["uplo"], r["nrhs"]) for r in rows] == [(u, k) for u in ("lower", "upper")
                                                     for k in (1, 2)], o)
    check("rows have every key", all(holds(r, k) for r in rows for k in KEYS), o)
    svg("out.svg", o)
    o = bench("--table", path("out.json"))
    check("a run's own file makes a table", o.code == 0 and "| poisson2d5:20 U x2 |" in o.out, o)


def test_factors():
    """A pattern of L + U stands for the factors."""
    os.makedirs(path("factors"), exist_ok=True)
    write("factors/lu-nd-gen-poisson2d5-3.mtx", "%%MatrixMarket matrix coordinate pattern symmetric"
          "\n9 9 11\n" + "".join(f"{k} {k}\n" for k in range(1, 10)) + "5 1\n9 5\n")
    o = bench("factor:lu:nd:gen:poisson2d5:3", "--methods", "serial", "--peer", "none", "--out",
              path("drawn.json"), *SHORT, env={"TRIREME_FACTORS": path("factors")})
    rows = lines(read("drawn.json").decode())
    check("patterns of factors are used and marked", o.code == 0 and
          [(r["nnz"], r["levels"], r["values"], r["wrong"]) for r in rows] ==
          [(11, 3, "drawn", False)] * 2, o)


def other_libraries():
    """Rows of other libraries, as bench/README.md describes them: the fastest one counts."""
    serial = json.loads(expected("before.json").splitlines()[0])
    rows = [serial, dict(serial, method="auto", threads=2)]
    for method, threads, share, wrong in (("slow", 1, 0.5, False), ("fast", 2, 0.25, False),
                                          ("mkl", 1, 0.2, False), ("lost", 1, 0.125, True)):
        seconds = share * serial["time"]["solve_s"]["min"]
        times = dict(serial["time"], solve_s={"min": seconds, "median": seconds})
        rows.append(dict(serial, method=method, threads=threads, wrong=wrong, time=times))
    write("libraries.json", "".join(json.dumps(r) + "\n" for r in rows))
    o = bench("--table", path("libraries.json"))
    check("the fastest other library is named",
          o.code == 0 and "other, ms" in o.out and "0.1000 (fast:2) |" in o.out
          and "slow" not in o.out and "lost" not in o.out, o)
    check("auto is compared with others, without MKL and with it",
          "| auto against the fastest library but MKL | 0.25 | 1 |" in o.out and
          "| auto against the fastest library, MKL among them | 0.20 | 1 |" in o.out, o)


def test_table_on_terminal():
    o = bench(SMALL, "--threads", "2", *SHORT)
    check("a line a triangle and the means", o.code == 0 and "poisson2d5:20 L" in o.out
          and "poisson2d5:20 U" in o.out and "Geometric means, 2 systems, 2 threads" in o.out
          and "auto against serial" in o.out, o)
    check("a peer that is not there is said", "without oneMKL: TRIREME_MKL=/none: No such file" in o.err, o)
    write("libmkl_rt.so.2", "no library\n")
    o = bench(SMALL, *SHORT, env={"TRIREME_MKL": "", "LD_LIBRARY_PATH": FOLDER})
    check("a peer that cannot be loaded: why", "libmkl_rt.so.2: file too short" in o.err, o)


def test_peer():
    fake = {"TRIREME_MKL": FAKE}
    o = bench(SMALL, "--threads", "2", "--json", *SHORT, env=fake)
    rows = [r for r in lines(o.out) if r["method"] == "mkl"]
    check("a peer is timed and checked", o.code == 0 and len(rows) == 4 and
          {r["threads"] for r in rows} == {1, 2} and all(
              r["reason"] == "fake" and not r["wrong"] and r["time"]["update_s"] is None
              for r in rows), o)
    o = bench(SMALL, "--threads", "2", "--nrhs", "2", "--json", *SHORT, env=fake)
    check("a peer solves with many right-hand sides", o.code == 0 and
          sum(r["method"] == "mkl" for r in lines(o.out)) == 4, o)
    o = bench(SMALL, "--threads", "2", *SHORT, env=dict(fake, FAKE_MKL="wrong"))
    check("a wrong answer is WRONG and leaves with 1", o.code == 1 and o.out.count("WRONG") == 2
          and "2 results are WRONG" in o.err, o)
    o = bench(SMALL, "--threads", "2", *SHORT, env=dict(fake, FAKE_MKL="refuse"))
    check("a peer that refuses is left out", o.code == 0 and "refuses" in o.err, o)


def program(name, body):
    """A program that takes FILE OUT, as a shell script."""
    os.chmod(write(name, "#!/bin/sh\n" + body), 0o755)
    return f"{name}={path(name)}"


def test_programs():
    """Programs as peers: one that is right, and whatever else a program may do."""
    bad = {"crash": ("kill -SEGV $$", "ended by signal 11"),
           "code": ("exit 3", "left with code 3"),
           "silent": (f"{EXAMPLE} $1 $2 > /dev/null", "printed no line with solve_ms="),
           "nonsense": (f"{EXAMPLE} $1 $2 > /dev/null; echo solve_ms=fast", "printed no time"),
           "negative": (f"{EXAMPLE} $1 $2 > /dev/null; echo solve_ms=-1", "printed no time"),
           "short": ("echo > $2; echo solve_ms=1", "wrote no x of 400 doubles"),
           "none": ("echo solve_ms=1", "wrote no x of 400 doubles"),
           "endless": ("exec yes", "ended by signal 25")}
    wrong = "head -c 3200 /dev/zero > $2; echo analysis_ms=2 solve_ms=0.5 setting=zeros"
    chatty = f"echo solve_ms=none; {EXAMPLE} $1 $2; echo threads=9 is no result"
    words = [f"example={EXAMPLE}", program("chatty", chatty), program("wrong", wrong),
             *(program(name, body) for name, (body, _) in bad.items())]
    o = bench(SMALL, "--methods", "auto", "--out", path("programs.json"), "--peer", "none",
              *(w for p in words for w in ("--peer", p)), *SHORT, env={"TMPDIR": FOLDER})
    rows = [r for r in lines(read("programs.json").decode()) if r["program"]]
    right = [r for r in rows if r["method"] in ("example", "chatty")]
    check("programs have rows, in their order, for both triangles", o.code == 1 and
          [(r["uplo"], r["method"]) for r in rows] ==
          [(u, p.split("=")[0]) for u in ("lower", "upper") for p in words], o)
    check("right programs are right, also when they say more", len(right) == 4 and all(
        not r["wrong"] and r["backward_error"]["componentwise"] < 1e-13 and r["threads"] == 1 and
        r["chosen"] == "rows" and r["reason"] == "example" and
        r["time"]["analysis_s"] == 0 and r["time"]["solve_s"]["median"] > 0 for r in right), rows)
    check("the benchmark finds a wrong answer itself", all(
        r["wrong"] and r["time"]["solve_s"]["median"] == 5e-4 and r["chosen"] == "zeros" and
        r["backward_error"]["componentwise"] > 0.1 for r in rows if r["method"] == "wrong"), rows)
    for name, (_, reason) in bad.items():
        mine = [r for r in rows if r["method"] == name]
        check(f"a program without an answer is recorded: {name}", len(mine) == 2 and all(
            r["wrong"] and reason in r["reason"] and r["time"]["solve_s"]["median"] is None
            for r in mine) and f"{SMALL}: {name} {reason}" in o.err, mine)
    check("nothing is left of them", not glob.glob(path("trireme-peer-*")), os.listdir(FOLDER))
    check("a run ends with the programs' tables", "Programs as peers" in o.out and
          "By class: auto against programs" in o.out and "18 results are WRONG" in o.err, o)
    o = bench("--table", path("programs.json"))
    check("tables show programs and the fastest of them", o.code == 0 and "other, ms" in o.out and
          "| example | 2 | 0 | 0 | - | example |" in o.out and "| wrong | 0 | 2 | 0 |" in o.out and
          "| crash | 0 | 0 | 2 |" in o.out and "| class | systems | example |" in o.out, o)
    told = program("told", f'{EXAMPLE} "$@" | sed "s/$/ threads=$3/"')
    for asked, most in (("1", 1), ("1,3,2", 3)):
        o = bench(SMALL, "--threads", asked, "--peer", "none", "--peer", told, "--json", *SHORT)
        check(f"programs are told the threads: {asked}", o.code == 0 and
              [(r["threads"], r["wrong"]) for r in lines(o.out) if r["program"]] ==
              2 * [(most, False)], o)
    o = bench("factor:ilu0:gen:poisson2d5:10", "--methods", "serial", "--peer", "none", "--peer",
              f"example={EXAMPLE}", "--nrhs", "1,2", "--json", *SHORT)
    check("a unit diagonal is written; several right-hand sides are not asked for", o.code == 0 and
          [r["nrhs"] for r in lines(o.out) if r["program"]] == [1, 1], o)


def test_programs_stopped():
    """A program that hangs is stopped with what it started."""
    before = time.monotonic()
    o = bench(SMALL, "--uplo", "lower", "--methods", "serial", "--peer", "none", "--peer",
              program("hang", f"sleep 3600 & echo $! > {path('sleeper')}; wait"), "--peer",
              f"example={EXAMPLE}", "--peer-seconds", "0.5", "--out", path("hang.json"), *SHORT)
    rows = [r for r in lines(read("hang.json").decode()) if r["program"]]
    check("a program that hangs is stopped, and the next one runs", o.code == 1 and
          [(r["method"], r["wrong"]) for r in rows] == [("hang", True), ("example", False)] and
          rows[0]["reason"] == "stopped after 0.5 seconds" and time.monotonic() - before < 600, o)
    check("what it started is stopped too", not is_running(int(read("sleeper"))), o)
    o = bench(SMALL, "--uplo", "lower", "--methods", "serial", "--peer", "none", "--peer",
              program("leave", f"sleep 3600 & echo $! > {path('sleeper')}; {EXAMPLE} $1 $2"),
              "--json", *SHORT)
    check("what a program leaves behind is stopped", o.code == 0 and
          not is_running(int(read("sleeper"))), o)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        stop_by(number)


def stop_by(number):
    """A signal stops the benchmark, its programs and what these started, and leaves no files."""
    if os.path.exists(path("sleeper")):
        os.remove(path("sleeper"))
    begun = program("wait", f"sleep 3600 & echo $! > {path('began')}; mv {path('began')} "
                    f"{path('sleeper')}; wait")
    with subprocess.Popen([TRIREME, "bench", SMALL, "--methods", "serial", "--peer", "none", "--peer",
                           begun, *SHORT], env=dict(os.environ, **CLEAN, TMPDIR=FOLDER),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        while running.poll() is None and not os.path.exists(path("sleeper")):
            time.sleep(0.01)
        running.send_signal(number)
        said = running.communicate()
    check(f"{number.name} stops programs, too", running.returncode == -number and
          not is_running(int(read("sleeper"))) and not glob.glob(path("trireme-peer-*")),
          (running.returncode, said, os.listdir(FOLDER)))


def test_programs_that_spoil():
    """What a program does to the files is not the next one's fault."""
    folder = "mkdir $2; echo threads=999999999999 solve_ms=1"
    cut = f"{EXAMPLE} $1 $2; : > $1; echo threads=few solve_ms=1"
    o = bench(SMALL, "--uplo", "lower", "--methods", "serial", "--peer", "none", "--peer",
              program("folder", folder), "--peer", program("cut", cut), "--peer",
              program("gone", "rm -r $(dirname $1); exit 1"), "--peer", f"example={EXAMPLE}",
              "--out", path("spoil.json"), *SHORT, env={"TMPDIR": FOLDER})
    rows = [r for r in lines(read("spoil.json").decode()) if r["program"]]
    check("a program is not told by the one before", o.code == 1 and
          [(r["method"], r["wrong"]) for r in rows] ==
          [("folder", True), ("cut", False), ("gone", True), ("example", False)], o)
    check("a number of threads that is none is 1", [r["threads"] for r in rows[:2]] == [1, 1], o)
    check("the folder goes whatever is in it", not glob.glob(path("trireme-peer-*")),
          os.listdir(FOLDER))


def is_running(process):
    """A killed process may wait for its parent as a zombie."""
    for _ in range(600):
        try:
            with open(f"/proc/{process}/stat", encoding="utf-8") as stat:
                if stat.read().rsplit(")", 1)[1].split()[0] in "ZX":
                    return False
        except OSError:
            return False
        time.sleep(0.1)
    return True


def test_programs_usage():
    example = "=" + EXAMPLE
    for name, code, said, words in (
            ("a name of a method", 2, "'auto' is taken", ("--peer", "auto" + example)),
            ("a name of a library", 2, "'cusparse' is taken", ("--peer", "cusparse" + example)),
            ("a name twice", 2, "'a' is taken", ("--peer", "a" + example, "--peer", "a" + example)),
            ("no name", 2, "--peer: a name", ("--peer", example)),
            ("a long name", 2, "--peer: a name", ("--peer", 40 * "a" + example)),
            ("a program that is not there", 3, "cannot be run", ("--peer", "a=/none/such")),
            ("neither", 2, "auto, none or NAME=PROGRAM, not 'nobody'", ("--peer", "nobody")),
            ("many right-hand sides", 2, "add 1 to --nrhs", ("--peer", "a" + example, "--nrhs", "2")),
            ("floats", 2, "leave out --scalar float",
             ("--peer", "a" + example, "--backend", "cuda", "--scalar", "float")),
            ("no time", 2, "--peer-seconds", ("--peer", "a" + example, "--peer-seconds", "0"))):
        refuses(f"programs: {name}", code, said, "bench", SMALL, *words, env=CLEAN)
    refuses("programs beside blocks", 2, "is for suites and lot, not for blocks", "bench", "blocks",
            "--peer", "a" + example, env=CLEAN)
    many = [w for k in range(13) for w in ("--peer", f"p{k}{example}")]
    refuses("thirteen programs", 2, "12 programs at most", "bench", SMALL, *many, env=CLEAN)
    many = ["--peer", "none"] * 17
    refuses("an option too often", 2, "16 times at most", "bench", SMALL, *many, env=CLEAN)


def test_missing():
    matrix("there.mtx", 3, [(1, 1, 2), (2, 1, 1), (2, 2, 2), (3, 3, 2)])
    write("bad.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 1\n")
    write("mine.txt", f"# a suite\n{SMALL}   # small\n\nfile:absent.mtx\nfile:there.mtx\n")
    o = bench(path("mine.txt"), *SHORT)
    check("without TRIREME_MATRICES files are skipped and counted", o.code == 0
          and o.err.count("TRIREME_MATRICES is not set") == 2 and "2 of 3 matrices" in o.err, o)
    o = bench(path("mine.txt"), *SHORT, env={"TRIREME_MATRICES": path("")})
    check("a file that is not there is named", o.code == 0 and "skipped file:absent.mtx" in o.err, o)
    check("a triangle that is a diagonal is skipped", "there L" in o.out
          and "there U" not in o.out and "U is a diagonal" in o.err, o)
    o = bench(f"file:{path('absent.mtx')}", *SHORT)
    check("a run that measures nothing fails", o.code == 3 and "no file" in o.err
          and "nothing was measured" in o.err, o)
    o = bench("factor:ilu0:colour:gen:poisson2d5:20", *SHORT)
    check("factors in an order of colours are timed, a long name is marked", o.code == 0
          and "ilu0:colour:poisson2.. L" in o.out, o)
    write("broken.txt", f"file:{path('bad.mtx')}\n{SMALL}\n")
    o = bench(path("broken.txt"), *SHORT)
    check("a matrix that fails is told, the others run", o.code == 3 and "bad.mtx:3" in o.err
          and "1 failed" in o.err and "poisson2d5:20 L" in o.out, o)
    refuses("a suite that is not there", 3, "--list", "bench", "nothing")
    refuses("a mistyped suite", 3, "did you mean quick?", "bench", "quik")
    refuses("a generator without gen:", 2, "the generated matrix is gen:poisson2d5:20", "bench", "poisson2d5:20")
    there = matrix("there.mtx", 2, [(1, 1, 2), (2, 1, 1), (2, 2, 4)])
    refuses("a matrix in place of a suite", 2, f"there.mtx is a matrix: file:{os.path.realpath(there)} times it",
            "bench", there)
    o = bench(f"file:{os.path.realpath(there)}", "--peer", "none", *SHORT)
    check("which it does", o.code == 0 and ".. L " in o.out, o)
    refuses("a matrix that is not there", 3, "cannot open nowhere.mtx: No such file", "bench", "nowhere.mtx")


def test_suites():
    o = bench("--list")
    check("suites and benchmarks are listed, each once", o.code == 0 and o.out.split() ==
          ["cpu", "gpu-quick", "gpu-rhs", "gpu"] + ["l17-stand-ins"] * PAPERS + ["quick"] +
          ["x20-stand-ins"] * PAPERS + ["gpus", "lot", "tail", "blocks", "batches", "factors", "refactor"] +
          ["l17", "l23", "x20", "w21"] * PAPERS, o)
    usage = bench("--help").out.split("]")[1]
    listed = o.out.split()
    check("the usage names the benchmarks", all(
        word in usage.replace("|", " ").split() for word in listed[listed.index("gpus"):]), usage)
    for name in listed:
        given = ["--seed", "1"] if name in ("lot", "tail") else []
        o = bench(name, "--list", *given)
        check(f"bench takes {name} of its list", o.code == 0 and o.out != "", o)
    o = bench("quick", "--list")
    check("a suite is listed", o.code == 0 and len(o.out.split()) == 6, o)
    o = bench("cpu", "--list")
    check("the published suite has generated, factored and real matrices", all(
        word in o.out for word in ("gen:kkt3d", "factor:lu:nd:", "file:cnr-2000")), o)
    write("own.txt", SMALL + "\n")
    o = bench("own", "--list", env={"TRIREME_SUITES": path("")})
    check("TRIREME_SUITES is looked into", o.out == SMALL + "\n", o)


def test_lot():
    """Systems that a seed draws: the list, a run, its tables, and files that are no systems."""
    def drawn(seed, *words, env=None):
        o = bench("lot", "--list", "--seed", str(seed), *words, env=env)
        check(f"--list lists the systems of seed {seed} {' '.join(words)}", o.code == 0, o)
        return o.out.splitlines()

    first, other = drawn(7), drawn(8)
    check("the same seed gives the same systems", first == drawn(7) and len(first) == 60, first)
    check("another seed gives others", len(set(first) & set(other)) < 10, other)
    check("a shorter lot is the beginning", drawn(7, "--systems", "9") == first[:9], first)
    check("both triangles and every class are drawn", all(
        any(word in line for line in first) for word in (
            "# lower", "# upper", "gen:poisson", "gen:powerlaw", "factor:triangle:", "factor:lu:",
            "factor:i")), first)
    os.makedirs(path("lot"), exist_ok=True)
    matrix("lot/one.mtx", 3, [(1, 1, 2), (2, 1, 1), (2, 2, 2), (3, 2, 1), (1, 3, 1), (2, 3, 1)])
    write("lot/sides.mtx", "%%MatrixMarket matrix coordinate real general\n3 2 2\n1 1 1\n3 2 1\n")
    write("lot/notes.txt", "no matrix\n")
    write("lot/one.mtx.gz", "a twin\n")
    there = {"TRIREME_MATRICES": path("lot")}
    lot = drawn(7, env=there)
    files = [line for line in lot if "file:" in line]
    check("every file of a format that is read is drawn once", sorted(
        line.split("  ")[0].split("file:")[1] for line in files) == ["one.mtx", "sides.mtx"], files)
    write("lot.txt", "".join(line + "\n" for line in first))
    o = bench(path("lot.txt"), "--list")
    check("the list is a suite", o.code == 0 and
          o.out.splitlines() == [line.split()[0] for line in first], o)
    run_lot(there)


def test_tail():
    """Few of the plans that several threads are given are slower than one thread, whatever runs
    beside them: a share of the plans is judged, not each of them."""
    words = ("tail", "--seed", "5", "--systems", "16", "--threads", "2", "--seconds", "0.02")
    o = bench(*words, "--parts", "idle,busy,cpuset", "--out", path("tail.json"))
    rows = lines(read("tail.json").decode())
    check("the tail is timed in each surrounding", o.code == 0 and
          {r["suite"] for r in rows} == {"tail idle", "tail busy", "tail cpuset"} and
          {(r["method"], r["threads"]) for r in rows} ==
          {("serial", 1), ("auto", 1), ("threads", 2), ("auto", 2)} and
          not any(r["wrong"] for r in rows), o)
    check("its table names the worst", "the worst" in o.out and "lost their processors" in o.out, o)
    median = {(r["suite"], r["matrix"], r["uplo"], r["method"], r["threads"]):
              r["time"]["solve_s"]["median"] for r in rows}
    slow = []
    for suite, matrix_name, uplo, method, threads in median:
        if (method, threads) != ("auto", 2):
            continue
        alone = min(median[suite, matrix_name, uplo, other, 1] for other in ("serial", "auto"))
        ratio = median[suite, matrix_name, uplo, "auto", 2] / alone
        if ratio > 3:
            slow.append(f"{suite} {matrix_name} {uplo}: {ratio:.1f} times as long as one thread")
    check("at most one plan of twelve takes three times as long as one thread",
          len(slow) <= len(rows) // 4 // 12, "\n".join(slow))
    o = bench("--table", path("tail.json"))
    check("--table makes its table again", o.code == 0 and "| beside | threads | plans | median" in o.out, o)
    refuses("a surrounding that is not there", 2, "'storm' is no surrounding of tail", "bench", "tail",
            "--seed", "1", "--parts", "idle,storm")


def run_lot(there):
    seed = 689  # draws a chain of 13,362 rows and both files in their own order
    words = ("lot", "--seed", str(seed), "--systems", "3", "--seconds", "0", "--threads", "2")
    o = bench(*words, "--out", path("lot.json"), env=there)
    rows = lines(read("lot.json").decode())
    check("a lot is timed, one triangle of each system", o.code == 0 and len(rows) == 6 and
          all(r["suite"] == f"lot {seed}" and not r["wrong"] for r in rows), o)
    check("a file that is no system is skipped", "skipped file:sides.mtx: it has 3 rows and 2 columns" in
          o.err and "1 of 3 matrices skipped, 0 failed" in o.err, o)
    check("its tables: classes, their least, the worst", all(text in o.out for text in (
        "auto against the faster of serial and threads", "files ", "The worst", "one ")), o)
    o = bench("--table", path("lot.json"))
    check("--table makes them again", o.code == 0 and "| class | systems | mean | least | where |"
          in o.out and "| system | times as fast | ms | peer, ms | peer |" in o.out, o)
    write("lot_gpu.json", read(os.path.join(RESULTS, "gpu-h100-cusparse-12.9.json")).replace(
        b'"suite":"gpu"', b'"suite":"lot 7"').decode())
    o = bench("--table", path("lot_gpu.json"))
    check("on a GPU the peer is cuSPARSE", o.code == 0 and
          "**By class: the engine against cuSPARSE, 1 right-hand side**" in o.out and
          "| L and U, complete | 6 |" in o.out and "| cusparse:alg" in o.out, o)
    o = bench("factor:triangle:rcm:file:one.mtx", "--seconds", "0", env=there)
    check("reordered triangles get missing diagonal entries", o.code == 0 and "one L" in o.out, o)
    o = bench(*words, "--json", env=dict(there, TRIREME_MKL=FAKE))
    check("oneMKL is the peer if it is found", o.code == 0 and
          any(r["method"] == "mkl" for r in lines(o.out)), o)
    o = bench(*words, "--uplo", "both", env=dict(there, TRIREME_MKL=FAKE))
    check("and is named", o.code == 0 and "auto against the best peer" in o.out, o)
    for name, words in (("no seed", ("lot",)), ("no seed of a list", ("lot", "--list")),
                        ("a seed that is no number", ("lot", "--seed", "x")),
                        ("a seed below zero", ("lot", "--seed", "-1")),
                        ("a seed that is too large", ("lot", "--seed", "4294967296")),
                        ("a seed of a suite", ("quick", "--seed", "1")),
                        ("a seed of a suite's list", ("quick", "--seed", "1", "--list"))):
        refuses(f"{name} is refused", 2, "--seed", "bench", *words)
    refuses("no systems", 2, "--systems", "bench", "lot", "--seed", "1", "--systems", "0")


def test_compare():
    o = bench("--compare", data("before.json"), data("after.json"), "--svg", path("gain.svg"))
    check("a comparison is as recorded", o.code == 0 and o.out == expected("compare.txt"), o)
    svg("gain.svg", o)
    first = lines(expected("before.json"))[0]
    rows = [dict(first, matrix=f"gen:chain:{100 + k}") for k in range(90)]
    write("many.json", "".join(json.dumps(r) + "\n" for r in rows))
    for k, r in enumerate(rows):
        r["time"] = dict(r["time"], solve_s={"min": 1e-3 * (1 + k), "median": 1e-3 * (1 + k)})
    write("slow.json", "".join(json.dumps(r) + "\n" for r in rows))
    o = bench("--compare", path("many.json"), path("slow.json"), "--svg", path("many.svg"))
    svg("many.svg", o, ["of 90 systems", "chain:189 L"])
    o = bench("--table", data("before.json"), "--svg", path("bars.svg"))
    check("a table is as recorded", o.code == 0 and o.out == expected("table.txt"), o)
    other_libraries()
    svg("bars.svg", o, ["auto", "threads", "serial", "2 systems", "100 %"])


def test_bad_files():
    first = expected("before.json").splitlines()[0]
    write("cut.json", first + "\n" + first[:100] + "\n")
    write("keys.json", '{"matrix": "gen:chain:9"}\n')
    write("array.json", "[1, 2]\n")
    write("empty.json", "\n")
    write("kind.json", first.replace('"n":10000', '"n":"many"') + "\n")
    for name, said in (("cut", "cut.json:2"), ("keys", "keys.json:1"), ("array", "array.json:1"),
                       ("empty", "no results"), ("kind", "kind.json:1"), ("absent", "absent.json")):
        refuses(f"{name}.json is refused", 3, said, "bench", "--table", path(f"{name}.json"))
    refuses("so is the second of two files", 3, "cut.json:2", "bench", "--compare",
            data("before.json"), path("cut.json"))
    write("other.json", first.replace("gen:poisson2d5:100", "gen:chain:7") + "\n")
    refuses("json of a table is refused", 2, "--json", "bench", "--table", "a.json", "--json")
    refuses("files with nothing in common", 3, "in common", "bench", "--compare",
            data("before.json"), path("other.json"))


def test_usage():
    for name, said, words in (
            ("unknown method", "'fast'", ("--methods", "fast")),
            ("no method", "names no method", ("--methods", ",")),
            ("method of too many parameters", "longer than the 62 characters",
             ("--methods", "serial:" + ",".join(f"{k}={k * k}" for k in range(100, 200)))),
            ("no threads", "--threads", ("--threads", "0")),
            ("threads that are no number", "--threads", ("--threads", "1,x")),
            ("no seconds", "--seconds", ("--seconds", "-1")),
            ("one file to compare", "two files", ("--compare", "a.json")),
            ("compare and table", "not both", ("--compare", "a.json", "b.json", "--table", "c")),
            ("right-hand sides that are no number", "--nrhs", ("--nrhs", "1,x")),
            ("two suites", "two suites", ("quick", "--suite", "cpu")),
            ("a list of GPUs that is none", "cuda:0-3 or cuda:0,2", ("factors", "--backend", "cuda:3-0")),
            ("factors on the CPU", "leave out --backend cpu", ("factors", "--backend", "cpu")),
            ("factors on OpenCL", "leave out --backend opencl", ("factors", "--backend", "opencl")),
            ("Markdown of a suite", "gpus, l17, l23 and x20" if PAPERS else "gpus",
             ("quick", "--markdown")),
            ("svg of a list", "--svg", ("--list", "--svg", "a.svg"))):
        refuses(name, 2, said, "bench", *words)


def test_unknown_generator():
    o = bench("gen:nope:3", "--seconds", "0.01")
    check("a generator that is none is named once", o.code == 2 and
          o.err.count("gen:nope:3") == 1 and "there are poisson2d5" in o.err, o)
    o = run("bench", "--help")
    check("help names the variables of all libraries", all("TRIREME_" + name in o.out for name in (
        "MKL", "CUDART", "CUSPARSE", "CUBLAS", "CUBLASLT", "NVJITLINK")), o)


TOP = os.path.join(HERE, os.pardir, os.pardir)
RESULTS = os.path.join(TOP, "bench", "results")


def result_of(paper, name):
    return os.path.join(TOP, "papers", paper, "results", name)


def is_of_paper(what):
    return what in ("l17", "l23", "w21", "x20")


def test_lists():
    for what, entry in (("l17", "gen:poisson2d5:400"), ("x20", "gen:chain:100000"),
                        ("gpus", "gen:kkt3d:151"), ("w21", "gen:wingmesh:1100000"),
                        ("batches", "gen:chain:1000"), ("refactor", "gen:poisson3d7:117"),
                        ("factors", "factor:lu:gen:poisson2d5:317"),
                        ("blocks", "gen:wingmesh:60000"), ("blocks", "gen:wingmesh:1100000"),
                        ("l23", "gen:poisson2d9:2048"), ("quick", "gen:poisson2d5:150")):
        if is_of_paper(what) and not PAPERS:
            refuses(f"{what} in a build without papers", 4, "TRIREME_WITH_PAPERS", "bench", "--list",
                    what)
            continue
        o = bench("--list", what)
        check(f"--list {what} lists its systems", o.code == 0 and entry in o.out.split(), o)
    if not PAPERS:
        return
    o = bench("l23", "--list", "--suite", "gen:kkt3d:5")
    check("--list of another matrix", o.code == 0 and o.out == "gen:kkt3d:5\n", o)


def test_without_gpu():
    if has("CUDA"):
        skip("benchmarks of a GPU without one", "this build has CUDA")
        return
    for words in (["gpu"], ["gpu-quick"], ["l17"], ["x20"], ["gpus"], ["factors"], ["refactor"],
                  ["w21", "--backend", "cuda"], ["w21", "--backend", "cuda:0-1"],
                  ["blocks", "--backend", "cuda"], ["batches", "--backend", "cuda"]):
        if is_of_paper(words[0]) and not PAPERS:
            continue
        o = bench(*words)
        check("says at once that there is no GPU: " + " ".join(words), o.code == 4 and
              "this build has no CUDA" in o.err and not o.out, o)
    o = bench("gpu-quick", "--backend", "cpu", "--methods", "nothing")
    check("a suite of GPUs on the CPU, if asked", o.code == 2 and "nothing" in o.err, o)


def test_pictures():
    refuses("a picture that cannot be written, before the run", 3, "nowhere", "bench", "cpu",
            "--svg", "nowhere/x.svg", env=CLEAN)
    if PAPERS:
        refuses("a picture of real ranks", 2, "--parts model", "bench", "l23", "--parts", "real",
                "--svg", "x.svg", env=CLEAN)
        o = bench("--table", result_of("L17", "l17-h100.json"), "--svg", "seventeen.svg")
        check("several pictures of a name with .svg", o.code == 0 and
              read("seventeen-rates.svg").startswith(b"<svg"), o)
    o = bench("file:none.mtx", "--svg", "none.svg", env={"TRIREME_MATRICES": path("")})
    check("a picture of nothing is said not to be", "nothing to draw: none.svg" in o.err, o)


def test_w21_table():
    if not PAPERS:
        skip("tables of w21", "this build leaves papers out")
        return
    for name, said in (("w21-xeon-16-cores", "| threads | 16 | 5 | f16 |"),
                       ("w21-h100", "| warp-six-rows-l2 | 1 | 5 | mixed |"),
                       ("w21-h100-x4", "| slices | 4 | 5 | mixed |")):
        o = bench("--table", result_of("W21", name + ".json"))
        check(f"--table of {name}", o.code == 0 and said in o.out, o)
    refuses("a chart of w21", 2, "no chart", "bench", "--table",
            result_of("W21", "w21-h100.json"), "--svg", "x.svg", env=CLEAN)


def test_blocks():
    o = bench("blocks", "--suite", "gen:wingmesh:300", "--threads", "1,2", "--seconds", "0.01",
              "--out", path("blocks.json"))
    rows = lines(read("blocks.json").decode())
    check("block factors by scalars and by blocks", o.code == 0 and "WRONG" not in o.out and
          [(r["method"], r["threads"], r["store"]) for r in rows] == [("serial", 1, "f64")] +
          [("blocks", k, s) for k in (1, 2) for s in ("f64", "f32", "f16", "bf16")], o)
    first, blocks = rows[0], rows[1:]
    check("their answers are checked", first["backward_error"]["normwise"] < 1e-13 and all(
        not r["wrong"] and r["difference"] is not None for r in blocks), o)
    check("their figures are there", all(
        r["copy_gbs"] > 0 and r["gbs"] > 0 and r["time"]["update_s"] > 0 and
        r["speedup"] > 0 and r["bytes"] < first["bytes"] for r in blocks), o)
    again = bench("--table", path("blocks.json"))
    names = [[line.split("|")[1:5] for line in text.splitlines() if line.startswith("| gen:")]
             for text in (o.out, again.out)]  # files have fewer digits than figures in a run
    check("--table of block factors", again.code == 0 and len(names[0]) == 9 and
          names[0] == names[1], again)
    o = bench("blocks", "--suite", "gen:poisson2d5:9", "--backend", "cpu")
    check("rows that are no blocks are refused", o.code == 2 and "81" in o.err, o)


def test_every_file():
    """Results of every experiment are read: a comparison with themselves finds no difference."""
    for file in sorted(glob.glob(os.path.join(RESULTS, "*.json")) +
                       glob.glob(os.path.join(TOP, "papers", "*", "results", "*.json"))):
        name = os.path.basename(file)
        if name.startswith("python") or is_of_paper(name[:3]) and not PAPERS:
            continue
        o = bench("--compare", file, file)
        gains = [line.split()[-1] for line in o.out.split("\n\n")[0].splitlines()[1:]]
        check(f"{name} compared with itself", o.code == 0 and gains and
              set(gains) <= {"1.00", "WRONG"}, o)
    refuses("relaxations and solves have nothing in common", 3, "in common", "bench", "--compare",
            result_of("W21", "w21-h100.json"), os.path.join(RESULTS, "gpu-h200.json"))


def test_widths():
    o = bench(SMALL, *SHORT, "--peer", "none")
    check("a run fits 80 columns", o.code == 0 and "COLUMNS=100" in o.out and
          max(map(len, o.out.splitlines())) <= 80, o)
    o = bench(SMALL, *SHORT, "--peer", "none", env={"COLUMNS": "120"})
    check("COLUMNS widens it", "thr/ser" in o.out and "COLUMNS" not in o.out, o)


def test_program():
    """trireme-bench is a program of its own; trireme bench starts it."""
    there = os.path.join(os.path.dirname(TRIREME), "trireme-bench")
    done = subprocess.run([there, "--list"], capture_output=True, text=True, timeout=60)
    check("trireme-bench is trireme bench", done.stdout == bench("--list").out != "", done)
    alone = shutil.copy(TRIREME, path("trireme"))
    done = subprocess.run([alone, "bench", "--list"], capture_output=True, text=True, timeout=60)
    check("without it the command says where it looked", done.returncode == 4 and
          "there is no program " + os.path.realpath(path("trireme-bench")) in done.stderr, done)
    done = subprocess.run([alone, "completion", "bash"], capture_output=True, text=True, timeout=60)
    check("completion of the other commands is left", done.returncode == 0 and
          "    solve)" in done.stdout and "    bench)" not in done.stdout, done)


test_program()
test_suites()
test_lot()
test_tail()
test_lists()
test_without_gpu()
test_pictures()
test_w21_table()
test_blocks()
test_every_file()
test_widths()
test_table_on_terminal()
test_missing()
test_usage()
test_unknown_generator()
test_out()
test_compare()
test_factors()
test_quick()
test_rows()
test_peer()
test_programs()
test_programs_stopped()
test_programs_that_spoil()
test_programs_usage()
test_bad_files()
finish()
