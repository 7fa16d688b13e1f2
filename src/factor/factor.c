/* factor.c - trs_factor: orders the matrix, then factors it in that order. */
#include "factor/choose.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/config.h"
#include "base/options.h"
#include "base/structs.h"
#include "base/text.h"
#include "base/teller.h"
#include "matrix/blocks.h"
#include "matrix/values.h"
#include "order/order.h"

static const struct {
  const char *name;
  trs_order order; /* TRS_ORDER_DEFAULT */
  trs_status (*run)(trs_factors *parts, const trs_factor_input *input);
} kinds[] = {
    [TRS_FACTOR_LU] = {"LU", TRS_ORDER_ND, trs_factor_lu},
    [TRS_FACTOR_ILU0] = {"ILU(0)", TRS_ORDER_NATURAL, trs_factor_ilu0},
    [TRS_FACTOR_IC0] = {"IC(0)", TRS_ORDER_NATURAL, trs_factor_ic0},
    [TRS_FACTOR_TRIANGLE] = {"triangle", TRS_ORDER_NATURAL, trs_factor_triangle},
    [TRS_FACTOR_BILU0] = {"block ILU(0)", TRS_ORDER_NATURAL, trs_factor_blocks},
    [TRS_FACTOR_BIC0] = {"block IC(0)", TRS_ORDER_NATURAL, trs_factor_blocks},
    [TRS_FACTOR_DILU] = {"DILU", TRS_ORDER_NATURAL, trs_factor_blocks},
};

const char *trs_factor_name(trs_factor_kind kind, int levels) {
  if (levels) return kind == TRS_FACTOR_IC0 ? "IC(k)" : "ILU(k)";
  return kinds[kind].name;
}

static bool is_incomplete(trs_factor_kind kind) {
  return kind == TRS_FACTOR_ILU0 || kind == TRS_FACTOR_IC0;
}

static bool is_cholesky(trs_factor_kind kind) {
  return kind == TRS_FACTOR_IC0 || kind == TRS_FACTOR_BIC0;
}

/* Sets the block size that the caller left open: that of A, or 1 for other than block kinds. */
static trs_status complete_block(trs_factor_options *options, const trs_matrix *A) {
  const bool blocks = options->kind >= TRS_FACTOR_BILU0;
  if (!blocks && options->block_size)
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "block_size is for BILU0, BIC0 and DILU");
  if (blocks && trs_scalar_is_complex(A->scalar))
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1, "%s: the matrix is complex, and blocks are real",
                    trs_factor_name(options->kind, 0));
  if (!options->block_size) options->block_size = blocks && A->block ? A->block : 1;
  if (options->block_size < 1 || options->block_size > TRS_RELAX_MOST_BLOCK ||
      A->nrows % options->block_size)
    return trs_fail(TRS_ERROR_ARGUMENT, -1,
                    "block_size %d: 1 to %d that divides the %lld rows is wanted",
                    options->block_size, TRS_RELAX_MOST_BLOCK, (long long)A->nrows);
  return TRS_SUCCESS;
}

static trs_status check_options(const trs_factor_options *o) {
  const trs_option numbers[] = {{"kind", (int)o->kind, 0, TRS_FACTOR_DILU},
                                {"order", (int)o->order, 0, TRS_ORDER_COLAMD},
                                {"tree_leaves", o->tree_leaves, 0, TRS_MAX_LEAVES},
                                {"no_equilibration", o->no_equilibration, 0, 1},
                                {"add_diagonal", o->add_diagonal, 0, 1},
                                {"block_size", o->block_size, 0, TRS_RELAX_MOST_BLOCK},
                                {"uplo", (int)o->uplo, 0, TRS_UPPER},
                                {"levels", o->levels, 0, INT_MAX}};
  TRS_TRY(trs_options_check("trs_factor_options", numbers, sizeof numbers / sizeof *numbers));
  if (o->tree_leaves & (o->tree_leaves - 1))
    return trs_fail(TRS_ERROR_ARGUMENT, -1,
                    "tree_leaves is %d: in a trs_factor_options it must be a power of two",
                    o->tree_leaves);
  TRS_TRY(trs_option_check_real("trs_factor_options", "shift", o->shift, 0, 1));
  if (o->levels && !is_incomplete(o->kind))
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "levels is for ILU0 and IC0");
  if (o->order == TRS_ORDER_COLAMD && o->kind != TRS_FACTOR_LU)
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "order COLAMD is for LU");
  if ((o->uplo || o->shift > 0) && !is_cholesky(o->kind))
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "%s is for IC0 and BIC0", o->uplo ? "uplo" : "shift");
  return trs_option_check_real("trs_factor_options", "pivot_threshold", o->pivot_threshold, 0, 1);
}

