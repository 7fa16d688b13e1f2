/* peer.c - all members in one process: memory of one GPU that the kernels of the others access. */
#include "comm/transport.h"

static trs_status alloc(trs_group *group, trs_symmetric *memory) {
  trs_status status = TRS_SUCCESS;
  for (int m = 0; m < group->members && !status; m++)
    status = trs_device_alloc_plain(group->device[m], &memory->base[m], memory->bytes);
  if (status)
    for (int m = 0; m < group->members; m++)
      trs_device_free_plain(group->device[m], memory->base[m], memory->bytes);
  return status;
}

static void release(trs_group *group, trs_symmetric *memory) {
  for (int m = 0; m < group->members; m++)
    trs_device_free_plain(group->device[m], memory->base[m], memory->bytes);
}

/* The streams of all other GPUs wait for each member's event. */
static trs_status fence(trs_group *group) {
  if (group->members == 1) return TRS_SUCCESS;
  for (int m = 0; m < group->members; m++) {
    int before = trs_device_enter(group->device[m]);
    trs_status status = trs_device_event_record(group->event[m], group->stream[m]);
    trs_device_leave(before);
    TRS_TRY(status);
  }
  for (int m = 0; m < group->members; m++)
    for (int other = 0; other < group->members; other++)
      if (other != m) TRS_TRY(trs_device_event_follow(group->event[m], group->stream[other]));
  return TRS_SUCCESS;
}

static trs_status exchange(trs_group *group, void *all, int64_t size) {
  (void)group; /* every member's record is in this process */
  (void)all;
  (void)size;
  return TRS_SUCCESS;
}

static const trs_group_transport peer = {
    .name = "peer memory", .alloc = alloc, .free = release, .fence = fence, .exchange = exchange};

trs_status trs_peer_open(trs_group *group, const int *ordinals, int count) {
  group->transport = &peer;
  group->one_process = true;
  group->members = group->local = count;
  TRS_TRY(trs_group_open_gpus(group, ordinals));
  for (int a = 0; a < count; a++)
    for (int b = 0; b < count; b++) TRS_TRY(trs_device_reach(group->device[a], group->device[b]));
  return TRS_SUCCESS;
}
