/* choice.c - the list of methods, and auto's choice among them: the method with the lowest estimate
 * of one solve, which includes the analysis divided by the number of expected solves.  Estimates
 * only compare methods; they do not predict times. */
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/config.h"
#include "base/nearest.h"
#include "base/text.h"
#include "plan/choice.h"

/* The list is included twice, each time with another TRS_METHOD. */
#define TRS_METHOD(id, name, backend, summary) extern const trs_method trs_method_##id;
#define TRS_METHOD_GPU TRS_METHOD
#define TRS_METHOD_CUDA TRS_METHOD
#define TRS_PAPER_CPU TRS_METHOD
#define TRS_PAPER_GPU TRS_METHOD
#define TRS_PAPER_CUDA TRS_METHOD
#define TRS_PAPER_OPENCL TRS_METHOD
#include "plan/methods.def"
#undef TRS_METHOD
#undef TRS_METHOD_GPU
#undef TRS_METHOD_CUDA
#undef TRS_PAPER_CPU
#undef TRS_PAPER_GPU
#undef TRS_PAPER_CUDA
#undef TRS_PAPER_OPENCL

static const struct {
  const trs_method *table; /* NULL: this build lacks it */
  const char *name, *backend, *summary;
  bool of_paper; /* of papers/ */
} methods[] = {
#define TRS_METHOD(id, name, backend, summary) {&trs_method_##id, name, backend, summary, false},
#define TRS_METHOD_GPU(id, name, backend, summary) \
  {TRS_GPU_PART(trs_method_##id), name, backend, summary, false},
#define TRS_METHOD_CUDA(id, name, backend, summary) \
  {TRS_CUDA_PART(trs_method_##id), name, backend, summary, false},
#define TRS_PAPER_CPU(id, name, backend, summary) \
  {TRS_PAPER_PART(trs_method_##id), name, backend, summary, true},
#define TRS_PAPER_GPU(id, name, backend, summary) \
  {TRS_PAPER_GPU_PART(trs_method_##id), name, backend, summary, true},
#define TRS_PAPER_CUDA(id, name, backend, summary) \
  {TRS_PAPER_CUDA_PART(trs_method_##id), name, backend, summary, true},
#define TRS_PAPER_OPENCL(id, name, backend, summary) \
  {TRS_PAPER_OPENCL_PART(trs_method_##id), name, backend, summary, true},
#include "plan/methods.def"
};

enum { NMETHODS = sizeof methods / sizeof methods[0] };
_Static_assert(sizeof methods / sizeof methods[0] <= TRS_MOST_METHODS,
               "each method has a bit and a known time in a choice");

static int number_of(const trs_method *method) {
  int m = 0;
  while (methods[m].table != method) m++;
  return m;
}

static char list[4096];

static void write_list(void) {
  size_t used = 0;
  for (int m = 0; m < NMETHODS && used < sizeof list; m++) {
    int more = snprintf(list + used, sizeof list - used, "%-18s%-12s%s%s\n", methods[m].name,
                        methods[m].backend, methods[m].summary,
                        methods[m].table ? ""
                        : methods[m].of_paper && !TRS_HAVE_PAPERS
                            ? " [not in this build: TRIREME_WITH_PAPERS=ON has it]"
                            : " [not in this build]");
    if (more > 0) used += (size_t)more;
  }
}

const char *trs_method_list(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, write_list);
  return list;
}

static bool offered(const trs_plan *plan, const trs_method *method) {
  const trs_backend *const *of = plan->context->backend->offers;
  while (*of && *of != method->backend) of++;
  return *of;
}

const char *trs_plan_refuses(const trs_plan *plan, const trs_method *method) {
  if (method->backend->gpu && trs_context_is_inherited(plan->context)) return trs_context_inherited;
  if (trs_matrix_is_deferred(plan->matrix) && !method->deferred)
    return "the values of the matrix are deferred, which is for \"push\" on several GPUs: read it "
           "whole (trs_matrix_read)";
  if (plan->options.launch_updates && !method->launches_updates)
    return "its updates wait, which launch_updates excludes: take method engine on one GPU";
  if (plan->options.launch_updates && !plan->matrix->on_device)
    return "launch_updates is for a matrix in device memory";
  return method->refuses ? method->refuses(plan) : NULL;
}

static bool same_name(const char *name, const char *given, size_t length) {
  return strlen(name) == length && strncmp(name, given, length) == 0;
}

static trs_status take_method(trs_plan *plan, const trs_method *method, const char *parameters) {
  if (method->backend->gpu) (void)trs_context_find_device(plan->context);
  const char *elsewhere = method->backend->elsewhere;
  const char *why = offered(plan, method) ? trs_plan_refuses(plan, method)
                    : elsewhere           ? elsewhere
                                          : "it belongs to another backend";
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

static void add_word(char *text, size_t size, const char *word, const char *between) {
  const size_t used = strlen(text);
  snprintf(text + used, size - used, "%s%s", used ? between : "", word);
}

/* Whether the context offers a method of this name, on any of its backends. */
static bool offers_name(const trs_plan *plan, const char *name) {
  for (int m = 0; m < NMETHODS; m++)
    if (methods[m].table && !strcmp(methods[m].name, name) && offered(plan, methods[m].table))
      return true;
  return false;
}

/* The message lists the methods that the context offers, then the others, whose own messages say
 * what they need: the suggestion may be any of them. */
static trs_status unknown_method(const trs_plan *plan, const char *given, size_t length) {
  char offers[256] = "", others[256] = "", all[1024] = "auto", typed[64], near[64];
  for (int m = 0; m < NMETHODS; m++) {
    const char *name = methods[m].name;
    int same = 0;
    while (strcmp(methods[same].name, name) != 0) same++;
    if (same < m) continue; /* of another backend, too */
    add_word(all, sizeof all, name, "|");
    if (offers_name(plan, name))
      add_word(offers, sizeof offers, name, ", ");
    else
      add_word(others, sizeof others, name, ", ");
  }
  snprintf(typed, sizeof typed, "%.*s", (int)length, given);
  if (!strcmp(typed, "auto"))
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "method %s has no parameters: leave out \":%s\"", typed,
                    given + length + 1);
  return trs_fail(TRS_ERROR_ARGUMENT, -1,
                  "no method \"%s\"%s: there are auto, %s here, and elsewhere %s", typed,
                  trs_suggestion(near, sizeof near, typed, all), offers, others);
}

/* "name" or "name:parameters" */
static trs_status take_named(trs_plan *plan, const char *given) {
  size_t length = strcspn(given, ":");
  int found = -1; /* the first with this name that the context offers, or the first */
  bool offers = false;
  for (int m = 0; m < NMETHODS && !offers; m++) {
    if (!same_name(methods[m].name, given, length)) continue;
    offers = methods[m].table && offered(plan, methods[m].table);
    if (found < 0 || offers) found = m;
  }
  if (found >= 0 && methods[found].table)
    return take_method(plan, methods[found].table, given + length + (given[length] == ':'));
  if (found >= 0 && methods[found].of_paper && !TRS_HAVE_PAPERS)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "method %s repeats a paper, and this build leaves papers out: build with "
                    "-DTRIREME_WITH_PAPERS=ON",
                    methods[found].name);
  if (found >= 0)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "method %s needs CUDA, which this build does not have: " TRS_GET_CUDA,
                    methods[found].name);
  return unknown_method(plan, given, length);
}

/* Computing levels costs about one solve.  It does not pay if a solve ends before a team of threads
 * has started.  GPU methods compute their own levels. */
static trs_status look_at_levels(trs_plan *plan) {
  static const int64_t SMALL = 20000;
  if (plan->context->backend->gpu || plan->context->threads == 1) return TRS_SUCCESS;
  if (plan->system.n + plan->system.nnz < SMALL) return TRS_SUCCESS;
  return trs_plan_need_levels(plan);
}

/* In an "auto" context: starting CUDA takes a third of a second, so only long solves look for a
 * GPU. */
bool trs_plan_finds_gpu(trs_context *context, int64_t numbers) {
  static const int64_t LARGE = 2000000;
  if (numbers >= LARGE) (void)trs_context_find_device(context);
  return context->device;
}

static void look_for_gpu(const trs_plan *plan) {
  if (plan->choice->on_cpu) return;
  (void)trs_plan_finds_gpu(plan->context,
                           plan->matrix->on_device ? INT64_MAX : plan->system.n + plan->system.nnz);
}

static trs_estimate estimate_of(const trs_plan *plan, const trs_method *method) {
  const double known = plan->choice->known[number_of(method)];
  if (known > 0) return (trs_estimate){.seconds = known};
  if (method->estimate) return method->estimate(plan);
  return (trs_estimate){.preference = TRS_PREFERENCE_LAST};
}

/* Includes the solve's share of the analysis if the caller gives the number of solves. */
static trs_estimate cost(const trs_plan *plan, const trs_method *method) {
  trs_estimate estimate = estimate_of(plan, method);
  if (plan->options.solves <= 0) return estimate;
  double substitution = trs_method_serial.estimate(plan).seconds;
  estimate.seconds += method->analysis_solves * substitution / (double)plan->options.solves;
  return estimate;
}

typedef struct candidate {
  const trs_method *method; /* NULL: none */
  trs_estimate estimate;
} candidate;

static bool is_better(const candidate *a, const candidate *b) {
  if (!b->method) return true;
  if (a->estimate.preference != b->estimate.preference)
    return a->estimate.preference > b->estimate.preference;
  return a->estimate.seconds < b->estimate.seconds;
}

static bool may_choose(const trs_plan *plan, int m) {
  const trs_method *method = methods[m].table;
  if (!method || !offered(plan, method) || trs_plan_refuses(plan, method)) return false;
  return !(plan->choice->on_cpu && method->backend->gpu) && !(plan->choice->excluded >> m & 1);
}

/* best[0] is the best candidate, best[1] the second best. */
static void find_best(const trs_plan *plan, candidate best[2]) {
  best[0] = best[1] = (candidate){0};
  for (int m = 0; m < NMETHODS; m++) {
    if (!may_choose(plan, m)) continue;
    const candidate next = {methods[m].table, cost(plan, methods[m].table)};
    if (is_better(&next, &best[0])) {
      best[1] = best[0];
      best[0] = next;
    } else if (is_better(&next, &best[1])) {
      best[1] = next;
    }
  }
}

bool trs_plan_knows(const trs_plan *plan, const trs_method *method) {
  return plan->choice && plan->choice->known[number_of(method)] > 0;
}

bool trs_decline(trs_verdict *verdict, const char *format, ...) {
  va_list arguments;
  if (!verdict) return false;
  va_start(arguments, format);
  trs_print_list(verdict->why, sizeof verdict->why, format, arguments);
  va_end(arguments);
  return verdict->declined = true;
}

/* Where the method compares, it is judged anew among all by what its look has found. */
static trs_status look(trs_plan *plan, trs_choice *choice) {
  trs_verdict *verdict = &choice->verdict;
  candidate best[2];
  const bool judged = !choice->named && !choice->trial;
  *verdict = (trs_verdict){.next = choice->next};
  TRS_TRY(plan->method->look(plan, judged ? verdict : NULL));
  if (!verdict->compares) return TRS_SUCCESS;
  choice->known[number_of(plan->method)] = verdict->seconds;
  find_best(plan, best);
  verdict->compares = best[0].method != plan->method;
  verdict->declined |= verdict->compares;
  return TRS_SUCCESS;
}

trs_status trs_plan_try(trs_plan *plan) {
  plan->choice->verdict = (trs_verdict){0};
  if (plan->method->look) TRS_TRY(look(plan, plan->choice));
  return plan->choice->verdict.declined ? TRS_SUCCESS : plan->method->analyze(plan);
}

/* Appends to the plan's reason as much as fits. */
static void add_reason(trs_plan *plan, const char *format, ...) {
  const size_t used = strlen(plan->reason);
  va_list arguments;
  va_start(arguments, format);
  trs_print_list(plan->reason + used, sizeof plan->reason - used, format, arguments);
  va_end(arguments);
}

static void explain_choice(trs_plan *plan, const candidate *first, const candidate *second) {
  const trs_estimate *other = &second->estimate;
  const bool alone = !second->method || other->preference == TRS_PREFERENCE_LAST;
  if (trs_matrix_is_deferred(plan->matrix))
    add_reason(plan, "the values of the matrix are deferred");
  else if (first->estimate.because)
    add_reason(plan, "%s", first->estimate.because);
  else if (alone && second->method && other->because)
    add_reason(plan, "%s", other->because);
  else if (alone && first->method->backend->gpu)
    add_reason(plan, "the GPU's own choice");
  else if (alone)
    add_reason(plan, "the only method of this backend%s", second->method ? " that auto takes" : "");
  else /* a ratio: estimates include neither this machine's speed nor its other load */
    add_reason(plan, "estimated %.2f times as fast as %s%s (%s right-hand side, idle cores)",
               other->seconds / first->estimate.seconds, second->method->name,
               plan->options.solves > 0 ? " with its share of the analysis" : "",
               plan->options.nrhs > 1 ? "per" : "one");
}

static void explain(trs_plan *plan, const candidate best[2]) {
  const trs_context *context = plan->context;
  const trs_group *group = context->group;
  plan->reason[0] = '\0';
  explain_choice(plan, &best[0], &best[1]);
  if (context->looked && !context->device) add_reason(plan, "; no GPU: %s", context->no_device);
  if (group && trs_group_members(group) > 1 && best[0].method->backend == &trs_backend_cuda)
    add_reason(plan, "; on %s of %d GPUs", trs_group_one_process(group) ? "the first" : "each",
               trs_group_members(group));
}

/* The reason of the first method that the backend has. */
static const char *why_none(const trs_plan *plan) {
  for (int m = 0; m < NMETHODS; m++) {
    const trs_method *method = methods[m].table;
    const char *why = method && offered(plan, method) ? trs_plan_refuses(plan, method) : NULL;
    if (why) return why;
  }
  return "this backend has none";
}

static void record(trs_plan *plan, const candidate best[2]) {
  plan->choice->next = best[1].method ? best[1].estimate.seconds : INFINITY;
  explain(plan, best);
}

static trs_status take_best(trs_plan *plan) {
  candidate best[2];
  look_for_gpu(plan);
  TRS_TRY(look_at_levels(plan));
  find_best(plan, best);
  if (!best[0].method)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1, "no method can be used here: %s", why_none(plan));
  plan->method = best[0].method;
  record(plan, best);
  return TRS_SUCCESS;
}

trs_status trs_plan_choose(trs_plan *plan, const char *name) {
  if (name && strcmp(name, "auto") != 0) return take_named(plan, name);
  return take_best(plan);
}

const trs_method *trs_plan_choose_next(trs_plan *plan, const trs_method *instead_of) {
  trs_choice *choice = plan->choice;
  candidate best[2];
  if (!choice->verdict.compares) choice->excluded |= 1u << number_of(instead_of);
  choice->verdict = (trs_verdict){0};
  find_best(plan, best);
  if (!best[0].method || best[0].estimate.preference == TRS_PREFERENCE_LAST) return NULL;
  record(plan, best);
  return best[0].method;
}
