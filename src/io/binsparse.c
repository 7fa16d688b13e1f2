/* binsparse.c - reads a matrix from a group of an HDF5 file in the layout of the Binsparse
 * specification: formats CSR, CSC, COO (COOR) and COOC, any structure, complex and constant ("iso")
 * values. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "io/expand.h"
#include "io/hdf5.h"
#include "io/json.h"
#include "matrix/matrix.h"
#include "matrix/values.h"

typedef struct container {
  trs_hdf5_file *file;
  const trs_reading *reading;
  const char *group;
  trs_entries entries; /* shape, structure and arrays */
  int64_t stored;      /* elements of the dataset of values: 1 if constant, else one per entry */
  bool complex_values;
  bool filled; /* the file gives a value for absent entries */
} container;

static trs_status bad_descriptor(const container *c, const char *problem) {
  return trs_fail(TRS_ERROR_FORMAT, -1, "%s: the \"binsparse\" descriptor of group %s %s",
                  c->reading->path, c->group, problem);
}

static trs_status unsupported(const container *c, const char *what, char *value,
                              const char *instead) {
  for (char *at = value; *at; at++)
    if (!trs_is_plain(*at)) *at = '?';
  return trs_fail(TRS_ERROR_UNSUPPORTED, -1, "%s: group %s has the %s \"%s\", which is not read%s",
                  c->reading->path, c->group, what, value, instead);
}

static int find(const char *text, const char *const *names, int count) {
  for (int n = 0; n < count; n++)
    if (!strcmp(text, names[n])) return n;
  return -1;
}

/* Versions with different second numbers differ too: 0.1 is a draft. */
static trs_status read_version(container *c, trs_json descriptor) {
  char text[32];
  trs_json version = trs_json_member(descriptor, "version");
  if (!trs_json_string(version, text, sizeof text))
    return bad_descriptor(c, "has no version: add \"version\": \"0.1\"");
  if (!strcmp(text, "0.1") || !strncmp(text, "0.1.", 4)) return TRS_SUCCESS;
  return unsupported(c, "version", text, ": 0.1 is");
}

static trs_status read_format(container *c, trs_json descriptor) {
  static const char *const names[] = {"CSR", "CSC", "COO", "COOR", "COOC"};
  static const trs_entries_kind kinds[] = {TRS_ROWS, TRS_COLUMNS, TRS_PAIRS, TRS_PAIRS,
                                           TRS_SWAPPED_PAIRS};
  char text[64];
  if (!trs_json_string(trs_json_member(descriptor, "format"), text, sizeof text))
    return bad_descriptor(c, "has no format");
  int kind = find(text, names, 5);
  if (kind < 0) return unsupported(c, "format", text, ": CSR, CSC, COO (COOR) and COOC are");
  c->entries.kind = kinds[kind];
  return TRS_SUCCESS;
}

static trs_status read_structure(container *c, trs_json descriptor) {
  static const char *const names[] = {"general",
                                      "symmetric_lower",
                                      "symmetric_upper",
                                      "skew_symmetric_lower",
                                      "skew_symmetric_upper",
                                      "hermitian_lower",
                                      "hermitian_upper"};
  trs_json structure = trs_json_member(descriptor, "structure");
  char text[64];
  if (!structure.begin) return TRS_SUCCESS;
  if (!trs_json_string(structure, text, sizeof text))
    return bad_descriptor(c, "has an unreadable structure");
  int kind = find(text, names, 7);
  if (kind < 0) return unsupported(c, "structure", text, "");
  c->entries.symmetry = (trs_symmetry)((kind + 1) / 2);
  c->entries.upper = kind && kind % 2 == 0;
  if (kind && c->entries.nrows != c->entries.ncols)
    return bad_descriptor(c, "is symmetric but not square");
  return TRS_SUCCESS;
}

