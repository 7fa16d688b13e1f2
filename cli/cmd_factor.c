/* cmd_factor.c - trireme factor: writes L and U of a matrix to a file for trireme solve. */
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "files.h"
#include "leave.h"
#include "output.h"
#include "progress.h"
#include "report.h"

typedef struct settings {
  int kind, order, precision, uplo;
  const char *output;
  int64_t leaves, block, levels;
  double threshold, shift, max_memory;
  bool add_diagonal, json;
} settings;

#define FIELD(member) offsetof(settings, member)
#define KINDS "lu|ilu0|ic0|triangle|bilu0|bic0|dilu"
#define ORDERS "nd|amd|natural|rcm|colour|colamd"

/* The words of kind and order are in the order of trs_factor_kind and trs_order. */
static const option options[] = {
    FILE_OPTION("output", 'o', "FILE", FIELD(output),
                "write the factors to FILE.h5 (HDF5); required"),
    CHOICE_OPTION(
        "kind", KINDS, FIELD(kind),
        "complete LU (lu, the default), incomplete LU without fill (ilu0), incomplete "
        "Cholesky without fill (ic0), the two triangles of the matrix (triangle), or incomplete "
        "by blocks: LU (bilu0), Cholesky (bic0), LU with changed diagonal blocks alone "
        "(dilu)"),
    COUNT_OPTION("block-size", 0, "B", 1, 32, FIELD(block),
                 "for bilu0, bic0 and dilu: rows of a block (default: those of the matrix, or 1)"),
    COUNT_OPTION("levels", 0, "K", 0, 0x7fffffff, FIELD(levels),
                 "for ilu0 and ic0: levels of fill, as in ILU(K) and IC(K) (default 0: none)"),
    CHOICE_OPTION(
        "order", ORDERS, FIELD(order),
        "fill-reducing order: nested dissection (nd), approximate minimum degree (amd), that of "
        "columns (colamd, for lu alone), or the order of the file (natural, the default for all "
        "but lu, which takes the best of the first three by its prediction); without "
        "regard to fill: reverse Cuthill-McKee (rcm), or by colours (colour), which gives few "
        "levels; of blocks for block kinds"),
    COUNT_OPTION(
        "leaves", 0, "K", 1, 0x1p30, FIELD(leaves),
        "for the orders nd, amd and colamd: the number of leaves of the separator tree, a power of "
        "two (default 8)"),
    REAL_OPTION("pivot-threshold", "T", 0, 1, FIELD(threshold),
                "for lu, and for bilu0 and dilu inside diagonal blocks: keep the diagonal entry as "
                "pivot if "
                "it is at least T times the largest entry of its column (default: 0.001 if all "
                "stay then, else 0.1 or 0.01)"),
    CHOICE_OPTION("uplo", "lower|upper", FIELD(uplo),
                  "for ic0 and bic0: the triangle of M that stands for both; entries on the other "
                  "side are ignored"),
    REAL_OPTION(
        "shift", "S", 0, 1, FIELD(shift),
        "for ic0 and bic0: where a pivot is not positive, A + S diag(A) is factored, with S "
        "doubled until all pivots are positive; 1e-3 is usual (default: such a pivot is an "
        "error)"),
    FLAG_OPTION(
        "add-diagonal", FIELD(add_diagonal),
        "set each missing or zero diagonal entry to max(1, the sum of the absolute values of "
        "its row in all of A), for every kind, before factoring"),
    PRECISION_OPTION(FIELD(precision)),
    MAX_MEMORY_OPTION(FIELD(max_memory)),
    JSON_OPTION(FIELD(json)),
    {0}};

static const paragraph paragraphs[] = {
    {NULL,
     "Permutes and scales A, factors it into L U, and writes L, U, the permutations, the scalings "
     "and the separator tree to a file. 'trireme solve FILE' then solves A x = b with both "
     "sweeps. The report has the componentwise backward error of one solve with a random b, for "
     "the product L U and, without --uplo, for A as it was read. With incomplete kinds the second "
     "is "
     "the error of the factorisation. 'trireme solve FILE --matrix M' prints both errors for any "
     "b."},
    {"Examples",
     "  trireme factor A.mtx -o A.h5\n"
     "  trireme factor gen:poisson3d7:40 -o P.h5 --order nd --leaves 16\n"
     "  trireme factor A.mtx -o A-ilu.h5 --kind ilu0 && trireme solve A-ilu.h5\n"
     "  trireme factor L.mtx -o C.h5 --kind ic0 --uplo lower --shift 1e-3\n"
     "  trireme factor gen:wingmesh:2000 -o W.h5 --kind bilu0 --block-size 5"},
    {0}};

