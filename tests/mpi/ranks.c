/* ranks.c - src/comm: trees and pairs for all small sizes; messages in pieces and from any rank;
 * agreement when every rank, and every two ranks, fail; reductions and gathers.  Run by mpirun with
 * any number of ranks. */
#include "comm/ranks_mpi.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "mpi/verdict.h"

static trs_ranks ranks;

/* Every place except the root is the child of one parent, which precedes it. */
static int tree_is_whole(trs_tree_shape shape, int count) {
  int seen[128] = {0}, depth[128] = {0}, deepest = 0;
  for (int p = 0; p < count; p++) {
    trs_tree_place at = trs_tree_at(shape, p, count);
    if ((at.parent < 0) != (p == 0)) return 0;
    if (p && !seen[p]) return 0;
    if (shape == TRS_TREE_BINARY && at.nchildren > 2) return 0;
    for (int c = at.first_child; c < at.first_child + at.nchildren; c++) {
      if (c <= p || c >= count || trs_tree_at(shape, c, count).parent != p) return 0;
      seen[c]++;
      depth[c] = depth[p] + 1;
      deepest = depth[c];
    }
  }
  for (int p = 1; p < count; p++)
    if (seen[p] != 1) return 0;
  int most = 0;
  while ((2 << most) - 1 < count) most++;
  return deepest <= (shape == TRS_TREE_FLAT ? 1 : most);
}

/* After step k every place has received from its aligned run of 2^(k+1) places, once from each. */
static int pairs_are_whole(int count) {
  uint64_t heard[64], next[64] = {0};
  for (int p = 0; p < count; p++) heard[p] = UINT64_C(1) << p;
  for (int k = 0; k < trs_pair_steps(count); k++) {
    for (int p = 0; p < count; p++) {
      uint64_t other = heard[trs_pair_partner(p, k)];
      if (other & heard[p]) return 0;
      next[p] = heard[p] | other;
    }
    memcpy(heard, next, sizeof heard);
    for (int p = 0; p < count; p++) {
      int run = 2 << k, first = p / run * run;
      uint64_t whole = run == 64 ? ~UINT64_C(0) : ((UINT64_C(1) << run) - 1) << first;
      if (heard[p] != whole) return 0;
    }
  }
  return 1;
}

static void test_trees(void) {
  int good = 1;
  for (int count = 1; count <= 128; count++)
    good &= tree_is_whole(TRS_TREE_BINARY, count) & tree_is_whole(TRS_TREE_FLAT, count);
  say("trees of up to 128 places", good);
  good = 1;
  for (int count = 1; count <= 64; count *= 2) good &= pairs_are_whole(count);
  say("pairs in lines of up to 64 places", good);
}

/* Around a ring, in pieces of 7 bytes: lengths on both sides of every multiple. */
static int sends_pieces(void) {
  char out[64], in[64];
  int good = 1, to = (rank + 1) % size;
  int from = (rank + size - 1) % size;
  int64_t chunk = ranks.chunk;
  ranks.chunk = 7;
  for (int64_t bytes = 0; bytes <= 64; bytes++) {
    for (int i = 0; i < 64; i++) out[i] = (char)(rank + i), in[i] = -1;
    good &= !trs_ranks_send(&ranks, to, TRS_TAG_LAST, out, bytes);
    good &= !trs_ranks_receive(&ranks, from, TRS_TAG_LAST, in, bytes);
    good &= !trs_ranks_finish(&ranks);
    for (int i = 0; i < 64; i++) good &= in[i] == (i < bytes ? (char)(from + i) : -1);
  }
  ranks.chunk = chunk;
  return good;
}

/* All ranks send to rank 0, which receives in the order of arrival. */
static int receives_from_any_rank(void) {
  int64_t value = rank, sum = 0, bytes;
  if (rank) {
    if (trs_ranks_send(&ranks, 0, TRS_TAG_FREE, &value, sizeof value)) return 0;
    return !trs_ranks_finish(&ranks);
  }
  for (int r = 1; r < size; r++) {
    char room[100];
    if (trs_ranks_receive_any(&ranks, TRS_TAG_FREE, room, sizeof room, &bytes)) return 0;
    if (bytes != sizeof value) return 0;
    memcpy(&value, room, sizeof value);
    sum += value;
  }
  return sum == (int64_t)size * (size - 1) / 2;
}

