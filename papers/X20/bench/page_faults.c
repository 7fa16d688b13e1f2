/* page_faults.c - counts a program's page faults and transfers of managed memory (X20, Figure 3a).
 *
 *     CUDA_INJECTION64_PATH=.../libtrireme_page_faults.so trireme solve M --backend cuda:0-3 ...
 *
 * CUDA loads this library when it starts, and calls InitializeInjection.  CUPTI delivers a record
 * per group of faults on a page and per transfer; the sums are printed at the end of the program.
 * CUPTI slows the program, so times of the same run do not count. */
#include <cuda.h>
#include <cupti.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int InitializeInjection(void);

enum { BUFFER_BYTES = 1 << 20, ALIGNMENT = 8 };

typedef struct tally {
  CUpti_ActivityUnifiedMemoryCounterKind kind;
  const char *name;
  atomic_ullong records, sum;
} tally;

static tally tallies[] = {
    {CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_GPU_PAGE_FAULT, "GPU page faults, groups", 0, 0},
    {CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_CPU_PAGE_FAULT_COUNT, "CPU page faults", 0, 0},
    {CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD, "host to GPU, bytes", 0, 0},
    {CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH, "GPU to host, bytes", 0, 0},
    {CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOD, "GPU to GPU, bytes", 0, 0},
    {CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THRASHING, "thrashing, bytes", 0, 0},
    {CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_REMOTE_MAP, "mapped remotely, bytes", 0, 0}};
enum { TALLIES = sizeof tallies / sizeof *tallies };

static void give_buffer(uint8_t **buffer, size_t *size, size_t *most) {
  *buffer = aligned_alloc(ALIGNMENT, BUFFER_BYTES);
  *size = *buffer ? BUFFER_BYTES : 0;
  *most = 0;
}

static void count(const CUpti_ActivityUnifiedMemoryCounter3 *record) {
  for (int k = 0; k < TALLIES; k++)
    if (tallies[k].kind == record->counterKind) {
      atomic_fetch_add(&tallies[k].records, 1);
      atomic_fetch_add(&tallies[k].sum, record->value);
    }
}

static void take_buffer(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size,
                        size_t used) {
  CUpti_Activity *record = NULL;
  (void)context;
  (void)stream;
  (void)size;
  while (cuptiActivityGetNextRecord(buffer, used, &record) == CUPTI_SUCCESS)
    if (record->kind == CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER)
      count((const CUpti_ActivityUnifiedMemoryCounter3 *)record);
  free(buffer);
}

/* The value of a record of a CPU's fault is an address, so its records are counted alone. */
static void print_tallies(void) {
  (void)cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  for (int k = 0; k < TALLIES; k++)
    if (tallies[k].kind == CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_CPU_PAGE_FAULT_COUNT)
      fprintf(stderr, "page faults: %s: %llu\n", tallies[k].name, tallies[k].records);
    else
      fprintf(stderr, "page faults: %s: %llu in %llu records\n", tallies[k].name, tallies[k].sum,
              tallies[k].records);
}

/* True, or the message is printed. */
static bool works(CUptiResult result, const char *what) {
  const char *said = "";
  if (!result) return true;
  (void)cuptiGetResultString(result, &said);
  fprintf(stderr, "page faults: not counted: %s: %s\n", what, said);
  return false;
}

/* The counters can be enabled as soon as the driver is ready, which is after InitializeInjection.
 */
static void start(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *data) {
  CUpti_ActivityUnifiedMemoryCounterConfig config[TALLIES];
  (void)user;
  (void)domain;
  (void)data;
  if (id != CUPTI_CBID_RESOURCE_CU_INIT_FINISHED) return;
  for (int k = 0; k < TALLIES; k++)
    config[k] = (CUpti_ActivityUnifiedMemoryCounterConfig){
        .scope = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_ALL_DEVICES,
        .kind = tallies[k].kind,
        .enable = 1};
  if (works(cuptiActivityConfigureUnifiedMemoryCounter(config, TALLIES), "the counters") &&
      works(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER), "their records"))
    atexit(print_tallies);
}

int InitializeInjection(void) {
  CUpti_SubscriberHandle subscriber;
  return works(cuptiActivityRegisterCallbacks(give_buffer, take_buffer), "the buffers") &&
         works(cuptiSubscribe(&subscriber, start, NULL), "the driver's start") &&
         works(cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE,
                                   CUPTI_CBID_RESOURCE_CU_INIT_FINISHED),
               "the driver's start");
}
