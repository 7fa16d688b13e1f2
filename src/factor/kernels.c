/* kernels.c - the elimination of a row of a matrix within the patterns of L and U. */
#include <math.h>

#include "factor/refactor.h"

#define TRS_TEMPLATE "factor/refactor_tmpl.c"
#include "base/instantiate.h"

const trs_lu_kernels TRS_ISA_NAME(trs_lu_kernels) = {.own = TRS_TABLE(refactor_own),
                                                     .shared = TRS_TABLE(refactor_shared)};
