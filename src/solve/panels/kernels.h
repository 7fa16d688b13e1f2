/* kernels.h - the sweep over panels for each real element type: kernels.c, compiled for each level
 * of instructions (base/cpu.h). */
#ifndef TRS_SOLVE_PANELS_KERNELS_H
#define TRS_SOLVE_PANELS_KERNELS_H

#include "analysis/subtrees.h"
#include "base/barrier.h"
#include "base/cpu.h"
#include "plan/plan.h"
#include "plan/wide.h"

typedef struct trs_panels_state {
  trs_panels panels;
  void
      *values; /* the diagonal of each diagonal block is inverted; a vector may be read past them */
  int spaces;  /* workspaces */
  void *work;  /* spaces x (n x TRS_WIDE, by place, of which one right-hand side uses the first n,
                  and  TRS_PANELS_LINES products) */
  int32_t *row; /* n: the row at each place of a backward sweep; NULL in a forward sweep */
} trs_panels_state;

/* The rows of a panel whose products are computed before they are subtracted. */
enum { TRS_PANELS_LINES = 512 };

enum { TRS_PANEL_WIDTH = 64 }; /* of the widest panel */

/* Rows of a block T(I,K) of the top of a triangle by rows. */
typedef struct trs_top_piece {
  int64_t values; /* of its first row */
  int64_t column; /* its columns, counted from K's first one: in trs_subtrees_state.column */
  int32_t ld, rows, count, place; /* between columns; its size; its first row */
} trs_top_piece;

/* The method subtrees. */
typedef struct trs_subtrees_state {
  const trs_panels_state *panels;
  trs_subtrees trees;
  trs_top_piece *piece; /* by rows, those of each supernode of the top in order; else NULL */
  int64_t *piece_ptr;   /* ntop + 1 */
  int32_t *column;
  void *work; /* by columns: a vector of n and TRS_PANELS_LINES products per thread, and one for the
                 top; by rows: a vector of n, and one for the top */
  trs_barrier *barrier;
} trs_subtrees_state;

/* The shares of threads, begin .. end - 1, that one of the members of a run does. */
typedef struct trs_subtrees_part {
  int begin, end, members;
} trs_subtrees_part;

/* The supernodes of the plan's system, which stay in the choice until an analysis by panels takes
 * them; NULL: they are slow.  bar: of the estimated time of substitution, the share from which on
 * they are; 0: that of one thread. */
trs_status trs_panels_look(const trs_panels **found, const trs_plan *plan, double bar,
                           trs_verdict *verdict);

typedef struct trs_panels_kernels {
  /* Right-hand sides r .. r + width - 1, in one of the workspaces; NULL for complex types. */
  void (*sweep[TRS_NSCALARS])(const trs_panels_state *state, const trs_rhs *rhs, int64_t r,
                              int width, int space);
  /* Replaces the diagonal by its reciprocals. */
  void (*prepare[TRS_NSCALARS])(const trs_panels_state *state);
  /* A member's part in a sweep of right-hand side r. */
  void (*share[TRS_NSCALARS])(const trs_subtrees_state *state, const trs_rhs *rhs, int64_t r,
                              const trs_subtrees_part *part);
} trs_panels_kernels;

extern const trs_panels_kernels trs_panels_kernels_baseline, trs_panels_kernels_avx2,
    trs_panels_kernels_avx512;

#endif
