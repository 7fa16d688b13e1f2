/* push_break.c - a plan of `push` in which rows wait forever. */
#include "solve/multigpu/push_break.h"

#include "solve/multigpu/push_state.h"

/* Reads the slice, changes it and writes it back. */
static trs_status lose_first_row(void *state, int number) {
  trs_push_state *p = state;
  const trs_push_member *m = trs_push_member_of(p, number);
  static const uint64_t SOON = 200000000; /* nanoseconds */
  trs_slice slice;
  if (m->number == 0) {
    p->host_fault->limit = SOON;
    TRS_TRY(trs_device_copy(trs_push_shared_at(p, 0, p->fault_at), p->host_fault,
                            sizeof *p->host_fault, m->stream));
  }
  if (m->share.nslices == 0) return TRS_SUCCESS;
  TRS_TRY(trs_device_copy(&slice, m->args.slices.slice, sizeof slice, m->stream));
  TRS_TRY(trs_device_wait(m->stream));
  slice.rows = 0;
  TRS_TRY(trs_device_copy(m->args.slices.slice, &slice, sizeof slice, m->stream));
  return trs_device_wait(m->stream);
}

trs_status push_break(trs_plan *plan) {
  trs_push_state *p = plan->state;
  return trs_group_each(p->group, lose_first_row, p);
}
