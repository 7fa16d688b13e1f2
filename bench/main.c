/* main.c - trireme-bench, which trireme bench starts: times every method on a suite, on the CPU or
 * on a GPU, and compares and tabulates results. */
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "command.h"
#include "leave.h"
#include "program.h"
#include "trireme.h"

#define FIELD(member) offsetof(bench_settings, member)

static const option options[] = {
    {.name = "out",
     .letter = 'o',
     .kind = OPTION_FILE,
     .value = "FILE",
     .offset = FIELD(out),
     .help = "write the results as JSON lines, each as soon as it is measured"},
    {.name = "methods",
     .kind = OPTION_TEXT,
     .value = "LIST",
     .words = "@methods",
     .offset = FIELD(methods),
     .help = "the methods to time (default: serial,threads,auto on the CPU, auto on a GPU, "
             "zerocopy beside auto for gpus); some take parameters: syncfree-csc:warps=8"},
    {.name = "backend",
     .kind = OPTION_TEXT,
     .value = "WHERE",
     .words = "cpu|cuda",
     .offset = FIELD(backend),
     .help = "cpu (the default), cuda or cuda:N; for x20, gpus and w21 also several GPUs, such as "
             "cuda:0-3"},
    {.name = "threads",
     .kind = OPTION_TEXT,
     .value = "LIST",
     .offset = FIELD(threads),
     .help = "the numbers of threads, such as 1,2,4 (default: all cores); serial uses 1, auto and "
             "oneMKL the largest"},
    {.name = "uplo",
     .kind = OPTION_CHOICE,
     .words = "lower|upper|both",
     .offset = FIELD(uplo),
     .help = "the triangles to solve with (default both)"},
    {.name = "seconds",
     .kind = OPTION_REAL,
     .value = "S",
     .offset = FIELD(seconds),
     .minimum = 0,
     .maximum = 3600,
     .help = "time each method for about S seconds and at least five solves (default 0.3; on a GPU "
             "0.05, for gpus 0.2)"},
    {.name = "nrhs",
     .kind = OPTION_TEXT,
     .value = "LIST",
     .offset = FIELD(nrhs_list),
     .help = "the numbers of right-hand sides, such as 1,8,32 (default 1; for gpus 1,64)"},
    {.name = "peer",
     .kind = OPTION_CHOICE,
     .words = "auto|none",
     .offset = FIELD(peer),
     .help = "none: do not time oneMKL, or cuSPARSE on a GPU, beside Trireme (default auto: time "
             "it if it is found)"},
    {.name = "scalar",
     .kind = OPTION_CHOICE,
     .words = "double|float",
     .offset = FIELD(scalar),
     .help = "GPU: the precision (default double)"},
    {.name = "layout",
     .kind = OPTION_CHOICE,
     .words = "column|row",
     .offset = FIELD(layout),
     .help = "GPU: the layout of several right-hand sides, column- or row-major (default column)"},
    {.name = "store",
     .kind = OPTION_CHOICE,
     .words = "same|f32",
     .offset = FIELD(store),
     .help = "GPU: f32 also times the engine with values stored as floats"},
    {.name = "tune",
     .kind = OPTION_FLAG,
     .offset = FIELD(tune),
     .help = "GPU: the engine times its candidate settings in the analysis"},
    {.name = "suite",
     .kind = OPTION_FILE,
     .value = "SUITE",
     .offset = FIELD(suite),
     .help = "the suite for l17, x20 and gpus; for w21 and l23 the matrix"},
    {.name = "parts",
     .kind = OPTION_TEXT,
     .value = "LIST",
     .words = "real|model|simulation",
     .offset = FIELD(parts),
     .help = "for l23: the parts to run, of real, gpu, model and simulation (default real,model)"},
    {.name = "ranks",
     .kind = OPTION_TEXT,
     .value = "LIST",
     .offset = FIELD(ranks),
     .help = "for l23: the numbers of ranks (default: real 1,2,4,8,16; simulation 128,512,2048; "
             "model these and 8192,32768,131072)"},
    {.name = "grids",
     .kind = OPTION_TEXT,
     .value = "LIST",
     .offset = FIELD(grids),
     .help = "for l23: the solves to model or simulate, METHOD:PXxPYxPZ:NRHS[:flat][:scattered]"},
    {.name = "work",
     .kind = OPTION_FILE,
     .value = "FOLDER",
     .offset = FIELD(work),
     .help = "for l23: keep factors and structures in FOLDER and use those in it (default: a "
             "temporary folder)"},
    {.name = "markdown",
     .kind = OPTION_FLAG,
     .offset = FIELD(markdown),
     .help = "for l17, l23, x20 and gpus: print the tables as Markdown"},
    {.name = "compare",
     .kind = OPTION_FILE,
     .value = "BEFORE.json",
     .offset = FIELD(compare),
     .help =
         "compare the results in BEFORE.json with those in the file that follows; runs nothing"},
    {.name = "table",
     .kind = OPTION_FILE,
     .value = "FILE.json",
     .offset = FIELD(table),
     .help = "print the results in FILE.json as Markdown tables; runs nothing"},
    {.name = "svg",
     .kind = OPTION_FILE,
     .value = "FILE",
     .offset = FIELD(svg),
     .help = "draw the results as SVG; l17 and x20 draw several, FILE-rates.svg or "
             "FILE-designs.svg and others"},
    {.name = "list",
     .kind = OPTION_FLAG,
     .offset = FIELD(list),
     .help =
         "list the suites, or the matrices of the suite or benchmark that is named; runs nothing"},
    {.name = "json",
     .kind = OPTION_FLAG,
     .offset = FIELD(json),
     .help = "print the results as JSON lines and failures as JSON"},
    {0}};

