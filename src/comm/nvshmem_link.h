/* nvshmem_link.h - the interface of libtrireme_nvshmem.so, the only code that uses NVSHMEM.  It is
 * loaded at run time, so that neither the library nor its users need NVSHMEM. */
#ifndef TRS_COMM_NVSHMEM_LINK_H
#define TRS_COMM_NVSHMEM_LINK_H

#include <stdint.h>

enum {
  TRS_NVSHMEM_LINK = 1,
  TRS_NVSHMEM_ID = 128
}; /* the version of this table; the bytes of an
      id */

/* Functions return NULL, or a text with the failure.  The calling thread's device is the
 * member's. */
typedef struct trs_nvshmem_link {
  int version;
  const char *(*make_id)(void *id); /* on rank 0: the id for start on all ranks */
  const char *(*start)(int rank, int ranks, void *id);
  void (*stop)(void);
  void *(*alloc)(int64_t bytes); /* collective, as free is; NULL: no memory left */
  void (*free)(void *pointer);
  void *(*reach)(void *pointer, int rank); /* the address of a rank's copy, or NULL */
} trs_nvshmem_link;

#define TRS_NVSHMEM_SYMBOL "trs_nvshmem_table"

#endif
