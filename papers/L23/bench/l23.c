/* l23.c - trireme bench l23: L23's Figures 4 to 11.  Real ranks run this command again, under
 * mpirun; simulated ranks run on SimGrid (trireme-smpi under smpirun); trireme-simulate provides
 * the LogGP model and structures of factors.  These two programs are in the folder of the command.
 */
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

enum { MOST_SOLVES = 512, MOST_WORDS = MOST_SOLVES + 64, PER_NODE = 32 };

static const struct {
  const char *name, *generator;
} systems[] = {{"s2D9pt2048", "gen:poisson2d9:2048"},
               {"kkt3d64", "gen:kkt3d:64"},
               {"elasticity3d56", "gen:elasticity3d:56,56,56"}};
enum { NSYSTEMS = 3 };
static const char *const real_systems[] = {"gen:poisson2d9:300", "gen:kkt3d:12"};

typedef struct l23 {
  const bench_settings *set;
  char work[1024];
  bool own_work; /* created by this run, and removed */
  bench_counts ranks;
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
  /* settings of Open MPI for more ranks than cores, for root, and for containers; other MPI
   * libraries ignore them */
  static const char *const set[][2] = {{"OMPI_ALLOW_RUN_AS_ROOT", "1"},
                                       {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
                                       {"OMPI_MCA_rmaps_base_oversubscribe", "1"},
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
                 "internal", -1, "%s %s failed", w->at[0], w->count > 1 ? w->at[1] : "");
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

static void add_solve(words *w, const char *method, int64_t ranks, int px, int py, int64_t nrhs) {
  bool l23s = strcmp(method, "grid3d") != 0;
  char *text = new_text(w);
  snprintf(text, sizeof w->text[0], "%s:%dx%dx%d:%lld%s", method, px, py,
           (int)(ranks / ((int64_t)px * py)), (long long)nrhs, l23s ? ":scattered" : "");
  add(w, text);
}

static void add_pair(words *w, int64_t ranks, int px, int py, int64_t nrhs, bool inverted) {
  if (!inverted) add_solve(w, "grid3d-baseline", ranks, px, py, nrhs);
  add_solve(w, "grid3d", ranks, px, py, nrhs);
}

/* Powers of two; up to 2048 ranks all shapes with Px and Py within a factor of 16, beyond that
 * square ones. */
static void add_shapes(words *w, int64_t ranks, int64_t nrhs, bool inverted) {
  enum { ALL_TO = 2048, MOST_GRIDS = 256, RATIO = 16 };
  for (int64_t pz = ranks <= ALL_TO ? 1 : 8; pz <= ranks && pz <= MOST_GRIDS; pz *= 2) {
    int64_t places = ranks / pz;
    int px, py;
    l23_square(places, &px, &py);
    for (int x = 1; x <= places; x *= 2)
      if (ranks > ALL_TO ? x == px : x <= RATIO * (places / x) && places / x <= (int64_t)RATIO * x)
        add_pair(w, ranks, x, (int)(places / x), nrhs, inverted);
  }
}

static int64_t ranks_of(const char *solve) {
  int px = 0, py = 0, pz = 0;
  const char *colon = strchr(solve, ':');
  return colon && sscanf(colon + 1, "%dx%dx%d", &px, &py, &pz) == 3 ? (int64_t)px * py * pz : 0;
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

/* ---- Structures, the model, simulations. ---- */

static bool exists(const char *path) { return access(path, R_OK) == 0; }

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
  const char *rest[] = {"structure", generator, path, "leaves=256", "width=64"};
  for (int k = 0; k < 5; k++) add(&w, rest[k]);
  return exists(path) ? -1 : run_program(run, &w, NULL);
}

static void add_options(words *w) {
  /* src/simulate/machine.h defines the cost of a message for a rank; the platform defines the
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

static void add_simulated(words *w, int64_t ranks, int64_t nrhs, bool inverted) {
  static const int grids[] = {4, 8, 16, 32};
  int px, py;
  l23_square(ranks, &px, &py);
  if (!inverted) add_solve(w, "grid2d", ranks, px, py, nrhs);
  for (int k = 0; k < 4; k++) {
    if (ranks % grids[k]) continue;
    l23_square(ranks / grids[k], &px, &py);
    add_pair(w, ranks, px, py, nrhs, inverted);
  }
}

/* The solves requested of one structure. */
static void list_solves(const l23 *run, words *w, bool simulated, bool inverted) {
  for (int k = 0; k < run->ranks.count; k++) {
    int64_t ranks = run->ranks.value[k];
    if (run->set->grids)
      add_wanted(w, run->set->grids, run->set->ranks ? ranks : 0);
    else if (simulated)
      add_simulated(w, ranks, run->set->nrhs.value[0], inverted);
    else
      add_shapes(w, ranks, run->set->nrhs.value[0], inverted);
    if (run->set->grids && !run->set->ranks) return;
  }
}

static int play(l23 *run, const char *name, const char *path, bool simulated, bool inverted) {
  char tool[1200];
  words solves = {0}, w = {0};
  int code = -1;
  const double begin = run->now.begin, span = run->now.span;
  list_solves(run, &solves, simulated, inverted);
  for (int k = 0; simulated && k < solves.count && code < 0; k++) {
    set_progress(run, name, begin + span * k / solves.count, span / solves.count, 1);
    code = simulate_one(run, name, path, solves.at[k]);
  }
  set_progress(run, name, begin, span, solves.count);
  if (simulated || !solves.count) return code;
  program_beside(tool, sizeof tool, TRIREME_HELPERS_PATH "/trireme-simulate");
  const char *first[] = {tool, "loggp", name, path};
  for (int k = 0; k < 4; k++) add(&w, first[k]);
  for (int k = 0; k < solves.count; k++) add(&w, solves.at[k]);
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
  static const bench_counts modelled = {{128, 512, 2048, 8192, 32768, 131072}, 131072, 6};
  static const bench_counts simulation = {{128, 512, 2048}, 2048, 3};
  const char *own = run->set->suite;
  int code = -1;
  use_ranks(run, simulated ? &simulation : &modelled);
  if (own && !strncmp(own, "gen:", 4))
    return run_structure(run, own + 4, own, simulated, begin, span);
  if (own)
    return leave_usage("bench", "l23 models and simulates matrices gen:NAME:SIZE, not %s", own);
  for (int k = 0; k < NSYSTEMS && code < 0; k++)
    code = run_structure(run, systems[k].name, systems[k].generator, simulated,
                         begin + span * k / NSYSTEMS, span / NSYSTEMS);
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
  const char *own = run->set->suite;
  int code = -1;
  use_ranks(run, &usual);
  for (int s = 0; s < (own ? 1 : 2) && code < 0; s++) {
    char factors[1200];
    const char *matrix = own ? own : real_systems[s];
    double each = span / (own ? 1 : 2), step = each / (run->ranks.count + 1);
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
