/* slices_tmpl.c - slices: adjacent rows of a task that do not depend on each other and have equally
 * many entries.  A slice is solved in one vector register, one row per lane.
 *
 * The values of a slice lie by slots: the first entry of every row, then the second ones.  Of the
 * positions of a slot one number is kept, its complement, if they are consecutive, as they are in
 * the levels of a grid: a load then replaces a gather, and the numbers that are not kept are not
 * read either.  count[] of a slice's first row is the complement of the number of slots.
 *
 * Every lane adds in the order in which a row outside of slices is added: the bits do not depend on
 * where slices begin, and hence not on the number of threads.
 *
 * Source: the format SELL, Monakov, Lokhmotov and Avetisyan 2010. */

#define LANES ((int)(TRS_VECTOR_BYTES / sizeof(SCALAR)))

/* The number of rows that begin at position k together: LANES for a slice. */
TRS_INLINE int NAME(rows_at)(const trs_threads_state *s, int64_t k) {
  return s->count[k] < 0 ? LANES : 1;
}

TRS_INLINE int64_t NAME(slots_at)(const trs_threads_state *s, int64_t k) {
  return s->count[k] < 0 ? ~s->count[k] : s->count[k];
}

#if !IS_COMPLEX

typedef SCALAR NAME(lanes)
    __attribute__((vector_size(TRS_VECTOR_BYTES), aligned(sizeof(SCALAR)), __may_alias__));

/* ---- Making slices ---- */

/* The rows from k on, whose entries begin at `at`, may form a slice. */
static bool NAME(fits)(const trs_threads_state *s, int64_t k, int64_t at) {
  const int32_t count = s->count[k];
  if (count > MOST_SLOTS) return false;
  for (int l = 1; l < LANES; l++)
    if (s->count[k + l] != count) return false;
  /* Of a row's entries the last one is the most likely to be in the slice. */
  for (int64_t e = count - 1; e >= 0; e--)
    for (int64_t p = at + e; p < at + (int64_t)count * LANES; p += count)
      if (s->idx[p] >= k && s->idx[p] < k + LANES) return false;
  return true;
}

/* from: the entries of LANES rows, one row after the other. */
static void NAME(turn)(trs_threads_state *s, int64_t at, int64_t slots, SCALAR *from_val,
                       int32_t *from_idx) {
  SCALAR *val = (SCALAR *)s->val + at;
  int32_t *idx = s->idx + at;
  memcpy(from_val, val, (size_t)(slots * LANES) * sizeof *val);
  memcpy(from_idx, idx, (size_t)(slots * LANES) * sizeof *idx);
  for (int64_t e = 0; e < slots; e++) {
    const int32_t base = from_idx[e];
    bool consecutive = true;
    for (int l = 0; l < LANES; l++) {
      *val++ = from_val[l * slots + e];
      consecutive &= from_idx[l * slots + e] == base + l;
    }
    if (consecutive)
      *idx++ = ~base;
    else
      for (int l = 0; l < LANES; l++) *idx++ = from_idx[l * slots + e];
  }
}

/* Thread rank makes the slices of its rows.  A sweep of permuted or strided right-hand sides moves
 * BLOCK rows at a time, so no slice reaches into the next block. */
static void NAME(make_slices)(trs_threads_job *j, int rank) {
  trs_threads_state *s = j->state;
  const trs_schedule *plan = &s->schedule;
  SCALAR val[MOST_SLOTS * LANES];
  int32_t idx[MOST_SLOTS * LANES];
  for (int64_t task = plan->task_ptr[rank]; task < plan->task_ptr[rank + 1]; task++) {
    int64_t at = plan->tasks[task].entry, end = plan->tasks[task].end;
    for (int64_t k = plan->tasks[task].begin; k < end; k += NAME(rows_at)(s, k)) {
      const int64_t slots = s->count[k];
      bool sliced = k + LANES <= end && k % BLOCK <= BLOCK - LANES && NAME(fits)(s, k, at);
      if (sliced) {
        NAME(turn)(s, at, slots, val, idx);
        s->count[k] = (int32_t)~slots;
      }
      at += slots * (sliced ? LANES : 1);
    }
  }
}

/* ---- Solving slices ---- */

TRS_INLINE NAME(lanes) NAME(gather)(const SCALAR *x, const int32_t *idx) {
  NAME(lanes) v = {0};
#ifdef __AVX512F__
  if (sizeof(SCALAR) == 8)
    v = (NAME(lanes))_mm512_i32gather_pd(_mm256_loadu_si256((const __m256i_u *)idx), x, 8);
  else
    v = (NAME(lanes))_mm512_i32gather_ps(_mm512_loadu_si512(idx), x, 4);
#else
  for (int l = 0; l < LANES; l++) v[l] = x[idx[l]];
#endif
  return v;
}

/* The x of a slot; *idx moves on to the next one. */
TRS_INLINE NAME(lanes) NAME(slot)(const int32_t **idx, const SCALAR *x) {
  const int32_t *at = *idx;
  const bool consecutive = *at < 0;
  *idx += consecutive ? 1 : LANES;
  return consecutive ? *(const NAME(lanes) *)(x + ~*at) : NAME(gather)(x, at);
}

