/* deliver.c - sends entries to their owners. */
#include "solve/grid3d/input.h"

#include <string.h>

/* The entries of L or of U for one rank. */
typedef struct parcel {
  int64_t count, filled;
  int32_t *i, *j;
  char *values;
} parcel;

struct trs_delivery {
  const trs_grid_input *in;
  trs_filler *f;
  size_t size;
  parcel (*to)[2]; /* by rank */
  bool counting;
};

static void add(trs_delivery *d, parcel *p, int64_t i, int64_t j, const void *value) {
  if (d->counting) {
    p->count++;
    return;
  }
  p->i[p->filled] = (int32_t)i;
  p->j[p->filled] = (int32_t)j;
  memcpy(p->values + (size_t)p->filled * d->size, value, d->size);
  p->filled++;
}

/* The layout is that of the transpose if the solver solves with the transpose.  An entry of a run's
 * triangle goes to the position of the same entry of the inverse. */
void trs_deliver(trs_delivery *d, bool upper, int64_t i, int64_t j, const void *value) {
  const trs_rank_part *part = d->f->part;
  const trs_grid_layout *l = part->layout;
  bool in_U = d->in->transposed != upper; /* of the solver */
  int places = part->shape.x * part->shape.y;
  int64_t I = d->f->owner[d->in->transposed ? j : i], K = d->f->owner[d->in->transposed ? i : j];
  int64_t low = in_U ? I : K;
  int place = trs_fill_owner(part, in_U, I, K);
  for (int z = l->lo[low]; z < l->lo[low] + (1 << l->height[low]); z++)
    add(d, &d->to[z * places + place][upper], i, j, value);
}

static trs_status make_parcel(parcel *p, int64_t count, size_t size) {
  return TRS_ALLOC_ALL(TRS_ROOM(&p->i, count), TRS_ROOM(&p->j, count),
                       TRS_ROOM_OF(&p->values, count, size));
}

static void release(parcel *p) {
  TRS_FREE_ALL(p->i, p->j, p->values);
  *p = (parcel){0};
}

/* ---- Rounds: in round d, each rank sends to rank own + d. ---- */

static int to_in(const trs_ranks *r, int d) { return (r->rank + d) % r->size; }
static int from_in(const trs_ranks *r, int d) { return (r->rank + r->size - d) % r->size; }

static trs_status exchange_counts(const trs_delivery *d, trs_ranks *ranks, int64_t (*count)[2]) {
  for (int k = 1; k < ranks->size; k++) {
    int to = to_in(ranks, k), from = from_in(ranks, k);
    int64_t own[2] = {d->to[to][0].count, d->to[to][1].count};
    TRS_TRY(trs_ranks_send(ranks, to, TRS_TAG_MOVE, own, sizeof own));
    TRS_TRY(trs_ranks_receive(ranks, from, TRS_TAG_MOVE, count[from], sizeof own));
    TRS_TRY(trs_ranks_finish(ranks));
  }
  return TRS_SUCCESS;
}

static trs_status make_room(trs_delivery *d, parcel *in, const trs_ranks *ranks,
                            const int64_t (*count)[2]) {
  int64_t most = 0;
  for (int r = 0; r < ranks->size; r++)
    for (int upper = 0; upper < 2; upper++) {
      TRS_TRY(make_parcel(&d->to[r][upper], d->to[r][upper].count, d->size));
      if (count[r][upper] > most) most = count[r][upper];
    }
  return make_parcel(in, most, d->size);
}

static trs_status send(const trs_delivery *d, trs_ranks *ranks, int to, const parcel *p) {
  int64_t list = p->count * (int64_t)sizeof *p->i;
  if (p->count == 0) return TRS_SUCCESS;
  TRS_TRY(trs_ranks_send(ranks, to, TRS_TAG_MOVE, p->i, list));
  TRS_TRY(trs_ranks_send(ranks, to, TRS_TAG_MOVE, p->j, list));
  return trs_ranks_send(ranks, to, TRS_TAG_MOVE, p->values, p->count * (int64_t)d->size);
}

static trs_status receive(const trs_delivery *d, trs_ranks *ranks, int from, parcel *p) {
  int64_t list = p->count * (int64_t)sizeof *p->i;
  if (p->count == 0) return TRS_SUCCESS;
  TRS_TRY(trs_ranks_receive(ranks, from, TRS_TAG_MOVE, p->i, list));
  TRS_TRY(trs_ranks_receive(ranks, from, TRS_TAG_MOVE, p->j, list));
  return trs_ranks_receive(ranks, from, TRS_TAG_MOVE, p->values, p->count * (int64_t)d->size);
}

static trs_status put(const trs_delivery *d, bool upper, const parcel *p) {
  return trs_input_put(d->in, d->f, upper, p->count, p->i, p->j, p->values);
}

/* Reports an entry outside the pattern once all entries are delivered. */
static trs_status exchange(const trs_delivery *d, trs_ranks *ranks, parcel *in,
                           const int64_t (*count)[2]) {
  trs_status bad = TRS_SUCCESS;
  for (int upper = 0; upper < 2; upper++) {
    trs_status status = put(d, upper, &d->to[ranks->rank][upper]);
    bad = bad ? bad : status;
    for (int k = 1; k < ranks->size; k++) {
      int from = from_in(ranks, k);
      in->count = count[from][upper];
      TRS_TRY(send(d, ranks, to_in(ranks, k), &d->to[to_in(ranks, k)][upper]));
      TRS_TRY(receive(d, ranks, from, in));
      TRS_TRY(trs_ranks_finish(ranks));
      status = put(d, upper, in);
      bad = bad ? bad : status;
    }
  }
  return bad;
}

static trs_status run(trs_delivery *d, trs_ranks *ranks, int64_t (*count)[2], parcel *in) {
  d->counting = true;
  d->in->produce(d->in->state, d);
  TRS_TRY(exchange_counts(d, ranks, count));
  TRS_TRY(trs_ranks_agree(ranks, make_room(d, in, ranks, (const int64_t(*)[2])count)));
  d->counting = false;
  d->in->produce(d->in->state, d);
  return exchange(d, ranks, in, (const int64_t(*)[2])count);
}

trs_status trs_deliver_all(const trs_grid_input *in, trs_filler *f, trs_ranks *ranks) {
  trs_delivery d = {.in = in, .f = f, .size = trs_scalar_size(in->scalar)};
  int64_t(*count)[2] = NULL;
  parcel arriving = {0};
  trs_status status = trs_alloc_zero((void **)&d.to, ranks->size, sizeof *d.to);
  if (!status) status = trs_alloc_zero((void **)&count, ranks->size, sizeof *count);
  status = trs_ranks_agree(ranks, status);
  if (!status) status = run(&d, ranks, count, &arriving);
  for (int r = 0; d.to && r < ranks->size; r++)
    for (int upper = 0; upper < 2; upper++) release(&d.to[r][upper]);
  release(&arriving);
  TRS_FREE_ALL(d.to, count);
  return status;
}
