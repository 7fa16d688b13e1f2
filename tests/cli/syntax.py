"""Help, manual pages, completion scripts, and mistyped command lines."""

import re
import shutil
import subprocess

from harness import check, finish, gpu, has, path, refuses, run, skip, write

COMMANDS = ["solve", "factor", "relax", "info", "gen", "methods", "bench", "completion", "help"]
ENTRY = re.compile(r"^  (?:-\w, |    )(--[a-z-]+)", re.MULTILINE)

# ---- help and version

o = run("--help")
check("help names every command", o.code == 0 and all(f"\n  {c} " in o.out for c in COMMANDS), o)
check("help explains the exit codes", all(f"\n  {c}   " in o.out for c in range(6)), o)
check("help goes to standard output", o.err == "", o)
check("help without a command is --help", run("help").out == o.out)
o = run("--version")
check("version names the features", re.match(r"trireme \d+\.\d+\.\d+\n", o.out) and
      "METIS" in o.out, o)

options = {}
for c in COMMANDS:
    o = run(c, "--help")
    check(f"{c} --help", o.code == 0 and o.out.startswith(f"Usage: trireme {c}"), o)
    check(f"help {c} is --help", run("help", c).out == o.out)
    check(f"{c} --help fits 80 columns", all(len(l) <= 80 for l in o.out.splitlines()), o)
    part = o.out.split("\nOptions\n")[1].split("\n\n")[0]
    options[c] = sorted(ENTRY.findall(part))
    brief = run(c, "-h")
    check(f"{c} -h fits a screen", brief.code == 0 and len(brief.out.splitlines()) <= 24 and
          all(len(l) <= 80 for l in brief.out.splitlines()) or brief.out == o.out, brief)
    known = set(re.findall(r"--[a-z-]+", o.out)) | {"--help"}
    check(f"{c} -h names options of {c} alone",
          set(re.findall(r"--[a-z-]+", brief.out)) <= known, brief)
o = run("-h")
check("trireme -h fits a screen", o.code == 0 and len(o.out.splitlines()) <= 24 and
      all(f"\n  {c}" in o.out for c in COMMANDS), o)
check("solve has its options", set(options["solve"]) >= {
    "--uplo", "--trans", "--diag", "--add-diagonal", "--rhs", "--nrhs", "--backend", "--method",
    "--precision", "--repeat", "--store", "--tune", "--json"}, options["solve"])

# ---- manual pages

for c in ["", *COMMANDS]:
    o = run("help", "--man", *([c] if c else []))
    name = f"trireme-{c}" if c else "trireme"
    check(f"manual page {name}", o.code == 0 and f'.TH "{name.upper()}" 1' in o.out and
          ".SH EXIT STATUS" in o.out, o)
    if not shutil.which("groff"):
        skip(f"manual page {name} is clean", "no groff")
        continue
    done = subprocess.run(["groff", "-man", "-ww", "-Tutf8", "-z"], input=o.out.encode(),
                          capture_output=True)
    check(f"manual page {name} is clean", not done.stderr, done.stderr)
    shown = subprocess.run(["groff", "-man", "-Tascii", "-P-c"], input=o.out.encode(),
                           capture_output=True).stdout.decode()
    bare = re.sub(".\b", "", shown)
    check(f"manual page {name} shows every option", all(x in bare for x in options.get(c, [])), bare)

# ---- completion

BASH = r"""source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
compopt() { :; }
_trireme; printf '%s\n' "${COMPREPLY[@]}" """


def complete(script, *words):
    done = subprocess.run(["bash", "-c", BASH, "bash", script, "trireme", *words],
                          capture_output=True, text=True)
    return done.stdout.split()


