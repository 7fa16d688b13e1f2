/* cmd_methods.c - trireme methods: all methods by the place where they run, and whether this build
 * and this machine can run them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "leave.h"
#include "output.h"

static const option options[] = {{0}};

static const paragraph paragraphs[] = {
    {NULL,
     "Lists every method by the place where it runs, and says for each place whether this build "
     "and this machine can run its methods, and if not, why. 'trireme solve --method NAME' forces "
     "a method; without it, the solve chooses by the matrix and the machine and says why. 'trireme "
     "relax --variant NAME' forces a GPU kernel of relaxation."},
    {0}};

/* ---- NULL, or the reason why methods cannot run. ---- */

static const char *no_reason(void) { return NULL; }

static const char *no_context(const char *name) {
  static char why[600];
  trs_context *ctx;
  trs_status status = trs_context_create(&ctx, name);
  snprintf(why, sizeof why, "%s", status ? trs_last_error()->message : "");
  if (!status) trs_context_destroy(ctx);
  return status ? why : NULL;
}

/* Of trs_features. */
static bool has(const char *feature) {
  const size_t length = strlen(feature);
  for (const char *line = trs_features(); *line; line += line[strcspn(line, "\n")] != 0) {
    if (!strncmp(line, feature, length) && line[length] == ' ')
      return !strncmp(line + length + strspn(line + length, " "), "yes", 3);
    line += strcspn(line, "\n");
  }
  return false;
}

/* A build has the GPUs of one vendor. */
static const char *gpu_context(void) { return has("HIP") ? "hip" : "cuda"; }
static const char *no_gpu(void) { return *trs_device_list() ? NULL : no_context(gpu_context()); }

static bool in_path(const char *program) {
  const char *path = getenv("PATH");
  char file[4096];
  while (path && *path) {
    size_t length = strcspn(path, ":");
    snprintf(file, sizeof file, "%.*s/%s", (int)length, path, program);
    if (!access(file, X_OK)) return true;
    path += length + (path[length] == ':');
  }
  return false;
}

static const char *no_ranks(void) {
#if TRIREME_CLI_MPI
  return in_path("mpirun") ? NULL : "there is no mpirun in PATH: install openmpi-bin";
#else
  (void)in_path;
  return "this build has no MPI: install libopenmpi-dev and openmpi-bin and build Trireme from "
         "source";
#endif
}

/* ---- The groups ---- */

/* Methods that the library's list does not contain, one per line as print_list expects. */
static const char ranks[] =
    "grid3d  several grids, one exchange between them (Liu et al. 2023, Algorithm 1)\n"
    "grid2d  one grid (Liu et al. 2023)\n";
static const char ranks_of_papers[] =
    "grid3d-baseline  several grids, level by level over the separator tree (Liu et al. 2023, "
    "2.2)\n";
static const char relaxation_on_cpu[] = "threads  rows of one colour shared among the threads\n";
static const char relaxation_on_gpu[] =
    "slices  one launch for all colours, for blocks of 1 to 8\n"
    "rows    one launch per colour, several block rows per warp, for blocks of 1 to 32\n";
static const char relaxation_of_papers[] =
    "thread-row               one thread per block row (Walden et al. 2021)\n"
    "warp-row                 one warp per block row, then a launch for the diagonal (Walden et "
    "al. 2021)\n"
    "warp-row-l2              warp-row, x kept in the L2 cache (Walden et al. 2021)\n"
    "warp-row-fused           one warp per block row, with its diagonal (Walden et al. 2021)\n"
    "warp-row-fused-l2        warp-row-fused, x kept in the L2 cache (Walden et al. 2021)\n"
    "warp-row-fused-l2-async  the same, the diagonal copied asynchronously (Walden et al. 2021)\n"
    "warp-six-rows            one warp for six block rows (Walden et al. 2021)\n"
    "warp-six-rows-l2         warp-six-rows, x kept in the L2 cache (Walden et al. 2021)\n"
    "warp-six-rows-l2-async   warp-six-rows-l2, the diagonal copied asynchronously (Walden et al. "
    "2021)\n"
    "warp-six-rows-prefetch   warp-six-rows, x of a row's next block ahead in shared memory "
    "(Walden et al. 2021)\n";

