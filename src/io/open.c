/* open.c - a Matrix Market file as a matrix whose values stay in the file.  Opening reads the
 * pattern of the selected triangle.  A request for values of some vectors reads them as
 * coordinate.c reads whole files, so that repeats are added and values of patterns are generated in
 * the same way, and compares their indices with the pattern.  Each request is a pass over the file:
 * O(text) time, and memory for the values and 4 bytes per requested entry; if a diagonal is added,
 * twice that and the values once more. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "io/generated.h"
#include "io/hdf5.h"
#include "io/io.h"
#include "io/limit.h"
#include "io/matrix_market.h"
#include "io/source.h"
#include "matrix/matrix.h"

typedef struct opened {
  char *path;
  struct stat about;
  trs_team *team;
  trs_read_options options;
  trs_scalar scalar;
  trs_format format;
  trs_uplo uplo;
  bool add_diagonal;
  bool invents; /* a pattern: values are generated from whole rows */
} opened;

static void close_file(void *user) {
  opened *f = user;
  trs_team_destroy(f->team);
  TRS_FREE_ALL(f->path, f);
}

static trs_status stat_file(const char *path, struct stat *about) {
  if (stat(path, about))
    return trs_fail(TRS_ERROR_FILE, -1, "cannot open %s: %s", path, trs_error_text(errno));
  return TRS_SUCCESS;
}

static trs_status changed(const opened *f) {
  return trs_fail(TRS_ERROR_FILE, -1,
                  "%s has changed since it was opened: open it again (trs_matrix_open)", f->path);
}

static trs_status check_unchanged(const opened *f) {
  struct stat now;
  TRS_TRY(stat_file(f->path, &now));
  bool same = now.st_dev == f->about.st_dev && now.st_ino == f->about.st_ino &&
              now.st_size == f->about.st_size &&
              trs_same_date(trs_file_date(&now), trs_file_date(&f->about));
  return same ? TRS_SUCCESS : changed(f);
}

/* ---- Values. ---- */

/* True if the vectors listed have A's pattern; ptr and idx contain no others. */
static trs_status compare_pattern(const opened *f, const trs_matrix *A, const int64_t *ptr,
                                  const int32_t *idx, int64_t count, const int32_t *vector) {
  for (int64_t k = 0; k < count; k++) {
    int64_t v = vector[k], length = A->ptr[v + 1] - A->ptr[v];
    if (ptr[v + 1] - ptr[v] != length ||
        memcmp(idx + ptr[v], A->idx + A->ptr[v], (size_t)length * sizeof *idx))
      return changed(f);
  }
  return TRS_SUCCESS;
}

/* If selecting entries does not suffice: cuts the triangle as from the whole matrix. */
static trs_status cut_values(const opened *f, const trs_matrix *A, trs_compressed *e, int64_t count,
                             const int32_t *vector, void **val) {
  const size_t size = trs_scalar_size(A->scalar);
  trs_matrix *R = NULL, *T = NULL;
  int64_t entries = 0, at = 0;
  trs_status status =
      trs_matrix_adopt(&R, f->format, A->scalar, A->nrows, A->ncols, e->ptr, e->idx, e->val);
  *e = (trs_compressed){0};
  if (!status) status = trs_matrix_triangle(&T, R, f->uplo, f->add_diagonal);
  trs_matrix_destroy(R);
  if (!status) status = compare_pattern(f, A, T->ptr, T->idx, count, vector);
  for (int64_t k = 0; k < count; k++) entries += A->ptr[vector[k] + 1] - A->ptr[vector[k]];
  if (!status) status = trs_alloc(val, entries, size);
  for (int64_t k = 0; k < count && !status; k++) {
    int64_t from = T->ptr[vector[k]], length = T->ptr[vector[k] + 1] - from;
    memcpy((char *)*val + (size_t)at * size, (char *)T->val + (size_t)from * size,
           (size_t)length * size);
    at += length;
  }
  trs_matrix_destroy(T);
  return status;
}

static trs_status take_values(const opened *f, const trs_matrix *A, trs_compressed *e,
                              int64_t count, const int32_t *vector, void **val) {
  if (f->uplo != TRS_GENERAL && (f->invents || f->add_diagonal))
    return cut_values(f, A, e, count, vector, val);
  TRS_TRY(compare_pattern(f, A, e->ptr, e->idx, count, vector));
  *val = e->val;
  e->val = NULL;
  return TRS_SUCCESS;
}

static trs_status read_vectors(const opened *f, const trs_matrix *A, trs_selected *selected,
                               int64_t count, const int32_t *vector) {
  uint8_t *wanted;
  TRS_TRY(TRS_ALLOC_ZERO(&wanted, A->nrows));
  for (int64_t k = 0; k < count; k++) wanted[vector[k]] = 1;
  trs_selection only = {
      .format = f->format, .uplo = f->invents ? TRS_GENERAL : f->uplo, .wanted = wanted};
  trs_reading reading = {.path = f->path, .team = f->team, .options = f->options};
  trs_status status = trs_matrix_market_select(selected, &only, &reading);
  trs_free(wanted);
  return status;
}

static void free_entries(trs_compressed *e) { TRS_FREE_ALL(e->ptr, e->idx, e->val); }

static trs_status give_values(const opened *f, const trs_matrix *A, int64_t count,
                              const int32_t *vector, void **val) {
  trs_selected selected;
  TRS_TRY(check_unchanged(f));
  TRS_TRY(trs_team_renew(f->team)); /* this process may be a forked child */
  TRS_TRY(read_vectors(f, A, &selected, count, vector));
  trs_status status =
      selected.n == A->nrows && selected.scalar == A->scalar ? check_unchanged(f) : changed(f);
  if (!status) status = take_values(f, A, &selected.entries, count, vector, val);
  free_entries(&selected.entries);
  return status;
}

