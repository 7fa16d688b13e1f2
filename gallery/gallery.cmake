# What the gallery adds to the library: TRIREME_GALLERY_SOURCES.
set(TRIREME_GALLERY_SOURCES)
foreach(source chain delaunay elasticity generate kkt poisson powerlaw random request rows triangulate
        wingmesh)
  list(APPEND TRIREME_GALLERY_SOURCES ${CMAKE_CURRENT_LIST_DIR}/${source}.c)
endforeach()
