/* measure.c - times all runners on one system, with the same arrays and right-hand side.  Analyses:
 * the best of three, each from nothing.  Solves: in rounds, each with a block of solves per runner,
 * so that drift of the machine affects all runners.  Each block starts with an uncounted solve,
 * after a pause in which the previous runner's threads fall asleep. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "check.h"
#include "leave.h"
#include "machine.h"
#include "mkl.h"
#include "peer.h"
#include "progress.h"
#include "row.h"
#include "run.h"
#include "runner.h"
#include "system.h"

enum { FRESH = 3 };

typedef struct measurement {
  bench_runners *all;
  bench_system system; /* T borrows the arrays of the matrix it was copied from */
  trs_matrix *columns; /* T as CSC, for the runners that take it so; else NULL */
  trs_plan_info info;  /* of a plan of the library, timed or not */
  double *b, *x, create_seconds, peak_bytes;
} measurement;

/* A peer that refuses a system is left out of it; a refusal by the library is a failure, unless it
 * is of an OpenCL device, which has fewer parameters than a GPU. */
static int refuse(bench_runner *r, const measurement *m) {
  const trs_error *error = trs_last_error();
  bool lacks = error->status == TRS_ERROR_UNSUPPORTED || error->status == TRS_ERROR_ARGUMENT;
  if (r->ctx && !(r->ctx == m->all->gpu && lacks)) return leave_library(m->system.name);
  if (r->ctx)
    notify("bench: %s: without %s: %s", m->system.name, r->method, error->message);
  else
    notify("bench: %s: without oneMKL, which refuses it", m->system.name);
  r->out = true;
  return -1;
}

/* ---- Before the solves ---- */

/* Only the matrix object, over arrays that stay in place. */
static trs_status borrow(measurement *m, trs_matrix **copy) {
  const bench_system *s = &m->system;
  const int64_t *ptr;
  const int32_t *idx;
  const void *val;
  trs_status status = TRS_SUCCESS;
  trs_matrix_get_arrays(s->T, &ptr, &idx, &val);
  m->create_seconds = NAN;
  for (int k = 0; k < FRESH && !status; k++) {
    trs_matrix_destroy(*copy);
    *copy = NULL;
    double start = seconds_now();
    status = trs_matrix_create(copy, TRS_CSR, TRS_DOUBLE, s->info.nrows, s->info.ncols, TRS_PTR64,
                               ptr, idx, val, TRS_BORROW);
    m->create_seconds = fmin(m->create_seconds, seconds_now() - start);
  }
  return status;
}

static const trs_matrix *matrix_of(const bench_runner *r, const measurement *m) {
  return r->by_columns ? m->columns : m->system.T;
}

/* The library's peak memory during the analysis, if it exceeds all earlier peaks. */
static trs_status analyze_once(bench_runner *r, const measurement *m) {
  const bench_system *s = &m->system;
  int64_t held, peak_before, now, peak;
  trs_options how = {
      .struct_size = sizeof(trs_options), .method = r->asked, .nrhs = s->nrhs, .tune = r->tune};
  trs_plan_destroy(r->plan);
  r->plan = NULL;
  trs_memory_usage(&held, &peak_before);
  double start = seconds_now();
  trs_status status =
      trs_analyze(&r->plan, r->ctx, matrix_of(r, m), s->uplo, TRS_NO_TRANS, s->diag, &how);
  r->row.analysis = fmin(r->row.analysis, seconds_now() - start);
  trs_memory_usage(&now, &peak);
  if (peak > peak_before) r->row.analysis_peak = (double)(peak - held);
  if (!status && r->steps) bench_read_steps(&r->row, r->plan);
  return status;
}

static trs_status analyze_plan(bench_runner *r, const measurement *m) {
  trs_status status = TRS_SUCCESS;
  const int fresh = m->all->fresh ? m->all->fresh : FRESH;
  for (int k = 0; k < fresh && !status; k++) status = analyze_once(r, m);
  for (int k = 0; k < fresh && !status; k++) {
    double start = seconds_now();
    status = trs_update(r->plan, matrix_of(r, m));
    r->row.update = fmin(r->row.update, seconds_now() - start);
  }
  return status;
}

static bool analyze_mkl(bench_runner *r, const bench_system *s) {
  bool good = bench_mkl_prepare(&r->mkl, s);
  bench_mkl_threads(r->threads);
  for (int k = 0; k < FRESH && good; k++) {
    bench_mkl_destroy(&r->mkl);
    double start = seconds_now();
    good = bench_mkl_create(&r->mkl);
    double created = seconds_now();
    good = good && bench_mkl_analyze(&r->mkl);
    r->row.create = fmin(r->row.create, created - start);
    r->row.analysis = fmin(r->row.analysis, seconds_now() - created);
  }
  return good;
}

