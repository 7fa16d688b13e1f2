/* domains.h - a block system as a whole, dealt to domains, and a domain's part in a sweep.
 *
 * Each domain has some of the block rows.  They keep the colours, and the order of a row's blocks
 * and with it every bit, that they have in one domain.  Before a colour is relaxed a domain has
 * all that its rows read of others; the rows of a colour that others read come first, so that they
 * travel while the rest is relaxed. */
#ifndef TRS_RELAX_DOMAINS_H
#define TRS_RELAX_DOMAINS_H

#include "relax/relaxation.h"

typedef struct trs_block_system {
  trs_block_pattern reads, read_by;
  int32_t ncolours, *colour; /* colour of each row */
  int32_t domains, *owner;   /* domain of each row; NULL: there is one */
  const char *partition;     /* how rows were dealt */
} trs_block_system;

/* Takes the pattern, also on failure, and colours it. */
TRS_API trs_status trs_block_system_create(trs_block_system *system, trs_block_pattern *pattern,
                                           const trs_relax_options *options, trs_team *team);
/* Deals the rows to domains: by METIS, so that few blocks cross, or where METIS or edges are
 * missing in runs of equal work.  Domains may be empty. */
TRS_API trs_status trs_block_system_split(trs_block_system *system, int32_t domains);
TRS_API void trs_block_system_free(trs_block_system *system);

/* x of a colour's rows, all those that one domain needs of another, in the order of rows. */
typedef struct trs_domain_message {
  int32_t colour, other; /* other: the domain it goes to or comes from */
  int64_t begin, end;    /* of trs_domain.sent, or positions where it arrives */
} trs_domain_message;

/* Colour c's rows up to position boundary[c] are read elsewhere.  Its messages are send[send_ptr[c]
 * .. send_ptr[c + 1]) and receive[receive_ptr[c] ..); its rows read what the messages
 * need[need_ptr[c]] .. bring. */
struct trs_domain {
  int32_t me, count;
  int64_t *boundary;
  trs_domain_message *send, *receive;
  int64_t *send_ptr, *receive_ptr, *need_ptr;
  int32_t *sent, *need; /* positions; numbers of messages */
};

/* Where x lies on a GPU, messages pass through memory of the host: a message's rows one behind the
 * other, each with all its right-hand sides.  What fails is told at the sweep's end. */
struct trs_relax_mover {
  char *out; /* trs_domain.sent, in its order */
  char *in;  /* the rows of others */
  /* The colour's messages lie in out when it returns; the last ones must have left. */
  void (*pack)(trs_relaxation *R, int32_t colour, int64_t nrhs);
  /* A message has come to in. */
  void (*unpack)(trs_relaxation *R, const trs_domain_message *message, int64_t nrhs);
  /* What came of the colour is taken from in when it returns. */
  void (*settle)(trs_relaxation *R, int32_t colour);
};

/* How x comes to other domains.  One thread calls.  The first failure is kept by the links. */
struct trs_relax_links {
  /* A sweep of so many right-hand sides is about to begin, x of own rows is loaded; others' rows
   * begin from zero unless keep_x. */
  void (*start)(trs_relax_links *links, int64_t nrhs, bool keep_x);
  /* Everything that the colour's rows read has come; what others make of theirs may come from now
   * on. */
  void (*arrive)(trs_relax_links *links, int32_t colour);
  /* The colour's boundary rows are relaxed: they go to whom reads them. */
  void (*give)(trs_relax_links *links, int32_t colour);
  /* Lets messages move on. */
  void (*look)(trs_relax_links *links);
  /* All that is under way has come. */
  void (*drain)(trs_relax_links *links);
  /* The records of all domains, of at most 64 bytes, in their order; NULL after a failure. */
  const void *(*gather)(trs_relax_links *links, const void *mine, int64_t bytes);
  /* The sums of all domains' numbers. */
  void (*sum)(trs_relax_links *links, int64_t *values, int64_t count);
};

/* A colour's turn where domains store into each other's memory.  Turns count from 1 on, the same at
 * all.  A domain begins one when its rows of the turns before are done: it tells the senders, and
 * waits until each domain has told of the turn needed[].  When its boundary rows are relaxed it
 * stores them at each receiver that has begun this turn, and tells it. */
enum { TRS_MOST_DOMAINS_STORING = 32 };

typedef struct trs_domain_turn {
  uint32_t senders, receivers;               /* bits */
  uint64_t needed[TRS_MOST_DOMAINS_STORING]; /* 0: nothing */
} trs_domain_turn;

/* last: of each colour the turn it was relaxed in last, 0 for not since x was loaded. */
void trs_domain_take_turn(trs_domain_turn *turn, const trs_domain *domain, int32_t colour,
                          const uint64_t *last);
/* Where the rows of a message, sent by a domain, arrive at its receiver: the first one's position.
 */
int64_t trs_domain_arrival(const trs_domain *receiver, int32_t from,
                           const trs_domain_message *message);

/* Positions, pattern and messages of domain me; R has its context, scalar, store and block. */
trs_status trs_domain_lay_out(trs_relaxation *R, const trs_block_system *system, int32_t me);
void trs_domain_free(trs_domain *domain); /* NULL is fine */

/* A relaxation of domain me without values; they come with the first update. */
TRS_API trs_status trs_relaxation_create_domain(trs_relaxation **R, trs_context *context,
                                                trs_scalar scalar, int block,
                                                trs_block_system *system, int32_t me,
                                                const trs_relax_options *options);
/* The same without the state of its backend: positions, pattern and messages alone. */
trs_status trs_relaxation_lay_out_domain(trs_relaxation **R, trs_context *context,
                                         trs_scalar scalar, int block,
                                         const trs_block_system *system, int32_t me,
                                         const trs_relax_options *options);

#endif
