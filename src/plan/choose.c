/* choose.c - the list of methods, and auto's choice among them: the lowest estimate of one solve,
 * with the analysis spread over the solves expected.  Estimates are good for comparing only. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/config.h"
#include "plan/plan.h"

/* TRS_METHOD is redefined for each reading of the list. */
#if TRS_HAVE_CUDA
#define TRS_METHOD_CUDA TRS_METHOD
#else
#define TRS_METHOD_CUDA(id, name, backend, summary)
#endif
#define TRS_METHOD(id, name, backend, summary) extern const trs_method trs_method_##id;
#include "plan/methods.def"
#undef TRS_METHOD

static const trs_method *const methods[] = {
#define TRS_METHOD(id, name, backend, summary) &trs_method_##id,
#include "plan/methods.def"
#undef TRS_METHOD
};
#undef TRS_METHOD_CUDA

enum { NMETHODS = sizeof methods / sizeof methods[0] };

/* Those, too, that this build does not have. */
typedef struct entry {
  const char *name, *backend, *summary;
  bool absent;
} entry;

static const entry entries[] = {
#define TRS_METHOD(id, name, backend, summary) {name, backend, summary, false},
#define TRS_METHOD_CUDA(id, name, backend, summary) {name, backend, summary, !TRS_HAVE_CUDA},
#include "plan/methods.def"
#undef TRS_METHOD
#undef TRS_METHOD_CUDA
};

enum { NENTRIES = sizeof entries / sizeof entries[0] };

const char *trs_method_list(void) {
  static _Thread_local char text[4096];
  size_t used = 0;
  for (int m = 0; m < NENTRIES && used < sizeof text; m++) {
    const entry *it = &entries[m];
    int more = snprintf(text + used, sizeof text - used, "%-18s%-12s%s%s\n", it->name, it->backend,
                        it->summary, it->absent ? " [not in this build]" : "");
    if (more > 0) used += (size_t)more;
  }
  return text;
}

static bool on_gpu(const trs_method *method) { return strncmp(method->backend, "cuda", 4) == 0; }

/* A context with a GPU has methods of the GPU only: x and b may lie there.  One of several GPUs has
 * those of one too. */
static bool offered(const trs_plan *plan, const trs_method *method) {
  const char *backend = plan->context->backend;
  if (strcmp(backend, "cuda-group") == 0) return on_gpu(method);
  if (strcmp(backend, "auto") == 0 || strcmp(backend, method->backend) == 0) return true;
  return strcmp(backend, "cuda") != 0 && strcmp(method->backend, "serial") == 0;
}

const char *trs_plan_refuses(const trs_plan *plan, const trs_method *method) {
  if (on_gpu(method) && trs_context_is_inherited(plan->context)) return trs_context_inherited;
  if (trs_matrix_is_deferred(plan->matrix) && !method->deferred)
    return "the values of the matrix are deferred, which is for \"push\" on several GPUs: read it "
           "whole (trs_matrix_read)";
  return method->refuses(plan);
}

/* Why a method that is not offered is not. */
static const char *elsewhere(const trs_method *method) {
  if (strcmp(method->backend, "cuda-group") != 0) return "it belongs to another backend";
  return "it is for several GPUs: take a context such as \"cuda:0-3\", or \"cuda:0-0\" for one";
}

static bool same_name(const char *name, const char *given, size_t length) {
  return strlen(name) == length && strncmp(name, given, length) == 0;
}

static trs_status take_method(trs_plan *plan, const trs_method *method, const char *parameters) {
  if (on_gpu(method)) (void)trs_context_find_device(plan->context);
  const char *why = offered(plan, method) ? trs_plan_refuses(plan, method) : elsewhere(method);
  if (why)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1, "method %s cannot be used here: %s", method->name,
                    why);
  if (*parameters && !method->parameters)
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "method %s has no parameters: leave out \":%s\"",
                    method->name, parameters);
  plan->method = method;
  plan->parameters = parameters;
  snprintf(plan->reason, sizeof plan->reason, "asked for by name");
  return TRS_SUCCESS;
}

/* "name" or "name:parameters" */
static trs_status take_named(trs_plan *plan, const char *given) {
  size_t length = strcspn(given, ":");
  for (int m = 0; m < NMETHODS; m++)
    if (same_name(methods[m]->name, given, length))
      return take_method(plan, methods[m], given + length + (given[length] == ':'));
  for (int m = 0; m < NENTRIES; m++)
    if (entries[m].absent && same_name(entries[m].name, given, length))
      return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                      "method %s needs CUDA, which this build does not have: install the CUDA "
                      "toolkit (nvcc) and build again",
                      entries[m].name);
  return trs_fail(TRS_ERROR_ARGUMENT, -1,
                  "no method \"%.*s\": trs_method_list and `trireme methods` name them",
                  (int)length, given);
}

