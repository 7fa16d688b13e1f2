/* solve_job.c - the steps of trireme solve: matrix, right-hand sides, plan, timing, check. */
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "files.h"
#include "leave.h"
#include "output.h"
#include "progress.h"
#include "relax_ranks.h"
#include "solve.h"
#include "sort.h"

int64_t scalar_bytes(trs_scalar scalar) {
  static const int64_t bytes[] = {
      [TRS_FLOAT] = 4, [TRS_DOUBLE] = 8, [TRS_SCOMPLEX] = 8, [TRS_DCOMPLEX] = 16};
  return bytes[scalar];
}

double scalar_eps(trs_scalar scalar) {
  return scalar == TRS_FLOAT || scalar == TRS_SCOMPLEX ? FLT_EPSILON : DBL_EPSILON;
}

int solve_check_settings(solve_settings *s, const char *name) {
  if (s->rhs_file && s->rhs) return leave_usage("solve", "give either -b FILE or --rhs, not both");
  if (s->output && names_hdf5(s->output))
    return leave_usage("solve",
                       "solutions are written as Matrix Market: give a name such as x.mtx");
  const char *const inputs[] = {name, s->rhs_file};
  return s->output ? check_writable_beside(&s->output, inputs) : -1;
}

/* ---- The matrix ---- */

/* Adds the entries in the fullest row, or column, of A. */
static int add_fullest(const trs_matrix *A, bool columns, int64_t *sum) {
  trs_matrix_info info = {.struct_size = sizeof info};
  trs_matrix_get_info(A, &info);
  if ((info.format == TRS_CSC) == columns) {
    *sum += info.longest_row;
    return -1;
  }
  const int32_t *idx;
  trs_matrix_get_arrays(A, NULL, &idx, NULL);
  int64_t vectors = columns ? info.ncols : info.nrows, most = 0;
  int32_t *count = calloc((size_t)vectors + 1, sizeof *count);
  if (!count) return leave_memory((double)vectors * sizeof *count, "the lengths of rows");
  for (int64_t p = 0; p < info.nnz; p++) count[idx[p]]++;
  for (int64_t j = 0; j < vectors; j++)
    if (count[j] > most) most = count[j];
  free(count);
  *sum += most;
  return -1;
}

/* The entries off the diagonal that are stored zeros. */
static int64_t count_zeros(const trs_matrix *A, const trs_matrix_info *info) {
  const bool wide = info->scalar == TRS_DOUBLE || info->scalar == TRS_DCOMPLEX;
  const int parts = info->scalar == TRS_SCOMPLEX || info->scalar == TRS_DCOMPLEX ? 2 : 1;
  const int64_t vectors = info->format == TRS_CSR ? info->nrows : info->ncols, *ptr;
  const int32_t *idx;
  const void *val;
  int64_t zeros = 0;
  trs_matrix_get_arrays(A, &ptr, &idx, &val);
  for (int64_t v = 0; v < vectors; v++)
    for (int64_t p = ptr[v]; p < ptr[v + 1]; p++) {
      bool zero = idx[p] != v;
      for (int64_t k = p * parts; k < (p + 1) * parts; k++)
        zero &= (wide ? ((const double *)val)[k] : (double)((const float *)val)[k]) == 0;
      zeros += zero;
    }
  return zeros;
}

static int leave_general(const solve_job *job, const trs_matrix_info *info) {
  const int64_t zeros = count_zeros(job->in.A, info);
  char of_them[96] = "";
  if (zeros) snprintf(of_them, sizeof of_them, ", %s of them stored zeros", human_count(zeros).s);
  return leave(LEAVE_INPUT, trs_status_name(TRS_ERROR_STRUCTURE), -1,
               "%s is not triangular: %s entries below the diagonal, %s above%s. Give --uplo lower "
               "or --uplo upper to solve with one triangle, or --factor lu to solve A x = b",
               job->in.name, human_count(info->nlower).s, human_count(info->nupper).s, of_them);
}

