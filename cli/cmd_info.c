/* cmd_info.c - trireme info: what a matrix or a file of factors means for a solve. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "files.h"
#include "info.h"
#include "leave.h"
#include "output.h"
#include "picture.h"
#include "progress.h"
#include "report.h"
#include "symmetry.h"

typedef struct settings {
  const char *svg;
  double max_memory;
  bool json;
} settings;

static const option options[] = {FILE_OPTION("svg", 0, "FILE", offsetof(settings, svg),
                                             "draw the pattern and the level widths as SVG"),
                                 MAX_MEMORY_OPTION(offsetof(settings, max_memory)),
                                 JSON_OPTION(offsetof(settings, json)),
                                 {0}};

static const paragraph paragraphs[] = {
    {NULL,
     "Describes a matrix or a file of factors: entries, symmetry, and for each triangle the level "
     "sets that decide how fast it can be solved. Rows of one level are independent. Parallelism "
     "is the mean number of rows per level, dependency the mean number of entries per row. Columns "
     "are counted by length: 0 entries, 1, 2 to 3, 4 to 7 and so on. Symmetry is judged as "
     "'trireme "
     "factor --kind ic0' judges it: up to rounding relative to the diagonal. The "
     "reference time is the larger of bytes / bandwidth and levels x latency, measured on this "
     "machine; it is no limit. Triangles of a general matrix are taken as 'trireme solve --uplo "
     "--add-diagonal' takes them. Rows and columns count from 0."},
    {"Examples",
     "  trireme info A.mtx\n"
     "  trireme info gen:poisson2d5:300 --svg poisson.svg"},
    {0}};

/* ---- Collecting the facts ---- */

static trs_status analyze(trs_context *ctx, info_sweep *s, const trs_matrix *T, trs_uplo uplo,
                          trs_diag diag) {
  trs_options how = {.struct_size = sizeof(trs_options), .progress = progress_show};
  trs_status status = trs_analyze(&s->plan, ctx, T, uplo, TRS_NO_TRANS, diag, &how);
  /* Levels and sizes do not depend on the values of a diagonal that no solve can divide by. */
  if (status == TRS_ERROR_ZERO_PIVOT || status == TRS_ERROR_NOT_FINITE)
    status = trs_analyze(&s->plan, ctx, T, uplo, TRS_NO_TRANS, TRS_UNIT, &how);
  s->info.struct_size = sizeof s->info;
  if (!status) status = trs_plan_get_info(s->plan, &s->info);
  if (!status) status = trs_plan_get_levels(s->plan, &s->rows, &s->levels);
  if (!status) status = trs_plan_bound(s->plan, &s->bound);
  s->present = !status;
  return status;
}

static trs_status analyze_triangles(trs_context *ctx, info_facts *f) {
  bool lower = !f->matrix.nupper, upper = !f->matrix.nlower && !lower;
  if (f->matrix.nrows != f->matrix.ncols) return TRS_SUCCESS;
  for (int i = 0; i < 2; i++) {
    if (i == 0 ? upper : lower) continue;
    trs_uplo uplo = i == 0 ? TRS_LOWER : TRS_UPPER;
    trs_status status = trs_matrix_triangle(&f->sweep[i].taken, f->in.A, uplo, 1);
    if (!status) status = analyze(ctx, &f->sweep[i], f->sweep[i].taken, uplo, TRS_NONUNIT);
    if (status) return status;
  }
  return TRS_SUCCESS;
}

static trs_status analyze_factors(trs_context *ctx, info_facts *f) {
  const trs_factors_info *i = &f->factors;
  trs_status status = analyze(ctx, &f->sweep[0], i->L, TRS_LOWER, i->diag_L);
  return status ? status : analyze(ctx, &f->sweep[1], i->U, TRS_UPPER, i->diag_U);
}

static trs_status find_out(info_facts *f) {
  trs_context *ctx;
  trs_status status = trs_context_create(&ctx, NULL);
  if (status) return status;
  progress_begin();
  if (f->in.F) {
    f->factors.struct_size = sizeof f->factors;
    trs_factors_get_info(f->in.F, &f->factors);
    status = analyze_factors(ctx, f);
  } else {
    f->matrix.struct_size = sizeof f->matrix;
    trs_matrix_get_info(f->in.A, &f->matrix);
    status = analyze_triangles(ctx, f);
  }
  progress_end();
  trs_context_destroy(ctx);
  return status;
}

