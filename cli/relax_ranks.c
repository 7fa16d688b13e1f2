/* relax_ranks.c - trireme relax on ranks.  The output of ranks other than 0 is discarded, and they
 * exit with 0: mpirun ends the whole program at the first other code, possibly before rank 0 has
 * printed the reason, and returns rank 0's code. */
#include "relax_ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "leave.h"
#include "output.h"
#include "report.h"

/* The number of processes according to the launcher; 0: unknown.  Slurm's PMIx gives ranks without
 * a size, and SLURM_NTASKS is also set in the environment of batch scripts, which are one
 * process. */
static int launched_size(void) {
  static const char *const sizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"};
  for (int k = 0; k < 2; k++) {
    const char *text = getenv(sizes[k]);
    if (text) return atoi(text);
  }
  const char *tasks = getenv("PMIX_RANK") ? getenv("SLURM_NTASKS") : NULL;
  return tasks ? atoi(tasks) : 0;
}

bool ranks_first_of_several(void) {
  static const char *const ranks[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"};
  const char *text = NULL;
  for (int k = 0; k < 3 && !text; k++) text = getenv(ranks[k]);
  return launched_size() > 1 && text && atoi(text) == 0;
}

bool is_among_ranks(void) {
  int launched = launched_size();
  return launched > 1 || (launched == 0 && getenv("PMIX_RANK"));
}

#if TRIREME_CLI_MPI

#include "trireme_mpi.h"

struct relax_ranks {
  int rank, size, near; /* near: ranks on this node */
  trs_mpi_plan *R;
  trs_relax_info whole;
  trs_mpi_relax_info info[3]; /* by trs_mpi_over */
};

int ranks_join(relax_ranks **result) {
  static relax_ranks ranks;
  int provided;
  MPI_Comm node;
  *result = NULL;
  if (!is_among_ranks()) return -1;
  if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS)
    return leave(LEAVE_UNAVAILABLE, "unsupported", -1, "MPI does not start");
  *result = &ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &ranks.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks.size);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &ranks.near);
  MPI_Comm_free(&node);
  if (ranks.rank) output_silence();
  return -1;
}

bool ranks_are_lost(void) { return trs_last_error()->status == TRS_ERROR_STALLED; }

/* Rank 0 says why.  Where it is the one that is lost, and so has not ended this process in time,
 * rank 1 does. */
void ranks_abort_if_lost(int rank, int code) {
  enum { TIME_TO_SPEAK = 3 };
  if (code < 0 || !ranks_are_lost()) return;
  if (rank > 0) (void)sleep(TIME_TO_SPEAK);
  if (rank > 1) (void)sleep(TIME_TO_SPEAK);
  if (rank == 1) {
    output_speak();
    leave_library(NULL);
  }
  MPI_Abort(MPI_COMM_WORLD, rank > 1 ? code : output_finish(report_print(code)));
}

int ranks_leave(relax_ranks *ranks, int code) {
  if (!ranks) return code;
  ranks_abort_if_lost(ranks->rank, code);
  trs_mpi_plan_destroy(ranks->R);
  MPI_Finalize();
  return ranks->rank ? LEAVE_SOLVED : code;
}

bool ranks_speaks(const relax_ranks *ranks) { return !ranks || ranks->rank == 0; }

