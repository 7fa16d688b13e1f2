"""Every kind of invalid input, and outputs that cannot be written."""

import gzip
import os
import resource
import subprocess

from harness import (FOLDER, SANITIZED, TRIREME, check, finish, has, leftovers, matrix, path, read,
                     refuses, run, skip, surroundings, vectors, write)

HEAD = "%%MatrixMarket matrix coordinate real general\n"
GOOD = [(1, 1, 2), (2, 1, 1), (2, 2, 2), (3, 3, 2)]


def invalid(name, content, said=(), code=3):
    """The content is an error that names the file; also as JSON."""
    file = "bad.mtx"
    write(file, content)
    said = [said] if isinstance(said, str) else list(said)
    refuses(name, code, [file, *said], "solve", file)
    o = run("solve", file, "--json")
    e = o.json().get("error", {})
    check(name + ", in JSON", o.code == code and e.get("exit_code") == code and
          file in e.get("message", "") and set(e) == {"status", "message", "row", "exit_code"}, o)
    o = run("info", file)
    check(name + ", in info", o.code == code and o.err.startswith("trireme: "), o)


# ---- matrix files

invalid("wrong banner", "%%MatrixMarkt matrix coordinate real general\n1 1 1\n1 1 1\n")
invalid("no banner", "1 1 1\n1 1 1\n")
invalid("unknown kind of number", "%%MatrixMarket matrix coordinate quaternion general\n1 1 1\n1 1 1\n")
invalid("no size line", HEAD + "% only a comment\n")
invalid("size line of words", HEAD + "three by three\n", "2")
invalid("negative size", HEAD + "-3 3 1\n1 1 1\n", "2")
invalid("fewer entries than announced", HEAD + "3 3 5\n1 1 1\n2 2 1\n3 3 1\n")
invalid("more entries than announced", HEAD + "3 3 2\n1 1 1\n2 2 1\n3 3 1\n")
invalid("row 0", HEAD + "3 3 3\n1 1 1\n0 2 1\n3 3 1\n", "4")
invalid("negative row", HEAD + "3 3 3\n1 1 1\n-2 2 1\n3 3 1\n", "4")
invalid("row above n", HEAD + "3 3 3\n1 1 1\n4 2 1\n3 3 1\n", "4")
invalid("column 0", HEAD + "3 3 3\n1 1 1\n2 0 1\n3 3 1\n", "4")
invalid("column above n", HEAD + "3 3 3\n1 1 1\n2 4 1\n3 3 1\n", "4")
invalid("index that overflows", HEAD + "3 3 3\n1 1 1\n99999999999999999999 2 1\n3 3 1\n", "4")
invalid("index that is none", HEAD + "3 3 3\n1 1 1\ntwo 2 1\n3 3 1\n", "4")
invalid("value that is none", HEAD + "3 3 3\n1 1 1\n2 2 x\n3 3 1\n", "4")
invalid("value that overflows", HEAD + "3 3 3\n1 1 1\n2 2 1e999\n3 3 1\n", "4")
invalid("missing value", HEAD + "3 3 3\n1 1 1\n2 2\n3 3 1\n", "4")
invalid("junk behind a value", HEAD + "3 3 3\n1 1 1\n2 2 1 1\n3 3 1\n", "4")
invalid("empty file", "")
invalid("binary file", bytes(range(256)) * 64)
invalid("more than 2^31 - 1 rows", HEAD + "3000000000 3000000000 1\n1 1 1\n")
invalid("more entries than any file has", HEAD + "3 3 9223372036854775808\n1 1 1\n")
for word in ["nan", "NaN", "inf", "-Inf"]:
    write("bad.mtx", HEAD + f"3 3 4\n1 1 1\n2 2 1\n3 1 {word}\n3 3 1\n")
    o = run("solve", "bad.mtx")
    check(f"value {word}", o.code in (1, 3) and "bad.mtx" in o.err and "5" in o.err, o)
refuses("no such file", 3, "nothing.mtx", "solve", "nothing.mtx")
refuses("a directory", 3, FOLDER, "solve", FOLDER)
refuses("unknown ending", 3, "matrix.xyz", "solve", write("matrix.xyz", "x\n"))

whole = gzip.compress((HEAD + "2000 2000 2000\n" +
                       "".join(f"{i} {i} {i}.5\n" for i in range(1, 2001))).encode())
