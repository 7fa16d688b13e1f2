/* refactor.c - L and U of new values of A, within their patterns and with the same pivots.
 *
 * Row i needs the rows k < i of L's row i alone (Gilbert & Peierls 1988, by rows; KLU's refactor,
 * Davis & Palamadai Natarajan 2010, by columns).  The first call looks at the patterns: every entry
 * that elimination fills must be there.  Threads get subtrees of the elimination tree (Liu 1986)
 * each, and take the rows above them one by one, waiting for single rows of others (NICSLU, Chen,
 * Wang & Yang 2013).  Every row is computed in one order of operations, by whatever thread.
 * Cost: the multiplications of the elimination. */
#include "factor/refactor.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "backend/context.h"
#include "base/cancel.h"
#include "base/deal.h"
#include "base/transpose.h"
#include "factor/incomplete.h"
#include "factor/kinds.h"
#include "matrix/values.h"
#include "order/etree.h"

/* In entries of U that are read, some nanoseconds: of a row, of an entry of L, and the least that
 * is worth a thread. */
enum { ROW_WORK = 12, ENTRY_WORK = 4, THREAD_WORK = 60000, PARTS = 8 };

/* Rows of less work are not worth taking together. */
enum { TOGETHER_WORK = 2000 };

/* Rows of less work on average are taken one by one, by the lean loop. */
enum { LIGHT_WORK = 200 };

/* The least work of a shared row that is worth the wait for it: its cache lines move between
 * cores. */
enum { SHARED_WORK = 1500 };

struct trs_refactoring {
  trs_lu lu;
  trs_scalar scalar;
  double *row_scale, *col_scale; /* n, or NULL */
  int64_t *work;                 /* n: of each row */
  int64_t total;                 /* work */
  /* The pattern of A in the call before. */
  uint64_t number; /* 0: none */
  trs_format format;
  int64_t nnz, *A_ptr;
  int32_t *A_idx;
  /* Members and their rows. */
  int members, scheduled;
  trs_lu_member *member;
  void **space;        /* of each member */
  bool in_turn, alone; /* the last member has the shared rows to itself; one thread is as fast */
  int32_t *list;
  int64_t *list_ptr; /* scheduled + 2: own rows of each member, then shared ones */
  atomic_uint *done;
  unsigned round;
  atomic_llong ticket;
  atomic_int arrived;
};

static void free_side(trs_lu_side *side) {
  if (side->apart) TRS_FREE_ALL(side->begin, side->end, side->pivot);
  trs_free(side->place);
  if (side->ptr) TRS_FREE_ALL(side->idx, side->val, side->ptr);
}

void trs_refactoring_destroy(trs_refactoring *r) {
  if (!r) return;
  free_side(&r->lu.L);
  free_side(&r->lu.U);
  for (int k = 0; k < r->members; k++) trs_free(r->space[k]);
  TRS_FREE_ALL(r->lu.run, r->lu.together, r->lu.inverse, r->lu.from_ptr, r->lu.from, r->lu.to,
               r->row_scale, r->col_scale, r->work, r->A_ptr, r->A_idx, r->member, r->space,
               r->list, r->list_ptr, r->done, r);
}

/* Row i of L U in A's numbering. */
static int64_t row_of(const trs_factors *F, int64_t i) { return F->row_perm ? F->row_perm[i] : i; }
static int64_t column_of(const trs_factors *F, int64_t j) {
  return F->col_perm ? F->col_perm[j] : j;
}

/* ---- The patterns of L and U ---- */

/* The rows of a factor stored by columns. */
static trs_status turn(trs_lu_side *side, const trs_matrix *T) {
  int64_t *next;
  TRS_TRY(trs_transpose_arrays(T, &side->ptr, &side->idx, &side->val));
  TRS_TRY(TRS_ALLOC_ALL(TRS_ROOM(&side->place, T->nnz), TRS_ROOM(&next, T->nrows + 1)));
  memcpy(next, side->ptr, (size_t)(T->nrows + 1) * sizeof *next);
  for (int64_t p = 0; p < T->nnz; p++) side->place[p] = next[T->idx[p]]++;
  trs_free(next);
  return TRS_SUCCESS;
}

