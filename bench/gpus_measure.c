/* gpus_measure.c - times methods of one and several GPUs on one system, with b and x on the first
 * GPU, and with both distributed.  Solves are launched in sequence and timed by the host's clock
 * from an idle GPU to an idle GPU, in rounds that include every solver, so that ratios are of one
 * run.  The checked answer is of a solve into memory with invalid contents. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "cuda.h"
#include "gpu_system.h"
#include "gpus.h"
#include "leave.h"
#include "output.h"
#include "progress.h"
#include "row.h"
#include "run.h"
#include "runner.h"
#include "system.h"

const char *const gpus_place_names[GPUS_PLACES] = {"first", "spread", "streams"};

enum { ROUNDS = 5, MOST_IN_BATCH = 50, SPOILT = 0x7b };
static const double BATCH = 0.02, SLOW = 0.2; /* seconds */

typedef struct measurement {
  const gpus_job *job;
  bench_gpu first; /* b and x on the first GPU */
  int64_t n, checked;
} measurement;

static bool use(const measurement *m, int member) {
  return bench_cuda_use(m->job->gpus->number[member]);
}

/* Leaves the first GPU as the current one. */
static bool wait_all(const measurement *m) {
  bool good = true;
  for (int k = m->job->gpus->count; k-- > 0;) good = use(m, k) && bench_cuda_wait() && good;
  return good;
}

/* ---- Solvers that fail ---- */

static void place_name(char *name, size_t size, const gpus_solver *s) {
  static const char *const where[GPUS_PLACES] = {
      "", ", b and x where they are solved", ", b and x where they are solved, in several streams"};
  snprintf(name, size, "%s on %d GPU%s%s", s->method, s->gpus, s->gpus == 1 ? "" : "s",
           where[s->place]);
}

/* A method that does not support the system, or lacks memory, is left out; any other failure of the
 * library is a result. */
static void give_up(const measurement *m, gpus_solver *s) {
  const char *why = bench_cuda_error();
  const trs_error *error = trs_last_error();
  char name[128];
  if (why)
    s->out = !strcmp(why, "out of memory");
  else
    s->out = error->status == TRS_ERROR_UNSUPPORTED || error->status == TRS_ERROR_ARGUMENT ||
             error->status == TRS_ERROR_MEMORY;
  s->failed = !s->out;
  snprintf(s->row.reason, sizeof s->row.reason, "%s", why ? why : error->message);
  place_name(name, sizeof name, s);
  notify("bench: %s, %s: without %s: %s", m->job->system->name,
         human_things(m->job->nrhs, "right-hand side", "right-hand sides").s, name, s->row.reason);
}

static bool plays(const gpus_solver *s) { return !s->out && !s->failed; }

/* ---- Before the solves ---- */

/* The matrix comes from the host: each analysis uploads it to the GPUs that need it. */
static bool analyze(const measurement *m, gpus_solver *s) {
  const bench_system *system = m->job->system;
  trs_options how = {.struct_size = sizeof(trs_options),
                     .method = s->method,
                     .nrhs = m->job->nrhs,
                     .distributed = s->place != GPUS_FIRST};
  double start = seconds_now();
  bool good =
      !trs_context_set_gpu_memory(s->ctx, (int64_t)m->job->limit) &&
      !trs_analyze(&s->plan, s->ctx, system->T, system->uplo, TRS_NO_TRANS, system->diag, &how);
  s->row.analysis = seconds_now() - start;
  return good;
}

/* Copies each member's part of b to it, and allocates its part of x. */
static bool place(const measurement *m, gpus_solver *s) {
  for (int k = 0; k < s->gpus; k++) {
    trs_plan_share share = {.struct_size = sizeof share};
    if (trs_plan_get_share(s->plan, &share, NULL, k, m->job->nrhs)) return false;
    if (!share.nrows || !share.ncolumns) continue;
    size_t bytes = (size_t)(m->n * share.ncolumns) * sizeof(double);
    const double *from = (const double *)m->first.b + share.first_column * m->n;
    if (!use(m, k) || !bench_cuda_alloc(&s->b[k], bytes) || !bench_cuda_alloc(&s->x[k], bytes) ||
        !bench_cuda_move(s->b[k], from, bytes) || !bench_cuda_fill(s->x[k], SPOILT, bytes))
      return false;
  }
  return wait_all(m);
}

