/* mpi.c - trireme_mpi.h. */
#include "trireme_mpi.h"

#include <string.h>

#include "comm/ranks_mpi.h"
#include "solve/grid3d/grid3d.h"

enum { DEFAULT_WIDTH = 128, DEFAULT_RELAX = 20, NRHS_AT_ONCE = 256 };

struct trs_mpi_plan {
  trs_ranks ranks;
  trs_grid_solver solver;
  const char *method;
};

static const char *const methods[] = {"grid3d", "grid3d-baseline", "grid2d"};
enum { GRID3D, BASELINE, GRID2D, NMETHODS };

/* ---- Options. ---- */

/* Grids as long as the tree has leaves and each keeps a few ranks; the rest as square as can be. */
static trs_grid_shape choose_shape(int size, const trs_factors *F, bool flat) {
  trs_grid_shape p = {1, 1, 1};
  int64_t leaves = (F->tree_nodes + 1) / 2;
  while (!flat && size % (2 * p.z) == 0 && 2 * p.z <= leaves && (int64_t)p.z * p.z * 4 <= 2 * size)
    p.z *= 2;
  int left = size / p.z;
  for (int x = 1; (int64_t)x * x <= left; x++)
    if (left % x == 0) p.x = x;
  p.y = left / p.x;
  return p;
}

static trs_status take_options(trs_grid_options *set, const char **method, const trs_ranks *ranks,
                               const trs_factors *F, const trs_mpi_options *options) {
  trs_mpi_options none = {0};
  int which = GRID3D;
  if (!options) options = &none;
  if (options->method)
    for (which = 0; which < NMETHODS && strcmp(methods[which], options->method) != 0;) which++;
  if (which == NMETHODS)
    return trs_fail(TRS_ERROR_ARGUMENT, -1,
                    "there is no method \"%s\" for ranks: grid3d, grid3d-baseline or grid2d",
                    options->method);
  if (which == GRID2D && options->pz > 1)
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "grid2d has one grid, not Pz = %d", options->pz);
  *method = methods[which];
  bool chosen = !options->px && !options->py && !options->pz;
  *set = (trs_grid_options){
      .algorithm = which == BASELINE ? TRS_GRID3D_BASELINE : TRS_GRID3D,
      .trees = options->flat_trees ? TRS_TREE_FLAT : TRS_TREE_BINARY,
      .shape = {options->px, options->py, options->pz},
      .supernodes = {.width = options->width > 0 ? options->width : DEFAULT_WIDTH,
                     .relax = options->relax < 0   ? 0
                              : options->relax > 0 ? options->relax
                                                   : DEFAULT_RELAX},
      .nrhs = NRHS_AT_ONCE};
  if (chosen) set->shape = choose_shape(ranks->size, F, which == GRID2D);
  return TRS_SUCCESS;
}

/* ---- The calls. ---- */

static trs_status analyze(trs_mpi_plan *plan, const trs_factors *F,
                          const trs_mpi_options *options) {
  trs_grid_options set;
  trs_status status = F ? take_options(&set, &plan->method, &plan->ranks, F, options)
                        : trs_fail(TRS_ERROR_ARGUMENT, -1, "factors are NULL");
  if (!status && (F->L->on_device || F->U->on_device))
    status = trs_fail(TRS_ERROR_UNSUPPORTED, -1, "factors in device memory");
  TRS_TRY(trs_ranks_agree(&plan->ranks, status));
  return trs_grid_solver_create(&plan->solver, &plan->ranks, F, &set);
}

trs_status trs_mpi_analyze(MPI_Comm comm, trs_mpi_plan **plan, const trs_factors *F,
                           const trs_mpi_options *options) {
  trs_ranks ranks;
  trs_mpi_plan *made = NULL;
  *plan = NULL;
  trs_status status = trs_ranks_open_mpi(&ranks, comm);
  if (!status) status = trs_ranks_agree(&ranks, TRS_ALLOC_ZERO(&made, 1));
  if (status) {
    trs_ranks_close(&ranks);
    trs_free(made);
    return status;
  }
  made->ranks = ranks;
  status = analyze(made, F, options);
  if (status)
    trs_mpi_plan_destroy(made);
  else
    *plan = made;
  return status;
}

static trs_status check_arrays(const trs_mpi_plan *plan, const void *x, int64_t ldx, const void *b,
                               int64_t ldb, int64_t nrhs) {
  int64_t n = plan->solver.layout.n;
  if (nrhs < 0) return trs_fail(TRS_ERROR_ARGUMENT, -1, "nrhs = %lld", (long long)nrhs);
  if (plan->ranks.rank || nrhs == 0 || n == 0) return TRS_SUCCESS;
  if (!x || !b) return trs_fail(TRS_ERROR_ARGUMENT, -1, "x or b is NULL on rank 0");
  if (ldx < n || ldb < n)
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "ldx = %lld and ldb = %lld must be at least n = %lld",
                    (long long)ldx, (long long)ldb, (long long)n);
  return TRS_SUCCESS;
}

trs_status trs_mpi_solve(trs_mpi_plan *plan, void *x, int64_t ldx, const void *b, int64_t ldb,
                         int64_t nrhs) {
  TRS_TRY(trs_ranks_agree(&plan->ranks, check_arrays(plan, x, ldx, b, ldb, nrhs)));
  return trs_grid_solver_solve(&plan->solver, x, ldx, b, ldb, nrhs);
}

