/* row.h - a result: one type for all experiments, one JSON object per line. */
#ifndef TRIREME_BENCH_ROW_H
#define TRIREME_BENCH_ROW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* The kind of a row: a triangular solve, a relaxation (W21), or a solve on ranks (L23). */
typedef enum bench_row_type {
  BENCH_SOLVE_ROW = 1,
  BENCH_RELAX_ROW = 2,
  BENCH_RANKS_ROW = 4,
  BENCH_BLOCKS_ROW = 8
} bench_row_type;

typedef struct bench_spread { /* over the ranks */
  double min, mean, max;
} bench_spread;

#define VALUE(name, key) L23_##name,
typedef enum l23_value {
#include "ranks.def"
  L23_LEAF, /* numbers in the leaf of the rank's grid */
  L23_VALUES
} l23_value;
#undef VALUE

typedef struct bench_row {
  /* In every row. */
  char suite[64], matrix[192], method[64];
  int64_t n, nrhs, threads, bytes; /* threads: of a CPU; else the number of GPUs */
  bool wrong;

  /* For solves and relaxations; times are seconds, NAN: does not apply. */
  char backend[8]; /* cpu, cuda, nvshmem */
  double create, update, gbs;

  /* For solves. */
  char chosen[64], scalar[16], reason[320];
  char layout[8], values[8]; /* column, row; own, drawn */
  char program[64];          /* the file of a program that is no part of Trireme; "" */
  char place[8];             /* several GPUs: location of b and x: first (GPU), spread */
  char plan[512];            /* the plan's description */
  bool upper;
  int64_t nnz, levels, repeats, checked;
  double parallelism, dependency;
  double analysis, first_analysis, ask, fastest, median, mean, latency, bound, hop;
  int64_t solves; /* of which mean is the arithmetic mean */
  /* What a plan tells of its own steps (L17's methods): of the analysis, loading includes a
   * transposition from CSR to the format of the method; and the parts of a solve. */
  double preprocessing, loading, allocation, synchronisation, compute;
  double componentwise, normwise;
  double matrix_bytes, plan_bytes, vector_bytes, analysis_peak, process_peak, limit_bytes;

  /* For relaxations and solves by blocks: n is the number of block rows. */
  char store[8];
  int64_t blocks, block_size, colours, sweeps;
  double sweep, copy_gbs, rounding, residual;
  double speedup;    /* over one GPU; of solves by blocks: over the fastest solve by scalars */
  double difference; /* largest difference of x from the CPU's, or by blocks in double from that by
                        scalars, relative to the largest x */
  int same_bits;     /* equal to that of one GPU; -1: not compared */

  /* For solves on ranks. */
  char kind[12]; /* real, smpi, loggp; with GPUs: gpu, a GPU for each rank; shared, several ranks
                    on one; composed, ranks timed one by one and the exchange modelled;
                    modelled, by trireme-simulate */
  char trees[8];
  bool homes, inverted;
  int64_t supernodes, ranks;
  int px, py, pz;
  double replicated, replicated_work, volume_bound, factor_bytes, host_s;
  bench_spread value[L23_VALUES];
} bench_row;

typedef struct bench_rows {
  bench_row *row;
  int64_t count, room;
} bench_rows;

/* Functions that return an int return -1, or the exit code. */
int bench_rows_add(bench_rows *rows, const bench_row *row);
/* Reads a row from a line of JSON; where: its name in error messages. */
int bench_rows_add_line(bench_rows *rows, const char *where, const char *line);
int bench_rows_read(bench_rows *rows, const char *path);
void bench_rows_free(bench_rows *rows);
/* Writes commit, machine and date before the row's own members. */
void bench_row_write(FILE *stream, const bench_row *row);

/* A row without measurements: NAN, and the default texts. */
bench_row bench_row_empty(void);
bench_row_type bench_type_of(const bench_row *row);
bool bench_on_gpu(const bench_row *row);
/* The seconds that tables compare: the fastest solve on the CPU, the median on a GPU; the fastest
 * sweep; the solve of the slowest rank. */
double bench_row_seconds(const bench_row *row);
/* Sorts the times of the solves, each a mean over batch of them, and sets the fastest, the median
 * and the mean. */
void bench_row_times(bench_row *row, double *seconds, int64_t repeats, int64_t batch);
/* True if both have the same matrix, triangle and type; and the same layout and number of
 * right-hand sides. */
bool bench_same_matrix(const bench_row *a, const bench_row *b);
bool bench_same_system(const bench_row *a, const bench_row *b);

/* The matrix's name in tables.  Solves add the triangle, and right-hand sides and type if not one
 * and double; relaxations add the blocks; ranks add the grids. */
void bench_label(char *label, size_t size, const bench_row *row);

#endif
