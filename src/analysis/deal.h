/* deal.h - slices dealt to the members of a group of GPUs that solve one system together.
 *
 * Levels are those of the whole system, so every member takes its slices in an order in which
 * nobody waits for what stands behind itself.  Positions stay those of the whole system too: x by
 * position is one array, of which every member holds what it solves and what it needs.
 *
 * A partition says who gets a slice (a heavy block's slices stay together):
 *   cyclic   round-robin within each level: perfect balance, many pushes;
 *   bands    each level in equal parts, in the order of the sweep: neighbours stay together;
 *   slabs    parts of the sweep with equal entries: a path crosses from one to the next only once;
 *   graph    METIS on the graph of slices.
 * What a solve will take with each is read off the longest path, where a step between members costs
 * more than one within, off the fullest member of every level, and off the pushes. */
#ifndef TRS_ANALYSIS_DEAL_H
#define TRS_ANALYSIS_DEAL_H

#include "analysis/slice.h"

enum {
  TRS_DEAL_MEMBERS = 32, /* at most: bits of a mask */
  TRS_CLEAR_ROWS = 256   /* positions that are emptied together after a solve */
};

typedef enum trs_partition {
  TRS_PARTITION_AUTO,
  TRS_PARTITION_CYCLIC,
  TRS_PARTITION_BANDS,
  TRS_PARTITION_SLABS,
  TRS_PARTITION_GRAPH
} trs_partition;

/* "auto", "cyclic", ..., NULL. */
extern const char *const trs_partition_names[];

typedef struct trs_deal {
  int32_t members;
  trs_partition partition;        /* the one taken */
  int32_t *owner;                 /* nslices: the member of each slice */
  uint32_t *mask;                 /* n: which members but its own need the row at a position */
  int64_t rows[TRS_DEAL_MEMBERS]; /* of each member */
  int64_t pushes;                 /* values sent in a solve */
  double balance;                 /* entries of the fullest member over the mean */
  double level_balance;           /* the same by levels: the fullest members' sum over the means' */
  int32_t peer_steps;             /* steps between members on the longest path */
  double seconds;                 /* expected of a solve */
  double alone;                   /* the same of one member that has all */
} trs_deal;

/* Where slabs begin, cut[members + 1]; for trs_outline_create_slabs, whose slices they then part
 * without any that has rows of two. */
void trs_deal_slabs(int64_t *cut, const trs_system *S, int32_t members);

/* S is stored by rows; s and outline: its slices, of which those arrays that were made with the
 * outline; alone: seconds that one GPU was seen to take, or 0.  O(nnz) for every partition looked
 * at, by the team. */
trs_status trs_deal_create(trs_deal *deal, const trs_system *S, const trs_slices *s,
                           const trs_outline *outline, int32_t members, trs_partition partition,
                           double alone, trs_team *team);
void trs_deal_destroy(trs_deal *deal);

/* deal_graph.c: the slices' members by METIS, of slices that are no parts.  TRS_ERROR_UNSUPPORTED
 * where METIS is not in this build, or the graph, of at most that many edges, too large for it. */
trs_status trs_deal_graph(int32_t *owner, const trs_system *S, const trs_slices *s,
                          const int32_t *position, int32_t members, int64_t most);

/* What one member gets. */
typedef struct trs_deal_share {
  int32_t nslices, nchunks, nparts, nclear;
  int64_t entries, inverses, rows;
  trs_slice *slice; /* offsets and parts are the member's own; first stays; early_poll is one of its
                       own rows, or -1 */
  int32_t *number;  /* nslices: which of all slices each is */
  int32_t *chunk;   /* nchunks + 1 */
  int32_t *clear;   /* nclear: positions [k TRS_CLEAR_ROWS, (k + 1) TRS_CLEAR_ROWS) hold what may be
                       waited for here */
} trs_deal_share;

trs_status trs_deal_share_create(trs_deal_share *share, const trs_deal *deal, const trs_slices *s,
                                 int32_t member, int32_t early_poll);
/* Leaves out of what is emptied the rows of slices whose mark in spared[nslices] is set: nobody at
 * home waits for them. */
trs_status trs_deal_share_clear(trs_deal_share *share, const trs_deal *deal, const trs_slices *s,
                                int32_t member, const uint8_t *spared);
void trs_deal_share_destroy(trs_deal_share *share);

#endif
