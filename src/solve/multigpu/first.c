/* first.c - a deal by the first GPU. */
#include "solve/multigpu/first.h"

#include <string.h>

#include "base/memory.h"
#include "solve/multigpu/first_kernels.h"

enum { ALIGNED = 256 };

static int64_t groups_of(int64_t n) { return (n + TRS_CLEAR_ROWS - 1) / TRS_CLEAR_ROWS; }

static trs_first_joint joint_of(const trs_first *f) {
  return (trs_first_joint){f->joins ? f->joint.of : NULL, f->joins ? f->joint.ny : 0, f->lower};
}

/* With memory NULL, only their size.  What begins as zeros stands together, at the end. */
static int64_t place_arrays(trs_first *f, int64_t *zeros) {
  const int64_t n = f->system.n;
  const struct {
    void *at;
    int64_t bytes;
  } arrays[] = {{&f->bound, (f->members + 1) * (int64_t)sizeof *f->bound},
                {&f->member, n},
                {&f->group_mask, groups_of(n) * (int64_t)sizeof *f->group_mask},
                {&f->mask, n * (int64_t)sizeof *f->mask},
                {&f->pushes, (int64_t)sizeof *f->pushes},
                {&f->hash, (int64_t)sizeof *f->hash}};
  int64_t bytes = 0;
  for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++) {
    char *at = f->memory ? (char *)f->memory + bytes : NULL;
    memcpy(arrays[k].at, &at, sizeof at);
    if (arrays[k].at == (void *)&f->mask) *zeros = bytes;
    bytes += (arrays[k].bytes + ALIGNED - 1) / ALIGNED * ALIGNED;
  }
  return bytes;
}

static trs_status make_arrays(trs_first *f) {
  int64_t zeros = 0;
  const int64_t bytes = place_arrays(f, &zeros);
  TRS_TRY(trs_device_alloc(f->device, &f->memory, bytes, 1, f->stream));
  (void)place_arrays(f, &zeros);
  return trs_device_fill((char *)f->memory + zeros, 0, bytes - zeros, f->stream);
}

trs_status trs_first_cut(trs_first *f, trs_slices *s, const trs_slice_rules *rules) {
  *s = (trs_slices){0};
  TRS_ON_DEVICE(f->device);
  trs_slice_level *level = NULL;
  TRS_TRY(trs_device_alloc_host(f->device, (void **)&f->found));
  *f->found = (trs_gpu_found){0};
  TRS_TRY(make_arrays(f));
  const bool cuts = f->rule == TRS_DEAL_SLABS;
  if (cuts)
    TRS_TRY(
        trs_first_find_slabs(f->bound, f->member, &f->system, joint_of(f), f->members, f->stream));
  const trs_gpu_slabs slabs = {cuts ? f->members : 1, f->member};
  const trs_known_levels known = {f->joint.known, f->joint.nlevels};
  TRS_TRY(trs_gpu_cut_begin_slabs(&f->cut, f->device, &f->system, NULL, rules, &slabs,
                                  f->joins ? &known : NULL, f->stream));
  trs_status status = trs_gpu_cut_finish(f->cut, &f->slices, &level);
  *s = f->slices;
  s->level = level;
  return status;
}

static trs_status take_slices(const trs_first *f, const trs_slices *s) {
  return trs_device_copy(s->slice, f->slices.slice, s->nslices * (int64_t)sizeof *s->slice,
                         f->stream);
}

/* Other rules than slabs need the slices on the host. */
static trs_status find_owners(const trs_first *f, const trs_deal *deal, const trs_slices *s,
                              int32_t *owner) {
  const int64_t bytes = s->nslices * (int64_t)sizeof *owner;
  if (f->rule == TRS_DEAL_SLABS) {
    TRS_TRY(trs_first_find_owners(owner, &f->slices, &f->system, f->member, f->stream));
    TRS_TRY(trs_device_copy(deal->owner, owner, bytes, f->stream));
    return take_slices(f, s);
  }
  TRS_TRY(take_slices(f, s));
  TRS_TRY(trs_device_wait(f->stream));
  trs_deal_bands(deal->owner, s, f->members);
  return trs_device_copy(owner, deal->owner, bytes, f->stream);
}

static trs_status find_needs(trs_first *f, const int32_t *owner) {
  const int64_t n = f->system.n;
  TRS_TRY(trs_first_spread_owners(f->member, owner, &f->slices, &f->system, f->stream));
  TRS_TRY(trs_first_mark_needs(f->mask, &f->system, f->member, f->position, f->stream));
  TRS_TRY(trs_first_sum_needs(f->group_mask, f->pushes, f->mask, n, f->stream));
  return f->joins ? trs_first_hash(f->hash, &f->system, joint_of(f), f->stream) : TRS_SUCCESS;
}

trs_status trs_first_deal(trs_first *f, trs_deal *deal, trs_slices *s) {
  *deal = (trs_deal){.members = f->members, .rule = f->rule};
  TRS_ON_DEVICE(f->device);
  int32_t *owner, bound[TRS_MOST_MEMBERS + 1];
  const int64_t groups = groups_of(f->system.n);
  uint64_t pushes = 0;
  TRS_TRY(trs_gpu_cut_lay(f->cut, &f->slices, &f->map, &f->position));
  TRS_TRY(TRS_ALLOC_ALL(TRS_ROOM(&deal->owner, s->nslices), TRS_ROOM(&deal->group_mask, groups),
                        TRS_ROOM(&s->slice, s->nslices)));
  TRS_TRY(TRS_DEVICE_ALLOC(f->device, &owner, s->nslices, f->stream));
  trs_status status = find_owners(f, deal, s, owner);
  if (!status) status = find_needs(f, owner);
  if (!status)
    status = trs_device_copy(deal->group_mask, f->group_mask,
                             groups * (int64_t)sizeof *f->group_mask, f->stream);
  if (!status) status = trs_device_copy(&pushes, f->pushes, sizeof pushes, f->stream);
  if (!status) status = trs_device_copy(&f->pattern, f->hash, sizeof f->pattern, f->stream);
  if (!status && f->joins)
    status = trs_device_copy(bound, f->bound, (f->members + 1) * (int64_t)sizeof *bound, f->stream);
  trs_device_free(f->device, owner, f->stream);
  const trs_status waited = trs_device_wait(f->stream);
  if (status || waited) return status ? status : waited;
  deal->pushes = (int64_t)pushes;
  for (int32_t m = 0; m < f->members && f->joins; m++) deal->rows[m] = bound[m + 1] - bound[m];
  return TRS_SUCCESS;
}