static int agrees(int first, int second) {
  char words[64];
  trs_status status = TRS_SUCCESS;
  if (rank == first || rank == second)
    status = trs_fail(TRS_ERROR_ZERO_PIVOT, 40 + rank, "pivot of %d", rank);
  status = trs_ranks_agree(&ranks, status);
  if (first == size) return status == TRS_SUCCESS;
  snprintf(words, sizeof words, "rank %d: pivot of %d", first, first);
  const trs_error *error = trs_last_error();
  if (size == 1) return status == TRS_ERROR_ZERO_PIVOT;
  return status == TRS_ERROR_ZERO_PIVOT && error->row == 40 + first &&
         !strcmp(error->message, words);
}

static void test_messages(void) {
  say("messages in pieces", sends_pieces());
  say("messages from any rank", receives_from_any_rank());
  int good = 1;
  for (int second = 0; second <= size; second++)
    for (int first = 0; first <= second; first++) good &= agrees(first, second);
  say("agreement", good);
  for (int k = 0; k < 100; k++) good &= !trs_ranks_barrier(&ranks);
  say("barriers", good);
  char a[32] = "", b[32];
  int partner = trs_pair_partner(rank, 0);
  snprintf(a, sizeof a, "from %d", rank);
  if (partner < size) {
    good &= !trs_ranks_exchange(&ranks, partner, a, b, sizeof a);
    snprintf(a, sizeof a, "from %d", partner);
    good &= !strcmp(a, b);
  }
  say("exchange", good);
}

/* So many elements that they are sent in several parts. */
static int reduces(void) {
  enum { COUNT = 300 };
  int64_t sums[COUNT];
  double largest[COUNT];
  int8_t flags[3 * COUNT];
  int good = 1;
  for (int k = 0; k < COUNT; k++) sums[k] = k + rank;
  for (int k = 0; k < COUNT; k++) largest[k] = (rank + k) % size;
  largest[7] = rank == size - 1 ? NAN : 1;
  for (int k = 0; k < 3 * COUNT; k++) flags[k] = k % size == rank && k % 2;
  good &= !trs_ranks_reduce(&ranks, sums, COUNT, sizeof *sums, trs_join_sums);
  good &= !trs_ranks_reduce(&ranks, largest, COUNT, sizeof *largest, trs_join_largest);
  good &= !trs_ranks_reduce(&ranks, flags, 3 * COUNT, 1, trs_join_flags);
  good &= !trs_ranks_reduce(&ranks, NULL, 0, 1, trs_join_flags);
  for (int k = 0; k < COUNT; k++) good &= sums[k] == (int64_t)k * size + size * (size - 1) / 2;
  for (int k = 0; k < COUNT; k++) good &= k == 7 ? isnan(largest[k]) : largest[k] == size - 1;
  for (int k = 0; k < 3 * COUNT; k++) good &= flags[k] == k % 2;
  return good;
}

/* Rank r has r elements, in place or not. */
static int gathers_pieces(bool in_place) {
  int64_t count[64], all[64 * 64] = {0}, mine[64];
  int good = 1, me = rank, at = me * (me - 1) / 2;
  for (int r = 0; r < size; r++) count[r] = r;
  for (int k = 0; k < me; k++) (in_place ? all + at : mine)[k] = 100 * me + k;
  good &= !trs_ranks_pieces(&ranks, in_place ? all + at : mine, all, count, sizeof *all);
  for (int r = 0, i = 0; r < size; r++)
    for (int k = 0; k < r; k++) good &= all[i++] == 100 * r + k;
  return good;
}

static void test_collectives(void) {
  say("reductions", reduces());
  say("pieces of all", gathers_pieces(false) & gathers_pieces(true));
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  if (trs_ranks_open_mpi(&ranks, MPI_COMM_WORLD, 0)) MPI_Abort(MPI_COMM_WORLD, 1);
  test_trees();
  test_messages();
  test_collectives();
  trs_ranks_close(&ranks);
  MPI_Finalize();
  return failures != 0;
}
