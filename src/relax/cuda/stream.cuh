/* stream.cuh - the slices of a warp in sequence, through a ring of stages (slices.cu). */
#ifndef TRS_RELAX_CUDA_STREAM_CUH
#define TRS_RELAX_CUDA_STREAM_CUH

#include "device/ready.cuh"
#include "relax/cuda/exchange.cuh"
#include "relax/cuda/stage.cuh"

namespace trs {
namespace slices {

/* Number of blocks whose products are added in the products' type. */
constexpr int BLOCKS_A_SUM = 64;

/* ---- A warp's slices ---- */

template <int STORE, int B, class ORDER = slice_iterator>
class stream {
  static constexpr bool WAITS = std::is_same_v<ORDER, slices_in_turn>; /* x shows if it is ready */
  using T = stored<STORE>;
  using X = typename T::x;
  using sum = typename T::sum;
  using product = typename T::product;
  using form = shape<STORE, B>;
  static constexpr int CHUNK = form::CHUNK, VECTORS = form::VECTORS, LANES = form::LANES;

 public:
  __device__ stream(const trs_relax_args &a, const trs_relax_slices &s,
                    const trs_relax_peer_sync &peers, const sweep_range &t, int rhs, int stages,
                    unsigned shared)
      : a_(a),
        s_(s),
        exchange_(peers),
        rhs_(rhs),
        lane_(int(threadIdx.x % WARP)),
        l_(B, lane_ < LANES ? lane_ : 0),
        asked_(s, t),
        ahead_(asked_),
        used_(asked_) {
    first_ = shared + unsigned(int(threadIdx.x / WARP) * stages * form::STAGE);
    end_ = first_ + unsigned(stages * form::STAGE);
    at_ = {first_, 0};
    once_ = read_once_policy();
    x_ = static_cast<X *>(a.x) + rhs * a.x_stride;
    if constexpr (WAITS) {
      const int turn = int(*s.turn);
      next_x_ = x_ + (1 - turn) * a.x_stride;
      x_ += turn * a.x_stride;
    }
    r_ = static_cast<const sum *>(a.r) + rhs * a.r_stride;
    own_x_ = x_ + l_.i;
#ifndef TRS_GPU_PLAIN
    /* Keeps these in registers, so that they are not recomputed at every use. */
    asm volatile("" : "+r"(first_), "+r"(end_), "+l"(own_x_));
#endif
  }

  /* Requests the first stages. */
  __device__ void begin() {
    if (lane_ == 0) {
#pragma unroll 1
      for (unsigned k = first_; k != end_; k += form::STAGE) init_barrier(k);
      show_barriers();
    }
    __syncwarp();
    asked_.seek();
    look_to_ask();
    open();
#pragma unroll 1
    for (unsigned k = first_; k != end_; k += form::STAGE) ask(k);
  }

  /* Calls between(iterator) at the beginning of each step except the first, and slice(another) for
   * each slice; another: the next slice is in the same step.  The next slice, also of the next
   * step, is looked up in advance: at the beginning of a step only x is missing. */
  template <class BETWEEN, class SLICE>
  __device__ void run(BETWEEN between, SLICE slice) {
    ahead_.seek();
    if (!ahead_.done()) next_ = look(ahead_.number());
    for (;;) {
      while (used_.step() < ahead_.step()) {
        used_.next_step();
        if (!used_.done()) between(used_);
      }
      if (ahead_.done()) return;
      used_ = ahead_;
      now_ = next_;
      ahead_.next();
      if (!ahead_.done()) next_ = look(ahead_.number());
      slice(ahead_.step() == used_.step());
    }
  }

  __device__ void relax_slice(bool another) {
    const sum known = r_[int64_t(now_.position) * B + l_.i];
    const bool sends = !exchange_.alone() && used_.at_boundary();
    exchange::range receivers = {};
    if (sends && there()) receivers = exchange_.receivers_of(now_.position);
    const sum y = known - off_diagonal(another);
    if (l_.i == 0) prefetch(r_ + int64_t(next_.position) * B);
    sum d[B];
    const int pivot = read_tail(d);
    const sum z = solve(d, pivot, y);
    release();
    X *x = x_ + int64_t(now_.position) * a_.pitch + l_.i;
    if (there()) trs::relax(x, z, a_.omega);
    if (!sends) return;
    exchange_.await_accepted();
    if (there()) exchange_.send(receivers, rhs_, a_.pitch, l_.i, *x);
    exchange_.count_sent(used_);
  }

