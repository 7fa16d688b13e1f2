/* kernels.c - block operations on a CPU.  One right-hand side: a tile's rows are the lanes of a
 * vector. More: right-hand sides are, and a few rows or columns of a panel go through together. */
#include "solve/grid3d/ops.h"

#include <math.h>
#include <string.h>

/* Vectors of the processor's own size: gcc keeps larger ones in memory.  Sums are held in
 * registers, for so many vectors of right-hand sides and a quarter of the registers' rows of a
 * panel. */
#if defined(__AVX512F__)
enum { VECTOR_BYTES = 64, MOST_VECTORS = 2, REGISTERS = 32 };
#elif defined(__AVX__)
enum { VECTOR_BYTES = 32, MOST_VECTORS = 2, REGISTERS = 16 };
#else
enum { VECTOR_BYTES = 16, MOST_VECTORS = 2, REGISTERS = 16 };
#endif

#define TRS_TEMPLATE "solve/grid3d/ops_tmpl.c"
#include "base/instantiate.h"

const trs_block_tables TRS_ISA_NAME(trs_block_tables) = {[TRS_FLOAT] = &TRS_ISA_NAME(ops_s),
                                                         [TRS_DOUBLE] = &TRS_ISA_NAME(ops_d),
                                                         [TRS_SCOMPLEX] = &TRS_ISA_NAME(ops_c),
                                                         [TRS_DCOMPLEX] = &TRS_ISA_NAME(ops_z)};
