/* layout.c - distributes the separator tree over grids, cuts supernodes along it, and lists their
 * blocks. */
#include "solve/grid3d/layout.h"

#include <string.h>

static trs_panels_source source_of(const trs_matrix *T, bool lower) {
  return (trs_panels_source){
      .n = T->nrows, .ptr = T->ptr, .idx = T->idx, .rows = T->format == TRS_CSR, .lower = lower};
}

trs_grid_pattern trs_grid_pattern_of(const trs_factors *F) {
  return (trs_grid_pattern){.L = source_of(F->L, true),
                            .U = source_of(F->U, false),
                            .tree_nodes = F->tree_nodes,
                            .tree_ptr = F->tree_ptr,
                            .tree_parent = F->tree_parent};
}

/* ---- The tree over the grids. ---- */

typedef struct node_grids {
  int32_t lo;
  int8_t height;
} node_grids;

/* The grids of a node's children: all of the node's grids for an only child, else half of them
 * each; each of many children goes to the half with less work so far. */
typedef struct tree_work {
  const trs_grid_pattern *F;
  node_grids *at; /* of each node */
  double *below;  /* columns in a node's subtree */
} tree_work;

static void weigh(const tree_work *s) {
  const trs_grid_pattern *F = s->F;
  for (int64_t t = 0; t < F->tree_nodes; t++)
    s->below[t] = (double)(F->tree_ptr[t + 1] - F->tree_ptr[t]);
  for (int64_t t = 0; t < F->tree_nodes; t++)
    if (F->tree_parent[t] >= 0) s->below[F->tree_parent[t]] += s->below[t];
}

/* From the end of a postorder, children come after their parent.  load: of the two halves of each
 * node's grids. */
