/* ranks_mpi.c - messages through MPI: MPI_Isend with a growing list of requests, and MPI_Irecv.
 * Waits are the library's own (base/wait.h), so that ranks which share cores yield them to each
 * other and a wait can have a limit.
 *
 * A rank whose wait passes the limit asks all other ranks for an answer.  Every waiting rank
 * answers. The first rank that does not is lost: a stopped process, a node without a network, or a
 * program that makes other calls.  The asking rank sends the number of the lost rank to all that
 * answered, and all of them fail with it. */
#include "comm/ranks_mpi.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h> /* Open MPI: MPIX_ */
#endif

#include "base/process.h"
#include "base/options.h"
#include "base/timer.h"
#include "base/wait.h"

enum { CHUNK = 1 << 30 }; /* MPI counts in int */
enum { NO_RANK = -1, ALL_RANKS = -2 /* ALL_RANKS: all wait for each other */ };

/* Seconds between two checks for questions of other ranks; seconds to wait for an answer. */
static const double LOOK = 0.02, GRACE = 2;

typedef struct state {
  MPI_Comm comm;
  MPI_Request *request;
  int64_t pending, room;
  double limit;     /* seconds of a wait; 0: none */
  unsigned process; /* the process that opened it: base/process.h */
  int lost;         /* the rank that was found lost, or NO_RANK; once set, nothing more is sent */
} state;

trs_status trs_mpi_check(int code, const char *call) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  if (code == MPI_SUCCESS) return TRS_SUCCESS;
  MPI_Error_string(code, text, &length);
  return trs_fail(TRS_ERROR_INTERNAL, -1, "%s: %s", call, text);
}

/* ---- Ranks that are lost. ---- */

static trs_status report_lost(const state *s) {
  if (s->lost == ALL_RANKS)
    return trs_fail(TRS_ERROR_STALLED, -1,
                    "all ranks wait for each other for more than %g s: each must make the same "
                    "calls in the same order",
                    s->limit);
  return trs_fail(TRS_ERROR_STALLED, -1,
                  "rank %d does not answer: it was stopped, lost its network, computes for longer "
                  "than the limit of waits, or makes other calls",
                  s->lost);
}

/* A short message; no rank waits until it has arrived. */
static void send_note(const state *s, int to, int tag, const int *number) {
  MPI_Request request;
  if (!MPI_Isend(number, number ? 1 : 0, MPI_INT, to, tag, s->comm, &request))
    MPI_Request_free(&request);
}

static bool receive_note(const state *s, int tag, int *from, int *number) {
  MPI_Status status;
  int there = 0;
  if (MPI_Iprobe(MPI_ANY_SOURCE, tag, s->comm, &there, &status) || !there) return false;
  *from = status.MPI_SOURCE;
  return !MPI_Recv(number, 1, MPI_INT, *from, tag, s->comm, MPI_STATUS_IGNORE);
}

/* Answers the questions of other ranks and receives the number of a lost rank. */
static void handle_notes(state *s) {
  int from, number;
  while (receive_note(s, TRS_TAG_ASK, &from, &number)) send_note(s, from, TRS_TAG_ANSWER, NULL);
  if (receive_note(s, TRS_TAG_LOST, &from, &number) && s->lost == NO_RANK) s->lost = number;
}

/* *silent: the first rank that does not answer, or ALL_RANKS if all answer. */
static trs_status ask_all(const trs_ranks *ranks, int *silent) {
  state *s = ranks->state;
  bool *answered;
  int from, number, missing = ranks->size - 1;
  TRS_TRY(TRS_ALLOC_ZERO(&answered, ranks->size));
  answered[ranks->rank] = true;
  for (int r = 0; r < ranks->size; r++)
    if (r != ranks->rank) send_note(s, r, TRS_TAG_ASK, NULL);
  trs_patience wait = {0};
  while (missing && s->lost == NO_RANK && wait.waited < GRACE) {
    handle_notes(s);
    while (receive_note(s, TRS_TAG_ANSWER, &from, &number)) {
      missing -= !answered[from];
      answered[from] = true;
    }
    trs_wait_turn(&wait);
  }
  *silent = ALL_RANKS;
  for (int r = ranks->size - 1; r >= 0; r--)
    if (!answered[r]) *silent = r;
  trs_free(answered);
  return TRS_SUCCESS;
}

