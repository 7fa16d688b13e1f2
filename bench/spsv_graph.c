/* spsv_graph.c - a CUDA graph of one SpSV per system, captured from as many streams as the GPU may
 * run side by side. */
#include "spsv_graph.h"

#include <stdlib.h>

#include "cuda.h"

enum { STREAMS = 32, ONLY_ORDER = 2 /* cudaEventDisableTiming */, NOT_BLOCKING = 1, GLOBAL = 0 };

static struct {
  int (*create_stream)(void **, unsigned);
  int (*create_event)(void **, unsigned);
  int (*record)(void *, void *);
  int (*wait)(void *, void *, unsigned);
  int (*begin)(void *, int);
  int (*end)(void *, void **);
  int (*instantiate)(void **, void *, unsigned long long);
  int (*destroy_graph)(void *), (*destroy)(void *);
  int (*launch)(void *, void *);
  int (*set_stream)(void *, void *);
  void *stream[STREAMS], *event[STREAMS + 1];
} graphs;

static bool find_all(void) {
  return bench_cuda_find(&graphs.create_stream, "cudaStreamCreateWithFlags") &&
         bench_cuda_find(&graphs.create_event, "cudaEventCreateWithFlags") &&
         bench_cuda_find(&graphs.record, "cudaEventRecord") &&
         bench_cuda_find(&graphs.wait, "cudaStreamWaitEvent") &&
         bench_cuda_find(&graphs.begin, "cudaStreamBeginCapture") &&
         bench_cuda_find(&graphs.end, "cudaStreamEndCapture") &&
         bench_cuda_find(&graphs.instantiate, "cudaGraphInstantiateWithFlags") &&
         bench_cuda_find(&graphs.destroy_graph, "cudaGraphDestroy") &&
         bench_cuda_find(&graphs.destroy, "cudaGraphExecDestroy") &&
         bench_cuda_find(&graphs.launch, "cudaGraphLaunch") &&
         bench_cusparse_find(&graphs.set_stream, "cusparseSetStream");
}

const char *bench_spsv_graph_load(void) {
  if (graphs.stream[0]) return NULL;
  bool good = find_all();
  if (!good) return "the CUDA runtime lacks functions of graphs";
  for (int k = 0; k < STREAMS; k++)
    good = good && bench_cuda_good(graphs.create_stream(&graphs.stream[k], NOT_BLOCKING));
  for (int k = 0; k <= STREAMS; k++)
    good = good && bench_cuda_good(graphs.create_event(&graphs.event[k], ONLY_ORDER));
  return good ? NULL : bench_cusparse_error();
}

/* The other streams begin behind the first one, or end before it goes on. */
static bool fork_streams(void) {
  bool good = bench_cuda_good(graphs.record(graphs.event[STREAMS], graphs.stream[0]));
  for (int k = 1; k < STREAMS; k++)
    good = good && bench_cuda_good(graphs.wait(graphs.stream[k], graphs.event[STREAMS], 0));
  return good;
}
static bool join_streams(void) {
  bool good = true;
  for (int k = 1; k < STREAMS; k++)
    good = good && bench_cuda_good(graphs.record(graphs.event[k], graphs.stream[k])) &&
           bench_cuda_good(graphs.wait(graphs.stream[0], graphs.event[k], 0));
  return good;
}

static bool capture(bench_spsv_graph *g) {
  void *graph = NULL, *handle = bench_cusparse_handle();
  bool good = bench_cuda_good(graphs.begin(graphs.stream[0], GLOBAL)) && fork_streams();
  for (int64_t s = 0; s < g->count && good; s++)
    good = bench_cusparse_good(graphs.set_stream(handle, graphs.stream[s % STREAMS])) &&
           bench_cusparse_solve(&g->solve[s]);
  good = good && join_streams();
  good = bench_cuda_good(graphs.end(graphs.stream[0], &graph)) && good;
  good = bench_cusparse_good(graphs.set_stream(handle, NULL)) && good;
  good = good && bench_cuda_good(graphs.instantiate(&g->graph, graph, 0));
  if (graph) (void)bench_cuda_good(graphs.destroy_graph(graph));
  return good;
}

static void *at(void *array, int64_t index) { return (double *)array + index; }

bool bench_spsv_graph_make(bench_spsv_graph *g, const bench_gpu *first, int64_t count,
                           int algorithm) {
  *g = (bench_spsv_graph){.count = count,
                          .gpu = calloc((size_t)count, sizeof *g->gpu),
                          .solve = calloc((size_t)count, sizeof *g->solve)};
  bool good = g->gpu && g->solve;
  for (int64_t s = 0; s < count && good; s++) {
    double ask, analysis;
    g->gpu[s] = *first;
    g->gpu[s].val = at(first->val, s * first->nnz);
    g->gpu[s].b = at(first->b, s * first->n);
    g->gpu[s].x = at(first->x, s * first->n);
    good = bench_cusparse_prepare(&g->solve[s], &g->gpu[s], algorithm) &&
           bench_cusparse_analyze(&g->solve[s], &ask, &analysis);
  }
  return good && capture(g);
}

bool bench_spsv_graph_launch(const bench_spsv_graph *g) {
  return bench_cuda_good(graphs.launch(g->graph, NULL));
}

void bench_spsv_graph_free(bench_spsv_graph *g) {
  if (g->graph) (void)bench_cuda_good(graphs.destroy(g->graph));
  for (int64_t s = 0; s < g->count && g->solve && g->gpu; s++)
    if (g->solve[s].gpu) bench_cusparse_free(&g->solve[s]);
  free(g->gpu);
  free(g->solve);
  *g = (bench_spsv_graph){0};
}
