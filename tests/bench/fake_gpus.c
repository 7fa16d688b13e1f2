/* fake_gpus.c - loaded before libtrireme (LD_PRELOAD) it lets CPU threads stand for GPUs, so that
 * `trireme bench gpus`, `l17` and `x20` are tested where none is: contexts such as cuda:0,1 are of
 * the CPU and have members, `columns` deals right-hand sides, every other method rows in turn.
 * `serial` solves for every method but `auto`, and "device memory" is the host's (fake_cuda.c).
 * A context of nvshmem is of PMI_SIZE processes, none of which waits for another.
 * FAKE_GPUS: how many there are (2); FAKE_GPUS_WRONG=1: a row of distributed solves is lost;
 * FAKE_GPUS_ROOM=1: a plan with a limit finds no room at first; FAKE_GPUS_SLOW=N: calls that all
 * processes make together take N milliseconds longer; FAKE_GPUS_CALLS=FILE: the number of each of
 * these calls. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "trireme.h"

enum { MOST = 512 };

typedef struct known {
  const void *pointer;
  int members, columns;
  bool gpu, limited, syncfree, together; /* together: of several processes */
} known;

static known contexts[MOST], plans[MOST];
static int refusals;

static known *find(known *list, const void *pointer) {
  int k = 0;
  while (k < MOST - 1 && list[k].pointer && list[k].pointer != pointer) k++;
  list[k].pointer = pointer;
  return &list[k];
}

/* The library's own function of that name. */
static void next(void *function, const char *name) {
  void *found = dlsym(RTLD_NEXT, name);
  if (!found) abort();
  memcpy(function, &found, sizeof found);
}

static int asked(const char *name) {
  const char *value = getenv(name);
  return value && *value ? atoi(value) : 0;
}

/* Calls of several processes. */
typedef enum verb { ANALYZE, UPDATE, SOLVE, VERBS } verb;

static int calls[VERBS];

static void write_calls(void) {
  const char *path = getenv("FAKE_GPUS_CALLS");
  FILE *file = path ? fopen(path, "w") : NULL;
  if (!file) return;
  fprintf(file, "%d %d %d\n", calls[ANALYZE], calls[UPDATE], calls[SOLVE]);
  (void)fclose(file);
}

static void note_call(verb of, bool together) {
  const long slow = asked("FAKE_GPUS_SLOW") * 1000000L;
  if (!together) return;
  calls[of]++;
  if (slow) nanosleep(&(struct timespec){.tv_nsec = slow}, NULL);
}

TRS_API int trs_context_processes(const trs_context *ctx, int *rank) {
  const known *c = find(contexts, ctx);
  *rank = c->together ? asked("PMI_RANK") : 0;
  return c->together ? c->members : 1;
}

TRS_API int trs_context_gpu(const trs_context *ctx, int member) {
  return find(contexts, ctx)->gpu ? member : -1;
}

TRS_API const char *trs_device_list(void) {
  static char text[256];
  int count = asked("FAKE_GPUS") ? asked("FAKE_GPUS") : 2;
  text[0] = 0;
  for (int k = 0; k < count && k < 16; k++) strcat(text, "cuda:0  Fake\n");
  return text;
}

TRS_API trs_status trs_context_create(trs_context **ctx, const char *where) {
  trs_status (*real)(trs_context **, const char *);
  int together = where && !strcmp(where, "nvshmem");
  int members = together && asked("PMI_SIZE") ? asked("PMI_SIZE") : 1;
  int gpu = together || (where && !strncmp(where, "cuda", 4));
  next(&real, "trs_context_create");
  if (together) atexit(write_calls);
  for (const char *c = where; gpu && *c; c++) members += *c == ',';
  trs_status status = real(ctx, !gpu ? where : members > 1 ? "threads:2" : "serial");
  if (!status) find(contexts, *ctx)->members = members;
  if (!status) find(contexts, *ctx)->gpu = gpu;
  if (!status) find(contexts, *ctx)->together = together;
  return status;
}

TRS_API trs_status trs_matrix_create_device(trs_matrix **A, trs_context *ctx, trs_format format,
                                            trs_scalar scalar, int64_t nrows, int64_t ncols,
                                            int64_t nnz, int indexing, const void *ptr,
                                            const void *idx, const void *val) {
  (void)nnz;
  if (!find(contexts, ctx)->gpu) return TRS_ERROR_ARGUMENT;
  return trs_matrix_create(A, format, scalar, nrows, ncols, indexing, ptr, idx, val, TRS_BORROW);
}

TRS_API trs_status trs_context_set_gpu_memory(trs_context *ctx, int64_t bytes) {
  find(contexts, ctx)->limited = bytes > 0;
  return TRS_SUCCESS;
}

