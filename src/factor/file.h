/* file.h - factors from and to files, for the public functions in api/files.c. */
#ifndef TRS_FACTOR_FILE_H
#define TRS_FACTOR_FILE_H

#include "factor/factors.h"
#include "io/hdf5.h"
#include "io/reading.h"

/* As trs_factors_read and trs_factors_write.  The team reads, checks and writes the arrays. */
trs_status trs_read_factors(trs_factors **F, const char *path, trs_team *team,
                            const trs_read_options *options);

/* Reads the patterns of L and U and everything else in the file except their values.  *whole: the
 * values were read too, because the entries are not in canonical order. */
trs_status trs_read_factors_pattern(trs_factors **F, const char *path, trs_scalar scalar,
                                    bool *whole);

/* The part of a file that one of `parts` readers needs, if its pattern is in canonical order:
 * entries number / parts of L and U (none if parts is 0), and everything else; F has no matrices.
 * Release it, also after a failure. */
typedef struct trs_factors_part {
  trs_factors F;
  trs_hdf5_part side[2];
} trs_factors_part;

trs_status trs_read_factors_part(trs_factors_part *part, const char *path, trs_scalar scalar,
                                 int number, int parts);
void trs_factors_part_release(trs_factors_part *part);
trs_status trs_write_factors(const trs_factors *F, const char *path, trs_team *team);

/* As trs_file_content. */
trs_status trs_find_content(trs_content *content, const char *path);

#endif
