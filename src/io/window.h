/* window.h - the text of a file, some whole lines at a time.  A plain file is read again for each
 * pass over it, by all members of the team.  Text that arrives only once (from a pipe) or at a cost
 * (decompressed) stays in memory unless it is to be read in parts. */
#ifndef TRS_IO_WINDOW_H
#define TRS_IO_WINDOW_H

#include "io/decompress.h"

/* Whole lines, and the beginning of the next; zeros as slack after them. */
typedef struct trs_block {
  char *memory;
  int64_t room, length, lines; /* bytes of space, of text, of whole lines */
} trs_block;

typedef struct trs_window {
  const char *begin, *end; /* the current lines */
  int64_t head;            /* bytes of the text before its body, which later passes skip */
  trs_source source;
  trs_unpacker unpacker;
  bool packed, keep;
  bool fresh; /* the current lines have just been unpacked */
  bool ended; /* all of the text has been read */
  trs_block *blocks;
  int64_t nblocks, current, rooms; /* rooms: allocated blocks */
  bool later;                      /* the first lines are no longer in memory */
  int64_t at;                      /* bytes read of a plain file */
} trs_window;

/* Bytes of a window per member of the team, chosen to stay in a cache between reading and parsing;
 * smaller in tests. */
extern int64_t trs_window_bytes;

/* Opens the file and reads the first lines.  in_parts: nothing is kept.  Call trs_window_close
 * afterwards, also after a failure. */
trs_status trs_window_open(trs_window *w, const trs_reading *reading, bool in_parts);
/* Doubles the current lines, which are the first ones; used before head is known. */
trs_status trs_window_widen(trs_window *w);
/* _restart returns to the first lines after the head; _next continues with the following ones, with
 * begin == end after the last. */
trs_status trs_window_restart(trs_window *w);
trs_status trs_window_next(trs_window *w);
/* status: that of the reading; as trs_source_close. */
trs_status trs_window_close(trs_window *w, trs_status status);

/* _done: the fraction of the text that this pass has read.  _most: an upper bound on the size of
 * the text. */
double trs_window_done(const trs_window *w);
int64_t trs_window_most(const trs_window *w);

#endif
