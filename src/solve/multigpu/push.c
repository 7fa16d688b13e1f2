/* push.c - `push`: the rows of one system dealt to several GPUs, every solved x pushed once to each
 * member that needs it (push.cu).
 *
 * Analysis is on the host: slices and levels of the whole system (analysis/slice.h), dealt by a
 * partition (analysis/deal.h), then every member's share packed piece by piece into one buffer of
 * limited size and sent: no GPU ever holds the whole matrix.
 * A member's memory: its share of the entries, and n (3 values + 8 bytes). */
#include <stdio.h>
#include <string.h>

#include "analysis/deal.h"
#include "analysis/slice.h"
#include "device/shared.h"
#include "matrix/device.h"
#include "plan/parameters.h"
#include "solve/cuda/choice.h"
#include "solve/multigpu/alone.h"
#include "solve/multigpu/push.h"

_Static_assert((int)TRS_PUSH_MEMBERS == (int)TRS_DEAL_MEMBERS, "as many members everywhere");
_Static_assert((int)TRS_PUSH_MEMBERS == (int)TRS_MOST_MEMBERS, "as many members everywhere");
_Static_assert((int)TRS_PUSH_ROWS == (int)TRS_CLEAR_ROWS, "deal.h and push.h agree");

static const uint64_t WAIT_LIMIT = 10000000000u; /* ten seconds, then a solve is called stalled */

enum {
  PIECE_BYTES = 64 << 20, /* of the buffer through which entries go, unless one slice needs more */
  MOST_STAGED = 16,       /* right-hand sides brought from the host at a time */
  ALIGNED = 256
};

/* A member that this process runs. */
typedef struct member {
  int number;
  trs_device *device;
  trs_stream stream;
  trs_device_event *done;
  trs_deal_share share;
  void *memory; /* all of args' arrays but what is symmetric */
  int64_t bytes;
  trs_push_args args;
} member;

typedef struct push_state {
  trs_group *group;
  int members, local;
  bool one_process, float_values;
  bool races;             /* is measured against one GPU */
  int64_t partition, use; /* parameters; use: members that get rows, 0: chosen */
  trs_slice_rules rules;
  trs_outline *outline;
  trs_slices slices; /* host; without entries */
  trs_deal deal;
  double alone;    /* seconds of the one-GPU engine: measured where this is auto's choice, else
                      expected */
  double together; /* seconds measured of this plan; 0: not measured */
  trs_symmetric
      shared; /* at every member: work, counts, fault, and a stage with several processes */
  int64_t told_at, fault_at, stage_at;
  member *member; /* local */
  trs_device_event *start;
  trs_fault *told; /* pinned: fault as of the last wait */
  void *stage;     /* one process: n x stage_width at the first member */
  int64_t stage_width;
} push_state;

/* The system by rows in host memory, for as long as entries are being packed. */
typedef struct host_system {
  trs_system S;
  trs_matrix *copy;
  int64_t *ptr;
  int32_t *idx;
  void *val;
} host_system;

static void drop_system(host_system *h) {
  trs_matrix_destroy(h->copy);
  trs_free(h->ptr);
  trs_free(h->idx);
  trs_free(h->val);
  *h = (host_system){0};
}

static trs_status take_system(host_system *h, const trs_plan *plan) {
  const trs_matrix *A = plan->matrix;
  *h = (host_system){.S = plan->system};
  if (A->on_device) {
    TRS_TRY(trs_matrix_download(&h->copy, A, true));
    A = h->copy;
  }
  h->S.ptr = A->ptr;
  h->S.idx = A->idx;
  h->S.val = A->val;
  h->S.device = NULL;
  if (h->S.rows) return TRS_SUCCESS;
  TRS_TRY(trs_transpose_arrays(A, &h->ptr, &h->idx, &h->val));
  h->S.ptr = h->ptr;
  h->S.idx = h->idx;
  h->S.val = h->val;
  h->S.rows = true;
  return TRS_SUCCESS;
}

/* ---- Analysis: who gets what. ---- */

static trs_status read_parameters(push_state *p, const trs_plan *plan) {
  const trs_parameter table[] = {{"partition", trs_partition_names, 0, 0, &p->partition},
                                 {"members", NULL, 1, TRS_MOST_MEMBERS, &p->use}};
  return trs_parameters_read(plan, table, sizeof table / sizeof table[0]);
}

/* Half as much again as the matrix and twice over: what the one-GPU engine's analysis holds. */
static bool fits_one(const trs_plan *plan) {
  const trs_device *device = plan->context->device;
  int64_t room;
  if (!trs_group_one_process(plan->context->group)) { /* the same answer in all */
    room = trs_device_look(device)->memory_bytes;
    if (plan->options.gpu_memory > 0 && plan->options.gpu_memory < room)
      room = plan->options.gpu_memory;
  } else if (trs_device_room(device, &room)) {
    return true;
  }
  return trs_plan_solve_bytes(plan) / 2 * 5 <= room;
}

