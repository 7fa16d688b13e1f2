/* blocks.c - trs_mpi_analyze_blocks with handmade blocks in the layout of SuperLU_DIST, without
 * that library: solved, rejected if invalid, and memory that runs out on one rank.
 *
 *       1         4 1 2
 *   L = 1/2 1     U = 3 1     two supernodes, of two columns and of one
 *       1/4 1/2 1       2 */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "mpi/verdict.h"
#include "trireme_mpi.h"

/* All of it on the first rank. */
typedef struct parts {
  int xsup[3], perm_r[3], perm_c[3];
  int L0[9], L1[5], U0[6];
  double l0[6], l1[1], u0[2];
  const void *L_index[2], *L_values[2], *U_index[2], *U_values[2];
  trs_mpi_blocks of;
} parts;

static void make(parts *p) {
  *p = (parts){.xsup = {0, 2, 3},
               .perm_r = {0, 1, 2},
               .perm_c = {0, 1, 2},
               .L0 = {2, 3, 0, 2, 0, 1, 1, 1, 2},
               .L1 = {1, 1, 1, 1, 2},
               .U0 = {1, 2, 6, 1, 2, 0},
               .l0 = {4, 0.5, 0.25, 1, 3, 0.5},
               .l1 = {2},
               .u0 = {2, 1},
               .of = {.struct_size = sizeof(trs_mpi_blocks),
                      .scalar = TRS_DOUBLE,
                      .index_bytes = 4,
                      .scale_bytes = 8,
                      .px = 1,
                      .py = 1,
                      .n = 3,
                      .nsupers = 2}};
  p->L_index[0] = p->L0, p->L_index[1] = p->L1;
  p->L_values[0] = p->l0, p->L_values[1] = p->l1;
  p->U_index[0] = p->U0;
  p->U_values[0] = p->u0;
  p->of.xsup = p->xsup, p->of.perm_r = p->perm_r, p->of.perm_c = p->perm_c;
  p->of.L_index = p->L_index, p->of.L_values = p->L_values;
  p->of.U_index = p->U_index, p->of.U_values = p->U_values;
}

static trs_status solve(const parts *p, double x[3]) {
  const double b[3] = {7, 7.5, 5.75};
  const trs_mpi_options o = {.struct_size = sizeof(trs_mpi_options), .px = 1, .py = size, .pz = 1};
  trs_mpi_plan *plan;
  trs_status status = trs_mpi_analyze_blocks(&plan, MPI_COMM_WORLD, NULL, &p->of, TRS_NO_TRANS, &o);
  if (!status) status = trs_mpi_solve(plan, x, 3, b, 3, 1, TRS_COL_MAJOR);
  trs_mpi_plan_destroy(plan);
  return status;
}

static void refuses(const char *name, const parts *p, const char *words) {
  double x[3];
  trs_status status = solve(p, x);
  int good = status == TRS_ERROR_ARGUMENT && strstr(trs_last_error()->message, words);
  if (!good) fprintf(stderr, "rank %d: %s\n", rank, trs_last_error()->message);
  say(name, good);
}

/* Replaces one number of valid blocks, and requires these words in the message. */
#define REFUSES(member, value, words) \
  do {                                \
    parts p;                          \
    make(&p);                         \
    p.member = value;                 \
    refuses(#member, &p, words);      \
  } while (0)

static void test_refusals(void) {
  REFUSES(xsup[0], 1, "xsup");
  REFUSES(xsup[1], 3, "xsup");
  REFUSES(xsup[2], 4, "xsup");
  REFUSES(perm_r[1], 7, "perm_r");
  REFUSES(perm_r[1], 0, "perm_r");
  REFUSES(perm_c[2], -1, "perm_c");
  REFUSES(perm_c[2], 1, "perm_c");
  REFUSES(of.nsupers, 9, "out of range");
  REFUSES(of.L_index, NULL, "L_index");
  REFUSES(of.U_values, NULL, "U_values");
  REFUSES(L_values[1], NULL, "L's block (1, 1)");
  REFUSES(L0[2], 2, "L's block (2, 0)");
  REFUSES(L0[7], 2, "L's block (1, 0)");
  REFUSES(L0[8], 9, "L's block (1, 0)");
  REFUSES(L0[5], 2, "L's block (0, 0)");
  REFUSES(U0[3], 0, "U's block (0, 0)");
  REFUSES(U0[3], 2, "U's block (0, 2)");
  REFUSES(U0[4], 3, "U's block (0, 1)");
  REFUSES(U0[5], 1, "U's block (0, 1)");
}

static int64_t held(void) {
  int64_t current, peak;
  trs_memory_usage(&current, &peak);
  return current;
}

/* Every allocation of one rank fails in turn: all ranks return the error, and no memory stays
 * allocated. */
static int memory_runs_out(int victim) {
  parts p;
  double x[3];
  int good = 1, all = 1;
  make(&p);
  for (int64_t k = 0; all; k++) {
    int64_t before = held();
    if (rank == victim) trs_memory_fail_after(k);
    trs_status status = solve(&p, x);
    trs_memory_fail_after(-1);
    good &= (!status || status == TRS_ERROR_MEMORY) && held() == before;
    all = status != TRS_SUCCESS;
  }
  return good;
}

int main(int argc, char **argv) {
  parts p;
  double x[3] = {1, 1, 1};
  begin(&argc, &argv);
  make(&p);
  say("blocks made by hand", !solve(&p, x) && x[0] == 1 && x[1] == 1 && x[2] == 1);
  test_refusals();
  say("memory that runs out on rank 0", memory_runs_out(0));
  say("memory that runs out on the last", memory_runs_out(size - 1));
  MPI_Finalize();
  return failures != 0;
}
