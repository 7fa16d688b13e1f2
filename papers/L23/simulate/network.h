/* network.h - the links between the nodes of a simulated machine, each of which carries one message
 * at a time: a link from every node to its router, one back, and one from every router to every
 * other.  Memory inside a node is not shared, and messages between chassis share no more than
 * these links; the platform of SMPI has the same first two, and the others chassis by chassis. */
#ifndef TRS_SIMULATE_NETWORK_H
#define TRS_SIMULATE_NETWORK_H

#include <stdbool.h>

#include "base/status.h"
#include "simulate/machine.h"

typedef struct trs_network {
  const trs_machine *m;
  int64_t nodes, routers;
  double *up, *down, *between; /* the times from which links are free; between: from x to */
} trs_network;

trs_status trs_network_create(trs_network *net, const trs_machine *m, int64_t ranks);
void trs_network_free(trs_network *net);

/* All links are free. */
void trs_network_clear(trs_network *net);

/* True if messages between the two ranks share links with others. */
bool trs_network_shares(const trs_network *net, int64_t from, int64_t to);

/* The arrival of a message that leaves its sender at the given time.  Calls for messages that share
 * links are in the order of these times. */
double trs_network_carry(trs_network *net, int64_t from, int64_t to, int64_t bytes, double time);

#endif
