/* device.c - the runtime of the GPU's vendor behind device.h. */
#include "device/device.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/process.h"
#include "base/text.h"
#include "device/gpu.h"
#include "device/shared.h"

enum { MOST_DEVICES = 64, PINNED = 64, STAGES = 16 };

/* Pieces of pinned host memory.  Pinning takes the system most of a millisecond, so a device pins
 * `count` pieces once and lends them; a request beyond these pins a piece of its own. */
typedef struct pinned_pieces {
  char *memory; /* count pieces of `bytes` bytes, or NULL; under the lock */
  bool taken[PINNED];
  int count;
  size_t bytes;
} pinned_pieces;

struct trs_device {
  int references;   /* under the lock */
  unsigned process; /* the process that opened it */
  trs_device_facts facts;
  cudaMemPool_t pool;
  _Atomic int64_t limit, allowed; /* in bytes: that of the tests, that of the context in use; 0:
                                     none */
  _Atomic int64_t plain;          /* bytes held outside the pool: shared.h */
  pinned_pieces blocks, stages;
  cudaStream_t side; /* NULL until the first request; under the lock */
};

static trs_device *opened[MOST_DEVICES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* A call that the runtime refuses is a fault of Trireme's; all else is the device's, the driver's
 * or an earlier kernel's, which may be the program's own. */
static bool is_misuse(int error) {
  return error == cudaErrorInvalidValue || error == cudaErrorInvalidConfiguration ||
         error == cudaErrorInvalidResourceHandle || error == cudaErrorInvalidDeviceFunction;
}

trs_status trs_device_check(int error, const char *what) {
  if (error == cudaSuccess) return TRS_SUCCESS;
  (void)cudaGetLastError(); /* clears the error, so that the next call does not return it */
  trs_status status = error == cudaErrorMemoryAllocation         ? TRS_ERROR_MEMORY
                      : error == cudaErrorNoKernelImageForDevice ? TRS_ERROR_UNSUPPORTED
                      : is_misuse(error)                         ? TRS_ERROR_INTERNAL
                                                                 : TRS_ERROR_DEVICE;
  return trs_fail(status, -1, "%s: " TRS_GPU_RUNTIME " says %s", what,
                  cudaGetErrorString((cudaError_t)error));
}

/* The runtime belongs to the process that used it first; in a forked child its state is invalid. */
static trs_status check_process(void) {
  static atomic_uint first; /* the number of that process, plus one; 0: none yet */
  unsigned none = 0, own = trs_process() + 1;
  if (atomic_compare_exchange_strong(&first, &none, own) || none == own) return TRS_SUCCESS;
  return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                  TRS_GPU_RUNTIME
                  " was used before this process was forked, and does not survive a fork: "
                  "use GPUs in the child alone, or start it with exec");
}

/* The peak of the device's memory, bytes per second: two transfers per cycle.  0: unknown. */
static double memory_bandwidth(int ordinal) {
  int kilohertz = 0, bits = 0;
  if (cudaDeviceGetAttribute(&kilohertz, cudaDevAttrMemoryClockRate, ordinal) != cudaSuccess ||
      cudaDeviceGetAttribute(&bits, cudaDevAttrGlobalMemoryBusWidth, ordinal) != cudaSuccess) {
    (void)cudaGetLastError(); /* which is no failure of a later launch */
    return 0;
  }
  return 2e3 * kilohertz * bits / 8;
}

/* What only NVIDIA's GPUs have, and which of them kernels are compiled for. */
#if TRS_GPU_AMD
static trs_status look_at_vendor(trs_device_facts *facts, const struct cudaDeviceProp *p) {
  facts->shared_bytes = (int64_t)p->sharedMemPerBlock;
  return TRS_SUCCESS;
}
#else
static trs_status look_at_vendor(trs_device_facts *facts, const struct cudaDeviceProp *p) {
  facts->capability = p->major;
  facts->shared_bytes = (int64_t)p->sharedMemPerBlockOptin;
  if (p->major >= 8) return TRS_SUCCESS;
  return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                  "GPU %d (%s) has compute capability %d.%d: 8.0 or newer is needed",
                  facts->ordinal, facts->name, p->major, p->minor);
}
#endif

