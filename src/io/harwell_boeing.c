/* harwell_boeing.c - reads the Harwell-Boeing format (Duff, Grimes, Lewis 1992, "Users' guide for
 * the Harwell-Boeing sparse matrix collection") and the Rutherford-Boeing format (the same authors,
 * 1997), whose matrices differ in the third number of a line only:
 *
 *     title
 *     lines: all, of pointers, of indices, of values, of right-hand sides
 *     type   rows columns entries elements
 *     Fortran formats of these numbers
 *     (a line about right-hand sides, if there are any)
 *     pointers by column, row indices, values
 *
 * Numbers lie where a READ with these formats finds them (fortran.h).  A line that has fewer goes
 * on in the next one.  Right-hand sides are left out. One thread reads; O(text). */
#include "io/harwell_boeing.h"

#include <math.h>
#include <string.h>

#include "base/text.h"
#include "io/coordinate.h"
#include "io/expand.h"
#include "io/fortran.h"
#include "matrix/values.h"

enum { MOST_WIDTH = TRS_FORTRAN_WIDTH };

typedef struct text {
  const char *path;
  const char *at, *end; /* the text not yet read */
  int64_t line;         /* the number of the line that contains `at` */
  const char *begin;    /* of a line of numbers that was begun; or NULL */
  const char *line_end; /* its end, without blanks */
  int64_t column;       /* in it, perhaps behind its end, where `at` stays */
  bool words;           /* its fields are words between blanks */
} text;

typedef struct head {
  char type[4]; /* in capitals */
  int64_t nrows, ncols, count;
  trs_fortran format[3]; /* of pointers, indices, values */
  bool has_lines;        /* of right-hand sides */
} head;

static trs_status bad(const text *t, const char *problem) {
  return trs_fail(TRS_ERROR_FORMAT, -1, "%s:%lld: %s", t->path, (long long)t->line, problem);
}

static const char *end_of_line(const text *t) {
  if (t->at >= t->end) return t->at;
  const char *end = trs_line_end(t->at, t->end);
  while (end > t->at && (trs_is_blank(end[-1]) || end[-1] == '\r')) end--;
  return end;
}

static void next_line(text *t) {
  const char *end = trs_line_end(t->at, t->end);
  t->at = end < t->end ? end + 1 : end;
  t->line++;
  t->begin = NULL;
}

/* ---- The head. ---- */

/* Up to count numbers of the line from `at` on; the number of those found. */
static int read_numbers(const char *at, const char *end, int64_t *numbers, int count) {
  int found = 0;
  while (found < count) {
    while (at < end && trs_is_blank(*at)) at++;
    const char *after = at < end ? trs_parse_index(at, &numbers[found]) : NULL;
    if (!after) break;
    at = after;
    found++;
  }
  return found;
}

static bool is_type(const char *at) {
  static const char *const letters[] = {"RCPI", "SUHZR", "AE"};
  for (int k = 0; k < 3; k++)
    if (!at[k] || !strchr(letters[k], trs_upper(at[k]))) return false;
  return trs_is_blank(at[3]);
}

bool trs_is_harwell_boeing(const char *begin, const char *end) {
  text t = {.at = begin, .end = end};
  int64_t lines[4];
  next_line(&t);
  if (read_numbers(t.at, end_of_line(&t), lines, 4) < 4) return false;
  next_line(&t);
  if (t.end - t.at < 4 || !is_type(t.at)) return false;
  next_line(&t);
  while (t.at < t.end && trs_is_blank(*t.at)) t.at++;
  return t.at < t.end && *t.at == '(';
}

/* The formats of a line, one behind the other; the number of those found. */
static int read_formats(const char *at, const char *end, trs_fortran *formats) {
  int found = 0;
  while (found < 3) {
    while (at < end && *at != '(') at++;
    if (!trs_fortran_parse(&formats[found], at, end, &at)) break;
    found++;
  }
  return found;
}