TRS_API trs_status trs_analyze(trs_plan **plan, trs_context *ctx, const trs_matrix *A,
                               trs_uplo uplo, trs_trans trans, trs_diag diag,
                               const trs_options *options) {
  trs_status (*real)(trs_plan **, trs_context *, const trs_matrix *, trs_uplo, trs_trans, trs_diag,
                     const trs_options *);
  trs_options how = options ? *options : (trs_options){.struct_size = sizeof(trs_options)};
  int columns = how.method && !strncmp(how.method, "columns", 7);
  bool syncfree = how.method && !strncmp(how.method, "syncfree", 8);
  next(&real, "trs_analyze");
  note_call(ANALYZE, find(contexts, ctx)->together);
  *plan = NULL;
  if (find(contexts, ctx)->limited && asked("FAKE_GPUS_ROOM") && refusals++ % 3 < 1)
    return TRS_ERROR_MEMORY;
  if (how.method && strcmp(how.method, "auto") != 0 && find(contexts, ctx)->gpu)
    how.method = "serial";
  trs_status status = real(plan, ctx, A, uplo, trans, diag, &how);
  if (!status)
    *find(plans, *plan) = (known){.pointer = *plan,
                                  .members = find(contexts, ctx)->members,
                                  .columns = columns,
                                  .syncfree = syncfree,

                                  .together = find(contexts, ctx)->together};
  return status;
}

TRS_API trs_status trs_update(trs_plan *plan, const trs_matrix *A) {
  trs_status (*real)(trs_plan *, const trs_matrix *);
  next(&real, "trs_update");
  note_call(UPDATE, find(plans, plan)->together);
  return real(plan, A);
}

TRS_API trs_status trs_solve(trs_plan *plan, void *x, int64_t ldx, const void *b, int64_t ldb,
                             int64_t nrhs, trs_layout layout) {
  trs_status (*real)(trs_plan *, void *, int64_t, const void *, int64_t, int64_t, trs_layout);
  next(&real, "trs_solve");
  note_call(SOLVE, find(plans, plan)->together);
  return real(plan, x, ldx, b, ldb, nrhs, layout);
}

static int64_t begin_of(int64_t nrhs, int member, int members) {
  return (nrhs * member + members - 1) / members;
}

/* The steps that the synchronization-free methods tell. */
TRS_API size_t trs_plan_describe(trs_plan *plan, char *text, size_t size) {
  static const char steps[] = "; preprocessing 0.25 ms, loading 4 ms, allocation 0.5 ms";
  size_t (*real)(trs_plan *, char *, size_t);
  next(&real, "trs_plan_describe");
  size_t length = real(plan, text, size);
  const bool tells = find(plans, plan)->syncfree && length + sizeof steps < size;
  if (tells) memcpy(text + length, steps, sizeof steps);
  return length + (tells ? sizeof steps - 1 : 0);
}

TRS_API trs_status trs_plan_get_share(const trs_plan *plan, trs_plan_share *share, int64_t *rows,
                                      int member, int64_t nrhs) {
  const known *p = find(plans, plan);
  trs_plan_info info = {.struct_size = sizeof info};
  int64_t count = 0;
  if (trs_plan_get_info((trs_plan *)plan, &info)) return TRS_ERROR_INTERNAL;
  int64_t first = p->columns ? begin_of(nrhs, member, p->members) : 0;
  int64_t end = p->columns ? begin_of(nrhs, member + 1, p->members) : nrhs;
  for (int64_t i = p->columns ? 0 : member; i < info.n; i += p->columns ? 1 : p->members) {
    if (rows) rows[count] = i;
    count++;
  }
  *share = (trs_plan_share){
      .struct_size = sizeof *share, .nrows = count, .first_column = first, .ncolumns = end - first};
  return TRS_SUCCESS;
}

static trs_status solve_columns(const known *p, trs_plan *plan, void *const *x, int64_t ldx,
                                const void *const *b, int64_t ldb, int64_t nrhs) {
  trs_status status = TRS_SUCCESS;
  for (int m = 0; m < p->members && !status; m++) {
    int64_t count = begin_of(nrhs, m + 1, p->members) - begin_of(nrhs, m, p->members);
    if (count) status = trs_solve(plan, x[m], ldx, b[m], ldb, count, TRS_COL_MAJOR);
  }
  return status;
}

/* Each member's rows of b together, a solve, and its rows of x back to each. */
TRS_API trs_status trs_solve_distributed(trs_plan *plan, void *const *x, int64_t ldx,
                                         const void *const *b, int64_t ldb, int64_t nrhs,
                                         trs_layout layout) {
  const known *p = find(plans, plan);
  trs_plan_info info = {.struct_size = sizeof info};
  if (layout != TRS_COL_MAJOR || trs_plan_get_info(plan, &info)) return TRS_ERROR_ARGUMENT;
  if (p->columns) return solve_columns(p, plan, x, ldx, b, ldb, nrhs);
  double *all = malloc((size_t)(info.n * nrhs) * sizeof *all + 1);
  if (!all) return TRS_ERROR_MEMORY;
  for (int64_t k = 0; k < info.n * nrhs; k++) {
    int64_t i = k % info.n, r = k / info.n;
    all[k] = ((const double *const *)b)[i % p->members][i + r * ldb];
  }
  trs_status status = trs_solve(plan, all, info.n, all, info.n, nrhs, layout);
  for (int64_t k = asked("FAKE_GPUS_WRONG"); k < info.n * nrhs && !status; k++) {
    int64_t i = k % info.n, r = k / info.n;
    ((double *const *)x)[i % p->members][i + r * ldx] = all[k];
  }
  free(all);
  return status;
}
