/* l23.c - trireme bench l23: L23's Figures 4 to 11.  Real ranks run this command again, under
 * mpirun; simulated ranks run on SimGrid (trireme-smpi under smpirun); trireme-simulate provides
 * the LogGP model and structures of factors.  These two programs are in the folder of the command.
 * The matrices: the stand-ins below, one matrix, or those of a suite that are there. */
#include "l23.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "experiment.h"
#include "leave.h"
#include "output.h"
#include "program.h"
#include "progress.h"
#include "run.h"
#include "suite.h"

enum { MOST_SOLVES = 512, MOST_WORDS = MOST_SOLVES + 64, PER_NODE = 32 };

static const struct {
  const char *name, *generator;
} systems[] = {{"s2D9pt2048-subtrees60", "gen:poisson2d9:2048"},
               {"kkt3d64-subtrees60", "gen:kkt3d:64"},
               {"elasticity3d56-subtrees60", "gen:elasticity3d:56,56,56"}};
enum { NSYSTEMS = 3, MOST_SYSTEMS = 16 };

/* What a pair (P, Pz) is solved by: L23's layout is :scattered.  The first three are L23's
 * baseline, and that one with look-ahead and with binary trees; then L23's solve with Algorithm 2
 * and with pairwise exchange; ours. */
static const struct {
  const char *method, *how;
} solves[] = {{"grid3d-baseline:lookahead=0", ":flat:scattered"},
              {"grid3d-baseline", ":flat:scattered"},
              {"grid3d-baseline", ":scattered"},
              {"grid3d:algorithm=2", ":scattered"},
              {"grid3d", ":scattered"},
              {"grid3d", ""}};
/* The same with one grid: L23's is 2D with trees.  And with separators inverted: ours alone. */
static const int with_one_grid[] = {0, 3, 5}, inverted_ones[] = {5};
enum { NSOLVES = 6 };
static const char *const real_systems[] = {"gen:poisson2d9:300", "gen:kkt3d:12"};

typedef struct l23 {
  const bench_settings *set;
  char work[1024];
  bool own_work; /* created by this run, and removed */
  bench_counts ranks;
  struct {
    char name[64], matrix[1100];
  } system[MOST_SYSTEMS];
  int systems;
  bench_rows rows;
  FILE *out;
  struct { /* the program in progress */
    char label[80];
    double begin, span; /* its fraction of the run */
    int lines, expected;
  } now;
} l23;

/* ---- Other programs. ---- */

typedef struct words {
  const char *at[MOST_WORDS];
  char text[MOST_SOLVES][64]; /* targets of the files */
  int count, texts;
} words;

static void add(words *w, const char *word) {
  if (w->count < MOST_WORDS - 1) w->at[w->count++] = word;
}

static char *new_text(words *w) { return w->text[w->texts < MOST_SOLVES ? w->texts++ : 0]; }

