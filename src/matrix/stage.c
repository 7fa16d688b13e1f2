/* stage.c - copies to and from a stage, and passage through it. */
#include "matrix/stage.h"

/* Row-major if either array is.  A single column may be contiguous in one array and strided in the
 * other. */
trs_span trs_span_of(const trs_rhs *rhs, int64_t n, trs_scalar scalar, int64_t first,
                     int64_t width) {
  return (trs_span){.rhs = trs_rhs_columns(rhs, scalar, first, width),
                    .n = n,
                    .height = n,
                    .size = (int64_t)trs_scalar_size(scalar),
                    .row_major = rhs->x_row != 1 || rhs->b_row != 1,
                    .systems = 1};
}

trs_span trs_span_rows(const trs_span *s, int64_t begin, int64_t end, int64_t height) {
  trs_span rows = *s;
  rows.rhs.x = (char *)s->rhs.x + begin * s->rhs.x_row * s->size;
  rows.rhs.b = (const char *)s->rhs.b + begin * s->rhs.b_row * s->size;
  rows.n = end - begin;
  rows.height = height;
  return rows;
}

int64_t trs_span_row_at(const trs_span *s, int64_t row) {
  return row * (s->row_major ? s->rhs.nrhs : 1) * s->size;
}

int64_t trs_span_bytes(const trs_span *s) { return s->height * s->rhs.nrhs * s->size; }

trs_rhs trs_span_staged(const trs_span *s, void *x, const void *b) {
  trs_rhs staged = {.x = x, .b = b, .nrhs = s->rhs.nrhs};
  staged.x_row = staged.b_row = s->row_major ? s->rhs.nrhs : 1;
  staged.x_col = staged.b_col = s->row_major ? 1 : s->height;
  staged.x_next = staged.b_next = s->height * s->rhs.nrhs;
  return staged;
}

/* Lines of one array, their distance, and that of systems, in bytes. */
typedef struct lines {
  char *at;
  int64_t pitch, next;
} lines;

static lines in_stage(const trs_span *s, const void *stage) {
  return (lines){(char *)(uintptr_t)stage, (s->row_major ? s->rhs.nrhs : s->height) * s->size,
                 trs_span_bytes(s)};
}

static lines in_b(const trs_span *s) {
  return (lines){(char *)(uintptr_t)s->rhs.b,
                 (s->row_major ? s->rhs.b_row : s->rhs.b_col) * s->size, s->rhs.b_next * s->size};
}

static lines in_x(const trs_span *s) {
  return (lines){s->rhs.x, (s->row_major ? s->rhs.x_row : s->rhs.x_col) * s->size,
                 s->rhs.x_next * s->size};
}

/* Columns of one system as plain copies: between two GPUs these are the fast ones. */
static trs_status copy(const trs_span *s, lines to, lines from, trs_stream stream) {
  const int64_t count = s->row_major ? s->n : s->rhs.nrhs;
  const int64_t line = (s->row_major ? s->rhs.nrhs : s->n) * s->size;
  if (count == 0 || line == 0) return TRS_SUCCESS;
  if (count == 1 || (to.pitch == line && from.pitch == line))
    return trs_device_copy_rows(to.at, to.next, from.at, from.next, count * line, s->systems,
                                stream);
  for (int64_t k = 0; k < s->systems && (s->row_major || s->systems > 1); k++)
    TRS_TRY(trs_device_copy_rows(to.at + k * to.next, to.pitch, from.at + k * from.next, from.pitch,
                                 line, count, stream));
  for (int64_t c = 0; c < count && !s->row_major && s->systems == 1; c++)
    TRS_TRY(trs_device_copy(to.at + c * to.pitch, from.at + c * from.pitch, line, stream));
  return TRS_SUCCESS;
}

trs_status trs_span_bring(const trs_span *s, void *stage, trs_stream stream) {
  return copy(s, in_stage(s, stage), in_b(s), stream);
}

trs_status trs_span_bring_x(const trs_span *s, void *stage, trs_stream stream) {
  return copy(s, in_stage(s, stage), in_x(s), stream);
}

trs_status trs_span_take(const trs_span *s, const void *stage, trs_stream stream) {
  return copy(s, in_x(s), in_stage(s, stage), stream);
}

/* ---- Passage ---- */

trs_status trs_stage_overlap(trs_stage *stage) {
  stage->slots = TRS_SLOTS;
  TRS_TRY(trs_device_stream_create(stage->device, &stage->in));
  TRS_TRY(trs_device_stream_create(stage->device, &stage->out));
  for (int s = 0; s < TRS_SLOTS; s++) {
    TRS_TRY(trs_device_event_create(stage->device, &stage->brought[s]));
    TRS_TRY(trs_device_event_create(stage->device, &stage->done[s]));
    TRS_TRY(trs_device_event_create(stage->device, &stage->taken[s]));
  }
  return TRS_SUCCESS;
}

