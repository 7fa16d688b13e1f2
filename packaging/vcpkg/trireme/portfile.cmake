# An overlay port in Trireme's tree, which builds the tree that it lies in:
#   vcpkg install trireme --overlay-ports=packaging/vcpkg
# A release has vcpkg_from_github with its SHA512 here instead.
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

vcpkg_check_features(OUT_FEATURE_OPTIONS options FEATURES
  cuda TRIREME_WITH_CUDA
  hdf5 TRIREME_WITH_HDF5
  mpi TRIREME_WITH_MPI)

# Programs lie in tools/: the workers of METIS, SuperLU and HDF5 in tools/trireme, where the library
# looks for them.
vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}" OPTIONS ${options}
  -DCMAKE_INSTALL_BINDIR=tools/trireme
  -DCMAKE_INSTALL_LIBEXECDIR=tools
  -DTRIREME_BUILD_TESTS=OFF
  -DTRIREME_WITH_PAPERS=OFF
  -DTRIREME_HDF5_ARCHIVE=OFF
  -DTRIREME_WITH_NVSHMEM=OFF
  -DTRIREME_WITH_OPENCL=OFF
  -DTRIREME_WITH_PETSC=OFF
  -DTRIREME_WITH_SIMGRID=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/trireme)
vcpkg_fixup_pkgconfig()

file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share"
     "${CURRENT_PACKAGES_DIR}/debug/tools" "${CURRENT_PACKAGES_DIR}/share/doc")
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
