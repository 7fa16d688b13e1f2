/* reading.h - the parameters of reading one file, for all functions that take part. */
#ifndef TRS_IO_READING_H
#define TRS_IO_READING_H

#include "base/scalar.h"
#include "base/team.h"

/* A part of an array: elements from..to of it. */
typedef struct trs_array_slice {
  int64_t from, to;
  bool checked; /* the file has a checksum, and crc is that of this part */
  uint32_t crc, whole_crc;
  int64_t bytes; /* of this part */
} trs_array_slice;

/* Matrices are read without their values, which other readers read, as long as entries are in
 * canonical order; otherwise completely. */
typedef struct trs_pattern_only {
  bool whole;
} trs_pattern_only;

typedef struct trs_reading {
  const char *path;
  trs_team *team;
  trs_read_options options;
  trs_pattern_only *pattern; /* may be NULL */
} trs_reading;

static inline void trs_reading_progress(const trs_reading *reading, const char *phase,
                                        double done) {
  if (reading->options.progress)
    reading->options.progress(reading->options.progress_user, phase, done);
}

/* The element type of the result: the caller's choice, or double, real or complex as in the
 * file. */
static inline trs_status trs_reading_scalar(const trs_reading *reading, bool file_is_complex,
                                            trs_scalar *scalar) {
  *scalar = file_is_complex ? TRS_DCOMPLEX : TRS_DOUBLE;
  if (reading->options.scalar) *scalar = reading->options.scalar;
  if (!trs_scalar_valid(*scalar))
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "scalar %d is not one of trs_scalar's", *scalar);
  if (file_is_complex && !trs_scalar_is_complex(*scalar))
    return trs_fail(TRS_ERROR_ARGUMENT, -1,
                    "%s holds complex values: read them as a complex type "
                    "(--precision z, dtype=\"complex128\", TRS_DCOMPLEX)",
                    reading->path);
  return TRS_SUCCESS;
}

#endif