static int analyze(measurement *m, bench_runner *r) {
  r->row = bench_row_empty();
  if (r->ctx) r->row.create = m->create_seconds;
  r->repeats = 0;
  r->parts = (bench_parts){0};
  r->out = false;
  bool good = r->ctx ? !analyze_plan(r, m) : analyze_mkl(r, &m->system);
  return good ? -1 : refuse(r, m);
}

/* ---- The solves ---- */

static trs_layout layout_of(const bench_system *s) {
  return s->by_rows ? TRS_ROW_MAJOR : TRS_COL_MAJOR;
}

static int64_t leading(const bench_system *s) { return s->by_rows ? s->nrhs : s->info.nrows; }

static bool solve(bench_runner *r, measurement *m) {
  if (!r->ctx) return bench_mkl_solve(&r->mkl, m->x, m->b);
  const int64_t ld = leading(&m->system);
  return !trs_solve(r->plan, m->x, ld, m->b, ld, m->system.nrhs, layout_of(&m->system));
}

/* Seconds of the last solve: the device's, which leave out the copies of b and x, if it tells them.
 */
static double last_solve(const bench_runner *r, const measurement *m, double measured) {
  trs_plan_info info = {.struct_size = sizeof info};
  if (!r->ctx || r->ctx != m->all->gpu || trs_plan_get_info(r->plan, &info)) return measured;
  return info.device_seconds > 0 ? info.device_seconds : measured;
}

static int run_block(bench_runner *r, measurement *m, double seconds) {
  const int64_t most = BENCH_MOST_REPEATS / (m->all->rounds ? m->all->rounds : BENCH_ROUNDS);
  const int64_t solves = m->all->solves / bench_rounds(m->all, seconds);
  int64_t last = r->repeats + (solves ? solves : most);
  nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
  if (!r->ctx) bench_mkl_threads(r->threads);
  bool good = solve(r, m);
  double end = seconds_now(), limit = end + seconds;
  while (good && r->repeats < last) {
    double start = end;
    good = solve(r, m);
    end = seconds_now();
    r->seconds[r->repeats++] = last_solve(r, m, end - start);
    if (r->steps) bench_add_parts(&r->parts, r->plan);
    if (r->steps) end = seconds_now();
    if (end > limit) break;
  }
  return good ? -1 : refuse(r, m);
}

/* The answer that the last block of solves left in x. */
static int judge(bench_runner *r, const measurement *m) {
  const bench_system *s = &m->system;
  trs_backward_error error = {.struct_size = sizeof error};
  const int64_t ld = leading(s);
  if (trs_check(&error, s->T, s->uplo, TRS_NO_TRANS, s->diag, m->x, ld, m->b, ld, s->nrhs,
                layout_of(s)))
    return leave_library(s->name);
  bench_judge(&r->row, s, &error, DBL_EPSILON, false);
  return -1;
}

/* Invalidates old answers.  Not with NaN: MKL's threaded sweeps multiply the previous x by zero. */
static void spoil(const measurement *m) {
  for (int64_t i = 0; i < m->system.info.nrows * m->system.nrhs; i++) m->x[i] = 1e100;
}

static int run_rounds(measurement *m, double seconds) {
  const int rounds = bench_rounds(m->all, seconds);
  int code = -1;
  for (int round = 0; round < rounds && code < 0; round++)
    for (int i = 0; i < m->all->count && code < 0; i++) {
      bench_runner *r = &m->all->runner[i];
      if (r->out) continue;
      bench_tick(m->system.name, (double)(round + 1) / (rounds + 1));
      if (round == rounds - 1) spoil(m);
      code = run_block(r, m, seconds / rounds);
      if (code < 0 && !r->out && round == rounds - 1) code = judge(r, m);
    }
  return code;
}

/* ---- Rows ---- */

static trs_status describe_own(bench_runner *r) {
  trs_plan_info info = {.struct_size = sizeof info};
  if (r->steps) {
    (void)trs_plan_describe(r->plan, r->row.plan, sizeof r->row.plan);
    r->row.synchronisation = r->parts.synchronisation / (double)r->repeats;
    r->row.compute = r->parts.compute / (double)r->repeats;
  }
  snprintf(r->row.chosen, sizeof r->row.chosen, "%s", r->asked);
  if (r->terse) return TRS_SUCCESS;
  trs_status status = trs_plan_get_info(r->plan, &info);
  if (status) return status;
  r->row.plan_bytes = (double)info.plan_bytes;
  snprintf(r->row.chosen, sizeof r->row.chosen, "%s", info.method);
  snprintf(r->row.reason, sizeof r->row.reason, "%s", info.reason);
  return trs_plan_bound(r->plan, &r->row.bound);
}

