/* syncfree.cl - L17's Algorithms 3 and 4 in OpenCL C 1.2.  A wavefront of a group of work items
 * solves one component, by the lanes of the wavefront.  real is float or double; bits is the
 * integer of its size, and CAS and ADD are that size's atomics.
 *
 * Why waits end.  A group takes its components by ticket, neighbours in the order of the sweep.  A
 * lane therefore waits only for groups that have begun, and for wavefronts before its own in its
 * group.  It never waits for a lane of its own wavefront: each lane computes the x that it needs
 * and counts what it added.  That suffices where work items that have begun go on, as on GPUs, and
 * where a thread runs the work items of a group one after the other.  OpenCL 1.2 promises neither;
 * elsewhere a wait ends after most_polls.  No barrier stands behind a wait.
 *
 * Order of memory.  OpenCL 1.2 orders nothing between groups.  All that they tell each other goes
 * through atomics, and a sum's atomic has returned before the fence and the count behind it.  A
 * waiting lane reads a sum behind the poll that saw all counts, and by an atomic.  Polls are
 * volatile reads, which the lanes of a wavefront share; now and then one is an atomic, for devices
 * whose caches keep what a volatile read found.
 *
 * Different from the paper: components by ticket, a fence, met counts up (see syncfree.h of the
 * CUDA methods). */
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

#define MOST_WARPS 32 /* per group */
#define ROUND 256     /* entries of a column per fence */

typedef struct {
  long n, most_polls;
  int lower, unit, has_diagonal, width, lanes, scratchpad;
} facts;

typedef union {
  real number;
  bits word;
} exchanged;

/* Adds to a sum in global memory (far) or in scratchpad (near). */
#define ADD_TO(name, space)                                   \
  inline void name(volatile space real *sum, real term) {     \
    volatile space bits *at = (volatile space bits *)sum;     \
    exchanged old, next;                                      \
    bits seen;                                                \
    old.word = *at;                                           \
    for (;;) {                                                \
      next.number = old.number + term;                        \
      seen = CAS(at, old.word, next.word);                    \
      if (seen == old.word) break;                            \
      old.word = seen;                                        \
    }                                                         \
  }
ADD_TO(add_far, global)
ADD_TO(add_near, local)

inline real load_sum(volatile global real *sum) {
  exchanged value;
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

/* The number of this group in the order in which groups begin.  Also a barrier of the group. */
inline long take_ticket(volatile global int *counter, local long *shared) {
  if (get_local_id(0) == 0) *shared = atomic_inc(counter);
  barrier(CLK_LOCAL_MEM_FENCE);
  return *shared;
}

/* The k-th component of the sweep, or the place of component k in the sweep. */
inline long in_sweep(facts s, long k) { return s.lower ? k : s.n - 1 - k; }

/* The preprocessing of L17's Algorithm 3. */
kernel void count_entries(facts s, global const long *ptr, global const int *idx,
                          volatile global int *in_degree) {
  const long j = get_global_id(0);
  if (j >= s.n) return;
  const column c = column_of(s, ptr, idx, j);
  for (long q = 0; q < c.count; q++) atomic_inc(&in_degree[idx[c.first + q * c.step]]);
}

/* True if a lane goes on polling for component i.  fault[0]: a wait passed its limit, at component
 * fault[1]. */
inline int is_patient(facts s, long polls, long i, volatile global int *fault) {
  if ((polls & 1023) == 0 && atomic_add(&fault[0], 0)) return 0;
  if (polls < s.most_polls) return 1;
  if (atomic_cmpxchg(&fault[0], 0, 1) == 0) fault[1] = (int)i;
  return 0;
}

inline int poll(volatile global int *met, long polls) {
  return (polls & 63) == 63 ? atomic_add(met, 0) : *met;
}

/* Algorithm 3: one right-hand side.  Products for components of the same group go through its
 * scratchpad, near (the paper's s_left_sum and s_in_degree), the others through global memory. */
kernel void solve_one(facts s, global const long *ptr, global const int *idx,
                      global const real *val, global const int *in_degree,
                      volatile global int *counters, volatile global real *left_sum,
                      global real *x, global const real *b) {
  local volatile real near_sum[MOST_WARPS];
  local volatile int near_met[MOST_WARPS];
  local long shared;
  volatile global int *fault = counters, *met = counters + 3;
  const int item = (int)get_local_id(0), warps = (int)get_local_size(0) / s.lanes;
  const int warp = item / s.lanes, lane = item % s.lanes;
  if (item < warps) {
    near_sum[item] = 0;
    near_met[item] = 0;
  }
  const long group_first = take_ticket(counters + 2, &shared) * warps, k = group_first + warp;
  if (k >= s.n) return;
  const long i = in_sweep(s, k);
  const column c = column_of(s, ptr, idx, i);
  if (lane > 0 && lane >= c.count) return; /* nothing to do for this lane */
  const real inverse = s.unit ? (real)1 : (real)1 / val[c.diagonal], bi = b[i];
  const int degree = in_degree[i];
  int near, far;
  long polls = 0;
  do {
    near = near_met[warp];
    far = poll(&met[i], polls);
  } while (near + far != degree && is_patient(s, ++polls, i, fault));
  mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  real sum = far > 0 ? load_sum(&left_sum[i]) : (real)0;
  if (near > 0) sum += near_sum[warp];
  const real xi = (bi - sum) * inverse;
  if (lane == 0) x[i] = xi;
  const long near_end = s.scratchpad ? warps : 0;
  for (long from = 0; from < c.count; from += ROUND) {
    const long to = min(from + (long)ROUND, c.count);
    for (long q = from + lane; q < to; q += s.lanes) {
      const long p = c.first + q * c.step, row = idx[p], in_group = in_sweep(s, row) - group_first;
      if (in_group < near_end)
        add_near(&near_sum[in_group], val[p] * xi);
      else
        add_far(&left_sum[row], val[p] * xi);
    }
    mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); /* a sum comes before its count */
    for (long q = from + lane; q < to; q += s.lanes) {
      const long row = idx[c.first + q * c.step], in_group = in_sweep(s, row) - group_first;
      if (in_group < near_end)
        atomic_inc(&near_met[in_group]);
      else
        atomic_inc(&met[row]);
    }
  }
}

