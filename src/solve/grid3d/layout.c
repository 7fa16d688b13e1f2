/* layout.c - the separator tree spread over grids, supernodes cut along it, and their blocks. */
#include "solve/grid3d/layout.h"

#include <string.h>

trs_panels_source trs_grid_source(const trs_matrix *T, bool lower) {
  return (trs_panels_source){
      .n = T->nrows, .ptr = T->ptr, .idx = T->idx, .rows = T->format == TRS_CSR, .lower = lower};
}

/* ---- The tree over the grids. ---- */

typedef struct place {
  int32_t lo;
  int8_t height;
} place;

/* The grids of a node's children: those of the node as long as it has one child, else a half each;
 * of many children each goes to the half with less so far. */
typedef struct spread {
  const trs_factors *F;
  place *at;     /* of each node */
  double *below; /* columns in a node's subtree */
} spread;

static void weigh(const spread *s) {
  const trs_factors *F = s->F;
  for (int64_t t = 0; t < F->tree_nodes; t++)
    s->below[t] = (double)(F->tree_ptr[t + 1] - F->tree_ptr[t]);
  for (int64_t t = 0; t < F->tree_nodes; t++)
    if (F->tree_parent[t] >= 0) s->below[F->tree_parent[t]] += s->below[t];
}

/* Children come after their parent from the end of a postorder.  load: of the two halves of each
 * node's grids. */
static void place_nodes(const spread *s, int32_t *children, double (*load)[2], int8_t levels) {
  const trs_factors *F = s->F;
  for (int64_t t = 0; t < F->tree_nodes; t++)
    if (F->tree_parent[t] >= 0) children[F->tree_parent[t]]++;
  for (int64_t t = F->tree_nodes - 1; t >= 0; t--) {
    int32_t parent = F->tree_parent[t];
    if (parent < 0) {
      s->at[t] = (place){.lo = 0, .height = levels};
      continue;
    }
    s->at[t] = s->at[parent];
    if (children[parent] < 2 || s->at[t].height == 0) continue;
    int half = load[parent][1] <= load[parent][0];
    load[parent][half] += s->below[t] + 1;
    s->at[t].height--;
    s->at[t].lo += half << s->at[t].height;
  }
}

static int64_t count_leaves(const trs_factors *F) {
  int64_t leaves = 0;
  for (int64_t t = 0; t < F->tree_nodes; t++)
    leaves += t == 0 || F->tree_parent[t - 1] != t; /* in postorder a last child comes before */
  return leaves;
}

/* A tree that is whole has as many leaves as were asked for; pivoting may have left less of it, or
 * nothing, and then grids are cut out of the factors. */
static trs_status choose_tree(const trs_factors *F, int pz, bool *use) {
  int64_t leaves = count_leaves(F);
  bool whole = F->tree_nodes && 2 * leaves - 1 == F->tree_nodes && !(leaves & (leaves - 1));
  if (pz < 1 || (pz & (pz - 1)))
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "Pz = %d grids: it must be a power of two", pz);
  *use = pz <= leaves;
  if (*use || !whole || leaves == 1) return TRS_SUCCESS;
  return trs_fail(TRS_ERROR_ARGUMENT, -1,
                  "Pz = %d grids are more than the %lld leaves of the factors' separator tree: "
                  "factor with more leaves, or take a smaller Pz",
                  pz, (long long)leaves);
}

static trs_status spread_tree(place *at, const trs_factors *F, int8_t levels) {
  int64_t nodes = F->tree_nodes;
  spread s = {.F = F, .at = at};
  int32_t *children = NULL;
  double(*load)[2] = NULL;
  trs_status status = TRS_ALLOC_ZERO(&children, nodes);
  if (!status) status = trs_alloc_zero((void **)&load, nodes, sizeof *load);
  if (!status) status = TRS_ALLOC(&s.below, nodes);
  if (!status) {
    weigh(&s);
    place_nodes(&s, children, load, levels);
  }
  trs_free(children);
  trs_free(load);
  trs_free(s.below);
  return status;
}

/* ---- Supernodes. ---- */

