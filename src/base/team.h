/* team.h - a fixed team of threads that runs one function on every member.
 *
 * Members spin between runs as long as the last pauses were, so that solves in a loop start within
 * a microsecond.  Then they sleep, so that an idle program uses no processor time.
 *
 * A run is made of shares, one per member.  A member that begins late, because it slept or because
 * something else has its processor, keeps nobody waiting: a member that has nothing else to do
 * takes its share.
 *
 * A forked child has none of its parent's threads; the first use of a team in the child restarts
 * its members. */
#ifndef TRS_BASE_TEAM_H
#define TRS_BASE_TEAM_H

#include "base/status.h"

typedef struct trs_team trs_team;

/* size members, of which the caller is member 0.  size 1 starts no thread. */
trs_status trs_team_create(trs_team **team, int size);
/* As trs_team_create, with as many threads up to size as can be started. */
trs_status trs_team_create_any(trs_team **team, int size);
void trs_team_destroy(trs_team *team);

/* NULL is a team of one. */
int trs_team_size(const trs_team *team);

/* In a forked child: restarts the members once.  A call that can fail calls this before it runs
 * anything on the team. */
trs_status trs_team_renew(trs_team *team);

/* Runs body(argument, rank, size) for the shares 0 .. size-1 and returns when all are done.  size
 * is at most the team's.  Member `rank` has share `rank`, unless it is late: the calling thread
 * takes the shares that nobody has begun when its own ends.  Not to be called from a body.  Calls
 * from several threads run one after the other. */
void trs_team_run(trs_team *team, int size, void (*body)(void *argument, int rank, int size),
                  void *argument);

/* For a body that waits for other shares: the number of a share that its member has not begun,
 * which the caller must now complete and end by trs_team_end; -1: there is none. */
int trs_team_take(trs_team *team);
void trs_team_end(trs_team *team, int share);

/* Member rank's share [begin, end) of count items. */
static inline void trs_share(int64_t count, int rank, int size, int64_t *begin, int64_t *end) {
  int64_t each = count / size, left = count % size;
  *begin = each * rank + left * rank / size;
  *end = each * (rank + 1) + left * (rank + 1) / size;
}

#endif