static trs_status look(trs_device *device, int ordinal) {
  struct cudaDeviceProp p;
  TRS_TRY(trs_device_check(cudaGetDeviceProperties(&p, ordinal), "looking at the device"));
  trs_device_facts *facts = &device->facts;
  facts->ordinal = ordinal;
  snprintf(facts->name, sizeof facts->name, "%.63s", p.name);
  facts->multiprocessors = p.multiProcessorCount;
  facts->warp = p.warpSize;
  facts->threads_per_multiprocessor = p.maxThreadsPerMultiProcessor;
  facts->l2_bytes = p.l2CacheSize;
  facts->memory_bytes = (int64_t)p.totalGlobalMem;
  facts->costs = trs_gpu_costs_of(facts->name, memory_bandwidth(ordinal), facts->multiprocessors);
  return look_at_vendor(facts, &p);
}

static trs_status make_pool(trs_device *device) {
  struct cudaMemPoolProps props = {
      .allocType = cudaMemAllocationTypePinned,
      .location = {.type = cudaMemLocationTypeDevice, .id = device->facts.ordinal}};
  uint64_t keep = UINT64_MAX;
  TRS_TRY(trs_device_check(cudaMemPoolCreate(&device->pool, &props), "making a memory pool"));
  return trs_device_check(
      cudaMemPoolSetAttribute(device->pool, cudaMemPoolAttrReleaseThreshold, &keep),
      "making a memory pool");
}

static trs_status open_new(trs_device **result, int ordinal) {
  trs_device *device;
  TRS_TRY(TRS_ALLOC_ZERO(&device, 1));
  device->references = 1;
  device->process = trs_process();
  device->blocks = (pinned_pieces){.count = PINNED, .bytes = TRS_PINNED_BYTES};
  device->stages = (pinned_pieces){.count = STAGES, .bytes = TRS_STAGE_BYTES};
  trs_status status = look(device, ordinal);
  if (!status) {
    TRS_ON_DEVICE(device);
    status = make_pool(device);
  }
  if (status) {
    trs_free(device);
    return status;
  }
  *result = opened[ordinal] = device;
  return TRS_SUCCESS;
}

static char list[4096];

static void write_list(int count) {
  size_t used = 0;
  for (int d = 0; d < count && used < sizeof list; d++) {
    struct cudaDeviceProp p;
    if (cudaGetDeviceProperties(&p, d) != cudaSuccess) break;
    int more = trs_print(list + used, sizeof list - used, TRS_GPU_BACKEND ":%-5d%s, %.0f GB\n", d,
                         p.name, (double)p.totalGlobalMem / 1e9);
    if (more > 0) used += (size_t)more;
  }
}

/* The GPUs that the runtime shows to a process do not change. */
const char *trs_device_list(void) {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) count = 0;
  (void)cudaGetLastError();
  pthread_mutex_lock(&lock);
  if (count && !*list) write_list(count);
  pthread_mutex_unlock(&lock);
  return list;
}

trs_status trs_device_open(trs_device **device, int ordinal) {
  int count = 0;
  *device = NULL;
  TRS_TRY(check_process());
  TRS_TRY(trs_device_total(&count));
  if (ordinal < 0 || ordinal >= count || ordinal >= MOST_DEVICES)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "no GPU %d: " TRS_GPU_RUNTIME " shows %d, counted from 0", ordinal, count);
  trs_status status = TRS_SUCCESS;
  pthread_mutex_lock(&lock);
  if (opened[ordinal]) {
    *device = opened[ordinal];
    (*device)->references++;
  } else {
    status = open_new(device, ordinal);
  }
  pthread_mutex_unlock(&lock);
  return status;
}

trs_device *trs_device_retain(trs_device *device) {
  pthread_mutex_lock(&lock);
  if (device) device->references++;
  pthread_mutex_unlock(&lock);
  return device;
}