  /* Like relax_slice with omega = 1 in a first sweep, with b and x of the caller.  Places in b are
   * looked up a slice ahead, while D is solved. */
  __device__ void solve_slice(bool another, const trs_relax_vectors &v) {
    const sum known = load_vector(v, b_at_ < 0 ? place_of(v.b_perm, now_.row) : b_at_);
    const int64_t to = place_of(v.x_perm, now_.row);
    const sum y = known - off_diagonal(another);
    b_at_ = place_of(v.b_perm, next_.row);
    sum d[B];
    const int pivot = read_tail(d);
    const sum z = pivot & INVERTED ? multiply_inverse(d, y) : solve(d, pivot, y);
    release();
    if (!there()) return;
    const X x = X(z);
    const int64_t at = int64_t(now_.position) * B + l_.i;
    publish(x_ + at, encode(x));
    store_once(next_x_ + at, pending_value<X>());
    store_vector(v, to, x);
  }

  /* Adds the squares of the rows of r - A x. */
  __device__ void square_slice(bool another, uint64_t *words) {
    const sum known = r_[int64_t(now_.position) * B + l_.i];
    const sum x = sum(x_[int64_t(now_.position) * a_.pitch + l_.i]);
    const sum y = off_diagonal(another);
    sum d[B];
    const int pivot = read_tail(d);
    const sum z = multiply_diagonal(d, x);
    release();
    const double b = double(shuffle(known, l_.first + pivot));
    const double e = b - double(shuffle(y, l_.first + pivot)) - double(z);
    const double square = add_squares(l_, e);
    if (there() && l_.i == 0) add_exactly(words, square);
  }

 private:
  struct slice {
    int32_t width, position, count, row; /* count: of the lane's row, -1 without one */
  };
  struct place { /* address of a stage, and the parity that its barrier awaits */
    unsigned at, parity;
  };
  const trs_relax_args &a_;
  const trs_relax_slices &s_;
  exchange exchange_;
  int rhs_, lane_;
  lanes<B> l_;
  unsigned first_, end_; /* stages of this warp */
  uint64_t once_;
  X *x_, *next_x_ = nullptr; /* next_x_: of the next solve */
  const X *own_x_;
  const sum *r_;
  /* The next requests: left_ full stages of a slice starting at from_, then one of last_ bytes, and
   * the tail.  After this slice comes asked_, whose descriptor is to_ask_. */
  ORDER asked_;
  trs_relax_slice to_ask_ = {};
  const char *from_ = nullptr;
  int left_ = 0, last_ = 0;
  /* The current slice now_ and its successor next_. */
  ORDER ahead_, used_;
  slice now_ = {}, next_ = {};
  place at_;
  int64_t b_at_ = -1;   /* solve_slice: the coming slice's place in b; -1: not looked up */
  bool primed_ = false; /* x_now_ is that of the coming slice's first chunk */
  X x_now_[CHUNK];
  uint32_t power_now_[T::scaled ? (CHUNK + 3) / 4 : 1];

  __device__ slice look(int32_t number) const {
    const trs_relax_slice_row row = s_.row[int64_t(number) * form::ROWS + l_.slot];
    return {s_.slice[number].width, row.position, row.count, row.row};
  }

  __device__ bool there() const { return lane_ < LANES && now_.count >= 0; }

  /* ---- The caller's vectors ---- */

  __device__ int64_t place_of(const int32_t *perm, int32_t row) const {
    const int64_t at = int64_t(row) * B + l_.i;
    return perm ? load_once(perm + at) : at;
  }
  __device__ static sum load_vector(const trs_relax_vectors &v, int64_t at) {
    at *= v.b_row;
    return v.wide ? sum(load_once(static_cast<const double *>(v.b) + at))
                  : sum(load_once(static_cast<const float *>(v.b) + at));
  }
  __device__ static void store_vector(const trs_relax_vectors &v, int64_t at, X x) {
    at *= v.x_row;
    if (v.wide)
      static_cast<double *>(v.x)[at] = double(x);
    else
      static_cast<float *>(v.x)[at] = float(x);
  }

  /* ---- The ring ---- */

