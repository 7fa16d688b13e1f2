/* tables.h - one line per system during a run, and tables of all rows. */
#ifndef TRIREME_BENCH_TABLES_H
#define TRIREME_BENCH_TABLES_H

#include "groups.h"
#include "row.h"
#include "runner.h"

/* The line of the system whose rows start at first. */
void bench_live_head(const bench_runners *all);
void bench_live_line(const bench_runners *all, const bench_rows *rows, int64_t first);
void bench_gpu_live_head(const bench_runners *all);
void bench_gpu_live_line(const bench_runners *all, const bench_rows *rows, int64_t first);

void bench_cpu_tables(const bench_groups *groups, const bench_rows *rows);
void bench_gpu_tables(const bench_groups *groups, const bench_rows *rows);
/* What programs were run beside auto, and by class of system how many times as fast it is; nothing
 * without programs. */
void bench_peer_tables(const bench_groups *groups, const bench_rows *rows, bool markdown);
/* The performance profile of the groups of a GPU, or of the others. */
int bench_draw(const bench_groups *groups, bool gpu, const char *path);

#endif
