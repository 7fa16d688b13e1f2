/* solve_mpi.c - trireme solve --grid: one solve on all ranks of an MPI program.  Every rank runs
 * all of it; what ranks but 0 print goes nowhere, and they leave with 0: mpirun ends the whole
 * program at the first other code, perhaps before rank 0 has said why, and passes rank 0's on. */

#include "files.h"
#include "leave.h"
#include "output.h"
#include "progress.h"
#include "relax_ranks.h"
#include "report.h"
#include "solve.h"
#include "sort.h"

#if TRIREME_CLI_MPI

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trireme_mpi.h"

typedef struct ranks_job {
  solve_job *job;
  int rank, size;
  trs_mpi_options options;
  trs_context *ctx; /* of --backend, or NULL */
  trs_mpi_plan *plan;
  trs_mpi_stats stats[3]; /* by trs_mpi_over */
  double analysis_s, whole_s, mean;
  double *seconds; /* of every solve, on rank 0 */
} ranks_job;

/* All ranks continue with rank 0's code. */
static int agree_code(int code) {
  if (code >= 0 && ranks_are_lost()) return code;
  MPI_Bcast(&code, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return code;
}

static const char *const inversions[] = {"auto", "blocks", "separators"};

/* "2x2x2" or "auto" */
static int parse_grid(ranks_job *r) {
  const char *text = r->job->set.grid;
  int used = 0;
  trs_mpi_options *o = &r->options;
  if (!strcmp(text, "auto")) return -1;
  int got = sscanf(text, "%4dx%4dx%5d%n", &o->px, &o->py, &o->pz, &used);
  if (got == 3 && !text[used] && o->px > 0 && o->py > 0 && o->pz > 0) return -1;
  return leave_usage("solve", "--grid takes PXxPYxPZ, as 2x2x2, or auto, not '%s'", text);
}

static int check_options(ranks_job *r, const char *name) {
  solve_settings *s = &r->job->set;
  r->options.struct_size = sizeof r->options;
  r->options.method = s->method;
  r->options.flat_trees = s->trees;
  r->options.scattered = s->scattered;
  r->options.invert = s->invert < 0 ? NULL : inversions[s->invert];
  r->options.width = s->width;
  r->job->trans = (trs_trans)s->trans;
  int code = solve_check_settings(s, name);
  if (code >= 0) return code;
  if (s->tune || s->store || s->gpu_memory > 0)
    return leave_usage("solve", "with --grid ranks solve: leave out --%s",
                       s->tune    ? "tune"
                       : s->store ? "store"
                                  : "gpu-memory");
  return parse_grid(r);
}

/* Rank 0 reads all factors, because it checks the solution. */
static int take_factors(ranks_job *r, const char *name) {
  solve_job *job = r->job;
  job->in.name = name;
  if (r->rank) return -1;
  if (input_try(&job->in, name, job->set.precision)) return input_leave(name);
  if (!job->in.F)
    return leave(LEAVE_INPUT, trs_status_name(TRS_ERROR_FORMAT), -1,
                 "%s is a matrix; --grid solves with factors: trireme factor %s -o FACTORS.h5",
                 name, name);
  return solve_take_factors(job);
}

static int make_rhs(ranks_job *r) {
  solve_job *job = r->job;
  int code = agree_code(r->rank ? -1 : solve_make_rhs(job));
  long long size[2] = {job->n, job->nrhs};
  MPI_Bcast(size, 2, MPI_LONG_LONG, 0, MPI_COMM_WORLD);
  job->n = size[0];
  job->nrhs = size[1];
  return code;
}

/* Rank 0 allocates the times of the solves. */
static int make_timings(ranks_job *r, int64_t most) {
  if (!r->rank) r->seconds = malloc((size_t)most * sizeof *r->seconds);
  return agree_code(
      r->rank || r->seconds ? -1 : leave_memory((double)most * sizeof *r->seconds, "the timings"));
}

/* Ten solves, or one second; statistics of the fastest.  All ranks have the same statistics and
 * therefore decide alike, and they leave trs_mpi_get_stats together: a rank that waits inside MPI
 * would not answer ranks that look for a lost one. */
static trs_status time_solves(ranks_job *r, int64_t most) {
  solve_job *job = r->job;
  double sum = 0;
  for (job->repeats = 0; job->repeats < most && (job->set.repeat || sum < 1); job->repeats++) {
    trs_mpi_stats stats[3];
    double start = seconds_now();
    trs_status status =
        trs_mpi_solve(r->plan, job->x, job->n, job->b, job->n, job->nrhs, TRS_COL_MAJOR);
    double whole = seconds_now() - start;
    for (int k = 0; k < 3 && !status; k++) {
      stats[k].struct_size = sizeof stats[k];
      status = trs_mpi_get_stats(r->plan, &stats[k], (trs_mpi_over)k);
    }
    if (status) return status;
    const double seconds = stats[TRS_MPI_MAX].solve_s;
    if (job->repeats == 0 || seconds < r->stats[TRS_MPI_MAX].solve_s)
      memcpy(r->stats, stats, sizeof stats);
    if (job->repeats == 0 || whole < r->whole_s) r->whole_s = whole;
    sum += seconds;
    if (r->seconds) r->seconds[job->repeats] = seconds;
  }
  job->fastest = r->stats[TRS_MPI_MAX].solve_s;
  r->mean = sum / (double)job->repeats;
  if (r->seconds) job->median = sort_median(r->seconds, job->repeats);
  return TRS_SUCCESS;
}

static int measure(ranks_job *r) {
  double begin = seconds_now();
  r->options.scalar = scalar_chosen(r->job->set.precision);
  r->options.nrhs = r->job->set.backend ? r->job->nrhs : 0;
  if (r->job->set.backend && trs_mpi_context_create(&r->ctx, MPI_COMM_WORLD, r->job->set.backend))
    return leave_library(NULL);
  if (trs_mpi_analyze_file(&r->plan, MPI_COMM_WORLD, r->ctx, r->job->in.name, r->job->trans,
                           &r->options))
    return leave_library(r->job->in.name);
  r->analysis_s = seconds_now() - begin;
  int64_t most = r->job->set.repeat ? r->job->set.repeat : 10;
  int code = make_timings(r, most);
  if (code < 0 && time_solves(r, most)) code = leave_library(r->job->in.name);
  free(r->seconds);
  return code;
}

/* ---- Output ---- */

/* The minimum, the mean and the maximum of a field over the ranks. */
typedef struct range {
  double of[3];
} range;

/* s: the statistics by trs_mpi_over; offset: of the field. */
static range over(const trs_mpi_stats *s, size_t offset) {
  range r;
  for (int k = 0; k < 3; k++) memcpy(&r.of[k], (const char *)&s[k] + offset, sizeof r.of[k]);
  return r;
}

static void print_seconds(const char *label, const char *what, range r) {
  table_row(label, "%s: %s, %s, %s", what, human_seconds(r.of[0]).s, human_seconds(r.of[1]).s,
            human_seconds(r.of[2]).s);
}

static void print_traffic(const char *label, const char *what, range messages, range bytes) {
  table_row(label, "%s: %s, %s, %s messages; %s, %s, %s", what, human_real(messages.of[0]).s,
            human_real(messages.of[1]).s, human_real(messages.of[2]).s, human_bytes(bytes.of[0]).s,
            human_bytes(bytes.of[1]).s, human_bytes(bytes.of[2]).s);
}

static void print_plan(const solve_job *job, const trs_mpi_stats *s) {
  table_title(job->in.name);
  table_row("matrix", "factors L U, %s, %s, %s", human_scalar(job->scalar),
            human_things(job->n, "row", "rows").s,
            human_things(s->supernodes, "supernode", "supernodes").s);
  table_row("system", "%s; %s", solve_system(job),
            human_things(job->nrhs, "right-hand side", "right-hand sides").s);
  table_row("ranks", "%d x %d x %d, %s, %s trees", s->px, s->py, s->pz, s->method,
            job->set.trees ? "flat" : "binary");
  if (s->gpus)
    table_row("backend", "%s, by %s, on %s, at most %s on each", s->backend, s->solver,
              human_things(s->gpus, "GPU", "GPUs").s,
              human_things(s->ranks_on_gpu, "rank", "ranks").s);
  else if (s->backend)
    table_row("backend", "%s, by %s", s->backend, s->solver);
  table_row("blocks",
            "%s, %s, %s per rank; in total %s times the memory of one rank, %s times its work",
            human_bytes(s[TRS_MPI_MIN].bytes).s, human_bytes(s[TRS_MPI_MEAN].bytes).s,
            human_bytes(s[TRS_MPI_MAX].bytes).s, human_times(s->replicated).s,
            human_times(s->replicated_work).s);
  table_row("leaves", "%s, %s, %s entries", human_real(s[TRS_MPI_MIN].leaf_entries).s,
            human_real(s[TRS_MPI_MEAN].leaf_entries).s, human_real(s[TRS_MPI_MAX].leaf_entries).s);
  if (s->separators)
    table_row("inverted", "%s of %s of supernodes that wait for each other; %s more in the blocks",
              human_count(s->inverted).s, human_things(s->separators, "row", "rows").s,
              human_bytes(s->inverted_bytes).s);
  if (s->solved)
    table_row("solved", "%s of supernodes, whose inverses would lose digits; others are multiplied",
              human_things(s->solved, "triangle", "triangles").s);
}

static void print_times(const ranks_job *r) {
  const trs_mpi_stats *s = r->stats;
  const solve_job *job = r->job;
  table_row("analysis", "%s", human_seconds(r->analysis_s).s);
  table_row("solve", "%s at best, %s in the median of %s", human_seconds(job->fastest).s,
            human_seconds(job->median).s, human_count(job->repeats).s);
  table_row("", "%s at best including distributing b and collecting x",
            human_seconds(r->whole_s).s);
  if (s->gpus)
    table_row("", "%s of that from and to the GPU", human_seconds(s[TRS_MPI_MAX].transfer_s).s);
  table_row("", "minimum, mean and maximum over the ranks:");
  print_seconds("between grids", "before U", over(s, offsetof(trs_mpi_stats, inter_s[0])));
  print_seconds("", "within U", over(s, offsetof(trs_mpi_stats, inter_s[1])));
  print_seconds("inside a grid", "L", over(s, offsetof(trs_mpi_stats, intra_s[0])));
  print_seconds("", "U", over(s, offsetof(trs_mpi_stats, intra_s[1])));
  print_seconds("products", "L", over(s, offsetof(trs_mpi_stats, flop_s[0])));
  print_seconds("", "U", over(s, offsetof(trs_mpi_stats, flop_s[1])));
  print_traffic("between grids", "before U", over(s, offsetof(trs_mpi_stats, inter_messages[0])),
                over(s, offsetof(trs_mpi_stats, inter_bytes[0])));
  print_traffic("", "within U", over(s, offsetof(trs_mpi_stats, inter_messages[1])),
                over(s, offsetof(trs_mpi_stats, inter_bytes[1])));
  print_traffic("inside a grid", "L", over(s, offsetof(trs_mpi_stats, intra_messages[0])),
                over(s, offsetof(trs_mpi_stats, intra_bytes[0])));
  print_traffic("", "U", over(s, offsetof(trs_mpi_stats, intra_messages[1])),
                over(s, offsetof(trs_mpi_stats, intra_bytes[1])));
  const range L = over(s, offsetof(trs_mpi_stats, message_bound[0])),
              U = over(s, offsetof(trs_mpi_stats, message_bound[1]));
  table_row("",
            "log2 of members, summed over the trees of a rank (Liu et al. 2023): L %s, %s, %s; U "
            "%s, %s, %s",
            human_real(L.of[0]).s, human_real(L.of[1]).s, human_real(L.of[2]).s,
            human_real(U.of[0]).s, human_real(U.of[1]).s, human_real(U.of[2]).s);
  table_row("", "n nrhs / sqrt(P Pz), either volume up to a constant factor (Liu et al. 2023): %s",
            human_bytes(s->volume_bound).s);
}

static void print(const ranks_job *r) {
  print_plan(r->job, r->stats);
  table_gap();
  print_times(r);
  table_gap();
  solve_print_error(r->job);
}

static void report_over(const char *path, range r) {
  ranks_report_over(path, r.of[0], r.of[1], r.of[2]);
}

/* What trireme solve promises and ranks do not know. */
static void report_unknown(void) {
  static const char *const keys[] = {"matrix.levels", "plan.reason", "time.update_s", "bytes",
                                     "bound_s"};
  for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) report_null(keys[k]);
}

