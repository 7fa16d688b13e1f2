/* grid3d.c - the plan of a distributed solve, and its solves. */
#include "solve/grid3d/grid3d.h"

#include <string.h>

#include "base/checksum.h"
#include "base/config.h"
#include "base/counter.h"
#include "base/timer.h"

/* ---- Schemes. ---- */

/* Of a scheme without roles: all supernodes of this grid. */
static trs_roles all_roles(void) {
  trs_roles role = {{0}, {0}};
  memset(role.here, TRS_ROLE_ALL, sizeof role.here);
  return role;
}

trs_roles trs_grid_scheme_roles(const trs_grid_scheme *scheme, int z, bool upper, int phase) {
  return scheme->roles ? scheme->roles(z, upper, phase) : all_roles();
}

static trs_status run_grid3d(trs_grid_solver *s) {
  TRS_TRY(trs_grid_solver_sweep(s, TRS_L, 0));
  TRS_TRY(trs_sparse_allreduce(s->shared, &s->part, s->ranks, s->buffer, &s->times.exchange[0]));
  trs_grid_solver_turn(s);
  return trs_grid_solver_sweep(s, TRS_U, 0);
}

static const trs_grid_scheme grid3d = {.run = run_grid3d};

const trs_grid_scheme *trs_grid_scheme_of(trs_grid_algorithm algorithm) {
  static const trs_grid_scheme *const schemes[] = {
    [TRS_GRID3D] = &grid3d,
#if TRS_HAVE_PAPERS
    [TRS_GRID3D_ALGORITHM_2] = &trs_l23_algorithm_2,
    [TRS_GRID3D_BASELINE] = &trs_l23_baseline,
    [TRS_GRID3D_NO_LOOKAHEAD] = &trs_l23_no_lookahead,
#endif
  };
  return (size_t)algorithm < sizeof schemes / sizeof *schemes ? schemes[algorithm] : NULL;
}

static const trs_grid_scheme *scheme(const trs_grid_solver *s) {
  return trs_grid_scheme_of(s->set.algorithm);
}

static trs_status check_scheme(const trs_grid_solver *s) {
  if (!scheme(s))
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "this algorithm repeats a paper, and this build leaves papers out: build with "
                    "-DTRIREME_WITH_PAPERS=ON, or take grid3d");
  return TRS_SUCCESS;
}

/* ---- Setting up. ---- */

static void choose_shape(trs_grid_solver *s, const trs_grid_input *in) {
  trs_grid_shape *p = &s->set.shape;
  if (p->x || p->y || p->z) return;
  *p = s->set.plans.context ? (trs_grid_shape){1, 1, s->ranks->size}
                            : trs_grid_shape_for(s->ranks->size, in->leaves, s->set.one_grid);
}

static trs_status check_shape(const trs_grid_solver *s) {
  trs_grid_shape p = s->set.shape;
  if (p.x < 1 || p.y < 1 || p.z < 1)
    return trs_fail(TRS_ERROR_ARGUMENT, -1,
                    "a grid of px x py x pz = %d x %d x %d: set all three to at least 1, or all to "
                    "0 for a shape that the library chooses",
                    p.x, p.y, p.z);
  if ((int64_t)p.x * p.y * p.z != s->ranks->size)
    return trs_fail(
        TRS_ERROR_ARGUMENT, -1,
        "a grid of %d x %d x %d has %lld ranks, but there are %d: start as many (mpirun -np)", p.x,
        p.y, p.z, (long long)p.x * p.y * p.z, s->ranks->size);
  return TRS_SUCCESS;
}

/* Between L and U the solution of L crosses; before a level of U, the solution of U. */
static trs_status list_crossing(trs_grid_solver *s) {
  int levels = s->layout.levels, without = scheme(s)->by_levels ? TRS_HALF_ABOVE : TRS_HALF_BELOW;
  TRS_TRY(trs_alloc_zero((void **)&s->shared, levels, sizeof *s->shared));
  TRS_TRY(trs_alloc_zero((void **)&s->sums, levels, sizeof *s->sums));
  for (int k = 0; k < levels; k++)
    TRS_TRY(trs_list_shared(&s->shared[k], &s->part, k + 1, without));
  return scheme(s)->list_sums ? scheme(s)->list_sums(s) : TRS_SUCCESS;
}

static trs_status make_phase(trs_grid_solver *s, bool upper, int phase) {
  trs_roles role = trs_grid_scheme_roles(scheme(s), s->part.z, upper, phase);
  return trs_sweep_create(&s->phase[upper][phase], &s->part, upper, &role, s->set.trees);
}

