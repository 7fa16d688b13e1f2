/* push_load.c - the memory of a member: its share of the entries, packed piece by piece into
 * buffers of limited size and uploaded, so that no GPU ever holds the whole matrix, nor does the
 * host if values are deferred, unless the first GPU made the deal and fills them; and n (3 values +
 * 8 bytes). */
#include <string.h>

#include "analysis/share.h"
#include "base/counter.h"
#include "solve/multigpu/push_state.h"

enum { BUFFERS = 2, ALIGNED = 256 };

int64_t trs_push_piece_bytes = 16 << 20;

/* ---- What the members are sent goes through pinned buffers: the host fills one while others are
 * uploaded, to any member. ---- */

typedef struct feed {
  trs_push_state *p;
  const trs_plan *plan;
  char *memory;                    /* pinned, BUFFERS x bytes; NULL if the first GPU made the deal:
                                      what is still sent is little */
  const int32_t *row;              /* device, n: by the first GPU; or NULL */
  int64_t bytes;                   /* of a buffer */
  int64_t entries, inverses;       /* of the largest piece of entries, which fit a buffer */
  trs_device_event **sent;         /* local members x BUFFERS */
  trs_device_event *last[BUFFERS]; /* the last upload from each; NULL: none */
  int64_t turn;
} feed;

/* The next buffer, once its last upload has ended. */
static trs_status feed_take(feed *f, char **buffer) {
  const int k = (int)(f->turn % BUFFERS);
  *buffer = f->memory + k * f->bytes;
  return f->last[k] ? trs_device_event_wait(f->last[k]) : TRS_SUCCESS;
}

/* After the copies of what is in that buffer are in the member's stream. */
static trs_status feed_sent(feed *f, const trs_push_member *m) {
  const int k = (int)(f->turn++ % BUFFERS);
  f->last[k] = f->sent[(m - f->p->member) * BUFFERS + k];
  return trs_device_event_record(f->last[k], m->stream);
}

typedef struct bytes_of {
  char *to;
  const char *from;
  int64_t count;
} bytes_of;

static void copy_bytes(void *argument, int rank, int size) {
  const bytes_of *it = argument;
  int64_t begin, end;
  trs_share(it->count, rank, size, &begin, &end);
  if (end > begin) memcpy(it->to + begin, it->from + begin, (size_t)(end - begin));
}

static trs_status feed_array(feed *f, const trs_push_member *m, void *to, const void *from,
                             int64_t bytes) {
  enum { SMALL = 1 << 16 };
  trs_team *team = f->p->team;
  if (!f->memory) return trs_device_copy(to, from, bytes, m->stream);
  for (int64_t at = 0; at < bytes; at += f->bytes) {
    bytes_of it = {.from = (const char *)from + at, .count = bytes - at};
    if (it.count > f->bytes) it.count = f->bytes;
    TRS_TRY(feed_take(f, &it.to));
    trs_team_run(team, it.count < SMALL ? 1 : trs_team_size(team), copy_bytes, &it);
    TRS_TRY(trs_device_copy((char *)to + at, it.to, it.count, m->stream));
    TRS_TRY(feed_sent(f, m));
  }
  return TRS_SUCCESS;
}

/* ---- Memory. ---- */

static int64_t aligned(int64_t bytes) { return (bytes + ALIGNED - 1) / ALIGNED * ALIGNED; }

trs_status trs_push_share_memory(trs_push_state *p, const trs_plan *plan) {
  int64_t values = plan->system.n * (int64_t)trs_scalar_size(plan->system.scalar);
  p->finished_at =
      aligned(TRS_PUSH_THIRDS * p->most * p->n * (int64_t)trs_scalar_size(plan->system.scalar));
  p->fault_at = p->finished_at + aligned(p->members * (int64_t)sizeof(unsigned long long));
  p->b_at = p->fault_at + ALIGNED;
  p->stage_at = p->b_at + (p->one_process ? 0 : aligned(p->most * values));
  int64_t stages = p->one_process ? 0 : TRS_PUSH_STAGES * p->most * values;
  return trs_group_alloc(p->group, &p->shared, p->stage_at + stages);
}

static trs_status clear_shared(feed *f, const trs_push_member *m) {
  const trs_push_state *p = f->p;
  char *own = p->shared.base[m->number];
  TRS_TRY(trs_device_fill(own, 0xff, p->finished_at, m->stream));
  unsigned long long finished[TRS_MOST_MEMBERS];
  for (int k = 0; k < p->members; k++) finished[k] = trs_counters_begin;
  TRS_TRY(feed_array(f, m, own + p->finished_at, finished, p->members * (int64_t)sizeof *finished));
  return m->number > 0 ? TRS_SUCCESS
                       : feed_array(f, m, own + p->fault_at, p->host_fault, sizeof *p->host_fault);
}

