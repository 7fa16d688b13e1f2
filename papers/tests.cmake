# The tests of papers/; included by tests/CMakeLists.txt.  trireme_paper_test(X20/tasks [more
# sources]) is papers/X20/tests/tasks.c, with the helpers of tests/.
function(trireme_paper_test name)
  string(REPLACE "/" "_" target test_papers_${name})
  string(REPLACE "/" "/tests/" source ${name})
  add_executable(${target} ${PROJECT_SOURCE_DIR}/papers/${source}.c ${ARGN})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/papers)
  target_link_libraries(${target} PRIVATE test_main)
  add_test(NAME papers/${name} COMMAND ${target})
endfunction()

trireme_paper_test(L17/levelset_cpu support.c)
trireme_paper_test(X20/tasks support.c)
set(l17_systems ${PROJECT_SOURCE_DIR}/papers/L17/tests/systems.c)
if(TRS_HAVE_OPENCL) # skips where there is no device
  trireme_paper_test(L17/opencl ${l17_systems} support.c)
  add_test(NAME papers/L17/compile COMMAND ${PROJECT_SOURCE_DIR}/papers/L17/tests/compile)
endif()
# These need a GPU, and skip where there is none.
if(TRS_HAVE_GPU)
  trireme_paper_test(L17/syncfree ${l17_systems} gpu.c support.c)
  trireme_paper_test(L23/supernodal gpu.c support.c)
endif()
if(TRS_HAVE_CUDA)
  trireme_paper_test(X20/x20 support.c)
endif()
if(TRS_HAVE_MPI)
  add_subdirectory(${PROJECT_SOURCE_DIR}/papers/L23/tests/simulate papers/L23/simulate)
endif()