/* The number is sent from the state, which stays allocated, because the send is not waited for. */
static void announce_lost(const trs_ranks *ranks, int silent) {
  state *s = ranks->state;
  if (s->lost != NO_RANK) return;
  s->lost = silent;
  for (int r = 0; r < ranks->size; r++)
    if (r != ranks->rank && r != silent) send_note(s, r, TRS_TAG_LOST, &s->lost);
}

/* Called in a long wait.  *asked: how often all ranks have answered during this wait. */
static trs_status check_long_wait(const trs_ranks *ranks, double waited, int *asked) {
  state *s = ranks->state;
  handle_notes(s);
  if (s->lost == NO_RANK && s->limit > 0 && waited > s->limit * (*asked + 1)) {
    int silent;
    TRS_TRY(ask_all(ranks, &silent));
    if (silent != ALL_RANKS || ++*asked > 1) announce_lost(ranks, silent);
  }
  return s->lost == NO_RANK ? TRS_SUCCESS : report_lost(s);
}

trs_status trs_mpi_await(const trs_ranks *ranks, MPI_Request *request, MPI_Status *status,
                         const char *call) {
  const state *s = ranks->state;
  trs_patience wait = {0};
  double looked = 0;
  int done = 0, asked = 0;
  if (s->lost != NO_RANK) return report_lost(s);
  for (;;) {
    TRS_TRY(trs_mpi_check(MPI_Test(request, &done, status), call));
    if (done) return TRS_SUCCESS;
    trs_wait_turn(&wait);
    if (wait.waited - looked < LOOK) continue;
    looked = wait.waited;
    TRS_TRY(check_long_wait(ranks, wait.waited, &asked));
  }
}

/* MPI ends the program for most calls at another time. */
static trs_status check_running(void) {
  int ready = 0, ended = 0;
  MPI_Initialized(&ready);
  if (ready) MPI_Finalized(&ended);
  if (ready && !ended) return TRS_SUCCESS;
  return trs_fail(TRS_ERROR_ARGUMENT, -1, "MPI is %s: call this between MPI_Init and MPI_Finalize",
                  ready ? "finalised" : "not initialised");
}

trs_status trs_mpi_usable(const trs_ranks *ranks) {
  const state *s = ranks->state;
  TRS_TRY(check_running());
  if (s->process == trs_process()) return TRS_SUCCESS;
  return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                  "this process was forked from a rank, and MPI does not survive a fork: "
                  "only its parent can use objects made on ranks");
}

/* ---- The transport. ---- */

static trs_status reserve(trs_ranks *ranks, int64_t sends) {
  state *s = ranks->state;
  if (s->pending + sends <= s->room) return TRS_SUCCESS;
  TRS_TRY(trs_realloc((void **)&s->request, s->pending + sends, sizeof *s->request));
  s->room = s->pending + sends;
  return TRS_SUCCESS;
}

static trs_status send(trs_ranks *ranks, int to, int tag, const void *data, int64_t bytes) {
  state *s = ranks->state;
  if (s->lost != NO_RANK) return report_lost(s);
  if (s->pending == s->room) TRS_TRY(reserve(ranks, s->room + 64));
  int code = MPI_Isend(data, (int)bytes, MPI_BYTE, to, tag, s->comm, &s->request[s->pending]);
  TRS_TRY(trs_mpi_check(code, "MPI_Isend"));
  s->pending++;
  return TRS_SUCCESS;
}

/* A message that arrives after a failure must not write into memory that the caller has freed. */
static void withdraw(MPI_Request *request) {
  if (*request == MPI_REQUEST_NULL) return;
  MPI_Cancel(request);
  MPI_Request_free(request);
}