static const paragraph paragraphs[] = {
    {NULL,
     "Times the solve methods on a suite of matrices. The published results are of the suite cpu "
     "(the default) and of gpu, on a GPU; quick and gpu-quick take seconds. Suites gpu and gpu-* "
     "run with --backend cuda unless another backend is given. SUITE may also be a file with one "
     "matrix per line, or one matrix: gen:NAME:SIZE, file:NAME, or factor:KIND[:ORDER]:MATRIX for "
     "L and U of a factorisation (KIND lu, ilu0, ic0 or triangle). Both triangles of a matrix are "
     "solved, with missing diagonal entries added. Missing files are skipped, reported and "
     "counted."},
    {"Method",
     "All methods use the same arrays and the same random right-hand sides. The analysis time is "
     "the best of three. Solves are timed in five rounds with every method in each, so that a "
     "drift of the machine affects all methods alike; the table shows the fastest solve. The "
     "solution of the last round is substituted into the system. If the backward error is not "
     "small, the result is marked WRONG and counts nowhere, and the exit code is 1."},
    {"On a GPU",
     "With --backend cuda all data is in device memory, and the peers are cuSPARSE's SpSV and "
     "SpSM. From version 12.9 SpSV has two more algorithms, the methods cusparse:alg1 and "
     "cusparse:alg2; ratios are over the fastest of the three. Solves are timed with events around "
     "batches, and the table shows the median; latency_s "
     "is the time of one solve that the host waits for. The first analysis of a system is reported "
     "apart from the later ones, of which the best counts. cuSPARSE's query of its buffer size "
     "(ask_s) and the allocation of that buffer are not part of its analysis."},
    {"L17",
     "'trireme bench l17' repeats the measurements of L17's Figures 7 to 12 and Tables IV and V, "
     "beside cuSPARSE and the engine: SpTRSV rates by warps per block, with and without "
     "scratchpad, in single and double precision, forward and backward; SpTRSM by both strategies "
     "and the adaptive choice for 1 to 256 right-hand sides; the parameter p; and analysis times, "
     "also in multiples of a solve."},
    {"L23",
     "'trireme bench l23' repeats L23's Figures 4 to 9: grid3d, also with inverted separators, "
     "grid3d-baseline and grid2d on near-square grids. The part real uses the ranks of this "
     "machine; it starts mpirun itself, or runs under mpirun with --suite FACTORS.h5. The part gpu "
     "(Figure 9) does the same with a GPU for each of 1 x 1 x Pz grids; its rows are measured (a "
     "GPU "
     "for each rank), shared (several ranks on a GPU, which slow each other down), or composed: "
     "the "
     "slowest grid's L- and U-solve, each timed alone on a GPU, and the exchange modelled from its "
     "bytes (5 us and 12.5 GB/s a step). The part "
     "model is an event-driven LogGP model of a Cori-like machine with up to 131,072 ranks. The "
     "part simulation runs the solver's source on the ranks of SimGrid's SMPI; it takes minutes to "
     "hours and runs only with --parts. The tables show the best grids; the minimum, mean and "
     "maximum over the ranks of the times between grids, inside grids and in products; messages "
     "and volume; and what Pz grids replicate. --suite takes another matrix, gen:NAME:SIZE. The "
     "parts real and gpu factor gen:poisson2d9:300 and gen:kkt3d:12; the others use the structure "
     "of the "
     "factors of gen:poisson2d9:2048, gen:kkt3d:64 and gen:elasticity3d:56,56,56."},
    {"X20",
     "'trireme bench x20' repeats the measurements of X20's Figures 3 and 7 to 10 on all GPUs, at "
     "most 8, or on those of --backend cuda:0,1: managed memory by the number of GPUs; the four "
     "designs on 4 GPUs; 4 to 32 tasks per GPU; and 32 tasks in total (30 on 3, 5 or 6 GPUs, 28 on "
     "7) by the number of GPUs, beside cuSPARSE on one; with the dependency and parallelism of "
     "every system and their correlation with the speedup. Page faults are not counted."},
    {"Several GPUs",
     "'trireme bench gpus' compares 2, 4 and 8 GPUs, as many as there are or as --backend cuda:0-3 "
     "names, with one GPU: auto with b and x on the first GPU, auto with b and x distributed as "
     "they are solved (spread), and X20's zerocopy. --methods adds others, such as "
     "push:partition=cyclic. Several right-hand sides are timed only for systems with a "
     "parallelism of 5,000 or more. Then a system is solved that is larger than what plans may use "
     "of one GPU, beside a smaller one on one GPU with the same limit. Solves are launched one "
     "behind the other and timed by the host's clock, all methods of a system in rounds. The "
     "triangle is the lower one unless --uplo upper is given. The report ends with geometric "
     "means, worst cases, and the systems where more GPUs do not help, with the reason. A GPU that "
     "is named twice counts as two members; this is for testing the command."},
    {"W21",
     "'trireme bench w21' relaxes W21's case (gen:wingmesh:1100000, about 10 GB of memory; another "
     "with --suite gen:wingmesh:N) with 15 sweeps on the CPU, for every way of storing and each of "
     "--threads, and compares the bandwidth, with every byte counted once, with that of a copy. "
     "With --backend cuda it times W21's six variants and the library's own on a GPU (--methods "
     "names others, as trs_relax_options does), every way of storing, block sizes 3 to 8, and "
     "cuSPARSE's bsrmv with cuBLAS's batched triangular solves, and checks all of them against the "
     "CPU's sweeps. With --backend cuda:0-3 it uses the first GPU, the first two, four and so on "
     "up to all, and checks that x has the same bits as on one GPU. --table prints its results "
     "again; --compare does not take them."},
    {"Results",
     "One JSON object per matrix, triangle, method, number of threads and number of right-hand "
     "sides, with commit, machine, time {create_s, analysis_s, update_s, solve_s {min, median}, "
     "repeats}, bytes, bound_s (the reference time, see trireme solve --help), gbs, "
     "backward_error, memory and reason. What does not apply is null. bench/peer_scipy.py adds "
     "SciPy to such a file of a CPU."},
    {"Environment",
     "TRIREME_MATRICES is the folder of the files in a suite (tools/fetch_matrices fetches them), "
     "TRIREME_SUITES a folder of suites, TRIREME_FACTORS a folder of patterns of factors "
     "(bench/make_factors). TRIREME_MKL, TRIREME_CUDART, TRIREME_CUSPARSE, TRIREME_CUBLAS, "
     "TRIREME_CUBLASLT and TRIREME_NVJITLINK are the paths of libmkl_rt, libcudart, libcusparse, "
     "libcublas, libcublasLt and libnvJitLink if they are not found by themselves. TRIREME_COMMIT "
     "is the commit to record. COLUMNS is the width of the tables where standard output is no "
     "terminal."},
    {"Examples",
     "  trireme bench quick\n"
     "  trireme bench --out after.json\n"
     "  trireme bench --compare before.json after.json --svg gain.svg\n"
     "  trireme bench factor:lu:nd:gen:poisson2d5:300 --threads 1,2 --nrhs 8\n"
     "  trireme bench --table after.json --svg bars.svg\n"
     "  trireme bench gpu --backend cuda --nrhs 1,8,32,128 --store f32\n"
     "  trireme bench l17 --markdown --svg l17\n"
     "  trireme bench l23 --out l23.json --svg l23.svg\n"
     "  trireme bench x20 --out x20.json --svg x20\n"
     "  trireme bench gpus --backend cuda:0-3 --out gpus.json --svg gpus.svg"},
    {0}};

