/* speed.cu - the bandwidth, by repeated reads of a buffer as large as the solve's data past the
 * first-level caches; the hop, by two blocks that exchange a number, each word one relaxed store,
 * polled by relaxed loads.  The time of a hop varies by nearly a factor of two with the place of
 * the words in the second-level cache and with the multiprocessors of the blocks, so the minimum
 * over many places and pairs counts. */
#include "device/speed.h"

#include <math.h>
#include <pthread.h>

#include "device/kernel.cuh"

namespace {

enum { BLOCK = 256, BLOCKS_A_MULTIPROCESSOR = 4, UNROLL = 4, SAMPLES = 5 };

const int64_t LEAST = 4096, MOST = int64_t(1) << 30; /* bytes of the buffer */
const int64_t TRAFFIC = int64_t(1) << 30; /* read in one sample, so that the launch time is
                                             negligible */

/* Sizes fall into classes of a quarter octave; each class is measured at its lower end. */
enum { CLASSES = 73, MOST_DEVICES = 64 };
const double CLASS_RATIO = 1.189207115002721; /* 2^(1/4) */

struct known_speeds {
  double hop, bandwidth[CLASSES]; /* 0: not measured */
};
known_speeds known[MOST_DEVICES];
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- Bandwidth ---- */

/* Consecutive threads read consecutive words and continue at the start of the buffer after its
 * end. */
__global__ void __launch_bounds__(BLOCK)
    read_buffer(const uint4 *data, unsigned count, int rounds, unsigned *sink) {
  unsigned thread = blockIdx.x * BLOCK + threadIdx.x, sum = 0;
  unsigned at = thread % count, step = gridDim.x * BLOCK % count;
  for (int round = 0; round < rounds; round++) {
    uint4 v[UNROLL];
#pragma unroll
    for (int u = 0; u < UNROLL; u++) {
      v[u] = trs::load_past_l1(data + at);
      at += step;
      if (at >= count) at -= count;
    }
#pragma unroll
    for (int u = 0; u < UNROLL; u++) sum |= v[u].x | v[u].y | v[u].z | v[u].w;
  }
  if (sum) *sink = sum; /* never true, but the compiler does not know that the buffer is zero */
}

/* Not from the pool, which would keep it.  Halves the size until the allocation succeeds. */
trs_status allocate_buffer(void **buffer, int64_t *bytes) {
  cudaError_t error;
  while ((error = cudaMalloc(buffer, static_cast<size_t>(*bytes))) != cudaSuccess &&
         *bytes / 2 >= LEAST) {
    (void)cudaGetLastError();
    *bytes /= 2;
  }
  return trs_device_check(error, "allocating memory to measure the bandwidth");
}

trs_status time_reads(double *bandwidth, void *buffer, int64_t bytes, int multiprocessors,
                      trs_device_timer *timer, trs_stream stream) {
  auto s = static_cast<cudaStream_t>(stream);
  int blocks = multiprocessors * BLOCKS_A_MULTIPROCESSOR;
  int64_t round = int64_t(blocks) * BLOCK * UNROLL * int64_t(sizeof(uint4));
  int rounds = static_cast<int>((TRAFFIC + round - 1) / round);
  double best = 1e30;
  TRS_TRY(trs_device_fill(buffer, 0, bytes, stream));
  for (int sample = 0; sample <= SAMPLES; sample++) { /* the first sample warms up */
    trs_device_timer_start(timer, stream);
    read_buffer<<<blocks, BLOCK, 0, s>>>(static_cast<const uint4 *>(buffer),
                                         static_cast<unsigned>(bytes / sizeof(uint4)), rounds,
                                         static_cast<unsigned *>(buffer));
    double took = trs_device_timer_stop(timer, stream);
    if (sample > 0 && took > 0 && took < best) best = took;
  }
  TRS_TRY(trs_device_check(cudaGetLastError(), "measuring the bandwidth"));
  if (best == 1e30) return trs_fail(TRS_ERROR_INTERNAL, -1, "the GPU's events measured no time");
  *bandwidth = double(round) * rounds / best;
  return TRS_SUCCESS;
}

trs_status measure_bandwidth(double *bandwidth, const trs_device *device, int64_t bytes,
                             trs_stream stream) {
  void *buffer = nullptr;
  trs_device_timer *timer = nullptr;
  TRS_TRY(allocate_buffer(&buffer, &bytes));
  trs_status status = trs_device_timer_create(&timer);
  if (!status)
    status = time_reads(bandwidth, buffer, bytes, trs_device_look(device)->multiprocessors, timer,
                        stream);
  trs_device_timer_destroy(timer);
  (void)cudaFree(buffer);
  return status;
}

/* ---- The hop ---- */

enum { WARM_ROUNDS = 20, ROUNDS = 120, PLACES = 16, PARTNERS = 16 };
const int64_t APART = 4224;            /* bytes between consecutive places */
const uint64_t PATIENCE = 1000000000u; /* nanoseconds; the longest wait for the other block */

struct ping_pong {
  alignas(128) unsigned word[2][32]; /* one cache line per writing block */
  unsigned tickets;
  unsigned long long nanoseconds;
  trs_fault fault;
};

/* Block 0 and its partner exchange numbers; the other blocks only separate the two. */
__global__ void exchange(ping_pong *p, unsigned partner) {
  if (blockIdx.x != 0 && blockIdx.x != partner) return;
  unsigned me = atomicAdd(&p->tickets, 1u);
  unsigned *mine = &p->word[me][0], *other = &p->word[1 - me][0];
  unsigned long long start = 0;
  for (unsigned round = 1; round <= ROUNDS; round++) {
    if (round == WARM_ROUNDS) start = trs::nanoseconds();
    if (me == 0) trs::store_relaxed(mine, round);
    trs::wait w(&p->fault);
    while (trs::load_relaxed(other) < round)
      if (!w.goes_on(round)) return;
    if (me == 1) trs::store_relaxed(mine, round);
  }
  if (me == 0) p->nanoseconds = trs::nanoseconds() - start;
}

trs_status time_hop(double *seconds, char *place, unsigned partner, trs_stream stream) {
  auto *there = reinterpret_cast<ping_pong *>(place);
  ping_pong here = {};
  here.fault.limit = PATIENCE;
  TRS_TRY(trs_device_copy(there, &here, sizeof here, stream));
  exchange<<<partner + 1, 1, 0, static_cast<cudaStream_t>(stream)>>>(there, partner);
  TRS_TRY(trs_device_check(cudaGetLastError(), "measuring a hop"));
  TRS_TRY(trs_device_copy(&here, there, sizeof here, stream));
  TRS_TRY(trs_device_wait(stream));
  *seconds = here.fault.stalled
                 ? HUGE_VAL
                 : 1e-9 * double(here.nanoseconds) / (2.0 * (ROUNDS - WARM_ROUNDS + 1));
  return TRS_SUCCESS;
}

/* 0 if the two blocks did not run at the same time. */
trs_status time_hops(double *seconds, char *places, int multiprocessors, trs_stream stream) {
  double best = HUGE_VAL, took = 0;
  for (int k = 0; k < PARTNERS && took < HUGE_VAL; k++)
    for (int place = 0; place < PLACES && took < HUGE_VAL; place++) {
      const auto partner = unsigned(1 + k * (multiprocessors - 1) / PARTNERS);
      TRS_TRY(time_hop(&took, places + place * APART, partner, stream));
      best = took < best ? took : best;
    }
  *seconds = best < 1 ? best : 0;
  return TRS_SUCCESS;
}

trs_status measure_hop(double *seconds, int multiprocessors, trs_stream stream) {
  void *places = nullptr;
  TRS_TRY(trs_device_check(cudaMalloc(&places, size_t(PLACES * APART)),
                           "allocating memory to measure a hop"));
  trs_status status = time_hops(seconds, static_cast<char *>(places), multiprocessors, stream);
  (void)cudaFree(places);
  return status;
}

}  // namespace

