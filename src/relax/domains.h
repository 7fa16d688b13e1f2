/* domains.h - a whole block system, distributed over domains, and a domain's part in a sweep.
 *
 * Each domain has some of the block rows.  Rows keep the colours, and the order of a row's blocks,
 * that they have in one domain, so all bits are the same.  Before a colour is relaxed, a domain has
 * all rows of other domains that it reads.  The rows of a colour that others read come first, so
 * that they are sent while the rest is relaxed. */
#ifndef TRS_RELAX_DOMAINS_H
#define TRS_RELAX_DOMAINS_H

#include "comm/ranks.h"
#include "relax/relaxation.h"

typedef struct trs_block_system {
  trs_block_pattern reads, read_by;
  int32_t ncolours, *colour; /* colour of each row */
  int32_t domains, *owner;   /* domain of each row; NULL: one domain */
  const char *partition;     /* how rows were distributed */
  bool by_columns;           /* the blocks of a row are added in this order, and named by columns,
                                and not by positions */
} trs_block_system;

/* Takes ownership of the pattern, also on failure, and colours it. */
trs_status trs_block_system_create(trs_block_system *system, trs_block_pattern *pattern,
                                   const trs_relax_options *options, trs_team *team);
/* Distributes the rows over domains: by METIS, to minimise blocks between domains; or, without
 * METIS or without edges, in runs of equal work.  Domains may be empty. */
trs_status trs_block_system_split(trs_block_system *system, int32_t domains);
void trs_block_system_free(trs_block_system *system);

/* A message with x of all rows of a colour that one domain needs of another, in row order. */
typedef struct trs_domain_message {
  int32_t colour, other; /* other: the destination or source domain */
  int64_t begin, end;    /* in trs_domain.sent, or positions on the receiver */
} trs_domain_message;

/* Other domains read colour c's rows up to position boundary[c].  The colour's messages are
 * send[send_ptr[c] .. send_ptr[c + 1]) and receive[receive_ptr[c] ..).  Its rows read the messages
 * need[need_ptr[c]] .. */
struct trs_domain {
  int32_t me, count;
  int64_t *boundary;
  trs_domain_message *send, *receive;
  int64_t *send_ptr, *receive_ptr, *need_ptr;
  int32_t *sent, *need; /* positions; indices of messages */
};

/* If x is on a GPU, messages pass through host memory: the rows of a message in sequence, each with
 * all its right-hand sides.  Failures are reported at the sweep's end. */
struct trs_relax_mover {
  char *out; /* trs_domain.sent, in its order */
  char *in;  /* the rows of other domains */
  /* Packs the colour's messages into out before it returns; earlier messages must have left out. */
  void (*pack)(trs_relaxation *R, int32_t colour, int64_t nrhs);
  /* A message has arrived in in. */
  void (*unpack)(trs_relaxation *R, const trs_domain_message *message, int64_t nrhs);
  /* Empties in of the colour's received rows before it returns. */
  void (*settle)(trs_relaxation *R, int32_t colour);
};

/* The transfer of x to other domains.  Called by one thread.  The links keep the first failure.
 * start to drain and free are those of the transport (relax/mpi/links.c); relax/ranks.c sets the
 * rest. */
struct trs_relax_links {
  /* Before a sweep of nrhs right-hand sides, with x of the domain's rows loaded; rows of other
   * domains start from zero unless keep_x. */
  void (*start)(trs_relax_links *links, int64_t nrhs, bool keep_x);
  /* Waits for all messages that the colour's rows read.  Messages with other domains' rows of this
   * colour may arrive from now on. */
  void (*arrive)(trs_relax_links *links, int32_t colour);
  /* The colour's boundary rows are relaxed: sends them to the domains that read them. */
  void (*give)(trs_relax_links *links, int32_t colour);
  /* Gives MPI a chance to progress messages. */
  void (*look)(trs_relax_links *links);
  /* Waits for all messages. */
  void (*drain)(trs_relax_links *links);
  /* The records of all domains, each of at most 64 bytes, in domain order; NULL after a failure. */
  const void *(*gather)(trs_relax_links *links, const void *mine, int64_t bytes);
  /* Sums each value over all domains. */
  void (*sum)(trs_relax_links *links, int64_t *values, int64_t count);
  void (*free)(trs_relax_links *links);
  trs_ranks *ranks;
  char *records;      /* of gather */
  trs_failure failed; /* the first failure */
  bool beside_first;  /* this domain is on the first one's machine */
};

/* Keeps the first failure; false from then on. */
static inline bool trs_links_keep(trs_relax_links *links, trs_status status) {
  if (!links->failed.status && status) trs_failure_get(&links->failed);
  return !links->failed.status;
}

/* A colour's step if domains store into each other's memory.  Steps count from 1 on, identically in
 * all domains.  A domain begins a step when its rows of earlier steps are done.  It signals the
 * senders, and waits until each domain has signalled the step needed[].  When its boundary rows are
 * relaxed it stores them in each receiver that has begun this step, and signals it. */

typedef struct trs_domain_step {
  uint32_t senders, receivers;       /* bits */
  uint64_t needed[TRS_MOST_MEMBERS]; /* 0: no wait */
} trs_domain_step;

/* last: per colour, its most recent step; 0: not relaxed since x was loaded. */
void trs_domain_take_step(trs_domain_step *step, const trs_domain *domain, int32_t colour,
                          const uint64_t *last);
/* The first position at the receiver of the rows of a message from a domain. */
int64_t trs_domain_arrival(const trs_domain *receiver, int32_t from,
                           const trs_domain_message *message);

/* Positions, pattern and messages of domain me; R has its context, scalar, store and block. */
trs_status trs_domain_lay_out(trs_relaxation *R, const trs_block_system *system, int32_t me);
void trs_domain_free(trs_domain *domain); /* NULL is allowed */

/* A relaxation of domain me without values; the first update provides them. */
trs_status trs_relaxation_create_domain(trs_relaxation **R, trs_context *context, trs_scalar scalar,
                                        int block, trs_block_system *system, int32_t me,
                                        const trs_relax_options *options);
/* The same without the state of its backend: only positions, pattern and messages. */
trs_status trs_relaxation_lay_out_domain(trs_relaxation **R, trs_context *context,
                                         trs_scalar scalar, int block,
                                         const trs_block_system *system, int32_t me,
                                         const trs_relax_options *options);

#endif
