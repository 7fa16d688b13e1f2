/* ranks.c - what distributed solves need of their ranks beyond plain messages. */
#include "comm/ranks.h"

#include <string.h>

trs_status trs_ranks_send(trs_ranks *ranks, int to, int tag, const void *data, int64_t bytes) {
  const char *from = data;
  do {
    int64_t piece = bytes < ranks->chunk ? bytes : ranks->chunk;
    TRS_TRY(ranks->transport->send(ranks, to, tag, from, piece));
    ranks->messages++;
    ranks->bytes += piece;
    from += piece;
    bytes -= piece;
  } while (bytes > 0);
  return TRS_SUCCESS;
}

trs_status trs_ranks_receive(trs_ranks *ranks, int from, int tag, void *data, int64_t bytes) {
  char *to = data;
  do {
    int64_t piece = bytes < ranks->chunk ? bytes : ranks->chunk, got;
    TRS_TRY(ranks->transport->receive(ranks, from, tag, to, piece, &got));
    if (got != piece)
      return trs_fail(TRS_ERROR_INTERNAL, -1, "rank %d sent %lld bytes instead of %lld", from,
                      (long long)got, (long long)piece);
    to += piece;
    bytes -= piece;
  } while (bytes > 0);
  return TRS_SUCCESS;
}

trs_status trs_ranks_receive_any(trs_ranks *ranks, int tag, void *data, int64_t capacity,
                                 int64_t *bytes) {
  return ranks->transport->receive(ranks, -1, tag, data, capacity, bytes);
}

trs_status trs_ranks_finish(trs_ranks *ranks) { return ranks->transport->finish(ranks); }

trs_status trs_ranks_reserve(trs_ranks *ranks, int64_t sends) {
  return ranks->transport->reserve(ranks, sends);
}

void trs_ranks_close(trs_ranks *ranks) {
  if (ranks && ranks->transport) ranks->transport->close(ranks);
}

/* ---- Trees. ---- */

trs_tree_place trs_tree_at(trs_tree_shape shape, int place, int count) {
  trs_tree_place at = {.parent = -1};
  int64_t first = 2 * (int64_t)place + 1, most = 2;
  if (shape == TRS_TREE_FLAT) {
    first = place ? count : 1;
    most = count;
  }
  if (place) at.parent = shape == TRS_TREE_FLAT ? 0 : (place - 1) / 2;
  if (first >= count) return at;
  at.first_child = (int)first;
  at.nchildren = (int)(count - first < most ? count - first : most);
  return at;
}

int trs_pair_steps(int size) {
  int steps = 0;
  while ((1 << steps) < size) steps++;
  return steps;
}

trs_status trs_ranks_exchange(trs_ranks *ranks, int partner, const void *out, void *in,
                              int64_t bytes) {
  TRS_TRY(trs_ranks_send(ranks, partner, TRS_TAG_PAIR, out, bytes));
  TRS_TRY(trs_ranks_receive(ranks, partner, TRS_TAG_PAIR, in, bytes));
  return trs_ranks_finish(ranks);
}

/* ---- Agreement. ---- */

typedef struct verdict {
  int32_t rank; /* that failed; -1: none */
  trs_failure failure;
} verdict;

static void own_verdict(verdict *mine, const trs_ranks *ranks, trs_status status) {
  memset(mine, 0, sizeof *mine);
  mine->rank = -1;
  if (!status) return;
  mine->rank = ranks->rank;
  trs_failure_get(&mine->failure);
  mine->failure.status = status;
}

/* What the subtree below has found, to the parent; what all have found, from it. */
static trs_status settle(trs_ranks *ranks, verdict *mine, int tag) {
  trs_tree_place at = trs_tree_at(TRS_TREE_BINARY, ranks->rank, ranks->size);
  verdict other;
  for (int c = 0; c < at.nchildren; c++) {
    TRS_TRY(trs_ranks_receive(ranks, at.first_child + c, tag, &other, sizeof other));
    if (other.rank >= 0 && (mine->rank < 0 || other.rank < mine->rank)) *mine = other;
  }
  if (at.parent >= 0) {
    TRS_TRY(trs_ranks_send(ranks, at.parent, tag, mine, sizeof *mine));
    TRS_TRY(trs_ranks_finish(ranks));
    TRS_TRY(trs_ranks_receive(ranks, at.parent, tag, mine, sizeof *mine));
  }
  for (int c = 0; c < at.nchildren; c++)
    TRS_TRY(trs_ranks_send(ranks, at.first_child + c, tag, mine, sizeof *mine));
  return trs_ranks_finish(ranks);
}

trs_status trs_ranks_agree(trs_ranks *ranks, trs_status status) {
  verdict mine;
  if (ranks->size == 1) return status;
  own_verdict(&mine, ranks, status);
  TRS_TRY(settle(ranks, &mine, TRS_TAG_AGREE));
  if (mine.rank < 0) return TRS_SUCCESS;
  const char *said = mine.failure.message;
  if (!strncmp(said, "rank ", 5)) /* agreed on before */
    return trs_fail(mine.failure.status, mine.failure.row, "%s", said);
  return trs_fail(mine.failure.status, mine.failure.row, "rank %d: %s", (int)mine.rank, said);
}

trs_status trs_ranks_broadcast(trs_ranks *ranks, void *data, int64_t bytes) {
  trs_tree_place at = trs_tree_at(TRS_TREE_BINARY, ranks->rank, ranks->size);
  if (at.parent >= 0) TRS_TRY(trs_ranks_receive(ranks, at.parent, TRS_TAG_MOVE, data, bytes));
  for (int c = 0; c < at.nchildren; c++)
    TRS_TRY(trs_ranks_send(ranks, at.first_child + c, TRS_TAG_MOVE, data, bytes));
  return trs_ranks_finish(ranks);
}

trs_status trs_ranks_barrier(trs_ranks *ranks) {
  verdict nothing;
  own_verdict(&nothing, ranks, TRS_SUCCESS);
  return settle(ranks, &nothing, TRS_TAG_BARRIER);
}
