#!/usr/bin/env python3
"""Files of other programs: Trireme reads files of h5py and scipy, and they read its files.

Usage: interchange.py LIBTRIREME.  Exits with 77, a skipped test, without numpy, scipy or h5py."""

import ctypes
import json
import os
import subprocess
import sys
import tempfile
import zlib

try:
    import h5py
    import numpy
    import scipy.io
    import scipy.sparse
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

DEFAULT, FLOAT, DOUBLE, SCOMPLEX, DCOMPLEX = range(5)
DTYPES = [None, numpy.float32, numpy.float64, numpy.complex64, numpy.complex128]
CSR, CSC = range(2)
PTR32 = 1


class Error(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int), ("row", ctypes.c_int64), ("message", ctypes.c_char_p)]


class Sized(ctypes.Structure):
    """A structure that begins with its size."""

    def __init__(self, **fields):
        super().__init__(struct_size=ctypes.sizeof(self), **fields)


class Info(Sized):
    _fields_ = [("struct_size", ctypes.c_size_t), ("format", ctypes.c_int), ("scalar", ctypes.c_int)] + [
        (name, ctypes.c_int64)
        for name in ("nrows", "ncols", "nnz", "nlower", "nupper", "ndiagonal", "missing_diagonal",
                     "longest_row", "bytes", "largest_part")
    ]


class Options(Sized):
    _fields_ = [("struct_size", ctypes.c_size_t), ("context", ctypes.c_void_p),
                ("allow_nonfinite", ctypes.c_int), ("seed", ctypes.c_uint64),
                ("scalar", ctypes.c_int), ("progress", ctypes.c_void_p),
                ("progress_user", ctypes.c_void_p), ("max_bytes", ctypes.c_int64)]


class Failure(Exception):
    pass


lib = ctypes.CDLL(sys.argv[1])
lib.trs_last_error.restype = ctypes.POINTER(Error)


def check(status):
    if status:
        raise Failure(lib.trs_last_error().contents.message.decode())


def view(pointer, count, dtype):
    if count == 0:
        return numpy.zeros(0, dtype)
    size = count * numpy.dtype(dtype).itemsize
    return numpy.frombuffer(ctypes.string_at(pointer, size), dtype)


def read(path, scalar=DEFAULT):
    """The matrix that Trireme reads, in scipy's form."""
    matrix, info = ctypes.c_void_p(), Info()
    options = Options(scalar=scalar)
    check(lib.trs_matrix_read(ctypes.byref(matrix), os.fsencode(path), ctypes.byref(options)))
    lib.trs_matrix_get_info(matrix, ctypes.byref(info))
    ptr, idx, val = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    lib.trs_matrix_get_arrays(matrix, ctypes.byref(ptr), ctypes.byref(idx), ctypes.byref(val))
    vectors = info.nrows if info.format == CSR else info.ncols
    arrays = (view(val, info.nnz, DTYPES[info.scalar]), view(idx, info.nnz, numpy.int32),
              view(ptr, vectors + 1, numpy.int64))
    lib.trs_matrix_destroy(matrix)
    make = scipy.sparse.csr_matrix if info.format == CSR else scipy.sparse.csc_matrix
    return make(arrays, shape=(info.nrows, info.ncols))


def write(path, a):
    """Writes a matrix of scipy with Trireme."""
    matrix = ctypes.c_void_p()
    ptr = a.indptr.astype(numpy.int32)
    idx = a.indices.astype(numpy.int32)
    check(lib.trs_matrix_create(
        ctypes.byref(matrix), CSR if a.format == "csr" else CSC, DTYPES.index(a.dtype.type),
        ctypes.c_int64(a.shape[0]), ctypes.c_int64(a.shape[1]), PTR32,
        ptr.ctypes.data_as(ctypes.c_void_p),
        idx.ctypes.data_as(ctypes.c_void_p), a.data.ctypes.data_as(ctypes.c_void_p), 0))
    check(lib.trs_matrix_write(matrix, os.fsencode(path)))
    lib.trs_matrix_destroy(matrix)


def sample(dtype, nrows=40, ncols=30, seed=1):
    random = numpy.random.default_rng(seed)
    a = scipy.sparse.random(nrows, ncols, 0.2, "csr", numpy.float64, random)
    if numpy.issubdtype(dtype, numpy.complexfloating):
        a = a + 1j * a.multiply(a)
    a = a.tocsr().astype(dtype)
    a.sort_indices()
    return a


def same(a, b):
    a, b = a.tocoo(), b.tocoo()
    assert a.shape == b.shape and a.nnz == b.nnz, (a.shape, b.shape, a.nnz, b.nnz)
    a, b = (scipy.sparse.csr_matrix(m) for m in (a, b))
    a.sort_indices()
    b.sort_indices()
    assert (a.indptr == b.indptr).all() and (a.indices == b.indices).all()
    assert (a.data == b.data).all(), abs(a.data - b.data).max()


