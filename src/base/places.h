/* places.h - the CPUs on which the members of a team run.
 *
 * Linux may wake two members on one CPU and leave them there while others are idle: each wait of
 * one member for the other then takes a turn of the scheduler.  A member that finds another one on
 * its CPU moves to a CPU of its affinity mask on which none was seen.  It is not bound: its mask is
 * the same afterwards.  Other processes and the caller's thread are left alone.
 *
 * places_none.c is for systems without affinity masks, such as macOS: their members stay. */
#ifndef TRS_BASE_PLACES_H
#define TRS_BASE_PLACES_H

#include "base/status.h"

typedef struct trs_places trs_places;

/* The processors that this process may use, at least 1. */
int trs_affinity_cores(void);

/* *places is NULL if the environment variable TRIREME_SPREAD is 0.  It may be unset, empty, 0 or 1.
 */
trs_status trs_places_create(trs_places **places, int size);
void trs_places_destroy(trs_places *places);

/* Member rank begins a run: records its CPU, or leaves it to the member that is there.  Member 0,
 * the caller, stays.  NULL is ignored. */
void trs_places_take(trs_places *places, int rank);

/* Member rank has no part in this run. */
void trs_places_leave(trs_places *places, int rank);

#endif