trs_status trs_first_rows(trs_first *f, const int32_t **row, int32_t **named) {
  *row = f->slices.row;
  *named = NULL;
  if (!f->joins) return TRS_SUCCESS;
  TRS_TRY(TRS_DEVICE_ALLOC(f->device, named, f->system.n, f->stream));
  *row = *named;
  return trs_gpu_substitution_rows(&f->joint, f->slices.row, *named, f->stream);
}

static void list_heavy(const trs_deal_share *share, int32_t *heavy, int32_t *nheavy,
                       int32_t *piece) {
  *nheavy = 0;
  for (int32_t k = 0; k < share->nslices; k++) {
    const trs_slice *h = &share->slice[k];
    if (!h->heavy || trs_slice_is_part(h)) continue;
    heavy[(*nheavy)++] = k;
    for (int32_t j = 0; j < h->parts; j++) piece[h->part + j] = j;
  }
}

trs_status trs_first_keep_heavy(trs_first *f, int32_t member, const trs_deal_share *share) {
  trs_first_heavy *to = &f->heavy[member];
  int32_t *lists, count = 0;
  for (int32_t k = 0; k < share->nslices; k++)
    count += share->slice[k].heavy && !trs_slice_is_part(&share->slice[k]);
  if (count == 0) return TRS_SUCCESS;
  const int64_t all = (int64_t)count + share->nparts;
  TRS_TRY(TRS_ALLOC(&lists, all));
  list_heavy(share, lists, &to->nheavy, lists + count);
  trs_status status = TRS_DEVICE_ALLOC(f->device, &to->heavy, all, f->stream);
  if (!status) {
    to->piece = to->heavy + count;
    status = trs_device_copy(to->heavy, lists, all * (int64_t)sizeof *lists, f->stream);
  }
  if (!status) status = trs_device_wait(f->stream);
  trs_free(lists);
  return status;
}

trs_status trs_first_keep_place(trs_first *f) {
  if (!f->map.place) return TRS_SUCCESS;
  TRS_TRY(TRS_DEVICE_ALLOC(f->device, &f->place, f->system.n, f->stream));
  return trs_device_copy(f->place, f->map.place, f->system.n, f->stream);
}

trs_status trs_first_fill(trs_first *f, int32_t member, const trs_slices *slices, bool store_float,
                          const int32_t *position) {
  const trs_first_heavy *own = &f->heavy[member];
  const trs_slices_map map = {.place = f->place,
                              .piece = own->piece,
                              .heavy = own->heavy,
                              .nheavy = own->nheavy,
                              .overlaps = trs_device_look(f->device)->capability >= 9};
  const trs_gpu_verdict verdict = {.found = f->found};
  return trs_gpu_slices_enter(slices, &map, &f->system, store_float, position, &verdict, f->stream);
}

trs_status trs_first_joint_rows(const trs_first *f, int32_t **row, const int32_t *named) {
  TRS_TRY(TRS_DEVICE_ALLOC(f->device, row, f->system.n, f->stream));
  return trs_first_find_rows(*row, named, f->system.n, joint_of(f), f->stream);
}

trs_status trs_first_pattern(const trs_first *f, uint64_t *pattern) {
  uint64_t *hash;
  TRS_TRY(TRS_DEVICE_ALLOC(f->device, &hash, 1, f->stream));
  trs_status status = trs_device_fill(hash, 0, sizeof *hash, f->stream);
  if (!status) status = trs_first_hash(hash, &f->system, joint_of(f), f->stream);
  if (!status) status = trs_device_copy(pattern, hash, sizeof *hash, f->stream);
  trs_device_free(f->device, hash, f->stream);
  const trs_status waited = trs_device_wait(f->stream);
  return status ? status : waited;
}

void trs_first_settle(trs_first *f) {
  if (!f->device) return;
  TRS_ON_DEVICE(f->device);
  trs_gpu_cut_free(f->cut);
  trs_gpu_slices_free(&f->slices, &f->map, f->device, f->stream);
  trs_gpu_substitution_free(&f->joint, f->device, f->stream);
  trs_device_free(f->device, f->memory, f->stream);
  f->cut = NULL;
  f->memory = NULL;
  f->position = NULL;
  (void)place_arrays(f, &(int64_t){0});
  f->system.ptr = NULL, f->system.idx = NULL, f->system.val = NULL;
}

void trs_first_drop(trs_first *f) {
  if (!f->device) return;
  const int before = trs_device_enter(f->device);
  (void)trs_device_wait(f->stream); /* kernels may still write to `found` */
  trs_first_settle(f);
  trs_device_free(f->device, f->place, f->stream);
  for (int32_t m = 0; m < TRS_MOST_MEMBERS; m++)
    trs_device_free(f->device, f->heavy[m].heavy, f->stream);
  if (f->found) trs_device_free_host(f->device, f->found);
  trs_device_leave(before);
  *f = (trs_first){0};
}
