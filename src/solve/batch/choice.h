/* choice.h - how a batch is solved on a GPU. */
#ifndef TRS_SOLVE_BATCH_CHOICE_H
#define TRS_SOLVE_BATCH_CHOICE_H

#include "solve/batch/substitution.h"

typedef struct trs_batch_case {
  const trs_system *system;
  const trs_device_facts *facts;
  int64_t count, nrhs;
} trs_batch_case;

typedef struct trs_batch_pattern {
  trs_batch_rows rows;
  trs_batch_substitution substitution; /* of a way with a depth */
} trs_batch_pattern;

/* The way of least time by a model, or what trs_batch_prefer asked for, and its pattern, to be
 * dropped whatever comes back. */
trs_status trs_batch_choose(trs_batch_way *way, trs_batch_pattern *pattern,
                            const trs_batch_case *about);

/* A way without substitution for the same groups. */
trs_status trs_batch_choose_rest(trs_batch_way *way, trs_batch_pattern *pattern,
                                 const trs_batch_case *about, const trs_batch_way *main);
void trs_batch_pattern_drop(trs_batch_pattern *pattern);

#endif
