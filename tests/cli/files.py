"""Files: standard output, hard links, limits of memory, compressions, text of other programs."""

import bz2
import gzip
import lzma
import os
import shutil
import signal
import subprocess

from harness import FOLDER, TRIREME, check, finish, has, path, read, refuses, run, skip, write

HEAD = "%%MatrixMarket matrix coordinate real general\n"

# ---- -o - is standard output

o = run("gen", "poisson2d5:2", "-o", "-")
plain = run("gen", "poisson2d5:2", "-o", "plain.mtx")
check("gen to standard output", o.code == 0 and o.out == read("plain.mtx").decode() and
      "standard output" in o.err, o)
o = run("solve", "gen:poisson2d5:9", "--uplo", "lower", "-o", "-")
run("solve", "gen:poisson2d5:9", "--uplo", "lower", "-o", "x.mtx")
check("solve to standard output", o.code == 0 and o.out == read("x.mtx").decode() and "backward" in o.err, o)
o = run("relax", "gen:poisson2d5:9", "-o", "-")
check("relax to standard output", o.code == 0 and o.out.startswith("%%MatrixMarket"), o)
for ending in (".h5", ".H5", ".Hdf5"):
    for command in ("solve", "relax"):
        refuses(f"{command} to {ending}: told before the work", 2, "as Matrix Market", command, "missing.mtx",
                "-o", f"x{ending}")
refuses("an ending in capitals of a format that is not written", 2, ".NPZ files are not written",
        "solve", "missing.mtx", "-o", "x.NPZ")
for words in (["gen", "poisson2d5:300"], ["solve", "gen:poisson2d5:300", "--uplo", "lower"],
              ["relax", "gen:poisson2d5:300"]):
    read_end, write_end = os.pipe()
    os.close(read_end)
    done = subprocess.run([TRIREME, *words, "-o", "-"], stdout=write_end, stderr=subprocess.PIPE,
                          cwd=FOLDER, timeout=100)
    os.close(write_end)
    check(f"{words[0]} to a reader that has left", done.returncode == -signal.SIGPIPE and
          b"trireme:" not in done.stderr, f"{done.returncode} {done.stderr}")
if os.path.exists("/dev/full"):
    with open("/dev/full", "w") as full:
        done = subprocess.run([TRIREME, "gen", "poisson2d5:300", "-o", "-"], stdout=full,
                              stderr=subprocess.PIPE, cwd=FOLDER, timeout=100)
    check("gen to a full disk on standard output", done.returncode == 3 and
          b"cannot write to standard output: No space" in done.stderr, f"{done}")
check("no file of that name", not os.path.exists(path("-")))
refuses("factors to standard output", 2, "standard output", "factor", "gen:poisson2d5:9", "-o", "-")
o = run("solve", "gen:poisson2d5:9", "--uplo", "lower", "-o", "-", "--json")
check("both on standard output", o.code == 2 and "--json" in o.err, o)

# ---- hard links

write("h.mtx", "old")
os.link(path("h.mtx"), path("other.mtx"))
o = run("gen", "poisson2d5:2", "-o", "h.mtx")
check("a broken hard link is told", o.code == 0 and "1 other name of the old file keeps" in
      " ".join(o.out.split()) and read("other.mtx") == b"old" and
      read("h.mtx") == read("plain.mtx"), o)
o = run("gen", "poisson2d5:2", "-o", "h.mtx")
check("nothing is told without one", o.code == 0 and "other name" not in o.out, o)

# ---- limits of memory

write("claims.mtx", HEAD + "2000000000 2000000000 1\n1 1 1\n")
for command in ["info", "solve", "relax"]:
    refuses(f"{command} --max-memory", 4, ["claims.mtx", "--max-memory", "50.0 MB"], command,
            "claims.mtx", "--max-memory", "0.05")
write("vector.mtx", HEAD + "100000 100000 1\n1 1 1\n")
refuses("a right-hand side beyond the limit", 4, ["vector.mtx", "--max-memory"], "solve",
        "gen:poisson2d5:9", "--uplo", "lower", "-b", "vector.mtx", "--max-memory", "0.05")
run("gen", "poisson2d5:40", "-o", "grid.mtx")  # 1600 right-hand sides of 1600 rows are 20 MB
refuses("the matrix as its own right-hand sides, beyond the limit", 3,
        ["is the matrix", "1,600 dense right-hand sides", "leave -b out"], "solve", "grid.mtx", "--uplo", "lower",
        "-b", "grid.mtx", "--max-memory", "0.005")
