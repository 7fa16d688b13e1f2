/* window.h - the text of a file, some whole lines at a time: a plain file is read anew for each
 * pass over it, by all members of the team; what comes only once, as from a pipe, or dearly, as
 * compressed text, stays in memory unless it is to be read in parts. */
#ifndef TRS_IO_WINDOW_H
#define TRS_IO_WINDOW_H

#include "io/decompress.h"

/* Whole lines, and the beginning of the next; slack of zeros behind them. */
typedef struct trs_block {
  char *memory;
  int64_t room, length, lines; /* bytes that fit, that are there, and that are of whole lines */
} trs_block;

typedef struct trs_window {
  const char *begin, *end; /* the lines at hand */
  int64_t head;            /* bytes of the text before its body, which a new pass leaves out */
  trs_source source;
  trs_unpacker unpacker;
  bool packed, keep;
  bool fresh; /* the lines at hand have just been unpacked */
  bool ended; /* all of the text has been taken */
  trs_block *blocks;
  int64_t nblocks, current, rooms; /* rooms: blocks that there is room for */
  bool later;                      /* the first lines are no longer in memory */
  int64_t at;                      /* bytes taken of a plain file */
} trs_window;

/* Bytes of a window for each member of the team, what stays in a cache between reading and parsing;
 * less for the tests. */
extern int64_t trs_window_bytes;

/* Opens the file and takes the first lines.  in_parts: nothing is kept.  Afterwards
 * trs_window_close, also after a failure. */
trs_status trs_window_open(trs_window *w, const trs_reading *reading, bool in_parts);
/* As many lines again, where those at hand are the first: before head is known. */
trs_status trs_window_widen(trs_window *w);
/* The first lines behind the head once more; those that follow, or begin == end after the last. */
trs_status trs_window_restart(trs_window *w);
trs_status trs_window_next(trs_window *w);
/* Given what the reading came to: as trs_source_close. */
trs_status trs_window_close(trs_window *w, trs_status status);

/* The share of the text that this pass has taken; the most bytes that all of it can have. */
double trs_window_done(const trs_window *w);
int64_t trs_window_most(const trs_window *w);

#endif
