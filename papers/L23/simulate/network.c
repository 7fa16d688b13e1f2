/* network.c - messages on links that carry one at a time. */
#include "simulate/network.h"

#include <string.h>

#include "base/memory.h"

trs_status trs_network_create(trs_network *net, const trs_machine *m, int64_t ranks) {
  int64_t nodes = (ranks + m->ranks - 1) / m->ranks, routers = (nodes + m->nodes - 1) / m->nodes;
  *net = (trs_network){.m = m, .nodes = nodes, .routers = routers};
  trs_status status = TRS_ALLOC_ZERO(&net->up, nodes);
  if (!status) status = TRS_ALLOC_ZERO(&net->down, nodes);
  if (!status) status = TRS_ALLOC_ZERO(&net->between, routers * routers);
  if (status) trs_network_free(net);
  return status;
}

void trs_network_free(trs_network *net) { TRS_FREE_ALL(net->up, net->down, net->between); }

void trs_network_clear(trs_network *net) {
  memset(net->up, 0, (size_t)net->nodes * sizeof *net->up);
  memset(net->down, 0, (size_t)net->nodes * sizeof *net->down);
  memset(net->between, 0, (size_t)(net->routers * net->routers) * sizeof *net->between);
}

bool trs_network_shares(const trs_network *net, int64_t from, int64_t to) {
  return from / net->m->ranks != to / net->m->ranks;
}

/* The message waits for the link and keeps it busy; returns the time at which it begins. */
static double take(double *free, double time, double seconds) {
  if (*free > time) time = *free;
  *free = time + seconds;
  return time;
}

double trs_network_carry(trs_network *net, int64_t from, int64_t to, int64_t bytes, double time) {
  const trs_machine *m = net->m;
  double seconds = (double)bytes * m->byte_s;
  int64_t source = from / m->ranks, target = to / m->ranks;
  if (source == target) return time + trs_wire_s(m, from, to, bytes);
  time = take(&net->up[source], time, seconds);
  if (source / m->nodes != target / m->nodes)
    time = take(&net->between[source / m->nodes * net->routers + target / m->nodes], time, seconds);
  time = take(&net->down[target], time, seconds);
  return time + trs_wire_s(m, from, to, bytes);
}
