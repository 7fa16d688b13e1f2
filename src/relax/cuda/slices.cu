/* slices.cu - W21's Algorithm 1 by a kernel of our own, for blocks of 1 to 8.
 *
 * A slice is as many rows of a colour as fit the lanes of a warp, six of 5 x 5, with about as many
 * blocks each.  All that it has lies in one run of memory: turns of some blocks of each row, and a
 * tail with the factors of D.  A turn is its block columns and then vectors of 16 bytes, lane
 * beside lane.  A lane has one column of each block: it multiplies it by its own element of x and
 * adds to all components of the row, and only at a slice's end do sums go from lane to lane.
 *
 * A launch makes as many sweeps as are wanted, one block of threads a multiprocessor, all there at
 * once.  A warp has a ring of stages in shared memory, a turn or a tail each, which bulk copies
 * fill in the order of its slices.  That order does not depend on x, so copies run ahead over the
 * ends of slices and colours, also while the blocks of threads wait for each other between two
 * colours.
 *
 * On several GPUs each has one launch too.  A colour's boundary rows come first, and go at once to
 * the members that read them, which are told when all have gone.  A member begins a turn when its
 * own rows of the turn before are done and the others' boundary rows are here; only what sends to
 * another member waits until that one has begun the turn too.  The order of memory is that of
 * push.cu. */
#include "relax/cuda/push.cuh"
#include "relax/cuda/row.cuh"

namespace {

using namespace trs;

constexpr int MOST_WARPS = 20, LEAST_STAGES = 3, MOST_STAGES = 12;
/* Blocks whose products are added in the products' type. */
constexpr int BLOCKS_A_SUM = 64;

constexpr int round16(int bytes) { return (bytes + 15) / 16 * 16; }

/* A slice of a store's blocks of B x B in memory: turns of TURN blocks of each row, each a head of
 * places in x (and powers) and vectors of 16 bytes, lane beside lane, of which the last turn has
 * only those that hold something; behind them a tail of D and its pivots. */
template <int STORE, int B>
struct shape {
  using off = typename stored<STORE>::off;
  using sum = typename stored<STORE>::sum;
  static constexpr bool SCALED = stored<STORE>::scaled;
  static constexpr int ROWS = TRS_RELAX_SLICE_ROWS(B), LANES = ROWS * B;
  static constexpr int EACH = 16 / int(sizeof(off));
  static constexpr int TURN = TRS_RELAX_SLICE_TURN(B, int(sizeof(off)));
  static constexpr int VECTORS = TURN * B / EACH;
  static constexpr int POWERS = ROWS * TURN * 4; /* where they begin */
  static constexpr int HEAD = round16(POWERS + (SCALED ? ROWS * TURN : 0));
  static constexpr int PIVOTS = round16(B * LANES * int(sizeof(sum)));
  static constexpr int TAIL = PIVOTS + round16(LANES);
  static constexpr int FULL = HEAD + VECTORS * LANES * 16;
  static constexpr int STAGE = (FULL > TAIL ? FULL : TAIL) + 16; /* its barrier comes first */
  static_assert(TURN * B % EACH == 0, "turns are of whole vectors");
  static_assert(VECTORS * LANES * 16 >= B * LANES * int(sizeof(sum)), "room to add up");

  __host__ __device__ static int turns(int width) { return (width + TURN - 1) / TURN; }
  __host__ __device__ static int vectors(int width) { return (width * B + EACH - 1) / EACH; }
  __host__ __device__ static int64_t tail_at(int width) {
    return int64_t(turns(width)) * HEAD + int64_t(vectors(width)) * LANES * 16;
  }
  __device__ static int last_turn(int width) {
    return HEAD + (vectors(width) - (turns(width) - 1) * VECTORS) * LANES * 16;
  }
};

/* ---- Shared memory, by its 32-bit addresses: pointers would be made anew at every use. ---- */

__device__ inline uint4 shared_vector(unsigned at) {
  uint4 v;
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "r"(at)
               : "memory");
  return v;
}
__device__ inline unsigned shared_word(unsigned at) {
  unsigned v;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(at) : "memory");
  return v;
}
__device__ inline void shared_value(unsigned at, double &v) {
  asm volatile("ld.shared.f64 %0, [%1];" : "=d"(v) : "r"(at) : "memory");
}
__device__ inline void shared_value(unsigned at, float &v) {
  asm volatile("ld.shared.f32 %0, [%1];" : "=f"(v) : "r"(at) : "memory");
}
__device__ inline void shared_store(unsigned at, double v) {
  asm volatile("st.shared.f64 [%0], %1;" ::"r"(at), "d"(v) : "memory");
}
__device__ inline void shared_store(unsigned at, float v) {
  asm volatile("st.shared.f32 [%0], %1;" ::"r"(at), "f"(v) : "memory");
}

