/* group_state.h - relaxation on the GPUs of one process (group.c): its state, shared by creation
 * (group.c), the launches of steps (group_steps.c), and sweeps and norms (group_sweep.c). */
#ifndef TRS_RELAX_CUDA_GROUP_STATE_H
#define TRS_RELAX_CUDA_GROUP_STATE_H

#include "device/shared.h"
#include "relax/cuda/backend.h"
#include "relax/cuda/push.h"

/* The limit of a wait in nanoseconds, which tests set. */
extern uint64_t trs_relax_group_wait_limit;

/* Location of x: right-hand side c's row p at x + c stride + p pitch elements. */
typedef struct trs_relax_place {
  void *x;
  int64_t stride;
  int pitch;
} trs_relax_place;

typedef struct trs_relax_member {
  trs_relaxation *R;     /* NULL: another process's */
  trs_relax_place place; /* of x, without R */
  trs_device *device;
  trs_stream stream;
  void *lists[3]; /* device memory: ptr, to and member of trs_relax_peer_sync and trs_relax_push */
  uint64_t *last; /* host, per colour: its last step in this call, or 0 */
  trs_fault *fault; /* pinned: copy of the signs' fault as of the last wait */
  bool fresh;       /* no step was launched since other work */
} trs_relax_member;

typedef struct trs_relax_group trs_relax_group;
struct trs_relax_group {
  trs_group *group;
  int members;
  trs_relax_member member[TRS_MOST_MEMBERS];
  trs_symmetric signs; /* trs_relax_signs */
  uint64_t step;
  trs_device_event *mark;
  int64_t nrhs;          /* right-hand sides that are loaded */
  trs_relax_words words; /* of the members, for norms */
  void *staged[2]; /* at the first member: x and b of room right-hand sides; NULL until needed */
  int64_t staged_bytes;
  bool one_gpu_each; /* one member per GPU */
  bool together;     /* and one host thread per member */
};

/* Sweeps to launch at all members. */
typedef struct trs_relax_passes {
  const trs_relaxation *R;
  int64_t sweeps, nrhs;
  trs_sweep_direction direction;
  trs_failure failure[TRS_MOST_MEMBERS];
} trs_relax_passes;

trs_status trs_relax_group_pass(trs_relax_passes *P);
/* The launches of one member alone, where other processes launch those of the others. */
trs_status trs_relax_member_pass(trs_relax_passes *P, int which);

/* The lists of a member: of each of its messages, the first position at the receiver. */
trs_status trs_relax_member_lists(trs_relax_member *member, const int64_t *arrival);
void trs_relax_member_free_lists(trs_relax_member *member);
trs_relax_signs trs_relax_first_signs(int members);
/* The error of a member's fault, if it has one.  what: "member" or "the GPU of rank". */
trs_status trs_relax_check_fault(const trs_fault *fault, const char *what);

/* group_sweep.c: entries of trs_relax_backend. */
trs_status trs_relax_group_sweep(trs_relaxation *R, const trs_rhs *rhs,
                                 const trs_sweep_options *options);
trs_status trs_relax_group_wait(trs_plan *plan);

#endif
