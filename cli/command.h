/* command.h - a subcommand is a table of its syntax and a function.  The parser, --help, the manual
 * pages and the completion scripts come from the table alone. */
#ifndef TRIREME_CLI_COMMAND_H
#define TRIREME_CLI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trireme.h"

/* How the command leaves; exit_codes in main.c explains each. */
enum {
  LEAVE_SOLVED = 0,
  LEAVE_NUMERICAL = 1,
  LEAVE_USAGE = 2,
  LEAVE_INPUT = 3,
  LEAVE_UNAVAILABLE = 4,
  LEAVE_BUG = 5
};

typedef enum option_kind {
  OPTION_FLAG,   /* a bool */
  OPTION_TEXT,   /* a const char * */
  OPTION_FILE,   /* a const char *, completed as a file name */
  OPTION_CHOICE, /* an int: the position in words */
  OPTION_COUNT,  /* an int64_t from minimum to maximum */
  OPTION_REAL    /* a double from minimum to maximum */
} option_kind;

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

typedef struct paragraph {
  const char *title; /* NULL: part of the description, which comes first */
  const char *text;  /* lines that begin with a blank are printed unchanged */
} paragraph;

typedef struct command {
  const char *name;
  const char *synopsis; /* the text after "trireme NAME" */
  const char *summary;  /* one line */
  const char *operand;  /* "file", or words to complete operands with, or NULL */
  int min_operands, max_operands;
  const option *options;             /* ends with a NULL name; --help is understood besides */
  const paragraph *paragraphs;       /* end with a NULL text */
  int (*run)(int argc, char **argv); /* the words behind the name; returns how to leave */
} command;

typedef struct exit_code {
  int code;
  const char *text;
} exit_code;

/* All subcommands, then NULL; trireme itself, which has only options and prose; exit codes, the
 * last with a NULL text. */
extern const command *const commands[];
extern const command root_command;
extern const exit_code exit_codes[];

const command *command_find(const char *name);
int leave_no_command(const char *typed);

/* Fills settings from argv and leaves in argv the operands, *argc of them.  Returns -1 to go on,
 * or how to leave: --help was printed, or a mistake was reported. */
int options_parse(const command *c, void *settings, int *argc, char **argv);

/* Finds the known word nearest to a mistyped one; false if none is near.  words: separated by
 * '|'. */
bool word_near(char *near, size_t size, const char *typed, const char *words);

void help_print(const command *c);
void manual_print(const command *c);
int completion_print(const char *shell);

/* "-b, --rhs-file FILE" */
void option_head(const option *o, char *text, size_t size);

/* The next word of a '|' list: returns its length and its beginning; 0 at the end. */
size_t next_word(const char **words, const char **begin);

#endif