void trs_device_close(trs_device *device) {
  if (!device || device->process != trs_process()) return; /* a child releases nothing */
  pthread_mutex_lock(&lock);
  if (--device->references == 0) {
    int before = trs_device_enter(device);
    if (device->side) (void)cudaStreamDestroy(device->side);
    (void)cudaMemPoolDestroy(device->pool);
    if (device->blocks.memory) (void)cudaFreeHost(device->blocks.memory);
    if (device->stages.memory) (void)cudaFreeHost(device->stages.memory);
    trs_device_leave(before);
    opened[device->facts.ordinal] = NULL;
    trs_free(device);
  }
  pthread_mutex_unlock(&lock);
}

const trs_device_facts *trs_device_look(const trs_device *device) { return &device->facts; }

int trs_device_enter(const trs_device *device) {
  int before = -1;
  (void)cudaGetDevice(&before);
  if (before != device->facts.ordinal) (void)cudaSetDevice(device->facts.ordinal);
  return before;
}

void trs_device_leave(int before) {
  int now = -1;
  (void)cudaGetDevice(&now);
  if (before >= 0 && now != before) (void)cudaSetDevice(before);
}

void *trs_device_pool(const trs_device *device) { return device->pool; }

int64_t trs_device_held(const trs_device *device) {
  uint64_t held = 0;
  (void)cudaMemPoolGetAttribute(device->pool, cudaMemPoolAttrUsedMemCurrent, &held);
  return (int64_t)held + atomic_load(&device->plain);
}

void trs_device_limit(trs_device *device, int64_t bytes) { atomic_store(&device->limit, bytes); }

void trs_device_allow(trs_device *device, int64_t bytes) { atomic_store(&device->allowed, bytes); }

static int64_t limit_of(const trs_device *device) {
  int64_t limit = atomic_load(&device->limit), allowed = atomic_load(&device->allowed);
  return limit && (!allowed || limit < allowed) ? limit : allowed;
}

int64_t trs_device_limit_left(const trs_device *device) {
  int64_t limit = limit_of(device), held = trs_device_held(device);
  if (!limit) return INT64_MAX;
  return held < limit ? limit - held : 0;
}

static bool exceeds(const trs_device *device, int64_t bytes) {
  const int64_t limit = limit_of(device);
  return limit && trs_device_held(device) + bytes > limit;
}

static trs_status no_memory(const trs_device *device, int64_t bytes, const char *why) {
  return trs_fail(
      TRS_ERROR_MEMORY, -1, "GPU %d cannot give %.1f MB more (plans on it hold %.1f MB): %s",
      device->facts.ordinal, (double)bytes / 1e6, (double)trs_device_held(device) / 1e6, why);
}

trs_status trs_device_count(trs_device *device, int64_t bytes) {
  if (bytes > 0 && exceeds(device, bytes)) { /* as in trs_device_alloc, in any stream */
    TRS_ON_DEVICE(device);
    (void)cudaDeviceSynchronize();
  }
  if (bytes > 0 && exceeds(device, bytes))
    return no_memory(device, bytes, "the request exceeds the limit set for it");
  atomic_fetch_add(&device->plain, bytes);
  return TRS_SUCCESS;
}

trs_status trs_device_alloc(trs_device *device, void **pointer, int64_t count, size_t size,
                            trs_stream stream) {
  int64_t bytes;
  *pointer = NULL;
  if (count < 0 || __builtin_mul_overflow(count, (int64_t)size, &bytes))
    return trs_fail(TRS_ERROR_MEMORY, -1, "%lld elements of %zu bytes are more than fit",
                    (long long)count, size);
  if (bytes == 0) bytes = 1;
  /* What the stream frees counts as held until it gets there. */
  if (exceeds(device, bytes) && !trs_device_capturing(stream)) TRS_TRY(trs_device_wait(stream));
  if (exceeds(device, bytes))
    return no_memory(device, bytes, "the request exceeds the limit set for it");
  cudaError_t error = cudaMallocFromPoolAsync(pointer, (size_t)bytes, device->pool, stream);
  if (!error) return TRS_SUCCESS;
  (void)cudaGetLastError();
  *pointer = NULL;
  return no_memory(device, bytes, cudaGetErrorString(error));
}

void trs_device_free(trs_device *device, void *pointer, trs_stream stream) {
  (void)device;
  if (pointer) (void)cudaFreeAsync(pointer, stream);
}

