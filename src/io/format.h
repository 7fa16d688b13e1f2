/* format.h - converts binary numbers to decimal text that reads back to the same bits. */
#ifndef TRS_IO_FORMAT_H
#define TRS_IO_FORMAT_H

#include <stdint.h>

enum { TRS_FORMAT_BYTES = 32 }; /* size of the longest number */

/* As printf's %.17g and %.9g, except that ties may be rounded the other way; returns the end. */
char *trs_format_double(char *text, double value);
char *trs_format_float(char *text, float value);

/* A non-negative integer. */
char *trs_format_index(char *text, int64_t value);

#endif
