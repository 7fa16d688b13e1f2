/* info_report.c - what trireme info found out, as a table and as JSON. */

#include <stdio.h>

#include "info.h"
#include "leave.h"
#include "output.h"
#include "report.h"
#include "symmetry.h"
#include "widths.h"

enum { LINE_SIZE = 160 };

static const char *const sweep_key[] = {"lower", "upper"};

/* ---- Words ---- */

static const char *kind_of(const trs_matrix_info *m) {
  if (m->nrows != m->ncols) return "rectangular";
  if (!m->nlower && !m->nupper) return "diagonal";
  return !m->nupper ? "lower triangular" : !m->nlower ? "upper triangular" : "general";
}

static const char *symmetry_word(const info_facts *f) {
  const symmetry *s = &f->symmetry;
  bool complex = f->matrix.scalar == TRS_SCOMPLEX || f->matrix.scalar == TRS_DCOMPLEX;
  if (s->exactly_symmetric) return "symmetric";
  if (s->exactly_hermitian && complex) return "hermitian";
  if (s->skew) return "skew-symmetric";
  if (s->symmetric) return "symmetric up to rounding";
  if (s->hermitian && complex) return "hermitian up to rounding";
  return s->pattern ? "symmetric pattern, unsymmetric values" : "unsymmetric pattern";
}

static const char *kind_word(trs_factor_kind kind) {
  static const char *const words[] = {"lu", "ilu0", "ic0", "triangle", "bilu0", "bic0", "dilu"};
  return words[kind];
}

const char *info_kind(const info_facts *f) {
  return f->in.F ? kind_word(f->factors.kind) : kind_of(&f->matrix);
}

static const char *order_word(trs_order order) {
  static const char *const words[] = {
      [TRS_ORDER_ND] = "nd",   [TRS_ORDER_AMD] = "amd",       [TRS_ORDER_NATURAL] = "natural",
      [TRS_ORDER_RCM] = "rcm", [TRS_ORDER_COLOUR] = "colour", [TRS_ORDER_COLAMD] = "colamd"};
  return words[order];
}

/* ---- Table ---- */

static void print_matrix(const info_facts *f) {
  const trs_matrix_info *m = &f->matrix;
  table_row("matrix", "%s, %s rows, %s columns, %s", human_scalar(m->scalar),
            human_count(m->nrows).s, human_count(m->ncols).s,
            human_things(m->nnz, "entry", "entries").s);
  bool square = m->nrows == m->ncols, both = m->nlower && m->nupper;
  table_row("kind", "%s%s%s", kind_of(m), square && both ? ", " : "",
            square && both ? symmetry_word(f) : "");
  table_row("structure", "%s below the diagonal, %s on it, %s above", human_count(m->nlower).s,
            human_count(m->ndiagonal).s, human_count(m->nupper).s);
  table_row(m->format == TRS_CSR ? "rows" : "columns", "%s entries on average, at most %s",
            human_real(m->nrows ? (double)m->nnz / (double)m->nrows : 0).s,
            human_count(m->longest_row).s);
  table_row("memory", "%s as %s", human_bytes((double)m->bytes).s,
            m->format == TRS_CSR ? "CSR" : "CSC");
}

static void print_factors(const info_facts *f) {
  const trs_factors_info *i = &f->factors;
  table_row("factors", "%s, %s order, %s, %s", kind_word(i->kind), order_word(i->order),
            human_scalar(i->scalar), human_things(i->n, "row", "rows").s);
  if (i->shift > 0) table_row("shift", "factors of A + %.4g diag(A)", i->shift);
  table_row("entries", "%s in L%s, %s in U%s", human_count(i->nnz_L).s,
            i->diag_L == TRS_UNIT ? " (unit diagonal)" : "", human_count(i->nnz_U).s,
            i->diag_U == TRS_UNIT ? " (unit diagonal)" : "");
  if (i->nsupernodes)
    table_row("supernodes", "%s, %s columns on average", human_count(i->nsupernodes).s,
              human_real((double)i->n / (double)i->nsupernodes).s);
  if (i->tree_nodes) table_row("separator tree", "%s nodes", human_count(i->tree_nodes).s);
}

