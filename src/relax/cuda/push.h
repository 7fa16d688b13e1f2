/* push.h - transfer of x between the members of a group: arguments of the kernels.  C and CUDA C++.
 */
#ifndef TRS_RELAX_CUDA_PUSH_H
#define TRS_RELAX_CUDA_PUSH_H

#include "device/fault.h"
#include "relax/cuda/args.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One per member, in symmetric memory.  Steps of colours are counted from 1 on, over all calls;
 * every member executes the same steps. */
typedef struct trs_relax_signs {
  uint64_t begun[TRS_MOST_MEMBERS];  /* the step in which member m may be sent x of that colour */
  uint64_t pushed[TRS_MOST_MEMBERS]; /* the latest step whose x member m has sent */
  trs_fault fault;  /* row: the member whose wait passed the limit; that member stalls all */
  uint32_t arrived; /* blocks of threads that have pushed in this step */
} trs_relax_signs;

/* A member's step of a colour. */
typedef struct trs_relax_step {
  int32_t me, members;
  uint64_t step;
  uint32_t senders, receivers;       /* bits: members that send x of this colour to me, or get it */
  uint64_t needed[TRS_MOST_MEMBERS]; /* steps whose push must be complete; 0: none */
  trs_relax_signs *signs[TRS_MOST_MEMBERS];
} trs_relax_step;

/* The rows at positions begin to end - 1, and their receivers as in trs_relax_peer_sync.  x of a
 * member: right-hand side c's row p at x + c stride + p pitch. */
typedef struct trs_relax_push {
  int64_t begin, end;
  const int32_t *ptr, *to;
  const uint8_t *member;
  int block, pitch, nrhs, size; /* size: bytes of an element */
  int64_t stride[TRS_MOST_MEMBERS];
  void *x[TRS_MOST_MEMBERS];
} trs_relax_push;

/* Signals the senders that rows before this step are done, and waits for the rows that it needs.
 * overlaps: the previous launch in the stream may still run; this one waits for it. */
trs_status trs_relax_begin_step(const trs_relax_step *step, int overlaps, trs_stream stream);
/* The previous launch relaxes boundary rows.  This one waits until receivers accept them, stores
 * them there, and signals the receivers. */
trs_status trs_relax_push_rows(const trs_relax_step *step, const trs_relax_push *push, int overlaps,
                               trs_stream stream);

#ifdef __cplusplus
}
#endif
#endif
