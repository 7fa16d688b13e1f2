/* hdf5_file.h - an open HDF5 file, for the sources that call the HDF5 library. */
#ifndef TRS_IO_HDF5_FILE_H
#define TRS_IO_HDF5_FILE_H

#include <hdf5.h>

#include "io/hdf5.h"

struct trs_hdf5_file {
  const trs_reading *reading;
  hid_t id;
  int fd;             /* the same file, for reading past the library */
  H5E_auto2_t report; /* the program's own error handler, while ours is silence */
  void *report_data;
};

enum { TRS_HDF5_PATH = 256 };

#endif