/* Entries of each column; length: zeros, one per column. */
static void count_entries(const trs_matrix *T, const trs_matrix_info *m, int32_t *length) {
  const int64_t *ptr;
  const int32_t *idx;
  trs_matrix_get_arrays(T, &ptr, &idx, NULL);
  if (m->format == TRS_CSC)
    for (int64_t j = 0; j < m->ncols; j++) length[j] = (int32_t)(ptr[j + 1] - ptr[j]);
  else
    for (int64_t p = 0; p < m->nnz; p++) length[idx[p]]++;
}

/* Returns -1, or the exit code. */
static int find_columns(info_columns *c, const trs_matrix *T) {
  trs_matrix_info m = {.struct_size = sizeof m};
  trs_matrix_get_info(T, &m);
  int32_t *length = calloc((size_t)m.ncols + 1, sizeof *length);
  if (!length) return leave_memory((double)m.ncols * sizeof *length, "the lengths of columns");
  count_entries(T, &m, length);
  c->shortest = m.ncols ? INT32_MAX : 0;
  for (int64_t j = 0; j < m.ncols; j++) {
    int kind = 0;
    while (length[j] >> kind) kind++;
    c->count[kind]++;
    if (kind >= c->kinds) c->kinds = kind + 1;
    if (length[j] < c->shortest) c->shortest = length[j];
    if (length[j] > c->longest) c->longest = length[j];
  }
  free(length);
  return -1;
}

static int find_all_columns(info_facts *f) {
  int code = -1;
  for (int i = 0; i < 2 && code < 0; i++) {
    const trs_matrix *factor = i == 0 ? f->factors.L : f->factors.U;
    if (f->sweep[i].present)
      code = find_columns(&f->sweep[i].columns, f->in.F ? factor : f->sweep[i].taken);
  }
  return code;
}

static void forget(info_facts *f) {
  for (int i = 0; i < 2; i++) {
    trs_plan_destroy(f->sweep[i].plan);
    trs_matrix_destroy(f->sweep[i].taken);
    trs_free(f->sweep[i].rows);
  }
  input_free(&f->in);
}

/* ---- Picture ---- */

static int draw(const info_facts *f, const char *path) {
  char subtitle[320];
  bool factors = f->in.F;
  int64_t nnz = factors ? f->factors.nnz_L + f->factors.nnz_U : f->matrix.nnz;
  snprintf(subtitle, sizeof subtitle, "%s x %s, %s, %s%s",
           human_count(factors ? f->factors.n : f->matrix.nrows).s,
           human_count(factors ? f->factors.n : f->matrix.ncols).s,
           human_things(nnz, "entry", "entries").s, factors ? "factors: " : "", info_kind(f));
  const char *slash = strrchr(f->in.name, '/');
  picture p = {.title = slash ? slash + 1 : f->in.name,
               .subtitle = subtitle,
               .part = {factors ? f->factors.L : f->in.A, factors ? f->factors.U : NULL},
               .tree_ptr = f->factors.tree_ptr,
               .tree_nodes = f->factors.tree_nodes};
  const char *names[] = {factors ? "factor L" : "lower triangle",
                         factors ? "factor U" : "upper triangle"};
  for (int i = 0; i < 2; i++)
    if (f->sweep[i].present)
      p.sweep[i] =
          (picture_levels){names[i], f->sweep[i].rows, f->sweep[i].levels, f->sweep[i].info.n};
  int code = picture_write(&p, path);
  if (code < 0) {
    table_gap();
    table_row("picture", "%s", human_name(path).s);
    report_text("picture", path);
  }
  return code;
}

static int tell(info_facts *f, const settings *s) {
  if (find_out(f)) return leave_library(f->in.name);
  int code = f->in.F ? -1 : symmetry_find(&f->symmetry, f->in.A);
  if (code < 0) code = find_all_columns(f);
  if (code >= 0) return code;
  info_print(f);
  info_report(f);
  if (s->svg) code = draw(f, s->svg);
  return code < 0 ? LEAVE_SOLVED : code;
}

static int run(int argc, char **argv) {
  settings s = {0};
  info_facts f = {0};
  int code = options_parse(&cmd_info, &s, &argc, argv);
  files_limit_memory(s.max_memory);
  if (code < 0 && s.svg) code = check_text_writable(s.svg);
  if (code < 0) code = input_read(&f.in, argv[0], -1);
  if (code < 0) code = tell(&f, &s);
  forget(&f);
  return code;
}

const command cmd_info = COMMAND_OF("info", "[OPTIONS] M",
                                    "describe a matrix or factors, and draw them", "matrix", 1, 1);
