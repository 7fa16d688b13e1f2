/* ranks.h - the ranks of a cluster as the distributed solves see them: messages with tags behind a
 * small table, and on top of it agreement on a failure, trees and the pairwise exchange, which work
 * over any table.  ranks_mpi.c is the table for MPI.
 *
 * What is sent stays untouched by the caller until trs_ranks_finish.  Messages between two ranks
 * with the same tag arrive in the order in which they were sent. */
#ifndef TRS_COMM_RANKS_H
#define TRS_COMM_RANKS_H

#include <stdbool.h>

#include "base/memory.h"

typedef struct trs_ranks trs_ranks;

/* One message of at most chunk bytes each. */
typedef struct trs_transport {
  const char *name;
  /* Begins to send. */
  trs_status (*send)(trs_ranks *ranks, int to, int tag, const void *data, int64_t bytes);
  /* Waits for one message from a rank, or from any (from < 0); *bytes is its length. */
  trs_status (*receive)(trs_ranks *ranks, int from, int tag, void *data, int64_t capacity,
                        int64_t *bytes);
  /* Waits until everything sent has left. */
  trs_status (*finish)(trs_ranks *ranks);
  /* Room for so many sends between two calls of finish, so that none has to allocate. */
  trs_status (*reserve)(trs_ranks *ranks, int64_t sends);
  void (*close)(trs_ranks *ranks);
} trs_transport;

struct trs_ranks {
  const trs_transport *transport;
  void *state; /* the transport's */
  int rank, size;
  int64_t chunk;           /* most bytes a message; longer ones are sent in pieces */
  int64_t messages, bytes; /* sent by this rank so far */
};

/* Tags that any transport has: MPI guarantees 32767. */
enum {
  TRS_TAG_AGREE = 1,
  TRS_TAG_BARRIER,
  TRS_TAG_MOVE,
  TRS_TAG_PAIR,
  TRS_TAG_ASK,
  TRS_TAG_ANSWER,
  TRS_TAG_LOST,
  TRS_TAG_FREE = 16
};
enum { TRS_TAG_LAST = 32767 };

/* A message of any length whose length both sides know. */
trs_status trs_ranks_send(trs_ranks *ranks, int to, int tag, const void *data, int64_t bytes);
trs_status trs_ranks_receive(trs_ranks *ranks, int from, int tag, void *data, int64_t bytes);

/* A message from anybody, at most chunk and at most capacity bytes long. */
trs_status trs_ranks_receive_any(trs_ranks *ranks, int tag, void *data, int64_t capacity,
                                 int64_t *bytes);
trs_status trs_ranks_finish(trs_ranks *ranks);
trs_status trs_ranks_reserve(trs_ranks *ranks, int64_t sends);
void trs_ranks_close(trs_ranks *ranks);

/* Collective.  Every rank gets the failure of the lowest rank that failed, "rank 3: ..." before its
 * message, or success where none did.  2 log P messages in a row. */
trs_status trs_ranks_agree(trs_ranks *ranks, trs_status status);

/* Likewise, and TRS_ERROR_ARGUMENT where the value, such as a number of right-hand sides, is not
 * the same on all ranks; those that failed are not asked for theirs. */
trs_status trs_ranks_agree_on(trs_ranks *ranks, trs_status status, int64_t value, const char *what);

/* A record from every rank, in their order, to all: log P messages in a row. */
trs_status trs_ranks_records(trs_ranks *ranks, const void *mine, void *all, int64_t bytes);

/* count[r] elements of size bytes from every rank r, in the order of ranks, to all.  mine may lie
 * in all, where it belongs there. */
trs_status trs_ranks_pieces(trs_ranks *ranks, const void *mine, void *all, const int64_t *count,
                            int64_t size);

/* What all ranks' values come to, to all: 2 log P messages in a row.  join puts count elements of
 * another rank to those of this one; what is NULL.  size: at most 1024. */
typedef void (*trs_join)(void *mine, const void *other, int64_t count, const void *what);
trs_status trs_ranks_reduce(trs_ranks *ranks, void *values, int64_t count, size_t size,
                            trs_join join);
void trs_join_sums(void *mine, const void *other, int64_t count, const void *what); /* int64_t */
/* double; NaN is the largest */
void trs_join_largest(void *mine, const void *other, int64_t count, const void *what);
/* int8_t: set where one rank has set it */
void trs_join_flags(void *mine, const void *other, int64_t count, const void *what);

/* As trs_ranks_agree, and at most 16 values must be those of rank 0; names: what they are. */
trs_status trs_ranks_same(trs_ranks *ranks, trs_status status, const double *values,
                          const char *const *names, int count);

/* Rank 0's bytes to all. */
trs_status trs_ranks_broadcast(trs_ranks *ranks, void *data, int64_t bytes);

/* Nobody leaves before everybody has come. */
trs_status trs_ranks_barrier(trs_ranks *ranks);

/* Trees over the places 0 .. count - 1, rooted at 0: each node under half of its place, or all of
 * them right under the root. */
typedef enum trs_tree_shape { TRS_TREE_BINARY = 0, TRS_TREE_FLAT = 1 } trs_tree_shape;

typedef struct trs_tree_place {
  int parent;                 /* -1 at the root */
  int first_child, nchildren; /* children are consecutive places */
} trs_tree_place;

trs_tree_place trs_tree_at(trs_tree_shape shape, int place, int count);

/* The sparse allreduce's order (L23, Algorithm 2, as an exchange): in step k = 0, 1, ... a line of
 * size places, a power of two, falls into pairs that differ in bit k; both send the sum each has of
 * what is shared by at least 2^(k+1) places, and add the other's.  After step k what is shared by
 * an aligned run of 2^(k+1) places has its whole sum, the same bits on all of them. */
int trs_pair_steps(int size);
static inline int trs_pair_partner(int place, int step) { return place ^ (1 << step); }

/* One step: sends what lies in out and receives as much into in. */
trs_status trs_ranks_exchange(trs_ranks *ranks, int partner, const void *out, void *in,
                              int64_t bytes);

#endif
