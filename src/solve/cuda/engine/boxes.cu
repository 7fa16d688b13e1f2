/* boxes.cu - boxes of analysis/boxes.h, and the system in their order.
 *
 * Rows take tickets by level and poll the coordinates of their entries, so the time is that of the
 * levels.  A stable radix sort brings the rows of a box together.  Each row of the new order then
 * finds the places of its entries by counting, O(nnz times the entries of a row) reads from the
 * caches. */
#include "solve/cuda/engine/boxes.h"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include <algorithm>

#include "device/ready.cuh"
#include "solve/cuda/engine/analysis.cuh"

namespace {

using namespace trs;

const uint32_t KNOWN = 1u << 31;

/* ---- Coordinates. ---- */

struct coordinates_view {
  pattern_view t;
  const int32_t *by_level;
  trs_box_classes classes;
  uint32_t *coordinates, *ticket, *largest; /* zero at first; coordinates with KNOWN */
  trs_fault *fault;
};

/* A row and some of its entries, by one thread. */
struct row_coordinates {
  enum { HELD = 16 };
  const coordinates_view &v;
  int32_t k;
  row_view row;
  uint32_t its = 0; /* by the entries that are known */
  int32_t e = 0;    /* the first that is held */
  int32_t column[HELD];
  unsigned missing = 0; /* which of them are unknown */
  int32_t gate = row.count > 0 ? v.t.column(row.origin, row.count - 1) : -1; /* -1: known */

  __device__ void hold() {
    missing = 0;
#pragma unroll
    for (int u = 0; u < HELD; u++) {
      column[u] = e + u < row.count ? v.t.column(row.origin, e + u) : 0;
      missing |= e + u < row.count ? 1u << u : 0;
    }
  }

