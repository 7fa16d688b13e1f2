/* group.c - the code common to both transports: members, streams, agreement on failures. */
#include "comm/group.h"

#include <pthread.h>
#include <string.h>

#include "base/memory.h"
#include "comm/transport.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* NVSHMEM starts once per process: all groups of a process over NVSHMEM are this one. */
static trs_group *over_nvshmem;

/* ---- GPUs shared by several groups.  Kernels of one group wait for each other across GPUs.  If
 * one GPU started the kernels of one group and another GPU those of a second group, all would wait
 * for ever.  A group therefore launches only while it holds all of its GPUs, and after the work of
 * the group that launched there before.  The caller orders graphs: streams under capture neither
 * wait for other streams nor are waited for. ---- */

enum { MOST_GPUS = 64 };

static struct held_gpu {
  pthread_mutex_t launching; /* guards the other fields */
  const trs_group *last;     /* the group that launched here last */
  bool marked;               /* its events are recorded after its last launch */
} held[MOST_GPUS];

static void make_locks(void) {
  for (int g = 0; g < MOST_GPUS; g++) pthread_mutex_init(&held[g].launching, NULL);
}

static int ordinal_of(const trs_group *group, int member) {
  return trs_device_look(group->device[member])->ordinal;
}

static int end_of(const trs_group *group) { return group->first + group->local; }

static bool is_here(const trs_group *group, int member, int gpu) {
  return ordinal_of(group, member) == gpu && !trs_device_capturing(group->stream[member]);
}

/* Records the end of the group's work on this GPU.  A failure is one of CUDA itself, which the
 * launches return too. */
static void mark_end(const trs_group *group, int gpu) {
  if (held[gpu].marked) return;
  for (int m = group->first; m < end_of(group); m++) {
    if (!is_here(group, m, gpu)) continue;
    TRS_ON_DEVICE(group->device[m]);
    (void)trs_device_event_record(group->launched[m], group->stream[m]);
  }
  held[gpu].marked = true;
}

static void follow(const trs_group *group, const trs_group *last, int gpu) {
  for (int m = group->first; m < end_of(group); m++)
    for (int k = last->first; k < end_of(last) && is_here(group, m, gpu); k++)
      if (ordinal_of(last, k) == gpu)
        (void)trs_device_event_follow(last->launched[k], group->stream[m]);
}

/* The group's GPUs, each once, ascending: all groups lock them in this order. */
static void list_gpus(trs_group *group) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, make_locks);
  for (int gpu = 0; gpu < MOST_GPUS; gpu++)
    for (int m = group->first; m < end_of(group); m++)
      if (ordinal_of(group, m) == gpu) {
        group->gpu[group->gpus++] = gpu;
        break;
      }
}

static void forget_group(trs_group *group) {
  for (int k = 0; k < group->gpus; k++) {
    struct held_gpu *g = &held[group->gpu[k]];
    pthread_mutex_lock(&g->launching);
    if (g->last == group) g->last = NULL;
    pthread_mutex_unlock(&g->launching);
  }
}

void trs_group_lock(trs_group *group) {
  for (int k = 0; k < group->gpus; k++) pthread_mutex_lock(&held[group->gpu[k]].launching);
  for (int k = 0; k < group->gpus; k++) {
    const trs_group *last = held[group->gpu[k]].last;
    if (!last || last == group) continue;
    mark_end(last, group->gpu[k]);
    follow(group, last, group->gpu[k]);
  }
}

void trs_group_mark(trs_group *group) {
  for (int k = 0; k < group->gpus; k++)
    if (held[group->gpu[k]].last == group) mark_end(group, group->gpu[k]);
}

/* Work that became part of a graph was not launched. */
static void note_launch(const trs_group *group, int gpu) {
  bool here = false;
  for (int m = group->first; m < end_of(group); m++) here |= is_here(group, m, gpu);
  if (!here) return;
  held[gpu].last = group;
  held[gpu].marked = false;
}

void trs_group_unlock(trs_group *group) {
  for (int k = group->gpus - 1; k >= 0; k--) {
    note_launch(group, group->gpu[k]);
    pthread_mutex_unlock(&held[group->gpu[k]].launching);
  }
}

/* ---- Opening and closing ---- */

trs_status trs_group_open_gpus(trs_group *group, const int *ordinals) {
  for (int k = 0; k < group->local; k++) {
    int m = group->first + k;
    TRS_TRY(trs_device_open(&group->device[m], ordinals[k]));
    TRS_TRY(trs_device_stream_create(group->device[m], &group->stream[m]));
    TRS_TRY(trs_device_event_create(group->device[m], &group->event[m]));
    TRS_TRY(trs_device_event_create(group->device[m], &group->launched[m]));
  }
  list_gpus(group);
  return TRS_SUCCESS;
}

static void destroy_group(trs_group *group) {
  forget_group(group);
  if (group->transport && group->transport->close) group->transport->close(group);
  for (int m = group->first; m < end_of(group); m++) {
    trs_device_event_destroy(group->event[m]);
    trs_device_event_destroy(group->launched[m]);
    if (group->device[m]) trs_device_stream_destroy(group->device[m], group->stream[m]);
    trs_device_close(group->device[m]);
  }
  trs_free(group);
}

