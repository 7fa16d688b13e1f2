/* values_tmpl.c - x as its own flag: a row reads the x of other threads at once, and waits only if
 * one of them is absent.
 *
 * An x that other threads read is a certain NaN, ABSENT, until it is solved.  A row sums what it
 * finds.  If the result is a NaN, the row waits until no x that it needs is ABSENT, and sums once
 * more.  If that takes long, the loop ends there, and its thread looks for other work.  Thus
 * nothing but x goes from thread to thread, and no row waits for more than it needs. The sums and
 * their order are those of any other sweep, and so are the bits.
 *
 * Every result that is a NaN takes this way, so a solution never holds ABSENT: not for a NaN in b
 * or in the matrix, whatever its bits.
 *
 * Two vectors take turns: a solve reads and writes one, and writes ABSENT into the other one for
 * the next solve, best while it waits.  The members of a team meet between solves, so nobody reads
 * that one then.
 *
 * Other threads write an x while it is read.  The language calls this a race; in the machine the
 * load of an aligned element is whole, in a vector too, and the order of two x does not matter,
 * since each is checked by itself.
 *
 * Cost: one comparison per row, and one store per x that other threads read.  Source: rows that
 * wait for single results, on GPUs, L17; there a row waits before it sums, for a counter. */

/* What a thread writes into the vector of the next solve: ABSENT at the places *at, up to end. */
typedef struct NAME(erasing) {
  SCALAR *x;
  const int32_t *at, *end;
} NAME(erasing);

/* Where the rows of one right-hand side lie.  x: NULL if it is written behind all rows that wait
 * for values.  The others are NULL and 0 unless rows do: what to erase, the steps that a row waits,
 * and where it notes itself if that was not enough. */
typedef struct NAME(column) {
  const SCALAR *b;
  SCALAR *x, *work;
  NAME(erasing) * erasing;
  int steps;
  trs_threads_place *place;
} NAME(column);

/* The rows end before the one at this position, whose entries begin at `at`. */
TRS_INLINE int64_t NAME(stop)(const NAME(column) * c, int64_t position, int64_t at) {
  c->place->position = position;
  c->place->entry = at;
  return at;
}

TRS_INLINE bool NAME(writes_x)(const NAME(column) * c, int way) {
  return way == BOTH || (way == AWAITED && c->x);
}

#if !IS_COMPLEX

TRS_INLINE SCALAR NAME(absent)(void) {
  SCALAR value;
  const uint64_t of_double = TRS_THREADS_ABSENT;
  const uint32_t of_float = TRS_THREADS_ABSENT >> 32;
  if (sizeof value == sizeof of_double)
    memcpy(&value, &of_double, sizeof value);
  else
    memcpy(&value, &of_float, sizeof value);
  return value;
}

TRS_INLINE bool NAME(is_absent)(const SCALAR *x) {
  const void *at = x;
  if (sizeof *x == sizeof(uint64_t)) return *(const volatile uint64_t *)at == TRS_THREADS_ABSENT;
  return *(const volatile uint32_t *)at == TRS_THREADS_ABSENT >> 32;
}

TRS_INLINE bool NAME(is_nan)(SCALAR x) { return __builtin_expect(x != x, 0); }

/* Writes ABSENT at the next places, `most` at most. */
TRS_INLINE void NAME(erase)(NAME(erasing) * erasing, int64_t most) {
  const int32_t *at = erasing->at;
  const int32_t *end = erasing->end - at > most ? at + most : erasing->end;
  for (; at < end; at++) erasing->x[*at] = NAME(absent)();
  erasing->at = end;
}

/* False if it is absent after the steps that are left. */
TRS_INLINE bool NAME(wait_for_x)(const NAME(column) * c, int64_t at, int *steps) {
  enum { MEANWHILE = 16 };
  trs_patience wait = {0};
  while (NAME(is_absent)(c->work + at)) {
    if (--*steps < 0) return false;
    if (c->erasing->at < c->erasing->end)
      NAME(erase)(c->erasing, MEANWHILE);
    else
      trs_wait_turn(&wait);
  }
  return true;
}

/* Until the x at these positions are solved.  The compiler may not keep any of them in a register
 * meanwhile. */
static __attribute__((noinline)) bool NAME(wait_for_row)(const NAME(column) * c, const int32_t *idx,
                                                         int64_t count) {
  bool solved = true;
  int steps = c->steps;
  for (int64_t p = 0; p < count && solved; p++) solved = NAME(wait_for_x)(c, idx[p], &steps);
  __asm__ volatile("" ::: "memory");
  return solved;
}

/* A NaN of the system's own, which must not be taken for an absent x. */
TRS_INLINE SCALAR NAME(solved)(SCALAR x) { return NAME(is_absent)(&x) ? (SCALAR)NAN : x; }

#else /* a complex x has two parts, which do not arrive together */

TRS_INLINE bool NAME(is_nan)(SCALAR x) {
  (void)x;
  return false;
}

TRS_INLINE void NAME(erase)(NAME(erasing) * erasing, int64_t most) { (void)erasing, (void)most; }

TRS_INLINE bool NAME(wait_for_row)(const NAME(column) * c, const int32_t *idx, int64_t count) {
  (void)c, (void)idx, (void)count;
  return true;
}

TRS_INLINE SCALAR NAME(solved)(SCALAR x) { return x; }

#endif
