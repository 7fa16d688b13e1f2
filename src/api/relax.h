/* relax.h - relaxation's arguments, of trs_relax_*, trs_update and trs_mpi_relax_*. */
#ifndef TRS_API_RELAX_H
#define TRS_API_RELAX_H

#include "relax/relaxation.h"
#include "relax/triangle.h"

/* The caller's options, checked. */
TRS_API trs_status trs_relax_take_options(trs_relax_options *own, const trs_context *ctx,
                                          int block_size, const trs_relax_options *options);

/* Blocks of trs_blocks_take as a source, checked.  The caller frees taken, also after a failure. */
TRS_API trs_status trs_relax_take_blocks(trs_block_source *source, void *taken[2],
                                         const trs_blocks *blocks);

/* A matrix by rows as a source; *by_rows is the converted copy, or NULL. */
TRS_API trs_status trs_relax_take_matrix(trs_block_source *source, trs_matrix **by_rows,
                                         const trs_matrix *A, int block_size);

/* Fails unless A has as many rows, of that type. */
TRS_API trs_status trs_relax_check_like(const trs_matrix *A, trs_scalar scalar, int64_t rows);

/* trs_update of relaxation. */
trs_status trs_relax_refresh(trs_plan *plan, const trs_matrix *A);

/* Checks the options and sets those that the caller left open. */
TRS_API trs_status trs_relax_complete(trs_sweep_options *options, const trs_sweep_options *given);

#endif
