/* places_none.c - systems that tell a thread neither its CPU nor let it choose one. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

#include <unistd.h>

#include "base/places.h"

int trs_affinity_cores(void) {
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  return cores > 0 ? (int)cores : 1;
}

trs_status trs_places_create(trs_places **places, int size) {
  *places = NULL;
  return TRS_SUCCESS;
}

void trs_places_destroy(trs_places *places) {}

void trs_places_take(trs_places *places, int rank) {}

void trs_places_leave(trs_places *places, int rank) {}
