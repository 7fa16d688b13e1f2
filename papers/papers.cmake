# What papers/ adds to the library, if TRIREME_WITH_PAPERS: TRIREME_PAPER_SOURCES.  Benchmarks and
# tests are added by bench/CMakeLists.txt and tests/CMakeLists.txt.
set(TRIREME_PAPER_SOURCES)
if(TRIREME_WITH_PAPERS)
  set(papers ${CMAKE_CURRENT_LIST_DIR})
  if(TRS_HAVE_CUDA)
    foreach(source IN ITEMS levelset.c levelset.cu syncfree.cu syncfree_csc.c syncfree_csc.cu
            syncfree_csc_rhs.c syncfree_csc_rhs.cu syncfree_plan.c)
      list(APPEND TRIREME_PAPER_SOURCES ${papers}/L17/${source})
    endforeach()
    list(APPEND TRIREME_PAPER_SOURCES ${papers}/W21/rows.cu)
    foreach(source IN ITEMS component.cu multi.c unified.c unified.cu zerocopy.c zerocopy.cu)
      list(APPEND TRIREME_PAPER_SOURCES ${papers}/X20/${source})
    endforeach()
  endif()
  list(APPEND TRIREME_PAPER_SOURCES ${papers}/X20/tasks.c)
  if(TRS_HAVE_OPENCL)
    list(APPEND TRIREME_PAPER_SOURCES ${papers}/L17/opencl/syncfree.c)
    # OpenCL C is compiled at run time: its text becomes an array.
    set(kernels ${papers}/L17/opencl/syncfree.cl)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${kernels})
    file(READ ${kernels} text HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," text "${text}")
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/include/L17/opencl/syncfree_cl.h CONTENT
      "static const unsigned char trs_syncfree_source[] = {@text@};\n" @ONLY)
  endif()
endif()
