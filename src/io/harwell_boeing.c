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
 * Numbers lie in fields of fixed width without blanks between them.  Right-hand sides are left out.
 * One thread reads; O(text). */
#include "io/harwell_boeing.h"

#include <math.h>
#include <string.h>

#include "io/coordinate.h"
#include "io/expand.h"
#include "matrix/values.h"

enum { HEAD = 4, MOST_WIDTH = 128 };

typedef struct text {
  const char *path;
  const char *at, *end; /* the text not yet read */
  int64_t line;         /* the number of the line that contains `at` */
  const char
      *line_end; /* of a line of numbers that was begun, without blanks at its end; or NULL */
  bool words;    /* its fields are words between blanks */
} text;

typedef struct head {
  char type[4]; /* in capitals */
  int64_t nrows, ncols, count;
  int width[3];   /* of pointers, indices, values */
  bool has_lines; /* of right-hand sides */
} head;

/* In every locale. */
static char capital(char c) { return (char)(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c); }

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
  t->line_end = NULL;
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
    if (!at[k] || !strchr(letters[k], capital(at[k]))) return false;
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

/* The widths of the fields of formats such as (26I3) (4D20.12) (1P,5E16.8E3); the number of those
 * found. */
static int read_widths(const char *at, const char *end, int *width) {
  int found = 0;
  for (; at < end && found < 3; at++) {
    int64_t number;
    if (!*at || !strchr("IEDFG", capital(*at)) || at[1] < '0' || at[1] > '9') continue;
    at = trs_parse_index(at + 1, &number);
    if (!at || number < 1 || number > MOST_WIDTH) break;
    width[found++] = (int)number;
    while (at < end && *at != ')') at++;
  }
  return found;
}

static trs_status read_head(text *t, head *h) {
  int64_t lines[5] = {0}, sizes[3];
  next_line(t);
  read_numbers(t->at, end_of_line(t), lines, 5);
  h->has_lines = lines[4] > 0;
  next_line(t);
  for (int k = 0; k < 3; k++) h->type[k] = capital(t->at[k]);
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
  if (read_widths(t->at, end_of_line(t), h->width) < (h->type[0] == 'P' ? 2 : 3))
    return bad(t,
               "the line must hold the formats of pointers, indices and values, such as "
               "(16I5) (16I5) (5E16.8)");
  if (h->has_lines) next_line(t);
  next_line(t);
  return TRS_SUCCESS;
}

/* ---- Fields. ---- */

typedef struct field {
  char text[2 * MOST_WIDTH + TRS_TEXT_SLACK]; /* without blanks, ended by zeros */
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

static trs_status begin_line(text *t, int width) {
  while (t->at < t->end && t->at >= end_of_line(t)) next_line(t);
  if (t->at >= t->end) return bad(t, "the file ends before its last number");
  t->line_end = end_of_line(t);
  t->words = has_words(t->at, t->line_end, width);
  return TRS_SUCCESS;
}

static const char *end_of_field(text *t, int width) {
  const char *end = t->at;
  if (!t->words) return t->line_end - t->at > width ? t->at + width : t->line_end;
  while (t->at < t->line_end && trs_is_blank(*t->at)) t->at++;
  for (end = t->at; end < t->line_end && !trs_is_blank(*end); end++) continue;
  return end - t->at > width ? t->at + width : end;
}

/* The next field, from the following line if this one has no more.  An exponent without its letter,
 * as Fortran writes -0.5-100, gets one. */
static trs_status next_field(text *t, int width, field *f) {
  if (!t->line_end || t->at >= t->line_end) TRS_TRY(begin_line(t, width));
  const char *stop = end_of_field(t, width);
  int length = 0;
  memset(f->text, 0, sizeof f->text);
  for (; t->at < stop; t->at++) {
    if (trs_is_blank(*t->at)) continue;
    const bool sign = *t->at == '-' || *t->at == '+';
    if (sign && length && strchr("0123456789.", f->text[length - 1])) f->text[length++] = 'e';
    f->text[length++] = *t->at;
  }
  return TRS_SUCCESS;
}

static trs_status bad_field(const text *t, const field *f, const char *what) {
  return trs_fail(TRS_ERROR_FORMAT, -1, "%s:%lld: \"%s\" is not %s", t->path, (long long)t->line,
                  trs_quote_text(f->text, (int64_t)strlen(f->text)).text, what);
}

static trs_status read_index(text *t, int width, const char *what, int64_t least, int64_t most,
                             int64_t *index) {
  field f;
  TRS_TRY(next_field(t, width, &f));
  const char *after = trs_parse_index(f.text, index);
  if (!after || *after) return bad_field(t, &f, what);
  if (*index >= least && *index <= most) return TRS_SUCCESS;
  return trs_fail(TRS_ERROR_FORMAT, -1, "%s:%lld: \"%s\" is %s outside %lld .. %lld", t->path,
                  (long long)t->line, f.text, what, (long long)least, (long long)most);
}

static trs_status read_real(text *t, int width, const trs_reading *reading, trs_scalar scalar,
                            double *value) {
  field f;
  TRS_TRY(next_field(t, width, &f));
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
static trs_status read_pointers(text *t, const head *h, trs_entries *e) {
  int64_t before = 1, pointer;
  TRS_TRY(TRS_ALLOC(&e->major, h->count));
  for (int64_t j = 0; j <= h->ncols; j++) {
    TRS_TRY(
        read_index(t, h->width[0], "a pointer", j ? before : 1, j ? h->count + 1 : 1, &pointer));
    for (; before < pointer; before++) e->major[before - 1] = (int32_t)(j - 1);
  }
  if (before != h->count + 1) return bad(t, "the last pointer is not the number of entries plus 1");
  if (t->at < t->end) next_line(t);
  return TRS_SUCCESS;
}

static trs_status read_indices(text *t, const head *h, trs_entries *e) {
  int64_t row;
  TRS_TRY(TRS_ALLOC(&e->minor, h->count));
  for (int64_t k = 0; k < h->count; k++) {
    TRS_TRY(read_index(t, h->width[1], "a row index", 1, h->nrows, &row));
    e->minor[k] = (int32_t)(row - 1);
  }
  if (h->count) next_line(t);
  return TRS_SUCCESS;
}

static trs_status read_values(text *t, const head *h, const trs_reading *reading, trs_entries *e) {
  TRS_TRY(trs_alloc_zero(&e->val, h->count, trs_scalar_size(e->scalar)));
  if (h->type[0] == 'P') return TRS_SUCCESS;
  for (int64_t k = 0; k < h->count; k++) {
    double parts[2] = {0};
    TRS_TRY(read_real(t, h->width[2], reading, e->scalar, &parts[0]));
    if (h->type[0] == 'C') TRS_TRY(read_real(t, h->width[2], reading, e->scalar, &parts[1]));
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