static void drop_slots(trs_stage *stage, trs_stream stream) {
  for (int s = 0; s < TRS_SLOTS; s++) {
    trs_device_free(stage->device, stage->slot[s], stream);
    stage->slot[s] = NULL;
  }
  stage->bytes = 0;
}

trs_status trs_stage_need(trs_stage *stage, int64_t bytes, trs_stream stream) {
  if (stage->slot[0] && stage->bytes >= bytes) return TRS_SUCCESS;
  if (stage->out) TRS_TRY(trs_device_wait(stage->out));
  drop_slots(stage, stream);
  for (int s = 0; s < (stage->slots > 1 ? stage->slots : 1); s++)
    TRS_TRY(trs_device_alloc(stage->device, &stage->slot[s], bytes, 1, stream));
  stage->bytes = bytes;
  return stage->out ? trs_device_wait(stream) : TRS_SUCCESS;
}

void trs_stage_close(trs_stage *stage, trs_stream stream) {
  if (stage->out) (void)trs_device_wait(stage->out);
  drop_slots(stage, stream);
  for (int s = 0; s < TRS_SLOTS; s++) {
    trs_device_event_destroy(stage->brought[s]);
    trs_device_event_destroy(stage->done[s]);
    trs_device_event_destroy(stage->taken[s]);
  }
  trs_device_stream_destroy(stage->device, stage->in);
  trs_device_stream_destroy(stage->device, stage->out);
  *stage = (trs_stage){.device = stage->device, .slots = stage->slots};
}

static bool overlaps(const trs_passage *p) { return p->stage && p->stage->in; }

bool trs_passage_is_over(const trs_passage *p) {
  return p->at >= p->end + (overlaps(p) ? p->width : 0);
}

int trs_passage_slot(const trs_passage *p) { return overlaps(p) ? (int)(p->parts % TRS_SLOTS) : 0; }

static trs_span next_part(const trs_passage *p) {
  const int64_t left = p->end > p->at ? p->end - p->at : 0;
  const int64_t count = left < p->width ? left : p->width;
  trs_span s = p->all;
  const int64_t x_next = p->by_systems ? s.rhs.x_next : s.rhs.x_col;
  const int64_t b_next = p->by_systems ? s.rhs.b_next : s.rhs.b_col;
  *(p->by_systems ? &s.systems : &s.rhs.nrhs) = count;
  s.rhs.x = (char *)s.rhs.x + p->at * x_next * s.size;
  s.rhs.b = (const char *)s.rhs.b + p->at * b_next * s.size;
  return s;
}

trs_status trs_passage_bring(trs_passage *p) {
  const int slot = trs_passage_slot(p);
  const trs_stage *s = p->stage;
  const trs_stream in = overlaps(p) ? s->in : p->stream;
  p->part[slot] = p->here = next_part(p);
  p->here.rhs = trs_span_staged(&p->here, s->slot[slot], s->slot[slot]);
  if (s->device) {
    p->here.rhs.located = p->here.rhs.there = true;
    p->here.rhs.x_gpu = p->here.rhs.b_gpu = trs_device_look(s->device)->ordinal;
  }
  if (p->at >= p->end) return TRS_SUCCESS;
  if (overlaps(p) && p->parts >= TRS_SLOTS) TRS_TRY(trs_device_event_follow(s->taken[slot], in));
  TRS_TRY(trs_span_bring(&p->part[slot], s->slot[slot], in));
  if (!overlaps(p)) return TRS_SUCCESS;
  TRS_TRY(trs_device_event_record(s->brought[slot], in));
  return trs_device_event_follow(s->brought[slot], p->stream);
}

static trs_status take(const trs_passage *p, int slot, trs_stream stream) {
  return p->only_b ? TRS_SUCCESS : trs_span_take(&p->part[slot], p->stage->slot[slot], stream);
}

/* That of the part before: a copy to pageable memory blocks this thread until it is complete. */
static trs_status take_before(const trs_passage *p, int slot) {
  const trs_stage *s = p->stage;
  TRS_TRY(trs_device_event_follow(s->done[slot], s->out));
  TRS_TRY(take(p, slot, s->out));
  return trs_device_event_record(s->taken[slot], s->out);
}

static trs_status take_overlapped(const trs_passage *p) {
  const int slot = trs_passage_slot(p), before = 1 - slot;
  const bool last = p->at >= p->end;
  if (!last) TRS_TRY(trs_device_event_record(p->stage->done[slot], p->stream));
  if (p->parts > 0) TRS_TRY(take_before(p, before));
  return last ? trs_device_event_follow(p->stage->taken[before], p->stream) : TRS_SUCCESS;
}

trs_status trs_passage_take(trs_passage *p) {
  TRS_TRY(overlaps(p) ? take_overlapped(p) : take(p, 0, p->stream));
  p->at += p->width;
  p->parts++;
  return TRS_SUCCESS;
}
