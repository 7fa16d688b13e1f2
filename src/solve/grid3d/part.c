/* part.c - a rank's share of the factors, block-cyclic inside its grid. */
#include "solve/grid3d/part.h"

#include <string.h>

typedef struct filler {
  trs_part *part;
  trs_local_side *side;
  int which; /* 0: L, 1: U */
  const trs_panels *panels;
  const char *values; /* of the panels */
  size_t size;
  int64_t nblocks, nlist, nvalues; /* so far */
  bool dry;                        /* counts alone */
} filler;

static int64_t panel_of(const filler *f, int64_t K) {
  return f->which ? f->part->layout->count - 1 - K : K;
}

static void *grow(filler *f, int64_t count) {
  void *at = f->dry ? NULL : (char *)f->side->values + (size_t)f->nvalues * f->size;
  f->nvalues += count;
  return at;
}

/* Panels of U stand in the order of a backward sweep: turned, all of a block's numbers change
 * places with their mirror images. */
static trs_status take_diagonal(filler *f, int64_t K) {
  const trs_grid_layout *l = f->part->layout;
  int64_t width = trs_width(l, K), at = f->nvalues;
  void *to = grow(f, width * width);
  if (f->dry) return TRS_SUCCESS;
  const char *from = f->values + (size_t)f->panels->panel[panel_of(f, K)].values * f->size;
  f->side->inverse[K] = at;
  if (f->which)
    f->part->ops->reverse(width * width, from, to);
  else
    memcpy(to, from, (size_t)(width * width) * f->size);
  return TRS_SUCCESS;
}

static void take_rows(filler *f, const trs_local_block *b, int64_t K, int64_t source) {
  const trs_panel *panel = &f->panels->panel[K];
  const char *from = f->values + (size_t)(panel->values + (int64_t)panel->width * panel->width +
                                          (source - panel->list)) *
                                     f->size;
  char *to = (char *)f->side->values + (size_t)b->values * f->size;
  for (int32_t c = 0; c < b->k; c++)
    memcpy(to + (size_t)c * b->m * f->size, from + (size_t)c * panel->length * f->size,
           (size_t)b->m * f->size);
  for (int32_t r = 0; r < b->m; r++)
    f->side->list[b->list + r] =
        (int32_t)(f->panels->list[source + r] - f->part->layout->first[b->row]);
}

static void take_columns(filler *f, const trs_local_block *b, int64_t K,
                         const trs_panel_block *source) {
  const trs_grid_layout *l = f->part->layout;
  f->part->ops->reverse((int64_t)b->m * b->k, f->values + (size_t)source->values * f->size,
                        (char *)f->side->values + (size_t)b->values * f->size);
  for (int32_t c = 0; c < b->k; c++)
    f->side->list[b->list + c] =
        (int32_t)(l->n - 1 - f->panels->list[source->list + b->k - 1 - c] - l->first[K]);
}

/* Rows of the block of L that begins at a place of its panel's list. */
static int32_t rows_from(const trs_panels *P, int64_t source) {
  int32_t rows = 1;
  while (P->line[source + rows - 1] < 0) rows++;
  return rows;
}

static void take_block(filler *f, int64_t K, int64_t b) {
  const trs_grid_layout *l = f->part->layout;
  int64_t I = l->blocks[f->which].row[b], source = l->blocks[f->which].source[b];
  int32_t wide_i = (int32_t)trs_width(l, I), wide_k = (int32_t)trs_width(l, K);
  trs_local_block block = {.row = (int32_t)I, .list = f->nlist, .values = f->nvalues};
  block.m = f->which ? wide_i : rows_from(f->panels, source);
  block.k = f->which ? f->panels->block[source].count : wide_k;
  block.full = f->which ? block.k == wide_k : block.m == wide_i;
  grow(f, (int64_t)block.m * block.k);
  f->nlist += f->which ? block.k : block.m;
  if (f->dry) {
    f->nblocks++;
    return;
  }
  f->side->block[f->nblocks++] = block;
  if (f->which)
    take_columns(f, &block, K, &f->panels->block[source]);
  else
    take_rows(f, &block, K, source);
  f->part->ops->negate((int64_t)block.m * block.k,
                       (char *)f->side->values + (size_t)block.values * f->size);
}

static trs_status walk(filler *f) {
  const trs_part *p = f->part;
  const trs_grid_layout *l = p->layout;
  f->nblocks = f->nlist = f->nvalues = 0;
  for (int64_t K = 0; K < l->count; K++) {
    f->side->ptr[K] = f->nblocks;
    if (!trs_has_column(p, K)) continue;
    if (trs_has_diagonal(p, K)) TRS_TRY(take_diagonal(f, K));
    for (int64_t b = l->blocks[f->which].ptr[K]; b < l->blocks[f->which].ptr[K + 1]; b++)
      if (trs_has_row(p, l->blocks[f->which].row[b])) take_block(f, K, b);
  }
  f->side->ptr[l->count] = f->nblocks;
  return TRS_SUCCESS;
}

static trs_status take(filler *f) {
  trs_local_side *s = f->side;
  int64_t count = f->part->layout->count;
  f->dry = true;
  TRS_TRY(TRS_ALLOC(&s->ptr, count + 1));
  TRS_TRY(TRS_ALLOC(&s->inverse, count));
  for (int64_t K = 0; K < count; K++) s->inverse[K] = -1;
  TRS_TRY(walk(f));
  TRS_TRY(TRS_ALLOC(&s->block, f->nblocks));
  TRS_TRY(TRS_ALLOC(&s->list, f->nlist));
  TRS_TRY(trs_alloc(&s->values, f->nvalues, f->size));
  s->nvalues = f->nvalues;
  f->dry = false;
  return walk(f);
}

