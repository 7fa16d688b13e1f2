/* kernels.c - substitution by rows and by columns for a group of systems. */
#include "solve/batch/kernels.h"

#include <float.h>
#include <math.h>

#include "solve/batch/transpose.h"

#define TRS_TEMPLATE "solve/batch/batch_tmpl.c"
#include "base/instantiate.h"

const trs_batch_kernels TRS_ISA_NAME(trs_batch_kernels) = {.fill = TRS_TABLE(batch_fill),
                                                           .solve = TRS_TABLE(batch_solve)};
