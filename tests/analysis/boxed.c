/* boxed.c - coordinates by the sweep; the order of rows and of their entries by qsort. */
#include "analysis/boxed.h"

#include <stdlib.h>
#include <string.h>

#include "base/scalar.h"

static const boxed *sorted;

static uint32_t box_of(const boxed *b, int32_t k) {
  return trs_box_of(b->coordinates[k], b->sides);
}

static int by_box(const void *left, const void *right) {
  const int32_t a = *(const int32_t *)left, b = *(const int32_t *)right;
  const uint32_t box = box_of(sorted, a), other = box_of(sorted, b);
  return box != other ? (box > other) - (box < other) : (a > b) - (a < b);
}

/* The entries of the row at place k of the sweep. */
static void row_at(const trs_system *S, int64_t k, int64_t *begin, int64_t *end) {
  trs_off_diagonal(S, trs_in_sweep(S, k), S->lower, S->has_diagonal, begin, end);
}

static void find_coordinates(boxed *b, const trs_system *S, trs_box_classes classes) {
  uint32_t largest[TRS_COORDINATES] = {0};
  for (int64_t k = 0; k < S->n; k++) {
    int64_t begin, end;
    row_at(S, k, &begin, &end);
    b->coordinates[k] = 0;
    for (int64_t p = begin; p < end; p++) {
      const int64_t c = trs_in_sweep(S, S->idx[p]);
      b->coordinates[k] = trs_coordinates_joined(
          b->coordinates[k], trs_coordinates_behind(b->coordinates[c], (int32_t)(k - c), classes));
    }
    for (int c = 0; c < TRS_COORDINATES; c++)
      if (trs_coordinate(b->coordinates[k], c) > largest[c])
        largest[c] = trs_coordinate(b->coordinates[k], c);
  }
  b->sides = trs_box_sides_of(largest);
}

/* Entries of a row by their columns in the new order. */
typedef struct entry {
  int32_t column;
  int64_t from; /* of the system's entries */
} entry;

static int by_column(const void *left, const void *right) {
  return ((const entry *)left)->column - ((const entry *)right)->column;
}

static void fill(boxed *b, const trs_system *S) {
  const size_t size = trs_scalar_size(S->scalar);
  int64_t *ptr = (int64_t *)b->joint.ptr, nnz = 0, begin, end;
  entry *row = malloc((size_t)(S->n + 1) * sizeof *row);
  for (int64_t p = 0; p < S->n; p++) {
    const int64_t k = b->order[p], i = trs_in_sweep(S, k);
    int64_t count = 0;
    row_at(S, k, &begin, &end);
    for (int64_t e = begin; e < end; e++)
      row[count++] = (entry){b->place[trs_in_sweep(S, S->idx[e])], e};
    if (!S->unit) row[count++] = (entry){(int32_t)p, S->lower ? S->ptr[i + 1] - 1 : S->ptr[i]};
    qsort(row, (size_t)count, sizeof *row, by_column);
    ptr[p] = nnz;
    for (int64_t e = 0; e < count; e++, nnz++) {
      ((int32_t *)b->joint.idx)[nnz] = row[e].column;
      memcpy((char *)b->joint.val + (size_t)nnz * size,
             (const char *)S->val + (size_t)row[e].from * size, size);
    }
  }
  ptr[S->n] = b->joint.nnz = nnz;
  free(row);
}

boxed boxed_of(const trs_system *S, trs_box_classes classes) {
  const size_t n = (size_t)S->n + 1;
  boxed b = {.joint = *S};
  b.joint.lower = true;
  b.joint.has_diagonal = !S->unit;
  b.joint.ptr = malloc(n * sizeof *b.joint.ptr);
  b.joint.idx = malloc(((size_t)S->nnz + 1) * sizeof *b.joint.idx);
  b.joint.val = malloc(((size_t)S->nnz + 1) * trs_scalar_size(S->scalar));
  b.coordinates = malloc(n * sizeof *b.coordinates);
  b.order = malloc(n * sizeof *b.order);
  b.place = malloc(n * sizeof *b.place);
  b.starts = malloc(n);
  find_coordinates(&b, S, classes);
  for (int32_t k = 0; k < S->n; k++) b.order[k] = k;
  sorted = &b;
  qsort(b.order, (size_t)S->n, sizeof *b.order, by_box);
  for (int32_t p = 0; p < S->n; p++) {
    b.place[b.order[p]] = p;
    b.starts[p] = p == 0 || box_of(&b, b.order[p]) != box_of(&b, b.order[p - 1]);
  }
  fill(&b, S);
  return b;
}

void boxed_free(boxed *b) {
  free((void *)b->joint.ptr);
  free((void *)b->joint.idx);
  free((void *)b->joint.val);
  free(b->coordinates);
  free(b->order);
  free(b->place);
  free(b->starts);
}
