/* deal.h - portions of work for members of a team, the longest first (Graham 1969). */
#ifndef TRS_BASE_DEAL_H
#define TRS_BASE_DEAL_H

#include <stdint.h>

typedef struct trs_portion {
  double work;
  int32_t number;
} trs_portion;

/* The member with the least load, the first of equals. */
static inline int trs_least_loaded(const double *load, int members) {
  int least = 0;
  for (int m = 1; m < members; m++)
    if (load[m] < load[least]) least = m;
  return least;
}

/* Sorts the portions by falling work, equals by their numbers, and gives each to the member with
 * the least load: owner[number] is the member, and load[member] grows. */
void trs_deal_longest_first(int32_t *owner, double *load, int members, trs_portion *portion,
                            int64_t count);

#endif
