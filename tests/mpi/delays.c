/* delays.c - many solves with random delays of messages, on every shape: the same bits for every
 * order of arrival; the sparse allreduce alone; tags that wrap.  The transport is MPI's with
 * pauses. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/config.h"
#include "comm/ranks_mpi.h"
#include "solve/grid3d/grid3d.h"
#include "mpi/columns.h"
#include "mpi/verdict.h"

static trs_ranks ranks;
static trs_transport slow;
static const trs_transport *mpi;
static unsigned seed;

static void pause_now_and_then(void) {
  seed = seed * 1103515245u + 12345u;
  if ((seed >> 16) % 8 == 0) usleep((seed >> 20) % 300);
}

static trs_status slow_send(trs_ranks *r, int to, int tag, const void *data, int64_t bytes) {
  pause_now_and_then();
  return mpi->send(r, to, tag, data, bytes);
}

static trs_status slow_receive(trs_ranks *r, int from, int tag, void *data, int64_t capacity,
                               int64_t *bytes) {
  pause_now_and_then();
  return mpi->receive(r, from, tag, data, capacity, bytes);
}

static trs_factors *factored(const char *name) {
  trs_matrix *A;
  trs_factors *F;
  must(trs_matrix_read(&A, name, NULL), "trs_matrix_read");
  must(trs_factor(&F, A, NULL), "trs_factor");
  trs_matrix_destroy(A);
  return F;
}

static void create(trs_grid_solver *solver, const trs_factors *F, const trs_grid_options *options) {
  trs_grid_input in;
  must(trs_input_factors(&in, F), "trs_input_factors");
  must(trs_grid_solver_create(solver, &ranks, &in, options), "trs_grid_solver_create");
}

static int solve_often(const trs_factors *F, trs_grid_shape shape, trs_grid_algorithm algorithm,
                       bool scattered, int times) {
  enum { N = 100 };
  trs_grid_options options = {
      .algorithm = algorithm,
      .shape = shape,
      .supernodes = {.width = 8,
                     .scattered = scattered,
                     .invert = scattered ? TRS_INVERT_RUNS : TRS_INVERT_BLOCKS},
      .nrhs = 2};
  trs_grid_solver solver;
  double b[3 * N], x[3 * N], first[3 * N];
  int good = 1;
  create(&solver, F, &options);
  for (int k = 0; k < times; k++) {
    trs_backward_error error = {.struct_size = sizeof(trs_backward_error)};
    trs_random_fill(b, 3 * N, TRS_DOUBLE, (uint64_t)(k % (times - 1)));
    memset(x, 255, sizeof x);
    must(solve_columns(&solver, x, b, N, 3), "trs_grid_solver_solve");
    if (rank == 0)
      must(trs_check_factors(&error, F, TRS_NO_TRANS, x, N, b, N, 3, TRS_COL_MAJOR),
           "trs_check_factors");
    good &= error.componentwise < 1e-13;
    if (k == 0) memcpy(first, x, sizeof x);
    if (k == times - 1 && algorithm == TRS_GRID3D && memcmp(first, x, sizeof x) != 0) {
      fprintf(stderr, "rank %d: the same right-hand side has other bits in x\n", rank);
      good = 0;
    }
  }
  trs_grid_solver_destroy(&solver);
  return good;
}

/* Each grid's x of an ancestor is 2^z; afterwards all grids have the sum over those that share
 * it. */
static int allreduces(const trs_factors *F, trs_grid_shape shape) {
  trs_grid_options options = {.shape = shape, .supernodes = {.width = 8}, .nrhs = 3};
  trs_grid_solver s;
  trs_exchange_times times = {0};
  int good = 1;
  create(&s, F, &options);
  must(trs_part_reserve(&s.part, 3), "trs_part_reserve");
  void *buffer = NULL;
  must(trs_alloc(&buffer, 2 * 3 * s.layout.n, sizeof(double)), "trs_alloc");
  for (int64_t K = 0; K < s.layout.count; K++) {
    if (!trs_has_diagonal(&s.part, K)) continue;
    double *x = trs_x(&s.part, K);
    for (int64_t i = 0; i < 3 * trs_width(&s.layout, K); i++)
      x[i] = (double)(1 << s.part.z) * (double)(K + i);
  }
  must(trs_sparse_allreduce(s.shared, &s.part, &ranks, buffer, &times), "trs_sparse_allreduce");
  for (int64_t K = 0; K < s.layout.count; K++) {
    if (!trs_has_diagonal(&s.part, K)) continue;
    const double *x = trs_x(&s.part, K);
    double sum = 0;
    for (int z = 0; z < shape.z; z++)
      if (trs_on_grid(&s.layout, K, z)) sum += (double)(1 << z);
    for (int64_t i = 0; i < 3 * trs_width(&s.layout, K); i++) good &= x[i] == sum * (double)(K + i);
  }
  good &= times.messages <= trs_pair_steps(shape.z);
  trs_free(buffer);
  trs_grid_solver_destroy(&s);
  return good;
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  must(trs_ranks_open_mpi(&ranks, MPI_COMM_WORLD, 0), "trs_ranks_open_mpi");
  trs_factors *F = factored("gen:poisson2d5:10");
  int good = 1;
  for (int z = 1; z <= size && z <= 8; z *= 2)
    for (int x = 1; x <= size / z; x++)
      if (size % (x * z) == 0) good &= allreduces(F, (trs_grid_shape){x, size / x / z, z});
  say("sparse allreduce", good);
  good = solve_often(F, (trs_grid_shape){1, size, 1}, TRS_GRID3D, true, 300);
  say("tags wrap", good);
  mpi = ranks.transport;
  slow = *mpi;
  slow.send = slow_send;
  slow.receive = slow_receive;
  ranks.transport = &slow;
  seed = (unsigned)rank + 1;
  for (int z = 1; z <= size && z <= 8; z *= 2)
    for (int x = 1; x <= size / z; x++)
      for (int a = 0; a < 4 && size % (x * z) == 0; a += TRS_HAVE_PAPERS ? 1 : 2)
        good &= solve_often(F, (trs_grid_shape){x, size / x / z, z},
                            a % 2 ? TRS_GRID3D_BASELINE : TRS_GRID3D, a / 2, 6);
  say("late messages", good);
  ranks.transport = mpi;
  trs_factors_destroy(F);
  trs_ranks_close(&ranks);
  MPI_Finalize();
  return failures != 0;
}
