/* ranks.c - relaxation on ranks: every rank receives the whole pattern and colours it, so that the
 * colours are those of one domain; values, b and x stay on the ranks that provide them, or rank 0
 * distributes them. */
#include "relax/ranks.h"

#include <string.h>

#include "base/timer.h"
#include "device/device.h"
#include "relax/backend.h"
#include "relax/kernels.h"

/* ---- Rows, pattern ---- */

/* The numbers of the rows that ranks provide, and how many each rank provides. */
static trs_status number_rows(trs_ranks_relaxation *Q, trs_block_source *source, int64_t *brought) {
  int64_t first = 0, n = 0;
  TRS_TRY(trs_ranks_records(Q->ranks, &source->nrows, brought, sizeof *brought));
  for (int r = 0; r < Q->ranks->size; r++) {
    if (r < Q->ranks->rank) first += brought[r];
    n += brought[r];
  }
  int32_t *row = NULL;
  trs_status status = TRS_SUCCESS;
  if (n > INT32_MAX / source->block)
    status = trs_fail(TRS_ERROR_ARGUMENT, -1, "%lld block rows on all ranks: 0 .. %d is wanted",
                      (long long)n, INT32_MAX / source->block);
  if (!status) status = TRS_ALLOC(&row, source->nrows);
  Q->row = row;
  TRS_TRY(trs_ranks_agree(Q->ranks, status));
  for (int64_t i = 0; i < source->nrows; i++) row[i] = (int32_t)(first + i);
  source->ncols = n;
  source->row = row;
  return TRS_SUCCESS;
}

/* The patterns of the rows of all ranks. */
static trs_status share_pattern(trs_ranks *ranks, trs_block_pattern *whole,
                                const trs_block_pattern *own, const int64_t *brought, int64_t n) {
  int64_t *blocks = NULL, mine = own->ptr[own->n];
  *whole = (trs_block_pattern){.n = n};
  trs_status status = TRS_ALLOC_ALL(TRS_ROOM(&blocks, ranks->size), TRS_ROOM(&whole->ptr, n + 1));
  status = trs_ranks_agree(ranks, status);
  if (!status) status = trs_ranks_records(ranks, &mine, blocks, sizeof *blocks);
  int64_t total = 0;
  for (int r = 0; !status && r < ranks->size; r++) total += blocks[r];
  if (!status) status = trs_ranks_agree(ranks, TRS_ALLOC(&whole->idx, total));
  if (!status) status = trs_ranks_pieces(ranks, own->ptr + 1, whole->ptr + 1, brought, 8);
  if (!status) status = trs_ranks_pieces(ranks, own->idx, whole->idx, blocks, 4);
  int64_t i = 1, before = 0;
  for (int r = 0; !status && r < ranks->size; before += blocks[r++])
    for (int64_t k = 0; k < brought[r]; k++) whole->ptr[i++] += before;
  if (!status) whole->ptr[0] = 0;
  trs_free(blocks);
  return status;
}

/* The caller's colours of all rows, if ranks with rows provide them; else *colour stays NULL. */
static trs_status share_colours(trs_ranks *ranks, int32_t **colour, const int32_t *own,
                                const int64_t *brought, int64_t n) {
  int64_t votes[2] = {brought[ranks->rank] > 0 && own, brought[ranks->rank] > 0 && !own};
  TRS_TRY(trs_ranks_reduce(ranks, votes, 2, sizeof *votes, trs_join_sums));
  if (!votes[0]) return TRS_SUCCESS;
  if (votes[1])
    return trs_fail(TRS_ERROR_ARGUMENT, -1,
                    "%lld ranks give colours and %lld do not: all or none must",
                    (long long)votes[0], (long long)votes[1]);
  TRS_TRY(trs_ranks_agree(ranks, TRS_ALLOC(colour, n)));
  return trs_ranks_pieces(ranks, own, *colour, brought, 4);
}