static trs_status read_head(text *t, head *h) {
  int64_t lines[5] = {0}, sizes[3];
  next_line(t);
  read_numbers(t->at, end_of_line(t), lines, 5);
  h->has_lines = lines[4] > 0;
  next_line(t);
  for (int k = 0; k < 3; k++) h->type[k] = trs_upper(t->at[k]);
  if (read_numbers(t->at + 3, end_of_line(t), sizes, 3) < 3)
    return bad(t, "the line must be \"type rows columns entries\"");
  if (sizes[0] > INT32_MAX || sizes[1] > INT32_MAX)
    return bad(t, "the matrix is too large: rows and columns must not exceed 2147483647");
  if (h->type[2] == 'E')
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "%s:%lld: the matrix is given by elements that are not assembled, which is not "
                    "supported",
                    t->path, (long long)t->line);
  if (strchr("SHZ", h->type[1]) && sizes[0] != sizes[1])
    return bad(t, "the matrix is not square, as its symmetry requires");
  h->nrows = sizes[0];
  h->ncols = sizes[1];
  h->count = sizes[2];
  next_line(t);
  if (read_formats(t->at, end_of_line(t), h->format) < (h->type[0] == 'P' ? 2 : 3))
    return bad(t,
               "the line must hold the formats of pointers, indices and values, such as "
               "(16I5) (16I5) (5E16.8)");
  if (h->has_lines) next_line(t);
  next_line(t);
  return TRS_SUCCESS;
}

/* ---- Fields. ---- */

typedef struct field {
  char text[2 * MOST_WIDTH + TRS_TEXT_SLACK];  /* without blanks, ended by zeros */
  char given[2 * MOST_WIDTH + TRS_TEXT_SLACK]; /* before the format is applied, for messages */
} field;

/* Whether the line has as many words as fields: then words are fields.  SciPy declares a width that
 * is too large by one. */
static bool has_words(const char *at, const char *end, int width) {
  int64_t words = 0, fields = (end - at + width - 1) / width;
  for (bool blank = true; at < end; at++) {
    words += blank && !trs_is_blank(*at);
    blank = trs_is_blank(*at);
  }
  return words == fields;
}

/* Lines without a number are passed over.  In a format of fields alone, a line may have words
 * instead; what lies behind its fields is no part of it. */
static trs_status begin_line(text *t, const trs_fortran *f) {
  while (t->at < t->end && t->at >= end_of_line(t)) next_line(t);
  if (t->at >= t->end) return bad(t, "the file ends before its last number");
  const trs_fortran_edit *only = &f->edit[0];
  const char *end = end_of_line(t);
  t->begin = t->at;
  t->column = 0;
  t->line_end = end;
  t->words = f->nedits == 1;
  if (!t->words) return TRS_SUCCESS;
  if (end - t->at > (int64_t)only->count * only->width)
    end = t->at + (int64_t)only->count * only->width;
  t->line_end = end;
  t->words = has_words(t->at, end, only->width);
  return TRS_SUCCESS;
}

static void end_line(text *t, trs_fortran *f) {
  next_line(t);
  trs_fortran_restart(f);
}

static void move_to(text *t, int64_t column) {
  const int64_t length = t->line_end - t->begin;
  t->column = column < 0 ? 0 : column;
  t->at = t->begin + (t->column < length ? t->column : length);
}

/* Moves on to the next field that is not behind the last number of its line. */
static trs_status find_field(text *t, trs_fortran *f, const trs_fortran_edit **found) {
  for (;;) {
    if (!t->begin) TRS_TRY(begin_line(t, f));
    const trs_fortran_edit *edit = trs_fortran_next(f);
    if (!edit) {
      end_line(t, f);
    } else if (edit->kind == TRS_EDIT_FIELD) {
      *found = edit;
      if (t->at < t->line_end) return TRS_SUCCESS;
      end_line(t, f);
    } else if (edit->kind == TRS_EDIT_SCALE) {
      f->scale = edit->count;
    } else if (edit->kind == TRS_EDIT_LINE) {
      for (int k = 0; k < edit->count && t->at < t->end; k++) next_line(t);
    } else {
      move_to(t, (edit->kind == TRS_EDIT_TO ? 0 : t->column) + edit->count);
    }
  }
}

static const char *end_of_field(text *t, int width) {
  const char *end = t->at;
  if (!t->words) return t->line_end - t->at > width ? t->at + width : t->line_end;
  while (t->at < t->line_end && trs_is_blank(*t->at)) t->at++;
  for (end = t->at; end < t->line_end && !trs_is_blank(*end); end++) continue;
  return end - t->at > width ? t->at + width : end;
}