static trs_status no_pivot(const trs_factors *F, int64_t i, const char *name) {
  const int64_t row = row_of(F, i);
  return trs_fail(TRS_ERROR_STRUCTURE, row,
                  "%s has no diagonal entry in its row %lld, row %lld of the matrix (0-based): "
                  "refactorisation needs a place for every pivot",
                  name, (long long)i, (long long)row);
}

static bool has_diagonal(const trs_lu_side *side, const int64_t *ptr, int64_t i, bool lower) {
  return ptr[i] < ptr[i + 1] && side->idx[lower ? ptr[i + 1] - 1 : ptr[i]] == i;
}

/* Where not every row of U, or a row of L, has its diagonal entry. */
static trs_status take_apart(trs_lu_side *side, const int64_t *ptr, int64_t n, bool lower) {
  side->apart = true;
  TRS_TRY(
      TRS_ALLOC_ALL(TRS_ROOM(&side->begin, n), TRS_ROOM(&side->end, n), TRS_ROOM(&side->pivot, n)));
  for (int64_t i = 0; i < n; i++) {
    const bool diagonal = has_diagonal(side, ptr, i, lower);
    side->pivot[i] = lower ? ptr[i + 1] - 1 : ptr[i];
    side->begin[i] = ptr[i] + (diagonal && !lower);
    side->end[i] = ptr[i + 1] - (diagonal && lower);
  }
  return TRS_SUCCESS;
}

static trs_status take_side(trs_lu_side *side, const trs_factors *F, bool lower) {
  const trs_matrix *T = lower ? F->L : F->U;
  const bool unit = (lower ? F->diag_L : F->diag_U) == TRS_UNIT;
  if (T->format == TRS_CSC) {
    TRS_TRY(turn(side, T));
  } else {
    side->idx = T->idx;
    side->val = T->val;
  }
  int64_t *ptr = side->ptr ? side->ptr : T->ptr, stored = 0;
  for (int64_t i = 0; i < F->n; i++) {
    const bool diagonal = has_diagonal(side, ptr, i, lower);
    if (!diagonal && !unit) return no_pivot(F, i, lower ? "L" : "U");
    stored += diagonal;
  }
  if (stored != (lower ? 0 : F->n)) return take_apart(side, ptr, F->n, lower);
  side->begin = side->pivot = ptr;
  side->end = ptr + 1;
  side->lead = !lower;
  return TRS_SUCCESS;
}

static trs_status not_closed(const trs_factors *F, int64_t i, int64_t j) {
  const int64_t row = row_of(F, i);
  return trs_fail(
      TRS_ERROR_STRUCTURE, row,
      "%s lacks entry (%lld, %lld) of L U, which elimination fills; it is entry (%lld, %lld) of "
      "the matrix (0-based): the factors are incomplete, or entries with the value zero were left "
      "out",
      j < i ? "L" : "U", (long long)i, (long long)j, (long long)row, (long long)column_of(F, j));
}

static void mark_row(int32_t *mark, const trs_lu *lu, int64_t i) {
  mark[i] = (int32_t)i;
  for (int64_t p = trs_lu_begin(&lu->L, i); p < lu->L.end[i]; p++) mark[lu->L.idx[p]] = (int32_t)i;
  for (int64_t p = trs_lu_begin(&lu->U, i); p < lu->U.end[i]; p++) mark[lu->U.idx[p]] = (int32_t)i;
}

