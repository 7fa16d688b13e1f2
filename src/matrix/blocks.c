/* blocks.c - builds the block pattern in two passes over the entries, each row by the thread that
 * owns it; and reads a row's elements.  O(nnz / threads). */
#include "matrix/blocks.h"

#include "base/scalar.h"
#include "base/structs.h"
#include "base/transpose.h"
#include "matrix/indexing.h"

typedef struct scan {
  const trs_block_source *source;
  trs_block_pattern *pattern;
  int32_t *seen;    /* ncols per thread: the last row that had this block column */
  int64_t *missing; /* per thread: its first row without a diagonal block, or n */
  bool fill;
} scan;

#define INLINE static inline __attribute__((always_inline))

/* Counts the distinct block columns of row i except its own, and writes them if to is not NULL.
 * span is that of S, and a literal if it is 1: nothing is divided then. */
INLINE int64_t scan_row_of(const trs_block_source *S, int64_t i, int32_t *seen, int32_t *to,
                           int span) {
  int64_t count = 0, own = trs_block_source_name(S, i);
  int32_t j = -1;
  for (int64_t p = S->ptr[i * span]; p < S->ptr[(i + 1) * span]; p++) {
    if (j >= 0 && (uint32_t)(S->idx[p] - j * span) < (uint32_t)span) continue;
    j = S->idx[p] / span;
    if (seen[j] == i) continue;
    seen[j] = (int32_t)i;
    if (j == own) continue;
    if (to) to[count] = j;
    count++;
  }
  return count;
}

static int64_t scan_row(const trs_block_source *S, int64_t i, int32_t *seen, int32_t *to) {
  return S->span == 1 ? scan_row_of(S, i, seen, to, 1) : scan_row_of(S, i, seen, to, S->span);
}

static void scan_share(void *argument, int rank, int size) {
  const scan *s = argument;
  trs_block_pattern *G = s->pattern;
  int64_t n = G->n, ncols = s->source->ncols, begin, end;
  int32_t *seen = s->seen + rank * ncols;
  trs_share(n, rank, size, &begin, &end);
  for (int64_t j = 0; j < ncols; j++) seen[j] = -1;
  if (!s->fill) s->missing[rank] = n;
  for (int64_t i = begin; i < end; i++) {
    int64_t count = scan_row(s->source, i, seen, s->fill ? G->idx + G->ptr[i] : NULL);
    if (s->fill) continue;
    G->ptr[i + 1] = count;
    int64_t own = trs_block_source_name(s->source, i);
    if (seen[own] != i && s->missing[rank] == n) s->missing[rank] = i;
  }
}

static trs_status check_diagonal(const scan *s, int size) {
  int64_t n = s->pattern->n;
  for (int rank = 0; rank < size; rank++)
    if (s->missing[rank] < n) {
      int64_t row = trs_block_source_name(s->source, s->missing[rank]);
      return trs_fail(TRS_ERROR_STRUCTURE, row,
                      "block row %lld (0-based) has no diagonal block: every block row needs one",
                      (long long)row);
    }
  return TRS_SUCCESS;
}

/* ---- Arrays in device memory ---- */

static trs_status fetch(const void **array, void **copy, int64_t count, size_t size,
                        trs_stream stream) {
  if (!*array || !trs_device_address(*array)) return TRS_SUCCESS;
  TRS_TRY(trs_alloc(copy, count, size));
  TRS_TRY(trs_device_copy(*copy, *array, count * (int64_t)size, stream));
  *array = *copy;
  return trs_device_wait(stream);
}

static trs_status take_description(trs_blocks *own, const trs_blocks *given) {
  if (!given) return trs_fail(TRS_ERROR_ARGUMENT, -1, "blocks is NULL");
  TRS_TRY(TRS_STRUCT_TAKE(trs_blocks, own, given));
  if ((unsigned)own->layout > TRS_ROW_MAJOR)
    return trs_fail(TRS_ERROR_ARGUMENT, -1,
                    "layout is %d: in a trs_blocks it must be TRS_COL_MAJOR or TRS_ROW_MAJOR",
                    (int)own->layout);
  return TRS_SUCCESS;
}

trs_status trs_blocks_take(trs_blocks *own, const trs_blocks *given) {
  TRS_TRY(take_description(own, given));
  if (!own->ncols) own->ncols = own->nrows;
  return TRS_SUCCESS;
}

trs_status trs_blocks_take_like(trs_blocks *own, const trs_blocks *given, trs_scalar scalar,
                                int64_t nrows, int64_t ncols, int block_size) {
  TRS_TRY(take_description(own, given));
  if (!own->scalar) own->scalar = scalar;
  if (!own->block_size) own->block_size = block_size;
  if (!own->nrows) own->nrows = nrows;
  if (!own->ncols) own->ncols = ncols;
  if (own->scalar == scalar && own->block_size == block_size && own->nrows == nrows &&
      own->ncols == ncols)
    return TRS_SUCCESS;
  return trs_fail(
      TRS_ERROR_ARGUMENT, -1,
      "%lld x %lld blocks of size %d, or their type, are unlike the %lld x %lld of size "
      "%d at creation",
      (long long)own->nrows, (long long)own->ncols, own->block_size, (long long)nrows,
      (long long)ncols, block_size);
}

