/* lanes.cuh - shuffles among all lanes of a warp, of numbers, complex numbers and structs. */
#ifndef TRS_DEVICE_LANES_CUH
#define TRS_DEVICE_LANES_CUH

#include <type_traits>

#include "device/kernel.cuh"

namespace trs {

/* f of each part of a number, or of each word of a struct. */
template <class T, class F>
__device__ inline T by_parts(T value, F f) {
  if constexpr (element<T>::is_complex) {
    return {f(value.re), f(value.im)};
  } else if constexpr (std::is_arithmetic_v<T>) {
    return f(value);
  } else {
    unsigned words[sizeof(T) / sizeof(unsigned)];
    memcpy(words, &value, sizeof value);
#pragma unroll
    for (unsigned &word : words) word = f(word);
    memcpy(&value, words, sizeof value);
    return value;
  }
}

template <class T>
__device__ inline T shuffle(T value, int lane) {
  return by_parts(value, [lane](auto part) { return part_of_lane(part, lane); });
}
template <class T>
__device__ inline T shuffle_xor(T value, int mask) {
  return by_parts(value, [mask](auto part) { return part_xor(part, mask); });
}
template <class T>
__device__ inline T shuffle_up(T value, unsigned distance) {
  return by_parts(value, [distance](auto part) { return part_up(part, distance); });
}
template <class T>
__device__ inline T shuffle_down(T value, unsigned distance) {
  return by_parts(value, [distance](auto part) { return part_down(part, distance); });
}

}  // namespace trs

#endif
