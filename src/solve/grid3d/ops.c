/* ops.c - block operations for an element type and a level of instructions. */
#include "solve/grid3d/ops.h"

const trs_block_ops *trs_block_ops_of(trs_scalar scalar, trs_isa isa) {
  return (*TRS_ISA_OF(trs_block_tables, isa))[scalar];
}