/* The member's arrays, one after the other; with memory NULL, only their size. */
static void place_arrays(const trs_push_state *p, const trs_plan *plan, trs_push_member *m) {
  const trs_deal_share *share = &m->share;
  trs_slices *s = &m->args.slices;
  const int64_t n = p->n, size = (int64_t)trs_scalar_size(plan->system.scalar);
  const int64_t parts = (int64_t)TRS_PUSH_THIRDS * p->most * share->nparts * TRS_SLICE_LANES;
  const struct {
    void *at;
    int64_t bytes;
  } arrays[] = {{&s->slice, share->nslices * (int64_t)sizeof *s->slice},
                {&s->chunk, (share->nchunks + 1) * (int64_t)sizeof *s->chunk},
                {&s->row, n * (int64_t)sizeof *s->row},
                {&s->idx, share->entries * (int64_t)sizeof *s->idx},
                {&s->val, share->entries * (p->float_values ? size / 2 : size)},
                {&s->inverse, share->inverses * size},
                {&m->args.mask, n * (int64_t)sizeof *m->args.mask},
                {&m->args.clear, share->nclear * (int64_t)sizeof *m->args.clear},
                {&m->args.parts, parts * size},
                {&m->args.counters, (int64_t)sizeof *m->args.counters}};
  m->bytes = 0;
  for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++) {
    char *at = m->memory ? (char *)m->memory + m->bytes : NULL;
    memcpy(arrays[k].at, &at, sizeof at);
    m->bytes += aligned(arrays[k].bytes);
  }
}

/* The stream continues after the work so far in another member's. */
static trs_status follow(const trs_push_member *before, trs_stream stream) {
  const int device = trs_device_enter(before->device);
  const trs_status status = trs_device_event_record(before->done, before->stream);
  trs_device_leave(device);
  return status ? status : trs_device_event_follow(before->done, stream);
}

/* What all members hold comes from the host once, for the first, and from there to the others; or
 * the first GPU has it. */
static trs_status send_common(feed *f, const trs_push_member *m) {
  const trs_push_state *p = f->p;
  const trs_push_member *first = &p->member[0];
  const int64_t rows = p->n * (int64_t)sizeof *p->slices.row,
                masks = p->n * (int64_t)sizeof *p->deal.mask;
  if (f->row) {
    if (m != first) TRS_TRY(follow(first, m->stream));
    TRS_TRY(trs_device_copy(m->args.slices.row, f->row, rows, m->stream));
    return trs_device_copy((void *)m->args.mask, p->first.mask, masks, m->stream);
  }
  if (m == first) {
    TRS_TRY(feed_array(f, m, m->args.slices.row, p->slices.row, rows));
    return feed_array(f, m, (void *)m->args.mask, p->deal.mask, masks);
  }
  TRS_TRY(follow(first, m->stream));
  TRS_TRY(trs_device_copy(m->args.slices.row, first->args.slices.row, rows, m->stream));
  return trs_device_copy((void *)m->args.mask, first->args.mask, masks, m->stream);
}

static trs_status send_arrays(feed *f, const trs_push_member *m) {
  const trs_push_state *p = f->p;
  const trs_deal_share *share = &m->share;
  const trs_push_args *a = &m->args;
  const int64_t size = (int64_t)trs_scalar_size(f->plan->system.scalar);
  const int64_t parts = (int64_t)TRS_PUSH_THIRDS * p->most * share->nparts * TRS_SLICE_LANES;
  const trs_push_counters counters = {.solve = trs_counters_begin};
  TRS_TRY(feed_array(f, m, a->slices.slice, share->slice,
                     share->nslices * (int64_t)sizeof *share->slice));
  TRS_TRY(feed_array(f, m, a->slices.chunk, share->chunk,
                     (share->nchunks + 1) * (int64_t)sizeof *share->chunk));
  TRS_TRY(send_common(f, m));
  TRS_TRY(feed_array(f, m, (void *)a->clear, share->clear,
                     share->nclear * (int64_t)sizeof *share->clear));
  TRS_TRY(feed_array(f, m, a->counters, &counters, sizeof counters));
  return trs_device_fill(a->parts, 0xff, parts * size, m->stream);
}

/* All blocks of threads that wait must run at once.  If several members have the same GPU, none may
 * occupy all of it, so all runs use tickets. */
