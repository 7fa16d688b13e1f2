/* shared.c - the runtime of the GPU's vendor behind shared.h. */
#include "device/shared.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>

#include "base/memory.h"
#include "device/gpu.h"

static int ordinal_of(const trs_device *device) { return trs_device_look(device)->ordinal; }

trs_status trs_device_total(int *count) {
  cudaError_t error = cudaGetDeviceCount(count);
  if (error == cudaSuccess && *count > 0) return TRS_SUCCESS;
  (void)cudaGetLastError();
  if (error == cudaErrorMemoryAllocation) return trs_device_check(error, "looking for GPUs");
  return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                  "no " TRS_GPU_RUNTIME " device on this machine (" TRS_GPU_RUNTIME " says %s)",
                  error == cudaErrorInsufficientDriver
                      ? "that there is no driver, or one too old for this build"
                  : error ? cudaGetErrorString(error)
                          : "there are none");
}

/* Stream-ordered memory, the library's and the caller's from cudaMallocAsync, is accessible to
 * other GPUs only after its pool is opened to them. */
static cudaError_t open_pools(const trs_device *device, const trs_device *other) {
  const struct cudaMemAccessDesc access = {
      .location = {.type = cudaMemLocationTypeDevice, .id = ordinal_of(device)},
      .flags = cudaMemAccessFlagsProtReadWrite};
  cudaMemPool_t pool;
  cudaError_t error = cudaDeviceGetDefaultMemPool(&pool, ordinal_of(other));
  if (!error) error = cudaMemPoolSetAccess(pool, &access, 1);
  if (!error) error = cudaMemPoolSetAccess((cudaMemPool_t)trs_device_pool(other), &access, 1);
  return error;
}

trs_status trs_device_reach(const trs_device *device, const trs_device *other) {
  int can = 0, from = ordinal_of(device), to = ordinal_of(other);
  if (from == to) return TRS_SUCCESS;
  TRS_TRY(trs_device_check(cudaDeviceCanAccessPeer(&can, from, to), "looking at two GPUs"));
  if (!can)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "GPU %d cannot reach the memory of GPU %d (no peer access between them): take "
                    "GPUs that can, as `nvidia-smi topo -p2p r` shows",
                    from, to);
  int before = trs_device_enter(device);
  cudaError_t error = cudaDeviceEnablePeerAccess(to, 0);
  if (error == cudaErrorPeerAccessAlreadyEnabled) {
    (void)cudaGetLastError();
    error = cudaSuccess;
  }
  trs_device_leave(before);
  if (!error) error = open_pools(device, other);
  return trs_device_check(error, "opening a GPU's memory to another");
}

/* True if the process has the driver's library, without which there is no device memory.  Asking
 * the runtime would load it: a tenth of a second, and the end of a process that is short of memory.
 */
