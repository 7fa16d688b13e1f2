/* syncfree.c - L17's Algorithms 3 (syncfree-csc) and 4 (syncfree-csc-rhs) on an OpenCL device: one
 * launch of syncfree.cl per right-hand side, or per tile of right-hand sides.
 *
 * The system is brought by columns.  b and x pass through buffers that the plan owns.  A wavefront
 * is as wide as the device prefers.  On a GPU a group has 16 of them, the number of the authors'
 * program, or as many as fit.  On other devices it has one: there a thread runs the work items of a
 * group one after the other, in an order that OpenCL leaves open.  PoCL and Intel's run-time take
 * them in ascending order, so that several work too, by the parameter warps. */
#include <stdio.h>
#include <string.h>

#include "analysis/system.h"
#include "base/text.h"
#include "base/timer.h"
#include "matrix/values.h"
#include "plan/parameters.h"
#include "L17/opencl/device.h"
#include "L17/opencl/syncfree_cl.h" /* made of syncfree.cl */

enum {
  MOST_WIDTH = 256,
  COUNTERS = 3,   /* two words of the fault, the ticket */
  MOST_LANES = 64 /* a wavefront of AMD's GPUs */
};

/* Wavefronts per group; the names of the CUDA methods' parameters. */
static const char *const warps_words[] = {"1", "2", "4", "8", "16", "32", NULL};
enum { WARPS_OF_DEVICE = -1, WARPS_16 = 4 };
/* Work items of a wavefront; auto: as many as the device prefers, 64 at most. */
static const char *const lanes_words[] = {"auto", "32", "64", NULL};

/* Of one wait: ten seconds and more.  A CPU polls its cache, a GPU its memory. */
static const cl_long MOST_POLLS_GPU = 1LL << 26, MOST_POLLS_CPU = 1LL << 34;

typedef struct facts { /* as in syncfree.cl */
  cl_long n, most_polls;
  cl_int lower, unit, has_diagonal, width, lanes, scratchpad;
} facts;

typedef struct syncfree {
  trs_opencl *device;
  facts facts;
  trs_scalar scalar;
  int64_t nnz, most_width;
  int64_t warps_choice, lanes_choice, scratchpad, strategy, p, q; /* parameters */
  size_t warps;                                                   /* per group */
  double device_seconds;                                          /* of the last solve */
  double preprocessing;                                           /* seconds: in-degrees */
  cl_program program;                                             /* the device's */
  cl_kernel kernel;
  cl_mem ptr, idx, val, in_degree, counters, left_sum, x, b;
  void *tile; /* host: n x most_width */
} syncfree;

static size_t size_of(const syncfree *s) { return trs_scalar_size(s->scalar); }

/* ---- Analysis ---- */

static trs_status make_kernel(const syncfree *s, const char *name, cl_kernel *kernel) {
  cl_int error;
  *kernel = clCreateKernel(s->program, name, &error);
  return trs_opencl_check(error, name);
}

static trs_status bring(syncfree *s, const trs_system *S) {
  const size_t n = (size_t)S->n, tile = n * (size_t)s->most_width * size_of(s);
  TRS_TRY(trs_opencl_buffer(s->device, &s->ptr, S->ptr, (n + 1) * sizeof *S->ptr));
  TRS_TRY(trs_opencl_buffer(s->device, &s->idx, S->idx, (size_t)S->nnz * sizeof *S->idx));
  TRS_TRY(trs_opencl_buffer(s->device, &s->val, S->val, (size_t)S->nnz * size_of(s)));
  TRS_TRY(trs_opencl_buffer(s->device, &s->in_degree, NULL, n * sizeof(cl_int)));
  TRS_TRY(trs_opencl_buffer(s->device, &s->counters, NULL, (n + COUNTERS) * sizeof(cl_int)));
  TRS_TRY(trs_opencl_buffer(s->device, &s->left_sum, NULL, tile));
  TRS_TRY(trs_opencl_buffer(s->device, &s->x, NULL, tile));
  return trs_opencl_buffer(s->device, &s->b, NULL, tile);
}

static cl_int clear(const syncfree *s, cl_mem buffer, size_t bytes, cl_event *event) {
  static const cl_int zero = 0;
  return clEnqueueFillBuffer(s->device->queue, buffer, &zero, sizeof zero, 0, bytes, 0, NULL,
                             event);
}

