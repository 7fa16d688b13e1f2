/* machine_model.c - the rows of the machine model.  Titles in quotes are entries of
 * docs/experiments/. */
#include "base/machine_model.h"

#include <stddef.h>
#include <string.h>

/* Measured on H200s, and valid on the H100; the facts are those of the H100, which has less. */
const trs_gpu_costs trs_gpu_measured = {
    .memory_bandwidth = 3.35e12, /* by its data sheet, as the next one */
    .multiprocessors = 132,

    /* Solves by engine from host memory, 2026-11-20. */
    .start = 30e-6,
    .bus_bandwidth = 10e9,
    .level = 0.6e-6,
    .stored_bandwidth = 2e12,

    /* Fitted to solves by one kernel and by two, 2026-11-23. */
    .launch = 2e-6,
    .cluster_launch = 6e-6,
    .change = 4e-6,
    .cluster_change = 24e-6,

    /* Fitted to solves by this kernel alone, 2026-11-23 and 26; "Where a level's time goes",
     * "Measuring the hop between multiprocessors at one place". */
    .hop = 0.52e-6,
    .batch_hop = 0.05e-6,
    .entry_hop = 4e-9,
    .slice = 1.85e-9,
    .waiting_bandwidth = 2.2e12,
    .hop_entries = 95000, /* of the two above, rounded */

    /* "Narrow levels in one block of threads", "Levels of few rows in a cluster of blocks". */
    .block_level = 0.12e-6,
    .block_slice = 0.07e-6,
    .block_step = 0.095e-6,
    .cluster_level = 0.25e-6,
    .cluster_slice = 0.075e-6,
    .multiprocessor_bandwidth = 90e9,

    /* "Eight right-hand sides at once in the kernels of one", "The estimated cost of heavy blocks
     * in a tile", "Transposing b and x for many right-hand sides". */
    .place = 1.25e-9,
    .scattered_place = 2.3e-9,
    .many_level = 1.5e-6,
    .many_part = 0.34e-6,
    .many_part_byte = 0.4e-9,
    .many_bandwidth = 2.5e12,
    .groups_level = 1.1e-6,
    .groups_bandwidth = 4e12,
    .settled_bandwidth = 6e12,

    /* "Smaller plans and a faster analysis of substitution". */
    .substitution = 500e-6,

    /* "Several GPUs": two and four H200s, 2026-11-21. */
    .group_start = 40e-6,
    .group_launch = 4e-6,
    .group_hop = 0.46e-6,
    .peer_hop = 0.35e-6,
    .push = 12e-12,
    .group_bandwidth = 3.3e12,
    .link_bandwidth = 380e9,
};

/* Devices that were measured, by a part of the name that the driver gives. */
static const struct {
  const char *name;
  const trs_gpu_costs *costs;
} devices[] = {{"H100", &trs_gpu_measured}, {"H200", &trs_gpu_measured}};

/* The generic row, not measured.  Rates of memory and caches go with the memory's bandwidth, places
 * of warps with the number of multiprocessors.  Latencies, the bus and the links are those of the
 * measured row. */
static trs_gpu_costs generic(double bandwidth, int multiprocessors) {
  trs_gpu_costs m = trs_gpu_measured;
  double *const rates[] = {&m.memory_bandwidth,  &m.stored_bandwidth, &m.waiting_bandwidth,
                           &m.hop_entries,       &m.many_bandwidth,   &m.groups_bandwidth,
                           &m.settled_bandwidth, &m.group_bandwidth};
  double *const times[] = {&m.slice, &m.place, &m.scattered_place};
  const double faster = bandwidth > 0 ? bandwidth / m.memory_bandwidth : 1,
               wider = multiprocessors > 0 ? multiprocessors / m.multiprocessors : 1;
  for (size_t k = 0; k < sizeof rates / sizeof rates[0]; k++) *rates[k] *= faster;
  for (size_t k = 0; k < sizeof times / sizeof times[0]; k++) *times[k] /= wider;
  m.multiprocessors *= wider;
  return m;
}

trs_gpu_costs trs_gpu_costs_of(const char *name, double bandwidth, int multiprocessors) {
  for (size_t k = 0; k < sizeof devices / sizeof devices[0]; k++)
    if (strstr(name, devices[k].name)) return *devices[k].costs;
  return generic(bandwidth, multiprocessors);
}

const trs_cpu_costs trs_cpu_generic = {
    /* "Cost of a row and of an entry in the estimate of `auto`" (Zen 5, Xeon), "Measuring the
     * machine's latencies when a team is made". */
    .row = 0.9e-9,
    .entry = 0.35e-9,
    .start = 2e-6,
    .wait = 20e-9,

    /* "Large 3D 7-point grids in natural order on few threads" (EPYC). */
    .cache_bytes = 24e6,

    /* "Panels on a CPU" (Zen 4), "Subtrees on a CPU" (Xeon of 16 cores). */
    .panel = 6e-9,
    .panel_line = 0.4e-9,
    .panel_value = 0.13e-9,
    .panel_column = 12e-9,
    .barrier = 0.25e-6,
    .barrier_member = 0.04e-6,
};
