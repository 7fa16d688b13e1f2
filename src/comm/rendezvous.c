/* rendezvous.c - a board in shared memory.  In each exchange a process writes its record, raises
 * its count, and reads all records once all counts have reached its own.  Two sets of records
 * alternate: a process that writes a set knows that all have read its content of two exchanges
 * before. */
#include "comm/rendezvous.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/counter.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/timer.h"
#include "base/wait.h"

/* A board begins as all zeros, so that no process has to initialise it for the others. */
typedef struct board {
  _Atomic uint64_t round[TRS_RENDEZVOUS_MOST];
  _Atomic int32_t pid[TRS_RENDEZVOUS_MOST];
  _Atomic int32_t left[TRS_RENDEZVOUS_MOST]; /* 0, or its position in the order of leaving */
  _Atomic int32_t leavers;
  _Atomic int32_t end; /* an enum ending */
  char record[2][TRS_RENDEZVOUS_MOST][TRS_RENDEZVOUS_RECORD];
} board;

/* Set once, by the first process that sees it: all have left, or one has stopped waiting. */
typedef enum ending { UNDECIDED, ALL_LEFT, GIVEN_UP } ending;

struct trs_rendezvous {
  board *board;
  char name[96], folder[160], path[272];
  dev_t device; /* device and inode of the board's file */
  ino_t inode;
  int rank, ranks;
  uint64_t round, begin; /* counts on the board start at `begin`, so that zero precedes all */
};

static const double FIRST_LIMIT = 60, LIMIT = 3600, LOOK = 0.05; /* seconds */
double trs_rendezvous_leave_limit = 10;

/* ---- This process's rank. ---- */

static int number_from(const char *const *variables) {
  for (; *variables; variables++) {
    const char *text = getenv(*variables);
    if (text && *text >= '0' && *text <= '9') return atoi(text);
  }
  return -1;
}

trs_status trs_rendezvous_environment(int *rank, int *ranks, char *name, int size) {
  static const char *const rank_names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK",
                                           "SLURM_PROCID", NULL};
  static const char *const ranks_names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS",
                                            NULL};
  static const char *const near_names[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", NULL};
  static const char *const job_names[] = {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "PMI_JOBID",
                                          NULL};
  static const char *const nodes_names[] = {"SLURM_STEP_NUM_NODES", "SLURM_NNODES", NULL};
  *rank = number_from(rank_names);
  *ranks = number_from(ranks_names);
  if (*rank < 0 || *ranks < 1) {
    *rank = 0;
    *ranks = 1;
  }
  int near = number_from(near_names), nodes = number_from(nodes_names);
  if (*rank >= *ranks || *ranks > TRS_RENDEZVOUS_MOST)
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "process %d of %d: at most %d can work together", *rank,
                    *ranks, TRS_RENDEZVOUS_MOST);
  if (near > 0 && near < *ranks)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "%d processes, %d of them on this node: all must be on one", *ranks, near);
  if (near <= 0 && *ranks > 1 && nodes > 1)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1, "%d processes on %d nodes: all must be on one",
                    *ranks, nodes);
  const char *job = NULL, *step = getenv("SLURM_STEP_ID");
  for (const char *const *v = job_names; *v && !job; v++) job = getenv(*v);
  if (job && *job)
    snprintf(name, (size_t)size, "%s", job);
  else if (step && getenv("SLURM_JOB_ID")) /* steps are numbered per job */
    snprintf(name, (size_t)size, "%s.%s", getenv("SLURM_JOB_ID"), step);
  else /* started by one launcher */
    snprintf(name, (size_t)size, "%ld", (long)(*ranks > 1 ? getppid() : getpid()));
  return TRS_SUCCESS;
}

/* ---- The board ---- */

/* The process has ended, but its parent has not waited for it yet (Linux). */
static bool is_zombie(int32_t pid) {
  char path[64], state = 0;
  snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
  FILE *file = fopen(path, "r");
  if (!file) return false;
  bool found = fscanf(file, "%*d (%*[^)]) %c", &state) == 1;
  (void)fclose(file);
  return found && state == 'Z';
}

static bool is_gone(int32_t pid) {
  return is_zombie(pid) || (kill((pid_t)pid, 0) != 0 && errno == ESRCH);
}

static bool died(const board *b, int rank) {
  int32_t pid = atomic_load(&b->pid[rank]);
  return pid && is_gone(pid);
}

