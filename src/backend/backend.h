/* backend.h - the interface of a backend: one table of functions, listed once in backends.def.
 * A new one (SYCL) provides this table: docs/adding/backend.md. */
#ifndef TRS_BACKEND_BACKEND_H
#define TRS_BACKEND_BACKEND_H

#include "device/device.h"

typedef struct trs_backend trs_backend;

struct trs_backend {
  const char *name;
  trs_context_kind kind; /* of its contexts */
  bool gpu;              /* methods run on GPUs, and x and b may lie in device memory */
  bool finds_gpu;        /* the context opens a GPU if a solve is large: trs_context_find_device */

  /* A context of this backend offers the methods of these backends; NULL ends the list. */
  const trs_backend *const *offers;
  /* Why a context of another backend does not offer the methods of this backend; NULL: because they
   * belong to another one. */
  const char *elsewhere;

  /* name: as the caller gave it; argument: the text behind its colon, or NULL.  Sets the fields of
   * the context that the backend needs.  After a failure the context is closed as after a success.
   */
  trs_status (*open)(trs_context *context, const char *name, const char *argument);
  /* Releases what open and trs_context_find_device acquired.  Not called in a forked process. NULL:
   * nothing. */
  void (*close)(trs_context *context);

  /* Makes the context's device the calling thread's current device; leave restores the previous
   * one.  NULL: the backend has no device. */
  int (*enter)(const trs_context *context);
  void (*leave)(int before);

  /* The device's name; NULL: none. */
  const char *(*describe)(const trs_context *context);

  /* The rates from which the reference time of a solve is computed: the bytes per second that a
   * number of threads reads from a working set of a given size, and the seconds from one x to the
   * next x that depends on it.  NULL: the context's methods belong to other backends. */
  trs_status (*bandwidth)(double *bandwidth, const trs_context *context, int threads, int64_t bytes,
                          trs_stream stream);
  trs_status (*hop)(double *seconds, const trs_context *context, trs_stream stream);
};

extern const trs_backend trs_backend_auto, trs_backend_serial, trs_backend_threads,
    trs_backend_cuda, trs_backend_cuda_group;

#endif
