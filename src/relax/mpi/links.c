/* links.c - messages with x between ranks: one persistent request per message of each colour.
 *
 * When a colour's step comes, no row reads its remote rows any more in their old state, so its
 * receives start: directly into x, for one right-hand side.  Sends start when its boundary rows are
 * relaxed.  Both complete when a row needs the message, or the buffer is reused.  All ranks process
 * the colours in the same order, so the messages between two ranks match by their order alone. */
#include "relax/mpi/links.h"

#include <limits.h>
#include <string.h>

#include "comm/ranks_mpi.h"

typedef struct mpi_links {
  trs_relax_links base;
  trs_relaxation *R;
  MPI_Comm comm;
  int64_t nsends, nreceives, nrhs; /* number of right-hand sides of the requests; 0: no requests */
  int64_t row;                     /* bytes per row of x */
  MPI_Request *send, *receive;
  uint8_t *open;  /* receives: started and not yet complete */
  char *out, *in; /* packed messages; in: of several right-hand sides only; or the mover's */
} mpi_links;

static bool failed(const mpi_links *l) { return l->base.failed.status != TRS_SUCCESS; }

static bool good(mpi_links *l, int code, const char *call) {
  return trs_links_keep(&l->base, trs_mpi_check(code, call));
}

static bool await(mpi_links *l, MPI_Request *request) {
  return trs_links_keep(&l->base,
                        trs_mpi_await(l->base.ranks, request, MPI_STATUS_IGNORE, "MPI_Wait"));
}

/* ---- Requests ---- */

/* After a failure, messages may still be in transit, into memory that is about to be freed.
 * MPI_Finalize has freed all. */
static void free_requests(mpi_links *l) {
  int ended;
  MPI_Finalized(&ended);
  if (ended) l->nrhs = 0;
  for (int64_t m = 0; l->nrhs && m < l->nreceives; m++)
    if (l->open[m]) MPI_Cancel(&l->receive[m]);
  for (int64_t m = 0; l->nrhs && m < l->nreceives; m++) MPI_Request_free(&l->receive[m]);
  for (int64_t m = 0; l->nrhs && m < l->nsends; m++) MPI_Request_free(&l->send[m]);
  l->nrhs = 0;
}

static char *arrival(const mpi_links *l, int64_t m, int64_t nrhs) {
  int64_t begin = l->R->domain->receive[m].begin;
  return nrhs == 1 && !l->R->mover ? (char *)l->R->x + begin * l->row
                                   : l->in + (begin - l->R->nrows) * l->row * nrhs;
}

static void make_requests(mpi_links *l, int64_t nrhs) {
  const trs_domain *D = l->R->domain;
  free_requests(l);
  for (int64_t m = 0; m < l->nreceives; m++) l->receive[m] = MPI_REQUEST_NULL;
  for (int64_t m = 0; m < l->nsends; m++) l->send[m] = MPI_REQUEST_NULL;
  for (int64_t m = 0; m < l->nreceives; m++) {
    int bytes = (int)((D->receive[m].end - D->receive[m].begin) * l->row * nrhs);
    int code = MPI_Recv_init(arrival(l, m, nrhs), bytes, MPI_BYTE, D->receive[m].other,
                             TRS_TAG_FREE, l->comm, &l->receive[m]);
    if (!good(l, code, "MPI_Recv_init")) return;
  }
  for (int64_t m = 0; m < l->nsends; m++) {
    int bytes = (int)((D->send[m].end - D->send[m].begin) * l->row * nrhs);
    int code = MPI_Send_init(l->out + D->send[m].begin * l->row * nrhs, bytes, MPI_BYTE,
                             D->send[m].other, TRS_TAG_FREE, l->comm, &l->send[m]);
    if (!good(l, code, "MPI_Send_init")) return;
  }
  l->nrhs = nrhs;
}

/* ---- Messages ---- */

static void unpack(const mpi_links *l, int64_t m) {
  trs_relaxation *R = l->R;
  const trs_domain_message *M = &R->domain->receive[m];
  int64_t bytes = (M->end - M->begin) * l->row, column = (R->nrows + R->nhalo) * l->row;
  if (R->mover) {
    R->mover->unpack(R, M, l->nrhs);
    return;
  }
  for (int64_t c = 0; c < l->nrhs; c++)
    memcpy((char *)R->x + c * column + M->begin * l->row, arrival(l, m, l->nrhs) + c * bytes,
           (size_t)bytes);
}

static void pack(const mpi_links *l, int64_t m) {
  const trs_relaxation *R = l->R;
  const trs_domain_message *M = &R->domain->send[m];
  int64_t column = (R->nrows + R->nhalo) * l->row;
  char *to = l->out + M->begin * l->row * l->nrhs;
  for (int64_t c = 0; c < l->nrhs; c++)
    for (int64_t k = M->begin; k < M->end; k++, to += l->row)
      memcpy(to, (const char *)R->x + c * column + R->domain->sent[k] * l->row, (size_t)l->row);
}

static void finish(mpi_links *l, int64_t m) {
  if (failed(l) || !l->open[m]) return;
  l->open[m] = 0;
  if (await(l, &l->receive[m]) && (l->nrhs > 1 || l->R->mover)) unpack(l, m);
}

static void begin_receives(mpi_links *l, int32_t c) {
  const trs_domain *D = l->R->domain;
  for (int64_t m = D->receive_ptr[c]; m < D->receive_ptr[c + 1]; m++) {
    finish(l, m);
    if (l->R->mover) l->R->mover->settle(l->R, c);
    if (failed(l) || !good(l, MPI_Start(&l->receive[m]), "MPI_Start")) return;
    l->open[m] = 1;
  }
}

