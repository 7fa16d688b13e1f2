/* strips.c - makes strips of the rows of a triangle, and fills them with values. */
#include "solve/serial/strips.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { MOST_SLOTS = 64 };

/* The entries of a row beside the diagonal, from the farthest to the nearest: first, first + step,
 * and so on. */
typedef struct row {
  int64_t i, first, count, diagonal;
} row;

static row row_at(const trs_system *S, int64_t place) {
  const int64_t i = trs_in_sweep(S, place);
  int64_t begin, end;
  trs_off_diagonal(S, i, S->lower, S->has_diagonal, &begin, &end);
  return (row){i, S->lower ? begin : end - 1, end - begin, S->lower ? end : begin - 1};
}

static int64_t fours_of(const row *r) { return (r->count + TRS_STRIP - 1) / TRS_STRIP; }

static int64_t step_of(const trs_system *S) { return S->lower ? 1 : -1; }

/* The lowest row of a strip that begins at that place. */
static int64_t lowest(const trs_system *S, int64_t place) {
  return S->lower ? place : S->n - place - TRS_STRIP;
}

/* ---- The pattern ---- */

/* The slots of a strip: the distances of their entries from the diagonal. */
typedef struct slots {
  int64_t far[MOST_SLOTS];
  int count;
  bool chained;
} slots;

/* Whether every row of the strip has the pattern of its first one, moved along. */
static bool is_moved(const trs_system *S, const row *r) {
  const int64_t step = step_of(S);
  bool same = true;
  for (int l = 1; l < TRS_STRIP; l++) {
    if (r[l].count != r[0].count) return false;
    for (int64_t e = 0; e < r[0].count; e++)
      same &= S->idx[r[l].first + e * step] - S->idx[r[0].first + e * step] == l * step;
  }
  return same;
}

static int64_t distance(const trs_system *S, const row *r, int64_t e) {
  return llabs(r->i - S->idx[r->first + e * step_of(S)]);
}

/* The largest distance of the entries at e[] of the first rows; 0: none is left. */
static int64_t farthest(const trs_system *S, const row *r, int rows, const int64_t *e) {
  int64_t far = 0;
  for (int l = 0; l < rows; l++)
    if (e[l] < r[l].count && distance(S, &r[l], e[l]) > far) far = distance(S, &r[l], e[l]);
  return far;
}

/* Finds the slots of four rows; false: they make no strip.  A slot with fewer than 2.5 entries
 * takes more memory than these.  The first of four equal rows stands for all. */
static bool find_slots(const trs_system *S, const row *r, int64_t place, slots *found) {
  const int rows = is_moved(S, r) ? 1 : TRS_STRIP;
  int64_t e[TRS_STRIP] = {0}, entries = 0, far;
  found->count = 0;
  while ((far = farthest(S, r, rows, e)) > 1) {
    if (found->count == MOST_SLOTS || far < TRS_STRIP || far > place) return false;
    found->far[found->count++] = far;
    for (int l = 0; l < rows; l++) {
      const bool has = e[l] < r[l].count && distance(S, &r[l], e[l]) == far;
      e[l] += has;
      entries += has;
    }
  }
  found->chained = far == 1;
  for (int l = 0; l < rows; l++) entries += e[l] < r[l].count;
  return 2 * entries * (TRS_STRIP / rows) >= 5 * (found->count + found->chained);
}

/* Appends strips and rows to index; *open: the head of the rows before, or -1. */
static void append_strip(trs_strips *s, const trs_system *S, int64_t place, const slots *found) {
  const int64_t low = lowest(S, place);
  s->index[s->nindex++] = 2 * found->count + found->chained;
  for (int q = 0; q < found->count; q++)
    s->index[s->nindex++] = (int32_t)(S->lower ? low - found->far[q] : low + found->far[q]);
  s->nvalue += (int64_t)TRS_STRIP * (found->count + found->chained);
  s->in_strips += TRS_STRIP;
}

static void append_row(trs_strips *s, const trs_system *S, const row *r, int64_t *open) {
  if (*open < 0) {
    *open = s->nindex++;
    s->index[*open] = 0;
  }
  const int64_t fours = fours_of(r), last = r->count - 1;
  s->index[*open]--;
  s->index[s->nindex++] = (int32_t)fours;
  for (int64_t e = 0; e < TRS_STRIP * fours; e++)
    s->index[s->nindex++] = S->idx[r->first + (e < last ? e : last) * step_of(S)];
  s->nvalue += TRS_STRIP * fours;
}

/* Strips are not looked for where few rows are the row before, moved along. */
static void find_strips(trs_strips *s, const trs_system *S) {
  const bool any = trs_system_moved(S, 1);
  int64_t open = -1;
  for (int64_t place = 0; place < S->n;) {
    row r[TRS_STRIP];
    slots found;
    const bool room = any && place + TRS_STRIP <= S->n;
    for (int l = 0; l < (room ? TRS_STRIP : 1); l++) r[l] = row_at(S, place + l);
    if (room && find_slots(S, r, place, &found)) {
      append_strip(s, S, place, &found);
      open = -1;
      place += TRS_STRIP;
    } else {
      append_row(s, S, &r[0], &open);
      place++;
    }
  }
}

