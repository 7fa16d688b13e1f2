/* library.c - opens other projects' shared libraries at run time: from the path in an environment
 * variable, from the loader's path, and from the folders of CUDA's toolkit and of Python's
 * packages. */
#include "library.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool bench_library_find(void *library, void *function, const char *name) {
  /* ISO C has no cast from an object's address to a function's. */
  void *address = dlsym(library, name);
  memcpy(function, &address, sizeof address);
  return address != NULL;
}

static char failed[512]; /* why a library that is there was not loaded; "" */

/* The loader's words for a file that is not there begin with that file; those for another library
 * that it needs, or for want of memory, with another name or cause. */
static void *open_one(const char *path) {
  void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
  const char *said = library ? NULL : dlerror();
  char absent[1200];
  snprintf(absent, sizeof absent, "%s: cannot open shared object file: No such file", path);
  if (said && strncmp(said, absent, strlen(absent)) != 0)
    snprintf(failed, sizeof failed, "%s", said);
  return library;
}

/* The first file that matches a pattern of folders and can be opened. */
static void *open_in(const char *folders, const char *name) {
  char pattern[2048];
  glob_t found;
  void *library = NULL;
  snprintf(pattern, sizeof pattern, "%s/%s", folders, name);
  if (!glob(pattern, 0, NULL, &found))
    for (size_t i = 0; i < found.gl_pathc && !library; i++) library = open_one(found.gl_pathv[i]);
  globfree(&found);
  return library;
}

static void *open_in_toolkit(const char *name) {
  static const char *const below[] = {"lib64", "lib", "targets/*/lib"};
  const char *const homes[] = {getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda"};
  char folders[1024];
  void *library = NULL;
  for (int h = 0; h < 3; h++)
    for (int k = 0; k < 3 && !library && homes[h] && *homes[h]; k++) {
      snprintf(folders, sizeof folders, "%s/%s", homes[h], below[k]);
      library = open_in(folders, name);
    }
  return library;
}

/* Packages of the Python of each folder in PATH. */
static void *open_in_python(const char *name) {
  const char *path = getenv("PATH");
  char folders[1024];
  void *library = NULL;
  for (const char *at = path ? path : ""; *at && !library; at += *at == ':') {
    int length = (int)strcspn(at, ":");
    snprintf(folders, sizeof folders, "%.*s/../lib/python3*/[sd][a-z]*-packages/nvidia/*/lib",
             length, at);
    library = open_in(folders, name);
    at += length;
  }
  return library;
}

/* "libmkl_rt" of "libmkl_rt.so.3" */
static const char *explain(const char *variable, const char *name) {
  static char text[512];
  const char *path = getenv(variable);
  if (*failed)
    snprintf(text, sizeof text, "%s", failed);
  else if (path && *path)
    snprintf(text, sizeof text, "%s=%s: No such file or directory", variable, path);
  else
    snprintf(text, sizeof text, "no %.*s was found; %s=PATH names one", (int)strcspn(name, "."),
             name, variable);
  return text;
}

void *bench_library_open(const char *variable, const char *const names[], const char **missing) {
  const char *path = getenv(variable);
  void *library = NULL;
  failed[0] = '\0';
  if (path && *path) {
    library = open_one(path);
  } else {
    for (int i = 0; names[i] && !library; i++) library = open_one(names[i]);
    for (int i = 0; names[i] && !library; i++) library = open_in_toolkit(names[i]);
    for (int i = 0; names[i] && !library; i++) library = open_in_python(names[i]);
  }
  *missing = library ? NULL : explain(variable, names[0]);
  return library;
}
