/* lu_columns_tmpl.c - the arithmetic of lu_columns.c, compiled once for each element type. */

/* Column j of the matrix, minus the multiples of earlier columns that its search has found. */
static void NAME(eliminate)(lu_columns *c, int64_t j) {
  const lu_work *w = c->work;
  const SCALAR *val = w->val, *L = c->L.val;
  SCALAR *x = c->x, *U = c->U.val;
  for (int64_t p = w->ptr[j]; p < w->ptr[j + 1]; p++) x[w->idx[p]] = val[p];
  for (int64_t t = c->top; t < w->n; t++) {
    const int32_t k = c->reach[t], row = c->row_of[k];
    const SCALAR multiplier = x[row];
    x[row] = 0;
    c->U.idx[c->U.count] = k;
    U[c->U.count++] = multiplier;
    TRS_ROLLED
    for (int64_t p = c->L.ptr[k]; p < c->L.ptr[k + 1]; p++) x[c->L.idx[p]] -= MUL(multiplier, L[p]);
    c->operations += (double)(c->L.ptr[k + 1] - c->L.ptr[k]);
  }
}

/* The position in L of column j's pivot, the diagonal entry if it is large enough; -1: all are
 * zero.  With blocks, the largest one of the diagonal block: it is singular if all of these are
 * zero, and so is the matrix.  A value that is not a number is chosen, and found in the factors. */
static int64_t NAME(find_pivot)(const lu_columns *c, int64_t j) {
  const int32_t *block_end = c->work->input->block_end;
  const int64_t end = block_end ? block_end[j] : c->work->n;
  const SCALAR *x = c->x;
  int64_t largest = -1, diagonal = -1;
  REAL most = 0;
  for (int64_t p = c->L.ptr[j]; p < c->L.count; p++) {
    const REAL size = ABS(x[c->L.idx[p]]);
    if (c->L.idx[p] == j) diagonal = p;
    if (size <= most || c->L.idx[p] >= end) continue;
    most = size;
    largest = p;
  }
  if (diagonal < 0 || largest < 0) return largest;
  const REAL size = ABS(x[j]);
  return size > 0 && size >= c->work->input->pivot_threshold * most ? diagonal : largest;
}

/* Ends column j: its pivot goes to U, the rest, divided by it, to L. */
static bool NAME(divide)(lu_columns *c, int64_t j) {
  const int64_t at = NAME(find_pivot)(c, j);
  SCALAR *x = c->x, *L = c->L.val, *U = c->U.val;
  if (at < 0) return false;
  const int32_t row = c->L.idx[at];
  const SCALAR pivot = x[row];
  c->L.idx[at] = c->L.idx[--c->L.count];
  x[row] = 0;
  for (int64_t p = c->L.ptr[j]; p < c->L.count; p++) {
    L[p] = x[c->L.idx[p]] / pivot;
    x[c->L.idx[p]] = 0;
  }
  c->U.idx[c->U.count] = (int32_t)j;
  U[c->U.count++] = pivot;
  c->pivot_of[row] = (int32_t)j;
  c->row_of[j] = row;
  return true;
}

/* Rows in the first part of column k of L have had their turn as pivots. */
static int64_t NAME(part)(lu_columns *c, int64_t k) {
  int64_t first = c->L.ptr[k], last = c->L.ptr[k + 1];
  SCALAR *val = c->L.val;
  int32_t *idx = c->L.idx;
  while (first < last) {
    if (c->pivot_of[idx[first]] >= 0) {
      first++;
      continue;
    }
    last--;
    const int32_t row = idx[first];
    const SCALAR value = val[first];
    idx[first] = idx[last];
    val[first] = val[last];
    idx[last] = row;
    val[last] = value;
  }
  return first;
}
