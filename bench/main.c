/* main.c - trireme-bench, which trireme bench starts: times all methods on a suite, on the CPU or
 * on a GPU, and compares and tabulates results. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chart.h"
#include "command.h"
#include "experiment.h"
#include "files.h"
#include "leave.h"
#include "peer.h"
#include "program.h"
#include "runner.h"
#include "settings.h"
#include "suite.h"
#include "trireme.h"

#define FIELD(member) offsetof(bench_settings, member)

/* Words of builds with papers/, and those in their place. */
#if TRIREME_BENCH_PAPERS
#define OF_PAPERS(with, without) with
#else
#define OF_PAPERS(with, without) without
#endif

static const option options[] = {
    FILE_OPTION("out", 'o', "FILE", FIELD(out),
                "write the results as JSON lines, each as soon as it is measured"),
    TEXT_OPTION("methods", "LIST", "@methods", FIELD(methods),
                "the methods to time (default: serial,threads,auto on the CPU, auto on a GPU, "
                "zerocopy beside auto for gpus); some take parameters: syncfree-csc:warps=8"),
    TEXT_OPTION(
        "backend", "WHERE", "cpu|cuda", FIELD(backend),
        "cpu (the default), cuda or cuda:N; for " OF_PAPERS(
            "x20, w21 and ",
            "") "gpus also several GPUs, such as cuda:0-3" OF_PAPERS("; for x20 nvshmem with one "
                                                                     "process per GPU under mpirun",
                                                                     "")),
    TEXT_OPTION(
        "threads", "LIST", NULL, FIELD(threads),
        "the numbers of threads, such as 1,2,4 (default: all cores); serial uses 1, auto and "
        "oneMKL the largest"),
    CHOICE_OPTION("uplo", "lower|upper|both", FIELD(uplo),
                  "the triangles to solve with (default both)"),
    REAL_OPTION(
        "seconds", "S", 0, 3600, FIELD(seconds),
        "time each method for about S seconds and at least five solves, or with 0 for one solve "
        "(default 0.3; on a GPU 0.05, for gpus 0.2)"),
    TEXT_OPTION("nrhs", "LIST", NULL, FIELD(nrhs_list),
                "the numbers of right-hand sides, such as 1,8,32 (default 1; for gpus 1,64)"),
    TEXTS_OPTION(
        "peer", "WHICH", "auto|none", FIELD(peers),
        "none: do not time oneMKL, or cuSPARSE on a GPU, beside Trireme (default auto: time "
        "it if it is found); NAME=PROGRAM: time a program too, as NAME; can be repeated"),
    REAL_OPTION("peer-seconds", "S", 0.01, 86400, FIELD(peer_seconds),
                "stop a program of --peer that takes longer than S seconds for a system (default "
                "60)"),
    CHOICE_OPTION("scalar", "double|float", FIELD(scalar), "GPU: the precision (default double)"),
    CHOICE_OPTION("layout", "column|row", FIELD(layout),
                  "the layout of several right-hand sides, column- or row-major (default column)"),
    CHOICE_OPTION("store", "same|mixed", FIELD(store),
                  "GPU: mixed also times the engine with values stored as floats"),
    FLAG_OPTION("tune", FIELD(tune),
                "auto times its candidates in the analysis: methods on the CPU, the engine's "
                "settings on a GPU"),
    FILE_OPTION(
        "suite", 0, "SUITE", FIELD(suite),
        "the suite for " OF_PAPERS("l17, x20, l23 and ", "") "gpus; the matrix for " OF_PAPERS(
            "w21, l23 and ", "") "blocks"),
    COUNT_OPTION("seed", 0, "N", 0, 4294967295, FIELD(seed),
                 "for lot and tail: the number that draws the systems"),
    COUNT_OPTION("systems", 0, "K", 1, 1000, FIELD(systems),
                 "for lot and tail: the number of systems to draw (default 60)"),
    TEXT_OPTION("parts", "LIST", OF_PAPERS("real|model|simulation|", "") "idle|stolen|busy",
                FIELD(parts),
                "for tail: the surroundings (default all)" OF_PAPERS(
                    "; for l23: the parts to run, of real, gpu, model and simulation (default "
                    "real,model)",
                    "")),
#if TRIREME_BENCH_PAPERS
    TEXT_OPTION("ranks", "LIST", NULL, FIELD(ranks),
                "for l23: the numbers of ranks (default: real 1,2,4,8,16; simulation 128; "
                "model 128,256,512,1024,2048)"),
    TEXT_OPTION(
        "grids", "LIST", NULL, FIELD(grids),
        "for l23: the solves to model or simulate, METHOD:PXxPYxPZ:NRHS[:flat][:scattered]"),
    FILE_OPTION("work", 0, "FOLDER", FIELD(work),
                "for l23: keep factors and structures in FOLDER and use those in it (default: a "
                "temporary folder)"),
#endif
    FLAG_OPTION("markdown", FIELD(markdown),
                "for " OF_PAPERS("l17, l23, x20 and ", "") "gpus: print the tables as Markdown"),
    FILE_OPTION(
        "compare", 0, "BEFORE.json", FIELD(compare),
        "compare the results in BEFORE.json with those in the file that follows; runs nothing"),
    FILE_OPTION("table", 0, "FILE.json", FIELD(table),
                "print the results in FILE.json as Markdown tables; runs nothing"),
    FILE_OPTION(
        "svg", 0, "FILE", FIELD(svg),
        "draw the results as SVG" OF_PAPERS(
            "; l17 and x20 draw several, FILE-rates.svg or FILE-designs.svg and others", "")),
    FLAG_OPTION(
        "list", FIELD(list),
        "list the suites and benchmarks, or the matrices of the one that is named; runs nothing"),
    FLAG_OPTION("json", FIELD(json), "print the results as JSON lines and failures as JSON"),
    {0}};