typedef struct outcome {
  trs_matrix_info matrix;
  trs_factors_info factors;
  double read_s, factor_s, write_s, fill;
  int64_t bytes;
  const char *unsolved; /* NULL, or the reason why no error is known */
  trs_backward_error own, against;
  double condition; /* of complete LU that was solved with; negative: not known */
  bool has_against; /* of factors of the matrix as it was read */
} outcome;

static void print_errors(const outcome *o) {
  if (o->unsolved) {
    table_row("backward error", "not known: %s", o->unsolved);
    return;
  }
  table_row("backward error", "%.1e of L U x = b, against |L| |U|", o->own.componentwise);
  if (o->has_against)
    table_row("", "%.1e of A x = b, against |A|%s", o->against.componentwise,
              is_incomplete(o->factors.kind) ? ": the error of the incomplete factorisation" : "");
}

static void report_errors(const outcome *o) {
  static const char *const names[] = {"factors.backward_error", "factors.backward_error_of_A"};
  double errors[] = {o->own.componentwise, o->against.componentwise};
  for (int k = 0; k < 2; k++)
    if (o->unsolved || (k && !o->has_against))
      report_null(names[k]);
    else
      report_real(names[k], errors[k]);
}

static void print(const char *name, const settings *s, const outcome *o) {
  const trs_factors_info *f = &o->factors;
  table_title(name);
  table_row("matrix", "%s, %s, %s", human_scalar(f->scalar), human_things(f->n, "row", "rows").s,
            human_things(o->matrix.nnz, "entry", "entries").s);
  char blocks[32] = "";
  if (f->block_size > 1) snprintf(blocks, sizeof blocks, ", blocks of %d", f->block_size);
  if (f->levels) snprintf(blocks, sizeof blocks, ", levels of fill %d", f->levels);
  table_row("factors", "%s%s, %s order", nth_word(KINDS, (int)f->kind).s, blocks,
            nth_word(ORDERS, (int)(f->order - TRS_ORDER_ND)).s);
  if (*f->choice) table_row("order", "%s", f->choice);
  if (f->shift > 0) table_row("shift", "A + %.4g diag(A) was factored", f->shift);
  table_row("entries", "%s in L, %s in U: %s times the matrix's", human_count(f->nnz_L).s,
            human_count(f->nnz_U).s, human_times(o->fill).s);
  if (f->nsupernodes)
    table_row("supernodes", "%s, %s columns on average", human_count(f->nsupernodes).s,
              human_real((double)f->n / (double)f->nsupernodes).s);
  if (f->tree_nodes)
    table_row("separator tree", "%s", human_things(f->tree_nodes, "node", "nodes").s);
  print_errors(o);
  if (o->condition >= 0) table_row("condition", "%.1e, estimated in the 1-norm", o->condition);
  table_row("time", "%s to read, %s to factor, %s to write", human_seconds(o->read_s).s,
            human_seconds(o->factor_s).s, human_seconds(o->write_s).s);
  print_written(s->output);
}

static void report(const char *name, const settings *s, const outcome *o) {
  const trs_factors_info *f = &o->factors;
  int64_t current, peak;
  trs_memory_usage(&current, &peak);
  report_text("command", "factor");
  report_text("version", trs_version());
  report_text("matrix.name", name);
  report_text("matrix.scalar", human_scalar(f->scalar));
  report_count("matrix.n", f->n);
  report_count("matrix.nnz", o->matrix.nnz);
  report_text("factors.kind", nth_word(KINDS, (int)f->kind).s);
  report_text("factors.order", nth_word(ORDERS, (int)(f->order - TRS_ORDER_ND)).s);
  report_text("factors.choice", f->choice);
  report_count("factors.block_size", f->block_size);
  report_real("factors.shift", f->shift);
  report_count("factors.levels", f->levels);
  report_count("factors.nnz_L", f->nnz_L);
  report_count("factors.nnz_U", f->nnz_U);
  report_real("factors.fill", o->fill);
  report_count("factors.supernodes", f->nsupernodes);
  report_count("factors.tree_nodes", f->tree_nodes);
  report_errors(o);
  if (o->condition >= 0)
    report_real("factors.condition", o->condition);
  else
    report_null("factors.condition");
  report_real("time.read_s", o->read_s);
  report_real("time.factor_s", o->factor_s);
  report_real("time.write_s", o->write_s);
  report_text("output.path", s->output);
  report_count("output.bytes", o->bytes);
  report_count("memory.peak_bytes", peak);
}

