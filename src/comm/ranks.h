/* ranks.h - the ranks of a cluster in distributed solves: messages with tags behind a small table
 * of functions; agreement on a failure, trees and the pairwise exchange, which work over any table.
 * ranks_mpi.c is the table for MPI.
 *
 * The caller keeps sent data unchanged until trs_ranks_finish.  Messages between two ranks with the
 * same tag arrive in the order in which they were sent. */
#ifndef TRS_COMM_RANKS_H
#define TRS_COMM_RANKS_H

#include <stdbool.h>

#include "base/memory.h"

typedef struct trs_ranks trs_ranks;
enum { TRS_MACHINE_NAME = 256 };

/* Functions for single messages of at most `chunk` bytes. */
typedef struct trs_transport {
  const char *name;
  /* Starts to send. */
  trs_status (*send)(trs_ranks *ranks, int to, int tag, const void *data, int64_t bytes);
  /* Waits for one message from a rank, or from any rank (from < 0); *bytes is its length. */
  trs_status (*receive)(trs_ranks *ranks, int from, int tag, void *data, int64_t capacity,
                        int64_t *bytes);
  /* Waits until all messages sent so far have left. */
  trs_status (*finish)(trs_ranks *ranks);
  /* Reserves space for `sends` messages between two calls of finish, so that send does not
   * allocate. */
  trs_status (*reserve)(trs_ranks *ranks, int64_t sends);
  /* The name of this rank's machine. */
  trs_status (*machine)(trs_ranks *ranks, char name[TRS_MACHINE_NAME]);
  void (*close)(trs_ranks *ranks);
} trs_transport;

struct trs_ranks {
  const trs_transport *transport;
  void *state; /* owned by the transport */
  int rank, size;
  int64_t chunk;           /* longest message in bytes; longer data is sent in pieces */
  int64_t messages, bytes; /* sent by this rank so far */
};

/* Tags that every transport has: MPI guarantees 32767. */
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

/* A message of any length, which both sides know. */
trs_status trs_ranks_send(trs_ranks *ranks, int to, int tag, const void *data, int64_t bytes);
trs_status trs_ranks_receive(trs_ranks *ranks, int from, int tag, void *data, int64_t bytes);

/* A message from any rank, at most `chunk` and at most `capacity` bytes long. */
trs_status trs_ranks_receive_any(trs_ranks *ranks, int tag, void *data, int64_t capacity,
                                 int64_t *bytes);
trs_status trs_ranks_finish(trs_ranks *ranks);
trs_status trs_ranks_reserve(trs_ranks *ranks, int64_t sends);
TRS_API void trs_ranks_close(trs_ranks *ranks);

/* Collective.  Every rank gets the failure of the lowest rank that failed, with "rank 3: ..."
 * before its message, or success if all succeeded.  2 log P messages in sequence. */
TRS_API trs_status trs_ranks_agree(trs_ranks *ranks, trs_status status);

/* As trs_ranks_agree, and TRS_ERROR_ARGUMENT if the value, such as a number of right-hand sides,
 * differs between ranks.  Ranks that failed are not compared. */
trs_status trs_ranks_agree_on(trs_ranks *ranks, trs_status status, int64_t value, const char *what);

/* Collects one record of every rank, in the order of ranks, on all ranks: log P messages in
 * sequence. */
trs_status trs_ranks_records(trs_ranks *ranks, const void *mine, void *all, int64_t bytes);

/* Collects count[r] elements of `size` bytes of every rank r, in the order of ranks, on all ranks.
 * mine may point to its place in all. */
trs_status trs_ranks_pieces(trs_ranks *ranks, const void *mine, void *all, const int64_t *count,
                            int64_t size);

/* Reduces the values of all ranks, on all ranks: 2 log P messages in sequence.  join adds count
 * elements of another rank to those of this rank; `what` is NULL.  size: at most 1024. */
typedef void (*trs_join)(void *mine, const void *other, int64_t count, const void *what);
trs_status trs_ranks_reduce(trs_ranks *ranks, void *values, int64_t count, size_t size,
                            trs_join join);
void trs_join_sums(void *mine, const void *other, int64_t count, const void *what); /* int64_t */
/* double; NaN counts as the largest */
void trs_join_largest(void *mine, const void *other, int64_t count, const void *what);
/* int8_t; set if any rank has set it */
void trs_join_flags(void *mine, const void *other, int64_t count, const void *what);

/* As trs_ranks_agree; in addition at most 16 values must equal those of rank 0.  names: their names
 * for the message. */
TRS_API trs_status trs_ranks_same(trs_ranks *ranks, trs_status status, const double *values,
                                  const char *const *names, int count);

/* Sends rank 0's bytes to all ranks. */
trs_status trs_ranks_broadcast(trs_ranks *ranks, void *data, int64_t bytes);

/* *same: this rank's bytes, at most 256, are rank 0's. */
trs_status trs_ranks_compare(trs_ranks *ranks, const void *own, int64_t bytes, bool *same);

/* Returns after all ranks have called. */
trs_status trs_ranks_barrier(trs_ranks *ranks);

/* *machine: the first rank on this rank's machine.  *position: the number of lower ranks on that
 * machine. */
trs_status trs_ranks_neighbours(trs_ranks *ranks, int *machine, int *position);

/* Trees over the places 0 .. count - 1, rooted at 0: binary (the parent of p is (p - 1) / 2), or
 * flat (the root is the parent of all). */
typedef enum trs_tree_shape { TRS_TREE_BINARY = 0, TRS_TREE_FLAT = 1 } trs_tree_shape;

typedef struct trs_tree_place {
  int parent;                 /* -1 at the root */
  int first_child, nchildren; /* children are consecutive places */
} trs_tree_place;

trs_tree_place trs_tree_at(trs_tree_shape shape, int place, int count);

/* The order of the sparse allreduce (L23, Algorithm 2, as an exchange).  `size` places, a power of
 * two, form pairs in step k = 0, 1, ... that differ in bit k.  Both places of a pair send their
 * sums of the values shared by at least 2^(k+1) places, and add the partner's.  After step k a
 * value shared by an aligned run of 2^(k+1) places has its complete sum, with the same bits on all
 * of them. */
int trs_pair_steps(int size);
static inline int trs_pair_partner(int place, int step) { return place ^ (1 << step); }

/* One step: sends `out` and receives as many bytes into `in`. */
trs_status trs_ranks_exchange(trs_ranks *ranks, int partner, const void *out, void *in,
                              int64_t bytes);

#endif
