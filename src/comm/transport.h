/* transport.h - the inside of a group, and what its two transports do differently. */
#ifndef TRS_COMM_TRANSPORT_H
#define TRS_COMM_TRANSPORT_H

#include "comm/group.h"
#include "device/shared.h"

typedef struct trs_transport {
  const char *name;
  /* base[m] of every member; on failure nothing is held. */
  trs_status (*alloc)(trs_group *group, trs_symmetric *memory);
  void (*free)(trs_group *group, trs_symmetric *memory);
  trs_status (*fence)(trs_group *group);
  trs_status (*wait)(trs_group *group, trs_stream stream, void *alarm); /* NULL: as for one GPU */
  trs_status (*exchange)(trs_group *group, void *all, int64_t size);
  void (*close)(trs_group *group);
} trs_transport;

struct trs_group {
  int references; /* under group.c's lock */
  const trs_transport *transport;
  int members, first, local;
  bool one_process;
  trs_device *device[TRS_MOST_MEMBERS]; /* of local members; else NULL */
  trs_stream stream[TRS_MOST_MEMBERS];
  trs_device_event *event[TRS_MOST_MEMBERS];
  trs_device_event *launched[TRS_MOST_MEMBERS]; /* so far, where other groups have the GPU too */
  int gpu[TRS_MOST_MEMBERS], gpus;              /* the local members', each once, ascending */
  void *state;                                  /* the transport's own */
};

/* Opens the local members' GPUs, given their ordinals, and their streams and events. */
trs_status trs_group_take(trs_group *group, const int *ordinals);

/* Fill in a zeroed group; after a failure it is still to be closed. */
trs_status trs_peer_open(trs_group *group, const int *ordinals, int count);
trs_status trs_nvshmem_open(trs_group *group);

#endif