/* The requested triangle is solved, but may not be the intended one. */
static void note_diagonal_only(const solve_job *job, const char *is, const char *asked) {
  notify("note: %s is %s triangular: its %s triangle is its diagonal", human_name(job->in.name).s,
         is, asked);
}

/* Determines the triangle.  Returns -1, or the exit code. */
static int choose_triangle(solve_job *job, const trs_matrix_info *info) {
  bool lower = !info->nupper, upper = !info->nlower;
  int uplo = job->set.uplo;
  if (info->nrows != info->ncols)
    return leave(LEAVE_INPUT, trs_status_name(TRS_ERROR_STRUCTURE), -1,
                 "%s is %s x %s; only square matrices can be solved", job->in.name,
                 human_count(info->nrows).s, human_count(info->ncols).s);
  if (uplo < 0 && !lower && !upper) return leave_general(job, info);
  if (uplo == 0 && upper && !lower) note_diagonal_only(job, "upper", "lower");
  if (uplo == 1 && lower && !upper) note_diagonal_only(job, "lower", "upper");
  job->uplo = uplo < 0 ? (lower ? TRS_LOWER : TRS_UPPER) : uplo == 0 ? TRS_LOWER : TRS_UPPER;
  return -1;
}

/* Reported here, because the library does not know the options that help. */
static int leave_no_diagonal(const solve_job *job, const trs_matrix_info *info) {
  int64_t others = info->nrows - info->ndiagonal - 1;
  return leave(LEAVE_INPUT, trs_status_name(TRS_ERROR_STRUCTURE), info->missing_diagonal,
               "%s: row %lld (0-based) has no diagonal entry%s%s: --add-diagonal adds missing "
               "entries, --diag "
               "unit takes ones",
               job->in.name, (long long)info->missing_diagonal, others ? ", nor have " : "",
               others ? human_things(others, "other", "others").s : "");
}

static int take_triangle(solve_job *job) {
  trs_matrix_info info = {.struct_size = sizeof info};
  trs_matrix_get_info(job->in.A, &info);
  int code = choose_triangle(job, &info);
  if (code >= 0) return code;
  if (info.missing_diagonal >= 0 && !job->set.add_diagonal && job->set.diag != 1)
    return leave_no_diagonal(job, &info);
  bool cut = job->uplo == TRS_LOWER ? info.nupper : info.nlower;
  if (cut || (job->set.add_diagonal && !job->in.deferred)) {
    trs_matrix *T;
    if (trs_matrix_triangle(&T, job->in.A, job->uplo, job->set.add_diagonal))
      return leave_library(job->in.name);
    trs_matrix_destroy(job->in.A);
    job->in.A = T;
    job->entries_before = cut ? info.nnz : 0;
  }
  job->n = info.nrows;
  job->scalar = info.scalar;
  job->diag = job->set.diag == 1 ? TRS_UNIT : TRS_NONUNIT;
  return add_fullest(job->in.A, job->trans != TRS_NO_TRANS, &job->longest_row);
}

int solve_take_factors(solve_job *job) {
  if (job->set.uplo >= 0 || job->set.diag >= 0 || job->set.add_diagonal)
    return leave_usage("solve", "%s holds factors, to which %s does not apply: leave it out",
                       job->in.name,
                       job->set.uplo >= 0   ? "--uplo"
                       : job->set.diag >= 0 ? "--diag"
                                            : "--add-diagonal");
  trs_factors_info info = {.struct_size = sizeof info};
  trs_factors_get_info(job->in.F, &info);
  job->n = info.n;
  job->scalar = info.scalar;
  job->kind = info.kind;
  bool columns = job->trans != TRS_NO_TRANS;
  int code = add_fullest(info.L, columns, &job->longest_row);
  return code < 0 ? add_fullest(info.U, columns, &job->longest_row) : code;
}

/* 1.5 times the matrix, plus the matrix, as the library estimates the need of one GPU. */
static bool exceeds_one(const solve_job *job, double bytes) {
  double room = (double)trs_context_gpu_memory(job->ctx), limit = 1e9 * job->set.gpu_memory;
  return 2.5 * bytes > (limit > 0 && limit < room ? limit : room);
}