static trs_status factor(trs_factors **F, const trs_matrix *A, const settings *s, outcome *o) {
  trs_factor_options how = {.struct_size = sizeof(trs_factor_options),
                            .kind = (trs_factor_kind)s->kind,
                            .order = (trs_order)(TRS_ORDER_ND + s->order), /* -1: the default */
                            .tree_leaves = (int)s->leaves,
                            /* 0 means the library's default in this structure */
                            .pivot_threshold = s->threshold < 0   ? 0
                                               : s->threshold > 0 ? s->threshold
                                                                  : DBL_MIN,
                            .add_diagonal = s->add_diagonal,
                            .progress = progress_show,
                            .block_size = (int)s->block,
                            .uplo = (trs_uplo)(s->uplo + 1), /* -1: the whole matrix */
                            .shift = s->shift,
                            .levels = (int)s->levels};
  double start = seconds_now();
  progress_begin();
  trs_status status = trs_factor(F, A, &how);
  progress_end();
  o->factor_s = seconds_now() - start;
  return status;
}

static trs_status write_factors(const trs_factors *F, const settings *s, outcome *o) {
  double start = seconds_now();
  progress_begin_clock("writing");
  trs_status status = trs_factors_write(F, s->output);
  progress_end();
  o->write_s = seconds_now() - start;
  o->bytes = file_bytes(s->output);
  return status;
}

static trs_status solve_once(const trs_factors *F, const trs_matrix *A, void *x, void *b,
                             outcome *o) {
  const int64_t n = o->factors.n;
  trs_context *ctx = NULL;
  trs_plan *plan = NULL;
  trs_random_fill(b, n, o->factors.scalar, 1);
  trs_status status = trs_context_create(&ctx, "serial");
  if (!status) status = trs_analyze_factors(&plan, ctx, F, TRS_NO_TRANS, NULL);
  if (!status) status = trs_solve(plan, x, n, b, n, 1, TRS_COL_MAJOR);
  o->own.struct_size = o->against.struct_size = sizeof o->own;
  if (!status) status = trs_check_factors(&o->own, F, TRS_NO_TRANS, x, n, b, n, 1, TRS_COL_MAJOR);
  if (!status && o->has_against)
    status = trs_check(&o->against, A, TRS_GENERAL, TRS_NO_TRANS, TRS_NONUNIT, x, n, b, n, 1,
                       TRS_COL_MAJOR);
  trs_plan_destroy(plan);
  trs_context_destroy(ctx);
  return status;
}

/* Of one random right-hand side.  Factors that cannot be solved with are no failure; they are
 * written before, whatever happens here. */
static int measure_errors(const trs_factors *F, const trs_matrix *A, outcome *o) {
  size_t bytes = (size_t)o->factors.n * 16;
  void *x = malloc(bytes + 1), *b = malloc(bytes + 1);
  int code = x && b ? -1 : leave_memory((double)bytes, "the check of the factors");
  trs_status status = code < 0 ? solve_once(F, A, x, b, o) : TRS_SUCCESS;
  free(x);
  free(b);
  if (status == TRS_ERROR_MEMORY || status == TRS_ERROR_CANCELLED)
    return leave_library("the check of the factors");
  if (status) o->unsolved = trs_last_error()->message;
  return code;
}

/* Reported here, because the library does not know the option that helps. */
static int leave_no_diagonal(const input *in, const trs_matrix_info *matrix) {
  return leave(LEAVE_INPUT, trs_status_name(TRS_ERROR_STRUCTURE), matrix->missing_diagonal,
               "%s: row %lld (0-based) has no diagonal entry: --add-diagonal adds missing entries",
               in->name, (long long)matrix->missing_diagonal);
}

static int estimate_condition(const trs_factors *F, outcome *o) {
  o->condition = -1;
  if (o->factors.kind != TRS_FACTOR_LU || o->unsolved) return -1;
  return trs_factors_condition(&o->condition, F) ? leave_library("the condition number") : -1;
}