/* Waits until the colour's messages of its previous step have left. */
static void await_sends(mpi_links *l, int32_t c) {
  const trs_domain *D = l->R->domain;
  for (int64_t m = D->send_ptr[c]; m < D->send_ptr[c + 1] && !failed(l); m++)
    (void)await(l, &l->send[m]);
}

static void begin_sends(mpi_links *l, int32_t c) {
  const trs_domain *D = l->R->domain;
  await_sends(l, c);
  if (l->R->mover) l->R->mover->pack(l->R, c, l->nrhs);
  for (int64_t m = D->send_ptr[c]; m < D->send_ptr[c + 1]; m++) {
    if (failed(l)) return;
    if (!l->R->mover) pack(l, m);
    if (!good(l, MPI_Start(&l->send[m]), "MPI_Start")) return;
  }
}

/* ---- Functions that sweeps call ---- */

static void arrive(trs_relax_links *links, int32_t c) {
  mpi_links *l = (mpi_links *)links;
  const trs_domain *D = l->R->domain;
  for (int64_t k = D->need_ptr[c]; k < D->need_ptr[c + 1]; k++) finish(l, D->need[k]);
  begin_receives(l, c);
  if (l->R->mover) await_sends(l, c); /* before new rows are packed into the same buffer */
}

static void give(trs_relax_links *links, int32_t c) { begin_sends((mpi_links *)links, c); }

/* MPI libraries progress large messages only inside one of their functions. */
static void look(trs_relax_links *links) {
  mpi_links *l = (mpi_links *)links;
  int there;
  if (!failed(l))
    (void)good(l, MPI_Iprobe(MPI_ANY_SOURCE, TRS_TAG_FREE, l->comm, &there, MPI_STATUS_IGNORE),
               "MPI_Iprobe");
}

static void drain(trs_relax_links *links) {
  mpi_links *l = (mpi_links *)links;
  for (int64_t m = 0; m < l->nreceives; m++) finish(l, m);
  for (int64_t m = 0; m < l->nsends && !failed(l); m++) (void)await(l, &l->send[m]);
}

static void start(trs_relax_links *links, int64_t nrhs, bool keep_x) {
  mpi_links *l = (mpi_links *)links;
  const trs_relaxation *R = l->R;
  int64_t column = (R->nrows + R->nhalo) * l->row;
  if (failed(l)) return;
  if (nrhs != l->nrhs) make_requests(l, nrhs);
  for (int64_t c = 0; !keep_x && !R->mover && c < nrhs; c++)
    memset((char *)R->x + c * column + R->nrows * l->row, 0, (size_t)(R->nhalo * l->row));
  for (int32_t c = 0; keep_x && c < R->ncolours; c++) begin_receives(l, c);
  for (int32_t c = 0; keep_x && c < R->ncolours; c++) begin_sends(l, c);
  if (keep_x) drain(links);
}

/* ---- Life ---- */

static trs_status allocate(mpi_links *l) {
  const trs_relaxation *R = l->R;
  const trs_domain *D = R->domain;
  int64_t sent = l->nsends ? D->send[l->nsends - 1].end : 0, longest = 0;
  for (int64_t m = 0; m < l->nreceives; m++)
    if (D->receive[m].end - D->receive[m].begin > longest)
      longest = D->receive[m].end - D->receive[m].begin;
  for (int64_t m = 0; m < l->nsends; m++)
    if (D->send[m].end - D->send[m].begin > longest) longest = D->send[m].end - D->send[m].begin;
  if (longest * l->row > INT_MAX / R->room)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                    "two domains exchange %lld rows of a colour, more than a message holds: take "
                    "more ranks, or fewer right-hand sides at a time",
                    (long long)longest);
  TRS_TRY(TRS_ALLOC_ALL(TRS_ROOM(&l->send, l->nsends), TRS_ROOM(&l->receive, l->nreceives),
                        TRS_ZEROS(&l->open, l->nreceives)));
  if (R->mover) {
    l->out = R->mover->out;
    l->in = R->mover->in;
    return TRS_SUCCESS;
  }
  TRS_TRY(trs_alloc((void **)&l->out, sent * R->room, (size_t)l->row));
  return R->room > 1 ? trs_alloc((void **)&l->in, R->nhalo * R->room, (size_t)l->row) : TRS_SUCCESS;
}

static void free_links(trs_relax_links *links) {
  mpi_links *l = (mpi_links *)links;
  free_requests(l);
  if (l->R->mover) l->out = l->in = NULL; /* the mover's */
  l->R->links = NULL;
  TRS_FREE_ALL(l->send, l->receive, l->open, l->out, l->in, l);
}

trs_status trs_mpi_links_create(trs_relaxation *R, trs_ranks *ranks, int64_t row) {
  mpi_links *l;
  TRS_TRY(TRS_ALLOC_ZERO(&l, 1));
  *l = (mpi_links){.base = {.start = start,
                            .arrive = arrive,
                            .give = give,
                            .look = look,
                            .drain = drain,
                            .free = free_links,
                            .ranks = ranks},
                   .R = R,
                   .comm = trs_ranks_mpi_comm(ranks),
                   .nsends = R->domain->send_ptr[R->ncolours],
                   .nreceives = R->domain->receive_ptr[R->ncolours],
                   .row = row};
  R->links = &l->base;
  return allocate(l);
}
