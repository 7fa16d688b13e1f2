/* program.h - what the programs trireme and trireme-bench have in common: the main function, and
 * the ways to files and programs that are installed beside them. */
#ifndef TRIREME_CLI_PROGRAM_H
#define TRIREME_CLI_PROGRAM_H

#include <stddef.h>

/* Prepares the output, runs the program, prints the JSON report and makes sure that the output
 * arrived.  run gets the words behind the program's name.  Returns the exit code. */
int program_main(int argc, char **argv, int (*run)(int argc, char **argv));

/* From now on a signal that ends programs, such as Ctrl-C's, cancels the library's calls, so that
 * workers and unfinished files go.  A second one, or two seconds, end the program at once. */
void program_catch_signals(void);
/* Ends the program by that signal if it was cancelled: shells stop a script then.  Returns code. */
int program_end(int code);

/* The running program, and a path relative to its folder; empty where /proc does not tell. */
void program_self(char *path, size_t size);
void program_beside(char *path, size_t size, const char *name);

/* Runs another program of the installation: from the folder of this one, or from libexec.  words
 * begin with its name and end with NULL.  Returns how to leave: it is missing or does not start. */
int program_become(const char *const words[]);
/* Runs it as a child with the same output; nothing happens where it is missing. */
void program_call(const char *const words[]);

#endif
