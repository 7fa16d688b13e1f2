/* bench.h - the parts of trireme bench: suites name matrices, systems are their triangles, runners
 * are the methods timed on them, rows are what was measured; tables, means, comparisons and charts
 * are made of rows alone. */
#ifndef TRIREME_BENCH_H
#define TRIREME_BENCH_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "output.h"
#include "trireme.h"

/* A list such as 1,8,32. */
typedef struct bench_counts {
  int64_t value[16], most;
  int count;
} bench_counts;

typedef struct bench_settings {
  const char *suite, *out, *methods, *threads, *compare, *table, *svg, *backend, *nrhs_list;
  const char *parts, *ranks, *grids, *work; /* l23 */
  bench_counts rank_counts;
  int uplo;   /* lower, upper, both */
  int peer;   /* auto, none */
  int scalar; /* double, float: GPU only */
  int layout; /* column, row: GPU only */
  int store;  /* same, f32: GPU only */
  double seconds;
  bench_counts nrhs;
  int device; /* the GPU's number; -1: the run is on the CPU */
  bool json, list, tune, markdown;
} bench_settings;

/* What the subcommand does; each returns how to leave. */
int bench_run(const bench_settings *set);
int bench_l17(const bench_settings *set);
int bench_w21(const bench_settings *set); /* set->suite: the matrix, or NULL for W21's */
int bench_w21_gpu(const bench_settings *set);
int bench_w21_gpus(const bench_settings *set); /* on several */
bool bench_w21_is_line(const char *line);
int bench_w21_table(const char *path);
int bench_x20(const bench_settings *set);
int bench_gpus(const bench_settings *set);
int bench_l23(const bench_settings *set);
int bench_list(const char *suite);
int bench_l23_list(const bench_settings *set); /* its matrices */
int bench_compare(const char *before, const char *after, const char *svg);
int bench_table(const char *path, const char *svg);

/* W21's matrix. */
#define BENCH_W21_CASE "gen:wingmesh:1100000"

/* One of several charts: x-rates.svg from "x" and from "x.svg". */
void bench_svg_path(char *path, size_t size, const char *prefix, const char *name);

/* A line on standard error about an entry that is left out. */
void bench_notice(const char *entry, const char *text);
/* The file of --out, NULL without one.  They return -1, or how to leave. */
int bench_out_open(FILE **out, const bench_settings *set);
int bench_out_close(FILE *out, const bench_settings *set, int code);

/* Numbers from 1 to limit, with commas between: counts.c.  Returns -1, or how to leave. */
int bench_counts_parse(bench_counts *counts, const char *option, const char *list, int64_t limit);

/* ---- Suites: suite.c. ---- */

typedef struct bench_suite {
  char name[64];
  char **entry;
  int64_t count;
} bench_suite;

/* The name of a suite, the path of one, or one entry.  Returns -1, or how to leave. */
int bench_suite_read(bench_suite *suite, const char *name);
void bench_suite_free(bench_suite *suite);

/* ---- Systems: system.c. ---- */

typedef struct bench_source {
  trs_matrix *A;
  trs_factors *F;
  bool drawn; /* a pattern of factors whose values are random */
} bench_source;

typedef struct bench_system {
  const char *name; /* the entry */
  trs_uplo uplo;
  trs_diag diag;
  trs_matrix *cut;      /* what was made for this system, or NULL */
  const trs_matrix *T;  /* by rows, double */
  trs_matrix_info info; /* of T */
  int64_t nrhs;
  bool drawn;
} bench_system;

/* Makes or reads what an entry names.  A file that is not there, or a feature that this build does
 * not have, gives *skipped, its reason, and success. */
trs_status bench_source_open(bench_source *source, const char *entry, char *skipped, size_t size);
void bench_source_close(bench_source *source);
trs_status bench_system_take(bench_system *system, const bench_source *source, trs_uplo uplo);
void bench_system_free(bench_system *system);

/* ---- Rows: rows.c. ---- */

typedef struct bench_row {
  char suite[64], matrix[192], method[64], chosen[64], scalar[16], reason[320];
  char backend[8], layout[8], values[8]; /* cpu, cuda; column, row; own, drawn */
  char place[8];                         /* several GPUs: where b and x lie: first (GPU), spread */
  char plan[512];                        /* what the plan says of itself */
  bool upper, wrong;
  int64_t n, nnz, levels, threads, nrhs, repeats, bytes, checked;
  double parallelism, dependency;
  /* seconds; NAN: does not apply */
  double create, analysis, first_analysis, ask, update, fastest, median, latency;
  double bound, hop, gbs, componentwise, normwise;
  double matrix_bytes, plan_bytes, vector_bytes, analysis_peak, process_peak, limit_bytes;
} bench_row;

