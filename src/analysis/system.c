/* system.c - reduces the options to four facts, and checks the triangle. */
#include "analysis/system.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { MOST_THREADS = 256 };

trs_system trs_system_of(const trs_matrix *T, trs_uplo uplo, trs_trans trans, trs_diag diag) {
  bool plain = trans == TRS_NO_TRANS;
  return (trs_system){.n = T->nrows,
                      .nnz = T->nnz,
                      .scalar = T->scalar,
                      .ptr = T->ptr,
                      .idx = T->idx,
                      .val = T->val,
                      .device = T->device,
                      .rows = (T->format == TRS_CSR) == plain,
                      .lower = (uplo == TRS_LOWER) == plain,
                      .unit = diag == TRS_UNIT,
                      .conj = trans == TRS_CONJ_TRANS && trs_scalar_is_complex(T->scalar),
                      .has_diagonal = T->missing_diagonal < 0};
}

trs_status trs_system_check_pattern(const trs_matrix *A, trs_uplo uplo, trs_diag diag) {
  if (A->nrows != A->ncols)
    return trs_fail(TRS_ERROR_STRUCTURE, -1,
                    "the matrix is %lld x %lld: a triangular solve needs a square one",
                    (long long)A->nrows, (long long)A->ncols);
  bool lower = uplo == TRS_LOWER;
  int64_t wrong = lower ? A->nupper : A->nlower;
  int64_t first = lower ? A->first_upper : A->first_lower;
  if (wrong)
    return trs_fail(TRS_ERROR_STRUCTURE, first,
                    "%lld entr%s %s the diagonal of a matrix to be used as %s triangular, the "
                    "first in %s %lld (0-based): %s",
                    (long long)wrong, wrong == 1 ? "y lies" : "ies lie", lower ? "above" : "below",
                    lower ? "lower" : "upper", A->format == TRS_CSR ? "row" : "column",
                    (long long)first,
                    (lower ? A->nlower : A->nupper) ? "take that triangle of it, or factor it first"
                    : lower                         ? "it is upper triangular (TRS_UPPER)"
                                                    : "it is lower triangular (TRS_LOWER)");
  const int64_t missing = A->nrows - A->ndiagonal;
  if (diag == TRS_NONUNIT && A->missing_diagonal >= 0)
    return trs_fail(TRS_ERROR_STRUCTURE, A->missing_diagonal,
                    missing == 1
                        ? "row %lld (0-based) has no diagonal entry: add one, or solve with a unit "
                          "diagonal"
                        : "row %lld (0-based) has no diagonal entry, the first of %lld such rows: "
                          "add one, or solve with a unit diagonal",
                    (long long)A->missing_diagonal, (long long)missing);
  return TRS_SUCCESS;
}

trs_status trs_system_tell_pivot(int64_t row, trs_pivot pivot) {
  static const char *const words[] = {
      [TRS_PIVOT_ZERO] = "zero",
      [TRS_PIVOT_NOT_FINITE] = "not finite",
      [TRS_PIVOT_EXTREME] = "too small, or too large, for its reciprocal: scale it"};
  if (pivot == TRS_PIVOT_GOOD) return TRS_SUCCESS;
  return trs_fail(pivot == TRS_PIVOT_ZERO ? TRS_ERROR_ZERO_PIVOT : TRS_ERROR_NOT_FINITE, row,
                  "the diagonal entry of row %lld (0-based) is %s", (long long)row, words[pivot]);
}

#define TRS_TEMPLATE "analysis/diagonal_tmpl.c"
#include "base/instantiate.h"

trs_status trs_system_check_pivot(const trs_system *S, int64_t row) {
  static trs_pivot (*const pivot_of[])(const trs_system *, int64_t) = TRS_TABLE(pivot);
  int64_t at = trs_system_prefix(S) ? S->ptr[row + 1] - 1 : S->ptr[row];
  return trs_system_tell_pivot(row, pivot_of[S->scalar](S, at));
}

typedef int64_t find_row(const trs_system *S, int64_t begin, int64_t end);

/* The first row that `find` finds in each thread's part, or -1. */
typedef struct diagonals {
  const trs_system *S;
  find_row *find;
  int64_t first[MOST_THREADS];
} diagonals;

static void look_at_diagonal(void *argument, int rank, int size) {
  diagonals *it = argument;
  int64_t begin, end;
  trs_share(it->S->n, rank, size, &begin, &end);
  it->first[rank] = it->find(it->S, begin, end);
}

static int64_t find_first(const trs_system *S, trs_team *team, find_row *find) {
  enum { SMALL = 1 << 16 };
  diagonals it = {.S = S, .find = find};
  const int all = trs_team_size(team) < MOST_THREADS ? trs_team_size(team) : MOST_THREADS;
  const int threads = S->n < SMALL ? 1 : all;
  trs_team_run(team, threads, look_at_diagonal, &it);
  for (int t = 0; t < threads; t++)
    if (it.first[t] >= 0) return it.first[t];
  return -1;
}

static trs_status check_diagonal(const trs_system *S, trs_team *team) {
  static find_row *const first_bad_of[] = TRS_TABLE(first_bad_diagonal);
  const int64_t row = find_first(S, team, first_bad_of[S->scalar]);
  return row < 0 ? TRS_SUCCESS : trs_system_check_pivot(S, row);
}

bool trs_system_scales(const trs_system *S, trs_team *team) {
  static find_row *const first_unscaled_of[] = TRS_TABLE(first_unscaled);
  return find_first(S, team, first_unscaled_of[S->scalar]) < 0;
}

