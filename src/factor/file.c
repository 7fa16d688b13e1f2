/* file.c - factors in an HDF5 file: groups "L" and "U", each a Binsparse matrix; permutations,
 * scalings, supernodes and the separator tree as datasets beside them, if known; all other facts in
 * the attribute "trireme", in JSON. */
#include "factor/file.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "factor/factors.h"
#include "io/hdf5.h"
#include "io/json.h"
#include "io/limit.h"

static const char *const kind_names[] = {"lu", "ilu0", "ic0", "triangle", "bilu0", "bic0", "dilu"};
static const char *const order_names[] = {
    [TRS_ORDER_ND] = "nd",   [TRS_ORDER_AMD] = "amd",       [TRS_ORDER_NATURAL] = "natural",
    [TRS_ORDER_RCM] = "rcm", [TRS_ORDER_COLOUR] = "colour", [TRS_ORDER_COLAMD] = "colamd"};
static const char *const diag_names[] = {"nonunit", "unit"};

enum { FILE_VERSION = 1 };

/* ---- Writing ------------------------------------------------------------------------------ */

static void add_dataset(trs_hdf5_group *group, const char *name, trs_hdf5_type type, int64_t count,
                        const void *data) {
  if (data) group->datasets[group->ndatasets++] = (trs_hdf5_dataset){name, type, count, data};
}

static void describe(trs_hdf5_group *root, const trs_factors_info *f) {
  *root = (trs_hdf5_group){.name = "/", .attribute = "trireme"};
  trs_print(root->text, sizeof root->text,
            "{\"factors\": {\"version\": %d, \"kind\": \"%s\", \"order\": \"%s\", \"n\": %lld, "
            "\"diag_L\": \"%s\", \"diag_U\": \"%s\", \"nsupernodes\": %lld, \"tree_nodes\": %lld, "
            "\"block_size\": %d, \"shift\": %.17g, \"levels\": %d}}",
            FILE_VERSION, kind_names[f->kind], order_names[f->order], (long long)f->n,
            diag_names[f->diag_L], diag_names[f->diag_U], (long long)f->nsupernodes,
            (long long)f->tree_nodes, f->block_size, f->shift, f->levels);
  add_dataset(root, "row_perm", TRS_HDF5_I32, f->n, f->row_perm);
  add_dataset(root, "col_perm", TRS_HDF5_I32, f->n, f->col_perm);
  add_dataset(root, "row_scale", TRS_HDF5_F64, f->n, f->row_scale);
  add_dataset(root, "col_scale", TRS_HDF5_F64, f->n, f->col_scale);
  add_dataset(root, "supernode_ptr", TRS_HDF5_I64, f->nsupernodes + 1, f->supernode_ptr);
  add_dataset(root, "tree_ptr", TRS_HDF5_I64, f->tree_nodes + 1, f->tree_ptr);
  add_dataset(root, "tree_parent", TRS_HDF5_I32, f->tree_nodes, f->tree_parent);
}

trs_status trs_write_factors(const trs_factors *F, const char *path, trs_team *team) {
  trs_factors_info info = {.struct_size = sizeof info};
  trs_hdf5_group root, lower, upper;
  if (!F || !path) return trs_fail(TRS_ERROR_ARGUMENT, -1, "%s is NULL", F ? "path" : "F");
  if (!trs_hdf5_is_name(path))
    return trs_fail(TRS_ERROR_ARGUMENT, -1,
                    "%s: factors are written as HDF5: give a name that ends with .h5", path);
  trs_factors_get_info(F, &info);
  describe(&root, &info);
  trs_hdf5_describe_matrix(&lower, "L", info.L);
  trs_hdf5_describe_matrix(&upper, "U", info.U);
  root.ngroups = 2;
  root.groups[0] = &lower;
  root.groups[1] = &upper;
  return trs_hdf5_write_file(&root, path, team);
}

/* ---- Reading ------------------------------------------------------------------------------ */

typedef struct source {
  trs_hdf5_file *file;
  const trs_reading *reading;
  trs_factors parts;
  int64_t block; /* of L and U; 0: none is given */
} source;

static trs_status bad_attribute(const source *s, const char *name) {
  return trs_fail(TRS_ERROR_FORMAT, -1,
                  "%s: the attribute \"trireme\" has no %s, or an unknown one", s->reading->path,
                  name);
}

/* The index in names of the value of that member. */
static trs_status get_choice(const source *s, trs_json factors, const char *name,
                             const char *const *names, int count, int *choice) {
  char text[32];
  if (!trs_json_string(trs_json_member(factors, name), text, sizeof text))
    return bad_attribute(s, name);
  for (*choice = 0; *choice < count; ++*choice)
    if (!strcmp(text, names[*choice])) return TRS_SUCCESS;
  return bad_attribute(s, name);
}

