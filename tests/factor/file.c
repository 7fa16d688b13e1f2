/* file.c - factors written to a file and read back are equal; damaged files are errors. */
#include "factor/file.h"

#include "base/config.h"
#include "base/random.h"
#include "factor/factors.h"
#include "io/generated.h"
#include "io/hdf5.h"
#include "io/io.h"
#include "io/scratch.h"
#include "test.h"

#if TRS_HAVE_HDF5
static void same_array(const void *a, const void *b, int64_t bytes, const char *name) {
  if ((a != NULL) != (b != NULL)) fail_msg("%s came or went", name);
  if (a && memcmp(a, b, (size_t)bytes)) fail_msg("%s has changed", name);
}

static void same_matrix(const trs_matrix *A, const trs_matrix *B) {
  assert_int_equal(A->format, B->format);
  assert_int_equal(A->scalar, B->scalar);
  assert_int_equal(A->nnz, B->nnz);
  same_array(A->ptr, B->ptr, (A->nvectors + 1) * 8, "ptr");
  same_array(A->idx, B->idx, A->nnz * 4, "idx");
  same_array(A->val, B->val, A->nnz * (int64_t)trs_scalar_size(A->scalar), "val");
}

static void same_factors(const trs_factors *F, const trs_factors *G) {
  trs_factors_info f = {.struct_size = sizeof f}, g = {.struct_size = sizeof g};
  trs_factors_get_info(F, &f);
  trs_factors_get_info(G, &g);
  assert_int_equal(f.kind, g.kind);
  assert_int_equal(f.order, g.order);
  assert_int_equal(f.scalar, g.scalar);
  assert_int_equal(f.n, g.n);
  assert_int_equal(f.diag_L, g.diag_L);
  assert_int_equal(f.diag_U, g.diag_U);
  assert_int_equal(f.nsupernodes, g.nsupernodes);
  assert_int_equal(f.tree_nodes, g.tree_nodes);
  assert_true(f.shift == g.shift);
  assert_int_equal(f.levels, g.levels);
  same_matrix(f.L, g.L);
  same_matrix(f.U, g.U);
  same_array(f.row_perm, g.row_perm, f.n * 4, "row_perm");
  same_array(f.col_perm, g.col_perm, f.n * 4, "col_perm");
  same_array(f.row_scale, g.row_scale, f.n * 8, "row_scale");
  same_array(f.col_scale, g.col_scale, f.n * 8, "col_scale");
  same_array(f.supernode_ptr, g.supernode_ptr, (f.nsupernodes + 1) * 8, "supernode_ptr");
  same_array(f.tree_ptr, g.tree_ptr, (f.tree_nodes + 1) * 8, "tree_ptr");
  same_array(f.tree_parent, g.tree_parent, f.tree_nodes * 4, "tree_parent");
}

static void round_trip(const trs_factors *F) {
  trs_factors *G;
  trs_factors_info info = {.struct_size = sizeof info};
  trs_content content;
  trs_factors_get_info(F, &info);
  trs_read_options options = {.struct_size = sizeof(trs_read_options), .scalar = info.scalar};
  const char *path = scratch("f.h5");
  assert_success(trs_factors_write(F, path));
  assert_success(trs_file_content(&content, path));
  assert_int_equal(content, TRS_CONTENT_FACTORS);
  assert_success(trs_factors_read(&G, path, &options));
  same_factors(F, G);
  trs_factors_destroy(G);
}

TEST(every_kind_comes_back) {
  trs_matrix *A;
  assert_success(trs_generated.make(&A, "gen:poisson2d5:12", NULL, NULL, NULL));
  for (int kind = 0; kind <= TRS_FACTOR_TRIANGLE; kind++)
    for (int scalar = TRS_FLOAT; scalar <= TRS_DCOMPLEX; scalar++) {
      trs_factors *F;
      trs_matrix *B;
      trs_factor_options options = {.struct_size = sizeof(trs_factor_options),
                                    .kind = (trs_factor_kind)kind};
      assert_success(trs_matrix_convert(&B, A, TRS_CSR, (trs_scalar)scalar));
      trs_status status = trs_factor(&F, B, &options);
      trs_matrix_destroy(B);
      if (status == TRS_ERROR_UNSUPPORTED) continue;
      if (status) fail_msg("%s", trs_last_error()->message);
      round_trip(F);
      trs_factors_destroy(F);
    }
  trs_matrix_destroy(A);
}

