/* spsv_graph.h - a CUDA graph of one SpSV of cuSPARSE per system, side by side. */
#ifndef TRIREME_BENCH_SPSV_GRAPH_H
#define TRIREME_BENCH_SPSV_GRAPH_H

#include "cusparse.h"

typedef struct bench_spsv_graph {
  int64_t count;
  bench_gpu *gpu; /* count each */
  bench_cusparse *solve;
  void *graph;
} bench_spsv_graph;

/* Why the runtime cannot, or NULL. */
const char *bench_spsv_graph_load(void);
/* first: the first system, whose val, b and x the others follow.  false: a failure, which
 * bench_cusparse_error explains. */
bool bench_spsv_graph_make(bench_spsv_graph *g, const bench_gpu *first, int64_t count,
                           int algorithm);
bool bench_spsv_graph_launch(const bench_spsv_graph *g);
void bench_spsv_graph_free(bench_spsv_graph *g);

#endif