/* The experiments' own options follow these. */
static const paragraph first_paragraphs[] = {
    {NULL,
     "Times the solve methods on a suite of matrices. The published results are of the suite cpu "
     "(the default) and of gpu, on a GPU; quick and gpu-quick take seconds. Suites gpu and gpu-* "
     "run with --backend cuda unless another backend is given. SUITE may also be a file with one "
     "matrix per line, or one matrix: gen:NAME:SIZE, file:NAME, or factor:KIND[:ORDER]:MATRIX for "
     "L and U of a factorisation (KIND lu, ilu0, ic0 or triangle; ORDER nd, amd, natural, rcm or "
     "colour). Both triangles of a matrix are solved, with missing diagonal entries added. Missing "
     "files are skipped, reported and counted. A run that skips all of them fails."},
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
    {0}};

static const paragraph last_paragraphs[] = {
    {"Programs as peers",
     "--peer NAME=PROGRAM runs 'PROGRAM FILE OUT' for each system with one right-hand side, alone "
     "and after the methods; on the CPU a third argument is the largest number of --threads. FILE "
     "has a lower triangle and b in binary; an upper triangle is written in reverse order. The "
     "program writes x to OUT and prints one line with solve_ms= and, if it likes, analysis_ms=, "
     "setting=, version= and threads=. The benchmark checks x. A program that crashes, hangs or "
     "prints something else has a row with the reason, which counts as WRONG. bench/README.md "
     "describes the file."},
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
     "  trireme bench gpu --backend cuda --nrhs 1,8,32,128 --store mixed\n"
     "  trireme bench lot --seed 7 --backend cuda --out lot.json\n" OF_PAPERS(
         "  trireme bench l17 --markdown --svg l17\n"
         "  trireme bench l23 --out l23.json --svg l23.svg\n"
         "  trireme bench x20 --out x20.json --svg x20\n"
         "  mpirun -n 4 trireme bench x20 --backend nvshmem --out x20-nvshmem.json\n",
         "") "  trireme bench gpu --backend cuda --peer other=./other --out gpu.json\n"
             "  trireme bench gpus --backend cuda:0-3 --out gpus.json --svg gpus.svg"},
    {0}};

