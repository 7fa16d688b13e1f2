/* nvshmem_link.h - what libtrireme_nvshmem.so offers: the one place that knows NVSHMEM.  Found at
 * run time, so that neither the library nor its users need NVSHMEM to be there. */
#ifndef TRS_COMM_NVSHMEM_LINK_H
#define TRS_COMM_NVSHMEM_LINK_H

#include <stdint.h>

enum { TRS_NVSHMEM_LINK = 1, TRS_NVSHMEM_ID = 128 }; /* version of this table, bytes of an id */

/* Functions give NULL, or what went wrong.  The calling thread's device is the member's. */
typedef struct trs_nvshmem_link {
  int version;
  const char *(*make_id)(void *id); /* rank 0: what start of all ranks needs */
  const char *(*start)(int rank, int ranks, void *id);
  void (*stop)(void);
  void *(*alloc)(int64_t bytes); /* collective, as free is; NULL: no room */
  void (*free)(void *pointer);
  void *(*reach)(void *pointer, int rank); /* address of a rank's copy, or NULL */
} trs_nvshmem_link;

#define TRS_NVSHMEM_SYMBOL "trs_nvshmem_table"

#endif
