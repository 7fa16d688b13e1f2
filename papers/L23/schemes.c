/* schemes.c - the orders of sweeps and exchanges that repeat L23: Algorithm 2 between the sweeps of
 * Algorithm 1, and the baseline of section 2.2.
 *
 * The baseline goes level by level over the separator tree; pairs of grids exchange data between
 * levels, and the number of active grids halves per level.  L23 solves a node's diagonal block
 * before it multiplies the blocks below, in two sweeps; with look-ahead a level is one sweep, which
 * multiplies while it waits. */
#include <string.h>

#include "base/timer.h"
#include "solve/grid3d/grid3d.h"
#include "L23/schemes.h"

/* ---- Messages from one grid to another. ---- */

bool trs_crosses(int z, int step) { return z % (1 << step) == 0; }
bool trs_is_upper_grid(int z, int step) { return z >> step & 1; }

static int rank_on(const trs_rank_part *part, int grid) {
  return trs_rank_at(part->shape, part->x, part->y, grid);
}

static trs_status send(trs_grid_solver *s, const trs_slot_list *list, bool sums, int grid,
                       trs_exchange_times *times) {
  double begin = trs_seconds();
  int64_t bytes = trs_slots_bytes(list, &s->part);
  if (list->count == 0) return TRS_SUCCESS;
  trs_slots_pack(list, &s->part, sums, s->buffer);
  TRS_TRY(trs_ranks_send(s->ranks, rank_on(&s->part, grid), TRS_TAG_PAIR, s->buffer, bytes));
  TRS_TRY(trs_ranks_finish(s->ranks));
  times->messages++;
  times->bytes += bytes;
  times->seconds += trs_seconds() - begin;
  return TRS_SUCCESS;
}

static trs_status receive(trs_grid_solver *s, const trs_slot_list *list, bool sums, bool add,
                          int grid, trs_exchange_times *times) {
  double begin = trs_seconds();
  if (list->count == 0) return TRS_SUCCESS;
  TRS_TRY(trs_ranks_receive(s->ranks, rank_on(&s->part, grid), TRS_TAG_PAIR, s->buffer,
                            trs_slots_bytes(list, &s->part)));
  trs_slots_unpack(list, &s->part, sums, add, s->buffer);
  times->seconds += trs_seconds() - begin;
  return TRS_SUCCESS;
}

/* ---- Algorithm 2. ---- */

/* From the leaves to the root the upper grid of a pair sends and the lower adds, then x comes back:
 * 2 log Pz steps, and 2 (Pz - 1) messages of a place where pairwise exchange has Pz log Pz. */
static trs_status reduce_broadcast(trs_grid_solver *s) {
  const int z = s->part.z, steps = trs_pair_steps(s->part.shape.z);
  trs_exchange_times *times = &s->times.exchange[0];
  for (int k = 0; k < 2 * steps; k++) {
    const bool back = k >= steps;
    const int step = back ? 2 * steps - 1 - k : k, grid = trs_pair_partner(z, step);
    if (!trs_crosses(z, step)) continue;
    TRS_TRY(trs_is_upper_grid(z, step) != back
                ? send(s, &s->shared[step], false, grid, times)
                : receive(s, &s->shared[step], false, !back, grid, times));
  }
  return TRS_SUCCESS;
}

static trs_status run_algorithm_2(trs_grid_solver *s) {
  TRS_TRY(trs_grid_solver_sweep(s, TRS_L, 0));
  TRS_TRY(reduce_broadcast(s));
  trs_grid_solver_turn(s);
  return trs_grid_solver_sweep(s, TRS_U, 0);
}

/* ---- The baseline. ---- */

/* The blocks of a node that a sweep takes. */
typedef enum node_blocks { ALL, DIAGONAL, OTHERS } node_blocks;

/* The node of this height on the first of its grids; other grids have none.  In the L-solve its
 * columns add to all rows above, and all levels below have already added to it; in the U-solve all
 * levels above have added to it. */
static trs_roles roles_of_level(int z, bool upper, int height, node_blocks blocks) {
  trs_roles role = {{0}, {0}};
  if (z % (1 << height)) return role;
  for (int h = 0; h < TRS_MOST_HEIGHT; h++) {
    bool above = h >= height;
    if (blocks != OTHERS) {
      if (!upper) role.elsewhere[h] = TRS_ROLE_ADDS;
      if (!upper || above) role.here[h] = TRS_ROLE_ADDS;
    }
    if (blocks != DIAGONAL && above) role.here[h] |= upper ? TRS_ROLE_COLUMN : TRS_ROLE_ROW;
  }
  role.here[height] = blocks != OTHERS ? TRS_ROLE_ALL : upper ? TRS_ROLE_ROW : TRS_ROLE_COLUMN;
  return role;
}

