/* process.c - counts forks by a handler that runs in the child.  Reading the count costs one load;
 * getpid would cost a system call. */
#include "base/process.h"

#include <pthread.h>
#include <stdatomic.h>

static atomic_uint forks;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void count_fork(void) { atomic_fetch_add_explicit(&forks, 1, memory_order_relaxed); }
static void watch(void) { (void)pthread_atfork(NULL, NULL, count_fork); }

unsigned trs_process(void) {
  pthread_once(&once, watch);
  return atomic_load_explicit(&forks, memory_order_relaxed);
}
