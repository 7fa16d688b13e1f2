/* cmd_factor.c - trireme factor: L and U of a matrix, into a file that trireme solve takes. */
#include <float.h>

#include "command.h"
#include "files.h"
#include "output.h"
#include "progress.h"
#include "report.h"

static int run(int argc, char **argv);

typedef struct settings {
  int kind, order, precision;
  const char *output;
  int64_t leaves;
  double threshold;
  bool add_diagonal, json;
} settings;

#define FIELD(member) offsetof(settings, member)
#define KINDS "lu|ilu0|ic0|triangle"
#define ORDERS "nd|amd|natural"

/* The words of kind and order stand in the order of trs_factor_kind and trs_order. */
static const option options[] = {
    {.name = "output",
     .letter = 'o',
     .kind = OPTION_FILE,
     .value = "FILE",
     .offset = FIELD(output),
     .help = "write the factors to FILE.h5 (HDF5); required"},
    {.name = "kind",
     .kind = OPTION_CHOICE,
     .words = KINDS,
     .offset = FIELD(kind),
     .help = "complete LU (lu, the default), incomplete LU without fill (ilu0), incomplete "
             "Cholesky without fill (ic0), or the two triangles of the matrix (triangle)"},
    {.name = "order",
     .kind = OPTION_CHOICE,
     .words = ORDERS,
     .offset = FIELD(order),
     .help = "fill-reducing order: nested dissection (nd, the default for lu), approximate minimum "
             "degree (amd), or the order of the file (natural, the default for the others)"},
    {.name = "leaves",
     .kind = OPTION_COUNT,
     .value = "K",
     .offset = FIELD(leaves),
     .minimum = 1,
     .maximum = 0x1p30,
     .help = "the number of leaves of the separator tree, a power of two (default 8)"},
    {.name = "pivot-threshold",
     .kind = OPTION_REAL,
     .value = "T",
     .offset = FIELD(threshold),
     .minimum = 0,
     .maximum = 1,
     .help = "for lu: keep the diagonal entry as pivot if it is at least T times the largest entry "
             "of its column (default 0.1)"},
    {.name = "add-diagonal",
     .kind = OPTION_FLAG,
     .offset = FIELD(add_diagonal),
     .help = "set each missing or zero diagonal entry to max(1, the sum of the absolute values of "
             "its row)"},
    {.name = "precision",
     .kind = OPTION_CHOICE,
     .words = "s|d|c|z",
     .offset = FIELD(precision),
     .help = "read values as float (s), double (d), complex float (c) or complex double (z) "
             "(default: d, or z for a complex file)"},
    {.name = "json",
     .kind = OPTION_FLAG,
     .offset = FIELD(json),
     .help = "print the report and failures as JSON"},
    {0}};

static const paragraph paragraphs[] = {
    {NULL,
     "Permutes and scales A, factors it into L U, and writes L, U, the permutations, the scalings "
     "and the separator tree to a file. 'trireme solve FILE' then solves A x = b with both "
     "sweeps."},
    {"Examples",
     "  trireme factor A.mtx -o A.h5\n"
     "  trireme factor gen:poisson3d7:40 -o P.h5 --order nd --leaves 16\n"
     "  trireme factor A.mtx -o A-ilu.h5 --kind ilu0 && trireme solve A-ilu.h5"},
    {0}};

const command cmd_factor = {.name = "factor",
                            .synopsis = "[OPTIONS] M -o FILE",
                            .summary = "factor a matrix into L and U",
                            .operand = "file",
                            .min_operands = 1,
                            .max_operands = 1,
                            .options = options,
                            .paragraphs = paragraphs,
                            .run = run};

typedef struct outcome {
  trs_matrix_info matrix;
  trs_factors_info factors;
  double read_s, factor_s, write_s, fill;
  int64_t bytes;
} outcome;

/* The position'th word of a '|' list. */
static short_text nth_word(const char *words, int position) {
  const char *word = words;
  size_t length = 0;
  short_text t;
  for (int i = 0; i <= position; i++) length = next_word(&words, &word);
  snprintf(t.s, sizeof t.s, "%.*s", (int)length, word);
  return t;
}

