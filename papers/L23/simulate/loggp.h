/* loggp.h - the time of a distributed solve on more ranks than can be simulated individually: the
 * task graph of its sweeps, processed in time order with LogGP's costs.
 *
 * Tasks, messages, trees and the order of a rank's work are those of sweep.c and exchange.c; a rank
 * receives messages as they arrive.  Messages between nodes share links (network.h).  Not modelled:
 * the fixed order of addition, for which a product may have to wait. */
#ifndef TRS_SIMULATE_LOGGP_H
#define TRS_SIMULATE_LOGGP_H

#include "simulate/machine.h"
#include "simulate/report.h"

/* figures[px py pz].  O(messages log messages + blocks of all grids + steps x routers^2). */
trs_status trs_loggp(const trs_grid_layout *layout, const trs_machine *machine,
                     const trs_simulated *run, trs_figures *figures);

#endif
