/* gpus.c - trireme bench gpus: what several GPUs gain over one.  On every system of the suite auto
 * on one GPU, auto on 2, 4 and 8 with b and x on the first GPU and with both where they are solved,
 * and zerocopy (X20) on as many; with many right-hand sides on wide systems; then a system larger
 * than what each GPU may hold. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "leave.h"
#include "output.h"
#include "progress.h"
#include "trireme.h"
#include "gpus.h"

const char bench_gpus_suite[] = "gpus", bench_gpus_capped[] = "gpus capped";

enum { MOST_GROUPS = 4, WIDE = 5000 }; /* WIDE: rows a level for many right-hand sides */

typedef struct gpus_run {
  const bench_settings *set;
  bench_suite suite;
  bench_gpu_list gpus;
  trs_context *ctx[MOST_GROUPS]; /* of one GPU, 2, 4 and 8 */
  int size[MOST_GROUPS], groups;
  gpus_solver *solver; /* room for BENCH_MOST_RUNNERS */
  double hop;
  bench_rows rows;
  FILE *out;
  int64_t wrong, done;
} gpus_run;

static double share; /* of the run, done */

static void tick(const char *name, double done) {
  (void)done;
  progress_show(NULL, name, share);
}

/* ---- Where ---- */

static int leave_single(const bench_gpu_list *gpus) {
  return leave(LEAVE_UNAVAILABLE, trs_status_name(TRS_ERROR_UNSUPPORTED), -1,
               "gpus compares several GPUs with one, and there is one: cuda:%d; 'trireme bench gpu "
               "--backend cuda' measures it, --backend cuda:%d,%d lets it stand for two",
               gpus->number[0], gpus->number[0], gpus->number[0]);
}

/* A hop between dependent rows, off the bound of a chain; that also brings the runtime. */
static double find_hop(trs_context *ctx) {
  trs_matrix *A = NULL, *T = NULL;
  trs_plan *plan = NULL;
  trs_plan_info info = {.struct_size = sizeof info};
  double bound = NAN;
  bool good = !trs_matrix_read(&A, "gen:chain:20000", NULL) &&
              !trs_matrix_triangle(&T, A, TRS_LOWER, 1) &&
              !trs_analyze(ctx, &plan, T, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, NULL) &&
              !trs_plan_bound(plan, &bound) && !trs_plan_get_info(plan, &info);
  if (good && info.levels) bound /= (double)info.levels;
  trs_plan_destroy(plan);
  trs_matrix_destroy(T);
  trs_matrix_destroy(A);
  return good ? bound : NAN;
}

/* So that no analysis that is timed brings kernels to a GPU; what fails here will fail again. */
static void warm_up(trs_context *group) {
  static const char *const methods[] = {"push", "columns", "zerocopy"};
  trs_matrix *A = NULL, *T = NULL;
  bool good =
      !trs_matrix_read(&A, "gen:poisson3d7:10", NULL) && !trs_matrix_triangle(&T, A, TRS_LOWER, 1);
  for (int k = 0; k < 3 && good; k++) {
    trs_plan *plan = NULL;
    trs_options how = {.struct_size = sizeof(trs_options), .method = methods[k]};
    (void)trs_analyze(group, &plan, T, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, &how);
    trs_plan_destroy(plan);
  }
  trs_matrix_destroy(T);
  trs_matrix_destroy(A);
}

static int open_contexts(gpus_run *run) {
  int code = bench_gpu_list_find(&run->gpus, run->set->backend);
  if (code < 0) code = bench_gpu_list_open(&run->gpus, 1, &run->ctx[0]);
  if (code < 0 && run->gpus.count < 2) code = leave_single(&run->gpus);
  for (int size = 1; code < 0 && size <= run->gpus.count && run->groups < MOST_GROUPS; size *= 2) {
    if (size > 1) code = bench_gpu_list_open(&run->gpus, size, &run->ctx[run->groups]);
    run->size[run->groups++] = size;
  }
  if (code < 0) code = bench_cuda_open(run->gpus.number[0]);
  if (code < 0) run->hop = find_hop(run->ctx[0]);
  for (int group = 1; group < run->groups && code < 0; group++) warm_up(run->ctx[group]);
  return code;
}

/* ---- Who ---- */

