/* cmd_solve.c - trireme solve: one system, checked and timed. */
#include <string.h>

#include "command.h"
#include "output.h"
#include "progress.h"
#include "report.h"
#include "solve.h"

static int run(int argc, char **argv);

#define FIELD(member) offsetof(solve_settings, member)

static const option options[] = {
    {.name = "uplo",
     .kind = OPTION_CHOICE,
     .words = "lower|upper",
     .offset = FIELD(uplo),
     .help = "the triangle to solve with; of a general matrix it is taken, the rest ignored"},
    {.name = "trans",
     .kind = OPTION_CHOICE,
     .words = "n|t|c",
     .offset = FIELD(trans),
     .help = "solve with T (n, the default), its transpose (t) or conjugate transpose (c)"},
    {.name = "diag",
     .kind = OPTION_CHOICE,
     .words = "nonunit|unit",
     .offset = FIELD(diag),
     .help = "unit: the diagonal is one, stored diagonal entries are ignored"},
    {.name = "add-diagonal",
     .kind = OPTION_FLAG,
     .offset = FIELD(add_diagonal),
     .help = "give rows with a missing or zero diagonal entry max(1, the sum of the row's "
             "absolute values) there"},
    {.name = "rhs-file",
     .letter = 'b',
     .kind = OPTION_FILE,
     .value = "FILE",
     .offset = FIELD(rhs_file),
     .help = "read the right-hand sides, the columns of a Matrix Market file"},
    {.name = "rhs",
     .kind = OPTION_TEXT,
     .value = "random[:SEED]",
     .words = "random",
     .offset = FIELD(rhs),
     .help = "make right-hand sides, uniform in [-1, 1) (the default, with seed 1)"},
    {.name = "nrhs",
     .kind = OPTION_COUNT,
     .value = "K",
     .offset = FIELD(nrhs),
     .minimum = 1,
     .maximum = 0x1p31,
     .help = "how many right-hand sides to make (default 1)"},
    {.name = "output",
     .letter = 'o',
     .kind = OPTION_FILE,
     .value = "FILE",
     .offset = FIELD(output),
     .help = "write the solution x; only if its backward error is small"},
    {.name = "backend",
     .kind = OPTION_TEXT,
     .value = "serial|threads[:T]|cuda[:N]|cuda:N-N|nvshmem|auto",
     .words = "serial|threads|cuda|nvshmem|auto",
     .offset = FIELD(backend),
     .help = "where to solve: on one core, on T threads, on the first or N-th GPU (from 0), on "
             "several GPUs of this machine (cuda:0-3 or cuda:0,2; under mpirun, a process a GPU, "
             "nvshmem), or wherever it is fastest (auto, the default)"},
    {.name = "method",
     .kind = OPTION_TEXT,
     .value = "NAME[:KEY=VALUE,...]",
     .words = "@methods",
     .offset = FIELD(method),
     .help = "force a method ('trireme methods' lists them), some with parameters: "
             "syncfree-csc:warps=8"},
    {.name = "grid",
     .kind = OPTION_TEXT,
     .value = "PXxPYxPZ|auto",
     .words = "auto",
     .offset = FIELD(grid),
     .help = "solve A x = b from factors on the ranks that mpirun started: PZ grids, a power of "
             "two, of PX x PY ranks; --method may be grid3d (the default), grid3d-baseline or "
             "grid2d"},
    {.name = "trees",
     .kind = OPTION_CHOICE,
     .words = "binary|flat",
     .offset = FIELD(trees),
     .help = "with --grid: how x and sums go to many ranks (default: binary)"},
    {.name = "scattered",
     .kind = OPTION_FLAG,
     .offset = FIELD(scattered),
     .help = "with --grid: spread every supernode over its grid, as L23 does; else those at the "
             "bottom of the tree have a rank of their own, which saves messages"},
    {.name = "invert",
     .kind = OPTION_CHOICE,
     .words = "auto|blocks|separators",
     .offset = FIELD(invert),
     .help =
         "with --grid: which triangles the analysis inverts: those of supernodes, those of whole "
         "separators, or of separators that are nearly full (auto, the default of grid3d); a "
         "separator that may lose more than three digits is left alone"},
    {.name = "width",
     .kind = OPTION_COUNT,
     .value = "W",
     .offset = FIELD(width),
     .minimum = 1,
     .maximum = 1e6,
     .help = "with --grid: most columns of a supernode (default: 128)"},
    {.name = "store",
     .kind = OPTION_CHOICE,
     .words = "same|f32",
     .offset = FIELD(store),
     .help = "f32: on a GPU, keep the values off the diagonal of a double matrix as floats, which "
             "is faster and less accurate (default: as they came)"},
    {.name = "gpu-memory",
     .kind = OPTION_REAL,
     .value = "GB",
     .offset = FIELD(gpu_memory),
     .minimum = 1e-6,
     .maximum = 1e6,
     .help =
         "hold at most so much on each GPU: several can solve what does not fit one, whose file "
         "is then read part by part"},
    {.name = "tune",
     .kind = OPTION_FLAG,
     .offset = FIELD(tune),
     .help = "on a GPU, let the analysis time its candidates and keep the fastest"},
    {.name = "precision",
     .kind = OPTION_CHOICE,
     .words = "s|d|c|z",
     .offset = FIELD(precision),
     .help = "read values as float, double, float complex or double complex (default: d, or z for "
             "a complex file)"},
    {.name = "repeat",
     .kind = OPTION_COUNT,
     .value = "R",
     .offset = FIELD(repeat),
     .minimum = 1,
     .maximum = 1e9,
     .help = "solve R times for the timing (default: ten times, or for one second if that is "
             "less)"},
    {.name = "json",
     .kind = OPTION_FLAG,
     .offset = FIELD(json),
     .help = "print the report, and failures, as JSON"},
    {0}};

