/* gpu.c - ILU(0) and IC(0) of new values on a GPU: the steps of each row, found on the host once
 * for a pattern; device memory; and the launch.
 *
 * Device memory: L and U with their patterns; 8 bytes for each division and each product of the
 * elimination; 4 for each entry of L and U (the place in A, unless A is stored as L U is; of IC(0)
 * twice for L); 8 to 16 per row.  Rows that shared memory cannot hold need their values once more.
 */
#include "factor/gpu.h"

#include <string.h>

#include "factor/incomplete.h"
#include "factor/kinds.h"
#include "matrix/device.h"

struct trs_incomplete_gpu {
  trs_device *device;
  trs_matrix *L, *U; /* in device memory */
  trs_incomplete_args args;
  void *owned[12];
  int nowned;
  int64_t bytes;
  uint64_t number; /* of the matrix whose pattern is taken; 0: none */
  int32_t *from;   /* device memory, for every entry: args.from, unless that is the identity */
  trs_incomplete_found *told; /* pinned */
};

/* ---- Device memory ---- */

static trs_status reserve(trs_incomplete_gpu *g, const void *pointer, int64_t count, size_t size) {
  void **to = (void **)(uintptr_t)pointer;
  TRS_TRY(trs_device_alloc(g->device, to, count, size, NULL));
  g->owned[g->nowned++] = *to;
  g->bytes += count * (int64_t)size;
  return TRS_SUCCESS;
}

static trs_status upload(trs_incomplete_gpu *g, const void *pointer, const void *from,
                         int64_t count, size_t size) {
  TRS_TRY(reserve(g, pointer, count, size));
  TRS_TRY(trs_device_copy(*(void **)(uintptr_t)pointer, from, count * (int64_t)size, NULL));
  return trs_device_wait(NULL); /* from may go */
}

/* Brings an array of the host to the GPU, and frees it here. */
static trs_status move(trs_incomplete_gpu *g, const void *pointer, void *from, int64_t count,
                       size_t size) {
  const trs_status status = upload(g, pointer, from, count, size);
  trs_free(from);
  return status;
}

/* A copy of T's pattern in device memory, with room for its values. */
static trs_status make_there(trs_matrix **result, const trs_matrix *T, trs_device *device) {
  trs_matrix *made;
  *result = NULL;
  TRS_TRY(TRS_ALLOC_ZERO(&made, 1));
  *made = (trs_matrix){.number = trs_matrix_next_number(),
                       .format = T->format,
                       .scalar = T->scalar,
                       .nrows = T->nrows,
                       .ncols = T->ncols,
                       .nnz = T->nnz,
                       .nvectors = T->nvectors,
                       .hold_ptr = TRS_OWNED,
                       .hold_idx = TRS_OWNED,
                       .hold_val = TRS_OWNED,
                       .on_device = true,
                       .device = trs_device_retain(device),
                       .nlower = T->nlower,
                       .nupper = T->nupper,
                       .ndiagonal = T->ndiagonal,
                       .first_lower = T->first_lower,
                       .first_upper = T->first_upper,
                       .missing_diagonal = T->missing_diagonal,
                       .longest = T->longest};
  atomic_init(&made->references, 1);
  const int64_t ptr_bytes = (T->nvectors + 1) * (int64_t)sizeof *T->ptr,
                idx_bytes = T->nnz * (int64_t)sizeof *T->idx;
  trs_status status = TRS_DEVICE_ALLOC(device, &made->ptr, T->nvectors + 1, NULL);
  if (!status) status = TRS_DEVICE_ALLOC(device, &made->idx, T->nnz, NULL);
  if (!status)
    status = trs_device_alloc(device, &made->val, T->nnz, trs_scalar_size(T->scalar), NULL);
  if (!status) status = trs_device_copy(made->ptr, T->ptr, ptr_bytes, NULL);
  if (!status) status = trs_device_copy(made->idx, T->idx, idx_bytes, NULL);
  if (!status) status = trs_device_wait(NULL);
  if (status)
    trs_matrix_destroy(made);
  else
    *result = made;
  return status;
}

