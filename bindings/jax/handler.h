/* handler.h - what the Python package calls of handler.c.  The functions are exported by libtrireme
 * and private: only the package of the same version calls them. */
#ifndef TRIREME_JAX_HANDLER_H
#define TRIREME_JAX_HANDLER_H

#include <trireme.h>

#include "xla_ffi.h"

/* What the first call on a GPU makes its plan or batch from, in host memory. */
typedef struct trs_jax_recipe {
  const void *ptr, *idx;    /* for a plan */
  const trs_matrix *matrix; /* for a batch */
  const void *options;      /* trs_options, whose stream XLA names, or trs_batch_options */
  trs_format format;
  trs_scalar scalar;
  int indexing;
  trs_uplo uplo;
  trs_trans trans;
  trs_diag diag;
  int only; /* the GPU to solve on, or -1: where the program runs */
} trs_jax_recipe;

typedef struct trs_jax_entry trs_jax_entry;

/* The minor version of the installed interface.  XLA is told the same, or XLA_FFI_API_MINOR if that
 * is older. */
TRS_API void trs_jax_announce(int minor_version);

/* Adds one system of n rows, solved by `plan` over A, which borrows val; or `count` systems, solved
 * by `batch`; or, with a recipe, either on GPUs.  Borrows all of them until trs_jax_remove.
 * dtype: XLA_FFI_DataType.  NULL: no memory. */
TRS_API trs_jax_entry *trs_jax_add(int64_t key, trs_plan *plan, trs_matrix *A, trs_plan *batch,
                                   void *val, int64_t n, int64_t nnz, int64_t count, int dtype,
                                   const trs_jax_recipe *recipe);

/* Waits for the calls that have found the entry; destroys what they made on GPUs. */
TRS_API void trs_jax_remove(trs_jax_entry *e);

/* Before XLA destroys its streams: plans wait for their work in them and use them no more. */
TRS_API void trs_jax_leave_streams(void);

/* The custom call: values (count, nnz) and b (count, n, nrhs) to x, with the attributes key, and
 * check: whether an unusable pivot is an error.  Else it gives NaN. */
TRS_API XLA_FFI_Error *trs_jax_solve(XLA_FFI_CallFrame *frame);

#endif
