/* json.c - writes JSON without a library, so that every build has it. */
#include "json.h"

#include <stdbool.h>
#include <string.h>

#include "base/printable.h"
#include "output.h"

size_t json_common(const char *a, const char *b) {
  size_t same = 0;
  for (size_t i = 0; a[i] && a[i] == b[i]; i++)
    if (a[i] == '.') same = i + 1;
  return same;
}

int json_depth(const char *path) {
  int depth = 1;
  for (; *path; path++) depth += *path == '.';
  return depth;
}

static void begin_line(FILE *stream, int blanks) {
  if (blanks >= 0) fprintf(stream, "\n%*s", blanks, "");
}

/* Closes the objects that path has and that its first `same` bytes do not name. */
static void close_objects(FILE *stream, const char *path, size_t same, int indent) {
  for (int depth = json_depth(path) - 1; path[same]; same++) {
    if (path[same] != '.') continue;
    begin_line(stream, indent ? indent * depth-- : -1);
    fputc('}', stream);
  }
}

void json_key(FILE *stream, const char *before, const char *path, int indent) {
  size_t same = json_common(before, path);
  const char *blank = indent ? " " : "";
  int depth = json_depth(path) - json_depth(path + same) + 1;
  close_objects(stream, before, same, indent);
  fputc(*before ? ',' : '{', stream);
  for (path += same;; depth++) {
    size_t length = strcspn(path, ".");
    begin_line(stream, indent ? indent * depth : -1);
    fprintf(stream, "\"%.*s\":%s", (int)length, path, blank);
    if (!path[length]) return;
    fputc('{', stream);
    path += length + 1;
  }
}

void json_end(FILE *stream, const char *last, int indent) {
  close_objects(stream, last, 0, indent);
  begin_line(stream, indent ? 0 : -1);
  fputc('}', stream);
}

/* Bytes of the control character that text begins with; 0 for bytes that are not UTF-8. */
static size_t control_length(const char *text) {
  const unsigned char *t = (const unsigned char *)text;
  if (t[0] < 0x80) return 1;
  if ((t[0] != 0xC2 && t[0] != 0xE2) || (t[1] & 0xC0) != 0x80) return 0;
  if (t[0] == 0xC2) return 2;
  return (t[2] & 0xC0) == 0x80 ? 3 : 0; /* no control is longer */
}

static bool is_utf8(const char *text) {
  while (*text) {
    size_t length = trs_printable_length(text);
    if (!length) length = control_length(text);
    if (!length) return false;
    text += length;
  }
  return true;
}

/* Writes the escape of the control character that text begins with. */
static void put_control(FILE *stream, const char *text, size_t length) {
  const unsigned char *t = (const unsigned char *)text;
  unsigned code = length == 1 ? t[0] : t[0] & (0x3Fu >> (length - 1));
  for (size_t k = 1; k < length; k++) code = code << 6 | (t[k] & 0x3Fu);
  if (code == '\n')
    fputs("\\n", stream);
  else
    fprintf(stream, "\\u%04x", code);
}

void json_text(FILE *stream, const char *text) {
  name_text shown;
  if (!is_utf8(text)) {
    shown = human_name(text);
    text = shown.s;
  }
  fputc('"', stream);
  while (*text) {
    size_t length = trs_printable_length(text);
    if (*text == '"' || *text == '\\') fputc('\\', stream);
    if (length) {
      fwrite(text, 1, length, stream);
    } else {
      length = control_length(text);
      put_control(stream, text, length);
    }
    text += length;
  }
  fputc('"', stream);
}