/* In the order of the text; filled at program start. */
static paragraph paragraphs[24];

static const char brief[] =
    "Options\n"
    "      --methods LIST       the methods, such as serial,threads,auto\n"
    "      --threads LIST       the numbers of threads, such as 1,2,4\n"
    "      --backend WHERE      cpu, cuda or cuda:N\n"
    "      --nrhs LIST          the numbers of right-hand sides, such as 1,8,32\n"
    "      --seconds S          the time for each method\n"
    "      --peer WHICH         none, auto or NAME=PROGRAM: what to compare with\n"
    "  -o, --out FILE           write the results as JSON lines\n"
    "      --table              print the tables of a file of results\n"
    "      --compare            compare two files of results\n"
    "\n"
    "  trireme bench quick\n"
    "  trireme bench gen:poisson3d7:60 --methods serial,auto --threads 1,8\n";

static const command cmd_bench = {.name = "bench",
                                  .synopsis =
                                      "[OPTIONS] [SUITE | " OF_PAPERS("l17 | l23 | x20 | w21 | ", "") "gpus | lot | tail | blocks | batches | factors | refactor] | "
                                      "--compare OLD NEW | --table FILE",
                                  .summary = "time every method, and compare results",
                                  .operand = "file",
                                  .max_operands = 1,
                                  .options = options,
                                  .paragraphs = paragraphs,
                                  .brief = brief};

static void fill_paragraphs(void) {
  paragraph *to = paragraphs;
  for (const paragraph *p = first_paragraphs; p->text; p++) *to++ = *p;
  for (const bench_experiment *e = bench_experiments; e->name; e++)
    if (e->text) *to++ = (paragraph){e->title, e->text};
  for (const paragraph *p = last_paragraphs; p->text; p++) *to++ = *p;
}

/* ---- Options of an experiment ---- */

static bool lists(const char *words, const char *name) {
  char word[32];
  snprintf(word, sizeof word, "|%s|", name);
  return strstr(words, word) != NULL;
}

/* "l17, l23 and gpus": the experiments that accept an option. */
static void name_takers(char *text, size_t size, const char *name) {
  const char *taker[16];
  int count = 0;
  size_t used = 0;
  for (const bench_experiment *e = bench_experiments; e->name; e++)
    if (lists(e->options, name)) taker[count++] = e->name;
  for (int k = 0; k < count && used < size; k++)
    used += (size_t)snprintf(text + used, size - used, "%s%s",
                             !k              ? ""
                             : k < count - 1 ? ", "
                                             : " and ",
                             taker[k]);
}

static bool is_given(const option *o, const bench_settings *set) {
  const void *field = (const char *)set + o->offset;
  switch (o->kind) {
    case OPTION_FLAG:
      return *(const bool *)field;
    case OPTION_CHOICE: /* "both" is the default of --uplo, the last of its words */
      return *(const int *)field != (o->offset == FIELD(uplo) ? BENCH_BOTH : 0);
    case OPTION_TEXTS:
      return ((const option_texts *)field)->count > 0;
    case OPTION_REAL:
      return *(const double *)field >= 0;
    case OPTION_COUNT:
      return *(const int64_t *)field >= 0;
    default:
      return *(const char *const *)field != NULL;
  }
}

static int check_options(const bench_experiment *e, const bench_settings *set) {
  char takers[128];
  if (set->programs && !lists(e->options, "peer-seconds")) {
    name_takers(takers, sizeof takers, "peer-seconds");
    return leave_usage("bench", "--peer NAME=PROGRAM is for %s, not for %s", takers, e->name);
  }
  for (const option *o = options; o->name; o++) {
    if (!is_given(o, set) || lists(e->options, o->name)) continue;
    name_takers(takers, sizeof takers, o->name);
    return leave_usage("bench", "--%s is for %s, not for %s", o->name, takers, e->name);
  }
  return -1;
}