static trs_status read_shape(container *c, trs_json descriptor) {
  trs_json shape = trs_json_member(descriptor, "shape");
  trs_entries *e = &c->entries;
  if (!trs_json_integer(trs_json_element(shape, 0), &e->nrows) ||
      !trs_json_integer(trs_json_element(shape, 1), &e->ncols) || trs_json_element(shape, 2).begin)
    return bad_descriptor(c, "has no shape of two integers");
  if (e->nrows < 0 || e->ncols < 0 || e->nrows > INT32_MAX || e->ncols > INT32_MAX)
    return bad_descriptor(c, "has a shape beyond 2147483647 x 2147483647");
  if (!trs_json_integer(trs_json_member(descriptor, "number_of_stored_values"), &e->count) ||
      e->count < 0)
    return bad_descriptor(c, "has no number_of_stored_values");
  return TRS_SUCCESS;
}

/* Removes "WORD[" from the front. */
static bool unwrap(const char **text, const char *word) {
  size_t length = strlen(word);
  if (strncmp(*text, word, length) || (*text)[length] != '[') return false;
  *text += length + 1;
  return true;
}

static trs_status read_value_type(container *c, trs_json descriptor) {
  trs_json types = trs_json_member(descriptor, "data_types");
  char text[64];
  const char *at = text;
  if (!trs_json_string(trs_json_member(types, "values"), text, sizeof text))
    return bad_descriptor(c, "has no data type for values");
  c->stored = unwrap(&at, "iso") ? 1 : c->entries.count;
  c->complex_values = unwrap(&at, "complex");
  if (strlen(at) > 16 || c->entries.count > INT64_MAX / 32)
    return bad_descriptor(c, "has an impossible data type or number of values");
  return TRS_SUCCESS;
}

static trs_status read_descriptor(container *c, const char *text) {
  trs_json json = trs_json_parse(text, strlen(text));
  trs_json descriptor = trs_json_member(json, "binsparse");
  if (!json.begin) return bad_descriptor(c, "is not valid JSON");
  if (!descriptor.begin) descriptor = json; /* some writers omit the outer object */
  trs_json fill = trs_json_member(descriptor, "fill");
  c->filled = fill.begin && *fill.begin == 't';
  TRS_TRY(read_version(c, descriptor));
  TRS_TRY(read_format(c, descriptor));
  TRS_TRY(read_shape(c, descriptor));
  TRS_TRY(read_structure(c, descriptor));
  TRS_TRY(read_value_type(c, descriptor));
  if (c->entries.symmetry == TRS_HERMITIAN && !c->complex_values)
    return bad_descriptor(
        c, "is hermitian, which only complex values can be: real ones are symmetric");
  return TRS_SUCCESS;
}

static trs_status find_descriptor(container *c) {
  char *text = NULL;
  TRS_TRY(trs_hdf5_get_text(c->file, c->group, "binsparse", &text));
  if (!text)
    return trs_fail(TRS_ERROR_FORMAT, -1,
                    "%s: group %s has no attribute \"binsparse\": it holds no Binsparse matrix "
                    "(trs_factors_read reads files of factors)",
                    c->reading->path, c->group);
  trs_status status = read_descriptor(c, text);
  trs_free(text);
  return status;
}

/* Absent entries are zeros; the file may state that value. */
static trs_status check_fill(container *c) {
  double *value, parts[2] = {0};
  int64_t count = c->complex_values ? 2 : 1;
  if (!c->filled) return TRS_SUCCESS;
  TRS_TRY(
      trs_hdf5_get_array(c->file, c->group, "fill_value", TRS_HDF5_F64, count, (void **)&value));
  memcpy(parts, value, (size_t)count * sizeof *value);
  trs_free(value);
  if (parts[0] == 0 && parts[1] == 0) return TRS_SUCCESS;
  return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                  "%s: group %s has a fill value other than 0, which is not read: absent entries "
                  "of a sparse matrix are 0",
                  c->reading->path, c->group);
}