/* Prints one row of the triangles' table; format_sweep writes the text of one sweep. */
static void print_line(const info_facts *f, const char *label,
                       void (*format_sweep)(char *text, size_t size, const info_sweep *s)) {
  char text[2][LINE_SIZE] = {"", ""};
  int used = 0;
  for (int i = 0; i < 2; i++)
    if (f->sweep[i].present) format_sweep(text[used++], LINE_SIZE, &f->sweep[i]);
  if (used) table_pair(label, text[0], text[1]);
}

static void format_entries(char *text, size_t size, const info_sweep *s) {
  snprintf(text, size, "%s", human_count(s->info.nnz).s);
}

static void format_dependency(char *text, size_t size, const info_sweep *s) {
  snprintf(text, size, "%s entries per row", human_real(s->info.dependency).s);
}

static void format_levels(char *text, size_t size, const info_sweep *s) {
  snprintf(text, size, "%s", human_count(s->levels).s);
}

static void format_parallelism(char *text, size_t size, const info_sweep *s) {
  snprintf(text, size, "%s %s per level", human_real(s->info.parallelism).s,
           s->info.parallelism == 1 ? "row" : "rows");
}

static void format_extremes(char *text, size_t size, const info_sweep *s) {
  snprintf(text, size, "%s to %s", human_count(s->info.min_parallelism).s,
           human_count(s->info.max_parallelism).s);
}

static void format_columns(char *text, size_t size, const info_sweep *s) {
  snprintf(text, size, "%s to %s entries", human_count(s->columns.shortest).s,
           human_count(s->columns.longest).s);
}

static void format_lengths(char *text, size_t size, const info_sweep *s) {
  widths_line(text, size, s->columns.count, s->columns.kinds, s->columns.kinds);
}

static void format_bytes(char *text, size_t size, const info_sweep *s) {
  snprintf(text, size, "%s", human_bytes((double)s->info.solve_bytes).s);
}

static void format_reference(char *text, size_t size, const info_sweep *s) {
  snprintf(text, size, "%s on %s", human_seconds(s->bound).s,
           human_things(s->info.threads, "thread", "threads").s);
}

static void print_widths(const info_facts *f, int cells) {
  char text[2][4 * 64] = {"", ""};
  int used = 0;
  for (int i = 0; i < 2; i++)
    if (f->sweep[i].present)
      widths_line(text[used++], sizeof text[0], f->sweep[i].rows, f->sweep[i].levels, cells);
  table_pair("level widths", text[0], text[1]);
}

static void print_sweeps(const info_facts *f) {
  const char *lower = f->in.F ? "L" : "lower triangle", *upper = f->in.F ? "U" : "upper triangle";
  bool both = f->sweep[0].present && f->sweep[1].present;
  if (!f->sweep[0].present && !f->sweep[1].present) return;
  table_gap();
  table_pair("", f->sweep[0].present ? lower : upper, both ? upper : "");
  print_line(f, "entries", format_entries);
  print_line(f, "dependency", format_dependency);
  print_line(f, "levels", format_levels);
  print_line(f, "parallelism", format_parallelism);
  print_line(f, "rows in a level", format_extremes);
  print_widths(f, both ? 24 : 56);
  print_line(f, "columns", format_columns);
  print_line(f, "column lengths", format_lengths);
  print_line(f, "bytes per solve", format_bytes);
  print_line(f, "reference time", format_reference);
  table_load();
}

static void print_diagonal(const info_facts *f) {
  const trs_matrix_info *m = &f->matrix;
  if (m->nrows != m->ncols) {
    table_row("triangles", "none, since the matrix is not square");
    return;
  }
  if (m->missing_diagonal < 0) {
    table_row("diagonal", "complete");
    return;
  }
  table_row("diagonal", "%s missing, the first in row %lld (0-based); added to the triangles below",
            human_things(m->nrows - m->ndiagonal, "entry", "entries").s,
            (long long)m->missing_diagonal);
}

