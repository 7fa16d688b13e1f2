/* group.h - relaxation on several GPUs, a domain each, as the rest of relax/ sees it. */
#ifndef TRS_RELAX_CUDA_GROUP_H
#define TRS_RELAX_CUDA_GROUP_H

#include "relax/domains.h"

typedef struct trs_relax_group trs_relax_group;

/* Makes R->group on the context's GPUs; R has the colours of the whole, system the pattern.  Values
 * come with the first update. */
trs_status trs_relax_group_create(trs_relaxation *R, trs_block_system *system,
                                  const trs_relax_options *options);
trs_status trs_relax_group_update(trs_relaxation *R, const trs_block_source *source);
trs_status trs_relax_group_set_variant(trs_relaxation *R, const char *name);
trs_status trs_relax_group_sweep(trs_relaxation *R, const trs_rhs *rhs,
                                 const trs_sweep_options *options);
trs_status trs_relax_group_wait(trs_relaxation *R);
/* A stream of the first member's GPU. */
void trs_relax_group_set_stream(trs_relaxation *R, void *stream);
trs_stream trs_relax_group_stream(const trs_relaxation *R);
const char *trs_relax_group_variant(const trs_relaxation *R);
/* How rows were dealt, and to how many. */
const char *trs_relax_group_partition(const trs_relaxation *R, int *members);
int64_t trs_relax_group_bytes(const trs_relaxation *R); /* of all GPUs */
void trs_relax_group_free(trs_relaxation *R);           /* R->group may be NULL */

/* Nanoseconds a wait may last; for the tests. */
extern uint64_t trs_relax_group_wait_limit;

#endif
