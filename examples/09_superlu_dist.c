/* 09_superlu_dist.c - a program that factors with SuperLU_DIST and solves with Trireme, from the
 * factors in place: three calls instead of pdgstrs, which is timed for comparison.
 *
 *     mpicc 09_superlu_dist.c -I/usr/include/superlu-dist -o 09_superlu_dist \
 *       $(pkg-config --cflags --libs trireme_mpi) -lsuperlu_dist
 *     mpirun -np 4 ./09_superlu_dist [MATRIX [PXxPYxPZ [RIGHT-HAND SIDES]]]
 *
 * superlu_ddefs.h is in a folder of its own, /usr/include/superlu-dist on Debian.  With fewer cores
 * than ranks Open MPI's mpirun needs --oversubscribe.
 *
 * SuperLU_DIST works on the Px x Py ranks of the first grid (all ranks if Pz = 1); each of them has
 * a run of rows of A, b and x.  Trireme takes the blocks and rows of these ranks and works on all
 * ranks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <superlu_ddefs.h>

#include <trireme_superlu_dist.h>

typedef struct problem {
  trs_matrix *A;
  int64_t n, first, rows; /* this rank's */
  int rank, size, px, py, pz;
  int nrhs;
  double *b, *x; /* rows x nrhs */
} problem;

static void stop(const char *what) {
  fprintf(stderr, "%s: %s\n", what, trs_last_error()->message);
  MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

/* ---- SuperLU_DIST. ---- */

typedef struct slu {
  superlu_dist_options_t options;
  gridinfo_t grid;
  SuperMatrix A;
  dScalePermstruct_t scale_perm;
  dLUstruct_t lu;
  dSOLVEstruct_t solve;
  SuperLUStat_t stat;
} slu;

/* SuperLU_DIST overwrites its matrix. */
static void make_matrix(slu *s, const problem *p) {
  const int64_t *ptr;
  const int32_t *idx;
  const void *values;
  trs_matrix_get_arrays(p->A, &ptr, &idx, &values);
  int_t nnz = (int_t)(ptr[p->first + p->rows] - ptr[p->first]);
  int_t *row = intMalloc_dist((int_t)p->rows + 1), *col = intMalloc_dist(nnz);
  double *val = doubleMalloc_dist(nnz);
  for (int64_t i = 0; i <= p->rows; i++) row[i] = (int_t)(ptr[p->first + i] - ptr[p->first]);
  for (int_t k = 0; k < nnz; k++) {
    col[k] = (int_t)idx[ptr[p->first] + k];
    val[k] = ((const double *)values)[ptr[p->first] + k];
  }
  dCreate_CompRowLoc_Matrix_dist(&s->A, (int_t)p->n, (int_t)p->n, nnz, (int_t)p->rows,
                                 (int_t)p->first, val, col, row, SLU_NR_loc, SLU_D, SLU_GE);
}

static int factor(slu *s, const problem *p) {
  int info;
  double *berr = malloc(sizeof *berr * (size_t)p->nrhs);
  double *work = malloc(sizeof *work * (size_t)(p->rows * p->nrhs + 1));
  set_default_options_dist(&s->options);
  s->options.ColPerm = METIS_AT_PLUS_A;
  s->options.IterRefine = NOREFINE;
  s->options.PrintStat = NO;
  s->options.DiagInv = YES;
  make_matrix(s, p);
  dScalePermstructInit((int_t)p->n, (int_t)p->n, &s->scale_perm);
  dLUstructInit((int_t)p->n, &s->lu);
  PStatInit(&s->stat);
  memcpy(work, p->b, sizeof *work * (size_t)(p->rows * p->nrhs));
  pdgssvx(&s->options, &s->A, &s->scale_perm, work, (int)p->rows, p->nrhs, &s->grid, &s->lu,
          &s->solve, berr, &s->stat, &info);
  free(work);
  free(berr);
  return info;
}

/* The triangular solves of SuperLU_DIST alone, the best of several: x for scaled b. */
static double time_superlu(slu *s, const problem *p, double *x, int repeats) {
  double best = 1e30;
  int info;
  for (int k = 0; k < repeats; k++) {
    memcpy(x, p->b, sizeof *x * (size_t)(p->rows * p->nrhs));
    MPI_Barrier(s->grid.comm);
    double begin = MPI_Wtime(), seconds;
    pdgstrs(&s->options, (int_t)p->n, &s->lu, &s->scale_perm, &s->grid, x, (int_t)p->rows,
            (int_t)p->first, (int_t)p->rows, p->nrhs, &s->solve, &s->stat, &info);
    seconds = MPI_Wtime() - begin;
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, s->grid.comm);
    if (seconds < best) best = seconds;
  }
  return best;
}

static void release(slu *s, const problem *p) {
  dDestroy_LU((int_t)p->n, &s->grid, &s->lu);
  dSolveFinalize(&s->options, &s->solve);
  dScalePermstructFree(&s->scale_perm);
  dLUstructFree(&s->lu);
  Destroy_CompRowLoc_Matrix_dist(&s->A);
  PStatFree(&s->stat);
}

/* ---- Trireme. ---- */

static double time_trireme(trs_mpi_plan *plan, const problem *p, int repeats) {
  double best = 1e30;
  for (int k = 0; k < repeats; k++) {
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime(), seconds;
    if (trs_mpi_solve(plan, p->x, p->rows, p->b, p->rows, p->nrhs, TRS_COL_MAJOR))
      stop("solve"); /* the third */
    seconds = MPI_Wtime() - begin;
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (seconds < best) best = seconds;
  }
  return best;
}