/* Other methods need all values. */
static bool may_push(const solve_job *job) {
  const char *method = job->set.method;
  return !method || !strcmp(method, "auto") || !strncmp(method, "push", 4);
}

/* True if the file may exceed the memory of one of several GPUs: text has at least 4 bytes per
 * entry. */
static bool may_exceed_one(const solve_job *job, const char *name) {
  const char *dot = strrchr(name, '.');
  bool packed = dot && (trs_same_letters(dot, ".gz", 4) || trs_same_letters(dot, ".zst", 5));
  int gpus;
  if (trs_context_get_kind(job->ctx, &gpus) != TRS_KIND_GPUS || gpus < 2 || !may_push(job))
    return false;
  return packed || exceeds_one(job, (double)file_bytes(name) / 4 * 12);
}

/* Opens a matrix that exceeds one GPU, with its values in the file.  in.A is NULL if reading all of
 * it is better or the only way. */
static int open_large(solve_job *job, const char *name) {
  static const trs_uplo uplo[] = {TRS_GENERAL, TRS_LOWER, TRS_UPPER};
  trs_format format = job->trans == TRS_NO_TRANS ? TRS_CSR : TRS_CSC;
  trs_matrix_info info = {.struct_size = sizeof info};
  if (!may_exceed_one(job, name)) return -1;
  trs_status status = input_open(&job->in, name, job->set.precision, format,
                                 uplo[job->set.uplo + 1], job->set.add_diagonal);
  if (status == TRS_ERROR_UNSUPPORTED) return -1;
  if (status) return leave_library(NULL);
  trs_matrix_get_info(job->in.A, &info);
  if (!exceeds_one(job,
                   (double)info.bytes + 2.0 * (double)(info.nrows * scalar_bytes(info.scalar))))
    input_free(&job->in);
  return -1;
}

/* M stays, since the error is that of A x = b too. */
static int factor_matrix(solve_job *job, const char *name) {
  trs_factor_options how = {.struct_size = sizeof how,
                            .kind = (trs_factor_kind)job->set.factor,
                            .levels = (int)job->set.levels,
                            .progress = progress_show};
  int code = input_read_matrix(&job->factored, name, job->set.precision, "--factor");
  if (code >= 0) return code;
  job->in.name = job->factored.name;
  job->in.seconds = job->factored.seconds;
  const double start = seconds_now();
  progress_begin();
  const trs_status status = trs_factor(&job->in.F, job->factored.A, &how);
  progress_end();
  job->factor_s = seconds_now() - start;
  return status ? leave_library(job->in.name) : solve_take_factors(job);
}

int solve_take_matrix(solve_job *job, const char *name) {
  job->trans = (trs_trans)job->set.trans;
  if (job->set.factor >= 0) return factor_matrix(job, name);
  int code = open_large(job, name);
  if (code < 0 && !job->in.A) code = input_read(&job->in, name, job->set.precision);
  if (code >= 0) return code;
  return job->in.F ? solve_take_factors(job) : take_triangle(job);
}

/* ---- Right-hand sides ---- */

/* "random" or "random:SEED" */
static int parse_rhs(solve_job *job) {
  const char *text = job->set.rhs;
  char *end;
  job->seed = 1;
  if (!text || !strcmp(text, "random")) return -1;
  if (!strncmp(text, "random:", 7) && text[7] >= '0' && text[7] <= '9') {
    errno = 0;
    job->seed = strtoull(text + 7, &end, 10);
    if (!*end && !errno) return -1;
  }
  return leave_usage("solve", "--rhs takes random or random:SEED, SEED a whole number, not '%s'",
                     text);
}

