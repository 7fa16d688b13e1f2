/* places.c - one word per CPU names the member seen there, and one word per member names its CPU:
 * in the usual case a member reads two words that nobody writes. */
#define _GNU_SOURCE
#include "base/places.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/timer.h"

typedef struct place {
  _Alignas(64) atomic_int cpu; /* -1: none */
  double moved;                /* the time of the last move */
} place;

struct trs_places {
  int size;
  place *of;                      /* size */
  atomic_short seen[CPU_SETSIZE]; /* 1 + the member, or 0 */
};

int trs_affinity_cores(void) {
  enum { MOST_CPUS = 1 << 16 };
  int count = 1;
  for (int cpus = 1024; cpus <= MOST_CPUS; cpus *= 2) { /* the kernel's own mask may be longer */
    cpu_set_t *set = CPU_ALLOC((size_t)cpus);
    size_t size = CPU_ALLOC_SIZE((size_t)cpus);
    bool got = set && sched_getaffinity(0, size, set) == 0;
    if (got) count = CPU_COUNT_S(size, set);
    CPU_FREE(set);
    if (got) break;
  }
  return count > 0 ? count : 1;
}

trs_status trs_places_create(trs_places **result, int size) {
  const char *text = getenv("TRIREME_SPREAD");
  trs_places *places;
  *result = NULL;
  if (text && strcmp(text, "0") == 0) return TRS_SUCCESS;
  if (text && *text && strcmp(text, "1") != 0)
    return trs_fail(TRS_ERROR_ARGUMENT, -1,
                    "the environment variable TRIREME_SPREAD is \"%s\": it must be 0 or 1", text);
  TRS_TRY(TRS_ALLOC_ZERO(&places, 1));
  places->size = size;
  trs_status status = TRS_ALLOC_ZERO(&places->of, size);
  if (status) {
    trs_free(places);
    return status;
  }
  for (int rank = 0; rank < size; rank++) atomic_init(&places->of[rank].cpu, -1);
  *result = places;
  return TRS_SUCCESS;
}

void trs_places_destroy(trs_places *places) {
  if (!places) return;
  TRS_FREE_ALL(places->of, places);
}

void trs_places_leave(trs_places *places, int rank) {
  if (places) atomic_store_explicit(&places->of[rank].cpu, -1, memory_order_relaxed);
}

static int cpu_of(const trs_places *places, int rank) {
  return atomic_load_explicit(&places->of[rank].cpu, memory_order_relaxed);
}

/* At most once per millisecond: on a machine with other work the scheduler knows better. */
static void move(trs_places *places, int rank) {
  static const double PAUSE = 1e-3;
  cpu_set_t mask, free;
  const double now = trs_seconds();
  if (now - places->of[rank].moved < PAUSE || sched_getaffinity(0, sizeof mask, &mask)) return;
  places->of[rank].moved = now;
  free = mask;
  for (int other = 0; other < places->size; other++)
    if (other != rank && cpu_of(places, other) >= 0) CPU_CLR(cpu_of(places, other), &free);
  if (CPU_COUNT(&free) == 0) return;
  if (sched_setaffinity(0, sizeof free, &free) == 0) (void)sched_setaffinity(0, sizeof mask, &mask);
}

void trs_places_take(trs_places *places, int rank) {
  if (!places) return;
  int cpu = sched_getcpu();
  if (cpu < 0 || cpu >= CPU_SETSIZE) return;
  int seen = atomic_load_explicit(&places->seen[cpu], memory_order_relaxed);
  if (seen == rank + 1 && cpu_of(places, rank) == cpu) return;
  if (rank > 0 && seen > 0 && seen != rank + 1 && cpu_of(places, seen - 1) == cpu) {
    move(places, rank);
    cpu = sched_getcpu();
    if (cpu < 0 || cpu >= CPU_SETSIZE) return;
  }
  atomic_store_explicit(&places->of[rank].cpu, cpu, memory_order_relaxed);
  atomic_store_explicit(&places->seen[cpu], (short)(rank + 1), memory_order_relaxed);
}