static trs_status get_count(const source *s, trs_json factors, const char *name, int64_t *count) {
  if (!trs_json_integer(trs_json_member(factors, name), count) || *count < 0 || *count > INT32_MAX)
    return bad_attribute(s, name);
  return TRS_SUCCESS;
}

/* Files of earlier versions have none: 0. */
static trs_status get_shift(const source *s, trs_json factors, double *shift) {
  const trs_json value = trs_json_member(factors, "shift");
  const char *end;
  *shift = 0;
  if (!value.begin) return TRS_SUCCESS;
  *shift = trs_number(value.begin, &end);
  return end == value.end && isfinite(*shift) && *shift >= 0 ? TRS_SUCCESS
                                                             : bad_attribute(s, "shift");
}

static trs_status read_attribute(source *s, const char *text) {
  trs_factors *f = &s->parts;
  trs_json factors = trs_json_member(trs_json_parse(text, strlen(text)), "factors");
  int64_t version, levels = 0;
  int kind, order, diag_L, diag_U;
  TRS_TRY(get_count(s, factors, "version", &version));
  if (version != FILE_VERSION)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1, "%s holds factors in version %lld, not %d",
                    s->reading->path, (long long)version, FILE_VERSION);
  TRS_TRY(get_choice(s, factors, "kind", kind_names, TRS_FACTOR_DILU + 1, &kind));
  TRS_TRY(get_choice(s, factors, "order", order_names + TRS_ORDER_ND, TRS_ORDER_COLAMD, &order));
  TRS_TRY(get_choice(s, factors, "diag_L", diag_names, 2, &diag_L));
  TRS_TRY(get_choice(s, factors, "diag_U", diag_names, 2, &diag_U));
  TRS_TRY(get_count(s, factors, "n", &f->n));
  TRS_TRY(get_count(s, factors, "nsupernodes", &f->nsupernodes));
  TRS_TRY(get_count(s, factors, "tree_nodes", &f->tree_nodes));
  TRS_TRY(get_shift(s, factors, &f->shift));
  if (trs_json_integer(trs_json_member(factors, "levels"), &levels) &&
      (levels < 0 || levels > INT_MAX))
    return bad_attribute(s, "levels");
  f->levels = (int)levels;
  if (trs_json_integer(trs_json_member(factors, "block_size"), &s->block) &&
      (s->block < 1 || s->block > TRS_RELAX_MOST_BLOCK || f->n % s->block))
    return bad_attribute(s, "block_size");
  f->kind = (trs_factor_kind)kind;
  f->order = (trs_order)(TRS_ORDER_ND + order);
  f->diag_L = (trs_diag)diag_L;
  f->diag_U = (trs_diag)diag_U;
  return TRS_SUCCESS;
}

/* Reads an array that may be absent. */
static trs_status get_array(const source *s, const char *name, trs_hdf5_type type, int64_t count,
                            void *data) {
  bool has;
  TRS_TRY(trs_hdf5_has(s->file, "/", name, &has));
  if (!has) return TRS_SUCCESS;
  return trs_hdf5_get_array(s->file, "/", name, type, count, data);
}

static trs_status read_arrays(source *s) {
  trs_factors *f = &s->parts;
  TRS_TRY(get_array(s, "row_perm", TRS_HDF5_I32, f->n, &f->row_perm));
  TRS_TRY(get_array(s, "col_perm", TRS_HDF5_I32, f->n, &f->col_perm));
  TRS_TRY(get_array(s, "row_scale", TRS_HDF5_F64, f->n, &f->row_scale));
  TRS_TRY(get_array(s, "col_scale", TRS_HDF5_F64, f->n, &f->col_scale));
  if (f->nsupernodes)
    TRS_TRY(get_array(s, "supernode_ptr", TRS_HDF5_I64, f->nsupernodes + 1, &f->supernode_ptr));
  if (f->tree_nodes) {
    TRS_TRY(get_array(s, "tree_ptr", TRS_HDF5_I64, f->tree_nodes + 1, &f->tree_ptr));
    TRS_TRY(get_array(s, "tree_parent", TRS_HDF5_I32, f->tree_nodes, &f->tree_parent));
  }
  return TRS_SUCCESS;
}

static trs_status read_matrices(source *s) {
  trs_factors *f = &s->parts;
  TRS_TRY(trs_hdf5_get_matrix(s->file, s->reading, "L", &f->L));
  trs_reading_progress(s->reading, "reading", 0.5);
  TRS_TRY(trs_hdf5_get_matrix(s->file, s->reading, "U", &f->U));
  if (f->L->nrows != f->n || f->U->nrows != f->n)
    return trs_fail(TRS_ERROR_FORMAT, -1, "%s: L and U are not of the declared order %lld",
                    s->reading->path, (long long)f->n);
  f->L->block = f->U->block = s->block > 1 ? (int)s->block : 0;
  return TRS_SUCCESS;
}