static void assign_nodes(const tree_work *s, int32_t *children, double (*load)[2], int8_t levels) {
  const trs_grid_pattern *F = s->F;
  for (int64_t t = 0; t < F->tree_nodes; t++)
    if (F->tree_parent[t] >= 0) children[F->tree_parent[t]]++;
  for (int64_t t = F->tree_nodes - 1; t >= 0; t--) {
    int32_t parent = F->tree_parent[t];
    if (parent < 0) {
      s->at[t] = (node_grids){.lo = 0, .height = levels};
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

static int64_t count_leaves(const trs_grid_pattern *F) {
  int64_t leaves = 0;
  for (int64_t t = 0; t < F->tree_nodes; t++)
    leaves += t == 0 || F->tree_parent[t - 1] != t; /* postorder: t's last child is t - 1 */
  return leaves;
}

/* A complete tree has as many leaves as requested.  After pivoting it may have fewer or none; then
 * grids are cut from the factors. */
static trs_status choose_tree(const trs_grid_pattern *F, int pz, bool *use) {
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

static trs_status assign_tree(node_grids *at, const trs_grid_pattern *F, int8_t levels) {
  int64_t nodes = F->tree_nodes;
  tree_work s = {.F = F, .at = at};
  int32_t *children = NULL;
  double(*load)[2] = NULL;
  trs_status status = TRS_ALLOC_ZERO(&children, nodes);
  if (!status) status = trs_alloc_zero((void **)&load, nodes, sizeof *load);
  if (!status) status = TRS_ALLOC(&s.below, nodes);
  if (!status) {
    weigh(&s);
    assign_nodes(&s, children, load, levels);
  }
  TRS_FREE_ALL(children, load, s.below);
  return status;
}

/* ---- Supernodes. ---- */

/* The supernodes found in L, cut where a node of the tree ends. */
static trs_status cut(trs_grid_layout *l, const trs_panels *found, const trs_grid_pattern *F,
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

/* Panels of L by columns are stored in the order of the columns, those of U by rows in the reverse
 * order. */
static trs_status copy_lists(trs_grid_lists *to, const trs_panels *P) {
  TRS_TRY(TRS_ALLOC_ALL(TRS_ROOM(&to->ptr, P->count + 1), TRS_ROOM(&to->idx, P->nlist)));
  to->ptr[0] = 0;
  for (int64_t K = 0; K < P->count; K++) {
    const trs_panel *panel = &P->panel[P->backward ? P->count - 1 - K : K];
    int32_t *idx = to->idx + to->ptr[K];
    const int32_t *list = P->list + panel->list;
    for (int32_t i = 0; i < panel->length; i++)
      idx[i] = P->backward ? (int32_t)(P->n - 1 - list[panel->length - 1 - i]) : list[i];
    to->ptr[K + 1] = to->ptr[K] + panel->length;
  }
  return TRS_SUCCESS;
}

static trs_status list_side(trs_grid_layout *l, bool upper, const trs_panels_source *T) {
  trs_panels P;
  trs_panels_options use = {.by_rows = upper, .partition = l->first, .nparts = l->count};
  TRS_TRY(trs_panels_create(&P, T, &use));
  trs_status status = P.count == l->count
                          ? copy_lists(&l->lists[upper], &P)
                          : trs_fail(TRS_ERROR_INTERNAL, -1, "supernodes of L and U differ");
  trs_panels_destroy(&P);
  return status;
}

static trs_status find_supernodes(trs_grid_layout *l, const trs_grid_pattern *F, int64_t nodes,
                                  const trs_layout_options *options) {
  trs_panels found;
  trs_panels_options find = {.width = options->width, .relax = options->relax, .few = options->few};
  TRS_TRY(trs_panels_create(&found, &F->L, &find));
  trs_status status = cut(l, &found, F, nodes);
  trs_panels_destroy(&found);
  if (!status) status = list_side(l, TRS_L, &F->L);
  if (!status) status = list_side(l, TRS_U, &F->U);
  return status;
}

static void assign_supernodes(trs_grid_layout *l, const node_grids *at, const trs_grid_pattern *F) {
  int64_t t = 0;
  for (int64_t K = 0; K < l->count; K++) {
    while (t < F->tree_nodes && F->tree_ptr[t + 1] <= l->first[K]) t++;
    l->lo[K] = t < F->tree_nodes ? at[t].lo : 0;
    l->height[K] = t < F->tree_nodes ? at[t].height : 0;
  }
}

/* ---- Blocks. ---- */

/* Runs of a list within one supernode: block (I, K) of L is found in K's list, of U in I's.  If
 * rows is NULL the blocks are counted; else next[K] is the position of K's next block. */
static void visit_blocks(const trs_grid_layout *l, bool upper, trs_grid_blocks *b,
                         const int32_t *owner, int64_t *next) {
  const trs_grid_lists *lists = &l->lists[upper];
  for (int64_t S = 0; S < l->count; S++)
    for (int64_t r = lists->ptr[S], end = lists->ptr[S + 1], to; r < end; r = to) {
      int32_t other = owner[lists->idx[r]];
      for (to = r + 1; to < end && owner[lists->idx[to]] == other;) to++;
      int64_t K = upper ? other : S, at = next[K]++;
      if (!b->row) continue;
      b->row[at] = upper ? (int32_t)S : other;
      b->rows[at] = (int32_t)(to - r);
      b->list[at] = r;
    }
}

static trs_status list_blocks(trs_grid_layout *l, bool upper, const int32_t *owner) {
  trs_grid_blocks *b = &l->blocks[upper];
  TRS_TRY(TRS_ALLOC_ZERO(&b->ptr, l->count + 2));
  visit_blocks(l, upper, b, owner, b->ptr + 2);
  for (int64_t K = 0; K < l->count; K++) b->ptr[K + 2] += b->ptr[K + 1];
  int64_t nblocks = b->ptr[l->count + 1];
  TRS_TRY(TRS_ALLOC_ALL(TRS_ROOM(&b->row, nblocks), TRS_ROOM(&b->rows, nblocks),
                        TRS_ROOM(&b->list, nblocks)));
  visit_blocks(l, upper, b, owner, b->ptr + 1);
  return TRS_SUCCESS;
}

trs_status trs_grid_layout_blocks(trs_grid_layout *l) {
  int32_t *owner;
  TRS_TRY(TRS_ALLOC(&owner, l->first[l->count]));
  for (int64_t K = 0; K < l->count; K++) {
    for (int64_t j = l->first[K]; j < l->first[K + 1]; j++) owner[j] = (int32_t)K;
    if (trs_width(l, K) > l->widest) l->widest = trs_width(l, K);
  }
  trs_status status = list_blocks(l, TRS_L, owner);
  if (!status) status = list_blocks(l, TRS_U, owner);
  trs_free(owner);
  return status;
}

/* A block couples two supernodes; one of them is replicated on all grids of the other. */
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

void trs_grid_layout_weigh(const trs_grid_layout *l, double *weight) {
  for (int64_t K = 0; K < l->count; K++)
    weight[K] = trs_half(l, K) ? 0 : (double)(trs_width(l, K) * trs_width(l, K));
  for (int upper = 0; upper < 2; upper++)
    for (int64_t K = 0; K < l->count; K++)
      for (int64_t b = l->blocks[upper].ptr[K]; b < l->blocks[upper].ptr[K + 1]; b++) {
        int64_t S = upper ? l->blocks[upper].row[b] : K;
        weight[S] += (double)(trs_width(l, S) * l->blocks[upper].rows[b]);
      }
}

trs_status trs_grid_layout_allocate(trs_grid_layout *l) {
  return TRS_ALLOC_ALL(TRS_ROOM(&l->lo, l->count), TRS_ROOM(&l->height, l->count),
                       TRS_ROOM(&l->home, l->count), TRS_ZEROS(&l->leaf, l->pz));
}

static trs_status weigh_leaves(trs_grid_layout *l) {
  double *weight;
  TRS_TRY(TRS_ALLOC(&weight, l->count));
  trs_grid_layout_weigh(l, weight);
  for (int64_t K = 0; K < l->count; K++)
    if (!l->height[K]) l->leaf[l->lo[K]] += (int64_t)weight[K];
  trs_free(weight);
  return TRS_SUCCESS;
}

/* Grids and homes, from the tree's nodes if they are given. */
static trs_status assign_all(trs_grid_layout *l, const trs_grid_pattern *F, node_grids *at,
                             const trs_layout_options *options) {
  TRS_TRY(trs_grid_layout_allocate(l));
  TRS_TRY(trs_grid_layout_blocks(l));
  if (at)
    assign_supernodes(l, at, F);
  else
    TRS_TRY(trs_forest_assign(l));
  TRS_TRY(check_blocks(l));
  TRS_TRY(trs_forest_house(l, options));
  return weigh_leaves(l);
}

trs_status trs_grid_layout_lists(const trs_grid_pattern *F, int pz,
                                 const trs_layout_options *options, int64_t *count, int64_t **first,
                                 trs_grid_lists lists[2]) {
  trs_grid_layout l = {.n = F->L.n};
  bool use_tree;
  TRS_TRY(choose_tree(F, pz, &use_tree));
  trs_status status = find_supernodes(&l, F, use_tree ? F->tree_nodes : 0, options);
  if (status) trs_grid_layout_destroy(&l);
  *count = l.count;
  *first = l.first;
  lists[0] = l.lists[0];
  lists[1] = l.lists[1];
  return status;
}

static trs_status adopt(trs_grid_layout *l, const trs_grid_pattern *F, node_grids **at,
                        const trs_layout_options *options) {
  bool use_tree;
  TRS_TRY(choose_tree(F, l->pz, &use_tree));
  while ((1 << l->levels) < l->pz) l->levels++;
  if (use_tree && F->tree_nodes) {
    TRS_TRY(TRS_ALLOC(at, F->tree_nodes));
    TRS_TRY(assign_tree(*at, F, (int8_t)l->levels));
  }
  return assign_all(l, F, *at, options);
}

trs_status trs_grid_layout_adopt(trs_grid_layout *layout, int64_t count, int64_t *first,
                                 trs_grid_lists lists[2], const trs_grid_pattern *tree, int pz,
                                 const trs_layout_options *options) {
  trs_grid_pattern none = {0};
  node_grids *at = NULL;
  *layout = (trs_grid_layout){
      .pz = pz, .n = first[count], .count = count, .first = first, .lists = {lists[0], lists[1]}};
  trs_status status = adopt(layout, tree ? tree : &none, &at, options);
  trs_free(at);
  if (status) trs_grid_layout_destroy(layout);
  return status;
}

trs_status trs_grid_layout_create(trs_grid_layout *layout, const trs_grid_pattern *pattern, int pz,
                                  const trs_layout_options *options) {
  trs_grid_lists lists[2] = {{0}};
  int64_t count, *first;
  *layout = (trs_grid_layout){0};
  TRS_TRY(trs_grid_layout_lists(pattern, pz, options, &count, &first, lists));
  return trs_grid_layout_adopt(layout, count, first, lists, pattern, pz, options);
}

void trs_grid_layout_destroy(trs_grid_layout *layout) {
  for (int side = 0; side < 2; side++) {
    trs_grid_blocks *b = &layout->blocks[side];
    TRS_FREE_ALL(layout->lists[side].ptr, layout->lists[side].idx, b->ptr, b->row, b->rows,
                 b->list);
  }
  TRS_FREE_ALL(layout->first, layout->height, layout->lo, layout->home, layout->leaf, layout->half,
               layout->run, layout->run_of, layout->origin);
  *layout = (trs_grid_layout){0};
}

/* Pz doubles while the tree has enough leaves and each grid keeps a few ranks; Px x Py is as square
 * as possible. */
trs_grid_shape trs_grid_shape_for(int size, int64_t leaves, bool flat) {
  trs_grid_shape p = {1, 1, 1};
  while (!flat && size % (2 * p.z) == 0 && 2 * p.z <= leaves && (int64_t)p.z * p.z * 4 <= 2 * size)
    p.z *= 2;
  int left = size / p.z;
  for (int x = 1; (int64_t)x * x <= left; x++)
    if (left % x == 0) p.x = x;
  p.y = left / p.x;
  return p;
}