def put(path, arrays, **descriptor):
    """A Binsparse file as another program would write it."""
    keep = descriptor.pop("keep", {})
    wrap = descriptor.pop("wrap", True)
    fixed = descriptor.pop("fixed", False)
    with h5py.File(path, "w", **descriptor.pop("file", {})) as f:
        for name, array in arrays.items():
            f.create_dataset(name, data=array, **keep)
        types = {name: str(array.dtype) for name, array in arrays.items()}
        types.update(descriptor.pop("data_types", {}))
        body = {"version": "0.1", "data_types": types, **descriptor}
        text = json.dumps({"binsparse": body, "author": "J. \"Doe\""} if wrap else body, indent=2)
        f.attrs["binsparse"] = numpy.bytes_(text) if fixed else text


def csr_arrays(a, pointers=numpy.uint64, indices=numpy.uint64):
    return {"pointers_to_1": a.indptr.astype(pointers), "indices_1": a.indices.astype(indices),
            "values": a.data}


def about(a, name):
    return {"format": name, "shape": list(a.shape), "number_of_stored_values": int(a.nnz)}


def refused(words, path):
    try:
        read(path)
    except Failure as failure:
        assert words in str(failure) and os.path.basename(path) in str(failure), str(failure)
        return
    raise AssertionError(f"{words}: not refused")


def ours_in_h5py(path):
    for dtype in DTYPES:
        for form in ("csr", "csc"):
            a = sample(dtype).asformat(form)
            write(path, a)
            with h5py.File(path, "r") as f:
                body = json.loads(f.attrs["binsparse"])["binsparse"]
                assert body["format"] == form.upper() and body["shape"] == [40, 30]
                assert body["number_of_stored_values"] == a.nnz == len(f["indices_1"])
                values = f["values"][:]
                if numpy.issubdtype(dtype, numpy.complexfloating):
                    assert body["data_types"]["values"].startswith("complex[float")
                    values = values.view(dtype)
                for name in f:
                    assert f[name].chunks is None and f[name].compression is None
                    assert f[name].attrs["crc32"] == zlib.crc32(f[name][:].tobytes())
                    assert body["data_types"][name].endswith(f"{f[name].dtype}]"[:-1]) or \
                        body["data_types"][name] == f"complex[{f[name].dtype}]"
                make = scipy.sparse.csr_matrix if form == "csr" else scipy.sparse.csc_matrix
                same(a, make((values, f["indices_1"][:], f["pointers_to_1"][:]), shape=(40, 30)))


def ours_changed_by_h5py(path):
    a = sample(numpy.float64)
    write(path, a)
    with h5py.File(path, "r+") as f:
        f.attrs["author"] = "someone"
        f.create_group("more").create_dataset("x", data=numpy.arange(1000))
    same(a, read(path))


def theirs_in_every_type(path):
    for dtype in DTYPES:
        a = sample(dtype)
        for indices in (numpy.int32, numpy.uint32, numpy.int64, numpy.uint64, numpy.uint16,
                        numpy.dtype(">i4")):
            arrays = csr_arrays(a, indices, indices)
            types = {}
            if numpy.issubdtype(dtype, numpy.complexfloating):
                part = numpy.float32 if dtype == numpy.complex64 else numpy.float64
                arrays["values"] = a.data.view(part)
                types = {"values": f"complex[{numpy.dtype(part)}]"}
            put(path, arrays, data_types=types, **about(a, "CSR"))
            same(a, read(path, DTYPES.index(dtype)))


def theirs_in_every_layout(path):
    a = sample(numpy.float64)
    for keep in ({}, {"chunks": (16,)}, {"chunks": True, "compression": "gzip"},
                 {"chunks": (7,), "shuffle": True, "fletcher32": True}):
        for file in ({}, {"libver": "latest"}, {"libver": ("v108", "v108")}):
            for fixed in (False, True):
                put(path, csr_arrays(a), keep=keep, file=file, fixed=fixed, **about(a, "CSR"))
                same(a, read(path))


def theirs_in_every_format(path):
    a = sample(numpy.float64)
    csc, coo = a.tocsc(), a.tocoo()
    csc.sort_indices()
    put(path, csr_arrays(csc), **about(a, "CSC"))
    same(a, read(path))
    for name in ("COO", "COOR"):
        put(path, {"indices_0": coo.row, "indices_1": coo.col, "values": coo.data},
            **about(a, name))
        same(a, read(path))
    put(path, {"indices_0": coo.col, "indices_1": coo.row, "values": coo.data}, **about(a, "COOC"))
    same(a, read(path))
    put(path, csr_arrays(a), wrap=False, **about(a, "CSR"))
    same(a, read(path))
    ones = csr_arrays(a)
    ones["values"] = numpy.array([7], numpy.int8)
    put(path, ones, data_types={"values": "iso[int8]"}, **about(a, "CSR"))
    a.data[:] = 7
    same(a, read(path))
    for zero in (numpy.array([0.0]), numpy.array([0], numpy.int8), numpy.array([-0.0])):
        filled = {**csr_arrays(a), "fill_value": zero}
        put(path, filled, fill=True, **about(a, "CSR"))
        same(a, read(path))


