/* levelset.h - arguments of the kernel of levelset.  C and CUDA C++. */
#ifndef TRS_L17_LEVELSET_H
#define TRS_L17_LEVELSET_H

#include "analysis/triangle.h"
#include "device/device.h"
#include "solve/cuda/columns.h"

typedef struct trs_levelset {
  trs_system system;    /* by rows */
  const int32_t *order; /* n: rows, level after level */
  trs_gpu_columns columns;
} trs_levelset;

#ifdef __cplusplus
extern "C" {
#endif

/* Solves rows order[begin] to order[end - 1], which are of one level. */
trs_status trs_levelset_level(const trs_levelset *s, int64_t begin, int64_t end, trs_stream stream);

#ifdef __cplusplus
}
#endif
#endif