typedef struct bench_rows {
  bench_row *row;
  int64_t count, room;
} bench_rows;

int bench_rows_add(bench_rows *rows, const bench_row *row);
void bench_rows_free(bench_rows *rows);

/* A row in which nothing was measured yet. */
bench_row bench_row_empty(void);
bool bench_on_gpu(const bench_row *row);
/* What a row counts for: on the CPU its fastest solve, on a GPU the median. */
double bench_row_seconds(const bench_row *row);
/* Sorts the times of the solves and takes the fastest and the median of them. */
void bench_row_times(bench_row *row, double *seconds, int64_t repeats);

/* The matrix's name as tables show it, the triangle, right-hand sides and type where they are not
 * one and double. */
void bench_label(char *label, size_t size, const bench_row *row);

/* One row as a line of JSON, and a file of such lines. */
int bench_rows_read(bench_rows *rows, const char *path);
void bench_row_write(FILE *stream, const bench_row *row);

/* ---- JSON of one line: json.c. ---- */

typedef struct bench_json_value {
  enum { BENCH_JSON_NULL, BENCH_JSON_BOOL, BENCH_JSON_NUMBER, BENCH_JSON_TEXT } kind;
  double number; /* of a number; 0 or 1 */
  const char *text;
} bench_json_value;

/* Calls put for every value in an object but those in arrays, path being its keys with dots
 * between; put may refuse one with a reason.  NULL, or what is wrong with the text. */
const char *bench_json_walk(const char *text, void *user,
                            const char *(*put)(void *user, const char *path,
                                               const bench_json_value *value));

/* Writes the keys of path where the path written before was before ("" at first), up to the colon;
 * afterwards all braces that path leaves open. */
void bench_json_key(FILE *stream, const char *before, const char *path);
void bench_json_end(FILE *stream, const char *path);
void bench_json_text(FILE *stream, const char *text);

/* ---- The machine: machine.c. ---- */

typedef struct bench_machine {
  char cpu[96], os[128], compiler[64], commit[64], date[32], gpu[320];
  int cores;
  double load; /* programs that ran in the last minute, on average */
  bool dirty;
} bench_machine;

/* As things stood at the first call. */
const bench_machine *bench_machine_look(void);
/* A run on a GPU: what it is. */
void bench_machine_note_gpu(const char *gpu);
/* The most memory this process held since the last reset (where the system can reset), bytes. */
void bench_peak_reset(void);
double bench_peak_bytes(void);

/* ---- Libraries of others, opened at run time: library.c. ---- */

/* The library at the path in an environment variable, or the first of the names that is found.
 * *missing: why there is none, or NULL. */
void *bench_library_open(const char *variable, const char *const names[], const char **missing);
/* Sets the pointer to a function that function points to; false: there is none of that name. */
bool bench_library_find(void *library, void *function, const char *name);

/* ---- oneMKL: mkl.c. ---- */

typedef struct bench_mkl {
  void *handle;
  int *ptr;
  const bench_system *system;
} bench_mkl;

/* Why it is not there, or NULL. */
const char *bench_mkl_load(void);
const char *bench_mkl_version(void);
void bench_mkl_threads(int threads);
/* Pointers as MKL wants them; create and analyse are timed apart.  False: MKL refused. */
bool bench_mkl_prepare(bench_mkl *mkl, const bench_system *system);
bool bench_mkl_create(bench_mkl *mkl);
bool bench_mkl_analyze(bench_mkl *mkl);
bool bench_mkl_solve(const bench_mkl *mkl, double *x, const double *b);
void bench_mkl_destroy(bench_mkl *mkl);
void bench_mkl_free(bench_mkl *mkl);

/* ---- The CUDA runtime: cuda.c. ---- */

/* Makes a GPU the current one and notes it, or says how to leave.  The rest is false after a
 * failure, which bench_cuda_error tells of. */
int bench_cuda_open(int device);
bool bench_cuda_use(int device);                    /* another GPU from now on */
const char *bench_cuda_device(void);                /* its name and the versions */
const char *bench_cuda_error(void);                 /* told once; NULL: none since */
bool bench_cuda_alloc(void *pointer, size_t bytes); /* pointer: to a pointer */
void bench_cuda_free(void *pointer);
bool bench_cuda_put(void *device, const void *host, size_t bytes);
bool bench_cuda_get(void *host, const void *device, size_t bytes);
bool bench_cuda_move(void *to, const void *from, size_t bytes);
bool bench_cuda_move_later(void *to, const void *from, size_t bytes); /* in stream order */
bool bench_cuda_fill(void *device, int byte, size_t bytes);
bool bench_cuda_wait(void);
/* Seconds that the default stream takes for what is between the two; negative: a failure. */
bool bench_cuda_start(void);
double bench_cuda_stop(void);