enum { N = 6 };

/* All optional arrays: two leaves of two columns under a root. */
static trs_factors *everything(void) {
  static const int32_t rows[] = {0, 1, 2, 3, 4, 4, 5, 5}, columns[] = {0, 1, 2, 3, 4, 1, 5, 2};
  static const int64_t tree_ptr[] = {0, 2, 4, 6}, supernodes[] = {0, 1, 4, 6};
  static const int32_t parents[] = {2, 2, -1};
  double val[8];
  trs_factors parts = {.kind = TRS_FACTOR_LU,
                       .order = TRS_ORDER_AMD,
                       .diag_L = TRS_UNIT,
                       .shift = 0.128,
                       .levels = 3},
              *F;
  for (int k = 0; k < 8; k++) val[k] = k + 1;
  assert_success(
      trs_matrix_create_coo(&parts.L, TRS_DOUBLE, N, N, 8, TRS_IDX32, rows, columns, val));
  assert_success(
      trs_matrix_create_coo(&parts.U, TRS_DOUBLE, N, N, 8, TRS_IDX32, columns, rows, val));
  parts.nsupernodes = parts.tree_nodes = 3;
  assert_success(TRS_ALLOC(&parts.row_perm, N));
  assert_success(TRS_ALLOC(&parts.col_perm, N));
  assert_success(TRS_ALLOC(&parts.row_scale, N));
  assert_success(TRS_ALLOC(&parts.col_scale, N));
  assert_success(TRS_ALLOC(&parts.supernode_ptr, 4));
  assert_success(TRS_ALLOC(&parts.tree_ptr, 4));
  assert_success(TRS_ALLOC(&parts.tree_parent, 3));
  for (int k = 0; k < N; k++) {
    parts.row_perm[k] = N - 1 - k;
    parts.col_perm[k] = (k + 2) % N;
    parts.row_scale[k] = 1.5 + k;
    parts.col_scale[k] = 1.0 / (k + 1);
  }
  memcpy(parts.supernode_ptr, supernodes, sizeof supernodes);
  memcpy(parts.tree_ptr, tree_ptr, sizeof tree_ptr);
  memcpy(parts.tree_parent, parents, sizeof parents);
  assert_success(trs_factors_adopt(&F, &parts));
  return F;
}

TEST(every_array_comes_back) {
  trs_factors *F = everything();
  round_trip(F);
  trs_factors_destroy(F);
}

TEST(damage_is_noticed) {
  trs_factors *F = everything(), *G;
  size_t length;
  assert_success(trs_write_factors(F, scratch("g.h5"), NULL));
  char *bytes = scratch_load(scratch("g.h5"), &length);
  for (size_t at = 0; at < length; at++) {
    if (bytes[at] == 0 ? at % 997 : at % 13) continue; /* most is padding */
    char bit = (char)(1 << trs_random_below(3, at, 8));
    bytes[at] ^= bit;
    trs_status status = trs_read_factors(&G, scratch_bytes("d.h5", bytes, length), NULL, NULL);
    if (status && status != TRS_ERROR_FORMAT)
      fail_msg("byte %d: %s", (int)at, trs_last_error()->message);
    if (!status) {
      same_factors(F, G);
      trs_factors_destroy(G);
    }
    bytes[at] ^= bit;
  }
  for (size_t cut = 8; cut < length; cut += 2003)
    assert_failure(TRS_ERROR_FORMAT, "c.h5",
                   trs_read_factors(&G, scratch_bytes("c.h5", bytes, cut), NULL, NULL));
  free(bytes);
  trs_factors_destroy(F);
}

