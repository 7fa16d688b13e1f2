/* write.c - chooses the writer by the ending of the name: .h5 and .hdf5 are HDF5, all other names
 * are Matrix Market, compressed if they end in .gz or .zst.  Endings of formats that are not
 * written are errors. */
#include "base/extent.h"
#include "base/scalar.h"
#include "io/ending.h"
#include "io/hdf5.h"
#include "io/io.h"
#include "io/matrix_market.h"

static trs_status check_ending(const char *path) {
  const char *ending = trs_ending_refused(path);
  return ending ? trs_fail(TRS_ERROR_ARGUMENT, -1, TRS_ENDING_REFUSED, path, ending) : TRS_SUCCESS;
}

trs_status trs_write_matrix(const trs_matrix *A, const char *path, trs_team *team) {
  trs_output output;
  if (!A || !path) return trs_fail(TRS_ERROR_ARGUMENT, -1, "%s is NULL", A ? "path" : "A");
  TRS_TRY(check_ending(path));
  if (trs_hdf5_is_name(path)) return trs_hdf5_write(A, path, team);
  TRS_TRY(trs_output_open(&output, path));
  return trs_output_close(&output, trs_matrix_market_write(A, &output, team));
}

static trs_status check_dense(const trs_dense *dense, const char *path) {
  if (!path || (!dense->values && dense->nrows && dense->ncols))
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "%s is NULL", path ? "values" : "path");
  if (!trs_scalar_valid(dense->scalar))
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "scalar %d is not one of trs_scalar's", dense->scalar);
  if (dense->layout != TRS_COL_MAJOR && dense->layout != TRS_ROW_MAJOR)
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "layout %d is not one of trs_layout's", dense->layout);
  int64_t least = dense->layout == TRS_COL_MAJOR ? dense->nrows : dense->ncols;
  if (dense->nrows < 0 || dense->ncols < 0 || dense->nrows > INT32_MAX ||
      dense->ncols > INT32_MAX || dense->ld < least)
    return trs_fail(TRS_ERROR_ARGUMENT, -1,
                    "%lld x %lld values with leading dimension %lld: sizes must lie in 0 .. "
                    "2147483647, the leading dimension be at least %lld",
                    (long long)dense->nrows, (long long)dense->ncols, (long long)dense->ld,
                    (long long)least);
  int64_t bytes, runs = dense->layout == TRS_COL_MAJOR ? dense->ncols : dense->nrows;
  if (least > 0 && runs > 0 &&
      !trs_extent(&bytes, runs, least, dense->ld, (int64_t)trs_scalar_size(dense->scalar)))
    return trs_fail(TRS_ERROR_ARGUMENT, -1,
                    "%lld x %lld values with leading dimension %lld end beyond the address space",
                    (long long)dense->nrows, (long long)dense->ncols, (long long)dense->ld);
  return TRS_SUCCESS;
}

trs_status trs_write_vectors(const void *values, int64_t nrows, int64_t ncols, int64_t ld,
                             trs_layout layout, trs_scalar scalar, const char *path,
                             trs_team *team) {
  trs_output output;
  trs_dense dense = {values, nrows, ncols, ld, layout, scalar};
  TRS_TRY(check_dense(&dense, path));
  TRS_TRY(check_ending(path));
  if (trs_hdf5_is_name(path))
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "%s: vectors are written as Matrix Market arrays: give a name that ends with "
                    ".mtx",
                    path);
  TRS_TRY(trs_output_open(&output, path));
  return trs_output_close(&output, trs_matrix_market_write_dense(&dense, &output, team));
}
