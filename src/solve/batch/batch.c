/* batch.c - many systems with one pattern, on the threads of a context, or by gpu.c on its GPU.  On
 * threads: systems in groups, whose values and right-hand sides are interleaved so that one
 * instruction works on a number of each.
 * O(count nnz nrhs); memory for the values, and for one group's right-hand sides per thread.
 *   Factors are two triangles.  A group's right-hand sides stay in the workspace from the first
 * sweep to the second; permutations and scalings are part of the moves into it and out of it. */
#include "solve/batch/batch.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "matrix/matrix.h"

/* A thread has at least this many entries to work on, some ten microseconds. */
enum { LEAST_WORK = 30000 };

static int64_t number_bytes(const trs_batch *B) {
  return TRS_BATCH_BYTES * (trs_scalar_is_complex(B->scalar) ? 2 : 1);
}

static const trs_batch_kernels *kernels_now(void) {
  return TRS_ISA_OF(trs_batch_kernels, trs_isa_now());
}

/* Sources of A's entries in the caller's arrays: itself, or the entries whose sum it is. */
static void range_of(const trs_matrix *A, int64_t q, int64_t *begin, int64_t *end) {
  *begin = A->source && A->source_ptr ? A->source_ptr[q] : q;
  *end = A->source && A->source_ptr ? A->source_ptr[q + 1] : q + 1;
}

/* The entries of the triangle T in the caller's arrays; A is T, or what it was cut from. */
static trs_status find_sources(trs_batch_triangle *own, const trs_matrix *T, const trs_matrix *A) {
  int64_t begin, end, total = 0;
  if (T == A && !A->source) return TRS_SUCCESS;
  TRS_TRY(TRS_ALLOC(&own->from_ptr, T->nnz + 1));
  for (int64_t p = 0; p < T->nnz; p++) {
    range_of(A, T == A ? p : T->source[p], &begin, &end);
    own->from_ptr[p] = total;
    total += end - begin;
  }
  own->from_ptr[T->nnz] = total;
  TRS_TRY(TRS_ALLOC(&own->from, total));
  for (int64_t p = 0; p < T->nnz; p++) {
    range_of(A, T == A ? p : T->source[p], &begin, &end);
    for (int64_t k = begin; k < end; k++)
      own->from[own->from_ptr[p] + k - begin] = A->source ? A->source[k] : k;
  }
  return TRS_SUCCESS;
}

/* The caller's arrays may be borrowed by the matrix, and gone before the batch is. */
static trs_status copy_pattern(trs_batch_triangle *own, const trs_matrix *T) {
  TRS_TRY(TRS_ALLOC_ALL(TRS_ROOM(&own->ptr, T->nvectors + 1), TRS_ROOM(&own->idx, T->nnz)));
  memcpy(own->ptr, T->ptr, (size_t)(T->nvectors + 1) * sizeof *T->ptr);
  if (T->nnz) memcpy(own->idx, T->idx, (size_t)T->nnz * sizeof *T->idx);
  own->system.ptr = own->ptr;
  own->system.idx = own->idx;
  own->system.val = NULL;
  return TRS_SUCCESS;
}

static trs_status take_triangle(trs_batch_triangle *own, const trs_matrix *T, trs_uplo uplo,
                                trs_trans trans, trs_diag diag) {
  const trs_matrix *A = T->parent ? T->parent : T;
  TRS_TRY(trs_system_check_pattern(T, uplo, diag));
  own->system = trs_system_of(T, uplo, trans, diag);
  own->given = A->source ? A->user_nnz : A->nnz;
  TRS_TRY(copy_pattern(own, T));
  return find_sources(own, T, A);
}

static trs_status take_pattern(trs_batch *B, const trs_matrix *A, trs_uplo uplo, trs_trans trans,
                               trs_diag diag, bool cut) {
  trs_batch_triangle *own = &B->triangle[0];
  const int64_t wrong = uplo == TRS_LOWER ? A->nupper : A->nlower;
  B->triangles = 1;
  if (!cut || wrong == 0 || A->nrows != A->ncols) return take_triangle(own, A, uplo, trans, diag);
  trs_matrix *T;
  TRS_TRY(trs_matrix_cut(&T, A, uplo));
  trs_status status = take_triangle(own, T, uplo, trans, diag);
  trs_matrix_destroy(T);
  return status;
}

