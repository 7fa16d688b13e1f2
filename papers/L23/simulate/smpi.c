/* smpi.c - grid3d's solve on simulated ranks: compiled by SimGrid's smpicc, run by smpirun.
 *
 *     smpirun ... trireme-smpi NAME STRUCTURE METHOD:PXxPYxPZ:NRHS[:flat][:scattered] ...
 *
 * STRUCTURE comes from trireme-simulate.  Every rank runs sweep.c, exchange.c and grid3d.c
 * unchanged; ranks are contexts of one process (smpirun -no-privatize), so one rank reads the
 * structure and all use it.  Prints one line of JSON per solve. */
#include <mpi.h>
#include <smpi/smpi.h>
#include <stdio.h>
#include <time.h>

#include "base/timer.h"
#include "simulate/report.h"
#include "simulate/smpi_ops.h"
#include "simulate/structure.h"

#undef clock_gettime /* the host's */

/* ---- Messages. ---- */

/* SMPI copies small messages when they are sent, so that no request remains open. */
static trs_status send(trs_ranks *ranks, int to, int tag, const void *data, int64_t bytes) {
  MPI_Request request;
  trs_smpi_flush();
  MPI_Isend(data, (int)bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD, &request);
  if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
  trs_smpi_resume(ranks->state);
  return TRS_SUCCESS;
}

static trs_status receive(trs_ranks *ranks, int from, int tag, void *data, int64_t capacity,
                          int64_t *bytes) {
  MPI_Status status;
  int count;
  trs_smpi_flush();
  MPI_Recv(data, (int)capacity, MPI_BYTE, from < 0 ? MPI_ANY_SOURCE : from, tag, MPI_COMM_WORLD,
           &status);
  MPI_Get_count(&status, MPI_BYTE, &count);
  *bytes = count;
  trs_smpi_resume(ranks->state);
  return TRS_SUCCESS;
}

static trs_status finish(trs_ranks *ranks) {
  (void)ranks;
  return TRS_SUCCESS;
}

static trs_status reserve(trs_ranks *ranks, int64_t sends) {
  (void)ranks, (void)sends;
  return TRS_SUCCESS;
}

static const trs_transport transport = {
    .name = "smpi", .send = send, .receive = receive, .finish = finish, .reserve = reserve};

/* ---- Data that ranks share. ---- */

typedef struct shared {
  trs_symbolic symbolic;
  trs_grid_layout layout;
  trs_figures *figures;
  trs_status status;
  double start; /* the time at which a solve starts */
} shared;

/* Barrier along a tree: in SMPI's own barrier all ranks send to one, which takes it minutes. */
static void wait_all(trs_ranks *ranks) {
  trs_ranks_barrier(ranks);
  trs_smpi_flush();
}

/* Ranks leave a barrier one after the other, and the difference would count as waiting: all start
 * at the time that the last rank sets. */
static void begin_together(trs_ranks *ranks, shared *all) {
  wait_all(ranks);
  if (trs_seconds() > all->start) all->start = trs_seconds();
  wait_all(ranks);
  double rest = all->start + 1 - trs_seconds();
  if (rest > 0) smpi_execute(rest);
  trs_smpi_resume(ranks->state);
}

static void *share(trs_ranks *ranks, void *pointer) {
  MPI_Bcast(&pointer, (int)sizeof pointer, MPI_BYTE, 0, MPI_COMM_WORLD);
  trs_smpi_resume(ranks->state);
  return pointer;
}

/* ---- A solve. ---- */

static double host_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void note(trs_figures *f, const trs_grid_solver *s) {
  double *v = f->value;
  v[TRS_FIGURE_SOLVE] = s->times.total_s;
  v[TRS_FIGURE_BYTES] = 8.0 * (double)(s->part.side[0].nvalues + s->part.side[1].nvalues);
  for (int k = 0; k < 2; k++) {
    const trs_exchange_times *between = &s->times.exchange[k];
    const trs_sweep_times *inside = &s->times.sweep[k];
    v[TRS_FIGURE_INTER + k] = between->seconds;
    v[TRS_FIGURE_INTER_MESSAGES + k] = (double)between->messages;
    v[TRS_FIGURE_INTER_BYTES + k] = (double)between->bytes;
    v[TRS_FIGURE_INTRA + k] = inside->intra_s;
    v[TRS_FIGURE_INTRA_MESSAGES + k] = (double)inside->messages;
    v[TRS_FIGURE_INTRA_BYTES + k] = (double)inside->bytes;
    v[TRS_FIGURE_FLOP + k] = inside->flop_s;
    v[TRS_FIGURE_SWEEP + k] = inside->intra_s + inside->flop_s;
    v[TRS_FIGURE_FLOPS + k] = inside->flops;
  }
}

