/* lost.c - ranks that make other calls or do not answer: an error on all other ranks, within the
 * limit.  Run by mpirun with two ranks or more; rank 0 prints 'ok NAME' and 'not ok NAME'. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/counter.h"
#include "mpi/verdict.h"

enum { N = 400 };

static trs_factors *factored(void) {
  trs_matrix *A;
  trs_factors *F;
  must(trs_matrix_read(&A, "gen:poisson2d5:20", NULL), "trs_matrix_read");
  must(trs_factor(&F, A, NULL), "trs_factor");
  trs_matrix_destroy(A);
  return F;
}

static trs_mpi_plan *plan_of(const trs_factors *F, double limit) {
  trs_mpi_plan *plan;
  const trs_mpi_options options = {.struct_size = sizeof(trs_mpi_options),
                                   .px = size,
                                   .py = 1,
                                   .pz = 1,
                                   .timeout_seconds = limit};
  must(trs_mpi_analyze(&plan, MPI_COMM_WORLD, NULL, F, TRS_NO_TRANS, &options), "trs_mpi_analyze");
  return plan;
}

/* Each rank in turn makes another call; the plan still solves afterwards. */
static void test_solves(const trs_factors *F) {
  double b[2 * N], x[2 * N];
  int nrhs = 1, child = 1;
  trs_mpi_plan *plan = plan_of(F, 0);
  trs_random_fill(b, 2 * N, TRS_DOUBLE, 1);
  for (int odd = 0; odd < size; odd++) {
    nrhs &= fails(trs_mpi_solve(plan, x, N, b, N, rank == odd ? 2 : 1, TRS_COL_MAJOR),
                  TRS_ERROR_ARGUMENT, "the number of right-hand sides is");
    must(trs_mpi_solve(plan, x, N, b, N, 1, TRS_COL_MAJOR), "trs_mpi_solve");
  }
  pid_t forked = fork();
  if (forked == 0) {
    child = fails(trs_mpi_solve(plan, x, N, b, N, 1, TRS_COL_MAJOR), TRS_ERROR_UNSUPPORTED,
                  "was forked");
    trs_mpi_plan_destroy(plan);
    trs_mpi_plan *own;
    child &= fails(trs_mpi_analyze(&own, MPI_COMM_WORLD, NULL, F, TRS_NO_TRANS, NULL),
                   TRS_ERROR_UNSUPPORTED, "forked");
    _exit(!child);
  }
  waitpid(forked, &child, 0);
  must(trs_mpi_solve(plan, x, N, b, N, 1, TRS_COL_MAJOR), "trs_mpi_solve");
  trs_mpi_plan_destroy(plan);
  say("another number of right-hand sides on one rank", nrhs);
  say("a forked child of a rank is refused", WIFEXITED(child) && WEXITSTATUS(child) == 0);
}

static void test_sweeps(void) {
  double b[2 * N], x[2 * N];
  int nrhs = 1;
  trs_context *ctx;
  trs_matrix *A;
  trs_mpi_plan *R;
  must(trs_context_create(&ctx, "serial"), "trs_context_create");
  must(trs_matrix_read(&A, "gen:poisson2d5:20", NULL), "trs_matrix_read");
  must(trs_mpi_relax_create(&R, MPI_COMM_WORLD, ctx, rank ? NULL : A, 1, NULL),
       "trs_mpi_relax_create");
  trs_random_fill(b, 2 * N, TRS_DOUBLE, 1);
  for (int odd = 0; odd < size; odd++) {
    nrhs &= fails(trs_mpi_relax_sweep(R, x, N, b, N, rank == odd ? 2 : 1, TRS_COL_MAJOR, NULL),
                  TRS_ERROR_ARGUMENT, "nrhs is");
    must(trs_mpi_relax_sweep(R, x, N, b, N, 1, TRS_COL_MAJOR, NULL), "trs_mpi_relax_sweep");
  }
  trs_mpi_plan_destroy(R);
  trs_matrix_destroy(A);
  trs_context_destroy(ctx);
  say("sweeps with another number of right-hand sides on one rank", nrhs);
}