int ranks_agree(const relax_ranks *ranks, int code) {
  if (ranks && code >= 0) ranks_abort_if_lost(ranks->rank, code);
  if (ranks) MPI_Bcast(&code, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return code;
}

bool ranks_any(const relax_ranks *ranks, bool failed) {
  int any = failed;
  if (ranks) MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return any != 0;
}

int64_t ranks_share(const relax_ranks *ranks, int64_t count) {
  if (ranks) MPI_Bcast(&count, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
  return count;
}

void ranks_backend(const relax_ranks *ranks, char *text, size_t size) {
  trs_context *ctx;
  int cores = 1;
  if (!trs_context_create(&ctx, "threads"))
    cores = trs_context_threads(ctx), trs_context_destroy(ctx);
  int each = cores / ranks->near;
  snprintf(text, size, each > 1 ? "threads:%d" : "serial", each);
}

trs_status ranks_context(const relax_ranks *ranks, trs_context **ctx, const char *where) {
  (void)ranks;
  return trs_mpi_context_create(ctx, MPI_COMM_WORLD, where);
}

trs_status ranks_create(relax_ranks *ranks, trs_context *ctx, const trs_matrix *A, int block_size,
                        const trs_relax_options *options) {
  return trs_mpi_relax_create(&ranks->R, MPI_COMM_WORLD, ctx, A, block_size, options);
}

trs_status ranks_update(relax_ranks *ranks, const trs_matrix *A) {
  return trs_mpi_relax_update(ranks->R, A);
}

trs_status ranks_sweep(relax_ranks *ranks, void *x, const void *b, int64_t n, int64_t nrhs,
                       const trs_sweep_options *options) {
  return trs_mpi_relax_sweep(ranks->R, x, n, b, n, nrhs, TRS_COL_MAJOR, options);
}

trs_status ranks_info(relax_ranks *ranks, trs_relax_info *whole) {
  ranks->whole.struct_size = sizeof ranks->whole;
  trs_status status = TRS_SUCCESS;
  for (int k = 0; k < 3 && !status; k++) {
    ranks->info[k].struct_size = sizeof ranks->info[k];
    status = trs_mpi_relax_get_info(ranks->R, k ? NULL : &ranks->whole, &ranks->info[k],
                                    (trs_mpi_over)k);
  }
  if (!status) *whole = ranks->whole;
  return status;
}

void ranks_print(const relax_ranks *ranks) {
  if (!ranks) return;
  const trs_mpi_relax_info *least = &ranks->info[TRS_MPI_MIN], *most = &ranks->info[TRS_MPI_MAX];
  table_row("ranks", "%d, domains %s with %s to %s block rows, which read %s to %s rows of others",
            ranks->whole.domains, how_dealt(ranks->whole.partition),
            human_count((int64_t)least->rows).s, human_count((int64_t)most->rows).s,
            human_count((int64_t)least->halo_rows).s, human_count((int64_t)most->halo_rows).s);
  table_row("messages", "%s to %s per rank in one pass over the colours, %s to %s",
            human_count((int64_t)least->messages).s, human_count((int64_t)most->messages).s,
            human_bytes(least->bytes).s, human_bytes(most->bytes).s);
}

void ranks_report_over(const char *path, double min, double mean, double max) {
  char name[96];
  snprintf(name, sizeof name, "%s.min", path);
  report_real(name, min);
  snprintf(name, sizeof name, "%s.mean", path);
  report_real(name, mean);
  snprintf(name, sizeof name, "%s.max", path);
  report_real(name, max);
}

void ranks_report(const relax_ranks *ranks) {
  if (!ranks) return;
  report_count("ranks.count", ranks->whole.domains);
  report_text("ranks.partition", ranks->whole.partition);
  const trs_mpi_relax_info *of = ranks->info;
  ranks_report_over("ranks.rows", of[0].rows, of[1].rows, of[2].rows);
  ranks_report_over("ranks.blocks", of[0].blocks, of[1].blocks, of[2].blocks);
  ranks_report_over("ranks.halo_rows", of[0].halo_rows, of[1].halo_rows, of[2].halo_rows);
  ranks_report_over("ranks.messages", of[0].messages, of[1].messages, of[2].messages);
  ranks_report_over("ranks.bytes", of[0].bytes, of[1].bytes, of[2].bytes);
}

#else

#pragma GCC diagnostic ignored "-Wunused-parameter"

int ranks_join(relax_ranks **ranks) {
  *ranks = NULL;
  if (!is_among_ranks()) return -1;
  return leave(LEAVE_UNAVAILABLE, trs_status_name(TRS_ERROR_UNSUPPORTED), -1,
               "several ranks need MPI, which is not in this build: install libopenmpi-dev and "
               "openmpi-bin and build Trireme from source");
}

/* Without MPI no process has ranks. */
int ranks_leave(relax_ranks *ranks, int code) { return code; }
bool ranks_speaks(const relax_ranks *ranks) { return !ranks; }
int ranks_agree(const relax_ranks *ranks, int code) { return code; }
bool ranks_any(const relax_ranks *ranks, bool failed) { return failed; }
int64_t ranks_share(const relax_ranks *ranks, int64_t count) { return count; }
void ranks_backend(const relax_ranks *ranks, char *text, size_t size) {
  snprintf(text, size, "auto");
}
trs_status ranks_context(const relax_ranks *ranks, trs_context **ctx, const char *where) {
  return trs_context_create(ctx, where);
}
trs_status ranks_create(relax_ranks *ranks, trs_context *ctx, const trs_matrix *A, int block_size,
                        const trs_relax_options *options) {
  return TRS_ERROR_UNSUPPORTED;
}
trs_status ranks_update(relax_ranks *ranks, const trs_matrix *A) { return TRS_ERROR_UNSUPPORTED; }
trs_status ranks_sweep(relax_ranks *ranks, void *x, const void *b, int64_t n, int64_t nrhs,
                       const trs_sweep_options *options) {
  return TRS_ERROR_UNSUPPORTED;
}
trs_status ranks_info(relax_ranks *ranks, trs_relax_info *whole) { return TRS_ERROR_UNSUPPORTED; }
void ranks_print(const relax_ranks *ranks) {}
void ranks_report(const relax_ranks *ranks) {}

#endif

const char *how_dealt(const char *partition) {
  const char *feature = strstr(trs_features(), "METIS ");
  char has[8] = "";
  if (!strcmp(partition, "METIS")) return "by METIS";
  bool lacks = feature && sscanf(feature, "METIS %7s", has) == 1 && !strcmp(has, "no");
  return lacks ? "in runs of rows (METIS is not in this build)" : "in runs of rows";
}
