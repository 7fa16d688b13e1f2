/* mkl.c - oneMKL's inspector and executor as a peer, opened at run time: the build does not need
 * it.  The names and numbers below are those of its documented C interface with 32-bit integers,
 * the default of libmkl_rt. */
#include "mkl.h"

#include <stdlib.h>
#include <string.h>

#include "library.h"

enum { BASE_ZERO = 0, OP_NONE = 10, ROW_MAJOR = 101, COLUMN_MAJOR = 102, CALLS = 1000 };
enum { TYPE_TRIANGULAR = 23, FILL_LOWER = 40, FILL_UPPER = 41, DIAG_NONUNIT = 50, DIAG_UNIT = 51 };

typedef struct description {
  int type, fill, diag;
} description;

static struct {
  void *library;
  int (*create)(void **, int, int, int, int *, int *, int *, double *);
  int (*hint)(void *, int, description, int);
  int (*hint_many)(void *, int, description, int, int, int);
  int (*optimize)(void *);
  int (*solve)(int, double, void *, description, const double *, double *);
  int (*solve_many)(int, double, void *, description, int, const double *, int, int, double *, int);
  int (*destroy)(void *);
  void (*set_threads)(int);
  void (*set_dynamic)(int);
  void (*version)(char *, int);
} mkl;

static bool find(void *function, const char *name) {
  return bench_library_find(mkl.library, function, name);
}

static bool find_all(void) {
  return find(&mkl.create, "mkl_sparse_d_create_csr") &&
         find(&mkl.hint, "mkl_sparse_set_sv_hint") &&
         find(&mkl.hint_many, "mkl_sparse_set_sm_hint") &&
         find(&mkl.optimize, "mkl_sparse_optimize") && find(&mkl.solve, "mkl_sparse_d_trsv") &&
         find(&mkl.solve_many, "mkl_sparse_d_trsm") && find(&mkl.destroy, "mkl_sparse_destroy") &&
         find(&mkl.set_threads, "MKL_Set_Num_Threads") &&
         find(&mkl.set_dynamic, "MKL_Set_Dynamic") && find(&mkl.version, "MKL_Get_Version_String");
}

const char *bench_mkl_load(void) {
  static const char *const names[] = {"libmkl_rt.so.3", "libmkl_rt.so.2", "libmkl_rt.so", NULL};
  if (mkl.library) return NULL;
  /* By default its threads spin for 200 ms after every solve, which would disturb the next runner;
   * 2 ms still bridge the gaps between its own solves. */
  setenv("KMP_BLOCKTIME", "2", 0);
  const char *missing;
  mkl.library = bench_library_open("TRIREME_MKL", names, &missing);
  if (missing) return missing;
  if (!find_all()) return "libmkl_rt lacks the sparse solves";
  mkl.set_dynamic(0); /* as many threads as requested */
  return NULL;
}

const char *bench_mkl_version(void) {
  static char text[200];
  mkl.version(text, (int)sizeof text - 1);
  size_t length = strlen(text);
  while (length && text[length - 1] == ' ') text[--length] = 0;
  return text;
}

void bench_mkl_threads(int threads) { mkl.set_threads(threads); }

static description describe(const bench_system *s) {
  return (description){.type = TYPE_TRIANGULAR,
                       .fill = s->uplo == TRS_LOWER ? FILL_LOWER : FILL_UPPER,
                       .diag = s->diag == TRS_UNIT ? DIAG_UNIT : DIAG_NONUNIT};
}

bool bench_mkl_prepare(bench_mkl *m, const bench_system *system) {
  const int64_t *ptr;
  *m = (bench_mkl){.system = system};
  if (system->info.nnz > INT32_MAX) return false;
  m->ptr = malloc((size_t)(system->info.nrows + 1) * sizeof *m->ptr);
  if (!m->ptr) return false;
  trs_matrix_get_arrays(system->T, &ptr, NULL, NULL);
  for (int64_t i = 0; i <= system->info.nrows; i++) m->ptr[i] = (int)ptr[i];
  return true;
}

bool bench_mkl_create(bench_mkl *m) {
  const int32_t *idx;
  const void *val;
  int n = (int)m->system->info.nrows;
  trs_matrix_get_arrays(m->system->T, NULL, &idx, &val);
  /* It only reads them, although its interface does not declare them const. */
  return !mkl.create(&m->handle, BASE_ZERO, n, n, m->ptr, m->ptr + 1, (int *)(uintptr_t)idx,
                     (double *)(uintptr_t)val);
}

static int layout_of(const bench_mkl *m) { return m->system->by_rows ? ROW_MAJOR : COLUMN_MAJOR; }

bool bench_mkl_analyze(bench_mkl *m) {
  description d = describe(m->system);
  int nrhs = (int)m->system->nrhs;
  int status = nrhs == 1 ? mkl.hint(m->handle, OP_NONE, d, CALLS)
                         : mkl.hint_many(m->handle, OP_NONE, d, layout_of(m), nrhs, CALLS);
  return !status && !mkl.optimize(m->handle);
}

bool bench_mkl_solve(const bench_mkl *m, double *x, const double *b) {
  const bench_system *s = m->system;
  int n = (int)s->info.nrows, nrhs = (int)s->nrhs;
  if (nrhs == 1) return !mkl.solve(OP_NONE, 1, m->handle, describe(s), b, x);
  const int ld = s->by_rows ? nrhs : n;
  return !mkl.solve_many(OP_NONE, 1, m->handle, describe(s), layout_of(m), b, nrhs, ld, x, ld);
}

void bench_mkl_destroy(bench_mkl *m) {
  if (m->handle) mkl.destroy(m->handle);
  m->handle = NULL;
}

void bench_mkl_free(bench_mkl *m) {
  bench_mkl_destroy(m);
  free(m->ptr);
  m->ptr = NULL;
}
