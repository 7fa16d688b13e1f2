/* cmd_relax.c - trireme relax: multicolour block relaxation of one system, timed, with the residual
 * that is left. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "files.h"
#include "leave.h"
#include "output.h"
#include "progress.h"
#include "relax_ranks.h"
#include "report.h"
#include "residual.h"
#include "sort.h"

typedef struct settings {
  int store, direction, precision;
  const char *rhs_file, *output, *backend, *variant;
  int64_t block_size, sweeps, every, nrhs, seed, repeat;
  double omega, max_memory;
  bool balanced, json;
} settings;

#define FIELD(member) offsetof(settings, member)
#define STORES "mixed|f64|f32|f16|bf16"
#define DIRECTIONS "forward|backward|symmetric"

/* The words of store, from TRS_STORE_MIXED on, and of direction are in the order of the library's
 * enums. */
static const option options[] = {
    COUNT_OPTION("block-size", 0, "B", 1, TRS_RELAX_MOST_BLOCK, FIELD(block_size),
                 "unknowns per block: rows i B to i B + B - 1 are block row i (default 1)"),
    COUNT_OPTION("sweeps", 'n', "K", 1, 1e9, FIELD(sweeps),
                 "the number of sweeps, from x = 0 (default 15)"),
    CHOICE_OPTION("direction", DIRECTIONS, FIELD(direction),
                  "order of the colours: forward (the default), backward, or both in every sweep "
                  "(symmetric)"),
    REAL_OPTION("omega", "W", 1e-6, 2, FIELD(omega), "the relaxation factor (default 1)"),
    CHOICE_OPTION(
        "store", STORES, FIELD(store),
        "precision: mixed (the default) keeps x and off-diagonal blocks in single precision, "
        "the diagonal blocks and the arithmetic in double; f64 is all double, f32 all single; "
        "f16 and bf16 are mixed with off-diagonal blocks in 16 bits"),
    FLAG_OPTION("balanced", FIELD(balanced),
                "colour with about the same number of rows in every colour"),
    COUNT_OPTION("residual-every", 0, "K", 1, 1e9, FIELD(every),
                 "print the residual after every K sweeps"),
    RHS_FILE_OPTION(FIELD(rhs_file)),
    COUNT_OPTION("nrhs", 0, "K", 1, 0x1p31 - 1, FIELD(nrhs),
                 "the number of random right-hand sides, uniform in [-1, 1) (default 1)"),
    COUNT_OPTION("seed", 0, "SEED", 0, 0x1p53, FIELD(seed),
                 "the seed of the random right-hand sides (default 1)"),
    FILE_OPTION("output", 'o', "FILE", FIELD(output),
                "write x to FILE, but only if the residual fell; - is standard output"),
    TEXT_OPTION(
        "backend", "serial|threads[:T]|cuda[:N]|auto", "serial|threads|cuda|auto", FIELD(backend),
        "where to relax: one core (serial), T threads, one GPU (cuda:N), several GPUs "
        "(cuda:0-3 or cuda:0,2), or all cores (auto, the default); under mpirun each rank "
        "uses its share of the cores by default, and with cuda one of the GPUs of its machine, "
        "in turn"),
    TEXT_OPTION("variant", "NAME",
                "auto|slices|rows|thread-row|warp-row|warp-row-l2|warp-row-fused|warp-row-fused-l2|"
                "warp-row-fused-l2-async|warp-six-rows|warp-six-rows-l2|warp-six-rows-l2-async|"
                "warp-six-rows-prefetch",
                FIELD(variant),
                "the GPU kernels (default auto, the fastest; 'trireme methods' lists them); the "
                "asynchronous variants do not take f16 and bf16"),
    CHOICE_OPTION("precision", "s|d", FIELD(precision),
                  "read values, b and x as float (s) or double (d, the default)"),
    COUNT_OPTION("repeat", 0, "R", 1, 1e6, FIELD(repeat), "time R runs of all sweeps (default 3)"),
    MAX_MEMORY_OPTION(FIELD(max_memory)),
    JSON_OPTION(FIELD(json)),
    {0}};

