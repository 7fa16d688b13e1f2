/* diagnose.c - finds the first bad line of a Matrix Market body and the reason.  The readers only
 * detect that a line is bad, in an order that depends on the threads.  This file reads the lines
 * again one by one, so that the message is the same for any number of threads. */
#include <float.h>
#include <math.h>
#include <stdio.h>

#include "io/body.h"

typedef struct inspection {
  const trs_body *body;
  int64_t line;        /* number of the current line */
  const char *at;      /* the current item */
  const char *end;     /* end of the line, without its newline */
  int64_t seen;        /* entries before the current one */
  int64_t row, column; /* of the current entry, from 1 */
  bool above, below;   /* an earlier entry lies on that side */
} inspection;

static trs_status bad_item(const inspection *in, const char *problem) {
  const char *end = in->at;
  while (end < in->end && !trs_is_blank(*end) && *end != '\r') end++;
  if (end == in->at)
    return trs_fail(TRS_ERROR_FORMAT, in->row - 1, "%s:%lld: the line ends before its %s",
                    in->body->reading->path, (long long)in->line,
                    strstr(problem, "index") ? "indices" : "value");
  return trs_fail(TRS_ERROR_FORMAT, in->row - 1, "%s:%lld: \"%s\" %s", in->body->reading->path,
                  (long long)in->line, trs_quote_text(in->at, end - in->at).text, problem);
}

static bool item_ends(const char *text) {
  return *text == '\0' || trs_is_blank(*text) || *text == '\r' || *text == '\n';
}

static trs_status check_index(inspection *in, const char *name, int64_t limit, int64_t *index) {
  char problem[96];
  in->at = trs_skip_blanks(in->at);
  const char *after = trs_parse_index(in->at, index);
  if (!after || !item_ends(after)) {
    snprintf(problem, sizeof problem, "is not a %s index", name);
    return bad_item(in, problem);
  }
  if (*index < 1 || *index > limit) {
    snprintf(problem, sizeof problem, "is a %s index outside 1 .. %lld", name, (long long)limit);
    return bad_item(in, problem);
  }
  in->at = after;
  return TRS_SUCCESS;
}

static trs_status check_value(inspection *in, double *value) {
  bool integer = in->body->banner->field == TRS_INTEGER;
  bool nonfinite = in->body->reading->options.allow_nonfinite;
  in->at = trs_skip_blanks(in->at);
  const char *after = trs_parse_value(in->at, integer, nonfinite && !integer, value);
  if (!after) {
    const char *special = trs_parse_nonfinite(in->at, value);
    if (special && item_ends(special) && !integer) return bad_item(in, "is not finite");
    if (trs_is_real(in->at) && !trs_parse_real(in->at, value))
      return bad_item(in, "overflows the range of a double");
  }
  if (!after || !item_ends(after))
    return bad_item(in, integer ? "is not an integer" : "is not a number");
  if (!trs_scalar_is_double(in->body->scalar) && fabs(*value) > FLT_MAX && !isinf(*value) &&
      isinf((float)*value))
    return bad_item(in, "overflows the range of a float");
  in->at = after;
  return TRS_SUCCESS;
}

static trs_status check_symmetry(inspection *in, double real, double imaginary) {
  static const char *const names[] = {"general", "symmetric", "skew-symmetric", "hermitian"};
  trs_symmetry symmetry = in->body->banner->symmetry;
  const char *problem = NULL;
  in->above |= in->column > in->row;
  in->below |= in->column < in->row;
  if (in->above && in->below)
    problem = "lies across the diagonal from earlier entries: store one triangle only";
  else if (in->row == in->column && symmetry == TRS_SKEW_SYMMETRIC &&
           !(real == 0 && imaginary == 0))
    problem = "lies on the diagonal but is not zero";
  else if (in->row == in->column && symmetry == TRS_HERMITIAN && imaginary != 0 &&
           !isnan(imaginary))
    problem = "lies on the diagonal but is not real";
  if (!problem || symmetry == TRS_UNSYMMETRIC) return TRS_SUCCESS;
  return trs_fail(TRS_ERROR_FORMAT, in->row - 1,
                  "%s:%lld: entry (%lld, %lld) (1-based) of a %s matrix %s",
                  in->body->reading->path, (long long)in->line, (long long)in->row,
                  (long long)in->column, names[symmetry], problem);
}

static trs_status check_line(inspection *in) {
  const trs_banner *banner = in->body->banner;
  double real = 0, imaginary = 0;
  in->row = 0;
  if (in->seen == banner->count)
    return trs_fail(TRS_ERROR_FORMAT, -1, "%s:%lld: more entries than the %lld of line %lld",
                    in->body->reading->path, (long long)in->line, (long long)banner->count,
                    (long long)banner->size_line);
  if (banner->coordinate) {
    TRS_TRY(check_index(in, "row", banner->nrows, &in->row));
    TRS_TRY(check_index(in, "column", banner->ncols, &in->column));
  } else {
    trs_array_position(banner, in->seen, &in->row, &in->column);
    in->row++, in->column++;
  }
  if (banner->field != TRS_PATTERN) TRS_TRY(check_value(in, &real));
  if (banner->field == TRS_COMPLEX) TRS_TRY(check_value(in, &imaginary));
  in->at = trs_skip_blanks(in->at);
  if (*in->at == '\r') in->at++;
  if (in->at < in->end) return bad_item(in, "follows the entry");
  return check_symmetry(in, real, imaginary);
}

static trs_status too_few(const inspection *in) {
  int64_t last = in->line > 1 ? in->line - 1 : 1;
  return trs_fail(
      TRS_ERROR_FORMAT, -1, "%s:%lld: the file ends after %lld of the %lld entries %s",
      in->body->reading->path, (long long)last, (long long)in->seen,
      (long long)in->body->banner->count,
      in->body->banner->coordinate ? "that its size line declares" : "that its size line implies");
}

/* Checks the current lines. */
static trs_status check_lines(inspection *in) {
  const char *line = in->body->window->begin, *end = in->body->window->end;
  for (; line < end; in->line++) {
    const char *line_end = trs_line_end(line, end);
    if (!trs_skip_line(line, end)) {
      in->at = line;
      in->end = line_end;
      TRS_TRY(check_line(in));
      in->seen++;
    }
    line = line_end < end ? line_end + 1 : end;
  }
  return TRS_SUCCESS;
}

trs_status trs_body_diagnose(const trs_body *body) {
  inspection in = {.body = body, .line = body->banner->body_line};
  trs_window *w = body->window;
  TRS_TRY(trs_window_restart(w));
  while (w->begin < w->end) {
    TRS_TRY(check_lines(&in));
    TRS_TRY(trs_window_next(w));
  }
  if (in.seen < body->banner->count) return too_few(&in);
  return trs_fail(TRS_ERROR_FILE, -1, "%s has changed while it was being read: read it again",
                  body->reading->path);
}
