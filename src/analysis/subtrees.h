/* subtrees.h - supernodes distributed over threads: each thread has whole subtrees of the
 * elimination tree, which depend on no other thread, and all threads share the top of the tree
 * (subtree-to-subcube mapping, George, Liu, Ng 1989).
 *
 * The tree is that of the supernodes' graph without directions (Liu 1990), so supernodes are
 * neighbours only if one is the other's ancestor, whatever the triangle. */
#ifndef TRS_ANALYSIS_SUBTREES_H
#define TRS_ANALYSIS_SUBTREES_H

#include "analysis/panels.h"

typedef struct trs_subtrees {
  int threads;
  int64_t ntop;   /* supernodes of the top */
  int64_t nroots; /* subtrees */
  int32_t *node;  /* count: the supernodes of the top, then those of each thread; each ascending */
  int64_t *first; /* threads + 1: of each thread in node */
  double seconds; /* of a solve, estimated */
} trs_subtrees;

/* The estimated time of a solve by one thread: per supernode, per number in a list, per value. */
double trs_panels_seconds(const trs_panels *P);

/* For at most so many threads: the number and the top whose estimate is lowest.  O(n + blocks). */
trs_status trs_subtrees_create(trs_subtrees *s, const trs_panels *P, int threads);
void trs_subtrees_destroy(trs_subtrees *s);

/* For tests: the estimated cost of waits, times its usual one.  With 0 small systems have a top. */
extern double trs_subtrees_waits;

#endif
