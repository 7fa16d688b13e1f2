"""conf - how Sphinx makes the site of docs/, the headers and the docstrings: make site.

The sources are the whole checkout, so that the pages' links to each other stay as they are; a link
to another file of the checkout gives that file.
"""

import os
import re
import sys

root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(root, "tools"),
                os.path.join(root, "bindings", "python")]
import trireme  # noqa: E402  TRIREME_LIBRARY names the library
from sphinx.ext.autodoc.mock import _MockObject  # noqa: E402

project = "Trireme"
copyright = "2026 The Trireme authors"
release = trireme.version()
root_doc = "docs/site/front"
include_patterns = ["docs/**", "*.md", "gallery/**.md", "papers/**.md", "bench/**.md", "src/**.md", "tests/**.md", "examples/**.md",
                    "bindings/**.md", "packaging/**.md", "tools/**.md", "cli/**.md"]
exclude_patterns = ["build", ".*", "**/.*", "docs/site/contents.md"]

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.napoleon", "c_header"]
myst_heading_anchors = 4
myst_enable_extensions = ["html_image"]
suppress_warnings = ["myst.header",  # a page may begin with a table or leave a level out
                     "misc.highlighting_failure",  # languages of our own scripts
                     "ref.python"]  # attributes of two classes have one name
autodoc_typehints = "none"  # the docstrings have types with their shapes
autodoc_mock_imports = ["jax", "torch"]
# trireme.jax registers its rules in tables of JAX, whose stand-in takes no items by itself.
_MockObject.__setitem__ = lambda self, key, value: None
autodoc_member_order = "groupwise"
autosummary_generate = False  # summaries alone: the page itself has what they lead to
default_role = "py:obj"
napoleon_google_docstring = False
napoleon_use_rtype = False

html_theme = "furo"
html_title = f"Trireme {release}"
html_extra_path = ["extra"]
html_static_path = ["static"]
html_css_files = ["phone.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {"light_css_variables": {"color-brand-primary": "#14507a", "color-brand-content": "#14507a"},
                      "dark_css_variables": {"color-brand-primary": "#7fb8e0", "color-brand-content": "#7fb8e0"}}


LANGUAGES = {".c": "c", ".cpp": "cpp", ".f90": "fortran", ".py": "python"}


def with_contents(app, name, source):
    """The first page has the contents of the site, the page of the examples their programs."""
    if name == root_doc:
        contents = os.path.join(os.path.dirname(os.path.abspath(__file__)), "contents.md")
        app.env.note_dependency(contents)
        with open(contents, encoding="utf-8") as file:
            source[0] += "\n" + file.read()
    if name == "examples/README":
        programs = re.findall(r"^\| `(\w+\.\w+)` \|", source[0], re.M)
        source[0] = re.sub(r"^\| `(\w+)\.(\w+)` \|", r"| [`\1.\2`](#\1\2) |", source[0], flags=re.M)
        folder = os.path.dirname(app.env.doc2path(name))
        for program in programs:
            stem, ending = os.path.splitext(program)
            has_picture = os.path.exists(os.path.join(folder, stem + ".svg"))
            picture = f"![what {program} computes]({stem}.svg)\n\n" if has_picture else ""
            source[0] += (f"\n## {program}\n\n{picture}```{{literalinclude}} {program}\n:language: "
                          f"{LANGUAGES[ending]}\n```\n")


def without_substitutions(app, what, name, thing, options, lines):
    """A docstring's |x| is an absolute value."""
    lines[:] = [line.replace("|", "\\|") for line in lines]


def without_constructor(app, what, name, thing, options, signature, annotation):
    """Functions make the objects."""
    return ("", None) if what == "class" and signature else None


def setup(app):
    app.connect("autodoc-process-signature", without_constructor)
    app.connect("source-read", with_contents)
    app.connect("autodoc-process-docstring", without_substitutions)
