/* factors.c - stores L, U, permutations, scalings and the separator tree, and checks its input. O(n
 * + nnz). */
#include "factor/factors.h"

#include <math.h>
#include <string.h>

#include "base/structs.h"
#include "factor/bilu0.h"
#include "factor/incomplete.h"

static trs_status check_triangle(const trs_matrix *T, const char *name, bool lower) {
  if (!T) return trs_fail(TRS_ERROR_ARGUMENT, -1, "%s is NULL", name);
  if (!T->on_device && !trs_bilu0_of(T)) TRS_TRY(trs_matrix_need_host(T, "trs_factors_create"));
  if (T->nrows != T->ncols)
    return trs_fail(TRS_ERROR_STRUCTURE, -1, "%s is %lld x %lld, not square", name,
                    (long long)T->nrows, (long long)T->ncols);
  int64_t vector = lower ? T->first_upper : T->first_lower;
  if (vector >= 0)
    return trs_fail(TRS_ERROR_STRUCTURE, T->format == TRS_CSR ? vector : -1,
                    "%s is not %s triangular: %s %lld (0-based) has an entry %s the diagonal; "
                    "trs_matrix_triangle extracts the triangle",
                    name, lower ? "lower" : "upper", T->format == TRS_CSR ? "row" : "column",
                    (long long)vector, lower ? "above" : "below");
  return TRS_SUCCESS;
}

static trs_status check_matrices(const trs_factors *f) {
  TRS_TRY(check_triangle(f->L, "L", true));
  TRS_TRY(check_triangle(f->U, "U", false));
  if (f->L->device != f->U->device)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "L and U lie in different memories: both must be on the host or on one GPU");
  if (f->L->nrows != f->U->nrows)
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "L has %lld rows, U has %lld", (long long)f->L->nrows,
                    (long long)f->U->nrows);
  if (f->L->scalar != f->U->scalar)
    return trs_fail(TRS_ERROR_ARGUMENT, -1,
                    "L has scalar type %c, U has %c; trs_matrix_convert makes them agree",
                    trs_scalar_letter(f->L->scalar), trs_scalar_letter(f->U->scalar));
  return TRS_SUCCESS;
}

static trs_status check_enums(const trs_factors *f) {
  if ((unsigned)f->kind > TRS_FACTOR_DILU || f->order <= TRS_ORDER_DEFAULT ||
      f->order > TRS_ORDER_COLAMD)
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "kind %d or order %d is not one of the public ones",
                    f->kind, f->order);
  if ((unsigned)f->diag_L > TRS_UNIT || (unsigned)f->diag_U > TRS_UNIT)
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "diag_L and diag_U must be TRS_UNIT or TRS_NONUNIT");
  return TRS_SUCCESS;
}

trs_status trs_scaling_check(const double *scale, int64_t n, const char *name) {
  for (int64_t i = 0; scale && i < n; i++)
    if (!isfinite(scale[i]) || scale[i] == 0)
      return trs_fail(TRS_ERROR_ARGUMENT, i, "%s[%lld] is %g; scalings must be finite and not zero",
                      name, (long long)i, scale[i]);
  return TRS_SUCCESS;
}

/* Fails unless ptr[count + 1] partitions 0 .. n into count ranges, possibly empty. */
static trs_status check_partition(const int64_t *ptr, int64_t count, int64_t n, const char *name) {
  if (count < 0 || (count > 0) != (ptr != NULL))
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "%s contradicts a count of %lld", name,
                    (long long)count);
  if (!ptr) return TRS_SUCCESS;
  if (ptr[0] != 0 || ptr[count] != n)
    return trs_fail(TRS_ERROR_STRUCTURE, -1, "%s runs from %lld to %lld, not from 0 to %lld", name,
                    (long long)ptr[0], (long long)ptr[count], (long long)n);
  for (int64_t k = 0; k < count; k++)
    if (ptr[k + 1] < ptr[k])
      return trs_fail(TRS_ERROR_STRUCTURE, -1, "%s[%lld] = %lld is less than the one before it",
                      name, (long long)k + 1, (long long)ptr[k + 1]);
  return TRS_SUCCESS;
}

/* first[t]: the first node of the subtree under t, computed from the parents of a postordered
 * forest.  The forest is postordered if the subtrees of each node's children, taken from the last
 * child, adjoin. */