static void print(const char *name, const settings *s, const outcome *o) {
  const trs_factors_info *f = &o->factors;
  table_title(name);
  table_row("matrix", "%s, %s, %s", human_scalar(f->scalar), human_things(f->n, "row", "rows").s,
            human_things(o->matrix.nnz, "entry", "entries").s);
  table_row("factors", "%s, %s order", nth_word(KINDS, (int)f->kind).s,
            nth_word(ORDERS, (int)f->order).s);
  table_row("entries", "%s in L, %s in U: %s times the matrix's", human_count(f->nnz_L).s,
            human_count(f->nnz_U).s, human_times(o->fill).s);
  if (f->nsupernodes)
    table_row("supernodes", "%s, %s columns on average", human_count(f->nsupernodes).s,
              human_real((double)f->n / (double)f->nsupernodes).s);
  if (f->tree_nodes)
    table_row("separator tree", "%s", human_things(f->tree_nodes, "node", "nodes").s);
  table_row("time", "%s to read, %s to factor, %s to write", human_seconds(o->read_s).s,
            human_seconds(o->factor_s).s, human_seconds(o->write_s).s);
  table_row("written", "%s, %s", human_name(s->output).s, human_bytes((double)o->bytes).s);
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
  report_text("factors.order", nth_word(ORDERS, (int)f->order).s);
  report_count("factors.nnz_L", f->nnz_L);
  report_count("factors.nnz_U", f->nnz_U);
  report_real("factors.fill", o->fill);
  report_count("factors.supernodes", f->nsupernodes);
  report_count("factors.tree_nodes", f->tree_nodes);
  report_real("time.read_s", o->read_s);
  report_real("time.factor_s", o->factor_s);
  report_real("time.write_s", o->write_s);
  report_text("output.path", s->output);
  report_count("output.bytes", o->bytes);
  report_count("memory.peak_bytes", peak);
}

static trs_status factor(trs_factors **F, const trs_matrix *A, const settings *s, outcome *o) {
  trs_factor_options how = {.kind = (trs_factor_kind)s->kind,
                            .order = (trs_order)(s->order < 0 ? 0 : s->order),
                            .order_given = s->order >= 0,
                            .tree_leaves = (int)s->leaves,
                            /* 0 stands for the library's default there */
                            .pivot_threshold = s->threshold > 0 ? s->threshold : DBL_MIN,
                            .add_diagonal = s->add_diagonal,
                            .progress = progress_show};
  double start = seconds_now();
  progress_begin();
  trs_status status = trs_factor(F, A, &how);
  progress_end();
  o->factor_s = seconds_now() - start;
  return status;
}

static trs_status write_factors(const trs_factors *F, const settings *s, outcome *o) {
  double start = seconds_now();
  trs_status status = trs_factors_write(F, s->output);
  o->write_s = seconds_now() - start;
  o->bytes = file_bytes(s->output);
  return status;
}

/* Said here rather than by the library, which does not know the option that helps. */
static int leave_no_diagonal(const input *in, const trs_matrix_info *matrix) {
  return leave(LEAVE_INPUT, trs_status_name(TRS_ERROR_STRUCTURE), matrix->missing_diagonal,
               "%s: row %lld has no diagonal entry: --add-diagonal adds missing entries", in->name,
               (long long)matrix->missing_diagonal);
}

static int factor_and_write(const input *in, const settings *s) {
  outcome o = {.read_s = in->seconds};
  trs_factors *F;
  trs_matrix_get_info(in->A, &o.matrix);
  bool incomplete = s->kind == TRS_FACTOR_ILU0 || s->kind == TRS_FACTOR_IC0;
  if (incomplete && o.matrix.nrows == o.matrix.ncols && o.matrix.missing_diagonal >= 0 &&
      !s->add_diagonal)
    return leave_no_diagonal(in, &o.matrix);
  if (factor(&F, in->A, s, &o)) return leave_library(in->name);
  trs_factors_get_info(F, &o.factors);
  o.fill = o.matrix.nnz ? (double)(o.factors.nnz_L + o.factors.nnz_U) / (double)o.matrix.nnz : 0;
  trs_status status = write_factors(F, s, &o);
  if (!status) {
    print(in->name, s, &o);
    report(in->name, s, &o);
  }
  trs_factors_destroy(F);
  return status ? leave_library(NULL) : LEAVE_SOLVED;
}

static int run(int argc, char **argv) {
  settings s = {.order = -1, .precision = -1, .threshold = 0.1};
  input in = {0};
  int code = options_parse(&cmd_factor, &s, &argc, argv);
  if (code >= 0) return code;
  if (!s.output)
    return leave_usage("factor", "-o FILE is missing: the file to write the factors to");
  if (!names_hdf5(s.output))
    return leave_usage("factor", "factors are written as HDF5: name the file %s.h5", s.output);
  code = check_writable(s.output);
  if (code < 0) code = input_read_matrix(&in, argv[0], s.precision, "trireme factor");
  if (code < 0) code = factor_and_write(&in, &s);
  input_free(&in);
  return code;
}
