/* heap.h - a heap of numbered items, the heaviest on top. */
#ifndef TRS_BASE_HEAP_H
#define TRS_BASE_HEAP_H

#include <stdint.h>

typedef struct trs_heap {
  const double *weight; /* of every item */
  int32_t *item;        /* room for all */
  int64_t count;
} trs_heap;

static inline void trs_heap_push(trs_heap *h, int32_t item) {
  int64_t at = h->count++;
  for (; at > 0 && h->weight[h->item[(at - 1) / 2]] < h->weight[item]; at = (at - 1) / 2)
    h->item[at] = h->item[(at - 1) / 2];
  h->item[at] = item;
}

static inline int32_t trs_heap_pop(trs_heap *h) {
  const int32_t heaviest = h->item[0], moved = h->item[--h->count];
  int64_t at = 0;
  for (int64_t child; (child = 2 * at + 1) < h->count; at = child) {
    if (child + 1 < h->count && h->weight[h->item[child + 1]] > h->weight[h->item[child]]) child++;
    if (h->weight[h->item[child]] <= h->weight[moved]) break;
    h->item[at] = h->item[child];
  }
  h->item[at] = moved;
  return heaviest;
}

#endif
