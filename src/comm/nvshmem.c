/* nvshmem.c - one process per GPU: symmetric memory from NVSHMEM, everything else through the
 * processes' own rendezvous, so that each process notices the end of another. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/memory.h"
#include "base/thread.h"
#include "base/timer.h"
#include "base/trusted.h"
#include "base/wait.h"
#include "comm/nvshmem_link.h"
#include "comm/rendezvous.h"
#include "comm/transport.h"

/* One per process, kept until its end: NVSHMEM starts once. */
static struct {
  const trs_nvshmem_link *link;
  trs_rendezvous *rendezvous;
  trs_device *device;
  bool started, broken; /* broken: a call of NVSHMEM still waits for a process that has ended */
} process;

/* ---- Calls of NVSHMEM that wait for all processes.  A separate thread makes them, so that this
 * process can continue if another has ended. ---- */

typedef enum verb { START, ALLOC, RELEASE, STOP } verb;

typedef struct call {
  verb verb;
  int rank, ranks;
  int64_t bytes;
  void *memory; /* RELEASE: the memory to free; ALLOC: the result */
  char id[TRS_NVSHMEM_ID];
  const char *why; /* START: the failure */
  atomic_int done;
} call;

static void *make_call(void *argument) {
  call *c = argument;
  int before = trs_device_enter(process.device);
  /* A call of the CUDA runtime: NVSHMEM uses the driver, for which a new thread has no device
   * yet. */
  (void)trs_device_wait(NULL);
  if (c->verb == START) c->why = process.link->start(c->rank, c->ranks, c->id);
  if (c->verb == ALLOC) c->memory = process.link->alloc(c->bytes);
  if (c->verb == RELEASE) process.link->free(c->memory);
  if (c->verb == STOP) process.link->stop();
  trs_device_leave(before);
  atomic_store(&c->done, 1);
  return NULL;
}

/* True if the call returns.  A call that does not keeps its record for ever.  Other processes may
 * end soon after their call has returned, hence the grace time; all have left before the last
 * call. */
static bool returns_in_time(const call *c) {
  static const double LOOK = 0.1; /* seconds */
  const double grace = c->verb == STOP ? 20 : 2;
  double looked = trs_seconds(), lost_since = 0;
  for (trs_patience wait = {0}; !atomic_load(&c->done);) {
    trs_wait_turn(&wait);
    double now = trs_seconds();
    if (now - looked < LOOK) continue;
    looked = now;
    if (trs_rendezvous_lost(process.rendezvous) < 0) continue;
    if (lost_since == 0) lost_since = now;
    if (now - lost_since > grace) return false;
  }
  return true;
}

static trs_status call_guarded(call *given) {
  pthread_t thread;
  call *c;
  if (process.broken)
    return trs_fail(TRS_ERROR_STALLED, -1, "a process of this run has ended, and NVSHMEM with it");
  TRS_TRY(TRS_ALLOC(&c, 1));
  *c = *given;
  if (trs_thread_start(&thread, make_call, c)) {
    trs_free(c);
    return trs_fail(TRS_ERROR_MEMORY, -1, "cannot start a thread");
  }
  process.broken = !returns_in_time(c);
  if (process.broken) {
    (void)pthread_detach(thread);
    return trs_rendezvous_report_lost(process.rendezvous, trs_rendezvous_lost(process.rendezvous));
  }
  (void)pthread_join(thread, NULL);
  *given = *c;
  trs_free(c);
  return TRS_SUCCESS;
}

/* ---- The group's functions ---- */

static trs_status exchange(trs_group *group, void *all, int64_t size) {
  (void)group;
  return trs_rendezvous_exchange(process.rendezvous, all, size);
}

static trs_status fence(trs_group *group) {
  int me = group->first, before = trs_device_enter(group->device[me]);
  trs_status status = trs_device_wait(group->stream[me]);
  trs_device_leave(before);
  return trs_group_agree(group, status);
}

static trs_status raise_alarm(trs_group *group, void *alarm) {
  static const uint64_t raised = 1;
  trs_stream side;
  TRS_TRY(trs_device_side_stream(group->device[group->first], &side));
  return trs_device_copy(alarm, &raised, sizeof raised, side);
}