static const command cmd_bench = {
    .name = "bench",
    .synopsis =
        "[OPTIONS] [SUITE | l17 | l23 | x20 | w21 | gpus] | --compare OLD NEW | --table FILE",
    .summary = "time every method, and compare results",
    .operand = "file",
    .max_operands = 1,
    .options = options,
    .paragraphs = paragraphs};

/* "cpu", "cuda" or "cuda:N"; by default as the suite says. */
static int parse_backend(bench_settings *set) {
  static const char cuda[] = "cuda";
  const char *suite = set->suite ? set->suite : "";
  bool for_gpu = !strcmp(suite, "gpu") || !strncmp(suite, "gpu-", 4);
  const char *rest = set->backend ? set->backend : for_gpu ? cuda : "cpu";
  char *end = NULL;
  set->device = -1;
  if (!strcmp(rest, "cpu")) return -1;
  long number = 0;
  bool good = !strncmp(rest, cuda, sizeof cuda - 1);
  rest += good ? sizeof cuda - 1 : 0;
  if (good && *rest) {
    number = *rest == ':' ? strtol(rest + 1, &end, 10) : -1;
    good = *rest == ':' && rest[1] && !*end && number >= 0 && number < 1024;
  }
  if (!good)
    return leave_usage("bench", "--backend takes cpu, cuda or cuda:N, not '%s'", set->backend);
  set->device = (int)number;
  return -1;
}

