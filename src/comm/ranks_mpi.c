/* ranks_mpi.c - messages through MPI: MPI_Isend with a growing list of requests, MPI_Irecv, and
 * waits of our own (base/wait.h), so that ranks that share cores give them to each other, and so
 * that a wait can have a limit.
 *
 * A rank whose wait passes the limit asks all others whether they are there.  Who waits, answers.
 * The first that does not is lost: a stopped process, a node without a network, or a program that
 * makes other calls.  All who answered are told, and leave with its number. */
#include "comm/ranks_mpi.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h> /* Open MPI: MPIX_ */
#endif

#include "base/process.h"
#include "base/timer.h"
#include "base/wait.h"

enum { CHUNK = 1 << 30 }; /* MPI counts in int */
enum { NOBODY = -1, EVERYBODY = -2 /* all wait for each other */ };

/* Seconds between two looks at the questions of others; for an answer. */
static const double LOOK = 0.02, GRACE = 2;

typedef struct state {
  MPI_Comm comm;
  MPI_Request *request;
  int64_t pending, room;
  double limit;     /* seconds of a wait; 0: none */
  unsigned process; /* that opened it: base/process.h */
  int lost;         /* the rank that was found lost, or NOBODY: then nothing is sent any more */
} state;

trs_status trs_mpi_check(int code, const char *call) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  if (code == MPI_SUCCESS) return TRS_SUCCESS;
  MPI_Error_string(code, text, &length);
  return trs_fail(TRS_ERROR_INTERNAL, -1, "%s: %s", call, text);
}

/* ---- Ranks that are lost. ---- */

static trs_status tell_lost(const state *s) {
  if (s->lost == EVERYBODY)
    return trs_fail(TRS_ERROR_STALLED, -1,
                    "all ranks wait for each other for more than %g s: each must make the same "
                    "calls in the same order",
                    s->limit);
  return trs_fail(TRS_ERROR_STALLED, -1,
                  "rank %d does not answer: it was stopped, lost its network, computes for longer "
                  "than the limit of waits, or makes other calls",
                  s->lost);
}

/* Nobody waits for these to arrive. */
static void send_note(const state *s, int to, int tag, const int *number) {
  MPI_Request request;
  if (!MPI_Isend(number, number ? 1 : 0, MPI_INT, to, tag, s->comm, &request))
    MPI_Request_free(&request);
}

static bool take_note(const state *s, int tag, int *from, int *number) {
  MPI_Status status;
  int there = 0;
  if (MPI_Iprobe(MPI_ANY_SOURCE, tag, s->comm, &there, &status) || !there) return false;
  *from = status.MPI_SOURCE;
  return !MPI_Recv(number, 1, MPI_INT, *from, tag, s->comm, MPI_STATUS_IGNORE);
}

/* Answers others, and hears what they found. */
static void look_at_notes(state *s) {
  int from, number;
  while (take_note(s, TRS_TAG_ASK, &from, &number)) send_note(s, from, TRS_TAG_ANSWER, NULL);
  if (take_note(s, TRS_TAG_LOST, &from, &number) && s->lost == NOBODY) s->lost = number;
}

/* The first rank that does not answer, or EVERYBODY. */
static trs_status ask_all(const trs_ranks *ranks, int *silent) {
  state *s = ranks->state;
  bool *answered;
  int from, number, missing = ranks->size - 1;
  TRS_TRY(TRS_ALLOC_ZERO(&answered, ranks->size));
  answered[ranks->rank] = true;
  for (int r = 0; r < ranks->size; r++)
    if (r != ranks->rank) send_note(s, r, TRS_TAG_ASK, NULL);
  trs_patience wait = {0};
  while (missing && s->lost == NOBODY && wait.waited < GRACE) {
    look_at_notes(s);
    while (take_note(s, TRS_TAG_ANSWER, &from, &number)) {
      missing -= !answered[from];
      answered[from] = true;
    }
    trs_wait_turn(&wait);
  }
  *silent = EVERYBODY;
  for (int r = ranks->size - 1; r >= 0; r--)
    if (!answered[r]) *silent = r;
  trs_free(answered);
  return TRS_SUCCESS;
}

