/* fuzz.h - shared by the fuzz targets.  A target is the function that libFuzzer calls; replay.c
 * calls it too, for the files of the corpus. */
#ifndef TRS_TEST_FUZZ_H
#define TRS_TEST_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Stops the program if the claim is false. */
#define CLAIM(claim)       \
  do {                     \
    if (!(claim)) abort(); \
  } while (0)

/* A file in memory with this content; the path opens it until the next call. */
const char *fuzz_file(const void *data, size_t size);

#endif
