/* banner.h - the head of a Matrix Market file: banner, comments, size line. */
#ifndef TRS_IO_BANNER_H
#define TRS_IO_BANNER_H

#include "io/number.h"
#include "base/status.h"

typedef enum trs_field { TRS_REAL, TRS_INTEGER, TRS_COMPLEX, TRS_PATTERN } trs_field;

typedef enum trs_symmetry {
  TRS_UNSYMMETRIC,
  TRS_SYMMETRIC,
  TRS_SKEW_SYMMETRIC,
  TRS_HERMITIAN
} trs_symmetry;

typedef struct trs_banner {
  bool coordinate; /* false: array */
  trs_field field;
  trs_symmetry symmetry;
  int64_t nrows, ncols;
  int64_t count;     /* entries of the body; for a symmetric file, those of one triangle */
  int64_t size_line; /* line numbers, from 1 */
  int64_t body_line;
  int64_t head; /* bytes up to the first line after the size line */
} trs_banner;

/* True if the text, which consists of whole lines, contains a size line. */
bool trs_banner_complete(const char *text, const char *end);
trs_status trs_banner_read(trs_banner *banner, const char *text, const char *end, const char *path);

/* The beginning of a file's text, for messages; bytes that are not printable become question
 * marks. */
typedef struct trs_quote {
  char text[61];
} trs_quote;
trs_quote trs_quote_text(const char *text, int64_t length);

/* The end of the line that starts at `line`: its newline or the end of the text. */
static inline const char *trs_line_end(const char *line, const char *end) {
  const char *newline = memchr(line, '\n', (size_t)(end - line));
  return newline ? newline : end;
}

#endif