static trs_status share_system(trs_ranks_relaxation *Q, trs_block_system *S, trs_context *context,
                               const trs_block_source *source, const int64_t *brought,
                               const trs_relax_options *options) {
  trs_block_pattern own = {0}, whole = {0};
  trs_relax_options same = *options;
  int32_t *colour = NULL;
  trs_status status =
      trs_ranks_agree(Q->ranks, trs_block_pattern_build(&own, source, context->team));
  if (!status) status = share_pattern(Q->ranks, &whole, &own, brought, source->ncols);
  if (!status) status = share_colours(Q->ranks, &colour, options->colour, brought, source->ncols);
  same.colour = colour;
  if (!status)
    status = trs_ranks_agree(Q->ranks, trs_block_system_create(S, &whole, &same, context->team));
  trs_block_pattern_free(&own);
  trs_block_pattern_free(&whole);
  trs_free(colour);
  return status;
}

/* ---- Domains ---- */

static trs_status keep_rows(trs_block_system *S, int32_t domains, const int64_t *brought) {
  int64_t i = 0;
  S->domains = domains;
  S->partition = "as given";
  if (domains == 1) return TRS_SUCCESS;
  TRS_TRY(TRS_ALLOC(&S->owner, S->reads.n));
  for (int32_t d = 0; d < domains; d++)
    for (int64_t k = 0; k < brought[d]; k++) S->owner[i++] = d;
  return TRS_SUCCESS;
}

/* Rank 0's partition. */
static trs_status deal_rows(trs_ranks_relaxation *Q, trs_block_system *S) {
  trs_ranks *ranks = Q->ranks;
  trs_status status = TRS_SUCCESS;
  if (ranks->rank == 0)
    status = trs_block_system_split(S, ranks->size);
  else
    status = TRS_ALLOC(&S->owner, S->reads.n);
  TRS_TRY(trs_ranks_agree(ranks, status));
  S->domains = ranks->size;
  if (ranks->size == 1) return TRS_SUCCESS;
  char name[16] = "";
  if (ranks->rank == 0) strncpy(name, S->partition, sizeof name - 1);
  TRS_TRY(trs_ranks_broadcast(ranks, name, sizeof name));
  S->partition = strcmp(name, "METIS") == 0 ? "METIS" : "contiguous";
  return trs_ranks_broadcast(ranks, S->owner, S->reads.n * (int64_t)sizeof *S->owner);
}

/* The number of rows of every rank; of a distributed system also their list. */
static trs_status count_rows(trs_ranks_relaxation *Q, const trs_block_system *S) {
  int64_t n = S->reads.n, *next;
  int size = Q->ranks->size, rank = Q->ranks->rank;
  for (int64_t i = 0; i < n; i++) Q->count[S->owner ? S->owner[i] : 0]++;
  Q->nrows = Q->count[rank];
  if (!Q->dealt) return TRS_SUCCESS;
  trs_free(Q->row);
  Q->row = NULL;
  TRS_TRY(TRS_ALLOC_ALL(TRS_ROOM(&Q->row, Q->nrows), TRS_ROOM(&Q->dealing, n),
                        TRS_ZEROS(&next, size + 1)));
  for (int r = 0; r < size; r++) next[r + 1] = next[r] + Q->count[r];
  int64_t first = next[rank];
  for (int64_t i = 0; i < n; i++) Q->dealing[next[S->owner ? S->owner[i] : 0]++] = (int32_t)i;
  memcpy(Q->row, Q->dealing + first, (size_t)Q->nrows * sizeof *Q->row);
  trs_free(next);
  return TRS_SUCCESS;
}

/* ---- Values that rank 0 distributes ---- */

/* The entries of some block rows, as rank 0's matrix has them. */
typedef struct packet {
  int64_t rows, *ptr; /* of entries */
  int32_t *idx;
  char *val;
} packet;

static trs_status allocate_packet(packet *p, int64_t rows, int64_t entries, int64_t size) {
  return TRS_ALLOC_ALL(TRS_ROOM(&p->ptr, rows + 1), TRS_ROOM(&p->idx, entries),
                       TRS_ROOM_OF(&p->val, entries, (size_t)size));
}