trs_status trs_system_begin_diagonal(trs_diagonal_look *look, const trs_system *S, trs_team *team,
                                     trs_stream stream) {
  *look = (trs_diagonal_look){0};
  if (S->unit || S->n == 0 || !S->val) return TRS_SUCCESS;
  if (S->device)
    return trs_device_begin_diagonal(look, S->device, S->n, trs_system_prefix(S), S->scalar, S->ptr,
                                     S->val, stream);
  return check_diagonal(S, team);
}

trs_status trs_system_end_diagonal(trs_diagonal_look *look) {
  int64_t row;
  trs_pivot pivot;
  if (!look->device) return TRS_SUCCESS;
  TRS_TRY(trs_device_end_diagonal(look, &row, &pivot));
  return trs_system_tell_pivot(row, pivot);
}

/* Row number k of a sample: row k if all are in it.  Equal steps would meet the same column of a
 * grid again and again; multiples of the golden section do not. */
static int64_t sampled(int64_t k, int64_t rows, int64_t samples) {
  const uint32_t golden = 2654435769u;
  return samples == rows ? k : (int64_t)((uint64_t)rows * (uint32_t)((uint32_t)k * golden) >> 32);
}

bool trs_system_chained(const trs_system *S) {
  enum { SAMPLES = 1024, LONG = 12 };
  const int64_t samples = S->n < SAMPLES ? S->n : SAMPLES;
  int64_t others = 0;
  bool prefix = trs_system_prefix(S);
  if (S->n < 2 || S->nnz > LONG * S->n) return false;
  for (int64_t k = 0; k < samples && others * 100 <= samples * 5; k++) {
    int64_t i = sampled(k, S->n, samples), begin, end;
    trs_off_diagonal(S, i, prefix, S->has_diagonal, &begin, &end);
    others += begin == end || S->idx[prefix ? end - 1 : begin] != (prefix ? i - 1 : i + 1);
  }
  return others * 100 <= samples * 5;
}

bool trs_system_ragged(const trs_system *S) {
  enum { SAMPLES = 1024, SHORT = 8 };
  const int64_t rows = S->n - 1, samples = rows < SAMPLES ? rows : SAMPLES;
  int64_t changes = 0;
  for (int64_t k = 0; k < samples; k++) {
    const int64_t i = sampled(k, rows, samples), length = S->ptr[i + 1] - S->ptr[i];
    changes += length <= SHORT && S->ptr[i + 2] - S->ptr[i + 1] != length;
  }
  return changes * 3 >= samples && samples > 0;
}

/* The pattern of row i + shift is that of row i, moved by shift. */
static bool is_moved(const trs_system *S, int64_t i, int64_t shift) {
  const int64_t count = S->ptr[i + 1] - S->ptr[i];
  const int32_t *from = S->idx + S->ptr[i], *to = S->idx + S->ptr[i + shift];
  if (S->ptr[i + shift + 1] - S->ptr[i + shift] != count) return false;
  for (int64_t p = 0; p < count; p++)
    if (to[p] - from[p] != shift) return false;
  return true;
}

bool trs_system_moved(const trs_system *S, int64_t shift) {
  enum { SAMPLES = 1024 };
  const int64_t rows = S->n - shift, samples = rows < SAMPLES ? rows : SAMPLES;
  int64_t others = 0;
  for (int64_t k = 0; k < samples && others * 10 <= samples * 3; k++)
    others += !is_moved(S, sampled(k, rows, samples), shift);
  return others * 10 <= samples * 3 && samples > 0;
}

bool trs_system_regular(const trs_system *S) {
  enum { MOST_SHIFT = 6 };
  for (int64_t shift = 1; shift <= MOST_SHIFT; shift++)
    if (trs_system_moved(S, shift)) return true;
  return false;
}

bool trs_system_local(const trs_system *S) {
  enum { SAMPLES = 1024, NEAR = 4096 };
  const int64_t samples = S->n < SAMPLES ? S->n : SAMPLES;
  int64_t near = 0, all = 0;
  for (int64_t k = 0; k < samples; k++) {
    const int64_t i = sampled(k, S->n, samples);
    for (int64_t p = S->ptr[i]; p < S->ptr[i + 1]; p++) {
      const int64_t distance = llabs(S->idx[p] - i);
      near += distance > 0 && distance < NEAR;
      all += distance > 0;
    }
  }
  return near * 2 >= all;
}

/* ---- Copies from device memory and transposes, where needed.  O(nnz). ---- */

trs_status trs_host_system_create(trs_host_system *h, const trs_system *S, const trs_matrix *A,
                                  bool rows, bool values, trs_stream stream) {
  *h = (trs_host_system){.S = *S};
  TRS_TRY(trs_matrix_fill(A));
  if (A->on_device) {
    TRS_TRY(trs_matrix_download(&h->copy, A, values, stream));
    A = h->copy;
  }
  h->S.ptr = A->ptr;
  h->S.idx = A->idx;
  h->S.val = A->val;
  h->S.device = NULL;
  if (S->rows == rows) return TRS_SUCCESS;
  TRS_TRY(trs_transpose_arrays(A, &h->ptr, &h->idx, &h->val));
  h->S.ptr = h->ptr;
  h->S.idx = h->idx;
  h->S.val = h->val;
  h->S.rows = rows;
  return TRS_SUCCESS;
}

void trs_host_system_destroy(trs_host_system *h) {
  trs_matrix_destroy(h->copy);
  TRS_FREE_ALL(h->ptr, h->idx, h->val);
  *h = (trs_host_system){0};
}
