/* fake_nvshmem.c - replaces libtrireme_nvshmem.so in tests of comm/nvshmem.c without GPUs:
 * symmetric memory that forked processes share, and calls that wait for all processes without a
 * limit, as NVSHMEM's do. */
#include "comm/fake_nvshmem.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "comm/nvshmem_link.h"

static fake_board *board;
static int me, ranks, turn;

static fake_board *find_board(void) {
  const char *text = getenv("FAKE_BOARD");
  return text ? (fake_board *)strtoull(text, NULL, 16) : NULL;
}

static void await_all(void) {
  atomic_int *arrived = &board->arrived[turn++ % FAKE_TURNS];
  atomic_fetch_add(arrived, 1);
  while (atomic_load(arrived) < ranks) usleep(100);
}

static const char *make_id(void *id) {
  memset(id, 7, TRS_NVSHMEM_ID);
  return NULL;
}

static const char *start(int rank, int count, void *id) {
  board = find_board();
  me = rank;
  ranks = count;
  if (!board || ((char *)id)[0] != 7) return "no board, or another's id";
  if (board->fails_to_start == rank) return "as it was told to";
  await_all();
  return NULL;
}

static void stop(void) { await_all(); }

static void *alloc(int64_t bytes) {
  if (board->dies_in_alloc == me) raise(SIGKILL);
  await_all();
  void *at = board->heap[me] + board->used[me];
  board->used[me] += (bytes + 255) / 256 * 256;
  return board->used[me] > FAKE_HEAP ? NULL : at;
}

static void release(void *pointer) {
  (void)pointer;
  await_all();
}

static void *reach(void *pointer, int rank) {
  return board->heap[rank] + ((char *)pointer - board->heap[me]);
}

__attribute__((visibility("default"))) extern const trs_nvshmem_link trs_nvshmem_table;
const trs_nvshmem_link trs_nvshmem_table = {TRS_NVSHMEM_LINK, make_id, start, stop, alloc,
                                            release,          reach};
