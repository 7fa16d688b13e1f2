/* coordinate_tmpl.c - stores entries, for one element type. */

#include "io/value_tmpl.c"

/* True if the entry is valid in a file of this symmetry. */
static bool NAME(allowed)(trs_symmetry symmetry, int64_t i, int64_t j, SCALAR value) {
  if (i != j || symmetry == TRS_SYMMETRIC) return true;
  return symmetry == TRS_SKEW_SYMMETRIC ? value == 0 : NAME(is_real)(value);
}

/* Entries that are read but not stored yet.  Their places are prefetched and arrive in the cache
 * before they are stored. */
typedef struct NAME(batch) {
  int count;
  int32_t rows[2 * TRS_LINES], columns[2 * TRS_LINES];
  SCALAR values[2 * TRS_LINES];
} NAME(batch);

static inline void NAME(add)(const trs_coordinate *c, NAME(batch) * batch, const int64_t *next,
                             int64_t i, int64_t j, SCALAR value) {
  if (!trs_coordinate_selects(c, &i, &j)) return;
  int at = batch->count++;
  batch->rows[at] = (int32_t)i;
  batch->columns[at] = (int32_t)j;
  batch->values[at] = value;
  __builtin_prefetch(&next[i], 1);
}

/* Stores the batch.  False if the file has changed since the entries were counted. */
static bool NAME(place)(const trs_coordinate *c, int64_t *next, bool alone,
                        const NAME(batch) * batch) {
  int64_t places[2 * TRS_LINES];
  SCALAR *val = c->val;
  bool inside = true;
  for (int k = 0; k < batch->count; k++) {
    places[k] = trs_next_place(next, batch->rows[k], alone);
    inside &= places[k] < c->nnz;
    __builtin_prefetch(&c->idx[places[k]], 1);
    if (val) __builtin_prefetch(&val[places[k]], 1);
  }
  for (int k = 0; inside && k < batch->count; k++) {
    c->idx[places[k]] = batch->columns[k];
    if (val) val[places[k]] = batch->values[k];
  }
  return inside;
}

/* Records the side of the diagonal.  Written once, so that the members do not contend for the cache
 * line. */
static void NAME(note_side)(trs_coordinate *c, int64_t i, int64_t j) {
  atomic_bool *side = i > j ? &c->below : &c->above;
  if (!atomic_load_explicit(side, memory_order_relaxed))
    atomic_store_explicit(side, true, memory_order_relaxed);
}

static bool NAME(add_mirrored)(const trs_coordinate *c, NAME(batch) * batch, const int64_t *next,
                               int64_t i, int64_t j, SCALAR value) {
  trs_symmetry symmetry = c->body->banner->symmetry;
  if (!NAME(allowed)(symmetry, i, j, value)) return false;
  if (i != j) NAME(note_side)((trs_coordinate *)c, i, j);
  if (symmetry == TRS_SKEW_SYMMETRIC) value = -value;
  if (symmetry == TRS_HERMITIAN) value = CONJ(value);
  if (i != j) NAME(add)(c, batch, next, j, i, value);
  return true;
}

/* Reads the line [line, line_end) of a text that ends at `end`. */
static inline bool NAME(read_line)(const trs_coordinate *c, NAME(batch) * batch,
                                   const int64_t *next, const char *line, const char *line_end,
                                   const char *end) {
  int64_t i, j;
  SCALAR value;
  line = trs_skip_blanks(line);
  const char *after = trs_parse_indices(line, &i, &j);
  if (!after) return trs_skip_line(line, end) == line_end; /* true for a blank line or a comment */
  if (!trs_is_blank(*after) && c->body->banner->field != TRS_PATTERN) return false;
  after = NAME(parse_scalar)(after, c->body, &value);
  i--, j--;
  if (!after || trs_next_line(after, end) != line_end || (uint64_t)i >= (uint64_t)c->nrows ||
      (uint64_t)j >= (uint64_t)c->ncols)
    return false;
  NAME(add)(c, batch, next, i, j, value);
  return c->body->banner->symmetry == TRS_UNSYMMETRIC ||
         NAME(add_mirrored)(c, batch, next, i, j, value);
}

/* Reads the lines of [text, end).  False if one is bad. */
static bool NAME(fill_piece)(const trs_coordinate *c, int64_t *next, bool alone, const char *text,
                             const char *end) {
  const char *starts[TRS_LINES + 1];
  NAME(batch) batch;
  while (text < end) {
    int count = trs_find_lines(text, end, starts);
    batch.count = 0;
    for (int k = 0; k < count; k++)
      if (!NAME(read_line)(c, &batch, next, starts[k], starts[k + 1], end)) return false;
    if (!count || !NAME(place)(c, next, alone, &batch)) return false;
    text = starts[count];
  }
  return true;
}

