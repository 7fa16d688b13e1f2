/* input_file.c - a factor file: rank 0 reads the pattern and builds the layout for all ranks; every
 * rank reads an equal part of the entries, each entry once over all ranks, and sends them to their
 * owners.  Checksums of values cover all parts together.
 *
 * If the order of a file's entries is not canonical, rank 0 reads all of them. */
#include <string.h>

#include "factor/file.h"
#include "base/checksum.h"
#include "solve/grid3d/input.h"

typedef struct reader {
  trs_factors *F; /* rank 0: patterns */
  bool whole;     /* and values */
  trs_factors_part part;
} reader;

/* ---- Check that all ranks read the same file. ---- */

/* Everything that a rank knows of its file except its part of the entries. */
static uint32_t check_rest(const reader *r) {
  const trs_factors *F = &r->part.F;
  const int64_t perm = F->n * (int64_t)sizeof *F->row_perm;
  const int64_t scale = F->n * (int64_t)sizeof *F->row_scale;
  uint32_t crc = trs_crc32_array(0, F->row_perm, perm);
  crc = trs_crc32_array(crc, F->col_perm, perm);
  crc = trs_crc32_array(crc, F->row_scale, scale);
  crc = trs_crc32_array(crc, F->col_scale, scale);
  crc = trs_crc32_array(crc, F->tree_ptr, (F->tree_nodes + 1) * (int64_t)sizeof *F->tree_ptr);
  crc = trs_crc32_array(crc, F->tree_parent, F->tree_nodes * (int64_t)sizeof *F->tree_parent);
  for (int k = 0; k < 2 && !r->whole; k++) {
    const trs_hdf5_part *T = &r->part.side[k];
    const int64_t head[] = {T->rows, T->scalar, T->n, T->slice.whole_crc};
    crc = trs_crc32(crc, head, sizeof head);
    crc = trs_crc32_array(crc, T->ptr, (T->n + 1) * (int64_t)sizeof *T->ptr);
  }
  return crc;
}

/* The same path may name a different file on another node, for example one of an earlier run. */
static trs_status compare_files(const reader *r, const char *path, trs_ranks *ranks) {
  const trs_factors *F = &r->part.F;
  const int64_t own[] = {F->n, F->tree_nodes, F->diag_L, F->diag_U, check_rest(r)};
  trs_status status = TRS_SUCCESS;
  bool same;
  TRS_TRY(trs_ranks_compare(ranks, own, sizeof own, &same));
  if (!same)
    status =
        trs_fail(TRS_ERROR_FORMAT, -1, "%s: the file that it finds is another than rank 0's", path);
  return trs_ranks_agree(ranks, status);
}

/* ---- Checksums. ---- */

typedef struct sums {
  trs_array_slice values[2];
  uint32_t indices[2];
} sums;

static sums own_sums(const reader *r) {
  sums own = {{r->part.side[0].slice, r->part.side[1].slice}, {0}};
  for (int k = 0; k < 2; k++) {
    const trs_hdf5_part *T = &r->part.side[k];
    if (T->idx)
      own.indices[k] =
          trs_crc32(0, T->idx, (T->slice.to - T->slice.from) * (int64_t)sizeof *T->idx);
  }
  return own;
}

/* Rank 0 has checked all indices; those that another rank has read must be the same. */
static trs_status check_indices(const reader *r, const sums *other, int rank, int size,
                                const char *path) {
  const trs_matrix *T[2] = {r->F->L, r->F->U};
  for (int k = 0; k < 2 && !r->whole; k++) {
    int64_t from = T[k]->nnz * rank / size, to = T[k]->nnz * (rank + 1) / size;
    const trs_array_slice *slice = &other->values[k];
    uint32_t crc = trs_crc32(0, T[k]->idx + from, (to - from) * (int64_t)sizeof *T[k]->idx);
    if (slice->from != from || slice->to != to || other->indices[k] != crc)
      return trs_fail(TRS_ERROR_FORMAT, -1,
                      "%s: indices of /%c that rank %d has read are others than rank 0's", path,
                      k ? 'U' : 'L', rank);
  }
  return TRS_SUCCESS;
}

/* Rank 0 collects the checksums of all parts, combines and compares them; all ranks get the result.
 */
static trs_status check_sums(const reader *r, const char *path, trs_ranks *ranks) {
  sums part = own_sums(r), whole = part;
  trs_status status = TRS_SUCCESS;
  if (ranks->rank) {
    TRS_TRY(trs_ranks_send(ranks, 0, TRS_TAG_MOVE, &part, sizeof part));
    TRS_TRY(trs_ranks_finish(ranks));
    return trs_ranks_agree(ranks, TRS_SUCCESS);
  }
  for (int from = 1; from < ranks->size; from++) {
    TRS_TRY(trs_ranks_receive(ranks, from, TRS_TAG_MOVE, &part, sizeof part));
    if (!status) status = check_indices(r, &part, from, ranks->size, path);
    for (int k = 0; k < 2; k++) {
      const trs_array_slice *next = &part.values[k];
      whole.values[k].crc = trs_crc32_join(whole.values[k].crc, next->crc, next->bytes);
      whole.values[k].checked &= next->checked;
    }
  }
  for (int k = 0; k < 2 && !status; k++)
    if (whole.values[k].checked && whole.values[k].crc != whole.values[k].whole_crc)
      status = trs_fail(TRS_ERROR_FORMAT, -1,
                        "%s: dataset /%c/values is damaged: its checksum does not match", path,
                        k ? 'U' : 'L');
  return trs_ranks_agree(ranks, status);
}

