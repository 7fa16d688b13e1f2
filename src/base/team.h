/* team.h - a fixed team of threads that runs one function on every member.
 *
 * Members spin between runs for a while, so that solves in a loop start within a microsecond, and
 * then sleep, so that an idle program burns nothing. */
#ifndef TRS_BASE_TEAM_H
#define TRS_BASE_TEAM_H

#include "base/status.h"

typedef struct trs_team trs_team;

/* size members, the caller being member 0; size 1 starts no thread. */
trs_status trs_team_create(trs_team **team, int size);
void trs_team_destroy(trs_team *team);

/* NULL is a team of one. */
int trs_team_size(const trs_team *team);

/* Runs body(argument, rank, size) on members 0 .. size-1 and returns when all are done.  size at
 * most the team's.  Not from within a body.  Calls from several threads take turns. */
void trs_team_run(trs_team *team, int size, void (*body)(void *argument, int rank, int size),
                  void *argument);

/* Member rank's share [begin, end) of count items. */
static inline void trs_share(int64_t count, int rank, int size, int64_t *begin, int64_t *end) {
  int64_t each = count / size, left = count % size;
  *begin = each * rank + left * rank / size;
  *end = each * (rank + 1) + left * (rank + 1) / size;
}

/* Cores this process may run on. */
int trs_cores(void);

void trs_yield(void);

/* One turn of a spin loop: polite to the sibling thread for a microsecond or two, then to the whole
 * machine, so that a team that shares its cores with others, or is larger than the machine, still
 * advances. */
static inline void trs_spin(unsigned *turns) {
  enum { PATIENCE = 200 };
  if (++*turns < PATIENCE) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
  } else {
    trs_yield();
  }
}

#endif