static trs_status read_parts(source *s) {
  char *text = NULL;
  TRS_TRY(trs_hdf5_get_text(s->file, "/", "trireme", &text));
  if (!text)
    return trs_fail(TRS_ERROR_FORMAT, -1,
                    "%s holds no factors: its attribute \"trireme\" is missing", s->reading->path);
  trs_status status = read_attribute(s, text);
  trs_free(text);
  if (!status) status = read_arrays(s);
  return status ? status : read_matrices(s);
}

/* Faults that trs_factors_adopt finds are faults of the file: changes the status to
 * TRS_ERROR_FORMAT. */
static trs_status adopt(trs_factors **F, const source *s) {
  trs_failure failure;
  trs_status status = trs_factors_adopt(F, &s->parts);
  if (status != TRS_ERROR_STRUCTURE && status != TRS_ERROR_ARGUMENT) return status;
  trs_failure_get(&failure);
  return trs_fail(TRS_ERROR_FORMAT, failure.row, "%s: %s", s->reading->path, failure.message);
}

static trs_status read_file(trs_factors **F, const trs_reading *reading) {
  source s = {.reading = reading};
  *F = NULL;
  trs_limit limit;
  TRS_TRY(trs_limit_begin(&limit, reading));
  trs_status status = trs_hdf5_open(&s.file, reading);
  if (!status) status = read_parts(&s);
  trs_hdf5_close(s.file);
  if (status)
    trs_factors_release_parts(&s.parts);
  else
    status = adopt(F, &s);
  status = trs_limit_end(&limit, status);
  if (!status) trs_reading_progress(reading, "reading", 1);
  return status;
}

trs_status trs_read_factors(trs_factors **F, const char *path, trs_team *team,
                            const trs_read_options *options) {
  if (!F || !path) return trs_fail(TRS_ERROR_ARGUMENT, -1, "%s is NULL", F ? "path" : "F");
  trs_reading reading = {.path = path, .team = team};
  if (options) reading.options = *options;
  return read_file(F, &reading);
}

trs_status trs_read_factors_pattern(trs_factors **F, const char *path, trs_scalar scalar,
                                    bool *whole) {
  if (!path) return trs_fail(TRS_ERROR_ARGUMENT, -1, "path is NULL");
  trs_pattern_only pattern = {0};
  trs_reading reading = {.path = path, .options = {.scalar = scalar}, .pattern = &pattern};
  trs_status status = read_file(F, &reading);
  if (!status && pattern.whole) { /* reads L again too, if only U is out of order */
    trs_factors_destroy(*F);
    status = trs_read_factors(F, path, NULL, &reading.options);
  }
  *whole = pattern.whole;
  return status;
}

static trs_status read_part(source *s, trs_factors_part *part, int number, int parts) {
  char *text = NULL;
  TRS_TRY(trs_hdf5_get_text(s->file, "/", "trireme", &text));
  trs_status status = text ? read_attribute(s, text) : bad_attribute(s, "text");
  trs_free(text);
  if (!status) status = read_arrays(s);
  if (!status && parts)
    status = trs_hdf5_get_part(s->file, s->reading, "L", number, parts, &part->side[0]);
  if (!status && parts)
    status = trs_hdf5_get_part(s->file, s->reading, "U", number, parts, &part->side[1]);
  return status;
}

trs_status trs_read_factors_part(trs_factors_part *part, const char *path, trs_scalar scalar,
                                 int number, int parts) {
  trs_reading reading = {.path = path, .options = {.scalar = scalar}};
  source s = {.reading = &reading};
  *part = (trs_factors_part){.side = {{.ptr = NULL}}};
  trs_limit limit;
  TRS_TRY(trs_limit_begin(&limit, &reading));
  trs_status status = trs_hdf5_open(&s.file, &reading);
  if (!status) status = read_part(&s, part, number, parts);
  trs_hdf5_close(s.file);
  status = trs_limit_end(&limit, status);
  part->F = s.parts;
  part->F.scalar = part->side[0].scalar;
  return status;
}

void trs_factors_part_release(trs_factors_part *part) {
  trs_factors_release_parts(&part->F);
  for (int k = 0; k < 2; k++) {
    TRS_FREE_ALL(part->side[k].ptr, part->side[k].idx, part->side[k].val);
  }
}

trs_status trs_find_content(trs_content *content, const char *path) {
  if (!content || !path)
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "%s is NULL", content ? "path" : "content");
  trs_reading reading = {.path = path};
  trs_hdf5_file *file;
  char *text = NULL;
  bool hdf5;
  *content = TRS_CONTENT_MATRIX;
  if (!strncmp(path, "gen:", 4)) return TRS_SUCCESS;
  TRS_TRY(trs_hdf5_is_file(path, &hdf5));
  if (!hdf5) return TRS_SUCCESS;
  TRS_TRY(trs_hdf5_open(&file, &reading));
  trs_status status = trs_hdf5_get_text(file, "/", "trireme", &text);
  trs_hdf5_close(file);
  if (text) *content = TRS_CONTENT_FACTORS;
  trs_free(text);
  return status;
}