static trs_mpi_plan *analyze(const slu *s, const problem *p) {
  trs_mpi_plan *plan;
  trs_mpi_options options = {
      .struct_size = sizeof(trs_mpi_options), .px = p->px, .py = p->py, .pz = p->pz};
  trs_mpi_blocks blocks = {.struct_size = sizeof(trs_mpi_blocks)};
  if (s->grid.iam >= 0 && s->lu.Llu)
    blocks = trs_superlu_dist_d(p->n, &s->lu, &s->scale_perm, &s->grid);
  if (trs_mpi_analyze_blocks(&plan, MPI_COMM_WORLD, NULL, &blocks, TRS_NO_TRANS, &options))
    stop("analysis");                                                 /* one */
  if (trs_mpi_distribute(plan, p->first, p->rows)) stop("rows of b"); /* two */
  return plan;
}

/* ---- The program. ---- */

/* Ranks of the first grid have equal runs of rows, others none. */
static void share_rows(problem *p) {
  int parts = p->px * p->py, at = p->rank < parts ? p->rank : parts;
  int64_t end = at < parts ? p->n * (at + 1) / parts : p->n;
  p->first = p->n * at / parts;
  p->rows = end - p->first;
  p->b = malloc(sizeof *p->b * (size_t)(p->rows * p->nrhs + 1));
  p->x = malloc(sizeof *p->x * (size_t)(p->rows * p->nrhs + 1));
  trs_random_fill(p->b, p->rows * p->nrhs, TRS_DOUBLE, 1 + (uint64_t)p->rank);
}

/* Largest |b - A x| over |A| |x| + |b|, with x and b gathered on rank 0 column by column. */
static double error_of(const problem *p) {
  int *count = malloc(sizeof *count * (size_t)p->size),
      *from = malloc(sizeof *from * (size_t)p->size);
  int rows = (int)p->rows, first = (int)p->first;
  double *x = malloc(sizeof *x * (size_t)p->n), *b = malloc(sizeof *b * (size_t)p->n), worst = 0;
  MPI_Allgather(&rows, 1, MPI_INT, count, 1, MPI_INT, MPI_COMM_WORLD);
  MPI_Allgather(&first, 1, MPI_INT, from, 1, MPI_INT, MPI_COMM_WORLD);
  for (int j = 0; j < p->nrhs; j++) {
    trs_backward_error error = {.struct_size = sizeof(trs_backward_error)};
    MPI_Gatherv(p->x + j * p->rows, rows, MPI_DOUBLE, x, count, from, MPI_DOUBLE, 0,
                MPI_COMM_WORLD);
    MPI_Gatherv(p->b + j * p->rows, rows, MPI_DOUBLE, b, count, from, MPI_DOUBLE, 0,
                MPI_COMM_WORLD);
    if (p->rank) continue;
    if (trs_check(&error, p->A, TRS_GENERAL, TRS_NO_TRANS, TRS_NONUNIT, x, p->n, b, p->n, 1,
                  TRS_COL_MAJOR))
      stop("check");
    if (error.normwise > worst) worst = error.normwise;
  }
  free(count);
  free(from);
  free(x);
  free(b);
  return worst;
}

static void read_arguments(problem *p, int argc, char **argv) {
  int got = argc > 2 ? sscanf(argv[2], "%dx%dx%d", &p->px, &p->py, &p->pz) : 0;
  if (got != 3) {
    p->px = 1;
    p->py = p->size;
    p->pz = 1;
  }
  p->nrhs = argc > 3 ? atoi(argv[3]) : 1;
  if (trs_matrix_read(&p->A, argc > 1 ? argv[1] : "gen:poisson2d9:60", NULL)) stop("matrix");
  trs_matrix_info info = {.struct_size = sizeof info};
  trs_matrix_get_info(p->A, &info);
  p->n = info.nrows;
  share_rows(p);
}

static int run(problem *p) {
  slu s = {0};
  double superlu = 0, *x = malloc(sizeof *x * (size_t)(p->rows * p->nrhs + 1));
  int repeats = p->nrhs > 8 ? 5 : 20;
  superlu_gridinit(MPI_COMM_WORLD, p->px, p->py, &s.grid);
  if (s.grid.iam >= 0) {
    int info = factor(&s, p);
    if (info) {
      fprintf(stderr, "SuperLU_DIST does not factor this matrix: info = %d\n", info);
      MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    superlu = time_superlu(&s, p, x, repeats);
  }
  trs_mpi_plan *plan = analyze(&s, p);
  double trireme = time_trireme(plan, p, repeats), error = error_of(p);
  if (p->rank == 0)
    printf(
        "%d ranks, %d x %d x %d, %d right-hand sides: SuperLU_DIST %.3f ms, Trireme %.3f ms, "
        "%.2f times as fast; normwise backward error %.1e\n",
        p->size, p->px, p->py, p->pz, p->nrhs, 1e3 * superlu, 1e3 * trireme, superlu / trireme,
        error);
  trs_mpi_plan_destroy(plan);
  if (s.grid.iam >= 0) release(&s, p);
  superlu_gridexit(&s.grid);
  free(x);
  MPI_Bcast(&error, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  return error < 1e-11 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv) {
  problem p = {0};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &p.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &p.size);
  read_arguments(&p, argc, argv);
  int code = run(&p);
  trs_matrix_destroy(p.A);
  free(p.b);
  free(p.x);
  MPI_Finalize();
  return code;
}
