/* output_file.c - replaced files, with the library's failures. */
#include "io/output_file.h"

#include <string.h>

#include "base/cancel.h"
#include "base/text.h"

static trs_status outcome(const trs_output *output, int error) {
  if (!error) return TRS_SUCCESS;
  return trs_fail(TRS_ERROR_FILE, -1, "cannot write %s: %s", output->path, trs_error_text(error));
}

trs_status trs_output_open(trs_output *output, const char *path) {
  return outcome(output, trs_replace_open(output, path));
}

trs_status trs_output_write(trs_output *output, const void *bytes, int64_t count) {
  TRS_TRY(trs_cancelled());
  return outcome(output, trs_replace_write(output, bytes, count));
}

trs_status trs_output_close(trs_output *output, trs_status status) {
  int error = trs_replace_close(output, !status);
  return status ? status : outcome(output, error);
}