static const paragraph paragraphs[] = {
    {NULL,
     "Solves op(T) x = b for a triangular matrix T, or A x = b by both sweeps over factors. M is "
     "a matrix file, a file of factors (trireme factor), or a generator's name such as "
     "gen:poisson2d5:1000 (trireme gen --list). A triangular matrix is solved as it is. Of a "
     "general one --uplo takes a triangle; without it, a general matrix is an error."},
    {"Check",
     "Every solution is put back into its system. The backward error is the largest of "
     "|b - T x| / (|T| |x| + |b|), row by row (componentwise) and in the infinity norm (normwise). "
     "It is small if the componentwise error is at most 50 eps (r + 1), with eps the spacing of "
     "floating-point numbers at 1 and r the entries in the fullest row of op(T). For factors the "
     "system is A = L U, |A| stands for |L| |U|, and r counts the fullest rows of both. A larger "
     "error makes the exit code 1, and no solution is written. With --store f32 the error of "
     "rounding values to floats, 1.2e-7, is allowed for."},
    {"Ranks",
     "With --grid rank 0 of an MPI program reads the pattern of the factors, every rank a part of "
     "their numbers, which go where they are wanted; grids have a subtree of the separator tree "
     "each and copies of what stands above it (trireme factor --leaves says how many subtrees "
     "there are). Rank 0 has b and x, checks and reports. Times are minimum, mean and maximum over "
     "the ranks: between grids, inside a grid (sending and waiting) and in products, L and U "
     "apart, of the fastest solve, without handing out b and collecting x."},
    {"Larger than a GPU",
     "Over several GPUs (--backend cuda:0-3 or nvshmem) a Matrix Market file of which one GPU, as "
     "--gpu-memory allows, has no room for 2.5 times the triangle is read part by part: first the "
     "pattern, then the values of each GPU's rows, which are forgotten when they are sent, and for "
     "the check in up to eight parts. Each part is a pass over the file, which must not change "
     "meanwhile. The report says so, and how large the largest part was. Arrays, HDF5 and "
     "generators are read or made whole, and so is what --trans and --add-diagonal together ask "
     "for, and methods other than push. Without --uplo the whole pattern is read."},
    {"Numbers",
     "The bound is the time that no solve on this machine can beat: the larger of the bytes "
     "touched over the bandwidth, and the levels times the latency of a dependency, both measured "
     "here. Times are those of the analysis (once a pattern), of new values, and of the solve, "
     "without reading and checking; on a GPU the solve includes bringing b there and x back. Rows "
     "and columns count from 0."},
    {"JSON",
     "These keys stay: matrix {n, nnz, levels}, plan {backend, method, reason}, time {analysis_s, "
     "update_s, solve_s {min, median}}, bytes, bound_s, backward_error {componentwise, normwise}; "
     "more may come. A failure adds error {status, message, row, exit_code}. Numbers that are not "
     "finite, and what is not known, are null: with --grid matrix.levels, plan.reason, "
     "time.update_s, bytes and bound_s. --grid adds plan.grid {px, py, pz} and, each with min, "
     "mean and max over the ranks and of the fastest solve, ranks {solve_s, inter_s {before_U, "
     "within_U}, intra_s {L, U}, products_s {L, U}, flops {L, U}}, and inter_messages, "
     "inter_bytes, intra_messages and intra_bytes, divided as the seconds are; time.solve_s is of "
     "the slowest rank, time.whole_s.min with b handed out and x collected."},
    {"Examples",
     "  trireme solve L.mtx\n"
     "  trireme solve A.mtx --uplo lower --add-diagonal -b b.mtx -o x.mtx\n"
     "  trireme solve gen:poisson3d7:100 --uplo upper --nrhs 8 --backend threads:4\n"
     "  trireme solve L.mtx --backend cuda:0-3 --method zerocopy\n"
     "  mpirun -np 4 trireme solve L.mtx --backend nvshmem --method zerocopy\n"
     "  trireme solve A.h5 --json | jq .time.solve_s.min\n"
     "  mpirun -np 8 trireme solve A.h5 --grid 2x2x2"},
    {0}};