/* A file with correct checksums and invalid content. */
TEST(nonsense_is_refused) {
  static const struct {
    const char *from, *to, *words;
  } edits[] = {
      {"\"lu\"", "\"qr\"", "kind"},
      {"\"amd\"", "\"mcr\"", "order"},
      {"\"n\": 6", "\"n\": 7", "has 6"},
      {"\"unit\"", "\"tiny\"", "diag_L"},
      {"\"version\": 1", "\"version\": 2", "version 2"},
      {"\"nsupernodes\": 3", "\"nsupernodes\": 4", "supernode_ptr has 4"},
      {"\"tree_nodes\": 3", "\"tree_nodes\": 0", NULL},
      {"\"tree_nodes\": 3", "\"tree_nodes\": -", "has no version"},
      {"\"tree_nodes\": 3", "\"tree_nodes\": 3, \"block_size\": 4", "block_size"},
  };
  static const int32_t no_permutation[N] = {0, 0, 1, 2, 3, 4};
  for (size_t k = 0; k < COUNT(edits); k++) {
    trs_factors *F = everything(), *G;
    trs_factors_info info = {.struct_size = sizeof info};
    trs_hdf5_group lower, upper, root = {.name = "/", .attribute = "trireme"};
    trs_factors_get_info(F, &info);
    char text[TRS_HDF5_TEXT] =
        "{\"factors\": {\"version\": 1, \"kind\": \"lu\", \"order\": \"amd\", \"n\": 6, "
        "\"diag_L\": \"unit\", \"diag_U\": \"nonunit\", \"nsupernodes\": 3, \"tree_nodes\": 3}}";
    char *at = strstr(text, edits[k].from);
    snprintf(root.text, sizeof root.text, "%.*s%s%s", (int)(at - text), text, edits[k].to,
             at + strlen(edits[k].from));
    trs_hdf5_describe_matrix(&lower, "L", info.L);
    trs_hdf5_describe_matrix(&upper, "U", info.U);
    root.ngroups = 2;
    root.groups[0] = &lower;
    root.groups[1] = &upper;
    root.ndatasets = 2;
    root.datasets[0] = (trs_hdf5_dataset){"row_perm", TRS_HDF5_I32, N, info.row_perm};
    root.datasets[1] = (trs_hdf5_dataset){"supernode_ptr", TRS_HDF5_I64, 4, info.supernode_ptr};
    if (!edits[k].words) root.datasets[0].data = no_permutation;
    assert_success(trs_hdf5_write_file(&root, scratch("n.h5"), NULL));
    trs_status expected = k == 4 ? TRS_ERROR_UNSUPPORTED : TRS_ERROR_FORMAT;
    assert_failure(expected, edits[k].words ? edits[k].words : "row_perm",
                   trs_read_factors(&G, scratch("n.h5"), NULL, NULL));
    assert_null(G);
    trs_factors_destroy(F);
  }
}

/* Pointers that lead out of the arrays, for a reader of the pattern only.  The address sanitizer
 * would end the test at a read outside. */
TEST(pointers_are_checked_before_they_are_followed) {
  trs_factors *F = everything(), *G;
  trs_factors_info info = {.struct_size = sizeof info};
  trs_hdf5_group lower, upper, root = {.name = "/", .attribute = "trireme", .ngroups = 2};
  trs_factors_get_info(F, &info);
  snprintf(
      root.text, sizeof root.text,
      "{\"factors\": {\"version\": 1, \"kind\": \"lu\", \"order\": \"amd\", \"n\": 6, "
      "\"diag_L\": \"unit\", \"diag_U\": \"nonunit\", \"nsupernodes\": 0, \"tree_nodes\": 0}}");
  trs_hdf5_describe_matrix(&lower, "L", info.L);
  trs_hdf5_describe_matrix(&upper, "U", info.U);
  root.groups[0] = &lower;
  root.groups[1] = &upper;
  int64_t ptr[N + 1] = {0};
  for (int i = 1; i <= N; i++)
    ptr[i] = info.L->nnz; /* all entries in one row with ascending
                             indices */
  int32_t idx[64];
  for (int k = 0; k < info.L->nnz; k++) idx[k] = k;
  ptr[1] = 1000000;
  lower.datasets[0].data = ptr;
  lower.datasets[1].data = idx;
  bool whole;
  assert_success(trs_hdf5_write_file(&root, scratch("p.h5"), NULL));
  assert_failure(TRS_ERROR_FORMAT, "pointers_to_1[2] = 8 is less than the one before it",
                 trs_read_factors_pattern(&G, scratch("p.h5"), TRS_SCALAR_DEFAULT, &whole));
  trs_factors_part part;
  assert_failure(TRS_ERROR_FORMAT, "pointers_to_1[2] = 8 is less than the one before it",
                 trs_read_factors_part(&part, scratch("p.h5"), TRS_SCALAR_DEFAULT, 0, 1));
  trs_factors_part_release(&part);
  trs_factors_destroy(F);
}

