/* vectors.c - any bytes as a file of dense vectors, in any element type. */
#include <string.h>

#include "base/scalar.h"
#include "fuzz.h"
#include "io/io.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static trs_team *team;
  if (!team) CLAIM(!trs_team_create(&team, 3));
  const char *path = fuzz_file(data, size);
  trs_scalar scalar = (trs_scalar)(TRS_FLOAT + size % 4);
  void *alone, *together;
  int64_t nrows, ncols;
  char message[512];
  trs_status first = trs_read_vectors(&alone, &nrows, &ncols, scalar, path, NULL, NULL);
  strcpy(message, first ? trs_last_error()->message : "");
  trs_status second = trs_read_vectors(&together, &nrows, &ncols, scalar, path, team, NULL);
  if (first != TRS_ERROR_MEMORY && second != TRS_ERROR_MEMORY) {
    CLAIM(first == second);
    CLAIM(!first || !strcmp(message, trs_last_error()->message));
    CLAIM(first || !memcmp(alone, together, (size_t)(nrows * ncols) * trs_scalar_size(scalar)));
  }
  trs_free(alone);
  trs_free(together);
  return 0;
}
