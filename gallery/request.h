/* request.h - the parts of a generator's name, and the table of generators. */
#ifndef TRS_GALLERY_REQUEST_H
#define TRS_GALLERY_REQUEST_H

#include "base/team.h"

enum { TRS_REQUEST_VALUES = 3 };

typedef struct trs_request {
  const char *name;                  /* "gen:poisson3d7:100", for messages */
  int64_t value[TRS_REQUEST_VALUES]; /* optional values that are absent equal the first */
  uint64_t seed;
  trs_team *team;
  trs_progress progress; /* may be NULL */
  void *user;
} trs_request;

/* arguments: the signature after the name, used by the parser and by the help: "NX[,NY,NZ]" or
 * "N,K[,seed=S]".  An optional group is given completely or not at all; a seed is always
 * optional. */
typedef struct trs_generator {
  const char *name, *arguments, *summary;
  trs_status (*make)(trs_matrix **A, const trs_request *request);
} trs_generator;

extern const trs_generator trs_generator_poisson2d5, trs_generator_poisson2d9,
    trs_generator_poisson3d7, trs_generator_poisson3d27, trs_generator_elasticity3d,
    trs_generator_kkt3d, trs_generator_delaunay, trs_generator_powerlaw, trs_generator_random,
    trs_generator_chain, trs_generator_wingmesh;

/* Fills value and seed from the text after "gen:NAME:". */
trs_status trs_request_parse(trs_request *request, const trs_generator *generator,
                             const char *text);

/* Fails if a x b x c x d rows exceed 2^31 - 1. */
trs_status trs_request_rows(const trs_request *request, int64_t a, int64_t b, int64_t c, int64_t d);

/* Reports progress to the caller; for member 0 of the team only. */
static inline void trs_request_progress(const trs_request *request, const char *phase,
                                        double done) {
  if (request->progress) request->progress(request->user, phase, done);
}

#endif
