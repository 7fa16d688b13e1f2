/* lot.h - a suite that nobody chose: systems drawn by a seed. */
#ifndef TRIREME_BENCH_LOT_H
#define TRIREME_BENCH_LOT_H

#include <stdbool.h>

#include "groups.h"
#include "settings.h"
#include "suite.h"

/* Draws the suite of the settings' seed.  Returns -1, or the exit code. */
int bench_lot_draw(bench_suite *suite, const bench_settings *set);
/* The same of smaller systems. */
int bench_tail_draw(bench_suite *suite, const bench_settings *set);
/* The class of a system, such as "meshes of a plane", one of the k-th names; NULL: no k-th. */
const char *bench_class_of(const bench_group *group);
const char *bench_class(int64_t k);
/* Means and least values by class of system, and the ten worst systems, each against the best peer
 * there is. */
void bench_lot_tables(const bench_groups *groups, bool gpu, bool markdown);

#endif
