/* experiments.c - the table of trireme-bench's experiments; and the tables and the chart of an
 * experiment from a file of results. */

#include <string.h>

#include "experiment.h"
#include "l23.h"
#include "leave.h"
#include "row.h"
#include "suite.h"

const bench_experiment bench_experiments[] = {
    {.name = "suites",
     .options =
         "|out|methods|backend|threads|uplo|seconds|nrhs|peer|scalar|layout|store|tune|suite|"
         "compare|table|svg|list|json|",
     .place = BENCH_PLACE_ANY,
     .nrhs = {{1}, 1, 1},
     .run = bench_suites,
     .list = bench_list,
     .report = bench_suites_report,
     .draw = bench_suites_draw},
    {.name = "l17",
     .title = "L17",
     .text = "'trireme bench l17' repeats the measurements of L17's Figures 7 to 12 and Tables IV "
             "and V, "
             "beside cuSPARSE and the engine: SpTRSV rates by warps per block, with and without "
             "scratchpad, in single and double precision, forward and backward; SpTRSM by both "
             "strategies "
             "and the adaptive choice for 1 to 256 right-hand sides; the parameter p; and analysis "
             "times, "
             "also in multiples of a solve.",
     .options = "|out|backend|uplo|seconds|nrhs|peer|layout|tune|suite|markdown|svg|list|json|",
     .place = BENCH_PLACE_GPU,
     .seconds = 0.03,
     .nrhs = {{1}, 1, 1},
     .first_chart = "rates",
     .run = bench_l17,
     .list = bench_list,
     .report = bench_l17_report,
     .draw = bench_l17_draw},
    {.name = "l23",
     .title = "L23",
     .text =
         "'trireme bench l23' repeats L23's Figures 4 to 11: grid3d, also with inverted "
         "separators, "
         "grid3d-baseline and grid2d on near-square grids. The part real uses the ranks of this "
         "machine; it starts mpirun itself, or runs under mpirun with --suite FACTORS.h5. The part "
         "gpu "
         "(Figures 9 to 11) does the same with a GPU for each of 1 x 1 x Pz grids and, where every "
         "rank has a GPU of its own, on Px x 1 x Pz; its rows are measured "
         "(a "
         "GPU "
         "for each rank), shared (several ranks on a GPU, which slow each other down), or "
         "composed: "
         "the "
         "slowest grid's L- and U-solve, each timed alone on a GPU, and the exchange modelled from "
         "its "
         "bytes (5 us and 12.5 GB/s a step). The part "
         "model is an event-driven LogGP model of a Cori-like machine with up to 131,072 ranks. "
         "The "
         "part simulation runs the solver's source on the ranks of SimGrid's SMPI; it takes "
         "minutes to "
         "hours and runs only with --parts. The tables show the best grids; the minimum, mean and "
         "maximum over the ranks of the times between grids, inside grids and in products; "
         "messages "
         "and volume; and what Pz grids replicate. --suite takes another matrix, gen:NAME:SIZE. "
         "The "
         "parts real and gpu factor gen:poisson2d9:300 and gen:kkt3d:12; the others use the "
         "structure "
         "of the "
         "factors of gen:poisson2d9:2048, gen:kkt3d:64 and gen:elasticity3d:56,56,56.",
     .options = "|out|seconds|nrhs|suite|parts|ranks|grids|work|markdown|svg|list|json|",
     .place = BENCH_PLACE_OWN,
     .seconds = 0.3,
     .nrhs = {{1, 50}, 50, 2},
     .run = bench_l23,
     .list = bench_l23_list,
     .report = l23_report,
     .draw = l23_draw},
    {.name = "x20",
     .title = "X20",
     .text =
         "'trireme bench x20' repeats the measurements of X20's Figures 3, 7, 9 and 10 on all "
         "GPUs, "
         "at "
         "most 8, or on those of --backend cuda:0,1: managed memory by the number of GPUs; the "
         "four "
         "designs on 4 GPUs; 4 to 32 tasks per GPU; and 32 tasks in total (30 on 3, 5 or 6 GPUs, "
         "28 on "
         "7) by the number of GPUs, beside cuSPARSE on one; with the dependency and parallelism of "
         "every system and their correlation with the speedup. Page faults of managed memory "
         "(Figure 3a) are counted by bench/page_faults.c.",
     .options = "|out|backend|uplo|seconds|nrhs|peer|layout|tune|suite|markdown|svg|list|json|",
     .place = BENCH_PLACE_GPUS,
     .seconds = 0.03,
     .nrhs = {{1}, 1, 1},
     .first_chart = "designs",
     .run = bench_x20,
     .list = bench_list,
     .report = bench_x20_report,
     .draw = bench_x20_draw},
    {.name = "gpus",
     .title = "Several GPUs",
     .text =
         "'trireme bench gpus' compares 2, 4 and 8 GPUs, as many as there are or as --backend "
         "cuda:0-3 "
         "names, with one GPU: auto with b and x on the first GPU, auto with b and x distributed "
         "as "
         "they are solved (spread), and X20's zerocopy. --methods adds others, such as "
         "push:partition=cyclic. Several right-hand sides are timed only for systems with a "
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
    {.name = "w21",
     .title = "W21",
     .text =
         "'trireme bench w21' relaxes W21's case (gen:wingmesh:1100000, about 10 GB of memory; "
         "another "
         "with --suite gen:wingmesh:N) with 15 sweeps on the CPU, for every way of storing and "
         "each of "
         "--threads, and compares the bandwidth, with every byte counted once, with that of a "
         "copy. "
         "With --backend cuda it times W21's six variants and the library's own on a GPU "
         "(--methods "
         "names others, as trs_relax_options does), every way of storing, block sizes 3 to 8, and "
         "cuSPARSE's bsrmv with cuBLAS's batched triangular solves, and checks all of them against "
         "the "
         "CPU's sweeps. With --backend cuda:0-3 it uses the first GPU, the first two, four and so "
         "on "
         "up to all, and checks that x has the same bits as on one GPU.",
     .options = "|out|methods|backend|threads|peer|suite|list|json|",
     .place = BENCH_PLACE_LIST,
     .run = bench_w21,
     .list = bench_w21_list,
     .report = bench_w21_report},
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
    {0}};

/* The experiment of the rows: their suite is its name, alone or followed by a word. */
static const bench_experiment *find(const bench_rows *rows) {
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
  const bench_experiment *e = find(&rows);
  if (code < 0 && svg && !e->draw)
    code = leave_usage("bench", "there is no chart of %s's results: leave out --svg", e->name);
  if (code < 0) e->report(&rows, true);
  if (code < 0 && svg) code = e->draw(&rows, svg);
  bench_rows_free(&rows);
  return code < 0 ? LEAVE_SOLVED : code;
}