/* The supernodes found, cut where a node of the tree ends. */
static trs_status cut(trs_grid_layout *l, const trs_panels *found, const trs_factors *F,
                      int64_t nodes) {
  TRS_TRY(TRS_ALLOC(&l->first, found->count + nodes + 1));
  int64_t t = 0;
  for (int64_t s = 0; s < found->count; s++) {
    int64_t from = found->panel[s].first, to = from + found->panel[s].width;
    for (; t < nodes && F->tree_ptr[t + 1] < to; t++)
      if (F->tree_ptr[t + 1] > from) {
        l->first[l->count++] = from;
        from = F->tree_ptr[t + 1];
      }
    l->first[l->count++] = from;
  }
  l->first[l->count] = l->n;
  return TRS_SUCCESS;
}

static trs_status find_supernodes(trs_grid_layout *l, const trs_factors *F, int64_t nodes,
                                  const trs_layout_options *options) {
  trs_panels found;
  trs_panels_options find = {.width = options->width, .relax = options->relax};
  trs_panels_source L = trs_grid_source(F->L, true), U = trs_grid_source(F->U, false);
  TRS_TRY(trs_panels_create(&found, &L, &find));
  trs_status status = cut(l, &found, F, nodes);
  trs_panels_destroy(&found);
  trs_panels_options use = {.partition = l->first, .nparts = l->count};
  if (!status) status = trs_panels_create(&l->panels[0], &L, &use);
  use.by_rows = true;
  if (!status) status = trs_panels_create(&l->panels[1], &U, &use);
  if (!status && (l->panels[0].count != l->count || l->panels[1].count != l->count))
    status = trs_fail(TRS_ERROR_INTERNAL, -1, "supernodes of L and U differ");
  return status;
}

static void place_supernodes(trs_grid_layout *l, const place *at, const trs_factors *F) {
  int64_t t = 0;
  for (int64_t K = 0; K < l->count; K++) {
    while (t < F->tree_nodes && F->tree_ptr[t + 1] <= l->first[K]) t++;
    l->lo[K] = t < F->tree_nodes ? at[t].lo : 0;
    l->height[K] = t < F->tree_nodes ? at[t].height : 0;
  }
}

/* ---- Blocks. ---- */

/* With rows NULL it counts.  A block of L ends where its rows' supernode does. */
static void visit_lower(trs_grid_layout *l, trs_grid_blocks *b) {
  const trs_panels *P = &l->panels[0];
  int64_t count = 0;
  for (int64_t K = 0; K < l->count; K++) {
    b->ptr[K] = count;
    int64_t begin = P->panel[K].list, end = begin + P->panel[K].length;
    for (int64_t r = begin, from = begin; r < end; r++) {
      if (P->line[r] < 0) continue;
      if (b->row) b->row[count] = P->line[r];
      if (b->row) b->source[count] = from;
      count++;
      from = r + 1;
    }
  }
  b->ptr[l->count] = count;
}

/* Those of U stand by the row's supernode; a sweep over them from the last row on leaves the rows
 * of each K descending, which is turned by filling from the end. */
static void visit_upper(trs_grid_layout *l, trs_grid_blocks *b, int64_t *next) {
  const trs_panels *P = &l->panels[1];
  for (int64_t k = 0; k < P->nblocks; k++) {
    const trs_panel_block *block = &P->block[k];
    int64_t K = l->count - 1 - P->owner[P->list[block->list]];
    if (!b->row) {
      b->ptr[K + 1]++;
      continue;
    }
    int64_t at = --next[K];
    b->row[at] = (int32_t)(l->count - 1 - block->target);
    b->source[at] = k;
  }
}

static trs_status list_lower(trs_grid_layout *l) {
  trs_grid_blocks *b = &l->blocks[0];
  TRS_TRY(TRS_ALLOC(&b->ptr, l->count + 1));
  visit_lower(l, b);
  int64_t nblocks = b->ptr[l->count];
  TRS_TRY(TRS_ALLOC(&b->source, nblocks));
  TRS_TRY(TRS_ALLOC(&b->row, nblocks));
  visit_lower(l, b);
  return TRS_SUCCESS;
}