/* Levels cost about a solve to find: not worth it where a solve ends before a team has started.
 * GPU methods find their own; where there are several GPUs, whether these gain depends on levels.
 */
static trs_status look_at_levels(trs_plan *plan) {
  static const int64_t SMALL = 20000;
  const trs_group *group = plan->context->group;
  bool several = group && trs_group_members(group) > 1;
  if (strncmp(plan->context->backend, "cuda", 4) == 0 && !several) return TRS_SUCCESS;
  if ((plan->context->threads == 1 && !several) || plan->system.n + plan->system.nnz < SMALL)
    return TRS_SUCCESS;
  return trs_plan_need_levels(plan);
}

/* In an "auto" context: starting CUDA takes a third of a second, so only where a solve is long. */
static void look_for_gpu(trs_plan *plan) {
  static const int64_t LARGE = 2000000;
  if (plan->no_gpu) return;
  if (plan->matrix->on_device || plan->system.n + plan->system.nnz >= LARGE)
    (void)trs_context_find_device(plan->context);
}

/* One solve and, where the caller says how many are to come, its share of the analysis. */
static double cost(const trs_plan *plan, const trs_method *method) {
  double solve = method->estimate(plan);
  if (plan->options.solves <= 0) return solve;
  double substitution = trs_method_serial.estimate(plan);
  return solve + method->analysis_solves * substitution / (double)plan->options.solves;
}

/* The two lowest costs among the methods on offer; -1 where there is none. */
static void find_best(const trs_plan *plan, double *seconds, int *first, int *second) {
  *first = *second = -1;
  for (int m = 0; m < NMETHODS; m++) {
    if (!offered(plan, methods[m]) || trs_plan_refuses(plan, methods[m])) continue;
    if ((plan->no_gpu && on_gpu(methods[m])) || plan->declined >> m & 1) continue;
    seconds[m] = cost(plan, methods[m]);
    if (*first < 0 || seconds[m] < seconds[*first]) {
      *second = *first;
      *first = m;
    } else if (*second < 0 || seconds[m] < seconds[*second]) {
      *second = m;
    }
  }
}

void trs_plan_decline(trs_plan *plan) {
  for (int m = 0; m < NMETHODS; m++)
    if (methods[m] == plan->method) plan->declined |= 1u << m;
}

static void explain(trs_plan *plan, const double *seconds, int first, int second) {
  size_t size = sizeof plan->reason;
  int used;
  /* Methods of several GPUs that stand out say so by an estimate that nothing beats. */
  double stands_out = strcmp(methods[first]->backend, "cuda-group") == 0 && second >= 0
                          ? methods[first]->estimate(plan)
                          : 1;
  if (trs_matrix_is_deferred(plan->matrix))
    used = snprintf(plan->reason, size, "the values of the matrix are deferred");
  else if (stands_out <= 0)
    used = snprintf(plan->reason, size, "one GPU has no room for it");
  else if (stands_out <= 1e-9)
    used = snprintf(plan->reason, size, "there are right-hand sides for every GPU");
  else if (on_gpu(methods[first]) && (second < 0 || isinf(seconds[second])))
    used = snprintf(plan->reason, size, "the GPU's own choice");
  else if (second < 0)
    used = snprintf(plan->reason, size, "the only method of this backend");
  else if (isinf(seconds[second]))
    used =
        snprintf(plan->reason, size, "so small a solve ends before several threads have started");
  else /* a ratio: estimates know neither this machine's speed nor its other work */
    used = snprintf(plan->reason, size,
                    "estimated %.2f times as fast as %s%s (one right-hand side, idle cores)",
                    seconds[second] / seconds[first], methods[second]->name,
                    plan->options.solves > 0 ? " with its share of the analysis" : "");
  if (used > 0 && (size_t)used < size && plan->context->looked && !plan->context->device)
    snprintf(plan->reason + used, size - (size_t)used, "; no GPU: %s", plan->context->no_device);
  const trs_group *group = plan->context->group;
  if (used > 0 && (size_t)used < size && group && trs_group_members(group) > 1 &&
      strcmp(methods[first]->backend, "cuda") == 0)
    snprintf(plan->reason + used, size - (size_t)used, "; on %s of %d GPUs",
             trs_group_one_process(group) ? "the first" : "each", trs_group_members(group));
}

static trs_status take_best(trs_plan *plan) {
  double seconds[NMETHODS];
  int first, second;
  look_for_gpu(plan);
  TRS_TRY(look_at_levels(plan));
  find_best(plan, seconds, &first, &second);
  const char *why = trs_plan_refuses(plan, methods[0]);
  if (first < 0)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1, "no method can be used here: %s",
                    why ? why : "this backend has none");
  plan->method = methods[first];
  explain(plan, seconds, first, second);
  return TRS_SUCCESS;
}

trs_status trs_plan_choose(trs_plan *plan, const char *name) {
  if (name && strcmp(name, "auto") != 0) return take_named(plan, name);
  return take_best(plan);
}
