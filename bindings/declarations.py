"""What trireme.h declares, for the generators of the bindings.

The header's declarations are regular: no function pointers but the two named callbacks, one
declaration per statement.
"""

import os
import re

HERE = os.path.dirname(os.path.abspath(__file__))


def read(header="trireme.h", first="typedef enum trs_status"):
    """The header from `first` on, without comments and directives."""
    with open(os.path.join(HERE, "..", "include", header), encoding="utf-8") as file:
        text = file.read()
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    return re.sub(r"^\s*#.*$", "", text[text.index(first):], flags=re.M)


def enums(text):
    """{name of the type, or of the first constant: [(constant, value)]}"""
    found = {}
    for name, body in re.findall(r"(?:typedef )?enum (\w*)\s*\{(.*?)\}", text, flags=re.S):
        value, members = -1, []
        for member in filter(None, map(str.strip, body.split(","))):
            label, _, given = map(str.strip, member.partition("="))
            value = int(given) if given else value + 1
            members.append((label, value))
        found[name or members[0][0]] = members
    return found


def structs(text):
    """name, [(field, declaration)] for each structure."""
    for name, body in re.findall(r"typedef struct (\w+) \{(.*?)\} \w+;", text, flags=re.S):
        fields = []
        for line in filter(None, (" ".join(s.split()) for s in body.split(";"))):
            first, *others = line.split(",")
            base = re.match(r"(?:const )?\w+", first).group()
            for declaration in [first] + [f"{base} {other}" for other in others]:
                fields.append((name_of(declaration), declaration.strip()))
        yield name, fields


def functions(text):
    """name, type of the result, [declarations of the arguments] for each function."""
    for result, name, body in re.findall(r"TRS_(?:CORE|EXPERIMENTAL) ([\w \*]+?)(\w+)\(([^;]*)\);", text):
        arguments = [" ".join(a.split()) for a in body.split(",")]
        yield name, result.strip(), [] if arguments == ["void"] else arguments


def name_of(declaration):
    """x of "const double *x"."""
    return re.search(r"(\w+)(?:\[\d+\])?$", declaration.strip()).group(1)
