/* schedule.c - the schedule of the threads method: every row once, a wait for every dependency, and
 * no needless wait.  The test checks the plan itself, so that a wrong plan fails independently of
 * timing. */
#include "solve/threads/grow.h"

#include "support.h"
#include "test.h"

typedef struct fixture {
  trs_matrix *A;
  trs_system S;
  trs_levels levels;
  int32_t *length;
  trs_schedule schedule;
} fixture;

/* One more than the last position of thread u that a task reads, or 0. */
static int32_t need_of(const fixture *f, const trs_task *task, int u) {
  const trs_schedule *s = &f->schedule;
  int32_t furthest = 0;
  for (int64_t k = task->begin; k < task->end; k++) {
    int64_t begin, end;
    trs_off_diagonal(&f->S, s->row[k], f->S.lower, true, &begin, &end);
    for (int64_t p = begin; p < end; p++) {
      const int32_t at = s->position[f->S.idx[p]];
      if (at >= s->first[u] && at < s->first[u + 1] && at >= furthest) furthest = at + 1;
    }
  }
  return furthest;
}

/* Records needs as the method does. */
static void note_needs(const fixture *f, trs_needs *needs, int t) {
  const trs_schedule *s = &f->schedule;
  for (int64_t task = s->task_ptr[t]; task < s->task_ptr[t + 1]; task++)
    for (int u = 0; u < s->threads; u++) {
      const int32_t end = u == t ? 0 : need_of(f, &s->tasks[task], u);
      if (end) trs_note_need(needs, task, u, end);
    }
}

static trs_status grow(trs_parts *parts, const fixture *f, int threads, int64_t most) {
  const trs_grow_limits limits = {most, most};
  return trs_grow_parts(parts, &f->S, f->length, threads, &limits);
}

static void make(fixture *f, bool grown, int64_t n, double density, int64_t band, trs_uplo uplo,
                 int threads, uint64_t seed) {
  trs_parts parts;
  triangle t = triangle_random(n, density, band, uplo == TRS_LOWER, TRS_DOUBLE, false, seed);
  assert_success(trs_matrix_create(&f->A, TRS_CSR, TRS_DOUBLE, n, n, TRS_PTR64, t.ptr, t.idx, t.val,
                                   TRS_COPY));
  triangle_free(&t);
  f->S = trs_system_of(f->A, uplo, TRS_NO_TRANS, TRS_NONUNIT);
  f->length = malloc((size_t)(n + 1) * sizeof *f->length);
  trs_in_degrees(&f->S, f->length);
  assert_success(trs_levels_create(&f->levels, &f->S));
  assert_success(grown ? grow(&parts, f, threads, INT64_MAX)
                       : trs_level_all_parts(&parts, &f->levels, f->length, threads));
  assert_success(trs_schedule_create(&f->schedule, &parts, &f->S, threads));
  trs_parts_destroy(&parts);
  trs_needs *needs;
  assert_success(trs_needs_create(&needs, threads));
  for (int thread = 0; thread < threads; thread++) note_needs(f, &needs[thread], thread);
  assert_success(trs_schedule_wait(&f->schedule, needs));
  trs_needs_destroy(needs, threads);
}

static void destroy(fixture *f) {
  trs_schedule_destroy(&f->schedule);
  trs_levels_destroy(&f->levels);
  free(f->length);
  trs_matrix_destroy(f->A);
}

static int thread_of(const trs_schedule *s, int64_t position) {
  int t = 0;
  while (position >= s->first[t + 1]) t++;
  return t;
}

/* Counts entries whose row could be solved before its dependency if all other threads were as slow
 * as the waits allow. */
static int64_t unguarded_entries(const fixture *f) {
  const trs_schedule *s = &f->schedule;
  int64_t unguarded = 0;
  for (int t = 0; t < s->threads; t++) {
    int32_t sure[16] = {0}; /* tasks of each thread known to be complete */
    for (int64_t task = s->task_ptr[t]; task < s->task_ptr[t + 1]; task++) {
      const trs_task *it = &s->tasks[task];
      for (int64_t w = it->wait; w < it->wait_end; w++)
        if (s->waits[w].tasks > sure[s->waits[w].thread])
          sure[s->waits[w].thread] = s->waits[w].tasks;
      for (int64_t k = it->begin; k < it->end; k++) {
        int64_t begin, end;
        trs_off_diagonal(&f->S, s->row[k], f->S.lower, true, &begin, &end);
        for (int64_t p = begin; p < end; p++) {
          int64_t at = s->position[f->S.idx[p]];
          int u = thread_of(s, at);
          int64_t done = sure[u] ? s->tasks[s->task_ptr[u] + sure[u] - 1].end : s->first[u];
          unguarded += u == t ? at >= k : at >= done;
        }
      }
    }
  }
  return unguarded;
}

static void check_partition(const fixture *f) {
  const trs_schedule *s = &f->schedule;
  int64_t entries = 0, at = 0;
  for (int64_t k = 0; k < s->n; k++) assert_int_equal(s->position[s->row[k]], k);
  assert_int_equal(s->first[s->threads], s->n);
  for (int t = 0; t < s->threads; t++) {
    assert_int_equal(s->entries[t], entries);
    for (int64_t task = s->task_ptr[t]; task < s->task_ptr[t + 1]; task++) {
      assert_int_equal(s->tasks[task].begin, at);
      at = s->tasks[task].end;
    }
    assert_int_equal(at, s->first[t + 1]);
    for (int64_t k = s->first[t]; k < s->first[t + 1]; k++) entries += f->length[s->row[k]];
  }
  assert_int_equal(s->entries[s->threads], entries);
}

