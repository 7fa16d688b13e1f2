# SPDX-FileCopyrightText: 2026 The Trireme authors
#
# SPDX-License-Identifier: BSD-3-Clause

# Trireme_jll, by BinaryBuilder: `julia build_tarballs.jl` in this folder.  There is no public archive
# yet: the source is the checkout.  AMD and COLAMD are left out, since SuiteSparse belongs to each
# version of Julia.
using BinaryBuilder, Pkg

name = "Trireme"
version = v"0.1.0"
sources = [DirectorySource(joinpath(@__DIR__, "..", ".."); target = "trireme")]

script = raw"""
cd ${WORKSPACE}/srcdir/trireme
cmake -S . -B build/julia -G Ninja \
  -DCMAKE_TOOLCHAIN_FILE=${CMAKE_TARGET_TOOLCHAIN} \
  -DCMAKE_INSTALL_PREFIX=${prefix} \
  -DCMAKE_BUILD_TYPE=Release \
  -DTRIREME_BUILD_TESTS=OFF \
  -DTRIREME_WITH_PAPERS=OFF \
  -DTRIREME_WITH_AMD=OFF \
  -DTRIREME_WITH_COLAMD=OFF \
  -DTRIREME_WITH_HDF5=OFF \
  -DTRIREME_WITH_SUPERLU=OFF \
  -DTRIREME_WITH_MPI=OFF \
  -DTRIREME_WITH_PETSC=OFF \
  -DTRIREME_WITH_CUDA=OFF
cmake --build build/julia --parallel ${nproc}
cmake --install build/julia
install_license LICENSE
"""

platforms = [
    Platform("x86_64", "linux"; libc = "glibc"),
    Platform("aarch64", "linux"; libc = "glibc"),
    Platform("x86_64", "linux"; libc = "musl"),
    Platform("aarch64", "linux"; libc = "musl"),
    Platform("aarch64", "macos"),
]
products = [LibraryProduct("libtrireme", :libtrireme), ExecutableProduct("trireme", :trireme)]
dependencies = [Dependency("METIS_jll"), Dependency("Zlib_jll"), Dependency("Zstd_jll")]

build_tarballs(ARGS, name, version, sources, script, platforms, products, dependencies; julia_compat = "1.6")
