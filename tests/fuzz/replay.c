/* replay.c - runs a fuzz target on the given files, or on all files of the given directories, for
 * compilers without libFuzzer. */
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "fuzz.h"

static int run_file(const char *path) {
  static uint8_t data[1 << 20];
  FILE *file = fopen(path, "rb");
  if (!file) return 1;
  size_t size = fread(data, 1, sizeof data, file);
  fclose(file);
  LLVMFuzzerTestOneInput(data, size);
  return 0;
}

int main(int argc, char **argv) {
  int files = 0, failures = 0;
  for (int k = 1; k < argc; k++) {
    DIR *directory = opendir(argv[k]);
    if (!directory) {
      files++;
      failures += run_file(argv[k]);
      continue;
    }
    for (struct dirent *entry; (entry = readdir(directory));) {
      char path[4096];
      if (*entry->d_name == '.') continue;
      snprintf(path, sizeof path, "%s/%s", argv[k], entry->d_name);
      files++;
      failures += run_file(path);
    }
    closedir(directory);
  }
  printf("%d inputs, %d could not be read\n", files, failures);
  return failures || !files;
}
