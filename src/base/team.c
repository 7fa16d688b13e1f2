/* team.c - the thread team: a word with the number and the size of a run starts it; a word per
 * share tells who has taken it and when it has ended.  Members without a share in a run neither
 * wake nor hold it up. */
#include "base/team.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/cancel.h"
#include "base/cores.h"
#include "base/counter.h"
#include "base/memory.h"
#include "base/places.h"
#include "base/process.h"
#include "base/thread.h"
#include "base/timer.h"
#include "base/wait.h"

typedef struct member {
  struct trs_team *team;
  pthread_t thread;
  int rank;
  uint64_t begin; /* the team's run when the member was started */
  pthread_mutex_t lock;
  pthread_cond_t wake;
  atomic_bool asleep;
  double patience; /* seconds of spinning for the next run */
  /* The run in which the share of this rank was taken last, its number << SIZE_BITS, plus 1 if it
   * has ended. */
  _Alignas(64) _Atomic uint64_t share;
} member;

struct trs_team {
  int size, started;
  bool any;             /* any number of members will do */
  atomic_uint process;  /* the process whose threads the members are */
  atomic_uint renewing; /* the process that is restarting them, during the restart */
  member *members;
  trs_places *places;
  pthread_mutex_t callers;           /* held for a whole run: callers run one after the other */
  int last;                          /* the size of the last run */
  _Alignas(64) _Atomic uint64_t run; /* its number << SIZE_BITS | its size */
  _Alignas(64) atomic_int sleeping;
  void (*body)(void *argument, int rank, int size);
  void *argument;
  const int *cancel; /* the calling thread's flag */
};

/* A run ends when all its shares have, so a member misses only runs without it, or in which another
 * one took its share. */
enum { SIZE_BITS = 16, STOP = (1 << SIZE_BITS) - 1 }; /* the size of a run that ends all members */
_Static_assert((int)TRS_MOST_THREADS < (int)STOP, "a run's word holds the size of every team");

static int size_of(uint64_t run) { return (int)(run & ((1u << SIZE_BITS) - 1)); }

/* What the word of a share that is taken in this run holds; numbers wrap where run's do. */
static uint64_t taken_in(uint64_t run) { return run >> SIZE_BITS << SIZE_BITS; }

static bool has_part(const member *self, uint64_t run, uint64_t seen) {
  return run != seen && self->rank < size_of(run);
}

static void sleep_until_run(member *self, uint64_t seen) {
  trs_team *team = self->team;
  pthread_mutex_lock(&self->lock);
  atomic_store(&self->asleep, true);
  atomic_fetch_add(&team->sleeping, 1);
  while (!has_part(self, atomic_load(&team->run), seen))
    pthread_cond_wait(&self->wake, &self->lock);
  atomic_fetch_sub(&team->sleeping, 1);
  atomic_store(&self->asleep, false);
  pthread_mutex_unlock(&self->lock);
}

/* Seconds that a member spins between two runs, at least, after it has come too late for one, and
 * at most. */
static const double LEAST_PATIENCE = 50e-6, LATE_PATIENCE = 300e-6, MOST_PATIENCE = 2e-3;

/* A member spins for twice the pauses of late; where these are longer than anybody spins, as little
 * as it can. */
static void learn_pause(member *self, double pause) {
  double patience = 2 * pause;
  if (pause > MOST_PATIENCE || patience < LEAST_PATIENCE) patience = LEAST_PATIENCE;
  if (patience > MOST_PATIENCE) patience = MOST_PATIENCE;
  if (patience < self->patience) patience = (7 * self->patience + patience) / 8;
  self->patience = patience;
}

/* Returns the next run in which the member has a part. */
static uint64_t wait_for_run(member *self, uint64_t seen) {
  trs_patience wait = {0};
  for (;;) {
    const uint64_t run = atomic_load_explicit(&self->team->run, memory_order_acquire);
    if (has_part(self, run, seen)) {
      learn_pause(self, wait.since > 0 ? trs_seconds() - wait.since : 0);
      return run;
    }
    if (!trs_wait_briefly(&wait, self->patience)) sleep_until_run(self, seen);
  }
}

/* ---- Shares ---- */

static bool take(member *of, uint64_t run) {
  const uint64_t word = taken_in(run);
  uint64_t before = atomic_load_explicit(&of->share, memory_order_acquire);
  while (!trs_counter_reached(before, word))
    if (atomic_compare_exchange_weak_explicit(&of->share, &before, word, memory_order_acq_rel,
                                              memory_order_acquire))
      return true;
  return false;
}

static void end(member *of, uint64_t run) {
  atomic_store_explicit(&of->share, taken_in(run) + 1, memory_order_release);
}

