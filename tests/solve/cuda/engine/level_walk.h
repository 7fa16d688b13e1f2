/* level_walk.h - between the test and its emulated warps. */
#ifndef TRS_TEST_LEVEL_WALK_H
#define TRS_TEST_LEVEL_WALK_H

#include <stdbool.h>
#include <stdint.h>

/* Node k depends on idx[ptr[k]] to idx[ptr[k + 1] - 1], which are below k and ascend. */
typedef struct emulated_walk {
  int32_t n;
  const int64_t *ptr;
  const int32_t *idx;
  int lanes;      /* per node: 1, 4, 8, 32 */
  bool in_shared; /* all levels in shared memory: warps one behind the other, a lane per node */
  int warps;      /* at work at once, at most */
  uint64_t seed;  /* of the order in which they work */
} emulated_walk;

#ifdef __cplusplus
extern "C"
#endif
    /* level[n]: levels plus one.  Returns the number of levels, 0 if the warps wait for each other
     * for ever. */
    int32_t
    emulate_walk(const emulated_walk *walk, uint32_t *level);

#endif
