/* team.c - the thread team: one generation counter starts a run, one counter of members still at
 * work ends it. */
#define _GNU_SOURCE
#include "base/team.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/memory.h"
#include "base/timer.h"

static const double SPIN_SECONDS = 200e-6; /* some wake-ups long: longer costs more than it saves */

typedef struct member {
  struct trs_team *team;
  pthread_t thread;
  int rank;
} member;

struct trs_team {
  int size, started;
  member *members;
  pthread_mutex_t callers; /* held for a whole run: callers take turns */
  pthread_mutex_t lock;    /* guards sleeping */
  pthread_cond_t wake;
  _Alignas(64) atomic_uint generation; /* the run in progress; members compare with the last seen */
  _Alignas(64) atomic_int sleeping;
  _Alignas(64) atomic_int working;
  atomic_bool stop;
  void (*body)(void *argument, int rank, int size);
  void *argument;
  int body_size;
};

void trs_yield(void) { sched_yield(); }

int trs_cores(void) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set)) return 1;
  int count = CPU_COUNT(&set);
  return count > 0 ? count : 1;
}

static void sleep_until_change(trs_team *team, unsigned seen) {
  pthread_mutex_lock(&team->lock);
  atomic_fetch_add(&team->sleeping, 1);
  while (atomic_load(&team->generation) == seen) pthread_cond_wait(&team->wake, &team->lock);
  atomic_fetch_sub(&team->sleeping, 1);
  pthread_mutex_unlock(&team->lock);
}

static void wait_for_run(trs_team *team, unsigned seen) {
  unsigned turns = 0;
  double limit = 0;
  while (atomic_load_explicit(&team->generation, memory_order_acquire) == seen) {
    trs_spin(&turns);
    if (turns & 255) continue;
    double now = trs_seconds();
    if (limit == 0) limit = now + SPIN_SECONDS;
    if (now > limit) {
      sleep_until_change(team, seen);
      return;
    }
  }
}

static void *member_main(void *pointer) {
  member *self = pointer;
  trs_team *team = self->team;
  for (unsigned seen = 0;; seen++) {
    wait_for_run(team, seen);
    if (atomic_load(&team->stop)) return NULL;
    if (self->rank < team->body_size) team->body(team->argument, self->rank, team->body_size);
    atomic_fetch_sub_explicit(&team->working, 1, memory_order_release);
  }
}

static void start_run(trs_team *team) {
  atomic_fetch_add(&team->generation, 1);
  if (atomic_load(&team->sleeping) == 0) return;
  pthread_mutex_lock(&team->lock);
  pthread_cond_broadcast(&team->wake);
  pthread_mutex_unlock(&team->lock);
}

int trs_team_size(const trs_team *team) { return team ? team->size : 1; }

void trs_team_run(trs_team *team, int size, void (*body)(void *, int, int), void *argument) {
  if (!team || size <= 1) {
    body(argument, 0, 1);
    return;
  }
  pthread_mutex_lock(&team->callers);
  team->body = body;
  team->argument = argument;
  team->body_size = size;
  atomic_store(&team->working, team->size - 1);
  start_run(team);
  body(argument, 0, size);
  unsigned turns = 0;
  while (atomic_load_explicit(&team->working, memory_order_acquire)) trs_spin(&turns);
  pthread_mutex_unlock(&team->callers);
}

trs_status trs_team_create(trs_team **result, int size) {
  trs_team *team;
  *result = NULL;
  TRS_TRY(TRS_ALLOC_ZERO(&team, 1));
  pthread_mutex_init(&team->callers, NULL);
  pthread_mutex_init(&team->lock, NULL);
  pthread_cond_init(&team->wake, NULL);
  team->size = size;
  trs_status status = TRS_ALLOC_ZERO(&team->members, size);
  for (int rank = 1; !status && rank < size; rank++) {
    team->members[rank] = (member){.team = team, .rank = rank};
    if (pthread_create(&team->members[rank].thread, NULL, member_main, &team->members[rank]))
      status = trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                        "cannot start thread %d of %d: ask for fewer threads", rank + 1, size);
    else
      team->started = rank;
  }
  if (status) {
    trs_team_destroy(team);
    return status;
  }
  *result = team;
  return TRS_SUCCESS;
}

void trs_team_destroy(trs_team *team) {
  if (!team) return;
  atomic_store(&team->stop, true);
  start_run(team);
  for (int rank = 1; rank <= team->started; rank++) pthread_join(team->members[rank].thread, NULL);
  pthread_cond_destroy(&team->wake);
  pthread_mutex_destroy(&team->lock);
  pthread_mutex_destroy(&team->callers);
  trs_free(team->members);
  trs_free(team);
}