static trs_status limit_run(const trs_push_state *p, const trs_plan *plan, const trs_push_member *m,
                            trs_push_run *run) {
  const bool shared = trs_group_sharers(p->group, m->number) > 1;
  int resident = 1;
  if (shared && run->waits < TRS_PUSH_WAITS_ROWS) run->waits = TRS_PUSH_WAITS_ROWS;
  TRS_TRY(trs_push_resident(&m->args, run, plan->system.scalar, &resident));
  if (run->waits < TRS_PUSH_WAITS_ROWS) return TRS_SUCCESS;
  if (shared)
    resident = trs_device_look(m->device)->multiprocessors / trs_group_sharers(p->group, m->number);
  run->blocks = resident > 1 ? resident : 1;
  return TRS_SUCCESS;
}

static trs_status fill_args(const trs_push_state *p, const trs_plan *plan, trs_push_member *m) {
  trs_push_args *a = &m->args;
  a->slices.n = p->n;
  a->slices.nslices = m->share.nslices;
  a->slices.nchunks = m->share.nchunks;
  a->slices.nparts = m->share.nparts;
  a->float_values = p->float_values;
  a->overlaps = trs_device_look(m->device)->capability >= 9;
  a->members = p->members;
  a->member = m->number;
  a->columns = a->most = p->most;
  a->nclear = m->share.nclear;
  a->fault = trs_push_shared_at(p, 0, p->fault_at);
  memcpy(a->peer, p->shared.base, (size_t)p->members * sizeof *a->peer);
  a->finished_at = p->finished_at;
  a->spread_at = p->one_process ? 0 : p->stage_at;
  for (int32_t k = 0; k < m->nruns; k++) TRS_TRY(limit_run(p, plan, m, &m->run[k]));
  return TRS_SUCCESS;
}

/* ---- Entries, piece by piece. ---- */

typedef struct piece {
  const trs_push_state *p;
  const trs_deal_share *share;
  int32_t begin, end; /* slices */
  trs_slice_arrays to;
} piece;

static int64_t entries_at(const trs_deal_share *share, int32_t k) {
  return k < share->nslices ? share->slice[k].entries : share->entries;
}
static int64_t inverses_at(const trs_deal_share *share, int32_t k) {
  return k < share->nslices ? share->slice[k].inverse : share->inverses;
}

/* The first slice from k on that does not belong to the heavy block of the slice before. */
static int32_t whole_blocks(const trs_deal_share *share, int32_t k) {
  while (k > 0 && k < share->nslices && share->slice[k - 1].parts < 0) k++;
  return k;
}

/* The slices from begin on that fit the buffer; at least those of one block. */
static int32_t piece_end(const trs_deal_share *share, int32_t begin, int64_t size) {
  int32_t end = whole_blocks(share, begin + 1);
  for (int32_t next; end < share->nslices; end = next) {
    next = whole_blocks(share, end + 1);
    if ((entries_at(share, next) - entries_at(share, begin)) * (size + 4) +
            (inverses_at(share, next) - inverses_at(share, begin)) * size >
        trs_push_piece_bytes)
      break;
  }
  return end;
}

static void fill_piece(void *argument, int rank, int size) {
  const piece *it = argument;
  int64_t begin, end;
  trs_share(it->end - it->begin, rank, size, &begin, &end);
  int32_t first = whole_blocks(it->share, it->begin + (int32_t)begin);
  int32_t last = whole_blocks(it->share, it->begin + (int32_t)end);
  if (first >= last) return;
  trs_push_verdict *verdict = it->p->verdict;
  atomic_fetch_add(&verdict->refused, trs_outline_fill(it->p->outline, it->share->slice + first,
                                                       it->share->number + first, last - first,
                                                       &it->to, verdict->block_starts));
}

/* Converts doubles to floats in place. */
static void narrow(void *val, int64_t count, trs_scalar scalar) {
  const double *from = val;
  float *to = val;
  if (trs_scalar_is_complex(scalar)) count *= 2;
  for (int64_t k = 0; k < count; k++) {
    float value = (float)from[k];
    memcpy(to + k, &value, sizeof value);
  }
}

static void place_piece(const feed *f, piece *it, char *buffer) {
  const int64_t size = (int64_t)trs_scalar_size(f->plan->system.scalar);
  it->to.val = buffer;
  it->to.inverse = buffer + f->entries * size;
  it->to.idx = (int32_t *)(void *)(buffer + (f->entries + f->inverses) * size);
  it->to.entries = entries_at(it->share, it->begin);
  it->to.inverses = inverses_at(it->share, it->begin);
}

