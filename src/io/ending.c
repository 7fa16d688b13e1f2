/* ending.c - endings of names that promise a format which is not written. */
#include "io/ending.h"

#include <stddef.h>
#include <string.h>

#include "base/text.h"

const char *trs_ending_refused(const char *path) {
  static const char *const others[] = {".bz2", ".xz",   ".lzma", ".lz4", ".zip",
                                       ".7z",  ".zstd", ".bsp",  ".mat", ".npy",
                                       ".npz", ".rb",   ".hb",   ".rua", ".rsa"};
  const char *dot = strrchr(path, '.');
  for (size_t k = 0; dot && k < sizeof others / sizeof others[0]; k++)
    if (trs_same_letters(dot, others[k], strlen(others[k]) + 1)) return dot;
  return NULL;
}
