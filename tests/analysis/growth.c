/* growth.c - the growth of inverses: known values, scalings, numbers that are not finite; and cuts
 * of blocks whose growth is too large. */
#include "analysis/growth.h"

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "base/scalar.h"
#include "matrix/values.h"
#include "test.h"

enum { MOST = 32 };

/* A lower triangle and its inverse by columns, in one of the four types. */
typedef struct pair {
  trs_scalar scalar;
  int64_t width;
  double complex t[MOST][MOST]; /* rows, columns */
  char T[MOST * MOST * 16], N[MOST * MOST * 16];
  double room[2 * MOST];
} pair;

static void invert(pair *p) {
  double complex n[MOST][MOST];
  memset(n, 0, sizeof n);
  for (int64_t c = 0; c < p->width; c++)
    for (int64_t r = c; r < p->width; r++) {
      double complex sum = r == c;
      for (int64_t k = c; k < r; k++) sum -= p->t[r][k] * n[k][c];
      n[r][c] = sum / p->t[r][r];
    }
  for (int64_t c = 0; c < p->width; c++)
    for (int64_t r = 0; r < p->width; r++) {
      trs_value_set(p->T, r + c * p->width, p->scalar, r < c ? 0 : p->t[r][c]);
      trs_value_set(p->N, r + c * p->width, p->scalar, n[r][c]);
    }
}

static double growth_of(pair *p) {
  invert(p);
  return trs_growth(p->scalar, p->width, p->T, 0, p->width, p->N, p->room);
}

static bool cut(pair *p, uint8_t *begins) {
  invert(p);
  memset(begins, 0, MOST);
  return trs_growth_cut(p->scalar, p->width, p->T, p->N, p->room, begins);
}

/* Diagonal entries near 2, others below 1 / width. */
static void fill(pair *p, trs_scalar scalar, int64_t width, uint64_t seed) {
  p->scalar = scalar;
  p->width = width;
  for (int64_t r = 0; r < width; r++)
    for (int64_t c = 0; c <= r; c++) {
      const uint64_t k = (uint64_t)(r * MOST + c);
      double re = trs_random_signed(seed, 2 * k), im = trs_random_signed(seed, 2 * k + 1);
      p->t[r][c] = (r == c ? 2 : 0) + (re + I * im) / (double)(r == c ? 4 : width);
    }
}

TEST(known_values) {
  for (trs_scalar scalar = TRS_FLOAT; scalar <= TRS_DCOMPLEX; scalar++) {
    pair p = {.scalar = scalar, .width = 1};
    p.t[0][0] = 1e-20;
    assert_true(fabs(growth_of(&p) - 1) < 1e-6);
    p.width = 2; /* x = (1, 1) after the scaling; |N| |T| = (1, 0; 2 a, 1) */
    p.t[0][0] = p.t[1][1] = 1;
    p.t[1][0] = 1;
    assert_true(fabs(growth_of(&p) - 3) < 1e-6);
    p.t[1][1] = 1e-6; /* its row is scaled to (1, 1e-6): x = (1, 1e6) */
    assert_true(growth_of(&p) < 10);
  }
}

/* Rows and columns multiplied by powers of two. */
TEST(scalings_change_little) {
  for (uint64_t seed = 1; seed < 50; seed++) {
    pair p;
    fill(&p, TRS_DOUBLE, 2 + (int64_t)seed % 20, seed);
    const double before = growth_of(&p);
    for (int64_t r = 0; r < p.width; r++)
      for (int64_t c = 0; c <= r; c++)
        p.t[r][c] *= exp2((double)trs_random_below(seed, 7, 20) * (double)(r % 3 - c % 5));
    const double after = growth_of(&p);
    assert_true(before >= 1 && before < TRS_MOST_GROWTH);
    assert_true(after >= 1 && after < TRS_MOST_GROWTH);
  }
}

