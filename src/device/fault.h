/* fault.h - how a kernel reports that a wait passed its limit.  Shared by C and CUDA C++. */
#ifndef TRS_DEVICE_FAULT_H
#define TRS_DEVICE_FAULT_H

#include <stdint.h>

/* Nanoseconds until a wait counts as stalled. */
#define TRS_WAIT_LIMIT UINT64_C(10000000000)

typedef struct trs_fault {
  int32_t stalled; /* 1 once a wait has passed its limit; all other waits then end too */
  int32_t reserved;
  int64_t row;    /* the row that waited */
  uint64_t limit; /* the longest wait in nanoseconds; set by the host */
} trs_fault;

#endif