trs_status trs_grid_solver_plan(trs_grid_solver *s) {
  s->nphases = scheme(s)->phases ? scheme(s)->phases(s->layout.levels) : 1;
  int64_t sends = 0;
  for (int upper = 0; upper < 2; upper++) {
    TRS_TRY(trs_alloc_zero((void **)&s->phase[upper], s->nphases, sizeof **s->phase));
    for (int h = 0; h < s->nphases; h++) {
      TRS_TRY(make_phase(s, upper, h));
      const trs_sweep *sweep = &s->phase[upper][h];
      if (sweep->sends > sends) sends = sweep->sends;
      if (sweep->child_columns > s->part.child_columns)
        s->part.child_columns = sweep->child_columns;
    }
  }
  TRS_TRY(list_crossing(s));
  return trs_ranks_reserve(s->ranks, sends + s->ranks->size);
}

/* The arrays of maps; of those of the solver they are its own. */
enum { NMAPS = 4 };

static void list_maps(const trs_grid_maps *maps, const void *list[NMAPS]) {
  const void *const of[NMAPS] = {maps->row_perm, maps->col_perm, maps->row_scale, maps->col_scale};
  memcpy(list, of, sizeof of);
}

static size_t size_of_map(int k) { return k < 2 ? sizeof(int32_t) : sizeof(double); }

static trs_status allocate_maps(void *copy[NMAPS], const int8_t *given, int64_t n) {
  for (int k = 0; k < NMAPS; k++)
    if (given[k]) TRS_TRY(trs_alloc(&copy[k], n, size_of_map(k)));
  return TRS_SUCCESS;
}

/* Collective.  Copies the input's maps, or where they count rank 0's. */
static trs_status copy_maps(trs_grid_solver *s, const trs_grid_input *in) {
  const void *of[NMAPS];
  void *copy[NMAPS] = {NULL};
  int8_t given[NMAPS];
  list_maps(&in->maps, of);
  for (int k = 0; k < NMAPS; k++) given[k] = of[k] != NULL;
  if (in->first_maps) TRS_TRY(trs_ranks_broadcast(s->ranks, given, sizeof given));
  trs_status status = allocate_maps(copy, given, in->n);
  s->maps = (trs_grid_maps){copy[0], copy[1], copy[2], copy[3]};
  TRS_TRY(trs_ranks_agree(s->ranks, status));
  for (int k = 0; k < NMAPS; k++) {
    const int64_t bytes = in->n * (int64_t)size_of_map(k);
    if (!given[k]) continue;
    if (!in->first_maps || !s->ranks->rank) memcpy(copy[k], of[k], (size_t)bytes);
    if (in->first_maps) TRS_TRY(trs_ranks_broadcast(s->ranks, copy[k], bytes));
  }
  return TRS_SUCCESS;
}

/* The current layout, and the runs to invert. */
typedef struct base {
  trs_grid_layout layout;
  trs_grid_run *runs;
  int64_t nruns;
  int8_t *refused; /* nruns */
} base;

static void release(base *b) {
  trs_grid_layout_destroy(&b->layout);
  TRS_FREE_ALL(b->runs, b->refused);
}

/* All grids that solve the same ancestor must produce the same bits: all ranks use the highest
 * level of instructions that every rank has. */
static trs_status agree_on_isa(trs_grid_solver *s) {
  int8_t lacks[TRS_ISA_LEVELS];
  for (int isa = 0; isa < TRS_ISA_LEVELS; isa++) lacks[isa] = isa > (int)trs_isa_now();
  TRS_TRY(trs_ranks_reduce(s->ranks, lacks, TRS_ISA_LEVELS, 1, trs_join_flags));
  for (int isa = 0; isa < TRS_ISA_LEVELS && !lacks[isa]; isa++) s->isa = (trs_isa)isa;
  return TRS_SUCCESS;
}

static trs_status begin(trs_grid_solver *s, const trs_grid_input *in, base *b) {
  choose_shape(s, in);
  trs_status status = check_scheme(s);
  if (!status) status = check_shape(s);
  if (!status) status = trs_isa_check();
  s->set.supernodes.places = s->set.shape.x * s->set.shape.y;
  TRS_TRY(trs_ranks_agree(s->ranks, status));
  TRS_TRY(copy_maps(s, in));
  TRS_TRY(agree_on_isa(s));
  TRS_TRY(in->layout(in, s->ranks, &b->layout, s->set.shape.z, &s->set.supernodes));
  TRS_TRY(trs_forest_runs(&b->layout, s->set.supernodes.invert, &b->runs, &b->nruns));
  s->runs = b->nruns;
  return TRS_ALLOC(&b->refused, b->nruns);
}