/* Other processes may end as soon as their work is complete, so the alarm follows after a grace
 * time. */
static trs_status wait_stream(trs_group *group, trs_stream stream, void *alarm) {
  static const double LOOK = 0.1, GRACE = 0.5;
  double looked = trs_seconds(), lost_since = 0;
  for (trs_patience wait = {0}; trs_device_busy(stream);) {
    trs_wait_turn(&wait);
    double now = trs_seconds();
    if (now - looked < LOOK) continue;
    looked = now;
    int lost = trs_rendezvous_lost(process.rendezvous);
    if (lost < 0) continue;
    if (lost_since == 0) lost_since = now;
    if (now - lost_since < GRACE) continue;
    (void)raise_alarm(group, alarm);
    (void)trs_device_wait(stream);
    return trs_rendezvous_report_lost(process.rendezvous, lost);
  }
  return trs_device_wait(stream);
}

static trs_status reach_all(trs_group *group, trs_symmetric *memory, void *mine) {
  for (int m = 0; m < group->members; m++) {
    memory->base[m] = process.link->reach(mine, m);
    if (!memory->base[m])
      return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                      "member %d's GPU cannot reach the memory of member %d's (no peer access "
                      "between them): take GPUs that can, as `nvidia-smi topo -p2p r` shows",
                      group->first, m);
  }
  return TRS_SUCCESS;
}

/* The processes first agree that all have memory: the allocation itself waits for all of them. */
static trs_status alloc(trs_group *group, trs_symmetric *memory) {
  trs_device *device = group->device[group->first];
  trs_status status = trs_device_count(device, memory->bytes);
  bool counted = !status;
  call room = {.verb = ALLOC, .bytes = memory->bytes};
  status = trs_group_agree(group, status);
  if (!status) status = call_guarded(&room);
  if (!status) {
    if (!room.memory)
      status = trs_fail(TRS_ERROR_MEMORY, -1,
                        "NVSHMEM cannot give %.1f MB more at each member: set "
                        "NVSHMEM_SYMMETRIC_SIZE to more than the default",
                        (double)memory->bytes / 1e6);
    else
      status = reach_all(group, memory, room.memory);
    status = trs_group_agree(group, status);
    room.verb = RELEASE;
    if (status && room.memory) (void)call_guarded(&room);
  }
  if (status && counted) (void)trs_device_count(device, -memory->bytes);
  return status;
}

/* If another process has ended, NVSHMEM would wait for it: the memory is then kept until the
 * end. */
static void release(trs_group *group, trs_symmetric *memory) {
  trs_device *device = group->device[group->first];
  if (trs_rendezvous_exchange(process.rendezvous, NULL, 0)) return;
  call gone = {.verb = RELEASE, .memory = memory->base[group->first]};
  if (call_guarded(&gone)) return;
  (void)trs_device_count(device, -memory->bytes);
}

/* Stopping NVSHMEM waits for all processes: only if all of them have arrived here. */
static void stop_at_exit(void) {
  call last = {.verb = STOP};
  if (trs_rendezvous_leave(process.rendezvous) && !process.broken) (void)call_guarded(&last);
  trs_rendezvous_close(process.rendezvous);
  process.rendezvous = NULL;
}

static const trs_group_transport nvshmem = {
    .name = "NVSHMEM",
    .alloc = alloc,
    .free = release,
    .fence = fence,
    .wait = wait_stream,
    .exchange = exchange,
};

/* ---- Opening ---- */

/* Searches next to this library, in ../lib from it, and on the loader's path. */
static void *open_library(char *why, size_t size) {
  static const char FILE_NAME[] = "libtrireme_nvshmem.so";
  static const char *const folders[] = {"", "/../lib", "/../src"};
  const char *own = trs_own_folder();
  char path[PATH_MAX];
  trs_trust found;
  void *library = NULL;
  why[0] = '\0';
  for (size_t k = 0; own && k < sizeof folders / sizeof folders[0] && !library; k++) {
    if (snprintf(path, sizeof path, "%s%s/%s", own, folders[k], FILE_NAME) >= PATH_MAX) continue;
    const bool trusted = trs_trusted(&found, path, false);
    if (trusted) library = dlopen(found.path, RTLD_NOW | RTLD_LOCAL);
    const char *said = library ? NULL : trusted ? dlerror() : found.why;
    if (said && *said) snprintf(why, size, "%.250s", said);
  }
  if (!library) library = dlopen(FILE_NAME, RTLD_NOW | RTLD_LOCAL);
  if (!library && !why[0]) {
    const char *said = dlerror();
    snprintf(why, size, "%s", said ? said : "not found");
  }
  return library;
}