static trs_status find_subtrees(const int32_t *parent, int64_t nodes, int32_t *first) {
  for (int64_t t = 0; t < nodes; t++) first[t] = (int32_t)t;
  for (int64_t t = 0; t < nodes; t++) {
    if (parent[t] == -1) continue;
    if (parent[t] <= t || parent[t] >= nodes)
      return trs_fail(
          TRS_ERROR_STRUCTURE, -1,
          "the separator tree's node %lld has parent %d (0-based); children come before parents",
          (long long)t, parent[t]);
    if (first[t] < first[parent[t]]) first[parent[t]] = first[t];
  }
  for (int64_t t = 0; t < nodes; t++)
    for (int64_t child = t - 1; child >= first[t]; child = first[child] - 1)
      if (parent[child] != t)
        return trs_fail(TRS_ERROR_STRUCTURE, -1,
                        "the separator tree is not postordered: node %lld lies in the subtree of "
                        "node %lld but its parent is %d (0-based)",
                        (long long)child, (long long)t, parent[child]);
  return TRS_SUCCESS;
}

/* Every entry of T must couple a column to itself or to an ancestor of its node: the smaller index
 * lies in the subtree under the node of the larger one. */
static trs_status check_coupling(const trs_matrix *T, const char *name, const int64_t *subtree) {
  TRS_TRY(trs_matrix_fill(T));
  for (int64_t i = 0; i < T->nvectors; i++)
    for (int64_t p = T->ptr[i]; p < T->ptr[i + 1]; p++) {
      int64_t high = i > T->idx[p] ? i : T->idx[p], low = i > T->idx[p] ? T->idx[p] : i;
      if (low < subtree[high])
        return trs_fail(
            TRS_ERROR_STRUCTURE, -1,
            "an entry of %s couples columns %lld and %lld (0-based), which lie in different "
            "subtrees of the separator tree",
            name, (long long)low, (long long)high);
    }
  return TRS_SUCCESS;
}

/* subtree[j]: the first column of the subtree under column j's node. */
static void spread(int64_t *subtree, const trs_factors *f, const int32_t *first) {
  for (int64_t t = 0; t < f->tree_nodes; t++)
    for (int64_t j = f->tree_ptr[t]; j < f->tree_ptr[t + 1]; j++)
      subtree[j] = f->tree_ptr[first[t]];
}

static trs_status check_tree(const trs_factors *f, int64_t n) {
  TRS_TRY(check_partition(f->tree_ptr, f->tree_nodes, n, "tree_ptr"));
  if ((f->tree_nodes > 0) != (f->tree_parent != NULL) || f->tree_nodes > INT32_MAX)
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "tree_parent contradicts %lld tree nodes",
                    (long long)f->tree_nodes);
  if (!f->tree_nodes) return TRS_SUCCESS;
  int32_t *first = NULL;
  int64_t *subtree = NULL;
  trs_status status = TRS_ALLOC_ALL(TRS_ROOM(&first, f->tree_nodes), TRS_ROOM(&subtree, n));
  if (!status) status = find_subtrees(f->tree_parent, f->tree_nodes, first);
  if (!status) spread(subtree, f, first);
  if (!status) status = check_coupling(f->L, "L", subtree);
  if (!status) status = check_coupling(f->U, "U", subtree);
  TRS_FREE_ALL(first, subtree);
  return status;
}

trs_status trs_factors_check_parts(const trs_factors *f) {
  TRS_TRY(check_enums(f));
  TRS_TRY(check_matrices(f));
  int64_t n = f->L->nrows;
  if (f->row_perm) TRS_TRY(trs_permutation_check(f->row_perm, n, "row_perm"));
  if (f->col_perm) TRS_TRY(trs_permutation_check(f->col_perm, n, "col_perm"));
  TRS_TRY(trs_scaling_check(f->row_scale, n, "row_scale"));
  TRS_TRY(trs_scaling_check(f->col_scale, n, "col_scale"));
  TRS_TRY(check_partition(f->supernode_ptr, f->nsupernodes, n, "supernode_ptr"));
  return check_tree(f, n);
}

void trs_factors_release_parts(const trs_factors *parts) {
  trs_refactoring_destroy(parts->refactoring);
  trs_matrix_destroy(parts->L);
  trs_matrix_destroy(parts->U);
  TRS_FREE_ALL(parts->row_perm, parts->col_perm, parts->row_scale, parts->col_scale,
               parts->supernode_ptr, parts->tree_ptr, parts->tree_parent, parts->inside);
}

trs_status trs_factors_adopt(trs_factors **F, const trs_factors *parts) {
  *F = NULL;
  trs_factors *made = NULL;
  trs_status status = parts->is_checked ? TRS_SUCCESS : trs_factors_check_parts(parts);
  if (!status) status = TRS_ALLOC_ZERO(&made, 1);
  if (status) {
    trs_factors_release_parts(parts);
    return status;
  }
  *made = *parts;
  atomic_init(&made->references, 1);
  made->scalar = parts->L->scalar;
  made->n = parts->L->nrows;
  *F = made;
  return TRS_SUCCESS;
}

