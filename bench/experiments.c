/* experiments.c - the table of trireme-bench's experiments, with those of papers/experiments.def;
 * and the tables and the chart of an experiment from a file of results. */

#include <string.h>

#include "experiment.h"
#include "leave.h"
#include "lot.h"
#include "row.h"
#include "suite.h"
#if TRIREME_BENCH_PAPERS
#include "l23.h"
#endif

const bench_experiment bench_experiments[] = {
    {.name = "suites",
     .options = "|out|methods|backend|threads|uplo|seconds|nrhs|peer|peer-seconds|scalar|layout|"
                "store|tune|"
                "suite|compare|table|svg|list|json|",
     .place = BENCH_PLACE_ANY,
     .nrhs = {{1}, 1, 1},
     .run = bench_suites,
     .list = bench_list,
     .report = bench_suites_report,
     .draw = bench_suites_draw},
    {.name = "gpus",
     .title = "Several GPUs",
     .text =
         "'trireme bench gpus' compares 2, 4, 8 and 16 GPUs, as many as there are or as --backend "
         "cuda:0-3 "
         "names, with one GPU: auto with b and x on the first GPU, auto with b and x distributed "
         "as "
         "they are solved (spread), and zerocopy. --methods adds others, such as "
         "push:partition=bands. Several right-hand sides are timed only for systems with a "
         "parallelism of 5,000 or more. Then a system is solved that is larger than what plans may "
         "use "
         "of one GPU, beside a smaller one on one GPU with the same limit. Solves are launched one "
         "behind the other and timed by the host's clock, all methods of a system in rounds. The "
         "triangle is the lower one unless --uplo upper is given. The report ends with geometric "
         "means, worst cases, and the systems where more GPUs do not help, with the reason. A GPU "
         "that "
         "is named twice counts as two members; this is for testing the command.",
     .options = "|out|methods|backend|uplo|seconds|nrhs|suite|markdown|svg|list|json|",
     .place = BENCH_PLACE_GPUS,
     .seconds = 0.2,
     .nrhs = {{1, 64}, 64, 2},
     .run = bench_gpus,
     .list = bench_list,
     .report = bench_gpus_report,
     .draw = bench_gpus_draw},
    {.name = "lot",
     .title = "Systems drawn by lot",
     .text =
         "'trireme bench lot --seed N' times systems that nobody chose: the seed draws generators, "
         "sizes, shapes, orders, kinds of factors, one triangle of each, and files of the folder "
         "TRIREME_MATRICES, a fifth of the systems. The same seed and the same names of files give "
         "the same systems; --systems K takes the first K of them. --list prints the list, which "
         "is "
         "a suite in a file of its own. After the means the report has a table of the classes of "
         "systems and one of the ten worst systems, against the best peer: cuSPARSE on a GPU, "
         "oneMKL on the CPU, or, without it, the faster of serial and threads. Files that are no "
         "systems are skipped; larger files than 64 MB (16 MB compressed) are not drawn.",
     .options = "|out|methods|backend|threads|uplo|seconds|nrhs|peer|peer-seconds|scalar|layout|"
                "store|tune|"
                "seed|systems|svg|list|json|",
     .place = BENCH_PLACE_ANY,
     .nrhs = {{1}, 1, 1},
     .run = bench_lot,
     .draw_suite = bench_lot_draw,
     .report = bench_lot_report,
     .draw = bench_suites_draw},
    {.name = "tail",
     .title = "The slowest plans",
     .text =
         "'trireme bench tail --seed N' looks for plans on several threads that are slow: it draws "
         "systems as lot does, smaller ones, makes plans anew for each, and times serial, auto on "
         "one "
         "thread, and threads and auto on each number of --threads, in surroundings that take "
         "processors away: idle, stolen (one processor of 16 is taken for 3 ms of every 10), bound "
         "and busy (a busy process for each 16 processors, bound to one or not), crowded (twice as "
         "many busy processes as processors), cpuset (a processor of 16 is not in the affinity "
         "mask), "
         "quota (a cgroup with the time of three processors of four), spinning (a program whose "
         "team "
         "of threads spins), programs (many short programs). --parts names some of them. The "
         "report "
         "has the distribution, over the systems, of the time of auto over that of the better plan "
         "of "
         "one thread, all medians of solves.",
     .options = "|out|threads|uplo|seconds|suite|parts|seed|systems|list|json|",
     .place = BENCH_PLACE_ANY,
     .seconds = 0.05,
     .nrhs = {{1}, 1, 1},
     .run = bench_tail,
     .draw_suite = bench_tail_draw,
     .report = bench_tail_report},
    {.name = "blocks",
     .title = "Block ILU(0)",
     .text =
         "'trireme bench blocks' factors gen:wingmesh:60000 and gen:wingmesh:1100000 (about 30 GB "
         "of memory; another matrix with blocks of 5 with --suite) by block ILU(0) in the order of "
         "colours (of the caller with --suite natural:MATRIX, by reverse Cuthill-McKee with "
         "rcm:MATRIX), and solves with L and U by blocks in every way of storing. It compares the "
         "bandwidth, with every byte counted once, with that of a copy; the time with that of the "
         "fastest solve by scalars: `serial` on the CPU, every algorithm of cuSPARSE on a GPU; and "
         "the time of new values with that of a solve. Solutions are compared with those by "
         "scalars.",
     .options = "|out|backend|threads|seconds|peer|suite|list|json|",
     .place = BENCH_PLACE_ANY,
     .run = bench_blocks,
     .list = bench_blocks_list,
     .report = bench_blocks_report},
    {.name = "batches",
     .title = "Batches",
     .text =
         "'trireme bench batches' solves 10 to 10,000 systems with one pattern, in double "
         "precision. It prints a line per pattern and number of systems: the time of a solve, how "
         "many times as fast it is as others, the bandwidth with values, b and x counted once, the "
         "time of new values, and the largest backward error of three systems. The others are, "
         "with --backend cuda and all arrays in device memory, a plan of the block-diagonal "
         "matrix, the fastest algorithm of cuSPARSE's SpSV on it, and a CUDA graph of an SpSV per "
         "system, for up to 1000; on the CPU that plan, and, for up to 1000, a loop over a plan "
         "and over a handle of oneMKL per system.",
     .options = "|backend|threads|peer|list|",
     .place = BENCH_PLACE_ANY,
     .run = bench_batches,
     .list = bench_batches_list},
    {.name = "factors",
     .title = "LU factors on a GPU",
     .text =
         "'trireme bench factors' solves with the LU factors of a matrix, for 1 and 64 right-hand "
         "sides, and of 10 to 10,000 matrices with one pattern, in double precision with b and x "
         "in "
         "device memory, and compares with the solve phase of cuDSS with its own factors of the "
         "same matrices (TRIREME_CUDSS). It prints a line per case: the time of a solve, how many "
         "times as fast it is, the entries of both factors, the backward errors for A, and the "
         "times of the analysis and of cuDSS's analysis and factorisation. A list of GPUs, "
         "--backend cuda:0-3, compares 1, 2, 4, 8 and 16 of them, without the batches; the host's "
         "clock then times solves. --suite takes one other matrix.",
     .options = "|backend|peer|suite|list|",
     .place = BENCH_PLACE_DEVICES,
     .run = bench_factors,
     .list = bench_factors_list},
    {.name = "refactor",
     .title = "Incomplete factors of new values on a GPU",
     .text =
         "'trireme bench refactor' computes ILU(0) and IC(0) of new values in device memory, in "
         "double precision, and compares with csrilu02 and csric02 of cuSPARSE by the faster of "
         "their policies, and with the factorisation on the CPU. It prints a line per matrix and "
         "kind: the times of a caller who waits until the pivots are known, how many times as fast "
         "that is; that of the CPU with its update of a plan on the GPU; the update from device "
         "memory; the first call and cuSPARSE's analysis; and the largest difference from its "
         "factors over the largest value. --suite takes one other matrix, for ILU(0).",
     .options = "|backend|peer|suite|list|",
     .place = BENCH_PLACE_DEVICE,
     .run = bench_refactor,
     .list = bench_refactor_list},
#if TRIREME_BENCH_PAPERS
#include "experiments.def"
#endif
    {0}};

const bench_experiment *bench_experiment_of(const bench_rows *rows) {
  const char *suite = rows->count ? rows->row[0].suite : "";
  for (const bench_experiment *e = bench_experiments + 1; e->name; e++) {
    size_t length = strlen(e->name);
    if (!strncmp(suite, e->name, length) && (!suite[length] || suite[length] == ' ')) return e;
  }
  return bench_experiments;
}

int bench_table(const char *path, const char *svg) {
  bench_rows rows;
  int code = bench_rows_read(&rows, path);
  const bench_experiment *e = bench_experiment_of(&rows);
  if (code < 0 && svg && !e->draw)
    code = leave_usage("bench", "there is no chart of %s's results: leave out --svg", e->name);
  if (code < 0) e->report(&rows, true);
  if (code < 0 && svg) code = e->draw(&rows, svg);
  bench_rows_free(&rows);
  return code < 0 ? LEAVE_SOLVED : code;
}