  __device__ place next(place k) const {
    k.at += form::STAGE;
    return k.at == end_ ? place{first_, k.parity ^ 1} : k;
  }
  __device__ void look_to_ask() {
    if (!asked_.done()) to_ask_ = s_.slice[asked_.number()];
  }
  __device__ void open() {
    if (asked_.done()) return;
    from_ = static_cast<const char *>(s_.val) + to_ask_.vector * 16;
    left_ = form::chunks(to_ask_.width) + 1;
    last_ = form::last_chunk(to_ask_.width);
    asked_.next();
    look_to_ask();
  }
  __device__ void ask(unsigned stage) {
    if (left_ == 0) return;
    const int bytes = left_ > 2 ? form::FULL : left_ == 2 ? last_ : form::TAIL;
    copy_stage(stage + 16, from_, bytes, stage, lane_, once_);
    from_ += bytes;
    if (--left_ == 0) open();
  }
  __device__ unsigned await(const place &k) const {
    await_barrier(k.at, k.parity);
    return k.at + 16;
  }
  /* All lanes have read the present stage. */
  __device__ void release() {
    __syncwarp();
    ask(at_.at);
    at_ = next(at_);
  }

  /* ---- O x ---- */

  __device__ void load_x(unsigned stage, X (&x)[CHUNK], uint32_t *power) const {
    uint32_t at[CHUNK < 4 ? CHUNK : (CHUNK + 3) / 4 * 4];
    const unsigned idx = stage + unsigned(l_.slot * CHUNK * 4);
    if constexpr (CHUNK < 4) {
#pragma unroll
      for (int u = 0; u < CHUNK; u++) at[u] = shared_word(idx + unsigned(u * 4));
    } else {
#pragma unroll
      for (int u = 0; u < CHUNK; u += 4) {
        const uint4 four = shared_vector(idx + unsigned(u * 4));
        at[u] = four.x;
        at[u + 1] = four.y;
        at[u + 2] = four.z;
        at[u + 3] = four.w;
      }
    }
#pragma unroll
    for (int u = 0; u < CHUNK; u++) x[u] = own_x_[at[u]];
    if constexpr (T::scaled) {
#pragma unroll
      for (int k = 0; k < CHUNK / 4; k++)
        power[k] = shared_word(stage + unsigned(form::POWERS + l_.slot * CHUNK + k * 4));
    }
  }

  /* Waits for x_now_.  The first load of an x may come from a first-level cache, later ones do
   * not. */
  __device__ void settle() {
    bool missing = false;
#pragma unroll
    for (int u = 0; u < CHUNK; u++) missing |= is_pending(x_now_[u]);
    if (!any_lane(missing)) return;
    const unsigned idx = at_.at + 16 + unsigned(l_.slot * CHUNK * 4);
    wait w(s_.fault);
    do {
      missing = false;
#pragma unroll
      for (int u = 0; u < CHUNK; u++) {
        if (is_pending(x_now_[u]))
          x_now_[u] = load_relaxed(own_x_ + shared_word(idx + unsigned(u * 4)));
        missing |= is_pending(x_now_[u]);
      }
    } while (any_lane(missing) && w.all_go_on(now_.row));
  }

  /* part += the present chunk's blocks times x_now_; left: number of remaining blocks. */
  template <bool ALL>
  __device__ void multiply(int left, product (&part)[B]) const {
    uint32_t word[4 * VECTORS];
    /* Lanes without a column read another lane's column, because memory past the last stage must
     * not be read. */
    const unsigned vector = at_.at + 16 + unsigned(form::HEAD + (l_.first + l_.i) * 16);
#pragma unroll
    for (int q = 0; q < VECTORS; q++) {
      const uint4 v = shared_vector(vector + unsigned(q * LANES * 16));
      word[4 * q] = v.x;
      word[4 * q + 1] = v.y;
      word[4 * q + 2] = v.z;
      word[4 * q + 3] = v.w;
    }
#pragma unroll
    for (int u = 0; u < CHUNK; u++) {
      if (!ALL && u >= left) break;
      product x = product(x_now_[u]);
      if constexpr (T::scaled) x *= two_to(int8_t(power_now_[u / 4] >> u % 4 * 8));
#pragma unroll
      for (int i = 0; i < B; i++) part[i] = fma(element_of<STORE>(word, u * B + i), x, part[i]);
    }
  }

