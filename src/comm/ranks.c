/* ranks.c - operations of the distributed solves on their ranks, beyond plain messages. */
#include "comm/ranks.h"

#include <stdio.h>
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

/* ---- Reductions and gathers. ---- */

/* Values joined in one step lie on the stack, so that only messages can fail. */
enum { JOINED_BYTES = 1024 };

static trs_status pass_down(trs_ranks *ranks, int tag, void *data, int64_t bytes) {
  trs_tree_place at = trs_tree_at(TRS_TREE_BINARY, ranks->rank, ranks->size);
  if (at.parent >= 0) TRS_TRY(trs_ranks_receive(ranks, at.parent, tag, data, bytes));
  for (int c = 0; c < at.nchildren; c++)
    TRS_TRY(trs_ranks_send(ranks, at.first_child + c, tag, data, bytes));
  return trs_ranks_finish(ranks);
}

/* Receives the children's values, joins them, sends the result to the parent, and receives the
 * result of all ranks from it. */
static trs_status reduce(trs_ranks *ranks, int tag, void *values, int64_t count, size_t size,
                         trs_join join, const void *what) {
  trs_tree_place at = trs_tree_at(TRS_TREE_BINARY, ranks->rank, ranks->size);
  _Alignas(16) char other[JOINED_BYTES];
  int64_t at_once = JOINED_BYTES / (int64_t)size, some;
  if (count == 0) return TRS_SUCCESS;
  for (int64_t first = 0; first < count; first += some) {
    char *mine = (char *)values + first * (int64_t)size;
    some = count - first < at_once ? count - first : at_once;
    for (int c = 0; c < at.nchildren; c++) {
      TRS_TRY(trs_ranks_receive(ranks, at.first_child + c, tag, other, some * (int64_t)size));
      join(mine, other, some, what);
    }
    if (at.parent < 0) continue;
    TRS_TRY(trs_ranks_send(ranks, at.parent, tag, mine, some * (int64_t)size));
    TRS_TRY(trs_ranks_finish(ranks));
  }
  return pass_down(ranks, tag, values, count * (int64_t)size);
}

trs_status trs_ranks_broadcast(trs_ranks *ranks, void *data, int64_t bytes) {
  return pass_down(ranks, TRS_TAG_MOVE, data, bytes);
}

trs_status trs_ranks_compare(trs_ranks *ranks, const void *own, int64_t bytes, bool *same) {
  char first[256];
  memcpy(first, own, (size_t)bytes);
  TRS_TRY(trs_ranks_broadcast(ranks, first, bytes));
  *same = memcmp(first, own, (size_t)bytes) == 0;
  return TRS_SUCCESS;
}

trs_status trs_ranks_reduce(trs_ranks *ranks, void *values, int64_t count, size_t size,
                            trs_join join) {
  return reduce(ranks, TRS_TAG_MOVE, values, count, size, join, NULL);
}

void trs_join_sums(void *mine, const void *other, int64_t count, const void *what) {
  (void)what;
  for (int64_t k = 0; k < count; k++) ((int64_t *)mine)[k] += ((const int64_t *)other)[k];
}

void trs_join_largest(void *mine, const void *other, int64_t count, const void *what) {
  (void)what;
  for (int64_t k = 0; k < count; k++) {
    double *a = (double *)mine + k, b = ((const double *)other)[k];
    if (!(b <= *a) && *a == *a) *a = b; /* keeps NaN */
  }
}

void trs_join_flags(void *mine, const void *other, int64_t count, const void *what) {
  (void)what;
  for (int64_t k = 0; k < count; k++) ((int8_t *)mine)[k] |= ((const int8_t *)other)[k];
}

/* If mine points into all, pieces are sent from there. */
trs_status trs_ranks_pieces(trs_ranks *ranks, const void *mine, void *all, const int64_t *count,
                            int64_t size) {
  int64_t at = 0;
  for (int r = 0; r < ranks->size; r++)
    if (r != ranks->rank && count[ranks->rank])
      TRS_TRY(trs_ranks_send(ranks, r, TRS_TAG_MOVE, mine, count[ranks->rank] * size));
  for (int r = 0; r < ranks->size; r++, at += count[r - 1]) {
    if (!count[r]) continue;
    if (r != ranks->rank)
      TRS_TRY(trs_ranks_receive(ranks, r, TRS_TAG_MOVE, (char *)all + at * size, count[r] * size));
    else
      memmove((char *)all + at * size, mine, (size_t)(count[r] * size));
  }
  return trs_ranks_finish(ranks);
}

/* ---- Agreement. ---- */

typedef struct verdict {
  int32_t rank;  /* the rank that failed or has another value; -1: none */
  int32_t giver; /* the rank whose value this is; -1: all failed */
  int64_t value;
  trs_failure failure;
} verdict;

static void own_verdict(verdict *mine, const trs_ranks *ranks, trs_status status, int64_t value) {
  memset(mine, 0, sizeof *mine);
  mine->rank = mine->giver = -1;
  mine->value = value;
  if (!status) mine->giver = ranks->rank;
  if (!status) return;
  mine->rank = ranks->rank;
  trs_failure_get(&mine->failure);
  mine->failure.status = status;
}

/* A failure takes precedence over a difference of values, and a lower rank's over a higher
 * rank's. */