/* The next field; a blank one is 0.  An exponent without its letter, as Fortran writes -0.5-100,
 * gets one. */
static trs_status next_field(text *t, trs_fortran *f, field *to, const trs_fortran_edit **edit) {
  TRS_TRY(find_field(t, f, edit));
  const char *stop = end_of_field(t, (*edit)->width);
  int length = 0;
  memset(to->text, 0, sizeof to->text);
  for (; t->at < stop; t->at++) {
    if (trs_is_blank(*t->at)) continue;
    const bool sign = *t->at == '-' || *t->at == '+';
    if (sign && length && strchr("0123456789.", to->text[length - 1])) to->text[length++] = 'e';
    to->text[length++] = *t->at;
  }
  if (length == 0) to->text[0] = '0';
  memcpy(to->given, to->text, sizeof to->given);
  if (!t->words) move_to(t, t->column + (*edit)->width);
  return TRS_SUCCESS;
}

/* Writes what the format says of a number without a point or an exponent into its exponent. */
static void apply_format(field *to, const trs_fortran_edit *edit, int scale) {
  char *digits = to->text, *exponent = digits + strcspn(digits, "eEdDqQ");
  const bool has = *exponent;
  int64_t power = has ? 0 : -scale;
  if (!strpbrk(digits, "0123456789") || !edit->real) return; /* NaN, or an integer */
  if (memchr(digits, '.', (size_t)(exponent - digits)) == NULL) power -= edit->digits;
  if (power == 0) return;
  if (has) {
    const char *after = exponent + 1;
    int64_t given = 0;
    const bool negative = *after == '-';
    after += *after == '-' || *after == '+';
    for (; *after >= '0' && *after <= '9'; after++)
      if (given < 1000000) given = 10 * given + (*after - '0');
    if (*after) return; /* no number */
    power += negative ? -given : given;
  }
  (void)trs_print(exponent, (size_t)(to->text + sizeof to->text - exponent), "e%lld",
                  (long long)power);
}

static trs_status bad_field(const text *t, const field *f, const char *what) {
  return trs_fail(TRS_ERROR_FORMAT, -1, "%s:%lld: \"%s\" is not %s", t->path, (long long)t->line,
                  trs_quote_text(f->given, (int64_t)strlen(f->given)).text, what);
}

static trs_status read_index(text *t, trs_fortran *format, const char *what, int64_t least,
                             int64_t most, int64_t *index) {
  const trs_fortran_edit *edit;
  field f;
  TRS_TRY(next_field(t, format, &f, &edit));
  const char *after = trs_parse_index(f.text, index);
  if (!after || *after) return bad_field(t, &f, what);
  if (*index >= least && *index <= most) return TRS_SUCCESS;
  return trs_fail(TRS_ERROR_FORMAT, -1, "%s:%lld: \"%s\" is %s outside %lld .. %lld", t->path,
                  (long long)t->line, f.text, what, (long long)least, (long long)most);
}

static trs_status read_real(text *t, trs_fortran *format, const trs_reading *reading,
                            trs_scalar scalar, double *value) {
  const trs_fortran_edit *edit;
  field f;
  TRS_TRY(next_field(t, format, &f, &edit));
  apply_format(&f, edit, format->scale);
  const char *after = trs_parse_value(f.text, false, reading->options.allow_nonfinite, value);
  if (!after || *after) return bad_field(t, &f, "a finite number");
  if (!trs_scalar_is_double(scalar) && isinf((float)*value) && !isinf(*value))
    return bad_field(t, &f, "in the range of a float");
  return TRS_SUCCESS;
}

/* ---- The matrix. ---- */

/* Every number takes a byte of text: checked before memory is allocated. */
static trs_status check_length(const text *t, const head *h) {
  const int64_t values = h->type[0] == 'P' ? 0 : h->type[0] == 'C' ? 2 : 1;
  if (h->count <= (t->end - t->at - h->ncols - 1) / (1 + values)) return TRS_SUCCESS;
  return trs_fail(TRS_ERROR_FORMAT, -1,
                  "%s:3: the file is too short for %lld columns and %lld entries", t->path,
                  (long long)h->ncols, (long long)h->count);
}

