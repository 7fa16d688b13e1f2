/* transport.h - the fields of a group and the functions in which its two transports differ. */
#ifndef TRS_COMM_TRANSPORT_H
#define TRS_COMM_TRANSPORT_H

#include "comm/group.h"
#include "device/shared.h"

typedef struct trs_group_transport {
  const char *name;
  /* Fills in base[m] of every member.  After a failure nothing is allocated. */
  trs_status (*alloc)(trs_group *group, trs_symmetric *memory);
  void (*free)(trs_group *group, trs_symmetric *memory);
  trs_status (*fence)(trs_group *group);
  trs_status (*wait)(trs_group *group, trs_stream stream, void *alarm); /* NULL: as for one GPU */
  trs_status (*exchange)(trs_group *group, void *all, int64_t size);
  void (*close)(trs_group *group);
} trs_group_transport;

struct trs_group {
  int references; /* under group.c's lock */
  const trs_group_transport *transport;
  int members, first, local;
  bool one_process;
  trs_device *device[TRS_MOST_MEMBERS]; /* of local members; else NULL */
  trs_stream stream[TRS_MOST_MEMBERS];
  trs_device_event *event[TRS_MOST_MEMBERS];
  trs_device_event *launched[TRS_MOST_MEMBERS]; /* end of the member's launches, where other groups
                                                   use the GPU too */
  int gpu[TRS_MOST_MEMBERS], gpus;              /* the local members', each once, ascending */
  void *state;                                  /* owned by the transport */
};

/* Opens the GPUs of the local members, given by their ordinals, with their streams and events. */
trs_status trs_group_open_gpus(trs_group *group, const int *ordinals);

/* Fill in a zeroed group.  After a failure the caller still closes it. */
trs_status trs_peer_open(trs_group *group, const int *ordinals, int count);
trs_status trs_nvshmem_open(trs_group *group);

#endif