static bool is_replaced(const trs_rendezvous *r);

static void mark_left(trs_rendezvous *r) {
  if (atomic_load(&r->board->left[r->rank])) return;
  atomic_store(&r->board->left[r->rank], 1 + atomic_fetch_add(&r->board->leavers, 1));
}

/* A process may leave because another died, so a process that died or left earlier is named.  Each
 * process is checked for life before it is checked for having left: one that leaves and ends
 * between the two checks has not died. */
int trs_rendezvous_lost(const trs_rendezvous *r) {
  int lost = -1;
  int32_t first = INT32_MAX;
  for (int rank = 0; rank < r->ranks; rank++) {
    bool dead = died(r->board, rank);
    int32_t left = atomic_load(&r->board->left[rank]);
    if (rank == r->rank || (!left && !dead) || left >= first) continue;
    lost = rank;
    first = left;
  }
  return lost;
}

trs_status trs_rendezvous_report_lost(const trs_rendezvous *r, int rank) {
  return trs_fail(TRS_ERROR_STALLED, -1, "process %d of %d has ended, which ends the solve", rank,
                  r->ranks);
}

static bool has_reached(const trs_rendezvous *r, int rank) {
  return trs_counter_reached(r->begin + atomic_load(&r->board->round[rank]), r->round);
}

/* Waits until a rank's count is at least r->round.  The rank may itself wait for a third one that
 * has ended, so all ranks are checked. */
static trs_status await(const trs_rendezvous *r, int rank, double limit) {
  double start = trs_seconds(), looked = start;
  trs_patience wait = {0};
  while (!has_reached(r, rank)) {
    trs_wait_turn(&wait);
    double now = wait.since + wait.waited;
    if (now - looked < LOOK) continue;
    looked = now;
    int lost = trs_rendezvous_lost(r);
    if (lost >= 0 && !has_reached(r, rank)) return trs_rendezvous_report_lost(r, lost);
    if (r->round - r->begin == 1 && r->rank && is_replaced(r))
      return trs_rendezvous_report_lost(r, 0);
    if (now - start > limit)
      return trs_fail(TRS_ERROR_STALLED, -1, "process %d of %d did not arrive within %.0f s", rank,
                      r->ranks, limit);
  }
  return TRS_SUCCESS;
}

static trs_status exchange(trs_rendezvous *r, void *all, int64_t size, double limit) {
  r->round++;
  char(*records)[TRS_RENDEZVOUS_RECORD] = r->board->record[r->round % 2];
  if (size) memcpy(records[r->rank], (char *)all + r->rank * size, (size_t)size);
  atomic_store(&r->board->round[r->rank], r->round - r->begin);
  for (int rank = 0; rank < r->ranks; rank++) {
    TRS_TRY(await(r, rank, limit));
    if (size) memcpy((char *)all + rank * size, records[rank], (size_t)size);
  }
  return TRS_SUCCESS;
}

trs_status trs_rendezvous_exchange(trs_rendezvous *r, void *all, int64_t size) {
  if (size > TRS_RENDEZVOUS_RECORD)
    return trs_fail(TRS_ERROR_INTERNAL, -1, "a record of %lld bytes", (long long)size);
  return exchange(r, all, size, LIMIT);
}

/* ---- The board's file lies in a folder with access for this user only, so that no other user can
 * replace or read it. ---- */

const char *trs_rendezvous_base;

static trs_status fail_not_private(const char *path, const char *what, const struct stat *about) {
  return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                  "%s is not %s of this user alone (owner %ld, mode %03o), so other users could "
                  "change its content: remove it",
                  path, what, (long)about->st_uid, (unsigned)about->st_mode & 0777);
}

static bool is_private(const struct stat *about) {
  return about->st_uid == geteuid() && !(about->st_mode & 077);
}

static trs_status make_folder(const char *folder) {
  struct stat about;
  if (mkdir(folder, 0700) && errno != EEXIST)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1, "no shared memory (%s): %s", folder,
                    trs_error_text(errno));
  if (lstat(folder, &about))
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1, "no shared memory (%s): %s", folder,
                    trs_error_text(errno));
  return S_ISDIR(about.st_mode) && is_private(&about)
             ? TRS_SUCCESS
             : fail_not_private(folder, "a folder", &about);
}