TEST(rows_have_their_own_growth) {
  pair p;
  fill(&p, TRS_DOUBLE, 9, 3);
  const double whole = growth_of(&p);
  double most = 0, rows[MOST];
  for (int64_t r = 0; r < p.width; r++) {
    for (int64_t k = 0; k < p.width; k++)
      rows[k] = creal(trs_value_get(p.N, r + k * p.width, TRS_DOUBLE));
    most = fmax(most, trs_growth(TRS_DOUBLE, p.width, p.T, r, 1, rows, p.room));
  }
  assert_true(most == whole);
}

TEST(numbers_that_are_not_finite) {
  const double bad[] = {NAN, INFINITY, 1e-320};
  for (int k = 0; k < 3; k++) {
    uint8_t begins[MOST];
    pair p;
    fill(&p, TRS_DOUBLE, 6, 5);
    p.t[2][2] = bad[k];
    assert_true(growth_of(&p) == INFINITY);
    assert_true(cut(&p, begins));
  }
}

/* A coefficient below the normal numbers, which a large right-hand side would need; a coefficient
 * that is zero because entries are, or because terms cancel, loses nothing. */
TEST(coefficients_that_underflow) {
  for (trs_scalar scalar = TRS_FLOAT; scalar <= TRS_DCOMPLEX; scalar++) {
    const bool wide = trs_scalar_is_double(scalar);
    const double large = wide ? 1e200 : 1e25;
    pair p = {.scalar = scalar, .width = 2};
    uint8_t begins[MOST];
    p.t[0][0] = 1;
    p.t[1][0] = 1 / large;
    p.t[1][1] = large;
    assert_true(growth_of(&p) == INFINITY);
    assert_true(cut(&p, begins));
    assert_int_equal(begins[1], 1);
    p.t[1][0] = 0;
    assert_true(growth_of(&p) < 10);
    p = (pair){.scalar = scalar, .width = 3};
    p.t[0][0] = p.t[1][1] = p.t[2][2] = 1;
    p.t[1][0] = p.t[2][0] = p.t[2][1] = 1;
    assert_true(growth_of(&p) < 10);
  }
}

TEST(good_blocks_stay_whole) {
  static const uint8_t none[MOST];
  for (int64_t width = 1; width <= MOST; width++) {
    uint8_t begins[MOST];
    pair p;
    fill(&p, (trs_scalar)(TRS_FLOAT + width % 4), width, (uint64_t)width);
    assert_false(cut(&p, begins));
    assert_memory_equal(begins, none, MOST);
  }
}

/* A tiny pivot in one row: the blocks that it leaves are good, aligned, and no pair of halves could
 * have stayed together. */
TEST(weak_blocks_are_cut) {
  for (int64_t width = 2; width <= MOST; width++)
    for (int64_t weak = 1; weak < width; weak += 3) {
      uint8_t begins[MOST];
      pair p;
      fill(&p, (trs_scalar)(TRS_FLOAT + weak % 4), width, (uint64_t)(width * MOST + weak));
      p.t[weak][weak] *= 1e-9;
      if (weak + 1 < width) assert_true(cut(&p, begins));
      if (!cut(&p, begins)) continue; /* the last row scales its own x */
      for (int64_t at = 0, end; at < width; at = end) {
        for (end = at + 1; end < width && !begins[end];) end++;
        const int64_t size = end - at;
        pair part = {.scalar = p.scalar, .width = size};
        for (int64_t r = 0; r < size; r++)
          for (int64_t c = 0; c <= r; c++) part.t[r][c] = p.t[at + r][at + c];
        assert_true(growth_of(&part) <= TRS_MOST_GROWTH);
        assert_true(at % size == 0 || end == width);
      }
    }
}

TEST(a_weak_row_costs_few_cuts) {
  uint8_t begins[MOST];
  int count = 0;
  pair p;
  fill(&p, TRS_DOUBLE, MOST, 11);
  p.t[12][12] *= 1e-9;
  assert_true(cut(&p, begins));
  for (int64_t k = 0; k < MOST; k++) count += begins[k];
  assert_true(begins[8] && begins[12] && begins[16]); /* as the first row of a block it is scaled */
  assert_int_equal(count, 3);
}