static void count_work(trs_refactoring *r) {
  const trs_lu_side *L = &r->lu.L, *U = &r->lu.U;
  for (int64_t i = 0; i < r->lu.n; i++) {
    r->work[i] = ROW_WORK + U->end[i] - trs_lu_begin(U, i);
    for (int64_t p = trs_lu_begin(L, i); p < L->end[i]; p++) {
      const int32_t k = L->idx[p];
      r->work[i] += ENTRY_WORK + U->end[k] - trs_lu_begin(U, k);
    }
    r->total += r->work[i];
  }
}

/* Every row has the entries that elimination fills. */
static trs_status check_closed(const trs_lu *lu, const trs_factors *F, int32_t *mark) {
  const trs_lu_side *L = &lu->L, *U = &lu->U;
  for (int64_t i = 0; i < F->n; i++) {
    mark_row(mark, lu, i);
    for (int64_t p = trs_lu_begin(L, i); p < L->end[i]; p++) {
      const int32_t k = L->idx[p];
      for (int64_t q = trs_lu_begin(U, k); q < U->end[k]; q++)
        if (mark[U->idx[q]] != i) return not_closed(F, i, U->idx[q]);
    }
  }
  return TRS_SUCCESS;
}

static bool same_rest(const trs_lu_side *U, int64_t k) {
  const int64_t count = U->end[k] - trs_lu_begin(U, k);
  if (count == 0 || U->idx[trs_lu_begin(U, k)] != k + 1 ||
      U->end[k + 1] - trs_lu_begin(U, k + 1) != count - 1)
    return false;
  return memcmp(U->idx + trs_lu_begin(U, k) + 1, U->idx + trs_lu_begin(U, k + 1),
                (size_t)(count - 1) * sizeof *U->idx) == 0;
}

static void find_runs(trs_refactoring *r) {
  trs_lu *lu = &r->lu;
  for (int64_t k = lu->n - 1; k >= 0; k--) {
    const bool same = k + 1 < lu->n && same_rest(&lu->U, k);
    const int more = same ? lu->run[k + 1] : 0;
    lu->run[k] = (uint8_t)(more < TRS_LU_RUN ? more + 1 : TRS_LU_RUN);
    lu->together[k] = r->work[k] < TOGETHER_WORK ? 1 : lu->run[k];
  }
}

/* Scalings in the order of L U. */
static trs_status take_scale(double **to, const double *from, const int32_t *perm, int64_t n) {
  if (!from) return TRS_SUCCESS;
  TRS_TRY(TRS_ALLOC(to, n));
  for (int64_t i = 0; i < n; i++) (*to)[i] = from[perm ? perm[i] : i];
  return TRS_SUCCESS;
}

/* No product of two scalings overflows, or loses digits. */
static bool is_plain(const double *row, const double *column, int64_t n) {
  double least[2] = {1, 1}, most[2] = {1, 1};
  for (int side = 0; side < 2; side++) {
    const double *scale = side ? column : row;
    for (int64_t i = 0; scale && i < n; i++) {
      least[side] = fmin(least[side], fabs(scale[i]));
      most[side] = fmax(most[side], fabs(scale[i]));
    }
  }
  return least[0] * least[1] >= DBL_MIN && most[0] * most[1] <= DBL_MAX;
}

static trs_status fill_in(trs_refactoring *r, const trs_factors *F) {
  TRS_TRY(take_side(&r->lu.L, F, true));
  TRS_TRY(take_side(&r->lu.U, F, false));
  TRS_TRY(TRS_ALLOC_ALL(TRS_ROOM(&r->lu.run, F->n), TRS_ROOM(&r->lu.together, F->n),
                        TRS_ROOM(&r->work, F->n),
                        TRS_ROOM_OF(&r->lu.inverse, F->n, trs_scalar_size(F->scalar))));
  TRS_TRY(take_scale(&r->row_scale, F->row_scale, F->row_perm, F->n));
  TRS_TRY(take_scale(&r->col_scale, F->col_scale, F->col_perm, F->n));
  r->lu.row_scale = r->row_scale;
  r->lu.col_scale = r->col_scale;
  r->lu.plain = is_plain(r->row_scale, r->col_scale, F->n);
  count_work(r);
  find_runs(r);
  r->lu.light = !r->lu.crout && r->total < (int64_t)LIGHT_WORK * F->n;
  return TRS_SUCCESS;
}

