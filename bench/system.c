/* system.c - an entry of a suite becomes triangular systems:
 *   gen:...                     a generated matrix
 *   file:NAME                   a file in the folder TRIREME_MATRICES; file:/PATH, any file
 *   factor:KIND[:ORDER]:ENTRY   L and U of that entry; KIND lu ilu0 ic0 triangle, ORDER nd amd
 *                               natural rcm colour
 * Of matrices both triangles are taken, in any order, with diagonals added where they are missing.
 * Where the folder TRIREME_FACTORS has a file of L + U's pattern (bench/make_factors), it stands
 * for the factors. */
#include "system.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "leave.h"
#include "output.h"

/* Removes "WORD:" from the text if it is one of the words, and returns its index; or -1. */
static int take_word(const char **text, const char *const words[], int count) {
  size_t length = strcspn(*text, ":");
  for (int i = 0; i < count; i++)
    if ((*text)[length] && strlen(words[i]) == length && !strncmp(*text, words[i], length)) {
      *text += length + 1;
      return i;
    }
  return -1;
}

/* If a file does not exist, its uncompressed version may. */
static bool find_file(char *path) {
  static const char ending[] = ".gz";
  size_t length = strlen(path), tail = sizeof ending - 1;
  if (!access(path, F_OK)) return true;
  if (length <= tail || strcmp(path + length - tail, ending) != 0) return false;
  path[length - tail] = 0;
  if (!access(path, F_OK)) return true;
  path[length - tail] = ending[0];
  return false;
}

static trs_status read_matrix(trs_matrix **A, const char *entry, char *skipped, size_t size) {
  const char *folder = getenv("TRIREME_MATRICES");
  char path[1024];
  bool file = !strncmp(entry, "file:", 5);
  if (file && entry[5] != '/' && !(folder && *folder)) {
    snprintf(skipped, size, "TRIREME_MATRICES is not set; it names the folder of matrix files");
    return TRS_SUCCESS;
  }
  if (file && entry[5] != '/')
    snprintf(path, sizeof path, "%s/%s", folder, entry + 5);
  else
    snprintf(path, sizeof path, "%s", file ? entry + 5 : entry);
  if (file && !find_file(path)) {
    snprintf(skipped, size, "there is no file %s", path);
    return TRS_SUCCESS;
  }
  return trs_matrix_read(
      A, path, &(trs_read_options){.struct_size = sizeof(trs_read_options), .scalar = TRS_DOUBLE});
}

/* "factor:lu:nd:gen:poisson2d5:500" is lu-nd-gen-poisson2d5-500.mtx, or that compressed. */
static bool find_pattern(char *path, size_t size, const char *entry) {
  static const char kind[] = "factor:";
  static const char *const endings[] = {".mtx", ".mtx.gz", ".mtx.zst"};
  const char *folder = getenv("TRIREME_FACTORS");
  char name[256];
  if (!folder || !*folder || strncmp(entry, kind, sizeof kind - 1) != 0) return false;
  snprintf(name, sizeof name, "%s", entry + sizeof kind - 1);
  for (char *c = name; *c; c++)
    if (strchr(":,/", *c)) *c = '-';
  for (int k = 0; k < 3; k++) {
    snprintf(path, size, "%s/%s%s", folder, name, endings[k]);
    if (!access(path, F_OK)) return true;
  }
  return false;
}

/* A feature missing in this build is no failure of a benchmark. */
static trs_status forgive(trs_status status, char *skipped, size_t size) {
  if (status != TRS_ERROR_UNSUPPORTED) return status;
  snprintf(skipped, size, "%s", trs_last_error()->message);
  return TRS_SUCCESS;
}

trs_status bench_source_open(bench_source *source, const char *entry, char *skipped, size_t size) {
  static const char *const factor[] = {"factor"},
                           *const kinds[] = {"lu", "ilu0", "ic0", "triangle"},
                           *const orders[] = {"nd", "amd", "natural", "rcm", "colour", "colamd"};
  char pattern[1024];
  *source = (bench_source){0};
  *skipped = 0;
  source->drawn = find_pattern(pattern, sizeof pattern, entry);
  if (source->drawn) {
    trs_status status = trs_matrix_read(
        &source->A, pattern,
        &(trs_read_options){.struct_size = sizeof(trs_read_options), .scalar = TRS_DOUBLE});
    return forgive(status, skipped, size);
  }
  int kind = take_word(&entry, factor, 1) < 0 ? -1 : take_word(&entry, kinds, 4);
  int order = kind < 0 ? -1 : take_word(&entry, orders, 6);
  trs_status status = read_matrix(&source->A, entry, skipped, size);
  if (!status && source->A && kind >= 0) {
    trs_factor_options how = {.struct_size = sizeof(trs_factor_options),
                              .kind = (trs_factor_kind)kind};
    if (order >= 0) how.order = (trs_order)(TRS_ORDER_ND + order);
    status = trs_factor(&source->F, source->A, &how);
    trs_matrix_destroy(source->A);
    source->A = NULL;
  }
  return forgive(status, skipped, size);
}

