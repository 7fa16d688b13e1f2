/* window.c - decompresses into one buffer, whose last line, if it is not whole, begins the next. */
#include "io/window.h"

#include "base/memory.h"

int64_t trs_window_bytes = 16 << 20;

/* Unpacks until the buffer is full. */
static trs_status fill(trs_window *w) {
  trs_unpacker *u = &w->unpacker;
  while (!u->ended && w->length < trs_window_bytes) {
    int64_t got;
    TRS_TRY(trs_unpacker_read(u, w->memory + w->length, trs_window_bytes - w->length, &got));
    w->length += got;
  }
  memset(w->memory + w->length, 0, TRS_TEXT_SLACK);
  return TRS_SUCCESS;
}

static trs_status take_lines(trs_window *w) {
  TRS_TRY(fill(w));
  const char *end = w->memory + w->length;
  w->begin = w->memory;
  if (!w->unpacker.ended)
    while (end > w->begin && end[-1] != '\n') end--;
  w->end = end;
  if (w->begin < end || w->unpacker.ended) return TRS_SUCCESS;
  return trs_fail(TRS_ERROR_FORMAT, -1, "%s: a line is longer than %lld bytes",
                  w->unpacker.reading->path, (long long)trs_window_bytes);
}

trs_status trs_window_open(trs_window *w, const trs_text *packed, const trs_reading *reading) {
  *w = (trs_window){0};
  TRS_TRY(trs_unpacker_open(&w->unpacker, packed, reading));
  TRS_TRY(trs_alloc((void **)&w->memory, trs_window_bytes + TRS_TEXT_SLACK, 1));
  return take_lines(w);
}

trs_status trs_window_restart(trs_window *w) {
  const trs_unpacker before = w->unpacker;
  trs_unpacker_close(&w->unpacker);
  TRS_TRY(trs_unpacker_open(&w->unpacker, before.packed, before.reading));
  w->length = 0;
  TRS_TRY(take_lines(w));
  w->begin += w->head;
  return TRS_SUCCESS;
}

trs_status trs_window_next(trs_window *w) {
  int64_t rest = w->memory + w->length - w->end;
  memmove(w->memory, w->end, (size_t)rest);
  w->length = rest;
  return take_lines(w);
}

void trs_window_close(trs_window *w) {
  trs_unpacker_close(&w->unpacker);
  trs_free(w->memory);
  w->memory = NULL;
}
