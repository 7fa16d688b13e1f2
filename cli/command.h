/* command.h - a subcommand is a table of its syntax and a function.  The parser, --help, the manual
 * pages and the completion scripts come from the table alone. */
#ifndef TRIREME_CLI_COMMAND_H
#define TRIREME_CLI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "output.h"

typedef enum option_kind {
  OPTION_FLAG,   /* a bool */
  OPTION_TEXT,   /* a const char * */
  OPTION_TEXTS,  /* an option_texts: the texts of an option that can be given several times */
  OPTION_FILE,   /* a const char *, completed as a file name */
  OPTION_CHOICE, /* an int: the position in words */
  OPTION_COUNT,  /* an int64_t from minimum to maximum */
  OPTION_REAL    /* a double from minimum to maximum */
} option_kind;

typedef struct option_texts {
  const char *text[16];
  int count;
} option_texts;

typedef struct option {
  const char *name; /* without the dashes */
  char letter;      /* the short form, or 0 */
  option_kind kind;
  const char *value;       /* the name of the value in --help; NULL for flags and choices */
  const char *words;       /* "lower|upper": the choices, or what completion offers */
  size_t offset;           /* offset of the field in the command's settings */
  double minimum, maximum; /* of counts and reals */
  const char *help;        /* one sentence, no full stop */
} option;

/* Entries of a table of options, which {0} ends: each kind's own members, the field, the help. */
#define FLAG_OPTION(label, field, text) \
  { .name = (label), .kind = OPTION_FLAG, .offset = (field), .help = (text) }
#define TEXT_OPTION(label, what, known, field, text)                                            \
  {                                                                                             \
    .name = (label), .kind = OPTION_TEXT, .value = (what), .words = (known), .offset = (field), \
    .help = (text)                                                                              \
  }
#define TEXTS_OPTION(label, what, known, field, text)                                            \
  {                                                                                              \
    .name = (label), .kind = OPTION_TEXTS, .value = (what), .words = (known), .offset = (field), \
    .help = (text)                                                                               \
  }
#define FILE_OPTION(label, sign, what, field, text)                                             \
  {                                                                                             \
    .name = (label), .letter = (sign), .kind = OPTION_FILE, .value = (what), .offset = (field), \
    .help = (text)                                                                              \
  }
#define CHOICE_OPTION(label, choices, field, text) \
  { .name = (label), .kind = OPTION_CHOICE, .words = (choices), .offset = (field), .help = (text) }
#define COUNT_OPTION(label, sign, what, least, most, field, text)                                \
  {                                                                                              \
    .name = (label), .letter = (sign), .kind = OPTION_COUNT, .value = (what), .offset = (field), \
    .minimum = (least), .maximum = (most), .help = (text)                                        \
  }
#define REAL_OPTION(label, what, least, most, field, text)                                        \
  {                                                                                               \
    .name = (label), .kind = OPTION_REAL, .value = (what), .offset = (field), .minimum = (least), \
    .maximum = (most), .help = (text)                                                             \
  }

/* Options that several commands have. */
#define JSON_OPTION(field) FLAG_OPTION("json", field, "print the report and failures as JSON")
#define PRECISION_OPTION(field)                                                                  \
  CHOICE_OPTION("precision", "s|d|c|z", field,                                                   \
                "read values as float (s), double (d), complex float (c) or complex double (z) " \
                "(default: d, or z for a complex file)")
#define RHS_FILE_OPTION(field)                \
  FILE_OPTION("rhs-file", 'b', "FILE", field, \
              "read the right-hand sides from the columns of a Matrix Market file")

typedef struct paragraph {
  const char *title; /* NULL: part of the description, which comes first */
  const char *text;  /* lines that begin with a blank are printed unchanged */
} paragraph;

typedef struct command {
  const char *name;
  const char *synopsis; /* the text after "trireme NAME" */
  const char *summary;  /* one line */
  const char *operand;  /* "matrix" (a file or a generator), "file", or words to complete operands
                           with, or NULL */
  int min_operands, max_operands;
  const option *options;       /* ends with a NULL name; --help is understood besides */
  const paragraph *paragraphs; /* end with a NULL text */
  const char *brief;           /* what -h prints of the options, and examples; NULL: as --help */
  int (*run)(int argc, char **argv); /* the words behind the name; returns how to leave */
  const struct command *source; /* the command that writes what this one reads, or NULL: where an
                                   option of that one is meant */
  const char *program; /* a program that has syntax and texts, asked by "--print"; or NULL */
  const struct command *const *commands; /* of trireme itself: its subcommands, then NULL */
} command;

/* A command with the tables and the function of its source, and with least to most operands. */
#define COMMAND_OF(label, usage, what, of, least, most)                                            \
  {                                                                                                \
    .name = (label), .synopsis = (usage), .summary = (what), .operand = (of),                      \
    .min_operands = (least), .max_operands = (most), .options = options, .paragraphs = paragraphs, \
    .run = run                                                                                     \
  }
/* Likewise for a command with more options than fit a screen. */
#define LONG_COMMAND_OF(label, usage, what, of, least, most)                                       \
  {                                                                                                \
    .name = (label), .synopsis = (usage), .summary = (what), .operand = (of),                      \
    .min_operands = (least), .max_operands = (most), .options = options, .paragraphs = paragraphs, \
    .brief = brief, .run = run                                                                     \
  }

/* Fills settings from argv and leaves in argv the operands, *argc of them.  Returns -1 to go on,
 * or how to leave: --help was printed, or a mistake was reported. */
int options_parse(const command *c, void *settings, int *argc, char **argv);

void help_print(const command *c);
void help_print_brief(const command *c); /* -h */
void manual_print(const command *c);
/* The script for a shell, bash, zsh or fish; the part of one command. */
int completion_print(const command *root, const char *shell);
void completion_print_command(const command *c, const char *shell);

/* Prints what another program asked for by "--print WHAT": help, man, or a shell's completion. */
void command_print(const command *c, const char *what);

/* "-b, --rhs-file FILE" */
void option_head(const option *o, char *text, size_t size);

/* A word of a '|' list. */
short_text nth_word(const char *words, int position);

#endif