/* ---- Copies of whole stages, each with a barrier: bulk copies from sm_90 on, by lane 0; before,
 * asynchronous copies by all lanes. ---- */

__device__ inline void init_barrier(unsigned barrier) {
#if __CUDA_ARCH__ >= 900
  asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(barrier) : "memory");
#else
  asm volatile("mbarrier.init.shared.b64 [%0], 32;" ::"r"(barrier) : "memory");
#endif
}
/* Before the first copy, by who initialised. */
__device__ inline void show_barriers() {
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}
/* Stores into a stage come before the copy that is next into it. */
__device__ inline void show_stores() {
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}
__device__ inline void await_barrier(unsigned barrier, unsigned parity) {
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "{\n.reg .pred p;\nagain:\nmbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n@!p bra "
      "again;\n}" ::"r"(barrier),
      "r"(parity)
      : "memory");
#else
  asm volatile(
      "{\n.reg .pred p;\nagain:\nmbarrier.test_wait.parity.shared.b64 p, [%0], %1;\n@!p bra "
      "again;\n}" ::"r"(barrier),
      "r"(parity)
      : "memory");
#endif
}
/* A multiple of 16 bytes that nobody reads twice a sweep. */
__device__ inline void copy_stage(unsigned to, const char *from, int bytes, unsigned barrier,
                                  int lane, uint64_t policy) {
#if __CUDA_ARCH__ >= 900
  if (lane != 0) return;
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint "
      "[%0], [%1], %2, [%3], %4;" ::"r"(to),
      "l"(from), "r"(bytes), "r"(barrier), "l"(policy)
      : "memory");
#else
  for (int at = lane * 16; at < bytes; at += int(WARP) * 16)
    asm volatile(
        "cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;" ::"r"(to + unsigned(at)),
        "l"(from + at), "l"(policy)
        : "memory");
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(barrier) : "memory");
#endif
}
__device__ inline void ask_for(const void *p) { asm volatile("prefetch.global.L2 [%0];" ::"l"(p)); }

/* Element e of words that hold elements of a store one behind the other. */
template <int STORE>
__device__ inline typename stored<STORE>::product element_of(const uint32_t *word, int e) {
  if constexpr (sizeof(typename stored<STORE>::off) == 8)
    return __hiloint2double(int(word[2 * e + 1]), int(word[2 * e]));
  else if constexpr (sizeof(typename stored<STORE>::off) == 4)
    return __uint_as_float(word[e]);
  else
    return decode<STORE>(uint16_t(e % 2 ? word[e / 2] >> 16 : word[e / 2] & 0xffff));
}

/* ---- The order of slices ---- */

/* Turns of colours, of which each has boundary rows (part 0) and others (part 1). */
struct trip {
  int colour, step, turns; /* the first colour; and to the next one */
  bool turns_round;        /* at the last colour, else from the first on again */
  int first_part, end_part;
  bool goes_on; /* from another trip's last turn, for a meeting */
};

/* A warp's slices: of those of its block of threads every so-manieth. */
class course {
 public:
  __device__ course(const trs_relax_slices &s, const trip &t)
      : s_(&s), t_(&t), part_(t.first_part), colour_(t.colour), step_(t.step) {
    enter();
  }
  __device__ bool done() const { return turn_ >= t_->turns; }
  __device__ bool at_boundary() const { return part_ == 0; }
  __device__ int turn() const { return turn_; }
  __device__ int32_t number() const { return number_; }
  /* To a turn's beginning, where it has no slice yet. */
  __device__ void next_turn() {
    part_ = t_->first_part;
    turn_++;
    colour_ += step_;
    if (colour_ < s_->ncolours && colour_ >= 0) return;
    if (t_->turns_round) {
      colour_ -= step_;
      step_ = -step_;
    } else {
      colour_ = t_->colour;
    }
  }
  /* To the first slice from here on, through parts without any; and to the one behind it. */
  __device__ void seek() {
    while (!done() && number_ >= end_) {
      if (++part_ == t_->end_part) next_turn();
      enter();
    }
  }
  __device__ void next() {
    number_ += int32_t(blockDim.x / WARP);
    seek();
  }
  /* Slices that all blocks of threads have of this turn's boundary rows. */
  __device__ int boundary_slices() const {
    return s_->starts[2 * colour_ + 1] - s_->starts[2 * colour_];
  }

 private:
  const trs_relax_slices *s_;
  const trip *t_;
  int turn_ = 0, part_, colour_, step_;
  int32_t number_ = 0, end_ = 0;

