# Optional features.  Each is found or absent; TRIREME_WITH_X=OFF leaves it out on purpose, and
# src/base/config.h tells the code.  trireme --version lists them.
function(trireme_feature name)
  cmake_parse_arguments(PARSE_ARGV 1 F "" "HEADER;DEBIAN" "LIBS;SUFFIXES;EXTRA")
  option(TRIREME_WITH_${name} "Use ${name} where it is found" ON)
  set(TRS_HAVE_${name} 0)
  if(TRIREME_WITH_${name})
    find_path(TRIREME_${name}_INCLUDE ${F_HEADER} PATH_SUFFIXES ${F_SUFFIXES})
    set(found ${TRIREME_${name}_INCLUDE})
    set(libraries)
    foreach(lib IN LISTS F_LIBS)
      find_library(TRIREME_${name}_${lib} NAMES ${lib}
        PATH_SUFFIXES hdf5/serial ${CMAKE_LIBRARY_ARCHITECTURE}/hdf5/serial)
      list(APPEND libraries ${TRIREME_${name}_${lib}})
      if(NOT TRIREME_${name}_${lib})
        set(found "")
      endif()
    endforeach()
    if(found)
      set(TRS_HAVE_${name} 1)
      target_include_directories(trireme_features SYSTEM INTERFACE ${TRIREME_${name}_INCLUDE})
      target_link_libraries(trireme_features INTERFACE ${libraries})
      message(STATUS "${name}: ${libraries}")
    else()
      message(STATUS "${name}: not found (Debian: ${F_DEBIAN})")
    endif()
  endif()
  set(TRS_HAVE_${name} ${TRS_HAVE_${name}} PARENT_SCOPE)
endfunction()

add_library(trireme_features INTERFACE)
trireme_feature(ZLIB HEADER zlib.h LIBS z DEBIAN zlib1g-dev)
trireme_feature(ZSTD HEADER zstd.h LIBS zstd DEBIAN libzstd-dev)
trireme_feature(HDF5 HEADER hdf5.h LIBS hdf5 SUFFIXES hdf5/serial DEBIAN libhdf5-dev)
trireme_feature(METIS HEADER metis.h LIBS metis DEBIAN libmetis-dev)
trireme_feature(AMD HEADER amd.h LIBS amd suitesparseconfig SUFFIXES suitesparse
                DEBIAN libsuitesparse-dev)
trireme_feature(SUPERLU HEADER slu_ddefs.h LIBS superlu SUFFIXES superlu SuperLU
                DEBIAN libsuperlu-dev)
trireme_feature(JANSSON HEADER jansson.h LIBS jansson DEBIAN libjansson-dev)

configure_file(${CMAKE_CURRENT_SOURCE_DIR}/cmake/config.h.in
               ${CMAKE_CURRENT_BINARY_DIR}/include/base/config.h)
