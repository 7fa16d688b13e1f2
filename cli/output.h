/* output.h - all that reaches the user's eyes: tables, numbers, lines of text. */
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

/* A line "trireme: MESSAGE" on standard error, behind what was printed before. */
void print_error(const char *message);

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
/* A row with the load, where more programs want a core than there are: times are off then. */
void table_load(void);

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

name_text human_name(const char *name); /* of a file: what is not printable as \xNN */

/* Text with <, & and > written as XML wants them. */
void svg_escape(FILE *svg, const char *text);

short_text human_count(int64_t count);       /* 1,234,567 */
short_text human_seconds(double seconds);    /* 12.3 ms */
short_text human_bytes(double bytes);        /* 45.6 MB */
short_text human_real(double value);         /* three digits, grouped above 1000 */
short_text human_times(double ratio);        /* 1.28 */
const char *human_scalar(trs_scalar scalar); /* double */

/* "n thing" or "n things" */
short_text human_things(int64_t count, const char *one, const char *many);

#endif
