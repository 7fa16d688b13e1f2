"""Colour and progress bars on terminals only; output that cannot be written is a failure."""

import os
import pty
import re
import shutil
import signal
import subprocess
import time

from harness import (FOLDER, PATIENCE, TRIREME, check, finish, has, read, run, skip, surroundings,
                     write)

SHORT = ["solve", "gen:poisson2d5:30", "--uplo", "lower"]
ESCAPE = "\033["


REPEATED = ["solve", "gen:poisson2d5:100", "--uplo", "lower", "--backend", "serial", "--repeat"]
BAR_AFTER = 1  # second


def long_solve(repeat, **env):
    """On a terminal, with enough repeats to last a while on any machine."""
    while True:
        begin = time.monotonic()
        shown = on_terminal([*REPEATED, str(repeat)], out=False, **env)
        took = time.monotonic() - begin
        if took > 2 * BAR_AFTER or shown[0] != 0 or repeat > 10**8:
            return repeat, shown
        repeat = int(repeat * max(1.5, 2.5 * BAR_AFTER / took))


def on_terminal(words, out=True, err=True, **env):
    """Runs with a pseudo-terminal as stdout, stderr or both; returns (code, its text, the rest)."""
    master, slave = pty.openpty()
    environment = surroundings(TERM="xterm-256color")
    environment.pop("NO_COLOR", None)
    environment.update(env)
    child = subprocess.Popen([TRIREME, *words], env=environment, cwd=FOLDER,
                             stdin=subprocess.DEVNULL,
                             stdout=slave if out else subprocess.PIPE,
                             stderr=slave if err else subprocess.PIPE)
    os.close(slave)
    text = b""
    while True:
        try:
            part = os.read(master, 65536)
        except OSError:
            break
        if not part:
            break
        text += part
    rest = b"".join(s.read() for s in (child.stdout, child.stderr) if s)
    os.close(master)
    return child.wait(), text.decode("utf-8", "replace"), rest.decode("utf-8", "replace")


# ---- colour

code, text, _ = on_terminal(SHORT)
check("colour on a terminal", code == 0 and ESCAPE in text, text)
for name, env in [("NO_COLOR", {"NO_COLOR": "1"}), ("TERM=dumb", {"TERM": "dumb"}),
                  ("an empty TERM", {"TERM": ""}),
                  ("mpirun's pseudo-terminal", {"OMPI_COMM_WORLD_SIZE": "1"})]:
    code, text, _ = on_terminal(SHORT, **env)
    check(f"no colour with {name}", code == 0 and ESCAPE not in text, text)
code, text, _ = on_terminal(SHORT, NO_COLOR="")
check("an empty NO_COLOR says nothing", ESCAPE in text, text)
o = run(*SHORT, env={"TERM": "xterm"})
check("no colour in a pipe", o.code == 0 and ESCAPE not in o.out + o.err, o)
code, text, rest = on_terminal(SHORT, err=True, out=False)
check("no colour in a pipe beside a terminal", code == 0 and ESCAPE not in rest, rest)
code, text, _ = on_terminal(["solve", "--frob"], out=False)
check("failures in colour on a terminal", code == 2 and text.startswith(ESCAPE), text)
o = run("solve", "--frob")
check("failures without colour elsewhere", o.err.startswith("trireme: "), o)
code, text, _ = on_terminal([*SHORT, "--json"], NO_COLOR="1")
code2, text2, _ = on_terminal([*SHORT, "--json"])
check("no colour in JSON, even on a terminal", ESCAPE not in text2 and code2 == 0, text2)

# ---- progress

often, (code, text, rest) = long_solve(4000)
check("a progress bar when it takes long", code == 0 and "%" in text and "\r" in text, text[-400:])
check("which is wiped in the end", text.endswith("\r\033[K"), repr(text[-80:]))
check("and does not disturb the table", "%" not in rest and ESCAPE not in rest, rest)
begin = time.monotonic()
code, text, rest = on_terminal(SHORT, out=False)
quick = time.monotonic() - begin < BAR_AFTER  # not so on a machine that is busy enough
check("no progress bar when it is quick", code == 0 and (text == "" or not quick), repr(text))
_, (code, text, rest) = long_solve(often, TERM="dumb")
check("no progress bar on a dumb terminal", code == 0 and text == "", repr(text))
o = run(*REPEATED, often)
check("no progress bar without a terminal", o.code == 0 and o.err == "", o)

if has("MPI") and has("papers"):
    size, shown = 100, ""
    while "%" not in shown and size <= 1600:  # until it takes longer than a bar waits
        code, shown, rest = on_terminal(["bench", "l23", "--parts", "model", "--ranks", "128,512",
                                         "--suite", f"gen:poisson2d9:{size}"], out=False)
        size *= 2
    check("a progress bar while other programs work", code == 0 and "%" in shown and
          "poisson2d9" in shown and ESCAPE not in rest, f"{code} {shown[-300:]!r} {rest[-300:]!r}")
else:
    skip("a progress bar while other programs work", "MPI or papers are not in this build")

if has("SuperLU"):
    workers = os.path.join(FOLDER, "workers")
    os.mkdir(workers)
    with open(os.path.join(workers, "trireme-worker-superlu"), "w", encoding="utf-8") as f:
        f.write("#!/bin/sh\nexec sleep 100\n")
    os.chmod(f.name, 0o755)
    code, text, rest = on_terminal(["factor", "gen:poisson3d7:36", "-o", "F.h5", "--order", "natural"],
                                   out=False, TRIREME_WORKERS=workers, TRIREME_WORKER_SECONDS="3.2")
    check("seconds of a factorisation that cannot say how far it is", code == 1 and
          "\rfactoring, 2 s\033[K" in text and "%" not in text, f"{code} {text!r} {rest!r}")
