/* hdf5_verify.h - what both halves of the look at an HDF5 file's metadata share. */
#ifndef TRS_IO_HDF5_VERIFY_H
#define TRS_IO_HDF5_VERIFY_H

#include <stdbool.h>
#include <unistd.h>

#include "base/status.h"

enum {
  TRS_HDF5_MOST_BLOCKS = 512,      /* looked at: addresses may form a loop */
  TRS_HDF5_LARGEST_BLOCK = 1 << 18 /* of metadata, far more than any writer makes */
};

typedef struct trs_verification {
  int fd;
  int blocks;   /* looked at so far */
  bool damaged; /* found so */
  trs_status status;
} trs_verification;

static inline uint64_t trs_number_at(const unsigned char *bytes, int count) {
  uint64_t value = 0;
  for (int byte = 0; byte < count; byte++) value |= (uint64_t)bytes[byte] << 8 * byte;
  return value;
}

static inline bool trs_verify_read(const trs_verification *v, void *bytes, int64_t count,
                                   uint64_t offset) {
  return offset < INT64_MAX - (uint64_t)count &&
         pread(v->fd, bytes, (size_t)count, (off_t)offset) == count;
}

/* May another block be looked at? */
static inline bool trs_verify_more(trs_verification *v) {
  return !v->damaged && !v->status && v->blocks++ < TRS_HDF5_MOST_BLOCKS;
}

/* An object header of the format before HDF5 1.8, and all that it leads to. */
void trs_verify_old_header(trs_verification *v, uint64_t address);

/* An attribute's message, of either format, and a text that it refers to. */
void trs_verify_attribute(trs_verification *v, const unsigned char *message, int64_t bytes);

#endif
