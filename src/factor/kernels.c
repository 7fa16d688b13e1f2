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

/* For loops over a block, whose size is a literal up to 8 if it is small. */
#if defined(__clang__) || !defined(__OPTIMIZE__) || defined(TRS_BLOCKS_OF_ANY_SIZE)
#define TRS_BLOCK_UNROLL
#else
#define TRS_BLOCK_UNROLL _Pragma("GCC unroll 8")
#endif
#define TRS_BLOCK_JOIN_(f, width) f##_##width
#define TRS_BLOCK_JOIN(f, width) TRS_BLOCK_JOIN_(f, width)
#include "factor/bilu0_tmpl.c"

const trs_bilu0_kernels TRS_ISA_NAME(trs_bilu0_kernels) = {.eliminate = TRS_ISA_NAME(bilu0_row)};
