"""Names of files with control characters reach the terminal as \\xNN, from every source of messages."""

import os
import xml.dom.minidom

from harness import FOLDER, check, finish, matrix, path, read, run, write

EVIL = "evil\033[31m\nname\udc9b"  # the byte 9b alone is not UTF-8
SHOWN = "evil\\x1b[31m\\x0aname\\x"
ENTRIES = [(1, 1, 2), (2, 1, 1), (2, 2, 4)]


def clean(o):
    """No character that a terminal interprets; newlines come only from tables and messages."""
    return not any(c < " " and c != "\n" or "\x7f" <= c < "\xa0" for c in o.out + o.err)


def shows(name, code, *words):
    o = run(*words)
    check(name, o.code == code and clean(o) and SHOWN in o.out + o.err, o)
    return o


good = matrix("good.mtx", 2, ENTRIES)
evil = matrix(EVIL + ".mtx", 2, ENTRIES)
shows("a file that is missing", 3, "solve", EVIL)
shows("content that is not a matrix", 3, "solve", write(EVIL + "-bad.mtx", "no matrix\n"))
o = run("solve", write("content.mtx", "%%MatrixMarket matrix coordinate real general\n"
                       "2 2 1\n1 1 \033[31mred\n"))
check("content of a file in a message", o.code == 3 and clean(o), o)
shows("the title of a solve", 0, "solve", evil)
shows("a note", 0, "solve", evil, "--uplo", "upper")
shows("the title of info", 0, "info", evil)
shows("a file that was written", 0, "solve", good, "-o", EVIL + "-x.mtx")
shows("a file that cannot be written", 3, "solve", good, "-o", f"nowhere/{EVIL}.mtx")
shows("right-hand sides", 3, "solve", good, "-b", EVIL)
shows("a command", 2, EVIL)
shows("an option", 2, "solve", "--" + EVIL)
shows("the value of an option", 2, "solve", good, "--uplo", EVIL)
shows("a backend", 2, "solve", good, "--backend", EVIL)
shows("a method", 2, "solve", good, "--method", EVIL)
shows("a generator", 2, "solve", "gen:" + EVIL)
shows("an entry of a suite", 3, "bench", "gen:" + EVIL)
shows("a suite", 3, "bench", f"./{EVIL}.txt")
shows("a list of methods", 2, "bench", "--methods", EVIL)
shows("results", 3, "bench", "--table", EVIL + ".json")
o = run("info", evil, "--svg", "evil.svg")
picture = read("evil.svg")
check("a picture", o.code == 0 and b"\033" not in picture and
      xml.dom.minidom.parseString(picture) is not None, o)
o = run("solve", evil, "--json")
check("a name in JSON that is not UTF-8", o.code == 0 and
      o.json().get("matrix", {}).get("name", "").endswith(SHOWN + "9b.mtx"), o)
name = path("plain\nname.mtx")
os.link(good, name)
o = run("solve", name, "--json")
check("a name in JSON that is UTF-8 stays", o.json().get("matrix", {}).get("name") == name, o)
for name, shown in ((b"over\xe0\x82\x9blong", "over\\xe0\\x82\\x9blong"), (b"half\xed\xa0\x80", "half\\xed\\xa0\\x80"),
                    (b"far\xf4\x90\x80\x80", "far\\xf4\\x90\\x80\\x80")):
    o = run("info", name.decode("utf-8", "surrogateescape"))
    check(f"bytes that are no UTF-8: {shown}", o.code == 3 and shown in o.err, o)
name = path("del\x7fcsi\u009bturned\u202e.mtx")
os.link(good, name)
o = run("solve", name, "--json")
check("controls of a name in JSON are escaped there", clean(o) and "\u202e" not in o.out and
      o.json().get("matrix", {}).get("name") == name, o)
o = run("info", matrix("turned\u202e\u2067\u200fxtm.mtx", 2, ENTRIES))
check("marks that turn the direction of text are shown", o.code == 0 and
      "turned\\xe2\\x80\\xae\\xe2\\x81\\xa7\\xe2\\x80\\x8fxtm.mtx" in o.out, o)
o = run("solve", matrix("gr\u00fc\u00df\u20ac.mtx", 2, ENTRIES))
check("letters of other languages stay", o.out.startswith(f"{FOLDER}/gr\u00fc\u00df\u20ac.mtx\n"), o)
finish()
