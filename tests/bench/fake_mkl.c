/* fake_mkl.c - the eleven functions of oneMKL that trireme bench calls, done by plain substitution,
 * so that the peer is tested where oneMKL is not.  FAKE_MKL=wrong spoils the answers of two
 * threads, FAKE_MKL=refuse fails to create. */
#include <stdlib.h>
#include <string.h>

enum { LOWER = 40, UNIT = 51 };

typedef struct description {
  int type, fill, diag;
} description;

typedef struct matrix {
  int n;
  const int *begin, *end, *idx;
  const double *val;
} matrix;

int mkl_sparse_d_create_csr(void **A, int base, int rows, int cols, int *begin, int *end, int *idx,
                            double *val);
int mkl_sparse_set_sv_hint(void *A, int op, description d, int calls);
int mkl_sparse_set_sm_hint(void *A, int op, description d, int layout, int columns, int calls);
int mkl_sparse_optimize(void *A);
int mkl_sparse_d_trsv(int op, double alpha, void *A, description d, const double *b, double *x);
int mkl_sparse_d_trsm(int op, double alpha, void *A, description d, int layout, const double *b,
                      int columns, int ldb, double *x, int ldx);
int mkl_sparse_destroy(void *A);
void MKL_Set_Num_Threads(int count);
void MKL_Set_Dynamic(int on);
void MKL_Get_Version_String(char *text, int size);

static int threads = 1;

static int asked(const char *what) {
  const char *how = getenv("FAKE_MKL");
  return how && !strcmp(how, what);
}

int mkl_sparse_d_create_csr(void **A, int base, int rows, int cols, int *begin, int *end, int *idx,
                            double *val) {
  matrix *m = malloc(sizeof *m);
  if (!m || base || rows != cols || asked("refuse")) {
    free(m);
    return 1;
  }
  *m = (matrix){rows, begin, end, idx, val};
  *A = m;
  return 0;
}

int mkl_sparse_set_sv_hint(void *A, int op, description d, int calls) {
  return !A || op != 10 || d.type != 23 || calls < 1;
}

int mkl_sparse_set_sm_hint(void *A, int op, description d, int layout, int columns, int calls) {
  return !A || op != 10 || d.type != 23 || layout != 102 || columns < 2 || calls < 1;
}

int mkl_sparse_optimize(void *A) { return !A; }

int mkl_sparse_d_trsv(int op, double alpha, void *A, description d, const double *b, double *x) {
  const matrix *m = A;
  for (int k = 0; k < m->n; k++) {
    int i = d.fill == LOWER ? k : m->n - 1 - k;
    double sum = alpha * b[i], diagonal = 1;
    for (int p = m->begin[i]; p < m->end[i]; p++) {
      if (m->idx[p] == i)
        diagonal = d.diag == UNIT ? 1 : m->val[p];
      else
        sum -= m->val[p] * x[m->idx[p]];
    }
    x[i] = sum / diagonal;
  }
  if (threads > 1 && m->n && asked("wrong")) x[m->n / 2] += 1e-3;
  return op != 10;
}

int mkl_sparse_d_trsm(int op, double alpha, void *A, description d, int layout, const double *b,
                      int columns, int ldb, double *x, int ldx) {
  for (int r = 0; r < columns; r++)
    mkl_sparse_d_trsv(op, alpha, A, d, b + (size_t)r * (size_t)ldb, x + (size_t)r * (size_t)ldx);
  return layout != 102;
}

int mkl_sparse_destroy(void *A) {
  free(A);
  return 0;
}

void MKL_Set_Num_Threads(int count) { threads = count; }
void MKL_Set_Dynamic(int on) { (void)on; }
void MKL_Get_Version_String(char *text, int size) {
  memset(text, ' ', (size_t)size);
  memcpy(text, "fake", 4);
  text[size - 1] = 0;
}
