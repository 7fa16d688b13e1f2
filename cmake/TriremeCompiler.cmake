# Flags that every target shares.
set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON) # ISO mode would forbid fused multiply-add
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_FLAGS_RELEASE "-O3")
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O2 -g")

include(CheckCCompilerFlag)
include(CheckLinkerFlag)
include(CheckPIESupported)
find_package(Threads REQUIRED)

add_library(trireme_flags INTERFACE)
function(trireme_c_options)
  target_compile_options(trireme_flags INTERFACE "$<$<COMPILE_LANGUAGE:C>:${ARGN}>")
endfunction()

trireme_c_options( # the last but one: constants are enumerators, which newer clangs tell apart from numbers
  -Wall -Wextra -Wpedantic -Wconversion -Wno-sign-conversion -Wshadow -Wstrict-prototypes
  -Wmissing-prototypes -Wvla -Wno-enum-float-conversion -fno-math-errno)
target_compile_options(trireme_flags INTERFACE
  "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra;--diag-suppress=177>")
if(TRIREME_WERROR)
  trireme_c_options(-Werror)
  target_compile_options(trireme_flags INTERFACE
    "$<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings;-Xcompiler=-Werror>")
endif()
# Levels of instructions that kernels are compiled for (src/base/cpu.h, which looks for the same).
set(TRIREME_ISAS baseline)
set(TRIREME_FLAGS_avx2 -mavx2 -mfma -mf16c -mbmi -mbmi2)
set(TRIREME_FLAGS_avx512 ${TRIREME_FLAGS_avx2} -mavx512f -mavx512vl -mavx512bw -mavx512dq)
check_c_compiler_flag(-mavx512f TRIREME_HAS_AVX512_FLAG)
if(TRIREME_ARCH)
  trireme_c_options(-march=${TRIREME_ARCH})
elseif(TRIREME_HAS_AVX512_FLAG)
  list(APPEND TRIREME_ISAS avx2 avx512)
endif()
list(LENGTH TRIREME_ISAS TRS_ISA_LEVELS)
# What makes an overflow of a buffer the end of the program instead of a way into it.
if(TRIREME_HARDEN AND NOT TRIREME_SANITIZE)
  check_c_compiler_flag(-fstack-protector-strong TRIREME_HAS_STACK_PROTECTOR)
  if(TRIREME_HAS_STACK_PROTECTOR)
    trireme_c_options(-fstack-protector-strong)
  endif()
  trireme_c_options( # in builds that optimise: without -O glibc refuses
    "$<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE$<SEMICOLON>-D_FORTIFY_SOURCE=2>")
  check_linker_flag(C -Wl,-z,relro,-z,now TRIREME_HAS_RELRO)
  if(TRIREME_HAS_RELRO)
    target_link_options(trireme_flags INTERFACE -Wl,-z,relro,-z,now)
  endif()
endif()
check_pie_supported(LANGUAGES C)
if(TRIREME_SANITIZE) # -g1: the lines that a report shows
  trireme_c_options(
    -fsanitize=${TRIREME_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all -g1 -O1)
  target_link_options(trireme_flags INTERFACE -fsanitize=${TRIREME_SANITIZE})
  foreach(sanitizer address thread) # gcc and clang name them differently
    if(TRIREME_SANITIZE MATCHES ${sanitizer})
      string(TOUPPER TRS_SANITIZE_${sanitizer} macro)
      target_compile_definitions(trireme_flags INTERFACE ${macro})
    endif()
  endforeach()
endif()
target_link_libraries(trireme_flags INTERFACE Threads::Threads m)
