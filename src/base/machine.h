/* machine.h - what the machine has. */
#ifndef TRS_BASE_MACHINE_H
#define TRS_BASE_MACHINE_H

#include <stdint.h>

/* Bytes of memory that this process may use: the machine's, or the limit of its control group where
 * that is less. */
int64_t trs_machine_memory(void);

#endif
