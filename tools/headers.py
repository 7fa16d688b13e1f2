"""headers - reads the public headers of C: their sections, comments, functions, types and constants.

What it does not understand stops it.  tools/man_pages and the site are made of it.
"""

import re
import sys

ITEM = re.compile(r"/\* -{3,} (?P<section>.*?) -+ \*/"
                  r"|(?P<directive>^[ \t]*#(?:[^\n]*\\\n)*[^\n]*$|^extern \"C\" \{|^\}$)"
                  r"|(?P<comment>/\*.*?\*/)"
                  r"|TRS_(?P<level>CORE|EXPERIMENTAL) (?P<function>[^;]*\));"
                  r"|(?:typedef )?(?P<kind>enum|struct) ?(?P<type>\w*) \{(?P<body>.*?)\} ?\w*;"
                  r"|typedef struct (?P<opaque>\w+) \w+;"
                  r"|(?P<callback>typedef [^;]*\(\*(?P<called>\w+)\)[^;]*);", re.S | re.M)
MEMBER = {"struct": r"\s*([^;/]+;)(?:[ ]*/\*(.*?)\*/)?\s*", "enum": r"\s*([^,/]+,?)(?:[ ]*/\*(.*?)\*/)?\s*"}



class Page:
    """A comment and the functions below it."""

    def __init__(self, number, section, comment):
        self.number, self.section, self.comments, self.prototypes, self.names = number, section, [comment], [], []
        self.core = False

    def add(self, prototype, core):
        if self.prototypes and core != self.core:
            sys.exit(f"headers: {prototype}: core and experimental functions have one comment")
        self.core = core
        self.prototypes.append(" ".join(prototype.split()))
        self.names.append(re.search(r"(\w+)\(", prototype).group(1))


class Type:
    def __init__(self, number, section, name, comment, text, members):
        self.number, self.section, self.name, self.comments = number, section, name, [comment]
        self.text, self.members = text, members


def plain(comment):
    """The lines of a comment without its stars."""
    lines = comment[2:-2].split("\n")
    return "\n".join([lines[0].strip()] + [re.sub(r"^ ?\* ?", " ", line)[1:].rstrip()
                                            for line in lines[1:]]).strip()


def members_of(kind, body):
    pattern, at, found = re.compile(MEMBER[kind], re.S), 0, []
    while body[at:].strip():
        match = pattern.match(body, at)
        if not match:
            sys.exit(f"headers: cannot read {body[at:at + 60]!r}")
        comment = " ".join(match.group(2).split()) if match.group(2) else ""
        found.append((" ".join(match.group(1).split()).rstrip(",;"), comment))
        at = match.end()
    return found


def parse(text):
    """The header's first comment, its pages in order, and {name: Type}.  number: where it stands."""
    items = ITEM.finditer(text)
    first = plain(next(items).group("comment"))
    pages, types, section, at, comment, last = [], {}, "", None, "", None
    for item in items:
        between = text[at:item.start()] if at else ""
        if between.strip():
            sys.exit(f"headers: cannot read {between.strip()[:60]!r}")
        at, group = item.end(), item.groupdict()
        if comment and last and (group["comment"] or group["section"]):
            last.comments.append(comment)  # it stands alone: about what is above it
            comment = ""
        if group["section"]:
            section, last = group["section"], None
        elif group["comment"]:
            comment = plain(group["comment"])
        elif group["function"]:
            if comment or not isinstance(last, Page):
                if not comment:
                    sys.exit(f"headers: {group['function']}: no comment")
                last = Page(item.start(), section, comment)
                pages.append(last)
            last.add(group["function"], group["level"] == "CORE")
            comment = ""
        elif group["body"] is not None:
            members = members_of(group["kind"], group["body"])
            last = Type(item.start(), section, group["type"] or "Constants", comment, group["kind"], members)
            types[group["type"] or members[0][0]], comment = last, ""
        elif group["callback"] or group["opaque"]:
            name = group["called"] or group["opaque"]
            last = Type(item.start(), section, name, comment, group["callback"], [])
            types[name], comment = last, ""
    return first, pages, types


def paragraphs(comment):
    """The paragraphs of a comment as (kind, lines): "text", "item" of a list, or "literal".

    Indented lines after the first begin one; deeper ones are literal, or go on with an item.
    """
    found, literal = [], False
    for line in filter(str.strip, comment.split("\n")):
        indent = len(line) - len(line.lstrip())
        now = indent >= 5 or (indent == 2 and bool(re.search(r"[)\w] = ", line))) or (literal and indent > 3)
        if now != literal:
            found.append(("literal" if now else "text", []))
        elif re.match(r" +- ", line):
            found.append(("item", []))
        elif not now and (not found or indent in (0, 2, 3) and (found[-1][0] == "item") == (indent == 0)):
            found.append(("text", []))
        literal = now
        found[-1][1].append(line[2:] if now else re.sub(r"^ +- ", "", line).strip())
    return [(kind, lines) for kind, lines in found if lines]