static trs_status solve(trs_ranks *ranks, shared *all, const trs_simulated *run) {
  trs_grid_solver solver;
  trs_grid_options set = {
      .algorithm = run->algorithm, .trees = run->trees, .shape = run->shape, .nrhs = run->nrhs};
  trs_status status = trs_structure_solver(&solver, ranks, &all->layout, &set);
  if (status) all->status = status;
  begin_together(ranks, all);
  solver.phases_run = 1; /* excludes the one in hundreds that starts with a barrier */
  if (!all->status) {
    status = trs_grid_solver_run(&solver);
    if (status) all->status = status;
    note(&all->figures[ranks->rank], &solver);
  }
  wait_all(ranks);
  if (!status) trs_structure_release(&solver);
  return all->status;
}

/* Rank 0 creates the data that all ranks share. */
static trs_status prepare(shared *all, const trs_simulated *run, int size) {
  if ((int64_t)run->shape.x * run->shape.y * run->shape.z != size)
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "a grid of %d x %d x %d does not have %d ranks",
                    run->shape.x, run->shape.y, run->shape.z, size);
  return trs_structure_layout(&all->layout, &all->symbolic, run->shape, run->scattered);
}

static trs_status run_one(trs_ranks *ranks, shared *all, const char *matrix, const char *text) {
  trs_simulated run = {.kind = "smpi", .matrix = matrix};
  double begin = host_seconds();
  TRS_TRY(trs_report_parse(&run, text));
  if (ranks->rank == 0) all->status = prepare(all, &run, ranks->size);
  wait_all(ranks);
  if (all->status) return all->status;
  TRS_TRY(solve(ranks, all, &run));
  if (ranks->rank == 0) {
    run.n = all->layout.n;
    run.supernodes = all->layout.count;
    run.stored = trs_structure_sizes(&all->layout).values;
    run.flops = trs_structure_sizes(&all->layout).flops;
    run.host_s = host_seconds() - begin;
    trs_report_leaves(&run, &all->layout);
    trs_report(stdout, &run, all->figures);
    trs_grid_layout_destroy(&all->layout);
  }
  wait_all(ranks);
  return TRS_SUCCESS;
}

static trs_status open(shared **all, trs_ranks *ranks, const char *path) {
  shared *made = NULL;
  if (ranks->rank == 0) {
    trs_status status = TRS_ALLOC_ZERO(&made, 1);
    if (!status) made->status = trs_symbolic_read(&made->symbolic, path);
    if (!status && !made->status) made->status = TRS_ALLOC_ZERO(&made->figures, ranks->size);
  }
  *all = share(ranks, made);
  return *all ? (*all)->status : TRS_ERROR_MEMORY;
}

static int explain(const trs_ranks *ranks) {
  trs_failure failure;
  trs_failure_get(&failure);
  if (ranks->rank == 0) fprintf(stderr, "trireme-smpi: %s\n", failure.message);
  return 1;
}

/* smpirun expects the symbol in a shared library (smpi.map). */
int main(int argc, char **argv) {
  trs_smpi_rank own = {0};
  trs_ranks ranks = {.transport = &transport, .state = &own, .chunk = 1 << 30};
  shared *all;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &ranks.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks.size);
  trs_smpi_resume(&own);
  if (argc < 4) {
    if (ranks.rank == 0)
      fprintf(stderr, "trireme-smpi NAME STRUCTURE METHOD:PXxPYxPZ:NRHS[:flat][:scattered] ...\n");
    MPI_Finalize();
    return 2;
  }
  trs_status status = open(&all, &ranks, argv[2]);
  for (int a = 3; a < argc && !status; a++) status = run_one(&ranks, all, argv[1], argv[a]);
  if (status) explain(&ranks);
  MPI_Finalize();
  return status ? 1 : 0;
}
