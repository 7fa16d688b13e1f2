/* page_faults.c - counts a program's page faults and transfers of managed memory (X20, Figure 3a).
 *
 *     CUDA_INJECTION64_PATH=.../libtrireme_page_faults.so TRIREME_FAULTS_IN=sweep \
 *       trireme solve M --backend cuda:0-3 --method unified ...
 *
 * CUDA loads this library when it starts, and calls InitializeInjection.  CUPTI delivers a record
 * per group of faults on a page and per transfer; the sums are printed at the end of the program.
 * TRIREME_FAULTS_IN: the records while a kernel runs whose name contains this word are counted
 * apart; `sweep` is the kernel of a solve, so that analyses, copies and restored counts stay out.
 * CUPTI slows the program, so times of the same run do not count. */
#include <cuda.h>
#include <cupti.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int InitializeInjection(void);

enum { BUFFER_BYTES = 1 << 20, ALIGNMENT = 8 };

static const struct {
  CUpti_ActivityUnifiedMemoryCounterKind kind;
  const char *name;
} tallies[] = {
    {CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_GPU_PAGE_FAULT, "GPU page faults, groups"},
    {CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_CPU_PAGE_FAULT_COUNT, "CPU page faults"},
    {CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD, "host to GPU, bytes"},
    {CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH, "GPU to host, bytes"},
    {CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOD, "GPU to GPU, bytes"},
    {CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THRASHING, "thrashing, bytes"},
    {CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_REMOTE_MAP, "mapped remotely, bytes"}};
enum { TALLIES = sizeof tallies / sizeof *tallies };

/* A record, of which end does not count, or the time of a kernel. */
typedef struct span {
  uint64_t start, end, value;
  int tally;
} span;

typedef struct spans {
  span *span;
  size_t count, room, lost;
} spans;

static struct {
  pthread_mutex_t lock;
  const char *word; /* of TRIREME_FAULTS_IN; NULL: no kernels are traced */
  spans records, kernels;
} seen = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void note(spans *list, span s) {
  pthread_mutex_lock(&seen.lock);
  if (list->count == list->room) {
    size_t room = 2 * list->room + 1024;
    span *larger = realloc(list->span, room * sizeof *larger);
    if (larger) list->span = larger, list->room = room;
  }
  if (list->count < list->room)
    list->span[list->count++] = s;
  else
    list->lost++;
  pthread_mutex_unlock(&seen.lock);
}

static void give_buffer(uint8_t **buffer, size_t *size, size_t *most) {
  *buffer = aligned_alloc(ALIGNMENT, BUFFER_BYTES);
  *size = *buffer ? BUFFER_BYTES : 0;
  *most = 0;
}

/* The value of a record of a CPU's fault is an address, so its records are counted alone. */
static void note_counter(const CUpti_ActivityUnifiedMemoryCounter3 *record) {
  for (int k = 0; k < TALLIES; k++)
    if (tallies[k].kind == record->counterKind) {
      bool cpu = tallies[k].kind == CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_CPU_PAGE_FAULT_COUNT;
      note(&seen.records,
           (span){.start = record->start, .value = cpu ? 1 : record->value, .tally = k});
    }
}

/* Records of later versions begin as this one does. */
static void note_kernel(const CUpti_ActivityKernel9 *record) {
  if (record->name && strstr(record->name, seen.word))
    note(&seen.kernels, (span){.start = record->start, .end = record->end});
}

static void take_buffer(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size,
                        size_t used) {
  CUpti_Activity *record = NULL;
  (void)context;
  (void)stream;
  (void)size;
  while (cuptiActivityGetNextRecord(buffer, used, &record) == CUPTI_SUCCESS)
    if (record->kind == CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER)
      note_counter((const CUpti_ActivityUnifiedMemoryCounter3 *)record);
    else if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
      note_kernel((const CUpti_ActivityKernel9 *)record);
  free(buffer);
}

static bool in_kernel(const span *record) {
  for (size_t k = 0; k < seen.kernels.count; k++) {
    const span *kernel = &seen.kernels.span[k];
    if (kernel->start <= record->start && record->start <= kernel->end) return true;
  }
  return false;
}

static void print_tally(int tally, bool in_kernels) {
  unsigned long long records = 0, sum = 0;
  for (size_t k = 0; k < seen.records.count; k++) {
    const span *record = &seen.records.span[k];
    if (record->tally != tally || (in_kernels && !in_kernel(record))) continue;
    records++;
    sum += record->value;
  }
  fprintf(stderr, "page faults: %s: %llu in %llu records\n", tallies[tally].name, sum, records);
}

static void print_tallies(void) {
  (void)cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  pthread_mutex_lock(&seen.lock);
  for (int k = 0; k < TALLIES; k++) print_tally(k, false);
  if (seen.word)
    fprintf(stderr, "page faults: while %zu kernels '%s' ran:\n", seen.kernels.count, seen.word);
  for (int k = 0; k < TALLIES && seen.word; k++) print_tally(k, true);
  if (seen.records.lost + seen.kernels.lost)
    fprintf(stderr, "page faults: no memory for %zu records\n",
            seen.records.lost + seen.kernels.lost);
  pthread_mutex_unlock(&seen.lock);
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
  seen.word = getenv("TRIREME_FAULTS_IN");
  if (works(cuptiActivityConfigureUnifiedMemoryCounter(config, TALLIES), "the counters") &&
      works(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER), "their records") &&
      (!seen.word ||
       works(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), "the kernels")))
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