static void free_packet(packet *p) { TRS_FREE_ALL(p->ptr, p->idx, p->val); }

static void fill_packet(packet *p, const trs_block_source *S, const int32_t *rows, int64_t nrows) {
  const int64_t size = (int64_t)trs_scalar_size(S->scalar);
  p->rows = nrows * S->span;
  p->ptr[0] = 0;
  for (int64_t k = 0; k < p->rows; k++) {
    const int64_t i = (int64_t)rows[k / S->span] * S->span + k % S->span;
    const int64_t from = S->ptr[i], count = S->ptr[i + 1] - from, at = p->ptr[k];
    memcpy(p->idx + at, S->idx + from, (size_t)count * sizeof *p->idx);
    memcpy(p->val + at * size, (const char *)S->val + from * size, (size_t)(count * size));
    p->ptr[k + 1] = at + count;
  }
}

static trs_status send_packets(trs_ranks_relaxation *Q, const trs_block_source *S, packet *spare,
                               packet *own) {
  const int64_t size = (int64_t)trs_scalar_size(S->scalar);
  const int32_t *rows = Q->dealing;
  trs_ranks *ranks = Q->ranks;
  for (int r = 0; r < ranks->size; rows += Q->count[r++]) {
    packet *p = r == 0 ? own : spare;
    fill_packet(p, S, rows, Q->count[r]);
    if (r == 0) continue;
    const int64_t entries = p->ptr[p->rows];
    TRS_TRY(trs_ranks_send(ranks, r, TRS_TAG_MOVE, p->ptr, (p->rows + 1) * 8));
    TRS_TRY(trs_ranks_send(ranks, r, TRS_TAG_MOVE, p->idx, entries * 4));
    TRS_TRY(trs_ranks_send(ranks, r, TRS_TAG_MOVE, p->val, entries * size));
    TRS_TRY(trs_ranks_finish(ranks));
  }
  return TRS_SUCCESS;
}

static trs_status receive_packet(trs_ranks *ranks, packet *p, int64_t rows, int64_t entries,
                                 int64_t size) {
  TRS_TRY(trs_ranks_receive(ranks, 0, TRS_TAG_MOVE, p->ptr, (rows + 1) * 8));
  TRS_TRY(trs_ranks_receive(ranks, 0, TRS_TAG_MOVE, p->idx, entries * 4));
  return trs_ranks_receive(ranks, 0, TRS_TAG_MOVE, p->val, entries * size);
}

/* Rank 0's counts of every rank's entries, and its memory for the largest packet of another. */
static trs_status allocate_dealer(const trs_ranks_relaxation *Q, const trs_block_source *S,
                                  int64_t *entries, packet *spare) {
  const int32_t *rows = Q->dealing;
  int64_t most_rows = 0, most = 0;
  if (Q->ranks->rank) return TRS_SUCCESS;
  for (int r = 0; r < Q->ranks->size; rows += Q->count[r++]) {
    for (int64_t k = 0; k < Q->count[r]; k++) {
      const int64_t i = (int64_t)rows[k] * S->span;
      entries[r] += S->ptr[i + S->span] - S->ptr[i];
    }
    if (r && Q->count[r] > most_rows) most_rows = Q->count[r];
    if (r && entries[r] > most) most = entries[r];
  }
  return allocate_packet(spare, most_rows * S->span, most, (int64_t)trs_scalar_size(S->scalar));
}

static trs_status deal_values(trs_ranks_relaxation *Q, const trs_block_source *S, packet *own) {
  packet spare = {0};
  int64_t *entries = NULL;
  const int rank = Q->ranks->rank;
  const int64_t size = (int64_t)trs_scalar_size(S->scalar), rows = Q->nrows * S->block;
  trs_status status = TRS_ALLOC_ZERO(&entries, Q->ranks->size);
  if (!status) status = allocate_dealer(Q, S, entries, &spare);
  status = trs_ranks_agree(Q->ranks, status);
  if (!status)
    status = trs_ranks_broadcast(Q->ranks, entries, Q->ranks->size * (int64_t)sizeof *entries);
  if (!status) status = trs_ranks_agree(Q->ranks, allocate_packet(own, rows, entries[rank], size));
  if (!status)
    status = rank ? receive_packet(Q->ranks, own, rows, entries[rank], size)
                  : send_packets(Q, S, &spare, own);
  free_packet(&spare);
  trs_free(entries);
  return status;
}