static trs_status check(const trs_matrix *A) {
  if (!A) return trs_fail(TRS_ERROR_ARGUMENT, -1, "A is NULL");
  if (A->nrows != A->ncols)
    return trs_fail(TRS_ERROR_STRUCTURE, -1, "the matrix is %lld x %lld, not square",
                    (long long)A->nrows, (long long)A->ncols);
  return TRS_SUCCESS;
}

/* Whether the entries of A are not needed. */
static bool takes_blocks(const trs_matrix *A, const trs_factor_options *o) {
  const bool kind = o->kind == TRS_FACTOR_BILU0 || o->kind == TRS_FACTOR_DILU;
  return kind && !o->add_diagonal && trs_matrix_has_blocks(A, o->block_size);
}

static void take(trs_matrix **A, trs_matrix *made) {
  trs_matrix_destroy(*A);
  *A = made;
}

static trs_status complete(trs_matrix **A, const trs_factor_options *options) {
  trs_matrix *made;
  if (options->uplo) {
    TRS_TRY(trs_factor_mirror(&made, *A, options->uplo));
    take(A, made);
  }
  if (options->add_diagonal) {
    TRS_TRY(trs_add_diagonal(&made, *A));
    take(A, made);
  }
  return TRS_SUCCESS;
}

/* A by rows, with its mirror and its diagonal filled in on request; a reference to A itself if
 * nothing has to be done. */
static trs_status prepare(trs_matrix **ready, const trs_matrix *A,
                          const trs_factor_options *options) {
  *ready = NULL;
  if (A->format == TRS_CSR) {
    *ready = trs_matrix_retain(A);
  } else {
    TRS_TRY(trs_matrix_convert(ready, A, TRS_CSR, A->scalar));
    (*ready)->turned = trs_matrix_retain(A);
  }
  trs_status status = complete(ready, options);
  if (!status) return TRS_SUCCESS;
  trs_matrix_destroy(*ready);
  *ready = NULL;
  return status;
}

/* Moves the ordering's arrays to parts, for rows where the ordering has blocks of rows; perm serves
 * rows and columns. */
static trs_status hand_over(trs_factors *parts, trs_ordering *o, int64_t n, int block) {
  int32_t *perm = o->perm;
  parts->tree_nodes = o->tree.nodes;
  parts->tree_ptr = o->tree.ptr;
  parts->tree_parent = o->tree.parent;
  for (int64_t t = 0; o->tree.nodes && t <= o->tree.nodes; t++) parts->tree_ptr[t] *= block;
  *o = (trs_ordering){0};
  if (!perm) return TRS_SUCCESS;
  trs_status status = TRS_ALLOC_ALL(TRS_ROOM(&parts->row_perm, n), TRS_ROOM(&parts->col_perm, n));
  for (int64_t i = 0; !status && i < n; i++)
    parts->row_perm[i] = parts->col_perm[i] = perm[i / block] * block + (int32_t)(i % block);
  trs_free(perm);
  return status;
}

/* ---- Rows of LU by a matching. ---- */

static bool is_finite(const trs_matrix *A) {
  return trs_values_not_finite(A->val, A->nnz, A->scalar) == A->nnz;
}