/* What is sent here lies in the state, for nobody waits until it has left. */
static void find_lost(const trs_ranks *ranks, int silent) {
  state *s = ranks->state;
  if (s->lost != NOBODY) return;
  s->lost = silent;
  for (int r = 0; r < ranks->size; r++)
    if (r != ranks->rank && r != silent) send_note(s, r, TRS_TAG_LOST, &s->lost);
}

/* A wait that has been long; *asked: how often all have answered in it. */
static trs_status look_around(const trs_ranks *ranks, double waited, int *asked) {
  state *s = ranks->state;
  look_at_notes(s);
  if (s->lost == NOBODY && s->limit > 0 && waited > s->limit * (*asked + 1)) {
    int silent;
    TRS_TRY(ask_all(ranks, &silent));
    if (silent != EVERYBODY || ++*asked > 1) find_lost(ranks, silent);
  }
  return s->lost == NOBODY ? TRS_SUCCESS : tell_lost(s);
}

trs_status trs_mpi_await(const trs_ranks *ranks, MPI_Request *request, MPI_Status *status,
                         const char *call) {
  const state *s = ranks->state;
  trs_patience wait = {0};
  double looked = 0;
  int done = 0, asked = 0;
  if (s->lost != NOBODY) return tell_lost(s);
  for (;;) {
    TRS_TRY(trs_mpi_check(MPI_Test(request, &done, status), call));
    if (done) return TRS_SUCCESS;
    trs_wait_turn(&wait);
    if (wait.waited - looked < LOOK) continue;
    looked = wait.waited;
    TRS_TRY(look_around(ranks, wait.waited, &asked));
  }
}

trs_status trs_mpi_usable(const trs_ranks *ranks) {
  const state *s = ranks->state;
  if (s->process == trs_process()) return TRS_SUCCESS;
  return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                  "this process was forked from a rank, and MPI does not survive a fork: the "
                  "parent alone can use what it made on ranks");
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
  if (s->lost != NOBODY) return tell_lost(s);
  if (s->pending == s->room) TRS_TRY(reserve(ranks, s->room + 64));
  int code = MPI_Isend(data, (int)bytes, MPI_BYTE, to, tag, s->comm, &s->request[s->pending]);
  TRS_TRY(trs_mpi_check(code, "MPI_Isend"));
  s->pending++;
  return TRS_SUCCESS;
}

/* A message that comes after a failure must not write into what the caller has freed. */
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

/* Freeing a communicator takes all of its ranks. */
static void close(trs_ranks *ranks) {
  state *s = ranks->state;
  bool whole = s && s->lost == NOBODY && s->process == trs_process();
  if (whole && s->comm != MPI_COMM_NULL) MPI_Comm_free(&s->comm);
  if (s) trs_free(s->request);
  if (s && s->lost == NOBODY) trs_free(s); /* else a note may still be read from it */
  *ranks = (trs_ranks){0};
}

trs_status trs_mpi_neighbours(trs_ranks *ranks, int *machine, int *turn) {
  char own[MPI_MAX_PROCESSOR_NAME] = "", *all = NULL;
  int length;
  trs_status status = trs_mpi_check(MPI_Get_processor_name(own, &length), "MPI_Get_processor_name");
  if (!status) status = trs_alloc((void **)&all, ranks->size, sizeof own);
  status = trs_ranks_agree(ranks, status);
  if (!status) status = trs_ranks_records(ranks, own, all, sizeof own);
  *machine = ranks->rank;
  *turn = 0;
  for (int r = ranks->rank - 1; r >= 0 && !status; r--) {
    if (memcmp(all + r * (int64_t)sizeof own, own, sizeof own) != 0) continue;
    *machine = r;
    ++*turn;
  }
  trs_free(all);
  return status;
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
                                        .close = close};

/* ---- Opening. ---- */

