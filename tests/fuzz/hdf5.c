/* hdf5.c - HDF5 files with any descriptor, types, lengths, content and layout.  The HDF5 library
 * makes the file, which is therefore well-formed: random bytes would only find errors in that
 * library, which does not survive them (tests/fuzz/README.md). */
#include <hdf5.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "factor/file.h"
#include "fuzz.h"
#include "io/io.h"
#include "matrix/matrix.h"

typedef struct input {
  const uint8_t *at, *end;
} input;

static unsigned take(input *in) { return in->at < in->end ? *in->at++ : 0; }

static hid_t choose_type(unsigned choice) {
  switch (choice % 12) {
    case 0:
      return H5T_STD_I32LE;
    case 1:
      return H5T_STD_I64LE;
    case 2:
      return H5T_STD_U32LE;
    case 3:
      return H5T_STD_U64LE;
    case 4:
      return H5T_IEEE_F32LE;
    case 5:
      return H5T_IEEE_F64LE;
    case 6:
      return H5T_STD_I8LE;
    case 7:
      return H5T_STD_U16BE;
    case 8:
      return H5T_IEEE_F64BE;
    case 9:
      return H5T_C_S1;
    case 10:
      return H5T_STD_B8LE;
    default:
      return H5T_STD_I64LE;
  }
}

/* A dataset of a few elements with bytes of the input. */
static void add_dataset(hid_t group, const char *name, input *in) {
  unsigned how = take(in), count = take(in) % 40;
  hsize_t dims[2] = {count, 1}, chunk[2] = {3, 1};
  int rank = how & 0x40 ? 2 : 1;
  hid_t type = choose_type(how), properties = H5Pcreate(H5P_DATASET_CREATE);
  hid_t space = how & 0x80 ? H5Screate(H5S_SCALAR) : H5Screate_simple(rank, dims, NULL);
  if (how & 0x20 && !(how & 0x80) && count) {
    H5Pset_chunk(properties, rank, chunk);
    if (how & 0x10) H5Pset_deflate(properties, 1);
  }
  hid_t dataset = H5Dcreate2(group, name, type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
  uint8_t bytes[41 * 8] = {0};
  size_t element = H5Tget_size(type);
  for (size_t k = 0; k < element * (count ? count : 1); k++)
    bytes[k] = element > 1 && k % element > 0 && !(how & 0x08) ? 0 : (uint8_t)take(in);
  if (dataset >= 0 && !(how & 0x04 && how & 0x02 && how & 0x01))
    H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes);
  if (dataset >= 0) H5Dclose(dataset);
  H5Sclose(space);
  H5Pclose(properties);
}

static void add_text(hid_t group, const char *name, input *in) {
  char text[512] = "";
  unsigned length = take(in) + 128u * (take(in) % 3);
  for (unsigned k = 0; k < length && k < sizeof text - 1; k++) text[k] = (char)take(in);
  if (!*text) return;
  hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
  H5Tset_size(type, strlen(text));
  hid_t attribute = H5Acreate2(group, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  if (attribute >= 0) H5Awrite(attribute, type, text);
  if (attribute >= 0) H5Aclose(attribute);
  H5Sclose(space);
  H5Tclose(type);
}

/* Shapes, formats and types that match often enough to pass the first check. */
static void add_descriptor(hid_t group, input *in) {
  static const char *const formats[] = {"CSR", "CSC", "COO", "COOC"};
  static const char *const structures[] = {"general",         "symmetric_lower",
                                           "symmetric_upper", "skew_symmetric_lower",
                                           "hermitian_lower", "hermitian_upper"};
  static const char *const types[] = {"float64", "complex[float64]", "iso[float64]",
                                      "iso[complex[float32]]"};
  char text[512];
  unsigned f = take(in), n = take(in) % 6;
  int length = snprintf(text, sizeof text,
                        "{\"binsparse\": {\"version\": \"0.1\", \"fill\": %s, \"format\": \"%s\", "
                        "\"shape\": [%u, %u], \"structure\": \"%s\", "
                        "\"number_of_stored_values\": %u, \"data_types\": {\"values\": \"%s\"}}}",
                        f & 64 ? "true" : "false", formats[f % 4], n, f & 128 ? n : take(in) % 6,
                        structures[f / 4 % 6], take(in) % 20, types[take(in) % 4]);
  hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
  H5Tset_size(type, (size_t)length);
  hid_t attribute = H5Acreate2(group, "binsparse", type, space, H5P_DEFAULT, H5P_DEFAULT);
  H5Awrite(attribute, type, text);
  H5Aclose(attribute);
  H5Sclose(space);
  H5Tclose(type);
}

static void add_matrix(hid_t group, input *in) {
  unsigned which = take(in);
  if (which & 1)
    add_descriptor(group, in);
  else
    add_text(group, "binsparse", in);
  if (which & 2) add_dataset(group, "pointers_to_1", in);
  if (which & 4) add_dataset(group, "indices_0", in);
  if (!(which & 8)) add_dataset(group, "indices_1", in);
  if (!(which & 16)) add_dataset(group, "values", in);
  if (which & 32) add_dataset(group, "fill_value", in);
}

static void add_factors(hid_t file, input *in) {
  static const char *const names[] = {"row_perm",      "col_perm", "row_scale",  "col_scale",
                                      "supernode_ptr", "tree_ptr", "tree_parent"};
  unsigned which = take(in);
  add_text(file, "trireme", in);
  for (int k = 0; k < 7; k++)
    if (which >> k & 1) add_dataset(file, names[k], in);
  for (int k = 0; k < 2; k++) {
    hid_t group = H5Gcreate2(file, k ? "U" : "L", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    add_matrix(group, in);
    H5Gclose(group);
  }
}

static void make_file(const char *path, input *in, int factors) {
  hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  if (take(in) & 1) H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_LATEST);
  hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
  CLAIM(file >= 0);
  if (factors)
    add_factors(file, in);
  else
    add_matrix(file, in);
  H5Fclose(file);
  H5Pclose(access);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static char path[64];
  if (!*path) {
    snprintf(path, sizeof path, "/tmp/trireme-fuzz-%ld.h5", (long)getpid());
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  }
  input in = {data, data + size};
  int factors = take(&in) % 4 == 0;
  make_file(path, &in, factors);
  if (factors) {
    trs_factors *F;
    if (!trs_read_factors(&F, path, NULL, NULL)) trs_factors_destroy(F);
  } else {
    trs_matrix *A;
    trs_scalar scalar = (trs_scalar)(TRS_FLOAT + size % 4);
    trs_read_options options = {.struct_size = sizeof(trs_read_options), .scalar = scalar};
    if (!trs_read_matrix(&A, path, NULL, &options)) trs_matrix_destroy(A);
  }
  unlink(path);
  return 0;
}