void info_print(const info_facts *f) {
  table_title(f->in.name);
  if (f->in.F) {
    print_factors(f);
  } else {
    print_matrix(f);
    print_diagonal(f);
  }
  print_sweeps(f);
}

/* ---- JSON ---- */

static void report_matrix(const info_facts *f) {
  const trs_matrix_info *m = &f->matrix;
  report_text("matrix.scalar", human_scalar(m->scalar));
  report_text("matrix.kind", kind_of(m));
  report_count("matrix.n", m->nrows);
  report_count("matrix.columns", m->ncols);
  report_count("matrix.nnz", m->nnz);
  report_count("matrix.nnz_lower", m->nlower);
  report_count("matrix.nnz_diagonal", m->ndiagonal);
  report_count("matrix.nnz_upper", m->nupper);
  report_bool("matrix.symmetric_pattern", f->symmetry.pattern);
  report_bool("matrix.symmetric", f->symmetry.symmetric);
  report_bool("matrix.hermitian", f->symmetry.hermitian);
  report_bool("matrix.exactly_symmetric", f->symmetry.exactly_symmetric);
  report_bool("matrix.exactly_hermitian", f->symmetry.exactly_hermitian);
  if (m->missing_diagonal < 0)
    report_null("matrix.missing_diagonal");
  else
    report_count("matrix.missing_diagonal", m->missing_diagonal);
  report_count("matrix.longest_row", m->longest_row);
  report_count("matrix.bytes", m->bytes);
}

static void report_factors(const info_facts *f) {
  const trs_factors_info *i = &f->factors;
  report_text("factors.kind", kind_word(i->kind));
  report_text("factors.order", order_word(i->order));
  report_text("factors.scalar", human_scalar(i->scalar));
  report_count("factors.n", i->n);
  report_real("factors.shift", i->shift);
  report_count("factors.nnz_L", i->nnz_L);
  report_count("factors.nnz_U", i->nnz_U);
  report_count("factors.supernodes", i->nsupernodes);
  report_count("factors.tree_nodes", i->tree_nodes);
}

static void report_sweep(const char *key, const info_sweep *s) {
  char path[64];
  const char *const counts[] = {"nnz",         "levels", "parallelism.min", "parallelism.max",
                                "solve_bytes", "threads"};
  const int64_t values[] = {
      s->info.nnz,         s->levels,      s->info.min_parallelism, s->info.max_parallelism,
      s->info.solve_bytes, s->info.threads};
  if (!s->present) return;
  for (int i = 0; i < 6; i++) {
    snprintf(path, sizeof path, "%s.%s", key, counts[i]);
    report_count(path, values[i]);
  }
  snprintf(path, sizeof path, "%s.parallelism.mean", key);
  report_real(path, s->info.parallelism);
  snprintf(path, sizeof path, "%s.dependency", key);
  report_real(path, s->info.dependency);
  snprintf(path, sizeof path, "%s.columns.shortest", key);
  report_count(path, s->columns.shortest);
  snprintf(path, sizeof path, "%s.columns.longest", key);
  report_count(path, s->columns.longest);
  snprintf(path, sizeof path, "%s.columns.by_length", key);
  report_append(path, s->columns.count, s->columns.kinds);
  snprintf(path, sizeof path, "%s.bound_s", key);
  report_real(path, s->bound);
  snprintf(path, sizeof path, "%s.level_rows", key);
  report_append(path, s->rows, s->levels);
}

void info_report(const info_facts *f) {
  report_text("command", "info");
  report_text("version", trs_version());
  report_text("name", f->in.name);
  if (f->in.F)
    report_factors(f);
  else
    report_matrix(f);
  for (int i = 0; i < 2; i++) report_sweep(sweep_key[i], &f->sweep[i]);
}