static void report_system(const ranks_job *r) {
  const trs_mpi_stats *s = r->stats;
  trs_factors_info factors = {.struct_size = sizeof factors};
  trs_factors_get_info(r->job->in.F, &factors);
  report_text("matrix.name", r->job->in.name);
  report_text("matrix.scalar", human_scalar(r->job->scalar));
  report_count("matrix.n", r->job->n);
  report_count("matrix.nnz", factors.nnz_L + factors.nnz_U);
  report_count("matrix.supernodes", s->supernodes);
  report_text("system.trans", (const char *const[]){"n", "t", "c"}[r->job->trans]);
  report_count("system.nrhs", r->job->nrhs);
  report_text("plan.backend", "mpi");
  report_text("plan.method", s->method);
  if (s->backend) {
    report_text("plan.ranks_backend", s->backend);
    report_text("plan.solver", s->solver);
    report_count("plan.gpus", s->gpus);
    report_count("plan.ranks_on_gpu", s->ranks_on_gpu);
  }
  report_text("plan.trees", r->job->set.trees ? "flat" : "binary");
  report_text("plan.invert", s->invert);
  report_count("plan.separators", s->separators);
  report_count("plan.inverted", s->inverted);
  report_real("plan.inverted_bytes", s->inverted_bytes);
  report_count("plan.solved", s->solved);
  report_count("plan.grid.px", s->px);
  report_count("plan.grid.py", s->py);
  report_count("plan.grid.pz", s->pz);
  report_over("plan.bytes", over(s, offsetof(trs_mpi_stats, bytes)));
  report_real("plan.replicated", s->replicated);
  report_real("plan.replicated_work", s->replicated_work);
  report_real("plan.volume_bound", s->volume_bound);
  report_over("plan.message_bound.L", over(s, offsetof(trs_mpi_stats, message_bound[0])));
  report_over("plan.message_bound.U", over(s, offsetof(trs_mpi_stats, message_bound[1])));
  report_over("plan.leaf_entries", over(s, offsetof(trs_mpi_stats, leaf_entries)));
}