trs_status trs_strips_create(trs_strips **strips, const trs_system *S) {
  trs_strips *s;
  TRS_TRY(TRS_ALLOC_ZERO(strips, 1));
  s = *strips;
  s->n = S->n;
  s->lower = S->lower;
  TRS_TRY(TRS_ALLOC(&s->index, S->nnz + (TRS_STRIP + 1) * S->n + 1)); /* most that rows need */
  find_strips(s, S);
  TRS_TRY(trs_realloc((void **)&s->index, s->nindex, sizeof *s->index));
  if (!S->unit) TRS_TRY(TRS_ALLOC(&s->inverse, S->n));
  return TRS_ALLOC(&s->value, s->nvalue);
}

void trs_strips_destroy(trs_strips *s) {
  if (s) TRS_FREE_ALL(s->index, s->value, s->inverse, s);
}

int64_t trs_strips_bytes(const trs_strips *s) {
  return TRS_HELD(s, s->index, s->value, s->inverse);
}

/* ---- The values ---- */

static trs_status refuse(int64_t i, double value, const char *what) {
  return trs_fail(TRS_ERROR_UNSUPPORTED, i,
                  "row %lld (0-based) has the value %g, too %s to be stored as a float: store "
                  "values in their own type",
                  (long long)i, value, what);
}

/* Floats hold a row if its largest value is in their range.  Values that are small beside it lose
 * nothing that the row keeps; NaN and infinity are values of floats. */
static trs_status check_row(const trs_system *S, const row *r, double most) {
  const double *val = S->val;
  const double pivot = S->unit ? 1 : fabs(val[r->diagonal]);
  if (most <= FLT_MAX && (most >= FLT_MIN || most == 0 || pivot >= FLT_MIN)) return TRS_SUCCESS;
  if (most < FLT_MIN) return refuse(r->i, most, "small");
  for (int64_t e = 0; e < r->count; e++) {
    const double value = val[r->first + e * step_of(S)];
    if (isfinite(value) && fabs(value) > FLT_MAX) return refuse(r->i, value, "large");
  }
  return TRS_SUCCESS;
}

/* Entry e of a row as a float; *most: the largest so far. */
static inline float narrow(const trs_system *S, const row *r, int64_t e, int64_t step,
                           double *most) {
  const double value = ((const double *)S->val)[r->first + e * step], size = fabs(value);
  *most = size > *most ? size : *most;
  return (float)value;
}

/* A row with holes in its strip. */
static void fill_some(const trs_system *S, const row *r, const int32_t *index, int64_t lane,
                      float *value, double *most) {
  const int count = *index / 2, all = count + *index % 2;
  const int64_t step = step_of(S);
  int64_t e = 0;
  for (int q = 0; q < all; q++) {
    const int64_t column = q < count ? index[1 + q] + lane : r->i - step;
    const bool has = e < r->count && S->idx[r->first + e * step] == column;
    value[q * TRS_STRIP] = has ? narrow(S, r, e, step, most) : 0;
    e += has;
  }
}

static trs_status fill_strip(const trs_strips *s, const trs_system *S, int64_t place,
                             const int32_t *index, float *value) {
  const int all = *index / 2 + *index % 2;
  const int64_t low = lowest(S, place), step = step_of(S);
  for (int l = 0; l < TRS_STRIP; l++) {
    const row r = row_at(S, place + l);
    const int64_t lane = r.i - low;
    double most = 0;
    if (r.count == all)
      for (int q = 0; q < all; q++) value[q * TRS_STRIP + lane] = narrow(S, &r, q, step, &most);
    else
      fill_some(S, &r, index, lane, value + lane, &most);
    TRS_TRY(check_row(S, &r, most));
    if (s->inverse) s->inverse[r.i] = 1 / ((const double *)S->val)[r.diagonal];
  }
  return TRS_SUCCESS;
}

static trs_status fill_row(const trs_strips *s, const trs_system *S, int64_t place, float *value) {
  const row r = row_at(S, place);
  double most = 0;
  for (int64_t e = 0; e < TRS_STRIP * fours_of(&r); e++)
    value[e] = e < r.count ? narrow(S, &r, e, step_of(S), &most) : 0;
  if (s->inverse) s->inverse[r.i] = 1 / ((const double *)S->val)[r.diagonal];
  return check_row(S, &r, most);
}

trs_status trs_strips_fill(trs_strips *s, const trs_system *S, trs_team *team) {
  const int32_t *index = s->index;
  float *value = s->value;
  for (int64_t place = 0; place < s->n;) {
    if (*index >= 0) {
      TRS_TRY(fill_strip(s, S, place, index, value));
      value += TRS_STRIP * (*index / 2 + *index % 2);
      index += 1 + *index / 2;
      place += TRS_STRIP;
      continue;
    }
    for (int64_t rows = -(int64_t)*index++; rows > 0; rows--, place++) {
      TRS_TRY(fill_row(s, S, place, value));
      value += TRS_STRIP * *index;
      index += 1 + TRS_STRIP * *index;
    }
  }
  s->scales = S->unit || trs_system_scales(S, team);
  return TRS_SUCCESS;
}
