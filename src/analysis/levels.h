/* levels.h - level sets and in-degrees of a triangular pattern.
 *
 * Level of row i = 0 if it depends on no other row, else 1 + the highest level it depends on; rows
 * of one level are independent of each other.
 * Source: Anderson & Saad 1989; L17 section 2.1.2; X20 section II. */
#ifndef TRS_ANALYSIS_LEVELS_H
#define TRS_ANALYSIS_LEVELS_H

#include "analysis/system.h"

typedef struct trs_levels {
  int64_t n;
  int32_t count;    /* levels */
  int32_t *level;   /* n: level of each row */
  int64_t *ptr;     /* count + 1: rows before each level, in level order */
  int64_t *entries; /* count: off-diagonal entries in the rows of each level */
} trs_levels;

/* level[n]: of each row.  Returns the number of levels. */
int32_t trs_levels_find(const trs_system *S, int32_t *level);

/* O(n + nnz). */
trs_status trs_levels_create(trs_levels *levels, const trs_system *S);
void trs_levels_destroy(trs_levels *levels);

/* Rows in the smallest and largest level; 0 for an empty system. */
void trs_levels_extremes(const trs_levels *levels, int64_t *smallest, int64_t *largest);

/* in_degree[n]: the number of rows that each row depends on (the preprocessing of L17's Algorithm
 * 3). */
void trs_in_degrees(const trs_system *S, int32_t *in_degree);

#endif