static void prepare(const measurement *m, gpus_solver *s) {
  const gpus_solver *sharer = &m->job->solver[s->sharer];
  s->row = bench_row_empty();
  s->repeats = s->batch = 0;
  s->out = s->failed = false;
  if (sharer != s && !plays(sharer)) { /* it has reported the failure */
    s->out = true;
    return;
  }
  s->plan = sharer->plan;
  s->row.analysis = sharer->row.analysis;
  if ((sharer == s && !analyze(m, s)) || (s->place != GPUS_FIRST && !place(m, s))) give_up(m, s);
}

static void dismiss(const measurement *m, gpus_solver *s, bool sharer) {
  for (int k = 0; k < s->gpus; k++) {
    (void)use(m, k);
    BENCH_CUDA_FREE(s->b[k], s->x[k]);
    s->b[k] = s->x[k] = NULL;
  }
  if (sharer) trs_plan_destroy(s->plan);
  s->plan = NULL;
}

/* ---- The solves ---- */

static bool solve(const measurement *m, const gpus_solver *s) {
  if (s->place != GPUS_FIRST)
    return !trs_solve_distributed(s->plan, s->x, m->n, (const void *const *)s->b, m->n,
                                  m->job->nrhs, TRS_COL_MAJOR);
  return !trs_solve(s->plan, m->first.x, m->n, m->first.b, m->n, m->job->nrhs, TRS_COL_MAJOR);
}

/* The default stream of the first GPU, or of every GPU. */
static bool take_streams(const gpus_solver *s) {
  void *const streams[BENCH_MOST_GPUS] = {NULL};
  return !(s->place == GPUS_STREAMS ? trs_plan_set_streams(s->plan, streams)
                                    : trs_plan_set_stream(s->plan, NULL));
}

/* Seconds per solve of count solves; negative: a failure. */
static double time_batch(const measurement *m, const gpus_solver *s, int64_t count) {
  if (!take_streams(s)) return -1;
  double start = seconds_now();
  for (int64_t k = 0; k < count; k++)
    if (!solve(m, s)) return -1;
  if (trs_plan_wait(s->plan)) return -1;
  return (seconds_now() - start) / (double)count;
}

/* One solve that is not counted; the first time also determines the size of a batch. */
static bool warm_up(const measurement *m, gpus_solver *s) {
  double seconds = time_batch(m, s, 1);
  if (s->batch || seconds < 0) return seconds >= 0;
  if (seconds < SLOW) seconds = time_batch(m, s, 2);
  double count = (s->brief ? BATCH / 2 : BATCH) / seconds;
  s->batch = !(count < MOST_IN_BATCH) ? MOST_IN_BATCH : count > 1 ? (int64_t)count : 1;
  return seconds >= 0;
}

/* A brief solver has one batch per round, or only one in total if it is slow. */
static bool run_samples(const measurement *m, gpus_solver *s, double seconds) {
  int64_t first = s->repeats, most = first + BENCH_MOST_REPEATS / ROUNDS;
  if (s->brief && s->repeats && s->seconds[0] >= SLOW) return true;
  if (!warm_up(m, s)) return false;
  for (double spent = 0; s->repeats < most && (s->repeats == first || spent < seconds);) {
    double sample = time_batch(m, s, s->batch);
    if (sample < 0) return false;
    s->seconds[s->repeats++] = sample;
    spent += sample * (double)s->batch;
  }
  return true;
}

static void run_rounds(const measurement *m, double seconds) {
  const gpus_job *job = m->job;
  for (int round = 0; round < ROUNDS; round++)
    for (int k = 0; k < job->count; k++) {
      gpus_solver *s = &job->solver[k];
      bench_tick(job->system->name, (double)(round + 1) / (ROUNDS + 1));
      double share = s->brief ? 0 : seconds / ROUNDS;
      if (plays(s) && !run_samples(m, s, share)) give_up(m, s);
    }
}

/* ---- The answers ---- */

/* The k-th checked column, evenly distributed from the first to the last: one of every member. */
static int64_t column_of(const measurement *m, int64_t k) {
  return m->checked > 1 ? k * (m->job->nrhs - 1) / (m->checked - 1) : 0;
}

