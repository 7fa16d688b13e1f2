/* io.h - reading and writing files, for later folders. */
#ifndef TRS_IO_IO_H
#define TRS_IO_IO_H

#include <stdbool.h>

#include "base/team.h"

/* As trs_matrix_read and so on.  The team parses (NULL: the caller alone); options->context is not
 * used. options may be NULL. */
trs_status trs_read_matrix(trs_matrix **A, const char *path, trs_team *team,
                           const trs_read_options *options);
/* As trs_matrix_open, which checks the arguments. */
trs_status trs_open_matrix(trs_matrix **T, const char *path, trs_format format, trs_uplo uplo,
                           bool add_diagonal, trs_team *team, const trs_read_options *options);
trs_status trs_read_vectors(void **values, int64_t *nrows, int64_t *ncols, trs_scalar scalar,
                            const char *path, trs_team *team, const trs_read_options *options);

trs_status trs_write_matrix(const trs_matrix *A, const char *path, trs_team *team);
trs_status trs_write_vectors(const void *values, int64_t nrows, int64_t ncols, int64_t ld,
                             trs_layout layout, trs_scalar scalar, const char *path,
                             trs_team *team);

#endif
