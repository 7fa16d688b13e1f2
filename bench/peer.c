/* peer.c - programs as peers, as "Programs as peers" in README.md defines them.  The system is
 * written to a file once; each program reads it, writes its answer to another file and prints its
 * times.  An upper triangle is written in the reverse order of its rows and columns, which makes it
 * a lower one. */
#include "peer.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "check.h"
#include "cusparse.h"
#include "launch.h"
#include "leave.h"
#include "run.h"
#include "runner.h"

/* ---- The command line ---- */

static bool is_taken(const bench_settings *set, const char *name) {
  static const char *const names[] = {"mkl", "scipy", "other", "engine", "engine+f32"};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++)
    if (!strcmp(name, names[k])) return true;
  for (int k = 0; k < set->programs; k++)
    if (!strcmp(name, set->program[k].name)) return true;
  return bench_is_method(name) || bench_cusparse_algorithm(name) >= 0;
}

static int add_program(bench_settings *set, const char *text) {
  static const char letters[] =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-._";
  bench_program *p = &set->program[set->programs];
  size_t length = strspn(text, letters);
  if (!length || text[length] != '=' || length >= sizeof p->name)
    return leave_usage("bench",
                       "--peer: a name has 1 to %d letters, digits and + - . _ before '=', as in "
                       "other=./other: '%s'",
                       (int)sizeof p->name - 1, text);
  if (set->programs == BENCH_MOST_PROGRAMS)
    return leave_usage("bench", "--peer takes %d programs at most", BENCH_MOST_PROGRAMS);
  snprintf(p->name, sizeof p->name, "%.*s", (int)length, text);
  p->path = text + length + 1;
  if (is_taken(set, p->name))
    return leave_usage("bench", "--peer: the name '%s' is taken: choose another", p->name);
  if (access(p->path, X_OK))
    return leave(LEAVE_INPUT, trs_status_name(TRS_ERROR_FILE), -1,
                 "--peer %s: %s cannot be run: %s", p->name, p->path, strerror(errno));
  set->programs++;
  return -1;
}

int bench_peers_take(bench_settings *set) {
  int code = -1;
  for (int k = 0; k < set->peers.count && code < 0; k++) {
    const char *text = set->peers.text[k];
    if (strchr(text, '='))
      code = add_program(set, text);
    else if (!strcmp(text, "auto") || !strcmp(text, "none"))
      set->peer = !strcmp(text, "none");
    else
      code = leave_usage("bench", "--peer takes auto, none or NAME=PROGRAM, not '%s'", text);
  }
  return code;
}

/* ---- The files ---- */

enum {
  SPARE = 64 << 20,     /* bytes of a file, beyond those of x, that stop a program */
  MOST_THREADS = 100000 /* that a program may claim */
};

typedef struct files {
  char folder[1024], system[1100], answer[1100], said[1100];
} files;

static int leave_file(const char *path) {
  return leave(LEAVE_INPUT, trs_status_name(TRS_ERROR_FILE), -1, "%s: cannot be written: %s", path,
               strerror(errno));
}

static int open_files(files *f) {
  const char *folder = getenv("TMPDIR");
  snprintf(f->folder, sizeof f->folder, "%s/trireme-peer-XXXXXX",
           folder && *folder ? folder : "/tmp");
  if (!mkdtemp(f->folder)) return leave_file(f->folder);
  snprintf(f->system, sizeof f->system, "%s/system", f->folder);
  snprintf(f->answer, sizeof f->answer, "%s/x", f->folder);
  snprintf(f->said, sizeof f->said, "%s/said", f->folder);
  return -1;
}

static void close_files(const files *f) { bench_launch_clear(f->folder); }

/* The arrays of the file, and b in the order of the system itself. */
typedef struct arrays {
  int64_t n, nnz, *ptr;
  int32_t *idx;
  double *val, *b, *x;
} arrays;

static void free_arrays(arrays *a) {
  free(a->ptr);
  free(a->idx);
  free(a->val);
  free(a->b);
  free(a->x);
}

static bool alloc_arrays(arrays *a, int64_t n, int64_t most) {
  a->n = n;
  a->ptr = malloc((size_t)(n + 1) * sizeof *a->ptr);
  a->idx = malloc((size_t)most * sizeof *a->idx);
  a->val = malloc((size_t)most * sizeof *a->val);
  a->b = malloc((size_t)(n + 1) * sizeof *a->b);
  a->x = malloc((size_t)(n + 1) * sizeof *a->x);
  return a->ptr && a->idx && a->val && a->b && a->x;
}

static void reverse(double *v, int64_t n) {
  for (int64_t i = 0; i < n / 2; i++) {
    double kept = v[i];
    v[i] = v[n - 1 - i];
    v[n - 1 - i] = kept;
  }
}

/* Row i of the file: the entries before the diagonal, then the diagonal, which is 1 where the
 * system leaves it out. */