def theirs_in_every_structure(path):
    full = {"symmetric": lambda t: t + scipy.sparse.tril(t, -1).T,
            "skew_symmetric": lambda t: t - scipy.sparse.tril(t, -1).T,
            "hermitian": lambda t: t + scipy.sparse.tril(t, -1).conj().T}
    for name, complete in full.items():
        dtype = numpy.complex128 if name == "hermitian" else numpy.float64
        lower = scipy.sparse.tril(sample(dtype, 30, 30), -1 if name != "symmetric" else 0).tocsr()
        whole = complete(lower).tocsr()
        for side in ("lower", "upper"):
            t = (scipy.sparse.tril(whole) if side == "lower" else scipy.sparse.triu(whole)).tocsr()
            t.sort_indices()
            arrays = csr_arrays(t)
            types = {}
            if name == "hermitian":
                arrays["values"] = t.data.view(numpy.float64)
                types = {"values": "complex[float64]"}
            put(path, arrays, structure=f"{name}_{side}", data_types=types, **about(t, "CSR"))
            same(whole, read(path))
            csc = t.tocsc()
            csc.sort_indices()
            arrays = csr_arrays(csc)
            if name == "hermitian":
                arrays["values"] = csc.data.view(numpy.float64)
            put(path, arrays, structure=f"{name}_{side}", data_types=types, **about(t, "CSC"))
            same(whole, read(path))


def what_is_wrong_is_refused(path):
    a = sample(numpy.float64)

    def bad(words, change, **descriptor):
        arrays = csr_arrays(a, numpy.int64, numpy.int64)
        change(arrays)
        put(path, arrays, **{**about(a, "CSR"), **descriptor})
        refused(words, path)

    def setting(name, at, value):
        def change(arrays):
            arrays[name][at] = value
        return change

    def replacing(name, array):
        def change(arrays):
            arrays[name] = array
        return change

    def repeating(arrays):
        coo = a.tocoo()
        del arrays["pointers_to_1"]
        arrays["values"] = numpy.ones(a.nnz)
        arrays["indices_0"], arrays["indices_1"] = coo.row.copy(), coo.col.copy()
        for name in ("indices_0", "indices_1"):
            arrays[name][7] = arrays[name][3]

    nothing = dict.copy
    bad("indices_1[5] = 30 is outside 0 .. 29", setting("indices_1", 5, 30))
    bad("indices_1[5] = -1 is outside", setting("indices_1", 5, -1))
    bad("indices_1 holds numbers beyond 32 bits", setting("indices_1", 5, 1 << 40))
    bad("indices_1 holds numbers beyond 32 bits", setting("indices_1", 5, (1 << 32) + 1))
    bad("pointers_to_1 runs from 1", setting("pointers_to_1", 0, 1))
    bad("pointers_to_1 runs from 0 to", setting("pointers_to_1", -1, 7))
    bad("is less than the one before", setting("pointers_to_1", 3, 1 << 60))
    bad("is not finite", setting("values", 3, numpy.nan))
    bad("pointers_to_1 has", replacing("pointers_to_1", numpy.zeros(5, int)))
    bad("is not one-dimensional", replacing("values", numpy.zeros((a.nnz, 1))))
    bad("does not hold integers", replacing("indices_1", numpy.zeros(a.nnz)))
    bad("does not hold numbers", replacing("values", numpy.array([b"x"] * a.nnz)))
    bad("out of range", replacing("pointers_to_1", numpy.full(41, 1 << 63, numpy.uint64)))
    bad("is missing", lambda arrays: arrays.pop("values"), data_types={"values": "float64"})
    bad("number_of_stored_values", nothing, number_of_stored_values=-1)
    bad("has", nothing, number_of_stored_values=1 << 50)
    bad("shape", nothing, shape=[40])
    bad("shape", nothing, shape=[40, 30, 2])
    bad("shape", nothing, shape=[1 << 31, 30])
    bad("pointers_to_1 has 41 elements, not 2147483648", nothing, shape=[(1 << 31) - 1, 30])
    bad("no format", nothing, format=5)
    for name in ("DCSR", "DCSC", "DMATR"):
        bad(f"\"{name}\", which is not read: CSR, CSC, COO", nothing, format=name)
    bad("has no version", nothing, version=None)
    bad("has no version", nothing, version=1)
    bad("the version \"7.0\", which is not read: 0.1 is", nothing, version="7.0")
    bad("dataset /fill_value is missing", nothing, fill=True)
    one = {"fill_value": numpy.array([1.0])}
    bad("a fill value other than 0", lambda arrays: arrays.update(one), fill=True)
    bad(f"1 of {a.nnz} entries repeat others", repeating, format="COO")
    bad("not square", nothing, structure="symmetric_lower")
    bad("which is not read", nothing, structure="banded")
    a = sample(numpy.float64, 30, 30)
    bad("hermitian, which only complex values can be", nothing, structure="hermitian_lower")
    bad("outside its lower triangle", nothing, structure="symmetric_lower")
    with h5py.File(path, "w") as f:
        f.attrs["binsparse"] = "{"
    refused("not valid JSON", path)
    with h5py.File(path, "w") as f:
        f.attrs["binsparse"] = 5
    refused("cannot be read as a text", path)
    with h5py.File(path, "w") as f:
        f["x"] = 5
    refused("has no attribute \"binsparse\"", path)
    with h5py.File(path, "w") as f:
        f.create_dataset("values", shape=(1 << 40,), dtype="f8", chunks=(1 << 20,))
        f.attrs["binsparse"] = json.dumps({"binsparse": {"version": "0.1", **about(a, "CSR"),
                                                         "number_of_stored_values": 1 << 40,
                                                         "data_types": {"values": "float64"}}})
        f["pointers_to_1"] = numpy.zeros(31, int)
        f.create_dataset("indices_1", shape=(1 << 40,), dtype="i4", chunks=(1 << 20,))
    refused("is truncated", path)
    put(path, csr_arrays(a), **about(a, "CSR"))
    size = os.path.getsize(path)
    os.truncate(path, size - 8)
    refused("truncated", path)