if has("zlib"):
    write("good.mtx.gz", whole)
    o = run("solve", "good.mtx.gz")
    check("a compressed file", o.code == 0, o)
    write("bad.mtx.gz", whole[:len(whole) // 2])
    refuses("truncated .gz", 3, "bad.mtx.gz", "solve", "bad.mtx.gz")
    write("bad.mtx.gz", whole[:100] + b"\0\1\2\3" + whole[104:])
    refuses("damaged .gz", 3, "bad.mtx.gz", "solve", "bad.mtx.gz")
    write("bad.mtx.gz", b"plain text")
    refuses("a .gz that is none", 3, "bad.mtx.gz", "solve", "bad.mtx.gz")
else:
    refuses(".gz without zlib", 4, "zlib1g-dev", "solve", write("good.mtx.gz", whole))
if has("HDF5"):
    write("bad.h5", b"\x89HDF\r\n\x1a\n" + bytes(2000))
    refuses("damaged HDF5", 3, "bad.h5", "solve", "bad.h5")
    write("bad.h5", "not HDF5")
    refuses("an HDF5 file that is none", 3, "bad.h5", "solve", "bad.h5")

# ---- structure

matrix("wide.mtx", 2, [(1, 1, 1), (2, 2, 1)], columns=3)
refuses("not square", 3, ["wide.mtx", "2 x 3"], "solve", "wide.mtx")
refuses("not square, with --uplo", 3, "2 x 3", "solve", "wide.mtx", "--uplo", "lower")
matrix("both.mtx", 3, GOOD + [(1, 3, 1)])
refuses("a general matrix without --uplo", 3, ["--uplo lower", "--uplo upper", "--factor lu"],
        "solve", "both.mtx")
matrix("lower.mtx", 3, GOOD)
o = run("solve", "lower.mtx", "--uplo", "upper")
check("a triangle that is only a diagonal is solved, with a note",
      o.code == 0 and "its upper triangle is its diagonal" in o.err, o)
matrix("gap.mtx", 3, [(1, 1, 1), (2, 1, 1), (1, 2, 1), (3, 3, 1)])
for kind in ("ilu0", "ic0"):
    refuses(f"{kind} of a matrix with a gap in the diagonal", 3, ["gap.mtx", "row 1 ", "--add-diagonal"],
            "factor", "gap.mtx", "-o", "F.h5", "--kind", kind)
write("nan.mtx", HEAD + "1 1 1\n1 1 nan\n")
o = refuses("a value that is not finite", 3, ["nan.mtx:3", "is not finite"], "solve", "nan.mtx")
check("and no field of C's options is named", "allow_nonfinite" not in o.err, o)
refuses("no square factors", 3, "wide.mtx", "factor", "wide.mtx", "-o", "F.h5", "--kind", "triangle")

# ---- right-hand sides

vectors("short.mtx", [[1, 2]])
refuses("right-hand side too short", 3, ["short.mtx", "2 x 1", "3 rows"], "solve", "lower.mtx", "-b",
        "short.mtx")
vectors("long.mtx", [[1, 2, 3, 4]])
refuses("right-hand side too long", 3, "4 x 1", "solve", "lower.mtx", "-b", "long.mtx")
refuses("no such right-hand side", 3, "nothing.mtx", "solve", "lower.mtx", "-b", "nothing.mtx")
write("b.mtx", "%%MatrixMarket matrix array real general\n3 1\n1\n2\n")
refuses("right-hand side with too few values", 3, "b.mtx", "solve", "lower.mtx", "-b", "b.mtx")
write("b.mtx", "%%MatrixMarket matrix array real general\n3 1\n1\n2\nx\n")
refuses("right-hand side with words", 3, "b.mtx", "solve", "lower.mtx", "-b", "b.mtx")
write("b.mtx", "%%MatrixMarket matrix array real general\n3 1\n1\n2\n3\n")
refuses("--nrhs that -b has not", 3, "b.mtx has 1 right-hand side, and --nrhs says 2", "solve", "lower.mtx",
        "-b", "b.mtx", "--nrhs", "2")

# ---- outputs

outputs = {"solve": ["lower.mtx"], "gen": ["poisson2d5:40"]}
if has("HDF5"):
    outputs["factor"] = ["gen:poisson2d5:40", "--kind", "triangle"]
for command, words in outputs.items():
    ending = ".h5" if command == "factor" else ".mtx"
    refuses(f"{command}: no such directory to write to", 3, "nowhere", command, *words, "-o",
            "nowhere/x" + ending)
    os.makedirs(path("folder" + ending), exist_ok=True)
    refuses(f"{command}: a directory to write to", 3, "Is a directory", command, *words, "-o",
            "folder" + ending)
    if os.geteuid():
        os.makedirs(path("locked"), exist_ok=True)
        os.chmod(path("locked"), 0o555)
        refuses(f"{command}: a locked directory to write to", 3, "locked", command, *words, "-o",
                "locked/x" + ending)
    else:
        skip(f"{command}: a locked directory to write to", "root may write everywhere")
for ending in (".mtx.bz2", ".mtx.xz", ".bsp", ".mat"):
    refuses(f"{ending} files", 2, [ending, ".mtx.zst"], "gen", "poisson2d5:4", "-o", "x" + ending)
    o = refuses(f"a solution into {ending}", 2, [ending, ".mtx.zst"], "solve", "lower.mtx", "-o",
                "x" + ending)
    check(f"before the solve for {ending}", o.out == "", o)
o = run("info", "gen:chain:3", "--svg", "p.zip")
check("a picture's name may end in anything", o.code == 0 and b"</svg>" in read("p.zip"), o)


def small_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))