static trs_status lay_out(trs_grid_solver *s, const trs_grid_input *in, base *b, trs_filler *f) {
  trs_fill_abandon(f);
  trs_part_destroy(&s->part);
  trs_grid_layout_destroy(&s->layout);
  if (b->nruns)
    TRS_TRY(trs_grid_layout_invert(&s->layout, &b->layout, b->runs, b->nruns));
  else {
    s->layout = b->layout;
    b->layout = (trs_grid_layout){0};
  }
  TRS_TRY(trs_part_create(&s->part, &s->layout, in->scalar, s->isa, s->set.shape, s->ranks->rank));
  return trs_fill_begin(f, &s->part);
}

static uint32_t check_maps(uint32_t crc, const trs_grid_maps *maps, int64_t n) {
  const void *of[NMAPS];
  list_maps(maps, of);
  for (int k = 0; k < NMAPS; k++) crc = trs_crc32_array(crc, of[k], n * (int64_t)size_of_map(k));
  return crc;
}

/* Ranks with different factors would wait for messages that never come. */
static trs_status check_same(const trs_grid_solver *s, const bool unit[2]) {
  const trs_grid_layout *l = &s->layout;
  uint32_t crc = trs_crc32(0, l->first, (l->count + 1) * (int64_t)sizeof *l->first);
  for (int upper = 0; upper < 2; upper++)
    crc = trs_crc32(crc, l->lists[upper].idx,
                    l->lists[upper].ptr[l->count] * (int64_t)sizeof *l->lists[upper].idx);
  crc = trs_crc32(crc, l->lo, l->count * (int64_t)sizeof *l->lo);
  crc = check_maps(crc, &s->maps, l->n);
  const trs_grid_shape *p = &s->set.shape;
  const int64_t own[] = {l->n, crc, s->part.scalar, unit[0], unit[1], p->x, p->y, p->z};
  trs_status status = TRS_SUCCESS;
  bool same;
  TRS_TRY(trs_ranks_compare(s->ranks, own, sizeof own, &same));
  if (!same)
    status = trs_fail(TRS_ERROR_ARGUMENT, -1,
                      "its factors are others than those of rank 0: another pattern, separator "
                      "tree, permutation, scaling, kind of diagonal or element type");
  return trs_ranks_agree(s->ranks, status);
}

/* Removes the refused runs from the list.  True if any was refused. */
static bool drop_refused(base *b) {
  int64_t kept = 0, had = b->nruns;
  for (int64_t r = 0; r < had; r++)
    if (!b->refused[r]) b->runs[kept++] = b->runs[r];
  b->nruns = kept;
  return kept < had;
}

/* Builds the layout and fills it.  If runs are refused, both happen again without them, because
 * their blocks then belong to other ranks.  All ranks agree on the status of each local step before
 * the next collective step. */
static trs_status fill_part(trs_grid_solver *s, const trs_grid_input *in, base *b, trs_filler *f) {
  for (bool again = true; again;) {
    TRS_TRY(trs_ranks_agree(s->ranks, lay_out(s, in, b, f)));
    TRS_TRY(check_same(s, in->unit));
    TRS_TRY(trs_ranks_agree(s->ranks, trs_input_fill(in, f, s->ranks)));
    if (!b->nruns) return TRS_SUCCESS;
    memset(b->refused, 0, (size_t)b->nruns);
    TRS_TRY(trs_ranks_agree(s->ranks,
                            trs_fill_invert(f, s->ranks, in->unit, s->maps.row_perm, b->refused)));
    TRS_TRY(trs_ranks_reduce(s->ranks, b->refused, b->nruns, 1, trs_join_flags));
    again = drop_refused(b);
  }
  return TRS_SUCCESS;
}

static trs_status make_plans(trs_grid_solver *s, const trs_grid_input *in, trs_filler *f) {
  const trs_sweep *const sweep[2] = {s->phase[0], s->phase[1]};
  s->set.plans.trees = s->set.trees;
  return trs_grid_plans_create(f, in->unit, s->maps.row_perm, sweep, &s->set.plans);
}

static trs_status set_up(trs_grid_solver *s, const trs_grid_input *in, trs_filler *f) {
  base b = {0};
  trs_status status = trs_ranks_agree(s->ranks, begin(s, in, &b));
  if (!status) status = fill_part(s, in, &b, f);
  for (int64_t r = 0; r < b.nruns && !status; r++)
    s->run_numbers += trs_run_numbers(&b.layout, &b.runs[r]);
  release(&b);
  TRS_TRY(status);
  status = trs_grid_solver_plan(s);
  if (!status)
    status =
        s->set.plans.context ? make_plans(s, in, f) : trs_fill_end(f, in->unit, s->maps.row_perm);
  if (!status) status = trs_ranks_reserve(s->ranks, s->ranks->size);
  TRS_TRY(trs_ranks_agree(s->ranks, status));
  if (in->distributed) return trs_grid_solver_distribute(s, in->first_row, in->rows);
  return trs_grid_solver_distribute(s, 0, s->ranks->rank ? 0 : s->layout.n);
}