/* If another user has taken the folder's name, the folder is made in this user's XDG_RUNTIME_DIR.
 * All processes of a run decide alike. */
static trs_status find_folder(trs_rendezvous *r) {
  const char *base = trs_rendezvous_base, *own = getenv("XDG_RUNTIME_DIR");
  if (!base) base = access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm";
  snprintf(r->folder, sizeof r->folder, "%s/trireme-%ld", base, (long)geteuid());
  trs_status status = make_folder(r->folder);
  if (!status || !own || *own != '/' || strlen(own) > 100) return status;
  trs_failure failure;
  trs_failure_get(&failure);
  snprintf(r->folder, sizeof r->folder, "%s/trireme", own);
  return make_folder(r->folder) ? trs_failure_set(&failure) : TRS_SUCCESS;
}

/* True if all processes of the board in this file have ended.  A board without processes is still
 * being made, unless it is untouched for an hour. */
static bool is_left_behind(int file) {
  static const int64_t HOUR = 3600;
  struct stat about;
  int32_t pid[TRS_RENDEZVOUS_MOST] = {0};
  if (fstat(file, &about) || !S_ISREG(about.st_mode) || !is_private(&about)) return false;
  if (pread(file, pid, sizeof pid, offsetof(board, pid)) < 0) return false;
  for (int rank = 0; rank < TRS_RENDEZVOUS_MOST; rank++)
    if (pid[rank] && !is_gone(pid[rank])) return false;
  return pid[0] || time(NULL) - about.st_mtime > HOUR;
}

static void remove_left_behind(const char *folder) {
  DIR *list = opendir(folder);
  if (!list) return;
  for (struct dirent *entry; (entry = readdir(list));) {
    if (*entry->d_name == '.') continue;
    int file = openat(dirfd(list), entry->d_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) continue;
    if (is_left_behind(file)) (void)unlinkat(dirfd(list), entry->d_name, 0);
    (void)close(file);
  }
  (void)closedir(list);
}

/* Maps the board in the file, and closes the file. */
static trs_status map_board(trs_rendezvous *r, int file) {
  struct stat about;
  void *at = MAP_FAILED;
  if (!fstat(file, &about))
    at = mmap(NULL, sizeof(board), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  int error = errno;
  (void)close(file);
  if (at == MAP_FAILED)
    return trs_fail(TRS_ERROR_MEMORY, -1, "no shared memory (%s): %s", r->path,
                    trs_error_text(error));
  r->board = at;
  r->device = about.st_dev;
  r->inode = about.st_ino;
  return TRS_SUCCESS;
}

static void unmap_board(trs_rendezvous *r) {
  if (r->board) (void)munmap(r->board, sizeof(board));
  r->board = NULL;
}

/* True if the path leads to another board now: this one belongs to an earlier run. */
static bool is_replaced(const trs_rendezvous *r) {
  struct stat about;
  return !lstat(r->path, &about) && (about.st_dev != r->device || about.st_ino != r->inode);
}

/* Rank 0 makes the board, and renames it to its final name when it is complete. */
static trs_status create_board(trs_rendezvous *r) {
  char making[sizeof r->path + 16];
  snprintf(making, sizeof making, "%s.%ld", r->path, (long)getpid());
  (void)unlink(making);
  int file = open(making, O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0 || ftruncate(file, sizeof(board)) != 0) {
    trs_status status = trs_fail(TRS_ERROR_UNSUPPORTED, -1, "no shared memory (%s): %s", making,
                                 trs_error_text(errno));
    if (file >= 0) (void)close(file);
    return status;
  }
  TRS_TRY(map_board(r, file));
  atomic_store(&r->board->pid[0], (int32_t)getpid());
  if (!rename(making, r->path)) return TRS_SUCCESS;
  (void)unlink(making);
  return trs_fail(TRS_ERROR_UNSUPPORTED, -1, "no shared memory (%s): %s", r->path,
                  trs_error_text(errno));
}

/* One attempt of another rank to find the board.  Success with r->board NULL: it does not exist
 * yet, or belongs to an earlier run. */
static trs_status find_board(trs_rendezvous *r) {
  struct stat about;
  int file = open(r->path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0 && errno == ENOENT) return TRS_SUCCESS;
  if (file < 0 || fstat(file, &about)) {
    if (file >= 0) (void)close(file);
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1, "no shared memory (%s): %s", r->path,
                    trs_error_text(errno));
  }
  if (!S_ISREG(about.st_mode) || !is_private(&about) || about.st_size != sizeof(board)) {
    (void)close(file);
    return fail_not_private(r->path, "a file", &about);
  }
  TRS_TRY(map_board(r, file));
  int32_t nobody = 0;
  if (died(r->board, 0) ||
      !atomic_compare_exchange_strong(&r->board->pid[r->rank], &nobody, (int32_t)getpid()))
    unmap_board(r);
  return TRS_SUCCESS;
}

