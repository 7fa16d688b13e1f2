/* boxed.h - the boxes of a system (analysis/boxes.h) step by step on the host, for comparison. */
#ifndef TRS_TEST_BOXED_H
#define TRS_TEST_BOXED_H

#include "analysis/boxes.h"
#include "analysis/system.h"

typedef struct boxed {
  trs_system joint;      /* the system in the order of boxes; lower */
  uint32_t *coordinates; /* n: of each row of the sweep */
  trs_box_sides sides;
  int32_t *order;  /* n: rows of the sweep */
  int32_t *place;  /* n: their places in order */
  uint8_t *starts; /* n: 1 where a box begins */
} boxed;

boxed boxed_of(const trs_system *S, trs_box_classes classes);
void boxed_free(boxed *b);

#endif