static trs_status send_piece(const feed *f, const trs_push_member *m, piece *it) {
  const trs_push_state *p = f->p;
  const trs_scalar scalar = f->plan->system.scalar;
  const int64_t size = (int64_t)trs_scalar_size(scalar);
  const int64_t stored = p->float_values ? size / 2 : size;
  const trs_slices *s = &m->args.slices;
  trs_slice_arrays *to = &it->to;
  int64_t entries = entries_at(it->share, it->end) - to->entries;
  int64_t inverses = inverses_at(it->share, it->end) - to->inverses;
  trs_team_run(p->team, trs_team_size(p->team), fill_piece, it);
  if (p->float_values) narrow(to->val, entries, scalar);
  TRS_TRY(trs_device_copy(s->idx + to->entries, to->idx, entries * 4, m->stream));
  TRS_TRY(
      trs_device_copy((char *)s->val + to->entries * stored, to->val, entries * stored, m->stream));
  return trs_device_copy((char *)s->inverse + to->inverses * size, to->inverse, inverses * size,
                         m->stream);
}

static trs_status send_pieces(feed *f, const trs_push_member *m) {
  const int64_t size = (int64_t)trs_scalar_size(f->plan->system.scalar);
  piece it = {.p = f->p, .share = &m->share};
  for (; it.begin < m->share.nslices; it.begin = it.end) {
    char *buffer;
    it.end = piece_end(&m->share, it.begin, size);
    TRS_TRY(feed_take(f, &buffer));
    place_piece(f, &it, buffer);
    TRS_TRY(send_piece(f, m, &it));
    TRS_TRY(feed_sent(f, m));
  }
  return TRS_SUCCESS;
}

static void measure_pieces(feed *f, const trs_deal_share *share) {
  const int64_t size = (int64_t)trs_scalar_size(f->plan->system.scalar);
  for (int32_t k = 0, end; k < share->nslices; k = end) {
    end = piece_end(share, k, size);
    int64_t entries = entries_at(share, end) - entries_at(share, k);
    int64_t inverses = inverses_at(share, end) - inverses_at(share, k);
    if (entries > f->entries) f->entries = entries;
    if (inverses > f->inverses) f->inverses = inverses;
  }
}

static trs_status feed_create(feed *f, trs_push_state *p, const trs_plan *plan) {
  const int64_t size = (int64_t)trs_scalar_size(plan->system.scalar);
  *f = (feed){.p = p, .plan = plan};
  if (p->first.device) return TRS_SUCCESS;
  for (int k = 0; k < p->local; k++) measure_pieces(f, &p->member[k].share);
  f->bytes = aligned((f->entries + f->inverses) * size + f->entries * (int64_t)sizeof(int32_t));
  int64_t least = ALIGNED + p->n * (int64_t)sizeof(int32_t); /* arrays of n in one piece */
  if (least > trs_push_piece_bytes) least = trs_push_piece_bytes;
  if (f->bytes < least) f->bytes = aligned(least);
  TRS_TRY(TRS_ALLOC_ZERO(&f->sent, p->local * BUFFERS));
  for (int k = 0; k < p->local * BUFFERS; k++)
    TRS_TRY(trs_device_event_create(p->member[k / BUFFERS].device, &f->sent[k]));
  return trs_device_alloc_pinned((void **)&f->memory, BUFFERS * f->bytes);
}

/* Waits until all is sent. */
static trs_status feed_destroy(feed *f, trs_status status) {
  for (int k = 0; k < f->p->local; k++) {
    const trs_status sent = trs_device_wait(f->p->member[k].stream);
    if (!status) status = sent;
  }
  for (int k = 0; f->sent && k < f->p->local * BUFFERS; k++) trs_device_event_destroy(f->sent[k]);
  trs_device_free_pinned(f->memory);
  trs_free(f->sent);
  return status;
}

/* Deferred values of one member are requested here, and freed once they are sent. */
static trs_status send_entries(feed *f, const trs_push_member *m) {
  const trs_push_state *p = f->p;
  const trs_plan *plan = f->plan;
  trs_share_rows rows;
  if (!trs_matrix_is_deferred(plan->matrix)) return send_pieces(f, m);
  TRS_TRY(trs_share_rows_create(&rows, &plan->system, plan->matrix, &p->slices, &m->share));
  trs_outline_renew(p->outline, &rows.S);
  trs_status status = send_pieces(f, m);
  trs_outline_renew(p->outline, &plan->system);
  trs_share_rows_destroy(&rows);
  return status;
}