static trs_status count_in_degrees(syncfree *s) {
  const size_t n = (size_t)s->facts.n;
  cl_kernel count;
  if (n == 0) return TRS_SUCCESS;
  TRS_TRY(make_kernel(s, "count_entries", &count));
  cl_int error = clFinish(s->device->queue); /* transfers are not preprocessing */
  double start = trs_seconds();
  error |= clear(s, s->in_degree, n * sizeof(cl_int), NULL);
  error |= clSetKernelArg(count, 0, sizeof s->facts, &s->facts);
  error |= clSetKernelArg(count, 1, sizeof s->ptr, &s->ptr);
  error |= clSetKernelArg(count, 2, sizeof s->idx, &s->idx);
  error |= clSetKernelArg(count, 3, sizeof s->in_degree, &s->in_degree);
  if (error == CL_SUCCESS)
    error = clEnqueueNDRangeKernel(s->device->queue, count, 1, NULL, &n, NULL, 0, NULL, NULL);
  if (error == CL_SUCCESS) error = clFinish(s->device->queue);
  s->preprocessing = trs_seconds() - start;
  clReleaseKernel(count);
  return trs_opencl_check(error, "counting in-degrees");
}

static trs_status ask_kernel(const syncfree *s, cl_kernel_work_group_info what, size_t *value) {
  const cl_int error =
      clGetKernelWorkGroupInfo(s->kernel, s->device->device, what, sizeof *value, value, NULL);
  return trs_opencl_check(error, "the size of a group");
}

static trs_status shape_groups(syncfree *s, const trs_plan *plan) {
  size_t lanes, most;
  TRS_TRY(ask_kernel(s, CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, &lanes));
  TRS_TRY(ask_kernel(s, CL_KERNEL_WORK_GROUP_SIZE, &most));
  if (s->lanes_choice) lanes = s->lanes_choice == 1 ? 32 : 64;
  if (lanes > MOST_LANES) lanes = MOST_LANES;
  if (lanes > most) lanes = most;
  if (s->warps_choice != WARPS_OF_DEVICE) {
    s->warps = (size_t)1 << s->warps_choice;
    if (s->warps * lanes > most)
      return trs_fail(TRS_ERROR_ARGUMENT, -1,
                      "method %s: warps=%zu exceeds what %s runs in a group: %zu warps of %zu",
                      plan->method->name, s->warps, trs_opencl_name(s->device), most / lanes,
                      lanes);
  } else {
    s->warps = s->device->is_gpu ? (size_t)1 << WARPS_16 : 1;
    while (s->warps * lanes > most) s->warps /= 2;
  }
  s->facts.lanes = (cl_int)lanes;
  s->facts.scratchpad = (cl_int)s->scratchpad;
  s->facts.most_polls = s->device->is_gpu ? MOST_POLLS_GPU : MOST_POLLS_CPU;
  return TRS_SUCCESS;
}

static trs_status set_arguments(const syncfree *s, bool many) {
  const cl_mem buffers[] = {s->ptr,      s->idx,      s->val, s->in_degree,
                            s->counters, s->left_sum, s->x,   s->b};
  const cl_int strategy = (cl_int)s->strategy;
  const cl_long p = s->p, q = s->q;
  cl_int error = CL_SUCCESS;
  for (cl_uint k = 0; k < 8; k++)
    error |= clSetKernelArg(s->kernel, k + 1, sizeof buffers[k], &buffers[k]);
  if (many) {
    error |= clSetKernelArg(s->kernel, 9, sizeof strategy, &strategy);
    error |= clSetKernelArg(s->kernel, 10, sizeof p, &p);
    error |= clSetKernelArg(s->kernel, 11, sizeof q, &q);
  }
  return trs_opencl_check(error, "the arguments of a kernel");
}

static trs_status build(syncfree *s, const trs_plan *plan, bool many) {
  const trs_system *S = &plan->system;
  trs_host_system h;
  s->facts = (facts){
      .n = S->n, .lower = S->lower, .unit = S->unit, .has_diagonal = S->has_diagonal, .width = 1};
  s->nnz = S->nnz;
  TRS_TRY(trs_alloc(&s->tile, S->n * s->most_width, size_of(s)));
  TRS_TRY(trs_opencl_program(s->device, &s->program, (const char *)trs_syncfree_source,
                             sizeof trs_syncfree_source, s->scalar));
  TRS_TRY(make_kernel(s, many ? "solve_many" : "solve_one", &s->kernel));
  TRS_TRY(shape_groups(s, plan));
  trs_status status = trs_host_system_create(&h, S, plan->matrix, false, true, plan->stream);
  if (!status) status = bring(s, &h.S);
  trs_host_system_destroy(&h);
  if (!status) status = count_in_degrees(s);
  return status ? status : set_arguments(s, many);
}

static trs_status begin(trs_plan *plan, syncfree **result, int64_t width) {
  syncfree *s;
  TRS_TRY(TRS_ALLOC_ZERO(&s, 1));
  plan->state = *result = s;
  s->device = plan->context->paper;
  s->scalar = plan->system.scalar;
  s->most_width = width;
  s->warps_choice = WARPS_OF_DEVICE;
  s->scratchpad = true;
  s->p = 8; /* L17 */
  s->q = 8192;
  return TRS_SUCCESS;
}