/* Order by column; repeated entries are ordered by value, independently of their order of
 * arrival. */
static bool NAME(after)(const int32_t *idx, const SCALAR *val, int64_t a, int32_t j,
                        const SCALAR *value) {
  return idx[a] != j ? idx[a] > j : memcmp(&val[a], value, sizeof *value) > 0;
}

static void NAME(insertion_sort)(int32_t *idx, SCALAR *val, int64_t length) {
  for (int64_t k = 1; k < length; k++) {
    int32_t j = idx[k];
    SCALAR value = val[k];
    int64_t at = k;
    for (; at > 0 && NAME(after)(idx, val, at - 1, j, &value); at--) {
      idx[at] = idx[at - 1];
      val[at] = val[at - 1];
    }
    idx[at] = j;
    val[at] = value;
  }
}

static void NAME(sift_down)(int32_t *idx, SCALAR *val, int64_t root, int64_t length) {
  int32_t j = idx[root];
  SCALAR value = val[root];
  for (int64_t child; (child = 2 * root + 1) < length; root = child) {
    if (child + 1 < length && NAME(after)(idx, val, child + 1, idx[child], &val[child])) child++;
    if (!NAME(after)(idx, val, child, j, &value)) break;
    idx[root] = idx[child];
    val[root] = val[child];
  }
  idx[root] = j;
  val[root] = value;
}

/* Needs no memory and at most length log length time on any input. */
static void NAME(heap_sort)(int32_t *idx, SCALAR *val, int64_t length) {
  for (int64_t root = length / 2; root-- > 0;) NAME(sift_down)(idx, val, root, length);
  for (int64_t last = length - 1; last > 0; last--) {
    int32_t j = idx[last];
    SCALAR value = val[last];
    idx[last] = idx[0];
    val[last] = val[0];
    idx[0] = j;
    val[0] = value;
    NAME(sift_down)(idx, val, 0, last);
  }
}

/* Adds repeats in a sorted row; returns its new length. */
static int64_t NAME(merge)(int32_t *idx, SCALAR *val, int64_t length, bool *overflow) {
  int64_t count = 0;
  for (int64_t k = 0; k < length; k++) {
    if (count && idx[count - 1] == idx[k]) {
      val[count - 1] += val[k];
      REAL parts[2] = {0};
      memcpy(parts, &val[count - 1], sizeof *val);
      *overflow |= !isfinite(parts[0]) || !isfinite(parts[1]);
      continue;
    }
    idx[count] = idx[k];
    val[count++] = val[k];
  }
  return count;
}

/* Sorts row i and merges repeats.  False if a sum of repeated entries overflows. */
static bool NAME(order_row)(trs_coordinate *c, int64_t i) {
  int64_t begin = c->ptr[i], length = c->ptr[i + 1] - begin;
  int32_t *idx = c->idx + begin;
  SCALAR *val = (SCALAR *)c->val + begin;
  bool rising = true, overflow = false;
  for (int64_t k = 1; k < length; k++) rising &= idx[k] > idx[k - 1];
  c->next[i] = length;
  if (rising) return true;
  if (length <= 48)
    NAME(insertion_sort)(idx, val, length);
  else
    NAME(heap_sort)(idx, val, length);
  c->next[i] = NAME(merge)(idx, val, length, &overflow);
  if (c->next[i] < length) atomic_store_explicit(&c->repeats, true, memory_order_relaxed);
  return !overflow || c->nonfinite;
}

/* Values for row i of a pattern: a function of the seed and the position, equal on both sides of
 * the diagonal of a symmetric file. */
static void NAME(invent_row)(trs_coordinate *c, int64_t i) {
  bool symmetric = c->body->banner->symmetry == TRS_SYMMETRIC;
  uint64_t seed = c->body->reading->options.seed;
  SCALAR *val = c->val;
  double sum = 1;
  int64_t diagonal = -1;
  for (int64_t p = c->ptr[i]; p < c->ptr[i + 1]; p++) {
    int64_t j = c->idx[p], row = symmetric && j > i ? j : i, column = row == i ? j : i;
    if (i == j) {
      diagonal = p;
      continue;
    }
    REAL value = (REAL)trs_random_signed(seed, (uint64_t)(row * c->ncols + column));
    val[p] = value;
    sum += fabs((double)value);
  }
  if (diagonal >= 0) val[diagonal] = (REAL)sum;
}