static trs_status give(void *user, const trs_matrix *A, int64_t count, const int32_t *vector,
                       void **val) {
  const opened *f = user;
  trs_reading reading = {.path = f->path, .options = f->options};
  trs_limit limit;
  TRS_TRY(trs_limit_begin(&limit, &reading));
  return trs_limit_end(&limit, give_values(f, A, count, vector, val));
}

/* ---- Opening. ---- */

/* Adds a diagonal entry to every vector of the pattern. */
static trs_status fill_diagonal(trs_compressed *e, int64_t n, bool last) {
  int64_t *ptr, at = 0;
  int32_t *idx = NULL;
  TRS_TRY(TRS_ALLOC(&ptr, n + 1));
  trs_status status = TRS_ALLOC(&idx, e->ptr[n] + n);
  for (int64_t i = 0; i < n && !status; i++) {
    int64_t begin = e->ptr[i], length = e->ptr[i + 1] - begin;
    bool absent = length == 0 || e->idx[last ? begin + length - 1 : begin] != i;
    ptr[i] = at;
    if (absent && !last) idx[at++] = (int32_t)i;
    memcpy(idx + at, e->idx + begin, (size_t)length * sizeof *idx);
    at += length;
    if (absent && last) idx[at++] = (int32_t)i;
  }
  if (status) {
    trs_free(ptr);
    return status;
  }
  ptr[n] = at;
  free_entries(e);
  *e = (trs_compressed){.ptr = ptr, .idx = idx};
  return TRS_SUCCESS;
}

static trs_status check_kind(const opened *f, const trs_selected *selected) {
  bool by_rows = f->add_diagonal || (f->invents && selected->symmetry == TRS_UNSYMMETRIC);
  if (f->format == TRS_CSR || !by_rows) return TRS_SUCCESS;
  return trs_fail(
      TRS_ERROR_UNSUPPORTED, -1,
      "%s: values on the diagonal depend on whole rows: open it in CSR, or read all of it "
      "(trs_matrix_read)",
      f->path);
}

static trs_status read_pattern(opened *f, trs_selected *selected) {
  const trs_selection only = {.format = f->format, .uplo = f->uplo, .pattern = true};
  trs_reading reading = {.path = f->path, .team = f->team, .options = f->options};
  TRS_TRY(trs_matrix_market_select(selected, &only, &reading));
  f->invents = selected->field == TRS_PATTERN;
  f->scalar = selected->scalar;
  f->options = (trs_read_options){.allow_nonfinite = f->options.allow_nonfinite,
                                  .seed = f->options.seed,
                                  .scalar = f->scalar,
                                  .max_bytes = f->options.max_bytes};
  trs_status status = check_kind(f, selected);
  if (!status) status = check_unchanged(f);
  if (!status && f->add_diagonal)
    status = fill_diagonal(&selected->entries, selected->n,
                           (f->format == TRS_CSR) == (f->uplo == TRS_LOWER));
  if (status) free_entries(&selected->entries);
  return status;
}

/* Fails unless the file can be read in parts and repeatedly. */
static trs_status check_file(const opened *f) {
  bool hdf5;
  const char *what = NULL;
  if (!S_ISREG(f->about.st_mode)) what = "is not a regular file and cannot be read several times";
  if (!what) {
    TRS_TRY(trs_hdf5_is_file(f->path, &hdf5));
    if (hdf5) what = "is an HDF5 container, which cannot be read in parts";
  }
  if (!what) return TRS_SUCCESS;
  return trs_fail(TRS_ERROR_UNSUPPORTED, -1, "%s %s: read all of it (trs_matrix_read)", f->path,
                  what);
}

/* The path from the root, since the process may change its folder before it asks for values.  A
 * folder that cannot be named leaves the path as it is. */
static trs_status keep_path(opened *f, const char *path) {
  char folder[PATH_MAX] = "";
  if (*path != '/' && !getcwd(folder, sizeof folder)) *folder = '\0';
  const int64_t length = (int64_t)(strlen(folder) + 1 + strlen(path) + 1);
  TRS_TRY(TRS_ALLOC(&f->path, length));
  snprintf(f->path, (size_t)length, "%s%s%s", folder, *folder ? "/" : "", path);
  return TRS_SUCCESS;
}

static trs_status open_file(opened *f, const char *path, trs_team *team) {
  TRS_TRY(keep_path(f, path));
  TRS_TRY(stat_file(path, &f->about));
  TRS_TRY(check_file(f));
  return trs_team_create_any(&f->team, trs_team_size(team));
}

trs_status trs_open_matrix(trs_matrix **T, const char *path, trs_format format, trs_uplo uplo,
                           bool add_diagonal, trs_team *team, const trs_read_options *options) {
  trs_selected selected;
  opened *f;
  if (trs_is_generated(path))
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "%s: generators make complete matrices: use "
                    "trs_matrix_read",
                    path);
  TRS_TRY(TRS_ALLOC_ZERO(&f, 1));
  f->format = format;
  f->uplo = uplo;
  f->add_diagonal = add_diagonal;
  if (options) f->options = *options;
  trs_reading reading = {.path = path, .options = f->options};
  trs_limit limit;
  trs_status status = trs_limit_begin(&limit, &reading);
  if (!status) {
    status = open_file(f, path, team);
    if (!status) status = read_pattern(f, &selected);
    status = trs_limit_end(&limit, status);
  }
  if (status) {
    close_file(f);
    return status;
  }
  return trs_matrix_adopt_pattern(T, format, f->scalar, selected.n, selected.n,
                                  selected.entries.ptr, selected.entries.idx,
                                  (trs_deferred){give, close_file, f});
}
