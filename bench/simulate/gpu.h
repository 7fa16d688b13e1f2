/* gpu.h - how long L23's solve takes on grids of GPUs that are not there: Algorithm 4 where a grid
 * is one GPU, Algorithm 5 on Px x 1 x Pz.
 *
 * A GPU is some blocks of threads that take supernode columns by ticket, in the order of the sweep,
 * and keep their place while they wait.  A column costs what a task and a triangle cost, and its
 * bytes at what one block reads a second; who waits sees a word a while after it is stored, later
 * where it comes from another GPU of the machine or from another machine.  Columns of a GPU
 * together are no faster than its memory.  One right-hand side.  Left out: that messages share
 * links. */
#ifndef TRS_SIMULATE_GPU_H
#define TRS_SIMULATE_GPU_H

#include "simulate/report.h"

typedef struct trs_gpu_machine {
  const char *name;
  int blocks;                  /* of threads at once */
  double task_s;               /* a column, beside its numbers */
  double triangle_s[2];        /* and its triangle, of L and of U */
  double block_bytes_s[2];     /* from memory a second: one block, in L and in U, */
  double bytes_s;              /* all together */
  double here_s;               /* a word from block to block of one GPU, */
  double near_s, near_bytes_s; /* from GPU to GPU of a machine, */
  double far_s, far_bytes_s;   /* and between machines */
  double sweep_s;              /* to launch one and wait for its end */
  int gpus;                    /* of a machine */
} trs_gpu_machine;

/* NULL: there is no machine of this name. */
const trs_gpu_machine *trs_gpu_machine_of(const char *name);

/* figures[px pz]; Py must be 1, and layout without homes where Px > 1.  O(blocks of all grids). */
trs_status trs_gpu_model(const trs_grid_layout *layout, const trs_gpu_machine *machine,
                         trs_tree_shape trees, trs_grid_shape shape, trs_figures *figures);

#endif
