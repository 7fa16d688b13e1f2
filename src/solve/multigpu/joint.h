/* joint.h - a system with substituted rows (analysis/substitute.h) for several GPUs: made on one of
 * them by the engine's kernels, in host memory.  O(nnz of M) bytes cross the bus. */
#ifndef TRS_SOLVE_MULTIGPU_JOINT_H
#define TRS_SOLVE_MULTIGPU_JOINT_H

#include "analysis/substitute.h"
#include "device/device.h"
#include "solve/cuda/engine/substitute.h"

/* How a joint system is made. */
typedef struct trs_joint_way {
  int32_t depth;   /* most levels of a band; 0: by the number of levels */
  int32_t members; /* GPUs that share each level, which has so many times the room for entries */
  int64_t most;    /* entries of M at most */
  bool store_float;
  const trs_gpu_costs *gpu;
  trs_device *device; /* that makes it */
  trs_stream stream;
} trs_joint_way;

/* *made is false, with nothing allocated, if the system has one level, or if M would have too many
 * entries at any depth.  S is stored by rows, in host memory, with usable diagonal entries.  Waits.
 * The result depends on the system alone, and on way. */
trs_status trs_joint_create(trs_joint *joint, bool *made, const trs_system *S,
                            const trs_joint_way *way);

/* The same of a system in the memory of way->device, for a joint system that stays there.  The
 * caller frees it with trs_gpu_substitution_free. */
trs_status trs_joint_create_there(trs_gpu_substitution *joint, bool *made, const trs_system *system,
                                  const trs_joint_way *way);

#endif
