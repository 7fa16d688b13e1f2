/* deal.h - slices dealt to the members of a group of GPUs that solve one system together.
 *
 * Levels are those of the whole system.  Every member solves its slices in level order, so no
 * slice waits for a later slice of its own member.  Positions are those of the whole system too: x
 * by position is one array, and every member holds the part that it solves and the part that it
 * needs.
 *
 * A rule says which slices a member gets.  The slices of a heavy block stay together.
 *   bands    each level in equal parts, in the order of the sweep: neighbours stay together;
 *   slabs    parts of the sweep with equal entries: a path enters each slab only once, for the
 *            slices are those of an outline with these slabs;
 *   graph    METIS on the graph of slices.
 *
 * The expected time of a solve is the sum of three terms: the longest path, in which a step
 * between members costs more than one within; the fullest member of each level; the pushes. */
#ifndef TRS_ANALYSIS_DEAL_H
#define TRS_ANALYSIS_DEAL_H

#include "analysis/slice.h"

enum { TRS_CLEAR_ROWS = 256 }; /* positions that are cleared together after a solve */

typedef enum trs_deal_rule {
  TRS_DEAL_AUTO,
  TRS_DEAL_BANDS,
  TRS_DEAL_SLABS,
  TRS_DEAL_GRAPH
} trs_deal_rule;

/* "auto", "bands", ..., NULL. */
extern const char *const trs_deal_rules[];

typedef struct trs_deal {
  int32_t members;
  trs_deal_rule rule;             /* never auto */
  int32_t *owner;                 /* nslices: member of each slice */
  uint32_t *mask;                 /* n: the other members that need the row at a position, one bit
                                     each; NULL if the deal was made on a GPU */
  uint32_t *group_mask;           /* of each group of TRS_CLEAR_ROWS positions: the bits of all */
  int64_t rows[TRS_MOST_MEMBERS]; /* per member */
  int64_t pushes;                 /* values sent per solve */
  double balance;                 /* entries of the fullest member over the mean */
  double level_balance;           /* sum over the levels of the fullest member's entries, over the
                                     sum of the means */
  int32_t peer_steps;             /* steps between members on the longest path; the most there can
                                     be, if no walk has found it */
  double seconds;                 /* expected time of a solve */
  double alone;                   /* the same for one member with all slices */
} trs_deal;

/* The launch and the steps from level to level of one GPU: no deal of these levels is faster. */
double trs_deal_level_seconds(const trs_gpu_costs *gpu, int32_t nlevels);

/* The slabs' bounds in the sweep, cut[members + 1], for trs_outline_create: then no slice
 * has rows of two slabs. */
void trs_deal_slabs(int64_t *cut, const trs_system *S, int32_t members);

/* S is stored by rows.  s and outline: its slices, without idx, val and inverse.  auto tries
 * bands and, where it is fast, graph.  alone: measured seconds of one GPU, or 0.  gpu: the same in
 * all processes of a group.  O(nnz) per rule that is tried, by the team. */
trs_status trs_deal_create(trs_deal *deal, const trs_system *S, const trs_slices *s,
                           const trs_outline *outline, int32_t members, trs_deal_rule rule,
                           double alone, const trs_gpu_costs *gpu, trs_team *team);
/* The owners of all slices by bands, owner[nslices].  O(nslices). */
void trs_deal_bands(int32_t *owner, const trs_slices *s, int32_t members);
/* Judges a deal that was made elsewhere: sets rows, balance, level_balance, peer_steps, seconds and
 * alone of a deal that has members, rule, owner and pushes.  No walk finds the longest path: but
 * for slabs, it may go to another member at every level.  O(nslices). */
void trs_deal_judge(trs_deal *deal, const trs_slices *s, double alone, const trs_gpu_costs *gpu);
void trs_deal_destroy(trs_deal *deal);

/* deal_graph.c: owners of the slices that are not parts, by METIS.  TRS_ERROR_UNSUPPORTED if this
 * build has no METIS, or if the graph has more than `most` edges. */
trs_status trs_deal_graph(int32_t *owner, const trs_system *S, const trs_slices *s,
                          const int32_t *position, int32_t members, int64_t most);

/* The slices of one member. */
typedef struct trs_deal_share {
  int32_t nslices, nchunks, nparts, nclear;
  int64_t entries, inverses, rows;
  trs_slice *slice; /* offsets and parts are counted within the share; first is a position of the
                       whole system; early_poll is a position of this member, or -1 */
  int32_t *number;  /* nslices: number of each among all slices */
  int32_t *chunk;   /* nchunks + 1 */
  int32_t *clear;   /* nclear: positions [k TRS_CLEAR_ROWS, (k + 1) TRS_CLEAR_ROWS) hold values
                       that this member waits for */
} trs_deal_share;

trs_status trs_deal_share_create(trs_deal_share *share, const trs_deal *deal, const trs_slices *s,
                                 int32_t member, int32_t early_poll);
/* Finds share->clear anew without the slices marked in spared[nslices]: no slice of this member
 * waits for their rows. */
trs_status trs_deal_share_clear(trs_deal_share *share, const trs_deal *deal, const trs_slices *s,
                                int32_t member, const uint8_t *spared);
void trs_deal_share_destroy(trs_deal_share *share);

#endif
