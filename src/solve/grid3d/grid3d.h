/* grid3d.h - A x = b from LU factors on Px x Py x Pz ranks by L23's Algorithm 1: L-solve on every
 * grid, one sparse allreduce, U-solve.  grid2d is Pz = 1.  Other orders of sweeps and exchanges,
 * all to repeat L23, are in papers/L23. */
#ifndef TRS_SOLVE_GRID3D_GRID3D_H
#define TRS_SOLVE_GRID3D_GRID3D_H

#include "solve/grid3d/exchange.h"
#include "solve/grid3d/input.h"
#include "solve/grid3d/move.h"
#include "solve/grid3d/plans.h"
#include "solve/grid3d/sweep.h"

/* All but the first exist in builds with the papers. */
typedef enum trs_grid_algorithm {
  TRS_GRID3D = 0,
  TRS_GRID3D_ALGORITHM_2, /* x is reduced to one grid, then broadcast */
  TRS_GRID3D_BASELINE,    /* section 2.2: level by level over the separator tree, with look-ahead */
  TRS_GRID3D_NO_LOOKAHEAD /* and without, as published */
} trs_grid_algorithm;

typedef struct trs_grid_options {
  trs_grid_algorithm algorithm;
  trs_tree_shape trees;
  trs_grid_shape shape; /* all 0: the library chooses, */
  bool one_grid;        /* with Pz = 1 */
  trs_layout_options supernodes;
  int64_t nrhs; /* most right-hand sides per pass */
  trs_plans_options plans;
  bool in_turn; /* with plans: ranks sweep one after the other */
} trs_grid_options;

/* Of one solve on one rank. */
typedef struct trs_grid_times {
  trs_sweep_times sweep[2];       /* L, U */
  trs_exchange_times exchange[2]; /* before the U-solve, and during it */
  double total_s;
  double transfer_s; /* not part of the total: copying right-hand sides to the memory of the plans,
                        and x back */
  int64_t nrhs;
} trs_grid_times;

typedef struct trs_grid_solver {
  trs_ranks *ranks;
  trs_grid_options set;
  trs_isa isa; /* of the block operations of all ranks */
  trs_grid_maps maps;
  trs_grid_layout layout;
  int64_t runs; /* runs that were candidates for inversion; those of the layout are inverted */
  double run_numbers; /* numbers in the triangles of these runs */
  trs_rank_part part;
  int nphases;           /* sweeps of each triangle, by the scheme */
  trs_sweep *phase[2];   /* L, U */
  trs_slot_list *shared; /* levels: x shared by 2^(k+1) grids */
  trs_slot_list *sums;   /* levels: sums sent in step k, if the scheme has any */
  void *buffer;          /* packed messages */
  int64_t buffer_bytes;
  trs_row_moves moves;  /* of b and x, in the application's distribution */
  trs_stream stream;    /* of b and x in device memory */
  int64_t room;         /* right-hand sides that fit on all ranks */
  bool met;             /* other ranks have mapped the memory of the part's solver */
  uint32_t phases_run;  /* for the tags */
  trs_grid_times times; /* of the last solve */
} trs_grid_solver;

/* Collective, like all functions below; a failure is reported on all ranks.  b and x lie whole on
 * rank 0 until trs_grid_solver_distribute changes that. */
TRS_API trs_status trs_grid_solver_create(trs_grid_solver *solver, trs_ranks *ranks,
                                          const trs_grid_input *input,
                                          const trs_grid_options *options);
TRS_API void trs_grid_solver_destroy(trs_grid_solver *solver);

/* From now on this rank has the given rows of b and x, starting at `first`. */
TRS_API trs_status trs_grid_solver_distribute(trs_grid_solver *solver, int64_t first, int64_t rows);

/* The order of an algorithm's sweeps and exchanges. */
typedef struct trs_grid_scheme {
  bool by_levels; /* one grid solves a node of the tree; false: all grids that share it */
  int (*phases)(int levels);                        /* sweeps of each triangle; NULL: one, */
  trs_roles (*roles)(int z, bool upper, int phase); /* of all supernodes */
  trs_status (*list_sums)(trs_grid_solver *solver); /* into solver->sums; NULL: no sums cross */
  trs_status (*run)(trs_grid_solver *solver);
} trs_grid_scheme;

/* papers/L23/schemes.c */
extern const trs_grid_scheme trs_l23_algorithm_2, trs_l23_baseline, trs_l23_no_lookahead;

/* NULL: this build lacks the algorithm. */
const trs_grid_scheme *trs_grid_scheme_of(trs_grid_algorithm algorithm);

trs_roles trs_grid_scheme_roles(const trs_grid_scheme *scheme, int z, bool upper, int phase);

/* For schemes: one sweep; and between L and U, the L-solve's x becomes the U-solve's right-hand
 * side. */
trs_status trs_grid_solver_sweep(trs_grid_solver *solver, bool upper, int phase);
void trs_grid_solver_turn(trs_grid_solver *solver);

/* The steps of setup and solve without numbers, separate so that a simulation can run them: the
 * setup of sweeps and exchanges, once layout and part exist; and the algorithm, from sums that hold
 * right-hand sides to x, with times. */
trs_status trs_grid_solver_plan(trs_grid_solver *solver);
trs_status trs_grid_solver_run(trs_grid_solver *solver);

/* Bytes of the solver's buffer: the longest list of slots of sums, or twice that of shared x. */
int64_t trs_grid_buffer_bytes(const trs_grid_solver *solver);

/* rhs: this rank's rows, on the host. */
trs_status trs_grid_solver_solve(trs_grid_solver *solver, const trs_rhs *rhs);

/* stats.c, collective.  Sets all fields except method, invert, backend, gpus and ranks_on_gpu. */
TRS_API trs_status trs_grid_stats(trs_mpi_stats *stats, const trs_grid_solver *solver,
                                  trs_mpi_over over);

#endif
