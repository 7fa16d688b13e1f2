"""The examples in README.md and docs/: the commands run, the pieces of C and C++ compile."""

import os
import re
import shlex
import shutil
import subprocess

from harness import FOLDER, check, finish, has, run, skip

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGES = ["README.md"] + sorted(os.path.join(folder, p) for folder in ("docs", "docs/benchmarks")
                               for p in os.listdir(os.path.join(ROOT, folder)) if p.endswith(".md"))

# Declarations that the pieces of C assume.
PRELUDE = """
#include <stdio.h>
#include <trireme.h>
trs_context *ctx;
trs_matrix *A, *L, *M, *LU;
trs_plan *plan;
trs_factors *F;
trs_plan *R;
trs_plan *B;
int64_t n, nnz, count, *rows;
int member;
void *ptr, *idx, *val, *x, *b, *r, *z, *d_ptr, *d_idx, *d_val, *d_x, *d_b, *L_val, *U_val, *stream, *graph, *user;
enum { cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal };
int cudaStreamBeginCapture(void *stream, int mode), cudaStreamEndCapture(void *stream, void **graph);
double *values_of_row(void *user, int32_t row, double *to);
"""

# The same for the pieces of C++.
PRELUDE_CPP = """
#include <vector>
#include <trireme.hpp>
#if __has_include(<Eigen/SparseCore>)
#include <Eigen/SparseCore>
#endif
int n, nnz;
void *d_ptr, *d_idx, *d_val, *stream, *other;
double *d_x, *d_b;
std::vector<int> ptr, idx;
std::vector<double> val, b, x;
"""


def text_of(page):
    with open(os.path.join(ROOT, page), encoding="utf-8") as f:
        return f.read()


def blocks(page, language):
    """The blocks of code in a language."""
    found, inside = [], None
    for line in text_of(page).splitlines():
        if line.startswith("```"):
            inside = None if inside is not None else line[3:]
            if inside == language:
                found.append([])
        elif inside == language:
            found[-1].append(line)
    return found


def test_readme():
    with open(os.path.join(FOLDER, "b.mtx"), "w", encoding="ascii") as f:  # as the quick start's Python does
        f.write("%%MatrixMarket matrix array real general\n27000 1\n" + "1\n" * 27000)
    lines = text_of("README.md").splitlines()
    check("README.md is a screen and a half", 50 <= len(lines) <= 90, len(lines))
    for page, block in [*(("README.md", b) for b in blocks("README.md", "")),
                        *(("docs/quick-start.md", b) for b in blocks("docs/quick-start.md", "sh"))]:
        for line in block:
            words = shlex.split(line.split("#")[0])
            if not words or words[0] != "trireme":
                continue
            if any(w.endswith(".h5") or w == "--factor" for w in words) and not (
                    has("HDF5") and has("SuperLU") and has("METIS")):
                skip(" ".join(words[1:]), "factors need HDF5, SuperLU and METIS")
                continue
            o = run(*words[1:])
            check(f"{page}: {' '.join(words[1:])}", o.code == 0, o)


def parts_of(lines):
    """The functions that a piece defines, and its statements."""
    functions, statements, inside = [], [], False
    for line in lines:
        inside = inside or re.match(r"\w[\w ]* \**\w+\(.*\) \{$", line) is not None
        (functions if inside else statements).append(line + "\n")
        inside = inside and line != "}"
    return "".join(functions), "".join(statements)


def compile_pieces(language, prelude, compiler, *options):
    """Each piece compiles as the body of a function, a program as it stands."""
    if not compiler:
        skip(f"pieces of {language}", "no compiler in PATH")
        return
    eigen = "/usr/include/eigen3" if os.path.isdir("/usr/include/eigen3") else None
    if eigen:
        options += ("-isystem", eigen)
    for page in PAGES:
        for number, piece in enumerate(blocks(page, language), 1):
            whole = any("main(" in line for line in piece)
            if any("<Eigen/" in line for line in piece) and not eigen:
                skip(f"{page}: piece {number} of {language}", "no Eigen (Debian: libeigen3-dev)")
                continue
            program = "\n".join(piece) + "\n"
            if not whole:
                functions, body = parts_of(line for line in piece if line[:1] != "#")
                program = f"{prelude}\n{functions}\nvoid piece(void);\nvoid piece(void) {{\n{body}}}\n"
            done = subprocess.run([*shlex.split(compiler), "-fsyntax-only", "-Wall", "-Werror",
                                   "-Wno-unused-variable", "-I", os.path.join(ROOT, "include"),
                                   *options, "-"], input=program.encode(), capture_output=True)
            check(f"{page}: piece {number} of {language} compiles", done.returncode == 0,
                  done.stderr.decode("utf-8", "replace"))


test_readme()
compile_pieces("c", PRELUDE, os.environ.get("CC") or shutil.which("cc"), "-std=c17", "-x", "c")
compile_pieces("cpp", PRELUDE_CPP, os.environ.get("CXX") or shutil.which("c++"), "-std=c++17", "-x", "c++")
finish()