static void put_row(arrays *a, int64_t i, const bench_system *s, const int64_t *ptr,
                    const int32_t *idx, const double *val) {
  const bool upper = s->uplo == TRS_UPPER;
  const int64_t row = upper ? a->n - 1 - i : i, count = ptr[row + 1] - ptr[row];
  double diagonal = 1;
  for (int64_t k = 0; k < count; k++) {
    const int64_t at = upper ? ptr[row + 1] - 1 - k : ptr[row] + k;
    if (idx[at] == row) {
      if (s->diag == TRS_NONUNIT) diagonal = val[at];
      continue;
    }
    a->idx[a->nnz] = upper ? (int32_t)(a->n - 1 - idx[at]) : idx[at];
    a->val[a->nnz++] = val[at];
  }
  a->idx[a->nnz] = (int32_t)i;
  a->val[a->nnz++] = diagonal;
  a->ptr[i + 1] = a->nnz;
}

static int make_arrays(arrays *a, const bench_system *s) {
  const int64_t *ptr;
  const int32_t *idx;
  const void *val;
  const int64_t n = s->info.nrows, most = s->info.nnz + n;
  trs_matrix_get_arrays(s->T, &ptr, &idx, &val);
  if (!alloc_arrays(a, n, most)) return leave_memory(12.0 * (double)most, "the peers' system");
  a->ptr[0] = 0;
  for (int64_t i = 0; i < n; i++) put_row(a, i, s, ptr, idx, val);
  trs_random_fill(a->b, n, TRS_DOUBLE, 1);
  return -1;
}

static int write_system(const char *path, arrays *a, bool upper) {
  static const char magic[8] = {'t', 'r', 's', 'p', 'e', 'e', 'r', '1'};
  const size_t n = (size_t)a->n, nnz = (size_t)a->nnz;
  FILE *file = fopen(path, "wb");
  if (!file) return leave_file(path);
  if (upper) reverse(a->b, a->n);
  bool good = fwrite(magic, 1, 8, file) == 8 && fwrite(&a->n, 8, 1, file) == 1 &&
              fwrite(&a->nnz, 8, 1, file) == 1 && fwrite(a->ptr, 8, n + 1, file) == n + 1 &&
              fwrite(a->val, 8, nnz, file) == nnz && fwrite(a->b, 8, n, file) == n &&
              fwrite(a->idx, 4, nnz, file) == nnz;
  if (upper) reverse(a->b, a->n);
  good = !fclose(file) && good;
  return good ? -1 : leave_file(path);
}

/* ---- What a program printed ---- */

/* The text behind " KEY=" in a line, up to the next blank. */
static bool find_value(const char *line, const char *key, char *value, size_t size) {
  size_t length = strlen(key);
  for (const char *at = line; *at; at += strcspn(at, " \t\r\n")) {
    at += strspn(at, " \t\r\n");
    if (strncmp(at, key, length) != 0 || at[length] != '=') continue;
    at += length + 1;
    snprintf(value, size, "%.*s", (int)strcspn(at, " \t\r\n"), at);
    return true;
  }
  return false;
}

/* Seconds from milliseconds; NAN: no such key, or no time. */
static double seconds_of(const char *line, const char *key) {
  char text[64];
  const char *end;
  if (!find_value(line, key, text, sizeof text)) return NAN;
  double value = trs_number(text, &end);
  return end != text && !*end && value >= 0 && !isinf(value) ? 1e-3 * value : NAN;
}

/* 1 where the text is no number of threads. */
static int64_t threads_of(const char *text) {
  char *end;
  const long value = strtol(text, &end, 10);
  return end != text && !*end && value > 0 && value < MOST_THREADS ? value : 1;
}

/* The last line with solve_ms counts. */
static bool read_said(bench_row *row, const char *path) {
  FILE *file = fopen(path, "r");
  char *line = NULL, text[sizeof row->chosen];
  size_t room = 0;
  bool found = false;
  while (file && getline(&line, &room, file) > 0) {
    if (!find_value(line, "solve_ms", text, sizeof text)) continue;
    found = true;
    row->fastest = row->median = seconds_of(line, "solve_ms");
    row->analysis = seconds_of(line, "analysis_ms");
    if (!find_value(line, "setting", row->chosen, sizeof row->chosen)) *row->chosen = 0;
    if (!find_value(line, "version", row->reason, sizeof row->reason)) *row->reason = 0;
    if (find_value(line, "threads", text, sizeof text)) row->threads = threads_of(text);
  }
  if (file) fclose(file);
  free(line);
  if (found && row->median > 0) return true;
  snprintf(row->reason, sizeof row->reason,
           found ? "printed no time behind solve_ms=" : "printed no line with solve_ms=");
  return false;
}

/* ---- One program ---- */

