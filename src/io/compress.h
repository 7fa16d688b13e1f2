/* compress.h - text to independent gzip members or zstd frames, which may follow one another. */
#ifndef TRS_IO_COMPRESS_H
#define TRS_IO_COMPRESS_H

#include "base/status.h"

/* Growing memory. */
typedef struct trs_buffer {
  char *data;
  int64_t length, room;
} trs_buffer;

trs_status trs_buffer_reserve(trs_buffer *buffer, int64_t room);

typedef enum trs_packing { TRS_PLAIN, TRS_GZIP, TRS_ZSTD } trs_packing;

/* By the name's ending. */
trs_packing trs_packing_of(const char *path);

/* TRS_ERROR_UNSUPPORTED where this build lacks the compression. */
trs_status trs_packing_check(trs_packing packing, const char *path);

/* Replaces what packed holds by text, compressed; not for TRS_PLAIN. */
trs_status trs_pack(trs_buffer *packed, const trs_buffer *text, trs_packing packing);

#endif
