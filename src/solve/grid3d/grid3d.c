/* grid3d.c - the plan of a distributed solve, and its three algorithms. */
#include "solve/grid3d/grid3d.h"

#include <string.h>

#include "base/timer.h"

/* ---- Roles. ---- */

/* grid3d: all that lies on this grid. */
static void roles_of_grid(int8_t *role, const trs_part *part) {
  for (int64_t K = 0; K < part->layout->count; K++)
    role[K] = trs_on_grid(part->layout, K, part->z)
                  ? TRS_ROLE_SOLVE | TRS_ROLE_COLUMN | TRS_ROLE_ROW | TRS_ROLE_ADDS
                  : 0;
}

/* The baseline's level: the node of this height on the first of its grids, nothing on others.  In
 * the L-solve its columns add to all rows above, and whatever lies below it has added to it; in
 * the U-solve all that stands above adds to it. */
static void roles_of_level(int8_t *role, const trs_part *part, int which, int height) {
  const trs_grid_layout *l = part->layout;
  bool works = part->z % (1 << height) == 0;
  for (int64_t K = 0; K < l->count; K++) {
    bool node = works && l->height[K] == height && l->lo[K] == part->z;
    bool here = works && trs_on_grid(l, K, part->z) && l->height[K] >= height;
    role[K] = 0;
    if (node) role[K] = TRS_ROLE_SOLVE | TRS_ROLE_COLUMN | TRS_ROLE_ROW | TRS_ROLE_ADDS;
    if (which == 0 && here) role[K] |= TRS_ROLE_ROW;
    if (which == 0 && works) role[K] |= TRS_ROLE_ADDS;
    if (which == 1 && here) role[K] |= TRS_ROLE_COLUMN | TRS_ROLE_ADDS;
  }
}

static trs_status make_phase(trs_grid_solver *s, int which, int height) {
  int8_t *role;
  TRS_TRY(TRS_ALLOC(&role, s->layout.count));
  if (s->set.algorithm == TRS_GRID3D)
    roles_of_grid(role, &s->part);
  else
    roles_of_level(role, &s->part, which, height);
  return trs_sweep_create(&s->phase[which][height], &s->part, which, role, s->set.trees);
}

/* ---- Setting up. ---- */

static trs_status check_shape(const trs_grid_solver *s) {
  trs_grid_shape p = s->set.shape;
  if (p.x < 1 || p.y < 1 || p.z < 1 || (int64_t)p.x * p.y * p.z != s->ranks->size)
    return trs_fail(TRS_ERROR_ARGUMENT, -1,
                    "a grid of %d x %d x %d has %lld ranks, but there are %d", p.x, p.y, p.z,
                    (long long)p.x * p.y * p.z, s->ranks->size);
  return TRS_SUCCESS;
}

static int owner_of(const trs_grid_solver *s, int64_t K) {
  trs_grid_shape p = s->set.shape;
  return trs_rank_at(p, (int)(K % p.x), (int)(K % p.y), s->layout.lo[K]);
}

/* Counting sort of the supernodes by owner. */
static trs_status list_owned(trs_grid_solver *s) {
  const trs_grid_layout *l = &s->layout;
  int size = s->ranks->size;
  TRS_TRY(TRS_ALLOC_ZERO(&s->owned_ptr, size + 2));
  TRS_TRY(TRS_ALLOC(&s->owned, l->count));
  for (int64_t K = 0; K < l->count; K++) s->owned_ptr[owner_of(s, K) + 2]++;
  for (int r = 0; r < size; r++) s->owned_ptr[r + 2] += s->owned_ptr[r + 1];
  for (int64_t K = 0; K < l->count; K++) s->owned[s->owned_ptr[owner_of(s, K) + 1]++] = (int32_t)K;
  return TRS_SUCCESS;
}

/* In step k the upper grid of a pair, k's bit set and no lower one, sends to the lower. */
static bool crosses(int z, int step) { return z % (1 << step) == 0; }
static bool upper(int z, int step) { return z >> step & 1; }

static trs_status list_crossing(trs_grid_solver *s) {
  int levels = s->layout.levels;
  TRS_TRY(trs_alloc_zero((void **)&s->shared, levels, sizeof *s->shared));
  TRS_TRY(trs_alloc_zero((void **)&s->sums, levels, sizeof *s->sums));
  for (int k = 0; k < levels; k++) {
    TRS_TRY(trs_list_shared(&s->shared[k], &s->part, k + 1));
    if (s->set.algorithm != TRS_GRID3D_BASELINE || !crosses(s->part.z, k)) continue;
    int from = upper(s->part.z, k) ? s->part.z : trs_pair_partner(s->part.z, k);
    TRS_TRY(trs_list_sums(&s->sums[k], &s->part, from, k));
  }
  return TRS_SUCCESS;
}

