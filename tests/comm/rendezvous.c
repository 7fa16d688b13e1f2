/* rendezvous.c - processes that exchange records and notice when one of them has ended. */
#include "comm/rendezvous.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/counter.h"
#include "base/timer.h"
#include "test.h"

enum { RANKS = 5, ROUNDS = 300 };

static void name_of(char *name, size_t size, const char *what) {
  snprintf(name, size, "test-%s-%ld", what, (long)getpid());
}

/* Starts the other ranks and runs rank 0 here.  True if all ranks succeed. */
static bool together(const char *what, int (*run)(const char *name, int rank)) {
  char name[64];
  pid_t child[RANKS];
  name_of(name, sizeof name, what);
  fflush(NULL);
  for (int rank = 1; rank < RANKS; rank++) {
    child[rank] = fork();
    if (child[rank] == 0) _exit(run(name, rank));
  }
  bool good = run(name, 0) == 0;
  for (int rank = 1; rank < RANKS; rank++) {
    int status = -1;
    waitpid(child[rank], &status, 0);
    good = good && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  return good;
}

static int talk(const char *name, int rank) {
  trs_rendezvous *r;
  int wrong = 0;
  if (trs_rendezvous_open(&r, name, rank, RANKS)) return 1;
  for (int64_t round = 0; round < ROUNDS && !wrong; round++) {
    int64_t all[RANKS][3] = {{0}};
    all[rank][0] = all[rank][2] = round * RANKS + rank;
    if (round % 7 == rank) usleep(200);
    if (trs_rendezvous_exchange(r, all, sizeof all[0])) return 2;
    for (int other = 0; other < RANKS; other++)
      wrong += all[other][0] != round * RANKS + other || all[other][2] != all[other][0];
    if (round % 3 == 0 && trs_rendezvous_exchange(r, NULL, 0)) return 3;
  }
  if (trs_rendezvous_exchange(r, NULL, 0)) return 4;
  if (!trs_rendezvous_leave(r)) return 5;
  trs_rendezvous_close(r);
  return wrong;
}

TEST(records) {
  static const uint64_t begins[] = {INT32_MAX - 50, UINT32_MAX - 50, INT64_MAX - 50,
                                    UINT64_MAX - 50};
  for (int k = 0; k < 4; k++) {
    trs_counters_begin = begins[k];
    assert_true(together("counters", talk));
  }
  trs_counters_begin = 0;
  assert_true(together("records", talk));
  assert_true(together("records", talk)); /* the name is free again */
}

/* Rank 2 ends without leaving, rank 3 closes: the other ranks get an error. */
static int lose(const char *name, int rank) {
  trs_rendezvous *r;
  if (trs_rendezvous_open(&r, name, rank, RANKS)) return 1;
  if (rank == 2) return 0;
  if (rank == 3) {
    trs_rendezvous_close(r);
    return 0;
  }
  trs_status status = trs_rendezvous_exchange(r, NULL, 0);
  trs_rendezvous_close(r);
  return status == TRS_ERROR_STALLED && strstr(trs_last_error()->message, "has ended") ? 0 : 2;
}

TEST(losses) { assert_true(together("losses", lose)); }

/* Rank 1 is killed between two exchanges while all others wait for it.  Each gets the error within
 * seconds, also a rank that waits for one that gave up because of it. */
static int survive(const char *name, int rank) {
  static const double SOON = 30; /* seconds, on a busy machine; a full wait would last an hour */
  trs_rendezvous *r;
  if (trs_rendezvous_open(&r, name, rank, RANKS)) return 1;
  if (trs_rendezvous_lost(r) >= 0) return 2;
  for (int k = 0; k < 10; k++)
    if (trs_rendezvous_exchange(r, NULL, 0)) return 3;
  if (rank == 1) raise(SIGKILL);
  double start = trs_seconds();
  trs_status status = trs_rendezvous_exchange(r, NULL, 0);
  double took = trs_seconds() - start;
  bool told = status == TRS_ERROR_STALLED &&
              strstr(trs_last_error()->message, "process 1 of 5 has ended") != NULL;
  bool named = trs_rendezvous_lost(r) == 1;
  bool all_left = trs_rendezvous_leave(r);
  trs_rendezvous_close(r);
  return !told ? 4 : took > SOON ? 5 : !named ? 6 : all_left ? 7 : 0;
}

TEST(killed) {
  char name[64];
  pid_t child[RANKS];
  name_of(name, sizeof name, "killed");
  fflush(NULL);
  for (int rank = 0; rank < RANKS; rank++) {
    child[rank] = fork();
    if (child[rank] == 0) _exit(survive(name, rank));
  }
  for (int rank = 0; rank < RANKS; rank++) {
    int status = -1;
    assert_int_equal(waitpid(child[rank], &status, 0), child[rank]);
    assert_int_equal(WIFSIGNALED(status), rank == 1);
    if (rank != 1) assert_int_equal(WEXITSTATUS(status), 0);
  }
}

/* Rank 0 arrives after the others have stopped waiting for it.  All ranks are told that not all
 * have left, so that none continues with collective steps. */
static int come_late(const char *name, int rank) {
  trs_rendezvous *r;
  trs_rendezvous_leave_limit = 0.2;
  if (trs_rendezvous_open(&r, name, rank, RANKS)) return 1;
  if (rank == 0) usleep(3000000);
  bool all_left = trs_rendezvous_leave(r);
  trs_rendezvous_close(r);
  return all_left;
}

TEST(late) {
  const double limit = trs_rendezvous_leave_limit;
  assert_true(together("late", come_late));
  trs_rendezvous_leave_limit = limit;
}

/* ---- The folder of the board. ---- */

static char base[64], folder[128];

static void begin_in_own_base(void) {
  strcpy(base, "/tmp/trireme-test-XXXXXX");
  assert_non_null(mkdtemp(base));
  snprintf(folder, sizeof folder, "%s/trireme-%ld", base, (long)geteuid());
  trs_rendezvous_base = base;
  unsetenv("XDG_RUNTIME_DIR");
}

/* Fails if a file is left. */
static void end_in_own_base(void) {
  trs_rendezvous_base = NULL;
  assert_int_equal(rmdir(base), 0);
}

static trs_status open_and_close(const char *board, int number, int count) {
  trs_rendezvous *r;
  trs_status status = trs_rendezvous_open(&r, board, number, count);
  trs_rendezvous_close(r);
  return status;
}

static trs_status open_alone(void) { return open_and_close("alone", 0, 1); }

/* A folder that others can write to, that another user made, or that is a link, is not used. */
TEST(boards_of_others_are_refused) {
  begin_in_own_base();
  assert_int_equal(mkdir(folder, 0700), 0);
  assert_int_equal(chmod(folder, 0777), 0);
  assert_failure(TRS_ERROR_UNSUPPORTED, "is not a folder of this user alone", open_alone());
  assert_int_equal(rmdir(folder), 0);
  assert_int_equal(symlink("/tmp", folder), 0);
  assert_failure(TRS_ERROR_UNSUPPORTED, "is not a folder of this user alone", open_alone());
  assert_int_equal(unlink(folder), 0);
  if (geteuid() == 0) {
    assert_int_equal(mkdir(folder, 0700), 0);
    assert_int_equal(chown(folder, 4711, 4711), 0);
    assert_failure(TRS_ERROR_UNSUPPORTED, "(owner 4711", open_alone());
    setenv("XDG_RUNTIME_DIR", base, 1); /* an alternative folder */
    assert_success(open_alone());
    unsetenv("XDG_RUNTIME_DIR");
    assert_int_equal(rmdir(folder), 0);
  }
  end_in_own_base();
}

static trs_status join_as_second(void) { return open_and_close("board", 1, 2); }

TEST(boards_that_others_could_change_are_refused) {
  char path[160];
  begin_in_own_base();
  assert_int_equal(mkdir(folder, 0700), 0);
  snprintf(path, sizeof path, "%s/board", folder);
  int file = open(path, O_CREAT | O_RDWR, 0600);
  assert_int_equal(fchmod(file, 0666), 0);
  close(file);
  assert_failure(TRS_ERROR_UNSUPPORTED, "is not a file of this user alone", join_as_second());
  assert_int_equal(unlink(path), 0);
  assert_int_equal(symlink("/dev/null", path), 0);
  assert_failure(TRS_ERROR_UNSUPPORTED, "no shared memory", join_as_second());
  assert_int_equal(unlink(path), 0);
  assert_int_equal(rmdir(folder), 0);
  end_in_own_base();
}

/* A process that is killed before the others arrive leaves its board. */
static void leave_a_board(const char *name) {
  pid_t child = fork();
  if (child == 0) {
    trs_rendezvous *r;
    (void)trs_rendezvous_open(&r, name, 0, RANKS);
    _exit(0);
  }
  char path[192];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  while (access(path, F_OK)) usleep(1000);
  kill(child, SIGKILL);
  assert_int_equal(waitpid(child, NULL, 0), child);
  assert_int_equal(access(path, F_OK), 0);
}

TEST(boards_of_killed_processes_do_no_harm) {
  char name[64];
  begin_in_own_base();
  leave_a_board("another");
  name_of(name, sizeof name, "again");
  leave_a_board(name);
  assert_true(together("again", talk)); /* under the same name */
  end_in_own_base();                    /* and both boards are gone */
}

TEST(environment) {
  int rank, ranks;
  char name[128];
  static const char *const all[] = {"OMPI_COMM_WORLD_RANK",
                                    "OMPI_COMM_WORLD_SIZE",
                                    "OMPI_COMM_WORLD_LOCAL_SIZE",
                                    "PMI_RANK",
                                    "PMI_SIZE",
                                    "PMIX_RANK",
                                    "SLURM_PROCID",
                                    "SLURM_NTASKS",
                                    "MPI_LOCALNRANKS",
                                    "PMIX_NAMESPACE",
                                    "OMPI_MCA_ess_base_jobid",
                                    "PMI_JOBID",
                                    "SLURM_JOB_ID",
                                    "SLURM_STEP_ID",
                                    "SLURM_STEP_NUM_NODES",
                                    "SLURM_NNODES",
                                    NULL};
  for (int k = 0; all[k]; k++) unsetenv(all[k]);
  assert_success(trs_rendezvous_environment(&rank, &ranks, name, sizeof name));
  assert_int_equal(rank, 0);
  assert_int_equal(ranks, 1);
  setenv("OMPI_COMM_WORLD_RANK", "2", 1);
  setenv("OMPI_COMM_WORLD_SIZE", "4", 1);
  assert_success(trs_rendezvous_environment(&rank, &ranks, name, sizeof name));
  assert_int_equal(rank, 2);
  assert_int_equal(ranks, 4);
  setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "2", 1);
  assert_int_equal(trs_rendezvous_environment(&rank, &ranks, name, sizeof name),
                   TRS_ERROR_UNSUPPORTED);
  for (int k = 0; all[k]; k++) unsetenv(all[k]);
  setenv("SLURM_PROCID", "1", 1);
  setenv("SLURM_NTASKS", "2", 1);
  setenv("SLURM_STEP_ID", "0", 1);
  setenv("SLURM_JOB_ID", "4711", 1);
  setenv("SLURM_STEP_NUM_NODES", "1", 1);
  assert_success(trs_rendezvous_environment(&rank, &ranks, name, sizeof name));
  assert_int_equal(rank, 1);
  assert_string_equal(name, "4711.0"); /* not the first step of another job */
  setenv("SLURM_STEP_NUM_NODES", "2", 1);
  assert_failure(TRS_ERROR_UNSUPPORTED, "on 2 nodes",
                 trs_rendezvous_environment(&rank, &ranks, name, sizeof name));
}