os.symlink("grid.mtx", path("link.mtx"))
refuses("the matrix as its own right-hand sides, by another name", 3, "is the matrix", "solve", "grid.mtx",
        "--uplo", "lower", "-b", "link.mtx")
shutil.copy(path("grid.mtx"), path("copy.mtx"))
refuses("a copy of the matrix as right-hand sides", 3, ["as many columns as grid.mtx", "--nrhs 1600"], "solve",
        "grid.mtx", "--uplo", "lower", "-b", "copy.mtx")
refuses("a copy of the matrix beyond the limit that x shares", 4, ["copy.mtx", "--max-memory"], "solve", "grid.mtx",
        "--uplo", "lower", "-b", "copy.mtx", "--max-memory", "0.03")
o = run("solve", "grid.mtx", "--uplo", "lower", "-b", "copy.mtx", "--nrhs", "1600")
check("as many right-hand sides as rows, if told", o.code == 0, o)
refuses("fewer right-hand sides than told", 3, ["copy.mtx has 1,600 right-hand sides", "--nrhs says 2"], "solve",
        "grid.mtx", "--uplo", "lower", "-b", "copy.mtx", "--nrhs", "2")
refuses("b and x beyond the limit", 4, ["1,000 right-hand sides", "25.6 MB", "10.0 MB"], "solve", "grid.mtx",
        "--uplo", "lower", "--nrhs", "1000", "--max-memory", "0.01")
write("tiny.mtx", "%%MatrixMarket matrix coordinate real general\n"
      "3 3 4\n1 1 2\n2 2 4.9e-324\n3 3 4\n3 1 1e-400\n")
o = run("info", "tiny.mtx")
check("info describes a diagonal without a finite reciprocal", o.code == 0 and "levels" in o.out, o)
refuses("--max-memory 0", 2, "--max-memory", "info", "claims.mtx", "--max-memory", "0")
o = run("info", "plain.mtx", "--max-memory", "0.05")
check("what fits is read", o.code == 0, o)

# ---- compressions

text = (HEAD + "1 1 1\n1 1 2\n").encode()
write("b.mtx.bz2", bz2.compress(text))
write("x.mtx.xz", lzma.compress(text))
write("b.mtx", bz2.compress(text))
write("empty.mtx.xz", b"something else")
refuses("bzip2", 4, ["b.mtx.bz2", "bzip2", "bunzip2"], "info", "b.mtx.bz2")
refuses("xz", 4, ["x.mtx.xz", "xz", "unxz"], "info", "x.mtx.xz")
refuses("bzip2 by its bytes", 4, ["b.mtx", "bzip2"], "info", "b.mtx")
refuses("xz by its name", 4, ["empty.mtx.xz", "unxz"], "info", "empty.mtx.xz")
if has("zlib"):
    packed = bytearray(gzip.compress(text * 9))
    packed[14] ^= 0xff
    write("d.mtx.gz", bytes(packed))
    refuses("damaged gzip data", 3, ["d.mtx.gz", "gzip data is damaged near byte"], "info",
            "d.mtx.gz")
    write("t.mtx.gz", gzip.compress(text) + b"trailing")
    refuses("junk behind gzip data", 3, ["t.mtx.gz", "gzip data is damaged near byte"], "info",
            "t.mtx.gz")
    write("UPPER.MTX.GZ", gzip.compress(text))
    o = run("solve", "UPPER.MTX.GZ", "--uplo", "lower", "-o", "X.MTX.GZ")
    check("endings in capitals count", o.code == 0
          and gzip.decompress(read("X.MTX.GZ")).startswith(b"%%MatrixMarket"), o)
else:
    skip("damaged gzip data", "no zlib")

# ---- text of other programs

write("fortran.mtx", HEAD + "% made by a program\n2 2 3\n  1 1  0.2D+01\n% the second row\n\n"
      "  2 1 -1.D0\n  2 2  .4d1\n% the end\n")
write("c.mtx", HEAD + "2 2 3\n1 1 2\n2 1 -1\n2 2 4\n")
a = run("solve", "fortran.mtx", "-o", "xf.mtx")
b = run("solve", "c.mtx", "-o", "xc.mtx")
check("Fortran's numbers and comments between entries",
      a.code == 0 and b.code == 0 and read("xf.mtx") == read("xc.mtx"), a)

finish()
