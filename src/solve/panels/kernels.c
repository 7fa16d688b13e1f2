/* kernels.c - the sweep over panels.  Real types only. */
#include "solve/panels/kernels.h"

#define TRS_TEMPLATE "plan/rhs_tmpl.c"
#include "base/instantiate.h"
#define TRS_TEMPLATE "plan/wide_tmpl.c"
#include "base/instantiate.h"
#define TRS_TEMPLATE "solve/panels/sweep_tmpl.c"
#include "base/instantiate.h"

const trs_panels_kernels TRS_ISA_NAME(trs_panels_kernels) = {.sweep = TRS_TABLE(sweep),
                                                             .prepare = TRS_TABLE(prepare)};
