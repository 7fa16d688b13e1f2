/* move.cu - one thread per element.  If the array is row-major, neighbouring threads copy the
 * right-hand sides of one row.  If it is column-major, squares are transposed in shared memory;
 * a few right-hand sides, which would leave most of a square empty, are copied by a thread per row.
 */
#include "solve/cuda/move.h"

#include <cstdint>

#include "solve/cuda/pack.cuh"

namespace {

constexpr int BLOCK = 256, SIDE = 32, SQUARE_FROM = 4, FEW = 8;
constexpr int64_t MOST_BLOCKS = 65536;

template <class R>
__device__ R scaled(double scale, R value) {
  return static_cast<R>(scale) * value;
}
template <class R>
__device__ trs::complex_of<R> scaled(double scale, trs::complex_of<R> value) {
  return {static_cast<R>(scale) * value.re, static_cast<R>(scale) * value.im};
}

/* Each row has 2^shift threads; the first `width` of them work. */
template <class S, bool IN>
__global__ void move_rows(S *work, S *outside, trs_row_map m, int shift) {
  int64_t count = m.n << shift, mask = (int64_t(1) << shift) - 1;
  for (int64_t k = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; k < count;
       k += int64_t(gridDim.x) * blockDim.x) {
    int64_t i = k >> shift, r = k & mask;
    if (r >= m.width) continue;
    int64_t out = m.perm ? m.perm[i] : i;
    S *inside = work + i * m.width + r, *there = outside + out * m.row + r * m.col;
    S value = IN ? *there : *inside;
    *(IN ? inside : there) = m.scale ? scaled(m.scale[out], value) : value;
  }
}

/* Transposes squares of SIDE rows and SIDE right-hand sides in shared memory: accesses are
 * contiguous along rows in the array and along right-hand sides in the workspace. */
template <class S, bool IN>
__global__ void __launch_bounds__(BLOCK) move_squares(S *work, S *outside, trs_row_map m) {
  __shared__ S square[SIDE][SIDE + 1];
  const int x = int(threadIdx.x) % SIDE, y = int(threadIdx.x) / SIDE;
  for (int64_t first = int64_t(blockIdx.x) * SIDE; first < m.n; first += int64_t(gridDim.x) * SIDE)
    for (int64_t column = 0; column < m.width; column += SIDE) {
      int64_t i = first + x, out = i < m.n && m.perm ? m.perm[i] : i, r = column + x;
      for (int k = y; k < SIDE; k += BLOCK / SIDE) {
        if (IN && i < m.n && column + k < m.width) {
          S value = outside[out * m.row + (column + k) * m.col];
          square[k][x] = m.scale ? scaled(m.scale[out], value) : value;
        }
        if (!IN && first + k < m.n && r < m.width) square[x][k] = work[(first + k) * m.width + r];
      }
      __syncthreads();
      for (int k = y; k < SIDE; k += BLOCK / SIDE) {
        if (IN && first + k < m.n && r < m.width) work[(first + k) * m.width + r] = square[x][k];
        if (!IN && i < m.n && column + k < m.width) {
          S value = square[k][x];
          outside[out * m.row + (column + k) * m.col] =
              m.scale ? scaled(m.scale[out], value) : value;
        }
      }
      __syncthreads();
    }
}

/* Up to FEW right-hand sides: neighbouring threads access neighbouring rows of each column, and a
 * thread its whole row in the workspace, by packs. */
template <class S, bool IN>
__global__ void __launch_bounds__(BLOCK) move_few(S *work, S *outside, trs_row_map m) {
  constexpr int SIZE = trs::pack<S>::SIZE, PACKS = FEW / SIZE;
  const int64_t i = int64_t(blockIdx.x) * BLOCK + threadIdx.x;
  if (i >= m.n) return;
  const int64_t out = m.perm ? m.perm[i] : i;
  auto *inside = reinterpret_cast<trs::pack<S> *>(work + i * m.width);
  S *there = outside + out * m.row;
  trs::pack<S> value[PACKS];
#pragma unroll
  for (int p = 0; !IN && p < PACKS; p++)
    if (p * SIZE < m.width) value[p] = inside[p];
#pragma unroll
  for (int k = 0; k < FEW; k++) {
    S *at = there + k * m.col, &one = value[k / SIZE].of[k % SIZE];
    if (k >= m.width) continue;
    if (IN) one = *at;
    if (m.scale) one = scaled(m.scale[out], one);
    if (!IN) *at = one;
  }
#pragma unroll
  for (int p = 0; IN && p < PACKS; p++)
    if (p * SIZE < m.width) inside[p] = value[p];
}

/* Rows of the workspace are whole packs.  More right-hand sides would lie further apart than a line
 * of memory per thread, and squares are faster. */
bool are_few(const void *work, const trs_row_map &m, int64_t size) {
  return m.width <= FEW && m.width * size % 16 == 0 && reinterpret_cast<uintptr_t>(work) % 16 == 0;
}

int shift_for(int64_t width) {
  int shift = 0;
  while ((int64_t(1) << shift) < width) shift++;
  return shift;
}

int blocks_for(int64_t threads) {
  int64_t blocks = (threads + BLOCK - 1) / BLOCK;
  return static_cast<int>(blocks < 1 ? 1 : blocks > MOST_BLOCKS ? MOST_BLOCKS : blocks);
}

template <bool IN>
trs_status launch(void *work, void *outside, const trs_row_map &m, trs_scalar scalar,
                  trs_stream stream, const char *what) {
  const bool squares = m.col > m.row && m.width >= SQUARE_FROM;
  const int shift = shift_for(m.width);
  const int blocks =
      squares ? blocks_for((m.n + SIDE - 1) / SIDE * BLOCK) : blocks_for(m.n << shift);
  auto s = static_cast<cudaStream_t>(stream);
  cudaError_t error = trs::by_scalar(scalar, [&](auto zero) {
    using S = decltype(zero);
    if (squares && are_few(work, m, sizeof(S)))
      move_few<S, IN><<<unsigned((m.n + BLOCK - 1) / BLOCK), BLOCK, 0, s>>>(
          static_cast<S *>(work), static_cast<S *>(outside), m);
    else if (squares)
      move_squares<S, IN>
          <<<blocks, BLOCK, 0, s>>>(static_cast<S *>(work), static_cast<S *>(outside), m);
    else
      move_rows<S, IN>
          <<<blocks, BLOCK, 0, s>>>(static_cast<S *>(work), static_cast<S *>(outside), m, shift);
    return cudaGetLastError();
  });
  return trs_device_check(error, what);
}

}  // namespace

extern "C" trs_status trs_launch_gather(void *work, const void *b, const trs_row_map *move,
                                        trs_scalar scalar, trs_stream stream) {
  return launch<true>(work, const_cast<void *>(b), *move, scalar, stream,
                      "bringing right-hand sides to the sweeps");
}

extern "C" trs_status trs_launch_scatter(void *x, const void *work, const trs_row_map *move,
                                         trs_scalar scalar, trs_stream stream) {
  return launch<false>(const_cast<void *>(work), x, *move, scalar, stream,
                       "taking solutions from the sweeps");
}