static trs_status receive(trs_ranks *ranks, int from, int tag, void *data, int64_t capacity,
                          int64_t *bytes) {
  const state *s = ranks->state;
  MPI_Status status;
  MPI_Request request = MPI_REQUEST_NULL;
  int count, most = (int)(capacity < ranks->chunk ? capacity : ranks->chunk);
  int code =
      MPI_Irecv(data, most, MPI_BYTE, from < 0 ? MPI_ANY_SOURCE : from, tag, s->comm, &request);
  TRS_TRY(trs_mpi_check(code, "MPI_Irecv"));
  trs_status failed = trs_mpi_await(ranks, &request, &status, "MPI_Irecv");
  if (failed) {
    withdraw(&request);
    return failed;
  }
  TRS_TRY(trs_mpi_check(MPI_Get_count(&status, MPI_BYTE, &count), "MPI_Get_count"));
  *bytes = count;
  return TRS_SUCCESS;
}

static trs_status finish(trs_ranks *ranks) {
  state *s = ranks->state;
  trs_status status = TRS_SUCCESS;
  for (int64_t k = 0; k < s->pending; k++) {
    if (!status) status = trs_mpi_await(ranks, &s->request[k], MPI_STATUS_IGNORE, "MPI_Isend");
    if (status && s->request[k] != MPI_REQUEST_NULL) MPI_Request_free(&s->request[k]);
  }
  s->pending = 0;
  return status;
}

/* Freeing a communicator is collective.  MPI_Finalize has freed it. */
static void close(trs_ranks *ranks) {
  state *s = ranks->state;
  int ended = 0;
  MPI_Finalized(&ended);
  bool whole = s && !ended && s->lost == NO_RANK && s->process == trs_process();
  if (whole && s->comm != MPI_COMM_NULL) MPI_Comm_free(&s->comm);
  if (s) trs_free(s->request);
  if (s && s->lost == NO_RANK) trs_free(s); /* otherwise MPI may still read a note from it */
  *ranks = (trs_ranks){0};
}

static trs_status machine(trs_ranks *ranks, char name[TRS_MACHINE_NAME]) {
  _Static_assert(MPI_MAX_PROCESSOR_NAME <= TRS_MACHINE_NAME, "room for MPI's name");
  int length;
  (void)ranks;
  return trs_mpi_check(MPI_Get_processor_name(name, &length), "MPI_Get_processor_name");
}

bool trs_mpi_reads_device(void) {
#if defined MPIX_CUDA_AWARE_SUPPORT
  return MPIX_Query_cuda_support() == 1;
#else
  return false;
#endif
}

MPI_Comm trs_ranks_mpi_comm(const trs_ranks *ranks) { return ((const state *)ranks->state)->comm; }

static const trs_transport transport = {.name = "mpi",
                                        .send = send,
                                        .receive = receive,
                                        .finish = finish,
                                        .reserve = reserve,
                                        .machine = machine,
                                        .close = close};

/* ---- Opening. ---- */

static trs_status take_limit(double *limit, double asked) {
  *limit = asked > 0 ? asked : 0;
  if (!isfinite(asked))
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "a limit of %g s: it must be a finite number", asked);
  return asked != 0 ? TRS_SUCCESS : trs_setting_limit(limit, "TRIREME_TIMEOUT");
}

/* Buffers that MPI writes into while ranks open.  They outlive an opening that passed its limit; no
 * other opening can begin after that. */
static struct {
  MPI_Comm comm;
  int failed, any;
  bool given_up;
  unsigned process;
} opening;

static trs_status await_opening(MPI_Request *request, double limit, const char *call) {
  trs_patience wait = {0};
  for (int done = 0;;) {
    TRS_TRY(trs_mpi_check(MPI_Test(request, &done, MPI_STATUS_IGNORE), call));
    if (done) return TRS_SUCCESS;
    trs_wait_turn(&wait);
    if (limit == 0 || wait.waited < limit) continue;
    opening.given_up = true;
    return trs_fail(
        TRS_ERROR_STALLED, -1,
        "not all ranks made this call within %g s: each must make the same calls in the "
        "same order, and none may be stopped",
        limit);
  }
}