static void be_program(const words *w, int output) {
  /* Settings of Open MPI for more ranks than cores, for few ranks, whose analyses take all cores,
   * for root, and for containers; other MPI libraries ignore them. */
  static const char *const set[][2] = {{"OMPI_ALLOW_RUN_AS_ROOT", "1"},
                                       {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
                                       {"OMPI_MCA_rmaps_base_oversubscribe", "1"},
                                       {"OMPI_MCA_hwloc_base_binding_policy", "none"},
                                       {"OMPI_MCA_mpi_yield_when_idle", "1"},
                                       {"OMPI_MCA_btl_vader_single_copy_mechanism", "none"}};
  for (size_t k = 0; k < sizeof set / sizeof *set; k++) setenv(set[k][0], set[k][1], 0);
  FILE *none = freopen("/dev/null", "r", stdin);
  if (none && dup2(output, STDOUT_FILENO) >= 0) execvp(w->at[0], (char *const *)w->at);
  _exit(127);
}

static void set_progress(l23 *run, const char *label, double begin, double span, int expected) {
  snprintf(run->now.label, sizeof run->now.label, "%s", label);
  run->now.begin = begin;
  run->now.span = span;
  run->now.lines = 0;
  run->now.expected = expected;
}

/* Waits for the next line, and updates the progress display in the meantime. */
static void await(const l23 *run, FILE *from) {
  struct pollfd end = {.fd = fileno(from), .events = POLLIN};
  double share = run->now.expected ? (double)run->now.lines / run->now.expected : 0;
  do progress_show(NULL, run->now.label, run->now.begin + run->now.span * (share < 1 ? share : 1));
  while (poll(&end, 1, 200) == 0);
}

/* Passes each printed line to take; lines other than JSON are skipped. */
static int run_program(l23 *run, words *w, int (*take)(l23 *, const char *)) {
  int ends[2], state = 0, code = -1;
  char *line = NULL;
  size_t room = 0;
  w->at[w->count] = NULL;
  fflush(NULL);
  if (pipe(ends)) return leave(LEAVE_BUG, "internal", -1, "no pipe: %s", strerror(errno));
  pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    be_program(w, ends[1]);
  }
  close(ends[1]);
  FILE *from = fdopen(ends[0], "r");
  if (from) setvbuf(from, NULL, _IONBF, 0); /* so that no data are left there while poll waits */
  while (child > 0 && from && (await(run, from), getline(&line, &room, from) > 0)) {
    run->now.lines++;
    if (line[0] == '{' && take && code < 0) code = take(run, line);
  }
  if (from) fclose(from);
  free(line);
  if (child < 0 || waitpid(child, &state, 0) < 0)
    return leave(LEAVE_BUG, "internal", -1, "%s cannot be started: %s", w->at[0], strerror(errno));
  if (WIFEXITED(state) && WEXITSTATUS(state) == 127)
    return leave(LEAVE_UNAVAILABLE, "unsupported", -1, "there is no program %s", w->at[0]);
  if (code < 0 && (!WIFEXITED(state) || WEXITSTATUS(state) != 0))
    return leave(WIFEXITED(state) && WEXITSTATUS(state) < 6 ? WEXITSTATUS(state) : LEAVE_BUG,
                 "internal", -1, "%s%s%s%s%s failed", w->at[0], w->count > 1 ? " " : "",
                 w->count > 1 ? w->at[1] : "", w->count > 2 ? " " : "",
                 w->count > 2 ? w->at[2] : "");
  return code;
}

/* ---- Rows. ---- */

static void publish_last(const l23 *run) {
  const bench_row *row = &run->rows.row[run->rows.count - 1];
  if (run->out) bench_row_write(run->out, row);
  if (run->set->json) bench_row_write(stdout, row);
}

static int keep_line(l23 *run, const char *line) {
  int code = bench_rows_add_line(&run->rows, "a result of l23", line);
  if (code < 0) publish_last(run);
  return code;
}

/* ---- Grids. ---- */

static void add_solve(words *w, int solve, int64_t ranks, int px, int py, int64_t nrhs) {
  char *text = new_text(w);
  int pz = (int)(ranks / ((int64_t)px * py));
  const char *method = pz == 1 && solve == 3 ? "grid2d" : solves[solve].method;
  snprintf(text, sizeof w->text[0], "%s:%dx%dx%d:%lld%s", method, px, py, pz, (long long)nrhs,
           solves[solve].how);
  add(w, text);
}

/* Near-square grids, Pz = 1 to 32 as in Figure 4; beyond its 2048 ranks 8 to 256. */
static void add_shapes(words *w, int64_t ranks, int64_t nrhs, bool inverted) {
  enum { L23S_MOST = 2048, L23S_PZ = 32, MOST_PZ = 256 };
  const bool beyond = ranks > L23S_MOST;
  for (int64_t pz = beyond ? 8 : 1; pz <= ranks && pz <= (beyond ? MOST_PZ : L23S_PZ); pz *= 2) {
    int px, py;
    if (ranks % pz) continue;
    l23_square(ranks / pz, &px, &py);
    int count = inverted ? 1 : pz == 1 ? 3 : NSOLVES;
    for (int k = 0; k < count; k++)
      add_solve(w,
                inverted  ? inverted_ones[k]
                : pz == 1 ? with_one_grid[k]
                          : k,
                ranks, px, py, nrhs);
  }
}

static int64_t ranks_of(const char *solve) {
  int px = 0, py = 0, pz = 0;
  for (const char *colon = strchr(solve, ':'); colon; colon = strchr(colon + 1, ':'))
    if (sscanf(colon + 1, "%dx%dx%d", &px, &py, &pz) == 3) return (int64_t)px * py * pz;
  return 0;
}

/* The grids of --grids with the given number of ranks; 0: all. */
static void add_wanted(words *w, const char *list, int64_t ranks) {
  while (*list) {
    int length = (int)strcspn(list, ",");
    char *text = new_text(w);
    snprintf(text, sizeof w->text[0], "%.*s", length, list);
    if (!ranks || ranks_of(text) == ranks) add(w, text);
    list += length + (list[length] == ',');
  }
}