  /* Of the part's slices each block of threads has as many, the first ones one more. */
  __device__ void enter() {
    if (done()) return;
    const int32_t *start = s_->starts + 2 * colour_ + part_;
    const int32_t begin = start[0], count = start[1] - begin;
    const int32_t each = count / s_->blocks, more = count - each * s_->blocks;
    const int32_t block = int32_t(blockIdx.x);
    const int32_t first = begin + each * block + (block < more ? block : more);
    number_ = first + int32_t(threadIdx.x / WARP);
    end_ = first + each + (block < more ? 1 : 0);
  }
};

/* ---- A warp's slices ---- */

template <int STORE, int B>
class stream {
  using T = stored<STORE>;
  using X = typename T::x;
  using sum = typename T::sum;
  using product = typename T::product;
  using form = shape<STORE, B>;
  static constexpr int TURN = form::TURN, VECTORS = form::VECTORS, LANES = form::LANES;

 public:
  __device__ stream(const trs_relax_args &a, const trs_relax_slices &s,
                    const trs_relax_meeting &meeting, const trip &t, int rhs, int stages,
                    unsigned shared)
      : a_(a),
        s_(s),
        meeting_(meeting),
        rhs_(rhs),
        lane_(int(threadIdx.x % WARP)),
        l_(B, lane_ < LANES ? lane_ : 0),
        asked_(s, t),
        ahead_(asked_),
        used_(asked_) {
    first_ = shared + unsigned(int(threadIdx.x / WARP) * stages * form::STAGE);
    end_ = first_ + unsigned(stages * form::STAGE);
    at_ = {first_, 0};
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(once_));
    x_ = static_cast<X *>(a.x) + rhs * a.x_stride;
    r_ = static_cast<const sum *>(a.r) + rhs * a.r_stride;
    own_x_ = x_ + l_.i;
    /* Kept in registers, not made anew at every use. */
    asm volatile("" : "+r"(first_), "+r"(end_), "+l"(own_x_));
  }

  /* Asks for the first stages. */
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

  /* between(turn): when a turn begins, but the first; slice(another): for each, with another of the
     same turn behind it or not.  Where the next one is, also of the next turn, has been looked up
     before one is used: when a turn begins only x has to come. */
  template <class BETWEEN, class SLICE>
  __device__ void run(BETWEEN between, SLICE slice) {
    ahead_.seek();
    if (!ahead_.done()) next_ = look(ahead_.number());
    for (;;) {
      while (used_.turn() < ahead_.turn()) {
        used_.next_turn();
        if (!used_.done()) between(used_);
      }
      if (ahead_.done()) return;
      used_ = ahead_;
      now_ = next_;
      ahead_.next();
      if (!ahead_.done()) next_ = look(ahead_.number());
      slice(ahead_.turn() == used_.turn());
    }
  }

  __device__ void relax_slice(bool another) {
    const sum known = r_[int64_t(now_.position) * B + l_.i];
    const sum y = known - off_diagonal(another);
    if (l_.i == 0) ask_for(r_ + int64_t(next_.position) * B);
    sum d[B];
    const int pivot = read_tail(d);
    const sum z = solve(d, pivot, y);
    release();
    const bool sends = meeting_.members > 1 && used_.at_boundary();
    if (sends) await_receivers();
    if (there()) {
      X *x = x_ + int64_t(now_.position) * a_.pitch + l_.i;
      trs::relax(x, z, a_.omega);
      if (sends) send(*x);
    }
    if (sends) count_sent();
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
    const double b = double(__shfl_sync(EVERY_LANE, known, l_.first + pivot));
    const double e = b - double(__shfl_sync(EVERY_LANE, y, l_.first + pivot)) - double(z);
    const double square = add_squares(l_, e);
    if (there() && l_.i == 0) add_exactly(words, square);
  }

 private:
  struct slice {
    int32_t width, position, count; /* count: of the lane's row, -1 without one */
  };
  struct place { /* of a stage, and the parity that its barrier awaits */
    unsigned at, parity;
  };
  const trs_relax_args &a_;
  const trs_relax_slices &s_;
  const trs_relax_meeting &meeting_;
  int rhs_, lane_;
  lanes<B> l_;
  unsigned first_, end_; /* this warp's stages */
  uint64_t once_;
  X *x_;
  const X *own_x_;
  const sum *r_;
  /* What is asked for next: from from_ on left_ stages of a slice, full turns, then one of last_
     bytes, and the tail.  Behind it comes asked_, which is at to_ask_. */
  course asked_;
  trs_relax_slice to_ask_ = {};
  const char *from_ = nullptr;
  int left_ = 0, last_ = 0;
  /* What is used, now_, and what comes behind it, next_. */
  course ahead_, used_;
  slice now_ = {}, next_ = {};
  place at_;
  int received_ = -1;   /* the turn that receivers are known to have begun */
  bool primed_ = false; /* x_now_ is that of the coming slice's first turn */
  X x_now_[TURN];
  uint32_t power_now_[T::scaled ? (TURN + 3) / 4 : 1];

  __device__ slice look(int32_t number) const {
    const trs_relax_slice_row row = s_.row[int64_t(number) * form::ROWS + l_.slot];
    return {s_.slice[number].width, row.position, row.count};
  }

  __device__ bool there() const { return lane_ < LANES && now_.count >= 0; }

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
    left_ = form::turns(to_ask_.width) + 1;
    last_ = form::last_turn(to_ask_.width);
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
  /* The present stage has been read by all lanes. */
  __device__ void release() {
    __syncwarp();
    ask(at_.at);
    at_ = next(at_);
  }

  /* ---- O x ---- */

  __device__ void load_x(unsigned stage, X (&x)[TURN], uint32_t *power) const {
    uint32_t at[TURN < 4 ? TURN : (TURN + 3) / 4 * 4];
    const unsigned idx = stage + unsigned(l_.slot * TURN * 4);
    if constexpr (TURN < 4) {
#pragma unroll
      for (int u = 0; u < TURN; u++) at[u] = shared_word(idx + unsigned(u * 4));
    } else {
#pragma unroll
      for (int u = 0; u < TURN; u += 4) {
        const uint4 four = shared_vector(idx + unsigned(u * 4));
        at[u] = four.x;
        at[u + 1] = four.y;
        at[u + 2] = four.z;
        at[u + 3] = four.w;
      }
    }
#pragma unroll
    for (int u = 0; u < TURN; u++) x[u] = own_x_[at[u]];
    if constexpr (T::scaled) {
#pragma unroll
      for (int k = 0; k < TURN / 4; k++)
        power[k] = shared_word(stage + unsigned(form::POWERS + l_.slot * TURN + k * 4));
    }
  }

  /* part += the present turn's blocks times x_now_; left: blocks that there are. */
  template <bool ALL>
  __device__ void multiply(int left, product (&part)[B]) const {
    uint32_t word[4 * VECTORS];
    /* Lanes without a column read another's: past the last stage nothing may be read. */
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
    for (int u = 0; u < TURN; u++) {
      if (!ALL && u >= left) break;
      product x = product(x_now_[u]);
      if constexpr (T::scaled) x *= two_to(int8_t(power_now_[u / 4] >> u % 4 * 8));
#pragma unroll
      for (int i = 0; i < B; i++) part[i] = fma(element_of<STORE>(word, u * B + i), x, part[i]);
    }
  }

  /* The sum over a row's lanes, of which lane i gets component i; by way of the present stage. */
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

  /* x of a turn is on its way while the turn before it is multiplied. */
  __device__ sum off_diagonal(bool another) {
    X x_next[TURN] = {};
    uint32_t power_next[T::scaled ? (TURN + 3) / 4 : 1] = {};
    product part[B] = {};
    sum total = 0;
    if (now_.width == 0) return 0;
    if (!primed_) load_x(await(at_), x_now_, power_now_);
    for (int left = now_.width, to_sum = BLOCKS_A_SUM;; left -= TURN) {
      const bool last = left <= TURN;
      if (last) primed_ = another && next_.width > 0; /* not before: next_ is on its way */
      if (!last || primed_) {
        place k = next(at_);
        if (last) k = next(k);
        load_x(await(k), x_next, power_next);
      }
      if (left >= TURN)
        multiply<true>(left, part);
      else
        multiply<false>(left, part);
#pragma unroll
      for (int u = 0; u < TURN; u++) x_now_[u] = x_next[u];
      if constexpr (T::scaled) {
#pragma unroll
        for (int k = 0; k < (TURN + 3) / 4; k++) power_now_[k] = power_next[k];
      }
      if (last) break;
      if ((to_sum -= TURN) == 0) {
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

  /* The lane's row of each column, and its pivot. */
  __device__ int read_tail(sum (&d)[B]) const {
    const unsigned tail = await(at_), lane = unsigned(l_.first + l_.i);
#pragma unroll
    for (int j = 0; j < B; j++)
      shared_value(tail + (unsigned(j * LANES) + lane) * unsigned(sizeof(sum)), d[j]);
    return int(shared_word(tail + form::PIVOTS + lane / 4 * 4) >> lane % 4 * 8 & 0xff);
  }

  /* D^-1 y, from the factors of D. */
  __device__ sum solve(const sum (&d)[B], int pivot, sum y) const {
    sum z = __shfl_sync(EVERY_LANE, y, l_.first + pivot);
#pragma unroll
    for (int j = 0; j < B - 1; j++) {
      sum zj = __shfl_sync(EVERY_LANE, z, l_.first + j);
      if (l_.i > j) z = fma(-d[j], zj, z);
    }
#pragma unroll
    for (int j = B - 1; j >= 0; j--) {
      const sum own = d[j]; /* by a branch on i == j it would be d[i], from memory */
      z *= l_.i == j ? own : sum(1);
      sum zj = __shfl_sync(EVERY_LANE, z, l_.first + j);
      if (l_.i < j) z = fma(-d[j], zj, z);
    }
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
      sum xj = __shfl_sync(EVERY_LANE, x, l_.first + j);
      if (l_.i < j) u = fma(d[j], xj, u);
    }
    sum total = u;
#pragma unroll
    for (int j = 0; j < B - 1; j++) {
      sum uj = __shfl_sync(EVERY_LANE, u, l_.first + j);
      if (l_.i > j) total = fma(d[j], uj, total);
    }
    return total;
  }

  /* ---- Other members ---- */

  /* Until they have begun this turn and do not read any more what is to be overwritten. */
  __device__ void await_receivers() {
    const trs_relax_meeting &m = meeting_;
    const uint64_t turn = m.turn + 1 + uint64_t(used_.turn());
    if (received_ == used_.turn()) return;
    received_ = used_.turn();
    if (lane_ < m.members && (m.receivers >> lane_ & 1))
      wait_until(m.signs, m.me, m.members, &m.signs[m.me]->begun[lane_], turn);
    fence_system();
    __syncwarp();
  }
  __device__ void send(X x) const {
    const trs_relax_meeting &m = meeting_;
    for (int32_t k = m.ptr[now_.position]; k < m.ptr[now_.position + 1]; k++) {
      const int to = m.member[k];
      static_cast<X *>(m.x[to])[rhs_ * m.stride[to] + int64_t(m.to[k]) * a_.pitch + l_.i] = x;
    }
  }
  /* A boundary slice has gone; who counts the last one tells. */
  __device__ void count_sent() const {
    const trs_relax_meeting &m = meeting_;
    __syncwarp();
    if (lane_ != 0) return;
    fence_system();
    trs_relax_signs *mine = m.signs[m.me];
    if (int(atomicAdd(&mine->arrived, 1u)) + 1 < used_.boundary_slices()) return;
    mine->arrived = 0;
    fence_system();
    for (int k = 0; k < m.members; k++)
      if (m.receivers >> k & 1)
        store_relaxed<true>(&m.signs[k]->pushed[m.me], m.turn + 1 + uint64_t(used_.turn()));
  }
};

/* ---- Between turns ---- */

class crossing {
 public:
  __device__ crossing(const trs_relax_slices &s, const trs_relax_meeting &m)
      : arrived_(s.arrived), fault_(s.fault), m_(m) {}

  /* Before the first turn.  goes_on: the launch before made the turn before, and what the others
     sent in it is here. */
  __device__ void enter(const course &c, bool goes_on) {
    if (m_.members <= 1) return;
    if (threadIdx.x < WARP) meet(c, !goes_on);
    __syncthreads();
  }
  /* All blocks of threads are here; what they and other members made of x is visible.  The wait has
     a limit like any other, though only a GPU that stands still passes it: all blocks run. */
  __device__ void pass(const course &c) {
    target_ += gridDim.x;
    __syncthreads();
    if (threadIdx.x == 0) {
      asm volatile("fence.acq_rel.gpu;" ::: "memory");
      atomicAdd(arrived_, 1u);
      wait w(fault_);
      while (load_relaxed(arrived_) < target_ && w.goes_on(c.turn())) continue;
      asm volatile("fence.acq_rel.gpu;" ::: "memory");
    }
    if (m_.members > 1 && threadIdx.x < WARP) meet(c, false);
    __syncthreads();
  }
  /* For the next launch. */
  __device__ void leave() {
    __syncthreads();
    if (threadIdx.x == 0 && target_ > 0 && atomicAdd(arrived_, 1u) == target_ + gridDim.x - 1)
      atomicExch(arrived_, 0u);
  }

 private:
  unsigned *arrived_, target_ = 0;
  trs_fault *fault_;
  const trs_relax_meeting &m_;

  /* A lane a member. */
  __device__ void meet(const course &c, bool first) {
    const int k = int(threadIdx.x);
    const uint64_t turn = m_.turn + 1 + uint64_t(c.turn());
    const bool sends = k < m_.members && (m_.senders >> k & 1);
    const bool gets = k < m_.members && (m_.receivers >> k & 1);
    const trs_relax_signs *mine = m_.signs[m_.me];
    __syncwarp();
    fence_system();
    if (blockIdx.x == 0 && sends) store_relaxed<true>(&m_.signs[k]->begun[m_.me], turn);
    if (blockIdx.x == 0 && gets && c.boundary_slices() == 0)
      store_relaxed<true>(&m_.signs[k]->pushed[m_.me], turn);
    if (sends && !first) wait_until(m_.signs, m_.me, m_.members, &mine->pushed[k], turn - 1);
    fence_system();
    __syncwarp();
  }
};

template <int STORE, int B>
__global__ void __launch_bounds__(MOST_WARPS *int(WARP), 1)
    relax_slices(const __grid_constant__ trs_relax_args a,
                 const __grid_constant__ trs_relax_slices s,
                 const __grid_constant__ trs_relax_meeting m, const __grid_constant__ trip t,
                 int rhs, int stages) {
  extern __shared__ uint4 shared[];
  const auto at = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  stream<STORE, B> own(a, s, m, t, rhs, stages, at);
  crossing between(s, m);
  own.begin();
  between.enter(course(s, t), t.goes_on);
  own.run([&](const course &c) { between.pass(c); }, [&](bool more) { own.relax_slice(more); });
  between.leave();
}

template <int STORE, int B>
__global__ void __launch_bounds__(MOST_WARPS *int(WARP), 1)
    square_slices(const __grid_constant__ trs_relax_args a,
                  const __grid_constant__ trs_relax_slices s,
                  const __grid_constant__ trs_relax_meeting m, const __grid_constant__ trip t,
                  int rhs, int stages) {
  extern __shared__ uint4 shared[];
  __shared__ uint64_t words[TRS_EXACT_WORDS];
  const auto at = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  for (unsigned k = threadIdx.x; k < TRS_EXACT_WORDS; k += blockDim.x) words[k] = 0;
  __syncthreads();
  stream<STORE, B> own(a, s, m, t, rhs, stages, at);
  own.begin();
  own.run([](const course &) {}, [&](bool more) { own.square_slice(more, words); });
  join_exactly(a.words + rhs * TRS_EXACT_WORDS, words);
}

/* ---- Packing, a warp a slice, and the way back. ---- */

constexpr int PACK_WARPS = 4;

template <int STORE, int B>
__global__ void __launch_bounds__(PACK_WARPS *int(WARP))
    pack_slices(const __grid_constant__ trs_relax_args a,
                const __grid_constant__ trs_relax_slices s, bool back) {
  using form = shape<STORE, B>;
  using off = typename form::off;
  using sum = typename form::sum;
  const int32_t number = int32_t(blockIdx.x) * PACK_WARPS + int32_t(threadIdx.x / WARP);
  const int lane = int(threadIdx.x % WARP);
  if (number >= s.nslices || lane >= form::LANES) return;
  const trs_relax_slice h = s.slice[number];
  const int slot = lane / B, i = lane % B;
  const trs_relax_slice_row row = s.row[number * form::ROWS + slot];
  const int count = row.count > 0 ? row.count : 0;
  const int nvectors = form::vectors(h.width);
  const int64_t first = a.ptr[row.position];
  char *slice = static_cast<char *>(const_cast<void *>(s.val)) + h.vector * 16;
  auto *blocks = static_cast<off *>(const_cast<void *>(a.off)) + first * B * B + i * B;
  for (int e = 0; e < nvectors * form::EACH; e++) {
    const int64_t vector = e / form::EACH, turn = vector / form::VECTORS;
    auto *packed = reinterpret_cast<off *>(slice + (turn + 1) * form::HEAD +
                                           (vector * form::LANES + lane) * 16) +
                   e % form::EACH;
    off &block = blocks[int64_t(e / B) * B * B + e % B];
    const bool there = e < count * B;
    if (back && there) block = *packed;
    if (!back) *packed = there ? block : off(0);
  }
  char *tail = slice + form::tail_at(h.width);
  if (!back) {
    const sum *d = static_cast<const sum *>(a.diagonal) + int64_t(row.position) * B * B;
    for (int j = 0; j < B; j++)
      reinterpret_cast<sum *>(tail)[j * form::LANES + lane] = d[j * B + i];
    tail[form::PIVOTS + lane] = char(a.pivot[int64_t(row.position) * B + i]);
  }
  if (i != 0) return;
  for (int k = 0; k < form::turns(h.width) * form::TURN; k++) {
    char *head = slice + int64_t(k / form::TURN) * form::FULL;
    const int at = slot * form::TURN + k % form::TURN;
    auto *power = reinterpret_cast<int8_t *>(head + form::POWERS) + at;
    auto *of_block = const_cast<int8_t *>(a.power);
    if (back && form::SCALED && k < count) of_block[first + k] = *power;
    if (back) continue;
    reinterpret_cast<uint32_t *>(head)[at] =
        uint32_t(a.pitch) * uint32_t(k < count ? a.idx[first + k] : int32_t(s.zero));
    if (form::SCALED) *power = k < count ? of_block[first + k] : 0;
  }
}

/* f(store, block) as constants. */
template <class F>
cudaError_t by_shape(const trs_relax_args *a, F f) {
  return by_store(a->store, [&](auto store) {
    switch (a->block) {
      case 1:
        return f(store, std::integral_constant<int, 1>{});
      case 2:
        return f(store, std::integral_constant<int, 2>{});
      case 3:
        return f(store, std::integral_constant<int, 3>{});
      case 4:
        return f(store, std::integral_constant<int, 4>{});
      case 5:
        return f(store, std::integral_constant<int, 5>{});
      case 6:
        return f(store, std::integral_constant<int, 6>{});
      case 7:
        return f(store, std::integral_constant<int, 7>{});
      default:
        return f(store, std::integral_constant<int, 8>{});
    }
  });
}

trs_status move_blocks(const trs_relax_args *a, const trs_relax_slices *s, bool back,
                       trs_stream stream) {
  auto to = static_cast<cudaStream_t>(stream);
  if (s->nslices == 0) return TRS_SUCCESS;
  cudaError_t error = by_shape(a, [&](auto store, auto block) {
    pack_slices<decltype(store)::value, decltype(block)::value>
        <<<unsigned((s->nslices + PACK_WARPS - 1) / PACK_WARPS), PACK_WARPS * WARP, 0, to>>>(*a, *s,
                                                                                             back);
    return cudaGetLastError();
  });
  return trs_device_check(error, "packing the blocks of a relaxation");
}

/* ---- Launches ---- */

/* Many warps with short rings: what the rings leave of the memory caches x, which counts for more
 * (docs/experiments.md). */
constexpr int USUAL_WARPS = MOST_WARPS, USUAL_STAGES = LEAST_STAGES;
constexpr int STATIC_BYTES = 1024; /* of shared memory, beside the rings */

/* The kernels may have all the shared memory there is, whatever a launch takes of it: the
 * permission is one for all relaxations on the device. */
template <int STORE, int B>
cudaError_t allow_memory(int *room) {
  int device = 0, bytes = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess)
    error = cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  *room = bytes - STATIC_BYTES;
  if (error == cudaSuccess)
    error = cudaFuncSetAttribute(relax_slices<STORE, B>,
                                 cudaFuncAttributeMaxDynamicSharedMemorySize, *room);
  if (error == cudaSuccess)
    error = cudaFuncSetAttribute(square_slices<STORE, B>,
                                 cudaFuncAttributeMaxDynamicSharedMemorySize, *room);
  return error;
}

