/* hdf5_file.h - an open HDF5 file, open also in a worker process. */
#ifndef TRS_IO_HDF5_FILE_H
#define TRS_IO_HDF5_FILE_H

#include "io/hdf5.h"
#include "worker/worker.h"

struct trs_hdf5_file {
  const trs_reading *reading;
  trs_worker *worker;
  int fd;          /* for reading past the worker */
  int64_t bytes;   /* of the file */
  int64_t allowed; /* what reading it may take */
};

/* A request about the object of that name, and a second name there, with `bytes` bytes of data
 * expected. */
trs_status trs_hdf5_ask(trs_hdf5_file *file, trs_worker_message *message, const char *object,
                        const char *name, int64_t bytes);

#endif