trs_status trs_grid_solver_create(trs_grid_solver *solver, trs_ranks *ranks,
                                  const trs_grid_input *input, const trs_grid_options *options) {
  trs_filler f = {0};
  *solver = (trs_grid_solver){
      .ranks = ranks, .set = *options, .phases_run = (uint32_t)trs_counters_begin};
  trs_status status = set_up(solver, input, &f);
  trs_fill_abandon(&f);
  if (status) trs_grid_solver_destroy(solver);
  return status;
}

trs_status trs_grid_solver_distribute(trs_grid_solver *s, int64_t first, int64_t rows) {
  trs_row_moves moves;
  TRS_TRY(trs_row_moves_create(&moves, &s->part, &s->maps, s->ranks, first, rows));
  trs_row_moves_destroy(&s->moves);
  s->moves = moves;
  s->room = 0;
  return TRS_SUCCESS;
}

/* Other ranks must release the shared memory before it is freed. */
static void part_ways(trs_grid_solver *s) {
  if (s->met) s->part.solver->leave(&s->part, s->ranks);
  s->met = false;
}

void trs_grid_solver_destroy(trs_grid_solver *s) {
  part_ways(s);
  for (int upper = 0; upper < 2; upper++) {
    for (int h = 0; s->phase[upper] && h < s->nphases; h++) trs_sweep_destroy(&s->phase[upper][h]);
    trs_free(s->phase[upper]);
  }
  for (int k = 0; k < s->layout.levels; k++) {
    if (s->shared) trs_slot_list_free(&s->shared[k]);
    if (s->sums) trs_slot_list_free(&s->sums[k]);
  }
  TRS_FREE_ALL(s->shared, s->sums, s->buffer);
  trs_row_moves_destroy(&s->moves);
  TRS_FREE_ALL((void *)s->maps.row_perm, (void *)s->maps.col_perm, (void *)s->maps.row_scale,
               (void *)s->maps.col_scale);
  trs_part_destroy(&s->part);
  trs_grid_layout_destroy(&s->layout);
  *s = (trs_grid_solver){0};
}

/* ---- Right-hand sides and solutions. ---- */

int64_t trs_grid_buffer_bytes(const trs_grid_solver *s) {
  int64_t most = 0;
  for (int k = 0; k < s->layout.levels; k++) {
    int64_t shared = 2 * trs_slots_bytes(&s->shared[k], &s->part);
    int64_t sums = trs_slots_bytes(&s->sums[k], &s->part);
    most = shared > most ? shared : most;
    most = sums > most ? sums : most;
  }
  return most;
}

static trs_status reserve(trs_grid_solver *s, int64_t nrhs) {
  TRS_TRY(trs_part_reserve(&s->part, nrhs));
  TRS_TRY(trs_row_moves_reserve(&s->moves, &s->part, s->ranks));
  int64_t bytes = trs_grid_buffer_bytes(s);
  if (s->part.largest > s->ranks->chunk)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1, "a message of %lld bytes is too long",
                    (long long)s->part.largest);
  if (bytes <= s->buffer_bytes) return TRS_SUCCESS;
  trs_free(s->buffer);
  s->buffer = NULL;
  s->buffer_bytes = 0;
  TRS_TRY(trs_alloc(&s->buffer, bytes, 1));
  s->buffer_bytes = bytes;
  return TRS_SUCCESS;
}

/* The L-solve's x becomes the U-solve's right-hand side, on all grids or on the grid that solved
 * it.  For this rank's own supernodes it is already in place. */
void trs_grid_solver_turn(trs_grid_solver *s) {
  const trs_grid_layout *l = &s->layout;
  const trs_rank_part *p = &s->part;
  bool all = !scheme(s)->by_levels;
  if (p->solver) return; /* the solver holds them elsewhere */
  memset(p->base + p->row_bytes, 0, (size_t)(p->sum_bytes - p->row_bytes));
  for (int64_t i = 0; i < p->nslots; i++) {
    int64_t K = p->slot[i];
    if (trs_half(l, K) != TRS_HALF_BELOW && trs_has_diagonal(p, K) && (all || l->lo[K] == p->z))
      memcpy(trs_slot_sum(p, i), trs_slot_x(p, i), (size_t)trs_slot_bytes(p, K));
  }
}

