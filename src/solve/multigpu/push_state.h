/* push_state.h - the state of `push`, and its parts: the deal (push.c), the members' memory
 * (push_load.c), solves (push_solve.c). */
#ifndef TRS_SOLVE_MULTIGPU_PUSH_STATE_H
#define TRS_SOLVE_MULTIGPU_PUSH_STATE_H

#include <stdatomic.h>

#include "analysis/deal.h"
#include "analysis/slice.h"
#include "device/shared.h"
#include "solve/cuda/gpu.h"
#include "plan/plan.h"
#include "solve/multigpu/first.h"
#include "solve/multigpu/joint.h"
#include "solve/multigpu/push.h"

enum { TRS_PUSH_STAGES = 2 };

/* A member that this process runs. */
typedef struct trs_push_member {
  int number;
  trs_device *device;
  trs_stream stream;
  trs_device_event *start, *done; /* start: of a solve; one member's serves all in one stream */
  trs_deal_share share;
  trs_push_run *run; /* nruns */
  int32_t nruns;
  void *memory; /* all of args' arrays that are not symmetric */
  int64_t bytes;
  trs_push_args args;
} trs_push_member;

/* What trs_outline_fill says of inverses that lose too many digits. */
typedef struct trs_push_verdict {
  atomic_llong refused;   /* blocks, in the last fill */
  uint8_t block_starts[]; /* n: where blocks begin because of them */
} trs_push_verdict;

typedef struct trs_push_state {
  trs_group *group;
  trs_team *team;           /* of the host */
  const trs_gpu_costs *gpu; /* the same in all processes */
  int members, local;
  bool one_process, float_values;
  trs_verdict *outcome; /* of the look, while it lasts; NULL: the method must not decline */
  bool races;           /* the look measures this plan against one GPU */
  bool broken;          /* a solve was launched at some members only */
  bool in_own_streams;  /* a solve since the last wait was made in several streams */
  int32_t most;         /* right-hand sides solved together */
  int64_t rule, use;    /* parameters; use: members that get rows, 0: chosen */
  int64_t substitute;   /* likewise: levels of a band, 0: no row is substituted, -1: chosen */
  trs_slice_rules rules;
  trs_push_verdict *verdict;
  int64_t refused; /* blocks that the analysis cut because of their inverses */
  trs_outline *outline;
  trs_slices slices; /* host; without entries; row: as in trs_joint.of, NULL until it is needed
                        (trs_push_need_rows) if the first GPU made the deal */
  int64_t n;         /* positions: rows of the system that is dealt */
  trs_joint joint;   /* that system if rows are substituted: without values once they are sent;
                        without any array if the first GPU made the deal */
  trs_gpu loaded;    /* during an analysis and an update: the system by rows on the first GPU; no
                        device: it is not there */
  trs_first first;   /* the deal, if the first GPU made it: then there is no outline */
  bool on_host;      /* the first GPU cannot make it */
  bool rejoins;      /* substitutes again, after new values have changed the pattern */
  trs_deal deal;
  double alone;         /* seconds of the one-GPU engine: measured where this is auto's choice, else
                           expected */
  int32_t alone_levels; /* of rows, if that is measured; 0: unknown */
  int32_t alone_joint_levels; /* of the joint system that it solves; 0: it substitutes no row */
  double together;            /* measured seconds of this plan; 0: not measured */
  trs_symmetric
      shared; /* at every member: work, counts, fault, and a stage with several processes */
  int64_t finished_at, fault_at;
  int64_t b_at, stage_at;  /* with several processes: b, and TRS_PUSH_STAGES times x */
  int64_t turn;            /* staged solves so far */
  trs_push_member *member; /* local */
  trs_fault *host_fault;   /* pinned: copy of fault as of the last wait */
  void *stage;             /* one process: n x stage_width at the first member */
  int64_t stage_width;
} trs_push_state;

/* The address of that offset of the shared memory at a member. */
static inline void *trs_push_shared_at(const trs_push_state *p, int number, int64_t offset) {
  return (char *)p->shared.base[number] + offset;
}

/* True if there is a deal. */
static inline bool trs_push_is_dealt(const trs_push_state *p) {
  return p->outline || p->first.device;
}

/* A member that this process runs, by its number in the group. */
static inline trs_push_member *trs_push_member_of(const trs_push_state *p, int number) {
  return &p->member[number - trs_group_first(p->group)];
}

/* A member's runs, which the caller frees with trs_free; `blocks` is not set.  members: the number
 * that have rows. */
trs_status trs_push_cut(trs_push_run **run, int32_t *nruns, const trs_deal_share *share,
                        const trs_slice_level *level, int32_t nlevels, int32_t members);

/* Excludes from clearing what only later runs of the member itself need. */
trs_status trs_push_spare(trs_push_member *m, const trs_deal *deal, const trs_slices *s);

/* The memory that members share; the local members' own memory, with their data; the upload of
 * their entries again. */
trs_status trs_push_share_memory(trs_push_state *p, const trs_plan *plan);
trs_status trs_push_equip(trs_push_state *p, const trs_plan *plan);
trs_status trs_push_renew(trs_push_state *p, const trs_plan *plan);
/* Size of a pinned buffer, unless one block of rows needs more.  The tests set less. */
extern int64_t trs_push_piece_bytes;

/* The system by rows in the first GPU's memory, and out of it. */
trs_status trs_push_load(trs_push_state *p, const trs_plan *plan);
void trs_push_unload(trs_push_state *p, const trs_plan *plan);
/* Features of the loaded system. */
trs_status trs_push_features(trs_push_state *p, trs_pattern_features *features);
/* The joint system of the loaded system, in first->joint. */
trs_status trs_push_join(trs_push_state *p, trs_first *first, bool *made);

static inline trs_joint_way trs_push_joint_way(const trs_push_state *p, const trs_system *S) {
  enum { MOST_FILL = 3 };
  return (trs_joint_way){.depth = p->substitute > 0 ? (int32_t)p->substitute : 0,
                         .members = p->use > 0 ? (int32_t)p->use : p->members,
                         .most = p->substitute > 0 ? INT64_MAX : MOST_FILL * (S->nnz + S->n),
                         .store_float = p->float_values,
                         .gpu = p->gpu,
                         .device = p->member[0].device,
                         .stream = p->member[0].stream};
}

/* slices.row. */
trs_status trs_push_need_rows(trs_push_state *p);

/* The tests set it: the host makes all deals. */
extern bool trs_push_on_host;

trs_status trs_push_solve(trs_plan *plan, const trs_rhs *rhs);
/* Waits for the plan's stream, which waits for all members. */
trs_status trs_push_finish(const trs_plan *plan, trs_push_state *p);

#endif
