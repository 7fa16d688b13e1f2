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

/* Replaces a compressed text by what it holds; leaves any other alone. */
trs_status trs_decompress(trs_text *text, const trs_reading *reading);

#endif