static void describe_mkl(bench_runner *r) {
  snprintf(r->row.chosen, sizeof r->row.chosen, "%s", r->method);
  snprintf(r->row.reason, sizeof r->row.reason, "%s", bench_mkl_version());
}

static trs_status fill_row(const measurement *m, bench_runner *r) {
  bench_row *row = &r->row;
  bench_describe(row, &m->system, &m->info, TRS_DOUBLE, m->system.nrhs);
  snprintf(row->method, sizeof row->method, "%s", r->method);
  row->threads = r->threads;
  if (m->system.by_rows) snprintf(row->layout, sizeof row->layout, "row");
  row->checked = row->nrhs;
  bench_row_times(row, r->seconds, r->repeats, 1);
  row->gbs = 1e-9 * (double)row->bytes / row->fastest;
  row->process_peak = m->peak_bytes;
  if (r->ctx == m->all->gpu && r->ctx) snprintf(row->backend, sizeof row->backend, "opencl");
  if (r->ctx) return describe_own(r);
  describe_mkl(r);
  return TRS_SUCCESS;
}

/* That of the first plan, if there is one. */
static double bound_of(const bench_runners *all) {
  for (int i = 0; i < all->count; i++)
    if (all->runner[i].plan && !all->runner[i].out) return all->runner[i].row.bound;
  return NAN;
}

static int add_rows(bench_rows *rows, measurement *m) {
  int code = bench_system_survey(&m->system, m->system.T, &m->info);
  for (int i = 0; i < m->all->count && code < 0; i++) {
    bench_runner *r = &m->all->runner[i];
    if (r->out) continue;
    code = fill_row(m, r) ? leave_library(m->system.name) : bench_rows_add(rows, &r->row);
  }
  if (code < 0 && m->system.nrhs == 1)
    code = bench_peers_measure(rows, m->all->set,
                               &(bench_peer_job){.system = &m->system,
                                                 .info = &m->info,
                                                 .backend = "cpu",
                                                 .threads = m->all->threads,
                                                 .bound = bound_of(m->all)});
  return code;
}

static int measure(bench_rows *rows, measurement *m, double seconds) {
  int code = -1;
  bench_peak_reset();
  for (int i = 0; i < m->all->count && code < 0; i++) {
    bench_tick(m->system.name, 0);
    code = analyze(m, &m->all->runner[i]);
  }
  spoil(m);
  if (code < 0) code = run_rounds(m, seconds);
  m->peak_bytes = bench_peak_bytes(); /* before the bound, whose buffers must not count */
  if (code < 0) code = add_rows(rows, m);
  for (int i = 0; i < m->all->count; i++) {
    bench_mkl_free(&m->all->runner[i].mkl);
    trs_plan_destroy(m->all->runner[i].plan);
    m->all->runner[i].plan = NULL;
  }
  return code;
}

static bool take_columns(measurement *m) {
  bool wanted = false;
  for (int i = 0; i < m->all->count; i++) wanted |= m->all->runner[i].by_columns;
  return !wanted || !trs_matrix_convert(&m->columns, m->system.T, TRS_CSC, TRS_DOUBLE);
}

int bench_measure(bench_rows *rows, bench_runners *all, const bench_system *system,
                  double seconds) {
  measurement m = {.all = all, .system = *system};
  size_t count = (size_t)(system->info.nrows * system->nrhs);
  trs_matrix *T = NULL;
  int code = -1;
  m.b = malloc((count + 1) * sizeof *m.b);
  m.x = malloc((count + 1) * sizeof *m.x);
  if (!m.b || !m.x) {
    code = leave_memory(2.0 * (double)count * sizeof *m.b, "the right-hand sides and solutions");
  } else if (borrow(&m, &T) || !take_columns(&m)) {
    code = leave_library(system->name);
  } else {
    m.system.T = T;
    trs_random_fill(m.b, (int64_t)count, TRS_DOUBLE, 1);
    code = measure(rows, &m, seconds);
  }
  trs_matrix_destroy(m.columns);
  trs_matrix_destroy(T);
  free(m.b);
  free(m.x);
  return code;
}