static int check_files(const bench_settings *set, int operands) {
  if (set->compare && set->table)
    return leave_usage("bench", "give either --compare or --table, not both");
  if (set->compare && !operands)
    return leave_usage("bench", "--compare takes two files: BEFORE.json AFTER.json");
  if (set->table && operands) return leave_usage("bench", "--table takes one file");
  if ((set->table || set->compare) && set->json)
    return leave_usage("bench", "--json prints what a run finds: leave it out");
  return -1;
}

typedef enum part { PART_SUITE, PART_L17, PART_X20, PART_W21, PART_GPUS, PART_L23, PARTS } part;

/* What stands in the place of a suite but is none. */
static const char *const part_names[PARTS] = {"", "l17", "x20", "w21", "gpus", "l23"};

/* Several GPUs: their list is read where they are opened. */
static bool takes_list(part what) { return what == PART_X20 || what == PART_GPUS; }

static int check_place(const bench_settings *set, part what) {
  bool gpu_only = set->scalar || set->layout || set->store || set->tune;
  if (set->device < 0 && gpu_only)
    return leave_usage("bench",
                       "--scalar, --layout, --store and --tune are for a GPU: --backend cuda");
  if (set->device >= 0 && set->threads)
    return leave_usage("bench", "--threads are the CPU's: leave it out with --backend cuda");
  if ((what == PART_L17 || what == PART_X20) && (set->methods || set->store || set->scalar))
    return leave_usage("bench", "l17 and x20 have their own methods and precisions");
  if (what == PART_GPUS && (gpu_only || set->peer))
    return leave_usage("bench",
                       "gpus has no peer, and solves in double, columns behind each other");
  if (set->markdown && what == PART_SUITE)
    return leave_usage(
        "bench", "--markdown is for l17, l23, x20 and gpus; --table prints results as Markdown");
  return -1;
}

static int complete_place(bench_settings *set, part what) {
  if (takes_list(what)) {
    bool list = !set->backend || !strncmp(set->backend, "cuda:", 5);
    return list ? -1
                : leave_usage("bench", "%s takes GPUs, such as --backend cuda:0,1",
                              part_names[what]);
  }
  int code = parse_backend(set);
  if (what != PART_L17 || code >= 0) return code;
  if (!set->backend) set->device = 0;
  return set->device < 0 ? leave_usage("bench", "l17 runs on a GPU: leave out --backend cpu") : -1;
}

static double default_seconds(const bench_settings *set, part what) {
  static const double own[PARTS] = {[PART_L17] = 0.03, [PART_X20] = 0.03, [PART_GPUS] = 0.2};
  return own[what] > 0 ? own[what] : set->device < 0 ? 0.3 : 0.05;
}

/* What was not given has its default. */
static int complete(bench_settings *set, part what) {
  enum { MOST_NRHS = 4096 };
  int code = complete_place(set, what);
  if (code < 0) code = bench_counts_parse(&set->nrhs, "nrhs", set->nrhs_list, MOST_NRHS);
  if (set->seconds < 0) set->seconds = default_seconds(set, what);
  if (!set->nrhs.count && what == PART_GPUS) set->nrhs = (bench_counts){{1, 64}, 64, 2};
  if (!set->nrhs.count) set->nrhs = (bench_counts){{1}, 1, 1};
  return code;
}