script = write("completion.bash", run("completion", "bash").out)
if shutil.which("bash"):
    check("bash completes commands", complete(script, "so") == ["solve"])
    check("bash completes options", complete(script, "solve", "--ad") == ["--add-diagonal"])
    check("bash completes every option",
          all(set(complete(script, c, "--")) == set(options[c]) for c in COMMANDS))
    check("bash completes choices", complete(script, "solve", "--uplo", "") == ["lower", "upper"])
    check("bash completes methods", "serial" in complete(script, "solve", "--method", ""))
    check("bash completes backends", complete(script, "solve", "--backend", "cu") == ["cuda"])
    check("bash completes generators", any(w.startswith("poisson2d5") for w in
                                           complete(script, "gen", "poi")))
    check("bash completes files", path("completion.bash") in
          complete(script, "solve", path("completion.b")))
    for c in ["solve", "factor", "relax", "info"]:
        check(f"bash completes generators as the matrix of {c}", complete(script, c, "ge") == ["gen:"] and
              complete(script, c, "gen:poisson2d5") == ["gen:poisson2d5:"] and
              complete(script, c, "gen", ":", "poisson2d5") == ["poisson2d5:"] and
              "poisson2d5:" in complete(script, c, "gen", ":"))
else:
    skip("bash completion", "no bash")
for shell in ["zsh", "fish"]:
    o = run("completion", shell)
    check(f"{shell} script knows every option", o.code == 0 and
          all(x[2:] in o.out for c in COMMANDS for x in options[c]), o)
    check(f"{shell} script knows generators", "gen:poisson2d5:" in o.out, o)
    if not shutil.which(shell):
        skip(f"{shell} accepts its script", f"no {shell}")
        continue
    done = subprocess.run([shell, "-n", write("completion." + shell, o.out)], capture_output=True)
    check(f"{shell} accepts its script", done.returncode == 0 and not done.stderr, done.stderr)

if shutil.which("fish"):
    done = subprocess.run(["fish", "-c", f"source {path('completion.fish')}; "
                           "complete -C 'trireme solve --up'; complete -C 'trireme so'; "
                           "complete -C 'trireme solve --uplo l'; complete -C 'trireme solve gen:poisson2d5'"], capture_output=True, text=True)
    check("fish completes commands, options and choices",
          [l.split("\t")[0] for l in done.stdout.splitlines()] == ["--uplo", "solve", "lower", "gen:poisson2d5:"],
          done.stdout + done.stderr)

# ---- lists

words = run("completion", "fish").out  # they have the library's methods
METHODS = [m for option in ["solve' -l method", "relax' -l variant"]
           for m in re.search(option + " -x -a '([^']*)'", words)[1].split() if m != "auto"]
METHODS += ["grid3d", "grid3d-baseline", "grid2d"]
o = run("methods")
listed = [l.split()[0] for l in o.out.splitlines() if l and not l.startswith(" ")]
OF_PAPERS = ("levelset levelset-cpu syncfree-csc syncfree-csc-rhs supernodal unified get-update-put "
             "zerocopy-block zerocopy grid3d-baseline").split()
OF_PAPERS += [m for m in METHODS if m.startswith(("thread-row", "warp-"))]
left_out = [] if has("papers") else OF_PAPERS
check("methods lists every method", o.code == 0 and len(METHODS) > 20 and
      all((m in listed) != (m in left_out) for m in METHODS), o)
check("methods says what builds with papers have", ("TRIREME_WITH_PAPERS" in o.out) == bool(left_out)
      and all(m in o.out for m in left_out[:7]), o)
check("methods fits 80 columns", all(len(l) <= 80 for l in o.out.splitlines()), o)
parts = dict((p.split(":")[0], p) for p in o.out.split("\n\n"))
REFUSED = "\nnot available: "
check("methods says that the CPU can run its own", all(
    REFUSED not in parts[p] for p in parts if p.endswith("the CPU")), o)
for part in ["Solves on one GPU", "Solves on several GPUs", "Relaxation on a GPU"]:
    check(f"methods says why not: {part}", (REFUSED in parts[part]) != gpu(), o)
    if not has("CUDA"):
        check(f"methods names CUDA: {part}", "no CUDA" in parts[part], o)
o = run("methods", env={"PATH": "/nowhere"})
check("methods says what ranks need", ("openmpi-bin" if has("MPI") else "libopenmpi-dev") in o.out,
      o)
