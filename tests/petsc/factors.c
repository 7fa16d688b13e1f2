/* factors.c - libtrireme_petsc beside PETSc's own factors of the same kind: the same solutions for
 * every type of matrix, level of fill, order and shift, new values, many right-hand sides, bad
 * input; and the preconditioner triremerelax. */
#include <petscksp.h>

#include "petsc/programs.h"
#include "test.h"

/* Solutions by two factors of the same kind differ by rounding errors alone. */
static void assert_same(Vec x, Vec y) {
  PetscReal difference, size;
  must(VecNorm(y, NORM_2, &size));
  must(VecAXPY(x, -1, y));
  must(VecNorm(x, NORM_2, &difference));
  if (!(difference <= 1e-11 * size)) fail_msg("solutions differ by %g of %g", difference, size);
}

static Vec solution(Mat F, bool transposed) {
  Vec b, x;
  must(MatCreateVecs(F, &x, &b));
  fill_vector(b);
  must(transposed ? MatSolveTranspose(F, b, x) : MatSolve(F, b, x));
  must(VecDestroy(&b));
  return x;
}

/* Trireme's factors of A beside PETSc's of B, the same matrix. */
static void compare_with(Mat A, Mat B, const task *t) {
  Mat ours = factor(A, "trireme", t), theirs = factor(B, "petsc", t);
  MatFactorError error;
  must(MatFactorGetError(ours, &error));
  assert_int_equal(error, MAT_FACTOR_NOERROR);
  for (int transposed = 0; transposed <= !t->no_transpose; transposed++) {
    Vec x = solution(ours, transposed), y = solution(theirs, transposed);
    assert_same(x, y);
    must(VecDestroy(&x));
    must(VecDestroy(&y));
  }
  must(MatDestroy(&ours));
  must(MatDestroy(&theirs));
}

static void compare(Mat A, const task *t) { compare_with(A, A, t); }

TEST(test_ilu) {
  static const char *const orders[] = {"natural", "rcm", "nd"};
  Mat A = grid(MATSEQAIJ, 12, 1, false);
  for (int levels = 0; levels <= 3; levels++)
    for (int o = 0; o < 3; o++)
      compare(A, &(task){.type = MAT_FACTOR_ILU, .levels = levels, .order = orders[o]});
  must(MatDestroy(&A));
}