static bool exists(const char *path) { return access(path, R_OK) == 0; }

/* ---- Matrices. ---- */

static void add_system(l23 *run, const char *name, const char *matrix) {
  if (run->systems == MOST_SYSTEMS) return;
  snprintf(run->system[run->systems].name, sizeof run->system->name, "%s", name);
  snprintf(run->system[run->systems++].matrix, sizeof run->system->matrix, "%s", matrix);
}

/* "gen:kkt3d:5" is kkt3d:5, "/tmp/ldoor.mtx.gz" is ldoor. */
static void add_matrix(l23 *run, const char *matrix) {
  char name[64];
  const char *slash = strrchr(matrix, '/');
  bool generated = !strncmp(matrix, "gen:", 4);
  snprintf(name, sizeof name, "%s", generated ? matrix + 4 : slash ? slash + 1 : matrix);
  if (!generated) name[strcspn(name, ".")] = 0;
  add_system(run, name, matrix);
}

/* "file:NAME" is a file in the folder of matrices, compressed or not; if it is not there, it is
 * skipped. */
static void add_entry(l23 *run, const char *entry) {
  const char *folder = getenv("TRIREME_MATRICES");
  char path[1100];
  if (strncmp(entry, "file:", 5) != 0) {
    add_matrix(run, entry);
    return;
  }
  const bool whole = entry[5] == '/' || !folder || !*folder;
  snprintf(path, sizeof path, "%s%s%s", whole ? "" : folder, whole ? "" : "/", entry + 5);
  size_t length = strlen(path);
  if (!exists(path) && length > 3 && !strcmp(path + length - 3, ".gz")) path[length - 3] = 0;
  if (exists(path))
    add_matrix(run, path);
  else
    notify("bench: %s is not in TRIREME_MATRICES: skipped", entry + 5);
}

static bool is_suite(const char *name) {
  size_t length = strlen(name);
  return !strpbrk(name, ":/.") || (length > 4 && !strcmp(name + length - 4, ".txt"));
}

static int list_systems(l23 *run, bool real) {
  const char *own = run->set->suite;
  bench_suite suite;
  int code = -1;
  run->systems = 0;
  if (own && is_suite(own)) {
    code = bench_suite_read(&suite, own);
    for (int64_t i = 0; code < 0 && i < suite.count; i++) add_entry(run, suite.entry[i]);
    bench_suite_free(&suite);
  } else if (own) {
    add_entry(run, own);
  } else {
    for (int k = 0; k < (real ? 2 : NSYSTEMS); k++)
      if (real)
        add_matrix(run, real_systems[k]);
      else
        add_system(run, systems[k].name, systems[k].generator);
  }
  return code;
}

/* ---- Structures, the model, simulations. ---- */

static int make_structure(l23 *run, const char *generator, const char *path, bool inverted) {
  char tool[1200], made[1200];
  words w = {0};
  snprintf(made, sizeof made, "%s+inverted", path);
  program_beside(tool, sizeof tool, TRIREME_HELPERS_PATH "/trireme-simulate");
  add(&w, tool);
  if (inverted) {
    add(&w, "invert");
    add(&w, path);
    add(&w, made);
    return exists(made) ? -1 : run_program(run, &w, NULL);
  }
  /* subtrees of 60 columns as one supernode, as SuperLU_DIST makes them */
  const char *rest[] = {"structure", generator, path, "leaves=256", "width=64", "subtrees=60"};
  for (int k = 0; k < 6; k++) add(&w, rest[k]);
  return exists(path) ? -1 : run_program(run, &w, NULL);
}

static void add_options(words *w) {
  /* simulate/machine.h defines the cost of a message for a rank; the platform defines the
   * network's part. */
  static const char *const options[] = {"smpi/simulate-computation:no",
                                        "smpi/host-speed:1",
                                        "smpi/wtime:0",
                                        "smpi/cpu-threshold:0",
                                        "smpi/bw-factor:0:1",
                                        "smpi/lat-factor:0:1",
                                        "network/bandwidth-factor:1",
                                        "network/latency-factor:1",
                                        "smpi/os:0:3.5e-7:1e-10",
                                        "smpi/or:0:3.5e-7:1e-10",
                                        "smpi/ois:0:3.5e-7:1e-10",
                                        "network/TCP-gamma:1e9",
                                        "smpi/async-small-thresh:100000000",
                                        "smpi/send-is-detached-thresh:100000000",
                                        "network/crosstraffic:0",
                                        "contexts/factory:raw",
                                        "contexts/stack-size:64"};
  for (size_t k = 0; k < sizeof options / sizeof *options; k++) {
    char *text = new_text(w);
    snprintf(text, sizeof w->text[0], "--cfg=%s", options[k]);
    add(w, text);
  }
  add(w, "--log=root.thres:error");
}

