/* strips.h - the values of a triangle of doubles as floats, and its rows in strips of four: a copy
 * of the triangle for sweeps with one right-hand side. */
#ifndef TRS_SOLVE_SERIAL_STRIPS_H
#define TRS_SOLVE_SERIAL_STRIPS_H

#include "analysis/system.h"

enum { TRS_STRIP = 4 }; /* rows, which are the lanes of a vector of doubles */

/* The triangle in the order of the sweep: a head, then what it announces, and so on.
 *   A head of at least 0 is 2 slots + chained, of a strip: rows that follow each other, each with
 * entries as far from the diagonal as the others' (zero where a row has none).  A slot has the
 * column of the strip's lowest row in index, and four floats in value, by ascending rows; the
 * farthest slot is first.  Slots lie outside of the strip's own columns.  chained: four floats for
 * the entries beside the diagonal follow.
 *   A head below 0 is minus a number of rows.  Each has its number of fours of entries, and their
 * columns, in index, and as many floats in value; the entry that is the farthest from the diagonal
 * is first.  The last four is filled up with zeros, at the column of the last entry: without that,
 * processors would guess the end of most short rows wrong. */
typedef struct trs_strips {
  int64_t n, nindex, nvalue;
  int32_t *index;
  float *value;
  double *inverse;    /* n: the reciprocals of the diagonal; NULL: a unit diagonal */
  bool lower, scales; /* scales: as trs_system_scales */
  int64_t in_strips;  /* rows */
} trs_strips;

/* Of a system by rows, in host memory.  O(n + nnz). */
trs_status trs_strips_create(trs_strips **strips, const trs_system *S);
void trs_strips_destroy(trs_strips *strips);
int64_t trs_strips_bytes(const trs_strips *strips);

/* The values of S, of the same pattern.  TRS_ERROR_UNSUPPORTED names a row that floats cannot
 * hold. */
trs_status trs_strips_fill(trs_strips *strips, const trs_system *S, trs_team *team);

#endif
