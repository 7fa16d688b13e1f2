/* columns.c - L23's Algorithm 5 on the host: tasks by columns, counts, and the launch of WAIT and
 * SOLVE (columns.cu).  Py = 1, and no supernode has a home. */
#include "L23/columns.h"

#include "device/shared.h"
#include "solve/grid3d/gpus.h"

/* ---- Tasks ---- */

/* x(K) is computed or received, then multiplied with all blocks of the column. */
static void add_column(trs_task_maker *m, int64_t slot, const int32_t *units_of_row) {
  const trs_rank_part *p = m->part;
  const trs_local_side *side = &p->side[m->sweep->upper];
  bool own = trs_has_diagonal(p, p->slot[slot]);
  trs_spread_task t = trs_spread_task_of(m, slot);
  if (m->sweep->column_of[slot] < 0) return;
  t.kind = own ? TRS_SPREAD_SOLVE : TRS_SPREAD_RECEIVE;
  t.unit = (int32_t)m->to->nunits;
  for (int64_t b = side->ptr[slot]; b < side->ptr[slot + 1]; b++)
    trs_spread_cut_block(m, &side->block[b], side->block[b].row);
  t.units = (int32_t)(m->to->nunits - t.unit);
  t.children = units_of_row[slot];
  t.takes = own;
  t.diagonal = side->diagonal[slot];
  t.solved = side->solved[slot];
  trs_spread_list_receivers(m, &t, slot);
  trs_spread_add_task(m, t);
}

static int64_t units_of(const trs_task_maker *m, const trs_local_block *block) {
  int64_t lines = m->sweep->upper ? block->k : block->m,
          terms = m->sweep->upper ? block->m : block->k;
  return ((lines + TRS_SPREAD_LINES - 1) / TRS_SPREAD_LINES) *
         ((terms + TRS_SPREAD_TERMS - 1) / TRS_SPREAD_TERMS);
}

/* Columns by number, as published. */
static trs_status list_columns(trs_task_maker *m) {
  const int64_t slots = m->part->nslots;
  const trs_local_side *side = &m->part->side[m->sweep->upper];
  int32_t *units_of_row;
  TRS_TRY(TRS_ALLOC_ZERO(&units_of_row, slots));
  for (int64_t b = 0; b < side->ptr[slots]; b++)
    units_of_row[side->block[b].row] += (int32_t)units_of(m, &side->block[b]);
  for (int64_t i = 0; i < slots; i++)
    add_column(m, m->sweep->upper ? slots - 1 - i : i, units_of_row);
  trs_free(units_of_row);
  return TRS_SUCCESS;
}

/* ---- Sweeps ---- */

typedef struct columns {
  trs_device *device;
  uint32_t *added;
  void *lsum;
  trs_stream side; /* of WAIT */
  trs_device_event *waited;
} columns;

static void free_room(columns *c) {
  trs_device_free(c->device, c->added, NULL);
  trs_device_free(c->device, c->lsum, NULL);
  c->added = NULL;
  c->lsum = NULL;
}

static void close_columns(void *state) {
  columns *c = state;
  if (!c) return;
  free_room(c);
  trs_device_event_destroy(c->waited);
  trs_device_stream_destroy(c->device, c->side);
  trs_free(c);
}

static trs_status open_columns(void **state, trs_device *device) {
  columns *c;
  TRS_TRY(TRS_ALLOC_ZERO(&c, 1));
  *state = c;
  c->device = device;
  TRS_TRY(trs_device_stream_create(device, &c->side));
  return trs_device_event_create(device, &c->waited);
}

static trs_status reserve_columns(void *state, const trs_spread_args *a) {
  columns *c = state;
  free_room(c);
  TRS_TRY(TRS_DEVICE_ALLOC(c->device, &c->added, a->count * a->chunks, NULL));
  return trs_device_alloc(c->device, &c->lsum, a->columns * a->nrhs, trs_scalar_size(a->scalar),
                          NULL);
}

static trs_status launch_columns(void *state, trs_spread_args *a) {
  columns *c = state;
  a->added = c->added;
  a->lsum = c->lsum;
  TRS_TRY(trs_l23_launch_columns(a, NULL, c->side));
  TRS_TRY(trs_device_event_record(c->waited, c->side));
  return trs_device_event_follow(c->waited, NULL);
}

const trs_spread_way trs_l23_by_columns = {.name = "algorithm=5",
                                           .list = list_columns,
                                           .words = true,
                                           .open = open_columns,
                                           .reserve = reserve_columns,
                                           .close = close_columns,
                                           .launch = launch_columns};
