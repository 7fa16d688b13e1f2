#!/usr/bin/env python3
"""Reading Matrix Market files: Trireme beside fast_matrix_market, on the same file and threads.

    bench/read_speed.py build/src/libtrireme.so [--entries 20000000] [--threads 2] [--rounds 3]

Needs a Python with numpy, scipy and fast_matrix_market.  The file holds a banded random matrix with
values of 17 digits, once in the order of rows and once of columns; it is read from the page cache.
The contenders take turns, and the best round counts:

    trireme     trs_matrix_read: CSR, sorted and checked
    fmm coo     fast_matrix_market.read_coo: triplets in the order of the file, no more
    fmm csr     fast_matrix_market.mmread(...).tocsr(), then sorted: what trireme returns
"""

import argparse
import ctypes
import os
import tempfile
import time

import fast_matrix_market
import numpy


DOUBLE, PTR64 = 2, 0


class Options(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("context", ctypes.c_void_p),
                ("allow_nonfinite", ctypes.c_int), ("seed", ctypes.c_uint64),
                ("scalar", ctypes.c_int), ("progress", ctypes.c_void_p),
                ("progress_user", ctypes.c_void_p)]


class Trireme:
    def __init__(self, path, threads):
        self.lib = ctypes.CDLL(path)
        self.lib.trs_last_error.restype = ctypes.POINTER(ctypes.c_int)
        self.context = ctypes.c_void_p()
        self.check(self.lib.trs_context_create(ctypes.byref(self.context),
                                               f"threads:{threads}".encode()))
        self.options = Options(struct_size=ctypes.sizeof(Options), context=self.context)

    def check(self, status):
        if status:
            raise SystemExit(f"trireme failed with status {status}")

    def read(self, path):
        matrix = ctypes.c_void_p()
        self.check(self.lib.trs_matrix_read(ctypes.byref(matrix), os.fsencode(path),
                                            ctypes.byref(self.options)))
        return matrix

    def release(self, matrix):
        self.lib.trs_matrix_destroy(matrix)

    def write(self, path, form, n, ptr, idx, val):
        matrix = ctypes.c_void_p()
        pointer = lambda array: array.ctypes.data_as(ctypes.c_void_p)
        self.check(self.lib.trs_matrix_create(
            ctypes.byref(matrix), form, DOUBLE, ctypes.c_int64(n), ctypes.c_int64(n), PTR64,
            pointer(ptr), pointer(idx), pointer(val), 0))
        start = time.perf_counter()
        self.check(self.lib.trs_matrix_write(matrix, os.fsencode(path)))
        seconds = time.perf_counter() - start
        self.release(matrix)
        return seconds


def banded(entries, each=10):
    """About so many entries, each to a row, within a band of 1000."""
    random = numpy.random.default_rng(1)
    n = entries // each
    idx = numpy.arange(n)[:, None] + random.integers(-1000, 1000, (n, each))
    idx = numpy.sort(numpy.clip(idx, 0, n - 1), axis=1).astype(numpy.int32).ravel()
    ptr = numpy.arange(0, n * each + 1, each, dtype=numpy.int64)
    return n, ptr, idx, random.uniform(-1, 1, n * each)


def fmm_csr(path):
    a = fast_matrix_market.mmread(path).tocsr()
    a.sort_indices()
    return a


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--entries", type=int, default=20_000_000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", default=None, help="for the files, some 40 bytes an entry")
    given = parser.parse_args()
    fast_matrix_market.PARALLELISM = given.threads
    trireme = Trireme(given.library, given.threads)
    contenders = {
        "trireme": (trireme.read, trireme.release),
        "fmm coo": (fast_matrix_market.read_coo, lambda result: None),
        "fmm csr": (fmm_csr, lambda result: None),
    }
    n, ptr, idx, val = banded(given.entries)
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        for form, order in enumerate(("rows", "columns")):
            path = os.path.join(folder, order + ".mtx")
            seconds = trireme.write(path, form, n, ptr, idx, val)
            size = os.path.getsize(path)
            print(f"{order}: {size / 1e6:.0f} MB, written by trireme in {seconds:.2f} s")
            best = dict.fromkeys(contenders, float("inf"))
            for _ in range(given.rounds):
                for name, (read, release) in contenders.items():
                    start = time.perf_counter()
                    result = read(path)
                    best[name] = min(best[name], time.perf_counter() - start)
                    release(result)
                    del result
            for name, seconds in best.items():
                print(f"  {name}  {seconds:6.3f} s  {size / seconds / 1e6:6.0f} MB/s  "
                      f"{best[name] / best['trireme']:5.2f} x trireme")
            os.remove(path)


main()
