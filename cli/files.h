/* files.h - input and output files of the subcommands. */
#ifndef TRIREME_CLI_FILES_H
#define TRIREME_CLI_FILES_H

#include <stdbool.h>
#include <stdio.h>

#include "command.h"
#include "trireme.h"

/* The operand M: a matrix, or factors.  One of A and F is set after a successful read. */
typedef struct input {
  const char *name;
  trs_matrix *A;
  trs_factors *F;
  bool deferred;  /* the values of A stay in the file */
  double seconds; /* time to read it */
} input;

/* The element type for a position in the choices of --precision; -1: the file's own. */
trs_scalar scalar_chosen(int precision);

/* precision: as of scalar_chosen.  Returns -1, or the exit code. */
int input_read(input *in, const char *name, int precision);
/* As input_read, but prints nothing. */
trs_status input_try(input *in, const char *name, int precision);
/* Whether the name is that of a generated matrix without "gen:". */
bool names_generator(const char *name);
/* How to leave after input_try has failed. */
int input_leave(const char *name);
/* A square matrix, or a triangle of one, with only its pattern read. */
trs_status input_open(input *in, const char *name, int precision, trs_format format, trs_uplo uplo,
                      bool add_diagonal);
/* As input_read, but factors are an error; task names the command in the message. */
int input_read_matrix(input *in, const char *name, int precision, const char *task);
/* *nrhs right-hand sides of n rows from a file, which trs_free frees; -1, or how to leave.  wanted:
 * as many as there must be, or 0: any number, but not as many as rows, as a matrix has. */
int input_rhs(const input *in, const char *path, trs_scalar scalar, int64_t n, int64_t wanted,
              void **b, int64_t *nrhs);
/* Of such factors L U is only near A. */
bool is_incomplete(trs_factor_kind kind);

void input_free(input *in);

/* --max-memory, a double in the settings, for every command that reads files; the limit for all
 * later reading and generating. */
#define MAX_MEMORY_OPTION(field)                                                           \
  REAL_OPTION("max-memory", "GB", 1e-6, 1e9, field,                                        \
              "refuse files and generated matrices that take more memory than so many GB " \
              "(default: half of the machine's memory for files, all of it for generated ones)")
void files_limit_memory(double gigabytes);
/* The value for max_bytes of trs_read_options. */
int64_t files_max_bytes(void);
/* The limit in bytes: half of the machine's memory by default; below 0: none. */
double files_limit(void);

/* Checks, before hours of work, that *path can be written.  Returns -1, or the exit code.  "-" is
 * standard output: *path becomes a name for it, and reports then go to standard error. */
int check_writable(const char **path);
/* The same, where *path may not be one of the files that are read.  inputs: names, or NULL. */
int check_writable_beside(const char **path, const char *const inputs[2]);
/* After a write to such a path has failed: how to leave. */
int leave_unwritten(void);
/* Prints the report's line about a written file. */
void print_written(const char *path);
int check_text_writable(const char *path);
bool names_hdf5(const char *path);

/* A text in memory, from malloc; NULL while it is empty. */
typedef struct memory_text {
  char *text;
  size_t length;
} memory_text;

/* A stream that appends to it.  Unlike open_memstream's it keeps the error if memory runs out.
 * NULL: no memory. */
FILE *memory_text_open(memory_text *t);

/* A text that is kept in memory until it is complete, and then written. */
typedef struct text_file {
  const char *path;
  memory_text memory;
  FILE *stream;
} text_file;

int text_file_open(text_file *f, const char *path);

/* Writes it, unless code is that of a failure.  Returns the exit code, or -1. */
int text_file_close(text_file *f, int code);

int64_t file_bytes(const char *path);

#endif
