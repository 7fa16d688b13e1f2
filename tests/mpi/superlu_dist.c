/* superlu_dist.c - trireme_superlu_dist.h with factors of SuperLU_DIST, from its 2D and its 3D
 * factorisation, solved on 2D and 3D grids.  Compiled with IS_S, IS_D and IS_Z for its element
 * types.  Solutions are checked by their residual. */
#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOIN_(a, b, c) a##b##c
#define JOIN(a, b, c) JOIN_(a, b, c)
#define SLU(name) JOIN(LETTER, name, )   /* dLUstruct_t */
#define PSLU(name) JOIN(p, LETTER, name) /* pdgssvx */
#if defined IS_S
#define LETTER s
#include <superlu_sdefs.h>
typedef float number;
typedef float foreign; /* SuperLU_DIST's name of it */
#define OURS TRS_FLOAT
#define THEIRS SLU_S
#elif defined IS_D
#define LETTER d
#include <superlu_ddefs.h>
typedef double number;
typedef double foreign;
#define OURS TRS_DOUBLE
#define THEIRS SLU_D
#else
#define LETTER z
#include <superlu_zdefs.h>
typedef double complex number;
typedef doublecomplex foreign;
#define OURS TRS_DCOMPLEX
#define THEIRS SLU_Z
#endif
#undef I
#include <trireme_superlu_dist.h>

enum { NRHS = 2, PZ = 2 };

static int rank, size, failed;
static int64_t n, first, rows; /* of A; of this rank */
static const int64_t *ptr;
static const int32_t *idx;
static number *val, *b; /* b: n x NRHS, the same on all ranks */

static void say(const char *name, int good) {
  MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (rank == 0) printf("%sok %s (%d ranks)\n", good ? "" : "not ", name, size);
  failed += !good;
}

static void make_system(const trs_matrix *A) {
  const void *values;
  trs_matrix_info info = {.struct_size = sizeof info};
  trs_matrix_get_info(A, &info);
  trs_matrix_get_arrays(A, &ptr, &idx, &values);
  n = info.nrows;
  first = n * rank / size;
  rows = n * (rank + 1) / size - first;
  val = malloc(sizeof *val * (size_t)ptr[n]);
  b = malloc(sizeof *b * (size_t)(n * NRHS));
  for (int64_t i = 0; i < n; i++)
    for (int64_t p = ptr[i]; p < ptr[i + 1]; p++) {
      double off = 0.1 * (double)((7 * i + idx[p]) % 5); /* makes the values unsymmetric */
      val[p] = (number)(((const double *)values)[p] + (i == idx[p] ? 0 : off));
#if defined IS_Z
      val[p] += 0.3 * _Complex_I * (double)((i + 3 * idx[p]) % 4);
#endif
    }
  for (int64_t i = 0; i < n * NRHS; i++) b[i] = (number)(1 + (double)(i % 17));
}

/* A SuperMatrix of this rank's rows, which SuperLU_DIST overwrites. */
static void make_rows(SuperMatrix *M, int64_t from, int64_t count) {
  int64_t nnz = ptr[from + count] - ptr[from];
  int_t *row = intMalloc_dist((int_t)count + 1), *col = intMalloc_dist((int_t)nnz + 1);
  foreign *values = SUPERLU_MALLOC(sizeof *values * (size_t)(nnz + 1));
  for (int64_t i = 0; i <= count; i++) row[i] = (int_t)(ptr[from + i] - ptr[from]);
  for (int64_t k = 0; k < nnz; k++) col[k] = idx[ptr[from] + k];
  memcpy(values, val + ptr[from], sizeof *values * (size_t)nnz);
  SLU(Create_CompRowLoc_Matrix_dist)
  (M, (int_t)n, (int_t)n, (int_t)nnz, (int_t)count, (int_t)from, values, col, row, SLU_NR_loc,
   THEIRS, SLU_GE);
}

/* ---- Solving with the blocks in place. ---- */

static int is_small(const number *x) { /* x: this rank's rows, column-major */
  number *all = malloc(sizeof *all * (size_t)n);
  double most = 0;
  for (int c = 0; c < NRHS; c++) {
    memset(all, 0, sizeof *all * (size_t)n);
    memcpy(all + first, x + c * rows, sizeof *all * (size_t)rows);
    MPI_Allreduce(MPI_IN_PLACE, all, (int)(n * (int64_t)sizeof *all / (int64_t)sizeof(foreign)),
#if defined IS_S
                  MPI_FLOAT,
#elif defined IS_D
                  MPI_DOUBLE,
#else
                  MPI_DOUBLE_COMPLEX,
#endif
                  MPI_SUM, MPI_COMM_WORLD);
    for (int64_t i = 0; i < n; i++) {
      double complex r = b[c * n + i];
      double scale = cabs(r);
      for (int64_t p = ptr[i]; p < ptr[i + 1]; p++) {
        r -= (double complex)val[p] * all[idx[p]];
        scale += cabs((double complex)val[p]) * cabs((double complex)all[idx[p]]);
      }
      if (!(cabs(r) / scale <= most)) most = cabs(r) / scale;
    }
  }
  free(all);
  return most < (sizeof(foreign) == sizeof(float) ? 1e-4 : 1e-11);
}