void trs_incomplete_gpu_destroy(trs_incomplete_gpu *g) {
  if (!g) return;
  int before = trs_device_enter(g->device);
  for (int k = 0; k < g->nowned; k++) trs_device_free(g->device, g->owned[k], NULL);
  (void)trs_device_wait(NULL);
  trs_device_free_host(g->device, g->told);
  trs_device_leave(before);
  trs_matrix_destroy(g->L);
  trs_matrix_destroy(g->U);
  trs_device_close(g->device);
  trs_free(g);
}

/* ---- Rows and steps, from the patterns of L and U in host memory ---- */

typedef struct pattern {
  int64_t n;
  bool cholesky;
  const trs_matrix *L, *U;
  int32_t *mirror, *back; /* IC(0): the place in U of each entry of L, and the reverse */
  int64_t *changed;  /* n: the last row in which a product changes the entry of a column, or -1 */
  int64_t *position; /* n: of a column in the current row, from that row's beginning in `begin`
                        on; less: it has none */
} pattern;

/* Of the row's entries, in the order of rows. */
static int64_t begin_of(const pattern *p, int64_t i) {
  return p->cholesky ? p->L->ptr[i] : p->L->ptr[i] + p->U->ptr[i];
}

static void enter_row(const pattern *p, int64_t i) {
  const trs_matrix *L = p->L, *U = p->U;
  int64_t at = begin_of(p, i);
  for (int64_t q = L->ptr[i]; q < L->ptr[i + 1]; q++) p->position[L->idx[q]] = at++;
  for (int64_t q = U->ptr[i]; !p->cholesky && q < U->ptr[i + 1]; q++) p->position[U->idx[q]] = at++;
}

static trs_status take_mirror(pattern *p) {
  const trs_matrix *L = p->L, *U = p->U;
  int64_t *next;
  if (!p->cholesky) return TRS_SUCCESS;
  TRS_TRY(TRS_ALLOC(&p->mirror, L->nnz));
  TRS_TRY(TRS_ALLOC(&p->back, U->nnz));
  TRS_TRY(TRS_ALLOC(&next, p->n + 1));
  memcpy(next, U->ptr, (size_t)(p->n + 1) * sizeof *next);
  for (int64_t q = 0; q < L->nnz; q++) {
    const int64_t at = next[L->idx[q]]++;
    p->mirror[q] = (int32_t)at;
    p->back[at] = (int32_t)q;
  }
  trs_free(next);
  return TRS_SUCCESS;
}

typedef struct step_list {
  trs_incomplete_step *step; /* NULL: steps are only counted */
  int64_t count;
} step_list;

static void add(step_list *s, int64_t from, int64_t at) {
  if (s->step) s->step[s->count] = (trs_incomplete_step){(int32_t)from, (int32_t)at};
  s->count++;
}

/* Entry q of U, in the place of `at` of row i. */
static void add_product(step_list *s, const pattern *p, int64_t i, int64_t q, int64_t at) {
  p->changed[p->U->idx[q]] = i;
  add(s, p->cholesky ? p->back[q] : q, at);
}

static void add_division(step_list *s, const pattern *p, int64_t i, int64_t k, int64_t at) {
  const int64_t pivot = p->cholesky ? p->L->ptr[k + 1] - 1 : p->U->ptr[k];
  add(s, pivot, ~(at | (p->changed[k] == i ? TRS_INCOMPLETE_CHANGED : 0)));
}