const command cmd_solve = {.name = "solve",
                           .synopsis = "[OPTIONS] M",
                           .summary = "solve a triangular system, or A x = b from factors",
                           .operand = "file",
                           .min_operands = 1,
                           .max_operands = 1,
                           .options = options,
                           .paragraphs = paragraphs,
                           .run = run};

int solve_check_settings(const solve_settings *s) {
  if (s->rhs_file && s->rhs) return leave_usage("solve", "give either -b FILE or --rhs, not both");
  if (s->rhs_file && s->nrhs)
    return leave_usage("solve", "--nrhs counts made right-hand sides; -b FILE brings its own");
  if (s->output && names_hdf5(s->output))
    return leave_usage("solve", "solutions are written as Matrix Market: name the file x.mtx");
  return s->output ? check_writable(s->output) : -1;
}

int solve_write(const solve_job *job) {
  if (!job->set.output) return -1;
  trs_status status = trs_vectors_write(job->x, job->n, job->nrhs, job->n, TRS_COL_MAJOR,
                                        job->scalar, job->set.output);
  return status ? leave_library(NULL) : -1;
}

int solve_leave_inaccurate(const solve_job *job) {
  return leave(
      LEAVE_NUMERICAL, "backward error", job->error.worst_row,
      "the backward error, %.3g, is above %.3g (worst row %lld)%s%s", job->error.componentwise,
      job->limit, (long long)job->error.worst_row,
      job->set.grid ? "; products with inverses lose less in narrower supernodes: --width 8" : "",
      job->set.output ? "; no solution is written" : "");
}

static int solve(solve_job *job, const char *name) {
  int code = solve_check_settings(&job->set);
  if (code < 0) code = solve_open_group(job);
  if (code < 0) code = solve_take_matrix(job, name);
  if (code < 0) code = solve_make_rhs(job);
  if (code < 0) code = solve_measure(job);
  if (code < 0) code = solve_judge(job);
  if (code >= 0) return code;
  solve_print(job);
  solve_report(job);
  if (!job->good) return solve_leave_inaccurate(job);
  code = solve_write(job);
  if (code < 0 && job->set.output) table_row("written", "%s", human_name(job->set.output).s);
  return code < 0 ? LEAVE_SOLVED : code;
}

/* Ranks but the first, told by their launcher, for the command line is looked at before MPI is
 * there: whatever is wrong with it one of them says.  From then on MPI's ranks decide, which need
 * not be the launcher's: where the two do not know of each other each process is MPI's only one. */
static bool is_other_rank(int argc, char **argv) {
  if (launched_rank() == 0) return false;
  for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
    if (!strcmp(argv[i], "--grid") || !strncmp(argv[i], "--grid=", 7)) return true;
  return false;
}

static int run(int argc, char **argv) {
  solve_job job = {.set = {.uplo = -1, .diag = -1, .invert = -1, .precision = -1}};
  bool silent = is_other_rank(argc, argv);
  if (silent) output_silence();
  int code = options_parse(&cmd_solve, &job.set, &argc, argv);
  if (silent && code >= 0) return LEAVE_SOLVED;
  if (silent) output_speak();
  if (code < 0) code = job.set.grid ? solve_on_ranks(&job, argv[0]) : solve(&job, argv[0]);
  solve_free(&job);
  return code;
}
