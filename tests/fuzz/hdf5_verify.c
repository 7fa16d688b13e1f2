/* hdf5_verify.c - any bytes as an HDF5 file, for the look at its metadata that comes before the
 * HDF5 library's. */
#include "io/hdf5_encode.h"

#include <fcntl.h>
#include <unistd.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  int fd = open(fuzz_file(data, size), O_RDONLY);
  CLAIM(fd >= 0);
  trs_hdf5_verify(fd, "input");
  close(fd);
  return 0;
}
