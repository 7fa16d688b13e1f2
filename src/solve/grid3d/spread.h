/* spread.h - the supernodes that are spread over the GPUs of a grid: what the host tells the
 * kernels.  C and CUDA C++.
 *
 * Every GPU of a grid has room for x and for sums of all of the grid's spread supernodes, at the
 * same places, and kernels of all store there: memory is reached through base[member].  A word of
 * flags beside each says that it has come: it has the number of the solve, so that nothing is
 * cleared between solves.  L and U have room of their own, since one GPU may begin with U while
 * another still reads what L's sweep has brought it.
 *
 * Tasks are taken by ticket in the order of the sweep, which is that of supernodes.  Whoever waits
 * does so for a supernode before its own, or for the same one's sums or x from another GPU, which
 * has them in this order too: so somebody can always go on. */
#ifndef TRS_SOLVE_GRID3D_SPREAD_H
#define TRS_SOLVE_GRID3D_SPREAD_H

#include "device/device.h"
#include "device/fault.h"

enum {
  TRS_SPREAD_MEMBERS = 32, /* most GPUs of a grid */
  TRS_SPREAD_WIDEST = 128, /* most columns of a supernode */
  TRS_SPREAD_WARPS = 8,    /* of a block of threads, which takes a task */
  TRS_SPREAD_LINES = 32,   /* most outputs of a unit, a lane each, */
  TRS_SPREAD_TERMS = 16,   /* and most products in each */
  TRS_SPREAD_TILE = 8      /* right-hand sides that a task solves for, where there are several */
};

/* What a rank does with a supernode. */
typedef enum trs_spread_kind {
  TRS_SPREAD_SOLVE = 0, /* adds its sum up, finds x and hands it on */
  TRS_SPREAD_SUM,       /* adds its sum up and hands that on */
  TRS_SPREAD_RECEIVE    /* x comes from another GPU, and goes on to others or to rows here */
} trs_spread_kind;

typedef struct trs_spread_task {
  int64_t diagonal;            /* values of its triangle (ops.h), inverted; -1: x is the sum */
  int32_t kind;                /* trs_spread_kind */
  int32_t K, first, width;     /* its number among those that are spread, its first row, its rows */
  int32_t unit, units;         /* its products */
  int32_t children;            /* sums that come from other GPUs */
  int32_t parent, place;       /* SUM: to whom, as which child */
  int32_t receiver, receivers; /* of x */
  int32_t row;                 /* where rows of this rank's own supernodes have it, or -1 */
  int32_t name;                /* its first column in the factors, for messages */
  bool solved;                 /* the triangle is not inverted */
  bool takes;                  /* a right-hand side */
} trs_spread_task;

/* Lines of a block times some of x(K).  Of L a block lies in tiles of rows (ops.h): the lines are
 * rows, named by the list, and x is dense.  Of U it lies by rows of terms: the lines are dense, and
 * the list names the terms. */
typedef struct trs_spread_unit {
  int64_t values, list;
  int32_t K;     /* waited for */
  int32_t x;     /* row of x from which terms are counted */
  int32_t out;   /* U: the first line */
  int32_t pitch; /* L: terms of the whole block; U: numbers from term to term */
  int32_t from;  /* L: the first term */
  int32_t lines, terms;
} trs_spread_unit;

/* One sweep of one rank. */
typedef struct trs_spread_args {
  trs_scalar scalar;
  bool upper;
  int32_t member, tile, chunks; /* right-hand sides of a task; tasks that make up all of them */
  int32_t ntasks, widest;
  uint32_t solve;               /* its number */
  int64_t nrhs, columns, count; /* rows and number of the spread supernodes of the grid */
  const trs_spread_task *task;
  const trs_spread_unit *unit;
  const int32_t *list, *receiver;
  const void *values;
  const void *b; /* right-hand sides, by rows, as x is */
  void *rows;    /* of this rank's own supernodes, and of those that they touch */
  char *base[TRS_SPREAD_MEMBERS];
  int64_t x, sums, x_told, sums_told; /* bytes from a base on */
  uint32_t *ticket;                   /* zero */
  trs_fault *fault;
} trs_spread_args;

/* Rows of x to a packed array, or what is packed added to them. */
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

/* These launch. */
TRS_API trs_status trs_spread_launch(const trs_spread_args *args, trs_stream stream);
TRS_API trs_status trs_spread_move(const trs_spread_rows *rows, trs_stream stream);

#ifdef __cplusplus
}
#endif
#endif
