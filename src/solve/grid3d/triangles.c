/* triangles.c - converts dense panels of supernodes to compressed triangles. */
#include "solve/grid3d/triangles.h"

#include <math.h>

#include "matrix/matrix.h"

/* Vector v of a supernode: a column of L, a row of U. */
typedef struct panel_vector {
  const void *numbers; /* the supernode's dense panel, as trs_filler has it */
  bool turned;         /* U */
  bool unit;
  int64_t width, length, v;
  int64_t row;          /* the supernode's first, in the triangle */
  const int32_t *below; /* rows of the list, numbered in the triangle */
} panel_vector;

#define TRS_TEMPLATE "solve/grid3d/triangles_tmpl.c"
#include "base/instantiate.h"

trs_grid_triangle trs_grid_triangle_of(const trs_rank_part *p, bool upper, int height, bool unit) {
  trs_grid_triangle T = {.upper = upper, .height = height, .to = p->nlocal, .unit = unit};
  if (upper) {
    T.from = height ? p->local_to[height - 1] : 0;
    T.to = p->local_to[height];
  }
  T.first_row = T.from ? trs_local_end(p, height - 1) : 0;
  T.n = p->rows - T.first_row;
  return T;
}

trs_status trs_grid_triangles_check(const trs_filler *f, const bool unit[2],
                                    const int32_t *row_perm) {
  const trs_rank_part *p = f->part;
  for (int upper = 0; upper < 2; upper++)
    for (int64_t i = 0; i < p->nlocal; i++) {
      int64_t K = p->local[i], width = trs_width(p->layout, K);
      void *D = (char *)f->dense[upper] + (size_t)f->at[upper][K] * trs_scalar_size(p->scalar);
      if (unit[upper]) p->ops->set_unit(width, D);
      TRS_TRY(trs_fill_check(f, upper, trs_origin(p->layout, K), width, D, row_perm));
    }
  return TRS_SUCCESS;
}

/* ---- The matrix. ---- */

typedef struct triangle_builder {
  const trs_filler *f;
  const trs_grid_triangle *T;
  int32_t *row_of; /* count: a supernode's first row in the triangle */
  int32_t *below;  /* rows of one list */
  int64_t *ptr;    /* n + 1 */
  int32_t *idx;
  char *val;
} triangle_builder;

/* A list is ascending, and so are the supernodes of its rows. */
static void number_list(const triangle_builder *t, int64_t K) {
  const trs_grid_layout *l = t->f->part->layout;
  const trs_grid_lists *lists = &l->lists[t->T->upper];
  int64_t other = K;
  for (int64_t r = 0; r < lists->ptr[K + 1] - lists->ptr[K]; r++) {
    int64_t j = lists->idx[lists->ptr[K] + r];
    while (l->first[other + 1] <= j) other++;
    t->below[r] = (int32_t)(t->row_of[other] + (j - l->first[other]));
  }
}

/* Counts into ptr[row + 1], or stores entries from ptr[row] on. */
static void visit_panels(triangle_builder *t) {
  static int64_t (*const take_of[])(const panel_vector *, int32_t *, void *) =
      TRS_TABLE(take_vector);
  const trs_rank_part *p = t->f->part;
  bool upper = t->T->upper;
  size_t size = trs_scalar_size(p->scalar);
  for (int64_t i = t->T->from; i < t->T->to; i++) {
    int64_t K = p->local[i], row = t->row_of[K];
    const int64_t *list = p->layout->lists[upper].ptr + K;
    panel_vector vector = {
        .numbers = (const char *)t->f->dense[upper] + (size_t)t->f->at[upper][K] * size,
        .turned = upper,
        .unit = t->T->unit,
        .width = trs_width(p->layout, K),
        .length = list[1] - list[0],
        .row = row,
        .below = t->below};
    number_list(t, K);
    for (; vector.v < vector.width; vector.v++, row++)
      if (t->idx)
        take_of[p->scalar](&vector, t->idx + t->ptr[row], t->val + (size_t)t->ptr[row] * size);
      else
        t->ptr[row + 1] = take_of[p->scalar](&vector, NULL, NULL);
  }
}

/* Rows above the solved ones have ones on the diagonal. */
static void visit_ones(triangle_builder *t) {
  static void (*const one_of[])(void *) = TRS_TABLE(set_one);
  const trs_rank_part *p = t->f->part;
  int64_t first = trs_local_end(p, t->T->upper ? t->T->height : p->layout->levels);
  first -= t->T->first_row;
  for (int64_t row = first; row < t->T->n && !t->T->unit; row++) {
    if (!t->idx) {
      t->ptr[row + 1] = 1;
      continue;
    }
    t->idx[t->ptr[row]] = (int32_t)row;
    one_of[p->scalar](t->val + (size_t)t->ptr[row] * trs_scalar_size(p->scalar));
  }
}

static trs_status take(triangle_builder *t) {
  const trs_rank_part *p = t->f->part;
  int64_t n = t->T->n;
  TRS_TRY(TRS_ALLOC_ALL(TRS_ROOM(&t->row_of, p->layout->count), TRS_ROOM(&t->below, n),
                        TRS_ZEROS(&t->ptr, n + 1)));
  for (int64_t i = t->T->from; i < p->nlocal; i++)
    t->row_of[p->local[i]] = (int32_t)(p->local_row[i] - t->T->first_row);
  for (int64_t i = 0; i < p->ntouched; i++)
    t->row_of[p->slot[p->touched[i]]] = (int32_t)(p->touched_row[i] - t->T->first_row);
  visit_panels(t);
  visit_ones(t);
  for (int64_t row = 0; row < n; row++) t->ptr[row + 1] += t->ptr[row];
  TRS_TRY(TRS_ALLOC(&t->idx, t->ptr[n]));
  TRS_TRY(trs_alloc((void **)&t->val, t->ptr[n], trs_scalar_size(p->scalar)));
  visit_panels(t);
  visit_ones(t);
  return TRS_SUCCESS;
}

trs_status trs_grid_triangle_take(const trs_filler *f, const trs_grid_triangle *T, trs_matrix **A) {
  triangle_builder t = {.f = f, .T = T};
  *A = NULL;
  trs_status status = take(&t);
  TRS_FREE_ALL(t.row_of, t.below);
  if (!status)
    return trs_matrix_adopt(A, T->upper ? TRS_CSR : TRS_CSC, f->part->scalar, T->n, T->n, t.ptr,
                            t.idx, t.val);
  TRS_FREE_ALL(t.ptr, t.idx, t.val);
  return status;
}
