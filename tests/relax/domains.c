/* domains.c - a block system divided into domains: every row has one place, both sides see the same
 * messages, and threads with one domain each relax colour by colour and store into each other's x
 * as the GPUs of a group do.  A store too early or too late changes bits here and is a race for
 * ThreadSanitizer. */
#include "relax/domains.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/wait.h"
#include "backend/context.h"
#include "bsr.h"
#include "relax/blocks.h"
#include "relax/kernels.h"
#include "test.h"

enum { MOST = 7 };

static trs_context *serial;

static int start(void **state) { return trs_context_create(&serial, "serial"); }

static int stop(void **state) {
  trs_context_destroy(serial);
  return 0;
}

/* ---- A system in domains ---- */

typedef struct dealt {
  trs_block_system system;
  trs_relaxation *domain[MOST];
  int count;
} dealt;

static trs_block_source source_of(const blocks *A) {
  return (trs_block_source){.scalar = TRS_DOUBLE,
                            .block = A->b,
                            .span = 1,
                            .nrows = A->n,
                            .ncols = A->n,
                            .layout = TRS_ROW_MAJOR,
                            .ptr = A->ptr,
                            .idx = A->idx,
                            .val = A->val};
}

static dealt deal(const blocks *A, int count, const trs_relax_options *options) {
  dealt d = {.count = count};
  trs_block_pattern pattern;
  trs_block_source source = source_of(A);
  assert_success(trs_block_pattern_build(&pattern, &source, NULL));
  assert_success(trs_block_system_create(&d.system, &pattern, options, NULL));
  assert_success(trs_block_system_split(&d.system, count));
  for (int k = 0; k < count; k++) {
    assert_success(trs_relaxation_create_domain(&d.domain[k], serial, TRS_DOUBLE, A->b, &d.system,
                                                k, options));
    assert_success(trs_relaxation_update(d.domain[k], &source));
  }
  return d;
}

static void undeal(dealt *d) {
  for (int k = 0; k < d->count; k++) trs_relaxation_destroy(d->domain[k]);
  trs_block_system_free(&d->system);
}

static void check_message(const dealt *d, int from, const trs_domain_message *M) {
  const trs_relaxation *R = d->domain[from], *T = d->domain[M->other];
  int64_t there = trs_domain_arrival(T->domain, from, M);
  assert_true(M->end > M->begin && M->other != from && there >= T->nrows);
  for (int64_t k = M->begin; k < M->end; k++) {
    int64_t p = R->domain->sent[k];
    assert_true(p >= R->colour_ptr[M->colour] && p < R->domain->boundary[M->colour]);
    assert_int_equal(R->row[p], T->row[there + k - M->begin]);
  }
}

static void check_layout(const dealt *d) {
  int64_t rows = 0, all = 0, arrivals = 0, departures = 0;
  for (int k = 0; k < d->count; k++) {
    const trs_relaxation *R = d->domain[k];
    const trs_domain *D = R->domain;
    int64_t sends = D->send_ptr[R->ncolours];
    rows += R->nrows;
    all += R->noff;
    arrivals += R->nhalo;
    departures += sends ? D->send[sends - 1].end : 0;
    for (int64_t p = 0; p < R->nrows; p++) assert_int_equal(d->system.owner[R->row[p]], k);
    for (int64_t p = R->nrows; p < R->nrows + R->nhalo; p++)
      assert_int_not_equal(d->system.owner[R->row[p]], k);
    for (int64_t m = 0; m < sends; m++) check_message(d, k, &D->send[m]);
  }
  assert_int_equal(rows, d->system.reads.n);
  assert_int_equal(all, d->system.reads.ptr[rows]);
  assert_int_equal(arrivals, departures);
}

/* ---- Members ---- */

typedef struct member {
  struct party *party;
  int me;
  pthread_t thread;
  _Atomic uint64_t begun[MOST], pushed[MOST]; /* written by the other members */
  uint64_t *last;
  trs_relax_work work;
} member;

typedef struct party {
  const dealt *d;
  const trs_sweep_options *options;
  member member[MOST];
} party;

static void wait_for(_Atomic uint64_t *word, uint64_t step) {
  trs_patience wait = {0};
  while (atomic_load_explicit(word, memory_order_acquire) < step) trs_wait_turn(&wait);
}

static void tell(_Atomic uint64_t *word, uint64_t step) {
  atomic_store_explicit(word, step, memory_order_release);
}

