/* kernels.c - block operations on a CPU.  One right-hand side: a tile's rows are the lanes of a
 * vector. More: right-hand sides are, and a few rows or columns of a panel go through together. */
#include "solve/grid3d/ops.h"

#include <math.h>
#include <string.h>

/* Sums held in registers: so many vectors of right-hand sides, for a quarter of the registers'
 * rows of a panel at a time (of 64 bytes, or pairs of 32). */
#ifdef __AVX512F__
enum { MOST_VECTORS = 2, REGISTERS = 32 };
#else
enum { MOST_VECTORS = 1, REGISTERS = 16 };
#endif

#define TRS_TEMPLATE "solve/grid3d/ops_tmpl.c"
#include "base/instantiate.h"

const trs_block_tables TRS_ISA_NAME(trs_block_tables) = {
    &TRS_ISA_NAME(ops_s), &TRS_ISA_NAME(ops_d), &TRS_ISA_NAME(ops_c), &TRS_ISA_NAME(ops_z)};
