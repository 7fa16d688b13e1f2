/* parameters.c - the engine's parameters. */
#include "solve/cuda/engine/parameters.h"

#include "analysis/slices.h"
#include "analysis/substitute.h"

trs_status trs_engine_parameters_read(trs_engine_parameters *p, const trs_plan *plan) {
  static const char *const no_yes[] = {"no", "yes", NULL};
  static const char *const kernels[] = {"auto", "warp-per-slice", "single-block", "cluster", NULL};
  static const char *const ways[] = {"auto", "batched", "many-rhs", "row-groups", NULL};
  const trs_parameter table[] = {{"block", NULL, 1, TRS_MOST_BLOCK, &p->block},
                                 {"dense", no_yes, 0, 0, &p->dense},
                                 {"early-poll", NULL, 0, 64, &p->early_poll},
                                 {"small-level-rows", NULL, 0, INT32_MAX, &p->small_level_rows},
                                 {"double-buffer", no_yes, 0, 0, &p->double_buffer},
                                 {"work-shift", NULL, 0, 4, &p->work_shift},
                                 {"substitute", NULL, 0, TRS_SUBSTITUTION_DEPTH, &p->substitute},
                                 {"boxes", no_yes, 0, 0, &p->boxes},
                                 {"launch-ranges", kernels, 0, 0, &p->ranges},
                                 {"rhs", ways, 0, 0, &p->rhs}};
  *p = (trs_engine_parameters){.block = -1,
                               .dense = -1,
                               .early_poll = -1,
                               .small_level_rows = -1,
                               .double_buffer = -1,
                               .work_shift = -1,
                               .substitute = -1,
                               .boxes = -1};
  return trs_parameters_parse(plan->method->name, plan->parameters ? plan->parameters : "", table,
                              sizeof table / sizeof table[0]);
}
