/* batch.c - many systems with one pattern, on the threads of a context, or by gpu.c on its GPU.  On
 * threads: systems in groups, whose
 * values and right-hand sides are interleaved so that one instruction works on a number of each.
 * O(count nnz nrhs); memory for the values, and for one group's right-hand sides per thread. */
#include "solve/batch/batch.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "matrix/matrix.h"

/* A thread has at least this many entries to work on, some ten microseconds. */
enum { LEAST_WORK = 30000 };

static int64_t number_bytes(const trs_batch *B) {
  return TRS_BATCH_BYTES * (trs_scalar_is_complex(B->system.scalar) ? 2 : 1);
}

static const trs_batch_kernels *kernels_now(void) {
  static const trs_batch_kernels *const of_isa[] = TRS_ISA_TABLE(trs_batch_kernels);
  return of_isa[trs_isa_now()];
}

/* Sources of A's entries in the caller's arrays: itself, or the entries whose sum it is. */
static void range_of(const trs_matrix *A, int64_t q, int64_t *begin, int64_t *end) {
  *begin = A->source && A->source_ptr ? A->source_ptr[q] : q;
  *end = A->source && A->source_ptr ? A->source_ptr[q + 1] : q + 1;
}

/* The entries of the triangle in the caller's arrays; T is A, or a triangle cut from it. */
static trs_status find_sources(trs_batch *B, const trs_matrix *T, const trs_matrix *A) {
  int64_t begin, end, total = 0;
  if (T == A && !A->source) return TRS_SUCCESS;
  TRS_TRY(TRS_ALLOC(&B->from_ptr, T->nnz + 1));
  for (int64_t p = 0; p < T->nnz; p++) {
    range_of(A, T == A ? p : T->source[p], &begin, &end);
    B->from_ptr[p] = total;
    total += end - begin;
  }
  B->from_ptr[T->nnz] = total;
  TRS_TRY(TRS_ALLOC(&B->from, total));
  for (int64_t p = 0; p < T->nnz; p++) {
    range_of(A, T == A ? p : T->source[p], &begin, &end);
    for (int64_t k = begin; k < end; k++)
      B->from[B->from_ptr[p] + k - begin] = A->source ? A->source[k] : k;
  }
  return TRS_SUCCESS;
}

/* The caller's arrays may be borrowed by the matrix, and gone before the batch is. */
static trs_status copy_pattern(trs_batch *B, const trs_matrix *T) {
  TRS_TRY(TRS_ALLOC(&B->ptr, T->nvectors + 1));
  TRS_TRY(TRS_ALLOC(&B->idx, T->nnz));
  memcpy(B->ptr, T->ptr, (size_t)(T->nvectors + 1) * sizeof *T->ptr);
  if (T->nnz) memcpy(B->idx, T->idx, (size_t)T->nnz * sizeof *T->idx);
  B->system.ptr = B->ptr;
  B->system.idx = B->idx;
  B->system.val = NULL;
  return TRS_SUCCESS;
}

/* T: A, or a triangle cut from it. */
static trs_status take_triangle(trs_batch *B, const trs_matrix *T, const trs_matrix *A,
                                trs_uplo uplo, trs_trans trans, trs_diag diag) {
  TRS_TRY(trs_system_check_pattern(T, uplo, diag));
  B->system = trs_system_of(T, uplo, trans, diag);
  B->given = A->source ? A->user_nnz : A->nnz;
  TRS_TRY(copy_pattern(B, T));
  return find_sources(B, T, A);
}

static trs_status take_pattern(trs_batch *B, const trs_matrix *A, trs_uplo uplo, trs_trans trans,
                               trs_diag diag, bool cut) {
  const int64_t wrong = uplo == TRS_LOWER ? A->nupper : A->nlower;
  if (!cut || wrong == 0 || A->nrows != A->ncols) return take_triangle(B, A, A, uplo, trans, diag);
  trs_matrix *T;
  TRS_TRY(trs_matrix_cut(&T, A, uplo));
  trs_status status = take_triangle(B, T, A, uplo, trans, diag);
  trs_matrix_destroy(T);
  return status;
}

