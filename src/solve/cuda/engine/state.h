/* state.h - what the engine's plan holds; shared by its analysis (engine.c) and its launches
 * (launch.c). */
#ifndef TRS_SOLVE_CUDA_ENGINE_STATE_H
#define TRS_SOLVE_CUDA_ENGINE_STATE_H

#include "solve/cuda/engine/analysis.h"
#include "solve/cuda/engine/choice.h"
#include "solve/cuda/engine/parameters.h"
#include "solve/cuda/gpu.h"

/* One way to cut the system, as far as its pattern goes. */
typedef struct trs_engine_candidate {
  trs_slice_rules rules;
  trs_gpu_cut *cut;  /* until it is built, or given up */
  trs_slices slices; /* device memory */
  trs_slices_map map;
  trs_slice_level *level; /* host copy */
  trs_launch_range *ranges;
  int32_t nranges;
  double seconds; /* what the cost model expects of a solve, or what tuning measured */
} trs_engine_candidate;

typedef struct trs_engine {
  trs_gpu gpu;
  trs_engine_candidate c;
  trs_engine_parameters asked;
  trs_engine_args args;
  void *memory;         /* args' arrays are parts of it */
  int64_t bytes;        /* of it, of many_rhs_work and turned */
  int32_t most_batched; /* right-hand sides beside each other; more go in a tile */
  void *transposed;     /* a tile's right-hand sides by rows, or NULL */
  bool tuned;
} trs_engine;

/* Memory for solves of several right-hand sides together, as many as the plan expects; and what it
 * takes. */
trs_status trs_engine_prepare_rhs(trs_engine *e, const trs_plan *plan);

/* All solves.  launch_one: of the right-hand side that args has. */
trs_status trs_engine_launch_one(const trs_engine *e, const trs_engine_args *args,
                                 trs_scalar scalar, trs_stream stream);
trs_status trs_engine_launch(trs_plan *plan, const trs_rhs *rhs, trs_stream stream);

#endif