/* ---- A system on a GPU: gpu_system.c. ---- */

typedef struct bench_gpu {
  const bench_system *system;
  trs_scalar scalar;
  size_t size; /* of one value */
  int64_t n, nnz, nrhs;
  bool row_major;
  trs_matrix *converted;  /* the host's matrix where it had to change its type, or NULL */
  const trs_matrix *host; /* what answers are checked with */
  trs_matrix *T;          /* of the device arrays; NULL: only the peer runs */
  void *ptr, *idx, *val;  /* device memory */
  void *short_ptr;        /* 32-bit row pointers for cuSPARSE; NULL: too many entries */
  void *b, *x;            /* device memory, n x nrhs */
  double create, bound;   /* seconds */
  trs_plan_info info;     /* levels, from a plan on the host */
} bench_gpu;

/* Uploads a system.  ctx NULL: without a matrix of the library's.  Returns -1, or how to leave. */
int bench_gpu_open(bench_gpu *gpu, trs_context *ctx, const bench_system *system,
                   const bench_settings *set);
void bench_gpu_close(bench_gpu *gpu);
/* Random right-hand sides and room for the solutions. */
int bench_gpu_rhs(bench_gpu *gpu, int64_t nrhs);
/* How many columns of an answer are checked, and those columns of b or x, one behind the other. */
int64_t bench_gpu_checked(const bench_gpu *gpu);
bool bench_gpu_columns(const bench_gpu *gpu, const void *device, void *host);

/* ---- cuSPARSE and cuBLAS on blocks: cublas.c. ---- */

/* Arrays in device memory but for off_ptr; block rows in the order of colours, column-major blocks
 * in float. */
typedef struct bench_bsr {
  int64_t rows;
  int block;
  const int64_t *off_ptr; /* host: rows + 1 */
  int *ptr, *idx, *info;  /* off the diagonal; info: rows */
  float *val, *x, *b, *diagonal;
  float **diagonals, **xs; /* rows: each block's */
} bench_bsr;

const char *bench_bsr_load(void); /* NULL, or what is missing */
bool bench_bsr_factor(const bench_bsr *m);
bool bench_bsr_relax(const bench_bsr *m, int64_t begin, int64_t end);

/* ---- cuSPARSE: cusparse.c. ---- */

typedef struct bench_cusparse {
  const bench_gpu *gpu;
  bool many;     /* SpSM, else SpSV */
  int algorithm; /* of SpSV: 0 is the default */
  void *matrix, *b, *x, *state, *buffer;
  size_t buffer_bytes;
} bench_cusparse;

/* Why it is not there, or NULL. */
const char *bench_cusparse_load(void);
const char *bench_cusparse_version(void);
/* Algorithms of SpSV that the loaded library knows, as runners name them; SpSM has the first. */
enum { BENCH_CUSPARSE_MOST = 3 };
extern const char *const bench_cusparse_name[BENCH_CUSPARSE_MOST];
int bench_cusparse_known(void);
/* The number of the algorithm of that name; -1: none of cuSPARSE's. */
int bench_cusparse_algorithm(const char *name);
const char *bench_cusparse_error(void);
bool bench_cusparse_prepare(bench_cusparse *s, const bench_gpu *gpu, int algorithm);
/* From nothing; asking for the buffer's size and analysing are timed apart, allocating it is not
 * timed. */
bool bench_cusparse_analyze(bench_cusparse *s, double *ask_seconds, double *seconds);
bool bench_cusparse_update(bench_cusparse *s, double *seconds);
bool bench_cusparse_solve(const bench_cusparse *s);
void bench_cusparse_free(bench_cusparse *s);

/* ---- Runners and timing: runners.c, measure.c, measure_gpu.c. ---- */

enum { BENCH_MOST_RUNNERS = 32, BENCH_MOST_REPEATS = 1000 };

typedef struct bench_runner {
  char method[64]; /* in tables and results */
  char asked[64];  /* of the library */
  int threads;
  trs_store store;
  bool tune;
  bool terse;       /* no look at the plan: it costs the levels of the system, on the host */
  trs_context *ctx; /* NULL: a peer */
  bool out;         /* refused the system */
  bool failed;      /* or failed on it */
  trs_plan *plan;
  bench_mkl mkl;
  bench_cusparse cusparse;
  double seconds[BENCH_MOST_REPEATS];
  int64_t repeats, batch; /* batch: solves in a measurement */
  bench_row row;
} bench_runner;