static trs_status fetch_arrays(trs_block_source *source, void *copies[3], trs_stream stream) {
  const void *arrays[] = {source->ptr, source->idx, source->val};
  int64_t size = source->matrix ? 1 : (int64_t)source->block * source->block;
  int64_t rows = source->nrows * (source->matrix ? source->span : 1);
  if (rows < 0 || !source->ptr) return TRS_SUCCESS; /* the check reports it */
  const int indexing = source->indexing;
  TRS_TRY(fetch(&arrays[0], &copies[0], rows + 1, (size_t)trs_ptr_bytes(indexing), stream));
  source->ptr = arrays[0];
  int64_t count = trs_ptr_at(indexing, source->ptr, rows) - trs_index_base(indexing);
  if (count < 0 || count > INT64_MAX / size) return TRS_SUCCESS;
  TRS_TRY(fetch(&arrays[1], &copies[1], count, (size_t)trs_idx_bytes(indexing), stream));
  size_t bytes = trs_scalar_size(source->scalar);
  TRS_TRY(fetch(&arrays[2], &copies[2], count * size, bytes, stream));
  source->idx = arrays[1];
  source->val = arrays[2];
  return TRS_SUCCESS;
}

trs_status trs_block_source_fetch(trs_block_source *source, void *copies[3], trs_device *device,
                                  trs_stream stream) {
  copies[0] = copies[1] = copies[2] = NULL;
  if (!device) return fetch_arrays(source, copies, stream);
  TRS_ON_DEVICE(device);
  return fetch_arrays(source, copies, stream);
}

trs_status trs_block_source_take(trs_block_source *S, void *taken[2]) {
  const int indexing = S->indexing;
  int64_t *ptr;
  int32_t *idx;
  taken[0] = taken[1] = NULL;
  TRS_TRY(trs_indexing_check(indexing));
  if (S->nrows < 0 || indexing == TRS_NATIVE) return TRS_SUCCESS;
  TRS_TRY(trs_indexing_check_ptr(indexing, S->ptr, S->nrows));
  TRS_TRY(TRS_ALLOC(&ptr, S->nrows + 1));
  taken[0] = ptr;
  trs_indexing_take_ptr(ptr, indexing, S->ptr, S->nrows);
  S->ptr = ptr;
  if (indexing & (TRS_IDX64 | TRS_BASE1) && S->idx) {
    TRS_TRY(TRS_ALLOC(&idx, ptr[S->nrows]));
    taken[1] = idx;
    int64_t bad = trs_indexing_take_idx(idx, indexing, S->idx, ptr[S->nrows], INT32_MAX);
    if (bad < ptr[S->nrows])
      return trs_fail(TRS_ERROR_STRUCTURE, -1, "idx[%lld] is %lld: no such block column",
                      (long long)bad, (long long)trs_idx_at(indexing, S->idx, bad));
    S->idx = idx;
  }
  S->indexing = TRS_NATIVE;
  return TRS_SUCCESS;
}

trs_status trs_block_source_check(const trs_block_source *S) {
  if (S->matrix) return TRS_SUCCESS; /* checked at its creation */
  TRS_TRY(trs_indexing_check_ptr(TRS_NATIVE, S->ptr, S->nrows));
  if (S->ptr[S->nrows] && (!S->idx || !S->val))
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "%s is NULL", S->idx ? "val" : "idx");
  for (int64_t i = 0; i < S->nrows; i++)
    for (int64_t p = S->ptr[i]; p < S->ptr[i + 1]; p++)
      if (S->idx[p] < 0 || S->idx[p] >= S->ncols)
        return trs_fail(TRS_ERROR_STRUCTURE, trs_block_source_name(S, i),
                        "block column %d in block row %lld is outside 0 .. %lld (0-based)",
                        S->idx[p], (long long)trs_block_source_name(S, i), (long long)S->ncols - 1);
  return TRS_SUCCESS;
}

static trs_status build(scan *s, trs_team *team) {
  trs_block_pattern *G = s->pattern;
  int size = trs_team_size(team);
  TRS_TRY(TRS_ALLOC_ALL(TRS_ROOM(&s->seen, s->source->ncols * size), TRS_ROOM(&s->missing, size),
                        TRS_ROOM(&G->ptr, G->n + 1)));
  trs_team_run(team, size, scan_share, s);
  TRS_TRY(check_diagonal(s, size));
  G->ptr[0] = 0;
  for (int64_t i = 0; i < G->n; i++) G->ptr[i + 1] += G->ptr[i];
  TRS_TRY(TRS_ALLOC(&G->idx, G->ptr[G->n]));
  s->fill = true;
  trs_team_run(team, size, scan_share, s);
  return TRS_SUCCESS;
}