/* ---- Backends ---- */

static bool is_list(const char *backend) {
  return !strncmp(backend, "cuda:", 5) && strpbrk(backend, "-,");
}

/* "cpu", "cuda" or "cuda:N"; the experiment or the suite determines the default. */
static int parse_backend(const bench_experiment *e, bench_settings *set) {
  static const char cuda[] = "cuda";
  const char *suite = set->suite ? set->suite : "";
  bool for_gpu =
      e->place == BENCH_PLACE_DEVICE || e->place == BENCH_PLACE_DEVICES ||
      (e->place == BENCH_PLACE_ANY && (!strcmp(suite, "gpu") || !strncmp(suite, "gpu-", 4)));
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

/* A list of GPUs is parsed when the GPUs are opened. */
static int complete_place(const bench_experiment *e, bench_settings *set) {
  const char *given = set->backend;
  set->device = 0;
  if (e->place == BENCH_PLACE_OWN) return -1;
  const bool device = e->place == BENCH_PLACE_DEVICE || e->place == BENCH_PLACE_DEVICES;
  if (device && bench_on_opencl(set)) {
    set->device = -1;
    return -1;
  }
  const bool group = e->place == BENCH_PLACE_GROUP, gpus = group || e->place == BENCH_PLACE_GPUS;
  if (group && given && !strcmp(given, "nvshmem")) return -1;
  if (gpus && given && strncmp(given, "cuda:", 5) != 0)
    return leave_usage("bench", "%s takes GPUs, such as --backend cuda:0,1%s", e->name,
                       group ? ", or nvshmem" : "");
  const bool lists = e->place == BENCH_PLACE_LIST || e->place == BENCH_PLACE_DEVICES;
  if (gpus || (lists && given && is_list(given))) return -1;
  int code = parse_backend(e, set);
  if (code < 0 && device && set->device < 0)
    return leave_usage("bench", "%s runs on a GPU: leave out --backend cpu", e->name);
  return code;
}

/* A program gets doubles and one right-hand side. */
static int check_programs(const bench_settings *set) {
  bool one = false;
  for (int k = 0; k < set->nrhs.count; k++) one |= set->nrhs.value[k] == 1;
  if (set->programs && set->scalar)
    return leave_usage("bench", "--peer NAME=PROGRAM solves in double: leave out --scalar float");
  if (set->programs && !one)
    return leave_usage("bench",
                       "--peer NAME=PROGRAM solves for one right-hand side: add 1 to --nrhs");
  return -1;
}

static int check_place(const bench_settings *set) {
  if (set->device < 0 && (set->scalar || set->store))
    return leave_usage("bench", "--scalar and --store are for a GPU: --backend cuda");
  if (set->device >= 0 && set->threads)
    return leave_usage("bench", "--threads are the CPU's: leave it out with --backend cuda");
  return -1;
}

/* Options that were not given get the experiment's defaults. */
static int complete(const bench_experiment *e, bench_settings *set) {
  enum { MOST_NRHS = 4096, MOST_RANKS = 1 << 20 };
  int code = complete_place(e, set);
  if (code < 0) code = bench_counts_parse(&set->nrhs, "nrhs", set->nrhs_list, MOST_NRHS);
  if (code < 0) code = bench_counts_parse(&set->rank_counts, "ranks", set->ranks, MOST_RANKS);
  if (set->seconds < 0) set->seconds = e->seconds > 0 ? e->seconds : set->device < 0 ? 0.3 : 0.05;
  if (set->peer_seconds < 0) set->peer_seconds = 60;
  if (!set->nrhs.count) set->nrhs = e->nrhs;
  return code;
}

/* ---- Actions ---- */

static int check_files(const bench_settings *set, int operands) {
  if (set->compare && set->table)
    return leave_usage("bench", "give either --compare or --table, not both");
  if (set->compare && !operands)
    return leave_usage("bench", "--compare takes two files: BEFORE.json AFTER.json");
  if (set->table && operands) return leave_usage("bench", "--table takes one file");
  if (set->json) return leave_usage("bench", "--json prints what a run finds: leave it out");
  return -1;
}

static const bench_experiment *experiment_of(const char *word) {
  for (const bench_experiment *e = bench_experiments + 1; e->name && word; e++)
    if (!strcmp(word, e->name)) return e;
  return bench_experiments;
}

/* -1, or the exit status if a word names an experiment of papers/ that this build leaves out. */
static int check_papers(const char *word) {
  static const char *const papers[] = {"l17", "l23", "w21", "x20"};
  for (size_t k = 0; !OF_PAPERS(true, false) && word && k < sizeof papers / sizeof papers[0]; k++)
    if (!strcmp(word, papers[k]))
      return leave(LEAVE_UNAVAILABLE, trs_status_name(TRS_ERROR_UNSUPPORTED), -1,
                   "bench: %s repeats a paper, and this build leaves papers out: build "
                   "with -DTRIREME_WITH_PAPERS=ON",
                   word);
  return -1;
}

static int list(const bench_experiment *e, const bench_settings *set) {
  if (set->svg) return leave_usage("bench", "--svg draws results: leave it out with --list");
  bench_suite suite;
  int code = check_options(e, set);
  if (code >= 0) return code;
  if (e->draw_suite) {
    code = e->draw_suite(&suite, set);
    if (code < 0) bench_suite_print(&suite);
    bench_suite_free(&suite);
    return code < 0 ? LEAVE_SOLVED : code;
  }
  bool own = e != bench_experiments && e->list == bench_list && !set->suite;
  return e->list(!own ? set->suite : e->suite ? e->suite : e->name);
}

/* Charts are written last; a path that cannot be written is refused before hours of work. */
static int check_picture(const bench_experiment *e, const char *svg) {
  char path[1200];
  if (!svg) return -1;
  if (e->first_chart)
    bench_svg_path(path, sizeof path, svg, e->first_chart);
  else
    snprintf(path, sizeof path, "%s", svg);
  return check_text_writable(path);
}

static int run_files(bench_settings *set, int argc, char **argv) {
  int code = check_options(bench_experiments, set);
  if (code < 0) code = check_files(set, argc);
  if (code < 0) code = check_picture(bench_experiments, set->svg);
  if (code >= 0) return code;
  return set->compare ? bench_compare(set->compare, argv[0], set->svg)
                      : bench_table(set->table, set->svg);
}

static int run_experiment(const bench_experiment *e, bench_settings *set) {
  int code = check_options(e, set);
  if (code < 0) code = check_picture(e, set->svg);
  if (code < 0) code = complete(e, set);
  if (code < 0) code = check_place(set);
  if (code < 0) code = check_programs(set);
  return code < 0 ? e->run(set) : code;
}

static int run(int argc, char **argv) {
  bench_settings set = {
      .uplo = BENCH_BOTH, .seconds = -1, .seed = -1, .systems = -1, .peer_seconds = -1};
  fill_paragraphs();
  if (argc == 2 && !strcmp(argv[0], "--print")) {
    command_print(&cmd_bench, argv[1]);
    return LEAVE_SOLVED;
  }
  int code = options_parse(&cmd_bench, &set, &argc, argv);
  if (code < 0) code = check_papers(argc ? argv[0] : NULL);
  if (code >= 0) return code;
  code = bench_peers_take(&set);
  if (code >= 0) return code;
  if (set.compare || set.table) return run_files(&set, argc, argv);
  const bench_experiment *e = experiment_of(argc ? argv[0] : NULL);
  bool suite = argc && e == bench_experiments;
  if (suite && set.suite && !set.list)
    return leave_usage("bench", "two suites: %s and %s", argv[0], set.suite);
  if (suite && !set.suite) set.suite = argv[0];
  return set.list ? list(e, &set) : run_experiment(e, &set);
}

int main(int argc, char **argv) { return program_main(argc, argv, run); }