static trs_status take_limit(double *limit, double asked) {
  const char *text = getenv("TRIREME_TIMEOUT");
  char *rest;
  *limit = asked > 0 ? asked : 0;
  if (asked != 0 || !text || !*text) return TRS_SUCCESS;
  *limit = strtod(text, &rest);
  if (rest != text && !*rest && *limit >= 0 && isfinite(*limit)) return TRS_SUCCESS;
  *limit = 0;
  return trs_fail(TRS_ERROR_ARGUMENT, -1,
                  "the environment variable TRIREME_TIMEOUT is \"%s\": it must be a number of "
                  "seconds, 0 for no limit",
                  text);
}

/* What MPI writes into while ranks meet.  It outlives a meeting that was given up, after which no
 * other can begin. */
static struct {
  MPI_Comm comm;
  int failed, any;
  bool given_up;
  unsigned process;
} meeting;

static trs_status await_meeting(MPI_Request *request, double limit, const char *call) {
  trs_patience wait = {0};
  for (int done = 0;;) {
    TRS_TRY(trs_mpi_check(MPI_Test(request, &done, MPI_STATUS_IGNORE), call));
    if (done) return TRS_SUCCESS;
    trs_wait_turn(&wait);
    if (limit == 0 || wait.waited < limit) continue;
    meeting.given_up = true;
    return trs_fail(TRS_ERROR_STALLED, -1,
                    "not all ranks have come within %g s: each must make the same calls in the "
                    "same order, and none be stopped",
                    limit);
  }
}

static trs_status check_meeting(void) {
  static bool met;
  if (!met) meeting.process = trs_process();
  met = true;
  if (meeting.process != trs_process())
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "this process was forked from a rank, and MPI does not survive a fork");
  if (meeting.given_up)
    return trs_fail(TRS_ERROR_STALLED, -1, "not all ranks came to an earlier call");
  return TRS_SUCCESS;
}

static trs_status make_state(trs_ranks *ranks, double limit) {
  state *s;
  TRS_TRY(TRS_ALLOC_ZERO(&s, 1));
  *s = (state){.comm = meeting.comm, .limit = limit, .process = trs_process(), .lost = NOBODY};
  ranks->state = s;
  return reserve(ranks, 64);
}

/* The duplicate is made first, so that ranks that cannot allocate still take part in it. */
trs_status trs_ranks_open_mpi(trs_ranks *ranks, MPI_Comm comm, double asked) {
  MPI_Request request;
  double limit;
  *ranks = (trs_ranks){.transport = &transport, .chunk = CHUNK};
  if (comm == MPI_COMM_NULL) /* MPI would end the program */
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "comm is MPI_COMM_NULL: this rank is not in it");
  TRS_TRY(check_meeting());
  trs_failure failure = {0};
  trs_status status = take_limit(&limit, asked);
  TRS_TRY(trs_mpi_check(MPI_Comm_idup(comm, &meeting.comm, &request), "MPI_Comm_idup"));
  TRS_TRY(await_meeting(&request, limit, "MPI_Comm_idup"));
  MPI_Comm own = meeting.comm;
  MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
  MPI_Comm_rank(own, &ranks->rank);
  MPI_Comm_size(own, &ranks->size);
  if (!status) status = make_state(ranks, limit);
  if (status) trs_failure_get(&failure);
  meeting.failed = status;
  int code = MPI_Iallreduce(&meeting.failed, &meeting.any, 1, MPI_INT, MPI_MAX, own, &request);
  trs_status agreed = trs_mpi_check(code, "MPI_Iallreduce");
  if (!agreed) agreed = await_meeting(&request, limit, "MPI_Iallreduce");
  if (!agreed && !meeting.any) return TRS_SUCCESS;
  if (!agreed && !ranks->state) MPI_Comm_free(&own);
  if (!agreed) trs_ranks_close(ranks);
  if (agreed) return agreed;
  if (status) return trs_failure_set(&failure);
  return trs_fail((trs_status)meeting.any, -1, "another rank could not begin: %s",
                  trs_status_name((trs_status)meeting.any));
}
