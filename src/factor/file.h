/* file.h - factors from and to files, for the public functions in api/files.c. */
#ifndef TRS_FACTOR_FILE_H
#define TRS_FACTOR_FILE_H

#include "io/reading.h"

/* As trs_factors_read and trs_factors_write; the team reads, checks and writes the arrays. */
trs_status trs_read_factors(trs_factors **F, const char *path, trs_team *team,
                            const trs_read_options *options);
/* Collective over the readers of partial: each gets the pattern and a part of the values of L and
 * U; where the file's values are not in order, one has all of them and the others' parts are empty.
 */
TRS_API trs_status trs_read_factors_part(trs_factors **F, const char *path,
                                         const trs_scalar *scalar, trs_partial *partial);
trs_status trs_write_factors(const trs_factors *F, const char *path, trs_team *team);

/* As trs_file_content. */
trs_status trs_find_content(trs_content *content, const char *path);

#endif
