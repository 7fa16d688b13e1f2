#!/usr/bin/env bash
# The library, the command and the headers.  PETSc's plugin is for the PETSc of one package alone.
set -eu
cuda=OFF
[ "${cuda_compiler_version:-None}" = None ] || cuda=ON
# shellcheck disable=SC2086 # CMAKE_ARGS are words
cmake -S . -B build/conda -G Ninja ${CMAKE_ARGS-} \
  -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_INSTALL_PREFIX="$PREFIX" \
  -DCMAKE_CUDA_ARCHITECTURES="80;90" \
  -DTRIREME_BUILD_TESTS=OFF \
  -DTRIREME_WITH_PAPERS=OFF \
  -DTRIREME_HDF5_ARCHIVE=OFF \
  -DTRIREME_WITH_CUDA=$cuda \
  -DTRIREME_WITH_NVSHMEM=OFF \
  -DTRIREME_WITH_OPENCL=OFF \
  -DTRIREME_WITH_PETSC=OFF \
  -DTRIREME_WITH_SIMGRID=OFF
cmake --build build/conda
cmake --install build/conda
