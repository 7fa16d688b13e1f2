/* files.c - reading and writing: argument checks, and a team of threads for readers and writers. */
#include "base/cancel.h"
#include "base/options.h"
#include "base/structs.h"
#include "factor/file.h"
#include "io/io.h"
#include "matrix/matrix.h"
#include "backend/context.h"

/* The caller's options, and the team of the caller's context or of a temporary context of every
 * core.  The thread is not cancelled during the call. */
typedef struct borrowed_team {
  trs_read_options options;
  int cancel;
  trs_context *own;
  trs_team *team;
} borrowed_team;

static trs_status borrow_team(borrowed_team *borrowed, const trs_read_options *options) {
  *borrowed = (borrowed_team){0};
  TRS_TRY(TRS_STRUCT_TAKE(trs_read_options, &borrowed->options, options));
  const trs_option numbers[] = {{"allow_nonfinite", borrowed->options.allow_nonfinite, 0, 1},
                                {"scalar", (int)borrowed->options.scalar, 0, TRS_DCOMPLEX},
                                {"max_bytes", borrowed->options.max_bytes, -1, INT64_MAX}};
  TRS_TRY(trs_options_check("trs_read_options", numbers, sizeof numbers / sizeof *numbers));
  if (borrowed->options.context) TRS_TRY(trs_context_check(borrowed->options.context));
  borrowed->cancel = trs_cancel_defer();
  if (borrowed->options.context) {
    borrowed->team = borrowed->options.context->team;
    return TRS_SUCCESS;
  }
  trs_status status = trs_context_create(&borrowed->own, "auto");
  if (status)
    trs_cancel_restore(borrowed->cancel);
  else
    borrowed->team = borrowed->own->team;
  return status;
}

static trs_status end_borrowing(const borrowed_team *borrowed, trs_status status) {
  trs_context_destroy(borrowed->own);
  trs_cancel_restore(borrowed->cancel);
  return status;
}

static trs_status check_path(const void *object, const char *name, const char *path) {
  if (!object) return trs_fail(TRS_ERROR_ARGUMENT, -1, "%s is NULL", name);
  if (!path) return trs_fail(TRS_ERROR_ARGUMENT, -1, "path is NULL");
  if (!*path) return trs_fail(TRS_ERROR_ARGUMENT, -1, "the path is empty");
  return TRS_SUCCESS;
}

trs_status trs_matrix_read(trs_matrix **A, const char *path, const trs_read_options *options) {
  borrowed_team with;
  if (A) *A = NULL;
  TRS_TRY(check_path(A, "A", path));
  TRS_TRY(borrow_team(&with, options));
  return end_borrowing(&with, trs_read_matrix(A, path, with.team, &with.options));
}

trs_status trs_matrix_open(trs_matrix **T, const char *path, trs_format format, trs_uplo uplo,
                           int add_diagonal, const trs_read_options *options) {
  borrowed_team with;
  TRS_TRY(check_path(T, "T", path));
  *T = NULL;
  if ((unsigned)format > TRS_CSC || (unsigned)uplo > TRS_UPPER)
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "%s is not one of its values",
                    (unsigned)uplo > TRS_UPPER ? "uplo" : "format");
  if (add_diagonal != 0 && add_diagonal != 1)
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "add_diagonal is %d: it must be 0 or 1", add_diagonal);
  if (add_diagonal && uplo == TRS_GENERAL)
    return trs_fail(TRS_ERROR_ARGUMENT, -1,
                    "a diagonal is added to a triangle: uplo must be TRS_LOWER or TRS_UPPER");
  TRS_TRY(borrow_team(&with, options));
  return end_borrowing(
      &with, trs_open_matrix(T, path, format, uplo, add_diagonal, with.team, &with.options));
}

trs_status trs_matrix_write(const trs_matrix *A, const char *path) {
  borrowed_team with;
  TRS_TRY(check_path(A, "A", path));
  TRS_TRY(trs_matrix_need_host(A, "trs_matrix_write"));
  TRS_TRY(borrow_team(&with, NULL));
  return end_borrowing(&with, trs_write_matrix(A, path, with.team));
}

trs_status trs_vectors_read(void **values, int64_t *nrows, int64_t *ncols, trs_scalar scalar,
                            const char *path, const trs_read_options *options) {
  borrowed_team with;
  TRS_TRY(check_path(values, "values", path));
  *values = NULL;
  if (!nrows || !ncols) return trs_fail(TRS_ERROR_ARGUMENT, -1, "nrows or ncols is NULL");
  TRS_TRY(borrow_team(&with, options));
  return end_borrowing(
      &with, trs_read_vectors(values, nrows, ncols, scalar, path, with.team, &with.options));
}

trs_status trs_vectors_write(const void *values, int64_t nrows, int64_t ncols, int64_t ld,
                             trs_layout layout, trs_scalar scalar, const char *path) {
  borrowed_team with;
  TRS_TRY(check_path(path, "path", path));
  TRS_TRY(borrow_team(&with, NULL));
  return end_borrowing(
      &with, trs_write_vectors(values, nrows, ncols, ld, layout, scalar, path, with.team));
}

trs_status trs_factors_read(trs_factors **F, const char *path, const trs_read_options *options) {
  borrowed_team with;
  TRS_TRY(check_path(F, "F", path));
  *F = NULL;
  TRS_TRY(borrow_team(&with, options));
  return end_borrowing(&with, trs_read_factors(F, path, with.team, &with.options));
}

trs_status trs_factors_write(const trs_factors *F, const char *path) {
  borrowed_team with;
  TRS_TRY(check_path(F, "F", path));
  TRS_TRY(trs_factors_need_host(F, "trs_factors_write"));
  TRS_TRY(borrow_team(&with, NULL));
  return end_borrowing(&with, trs_write_factors(F, path, with.team));
}

trs_status trs_file_content(trs_content *content, const char *path) {
  TRS_TRY(check_path(content, "content", path));
  int cancel = trs_cancel_defer();
  trs_status status = trs_find_content(content, path);
  trs_cancel_restore(cancel);
  return status;
}
