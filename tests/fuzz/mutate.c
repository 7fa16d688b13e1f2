/* mutate.c - HDF5 files with some bytes changed, with or without corrected checksums of their
 * metadata: read with or without an error that names the fault, but never with a crash, a hang or
 * gigabytes of memory. Usage: fuzz_mutate COUNT SEED FILE-OR-FOLDER ...; mutation k of a seed is
 * always the same. */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/random.h"
#include "base/timer.h"
#include "factor/file.h"
#include "fuzz.h"
#include "base/checksum.h"
#include "io/io.h"
#include "matrix/matrix.h"

enum {
  MOST_FILES = 64,
  MOST_BLOCKS = 256,
  LARGEST = 1 << 17,
  LONGEST_BLOCK = 4096,
  MOST_CHANGES = 6,
  MOST_MEGABYTES = 2000
};

/* A part of the file that ends with its checksum. */
typedef struct block {
  size_t at, length;
} block;

typedef struct original {
  char name[4096];
  uint8_t *bytes;
  size_t size;
  int nblocks;
  block blocks[MOST_BLOCKS];
} original;

typedef struct tally {
  long succeeded, refused, ended, slow, memory;
  double longest;
} tally;

static original originals[MOST_FILES];
static int noriginals;

/* ---- Files. ---- */

static uint32_t number_at(const uint8_t *bytes) {
  return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
         (uint32_t)bytes[3] << 24;
}

/* Blocks begin with a name of four letters, the superblock with byte 137. */
static int is_name(const uint8_t *at) {
  if (at[0] == 137) return 1;
  for (int k = 0; k < 4; k++)
    if (at[k] < 'A' || at[k] > 'Z') return 0;
  return 1;
}

static void find_blocks(original *o) {
  for (size_t at = 0; at + 12 <= o->size && o->nblocks < MOST_BLOCKS; at++) {
    if (!is_name(o->bytes + at)) continue;
    for (size_t length = 8; length <= LONGEST_BLOCK && at + length + 4 <= o->size; length++)
      if (number_at(o->bytes + at + length) == trs_lookup3(o->bytes + at, (int64_t)length)) {
        o->blocks[o->nblocks++] = (block){at, length};
        break;
      }
  }
}

static void add_file(const char *path) {
  FILE *file = fopen(path, "rb");
  CLAIM(file && noriginals < MOST_FILES);
  original *o = &originals[noriginals++];
  o->bytes = malloc(LARGEST);
  CLAIM(o->bytes);
  o->size = fread(o->bytes, 1, LARGEST, file);
  snprintf(o->name, sizeof o->name, "%s", path);
  fclose(file);
  find_blocks(o);
}

static void add(const char *path) {
  struct dirent **entries;
  int count = scandir(path, &entries, NULL, alphasort);
  if (count < 0) {
    add_file(path);
    return;
  }
  for (int k = 0; k < count; k++) {
    char name[4096];
    snprintf(name, sizeof name, "%s/%s", path, entries[k]->d_name);
    if (*entries[k]->d_name != '.') add_file(name);
    free(entries[k]);
  }
  free(entries);
}

/* ---- Mutations. ---- */

static uint64_t below(uint64_t seed, uint64_t *at, uint64_t limit) {
  return trs_random_below(seed, (*at)++, limit);
}

static void mend(const original *o, uint8_t *bytes) {
  for (int k = o->nblocks - 1; k >= 0; k--) {
    const block *b = &o->blocks[k];
    uint32_t sum = trs_lookup3(bytes + b->at, (int64_t)b->length);
    for (int byte = 0; byte < 4; byte++)
      bytes[b->at + b->length + byte] = (uint8_t)(sum >> 8 * byte);
  }
}

/* Half of the changes are made to bytes that are not zero, where there is metadata and data. */
static size_t mutate(const original *o, uint8_t *bytes, uint64_t seed) {
  static const uint8_t values[] = {0, 1, 2, 3, 4, 8, 16, 127, 128, 255};
  uint64_t at = 0;
  size_t size = o->size;
  memcpy(bytes, o->bytes, size);
  int changes = 1 + (int)below(seed, &at, MOST_CHANGES);
  if (changes > 2 && below(seed, &at, 2)) changes = 1;
  for (int k = 0; k < changes; k++) {
    size_t where = below(seed, &at, size);
    for (int tries = 0; tries < 8 && !bytes[where] && tries % 2 == 0; tries++)
      where = below(seed, &at, size);
    if (below(seed, &at, 2))
      bytes[where] ^= (uint8_t)(1 << below(seed, &at, 8));
    else
      bytes[where] = values[below(seed, &at, sizeof values)];
  }
  if (below(seed, &at, 4)) mend(o, bytes);
  return below(seed, &at, 50) ? size : below(seed, &at, size);
}

