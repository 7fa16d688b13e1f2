"""trireme/_api.py is what the header says, and the compiler agrees."""

import ctypes
import os
import re
import shutil
import subprocess
import sys

import pytest
from conftest import np

import trireme as tr
from trireme import _api

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
GENERATE = os.path.join(ROOT, "bindings", "python", "generate_api")
needs_checkout = pytest.mark.skipif(not os.path.exists(GENERATE), reason="not in a checkout")


@needs_checkout
def test_generated_file_is_that_of_the_header():
    run = subprocess.run([sys.executable, GENERATE, "--check"], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


@needs_checkout
def test_a_new_field_is_noticed(tmp_path):
    header = open(os.path.join(ROOT, "include", "trireme.h")).read()
    changed = header.replace("  const char *device;", "  const char *device;\n  int64_t added;", 1)
    assert changed != header
    for folder in ("include", "bindings/python/trireme"):
        os.makedirs(tmp_path / folder)
    (tmp_path / "include" / "trireme.h").write_text(changed)
    shutil.copy(GENERATE, tmp_path / "bindings" / "python")
    shutil.copy(_api.__file__, tmp_path / "bindings" / "python" / "trireme")
    run = subprocess.run([sys.executable, tmp_path / "bindings" / "python" / "generate_api",
                          "--check"], capture_output=True, text=True)
    assert run.returncode == 1 and "generate_api" in run.stderr


@needs_checkout
@pytest.mark.skipif(not shutil.which("cc"), reason="no C compiler")
def test_layouts_are_the_compilers(tmp_path):
    structs = [s for s in vars(_api).values()
               if isinstance(s, type) and issubclass(s, ctypes.Structure) and s.__name__[:4] == "trs_"]
    header = open(os.path.join(ROOT, "include", "trireme.h")).read()
    assert len(structs) == len(re.findall(r"^typedef struct \w+ \{", header, re.M))
    lines, wanted = [], []
    for s in structs:
        lines.append(f'printf("%zu\\n", sizeof({s.__name__}));')
        wanted.append(ctypes.sizeof(s))
        for field, _ in s._fields_:
            lines.append(f'printf("%zu\\n", offsetof({s.__name__}, {field}));')
            wanted.append(getattr(s, field).offset)
    source = tmp_path / "layout.c"
    source.write_text("#include <stdio.h>\n#include <trireme.h>\nint main(void) {\n" +
                      "\n".join(lines) + "\nreturn 0;\n}\n")
    subprocess.run(["cc", "-I", os.path.join(ROOT, "include"), source, "-o", tmp_path / "layout"],
                   check=True)
    told = subprocess.run([tmp_path / "layout"], check=True, capture_output=True).stdout.split()
    assert list(map(int, told)) == wanted


def test_about():
    assert tr.version() == tr.__version__
    assert "gzip" in tr.features() and "serial" in tr.methods() and "poisson3d7" in tr.generators()
    now, most = tr.memory_usage()
    assert 0 <= now <= most
    assert isinstance(tr.devices(), list) and np.__version__