static int write_hosts(const l23 *run, char *path, size_t size, int64_t ranks) {
  snprintf(path, size, "%s/hosts", run->work);
  FILE *file = fopen(path, "w");
  for (int64_t r = 0; file && r < ranks; r++) fprintf(file, "nid%lld\n", (long long)r / PER_NODE);
  if (file && !fclose(file)) return -1;
  return leave(LEAVE_INPUT, trs_status_name(TRS_ERROR_FILE), -1, "%s: %s", path, strerror(errno));
}

/* Each grid is a separate run, so that its memory is freed before the next. */
static int simulate_one(l23 *run, const char *name, const char *path, const char *solve) {
  char program[1200], platform[1200], hosts[1200], count[32];
  words w = {0};
  int64_t ranks = ranks_of(solve);
  program_beside(program, sizeof program, TRIREME_HELPERS_PATH "/trireme-smpi");
  program_beside(platform, sizeof platform, TRIREME_SUITES_PATH "/../platforms/cori.xml");
  if (!exists(program))
    return leave(LEAVE_UNAVAILABLE, "unsupported", -1,
                 "simulations need SimGrid, which is not in this build: install libsimgrid-dev and "
                 "build again");
  int code = write_hosts(run, hosts, sizeof hosts, ranks);
  if (code >= 0) return code;
  snprintf(count, sizeof count, "%lld", (long long)ranks);
  const char *first[] = {"smpirun",   "-no-privatize", "-platform", platform,
                         "-hostfile", hosts,           "-np",       count};
  for (size_t k = 0; k < sizeof first / sizeof *first; k++) add(&w, first[k]);
  add_options(&w);
  const char *last[] = {program, name, path, solve};
  for (int k = 0; k < 4; k++) add(&w, last[k]);
  return run_program(run, &w, keep_line);
}

/* The solves requested of one structure. */
static void list_solves(const l23 *run, words *w, bool inverted) {
  for (int k = 0; k < run->ranks.count; k++) {
    int64_t ranks = run->ranks.value[k];
    if (run->set->grids)
      add_wanted(w, run->set->grids, run->set->ranks ? ranks : 0);
    else
      add_shapes(w, ranks, run->set->nrhs.value[0], inverted);
    if (run->set->grids && !run->set->ranks) return;
  }
}

static int play(l23 *run, const char *name, const char *path, bool simulated, bool inverted) {
  char tool[1200];
  words wanted = {0}, w = {0};
  int code = -1;
  const double begin = run->now.begin, span = run->now.span;
  list_solves(run, &wanted, inverted);
  for (int k = 0; simulated && k < wanted.count && code < 0; k++) {
    set_progress(run, name, begin + span * k / wanted.count, span / wanted.count, 1);
    code = simulate_one(run, name, path, wanted.at[k]);
  }
  set_progress(run, name, begin, span, wanted.count);
  if (simulated || !wanted.count) return code;
  program_beside(tool, sizeof tool, TRIREME_HELPERS_PATH "/trireme-simulate");
  const char *first[] = {tool, "loggp", name, path};
  for (int k = 0; k < 4; k++) add(&w, first[k]);
  for (int k = 0; k < wanted.count; k++) add(&w, wanted.at[k]);
  return run_program(run, &w, keep_line);
}

static int run_structure(l23 *run, const char *name, const char *generator, bool simulated,
                         double begin, double span) {
  char path[1400], inverted[1500], label[80];
  snprintf(path, sizeof path, "%s/%s", run->work, name);
  snprintf(inverted, sizeof inverted, "%s+inverted", path);
  snprintf(label, sizeof label, "%s+inverted", name);
  set_progress(run, name, begin, 0.3 * span, 2);
  int code = make_structure(run, generator, path, false);
  if (code < 0) code = make_structure(run, generator, path, true);
  set_progress(run, name, begin + 0.3 * span, 0.4 * span, 1);
  if (code < 0) code = play(run, name, path, simulated, false);
  set_progress(run, label, begin + 0.7 * span, 0.3 * span, 1);
  return code < 0 ? play(run, label, inverted, simulated, true) : code;
}

static void use_ranks(l23 *run, const bench_counts *usual) {
  run->ranks = run->set->ranks ? run->set->rank_counts : *usual;
}

