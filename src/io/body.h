/* body.h - the lines behind a Matrix Market file's head, as all threads read them and as
 * diagnose.c reads them again to find the first bad one. */
#ifndef TRS_IO_BODY_H
#define TRS_IO_BODY_H

#include "io/banner.h"
#include "io/window.h"

typedef struct trs_body {
  const trs_reading *reading;
  trs_window *window; /* the lines at hand */
  const trs_banner *banner;
  trs_scalar scalar;
  int size; /* members of the team at work */
} trs_body;

/* A member reads this many pieces of the text and tells the progress in between. */
enum { TRS_PIECES = 64 };

/* As many members as the lines at hand are worth. */
int trs_body_members(const trs_body *body);

/* Text that is too short for the values declared, of so many bytes a line at least, is not worth
 * any memory. */
bool trs_body_can_hold(const trs_body *body, int64_t shortest);

/* Piece number of count: whole lines, every line in one piece. */
void trs_body_piece(const trs_body *body, int64_t number, int64_t count, const char **begin,
                    const char **end);

/* Says which line is the first bad one, and why. */
trs_status trs_body_diagnose(const trs_body *body);

/* What of a square coordinate file is read. */
typedef struct trs_selection {
  trs_format format;
  trs_uplo uplo;
  const uint8_t *wanted; /* of each vector, or NULL: all */
  bool pattern;          /* no values */
} trs_selection;

/* Compressed entries in order, to be released with trs_free. */
typedef struct trs_compressed {
  int64_t *ptr;
  int32_t *idx;
  void *val; /* NULL where only the pattern is read */
} trs_compressed;

/* The entries selected of a coordinate file; those of other vectors count as absent. */
trs_status trs_coordinate_select(trs_compressed *entries, const trs_body *body,
                                 const trs_selection *only);

/* A coordinate file to the arrays of a CSR matrix; a dense one to a column-major array. */
trs_status trs_coordinate_read(trs_matrix **A, const trs_body *body);
trs_status trs_array_read(void **values, const trs_body *body);

/* Row and column, from 0, of value number `number` of an array, which runs down the columns, of the
 * lower triangle if symmetric. */
void trs_array_position(const trs_banner *banner, int64_t number, int64_t *i, int64_t *j);

/* The first row of column j that an array file holds. */
static inline int64_t trs_array_first_row(const trs_banner *banner, int64_t j) {
  if (banner->symmetry == TRS_UNSYMMETRIC) return 0;
  return banner->symmetry == TRS_SKEW_SYMMETRIC ? j + 1 : j;
}

/* Value at text; NULL where there is none, or one that is not wanted. */
static inline const char *trs_parse_value(const char *text, bool integer, bool nonfinite,
                                          double *value) {
  const char *end = integer ? trs_parse_integer(text, value) : trs_parse_real(text, value);
  return end || !nonfinite ? end : trs_parse_nonfinite(text, value);
}

/* The beginning of the next line, text being behind the last item of one; NULL if more follows on
 * the line. */
static inline const char *trs_next_line(const char *text, const char *end) {
  text = trs_skip_blanks(text);
  if (*text == '\r') text++;
  if (*text == '\n') return text + 1;
  return text >= end ? end : NULL;
}

/* The next line, if this one, of a text that ends at end, is blank or a comment; else NULL. */
static inline const char *trs_skip_line(const char *text, const char *end) {
  text = trs_skip_blanks(text);
  if (*text == '%' && text < end) {
    const char *newline = trs_line_end(text, end);
    return newline < end ? newline + 1 : end;
  }
  return trs_next_line(text, end);
}

/* Both indices of an entry, and the blanks behind each; NULL where they are not. */
static inline const char *trs_parse_indices(const char *text, int64_t *row, int64_t *column) {
  text = trs_parse_index(text, row);
  if (!text || !trs_is_blank(*text)) return NULL;
  return trs_parse_index(trs_skip_blanks(text), column);
}

#endif