/* The products with entry (i, k), of column j > k, in ascending order of j. */
static void add_products(step_list *s, const pattern *p, int64_t i, int64_t k, int64_t own) {
  const trs_matrix *U = p->U;
  const int64_t first = begin_of(p, i), end = U->ptr[k + 1];
  const int64_t last = p->cholesky ? p->L->ptr[i + 1] - 1 : begin_of(p, i + 1);
  int64_t q = U->ptr[k] + 1;
  if ((end - q) / TRS_FACTOR_LONG > last - own) {
    const int64_t below = p->L->ptr[i + 1] - p->L->ptr[i];
    for (int64_t at = own + 1; at < last; at++) {
      const int32_t j = at - first < below ? p->L->idx[p->L->ptr[i] + (at - first)]
                                           : U->idx[U->ptr[i] + (at - first - below)];
      q = trs_factor_seek(U->idx, q, end, j);
      if (q < end && U->idx[q] == j) add_product(s, p, i, q, at - first);
    }
    return;
  }
  for (; q < end; q++) {
    const int64_t at = p->position[U->idx[q]];
    if (at > own && at < last) add_product(s, p, i, q, at - first);
  }
}

/* ptr: n + 1, the steps before each row. */
static void list_steps(step_list *s, const pattern *p, int64_t *ptr) {
  const trs_matrix *L = p->L;
  for (int64_t j = 0; j < p->n; j++) p->position[j] = p->changed[j] = -1;
  s->count = ptr[0] = 0;
  for (int64_t i = 0; i < p->n; i++) {
    enter_row(p, i);
    const int64_t first = begin_of(p, i), end = L->ptr[i + 1] - p->cholesky;
    for (int64_t q = L->ptr[i]; q < end; q++) {
      const int64_t k = L->idx[q], own = first + (q - L->ptr[i]);
      add_division(s, p, i, k, own - first);
      add_products(s, p, i, k, own);
    }
    ptr[i + 1] = s->count;
  }
}

static trs_status take_steps(trs_incomplete_gpu *g, const pattern *p) {
  step_list s = {0};
  int64_t *ptr;
  TRS_TRY(TRS_ALLOC(&ptr, p->n + 1));
  list_steps(&s, p, ptr);
  /* A row's lanes read as many steps at a time: about the mean of a row. */
  g->args.log_lanes = 2;
  while (g->args.log_lanes < 5 && (p->n << g->args.log_lanes) < s.count) g->args.log_lanes++;
  trs_status status = TRS_ALLOC(&s.step, s.count);
  if (!status) list_steps(&s, p, ptr);
  if (!status) status = move(g, &g->args.step, s.step, s.count, sizeof *s.step);
  const trs_status moved = move(g, &g->args.step_ptr, ptr, p->n + 1, sizeof *ptr);
  return status ? status : moved;
}

/* Rows by levels, each level in whole slices. */
static trs_status sort_rows(int32_t **rows, int64_t *slices, const int32_t *level, int64_t n,
                            int32_t levels, int64_t width) {
  int64_t *next, total = 0;
  TRS_TRY(TRS_ALLOC_ZERO(&next, levels + 1));
  for (int64_t i = 0; i < n; i++) next[level[i]]++;
  for (int32_t l = 0; l < levels; l++) {
    const int64_t count = next[l];
    next[l] = total;
    total += (count + width - 1) / width * width;
  }
  trs_status status = TRS_ALLOC(rows, total);
  if (!status) {
    memset(*rows, 0xff, (size_t)total * sizeof **rows);
    for (int64_t i = 0; i < n; i++) (*rows)[next[level[i]]++] = (int32_t)i;
  }
  *slices = total / width;
  trs_free(next);
  return status;
}

static trs_status take_rows(trs_incomplete_gpu *g, const pattern *p) {
  const trs_matrix *L = p->L;
  int32_t *level, *rows = NULL, levels = 0;
  TRS_TRY(TRS_ALLOC(&level, p->n));
  for (int64_t i = 0; i < p->n; i++) {
    level[i] = 0;
    for (int64_t q = L->ptr[i]; q < L->ptr[i + 1]; q++)
      if (L->idx[q] < i && level[L->idx[q]] >= level[i]) level[i] = level[L->idx[q]] + 1;
    if (level[i] >= levels) levels = level[i] + 1;
  }
  const int64_t width = 32 >> g->args.log_lanes;
  trs_status status = sort_rows(&rows, &g->args.slices, level, p->n, levels, width);
  trs_free(level);
  TRS_TRY(status);
  return move(g, &g->args.row, rows, g->args.slices * width, sizeof *rows);
}

