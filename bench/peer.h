/* peer.h - programs as peers: --peer NAME=PROGRAM. */
#ifndef TRIREME_BENCH_PEER_H
#define TRIREME_BENCH_PEER_H

#include "row.h"
#include "settings.h"
#include "system.h"

/* Reads the words of --peer into the settings.  Returns -1, or the exit code. */
int bench_peers_take(bench_settings *set);

/* A system with one right-hand side. */
typedef struct bench_peer_job {
  const bench_system *system;
  const trs_plan_info *info;
  const char *backend; /* of the rows */
  int threads;         /* of the CPU, which programs are told; 0: they run on a GPU */
  double bound;        /* seconds; NAN: unknown */
} bench_peer_job;

/* Runs every program on the system, checks its answer and adds its row.  Returns -1, or the exit
 * code. */
int bench_peers_measure(bench_rows *rows, const bench_settings *set, const bench_peer_job *job);

#endif
