/* stats.c - statistics of a distributed solve: each rank's figures, their smallest, mean and
 * largest, and the totals that a single copy of the factors would need. */
#include "solve/grid3d/grid3d.h"

#include <math.h>
#include <string.h>

enum { NFIGURES_A_SWEEP = 10, NFIGURES_BEFORE = 5 };
enum { NFIGURES = NFIGURES_BEFORE + 2 * NFIGURES_A_SWEEP };
enum { PANELS = 2, SOLVED = 4, FLOPS = NFIGURES_BEFORE + 7 }; /* the numbers of some figures */

typedef struct figures {
  double min[NFIGURES], max[NFIGURES], sum[NFIGURES];
} figures;

/* Diagonal triangles solved by substitution, of supernodes whose first grid is this one. */
static int64_t count_solved(const trs_rank_part *p) {
  int64_t count = 0;
  for (int upper = 0; upper < 2; upper++) {
    const trs_local_side *side = &p->side[upper];
    for (int64_t i = 0; i < p->nlocal; i++)
      count += side->node[i].solved && p->layout->lo[p->local[i]] == p->z;
    for (int64_t i = 0; i < p->nslots; i++)
      count += side->solved[i] && p->layout->lo[p->slot[i]] == p->z;
  }
  return count;
}

static void own_figures(const trs_grid_solver *s, double *v) {
  const trs_grid_times *t = &s->times;
  double panels = (double)(s->part.side[0].nvalues + s->part.side[1].nvalues) *
                  (double)trs_scalar_size(s->part.scalar);
  *v++ = t->total_s;
  *v++ = t->transfer_s;
  *v++ = panels;
  *v++ = s->part.solver ? (double)s->part.solver->bytes : panels;
  *v++ = (double)count_solved(&s->part);
  for (int k = 0; k < 2; k++) {
    *v++ = t->exchange[k].seconds;
    *v++ = (double)t->exchange[k].messages;
    *v++ = (double)t->exchange[k].bytes;
    *v++ = t->sweep[k].intra_s;
    *v++ = (double)t->sweep[k].messages;
    *v++ = (double)t->sweep[k].bytes;
    *v++ = t->sweep[k].flop_s;
    *v++ = t->sweep[k].flops;
    *v = 0;
    for (int h = 0; h < s->nphases; h++) *v += (double)s->phase[k][h].tree_steps;
    *++v = 0;
    for (int h = 0; h < s->nphases; h++)
      if (s->phase[k][h].tree_sends > *v) *v = s->phase[k][h].tree_sends;
    v++;
  }
}

/* The value of figure i that is asked for. */
static double value_of(const figures *f, int i, trs_mpi_over over, int ranks) {
  return over == TRS_MPI_MIN ? f->min[i] : over == TRS_MPI_MAX ? f->max[i] : f->sum[i] / ranks;
}

/* f and the statistics have the same order. */
static void set_figures(trs_mpi_stats *stats, const figures *f, trs_mpi_over over, int ranks) {
  double unused,
      *to[NFIGURES] = {&stats->solve_s, &stats->transfer_s, &unused, &stats->bytes, &unused};
  for (int k = 0; k < 2; k++) {
    double *of[] = {&stats->inter_s[k],   &stats->inter_messages[k], &stats->inter_bytes[k],
                    &stats->intra_s[k],   &stats->intra_messages[k], &stats->intra_bytes[k],
                    &stats->flop_s[k],    &stats->flops[k],          &stats->message_bound[k],
                    &stats->tree_sends[k]};
    memcpy(to + NFIGURES_BEFORE + NFIGURES_A_SWEEP * k, of, sizeof of);
  }
  for (int i = 0; i < NFIGURES; i++) *to[i] = value_of(f, i, over, ranks);
}

static void merge(void *mine, const void *others, int64_t count, const void *what) {
  figures *f = mine;
  const figures *other = others;
  (void)count; /* always one */
  (void)what;
  for (int i = 0; i < NFIGURES; i++) {
    if (other->min[i] < f->min[i]) f->min[i] = other->min[i];
    if (other->max[i] > f->max[i]) f->max[i] = other->max[i];
    f->sum[i] += other->sum[i];
  }
}

