/* load.c - the data that `push` sends to its members for deferred values, with a stand-in for GPUs:
 * the bytes that it sends for the whole matrix, with one member's values in host memory at a
 * time. */
#include "base/memory.h"
#include "comm/transport.h"
#include "device_stand_in.h"
#include "io/scratch.h"
#include "matrix/matrix.h"
#include "solve/multigpu/push_stand_in.h"
#include "solve/multigpu/push_state.h"
#include "test.h"

enum { MEMBERS = 3 };

/* ---- Plans as plan.c makes them. ---- */

static trs_context *context;

static trs_status make_plan(trs_plan *plan, trs_matrix *A, trs_uplo uplo, const char *parameters) {
  return push_plan(plan, context, A, uplo,
                   &(trs_options){.struct_size = sizeof(trs_options), .method = "push"},
                   parameters);
}

static void compare_members(const trs_plan *whole, const trs_plan *parts) {
  const trs_push_state *w = whole->state, *p = parts->state;
  const size_t size = trs_scalar_size(whole->system.scalar);
  assert_int_equal(w->local, p->local);
  for (int m = 0; m < w->local; m++) {
    const trs_deal_share *share = &w->member[m].share;
    const trs_slices *a = &w->member[m].args.slices, *b = &p->member[m].args.slices;
    assert_int_equal(share->entries, p->member[m].share.entries);
    if (share->entries) {
      assert_memory_equal(a->idx, b->idx, (size_t)share->entries * sizeof *a->idx);
      assert_memory_equal(a->val, b->val, (size_t)share->entries * size);
    }
    if (share->inverses)
      assert_memory_equal(a->inverse, b->inverse, (size_t)share->inverses * size);
  }
}

TEST(members_get_the_bytes_of_the_whole) {
  static const char *const partitions[] = {"partition=bands", "partition=slabs",
                                           "partition=slabs,members=2", "substitute=0"};
  static const char *const systems[] = {"gen:poisson2d5:40", "gen:chain:500", "gen:powerlaw:3000"};
  for (int s = 0; s < 3 * 4; s++) {
    trs_plan whole, parts;
    trs_matrix *A, *T, *D;
    trs_uplo uplo = s % 2 ? TRS_UPPER : TRS_LOWER;
    assert_success(trs_matrix_read(&A, systems[s % 3], NULL));
    assert_success(trs_matrix_triangle(&T, A, uplo, 1));
    assert_success(trs_matrix_write(A, scratch("a.mtx")));
    assert_success(trs_matrix_open(&D, scratch("a.mtx"), TRS_CSR, uplo, 1, NULL));
    assert_success(make_plan(&whole, T, uplo, partitions[s / 3]));
    assert_success(make_plan(&parts, D, uplo, partitions[s / 3]));
    compare_members(&whole, &parts);
    for (int k = 0; k < ((trs_push_state *)parts.state)->local; k++) {
      const trs_push_member *m = &((trs_push_state *)parts.state)->member[k];
      memset(m->args.slices.val, 0xff, (size_t)m->share.entries * sizeof(double));
    }
    assert_success(trs_method_push.update(&parts));
    compare_members(&whole, &parts);
    char text[1024];
    trs_method_push.describe(&parts, text, sizeof text);
    assert_non_null(strstr(text, "member by member"));
    trs_method_push.free(&parts);
    trs_method_push.free(&whole);
    trs_matrix_destroy(D);
    trs_matrix_destroy(T);
    trs_matrix_destroy(A);
  }
  assert_int_equal(stand_in_held(), 0);
}

/* All arrays of the members, if each needs many pieces, or one block of rows is a piece. */
TEST(small_pieces_send_the_same) {
  static const char *const systems[] = {"gen:poisson2d5:40", "gen:elasticity3d:5,5,5",
                                        "gen:powerlaw:3000"};
  static const int64_t sizes[] = {1, 600, 5000, 100000};
  const int64_t usual = trs_push_piece_bytes;
  for (size_t k = 0; k < COUNT(systems) * COUNT(sizes); k++) {
    trs_plan one, many;
    trs_matrix *A, *T;
    assert_success(trs_matrix_read(&A, systems[k / COUNT(sizes)], NULL));
    assert_success(trs_matrix_triangle(&T, A, TRS_LOWER, 1));
    assert_success(make_plan(&one, T, TRS_LOWER, "partition=bands"));
    trs_push_piece_bytes = sizes[k % COUNT(sizes)];
    assert_success(make_plan(&many, T, TRS_LOWER, "partition=bands"));
    assert_success(trs_method_push.update(&many));
    trs_push_piece_bytes = usual;
    compare_members(&one, &many);
    for (int m = 0; m < MEMBERS; m++) {
      const trs_push_member *a = &((trs_push_state *)one.state)->member[m],
                            *b = &((trs_push_state *)many.state)->member[m];
      const size_t rows = (size_t)T->nrows * sizeof(int32_t);
      assert_memory_equal(a->args.slices.row, b->args.slices.row, rows);
      assert_memory_equal(a->args.mask, b->args.mask, rows);
      assert_int_equal(a->share.nslices, b->share.nslices);
      assert_memory_equal(b->args.slices.slice, b->share.slice,
                          (size_t)b->share.nslices * sizeof *b->share.slice);
    }
    trs_method_push.free(&many);
    trs_method_push.free(&one);
    trs_matrix_destroy(T);
    trs_matrix_destroy(A);
  }
  assert_int_equal(stand_in_held(), 0);
}

static trs_status fail_later(void *user, void *val, int64_t count, const int32_t *vector) {
  int *calls = user;
  (void)vector;
  for (int64_t k = 0; k < count; k++) ((double *)val)[k] = 1;
  return --*calls > 0 ? TRS_SUCCESS : TRS_ERROR_FILE;
}

/* A diagonal matrix whose values fail for the first, the second, ... member. */
TEST(what_fails_leaves_nothing) {
  enum { ROWS = 90 };
  int64_t ptr[ROWS + 1];
  int32_t idx[ROWS];
  for (int i = 0; i <= ROWS; i++) ptr[i] = i;
  for (int i = 0; i < ROWS; i++) idx[i] = i;
  for (int member = 1; member <= MEMBERS + 1; member++) {
    int calls = member;
    trs_matrix *D;
    trs_plan plan;
    assert_success(trs_matrix_create_deferred(&D, TRS_CSR, TRS_DOUBLE, ROWS, ROWS, TRS_PTR64, ptr,
                                              idx, TRS_COPY, fail_later, &calls));
    trs_status status = make_plan(&plan, D, TRS_LOWER, "partition=bands");
    assert_int_equal(status, member <= MEMBERS ? TRS_ERROR_FILE : TRS_SUCCESS);
    trs_method_push.free(&plan);
    trs_matrix_destroy(D);
    assert_int_equal(stand_in_held(), 0);
  }
}

static int begin(void **state) { return trs_context_create(&context, "cuda:0-2") ? -1 : 0; }

static int end(void **state) {
  trs_context_destroy(context);
  return scratch_remove(state);
}

const test_program program = {.begin = begin, .end = end};
