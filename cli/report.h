/* report.h - the JSON report of --json.  One report per run, filled by dotted paths:
 * "time.solve_s.min". Without --json every call does nothing. */
#ifndef TRIREME_CLI_REPORT_H
#define TRIREME_CLI_REPORT_H

#include <stdbool.h>
#include <stdint.h>

void report_text(const char *path, const char *text);
void report_count(const char *path, int64_t count);
void report_real(const char *path, double value); /* null if not finite */
void report_bool(const char *path, bool value);
void report_null(const char *path);

/* Adds an array of counts, or of numbers, at path. */
void report_append(const char *path, const int64_t *values, int64_t count);
void report_append_reals(const char *path, const double *values, int64_t count);

/* Prints the report, once, and returns the exit code: code, or another where memory is too short
 * for the report. */
int report_print(int code);

#endif
