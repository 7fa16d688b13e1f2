"""The messages of the sources that advise something, and those that number rows."""

import glob
import os
import re

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
SOURCES = ["src/**/*.c", "src/**/*.cu", "src/**/*.cuh", "src/**/*.h", "gallery/*.c", "cli/*.c", "cli/*.h", "bench/*.c",
           "bindings/python/trireme/*.py", "bindings/jax/*.c", "bindings/petsc/*.c", "bindings/petsc/*.h",
           "papers/**/*.c", "papers/**/*.cu", "papers/**/*.h"]
GENERATED = ["bindings/python/trireme/_api.py"]

# A remedy begins with a verb after a colon, a semicolon, a comma, a parenthesis or a full stop; in Python
# also where a message is put together.
VERBS = """add allow ask build call choose close convert copy correct create decompress factor free give
increase install leave link load lower make name open order pass put raise read reduce remove repeat run
save scale select set shorten solve start store take try unpack update use write""".split()
REMEDY = re.compile(r"(?:[:;,(] (?:\{make\})?(?:or |and |first |then )*(?:%s)|[.] (?:%s))\b" %
                    ("|".join(VERBS), "|".join(verb.capitalize() for verb in VERBS)))
PART = re.compile(r"(?:make|pass|use) the \w+ .*\{\w+!r\}")
LITERALS = re.compile(r'(?:[fr]*"(?:[^"\\\n]|\\.)*"(?:\s|\\\n|(?:PRI\w+|PetscInt_FMT))*)+')


def literals(path):
    """The string literals of a source file; neighbours are one."""
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        text = file.read()
    if path.endswith(".py"):
        text = re.sub(r'""".*?"""', "", text, flags=re.S)
    else:
        text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    for found in LITERALS.finditer(text):
        parts = re.findall(r'"((?:[^"\\\n]|\\.)*)"', found[0])
        yield "".join(parts).replace('\\"', '"')


def messages():
    """(path, literal) of the sources."""
    for pattern in SOURCES:
        for path in sorted(glob.glob(os.path.join(ROOT, pattern), recursive=True)):
            path = os.path.relpath(path, ROOT)
            if "/tests/" not in path and path not in GENERATED:
                yield from ((path, text) for text in literals(path))


def advice():
    """(path, message) of every literal that advises something."""
    for path, text in messages():
        if REMEDY.search(text) or (path.endswith(".py") and PART.match(text)):
            yield path, text


# "(%s)" is the base of the caller's arrays, "0-based" or "1-based".
NUMBER = re.compile(r"\b(?:row|column|system|vector|triplet)s? (?:%|\{)|\b(?:entry|entries|block) \(%")
BASE = re.compile(r"[01]-based|count(?:ed)? from 0|\(%s\)")


def without_base():
    """(path, message) of those that number rows and do not say from where they count."""
    return [(path, text) for path, text in messages() if NUMBER.search(text) and not BASE.search(text)]