/* A launch for one right-hand side; meets: its blocks of threads wait for each other, and are all
 * there at once. */
template <class FORM, class K>
cudaError_t launch_trip(K kernel, const trs_relax_args *a, const trs_relax_slices *s,
                        const trs_relax_meeting &m, const trip &t, bool meets, int rhs,
                        cudaStream_t stream) {
  cudaLaunchAttribute together = {};
  together.id = cudaLaunchAttributeCooperative;
  together.val.cooperative = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = unsigned(s->blocks);
  config.blockDim = unsigned(s->warps) * WARP;
  config.dynamicSmemBytes = size_t(s->warps) * size_t(s->stages) * FORM::STAGE;
  config.stream = stream;
  config.attrs = &together;
  config.numAttrs = meets ? 1 : 0;
  return cudaLaunchKernelEx(&config, kernel, *a, *s, m, t, rhs, int(s->stages));
}

cudaError_t launch_all(const trs_relax_args *a, const trs_relax_slices *s, trs_relax_meeting *m,
                       const trip &t, cudaStream_t stream) {
  const trs_relax_meeting alone = {};
  return by_shape(a, [&](auto store, auto block) {
    constexpr int STORE = decltype(store)::value, B = decltype(block)::value;
    cudaError_t error = cudaSuccess;
    for (int rhs = 0; rhs < a->nrhs && error == cudaSuccess; rhs++) {
      error = launch_trip<shape<STORE, B>>(relax_slices<STORE, B>, a, s, m ? *m : alone, t,
                                           t.turns > 1, rhs, stream);
      if (m) m->turn += uint64_t(t.turns);
    }
    return error;
  });
}

}  // namespace

