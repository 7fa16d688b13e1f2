/* matrix_market_write_tmpl.c - formats entries and values as text, for one element type. */

static char *NAME(format_value)(char *text, SCALAR value) {
  REAL parts[2] = {0};
  memcpy(parts, &value, sizeof value);
  for (int part = 0; part <= IS_COMPLEX; part++) {
    if (part) *text++ = ' ';
    text = sizeof(REAL) < sizeof(double) ? trs_format_float(text, (float)parts[part])
                                         : trs_format_double(text, (double)parts[part]);
  }
  *text++ = '\n';
  return text;
}

/* Entries [begin, end), of which the first lies in vector v. */
static char *NAME(format_entries)(char *text, const trs_matrix *A, int64_t v, int64_t begin,
                                  int64_t end) {
  const SCALAR *val = A->val;
  for (int64_t p = begin; p < end; p++) {
    while (A->ptr[v + 1] <= p) v++;
    bool rows = A->format == TRS_CSR;
    text = trs_format_index(text, 1 + (rows ? v : A->idx[p]));
    *text++ = ' ';
    text = trs_format_index(text, 1 + (rows ? A->idx[p] : v));
    *text++ = ' ';
    text = NAME(format_value)(text, val[p]);
  }
  return text;
}

/* Values [begin, end), counted down the columns. */
static char *NAME(format_values)(char *text, const trs_dense *dense, int64_t begin, int64_t end) {
  const SCALAR *values = dense->values;
  int64_t row_step = dense->layout == TRS_ROW_MAJOR ? dense->ld : 1;
  int64_t column_step = dense->layout == TRS_ROW_MAJOR ? 1 : dense->ld;
  for (int64_t k = begin; k < end; k++) {
    int64_t i = k % dense->nrows, j = k / dense->nrows;
    text = NAME(format_value)(text, values[i * row_step + j * column_step]);
  }
  return text;
}
