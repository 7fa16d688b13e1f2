/* group.h - the GPUs that solve together, and the memory they all reach.
 *
 * Members are numbered from 0.  A process runs some of them: all with peer memory (one process),
 * one with NVSHMEM (a process a GPU, every one of which calls the same functions in the same order
 * with the same arguments).  Symmetric memory is of one size at every member; a kernel reaches
 * member m's copy at base[m] by ordinary loads and stores, so that one kernel serves both. */
#ifndef TRS_COMM_GROUP_H
#define TRS_COMM_GROUP_H

#include "base/team.h"
#include "device/device.h"

/* One lane of a warp a member. */
enum { TRS_MOST_MEMBERS = 32 };

typedef struct trs_group trs_group;

/* where: what stands behind "cuda:", such as "0-3", "0,2" or "0,0" (a GPU named twice has two
 * members), or "nvshmem".  TRS_ERROR_UNSUPPORTED: no CUDA or NVSHMEM here, no such GPU, two GPUs
 * that cannot reach each other, more processes than GPUs. */
trs_status trs_group_open(trs_group **group, const char *where);
trs_group *trs_group_retain(trs_group *group);
void trs_group_close(trs_group *group); /* NULL is fine */

/* "0-3" and "0,2,2" become ordinals[*count], of at most TRS_MOST_MEMBERS. */
trs_status trs_group_parse(const char *list, int *ordinals, int *count);

int trs_group_members(const trs_group *group);
/* This process runs members first .. first + local - 1. */
int trs_group_first(const trs_group *group);
int trs_group_local(const trs_group *group);
bool trs_group_one_process(const trs_group *group);

/* Of a member that this process runs: its GPU, a stream of its own there, and how many members
 * that GPU has, itself included: a kernel that waits for other members may take no more than its
 * share of the multiprocessors. */
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

/* Managed memory, in one process only. */
trs_status trs_group_alloc_managed(trs_group *group, void **pointer, int64_t bytes);
void trs_group_free_managed(trs_group *group, void *pointer); /* NULL is fine */

/* ---- Working together. ---- */

/* What the members' streams hold so far is done before anything put into any of them from now on
 * begins.  In one process the host does not wait for it. */
trs_status trs_group_fence(trs_group *group);

/* Waits for a stream, on the current device.  Where a process of the group has ended, kernels of
 * the others would wait for it until their limit: the word of 8 bytes at alarm, device memory, is
 * then set to 1, so that they give up; the next agreement names the process. */
trs_status trs_group_wait(trs_group *group, trs_stream stream, void *alarm);

/* all has members records of size bytes, at most TRS_GROUP_RECORD, those of this process's members
 * filled in: afterwards all are. */
enum { TRS_GROUP_RECORD = 1024 };
trs_status trs_group_exchange(trs_group *group, void *all, int64_t size);

/* mine: how it went here.  All processes get the failure of the first member that has one. */
trs_status trs_group_agree(trs_group *group, trs_status mine);

/* Around launches of kernels that wait for other members: one solve at a time on each GPU, also of
 * different groups, and behind those launched there before. */
void trs_group_lock(trs_group *group);
void trs_group_unlock(trs_group *group);
/* Between these, before the members' streams become part of a graph. */
void trs_group_mark(trs_group *group);

#endif
