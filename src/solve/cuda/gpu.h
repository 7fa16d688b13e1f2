/* gpu.h - what the methods of one GPU share: the system in device memory, copies of right-hand
 * sides and solutions, and the report of a wait that passed its limit.  The state of each method
 * begins with a trs_gpu. */
#ifndef TRS_SOLVE_CUDA_GPU_H
#define TRS_SOLVE_CUDA_GPU_H

#include "device/device.h"
#include "solve/cuda/columns.h"
#include "matrix/stage.h"
#include "plan/plan.h"
#include "device/fault.h"

/* Launches a solve of device arrays on a stream; neither allocates nor waits.  x may be b. */
typedef trs_status (*trs_gpu_launch)(trs_plan *plan, const trs_rhs *rhs, trs_stream stream);

typedef struct trs_gpu {
  trs_device *device;
  trs_gpu_launch launch;
  trs_system system; /* device arrays by rows or by columns, as trs_gpu_load was called; values are
                        conjugated already, and system.conj is false */
  void *owned[4];    /* device memory: ptr, idx, val, and the given entry of each after a
                        transposition, where the plan owns them; else NULL */
  trs_stage stage;   /* for right-hand sides from host memory */
  trs_fault *fault;  /* device memory, for the kernels */
  trs_fault *host_fault; /* pinned host memory: the fault as of the last wait */
} trs_gpu;

/* The columns of a stage for solves like this one. */
static inline int64_t trs_stage_width(const trs_plan *plan, int64_t nrhs, int64_t most) {
  const int64_t hint = plan->options.nrhs > nrhs ? plan->options.nrhs : nrhs;
  return hint < most ? hint : most;
}

static inline trs_status trs_gpu_pass(trs_plan *plan, trs_passage *p, trs_gpu_launch launch) {
  while (!trs_passage_is_over(p)) {
    TRS_TRY(trs_passage_bring(p));
    TRS_TRY(launch(plan, &p->here.rhs, p->stream));
    TRS_TRY(trs_passage_take(p));
  }
  return TRS_SUCCESS;
}

static inline trs_gpu_columns trs_gpu_columns_of(const trs_rhs *rhs) {
  trs_gpu_columns c = {.x = rhs->x, .b = rhs->b, .width = rhs->nrhs};
  c.x_row = rhs->x_row, c.x_col = rhs->x_col;
  c.b_row = rhs->b_row, c.b_col = rhs->b_col;
  return c;
}

/* The entries of a method's table that the methods of one GPU share. */
#define TRS_GPU_METHOD                                                          \
  .backend = &trs_backend_cuda, .parameters = true, .refuses = trs_gpu_refuses, \
  .solve = trs_gpu_solve, .wait = trs_gpu_wait

enum { TRS_GPU_PATTERN = 1, TRS_GPU_VALUES = 2 };

/* For a method's refuses: NULL if the context has a GPU, else the reason. */
const char *trs_gpu_refuses(const trs_plan *plan);

/* Call once, at the beginning of analyze.  trs_gpu_free is due after failures too. */
trs_status trs_gpu_open(trs_gpu *gpu, trs_plan *plan, trs_gpu_launch launch);
/* The same in two steps: the device; and, with that device current, the record of failures. */
void trs_gpu_begin(trs_gpu *gpu, const trs_plan *plan, trs_gpu_launch launch);
trs_status trs_gpu_arm(trs_gpu *gpu, const trs_plan *plan);

/* Brings the plan's system by rows or by columns into device memory, indices ascending in each
 * vector; uploads, transposes and conjugates as needed.  what: TRS_GPU_PATTERN, TRS_GPU_VALUES or
 * both.  Runs on plan->stream. */
trs_status trs_gpu_load(trs_gpu *gpu, trs_plan *plan, bool rows, int what);
/* New values for a system in device memory that is still loaded, with trs_options.launch_updates.
 * Launches only, and keeps the addresses of the loaded arrays. */
trs_status trs_gpu_load_values(trs_gpu *gpu, trs_plan *plan);
/* Frees the loaded arrays that the plan owns, once a method has packed its own.  With
 * trs_options.launch_updates they stay. */
void trs_gpu_unload(trs_gpu *gpu, trs_plan *plan);
void trs_gpu_free(trs_gpu *gpu, trs_plan *plan);

/* For a clone, whose gpu is a copy of its origin's: the system stays the origin's, and the stage
 * and the record of failures are its own. */
trs_status trs_gpu_separate(trs_gpu *gpu, const trs_plan *clone);

/* Device memory of the arrays that the plan owns, and of the stage. */
int64_t trs_gpu_bytes(const trs_gpu *gpu);

/* For a method's solve.  If x or b lie in host memory: copies through the stage, launches, and
 * waits for x.  If both lie in device memory: launches only, and trs_gpu_wait reports a stall. */
trs_status trs_gpu_solve(trs_plan *plan, const trs_rhs *rhs);
/* The same for a plan whose state does not begin with a trs_gpu. */
trs_status trs_gpu_solve_by(trs_plan *plan, trs_gpu *gpu, const trs_rhs *rhs);

/* For a method's wait: waits for the plan's stream.  TRS_ERROR_STALLED with the row if a wait
 * passed its limit. */
trs_status trs_gpu_wait(trs_plan *plan);

#endif