  /* The sum over a row's lanes, through the present stage; lane i gets component i. */
  __device__ sum add_up(const product (&part)[B]) const {
    constexpr unsigned SIZE = sizeof(sum);
    const unsigned room = at_.at + 16 + unsigned(form::HEAD);
    __syncwarp();
    if (lane_ < LANES) {
#pragma unroll
      for (int i = 0; i < B; i++)
        shared_store(room + unsigned(i * LANES + lane_) * SIZE, sum(part[i]));
    }
    __syncwarp();
    sum y = 0, other;
#pragma unroll
    for (int j = 0; j < B; j++) {
      shared_value(room + unsigned(l_.i * LANES + l_.first + j) * SIZE, other);
      y += other;
    }
    show_stores();
    return y;
  }

  /* Loads x of the next chunk while the present chunk is multiplied. */
  __device__ sum off_diagonal(bool another) {
    X x_next[CHUNK] = {};
    uint32_t power_next[T::scaled ? (CHUNK + 3) / 4 : 1] = {};
    product part[B] = {};
    sum total = 0;
    if (now_.width == 0) return 0;
    if (!primed_) load_x(await(at_), x_now_, power_now_);
    for (int left = now_.width, to_sum = BLOCKS_A_SUM;; left -= CHUNK) {
      const bool last = left <= CHUNK;
      if (last) primed_ = another && next_.width > 0; /* not before: next_ is in flight */
      if (!last || primed_) {
        place k = next(at_);
        if (last) k = next(k);
        load_x(await(k), x_next, power_next);
      }
      if constexpr (WAITS) settle();
      if (left >= CHUNK)
        multiply<true>(left, part);
      else
        multiply<false>(left, part);
#pragma unroll
      for (int u = 0; u < CHUNK; u++) x_now_[u] = x_next[u];
      if constexpr (T::scaled) {
#pragma unroll
        for (int k = 0; k < (CHUNK + 3) / 4; k++) power_now_[k] = power_next[k];
      }
      if (last) break;
      if ((to_sum -= CHUNK) == 0) {
        total += add_up(part);
        to_sum = BLOCKS_A_SUM;
#pragma unroll
        for (int i = 0; i < B; i++) part[i] = 0;
      }
      release();
    }
    total += add_up(part);
    release();
    return total;
  }

  /* ---- D ---- */

  /* The lane's row of D, by columns, and its pivot. */
  __device__ int read_tail(sum (&d)[B]) const {
    const unsigned tail = await(at_), lane = unsigned(l_.first + l_.i);
#pragma unroll
    for (int j = 0; j < B; j++)
      shared_value(tail + (unsigned(j * LANES) + lane) * unsigned(sizeof(sum)), d[j]);
    return int(shared_word(tail + form::PIVOTS + lane / 4 * 4) >> lane % 4 * 8 & 0xff);
  }

  /* D^-1 y, from the factors of D. */
  __device__ sum solve(const sum (&d)[B], int pivot, sum y) const {
    sum z = shuffle(y, l_.first + pivot);
#pragma unroll
    for (int j = 0; j < B - 1; j++) {
      sum zj = shuffle(z, l_.first + j);
      if (l_.i > j) z = fma(-d[j], zj, z);
    }
#pragma unroll
    for (int j = B - 1; j >= 0; j--) {
      const sum own = d[j]; /* a branch on i == j would load d[i] from memory */
      z *= l_.i == j ? own : sum(1);
      sum zj = shuffle(z, l_.first + j);
      if (l_.i < j) z = fma(-d[j], zj, z);
    }
    return z;
  }

  /* D^-1 y, from the inverse of D. */
  __device__ sum multiply_inverse(const sum (&d)[B], sum y) const {
    sum z = 0;
#pragma unroll
    for (int j = 0; j < B; j++) z = fma(d[j], shuffle(y, l_.first + j), z);
    return z;
  }

  /* Component pivot[i] of D x in lane i: U's diagonal is stored inverted. */
  __device__ sum multiply_diagonal(const sum (&d)[B], sum x) const {
    sum own = d[0];
#pragma unroll
    for (int j = 1; j < B; j++) {
      const sum other = d[j];
      own = l_.i == j ? other : own;
    }
    sum u = x / own;
#pragma unroll
    for (int j = 1; j < B; j++) {
      sum xj = shuffle(x, l_.first + j);
      if (l_.i < j) u = fma(d[j], xj, u);
    }
    sum total = u;
#pragma unroll
    for (int j = 0; j < B - 1; j++) {
      sum uj = shuffle(u, l_.first + j);
      if (l_.i > j) total = fma(d[j], uj, total);
    }
    return total;
  }
};

}  // namespace slices
}  // namespace trs

#endif
