/* tasks.c - components dealt to members, exhaustively for small sizes, and X20's algorithms by
 * threads with these tasks: one thread per member, which waits as the kernels do, so that an order
 * of tasks with an endless wait fails. */
#include "X20/tasks.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "support.h"
#include "test.h"

/* ---- Dealing ---- */

/* The task that contains a component. */
static int64_t task_of(int64_t component, int64_t n, int64_t size, bool lower) {
  return (lower ? component : n - 1 - component) / size;
}

/* Every component is in one task, tasks are in the order of the sweep, places are the members'. */
static void check_tasks(const trs_tasks *t, int64_t n, bool lower, int members, int64_t count) {
  int64_t own[TRS_MOST_MEMBERS] = {0}, next = lower ? 0 : n;
  int32_t held[TRS_MOST_MEMBERS] = {0};
  assert_int_equal(t->count, count ? count : members);
  for (int32_t k = 0; k < t->count; k++) {
    const trs_component_task *task = &t->task[k];
    assert_in_range(task->member, 0, members - 1);
    assert_true(task->begin <= task->end);
    assert_int_equal(lower ? task->begin : task->end, next);
    assert_int_equal(task->local, own[task->member]);
    assert_true(task->end - task->begin <= t->size);
    if (k + 1 < t->count && t->task[k + 1].begin < t->task[k + 1].end)
      assert_int_equal(task->end - task->begin, t->size);
    for (int64_t i = task->begin; i < task->end; i++)
      assert_int_equal(task_of(i, n, t->size, lower), k);
    own[task->member] += task->end - task->begin;
    held[task->member]++;
    next = lower ? task->end : task->begin;
  }
  assert_int_equal(next, lower ? n : 0);
  for (int m = 0; m < members; m++) {
    assert_int_equal(own[m], t->own[m]);
    assert_int_equal(held[m], t->held[m]);
  }
}

TEST(deals) {
  for (int64_t n = 0; n <= 20; n++)
    for (int members = 1; members <= 9; members++)
      for (int64_t count = 0; count <= 4 * members; count++)
        for (int lower = 0; lower < 2; lower++) {
          trs_tasks t;
          assert_success(trs_tasks_create(&t, n, lower, members, count, NULL));
          check_tasks(&t, n, lower, members, count);
          for (int32_t k = 0; k < t.count; k++) assert_int_equal(t.task[k].member, k % members);
          trs_tasks_destroy(&t);
        }
}

TEST(deals_by_room) {
  const int64_t rooms[][4] = {
      {100, 100, 100, 100}, {100, 50, 100, 50}, {1000, 1, 1000, 1}, {0, 0, 0, 7}, {0, 0, 0, 0}};
  const int32_t wanted[][4] = {
      {8, 8, 8, 8}, {11, 5, 11, 5}, {16, 0, 16, 0}, {0, 0, 0, 32}, {32, 0, 0, 0}};
  for (size_t k = 0; k < COUNT(rooms); k++) {
    trs_tasks t;
    assert_success(trs_tasks_create(&t, 1000, k % 2, 4, 32, rooms[k]));
    check_tasks(&t, 1000, k % 2, 4, 32);
    for (int m = 0; m < 4; m++) {
      if (abs(t.held[m] - wanted[k][m]) > 1)
        fail_msg("case %zu: member %d has %d tasks, not %d", k, m, t.held[m], wanted[k][m]);
    }
    trs_tasks_destroy(&t);
  }
  /* nearly equal counts as equal: members alternate */
  trs_tasks t;
  const int64_t near[3] = {1000000, 990000, 995000};
  assert_success(trs_tasks_create(&t, 100, true, 3, 12, near));
  for (int32_t k = 0; k < t.count; k++) assert_int_equal(t.task[k].member, k % 3);
  trs_tasks_destroy(&t);
}

/* 32 tasks in all, as in X20's Figure 10, where they do not divide evenly. */
TEST(deals_a_total) {
  trs_tasks t;
  const int32_t wanted[3] = {11, 11, 10};
  assert_success(trs_tasks_create(&t, 1000, true, 3, 32, NULL));
  check_tasks(&t, 1000, true, 3, 32);
  for (int m = 0; m < 3; m++) assert_int_equal(t.held[m], wanted[m]);
  trs_tasks_destroy(&t);
}