static int allocate(solve_job *job, void **array) {
  size_t size;
  bool overflow = __builtin_mul_overflow((size_t)job->n, (size_t)job->nrhs, &size) ||
                  __builtin_mul_overflow(size, (size_t)scalar_bytes(job->scalar), &size);
  *array = overflow ? NULL : malloc(size ? size : 1);
  if (*array) return -1;
  return leave_memory((double)job->n * (double)job->nrhs * (double)scalar_bytes(job->scalar),
                      "the right-hand sides or solutions");
}

/* x takes as much as b, and counts towards the same limit. */
static int check_room(const solve_job *job) {
  const double needed =
      2.0 * (double)job->n * (double)job->nrhs * (double)scalar_bytes(job->scalar);
  const double limit = files_limit();
  if (limit < 0 || needed <= limit) return -1;
  return leave(
      LEAVE_UNAVAILABLE, trs_status_name(TRS_ERROR_MEMORY), -1,
      "b and x of %s right-hand sides take %s, more than the limit of %s: solve for fewer at "
      "a time, or raise --max-memory",
      human_count(job->nrhs).s, human_bytes(needed).s, human_bytes(limit).s);
}

int solve_make_rhs(solve_job *job) {
  job->nrhs = job->set.nrhs ? job->set.nrhs : 1;
  int code = parse_rhs(job);
  if (code < 0 && job->set.rhs_file)
    code = input_rhs(&job->in, job->set.rhs_file, job->scalar, job->n, job->set.nrhs, &job->b,
                     &job->nrhs);
  if (code < 0) code = check_room(job);
  if (code < 0 && !job->b && (code = allocate(job, &job->b)) < 0)
    trs_random_fill(job->b, job->n * job->nrhs, job->scalar, job->seed);
  if (code < 0) code = allocate(job, &job->x);
  if (code < 0) /* allocates its pages before the first timed solve */
    memset(job->x, 0, (size_t)(job->n * job->nrhs * scalar_bytes(job->scalar)));
  return code;
}

/* ---- Plan and timing ---- */

const trs_store solve_stores[4] = {TRS_STORE_DEFAULT, TRS_STORE_MIXED, TRS_STORE_HALF,
                                   TRS_STORE_BFLOAT};

static trs_status analyze(solve_job *job) {
  trs_options options = {.struct_size = sizeof(trs_options),
                         .method = job->set.method,
                         .nrhs = job->nrhs,
                         .progress = progress_show,
                         .store = solve_stores[job->set.store],
                         .tune = job->set.tune};
  if (job->in.F) return trs_analyze_factors(&job->plan, job->ctx, job->in.F, job->trans, &options);
  return trs_analyze(&job->plan, job->ctx, job->in.A, job->uplo, job->trans, job->diag, &options);
}

static trs_status update(solve_job *job) {
  return job->in.F ? trs_update_factors(job->plan, job->in.F) : trs_update(job->plan, job->in.A);
}

/* Solves until the repeats asked for, or ten or a second's worth, are done; seconds of each. */
static trs_status time_solves(solve_job *job, double *seconds, int64_t most) {
  double begin = seconds_now();
  for (job->repeats = 0; job->repeats < most;) {
    double start = seconds_now();
    trs_status status =
        trs_solve(job->plan, job->x, job->n, job->b, job->n, job->nrhs, TRS_COL_MAJOR);
    if (status) return status;
    double end = seconds_now();
    seconds[job->repeats++] = end - start;
    if (!job->set.repeat && !job->together && end - begin > 1) break;
    progress_show(NULL, "solving", (double)job->repeats / (double)most);
  }
  return TRS_SUCCESS;
}

static int measure_solves(solve_job *job) {
  int64_t most = job->set.repeat ? job->set.repeat : 10;
  double *seconds = malloc((size_t)most * sizeof *seconds);
  if (!seconds) return leave_memory((double)most * sizeof *seconds, "the timings");
  progress_begin();
  trs_status status = time_solves(job, seconds, most);
  progress_end();
  if (!status) {
    job->median = sort_median(seconds, job->repeats);
    job->fastest = seconds[0];
  }
  free(seconds);
  return status ? leave_library(job->in.name) : -1;
}