/* With spread after the same without: of its plan, but where auto chooses one for either. */
static void add(gpus_run *run, gpus_job *job, const char *method, int group, bool spread) {
  if (job->count == BENCH_MOST_RUNNERS) return;
  gpus_solver *s = &run->solver[job->count];
  *s = (gpus_solver){.gpus = run->size[group],
                     .ctx = run->ctx[group],
                     .spread = spread,
                     .brief = !strcmp(method, "zerocopy"),
                     .sharer = job->count};
  if (spread && (job->nrhs > 1 || job->limit > 0 || strcmp(method, "auto") != 0)) s->sharer--;
  snprintf(s->method, sizeof s->method, "%s", method);
  job->count++;
}

static void add_both(gpus_run *run, gpus_job *job, const char *method, int group) {
  add(run, job, method, group, false);
  add(run, job, method, group, true);
}

static void add_solvers(gpus_run *run, gpus_job *job) {
  char name[64];
  job->solver = run->solver;
  job->count = 0;
  add(run, job, "auto", 0, false);
  for (int group = 1; group < run->groups; group++) {
    const char *others = run->set->methods ? run->set->methods : "";
    add_both(run, job, "auto", group);
    if (job->nrhs == 1) add(run, job, "zerocopy", group, false);
    while (bench_next_method(&others, name, sizeof name)) add_both(run, job, name, group);
  }
}

static int check_methods(const gpus_run *run) {
  const char *others = run->set->methods ? run->set->methods : "";
  char name[64];
  int count = 0;
  for (; bench_next_method(&others, name, sizeof name); count++)
    if (!bench_is_method(name)) return bench_leave_unknown(name);
  if (1 + (run->groups - 1) * (3 + 2 * count) > BENCH_MOST_RUNNERS)
    return leave_usage("bench", "--methods: too many for %d numbers of GPUs", run->groups - 1);
  return -1;
}

/* ---- The suite ---- */

static void publish(gpus_run *run, int64_t first) {
  for (int64_t i = first; i < run->rows.count; i++) {
    const bench_row *row = &run->rows.row[i];
    run->wrong += row->wrong;
    if (run->out) bench_row_write(run->out, row);
    if (run->set->json) bench_row_write(stdout, row);
  }
  progress_end();
  if (!run->set->json) bench_gpus_line(&run->rows, first);
}

static int measure(gpus_run *run, gpus_job *job) {
  int64_t first = run->rows.count;
  int code = gpus_measure(&run->rows, job, run->set->seconds);
  publish(run, first);
  return code;
}

/* Levels, from a plan on the host. */
static int survey(gpus_job *job) {
  const bench_system *s = job->system;
  trs_context *ctx = NULL;
  trs_plan *plan = NULL;
  trs_status status = trs_context_create(&ctx, "serial");
  if (!status) status = trs_analyze(ctx, &plan, s->T, s->uplo, TRS_NO_TRANS, s->diag, NULL);
  job->info.struct_size = sizeof job->info;
  if (!status) status = trs_plan_get_info(plan, &job->info);
  trs_plan_destroy(plan);
  trs_context_destroy(ctx);
  return status ? leave_library(s->name) : -1;
}

static gpus_job job_of(const gpus_run *run, const bench_system *system, const char *suite) {
  return (gpus_job){.gpus = &run->gpus,
                    .system = system,
                    .hop = run->hop,
                    .suite = suite,
                    .nrhs = 1,
                    .tick = tick};
}

static int run_system(gpus_run *run, const bench_system *system) {
  const bench_counts *nrhs = &run->set->nrhs;
  gpus_job job = job_of(run, system, bench_gpus_suite);
  int code = survey(&job);
  for (int k = 0; k < nrhs->count && code < 0; k++) {
    job.nrhs = nrhs->value[k];
    if (job.nrhs > 1 && job.info.parallelism < WIDE) {
      char text[96];
      snprintf(text, sizeof text, "%lld right-hand sides: parallelism is below %d",
               (long long)job.nrhs, WIDE);
      bench_notice(system->name, text);
      continue;
    }
    add_solvers(run, &job);
    code = measure(run, &job);
  }
  return code;
}

/* Calls step with the triangle of an entry: forward sweeps unless asked otherwise.  *skipped says
 * why there is none. */
