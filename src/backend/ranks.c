/* ranks.c - a context on each rank. */
#include "backend/ranks.h"

#include <stdio.h>
#include <string.h>

#include "device/shared.h"

/* gpu identifies a GPU uniquely over all ranks; machine is the first rank of the machine. */
typedef struct rank_gpu {
  int64_t machine, gpu; /* gpu is -1 without a GPU */
} rank_gpu;

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

static trs_status identify_gpu(const trs_context *ctx, rank_gpu *own) {
  own->gpu = -1;
  if (!ctx->device) return TRS_SUCCESS;
  TRS_ON_DEVICE(ctx->device);
  return trs_device_identity(ctx->device, &own->gpu);
}

static void count_gpus(const rank_gpu *of, int size, trs_ranks_gpus *gpus) {
  *gpus = (trs_ranks_gpus){0};
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

static trs_status gather(trs_ranks *ranks, trs_status status, const rank_gpu *own,
                         trs_ranks_gpus *gpus) {
  rank_gpu *all = NULL;
  if (!status) status = TRS_ALLOC(&all, ranks->size);
  status = trs_ranks_agree(ranks, status);
  if (!status) status = trs_ranks_records(ranks, own, all, sizeof *own);
  if (!status) count_gpus(all, ranks->size, gpus);
  if (!status) gpus->machine = (int)own->machine;
  trs_free(all);
  return status;
}

trs_status trs_ranks_count_gpus(trs_ranks *ranks, const trs_context *ctx, trs_ranks_gpus *gpus) {
  int machine, turn;
  rank_gpu own = {0};
  TRS_TRY(trs_ranks_neighbours(ranks, &machine, &turn));
  own.machine = machine;
  trs_status status = trs_context_check(ctx);
  if (!status) status = identify_gpu(ctx, &own);
  return gather(ranks, status, &own, gpus);
}

trs_status trs_ranks_keep_context(trs_ranks *ranks, trs_context **kept, trs_context *ctx,
                                  trs_ranks_gpus *gpus) {
  TRS_TRY(trs_ranks_count_gpus(ranks, ctx, gpus));
  *kept = trs_context_retain(ctx);
  return TRS_SUCCESS;
}

trs_status trs_ranks_open_context(trs_ranks *ranks, trs_context **ctx, const char *where) {
  int machine, turn;
  *ctx = NULL;
  TRS_TRY(trs_ranks_neighbours(ranks, &machine, &turn));
  trs_status status = trs_ranks_agree(ranks, open(ctx, where, turn));
  if (!status) return TRS_SUCCESS;
  trs_context_destroy(*ctx);
  *ctx = NULL;
  return status;
}