static double leaf_entries(const trs_grid_layout *l, trs_mpi_over over) {
  double least = (double)l->leaf[0], most = 0, sum = 0;
  for (int z = 0; z < l->pz; z++) {
    double entries = (double)l->leaf[z];
    if (entries < least) least = entries;
    if (entries > most) most = entries;
    sum += entries;
  }
  return over == TRS_MPI_MIN ? least : over == TRS_MPI_MAX ? most : sum / l->pz;
}

/* Bytes of all supernodes' panels and triangles. */
static double values_once(const trs_grid_solver *s) {
  const trs_grid_layout *l = &s->layout;
  int64_t tile = trs_tile_rows(s->part.scalar), numbers = 0;
  for (int64_t K = 0; K < l->count; K++) {
    if (!trs_half(l, K)) numbers += 2 * trs_triangle_values(trs_width(l, K), tile);
    for (int upper = 0; upper < 2; upper++)
      numbers += trs_width(l, K) * (l->lists[upper].ptr[K + 1] - l->lists[upper].ptr[K]);
  }
  return (double)numbers * (double)trs_scalar_size(s->part.scalar);
}

/* Bytes that the inverses need beyond the triangles they replace, on one grid. */
static double inverted_bytes(const trs_grid_solver *s) {
  const trs_grid_layout *l = &s->layout;
  double numbers = 0;
  for (int64_t r = 0; r < l->nruns; r++)
    for (int64_t K = l->run[r].from; K < l->run[r].to; K++)
      numbers += 2 * (double)(trs_width(l, K) * (l->first[l->run[r].to] - l->first[K]));
  return (numbers - s->run_numbers) * (double)trs_scalar_size(s->part.scalar);
}

/* Multiplications and additions of a solve on one rank: two per number of a panel; the two
 * triangles of a supernode are multiplied as one square. */
static double flops_once(const trs_grid_solver *s) {
  const trs_grid_layout *l = &s->layout;
  double flops = 0;
  for (int64_t K = 0; K < l->count; K++) {
    int64_t length =
        l->lists[0].ptr[K + 1] - l->lists[0].ptr[K] + l->lists[1].ptr[K + 1] - l->lists[1].ptr[K];
    int64_t square = trs_half(l, K) ? 0 : trs_width(l, K);
    flops += 2.0 * (double)(trs_width(l, K) * (square + length));
  }
  return flops * (double)s->times.nrhs;
}

static int64_t count_supernodes(const trs_grid_layout *l) {
  int64_t count = 0;
  for (int64_t K = 0; K < l->count; K++) count += trs_half(l, K) != TRS_HALF_ABOVE;
  return count;
}

/* L23, section 3: n / sqrt(P Pz) words per right-hand side, for L and for U. */
static double volume_bound(const trs_grid_solver *s) {
  double words = (double)s->layout.n * (double)s->times.nrhs;
  return words * (double)trs_scalar_size(s->part.scalar) /
         sqrt((double)s->ranks->size * s->set.shape.z);
}

trs_status trs_grid_stats(trs_mpi_stats *stats, const trs_grid_solver *s, trs_mpi_over over) {
  figures f;
  own_figures(s, f.sum);
  memcpy(f.min, f.sum, sizeof f.min);
  memcpy(f.max, f.sum, sizeof f.max);
  TRS_TRY(trs_ranks_reduce(s->ranks, &f, 1, sizeof f, merge));
  *stats = (trs_mpi_stats){.px = s->set.shape.x,
                           .py = s->set.shape.y,
                           .pz = s->set.shape.z,
                           .supernodes = count_supernodes(&s->layout),
                           .separators = s->runs,
                           .inverted = s->layout.nruns,
                           .inverted_bytes = inverted_bytes(s),
                           .leaf_entries = leaf_entries(&s->layout, over),
                           .solved = (int64_t)(f.sum[SOLVED] + 0.5),
                           .solver = s->part.solver ? s->part.solver->methods : NULL,
                           .volume_bound = volume_bound(s)};
  set_figures(stats, &f, over, s->ranks->size);
  const double once = values_once(s), flops = flops_once(s);
  const double done = f.sum[FLOPS] + f.sum[FLOPS + NFIGURES_A_SWEEP];
  stats->replicated = once > 0 ? f.sum[PANELS] / once : 1;
  stats->replicated_work = flops > 0 ? done / flops : 1;
  return TRS_SUCCESS;
}