static int with_system(gpus_run *run, const char *entry, char *skipped, size_t size,
                       int (*step)(gpus_run *, const bench_system *)) {
  bench_source source;
  bench_system system = {.name = entry, .nrhs = 1};
  trs_uplo uplo = run->set->uplo == 1 ? TRS_UPPER : TRS_LOWER;
  int code = bench_source_open(&source, entry, skipped, size) ? leave_library(entry) : -1;
  if (code < 0 && !*skipped)
    code = bench_system_take(&system, &source, uplo) ? leave_library(entry) : step(run, &system);
  bench_system_free(&system);
  bench_source_close(&source);
  return code;
}

static int run_entry(gpus_run *run, const char *entry) {
  char skipped[1200];
  share = (double)run->done++ / (double)(run->suite.count + 1);
  int code = with_system(run, entry, skipped, sizeof skipped, run_system);
  if (*skipped) bench_notice(entry, skipped);
  return code;
}

/* ---- A system larger than what each GPU may hold ---- */

/* An entry of the same kind with about so many times the rows; false: there is none. */
static bool scale_entry(char *scaled, size_t size, const char *entry, double times) {
  static const struct {
    const char *kind;
    int dimensions;
  } kinds[] = {{"gen:kkt3d:", 3},        {"gen:poisson3d7:", 3}, {"gen:poisson3d27:", 3},
               {"gen:elasticity3d:", 3}, {"gen:poisson2d5:", 2}, {"gen:poisson2d9:", 2},
               {"gen:random:", 1},       {"gen:powerlaw:", 1},   {"gen:delaunay:", 1},
               {"gen:chain:", 1}};
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    size_t length = strlen(kinds[k].kind);
    if (strncmp(entry, kinds[k].kind, length) != 0) continue;
    double each = pow(times, 1.0 / kinds[k].dimensions);
    const char *text = entry + length;
    size_t used = (size_t)snprintf(scaled, size, "%s", kinds[k].kind);
    for (int d = 0; d < kinds[k].dimensions && *text; d++) {
      char *end;
      long long extent = strtoll(text, &end, 10), smaller = (long long)((double)extent * each);
      if (end == text || used >= size) return false;
      used += (size_t)snprintf(scaled + used, size - used, d ? ",%lld" : "%lld",
                               smaller > 1 ? smaller : 1);
      text = *end == ',' ? end + 1 : end;
    }
    if (*text && used < size) snprintf(scaled + used, size - used, ",%s", text);
    return used < size;
  }
  return false;
}

/* What a GPU of the group is to hold of a system at the least, as push holds it: its share of the
 * entries, and 32 bytes for each row of the whole. */
static double least_memory(const bench_row *row, int members) {
  return 1.05 * 12 * (double)row->nnz / members + 32 * (double)row->n;
}

/* How many times what a GPU may hold the system shall be: 4 on 8 GPUs, less on fewer. */
static double times_memory(int members) { return members >= 5 ? 4 : 0.8 * members; }

/* The first system of the run that can be so many times a GPU's memory, or that which comes
 * nearest. */
static const bench_row *pick_capped(const gpus_run *run, int members, double *bytes) {
  const bench_row *best = NULL;
  char scaled[192];
  double target = times_memory(members), most = 0;
  for (int64_t i = 0; i < run->rows.count && most < target; i++) {
    const bench_row *row = &run->rows.row[i];
    if (row->nrhs != 1 || !scale_entry(scaled, sizeof scaled, row->matrix, 0.5)) continue;
    double times = (double)row->bytes / least_memory(row, members);
    if (times <= most) continue;
    most = times;
    best = row;
  }
  if (best) *bytes = (double)best->bytes / (most < target ? most : target);
  return best;
}

typedef struct capped {
  double bytes;
  int group, code;
  bool refused; /* no room */
} capped;

static capped cap;

/* Is there room for a plan by auto? */
static trs_status try_cap(const gpus_run *run, const bench_system *s) {
  trs_plan *plan = NULL;
  trs_options how = {.struct_size = sizeof(trs_options), .method = "auto"};
  trs_status status = trs_context_set_gpu_memory(run->ctx[cap.group], (int64_t)cap.bytes);
  if (!status)
    status = trs_analyze(run->ctx[cap.group], &plan, s->T, s->uplo, TRS_NO_TRANS, s->diag, &how);
  trs_plan_destroy(plan);
  return status;
}