bool solve_is_by_blocks(const solve_job *job) {
  return job->info.method && strcmp(job->info.method, "blocks") == 0;
}

/* A method that has neither settings to choose among, as the engine has, nor other methods beside
 * it. */
static bool is_named_alone(const char *method) {
  static const char *const tuned[] = {"auto", "engine", "columns"};
  if (!method) return false;
  for (size_t k = 0; k < sizeof tuned / sizeof *tuned; k++)
    if (!strncmp(method, tuned[k], strlen(tuned[k]))) return false;
  return true;
}

/* Prints notes about options without effect. */
static void note_options(const solve_job *job) {
  const solve_settings *s = &job->set;
  const char *grid = s->trees         ? "trees"
                     : s->scattered   ? "scattered"
                     : s->invert >= 0 ? "invert"
                     : s->width       ? "width"
                                      : NULL;
  if (s->store && !job->info.store)
    notify("note: --store has no effect: %s keeps values in their own type", job->info.method);
  if (s->gpu_memory > 0 && trs_context_get_kind(job->ctx, NULL) == TRS_KIND_OPENCL)
    notify("note: --gpu-memory has no effect on an OpenCL device");
  else if (s->gpu_memory > 0 && !job->info.device)
    notify("note: --gpu-memory has no effect: this solve is not on a GPU");
  if (s->tune && is_named_alone(s->method))
    notify("note: --tune has no effect with --method %s", s->method);
  if (grid) notify("note: --%s has no effect without --grid", grid);
  if (!job->together && ranks_first_of_several())
    notify(
        "note: every process solves the whole system on its own; --grid distributes factors over "
        "ranks, --backend nvshmem a system over GPUs");
}

/* With several processes only the first prints and writes; all make the same number of solves. */
static void join_processes(solve_job *job) {
  int rank;
  job->together = trs_context_processes(job->ctx, &rank) > 1;
  if (rank == 0) return;
  job->set.output = NULL;
  output_silence();
}

int solve_open(solve_job *job) {
  if (trs_context_create(&job->ctx, job->set.backend) ||
      trs_context_set_gpu_memory(job->ctx, (int64_t)(1e9 * job->set.gpu_memory)))
    return leave_library(job->set.backend ? "--backend" : NULL);
  join_processes(job);
  return -1;
}

int solve_measure(solve_job *job) {
  progress_begin();
  trs_status status = analyze(job);
  if (!status && !job->in.deferred) status = update(job); /* it would read all values again */
  progress_end();
  const bool named = status == TRS_ERROR_ARGUMENT && job->set.method;
  if (status) return leave_library(named ? "--method" : job->in.name);
  int code = measure_solves(job);
  if (code >= 0) return code;
  job->info.struct_size = sizeof job->info;
  status = trs_plan_get_info(job->plan, &job->info);
  if (!status) status = trs_plan_bound(job->plan, &job->bound);
  if (!status) status = trs_plan_get_levels(job->plan, &job->widths, &job->nlevels);
  note_options(job);
  job->bytes = job->info.solve_bytes + 2 * job->n * (job->nrhs - 1) * scalar_bytes(job->scalar);
  return status ? leave_library(job->in.name) : -1;
}

/* ---- Check ---- */

/* Only reported: incomplete factors do not solve with the matrix. */
static int check_matrix_error(solve_job *job) {
  trs_matrix_info info = {.struct_size = sizeof info};
  int code = -1;
  if (job->set.matrix && !job->in.F)
    return leave_usage("solve", "--matrix is for factors; %s is a matrix", job->in.name);
  if (job->set.matrix)
    code = input_read_matrix(&job->factored, job->set.matrix, (int)(job->scalar - TRS_FLOAT),
                             "--matrix");
  if (code >= 0 || !job->factored.A) return code;
  trs_matrix_get_info(job->factored.A, &info);
  if (info.nrows != job->n || info.ncols != job->n)
    return leave(LEAVE_INPUT, trs_status_name(TRS_ERROR_ARGUMENT), -1,
                 "%s is %s x %s, the factors have %s rows", job->factored.name,
                 human_count(info.nrows).s, human_count(info.ncols).s, human_count(job->n).s);
  job->of_matrix.struct_size = sizeof job->of_matrix;
  if (trs_check(&job->of_matrix, job->factored.A, TRS_GENERAL, job->trans, TRS_NONUNIT, job->x,
                job->n, job->b, job->n, job->nrhs, TRS_COL_MAJOR))
    return leave_library(job->factored.name);
  return -1;
}

