/* gpu.c - ILU(0) and IC(0) of new values on a GPU: the steps of each row, found on the host once
 * for a pattern; device memory; and the launch.
 *
 * Device memory: L and U with their patterns; 8 bytes for each division and each product of the
 * elimination, at most twice as many; 4 for each entry of L and U (the place in A, unless A is
 * stored as L U is; of IC(0) twice for U); 8 to 16 per row.  Rows that shared memory cannot hold
 * need their values once more.
 */
#include "factor/gpu.h"

#include <string.h>

#include "device/arena.h"
#include "factor/incomplete.h"
#include "factor/kinds.h"
#include "matrix/device.h"

struct trs_incomplete_gpu {
  trs_device *device;
  trs_matrix *L, *U; /* in device memory */
  trs_incomplete_args args;
  trs_arena memory;
  uint64_t number; /* of the matrix whose pattern is taken; 0: none */
  int32_t *from;   /* device memory, for every entry: args.from, unless that is the identity */
  trs_incomplete_found *told; /* pinned */
};

/* ---- Device memory ---- */

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
  trs_arena_free(&g->memory);
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
  int32_t *in_U, *mirror; /* IC(0): the place in U of each entry of L, and the reverse */
  int64_t *position;      /* n: of a column in the current row, from that row's beginning in `begin`
                             on; less: it has none */
  int32_t *level;         /* n: of each row */
  int32_t levels;
} pattern;

/* Of the row's entries, in the order of rows. */
static int64_t begin_of(const pattern *p, int64_t i) {
  return p->cholesky ? p->U->ptr[i] : p->L->ptr[i] + p->U->ptr[i];
}

static void enter_row(const pattern *p, int64_t i) {
  const trs_matrix *L = p->L, *U = p->U;
  int64_t at = begin_of(p, i);
  for (int64_t q = L->ptr[i]; !p->cholesky && q < L->ptr[i + 1]; q++) p->position[L->idx[q]] = at++;
  for (int64_t q = U->ptr[i]; q < U->ptr[i + 1]; q++) p->position[U->idx[q]] = at++;
}

static trs_status take_mirror(pattern *p) {
  const trs_matrix *L = p->L, *U = p->U;
  int64_t *next;
  if (!p->cholesky) return TRS_SUCCESS;
  TRS_TRY(TRS_ALLOC_ALL(TRS_ROOM(&p->in_U, L->nnz), TRS_ROOM(&p->mirror, U->nnz),
                        TRS_ROOM(&next, p->n + 1)));
  memcpy(next, U->ptr, (size_t)(p->n + 1) * sizeof *next);
  for (int64_t q = 0; q < L->nnz; q++) {
    const int64_t at = next[L->idx[q]]++;
    p->in_U[q] = (int32_t)at;
    p->mirror[at] = (int32_t)q;
  }
  trs_free(next);
  return TRS_SUCCESS;
}

static trs_status take_levels(pattern *p) {
  const trs_matrix *L = p->L;
  TRS_TRY(TRS_ALLOC(&p->level, p->n));
  for (int64_t i = 0; i < p->n; i++) {
    int32_t level = 0;
    for (int64_t q = L->ptr[i]; q < L->ptr[i + 1]; q++)
      if (L->idx[q] < i && p->level[L->idx[q]] >= level) level = p->level[L->idx[q]] + 1;
    p->level[i] = level;
    if (level >= p->levels) p->levels = level + 1;
  }
  return TRS_SUCCESS;
}

/* The steps of rows, and the turns of those of the current batch. */
typedef struct step_list {
  trs_incomplete_step *step; /* NULL: steps are only counted */
  int64_t count, row_begin;
  int lanes;       /* steps of a batch */
  int leader_turn; /* of the last step that leads; that of an earlier batch: 0 */
  int64_t *batch;  /* n: the batch that last changed an entry of the row, numbered over all rows */
  uint8_t *turn;   /* n: and the last turn that did */
  int64_t batches; /* that have begun */
} step_list;

static void begin_batch(step_list *s) {
  s->batches++;
  s->leader_turn = 0;
}

/* follows_leader: the multiplier is not known before the leader's turn. */
static void add(step_list *s, int64_t from, int64_t at, bool leads, bool follows_leader) {
  if (s->step) {
    if ((s->count - s->row_begin) % s->lanes == 0) begin_batch(s);
    int turn = follows_leader ? s->leader_turn : 0;
    if (s->batch[at] == s->batches && s->turn[at] >= turn) turn = s->turn[at] + 1;
    s->batch[at] = s->batches;
    s->turn[at] = (uint8_t)turn;
    if (leads) s->leader_turn = turn;
    s->step[s->count] = (trs_incomplete_step){
        (int32_t)from, (leads ? TRS_INCOMPLETE_LEADS : 0) |
                           (uint32_t)turn << TRS_INCOMPLETE_ENTRY_BITS | (uint32_t)at};
  }
  s->count++;
}

/* The next step begins a batch: it waits for a row of the level before, and those before it need
 * not wait, too. */
