/* levels.c - level sets in one pass over the rows, in the order of the solve. */
#include "analysis/levels.h"

#include <string.h>

/* One more than the highest level among the entries [begin, end). */
static inline int32_t after_all(const int32_t *idx, int64_t begin, int64_t end,
                                const int32_t *level) {
  int32_t highest = -1;
  for (int64_t p = begin; p < end; p++) {
    int32_t other = level[idx[p]];
    highest = other > highest ? other : highest;
  }
  return highest + 1;
}

/* By rows: the level of a row follows from the rows it depends on. */
static inline int32_t pull(const trs_system *S, int32_t *level, bool lower, bool full) {
  int32_t highest = -1;
  for (int64_t k = 0; k < S->n; k++) {
    int64_t i = lower ? k : S->n - 1 - k, begin, end;
    trs_off_diagonal(S, i, lower, full, &begin, &end);
    level[i] = after_all(S->idx, begin, end, level);
    highest = level[i] > highest ? level[i] : highest;
  }
  return highest + 1;
}

/* By columns: a column raises the levels of the rows that depend on it. */
static inline int32_t push(const trs_system *S, int32_t *level, bool lower, bool full) {
  int32_t highest = -1;
  memset(level, 0, (size_t)S->n * sizeof *level);
  for (int64_t k = 0; k < S->n; k++) {
    int64_t j = lower ? k : S->n - 1 - k, begin, end;
    int32_t next = level[j] + 1;
    trs_off_diagonal(S, j, !lower, full, &begin, &end);
    for (int64_t p = begin; p < end; p++)
      if (level[S->idx[p]] < next) level[S->idx[p]] = next;
    highest = next - 1 > highest ? next - 1 : highest;
  }
  return highest + 1;
}

int32_t trs_levels_find(const trs_system *S, int32_t *level) {
  if (!S->has_diagonal)
    return S->rows ? pull(S, level, S->lower, false) : push(S, level, S->lower, false);
  if (S->rows) return S->lower ? pull(S, level, true, true) : pull(S, level, false, true);
  return S->lower ? push(S, level, true, true) : push(S, level, false, true);
}

static void count_rows_and_entries(trs_levels *levels, const trs_system *S) {
  int64_t *rows = levels->ptr + 1, *entries = levels->entries;
  bool prefix = trs_system_prefix(S);
  for (int64_t i = 0; i < S->n; i++) {
    int64_t begin, end;
    trs_off_diagonal(S, i, prefix, S->has_diagonal, &begin, &end);
    rows[levels->level[i]]++;
    if (S->rows)
      entries[levels->level[i]] += end - begin;
    else
      for (int64_t p = begin; p < end; p++) entries[levels->level[S->idx[p]]]++;
  }
  for (int32_t k = 0; k < levels->count; k++) levels->ptr[k + 1] += levels->ptr[k];
}

trs_status trs_levels_create(trs_levels *levels, const trs_system *S) {
  *levels = (trs_levels){.n = S->n};
  trs_status status = TRS_ALLOC(&levels->level, S->n);
  if (!status) {
    levels->count = trs_levels_find(S, levels->level);
    status = TRS_ALLOC_ZERO(&levels->ptr, levels->count + 1);
  }
  if (!status) status = TRS_ALLOC_ZERO(&levels->entries, levels->count);
  if (status)
    trs_levels_destroy(levels);
  else
    count_rows_and_entries(levels, S);
  return status;
}

void trs_levels_destroy(trs_levels *levels) {
  TRS_FREE_ALL(levels->level, levels->ptr, levels->entries);
  *levels = (trs_levels){0};
}

void trs_levels_extremes(const trs_levels *levels, int64_t *smallest, int64_t *largest) {
  *smallest = levels->count ? INT64_MAX : 0;
  *largest = 0;
  for (int32_t k = 0; k < levels->count; k++) {
    int64_t rows = levels->ptr[k + 1] - levels->ptr[k];
    *smallest = rows < *smallest ? rows : *smallest;
    *largest = rows > *largest ? rows : *largest;
  }
}

void trs_in_degrees(const trs_system *S, int32_t *in_degree) {
  const bool prefix = trs_system_prefix(S);
  int64_t begin, end;
  for (int64_t i = 0; S->rows && i < S->n; i++) {
    trs_off_diagonal(S, i, prefix, S->has_diagonal, &begin, &end);
    in_degree[i] = (int32_t)(end - begin);
  }
  if (S->rows) return;
  memset(in_degree, 0, (size_t)S->n * sizeof *in_degree);
  for (int64_t i = 0; i < S->n; i++) {
    trs_off_diagonal(S, i, prefix, S->has_diagonal, &begin, &end);
    for (int64_t p = begin; p < end; p++) in_degree[S->idx[p]]++;
  }
}
