/* mpi_context.c - a context on each rank. */
#include "api/mpi_context.h"

#include <stdio.h>
#include <string.h>

#include "comm/ranks_mpi.h"
#include "device/shared.h"
#include "trireme_mpi.h"

/* gpu identifies a GPU uniquely over all ranks; machine is the first rank of the machine. */
typedef struct place {
  int64_t machine, gpu; /* gpu is -1 without a GPU */
} place;

static trs_status check_where(const char *where) {
  size_t length = where ? strcspn(where, ":") : 0;
  static const char *const kinds[] = {"serial", "threads", "cuda"};
  for (int k = 0; k < 3; k++)
    if (strlen(kinds[k]) == length && !strncmp(where, kinds[k], length) && !strpbrk(where, ",-"))
      return TRS_SUCCESS;
  return trs_fail(TRS_ERROR_ARGUMENT, -1,
                  "the backend of a rank is cuda (a GPU of its machine, in turn), cuda:N, threads, "
                  "threads:T or serial, not \"%s\"",
                  where ? where : "");
}

/* "cuda" assigns the GPUs of a machine to its ranks in turn. */
static trs_status open(trs_context **ctx, const char *where, int turn) {
  char gpu[32];
  int total = 0;
  TRS_TRY(check_where(where));
  if (strcmp(where, "cuda") != 0) return trs_context_create(ctx, where);
  TRS_TRY(trs_device_total(&total));
  snprintf(gpu, sizeof gpu, "cuda:%d", turn % total);
  return trs_context_create(ctx, gpu);
}

static trs_status find_place(const trs_context *ctx, place *own) {
  own->gpu = -1;
  if (!ctx->device) return TRS_SUCCESS;
  int before = trs_device_enter(ctx->device);
  trs_status status = trs_device_identity(ctx->device, &own->gpu);
  trs_device_leave(before);
  return status;
}

static void count_gpus(const place *of, int size, trs_mpi_gpus *gpus) {
  *gpus = (trs_mpi_gpus){0};
  for (int r = 0; r < size; r++) {
    int same = 0, before = 0;
    for (int q = 0; q < size && of[r].gpu >= 0; q++) {
      if (of[q].machine != of[r].machine || of[q].gpu != of[r].gpu) continue;
      same++;
      before += q < r;
    }
    gpus->count += same > 0 && before == 0;
    if (same > gpus->sharing) gpus->sharing = same;
  }
}

static trs_status compare_places(trs_ranks *ranks, trs_status status, const place *own,
                                 trs_mpi_gpus *gpus) {
  place *all = NULL;
  if (!status) status = TRS_ALLOC(&all, ranks->size);
  status = trs_ranks_agree(ranks, status);
  if (!status) status = trs_ranks_records(ranks, own, all, sizeof *own);
  if (!status && gpus) count_gpus(all, ranks->size, gpus);
  if (!status && gpus) gpus->machine = (int)own->machine;
  trs_free(all);
  return status;
}

trs_status trs_mpi_open_context(trs_ranks *ranks, trs_context **ctx, const char *where,
                                trs_mpi_gpus *gpus) {
  int machine, turn;
  place own = {0};
  *ctx = NULL;
  TRS_TRY(trs_mpi_neighbours(ranks, &machine, &turn));
  own.machine = machine;
  trs_status status = open(ctx, where, turn);
  if (!status) status = find_place(*ctx, &own);
  status = compare_places(ranks, status, &own, gpus);
  if (!status) return TRS_SUCCESS;
  trs_context_destroy(*ctx);
  *ctx = NULL;
  return status;
}

trs_status trs_mpi_context_create(MPI_Comm comm, trs_context **ctx, const char *where) {
  trs_ranks ranks;
  trs_context *made = NULL;
  if (ctx) *ctx = NULL;
  TRS_TRY(trs_ranks_open_mpi(&ranks, comm, 0));
  trs_status status =
      ctx ? TRS_SUCCESS : trs_fail(TRS_ERROR_ARGUMENT, -1, "the address of the context is NULL");
  status = trs_ranks_agree(&ranks, status);
  if (!status) status = trs_mpi_open_context(&ranks, &made, where, NULL);
  if (!status) *ctx = made;
  trs_ranks_close(&ranks);
  return status;
}