static void fill_batch(step_list *s) {
  if (!s->step) return;
  while ((s->count - s->row_begin) % s->lanes)
    s->step[s->count++] = (trs_incomplete_step){.from = TRS_INCOMPLETE_IDLE};
}

/* The products with entry (i, k), of columns j > k, of IC(0) j > i, in ascending order of j.
 * first: the row's first entry of such a column, in the order of rows. */
static void add_products(step_list *s, const pattern *p, int64_t i, int64_t k, int64_t first) {
  const trs_matrix *L = p->L, *U = p->U;
  const int64_t begin = begin_of(p, i), last = begin_of(p, i + 1), end = U->ptr[k + 1];
  int64_t q = U->ptr[k] + 1;
  if ((end - q) / TRS_FACTOR_LONG > last - first) {
    const int64_t below = p->cholesky ? 0 : L->ptr[i + 1] - L->ptr[i];
    for (int64_t at = first; at < last; at++) {
      const int32_t j = at - begin < below ? L->idx[L->ptr[i] + (at - begin)]
                                           : U->idx[U->ptr[i] + (at - begin - below)];
      q = trs_factor_seek(U->idx, q, end, j);
      if (q < end && U->idx[q] == j) add(s, q, at - begin, false, !p->cholesky);
    }
    return;
  }
  for (; q < end; q++) {
    const int64_t at = p->position[U->idx[q]];
    if (at >= first && at < last) add(s, q, at - begin, false, !p->cholesky);
  }
}

/* ptr: n + 1, the steps before each row. */
static void list_steps(step_list *s, const pattern *p, int64_t *ptr) {
  const trs_matrix *L = p->L, *U = p->U;
  for (int64_t j = 0; j < p->n; j++) p->position[j] = -1;
  s->count = ptr[0] = 0;
  for (int64_t i = 0; i < p->n; i++) {
    const int64_t begin = begin_of(p, i), end = L->ptr[i + 1] - p->cholesky;
    bool waits = false;
    s->row_begin = s->count;
    enter_row(p, i);
    for (int64_t q = L->ptr[i]; q < end; q++) {
      const int64_t k = L->idx[q], own = q - L->ptr[i];
      if (!waits && p->level[k] + 1 == p->level[i]) {
        waits = true;
        fill_batch(s);
      }
      add(s, p->cholesky ? p->in_U[q] : U->ptr[k], p->cholesky ? 0 : own, true, false);
      add_products(s, p, i, k, begin + (p->cholesky ? 1 : own + 1));
    }
    ptr[i + 1] = s->count;
  }
}

static trs_status fill_steps(trs_incomplete_gpu *g, const pattern *p, step_list *s, int64_t *ptr) {
  const int64_t most = s->count + p->n * (s->lanes - 1);
  TRS_TRY(TRS_ALLOC_ALL(TRS_ROOM(&s->step, most), TRS_ROOM(&s->turn, p->n),
                        TRS_ZEROS(&s->batch, p->n)));
  list_steps(s, p, ptr);
  return trs_arena_upload(&g->memory, &g->args.step, s->step, s->count, sizeof *s->step);
}

static trs_status take_steps(trs_incomplete_gpu *g, const pattern *p) {
  step_list s = {0};
  int64_t *ptr;
  TRS_TRY(TRS_ALLOC(&ptr, p->n + 1));
  list_steps(&s, p, ptr);
  /* A row's lanes read as many steps at a time: about the mean of a row. */
  g->args.log_lanes = 2;
  while (g->args.log_lanes < 5 && (p->n << g->args.log_lanes) < s.count) g->args.log_lanes++;
  s.lanes = 1 << g->args.log_lanes;
  trs_status status = fill_steps(g, p, &s, ptr);
  TRS_FREE_ALL(s.step, s.turn, s.batch);
  const trs_status moved =
      trs_arena_move(&g->memory, &g->args.step_ptr, ptr, p->n + 1, sizeof *ptr);
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
  const int64_t width = 32 >> g->args.log_lanes;
  int32_t *rows;
  TRS_TRY(sort_rows(&rows, &g->args.slices, p->level, p->n, p->levels, width));
  return trs_arena_move(&g->memory, &g->args.row, rows, g->args.slices * width, sizeof *rows);
}

/* Room for a row in shared memory, and in global memory if some row is longer. */
static trs_status take_room(trs_incomplete_gpu *g, const pattern *p, size_t size) {
  const int64_t most = (TRS_INCOMPLETE_ROW_BYTES << g->args.log_lanes) / (32 * (int64_t)size);
  int64_t longest = 0;
  for (int64_t i = 0; i < p->n; i++) {
    const int64_t count = begin_of(p, i + 1) - begin_of(p, i);
    if (count > longest) longest = count;
  }
  if (longest > TRS_INCOMPLETE_MOST_ROW)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "a row has more than %d entries: give new values in host memory",
                    TRS_INCOMPLETE_MOST_ROW);
  g->args.room = (int)(longest < most ? longest : most);
  return longest <= most ? TRS_SUCCESS
                         : trs_arena_alloc(&g->memory, &g->args.scratch, begin_of(p, p->n), size);
}