else:
    skip("seconds of a factorisation", "SuperLU is not in this build")

with open(os.path.join(FOLDER, "slow.c"), "w", encoding="utf-8") as f:
    f.write("unsigned sleep(unsigned);\nint fsync(int fd) { return (int)(sleep(3) + 0 * fd); }\n")
slow = os.path.join(FOLDER, "slow.so")
if not has("HDF5") or not shutil.which("cc"):
    skip("seconds of a file that is being written", "no HDF5 in this build, or no cc")
elif subprocess.run(["cc", "-shared", "-fPIC", "-o", slow, f.name], check=False).returncode == 0:
    code, text, rest = on_terminal(["factor", "gen:poisson2d5:9", "-o", "F.h5", "--kind", "ilu0"],
                                   out=False, LD_PRELOAD=slow, ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") +
                                   ":verify_asan_link_order=0")
    check("seconds of a file that is being written", code == 0 and "\rwriting, 2 s\033[K" in text and
          "%" not in text, f"{code} {text!r} {rest!r}")
else:
    skip("seconds of a file that is being written", "cc makes no shared library")

# ---- output that cannot be written

for words in [SHORT, ["--help"], ["--version"], ["methods"], ["gen", "--list"],
              ["completion", "bash"], ["help", "--man", "solve"], ["info", "gen:poisson2d5:30"]]:
    read_end, write_end = os.pipe()
    os.close(read_end)
    done = subprocess.run([TRIREME, *words], stdout=write_end, stderr=subprocess.PIPE, cwd=FOLDER,
                          timeout=PATIENCE)
    os.close(write_end)
    check("a reader that has left: " + " ".join(words), done.returncode == -signal.SIGPIPE and
          not done.stderr, f"{done.returncode} {done.stderr}")
if os.path.exists("/dev/full"):
    for words in [SHORT, ["--help"], ["help", "--man", "solve"]]:
        with open("/dev/full", "w") as full:
            done = subprocess.run([TRIREME, *words], stdout=full, stderr=subprocess.PIPE,
                                  cwd=FOLDER, timeout=PATIENCE)
        check("a full disk: " + " ".join(words), done.returncode == 3 and
              b"No space left" in done.stderr, done.stderr)
else:
    skip("a full disk", "no /dev/full")
write("long.txt", 200 * "gen:chain:500\n")
read_end, write_end = os.pipe()
os.close(read_end)
done = subprocess.run([TRIREME, "bench", "./long.txt", "--seconds", "0", "--methods", "serial",
                       "--peer", "none", "--out", "rows.json"], stdout=write_end,
                      stderr=subprocess.PIPE, cwd=FOLDER)
os.close(write_end)
rows = read("rows.json").count(b"\n")
check("a benchmark ends when its reader has left", done.returncode == -signal.SIGPIPE and rows < 200,
      f"{done.returncode} {rows} rows {done.stderr}")
done = subprocess.run(f"'{TRIREME}' --version >&-", shell=True, capture_output=True)
check("no standard output at all", done.returncode == 3 and b"cannot write" in done.stderr,
      done.stderr)
for words in SHORT, ["solve", "gen:poisson2d5:60", "--uplo", "lower"]:
    lines = run(*words).out.splitlines()
    check("a number and its unit stand in one line", not [
        (a, b) for a, b in zip(lines, lines[1:])
        if re.search(r"[0-9]$", a) and re.match(r" +(ns|µs|ms|s|kB|MB|GB|GB/s|%)[ ,;:.)]?", b + " ")], lines)

finish()

# ---- Interrupts -----------------------------------------------------------------------------------


def workers():
    """The worker processes of this machine that work in this test's folder."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if "trireme-worker" in os.readlink(f"/proc/{pid}/exe") and os.readlink(f"/proc/{pid}/cwd") == FOLDER:
                found.append(pid)
        except OSError:
            continue
    return found


LONG = [["factor", "gen:poisson3d7:60", "-o", "long.h5"], ["gen", "random:9000000,8", "-o", "long.mtx"]]
if has("SuperLU") and has("METIS"):
    LONG.append(["factor", "gen:poisson3d7:60", "--order", "nd", "-o", "long.h5"])
for words in LONG:
    for number in (signal.SIGINT, signal.SIGTERM):
        for wait in (0.2, 0.9):
            child = subprocess.Popen([TRIREME, *words], env=surroundings(), cwd=FOLDER, stdin=subprocess.DEVNULL,
                                     stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            time.sleep(wait)
            child.send_signal(number)
            begin = time.monotonic()
            out, err = child.communicate(timeout=PATIENCE)
            took = time.monotonic() - begin
            left = [name for name in os.listdir(FOLDER) if "long." in name]
            check(f"{number.name} after {wait} s: {' '.join(words)}", child.returncode == -number and took < 30 and
                  not left and not workers(), (child.returncode, took, out, err, left, workers()))
shell = subprocess.run(["bash", "-c", f"{TRIREME} factor gen:poisson3d7:60 -o long.h5 & trap : INT; sleep 0.4; kill -TERM $!; "
                        "wait $!; echo $?"], env=surroundings(), cwd=FOLDER, capture_output=True, text=True, timeout=PATIENCE)
check("a shell is told of the signal", shell.stdout.strip() == "143", (shell.stdout, shell.stderr))