/* Room for a row in shared memory, and in global memory if some row is longer. */
static trs_status take_room(trs_incomplete_gpu *g, const pattern *p, size_t size) {
  const int64_t most = (TRS_INCOMPLETE_ROW_BYTES << g->args.log_lanes) / (32 * (int64_t)size);
  int64_t longest = 0;
  for (int64_t i = 0; i < p->n; i++) {
    const int64_t count = begin_of(p, i + 1) - begin_of(p, i);
    if (count > longest) longest = count;
  }
  g->args.room = (int)(longest < most ? longest : most);
  return longest <= most ? TRS_SUCCESS : reserve(g, &g->args.scratch, begin_of(p, p->n), size);
}

static trs_status fill_in(trs_incomplete_gpu *g, const trs_factors *F, pattern *p) {
  trs_incomplete_args *a = &g->args;
  TRS_TRY(TRS_ALLOC(&p->position, p->n));
  TRS_TRY(TRS_ALLOC(&p->changed, p->n));
  TRS_TRY(take_mirror(p));
  TRS_TRY(take_steps(g, p));
  TRS_TRY(take_rows(g, p));
  TRS_TRY(take_room(g, p, trs_scalar_size(F->scalar)));
  if (p->cholesky) TRS_TRY(upload(g, &a->mirror, p->mirror, p->L->nnz, sizeof *p->mirror));
  TRS_TRY(reserve(g, &a->found, 1, sizeof *a->found));
  TRS_TRY(trs_device_alloc_host(g->device, (void **)&g->told));
  TRS_TRY(make_there(&g->L, p->L, g->device));
  TRS_TRY(make_there(&g->U, p->U, g->device));
  a->L_ptr = g->L->ptr;
  a->U_ptr = g->U->ptr;
  a->L = g->L->val;
  a->U = g->U->val;
  return TRS_SUCCESS;
}

static pattern pattern_of(const trs_factors *F) {
  return (pattern){.n = F->n,
                   .cholesky = F->kind == TRS_FACTOR_IC0,
                   .L = trs_incomplete_pattern(F, true),
                   .U = trs_incomplete_pattern(F, false)};
}

static trs_status create(trs_factors *F, trs_device *device) {
  trs_incomplete_gpu *g;
  pattern p = pattern_of(F);
  if (p.L->nnz + p.U->nnz > INT32_MAX)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "L and U have more than 2147483647 entries: give new values in host memory");
  TRS_TRY(TRS_ALLOC_ZERO(&g, 1));
  g->device = trs_device_retain(device);
  g->args.n = p.n;
  g->args.cholesky = p.cholesky;
  g->args.real_diagonal = p.cholesky && F->recipe.uplo != TRS_GENERAL;
  trs_status status = fill_in(g, F, &p);
  TRS_FREE_ALL(p.position, p.changed, p.mirror, p.back);
  if (status)
    trs_incomplete_gpu_destroy(g);
  else
    F->gpu = g;
  return status;
}

/* ---- The pattern of A ---- */

static trs_status differs(const trs_factors *F, int64_t i) {
  const int64_t row = F->row_perm ? F->row_perm[i] : i;
  return trs_fail(TRS_ERROR_STRUCTURE, row,
                  "row %lld (0-based) has other entries than in the matrix that was factored: "
                  "factor this one anew",
                  (long long)row);
}

/* The place of entry (i, j) of L U among the entries of the rows, or -1. */
static int64_t place_of(const pattern *p, int64_t i, int64_t j) {
  const trs_matrix *T = j < i || p->cholesky ? p->L : p->U;
  const int64_t q = trs_factor_seek(T->idx, T->ptr[i], T->ptr[i + 1], (int32_t)j);
  if (q == T->ptr[i + 1] || T->idx[q] != j) return -1;
  return T == p->U || p->cholesky ? q + (p->cholesky ? 0 : p->L->ptr[i + 1]) : q + p->U->ptr[i];
}