/* ---- Factors ---- */

/* Row perm[i] of the array, times scale[perm[i]], is row i of the sweep. */
static trs_status take_order(trs_batch_order *order, int32_t **place, double **scale,
                             const int32_t *perm, const double *given, int64_t n) {
  if (perm) {
    TRS_TRY(TRS_ALLOC(place, n));
    for (int64_t i = 0; i < n; i++) (*place)[perm[i]] = (int32_t)i;
  }
  if (given) {
    TRS_TRY(TRS_ALLOC(scale, n));
    memcpy(*scale, given, (size_t)n * sizeof **scale);
  }
  *order = (trs_batch_order){*place, *scale};
  return TRS_SUCCESS;
}

static trs_status take_orders(trs_batch *B, const trs_factors *F, bool plain) {
  const int32_t *b_perm = plain ? F->row_perm : F->col_perm,
                *x_perm = plain ? F->col_perm : F->row_perm;
  const double *b_scale = plain ? F->row_scale : F->col_scale,
               *x_scale = plain ? F->col_scale : F->row_scale;
  TRS_TRY(take_order(&B->b_order, &B->b_place, &B->b_scale, b_perm, b_scale, F->n));
  return take_order(&B->x_order, &B->x_place, &B->x_scale, x_perm, x_scale, F->n);
}

/* op(L^H) as a triangle of L's values: L^H of op N, conj(L) of T, L of H. */
static trs_status take_adjoint(trs_batch_triangle *own, const trs_factors *F, const trs_matrix *L,
                               trs_trans trans) {
  const trs_trans of_L = trans == TRS_NO_TRANS ? TRS_CONJ_TRANS : TRS_NO_TRANS;
  TRS_TRY(take_triangle(own, L, TRS_LOWER, of_L, F->diag_L));
  if (trans == TRS_TRANS) own->system.conj = trs_scalar_is_complex(F->scalar);
  return TRS_SUCCESS;
}

static trs_status take_factors(trs_batch *B, const trs_factors *F, trs_trans trans,
                               bool hermitian) {
  const bool plain = trans == TRS_NO_TRANS;
  const trs_matrix *L = F->L_here ? F->L_here : F->L, *U = F->U_here ? F->U_here : F->U;
  B->triangles = 2;
  B->of_L = plain ? 0 : 1;
  B->of_U = plain ? 1 : 0;
  B->hermitian = hermitian;
  TRS_TRY(take_triangle(&B->triangle[B->of_L], L, TRS_LOWER, trans, F->diag_L));
  TRS_TRY(hermitian ? take_adjoint(&B->triangle[B->of_U], F, L, trans)
                    : take_triangle(&B->triangle[B->of_U], U, TRS_UPPER, trans, F->diag_U));
  return take_orders(B, F, plain);
}

/* ---- Memory ---- */

static trs_status allocate_values(const trs_batch *B, trs_batch_triangle *own) {
  const int lanes = trs_batch_lanes(B->scalar);
  int64_t values;
  TRS_TRY(TRS_ALLOC(&own->row, B->groups * lanes));
  TRS_TRY(TRS_ALLOC(&own->pivot, B->groups * lanes));
  if (__builtin_mul_overflow(B->groups, own->system.nnz, &values))
    return trs_fail(TRS_ERROR_MEMORY, -1, "%lld systems of %lld entries exceed the address space",
                    (long long)B->count, (long long)own->system.nnz);
  return trs_alloc(&own->val, values, (size_t)number_bytes(B));
}

static trs_status allocate_work(trs_batch *B) {
  int64_t room;
  if (__builtin_mul_overflow((int64_t)B->threads * B->width, B->n, &room))
    return trs_fail(TRS_ERROR_MEMORY, -1, "%lld rows on %d threads exceed the address space",
                    (long long)B->n, B->threads);
  return trs_alloc(&B->work, room, (size_t)number_bytes(B));
}

