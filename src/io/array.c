/* array.c - reads Matrix Market array text into a dense column-major array, with all members of a
 * team. The lines of every piece of the text are counted first, so that the position of each value
 * is known. */
#include "io/array.h"

#include <math.h>

#include "base/cancel.h"
#include "base/memory.h"

#define TRS_TEMPLATE "io/array_tmpl.c"
#include "base/instantiate.h"

static bool (*const fill_lines[])(trs_array *, int64_t, const char *,
                                  const char *) = TRS_TABLE(fill_lines);

/* Values of a symmetric file before column j. */
static int64_t values_before(const trs_banner *banner, int64_t j) {
  int64_t n = banner->nrows;
  int64_t triangle = j * n - j * (j - 1) / 2;
  return banner->symmetry == TRS_SKEW_SYMMETRIC ? triangle - j : triangle;
}

void trs_array_position(const trs_banner *banner, int64_t number, int64_t *i, int64_t *j) {
  if (banner->symmetry == TRS_UNSYMMETRIC) {
    *j = banner->nrows ? number / banner->nrows : 0;
    *i = banner->nrows ? number % banner->nrows : 0;
    return;
  }
  int64_t low = 0, high = banner->ncols; /* the last column with values_before <= number */
  while (high - low > 1) {
    int64_t middle = low + (high - low) / 2;
    if (values_before(banner, middle) <= number)
      low = middle;
    else
      high = middle;
  }
  *j = low;
  *i = trs_array_first_row(banner, low) + number - values_before(banner, low);
}

static int64_t count_lines(const char *text, const char *end) {
  int64_t count = 0;
  while (text < end) {
    const char *next = trs_skip_line(text, end);
    count += !next;
    if (!next) {
      next = trs_line_end(text, end);
      next += next < end;
    }
    text = next;
  }
  return count;
}

static void count_body(void *argument, int rank, int size) {
  trs_array *array = argument;
  for (int64_t piece = rank * TRS_PIECES; piece < (rank + 1) * TRS_PIECES; piece++) {
    const char *begin, *end;
    trs_body_piece(array->body, piece, (int64_t)size * TRS_PIECES, &begin, &end);
    array->first[piece + 1] = count_lines(begin, end);
  }
}

static void fill_body(void *argument, int rank, int size) {
  trs_array *array = argument;
  for (int64_t piece = 0; piece < TRS_PIECES && !array->failed; piece++) {
    const char *begin, *end;
    int64_t number = rank * TRS_PIECES + piece;
    trs_body_piece(array->body, number, (int64_t)size * TRS_PIECES, &begin, &end);
    if (!fill_lines[array->body->scalar](array, array->first[number], begin, end) ||
        trs_cancel_asked(trs_cancel_flag()))
      array->failed = true;
    double done = (double)(piece + 1) / TRS_PIECES;
    if (rank == 0 && !array->body->window->fresh)
      trs_reading_progress(array->body->reading, "reading",
                           array->from + (array->to - array->from) * done);
  }
}

/* Numbers the values of the current lines, which follow those of earlier windows; reads them if
 * `fill`. */
static void process_window(trs_array *array, bool fill) {
  const trs_body *body = array->body;
  int64_t pieces = body->size * TRS_PIECES;
  trs_team_run(body->reading->team, body->size, count_body, array);
  for (int64_t piece = 0; piece < pieces; piece++) array->first[piece + 1] += array->first[piece];
  array->failed |= array->first[pieces] > body->banner->count;
  if (fill && !array->failed) trs_team_run(body->reading->team, body->size, fill_body, array);
  array->first[0] = array->first[pieces];
}

/* One pass over the text, which ends at the first bad line.  Counts the values and reads them if
 * `fill`. */
static trs_status run_text(trs_array *array, bool fill) {
  trs_window *w = array->body->window;
  array->first[0] = 0;
  array->from = 0;
  TRS_TRY(trs_window_restart(w));
  while (w->begin < w->end && !array->failed) {
    array->to = trs_window_done(w);
    process_window(array, fill);
    TRS_TRY(trs_cancelled());
    array->from = array->to;
    TRS_TRY(trs_window_next(w));
  }
  array->failed |= array->first[0] != array->body->banner->count;
  return array->failed ? trs_body_diagnose(array->body) : TRS_SUCCESS;
}

/* The length of the text is known in advance for plain files only. */
static trs_status check_length(trs_array *array) {
  enum { SHORTEST = 2 }; /* bytes of a line, "1" */
  const trs_body *body = array->body;
  bool known = !body->window->packed && body->window->source.size >= 0;
  if (!trs_body_can_hold(body, SHORTEST)) return trs_body_diagnose(body);
  return known ? TRS_SUCCESS : run_text(array, false);
}

static trs_status fill(trs_array *array) {
  const trs_body *body = array->body;
  const trs_banner *banner = body->banner;
  size_t size = trs_scalar_size(body->scalar);
  TRS_TRY(TRS_ALLOC(&array->first, body->size * TRS_PIECES + 1));
  TRS_TRY(check_length(array));
  TRS_TRY(trs_alloc(&array->values, banner->nrows * banner->ncols, size));
  if (banner->symmetry == TRS_SKEW_SYMMETRIC)
    for (int64_t i = 0; i < banner->nrows; i++)
      memset((char *)array->values + (size_t)(i * banner->nrows + i) * size, 0, size);
  TRS_TRY(run_text(array, true));
  return trs_source_check(&body->window->source);
}

trs_status trs_array_read(void **values, const trs_body *body) {
  trs_array array = {.body = body};
  trs_status status = fill(&array);
  trs_free(array.first);
  if (status)
    trs_free(array.values);
  else
    *values = array.values;
  return status;
}
