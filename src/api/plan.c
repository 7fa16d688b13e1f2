/* plan.c - queries of a plan. */
#include <stdio.h>
#include <string.h>

#include "base/cancel.h"
#include "base/structs.h"
#include "relax/relaxation.h"

static trs_status level_facts(trs_plan *plan, trs_plan_info *info) {
  TRS_TRY(trs_plan_count_levels(plan));
  info->levels = plan->levels->count;
  trs_levels_extremes(plan->levels, &info->min_parallelism, &info->max_parallelism);
  return TRS_SUCCESS;
}

static trs_status gather(trs_plan *plan, trs_plan_info *info);

/* The information of a plan over factors, collected from its two sweeps in order. */
static trs_status sweep_facts(trs_plan *plan, trs_plan_info *info) {
  trs_plan_info part;
  info->levels = info->max_parallelism = 0;
  info->min_parallelism = plan->system.n;
  info->backend = info->method = NULL;
  for (int s = 0; s < 2; s++) {
    TRS_TRY(gather(plan->sweep[s], &part));
    info->levels += part.levels;
    info->device = part.device;
    info->device_seconds += part.device_seconds;
    if (part.min_parallelism < info->min_parallelism) info->min_parallelism = part.min_parallelism;
    if (part.max_parallelism > info->max_parallelism) info->max_parallelism = part.max_parallelism;
    if (!info->method || part.threads > 1) {
      info->backend = part.backend;
      info->method = part.method;
    }
  }
  return TRS_SUCCESS;
}

/* Colours are the levels of relaxation. */
static void colour_facts(const trs_plan *plan, trs_plan_info *info) {
  trs_relax_info own;
  trs_relaxation_info(plan, &own);
  info->levels = own.colours;
  info->min_parallelism = own.smallest_colour * own.block_size;
  info->max_parallelism = own.largest_colour * own.block_size;
  info->solve_bytes = own.sweep_bytes;
}

static trs_status gather(trs_plan *plan, trs_plan_info *info) {
  const trs_system *S = &plan->system;
  const trs_backend *backend = plan->method->backend;
  *info = (trs_plan_info){.backend = backend->name,
                          .method = plan->method->name,
                          .reason = plan->reason,
                          .threads = trs_plan_threads(plan),
                          .n = S->n,
                          .nnz = S->nnz,
                          .solve_bytes = trs_plan_solve_bytes(plan),
                          .analysis_seconds = plan->analysis_seconds,
                          .update_seconds = plan->update_seconds,
                          .store = trs_plan_store(plan),
                          .device = backend->describe ? backend->describe(plan->context) : NULL};
  if (plan->kind == TRS_OF_RELAXATION)
    colour_facts(plan, info);
  else
    TRS_TRY(plan->sweep[0] ? sweep_facts(plan, info) : level_facts(plan, info));
  info->plan_bytes = trs_plan_bytes(plan);
  if (plan->method->device_seconds) info->device_seconds = plan->method->device_seconds(plan);
  int sweeps = plan->sweep[0] ? 2 : 1;
  if (info->levels) info->parallelism = (double)(sweeps * S->n) / (double)info->levels;
  if (S->n) info->dependency = (double)S->nnz / (double)S->n;
  return TRS_SUCCESS;
}

trs_status trs_plan_get_info(trs_plan *plan, trs_plan_info *info) {
  trs_plan_info own;
  if (!plan || !info) return trs_fail(TRS_ERROR_ARGUMENT, -1, "%s is NULL", plan ? "info" : "plan");
  TRS_TRY(TRS_STRUCT_CHECK(trs_plan_info, info));
  TRS_TRY(trs_plan_takes(plan, TRS_TAKE_SYSTEM | TRS_TAKE_RELAXATION, TRS_USE_FACTS));
  TRS_TRY(gather(plan, &own));
  return TRS_STRUCT_GIVE(trs_plan_info, info, &own);
}

trs_status trs_plan_get_levels(trs_plan *plan, int64_t **rows, int64_t *levels) {
  if (!plan || !rows || !levels)
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "plan, rows or levels is NULL");
  TRS_TRY(trs_plan_takes(plan, TRS_TAKE_SYSTEM, TRS_USE_FACTS));
  trs_plan *part[2] = {plan->sweep[0] ? plan->sweep[0] : plan, plan->sweep[1]};
  int64_t count = 0, at = 0;
  for (int s = 0; s < 2 && part[s]; s++) {
    TRS_TRY(trs_plan_count_levels(part[s]));
    count += part[s]->levels->count;
  }
  TRS_TRY(TRS_ALLOC(rows, count));
  for (int s = 0; s < 2 && part[s]; s++)
    for (int32_t k = 0; k < part[s]->levels->count; k++)
      (*rows)[at++] = part[s]->levels->ptr[k + 1] - part[s]->levels->ptr[k];
  *levels = count;
  return TRS_SUCCESS;
}

/* The rates of the device or CPU that solves; of a plan over factors, those of the sweep with more
 * threads. */
static trs_status measure(const trs_plan *plan, const trs_plan_info *info, double *bandwidth,
                          double *hop) {
  const trs_context *context = plan->context;
  const trs_backend *backend = (plan->sweep[0] ? plan->sweep[0] : plan)->method->backend;
  TRS_TRY(backend->bandwidth(bandwidth, context, info->threads, info->solve_bytes, plan->stream));
  return backend->hop(hop, context, plan->stream);
}

trs_status trs_plan_bound(trs_plan *plan, double *seconds) {
  trs_plan_info info;
  double bandwidth, hop;
  if (!plan || !seconds)
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "%s is NULL", plan ? "seconds" : "plan");
  TRS_TRY(trs_plan_takes(plan, TRS_TAKE_SYSTEM, TRS_USE_FACTS));
  TRS_TRY(trs_plan_check(plan));
  TRS_TRY(gather(plan, &info));
  int cancel = trs_cancel_defer();
  trs_status status = measure(plan, &info, &bandwidth, &hop);
  trs_cancel_restore(cancel);
  TRS_TRY(status);
  double by_bytes = (double)info.solve_bytes / bandwidth;
  double by_levels = (double)info.levels * hop;
  *seconds = by_bytes > by_levels ? by_bytes : by_levels;
  return TRS_SUCCESS;
}

size_t trs_plan_describe(trs_plan *plan, char *text, size_t size) {
  char line[512] = "";
  if (text && size) *text = '\0';
  if (!plan || (!text && size)) return 0;
  if (plan->method->describe) plan->method->describe(plan, line, sizeof line);
  char warning[128] = "", stored[96] = "";
  int threads = trs_plan_threads(plan), cores = plan->context->cores;
  if (threads > cores)
    snprintf(warning, sizeof warning,
             "\nwarning: %d threads share %d core%s: they wait for each other's turns", threads,
             cores, cores > 1 ? "s" : "");
  if (plan->options.store && !trs_plan_store(plan))
    snprintf(stored, sizeof stored,
             "\nstored: values in their own type, for this method has no other");
  int length = snprintf(text, size, "%s: %s\nchosen: %s%s%s", plan->method->name, line,
                        plan->reason, stored, warning);
  return length > 0 ? (size_t)length : 0;
}