trs_status trs_device_side_stream(trs_device *device, trs_stream *stream) {
  cudaError_t error = cudaSuccess;
  pthread_mutex_lock(&lock);
  if (!device->side) error = cudaStreamCreateWithFlags(&device->side, cudaStreamNonBlocking);
  *stream = device->side;
  pthread_mutex_unlock(&lock);
  return trs_device_check(error, "making a stream");
}

static trs_status take_piece(pinned_pieces *p, void **piece) {
  *piece = NULL;
  pthread_mutex_lock(&lock);
  if (!p->memory && cudaMallocHost((void **)&p->memory, (size_t)p->count * p->bytes)) {
    (void)cudaGetLastError();
    p->memory = NULL;
  }
  for (int k = 0; k < p->count && p->memory && !*piece; k++)
    if (!p->taken[k]) {
      p->taken[k] = true;
      *piece = p->memory + (size_t)k * p->bytes;
    }
  pthread_mutex_unlock(&lock);
  if (*piece) return TRS_SUCCESS;
  return trs_device_check(cudaMallocHost(piece, p->bytes), "allocating host memory");
}

static void give_piece_back(pinned_pieces *p, void *piece) {
  if (!piece) return;
  char *at = piece;
  pthread_mutex_lock(&lock);
  bool ours = p->memory && at >= p->memory && at < p->memory + (size_t)p->count * p->bytes;
  if (ours) p->taken[(size_t)(at - p->memory) / p->bytes] = false;
  pthread_mutex_unlock(&lock);
  if (!ours) (void)cudaFreeHost(piece);
}

trs_status trs_device_alloc_host(trs_device *device, void **pointer) {
  return take_piece(&device->blocks, pointer);
}
void trs_device_free_host(trs_device *device, void *pointer) {
  give_piece_back(&device->blocks, pointer);
}

trs_status trs_device_alloc_stage(trs_device *device, void **pointer) {
  return take_piece(&device->stages, pointer);
}
void trs_device_free_stage(trs_device *device, void *pointer) {
  give_piece_back(&device->stages, pointer);
}

/* ---- Copies. ---- */

trs_status trs_device_copy(void *to, const void *from, int64_t bytes, trs_stream stream) {
  if (bytes == 0) return TRS_SUCCESS;
  return trs_device_check(
      cudaMemcpyAsync(to, from, (size_t)bytes, cudaMemcpyDefault, (cudaStream_t)stream), "copying");
}

trs_status trs_device_copy_rows(void *to, int64_t to_pitch, const void *from, int64_t from_pitch,
                                int64_t row_bytes, int64_t rows, trs_stream stream) {
  if (row_bytes == 0 || rows == 0) return TRS_SUCCESS;
  if (rows == 1 || (to_pitch == row_bytes && from_pitch == row_bytes))
    return trs_device_copy(to, from, row_bytes * rows, stream);
  if (to_pitch > INT32_MAX || from_pitch > INT32_MAX) {
    for (int64_t i = 0; i < rows; i++)
      TRS_TRY(trs_device_copy((char *)to + i * to_pitch, (const char *)from + i * from_pitch,
                              row_bytes, stream));
    return TRS_SUCCESS;
  }
  return trs_device_check(
      cudaMemcpy2DAsync(to, (size_t)to_pitch, from, (size_t)from_pitch, (size_t)row_bytes,
                        (size_t)rows, cudaMemcpyDefault, (cudaStream_t)stream),
      "copying");
}

trs_status trs_device_fill(void *pointer, int byte, int64_t bytes, trs_stream stream) {
  if (bytes == 0) return TRS_SUCCESS;
  return trs_device_check(cudaMemsetAsync(pointer, byte, (size_t)bytes, (cudaStream_t)stream),
                          "filling device memory");
}

trs_status trs_device_wait(trs_stream stream) {
  return trs_device_check(cudaStreamSynchronize((cudaStream_t)stream), "waiting for the GPU");
}

bool trs_device_busy(trs_stream stream) {
  bool busy = cudaStreamQuery((cudaStream_t)stream) == cudaErrorNotReady;
  if (busy) (void)cudaGetLastError();
  return busy;
}