static int measure_capped(gpus_run *run, const bench_system *system) {
  gpus_job job = job_of(run, system, bench_gpus_capped);
  int code = survey(&job);
  job.limit = cap.bytes;
  job.solver = run->solver;
  if (cap.group)
    add_both(run, &job, "auto", cap.group);
  else
    add(run, &job, "auto", 0, false);
  return code < 0 ? measure(run, &job) : code;
}

/* More memory until it holds the shares. */
static int run_larger(gpus_run *run, const bench_system *system) {
  enum { TRIES = 8 };
  trs_status status = TRS_ERROR_MEMORY;
  for (int k = 0; k < TRIES && status == TRS_ERROR_MEMORY; k++) {
    if (k) cap.bytes *= 1.05;
    status = try_cap(run, system);
  }
  if (!status) return measure_capped(run, system);
  cap.refused = true;
  return leave_library(system->name);
}

static int run_smaller(gpus_run *run, const bench_system *system) {
  trs_status status = try_cap(run, system);
  cap.refused = status == TRS_ERROR_MEMORY;
  if (cap.refused) return -1;
  return status ? leave_library(system->name) : measure_capped(run, system);
}

/* The rate of one GPU is that of a smaller system of the same kind, for which it has room. */
static int run_capped(gpus_run *run) {
  enum { TRIES = 6 };
  static const double FIRST = 0.45, NEXT = 0.75; /* analyses take about twice what plans hold */
  char entry[192], smaller[192], skipped[1200];
  int last = run->groups - 1;
  const bench_row *row = pick_capped(run, run->size[last], &cap.bytes);
  if (!row || bench_gpu_list_distinct(&run->gpus) < run->size[last]) {
    bench_notice("a system larger than a GPU's memory",
                 row ? "a GPU stands for several" : "no generated system was measured");
    return -1;
  }
  snprintf(entry, sizeof entry, "%s", row->matrix);
  double times = FIRST * cap.bytes / (double)row->bytes;
  cap.group = last;
  int code = with_system(run, entry, skipped, sizeof skipped, run_larger);
  cap.group = 0;
  cap.refused = true;
  for (int k = 0; k < TRIES && cap.refused && code < 0; k++, times *= NEXT) {
    scale_entry(smaller, sizeof smaller, entry, times);
    code = with_system(run, smaller, skipped, sizeof skipped, run_smaller);
  }
  return code;
}

/* ---- The run ---- */

/* A run in which an entry failed still tells what the others gave. */
static int run_all(gpus_run *run) {
  int worst = LEAVE_SOLVED, code;
  progress_begin();
  for (int64_t i = 0; i < run->suite.count && !output_lost(); i++) {
    code = run_entry(run, run->suite.entry[i]);
    if (code > worst) worst = code;
  }
  share = (double)run->suite.count / (double)(run->suite.count + 1);
  code = run_capped(run);
  if (code > worst) worst = code;
  progress_end();
  if (!run->set->json) bench_gpus_report(&run->rows, run->set->markdown);
  code = run->set->svg ? bench_gpus_draw(&run->rows, run->set->svg) : -1;
  if (code >= 0) return code;
  if (run->wrong && worst == LEAVE_SOLVED)
    return leave(LEAVE_NUMERICAL, "backward error", -1, "%s: wrong, or without an answer",
                 human_things(run->wrong, "result is WRONG", "results are WRONG").s);
  return worst;
}

int bench_gpus(const bench_settings *set) {
  gpus_run run = {.set = set, .hop = NAN};
  int code = bench_suite_read(&run.suite, set->suite ? set->suite : "gpus");
  run.solver = calloc(BENCH_MOST_RUNNERS, sizeof *run.solver);
  if (!run.solver) code = leave_memory(BENCH_MOST_RUNNERS * sizeof *run.solver, "the timings");
  if (code < 0) code = open_contexts(&run);
  if (code < 0) code = check_methods(&run);
  if (code < 0) code = bench_out_open(&run.out, set);
  if (code < 0) code = bench_out_close(run.out, set, run_all(&run));
  for (int k = 0; k < MOST_GROUPS; k++) trs_context_destroy(run.ctx[k]);
  free(run.solver);
  bench_suite_free(&run.suite);
  bench_rows_free(&run.rows);
  return code;
}