/* ---- Values ---- */

static trs_status take_values(trs_ranks_relaxation *Q, const trs_block_source *source) {
  packet own = {0};
  trs_block_source mine = *source;
  if (Q->dealt) {
    trs_status status = deal_values(Q, source, &own);
    const int block = source->block;
    mine = trs_block_source_by_entries(source->scalar, Q->nrows * block, Q->R->ncols * block,
                                       own.ptr, own.idx, own.val, block);
    if (status) {
      free_packet(&own);
      return status;
    }
  }
  mine.ncols = Q->R->ncols;
  mine.row = Q->row;
  trs_status status = trs_ranks_agree(Q->ranks, trs_relaxation_update(Q->R, &mine));
  free_packet(&own);
  return status;
}

/* The source of ranks that provide no rows: empty, and of rank 0's type. */
static trs_status share_type(trs_ranks_relaxation *Q, trs_block_source *source, int block) {
  static const int64_t none[1];
  int scalar = (int)source->scalar;
  TRS_TRY(trs_ranks_broadcast(Q->ranks, &scalar, sizeof scalar));
  if (Q->ranks->rank)
    *source = (trs_block_source){
        .scalar = (trs_scalar)scalar, .block = block, .span = 1, .ptr = none, .matrix = true};
  return TRS_SUCCESS;
}

trs_status trs_ranks_relaxation_update(trs_ranks_relaxation *Q, trs_block_source *source) {
  double start = trs_seconds();
  if (Q->dealt) TRS_TRY(share_type(Q, source, Q->R->block));
  source->ncols = Q->R->ncols;
  source->row = Q->dealt ? NULL : Q->row;
  TRS_TRY(trs_ranks_agree(Q->ranks, trs_block_source_check(source)));
  TRS_TRY(take_values(Q, source));
  Q->update_seconds = trs_seconds() - start;
  return TRS_SUCCESS;
}

/* ---- Creation ---- */

static const void *gather(trs_relax_links *links, const void *mine, int64_t bytes) {
  if (links->failed.status) return NULL;
  bool good = trs_links_keep(links, trs_ranks_records(links->ranks, mine, links->records, bytes));
  return good ? links->records : NULL;
}

static void sum(trs_relax_links *links, int64_t *values, int64_t count) {
  if (!links->failed.status)
    (void)trs_links_keep(
        links, trs_ranks_reduce(links->ranks, values, count, sizeof *values, trs_join_sums));
}

static trs_status status_of(const trs_relax_links *links) {
  return links && links->failed.status ? trs_failure_set(&links->failed) : TRS_SUCCESS;
}

static trs_status connect(trs_ranks_relaxation *Q) {
  enum { RECORD = 64 };
  trs_relaxation *R = Q->R;
  TRS_TRY(Q->link(R, Q->ranks, R->block * (int64_t)trs_relax_kernels_of(R->store)->x_size));
  R->links->gather = gather;
  R->links->sum = sum;
  return trs_alloc((void **)&R->links->records, R->domain->count, RECORD);
}

static trs_status meet(trs_ranks_relaxation *Q) {
  int machine, position;
  if (!Q->R->backend->meet) return TRS_SUCCESS; /* the same on all ranks */
  TRS_TRY(trs_ranks_neighbours(Q->ranks, &machine, &position));
  Q->R->links->beside_first = machine == 0;
  Q->R->backend->meet(Q->R);
  return trs_ranks_agree(Q->ranks, status_of(Q->R->links));
}

