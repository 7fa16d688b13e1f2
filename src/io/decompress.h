/* decompress.h - gzip and zstd data to text. */
#ifndef TRS_IO_DECOMPRESS_H
#define TRS_IO_DECOMPRESS_H

#include "io/source.h"

/* A compressed text on its way out. */
typedef struct trs_unpacker {
  trs_source *source; /* stays the caller's */
  void *stream;       /* zlib's or zstd's */
  char *input;        /* a piece of the source, of which length bytes from begin are left */
  int64_t begin, length;
  int64_t at; /* bytes taken of the source: the piece ends there */
  bool gzip;
  bool inside; /* a member or frame has begun and not ended */
  bool full;   /* the last call may have held back bytes for want of room */
  bool ended;  /* all has come out */
} trs_unpacker;

bool trs_is_packed(const trs_source *source);
/* TRS_ERROR_UNSUPPORTED if the source is compressed in a way that no build reads. */
trs_status trs_packing_known(const trs_source *source);

/* Afterwards trs_unpacker_close, also after a failure.  TRS_ERROR_UNSUPPORTED: not in this build.
 */
trs_status trs_unpacker_open(trs_unpacker *u, trs_source *source);
/* Up to room > 0 bytes more, *got of them; not to be called once it has ended. */
trs_status trs_unpacker_read(trs_unpacker *u, char *to, int64_t room, int64_t *got);
void trs_unpacker_close(trs_unpacker *u);

/* The most bytes that so many bytes of the source unpack to. */
int64_t trs_unpacked_most(const trs_source *source);

#endif