#if TRS_GPU_AMD
int64_t trs_device_extent(const void *pointer, int64_t wanted) {
  hipDeviceptr_t base;
  size_t size;
  (void)wanted;
  if (hipMemGetAddressRange(&base, &size, (hipDeviceptr_t)pointer) == hipSuccess)
    return (int64_t)((const char *)base + size - (const char *)pointer);
  (void)hipGetLastError();
  return INT64_MAX;
}
#else
/* A function of the driver, which programs do not link.  NULL: the driver has none of that name. */
static void *driver_function(const char *name) {
  enum cudaDriverEntryPointQueryResult how;
  void *found = NULL;
#if CUDART_VERSION >= 12050
  cudaError_t error =
      cudaGetDriverEntryPointByVersion(name, &found, 12000, cudaEnableDefault, &how);
#else
  cudaError_t error = cudaGetDriverEntryPoint(name, &found, cudaEnableDefault, &how);
#endif
  if (error) (void)cudaGetLastError();
  return !error && how == cudaDriverEntryPointSuccess ? found : NULL;
}

/* True if the memory was mapped piece by piece into reserved addresses.  An array may span such
 * pieces; it never spans two allocations of cudaMalloc, and CUDA refuses to copy across these. */
static bool is_mapped(CUdeviceptr at) {
  CUresult (*retain)(CUmemGenericAllocationHandle *, void *);
  CUresult (*release)(CUmemGenericAllocationHandle);
  void *const function[2] = {driver_function("cuMemRetainAllocationHandle"),
                             driver_function("cuMemRelease")};
  CUmemGenericAllocationHandle piece;
  if (!function[0] || !function[1]) return false;
  memcpy(&retain, &function[0], sizeof retain);
  memcpy(&release, &function[1], sizeof release);
  return retain(&piece, (void *)at) == CUDA_SUCCESS && release(piece) == CUDA_SUCCESS;
}

int64_t trs_device_extent(const void *pointer, int64_t wanted) {
  CUresult (*range)(CUdeviceptr *, size_t *, CUdeviceptr);
  void *const function = driver_function("cuMemGetAddressRange");
  const CUdeviceptr at = (CUdeviceptr)pointer;
  CUdeviceptr base, end = at;
  size_t size;
  memcpy(&range, &function, sizeof range);
  while (range && (int64_t)(end - at) < wanted && (end == at || is_mapped(at)) &&
         range(&base, &size, end) == CUDA_SUCCESS && base + size > end)
    end = base + size;
  return end > at ? (int64_t)(end - at) : INT64_MAX;
}
#endif

bool trs_device_capturing(trs_stream stream) {
  enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  if (cudaStreamIsCapturing((cudaStream_t)stream, &status) != cudaSuccess)
    (void)cudaGetLastError(); /* returned for the default stream while another stream is captured */
  return status != cudaStreamCaptureStatusNone;
}

/* ---- Time. ---- */

struct trs_device_timer {
  cudaEvent_t start, stop;
};

trs_status trs_device_timer_create(trs_device_timer **timer) {
  TRS_TRY(TRS_ALLOC_ZERO(timer, 1));
  cudaError_t error = cudaEventCreate(&(*timer)->start);
  if (!error) error = cudaEventCreate(&(*timer)->stop);
  if (error) {
    trs_device_timer_destroy(*timer);
    *timer = NULL;
  }
  return trs_device_check(error, "making an event");
}

void trs_device_timer_start(trs_device_timer *timer, trs_stream stream) {
  (void)cudaEventRecord(timer->start, (cudaStream_t)stream);
}

double trs_device_timer_stop(trs_device_timer *timer, trs_stream stream) {
  float milliseconds = 0;
  (void)cudaEventRecord(timer->stop, (cudaStream_t)stream);
  (void)cudaEventSynchronize(timer->stop);
  (void)cudaEventElapsedTime(&milliseconds, timer->start, timer->stop);
  return 1e-3 * (double)milliseconds;
}

void trs_device_timer_destroy(trs_device_timer *timer) {
  if (!timer) return;
  if (timer->start) (void)cudaEventDestroy(timer->start);
  if (timer->stop) (void)cudaEventDestroy(timer->stop);
  trs_free(timer);
}