/* ---- Entries. ---- */

static void hand_out(const trs_hdf5_part *T, bool upper, trs_delivery *d) {
  size_t size = trs_scalar_size(T->scalar);
  int64_t v = 0;
  for (int64_t p = T->slice.from; p < T->slice.to; p++) {
    while (T->ptr[v + 1] <= p) v++;
    int64_t other = T->idx[p - T->slice.from];
    const char *value = (const char *)T->val + (size_t)(p - T->slice.from) * size;
    trs_deliver(d, upper, T->rows ? v : other, T->rows ? other : v, value);
  }
}

static void produce(const void *state, trs_delivery *d) {
  const reader *r = state;
  hand_out(&r->part.side[TRS_L], TRS_L, d);
  hand_out(&r->part.side[TRS_U], TRS_U, d);
}

/* ---- The layout. ---- */

static trs_status make_layout(const trs_grid_input *in, trs_ranks *ranks, trs_grid_layout *layout,
                              int pz, const trs_layout_options *options) {
  const reader *r = in->state;
  trs_grid_pattern pattern = trs_input_pattern(in, ranks->rank ? NULL : r->F);
  pattern.tree_nodes = r->part.F.tree_nodes;
  pattern.tree_ptr = r->part.F.tree_ptr;
  pattern.tree_parent = r->part.F.tree_parent;
  return trs_input_share_layout(ranks, layout, &pattern, pz, options);
}

/* ---- The input. ---- */

static void close(trs_grid_input *in) {
  reader *r = (reader *)in->state;
  if (!r) return;
  if (r->whole) /* rank 0 has F's arrays */
    for (int k = 0; k < 2; k++) r->part.side[k] = (trs_hdf5_part){0};
  if (r->F) trs_factors_destroy(r->F);
  trs_factors_part_release(&r->part);
  trs_free(r);
  in->state = NULL;
}

/* The parts of a file whose entries are out of order: rank 0 has all entries, the other ranks none.
 */
static void take_whole(reader *r) {
  trs_matrix *T[2] = {r->F->L, r->F->U};
  for (int k = 0; k < 2; k++) {
    trs_hdf5_part *p = &r->part.side[k];
    *p = (trs_hdf5_part){.rows = T[k]->format == TRS_CSR,
                         .scalar = T[k]->scalar,
                         .n = T[k]->nrows,
                         .slice = {.to = T[k]->nnz}};
    p->ptr = T[k]->ptr;
    p->idx = T[k]->idx;
    p->val = T[k]->val;
  }
}

/* Rank 0 determines the order of the entries; then every rank reads its part.  If the order is not
 * canonical, the other ranks read everything except the entries. */
static trs_status read_all(reader *r, const char *path, trs_scalar scalar, trs_ranks *ranks) {
  int32_t found[2] = {0, 0};
  trs_status status = TRS_SUCCESS;
  if (!ranks->rank) status = trs_read_factors_pattern(&r->F, path, scalar, &r->whole);
  TRS_TRY(trs_ranks_agree(ranks, status));
  if (!ranks->rank) found[0] = r->whole, found[1] = (int32_t)r->F->scalar;
  TRS_TRY(trs_ranks_broadcast(ranks, found, sizeof found));
  r->whole = found[0];
  status = trs_read_factors_part(&r->part, path, scalar, ranks->rank, r->whole ? 0 : ranks->size);
  if (!status) r->part.F.scalar = (trs_scalar)found[1];
  if (!status && r->whole && !ranks->rank) take_whole(r);
  return trs_ranks_agree(ranks, status);
}

trs_status trs_input_file(trs_grid_input *in, const char *path, trs_scalar scalar,
                          trs_ranks *ranks) {
  reader *r = NULL;
  *in = (trs_grid_input){0};
  trs_status status =
      path ? TRS_ALLOC_ZERO(&r, 1) : trs_fail(TRS_ERROR_ARGUMENT, -1, "path is NULL");
  in->close = close;
  in->state = r;
  TRS_TRY(trs_ranks_agree(ranks, status));
  TRS_TRY(read_all(r, path, scalar, ranks));
  TRS_TRY(compare_files(r, path, ranks));
  trs_input_describe(in, &r->part.F);
  in->layout = make_layout;
  in->produce = produce;
  return check_sums(r, path, ranks);
}