static trs_status load(void) {
  char why[256];
  if (process.link) return TRS_SUCCESS;
  void *library = open_library(why, sizeof why);
  if (!library && !TRS_HAVE_NVSHMEM)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "NVSHMEM is not in this build: `pip install nvidia-nvshmem-cu13` "
                    "and build Trireme from source; or use peer memory in one process: "
                    "cuda:0-3");
  if (!library)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1, "NVSHMEM is in this build but cannot be loaded: %s",
                    why);
  const trs_nvshmem_link *link = dlsym(library, TRS_NVSHMEM_SYMBOL);
  if (!link || link->version != TRS_NVSHMEM_LINK)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "libtrireme_nvshmem.so is of another version of Trireme: install both again");
  process.link = link;
  return TRS_SUCCESS;
}

/* Processes see the same GPUs and use one each, or see one each. */
static trs_status take_gpu(trs_group *group) {
  int count = 0, rank = group->first;
  TRS_TRY(trs_device_total(&count));
  if (count < group->members && count != 1)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "%d processes, but %d GPUs: start as many processes as there are GPUs",
                    group->members, count);
  int ordinal = count == 1 ? 0 : rank;
  return trs_group_open_gpus(group, &ordinal);
}

static trs_status check_distinct(trs_group *group) {
  int64_t identity[TRS_MOST_MEMBERS] = {0};
  TRS_TRY(trs_device_identity(group->device[group->first], &identity[group->first]));
  TRS_TRY(trs_group_exchange(group, identity, sizeof identity[0]));
  for (int a = 0; a < group->members; a++)
    for (int b = 0; b < a; b++)
      if (identity[a] == identity[b])
        return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                        "processes %d and %d of %d have the same GPU: start as many processes as "
                        "there are GPUs",
                        b, a, group->members);
  return TRS_SUCCESS;
}

static trs_status start(trs_group *group) {
  char ids[TRS_MOST_MEMBERS][TRS_NVSHMEM_ID] = {{0}};
  const char *why = group->first == 0 ? process.link->make_id(ids[0]) : NULL;
  trs_status status = why ? trs_fail(TRS_ERROR_UNSUPPORTED, -1, "NVSHMEM: %s", why) : TRS_SUCCESS;
  TRS_TRY(trs_group_agree(group, status));
  TRS_TRY(trs_group_exchange(group, ids, TRS_NVSHMEM_ID));
  call begin = {.verb = START, .rank = group->first, .ranks = group->members};
  memcpy(begin.id, ids[0], sizeof begin.id);
  process.device = group->device[group->first];
  status = call_guarded(&begin);
  if (!status && begin.why) status = trs_fail(TRS_ERROR_UNSUPPORTED, -1, "NVSHMEM: %s", begin.why);
  if (!status) return trs_group_agree(group, TRS_SUCCESS);
  trs_rendezvous_close(process.rendezvous); /* other processes are still in the call: they notice
                                               that this one leaves */
  process.rendezvous = NULL;
  process.broken = true;
  return status;
}

trs_status trs_nvshmem_open(trs_group *group) {
  char name[128];
  group->transport = &nvshmem;
  TRS_TRY(trs_rendezvous_environment(&group->first, &group->members, name, sizeof name));
  group->local = 1;
  TRS_TRY(load());
  if (process.broken)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1, "NVSHMEM has failed in this process before");
  if (!process.rendezvous)
    TRS_TRY(trs_rendezvous_open(&process.rendezvous, name, group->first, group->members));
  TRS_TRY(trs_group_agree(group, take_gpu(group)));
  TRS_TRY(check_distinct(group));
  if (process.started) return TRS_SUCCESS;
  TRS_TRY(start(group));
  process.started = true;
  (void)atexit(stop_at_exit);
  return TRS_SUCCESS;
}