/* It has its own measurements and tables. */
static int run_w21(bench_settings *set) {
  bool several = set->backend && !strncmp(set->backend, "cuda:", 5) && strpbrk(set->backend, "-,");
  int code = several ? -1 : parse_backend(set);
  if (several) set->device = 0;
  if (code >= 0) return code;
  if (set->device >= 0 && set->threads)
    return leave_usage("bench", "--threads are the CPU's: leave it out with --backend cuda");
  if (set->device < 0 && set->methods)
    return leave_usage("bench", "--methods are a GPU's variants for w21: --backend cuda");
  if (set->scalar || set->layout || set->store || set->tune || set->table || set->svg ||
      set->nrhs_list || set->markdown)
    return leave_usage(
        "bench",
        "w21 takes --backend, --threads, --methods, --peer, --suite, --out, --json and --list "
        "alone");
  return several ? bench_w21_gpus(set) : set->device < 0 ? bench_w21(set) : bench_w21_gpu(set);
}

/* Neither a place nor methods are to be chosen. */
static int run_l23(bench_settings *set) {
  enum { MOST_RANKS = 1 << 20, MOST_NRHS = 4096 };
  bool other = set->methods || set->backend || set->threads || set->peer || set->scalar ||
               set->layout || set->store || set->tune || set->table;
  if (other)
    return leave_usage("bench",
                       "l23 takes --parts, --ranks, --grids, --work, --suite, --nrhs, "
                       "--seconds, --out, --svg, --markdown and --json alone");
  int code = bench_counts_parse(&set->nrhs, "nrhs", set->nrhs_list, MOST_NRHS);
  if (code < 0) code = bench_counts_parse(&set->rank_counts, "ranks", set->ranks, MOST_RANKS);
  if (!set->nrhs.count) set->nrhs = (bench_counts){{1, 50}, 50, 2};
  if (set->seconds < 0) set->seconds = 0.3;
  return code < 0 ? bench_l23(set) : code;
}

static part part_of(const bench_settings *set, int argc, char **argv) {
  for (int k = PARTS - 1; k > PART_SUITE && argc && !set->compare; k--)
    if (!strcmp(argv[0], part_names[k])) return (part)k;
  return PART_SUITE;
}

static int list(const bench_settings *set, part what) {
  if (set->svg) return leave_usage("bench", "--svg draws results: leave it out with --list");
  if (what == PART_L23) return bench_l23_list(set);
  if (what == PART_W21) return bench_list(set->suite ? set->suite : BENCH_W21_CASE);
  return bench_list(set->suite || what == PART_SUITE ? set->suite : part_names[what]);
}

/* Pictures come last: before hours of work it is asked whether they can be written. */
static int check_picture(const bench_settings *set, part what) {
  char path[1200];
  if (!set->svg) return -1;
  if (what == PART_L17 || what == PART_X20)
    bench_svg_path(path, sizeof path, set->svg, what == PART_L17 ? "rates" : "designs");
  else
    snprintf(path, sizeof path, "%s", set->svg);
  return trs_text_path_check(path) ? leave_library(NULL) : -1;
}

static int measure(const bench_settings *set, part what) {
  switch (what) {
    case PART_L17:
      return bench_l17(set);
    case PART_X20:
      return bench_x20(set);
    case PART_GPUS:
      return bench_gpus(set);
    default:
      return bench_run(set);
  }
}

static int run(int argc, char **argv) {
  if (argc == 2 && !strcmp(argv[0], "--print")) {
    command_print(&cmd_bench, argv[1]);
    return LEAVE_SOLVED;
  }
  bench_settings set = {.uplo = 2, .seconds = -1};
  int code = options_parse(&cmd_bench, &set, &argc, argv);
  if (code >= 0) return code;
  part what = part_of(&set, argc, argv);
  if (argc && what == PART_SUITE && !set.suite && set.list) set.suite = argv[0];
  if (set.list && !set.compare && !set.table) return list(&set, what);
  code = check_picture(&set, what);
  if (code >= 0) return code;
  if (what == PART_W21) return run_w21(&set);
  if (what == PART_L23) return run_l23(&set);
  if (set.parts || set.ranks || set.grids || set.work)
    return leave_usage("bench", "--parts, --ranks, --grids and --work are for l23");
  if (argc && what == PART_SUITE && set.suite)
    return leave_usage("bench", "two suites: %s and %s", argv[0], set.suite);
  if (argc && what == PART_SUITE) set.suite = argv[0];
  code = complete(&set, what);
  if (code < 0) code = check_files(&set, argc);
  if (code < 0) code = check_place(&set, what);
  if (code >= 0) return code;
  if (set.compare) return bench_compare(set.compare, set.suite, set.svg);
  if (set.table) return bench_table(set.table, set.svg);
  return measure(&set, what);
}

int main(int argc, char **argv) { return program_main(argc, argv, run); }
