/* nodes.h - rows that share their pattern, as the unknowns of a node of a mesh do, as one row of
 * the levels: each of them needs the row before it and what that row needs.  A thread solves them
 * one after the other, so that three unknowns per node take one level instead of three. */
#ifndef TRS_SOLVE_THREADS_NODES_H
#define TRS_SOLVE_THREADS_NODES_H

#include "analysis/levels.h"

typedef struct trs_nodes {
  uint8_t *offset;   /* n: of each row in its node; NULL: few rows share their patterns */
  int widest;        /* rows of the largest node; 1 without nodes */
  trs_levels levels; /* of nodes: all rows of a node have its level */
} trs_nodes;

/* For op(T) stored by rows; by columns no nodes are found.  O(n + nnz). */
trs_status trs_nodes_create(trs_nodes *nodes, const trs_system *S);
void trs_nodes_destroy(trs_nodes *nodes);

#endif