static trs_status fill_in(trs_incomplete_gpu *g, const trs_factors *F, pattern *p) {
  trs_incomplete_args *a = &g->args;
  TRS_TRY(TRS_ALLOC(&p->position, p->n));
  TRS_TRY(take_mirror(p));
  TRS_TRY(take_levels(p));
  TRS_TRY(take_steps(g, p));
  TRS_TRY(take_rows(g, p));
  TRS_TRY(take_room(g, p, trs_scalar_size(F->scalar)));
  if (p->cholesky)
    TRS_TRY(trs_arena_upload(&g->memory, &a->mirror, p->mirror, p->U->nnz, sizeof *p->mirror));
  TRS_TRY(trs_arena_alloc(&g->memory, &a->found, 1, sizeof *a->found));
  TRS_TRY(trs_device_alloc_host(g->device, (void **)&g->told));
  TRS_TRY(make_there(&g->L, p->L, g->device));
  TRS_TRY(make_there(&g->U, p->U, g->device));
  a->L_ptr = g->L->ptr;
  a->U_ptr = g->U->ptr;
  a->U_idx = g->U->idx;
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
  g->device = g->memory.device = trs_device_retain(device);
  g->args.n = p.n;
  g->args.cholesky = p.cholesky;
  g->args.real_diagonal = p.cholesky && F->recipe.uplo != TRS_GENERAL;
  trs_status status = fill_in(g, F, &p);
  TRS_FREE_ALL(p.position, p.level, p.mirror, p.in_U);
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

/* The place of entry (i, j) among the entries of the rows, or -1; of IC(0) i <= j. */
static int64_t place_of(const pattern *p, int64_t i, int64_t j) {
  const trs_matrix *T = j < i ? p->L : p->U;
  const int64_t q = trs_factor_seek(T->idx, T->ptr[i], T->ptr[i + 1], (int32_t)j);
  if (q == T->ptr[i + 1] || T->idx[q] != j) return -1;
  if (p->cholesky) return q;
  return T == p->U ? q + p->L->ptr[i + 1] : q + p->U->ptr[i];
}

/* from: for every place the entry of A, or none with levels of fill.  IC takes the upper triangle
 * of a whole A.
 * *at_fault: a row that differs. */
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
      *at_fault = i > j || !p->cholesky ? i : j;
      const bool turned = p->cholesky && i > j;
      if (turned) {
        const int64_t k = i;
        i = j;
        j = k;
      }
      const int64_t place = place_of(p, i, j);
      if (place < 0) return false;
      if (!p->cholesky || !turned || uplo != TRS_GENERAL)
        from[place] = (int32_t)(!p->cholesky || turned || i == j ? e : TRS_INCOMPLETE_MIRRORED - e);
    }
  const int64_t count = F->levels ? 0 : begin_of(p, p->n);
  for (int64_t q = 0, i = 0; q < count; q++) {
    while (begin_of(p, i + 1) <= q) i++;
    *at_fault = p->cholesky ? p->U->idx[q] : i;
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
  if (!g->from) TRS_TRY(trs_arena_alloc(&g->memory, &g->from, count, sizeof *from));
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
  TRS_ON_DEVICE(A->device);
  trs_status status = F->gpu ? TRS_SUCCESS : create(F, A->device);
  if (!status) status = take_pattern(F, A);
  return status;
}

/* ---- A run ---- */

#define NONE (~0ull)
_Static_assert(sizeof(trs_incomplete_found) <= TRS_PINNED_BYTES, "in a piece of pinned memory");

/* Values that rows wait for are pending; words that rows write are none. */
static trs_status launch(trs_incomplete_gpu *g, trs_scalar scalar) {
  const int64_t bytes = g->U->nnz * (int64_t)trs_scalar_size(scalar);
  *g->told = (trs_incomplete_found){.pivot = NONE,
                                    .L = NONE,
                                    .U = NONE,
                                    .start = NONE,
                                    .fault = {.row = -1, .limit = TRS_WAIT_LIMIT}};
  TRS_TRY(trs_device_copy(g->args.found, g->told, sizeof *g->told, NULL));
  TRS_TRY(trs_device_fill(g->U->val, 0xff, bytes, NULL));
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

trs_status trs_incomplete_gpu_run(const trs_factors *F, const trs_matrix *A,
                                  trs_incomplete_run *run) {
  TRS_ON_DEVICE(F->gpu->device);
  trs_incomplete_gpu *g = F->gpu;
  TRS_TRY(trs_matrix_renew_on(A, NULL));
  g->args.A = A->val;
  g->args.scale = 1 + run->shift;
  TRS_TRY(launch(g, F->scalar));
  TRS_TRY(check_fault(g));
  judge(run, g->told);
  return TRS_SUCCESS;
}

const trs_matrix *trs_incomplete_gpu_factor(const trs_factors *F, bool lower) {
  return lower ? F->gpu->L : F->gpu->U;
}

int64_t trs_incomplete_gpu_bytes(const trs_factors *F) { return F->gpu ? F->gpu->memory.bytes : 0; }
