/* choice.h - the choice of a method: what it needs while a plan is analysed, and no later. */
#ifndef TRS_PLAN_CHOICE_H
#define TRS_PLAN_CHOICE_H

#include "analysis/panels.h"
#include "plan/plan.h"

enum { TRS_MOST_METHODS = 32 };

/* plan->choice. */
struct trs_choice {
  bool named;          /* the caller named the method, which must not decline */
  bool trial;          /* solves by the method are timed (tune.h): it must not decline either */
  bool on_cpu;         /* only methods of the CPU: the GPU has too little memory */
  double next;         /* auto's estimate, in seconds, of the next best method */
  double seconds;      /* of one solve by the method's schedule, as estimates are; 0: not known */
  trs_verdict verdict; /* of the analysis by plan->method */
  bool gives_way;      /* the method that declines stays a candidate, by its known seconds */
  uint32_t excluded;   /* one bit per method: auto chose it, and its analysis declined or failed */
  double known[TRS_MOST_METHODS]; /* seconds of one solve by methods whose analysis knows them */
  trs_panels found;               /* supernodes that an analysis has found and none has taken yet */
  int dense;      /* 1: neighbours often share their patterns; -1: seldom; 0: not known yet */
  trs_plan *made; /* a plan of another method for the same system and options, which an analysis
                     made to time it; or NULL.  If auto takes that method, it need not analyse */
};

/* Takes the method's name, or NULL or "auto" for a choice; sets plan->method and plan->reason. */
trs_status trs_plan_choose(trs_plan *plan, const char *name);

/* The method that auto takes instead of one that declined or failed, and plan->reason; NULL: there
 * is none.  A method that gives way stays a candidate, others do not. */
const trs_method *trs_plan_choose_next(trs_plan *plan, const trs_method *instead_of);

/* True if the context has a GPU, which is looked for if so many numbers are worth it. */
bool trs_plan_finds_gpu(trs_context *context, int64_t numbers);

/* Why the method cannot solve the plan's system; NULL if it can. */
const char *trs_plan_refuses(const trs_plan *plan, const trs_method *method);

/* ---- For the analysis of a method ---- */

/* True if auto chose the method by its estimate: the analysis may decline.  *next: the estimated
 * seconds of the method that auto takes then. */
bool trs_plan_chosen(const trs_plan *plan, double *next);

/* The verdict that auto takes another method, and why, as half a sentence.  The analysis then ends
 * with TRS_SUCCESS.  True, for the caller's return. */
bool trs_plan_decline(trs_plan *plan, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* True if the last analysis declined. */
bool trs_plan_declined(const trs_plan *plan);

/* The analysis of plan->method knows the seconds of a solve, with their margin.  True if another
 * method may be faster: the analysis then declines, and auto takes that method, or comes back if it
 * declines. */
bool trs_plan_gives_way(trs_plan *plan, double seconds);

/* True if the analysis of that method gave way. */
bool trs_plan_knows(const trs_plan *plan, const trs_method *method);

/* The supernodes of the plan's system: children share those of their plan. */
trs_panels *trs_plan_found(const trs_plan *plan);

#endif