static trs_status renew_member(void *argument, int number) {
  feed *f = argument;
  return send_entries(f, trs_push_member_of(f->p, number));
}

static trs_status equip_member(void *argument, int number) {
  feed *f = argument;
  const trs_push_state *p = f->p;
  trs_push_member *m = trs_push_member_of((trs_push_state *)p, number);
  place_arrays(p, f->plan, m);
  TRS_TRY(trs_device_alloc(m->device, &m->memory, m->bytes, 1, m->stream));
  place_arrays(p, f->plan, m);
  TRS_TRY(clear_shared(f, m));
  TRS_TRY(send_arrays(f, m));
  if (!p->first.device) TRS_TRY(send_entries(f, m));
  return fill_args(p, f->plan, m);
}

static trs_status for_each_member(trs_push_state *p, const trs_plan *plan,
                                  trs_status (*body)(void *feed, int number)) {
  feed f;
  trs_status status = feed_create(&f, p, plan);
  if (!status) status = trs_group_each(p->group, body, &f);
  return feed_destroy(&f, status);
}

/* ---- A deal by the first GPU, which fills the slices of all members. ---- */

/* All members' memory is there before, and complete behind, in the order of their streams. */
static trs_status fill_members(trs_push_state *p, const int32_t *row, const int32_t *position) {
  const trs_push_member *first = &p->member[0];
  for (int k = 1; k < p->local; k++) TRS_TRY(follow(&p->member[k], first->stream));
  for (int k = 0; k < p->local; k++) {
    trs_slices to = p->member[k].args.slices;
    to.row = (int32_t *)row;
    TRS_TRY(trs_first_fill(&p->first, k, &to, p->float_values, position));
  }
  for (int k = 1; k < p->local; k++) TRS_TRY(follow(first, p->member[k].stream));
  TRS_TRY(trs_device_wait(first->stream));
  p->verdict->refused = p->first.found->refused;
  return TRS_SUCCESS;
}

/* Waits for the fill before, and then for all members. */
static trs_status equip_first(trs_push_state *p, const trs_plan *plan) {
  trs_first *first = &p->first;
  int32_t *named = NULL;
  feed f;
  const int before = trs_device_enter(first->device);
  trs_status status = feed_create(&f, p, plan);
  if (!status) status = trs_first_rows(first, &f.row, &named);
  if (!status) status = trs_first_keep_place(first);
  for (int k = 0; k < p->local && !status; k++)
    status = trs_first_keep_heavy(first, k, &p->member[k].share);
  if (!status) status = trs_group_each(p->group, equip_member, &f);
  if (!status) status = fill_members(p, first->slices.row, first->position);
  status = feed_destroy(&f, status);
  trs_device_free(first->device, named, first->stream);
  trs_device_leave(before);
  trs_first_settle(first);
  return status;
}

static trs_status renew_first(trs_push_state *p) {
  trs_first *first = &p->first;
  const int32_t *row = p->member[0].args.slices.row;
  int32_t *own = NULL;
  const int before = trs_device_enter(first->device);
  trs_status status = TRS_SUCCESS;
  *first->found = (trs_gpu_found){0};
  if (first->joins) status = trs_first_joint_rows(first, &own, row);
  if (!status) status = fill_members(p, own ? own : row, NULL);
  if (status) (void)trs_device_wait(first->stream);
  trs_device_free(first->device, own, first->stream);
  trs_device_leave(before);
  trs_first_settle(first);
  return status;
}

trs_status trs_push_equip(trs_push_state *p, const trs_plan *plan) {
  return p->first.device ? equip_first(p, plan) : for_each_member(p, plan, equip_member);
}
trs_status trs_push_renew(trs_push_state *p, const trs_plan *plan) {
  return p->first.device ? renew_first(p) : for_each_member(p, plan, renew_member);
}

trs_status trs_push_need_rows(trs_push_state *p) {
  const trs_push_member *m = &p->member[0];
  if (p->slices.row || p->n == 0) return TRS_SUCCESS;
  TRS_TRY(TRS_ALLOC(&p->slices.row, p->n));
  const int before = trs_device_enter(m->device);
  trs_status status = trs_device_copy(p->slices.row, m->args.slices.row,
                                      p->n * (int64_t)sizeof *p->slices.row, m->stream);
  if (!status) status = trs_device_wait(m->stream);
  trs_device_leave(before);
  if (status) trs_free(p->slices.row);
  if (status) p->slices.row = NULL;
  return status;
}