TEST(other_files_are_told_apart) {
  trs_factors *F = everything(), *G;
  trs_factors_info info = {.struct_size = sizeof info};
  trs_content content;
  trs_factors_get_info(F, &info);
  const char *path = scratch("m.h5");
  assert_success(trs_write_matrix(info.L, path, NULL));
  assert_success(trs_find_content(&content, path));
  assert_int_equal(content, TRS_CONTENT_MATRIX);
  assert_failure(TRS_ERROR_FORMAT, "holds no factors", trs_read_factors(&G, path, NULL, NULL));
  path = scratch_text("m.mtx", "%%MatrixMarket matrix coordinate real general\n0 0 0\n");
  assert_success(trs_find_content(&content, path));
  assert_int_equal(content, TRS_CONTENT_MATRIX);
  assert_failure(TRS_ERROR_FORMAT, "m.mtx", trs_read_factors(&G, path, NULL, NULL));
  assert_success(trs_find_content(&content, "gen:chain:5"));
  assert_failure(TRS_ERROR_FILE, "missing", trs_find_content(&content, scratch("missing.h5")));
  assert_failure(TRS_ERROR_FILE, "missing",
                 trs_read_factors(&G, scratch("missing.h5"), NULL, NULL));
  assert_failure(TRS_ERROR_ARGUMENT, ".h5", trs_write_factors(F, scratch("f.mtx"), NULL));
  assert_success(trs_write_factors(F, scratch("f.h5"), NULL));
  trs_matrix *A;
  assert_failure(TRS_ERROR_FORMAT, "holds no Binsparse matrix",
                 trs_read_matrix(&A, scratch("f.h5"), NULL, NULL));
  trs_factors_destroy(F);
}

TEST(failing_allocations) {
  trs_factors *F = everything(), *G;
  trs_content content;
  const char *path = scratch("a.h5");
  assert_survives_failing_allocations(trs_write_factors(F, path, scratch_team), );
  assert_survives_failing_allocations(trs_read_factors(&G, path, scratch_team, NULL),
                                      trs_factors_destroy(G));
  assert_survives_failing_allocations(trs_find_content(&content, path), );
  trs_factors_destroy(F);
}
TEST(block_factors_keep_their_block_size) {
  (void)state;
  trs_matrix *A;
  trs_factors *F, *G;
  trs_factors_info f = {.struct_size = sizeof f};
  const trs_factor_options how = {.struct_size = sizeof how,
                                  .kind = TRS_FACTOR_DILU,
                                  .order = TRS_ORDER_COLOUR,
                                  .block_size = 6};
  assert_success(trs_matrix_read(&A, "gen:poisson2d5:6", NULL));
  assert_success(trs_factor(&F, A, &how));
  assert_success(trs_factors_write(F, scratch("blocks.h5")));
  assert_success(trs_factors_read(&G, scratch("blocks.h5"), NULL));
  trs_factors_get_info(G, &f);
  assert_int_equal(f.block_size, 6);
  assert_int_equal(f.kind, TRS_FACTOR_DILU);
  assert_int_equal(f.order, TRS_ORDER_COLOUR);
  trs_factors_destroy(F);
  trs_factors_destroy(G);
  trs_matrix_destroy(A);
}

#else
TEST(what_is_missing_is_named) {
  trs_factors *F;
  assert_failure(TRS_ERROR_UNSUPPORTED, "libhdf5-dev",
                 trs_read_factors(&F, scratch_text("a.h5", "x"), NULL, NULL));
}
#endif

const test_program program = {.begin = scratch_begin, .end = scratch_end};
