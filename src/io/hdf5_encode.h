/* hdf5_encode.h - the metadata of an HDF5 file. */
#ifndef TRS_IO_HDF5_ENCODE_H
#define TRS_IO_HDF5_ENCODE_H

#include "io/hdf5.h"

/* Bytes that the metadata may take.  The datasets follow, each at a multiple of
 * TRS_HDF5_ALIGNMENT. */
enum { TRS_HDF5_METADATA = 16384, TRS_HDF5_ALIGNMENT = 4096 };

/* The position of a dataset's bytes in the file, and their checksum. */
typedef struct trs_hdf5_extent {
  const trs_hdf5_dataset *dataset;
  int64_t offset, bytes;
  uint32_t crc;
} trs_hdf5_extent;

/* The metadata of a file that contains root.  extents: its datasets in depth-first order, a group's
 * own before those of its subgroups. */
trs_status trs_hdf5_encode(unsigned char metadata[TRS_HDF5_METADATA], const trs_hdf5_group *root,
                           const trs_hdf5_extent *extents, int64_t file_bytes);

#endif
