/* blocks.h - block matrices for the tests of relaxation. */
#ifndef TRS_TEST_BLOCKS_H
#define TRS_TEST_BLOCKS_H

#include "base/config.h"
#include <stdint.h>

#include "trireme.h"

/* Blocks by row in the caller's order, row-major; the diagonal block is anywhere in its row. */
typedef struct blocks {
  int64_t n, *ptr;
  int b;
  int32_t *idx;
  double *val;
} blocks;

/* About `each` blocks per row besides the diagonal block, which dominates its row by the factor. */
blocks blocks_random(int64_t n, int b, int64_t each, double dominance, uint64_t seed);
void blocks_free(blocks *A);

/* Options of creation and of sweeps that differ from variant to variant. */
trs_relax_options blocks_options(trs_store store, int variant);
trs_sweep_options blocks_sweeps(int variant);

/* Checks every block size with every store: matrices of `rows` block rows, or of 40 if blocks are
 * large; and matrices of 0 to 3 rows. */
typedef void blocks_check(const blocks *A, trs_store store, int variant);
void blocks_every_size_and_store(int64_t rows, blocks_check *check);
void blocks_at_the_edge(blocks_check *check);

/* The kernels of one GPU. */
enum { BLOCKS_VARIANTS = TRS_HAVE_PAPERS && TRS_HAVE_CUDA ? 12 : 2 };
extern const char *const blocks_variants[];

/* Creates, sweeps once and destroys. */
trs_status blocks_sweep_once(trs_context *context, const blocks *A);

/* The same matrix by entries; NULL: the message says why not. */
trs_matrix *blocks_matrix(const blocks *A, trs_scalar scalar, trs_format format);

#endif
