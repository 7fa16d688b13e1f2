/* cmd_solve.c - trireme solve: one system, checked and timed. */
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "files.h"
#include "leave.h"
#include "output.h"
#include "relax_ranks.h"
#include "solve.h"

#define FIELD(member) offsetof(solve_settings, member)

static const option options[] = {
    CHOICE_OPTION("uplo", "lower|upper", FIELD(uplo),
                  "the triangle to solve with; of a general matrix the rest is ignored"),
    CHOICE_OPTION(
        "trans", "n|t|c", FIELD(trans),
        "solve with T (n, the default), its transpose (t) or its conjugate transpose (c)"),
    CHOICE_OPTION("diag", "nonunit|unit", FIELD(diag),
                  "unit: the diagonal is one; stored diagonal entries are ignored"),
    FLAG_OPTION(
        "add-diagonal", FIELD(add_diagonal),
        "set each missing or zero diagonal entry to max(1, the sum of the absolute values of "
        "its row)"),
    CHOICE_OPTION(
        "factor", "lu|ilu0|ic0", FIELD(factor),
        "factor the matrix A in M, in the order that trireme factor takes.  The solution is that "
        "of "
        "A x = b for complete factors (lu), and of L U x = b, where L U is only near A, for "
        "incomplete ones (ilu0, ic0), as preconditioners have it"),
    COUNT_OPTION("levels", 0, "K", 0, 0x7fffffff, FIELD(levels),
                 "with --factor ilu0 or ic0: levels of fill, as in ILU(K) and IC(K) (default 0)"),
    RHS_FILE_OPTION(FIELD(rhs_file)),
    FILE_OPTION("matrix", 0, "FILE", FIELD(matrix),
                "with factors: the matrix that was factored, to report the error against it too"),
    TEXT_OPTION("rhs", "random[:SEED]", "random", FIELD(rhs),
                "random right-hand sides, uniform in [-1, 1) (the default, with seed 1)"),
    COUNT_OPTION("nrhs", 0, "K", 1, 0x1p31, FIELD(nrhs),
                 "the number of right-hand sides, at random (default 1) or in -b"),
    FILE_OPTION(
        "output", 'o', "FILE", FIELD(output),
        "write the solution x to FILE, but only if its backward error is small; - is standard "
        "output"),
    TEXT_OPTION(
        "backend", "serial|threads[:T]|cuda[:N]|cuda:N-N|hip|nvshmem|opencl[:N]|auto",
        "serial|threads|cuda|hip|nvshmem|opencl|auto", FIELD(backend),
        "where to solve: one core (serial), T threads, the first GPU (cuda), GPU N, counted "
        "from 0 (cuda:N), several GPUs of this machine (cuda:0-3 or cuda:0,2; nvshmem for one "
        "process per GPU under mpirun), a GPU of AMD (hip), an OpenCL device (opencl), or the "
        "fastest "
        "of CPU and GPU (auto, the default)"),
    TEXT_OPTION("method", "NAME[:KEY=VALUE,...]", "@methods", FIELD(method),
                "use this method ('trireme methods' lists them); some take parameters: "
                "syncfree-csc:warps=8"),
    TEXT_OPTION(
        "grid", "PXxPYxPZ|auto", "auto", FIELD(grid),
        "solve A x = b from factors on MPI ranks: PZ grids, a power of two, of PX x PY ranks; "
        "--method is grid3d (the default), grid2d or, in builds with the papers, "
        "grid3d:algorithm=2, grid3d:algorithm=4 and grid3d:algorithm=5 (on GPUs), "
        "grid3d-baseline or grid3d-baseline:lookahead=0. With --backend cuda or cuda:N "
        "every rank works on a GPU; the "
        "ranks of a machine take its GPUs in turn. With threads[:T] or serial each of 1x1xPZ "
        "grids is solved there"),
    CHOICE_OPTION("trees", "binary|flat", FIELD(trees),
                  "with --grid: shape of the broadcast and reduction trees (default binary)"),
    FLAG_OPTION("scattered", FIELD(scattered),
                "with --grid: distribute every supernode over its grid, as Liu et al. 2023 do; the "
                "default keeps each supernode at the bottom of the tree on one rank, which saves "
                "messages"),
    CHOICE_OPTION(
        "invert", "auto|blocks|separators", FIELD(invert),
        "with --grid: which diagonal triangles the analysis inverts: those of supernodes "
        "(blocks), those of whole separators, or those of nearly full separators (auto, the "
        "default of grid3d); a separator is left alone if its inverse may lose more than "
        "three digits"),
    COUNT_OPTION("width", 0, "W", 1, 1e6, FIELD(width),
                 "with --grid: the largest number of columns of a supernode (default 128)"),
    CHOICE_OPTION(
        "store", SOLVE_STORES, FIELD(store),
        "mixed: a GPU, or one thread, keeps the off-diagonal values of a double matrix as floats; "
        "faster and less accurate (default same). With the method blocks: mixed, f16 or bf16"),
    REAL_OPTION("gpu-memory", "GB", 1e-6, 1e6, FIELD(gpu_memory),
                "use at most GB gigabytes of each GPU; several GPUs can solve what does not fit on "
                "one, and then read the file part by part"),
    FLAG_OPTION("tune", FIELD(tune),
                "time candidates in the analysis and keep the fastest: settings on a GPU, methods "
                "on a CPU"),
    PRECISION_OPTION(FIELD(precision)),
    COUNT_OPTION("repeat", 0, "R", 1, 1e9, FIELD(repeat),
                 "time R solves (default: ten, or as many as fit in one second)"),
    MAX_MEMORY_OPTION(FIELD(max_memory)),
    JSON_OPTION(FIELD(json)),
    {0}};

