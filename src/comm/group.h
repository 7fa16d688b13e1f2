/* group.h - a group of GPUs that solve together, and the memory that all of them access.
 *
 * Members are numbered from 0.  With peer memory one process runs all of them.  With NVSHMEM each
 * process runs one, and all processes call the same functions in the same order with the same
 * arguments. Symmetric memory has the same size at every member.  A kernel accesses member m's copy
 * at base[m] by ordinary loads and stores, so that the same kernel serves both transports. */
#ifndef TRS_COMM_GROUP_H
#define TRS_COMM_GROUP_H

#include "base/team.h"
#include "device/device.h"

typedef struct trs_group trs_group;

/* where: the text after "cuda:", such as "0-3", "0,2" or "0,0" (a GPU named twice has two members),
 * or "nvshmem".  TRS_ERROR_UNSUPPORTED: no CUDA or NVSHMEM in the build, no such GPU, two GPUs
 * without access to each other's memory, more processes than GPUs. */
trs_status trs_group_open(trs_group **group, const char *where);
trs_group *trs_group_retain(trs_group *group);
void trs_group_close(trs_group *group); /* NULL is allowed */

/* Converts "0-3" and "0,2,2" to ordinals[*count]; *count is at most TRS_MOST_MEMBERS. */
trs_status trs_group_parse(const char *list, int *ordinals, int *count);

int trs_group_members(const trs_group *group);
/* This process runs members first .. first + local - 1. */
int trs_group_first(const trs_group *group);
int trs_group_local(const trs_group *group);
bool trs_group_one_process(const trs_group *group);

/* For a member that this process runs: its GPU, its own stream there, and the number of members on
 * that GPU, itself included.  A kernel that waits for other members may use no more than the
 * member's share of the multiprocessors. */
trs_device *trs_group_device(const trs_group *group, int member);
trs_stream trs_group_stream(const trs_group *group, int member);
int trs_group_sharers(const trs_group *group, int member);

/* A step of a member's, with its GPU as the calling thread's current one. */
typedef trs_status (*trs_member_step)(void *work, int member);
/* For each member that this process runs, one after the other, until one fails. */
trs_status trs_group_each(const trs_group *group, trs_member_step step, void *work);
/* The same for all of them, side by side by the threads of a team (NULL: one thread).  Gives back
 * the failure of the first member that has one. */
trs_status trs_group_each_by_team(const trs_group *group, trs_team *team, trs_member_step step,
                                  void *work);

/* ---- Memory.  These and the functions below are called by all processes or by none. ---- */

typedef struct trs_symmetric {
  void *base[TRS_MOST_MEMBERS];
  int64_t bytes;
} trs_symmetric;

/* Uninitialised, aligned to 256 bytes; a zeroed trs_symmetric may be freed. */
trs_status trs_group_alloc(trs_group *group, trs_symmetric *memory, int64_t bytes);
void trs_group_free(trs_group *group, trs_symmetric *memory);

/* ---- Synchronisation. ---- */

/* Work put into any member's stream from now on begins after all work now in the members' streams.
 * With one process the host does not wait. */
trs_status trs_group_fence(trs_group *group);

/* Waits for a stream on the current device.  If a process of the group has ended, kernels of the
 * others would wait for it until their limit.  The function then sets the 8-byte word at alarm, in
 * device memory, to 1, so that kernels stop waiting; the next agreement names the process. */
trs_status trs_group_wait(trs_group *group, trs_stream stream, void *alarm);

/* all: members records of `size` bytes, at most TRS_GROUP_RECORD.  On entry those of this process's
 * members are filled in; on return all are. */
enum { TRS_GROUP_RECORD = 1024 };
trs_status trs_group_exchange(trs_group *group, void *all, int64_t size);

/* mine: this process's status.  All processes get the failure of the first member that failed. */
trs_status trs_group_agree(trs_group *group, trs_status mine);

/* Enclose launches of kernels that wait for other members.  On each GPU one solve runs at a time,
 * also of different groups, after those launched there before. */
void trs_group_lock(trs_group *group);
void trs_group_unlock(trs_group *group);
/* Called between these two, before the members' streams become part of a graph. */
void trs_group_mark(trs_group *group);

#endif
