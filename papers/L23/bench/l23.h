/* l23.h - the parts of trireme bench l23: solves on the ranks of this machine (l23_real.c), on
 * simulated ranks and in the LogGP model (l23.c), and tables and a chart of them (l23_report.c). */
#ifndef TRIREME_BENCH_L23_H
#define TRIREME_BENCH_L23_H

#include "row.h"
#include "settings.h"

/* The modelled time of a step of the exchange between grids in composed rows: L23's GPUs reach
 * other nodes at 12.5 GB/s. */
#define L23_STEP_S 5e-6
#define L23_NETWORK 12.5e9 /* bytes per second */

/* A row with the members of a solve on ranks set. */
typedef bench_row l23_row;
typedef bench_rows l23_rows;
typedef bench_spread l23_spread;

void l23_report(const l23_rows *rows, bool markdown);
int l23_draw(const l23_rows *rows, const char *path);

/* Px x Py with Px <= Py, as square as possible. */
void l23_square(int64_t places, int *px, int *py);

/* On the ranks of an MPI program, or on one: all grids with that number of ranks; or (gpu) 1 x 1 x
 * ranks on GPUs and, with one GPU per rank, Px x 1 x Pz, Figures 9 to 11.  put is called on rank 0.
 */
int l23_real(const bench_settings *set, const char *factors, const char *name, bool gpu,
             void (*put)(void *user, const l23_row *row), void *user);

#endif
