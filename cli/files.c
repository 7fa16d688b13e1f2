/* files.c - reads the operand M, and writes files that appear complete or not at all. */
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "io/ending.h"
#include "io/replace.h"
#include "leave.h"
#include "progress.h"
#include "report.h"
#include "stream.h"

trs_scalar scalar_chosen(int precision) { return (trs_scalar)(precision + 1); }

static trs_status read_any(input *in, const trs_read_options *options) {
  trs_content content;
  trs_status status = trs_file_content(&content, in->name);
  if (status) return status;
  return content == TRS_CONTENT_FACTORS ? trs_factors_read(&in->F, in->name, options)
                                        : trs_matrix_read(&in->A, in->name, options);
}

static trs_read_options reading(int precision) {
  return (trs_read_options){.struct_size = sizeof(trs_read_options),
                            .scalar = scalar_chosen(precision),
                            .progress = progress_show,
                            .max_bytes = files_max_bytes()};
}

trs_status input_try(input *in, const char *name, int precision) {
  trs_read_options options = reading(precision);
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
  trs_read_options options = reading(precision);
  *in = (input){.name = name, .deferred = true};
  progress_begin();
  double start = seconds_now();
  trs_status status = trs_matrix_open(&in->A, name, format, uplo, add_diagonal, &options);
  in->seconds = seconds_now() - start;
  progress_end();
  return status;
}

bool names_generator(const char *name) {
  const size_t length = strcspn(name, ":");
  for (const char *line = trs_generator_list(); line; line = strchr(line, '\n')) {
    line += *line == '\n';
    if (!strncmp(line, "gen:", 4) && strcspn(line + 4, ":") == length &&
        !strncmp(line + 4, name, length))
      return true;
  }
  return false;
}

int input_leave(const char *name) {
  const trs_error *error = trs_last_error();
  if (error->status != TRS_ERROR_FILE || !names_generator(name)) return leave_library(NULL);
  return leave(LEAVE_INPUT, trs_status_name(error->status), -1,
               "%s; the generated matrix is gen:%s", error->message, name);
}

int input_read(input *in, const char *name, int precision) {
  return input_try(in, name, precision) ? input_leave(name) : -1;
}

int input_read_matrix(input *in, const char *name, int precision, const char *task) {
  int code = input_read(in, name, precision);
  if (code >= 0 || in->A) return code;
  input_free(in);
  return leave(LEAVE_INPUT, trs_status_name(TRS_ERROR_FORMAT), -1,
               "%s holds factors; %s needs a matrix", name, task);
}

static bool same_file(const char *one, const char *other) {
  struct stat a, b;
  return !stat(one, &a) && !stat(other, &b) && S_ISREG(a.st_mode) && a.st_dev == b.st_dev &&
         a.st_ino == b.st_ino;
}

/* A file that is as the matrix is, and one that has not as many columns as were asked for. */
static int check_columns(const input *in, const char *path, int64_t n, int64_t wanted,
                         int64_t nrhs) {
  enum { FEW = 100 };
  if (wanted && nrhs != wanted)
    return leave(
        LEAVE_INPUT, trs_status_name(TRS_ERROR_ARGUMENT), -1, "%s has %s, and --nrhs says %s", path,
        human_things(nrhs, "right-hand side", "right-hand sides").s, human_count(wanted).s);
  if (wanted || nrhs != n || n < FEW) return -1;
  return leave(LEAVE_INPUT, trs_status_name(TRS_ERROR_ARGUMENT), -1,
               "%s has as many columns as %s: if it is a matrix, name a file of right-hand sides; "
               "if all of them are right-hand sides, say --nrhs %lld",
               path, in->name, (long long)n);
}

int input_rhs(const input *in, const char *path, trs_scalar scalar, int64_t n, int64_t wanted,
              void **b, int64_t *nrhs) {
  int64_t rows;
  trs_read_options options = reading(-1);
  const double limit = files_limit();
  if (limit > 0) options.max_bytes = (int64_t)(limit / 2) + 1; /* x takes as much */
  if (same_file(path, in->name))
    return leave(LEAVE_INPUT, trs_status_name(TRS_ERROR_ARGUMENT), -1,
                 "%s is the matrix, of which -b would make %s dense right-hand sides: name a file "
                 "of right-hand sides, or leave -b out for a random one",
                 path, human_count(n).s);
  progress_begin();
  trs_status status = trs_vectors_read(b, &rows, nrhs, scalar, path, &options);
  progress_end();
  if (status && scalar < TRS_SCOMPLEX && strstr(trs_last_error()->message, "complex type"))
    return leave(
        LEAVE_INPUT, trs_status_name(status), -1,
        "%s holds complex values and %s real ones: 'trireme solve --precision z' solves in "
        "complex numbers ('c': in float)",
        path, in->name);
  if (status) return leave_library(NULL);
  if (rows == n && *nrhs > 0) return check_columns(in, path, n, wanted, *nrhs);
  return leave(LEAVE_INPUT, trs_status_name(TRS_ERROR_FORMAT), -1,
               "%s is %s x %s, but %s needs right-hand sides of %s rows", path, human_count(rows).s,
               human_count(*nrhs).s, in->name, human_count(n).s);
}

bool is_incomplete(trs_factor_kind kind) {
  return kind == TRS_FACTOR_ILU0 || kind == TRS_FACTOR_IC0 || kind >= TRS_FACTOR_BILU0;
}

