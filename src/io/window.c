/* window.c - fills blocks of memory with text.  An incomplete last line is moved to the next
 * block. */
#include "io/window.h"

#include "base/memory.h"
#include "io/foreign.h"

int64_t trs_window_bytes = 2 << 20;

static trs_block *block_of(const trs_window *w) { return &w->blocks[w->current]; }

/* ---- Filling a block. ---- */

static trs_status fill_plain(trs_window *w, trs_block *b) {
  int64_t count = b->room - b->length, left = w->source.size - w->at;
  if (count > left) count = left;
  TRS_TRY(trs_source_read_all(&w->source, w->at, b->memory + b->length, count));
  b->length += count;
  w->at += count;
  w->ended = w->at == w->source.size;
  return TRS_SUCCESS;
}

static trs_status fill_once(trs_window *w, trs_block *b) {
  int64_t got;
  TRS_TRY(trs_source_read(&w->source, w->at, b->memory + b->length, b->room - b->length, &got));
  w->ended = got < b->room - b->length;
  b->length += got;
  w->at += got;
  return TRS_SUCCESS;
}

static trs_status fill_unpacked(trs_window *w, trs_block *b) {
  while (!w->ended && b->length < b->room) {
    int64_t got;
    TRS_TRY(trs_unpacker_read(&w->unpacker, b->memory + b->length, b->room - b->length, &got));
    b->length += got;
    w->ended = w->unpacker.ended;
  }
  w->fresh = true;
  return TRS_SUCCESS;
}

static trs_status make_room(trs_block *b, int64_t room) {
  TRS_TRY(trs_realloc((void **)&b->memory, room + TRS_TEXT_SLACK, 1));
  b->room = room;
  return TRS_SUCCESS;
}

/* Fills the current block and finds its whole lines. */
static trs_status take_lines(trs_window *w) {
  trs_block *b = block_of(w);
  if (!w->ended)
    TRS_TRY((w->packed ? fill_unpacked : w->source.size < 0 ? fill_once : fill_plain)(w, b));
  b->lines = b->length;
  if (!w->ended)
    while (b->lines > 0 && b->memory[b->lines - 1] != '\n') b->lines--;
  if (!b->lines && !w->head) b->lines = b->length; /* the reader of the head reports the error */
  if (!b->lines && !w->ended)
    return trs_fail(TRS_ERROR_FORMAT, -1, "%s: a line is longer than %lld bytes",
                    w->source.reading->path, (long long)b->room);
  memset(b->memory + b->length, 0, TRS_TEXT_SLACK);
  w->begin = b->memory;
  w->end = b->memory + b->lines;
  return TRS_SUCCESS;
}

/* ---- Blocks. ---- */

static int64_t block_room(const trs_window *w) {
  int64_t room = trs_window_bytes * trs_team_size(w->source.reading->team);
  bool smaller = !w->packed && w->source.size >= 0 && w->source.size < room;
  return smaller ? w->source.size : room;
}

/* Appends a block and makes it the current one. */
static trs_status add_block(trs_window *w) {
  if (w->nblocks == w->rooms) {
    int64_t rooms = 2 * w->rooms + 1;
    TRS_TRY(trs_realloc((void **)&w->blocks, rooms, sizeof *w->blocks));
    w->rooms = rooms;
  }
  trs_block b = {NULL, 0, 0, 0};
  TRS_TRY(make_room(&b, block_room(w)));
  w->current = w->nblocks++;
  w->blocks[w->current] = b;
  return TRS_SUCCESS;
}

static trs_status open_text(trs_window *w, bool in_parts) {
  TRS_TRY(trs_foreign_check(&w->source));
  TRS_TRY(trs_packing_known(&w->source));
  w->packed = trs_is_packed(&w->source);
  w->keep = w->source.size < 0 || (w->packed && !in_parts);
  if (w->packed) TRS_TRY(trs_unpacker_open(&w->unpacker, &w->source));
  TRS_TRY(add_block(w));
  return take_lines(w);
}

trs_status trs_window_open(trs_window *w, const trs_reading *reading, bool in_parts) {
  *w = (trs_window){.source = {.fd = -1}};
  TRS_TRY(trs_source_open(&w->source, reading));
  return open_text(w, in_parts);
}

trs_status trs_window_widen(trs_window *w) {
  TRS_TRY(make_room(block_of(w), 2 * block_of(w)->room));
  return take_lines(w);
}

/* Returns to the beginning of text that is not in memory. */
static trs_status rewind_text(trs_window *w) {
  w->at = 0;
  w->ended = false;
  block_of(w)->length = 0;
  if (w->packed) {
    trs_unpacker_close(&w->unpacker);
    TRS_TRY(trs_unpacker_open(&w->unpacker, &w->source));
  }
  return take_lines(w);
}

static void show_block(trs_window *w, int64_t number) {
  w->current = number;
  w->begin = block_of(w)->memory;
  w->end = w->begin + block_of(w)->lines;
}

trs_status trs_window_restart(trs_window *w) {
  if (w->later) TRS_TRY(rewind_text(w));
  w->later = false;
  show_block(w, 0);
  w->begin += w->head;
  return w->begin == w->end ? trs_window_next(w) : TRS_SUCCESS;
}

trs_status trs_window_next(trs_window *w) {
  trs_block *before = block_of(w);
  w->fresh = false;
  if (w->keep && w->current + 1 < w->nblocks) {
    show_block(w, w->current + 1);
    return TRS_SUCCESS;
  }
  if (w->ended) {
    w->begin = w->end;
    return TRS_SUCCESS;
  }
  w->later = !w->keep;
  int64_t lines = before->lines, rest = before->length - lines;
  if (w->keep) {
    TRS_TRY(add_block(w));
    before = &w->blocks[w->current - 1];
  }
  trs_block *b = block_of(w);
  if (rest > b->room) TRS_TRY(make_room(b, rest));
  memmove(b->memory, before->memory + lines, (size_t)rest);
  b->length = rest;
  return take_lines(w);
}

trs_status trs_window_close(trs_window *w, trs_status status) {
  trs_unpacker_close(&w->unpacker);
  for (int64_t k = 0; k < w->nblocks; k++) trs_free(w->blocks[k].memory);
  trs_free(w->blocks);
  w->blocks = NULL;
  w->nblocks = 0;
  return trs_source_close(&w->source, status);
}

double trs_window_done(const trs_window *w) {
  if (w->keep && w->ended) return (double)(w->current + 1) / (double)w->nblocks;
  if (w->source.size < 0) return 0;
  int64_t at = w->packed ? w->unpacker.at : w->at;
  return (double)at / (double)w->source.size;
}

int64_t trs_window_most(const trs_window *w) {
  int64_t length = 0;
  for (int64_t k = 0; w->ended && w->keep && k < w->nblocks; k++) length += w->blocks[k].lines;
  if (w->ended && w->keep) return length;
  if (w->source.size < 0) return INT64_MAX;
  return w->packed ? trs_unpacked_most(&w->source) : w->source.size;
}
