# make install: library, header, CMake package, pkg-config file.  cli/ adds the command, its manual
# pages and completions.  Everything finds its neighbours by relative paths, so that the whole may
# be installed under any prefix and moved afterwards.
include(CMakePackageConfigHelpers)

add_library(trireme::trireme ALIAS trireme)
set(own_folder $ORIGIN)
if(APPLE)
  set(own_folder @loader_path)
endif()
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/trireme)
set(generated ${CMAKE_CURRENT_BINARY_DIR}/package)

install(TARGETS trireme EXPORT trireme-targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TRS_HAVE_NVSHMEM)
  install(TARGETS trireme_nvshmem LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
install(FILES include/trireme.h include/trireme.hpp include/trireme_dune.hh bindings/fortran/trireme.f90
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(TRS_HAVE_MPI)
  # A component: find_package(trireme) alone must not ask for MPI.
  add_library(trireme::trireme_mpi ALIAS trireme_mpi)
  install(TARGETS trireme_mpi EXPORT trireme-mpi-targets
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(FILES include/trireme_mpi.h include/trireme_superlu_dist.h bindings/fortran/trireme_mpi.f90
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT trireme-mpi-targets NAMESPACE trireme:: FILE triremeMpiTargets.cmake
          DESTINATION ${package_dir})
  set_target_properties(trireme_mpi PROPERTIES INSTALL_RPATH ${own_folder})
endif()
file(RELATIVE_PATH bin_to_lib /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR})
foreach(program IN ITEMS trireme_cli trireme_bench)
  if(TARGET ${program})
    set_target_properties(${program} PROPERTIES INSTALL_RPATH ${own_folder}/${bin_to_lib})
  endif()
endforeach()

# A program that is linked with the static library is linked with the library's own libraries too:
# by -L and -l in trireme.pc, by name in triremeConfig.cmake, which looks for them.
set(TRIREME_LIBRARY_NAMES)
set(TRIREME_LIBRARY_FOLDERS)
set(TRIREME_PC_LIBRARIES)
if(NOT BUILD_SHARED_LIBS)
  get_target_property(libraries trireme_features INTERFACE_LINK_LIBRARIES)
  foreach(library IN LISTS libraries)
    if(library STREQUAL "CUDA::cudart_static")
      list(APPEND TRIREME_PC_LIBRARIES -L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -lrt
           -lstdc++)
      continue()
    elseif(IS_ABSOLUTE "${library}")
      get_filename_component(folder ${library} DIRECTORY)
      get_filename_component(library ${library} NAME_WE)
      string(REGEX REPLACE "^lib" "" library ${library})
      if(NOT folder IN_LIST CMAKE_C_IMPLICIT_LINK_DIRECTORIES)
        list(APPEND TRIREME_LIBRARY_FOLDERS ${folder})
        list(APPEND TRIREME_PC_LIBRARIES -L${folder})
      endif()
      list(APPEND TRIREME_LIBRARY_NAMES ${library})
    endif()
    list(APPEND TRIREME_PC_LIBRARIES -l${library})
  endforeach()
  list(APPEND TRIREME_PC_LIBRARIES -lm -pthread)
endif()
string(REPLACE ";" " " TRIREME_PC_LIBRARIES "${TRIREME_PC_LIBRARIES}")

configure_package_config_file(cmake/triremeConfig.cmake.in ${generated}/triremeConfig.cmake
                              INSTALL_DESTINATION ${package_dir}
                              PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(${generated}/triremeConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${generated}/triremeConfig.cmake ${generated}/triremeConfigVersion.cmake
        DESTINATION ${package_dir})
install(EXPORT trireme-targets NAMESPACE trireme:: FILE triremeTargets.cmake
        DESTINATION ${package_dir})

file(RELATIVE_PATH TRIREME_PC_TO_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" TRIREME_PC_TO_PREFIX "${TRIREME_PC_TO_PREFIX}")
configure_file(cmake/trireme.pc.in ${generated}/trireme.pc @ONLY)
install(FILES ${generated}/trireme.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
if(TRS_HAVE_MPI)
  configure_file(cmake/trireme_mpi.pc.in ${generated}/trireme_mpi.pc @ONLY)
  install(FILES ${generated}/trireme_mpi.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()
if(TRS_HAVE_PETSC)
  configure_file(cmake/trireme_petsc.pc.in ${generated}/trireme_petsc.pc @ONLY)
  install(FILES ${generated}/trireme_petsc.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
          COMPONENT petsc)
else() # cmake --install --component petsc must not succeed with nothing
  install(CODE "message(FATAL_ERROR \"this build has no libtrireme_petsc: see what CMake says of \
PETSc (Debian: petsc-dev)\")" COMPONENT petsc EXCLUDE_FROM_ALL)
endif()

# Manual pages of section 3, from the comments of the headers.
find_package(Python3 QUIET COMPONENTS Interpreter)
if(Python3_Interpreter_FOUND)
  set(headers include/trireme.h)
  if(TRS_HAVE_MPI)
    list(APPEND headers include/trireme_mpi.h)
  endif()
  set(writer ${PROJECT_SOURCE_DIR}/tools/man_pages)
  add_custom_command(OUTPUT man3/trireme.3 VERBATIM WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
    COMMAND ${Python3_EXECUTABLE} ${writer} ${CMAKE_CURRENT_BINARY_DIR}/man3 ${headers}
    DEPENDS ${writer} tools/headers.py ${headers})
  add_custom_target(trireme_man3 ALL DEPENDS man3/trireme.3)
  install(DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/man3 DESTINATION ${CMAKE_INSTALL_MANDIR}
          FILES_MATCHING PATTERN "*.3")
else()
  message(STATUS "Manual pages of functions: no Python (Debian: python3)")
endif()

install(FILES cmake/tsan.supp DESTINATION ${CMAKE_INSTALL_DATADIR}/trireme)
install(FILES CITATION.cff LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/trireme)
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/trireme
        PATTERN CMakeLists.txt EXCLUDE)

# In the Python package: the library under the one name that programs ask for, since archives of
# Python have no links; the command; and the workers where the library looks for them.
if(SKBUILD)
  install(FILES $<TARGET_FILE:trireme> DESTINATION lib RENAME $<TARGET_SONAME_FILE_NAME:trireme>
          COMPONENT python)
  set_target_properties(trireme_cli PROPERTIES INSTALL_RPATH ${own_folder}/../lib)
  install(TARGETS trireme_cli RUNTIME DESTINATION bin COMPONENT python OPTIONAL)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/libexec/trireme DESTINATION libexec COMPONENT python
          USE_SOURCE_PERMISSIONS OPTIONAL)
endif()