static const paragraph paragraphs[] = {
    {NULL,
     "Solves op(T) x = b for a triangular matrix T, or A x = b by both sweeps over its factors. M "
     "is a matrix file, a file of factors (trireme factor), or the name of a generated matrix such "
     "as gen:poisson2d5:1000 (trireme gen --list). A triangular matrix is solved as it is. A "
     "general matrix needs --uplo, which selects a triangle, or --factor."},
    {"Check",
     "Every solution is substituted into its system. The backward error is the maximum of |b - T "
     "x| / (|T| |x| + |b|), for each row (componentwise) and in the infinity norm (normwise). It "
     "is small if the componentwise error is at most 50 eps (r + 1), where eps is the machine "
     "epsilon and r the number of entries in the longest row of op(T). For factors A "
     "is their product L U, |L| |U| stands for |A|, and r adds the longest rows of both. If the "
     "error is larger, "
     "the exit code is 1 and no solution is written. Incomplete factors solve L U x = b, where L U "
     "is "
     "only near A: a small error says nothing of A x = b, and the report adds the error against A. "
     "After --factor lu the report warns if the estimated condition number of A is beyond 1/eps: "
     "it may be that no digit of x is right then, however small the error. With --store mixed the "
     "limit "
     "allows for the "
     "rounding of values to floats, 1.2e-7; with the method blocks for 8 roundings to the stored "
     "type. Underflow is no error: the denominator is |T| (|x| + "
     "tiny) + |b| + m tiny, where tiny is the smallest normal number of the type and m the number "
     "of entries in the row. The report counts the rows in which tiny decides. An x that overflows "
     "is an error, which names the first row."},
    {"Ranks",
     "With --grid the factors are distributed over the ranks of an MPI program. Rank 0 reads the "
     "pattern, and every rank reads part of the values. Each grid has one subtree of the separator "
     "tree and copies of the separators above it (trireme factor --leaves sets the number of "
     "subtrees). Rank 0 holds b and x, checks and reports. Times are the minimum, mean and maximum "
     "over the ranks in the fastest solve: between grids, inside a grid (sending and waiting) and "
     "in products, for L and for U. They leave out distributing b and collecting x. With --backend "
     "each rank solves what it has alone with a method of that backend, on a GPU that several "
     "ranks may share; the GPUs of a grid of several ranks send each other x and sums themselves. "
     "Products are then the whole of a sweep; --grid auto is 1x1xPZ. Open "
     "MPI's mpirun starts no more ranks than cores unless it is given --oversubscribe."},
    {"Larger than a GPU",
     "Over several GPUs (--backend cuda:0-3 or nvshmem) a Matrix Market file is read part by part "
     "if one GPU, or the limit --gpu-memory, has no room for 2.5 times the triangle: first the "
     "pattern, then the values of each GPU's rows, which are dropped once they are sent, and the "
     "values again in up to eight parts for the check. Each part is one pass over the file, which "
     "must not change in the meantime. The report says so and gives the size of the largest part. "
     "Array files, HDF5 files and generated matrices are always read whole; so is everything with "
     "--trans and --add-diagonal together, and with methods other than push. Without --uplo the "
     "whole pattern is read."},
    {"Numbers",
     "The reference time is the larger of two estimates: bytes touched / bandwidth, and levels x "
     "latency of one dependency. Both rates are measured on this machine in the same run. It is no "
     "limit: a solve can be faster where the method merges levels or the machine was busy during "
     "the measurement, and then it tells nothing about the method. Times are those of the "
     "analysis (once per pattern), of an update with new "
     "values, and of the solve, without reading and checking. On a GPU the solve includes the "
     "transfers of b and x. Rows and columns count from 0."},
    {"JSON",
     "These keys are stable: matrix {n, nnz, levels}, plan {backend, method, reason}, time "
     "{analysis_s, update_s, solve_s {min, median}}, bytes, bound_s (the reference time), "
     "backward_error {componentwise, normwise}; others may be added. A failure adds error {status, "
     "message, row, exit_code}. Numbers that are not finite or not known are null: with --grid "
     "these are matrix.levels, plan.reason, time.update_s, bytes and bound_s. --factor lu adds "
     "factors.condition, null where one more solve gives no hint of a large one. --grid adds "
     "plan.grid {px, py, pz} and, for the fastest solve and each with min, mean and max over the "
     "ranks, ranks {solve_s, inter_s {before_U, within_U}, intra_s {L, U}, products_s {L, U}, "
     "flops {L, U}}, and inter_messages, inter_bytes, intra_messages and intra_bytes, divided like "
     "the seconds. time.solve_s is the time of the slowest rank; time.whole_s.min includes "
     "distributing b and collecting x."},
    {"Examples",
     "  trireme solve L.mtx\n"
     "  trireme solve A.mtx --uplo lower --add-diagonal -b b.mtx -o x.mtx\n"
     "  trireme solve A.mtx --factor lu -b b.mtx -o x.mtx\n"
     "  trireme solve gen:poisson3d7:100 --uplo upper --nrhs 8 --backend threads:4\n"
     "  trireme solve L.mtx --backend cuda:0-3 --method zerocopy\n"
     "  mpirun -np 4 trireme solve L.mtx --backend nvshmem --method zerocopy\n"
     "  trireme solve A.h5 --json | jq .time.solve_s.min\n"
     "  mpirun -np 8 trireme solve A.h5 --grid 2x2x2"},
    {0}};

