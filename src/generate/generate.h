/* generate.h - matrices generated from a name, "gen:poisson3d7:100", instead of read from a
 * file. */
#ifndef TRS_GENERATE_GENERATE_H
#define TRS_GENERATE_GENERATE_H

#include <stdbool.h>

#include "base/team.h"

/* True if the name starts with "gen:". */
bool trs_is_generator(const char *name);

/* The matrix of that name: general CSR in double precision, filled by the team (NULL: by the caller
 * alone).  The same name gives the same bits with every team.  progress may be NULL; it is called
 * in the calling thread. */
trs_status trs_generate(trs_matrix **A, const char *name, trs_team *team, trs_progress progress,
                        void *user);

#endif
