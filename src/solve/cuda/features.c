/* features.c - a sample of rows in device memory, read as features. */
#include "solve/cuda/analysis.h"
#include "solve/cuda/choice.h"

trs_status trs_gpu_features(trs_pattern_features *features, trs_device *device,
                            const trs_gpu_pattern *pattern, trs_stream stream) {
  trs_row_sample s;
  *features = (trs_pattern_features){0};
  TRS_TRY(trs_gpu_sample_rows(&s, device, pattern, stream));
  if (s.rows == 0) return TRS_SUCCESS;
  *features = (trs_pattern_features){.n = pattern->n,
                                     .row_length = (double)s.entries / (double)s.rows,
                                     .chained = (double)s.chained / (double)s.rows,
                                     .run = (double)s.run / (double)s.rows};
  return TRS_SUCCESS;
}
