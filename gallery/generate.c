/* generate.c - the list of generators: search by name, and their descriptions. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "gallery/request.h"
#include "io/generated.h"

static const trs_generator *const generators[] = {
    &trs_generator_poisson2d5,  &trs_generator_poisson2d9,   &trs_generator_poisson3d7,
    &trs_generator_poisson3d27, &trs_generator_elasticity3d, &trs_generator_kkt3d,
    &trs_generator_delaunay,    &trs_generator_powerlaw,     &trs_generator_random,
    &trs_generator_chain,       &trs_generator_wingmesh,
};
enum { NGENERATORS = sizeof generators / sizeof generators[0] };

static char list[2048], names[512];
static pthread_once_t list_once = PTHREAD_ONCE_INIT;

static void make_list(void) {
  size_t list_end = 0, names_end = 0;
  for (int g = 0; g < NGENERATORS; g++) {
    const trs_generator *generator = generators[g];
    char head[64];
    snprintf(head, sizeof head, "gen:%s:%s", generator->name, generator->arguments);
    list_end += (size_t)snprintf(list + list_end, sizeof list - list_end, "%-26s  %s\n", head,
                                 generator->summary);
    names_end += (size_t)snprintf(names + names_end, sizeof names - names_end, "%s%s",
                                  g ? ", " : "", generator->name);
  }
}

const char *trs_generator_list(void) {
  pthread_once(&list_once, make_list);
  return list;
}

static const trs_generator *find(const char *name, size_t length) {
  for (int g = 0; g < NGENERATORS; g++)
    if (strlen(generators[g]->name) == length && !strncmp(generators[g]->name, name, length))
      return generators[g];
  return NULL;
}

static trs_status unknown(const char *name, const char *kind, size_t length) {
  char words[512] = "", typed[64], near[64];
  size_t used = 0;
  pthread_once(&list_once, make_list);
  for (int g = 0; g < NGENERATORS; g++)
    used += (size_t)snprintf(words + used, sizeof words - used, "%s|", generators[g]->name);
  snprintf(typed, sizeof typed, "%.*s", (int)length, kind);
  const bool found = trs_nearest(near, sizeof near, typed, words);
  return trs_fail(TRS_ERROR_ARGUMENT, -1, "%.99s: no such generator%s%s%s: there are %s", name,
                  found ? ", did you mean gen:" : "", found ? near : "", found ? "?" : "", names);
}

static trs_status make(trs_matrix **A, const char *name, trs_team *team, trs_progress progress,
                       void *user) {
  *A = NULL;
  if (!trs_is_generated(name))
    return trs_fail(TRS_ERROR_ARGUMENT, -1, "%s: a generator's name starts with 'gen:'",
                    name ? name : "NULL");
  const char *kind = name + strlen(trs_generated.prefix);
  size_t length = strcspn(kind, ":");
  const trs_generator *generator = find(kind, length);
  if (!generator) return unknown(name, kind, length);
  trs_request request = {.name = name, .team = team, .progress = progress, .user = user};
  const char *text = kind[length] ? kind + length + 1 : kind + length;
  TRS_TRY(trs_request_parse(&request, generator, text));
  return generator->make(A, &request);
}

const trs_matrix_source trs_generated = {"gen:", make};
