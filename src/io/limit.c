/* limit.c - limits memory, because sizes in a file are untrusted: a few bytes may claim, or unpack
 * to, more than the machine has.  A generator's name may ask for as much. */
#include "io/limit.h"

#include "base/cancel.h"
#include "base/machine.h"
#include "io/generated.h"

int64_t trs_limit_bytes(const trs_reading *reading) {
  int64_t bytes = reading->options.max_bytes;
  if (bytes < 0) return INT64_MAX;
  if (bytes) return bytes;
  return trs_machine_memory() / (trs_is_generated(reading->path) ? 1 : 2);
}

trs_status trs_limit_begin(trs_limit *l, const trs_reading *reading) {
  *l = (trs_limit){.limit = {.bytes = trs_limit_bytes(reading)}, .path = reading->path};
  TRS_TRY(trs_memory_limit_set(&l->limit, &l->before));
  l->cancel = trs_cancel_defer();
  return TRS_SUCCESS;
}

trs_status trs_limit_end(trs_limit *l, trs_status status) {
  trs_memory_limit *own;
  (void)trs_memory_limit_set(l->before, &own);
  trs_cancel_restore(l->cancel);
  if (status != TRS_ERROR_MEMORY || !l->limit.refused) return status;
  const bool generated = trs_is_generated(l->path);
  return trs_fail(TRS_ERROR_MEMORY, -1,
                  "%s: %s it takes more than the limit of %.1f MB (%.1f MB held, %.1f MB more "
                  "needed): %s the limit (max_bytes of trs_read_options, --max-memory)%s",
                  l->path, generated ? "generating" : "reading", (double)l->limit.bytes / 1e6,
                  (double)l->limit.held / 1e6, (double)l->limit.refused / 1e6,
                  generated ? "choose a smaller size, or raise" : "raise",
                  generated ? "" : " if you trust the file");
}