static trs_status allocate(trs_batch *B, int64_t nrhs) {
  const int lanes = trs_batch_lanes(B->system.scalar), size = trs_team_size(B->context->team);
  B->groups = B->count / lanes + (B->count % lanes > 0);
  B->width = nrhs >= TRS_BATCH_WIDTH ? TRS_BATCH_WIDTH : 1;
  B->threads = B->groups < size ? (int)B->groups : size;
  if (B->threads == 0) B->threads = 1;
  TRS_TRY(TRS_ALLOC(&B->row, B->groups * lanes));
  TRS_TRY(TRS_ALLOC(&B->pivot, B->groups * lanes));
  int64_t values, room;
  if (__builtin_mul_overflow(B->groups, B->system.nnz, &values) ||
      __builtin_mul_overflow((int64_t)B->threads * B->width, B->system.n, &room))
    return trs_fail(TRS_ERROR_MEMORY, -1, "%lld systems of %lld entries exceed the address space",
                    (long long)B->count, (long long)B->system.nnz);
  TRS_TRY(trs_alloc(&B->val, values, (size_t)number_bytes(B)));
  return trs_alloc(&B->work, room, (size_t)number_bytes(B));
}

/* The GPU has the pattern in its own orders, and may need one more. */
static trs_status allocate_on_gpu(trs_batch *B, int64_t nrhs) {
  TRS_TRY(TRS_ALLOC(&B->row, B->count));
  TRS_TRY(TRS_ALLOC(&B->pivot, B->count));
  for (int64_t s = 0; s < B->count; s++) B->row[s] = -1;
  TRS_TRY(trs_batch_gpu_make(B, nrhs));
  TRS_FREE_ALL(B->from_ptr, B->from);
  B->from_ptr = B->from = NULL;
  if (trs_batch_gpu_keeps_pattern(B)) return TRS_SUCCESS;
  TRS_FREE_ALL(B->ptr, B->idx);
  B->system.ptr = B->ptr = NULL;
  B->system.idx = B->idx = NULL;
  return TRS_SUCCESS;
}

trs_status trs_batch_make(trs_batch **result, trs_context *context, const trs_matrix *A,
                          trs_uplo uplo, trs_trans trans, trs_diag diag, int64_t count,
                          const trs_batch_options *options) {
  trs_batch *B;
  TRS_TRY(trs_context_check(context));
  TRS_TRY(TRS_ALLOC_ZERO(&B, 1));
  B->context = trs_context_retain(context);
  B->count = count;
  trs_status status = take_pattern(B, A, uplo, trans, diag, options->take_triangle);
  const bool gpu = trs_context_get_kind(context, NULL) == TRS_KIND_GPU;
  if (!status) status = gpu ? allocate_on_gpu(B, options->nrhs) : allocate(B, options->nrhs);
  if (status) {
    trs_batch_destroy(B);
    return status;
  }
  *result = B;
  return TRS_SUCCESS;
}

void trs_batch_destroy(trs_batch *B) {
  if (!B) return;
  trs_batch_gpu_drop(B);
  trs_context_destroy(B->context);
  TRS_FREE_ALL(B->ptr, B->idx, B->from_ptr, B->from, B->val, B->work, B->row, B->pivot, B);
}

/* Work on all groups, dealt to threads. */
typedef struct job {
  trs_batch *B;
  const void *val; /* of an update; else NULL */
  int64_t stride;
  const trs_rhs *rhs;
  int64_t b_next, x_next;
} job;

static const char *system_at(const trs_batch *B, const void *array, int64_t system, int64_t next) {
  return (const char *)array + system * next * (int64_t)trs_scalar_size(B->system.scalar);
}

static trs_batch_group group_at(const trs_batch *B, int64_t g, int rank) {
  const int lanes = trs_batch_lanes(B->system.scalar);
  const int64_t left = B->count - g * lanes, bytes = number_bytes(B);
  return (trs_batch_group){.S = &B->system,
                           .count = left < lanes ? (int)left : lanes,
                           .val = (char *)B->val + g * B->system.nnz * bytes,
                           .row = B->row + g * lanes,
                           .pivot = B->pivot + g * lanes,
                           .work = (char *)B->work + rank * B->system.n * B->width * bytes};
}

