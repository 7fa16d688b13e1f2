/* variants.c - W21's kernels as variants of relaxation on a GPU (trs_relax_options.variant). */
#include "relax/cuda/backend.h"
#include "relax/kernels.h"
#include "W21/rows.h"

static const struct {
  trs_w21_by by;
  trs_w21_copies copies;
  bool l2; /* x is kept in L2 */
} kinds[] = {
    {TRS_W21_BY_THREAD, TRS_W21_COPY_NOTHING, false},
    {TRS_W21_BY_TWO_KERNELS, TRS_W21_COPY_NOTHING, false},
    {TRS_W21_BY_TWO_KERNELS, TRS_W21_COPY_NOTHING, true},
    {TRS_W21_BY_WARP, TRS_W21_COPY_NOTHING, false},
    {TRS_W21_BY_WARP, TRS_W21_COPY_NOTHING, true},
    {TRS_W21_BY_WARP, TRS_W21_COPY_DIAGONAL, true},
    {TRS_W21_BY_SIX, TRS_W21_COPY_NOTHING, false},
    {TRS_W21_BY_SIX, TRS_W21_COPY_NOTHING, true},
    {TRS_W21_BY_SIX, TRS_W21_COPY_DIAGONAL, true},
    {TRS_W21_BY_SIX, TRS_W21_COPY_X, false},
};

static trs_status prepare(trs_relaxation *R) {
  trs_relax_gpu *g = R->gpu;
  const int k = g->variant->number;
  const trs_relax_kernels *K = trs_relax_kernels_of(R->store);
  trs_w21_how *how;
  TRS_TRY(TRS_ALLOC_ZERO(&how, 1));
  g->paper = how;
  how->by = kinds[k].by;
  how->copies = kinds[k].copies;
  if (kinds[k].l2)
    trs_w21_take_l2(how, g->args.x_stride * (int64_t)K->x_size,
                    trs_device_look(g->device)->ordinal);
  if (how->by != TRS_W21_BY_TWO_KERNELS) return TRS_SUCCESS;
  return trs_arena_alloc(&g->own, &how->y, g->args.r_stride * R->room, K->r_size);
}

static void leave(trs_relaxation *R) {
  trs_w21_how *how = R->gpu->paper;
  if (how) trs_w21_give_l2_back(how);
  trs_free(how);
}

#define W21(NAME, NUMBER) \
  { NAME, trs_w21_rows_run, prepare, leave, NUMBER }
static const trs_relax_variant variants[] = {
    W21("thread-row", 0),
    W21("warp-row", 1),
    W21("warp-row-l2", 2),
    W21("warp-row-fused", 3),
    W21("warp-row-fused-l2", 4),
    W21("warp-row-fused-l2-async", 5),
    W21("warp-six-rows", 6),
    W21("warp-six-rows-l2", 7),
    W21("warp-six-rows-l2-async", 8),
    W21("warp-six-rows-prefetch", 9),
};
const trs_relax_variants trs_w21_variants = {sizeof variants / sizeof *variants, variants};
