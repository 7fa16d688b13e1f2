/* hdf5_links.c - containers whose parts lie elsewhere: links inside the file are followed; other
 * files are never opened. */
#include <fcntl.h>
#include <hdf5.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "factor/file.h"
#include "io/io.h"
#include "io/scratch.h"
#include "matrix/matrix.h"
#include "test.h"

enum { N = 3 };

static const char descriptor[] =
    "{\"binsparse\": {\"version\": \"0.1\", \"format\": \"CSR\", \"shape\": [3, 3], "
    "\"number_of_stored_values\": 3, \"data_types\": {\"values\": \"float64\"}}}";

static void add_text(hid_t group, const char *name, const char *text) {
  hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
  H5Tset_size(type, strlen(text));
  hid_t attribute = H5Acreate2(group, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  H5Awrite(attribute, type, text);
  H5Aclose(attribute);
  H5Sclose(space);
  H5Tclose(type);
}

static void add_numbers(hid_t group, const char *name, hid_t type, const void *data,
                        hsize_t count) {
  hid_t space = H5Screate_simple(1, &count, NULL);
  hid_t dataset = H5Dcreate2(group, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
  H5Dclose(dataset);
  H5Sclose(space);
}

static void add_values(hid_t group, const char *name) {
  const double values[N] = {1, 2, 3};
  add_numbers(group, name, H5T_NATIVE_DOUBLE, values, N);
}

/* A container without its values; returns the open file. */
static hid_t begin_file(const char *path) {
  const int64_t ptr[N + 1] = {0, 1, 2, 3};
  const int32_t idx[N] = {0, 1, 2};
  hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  assert_true(file >= 0);
  add_text(file, "binsparse", descriptor);
  add_numbers(file, "pointers_to_1", H5T_NATIVE_INT64, ptr, N + 1);
  add_numbers(file, "indices_1", H5T_NATIVE_INT32, idx, N);
  return file;
}

/* The other file: a pipe, on which a reader would wait for ever. */
static const char *elsewhere(void) {
  static char path[4096];
  snprintf(path, sizeof path, "%s", scratch("pipe.h5"));
  unlink(path);
  assert_int_equal(mkfifo(path, 0600), 0);
  return path;
}

static void refused(const char *words) {
  trs_matrix *A;
  assert_failure(TRS_ERROR_FORMAT, words, trs_read_matrix(&A, scratch("a.h5"), NULL, NULL));
}

TEST(links_inside_the_file_are_followed) {
  hid_t file = begin_file(scratch("a.h5"));
  hid_t group = H5Gcreate2(file, "data", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  trs_matrix *A;
  add_values(group, "v");
  H5Lcreate_soft("v", group, "hop", H5P_DEFAULT, H5P_DEFAULT);
  H5Lcreate_soft("/data", file, "there", H5P_DEFAULT, H5P_DEFAULT);
  H5Lcreate_soft("there/hop", file, "values", H5P_DEFAULT, H5P_DEFAULT);
  H5Gclose(group);
  H5Fclose(file);
  assert_success(trs_read_matrix(&A, scratch("a.h5"), NULL, NULL));
  assert_true(((const double *)A->val)[2] == 3);
  trs_matrix_destroy(A);
}

TEST(a_link_to_another_file_is_refused) {
  hid_t file = begin_file(scratch("a.h5"));
  H5Lcreate_external(elsewhere(), "/values", file, "values", H5P_DEFAULT, H5P_DEFAULT);
  H5Fclose(file);
  refused("a.h5: /values is a link to another file, which is not followed");
}

TEST(so_is_a_soft_link_to_one) {
  hid_t file = begin_file(scratch("a.h5"));
  hid_t group = H5Gcreate2(file, "data", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Lcreate_external(elsewhere(), "/values", group, "hop", H5P_DEFAULT, H5P_DEFAULT);
  H5Lcreate_soft("data/hop", file, "values", H5P_DEFAULT, H5P_DEFAULT);
  H5Gclose(group);
  H5Fclose(file);
  refused("a.h5: /data/hop is a link to another file, which is not followed");
}

TEST(so_is_a_group_that_is_one) {
  static const char text[] =
      "{\"factors\": {\"version\": 1, \"kind\": \"lu\", \"order\": \"amd\", \"n\": 3, "
      "\"diag_L\": \"unit\", \"diag_U\": \"nonunit\", \"nsupernodes\": 0, \"tree_nodes\": 0}}";
  hid_t file = H5Fcreate(scratch("a.h5"), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  trs_factors *F;
  add_text(file, "trireme", text);
  H5Lcreate_external(elsewhere(), "/", file, "L", H5P_DEFAULT, H5P_DEFAULT);
  H5Fclose(file);
  assert_failure(TRS_ERROR_FORMAT, "a.h5: L is a link to another file, which is not followed",
                 trs_read_factors(&F, scratch("a.h5"), NULL, NULL));
}

TEST(links_in_a_circle_are_refused) {
  hid_t file = begin_file(scratch("a.h5"));
  H5Lcreate_soft("/back", file, "values", H5P_DEFAULT, H5P_DEFAULT);
  H5Lcreate_soft("/values", file, "back", H5P_DEFAULT, H5P_DEFAULT);
  H5Fclose(file);
  refused("is a link that leads to no object");
}

TEST(external_storage_is_refused) {
  hid_t file = begin_file(scratch("a.h5"));
  hsize_t count = N;
  hid_t space = H5Screate_simple(1, &count, NULL), properties = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_external(properties, elsewhere(), 0, N * sizeof(double));
  H5Dclose(
      H5Dcreate2(file, "values", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, properties, H5P_DEFAULT));
  H5Pclose(properties);
  H5Sclose(space);
  H5Fclose(file);
  refused("a.h5: dataset /values lies in another file, which is not read");
}

TEST(a_virtual_dataset_is_refused) {
  hid_t file = begin_file(scratch("a.h5"));
  hsize_t count = N, most = H5S_UNLIMITED, start = 0, stride = 1;
  hid_t from = H5Screate_simple(1, &count, &most), to = H5Screate_simple(1, &count, &most);
  hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
  H5Sselect_hyperslab(from, H5S_SELECT_SET, &start, &stride, &most, NULL);
  H5Sselect_hyperslab(to, H5S_SELECT_SET, &start, &stride, &most, NULL);
  H5Pset_virtual(properties, to, elsewhere(), "/values", from);
  hid_t dataset =
      H5Dcreate2(file, "values", H5T_NATIVE_DOUBLE, to, H5P_DEFAULT, properties, H5P_DEFAULT);
  assert_true(dataset >= 0);
  H5Dclose(dataset);
  H5Pclose(properties);
  H5Sclose(from);
  H5Sclose(to);
  H5Fclose(file);
  refused("a.h5: dataset /values lies in another file, which is not read");
}

const test_program program = {.end = scratch_remove};
