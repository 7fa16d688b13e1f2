/* source.h - the text of a file in memory, decompressed if need be. */
#ifndef TRS_IO_SOURCE_H
#define TRS_IO_SOURCE_H

#include "io/number.h"
#include "io/reading.h"

/* [begin, end), followed by at least TRS_TEXT_SLACK zero bytes. */
typedef struct trs_text {
  const char *begin, *end;
  void *map; /* the mapping, or NULL */
  size_t map_bytes;
  char *heap; /* or else the text's own memory */
} trs_text;

trs_status trs_text_open(trs_text *text, const trs_reading *reading);
trs_status trs_text_open_packed(trs_text *text, const trs_reading *reading); /* as it lies there */
void trs_text_close(trs_text *text);

/* The first size bytes of the file, zeros where it is shorter or no regular file. */
trs_status trs_file_peek(const char *path, void *bytes, size_t size);

#endif
