/* features.c - features of the pattern from a sample of rows in device memory. */
#include "solve/cuda/engine/analysis.h"
#include "solve/cuda/engine/choice.h"

trs_status trs_gpu_begin_features(trs_feature_sample *sample, trs_device *device,
                                  const trs_gpu_pattern *pattern, trs_stream stream) {
  *sample = (trs_feature_sample){device, *pattern, stream, NULL};
  if (pattern->n == 0) return TRS_SUCCESS;
  TRS_TRY(trs_device_alloc_stage(device, &sample->sums));
  trs_status status = trs_gpu_sample_rows(sample);
  if (status) trs_device_free_stage(device, sample->sums);
  return status;
}

static void read_features(trs_pattern_features *features, const trs_feature_sample *sample) {
  trs_row_sample s;
  trs_gpu_sum_rows(&s, sample);
  *features = (trs_pattern_features){.n = sample->pattern.n,
                                     .row_length = (double)s.entries / (double)s.rows,
                                     .chained = (double)s.chained / (double)s.rows,
                                     .run = (double)s.run / (double)s.rows};
}

trs_status trs_gpu_end_features(trs_pattern_features *features, trs_feature_sample *sample) {
  *features = (trs_pattern_features){0};
  if (!sample->sums) return TRS_SUCCESS;
  trs_status status = trs_device_wait(sample->stream);
  if (!status) read_features(features, sample);
  trs_device_free_stage(sample->device, sample->sums);
  return status;
}