static trs_status read_pattern(container *c) {
  trs_entries *e = &c->entries;
  if (e->kind == TRS_ROWS || e->kind == TRS_COLUMNS)
    TRS_TRY(trs_hdf5_get_array(c->file, c->group, "pointers_to_1", TRS_HDF5_I64,
                               (e->kind == TRS_ROWS ? e->nrows : e->ncols) + 1, (void **)&e->ptr));
  else
    TRS_TRY(trs_hdf5_get_array(c->file, c->group, "indices_0", TRS_HDF5_I32, e->count,
                               (void **)&e->major));
  return trs_hdf5_get_array(c->file, c->group, "indices_1", TRS_HDF5_I32, e->count,
                            (void **)&e->minor);
}

/* Converts the numbers read to the wanted type.  A constant value is copied to all entries. */
static trs_status convert_values(container *c, void *numbers, trs_scalar stored) {
  trs_entries *e = &c->entries;
  int64_t step = c->stored == e->count ? 1 : 0;
  if (stored == e->scalar && step) {
    e->val = numbers;
    return TRS_SUCCESS;
  }
  size_t size = trs_scalar_size(e->scalar);
  trs_status status = trs_alloc(&e->val, e->count, size);
  if (!status && step) trs_values_convert(e->val, e->scalar, numbers, stored, e->count);
  for (int64_t k = 0; !status && !step && k < e->count; k++)
    trs_values_convert((char *)e->val + (size_t)k * size, e->scalar, numbers, stored, 1);
  trs_free(numbers);
  return status;
}

static trs_status check_finite(const container *c) {
  const trs_entries *e = &c->entries;
  int64_t parts = trs_scalar_is_complex(e->scalar) ? 2 : 1;
  trs_scalar part = trs_scalar_is_double(e->scalar) ? TRS_DOUBLE : TRS_FLOAT;
  bool odd = false;
  if (c->reading->options.allow_nonfinite) return TRS_SUCCESS;
  if (part == TRS_DOUBLE)
    for (int64_t k = 0; k < parts * e->count; k++)
      odd |= !(fabs(((const double *)e->val)[k]) <= DBL_MAX);
  else
    for (int64_t k = 0; k < parts * e->count; k++)
      odd |= !(fabsf(((const float *)e->val)[k]) <= FLT_MAX);
  for (int64_t k = 0; odd && k < parts * e->count; k++)
    if (!isfinite(trs_value_abs(e->val, k, part)))
      return trs_fail(TRS_ERROR_FORMAT, -1, "%s: dataset %s/values: element %lld is not finite",
                      c->reading->path, strcmp(c->group, "/") ? c->group : "", (long long)k);
  return TRS_SUCCESS;
}

/* True if entries are in canonical order, so that nothing has to be moved.  Checks each pointer
 * before using it. */
static bool in_order(const trs_entries *e) {
  if ((e->kind != TRS_ROWS && e->kind != TRS_COLUMNS) || e->symmetry != TRS_UNSYMMETRIC)
    return false;
  int64_t n = e->kind == TRS_ROWS ? e->nrows : e->ncols;
  if (e->ptr[0] != 0 || e->ptr[n] != e->count) return false;
  for (int64_t i = 0; i < n; i++) {
    if (e->ptr[i + 1] < e->ptr[i] || e->ptr[i + 1] > e->count) return false;
    for (int64_t k = e->ptr[i] + 1; k < e->ptr[i + 1]; k++)
      if (e->minor[k] <= e->minor[k - 1]) return false;
  }
  return true;
}

static trs_status read_values(container *c) {
  trs_entries *e = &c->entries;
  trs_pattern_only *pattern = c->reading->pattern;
  TRS_TRY(trs_reading_scalar(c->reading, c->complex_values, &e->scalar));
  if (pattern && !pattern->whole) {
    if (c->stored == e->count && in_order(e)) return trs_alloc(&e->val, 0, 1);
    pattern->whole = true;
  }
  bool wide = trs_scalar_is_double(e->scalar);
  void *numbers = NULL;
  TRS_TRY(trs_hdf5_get_array(c->file, c->group, "values", wide ? TRS_HDF5_F64 : TRS_HDF5_F32,
                             c->complex_values ? 2 * c->stored : c->stored, &numbers));
  TRS_TRY(convert_values(c, numbers, trs_scalar_of(wide, c->complex_values)));
  return check_finite(c);
}