o = run("gen", "--list")
check("gen --list", o.code == 0 and "gen:poisson2d5:" in o.out, o)

run("gen", "poisson2d5:5", "-o", "letters.mtx")
for said, words in (("L^T x = b", ["--uplo", "L", "--trans", "T", "--diag", "U"]),
                    ("U^H x = b", ["--uplo=UPPER", "--trans", "H", "--diag", "N"])):
    o = run("solve", "letters.mtx", *words)
    check(f"LAPACK's letters: {' '.join(words)}", o.code == 0 and said in o.out, o)

# ---- mistakes

refuses("no command", 2, "a command is missing")
refuses("unknown command", 2, "did you mean solve?", "sovle", "x.mtx")
refuses("unknown command, nothing near", 2, "no command 'xyzzyplugh'", "xyzzyplugh")
refuses("unknown command in help", 2, "did you mean factor?", "help", "facter")
refuses("unknown option of trireme", 2, "did you mean --version?", "--versoin")
refuses("unknown option", 2, "did you mean --uplo?", "solve", "m.mtx", "--ulpo", "lower")
refuses("unknown option, nothing near", 2, "no option --frobnicate", "solve", "--frobnicate", "x")
refuses("unknown letter", 2, "no option -q", "solve", "-q", "m.mtx")
refuses("missing operand", 2, "M, a matrix, is missing", "solve", "--uplo", "lower")
refuses("one operand too many", 2, "'b.mtx' is one word too many", "solve", "a.mtx", "b.mtx")
refuses("missing value", 2, "--uplo needs a value: lower|upper", "solve", "a.mtx", "--uplo")
refuses("empty value", 2, "empty value", "solve", "a.mtx", "-o", "")
refuses("value for a flag", 2, "takes no value", "solve", "a.mtx", "--add-diagonal=yes")
refuses("bad choice", 2, ["lower or upper", "did you mean lower?"], "solve", "a.mtx", "--uplo",
        "lowr")
refuses("bad choice, the beginning of one", 2, "did you mean ilu0?", "factor", "a.mtx", "-o", "f.h5", "--kind", "ilu")
refuses("bad choice, METIS's name", 2, "did you mean nd?", "factor", "a.mtx", "-o", "f.h5", "--order", "metis")
refuses("a choice as an option", 2, "no option --lower; did you mean --uplo lower?", "solve", "a.mtx", "--lower")
refuses("an option as a command", 2, "did you mean --version?", "version")
refuses("bad choice, nothing near", 2, "n, t or c, not 'xyz'", "solve", "a.mtx", "--trans=xyz")
refuses("bad count", 2, "whole number, not '3x'", "solve", "a.mtx", "--nrhs", "3x")
refuses("count too small", 2, "--nrhs takes a number", "solve", "a.mtx", "--nrhs", "0")
refuses("count too large", 2, "--nrhs takes a number", "solve", "a.mtx", "--nrhs",
        "99999999999999999999")
refuses("bad real", 2, "takes a number", "factor", "a.mtx", "-o", "f.h5", "--pivot-threshold", "x")
refuses("real out of range", 2, "from 0 to 1", "factor", "a.mtx", "-o", "f.h5",
        "--pivot-threshold", "1.5")
# Every number of every command: below its domain, above it, no number, and beyond 64 bits.
NUMBERS = {"solve": ["nrhs", "repeat", "width", "gpu-memory", "max-memory"],
           "factor": ["leaves", "pivot-threshold", "block-size", "max-memory"],
           "relax": ["block-size", "sweeps", "omega", "residual-every", "nrhs", "repeat", "max-memory"],
           "info": ["max-memory"]}
for command, names in NUMBERS.items():
    for name in names:
        for value in ["-1", "nan", "inf", "-inf", "1e999", "9223372036854775808",
                      "-9223372036854775809", "two", ""]:
            refuses(f"{command} --{name} {value or 'nothing'}", 2, f"--{name} ", command,
                    "gen:chain:5", f"--{name}={value}")
