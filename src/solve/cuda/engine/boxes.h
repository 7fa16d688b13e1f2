/* boxes.h - a system with its rows in the order of boxes (analysis/boxes.h), built on the GPU: a
 * joint system without rows for y, whose blocks begin at trs_gpu_substitution.starts.  C and CUDA
 * C++. */
#ifndef TRS_SOLVE_CUDA_ENGINE_BOXES_H
#define TRS_SOLVE_CUDA_ENGINE_BOXES_H

#include "analysis/boxes.h"
#include "solve/cuda/engine/substitute.h"

#ifdef __cplusplus
extern "C" {
#endif

/* By a cut of the system into single rows that trs_gpu_cut_finish has seen and that is not yet
 * freed.  Launches only. */
trs_status trs_gpu_box(trs_gpu_substitution *result, const trs_gpu_cut *cut,
                       const trs_box_classes *classes);

/* New values, from the pattern and values of the system.  Launches only, and allocates the arrays
 * if they were dropped. */
trs_status trs_gpu_box_again(trs_gpu_substitution *s, trs_device *device, const trs_system *system,
                             trs_stream stream);

#ifdef __cplusplus
}
#endif
#endif