static trs_status set_up(trs_grid_solver *s) {
  TRS_TRY(check_shape(s));
  TRS_TRY(trs_grid_layout_create(&s->layout, s->F, s->set.shape.z, &s->set.supernodes));
  TRS_TRY(trs_part_create(&s->part, &s->layout, s->F, s->set.shape, s->ranks->rank));
  s->nphases = s->set.algorithm == TRS_GRID3D ? 1 : s->layout.levels + 1;
  int64_t sends = 0;
  for (int which = 0; which < 2; which++) {
    TRS_TRY(trs_alloc_zero((void **)&s->phase[which], s->nphases, sizeof **s->phase));
    for (int h = 0; h < s->nphases; h++) {
      TRS_TRY(make_phase(s, which, h));
      const trs_sweep *sweep = &s->phase[which][h];
      if (sweep->sends > sends) sends = sweep->sends;
      if (sweep->child_columns > s->part.child_columns)
        s->part.child_columns = sweep->child_columns;
    }
  }
  TRS_TRY(list_crossing(s));
  TRS_TRY(list_owned(s));
  return trs_ranks_reserve(s->ranks, sends + s->ranks->size);
}

trs_status trs_grid_solver_create(trs_grid_solver *solver, trs_ranks *ranks, const trs_factors *F,
                                  const trs_grid_options *options) {
  *solver = (trs_grid_solver){.ranks = ranks, .set = *options, .F = trs_factors_retain(F)};
  trs_status status = trs_ranks_agree(ranks, set_up(solver));
  if (status) trs_grid_solver_destroy(solver);
  return status;
}

void trs_grid_solver_destroy(trs_grid_solver *s) {
  for (int which = 0; which < 2; which++) {
    for (int h = 0; s->phase[which] && h < s->nphases; h++) trs_sweep_destroy(&s->phase[which][h]);
    trs_free(s->phase[which]);
  }
  for (int k = 0; k < s->layout.levels; k++) {
    if (s->shared) trs_slot_list_free(&s->shared[k]);
    if (s->sums) trs_slot_list_free(&s->sums[k]);
  }
  trs_free(s->shared);
  trs_free(s->sums);
  trs_free(s->buffer);
  trs_free(s->owned);
  trs_free(s->owned_ptr);
  trs_part_destroy(&s->part);
  trs_grid_layout_destroy(&s->layout);
  trs_factors_destroy(s->F);
  *s = (trs_grid_solver){0};
}

/* ---- Right-hand sides and solutions. ---- */

static int64_t owned_bytes(const trs_grid_solver *s, int rank) {
  int64_t columns = 0;
  for (int64_t i = s->owned_ptr[rank]; i < s->owned_ptr[rank + 1]; i++)
    columns += trs_width(&s->layout, s->owned[i]);
  return columns * s->part.nrhs * (int64_t)trs_scalar_size(s->part.scalar);
}

/* What rank 0 packs for all, the longest list of slots twice, whichever is more. */
static int64_t bytes_needed(const trs_grid_solver *s) {
  int64_t most = 0;
  for (int k = 0; k < s->layout.levels; k++) {
    int64_t shared = 2 * trs_slots_bytes(&s->shared[k], &s->part);
    int64_t sums = trs_slots_bytes(&s->sums[k], &s->part);
    most = shared > most ? shared : most;
    most = sums > most ? sums : most;
  }
  int64_t moved = s->ranks->rank
                      ? owned_bytes(s, s->ranks->rank)
                      : s->layout.n * s->part.nrhs * (int64_t)trs_scalar_size(s->part.scalar);
  return moved > most ? moved : most;
}

static trs_status reserve(trs_grid_solver *s, int64_t nrhs) {
  TRS_TRY(trs_part_reserve(&s->part, nrhs));
  int64_t bytes = bytes_needed(s);
  if (s->part.largest > s->ranks->chunk)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1, "a message of %lld bytes is too long",
                    (long long)s->part.largest);
  if (bytes <= s->buffer_bytes) return TRS_SUCCESS;
  trs_free(s->buffer);
  s->buffer_bytes = 0;
  TRS_TRY(trs_alloc(&s->buffer, bytes, 1));
  s->buffer_bytes = bytes;
  return TRS_SUCCESS;
}

