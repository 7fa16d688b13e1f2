/* fake_nvshmem.h - shared by the test of processes and its replacement for NVSHMEM.  The board is
 * created before the processes are forked, at the address that FAKE_BOARD contains. */
#ifndef TRS_TEST_FAKE_NVSHMEM_H
#define TRS_TEST_FAKE_NVSHMEM_H

#include <stdatomic.h>
#include <stdint.h>

enum { FAKE_RANKS = 4, FAKE_HEAP = 1 << 16, FAKE_TURNS = 64 };

typedef struct fake_board {
  atomic_int arrived[FAKE_TURNS];
  int fails_to_start, dies_in_alloc; /* ranks, or -1 */
  int64_t used[FAKE_RANKS];
  char heap[FAKE_RANKS][FAKE_HEAP];
} fake_board;

#endif