static trs_status open_new(trs_group **result, const char *where, bool nvshmem) {
  trs_group *group;
  int ordinals[TRS_MOST_MEMBERS], count = 0;
  if (!nvshmem) TRS_TRY(trs_group_parse(where, ordinals, &count));
  TRS_TRY(TRS_ALLOC_ZERO(&group, 1));
  group->references = 1;
  trs_status status = nvshmem ? trs_nvshmem_open(group) : trs_peer_open(group, ordinals, count);
  if (status)
    destroy_group(group);
  else
    *result = group;
  return status;
}

trs_status trs_group_open(trs_group **result, const char *where) {
  bool nvshmem = strcmp(where, "nvshmem") == 0;
  trs_status status = TRS_SUCCESS;
  *result = NULL;
  pthread_mutex_lock(&lock);
  if (nvshmem && over_nvshmem) {
    *result = over_nvshmem;
    over_nvshmem->references++;
  } else {
    status = open_new(result, where, nvshmem);
    if (nvshmem && !status) {
      over_nvshmem = *result;
      over_nvshmem->references++; /* kept until the process ends */
    }
  }
  pthread_mutex_unlock(&lock);
  return status;
}

trs_group *trs_group_retain(trs_group *group) {
  pthread_mutex_lock(&lock);
  if (group) group->references++;
  pthread_mutex_unlock(&lock);
  return group;
}

void trs_group_close(trs_group *group) {
  if (!group) return;
  pthread_mutex_lock(&lock);
  bool last = --group->references == 0;
  pthread_mutex_unlock(&lock);
  if (last) destroy_group(group);
}

int trs_group_members(const trs_group *group) { return group->members; }
int trs_group_first(const trs_group *group) { return group->first; }
int trs_group_local(const trs_group *group) { return group->local; }
bool trs_group_one_process(const trs_group *group) { return group->one_process; }
trs_device *trs_group_device(const trs_group *group, int member) { return group->device[member]; }
trs_stream trs_group_stream(const trs_group *group, int member) { return group->stream[member]; }

/* With several processes each has one GPU. */
int trs_group_sharers(const trs_group *group, int member) {
  int sharers = 0;
  for (int m = 0; m < group->members; m++) sharers += group->device[m] == group->device[member];
  return sharers;
}

/* ---- Steps of the members ---- */

static trs_status run_member(const trs_group *group, int member, trs_member_step step, void *work) {
  TRS_ON_DEVICE(group->device[member]);
  return step(work, member);
}

trs_status trs_group_each(const trs_group *group, trs_member_step step, void *work) {
  for (int m = group->first; m < group->first + group->local; m++)
    TRS_TRY(run_member(group, m, step, work));
  return TRS_SUCCESS;
}

typedef struct team_work {
  const trs_group *group;
  trs_member_step step;
  void *work;
  trs_failure failure[TRS_MOST_MEMBERS];
} team_work;

static void run_members(void *argument, int rank, int size) {
  team_work *w = argument;
  for (int k = rank; k < w->group->local; k += size)
    if (run_member(w->group, w->group->first + k, w->step, w->work))
      trs_failure_get(&w->failure[k]);
}

trs_status trs_group_each_by_team(const trs_group *group, trs_team *team, trs_member_step step,
                                  void *work) {
  team_work w = {.group = group, .step = step, .work = work};
  const int size = trs_team_size(team);
  trs_team_run(team, size < group->local ? size : group->local, run_members, &w);
  for (int k = 0; k < group->local; k++)
    if (w.failure[k].status) return trs_failure_set(&w.failure[k]);
  return TRS_SUCCESS;
}

/* ---- Memory and agreement ---- */

trs_status trs_group_alloc(trs_group *group, trs_symmetric *memory, int64_t bytes) {
  *memory = (trs_symmetric){.bytes = bytes > 0 ? bytes : 1};
  trs_status status = group->transport->alloc(group, memory);
  if (status) *memory = (trs_symmetric){.bytes = 0};
  return status;
}

void trs_group_free(trs_group *group, trs_symmetric *memory) {
  if (memory->bytes) group->transport->free(group, memory);
  *memory = (trs_symmetric){.bytes = 0};
}

trs_status trs_group_fence(trs_group *group) { return group->transport->fence(group); }

trs_status trs_group_wait(trs_group *group, trs_stream stream, void *alarm) {
  if (!group->transport->wait) return trs_device_wait(stream);
  return group->transport->wait(group, stream, alarm);
}

trs_status trs_group_exchange(trs_group *group, void *all, int64_t size) {
  return group->transport->exchange(group, all, size);
}

trs_status trs_group_agree(trs_group *group, trs_status mine) {
  if (group->one_process) return mine;
  trs_failure all[TRS_MOST_MEMBERS];
  memset(all, 0, sizeof all);
  if (mine) trs_failure_get(&all[group->first]);
  TRS_TRY(trs_group_exchange(group, all, sizeof all[0]));
  for (int m = 0; m < group->members; m++)
    if (all[m].status) return trs_failure_set(&all[m]);
  return TRS_SUCCESS;
}
