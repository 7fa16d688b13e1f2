/* printable.h - what of a text a terminal may be shown. */
#ifndef TRS_BASE_PRINTABLE_H
#define TRS_BASE_PRINTABLE_H

#include <stddef.h>

/* Bytes of the UTF-8 character that text begins with, or 0 for what a terminal may obey or not
 * understand: control characters (C0, DEL, C1), those that turn the direction of what follows
 * (U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069), and stray bytes. */
size_t trs_printable_length(const char *text);
/* Copies text with each byte that is not printable as \xNN, as messages have names of files; what
 * size bytes do not hold is left out. */
void trs_printable(char *to, size_t size, const char *text);

#endif
