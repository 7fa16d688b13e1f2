/* cpu_speed.c - measures bandwidth by reading a buffer as large as the solve's data, from the cache
 * that holds it, and the hop by a chain of dependent rows in the first-level cache. */
#include "backend/cpu_speed.h"

#include <stdbool.h>

#include "base/memory.h"
#include "base/timer.h"

typedef struct stream {
  const double *data;
  int64_t count;
  double sum[1024];
} stream;

static void read_share(void *argument, int rank, int size) {
  stream *s = argument;
  int64_t begin, end;
  trs_share(s->count, rank, size, &begin, &end);
  double sum[16] = {0};
  int64_t i = begin;
  for (; i + 16 <= end; i += 16)
    for (int k = 0; k < 16; k++) sum[k] += s->data[i + k];
  for (int k = 1; k < 16; k++) sum[0] += sum[k];
  if (rank < 1024) s->sum[rank] = sum[0];
}

typedef struct fill_job {
  double *data;
  int64_t count;
} fill_job;

static void fill_share(void *argument, int rank, int size) {
  fill_job *job = argument;
  int64_t begin, end;
  trs_share(job->count, rank, size, &begin, &end);
  for (int64_t i = begin; i < end; i++) job->data[i] = 1e-9 * (double)i;
}

trs_status trs_measure_bandwidth(double *bandwidth, trs_team *team, int size, int64_t bytes) {
  static const int64_t MOST = (int64_t)256 << 20, LEAST = 4096;
  static const double ENOUGH = 10e-3;
  enum { SAMPLES = 5 };
  stream *s;
  double *data;
  bytes = bytes > MOST ? MOST : bytes < LEAST ? LEAST : bytes;
  TRS_TRY(TRS_ALLOC_ZERO(&s, 1));
  s->count = bytes / (int64_t)sizeof *data;
  trs_status status = TRS_ALLOC(&data, s->count);
  if (!status) {
    s->data = data;
    trs_team_run(team, size, fill_share, &(fill_job){data, s->count});
    double start = trs_seconds(), best = 1e30;
    for (int sample = 0; sample < SAMPLES || trs_seconds() - start < ENOUGH; sample++) {
      double before = trs_seconds();
      trs_team_run(team, size, read_share, s);
      double took = trs_seconds() - before;
      best = took < best ? took : best;
    }
    *bandwidth = (double)bytes / best;
  }
  TRS_FREE_ALL(data, s);
  return status;
}

double trs_measure_hop(void) {
  enum { ROWS = 512, REPEATS = 20 };
  double x[ROWS + 1] = {0};
  volatile double coefficient = 0.5, inverse = 0.75;
  double a = coefficient, d = inverse, best = 1e30;
  for (int repeat = 0; repeat < REPEATS; repeat++) {
    volatile double *chain = x; /* each x is stored and loaded, as in a solve */
    double start = trs_seconds();
    for (int i = 0; i < ROWS; i++) chain[i + 1] = (1 - a * chain[i]) * d;
    double took = trs_seconds() - start;
    best = took < best ? took : best;
  }
  return best / ROWS;
}
