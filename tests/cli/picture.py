"""The SVG of trireme info: well-formed, self-contained, and true to the matrix."""

import os
import stat
import subprocess
import xml.etree.ElementTree as tree

from harness import (FOLDER, PATIENCE, check, finish, has, leftovers, matrix, path, read, refuses, run, skip)

SVG = "{http://www.w3.org/2000/svg}"


def draw(name):
    o = run("info", name, "--svg", "p.svg")
    check(f"{name}: drawn", o.code == 0 and "p.svg" in o.out, o)
    try:
        return tree.fromstring(read("p.svg"))
    except (tree.ParseError, OSError) as e:
        check(f"{name}: well-formed", False, e)
        return tree.Element("nothing")


def texts(root):
    return [t.text for t in root.iter(SVG + "text")]


def squares(root, letter):
    """Cells covered by the rectangles of one side, from their runs."""
    count = 0
    for p in root.iter(SVG + "path"):
        if p.get("class", "")[:1] == letter and "M" in p.get("d", "") and "h-" in p.get("d"):
            count += sum(int(run.split("h")[1].split("v")[0]) for run in p.get("d").split("M")[1:])
    return count


matrix("s<&>mall.mtx", 5, [(1, 1, 1), (2, 2, 1), (3, 3, 1), (4, 4, 1), (5, 5, 1), (4, 1, 1),
                           (5, 1, 1), (2, 3, 1)])
root = draw("s<&>mall.mtx")
check("the title names the matrix", "s<&>mall.mtx" in texts(root), texts(root))
check("a square an entry", (squares(root, "l"), squares(root, "u"), squares(root, "d")) == (2, 1, 5))
check("both triangles' levels", {"Levels of the lower triangle", "Levels of the upper triangle"} <=
      set(texts(root)), texts(root))
check("axes", {"row", "column", "level"} <= set(texts(root)), texts(root))
check("nothing outside is needed", b"href" not in read("p.svg") and b"<script" not in read("p.svg")
      and b"@import" not in read("p.svg"))

root = draw("gen:poisson2d5:400")
check("a large matrix in cells", squares(root, "d") == 240 and
      any("entries in a cell" in (t or "") for t in texts(root)), texts(root))
check("in a small file", os.path.getsize(path("p.svg")) < 200_000)
root = draw("gen:random:3000,20")
check("a scattered one too", os.path.getsize(path("p.svg")) < 1_500_000,
      os.path.getsize(path("p.svg")))
matrix("wide.mtx", 2, [(1, 1, 1), (2, 5, 1)], columns=5)
root = draw("wide.mtx")
check("a rectangular matrix has no levels", not any("Levels" in (t or "") for t in texts(root)))
matrix("none.mtx", 0, [])
draw("none.mtx")
if has("HDF5") and has("SuperLU") and has("METIS"):
    run("factor", "gen:poisson2d5:30", "-o", "F.h5")
    root = draw("F.h5")
    check("factors with their separator tree", "separator tree" in texts(root), texts(root))
else:
    skip("factors with their separator tree", "HDF5, SuperLU or METIS is not in this build")

os.mkfifo(path("pipe"))
os.symlink("later.svg", path("early.svg"))
os.chmod(path("p.svg"), 0o600)
reader = subprocess.Popen(["cat", path("pipe")], stdout=subprocess.PIPE)
o = run("info", "wide.mtx", "--svg", "pipe")
try:
    drawn = reader.communicate(timeout=PATIENCE)[0]
except subprocess.TimeoutExpired:  # nobody opened the pipe
    reader.kill()
    drawn = reader.communicate()[0]
check("a picture into a pipe", o.code == 0 and b"</svg>" in drawn and
      stat.S_ISFIFO(os.stat(path("pipe")).st_mode), o)
o = run("info", "wide.mtx", "--svg", "early.svg")
check("a picture through a link", o.code == 0 and os.path.islink(path("early.svg")) and
      b"</svg>" in read("later.svg"), o)
o = run("info", "wide.mtx", "--svg", "p.svg")
check("a picture keeps the mode of the one before", o.code == 0 and
      os.stat(path("p.svg")).st_mode & 0o777 == 0o600, o)
before = os.listdir(FOLDER)
refuses("no such directory", 3, "nowhere", "info", "wide.mtx", "--svg", "nowhere/p.svg")
refuses("a directory", 3, "Is a directory", "info", "wide.mtx", "--svg", FOLDER)
check("nothing half-written is left", not leftovers(before), leftovers(before))
finish()
