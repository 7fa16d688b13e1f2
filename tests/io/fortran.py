#!/usr/bin/env python3
"""Values of Harwell-Boeing files in random formats are those that gfortran reads.

Usage: fortran.py LIBTRIREME.  Exits with 77, a skipped test, without gfortran."""

import ctypes
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile

CASES = 200
READER = """program reader
  character(80) :: form
  real(8) :: x(100)
  integer :: n, status
  open(10, file='cases')
  do
    read(10, '(a)', iostat=status) form
    if (status /= 0) exit
    read(10, *) n
    x = -77
    read(10, form, iostat=status) x(1:n)
    if (status /= 0) x = -99
    print '(100z17)', x(1:n)
  end do
end program
"""


def number(rng, width, digits):
    """A text of at most `width` characters that an F, E, D or G field reads."""
    kind = rng.random()
    if kind < 0.25:
        text = str(rng.randint(-10 ** min(width - 1, 9) + 1, 10 ** min(width, 9) - 1))
    elif kind < 0.6:
        text = f"{rng.uniform(-99, 99):.{min(digits, max(width - 5, 0))}f}"
    else:
        text = f"{rng.uniform(-9, 9):.{max(min(digits, width - 8), 0)}E}"
        text = text.replace("E", rng.choice("EDedE"))
        if rng.random() < 0.2:
            text = text.replace("E", "")
        if rng.random() < 0.2:
            text = text.replace(".", "")
    return text if 0 < len(text) <= width else "1"


class Format:
    """A format whose fields have one width."""

    def __init__(self, rng):
        self.rng, self.width = rng, rng.randint(7, 24)
        groups = [self.items(rng.randint(1, 2)) for _ in range(rng.randint(1, 2))]
        self.text = "(" + ",".join(groups[:1] + [self.group(g) for g in groups[1:]]) + ")"
        if rng.random() < 0.3:
            self.text = f"({rng.randint(1, 3)}{self.text})" if len(self.text) < 18 else self.text
        if rng.random() < 0.2:
            self.text = self.text.lower()

    def group(self, text):
        return f"{self.rng.choice(['', '2', '3'])}({text})"

    def items(self, count):
        rng, parts = self.rng, []
        for _ in range(count):
            if rng.random() < 0.3:
                parts.append(rng.choice(["1X", "2X", "TR1", "T3", "/", "-1P", "2P", "1P", "0P", "SP", "BN", "TL1"]))
            width = self.width
            letter = rng.choice(["F", "E", "D", "G", "ES", "EN", "F", "E"])
            exponent = "E3" if letter in ("E", "G", "ES") and rng.random() < 0.2 else ""
            parts.append(f"{rng.choice(['', '2', '3'])}{letter}{width}.{rng.randint(0, width - 4)}{exponent}")
        return ",".join(parts)


def make_case(rng):
    """A format, the number of values, and lines of numbers of its width: moves may cut them."""
    form = Format(rng)
    text, width = form.text, form.width
    n = rng.randint(1, 12)
    lines = []
    for _ in range(60):
        line = ""
        while len(line) < 700:
            line += number(rng, width, rng.randint(0, 12)).rjust(width)
        lines.append(line)
    return text, n, lines


def gfortran(folder, cases):
    source = os.path.join(folder, "reader.f90")
    with open(source, "w") as file:
        file.write(READER)
    subprocess.run(["gfortran", "-o", os.path.join(folder, "reader"), source], check=True)
    results = []
    for text, n, lines in cases:  # a file each: a read leaves lines over
        with open(os.path.join(folder, "cases"), "w") as file:
            file.write("\n".join([text, str(n)] + lines) + "\n")
        out = subprocess.run([os.path.join(folder, "reader")], cwd=folder, capture_output=True, text=True)
        first = out.stdout.split("\n")[0].split()
        values = [struct.unpack(">d", bytes.fromhex(word.rjust(16, "0")))[0] for word in first]
        results.append(None if not values or values[0] == -99 else values)
    return results


class Sized(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("rest", ctypes.c_char * 512)]


class Error(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int), ("row", ctypes.c_int64), ("message", ctypes.c_char_p)]


def trireme(library, folder, case):
    text, n, lines = case
    path = os.path.join(folder, "a.rua")
    with open(path, "w") as file:
        file.write(f"{'random format':<72}{'KEY':<8}\n{62:14d}{1:14d}{1:14d}{60:14d}{0:14d}\n")
        file.write(f"{'RUA':<14}{n:14d}{1:14d}{n:14d}{0:14d}\n{'(2I8)':<16}{'(20I8)':<16}{text}\n")
        file.write(f"{1:8d}{n + 1:8d}\n" + "".join(f"{k + 1:8d}" for k in range(n)) + "\n")
        file.write("\n".join(lines) + "\n")
    A, val = ctypes.c_void_p(), ctypes.c_void_p()
    if library.trs_matrix_read(ctypes.byref(A), path.encode(), None):
        library.trs_last_error.restype = ctypes.POINTER(Error)
        return library.trs_last_error().contents.message.decode()
    library.trs_matrix_get_arrays(A, None, None, ctypes.byref(val))
    values = list((ctypes.c_double * n).from_address(val.value))
    library.trs_matrix_destroy(A)
    return values


def main():
    if not shutil.which("gfortran"):
        print("skipped: there is no gfortran")
        sys.exit(77)
    rng = random.Random(int(os.environ.get("TRIREME_SEED", "1")))
    library = ctypes.CDLL(sys.argv[1])
    cases = [make_case(rng) for _ in range(CASES)]
    read = wrong = refused = 0
    with tempfile.TemporaryDirectory() as folder:
        for case, wanted in zip(cases, gfortran(folder, cases)):
            if wanted is None:  # a field is no number
                continue
            read += 1
            is_ = trireme(library, folder, case)
            if isinstance(is_, str) and "is not a finite number" in is_:  # gfortran reads "-" and "2.1e+"
                refused += 1
            elif is_ != wanted:
                wrong += 1
                print(f"{case[0]}: {is_} instead of {wanted}\n{case[2][0]}")
    print(f"{read} formats read, {wrong} differently; {refused} refused")
    sys.exit(wrong > 0 or read < CASES // 4 or refused > read // 3)


main()
