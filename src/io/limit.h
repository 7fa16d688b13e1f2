/* limit.h - the limit on the memory for reading one file or generating one matrix. */
#ifndef TRS_IO_LIMIT_H
#define TRS_IO_LIMIT_H

#include "base/memory.h"
#include "io/reading.h"

typedef struct trs_limit {
  trs_memory_limit limit;
  trs_memory_limit *before;
  const char *path;
  int cancel;
} trs_limit;

/* The limit in bytes: the option, or its default, a part of the machine's memory. */
int64_t trs_limit_bytes(const trs_reading *reading);

/* Between begin and end, in the same thread, allocations beyond the limit of the reading's options
 * fail, and requests to cancel the thread wait. */
trs_status trs_limit_begin(trs_limit *l, const trs_reading *reading);
/* Takes and returns the status of the reading; if the limit caused a failure, sets its message. */
trs_status trs_limit_end(trs_limit *l, trs_status status);

#endif
