# NVSHMEM's host library: from the Python wheel nvidia-nvshmem-cu12 or -cu13, from NVIDIA's packages,
# or from where NVSHMEM_HOME points.  Defines NVSHMEM_FOUND, NVSHMEM_INCLUDE_DIR, NVSHMEM_LIBRARY and
# the target NVSHMEM::host.  The wheel has no libnvshmem_host.so, only the name with its version.
set(hints ${NVSHMEM_HOME} $ENV{NVSHMEM_HOME} $ENV{NVSHMEM_PREFIX})
foreach(python IN ITEMS $ENV{VIRTUAL_ENV}/bin/python3 python3)
  execute_process(
    COMMAND ${python} -c "import nvidia.nvshmem as m; print(list(m.__path__)[0])"
    OUTPUT_VARIABLE wheel OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE none)
  if(NOT none)
    list(APPEND hints ${wheel})
  endif()
endforeach()

find_path(NVSHMEM_INCLUDE_DIR nvshmem_host.h HINTS ${hints}
          PATH_SUFFIXES include nvshmem nvshmem_13 nvshmem_12 include/nvshmem_13 include/nvshmem_12)
find_library(NVSHMEM_LIBRARY NAMES libnvshmem_host.so.3 nvshmem_host HINTS ${hints}
             PATH_SUFFIXES lib lib64 nvshmem/13 nvshmem/12 lib/nvshmem/13 lib/nvshmem/12)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(NVSHMEM REQUIRED_VARS NVSHMEM_LIBRARY NVSHMEM_INCLUDE_DIR)
mark_as_advanced(NVSHMEM_INCLUDE_DIR NVSHMEM_LIBRARY)
if(NVSHMEM_FOUND AND NOT TARGET NVSHMEM::host)
  add_library(NVSHMEM::host UNKNOWN IMPORTED)
  set_target_properties(NVSHMEM::host PROPERTIES IMPORTED_LOCATION ${NVSHMEM_LIBRARY}
                        INTERFACE_SYSTEM_INCLUDE_DIRECTORIES ${NVSHMEM_INCLUDE_DIR}
                        INTERFACE_INCLUDE_DIRECTORIES ${NVSHMEM_INCLUDE_DIR})
endif()
