/* device_stand_in.h - host memory in the place of GPUs. */
#ifndef TRS_TEST_DEVICE_STAND_IN_H
#define TRS_TEST_DEVICE_STAND_IN_H

#include <stdatomic.h>
#include <stdint.h>

#include "device/device.h"

enum { STAND_IN_DEVICES = 8 };

int64_t stand_in_held(void); /* allocations */

/* The number of further allocations before one fails, and whether all behind it fail too; negative:
 * that has happened.  INT64_MAX at first. */
extern int64_t stand_in_fails_after;
extern bool stand_in_fails_lastingly;

/* Not NULL: there is a kernel that runs until this is no more 0. */
extern _Atomic uint64_t *stand_in_kernel;

/* A stream that is part of a graph; what is told that one stream goes on behind what another held.
 */
extern trs_stream stand_in_captures;
extern void (*stand_in_followed)(trs_stream stream, trs_stream other);

/* Whatever was launched and is not done yet, where a test has kernels that go on beside each other:
 * called before anything is copied, filled or waited for, and where an event is recorded. */
extern void (*stand_in_work)(void);

extern bool stand_in_addresses; /* all addresses are in the first device's memory, else none */

#endif