static bool fetch_from_first(const measurement *m, const void *device, double *host) {
  size_t bytes = (size_t)m->n * sizeof *host;
  for (int64_t k = 0; k < m->checked; k++)
    if (!bench_cuda_get(host + k * m->n, (const double *)device + column_of(m, k) * m->n, bytes))
      return false;
  return true;
}

/* The rows that a member solved, of each checked column that it has. */
static bool fetch_share(const measurement *m, const gpus_solver *s, int member, int64_t *rows,
                        double *column, double *host) {
  trs_plan_share share = {.struct_size = sizeof share};
  size_t bytes = (size_t)m->n * sizeof *column;
  if (trs_plan_get_share(s->plan, &share, rows, member, m->job->nrhs)) return false;
  for (int64_t k = 0; k < m->checked; k++) {
    int64_t at = column_of(m, k) - share.first_column;
    if (!s->x[member] || at < 0 || at >= share.ncolumns) continue;
    if (!bench_cuda_get(column, (const double *)s->x[member] + at * m->n, bytes)) return false;
    for (int64_t i = 0; i < share.nrows; i++) host[k * m->n + rows[i]] = column[rows[i]];
  }
  return true;
}

/* Values that no member solved stay invalid. */
static bool fetch_from_all(const measurement *m, const gpus_solver *s, double *host) {
  size_t bytes = (size_t)m->n * sizeof(double);
  int64_t *rows = malloc((size_t)m->n * sizeof *rows + 1);
  double *column = malloc(bytes + 1);
  bool good = rows && column;
  memset(host, SPOILT, (size_t)m->checked * bytes);
  for (int k = 0; k < s->gpus && good; k++)
    good = use(m, k) && fetch_share(m, s, k, rows, column, host);
  free(rows);
  free(column);
  return use(m, 0) && good;
}

static bool spoil(const measurement *m, const gpus_solver *s) {
  trs_plan_share share = {.struct_size = sizeof share};
  bool good = bench_cuda_fill(m->first.x, SPOILT, (size_t)(m->n * m->job->nrhs) * sizeof(double));
  for (int k = 0; k < s->gpus && good && s->place != GPUS_FIRST; k++)
    good = !s->x[k] ||
           (!trs_plan_get_share(s->plan, &share, NULL, k, m->job->nrhs) && use(m, k) &&
            bench_cuda_fill(s->x[k], SPOILT, (size_t)(m->n * share.ncolumns) * sizeof(double)));
  return wait_all(m) && good;
}

static bool fetch(const measurement *m, const gpus_solver *s, double *host) {
  if (!spoil(m, s) || time_batch(m, s, 1) < 0 || !wait_all(m)) return false;
  return s->place != GPUS_FIRST ? fetch_from_all(m, s, host)
                                : fetch_from_first(m, m->first.x, host);
}

static void begin_check(const measurement *m, gpus_solver *s, bench_check *check) {
  check->x = malloc((size_t)(m->n * m->checked) * sizeof(double) + 1);
  if (check->x && fetch(m, s, check->x))
    bench_check_begin(check);
  else
    give_up(m, s);
}

static int check_answers(const measurement *m) {
  const gpus_job *job = m->job;
  size_t bytes = (size_t)(m->n * m->checked) * sizeof(double);
  bench_check check[BENCH_MOST_RUNNERS] = {0};
  double *b = malloc(bytes + 1);
  if (!b) return leave_memory((double)bytes, "the answers");
  bool good = fetch_from_first(m, m->first.b, b);
  for (int k = 0; k < job->count && good; k++) {
    gpus_solver *s = &job->solver[k];
    check[k] = (bench_check){.system = job->system,
                             .T = job->system->T,
                             .b = b,
                             .columns = m->checked,
                             .epsilon = 0x1p-52,
                             .row = &s->row};
    if (plays(s)) begin_check(m, s, &check[k]);
  }
  for (int k = 0; k < job->count; k++) bench_check_end(&check[k]);
  free(b);
  return good ? -1
              : leave(LEAVE_UNAVAILABLE, "unsupported", -1, "%s: CUDA says %s", job->system->name,
                      bench_cuda_error());
}

