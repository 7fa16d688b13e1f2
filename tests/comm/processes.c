/* processes.c - comm/nvshmem.c with one process per member, without GPUs and without NVSHMEM:
 * memory that all processes access, and the result in the other processes, within seconds, if one
 * is killed or fails: one error with the reason, and never an endless wait. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/timer.h"
#include "comm/fake_nvshmem.h"
#include "comm/transport.h"
#include "device_stand_in.h"
#include "test.h"

trs_status trs_peer_open(trs_group *group, const int *ordinals, int count) {
  (void)group;
  (void)ordinals;
  (void)count;
  return TRS_ERROR_UNSUPPORTED;
}

/* ---- Processes. ---- */

static fake_board *board;

static void set_number(const char *name, int number) {
  char text[16];
  snprintf(text, sizeof text, "%d", number);
  setenv(name, text, 1);
}

static void new_board(void) {
  char text[32];
  board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  assert_true(board != MAP_FAILED);
  board->fails_to_start = board->dies_in_alloc = -1;
  snprintf(text, sizeof text, "%llx", (unsigned long long)(uintptr_t)board);
  setenv("FAKE_BOARD", text, 1);
}

/* Runs all ranks.  Each must end as run requires; `killed` by its signal. */
static void run_all(const char *job, int (*run)(int rank), int killed) {
  pid_t child[FAKE_RANKS];
  char name[64];
  snprintf(name, sizeof name, "%s-%ld", job, (long)getpid());
  setenv("PMI_JOBID", name, 1);
  set_number("PMI_SIZE", FAKE_RANKS);
  fflush(NULL);
  for (int rank = 0; rank < FAKE_RANKS; rank++) {
    child[rank] = fork();
    if (child[rank] > 0) continue;
    set_number("PMI_RANK", rank);
    alarm(600); /* an endless wait becomes a failure */
    exit(run(rank));
  }
  for (int rank = 0; rank < FAKE_RANKS; rank++) {
    int status = -1;
    assert_int_equal(waitpid(child[rank], &status, 0), child[rank]);
    if (rank == killed) {
      assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    } else {
      assert_true(WIFEXITED(status));
      assert_int_equal(WEXITSTATUS(status), 0);
    }
  }
  munmap(board, sizeof *board);
}

static const double SOON = 30; /* seconds, on a busy machine; a full wait would last an hour */

static bool says(trs_status status, const char *what) {
  return status && strstr(trs_last_error()->message, what) != NULL;
}

static int share_memory(int rank) {
  trs_group *group;
  trs_symmetric memory;
  if (trs_group_open(&group, "nvshmem")) return 1;
  if (trs_group_members(group) != FAKE_RANKS || trs_group_first(group) != rank) return 2;
  if (trs_group_alloc(group, &memory, 1000)) return 3;
  *(int *)memory.base[rank] = 10 + rank;
  if (trs_group_fence(group)) return 4;
  for (int other = 0; other < FAKE_RANKS; other++)
    if (*(int *)memory.base[other] != 10 + other) return 5;
  trs_symmetric large;
  trs_status status = trs_group_alloc(group, &large, 2 * FAKE_HEAP);
  if (status != TRS_ERROR_MEMORY) return 6;
  trs_group_free(group, &memory);
  trs_status mine = rank == 2 ? trs_fail(TRS_ERROR_FILE, -1, "only here") : TRS_SUCCESS;
  if (!says(trs_group_agree(group, mine), "only here")) return 7;
  trs_group_close(group);
  return 0;
}

TEST(memory_is_shared) {
  new_board();
  run_all("share", share_memory, -1);
}

/* Rank 1 is killed while all ranks allocate together. */
static int lose_in_alloc(int rank) {
  trs_group *group;
  trs_symmetric memory;
  (void)rank;
  if (trs_group_open(&group, "nvshmem")) return 1;
  double start = trs_seconds();
  trs_status status = trs_group_alloc(group, &memory, 1000);
  if (!says(status, "process 1 of 4 has ended")) return 2;
  if (trs_seconds() - start > SOON) return 3;
  if (!trs_group_alloc(group, &memory, 1000)) return 4; /* and in later calls */
  trs_group_close(group);
  return 0;
}

TEST(a_call_that_never_returns_is_left_behind) {
  new_board();
  board->dies_in_alloc = 1;
  run_all("alloc", lose_in_alloc, 1);
}

static int lose_in_start(int rank) {
  trs_group *group;
  double start = trs_seconds();
  trs_status status = trs_group_open(&group, "nvshmem");
  if (!says(status, rank == 2 ? "as it was told to" : "process 2 of 4 has ended")) return 1;
  return trs_seconds() - start > SOON ? 2 : 0;
}

TEST(one_that_cannot_start_ends_all) {
  new_board();
  board->fails_to_start = 2;
  run_all("start", lose_in_start, -1);
}

/* Rank 3 is killed while kernels of the others wait for its x. */
static int lose_in_solve(int rank) {
  trs_group *group;
  trs_symmetric memory;
  if (trs_group_open(&group, "nvshmem") || trs_group_alloc(group, &memory, 8)) return 1;
  stand_in_kernel = memory.base[rank];
  atomic_store(stand_in_kernel, 0);
  if (trs_group_agree(group, TRS_SUCCESS)) return 2;
  if (rank == 3) raise(SIGKILL);
  double start = trs_seconds();
  trs_status status = trs_group_wait(group, NULL, memory.base[rank]);
  if (!says(status, "process 3 of 4 has ended")) return 3;
  if (trs_seconds() - start > SOON) return 4;
  if (!says(trs_group_agree(group, TRS_SUCCESS), "process 3 of 4 has ended")) return 5;
  stand_in_kernel = NULL;
  trs_group_free(group, &memory);
  trs_group_close(group);
  return 0;
}

TEST(kernels_are_told) {
  new_board();
  run_all("solve", lose_in_solve, 3);
}
