/* solve_report.c - prints the results of trireme solve as a table and as JSON. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "output.h"
#include "report.h"
#include "solve.h"
#include "widths.h"

static const char *kind_of(const solve_job *job) {
  if (job->in.F) return "factors L U";
  return job->uplo == TRS_LOWER ? "lower triangle" : "upper triangle";
}

const char *solve_system(const solve_job *job) {
  static const char *const triangle[2][3] = {{"L x = b", "L^T x = b", "L^H x = b"},
                                             {"U x = b", "U^T x = b", "U^H x = b"}};
  static const char *const whole[3] = {"A x = b", "A^T x = b", "A^H x = b"};
  static const char *const incomplete[3] = {"L U x = b, where L U is only near A",
                                            "(L U)^T x = b, where L U is only near A",
                                            "(L U)^H x = b, where L U is only near A"};
  static const char *const triangles[3] = {"L U x = b, with the triangles L and U of a matrix",
                                           "(L U)^T x = b, with the triangles L and U of a matrix",
                                           "(L U)^H x = b, with the triangles L and U of a matrix"};
  if (job->in.F && is_incomplete(job->kind)) return incomplete[job->trans];
  if (job->in.F && job->kind == TRS_FACTOR_TRIANGLE) return triangles[job->trans];
  return job->in.F ? whole[job->trans] : triangle[job->uplo == TRS_UPPER][job->trans];
}

/* The largest part of deferred values, in bytes. */
static int64_t largest_part(const solve_job *job) {
  trs_matrix_info info = {.struct_size = sizeof info};
  trs_matrix_get_info(job->in.A, &info);
  return info.largest_part;
}

static void print_matrix(const solve_job *job) {
  const trs_plan_info *i = &job->info;
  char line[4 * 64];
  table_title(job->in.name);
  table_row("matrix", "%s, %s%s, %s, %s", kind_of(job), human_scalar(job->scalar),
            job->diag == TRS_UNIT ? ", unit diagonal" : "", human_things(i->n, "row", "rows").s,
            human_things(i->nnz, "entry", "entries").s);
  if (job->entries_before)
    table_row("", "a triangle of a matrix with %s entries", human_count(job->entries_before).s);
  if (job->in.deferred)
    table_row("", "values read part by part, at most %s at once",
              human_bytes((double)largest_part(job)).s);
  table_row("dependency", "%s entries per row", human_real(i->dependency).s);
  table_row("parallelism", "%s %s per level; %s of %s to %s rows", human_real(i->parallelism).s,
            i->parallelism == 1 ? "row" : "rows", human_things(i->levels, "level", "levels").s,
            human_count(i->min_parallelism).s, human_count(i->max_parallelism).s);
  widths_line(line, sizeof line, job->widths, job->nlevels, output_width() - 24 < 56 ? 40 : 56);
  if (job->nlevels > 1) table_row("level widths", "%s", line);
}

static void print_system(const solve_job *job) {
  char many[64];
  snprintf(many, sizeof many, "%s",
           human_things(job->nrhs, "right-hand side", "right-hand sides").s);
  if (job->set.rhs_file)
    table_row("system", "%s; %s from %s", solve_system(job), many, human_name(job->set.rhs_file).s);
  else
    table_row("system", "%s; %s, random with seed %llu", solve_system(job), many,
              (unsigned long long)job->seed);
}

static void print_plan(const solve_job *job) {
  char text[1024];
  trs_plan_describe(job->plan, text, sizeof text);
  table_row("plan", "%s", text);
  if (job->info.device)
    table_row(trs_context_get_kind(job->ctx, NULL) == TRS_KIND_OPENCL ? "device" : "GPU",
              "%s; the plan takes %s of its memory", job->info.device,
              human_bytes((double)job->info.plan_bytes).s);
}

/* The reference time is that of one right-hand side. */
static double bound_ratio(const solve_job *job) {
  return job->fastest / (job->bound * (double)job->nrhs);
}