static trs_status allocate(trs_batch *B, int64_t nrhs) {
  const int lanes = trs_batch_lanes(B->scalar), size = trs_team_size(B->plan->context->team);
  B->groups = B->count / lanes + (B->count % lanes > 0);
  B->threads = B->groups < size ? (int)B->groups : size;
  B->width = nrhs >= TRS_BATCH_WIDTH ? TRS_BATCH_WIDTH : 1;
  if (B->threads == 0) B->threads = 1;
  for (int t = 0; t < B->triangles; t++) TRS_TRY(allocate_values(B, &B->triangle[t]));
  return allocate_work(B);
}

static trs_status analyze(trs_plan *plan) {
  trs_batch *B = trs_batch_of(plan);
  B->at_once = trs_batch_lanes(B->scalar);
  snprintf(B->method, sizeof B->method, "%s", plan->method->name);
  return allocate(B, plan->options.nrhs);
}

/* ---- Life: a plan by a method of batches ---- */

static const trs_method on_threads;

static trs_status begin(trs_plan **result, trs_context *context, int64_t count,
                        const trs_batch_options *options) {
  TRS_TRY(trs_context_check(context));
  trs_batch *B;
  TRS_TRY(TRS_ALLOC_ZERO(&B, 1));
  trs_status status = TRS_ALLOC_ZERO(&B->plan, 1);
  if (status) {
    trs_free(B);
    return status;
  }
  trs_plan *plan = *result = B->plan;
  plan->state = B;
  plan->context = trs_context_retain(context);
  plan->method =
      trs_context_get_kind(context, NULL) == TRS_KIND_GPU ? &trs_method_batch_gpu : &on_threads;
  snprintf(plan->reason, sizeof plan->reason, "the method of this context for batches");
  plan->options.nrhs = options->nrhs;
  B->count = count;
  return TRS_SUCCESS;
}

static trs_status run_step(trs_plan *plan, trs_status (*step)(trs_plan *plan)) {
  trs_context_limit_gpus(plan->context);
  const int before = trs_plan_enter(plan);
  trs_status status = step(plan);
  trs_plan_leave(plan, before);
  return status;
}

/* status: of what took the patterns. */
static trs_status finish(trs_plan **result, trs_plan *plan, trs_status status) {
  trs_batch *B = trs_batch_of(plan);
  plan->kind = B->triangles == 2 ? TRS_OF_FACTORS_BATCH : TRS_OF_BATCH;
  plan->system = B->triangle[0].system;
  B->n = plan->system.n;
  B->scalar = plan->system.scalar;
  if (!status) status = run_step(plan, plan->method->analyze);
  if (status) {
    trs_plan_destroy(plan);
    return status;
  }
  *result = plan;
  return TRS_SUCCESS;
}

trs_status trs_batch_make(trs_plan **result, trs_context *context, const trs_matrix *A,
                          trs_uplo uplo, trs_trans trans, trs_diag diag, int64_t count,
                          const trs_batch_options *options) {
  trs_plan *plan;
  TRS_TRY(begin(&plan, context, count, options));
  trs_status status =
      take_pattern(trs_batch_of(plan), A, uplo, trans, diag, options->take_triangle);
  return finish(result, plan, status);
}

trs_status trs_batch_make_factors(trs_plan **result, trs_context *context, const trs_factors *F,
                                  trs_trans trans, int64_t count,
                                  const trs_batch_options *options) {
  trs_plan *plan;
  TRS_TRY(begin(&plan, context, count, options));
  trs_status status = take_factors(trs_batch_of(plan), F, trans, options->hermitian);
  return finish(result, plan, status);
}

/* Values, patterns and orders are the origin's. */
static trs_status clone(trs_plan *made) {
  const trs_batch *origin = trs_batch_of(made->origin);
  trs_batch *B;
  TRS_TRY(TRS_ALLOC(&B, 1));
  *B = *origin;
  B->plan = made;
  B->work = NULL;
  made->state = B;
  return allocate_work(B);
}