trs_status trs_block_pattern_build(trs_block_pattern *pattern, const trs_block_source *source,
                                   trs_team *team) {
  *pattern = (trs_block_pattern){.n = source->nrows};
  TRS_TRY(trs_block_source_check(source));
  scan s = {.source = source, .pattern = pattern};
  trs_status status = build(&s, team);
  TRS_FREE_ALL(s.seen, s.missing);
  if (status) trs_block_pattern_free(pattern);
  return status;
}

trs_status trs_block_pattern_transpose(trs_block_pattern *transposed,
                                       const trs_block_pattern *pattern) {
  *transposed = (trs_block_pattern){.n = pattern->n};
  return trs_transpose_pattern(&transposed->ptr, &transposed->idx, NULL, pattern->n, pattern->n,
                               pattern->ptr, pattern->idx);
}

void trs_block_pattern_free(trs_block_pattern *pattern) {
  TRS_FREE_ALL(pattern->ptr, pattern->idx);
  *pattern = (trs_block_pattern){0};
}

static inline double element(const trs_block_source *S, int64_t p) {
  return S->scalar == TRS_DOUBLE ? ((const double *)S->val)[p] : ((const float *)S->val)[p];
}

static trs_status new_block(const trs_block_source *S, int64_t i, int32_t j) {
  return trs_fail(
      TRS_ERROR_STRUCTURE, trs_block_source_name(S, i),
      "block row %lld has a block in column %d (0-based) that was not there at creation: new "
      "values must keep the pattern",
      (long long)trs_block_source_name(S, i), j);
}

/* b is S->block, as a literal for small blocks. */

INLINE trs_status blocks_row(const trs_block_source *S, int64_t i, const int32_t *slot,
                             double *values, int b) {
  const bool transpose = S->layout == TRS_ROW_MAJOR;
  for (int64_t p = S->ptr[i]; p < S->ptr[i + 1]; p++) {
    if (slot[S->idx[p]] < 0) return new_block(S, i, S->idx[p]);
    double *to = values + (int64_t)slot[S->idx[p]] * b * b;
    if (transpose)
      for (int r = 0; r < b; r++)
        for (int c = 0; c < b; c++) to[c * b + r] += element(S, p * b * b + r * b + c);
    else
      for (int e = 0; e < b * b; e++) to[e] += element(S, p * b * b + e);
  }
  return TRS_SUCCESS;
}

/* True if b entries from p on fill a row of a block. */
INLINE bool fills_block(const trs_block_source *S, int64_t p, int64_t end, int b) {
  bool fills = end - p >= b && S->idx[p] % b == 0;
  for (int c = 1; c < b && fills; c++) fills = S->idx[p + c] == S->idx[p] + c;
  return fills;
}

INLINE trs_status entries_row(const trs_block_source *S, int64_t i, const int32_t *slot,
                              double *values, int b) {
  for (int r = 0; r < b; r++) {
    const int64_t end = S->ptr[i * b + r + 1];
    for (int64_t p = S->ptr[i * b + r], next; p < end; p = next) {
      const int32_t j = S->idx[p] / b;
      if (slot[j] < 0) return new_block(S, i, j);
      next = p + (fills_block(S, p, end, b) ? b : 1);
      double *to = values + (int64_t)slot[j] * b * b + (S->idx[p] - j * b) * b + r;
      for (int c = 0; c < next - p; c++) to[c * b] += element(S, p + c);
    }
  }
  return TRS_SUCCESS;
}

INLINE trs_status any_row(const trs_block_source *S, int64_t i, const int32_t *slot, double *values,
                          int b) {
  if (S->span == 1 && b > 1) return blocks_row(S, i, slot, values, b);
  return entries_row(S, i, slot, values, b);
}

trs_status trs_block_source_row(const trs_block_source *source, int64_t i, const int32_t *slot,
                                double *values) {
  if (source->give) {
    source->give(source->user, i, slot, values);
    return TRS_SUCCESS;
  }
  return TRS_BY_BLOCK(source->block, any_row, source, i, slot, values);
}

void trs_block_source_ahead(const trs_block_source *source, int64_t i) {
  enum { LINE = 64, MOST = 128 * LINE }; /* from there on the hardware prefetches */
  if (source->give) return;
  const int64_t size = (int64_t)trs_scalar_size(source->scalar);
  const int64_t each = source->span == 1 ? (int64_t)source->block * source->block : 1;
  const int64_t begin = source->ptr[i * source->span], end = source->ptr[(i + 1) * source->span];
  if (begin == end) return;
  const char *val = (const char *)source->val + begin * each * size;
  const int64_t bytes = (end - begin) * each * size;
  for (int64_t at = 0; at < bytes && at < MOST; at += LINE) __builtin_prefetch(val + at);
  for (int64_t p = begin; p < end; p += LINE / 4) __builtin_prefetch(source->idx + p);
}
