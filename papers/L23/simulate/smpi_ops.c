/* smpi_ops.c - the table of block operations for simulated ranks, in place of solve/grid3d/ops.c.
 */
#include "simulate/smpi_ops.h"

#include <simgrid/engine.h>
#include <smpi/smpi.h>

#include "base/timer.h"
#include "simulate/machine.h"
#include "solve/grid3d/grid3d.h"

static trs_smpi_rank *current;

void trs_smpi_resume(trs_smpi_rank *rank) { current = rank; }

void trs_smpi_flush(void) {
  double seconds = current->pending;
  trs_smpi_rank *rank = current;
  rank->pending = 0;
  if (seconds > 0) smpi_execute(seconds);
  current = rank;
}

double trs_seconds(void) { return simgrid_get_clock() + current->pending; }

static void product(int64_t m, int64_t k, int64_t n, const void *A, const void *x,
                    const int32_t *list, void *y) {
  (void)A, (void)x, (void)list, (void)y;
  current->pending += trs_product_s(&trs_cori, m, n, k);
}

static void triangle(int64_t width, bool upper, int64_t n, const void *D, const void *x, void *y) {
  (void)upper, (void)D, (void)x, (void)y;
  current->pending += trs_product_s(&trs_cori, width, n, (width + 1) / 2);
}

static void sweep(const trs_local_node *node, int64_t from, int64_t to, bool upper, int64_t n,
                  const void *values, const int32_t *list, void *x, void *spare) {
  (void)upper, (void)values, (void)list, (void)x, (void)spare;
  for (int64_t i = from; i < to; i++)
    current->pending +=
        trs_product_s(&trs_cori, (node[i].width + 1) / 2 + node[i].length, n, node[i].width);
}

static void add(int64_t count, const void *from, void *to) {
  (void)from, (void)to;
  current->pending += trs_move_s(&trs_cori, count);
}

static const trs_block_ops ops = {
    .push = product, .pull = product, .triangle = triangle, .sweep = sweep, .add = add};

const trs_block_ops *trs_block_ops_of(trs_scalar scalar, trs_isa isa) {
  (void)scalar, (void)isa;
  return &ops;
}