static int run_structures(l23 *run, bool simulated, double begin, double span) {
  static const bench_counts modelled = {{128, 256, 512, 1024, 2048}, 2048, 5};
  static const bench_counts simulation = {{128}, 128, 1};
  int code = list_systems(run, false);
  use_ranks(run, simulated ? &simulation : &modelled);
  for (int k = 0; k < run->systems && code < 0; k++)
    code = run_structure(run, run->system[k].name, run->system[k].matrix, simulated,
                         begin + span * k / run->systems, span / run->systems);
  return code;
}

/* ---- Which parts. ---- */

/* True if it is the first word of the list. */
static bool begins_with(const char *list, const char *word) {
  size_t length = strlen(word);
  return !strncmp(list, word, length) && (!list[length] || list[length] == ',');
}

static bool has_part(const bench_settings *set, const char *part) {
  const char *list = set->parts ? set->parts : "real,model";
  for (; list; list = strchr(list, ',')) {
    list += *list == ',';
    if (begins_with(list, part)) return true;
  }
  return false;
}

/* ---- Real ranks. ---- */

/* True if an MPI launcher has started this process. */
static bool is_among_ranks(void) {
  return getenv("OMPI_COMM_WORLD_SIZE") || getenv("PMI_SIZE") || getenv("PMIX_RANK");
}

static void put_real(void *user, const bench_row *row) {
  l23 *run = user;
  if (bench_rows_add(&run->rows, row) < 0) publish_last(run);
}

/* This process is one of the ranks. */
static int run_rank(l23 *run) {
  const char *path = run->set->suite;
  char name[64];
  if (!path || !strncmp(path, "gen:", 4))
    return leave_usage("bench", "under mpirun l23 solves with factors: --suite FACTORS.h5");
  const char *slash = strrchr(path, '/');
  snprintf(name, sizeof name, "%s", slash ? slash + 1 : path);
  name[strcspn(name, ".")] = 0;
  return l23_real(run->set, path, name, has_part(run->set, "gpu"), put_real, run);
}

static int make_factors(l23 *run, const char *matrix, char *path, size_t size) {
  char trireme[1100];
  words w = {0};
  trs_content content;
  if (!trs_file_content(&content, matrix) && content == TRS_CONTENT_FACTORS) {
    snprintf(path, size, "%s", matrix);
    return -1;
  }
  const char *slash = strrchr(matrix, '/');
  const char *base = slash ? slash + 1 : !strncmp(matrix, "gen:", 4) ? matrix + 4 : matrix;
  snprintf(path, size, "%s/%.*s.h5", run->work, (int)strcspn(base, "."), base);
  if (exists(path)) return -1;
  program_beside(trireme, sizeof trireme, "trireme");
  const char *line[] = {trireme, "factor", matrix, "-o", path, "--leaves", "16"};
  for (int k = 0; k < 7; k++) add(&w, line[k]);
  return run_program(run, &w, NULL);
}

static int read_rows(l23 *run, const char *path) {
  FILE *file = fopen(path, "r");
  char *line = NULL;
  size_t room = 0;
  int code = -1;
  while (file && code < 0 && getline(&line, &room, file) > 0) code = keep_line(run, line);
  free(line);
  if (file) fclose(file);
  return code;
}

static int start_ranks(l23 *run, const char *factors, int64_t ranks, const char *part) {
  char self[1024], rows[1200], count[32], nrhs[256] = "", seconds[32];
  words w = {0};
  program_self(self, sizeof self);
  snprintf(rows, sizeof rows, "%s/rows.json", run->work);
  snprintf(count, sizeof count, "%lld", (long long)ranks);
  snprintf(seconds, sizeof seconds, "%g", run->set->seconds);
  for (int k = 0; k < run->set->nrhs.count; k++)
    snprintf(nrhs + strlen(nrhs), sizeof nrhs - strlen(nrhs), "%s%lld", k ? "," : "",
             (long long)run->set->nrhs.value[k]);
  const char *line[] = {"mpirun",  "-np",       count,    self,      "l23",
                        "--suite", factors,     "--nrhs", nrhs,      "--out",
                        rows,      "--seconds", seconds,  "--parts", part};
  for (size_t k = 0; k < sizeof line / sizeof *line; k++) add(&w, line[k]);
  int code = run_program(run, &w, NULL);
  if (code < 0) code = read_rows(run, rows);
  unlink(rows);
  return code;
}

