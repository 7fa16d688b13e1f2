/* matrix_market.c - any bytes as a Matrix Market file: every team gets the same matrix or the same
 * error, and a matrix that was read can be written and read again. */
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "io/io.h"
#include "io/matrix_market.h"
#include "matrix/matrix.h"

static trs_status read_with(trs_matrix **A, const char *path, trs_team *team, int nonfinite) {
  trs_reading reading = {.path = path, .team = team};
  reading.options.allow_nonfinite = nonfinite;
  *A = NULL;
  return trs_matrix_market_read(A, &reading);
}

static int same(const trs_matrix *A, const trs_matrix *B) {
  return A->scalar == B->scalar && A->nrows == B->nrows && A->ncols == B->ncols &&
         A->nnz == B->nnz && !memcmp(A->ptr, B->ptr, (size_t)(A->nvectors + 1) * sizeof *A->ptr) &&
         (!A->nnz || (!memcmp(A->idx, B->idx, (size_t)A->nnz * sizeof *A->idx) &&
                      !memcmp(A->val, B->val, (size_t)A->nnz * trs_scalar_size(A->scalar))));
}

static void compare_teams(const char *path, trs_team *team, int nonfinite) {
  trs_matrix *A, *B;
  char message[512];
  trs_status alone = read_with(&A, path, NULL, nonfinite);
  strcpy(message, alone ? trs_last_error()->message : "");
  trs_status together = read_with(&B, path, team, nonfinite);
  if (alone != TRS_ERROR_MEMORY && together != TRS_ERROR_MEMORY) {
    CLAIM(alone == together);
    CLAIM(!alone || !strcmp(message, trs_last_error()->message));
    CLAIM(alone || same(A, B));
  }
  trs_matrix_destroy(A);
  trs_matrix_destroy(B);
}

static void write_and_read(const char *path) {
  char copy[64] = "/tmp/trireme-fuzz-XXXXXX";
  trs_matrix *A, *B;
  if (read_with(&A, path, NULL, 0)) return;
  int fd = mkstemp(copy);
  CLAIM(fd >= 0 && !close(fd));
  CLAIM(!trs_write_matrix(A, copy, NULL));
  CLAIM(!read_with(&B, copy, NULL, 0));
  CLAIM(same(A, B));
  unlink(copy);
  trs_matrix_destroy(A);
  trs_matrix_destroy(B);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static trs_team *team;
  static unsigned turn;
  if (!team) CLAIM(!trs_team_create(&team, 3));
  const char *path = fuzz_file(data, size);
  compare_teams(path, team, (int)(size & 1));
  if (turn++ % 16 == 0) write_and_read(path);
  return 0;
}
