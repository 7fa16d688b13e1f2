/* backend_slices.c - divides the rows of a colour into slices of similar length (slices.cu). */
#include "relax/cuda/backend.h"

static int64_t blocks_of(const trs_relaxation *R, int64_t position) {
  return R->ptr[position + 1] - R->ptr[position];
}

/* Sorts positions [begin, end) by descending numbers of blocks, so that rows of a slice have
 * similar numbers.  Each small part is sorted separately, so that neighbours stay close. */
static void order_part(const trs_relaxation *R, int64_t begin, int64_t end, int32_t *order) {
  for (int64_t p = begin; p < end; p++) {
    int64_t k = p - begin;
    for (; k > 0 && blocks_of(R, order[k - 1]) < blocks_of(R, p); k--) order[k] = order[k - 1];
    order[k] = (int32_t)p;
  }
}

/* The host's arrays for making slices. */
typedef struct slicing {
  trs_relax_slice *slice;
  trs_relax_slice_row *row;
  int32_t *starts; /* 2 ncolours + 1: first slice of a colour's boundary rows, and of its others */
  int64_t vectors;
  int32_t count;
} slicing;

static void add_slice(const trs_relaxation *R, slicing *s, const int32_t *order, int64_t rows) {
  const int most = TRS_RELAX_SLICE_ROWS(R->block);
  const int32_t width = (int32_t)blocks_of(R, order[0]);
  s->slice[s->count] = (trs_relax_slice){.vector = s->vectors, .width = width};
  for (int64_t r = 0; r < most; r++)
    s->row[s->count * most + r] =
        r < rows
            ? (trs_relax_slice_row){order[r], (int32_t)blocks_of(R, order[r]), R->row[order[r]]}
            : (trs_relax_slice_row){order[0], -1, R->row[order[0]]};
  s->vectors += trs_relax_slice_vectors(&R->gpu->args, width);
  s->count++;
}

static void cut_run(const trs_relaxation *R, slicing *s, int64_t begin, int64_t end) {
  enum { SLICES_A_PART = 24 };
  int32_t order[32 * SLICES_A_PART];
  const int64_t rows = TRS_RELAX_SLICE_ROWS(R->block), part = rows * SLICES_A_PART;
  for (int64_t p = begin; p < end; p += part) {
    int64_t here = end - p < part ? end - p : part;
    order_part(R, p, p + here, order);
    for (int64_t k = 0; k < here; k += rows)
      add_slice(R, s, order + k, here - k < rows ? here - k : rows);
  }
}

static void cut_slices(const trs_relaxation *R, slicing *s) {
  for (int32_t c = 0; c < R->ncolours; c++) {
    s->starts[2 * c] = s->count;
    cut_run(R, s, R->colour_ptr[c], trs_relax_interior(R, c));
    s->starts[2 * c + 1] = s->count;
    cut_run(R, s, trs_relax_interior(R, c), R->colour_ptr[c + 1]);
  }
  s->starts[2 * R->ncolours] = s->count;
}

static trs_status bring_slices(trs_relaxation *R, const slicing *s) {
  trs_relax_gpu *g = R->gpu;
  trs_relax_slices *to = &g->slices;
  to->nslices = s->count;
  to->ncolours = R->ncolours;
  to->blocks = trs_device_look(g->device)->multiprocessors;
  to->zero = (int32_t)(R->nrows + R->nhalo);
  TRS_TRY(trs_arena_upload(&g->own, &to->slice, s->slice, s->count, sizeof *s->slice));
  TRS_TRY(trs_arena_upload(&g->own, &to->row, s->row,
                           (int64_t)s->count * TRS_RELAX_SLICE_ROWS(R->block), sizeof *s->row));
  TRS_TRY(trs_arena_alloc(&g->own, &to->val, s->vectors, 16));
  TRS_TRY(trs_arena_alloc(&g->own, &to->arrived, 1, sizeof *to->arrived));
  TRS_TRY(trs_device_fill(to->arrived, 0, sizeof *to->arrived, R->plan->stream));
  to->triangle = R->triangle;
  TRS_TRY(trs_arena_alloc(&g->own, &to->turn, 1, sizeof *to->turn));
  TRS_TRY(trs_device_fill(to->turn, 0, sizeof *to->turn, R->plan->stream));
  *g->told = (trs_fault){.row = -1, .limit = TRS_WAIT_LIMIT};
  TRS_TRY(trs_arena_upload(&g->own, &to->fault, g->told, 1, sizeof *g->told));
  TRS_TRY(
      trs_arena_upload(&g->own, &to->starts, s->starts, 2 * R->ncolours + 1, sizeof *s->starts));
  TRS_TRY(trs_relax_slices_prepare(&g->args, to));
  return trs_device_wait(R->plan->stream);
}

static trs_status check_slices(const trs_relaxation *R) {
  if (R->block > TRS_RELAX_MOST_SLICED)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1, "variant slices takes blocks of 1 to %d, not of %d",
                    TRS_RELAX_MOST_SLICED, R->block);
  if (R->ncolours > TRS_RELAX_MOST_SLICED_COLOURS)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1, "variant slices takes %d colours, not %d: take rows",
                    TRS_RELAX_MOST_SLICED_COLOURS, R->ncolours);
  return TRS_SUCCESS;
}

trs_status trs_relax_make_slices(trs_relaxation *R) {
  const int64_t rows = TRS_RELAX_SLICE_ROWS(R->block);
  const int64_t most = R->nrows / rows + 2 * R->ncolours;
  slicing s = {0};
  TRS_TRY(check_slices(R));
  TRS_TRY(TRS_ALLOC_ALL(TRS_ROOM(&s.starts, 2 * R->ncolours + 1), TRS_ROOM(&s.slice, most),
                        TRS_ROOM(&s.row, most * rows)));
  cut_slices(R, &s);
  const trs_status status = bring_slices(R, &s);
  TRS_FREE_ALL(s.starts, s.slice, s.row);
  return status;
}