static trs_status analyze_one(trs_plan *plan) {
  static const char *const no_yes[] = {"no", "yes", NULL};
  syncfree *s;
  TRS_TRY(begin(plan, &s, 1));
  const trs_parameter table[] = {{.key = "warps", .words = warps_words, .value = &s->warps_choice},
                                 {.key = "lanes", .words = lanes_words, .value = &s->lanes_choice},
                                 {.key = "scratchpad", .words = no_yes, .value = &s->scratchpad}};
  TRS_TRY(trs_parameters_read(plan, table, sizeof table / sizeof table[0]));
  return build(s, plan, false);
}

static trs_status analyze_many(trs_plan *plan) {
  static const char *const words[] = {"adaptive", "rhs", "nnz", NULL};
  const int64_t nrhs = plan->options.nrhs;
  syncfree *s;
  TRS_TRY(begin(plan, &s, nrhs < 1 ? 1 : nrhs < MOST_WIDTH ? nrhs : MOST_WIDTH));
  const trs_parameter table[] = {{.key = "warps", .words = warps_words, .value = &s->warps_choice},
                                 {.key = "lanes", .words = lanes_words, .value = &s->lanes_choice},
                                 {.key = "strategy", .words = words, .value = &s->strategy},
                                 {.key = "p", .most = INT32_MAX, .value = &s->p},
                                 {.key = "q", .most = INT32_MAX, .value = &s->q}};
  TRS_TRY(trs_parameters_read(plan, table, sizeof table / sizeof table[0]));
  return build(s, plan, true);
}

static trs_status update(trs_plan *plan) {
  const syncfree *s = plan->state;
  trs_host_system h;
  cl_int error = CL_SUCCESS;
  trs_status status =
      trs_host_system_create(&h, &plan->system, plan->matrix, false, true, plan->stream);
  if (!status && s->nnz > 0)
    error = clEnqueueWriteBuffer(s->device->queue, s->val, CL_TRUE, 0, (size_t)s->nnz * size_of(s),
                                 h.S.val, 0, NULL, NULL);
  trs_host_system_destroy(&h);
  return status ? status : trs_opencl_check(error, "writing new values");
}

/* ---- Solve ---- */

/* Copies columns of b into the tile (out: of the tile into x), those of a row contiguous, in the
 * order of the sweep. */
static void copy_tile(const syncfree *s, const trs_rhs *rhs, int64_t first, bool out) {
  const size_t size = size_of(s);
  const trs_row_order *order = out ? &rhs->x_order : &rhs->b_order;
  char *tile = s->tile;
  for (int64_t i = 0; i < s->facts.n; i++) {
    const int64_t row = order->perm ? order->perm[i] : i;
    for (int64_t c = first; c < first + s->facts.width; c++, tile += size) {
      char *x = (char *)rhs->x + (size_t)(row * rhs->x_row + c * rhs->x_col) * size;
      const char *b = (const char *)rhs->b + (size_t)(row * rhs->b_row + c * rhs->b_col) * size;
      char *to = out ? x : tile;
      memcpy(to, out ? tile : b, size);
      if (order->scale)
        trs_value_set(to, 0, s->scalar, order->scale[row] * trs_value_get(to, 0, s->scalar));
    }
  }
}

static trs_status look_for_stall(const syncfree *s, const cl_int fault[2]) {
  if (!fault[0]) return TRS_SUCCESS;
  return trs_fail(
      TRS_ERROR_STALLED, fault[1],
      "row %lld (0-based) waited too long for the rows it depends on: %s may not run the work "
      "items that have begun side by side",
      (long long)fault[1], trs_opencl_name(s->device));
}