static void report(const ranks_job *r) {
  const trs_mpi_stats *s = r->stats;
  report_text("command", "solve");
  report_text("version", trs_version());
  report_system(r);
  report_unknown();
  report_real("time.analysis_s", r->analysis_s);
  report_real("time.solve_s.min", r->job->fastest);
  report_real("time.solve_s.median", r->job->median);
  report_real("time.solve_s.mean", r->mean);
  report_real("time.whole_s.min", r->whole_s);
  if (s->backend) report_real("time.transfer_s", s[TRS_MPI_MAX].transfer_s);
  report_count("time.repeats", r->job->repeats);
  report_over("ranks.solve_s", over(s, offsetof(trs_mpi_stats, solve_s)));
  report_over("ranks.inter_s.before_U", over(s, offsetof(trs_mpi_stats, inter_s[0])));
  report_over("ranks.inter_s.within_U", over(s, offsetof(trs_mpi_stats, inter_s[1])));
  report_over("ranks.intra_s.L", over(s, offsetof(trs_mpi_stats, intra_s[0])));
  report_over("ranks.intra_s.U", over(s, offsetof(trs_mpi_stats, intra_s[1])));
  report_over("ranks.products_s.L", over(s, offsetof(trs_mpi_stats, flop_s[0])));
  report_over("ranks.products_s.U", over(s, offsetof(trs_mpi_stats, flop_s[1])));
  report_over("ranks.flops.L", over(s, offsetof(trs_mpi_stats, flops[0])));
  report_over("ranks.flops.U", over(s, offsetof(trs_mpi_stats, flops[1])));
  report_over("ranks.inter_messages.before_U", over(s, offsetof(trs_mpi_stats, inter_messages[0])));
  report_over("ranks.inter_messages.within_U", over(s, offsetof(trs_mpi_stats, inter_messages[1])));
  report_over("ranks.inter_bytes.before_U", over(s, offsetof(trs_mpi_stats, inter_bytes[0])));
  report_over("ranks.inter_bytes.within_U", over(s, offsetof(trs_mpi_stats, inter_bytes[1])));
  report_over("ranks.intra_messages.L", over(s, offsetof(trs_mpi_stats, intra_messages[0])));
  report_over("ranks.intra_messages.U", over(s, offsetof(trs_mpi_stats, intra_messages[1])));
  report_over("ranks.intra_bytes.L", over(s, offsetof(trs_mpi_stats, intra_bytes[0])));
  report_over("ranks.intra_bytes.U", over(s, offsetof(trs_mpi_stats, intra_bytes[1])));
  solve_report_error(r->job);
}

