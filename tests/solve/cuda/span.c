/* span.c - right-hand sides by way of a stage: every small shape, layout and leading dimension,
 * with as many columns and rows at a time as fit.  Host memory stands for a GPU's. */
#include "solve/cuda/span.h"

#include "matrix/rhs.h"
#include "test.h"

enum { MOST = 3, MORE = 2, ROOM = MOST * (MOST + MORE), GUARD = -9 };

typedef struct shape {
  int64_t n, nrhs, ldx, ldb, width, rows;
  trs_layout layout;
} shape;

static int64_t at(const shape *s, int64_t ld, int64_t i, int64_t c) {
  return s->layout == TRS_ROW_MAJOR ? i * ld + c : c * ld + i;
}

/* The solver reads columns of b by the given strides and stores x by them. */
static void solve_doubled(const trs_rhs *r, int64_t n) {
  for (int64_t c = 0; c < r->nrhs; c++)
    for (int64_t i = 0; i < n; i++)
      ((double *)r->x)[i * r->x_row + c * r->x_col] =
          2 * ((const double *)r->b)[i * r->b_row + c * r->b_col];
}

static void go_through(const shape *s) {
  double b[ROOM], x[ROOM], stage[MOST * MOST];
  trs_rhs rhs;
  const trs_system S = {.n = s->n, .scalar = TRS_DOUBLE};
  for (int k = 0; k < ROOM; k++) b[k] = k + 1, x[k] = GUARD;
  assert_int_equal(trs_rhs_make(&rhs, s->n, TRS_DOUBLE, x, s->ldx, b, s->ldb, s->nrhs, s->layout),
                   TRS_SUCCESS);
  for (int64_t first = 0; first < s->nrhs; first += s->width) {
    const trs_span all = trs_span_of(&rhs, &S, first, s->width);
    for (int64_t row = 0; row < s->n; row += s->rows) {
      const int64_t end = row + s->rows < s->n ? row + s->rows : s->n;
      const trs_span span = trs_span_rows(&all, row, end, s->n);
      char *at = (char *)stage + trs_span_row_at(&span, row);
      const trs_rhs staged = trs_span_staged(&span, at, at);
      assert_int_equal(trs_span_bring(&span, at, NULL), TRS_SUCCESS);
      solve_doubled(&staged, end - row);
      assert_int_equal(trs_span_take(&span, at, NULL), TRS_SUCCESS);
    }
  }
  for (int64_t i = 0; i < s->n; i++)
    for (int64_t c = 0; c < s->nrhs; c++) {
      assert_true(x[at(s, s->ldx, i, c)] == 2 * b[at(s, s->ldb, i, c)]);
      x[at(s, s->ldx, i, c)] = GUARD;
    }
  for (int k = 0; k < ROOM; k++) assert_true(x[k] == GUARD); /* nothing else was written */
}

TEST(every_layout) {
  for (int layout = 0; layout < 2; layout++)
    for (int64_t n = 1; n <= MOST; n++)
      for (int64_t nrhs = 1; nrhs <= MOST; nrhs++) {
        const int64_t least = layout ? nrhs : n;
        for (int64_t ldx = least; ldx <= least + MORE; ldx++)
          for (int64_t ldb = least; ldb <= least + MORE; ldb++)
            for (int64_t width = 1; width <= nrhs; width++)
              for (int64_t rows = 1; rows <= n; rows++)
                go_through(&(shape){n, nrhs, ldx, ldb, width, rows,
                                    layout ? TRS_ROW_MAJOR : TRS_COL_MAJOR});
      }
}