void bench_source_close(bench_source *source) {
  trs_matrix_destroy(source->A);
  trs_factors_destroy(source->F);
}

/* All methods are timed on the same arrays, and MKL wants rows.  Triangles of a matrix may lack
 * diagonal entries. */
static trs_status take_factor(bench_system *system, const trs_factors *F, trs_uplo uplo) {
  trs_factors_info factors = {.struct_size = sizeof factors};
  trs_matrix *rows = NULL;
  trs_factors_get_info(F, &factors);
  system->T = uplo == TRS_LOWER ? factors.L : factors.U;
  system->diag = uplo == TRS_LOWER ? factors.diag_L : factors.diag_U;
  system->info.struct_size = sizeof system->info;
  trs_matrix_get_info(system->T, &system->info);
  trs_status status = TRS_SUCCESS;
  if (system->info.format != TRS_CSR)
    status = trs_matrix_convert(&rows, system->T, TRS_CSR, TRS_DOUBLE);
  system->cut = rows;
  if (status || factors.kind != TRS_FACTOR_TRIANGLE) return status;
  status = trs_matrix_triangle(&system->cut, rows ? rows : system->T, uplo, 1);
  trs_matrix_destroy(rows);
  return status;
}

trs_status bench_system_take(bench_system *system, const bench_source *source, trs_uplo uplo) {
  trs_status status = TRS_SUCCESS;
  system->uplo = uplo;
  system->drawn = source->drawn;
  system->diag = TRS_NONUNIT;
  system->cut = NULL;
  if (source->F)
    status = take_factor(system, source->F, uplo);
  else
    status = trs_matrix_triangle(&system->cut, source->A, uplo, 1);
  if (status) return status;
  if (system->cut) system->T = system->cut;
  system->info.struct_size = sizeof system->info;
  trs_matrix_get_info(system->T, &system->info);
  return TRS_SUCCESS;
}

void bench_system_free(bench_system *system) {
  trs_matrix_destroy(system->cut);
  system->cut = NULL;
}

int bench_system_survey(const bench_system *s, const trs_matrix *T, trs_plan_info *info) {
  trs_context *ctx = NULL;
  trs_plan *plan = NULL;
  trs_status status = trs_context_create(&ctx, "serial");
  if (!status) status = trs_analyze(&plan, ctx, T, s->uplo, TRS_NO_TRANS, s->diag, NULL);
  *info = (trs_plan_info){.struct_size = sizeof *info};
  if (!status) status = trs_plan_get_info(plan, info);
  trs_plan_destroy(plan);
  trs_context_destroy(ctx);
  return status ? leave_library(s->name) : -1;
}

void bench_describe(bench_row *row, const bench_system *s, const trs_plan_info *info,
                    trs_scalar scalar, int64_t nrhs) {
  const int64_t n = s->info.nrows, size = scalar == TRS_FLOAT ? 4 : 8;
  snprintf(row->matrix, sizeof row->matrix, "%s", s->name);
  snprintf(row->scalar, sizeof row->scalar, "%s", human_scalar(scalar));
  snprintf(row->values, sizeof row->values, "%s", s->drawn ? "drawn" : "own");
  row->upper = s->uplo == TRS_UPPER;
  row->n = n;
  row->nnz = s->info.nnz;
  row->nrhs = nrhs;
  row->levels = info->levels;
  row->parallelism = info->parallelism;
  row->dependency = info->dependency;
  row->bytes = info->solve_bytes + 2 * size * n * (nrhs - 1);
  row->matrix_bytes = (double)(row->nnz * (size + (int64_t)sizeof(int32_t)) + 8 * (n + 1));
  row->vector_bytes = 2.0 * (double)size * (double)(n * nrhs);
}