/* L U = P_r D_r A D_c P_c^T: the right-hand side of L is P_r D_r b. */
static void pack_rhs(const trs_grid_solver *s, int rank, const void *b, int64_t ldb, char *to) {
  const trs_part *p = &s->part;
  for (int64_t i = s->owned_ptr[rank]; i < s->owned_ptr[rank + 1]; i++) {
    int64_t K = s->owned[i];
    p->ops->take(trs_width(&s->layout, K), p->nrhs, s->layout.first[K], s->F->row_perm,
                 s->F->row_scale, b, ldb, to);
    to += trs_slot_bytes(p, K);
  }
}

static void unpack_solution(const trs_grid_solver *s, int rank, void *x, int64_t ldx,
                            const char *from) {
  const trs_part *p = &s->part;
  for (int64_t i = s->owned_ptr[rank]; i < s->owned_ptr[rank + 1]; i++) {
    int64_t K = s->owned[i];
    p->ops->put(trs_width(&s->layout, K), p->nrhs, s->layout.first[K], s->F->col_perm,
                s->F->col_scale, from, x, ldx);
    from += trs_slot_bytes(p, K);
  }
}

/* b from rank 0 to the owners, on the smallest grid of every node. */
static trs_status hand_out(trs_grid_solver *s, const void *b, int64_t ldb) {
  char *at = s->buffer;
  int me = s->ranks->rank;
  if (me)
    return owned_bytes(s, me) ? trs_ranks_receive(s->ranks, 0, TRS_TAG_MOVE, at, owned_bytes(s, me))
                              : TRS_SUCCESS;
  for (int r = 0; r < s->ranks->size; r++) {
    int64_t bytes = owned_bytes(s, r);
    pack_rhs(s, r, b, ldb, at);
    if (r && bytes) TRS_TRY(trs_ranks_send(s->ranks, r, TRS_TAG_MOVE, at, bytes));
    at += bytes;
  }
  TRS_TRY(trs_ranks_finish(s->ranks));
  return TRS_SUCCESS;
}

static trs_status collect(trs_grid_solver *s, void *x, int64_t ldx) {
  char *at = s->buffer;
  int me = s->ranks->rank;
  for (int64_t i = s->owned_ptr[me]; i < s->owned_ptr[me + 1]; i++) {
    int64_t K = s->owned[i], bytes = trs_slot_bytes(&s->part, K);
    memcpy(at, trs_x(&s->part, K), (size_t)bytes);
    at += bytes;
  }
  if (me) {
    if (owned_bytes(s, me))
      TRS_TRY(trs_ranks_send(s->ranks, 0, TRS_TAG_MOVE, s->buffer, owned_bytes(s, me)));
    return trs_ranks_finish(s->ranks);
  }
  unpack_solution(s, 0, x, ldx, s->buffer);
  for (int r = 1; r < s->ranks->size; r++) {
    if (!owned_bytes(s, r)) continue;
    TRS_TRY(trs_ranks_receive(s->ranks, r, TRS_TAG_MOVE, s->buffer, owned_bytes(s, r)));
    unpack_solution(s, r, x, ldx, s->buffer);
  }
  return TRS_SUCCESS;
}

/* Sums begin as right-hand sides where those lie, as zeros elsewhere. */
static void set_sums(trs_grid_solver *s) {
  const char *from = s->buffer;
  int me = s->ranks->rank;
  memset(s->part.sum_base, 0, (size_t)s->part.sum_bytes);
  for (int64_t i = s->owned_ptr[me]; i < s->owned_ptr[me + 1]; i++) {
    int64_t K = s->owned[i], bytes = trs_slot_bytes(&s->part, K);
    memcpy(trs_sum(&s->part, K), from, (size_t)bytes);
    from += bytes;
  }
}

/* The L-solve's x is the U-solve's right-hand side, on all grids or where it was solved. */
static void turn_round(trs_grid_solver *s) {
  const trs_grid_layout *l = &s->layout;
  const trs_part *p = &s->part;
  bool all = s->set.algorithm == TRS_GRID3D;
  memset(p->sum_base, 0, (size_t)p->sum_bytes);
  for (int64_t K = 0; K < l->count; K++)
    if (trs_has_diagonal(p, K) && (all || l->lo[K] == p->z))
      memcpy(trs_sum(p, K), trs_x(p, K), (size_t)trs_slot_bytes(p, K));
}

/* ---- The algorithms. ---- */

/* Every sweep has a tag of its own for a long time: messages of a rank that is ahead must not be
 * taken for those of this sweep.  A barrier now and then keeps all within half of the tags. */