static trs_status make_domain(trs_ranks_relaxation *Q, trs_block_system *S, trs_context *context,
                              const trs_block_source *source, const int64_t *brought,
                              const trs_relax_options *options) {
  trs_ranks *ranks = Q->ranks;
  TRS_TRY(share_system(Q, S, context, source, brought, options));
  TRS_TRY(Q->dealt ? deal_rows(Q, S) : trs_ranks_agree(ranks, keep_rows(S, ranks->size, brought)));
  Q->partition = S->partition;
  TRS_TRY(trs_ranks_agree(ranks, count_rows(Q, S)));
  trs_status status = trs_relaxation_create_domain(&Q->R, context, source->scalar, source->block, S,
                                                   ranks->rank, options);
  if (!status && ranks->size > 1 && Q->R->backend->link) status = Q->R->backend->link(Q->R);
  if (!status && ranks->size > 1) status = connect(Q);
  TRS_TRY(trs_ranks_agree(ranks, status));
  return ranks->size > 1 ? meet(Q) : TRS_SUCCESS;
}

trs_status trs_ranks_relaxation_create(trs_ranks_relaxation *Q, trs_context *context,
                                       trs_block_source *source, bool dealt,
                                       const trs_relax_options *options) {
  double start = trs_seconds();
  trs_block_system S = {.domains = 0};
  int64_t *brought = NULL;
  Q->dealt = dealt;
  if (dealt) TRS_TRY(share_type(Q, source, source->block));
  trs_status status = TRS_ALLOC(&brought, Q->ranks->size);
  if (!status) status = TRS_ALLOC_ZERO(&Q->count, Q->ranks->size);
  status = trs_ranks_agree(Q->ranks, status);
  if (!status) status = number_rows(Q, source, brought);
  if (!status) status = make_domain(Q, &S, context, source, brought, options);
  trs_block_system_free(&S);
  trs_free(brought);
  if (!status && dealt) source->row = NULL;
  if (!status) status = take_values(Q, source);
  Q->create_seconds = Q->update_seconds = trs_seconds() - start;
  return status;
}

void trs_ranks_relaxation_free(trs_ranks_relaxation *Q) {
  trs_relax_links *links = Q->R ? Q->R->links : NULL;
  if (links) {
    if (Q->R->backend->leave) Q->R->backend->leave(Q->R);
    trs_free(links->records);
    links->free(links);
  }
  trs_relaxation_destroy(Q->R);
  TRS_FREE_ALL(Q->row, Q->count, Q->dealing, Q->b, Q->x, Q->pack);
}

/* ---- Sweeps ---- */

static int64_t element(const trs_ranks_relaxation *Q) {
  return (int64_t)trs_scalar_size(Q->R->scalar);
}

/* A vector of the caller's at rank 0. */
typedef struct dealt {
  char *array;
  int64_t row, col, nrhs;
} dealt;

/* Copies columns of some rows between the caller's array and packed ones. */
static void move_rows(const trs_ranks_relaxation *Q, const int32_t *rows, int64_t nrows,
                      const dealt *v, char *packed, bool back) {
  int64_t size = element(Q), b = Q->R->block;
  for (int64_t c = 0; c < v->nrhs; c++)
    for (int64_t k = 0; k < nrows; k++)
      for (int64_t e = 0; e < b; e++, packed += size) {
        char *there = v->array + ((rows[k] * b + e) * v->row + c * v->col) * size;
        back ? memcpy(there, packed, (size_t)size) : memcpy(packed, there, (size_t)size);
      }
}

