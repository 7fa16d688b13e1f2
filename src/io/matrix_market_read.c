/* matrix_market_read.c - reads Matrix Market files as a sparse matrix or as a dense array, in
 * either form of the file; and hands files in the Harwell-Boeing format to their reader. */
#include "io/body.h"
#include "io/foreign.h"
#include "io/harwell_boeing.h"
#include "io/matrix_market.h"
#include "matrix/matrix.h"
#include "matrix/values.h"

typedef struct source {
  trs_window window;
  trs_banner banner;
  trs_body body;
  bool boeing; /* a file of the Harwell-Boeing format: no banner, no body */
} source;

static trs_status read_head(source *file, const trs_reading *reading) {
  trs_window *w = &file->window;
  if (w->begin == w->end)
    return trs_fail(TRS_ERROR_FORMAT, -1, "%s:1: the file is empty", reading->path);
  TRS_TRY(trs_foreign_check_text(reading->path, w->begin, w->end - w->begin));
  file->boeing = trs_is_harwell_boeing(w->begin, w->end);
  if (file->boeing) return TRS_SUCCESS;
  while (!w->ended && !trs_banner_complete(w->begin, w->end)) TRS_TRY(trs_window_widen(w));
  TRS_TRY(trs_banner_read(&file->banner, w->begin, w->end, reading->path));
  w->head = file->banner.head;
  TRS_TRY(trs_window_restart(w));
  return trs_reading_scalar(reading, file->banner.field == TRS_COMPLEX, &file->body.scalar);
}

/* in_parts: keep no decompressed text. */
static trs_status open_body(source *file, const trs_reading *reading, bool in_parts) {
  *file = (source){0};
  file->body =
      (trs_body){.reading = reading, .window = &file->window, .banner = &file->banner, .size = 1};
  trs_status status = trs_window_open(&file->window, reading, in_parts);
  if (!status) status = read_head(file, reading);
  if (status) return trs_window_close(&file->window, status);
  file->body.size = trs_body_members(&file->body);
  return TRS_SUCCESS;
}

/* The nonzero values of a dense array by rows.  Only counts if idx and val are NULL. */
static void gather_nonzeros(const trs_body *body, const void *dense, int64_t *ptr, int32_t *idx,
                            void *val) {
  int64_t nrows = body->banner->nrows, ncols = body->banner->ncols, count = 0;
  for (int64_t i = 0; i < nrows; i++) {
    ptr[i] = count;
    for (int64_t j = 0; j < ncols; j++) {
      double complex value = trs_value_get(dense, i + j * nrows, body->scalar);
      if (value == 0) continue;
      if (idx) idx[count] = (int32_t)j;
      if (val) trs_value_set(val, count, body->scalar, value);
      count++;
    }
  }
  ptr[nrows] = count;
}

/* Zeros of an array are not entries. */
static trs_status read_array_matrix(trs_matrix **A, const trs_body *body) {
  const trs_banner *banner = body->banner;
  void *dense = NULL, *val = NULL;
  int64_t *ptr = NULL;
  int32_t *idx = NULL;
  TRS_TRY(trs_array_read(&dense, body));
  trs_status status = TRS_ALLOC(&ptr, banner->nrows + 1);
  if (!status) gather_nonzeros(body, dense, ptr, NULL, NULL);
  if (!status) status = TRS_ALLOC(&idx, ptr[banner->nrows]);
  if (!status) status = trs_alloc(&val, ptr[banner->nrows], trs_scalar_size(body->scalar));
  if (!status) gather_nonzeros(body, dense, ptr, idx, val);
  trs_free(dense);
  if (!status)
    return trs_matrix_adopt(A, TRS_CSR, body->scalar, banner->nrows, banner->ncols, ptr, idx, val);
  TRS_FREE_ALL(ptr, idx, val);
  return status;
}

trs_status trs_matrix_market_read(trs_matrix **A, const trs_reading *reading) {
  source file;
  TRS_TRY(open_body(&file, reading, false));
  trs_status status = file.boeing              ? trs_harwell_boeing_read(A, &file.window, reading)
                      : file.banner.coordinate ? trs_coordinate_read(A, &file.body)
                                               : read_array_matrix(A, &file.body);
  return trs_window_close(&file.window, status);
}

static trs_status refuse_boeing(const trs_reading *reading, const char *what) {
  return trs_fail(TRS_ERROR_UNSUPPORTED, -1, "%s is in the Harwell-Boeing format, %s",
                  reading->path, what);
}

static trs_status select_entries(trs_selected *selected, const trs_selection *only,
                                 const trs_body *body) {
  const trs_banner *banner = body->banner;
  if (!banner->coordinate)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "%s is a dense array, which cannot be read in parts: read all of it "
                    "(trs_matrix_read)",
                    body->reading->path);
  if (banner->nrows != banner->ncols)
    return trs_fail(TRS_ERROR_STRUCTURE, -1,
                    "%s holds a matrix of %lld x %lld, which is not square", body->reading->path,
                    (long long)banner->nrows, (long long)banner->ncols);
  *selected = (trs_selected){.field = banner->field,
                             .symmetry = banner->symmetry,
                             .scalar = body->scalar,
                             .n = banner->nrows};
  return trs_coordinate_select(&selected->entries, body, only);
}

trs_status trs_matrix_market_select(trs_selected *selected, const trs_selection *only,
                                    const trs_reading *reading) {
  source file;
  TRS_TRY(open_body(&file, reading, true));
  trs_status status = file.boeing ? refuse_boeing(reading,
                                                  "which cannot be read in parts: read all of it "
                                                  "(trs_matrix_read)")
                                  : select_entries(selected, only, &file.body);
  return trs_window_close(&file.window, status);
}

static trs_status read_sparse_dense(void **values, const trs_body *body) {
  const trs_banner *banner = body->banner;
  size_t size = trs_scalar_size(body->scalar);
  trs_matrix *A;
  if (banner->field == TRS_PATTERN)
    return trs_fail(TRS_ERROR_FORMAT, -1, "%s:1: a pattern holds no values to read as vectors",
                    body->reading->path);
  TRS_TRY(trs_coordinate_read(&A, body));
  trs_status status = trs_alloc_zero(values, banner->nrows * banner->ncols, size);
  for (int64_t i = 0; !status && i < A->nrows; i++)
    for (int64_t p = A->ptr[i]; p < A->ptr[i + 1]; p++)
      memcpy((char *)*values + (size_t)(i + A->idx[p] * A->nrows) * size,
             (const char *)A->val + (size_t)p * size, size);
  trs_matrix_destroy(A);
  return status;
}

trs_status trs_matrix_market_read_dense(void **values, int64_t *nrows, int64_t *ncols,
                                        trs_scalar scalar, const trs_reading *reading) {
  source file;
  trs_reading typed = *reading;
  typed.options.scalar = scalar;
  TRS_TRY(open_body(&file, &typed, false));
  trs_status status = file.boeing              ? refuse_boeing(reading,
                                                               "of which only the matrix is read: vectors "
                                                                            "must be in the Matrix Market format")
                      : file.banner.coordinate ? read_sparse_dense(values, &file.body)
                                               : trs_array_read(values, &file.body);
  if (!status) {
    *nrows = file.banner.nrows;
    *ncols = file.banner.ncols;
  }
  return trs_window_close(&file.window, status);
}