static bool lacks_pivots(const trs_matrix *A) {
  for (int64_t i = 0; i < A->nrows; i++) {
    const int64_t p = trs_factor_diagonal(A, i);
    if (p < 0 || trs_value_abs(A->val, p, A->scalar) == 0) return true;
  }
  return false;
}

/* For complete LU of a matrix with a zero on its diagonal: exchanges rows, so that row[i] of A
 * becomes row i and none is left.  Orders look at the pattern of A + A^T and count on pivots of the
 * diagonal: without them L and U have many times the entries.  The natural order leaves all to
 * pivoting, and so does a search that is given up. */
static trs_status match_rows(trs_matching *m, trs_matrix **A, const trs_factors *parts) {
  trs_matrix *made;
  if (!is_finite(*A)) return TRS_SUCCESS;
  TRS_TRY(trs_match_rows(m, *A));
  if (!m->row) return TRS_SUCCESS;
  if (parts->order == TRS_ORDER_NATURAL) {
    trs_matching_free(m);
    return TRS_SUCCESS;
  }
  TRS_TRY(trs_matrix_permute(&made, *A, m->row, NULL));
  take(A, made);
  return trs_matrix_convert(&made->turned, made, TRS_CSC, made->scalar);
}

/* Converts the results of the matrix with exchanged rows to A's numbering. */
static trs_status unmatch_rows(trs_factors *parts, const int32_t *row, int64_t n) {
  double *scale = NULL;
  if (!row) return TRS_SUCCESS;
  if (parts->row_scale) {
    TRS_TRY(TRS_ALLOC(&scale, n));
    for (int64_t i = 0; i < n; i++) scale[row[i]] = parts->row_scale[i];
    trs_free(parts->row_scale);
    parts->row_scale = scale;
  }
  for (int64_t k = 0; k < n; k++) parts->row_perm[k] = row[parts->row_perm[k]];
  return TRS_SUCCESS;
}

/* The pattern of A's blocks as a matrix, for orderings. */
static trs_status find_block_graph(trs_matrix **G, const trs_matrix *A, int block) {
  const trs_block_source source = trs_block_source_of(A, block);
  trs_block_pattern pattern;
  void *val;
  TRS_TRY(trs_block_pattern_build(&pattern, &source, NULL));
  trs_status status = trs_alloc(&val, pattern.ptr[pattern.n], sizeof(float));
  if (status) {
    trs_block_pattern_free(&pattern);
    return status;
  }
  memset(val, 0, (size_t)pattern.ptr[pattern.n] * sizeof(float));
  return trs_matrix_adopt(G, TRS_CSR, TRS_FLOAT, pattern.n, pattern.n, pattern.ptr, pattern.idx,
                          val);
}

static trs_status order_blocks(trs_ordering *ordering, const trs_factors *parts,
                               const trs_matrix *A, const trs_factor_options *options) {
  trs_matrix *G;
  if (options->block_size == 1)
    return trs_ordering_compute(ordering, A, parts->order, options->tree_leaves);
  TRS_TRY(find_block_graph(&G, A, options->block_size));
  trs_status status = trs_ordering_compute(ordering, G, parts->order, options->tree_leaves);
  trs_matrix_destroy(G);
  return status;
}

/* *B is A in the new order, but A itself for block kinds, which permute blocks. */
static trs_status apply(trs_factors *parts, trs_matrix **B, trs_factor_input *input,
                        trs_ordering *ordering, const trs_matrix *A, int block) {
  /* COLAMD's fill is a bound, and no prediction. */
  input->fill = parts->order == TRS_ORDER_COLAMD ? 0 : ordering->fill;
  input->operations = ordering->operations;
  input->unmirrored = ordering->unmirrored;
  TRS_TRY(hand_over(parts, ordering, A->nrows, block));
  if (!parts->row_perm || parts->kind >= TRS_FACTOR_BILU0) {
    *B = trs_matrix_retain(A);
    return TRS_SUCCESS;
  }
  return trs_matrix_permute(B, A, parts->row_perm, parts->row_perm);
}

