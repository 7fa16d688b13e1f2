/* substitution.h - fewer levels in a batch: the joint system of analysis/substitute.h as a pattern,
 * and the operations that give its values, for all systems alike. */
#ifndef TRS_SOLVE_BATCH_SUBSTITUTION_H
#define TRS_SOLVE_BATCH_SUBSTITUTION_H

#include "solve/batch/pattern.h"

/* Host arrays.  Rows are those of op(T) in the order of the sweep; places are entries of the
 * program, and before trs_batch_substitution_place their numbers in trs_batch_rows.id. */
typedef struct trs_batch_substitution {
  int64_t n;
  int32_t steps;       /* a row substitutes rows of earlier steps */
  int64_t *step_entry; /* steps + 1: first entry of `to` */
  int64_t *step_row;   /* steps + 1: first of `row` */
  int32_t *row;        /* n */

  /* Entry to[e] of M becomes itself minus the sum of (a * inverse) * m. */
  int64_t entries, products;
  int32_t *to;
  int64_t *ptr; /* entries + 1 */
  int32_t *a, *inverse, *m;

  /* For the growth: the entries of L by rows and by columns, those of M by rows. */
  int64_t *l_ptr, *column_ptr, *m_ptr; /* n + 1 each */
  int32_t *l_at, *l_col;               /* l_col: ~column for an entry of D */
  int32_t *column_at, *column_row;
  int32_t *m_at, *m_col;
  int32_t *diagonal; /* n */
} trs_batch_substitution;

/* Replaces the rows of op(T) by those of the joint system with bands of up to `depth` levels.  The
 * structure depends on the pattern alone: no row is guarded. */
trs_status trs_batch_substitute(trs_batch_rows *rows, trs_batch_substitution *s, int32_t depth,
                                const trs_gpu_costs *gpu);
void trs_batch_substitution_place(trs_batch_substitution *s, const trs_batch_program *program);
void trs_batch_substitution_drop(trs_batch_substitution *s);

#endif