static void join_verdicts(void *of_mine, const void *of_other, int64_t count, const void *what) {
  verdict *mine = of_mine;
  const verdict *other = of_other;
  (void)count; /* always 1 */
  bool failed = mine->failure.status != TRS_SUCCESS;
  if (other->failure.status && (!failed || other->rank < mine->rank)) {
    mine->failure = other->failure;
    mine->rank = other->rank;
  }
  if (other->giver < 0) return;
  if (mine->giver >= 0 && mine->value != other->value && !mine->failure.status) {
    bool before = mine->giver < other->giver;
    const verdict *first = before ? mine : other, *second = before ? other : mine;
    trs_failure difference = {.status = TRS_ERROR_ARGUMENT, .row = -1};
    snprintf(difference.message, sizeof difference.message,
             "rank %d: %s is %lld, but %lld on rank %d: it must be the same on all", second->giver,
             (const char *)what, (long long)second->value, (long long)first->value, first->giver);
    mine->failure = difference;
    mine->rank = second->giver;
  }
  if (mine->giver < 0 || other->giver < mine->giver) {
    mine->giver = other->giver;
    mine->value = other->value;
  }
}

static trs_status join_all_verdicts(trs_ranks *ranks, verdict *mine, int tag, const char *what) {
  _Static_assert(sizeof *mine <= JOINED_BYTES, "joined in one piece");
  return reduce(ranks, tag, mine, 1, sizeof *mine, join_verdicts, what);
}

trs_status trs_ranks_agree_on(trs_ranks *ranks, trs_status status, int64_t value,
                              const char *what) {
  verdict mine;
  if (ranks->size == 1) return status;
  own_verdict(&mine, ranks, status, value);
  TRS_TRY(join_all_verdicts(ranks, &mine, TRS_TAG_AGREE, what));
  if (!mine.failure.status) return TRS_SUCCESS;
  const char *said = mine.failure.message;
  if (!strncmp(said, "rank ", 5)) /* the failure was agreed on before */
    return trs_fail(mine.failure.status, mine.failure.row, "%s", said);
  return trs_fail(mine.failure.status, mine.failure.row, "rank %d: %s", (int)mine.rank, said);
}

trs_status trs_ranks_agree(trs_ranks *ranks, trs_status status) {
  return trs_ranks_agree_on(ranks, status, 0, "");
}

trs_status trs_ranks_barrier(trs_ranks *ranks) {
  verdict nothing;
  own_verdict(&nothing, ranks, TRS_SUCCESS, 0);
  return join_all_verdicts(ranks, &nothing, TRS_TAG_BARRIER, "");
}

/* Sends or receives records first .. first + count - 1, counted around the ring of ranks. */
static trs_status pass_records(trs_ranks *ranks, int other, char *all, int first, int count,
                               int64_t bytes, bool sends) {
  first %= ranks->size;
  int until = first + count < ranks->size ? first + count : ranks->size,
      rest = first + count - until;
  for (int part = 0; part < 2; part++) {
    char *at = all + (part ? 0 : first * bytes);
    int64_t length = (part ? rest : until - first) * bytes;
    if (length == 0) continue;
    TRS_TRY(sends ? trs_ranks_send(ranks, other, TRS_TAG_MOVE, at, length)
                  : trs_ranks_receive(ranks, other, TRS_TAG_MOVE, at, length));
  }
  return TRS_SUCCESS;
}

/* Bruck et al. 1997: every rank has the records of `have` ranks from itself on, and receives those
 * of as many more from the rank after them. */
trs_status trs_ranks_records(trs_ranks *ranks, const void *mine, void *all, int64_t bytes) {
  int size = ranks->size, me = ranks->rank;
  memcpy((char *)all + me * bytes, mine, (size_t)bytes);
  for (int have = 1; have < size; have *= 2) {
    int more = have < size - have ? have : size - have;
    TRS_TRY(pass_records(ranks, (me + size - have) % size, all, me, more, bytes, true));
    TRS_TRY(pass_records(ranks, (me + have) % size, all, me + have, more, bytes, false));
    TRS_TRY(trs_ranks_finish(ranks));
  }
  return TRS_SUCCESS;
}

trs_status trs_ranks_neighbours(trs_ranks *ranks, int *machine, int *position) {
  char own[TRS_MACHINE_NAME] = "", *all = NULL;
  trs_status status = ranks->transport->machine(ranks, own);
  if (!status) status = trs_alloc((void **)&all, ranks->size, sizeof own);
  status = trs_ranks_agree(ranks, status);
  if (!status) status = trs_ranks_records(ranks, own, all, sizeof own);
  *machine = ranks->rank;
  *position = 0;
  for (int r = ranks->rank - 1; r >= 0 && !status; r--) {
    if (memcmp(all + r * (int64_t)sizeof own, own, sizeof own) != 0) continue;
    *machine = r;
    ++*position;
  }
  trs_free(all);
  return status;
}

trs_status trs_ranks_same(trs_ranks *ranks, trs_status status, const double *values,
                          const char *const *names, int count) {
  enum { MOST_VALUES = 16 };
  double first[MOST_VALUES];
  memcpy(first, values, (size_t)count * sizeof *values);
  trs_failure own;
  if (status) trs_failure_get(&own);
  TRS_TRY(trs_ranks_broadcast(ranks, first, count * (int64_t)sizeof *first));
  if (status) trs_failure_set(&own);
  for (int k = 0; k < count && !status; k++)
    if (values[k] != first[k])
      status =
          trs_fail(TRS_ERROR_ARGUMENT, -1, "%s is %g, but %g on rank 0: it must be the same on all",
                   names[k], values[k], first[k]);
  return trs_ranks_agree(ranks, status);
}
