/* push_load.c - the memory of a member: its share of the entries, packed piece by piece into two
 * buffers of limited size and uploaded, so that no GPU ever holds the whole matrix, nor does the
 * host if values are deferred; and n (3 values + 8 bytes). */
#include <string.h>

#include "analysis/share.h"
#include "base/counter.h"
#include "solve/multigpu/push_state.h"

enum {
  PIECE_BYTES = 16 << 20, /* size of a buffer for entries, unless one block needs more */
  ALIGNED = 256
};

/* ---- Memory. ---- */

static int64_t aligned(int64_t bytes) { return (bytes + ALIGNED - 1) / ALIGNED * ALIGNED; }

trs_status trs_push_share_memory(trs_push_state *p, const trs_plan *plan) {
  int64_t values = plan->system.n * (int64_t)trs_scalar_size(plan->system.scalar);
  p->finished_at = aligned(TRS_PUSH_THIRDS * p->most * values);
  p->fault_at = p->finished_at + aligned(p->members * (int64_t)sizeof(unsigned long long));
  p->b_at = p->fault_at + ALIGNED;
  p->stage_at = p->b_at + (p->one_process ? 0 : aligned(p->most * values));
  int64_t stages = p->one_process ? 0 : TRS_PUSH_STAGES * p->most * values;
  return trs_group_alloc(p->group, &p->shared, p->stage_at + stages);
}

static trs_status clear_shared(const trs_push_state *p, const trs_push_member *m) {
  char *own = p->shared.base[m->number];
  TRS_TRY(trs_device_fill(own, 0xff, p->finished_at, m->stream));
  unsigned long long finished[TRS_MOST_MEMBERS];
  for (int k = 0; k < p->members; k++) finished[k] = trs_counters_begin;
  TRS_TRY(trs_device_copy(own + p->finished_at, finished, p->members * (int64_t)sizeof *finished,
                          m->stream));
  if (m->number == 0)
    TRS_TRY(trs_device_copy(own + p->fault_at, p->host_fault, sizeof *p->host_fault, m->stream));
  return trs_device_wait(m->stream);
}

