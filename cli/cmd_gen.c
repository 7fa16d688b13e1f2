/* cmd_gen.c - trireme gen: writes a matrix generated from a name to a file. */
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "files.h"
#include "leave.h"
#include "output.h"

typedef struct settings {
  const char *output;
  int precision;
  bool list;
} settings;

static const option options[] = {
    FLAG_OPTION("list", offsetof(settings, list), "list the generators"),
    FILE_OPTION(
        "output", 'o', "FILE", offsetof(settings, output),
        "write the matrix to FILE: Matrix Market (.mtx, .mtx.gz, .mtx.zst) or HDF5 (.h5); - is "
        "standard output"),
    CHOICE_OPTION(
        "precision", "s|d|c|z", offsetof(settings, precision),
        "make float (s), double (d, the default), complex float (c) or complex double (z) values"),
    {0}};

static const paragraph paragraphs[] = {
    {NULL,
     "Generates a matrix and writes it to a file. Every command that takes a matrix file also "
     "takes the name of a generated matrix, so the file is needed only by other programs."},
    {"Examples",
     "  trireme gen --list\n"
     "  trireme gen gen:poisson2d5:100 -o poisson.mtx"},
    {0}};

static int write_matrix(const input *in, const char *path) {
  trs_matrix_info info = {.struct_size = sizeof info};
  if (trs_matrix_write(in->A, path)) return leave_unwritten();
  trs_matrix_get_info(in->A, &info);
  table_title(in->name);
  table_row("matrix", "%s, %s x %s, %s", human_scalar(info.scalar), human_count(info.nrows).s,
            human_count(info.ncols).s, human_things(info.nnz, "entry", "entries").s);
  print_written(path);
  return LEAVE_SOLVED;
}

static int make(const char *name, settings *s) {
  char full[256];
  input in = {0};
  bool prefixed = !strncmp(name, "gen:", 4);
  if (snprintf(full, sizeof full, "%s%s", prefixed ? "" : "gen:", name) >= (int)sizeof full)
    return leave_usage("gen", "the name is too long");
  int code = check_writable(&s->output);
  if (code < 0) code = input_read_matrix(&in, full, s->precision, "trireme gen");
  if (code < 0) code = write_matrix(&in, s->output);
  input_free(&in);
  return code;
}

static int run(int argc, char **argv) {
  settings s = {.precision = -1};
  int code = options_parse(&cmd_gen, &s, &argc, argv);
  if (code >= 0) return code;
  if (s.list) {
    print_list(trs_generator_list());
    return LEAVE_SOLVED;
  }
  if (!argc) return leave_usage("gen", "a name is missing ('trireme gen --list' lists them)");
  if (!s.output) return leave_usage("gen", "-o FILE is missing: the file to write the matrix to");
  return make(argv[0], &s);
}

const command cmd_gen =
    COMMAND_OF("gen", "NAME -o FILE | --list", "write a generated matrix, or list the generators",
               "@generators", 0, 1);
