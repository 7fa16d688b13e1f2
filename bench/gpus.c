/* gpus.c - trireme bench gpus: the gain of several GPUs over one.  On every system of the suite:
 * auto on one GPU; auto on 2, 4, 8 and 16 GPUs, with b and x on the first GPU and with both
 * distributed; and zerocopy (X20) on as many.  Then many right-hand sides on wide systems, and a
 * system larger than the memory limit of each GPU. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda.h"
#include "experiment.h"
#include "leave.h"
#include "run.h"
#include "gpus.h"

enum { MOST_GROUPS = 5, WIDE = 5000 }; /* WIDE: rows per level for many right-hand sides */

typedef struct gpus_run {
  const bench_settings *set;
  bench_gpu_list gpus;
  trs_context *ctx[MOST_GROUPS]; /* one GPU, 2, 4, 8 and 16 */
  int size[MOST_GROUPS], groups;
  gpus_solver *solver; /* at most BENCH_MOST_RUNNERS */
  double hop;
} gpus_run;

/* ---- Contexts ---- */

static int leave_single(const bench_gpu_list *gpus) {
  return leave(LEAVE_UNAVAILABLE, trs_status_name(TRS_ERROR_UNSUPPORTED), -1,
               "gpus compares several GPUs with one, and there is one: cuda:%d; 'trireme bench gpu "
               "--backend cuda' measures it, --backend cuda:%d,%d lets it stand for two",
               gpus->number[0], gpus->number[0], gpus->number[0]);
}

/* Seconds between dependent rows: a chain's reference time divided by its levels.  Starts the
 * runtime. */
static double find_hop(trs_context *ctx) {
  trs_matrix *A = NULL, *T = NULL;
  trs_plan *plan = NULL;
  trs_plan_info info = {.struct_size = sizeof info};
  double bound = NAN;
  bool good = !trs_matrix_read(&A, "gen:chain:20000", NULL) &&
              !trs_matrix_triangle(&T, A, TRS_LOWER, 1) &&
              !trs_analyze(&plan, ctx, T, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, NULL) &&
              !trs_plan_bound(plan, &bound) && !trs_plan_get_info(plan, &info);
  if (good && info.levels) bound /= (double)info.levels;
  trs_plan_destroy(plan);
  trs_matrix_destroy(T);
  trs_matrix_destroy(A);
  return good ? bound : NAN;
}

/* Loads the kernels, so that no timed analysis includes this.  A failure here recurs later and is
 * reported then. */
