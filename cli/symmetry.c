/* symmetry.c - compares every entry (i, j) with (j, i).  Rows are visited in order, so the partners
 * of row j's entries are reached in order too, and one cursor per row suffices.  O(n + nnz). */
#include "leave.h"
#include "symmetry.h"

#include <complex.h>
#include <stdlib.h>
#include <string.h>

#include "output.h"

static double complex value_at(const void *val, int64_t p, trs_scalar scalar) {
  switch (scalar) {
    case TRS_FLOAT:
      return ((const float *)val)[p];
    case TRS_DOUBLE:
      return ((const double *)val)[p];
    case TRS_SCOMPLEX:
      return ((const float complex *)val)[p];
    default:
      return ((const double complex *)val)[p];
  }
}

typedef struct walk {
  const int64_t *ptr;
  const int32_t *idx;
  const void *val;
  trs_scalar scalar;
  int64_t *cursor; /* of each row: its first entry whose partner is not reached yet */
} walk;

/* Compares entry p, at (i, j), with the next one of row j, which must be (j, i). */
static void compare(walk *w, int64_t i, int64_t p, symmetry *s) {
  int32_t j = w->idx[p];
  int64_t q = w->cursor[j];
  if (q >= w->ptr[j + 1] || w->idx[q] != i) {
    *s = (symmetry){0};
    return;
  }
  w->cursor[j]++;
  double complex a = value_at(w->val, p, w->scalar), b = value_at(w->val, q, w->scalar);
  s->symmetric &= a == b;
  s->hermitian &= a == conj(b);
  s->skew &= a == -b;
}

int symmetry_find(symmetry *s, const trs_matrix *A) {
  trs_matrix_info info = {.struct_size = sizeof info};
  *s = (symmetry){0};
  trs_matrix_get_info(A, &info);
  if (info.nrows != info.ncols || info.nlower != info.nupper) return -1;
  walk w = {.scalar = info.scalar};
  trs_matrix_get_arrays(A, &w.ptr, &w.idx, &w.val);
  size_t bytes = ((size_t)info.nrows + 1) * sizeof *w.cursor;
  w.cursor = malloc(bytes);
  if (!w.cursor) return leave_memory((double)bytes, "the look at the symmetry");
  memcpy(w.cursor, w.ptr, bytes);
  *s = (symmetry){true, true, true, true};
  for (int64_t i = 0; s->pattern && i < info.nrows; i++)
    for (int64_t p = w.ptr[i]; s->pattern && p < w.ptr[i + 1]; p++) compare(&w, i, p, s);
  free(w.cursor);
  return -1;
}