/* Incomplete factors in the natural order need no graph and therefore have none of its limits. */
static trs_status order_matrix(trs_ordering *ordering, const trs_factors *parts,
                               const trs_matrix *A, const trs_factor_options *options) {
  if (parts->order == TRS_ORDER_NATURAL && parts->kind != TRS_FACTOR_LU) return TRS_SUCCESS;
  return order_blocks(ordering, parts, A, options);
}

trs_status trs_fail_not_finite(const trs_factors *parts, int64_t i) {
  if (parts->row_perm) i = parts->row_perm[i];
  return trs_fail(TRS_ERROR_NOT_FINITE, i,
                  "the factors have a value that is NaN or infinite in row %lld (0-based): the "
                  "matrix has one, or its elimination overflowed; scale rows and columns",
                  (long long)i);
}

/* Elimination divides by pivots of any size, and incomplete kinds look at no other value. */
static trs_status check_finite(const trs_matrix *T, const trs_factors *parts) {
  const int64_t p = trs_values_not_finite(T->val, T->nnz, T->scalar);
  return p == T->nnz ? TRS_SUCCESS : trs_fail_not_finite(parts, trs_matrix_vector_of(T, p));
}

/* As Smith's quotient divides, and as an analysis judges (analysis/pivot_tmpl.c). */
static bool has_reciprocal(double complex d, trs_scalar scalar) {
  const double re = fabs(creal(d)), im = fabs(cimag(d)), large = fmax(re, im), small = fmin(re, im);
  const double sum = large + small * (small / large);
  if (trs_scalar_is_double(scalar)) return isfinite(sum) && isfinite(1 / sum);
  return isfinite((float)sum) && isfinite(1 / (float)sum);
}

/* Solves would refuse such a factor. */
static trs_status check_pivots(const trs_matrix *T, trs_diag diag, const trs_factors *parts) {
  for (int64_t i = 0; diag == TRS_NONUNIT && i < T->nrows; i++) {
    const int64_t p = trs_factor_diagonal(T, i);
    if (p < 0) continue;
    const double complex d = trs_value_get(T->val, p, T->scalar);
    if (d == 0 || has_reciprocal(d, T->scalar)) continue;
    const int64_t row = parts->row_perm ? parts->row_perm[i] : i;
    return trs_fail(TRS_ERROR_NOT_FINITE, row,
                    "the pivot of row %lld (0-based), %.3g, is too small, or too large, for its "
                    "reciprocal: scale rows and columns",
                    (long long)row, cabs(d));
  }
  return TRS_SUCCESS;
}

trs_status trs_factor_check_values(const trs_factors *F) {
  TRS_TRY(check_finite(F->L, F));
  TRS_TRY(check_finite(F->U, F));
  TRS_TRY(check_pivots(F->L, F->diag_L, F));
  return check_pivots(F->U, F->diag_U, F);
}

/* By one of the kinds, with a shift where Cholesky needs one. */
static trs_status run_kind(trs_factors *parts, const trs_factor_input *input, double shift) {
  trs_status status = kinds[parts->kind].run(parts, input);
  if (status == TRS_ERROR_ZERO_PIVOT && shift > 0)
    status = trs_factor_shift(parts, input, shift, kinds[parts->kind].run);
  return status;
}

/* Whether B, which the elimination needs symmetric, may be another. */
static bool doubts_symmetry(const trs_factors *parts) {
  return is_cholesky(parts->kind) && !parts->recipe.uplo;
}

/* Replaces B of Cholesky kinds by its symmetric part, and knows then that A, whose number it is,
 * has the pattern of the factors. */
