/* output_file.h - replaced files (io/replace.h), with the library's failures. */
#ifndef TRS_IO_OUTPUT_FILE_H
#define TRS_IO_OUTPUT_FILE_H

#include "base/status.h"
#include "io/replace.h"

typedef trs_replace trs_output;

/* Creates the temporary file, or opens a device or pipe directly. */
trs_status trs_output_open(trs_output *output, const char *path);

/* Writes at the current position. */
trs_status trs_output_write(trs_output *output, const void *bytes, int64_t count);

/* status: that of the writing.  On success flushes the file to the disk under its name; on failure
 * removes it. */
trs_status trs_output_close(trs_output *output, trs_status status);

#endif