static const paragraph paragraphs[] = {
    {NULL,
     "Relaxes A x = b by multicolour block relaxation (Walden et al. 2021). A is split into its "
     "diagonal blocks D and the rest O. Block rows are coloured so that rows of one colour do not "
     "depend on each "
     "other. A sweep goes over the colours and updates x = x + omega (D^-1 (b - O x) - x) for all "
     "rows of a colour at once; omega is the relaxation factor. Every diagonal block must be "
     "nonsingular."},
    {"Check",
     "The residual is |b - A x| / |b| in the 2-norm, with A as it was read and x as it is "
     "returned; of several right-hand sides the largest counts. If the sweeps did not reduce it, "
     "the exit code is 1 and x is not written. --residual-every prints the residual of A and x as "
     "they are stored. The rounding error is |A - stored A| / |A| in the Frobenius norm."},
    {"Domains",
     "Several GPUs, or the ranks of mpirun, have one domain of block rows each. METIS finds "
     "domains with few blocks between them. The rows that other domains need are sent while the "
     "rest of their colour is relaxed. The colours are those of a single domain, so x is the same "
     "bit for bit. Rank 0 reads M, distributes it and prints the report. With ranks a sweep's time "
     "includes distributing b and collecting x. Open MPI's mpirun starts no more ranks than cores "
     "unless it is given --oversubscribe."},
    {"Numbers",
     "The bandwidth counts every byte that one pass over the colours touches once: blocks, "
     "indices, diagonal, b and x. Rows count from 0. Rows in errors are block rows."},
    {"JSON",
     "These keys are stable: matrix {n, nnz}, relaxation {block_size, rows, blocks, colours, "
     "store, rounding}, sweeps {count, direction, omega}, time {create_s, update_s, sweep_s {min, "
     "median}}, bytes, residual, and with ranks also ranks {count, partition}; others may be "
     "added. A failure adds error {status, message, row, exit_code}."},
    {"Examples",
     "  trireme relax gen:wingmesh:20000 --block-size 5\n"
     "  trireme relax A.mtx --block-size 4 --sweeps 50 --residual-every 10\n"
     "  trireme relax A.mtx.gz --block-size 5 --store f16 -b b.mtx -o x.mtx\n"
     "  trireme relax gen:wingmesh:1100000 --block-size 5 --backend cuda:0-3\n"
     "  mpirun -np 4 trireme relax A.mtx --block-size 5 --backend cuda"},
    {0}};

typedef struct job {
  settings set;
  input in;
  trs_matrix_info matrix;
  int64_t n, nrhs;
  void *b, *x; /* n x nrhs, column-major */
  trs_context *ctx;
  relax_ranks *ranks; /* NULL: one process */
  trs_plan *R;        /* NULL with ranks */
  trs_relax_info info;
  double fastest, median; /* seconds of a sweep */
  int64_t repeats;
  double *norms;   /* checks x nrhs */
  double *history; /* checks: the largest norm of a check, relative to the first check */
  int64_t checks;  /* 1 + sweeps / every, or 0 */
  double residual;
} job;

static int64_t element_bytes(const job *j) { return j->matrix.scalar == TRS_FLOAT ? 4 : 8; }

static int allocate(const job *j, void **array) {
  double bytes = (double)j->n * (double)j->nrhs * (double)element_bytes(j);
  *array = bytes < 1e18 ? calloc((size_t)(j->n * j->nrhs) + 1, (size_t)element_bytes(j)) : NULL;
  return *array ? -1 : leave_memory(bytes, "the right-hand sides or solutions");
}