static trs_status make(trs_factors *F) {
  trs_refactoring *r;
  if (F->refactoring) return TRS_SUCCESS;
  TRS_TRY(TRS_ALLOC_ZERO(&r, 1));
  r->scalar = F->scalar;
  r->lu.n = F->n;
  r->lu.crout = F->diag_U == TRS_UNIT;
  r->lu.inside = F->inside;
  r->lu.largest = INFINITY;
  trs_status status = fill_in(r, F);
  if (status)
    trs_refactoring_destroy(r);
  else
    F->refactoring = r;
  return status;
}

static trs_status make_checked(trs_factors *F) {
  int32_t *mark;
  if (F->refactoring) return TRS_SUCCESS;
  TRS_TRY(TRS_ALLOC(&mark, F->n));
  memset(mark, 0xff, (size_t)F->n * sizeof *mark);
  trs_status status = make(F);
  if (!status) status = check_closed(&F->refactoring->lu, F, mark);
  trs_free(mark);
  if (!status) return TRS_SUCCESS;
  trs_refactoring_destroy(F->refactoring);
  F->refactoring = NULL;
  return status;
}

/* ---- The pattern of A ---- */

static bool same_pattern(const trs_refactoring *r, const trs_matrix *A) {
  if (!r->number) return false;
  if (A->number == r->number) return true;
  return A->format == r->format && A->nnz == r->nnz &&
         !memcmp(A->ptr, r->A_ptr, (size_t)(A->nvectors + 1) * sizeof *A->ptr) &&
         (!A->nnz || !memcmp(A->idx, r->A_idx, (size_t)A->nnz * sizeof *A->idx));
}

static trs_status invert(int32_t **inverse, const int32_t *perm, int64_t n) {
  TRS_TRY(TRS_ALLOC(inverse, n));
  for (int64_t i = 0; i < n; i++) (*inverse)[perm ? perm[i] : i] = (int32_t)i;
  return TRS_SUCCESS;
}

static trs_status reserve_pattern(trs_refactoring *r, const trs_matrix *A) {
  trs_lu *lu = &r->lu;
  TRS_FREE_ALL(lu->from_ptr, lu->from, lu->to, r->A_ptr, r->A_idx);
  lu->from_ptr = lu->from = r->A_ptr = NULL;
  lu->to = r->A_idx = NULL;
  return TRS_ALLOC_ALL(TRS_ZEROS(&lu->from_ptr, A->nrows + 2), TRS_ROOM(&lu->from, A->nnz),
                       TRS_ROOM(&lu->to, A->nnz), TRS_ROOM(&r->A_ptr, A->nvectors + 1),
                       TRS_ROOM(&r->A_idx, A->nnz));
}

/* Sorts A's entries by the rows of L U; row[i] and column[j] are the places of A's. */
static void place_entries(trs_lu *lu, const trs_matrix *A, const int32_t *row,
                          const int32_t *column) {
  const bool by_rows = A->format == TRS_CSR;
  for (int pass = 0; pass < 2; pass++) {
    for (int64_t v = 0; v < A->nvectors; v++)
      for (int64_t p = A->ptr[v]; p < A->ptr[v + 1]; p++) {
        const int64_t i = row[by_rows ? v : A->idx[p]], j = column[by_rows ? A->idx[p] : v];
        if (pass == 0) {
          lu->from_ptr[i + 2]++;
          continue;
        }
        const int64_t at = lu->from_ptr[i + 1]++;
        lu->from[at] = p;
        lu->to[at] = (int32_t)j;
      }
    if (pass == 0)
      for (int64_t i = 0; i < lu->n; i++) lu->from_ptr[i + 2] += lu->from_ptr[i + 1];
  }
}