static trs_status need_symmetry(trs_factors *parts, trs_matrix **B, uint64_t number) {
  trs_matrix *S;
  if (doubts_symmetry(parts) && (number != parts->source || !number)) {
    const int32_t *perm = parts->kind == TRS_FACTOR_IC0 ? parts->col_perm : NULL;
    TRS_TRY(trs_factor_symmetric(&S, *B, perm, trs_factor_name(parts->kind, parts->levels)));
    if (S != *B) number = 0;
    take(B, S);
  }
  parts->source = number;
  return TRS_SUCCESS;
}

/* The first row of B with entries that L and U lack or, without levels of fill, the reverse; or -1.
 */
static int64_t first_difference(const trs_factors *F, const trs_matrix *B) {
  const int64_t shared = F->kind == TRS_FACTOR_IC0;
  for (int64_t i = 0; i < F->n; i++) {
    const trs_matrix *T = F->L;
    int64_t q = T->ptr[i], entries = T->ptr[i + 1] + F->U->ptr[i + 1] - q - F->U->ptr[i] - shared;
    for (int64_t p = B->ptr[i]; p < B->ptr[i + 1]; p++) {
      if (B->idx[p] >= i && T == F->L) {
        T = F->U;
        q = T->ptr[i];
      }
      q = trs_factor_seek(T->idx, q, T->ptr[i + 1], B->idx[p]);
      if (q == T->ptr[i + 1] || T->idx[q] != B->idx[p]) return i;
    }
    if (!F->levels && entries != B->ptr[i + 1] - B->ptr[i]) return i;
  }
  return -1;
}

static trs_status check_pattern(const trs_factors *F, const trs_matrix *B) {
  const int64_t i = first_difference(F, B), row = i >= 0 && F->row_perm ? F->row_perm[i] : i;
  if (i < 0) return TRS_SUCCESS;
  return trs_fail(TRS_ERROR_STRUCTURE, row,
                  "row %lld (0-based) has other entries than in the matrix that was factored: "
                  "factor this one anew",
                  (long long)row);
}

trs_status trs_factor_again(trs_factors *F, const trs_matrix *A) {
  const trs_factor_options options = {.uplo = F->recipe.uplo,
                                      .add_diagonal = F->recipe.add_diagonal};
  const bool known = F->source == A->number;
  trs_matrix *B, *made;
  TRS_TRY(prepare(&B, A, &options));
  trs_status status = TRS_SUCCESS;
  if (F->row_perm) status = trs_matrix_permute(&made, B, F->row_perm, F->row_perm);
  if (!status && F->row_perm) take(&B, made);
  if (!status) status = need_symmetry(F, &B, A->number);
  if (!status && !known) status = check_pattern(F, B);
  const trs_factor_input input = {.B = B, .perm = F->col_perm, .block = 1};
  F->shift = 0;
  if (status)
    F->source = 0;
  else
    status = run_kind(F, &input, F->recipe.shift);
  trs_matrix_destroy(B);
  return status;
}

typedef struct factoring {
  trs_factors *parts;
  const trs_matrix *A;
  const trs_factor_options *options;
  trs_teller *teller;
} factoring;

static trs_status factor_in_order(const factoring *f, trs_factor_input *input,
                                  trs_ordering *ordering, const trs_matrix *A) {
  trs_matrix *B;
  trs_factors *parts = f->parts;
  TRS_TRY(apply(parts, &B, input, ordering, A, f->options->block_size));
  trs_teller_phase(f->teller, "ordering", 1);
  trs_teller_phase(f->teller, "factoring", 0);
  const uint64_t number = is_incomplete(parts->kind) ? f->A->number : 0;
  trs_status status = TRS_SUCCESS;
  bool done = false;
  input->B = B;
  input->perm = parts->col_perm; /* pivoting may change the order of the rows */
  if (parts->kind == TRS_FACTOR_IC0 && doubts_symmetry(parts))
    status = trs_factor_ic0_compare(parts, input, &done);
  if (done) parts->source = number;
  if (!status && !done) status = need_symmetry(parts, &B, number);
  input->B = B;
  if (!status && !done) status = run_kind(parts, input, f->options->shift);
  trs_matrix_destroy(B);
  return status;
}