/* ---- Rows ---- */

/* "engine: ...\nchosen: reason" */
static void describe_plan(bench_row *row, const gpus_solver *s) {
  static const char mark[] = "\nchosen: ";
  char text[1024];
  (void)trs_plan_describe(s->plan, text, sizeof text);
  char *reason = strstr(text, mark);
  snprintf(row->chosen, sizeof row->chosen, "%.*s", (int)strcspn(text, ":"), text);
  snprintf(row->reason, sizeof row->reason, "%.*s", (int)sizeof row->reason - 1,
           reason ? reason + sizeof mark - 1 : "");
  if (reason) *reason = 0; /* which has its own column */
  snprintf(row->plan, sizeof row->plan, "%.*s", (int)sizeof row->plan - 1, text);
}

/* auto knows the levels; other methods would have to compute them. */
static void ask_plan(bench_row *row, const gpus_solver *s, int64_t nrhs) {
  trs_plan_info info = {.struct_size = sizeof info};
  if (strcmp(s->method, "auto") != 0 || s->place != GPUS_FIRST) return;
  if (!trs_plan_get_info(s->plan, &info)) row->plan_bytes = (double)info.plan_bytes;
  if (nrhs == 1 && trs_plan_bound(s->plan, &row->bound)) row->bound = NAN;
}

static int add_row(bench_rows *rows, const gpus_job *job, gpus_solver *s) {
  bench_row *row = &s->row;
  bench_describe(row, job->system, &job->info, TRS_DOUBLE, job->nrhs);
  snprintf(row->suite, sizeof row->suite, "%s", job->suite);
  snprintf(row->backend, sizeof row->backend, "cuda");
  row->hop = job->hop;
  if (job->limit > 0) row->limit_bytes = job->limit;
  snprintf(row->method, sizeof row->method, "%s", s->method);
  snprintf(row->place, sizeof row->place, "%s", gpus_place_names[s->place]);
  row->threads = s->gpus;
  row->wrong |= s->failed;
  if (!s->failed) {
    bench_row_times(row, s->seconds, s->repeats, s->batch);
    row->gbs = 1e-9 * (double)row->bytes / row->median;
    describe_plan(row, s);
    ask_plan(row, s, job->nrhs);
  }
  return bench_rows_add(rows, row);
}

/* Two arrays on the first GPU; if memory does not suffice, this is reported and nothing is
 * measured. */
static bool has_room(const measurement *m) {
  void *b = NULL, *x = NULL;
  size_t bytes = (size_t)(m->n * m->job->nrhs) * sizeof(double);
  bool good = bench_cuda_alloc(&b, bytes) && bench_cuda_alloc(&x, bytes);
  char text[128];
  BENCH_CUDA_FREE(b, x);
  if (good) return true;
  snprintf(text, sizeof text, "%lld right-hand sides: CUDA says %s", (long long)m->job->nrhs,
           bench_cuda_error());
  bench_notice(m->job->system->name, text);
  return false;
}

int gpus_measure(bench_rows *rows, const gpus_job *job, double seconds) {
  measurement m = {.job = job,
                   .first = {.system = job->system,
                             .scalar = TRS_DOUBLE,
                             .size = sizeof(double),
                             .n = job->system->info.nrows,
                             .nnz = job->system->info.nnz},
                   .n = job->system->info.nrows};
  m.checked = job->gpus->count > 2 ? job->gpus->count : 2;
  if (m.checked > job->nrhs) m.checked = job->nrhs;
  if (!use(&m, 0) || !has_room(&m)) return -1;
  int code = bench_gpu_rhs(&m.first, job->nrhs);
  for (int k = 0; k < job->count && code < 0; k++) {
    bench_tick(job->system->name, 0);
    prepare(&m, &job->solver[k]);
  }
  if (code < 0) run_rounds(&m, seconds);
  if (code < 0) code = check_answers(&m);
  for (int k = 0; k < job->count && code < 0; k++)
    if (!job->solver[k].out) code = add_row(rows, job, &job->solver[k]);
  for (int k = job->count; k-- > 0;) dismiss(&m, &job->solver[k], job->solver[k].sharer == k);
  (void)use(&m, 0);
  bench_gpu_close(&m.first);
  return code;
}
