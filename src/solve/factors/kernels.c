/* kernels.c - permutation and scaling of right-hand sides. */
#include "solve/factors/kernels.h"

#define TRS_TEMPLATE "solve/factors/move_tmpl.c"
#include "base/instantiate.h"

const trs_move_kernels TRS_ISA_NAME(trs_move_kernels) = {.gather = TRS_TABLE(gather),
                                                         .scatter = TRS_TABLE(scatter)};
