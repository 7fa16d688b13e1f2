/* version.c - the version of this build and its optional features. */
#include <stdio.h>

#include "base/cpu.h"

typedef struct feature {
  const char *name;
  int have;
  const char *use, *package;
} feature;

static const feature features[] = {
    {"zlib", TRS_HAVE_ZLIB, "gzip files, checksums", "zlib1g-dev"},
    {"zstd", TRS_HAVE_ZSTD, "zstandard files", "libzstd-dev"},
    {"HDF5", TRS_HAVE_HDF5, "Binsparse containers", "libhdf5-dev"},
    {"METIS", TRS_HAVE_METIS, "nested dissection", "libmetis-dev"},
    {"AMD", TRS_HAVE_AMD, "minimum degree ordering", "libsuitesparse-dev"},
    {"CUDA", TRS_HAVE_CUDA, "solves on a GPU", "NVIDIA's CUDA toolkit, which has nvcc,"},
    {"NVSHMEM", TRS_HAVE_NVSHMEM, "one process per GPU", "nvidia-nvshmem-cu13 with pip"},
    {"OpenCL", TRS_HAVE_OPENCL, "solves on an OpenCL device", "ocl-icd-opencl-dev"},
    {"SuperLU", TRS_HAVE_SUPERLU, "complete LU", "libsuperlu-dev"},
    {"MPI", TRS_HAVE_MPI, "solves on the ranks of a cluster", "libopenmpi-dev openmpi-bin"},
};

const char *trs_version(void) { return TRS_VERSION_TEXT; }

const char *trs_features(void) {
  static _Thread_local char text[1024];
  size_t used = 0;
  for (size_t f = 0; f < sizeof features / sizeof features[0] && used < sizeof text; f++) {
    const feature *it = &features[f];
    int more = it->have
                   ? snprintf(text + used, sizeof text - used, "%-8s yes  %s\n", it->name, it->use)
                   : snprintf(text + used, sizeof text - used,
                              "%-8s no   %s (install %s and build again)\n", it->name, it->use,
                              it->package);
    if (more > 0) used += (size_t)more;
  }
  if (used < sizeof text)
    snprintf(text + used, sizeof text - used, "kernels  %s\n", trs_isa_text());
  return text;
}