static void print_reference(const solve_job *job) {
  const char *of = job->nrhs > 1 ? " per right-hand side" : "";
  const double ratio = bound_ratio(job);
  if (ratio < 1) /* levels were merged, or the machine was busy as it was measured */
    table_row("reference time", "%s%s; the best solve took less than that",
              human_seconds(job->bound).s, of);
  else
    table_row("reference time", "%s%s; the best solve took %s times that",
              human_seconds(job->bound).s, of, human_times(ratio).s);
}

static void print_times(const solve_job *job) {
  const trs_plan_info *i = &job->info;
  if (job->set.factor >= 0) table_row("factorisation", "%s", human_seconds(job->factor_s).s);
  if (job->in.deferred)
    table_row("analysis", "%s, including reading the values", human_seconds(i->analysis_seconds).s);
  else
    table_row("analysis", "%s, the time of %s solves; update with new values %s",
              human_seconds(i->analysis_seconds).s,
              human_times(i->analysis_seconds / job->median).s, human_seconds(i->update_seconds).s);
  const char *transfers = i->device ? ", including the transfers of b and x" : "";
  if (job->repeats > 1)
    table_row("solve", "%s at best, %s in the median of %s%s", human_seconds(job->fastest).s,
              human_seconds(job->median).s, human_count(job->repeats).s, transfers);
  else
    table_row("solve", "%s, one solve%s", human_seconds(job->fastest).s, transfers);
  if (i->device_seconds > 0)
    table_row("", "%s of the last one on the device", human_seconds(i->device_seconds).s);
  table_row("bandwidth", "%s GB/s: %s touched",
            human_times((double)job->bytes / job->fastest * 1e-9).s,
            human_bytes((double)job->bytes).s);
  print_reference(job);
  table_load();
}

static void print_memory(const solve_job *job) {
  int64_t current, peak;
  trs_memory_usage(&current, &peak);
  table_row("memory", "at most %s, including the %s", human_bytes((double)peak).s,
            job->in.deferred ? "matrix's pattern" : "matrix");
}

static const char *stored_as(const solve_job *job) {
  static const char *const words[] = {[TRS_STORE_DEFAULT] = "",
                                      [TRS_STORE_MIXED] = "floats",
                                      [TRS_STORE_HALF] = "halfs",
                                      [TRS_STORE_BFLOAT] = "bfloats"};
  return words[job->info.store];
}

/* A change of A by rounding may change all of x. */
static bool is_beyond(const solve_job *job) { return job->condition * scalar_eps(job->scalar) > 1; }

void solve_print_error(const solve_job *job) {
  const trs_backward_error *e = &job->error;
  table_styled(job->good ? STYLE_GOOD : STYLE_BAD, "backward error",
               "%ssmall: %.1e componentwise, %.1e normwise (limit %.1e%s%s)",
               job->good ? "" : "NOT ", e->componentwise, e->normwise, job->limit,
               job->rounding > 0 ? ", values stored as " : "", stored_as(job));
  if (e->underflow_rows)
    table_row("", "%s below the range of %s: underflow is allowed for",
              human_things(e->underflow_rows, "row", "rows").s, human_scalar(job->scalar));
  if (job->factored.A)
    table_row("", "against %s: %.1e componentwise, %.1e normwise%s", job->factored.name,
              job->of_matrix.componentwise, job->of_matrix.normwise,
              is_incomplete(job->kind) ? ": the error of the incomplete factorisation" : "");
  if (is_beyond(job))
    table_styled(STYLE_BAD, "condition",
                 "%.1e, estimated in the 1-norm, beyond 1/eps: perhaps no digit of x is right",
                 job->condition);
}

void solve_report_error(const solve_job *job) {
  const trs_backward_error *e = &job->error;
  report_real("backward_error.componentwise", e->componentwise);
  report_real("backward_error.normwise", e->normwise);
  report_real("backward_error.limit", job->limit);
  report_count("backward_error.worst_row", e->worst_row);
  report_count("backward_error.underflow_rows", e->underflow_rows);
  if (job->set.factor == TRS_FACTOR_LU && job->condition >= 0)
    report_real("factors.condition", job->condition);
  else if (job->set.factor == TRS_FACTOR_LU)
    report_null("factors.condition");
  if (!job->factored.A) return;
  report_real("backward_error_of_matrix.componentwise", job->of_matrix.componentwise);
  report_real("backward_error_of_matrix.normwise", job->of_matrix.normwise);
}

