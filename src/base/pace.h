/* pace.h - how many members of a team run a solve.  Where other programs use the cores, a member
 * that loses its core keeps the others waiting for milliseconds; and a team can be too large for
 * the work.
 *
 * A trial compares the mean time of runs by half of the members, by one alone, or by more again,
 * with that of the number in use, and the faster number stays.  Trials down begin where the members
 * often lose their cores, which the kernel counts, or where runs take much longer than the fastest
 * one did.  A steady team is asked seldom.  For work whose result does not depend on who does it.
 */
#ifndef TRS_BASE_PACE_H
#define TRS_BASE_PACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Trials of fewer members, or of more. */
typedef struct trs_pace_way {
  double hold, until; /* the time between two trials; no trial before */
  bool far;           /* the next one is of one member, or of all, instead of half or twice */
  bool last;          /* the last change was on this way */
} trs_pace_way;

/* All zero at first. */
typedef struct trs_pace {
  int members;  /* in use; 0: all */
  int trying;   /* in a trial; 0: none */
  bool asked;   /* the trial of fewer began because runs were late */
  int warm;     /* runs that do not count, of those needed before others do */
  double spent; /* seconds in the runs of this trial, or of this window */
  int64_t runs;
  double usual; /* mean seconds of a run before the trial */
  double least; /* seconds of the fastest run of all */
  trs_pace_way fewer, more;
  int64_t seen;       /* losses at the beginning of the window */
  int64_t fewer_runs; /* runs of all by fewer members */
} trs_pace;

/* How often the members of a team lost their cores. */
typedef _Atomic int64_t trs_losses;

/* The number of members, out of all, for the next run. */
int trs_pace_members(const trs_pace *pace, int all);

/* After a run that ended at `now`. */
void trs_pace_ran(trs_pace *pace, int all, double now, double seconds, int64_t losses);

/* The calling thread's losses count from here on, unless trs_losses_note was called just before. */
void trs_losses_begin(double now);

/* Adds the losses of the calling thread since its last call.  Asks the kernel once in a
 * millisecond, and allocates nothing. */
void trs_losses_note(trs_losses *losses);

#endif
