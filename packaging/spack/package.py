# SPDX-FileCopyrightText: 2026 The Trireme authors
#
# SPDX-License-Identifier: BSD-3-Clause

from spack_repo.builtin.build_systems.cmake import CMakePackage
from spack_repo.builtin.build_systems.cuda import CudaPackage

from spack.package import *


class Trireme(CMakePackage, CudaPackage):
    """Sparse triangular solves on one core, all cores, NVIDIA GPUs and MPI clusters, with plans
    that are analysed once and solved many times, factors of several kinds, and block relaxation."""

    # There is no public archive yet.  A release has homepage, url and sha256 in place of this.
    manual_download = True
    download_instr = "Build a checkout of Trireme: spack develop --path TREE trireme@0.1.0"

    license("BSD-3-Clause", checked_by="trireme")

    version("0.1.0")

    variant("shared", default=True, description="Build shared libraries")
    variant("mpi", default=True, description="Build libtrireme_mpi, for the ranks of a cluster")
    variant("hdf5", default=True, description="Read and write Binsparse containers")
    variant("petsc", default=False, description="Build libtrireme_petsc, which PETSc loads")
    variant("nvshmem", default=False, description="One process per GPU, by NVSHMEM")
    variant("superlu-dist", default=False,
            description="Depend on the SuperLU_DIST whose factors programs pass on")
    variant("python", default=False, description="Install the Python package")

    depends_on("c", type="build")
    depends_on("cxx", type="build", when="+cuda")
    depends_on("cmake@3.22:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3.9:", type="build")

    depends_on("zlib-api")
    depends_on("zstd")
    depends_on("metis@5:~int64")
    depends_on("suite-sparse")
    depends_on("superlu@5:")
    depends_on("hdf5~mpi", when="+hdf5")
    depends_on("mpi", when="+mpi")
    depends_on("cuda@12:", when="+cuda")
    depends_on("nvshmem@3:", when="+nvshmem")
    depends_on("superlu-dist", when="+superlu-dist")
    depends_on("petsc@3.18:", when="+petsc")
    depends_on("petsc~mpi", when="+petsc~mpi")
    depends_on("petsc+mpi", when="+petsc+mpi")

    extends("python", when="+python")
    depends_on("py-numpy@1.21:", type="run", when="+python")
    depends_on("py-scipy@1.8:", type="run", when="+python")

    conflicts("+nvshmem", when="~cuda", msg="NVSHMEM joins GPUs: +nvshmem needs +cuda")
    conflicts("+nvshmem", when="~shared", msg="NVSHMEM needs shared libraries")
    conflicts("+python", when="~shared", msg="the Python package loads a shared library")
    conflicts("+superlu-dist", when="~mpi", msg="SuperLU_DIST's factors lie on MPI ranks")
    conflicts("^petsc+hdf5", when="+petsc+hdf5",
              msg="PETSc's HDF5 is parallel, the one here is not: use petsc~hdf5 or trireme~hdf5")
    conflicts("cuda_arch=none", when="+cuda", msg="name the GPUs: cuda_arch=80,90")
    for _arch in ("10", "11", "12", "13", "20", "21", "30", "32", "35", "37", "50", "52", "53",
                  "60", "61", "62", "70", "72", "75"):
        conflicts(f"cuda_arch={_arch}", when="+cuda", msg="kernels need compute capability 8.0")

    def cmake_args(self):
        args = [
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
            self.define_from_variant("TRIREME_WITH_MPI", "mpi"),
            self.define_from_variant("TRIREME_WITH_HDF5", "hdf5"),
            self.define_from_variant("TRIREME_WITH_PETSC", "petsc"),
            self.define_from_variant("TRIREME_WITH_CUDA", "cuda"),
            self.define_from_variant("TRIREME_WITH_NVSHMEM", "nvshmem"),
            self.define("TRIREME_BUILD_TESTS", False),
            self.define("TRIREME_WITH_PAPERS", False),
            self.define("TRIREME_HDF5_ARCHIVE", False),
            self.define("TRIREME_WITH_OPENCL", False),
            self.define("TRIREME_WITH_SIMGRID", False),
        ]
        if self.spec.satisfies("+cuda"):
            args.append(self.define("CMAKE_CUDA_ARCHITECTURES",
                                    self.spec.variants["cuda_arch"].value))
        return args

    def setup_build_environment(self, env):
        if self.spec.satisfies("+nvshmem"):
            env.set("NVSHMEM_HOME", self.spec["nvshmem"].prefix)
        if self.spec.satisfies("+petsc"):
            env.set("PETSC_DIR", self.spec["petsc"].prefix)

    @run_after("install", when="+python")
    def install_python_package(self):
        """The package takes the library beside it."""
        package = join_path(python_platlib, "trireme")
        install_tree(join_path(self.stage.source_path, "bindings", "python", "trireme"), package)
        mkdirp(join_path(package, "lib"))
        symlink(join_path(self.spec["trireme"].prefix.lib, "libtrireme.so.0"),
                join_path(package, "lib", "libtrireme.so"))

    def test_solve(self):
        """a generated system is solved, and its backward error is measured"""
        trireme = which(self.prefix.bin.trireme)
        trireme("solve", "gen:poisson2d5:50", "--uplo", "lower")