/* The loss that storing values in the type asked for allows. */
static double rounding_of(const solve_job *job) {
  static const double units[] = {
      [TRS_STORE_MIXED] = FLT_EPSILON, [TRS_STORE_HALF] = 0x1p-10, [TRS_STORE_BFLOAT] = 0x1p-7};
  enum { ROUNDINGS = 8 }; /* of blocks, x and sums over blocks */
  return solve_is_by_blocks(job) ? ROUNDINGS * units[job->info.store] : units[job->info.store];
}

int solve_judge(solve_job *job) {
  job->error.struct_size = sizeof job->error;
  trs_status status = job->in.F
                          ? trs_check_factors(&job->error, job->in.F, job->trans, job->x, job->n,
                                              job->b, job->n, job->nrhs, TRS_COL_MAJOR)
                          : trs_check(&job->error, job->in.A, job->uplo, job->trans, job->diag,
                                      job->x, job->n, job->b, job->n, job->nrhs, TRS_COL_MAJOR);
  if (status) return leave_library(job->in.name);
  job->rounding = rounding_of(job);
  job->limit = 50 * scalar_eps(job->scalar) * (double)(job->longest_row + 1) + job->rounding;
  job->good = isfinite(job->error.normwise) && job->error.componentwise <= job->limit;
  return check_matrix_error(job);
}

void solve_free(solve_job *job) {
  trs_plan_destroy(job->plan);
  trs_context_destroy(job->ctx);
  input_free(&job->in);
  input_free(&job->factored);
  trs_free(job->widths);
  job->set.rhs_file ? trs_free(job->b) : free(job->b);
  free(job->x);
}

/* ---- The solution ---- */

static int leave_not_finite(const solve_job *job) {
  static const char *const causes[] = {
      [TRS_RANGE_RHS] = "b is not finite",
      [TRS_RANGE_MATRIX] = "the matrix is not finite",
      [TRS_RANGE_PIVOT] = "the quotient with the diagonal entry exceeds the range",
      [TRS_RANGE_OVERFLOW] = "a product or a sum exceeds the range",
      [TRS_RANGE_UNEXPLAINED] = "nothing exceeds the range"};
  const trs_backward_error *e = &job->error;
  bool overflow = e->range == TRS_RANGE_PIVOT || e->range == TRS_RANGE_OVERFLOW;
  return leave(LEAVE_NUMERICAL, overflow ? "overflow" : "backward error", e->range_row,
               "x %s %s: first in row %lld of right-hand side %lld (0-based), where %s%s",
               overflow ? "overflows" : "is not finite in", human_scalar(job->scalar),
               (long long)e->range_row, (long long)e->range_column, causes[e->range],
               job->set.output ? "; no solution is written" : "");
}

static int leave_inaccurate(const solve_job *job) {
  if (job->error.range) return leave_not_finite(job);
  return leave(LEAVE_NUMERICAL, "backward error", job->error.worst_row,
               "the backward error, %.3g, is above %.3g (worst row %lld, 0-based)%s",
               job->error.componentwise, job->limit, (long long)job->error.worst_row,
               job->set.output ? "; no solution is written" : "");
}

int solve_leave(const solve_job *job) {
  if (!job->good) return leave_inaccurate(job);
  if (!job->set.output) return LEAVE_SOLVED;
  if (trs_vectors_write(job->x, job->n, job->nrhs, job->n, TRS_COL_MAJOR, job->scalar,
                        job->set.output))
    return leave_unwritten();
  print_written(job->set.output);
  return LEAVE_SOLVED;
}