extern "C" trs_status trs_gpu_bandwidth(double *bandwidth, const trs_device *device, int64_t bytes,
                                        trs_stream stream) {
  int size_class = 0;
  double size = double(LEAST);
  while (size * CLASS_RATIO <= double(bytes) && size_class < CLASSES - 1) {
    size *= CLASS_RATIO;
    size_class++;
  }
  int64_t measured = static_cast<int64_t>(size);
  measured = (measured < MOST ? measured : MOST) / 512 * 512; /* whole warps of 16 bytes */
  trs_status status = TRS_SUCCESS;
  int before = trs_device_enter(device);
  pthread_mutex_lock(&lock);
  double *speed = &known[trs_device_look(device)->ordinal].bandwidth[size_class];
  if (*speed == 0) status = measure_bandwidth(speed, device, measured, stream);
  *bandwidth = *speed;
  pthread_mutex_unlock(&lock);
  trs_device_leave(before);
  return status;
}

extern "C" trs_status trs_gpu_hop(double *seconds, const trs_device *device, trs_stream stream) {
  trs_status status = TRS_SUCCESS;
  int before = trs_device_enter(device);
  pthread_mutex_lock(&lock);
  double *hop = &known[trs_device_look(device)->ordinal].hop;
  if (*hop == 0) status = measure_hop(hop, trs_device_look(device)->multiprocessors, stream);
  *seconds = *hop;
  pthread_mutex_unlock(&lock);
  trs_device_leave(before);
  return status;
}