static trs_status check_inside(const trs_lu *lu, const trs_factors *F) {
  int32_t *mark;
  TRS_TRY(TRS_ALLOC(&mark, lu->n));
  memset(mark, 0xff, (size_t)lu->n * sizeof *mark);
  trs_status status = TRS_SUCCESS;
  for (int64_t i = 0; !status && i < lu->n; i++) {
    mark_row(mark, lu, i);
    for (int64_t q = lu->from_ptr[i]; !status && q < lu->from_ptr[i + 1]; q++)
      if (mark[lu->to[q]] != i)
        status = trs_fail(TRS_ERROR_STRUCTURE, row_of(F, i),
                          "the matrix has entry (%lld, %lld) (0-based), which is not in the "
                          "pattern of the factors: factor it anew",
                          (long long)row_of(F, i), (long long)column_of(F, lu->to[q]));
  }
  trs_free(mark);
  return status;
}

static trs_status take_pattern(trs_refactoring *r, const trs_factors *F, const trs_matrix *A) {
  int32_t *row = NULL, *column = NULL;
  if (same_pattern(r, A)) {
    r->number = A->number;
    return TRS_SUCCESS;
  }
  r->number = 0;
  trs_status status = reserve_pattern(r, A);
  if (!status) status = invert(&row, F->row_perm, F->n);
  if (!status) status = invert(&column, F->col_perm, F->n);
  if (!status) place_entries(&r->lu, A, row, column);
  TRS_FREE_ALL(row, column);
  if (!status) status = check_inside(&r->lu, F);
  TRS_TRY(status);
  memcpy(r->A_ptr, A->ptr, (size_t)(A->nvectors + 1) * sizeof *A->ptr);
  if (A->nnz) memcpy(r->A_idx, A->idx, (size_t)A->nnz * sizeof *A->idx);
  r->format = A->format;
  r->nnz = A->nnz;
  r->number = A->number;
  return TRS_SUCCESS;
}

/* ---- Threads ---- */

typedef struct dealing {
  int32_t *parent, *owner; /* owner: a member, or `members` for all */
  int64_t *weight;         /* of subtrees */
  trs_portion *part;
} dealing;

/* Deals subtrees of at most a part's work, the largest first, each to the member with the least. */
static void deal(dealing *d, const trs_refactoring *r, double *load, int members) {
  const int64_t n = r->lu.n, most = r->total / ((int64_t)PARTS * members);
  int64_t parts = 0;
  memset(d->parent, 0xff, (size_t)n * sizeof *d->parent);
  memset(d->owner, 0xff, (size_t)n * sizeof *d->owner); /* the ancestors, until it is known */
  for (int64_t i = 0; i < n; i++)
    for (int64_t p = trs_lu_begin(&r->lu.L, i); p < r->lu.L.end[i]; p++)
      trs_etree_link(d->parent, d->owner, r->lu.L.idx[p], (int32_t)i);
  memcpy(d->weight, r->work, (size_t)n * sizeof *d->weight);
  for (int64_t i = 0; i < n; i++)
    if (d->parent[i] >= 0) d->weight[d->parent[i]] += d->weight[i];
  for (int64_t i = 0; i < n; i++) {
    d->owner[i] = members;
    const bool root = d->parent[i] < 0 || d->weight[d->parent[i]] > most;
    if (root && d->weight[i] <= most)
      d->part[parts++] = (trs_portion){(double)d->weight[i], (int32_t)i};
  }
  trs_deal_longest_first(d->owner, load, members, d->part, parts);
  for (int64_t i = n - 1; i >= 0; i--)
    if (d->weight[i] <= most && d->parent[i] >= 0 && d->weight[d->parent[i]] <= most)
      d->owner[i] = d->owner[d->parent[i]];
}