static int make_rhs(job *j) {
  int code;
  j->nrhs = j->set.nrhs;
  if (j->set.rhs_file)
    code = input_rhs(&j->in, j->set.rhs_file, j->matrix.scalar, j->n, 0, &j->b, &j->nrhs);
  else if ((code = allocate(j, &j->b)) < 0)
    trs_random_fill(j->b, j->n * j->nrhs, j->matrix.scalar, (uint64_t)j->set.seed);
  return code < 0 ? allocate(j, &j->x) : code;
}

/* Reads the matrix by rows, as the residual and the library need it. */
static int read_matrix(job *j, const char *name) {
  int code = input_read_matrix(&j->in, name, j->set.precision, "trireme relax");
  if (code >= 0) return code;
  j->matrix.struct_size = sizeof j->matrix;
  trs_matrix_get_info(j->in.A, &j->matrix);
  if (j->matrix.scalar != TRS_FLOAT && j->matrix.scalar != TRS_DOUBLE)
    return leave(LEAVE_UNAVAILABLE, trs_status_name(TRS_ERROR_UNSUPPORTED), -1,
                 "%s: relaxation takes real matrices; this one is complex", name);
  j->n = j->matrix.nrows;
  return -1;
}

static int create(job *j) {
  trs_relax_options how = {.struct_size = sizeof(trs_relax_options),
                           .store = (trs_store)(TRS_STORE_MIXED + j->set.store),
                           .balanced = j->set.balanced,
                           .nrhs = j->nrhs < 8 ? j->nrhs : 8,
                           .variant = j->set.variant};
  char share[32];
  const char *where = j->set.backend;
  if (j->ranks && !where) {
    ranks_backend(j->ranks, share, sizeof share);
    where = share;
  }
  if (j->ranks ? ranks_context(j->ranks, &j->ctx, where) : trs_context_create(&j->ctx, where))
    return leave_library(j->set.backend ? "--backend" : NULL);
  const int block = (int)j->set.block_size;
  trs_status status = j->ranks ? ranks_create(j->ranks, j->ctx, j->in.A, block, &how)
                               : trs_relax_create(&j->R, j->ctx, j->in.A, block, &how);
  if (!status) status = j->ranks ? ranks_update(j->ranks, j->in.A) : trs_update(j->R, j->in.A);
  j->info.struct_size = sizeof j->info;
  if (!status)
    status = j->ranks ? ranks_info(j->ranks, &j->info) : trs_relax_get_info(j->R, &j->info);
  return status ? leave_library(j->in.name) : -1;
}

static trs_status run_sweeps(job *j, double *norms) {
  trs_sweep_options how = {.struct_size = sizeof(trs_sweep_options),
                           .sweeps = j->set.sweeps,
                           .direction = (trs_sweep_direction)j->set.direction,
                           .omega = j->set.omega,
                           .residual_every = norms ? j->set.every : 0,
                           .residuals = norms};
  if (j->ranks) return ranks_sweep(j->ranks, j->x, j->b, j->n, j->nrhs, &how);
  return trs_relax_sweep(j->R, j->x, j->n, j->b, j->n, j->nrhs, TRS_COL_MAJOR, &how);
}

/* The library refuses sweeps where x does not fit floats. */
static int leave_sweeps(const job *j, trs_status status) {
  if (status != TRS_ERROR_UNSUPPORTED) return leave_library(j->in.name);
  return leave(LEAVE_NUMERICAL, "inaccurate", -1, "%s: %s (--store f64)", j->in.name,
               trs_last_error()->message);
}

/* A separate run that records the residuals between sweeps. */
static int record_residuals(job *j) {
  if (!j->set.every) return -1;
  int64_t checks = 1 + j->set.sweeps / j->set.every;
  j->norms = calloc((size_t)(checks * j->nrhs), sizeof *j->norms);
  j->history = calloc((size_t)checks, sizeof *j->history);
  if (ranks_any(j->ranks, !j->norms || !j->history))
    return leave_memory((double)(checks * j->nrhs) * 8, "residuals");
  const trs_status status = run_sweeps(j, j->norms);
  if (status) return leave_sweeps(j, status);
  j->checks = j->n ? checks : 0; /* no rows have no residual */
  for (int64_t k = 0; k < checks; k++)
    for (int64_t c = 0; c < j->nrhs; c++) {
      double ratio = relative(j->norms[k * j->nrhs + c], j->norms[c]);
      j->history[k] = larger(j->history[k], ratio);
    }
  return -1;
}

