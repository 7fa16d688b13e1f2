/* spread.h - the supernodes that are distributed over the GPUs of a grid: arguments of the kernels.
 * C and CUDA C++.
 *
 * Every GPU of a grid has memory for x and for sums of all distributed supernodes of the grid, at
 * the same offsets, and the kernels of all GPUs store there through base[member].  L and U have
 * separate memory, because one GPU may begin U while another still reads data of L's sweep.
 *
 * By rows (spread.cu) values carry their own readiness (device/ready.cuh): the memory is full of
 * pending values when a solve begins.  Consecutive solves use one half of it each, and a GPU
 * refills its other half while no GPU uses it.
 *
 * By columns (L23's Algorithm 5, papers/L23/columns.cu) a word per supernode signals the arrival of
 * x. It holds the number of the solve, so that words need not be cleared.
 *
 * Tickets assign tasks in the order of the sweep.  This order is the same on all GPUs, and a task
 * waits only for an earlier supernode, or for sums or x of its own supernode from another GPU.
 * Therefore at least one task can always proceed. */
#ifndef TRS_SOLVE_GRID3D_SPREAD_H
#define TRS_SOLVE_GRID3D_SPREAD_H

#include "device/device.h"
#include "device/fault.h"

enum {
  TRS_SPREAD_WIDEST = 128, /* most columns of a supernode */
  TRS_SPREAD_LINES = 32,   /* most outputs of a unit, one lane per output, */
  TRS_SPREAD_TERMS = 16,   /* and most products per output */
  TRS_SPREAD_TILE = 8      /* right-hand sides per task, if a solve has several */
};

/* The action of a rank on a supernode. */
typedef enum trs_spread_kind {
  TRS_SPREAD_SOLVE = 0, /* adds its sum, computes x and sends it */
  TRS_SPREAD_SUM,       /* adds its sum and sends it to the parent */
  TRS_SPREAD_RECEIVE /* receives x from another GPU; sends it on, or stores it in rows of this rank
                      */
} trs_spread_kind;

typedef struct trs_spread_task {
  int64_t diagonal;        /* offset of its triangle's values (ops.h), inverted; -1: x is the sum */
  int32_t kind;            /* trs_spread_kind */
  int32_t K, first, width; /* number among the distributed ones, first row, rows */
  int32_t unit, units;     /* first unit and number of units: its products */
  int32_t children;        /* by rows: number of sums that other GPUs send; by columns: number of
                              units of its row */
  int32_t parent, child;   /* SUM: destination of the sum, and index among its children */
  int32_t receiver, receivers; /* of x */
  int32_t row;                 /* its position in the rows of this rank's own supernodes, or -1 */
  int32_t name;                /* its first column in the factors, for error messages */
  bool solved;                 /* the triangle is not inverted */
  bool takes;                  /* adds a right-hand side */
} trs_spread_task;

/* Products of lines of a block with some of x(K).  A block of L is stored in tiles of rows (ops.h):
 * the lines are rows, named by the list, and x is dense.  A block of U is stored by rows of terms:
 * the lines are dense, and the list names the terms. */
typedef struct trs_spread_unit {
  int64_t values, list;
  int32_t K, first; /* the block's other supernode and its first row: by rows that of x, by columns
                       that of the sums */
  int32_t out;      /* U: the first line */
  int32_t pitch;    /* L: terms of the whole block; U: numbers between consecutive terms */
  int32_t from;     /* L: the first term */
  int32_t lines, terms;
} trs_spread_unit;

/* One sweep of one rank. */
typedef struct trs_spread_args {
  trs_scalar scalar;
  bool upper;
  int32_t member, tile, chunks; /* right-hand sides per task; tasks per supernode */
  int32_t ntasks, widest;
  bool copies;                  /* triangles to shared memory; set by the launch */
  int64_t nrhs, columns, count; /* number of rows, and of supernodes, that the grid distributes */
  const trs_spread_task *task;
  const trs_spread_unit *unit;
  const int32_t *list, *receiver;
  const void *values;
  const void *b; /* right-hand sides, by rows, like x */
  void *rows;    /* of this rank's own supernodes, and of those that they touch */
  char *base[TRS_MOST_MEMBERS];
  int64_t x, sums;  /* offsets in bytes from a base */
  uint32_t *ticket; /* zero at the launch */
  trs_fault *fault;

  /* By columns. */
  int64_t x_arrived_at; /* offset of the words that other GPUs store, */
  uint32_t solve;       /* and their value: the number of the solve */
  uint32_t *added;      /* count x chunks: products added, zero at the launch */
  void *lsum;           /* columns x nrhs: sums of products, zero at the launch */
} trs_spread_args;

/* Copies rows of x to a packed array, or adds packed rows to them. */
typedef struct trs_spread_rows {
  trs_scalar scalar;
  bool add;
  int64_t rows, nrhs;
  const int32_t *row;
  void *x, *packed;
} trs_spread_rows;

#ifdef __cplusplus
extern "C" {
#endif

/* These functions launch and do not wait. */
trs_status trs_spread_launch(const trs_spread_args *args, trs_stream stream);
trs_status trs_spread_move(const trs_spread_rows *rows, trs_stream stream);

#ifdef __cplusplus
}
#endif
#endif