/* How the shared rows are taken. */
static void choose(trs_refactoring *r, const double *load, int members) {
  double most = 0, shared = (double)r->total;
  for (int m = 0; m < members; m++) {
    most = load[m] > most ? load[m] : most;
    shared -= load[m];
  }
  r->in_turn = shared < SHARED_WORK * (double)(r->list_ptr[members + 1] - r->list_ptr[members]);
  r->alone = r->in_turn && 7 * (double)r->total < 8 * (most + shared);
}

static trs_status schedule(trs_refactoring *r, int members) {
  const int64_t n = r->lu.n;
  dealing d = {0};
  double *load = NULL;
  if (members == 1 || members == r->scheduled) return TRS_SUCCESS;
  r->scheduled = 0;
  TRS_FREE_ALL(r->list, r->list_ptr, r->done);
  r->list = NULL;
  r->list_ptr = NULL;
  r->done = NULL;
  trs_status status =
      TRS_ALLOC_ALL(TRS_ZEROS(&r->done, n), TRS_ROOM(&d.parent, n), TRS_ROOM(&d.owner, n),
                    TRS_ROOM(&d.weight, n), TRS_ROOM(&d.part, n), TRS_ZEROS(&load, members));
  if (!status) {
    deal(&d, r, load, members);
    status = trs_transpose_pattern(&r->list_ptr, &r->list, NULL, members + 1, n, NULL, d.owner);
  }
  if (!status) {
    choose(r, load, members);
    r->scheduled = members;
    r->round = 0;
  }
  TRS_FREE_ALL(d.parent, d.owner, d.weight, d.part, load);
  return status;
}

static trs_status grow_members(trs_refactoring *r, int members) {
  if (members <= r->members) return TRS_SUCCESS;
  TRS_TRY(trs_realloc((void **)&r->space, members, sizeof *r->space));
  TRS_TRY(trs_realloc((void **)&r->member, members, sizeof *r->member));
  while (r->members < members) {
    void *space;
    TRS_TRY(trs_alloc_zero(&space, TRS_LU_RUN * r->lu.n, trs_scalar_size(r->scalar)));
    r->space[r->members++] = space;
  }
  return TRS_SUCCESS;
}

static const trs_lu_kernels *kernels_now(void) { return TRS_ISA_OF(trs_lu_kernels, trs_isa_now()); }

static void body(void *argument, int rank, int size) {
  trs_refactoring *r = argument;
  trs_lu_member *m = &r->member[rank];
  trs_lu_rows rows = {.nown = r->lu.n, .cancel = trs_cancel_flag()};
  if (size > 1) {
    const int64_t *ptr = r->list_ptr;
    rows = (trs_lu_rows){.nown = ptr[rank + 1] - ptr[rank],
                         .nshared = ptr[size + 1] - ptr[size],
                         .own = r->list + ptr[rank],
                         .shared = r->list + ptr[size],
                         .done = r->in_turn ? NULL : r->done,
                         .round = r->round,
                         .cancel = trs_cancel_flag()};
  }
  kernels_now()->own[r->scalar](&r->lu, &rows, m);
  if (size == 1) return;
  if (!r->in_turn) {
    kernels_now()->shared[r->scalar](&r->lu, &rows, m, &r->ticket);
  } else if (atomic_fetch_add_explicit(&r->arrived, 1, memory_order_acq_rel) == size - 1) {
    rows.own = rows.shared;
    rows.nown = rows.nshared;
    kernels_now()->own[r->scalar](&r->lu, &rows, m);
  }
}

/* ---- The call ---- */

