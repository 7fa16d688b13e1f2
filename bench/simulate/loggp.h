/* loggp.h - how long a distributed solve takes on more ranks than can be simulated one by one: the
 * task graph of its sweeps, played through in the order of time with LogGP's costs.
 *
 * Tasks, messages, trees and the order in which a rank takes them up are those of sweep.c and
 * exchange.c; a rank takes messages as they arrive.  Left out: that messages share links, and that
 * sums are added in a fixed order, for which a product may have to wait. */
#ifndef TRS_SIMULATE_LOGGP_H
#define TRS_SIMULATE_LOGGP_H

#include "simulate/machine.h"
#include "simulate/report.h"

/* figures[px py pz].  O(messages log messages + blocks of all grids). */
trs_status trs_loggp(const trs_grid_layout *layout, const trs_machine *machine,
                     trs_grid_algorithm algorithm, trs_tree_shape trees, trs_grid_shape shape,
                     int64_t nrhs, trs_figures *figures);

#endif