/* The rows of each rank from rank 0 to `own`, or back. */
static trs_status deal(trs_ranks_relaxation *Q, const dealt *v, char *own, bool back) {
  trs_ranks *ranks = Q->ranks;
  const int64_t each = element(Q) * Q->R->block * v->nrhs;
  const int32_t *rows = Q->dealing;
  if (ranks->rank && back) {
    if (Q->nrows && each) TRS_TRY(trs_ranks_send(ranks, 0, TRS_TAG_MOVE, own, Q->nrows * each));
    return trs_ranks_finish(ranks);
  }
  if (ranks->rank)
    return Q->nrows && each ? trs_ranks_receive(ranks, 0, TRS_TAG_MOVE, own, Q->nrows * each)
                            : TRS_SUCCESS;
  for (int r = 0; r < ranks->size; rows += Q->count[r++]) {
    char *part = r ? Q->pack : own;
    const int64_t bytes = r ? Q->count[r] * each : 0; /* of the message */
    if (back && bytes) TRS_TRY(trs_ranks_receive(ranks, r, TRS_TAG_MOVE, part, bytes));
    move_rows(Q, rows, Q->count[r], v, part, back);
    if (back || !bytes) continue;
    TRS_TRY(trs_ranks_send(ranks, r, TRS_TAG_MOVE, part, bytes));
    TRS_TRY(trs_ranks_finish(ranks));
  }
  return TRS_SUCCESS;
}

static trs_status make_room(trs_ranks_relaxation *Q, int64_t columns) {
  int64_t most = 0, b = Q->R->block;
  if (columns <= Q->columns) return TRS_SUCCESS;
  for (int r = 1; r < Q->ranks->size; r++) most = Q->count[r] > most ? Q->count[r] : most;
  trs_status status = trs_realloc(&Q->b, Q->nrows * b * columns, (size_t)element(Q));
  if (!status) status = trs_realloc(&Q->x, Q->nrows * b * columns, (size_t)element(Q));
  if (!status && Q->ranks->rank == 0)
    status = trs_realloc(&Q->pack, most * b * columns, (size_t)element(Q));
  TRS_TRY(trs_ranks_agree(Q->ranks, status));
  Q->columns = columns;
  return TRS_SUCCESS;
}

static trs_status sweep_domain(trs_ranks_relaxation *Q, const trs_rhs *rhs,
                               const trs_sweep_options *options) {
  trs_status status = trs_relaxation_sweep(Q->R, rhs, options);
  if (!status) status = status_of(Q->R->links);
  return trs_ranks_agree(Q->ranks, status);
}

/* x and b in device memory belong to ranks that provide their rows. */
static trs_status check_sweep(trs_ranks_relaxation *Q, trs_status status, const trs_rhs *rhs,
                              const trs_sweep_options *o) {
  static const char *const names[] = {"nrhs",  "sweeps", "direction",
                                      "omega", "keep_x", "residual_every"};
  const double values[] = {(double)rhs->nrhs, (double)o->sweeps, o->direction,
                           o->omega,          o->keep_x != 0,    (double)o->residual_every};
  if (!status && Q->dealt && !Q->ranks->rank &&
      (trs_device_address(rhs->x) || trs_device_address(rhs->b)))
    status = trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                      "x and b that rank 0 deals must lie in host memory: only rows that each "
                      "rank brings may lie on its GPU");
  return trs_ranks_same(Q->ranks, status, values, names, sizeof values / sizeof *values);
}

trs_status trs_ranks_relaxation_sweep(trs_ranks_relaxation *Q, trs_status status,
                                      const trs_rhs *rhs, const trs_sweep_options *options) {
  TRS_TRY(check_sweep(Q, status, rhs, options));
  int64_t own = Q->nrows * Q->R->block, nrhs = rhs->nrhs;
  if (!Q->dealt) return sweep_domain(Q, rhs, options);
  TRS_TRY(make_room(Q, nrhs));
  const trs_rhs mine = trs_rhs_by_columns(Q->x, Q->b, own, nrhs);
  const dealt b = {(char *)(uintptr_t)rhs->b, rhs->b_row, rhs->b_col, nrhs},
              x = {rhs->x, rhs->x_row, rhs->x_col, nrhs};
  TRS_TRY(deal(Q, &b, Q->b, false));
  if (options->keep_x) TRS_TRY(deal(Q, &x, Q->x, false));
  TRS_TRY(sweep_domain(Q, &mine, options));
  return deal(Q, &x, Q->x, true);
}
