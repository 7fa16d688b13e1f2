/* version.c - the version of this build and its optional features. */
#include <pthread.h>
#include <stdio.h>

#include "base/cpu.h"

typedef struct feature {
  const char *name;
  int have;
  const char *use, *remedy;
} feature;

static const feature features[] = {
    {"zlib", TRS_HAVE_ZLIB, "gzip files, checksums",
     "install zlib1g-dev and build Trireme from source"},
    {"zstd", TRS_HAVE_ZSTD, "zstandard files", "install libzstd-dev and build Trireme from source"},
    {"HDF5", TRS_HAVE_HDF5, "Binsparse containers",
     "install libhdf5-dev and build Trireme from source"},
    {"METIS", TRS_HAVE_METIS, "nested dissection",
     "install libmetis-dev and build Trireme from source"},
    {"AMD", TRS_HAVE_AMD, "minimum degree ordering",
     "install libsuitesparse-dev and build Trireme from source"},
    {"COLAMD", TRS_HAVE_COLAMD, "column ordering of LU",
     "install libsuitesparse-dev and build Trireme from source"},
    {"CUDA", TRS_HAVE_CUDA, "solves on a GPU", TRS_GET_CUDA},
    {"HIP", TRS_HAVE_HIP, "solves on one GPU of AMD", TRS_GET_HIP},
    {"NVSHMEM", TRS_HAVE_NVSHMEM, "one process per GPU",
     "install nvidia-nvshmem-cu13 with pip and build Trireme from source"},
    {"OpenCL", TRS_HAVE_OPENCL, "solves on an OpenCL device", TRS_GET_OPENCL},
    {"SuperLU", TRS_HAVE_SUPERLU, "complete LU",
     "install libsuperlu-dev and build Trireme from source"},
    {"MPI", TRS_HAVE_MPI, "solves on the ranks of a cluster",
     "install libopenmpi-dev openmpi-bin and build Trireme from source"},
    {"papers", TRS_HAVE_PAPERS, "methods and benchmarks that repeat papers",
     "build with -DTRIREME_WITH_PAPERS=ON"},
};

const char *trs_version(void) { return TRS_VERSION_TEXT; }

static char text[2048]; /* each line and its remedy at most, with room for a few more features */

static void write_features(void) {
  size_t used = 0;
  for (size_t f = 0; f < sizeof features / sizeof features[0] && used < sizeof text; f++) {
    const feature *it = &features[f];
    int more = it->have
                   ? snprintf(text + used, sizeof text - used, "%-8s yes  %s\n", it->name, it->use)
                   : snprintf(text + used, sizeof text - used, "%-8s no   %s (%s)\n", it->name,
                              it->use, it->remedy);
    if (more > 0) used += (size_t)more;
  }
  if (used < sizeof text)
    snprintf(text + used, sizeof text - used, "kernels  %s\n", trs_isa_text());
}

const char *trs_features(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, write_features);
  return text;
}