static trs_status list_upper(trs_grid_layout *l) {
  trs_grid_blocks *b = &l->blocks[1];
  int64_t *next;
  TRS_TRY(TRS_ALLOC_ZERO(&b->ptr, l->count + 1));
  visit_upper(l, b, NULL);
  for (int64_t K = 0; K < l->count; K++) b->ptr[K + 1] += b->ptr[K];
  TRS_TRY(TRS_ALLOC(&b->source, b->ptr[l->count]));
  TRS_TRY(TRS_ALLOC(&b->row, b->ptr[l->count]));
  TRS_TRY(TRS_ALLOC(&next, l->count));
  memcpy(next, b->ptr + 1, (size_t)l->count * sizeof *next);
  visit_upper(l, b, next);
  trs_free(next);
  return TRS_SUCCESS;
}

/* A block couples two supernodes one of which is replicated where the other lies. */
static trs_status check_blocks(const trs_grid_layout *l) {
  for (int side = 0; side < 2; side++)
    for (int64_t K = 0; K < l->count; K++)
      for (int64_t b = l->blocks[side].ptr[K]; b < l->blocks[side].ptr[K + 1]; b++) {
        int64_t I = l->blocks[side].row[b], low = side ? I : K, high = side ? K : I;
        if (l->height[low] <= l->height[high] && trs_on_grid(l, high, l->lo[low])) continue;
        return trs_fail(TRS_ERROR_STRUCTURE, l->first[high],
                        "an entry of %c couples columns %lld and %lld (0-based), which lie in "
                        "different subtrees of the separator tree",
                        side ? 'U' : 'L', (long long)l->first[low], (long long)l->first[high]);
      }
  return TRS_SUCCESS;
}

static trs_status weigh_leaves(trs_grid_layout *l) {
  TRS_TRY(TRS_ALLOC_ZERO(&l->leaf, l->pz));
  for (int64_t K = 0; K < l->count; K++) {
    if (l->height[K]) continue;
    int64_t width = trs_width(l, K);
    const trs_panel *U = &l->panels[1].panel[l->count - 1 - K];
    l->leaf[l->lo[K]] += width * (width + l->panels[0].panel[K].length + U->length);
  }
  return TRS_SUCCESS;
}

static trs_status create(trs_grid_layout *l, const trs_factors *F, place **at,
                         const trs_layout_options *options) {
  bool use_tree;
  TRS_TRY(choose_tree(F, l->pz, &use_tree));
  while ((1 << l->levels) < l->pz) l->levels++;
  TRS_TRY(find_supernodes(l, F, use_tree ? F->tree_nodes : 0, options));
  TRS_TRY(TRS_ALLOC(&l->lo, l->count));
  TRS_TRY(TRS_ALLOC(&l->height, l->count));
  TRS_TRY(list_lower(l));
  TRS_TRY(list_upper(l));
  if (use_tree) {
    TRS_TRY(TRS_ALLOC(at, F->tree_nodes));
    TRS_TRY(spread_tree(*at, F, (int8_t)l->levels));
    place_supernodes(l, *at, F);
  } else {
    TRS_TRY(trs_forest_spread(l));
  }
  TRS_TRY(check_blocks(l));
  return weigh_leaves(l);
}

trs_status trs_grid_layout_create(trs_grid_layout *layout, const trs_factors *F, int pz,
                                  const trs_layout_options *options) {
  place *at = NULL;
  *layout = (trs_grid_layout){.pz = pz, .n = F->n};
  trs_status status = create(layout, F, &at, options);
  trs_free(at);
  if (status) trs_grid_layout_destroy(layout);
  return status;
}

void trs_grid_layout_destroy(trs_grid_layout *layout) {
  for (int side = 0; side < 2; side++) {
    trs_panels_destroy(&layout->panels[side]);
    trs_free(layout->blocks[side].ptr);
    trs_free(layout->blocks[side].row);
    trs_free(layout->blocks[side].source);
  }
  trs_free(layout->first);
  trs_free(layout->height);
  trs_free(layout->lo);
  trs_free(layout->leaf);
  *layout = (trs_grid_layout){0};
}
