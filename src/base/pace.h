/* pace.h - which of a few ways of doing the same work is taken next: by how many members of a team,
 * and in which manner.  For work whose result does not depend on the way.
 *
 * A pace knows what each way has cost lately, and takes the cheapest.  It tries others as often as
 * that costs a small share of the time.  One of the ways is one member alone, which waits for
 * nobody: where other programs, or the host of a virtual machine, take processors from a team, a
 * run that takes clearly longer than one member alone is the last one, for a time that doubles as
 * long as the next one is late again. */
#ifndef TRS_BASE_PACE_H
#define TRS_BASE_PACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TRS_PACE_WAYS = 6 };

/* Times are in seconds. */
typedef struct trs_pace_way {
  int members;        /* 0: there is no such way */
  double cost;        /* of a run, lately; 0: unknown */
  int fresh;          /* runs that do not count any more, since the first ones touch new memory */
  int tries;          /* trials so far, up to a few */
  double until, hold; /* was late: not taken before; for how long the next time */
  double again, rest; /* was tried in vain: not tried before; for how long the next time */
} trs_pace_way;

typedef struct trs_pace {
  trs_pace_way way[TRS_PACE_WAYS];
  int best;     /* the way in use */
  int trying;   /* 1 + the way of a trial; 0: none */
  int left;     /* runs of the trial that are left */
  int cold;     /* runs that do not count, since members have slept or caches are cold */
  int last;     /* the members of the last run */
  double ended; /* when that was */
  double alone; /* the time of one member alone, about until it is known */
  bool knows_alone;
  double former; /* the cost of the way of the trial before it */
  double spent;  /* on the trial, more than runs in the best way take */
  double credit; /* that trials may spend */
  int64_t fewer; /* runs by fewer than most members */
} trs_pace;

/* Begins with the first way.  members[k]: of way k; 0: there is no such way.  alone: about the time
 * of one member alone. */
void trs_pace_begin(trs_pace *pace, const int members[TRS_PACE_WAYS], double alone);

/* The way of the next run. */
int trs_pace_next(const trs_pace *pace);

/* A run in that way has ended `now`. */
void trs_pace_ran(trs_pace *pace, int way, double seconds, double now);

/* Appends to a plan's description what is unusual: fewer members lately, and runs by fewer. */
void trs_pace_describe(const trs_pace *pace, char *text, size_t size);

/* There is no such way any more. */
void trs_pace_drop(trs_pace *pace, int way);

#endif
