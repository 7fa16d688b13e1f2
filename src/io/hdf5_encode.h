/* hdf5_encode.h - the metadata of an HDF5 file. */
#ifndef TRS_IO_HDF5_ENCODE_H
#define TRS_IO_HDF5_ENCODE_H

#include "io/hdf5.h"

/* Metadata fills the file up to here; the datasets follow, each at a multiple of ALIGNMENT. */
enum { TRS_HDF5_METADATA = 16384, TRS_HDF5_ALIGNMENT = 4096 };

/* Where a dataset's bytes lie in the file, and their checksum. */
typedef struct trs_hdf5_extent {
  const trs_hdf5_dataset *dataset;
  int64_t offset, bytes;
  uint32_t crc;
} trs_hdf5_extent;

/* The metadata for a file that holds root, whose datasets, in depth-first order with a group's own
 * before those of its groups, lie at the extents. */
trs_status trs_hdf5_encode(unsigned char metadata[TRS_HDF5_METADATA], const trs_hdf5_group *root,
                           const trs_hdf5_extent *extents, int64_t file_bytes);

#endif
