/* gpus.h - the supernodes that are distributed over the ranks of a grid, solved by one GPU per rank
 * (L23, section 3.4: Px > 1).
 *
 * The ranks of a grid are processes of one machine.  They map each other's device memory (CUDA's
 * inter-process handles), and kernels store the data that other GPUs wait for into it: a sweep uses
 * neither the host nor MPI.  Trees, counts and blocks are those of sweep.h and part.h, uploaded. */
#ifndef TRS_SOLVE_GRID3D_GPUS_H
#define TRS_SOLVE_GRID3D_GPUS_H

#include "solve/grid3d/spread_tasks.h"

typedef struct trs_grid_gpus trs_grid_gpus;

/* How the GPUs of a grid sweep the supernodes distributed over them.  What is NULL is not needed.
 */
typedef struct trs_spread_way {
  const char *name;
  trs_spread_list list;
  bool words; /* the shared memory has a word for each supernode and chunk, zero at first */

  /* Memory of its own: open once, reserve before solves with other numbers of right-hand sides. */
  trs_status (*open)(void **state, trs_device *device);
  trs_status (*reserve)(void *state, const trs_spread_args *args);
  void (*close)(void *state);

  /* After it, a wait for the default stream is one for the whole sweep. */
  trs_status (*launch)(void *state, trs_spread_args *args);
} trs_spread_way;

extern const trs_spread_way trs_spread_by_rows; /* spread.cu */
extern const trs_spread_way trs_l23_by_columns; /* papers/L23/columns.c: Algorithm 5 */

typedef struct trs_grid_gpus_options {
  trs_device *device;
  int machine; /* the same number on all ranks of a machine */
  trs_tree_shape trees;
  bool mpi_reads_device;
  const trs_spread_way *way[2]; /* L, U */
} trs_grid_gpus_options;

/* For a part that is filled, and its sweeps of L and U.  Local; after a failure the caller must
 * still destroy *made. */
trs_status trs_grid_gpus_create(trs_grid_gpus **made, const trs_rank_part *part,
                                const trs_sweep *const sweep[2],
                                const trs_grid_gpus_options *options);
void trs_grid_gpus_destroy(trs_grid_gpus *g); /* accepts NULL */

/* Allocates memory for the right-hand sides that the part is laid out for, in three steps: leave
 * (collective), reserve (local), and, if no rank failed, meet (collective).  leave must precede
 * destroy as well. */
void trs_grid_gpus_leave(trs_grid_gpus *g, trs_ranks *ranks);
trs_status trs_grid_gpus_reserve(trs_grid_gpus *g, const trs_rank_part *part);
trs_status trs_grid_gpus_meet(trs_grid_gpus *g, const trs_rank_part *part, trs_ranks *ranks);

/* Copies right-hand sides from the part, and solutions back into it; both wait for completion. take
 * begins a solve. */
trs_status trs_grid_gpus_take(trs_grid_gpus *g, const trs_rank_part *part);
trs_status trs_grid_gpus_give(trs_grid_gpus *g, trs_rank_part *part);

/* Sweeps L, or U if upper; rows: of the part's own supernodes, in device memory.  sweep launches;
 * wait waits and reports failures of the kernels. */
trs_status trs_grid_gpus_sweep(trs_grid_gpus *g, const trs_rank_part *part, bool upper, void *rows);
trs_status trs_grid_gpus_wait(trs_grid_gpus *g);

/* Exchange between grids, as in trs_local_solver. */
trs_status trs_grid_gpus_share(trs_grid_gpus *g, const trs_rank_part *part, int64_t rows,
                               const void **out, void **in);
trs_status trs_grid_gpus_add(trs_grid_gpus *g, const trs_rank_part *part, int64_t rows);

int64_t trs_grid_gpus_bytes(const trs_grid_gpus *g);

#endif
