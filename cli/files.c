/* files.c - reading the operand M, and writing files that appear whole or not at all. */
#include "files.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "command.h"
#include "output.h"
#include "progress.h"

trs_scalar scalar_chosen(int precision) { return (trs_scalar)(precision + 1); }

static trs_status read_any(input *in, const trs_read_options *options) {
  trs_content content;
  trs_status status = trs_file_content(&content, in->name);
  if (status) return status;
  return content == TRS_CONTENT_FACTORS ? trs_factors_read(&in->F, in->name, options)
                                        : trs_matrix_read(&in->A, in->name, options);
}

trs_status input_try(input *in, const char *name, int precision) {
  trs_read_options options = {.struct_size = sizeof(trs_read_options),
                              .scalar = scalar_chosen(precision),
                              .progress = progress_show};
  *in = (input){.name = name};
  progress_begin();
  double start = seconds_now();
  trs_status status = read_any(in, &options);
  in->seconds = seconds_now() - start;
  progress_end();
  return status;
}

trs_status input_open(input *in, const char *name, int precision, trs_format format, trs_uplo uplo,
                      bool add_diagonal) {
  trs_read_options options = {.struct_size = sizeof(trs_read_options),
                              .scalar = scalar_chosen(precision),
                              .progress = progress_show};
  *in = (input){.name = name, .deferred = true};
  progress_begin();
  double start = seconds_now();
  trs_status status = trs_matrix_open(&in->A, name, format, uplo, add_diagonal, &options);
  in->seconds = seconds_now() - start;
  progress_end();
  return status;
}

int input_read(input *in, const char *name, int precision) {
  return input_try(in, name, precision) ? leave_library(NULL) : -1;
}

int input_read_matrix(input *in, const char *name, int precision, const char *task) {
  int code = input_read(in, name, precision);
  if (code >= 0 || in->A) return code;
  input_free(in);
  return leave(LEAVE_INPUT, trs_status_name(TRS_ERROR_FORMAT), -1,
               "%s holds factors; %s needs a matrix", name, task);
}

void input_free(input *in) {
  trs_matrix_destroy(in->A);
  trs_factors_destroy(in->F);
  in->A = NULL;
  in->F = NULL;
  in->deferred = false;
}

int check_writable(const char *path) {
  return trs_write_path_check(path) ? leave_library(NULL) : -1;
}

int check_text_writable(const char *path) {
  return trs_text_path_check(path) ? leave_library(NULL) : -1;
}

bool names_hdf5(const char *path) {
  const char *dot = strrchr(path, '.');
  return dot && (!strcmp(dot, ".h5") || !strcmp(dot, ".hdf5"));
}

int text_file_open(text_file *f, const char *path) {
  *f = (text_file){.path = path};
  f->stream = open_memstream(&f->text, &f->length);
  return f->stream ? -1 : leave_memory(BUFSIZ, "a file's text");
}

int text_file_close(text_file *f) {
  bool good = !ferror(f->stream);
  good &= !fclose(f->stream);
  int code = good ? -1 : leave_memory((double)f->length, "a file's text");
  if (good && trs_text_write(f->text, (int64_t)f->length, f->path)) code = leave_library(NULL);
  free(f->text);
  return code;
}

int64_t file_bytes(const char *path) {
  struct stat status;
  return stat(path, &status) ? 0 : (int64_t)status.st_size;
}
