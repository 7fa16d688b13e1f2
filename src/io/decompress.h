/* decompress.h - unpacks gzip and zstd data to text. */
#ifndef TRS_IO_DECOMPRESS_H
#define TRS_IO_DECOMPRESS_H

#include "io/source.h"

/* The state of unpacking a compressed text. */
typedef struct trs_unpacker {
  trs_source *source; /* owned by the caller */
  void *stream;       /* of zlib or zstd */
  char *input;        /* a piece of the source; `length` bytes from `begin` are unread */
  int64_t begin, length;
  int64_t at; /* bytes read from the source, up to the end of the piece */
  bool gzip;
  bool inside; /* inside a member or frame */
  bool full;   /* the last call may have held output back for lack of space */
  bool ended;  /* all output has been delivered */
} trs_unpacker;

bool trs_is_packed(const trs_source *source);
/* TRS_ERROR_UNSUPPORTED if no build reads the source's compression. */
trs_status trs_packing_known(const trs_source *source);

/* Call trs_unpacker_close afterwards, also after a failure.  TRS_ERROR_UNSUPPORTED: not in this
 * build. */
trs_status trs_unpacker_open(trs_unpacker *u, trs_source *source);
/* Unpacks up to room > 0 bytes, *got of them.  Not to be called after the end. */
trs_status trs_unpacker_read(trs_unpacker *u, char *to, int64_t room, int64_t *got);
void trs_unpacker_close(trs_unpacker *u);

/* The largest size to which the source can unpack. */
int64_t trs_unpacked_most(const trs_source *source);

#endif