static int measure(job *j) {
  double *seconds = malloc((size_t)j->set.repeat * sizeof *seconds);
  trs_status status = TRS_SUCCESS;
  if (ranks_any(j->ranks, !seconds) || !seconds) {
    free(seconds);
    return leave_memory((double)j->set.repeat * sizeof *seconds, "the timings");
  }
  for (j->repeats = 0; !status && j->repeats < j->set.repeat;) {
    double start = seconds_now();
    status = run_sweeps(j, NULL);
    seconds[j->repeats++] = (seconds_now() - start) / (double)j->set.sweeps;
  }
  j->median = sort_median(seconds, j->repeats);
  j->fastest = seconds[0];
  free(seconds);
  return status ? leave_sweeps(j, status) : -1;
}

static bool is_finite(const job *j) {
  const bool single = j->matrix.scalar == TRS_FLOAT;
  for (int64_t i = 0; i < j->n * j->nrhs; i++)
    if (!isfinite(single ? (double)((const float *)j->x)[i] : ((const double *)j->x)[i]))
      return false;
  return true;
}

static int64_t sweep_bytes(const job *j) {
  const trs_relax_info *i = &j->info;
  int64_t vectors = i->nrows * i->block_size * 12 * (j->nrhs - 1);
  return (i->sweep_bytes + vectors) * (j->set.direction == TRS_SWEEP_SYMMETRIC ? 2 : 1);
}

static short_text ratio_text(double ratio) {
  short_text t;
  snprintf(t.s, sizeof t.s, isfinite(ratio) ? "%.2e" : "not finite", ratio);
  return t;
}

/* Prints the threads, in total or per rank, or the GPUs and their kernels. */
static void print_place(const job *j) {
  const trs_relax_info *i = &j->info;
  if (strcmp(i->variant, "threads") != 0)
    table_row("on", "%s by %s%s%s", human_things(i->domains, "GPU", "GPUs").s, i->variant,
              i->domains == 1 ? "" : ", domains ", i->domains == 1 ? "" : how_dealt(i->partition));
  else
    table_row("on", "%s%s", human_things(i->threads, "thread", "threads").s,
              j->ranks ? " per rank" : "");
  ranks_print(j->ranks);
}

