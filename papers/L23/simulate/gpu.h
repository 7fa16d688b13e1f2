/* gpu.h - the time of L23's solve on GPUs that are not available: Algorithm 4 if a grid is one GPU,
 * Algorithm 5 on Px x 1 x Pz.
 *
 * A GPU is modelled as a number of blocks of threads that take supernode columns by ticket, in the
 * order of the sweep, and stay occupied while they wait.  A column costs a constant per task and
 * per triangle, plus its bytes at the read rate of one block.  A waiting block sees a word some
 * time after it is stored, and later if it comes from another GPU of the machine or from another
 * machine.  All columns of a GPU together are limited by its memory bandwidth.  One right-hand
 * side.  Not modelled: messages that share links. */
#ifndef TRS_SIMULATE_GPU_H
#define TRS_SIMULATE_GPU_H

#include "simulate/report.h"

typedef struct trs_gpu_machine {
  const char *name;
  int blocks;                  /* number of concurrent blocks of threads */
  double task_s;               /* per column, in addition to its numbers */
  double triangle_s[2];        /* per triangle, of L and of U */
  double block_bytes_s[2];     /* read rate per second: of one block, in L and in U, */
  double bytes_s;              /* of all together */
  double here_s;               /* latency of a word between blocks of one GPU, */
  double near_s, near_bytes_s; /* between GPUs of a machine, */
  double far_s, far_bytes_s;   /* and between machines */
  double sweep_s;              /* launch of a sweep and wait for its end */
  int gpus;                    /* per machine */
} trs_gpu_machine;

/* NULL: no machine has this name. */
const trs_gpu_machine *trs_gpu_machine_of(const char *name);

/* figures[px pz]; Py must be 1, and the layout has no homes if Px > 1.  O(blocks of all grids). */
trs_status trs_gpu_model(const trs_grid_layout *layout, const trs_gpu_machine *machine,
                         trs_tree_shape trees, trs_grid_shape shape, trs_figures *figures);

#endif