/* Rank 0 checks, writes and reports. */
static int conclude(ranks_job *r) {
  solve_job *job = r->job;
  if (r->rank) return -1;
  int code = solve_judge(job);
  if (code >= 0) return code;
  print(r);
  report(r);
  return solve_leave(job);
}

static int run(ranks_job *r, const char *name) {
  int code = agree_code(check_options(r, name));
  if (code < 0) code = agree_code(take_factors(r, name));
  if (code < 0) code = make_rhs(r);
  if (code < 0) code = measure(r);
  if (code < 0) code = agree_code(conclude(r));
  trs_mpi_plan_destroy(r->plan);
  trs_context_destroy(r->ctx);
  return code;
}

int solve_on_ranks(solve_job *job, const char *name) {
  ranks_job r = {.job = job};
  if (MPI_Init(NULL, NULL) != MPI_SUCCESS)
    return leave(LEAVE_UNAVAILABLE, "unsupported", -1, "MPI does not start");
  MPI_Comm_rank(MPI_COMM_WORLD, &r.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &r.size);
  if (r.rank) output_silence();
  int code = run(&r, name);
  ranks_abort_if_lost(r.rank, code);
  MPI_Finalize();
  return r.rank ? LEAVE_SOLVED : code;
}

#else

int solve_on_ranks(solve_job *job, const char *name) {
  (void)job;
  (void)name;
  return leave(LEAVE_UNAVAILABLE, trs_status_name(TRS_ERROR_UNSUPPORTED), -1,
               "--grid needs MPI, which is not in this build: install libopenmpi-dev and "
               "openmpi-bin and build Trireme from source");
}

#endif
