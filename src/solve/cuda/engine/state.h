/* state.h - the state of the engine's plan, for its analysis (engine.c) and its launches
 * (launch.c). */
#ifndef TRS_SOLVE_CUDA_ENGINE_STATE_H
#define TRS_SOLVE_CUDA_ENGINE_STATE_H

#include "solve/cuda/engine/analysis.h"
#include "solve/cuda/engine/boxes.h"
#include "solve/cuda/engine/choice.h"
#include "solve/cuda/engine/parameters.h"
#include "solve/cuda/engine/substitute.h"
#include "solve/cuda/gpu.h"

/* One way to cut the system. */
typedef struct trs_engine_candidate {
  trs_slice_rules rules;
  trs_gpu_cut *cut;           /* until it is built or abandoned */
  trs_gpu_substitution boxes; /* whose joint system is cut, until it is built; or none */
  trs_slices slices;          /* device memory */
  trs_slices_map map;
  trs_slice_level *level; /* host copy */
  trs_launch_range *ranges;
  int32_t nranges;
  double seconds; /* of a solve: expected by the cost model, or measured by tuning */
} trs_engine_candidate;

/* What solves need: slices of the system, or of the joint system if rows are substituted. */
typedef struct trs_engine_sweep {
  trs_engine_candidate c;
  trs_engine_args args;
  void *memory;                  /* one allocation for the arrays of args */
  int32_t *row;                  /* of the joint system's slices: rows of b and x; or NULL */
  int64_t bytes;                 /* of memory, row, many_rhs_work, system_idx and transposed */
  int32_t most_batched;          /* up to this number of right-hand sides are batched */
  trs_launch_range *many_ranges; /* of several right-hand sides together */
  int32_t many_nranges;
  bool rows_scattered;      /* rows of a level lie apart in b and x */
  void *transposed;         /* right-hand sides by rows, for columns of them; or NULL */
  int32_t least_transposed; /* from this number of columns on */
} trs_engine_sweep;

/* In pinned host memory. */
typedef struct trs_engine_found {
  trs_gpu_found fill;
  trs_substitution_found substitution;
} trs_engine_found;

typedef struct trs_engine {
  trs_gpu gpu;
  trs_engine_parameters asked;
  int32_t clusters; /* clusters of the cluster kernel that the device runs at once */
  bool float_values;
  trs_engine_sweep sweep;
  bool made;                         /* sweep is complete */
  trs_gpu_substitution substitution; /* what makes the joint system whose slices are solved, by
                                        substitution or boxes; order is NULL if there is none */
  int32_t levels;                    /* of the system, if there is one */
  trs_box_classes classes;           /* of its distances; line is 0 if these have too few */
  double substituted_seconds;        /* expected with the last substitution; 0: none was made */
  trs_engine_found *found;
  uint8_t
      *block_starts; /* device, n: where blocks begin because of refused inverses; NULL: never */
  int64_t refused;   /* blocks that were cut for that */
  bool tuned;
} trs_engine;

/* Memory for the right-hand sides that are solved together.  The number is plan->options.nrhs,
 * within limits. */
trs_status trs_engine_prepare_rhs(const trs_engine *e, trs_engine_sweep *w, const trs_plan *plan);

/* The same memory again, for a clone.  w is a copy of the origin's without memory. */
trs_status trs_engine_prepare_rhs_again(const trs_engine *e, trs_engine_sweep *w,
                                        const trs_engine_sweep *origin, const trs_plan *clone);

/* Expected seconds of a solve of nrhs right-hand sides, or as many of them as go together. */
double trs_engine_expect_several(const trs_engine *e, const trs_engine_candidate *c,
                                 trs_scalar scalar, int64_t nrhs);

/* Launches a solve of the plan's system.  x and b lie in device memory. */
trs_status trs_engine_launch(trs_plan *plan, const trs_rhs *rhs, trs_stream stream);

#endif