extern "C" trs_status trs_relax_slices_pack(const trs_relax_args *a, const trs_relax_slices *s,
                                            trs_stream stream) {
  return move_blocks(a, s, false, stream);
}

extern "C" trs_status trs_relax_slices_unpack(const trs_relax_args *a, const trs_relax_slices *s,
                                              trs_stream stream) {
  return move_blocks(a, s, true, stream);
}

extern "C" trs_status trs_relax_slices_prepare(const trs_relax_args *a, trs_relax_slices *s) {
  cudaError_t error = by_shape(a, [&](auto store, auto block) {
    constexpr int STORE = decltype(store)::value, B = decltype(block)::value;
    int bytes = 0;
    cudaError_t e = allow_memory<STORE, B>(&bytes);
    const int room = bytes / shape<STORE, B>::STAGE;
    int64_t warps = s->warps ? s->warps : USUAL_WARPS;
    if (warps > room / LEAST_STAGES) warps = room / LEAST_STAGES;
    if (warps < 1) return e == cudaSuccess ? cudaErrorInvalidConfiguration : e;
    const int64_t stages = s->stages ? s->stages : USUAL_STAGES;
    s->warps = warps;
    s->stages = room / warps < stages ? room / warps : stages;
    const int64_t taken = s->warps * s->stages * shape<STORE, B>::STAGE + 2 * STATIC_BYTES;
    const int64_t percent = (100 * taken + bytes) / (bytes + STATIC_BYTES);
    /* A wish, which nothing but speed depends on: what the rings do not take caches x. */
    if (e == cudaSuccess)
      e = cudaFuncSetAttribute(relax_slices<STORE, B>,
                               cudaFuncAttributePreferredSharedMemoryCarveout,
                               int(percent < 100 ? percent : 100));
    return e;
  });
  return trs_device_check(error, "preparing the kernels of a relaxation");
}

