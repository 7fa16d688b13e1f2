#include "base/deal.h"

#include <stdlib.h>

static int longer(const void *a, const void *b) {
  const trs_portion *x = a, *y = b;
  return x->work < y->work ? 1 : x->work > y->work ? -1 : x->number < y->number ? -1 : 1;
}

void trs_deal_longest_first(int32_t *owner, double *load, int members, trs_portion *portion,
                            int64_t count) {
  qsort(portion, (size_t)count, sizeof *portion, longer);
  for (int64_t k = 0; k < count; k++) {
    const int least = trs_least_loaded(load, members);
    load[least] += portion[k].work;
    owner[portion[k].number] = least;
  }
}