/* ---- The algorithms, by threads ---- */

enum { MOST = 9 };

typedef enum x20_design { ZEROCOPY, UNIFIED, GET_UPDATE_PUT, DESIGNS } x20_design;

typedef struct machine {
  const triangle *t; /* by columns; lower with the diagonal first, or upper with it last */
  trs_tasks tasks;
  x20_design design;
  double *x; /* initially b */
  /* Algorithm 3: of each member.  The others: [0] is s., and d. are the members' own. */
  atomic_int *in_degree[MOST + 1];
  double *left_sum[MOST + 1]; /* written under the lock: C has no atomic addition of doubles */
  pthread_mutex_t lock, data[MOST]; /* data: of what is shared of each member's components */
  atomic_bool go;
} machine;

typedef struct worker {
  machine *m;
  int me;
  pthread_t thread;
} worker;

static bool is_met(const machine *m, int me, int64_t i) {
  if (m->design != ZEROCOPY)
    return atomic_load(&m->in_degree[0][i]) == atomic_load(&m->in_degree[me + 1][i]);
  for (int p = 0; p < m->tasks.members; p++)
    if (atomic_load(&m->in_degree[p][i]) != 0) return false;
  return true;
}

static double left_sum_of(const machine *m, int me, int64_t i) {
  if (m->design != ZEROCOPY) return m->left_sum[0][i] + m->left_sum[me + 1][i];
  double sum = 0;
  for (int p = 0; p < m->tasks.members; p++) sum += m->left_sum[p][i];
  return sum;
}

/* A get, an update and a put of each; without the lock of that member's data, updates are lost. */
static void get_update_put(machine *m, int owner, int64_t row, double product) {
  pthread_mutex_lock(&m->data[owner]);
  pthread_mutex_lock(&m->lock);
  double sum = m->left_sum[0][row] + product;
  pthread_mutex_unlock(&m->lock);
  int degree = atomic_load(&m->in_degree[0][row]) - 1;
  (void)sched_yield();
  pthread_mutex_lock(&m->lock);
  m->left_sum[0][row] = sum;
  pthread_mutex_unlock(&m->lock);
  atomic_store(&m->in_degree[0][row], degree);
  pthread_mutex_unlock(&m->data[owner]);
}

static void update(machine *m, int me, int64_t row, double product) {
  int owner = m->tasks.task[task_of(row, m->tasks.n, m->tasks.size, m->tasks.lower)].member;
  bool near = owner == me, apart = m->design != ZEROCOPY;
  int to = apart ? (near ? me + 1 : 0) : me;
  if (m->design == GET_UPDATE_PUT && !near) {
    get_update_put(m, owner, row, product);
    return;
  }
  pthread_mutex_lock(&m->lock);
  m->left_sum[to][row] += product;
  pthread_mutex_unlock(&m->lock);
  atomic_fetch_add(&m->in_degree[to][row], apart && near ? 1 : -1);
}

static void solve_component(machine *m, int me, int64_t i) {
  const triangle *t = m->t;
  const double *val = t->val;
  bool lower = m->tasks.lower;
  int64_t diagonal = lower ? t->ptr[i] : t->ptr[i + 1] - 1;
  while (!is_met(m, me, i)) (void)sched_yield();
  pthread_mutex_lock(&m->lock);
  double xi = m->x[i] = (m->x[i] - left_sum_of(m, me, i)) / val[diagonal];
  pthread_mutex_unlock(&m->lock);
  for (int64_t p = t->ptr[i]; p < t->ptr[i + 1]; p++)
    if (p != diagonal) update(m, me, t->idx[p], val[p] * xi);
}

static void *run_member(void *argument) {
  worker *w = argument;
  const trs_tasks *tasks = &w->m->tasks;
  while (!atomic_load(&w->m->go)) (void)sched_yield();
  for (int32_t k = 0; k < tasks->count; k++) {
    const trs_component_task *task = &tasks->task[k];
    int64_t size = task->end - task->begin;
    if (task->member != w->me) continue;
    for (int64_t q = 0; q < size; q++)
      solve_component(w->m, w->me, tasks->lower ? task->begin + q : task->end - 1 - q);
  }
  return NULL;
}

