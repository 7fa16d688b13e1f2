# Versions of symbols.  What a public header declares has the version of the interface, such as
# TRIREME_0.1.  What libtrireme_mpi and the Python package alone call has TRIREME_PRIVATE_ with the
# full version: the loader then refuses a libtrireme_mpi of another version.  All else is not exported.
check_linker_flag(C -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/empty.map
                  TRIREME_HAS_VERSION_SCRIPT)

# trireme_exports(TARGET HEADER PREFIX [PATTERN]): for a shared library; other linkers export all.
# PATTERN: the private names.
function(trireme_exports target header prefix)
  if(NOT BUILD_SHARED_LIBS OR NOT TRIREME_HAS_VERSION_SCRIPT OR TRIREME_SANITIZE)
    return()
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${header})
  file(STRINGS ${header} lines REGEX "^TRS_(CORE|EXPERIMENTAL) ")
  set(names)
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "^TRS_[A-Z]+ .*[ *](trs_[a-z_0-9]+)\\(.*" "\\1" name "${line}")
    string(APPEND names "  ${name};\n")
  endforeach()
  set(version ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  set(script "${prefix}_${version} {\nglobal:\n${names}local:\n  *;\n};\n")
  if(ARGN)
    string(APPEND script "${prefix}_PRIVATE_${PROJECT_VERSION} {\nglobal:\n  ${ARGN};\n};\n")
  endif()
  set(file ${CMAKE_CURRENT_BINARY_DIR}/${target}.map)
  file(CONFIGURE OUTPUT ${file} CONTENT "${script}" @ONLY)
  target_link_options(${target} PRIVATE -Wl,--version-script=${file})
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${file})
endfunction()
