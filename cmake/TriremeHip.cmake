# HIP for AMD's GPUs: hipcc compiles each *.cu to an object that any linker takes.
set(TRIREME_HIP_ARCHITECTURES gfx90a gfx1030 CACHE STRING
    "AMD GPUs that kernels are compiled for, such as gfx90a (MI200) and gfx1030 (RX 6800)")
find_program(TRIREME_HIPCC hipcc HINTS $ENV{ROCM_PATH}/bin /opt/rocm/bin)
find_library(TRIREME_AMDHIP amdhip64 HINTS $ENV{ROCM_PATH}/lib /opt/rocm/lib)
find_path(TRIREME_HIP_INCLUDE hip/hip_runtime_api.h HINTS $ENV{ROCM_PATH}/include /opt/rocm/include)
if(NOT TRIREME_HIPCC OR NOT TRIREME_AMDHIP OR NOT TRIREME_HIP_INCLUDE)
  message(FATAL_ERROR "TRIREME_WITH_HIP needs hipcc and libamdhip64 (Debian: hipcc libamdhip64-dev)")
endif()
message(STATUS "HIP: ${TRIREME_HIPCC}, ${TRIREME_HIP_ARCHITECTURES}")
target_include_directories(trireme_features SYSTEM INTERFACE ${TRIREME_HIP_INCLUDE})
target_link_libraries(trireme_features INTERFACE ${TRIREME_AMDHIP} stdc++)

# Takes the *.cu out of a list of sources and sets another list to what hipcc makes of them.
function(trireme_hip_objects list_name objects_name)
  set(flags -x hip -std=c++17 -O3 -fPIC -fvisibility=hidden -Wall -Wextra -Wno-unused-function
    -Wno-for-loop-analysis -Wno-unknown-pragmas -Wno-pass-failed)
  if(TRIREME_WERROR)
    list(APPEND flags -Werror)
  endif()
  foreach(architecture IN LISTS TRIREME_HIP_ARCHITECTURES)
    list(APPEND flags --offload-arch=${architecture})
  endforeach()
  set(others)
  set(made)
  foreach(source IN LISTS ${list_name})
    if(NOT source MATCHES "\\.cu$")
      list(APPEND others ${source})
      continue()
    endif()
    # clang 15 crashes on one kernel of this file for gfx1030 where it optimises more.
    set(how ${flags})
    if(source MATCHES "slices_bfloat")
      list(TRANSFORM how REPLACE "^-O3$" "-O1")
    endif()
    get_filename_component(path ${source} ABSOLUTE)
    file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR} ${path})
    set(object ${PROJECT_BINARY_DIR}/hip/${name}.o)
    get_filename_component(folder ${object} DIRECTORY)
    file(MAKE_DIRECTORY ${folder})
    add_custom_command(OUTPUT ${object}
      COMMAND ${TRIREME_HIPCC} ${how} -I${PROJECT_SOURCE_DIR}/src -I${PROJECT_SOURCE_DIR}/include
              -I${PROJECT_SOURCE_DIR}/papers -I${PROJECT_BINARY_DIR}/include
              -MD -MF ${object}.d -MT ${object} -c ${path} -o ${object}
      DEPENDS ${path} DEPFILE ${object}.d COMMENT "HIP ${name}" VERBATIM)
    list(APPEND made ${object})
  endforeach()
  set(${list_name} ${others} PARENT_SCOPE)
  set(${objects_name} ${made} PARENT_SCOPE)
endfunction()
