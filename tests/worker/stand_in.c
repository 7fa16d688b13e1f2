/* stand_in.c - a worker program that acts as STAND_IN says instead of doing its job. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/config.h"
#include "worker/protocol.h"

static void answer(trs_worker_message *m, const char *version, size_t size) {
  m->status = 0;
  snprintf(m->version, sizeof m->version, "%s", version);
  send(TRS_WORKER_SOCKET, m, size, 0);
  pause();
}

/* Writes this process's number to a file for the test. */
static void leave_number(void) {
  FILE *file = fopen(getenv("STAND_IN_FILE"), "w");
  if (!file) exit(1);
  fprintf(file, "%ld\n", (long)getpid());
  fclose(file);
}

static void fill(trs_worker_message *m) {
  int64_t from = trs_worker_align(m->bytes), bytes = 4 * m->number[0];
  if (ftruncate(TRS_WORKER_MEMORY, from + bytes)) exit(1); /* zeros: no permutation */
}

int main(void) {
  const char *what = getenv("STAND_IN");
  trs_worker_message m;
  sigset_t none;
  for (int file = TRS_WORKER_FILES; file < 256; file++) close(file); /* as main.c does */
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  if (recv(TRS_WORKER_SOCKET, &m, sizeof m, 0) != sizeof m) return 1;
  if (!strcmp(what, "late")) { /* as on a busy machine */
    usleep(400000);
    answer(&m, TRS_VERSION_TEXT, sizeof m);
  }
  while (!strcmp(what, "busy")) continue;
  if (!strcmp(what, "hang")) {
    if (getenv("STAND_IN_FILE")) leave_number();
    pause();
  }
  if (!strcmp(what, "exit")) return printf("no more\tof this\n") < 0 ? 1 : 7;
  if (!strcmp(what, "mapping"))
    return fprintf(stderr, "x.so: failed to map segment from shared object\n") < 0 ? 1 : 127;
  if (!strcmp(what, "memory")) return fprintf(stderr, "malloc fails\n") < 0 ? 1 : 255;
  if (!strcmp(what, "threads"))
    return printf("%s %s\n", getenv("OPENBLAS_NUM_THREADS"), getenv("OMP_NUM_THREADS")) < 0;
  if (!strcmp(what, "abort")) abort();
  if (!strcmp(what, "kill")) raise(SIGKILL);
  if (!strcmp(what, "fault")) {
    signal(SIGSEGV, SIG_DFL); /* sanitizers have handlers */
    raise(SIGSEGV);
  }
  if (!strcmp(what, "old")) answer(&m, "0.0.9", sizeof m);
  if (!strcmp(what, "short")) answer(&m, TRS_VERSION_TEXT, 40);
  if (!strcmp(what, "nothing")) answer(&m, TRS_VERSION_TEXT, sizeof m);
  fill(&m);
  answer(&m, TRS_VERSION_TEXT, sizeof m);
}
