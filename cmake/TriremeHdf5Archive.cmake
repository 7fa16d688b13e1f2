# Debian's shared libhdf5 loads 35 more libraries, curl and TLS among them: 4 ms at the start of each
# worker.  The archive beside it needs three of them.  Off where the system's library shall be one
# that is replaced without building anew.
option(TRIREME_HDF5_ARCHIVE "Link the HDF5 worker with libhdf5.a where it is found" ON)
if(NOT (TRS_HAVE_HDF5 AND TRIREME_HDF5_ARCHIVE))
  return()
endif()
get_filename_component(folder ${TRIREME_HDF5_hdf5} DIRECTORY)
get_filename_component(folder_of_file ${TRIREME_HDF5_hdf5} REALPATH)
get_filename_component(folder_of_file ${folder_of_file} DIRECTORY)
find_library(TRIREME_HDF5_A NAMES libhdf5.a libhdf5_serial.a NO_DEFAULT_PATH
  HINTS ${folder} ${folder_of_file})
if(NOT TRIREME_HDF5_A)
  return()
endif()

# What it was built with, and no more.
include(CheckCSourceCompiles)
set(CMAKE_REQUIRED_INCLUDES ${TRIREME_HDF5_INCLUDE})
foreach(filters IN ITEMS "" "z" "sz;z" "sz;aec;z")
  string(MAKE_C_IDENTIFIER "TRIREME_HDF5_A_LINKS_WITH_${filters}" links)
  set(CMAKE_REQUIRED_LIBRARIES ${TRIREME_HDF5_A} ${filters} m Threads::Threads ${CMAKE_DL_LIBS})
  check_c_source_compiles("#include <hdf5.h>
int main(void) { return H5Fopen(\"\", H5F_ACC_RDONLY, H5P_DEFAULT) >= 0; }" ${links})
  if(${links})
    set_property(TARGET trireme_with_HDF5 PROPERTY INTERFACE_LINK_LIBRARIES
      ${CMAKE_REQUIRED_LIBRARIES})
    message(STATUS "HDF5, for its worker: ${TRIREME_HDF5_A}")
    break()
  endif()
endforeach()
unset(CMAKE_REQUIRED_INCLUDES)
unset(CMAKE_REQUIRED_LIBRARIES)
