/* gpu.h - what the methods of one GPU share: the system in device memory, right-hand sides brought
 * there and solutions back, and the report of a wait that passed its limit. */
#ifndef TRS_SOLVE_CUDA_GPU_H
#define TRS_SOLVE_CUDA_GPU_H

#include "device/device.h"
#include "plan/plan.h"
#include "device/fault.h"

typedef struct trs_gpu {
  trs_device *device;
  trs_system system; /* arrays in device memory, stored by rows or columns as load was asked;
                        values conjugated already (system.conj is false) */
  void *owned[3];    /* those of ptr, idx, val that are ours, not the caller's; device memory */
  void *stage;       /* n x stage_width: right-hand sides that came from the host */
  int64_t stage_width;
  trs_fault *fault;      /* device memory, for the kernels */
  trs_fault *host_fault; /* pinned host memory: fault as of the last wait */
} trs_gpu;

enum { TRS_GPU_PATTERN = 1, TRS_GPU_VALUES = 2 };

/* NULL if a method of this backend can work here, else why not.  For a method's refuses. */
const char *trs_gpu_refuses(const trs_plan *plan);

/* Once, at the beginning of analyze: the context's device.  Then trs_gpu_free even after failures.
 */
trs_status trs_gpu_open(trs_gpu *gpu, trs_plan *plan);
/* The same in two steps: the device, and, current then, the record of failures there. */
void trs_gpu_begin(trs_gpu *gpu, const trs_plan *plan);
trs_status trs_gpu_arm(trs_gpu *gpu, const trs_plan *plan);

/* The plan's system by rows or by columns, uploaded and transposed as need be, in the order of the
 * sweep's indices (ascending).  what: the pattern, the values or both.  Runs on plan->stream. */
trs_status trs_gpu_load(trs_gpu *gpu, trs_plan *plan, bool rows, int what);
/* Gives up the loaded arrays where they are ours, once a method has packed its own. */
void trs_gpu_unload(trs_gpu *gpu, trs_plan *plan);
void trs_gpu_free(trs_gpu *gpu, trs_plan *plan);

/* Device memory of the loaded arrays that are ours, and of the stage. */
int64_t trs_gpu_bytes(const trs_gpu *gpu);

/* Launches a solve of arrays in device memory on a stream: no allocation, no waiting.  x may be b.
 */
typedef trs_status (*trs_gpu_launch)(trs_plan *plan, const trs_rhs *rhs, trs_stream stream);

/* For a method's solve: brings host arrays to the device and back around launch and waits for
 * them; for device arrays only launches (trs_gpu_wait tells of a stall later). */
trs_status trs_gpu_solve(trs_plan *plan, trs_gpu *gpu, const trs_rhs *rhs, trs_gpu_launch launch);

/* Waits for the plan's stream; TRS_ERROR_STALLED with the row where a wait passed its limit. */
trs_status trs_gpu_wait(trs_plan *plan);

#endif