  /* Takes those that are known by now; none before the nearest, as polls in vain slow others.  True
   * once all entries of the row are known. */
  __device__ bool take() {
    uint32_t known[HELD];
    if (gate >= 0 && load_relaxed(v.coordinates + gate) == 0) return false;
    gate = -1;
#pragma unroll
    for (int u = 0; u < HELD; u++)
      known[u] = missing >> u & 1 ? load_relaxed(v.coordinates + column[u]) : 0;
#pragma unroll
    for (int u = 0; u < HELD; u++) {
      if (known[u] == 0) continue;
      its = trs_coordinates_joined(
          its, trs_coordinates_behind(known[u] & ~KNOWN, k - column[u], v.classes));
      missing &= ~(1u << u);
    }
    if (missing) return false;
    e += HELD;
    if (e < row.count) hold();
    return e >= row.count;
  }
};

/* Rows of a warp may wait for each other. */
__device__ uint32_t find_coordinates_of(const coordinates_view &v, int64_t at) {
  bool open = at < v.t.n;
  const int32_t k = open ? v.by_level[at] : 0;
  row_coordinates r = {v, k, v.t.row(k)};
  wait w(v.fault);
  if (open) r.hold();
  do {
    const bool leaves = open && r.take();
    if (leaves) store_relaxed(v.coordinates + k, KNOWN | r.its);
    open = open && !leaves;
  } while (w.all_go_on(k) && any_lane(open));
  return r.its;
}

__global__ void __launch_bounds__(ANALYSIS_THREADS)
    find_coordinates(const __grid_constant__ coordinates_view v) {
  __shared__ uint32_t ticket;
  uint32_t largest = 0;
  for (;;) {
    if (threadIdx.x == 0) ticket = atomicAdd(v.ticket, 1u);
    __syncthreads();
    const int64_t first = int64_t(ticket) * ANALYSIS_THREADS;
    __syncthreads();
    if (first >= v.t.n) break;
    largest = trs_coordinates_joined(largest, find_coordinates_of(v, first + threadIdx.x));
  }
  for (int c = 0; c < TRS_COORDINATES; c++) {
    const uint32_t its = __reduce_max_sync(~0u, trs_coordinate(largest, c));
    if (this_lane() == 0) atomicMax(v.largest + c, its);
  }
}

/* box and row: what is sorted by what. */
__global__ void __launch_bounds__(ANALYSIS_THREADS)
    number_boxes(int64_t n, const uint32_t *coordinates, const uint32_t *largest, uint32_t *box,
                 int32_t *row) {
  const int64_t k = this_thread();
  if (k >= n) return;
  box[k] = trs_box_of(coordinates[k], trs_box_sides_of(largest));
  row[k] = int32_t(k);
}

/* ---- The system in the order of boxes. ---- */

struct order_view {
  pattern_view t;
  const int32_t *order; /* n: rows of the sweep */
  const uint32_t *box;  /* n, in that order; NULL: starts is there */
  uint8_t *starts;
  int32_t *place, *of; /* n: the new place of each row of the sweep; the row of each place */
  int64_t *ptr;        /* n + 1; at first the entries of each row, one place later */
  bool full;           /* rows store their diagonal entries */
};

__global__ void __launch_bounds__(ANALYSIS_THREADS)
    place_rows(const __grid_constant__ order_view v) {
  const int64_t p = this_thread();
  if (p >= v.t.n) return;
  const int32_t k = v.order[p];
  if (v.box) v.starts[p] = p == 0 || v.box[p] != v.box[p - 1];
  v.place[k] = int32_t(p);
  v.of[p] = v.t.mirror(k);
  v.ptr[p + 1] = v.t.row(k).count + v.full;
  if (p == 0) v.ptr[0] = 0;
}

enum { LANES = 8 /* per row */ };

template <class S>
__global__ void __launch_bounds__(ANALYSIS_THREADS)
    place_entries(const __grid_constant__ order_view v, const S *from, int32_t *idx, S *val) {
  const int64_t p = this_thread() / LANES;
  if (p >= v.t.n) return;
  const row_view row = v.t.row(v.order[p]);
  const int64_t to = v.ptr[p];
  for (int32_t e = this_lane() % LANES; e < row.count; e += LANES) {
    const int32_t c = v.place[v.t.column(row.origin, e)];
    int32_t before = 0;
    for (int32_t other = 0; other < row.count; other++)
      before += v.place[v.t.column(row.origin, other)] < c;
    idx[to + before] = c;
    val[to + before] = from[v.t.entry(row.origin, e)];
  }
  if (!v.full || this_lane() % LANES > 0) return;
  idx[to + row.count] = int32_t(p);
  val[to + row.count] = from[row.diagonal];
}

trs_status check(cudaError_t error) { return trs_device_check(error, "making boxes"); }

order_view view_of(const trs_gpu_substitution &s, const trs_system &system) {
  return {pattern_view(system),
          s.order,
          nullptr,
          s.starts,
          s.place,
          s.of,
          const_cast<int64_t *>(s.joint.ptr),
          s.joint.has_diagonal};
}

trs_status launch_entries(const trs_gpu_substitution &s, const trs_system &system,
                          cudaStream_t stream) {
  const order_view v = view_of(s, system);
  return check(by_scalar(system.scalar, [&](auto element) {
    using S = decltype(element);
    place_entries<S><<<blocks_for(system.n * LANES), ANALYSIS_THREADS, 0, stream>>>(
        v, static_cast<const S *>(system.val), const_cast<int32_t *>(s.joint.idx),
        static_cast<S *>(const_cast<void *>(s.joint.val)));
    return cudaGetLastError();
  }));
}

/* The arrays of the joint system, by s.order.  box: in that order; NULL if s.starts is there. */
trs_status make_arrays(trs_gpu_substitution &s, trs_device *device, const trs_system &system,
                       const uint32_t *box, cudaStream_t stream) {
  trs_system &to = s.joint;
  char *val, *scan;
  int64_t *ptr;
  int32_t *idx;
  size_t bytes = 0;
  TRS_TRY(check(cub::DeviceScan::InclusiveSum(nullptr, bytes, to.ptr, const_cast<int64_t *>(to.ptr),
                                              int(to.n), stream)));
  TRS_TRY(allocate(device, &s.memory, stream, [&](arena &a) {
    a.take(&ptr, to.n + 1);
    a.take(&idx, to.nnz);
    a.take(&val, to.nnz * size_of_scalar(to.scalar));
    a.take(&s.of, to.n);
    a.take(&s.place, to.n);
    a.take(&scan, int64_t(bytes));
  }));
  to.ptr = ptr, to.idx = idx, to.val = val;
  order_view v = view_of(s, system);
  v.box = box;
  place_rows<<<blocks_for(to.n), ANALYSIS_THREADS, 0, stream>>>(v);
  TRS_TRY(check(cub::DeviceScan::InclusiveSum(scan, bytes, ptr + 1, ptr + 1, int(to.n), stream)));
  return launch_entries(s, system, stream);
}

/* ---- The steps. ---- */

struct work_arrays {
  int64_t n, sort_bytes;
  uint32_t *coordinates, *ticket, *largest, *box, *sorted;
  int32_t *row;
  char *sort;

