/* generated.h - matrices that a name gives instead of a file.  gallery/ defines the table; this
 * folder includes nothing of it. */
#ifndef TRS_IO_GENERATED_H
#define TRS_IO_GENERATED_H

#include <stdbool.h>
#include <string.h>

#include "base/team.h"

typedef struct trs_matrix_source {
  const char *prefix; /* "gen:", the beginning of its names */
  /* The matrix of that name: general CSR in double precision, filled by the team (NULL: by the
   * caller alone).  The same name gives the same bits with every team.  progress may be NULL; it is
   * called in the calling thread. */
  trs_status (*make)(trs_matrix **A, const char *name, trs_team *team, trs_progress progress,
                     void *user);
} trs_matrix_source;

extern const trs_matrix_source trs_generated;

static inline bool trs_is_generated(const char *name) {
  return name && !strncmp(name, trs_generated.prefix, strlen(trs_generated.prefix));
}

#endif
