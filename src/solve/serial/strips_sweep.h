/* strips_sweep.h - a sweep over strips, in doubles; a part of kernels.c.  Not a template: floats
 * are kept of doubles alone. */

typedef double trs_lanes __attribute__((vector_size(TRS_STRIP * sizeof(double)),
                                        aligned(sizeof(double)), __may_alias__));
typedef float trs_floats
    __attribute__((vector_size(TRS_STRIP * sizeof(float)), aligned(sizeof(float)), __may_alias__));

typedef struct strips_pass {
  double *x;
  const double *b;
  int64_t xs, bs;
} strips_pass;

/* Vectors are passed by address: wide ones have no calling convention at the lowest level. */
TRS_KERNEL_INLINE void load_lanes(trs_lanes *to, const double *from, int64_t i, int64_t stride,
                                  bool packed) {
  const double *at = from + i * (packed ? 1 : stride);
  if (packed)
    *to = *(const trs_lanes *)at;
  else
    *to = (trs_lanes){at[0], at[stride], at[2 * stride], at[3 * stride]};
}

TRS_KERNEL_INLINE void widen(trs_lanes *to, const float *value) {
  *to = __builtin_convertvector(*(const trs_floats *)value, trs_lanes);
}

/* The four rows from row low on; last: the x of the row before the first one. */
TRS_KERNEL_INLINE double sweep_strip(const trs_strips *s, const strips_pass *P, int64_t low,
                                     const int32_t *index, const float *value, double last,
                                     bool lower, bool unit, bool scales, bool packed) {
  const int count = *index / 2;
  trs_lanes sum, a, inverse, x;
  load_lanes(&sum, P->b, low, P->bs, packed);
  for (int q = 0; q < count; q++) {
    trs_lanes other;
    widen(&a, value + q * TRS_STRIP);
    load_lanes(&other, P->x, index[1 + q], P->xs, packed);
    sum -= a * other;
  }
  if (!unit) inverse = *(const trs_lanes *)(s->inverse + low);
  if (!unit && scales) sum *= inverse;
  if (*index % 2) {
    widen(&a, value + count * TRS_STRIP);
    if (!unit && scales) a *= inverse;
    for (int l = 0; l < TRS_STRIP; l++) {
      const int lane = lower ? l : TRS_STRIP - 1 - l;
      last = sum[lane] - a[lane] * last;
      if (!unit && !scales) last *= inverse[lane];
      x[lane] = last;
    }
  } else {
    x = sum;
    if (!unit && !scales) x *= inverse;
  }
  for (int l = 0; l < TRS_STRIP && !packed; l++) P->x[(low + l) * P->xs] = x[l];
  if (packed) *(trs_lanes *)(P->x + low) = x;
  return x[lower ? TRS_STRIP - 1 : 0];
}

/* Row i with its entries. */
TRS_KERNEL_INLINE double sweep_row(const trs_strips *s, const strips_pass *P, int64_t i,
                                   const int32_t *index, const float *value, bool unit,
                                   bool packed) {
  const int64_t xs = packed ? 1 : P->xs, bs = packed ? 1 : P->bs, end = TRS_STRIP * *index++;
  double sum = P->b[i * bs], sum1 = 0, sum2 = 0, sum3 = 0;
  for (int64_t e = 0; e < end; e += TRS_STRIP) {
    sum -= value[e] * P->x[index[e] * xs];
    sum1 -= value[e + 1] * P->x[index[e + 1] * xs];
    sum2 -= value[e + 2] * P->x[index[e + 2] * xs];
    sum3 -= value[e + 3] * P->x[index[e + 3] * xs];
  }
  sum = (sum + sum1) + (sum2 + sum3);
  if (!unit) sum *= s->inverse[i];
  return P->x[i * xs] = sum;
}

TRS_KERNEL_INLINE void sweep_all(const trs_strips *s, const strips_pass *P, bool lower, bool unit,
                                 bool scales, bool packed) {
  const int32_t *index = s->index;
  const float *value = s->value;
  const int64_t n = s->n;
  double last = 0;
  for (int64_t place = 0; place < n;) {
    if (*index >= 0) {
      const int64_t low = lower ? place : n - place - TRS_STRIP;
      last = sweep_strip(s, P, low, index, value, last, lower, unit, scales, packed);
      value += TRS_STRIP * (*index / 2 + *index % 2);
      index += 1 + *index / 2;
      place += TRS_STRIP;
      continue;
    }
    for (int64_t rows = -(int64_t)*index++; rows > 0; rows--, place++) {
      const int64_t i = lower ? place : n - 1 - place;
      last = sweep_row(s, P, i, index, value, unit, packed);
      value += TRS_STRIP * *index;
      index += 1 + TRS_STRIP * *index;
    }
  }
}

TRS_KERNEL_INLINE void sweep_towards(const trs_strips *s, const strips_pass *P, bool lower) {
  const bool packed = P->xs == 1 && P->bs == 1;
  if (!s->inverse)
    packed ? sweep_all(s, P, lower, true, true, true) : sweep_all(s, P, lower, true, true, false);
  else if (s->scales)
    packed ? sweep_all(s, P, lower, false, true, true) : sweep_all(s, P, lower, false, true, false);
  else
    packed ? sweep_all(s, P, lower, false, false, true)
           : sweep_all(s, P, lower, false, false, false);
}

static void TRS_ISA_NAME(strips_sweep)(const trs_strips *s, const trs_rhs *R,
                                       const trs_serial_tile *t) {
  const strips_pass P = {t->x, t->b, t->xs, t->bs};
  if (t->load) TRS_ISA_NAME(load_rows_d)(R, t->r, 1, 1, NULL, 0, s->n, t->x, t->xs);
  s->lower ? sweep_towards(s, &P, true) : sweep_towards(s, &P, false);
  if (t->store) TRS_ISA_NAME(store_rows_d)(R, t->r, 1, NULL, 0, s->n, t->x, t->xs);
}