/* ---- Memory. ---- */

/* The most that this process or a worker has had. */
static double most_megabytes(void) {
  struct rusage here, workers;
  getrusage(RUSAGE_SELF, &here);
  getrusage(RUSAGE_CHILDREN, &workers);
  return (double)(here.ru_maxrss > workers.ru_maxrss ? here.ru_maxrss : workers.ru_maxrss) / 1e3;
}

/* ---- Reading. ---- */

static trs_status read_part(const char *path, int number) {
  trs_factors_part part;
  trs_status status = trs_read_factors_part(&part, path, TRS_SCALAR_DEFAULT, number, 3);
  trs_factors_part_release(&part);
  return status;
}

static trs_status read_file(const char *path, int is_factors, uint64_t how) {
  trs_matrix *A;
  trs_factors *F;
  trs_content content;
  if (is_factors && how % 4 == 0) return read_part(path, (int)(how / 4 % 3));
  if (how % 16 == 1) return trs_find_content(&content, path);
  if (is_factors) {
    TRS_TRY(trs_read_factors(&F, path, NULL, NULL));
    trs_factors_destroy(F);
    return TRS_SUCCESS;
  }
  TRS_TRY(trs_read_matrix(&A, path, NULL, NULL));
  trs_matrix_destroy(A);
  return TRS_SUCCESS;
}

/* Writes a file with a name, which the HDF5 library checks. */
static const char *write_file(const uint8_t *bytes, size_t size) {
  static char path[] = "/tmp/trireme-mutate-XXXXXX";
  static int fd = -1;
  if (fd < 0) fd = mkstemp(path);
  CLAIM(fd >= 0 && !ftruncate(fd, 0) && pwrite(fd, bytes, size, 0) == (ssize_t)size);
  return path;
}

static volatile uint64_t current;

/* If the program ends here, prints the number of the mutation. */
static void say_mutation(int number) {
  char text[64];
  int length = snprintf(text, sizeof text, "at mutation %llu\n", (unsigned long long)current);
  (void)!write(STDERR_FILENO, text, (size_t)length);
  signal(number, SIG_DFL);
  raise(number);
}

static void watch(void) {
  signal(SIGABRT, say_mutation);
#ifndef TRS_SANITIZE_ADDRESS /* the sanitizer reports more about these signals, and aborts */
  signal(SIGSEGV, say_mutation);
  signal(SIGBUS, say_mutation);
#endif
}

static void try(tally *t, uint64_t seed) {
  static uint8_t bytes[LARGEST];
  current = seed;
  const original *o = &originals[seed % (uint64_t)noriginals];
  int is_factors = strstr(o->name, "factors") != NULL;
  const char *path = write_file(bytes, mutate(o, bytes, seed));
  double begin = trs_seconds();
  trs_status status = read_file(path, is_factors, trs_random_below(seed, 999, 48));
  double took = trs_seconds() - begin;
  const char *said = status ? trs_last_error()->message : "";
  if (took > t->longest) t->longest = took;
  t->succeeded += !status;
  t->refused += status != 0;
  t->ended += strstr(said, "ended with") != NULL;
  t->memory += status == TRS_ERROR_MEMORY;
  if (strstr(said, "was stopped")) {
    t->slow++;
    printf("slow: %s, mutation %llu: %s\n", o->name, (unsigned long long)seed, said);
  }
  if (getenv("SAY") && status) printf("%s: %s\n", o->name, said);
  CLAIM(!status || *said);
  CLAIM(most_megabytes() < MOST_MEGABYTES);
}

int main(int argc, char **argv) {
  tally t = {0};
  int64_t held;
  CLAIM(argc > 3);
  watch();
  for (int k = 3; k < argc; k++) add(argv[k]);
  long count = atol(argv[1]);
  uint64_t first = strtoull(argv[2], NULL, 10);
  for (long k = 0; k < count; k++) {
    try(&t, first + (uint64_t)k);
    if (k % 5000 == 4999) fprintf(stderr, "%ld\n", k + 1);
  }
  trs_memory_usage(&held, NULL);
  printf(
      "%ld mutations of %d files: %ld read, %ld refused; the library ended %ld times, was stopped "
      "%ld times, was short of memory %ld times; longest %.2f s, a process had %.0f MB at most\n",
      count, noriginals, t.succeeded, t.refused, t.ended, t.slow, t.memory, t.longest,
      most_megabytes());
  unlink(write_file(NULL, 0));
  CLAIM(held == 0);
  return 0;
}