TEST(every_dependency_is_waited_for) {
  (void)state;
  for (int c = 0; c < 96; c++) {
    fixture f;
    int64_t n = (int64_t[]){1, 17, 200, 700}[c % 4];
    make(&f, c >= 48, n, c % 3 ? 0.02 : 0.2, c % 5 ? n : 9, c % 2 ? TRS_LOWER : TRS_UPPER,
         1 + c % 7, (uint64_t)c);
    check_partition(&f);
    assert_int_equal(unguarded_entries(&f), 0);
    destroy(&f);
  }
}

TEST(no_wait_can_be_left_out) {
  (void)state;
  for (int grown = 0; grown < 2; grown++) {
    fixture f;
    make(&f, grown, 300, 0.02, 300, TRS_LOWER, 3, 5);
    trs_schedule *s = &f.schedule;
    assert_true(s->nwaits > 10);
    for (int64_t w = 0; w < s->nwaits; w++) {
      int32_t kept = s->waits[w].tasks;
      s->waits[w].tasks = kept - 1;
      assert_true(unguarded_entries(&f) > 0);
      s->waits[w].tasks = kept;
    }
    destroy(&f);
  }
}

TEST(wide_levels_are_split_evenly) {
  (void)state;
  fixture f;
  make(&f, false, 1000, 0, 1000, TRS_LOWER, 4, 5); /* a diagonal matrix: one level */
  for (int t = 0; t < 4; t++) {
    int64_t rows = f.schedule.first[t + 1] - f.schedule.first[t];
    assert_true(rows >= 249 && rows <= 251);
  }
  assert_int_equal(f.schedule.nwaits, 0);
  destroy(&f);
}

/* The rows of a thread in one superstep are in the order of the sweep, and supersteps are fewer
 * than levels. */
TEST(supersteps_keep_the_natural_order) {
  (void)state;
  trs_matrix *A;
  trs_parts levels, grown, partial;
  fixture f = {0};
  trs_schedule_part_work = 200;
  assert_success(trs_matrix_read(&A, "gen:poisson3d7:20", NULL));
  assert_success(trs_matrix_triangle(&f.A, A, TRS_UPPER, 0));
  f.S = trs_system_of(f.A, TRS_UPPER, TRS_NO_TRANS, TRS_NONUNIT);
  f.length = malloc((size_t)f.S.n * sizeof *f.length);
  trs_in_degrees(&f.S, f.length);
  assert_success(trs_levels_create(&f.levels, &f.S));
  assert_success(trs_level_all_parts(&levels, &f.levels, f.length, 3));
  assert_success(grow(&grown, &f, 3, INT64_MAX));
  assert_true(!grown.given_up && grown.steps < levels.steps && grown.span < levels.span);
  assert_success(grow(&partial, &f, 3, grown.span / 2));
  assert_true(partial.given_up && partial.steps < grown.steps);
  assert_success(trs_schedule_create(&f.schedule, &grown, &f.S, 3));
  check_partition(&f);
  for (int64_t k = 0; k < f.schedule.task_ptr[3]; k++)
    for (int64_t p = f.schedule.tasks[k].begin + 1; p < f.schedule.tasks[k].end; p++)
      assert_true(f.schedule.row[p] < f.schedule.row[p - 1]);
  trs_schedule_part_work = 20;
  trs_parts_destroy(&levels);
  trs_parts_destroy(&grown);
  trs_parts_destroy(&partial);
  trs_matrix_destroy(A);
  destroy(&f);
}

/* What the choice between levels and supersteps looks at. */
TEST(patterns_are_recognised) {
  (void)state;
  static const struct {
    const char *name;
    bool regular, local;
  } patterns[] = {{"gen:poisson3d7:20", true, true},         {"gen:poisson3d27:20", true, true},
                  {"gen:elasticity3d:12,12,12", true, true}, {"gen:poisson2d5:200", true, true},
                  {"gen:random:100000,4", false, false},     {"gen:delaunay:3000", false, true}};
  for (size_t c = 0; c < sizeof patterns / sizeof patterns[0]; c++) {
    trs_matrix *A, *T;
    assert_success(trs_matrix_read(&A, patterns[c].name, NULL));
    for (int upper = 0; upper < 2; upper++) {
      const trs_uplo uplo = upper ? TRS_UPPER : TRS_LOWER;
      assert_success(trs_matrix_triangle(&T, A, uplo, 1));
      trs_system S = trs_system_of(T, uplo, TRS_NO_TRANS, TRS_NONUNIT);
      assert_int_equal(trs_system_regular(&S), patterns[c].regular);
      assert_int_equal(trs_system_local(&S), patterns[c].local);
      trs_matrix_destroy(T);
    }
    trs_matrix_destroy(A);
  }
}

TEST(a_chain_stays_on_one_thread) {
  (void)state;
  for (int grown = 0; grown < 2; grown++) {
    fixture f;
    make(&f, grown, 500, 1, 1, grown ? TRS_UPPER : TRS_LOWER, 4, 5);
    assert_int_equal(f.schedule.first[1], 500);
    assert_int_equal(f.schedule.task_ptr[4], 1);
    assert_int_equal(f.schedule.nwaits, 0);
    destroy(&f);
  }
}

static int begin(void **state) {
  trs_schedule_part_work = 20;
  return 0;
}

const test_program program = {.begin = begin};
