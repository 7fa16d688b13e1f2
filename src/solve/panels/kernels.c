/* kernels.c - the sweeps over panels, by one thread and by several.  Real types only. */
#include <string.h>

#include "solve/panels/kernels.h"

#define TRS_TEMPLATE "plan/rhs_tmpl.c"
#include "base/instantiate.h"
#define TRS_TEMPLATE "plan/wide_tmpl.c"
#include "base/instantiate.h"
#define TRS_TEMPLATE "solve/panels/sweep_tmpl.c"
#include "base/instantiate.h"
#define TRS_TEMPLATE "solve/panels/subtrees_tmpl.c"
#include "base/instantiate.h"

const trs_panels_kernels TRS_ISA_NAME(trs_panels_kernels) = {
    .sweep = TRS_TABLE(sweep), .prepare = TRS_TABLE(prepare), .share = TRS_TABLE(share)};