/* Algorithm 4: width right-hand sides, those of a component contiguous in x, b and left_sum.
 * strategy: 0 is the paper's choice by p and q, 1 a lane per right-hand side, 2 a lane per entry;
 * see syncfree_csc_rhs.cu. */
kernel void solve_many(facts s, global const long *ptr, global const int *idx,
                       global const real *val, global const int *in_degree,
                       volatile global int *counters, volatile global real *left_sum,
                       global real *x, global const real *b, int strategy, long most_p,
                       long least_q) {
  local volatile int lanes_done[MOST_WARPS];
  local long shared;
  volatile global int *fault = counters, *met = counters + 3;
  const int item = (int)get_local_id(0), warps = (int)get_local_size(0) / s.lanes;
  const int warp = item / s.lanes, lane = item % s.lanes, width = s.width;
  if (item < warps) lanes_done[item] = 0;
  const long k = take_ticket(counters + 2, &shared) * warps + warp;
  if (k >= s.n) return;
  const long i = in_sweep(s, k);
  const column c = column_of(s, ptr, idx, i);
  const int adaptive = (c.count <= width || width > most_p) && c.count < least_q;
  const int by_rhs = strategy == 0 ? adaptive : strategy == 1;
  if (lane >= width && (by_rhs || lane >= c.count)) return; /* nothing to do for this lane */
  const real inverse = s.unit ? (real)1 : (real)1 / val[c.diagonal];
  const int degree = in_degree[i];
  volatile global real *sums = left_sum + i * width;
  long polls = 0;
  while (poll(&met[i], polls) != degree && is_patient(s, ++polls, i, fault)) {
  }
  mem_fence(CLK_GLOBAL_MEM_FENCE);
  for (long r = lane; r < width; r += s.lanes)
    x[i * width + r] = (b[i * width + r] - load_sum(&sums[r])) * inverse;
  if (by_rhs) {
    for (long q = 0; q < c.count; q++) {
      const long p = c.first + q * c.step, row = idx[p];
      for (long r = lane; r < width; r += s.lanes)
        add_far(&left_sum[row * width + r], val[p] * x[i * width + r]);
    }
    mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    /* Several lanes add an entry's sums.  The last of them counts it. */
    if (atomic_inc(&lanes_done[warp]) + 1 == min(width, s.lanes)) {
      mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
      for (long q = 0; q < c.count; q++) atomic_inc(&met[idx[c.first + q * c.step]]);
    }
    return;
  }
  for (long from = 0; from < c.count; from += ROUND) {
    const long to = min(from + (long)ROUND, c.count);
    for (int r = 0; r < width; r++) { /* x of other lanes is computed anew, not waited for */
      const real xir = (b[i * width + r] - load_sum(&sums[r])) * inverse;
      for (long q = from + lane; q < to; q += s.lanes) {
        const long p = c.first + q * c.step;
        add_far(&left_sum[(long)idx[p] * width + r], val[p] * xir);
      }
    }
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    for (long q = from + lane; q < to; q += s.lanes)
      atomic_inc(&met[idx[c.first + q * c.step]]);
  }
}
