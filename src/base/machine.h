/* machine.h - the machine's memory. */
#ifndef TRS_BASE_MACHINE_H
#define TRS_BASE_MACHINE_H

#include <stdint.h>

/* Bytes of memory that this process may use: the machine's memory, or the limit of its control
 * group if that is smaller. */
int64_t trs_machine_memory(void);

#endif