static bool has_driver(void) {
  static atomic_bool found;
  if (atomic_load_explicit(&found, memory_order_relaxed)) return true;
  void *driver =
      dlopen(TRS_GPU_AMD ? "libhsa-runtime64.so.1" : "libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (!driver) return false;
  dlclose(driver);
  atomic_store_explicit(&found, true, memory_order_relaxed);
  return true;
}

#if TRS_GPU_AMD
trs_device_memory trs_device_memory_of(const void *pointer, int *ordinal) {
  hipPointerAttribute_t found;
  if (!has_driver()) return TRS_HOST_MEMORY;
  if (hipPointerGetAttributes(&found, pointer) != hipSuccess) {
    (void)hipGetLastError();
    return TRS_HOST_MEMORY;
  }
  *ordinal = found.device;
  if (found.isManaged) return TRS_MANAGED_MEMORY;
#if HIP_VERSION_MAJOR >= 6
  return found.type == hipMemoryTypeDevice ? TRS_DEVICE_MEMORY : TRS_HOST_MEMORY;
#else
  return found.memoryType == hipMemoryTypeDevice ? TRS_DEVICE_MEMORY : TRS_HOST_MEMORY;
#endif
}
#else
trs_device_memory trs_device_memory_of(const void *pointer, int *ordinal) {
  struct cudaPointerAttributes found;
  if (!has_driver()) return TRS_HOST_MEMORY;
  if (cudaPointerGetAttributes(&found, pointer) != cudaSuccess) {
    (void)cudaGetLastError();
    return TRS_HOST_MEMORY;
  }
  *ordinal = found.device;
  return found.type == cudaMemoryTypeDevice    ? TRS_DEVICE_MEMORY
         : found.type == cudaMemoryTypeManaged ? TRS_MANAGED_MEMORY
                                               : TRS_HOST_MEMORY;
}
#endif

trs_status trs_device_alloc_plain(trs_device *device, void **pointer, int64_t bytes) {
  *pointer = NULL;
  if (bytes == 0) bytes = 1;
  TRS_TRY(trs_device_count(device, bytes));
  int before = trs_device_enter(device);
  cudaError_t error = cudaMalloc(pointer, (size_t)bytes);
  trs_device_leave(before);
  if (!error) return TRS_SUCCESS;
  (void)cudaGetLastError();
  *pointer = NULL;
  (void)trs_device_count(device, -bytes);
  return trs_fail(TRS_ERROR_MEMORY, -1,
                  "GPU %d cannot give %.1f MB more (plans on it hold %.1f MB): %s",
                  ordinal_of(device), (double)bytes / 1e6, (double)trs_device_held(device) / 1e6,
                  cudaGetErrorString(error));
}

void trs_device_free_plain(trs_device *device, void *pointer, int64_t bytes) {
  if (!pointer) return;
  int before = trs_device_enter(device);
  (void)cudaFree(pointer);
  trs_device_leave(before);
  (void)trs_device_count(device, -(bytes ? bytes : 1));
}

/* CUDA hands out whole pieces of 2 MB: what lies in one beside this would be open as well. */
static int64_t whole_pieces(int64_t bytes) {
  enum { PIECE = 1 << 21 };
  return bytes > 0 ? (bytes + PIECE - 1) / PIECE * PIECE : PIECE;
}

trs_status trs_device_alloc_open(trs_device *device, void **pointer, int64_t bytes,
                                 trs_device_handle *handle) {
  _Static_assert(sizeof(cudaIpcMemHandle_t) == TRS_DEVICE_HANDLE_BYTES, "handles are bytes");
  cudaIpcMemHandle_t own;
  TRS_TRY(trs_device_alloc_plain(device, pointer, whole_pieces(bytes)));
  int before = trs_device_enter(device);
  cudaError_t error = cudaIpcGetMemHandle(&own, *pointer);
  trs_device_leave(before);
  if (!error) {
    memcpy(handle->bytes, &own, sizeof own);
    return TRS_SUCCESS;
  }
  (void)cudaGetLastError();
  trs_device_free_open(device, *pointer, bytes);
  *pointer = NULL;
  return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                  "GPU %d cannot open its memory to other processes (%s): grids of several GPUs "
                  "need that; take Px = Py = 1",
                  ordinal_of(device), cudaGetErrorString(error));
}

void trs_device_free_open(trs_device *device, void *pointer, int64_t bytes) {
  trs_device_free_plain(device, pointer, whole_pieces(bytes));
}

trs_status trs_device_open_handle(const trs_device *device, void **pointer,
                                  const trs_device_handle *handle) {
  cudaIpcMemHandle_t other;
  memcpy(&other, handle->bytes, sizeof other);
  int before = trs_device_enter(device);
  cudaError_t error = cudaIpcOpenMemHandle(pointer, other, cudaIpcMemLazyEnablePeerAccess);
  trs_device_leave(before);
  if (!error) return TRS_SUCCESS;
  (void)cudaGetLastError();
  *pointer = NULL;
  return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                  "GPU %d cannot reach the memory of another process (%s): grids of several GPUs "
                  "need GPUs that can, as `nvidia-smi topo -p2p r` shows, and processes that see "
                  "each other (one container); or take Px = Py = 1",
                  ordinal_of(device), cudaGetErrorString(error));
}

void trs_device_close_handle(const trs_device *device, void *pointer) {
  if (!pointer) return;
  TRS_ON_DEVICE(device);
  (void)cudaIpcCloseMemHandle(pointer);
}

trs_status trs_device_room(const trs_device *device, int64_t *bytes) {
  size_t empty = 0, all = 0;
  uint64_t reserved = 0, used = 0; /* the pool keeps freed memory */
  cudaMemPool_t pool = (cudaMemPool_t)trs_device_pool(device);
  int before = trs_device_enter(device);
  cudaError_t error = cudaMemGetInfo(&empty, &all);
  if (!error) error = cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &reserved);
  if (!error) error = cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used);
  trs_device_leave(before);
  empty += (size_t)(reserved - used);
  int64_t limit = trs_device_limit_left(device);
  *bytes = limit < (int64_t)empty ? limit : (int64_t)empty;
  return trs_device_check(error, "asking for a GPU's free memory");
}

