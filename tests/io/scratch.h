/* scratch.h - a temporary directory of a test program, and files in it. */
#ifndef TRS_TEST_IO_SCRATCH_H
#define TRS_TEST_IO_SCRATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/team.h"

/* The path of a name in the directory, which the first call creates.  Valid for some calls. */
const char *scratch(const char *name);

/* Each returns the path. */
const char *scratch_bytes(const char *name, const void *bytes, size_t count);
const char *scratch_text(const char *name, const char *text);

/* Writes the text compressed as the name's ending requires: .gz, .zst, or not at all. */
const char *scratch_packed(const char *name, const char *text, size_t count);

/* A file's bytes, to be freed by the caller. */
char *scratch_load(const char *path, size_t *count);

/* The number of files in the directory. */
int scratch_count(void);

/* Removes the directory and its files: a group teardown. */
int scratch_remove(void **state);

/* A team of three threads: a group setup, and a teardown that also removes the directory. */
extern trs_team *scratch_team;
int scratch_begin(void **state);
int scratch_end(void **state);

/* Runs the call with the first, the second, ... allocation failing until it succeeds.  Each failure
 * must be TRS_ERROR_MEMORY and leave nothing behind. */
#define assert_survives_failing_allocations(call, cleanup)                          \
  do {                                                                              \
    trs_status fails_ = TRS_ERROR_MEMORY;                                           \
    for (int64_t n_ = 0; fails_; n_++) {                                            \
      int64_t before_, after_, peak_;                                               \
      trs_memory_usage(&before_, &peak_);                                           \
      trs_memory_fail_after(n_);                                                    \
      fails_ = (call);                                                              \
      trs_memory_fail_after(-1);                                                    \
      trs_memory_usage(&after_, &peak_);                                            \
      if (fails_ && fails_ != TRS_ERROR_MEMORY)                                     \
        fail_msg("allocation %d: %s", (int)n_, trs_last_error()->message);          \
      if (fails_ && after_ != before_)                                              \
        fail_msg("allocation %d: %d bytes left", (int)n_, (int)(after_ - before_)); \
      if (!fails_ && n_ == 0) fail_msg("no allocation at all");                     \
    }                                                                               \
    cleanup;                                                                        \
  } while (0)

/* Names of Matrix Market files, plain and by each library for compression in this build; then NULL.
 */
extern const char *const scratch_endings[];

#endif
