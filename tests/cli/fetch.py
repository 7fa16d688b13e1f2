"""tools/fetch_matrices, with a local folder in place of the collection."""

import os
import re
import subprocess
import tarfile

from harness import FOLDER, check, finish, matrix, path, run, skip

TOOL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools", "fetch_matrices")
COLLECTION = path("collection")


def fetch(*words, collection="file://" + COLLECTION):
    return subprocess.run([TOOL, *words], env={**os.environ, "TRIREME_COLLECTION": collection},
                          cwd=FOLDER, capture_output=True, text=True)


def put(group, name):
    os.makedirs(os.path.join(COLLECTION, group), exist_ok=True)
    with tarfile.open(os.path.join(COLLECTION, group, name + ".tar.gz"), "w:gz") as tar:
        tar.add(matrix(name + ".mtx", 2, [(1, 1, 2.5), (2, 1, 1), (2, 2, 4)],
                       kind="real symmetric"), f"{name}/{name}.mtx")


put("HB", "bcsstk16")
put("HB", "bcsstk17")
o = fetch("--list", collection="")
check("--list names the collection", o.returncode == 0 and "/MM/HB/bcsstk16.tar.gz" in o.stdout, o)
check("and what is not in it", "ani4" in o.stderr, o)
check("--list of a suite", "GT01R" in fetch("--list", "cpu").stdout)
o = fetch("--into", "here", "bcsstk16", "bcsstk17_pattern.mtx.gz")
check("matrices are fetched", o.returncode == 0 and sorted(os.listdir(path("here"))) ==
      ["bcsstk16.mtx.gz", "bcsstk17_pattern.mtx.gz"], o)
if re.search(r"zlib +yes", run("--version").out):
    o = run("info", path("here/bcsstk16.mtx.gz"))
    check("and can be read", o.code == 0 and "2 rows" in o.out, o)
    o = run("info", path("here/bcsstk17_pattern.mtx.gz"))
    check("a pattern has no values of the matrix", o.code == 0 and "4 entries" in o.out, o)
else:
    skip("fetched matrices are read", "this build has no zlib")
check("what is there is not fetched again",
      "there already" in fetch("--into", "here", "bcsstk16", collection="file:///nowhere").stdout)
o = fetch("--into", "there", "bcsstk16", collection="file:///nowhere")
check("without the collection it fails and says why", o.returncode == 1 and
      "Is there a network?" in o.stderr and o.stderr.count("\n") == 1, o)
check("and leaves nothing", os.listdir(path("there")) == [])
o = fetch("--into", "some", "ldoor", "bcsstk17")
check("what is missing is skipped", o.returncode == 1 and "ldoor" in o.stderr and
      os.listdir(path("some")) == ["bcsstk17.mtx.gz"], o)
check("the suite of L23", "Schenk/nlpkkt80" in fetch("--list", "l23").stdout)
for suite, count in (("l17", 20), ("x20", 16)):
    o = fetch("--list", suite)
    check(f"the matrices of {suite}", o.returncode == 0 and o.stdout.count("tar.gz") == count and
          "not known" not in o.stderr, o)
o = fetch("--into", "papers", "l17")
check("what a suite of a paper lacks is reported and skipped", o.returncode == 1 and
      o.stderr.count("\n") == 20 and os.listdir(path("papers")) == [], o)
with open(os.path.join(COLLECTION, "HB", "bcsstk16.tar.gz"), "r+b") as f:
    f.truncate(60)
o = fetch("--into", "there", "bcsstk16")
check("a damaged archive is an error", o.returncode == 1 and "not an archive" in o.stderr and
      os.listdir(path("there")) == [], o)
finish()