void trs_batch_free(trs_plan *plan) {
  trs_batch *B = trs_batch_of(plan);
  if (!B) return;
  for (int t = 0; t < 2 && !plan->origin; t++) {
    const trs_batch_triangle *own = &B->triangle[t];
    TRS_FREE_ALL(own->ptr, own->idx, own->from_ptr, own->from, own->val, own->row, own->pivot);
  }
  if (!plan->origin) TRS_FREE_ALL(B->b_place, B->x_place, B->b_scale, B->x_scale);
  TRS_FREE_ALL(B->work, B);
}

/* Work on all groups, dealt to threads. */
typedef struct job {
  trs_batch *B;
  const trs_batch_given *given; /* of an update; else NULL */
  trs_batch_vectors vectors;    /* of a solve */
} job;

static const char *system_at(const trs_batch *B, const void *array, int64_t system, int64_t next) {
  return (const char *)array + system * next * (int64_t)trs_scalar_size(B->scalar);
}

static trs_batch_group group_at(const trs_batch *B, int triangle, int64_t g, int rank) {
  const trs_batch_triangle *own = &B->triangle[triangle];
  const int lanes = trs_batch_lanes(B->scalar);
  const int64_t left = B->count - g * lanes, bytes = number_bytes(B);
  return (trs_batch_group){.S = &own->system,
                           .count = left < lanes ? (int)left : lanes,
                           .val = (char *)own->val + g * own->system.nnz * bytes,
                           .row = own->row + g * lanes,
                           .pivot = own->pivot + g * lanes,
                           .work = (char *)B->work + rank * B->n * B->width * bytes};
}

static void fill_share(void *argument, int rank, int size) {
  const job *j = argument;
  const trs_batch *B = j->B;
  int64_t begin, end;
  trs_share(B->groups, rank, size, &begin, &end);
  for (int64_t g = begin; g < end; g++) {
    const int64_t first = g * trs_batch_lanes(B->scalar);
    for (int t = 0; t < B->triangles; t++) {
      const trs_batch_group G = group_at(B, t, g, rank);
      const trs_batch_given *given = &j->given[t];
      const trs_batch_source source = {.from_ptr = B->triangle[t].from_ptr,
                                       .from = B->triangle[t].from,
                                       .val = system_at(B, given->val, first, given->stride),
                                       .stride = given->stride};
      kernels_now()->fill[B->scalar](&G, &source);
    }
  }
}

static void solve_share(void *argument, int rank, int size) {
  const job *j = argument;
  const trs_batch *B = j->B;
  int64_t begin, end;
  trs_share(B->groups, rank, size, &begin, &end);
  for (int64_t g = begin; g < end; g++) {
    const int64_t first = g * trs_batch_lanes(B->scalar);
    trs_batch_group G[2];
    trs_batch_vectors V = j->vectors;
    for (int t = 0; t < B->triangles; t++) G[t] = group_at(B, t, g, rank);
    V.rhs.b = system_at(B, V.rhs.b, first, V.rhs.b_next);
    V.rhs.x = (void *)system_at(B, V.rhs.x, first, V.rhs.x_next);
    for (int64_t r = 0; r < V.rhs.nrhs;) {
      const int width = V.rhs.nrhs - r >= B->width ? B->width : 1;
      kernels_now()->solve[B->scalar](G, B->triangles, &V, r, width);
      r += width;
    }
  }
}

static int64_t entries_of(const trs_batch *B) {
  int64_t entries = 0;
  for (int t = 0; t < B->triangles; t++) entries += B->triangle[t].system.nnz;
  return entries;
}

static void run(const trs_batch *B, void (*share)(void *, int, int), job *j, int64_t columns) {
  const double work = (double)(entries_of(B) + B->n) * (double)B->count * (double)columns;
  const double wanted = work / LEAST_WORK;
  const int threads = wanted < 2 ? 1 : wanted < B->threads ? (int)wanted : B->threads;
  if (threads == 1)
    share(j, 0, 1);
  else
    trs_team_run(B->plan->context->team, threads, share, j);
}

static bool is_faulty(const trs_batch *B, int triangle, int64_t system) {
  return B->triangle[triangle].row[system] >= 0;
}

