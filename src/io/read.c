/* read.c - chooses the reader by the name or the first bytes of the file. */
#include "io/generated.h"
#include "io/hdf5.h"
#include "io/io.h"
#include "io/limit.h"
#include "io/matrix_market.h"
#include "io/source.h"

static trs_status begin_reading(trs_reading *reading, const char *path, trs_team *team,
                                const trs_read_options *options) {
  if (!path) return trs_fail(TRS_ERROR_ARGUMENT, -1, "path is NULL");
  *reading = (trs_reading){.path = path, .team = team};
  if (options) reading->options = *options;
  return TRS_SUCCESS;
}

/* A generated matrix, in the requested element type. */
static trs_status generate(trs_matrix **A, const trs_reading *reading) {
  trs_scalar scalar;
  trs_matrix *made;
  trs_matrix_info info = {.struct_size = sizeof info};
  TRS_TRY(trs_generated.make(&made, reading->path, reading->team, reading->options.progress,
                             reading->options.progress_user));
  trs_matrix_get_info(made, &info);
  trs_status status = trs_reading_scalar(reading, trs_scalar_is_complex(info.scalar), &scalar);
  if (!status && scalar == info.scalar) {
    *A = made;
    return TRS_SUCCESS;
  }
  if (!status) status = trs_matrix_convert(A, made, info.format, scalar);
  trs_matrix_destroy(made);
  return status;
}

trs_status trs_read_matrix(trs_matrix **A, const char *path, trs_team *team,
                           const trs_read_options *options) {
  trs_reading reading;
  bool hdf5 = false;
  if (!A) return trs_fail(TRS_ERROR_ARGUMENT, -1, "A is NULL");
  *A = NULL;
  TRS_TRY(begin_reading(&reading, path, team, options));
  const bool generated = trs_is_generated(path);
  if (!generated) TRS_TRY(trs_hdf5_is_file(path, &hdf5));
  trs_limit limit;
  TRS_TRY(trs_limit_begin(&limit, &reading));
  trs_status status = generated ? generate(A, &reading)
                      : hdf5    ? trs_hdf5_read(A, &reading)
                                : trs_matrix_market_read(A, &reading);
  return trs_limit_end(&limit, status);
}

trs_status trs_read_vectors(void **values, int64_t *nrows, int64_t *ncols, trs_scalar scalar,
                            const char *path, trs_team *team, const trs_read_options *options) {
  trs_reading reading;
  if (!values || !nrows || !ncols)
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "values, nrows or ncols is NULL");
  *values = NULL;
  *nrows = *ncols = 0;
  TRS_TRY(begin_reading(&reading, path, team, options));
  trs_limit limit;
  TRS_TRY(trs_limit_begin(&limit, &reading));
  return trs_limit_end(&limit,
                       trs_matrix_market_read_dense(values, nrows, ncols, scalar, &reading));
}
