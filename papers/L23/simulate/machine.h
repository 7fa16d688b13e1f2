/* machine.h - the costs of a simulated machine's cores and messages: a node of Cori's Haswell
 * partition with one rank on each of its 32 cores, the machine of L23's measurements.
 *
 * bench/platforms defines the network between nodes for SMPI; here are its parameters for LogGP.
 * bench/results/cluster.md gives their sources. */
#ifndef TRS_SIMULATE_MACHINE_H
#define TRS_SIMULATE_MACHINE_H

#include <stdint.h>

typedef struct trs_machine {
  /* A core. */
  double flops; /* per second, in a product of matrices */
  double bytes; /* per second from memory, a core's share of the node's bandwidth */
  double call;  /* seconds of overhead per operation on a block */
  /* A message: LogGP's o, L and G. */
  double send_s, receive_s;   /* time of a rank per message, */
  double copy_s;              /* and per byte of it, on either side */
  double hop_s;               /* latency of a link between nodes */
  double near_s;              /* and of memory inside one */
  double byte_s, near_byte_s; /* per byte */
  /* The dragonfly: ranks per node, nodes per router, routers per chassis, chassis per group. */
  int ranks, nodes, routers, chassis;
} trs_machine;

static const trs_machine trs_cori = {.flops = 2e10,
                                     .bytes = 4e9,
                                     .call = 1e-7,
                                     .send_s = 3.5e-7,
                                     .receive_s = 3.5e-7,
                                     .copy_s = 1e-10,
                                     .hop_s = 1.75e-7,
                                     .near_s = 2.5e-7,
                                     .byte_s = 1e-10,
                                     .near_byte_s = 2e-10,
                                     .ranks = 32,
                                     .nodes = 4,
                                     .routers = 16,
                                     .chassis = 6};

/* Links from node to node: to the router, along the chassis, between chassis, between groups and
 * likewise in the other group, to the node. */
static inline int trs_links(const trs_machine *m, int64_t from, int64_t to) {
  from /= m->ranks * m->nodes; /* routers */
  to /= m->ranks * m->nodes;
  int slot = from % m->routers != to % m->routers;
  if (from == to) return 2;
  if (from / m->routers == to / m->routers) return 3;
  if (from / (m->routers * m->chassis) == to / (m->routers * m->chassis)) return 3 + slot;
  return 7;
}

/* From the time it leaves a rank until its arrival at another. */
static inline double trs_wire_s(const trs_machine *m, int64_t from, int64_t to, int64_t bytes) {
  if (from / m->ranks == to / m->ranks) return m->near_s + (double)bytes * m->near_byte_s;
  return trs_links(m, from, to) * m->hop_s + (double)bytes * m->byte_s;
}

/* C += A B with an A that is read once from memory: after the solve of other supernodes no cache
 * holds it. */
static inline double trs_product_s(const trs_machine *m, int64_t rows, int64_t columns,
                                   int64_t inner) {
  double compute = 2.0 * (double)rows * (double)columns * (double)inner / m->flops;
  double read = 8.0 * (double)rows * (double)inner / m->bytes;
  return m->call + (compute > read ? compute : read);
}

/* The given numbers read and written, in a cache. */
static inline double trs_move_s(const trs_machine *m, int64_t numbers) {
  return 16.0 * (double)numbers * m->copy_s;
}

#endif