/* sum - T[k][j] x[j] over the slots, in the order of subtract. */
TRS_INLINE NAME(lanes) NAME(subtract_slots)(NAME(lanes) sum, const NAME(lanes) * val,
                                            const int32_t **idx, const SCALAR *x, int64_t slots) {
  int64_t e = 0;
  if (slots >= 8) {
    NAME(lanes) sum1 = {0}, sum2 = {0}, sum3 = {0};
    for (; e + 4 <= slots; e += 4) {
      sum -= val[e] * NAME(slot)(idx, x);
      sum1 -= val[e + 1] * NAME(slot)(idx, x);
      sum2 -= val[e + 2] * NAME(slot)(idx, x);
      sum3 -= val[e + 3] * NAME(slot)(idx, x);
    }
    sum = (sum + sum1) + (sum2 + sum3);
  }
  for (; e < slots; e++) sum -= val[e] * NAME(slot)(idx, x);
  return sum;
}

/* True if a lane holds a NaN. */
TRS_INLINE bool NAME(any_nan)(NAME(lanes) v) {
#ifdef __AVX512F__
  if (sizeof(SCALAR) == 8)
    return __builtin_expect(_mm512_cmp_pd_mask((__m512d)v, (__m512d)v, _CMP_UNORD_Q), 0);
  return __builtin_expect(_mm512_cmp_ps_mask((__m512)v, (__m512)v, _CMP_UNORD_Q), 0);
#else
  bool any = false;
  for (int l = 0; l < LANES; l++) any |= v[l] != v[l];
  return __builtin_expect(any, 0);
#endif
}

static __attribute__((noinline)) bool NAME(wait_for_slice)(const NAME(column) * c,
                                                           const int32_t *idx, int64_t slots) {
  bool solved = true;
  int steps = c->steps;
  for (int64_t e = 0; e < slots && solved; e++) {
    const bool consecutive = *idx < 0;
    for (int l = 0; l < LANES && solved; l++)
      solved = NAME(wait_for_x)(c, consecutive ? ~*idx + l : idx[l], &steps);
    idx += consecutive ? 1 : LANES;
  }
  __asm__ volatile("" ::: "memory");
  return solved;
}

/* The slice at position k, whose entries begin at `at`; false if it waits for longer than it may.
 * chained: its rows are scaled before their last product, as in rows_chained.  Inlined, it would
 * slow the rows between slices. */
static __attribute__((noinline)) bool NAME(solve_slice)(const trs_threads_state *s,
                                                        const NAME(column) * c, int64_t k,
                                                        int64_t at, bool unit, int way,
                                                        bool chained) {
  const int32_t *row = s->schedule.row + k, *idx;
  const NAME(lanes) *val = (const NAME(lanes) *)((const SCALAR *)s->val + at);
  const int64_t slots = ~s->count[k], far = slots - (chained && slots > 0);
  NAME(lanes) *own = (NAME(lanes) *)(c->work + k), scale = {0};
  NAME(lanes) sum;
  if (!unit) scale = *(const NAME(lanes) *)((const SCALAR *)s->inverse + k);
  for (bool waited = way != AWAITED;; waited = true) {
    idx = s->idx + at;
    sum = way == NEITHER ? *own : NAME(gather)(c->b, row);
    sum = NAME(subtract_slots)(sum, val, &idx, c->work, far);
    if (!unit) sum *= scale;
    if (far < slots) {
      NAME(lanes) a = val[far];
      if (!unit) a *= scale;
      sum -= a * NAME(slot)(&idx, c->work);
    }
    if (way != AWAITED || !NAME(any_nan)(sum)) break;
    if (waited) {
      for (int l = 0; l < LANES; l++) sum[l] = NAME(solved)(sum[l]);
      break;
    }
    if (!NAME(wait_for_slice)(c, s->idx + at, slots)) return false;
  }
  *own = sum;
  for (int l = 0; l < LANES && NAME(writes_x)(c, way); l++) c->x[row[l]] = sum[l];
  return true;
}

/* For TRS_WIDE right-hand sides, one row after the other. */
TRS_INLINE void NAME(solve_slice_wide)(const trs_threads_state *s, SCALAR *work, int64_t k,
                                       int64_t at) {
  const SCALAR *val = (const SCALAR *)s->val + at, *inverse = s->inverse;
  const int64_t slots = ~s->count[k];
  for (int l = 0; l < LANES; l++) {
    const int32_t *idx = s->idx + at;
    NAME(wide) sum = NAME(wide_load)(work + (k + l) * TRS_WIDE);
    for (int64_t e = 0; e < slots; e++) {
      const int32_t from = *idx < 0 ? ~*idx + l : idx[l];
      idx += *idx < 0 ? 1 : LANES;
      sum = NAME(wide_row)(sum, &val[e * LANES + l], &from, 0, 1, work, TRS_WIDE, false);
    }
    if (inverse) sum = NAME(wide_scaled)(&sum, inverse[k + l]);
    NAME(wide_store)(work + (k + l) * TRS_WIDE, &sum);
  }
}

#else /* complex values have no slices */

static void NAME(make_slices)(trs_threads_job *j, int rank) { (void)j, (void)rank; }

TRS_INLINE bool NAME(solve_slice)(const trs_threads_state *s, const NAME(column) * c, int64_t k,
                                  int64_t at, bool unit, int way, bool chained) {
  (void)s, (void)c, (void)k, (void)at, (void)unit, (void)way, (void)chained;
  return true;
}

TRS_INLINE void NAME(solve_slice_wide)(const trs_threads_state *s, SCALAR *work, int64_t k,
                                       int64_t at) {
  (void)s, (void)work, (void)k, (void)at;
}

#endif