static trs_status check_opening(void) {
  static bool met;
  if (!met) opening.process = trs_process();
  met = true;
  if (opening.process != trs_process())
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "this process was forked from a rank, and MPI does not survive a fork");
  if (opening.given_up)
    return trs_fail(TRS_ERROR_STALLED, -1, "not all ranks made an earlier call");
  return TRS_SUCCESS;
}

static trs_status make_state(trs_ranks *ranks, double limit) {
  state *s;
  TRS_TRY(TRS_ALLOC_ZERO(&s, 1));
  *s = (state){.comm = opening.comm, .limit = limit, .process = trs_process(), .lost = NO_RANK};
  ranks->state = s;
  return reserve(ranks, 64);
}

/* Every rank finds these alone, before it waits for another.  MPI ends the program for a handle
 * that is none, such as that of a communicator that was freed, unless its handlers of errors
 * return.  A handle of Open MPI is an address, and MPI's check may accept what lies there after the
 * communicator was freed; the table of Fortran's numbers then no longer has that address. */
static trs_status check_communicator(MPI_Comm comm) {
  MPI_Comm own[2] = {MPI_COMM_WORLD, MPI_COMM_SELF};
  MPI_Errhandler before[2];
  int inter = 0;
  TRS_TRY(check_running());
  if (comm == MPI_COMM_NULL || comm == (MPI_Comm)0)
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "comm is MPI_COMM_NULL: this rank is not in it");
  for (int k = 0; k < 2; k++) {
    MPI_Comm_get_errhandler(own[k], &before[k]);
    MPI_Comm_set_errhandler(own[k], MPI_ERRORS_RETURN);
  }
  const bool known = MPI_Comm_f2c(MPI_Comm_c2f(comm)) == comm;
  const int code = known ? MPI_Comm_test_inter(comm, &inter) : MPI_ERR_COMM;
  for (int k = 0; k < 2; k++) {
    MPI_Comm_set_errhandler(own[k], before[k]);
    MPI_Errhandler_free(&before[k]);
  }
  if (code != MPI_SUCCESS)
    return trs_fail(TRS_ERROR_ARGUMENT, -1,
                    "comm is no communicator of MPI: it was freed, or never made");
  if (!inter) return TRS_SUCCESS;
  return trs_fail(TRS_ERROR_ARGUMENT, -1,
                  "comm is an inter-communicator: merge its groups (MPI_Intercomm_merge), or pass "
                  "the communicator of one group");
}

/* The communicator is duplicated first, so that ranks that cannot allocate still take part in
 * it. */
trs_status trs_ranks_open_mpi(trs_ranks *ranks, MPI_Comm comm, double asked) {
  MPI_Request request;
  double limit;
  *ranks = (trs_ranks){.transport = &transport, .chunk = CHUNK};
  TRS_TRY(check_opening());
  TRS_TRY(check_communicator(comm));
  trs_failure failure = {0};
  trs_status status = take_limit(&limit, asked);
  TRS_TRY(trs_mpi_check(MPI_Comm_idup(comm, &opening.comm, &request), "MPI_Comm_idup"));
  TRS_TRY(await_opening(&request, limit, "MPI_Comm_idup"));
  MPI_Comm own = opening.comm;
  MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
  MPI_Comm_rank(own, &ranks->rank);
  MPI_Comm_size(own, &ranks->size);
  if (!status) status = make_state(ranks, limit);
  if (status) trs_failure_get(&failure);
  opening.failed = status;
  int code = MPI_Iallreduce(&opening.failed, &opening.any, 1, MPI_INT, MPI_MAX, own, &request);
  trs_status agreed = trs_mpi_check(code, "MPI_Iallreduce");
  if (!agreed) agreed = await_opening(&request, limit, "MPI_Iallreduce");
  if (!agreed && !opening.any) return TRS_SUCCESS;
  if (!agreed && !ranks->state) MPI_Comm_free(&own);
  if (!agreed) trs_ranks_close(ranks);
  if (agreed) return agreed;
  if (status) return trs_failure_set(&failure);
  return trs_fail((trs_status)opening.any, -1, "another rank could not begin: %s",
                  trs_status_name((trs_status)opening.any));
}