typedef struct bench_runners {
  bench_runner *runner;
  int count;
  trs_context *gpu; /* of all runners on a GPU; NULL: none of ours is there */
} bench_runners;

int bench_runners_open(bench_runners *all, const bench_settings *set);
void bench_runners_close(bench_runners *all);
/* Is the method, with or without parameters behind it, in the library's list (or auto)? */
bool bench_is_method(const char *name);
/* The methods of a list such as --methods, one by one; false at its end. */
bool bench_next_method(const char **list, char *name, size_t size);
int bench_leave_unknown(const char *name);

/* Times every runner on the system and adds a row for each.  tick is called between steps with the
 * share done.  Returns -1, or how to leave. */
int bench_measure(bench_rows *rows, bench_runners *all, const bench_system *system, double seconds,
                  void (*tick)(const char *name, double done));
int bench_measure_gpu(bench_rows *rows, bench_runners *all, bench_gpu *gpu, int64_t nrhs,
                      double seconds, void (*tick)(const char *name, double done));

/* ---- What rows say: groups.c, means.c, table.c, and gpu_means.c, gpu_table.c; profile_chart.c,
 * ratio_chart.c and line_chart.c draw. ---- */

typedef enum bench_column {
  BENCH_SERIAL,
  BENCH_THREADS, /* on the most threads there are rows for */
  BENCH_AUTO,
  BENCH_MKL_ONE,
  BENCH_MKL_ALL,
  BENCH_SCIPY,
  BENCH_CPU_COLUMNS,
  BENCH_ENGINE = BENCH_CPU_COLUMNS, /* auto on a GPU */
  BENCH_ENGINE_F32,
  BENCH_CUSPARSE,
  BENCH_COLUMNS
} bench_column;

/* The rows of one system; NULL: not measured.  cuSPARSE's is the row of its fastest algorithm. */
typedef struct bench_group {
  const bench_row *first, *column[BENCH_COLUMNS];
} bench_group;

typedef struct bench_groups {
  bench_group *group;
  int64_t count, threads;
} bench_groups;

/* Puts the row of a system into its column if it has one; threads: the most of all rows. */
void bench_group_put(bench_group *group, const bench_row *row, int64_t threads);
/* The groups of the rows that are from a GPU, or of those that are not. */
int bench_groups_make(bench_groups *groups, const bench_rows *rows, bool gpu);
void bench_column_name(char *name, size_t size, bench_column column, int64_t threads);
/* How many times as fast the first column is as the second; NAN where either is missing or wrong.
 */
double bench_gain(const bench_group *group, bench_column fast, bench_column slow);
/* The fastest of the columns from first to last, or the first. */
bench_column bench_best(const bench_group *group, bench_column first, bench_column last);

typedef struct bench_mean {
  double log_sum, least, most;
  int64_t count, least_at, most_at;
} bench_mean;

void bench_mean_add(bench_mean *mean, double value, int64_t at);
double bench_mean_value(const bench_mean *mean);

void bench_means_print(const bench_groups *groups, bool markdown);
void bench_live_head(const bench_runners *all);
void bench_live_line(const bench_rows *rows, int64_t first);
short_text bench_milliseconds(double seconds); /* in four digits */
short_text bench_ratio(double value);

void bench_gpu_live_head(const bench_runners *all);
void bench_gpu_live_line(const bench_runners *all, const bench_rows *rows, int64_t first);
void bench_gpu_tables(const bench_groups *groups, const bench_rows *rows);
void bench_gpu_means(const bench_groups *groups, bool markdown);
int bench_draw(const bench_groups *groups, bool gpu, const char *path);
/* The row of a group's system by a method, or NULL. */
const bench_row *bench_find(const bench_rows *rows, const bench_row *system, const char *method);
/* Solves until the first is ahead of the second, analyses included; INFINITY: never. */
double bench_break_even(const bench_row *fast, const bench_row *slow);

/* Performance profiles: seconds of each method on each system, the systems in panels. */
enum { BENCH_MOST_PANELS = 12 };

typedef struct bench_profile {
  const char *title;
  char subtitle[256];
  int series, panels;
  char name[8][80], label[BENCH_MOST_PANELS][80];
  int64_t rows;
  int *panel;      /* of each row */
  double *seconds; /* rows x series, NAN: none */
} bench_profile;