void solve_print(const solve_job *job) {
  print_matrix(job);
  table_gap();
  print_system(job);
  print_plan(job);
  table_gap();
  print_times(job);
  print_memory(job);
  table_gap();
  solve_print_error(job);
}

/* ---- JSON ---- */

static void report_matrix(const solve_job *job) {
  const trs_plan_info *i = &job->info;
  report_text("matrix.name", job->in.name);
  report_text("matrix.kind", job->in.F ? "factors" : job->uplo == TRS_LOWER ? "lower" : "upper");
  report_text("matrix.scalar", human_scalar(job->scalar));
  report_count("matrix.n", i->n);
  report_count("matrix.nnz", i->nnz);
  report_count("matrix.levels", i->levels);
  report_count("matrix.longest_row", job->longest_row);
  report_text("matrix.values", job->in.deferred ? "read in parts" : "whole");
  if (job->in.deferred) report_count("matrix.largest_part_bytes", largest_part(job));
  report_real("matrix.dependency", i->dependency);
  report_count("matrix.parallelism.min", i->min_parallelism);
  report_real("matrix.parallelism.mean", i->parallelism);
  report_count("matrix.parallelism.max", i->max_parallelism);
}

static void report_system(const solve_job *job) {
  static const char *const trans[] = {"n", "t", "c"};
  report_text("system.trans", trans[job->trans]);
  report_text("system.diag", job->diag == TRS_UNIT ? "unit" : "nonunit");
  report_count("system.nrhs", job->nrhs);
  if (job->set.rhs_file)
    report_text("system.rhs", job->set.rhs_file);
  else
    report_text("system.rhs", "random");
  if (!job->set.rhs_file) report_count("system.seed", (int64_t)job->seed);
}

static void report_plan(const solve_job *job) {
  const trs_plan_info *i = &job->info;
  char text[1024];
  trs_plan_describe(job->plan, text, sizeof text);
  report_text("plan.backend", i->backend);
  report_text("plan.method", i->method);
  report_text("plan.reason", i->reason);
  report_text("plan.description", text);
  report_text("plan.store", nth_word(SOLVE_STORES, job->info.store ? job->set.store : 0).s);
  if (i->device)
    report_text("plan.device", i->device);
  else
    report_null("plan.device");
  report_count("plan.threads", i->threads);
  report_count("plan.bytes", i->plan_bytes);
}

static void report_times(const solve_job *job) {
  report_real("time.read_s", job->in.seconds);
  if (job->set.factor >= 0) report_real("time.factor_s", job->factor_s);
  report_real("time.analysis_s", job->info.analysis_seconds);
  if (job->in.deferred)
    report_null("time.update_s");
  else
    report_real("time.update_s", job->info.update_seconds);
  report_real("time.solve_s.min", job->fastest);
  report_real("time.solve_s.median", job->median);
  if (job->info.device_seconds > 0) report_real("time.device_s", job->info.device_seconds);
  report_count("time.repeats", job->repeats);
}

void solve_report(const solve_job *job) {
  int64_t current, peak;
  trs_memory_usage(&current, &peak);
  report_text("command", "solve");
  report_text("version", trs_version());
  report_matrix(job);
  report_system(job);
  report_plan(job);
  report_times(job);
  report_count("bytes", job->bytes);
  report_real("bytes_per_s", (double)job->bytes / job->fastest);
  report_real("bound_s", job->bound);
  report_real("bound_ratio", bound_ratio(job));
  report_count("memory.peak_bytes", peak);
  solve_report_error(job);
  if (job->set.output) report_text("output", job->good ? job->set.output : "");
}
