/* body.c - cuts a text into pieces of whole lines. */
#include "io/body.h"

/* Bytes of text that justify another thread; under a fuzzer every byte does. */
#ifndef TRS_LEAST_BYTES
#define TRS_LEAST_BYTES (1 << 14)
#endif

int trs_body_members(const trs_body *body) {
  int64_t worth = (body->window->end - body->window->begin) / TRS_LEAST_BYTES;
  int size = trs_team_size(body->reading->team);
  return worth < size ? (worth > 1 ? (int)worth : 1) : size;
}

bool trs_body_can_hold(const trs_body *body, int64_t shortest) {
  int64_t most = trs_window_most(body->window);
  /* The last line may lack its newline. */
  return most == INT64_MAX || body->banner->count <= (most - body->banner->head + 1) / shortest;
}

/* The first line that begins at offset bytes into the body or later. */
static const char *line_from(const trs_body *body, int64_t offset) {
  const char *begin = body->window->begin, *end = body->window->end;
  if (offset == 0) return begin;
  const char *newline = trs_line_end(begin + offset - 1, end);
  return newline < end ? newline + 1 : end;
}

void trs_body_piece(const trs_body *body, int64_t number, int64_t count, const char **begin,
                    const char **end) {
  int64_t length = body->window->end - body->window->begin;
  *begin = line_from(body, length * number / count);
  *end = line_from(body, length * (number + 1) / count);
}