trs_status trs_device_identity(const trs_device *device, int64_t *identity) {
  struct cudaDeviceProp p;
  TRS_TRY(
      trs_device_check(cudaGetDeviceProperties(&p, ordinal_of(device)), "looking at the device"));
  *identity = ((int64_t)p.pciDomainID << 32) | ((int64_t)p.pciBusID << 16) | p.pciDeviceID;
  return TRS_SUCCESS;
}

/* More managed memory than a GPU has free can hang that GPU. */
trs_status trs_device_check_managed(const trs_device *device, int64_t bytes) {
  int concurrent = 0, ordinal = ordinal_of(device);
  int64_t room = 0;
  TRS_TRY(trs_device_check(
      cudaDeviceGetAttribute(&concurrent, cudaDevAttrConcurrentManagedAccess, ordinal),
      "looking at the device"));
  if (!concurrent)
    return trs_fail(
        TRS_ERROR_UNSUPPORTED, -1,
        "GPU %d cannot access managed memory while another GPU does (no concurrent managed "
        "access on this system)",
        ordinal);
  TRS_TRY(trs_device_room(device, &room));
  if (bytes <= room / 2) return TRS_SUCCESS;
  return trs_fail(TRS_ERROR_MEMORY, -1,
                  "%.1f MB of managed memory are more than half of the %.1f MB that GPU %d has "
                  "free",
                  (double)bytes / 1e6, (double)room / 1e6, ordinal);
}

trs_status trs_device_alloc_managed(const trs_device *device, void **pointer, int64_t bytes) {
  int before = trs_device_enter(device);
  cudaError_t error = cudaMallocManaged(pointer, (size_t)(bytes ? bytes : 1), cudaMemAttachGlobal);
  trs_device_leave(before);
  if (error) *pointer = NULL;
  return trs_device_check(error, "allocating managed memory");
}

void trs_device_free_managed(void *pointer) {
  if (pointer) (void)cudaFree(pointer);
}

trs_status trs_device_stream_create(const trs_device *device, trs_stream *stream) {
  int before = trs_device_enter(device);
  cudaError_t error = cudaStreamCreateWithFlags((cudaStream_t *)stream, cudaStreamNonBlocking);
  trs_device_leave(before);
  if (error) *stream = NULL;
  return trs_device_check(error, "making a stream");
}

void trs_device_stream_destroy(const trs_device *device, trs_stream stream) {
  if (!stream) return;
  TRS_ON_DEVICE(device);
  (void)cudaStreamDestroy((cudaStream_t)stream);
}

struct trs_device_event {
  cudaEvent_t event;
};

trs_status trs_device_event_create(const trs_device *device, trs_device_event **event) {
  TRS_TRY(TRS_ALLOC_ZERO(event, 1));
  int before = trs_device_enter(device);
  cudaError_t error = cudaEventCreateWithFlags(&(*event)->event, cudaEventDisableTiming);
  trs_device_leave(before);
  if (error) {
    trs_free(*event);
    *event = NULL;
  }
  return trs_device_check(error, "making an event");
}

void trs_device_event_destroy(trs_device_event *event) {
  if (!event) return;
  (void)cudaEventDestroy(event->event);
  trs_free(event);
}

trs_status trs_device_event_record(trs_device_event *event, trs_stream stream) {
  return trs_device_check(cudaEventRecord(event->event, (cudaStream_t)stream),
                          "marking a point of a stream");
}

trs_status trs_device_event_wait(trs_device_event *event) {
  return trs_device_check(cudaEventSynchronize(event->event), "waiting for a point of a stream");
}

trs_status trs_device_alloc_pinned(void **pointer, int64_t bytes) {
  *pointer = NULL;
  return trs_device_check(cudaMallocHost(pointer, (size_t)(bytes > 0 ? bytes : 1)),
                          "allocating host memory");
}

void trs_device_free_pinned(void *pointer) {
  if (pointer) (void)cudaFreeHost(pointer);
}

trs_status trs_device_event_follow(trs_device_event *event, trs_stream stream) {
  return trs_device_check(cudaStreamWaitEvent((cudaStream_t)stream, event->event, 0),
                          "letting a stream wait for another");
}
