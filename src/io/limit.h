/* limit.h - how much memory the reading of one file may take. */
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

/* What reading may take: the option, or the share of the machine that stands for it. */
int64_t trs_limit_bytes(const trs_reading *reading);

/* Between begin and end, by the same thread, allocations beyond what the reading's options allow
 * fail, and requests to cancel the thread wait. */
void trs_limit_begin(trs_limit *l, const trs_reading *reading);
/* Given what the reading came to; says which limit was in the way, if one was. */
trs_status trs_limit_end(trs_limit *l, trs_status status);

#endif
