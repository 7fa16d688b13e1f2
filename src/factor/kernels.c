/* kernels.c - the elimination of a row of a matrix within the patterns of L and U. */
#include <math.h>
#include <string.h>

#include "factor/bilu0.h"
#include "factor/bilu0_block.h"
#include "factor/kinds.h"
#include "factor/refactor.h"

#define TRS_TEMPLATE "factor/refactor_tmpl.c"
#include "base/instantiate.h"

const trs_lu_kernels TRS_ISA_NAME(trs_lu_kernels) = {.own = TRS_TABLE(refactor_own),
                                                     .shared = TRS_TABLE(refactor_shared)};

#include "factor/bilu0_tmpl.c"

const trs_bilu0_kernels TRS_ISA_NAME(trs_bilu0_kernels) = {.eliminate = TRS_ISA_NAME(bilu0_row)};