void trs_mpi_plan_destroy(trs_mpi_plan *plan) {
  if (!plan) return;
  trs_grid_solver_destroy(&plan->solver);
  trs_ranks_close(&plan->ranks);
  trs_free(plan);
}

trs_status trs_mpi_agree(MPI_Comm comm, trs_status status) {
  trs_ranks ranks;
  trs_failure own = {0};
  if (status) trs_failure_get(&own);
  trs_status opened = trs_ranks_open_mpi(&ranks, comm);
  if (opened) return opened;
  if (status) trs_failure_set(&own);
  status = trs_ranks_agree(&ranks, status);
  trs_ranks_close(&ranks);
  return status;
}

/* ---- Figures over the ranks. ---- */

enum { NFIGURES = 14 };

typedef struct figures {
  double min[NFIGURES], max[NFIGURES], sum[NFIGURES];
} figures;

static void own_figures(const trs_grid_solver *s, double *v) {
  const trs_grid_times *t = &s->times;
  double messages = (double)(t->exchange[0].messages + t->exchange[1].messages);
  double bytes = (double)(t->exchange[0].bytes + t->exchange[1].bytes);
  double own[NFIGURES] = {t->total_s,
                          t->exchange[0].seconds,
                          t->exchange[1].seconds,
                          t->sweep[0].intra_s,
                          t->sweep[1].intra_s,
                          t->sweep[0].flop_s,
                          t->sweep[1].flop_s,
                          t->sweep[0].flops + t->sweep[1].flops,
                          messages,
                          bytes,
                          (double)t->messages - messages,
                          (double)t->bytes - bytes,
                          (double)(s->part.side[0].nvalues + s->part.side[1].nvalues) *
                              (double)trs_scalar_size(s->part.scalar),
                          0};
  memcpy(v, own, sizeof own);
}

static void merge(figures *f, const figures *other) {
  for (int i = 0; i < NFIGURES; i++) {
    if (other->min[i] < f->min[i]) f->min[i] = other->min[i];
    if (other->max[i] > f->max[i]) f->max[i] = other->max[i];
    f->sum[i] += other->sum[i];
  }
}

/* To rank 0 and back, along a tree. */
static trs_status reduce(trs_ranks *ranks, figures *f) {
  trs_tree_place at = trs_tree_at(TRS_TREE_BINARY, ranks->rank, ranks->size);
  figures other;
  for (int c = 0; c < at.nchildren; c++) {
    TRS_TRY(trs_ranks_receive(ranks, at.first_child + c, TRS_TAG_MOVE, &other, sizeof other));
    merge(f, &other);
  }
  if (at.parent >= 0) {
    TRS_TRY(trs_ranks_send(ranks, at.parent, TRS_TAG_MOVE, f, sizeof *f));
    TRS_TRY(trs_ranks_finish(ranks));
    TRS_TRY(trs_ranks_receive(ranks, at.parent, TRS_TAG_MOVE, f, sizeof *f));
  }
  for (int c = 0; c < at.nchildren; c++)
    TRS_TRY(trs_ranks_send(ranks, at.first_child + c, TRS_TAG_MOVE, f, sizeof *f));
  return trs_ranks_finish(ranks);
}

static trs_mpi_spread leaf_spread(const trs_grid_layout *l) {
  trs_mpi_spread s = {.min = (double)l->leaf[0]};
  for (int z = 0; z < l->pz; z++) {
    double entries = (double)l->leaf[z];
    if (entries < s.min) s.min = entries;
    if (entries > s.max) s.max = entries;
    s.mean += entries / l->pz;
  }
  return s;
}

trs_status trs_mpi_get_stats(trs_mpi_plan *plan, trs_mpi_stats *stats) {
  const trs_grid_solver *s = &plan->solver;
  figures f;
  own_figures(s, f.sum);
  memcpy(f.min, f.sum, sizeof f.min);
  memcpy(f.max, f.sum, sizeof f.max);
  TRS_TRY(reduce(&plan->ranks, &f));
  *stats = (trs_mpi_stats){.method = plan->method,
                           .px = s->set.shape.x,
                           .py = s->set.shape.y,
                           .pz = s->set.shape.z,
                           .supernodes = s->layout.count,
                           .leaf_entries = leaf_spread(&s->layout)};
  trs_mpi_spread *to[NFIGURES] = {&stats->solve_s,        &stats->inter_s[0],
                                  &stats->inter_s[1],     &stats->intra_s[0],
                                  &stats->intra_s[1],     &stats->flop_s[0],
                                  &stats->flop_s[1],      &stats->flops,
                                  &stats->inter_messages, &stats->inter_bytes,
                                  &stats->intra_messages, &stats->intra_bytes,
                                  &stats->bytes,          NULL};
  for (int i = 0; i < NFIGURES && to[i]; i++)
    *to[i] = (trs_mpi_spread){f.min[i], f.sum[i] / plan->ranks.size, f.max[i]};
  double once = (double)(s->layout.panels[0].nvalues + s->layout.panels[1].nvalues) *
                (double)trs_scalar_size(s->part.scalar);
  stats->replicated = once > 0 ? stats->bytes.mean * plan->ranks.size / once : 1;
  return TRS_SUCCESS;
}