/* ---- Complete LU in an order of the library's choice. ---- */

static void forget(trs_factors *parts) {
  trs_factors_release_parts(parts);
  *parts = (trs_factors){.kind = parts->kind, .recipe = parts->recipe};
}

/* Pivots are those of their diagonal blocks. */
static trs_status keep_blocks(trs_factors *parts, const int32_t *block_end, int64_t n) {
  if (!block_end) return TRS_SUCCESS;
  TRS_TRY(TRS_ALLOC(&parts->inside, n));
  for (int32_t k = 0; k < n; k++)
    parts->inside[k] = k && k < block_end[k - 1] ? parts->inside[k - 1] : k;
  return TRS_SUCCESS;
}

static trs_status attempt(const factoring *f, trs_factor_input input, trs_choice *choice,
                          bool *stopped) {
  trs_attempt a;
  int32_t *block_end = NULL;
  if (choice->next != TRS_CHOICE_FIRST) input.diagonal_threshold = 0;
  trs_status status = trs_choice_next(choice, &a);
  *stopped = false;
  if (!status) {
    f->parts->order = a.order;
    memcpy(f->parts->choice, a.why, sizeof a.why);
    input.most_entries = a.most_entries;
    input.most_operations = a.most_operations;
    if (trs_choice_has_next(choice)) input.stopped = stopped;
    if (a.threshold > 0) input.pivot_threshold = a.threshold;
    input.block_end = block_end = a.ordering.block_end;
    a.ordering.block_end = NULL;
    status = factor_in_order(f, &input, &a.ordering, choice->A);
    if (!status) status = keep_blocks(f->parts, block_end, choice->A->nrows);
  }
  trs_free(block_end);
  trs_ordering_free(&a.ordering);
  return status;
}

static trs_status factor_by_choice(const factoring *f, const trs_factor_input *input,
                                   const trs_matrix *A, bool lacks) {
  trs_choice choice = {.A = A,
                       .zeros = input->matching,
                       .rivals = input->matching ? input->matching->rivals : 0,
                       .leaves = f->options->tree_leaves,
                       .fixed_threshold = f->options->pivot_threshold != 0};
  trs_factor_input own = *input;
  trs_matching diagonal = {0};
  bool stopped = true;
  trs_status status = TRS_SUCCESS;
  choice.unmatched = !choice.zeros && lacks;
  if (!choice.zeros && !choice.unmatched && is_finite(A)) {
    status = trs_match_diagonal(&diagonal, A, input->equilibrate);
    choice.rivals = diagonal.rivals;
    own.matching = &diagonal;
  }
  while (!status && stopped) {
    forget(f->parts);
    trs_teller_phase(f->teller, "ordering", 0);
    status = attempt(f, own, &choice, &stopped);
  }
  trs_choice_end(&choice);
  trs_matching_free(&diagonal);
  return status;
}

/* L is the identity, and U is A, in the order of columns col. */
static trs_status factor_triangular(const factoring *f, trs_factor_input *input, int32_t **col,
                                    const trs_matrix *A) {
  trs_ordering ordering = {.perm = *col, .fill = A->nrows};
  *col = NULL;
  f->parts->order = TRS_ORDER_COLAMD;
  trs_print(f->parts->choice, sizeof f->parts->choice,
            "the matrix is triangular but for the order of rows and columns: no fill");
  trs_status status = factor_in_order(f, input, &ordering, A);
  trs_ordering_free(&ordering);
  return status;
}

