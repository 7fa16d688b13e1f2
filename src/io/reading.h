/* reading.h - what every function that takes part in reading one file needs to know. */
#ifndef TRS_IO_READING_H
#define TRS_IO_READING_H

#include "base/scalar.h"
#include "base/team.h"

/* A part of an array: elements from..to of it. */
typedef struct trs_array_slice {
  int64_t from, to;
  bool checked; /* the file has a checksum, and crc is of this part */
  uint32_t crc, whole_crc;
  int64_t bytes; /* of this part */
} trs_array_slice;

/* Matrices are read without their values, which other readers take, as long as entries stand in
 * canonical order; once they do not, whole. */
typedef struct trs_pattern_only {
  bool whole;
} trs_pattern_only;

typedef struct trs_reading {
  const char *path;
  trs_team *team;
  trs_read_options options;
  trs_pattern_only *pattern; /* or NULL */
} trs_reading;

static inline void trs_reading_progress(const trs_reading *reading, const char *phase,
                                        double done) {
  if (reading->options.progress)
    reading->options.progress(reading->options.progress_user, phase, done);
}

/* The type to read values as: the caller's choice, or double, real or complex as the file is. */
static inline trs_status trs_reading_scalar(const trs_reading *reading, bool file_is_complex,
                                            trs_scalar *scalar) {
  *scalar = file_is_complex ? TRS_DCOMPLEX : TRS_DOUBLE;
  if (reading->options.scalar) *scalar = reading->options.scalar;
  if (!trs_scalar_valid(*scalar))
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "scalar %d is not one of trs_scalar's", *scalar);
  if (file_is_complex && !trs_scalar_is_complex(*scalar))
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "%s holds complex values: read them as a complex type",
                    reading->path);
  return TRS_SUCCESS;
}

#endif
