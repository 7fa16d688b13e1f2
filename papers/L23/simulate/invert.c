/* invert.c - the structure of a solve after the diagonal triangle of every separator is inverted,
 * all of its supernodes together.
 *
 * A separator S with supernodes K solves T(S,S) x(S) = r(S), a chain as long as its number of
 * supernodes.  With N = T(S,S)^-1, again a dense triangle, x(S) = N r(S) is a product: every r(K)
 * goes down its column at once, and every x(I) is summed along its row.  As a structure, that is
 * two supernodes per K, with identities on the diagonal: a(K), which collects r(K), and b(K), which
 * has a block N(I,K) from every a(K) with K <= I.  Supernodes below add to a(K), and b(K) adds to
 * those above; transposed it is U's structure, in which b(K) collects and a(K) is the solution. */
#include <string.h>

#include "simulate/symbolic.h"
#include "solve/grid3d/layout.h"

typedef struct worker {
  const trs_symbolic *s;
  trs_symbolic *to;
  int64_t *last;  /* per supernode, its separator: the index after its last supernode */
  int32_t *a, *b; /* the same number if not doubled */
} worker;

/* Supernodes of one node are adjacent.  A wide node is cut, as in the solver. */
static void find_nodes(worker *w) {
  const trs_symbolic *s = w->s;
  int64_t count = 0;
  for (int64_t begin = 0, end; begin < s->count; begin = end) {
    for (end = begin + 1; end < s->count && s->lo[end] == s->lo[begin] &&
                          s->height[end] == s->height[begin] &&
                          s->first[end + 1] - s->first[begin] <= TRS_MOST_RUN;)
      end++;
    bool doubled = s->height[begin] > 0 && end - begin > 1;
    for (int64_t K = begin; K < end; K++) {
      w->last[K] = doubled ? end : K;
      w->a[K] = (int32_t)(count + K - begin);
      w->b[K] = (int32_t)(doubled ? w->a[K] + (end - begin) : w->a[K]);
    }
    count += doubled ? 2 * (end - begin) : end - begin;
  }
  w->to->count = count;
}

static trs_status list_supernodes(worker *w) {
  trs_symbolic *to = w->to;
  const trs_symbolic *s = w->s;
  TRS_TRY(TRS_ALLOC_ZERO(&to->first, to->count + 1));
  TRS_TRY(TRS_ALLOC(&to->lo, to->count));
  TRS_TRY(TRS_ALLOC(&to->height, to->count));
  TRS_TRY(TRS_ALLOC_ZERO(&to->half, to->count));
  for (int64_t K = 0; K < s->count; K++) {
    int32_t both[] = {w->a[K], w->b[K]};
    for (int k = 0; k < 2; k++) {
      to->first[both[k] + 1] = s->first[K + 1] - s->first[K];
      to->lo[both[k]] = s->lo[K];
      to->height[both[k]] = s->height[K];
      to->half[both[k]] = (int8_t)(w->last[K] > K ? TRS_HALF_BELOW + k : TRS_WHOLE);
    }
  }
  for (int64_t K = 0; K < to->count; K++) to->first[K + 1] += to->first[K];
  to->n = to->first[to->count];
  return TRS_SUCCESS;
}

static void put(trs_symbolic *to, int64_t *nblocks, int32_t row, int64_t rows) {
  if (to->row) to->row[*nblocks] = row;
  if (to->row) to->rows[*nblocks] = (int32_t)rows;
  ++*nblocks;
}

/* Sorted by the new columns; with row NULL it only counts. */
static int64_t visit(const worker *w) {
  const trs_symbolic *s = w->s;
  trs_symbolic *to = w->to;
  int64_t nblocks = 0;
  for (int64_t begin = 0, end; begin < s->count; begin = end) {
    end = w->last[begin] > begin ? w->last[begin] : begin + 1;
    bool doubled = w->last[begin] > begin;
    for (int64_t K = begin; K < end && doubled; K++) {
      to->ptr[w->a[K]] = nblocks;
      for (int64_t I = K; I < end; I++) put(to, &nblocks, w->b[I], s->first[I + 1] - s->first[I]);
    }
    for (int64_t K = begin; K < end; K++) {
      to->ptr[w->b[K]] = nblocks;
      for (int64_t b = s->ptr[K]; b < s->ptr[K + 1]; b++)
        if (!doubled || s->row[b] >= end) put(to, &nblocks, w->a[s->row[b]], s->rows[b]);
    }
  }
  to->ptr[to->count] = nblocks;
  return nblocks;
}

static trs_status invert(worker *w) {
  trs_symbolic *to = w->to;
  TRS_TRY(TRS_ALLOC(&w->last, w->s->count));
  TRS_TRY(TRS_ALLOC(&w->a, w->s->count));
  TRS_TRY(TRS_ALLOC(&w->b, w->s->count));
  find_nodes(w);
  TRS_TRY(list_supernodes(w));
  TRS_TRY(TRS_ALLOC(&to->ptr, to->count + 1));
  int64_t nblocks = visit(w);
  TRS_TRY(TRS_ALLOC(&to->rows, nblocks));
  TRS_TRY(TRS_ALLOC(&to->row, nblocks));
  visit(w);
  return TRS_SUCCESS;
}

trs_status trs_symbolic_invert(trs_symbolic *to, const trs_symbolic *s) {
  *to = (trs_symbolic){.leaves = s->leaves, .fill = s->fill, .stored = s->stored};
  worker w = {.s = s, .to = to};
  trs_status status = invert(&w);
  TRS_FREE_ALL(w.last, w.a, w.b);
  if (status) trs_symbolic_free(to);
  return status;
}
