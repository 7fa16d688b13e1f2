/* cmd_bench.c - trireme bench: times every method on a suite, and compares and tabulates results;
 * the work is done in bench/. */
#include <math.h>
#include <string.h>

#include "bench.h"
#include "command.h"
#include "output.h"

static int run(int argc, char **argv);

#define FIELD(member) offsetof(bench_settings, member)

static const option options[] = {
    {.name = "out",
     .letter = 'o',
     .kind = OPTION_FILE,
     .value = "FILE",
     .offset = FIELD(out),
     .help = "write the results as JSON lines, each as soon as it is there"},
    {.name = "methods",
     .kind = OPTION_TEXT,
     .value = "LIST",
     .words = "@methods",
     .offset = FIELD(methods),
     .help = "the methods to time (default serial,threads,auto)"},
    {.name = "threads",
     .kind = OPTION_TEXT,
     .value = "LIST",
     .offset = FIELD(threads),
     .help = "the thread counts, such as 1,2,4 (default: every core); serial takes 1, auto and "
             "oneMKL the most"},
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
     .help = "solve for about S seconds with each method (default 0.3), five times at least"},
    {.name = "nrhs",
     .kind = OPTION_COUNT,
     .value = "K",
     .offset = FIELD(nrhs),
     .minimum = 1,
     .maximum = 4096,
     .help = "right-hand sides in a solve (default 1)"},
    {.name = "peer",
     .kind = OPTION_CHOICE,
     .words = "auto|none",
     .offset = FIELD(peer),
     .help = "whether to time oneMKL too where it is found (default auto)"},
    {.name = "compare",
     .kind = OPTION_FILE,
     .value = "BEFORE.json",
     .offset = FIELD(compare),
     .help = "run nothing; compare these results with those of the file that follows"},
    {.name = "table",
     .kind = OPTION_FILE,
     .value = "FILE.json",
     .offset = FIELD(table),
     .help = "run nothing; print results as Markdown tables"},
    {.name = "svg",
     .kind = OPTION_FILE,
     .value = "FILE",
     .offset = FIELD(svg),
     .help = "with --compare or --table: draw them"},
    {.name = "list",
     .kind = OPTION_FLAG,
     .offset = FIELD(list),
     .help = "list the suites, or the matrices of the suite that is named"},
    {.name = "json",
     .kind = OPTION_FLAG,
     .offset = FIELD(json),
     .help = "print the results as JSON lines, and failures as JSON"},
    {0}};

static const paragraph paragraphs[] = {
    {NULL,
     "Times the solve methods on a suite of matrices: 'cpu' (the default) is the one that results "
     "are published for, 'quick' takes seconds. SUITE may also be a file with one matrix a line, "
     "or one matrix: gen:NAME:SIZE, file:NAME, or factor:KIND[:ORDER]:MATRIX for L and U of a "
     "factorisation (KIND lu, ilu0, ic0 or triangle). Of matrices both triangles are taken, with "
     "diagonal entries where they have none. Files that are not there are skipped, said and "
     "counted."},
    {"Method",
     "All methods see the same arrays and the same random right-hand side. Analyses are the best "
     "of three. Solves are timed in five rounds, every method in each, so that a machine that "
     "drifts does so for all; the table shows the fastest. The answer of the last round is put "
     "back into the system: where the backward error is not small, the result is marked WRONG, "
     "counts nowhere, and the exit code is 1."},
    {"Results",
     "One JSON object a matrix, triangle, method and thread count, with commit, machine, time "
     "{create_s, analysis_s, update_s, solve_s {min, median}, repeats}, bytes, bound_s, gbs, "
     "backward_error, memory and reason. What does not apply is null. bench/peer_scipy.py adds "
     "SciPy to such a file."},
    {"Environment",
     "TRIREME_MATRICES is the folder of the files in a suite, TRIREME_SUITES a folder of suites, "
     "TRIREME_MKL the path of libmkl_rt where the loader does not find it, TRIREME_COMMIT the "
     "commit to record."},
    {"Examples",
     "  trireme bench quick\n"
     "  trireme bench --out after.json\n"
     "  trireme bench --compare before.json after.json --svg gain.svg\n"
     "  trireme bench factor:lu:nd:gen:poisson2d5:300 --threads 1,2 --nrhs 8\n"
     "  trireme bench --table after.json --svg bars.svg"},
    {0}};

const command cmd_bench = {
    .name = "bench",
    .synopsis = "[OPTIONS] [SUITE] | --compare BEFORE.json AFTER.json | --table FILE.json",
    .summary = "time every method, and compare results",
    .operand = "file",
    .max_operands = 1,
    .options = options,
    .paragraphs = paragraphs,
    .run = run};

static int check(const bench_settings *set, int operands) {
  if (set->compare && set->table)
    return leave_usage("bench", "give either --compare or --table, not both");
  if (set->compare && !operands)
    return leave_usage("bench", "--compare takes two files: BEFORE.json AFTER.json");
  if (set->table && operands) return leave_usage("bench", "--table takes one file");
  if ((set->table || set->compare) && set->json)
    return leave_usage("bench", "--json prints what a run finds: leave it out");
  if (set->svg && !set->compare && !set->table)
    return leave_usage("bench", "--svg draws what --compare or --table reads");
  if ((set->compare || set->table || set->out) && !bench_json_available())
    return leave(LEAVE_UNAVAILABLE, "unsupported", -1,
                 "files of results are not in this build: install libjansson-dev and build again");
  return -1;
}

static int run(int argc, char **argv) {
  bench_settings set = {.uplo = 2, .seconds = 0.3};
  int code = options_parse(&cmd_bench, &set, &argc, argv);
  if (code < 0) code = check(&set, argc);
  if (code >= 0) return code;
  if (argc) set.suite = argv[0];
  if (set.list) return bench_list(set.suite);
  if (set.compare) return bench_compare(set.compare, set.suite, set.svg);
  return set.table ? bench_table(set.table, set.svg) : bench_run(&set);
}
