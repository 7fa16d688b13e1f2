/* json.h - writes JSON objects whose members have paths, keys with dots between them:
 * "time.solve_s.min". */
#ifndef TRIREME_CLI_JSON_H
#define TRIREME_CLI_JSON_H

#include <stddef.h>
#include <stdio.h>

/* The length of the common part of both paths, in whole keys with the dot behind each. */
size_t json_common(const char *a, const char *b);

/* The number of objects that contain the member. */
int json_depth(const char *path);

/* Writes the keys of path, up to the colon, after the member `before`; "" begins the outermost
 * object.  Members of one object must follow each other.  indent: blanks per object; 0: one
 * line. */
void json_key(FILE *stream, const char *before, const char *path, int indent);

/* Closes all objects after the member `last`. */
void json_end(FILE *stream, const char *last, int indent);

/* Writes a text in quotes.  Escapes what a terminal may obey.  Writes text that is not UTF-8 as
 * messages do (trs_printable). */
void json_text(FILE *stream, const char *text);

#endif
