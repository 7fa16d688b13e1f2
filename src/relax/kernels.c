/* kernels.c - the kernels of every storage format, for one level of instructions. */
#include "relax/kernels.h"

#include <float.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>
#if defined(__F16C__) || defined(__AVX2__)
#include <immintrin.h>
#endif

#include "relax/exact.h"
#include "matrix/blocks.h"
#include "relax/narrow.h"

#define TRS_TEMPLATE "relax/store_tmpl.c"
#include "relax/instantiate.h"
#define TRS_TEMPLATE "relax/sweep_tmpl.c"
#include "relax/instantiate.h"

const trs_relax_stores TRS_ISA_NAME(trs_relax_stores) = {
    [TRS_STORE_MIXED] = &TRS_ISA_NAME(kernels_mixed),
    [TRS_STORE_DOUBLE] = &TRS_ISA_NAME(kernels_double),
    [TRS_STORE_FLOAT] = &TRS_ISA_NAME(kernels_float),
    [TRS_STORE_HALF] = &TRS_ISA_NAME(kernels_half),
    [TRS_STORE_BFLOAT] = &TRS_ISA_NAME(kernels_bfloat)};