/* major: the column of each entry. */
static trs_status read_pointers(text *t, head *h, trs_entries *e) {
  int64_t before = 1, pointer;
  TRS_TRY(TRS_ALLOC(&e->major, h->count));
  for (int64_t j = 0; j <= h->ncols; j++) {
    TRS_TRY(
        read_index(t, &h->format[0], "a pointer", j ? before : 1, j ? h->count + 1 : 1, &pointer));
    for (; before < pointer; before++) e->major[before - 1] = (int32_t)(j - 1);
  }
  if (before != h->count + 1) return bad(t, "the last pointer is not the number of entries plus 1");
  if (t->at < t->end) next_line(t);
  return TRS_SUCCESS;
}

static trs_status read_indices(text *t, head *h, trs_entries *e) {
  int64_t row;
  TRS_TRY(TRS_ALLOC(&e->minor, h->count));
  for (int64_t k = 0; k < h->count; k++) {
    TRS_TRY(read_index(t, &h->format[1], "a row index", 1, h->nrows, &row));
    e->minor[k] = (int32_t)(row - 1);
  }
  if (h->count) next_line(t);
  return TRS_SUCCESS;
}

static trs_status read_values(text *t, head *h, const trs_reading *reading, trs_entries *e) {
  TRS_TRY(trs_alloc_zero(&e->val, h->count, trs_scalar_size(e->scalar)));
  if (h->type[0] == 'P') return TRS_SUCCESS;
  for (int64_t k = 0; k < h->count; k++) {
    double parts[2] = {0};
    TRS_TRY(read_real(t, &h->format[2], reading, e->scalar, &parts[0]));
    if (h->type[0] == 'C') TRS_TRY(read_real(t, &h->format[2], reading, e->scalar, &parts[1]));
    trs_value_set(e->val, k, e->scalar, CMPLX(parts[0], parts[1]));
  }
  return TRS_SUCCESS;
}

static trs_symmetry symmetry_of(const head *h) {
  if (h->type[1] == 'S' || (h->type[1] != 'U' && h->type[1] != 'R' && h->type[0] == 'P'))
    return TRS_SYMMETRIC;
  if (h->type[1] == 'H') return h->type[0] == 'C' ? TRS_HERMITIAN : TRS_SYMMETRIC;
  return h->type[1] == 'Z' ? TRS_SKEW_SYMMETRIC : TRS_UNSYMMETRIC;
}

static trs_status read_entries(text *t, const trs_reading *reading, head *h, trs_entries *e) {
  TRS_TRY(read_head(t, h));
  TRS_TRY(trs_reading_scalar(reading, h->type[0] == 'C', &e->scalar));
  *e = (trs_entries){.kind = TRS_SWAPPED_PAIRS,
                     .symmetry = symmetry_of(h),
                     .scalar = e->scalar,
                     .nrows = h->nrows,
                     .ncols = h->ncols,
                     .count = h->count};
  TRS_TRY(check_length(t, h));
  TRS_TRY(read_pointers(t, h, e));
  TRS_TRY(read_indices(t, h, e));
  return read_values(t, h, reading, e);
}

/* The library's message does not know the file. */
static trs_status blame_file(const trs_reading *reading, trs_status status) {
  trs_failure failure;
  if (status != TRS_ERROR_STRUCTURE) return status;
  trs_failure_get(&failure);
  return trs_fail(TRS_ERROR_FORMAT, failure.row, "%s: %s", reading->path, failure.message);
}

trs_status trs_harwell_boeing_read(trs_matrix **A, trs_window *window, const trs_reading *reading) {
  head h = {.type = ""};
  trs_entries e = {.kind = TRS_SWAPPED_PAIRS};
  while (!window->ended) TRS_TRY(trs_window_widen(window));
  text t = {.path = reading->path, .at = window->begin, .end = window->end, .line = 1};
  trs_status status = read_entries(&t, reading, &h, &e);
  if (status) {
    trs_entries_release(&e);
    return status;
  }
  TRS_TRY(blame_file(reading, trs_entries_adopt(A, &e)));
  if (h.type[0] == 'P') trs_pattern_values(*A, e.symmetry == TRS_SYMMETRIC, reading);
  trs_reading_progress(reading, "reading", 1);
  return TRS_SUCCESS;
}
