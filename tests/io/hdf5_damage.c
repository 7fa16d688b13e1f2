/* hdf5_damage.c - containers with a byte changed in metadata that libhdf5 does not check: an error
 * that says so, with little memory. */
#include <hdf5.h>
#include <sys/resource.h>

#include "io/io.h"
#include "io/scratch.h"
#include "test.h"

enum { N = 3 };

static const char *descriptor =
    "{\"binsparse\": {\"version\": \"0.1\", \"format\": \"CSR\", \"shape\": [3, 3], "
    "\"number_of_stored_values\": 3, \"data_types\": {\"values\": \"float64\"}}}";

/* As h5py writes it: the length is not part of the type. */
static void add_text(hid_t file) {
  hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
  H5Tset_size(type, H5T_VARIABLE);
  hid_t attribute = H5Acreate2(file, "binsparse", type, space, H5P_DEFAULT, H5P_DEFAULT);
  assert_true(H5Awrite(attribute, type, &descriptor) >= 0);
  H5Aclose(attribute);
  H5Sclose(space);
  H5Tclose(type);
}

/* In chunks that end with their checksum. */
static void add_numbers(hid_t file, const char *name, hid_t type, const void *data, hsize_t count) {
  hid_t space = H5Screate_simple(1, &count, NULL), properties = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(properties, 1, &count);
  H5Pset_fletcher32(properties);
  hid_t dataset = H5Dcreate2(file, name, type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
  assert_true(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
  H5Dclose(dataset);
  H5Pclose(properties);
  H5Sclose(space);
}

static const char *make_file(void) {
  const int64_t ptr[N + 1] = {0, 1, 2, 3};
  const int32_t idx[N] = {0, 1, 2};
  const double values[N] = {1, 2, 3};
  const char *path = scratch("damaged.h5");
  hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  assert_true(file >= 0);
  add_text(file);
  add_numbers(file, "pointers_to_1", H5T_NATIVE_INT64, ptr, N + 1);
  add_numbers(file, "indices_1", H5T_NATIVE_INT32, idx, N);
  add_numbers(file, "values", H5T_NATIVE_DOUBLE, values, N);
  H5Fclose(file);
  return path;
}

/* The first occurrence of these bytes from `from` on. */
static int64_t find(const char *bytes, size_t count, size_t from, const void *wanted,
                    size_t length) {
  for (size_t at = from; at + length <= count; at++)
    if (!memcmp(bytes + at, wanted, length)) return (int64_t)at;
  return -1;
}

static int64_t max_bytes;

static trs_status read_bytes(const char *bytes, size_t count) {
  const trs_read_options options = {.struct_size = sizeof(trs_read_options),
                                    .max_bytes = max_bytes};
  trs_matrix *A;
  trs_status status =
      trs_read_matrix(&A, scratch_bytes("damaged.h5", bytes, count), NULL, &options);
  if (!status) trs_matrix_destroy(A);
  return status;
}

/* The memory of the largest worker so far, in megabytes. */
static long worker_megabytes(void) {
  struct rusage usage;
  getrusage(RUSAGE_CHILDREN, &usage);
  return usage.ru_maxrss / 1024;
}

TEST(chunks_shorter_than_their_checksum) {
  size_t count;
  int trees = 0;
  char *bytes = scratch_load(make_file(), &count);
  assert_success(read_bytes(bytes, count));
  for (int64_t at = 0; (at = find(bytes, count, (size_t)at, "TREE\1", 5)) >= 0; at++, trees++)
    for (char size = 0; size < 4; size++) { /* of the chunk of the tree's first key */
      uint32_t before;
      memcpy(&before, bytes + at + 24, sizeof before);
      memset(bytes + at + 24, 0, sizeof before);
      bytes[at + 24] = size;
      assert_failure(TRS_ERROR_FORMAT, "damaged.h5", read_bytes(bytes, count));
      memcpy(bytes + at + 24, &before, sizeof before);
    }
  assert_int_equal(trees, 3);
  free(bytes);
}

/* The type of a text contains the size of its characters; libhdf5 allocates a character of that
 * size for each one of the text. */
static void read_characters_of_any_size(void) {
  static const unsigned char type[] = {0x19, 1, 0, 0, 16, 0, 0, 0}; /* variable text, 16 bytes */
  size_t count;
  char *bytes = scratch_load(make_file(), &count);
  int64_t at = find(bytes, count, 0, type, sizeof type);
  assert_true(at >= 0);
  char *size = bytes + at + sizeof type + 4; /* of the base type */
  assert_int_equal(*size, 1);
  for (int byte = 0; byte < 4; byte++)
    for (int value = 2; value < 256; value += 23) {
      char before = size[byte];
      size[byte] = (char)value;
      trs_status status = read_bytes(bytes, count); /* a size that fits does no harm */
      if (status || byte > 2) assert_failure(TRS_ERROR_FORMAT, "damaged.h5", status);
      size[byte] = before;
    }
  free(bytes);
}

static void need_limit(void) {
  if (SANITIZED) skip_test("a sanitizer needs the address space for itself");
}

/* The limit applies to the worker too, in addition to its own needs. */
TEST(the_worker_keeps_the_limit) {
  need_limit();
  max_bytes = 1 << 24;
  read_characters_of_any_size();
  max_bytes = 0;
  assert_true(worker_megabytes() < 150);
}

TEST(characters_of_any_size) {
  need_limit();
  read_characters_of_any_size();
  assert_true(worker_megabytes() < 600);
}

const test_program program = {.end = scratch_remove};
