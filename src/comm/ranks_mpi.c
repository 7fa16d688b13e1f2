/* ranks_mpi.c - messages through MPI: MPI_Isend with a growing list of requests, MPI_Recv. */
#include "comm/ranks_mpi.h"

enum { CHUNK = 1 << 30 }; /* MPI counts in int */

typedef struct state {
  MPI_Comm comm;
  MPI_Request *request;
  int64_t pending, room;
} state;

trs_status trs_mpi_check(int code, const char *call) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  if (code == MPI_SUCCESS) return TRS_SUCCESS;
  MPI_Error_string(code, text, &length);
  return trs_fail(TRS_ERROR_INTERNAL, -1, "%s: %s", call, text);
}

static trs_status reserve(trs_ranks *ranks, int64_t sends) {
  state *s = ranks->state;
  if (s->pending + sends <= s->room) return TRS_SUCCESS;
  TRS_TRY(trs_realloc((void **)&s->request, s->pending + sends, sizeof *s->request));
  s->room = s->pending + sends;
  return TRS_SUCCESS;
}

static trs_status send(trs_ranks *ranks, int to, int tag, const void *data, int64_t bytes) {
  state *s = ranks->state;
  if (s->pending == s->room) TRS_TRY(reserve(ranks, s->room + 64));
  int code = MPI_Isend(data, (int)bytes, MPI_BYTE, to, tag, s->comm, &s->request[s->pending]);
  TRS_TRY(trs_mpi_check(code, "MPI_Isend"));
  s->pending++;
  return TRS_SUCCESS;
}

static trs_status receive(trs_ranks *ranks, int from, int tag, void *data, int64_t capacity,
                          int64_t *bytes) {
  const state *s = ranks->state;
  MPI_Status status;
  int count, most = (int)(capacity < ranks->chunk ? capacity : ranks->chunk);
  int code =
      MPI_Recv(data, most, MPI_BYTE, from < 0 ? MPI_ANY_SOURCE : from, tag, s->comm, &status);
  TRS_TRY(trs_mpi_check(code, "MPI_Recv"));
  TRS_TRY(trs_mpi_check(MPI_Get_count(&status, MPI_BYTE, &count), "MPI_Get_count"));
  *bytes = count;
  return TRS_SUCCESS;
}

static trs_status finish(trs_ranks *ranks) {
  state *s = ranks->state;
  int pending = (int)s->pending;
  s->pending = 0;
  return trs_mpi_check(MPI_Waitall(pending, s->request, MPI_STATUSES_IGNORE), "MPI_Waitall");
}

static void close(trs_ranks *ranks) {
  state *s = ranks->state;
  if (s && s->comm != MPI_COMM_NULL) MPI_Comm_free(&s->comm);
  if (s) trs_free(s->request);
  trs_free(s);
  *ranks = (trs_ranks){0};
}

MPI_Comm trs_ranks_mpi_comm(const trs_ranks *ranks) { return ((const state *)ranks->state)->comm; }

static const trs_transport transport = {.name = "mpi",
                                        .send = send,
                                        .receive = receive,
                                        .finish = finish,
                                        .reserve = reserve,
                                        .close = close};

/* The duplicate is made first, so that ranks that cannot allocate still take part in it. */
trs_status trs_ranks_open_mpi(trs_ranks *ranks, MPI_Comm comm) {
  MPI_Comm own = MPI_COMM_NULL;
  *ranks = (trs_ranks){.transport = &transport, .chunk = CHUNK};
  TRS_TRY(trs_mpi_check(MPI_Comm_dup(comm, &own), "MPI_Comm_dup"));
  MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
  MPI_Comm_rank(own, &ranks->rank);
  MPI_Comm_size(own, &ranks->size);
  state *s;
  trs_status status = TRS_ALLOC_ZERO(&s, 1);
  if (!status) {
    s->comm = own;
    ranks->state = s;
    status = reserve(ranks, 64);
  }
  int failed = status != TRS_SUCCESS, any = 0;
  trs_status agreed =
      trs_mpi_check(MPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, own), "MPI_Allreduce");
  if (!agreed && !any) return TRS_SUCCESS;
  if (!s) MPI_Comm_free(&own);
  trs_ranks_close(ranks);
  if (agreed || status) return agreed ? agreed : status;
  return trs_fail(TRS_ERROR_MEMORY, -1, "another rank is out of memory");
}
