/* compress.h - compresses text into independent gzip members or zstd frames, which can be
 * concatenated. */
#ifndef TRS_IO_COMPRESS_H
#define TRS_IO_COMPRESS_H

#include <stdbool.h>

#include "base/status.h"

/* A growing array of bytes. */
typedef struct trs_buffer {
  char *data;
  int64_t length, room;
} trs_buffer;

trs_status trs_buffer_reserve(trs_buffer *buffer, int64_t room);

typedef enum trs_packing { TRS_PLAIN, TRS_GZIP, TRS_ZSTD } trs_packing;

bool trs_ends_with(const char *text, const char *ending);

/* From the ending of the name. */
trs_packing trs_packing_of(const char *path);

/* TRS_ERROR_UNSUPPORTED if this build lacks the compression. */
trs_status trs_packing_check(trs_packing packing, const char *path);

/* Replaces the content of packed by the compressed text; not for TRS_PLAIN. */
trs_status trs_pack(trs_buffer *packed, const trs_buffer *text, trs_packing packing);

/* For a z_stream; only in builds with zlib. */
void *trs_zlib_alloc(void *unused, unsigned items, unsigned size);
void trs_zlib_free(void *unused, void *memory);

#endif
