# Writes commit.h: the commit that is built, "-dirty" behind it where files differ.  Run at every
# build, for a configured value would grow stale; the file changes only when its text does.
cmake_minimum_required(VERSION 3.22)
if(NOT COMMIT)
  execute_process(COMMAND git describe --always --dirty WORKING_DIRECTORY ${SOURCE}
    OUTPUT_VARIABLE COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(NOT COMMIT)
  set(COMMIT unknown)
endif()
file(CONFIGURE OUTPUT ${HEADER} CONTENT "#define TRIREME_COMMIT_TEXT \"@COMMIT@\"\n" @ONLY)