refuses("bad seed", 2, "random:SEED", "solve", "gen:chain:5", "--uplo", "lower", "--rhs",
        "random:x")
refuses("bad rhs", 2, "random or random:SEED", "solve", "gen:chain:5", "--uplo", "lower", "--rhs",
        "ones")
refuses("two kinds of right-hand sides", 2, "not both", "solve", "a.mtx", "-b", "b.mtx", "--rhs",
        "random")
refuses("unknown backend", 2, "gpu9", "solve", "gen:chain:5", "--uplo", "lower", "--backend", "gpu9")
for backend in ["cuda:x", "cuda:-1", "cuda:", "cuda:0,", "cuda:3-1", "cuda:0-99"]:
    refuses(f"backend {backend}", 2, ["cuda:0-99", "more than 32"] if backend == "cuda:0-99" else "a GPU's number follows cuda:", "solve", "gen:chain:5", "--uplo",
            "lower", "--backend", backend)
refuses("bad store", 2, ["same, mixed, f16 or bf16", "did you mean mixed?"], "solve", "a.mtx", "--store", "mixd")
refuses("parameters of a method without any", 2, 'leave out ":warps=8"', "solve", "gen:chain:5",
        "--uplo", "lower", "--method", "serial:warps=8")
refuses("unknown method", 2, "fastest", "solve", "gen:chain:5", "--uplo", "lower", "--method",
        "fastest")
refuses("factor without -o", 2, "-o FILE is missing", "factor", "gen:chain:5")
refuses("factors into .mtx", 2, "HDF5", "factor", "gen:chain:5", "-o", "f.mtx")
refuses("a solution into .h5", 2, "Matrix Market", "solve", "gen:chain:5", "-o", "x.h5")
refuses("gen without -o", 2, "-o FILE is missing", "gen", "gen:chain:5")
refuses("gen without a name", 2, "a name is missing", "gen")
refuses("unknown generator", 2, "gen:poison", "gen", "poison:3", "-o", "x.mtx")
for words in (("solve", "--uplo", "lower"), ("gen", "-o", "x.mtx"), ("info",), ("relax",)):
    refuses(f"a misspelt generator of {words[0]}", 2, "did you mean gen:poisson3d7?", words[0],
            "gen:poison3d7:50", *words[1:])
for words in (("solve", "--uplo", "lower"), ("factor", "--kind", "ilu0", "-o", "f.h5"), ("info",), ("relax",)):
    refuses(f"a generator of {words[0]} without gen:", 3, "No such file or directory; the generated matrix is "
            "gen:poisson2d5:9", words[0], "poisson2d5:9", *words[1:])
o = refuses("another file that is missing", 3, "No such file", "solve", "poisson2d:9")
check("it is not taken for a generator", "generated" not in o.err, o)
refuses("a method of another build or backend", 2, ["did you mean engine?", "here, and elsewhere ", "engine, pull"],
        "solve", "gen:chain:5", "--uplo", "lower", "--method", "engine?:")
refuses("generator without size", 2, "gen:poisson2d5", "solve", "gen:poisson2d5")
refuses("unknown shell", 2, "bash, zsh and fish", "completion", "tcsh")
o = refuses("mistakes point to --help", 2, "Try 'trireme solve --help'.", "solve")
o = refuses("mistakes in JSON", 2, "did you mean --uplo?", "solve", "a", "--uplp", "--json")
e = o.json().get("error", {})
check("JSON of a mistake", e.get("status") == "usage" and e.get("exit_code") == 2 and
      e.get("row", 0) is None and "did you mean" in e.get("message", ""), o)

# ---- equivalent command lines

same = [["--uplo", "lower", "--trans=t"], ["--trans", "t", "--uplo=lower"]]
for words in same:
    o = run("solve", "gen:chain:5", *words)
    check("options as " + " ".join(words), o.code == 0 and "L^T x = b" in o.out, o)
o = run("solve", "--uplo", "lower", "--", "gen:chain:5")
check("-- ends options", o.code == 0, o)
refuses("-- makes operands of dashes", 3, "--help", "solve", "--", "--help")
finish()
