/* banner.c - reads the head of a Matrix Market file (Boisvert, Pozo, Remington 1996, "The Matrix
 * Market exchange formats"):
 *
 *     %%MatrixMarket matrix coordinate real general
 *     % comments, blank lines
 *     rows columns entries          (rows columns for an array)
 *
 * Text may follow on the first and on the last of these lines, as other readers allow.  Editors may
 * put the mark of UTF-8 before the first. */
#include "io/banner.h"

#include "base/text.h"

typedef struct cursor {
  const char *path;
  const char *at, *end; /* the text not yet read */
  int64_t line;         /* the number of the line that contains `at` */
} cursor;

trs_quote trs_quote_text(const char *text, int64_t length) {
  trs_quote q = {""};
  for (int64_t k = 0; k < length && k < (int64_t)sizeof q.text - 1; k++)
    q.text[k] = (char)(trs_is_blank(text[k]) ? ' ' : trs_is_plain(text[k]) ? text[k] : '?');
  return q;
}

static bool is_space(char c) { return trs_is_blank(c) || c == '\r'; }

/* The next word of the line [*at, end); returns its length, 0 at the end of the line. */
static int next_word(const char **at, const char *end) {
  while (*at < end && is_space(**at)) ++*at;
  const char *word = *at;
  while (word < end && !is_space(*word)) word++;
  return (int)(word - *at);
}

static int find_word(const char *word, int length, const char *const *names, int count) {
  for (int n = 0; n < count; n++)
    if ((size_t)length == strlen(names[n]) && trs_same_letters(word, names[n], (size_t)length))
      return n;
  return -1;
}

/* Reads the next word of the banner, which must be one of `names`. */
static trs_status choose(const cursor *head, const char **at, const char *end, const char *what,
                         const char *const *names, int count, int *choice) {
  int length = next_word(at, end);
  *choice = find_word(*at, length, names, count);
  if (*choice >= 0) {
    *at += length;
    return TRS_SUCCESS;
  }
  char list[128] = "";
  for (int n = 0; n < count; n++) {
    strcat(list, n ? ", " : "");
    strcat(list, names[n]);
  }
  if (length == 0)
    return trs_fail(TRS_ERROR_FORMAT, -1, "%s:1: the banner ends before its %s (one of: %s)",
                    head->path, what, list);
  return trs_fail(TRS_ERROR_FORMAT, -1, "%s:1: the banner's %s is \"%s\", not one of: %s",
                  head->path, what, trs_quote_text(*at, length).text, list);
}

static trs_status read_words(trs_banner *banner, const cursor *head, const char *end) {
  /* Collections have files with one percent sign. */
  static const char *const magic[] = {"%%MatrixMarket", "%MatrixMarket"};
  static const char *const objects[] = {"matrix"};
  static const char *const formats[] = {"coordinate", "array"};
  static const char *const fields[] = {"real",    "double", "integer", "unsigned-integer",
                                       "complex", "pattern"};
  static const trs_field field_codes[] = {TRS_REAL,    TRS_REAL,    TRS_INTEGER,
                                          TRS_INTEGER, TRS_COMPLEX, TRS_PATTERN};
  static const char *const symmetries[] = {"general", "symmetric", "skew-symmetric", "hermitian"};
  const char *at = head->at;
  int object, format, field, symmetry, length = next_word(&at, end);
  if (find_word(at, length, magic, 2) < 0)
    return trs_fail(TRS_ERROR_FORMAT, -1,
                    "%s:1: not a Matrix Market file: the first line must begin with "
                    "%%%%MatrixMarket",
                    head->path);
  at += length;
  TRS_TRY(choose(head, &at, end, "object", objects, 1, &object));
  TRS_TRY(choose(head, &at, end, "format", formats, 2, &format));
  TRS_TRY(choose(head, &at, end, "field", fields, 6, &field));
  TRS_TRY(choose(head, &at, end, "symmetry", symmetries, 4, &symmetry));
  banner->coordinate = format == 0;
  banner->field = field_codes[field];
  banner->symmetry = (trs_symmetry)symmetry;
  return TRS_SUCCESS;
}

/* Values that are symmetric under another name: SciPy writes real and pattern files by all names.
 */
static void name_symmetry(trs_banner *banner) {
  if ((banner->symmetry == TRS_HERMITIAN && banner->field != TRS_COMPLEX) ||
      (banner->symmetry != TRS_UNSYMMETRIC && banner->field == TRS_PATTERN))
    banner->symmetry = TRS_SYMMETRIC;
}

