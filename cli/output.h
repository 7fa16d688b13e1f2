/* output.h - all that reaches the user's eyes: tables, numbers, failures. */
#ifndef TRIREME_CLI_OUTPUT_H
#define TRIREME_CLI_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "trireme.h"

/* Reads the terminal's properties, NO_COLOR, TERM and the locale. */
void output_setup(void);

/* --json: tables are not printed; failures are also printed to standard output as JSON. */
void output_set_json(bool json);
bool output_json(void);

/* True if the terminal or file accepts UTF-8. */
bool output_unicode(void);
/* True if progress can be drawn on standard error. */
bool output_draws(void);
/* Columns of text: the terminal's, at most 100; 80 elsewhere. */
int output_width(void);
/* Columns of tables: the terminal's; elsewhere those of COLUMNS in the environment, or 80. */
int output_columns(void);

typedef enum style { STYLE_PLAIN, STYLE_BOLD, STYLE_DIM, STYLE_GOOD, STYLE_BAD } style;
/* Escape sequences for standard output, or "". */
const char *style_on(style s);
const char *style_off(void);

/* Suppresses all output of this process from now on; another process of the run prints. */
void output_silence(void);
/* Reverts output_silence. */
void output_speak(void);
/* The rank that a launcher gave this process; 0 without one. */
int launched_rank(void);

/* A table: a title, then rows of a label and a text that is wrapped under itself.  A row with an
 * empty label continues the one before; '\n' breaks lines, so names of files go through human_name.
 * With --json nothing is printed. */
void table_title(const char *title);
void table_row(const char *label, const char *format, ...) __attribute__((format(printf, 2, 3)));
void table_styled(style s, const char *label, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Two texts side by side, not wrapped; only the left one if the right is empty. */
void table_pair(const char *label, const char *left, const char *right);
void table_gap(void);

/* Prints indented text wrapped at the output's width.  '\n' breaks lines, "\n\n" separates
 * paragraphs, and lines that begin with a blank are unchanged. */
void print_wrapped(FILE *stream, const char *text, int indent);

/* Prints one line of text, wrapped below itself, with the cursor already at column `indent`. */
void print_hanging(const char *text, int indent);

/* Prints the library's lists, whose fields are separated by two blanks or more, as a table. */
void print_list(const char *list);

typedef struct short_text {
  char s[64];
} short_text;

typedef struct name_text {
  char s[1024];
} name_text;

/* Bytes of the UTF-8 character that text begins with, or 0 for what a terminal may obey or not
 * understand: control characters (C0, DEL, C1), those that turn the direction of what follows
 * (U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069), and stray bytes. */
size_t printable_length(const char *text);

name_text human_name(const char *name); /* of a file: what is not printable as \xNN */

short_text human_count(int64_t count);       /* 1,234,567 */
short_text human_seconds(double seconds);    /* 12.3 ms */
short_text human_bytes(double bytes);        /* 45.6 MB */
short_text human_real(double value);         /* three digits, grouped above 1000 */
short_text human_times(double ratio);        /* 1.28 */
const char *human_scalar(trs_scalar scalar); /* double */

/* "n thing" or "n things" */
short_text human_things(int64_t count, const char *one, const char *many);

/* Reports a failure as "trireme: ..." and, with --json, as JSON.  Returns code. */
int leave(int code, const char *status, int64_t row, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The library's last failure, its code chosen by the status.  about, or NULL, is what it concerns
 * where the message cannot know: the matrix's name. */
int leave_library(const char *about);
/* A mistake in the command line; points to the command's --help.  name may be NULL. */
int leave_usage(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Out of memory, in the command's own arrays. */
int leave_memory(double bytes, const char *what);

/* Whether what was written to standard output so far has not arrived: going on is of no use. */
bool output_lost(void);
/* Flushes standard output; what could not be written is a failure, or SIGPIPE where the reader has
 * left. */
int output_finish(int code);

#endif
