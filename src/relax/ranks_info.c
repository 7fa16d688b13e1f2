/* ranks_info.c - facts of a relaxation on ranks: of the whole, and per rank. */
#include <math.h>

#include "relax/backend.h"
#include "relax/kernels.h"
#include "relax/ranks.h"

typedef struct figures {
  double rows, blocks, longest, halo, messages, bytes, sweep_bytes, frobenius[2], threads, create_s,
      update_s;
} figures;

static figures own_figures(const trs_ranks_relaxation *Q) {
  const trs_relaxation *D = Q->R;
  figures f = {.rows = (double)D->nrows,
               .blocks = (double)D->noff,
               .longest = (double)D->longest,
               .halo = (double)D->nhalo,
               .sweep_bytes = (double)trs_relaxation_sweep_bytes(D),
               .frobenius = {D->frobenius[0], D->frobenius[1]},
               .threads = D->threads,
               .create_s = Q->create_seconds,
               .update_s = Q->update_seconds};
  if (!D->domain) return f;
  int64_t messages = D->domain->send_ptr[D->ncolours];
  f.messages = (double)messages;
  if (messages > 0)
    f.bytes = (double)D->domain->send[messages - 1].end * D->block *
              (double)trs_relax_kernels_of(D->store)->x_size;
  return f;
}

/* Adds the value of one of `size` ranks. */
static void add_value(double *to, double value, trs_mpi_over over, int size, bool first) {
  if (over == TRS_MPI_MEAN)
    *to += value / size;
  else if (first || (over == TRS_MPI_MIN ? value < *to : value > *to))
    *to = value;
}

static double larger(double a, double b) { return a > b ? a : b; }

static void add_rank(trs_relax_info *w, trs_mpi_relax_info *info, const figures *f,
                     trs_mpi_over over, bool first) {
  add_value(&info->rows, f->rows, over, w->domains, first);
  add_value(&info->blocks, f->blocks, over, w->domains, first);
  add_value(&info->halo_rows, f->halo, over, w->domains, first);
  add_value(&info->messages, f->messages, over, w->domains, first);
  add_value(&info->bytes, f->bytes, over, w->domains, first);
  w->nblocks += (int64_t)f->blocks;
  w->sweep_bytes += (int64_t)f->sweep_bytes;
  w->longest_row = (int64_t)larger((double)w->longest_row, f->longest);
  w->threads = (int)larger(w->threads, f->threads);
  w->create_seconds = larger(w->create_seconds, f->create_s);
  w->update_seconds = larger(w->update_seconds, f->update_s);
}

/* Rows of each colour on all ranks. */
static trs_status count_colours(trs_ranks_relaxation *Q, trs_relax_info *w) {
  const trs_relaxation *D = Q->R;
  int64_t *rows;
  trs_status status = TRS_ALLOC(&rows, D->ncolours);
  TRS_TRY(trs_ranks_agree(Q->ranks, status));
  for (int32_t c = 0; c < D->ncolours; c++) rows[c] = D->colour_ptr[c + 1] - D->colour_ptr[c];
  status = trs_ranks_reduce(Q->ranks, rows, D->ncolours, sizeof *rows, trs_join_sums);
  w->smallest_colour = D->ncolours ? D->ncols : 0;
  for (int32_t c = 0; c < D->ncolours; c++) {
    if (rows[c] < w->smallest_colour) w->smallest_colour = rows[c];
    if (rows[c] > w->largest_colour) w->largest_colour = rows[c];
  }
  trs_free(rows);
  return status;
}

static trs_status gather_figures(trs_ranks_relaxation *Q, trs_relax_info *w,
                                 trs_mpi_relax_info *info, trs_mpi_over over) {
  figures own = own_figures(Q), *all;
  double norm = 0, lost = 0;
  trs_status status = TRS_ALLOC(&all, Q->ranks->size);
  TRS_TRY(trs_ranks_agree(Q->ranks, status));
  status = trs_ranks_records(Q->ranks, &own, all, sizeof own);
  for (int r = 0; !status && r < Q->ranks->size; r++) {
    add_rank(w, info, &all[r], over, r == 0);
    norm = hypot(norm, all[r].frobenius[0]);
    lost = hypot(lost, all[r].frobenius[1]);
  }
  w->rounding = norm > 0 ? lost / norm : 0;
  trs_free(all);
  return status;
}

trs_status trs_ranks_relaxation_info(trs_ranks_relaxation *Q, trs_relax_info *whole,
                                     trs_mpi_relax_info *info, trs_mpi_over over) {
  const trs_relaxation *D = Q->R;
  trs_relax_info own;
  trs_relaxation_info(D->plan, &own);
  *whole = (trs_relax_info){.scalar = D->scalar,
                            .store = D->store,
                            .block_size = D->block,
                            .nrows = D->ncols,
                            .colours = D->ncolours,
                            .domains = Q->ranks->size,
                            .partition = Q->partition,
                            .variant = own.variant,
                            .device_bytes = own.device_bytes};
  *info = (trs_mpi_relax_info){.rows = 0};
  TRS_TRY(gather_figures(Q, whole, info, over));
  return count_colours(Q, whole);
}
