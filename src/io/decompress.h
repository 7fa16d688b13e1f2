/* decompress.h - gzip and zstd data to text. */
#ifndef TRS_IO_DECOMPRESS_H
#define TRS_IO_DECOMPRESS_H

#include "io/source.h"

/* Growing memory. */
typedef struct trs_buffer {
  char *data;
  int64_t length, room; /* room leaves out the slack behind the text */
} trs_buffer;

trs_status trs_buffer_reserve(trs_buffer *buffer, int64_t room);

/* The text gets the buffer's memory and its slack is cleared; after a failure the memory is
 * released instead. */
void trs_buffer_to_text(trs_buffer *buffer, trs_text *text, trs_status status);

/* A compressed text on its way out. */
typedef struct trs_unpacker {
  const trs_reading *reading;
  const trs_text *packed; /* stays the caller's */
  void *stream;           /* zlib's or zstd's */
  int64_t at;             /* bytes taken of the packed text */
  bool gzip;
  bool full;  /* the last call may have held back bytes for want of room */
  bool ended; /* all has come out */
} trs_unpacker;

bool trs_is_packed(const trs_text *text);
/* Afterwards trs_unpacker_close, also after a failure.  TRS_ERROR_UNSUPPORTED: not in this build.
 */
trs_status trs_unpacker_open(trs_unpacker *u, const trs_text *packed, const trs_reading *reading);
/* Up to room > 0 bytes more, *got of them; not to be called once it has ended. */
trs_status trs_unpacker_read(trs_unpacker *u, char *to, int64_t room, int64_t *got);
void trs_unpacker_close(trs_unpacker *u);

/* Replaces a compressed text by what it holds; leaves any other alone. */
trs_status trs_decompress(trs_text *text, const trs_reading *reading);

#endif
