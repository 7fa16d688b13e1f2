/* mapped.h - memory on the GPU of each rank that the GPUs of the other ranks on the same machine
 * access.  The ranks exchange handles by whatever connects them. */
#ifndef TRS_COMM_MAPPED_H
#define TRS_COMM_MAPPED_H

#include "device/shared.h"

typedef struct trs_mapped {
  trs_device *device;
  int members, me;
  int64_t bytes;                /* of own memory */
  char *base[TRS_MOST_MEMBERS]; /* own memory; that of the others while it is open; or NULL */
  trs_device_handle handle;     /* of own memory, for the others */
} trs_mapped;

/* Own memory, uninitialised.  The caller has set device, members and me. */
trs_status trs_mapped_alloc(trs_mapped *m, int64_t bytes);
/* Opens the memory of another rank by its handle. */
trs_status trs_mapped_open(trs_mapped *m, int other, const trs_device_handle *handle);
/* Closes the memory of all others.  Each rank has to do so before any frees its own. */
void trs_mapped_close(trs_mapped *m);
void trs_mapped_free(trs_mapped *m);

#endif
