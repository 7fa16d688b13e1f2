"""c_header - a directive of Sphinx that documents a public header of C, from its comments.

    ```{c-header} trireme.h
    ```

The comments are as programmers read them in the header, without marks of a documentation tool.
"""

import os
import re

from docutils.parsers.rst import Directive
from docutils.statemachine import StringList
from headers import paragraphs, parse
from sphinx.util.nodes import nested_parse_with_titles

INCLUDE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "include")


class Writer:
    """Writes the reStructuredText of one header; names: {name: role} of what can be linked to."""

    def __init__(self, names):
        self.names, self.lines = names, []

    def inline(self, text):
        text = re.sub(r"([*`|\\])", r"\\\1", text)
        text = re.sub(r"_(?=\W|$)", r"\\_", text)
        return re.sub(r"\b((?:trs|TRS)_\w+)\b(?:\(\))?", lambda m: f":c:{self.names[m[1]]}:`{m[1]}`"
                      if m[1] in self.names else m[0], text)

    def add(self, line, depth):
        self.lines.append("   " * depth + line if line else "")

    def prose(self, comment, depth):
        for kind, lines in paragraphs(comment):
            self.add("", depth)
            if kind == "literal":
                self.add("::", depth)
                self.add("", depth)
                least = min(len(line) - len(line.lstrip()) for line in lines)
                for line in lines:
                    self.add(line[least:].rstrip(), depth + 1)
            else:
                self.add(("- " if kind == "item" else "") + self.inline(" ".join(lines)), depth)
        self.add("", depth)

    def function(self, page):
        for k, prototype in enumerate(page.prototypes):
            self.add((".. c:function:: " if k == 0 else " " * 16) + prototype, 0)
        self.add("", 1)
        self.add("*Core*" if page.core else "*Experimental*", 1)
        for comment in page.comments:
            self.prose(comment, 1)

    def type(self, kind):
        if not kind.members and kind.text:
            signature = re.sub(r"^typedef ", "", " ".join(kind.text.split()))
            self.add(f".. c:type:: {signature}", 0)
        elif kind.name == "Constants":
            for comment in kind.comments:
                self.prose(comment, 0)
            for label, comment in kind.members:
                self.add(f".. c:macro:: {label.split()[0]}", 0)
                self.prose(capital(comment), 1)
            return
        elif kind.members:
            self.add(f".. c:{kind.text}:: {kind.name}", 0)
        else:
            self.add(f".. c:type:: {kind.name}", 0)
        for comment in kind.comments:
            self.prose(comment, 1)
        for label, comment in kind.members:
            self.add("", 1)
            if kind.text == "enum":
                self.add(f".. c:enumerator:: {label}", 1)
            else:
                first = True
                for member in declarators(label):
                    self.add((".. c:member:: " if first else " " * 14) + member, 1)
                    first = False
            self.prose(capital(comment), 2)
        self.add("", 0)


def capital(comment):
    """Not of a name, such as trs_solve or x."""
    return comment[0].upper() + comment[1:] if re.match(r"[a-z]{2,} |[a]n? ", comment) else comment


def declarators(label):
    """int64_t nrows, ncols: a declaration of each."""
    if "(" in label or "," not in label:
        return [label]
    first, *others = [part.strip() for part in label.split(",")]
    base = re.sub(r"\**\w+(\[\w+\])?$", "", first).rstrip()
    return [first] + [f"{base} {other}" for other in others]


class Header(Directive):
    required_arguments = 1

    def run(self):
        path = os.path.join(INCLUDE, self.arguments[0])
        self.state.document.settings.env.note_dependency(os.path.abspath(path))
        with open(path, encoding="utf-8") as file:
            first, pages, types = parse(file.read())
        names = {name: "func" for page in pages for name in page.names}
        for kind in types.values():
            if kind.name != "Constants":
                names[kind.name] = kind.text if kind.members else "type"
            if kind.text == "enum":
                role = "macro" if kind.name == "Constants" else "enumerator"
                names.update({label.split()[0]: role for label, _ in kind.members})
        writer = Writer(names)
        writer.prose(capital(re.split(" - ", first, maxsplit=1)[1]), 0)
        section = None
        for item in sorted([*pages, *types.values()], key=lambda item: item.number):
            if item.section != section:
                section = item.section
                writer.lines += ["", section, "-" * len(section), ""]
            (writer.function if hasattr(item, "prototypes") else writer.type)(item)
        node = self.state_machine.node.__class__()
        node.document = self.state.document
        nested_parse_with_titles(self.state, StringList(writer.lines, source=path), node)
        return node.children


def setup(app):
    app.add_directive("c-header", Header)
    return {"parallel_read_safe": True}