static void relax(const member *m, int64_t begin, int64_t end) {
  const trs_relaxation *R = m->work.R;
  trs_relax_kernels_of(R->store)->relax(&m->work, begin, end);
}

static void push(const member *m, int32_t c) {
  const trs_relaxation *R = m->work.R;
  const trs_domain *D = R->domain;
  int64_t row = R->block * (int64_t)trs_relax_kernels_of(R->store)->x_size;
  for (int64_t k = D->send_ptr[c]; k < D->send_ptr[c + 1]; k++) {
    const trs_domain_message *M = &D->send[k];
    const trs_relaxation *T = m->party->d->domain[M->other];
    int64_t there = trs_domain_arrival(T->domain, m->me, M);
    for (int64_t e = M->begin; e < M->end; e++)
      memcpy((char *)T->x + (there + e - M->begin) * row, (char *)R->x + D->sent[e] * row,
             (size_t)row);
  }
}

static void take_step(member *m, int32_t c, uint64_t step) {
  const trs_relaxation *R = m->work.R;
  member *all = m->party->member;
  trs_domain_step t;
  trs_domain_take_step(&t, R->domain, c, m->last);
  for (int k = 0; k < m->party->d->count; k++)
    if (t.senders >> k & 1) tell(&all[k].begun[m->me], step);
  for (int k = 0; k < m->party->d->count; k++)
    if (t.needed[k]) wait_for(&m->pushed[k], t.needed[k]);
  relax(m, R->colour_ptr[c], R->domain->boundary[c]);
  for (int k = 0; k < m->party->d->count; k++)
    if (t.receivers >> k & 1) wait_for(&m->begun[k], step);
  push(m, c);
  for (int k = 0; k < m->party->d->count; k++)
    if (t.receivers >> k & 1) tell(&all[k].pushed[m->me], step);
  relax(m, R->domain->boundary[c], R->colour_ptr[c + 1]);
  m->last[c] = step;
}

static void *be_member(void *argument) {
  member *m = argument;
  const trs_sweep_options *o = m->party->options;
  int32_t n = m->work.R->ncolours;
  uint64_t step = 0;
  for (int64_t s = 0; s < o->sweeps; s++)
    for (int back = 0; back < 2; back++) {
      if (back ? o->direction == TRS_SWEEP_FORWARD : o->direction == TRS_SWEEP_BACKWARD) continue;
      for (int32_t c = 0; c < n; c++) take_step(m, back ? n - 1 - c : c, ++step);
    }
  return NULL;
}

/* Copies the member's rows of b to r and sets x to zero; b is in the order of the system's rows. */
static void load(const trs_relaxation *R, const double *b) {
  int B = R->block;
  memset(R->x, 0, (size_t)((R->nrows + R->nhalo) * B) * trs_relax_kernels_of(R->store)->x_size);
  for (int64_t p = 0; p < R->nrows; p++)
    for (int i = 0; i < B; i++) ((double *)R->r)[p * B + i] = b[(int64_t)R->row[p] * B + i];
}

static void run_party(const dealt *d, const trs_sweep_options *o, const double *b) {
  static party only; /* aligned as the work requires */
  party *P = &only;
  trs_rhs rhs = {.nrhs = 1};
  *P = (party){.d = d, .options = o};
  for (int k = 0; k < d->count; k++) {
    member *m = &P->member[k];
    load(d->domain[k], b);
    m->party = P;
    m->me = k;
    m->work = (trs_relax_work){.R = d->domain[k], .rhs = &rhs, .options = o};
    m->last = calloc((size_t)d->system.ncolours + 1, sizeof *m->last);
  }
  for (int k = 0; k < d->count; k++)
    assert_int_equal(pthread_create(&P->member[k].thread, NULL, be_member, &P->member[k]), 0);
  for (int k = 0; k < d->count; k++) {
    pthread_join(P->member[k].thread, NULL);
    free(P->member[k].last);
  }
}

