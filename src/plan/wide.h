/* wide.h - the right-hand sides that share one pass of a CPU over a matrix, in vector registers:
 * rhs_tmpl.c moves them, wide_tmpl.c computes with them.  For a kernels.c (base/cpu.h). */
#ifndef TRS_PLAN_WIDE_H
#define TRS_PLAN_WIDE_H

#include "plan/method.h"

/* TRS_WIDE right-hand sides are adjacent in a workspace.  From TRS_WIDE_LEAST on, a pass over
 * TRS_WIDE of them is faster than one pass for each; the rest of the workspace is zeros. */
enum { TRS_WIDE = 8, TRS_WIDE_LEAST = 3 };

/* The registers' size.  gcc keeps larger vectors in memory. */
#if defined(__AVX512F__)
enum { TRS_VECTOR_BYTES = 64 };
#elif defined(__AVX__)
enum { TRS_VECTOR_BYTES = 32 };
#else
enum { TRS_VECTOR_BYTES = 16 };
#endif
enum { TRS_VECTOR_MOST = 64 }; /* of every level of instructions */

/* True if rows are so short that fewer than TRS_WIDE right-hand sides are faster without zeros
 * beside them, where they lie: moving takes most of the time of a pass. */
static inline bool trs_wide_brief(const trs_system *S) {
  enum { LONG = 16 };
  return S->nnz < LONG * S->n;
}

/* The right-hand sides of the next pass, if left of them remain: TRS_WIDE or the rest of them, or
 * one. */
static inline int trs_wide_next(int64_t left, bool brief) {
  if (left >= TRS_WIDE) return TRS_WIDE;
  return left >= TRS_WIDE_LEAST && !brief ? (int)left : 1;
}

#endif