static trs_status solve_tile(syncfree *s) {
  const size_t n = (size_t)s->facts.n, group = s->warps * (size_t)s->facts.lanes;
  const size_t items = (n + s->warps - 1) / s->warps * group;
  const size_t bytes = n * (size_t)s->facts.width * size_of(s);
  cl_command_queue queue = s->device->queue;
  cl_event first = NULL, last = NULL;
  cl_int fault[2] = {0};
  double seconds;
  cl_int error = clSetKernelArg(s->kernel, 0, sizeof s->facts, &s->facts);
  error |= clEnqueueWriteBuffer(queue, s->b, CL_FALSE, 0, bytes, s->tile, 0, NULL, NULL);
  error |= clear(s, s->counters, (n + COUNTERS) * sizeof(cl_int), &first);
  error |= clear(s, s->left_sum, bytes, NULL);
  if (error == CL_SUCCESS)
    error = clEnqueueNDRangeKernel(queue, s->kernel, 1, NULL, &items, &group, 0, NULL, &last);
  if (error == CL_SUCCESS)
    error = clEnqueueReadBuffer(queue, s->x, CL_FALSE, 0, bytes, s->tile, 0, NULL, NULL);
  if (error == CL_SUCCESS)
    error = clEnqueueReadBuffer(queue, s->counters, CL_TRUE, 0, sizeof fault, fault, 0, NULL, NULL);
  if (error != CL_SUCCESS) {
    if (first) clReleaseEvent(first);
    if (last) clReleaseEvent(last);
    return trs_opencl_check(error, "a solve");
  }
  TRS_TRY(trs_opencl_elapsed(&seconds, first, last));
  s->device_seconds += seconds;
  return look_for_stall(s, fault);
}

static trs_status solve(trs_plan *plan, const trs_rhs *rhs) {
  syncfree *s = plan->state;
  s->device_seconds = 0;
  if (s->facts.n == 0) return TRS_SUCCESS;
  for (int64_t first = 0; first < rhs->nrhs; first += s->most_width) {
    const int64_t left = rhs->nrhs - first;
    s->facts.width = (cl_int)(left < s->most_width ? left : s->most_width);
    copy_tile(s, rhs, first, false);
    TRS_TRY(solve_tile(s));
    copy_tile(s, rhs, first, true);
  }
  return TRS_SUCCESS;
}

/* ---- The methods ---- */

static const char *refuses(const trs_plan *plan) {
  const char *why = trs_host_refuses(plan);
  return why ? why : trs_opencl_refuses(plan->context->paper, plan->system.scalar);
}

/* Without a name: Algorithm 4 for several right-hand sides, Algorithm 3 for one. */
static trs_estimate estimate_one(const trs_plan *plan) {
  return (trs_estimate){.seconds = (double)plan->options.nrhs};
}
static trs_estimate estimate_many(const trs_plan *plan) {
  (void)plan;
  return (trs_estimate){.seconds = 1.5};
}

static int64_t bytes(const trs_plan *plan) {
  const syncfree *s = plan->state;
  const int64_t n = s->facts.n, size = (int64_t)size_of(s);
  return (n + 1) * 8 + s->nnz * (4 + size) + (2 * n + COUNTERS) * 4 + 4 * n * s->most_width * size;
}

static double device_seconds(const trs_plan *plan) {
  return ((const syncfree *)plan->state)->device_seconds;
}

static void describe_one(const trs_plan *plan, char *text, size_t size) {
  const syncfree *s = plan->state;
  const char *sums = s->scratchpad ? ", sums within a group in scratchpad" : ", no scratchpad";
  trs_print(text, size, "a warp of %d per component, %zu per group%s; preprocessing %.6g ms",
            (int)s->facts.lanes, s->warps, s->warps > 1 ? sums : "", 1e3 * s->preprocessing);
}

static void describe_many(const trs_plan *plan, char *text, size_t size) {
  const syncfree *s = plan->state;
  trs_print(text, size,
            "a warp of %d per component, %zu per group, up to %lld right-hand side%s at once; "
            "preprocessing %.6g ms",
            (int)s->facts.lanes, s->warps, (long long)s->most_width, s->most_width == 1 ? "" : "s",
            1e3 * s->preprocessing);
}

static void free_state(trs_plan *plan) {
  syncfree *s = plan->state;
  if (!s) return;
  const cl_mem buffers[] = {s->ptr,      s->idx,      s->val, s->in_degree,
                            s->counters, s->left_sum, s->x,   s->b};
  for (int k = 0; k < 8; k++)
    if (buffers[k]) clReleaseMemObject(buffers[k]);
  if (s->kernel) clReleaseKernel(s->kernel);
  trs_free(s->tile);
  trs_free(s);
}

#define OPENCL_METHOD                                                                             \
  .backend = &trs_backend_opencl, .parameters = true, .refuses = refuses, .analysis_solves = 0.1, \
  .update = update, .solve = solve, .bytes = bytes, .device_seconds = device_seconds,             \
  .free = free_state

const trs_method trs_method_opencl_syncfree_csc = {.name = "syncfree-csc",
                                                   OPENCL_METHOD,
                                                   .estimate = estimate_one,
                                                   .analyze = analyze_one,
                                                   .describe = describe_one};
const trs_method trs_method_opencl_syncfree_csc_rhs = {.name = "syncfree-csc-rhs",
                                                       OPENCL_METHOD,
                                                       .estimate = estimate_many,
                                                       .analyze = analyze_many,
                                                       .describe = describe_many};
