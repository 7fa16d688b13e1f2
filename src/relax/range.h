/* range.h - what an x has lost that is stored in floats although the caller's is of doubles.  C and
 * CUDA C++. */
#ifndef TRS_RELAX_RANGE_H
#define TRS_RELAX_RANGE_H

#if defined(__CUDACC__) || defined(__HIPCC__)
#define TRS_RANGE static __host__ __device__ inline
#else
#define TRS_RANGE static inline
#endif

typedef struct trs_relax_range {
  double b, x;   /* the largest |b|, |x| */
  double part;   /* the largest |b| of block rows whose x is below the range */
  double needed; /* an x below it loses its products with A */
} trs_relax_range;

typedef enum trs_relax_loss {
  TRS_RELAX_NO_LOSS,
  TRS_RELAX_BELOW,
  TRS_RELAX_BEYOND,
  TRS_RELAX_PRODUCTS,
  TRS_RELAX_PARTS
} trs_relax_loss;

/* The loss of one right-hand side's x; b that is not finite is the caller's affair. */
TRS_RANGE trs_relax_loss trs_relax_judge(const trs_relax_range *r) {
  const double least = 0x1p-102, negligible = 0x1p-52;
  if (!(r->b <= 0x1.fffffffffffffp1023)) return TRS_RELAX_NO_LOSS;
  if (r->b > 0 && r->x < least) return TRS_RELAX_BELOW;
  if (!(r->x <= 0x1.fffffffffffffp1023)) return TRS_RELAX_BEYOND;
  if (r->b == 0) return TRS_RELAX_NO_LOSS;
  if (r->x < r->needed) return TRS_RELAX_PRODUCTS;
  return r->part > negligible * r->b ? TRS_RELAX_PARTS : TRS_RELAX_NO_LOSS;
}

#undef TRS_RANGE
#endif
