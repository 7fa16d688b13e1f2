/* structure.c - layout and parts without numbers. */
#include "simulate/structure.h"

#include <string.h>

enum { LINE = 64 };

/* ---- The layout. ---- */

static trs_status copy_lower(trs_grid_blocks *b, const trs_symbolic *s) {
  int64_t nblocks = s->ptr[s->count];
  TRS_TRY(TRS_ALLOC(&b->ptr, s->count + 1));
  TRS_TRY(TRS_ALLOC(&b->row, nblocks));
  TRS_TRY(TRS_ALLOC(&b->rows, nblocks));
  memcpy(b->ptr, s->ptr, (size_t)(s->count + 1) * sizeof *b->ptr);
  memcpy(b->row, s->row, (size_t)nblocks * sizeof *b->row);
  for (int64_t k = 0; k < nblocks; k++) b->rows[k] = (int32_t)s->rows[k];
  return TRS_SUCCESS;
}

static trs_status turn_upper(trs_grid_blocks *b, const trs_symbolic *s) {
  int64_t nblocks = s->ptr[s->count];
  TRS_TRY(TRS_ALLOC_ZERO(&b->ptr, s->count + 2));
  TRS_TRY(TRS_ALLOC(&b->row, nblocks));
  TRS_TRY(TRS_ALLOC(&b->rows, nblocks));
  for (int64_t k = 0; k < nblocks; k++) b->ptr[s->row[k] + 2]++;
  for (int64_t K = 0; K < s->count; K++) b->ptr[K + 2] += b->ptr[K + 1];
  for (int64_t I = 0; I < s->count; I++)
    for (int64_t k = s->ptr[I]; k < s->ptr[I + 1]; k++) {
      int64_t at = b->ptr[s->row[k] + 1]++;
      b->row[at] = (int32_t)I;
      b->rows[at] = (int32_t)s->rows[k];
    }
  return TRS_SUCCESS;
}

static trs_status spread(trs_grid_layout *l, const trs_symbolic *s) {
  int fewer = 0; /* levels of the tree below one grid */
  while (((int64_t)l->pz << fewer) < s->leaves) fewer++;
  TRS_TRY(trs_grid_layout_allocate(l));
  TRS_TRY(TRS_ALLOC(&l->first, s->count + 1));
  TRS_TRY(TRS_ALLOC(&l->half, s->count));
  memcpy(l->half, s->half, (size_t)s->count);
  memcpy(l->first, s->first, (size_t)(s->count + 1) * sizeof *l->first);
  for (int64_t K = 0; K < s->count; K++) {
    if (trs_width(l, K) > l->widest) l->widest = trs_width(l, K);
    l->lo[K] = s->lo[K] >> fewer;
    l->height[K] = (int8_t)(s->height[K] > fewer ? s->height[K] - fewer : 0);
  }
  return TRS_SUCCESS;
}

static void weigh_leaves(trs_grid_layout *l) {
  for (int64_t K = 0; K < l->count; K++) {
    int64_t width = trs_width(l, K), rows = 0;
    if (l->height[K]) continue;
    for (int64_t b = l->blocks[0].ptr[K]; b < l->blocks[0].ptr[K + 1]; b++)
      rows += l->blocks[0].rows[b];
    l->leaf[l->lo[K]] += width * ((l->half[K] ? 0 : width) + 2 * rows);
  }
}

trs_status trs_structure_layout(trs_grid_layout *layout, const trs_symbolic *s,
                                trs_grid_shape shape, bool scattered) {
  int pz = shape.z;
  trs_layout_options options = {.places = shape.x * shape.y, .scattered = scattered};
  *layout = (trs_grid_layout){.pz = pz, .n = s->n, .count = s->count};
  if (pz < 1 || (pz & (pz - 1)) || pz > s->leaves)
    return trs_fail(TRS_ERROR_ARGUMENT, -1,
                    "Pz = %d grids: it must be a power of two, and at most the tree's %lld leaves",
                    pz, (long long)s->leaves);
  while ((1 << layout->levels) < pz) layout->levels++;
  trs_status status = copy_lower(&layout->blocks[0], s);
  if (!status) status = turn_upper(&layout->blocks[1], s);
  if (!status) status = spread(layout, s);
  if (!status) status = trs_forest_house(layout, &options);
  if (status)
    trs_grid_layout_destroy(layout);
  else
    weigh_leaves(layout);
  return status;
}

trs_structure_size trs_structure_sizes(const trs_grid_layout *l) {
  trs_structure_size size = {0};
  for (int64_t K = 0; K < l->count; K++) {
    int64_t width = trs_width(l, K), rows = 0;
    for (int64_t b = l->blocks[0].ptr[K]; b < l->blocks[0].ptr[K + 1]; b++)
      rows += l->blocks[0].rows[b];
    size.values += 2.0 * (double)(width * rows);
    size.flops += 4.0 * (double)(width * rows);
    if (l->half[K]) continue;
    size.values += 2.0 * (double)trs_triangle_values(width, trs_tile_rows(TRS_DOUBLE));
    size.flops += 2.0 * (double)(width * width);
  }
  return size;
}

/* ---- A rank's part. ---- */

/* One slot for all x, one for all sums. */
static trs_status share_slots(trs_rank_part *p, int64_t nrhs, int64_t children) {
  p->nrhs = nrhs;
  p->largest = TRS_HEAD_BYTES + p->layout->widest * trs_row_bytes(p);
  p->row_bytes = 0;
  p->sum_bytes = LINE + p->largest;
  for (int64_t s = 0; s < p->nslots; s++) p->sum_at[s] = p->x_at[s] = LINE;
  for (int64_t i = 0; i <= p->nlocal && p->nlocal; i++) p->local_row[i] = 0;
  for (int64_t i = 0; i < p->ntouched; i++) p->touched_row[i] = 0;
  TRS_TRY(TRS_ALLOC_ZERO(&p->base, p->sum_bytes + LINE));
  TRS_TRY(TRS_ALLOC_ZERO(&p->message, p->largest));
  return TRS_ALLOC_ZERO(&p->children, children * p->largest);
}

/* ---- The solver. ---- */

static void share_children(trs_sweep *s) {
  for (int64_t r = 0; r < s->nrows; r++) s->row[r].columns = 0;
}

static trs_status plan(trs_grid_solver *s) {
  int64_t children = s->set.trees == TRS_TREE_FLAT ? s->set.shape.x * s->set.shape.y : 2;
  TRS_TRY(share_slots(&s->part, s->set.nrhs, children));
  TRS_TRY(trs_grid_solver_plan(s));
  for (int upper = 0; upper < 2; upper++)
    for (int h = 0; h < s->nphases; h++) share_children(&s->phase[upper][h]);
  s->buffer_bytes = trs_grid_buffer_bytes(s);
  return trs_alloc_zero(&s->buffer, s->buffer_bytes, 1);
}

trs_status trs_structure_solver(trs_grid_solver *solver, trs_ranks *ranks,
                                const trs_grid_layout *layout, const trs_grid_options *options) {
  *solver = (trs_grid_solver){.ranks = ranks, .set = *options, .layout = *layout};
  trs_status status = trs_part_create(&solver->part, &solver->layout, TRS_DOUBLE, trs_isa_now(),
                                      options->shape, ranks->rank);
  if (!status) status = plan(solver);
  if (status) trs_structure_release(solver);
  return status;
}

void trs_structure_release(trs_grid_solver *solver) {
  int levels = solver->layout.levels;
  solver->layout = (trs_grid_layout){.levels = levels};
  trs_grid_solver_destroy(solver);
}