static int solves(const trs_mpi_blocks *blocks, int px, int py, int pz) {
  trs_mpi_options options = {.struct_size = sizeof(trs_mpi_options), .px = px, .py = py, .pz = pz};
  trs_mpi_plan *plan;
  number *x = malloc(sizeof *x * (size_t)(rows * NRHS + 1)),
         *own = malloc(sizeof *own * (size_t)(rows * NRHS + 1));
  for (int c = 0; c < NRHS; c++)
    memcpy(own + c * rows, b + c * n + first, sizeof *own * (size_t)rows);
  trs_status status =
      trs_mpi_analyze_blocks(&plan, MPI_COMM_WORLD, NULL, blocks, TRS_NO_TRANS, &options);
  if (!status) status = trs_mpi_distribute(plan, first, rows);
  if (!status) status = trs_mpi_solve(plan, x, rows, own, rows, NRHS, TRS_COL_MAJOR);
  if (status && rank == 0) fprintf(stderr, "%s\n", trs_last_error()->message);
  if (!status) trs_mpi_plan_destroy(plan);
  int good = !status && is_small(x);
  free(x);
  free(own);
  return good;
}

static void solve_all(const char *what, const trs_mpi_blocks *blocks) {
  char name[80];
  for (int pz = 1; pz <= size && size % pz == 0 && pz <= 4; pz *= 2) {
    int px = size / pz % 2 == 0 ? 2 : 1;
    snprintf(name, sizeof name, "%s, solved on %d x %d x %d", what, px, size / pz / px, pz);
    say(name, solves(blocks, px, size / pz / px, pz));
  }
}

/* ---- Factoring. ---- */

typedef struct factored {
  superlu_dist_options_t options;
  SLU(ScalePermstruct_t) scale_perm;
  SLU(LUstruct_t) lu;
  SLU(SOLVEstruct_t) solve;
  SuperLUStat_t stat;
  SuperMatrix A;
  foreign *x;
} factored;

static void begin(factored *f, int64_t from, int64_t count) {
  memset(f, 0, sizeof *f);
  set_default_options_dist(&f->options);
  f->options.PrintStat = NO;
  f->options.IterRefine = NOREFINE;
  make_rows(&f->A, from, count);
  SLU(ScalePermstructInit)((int_t)n, (int_t)n, &f->scale_perm);
  SLU(LUstructInit)((int_t)n, &f->lu);
  PStatInit(&f->stat);
  f->x = malloc(sizeof *f->x * (size_t)(count + 1));
  memcpy(f->x, b + from, sizeof *f->x * (size_t)count);
}

/* On the first px py ranks. */
static void factor_2d(int px, int py) {
  gridinfo_t grid;
  factored f;
  trs_mpi_blocks blocks = {.struct_size = sizeof(trs_mpi_blocks)};
  int info = 0, places = px * py;
  superlu_gridinit(MPI_COMM_WORLD, px, py, &grid);
  if (grid.iam >= 0 && grid.iam < places) {
    int64_t from = n * grid.iam / places, count = n * (grid.iam + 1) / places - from;
    double berr[NRHS];
    begin(&f, from, count);
#if defined IS_S
    float *error = (float *)berr;
#else
    double *error = berr;
#endif
    PSLU(gssvx)
    (&f.options, &f.A, &f.scale_perm, f.x, (int)count, 1, &grid, &f.lu, &f.solve, error, &f.stat,
     &info);
    blocks = JOIN(trs_superlu_dist_, LETTER, )(n, &f.lu, &f.scale_perm, &grid);
  }
  say("factored by SuperLU_DIST in 2D", info == 0);
  solve_all("its 2D factors", &blocks);
  superlu_gridexit(&grid);
}

/* On all ranks, with PZ layers; layer 0 has all factors afterwards. */
static void factor_3d(int px, int py) {
  gridinfo3d_t grid;
  factored f;
  int info = 0;
  double berr[NRHS];
#if defined IS_S
  float *error = (float *)berr;
#else
  double *error = berr;
#endif
  superlu_gridinit3d(MPI_COMM_WORLD, px, py, PZ, &grid);
  int64_t place = grid.grid2d.iam * PZ + grid.zscp.Iam; /* SuperLU_DIST gathers rows along z */
  int64_t from = n * place / size, count = n * (place + 1) / size - from;
  begin(&f, from, count);
  f.options.Algo3d = YES;
  PSLU(gssvx3d)
  (&f.options, &f.A, &f.scale_perm, f.x, (int)count, 1, &grid, &f.lu, &f.solve, error, &f.stat,
   &info);
  say("factored by SuperLU_DIST in 3D", info == 0);
  trs_mpi_blocks blocks = JOIN(trs_superlu_dist_, LETTER, )(n, &f.lu, &f.scale_perm, &grid.grid2d);
  solve_all("its 3D factors", &blocks);
  superlu_gridexit3d(&grid);
}

int main(int argc, char **argv) {
  trs_matrix *A;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (trs_matrix_read(&A, "gen:poisson2d9:15", NULL)) return 1;
  make_system(A);
  factor_2d(1, size);
  if (size % 2 == 0) factor_2d(size / 2, 1); /* some ranks have no blocks */
  if (size % PZ == 0) factor_3d(1, size / PZ);
  trs_matrix_destroy(A);
  free(val);
  free(b);
  MPI_Finalize();
  return failed > 0;
}