/* Counts each member's own columns; except for Algorithm 3 they go to the single shared count. */
static void count(machine *m) {
  const triangle *t = m->t;
  for (int64_t i = 0; i < t->n; i++) {
    int me = m->tasks.task[task_of(i, t->n, m->tasks.size, m->tasks.lower)].member;
    for (int64_t p = t->ptr[i]; p < t->ptr[i + 1]; p++)
      if (t->idx[p] != i)
        atomic_fetch_add(&m->in_degree[m->design == ZEROCOPY ? me : 0][t->idx[p]], 1);
  }
}

static void run_machine(const triangle *t, bool lower, x20_design design, int members, int64_t each,
                        const double *b, double *x) {
  machine m = {.t = t, .design = design, .x = x};
  worker workers[MOST];
  assert_success(trs_tasks_create(&m.tasks, t->n, lower, members, each * members, NULL));
  for (int k = 0; k <= members; k++) {
    m.in_degree[k] = calloc((size_t)t->n + 1, sizeof *m.in_degree[k]);
    m.left_sum[k] = calloc((size_t)t->n + 1, sizeof *m.left_sum[k]);
  }
  pthread_mutex_init(&m.lock, NULL);
  for (int k = 0; k < members; k++) pthread_mutex_init(&m.data[k], NULL);
  memcpy(x, b, (size_t)t->n * sizeof *x);
  count(&m);
  for (int k = 0; k < members; k++) {
    workers[k] = (worker){.m = &m, .me = k};
    assert_int_equal(pthread_create(&workers[k].thread, NULL, run_member, &workers[k]), 0);
  }
  atomic_store(&m.go, true);
  for (int k = 0; k < members; k++) pthread_join(workers[k].thread, NULL);
  for (int k = 0; k <= members; k++) {
    if (design == ZEROCOPY)
      for (int64_t i = 0; i < t->n; i++) assert_int_equal(m.in_degree[k][i], 0);
    free(m.in_degree[k]);
    free(m.left_sum[k]);
  }
  pthread_mutex_destroy(&m.lock);
  for (int k = 0; k < members; k++) pthread_mutex_destroy(&m.data[k]);
  trs_tasks_destroy(&m.tasks);
}

static void substitute(const triangle *t, bool lower, const double *b, double *x) {
  const double *val = t->val;
  memcpy(x, b, (size_t)t->n * sizeof *x);
  for (int64_t k = 0; k < t->n; k++) {
    int64_t i = lower ? k : t->n - 1 - k, diagonal = lower ? t->ptr[i] : t->ptr[i + 1] - 1;
    x[i] /= val[diagonal];
    for (int64_t p = t->ptr[i]; p < t->ptr[i + 1]; p++)
      if (p != diagonal) x[t->idx[p]] -= val[p] * x[i];
  }
}

static void run_all(int64_t n, double density, int64_t band, bool lower, const int *each,
                    int most) {
  triangle t = triangle_random(n, density, band, !lower, TRS_DOUBLE, false, 11);
  double *b = malloc((size_t)(n + 1) * sizeof *b), *x = malloc((size_t)(n + 1) * sizeof *x);
  double *want = malloc((size_t)(n + 1) * sizeof *want);
  for (int64_t i = 0; i < n; i++) b[i] = cos((double)i);
  substitute(&t, lower, b, want);
  for (int members = 1; members <= MOST; members += members < 4 ? 1 : 3)
    for (int k = 0; k < most; k++)
      for (int design = 0; design < DESIGNS; design++) {
        run_machine(&t, lower, (x20_design)design, members, each[k], b, x);
        for (int64_t i = 0; i < n; i++)
          if (!(fabs(x[i] - want[i]) <= 1e-9 * (1 + fabs(want[i]))))
            fail_msg("n %lld, %d members, %d each, design %d: x[%lld]", (long long)n, members,
                     each[k], design, (long long)i);
      }
  free(want);
  free(x);
  free(b);
  triangle_free(&t);
}

TEST(algorithms) {
  const int each[] = {0, 1, 3, 8};
  for (int lower = 0; lower < 2; lower++) {
    for (int64_t n = 0; n <= 9; n++) run_all(n, 0.6, n + 1, lower, each, 4);
    run_all(60, 1, 1, lower, each, 4); /* a chain */
    run_all(200, 0.05, 200, lower, each, 4);
    run_all(40, 1, 40, lower, each, 4); /* dense */
  }
}
