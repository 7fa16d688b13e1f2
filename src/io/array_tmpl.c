/* array_tmpl.c - stores the values of a dense array, for one element type. */

#include "io/value_tmpl.c"

/* The position after a value: down the columns, of the lower triangle if symmetric. */
static void NAME(put)(trs_array *array, int64_t i, int64_t j, SCALAR value) {
  SCALAR *values = array->values;
  trs_symmetry symmetry = array->body->banner->symmetry;
  int64_t nrows = array->body->banner->nrows;
  values[i + j * nrows] = value;
  if (symmetry == TRS_UNSYMMETRIC || i == j) return;
  if (symmetry == TRS_SKEW_SYMMETRIC) value = -value;
  if (symmetry == TRS_HERMITIAN) value = CONJ(value);
  values[j + i * nrows] = value;
}

/* Reads the lines [text, end), the first of which holds value number `number`.  False if one is
 * bad. */
static bool NAME(fill_lines)(trs_array *array, int64_t number, const char *text, const char *end) {
  const trs_banner *banner = array->body->banner;
  int64_t i, j;
  trs_array_position(banner, number, &i, &j);
  while (text < end) {
    SCALAR value;
    text = trs_skip_blanks(text);
    const char *next = trs_skip_line(text, end);
    if (next) {
      text = next;
      continue;
    }
    if (i >= banner->nrows || j >= banner->ncols) return false;
    text = NAME(parse_scalar)(text, array->body, &value);
    text = text ? trs_next_line(text, end) : NULL;
    if (!text || (i == j && banner->symmetry == TRS_HERMITIAN && !NAME(is_real)(value)))
      return false;
    NAME(put)(array, i, j, value);
    if (++i == banner->nrows) i = trs_array_first_row(banner, ++j);
  }
  return true;
}