static bool chosen(const trs_plan *plan) {
  return !plan->options.method || strcmp(plan->options.method, "auto") == 0;
}

/* What the one-GPU engine's cost model says of these slices. */
static trs_status expect_of_one(push_state *p, trs_scalar scalar) {
  trs_region *regions;
  int32_t count;
  trs_status status = trs_choose_regions(
      &regions, &count, &p->alone, p->slices.level, p->slices.nlevels,
      TRS_NARROW_ROWS(trs_scalar_size(scalar)), p->rules.most_block > 1, TRS_REGIONS_AUTO);
  trs_free(regions);
  return status;
}

/* Where auto took this method it measures what one GPU takes, and so knows what there is to gain:
 * models are off by half here and there, and the one-GPU analysis is a fraction of this one. */
static trs_status measure_one(push_state *p, const trs_plan *plan) {
  trs_device *device = p->member[0].device;
  double seconds[TRS_MOST_MEMBERS] = {0};
  trs_plan *alone = NULL;
  trs_status status = TRS_SUCCESS;
  p->races = chosen(plan) && p->members > 1 && plan->system.n > 0 && fits_one(plan);
  if (!p->races) return TRS_SUCCESS;
  if (p->member[0].number == 0) {
    status = trs_alone_create(&alone, plan, device, p->member[0].stream, 1);
    if (!status) status = trs_alone_time(alone, device, false, &seconds[0]);
    trs_plan_destroy(alone);
  }
  TRS_TRY(trs_group_agree(p->group, status));
  TRS_TRY(trs_group_exchange(p->group, seconds, sizeof *seconds));
  p->alone = seconds[0];
  return TRS_SUCCESS;
}

static trs_status decline(const push_state *p, const trs_plan *plan, const char *how,
                          double seconds) {
  return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                  "%d GPUs %s %.3g ms a solve, one takes %.3g ms (%d levels, %.2f pushes a row, %d "
                  "steps between GPUs on the longest path)",
                  p->members, how, 1e3 * seconds, 1e3 * p->alone, (int)p->slices.nlevels,
                  plan->system.n ? (double)p->deal.pushes / (double)plan->system.n : 0,
                  (int)p->deal.crossings);
}

/* A solve too short to be shared. */
static trs_status look_at_one(const push_state *p) {
  static const double SHORT = 20e-6;
  if (!p->races || p->alone > SHORT) return TRS_SUCCESS;
  return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                  "one GPU takes %.3g ms a solve, too short to be shared", 1e3 * p->alone);
}

static trs_status look_at_gain(const push_state *p, const trs_plan *plan) {
  static const double HOPELESS = 1.2;
  if (!p->races || p->deal.seconds < HOPELESS * p->alone) return TRS_SUCCESS;
  return decline(p, plan, "would take", p->deal.seconds);
}

/* The plan as it stands against one GPU. */
static trs_status race(push_state *p, trs_plan *plan) {
  static const double WORTH = 0.98;
  double seconds[TRS_MOST_MEMBERS] = {0};
  if (!p->races) return TRS_SUCCESS;
  trs_status status =
      trs_alone_time(plan, p->member[0].device, !p->one_process, &seconds[p->member[0].number]);
  TRS_TRY(trs_group_agree(p->group, status));
  TRS_TRY(trs_group_exchange(p->group, seconds, sizeof *seconds));
  p->together = seconds[0];
  return p->together < WORTH * p->alone ? TRS_SUCCESS : decline(p, plan, "take", p->together);
}

static void drop_deal(push_state *p) {
  trs_deal_destroy(&p->deal);
  trs_outline_destroy(p->outline);
  trs_slices_destroy(&p->slices);
  p->outline = NULL;
}

/* Slices of their own for slabs, else those of the whole. */
static trs_status try_partition(push_state *p, const trs_system *S, trs_partition partition,
                                int32_t members) {
  int64_t cut[TRS_DEAL_MEMBERS + 1] = {0, S->n};
  const bool slabs = partition == TRS_PARTITION_SLABS;
  if (slabs) trs_deal_slabs(cut, S, members);
  TRS_TRY(
      trs_outline_create_slabs(&p->outline, &p->slices, S, &p->rules, slabs ? members : 1, cut));
  return trs_deal_create(&p->deal, S, &p->slices, trs_outline_positions(p->outline), members,
                         partition, p->races ? p->alone : 0);
}