extern "C" int64_t trs_relax_slice_vectors(const trs_relax_args *a, int32_t width) {
  int64_t bytes = 0;
  (void)by_shape(a, [&](auto store, auto block) {
    using form = shape<decltype(store)::value, decltype(block)::value>;
    bytes = form::tail_at(width) + form::TAIL;
    return cudaSuccess;
  });
  return bytes / 16;
}

extern "C" trs_status trs_relax_slices_sweep(const trs_relax_args *a, const trs_relax_slices *s,
                                             int direction, int64_t turns,
                                             trs_relax_meeting *meeting, trs_stream stream) {
  constexpr int64_t MOST_TURNS = 1 << 20; /* counts of arrivals do not overflow */
  const bool back = direction == 1;
  auto to = static_cast<cudaStream_t>(stream);
  const int64_t both = 2 * int64_t(s->ncolours); /* ways over the colours */
  const int64_t each = both > MOST_TURNS ? both : MOST_TURNS / both * both;
  for (int64_t done = 0; done < turns; done += each) {
    const int64_t now = turns - done < each ? turns - done : each;
    const trip t = {back ? s->ncolours - 1 : 0,
                    back ? -1 : 1,
                    int(now),
                    direction == 2,
                    meeting ? 0 : 1,
                    2,
                    done > 0};
    TRS_TRY(trs_device_check(launch_all(a, s, meeting, t, to), "launching a relaxation"));
  }
  return TRS_SUCCESS;
}

