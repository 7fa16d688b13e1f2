/* substitute.h - the joint system of analysis/substitute.h, built on the GPU.  C and CUDA C++. */
#ifndef TRS_SOLVE_CUDA_ENGINE_SUBSTITUTE_H
#define TRS_SOLVE_CUDA_ENGINE_SUBSTITUTE_H

#include "analysis/substitute.h"
#include "solve/cuda/engine/analysis.h"

/* What a pass finds in the values; in pinned host memory. */
typedef struct trs_substitution_found {
  int64_t entries;     /* of the joint system, once it is made */
  int32_t ny, nlevels; /* of the joint system, likewise */
  int32_t guarded;     /* rows that keep their entries because of their growth; in an update: rows
                          whose growth is now too large */
  int32_t overflow;    /* M has more entries than there is room for */
} trs_substitution_found;

/* What substitution makes of some bands, before it is done for all. */
typedef struct trs_substitution_sample {
  int64_t rows, entries; /* of M in these bands */
  int32_t layers;        /* of a band, at most */
} trs_substitution_sample;

/* True if a substitution of that kind is worth while. */
typedef bool (*trs_substitution_judge)(void *argument, const trs_substitution_sample *sample);

/* The joint system, in device memory; what an update needs stays. */
typedef struct trs_gpu_substitution {
  trs_system joint;
  int32_t ny, nlevels;
  void *memory;    /* one allocation: of the pattern, of and order */
  void *values;    /* of the joint system, and known; NULL between fills */
  int32_t *of;     /* joint.n, as in trs_joint */
  uint32_t *known; /* likewise */
  int32_t *order;  /* rows of the system's sweep in the order of steps */
  int64_t step[TRS_SUBSTITUTION_DEPTH + 1];
  int32_t nsteps, most; /* most: entries of a row that substitutes, at most */
  int64_t guarded;
  bool narrow; /* made for entries that are stored as floats */
} trs_gpu_substitution;

#ifdef __cplusplus
extern "C" {
#endif

/* The joint system with its values, by a cut of the system into single rows that
 * trs_gpu_cut_finish has seen and that is not yet freed.  *made is false, with nothing allocated,
 * if M would have more than most_entries entries, if the system has more than TRS_MOST_JOINT_ROWS
 * rows, or if `worth` (or NULL) refuses a sample.  store_float: the slices will hold floats, but
 * for the diagonal.  Waits once, and once more for the sample. */
trs_status trs_gpu_substitute(trs_gpu_substitution *result, bool *made, const trs_gpu_cut *cut,
                              const trs_bands *bands, int64_t most_entries, bool store_float,
                              trs_substitution_judge worth, void *argument,
                              trs_substitution_found *found);

/* New values, from system->val.  Waits.  found->guarded is above 0 if the growth of some rows is
 * now too large. */
trs_status trs_gpu_substitute_again(trs_gpu_substitution *s, trs_device *device,
                                    const trs_system *system, trs_substitution_found *found,
                                    trs_stream stream);

/* to[p] = of[row[p]] for the joint.n positions of its slices, in device memory.  Launches only. */
trs_status trs_gpu_substitution_rows(const trs_gpu_substitution *s, const int32_t *row, int32_t *to,
                                     trs_stream stream);

/* Once slices have the values. */
void trs_gpu_substitution_drop_values(trs_gpu_substitution *s, trs_device *device,
                                      trs_stream stream);
void trs_gpu_substitution_free(trs_gpu_substitution *s, trs_device *device, trs_stream stream);
int64_t trs_gpu_substitution_bytes(const trs_gpu_substitution *s); /* of device memory */

#ifdef __cplusplus
}
#endif
#endif
