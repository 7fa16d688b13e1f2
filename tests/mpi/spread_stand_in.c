/* spread_stand_in.c - spread.cu in plain C: a launch is some threads that take tasks by ticket,
 * with delays at random, and stand for warps whose products they add up in another order than they
 * come. */
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

/* ---- Words ---- */

static _Atomic uint32_t *word_at(char *base, int64_t at, int64_t number) {
  return (_Atomic uint32_t *)(base + at) + number;
}
static _Atomic uint32_t *x_word(const block *w, int32_t member, int32_t K) {
  return word_at(w->a->base[member], w->a->x_told, (int64_t)K * w->a->chunks + w->chunk);
}
static _Atomic uint32_t *sum_word(const block *w, int32_t member, int32_t child) {
  return word_at(w->a->base[member], w->a->sums_told,
                 (child * w->a->count + w->t->K) * w->a->chunks + w->chunk);
}
static char *sum_at(const block *w, int32_t member, int32_t child, int64_t size) {
  int64_t row = child * w->a->columns + w->t->first;
  return w->a->base[member] + w->a->sums + (row * w->a->nrhs + w->first) * size;
}

static void await(const block *w, const _Atomic uint32_t *word) {
  trs_fault *fault = w->a->fault;
  double begin = trs_seconds();
  while (atomic_load_explicit(word, memory_order_acquire) != w->a->solve) {
    (void)sched_yield();
    if (__atomic_load_n(&fault->stalled, __ATOMIC_ACQUIRE)) return;
    if (trs_seconds() - begin < spread_limit) continue;
    fault->row = w->t->name;
    __atomic_store_n(&fault->stalled, 1, __ATOMIC_RELEASE);
  }
}

/* One word in so many is never told. */
static void tell(_Atomic uint32_t *word, uint32_t solve) {
  static atomic_int told;
  if (spread_drops && atomic_fetch_add(&told, 1) % spread_drops == spread_drops - 1) return;
  atomic_store_explicit(word, solve, memory_order_release);
}

#define TRS_TEMPLATE "mpi/spread_stand_in_tmpl.c"
#include "base/instantiate.h"

/* ---- Launches ---- */

typedef struct launch {
  const trs_spread_args *a;
  _Atomic uint32_t ticket;
} launch;

static void *take_tasks(void *argument) {
  static void (*const do_task[])(block *) = TRS_TABLE(do_task);
  launch *l = argument;
  const trs_spread_args *a = l->a;
  uint32_t all = (uint32_t)(a->ntasks * a->chunks), ticket;
  while ((ticket = l->ticket++) < all) {
    int32_t chunk = (int32_t)(ticket % (uint32_t)a->chunks);
    int64_t left = a->nrhs - (int64_t)chunk * a->tile;
    block w = {.a = a,
               .t = &a->task[ticket / (uint32_t)a->chunks],
               .chunk = chunk,
               .first = chunk * a->tile,
               .count = (int32_t)(left < a->tile ? left : a->tile),
               .random = a->solve * 1000003u + ticket + (uint64_t)a->member * 77};
    delay(&w);
    do_task[a->scalar](&w);
  }
  return NULL;
}

trs_status trs_spread_launch(const trs_spread_args *a, trs_stream stream) {
  pthread_t thread[BLOCKS];
  launch l = {.a = a};
  int started = 0;
  (void)stream;
  while (started < BLOCKS && !pthread_create(&thread[started], NULL, take_tasks, &l)) started++;
  if (!started) return trs_fail(TRS_ERROR_MEMORY, -1, "no thread could be started");
  for (int k = 0; k < started; k++) (void)pthread_join(thread[k], NULL);
  return TRS_SUCCESS;
}

trs_status trs_spread_move(const trs_spread_rows *m, trs_stream stream) {
  static void (*const move[])(const trs_spread_rows *) = TRS_TABLE(move_rows);
  (void)stream;
  move[m->scalar](m);
  return TRS_SUCCESS;
}