/* part: real or gpu. */
static int run_real(l23 *run, const char *part, double begin, double span) {
  static const bench_counts usual = {{1, 2, 4, 8, 16}, 16, 5};
  int code = list_systems(run, true);
  use_ranks(run, &usual);
  for (int s = 0; s < run->systems && code < 0; s++) {
    char factors[1200];
    const char *matrix = run->system[s].matrix;
    double each = span / run->systems, step = each / (run->ranks.count + 1);
    set_progress(run, matrix, begin + each * s, step, 1);
    code = make_factors(run, matrix, factors, sizeof factors);
    for (int k = 0; k < run->ranks.count && code < 0; k++) {
      set_progress(run, matrix, begin + each * s + step * (k + 1), step, 1);
      code = start_ranks(run, factors, run->ranks.value[k], part);
    }
  }
  return code;
}

/* ---- All. ---- */

static bool is_part(const char *list) {
  static const char *const parts[] = {"real", "gpu", "model", "simulation"};
  for (int k = 0; k < 4; k++)
    if (begins_with(list, parts[k])) return true;
  return false;
}

static int open_work(l23 *run) {
  const char *folder = getenv("TMPDIR");
  run->own_work = !run->set->work;
  if (run->set->work) {
    snprintf(run->work, sizeof run->work, "%s", run->set->work);
    if (!mkdir(run->work, 0777) || errno == EEXIST) return -1;
  } else {
    snprintf(run->work, sizeof run->work, "%s/trireme-l23-XXXXXX", folder ? folder : "/tmp");
    if (mkdtemp(run->work)) return -1;
  }
  return leave(LEAVE_INPUT, trs_status_name(TRS_ERROR_FILE), -1, "%s: %s", run->work,
               strerror(errno));
}

static void close_work(l23 *run) {
  words w = {0};
  if (!run->own_work) return;
  const char *line[] = {"rm", "-rf", run->work};
  for (int k = 0; k < 3; k++) add(&w, line[k]);
  (void)run_program(run, &w, NULL);
}

static int run_parts(l23 *run) {
  int code = open_work(run);
  if (code >= 0) return code;
  bool real = has_part(run->set, "real"), gpu = has_part(run->set, "gpu"),
       model = has_part(run->set, "model"), simulation = has_part(run->set, "simulation");
  double each = 1.0 / (real + gpu + model + simulation);
  progress_begin();
  if (real) code = run_real(run, "real", 0, each);
  if (code < 0 && gpu) code = run_real(run, "gpu", each * real, each);
  if (code < 0 && model) code = run_structures(run, false, each * (real + gpu), each);
  if (code < 0 && simulation) code = run_structures(run, true, 1 - each, each);
  progress_end();
  close_work(run);
  return code;
}

static int check(const bench_settings *set) {
  for (const char *list = set->parts; list; list = strchr(list, ',')) {
    list += *list == ',';
    if (!is_part(list))
      return leave_usage("bench", "--parts takes real, gpu, model and simulation, not '%.*s'",
                         (int)strcspn(list, ","), list);
  }
  if (set->grids && has_part(set, "real"))
    return leave_usage("bench", "--grids are for --parts model,simulation; real ranks take all");
  return -1;
}

int bench_l23_list(const char *suite) {
  if (suite && is_suite(suite)) return bench_list(suite);
  if (suite) return printf("%s\n", human_name(suite).s), LEAVE_SOLVED;
  for (int k = 0; k < 2; k++) printf("%s\n", real_systems[k]);
  for (int k = 0; k < NSYSTEMS; k++) printf("%s\n", systems[k].generator);
  return LEAVE_SOLVED;
}

int bench_l23(const bench_settings *set) {
  l23 run = {.set = set};
  bool rank = is_among_ranks();
  int code = check(set);
  if (code < 0 && set->svg && (rank || !has_part(set, "model")))
    code = leave_usage("bench", "--svg draws what was modelled: --parts model");
  if (code < 0 && !rank) code = bench_out_open(&run.out, set);
  if (code >= 0) return code;
  if (rank && launched_rank() == 0) code = bench_out_open(&run.out, set); /* the file is its */
  if (code < 0) code = rank ? run_rank(&run) : run_parts(&run);
  bool done = code < 0 || code == LEAVE_SOLVED;
  if (done && run.rows.count && !set->json) l23_report(&run.rows, set->markdown);
  if (done && run.rows.count && set->svg) code = l23_draw(&run.rows, set->svg);
  bench_rows_free(&run.rows);
  return bench_out_close(run.out, set, code < 0 ? LEAVE_SOLVED : code);
}