static void print(const job *j, bool good) {
  const trs_relax_info *i = &j->info;
  table_title(j->in.name);
  table_row("matrix", "%s, %s, %s", human_scalar(j->matrix.scalar),
            human_things(j->n, "row", "rows").s, human_things(j->matrix.nnz, "entry", "entries").s);
  table_row("blocks", "%d x %d: %s off the diagonal in %s, %s per row", i->block_size,
            i->block_size, human_count(i->nblocks).s,
            human_things(i->nrows, "block row", "block rows").s,
            human_real(i->nrows ? (double)i->nblocks / (double)i->nrows : 0).s);
  table_row("colours", "%s, with %s to %s block rows each", human_count(i->colours).s,
            human_count(i->smallest_colour).s, human_count(i->largest_colour).s);
  table_row("stored", "%s, rounding error %.1e", nth_word(STORES, j->set.store).s, i->rounding);
  table_gap();
  table_row("system", "A x = b, %s",
            human_things(j->nrhs, "right-hand side", "right-hand sides").s);
  table_row("sweeps", "%s %s from x = 0, relaxation factor %g", human_count(j->set.sweeps).s,
            nth_word(DIRECTIONS, j->set.direction).s, j->set.omega);
  print_place(j);
  for (int64_t c = 1; c < j->checks; c++)
    table_row(c == 1 ? "residuals" : "", "%s after %s", ratio_text(j->history[c]).s,
              human_things(c * j->set.every, "sweep", "sweeps").s);
  table_gap();
  table_row("setup", "%s, the time of %s sweeps; update with new values %s",
            human_seconds(i->create_seconds).s, human_real(i->create_seconds / j->median).s,
            human_seconds(i->update_seconds).s);
  table_row("sweep", "%s at best, %s in the median of %s", human_seconds(j->fastest).s,
            human_seconds(j->median).s, human_things(j->repeats, "run", "runs").s);
  table_row("bandwidth", "%s GB/s: %s touched per sweep",
            human_times((double)sweep_bytes(j) / j->fastest * 1e-9).s,
            human_bytes((double)sweep_bytes(j)).s);
  table_gap();
  if (j->n == 0) {
    table_row("residual", "none: the system has no rows");
    return;
  }
  table_styled(good ? STYLE_GOOD : STYLE_BAD, "residual", "%s%s", ratio_text(j->residual).s,
               good ? " of that of x = 0" : ": the sweeps did NOT reduce it");
}

static void report(const job *j) {
  const trs_relax_info *i = &j->info;
  int64_t current, peak;
  trs_memory_usage(&current, &peak);
  report_text("command", "relax");
  report_text("version", trs_version());
  report_text("matrix.name", j->in.name);
  report_text("matrix.scalar", human_scalar(j->matrix.scalar));
  report_count("matrix.n", j->n);
  report_count("matrix.nnz", j->matrix.nnz);
  report_count("system.nrhs", j->nrhs);
  report_count("relaxation.block_size", i->block_size);
  report_count("relaxation.rows", i->nrows);
  report_count("relaxation.blocks", i->nblocks);
  report_count("relaxation.longest_row", i->longest_row);
  report_count("relaxation.colours", i->colours);
  report_count("relaxation.colour_rows.min", i->smallest_colour);
  report_count("relaxation.colour_rows.max", i->largest_colour);
  report_text("relaxation.store", nth_word(STORES, j->set.store).s);
  report_real("relaxation.rounding", i->rounding);
  report_count("relaxation.threads", i->threads);
  report_text("relaxation.variant", i->variant);
  report_count("relaxation.gpus", strcmp(i->variant, "threads") ? i->domains : 0);
  ranks_report(j->ranks);
  report_count("sweeps.count", j->set.sweeps);
  report_text("sweeps.direction", nth_word(DIRECTIONS, j->set.direction).s);
  report_real("sweeps.omega", j->set.omega);
  if (j->checks) report_append_reals("sweeps.residuals", j->history, j->checks);
  report_real("time.read_s", j->in.seconds);
  report_real("time.create_s", i->create_seconds);
  report_real("time.update_s", i->update_seconds);
  report_real("time.sweep_s.min", j->fastest);
  report_real("time.sweep_s.median", j->median);
  report_count("time.repeats", j->repeats);
  report_count("bytes", sweep_bytes(j));
  report_real("bytes_per_s", (double)sweep_bytes(j) / j->fastest);
  report_count("memory.peak_bytes", peak);
  if (j->n)
    report_real("residual", j->residual);
  else
    report_null("residual");
}

/* The work of rank 0 before all ranks continue. */
static int prepare(job *j, const char *name) {
  const char *const inputs[] = {name, j->set.rhs_file};
  int code = j->set.output ? check_writable_beside(&j->set.output, inputs) : -1;
  if (code < 0) code = read_matrix(j, name);
  return code < 0 ? make_rhs(j) : code;
}