/* All ranks but the last update; that one waits elsewhere.  The others' relaxation then solves
 * nothing. */
static void test_updates(void) {
  double b[N] = {1}, x[N];
  char words[64];
  int good = 1;
  trs_context *ctx;
  trs_matrix *A;
  trs_mpi_plan *R;
  snprintf(words, sizeof words, "rank %d does not answer", size - 1);
  must(trs_context_create(&ctx, "serial"), "trs_context_create");
  must(trs_matrix_read(&A, "gen:poisson2d5:20", NULL), "trs_matrix_read");
  setenv("TRIREME_TIMEOUT", "1", 1);
  must(trs_mpi_relax_create(&R, MPI_COMM_WORLD, ctx, rank ? NULL : A, 1, NULL),
       "trs_mpi_relax_create");
  unsetenv("TRIREME_TIMEOUT");
  if (rank < size - 1) {
    good = fails(trs_mpi_relax_update(R, rank ? NULL : A), TRS_ERROR_STALLED, words);
    for (int again = 0; again < 2; again++)
      good &= fails(trs_mpi_relax_sweep(R, x, N, b, N, 1, TRS_COL_MAJOR, NULL), TRS_ERROR_STALLED,
                    words);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  trs_mpi_plan_destroy(R);
  trs_matrix_destroy(A);
  trs_context_destroy(ctx);
  say("after an update that stalls ranks solve nothing", good);
}

/* All ranks but one solve while that one is stopped.  A child of the stopped rank then lets it
 * continue, so that MPI can be ended. */
static int leave_a_stopped_rank(const trs_factors *F, int stopped) {
  double b[N], x[N];
  char words[64];
  trs_mpi_plan *plan = plan_of(F, 1);
  int good = 1;
  snprintf(words, sizeof words, "rank %d does not answer", stopped);
  trs_random_fill(b, N, TRS_DOUBLE, 1);
  must(trs_mpi_solve(plan, x, N, b, N, 1, TRS_COL_MAJOR), "trs_mpi_solve");
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == stopped) {
    pid_t self = getpid(), waker = fork();
    if (waker == 0) {
      sleep(8);
      kill(self, SIGCONT);
      _exit(0);
    }
    raise(SIGSTOP);
    waitpid(waker, NULL, 0);
  } else {
    good = fails(trs_mpi_solve(plan, x, N, b, N, 1, TRS_COL_MAJOR), TRS_ERROR_STALLED, words);
    good &= fails(trs_mpi_solve(plan, x, N, b, N, 1, TRS_COL_MAJOR), TRS_ERROR_STALLED, words);
    trs_mpi_plan_destroy(plan);
  }
  return good;
}

/* The tags of sweeps start again after 1024 sweeps, their number after 2^32. */
static void test_counters(const trs_factors *F) {
  double b[N], x[N], first[N];
  int good = 1;
  trs_random_fill(b, N, TRS_DOUBLE, 1);
  for (int wraps = 0; wraps < 2; wraps++) {
    trs_counters_begin = wraps ? UINT32_MAX - 100 : 0;
    trs_mpi_plan *plan = plan_of(F, 0);
    for (int k = 0; k < 600; k++) {
      must(trs_mpi_solve(plan, x, N, b, N, 1, TRS_COL_MAJOR), "trs_mpi_solve");
      if (k == 0 && !wraps) memcpy(first, x, sizeof x);
      good &= rank || !memcmp(x, first, sizeof x);
    }
    trs_mpi_plan_destroy(plan);
  }
  trs_counters_begin = 0;
  say("solves across the wrap of the tags and of their counter", good);
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  trs_factors *F = factored();
  test_solves(F);
  test_sweeps();
  test_updates();
  test_counters(F);
  say("the last rank is stopped: the others leave with its number",
      leave_a_stopped_rank(F, size - 1));
  say("rank 0 is stopped: the others leave with its number", leave_a_stopped_rank(F, 0));
  trs_factors_destroy(F);
  MPI_Finalize();
  return failures != 0;
}