static int solve(solve_job *job, const char *name) {
  int code = solve_check_settings(&job->set, name);
  if (code < 0) code = solve_open(job);
  if (code < 0) code = solve_take_matrix(job, name);
  if (code < 0) code = solve_make_rhs(job);
  if (code < 0) code = solve_measure(job);
  if (code < 0) code = solve_judge(job);
  if (code < 0) code = solve_find_condition(job);
  if (code >= 0) return code;
  solve_print(job);
  solve_report(job);
  return solve_leave(job);
}

/* True on ranks other than the first, according to the launcher, because the command line is parsed
 * before MPI starts: only one rank reports its mistakes, or a process that is alone.  Afterwards
 * MPI's ranks decide, which may differ from the launcher's: if the two do not know of each other,
 * each process is MPI's only one. */
static bool is_other_rank(int argc, char **argv) {
  if (launched_rank() == 0 || !is_among_ranks()) return false;
  for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
    if (!strcmp(argv[i], "--grid") || !strncmp(argv[i], "--grid=", 7)) return true;
  return false;
}

/* Before MPI starts and M is read. */
static int check_factor(const solve_settings *s) {
  const char *other = s->matrix         ? "matrix"
                      : s->grid         ? "grid"
                      : s->uplo >= 0    ? "uplo"
                      : s->diag >= 0    ? "diag"
                      : s->add_diagonal ? "add-diagonal"
                                        : NULL;
  if (s->levels && s->factor != TRS_FACTOR_ILU0 && s->factor != TRS_FACTOR_IC0)
    return leave_usage("solve", "--levels is for --factor ilu0 and ic0");
  if (s->factor < 0 || !other) return -1;
  return leave_usage("solve",
                     "--factor does not take --%s: trireme factor has more options, and writes "
                     "factors for trireme solve",
                     other);
}

static const char brief[] =
    "Options\n"
    "      --uplo lower|upper   the triangle of M to solve with\n"
    "      --factor lu          factor A, for A x = b\n"
    "      --factor ilu0|ic0    for L U x = b, with L U only near A\n"
    "      --levels K           levels of fill of ilu0 and ic0\n"
    "      --trans n|t|c        solve with the (conjugate) transpose\n"
    "      --diag nonunit|unit  unit: the diagonal is one\n"
    "  -b, --rhs-file FILE      right-hand sides (default: one at random)\n"
    "      --nrhs K             how many: at random, or those of -b\n"
    "  -o, --output FILE        write the solution\n"
    "      --backend WHERE      serial, threads:8, cuda, cuda:0-3 or auto\n"
    "      --method NAME        use this method (trireme methods)\n"
    "      --json               print the report as JSON\n"
    "\n"
    "  trireme solve A.mtx --uplo lower -b b.mtx -o x.mtx\n"
    "  trireme solve A.mtx --factor lu -b b.mtx -o x.mtx\n";

static int run(int argc, char **argv) {
  solve_job job = {.set = {.uplo = -1, .factor = -1, .diag = -1, .invert = -1, .precision = -1},
                   .condition = -1};
  bool silent = is_other_rank(argc, argv);
  if (silent) output_silence();
  int code = options_parse(&cmd_solve, &job.set, &argc, argv);
  if (code < 0) code = check_factor(&job.set);
  if (silent && code >= 0) return LEAVE_SOLVED;
  if (silent) output_speak();
  files_limit_memory(job.set.max_memory);
  if (code < 0) code = job.set.grid ? solve_on_ranks(&job, argv[0]) : solve(&job, argv[0]);
  solve_free(&job);
  return code;
}

const command cmd_solve = {.name = "solve",
                           .synopsis = "[OPTIONS] M",
                           .summary = "solve a triangular system, or A x = b from factors",
                           .operand = "matrix",
                           .min_operands = 1,
                           .max_operands = 1,
                           .options = options,
                           .paragraphs = paragraphs,
                           .brief = brief,
                           .run = run,
                           .source = &cmd_factor};