static trs_status duplicate(void **copy, const void *from, int64_t n, size_t size) {
  *copy = NULL;
  if (!from) return TRS_SUCCESS;
  TRS_TRY(trs_alloc(copy, n, size));
  memcpy(*copy, from, (size_t)n * size);
  return TRS_SUCCESS;
}

/* The two triangles of one matrix that holds both factors. */
static trs_status split(trs_factors *parts, const trs_matrix *M) {
  bool crout = parts->diag_U == TRS_UNIT && parts->diag_L == TRS_NONUNIT;
  if (!crout) parts->diag_L = TRS_UNIT;
  TRS_TRY(trs_matrix_cut(&parts->L, M, TRS_LOWER));
  return trs_matrix_cut(&parts->U, M, TRS_UPPER);
}

static trs_status take_matrices(trs_factors *parts, const trs_matrix *L, const trs_matrix *U) {
  if (L && L == U) return split(parts, L);
  const trs_factors given = {.L = (trs_matrix *)L, .U = (trs_matrix *)U};
  TRS_TRY(check_matrices(&given));
  parts->L = trs_matrix_retain(L);
  parts->U = trs_matrix_retain(U);
  return TRS_SUCCESS;
}

trs_status trs_factors_create(trs_factors **F, const trs_matrix *L, trs_diag diag_L,
                              const trs_matrix *U, trs_diag diag_U, const int32_t *row_perm,
                              const int32_t *col_perm, const double *row_scale,
                              const double *col_scale) {
  if (!F) return trs_fail(TRS_ERROR_ARGUMENT, -1, "F is NULL");
  *F = NULL;
  trs_factors parts = {.kind = TRS_FACTOR_LU,
                       .order = TRS_ORDER_NATURAL,
                       .lent = true,
                       .diag_L = diag_L,
                       .diag_U = diag_U};
  trs_status status = check_enums(&parts);
  if (!status) status = take_matrices(&parts, L, U);
  int64_t n = status ? 0 : parts.L->nrows;
  if (!status) status = duplicate((void **)&parts.row_perm, row_perm, n, sizeof *row_perm);
  if (!status) status = duplicate((void **)&parts.col_perm, col_perm, n, sizeof *col_perm);
  if (!status) status = duplicate((void **)&parts.row_scale, row_scale, n, sizeof *row_scale);
  if (!status) status = duplicate((void **)&parts.col_scale, col_scale, n, sizeof *col_scale);
  if (status) {
    trs_factors_release_parts(&parts);
    return status;
  }
  return trs_factors_adopt(F, &parts);
}

trs_status trs_factors_need_host(const trs_factors *F, const char *what) {
  TRS_TRY(trs_factors_check(F));
  TRS_TRY(trs_matrix_need_host(F->L, what));
  return trs_matrix_need_host(F->U, what);
}

trs_factors *trs_factors_retain(const trs_factors *F) {
  trs_factors *shared = (trs_factors *)F;
  atomic_fetch_add(&shared->references, 1);
  return shared;
}

void trs_factors_destroy(trs_factors *F) {
  if (!F || atomic_fetch_sub(&F->references, 1) > 1) return;
  trs_incomplete_gpu_destroy(F->gpu);
  trs_matrix_destroy(F->L_here);
  trs_matrix_destroy(F->U_here);
  trs_factors_release_parts(F);
  trs_free(F);
}

trs_status trs_factors_get_info(const trs_factors *F, trs_factors_info *info) {
  if (!F || !info) return trs_fail(TRS_ERROR_ARGUMENT, -1, "%s is NULL", F ? "info" : "F");
  const trs_factors_info own = {.kind = F->kind,
                                .order = F->order,
                                .scalar = F->scalar,
                                .block_size = F->L->block ? F->L->block : 1,
                                .shift = F->shift,
                                .levels = F->levels,
                                .choice = F->choice,
                                .n = F->n,
                                .nnz_L = F->L->nnz,
                                .nnz_U = F->U->nnz,
                                .diag_L = F->diag_L,
                                .diag_U = F->diag_U,
                                .nsupernodes = F->nsupernodes,
                                .tree_nodes = F->tree_nodes,
                                .L = F->L,
                                .U = F->U,
                                .row_perm = F->row_perm,
                                .col_perm = F->col_perm,
                                .row_scale = F->row_scale,
                                .col_scale = F->col_scale,
                                .supernode_ptr = F->supernode_ptr,
                                .tree_ptr = F->tree_ptr,
                                .tree_parent = F->tree_parent};
  return TRS_STRUCT_GIVE(trs_factors_info, info, &own);
}