def matrix_market(path):
    for dtype in (numpy.float64, numpy.complex128):
        a = sample(dtype)
        for ending in (".mtx", ".mtx.gz"):
            write(path + ending, a)
            same(a, scipy.io.mmread(path + ending).tocsr())
        scipy.io.mmwrite(path + ".mtx", a, precision=17)
        same(a, read(path + ".mtx"))
    full = sample(numpy.float64, 30, 30)
    scipy.io.mmwrite(path + ".mtx", full + full.T, precision=17)
    with open(path + ".mtx", encoding="ascii") as f:
        assert "symmetric" in f.readline()
    same((full + full.T).tocsr(), read(path + ".mtx"))


def damage_leaves_no_mark(path):
    """At the end of the program the HDF5 library prints messages about unreadable headers."""
    a = sample(numpy.float64)
    write(path, a)
    with open(path, "rb") as f:
        data = bytearray(f.read())
    for at in (100, 200, 300, 420, 700):
        data[at] ^= 4
        with open(path, "wb") as f:
            f.write(data)
        data[at] ^= 4
        result = subprocess.run([sys.executable, __file__, sys.argv[1], path], capture_output=True,
                                check=False)
        assert result.returncode == 1 and not result.stderr, (at, result)


def read_damaged(path):
    """Reads files with some bytes changed; tests/fuzz/mutate.c covers more changes."""
    random = numpy.random.default_rng(5)
    a = sample(numpy.float64)
    for file in ({}, {"libver": "latest"}):
        put(path, csr_arrays(a), file=file, keep={"chunks": (16,), "compression": "gzip"},
            **about(a, "CSR"))
        with open(path, "rb") as f:
            good = bytearray(f.read())
        used = numpy.flatnonzero(numpy.frombuffer(good, numpy.uint8))
        for _ in range(60):
            data = bytearray(good)
            for at in random.choice(used, random.integers(1, 4)):
                data[at] = random.integers(0, 256)
            with open(path, "wb") as f:
                f.write(data)
            try:
                read(path)
            except Failure:
                pass


def damage_to_theirs_is_survived(path):
    result = subprocess.run([sys.executable, __file__, sys.argv[1], path, "damage"], check=False,
                            timeout=900)
    assert result.returncode == 0, result


def main():
    if len(sys.argv) > 3:
        read_damaged(sys.argv[2])
        sys.exit(0)
    if len(sys.argv) > 2:
        try:
            read(sys.argv[2])
        except Failure:
            sys.exit(1)
        sys.exit(0)
    with tempfile.TemporaryDirectory() as folder:
        for test in (ours_in_h5py, ours_changed_by_h5py, theirs_in_every_type,
                     theirs_in_every_layout, theirs_in_every_format, theirs_in_every_structure,
                     what_is_wrong_is_refused, matrix_market, damage_leaves_no_mark,
                     damage_to_theirs_is_survived):
            test(os.path.join(folder, test.__name__ + ("" if "market" in test.__name__ else ".h5")))
            print(f"{test.__name__}: good")


main()
