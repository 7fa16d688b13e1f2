/* syncfree.cl - L17's Algorithms 3 and 4 in OpenCL C 1.2: a group of work items, one wavefront, per
 * component.  real is float or double; bits is the integer of its size, and CAS and ADD are that
 * size's atomics.
 *
 * A group takes its component by ticket, so it waits only for components of groups that have begun.
 * That suffices where groups that have begun go on: on GPUs, and on PoCL, whose threads run group
 * after group.  Only the first work item of a group waits, before a barrier: PoCL runs the work
 * items of a group one after the other from barrier to barrier.
 *
 * Different from the paper: one wavefront per group, hence no sums in the scratchpad; met counts up
 * (see syncfree.h of the CUDA methods). */
#ifdef DOUBLE
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
typedef double real;
typedef ulong bits;
#define CAS atom_cmpxchg
#define ADD atom_add
#else
typedef float real;
typedef uint bits;
#define CAS atomic_cmpxchg
#define ADD atomic_add
#endif

#define MOST_SPINS (1L << 31) /* of one wait: more than ten seconds */

typedef struct {
  long n;
  int lower, unit, has_diagonal, width;
} facts;

inline void add_to(volatile global real *sum, real term) {
  union {
    real number;
    bits word;
  } old, next;
  volatile global bits *at = (volatile global bits *)sum;
  bits seen = ADD(at, 0);
  do {
    old.word = seen;
    next.number = old.number + term;
    seen = CAS(at, old.word, next.word);
  } while (seen != old.word);
}

inline real load_sum(volatile global real *sum) {
  union {
    real number;
    bits word;
  } value;
  value.word = ADD((volatile global bits *)sum, 0);
  return value.number;
}

/* Off-diagonal entries of a column, from the diagonal outwards: entry q is at first + q step. */
typedef struct {
  long first, count, diagonal;
  int step;
} column;

inline column column_of(facts s, global const long *ptr, global const int *idx, long j) {
  const long begin = ptr[j], end = ptr[j + 1], diagonal = s.lower ? begin : end - 1;
  const int stored = s.has_diagonal || (begin < end && idx[diagonal] == j);
  column c = {s.lower ? begin + stored : end - 1 - stored, end - begin - stored, diagonal,
              s.lower ? 1 : -1};
  return c;
}

/* The preprocessing of L17's Algorithm 3. */
kernel void count_entries(facts s, global const long *ptr, global const int *idx,
                          volatile global int *in_degree) {
  const long j = get_global_id(0);
  if (j >= s.n) return;
  const column c = column_of(s, ptr, idx, j);
  for (long q = 0; q < c.count; q++) atomic_inc(&in_degree[idx[c.first + q * c.step]]);
}

/* fault[0]: a wait passed its limit, at component fault[1]. */
inline void await(volatile global int *met, int in_degree, long i, volatile global int *fault) {
  long spins = 0;
  while (atomic_add(&met[i], 0) != in_degree) {
    if ((++spins & 1023) == 0 && atomic_add(&fault[0], 0)) break;
    if (spins < MOST_SPINS) continue;
    if (atomic_cmpxchg(&fault[0], 0, 1) == 0) fault[1] = (int)i;
    break;
  }
  mem_fence(CLK_GLOBAL_MEM_FENCE);
}

/* The component of this group. */
inline long take_component(facts s, volatile global int *ticket, local long *shared) {
  if (get_local_id(0) == 0) *shared = atomic_inc(ticket);
  barrier(CLK_LOCAL_MEM_FENCE);
  return s.lower ? *shared : s.n - 1 - *shared;
}

/* Algorithm 3: one right-hand side. */
kernel void solve_one(facts s, global const long *ptr, global const int *idx,
                      global const real *val, global const int *in_degree,
                      volatile global int *counters, volatile global real *left_sum,
                      global real *x, global const real *b) {
  local long shared;
  local real solved;
  volatile global int *fault = counters, *ticket = counters + 2, *met = counters + 3;
  const long i = take_component(s, ticket, &shared);
  const column c = column_of(s, ptr, idx, i);
  const long lane = get_local_id(0), lanes = get_local_size(0);
  if (lane == 0) {
    await(met, in_degree[i], i, fault);
    solved = (b[i] - load_sum(&left_sum[i])) * (s.unit ? (real)1 : (real)1 / val[c.diagonal]);
    x[i] = solved;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const real xi = solved;
  for (long q = lane; q < c.count; q += lanes) {
    const long p = c.first + q * c.step;
    add_to(&left_sum[idx[p]], val[p] * xi);
  }
  mem_fence(CLK_GLOBAL_MEM_FENCE); /* a sum comes before its count */
  for (long q = lane; q < c.count; q += lanes) atomic_inc(&met[idx[c.first + q * c.step]]);
}

/* Algorithm 4: width right-hand sides, those of a component contiguous in x, b and left_sum.
 * by_rhs: the paper's choice for columns of `count` entries; see syncfree.c. */
kernel void solve_many(facts s, global const long *ptr, global const int *idx,
                       global const real *val, global const int *in_degree,
                       volatile global int *counters, volatile global real *left_sum,
                       global real *x, global const real *b, int strategy, long most_p,
                       long least_q) {
  local long shared;
  volatile global int *fault = counters, *ticket = counters + 2, *met = counters + 3;
  const long i = take_component(s, ticket, &shared), width = s.width;
  const column c = column_of(s, ptr, idx, i);
  const long lane = get_local_id(0), lanes = get_local_size(0);
  const real inverse = s.unit ? (real)1 : (real)1 / val[c.diagonal];
  const int adaptive = (c.count <= width || width > most_p) && c.count < least_q;
  const int by_rhs = strategy == 0 ? adaptive : strategy == 1;
  if (lane == 0) await(met, in_degree[i], i, fault);
  barrier(CLK_GLOBAL_MEM_FENCE);
  for (long r = lane; r < width; r += lanes)
    x[i * width + r] = (b[i * width + r] - load_sum(&left_sum[i * width + r])) * inverse;
  barrier(CLK_GLOBAL_MEM_FENCE);
  for (long e = by_rhs ? 0 : lane; e < c.count; e += by_rhs ? 1 : lanes) {
    const long p = c.first + e * c.step, row = idx[p];
    for (long r = by_rhs ? lane : 0; r < width; r += by_rhs ? lanes : 1)
      add_to(&left_sum[row * width + r], val[p] * x[i * width + r]);
  }
  mem_fence(CLK_GLOBAL_MEM_FENCE);
  barrier(CLK_GLOBAL_MEM_FENCE); /* several lanes add an entry's sums, one lane counts it */
  for (long q = lane; q < c.count; q += lanes) atomic_inc(&met[idx[c.first + q * c.step]]);
}