/* from: for every place the entry of A.  *at_fault: a row that differs. */
static bool find_places(const pattern *p, const trs_factors *F, const trs_matrix *A,
                        const int32_t *inverse, int32_t *from, int64_t *at_fault) {
  const trs_uplo uplo = F->recipe.uplo;
  for (int64_t v = 0; v < A->nvectors; v++)
    for (int64_t e = A->ptr[v]; e < A->ptr[v + 1]; e++) {
      const int64_t row = A->format == TRS_CSR ? v : A->idx[e],
                    column = A->format == TRS_CSR ? A->idx[e] : v;
      if (p->cholesky && uplo != TRS_GENERAL && (uplo == TRS_LOWER ? column > row : column < row))
        continue;
      int64_t i = inverse ? inverse[row] : row, j = inverse ? inverse[column] : column;
      const bool turned = p->cholesky && j > i;
      if (turned) {
        const int64_t k = i;
        i = j;
        j = k;
      }
      const int64_t place = place_of(p, i, j);
      *at_fault = i;
      if (place < 0) return false;
      if (!turned || uplo != TRS_GENERAL)
        from[place] = (int32_t)(turned ? TRS_INCOMPLETE_MIRRORED - e : e);
    }
  const int64_t count = begin_of(p, p->n);
  for (int64_t q = 0, i = 0; q < count; q++) {
    while (begin_of(p, i + 1) <= q) i++;
    *at_fault = i;
    if (from[q] == TRS_INCOMPLETE_NONE) return false;
  }
  return true;
}

static bool is_identity(const int32_t *from, int64_t count) {
  int64_t q = 0;
  while (q < count && from[q] == q) q++;
  return q == count;
}

static trs_status put_places(trs_incomplete_gpu *g, const int32_t *from, int64_t count) {
  g->args.from = NULL;
  if (is_identity(from, count)) return TRS_SUCCESS;
  if (!g->from) TRS_TRY(reserve(g, &g->from, count, sizeof *from));
  TRS_TRY(trs_device_copy(g->from, from, count * (int64_t)sizeof *from, NULL));
  TRS_TRY(trs_device_wait(NULL));
  g->args.from = g->from;
  return TRS_SUCCESS;
}

static trs_status take_places(trs_factors *F, const trs_matrix *A) {
  const pattern p = pattern_of(F);
  const int64_t count = begin_of(&p, p.n);
  int32_t *inverse = NULL, *from;
  int64_t at_fault = 0;
  if (A->nnz > INT32_MAX)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "the matrix has more than 2147483647 entries: give new values in host memory");
  TRS_TRY(TRS_ALLOC(&from, count));
  for (int64_t q = 0; q < count; q++) from[q] = TRS_INCOMPLETE_NONE;
  trs_status status = F->row_perm ? TRS_ALLOC(&inverse, p.n) : TRS_SUCCESS;
  for (int64_t i = 0; inverse && i < p.n; i++) inverse[F->row_perm[i]] = (int32_t)i;
  if (!status && !find_places(&p, F, A, inverse, from, &at_fault)) status = differs(F, at_fault);
  if (!status) status = put_places(F->gpu, from, count);
  TRS_FREE_ALL(inverse, from);
  return status;
}

static trs_status take_pattern(trs_factors *F, const trs_matrix *A) {
  trs_matrix *here;
  if (F->gpu->number == A->number) return TRS_SUCCESS;
  F->gpu->number = 0;
  TRS_TRY(trs_matrix_download(&here, A, false, NULL));
  trs_status status = take_places(F, here);
  trs_matrix_destroy(here);
  if (!status) F->gpu->number = A->number;
  return status;
}