extern "C" trs_status trs_relax_slices_run(const trs_relax_args *a, const trs_relax_slices *s,
                                           int32_t colour, int part, trs_stream stream) {
  const trip t = {colour, 0, 1, false, part == 1, part == 0 ? 1 : 2, false};
  return trs_device_check(launch_all(a, s, nullptr, t, static_cast<cudaStream_t>(stream)),
                          "launching a colour's relaxation");
}

extern "C" trs_status trs_relax_slices_squares(const trs_relax_args *a, const trs_relax_slices *s,
                                               trs_stream stream) {
  const trip t = {0, 1, s->ncolours, false, 0, 2, false};
  const trs_relax_meeting alone = {};
  if (s->nslices == 0) return TRS_SUCCESS;
  cudaError_t error = by_shape(a, [&](auto store, auto block) {
    constexpr int STORE = decltype(store)::value, B = decltype(block)::value;
    cudaError_t e = cudaSuccess;
    for (int rhs = 0; rhs < a->nrhs && e == cudaSuccess; rhs++)
      e = launch_trip<shape<STORE, B>>(square_slices<STORE, B>, a, s, alone, t, false, rhs,
                                       static_cast<cudaStream_t>(stream));
    return e;
  });
  return trs_device_check(error, "launching the residual of a relaxation");
}