static int leave_unsolved(const job *j, const char *name) {
  const char *unwritten = j->set.output ? "; x was not written" : "";
  if (TRS_STORE_MIXED + j->set.store != TRS_STORE_DOUBLE && !is_finite(j))
    return leave(LEAVE_NUMERICAL, "inaccurate", -1,
                 "%s: x is too large for a float: --store f64 shows whether the sweeps "
                 "diverge%s",
                 name, unwritten);
  return leave(LEAVE_NUMERICAL, "inaccurate", -1,
               "%s: the sweeps did not reduce the residual (now %s%s): the diagonal blocks may "
               "not dominate; try another --block-size or a smaller relaxation factor (--omega)%s",
               name, ratio_text(j->residual).s, isfinite(j->residual) ? " of that of x = 0" : "",
               unwritten);
}

static int relax(job *j, const char *name) {
  if (j->set.rhs_file && (j->set.nrhs || j->set.seed >= 0))
    return leave_usage("relax", "--%s is for random right-hand sides: leave it out with -b FILE",
                       j->set.nrhs ? "nrhs" : "seed");
  if (j->set.output && names_hdf5(j->set.output))
    return leave_usage("relax", "x is written as Matrix Market: give a name such as x.mtx");
  if (!j->set.nrhs) j->set.nrhs = 1;
  if (j->set.seed < 0) j->set.seed = 1;
  progress_begin();
  int code = ranks_agree(j->ranks, ranks_speaks(j->ranks) ? prepare(j, name) : -1);
  j->nrhs = ranks_share(j->ranks, j->nrhs);
  if (code < 0) code = create(j);
  if (code < 0) code = record_residuals(j);
  if (code < 0) code = measure(j);
  progress_end();
  if (code < 0 && !ranks_speaks(j->ranks)) return LEAVE_SOLVED;
  if (code < 0 && relative_residual(&j->residual, j->in.A, j->x, j->b, j->nrhs))
    code = leave_library(j->in.name);
  if (code >= 0) return code;
  bool good = j->residual < 1;
  print(j, good);
  report(j);
  if (!good) return leave_unsolved(j, name);
  if (!j->set.output) return LEAVE_SOLVED;
  if (trs_vectors_write(j->x, j->n, j->nrhs, j->n, TRS_COL_MAJOR, j->matrix.scalar, j->set.output))
    return leave_unwritten();
  print_written(j->set.output);
  return LEAVE_SOLVED;
}

static const char brief[] =
    "Options\n"
    "      --block-size B       unknowns per block\n"
    "  -n, --sweeps K           the number of sweeps (default 15)\n"
    "      --direction WAY      forward, backward or symmetric\n"
    "      --omega W            the relaxation factor (default 1)\n"
    "      --store STORE        precision: mixed, f64, f32, f16 or bf16\n"
    "  -b, --rhs-file FILE      right-hand sides (default: one at random)\n"
    "  -o, --output FILE        write x\n"
    "      --backend WHERE      serial, threads:8, cuda, cuda:0-3 or auto\n"
    "      --json               print the report as JSON\n"
    "\n"
    "  trireme relax A.mtx --block-size 5 -b b.mtx -o x.mtx\n";

static int run(int argc, char **argv) {
  job j = {
      .set = {.precision = -1, .block_size = 1, .sweeps = 15, .omega = 1, .seed = -1, .repeat = 3}};
  int code = ranks_join(&j.ranks);
  if (code < 0) code = options_parse(&cmd_relax, &j.set, &argc, argv);
  files_limit_memory(j.set.max_memory);
  if (code < 0) code = relax(&j, argv[0]);
  code = ranks_leave(j.ranks, code);
  trs_plan_destroy(j.R);
  trs_context_destroy(j.ctx);
  input_free(&j.in);
  j.set.rhs_file ? trs_free(j.b) : free(j.b);
  free(j.x);
  free(j.norms);
  free(j.history);
  return code;
}

const command cmd_relax =
    LONG_COMMAND_OF("relax", "[OPTIONS] M", "relax A x = b in blocks, by colours", "matrix", 1, 1);
