"""What the tests of trireme bench compare with: recorded tables, and what a picture must be."""

import os
import xml.dom.minidom

from harness import check, path, read

HERE = os.path.dirname(os.path.abspath(__file__))


def data(name):
    return os.path.join(HERE, "data", name)


def expected(name):
    with open(data(name), encoding="utf-8") as f:
        return f.read()


def inside(text, width, height):
    """Does a text end within the page, at 5.5 pixels a letter?"""
    if not text.hasAttribute("x"):
        return True
    x, y = float(text.getAttribute("x")), float(text.getAttribute("y"))
    length = 5.5 * len(text.firstChild.data if text.firstChild else "")
    begin = x - length * {"start": 0, "": 0, "middle": 0.5, "end": 1}[text.getAttribute("text-anchor")]
    return 0 <= begin and begin + length <= width and 0 < y < height


def svg(name, o, words=()):
    """A picture that stands alone, fits a page, and shows something in each of its panels."""
    text = read(name).decode() if os.path.exists(path(name)) else ""
    try:
        root = xml.dom.minidom.parseString(text).documentElement
        good = root.tagName == "svg" and "href" not in text and "nan" not in text.lower()
        width, height = (float(root.getAttribute(a)) for a in ("width", "height"))
        good &= width <= 900 and height <= 701 and len(root.getElementsByTagName("title")) == 1
        good &= all(inside(t, width, height) for t in root.getElementsByTagName("text"))
    except Exception:
        good = False
    check(f"{name} is whole and stands alone", good and all(w in text for w in words), o)
