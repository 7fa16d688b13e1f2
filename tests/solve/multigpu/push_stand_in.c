/* push_stand_in.c - push.cu in plain C.  Launches are queued; when their results are needed, all
 * members execute their launches at the same time, with random delays. */
#include "solve/multigpu/push_stand_in.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "analysis/slice_rows.h"
#include "base/timer.h"
#include "comm/transport.h"
#include "device_stand_in.h"
#include "analysis/slice.h"
#include "solve/multigpu/alone.h"
#include "solve/multigpu/joint.h"
#include "solve/multigpu/push_state.h"
#include "test.h"

trs_verdict push_verdict;
trs_plan *push_made;
int64_t push_launches[4], push_fails_after = -1;
bool push_keeps;
const double *push_seconds;
int32_t push_joint_levels;

static const uint64_t EMPTY = UINT64_MAX;
enum { MOST_LAUNCHES = 4096 };

typedef struct launch {
  trs_push_args a;
  trs_push_run run;
  bool opens;
} launch;

static launch queue[MOST_LAUNCHES];
static int queued;

/* ---- Words that other threads write ---- */

static double peek(const double *word) {
  uint64_t bits = __atomic_load_n((const uint64_t *)word, __ATOMIC_ACQUIRE);
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static void put(double *word, double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  __atomic_store_n((uint64_t *)word, bits, __ATOMIC_RELEASE);
}

static bool is_empty(double value) { return memcmp(&value, &EMPTY, sizeof value) == 0; }

static void empty(double *word) { __atomic_store_n((uint64_t *)word, EMPTY, __ATOMIC_RELAXED); }

static bool goes_on(trs_fault *fault, int64_t row, double *since) {
  (void)sched_yield();
  if (__atomic_load_n(&fault->stalled, __ATOMIC_ACQUIRE)) return false;
  if (*since == 0) *since = trs_seconds();
  if (trs_seconds() - *since < 1e-9 * (double)fault->limit) return true;
  int32_t none = 0;
  if (__atomic_compare_exchange_n(&fault->stalled, &none, 1, false, __ATOMIC_ACQ_REL,
                                  __ATOMIC_RELAXED))
    fault->row = row;
  return false;
}

/* ---- A member's slices of one right-hand side ---- */

typedef struct turn {
  const trs_push_args *a;
  const trs_push_run *run;
  double *work, *parts;
  int64_t place; /* of this third and column, in rows of n */
  int32_t column;
  uint64_t random;
} turn;

static double await(const turn *t, const double *word, int64_t row) {
  double since = 0, value = peek(word);
  while (is_empty(value) && goes_on(t->a->fault, row, &since)) value = peek(word);
  return value;
}

static double lane_sum(const turn *t, const trs_slice *h, int lane, int64_t row) {
  const trs_slices *s = &t->a->slices;
  double sum = 0;
  for (int32_t k = 0; k < h->width && lane < trs_slice_stride(h); k++) {
    const int64_t at = h->entries + (int64_t)k * trs_slice_stride(h) + lane;
    if (s->idx[at] >= 0) sum += ((const double *)s->val)[at] * await(t, &t->work[s->idx[at]], row);
  }
  for (int32_t p = 0; p < h->parts; p++)
    sum += await(t, &t->parts[(int64_t)(h->part + p) * TRS_SLICE_LANES + lane], row);
  return sum;
}

static void finish(const turn *t, int32_t position, double x) {
  const trs_push_args *a = t->a;
  const int32_t of = a->slices.row[position];
  const int64_t row = trs_row_number(of);
  if (!t->run->silent) put(&t->work[position], x);
  for (int m = 0; m < a->members && !t->run->silent; m++)
    if (a->mask[position] >> m & 1)
      put((double *)a->peer[m] + t->place * a->slices.n + position, x);
  if (!trs_row_has_x(of)) return;
  if (a->spread_at == 0)
    ((double *)a->x)[row * a->x_row + t->column * a->x_col] = x;
  else
    for (int m = 0; m < a->members; m++)
      ((double *)((char *)a->peer[m] + a->spread_at))[row * a->x_row + t->column * a->x_col] = x;
}

static void solve_rows(const turn *t, const trs_slice *h, const double *sum) {
  const trs_push_args *a = t->a;
  double residual[TRS_SLICE_LANES];
  for (int r = 0; r < h->rows; r++) {
    const int32_t of = a->slices.row[h->first + r];
    const int64_t row = trs_row_number(of);
    residual[r] =
        trs_row_has_b(of) ? ((const double *)a->b)[row * a->b_row + t->column * a->b_col] : 0;
  }
  subtract_lanes(residual, h, sum);
  for (int r = 0; r < h->rows; r++)
    finish(t, h->first + r, apply_inverse(a->slices.inverse, h, residual, r));
}

static void solve_slice(const turn *t, const trs_slice *h) {
  const int64_t row = trs_row_number(t->a->slices.row[h->first]);
  double sum[TRS_SLICE_LANES];
  if (h->early_poll >= 0) (void)await(t, &t->work[h->early_poll], row);
  for (int lane = 0; lane < TRS_SLICE_LANES; lane++) sum[lane] = lane_sum(t, h, lane, row);
  for (int lane = 0; lane < TRS_SLICE_LANES && h->parts < 0; lane++)
    put(&t->parts[(int64_t)h->part * TRS_SLICE_LANES + lane], sum[lane]);
  if (h->parts >= 0) solve_rows(t, h, sum);
}

static void delay(turn *t) {
  t->random = (t->random + 1442695040888963407u) * 6364136223846793005u;
  for (unsigned k = 0; t->random >> 60 == 0 && k < (t->random >> 40 & 15); k++) (void)sched_yield();
}

/* ---- Launches ---- */

static int64_t third_of(uint64_t solve) { return (int64_t)(solve % TRS_PUSH_THIRDS); }

static turn turn_of(const launch *l, uint64_t solve, int32_t column) {
  const trs_push_args *a = &l->a;
  const int64_t place = third_of(solve) * a->most + column;
  return (turn){.a = a,
                .run = &l->run,
                .work = (double *)a->peer[a->member] + place * a->slices.n,
                .parts = (double *)a->parts + place * a->slices.nparts * TRS_SLICE_LANES,
                .place = place,
                .column = column,
                .random = solve * 77 + (uint64_t)a->member};
}

/* Rows that wait for no row of their own launch may be solved in any order: the last first. */
static void solve_once(const launch *l, uint64_t solve) {
  for (int32_t column = 0; column < l->a.columns; column++) {
    const turn t = turn_of(l, solve, column);
    for (int32_t k = l->run.slice_end; k-- > l->run.slice;) solve_slice(&t, &l->a.slices.slice[k]);
  }
}

/* All other rows by ticket, taken by several "blocks of threads". */
enum { BLOCKS = 2 };

typedef struct tickets {
  const launch *l;
  uint64_t solve;
  _Atomic int32_t next;
} tickets;

static void *take_tickets(void *argument) {
  tickets *of = argument;
  const launch *l = of->l;
  const int32_t turns = (l->run.chunk_end - l->run.chunk) * l->a.columns;
  for (int32_t ticket; (ticket = of->next++) < turns;) {
    turn t = turn_of(l, of->solve, ticket % l->a.columns);
    const int32_t *chunk = &l->a.slices.chunk[l->run.chunk + ticket / l->a.columns];
    t.random += (uint64_t)ticket;
    delay(&t);
    for (int32_t k = chunk[0]; k < chunk[1]; k++) solve_slice(&t, &l->a.slices.slice[k]);
  }
  return NULL;
}

static void solve_by_ticket(const launch *l, uint64_t solve) {
  pthread_t thread[BLOCKS];
  tickets of = {.l = l, .solve = solve};
  for (int k = 0; k < BLOCKS; k++)
    assert_int_equal(pthread_create(&thread[k], NULL, take_tickets, &of), 0);
  for (int k = 0; k < BLOCKS; k++) assert_int_equal(pthread_join(thread[k], NULL), 0);
}

/* Empties the third of the previous solve, as far as that solve used it. */
static void empty_old(const trs_push_args *a, uint64_t solve) {
  const int64_t n = a->slices.n, nparts = (int64_t)a->slices.nparts * TRS_SLICE_LANES;
  const int64_t old = third_of(solve + TRS_PUSH_THIRDS - 1) * a->most;
  for (int32_t c = 0; c < a->counters->columns; c++) {
    double *work = (double *)a->peer[a->member] + (old + c) * n;
    for (int32_t k = 0; k < a->nclear; k++)
      for (int64_t p = (int64_t)a->clear[k] * TRS_PUSH_ROWS, r = 0; r < TRS_PUSH_ROWS && p + r < n;
           r++)
        empty(&work[p + r]);
    for (int64_t k = 0; k < nparts; k++) empty((double *)a->parts + (old + c) * nparts + k);
  }
}

static uint64_t *told(const trs_push_args *a, int member) {
  return (uint64_t *)((char *)a->peer[member] + a->finished_at);
}

static void open_solve(const trs_push_args *a) {
  const uint64_t solve = a->counters->solve + 1;
  for (int m = 0; m < a->members; m++)
    __atomic_store_n(told(a, m) + a->member, solve - 1, __ATOMIC_RELEASE);
  for (int m = 0; m < a->members; m++) {
    double since = 0;
    while (__atomic_load_n(told(a, a->member) + m, __ATOMIC_ACQUIRE) + 2 < solve &&
           goes_on(a->fault, -1, &since)) {
    }
  }
}

static void do_launch(const launch *l) {
  const uint64_t solve = l->a.counters->solve + 1;
  if (l->opens) {
    open_solve(&l->a);
    return;
  }
  (l->run.waits < TRS_PUSH_WAITS_ROWS ? solve_once : solve_by_ticket)(l, solve);
  if (!l->run.last) return;
  if (!push_keeps) empty_old(&l->a, solve);
  l->a.counters->solve = solve;
  l->a.counters->columns = l->a.columns;
}

static void *be_member(void *argument) {
  const int32_t member = *(const int32_t *)argument;
  for (int k = 0; k < queued; k++)
    if (queue[k].a.member == member) do_launch(&queue[k]);
  return NULL;
}

static void work(void) {
  pthread_t thread[TRS_MOST_MEMBERS];
  int32_t member[TRS_MOST_MEMBERS];
  const int members = queued ? queue[0].a.members : 0;
  for (int m = 0; m < members; m++) {
    member[m] = m;
    assert_int_equal(pthread_create(&thread[m], NULL, be_member, &member[m]), 0);
  }
  for (int m = 0; m < members; m++) assert_int_equal(pthread_join(thread[m], NULL), 0);
  queued = 0;
}

static trs_status enqueue(const trs_push_args *a, const trs_push_run *run) {
  if (push_fails_after >= 0 && push_fails_after-- == 0)
    return trs_fail(TRS_ERROR_INTERNAL, -1, "a launch failed as it was told to");
  assert_true(queued < MOST_LAUNCHES);
  queue[queued] = (launch){.a = *a, .opens = run == NULL};
  if (run) queue[queued].run = *run;
  queued++;
  if (run) push_launches[run->waits]++;
  return TRS_SUCCESS;
}

trs_status trs_push_open(const trs_push_args *args, trs_stream stream) {
  (void)stream;
  return enqueue(args, NULL);
}
trs_status trs_push_launch(const trs_push_args *args, const trs_push_run *run, trs_scalar scalar,
                           trs_stream stream) {
  (void)stream;
  assert_int_equal(scalar, TRS_DOUBLE);
  return enqueue(args, run);
}
trs_status trs_push_resident(const trs_push_args *args, const trs_push_run *run, trs_scalar scalar,
                             int *blocks) {
  (void)args, (void)run, (void)scalar;
  *blocks = 1;
  return TRS_SUCCESS;
}

/* ---- Other functions that push calls ---- */

trs_status trs_nvshmem_open(trs_group *group) {
  (void)group;
  return TRS_ERROR_UNSUPPORTED;
}

trs_status trs_alone_create(trs_plan **alone, trs_plan *plan, trs_device *device, trs_stream stream,
                            int64_t nrhs, bool keeps_system) {
  (void)plan, (void)device, (void)stream, (void)nrhs, (void)keeps_system;
  *alone = NULL;
  return TRS_SUCCESS;
}
int32_t trs_alone_levels(const trs_plan *alone) {
  (void)alone;
  return 0;
}
int32_t trs_alone_joint_levels(const trs_plan *alone) {
  (void)alone;
  return push_joint_levels;
}

void trs_alone_take(trs_plan *alone, trs_gpu *gpu) { (void)alone, (void)gpu; }

/* The host makes all deals: no GPU has room for the system. */
trs_status trs_push_load(trs_push_state *p, const trs_plan *plan) {
  (void)p, (void)plan;
  return trs_fail(TRS_ERROR_MEMORY, -1, "no room for the system");
}
void trs_push_unload(trs_push_state *p, const trs_plan *plan) { (void)p, (void)plan; }
trs_status trs_push_features(trs_push_state *p, trs_pattern_features *features) {
  (void)p, (void)features;
  return TRS_ERROR_INTERNAL;
}
trs_status trs_push_join(trs_push_state *p, trs_first *first, bool *made) {
  (void)p, (void)first, (void)made;
  return TRS_ERROR_INTERNAL;
}
trs_status trs_first_cut(trs_first *first, trs_slices *s, const trs_slice_rules *rules) {
  (void)first, (void)s, (void)rules;
  return TRS_ERROR_INTERNAL;
}
trs_status trs_first_deal(trs_first *first, trs_deal *deal, trs_slices *s) {
  (void)first, (void)deal, (void)s;
  return TRS_ERROR_INTERNAL;
}
trs_status trs_first_rows(trs_first *first, const int32_t **row, int32_t **named) {
  (void)first, (void)row, (void)named;
  return TRS_ERROR_INTERNAL;
}
trs_status trs_first_keep_heavy(trs_first *first, int32_t member, const trs_deal_share *share) {
  (void)first, (void)member, (void)share;
  return TRS_ERROR_INTERNAL;
}
trs_status trs_first_keep_place(trs_first *first) {
  (void)first;
  return TRS_ERROR_INTERNAL;
}
trs_status trs_first_fill(trs_first *first, int32_t member, const trs_slices *slices,
                          bool store_float, const int32_t *position) {
  (void)first, (void)member, (void)slices, (void)store_float, (void)position;
  return TRS_ERROR_INTERNAL;
}
trs_status trs_first_joint_rows(const trs_first *first, int32_t **row, const int32_t *named) {
  (void)first, (void)row, (void)named;
  return TRS_ERROR_INTERNAL;
}
trs_status trs_first_pattern(const trs_first *first, uint64_t *pattern) {
  (void)first, (void)pattern;
  return TRS_ERROR_INTERNAL;
}
void trs_first_settle(trs_first *first) { (void)first; }
void trs_first_drop(trs_first *first) { (void)first; }

/* joint.c in plain C. */
trs_status trs_joint_create(trs_joint *joint, bool *made, const trs_system *S,
                            const trs_joint_way *way) {
  enum { LONG = 1 << 20 }; /* no row is split */
  const trs_slice_rules rules = {.most_block = 1,
                                 .lane_length = LONG,
                                 .large_level_lane_length = LONG,
                                 .large_level_rows = LONG,
                                 .small_level_heavy_width = LONG,
                                 .other_heavy_width = LONG};
  const int64_t cut[] = {0, S->n};
  trs_outline *outline;
  trs_slices slices;
  trs_bands bands = {0};
  *made = false;
  *joint = (trs_joint){0};
  TRS_TRY(trs_outline_create(&outline, &slices, S, &rules, NULL, NULL, 1, cut, NULL));
  const int32_t depth = way->depth > 0 ? way->depth : trs_substitution_depth(slices.nlevels);
  trs_status status = trs_bands_create(&bands, slices.level, slices.nlevels, depth, way->gpu);
  if (!status && slices.nlevels > 1) {
    status = trs_substitute(joint, S, &bands);
    *made = !status;
  }
  trs_bands_destroy(&bands);
  trs_slices_destroy(&slices);
  trs_outline_destroy(outline);
  return status;
}
bool trs_alone_fits(const trs_plan *plan, int members) {
  (void)plan, (void)members;
  return true;
}

trs_status trs_alone_time(trs_plan *plan, const trs_alone_arrays *where, int64_t nrhs,
                          double *seconds) {
  (void)plan, (void)where, (void)nrhs;
  assert_non_null(push_seconds);
  *seconds = *push_seconds++;
  return *seconds < 0 ? trs_fail(TRS_ERROR_MEMORY, -1, "no room for the engine") : TRS_SUCCESS;
}

int push_stand_in_begin(void **state) {
  (void)state;
  stand_in_work = work;
  return 0;
}

trs_status push_plan(trs_plan *plan, trs_context *context, trs_matrix *A, trs_uplo uplo,
                     const trs_options *options, const char *parameters) {
  trs_choice choice = {.named = options->method != NULL, .made = push_made};
  *plan = (trs_plan){.context = context,
                     .method = &trs_method_push,
                     .parameters = parameters,
                     .choice = &choice,
                     .matrix = A,
                     .uplo = uplo,
                     .system = trs_system_of(A, uplo, TRS_NO_TRANS, TRS_NONUNIT),
                     .options = *options};
  trs_status status = trs_method_push.look(plan, choice.named ? NULL : &choice.verdict);
  plan->choice = NULL;
  push_verdict = choice.verdict;
  push_made = choice.made;
  return status;
}