/* The member's arrays, one after the other; with memory NULL, only their size. */
static void place_arrays(const trs_push_state *p, const trs_plan *plan, trs_push_member *m) {
  const trs_deal_share *share = &m->share;
  trs_slices *s = &m->args.slices;
  const int64_t n = plan->system.n, size = (int64_t)trs_scalar_size(plan->system.scalar);
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

static trs_status send_arrays(const trs_push_state *p, const trs_plan *plan,
                              const trs_push_member *m) {
  const trs_deal_share *share = &m->share;
  const trs_push_args *a = &m->args;
  const int64_t n = plan->system.n, size = (int64_t)trs_scalar_size(plan->system.scalar);
  const int64_t parts = (int64_t)TRS_PUSH_THIRDS * p->most * share->nparts * TRS_SLICE_LANES;
  TRS_TRY(trs_device_copy(a->slices.slice, share->slice,
                          share->nslices * (int64_t)sizeof *share->slice, m->stream));
  TRS_TRY(trs_device_copy(a->slices.chunk, share->chunk,
                          (share->nchunks + 1) * (int64_t)sizeof *share->chunk, m->stream));
  TRS_TRY(trs_device_copy(a->slices.row, p->slices.row, n * (int64_t)sizeof(int32_t), m->stream));
  TRS_TRY(trs_device_copy((void *)a->mask, p->deal.mask, n * (int64_t)sizeof *a->mask, m->stream));
  TRS_TRY(trs_device_copy((void *)a->clear, share->clear,
                          share->nclear * (int64_t)sizeof *share->clear, m->stream));
  TRS_TRY(trs_device_fill(a->parts, 0xff, parts * size, m->stream));
  const trs_push_counters counters = {.solve = trs_counters_begin};
  TRS_TRY(trs_device_copy(a->counters, &counters, sizeof counters, m->stream));
  return trs_device_wait(m->stream);
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
  a->slices.n = plan->system.n;
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
        PIECE_BYTES)
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

/* Two buffers: the host fills one while the other is uploaded. */
typedef struct buffers {
  char *memory; /* pinned */
  trs_device_event *sent[2];
  int64_t entries, inverses; /* of the largest piece */
} buffers;

static int64_t buffer_bytes(const buffers *b, int64_t size) {
  return aligned((b->entries + b->inverses) * size + b->entries * (int64_t)sizeof(int32_t));
}

static void place_piece(const buffers *b, piece *it, int64_t turn, int64_t size) {
  char *at = b->memory + turn % 2 * buffer_bytes(b, size);
  it->to.val = at;
  it->to.inverse = at + b->entries * size;
  it->to.idx = (int32_t *)(at + (b->entries + b->inverses) * size);
  it->to.entries = entries_at(it->share, it->begin);
  it->to.inverses = inverses_at(it->share, it->begin);
}

static trs_status send_piece(const trs_push_state *p, const trs_plan *plan,
                             const trs_push_member *m, piece *it) {
  const int64_t size = (int64_t)trs_scalar_size(plan->system.scalar);
  const int64_t stored = p->float_values ? size / 2 : size;
  const trs_slices *s = &m->args.slices;
  trs_slice_arrays *to = &it->to;
  int64_t entries = entries_at(it->share, it->end) - to->entries;
  int64_t inverses = inverses_at(it->share, it->end) - to->inverses;
  trs_team_run(p->team, trs_team_size(p->team), fill_piece, it);
  if (p->float_values) narrow(to->val, entries, plan->system.scalar);
  TRS_TRY(trs_device_copy(s->idx + to->entries, to->idx, entries * 4, m->stream));
  TRS_TRY(
      trs_device_copy((char *)s->val + to->entries * stored, to->val, entries * stored, m->stream));
  return trs_device_copy((char *)s->inverse + to->inverses * size, to->inverse, inverses * size,
                         m->stream);
}

static trs_status send_pieces(const trs_push_state *p, const trs_plan *plan,
                              const trs_push_member *m, const buffers *b) {
  const int64_t size = (int64_t)trs_scalar_size(plan->system.scalar);
  piece it = {.p = p, .share = &m->share};
  for (int64_t turn = 0; it.begin < m->share.nslices; it.begin = it.end, turn++) {
    it.end = piece_end(&m->share, it.begin, size);
    place_piece(b, &it, turn, size);
    TRS_TRY(trs_device_event_wait(b->sent[turn % 2]));
    TRS_TRY(send_piece(p, plan, m, &it));
    TRS_TRY(trs_device_event_record(b->sent[turn % 2], m->stream));
  }
  return trs_device_wait(m->stream);
}

static void measure_pieces(buffers *b, const trs_deal_share *share, int64_t size) {
  for (int32_t k = 0, end; k < share->nslices; k = end) {
    end = piece_end(share, k, size);
    int64_t entries = entries_at(share, end) - entries_at(share, k);
    int64_t inverses = inverses_at(share, end) - inverses_at(share, k);
    if (entries > b->entries) b->entries = entries;
    if (inverses > b->inverses) b->inverses = inverses;
  }
}

static trs_status send_entries(const trs_push_state *p, const trs_plan *plan,
                               const trs_push_member *m) {
  const int64_t size = (int64_t)trs_scalar_size(plan->system.scalar);
  buffers b = {0};
  measure_pieces(&b, &m->share, size);
  trs_status status = trs_device_alloc_pinned((void **)&b.memory, 2 * buffer_bytes(&b, size));
  for (int k = 0; k < 2 && !status; k++) status = trs_device_event_create(m->device, &b.sent[k]);
  if (!status) status = send_pieces(p, plan, m, &b);
  if (status) (void)trs_device_wait(m->stream); /* wait for copies from the buffers */
  for (int k = 0; k < 2; k++) trs_device_event_destroy(b.sent[k]);
  trs_device_free_pinned(b.memory);
  return status;
}

/* Deferred values of one member are requested here, and freed once they are sent. */
trs_status trs_push_send_entries(const trs_push_state *p, const trs_plan *plan,
                                 const trs_push_member *m) {
  trs_share_rows rows;
  if (!trs_matrix_is_deferred(plan->matrix)) return send_entries(p, plan, m);
  TRS_TRY(trs_share_rows_create(&rows, &plan->system, plan->matrix, &p->slices, &m->share));
  trs_outline_renew(p->outline, &rows.S);
  trs_status status = send_entries(p, plan, m);
  trs_outline_renew(p->outline, &plan->system);
  trs_share_rows_destroy(&rows);
  return status;
}

trs_status trs_push_equip(const trs_push_state *p, const trs_plan *plan, trs_push_member *m) {
  place_arrays(p, plan, m);
  TRS_TRY(trs_device_alloc(m->device, &m->memory, m->bytes, 1, m->stream));
  place_arrays(p, plan, m);
  TRS_TRY(clear_shared(p, m));
  TRS_TRY(send_arrays(p, plan, m));
  TRS_TRY(trs_push_send_entries(p, plan, m));
  return fill_args(p, plan, m);
}
