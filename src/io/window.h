/* window.h - the text of a compressed file, some whole lines at a time. */
#ifndef TRS_IO_WINDOW_H
#define TRS_IO_WINDOW_H

#include "io/decompress.h"

typedef struct trs_window {
  const char *begin, *end; /* the lines at hand */
  trs_unpacker unpacker;
  char *memory;
  int64_t length; /* bytes unpacked into memory: the lines and the beginning of the next */
  int64_t head;   /* bytes of the text before its body, which a new pass leaves out */
} trs_window;

/* Bytes of a window; less for the tests. */
extern int64_t trs_window_bytes;

/* Opens at the beginning of the packed text, which stays the caller's, and takes the first lines.
 * Afterwards trs_window_close, also after a failure. */
trs_status trs_window_open(trs_window *w, const trs_text *packed, const trs_reading *reading);
/* The first lines behind the head once more; those that follow, or begin == end after the last. */
trs_status trs_window_restart(trs_window *w);
trs_status trs_window_next(trs_window *w);
void trs_window_close(trs_window *w);

#endif
