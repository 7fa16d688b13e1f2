"""Files of other programs that are not read: each message's command is executed as printed, and
the command then reads what it made."""

import os
import re
import shutil
import subprocess
import sys

from harness import FOLDER, check, finish, path, run, skip, surroundings, write

try:
    import numpy as np
    import scipy.io
    import scipy.sparse as sp
except ImportError as missing:
    skip("conversions", f"this Python has no {missing.name} (Debian: python3-scipy)")
    sys.exit(finish())

# "python3" of the messages is this Python.
os.mkdir(path("bin"))
with open(path("bin/python3"), "w") as script:
    script.write(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
os.chmod(path("bin/python3"), 0o755)
ENVIRONMENT = surroundings(PATH=path("bin") + os.pathsep + os.environ["PATH"])

D = np.array([[2.0, 0, 1.5], [0, 3, 0], [-1e-3, 0, 0.1]])
A = sp.csr_matrix(D)


def execute(command):
    done = subprocess.run(command, shell=True, cwd=FOLDER, env=ENVIRONMENT, capture_output=True,
                          text=True, timeout=300)
    return done.returncode == 0, done.stderr


def converts(name, file, wanted=D, said="is not read"):
    """The message about the file has a command; what the command makes is the wanted matrix."""
    o = run("info", file)
    command = re.search(r" by (python3 -c \".*)$", o.err.strip())
    if o.code == 0 or not command or said not in o.err or o.err.count("\n") != 1:
        check(name, False, o)
        return
    line = command[1].replace(" FILE", f" '{file}'") if command[1].endswith(" FILE") else command[1]
    good, told = execute(line)
    made = file + ".mtx"
    if not good or not os.path.exists(path(made)):
        check(name, False, f"{line}\n{told}")
        return
    o = run("info", made)
    read = scipy.io.mmread(path(made))
    read = read.toarray() if sp.issparse(read) else read
    check(name, o.code == 0 and read.dtype.kind == np.asarray(wanted).dtype.kind and
          np.array_equal(read, wanted), f"{o}\n{read}")


# ---- SciPy and NumPy

sp.save_npz(path("a.npz"), A)
converts("npz", "a.npz")
sp.save_npz(path("csc.npz"), A.tocsc(), compressed=False)
converts("npz, not compressed", "csc.npz")
sp.save_npz(path("c.npz"), A * (1 + 2j))
converts("npz, complex", "c.npz", D * (1 + 2j))
shutil.copy(path("a.npz"), path("a.dat"))
converts("npz under another name", "a.dat")
shutil.copy(path("a.npz"), path("it's $HOME \"a\".npz"))
converts("npz, a name to quote", "it's $HOME \"a\".npz")
long = "x" * 240 + ".npz"
shutil.copy(path("a.npz"), path(long))
converts("npz, a long name", long)
np.save(path("b.npy"), np.array([1.0, 2, 3]))
converts("npy, a vector", "b.npy", np.array([[1.0], [2], [3]]))
np.save(path("d.npy"), np.asfortranarray(D[:2]))
converts("npy, a matrix", "d.npy", D[:2])

# ---- MATLAB

scipy.io.savemat(path("a.mat"), {"A": A})
converts("mat", "a.mat")
scipy.io.savemat(path("problem.mat"), {"Problem": {"title": "t", "A": A.tocsc(), "name": "G/a", "id": 1.0}},
                 do_compression=True)
converts("mat of the SuiteSparse collection", "problem.mat")
scipy.io.savemat(path("old.mat"), {"A": A}, format="4")
converts("mat, version 4", "old.mat")
try:
    import h5py
except ImportError:
    skip("mat, version 7.3", "this Python has no h5py (Debian: python3-h5py)")
else:
    with h5py.File(path("new.mat"), "w", userblock_size=512) as file:
        C = A.tocsc()
        group = file.create_group("Problem/A")
        group.attrs["MATLAB_sparse"] = np.uint64(C.shape[0])
        group["data"], group["ir"], group["jc"] = C.data, C.indices.astype("u8"), C.indptr.astype("u8")
    with open(path("new.mat"), "r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(124) + b"\0\2IM")
    converts("mat, version 7.3", "new.mat")

# ---- PETSc's binary files: classid, rows, columns, entries, entries per row, columns, values


def petsc(name, M, index, after=b""):
    M = sp.csr_matrix(M)
    head = np.array([1211216, *M.shape, M.nnz, *np.diff(M.indptr), *M.indices], index)
    values = M.data.astype(">c16" if M.dtype.kind == "c" else ">f8")
    write(name, head.tobytes() + values.tobytes() + after)


VECTOR = np.array([1211214, 3], ">i4").tobytes() + np.array([1.0, 2, 3], ">f8").tobytes()
petsc("a.petsc", D, ">i4")
converts("PETSc", "a.petsc")
petsc("wide.bin", D, ">i8")
converts("PETSc, 64-bit indices", "wide.bin")
petsc("complex.bin", D * (2 - 1j), ">i4")
converts("PETSc, complex", "complex.bin", D * (2 - 1j))
petsc("both.bin", D, ">i4", VECTOR)
converts("PETSc, a vector behind the matrix", "both.bin")
write("b.bin", VECTOR)
converts("PETSc, a vector", "b.bin", np.array([[1.0], [2], [3]]))
try:
    from petsc4py import PETSc
except ImportError:
    skip("PETSc's own file", "this Python has no petsc4py (Debian: python3-petsc4py)")
else:
    M = PETSc.Mat().createAIJ(size=A.shape, csr=(A.indptr, A.indices, A.data))
    M.view(PETSc.Viewer().createBinary(path("own.bin"), "w"))
    M.destroy()
    converts("PETSc's own file", "own.bin")

# ---- Compressions and archives

scipy.io.mmwrite(path("t.mtx"), A)


def unpacks(name, pack, file, made):
    """A file that the shell command pack makes; the remedy in parentheses is executed."""
    tool = pack.split()[0]
    if not shutil.which(tool):
        skip(name, f"no {tool} on this machine")
        return
    shutil.copy(path("t.mtx"), path(made))
    good, told = execute(pack)
    if os.path.exists(path(made)):
        os.remove(path(made))
    o = run("info", file)
    remedy = re.search(r" first \((.*?)\)", o.err)
    if not good or not remedy:
        check(name, False, f"{told} {o}")
        return
    good, told = execute(remedy[1])
    o = run("info", made)
    check(name, good and o.code == 0, f"{remedy[1]}: {told} {o}")


unpacks("bzip2", "bzip2 z.mtx", "z.mtx.bz2", "z.mtx")
unpacks("xz", "xz z.mtx", "z.mtx.xz", "z.mtx")
unpacks("lzma", "lzma z.mtx", "z.mtx.lzma", "z.mtx")
unpacks("lz4", "lz4 -qm z.mtx", "z.mtx.lz4", "z.mtx")
unpacks("compress", "compress -f z.mtx", "z.mtx.Z", "z.mtx")
unpacks("zip", "zip -q z.zip z.mtx", "z.zip", "z.mtx")
unpacks("tar.gz", "tar czf z.tar.gz z.mtx", "z.tar.gz", "z.mtx")
unpacks("tar", "tar cf z.tar z.mtx", "z.tar", "z.mtx")

sys.exit(finish())
