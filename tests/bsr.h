/* bsr.h - the description of a caller's blocks in one expression. */
#ifndef TRS_TESTS_BSR_H
#define TRS_TESTS_BSR_H

#include "trireme.h"

#define BSR(scalar_, nrows_, ncols_, size_, layout_, indexing_, ptr_, idx_, val_) \
  (&(trs_blocks){.struct_size = sizeof(trs_blocks),                               \
                 .scalar = (scalar_),                                             \
                 .block_size = (size_),                                           \
                 .nrows = (nrows_),                                               \
                 .ncols = (ncols_),                                               \
                 .layout = (layout_),                                             \
                 .indexing = (indexing_),                                         \
                 .ptr = (ptr_),                                                   \
                 .idx = (idx_),                                                   \
                 .val = (val_)})

#endif