static trs_status next_tag(trs_grid_solver *s, int *tag) {
  enum { TAGS = 1024 };
  if (s->phases_run % (TAGS / 2) == 0) TRS_TRY(trs_ranks_barrier(s->ranks));
  *tag = TRS_TAG_FREE + (int)(s->phases_run++ % TAGS);
  return TRS_SUCCESS;
}

static trs_status run_phase(trs_grid_solver *s, int which, int height) {
  int tag;
  TRS_TRY(next_tag(s, &tag));
  return trs_sweep_run(&s->phase[which][height], &s->part, s->ranks, tag, &s->times.sweep[which]);
}

static trs_status run_grid3d(trs_grid_solver *s) {
  TRS_TRY(run_phase(s, 0, 0));
  TRS_TRY(trs_sparse_allreduce(s->shared, &s->part, s->ranks, s->buffer, &s->times.exchange[0]));
  turn_round(s);
  return run_phase(s, 1, 0);
}

static trs_status gather_sums(trs_grid_solver *s, int step) {
  int z = s->part.z, partner = trs_pair_partner(z, step);
  if (!crosses(z, step)) return TRS_SUCCESS;
  if (upper(z, step))
    return trs_slots_send(&s->sums[step], &s->part, true, s->ranks, partner, s->buffer,
                          &s->times.exchange[0]);
  return trs_slots_receive(&s->sums[step], &s->part, true, s->ranks, partner, s->buffer,
                           &s->times.exchange[0]);
}

static trs_status spread_x(trs_grid_solver *s, int step) {
  int z = s->part.z, partner = trs_pair_partner(z, step);
  if (!crosses(z, step)) return TRS_SUCCESS;
  if (upper(z, step))
    return trs_slots_receive(&s->shared[step], &s->part, false, s->ranks, partner, s->buffer,
                             &s->times.exchange[1]);
  return trs_slots_send(&s->shared[step], &s->part, false, s->ranks, partner, s->buffer,
                        &s->times.exchange[1]);
}

static trs_status run_baseline(trs_grid_solver *s) {
  int levels = s->layout.levels;
  for (int h = 0; h <= levels; h++) {
    TRS_TRY(run_phase(s, 0, h));
    if (h < levels) TRS_TRY(gather_sums(s, h));
  }
  turn_round(s);
  for (int h = levels; h >= 0; h--) {
    if (h < levels) TRS_TRY(spread_x(s, h));
    TRS_TRY(run_phase(s, 1, h));
  }
  return TRS_SUCCESS;
}

/* Right-hand sides that go through together: their messages are within the transport's limit. */
static int64_t at_once(const trs_grid_solver *s) {
  const trs_panels *P = &s->layout.panels[0];
  int64_t width = P->widest > 0 ? P->widest : 1;
  int64_t fit =
      (s->ranks->chunk - TRS_HEAD_BYTES) / (width * (int64_t)trs_scalar_size(s->part.scalar));
  return fit < s->set.nrhs ? (fit > 0 ? fit : 1) : s->set.nrhs;
}

static trs_status solve_some(trs_grid_solver *s, void *x, int64_t ldx, const void *b, int64_t ldb,
                             int64_t nrhs) {
  TRS_TRY(trs_ranks_agree(s->ranks, reserve(s, nrhs)));
  TRS_TRY(hand_out(s, b, ldb));
  set_sums(s);
  double begin = trs_seconds();
  int64_t before = s->ranks->messages, bytes_before = s->ranks->bytes;
  TRS_TRY(s->set.algorithm == TRS_GRID3D ? run_grid3d(s) : run_baseline(s));
  s->times.total_s += trs_seconds() - begin;
  s->times.messages += s->ranks->messages - before;
  s->times.bytes += s->ranks->bytes - bytes_before;
  return collect(s, x, ldx);
}

trs_status trs_grid_solver_solve(trs_grid_solver *s, void *x, int64_t ldx, const void *b,
                                 int64_t ldb, int64_t nrhs) {
  int64_t size = (int64_t)trs_scalar_size(s->part.scalar), most = at_once(s);
  int threads = trs_blas_single();
  trs_status status = TRS_SUCCESS;
  s->times = (trs_grid_times){0};
  for (int64_t c = 0; c < nrhs && !status; c += most)
    status = solve_some(s, x ? (char *)x + c * ldx * size : NULL, ldx,
                        b ? (const char *)b + c * ldb * size : NULL, ldb,
                        nrhs - c < most ? nrhs - c : most);
  trs_blas_restore(threads);
  return status;
}