/* Entries without a mirror: fill is not symmetric. */
TEST(test_levels_of_unsymmetric_patterns) {
  Mat A = grid(MATSEQAIJ, 9, 1, false);
  must(MatSetOption(A, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_FALSE));
  must(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  for (PetscInt i = 3; i < 81; i += 7)
    must(MatSetValue(A, i, (i * 29 + 11) % 81, 0.5, INSERT_VALUES));
  must(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  must(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  for (int levels = 1; levels <= 3; levels++) {
    compare(A, &(task){.type = MAT_FACTOR_ILU, .levels = levels});
    compare(A, &(task){.type = MAT_FACTOR_ILU, .levels = levels, .order = "rcm"});
  }
  must(MatDestroy(&A));
}

/* Levels so many that all fill is kept: complete factors. */
TEST(test_all_fill) {
  Mat A = grid(MATSEQAIJ, 9, 1, false);
  compare(A, &(task){.type = MAT_FACTOR_ILU, .levels = 100});
  Mat F = factor(A, "trireme", &(task){.type = MAT_FACTOR_ILU, .levels = 100});
  assert_true(residual(A, F) < 1e-12);
  must(MatDestroy(&F));
  must(MatDestroy(&A));
}

TEST(test_icc) {
  Mat A = grid(MATSEQAIJ, 12, 1, true), S = grid(MATSEQSBAIJ, 12, 1, true);
  for (int levels = 0; levels <= 2; levels++) {
    task t = {.type = MAT_FACTOR_ICC, .levels = levels, .no_transpose = true};
    compare(A, &t);
    compare(S, &t);
    t.order = "rcm";
    compare(A, &t);
  }
  must(MatDestroy(&A));
  must(MatDestroy(&S));
}

static void assert_block_size(Mat A, const task *t, int expected) {
  Mat F = factor(A, "trireme", t);
  MatInfo info;
  must(MatGetInfo(F, MAT_LOCAL, &info));
  assert_int_equal((int)info.block_size, expected);
  assert_true(info.nz_used >= info.nz_allocated);
  must(MatDestroy(&F));
}

/* Whole blocks in PETSc's order, rows of numbers in another one: the same factors up to rounding.
 */
TEST(test_blocks) {
  for (int size = 2; size <= 5; size++) {
    Mat A = grid(MATSEQBAIJ, 7, size, false), S = grid(MATSEQSBAIJ, 7, size, true), rows;
    must(MatConvert(S, MATSEQAIJ, MAT_INITIAL_MATRIX, &rows));
    for (int levels = 0; levels <= 2; levels++) {
      task t = {.type = MAT_FACTOR_ILU, .levels = levels};
      compare(A, &t);
      assert_block_size(A, &t, PetscDefined(USE_COMPLEX) ? 1 : size);
      t = (task){.type = MAT_FACTOR_ICC, .levels = levels, .no_transpose = true};
      compare_with(S, levels ? rows : S, &t); /* PETSc's ICC of symmetric blocks ignores levels */
      assert_block_size(S, &t, PetscDefined(USE_COMPLEX) ? 1 : size);
    }
    task t = {.type = MAT_FACTOR_ILU, .order = "rcm", .no_transpose = true};
    compare(A, &t);
    assert_block_size(A, &t, 1);
    must(MatDestroy(&rows));
    must(MatDestroy(&A));
    must(MatDestroy(&S));
  }
}

/* New values give the factors that a fresh matrix has, by blocks and by rows. */
TEST(test_options) {
  static const char *const options[] = {"-mat_trireme_block 0", "-mat_trireme_order rcm",
                                        "-mat_trireme_order colour", "-mat_trireme_method serial",
                                        "-mat_trireme_store mixed"};
  const task t = {.type = MAT_FACTOR_ILU};
  for (int k = 0; k < 10; k++) {
    Mat A = grid(k < 5 ? MATSEQBAIJ : MATSEQAIJ, 7, 3, false);
    must(PetscOptionsInsertString(NULL, options[k % 5]));
    Mat F = factor(A, "trireme", &t);
    assert_true(residual(A, F) < 0.5);
    must(MatShift(A, 1));
    factor_again(F, A, &t);
    Mat fresh = factor(A, "trireme", &t);
    for (int transposed = 0; transposed < 2; transposed++) {
      Vec x = solution(F, transposed), y = solution(fresh, transposed);
      assert_same(x, y);
      must(VecDestroy(&x));
      must(VecDestroy(&y));
    }
    must(MatDestroy(&fresh));
    must(MatDestroy(&F));
    must(PetscOptionsClear(NULL));
    must(MatDestroy(&A));
  }
}

/* An order of Trireme's beside an order of PETSc's, or levels of fill of blocks. */
TEST(test_two_orders) {
  const task tasks[] = {{.type = MAT_FACTOR_ILU, .levels = 1},
                        {.type = MAT_FACTOR_ILU, .order = "rcm"}};
  must(PetscOptionsInsertString(NULL, "-mat_trireme_order colour"));
  for (int k = 0; k < 4; k++) {
    Mat A = grid(k < 2 ? MATSEQBAIJ : MATSEQAIJ, 7, 3, false), F;
    if (k == 2)
      F = factor(A, "trireme", &tasks[0]);
    else
      assert_error(PETSC_ERR_SUP, "-pc_factor_mat_ordering_type",
                   try_factor(A, "trireme", &tasks[k % 2], &F));
    must(MatDestroy(&F));
    must(MatDestroy(&A));
  }
  must(PetscOptionsClear(NULL));
}

static bool has_lu(void) { return strstr(trs_features(), "SuperLU  yes") != NULL; }

/* An indefinite matrix, in every type that PETSc has a Cholesky for. */
TEST(test_cholesky) {
  static const MatType types[] = {MATSEQAIJ, MATSEQBAIJ, MATSEQSBAIJ};
  if (!has_lu()) skip_test("Cholesky needs SuperLU");
  for (int k = 0; k < 3; k++) {
    Mat A = grid(types[k], 7, k ? 3 : 1, true);
    task t = {.type = MAT_FACTOR_CHOLESKY, .no_transpose = true};
    must(MatShift(A, k ? -18.3 : -6.3));
    Mat F = factor(A, "trireme", &t);
    assert_true(residual(A, F) < 1e-11);
    must(MatShift(A, 40));
    factor_again(F, A, &t);
    assert_true(residual(A, F) < 1e-12);
    must(MatDestroy(&F));
    must(MatDestroy(&A));
  }
}

/* A tiny diagonal: the column pivot that PETSc gives by default must not forbid exchanges. */
TEST(test_exchanges) {
  if (!has_lu()) skip_test("complete LU needs SuperLU");
  Mat A = grid(MATSEQAIJ, 12, 1, false);
  must(MatShift(A, 1e-5 - 6));
  Mat F = factor(A, "trireme", &(task){.type = MAT_FACTOR_LU, .column_pivot = 1e-6});
  assert_true(residual(A, F) < 1e-11);
  must(MatDestroy(&F));
  must(MatDestroy(&A));
}

TEST(test_lu) {
  if (!has_lu()) skip_test("complete LU needs SuperLU");
  Mat A = grid(MATSEQAIJ, 12, 1, false), B = grid(MATSEQBAIJ, 7, 3, false);
  task t = {.type = MAT_FACTOR_LU};
  compare(A, &t);
  compare(B, &t);
  Mat F = factor(A, "trireme", &t);
  must(MatScale(A, 3));
  factor_again(F, A, &t);
  assert_true(residual(A, F) < 1e-12);
  must(MatDestroy(&F));
  must(MatDestroy(&A));
  must(MatDestroy(&B));
}

TEST(test_many) {
  enum { COLUMNS = 5 };
  Mat A = grid(MATSEQAIJ, 12, 1, false), B, X;
  Mat F = factor(A, "trireme", &(task){.type = MAT_FACTOR_ILU});
  PetscInt n;
  must(MatGetSize(A, &n, NULL));
  must(MatCreateSeqDense(PETSC_COMM_SELF, n, COLUMNS, NULL, &X));
  must(MatDuplicate(X, MAT_DO_NOT_COPY_VALUES, &B));
  must(MatSetRandom(B, NULL));
  for (int transposed = 0; transposed < 2; transposed++)
    for (int in_place = 0; in_place < 2 - transposed; in_place++) {
      must(MatCopy(B, X, SAME_NONZERO_PATTERN));
      Mat from = in_place ? X : B;
      must(transposed ? MatMatSolveTranspose(F, from, X) : MatMatSolve(F, from, X));
      for (PetscInt c = 0; c < COLUMNS; c++) {
        Vec b, x, y;
        must(MatCreateVecs(A, &x, &y));
        must(MatDenseGetColumnVecRead(B, c, &b));
        must(transposed ? MatSolveTranspose(F, b, y) : MatSolve(F, b, y));
        must(MatDenseRestoreColumnVecRead(B, c, &b));
        must(MatGetColumnVector(X, x, c));
        assert_same(x, y);
        must(VecDestroy(&x));
        must(VecDestroy(&y));
      }
    }
  must(MatDestroy(&B));
  must(MatDestroy(&X));
  must(MatDestroy(&F));
  must(MatDestroy(&A));
}

static int times(const char *event) {
  PetscLogEvent id;
  PetscEventPerfInfo info;
  must(PetscLogEventGetId(event, &id));
  must(PetscLogEventGetPerfInfo(0, id, &info));
  return info.count;
}

static void set_first(Mat A, PetscScalar value) {
  must(MatSetValue(A, 0, 0, value, INSERT_VALUES));
  must(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  must(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
}

static bool view_says(Mat F, const char *words) {
  char text[4096] = "";
  FILE *file = tmpfile();
  PetscViewer viewer;
  assert_non_null(file);
  must(PetscViewerASCIIOpenWithFILE(PETSC_COMM_SELF, file, &viewer));
  must(PetscViewerPushFormat(viewer, PETSC_VIEWER_ASCII_INFO));
  must(MatView(F, viewer));
  must(PetscViewerFlush(viewer));
  rewind(file);
  text[fread(text, 1, sizeof text - 1, file)] = '\0';
  must(PetscViewerDestroy(&viewer));
  (void)fclose(file);
  return strstr(text, words) != NULL;
}

/* Complete factors keep their pivots, unless one becomes small; plans are updated then. */
TEST(test_complete_factors_take_new_values) {
  static const task tasks[] = {{.type = MAT_FACTOR_LU}, {.type = MAT_FACTOR_CHOLESKY}};
  if (!has_lu()) skip_test("complete LU needs SuperLU");
  for (int k = 0; k < 4; k++) {
    const task *t = &tasks[k % 2];
    Mat A = grid(k < 2 ? MATSEQAIJ : MATSEQBAIJ, 9, k < 2 ? 1 : 3, k % 2);
    Mat F = factor(A, "trireme", t);
    must(VecDestroy(&(Vec){solution(F, true)}));
    const int analyses = times("TriremeAnalyze"), updates = times("TriremeUpdate");
    for (int step = 1; step <= 3; step++) {
      must(MatShift(A, step));
      factor_again(F, A, t);
      Mat fresh = factor(A, "petsc", t);
      for (int transposed = 0; transposed < 2; transposed++) {
        Vec x = solution(F, transposed), y = solution(fresh, transposed && k % 2 == 0);
        assert_same(x, y);
        must(VecDestroy(&x));
        must(VecDestroy(&y));
      }
      must(MatDestroy(&fresh));
    }
    assert_int_equal(times("TriremeAnalyze"), analyses);
    assert_int_equal(times("TriremeUpdate"), updates + 3);
    /* The first pivot of grids of numbers becomes small beside its column. */
    set_first(A, k < 2 ? 1e-9 : 5);
    factor_again(F, A, t);
    assert_true(residual(A, F) < 1e-12);
    assert_int_equal(times("TriremeUpdate"), updates + (k < 2 ? 3 : 4));
    must(MatDestroy(&F));
    must(MatDestroy(&A));
  }
}

/* -pc_factor_reuse_ordering: another pattern in the order that the factors had. */
TEST(test_reused_order) {
  static const char *const options[] = {"-pc_type lu", "-pc_type cholesky",
                                        "-pc_type ilu -mat_trireme_order colour",
                                        "-pc_type ilu -pc_factor_mat_ordering_type rcm"};
  for (int k = 0; k < 8; k++) {
    if (k % 4 < 2 && !has_lu()) continue;
    Mat A = grid(MATSEQAIJ, 9, 1, true), F;
    KSP ksp;
    Vec b, x, r;
    PetscReal norm, before;
    must(PetscOptionsInsertString(NULL, options[k % 4]));
    must(PetscOptionsInsertString(NULL, "-ksp_rtol 1e-12 -pc_factor_mat_solver_type trireme"));
    if (k < 4)
      must(PetscOptionsInsertString(NULL, "-pc_factor_reuse_ordering -pc_factor_reuse_fill"));
    must(KSPCreate(PETSC_COMM_SELF, &ksp));
    must(KSPSetOperators(ksp, A, A));
    must(KSPSetFromOptions(ksp));
    must(MatCreateVecs(A, &x, &b));
    must(VecDuplicate(b, &r));
    fill_vector(b);
    must(VecNorm(b, NORM_2, &before));
    for (int step = 0; step < 4; step++) {
      if (step == 2) { /* entries far from the diagonal */
        must(MatSetOption(A, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_FALSE));
        must(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
        for (PetscInt i = 0; i < 9; i++) {
          must(MatSetValue(A, i, 80 - i, 0.25, INSERT_VALUES));
          must(MatSetValue(A, 80 - i, i, 0.25, INSERT_VALUES));
        }
        must(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
        must(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
      }
      must(MatShift(A, 0.5));
      must(KSPSetOperators(ksp, A, A));
      must(KSPSolve(ksp, b, x));
      must(MatMult(A, x, r));
      must(VecAXPY(r, -1, b));
      must(VecNorm(r, NORM_2, &norm));
      assert_true(norm < 1e-11 * before);
    }
    PC pc;
    must(KSPGetPC(ksp, &pc));
    must(PCFactorGetMatrix(pc, &F));
    if (k % 4 < 3) assert_int_equal(view_says(F, "order: that of the factors before"), k < 4);
    must(PetscOptionsClear(NULL));
    must(KSPDestroy(&ksp));
    must(VecDestroy(&b));
    must(VecDestroy(&x));
    must(VecDestroy(&r));
    must(MatDestroy(&A));
  }
}

/* New values in the same pattern update the plans: there is no second analysis. */
TEST(test_new_values) {
  static const task tasks[] = {{.type = MAT_FACTOR_ILU, .levels = 1, .order = "rcm"},
                               {.type = MAT_FACTOR_ILU},
                               {.type = MAT_FACTOR_ICC, .no_transpose = true},
                               {.type = MAT_FACTOR_ILU},
                               {.type = MAT_FACTOR_ILU, .levels = 2},
                               {.type = MAT_FACTOR_ICC, .order = "rcm", .no_transpose = true}};
  for (int k = 0; k < 6; k++) {
    const bool by_blocks = k == 1 && !PetscDefined(USE_COMPLEX);
    Mat A =
        grid(k == 1 ? MATSEQBAIJ : MATSEQAIJ, 9, k == 1 ? 3 : 1, tasks[k].type == MAT_FACTOR_ICC);
    Mat F = factor(A, "trireme", &tasks[k]);
    must(VecDestroy(&(Vec){solution(F, true)}));
    int analyses = times("TriremeAnalyze"), updates = times("TriremeUpdate");
    for (int step = 1; step <= 3; step++) {
      must(MatShift(A, step));
      factor_again(F, A, &tasks[k]);
      Mat fresh = factor(A, "petsc", &tasks[k]);
      for (int transposed = 0; transposed <= !tasks[k].no_transpose; transposed++) {
        Vec x = solution(F, transposed), y = solution(fresh, transposed);
        assert_same(x, y);
        must(VecDestroy(&x));
        must(VecDestroy(&y));
      }
      must(MatDestroy(&fresh));
    }
    /* Of blocks, plans of A^T are made anew. */
    assert_int_equal(times("TriremeAnalyze"), analyses + (by_blocks ? 3 : 0));
    assert_int_equal(times("TriremeUpdate"), updates + 3);
    must(MatDestroy(&F));
    must(MatDestroy(&A));
  }
}

/* New values that need a shift, and some after them that need none: each starts without one. */
TEST(test_new_values_with_shifts) {
  static const task tasks[] = {
      {.type = MAT_FACTOR_ILU, .shift = MAT_SHIFT_NONZERO, .amount = 0.5},
      {.type = MAT_FACTOR_ILU, .shift = MAT_SHIFT_NONZERO, .amount = 0.5, .order = "rcm"},
      {.type = MAT_FACTOR_ICC, .shift = MAT_SHIFT_POSITIVE_DEFINITE, .no_transpose = true}};
  for (int k = 0; k < 3; k++) {
    Mat A = grid(MATSEQAIJ, 8, 1, true), F = factor(A, "trireme", &tasks[k]);
    for (int step = 0; step < 4; step++) {
      set_first(A, step % 2 ? 5 : k < 2 ? 0 : -1);
      factor_again(F, A, &tasks[k]);
      Mat fresh = factor(A, "petsc", &tasks[k]);
      Vec x = solution(F, false), y = solution(fresh, false);
      assert_same(x, y);
      must(VecDestroy(&x));
      must(VecDestroy(&y));
      must(MatDestroy(&fresh));
    }
    must(MatDestroy(&F));
    must(MatDestroy(&A));
  }
}

#if PetscDefined(HAVE_CUDA)
static bool is_made_there(Mat F) { return view_says(F, "factored on the GPU"); }

static void same_solutions(Mat F, Mat A, const task *t) {
  Mat fresh = factor(A, "petsc", t);
  for (int transposed = 0; transposed <= !t->no_transpose; transposed++) {
    Vec x = solution(F, transposed), y = solution(fresh, transposed), host;
    must(VecDuplicate(y, &host));
    must(VecCopy(x, host)); /* x lies on the GPU */
    assert_same(host, y);
    must(VecDestroy(&host));
    must(VecDestroy(&x));
    must(VecDestroy(&y));
  }
  must(MatDestroy(&fresh));
}
#endif

/* New values of aijcusparse are factored on the GPU, unless PETSc's order or a shift needs the
 * host.
 */
TEST(test_new_values_on_a_gpu) {
#if PetscDefined(HAVE_CUDA)
  static const struct {
    task t;
    const char *options;
    bool there;
  } cases[] = {{{.type = MAT_FACTOR_ILU}, "", true},
               {{.type = MAT_FACTOR_ICC, .no_transpose = true}, "", true},
               {{.type = MAT_FACTOR_ILU}, "-mat_trireme_method pull", true},
               {{.type = MAT_FACTOR_ILU, .order = "rcm"}, "", false},
               {{.type = MAT_FACTOR_ILU, .levels = 1}, "", true}};
  if (!*trs_device_list()) skip_test("no GPU");
  for (int k = 0; k < 5; k++) {
    const task *t = &cases[k].t;
    const bool symmetric = t->type == MAT_FACTOR_ICC;
    Mat A = grid(MATSEQAIJ, 40, 1, symmetric), G;
    must(MatConvert(A, MATSEQAIJCUSPARSE, MAT_INITIAL_MATRIX, &G));
    must(PetscOptionsInsertString(NULL, "-mat_trireme_backend cuda"));
    must(PetscOptionsInsertString(NULL, cases[k].options));
    Mat F = factor(G, "trireme", t);
    assert_false(is_made_there(F));
    for (int step = 1; step <= 3; step++) {
      must(MatShift(A, step));
      must(MatScale(A, 1.5));
      must(MatShift(G, step));
      must(MatScale(G, 1.5)); /* on the GPU */
      factor_again(F, G, t);
      assert_int_equal(is_made_there(F), cases[k].there);
      same_solutions(F, A, t);
    }
    if (!t->order) { /* else row 0 is not the first, and its pivot not zero */
      task shifted = *t;
      MatFactorError error;
      set_first(A, 0);
      set_first(G, 0);
      factor_again(F, G, t);
      must(MatFactorGetError(F, &error));
      assert_int_equal(error, MAT_FACTOR_NUMERIC_ZEROPIVOT);
      shifted.shift = symmetric ? MAT_SHIFT_POSITIVE_DEFINITE : MAT_SHIFT_NONZERO;
      shifted.amount = 0.5;
      factor_again(F, G, &shifted);
      assert_false(is_made_there(F));
      same_solutions(F, A, &shifted);
    }
    set_first(A, 9);
    set_first(G, 9);
    factor_again(F, G, t);
    assert_int_equal(is_made_there(F), cases[k].there);
    same_solutions(F, A, t);
    must(MatDestroy(&F));
    must(MatDestroy(&G));
    must(MatDestroy(&A));
    must(PetscOptionsClear(NULL));
  }
#else
  skip_test("this PETSc has no CUDA");
#endif
}

/* A symmetric matrix that is not definite: PETSc's shifts make it so. */
TEST(test_shifts) {
  Mat A = grid(MATSEQAIJ, 8, 1, true);
  must(MatShift(A, -5.5));
  compare(
      A,
      &(task){.type = MAT_FACTOR_ICC, .shift = MAT_SHIFT_POSITIVE_DEFINITE, .no_transpose = true});
  must(MatSetValue(A, 0, 0, 0, INSERT_VALUES));
  must(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  must(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  compare(A, &(task){.type = MAT_FACTOR_ILU, .shift = MAT_SHIFT_NONZERO, .amount = 0.5});
  must(MatDestroy(&A));
}

/* Small numbers, many of them integers and zero: symmetric, or a Laplacian whose rows add up to
 * zero. */
static Mat awkward(int seed, bool laplacian) {
  enum { MOST = 8 };
  const int n = 2 + seed % (MOST - 1);
  uint64_t state = (uint64_t)seed * 0x9E3779B97F4A7C15u + 1;
  double a[MOST][MOST] = {{0}};
  Mat A;
  for (int i = 0; i < n; i++)
    for (int j = i; j < n; j++) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      const int draw = (int)(state >> 33) % 7 - 3;
      const double value = (state >> 60) % 2 ? draw : 0;
      if (!laplacian) {
        a[i][j] = a[j][i] = seed % 3 ? value : value * 0.37;
      } else if (i != j) {
        a[i][j] = a[j][i] = -fabs(value);
        a[i][i] += fabs(value);
        a[j][j] += fabs(value);
      }
    }
  must(MatCreateSeqAIJ(PETSC_COMM_SELF, n, n, n, NULL, &A));
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      if (i == j || a[i][j] != 0) must(MatSetValue(A, i, j, a[i][j], INSERT_VALUES));
  must(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  must(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  must(MatSetOption(A, MAT_HERMITIAN, PETSC_TRUE));
  return A;
}

/* Factors exist where PETSc's do.  Their solutions are the same unless a pivot is a rounding error
 * or a shift that rounding changes. */
static void compare_pivots(Mat A, const task *t) {
  Mat ours = factor(A, "trireme", t), theirs = factor(A, "petsc", t);
  MatFactorError error, expected;
  PetscReal norm;
  must(MatFactorGetError(ours, &error));
  must(MatFactorGetError(theirs, &expected));
  assert_int_equal(error, expected);
  if (!error) {
    Vec x = solution(ours, false), y = solution(theirs, false);
    must(VecNorm(y, NORM_INFINITY, &norm));
    if (t->amount > 0 ? norm < 1e4 : norm < 1e2) assert_same(x, y);
    must(VecDestroy(&x));
    must(VecDestroy(&y));
  }
  must(MatDestroy(&ours));
  must(MatDestroy(&theirs));
}

TEST(test_rules_of_shifts) {
  static const task tasks[] = {{.shift = MAT_SHIFT_NONE},
                               {.shift = MAT_SHIFT_NONZERO, .amount = 0.5},
                               {.shift = MAT_SHIFT_POSITIVE_DEFINITE},
                               {.shift = MAT_SHIFT_INBLOCKS, .amount = 0.5}};
  for (int seed = 0; seed < 120; seed++) {
    Mat A = awkward(seed, seed % 4 == 0);
    for (int k = 0; k < 16; k++) {
      task t = tasks[k % 4];
      t.type = k < 8 ? MAT_FACTOR_ICC : MAT_FACTOR_ILU;
      t.order = k & 4 ? "rcm" : "natural";
      t.levels = seed % 2;
      compare_pivots(A, &t);
    }
    must(MatDestroy(&A));
  }
}

/* A singular Laplacian, and an indefinite matrix with the rule that makes pivots positive. */
TEST(test_shifts_of_complete_factors) {
  static const MatFactorType types[] = {MAT_FACTOR_LU, MAT_FACTOR_CHOLESKY};
  static const MatFactorShiftType shifts[] = {MAT_SHIFT_NONZERO, MAT_SHIFT_POSITIVE_DEFINITE,
                                              MAT_SHIFT_INBLOCKS};
  if (!has_lu()) skip_test("complete LU needs SuperLU");
  for (int k = 0; k < 6; k++) {
    Mat A = awkward(48, true);
    MatFactorError error;
    task t = {.type = types[k % 2], .shift = shifts[k / 2], .amount = 1e-3};
    Mat F = factor(A, "trireme", &t);
    must(MatFactorGetError(F, &error));
    assert_int_equal(error, MAT_FACTOR_NOERROR);
    must(MatDestroy(&F));
    must(MatDestroy(&A));
    A = grid(MATSEQAIJ, 6, 1, true);
    must(MatShift(A, -6.3));
    if (t.shift == MAT_SHIFT_POSITIVE_DEFINITE) {
      PetscInt negative = -1, positive = -1;
      t.type = MAT_FACTOR_CHOLESKY;
      F = factor(A, "trireme", &t);
      must(MatGetInertia(F, &negative, NULL, &positive));
      assert_int_equal(negative, 0);
      assert_int_equal(positive, 36);
      must(MatDestroy(&F));
    }
    must(MatDestroy(&A));
  }
}

static Vec half_by_half(Mat F) {
  Vec b, x, y;
  must(MatCreateVecs(F, &x, &b));
  must(VecDuplicate(b, &y));
  fill_vector(b);
  must(MatForwardSolve(F, b, y));
  must(MatBackwardSolve(F, y, x));
  must(VecDestroy(&b));
  must(VecDestroy(&y));
  return x;
}

/* Forward and backward solves make the solve, before and after new values; the pivots are PETSc's.
 */
TEST(test_halves) {
  static const task tasks[] = {
      {.type = MAT_FACTOR_ICC},
      {.type = MAT_FACTOR_ICC, .levels = 1, .order = "rcm"},
      {.type = MAT_FACTOR_ICC, .shift = MAT_SHIFT_POSITIVE_DEFINITE, .order = "rcm"},
      {.type = MAT_FACTOR_ICC},
      {.type = MAT_FACTOR_CHOLESKY}};
  for (int k = 0; k < 5; k++) {
    if (k == 4 && !has_lu()) continue;
    Mat A = grid(k == 3 ? MATSEQBAIJ : MATSEQAIJ, 6, k == 3 ? 3 : 1, true);
    if (PetscDefined(USE_COMPLEX)) must(MatSetOption(A, MAT_HERMITIAN, PETSC_TRUE));
    Mat F = factor(A, "trireme", &tasks[k]);
    for (int step = 0; step < 2; step++) {
      PetscInt negative, zero, positive, n;
      Vec x = half_by_half(F), y = solution(F, false);
      assert_same(x, y);
      must(VecDestroy(&x));
      must(VecDestroy(&y));
      must(MatGetSize(F, &n, NULL));
      must(MatGetInertia(F, &negative, &zero, &positive));
      assert_true(negative == 0 && zero == 0 && positive == n);
      if (k < 3) {
        Mat theirs = factor(A, "petsc", &tasks[k]);
        must(MatCreateVecs(A, &x, &y));
        must(MatGetDiagonal(F, x));
        must(MatGetDiagonal(theirs, y));
        assert_same(x, y);
        must(VecDestroy(&x));
        must(VecDestroy(&y));
        must(MatDestroy(&theirs));
      }
      must(MatShift(A, 2));
      factor_again(F, A, &tasks[k]);
    }
    must(MatDestroy(&F));
    must(MatDestroy(&A));
  }
}

/* Of indefinite matrices, beside PETSc's own Cholesky; with exchanges there is none. */
TEST(test_inertia) {
  if (!has_lu()) skip_test("Cholesky needs SuperLU");
  const task t = {.type = MAT_FACTOR_CHOLESKY, .column_pivot = 1e-5};
  for (int k = 0; k < 6; k++) {
    Mat A = grid(MATSEQAIJ, 7, 1, true);
    PetscInt negative, zero, positive, expected;
    must(MatShift(A, -5.21 - 0.3 * k));
    Mat ours = factor(A, "trireme", &t), theirs = factor(A, "petsc", &t);
    must(MatGetInertia(theirs, &expected, NULL, NULL));
    must(MatGetInertia(ours, &negative, &zero, &positive));
    assert_int_equal(negative, expected);
    assert_int_equal(negative + positive, 49);
    assert_true(expected > 0);
    assert_error(PETSC_ERR_SUP, "for positive pivots", try_forward(ours));
    must(MatDestroy(&ours));
    must(MatDestroy(&theirs));
    must(MatDestroy(&A));
  }
  Mat A;
  must(MatCreateSeqAIJ(PETSC_COMM_SELF, 2, 2, 2, NULL, &A));
  for (PetscInt i = 0; i < 2; i++)
    for (PetscInt j = 0; j < 2; j++) must(MatSetValue(A, i, j, i == j ? 1e-9 : 1, INSERT_VALUES));
  must(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  must(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  Mat F = factor(A, "trireme", &t);
  assert_error(PETSC_ERR_SUP, "-pc_factor_column_pivot", try_inertia(F));
  must(MatDestroy(&F));
  must(MatDestroy(&A));
}

/* A row of zeros: the block is singular, with the first values and with new ones. */
TEST(test_singular_pivot_block) {
  Mat A = grid(MATSEQBAIJ, 7, 3, false);
  const PetscInt row = 16;
  task t = {.type = MAT_FACTOR_ILU};
  MatFactorError error;
  Mat F = factor(A, "trireme", &t);
  must(MatSetOption(A, MAT_KEEP_NONZERO_PATTERN, PETSC_TRUE));
  must(MatZeroRows(A, 1, &row, 0, NULL, NULL));
  for (int fresh = 0; fresh < 2; fresh++) {
    if (fresh) {
      must(MatDestroy(&F));
      F = factor(A, "trireme", &t);
    } else {
      factor_again(F, A, &t);
    }
    must(MatFactorGetError(F, &error));
    assert_int_equal(error, MAT_FACTOR_NUMERIC_ZEROPIVOT);
    must(MatSetErrorIfFailure(A, PETSC_TRUE));
    assert_error(PETSC_ERR_MAT_LU_ZRPVT, "block row 5", try_again(F, A, &t));
    must(MatSetErrorIfFailure(A, PETSC_FALSE));
    t.shift = MAT_SHIFT_NONZERO; /* the factors serve again with a shift, and with better values */
    t.amount = 5;
    factor_again(F, A, &t);
    must(MatFactorGetError(F, &error));
    assert_int_equal(error, MAT_FACTOR_NOERROR);
    t.shift = MAT_SHIFT_NONE;
  }
  must(MatShift(A, 30));
  factor_again(F, A, &t);
  assert_true(residual(A, F) < 0.5);
  must(MatDestroy(&F));
  must(MatDestroy(&A));
}

/* PETSc's own MatSolve gives infinities then, and MatMatSolve would go on with the old factors. */
TEST(test_nothing_is_solved_after_a_failed_pivot) {
  for (int size = 1; size <= 3; size += 2) {
    Mat A = grid(size > 1 ? MATSEQBAIJ : MATSEQAIJ, 7, size, false), B, X, good;
    const PetscInt row = 16;
    const task t = {.type = MAT_FACTOR_ILU};
    MatFactorError error;
    PetscReal norm;
    must(MatDuplicate(A, MAT_COPY_VALUES, &good));
    Mat F = factor(A, "trireme", &t);
    must(MatCreateSeqDense(PETSC_COMM_SELF, 49 * size, 2, NULL, &B));
    must(MatDuplicate(B, MAT_DO_NOT_COPY_VALUES, &X));
    must(MatSetRandom(B, NULL));
    must(try_columns(F, B, X));
    must(MatSetOption(A, MAT_KEEP_NONZERO_PATTERN, PETSC_TRUE));
    must(MatZeroRows(A, 1, &row, 0, NULL, NULL));
    factor_again(F, A, &t);
    must(MatFactorGetError(F, &error));
    assert_int_equal(error, MAT_FACTOR_NUMERIC_ZEROPIVOT);
    assert_error(PETSC_ERR_ARG_WRONGSTATE, "factor it again", try_columns(F, B, X));
    Vec x = solution(F, false);
    must(VecNorm(x, NORM_INFINITY, &norm));
    assert_true(PetscIsInfOrNanReal(norm));
    factor_again(F, good, &t);
    must(try_columns(F, B, X));
    assert_true(residual(good, F) < 1);
    must(VecDestroy(&x));
    must(MatDestroy(&F));
    must(MatDestroy(&A));
    must(MatDestroy(&B));
    must(MatDestroy(&X));
    must(MatDestroy(&good));
  }
}

static KSPConvergedReason solve_again(KSP ksp, Mat A, Vec x, Vec b, PetscScalar first) {
  KSPConvergedReason reason;
  set_first(A, first);
  must(KSPSolve(ksp, b, x));
  must(KSPGetConvergedReason(ksp, &reason));
  return reason;
}

static KSP solver_of(Mat A, const char *options) {
  KSP ksp;
  must(PetscOptionsInsertString(NULL, options));
  must(KSPCreate(PETSC_COMM_SELF, &ksp));
  must(KSPSetOperators(ksp, A, A));
  must(KSPSetFromOptions(ksp));
  must(PetscOptionsClear(NULL));
  return ksp;
}

/* A step whose values are NaN, as of a time step that is taken back, spoils no later one. */
TEST(test_later_values_work_after_nan) {
  const char *const kinds[] = {"lu", "cholesky", "ilu", "icc", "icc -ksp_pc_side symmetric"};
  for (int k = has_lu() ? 0 : 2; k < 5; k++)
    for (int size = 1; size <= 2; size++) {
      char options[128];
      Mat A = grid(size > 1 ? MATSEQBAIJ : MATSEQAIJ, 6, size, true), B;
      Mat F;
      Vec x, b;
      PC pc;
      PetscReal norm;
      snprintf(options, sizeof options, "-pc_factor_mat_solver_type trireme -pc_type %s", kinds[k]);
      KSP ksp = solver_of(A, options);
      must(MatCreateVecs(A, &x, &b));
      fill_vector(b);
      assert_true(solve_again(ksp, A, x, b, 6 * size) > 0);
      assert_int_equal(solve_again(ksp, A, x, b, NAN), KSP_DIVERGED_NANORINF);
      must(KSPGetPC(ksp, &pc));
      must(PCFactorGetMatrix(pc, &F));
      must(MatCreateSeqDense(PETSC_COMM_SELF, 36 * size, 2, NULL, &B));
      must(try_columns(F, B, B));
      must(MatNorm(B, NORM_FROBENIUS, &norm));
      assert_true(PetscIsNanReal(norm));
      assert_true(solve_again(ksp, A, x, b, 6 * size) > 0);
      must(KSPSetErrorIfNotConverged(ksp, PETSC_TRUE));
      assert_true(solve_again(ksp, A, x, b, 7 * size) > 0);
      must(KSPDestroy(&ksp));
      must(VecDestroy(&x));
      must(VecDestroy(&b));
      must(MatDestroy(&B));
      must(MatDestroy(&A));
    }
}

TEST(test_matrix_that_is_not_square) {
  Mat A;
  must(MatCreateSeqAIJ(PETSC_COMM_SELF, 3, 2, 2, NULL, &A));
  must(MatSetValue(A, 0, 0, 1, INSERT_VALUES));
  must(MatSetValue(A, 1, 1, 1, INSERT_VALUES));
  must(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  must(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  KSP ksp = solver_of(A, "-pc_factor_mat_solver_type trireme -pc_type lu");
  assert_error(PETSC_ERR_ARG_WRONG, "the matrix is 3 x 2: factors are of square matrices",
               KSPSetUp(ksp));
  must(KSPDestroy(&ksp));
  must(MatDestroy(&A));
}

/* Remedies are those of PETSc. */
TEST(test_remedies_of_icc) {
  Mat A = grid(MATSEQAIJ, 5, 1, false), B = grid(MATSEQSBAIJ, 5, 3, true), F;
  task t = {.type = MAT_FACTOR_ICC};
  assert_error(PETSC_ERR_ARG_WRONGSTATE, "at its mirror differ; use -pc_type ilu",
               try_factor(A, "trireme", &t, &F));
  must(MatDestroy(&F));
  t.type = MAT_FACTOR_ILU;
  F = factor(A, "trireme", &t);
  must(MatDestroy(&F));
  t.type = MAT_FACTOR_ICC;
  must(MatShift(B, -40));
  must(MatSetErrorIfFailure(B, PETSC_TRUE));
  if (!PetscDefined(USE_COMPLEX)) {
    assert_error(PETSC_ERR_MAT_LU_ZRPVT, "use -pc_factor_shift_type or a larger diagonal",
                 try_factor(B, "trireme", &t, &F));
    t.shift = MAT_SHIFT_POSITIVE_DEFINITE;
    factor_again(F, B, &t);
    must(MatDestroy(&F));
  }
  must(MatDestroy(&A));
  must(MatDestroy(&B));
}

TEST(test_zero_pivot) {
  Mat A = grid(MATSEQAIJ, 8, 1, false);
  const PetscInt row = 17;
  must(MatSetOption(A, MAT_KEEP_NONZERO_PATTERN, PETSC_TRUE));
  must(MatZeroRows(A, 1, &row, 0, NULL, NULL));
  MatFactorError error;
  PetscReal value;
  PetscInt where;
  for (int o = 0; o < 3; o++) { /* in three orders, the last one Trireme's */
    task t = {.type = MAT_FACTOR_ILU, .order = o == 1 ? "rcm" : "natural"};
    must(PetscOptionsInsertString(NULL, o == 2 ? "-mat_trireme_order colour" : ""));
    Mat F = factor(A, "trireme", &t);
    must(MatFactorGetError(F, &error));
    must(MatFactorGetErrorZeroPivot(F, &value, &where));
    assert_int_equal(error, MAT_FACTOR_NUMERIC_ZEROPIVOT);
    assert_int_equal(where, row);
    must(MatShift(A, 100)); /* the factors serve again after better values */
    factor_again(F, A, &t);
    assert_true(residual(A, F) < 1);
    must(MatShift(A, -100));
    must(MatSetErrorIfFailure(A, PETSC_TRUE));
    assert_error(PETSC_ERR_MAT_LU_ZRPVT, o == 1 ? "row 17 of the matrix" : "row 17 (0-based)",
                 try_again(F, A, &t));
    assert_error(PETSC_ERR_MAT_LU_ZRPVT, "-pc_factor_shift_type nonzero, another order, or",
                 try_again(F, A, &t));
    t.shift = MAT_SHIFT_NONZERO;
    factor_again(F, A, &t);
    must(MatSetErrorIfFailure(A, PETSC_FALSE));
    must(PetscOptionsClear(NULL));
    must(MatDestroy(&F));
  }
  must(MatDestroy(&A));
}

static Mat without_diagonal(void) {
  Mat A;
  must(MatCreateSeqAIJ(PETSC_COMM_SELF, 3, 3, 3, NULL, &A));
  static const PetscInt rows[] = {0, 0, 1, 1, 2}, columns[] = {0, 1, 0, 2, 2};
  for (int k = 0; k < 5; k++) must(MatSetValue(A, rows[k], columns[k], k + 1, INSERT_VALUES));
  must(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  must(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  return A;
}

TEST(test_missing_diagonal) {
  Mat A = without_diagonal(), F;
  task t = {.type = MAT_FACTOR_ILU};
  assert_error(PETSC_ERR_ARG_WRONGSTATE,
               "row 1 (0-based) has no diagonal entry: store one by MatSetValue; for ilu "
               "-pc_factor_diagonal_fill adds them",
               try_factor(A, "trireme", &t, &F));
  must(MatDestroy(&F));
  t.order = "rcm"; /* in which it is not row 1 */
  assert_error(PETSC_ERR_ARG_WRONGSTATE, "row 1 of the matrix", try_factor(A, "trireme", &t, &F));
  must(MatDestroy(&F));
  t = (task){.type = MAT_FACTOR_ILU, .diagonal_fill = true};
  F = factor(A, "trireme", &t);
  assert_true(residual(A, F) < 1e-14); /* a tridiagonal pattern has no fill */
  must(MatDestroy(&F));
  must(MatDestroy(&A));
}

/* Rows whose columns do not ascend, as arrays of a caller may have them. */
TEST(test_unsorted_rows) {
  Mat A = grid(MATSEQAIJ, 6, 1, true);
  const PetscInt *ptr, *idx;
  const PetscScalar *val;
  PetscInt n, *mine_ptr, *mine_idx;
  PetscScalar *mine;
  PetscBool done;
  Mat B;
  must(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &n, &ptr, &idx, &done));
  must(MatSeqAIJGetArrayRead(A, &val));
  must(PetscMalloc3(n + 1, &mine_ptr, ptr[n], &mine_idx, ptr[n], &mine));
  for (PetscInt i = 0; i <= n; i++) mine_ptr[i] = ptr[i];
  for (PetscInt i = 0; i < n; i++)
    for (PetscInt p = ptr[i]; p < ptr[i + 1]; p++) {
      mine_idx[p] = idx[ptr[i] + ptr[i + 1] - 1 - p];
      mine[p] = val[ptr[i] + ptr[i + 1] - 1 - p];
    }
  must(MatSeqAIJRestoreArrayRead(A, &val));
  must(MatRestoreRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &n, &ptr, &idx, &done));
  must(MatGetSize(A, &n, NULL));
  must(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, n, n, mine_ptr, mine_idx, mine, &B));
  for (int k = 0; k < 4; k++) {
    const task t = {.type = k % 2 ? MAT_FACTOR_ICC : MAT_FACTOR_ILU, .levels = k / 2};
    Mat F = factor(A, "trireme", &t), G = factor(B, "trireme", &t);
    for (int step = 0; step < 2; step++) {
      Vec x = solution(F, false), y = solution(G, false);
      assert_same(x, y);
      must(VecDestroy(&x));
      must(VecDestroy(&y));
      must(MatScale(A, 2));
      must(MatScale(B, 2));
      factor_again(F, A, &t);
      factor_again(G, B, &t);
    }
    must(MatDestroy(&F));
    must(MatDestroy(&G));
  }
  must(MatDestroy(&B));
  must(PetscFree3(mine_ptr, mine_idx, mine));
  must(MatDestroy(&A));
}

TEST(test_other_pattern) {
  Mat A = grid(MATSEQAIJ, 8, 1, false), B = grid(MATSEQAIJ, 8, 1, false);
  task t = {.type = MAT_FACTOR_ILU};
  Mat F = factor(A, "trireme", &t);
  must(MatSetOption(B, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  must(MatSetValue(B, 0, 60, 1, INSERT_VALUES));
  must(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
  must(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
  assert_error(PETSC_ERR_ARG_WRONGSTATE, "another pattern", try_again(F, B, &t));
  must(MatDestroy(&F));
  must(MatDestroy(&A));
  must(MatDestroy(&B));
}

TEST(test_no_rows) {
  Mat A;
  must(MatCreateSeqAIJ(PETSC_COMM_SELF, 0, 0, 0, NULL, &A));
  must(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  must(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  Mat F = factor(A, "trireme", &(task){.type = MAT_FACTOR_ILU});
  must(VecDestroy(&(Vec){solution(F, false)}));
  must(MatDestroy(&F));
  must(MatDestroy(&A));
}

/* ---- triremerelax ---- */

static PC relaxation(Mat A, const char *options) {
  PC pc;
  must(PetscOptionsInsertString(NULL, options));
  must(PCCreate(PETSC_COMM_SELF, &pc));
  must(PCSetType(pc, "triremerelax"));
  must(PCSetOperators(pc, A, A));
  must(PCSetFromOptions(pc));
  must(PCSetUp(pc));
  must(PetscOptionsClear(NULL));
  return pc;
}

static Vec applied(PC pc, Mat A) {
  Vec b, x;
  must(MatCreateVecs(A, &x, &b));
  fill_vector(b);
  must(PCApply(pc, b, x));
  must(VecDestroy(&b));
  return x;
}

/* The same system by blocks and by rows, and after new values. */
TEST(test_relax) {
  Mat blocks = grid(MATSEQBAIJ, 7, 3, false), rows;
  must(MatConvert(blocks, MATSEQAIJ, MAT_INITIAL_MATRIX, &rows));
  const char *options =
      "-pc_triremerelax_sweeps 3 -pc_triremerelax_store double "
      "-pc_triremerelax_omega 0.9";
  PC first = relaxation(blocks, options), second = relaxation(rows, options);
  for (int step = 0; step < 2; step++) {
    Vec x = applied(first, blocks), y = applied(second, rows);
    assert_same(x, y);
    must(VecDestroy(&x));
    must(VecDestroy(&y));
    must(MatShift(blocks, 5));
    must(MatShift(rows, 5));
    must(PCSetUp(first));
    must(PCSetUp(second));
  }
  must(PCDestroy(&first));
  must(PCDestroy(&second));
  must(MatDestroy(&blocks));
  must(MatDestroy(&rows));
}

/* Sweeps below KSPRICHARDSON go on from x, and converge. */
TEST(test_richardson) {
  Mat A = grid(MATSEQBAIJ, 7, 3, false);
  KSP ksp;
  Vec b, x, r;
  PetscReal norm, before;
  must(PetscOptionsInsertString(NULL,
                                "-ksp_type richardson -pc_type triremerelax -ksp_max_it 50 "
                                "-ksp_norm_type none -pc_triremerelax_store double"));
  must(KSPCreate(PETSC_COMM_SELF, &ksp));
  must(KSPSetOperators(ksp, A, A));
  must(KSPSetFromOptions(ksp));
  must(MatCreateVecs(A, &x, &b));
  must(VecDuplicate(b, &r));
  fill_vector(b);
  must(VecNorm(b, NORM_2, &before));
  must(KSPSolve(ksp, b, x));
  must(MatMult(A, x, r));
  must(VecAXPY(r, -1, b));
  must(VecNorm(r, NORM_2, &norm));
  assert_true(norm < 1e-10 * before);
  must(PetscOptionsClear(NULL));
  must(KSPDestroy(&ksp));
  must(VecDestroy(&b));
  must(VecDestroy(&x));
  must(VecDestroy(&r));
  must(MatDestroy(&A));
}

/* By default, a Krylov method reaches a small tolerance. */
TEST(test_relaxation_keeps_digits) {
  Mat A = grid(MATSEQAIJ, 12, 1, false);
  KSP ksp;
  Vec b, x;
  PetscReal norm, before;
  must(PetscOptionsInsertString(NULL, "-ksp_type gmres -pc_type triremerelax -ksp_rtol 1e-11"));
  must(KSPCreate(PETSC_COMM_SELF, &ksp));
  must(KSPSetOperators(ksp, A, A));
  must(KSPSetFromOptions(ksp));
  must(PetscOptionsClear(NULL));
  must(MatCreateVecs(A, &x, &b));
  fill_vector(b);
  must(VecNorm(b, NORM_2, &before));
  must(KSPSolve(ksp, b, x));
  must(VecScale(b, -1));
  must(MatMultAdd(A, x, b, b));
  must(VecNorm(b, NORM_2, &norm));
  assert_true(norm < 1e-10 * before);
  must(KSPDestroy(&ksp));
  must(VecDestroy(&b));
  must(VecDestroy(&x));
  must(MatDestroy(&A));
}

/* Options count while PCSetFromOptions runs, then and when it runs again, and not later. */
TEST(test_relaxation_reads_options_when_asked) {
  Mat A = grid(MATSEQAIJ, 12, 1, false);
  PC pc, expected = relaxation(A, "-pc_triremerelax_sweeps 5 -pc_triremerelax_store float");
  must(PCCreate(PETSC_COMM_SELF, &pc));
  must(PCSetType(pc, "triremerelax"));
  must(PCSetOperators(pc, A, A));
  must(PetscOptionsInsertString(NULL, "-pc_triremerelax_sweeps 5"));
  must(PCSetFromOptions(pc));
  must(PetscOptionsClear(NULL));
  must(PetscOptionsInsertString(NULL, "-pc_triremerelax_sweeps 1"));
  must(PCSetUp(pc));
  must(PetscOptionsClear(NULL));
  must(PetscOptionsInsertString(NULL, "-pc_triremerelax_store float"));
  must(PCSetFromOptions(pc)); /* another store: the relaxation is made again */
  must(PetscOptionsClear(NULL));
  Vec x = applied(pc, A), y = applied(expected, A);
  assert_same(x, y);
  must(VecDestroy(&x));
  must(VecDestroy(&y));
  must(PCDestroy(&pc));
  must(PCDestroy(&expected));
  must(MatDestroy(&A));
}

/* At first, and when it has a relaxation of earlier values. */
TEST(test_nothing_is_relaxed_after_a_singular_block) {
  for (int later = 0; later < 2; later++) {
    Mat A = grid(MATSEQAIJ, 8, 1, false), good;
    const PetscInt row = 3;
    PCFailedReason reason;
    PetscReal norm;
    Vec b, x;
    must(MatDuplicate(A, MAT_COPY_VALUES, &good));
    PC pc = later ? relaxation(A, "") : NULL;
    must(MatSetOption(A, MAT_KEEP_NONZERO_PATTERN, PETSC_TRUE));
    must(MatZeroRows(A, 1, &row, 0, NULL, NULL));
    if (later)
      must(PCSetUp(pc));
    else
      pc = relaxation(A, "");
    must(PCGetFailedReason(pc, &reason));
    assert_int_equal(reason, PC_FACTOR_NUMERIC_ZEROPIVOT);
    must(MatCreateVecs(A, &x, &b));
    fill_vector(b);
    must(try_apply(pc, b, x));
    must(VecNorm(x, NORM_INFINITY, &norm));
    assert_true(PetscIsInfOrNanReal(norm));
    must(MatCopy(good, A, SAME_NONZERO_PATTERN));
    must(PCSetUp(pc));
    must(try_apply(pc, b, x));
    must(VecNorm(x, NORM_INFINITY, &norm));
    assert_true(norm < 10);
    must(PCSetErrorIfFailure(pc, PETSC_TRUE));
    must(MatZeroRows(A, 1, &row, 0, NULL, NULL));
    assert_error(PETSC_ERR_MAT_LU_ZRPVT, "block row 3", try_apply(pc, b, x));
    assert_error(PETSC_ERR_ARG_WRONGSTATE, "(PCSetUp): set it up again", try_apply(pc, b, x));
    must(VecDestroy(&b));
    must(VecDestroy(&x));
    must(PCDestroy(&pc));
    must(MatDestroy(&A));
    must(MatDestroy(&good));
  }
}

/* The solver says that the preconditioner failed or that there is NaN, and later values work. */
TEST(test_solvers_survive_a_singular_block) {
  const char *const solvers[] = {"gmres", "richardson -ksp_norm_type none -ksp_max_it 2", "bcgs",
                                 "fgmres"};
  for (int k = 0; k < 8; k++) {
    if (k == 6) continue; /* after any preconditioner failed KSPFGMRES of 3.18 fails for ever */
    char options[128];
    Mat A = grid(MATSEQAIJ, 6, 1, false);
    Vec x, b;
    snprintf(options, sizeof options, "-pc_type triremerelax -ksp_type %s", solvers[k / 2]);
    KSP ksp = solver_of(A, options);
    must(MatCreateVecs(A, &x, &b));
    fill_vector(b);
    assert_true(solve_again(ksp, A, x, b, 6) > 0);
    assert_int_equal(solve_again(ksp, A, x, b, k % 2 ? NAN : 0),
                     k % 2 ? KSP_DIVERGED_NANORINF : KSP_DIVERGED_PC_FAILED);
    /* After any preconditioner failed, PETSc's own LU too, KSPGMRES of 3.18 fails once more. */
    assert_true(solve_again(ksp, A, x, b, 6) > 0 || k % 2 == 0);
    assert_true(solve_again(ksp, A, x, b, 7) > 0);
    must(KSPDestroy(&ksp));
    must(VecDestroy(&x));
    must(VecDestroy(&b));
    must(MatDestroy(&A));
  }
}

TEST(test_relaxation_of_another_type) {
  Mat A = grid(MATSEQSBAIJ, 4, 2, true);
  KSP ksp = solver_of(A, "-pc_type triremerelax");
  assert_error(PETSC_ERR_SUP, "not seqsbaij: use -mat_type aij or baij, and on", KSPSetUp(ksp));
  must(KSPDestroy(&ksp));
  must(MatDestroy(&A));
}

const test_program program = {.begin = start_petsc, .end = stop_petsc};
