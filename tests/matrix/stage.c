/* stage.c - right-hand sides by way of a stage: every small shape, layout and leading dimension,
 * with as many columns and rows at a time as fit.  Host memory stands for a GPU's. */
#include "matrix/stage.h"

#include "device_stand_in.h"
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
  for (int k = 0; k < ROOM; k++) b[k] = k + 1, x[k] = GUARD;
  assert_int_equal(trs_rhs_make(&rhs, s->n, TRS_DOUBLE, x, s->ldx, b, s->ldb, s->nrhs, s->layout),
                   TRS_SUCCESS);
  for (int64_t first = 0; first < s->nrhs; first += s->width) {
    const trs_span all = trs_span_of(&rhs, s->n, TRS_DOUBLE, first, s->width);
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

/* ---- Passage: of columns and of systems, through one slot or two ---- */

enum { SYSTEMS = 5, PITCH = ROOM + 1 };

static void work(const trs_span *part) {
  for (int64_t k = 0; k < part->systems; k++) {
    trs_rhs rhs = part->rhs;
    rhs.x = (double *)rhs.x + k * part->rhs.x_next;
    rhs.b = (const double *)rhs.b + k * part->rhs.b_next;
    solve_doubled(&rhs, part->n);
  }
}

/* s->width: columns at a time; 0: `systems` systems at a time. */
static void pass(const shape *s, int64_t total, int64_t systems, int slots) {
  double b[SYSTEMS * PITCH], x[SYSTEMS * PITCH];
  trs_rhs rhs;
  trs_stage stage = {.slots = 1};
  int64_t seen = 0;
  for (int k = 0; k < SYSTEMS * PITCH; k++) b[k] = k + 1, x[k] = GUARD;
  assert_int_equal(trs_device_open(&stage.device, 0), TRS_SUCCESS);
  assert_int_equal(trs_rhs_make(&rhs, s->n, TRS_DOUBLE, x, s->ldx, b, s->ldb, s->nrhs, s->layout),
                   TRS_SUCCESS);
  if (slots == 2) assert_int_equal(trs_stage_overlap(&stage), TRS_SUCCESS);
  trs_passage p = {.all = trs_span_of(&rhs, s->n, TRS_DOUBLE, 0, s->nrhs),
                   .by_systems = s->width == 0,
                   .end = s->width ? s->nrhs : total,
                   .width = s->width ? s->width : systems,
                   .stage = &stage};
  p.all.systems = total;
  p.all.rhs.b_next = p.all.rhs.x_next = PITCH;
  const int64_t one = s->n * (int64_t)sizeof(double) * (s->width ? 1 : s->nrhs);
  assert_int_equal(trs_stage_need(&stage, p.width * one, NULL), TRS_SUCCESS);
  while (!trs_passage_is_over(&p)) {
    assert_int_equal(trs_passage_bring(&p), TRS_SUCCESS);
    work(&p.here);
    seen += p.by_systems ? p.here.systems : p.here.rhs.nrhs;
    assert_int_equal(trs_passage_take(&p), TRS_SUCCESS);
  }
  assert_int_equal(seen, p.end);
  for (int64_t k = 0; k < total; k++)
    for (int64_t i = 0; i < s->n; i++)
      for (int64_t c = 0; c < s->nrhs; c++) {
        double *own = &x[k * PITCH + at(s, s->ldx, i, c)];
        assert_true(*own == 2 * b[k * PITCH + at(s, s->ldb, i, c)]);
        *own = GUARD;
      }
  for (int k = 0; k < SYSTEMS * PITCH; k++) assert_true(x[k] == GUARD);
  trs_stage_close(&stage, NULL);
  assert_int_equal(stand_in_held(), 0);
}

TEST(passages_in_parts) {
  for (int layout = 0; layout < 2; layout++)
    for (int64_t n = 1; n <= MOST; n++)
      for (int64_t nrhs = 1; nrhs <= MOST; nrhs++)
        for (int64_t more = 0; more <= MORE; more++)
          for (int slots = 1; slots <= 2; slots++) {
            const int64_t least = layout ? nrhs : n;
            shape s = {.n = n,
                       .nrhs = nrhs,
                       .ldx = least + more,
                       .ldb = least + MORE - more,
                       .layout = layout ? TRS_ROW_MAJOR : TRS_COL_MAJOR};
            for (int64_t systems = 1; systems <= SYSTEMS; systems++) {
              pass(&s, SYSTEMS, systems, slots);
              pass(&s, 1, systems, slots);
            }
            for (s.width = 1; s.width <= nrhs; s.width++) pass(&s, 1, 1, slots);
          }
}