static trs_status fault(const trs_factors *F, int64_t i, trs_status why) {
  const int64_t row = row_of(F, i);
  if (why == TRS_ERROR_ZERO_PIVOT)
    return trs_fail(why, row,
                    "the pivot of row %lld (0-based) is zero with the new values: factor the "
                    "matrix anew, which chooses pivots",
                    (long long)row);
  return trs_fail(why, row,
                  "row %lld (0-based) of the new factors has a value, or a pivot's reciprocal, "
                  "that is NaN or infinite: the matrix has one, or its pivots no longer suit it; "
                  "factor it anew",
                  (long long)row);
}

static trs_status judge(trs_pivots *pivots, const trs_factors *F, int members) {
  const trs_refactoring *r = F->refactoring;
  trs_lu_member all = r->member[0];
  for (int k = 1; k < members; k++) {
    const trs_lu_member *m = &r->member[k];
    if (m->fault < all.fault) {
      all.fault = m->fault;
      all.why = m->why;
    }
    if (m->most > all.most || (m->most == all.most && m->most_at < all.most_at)) {
      all.most = m->most;
      all.most_at = m->most_at;
    }
  }
  if (all.fault < F->n) return fault(F, all.fault, all.why);
  pivots->row = all.most > 0 ? row_of(F, all.most_at) : -1;
  pivots->least_share = all.most > 1 ? 1 / sqrt(all.most) : 1;
  return TRS_SUCCESS;
}

static void give_back(const trs_lu_side *side, const trs_matrix *T) {
  if (side->place) trs_values_gather(T->val, side->val, side->place, T->nnz, T->scalar);
}

static trs_status eliminate(trs_factors *F, trs_pivots *pivots, trs_team *team) {
  trs_refactoring *r = F->refactoring;
  const int64_t worth = r->total / THREAD_WORK;
  int members = trs_team_size(team);
  if (members > worth) members = worth < 1 ? 1 : (int)worth;
  TRS_TRY(grow_members(r, members));
  TRS_TRY(schedule(r, members));
  if (members > 1 && r->alone) members = 1;
  for (int k = 0; k < members; k++)
    r->member[k] = (trs_lu_member){.x = r->space[k], .most_at = F->n, .fault = F->n};
  if (members > 1 && ++r->round == 0) {
    memset((void *)r->done, 0, (size_t)F->n * sizeof *r->done);
    r->round = 1;
  }
  atomic_store(&r->ticket, 0);
  atomic_store(&r->arrived, 0);
  if (members == 1)
    body(r, 0, 1);
  else
    trs_team_run(team, members, body, r);
  TRS_TRY(trs_cancelled());
  TRS_TRY(judge(pivots, F, members));
  give_back(&r->lu.L, F->L);
  give_back(&r->lu.U, F->U);
  return TRS_SUCCESS;
}

/* The rows of B, which are those of L U. */
static trs_status take_rows(trs_lu *lu, const trs_matrix *B) {
  TRS_TRY(TRS_ALLOC(&lu->from, B->nnz));
  lu->from_ptr = B->ptr;
  lu->to = B->idx;
  for (int64_t p = 0; p < B->nnz; p++) lu->from[p] = p;
  lu->val = B->val;
  return TRS_SUCCESS;
}

static void give_rows(trs_lu *lu) {
  trs_free(lu->from);
  lu->from_ptr = lu->from = NULL;
  lu->to = NULL;
}

static trs_status factor_first(trs_refactoring *r, const trs_matrix *B, double largest,
                               bool *stopped) {
  TRS_TRY(grow_members(r, 1));
  TRS_TRY(take_rows(&r->lu, B));
  r->lu.largest = largest * largest;
  r->member[0] = (trs_lu_member){.x = r->space[0], .most_at = B->nrows, .fault = B->nrows};
  body(r, 0, 1);
  give_rows(&r->lu);
  r->lu.largest = INFINITY;
  *stopped = r->member[0].fault < B->nrows || r->member[0].most > largest * largest;
  return trs_cancelled();
}

