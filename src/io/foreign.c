/* foreign.c - recognises files of SciPy, NumPy, MATLAB and PETSc.  The commands need Python with
 * SciPy, and h5py where they import it; tests/cli/convert.py executes them. */
#include "io/foreign.h"

#include <stdio.h>
#include <string.h>

typedef struct foreign {
  const char *magic; /* the first bytes; NULL: known by the ending alone */
  int length;
  const char *ending; /* NULL: known by the first bytes alone */
  const char *what;
  const char *imports, *code; /* Python: writes p + '.mtx' from the file p */
} foreign;

#define SPARSE ", scipy.sparse as q"

/* The structs of the SuiteSparse collection, or a variable of any name. */
#define MATLAB                                                       \
  "d = s.loadmat(p, simplify_cells=True); d = d.get('Problem', d); " \
  "s.mmwrite(p + '.mtx', next(v for v in d.values() if getattr(v, 'ndim', 0) == 2))"

#define MATLAB_HDF5                                                             \
  "f = h5py.File(p); k = []; f.visit(k.append); "                               \
  "g = next(f[i] for i in k if 'MATLAB_sparse' in f[i].attrs); "                \
  "s.mmwrite(p + '.mtx', q.csc_matrix((g['data'][:], g['ir'][:], g['jc'][:]), " \
  "(g.attrs['MATLAB_sparse'], len(g['jc']) - 1)))"

/* The file does not say whether values are complex; vectors may follow the matrix. */
#define PETSC(index)                                                  \
  "f = open(p, 'rb'); r = lambda k: n.fromfile(f, '>" index           \
  "', k) * 1; "                                                       \
  "_, m, c, z = r(4); k = r(m); j = r(z); v = n.fromfile(f, '>f8'); " \
  "v = v.view('>c16') if len(v) == 2 * z else v[:z]; "                \
  "s.mmwrite(p + '.mtx', q.csr_matrix((v * 1, j, n.r_[0, k.cumsum()]), (m, c)))"

#define PETSC_VEC(head) \
  "s.mmwrite(p + '.mtx', n.fromfile(p, '>f8', offset=" head ").reshape(-1, 1) * 1)"

static const foreign formats[] = {
    {"PK\x03\x04", 4, ".npz", "scipy.sparse.save_npz", SPARSE,
     "s.mmwrite(p + '.mtx', q.load_npz(p))"},
    {"\x93NUMPY", 6, ".npy", "numpy.save", ", numpy as n",
     "a = n.load(p); s.mmwrite(p + '.mtx', a.reshape(len(a), -1))"},
    {"MATLAB 7.3 MAT-file", 19, NULL, "MATLAB", ", h5py" SPARSE, MATLAB_HDF5},
    {"MATLAB 5.0 MAT-file", 19, ".mat", "MATLAB", "", MATLAB},
    {"\x00\x12\x7b\x50", 4, NULL, "PETSc", ", numpy as n" SPARSE, PETSC("i4")},
    {"\x00\x00\x00\x00\x00\x12\x7b\x50", 8, NULL, "PETSc", ", numpy as n" SPARSE, PETSC("i8")},
    {"\x00\x12\x7b\x4e", 4, NULL, "PETSc", ", numpy as n", PETSC_VEC("8")},
    {"\x00\x00\x00\x00\x00\x12\x7b\x4e", 8, NULL, "PETSc", ", numpy as n", PETSC_VEC("16")},
};

const char *trs_shell_word(char *word, size_t size, const char *path) {
  static const char plain[] =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+-:=@,";
  size_t length = strlen(path), at = 0;
  if (length && strspn(path, plain) == length)
    return (size_t)snprintf(word, size, "%s", path) < size ? word : NULL;
  if (4 * length + 3 > size) return NULL;
  word[at++] = '\'';
  for (size_t k = 0; k < length; k++) {
    if (path[k] == '\'') {
      memcpy(word + at, "'\\''", 4);
      at += 4;
    } else {
      word[at++] = path[k];
    }
  }
  word[at++] = '\'';
  word[at] = '\0';
  return word;
}

/* A path that leaves no room for the command is shortened to the file's name. */
static trs_status refuse(const foreign *f, const char *path) {
  enum { REST = 140 }; /* bytes of the message beside the path, the command's variable parts */
  char word[256];
  const char *name = trs_shell_word(word, sizeof word, path), *slash = strrchr(path, '/');
  const size_t code = REST + strlen(f->what) + strlen(f->imports) + strlen(f->code);
  if (!name || code + strlen(path) + strlen(name) > sizeof((trs_failure *)NULL)->message) {
    path = slash ? slash + 1 : path;
    name = "FILE";
  }
  return trs_fail(TRS_ERROR_UNSUPPORTED, -1,
                  "%s is a file of %s, which is not read: make a .mtx file beside it by "
                  "python3 -c \"import sys, scipy.io as s%s; p = sys.argv[1]; %s\" %s",
                  path, f->what, f->imports, f->code, name);
}

/* A zip archive of arrays of NumPy; its first entry's name is at 30. */
static bool holds_arrays(const trs_source *source) {
  const char *first = source->first;
  const int length = (unsigned char)first[26], end = 30 + length;
  return source->nfirst > 30 && end <= source->nfirst && length > 4 &&
         !memcmp(first + end - 4, ".npy", 4);
}

static bool matches(const foreign *f, const trs_source *source, const char *ending) {
  const bool named = f->ending && ending && !strcmp(ending, f->ending);
  if (source->nfirst >= f->length && !memcmp(source->first, f->magic, (size_t)f->length))
    return f->magic[0] != 'P' || named || holds_arrays(source);
  return named && source->nfirst && source->first[0] != '%';
}

trs_status trs_foreign_check(const trs_source *source) {
  const char *path = source->reading->path, *ending = strrchr(path, '.');
  for (size_t k = 0; k < sizeof formats / sizeof *formats; k++)
    if (matches(&formats[k], source, ending)) return refuse(&formats[k], path);
  return TRS_SUCCESS;
}

trs_status trs_foreign_check_text(const char *path, const char *text, int64_t length) {
  enum { MAGIC = 257 };
  char word[256];
  if (length < MAGIC + 5 || memcmp(text + MAGIC, "ustar", 5)) return TRS_SUCCESS;
  const char *name = trs_shell_word(word, sizeof word, path);
  return trs_fail(TRS_ERROR_UNSUPPORTED, -1, "%s is an archive: unpack it first (tar xf %s)", path,
                  name ? name : "FILE");
}