/* Stored in double, so that x keeps the precision of its sums. */
static void check(const blocks *A, int count, const trs_sweep_options *o, const int32_t *colour) {
  int64_t n = A->n * A->b;
  trs_relax_options options = {
      .struct_size = sizeof(trs_relax_options), .store = TRS_STORE_DOUBLE, .colour = colour};
  double *b = malloc((size_t)n * sizeof *b), *x = malloc((size_t)n * sizeof *x);
  trs_plan *one;
  trs_random_fill(b, n, TRS_DOUBLE, 3);
  assert_success(trs_relax_create_bsr(
      &one, serial,
      BSR(TRS_DOUBLE, A->n, 0, A->b, TRS_ROW_MAJOR, TRS_PTR64, A->ptr, A->idx, A->val), &options));
  assert_success(trs_relax_sweep(one, x, n, b, n, 1, TRS_COL_MAJOR, o));
  dealt d = deal(A, count, &options);
  check_layout(&d);
  for (int round = 0; round < 3; round++) {
    run_party(&d, o, b);
    for (int k = 0; k < count; k++) {
      const trs_relaxation *R = d.domain[k];
      for (int64_t p = 0; p < R->nrows; p++)
        assert_memory_equal((double *)R->x + p * A->b, x + (int64_t)R->row[p] * A->b,
                            (size_t)A->b * sizeof *x);
    }
  }
  undeal(&d);
  trs_plan_destroy(one);
  free(b);
  free(x);
}

static const trs_sweep_options sweeps[] = {
    {.struct_size = sizeof(trs_sweep_options), .sweeps = 6, .omega = 1},
    {.struct_size = sizeof(trs_sweep_options),
     .sweeps = 4,
     .omega = 0.8,
     .direction = TRS_SWEEP_BACKWARD},
    {.struct_size = sizeof(trs_sweep_options),
     .sweeps = 4,
     .omega = 1,
     .direction = TRS_SWEEP_SYMMETRIC}};

TEST(random_systems) {
  for (int count = 2; count <= MOST; count++)
    for (int how = 0; how < 3; how++) {
      blocks A = blocks_random(400, 3, 4 + how, 2, (uint64_t)count);
      check(&A, count, &sweeps[how], NULL);
      blocks_free(&A);
    }
}

TEST(few_rows) {
  for (int64_t n = 1; n < 12; n++) {
    blocks A = blocks_random(n, 2, 3, 2, (uint64_t)n);
    check(&A, 2 + (int)(n % 6), &sweeps[n % 3], NULL);
    blocks_free(&A);
  }
}

/* One colour per row: without synchronisation the domains would run far ahead of each other. */
TEST(colours_of_one_row) {
  enum { N = 120 };
  int32_t colour[N];
  for (int i = 0; i < N; i++) colour[i] = (i * 7) % N;
  blocks A = blocks_random(N, 2, 3, 2, 9);
  for (int count = 2; count <= 5; count++) check(&A, count, &sweeps[count % 3], colour);
  blocks_free(&A);
}

TEST(partitions) {
  blocks A = blocks_random(1000, 1, 4, 2, 5);
  trs_relax_options options = {.struct_size = sizeof(trs_relax_options), .store = TRS_STORE_DOUBLE};
  dealt d = deal(&A, 4, &options);
  int64_t rows[4] = {0};
  for (int64_t i = 0; i < 1000; i++) rows[d.system.owner[i]]++;
  for (int k = 0; k < 4; k++) assert_in_range(rows[k], 150, 350);
  undeal(&d);
  blocks_free(&A);
}

TEST(failing_allocations) {
  blocks A = blocks_random(100, 2, 4, 2, 5);
  trs_relax_options options = {.struct_size = sizeof(trs_relax_options), .store = TRS_STORE_DOUBLE};
  trs_block_source source = source_of(&A);
  int64_t before, after, peak;
  trs_memory_usage(&before, &peak);
  for (int64_t n = 0;; n++) {
    trs_block_pattern pattern;
    trs_block_system S = {.domains = 0};
    trs_relaxation *R = NULL;
    trs_memory_fail_after(n);
    trs_status status = trs_block_pattern_build(&pattern, &source, NULL);
    if (!status) status = trs_block_system_create(&S, &pattern, &options, NULL);
    if (!status) status = trs_block_system_split(&S, 3);
    if (!status) status = trs_relaxation_create_domain(&R, serial, TRS_DOUBLE, 2, &S, 1, &options);
    trs_memory_fail_after(-1);
    trs_relaxation_destroy(R);
    trs_block_system_free(&S);
    trs_memory_usage(&after, &peak);
    assert_int_equal(before, after);
    if (!status) break;
    assert_int_equal(status, TRS_ERROR_MEMORY);
  }
  blocks_free(&A);
}

const test_program program = {.begin = start, .end = stop};