static void fill_share(void *argument, int rank, int size) {
  const job *j = argument;
  const trs_batch *B = j->B;
  int64_t begin, end;
  trs_share(B->groups, rank, size, &begin, &end);
  for (int64_t g = begin; g < end; g++) {
    const trs_batch_group G = group_at(B, g, rank);
    const int64_t first = g * trs_batch_lanes(B->system.scalar);
    const trs_batch_source source = {.from_ptr = B->from_ptr,
                                     .from = B->from,
                                     .val = system_at(B, j->val, first, j->stride),
                                     .stride = j->stride};
    kernels_now()->fill[B->system.scalar](&G, &source);
  }
}

static void solve_share(void *argument, int rank, int size) {
  const job *j = argument;
  const trs_batch *B = j->B;
  int64_t begin, end;
  trs_share(B->groups, rank, size, &begin, &end);
  for (int64_t g = begin; g < end; g++) {
    const trs_batch_group G = group_at(B, g, rank);
    const int64_t first = g * trs_batch_lanes(B->system.scalar);
    trs_rhs rhs = *j->rhs;
    rhs.b = system_at(B, rhs.b, first, j->b_next);
    rhs.x = (void *)system_at(B, rhs.x, first, j->x_next);
    for (int64_t r = 0; r < rhs.nrhs;) {
      const int width = rhs.nrhs - r >= B->width ? B->width : 1;
      kernels_now()->solve[B->system.scalar](&G, &rhs, j->b_next, j->x_next, r, width);
      r += width;
    }
  }
}

static void run(const trs_batch *B, void (*share)(void *, int, int), job *j, int64_t columns) {
  const double work = (double)(B->system.nnz + B->system.n) * (double)B->count * (double)columns;
  const double wanted = work / LEAST_WORK;
  const int threads = wanted < 2 ? 1 : wanted < B->threads ? (int)wanted : B->threads;
  if (threads == 1)
    share(j, 0, 1);
  else
    trs_team_run(B->context->team, threads, share, j);
}

/* The first system without a usable diagonal, or success. */
static trs_status tell_fault(const trs_batch *B) {
  static const char *const words[] = {
      [TRS_PIVOT_ZERO] = "zero",
      [TRS_PIVOT_NOT_FINITE] = "not finite",
      [TRS_PIVOT_EXTREME] = "too small, or too large, for its reciprocal"};
  if (B->faults == 0) return TRS_SUCCESS;
  const int64_t first = B->first_fault, others = B->faults - 1;
  const trs_pivot pivot = B->pivot[first];
  char more[60] = "";
  if (others)
    snprintf(more, sizeof more, "; %lld more %s such an entry", (long long)others,
             others == 1 ? "system has" : "systems have");
  return trs_fail(
      pivot == TRS_PIVOT_ZERO ? TRS_ERROR_ZERO_PIVOT : TRS_ERROR_NOT_FINITE, B->row[first],
      "the diagonal entry of row %lld of system %lld (0-based) is %s%s; the others can be solved",
      (long long)B->row[first], (long long)first, words[pivot], more);
}

static void count_faults(trs_batch *B) {
  B->faults = 0;
  for (int64_t s = B->count - 1; s >= 0; s--)
    if (B->row[s] >= 0) {
      B->first_fault = s;
      B->faults++;
    }
}

trs_status trs_batch_fill(trs_batch *B, const void *val, int64_t stride) {
  job j = {.B = B, .val = val, .stride = stride};
  TRS_TRY(trs_context_check(B->context));
  if (B->gpu)
    TRS_TRY(trs_batch_gpu_fill(B, val, stride));
  else
    run(B, fill_share, &j, 1);
  count_faults(B);
  B->filled = true;
  return tell_fault(B);
}

trs_status trs_batch_run(trs_batch *B, const trs_rhs *rhs, int64_t b_next, int64_t x_next) {
  job j = {.B = B, .rhs = rhs, .b_next = b_next, .x_next = x_next};
  TRS_TRY(trs_context_check(B->context));
  if (B->system.n > 0 && rhs->nrhs > 0) {
    if (B->gpu)
      TRS_TRY(trs_batch_gpu_run(B, rhs, b_next, x_next));
    else
      run(B, solve_share, &j, rhs->nrhs);
  }
  return tell_fault(B);
}

int64_t trs_batch_bytes(const trs_batch *B) {
  return TRS_HELD(B, B->ptr, B->idx, B->from_ptr, B->from, B->val, B->work, B->row, B->pivot);
}