trs_status trs_refactoring_first(trs_factors *parts, const trs_matrix *B, double largest,
                                 bool *stopped) {
  trs_factors in_order = {.n = B->nrows,
                          .scalar = B->scalar,
                          .L = parts->L,
                          .U = parts->U,
                          .diag_L = TRS_UNIT,
                          .diag_U = TRS_NONUNIT,
                          .row_scale = parts->row_scale,
                          .col_scale = parts->col_scale};
  *stopped = true;
  TRS_TRY(make(&in_order));
  const trs_status status = factor_first(in_order.refactoring, B, largest, stopped);
  if (status || *stopped)
    trs_refactoring_destroy(in_order.refactoring);
  else
    parts->refactoring = in_order.refactoring;
  return status;
}

/* Factors of the caller's L and U get values of their own. */
static trs_status own_values(trs_factors *F) {
  trs_matrix *L, *U;
  if (!F->lent) return TRS_SUCCESS;
  TRS_TRY(trs_matrix_convert(&L, F->L, F->L->format, F->scalar));
  trs_status status = trs_matrix_convert(&U, F->U, F->U->format, F->scalar);
  if (status) {
    trs_matrix_destroy(L);
    return status;
  }
  trs_matrix_destroy(F->L);
  trs_matrix_destroy(F->U);
  F->L = L;
  F->U = U;
  F->lent = false;
  return TRS_SUCCESS;
}

static bool is_incomplete(const trs_factors *F) {
  return F->kind == TRS_FACTOR_ILU0 || F->kind == TRS_FACTOR_IC0;
}

trs_status trs_refactor_kind_check(const trs_factors *F) {
  if (F->kind != TRS_FACTOR_LU && !is_incomplete(F))
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "factors of the kind %s are not refactored, those of LU, ILU0 and IC0 are: "
                    "factor the matrix anew",
                    trs_factor_name(F->kind, 0));
  if (!is_incomplete(F) && (F->diag_L == TRS_UNIT) == (F->diag_U == TRS_UNIT))
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "%s L and U has a unit diagonal: refactorisation needs one diagonal of ones "
                    "and one of pivots",
                    F->diag_L == TRS_UNIT ? "each of" : "neither of");
  return TRS_SUCCESS;
}

static trs_status check(const trs_factors *F, const trs_matrix *A) {
  if (!A) return trs_fail(TRS_ERROR_ARGUMENT, -1, "A is NULL");
  if (!is_incomplete(F)) TRS_TRY(trs_matrix_need_host(F->L, "trs_factors_refactor"));
  if (!is_incomplete(F) || !A->on_device) TRS_TRY(trs_matrix_need_host(A, "trs_factors_refactor"));
  if (A->nrows != F->n || A->ncols != F->n)
    return trs_fail(TRS_ERROR_ARGUMENT, -1,
                    "the matrix is %lld x %lld, but the factors have %lld rows",
                    (long long)A->nrows, (long long)A->ncols, (long long)F->n);
  if (A->scalar != F->scalar)
    return trs_fail(TRS_ERROR_ARGUMENT, -1,
                    "the matrix has scalar type %c, the factors have %c; trs_matrix_convert makes "
                    "them agree",
                    trs_scalar_letter(A->scalar), trs_scalar_letter(F->scalar));
  return TRS_SUCCESS;
}

trs_status trs_refactor_run(trs_factors *F, trs_pivots *pivots, trs_context *ctx,
                            const trs_matrix *A) {
  TRS_TRY(check(F, A));
  if (ctx) TRS_TRY(trs_context_check(ctx));
  if (is_incomplete(F)) {
    if (ctx && A->on_device) trs_context_limit_gpus(ctx);
    return trs_incomplete_refactor(F, A);
  }
  TRS_TRY(own_values(F));
  TRS_TRY(make_checked(F));
  TRS_TRY(take_pattern(F->refactoring, F, A));
  F->refactoring->lu.val = A->val;
  return eliminate(F, pivots, ctx ? ctx->team : NULL);
}
