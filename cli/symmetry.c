/* symmetry.c - compares every entry (i, j) with (j, i).  Rows are visited in order, so the partners
 * of row j's entries are reached in order too, and one cursor per row suffices: what it passes has
 * no partner, and zero for one.  O(n + nnz). */
#include "leave.h"
#include "symmetry.h"

#include <complex.h>
#include <math.h>
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

/* Units of roundoff that mirrored entries may differ by, relative to the larger one or to the
 * geometric mean of their diagonal entries, as trs_factor judges them for IC(0). */
enum { ROUNDING = 100 };

typedef struct walk {
  const int64_t *ptr;
  const int32_t *idx;
  const void *val;
  trs_scalar scalar;
  int64_t n, *cursor; /* of each row: its first entry whose partner is not reached yet */
  double *size;       /* of each row: the root of the diagonal entry's absolute value */
} walk;

/* Entry (i, j) and its mirror. */
static void compare(const walk *w, int64_t i, int64_t j, double complex a, double complex b,
                    symmetry *s) {
  const double roundoff = w->scalar == TRS_FLOAT || w->scalar == TRS_SCOMPLEX ? 0x1p-24 : 0x1p-53;
  const double most = ROUNDING * roundoff * fmax(w->size[i] * w->size[j], fmax(cabs(a), cabs(b)));
  s->exactly_symmetric &= a == b;
  s->exactly_hermitian &= a == conj(b);
  s->symmetric &= a == b || cabs(a - b) <= most;
  s->hermitian &= a == conj(b) || cabs(a - conj(b)) <= most;
  s->skew &= a == -b;
}

/* Passes the entries of row j whose partners would be above row i. */
static void pass(const walk *w, int64_t j, int64_t i, symmetry *s) {
  for (; w->cursor[j] < w->ptr[j + 1] && w->idx[w->cursor[j]] < i; w->cursor[j]++) {
    s->pattern = false;
    compare(w, j, w->idx[w->cursor[j]], value_at(w->val, w->cursor[j], w->scalar), 0, s);
  }
}

static void compare_all(const walk *w, symmetry *s) {
  for (int64_t i = 0; i < w->n; i++)
    for (int64_t p = w->ptr[i]; p < w->ptr[i + 1]; p++) {
      const int32_t j = w->idx[p];
      pass(w, j, i, s);
      const int64_t q = w->cursor[j];
      if (q == w->ptr[j + 1] || w->idx[q] != i) continue;
      w->cursor[j]++;
      compare(w, i, j, value_at(w->val, p, w->scalar), value_at(w->val, q, w->scalar), s);
    }
  for (int64_t j = 0; j < w->n; j++) pass(w, j, w->n, s);
}

static void measure(const walk *w) {
  for (int64_t i = 0; i < w->n; i++) {
    w->size[i] = 0;
    for (int64_t p = w->ptr[i]; p < w->ptr[i + 1]; p++)
      if (w->idx[p] == i) w->size[i] = sqrt(cabs(value_at(w->val, p, w->scalar)));
  }
}

int symmetry_find(symmetry *s, const trs_matrix *A) {
  trs_matrix_info info = {.struct_size = sizeof info};
  *s = (symmetry){0};
  trs_matrix_get_info(A, &info);
  if (info.nrows != info.ncols) return -1;
  walk w = {.scalar = info.scalar, .n = info.nrows};
  trs_matrix_get_arrays(A, &w.ptr, &w.idx, &w.val);
  const size_t rows = (size_t)w.n + 1;
  w.cursor = malloc(rows * sizeof *w.cursor);
  w.size = malloc(rows * sizeof *w.size);
  if (w.cursor && w.size) {
    memcpy(w.cursor, w.ptr, rows * sizeof *w.cursor);
    *s = (symmetry){true, true, true, true, true, true};
    measure(&w);
    compare_all(&w, s);
  }
  const int code =
      w.cursor && w.size ? -1 : leave_memory((double)(rows * 16), "the look at the symmetry");
  free(w.cursor);
  free(w.size);
  return code;
}