/* The first system without a usable diagonal, or success. */
static trs_status tell_fault(const trs_batch *B) {
  static const char *const words[] = {
      [TRS_PIVOT_ZERO] = "zero",
      [TRS_PIVOT_NOT_FINITE] = "not finite",
      [TRS_PIVOT_EXTREME] = "too small, or too large, for its reciprocal"};
  if (B->faults == 0) return TRS_SUCCESS;
  const int64_t first = B->first_fault, others = B->faults - 1;
  const int t = is_faulty(B, B->of_L, first) ? B->of_L : B->of_U;
  const char *factor = B->triangles == 1 ? "" : t == B->of_L ? " of L" : " of U";
  const int64_t row = B->triangle[t].row[first];
  const trs_pivot pivot = B->triangle[t].pivot[first];
  char more[60] = "";
  if (others)
    snprintf(more, sizeof more, "; %lld more %s such an entry", (long long)others,
             others == 1 ? "system has" : "systems have");
  return trs_fail(
      pivot == TRS_PIVOT_ZERO ? TRS_ERROR_ZERO_PIVOT : TRS_ERROR_NOT_FINITE, row,
      "the diagonal entry of row %lld%s of system %lld (0-based) is %s%s; the others can be solved",
      (long long)row, factor, (long long)first, words[pivot], more);
}

static void count_faults(trs_batch *B) {
  B->faults = 0;
  for (int64_t s = B->count - 1; s >= 0; s--) {
    bool faulty = false;
    for (int t = 0; t < B->triangles; t++) faulty = faulty || is_faulty(B, t, s);
    if (faulty) {
      B->first_fault = s;
      B->faults++;
    }
  }
}

static trs_status update(trs_plan *plan) {
  trs_batch *B = trs_batch_of(plan);
  job j = {.B = B, .given = B->given};
  run(B, fill_share, &j, 1);
  return TRS_SUCCESS;
}

trs_status trs_batch_fill(trs_batch *B, const trs_batch_given *given) {
  TRS_TRY(trs_plan_check(B->plan));
  B->given = given;
  TRS_TRY(run_step(B->plan, B->plan->method->update));
  count_faults(B);
  B->filled = true;
  return tell_fault(B);
}

static trs_status solve(trs_plan *plan, const trs_rhs *rhs) {
  trs_batch *B = trs_batch_of(plan);
  job j = {.B = B, .vectors = {.rhs = *rhs, .b_order = B->b_order, .x_order = B->x_order}};
  run(B, solve_share, &j, rhs->nrhs);
  return TRS_SUCCESS;
}

trs_status trs_batch_run(trs_batch *B, const trs_rhs *rhs) {
  TRS_TRY(trs_plan_solve(B->plan, rhs));
  return tell_fault(B);
}

int64_t trs_batch_bytes(const trs_plan *plan) {
  const trs_batch *B = trs_batch_of(plan);
  int64_t bytes = TRS_HELD(B, B->work);
  if (plan->origin) return bytes;
  bytes += TRS_HELD(B->b_place, B->x_place, B->b_scale, B->x_scale);
  for (int t = 0; t < B->triangles; t++) {
    const trs_batch_triangle *own = &B->triangle[t];
    bytes += TRS_HELD(own->ptr, own->idx, own->from_ptr, own->from, own->val, own->row, own->pivot);
  }
  return bytes;
}

void trs_batch_describe(const trs_plan *plan, char *text, size_t size) {
  const trs_batch *B = trs_batch_of(plan);
  snprintf(text, size, "%lld systems of %lld rows, %d at once%s%s", (long long)B->count,
           (long long)B->n, B->at_once, B->gpu ? ", by " : "", B->gpu ? B->method : "");
}

static int threads_of(const trs_plan *plan) { return trs_batch_of(plan)->threads; }

static const trs_method on_threads = {.name = "groups",
                                      .backend = &trs_backend_threads,
                                      .analyze = analyze,
                                      .clone = clone,
                                      .threads = threads_of,
                                      .describe = trs_batch_describe,
                                      .update = update,
                                      .solve = solve,
                                      .bytes = trs_batch_bytes,
                                      .free = trs_batch_free};
