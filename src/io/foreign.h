/* foreign.h - formats of other programs, which are not read, with the commands that convert them.
 */
#ifndef TRS_IO_FOREIGN_H
#define TRS_IO_FOREIGN_H

#include "io/source.h"

/* Fails if the first bytes or the ending are those of such a format. */
trs_status trs_foreign_check(const trs_source *source);

/* Fails if the text, which may have been decompressed, is an archive. */
trs_status trs_foreign_check_text(const char *path, const char *text, int64_t length);

/* The path as a word of a shell's command: NULL if it does not fit. */
const char *trs_shell_word(char *word, size_t size, const char *path);

#endif
