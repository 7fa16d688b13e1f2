/* hdf5_write.c - writes groups of datasets to an HDF5 file: metadata first, then the arrays one
 * after the other, at disk speed.  All members of a team compute the checksums. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/checksum.h"
#include "io/hdf5_encode.h"
#include "io/output_file.h"
#include "matrix/matrix.h"

enum { MOST_EXTENTS = TRS_HDF5_DATASETS * (1 + TRS_HDF5_GROUPS) };

typedef struct writing {
  trs_team *team;
  int count;
  int64_t file_bytes;
  trs_hdf5_extent extents[MOST_EXTENTS];
  uint32_t *crcs; /* one per member */
  const trs_hdf5_extent *current;
} writing;

static const char *const type_names[] = {"int32", "int64", "float32", "float64"};

static const char *const value_names[] = {[TRS_FLOAT] = "float32",
                                          [TRS_DOUBLE] = "float64",
                                          [TRS_SCOMPLEX] = "complex[float32]",
                                          [TRS_DCOMPLEX] = "complex[float64]"};

void trs_hdf5_describe_matrix(trs_hdf5_group *group, const char *name, const trs_matrix *A) {
  bool complex_values = trs_scalar_is_complex(A->scalar);
  trs_hdf5_type type = trs_scalar_is_double(A->scalar) ? TRS_HDF5_F64 : TRS_HDF5_F32;
  *group = (trs_hdf5_group){
      .name = name,
      .attribute = "binsparse",
      .ndatasets = 3,
      .datasets = {{"pointers_to_1", TRS_HDF5_I64, A->nvectors + 1, A->ptr},
                   {"indices_1", TRS_HDF5_I32, A->nnz, A->idx},
                   {"values", type, complex_values ? 2 * A->nnz : A->nnz, A->val}}};
  snprintf(group->text, sizeof group->text,
           "{\"binsparse\": {\"version\": \"0.1\", \"format\": \"%s\", \"shape\": [%lld, %lld], "
           "\"number_of_stored_values\": %lld, \"data_types\": {\"pointers_to_1\": \"%s\", "
           "\"indices_1\": \"%s\", \"values\": \"%s\"}}}",
           A->format == TRS_CSR ? "CSR" : "CSC", (long long)A->nrows, (long long)A->ncols,
           (long long)A->nnz, type_names[TRS_HDF5_I64], type_names[TRS_HDF5_I32],
           value_names[A->scalar]);
}

static void lay_out(writing *w, const trs_hdf5_group *group) {
  for (int k = 0; k < group->ndatasets; k++) {
    const trs_hdf5_dataset *dataset = &group->datasets[k];
    int64_t bytes = dataset->count * trs_hdf5_type_size(dataset->type);
    int64_t offset = (w->file_bytes + TRS_HDF5_ALIGNMENT - 1) & -(int64_t)TRS_HDF5_ALIGNMENT;
    w->extents[w->count++] = (trs_hdf5_extent){dataset, offset, bytes, 0};
    if (bytes) w->file_bytes = offset + bytes;
  }
  for (int k = 0; k < group->ngroups; k++) lay_out(w, group->groups[k]);
}

static void crc_body(void *argument, int rank, int size) {
  writing *w = argument;
  int64_t begin, end;
  trs_share(w->current->bytes, rank, size, &begin, &end);
  w->crcs[rank] = trs_crc32(0, (const char *)w->current->dataset->data + begin, end - begin);
}

static void compute_crc(writing *w, trs_hdf5_extent *extent) {
  int size = extent->bytes > 1 << 20 ? trs_team_size(w->team) : 1;
  w->current = extent;
  trs_team_run(w->team, size, crc_body, w);
  for (int rank = 0; rank < size; rank++) {
    int64_t begin, end;
    trs_share(extent->bytes, rank, size, &begin, &end);
    extent->crc = trs_crc32_join(extent->crc, w->crcs[rank], end - begin);
  }
}

static trs_status write_extents(const writing *w, trs_output *output) {
  static const char zeros[TRS_HDF5_ALIGNMENT];
  int64_t at = TRS_HDF5_METADATA;
  for (int k = 0; k < w->count; k++) {
    const trs_hdf5_extent *extent = &w->extents[k];
    if (!extent->bytes) continue;
    TRS_TRY(trs_output_write(output, zeros, extent->offset - at));
    TRS_TRY(trs_output_write(output, extent->dataset->data, extent->bytes));
    at = extent->offset + extent->bytes;
  }
  return TRS_SUCCESS;
}

static trs_status write_all(writing *w, unsigned char *metadata, const trs_hdf5_group *root,
                            trs_output *output) {
  lay_out(w, root);
  for (int k = 0; k < w->count; k++) compute_crc(w, &w->extents[k]);
  TRS_TRY(trs_hdf5_encode(metadata, root, w->extents, w->file_bytes));
  TRS_TRY(trs_output_write(output, metadata, TRS_HDF5_METADATA));
  return write_extents(w, output);
}

trs_status trs_hdf5_write_file(const trs_hdf5_group *root, const char *path, trs_team *team) {
  writing w = {.team = team, .file_bytes = TRS_HDF5_METADATA};
  unsigned char *metadata = NULL;
  trs_output output;
  if (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__)
    return trs_fail(TRS_ERROR_UNSUPPORTED, -1, "%s: only little-endian machines write HDF5", path);
  TRS_TRY(trs_output_open(&output, path));
  trs_status status = TRS_ALLOC(&w.crcs, trs_team_size(team));
  if (!status) status = TRS_ALLOC(&metadata, TRS_HDF5_METADATA);
  if (!status) status = write_all(&w, metadata, root, &output);
  TRS_FREE_ALL(w.crcs, metadata);
  return trs_output_close(&output, status);
}

trs_status trs_hdf5_write(const trs_matrix *A, const char *path, trs_team *team) {
  trs_hdf5_group root;
  trs_hdf5_describe_matrix(&root, "/", A);
  return trs_hdf5_write_file(&root, path, team);
}
