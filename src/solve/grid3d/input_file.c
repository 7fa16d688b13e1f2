/* input_file.c - a factor file: every rank reads the pattern, and of the numbers a part, which goes
 * to its owners.  Checksums are of all parts together. */
#include "factor/file.h"
#include "io/checksum.h"
#include "solve/grid3d/deliver.h"
#include "solve/grid3d/input.h"

typedef struct reader {
  trs_factors *F;
  trs_partial partial;
} reader;

/* ---- Checksums. ---- */

/* Rank 0 gets every part's, joins them and compares; its verdict is for all. */
static trs_status check_sums(const reader *r, const char *path, trs_ranks *ranks) {
  trs_slice part[2] = {r->partial.of[0], r->partial.of[1]}, whole[2];
  trs_status status = TRS_SUCCESS;
  if (ranks->rank) {
    TRS_TRY(trs_ranks_send(ranks, 0, TRS_TAG_MOVE, part, sizeof part));
    TRS_TRY(trs_ranks_finish(ranks));
    return trs_ranks_agree(ranks, TRS_SUCCESS);
  }
  for (int k = 0; k < 2; k++) whole[k] = part[k];
  for (int from = 1; from < ranks->size; from++) {
    TRS_TRY(trs_ranks_receive(ranks, from, TRS_TAG_MOVE, part, sizeof part));
    for (int k = 0; k < 2; k++) {
      whole[k].crc = trs_crc32_join(whole[k].crc, part[k].crc, part[k].bytes);
      whole[k].checked &= part[k].checked;
    }
  }
  for (int k = 0; k < 2 && !status; k++)
    if (whole[k].checked && whole[k].crc != whole[k].whole_crc)
      status = trs_fail(TRS_ERROR_FORMAT, -1,
                        "%s: dataset /%c/values is damaged: its checksum does not match", path,
                        k ? 'U' : 'L');
  return trs_ranks_agree(ranks, status);
}

/* ---- Entries. ---- */

static void hand_out(const reader *r, int which, const trs_matrix *T, trs_delivery *d) {
  const trs_slice *part = &r->partial.of[which];
  size_t size = trs_scalar_size(T->scalar);
  int64_t v = 0;
  for (int64_t p = part->from; p < part->to; p++) {
    while (T->ptr[v + 1] <= p) v++;
    const char *value = (const char *)T->val + (size_t)(p - part->from) * size;
    if (T->format == TRS_CSR)
      trs_deliver(d, which, v, T->idx[p], value);
    else
      trs_deliver(d, which, T->idx[p], v, value);
  }
}

static void produce(const void *state, trs_delivery *d) {
  const reader *r = state;
  hand_out(r, 0, r->F->L, d);
  hand_out(r, 1, r->F->U, d);
}

/* ---- The input. ---- */

static trs_status make_layout(const trs_grid_input *in, trs_grid_layout *layout, int pz,
                              const trs_layout_options *options) {
  const reader *r = in->state;
  return trs_input_layout(in, r->F, layout, pz, options);
}

static trs_status fill(const trs_grid_input *in, trs_filler *f, trs_ranks *ranks) {
  return trs_deliver_all(in, f, ranks, produce, in->state);
}

static void close(trs_grid_input *in) {
  reader *r = (reader *)in->state;
  if (r) trs_factors_destroy(r->F);
  trs_free(r);
  in->state = NULL;
}

trs_status trs_input_file(trs_grid_input *in, const char *path, const trs_scalar *scalar,
                          trs_ranks *ranks) {
  reader *r = NULL;
  *in = (trs_grid_input){0};
  trs_status status = TRS_ALLOC_ZERO(&r, 1);
  if (!status) {
    r->partial = (trs_partial){.part = ranks->rank, .parts = ranks->size};
    status = trs_read_factors_part(&r->F, path, scalar, &r->partial);
  }
  if (!status) status = trs_input_factors(in, r->F);
  in->layout = make_layout;
  in->fill = fill;
  in->close = close;
  in->state = r;
  TRS_TRY(trs_ranks_agree(ranks, status));
  return check_sums(r, path, ranks);
}
