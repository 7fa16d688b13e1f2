/* value_tmpl.c - the value of an entry, for one element type; included in other templates. */

/* Reads the value after the blanks at text (1 for a pattern); returns the end of the value, NULL if
 * it is invalid. */
static inline const char *NAME(parse_scalar)(const char *text, const trs_body *body,
                                             SCALAR *value) {
  trs_field field = body->banner->field;
  bool nonfinite = body->reading->options.allow_nonfinite;
  double parts[2] = {1, 0};
  if (field != TRS_PATTERN)
    text = trs_parse_value(trs_skip_blanks(text), field == TRS_INTEGER, nonfinite, &parts[0]);
  if (field == TRS_COMPLEX && text)
    text = trs_is_blank(*text) ? trs_parse_value(trs_skip_blanks(text), false, nonfinite, &parts[1])
                               : NULL;
  REAL rounded[2] = {(REAL)parts[0], (REAL)parts[1]};
  if (sizeof(REAL) < sizeof(double))
    for (int part = 0; part < 2; part++)
      if (isinf(rounded[part]) && !isinf(parts[part])) return NULL;
  memcpy(value, rounded, sizeof *value);
  return text;
}

/* True for a real value or NaN. */
static inline bool NAME(is_real)(SCALAR value) { return value == CONJ(value) || value != value; }
