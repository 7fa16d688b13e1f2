/* cudss.c - cuDSS, opened at run time.  Numbers are those of its headers, version 0.7 to 1.0. */
#include "cudss.h"

#include <stdio.h>

#include "cuda.h"
#include "library.h"
#include "progress.h"

enum { REAL_64 = 1, INTEGER_32 = 10 }; /* cudaDataType_t */
enum { GENERAL = 0, FULL = 0, BASE_ZERO = 0, COLUMNS = 0 };
enum { ANALYSIS = 3, FACTORIZATION = 4, SOLVE = 1008 };            /* cudssPhase_t, of version 1 */
enum { UBATCH_SIZE = 18, DEVICE_COUNT = 21, DEVICE_INDICES = 22 }; /* cudssConfigParam_t, 1 */
enum { LU_NNZ = 1 };                                               /* cudssDataParam_t */

static struct {
  void *library, *handle;
  bench_gpu_list gpus; /* count 0: one */
  int (*create)(void **), (*destroy)(void *);
  int (*create_several)(void **, int, const int *);
  int (*property)(int, int *);
  int (*create_config)(void **), (*destroy_config)(void *);
  int (*set_config)(void *, int, const void *, size_t);
  int (*create_data)(void *, void **), (*destroy_data)(void *, void *);
  int (*get_data)(void *, void *, int, void *, size_t, size_t *);
  int (*create_csr)(void **, int64_t, int64_t, int64_t, const void *, const void *, const void *,
                    const void *, int, int, int, int, int, int);
  int (*create_dense)(void **, int64_t, int64_t, int64_t, const void *, int, int);
  int (*destroy_matrix)(void *);
  int (*execute)(void *, int, void *, void *, void *, void *, void *);
  int error;
} dss;

static bool good(int error) {
  if (error) dss.error = error;
  return !error;
}

static bool find(void *function, const char *name) {
  return bench_library_find(dss.library, function, name);
}

static bool find_all(void) {
  return find(&dss.create, "cudssCreate") && find(&dss.destroy, "cudssDestroy") &&
         find(&dss.create_several, "cudssCreateMg") && find(&dss.property, "cudssGetProperty") &&
         find(&dss.create_config, "cudssConfigCreate") &&
         find(&dss.destroy_config, "cudssConfigDestroy") &&
         find(&dss.set_config, "cudssConfigSet") && find(&dss.create_data, "cudssDataCreate") &&
         find(&dss.destroy_data, "cudssDataDestroy") && find(&dss.get_data, "cudssDataGet") &&
         find(&dss.create_csr, "cudssMatrixCreateCsr") &&
         find(&dss.create_dense, "cudssMatrixCreateDn") &&
         find(&dss.destroy_matrix, "cudssMatrixDestroy") && find(&dss.execute, "cudssExecute");
}

const char *bench_cudss_load(void) {
  static const char *const names[] = {"libcudss.so.1", NULL};
  const char *missing;
  int major = 0;
  if (dss.handle) return NULL;
  dss.library = bench_library_open("TRIREME_CUDSS", names, &missing);
  if (missing) return missing;
  if (!find_all()) return "libcudss lacks functions of version 1";
  if (!good(dss.property(0, &major)) || major != 1) return "libcudss is not of version 1";
  return good(dss.create(&dss.handle)) ? NULL : bench_cudss_error();
}

void bench_cudss_unload(void) {
  if (dss.handle) (void)good(dss.destroy(dss.handle));
  dss.handle = NULL;
}

bool bench_cudss_take_gpus(const bench_gpu_list *gpus) {
  bench_cudss_unload();
  dss.gpus = *gpus;
  return good(gpus->count > 1 ? dss.create_several(&dss.handle, gpus->count, gpus->number)
                              : dss.create(&dss.handle));
}

const char *bench_cudss_version(void) {
  static char text[40];
  int part[3] = {0};
  for (int k = 0; k < 3; k++) (void)good(dss.property(k, &part[k]));
  snprintf(text, sizeof text, "cuDSS %d.%d.%d", part[0], part[1], part[2]);
  return text;
}

const char *bench_cudss_error(void) {
  static const char *const names[] = {
      "success",       "not initialized",  "an allocation failed", "an invalid value",
      "not supported", "execution failed", "internal error",       "refinement failed"};
  const char *why = bench_cuda_error();
  const int error = dss.error;
  dss.error = 0;
  if (error > 0 && error < (int)(sizeof names / sizeof *names)) return names[error];
  return why ? why : "an unknown error";
}

static bool execute(const bench_cudss *s, int phase) {
  return good(dss.execute(dss.handle, phase, s->config, s->data, s->matrix, s->x, s->b));
}

/* What the handle of several GPUs knows already, the configuration must say again. */
static bool name_gpus(const bench_cudss *s) {
  const bench_gpu_list *g = &dss.gpus;
  if (g->count < 2) return true;
  const size_t bytes = (size_t)g->count * sizeof *g->number;
  return good(dss.set_config(s->config, DEVICE_COUNT, &g->count, sizeof g->count)) &&
         good(dss.set_config(s->config, DEVICE_INDICES, g->number, bytes));
}

static bool describe(bench_cudss *s, const bench_cudss_systems *c) {
  const int count = (int)c->count;
  return good(dss.create_config(&s->config)) && good(dss.create_data(dss.handle, &s->data)) &&
         name_gpus(s) &&
         (count == 1 || good(dss.set_config(s->config, UBATCH_SIZE, &count, sizeof count))) &&
         good(dss.create_csr(&s->matrix, c->n, c->n, c->nnz, c->ptr, NULL, c->idx, c->val,
                             INTEGER_32, INTEGER_32, REAL_64, GENERAL, FULL, BASE_ZERO)) &&
         good(dss.create_dense(&s->b, c->n, c->nrhs, c->n, c->b, REAL_64, COLUMNS)) &&
         good(dss.create_dense(&s->x, c->n, c->nrhs, c->n, c->x, REAL_64, COLUMNS));
}

/* Seconds of a phase by the host's clock. */
static bool run_phase(const bench_cudss *s, int phase, double *seconds) {
  const double start = seconds_now();
  const bool done = execute(s, phase) && bench_cuda_wait();
  *seconds = seconds_now() - start;
  return done;
}

bool bench_cudss_factor(bench_cudss *s, const bench_cudss_systems *systems) {
  size_t written;
  *s = (bench_cudss){0};
  return describe(s, systems) && run_phase(s, ANALYSIS, &s->analysis) &&
         run_phase(s, FACTORIZATION, &s->factorization) &&
         good(dss.get_data(dss.handle, s->data, LU_NNZ, &s->entries, sizeof s->entries, &written));
}

bool bench_cudss_solve(const bench_cudss *s) { return execute(s, SOLVE); }

void bench_cudss_free(bench_cudss *s) {
  void *matrices[] = {s->matrix, s->b, s->x};
  for (int k = 0; k < 3; k++)
    if (matrices[k]) (void)good(dss.destroy_matrix(matrices[k]));
  if (s->data) (void)good(dss.destroy_data(dss.handle, s->data));
  if (s->config) (void)good(dss.destroy_config(s->config));
  *s = (bench_cudss){0};
}