/* The same beside what is there, of which the better is kept. */
static trs_status try_another(push_state *p, const trs_system *S, trs_partition partition,
                              int32_t members) {
  push_state before = *p;
  p->deal = (trs_deal){0};
  p->outline = NULL;
  p->slices = (trs_slices){0};
  trs_status status = try_partition(p, S, partition, members);
  bool better = !status && p->deal.seconds < before.deal.seconds;
  drop_deal(better ? &before : p);
  if (better) return TRS_SUCCESS;
  p->deal = before.deal;
  p->outline = before.outline;
  p->slices = before.slices;
  return status;
}

/* Auto: slabs over all members, the others where these are far from ideal, and slabs over half as
 * many, if one of these can hold what all should. */
static trs_status find_partition(push_state *p, const trs_plan *plan, const trs_system *S) {
  static const double NEARLY_IDEAL = 1.15;
  int32_t members = p->use > 0 && p->use < p->members ? (int32_t)p->use : p->members;
  if (p->partition != TRS_PARTITION_AUTO || members == 1)
    return try_partition(p, S, (trs_partition)p->partition, members);
  TRS_TRY(try_partition(p, S, TRS_PARTITION_SLABS, members));
  if (p->deal.seconds < NEARLY_IDEAL * p->deal.alone / members) return TRS_SUCCESS;
  TRS_TRY(try_another(p, S, TRS_PARTITION_AUTO, members));
  if (p->use == 0 && members >= 4 && fits_one(plan))
    return try_another(p, S, TRS_PARTITION_SLABS, members / 2);
  return TRS_SUCCESS;
}

static trs_status deal_rows(push_state *p, const trs_plan *plan, const trs_system *S) {
  trs_pattern_features features = {.n = S->n};
  trs_slice_rules rules[TRS_MOST_CANDIDATES];
  trs_slices_sample(S, &features.row_length, &features.chained, &features.run);
  (void)trs_choose_rules(rules, &features);
  p->rules = rules[0];
  TRS_TRY(find_partition(p, plan, S));
  if (!p->races) TRS_TRY(expect_of_one(p, S->scalar));
  TRS_TRY(look_at_gain(p, plan));
  for (int k = 0; k < p->local; k++)
    TRS_TRY(trs_deal_share_create(&p->member[k].share, &p->deal, &p->slices, p->member[k].number,
                                  p->rules.watch));
  return TRS_SUCCESS;
}

static trs_status open_members(push_state *p, trs_plan *plan) {
  const trs_group *group = plan->context->group;
  p->group = plan->context->group;
  p->members = trs_group_members(group);
  p->one_process = trs_group_one_process(group);
  TRS_TRY(TRS_ALLOC_ZERO(&p->member, trs_group_local(group)));
  p->local = trs_group_local(group);
  for (int k = 0; k < p->local; k++) {
    member *m = &p->member[k];
    m->number = trs_group_first(group) + k;
    m->device = trs_group_device(group, m->number);
    m->stream = trs_group_stream(group, m->number);
  }
  for (int k = 0; k < p->local; k++)
    TRS_TRY(trs_device_event_create(p->member[k].device, &p->member[k].done));
  TRS_TRY(trs_device_event_create(p->member[0].device, &p->start));
  TRS_TRY(trs_device_alloc_host(p->member[0].device, (void **)&p->told));
  *p->told = (trs_fault){.row = -1, .limit = WAIT_LIMIT};
  return TRS_SUCCESS;
}

/* ---- Analysis: memory. ---- */

static int64_t aligned(int64_t bytes) { return (bytes + ALIGNED - 1) / ALIGNED * ALIGNED; }

static trs_status share_memory(push_state *p, const trs_plan *plan) {
  int64_t values = plan->system.n * (int64_t)trs_scalar_size(plan->system.scalar);
  p->told_at = aligned(TRS_PUSH_THIRDS * values);
  p->fault_at = p->told_at + aligned(p->members * (int64_t)sizeof(unsigned long long));
  p->stage_at = p->fault_at + ALIGNED;
  int64_t stage = p->one_process ? 0 : values;
  return trs_group_alloc(p->group, &p->shared, p->stage_at + stage);
}

static void *shared_at(const push_state *p, int number, int64_t offset) {
  return (char *)p->shared.base[number] + offset;
}

static trs_status clear_shared(const push_state *p, const member *m) {
  char *own = p->shared.base[m->number];
  TRS_TRY(trs_device_fill(own, 0xff, p->told_at, m->stream));
  TRS_TRY(trs_device_fill(own + p->told_at, 0, p->fault_at - p->told_at, m->stream));
  if (m->number == 0)
    TRS_TRY(trs_device_copy(own + p->fault_at, p->told, sizeof *p->told, m->stream));
  return trs_device_wait(m->stream);
}

