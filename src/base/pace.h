/* pace.h - whether the members of a team run a solve, or the calling thread alone does the work of
 * all.  Where other programs use the cores, a member that loses its core keeps the others waiting
 * for milliseconds.
 *
 * The kernel counts how often a thread loses its core.  If the members lose theirs several times in
 * a short time, a trial compares the mean time of runs by the caller alone with those of the team,
 * and the faster way stays for a while.  A team that is alone on the machine never tries.  For work
 * whose result does not depend on who does it. */
#ifndef TRS_BASE_PACE_H
#define TRS_BASE_PACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef enum trs_pace_state {
  TRS_PACE_TEAM,
  TRS_PACE_TRY_ALONE,
  TRS_PACE_ALONE,
  TRS_PACE_TRY_TEAM
} trs_pace_state;

/* All zero at first. */
typedef struct trs_pace {
  trs_pace_state state;
  double spent; /* seconds in the runs of this state, or of this window in it */
  int64_t runs;
  double team, alone; /* mean seconds of a run */
  double until, hold; /* no trial before; the time between two trials */
  int64_t seen;       /* losses at the beginning of the window */
  int64_t alone_runs; /* of all */
} trs_pace;

/* How often the members of a team lost their cores. */
typedef _Atomic int64_t trs_losses;

static inline bool trs_pace_is_alone(const trs_pace *pace) {
  return pace->state == TRS_PACE_TRY_ALONE || pace->state == TRS_PACE_ALONE;
}

/* After a run that ended at `now`. */
void trs_pace_ran(trs_pace *pace, double now, double seconds, int64_t losses);

/* Adds the losses of the calling thread since its last call.  Asks the kernel once in a
 * millisecond, and allocates nothing. */
void trs_losses_note(trs_losses *losses);

#endif
