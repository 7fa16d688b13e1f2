/* ready.cuh - in the place of src/device/ready.cuh: values that emulated threads wait for. */
#ifndef TRS_DEVICE_READY_CUH
#define TRS_DEVICE_READY_CUH

#include "device/kernel.cuh"

namespace trs {

inline bool is_pending(float v) {
  uint32_t bits;
  memcpy(&bits, &v, sizeof bits);
  return bits == 0xffffffffu;
}
inline bool is_pending(double v) {
  uint64_t bits;
  memcpy(&bits, &v, sizeof bits);
  return bits >> 32 == 0xffffffffu;
}
template <class R>
inline bool is_pending(complex_of<R> v) {
  return is_pending(v.re) || is_pending(v.im);
}

inline float encode(float v) { return is_pending(v) ? -v : v; }
inline double encode(double v) { return is_pending(v) ? -v : v; }
template <class R>
inline complex_of<R> encode(complex_of<R> v) {
  return {encode(v.re), encode(v.im)};
}

template <class S>
inline void peek_if(bool wanted, const S *p, S &v) {
  if (wanted) v = *p;
}
template <class S>
inline void publish(S *p, S v) {
  if (is_pending(v)) abort();
  *p = v;
}

class warp_wait {
 public:
  explicit warp_wait(trs_fault *) {}
  bool goes_on(long long) {
    if (++turns_ > MOST) abort();
    emulated_block::running().rest();
    return true;
  }

 private:
  enum { MOST = 1 << 20 };
  int turns_ = 0;
};

}  // namespace trs

#endif
