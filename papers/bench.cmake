# What papers/ adds to trireme-bench, and the programs beside it; included by bench/CMakeLists.txt.
set(papers ${CMAKE_CURRENT_LIST_DIR})
target_sources(trireme_bench PRIVATE
  ${papers}/L17/bench/l17.c ${papers}/L17/bench/l17_charts.c ${papers}/L17/bench/l17_tables.c
  ${papers}/L23/bench/l23.c ${papers}/L23/bench/l23_real.c ${papers}/L23/bench/l23_report.c
  ${papers}/W21/bench/w21.c ${papers}/W21/bench/w21_gpu.c ${papers}/W21/bench/w21_gpus.c
  ${papers}/W21/bench/w21_rows.c
  ${papers}/X20/bench/x20.c)
target_include_directories(trireme_bench PRIVATE
  ${CMAKE_CURRENT_SOURCE_DIR} ${papers} ${papers}/L17/bench ${papers}/L23/bench)
target_compile_definitions(trireme_bench PRIVATE TRIREME_BENCH_PAPERS=1)
foreach(suite IN ITEMS L17/suites/l17.txt L17/suites/l17-stand-ins.txt L23/suites/l23.txt
        X20/suites/x20.txt X20/suites/x20-stand-ins.txt)
  get_filename_component(name ${suite} NAME)
  configure_file(${papers}/${suite} ${beside}/${name} COPYONLY)
  install(FILES ${papers}/${suite} DESTINATION ${CMAKE_INSTALL_DATADIR}/trireme/suites)
endforeach()
get_filename_component(platforms ${beside}/../platforms ABSOLUTE)
configure_file(${papers}/L23/platforms/cori.xml ${platforms}/cori.xml COPYONLY)
install(DIRECTORY ${papers}/L23/platforms DESTINATION ${CMAKE_INSTALL_DATADIR}/trireme)

# Counts page faults of managed memory in any program; a tool of the build tree alone.
if(TRS_HAVE_CUDA AND TARGET CUDA::cupti)
  add_library(trireme_page_faults MODULE ${papers}/X20/bench/page_faults.c)
  set_target_properties(trireme_page_faults PROPERTIES C_VISIBILITY_PRESET default)
  target_link_libraries(trireme_page_faults PRIVATE CUDA::cupti trireme_flags)
endif()

if(TRS_HAVE_MPI)
  add_subdirectory(${papers}/L23/simulate simulate)
endif()
