/* nodes.c - finds nodes by comparing each row with the one before it in the sweep. */
#include "solve/threads/nodes.h"

#include <string.h>

enum { WIDEST = 8 };

/* Row i needs row `before` and what that row needs, and nothing else. */
static bool continues(const trs_system *S, int64_t i, int64_t before) {
  const bool prefix = trs_system_prefix(S);
  int64_t begin, end, first, last;
  trs_off_diagonal(S, i, prefix, S->has_diagonal, &begin, &end);
  trs_off_diagonal(S, before, prefix, S->has_diagonal, &first, &last);
  const int64_t count = last - first;
  if (end - begin != count + 1 || S->idx[prefix ? end - 1 : begin] != before) return false;
  return !memcmp(S->idx + begin + !prefix, S->idx + first, (size_t)count * sizeof *S->idx);
}

/* The offset of each row, and the number of nodes. */
static int64_t find(trs_nodes *nodes, const trs_system *S) {
  int64_t count = 0;
  int offset = 0;
  for (int64_t k = 0; k < S->n; k++) {
    const int64_t i = trs_in_sweep(S, k);
    const bool more = k > 0 && offset + 1 < WIDEST && continues(S, i, trs_in_sweep(S, k - 1));
    offset = more ? offset + 1 : 0;
    nodes->offset[i] = (uint8_t)offset;
    if (offset >= nodes->widest) nodes->widest = offset + 1;
    count += !more;
  }
  return count;
}

/* A sample finds systems without nodes. */
static bool is_worth_a_look(const trs_system *S) {
  enum { SAMPLES = 512, LEAST = 2 };
  const int64_t rows = S->n - 1, samples = rows < SAMPLES ? rows : SAMPLES;
  int64_t continued = 0;
  if (!S->rows || S->nnz < LEAST * S->n) return false;
  for (int64_t k = 0; k < samples; k++) {
    const int64_t at = rows * k / samples;
    continued += continues(S, trs_in_sweep(S, at + 1), trs_in_sweep(S, at));
  }
  return continued * 2 >= samples;
}

/* One more than the highest level that the first row of a node needs. */
static void find_levels(trs_nodes *nodes, const trs_system *S) {
  const bool prefix = trs_system_prefix(S);
  int32_t *level = nodes->levels.level, here = 0, highest = -1;
  int64_t begin, end;
  for (int64_t k = 0; k < S->n; k++) {
    const int64_t i = trs_in_sweep(S, k);
    if (!nodes->offset[i]) {
      here = 0;
      trs_off_diagonal(S, i, prefix, S->has_diagonal, &begin, &end);
      for (int64_t p = begin; p < end; p++)
        if (level[S->idx[p]] >= here) here = level[S->idx[p]] + 1;
    }
    level[i] = here;
    highest = here > highest ? here : highest;
  }
  nodes->levels.count = highest + 1;
}

trs_status trs_nodes_create(trs_nodes *nodes, const trs_system *S) {
  *nodes = (trs_nodes){.widest = 1};
  if (!is_worth_a_look(S)) return TRS_SUCCESS;
  nodes->levels.n = S->n;
  trs_status status = TRS_ALLOC(&nodes->offset, S->n);
  if (!status && find(nodes, S) * 3 > S->n * 2) {
    trs_nodes_destroy(nodes);
    return TRS_SUCCESS;
  }
  if (!status) status = TRS_ALLOC(&nodes->levels.level, S->n);
  if (!status) find_levels(nodes, S);
  if (!status) status = trs_levels_count(&nodes->levels, S);
  if (status) trs_nodes_destroy(nodes);
  return status;
}

void trs_nodes_destroy(trs_nodes *nodes) {
  trs_free(nodes->offset);
  trs_levels_destroy(&nodes->levels);
  *nodes = (trs_nodes){.widest = 1};
}
