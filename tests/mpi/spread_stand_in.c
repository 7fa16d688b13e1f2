/* spread_stand_in.c - spread.cu and L23's columns.cu in plain C: a launch is some threads that
 * take tasks by ticket, with delays at random, and stand for warps whose products they add up in
 * another order than they come. */
#include "mpi/spread_stand_in.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "base/timer.h"
#include "solve/grid3d/ops.h"

enum { BLOCKS = 3 };

double spread_limit = 60;
int spread_drops;

typedef struct block {
  const trs_spread_args *a;
  const trs_spread_task *t;
  int32_t chunk, first, count; /* of right-hand sides */
  uint64_t random;
} block;

static void delay(block *w) {
  w->random = (w->random + 1442695040888963407u) * 6364136223846793005u;
  for (unsigned k = 0; w->random >> 61 == 0 && k < (w->random >> 40 & 15); k++) (void)sched_yield();
}

/* ---- Values that carry their readiness, and words ---- */

/* True if a wait goes on. */
static bool goes_on(const block *w, double begin) {
  trs_fault *fault = w->a->fault;
  (void)sched_yield();
  if (__atomic_load_n(&fault->stalled, __ATOMIC_ACQUIRE)) return false;
  if (trs_seconds() - begin < spread_limit) return true;
  fault->row = w->t->name;
  __atomic_store_n(&fault->stalled, 1, __ATOMIC_RELEASE);
  return false;
}

static bool peek(const char *from, char *to, size_t size) {
  bool whole = true;
  for (size_t at = 0; at < size; at += 8) {
    uint64_t word = size < 8 ? __atomic_load_n((const uint32_t *)from, __ATOMIC_RELAXED)
                             : __atomic_load_n((const uint64_t *)(from + at), __ATOMIC_RELAXED);
    whole &= word != (size < 8 ? UINT32_MAX : UINT64_MAX);
    memcpy(to + at, &word, size < 8 ? size : 8);
  }
  return whole;
}

static void await_value(const block *w, const void *from, void *to, size_t size) {
  double begin = trs_seconds();
  while (!peek(from, to, size) && goes_on(w, begin)) {
  }
}

/* One in so many is never stored. */
static bool is_lost(void) {
  static atomic_int told;
  return spread_drops && atomic_fetch_add(&told, 1) % spread_drops == spread_drops - 1;
}

static void publish(void *to, const void *value, size_t size) {
  uint64_t word = 0;
  if (is_lost()) return;
  for (size_t at = 0; at < size; at += 8) {
    memcpy(&word, (const char *)value + at, size < 8 ? size : 8);
    if (size < 8)
      __atomic_store_n((uint32_t *)to, (uint32_t)word, __ATOMIC_RELAXED);
    else
      __atomic_store_n((uint64_t *)to + at / 8, word, __ATOMIC_RELAXED);
  }
}

static int64_t word_of(const block *w, int32_t K) { return (int64_t)K * w->a->chunks + w->chunk; }

static void await_word(const block *w, const uint32_t *word, uint32_t value) {
  double begin = trs_seconds();
  while (__atomic_load_n(word, __ATOMIC_ACQUIRE) != value && goes_on(w, begin)) {
  }
}

static void tell(uint32_t *word, uint32_t solve) {
  if (!is_lost()) __atomic_store_n(word, solve, __ATOMIC_RELEASE);
}

static char *sum_at(const block *w, int32_t member, int32_t child, int64_t size) {
  int64_t row = child * w->a->columns + w->t->first;
  return w->a->base[member] + w->a->sums + (row * w->a->nrhs + w->first) * size;
}

static pthread_mutex_t adding = PTHREAD_MUTEX_INITIALIZER;

#define TRS_TEMPLATE "mpi/spread_stand_in_tmpl.c"
#include "base/instantiate.h"

/* ---- Launches ---- */

typedef struct launch {
  const trs_spread_args *a;
  void (*const *do_task)(block *); /* by scalar */
} launch;

static void *take_tasks(void *argument) {
  const launch *l = argument;
  const trs_spread_args *a = l->a;
  uint32_t all = (uint32_t)(a->ntasks * a->chunks), ticket;
  while ((ticket = __atomic_fetch_add(a->ticket, 1, __ATOMIC_RELAXED)) < all) {
    int32_t chunk = (int32_t)(ticket % (uint32_t)a->chunks);
    int64_t left = a->nrhs - (int64_t)chunk * a->tile;
    block w = {.a = a,
               .t = &a->task[ticket / (uint32_t)a->chunks],
               .chunk = chunk,
               .first = chunk * a->tile,
               .count = (int32_t)(left < a->tile ? left : a->tile),
               .random = ticket * 1000003u + a->member * 77u + (uintptr_t)a->b};
    delay(&w);
    l->do_task[a->scalar](&w);
  }
  return NULL;
}

/* WAIT of Algorithm 5: it ends when all words have come. */
static void *watch(void *argument) {
  const trs_spread_args *a = argument;
  double begin = trs_seconds();
  for (bool waits = true; waits;) {
    waits = false;
    for (int64_t i = 0; i < (int64_t)a->ntasks * a->chunks; i++) {
      block w = {.a = a, .t = &a->task[i / a->chunks], .chunk = (int32_t)(i % a->chunks)};
      int64_t word = word_of(&w, w.t->K);
      const uint32_t *told = (const uint32_t *)(a->base[a->member] + a->x_arrived_at) + word;
      if (w.t->kind == TRS_SPREAD_RECEIVE && __atomic_load_n(told, __ATOMIC_ACQUIRE) != a->solve)
        waits |= goes_on(&w, begin);
    }
  }
  return NULL;
}

static trs_status run_blocks(const trs_spread_args *a, void (*const *do_task)(block *)) {
  pthread_t thread[BLOCKS];
  launch l = {a, do_task};
  int started = 0;
  while (started < BLOCKS && !pthread_create(&thread[started], NULL, take_tasks, &l)) started++;
  for (int k = 0; k < started; k++) (void)pthread_join(thread[k], NULL);
  return started ? TRS_SUCCESS : trs_fail(TRS_ERROR_MEMORY, -1, "no thread could be started");
}

trs_status trs_spread_launch(const trs_spread_args *a, trs_stream stream) {
  static void (*const do_task[])(block *) = TRS_TABLE(do_task);
  (void)stream;
  return run_blocks(a, do_task);
}

trs_status trs_l23_launch_columns(const trs_spread_args *a, trs_stream stream, trs_stream side) {
  static void (*const do_column[])(block *) = TRS_TABLE(do_column);
  pthread_t watcher;
  trs_spread_args own = *a;
  (void)stream, (void)side;
  memset(a->lsum, 0, (size_t)(a->columns * a->nrhs) * trs_scalar_size(a->scalar));
  memset(a->added, 0, (size_t)(a->count * a->chunks) * sizeof *a->added);
  if (pthread_create(&watcher, NULL, watch, &own))
    return trs_fail(TRS_ERROR_MEMORY, -1, "no thread could be started");
  trs_status status = run_blocks(a, do_column);
  (void)pthread_join(watcher, NULL);
  return status;
}

trs_status trs_spread_move(const trs_spread_rows *m, trs_stream stream) {
  static void (*const move[])(const trs_spread_rows *) = TRS_TABLE(move_rows);
  (void)stream;
  move[m->scalar](m);
  return TRS_SUCCESS;
}