/* Faults of the entries are faults of the file: changes the status to TRS_ERROR_FORMAT. */
static trs_status blame_file(const container *c, trs_status status) {
  trs_failure failure;
  if (status != TRS_ERROR_STRUCTURE) return status;
  trs_failure_get(&failure);
  return trs_fail(TRS_ERROR_FORMAT, failure.row, "%s: group %s: %s", c->reading->path, c->group,
                  failure.message);
}

static trs_status read_matrix(container *c, trs_matrix **A) {
  trs_status status = find_descriptor(c);
  if (!status) status = check_fill(c);
  if (!status) status = read_pattern(c);
  if (!status) status = read_values(c);
  if (status) {
    trs_entries_release(&c->entries);
    return status;
  }
  return blame_file(c, trs_entries_adopt(A, &c->entries));
}

trs_status trs_hdf5_get_matrix(trs_hdf5_file *file, const trs_reading *reading, const char *group,
                               trs_matrix **A) {
  container c = {.file = file, .reading = reading, .group = group};
  *A = NULL;
  return read_matrix(&c, A);
}

static trs_status read_part(container *c, int part, int parts, trs_hdf5_part *p) {
  trs_entries *e = &c->entries;
  int64_t each = c->complex_values ? 2 : 1, from = e->count * part / parts;
  int64_t to = e->count * (part + 1) / parts;
  bool wide = trs_scalar_is_double(e->scalar);
  trs_array_slice indices = {.from = from, .to = to};
  void *numbers = NULL;
  p->slice = (trs_array_slice){.from = each * from, .to = each * to};
  TRS_TRY(trs_hdf5_get_array(c->file, c->group, "pointers_to_1", TRS_HDF5_I64, p->n + 1,
                             (void **)&p->ptr));
  e->ptr = p->ptr;
  TRS_TRY(blame_file(c, trs_entries_check_pointers(e)));
  TRS_TRY(trs_hdf5_get_slice(c->file, c->group, "indices_1", TRS_HDF5_I32, e->count, &indices,
                             (void **)&p->idx));
  TRS_TRY(trs_hdf5_get_slice(c->file, c->group, "values", wide ? TRS_HDF5_F64 : TRS_HDF5_F32,
                             each * e->count, &p->slice, &numbers));
  p->slice.from = from;
  p->slice.to = to;
  e->count = c->stored = to - from;
  TRS_TRY(convert_values(c, numbers, trs_scalar_of(wide, c->complex_values)));
  p->val = e->val;
  return check_finite(c);
}

trs_status trs_hdf5_get_part(trs_hdf5_file *file, const trs_reading *reading, const char *group,
                             int part, int parts, trs_hdf5_part *p) {
  container c = {.file = file, .reading = reading, .group = group};
  *p = (trs_hdf5_part){0};
  TRS_TRY(find_descriptor(&c));
  TRS_TRY(trs_reading_scalar(reading, c.complex_values, &c.entries.scalar));
  if ((c.entries.kind != TRS_ROWS && c.entries.kind != TRS_COLUMNS) || c.stored != c.entries.count)
    return trs_fail(TRS_ERROR_FORMAT, -1, "%s: group %s has changed while it was read",
                    reading->path, group);
  p->rows = c.entries.kind == TRS_ROWS;
  p->scalar = c.entries.scalar;
  p->n = p->rows ? c.entries.nrows : c.entries.ncols;
  return read_part(&c, part, parts, p);
}

trs_status trs_hdf5_read(trs_matrix **A, const trs_reading *reading) {
  trs_hdf5_file *file;
  TRS_TRY(trs_hdf5_open(&file, reading));
  trs_reading_progress(reading, "reading", 0);
  trs_status status = trs_hdf5_get_matrix(file, reading, "/", A);
  trs_hdf5_close(file);
  if (!status) trs_reading_progress(reading, "reading", 1);
  return status;
}