void input_free(input *in) {
  trs_matrix_destroy(in->A);
  trs_factors_destroy(in->F);
  in->A = NULL;
  in->F = NULL;
  in->deferred = false;
}

static double max_gigabytes; /* 0: the library's default */

void files_limit_memory(double gigabytes) { max_gigabytes = gigabytes; }

int64_t files_max_bytes(void) { return (int64_t)(max_gigabytes * 1e9); }

double files_limit(void) {
  if (max_gigabytes != 0) return max_gigabytes * 1e9;
  return 0.5 * (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
}

static struct {
  char path[32];   /* the former path of standard output, or "" */
  int file;        /* its descriptor */
  long hard_links; /* further names (hard links) of the file to be replaced */
} written;

static int open_standard_output(const char **path) {
  if (output_json())
    return leave_usage(NULL, "-o - and --json both write to standard output: give -o a file");
  fflush(stdout);
  int file = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (file < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
    return leave(LEAVE_INPUT, trs_status_name(TRS_ERROR_FILE), -1,
                 "cannot write to standard output: %s", strerror(errno));
  written.file = file;
  snprintf(written.path, sizeof written.path, "/dev/fd/%d", file);
  *path = written.path;
  return -1;
}

int check_writable_beside(const char **path, const char *const inputs[2]) {
  for (int k = 0; k < 2; k++)
    if (inputs[k] && same_file(*path, inputs[k]))
      return leave(LEAVE_USAGE, trs_status_name(TRS_ERROR_ARGUMENT), -1,
                   "%s is read, and -o would replace it: name another file", *path);
  return check_writable(path);
}

int check_writable(const char **path) {
  struct stat about;
  if (!strcmp(*path, "-")) {
    int code = open_standard_output(path);
    if (code >= 0) return code;
  } else if (!stat(*path, &about) && S_ISREG(about.st_mode)) {
    written.hard_links = (long)about.st_nlink - 1;
  }
  const char *ending = trs_ending_refused(*path);
  if (ending)
    return leave(LEAVE_USAGE, trs_status_name(TRS_ERROR_ARGUMENT), -1, TRS_ENDING_REFUSED, *path,
                 ending);
  return check_text_writable(*path);
}

int leave_unwritten(void) {
  const trs_error *error = trs_last_error();
  const char *named = *written.path ? strstr(error->message, written.path) : NULL;
  if (!named) return leave_library(NULL);
  end_if_reader_left(written.file);
  return leave(LEAVE_INPUT, trs_status_name(error->status), -1, "cannot write to standard output%s",
               named + strlen(written.path));
}

void print_written(const char *path) {
  if (*written.path)
    table_row("written", "to standard output");
  else
    table_row("written", "%s, %s", human_name(path).s, human_bytes((double)file_bytes(path)).s);
  if (written.hard_links <= 0) return;
  table_row("", "%s was replaced: %s of the old file %s its old content", human_name(path).s,
            human_things(written.hard_links, "other name", "other names").s,
            written.hard_links == 1 ? "keeps" : "keep");
  report_count("output_links_kept_old", written.hard_links);
}

static int leave_unwritable(const char *path, int error) {
  return leave(LEAVE_INPUT, trs_status_name(TRS_ERROR_FILE), -1, "cannot write %s: %s", path,
               strerror(error));
}

int check_text_writable(const char *path) {
  if (!*path)
    return leave(LEAVE_USAGE, trs_status_name(TRS_ERROR_ARGUMENT), -1, "the path is empty");
  int error = trs_replace_check(path);
  return error ? leave_unwritable(path, error) : -1;
}

bool names_hdf5(const char *path) {
  const char *dot = strrchr(path, '.');
  return dot && (trs_same_letters(dot, ".h5", 4) || trs_same_letters(dot, ".hdf5", 6));
}

static ssize_t append(void *memory, const char *bytes, size_t count) {
  memory_text *t = memory;
  char *grown = realloc(t->text, t->length + count + 1);
  if (!grown) return -1;
  memcpy(grown + t->length, bytes, count);
  t->text = grown;
  t->length += count;
  t->text[t->length] = '\0';
  return (ssize_t)count;
}

FILE *memory_text_open(memory_text *t) {
  *t = (memory_text){0};
  return stream_open(t, append);
}

int text_file_open(text_file *f, const char *path) {
  f->path = path;
  f->stream = memory_text_open(&f->memory);
  return f->stream ? -1 : leave_memory(BUFSIZ, "a file's text");
}

static int write_text(const text_file *f) {
  trs_replace output;
  int error = trs_replace_open(&output, f->path);
  if (!error) {
    error = trs_replace_write(&output, f->memory.text, (int64_t)f->memory.length);
    int closed = trs_replace_close(&output, !error);
    if (!error) error = closed;
  }
  return error ? leave_unwritable(f->path, error) : -1;
}

int text_file_close(text_file *f, int code) {
  bool good = !ferror(f->stream);
  good &= !fclose(f->stream);
  if (code < 0 && !good) code = leave_memory((double)f->memory.length, "a file's text");
  if (code < 0) code = write_text(f);
  free(f->memory.text);
  return code;
}

int64_t file_bytes(const char *path) {
  struct stat status;
  return stat(path, &status) ? 0 : (int64_t)status.st_size;
}
