/* ops.c - block operations on a CPU.  One right-hand side: a tile's rows are the lanes of a vector.
 * More: right-hand sides are, and a few rows or columns of a panel go through together. */
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

const trs_block_ops *trs_block_ops_of(trs_scalar scalar) {
  static const trs_block_ops *const ops_of[] = TRS_TABLE(&ops);
  return ops_of[scalar];
}