  void operator()(arena &a) {
    a.take(&coordinates, n);
    a.take(&ticket, 1);
    a.take(&largest, TRS_COORDINATES);
    a.take(&box, n);
    a.take(&sorted, n);
    a.take(&row, n);
    a.take(&sort, sort_bytes);
  }
  int64_t bytes_to_clear() const {
    return reinterpret_cast<char *>(largest + TRS_COORDINATES) -
           reinterpret_cast<char *>(coordinates);
  }
};

trs_status sort_rows(const work_arrays &w, int32_t *order, size_t *bytes, cudaStream_t stream) {
  return check(cub::DeviceRadixSort::SortPairs(w.sort, *bytes, w.box, w.sorted, w.row, order,
                                               int(w.n), 0, TRS_BOX_BITS, stream));
}

trs_status make(const cut &c, const trs_box_classes &classes, const work_arrays &w,
                trs_gpu_substitution &r) {
  size_t bytes = size_t(w.sort_bytes);
  const coordinates_view v = {pattern_view(c.system),
                              c.o.order[c.numbers.order],
                              classes,
                              w.coordinates,
                              w.ticket,
                              w.largest,
                              &c.state->fault};
  const unsigned most = 2 * unsigned(trs_device_look(c.device)->multiprocessors);
  const unsigned grid = std::min(blocks_for(w.n), most);
  TRS_TRY(trs_device_fill(w.coordinates, 0, w.bytes_to_clear(), c.stream));
  find_coordinates<<<grid, ANALYSIS_THREADS, 0, c.stream>>>(v);
  number_boxes<<<blocks_for(w.n), ANALYSIS_THREADS, 0, c.stream>>>(w.n, w.coordinates, w.largest,
                                                                   w.box, w.row);
  TRS_TRY(check(cudaGetLastError()));
  TRS_TRY(TRS_DEVICE_ALLOC(c.device, &r.order, w.n, c.stream));
  TRS_TRY(TRS_DEVICE_ALLOC(c.device, &r.starts, trs_starts_bytes(w.n), c.stream));
  TRS_TRY(sort_rows(w, r.order, &bytes, c.stream));
  return make_arrays(r, c.device, c.system, w.sorted, c.stream);
}

}  // namespace

extern "C" trs_status trs_gpu_box(trs_gpu_substitution *result, const trs_gpu_cut *c,
                                  const trs_box_classes *classes) {
  const trs_system &s = c->system;
  work_arrays w = {};
  void *memory = nullptr;
  size_t bytes = 0;
  *result = trs_gpu_substitution{};
  result->joint = s;
  result->joint.lower = true;
  result->joint.has_diagonal = !s.unit;
  if (s.unit && s.has_diagonal) result->joint.nnz -= s.n;
  w.n = s.n;
  TRS_TRY(sort_rows(w, nullptr, &bytes, c->stream));
  w.sort_bytes = int64_t(bytes);
  TRS_TRY(allocate(c->device, &memory, c->stream, [&](arena &a) { w(a); }));
  trs_status status = make(*c, *classes, w, *result);
  trs_device_free(c->device, memory, c->stream);
  if (status) trs_gpu_substitution_free(result, c->device, c->stream);
  return status;
}

extern "C" trs_status trs_gpu_box_again(trs_gpu_substitution *s, trs_device *device,
                                        const trs_system *system, trs_stream stream) {
  const auto on = static_cast<cudaStream_t>(stream);
  if (s->memory) return launch_entries(*s, *system, on);
  return make_arrays(*s, device, *system, nullptr, on);
}
