"""Runs the command trireme and prints 'ok NAME', 'not ok NAME' or 'skip NAME: REASON'.

Every test program is called as: python3 PROGRAM.py TRIREME, and leaves with 1 if a check failed.
Only Python's standard library is used.
"""

import json
import os
import re
import subprocess
import sys
import tempfile

TRIREME = os.path.abspath(sys.argv[1])
SANITIZED = os.environ.get("TRIREME_SANITIZE", "") not in ("", "OFF")
PATIENCE = 900  # seconds: only a hang takes as long, on a busy machine too
failures = 0
_folder = tempfile.TemporaryDirectory(prefix="trireme-cli-")
FOLDER = _folder.name


class Outcome:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    def json(self):
        try:
            return json.loads(self.out)
        except ValueError:
            return {}

    def __str__(self):
        return f"    exit code {self.code}\n    stdout {self.out[-800:]!r}\n    stderr {self.err[-800:]!r}"


def surroundings(**more):
    """This environment without the variables of a launcher of parallel programs, plus others."""
    launchers = ("OMPI_COMM_WORLD_", "PMI_", "PMIX_", "SLURM_")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(launchers)}
    return {**kept, "LC_ALL": "C.UTF-8", **more}


def run(*words, env=None, setup=None, cwd=None, **more):
    """Runs trireme.  setup runs in the child before it, for example to set resource limits."""
    environment = surroundings(**(env or {}))
    done = subprocess.run([TRIREME, *map(str, words)], env=environment, preexec_fn=setup,
                          cwd=cwd or FOLDER, capture_output=True, timeout=PATIENCE, **more)
    return Outcome(done.returncode, done.stdout.decode("utf-8", "replace"),
                   done.stderr.decode("utf-8", "replace"))


def has_nan(o):
    """Whether a number in the output is NaN."""
    return re.search(r"(?<![\w.:/-])-?nan\b", o.out) is not None


def check(name, good, outcome=""):
    global failures
    print("ok" if good else "not ok", name, flush=True)
    if not good:
        failures += 1
        print(outcome, flush=True)
    return good


def skip(name, reason):
    print(f"skip {name}: {reason}", flush=True)


def refuses(name, code, said, *words, **more):
    """The command must leave with code and one 'trireme: ' message that contains all of said."""
    o = run(*words, **more)
    said = [said] if isinstance(said, str) else said
    good = o.code == code and o.err.startswith("trireme: ") and all(s in o.err for s in said)
    check(name, good, o)
    return o


def path(name):
    return os.path.join(FOLDER, name)


def write(name, content):
    with open(path(name), "wb") as f:
        f.write(content.encode() if isinstance(content, str) else content)
    return path(name)


def read(name):
    with open(path(name), "rb") as f:
        return f.read()


def matrix(name, rows, entries, columns=None, kind="real general"):
    """A Matrix Market file from triplets that count from 1."""
    lines = [f"%%MatrixMarket matrix coordinate {kind}", f"{rows} {columns or rows} {len(entries)}"]
    lines += [" ".join(map(str, e)) for e in entries]
    return write(name, "\n".join(lines) + "\n")


def vectors(name, columns):
    lines = ["%%MatrixMarket matrix array real general", f"{len(columns[0])} {len(columns)}"]
    lines += [repr(float(v)) for column in columns for v in column]
    return write(name, "\n".join(lines) + "\n")


def read_vectors(name):
    """The columns of a Matrix Market array file; complex values as complex numbers."""
    lines = [l for l in read(name).decode().splitlines() if l and not l.startswith("%")]
    rows, columns = map(int, lines[0].split()[:2])
    values = [complex(*map(float, l.split())) for l in lines[1:]]
    return [values[c * rows:(c + 1) * rows] for c in range(columns)]


def close(left, right, tolerance=1e-12):
    return len(left) == len(right) and all(abs(a - b) <= tolerance * (1 + abs(b))
                                           for a, b in zip(left, right))


def leftovers(before):
    """Files in the folder that were not there before."""
    return sorted(set(os.listdir(FOLDER)) - set(before))


def has(feature):
    """True if this build has a feature."""
    for line in run("--version").out.splitlines():
        words = line.split()
        if len(words) > 1 and words[0].lower() == feature.lower():
            return words[1] == "yes"
    return False


def gpu():
    """True if this build and this machine can solve on a GPU."""
    return "\n  cuda:0 " in run("--version").out


def finish():
    sys.exit(1 if failures else 0)