/* Sets row of the matching, and col, if A is triangular in some order of both. */
static trs_status find_triangle(trs_matching *m, int32_t **col, trs_matrix **A) {
  trs_matrix *made;
  int32_t *row = NULL;
  bool found = false;
  trs_status status = TRS_ALLOC_ALL(TRS_ROOM(&row, (*A)->nrows), TRS_ROOM(col, (*A)->nrows),
                                    TRS_ROOM(&m->row, (*A)->nrows));
  if (!status) status = trs_find_triangle(&found, row, *col, *A);
  for (int64_t k = 0; found && k < (*A)->nrows; k++) m->row[(*col)[k]] = row[k];
  if (!status && found) status = trs_matrix_permute(&made, *A, m->row, NULL);
  if (!status && found) take(A, made);
  trs_free(row);
  if (status || !found) {
    TRS_FREE_ALL(*col, m->row);
    *col = m->row = NULL;
  }
  return status;
}

/* ---- All kinds. ---- */

static trs_status factor(const factoring *f, trs_matching *matching, trs_matrix **A) {
  trs_factors *parts = f->parts;
  const bool choose = parts->kind == TRS_FACTOR_LU && f->options->order == TRS_ORDER_DEFAULT;
  trs_ordering ordering = {0};
  int32_t *col = NULL;
  trs_factor_input input = {.pivot_threshold = f->options->pivot_threshold == 0
                                                   ? TRS_FACTOR_THRESHOLD
                                                   : f->options->pivot_threshold,
                            .equilibrate = !f->options->no_equilibration,
                            .block = f->options->block_size};
  input.diagonal_threshold = f->options->pivot_threshold == 0 && trs_scalar_is_double((*A)->scalar)
                                 ? TRS_FACTOR_DIAGONAL_THRESHOLD
                                 : input.pivot_threshold;
  if (choose && (*A)->nrows) TRS_TRY(find_triangle(matching, &col, A));
  const bool lacks = !col && parts->kind == TRS_FACTOR_LU && lacks_pivots(*A);
  trs_status status = lacks ? match_rows(matching, A, parts) : TRS_SUCCESS;
  if (matching->row) input.matching = matching;
  if (!status && col)
    status = factor_triangular(f, &input, &col, *A);
  else if (!status && choose)
    status = factor_by_choice(f, &input, *A, lacks);
  else if (!status) {
    status = order_matrix(&ordering, parts, *A, f->options);
    if (!status) status = factor_in_order(f, &input, &ordering, *A);
    trs_ordering_free(&ordering);
  }
  trs_free(col);
  return status;
}

static trs_status run(void *argument, trs_teller *teller) {
  factoring *f = argument;
  trs_matrix *ready = NULL;
  trs_matching matching = {0};
  f->teller = teller;
  trs_teller_phase(teller, "ordering", 0);
  TRS_TRY(prepare(&ready, f->A, f->options));
  trs_status status = factor(f, &matching, &ready);
  trs_matrix_destroy(ready);
  if (!status) status = unmatch_rows(f->parts, matching.row, f->A->nrows);
  if (!status && f->parts->kind == TRS_FACTOR_LU && !f->parts->refactoring) /* which has looked */
    status = trs_factor_check_values(f->parts);
  if (!status) trs_teller_phase(teller, "factoring", 1);
  trs_matching_free(&matching);
  return status;
}

trs_status trs_factor_run(trs_factors **F, const trs_matrix *A, const trs_factor_options *options) {
  trs_factor_options own;
  TRS_TRY(TRS_STRUCT_TAKE(trs_factor_options, &own, options));
  TRS_TRY(check_options(&own));
  options = &own;
  TRS_TRY(check(A));
  TRS_TRY(complete_block(&own, A));
  if (!takes_blocks(A, &own)) TRS_TRY(trs_matrix_need_host(A, "trs_factor"));
  trs_factors parts = {
      .kind = options->kind,
      .order = options->order,
      .levels = options->levels,
      .recipe = {options->uplo, options->add_diagonal != 0, options->shift},
  };
  if (parts.order == TRS_ORDER_DEFAULT) parts.order = kinds[options->kind].order;
  factoring f = {&parts, A, options, NULL};
  trs_status status = trs_tell(options->progress, options->progress_user, run, &f);
  if (status) {
    trs_factors_release_parts(&parts);
    return status;
  }
  return trs_factors_adopt(F, &parts);
}
