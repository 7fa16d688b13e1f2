/* kernels.c - block operations on a CPU.  For one right-hand side, a tile's rows are the lanes of a
 * vector.  For several, the right-hand sides are the lanes, and a few rows or columns of a panel
 * are processed together. */
#include "solve/grid3d/ops.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Vectors have the processor's size, because gcc keeps larger ones in memory.  Registers hold the
 * sums of this many vectors of right-hand sides, for a quarter as many rows of a panel as the
 * processor has registers. */
#if defined(__AVX512F__)
enum { VECTOR_BYTES = 64, MOST_VECTORS = 2, REGISTERS = 32 };
#elif defined(__AVX__)
enum { VECTOR_BYTES = 32, MOST_VECTORS = 2, REGISTERS = 16 };
#else
enum { VECTOR_BYTES = 16, MOST_VECTORS = 2, REGISTERS = 16 };
#endif

/* Of right-hand sides between columns and rows. */
enum { ROWS_AT_ONCE = 8, GROUPS_AHEAD = 4, FEW_COLUMNS = 4 };

#define TRS_TEMPLATE "solve/grid3d/ops_tmpl.c"
#include "base/instantiate.h"

const trs_block_tables TRS_ISA_NAME(trs_block_tables) = {[TRS_FLOAT] = &TRS_ISA_NAME(ops_s),
                                                         [TRS_DOUBLE] = &TRS_ISA_NAME(ops_d),
                                                         [TRS_SCOMPLEX] = &TRS_ISA_NAME(ops_c),
                                                         [TRS_DCOMPLEX] = &TRS_ISA_NAME(ops_z)};
