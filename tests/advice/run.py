#!/usr/bin/env python3
"""run.py - every message that advises something is in the table, and its remedy works; messages that
number rows say from where they count.

    run.py TRIREME LIBTRIREME

table.py has a row for each message: commands or lines of Python that get it and that follow it, the test
elsewhere that does so, or why it cannot be followed here.  Prints 'ok NAME', 'not ok NAME' or
'skip NAME: REASON'."""

import contextlib
import glob
import inspect
import io
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from messages import ROOT, advice, without_base  # noqa: E402
from table import DEVICES, NAMES, NOT_ADVICE, REBUILD, TABLE  # noqa: E402

TRIREME, LIBRARY = map(os.path.abspath, sys.argv[1:3])
failures = 0


def check(name, good, why=""):
    global failures
    print("ok" if good else "not ok", name, flush=True)
    if not good:
        failures += 1
        print("    " + str(why)[-15000:].replace("\n", "\n    "), flush=True)


def text_of(*patterns):
    found = [f for p in patterns for f in sorted(glob.glob(os.path.join(ROOT, p), recursive=True))]
    return "\n".join(open(f, encoding="utf-8").read() for f in found)


# ---- Every message is known ---------------------------------------------------------------------

def class_of(path, text):
    """The row of a message, or the rule that says why it has none."""
    rows = [row for row in TABLE if row.words in text]
    if rows:
        return rows[0]
    if any(words in text for words in NOT_ADVICE):
        return "not advice"
    if re.search(REBUILD, text):
        return "another build"
    return "a device" if path.startswith(DEVICES) else None


def check_table(messages):
    unknown = [f"{path}: {text}" for path, text in messages if class_of(path, text) is None]
    check("every message that advises is in the table", not unknown, "\n".join(unknown))
    stale = [row.words for row in TABLE if not any(row.words in text for _, text in messages)]
    stale += [words for words in NOT_ADVICE if not any(words in text for _, text in messages)]
    check("every row of the table is a message", not stale, stale)


# ---- Every name exists where the message is read --------------------------------------------------

def options_of_commands():
    run = subprocess.run([TRIREME, "help"], capture_output=True, text=True, check=True)
    commands = re.findall(r"^  ([a-z]+) .*  ", run.stdout, re.M)
    helps = [subprocess.run([TRIREME, c, "--help"], capture_output=True, text=True).stdout
             for c in commands]
    found = set(re.findall(r"--[a-z][a-z0-9-]*", run.stdout + "".join(helps)))
    # Options of sources, where this build has no program for them.
    return found | {"--" + o for o in re.findall(r'\{\s*"([a-z][a-z-]+)"', text_of("bench/*.c"))}


def parameters_of_python():
    import trireme as tr
    found = set()
    for name in tr.__all__:
        thing = getattr(tr, name)
        members = [thing] + [m for _, m in inspect.getmembers(thing, callable)]
        for member in members:
            with contextlib.suppress(TypeError, ValueError):
                found |= set(inspect.signature(member).parameters)
    return found | set(inspect.signature(tr.Plan).parameters)


def unknown_names(path, text, known):
    """Names in a message that do not exist, or not in the interface that it belongs to."""
    words = re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*", text)
    for word in words:
        if word not in known["options"] and word not in NAMES:
            yield word
    for word in re.findall(r"\b(?:trs|TRS)_\w+", text):
        if not re.search(rf"\b{word}\b", known["header"]):
            yield word
    for word in re.findall(r"\bTRIREME_[A-Z0-9_]+", text):
        if word not in known["settings"]:
            yield word
    for word in re.findall(r"(?<![\w-])-mat_trireme_\w+", text):
        if word not in known["petsc"]:
            yield word
    for word in re.findall(r"\b[a-z0-9-]+-(?:dev|bin|icd)\b", text):
        if word not in known["packages"]:
            yield word
    if path.startswith("bindings/"):  # neither the command's options nor C's names
        yield from (word for word in words if word not in NAMES)
        yield from re.findall(r"\btrs_\w+", text)
    if path.startswith("cli/"):
        yield from re.findall(r"\b(?:trs|TRS)_\w+", text)
    if path.startswith("bindings/python/") and known["python"]:
        for word in re.findall(r"\b([a-z_]+)=", text):
            if word not in known["python"]:
                yield word


def check_names(messages, python):
    known = {"options": options_of_commands(), "header": text_of("include/*.h"),
             "settings": text_of("docs/*.md", "CMakeLists.txt", "cmake/*.cmake"),
             "petsc": text_of("bindings/petsc/*.c"), "packages": text_of("tools/setup"),
             "python": parameters_of_python() if python else None}
    bad = [f"{path}: {word} in {text}" for path, text in messages
           for word in unknown_names(path, text, known)]
    check("every name in a message exists in its interface", not bad, "\n".join(bad))


# ---- Every remedy works -------------------------------------------------------------------------

def shell(commands, folder):
    environment = dict(os.environ, PATH=os.path.dirname(TRIREME) + os.pathsep + os.environ["PATH"],
                       LC_ALL="C.UTF-8", PYTHON=sys.executable, LIBRARY=LIBRARY,
                       PYTHONPATH=os.path.join(ROOT, "bindings", "python"))
    done = subprocess.run(["bash", "-c", commands], cwd=folder, env=environment, text=True,
                          capture_output=True, timeout=600)
    return done.returncode == 0, done.stdout + done.stderr


def check_command(row, folder):
    good, told = shell(row.gets, folder)
    if good or row.shown not in " ".join(told.split()):
        return False, f"{row.gets}: {told}"
    good, told = shell(row.follows, folder)
    return good, f"{row.follows}: {told}"


def check_python(row, folder):
    import numpy as np
    import scipy.sparse as sp

    import trireme as tr
    names = dict(np=np, sp=sp, tr=tr, folder=folder)
    exec(row.before, names)
    try:
        exec(row.gets, names)
        return False, f"{row.gets} raised nothing"
    except Exception as error:
        if row.shown not in str(error):
            return False, f"{row.gets}: {error}"
    try:
        exec(row.follows, names)
    except Exception as error:
        return False, f"{row.follows}: {error!r}"
    return True, ""


def check_row(row, folder, python):
    name = row.words[:60].strip().replace(":", ",")
    if row.kind == "elsewhere":
        tested = text_of(row.test)
        check(name, tested and row.token in tested, f"{row.test} has no {row.token}")
    elif row.kind == "cannot":
        print(f"ok {name} (not followed: {row.why})")
    elif row.kind == "python" and not python:
        print(f"skip {name}: this Python has no NumPy or SciPy (Debian: python3-scipy)")
    else:
        run = check_python if row.kind == "python" else check_command
        check(name, *run(row, folder))


def has_python():
    os.environ["TRIREME_LIBRARY"] = LIBRARY
    sys.path.insert(0, os.path.join(ROOT, "bindings", "python"))
    try:
        import scipy.sparse  # noqa: F401
    except ImportError:
        return False
    return True


def main():
    python, messages = has_python(), list(advice())
    check_table(messages)
    check_names(messages, python)
    unclear = [f"{path}: {text}" for path, text in without_base()]
    check("messages that number rows say whether they count from 0", not unclear, "\n".join(unclear))
    with tempfile.TemporaryDirectory(prefix="trireme-advice-") as folder, \
            contextlib.redirect_stderr(io.StringIO()):
        for row in TABLE:
            check_row(row, folder, python)
    sys.exit(1 if failures else 0)


main()
