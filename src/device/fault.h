/* fault.h - how a kernel tells that a wait passed its limit.  Shared by C and CUDA C++. */
#ifndef TRS_DEVICE_FAULT_H
#define TRS_DEVICE_FAULT_H

#include <stdint.h>

typedef struct trs_fault {
  int32_t stalled; /* 1 once any wait has passed its limit: every other gives up too */
  int32_t reserved;
  int64_t row;    /* whose wait it was */
  uint64_t limit; /* nanoseconds a wait may last; set by the host */
} trs_fault;

#endif