static const struct {
  const char *title, *call, *list, *of_papers;
  const char *(*refuses)(void);
} groups[] = {
    {"Solves on MPI ranks (factors)", "mpirun -np 8 trireme solve --grid 2x2x2", ranks,
     ranks_of_papers, no_ranks},
    {"Relaxation on the CPU", "trireme relax", relaxation_on_cpu, "", no_reason},
    {"Relaxation on a GPU", "trireme relax --backend cuda --variant NAME", relaxation_on_gpu,
     relaxation_of_papers, no_gpu},
};

static void print_group(const char *title, const char *call, const char *list, const char *why) {
  printf("%s%s%s: %s\n", style_on(STYLE_BOLD), title, style_off(), call);
  if (why) {
    printf("%snot available: ", style_on(STYLE_BAD));
    print_hanging(why, 15);
    printf("%s", style_off());
  }
  print_list(list);
}

/* True if a line of the library's list is a method of a paper that this build leaves out. */
static bool left_out(const char *line) {
  const char *said = strstr(line, "TRIREME_WITH_PAPERS");
  return said && said < line + strcspn(line, "\n");
}

/* The library's methods of a backend, "NAME  SUMMARY" per line. */
static void collect(char *list, size_t size, const char *backend) {
  char name[64], of[32], summary[256];
  size_t used = 0;
  *list = 0;
  for (const char *line = trs_method_list(); *line; line += line[strcspn(line, "\n")] != 0) {
    int got = left_out(line) ? 0 : sscanf(line, "%63s %31s %255[^[\n]", name, of, summary);
    line += strcspn(line, "\n");
    if (got == 3 && !strcmp(of, backend) && used < size)
      used += (size_t)snprintf(list + used, size - used, "%s  %s\n", name, summary);
  }
}

static void print_backends(void) {
  char backend[32], contexts[64], place[64], title[80], call[100], list[4096];
  for (const char *line = trs_backend_list(); *line; line += line[strcspn(line, "\n")] != 0) {
    int got = sscanf(line, "%31s %63s %63[^\n]", backend, contexts, place);
    line += strcspn(line, "\n");
    if (got != 3) continue;
    if (!strcmp(backend, "cuda")) snprintf(contexts, sizeof contexts, "%s", gpu_context());
    collect(list, sizeof list, backend);
    snprintf(title, sizeof title, "Solves on %s", place);
    snprintf(call, sizeof call, "trireme solve --backend %s", contexts);
    contexts[strcspn(contexts, ":|")] = 0;
    print_group(title, call, list, no_context(contexts));
    printf("\n");
  }
}

static void print_left_out(void) {
  char name[64], text[600] =
                     "Methods of papers, on GPUs, on ranks and of relaxation, are left "
                     "out of this build:";
  const size_t begin = strlen(text);
  size_t used = begin;
  for (const char *line = trs_method_list(); *line; line += line[strcspn(line, "\n")] != 0) {
    char one[68] = "";
    if (left_out(line) && sscanf(line, "%63s", name) == 1) snprintf(one, sizeof one, " %s,", name);
    line += strcspn(line, "\n");
    if (*one && !strstr(text, one) && used < sizeof text)
      used += (size_t)snprintf(text + used, sizeof text - used, "%s", one);
  }
  if (used == begin || used >= sizeof text) return;
  snprintf(text + used - 1, sizeof text - used + 1, ". -DTRIREME_WITH_PAPERS=ON has them.");
  printf("\n");
  print_hanging(text, 0);
}

static int run(int argc, char **argv) {
  int code = options_parse(&cmd_methods, NULL, &argc, argv);
  if (code >= 0) return code;
  print_backends();
  for (size_t k = 0; k < sizeof groups / sizeof *groups; k++) {
    if (k) printf("\n");
    const bool on_amd = groups[k].refuses == no_gpu && has("HIP");
    print_group(groups[k].title,
                on_amd ? "trireme relax --backend hip --variant NAME" : groups[k].call,
                groups[k].list, groups[k].refuses());
    if (has("papers")) print_list(groups[k].of_papers);
  }
  print_left_out();
  return LEAVE_SOLVED;
}

const command cmd_methods =
    COMMAND_OF("methods", "", "list the methods, and which of them can run here", NULL, 0, 0);
