/* refactor.h - the state that new values of block factors need, on the host and on a GPU. */
#ifndef TRS_RELAX_REFACTOR_H
#define TRS_RELAX_REFACTOR_H

#include "factor/bilu0.h"
#include "relax/triangle.h"

typedef struct trs_refactor_gpu trs_refactor_gpu; /* relax/cuda/refactor.c */

struct trs_refactor {
  trs_bilu0 *w;
  int32_t *place;           /* n: the block row of the factors that is A's */
  int32_t *own;             /* n: the block row of A that is the factors' */
  uint8_t *from;            /* n x block: its row r is A's row from[r] */
  bool permutes, exchanges; /* own, or from, is not the identity */
  trs_refactor_gpu *gpu;    /* NULL until needed */
};

/* New values that lie in a GPU's memory, factored there. */
typedef struct trs_refactor_device {
  /* source: the pattern of new blocks on the host, or none (ptr NULL): that of the call before; val
   * lies in device memory.  L, U: in the memory of one GPU.  Waits for the result. */
  trs_status (*run)(trs_refactor *f, trs_relaxation *L, trs_relaxation *U,
                    const trs_block_source *source);
  void (*free)(trs_refactor *f);
} trs_refactor_device;

extern const trs_refactor_device trs_refactor_cuda;

/* The place in w of A's block in row own and that column, or -1; the error if there is none. */
int64_t trs_refactor_find(const trs_refactor *f, int64_t own, int32_t column);
trs_status trs_refactor_new_block(int64_t own);

/* The error of block row i of the factors.  column: without a pivot; negative: not finite. */
trs_status trs_refactor_fail(const trs_refactor *f, int64_t i, int column);

#endif