def into_file():
    """A file that is standard output is not replaced if -o and --svg name it too."""
    gen, solve = ["gen", "gen:chain:3", "-o"], ["solve", "gen:chain:3", "--uplo", "lower", "-o"]
    info = ["info", "gen:chain:3", "--svg"]
    for mode in ("wb", "ab"):
        write("log", "old\n")
        with open(path("log"), mode) as log:
            codes = [subprocess.run([TRIREME, *words, "/dev/stdout"], stdout=log, cwd=FOLDER,
                                    env=surroundings()).returncode
                     for words in (gen, gen, solve, info)]
        text = read("log").decode()
        check(f"several outputs in one file on standard output, opened with {mode}",
              codes == [0] * 4 and text.startswith("old\n%%" if mode == "ab" else "%%") and
              text.count("%%MatrixMarket") == 3 and text.count("backward error") == 1 and
              text.count("</svg>") == 1, f"    {codes} {text!r}")


for command, words in outputs.items():
    ending = ".h5" if command == "factor" else ".mtx"
    words = ["gen:poisson2d5:40", "--uplo", "lower"] if command == "solve" else words
    write("kept" + ending, "precious")
    before = os.listdir(FOLDER)
    refuses(f"{command}: a write that fails", 3, "kept" + ending, command, *words, "-o",
            "kept" + ending, setup=small_files)
    check(f"{command}: the file before it is intact", read("kept" + ending) == b"precious")
    refuses(f"{command}: a write that fails, to a new file", 3, "new" + ending, command, *words,
            "-o", "new" + ending, setup=small_files)
    check(f"{command}: nothing half-written is left", not leftovers(before), leftovers(before))
    o = run(command, *words, "-o", "kept" + ending)
    check(f"{command}: a write that works replaces it", o.code == 0 and
          read("kept" + ending) != b"precious", o)

if os.path.exists("/dev/stdout"):
    o = run("gen", "chain:5", "-o", "/dev/stdout")
    check("a matrix into a pipe on standard output", o.code == 0 and
          o.out.startswith("%%MatrixMarket"), o)
    into_file()
else:
    skip("output into /dev/stdout", "there is no such file, or no /proc")
o = run("solve", "gen:chain:5", "--uplo", "lower", "-o", "x.mtx", setup=lambda: os.close(1))
check("standard output closed: the table goes into no other file", o.code == 3 and
      "cannot write to standard output" in o.err and read("x.mtx").startswith(b"%%MatrixMarket") and
      b"chain" not in read("x.mtx"), o)
o = run("bench", "gen:chain:5", "--out", "b.json", "--seconds", "0.01", setup=lambda: os.close(1))
check("nor does that of bench", o.code == 3 and "cannot write to standard output" in o.err and
      all(l.startswith(b"{") for l in read("b.json").splitlines()), o)

# ---- memory


def small_memory():
    resource.setrlimit(resource.RLIMIT_AS, (1 << 29, 1 << 29))


if SANITIZED:
    skip("out of memory", "a sanitizer needs the address space for itself")
else:
    for words in [["solve", "gen:poisson2d5:5000", "--uplo", "lower"],
                  ["info", "gen:poisson2d5:5000"],
                  ["gen", "poisson2d5:5000", "-o", "big.mtx"],
                  ["solve", "gen:poisson2d5:300", "--uplo", "lower", "--nrhs", "2000000"]]:
        refuses("out of memory in " + words[0], 4, "memory", *words, setup=small_memory)
    refuses("a generated matrix beyond --max-memory", 4, ["gen:poisson2d5:300", "smaller size"], "solve",
            "gen:poisson2d5:300", "--uplo", "lower", "--max-memory", "0.001")
    o = run("solve", "gen:poisson2d5:300", "--uplo", "lower", "--backend", "serial",
            setup=small_memory)
    check("enough memory", o.code == 0, o)
    refuses("more right-hand sides than any memory holds", 4, ["b and x of 2,000,000,000 right-hand sides", "--max-memory"], "solve",
            "gen:poisson2d5:3000", "--uplo", "lower", "--nrhs", "2000000000")
finish()
