/* team.c - the thread team: a generation counter starts a run; a counter of the members still at
 * work ends it. */
#include "base/team.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/cancel.h"
#include "base/counter.h"
#include "base/memory.h"
#include "base/places.h"
#include "base/process.h"
#include "base/thread.h"
#include "base/wait.h"

typedef struct member {
  struct trs_team *team;
  pthread_t thread;
  int rank;
  unsigned begin; /* of the team's generations, when the member was started */
} member;

struct trs_team {
  int size, started;
  bool any;             /* any number of members will do */
  atomic_uint process;  /* the process whose threads the members are */
  atomic_uint renewing; /* the process that is restarting them, during the restart */
  member *members;
  trs_places *places;
  pthread_mutex_t callers; /* held for a whole run: callers run one after the other */
  pthread_mutex_t lock;    /* guards sleeping */
  pthread_cond_t wake;
  _Alignas(64) atomic_uint generation; /* number of the run in progress; members compare it with the
                                          last one they saw */
  _Alignas(64) atomic_int sleeping;
  _Alignas(64) atomic_int working;
  atomic_bool stop;
  void (*body)(void *argument, int rank, int size);
  void *argument;
  int body_size;
};

static void sleep_until_change(trs_team *team, unsigned seen) {
  pthread_mutex_lock(&team->lock);
  atomic_fetch_add(&team->sleeping, 1);
  while (atomic_load(&team->generation) == seen) pthread_cond_wait(&team->wake, &team->lock);
  atomic_fetch_sub(&team->sleeping, 1);
  pthread_mutex_unlock(&team->lock);
}

static void wait_for_run(trs_team *team, unsigned seen) {
  trs_patience wait = {0};
  while (atomic_load_explicit(&team->generation, memory_order_acquire) == seen) {
    if (trs_wait_briefly(&wait)) continue;
    sleep_until_change(team, seen);
    return;
  }
}

static void *member_main(void *pointer) {
  member *self = pointer;
  trs_team *team = self->team;
  (void)trs_thread_own(); /* so that waits in a solve allocate nothing */
  for (unsigned seen = self->begin;; seen++) {
    wait_for_run(team, seen);
    if (atomic_load(&team->stop)) return NULL;
    if (self->rank < team->body_size) {
      trs_places_take(team->places, self->rank);
      team->body(team->argument, self->rank, team->body_size);
    } else {
      trs_places_leave(team->places, self->rank);
    }
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
  trs_patience wait = {0};
  while (trs_team_renew(team)) trs_wait_turn(&wait); /* after a fork since the check */
  pthread_mutex_lock(&team->callers);
  team->body = body;
  team->argument = argument;
  team->body_size = size;
  trs_places_take(team->places, 0);
  atomic_store(&team->working, team->size - 1);
  start_run(team);
  body(argument, 0, size);
  wait = (trs_patience){0};
  while (atomic_load_explicit(&team->working, memory_order_acquire)) trs_wait_turn(&wait);
  pthread_mutex_unlock(&team->callers);
}

static void stop_members(trs_team *team) {
  int cancel = trs_cancel_defer();
  atomic_store(&team->stop, true);
  start_run(team);
  for (int rank = 1; rank <= team->started; rank++) pthread_join(team->members[rank].thread, NULL);
  trs_cancel_restore(cancel);
  pthread_cond_destroy(&team->wake);
  pthread_mutex_destroy(&team->lock);
  pthread_mutex_destroy(&team->callers);
}

/* A forked child initialises everything: locks may have been held, and members at work, at the time
 * of the fork. */
static trs_status start_members(trs_team *team) {
  pthread_mutex_init(&team->callers, NULL);
  pthread_mutex_init(&team->lock, NULL);
  pthread_cond_init(&team->wake, NULL);
  const unsigned begin = (unsigned)trs_counters_begin;
  atomic_store(&team->generation, begin);
  atomic_store(&team->sleeping, 0);
  atomic_store(&team->stop, false);
  for (team->started = 0; team->started + 1 < team->size; team->started++) {
    const int rank = team->started + 1;
    team->members[rank] = (member){.team = team, .rank = rank, .begin = begin};
    if (!trs_thread_start(&team->members[rank].thread, member_main, &team->members[rank])) continue;
    if (team->any) {
      team->size = rank;
      return TRS_SUCCESS;
    }
    stop_members(team);
    return trs_fail(TRS_ERROR_MEMORY, -1,
                    "cannot start thread %d of %d, for memory or threads are short here (ulimit): "
                    "ask for fewer threads",
                    rank + 1, team->size);
  }
  return TRS_SUCCESS;
}

/* One thread of the child restarts the members, and other threads wait for it.  The process number
 * identifies a restart, because a fork during a restart leaves the mark of the parent behind. */
trs_status trs_team_renew(trs_team *team) {
  unsigned now = trs_process();
  while (team && atomic_load(&team->process) != now) {
    unsigned other = atomic_load(&team->renewing);
    trs_patience wait = {0};
    if (other != now && atomic_compare_exchange_strong(&team->renewing, &other, now)) {
      trs_status status = start_members(team);
      if (!status) atomic_store(&team->process, now);
      atomic_store(&team->renewing, now - 1);
      return status;
    }
    while (atomic_load(&team->renewing) == now) trs_wait_turn(&wait);
  }
  return TRS_SUCCESS;
}

static trs_status create(trs_team **result, int size, bool any) {
  trs_team *team;
  *result = NULL;
  TRS_TRY(TRS_ALLOC_ZERO(&team, 1));
  team->size = size;
  team->any = any;
  atomic_init(&team->process, trs_process());
  atomic_init(&team->renewing, trs_process() - 1);
  trs_status status = TRS_ALLOC_ZERO(&team->members, size);
  if (!status) status = trs_places_create(&team->places, size);
  if (!status) status = start_members(team);
  team->any = false; /* later runs rely on the number */
  if (status) {
    trs_places_destroy(team->places);
    trs_free(team->members);
    trs_free(team);
    return status;
  }
  *result = team;
  return TRS_SUCCESS;
}

trs_status trs_team_create(trs_team **team, int size) { return create(team, size, false); }
trs_status trs_team_create_any(trs_team **team, int size) { return create(team, size, true); }

/* The members of a parent process end with that process. */
void trs_team_destroy(trs_team *team) {
  if (!team) return;
  if (atomic_load(&team->process) == trs_process()) stop_members(team);
  trs_places_destroy(team->places);
  trs_free(team->members);
  trs_free(team);
}