/* ---- Sweeps. ---- */

/* Each sweep gets a tag that is not reused for a long time, so that messages of a rank that is
 * ahead are not mistaken for those of this sweep.  A periodic barrier keeps all ranks within half
 * of the tags. */
static trs_status next_tag(trs_grid_solver *s, int *tag) {
  enum { TAGS = 1024 };
  if (s->phases_run % (TAGS / 2) == 0) TRS_TRY(trs_ranks_barrier(s->ranks));
  *tag = TRS_TAG_FREE + (int)(s->phases_run++ % TAGS);
  return TRS_SUCCESS;
}

trs_status trs_grid_solver_sweep(trs_grid_solver *s, bool upper, int phase) {
  int tag;
  TRS_TRY(next_tag(s, &tag));
  for (int r = 0; s->set.in_turn && r < s->ranks->size; r++) {
    TRS_TRY(trs_ranks_barrier(s->ranks));
    if (r != s->ranks->rank) continue;
    s->part.solver->rehearse(&s->part, upper);
    TRS_TRY(
        trs_sweep_run(&s->phase[upper][phase], &s->part, s->ranks, tag, &s->times.sweep[upper]));
  }
  if (s->set.in_turn) return TRS_SUCCESS;
  return trs_sweep_run(&s->phase[upper][phase], &s->part, s->ranks, tag, &s->times.sweep[upper]);
}

trs_status trs_grid_solver_run(trs_grid_solver *s) {
  double begin = trs_seconds();
  TRS_TRY(scheme(s)->run(s));
  s->times.total_s += trs_seconds() - begin;
  return TRS_SUCCESS;
}

/* Number of right-hand sides per pass: their messages stay within the transport's limit. */
static int64_t at_once(const trs_grid_solver *s) {
  int64_t width = s->layout.widest > 0 ? s->layout.widest : 1;
  int64_t fit =
      (s->ranks->chunk - TRS_HEAD_BYTES) / (width * (int64_t)trs_scalar_size(s->part.scalar));
  return fit < s->set.nrhs ? (fit > 0 ? fit : 1) : s->set.nrhs;
}

/* All ranks agree whether memory suffices: if the allocation fails on one rank, no rank has it. */
static trs_status agree_on_room(trs_grid_solver *s, int64_t nrhs) {
  if (nrhs <= s->room) return TRS_SUCCESS;
  trs_local_solver *solver = nrhs > s->part.room ? s->part.solver : NULL;
  if (solver) part_ways(s);
  trs_status status = trs_ranks_agree(s->ranks, reserve(s, nrhs));
  if (!status && solver) status = solver->meet(&s->part, s->ranks);
  if (solver) s->met = !status;
  s->room = status ? 0 : nrhs;
  if (status) trs_part_give_back(&s->part);
  return status;
}

/* A failure of one rank's sweep is reported to all ranks after both sweeps, so that no rank waits
 * for it in between. */
static trs_status run_by_plans(trs_grid_solver *s) {
  trs_rank_part *part = &s->part;
  double begin = trs_seconds();
  part->solver->take(part);
  s->times.transfer_s += trs_seconds() - begin;
  TRS_TRY(trs_grid_solver_run(s));
  begin = trs_seconds();
  trs_status status = part->solver->give(part);
  s->times.transfer_s += trs_seconds() - begin;
  return trs_ranks_agree(s->ranks, status);
}

static trs_status solve_some(trs_grid_solver *s, const trs_rhs *rhs) {
  TRS_TRY(reserve(s, rhs->nrhs)); /* in the memory that is allocated */
  memset(s->part.base, 0, (size_t)s->part.sum_bytes);
  TRS_TRY(trs_row_moves_take(&s->moves, &s->part, &s->maps, s->ranks, rhs));
  TRS_TRY(s->part.solver ? run_by_plans(s) : trs_grid_solver_run(s));
  return trs_row_moves_put(&s->moves, &s->part, &s->maps, s->ranks, rhs);
}

/* All ranks have the same nrhs. */
trs_status trs_grid_solver_solve(trs_grid_solver *s, const trs_rhs *rhs) {
  const int64_t most = at_once(s);
  trs_status status = agree_on_room(s, rhs->nrhs < most ? rhs->nrhs : most);
  s->times = (trs_grid_times){.nrhs = rhs->nrhs};
  for (int64_t c = 0; c < rhs->nrhs && !status; c += most) {
    const trs_rhs some = trs_rhs_columns(rhs, s->part.scalar, c, most);
    status = solve_some(s, &some);
  }
  return status;
}
