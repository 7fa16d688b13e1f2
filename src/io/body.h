/* body.h - the lines after the head of a Matrix Market file.  All threads read them; diagnose.c
 * reads them again to find the first bad one. */
#ifndef TRS_IO_BODY_H
#define TRS_IO_BODY_H

#include "io/banner.h"
#include "io/window.h"

typedef struct trs_body {
  const trs_reading *reading;
  trs_window *window; /* the current lines */
  const trs_banner *banner;
  trs_scalar scalar;
  int size; /* members of the team that work */
} trs_body;

/* Number of pieces of the text per member; progress is reported between pieces. */
enum { TRS_PIECES = 64 };

/* The number of members that the current lines justify. */
int trs_body_members(const trs_body *body);

/* False if the text is too short for the declared values, each on a line of at least `shortest`
 * bytes. Checked before memory is allocated. */
bool trs_body_can_hold(const trs_body *body, int64_t shortest);

/* Piece `number` of `count`: whole lines; every line belongs to one piece. */
void trs_body_piece(const trs_body *body, int64_t number, int64_t count, const char **begin,
                    const char **end);

/* Fails with the first bad line and the reason. */
trs_status trs_body_diagnose(const trs_body *body);

/* The part of a square coordinate file to be read. */
typedef struct trs_selection {
  trs_format format;
  trs_uplo uplo;
  const uint8_t *wanted; /* for each vector: nonzero to read it; NULL: all */
  bool pattern;          /* true: no values */
} trs_selection;

/* Compressed entries in order; release the arrays with trs_free. */
typedef struct trs_compressed {
  int64_t *ptr;
  int32_t *idx;
  void *val; /* NULL if only the pattern is read */
} trs_compressed;

/* Reads the selected entries of a coordinate file.  Entries of other vectors are left out. */
trs_status trs_coordinate_select(trs_compressed *entries, const trs_body *body,
                                 const trs_selection *only);

/* Reads a coordinate file into a CSR matrix; a dense file into a column-major array. */
trs_status trs_coordinate_read(trs_matrix **A, const trs_body *body);
trs_status trs_array_read(void **values, const trs_body *body);

/* Row and column, from 0, of value `number` of an array.  Values run down the columns, of the lower
 * triangle if symmetric. */
void trs_array_position(const trs_banner *banner, int64_t number, int64_t *i, int64_t *j);

/* The first row of column j that an array file contains. */
static inline int64_t trs_array_first_row(const trs_banner *banner, int64_t j) {
  if (banner->symmetry == TRS_UNSYMMETRIC) return 0;
  return banner->symmetry == TRS_SKEW_SYMMETRIC ? j + 1 : j;
}

/* Reads the value at text.  NULL if there is none or it is not allowed. */
static inline const char *trs_parse_value(const char *text, bool integer, bool nonfinite,
                                          double *value) {
  const char *end = integer ? trs_parse_integer(text, value) : trs_parse_real(text, value);
  return end || !nonfinite ? end : trs_parse_nonfinite(text, value);
}

/* text is after the last item of a line: the start of the next line; NULL if more text follows on
 * the line. */
static inline const char *trs_next_line(const char *text, const char *end) {
  text = trs_skip_blanks(text);
  if (*text == '\r') text++;
  if (*text == '\n') return text + 1;
  return text >= end ? end : NULL;
}

/* If the line is blank or a comment, the start of the next line in a text that ends at `end`; else
 * NULL. */
static inline const char *trs_skip_line(const char *text, const char *end) {
  text = trs_skip_blanks(text);
  if (*text == '%' && text < end) {
    const char *newline = trs_line_end(text, end);
    return newline < end ? newline + 1 : end;
  }
  return trs_next_line(text, end);
}

/* Reads both indices of an entry and the blanks after each.  NULL if they are invalid. */
static inline const char *trs_parse_indices(const char *text, int64_t *row, int64_t *column) {
  text = trs_parse_index(text, row);
  if (!text || !trs_is_blank(*text)) return NULL;
  return trs_parse_index(trs_skip_blanks(text), column);
}

#endif