static int factor_and_write(const input *in, const settings *s) {
  outcome o = {.read_s = in->seconds, .has_against = s->kind != TRS_FACTOR_TRIANGLE && s->uplo < 0};
  trs_factors *F;
  o.matrix.struct_size = sizeof o.matrix;
  trs_matrix_get_info(in->A, &o.matrix);
  if (is_incomplete((trs_factor_kind)s->kind) && o.matrix.nrows == o.matrix.ncols &&
      o.matrix.missing_diagonal >= 0 && !s->add_diagonal)
    return leave_no_diagonal(in, &o.matrix);
  if (factor(&F, in->A, s, &o)) return leave_library(in->name);
  o.factors.struct_size = sizeof o.factors;
  trs_factors_get_info(F, &o.factors);
  o.fill = o.matrix.nnz ? (double)(o.factors.nnz_L + o.factors.nnz_U) / (double)o.matrix.nnz : 0;
  int code = write_factors(F, s, &o) ? leave_library(NULL) : measure_errors(F, in->A, &o);
  if (code < 0) code = estimate_condition(F, &o);
  if (code < 0) {
    print(in->name, s, &o);
    report(in->name, s, &o);
  }
  trs_factors_destroy(F);
  return code < 0 ? LEAVE_SOLVED : code;
}

static bool is_by_blocks(const settings *s) { return s->kind >= TRS_FACTOR_BILU0; }

/* Prints notes about options without effect. */
static void note_options(const settings *s) {
  const int order = s->order >= 0              ? TRS_ORDER_ND + s->order
                    : s->kind == TRS_FACTOR_LU ? TRS_ORDER_ND
                                               : TRS_ORDER_NATURAL;
  const bool pivots = s->kind == TRS_FACTOR_LU || (is_by_blocks(s) && s->kind != TRS_FACTOR_BIC0);
  if (s->leaves && order != TRS_ORDER_ND && order != TRS_ORDER_AMD && order != TRS_ORDER_COLAMD)
    notify("note: --leaves has no effect with --order %s",
           nth_word(ORDERS, order - TRS_ORDER_ND).s);
  if (s->threshold >= 0 && !pivots)
    notify("note: --pivot-threshold has no effect with --kind %s", nth_word(KINDS, s->kind).s);
}

static const char brief[] =
    "Options\n"
    "  -o, --output FILE        write the factors to FILE.h5; required\n"
    "      --kind KIND          lu, ilu0, ic0, triangle; bilu0, bic0, dilu by blocks\n"
    "      --block-size B       rows of a block\n"
    "      --levels K           levels of fill of ilu0 and ic0\n"
    "      --order ORDER        nd, amd, natural, rcm, colour or colamd\n"
    "      --uplo lower|upper   the triangle that stands for both, of ic0 and bic0\n"
    "      --json               print the report as JSON\n"
    "\n"
    "  trireme factor A.mtx -o A.h5\n"
    "  trireme factor A.mtx -o A.h5 --kind ilu0\n";

static int run(int argc, char **argv) {
  settings s = {.order = -1, .precision = -1, .uplo = -1, .threshold = -1};
  input in = {0};
  int code = options_parse(&cmd_factor, &s, &argc, argv);
  if (code >= 0) return code;
  files_limit_memory(s.max_memory);
  if (!s.output)
    return leave_usage("factor", "-o FILE is missing: the file to write the factors to");
  if (!strcmp(s.output, "-"))
    return leave_usage("factor",
                       "factors are written as HDF5, which standard output cannot take: "
                       "give a file name");
  if (!names_hdf5(s.output))
    return leave_usage("factor", "factors are written as HDF5: give a name such as F.h5");
  if (s.levels && s.kind != TRS_FACTOR_ILU0 && s.kind != TRS_FACTOR_IC0)
    return leave_usage("factor", "--levels is for --kind ilu0 and ic0");
  if (s.block && !is_by_blocks(&s))
    return leave_usage("factor", "--block-size is for --kind bilu0, bic0 and dilu");
  if ((s.uplo >= 0 || s.shift > 0) && s.kind != TRS_FACTOR_IC0 && s.kind != TRS_FACTOR_BIC0)
    return leave_usage("factor", "--%s is for --kind ic0 and bic0", s.uplo >= 0 ? "uplo" : "shift");
  if (s.order == TRS_ORDER_COLAMD - TRS_ORDER_ND && s.kind != TRS_FACTOR_LU)
    return leave_usage("factor", "--order colamd is for --kind lu");
  if (s.leaves & (s.leaves - 1))
    return leave_usage("factor", "--leaves takes a power of two, not %lld", (long long)s.leaves);
  note_options(&s);
  code = check_writable_beside(&s.output, (const char *const[]){argv[0], NULL});
  if (code < 0) code = input_read_matrix(&in, argv[0], s.precision, "trireme factor");
  if (code < 0) code = factor_and_write(&in, &s);
  input_free(&in);
  return code;
}

const command cmd_factor = LONG_COMMAND_OF("factor", "[OPTIONS] M -o FILE",
                                           "factor a matrix into L and U", "matrix", 1, 1);
