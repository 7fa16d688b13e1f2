/* kernels.c - the kernels of every way of storing. */
#include "relax/kernels.h"

#include <float.h>
#include <math.h>
#include <string.h>
#if defined(__F16C__) || defined(__AVX2__)
#include <immintrin.h>
#endif

#include "relax/exact.h"
#include "relax/narrow.h"

#define TRS_TEMPLATE "relax/store_tmpl.c"
#include "relax/instantiate.h"
#define TRS_TEMPLATE "relax/sweep_tmpl.c"
#include "relax/instantiate.h"

const trs_relax_kernels *trs_relax_kernels_of(trs_relax_store store) {
  static const trs_relax_kernels *const table[] = {[TRS_RELAX_MIXED] = &kernels_mixed,
                                                   [TRS_RELAX_DOUBLE] = &kernels_double,
                                                   [TRS_RELAX_FLOAT] = &kernels_float,
                                                   [TRS_RELAX_HALF] = &kernels_half,
                                                   [TRS_RELAX_BFLOAT] = &kernels_bfloat};
  return table[store];
}