static void warm_up(trs_context *group) {
  static const char *const methods[] = {"push", "columns", "zerocopy"};
  trs_matrix *A = NULL, *T = NULL;
  bool good =
      !trs_matrix_read(&A, "gen:poisson3d7:10", NULL) && !trs_matrix_triangle(&T, A, TRS_LOWER, 1);
  for (int k = 0; k < 3 && good; k++) {
    trs_plan *plan = NULL;
    trs_options how = {.struct_size = sizeof(trs_options), .method = methods[k]};
    (void)trs_analyze(&plan, group, T, TRS_LOWER, TRS_NO_TRANS, TRS_NONUNIT, &how);
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

/* ---- Solvers ---- */

/* A distributed solver follows the same one without distribution and uses its plan, except if auto
 * may choose a different plan for each. */
static void add(gpus_run *run, gpus_job *job, const char *method, int group, gpus_place place) {
  if (job->count == BENCH_MOST_RUNNERS) return;
  gpus_solver *s = &run->solver[job->count];
  *s = (gpus_solver){.gpus = run->size[group],
                     .ctx = run->ctx[group],
                     .place = place,
                     .brief = !strcmp(method, "zerocopy"),
                     .sharer = job->count};
  const bool alike = job->nrhs > 1 || job->limit > 0 || strcmp(method, "auto") != 0;
  if (place == GPUS_STREAMS || (place == GPUS_SPREAD && alike))
    s->sharer = run->solver[job->count - 1].sharer;
  snprintf(s->method, sizeof s->method, "%s", method);
  job->count++;
}

static void add_all_places(gpus_run *run, gpus_job *job, const char *method, int group) {
  for (int place = 0; place < GPUS_PLACES; place++) add(run, job, method, group, (gpus_place)place);
}

static void add_solvers(gpus_run *run, gpus_job *job) {
  char name[64];
  job->solver = run->solver;
  job->count = 0;
  add(run, job, "auto", 0, GPUS_FIRST);
  for (int group = 1; group < run->groups; group++) {
    const char *others = run->set->methods ? run->set->methods : "";
    add_all_places(run, job, "auto", group);
    if (job->nrhs == 1) add(run, job, "zerocopy", group, GPUS_FIRST);
    while (bench_next_method(&others, name, sizeof name)) add_all_places(run, job, name, group);
  }
}

static int check_methods(const gpus_run *run) {
  const char *others = run->set->methods ? run->set->methods : "";
  char name[64];
  int count = 0, code = run->set->methods ? bench_check_methods(others) : -1;
  if (code >= 0) return code;
  for (; bench_next_method(&others, name, sizeof name); count++)
    if (!bench_is_method(name)) return bench_leave_unknown(name);
  if (1 + (run->groups - 1) * (1 + GPUS_PLACES * (1 + count)) > BENCH_MOST_RUNNERS)
    return leave_usage("bench", "--methods: too many for %d numbers of GPUs", run->groups - 1);
  return -1;
}

/* ---- The suite ---- */

static int measure(bench_run *run, gpus_job *job) {
  int64_t first = run->rows.count;
  int code = gpus_measure(&run->rows, job, run->set->seconds);
  bench_run_publish(run, NULL, first);
  if (!run->set->json) gpus_line(&run->rows, first);
  return code;
}

static gpus_job job_of(const gpus_run *g, const bench_system *system, const char *suite) {
  return (gpus_job){.gpus = &g->gpus, .system = system, .hop = g->hop, .suite = suite, .nrhs = 1};
}

static int run_system(bench_run *run, bench_system *system) {
  const bench_counts *nrhs = &run->set->nrhs;
  gpus_run *g = run->own;
  gpus_job job = job_of(g, system, gpus_suite);
  int code = bench_system_survey(system, system->T, &job.info);
  for (int k = 0; k < nrhs->count && code < 0; k++) {
    job.nrhs = nrhs->value[k];
    if (job.nrhs > 1 && job.info.parallelism < WIDE) {
      char text[96];
      snprintf(text, sizeof text, "%lld right-hand sides: parallelism is below %d",
               (long long)job.nrhs, WIDE);
      bench_notice(system->name, text);
      continue;
    }
    bench_tick_part(k, nrhs->count);
    add_solvers(g, &job);
    code = measure(run, &job);
  }
  return code;
}

/* ---- A system larger than the memory limit of each GPU ---- */

/* An entry of the same kind with about the given multiple of its rows; false: none exists. */
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

/* The least memory that a GPU of the group needs for a system, as push stores it: its share of the
 * entries, and 32 bytes per row of the whole. */
static double least_memory(const bench_row *row, int members) {
  return 1.05 * 12 * (double)row->nnz / members + 32 * (double)row->n;
}

/* The size of the system in multiples of a GPU's memory limit: 4 on 8 GPUs, less on fewer. */
static double times_memory(int members) { return members >= 5 ? 4 : 0.8 * members; }

/* The first system of the run that can be enlarged to this multiple of a GPU's memory, or the
 * nearest to it. */
static const bench_row *pick_capped(const bench_rows *rows, int members, double *bytes) {
  const bench_row *best = NULL;
  char scaled[192];
  double target = times_memory(members), most = 0;
  for (int64_t i = 0; i < rows->count && most < target; i++) {
    const bench_row *row = &rows->row[i];
    if (row->nrhs != 1 || !scale_entry(scaled, sizeof scaled, row->matrix, 0.5)) continue;
    double times = (double)row->bytes / least_memory(row, members);
    if (times <= most) continue;
    most = times;
    best = row;
  }
  if (best) *bytes = (double)best->bytes / (most < target ? most : target);
  return best;
}

static struct {
  double bytes;
  int group;
  bool refused; /* not enough memory */
} cap;

/* True if memory suffices for a plan by auto. */
static trs_status try_cap(const gpus_run *g, const bench_system *s) {
  trs_plan *plan = NULL;
  trs_options how = {.struct_size = sizeof(trs_options), .method = "auto"};
  trs_status status = trs_context_set_gpu_memory(g->ctx[cap.group], (int64_t)cap.bytes);
  if (!status)
    status = trs_analyze(&plan, g->ctx[cap.group], s->T, s->uplo, TRS_NO_TRANS, s->diag, &how);
  trs_plan_destroy(plan);
  return status;
}

static int measure_capped(bench_run *run, const bench_system *system) {
  gpus_run *g = run->own;
  gpus_job job = job_of(g, system, gpus_capped);
  int code = bench_system_survey(system, system->T, &job.info);
  job.limit = cap.bytes;
  job.solver = g->solver;
  add(g, &job, "auto", cap.group, GPUS_FIRST);
  if (cap.group) add(g, &job, "auto", cap.group, GPUS_SPREAD);
  return code < 0 ? measure(run, &job) : code;
}

/* Raises the limit until the shares fit. */
static int run_larger(bench_run *run, bench_system *system) {
  enum { TRIES = 8 };
  trs_status status = TRS_ERROR_MEMORY;
  for (int k = 0; k < TRIES && status == TRS_ERROR_MEMORY; k++) {
    if (k) cap.bytes *= 1.05;
    status = try_cap(run->own, system);
  }
  if (!status) return measure_capped(run, system);
  cap.refused = true;
  return leave_library(system->name);
}

static int run_smaller(bench_run *run, bench_system *system) {
  trs_status status = try_cap(run->own, system);
  cap.refused = status == TRS_ERROR_MEMORY;
  if (cap.refused) return -1;
  return status ? leave_library(system->name) : measure_capped(run, system);
}

/* The rate of one GPU is that of a smaller system of the same kind, which fits its memory. */
static int run_capped(bench_run *run) {
  enum { TRIES = 6 };
  static const double FIRST = 0.45, NEXT = 0.75; /* analyses need about twice the memory of plans */
  const gpus_run *g = run->own;
  char entry[192], smaller[192];
  int last = g->groups - 1, uplo = run->set->uplo == 1;
  const bench_row *row = pick_capped(&run->rows, g->size[last], &cap.bytes);
  if (!row || bench_gpu_list_distinct(&g->gpus) < g->size[last]) {
    bench_notice("a system larger than a GPU's memory",
                 row ? "a GPU stands for several" : "no generated system was measured");
    return -1;
  }
  snprintf(entry, sizeof entry, "%s", row->matrix);
  double times = FIRST * cap.bytes / (double)row->bytes;
  cap.group = last;
  int code = bench_run_entry(run, entry, uplo, run_larger);
  cap.group = 0;
  cap.refused = true;
  for (int k = 0; k < TRIES && cap.refused && code < 0; k++, times *= NEXT) {
    scale_entry(smaller, sizeof smaller, entry, times);
    code = bench_run_entry(run, smaller, uplo, run_smaller);
  }
  return code;
}

/* ---- The run ---- */

static int open_solvers(gpus_run *g) {
  g->solver = calloc(BENCH_MOST_RUNNERS, sizeof *g->solver);
  if (!g->solver) return leave_memory(BENCH_MOST_RUNNERS * sizeof *g->solver, "the timings");
  int code = open_contexts(g);
  return code < 0 ? check_methods(g) : code;
}

int bench_gpus(const bench_settings *set) {
  bench_run run;
  gpus_run g = {.set = set, .hop = NAN};
  int code = bench_run_open(&run, set, "gpus", &g);
  if (code < 0) code = open_solvers(&g);
  if (code < 0) code = bench_out_open(&run.out, set);
  if (code < 0) {
    bench_run_systems(&run, set->uplo == 1, run_system);
    bench_run_note(&run, run_capped(&run));
    if (!set->json) bench_gpus_report(&run.rows, set->markdown);
    if (set->svg) code = bench_gpus_draw(&run.rows, set->svg);
  }
  for (int k = 0; k < MOST_GROUPS; k++) trs_context_destroy(g.ctx[k]);
  free(g.solver);
  return bench_run_close(&run, code);
}
