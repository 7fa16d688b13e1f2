/* matrix_market.h - complete Matrix Market files, internal to io. */
#ifndef TRS_IO_MATRIX_MARKET_H
#define TRS_IO_MATRIX_MARKET_H

#include "io/body.h"
#include "io/output_file.h"
#include "io/reading.h"

trs_status trs_matrix_market_read(trs_matrix **A, const trs_reading *reading);
trs_status trs_matrix_market_read_dense(void **values, int64_t *nrows, int64_t *ncols,
                                        trs_scalar scalar, const trs_reading *reading);

/* Selected entries of a coordinate file with a square matrix. */
typedef struct trs_selected {
  trs_field field;
  trs_symmetry symmetry;
  trs_scalar scalar;
  int64_t n;
  trs_compressed entries;
} trs_selected;

/* TRS_ERROR_UNSUPPORTED: an array, whose values determine its pattern. */
trs_status trs_matrix_market_select(trs_selected *selected, const trs_selection *only,
                                    const trs_reading *reading);

trs_status trs_matrix_market_write(const trs_matrix *A, trs_output *output, trs_team *team);

/* A dense array of column-major or row-major values with leading dimension ld. */
typedef struct trs_dense {
  const void *values;
  int64_t nrows, ncols, ld;
  trs_layout layout;
  trs_scalar scalar;
} trs_dense;

trs_status trs_matrix_market_write_dense(const trs_dense *dense, trs_output *output,
                                         trs_team *team);

#endif