int bench_profile_open(bench_profile *profile, int64_t rows);
/* The panel of that label, made where there is none yet. */
int bench_profile_panel(bench_profile *profile, const char *label);
int bench_profile_write(const bench_profile *profile, const char *path);
void bench_profile_close(bench_profile *profile);

/* Ratios, a line a system. */
typedef struct bench_chart {
  const char *title, *axis;
  char subtitle[256];
  int series;
  char name[8][80];
  int64_t rows;
  char (*label)[64];
  double *value; /* rows x series, NAN: none */
} bench_chart;

int bench_chart_open(bench_chart *chart, int64_t rows);
int bench_chart_write(const bench_chart *chart, const char *path);
void bench_chart_close(bench_chart *chart);

/* ---- What bench l17 measures: l17.c, l17_report.c. ---- */

typedef enum bench_experiment {
  BENCH_RATES,      /* SpTRSV by block size, scratchpad on and off */
  BENCH_STRATEGIES, /* SpTRSM by right-hand sides */
  BENCH_P,          /* the sweep over p */
  BENCH_EXPERIMENTS
} bench_experiment;

/* The suite that rows of an experiment name. */
extern const char *const bench_l17_suites[BENCH_EXPERIMENTS];
/* The k-th method of an experiment, NULL behind the last. */
const char *bench_l17_method(bench_experiment experiment, int k);
bool bench_l17_has(const bench_rows *rows);
void bench_l17_report(const bench_rows *rows, bool markdown);
/* PREFIX-rates.svg and so on. */
int bench_l17_draw(const bench_rows *rows, const char *prefix);

/* ---- What bench x20 measures: x20.c, x20_report.c. ---- */

typedef enum bench_x20_experiment {
  BENCH_X20_UNIFIED, /* managed memory by the number of GPUs */
  BENCH_X20_DESIGNS,
  BENCH_X20_TASKS,   /* tasks a GPU */
  BENCH_X20_SCALING, /* by the number of GPUs, as many tasks in all */
  BENCH_X20_EXPERIMENTS
} bench_x20_experiment;

/* The suite that rows of an experiment name; their number of GPUs stands as threads. */
extern const char *const bench_x20_suites[BENCH_X20_EXPERIMENTS];
bool bench_x20_has(const bench_rows *rows);
void bench_x20_report(const bench_rows *rows, bool markdown);
/* PREFIX-designs.svg and so on. */
int bench_x20_draw(const bench_rows *rows, const char *prefix);

/* ---- Several GPUs: gpu_list.c; bench gpus: gpus.c, gpus_measure.c, gpus_report.c. ---- */

enum { BENCH_MOST_GPUS = 8 };

/* As CUDA numbers them. */
typedef struct bench_gpu_list {
  int number[BENCH_MOST_GPUS], count;
} bench_gpu_list;

/* What --backend lists; NULL: all that there are. */
int bench_gpu_list_find(bench_gpu_list *gpus, const char *backend);
/* A context of the first count of them; of one it is no group. */
int bench_gpu_list_open(const bench_gpu_list *gpus, int count, trs_context **ctx);
int bench_gpu_list_distinct(const bench_gpu_list *gpus);

/* What rows of the two parts of bench gpus name as their suite. */
extern const char bench_gpus_suite[], bench_gpus_capped[];
bool bench_gpus_has(const bench_rows *rows);
/* A line of the system whose rows begin at first. */
void bench_gpus_line(const bench_rows *rows, int64_t first);
void bench_gpus_report(const bench_rows *rows, bool markdown);
int bench_gpus_draw(const bench_rows *rows, const char *path);

/* A table that is filled cell by cell, row by row; the first row is its head. */
typedef struct bench_grid {
  int columns;
  int64_t cells, room;
  char (*cell)[48];
} bench_grid;

void bench_grid_add(bench_grid *grid, const char *text);
/* Aligned, or as Markdown; then it is empty again. */
void bench_grid_print(bench_grid *grid, const char *title, bool markdown);

/* Panels of lines over a logarithmic axis of powers of two. */
typedef struct bench_lines {
  const char *title, *subtitle, *x_axis;
  int series, points;
  char name[8][80]; /* "": not in the legend */
  bool dots[8];     /* points instead of a line, in the colour of the series four before */
  double x[16];
  int64_t panels;
  char (*label)[64];
  double *value; /* panels x series x points, NAN: none */
} bench_lines;

int bench_lines_open(bench_lines *lines, int64_t panels);
int bench_lines_write(const bench_lines *lines, const char *path);
void bench_lines_close(bench_lines *lines);

#endif