/* The member's arrays, one behind the other; without memory only their size. */
static void place_arrays(const push_state *p, const trs_plan *plan, member *m) {
  const trs_deal_share *share = &m->share;
  trs_slices *s = &m->args.slices;
  const int64_t n = plan->system.n, size = (int64_t)trs_scalar_size(plan->system.scalar);
  const int64_t parts = (int64_t)TRS_PUSH_THIRDS * share->nparts * TRS_SLICE_LANES;
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

static trs_status send_arrays(const push_state *p, const trs_plan *plan, const member *m) {
  const trs_deal_share *share = &m->share;
  const trs_push_args *a = &m->args;
  const int64_t n = plan->system.n, size = (int64_t)trs_scalar_size(plan->system.scalar);
  const int64_t parts = (int64_t)TRS_PUSH_THIRDS * share->nparts * TRS_SLICE_LANES;
  TRS_TRY(trs_device_copy(a->slices.slice, share->slice,
                          share->nslices * (int64_t)sizeof *share->slice, m->stream));
  TRS_TRY(trs_device_copy(a->slices.chunk, share->chunk,
                          (share->nchunks + 1) * (int64_t)sizeof *share->chunk, m->stream));
  TRS_TRY(trs_device_copy(a->slices.row, p->slices.row, n * (int64_t)sizeof(int32_t), m->stream));
  TRS_TRY(trs_device_copy((void *)a->mask, p->deal.mask, n * (int64_t)sizeof *a->mask, m->stream));
  TRS_TRY(trs_device_copy((void *)a->clear, share->clear,
                          share->nclear * (int64_t)sizeof *share->clear, m->stream));
  TRS_TRY(trs_device_fill(a->parts, 0xff, parts * size, m->stream));
  return trs_device_fill(a->counters, 0, sizeof *a->counters, m->stream);
}

static trs_status fill_args(const push_state *p, const trs_plan *plan, member *m) {
  trs_push_args *a = &m->args;
  int resident = 1, sharers = trs_group_sharers(p->group, m->number);
  int multiprocessors = trs_device_look(m->device)->multiprocessors;
  a->slices.n = plan->system.n;
  a->slices.nslices = m->share.nslices;
  a->slices.nchunks = m->share.nchunks;
  a->slices.nparts = m->share.nparts;
  a->float_values = p->float_values;
  a->heavy = m->share.heavy;
  a->members = p->members;
  a->member = m->number;
  a->nclear = m->share.nclear;
  a->fault = shared_at(p, 0, p->fault_at);
  memcpy(a->peer, p->shared.base, (size_t)p->members * sizeof *a->peer);
  a->told_at = p->told_at;
  a->spread_at = p->one_process ? 0 : p->stage_at;
  TRS_TRY(trs_push_resident(a, plan->system.scalar, &resident));
  int64_t turns = a->slices.nchunks + a->nclear / TRS_PUSH_CLEARS + 1;
  int most = sharers > 1 ? multiprocessors / sharers : resident;
  a->blocks = (int32_t)(turns < most ? turns : most);
  if (a->blocks < 1) a->blocks = 1;
  return TRS_SUCCESS;
}

/* ---- Analysis: entries, piece by piece. ---- */

typedef struct piece {
  const push_state *p;
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

/* The first slice from k on that does not belong to the heavy block of the one before. */
static int32_t whole_blocks(const trs_deal_share *share, int32_t k) {
  while (k > 0 && k < share->nslices && share->slice[k - 1].parts < 0) k++;
  return k;
}

/* Slices from begin on that fit the buffer, at least one block's. */
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
  trs_outline_fill(it->p->outline, it->share->slice + first, it->share->number + first,
                   last - first, &it->to);
}

/* Doubles become floats where they stand. */
static void narrow(void *val, int64_t count, trs_scalar scalar) {
  const double *from = val;
  float *to = val;
  if (trs_scalar_is_complex(scalar)) count *= 2;
  for (int64_t k = 0; k < count; k++) {
    float value = (float)from[k];
    memcpy(to + k, &value, sizeof value);
  }
}

static trs_status send_piece(const push_state *p, const trs_plan *plan, const member *m,
                             piece *it) {
  const int64_t size = (int64_t)trs_scalar_size(plan->system.scalar);
  const int64_t stored = p->float_values ? size / 2 : size;
  const trs_slices *s = &m->args.slices;
  trs_slice_arrays *to = &it->to;
  int64_t entries = entries_at(it->share, it->end) - to->entries;
  int64_t inverses = inverses_at(it->share, it->end) - to->inverses;
  trs_team_run(plan->context->team, trs_team_size(plan->context->team), fill_piece, it);
  if (p->float_values) narrow(to->val, entries, plan->system.scalar);
  TRS_TRY(trs_device_copy(s->idx + to->entries, to->idx, entries * 4, m->stream));
  TRS_TRY(
      trs_device_copy((char *)s->val + to->entries * stored, to->val, entries * stored, m->stream));
  TRS_TRY(trs_device_copy((char *)s->inverse + to->inverses * size, to->inverse, inverses * size,
                          m->stream));
  return trs_device_wait(m->stream); /* the buffer is to be used again */
}

static trs_status send_pieces(const push_state *p, const trs_plan *plan, const member *m,
                              piece *it) {
  const int64_t size = (int64_t)trs_scalar_size(plan->system.scalar);
  for (it->begin = 0; it->begin < m->share.nslices; it->begin = it->end) {
    it->end = piece_end(&m->share, it->begin, size);
    it->to.entries = entries_at(&m->share, it->begin);
    it->to.inverses = inverses_at(&m->share, it->begin);
    TRS_TRY(send_piece(p, plan, m, it));
  }
  return TRS_SUCCESS;
}

/* The buffer is as large as the largest piece. */
static trs_status send_entries(const push_state *p, const trs_plan *plan, const member *m) {
  const int64_t size = (int64_t)trs_scalar_size(plan->system.scalar);
  int64_t entries = 0, inverses = 0;
  piece it = {.p = p, .share = &m->share};
  for (int32_t k = 0, end; k < m->share.nslices; k = end) {
    end = piece_end(&m->share, k, size);
    int64_t e = entries_at(&m->share, end) - entries_at(&m->share, k);
    int64_t i = inverses_at(&m->share, end) - inverses_at(&m->share, k);
    entries = e > entries ? e : entries;
    inverses = i > inverses ? i : inverses;
  }
  trs_status status = TRS_ALLOC(&it.to.idx, entries);
  if (!status) status = trs_alloc(&it.to.val, entries, (size_t)size);
  if (!status) status = trs_alloc(&it.to.inverse, inverses, (size_t)size);
  if (!status) status = send_pieces(p, plan, m, &it);
  trs_free(it.to.idx);
  trs_free(it.to.val);
  trs_free(it.to.inverse);
  return status;
}

/* A solve without work, so that the driver has brought all there before kernels wait for each
 * other. */
static trs_status solve_nothing(const trs_plan *plan, const member *m) {
  trs_push_args none = m->args;
  none.slices.nchunks = none.nclear = 0;
  none.blocks = 1;
  TRS_TRY(trs_push_launch(&none, plan->system.scalar, m->stream));
  return trs_device_wait(m->stream);
}

static trs_status equip_member(const push_state *p, const trs_plan *plan, member *m) {
  place_arrays(p, plan, m);
  TRS_TRY(trs_device_alloc(m->device, &m->memory, m->bytes, 1, m->stream));
  place_arrays(p, plan, m);
  TRS_TRY(clear_shared(p, m));
  TRS_TRY(send_arrays(p, plan, m));
  TRS_TRY(send_entries(p, plan, m));
  return fill_args(p, plan, m);
}

/* For each local member, on its device. */
typedef trs_status (*member_step)(const push_state *p, const trs_plan *plan, member *m);

static trs_status each_member(const push_state *p, const trs_plan *plan, member_step step) {
  trs_status status = TRS_SUCCESS;
  for (int k = 0; k < p->local && !status; k++) {
    int before = trs_device_enter(p->member[k].device);
    status = step(p, plan, &p->member[k]);
    trs_device_leave(before);
  }
  return status;
}

static trs_status warm_member(const push_state *p, const trs_plan *plan, member *m) {
  (void)p;
  return solve_nothing(plan, m);
}
static trs_status renew_member(const push_state *p, const trs_plan *plan, member *m) {
  return send_entries(p, plan, m);
}

/* Processes agree after each step that can fail in one of them alone. */
static trs_status build(push_state *p, trs_plan *plan, host_system *h) {
  trs_status status = open_members(p, plan);
  TRS_TRY(trs_group_agree(p->group, status));
  TRS_TRY(measure_one(p, plan));
  TRS_TRY(look_at_one(p));
  status = take_system(h, plan);
  if (!status) status = deal_rows(p, plan, &h->S);
  TRS_TRY(trs_group_agree(p->group, status));
  TRS_TRY(share_memory(p, plan));
  TRS_TRY(trs_group_agree(p->group, each_member(p, plan, equip_member)));
  TRS_TRY(trs_group_agree(p->group, each_member(p, plan, warm_member)));
  return race(p, plan);
}

static trs_status analyze(trs_plan *plan) {
  push_state *p;
  host_system h = {0};
  TRS_TRY(TRS_ALLOC_ZERO(&p, 1));
  plan->state = p;
  p->float_values =
      plan->options.store == TRS_STORE_FLOAT && trs_scalar_is_double(plan->system.scalar);
  TRS_TRY(read_parameters(p, plan));
  trs_status status = build(p, plan, &h);
  drop_system(&h);
  return status;
}

static trs_status finish(const trs_plan *plan, const push_state *p);

static trs_status update(trs_plan *plan) {
  push_state *p = plan->state;
  host_system h;
  TRS_TRY(finish(plan, p));
  trs_status status = take_system(&h, plan);
  if (!status) {
    trs_outline_renew(p->outline, &h.S);
    status = each_member(p, plan, renew_member);
  }
  drop_system(&h);
  return trs_group_agree(p->group, status);
}

/* ---- Solving. ---- */

static trs_status check_fault(const trs_plan *plan, const push_state *p) {
  const trs_fault *told = p->told;
  int32_t owner = -1;
  if (!told->stalled) return TRS_SUCCESS;
  for (int32_t k = 0; k < p->slices.nslices && told->row >= 0 && told->row < plan->system.n; k++)
    if (p->slices.slice[k].first <= trs_outline_positions(p->outline)[told->row])
      owner = p->deal.owner[k];
  if (owner < 0)
    return trs_fail(TRS_ERROR_STALLED, -1,
                    "a member of %d waited more than %.3g s for the others to finish a solve; x is "
                    "not complete, analyse anew",
                    p->members, 1e-9 * (double)told->limit);
  return trs_fail(TRS_ERROR_STALLED, told->row,
                  "member %d of %d: row %lld waited more than %.3g s for the rows it depends on "
                  "(0-based); x is not complete, analyse anew",
                  (int)owner, p->members, (long long)told->row, 1e-9 * (double)told->limit);
}

/* Waits for the plan's stream, which waits for all members. */
static trs_status finish(const trs_plan *plan, const push_state *p) {
  int before = trs_device_enter(p->member[0].device);
  trs_status status =
      trs_device_copy(p->told, shared_at(p, 0, p->fault_at), sizeof *p->told, plan->stream);
  if (!status) status = trs_device_wait(plan->stream);
  trs_device_leave(before);
  return status ? status : check_fault(plan, p);
}

static trs_status launch_member(const trs_plan *plan, const member *m, const trs_rhs *rhs,
                                int64_t column) {
  const int64_t size = (int64_t)trs_scalar_size(plan->system.scalar);
  const int64_t k = m - ((const push_state *)plan->state)->member;
  const char *b = rhs->b_of ? rhs->b_of[k] : rhs->b;
  char *x = rhs->x_of ? rhs->x_of[k] : rhs->x;
  trs_push_args a = m->args;
  if (rhs->x_of) a.spread_at = 0;
  a.x = x + column * rhs->x_col * size;
  a.b = b + column * rhs->b_col * size;
  a.x_row = rhs->x_row;
  a.b_row = rhs->b_row;
  int before = trs_device_enter(m->device);
  trs_status status = trs_push_launch(&a, plan->system.scalar, m->stream);
  trs_device_leave(before);
  return status;
}

/* Members begin when `stream` has come here. */
static trs_status begin(const push_state *p, trs_stream stream) {
  int before = trs_device_enter(p->member[0].device);
  trs_status status = trs_device_event_record(p->start, stream);
  trs_device_leave(before);
  for (int k = 0; k < p->local && !status; k++)
    status = trs_device_event_follow(p->start, p->member[k].stream);
  return status;
}

/* And `stream` goes on when all members have. */
static trs_status end(const push_state *p, trs_stream stream) {
  for (int k = 0; k < p->local; k++) {
    const member *m = &p->member[k];
    int before = trs_device_enter(m->device);
    trs_status status = trs_device_event_record(m->done, m->stream);
    trs_device_leave(before);
    if (!status) status = trs_device_event_follow(m->done, stream);
    TRS_TRY(status);
  }
  return TRS_SUCCESS;
}

/* Right-hand sides one after another, each launched everywhere before the next. */
static trs_status launch(const trs_plan *plan, const push_state *p, const trs_rhs *rhs) {
  TRS_TRY(begin(p, plan->stream));
  for (int64_t column = 0; column < rhs->nrhs; column++)
    for (int k = 0; k < p->local; k++) TRS_TRY(launch_member(plan, &p->member[k], rhs, column));
  return end(p, plan->stream);
}

/* Columns of a strided array to or from a stage in the order of the array: rows of `count` where it
 * is row-major, else columns of n. */
static bool row_major(const trs_rhs *rhs) { return rhs->x_col == 1 && rhs->x_row != 1; }

static trs_status bring(const trs_plan *plan, void *stage, const trs_rhs *rhs, int64_t first,
                        int64_t count) {
  const int64_t n = plan->system.n, size = (int64_t)trs_scalar_size(plan->system.scalar);
  const char *b = (const char *)rhs->b + first * rhs->b_col * size;
  if (row_major(rhs))
    return trs_device_copy_rows(stage, count * size, b, rhs->b_row * size, count * size, n,
                                plan->stream);
  return trs_device_copy_rows(stage, n * size, b, rhs->b_col * size, n * size, count, plan->stream);
}

static trs_status take(const trs_plan *plan, const void *stage, const trs_rhs *rhs, int64_t first,
                       int64_t count) {
  const int64_t n = plan->system.n, size = (int64_t)trs_scalar_size(plan->system.scalar);
  char *x = (char *)rhs->x + first * rhs->x_col * size;
  if (row_major(rhs))
    return trs_device_copy_rows(x, rhs->x_row * size, stage, count * size, count * size, n,
                                plan->stream);
  return trs_device_copy_rows(x, rhs->x_col * size, stage, n * size, n * size, count, plan->stream);
}

static trs_status need_stage(push_state *p, const trs_plan *plan, int64_t nrhs) {
  const int64_t bytes = plan->system.n * (int64_t)trs_scalar_size(plan->system.scalar);
  if (!p->one_process) {
    p->stage = shared_at(p, p->member[0].number, p->stage_at);
    p->stage_width = 1;
  }
  if (p->stage) return TRS_SUCCESS;
  int64_t hint = plan->options.nrhs > nrhs ? plan->options.nrhs : nrhs;
  int64_t width = hint < MOST_STAGED ? hint : MOST_STAGED;
  TRS_TRY(trs_device_alloc_plain(p->member[0].device, &p->stage, width * bytes));
  p->stage_width = width;
  return TRS_SUCCESS;
}

static trs_status solve_staged(trs_plan *plan, push_state *p, const trs_rhs *rhs) {
  TRS_TRY(need_stage(p, plan, rhs->nrhs));
  for (int64_t first = 0; first < rhs->nrhs; first += p->stage_width) {
    int64_t left = rhs->nrhs - first, width = left < p->stage_width ? left : p->stage_width;
    trs_rhs inner = {.x = p->stage, .b = p->stage, .nrhs = width};
    inner.x_row = inner.b_row = row_major(rhs) ? width : 1;
    inner.x_col = inner.b_col = row_major(rhs) ? 1 : plan->system.n;
    if (!p->one_process) inner.x = NULL; /* to every member's stage */
    TRS_TRY(bring(plan, p->stage, rhs, first, width));
    TRS_TRY(launch(plan, p, &inner));
    if (!p->one_process) TRS_TRY(trs_group_fence(p->group));
    if (!p->one_process) TRS_TRY(end(p, plan->stream));
    TRS_TRY(take(plan, p->stage, rhs, first, width));
  }
  return finish(plan, p);
}

static trs_status solve(trs_plan *plan, const trs_rhs *rhs) {
  push_state *p = plan->state;
  TRS_TRY(check_fault(plan, p));
  int before = trs_device_enter(p->member[0].device);
  bool there =
      rhs->x_of || (p->one_process && trs_device_address(rhs->x) && trs_device_address(rhs->b));
  trs_group_lock(p->group);
  trs_status status = there ? launch(plan, p, rhs) : solve_staged(plan, p, rhs);
  trs_group_unlock(p->group);
  trs_device_leave(before);
  return there ? status : trs_group_agree(p->group, status);
}

static trs_status wait(trs_plan *plan) { return finish(plan, plan->state); }

/* ---- Shares. ---- */

static trs_status list_rows(const push_state *p, int which, int64_t n, int64_t *rows) {
  const trs_slices *s = &p->slices;
  char *own;
  TRS_TRY(TRS_ALLOC_ZERO(&own, n));
  for (int32_t k = 0; k < s->nslices; k++)
    for (int32_t r = 0; p->deal.owner[k] == which && r < s->slice[k].rows; r++)
      own[s->row[s->slice[k].first + r]] = 1;
  for (int64_t i = 0, count = 0; i < n; i++)
    if (own[i]) rows[count++] = i;
  trs_free(own);
  return TRS_SUCCESS;
}

static trs_status share(const trs_plan *plan, int which, int64_t nrhs, trs_plan_share *share,
                        int64_t *rows) {
  const push_state *p = plan->state;
  const trs_slices *s = &p->slices;
  *share = (trs_plan_share){.ncolumns = nrhs};
  for (int32_t k = 0; k < s->nslices; k++)
    if (p->deal.owner[k] == which && s->slice[k].parts >= 0) share->nrows += s->slice[k].rows;
  if (share->nrows == 0) share->ncolumns = 0;
  return rows ? list_rows(p, which, plan->system.n, rows) : TRS_SUCCESS;
}

/* ---- What it tells. ---- */

static const char *refuses(const trs_plan *plan) {
  if (!plan->context->group)
    return "it is for several GPUs: take a context such as \"cuda:0-3\", or \"nvshmem\"";
  return NULL;
}

/* As the one-GPU engine's estimate, shared, and a step between GPUs now and then; nothing is
 * compared with where the matrix does not fit one GPU. */
static double estimate(const trs_plan *plan) {
  static const double BUS = 10e9, BANDWIDTH = 2e12, LEVEL = 0.65e-6, START = 40e-6;
  const trs_system *S = &plan->system;
  const int members = trs_group_members(plan->context->group);
  double levels = plan->has_levels ? plan->levels.count : 0;
  double moved = 2.0 * (double)S->n * (double)trs_scalar_size(S->scalar);
  if (!fits_one(plan)) return 0;
  if (members == 1) return 1; /* the engine does as well */
  return START + moved / BUS + levels * LEVEL +
         (double)trs_plan_solve_bytes(plan) / BANDWIDTH / members;
}

static int threads(const trs_plan *plan) {
  (void)plan;
  return 1;
}

static int64_t bytes(const trs_plan *plan) {
  const push_state *p = plan->state;
  int64_t total = p->stage_width * plan->system.n * (int64_t)trs_scalar_size(plan->system.scalar);
  if (!p->one_process) total = 0;
  for (int k = 0; k < p->local; k++) total += p->member[k].bytes + p->shared.bytes;
  return total;
}

static void describe(const trs_plan *plan, char *text, size_t size) {
  const push_state *p = plan->state;
  const double n = plan->system.n > 0 ? (double)plan->system.n : 1;
  snprintf(
      text, size,
      "%d of %d members, partition %s: %.3g pushes a row, balance %.2f (%.2f by levels), %d steps "
      "between members on the longest path; %d levels of %d blocks of up to %d rows, %s "
      "%.3g ms (one GPU %.3g)",
      p->deal.members, p->members, trs_partition_names[p->deal.partition],
      (double)p->deal.pushes / n, p->deal.balance, p->deal.level_balance, (int)p->deal.crossings,
      p->slices.nlevels, p->slices.nblocks, p->rules.most_block,
      p->together > 0 ? "took" : "expects", 1e3 * (p->together > 0 ? p->together : p->deal.seconds),
      1e3 * p->alone);
}

static void free_member(member *m) {
  int before = trs_device_enter(m->device);
  (void)trs_device_wait(m->stream);
  trs_device_free(m->device, m->memory, m->stream);
  trs_device_leave(before);
  trs_device_event_destroy(m->done);
  trs_deal_share_destroy(&m->share);
}

static void free_state(trs_plan *plan) {
  push_state *p = plan->state;
  if (!p) return;
  for (int k = 0; k < p->local; k++) free_member(&p->member[k]);
  if (p->group) trs_group_free(p->group, &p->shared);
  if (p->stage && p->one_process)
    trs_device_free_plain(
        p->member[0].device, p->stage,
        p->stage_width * plan->system.n * (int64_t)trs_scalar_size(plan->system.scalar));
  if (p->told) trs_device_free_host(p->member[0].device, p->told);
  trs_device_event_destroy(p->start);
  trs_free(p->member);
  drop_deal(p);
  trs_free(p);
}

const trs_method trs_method_push = {
    .name = "push",
    .backend = "cuda-group",
    .summary = "rows dealt to several GPUs, each x pushed once to those that need it",
    .parameters = true,
    .refuses = refuses,
    .estimate = estimate,
    .analysis_solves = 10,
    .analyze = analyze,
    .update = update,
    .share = share,
    .solve = solve,
    .wait = wait,
    .threads = threads,
    .bytes = bytes,
    .describe = describe,
    .free = free_state,
};

/* The slice to be read back, changed and put there again. */
static trs_status lose_first_row(push_state *p, member *m) {
  static const uint64_t SOON = 200000000; /* nanoseconds */
  trs_slice slice;
  if (m->number == 0) {
    p->told->limit = SOON;
    TRS_TRY(trs_device_copy(shared_at(p, 0, p->fault_at), p->told, sizeof *p->told, m->stream));
  }
  if (m->share.nslices == 0) return TRS_SUCCESS;
  TRS_TRY(trs_device_copy(&slice, m->args.slices.slice, sizeof slice, m->stream));
  TRS_TRY(trs_device_wait(m->stream));
  slice.rows = 0;
  TRS_TRY(trs_device_copy(m->args.slices.slice, &slice, sizeof slice, m->stream));
  return trs_device_wait(m->stream);
}

trs_status trs_push_break(trs_plan *plan) {
  push_state *p = plan->state;
  trs_status status = TRS_SUCCESS;
  for (int k = 0; k < p->local && !status; k++) {
    int before = trs_device_enter(p->member[k].device);
    status = lose_first_row(p, &p->member[k]);
    trs_device_leave(before);
  }
  return status;
}