static trs_roles roles_with_lookahead(int z, bool upper, int phase) {
  return roles_of_level(z, upper, phase, ALL);
}
static trs_roles roles_without(int z, bool upper, int phase) {
  return roles_of_level(z, upper, phase / 2, phase % 2 ? OTHERS : DIAGONAL);
}
static int phases_with_lookahead(int levels) { return levels + 1; }
static int phases_without(int levels) { return 2 * (levels + 1); }

/* Marks the sums of this place (x, y) to which columns solved on the 2^step grids from `from` on
 * add, in rows that more than these grids share. */
static void mark_sums(int8_t *marked, const trs_rank_part *part, int from, int step) {
  const trs_grid_layout *l = part->layout;
  const trs_grid_blocks *blocks = &l->blocks[0];
  for (int64_t K = 0; K < l->count; K++) {
    bool there = l->lo[K] >= from && l->lo[K] < from + (1 << step) && l->height[K] <= step;
    if (!there) continue;
    for (int64_t b = blocks->ptr[K]; b < blocks->ptr[K + 1]; b++) {
      int64_t I = blocks->row[b];
      if (l->height[I] > step && trs_place_of_block(part, TRS_L, I, K) == trs_place(part))
        marked[I] = 1;
    }
  }
}

static trs_status list_marked(trs_slot_list *list, const trs_rank_part *part, int from, int step) {
  const trs_grid_layout *l = part->layout;
  int8_t *marked;
  *list = (trs_slot_list){0};
  TRS_TRY(TRS_ALLOC(&list->K, l->count));
  TRS_TRY(TRS_ALLOC_ZERO(&marked, l->count));
  mark_sums(marked, part, from, step);
  for (int64_t I = 0; I < l->count; I++)
    if (marked[I]) trs_slot_list_append(list, part, I);
  trs_free(marked);
  return trs_realloc((void **)&list->K, list->count, sizeof *list->K);
}

static trs_status list_sums(trs_grid_solver *s) {
  const int z = s->part.z;
  for (int k = 0; k < s->layout.levels; k++)
    if (trs_crosses(z, k))
      TRS_TRY(list_marked(&s->sums[k], &s->part,
                          trs_is_upper_grid(z, k) ? z : trs_pair_partner(z, k), k));
  return TRS_SUCCESS;
}

/* One grid of a pair sends a list of slots, the other receives it: sums go down, x comes back. */
static trs_status pass_slots(trs_grid_solver *s, int step, bool sums) {
  const int z = s->part.z, partner = trs_pair_partner(z, step);
  const trs_slot_list *list = sums ? &s->sums[step] : &s->shared[step];
  trs_exchange_times *times = &s->times.exchange[!sums];
  if (!trs_crosses(z, step)) return TRS_SUCCESS;
  return trs_is_upper_grid(z, step) == sums ? send(s, list, sums, partner, times)
                                            : receive(s, list, sums, sums, partner, times);
}

/* L solves a node before it multiplies the blocks below, U the other way. */
static trs_status run_level(trs_grid_solver *s, bool upper, int height) {
  int each = s->nphases / (s->layout.levels + 1);
  for (int k = 0; k < each; k++)
    TRS_TRY(trs_grid_solver_sweep(s, upper, height * each + (upper ? each - 1 - k : k)));
  return TRS_SUCCESS;
}

static trs_status run_baseline(trs_grid_solver *s) {
  int levels = s->layout.levels;
  for (int h = 0; h <= levels; h++) {
    TRS_TRY(run_level(s, TRS_L, h));
    if (h < levels) TRS_TRY(pass_slots(s, h, true));
  }
  trs_grid_solver_turn(s);
  for (int h = levels; h >= 0; h--) {
    if (h < levels) TRS_TRY(pass_slots(s, h, false));
    TRS_TRY(run_level(s, TRS_U, h));
  }
  return TRS_SUCCESS;
}

/* ---- The schemes. ---- */

const trs_grid_scheme trs_l23_algorithm_2 = {.run = run_algorithm_2};

const trs_grid_scheme trs_l23_baseline = {.by_levels = true,
                                          .phases = phases_with_lookahead,
                                          .roles = roles_with_lookahead,
                                          .list_sums = list_sums,
                                          .run = run_baseline};

const trs_grid_scheme trs_l23_no_lookahead = {.by_levels = true,
                                              .phases = phases_without,
                                              .roles = roles_without,
                                              .list_sums = list_sums,
                                              .run = run_baseline};
