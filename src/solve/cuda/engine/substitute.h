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
  /* By levels between a row and the begin of its band: rows in these bands, their entries in M, and
   * the layers up to them.  None depends on the levels behind a row, so they are those of shallower
   * bands too. */
  int64_t rows[TRS_SUBSTITUTION_DEPTH], entries[TRS_SUBSTITUTION_DEPTH];
  int32_t layers[TRS_SUBSTITUTION_DEPTH];
} trs_substitution_sample;

/* True if a substitution of that kind is worth while. */
typedef bool (*trs_substitution_judge)(void *argument, const trs_substitution_sample *sample);

/* The joint system, in device memory.  Its arrays are there until slices are filled with it; an
 * update reads its pattern back from them. */
typedef struct trs_gpu_substitution {
  trs_system joint;
  int32_t ny, nlevels;
  int32_t *order;  /* rows of the system's sweep in the order of steps; NULL: nothing was made */
  void *memory;    /* one allocation for the arrays of joint, of and known; NULL between fills */
  int32_t *of;     /* joint.n, as in trs_joint */
  uint32_t *known; /* likewise; NULL in an update */
  int64_t step[TRS_SUBSTITUTION_DEPTH + 1];
  int32_t nsteps, most; /* most: entries of a row that substitutes, at most */
  int64_t guarded;
  bool narrow; /* made for entries that are stored as floats */
  void *kept;  /* memory for updates; NULL: each allocates it */
  /* Of boxes (boxes.h), otherwise NULL: */
  uint8_t *starts; /* 1 where a block begins, and room behind to count with, as block_starts of
                      trs_engine */
  int32_t *place;  /* place in order of each row; NULL between fills */
} trs_gpu_substitution;

/* Bytes of a mark for each row, and of a number behind them, in a multiple of its size. */
static inline int64_t trs_starts_bytes(int64_t n) { return (n + 7) / 4 * 4; }

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

/* to[p] = of[row[p]] for the joint.n positions of its slices, in device memory.  Launches only. */
trs_status trs_gpu_substitution_rows(const trs_gpu_substitution *s, const int32_t *row, int32_t *to,
                                     trs_stream stream);

/* Once slices have the values. */
void trs_gpu_substitution_drop_arrays(trs_gpu_substitution *s, trs_device *device,
                                      trs_stream stream);

/* The arrays again, with the pattern and without values, from its slices; of_position: what
 * trs_gpu_substitution_rows gave. */
trs_status trs_gpu_substitution_restore(trs_gpu_substitution *s, trs_device *device,
                                        const trs_slices *slices, const trs_slices_map *map,
                                        const int32_t *of_position, trs_stream stream);

/* New values, from system->val, in the arrays.  Waits.  found->guarded is above 0 if the growth of
 * some rows is now too large. */
trs_status trs_gpu_substitute_again(const trs_gpu_substitution *s, trs_device *device,
                                    const trs_system *system, trs_substitution_found *found,
                                    trs_stream stream);

/* Memory for updates that only launch: trs_gpu_substitution_launch. */
trs_status trs_gpu_substitution_keep(trs_gpu_substitution *s, trs_device *device,
                                     const trs_system *system, trs_stream stream);
/* As trs_gpu_substitute_again, but launches only.  Rows whose growth is too large become NaN, and
 * are added to found->guarded, which trs_gpu_substitute_again clears. */
trs_status trs_gpu_substitution_launch(const trs_gpu_substitution *s, trs_device *device,
                                       const trs_system *system, trs_substitution_found *found,
                                       trs_stream stream);

void trs_gpu_substitution_free(trs_gpu_substitution *s, trs_device *device, trs_stream stream);
int64_t trs_gpu_substitution_bytes(const trs_gpu_substitution *s,
                                   int64_t n); /* of device memory; n: rows of the system */

#ifdef __cplusplus
}
#endif
#endif