static bool has_ended(const member *of, uint64_t run) {
  return atomic_load_explicit(&of->share, memory_order_acquire) == taken_in(run) + 1;
}

/* The present run, for a thread that has a share of it. */
static uint64_t run_now(const trs_team *team) {
  return atomic_load_explicit(&team->run, memory_order_relaxed);
}

int trs_team_take(trs_team *team) {
  const uint64_t run = run_now(team);
  for (int rank = 1; rank < size_of(run); rank++)
    if (take(&team->members[rank], run)) return rank;
  return -1;
}

void trs_team_end(trs_team *team, int share) { end(&team->members[share], run_now(team)); }

/* Members wake each other in the shape of a binary tree: one that woke them all would still be at
 * it when the first ones have done their shares. */
static void wake_next(trs_team *team, int rank, int size) {
  if (atomic_load(&team->sleeping) == 0) return;
  if (size == STOP) size = team->started + 1;
  for (int next = 2 * rank + 1; next <= 2 * rank + 2 && next < size; next++) {
    member *other = &team->members[next];
    if (!atomic_load(&other->asleep)) continue;
    pthread_mutex_lock(&other->lock);
    pthread_cond_signal(&other->wake);
    pthread_mutex_unlock(&other->lock);
  }
}

static void *member_main(void *pointer) {
  member *self = pointer;
  trs_team *team = self->team;
  trs_thread *own = trs_thread_own(); /* waits in a solve then allocate nothing */
  for (uint64_t seen = self->begin;;) {
    seen = wait_for_run(self, seen);
    wake_next(team, self->rank, size_of(seen));
    if (size_of(seen) == STOP) return NULL;
    trs_places_take(team->places, self->rank);
    if (!take(self, seen)) {
      if (self->patience < LATE_PATIENCE) self->patience = LATE_PATIENCE;
      continue;
    }
    if (own) own->cancel = team->cancel;
    team->body(team->argument, self->rank, size_of(seen));
    end(self, seen);
  }
}

static void start_run(trs_team *team, int size) {
  const uint64_t number = (run_now(team) >> SIZE_BITS) + 1;
  for (int rank = size; rank < team->last; rank++) trs_places_leave(team->places, rank);
  team->last = size;
  atomic_store(&team->run, number << SIZE_BITS | (unsigned)size);
  wake_next(team, 0, size);
}

/* Takes the shares that nobody has begun, and waits for the others.  A share that is begun now may
 * wait for any other one, since each of these has a thread of its own or has ended. */
static void finish(trs_team *team, int size) {
  const uint64_t run = run_now(team);
  trs_patience wait = {0};
  for (int rank = 1; rank < size; rank++) {
    if (!take(&team->members[rank], run)) continue;
    team->body(team->argument, rank, size);
    end(&team->members[rank], run);
  }
  for (int rank = 1; rank < size; rank++)
    while (!has_ended(&team->members[rank], run)) trs_wait_turn(&wait);
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
  team->cancel = trs_cancel_flag();
  trs_places_take(team->places, 0);
  start_run(team, size);
  body(argument, 0, size);
  finish(team, size);
  pthread_mutex_unlock(&team->callers);
}

static void stop_members(trs_team *team) {
  int cancel = trs_cancel_defer();
  start_run(team, STOP);
  for (int rank = 1; rank <= team->started; rank++) {
    member *other = &team->members[rank];
    pthread_join(other->thread, NULL);
    pthread_cond_destroy(&other->wake);
    pthread_mutex_destroy(&other->lock);
  }
  trs_cancel_restore(cancel);
  pthread_mutex_destroy(&team->callers);
}

/* A forked child initialises everything: locks may have been held, and members at work, at the time
 * of the fork. */
static trs_status start_members(trs_team *team) {
  pthread_mutex_init(&team->callers, NULL);
  const uint64_t begin = trs_counters_begin << SIZE_BITS;
  team->last = 0;
  atomic_store(&team->run, begin);
  atomic_store(&team->sleeping, 0);
  for (team->started = 0; team->started + 1 < team->size; team->started++) {
    const int rank = team->started + 1;
    member *next = &team->members[rank];
    *next = (member){.team = team, .rank = rank, .begin = begin, .patience = LEAST_PATIENCE};
    atomic_init(&next->share, begin);
    pthread_mutex_init(&next->lock, NULL);
    pthread_cond_init(&next->wake, NULL);
    if (!trs_thread_start(&next->thread, member_main, next)) continue;
    pthread_cond_destroy(&next->wake);
    pthread_mutex_destroy(&next->lock);
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
    TRS_FREE_ALL(team->members, team);
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
  TRS_FREE_ALL(team->members, team);
}