/* False: the row says why. */
static bool ended_well(bench_row *row, const bench_launch *l) {
  if (l->error)
    snprintf(row->reason, sizeof row->reason, "did not start: %s", strerror(l->error));
  else if (l->late)
    snprintf(row->reason, sizeof row->reason, "stopped after %g seconds", l->seconds);
  else if (WIFSIGNALED(l->state))
    snprintf(row->reason, sizeof row->reason, "ended by signal %d, %s", WTERMSIG(l->state),
             strsignal(WTERMSIG(l->state)));
  else if (WEXITSTATUS(l->state))
    snprintf(row->reason, sizeof row->reason, "left with code %d", WEXITSTATUS(l->state));
  else
    return true;
  return false;
}

static bool read_answer(bench_row *row, const char *path, arrays *a, bool upper) {
  FILE *file = fopen(path, "rb");
  size_t n = (size_t)a->n, read = file ? fread(a->x, sizeof *a->x, n, file) : 0;
  bool good = read == n && fgetc(file) == EOF;
  if (file) fclose(file);
  if (good && upper) reverse(a->x, a->n);
  if (!good)
    snprintf(row->reason, sizeof row->reason, "wrote no x of %lld doubles", (long long)a->n);
  return good;
}

/* The program's own word for its answer counts nothing. */
static void judge(bench_row *row, const bench_system *s, const arrays *a) {
  trs_backward_error error = {.struct_size = sizeof error};
  trs_status status = trs_check(&error, s->T, s->uplo, TRS_NO_TRANS, s->diag, a->x, a->n, a->b,
                                a->n, 1, TRS_COL_MAJOR);
  bench_judge(row, s, &error, DBL_EPSILON, false);
  row->wrong |= status != TRS_SUCCESS;
  row->checked = 1;
}

static void run_program(bench_row *row, const bench_program *p, const files *f, arrays *a,
                        const bench_peer_job *job, double seconds) {
  char threads[16];
  snprintf(threads, sizeof threads, "%d", job->threads);
  const char *const words[] = {p->path, f->system, f->answer, job->threads ? threads : NULL, NULL};
  const bool upper = job->system->uplo == TRS_UPPER;
  bench_launch launch = {.words = words,
                         .said = f->said,
                         .scratch = f->folder,
                         .seconds = seconds,
                         .bytes = a->n * (int64_t)sizeof(double) + SPARE};
  bench_launch_run(&launch);
  if (ended_well(row, &launch) && read_said(row, f->said) &&
      read_answer(row, f->answer, a, upper)) {
    judge(row, job->system, a);
    return;
  }
  row->wrong = true;
  row->fastest = row->median = row->analysis = NAN;
  notify("bench: %s: %s %s", job->system->name, p->name, row->reason);
}

static bench_row row_of(const bench_program *p, const bench_settings *set,
                        const bench_peer_job *job) {
  bench_row row = bench_row_empty();
  const char *slash = strrchr(p->path, '/');
  bench_describe(&row, job->system, job->info, TRS_DOUBLE, 1);
  snprintf(row.method, sizeof row.method, "%s", p->name);
  snprintf(row.program, sizeof row.program, "%s", slash ? slash + 1 : p->path);
  snprintf(row.backend, sizeof row.backend, "%s", job->backend);
  if (set->layout == 1) snprintf(row.layout, sizeof row.layout, "row");
  row.threads = 1;
  row.bound = job->bound;
  return row;
}

/* The folder with the system alone, whatever the program before has left there. */
static int renew_files(const files *f, arrays *a, bool upper) {
  const int64_t bytes = 24 + 8 * (a->n + 1) + 12 * a->nnz + 8 * a->n;
  struct stat now;
  const bool whole = !lstat(f->system, &now) && S_ISREG(now.st_mode) && now.st_size == bytes;
  if (whole) {
    bench_launch_clear(f->answer);
    unlink(f->said);
    return -1;
  }
  bench_launch_clear(f->folder);
  return mkdir(f->folder, 0700) ? leave_file(f->folder) : write_system(f->system, a, upper);
}

static int run_all(bench_rows *rows, const bench_settings *set, const bench_peer_job *job,
                   const files *f, arrays *a) {
  int code = -1;
  for (int k = 0; k < set->programs && code < 0; k++) {
    bench_row row = row_of(&set->program[k], set, job);
    bench_tick(job->system->name, 1);
    code = renew_files(f, a, job->system->uplo == TRS_UPPER);
    if (code >= 0) break;
    run_program(&row, &set->program[k], f, a, job, set->peer_seconds);
    row.gbs = 1e-9 * (double)row.bytes / row.median;
    code = bench_rows_add(rows, &row);
  }
  return code;
}

int bench_peers_measure(bench_rows *rows, const bench_settings *set, const bench_peer_job *job) {
  files f;
  arrays a = {0};
  if (!set || !set->programs) return -1;
  int code = open_files(&f);
  if (code >= 0) return code;
  code = make_arrays(&a, job->system);
  if (code < 0) code = run_all(rows, set, job, &f, &a);
  close_files(&f);
  free_arrays(&a);
  return code;
}