/* Another run that has just started may remove the folder at this moment. */
static trs_status create_in_folder(trs_rendezvous *r) {
  enum { TRIES = 100 };
  remove_left_behind(r->folder);
  trs_status status = create_board(r);
  for (int tries = 0; status && tries < TRIES && access(r->folder, F_OK); tries++) {
    TRS_TRY(make_folder(r->folder));
    status = create_board(r);
  }
  return status;
}

static trs_status attach(trs_rendezvous *r, double limit) {
  trs_patience wait = {0};
  TRS_TRY(find_folder(r));
  snprintf(r->path, sizeof r->path, "%s/%s", r->folder, r->name);
  if (r->rank == 0) return create_in_folder(r);
  for (;;) {
    TRS_TRY(find_board(r));
    if (r->board) return TRS_SUCCESS;
    trs_wait_turn(&wait);
    if (wait.waited > limit)
      return trs_fail(TRS_ERROR_STALLED, -1, "process 0 of %d did not arrive within %.0f s",
                      r->ranks, limit);
  }
}

/* The name is needed only for the start; a later process under the same name belongs to another
 * run. */
static void remove_name(trs_rendezvous *r) {
  if (!is_replaced(r)) (void)unlink(r->path);
  (void)rmdir(r->folder); /* fails if other runs have boards there */
}

static trs_status join_board(trs_rendezvous *r) {
  double start = trs_seconds();
  trs_status status;
  for (;;) {
    TRS_TRY(attach(r, FIRST_LIMIT));
    status = exchange(r, NULL, 0, FIRST_LIMIT);
    if (!status || r->rank == 0 || !is_replaced(r) || trs_seconds() - start > FIRST_LIMIT) break;
    unmap_board(r);
    r->round = 0;
  }
  if (r->rank == 0 || status) remove_name(r);
  return status ? status : exchange(r, NULL, 0, FIRST_LIMIT);
}

trs_status trs_rendezvous_open(trs_rendezvous **result, const char *name, int rank, int ranks) {
  trs_rendezvous *r;
  *result = NULL;
  TRS_TRY(TRS_ALLOC_ZERO(&r, 1));
  r->rank = rank;
  r->begin = r->round = trs_counters_begin;
  r->ranks = ranks;
  snprintf(r->name, sizeof r->name, "%.80s", name);
  for (char *c = r->name; *c; c++)
    if (*c == '/' || *c == '.') *c = '-';
  trs_status status = join_board(r);
  if (status) {
    trs_rendezvous_close(r);
    return status;
  }
  *result = r;
  return TRS_SUCCESS;
}

/* All processes get the same answer, at any time. */
static bool decide(trs_rendezvous *r, ending mine) {
  int32_t end = UNDECIDED;
  return atomic_compare_exchange_strong(&r->board->end, &end, mine) ? mine == ALL_LEFT
                                                                    : end == ALL_LEFT;
}

/* True if the rank has left; false if it has ended without leaving or the limit has passed. */
static bool has_left(const trs_rendezvous *r, int rank, double start) {
  double looked = start;
  trs_patience wait = {0};
  while (!atomic_load(&r->board->left[rank])) {
    trs_wait_turn(&wait);
    double now = wait.since + wait.waited;
    if (now - looked < LOOK) continue;
    looked = now;
    if (now - start > trs_rendezvous_leave_limit || died(r->board, rank)) return false;
  }
  return true;
}

bool trs_rendezvous_leave(trs_rendezvous *r) {
  double start = trs_seconds();
  mark_left(r);
  for (int rank = 0; rank < r->ranks; rank++)
    if (!has_left(r, rank, start)) return decide(r, GIVEN_UP);
  return decide(r, ALL_LEFT);
}

void trs_rendezvous_close(trs_rendezvous *r) {
  if (!r) return;
  if (r->board) mark_left(r);
  unmap_board(r);
  trs_free(r);
}
