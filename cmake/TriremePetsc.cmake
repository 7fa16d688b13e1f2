# Finds PETSc: TRS_HAVE_PETSC and the target trireme_petsc_library.
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  if(DEFINED ENV{PETSC_DIR})
    set(saved "$ENV{PKG_CONFIG_PATH}")
    set(ENV{PKG_CONFIG_PATH}
      "$ENV{PETSC_DIR}/$ENV{PETSC_ARCH}/lib/pkgconfig:$ENV{PETSC_DIR}/lib/pkgconfig:${saved}")
  endif()
  pkg_search_module(TRIREME_PETSC QUIET PETSc>=3.18 petsc>=3.18)
  if(DEFINED ENV{PETSC_DIR})
    set(ENV{PKG_CONFIG_PATH} "${saved}")
  endif()
endif()
if(NOT TRIREME_PETSC_FOUND)
  message(STATUS "PETSc: 3.18 or newer not found (Debian: petsc-dev pkg-config)")
  return()
endif()

add_library(trireme_petsc_library INTERFACE)
target_include_directories(trireme_petsc_library SYSTEM INTERFACE ${TRIREME_PETSC_INCLUDE_DIRS})
target_link_libraries(trireme_petsc_library INTERFACE ${TRIREME_PETSC_LINK_LIBRARIES})

# PETSc has its own mpi.h only if it was built without MPI.  Its private headers, which describe
# solver types, are not in every package.
include(CheckCSourceCompiles)
set(CMAKE_REQUIRED_INCLUDES ${TRIREME_PETSC_INCLUDE_DIRS})
set(CMAKE_REQUIRED_LIBRARIES ${TRIREME_PETSC_LINK_LIBRARIES})
set(program "#include <petsc/private/matimpl.h>
#include <petsc/private/pcimpl.h>
int main(void) { return MatInitializePackage(); }")
check_c_source_compiles("${program}" TRIREME_PETSC_COMPILES)
if(NOT TRIREME_PETSC_COMPILES AND MPI_C_FOUND)
  list(APPEND CMAKE_REQUIRED_LIBRARIES MPI::MPI_C)
  check_c_source_compiles("${program}" TRIREME_PETSC_COMPILES_WITH_MPI)
  target_link_libraries(trireme_petsc_library INTERFACE MPI::MPI_C)
endif()
unset(CMAKE_REQUIRED_INCLUDES)
unset(CMAKE_REQUIRED_LIBRARIES)
if(TRIREME_PETSC_COMPILES OR TRIREME_PETSC_COMPILES_WITH_MPI)
  set(TRS_HAVE_PETSC 1)
  message(STATUS "PETSc ${TRIREME_PETSC_VERSION}: ${TRIREME_PETSC_LINK_LIBRARIES}")
else()
  message(STATUS "PETSc ${TRIREME_PETSC_VERSION}: a program with its private headers does not compile")
endif()
