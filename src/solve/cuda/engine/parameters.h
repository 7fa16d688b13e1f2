/* parameters.h - the parameters of the method engine, for experiments. */
#ifndef TRS_SOLVE_CUDA_ENGINE_PARAMETERS_H
#define TRS_SOLVE_CUDA_ENGINE_PARAMETERS_H

#include "plan/parameters.h"

typedef enum trs_rhs_choice {
  TRS_RHS_AUTO,
  TRS_RHS_BATCHED,
  TRS_RHS_MANY,
  TRS_RHS_ROW_GROUPS
} trs_rhs_choice;

/* -1: not given. */
typedef struct trs_engine_parameters {
  int64_t block, dense, early_poll, small_level_rows; /* replace those of trs_slice_rules */
  int64_t double_buffer;                              /* 0 or 1 */
  int64_t work_shift;                                 /* replaces that of trs_engine_args */
  int64_t substitute;                                 /* levels of a band; 0: no substitution */
  int64_t boxes;                                      /* 1: wherever they can be made */
  int64_t ranges, rhs; /* trs_range_choice and trs_rhs_choice; 0 (auto) if not given */
} trs_engine_parameters;

trs_status trs_engine_parameters_read(trs_engine_parameters *p, const trs_plan *plan);

#endif