trs_status trs_incomplete_gpu_take(trs_factors *F, const trs_matrix *A) {
  if (F->gpu && F->gpu->device != A->device) {
    trs_incomplete_gpu_destroy(F->gpu);
    F->gpu = NULL;
  }
  int before = trs_device_enter(A->device);
  trs_status status = F->gpu ? TRS_SUCCESS : create(F, A->device);
  if (!status) status = take_pattern(F, A);
  trs_device_leave(before);
  return status;
}

/* ---- A run ---- */

#define NONE (~0ull)
_Static_assert(sizeof(trs_incomplete_found) <= TRS_PINNED_BYTES, "in a piece of pinned memory");

/* Values that rows wait for are pending; words that rows write are none. */
static trs_status launch(trs_incomplete_gpu *g, trs_scalar scalar) {
  const trs_matrix *read = g->args.cholesky ? g->L : g->U;
  const int64_t bytes = read->nnz * (int64_t)trs_scalar_size(scalar);
  *g->told = (trs_incomplete_found){.pivot = NONE,
                                    .L = NONE,
                                    .U = NONE,
                                    .start = NONE,
                                    .fault = {.row = -1, .limit = TRS_WAIT_LIMIT}};
  TRS_TRY(trs_device_copy(g->args.found, g->told, sizeof *g->told, NULL));
  TRS_TRY(trs_device_fill(read->val, 0xff, bytes, NULL));
  TRS_TRY(trs_incomplete_launch(&g->args, scalar, NULL));
  TRS_TRY(trs_device_copy(g->told, g->args.found, sizeof *g->told, NULL));
  return trs_device_wait(NULL);
}

static trs_status check_fault(const trs_incomplete_gpu *g) {
  const trs_fault *fault = &g->told->fault;
  if (!fault->stalled) return TRS_SUCCESS;
  return trs_fail(TRS_ERROR_STALLED, fault->row,
                  "GPU %d: row %lld of L U waited more than %.3g s for the rows it depends on "
                  "(0-based)",
                  trs_device_look(g->device)->ordinal, (long long)fault->row,
                  1e-9 * (double)fault->limit);
}

static void judge(trs_incomplete_run *run, const trs_incomplete_found *found) {
  run->outcome = TRS_RUN_DONE;
  run->row = -1;
  run->start = found->start == NONE ? -1 : (int64_t)(found->start / TRS_INCOMPLETE_KINDS);
  unsigned long long word = found->pivot;
  if (word != NONE) {
    run->outcome =
        word % TRS_INCOMPLETE_KINDS == TRS_INCOMPLETE_ZERO ? TRS_RUN_ZERO : TRS_RUN_NOT_FINITE;
  } else {
    word = found->L != NONE ? found->L : found->U;
    if (word != NONE) run->outcome = TRS_RUN_OVERFLOW;
  }
  if (word != NONE) run->row = (int64_t)(word / TRS_INCOMPLETE_KINDS);
}

static trs_status run_there(const trs_factors *F, const trs_matrix *A, trs_incomplete_run *run) {
  trs_incomplete_gpu *g = F->gpu;
  TRS_TRY(trs_matrix_renew_on(A, NULL));
  g->args.A = A->val;
  g->args.scale = 1 + run->shift;
  TRS_TRY(launch(g, F->scalar));
  TRS_TRY(check_fault(g));
  judge(run, g->told);
  return TRS_SUCCESS;
}

trs_status trs_incomplete_gpu_run(const trs_factors *F, const trs_matrix *A,
                                  trs_incomplete_run *run) {
  int before = trs_device_enter(F->gpu->device);
  trs_status status = run_there(F, A, run);
  trs_device_leave(before);
  return status;
}

const trs_matrix *trs_incomplete_gpu_factor(const trs_factors *F, bool lower) {
  return lower ? F->gpu->L : F->gpu->U;
}

int64_t trs_incomplete_gpu_bytes(const trs_factors *F) { return F->gpu ? F->gpu->bytes : 0; }