static trs_status check_combination(const trs_banner *banner, const char *path) {
  if (banner->field != TRS_PATTERN || banner->coordinate) return TRS_SUCCESS;
  return trs_fail(TRS_ERROR_FORMAT, -1, "%s:1: an array has values and cannot be a pattern", path);
}

/* Moves head to the size line, past comments and blank lines.  False if there is none. */
static bool skip_comments(cursor *head) {
  while (head->at < head->end) {
    const char *line_end = trs_line_end(head->at, head->end), *at = head->at;
    while (at < line_end && is_space(*at)) at++;
    if (at < line_end && *at != '%') return true;
    head->at = line_end < head->end ? line_end + 1 : line_end;
    head->line += line_end < head->end;
  }
  return false;
}

static trs_status bad_size_line(const cursor *head, const char *end, bool coordinate) {
  while (end > head->at && is_space(end[-1])) end--;
  return trs_fail(TRS_ERROR_FORMAT, -1, "%s:%lld: the size line must be \"%s\", not \"%s\"",
                  head->path, (long long)head->line,
                  coordinate ? "rows columns entries" : "rows columns",
                  trs_quote_text(head->at, end - head->at).text);
}

static trs_status read_sizes(trs_banner *banner, const cursor *head, const char *end) {
  int64_t sizes[3] = {0};
  const char *at = head->at;
  for (int n = 0; n < (banner->coordinate ? 3 : 2); n++) {
    int length = next_word(&at, end);
    const char *after = length ? trs_parse_index(at, &sizes[n]) : NULL;
    if (after != at + length) return bad_size_line(head, end, banner->coordinate);
    at = after;
  }
  /* Text after the sizes is a remark; another number means another kind of file. */
  if (next_word(&at, end) && strchr("0123456789+-.", *at))
    return bad_size_line(head, end, banner->coordinate);
  banner->nrows = sizes[0];
  banner->ncols = sizes[1];
  banner->count = sizes[2];
  if (sizes[0] > INT32_MAX || sizes[1] > INT32_MAX)
    return trs_fail(TRS_ERROR_FORMAT, -1,
                    "%s:%lld: %lld x %lld is too large: rows and columns must not exceed "
                    "2147483647",
                    head->path, (long long)head->line, (long long)sizes[0], (long long)sizes[1]);
  if (banner->symmetry != TRS_UNSYMMETRIC && sizes[0] != sizes[1])
    return trs_fail(TRS_ERROR_FORMAT, -1,
                    "%s:%lld: %lld x %lld is not square, as the banner's symmetry requires",
                    head->path, (long long)head->line, (long long)sizes[0], (long long)sizes[1]);
  return TRS_SUCCESS;
}

static int64_t array_count(const trs_banner *banner) {
  int64_t n = banner->nrows;
  if (banner->symmetry == TRS_UNSYMMETRIC) return n * banner->ncols;
  return banner->symmetry == TRS_SKEW_SYMMETRIC ? n * (n - 1) / 2 : n * (n + 1) / 2;
}

bool trs_banner_complete(const char *text, const char *end) {
  cursor head = {.path = "", .at = text, .end = end, .line = 1};
  return skip_comments(&head);
}

trs_status trs_banner_read(trs_banner *banner, const char *text, const char *all,
                           const char *path) {
  static const char mark[] = "\xef\xbb\xbf";
  cursor head = {.path = path, .at = text, .end = all, .line = 1};
  if (all - text >= 3 && memcmp(text, mark, 3) == 0) head.at += 3;
  const char *end = trs_line_end(head.at, head.end);
  TRS_TRY(read_words(banner, &head, end));
  TRS_TRY(check_combination(banner, path));
  name_symmetry(banner);
  if (!skip_comments(&head))
    return trs_fail(TRS_ERROR_FORMAT, -1, "%s:%lld: the file ends before its size line", path,
                    (long long)head.line);
  end = trs_line_end(head.at, head.end);
  TRS_TRY(read_sizes(banner, &head, end));
  if (!banner->coordinate) banner->count = array_count(banner);
  banner->size_line = head.line;
  banner->body_line = head.line + 1;
  banner->head = (end < head.end ? end + 1 : end) - text;
  return TRS_SUCCESS;
}