static trs_status check_diagonal(const filler *f, const trs_factors *F) {
  const trs_grid_layout *l = f->part->layout;
  for (int64_t K = 0; K < l->count; K++) {
    const trs_panel *panel = &f->panels->panel[panel_of(f, K)];
    bool zero;
    int64_t j = f->part->ops->bad_diagonal(panel->width,
                                           f->values + (size_t)panel->values * f->size, &zero);
    if (j < 0) continue;
    int64_t row = f->which ? l->n - 1 - (panel->first + j) : panel->first + j;
    if (F->row_perm) row = F->row_perm[row];
    return trs_fail(zero ? TRS_ERROR_ZERO_PIVOT : TRS_ERROR_NOT_FINITE, row,
                    "row %lld (0-based): the diagonal entry of %c is %s", (long long)row,
                    f->which ? 'U' : 'L', zero ? "zero" : "NaN or infinite");
  }
  return TRS_SUCCESS;
}

static trs_status take_side(trs_part *part, const trs_factors *F, int which) {
  const trs_panels *panels = &part->layout->panels[which];
  const trs_matrix *T = which ? F->U : F->L;
  trs_panels_source source = trs_grid_source(T, !which);
  bool unit = (which ? F->diag_U : F->diag_L) == TRS_UNIT;
  void *values;
  filler f = {.part = part,
              .side = &part->side[which],
              .which = which,
              .panels = panels,
              .size = trs_scalar_size(part->scalar)};
  TRS_TRY(trs_alloc(&values, panels->nvalues, f.size));
  f.values = values;
  trs_status status = trs_panels_fill(panels, values, part->scalar, &source, T->val, unit, false);
  if (!status) status = check_diagonal(&f, F);
  if (!status) {
    trs_panels_invert(panels, values, part->scalar);
    status = take(&f);
  }
  trs_free(values);
  return status;
}

trs_status trs_part_create(trs_part *part, const trs_grid_layout *layout, const trs_factors *F,
                           trs_grid_shape shape, int rank) {
  *part = (trs_part){.layout = layout,
                     .shape = shape,
                     .x = rank / shape.y % shape.x,
                     .y = rank % shape.y,
                     .z = rank / shape.y / shape.x,
                     .scalar = F->scalar,
                     .ops = trs_block_ops_of(F->scalar)};
  trs_status status = take_side(part, F, 0);
  if (!status) status = take_side(part, F, 1);
  if (!status) status = TRS_ALLOC(&part->x_at, layout->count);
  if (!status) status = TRS_ALLOC(&part->sum_at, layout->count);
  if (status) trs_part_destroy(part);
  return status;
}

/* ---- Slots. ---- */

static int64_t place_slot(const trs_part *p, int64_t K, bool here, int64_t *end, int64_t *largest) {
  enum { LINE = 64 };
  if (!here) return -1;
  int64_t bytes = trs_slot_bytes(p, K), at = *end + LINE;
  *end = at + (bytes + LINE - 1) / LINE * LINE;
  if (bytes + TRS_HEAD_BYTES > *largest) *largest = bytes + TRS_HEAD_BYTES;
  return at;
}

static void release_slots(trs_part *part) {
  trs_free(part->x_base);
  trs_free(part->sum_base);
  trs_free(part->message);
  trs_free(part->spare);
  trs_free(part->children);
  part->x_base = part->sum_base = part->message = NULL;
  part->children = NULL;
  part->spare = NULL;
  part->nrhs = 0;
}

trs_status trs_part_reserve(trs_part *part, int64_t nrhs) {
  int64_t x_end = 0, sum_end = 0, largest = 0;
  if (part->nrhs == nrhs) return TRS_SUCCESS;
  release_slots(part);
  part->nrhs = nrhs;
  for (int64_t K = 0; K < part->layout->count; K++) {
    part->x_at[K] = place_slot(part, K, trs_has_column(part, K), &x_end, &largest);
    part->sum_at[K] = place_slot(part, K, trs_has_row(part, K), &sum_end, &largest);
  }
  part->largest = largest;
  part->x_bytes = x_end;
  part->sum_bytes = sum_end;
  trs_status status = TRS_ALLOC(&part->x_base, x_end);
  if (!status) status = TRS_ALLOC(&part->sum_base, sum_end);
  if (!status) status = TRS_ALLOC(&part->message, largest);
  if (!status) status = trs_alloc(&part->spare, largest, 1);
  if (!status)
    status = trs_alloc((void **)&part->children, part->child_columns * nrhs,
                       trs_scalar_size(part->scalar));
  if (status) release_slots(part);
  return status;
}

void trs_part_destroy(trs_part *part) {
  for (int which = 0; which < 2; which++) {
    trs_local_side *s = &part->side[which];
    trs_free(s->ptr);
    trs_free(s->block);
    trs_free(s->list);
    trs_free(s->values);
    trs_free(s->inverse);
  }
  release_slots(part);
  trs_free(part->x_at);
  trs_free(part->sum_at);
  *part = (trs_part){0};
}
