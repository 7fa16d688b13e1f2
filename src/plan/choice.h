/* choice.h - the choice of a method: what it needs while a plan is analysed, and no later. */
#ifndef TRS_PLAN_CHOICE_H
#define TRS_PLAN_CHOICE_H

#include "analysis/panels.h"
#include "plan/plan.h"

enum { TRS_MOST_METHODS = 32 };

/* plan->choice. */
struct trs_choice {
  bool named;          /* the caller named the method, which must not decline */
  bool trial;          /* solves by the method are timed (tune.c): it must not decline either */
  bool on_cpu;         /* only methods of the CPU: the GPU has too little memory */
  double next;         /* auto's estimate, in seconds, of the next best method */
  trs_verdict verdict; /* of plan->method */
  uint32_t excluded;   /* one bit per method: auto chose it, and it declined or failed */
  double known[TRS_MOST_METHODS]; /* seconds of one solve by methods that have compared them */
  trs_panels panels;              /* the supernodes of the system, until a plan takes them */
  int dense;      /* 1: neighbours often share their patterns; -1: seldom; 0: not known yet */
  trs_plan *made; /* a plan of another method for the same system and options, which a look made to
                     time it; or NULL.  If auto takes that method, it need not analyse */
};

/* Takes the method's name, or NULL or "auto" for a choice; sets plan->method and plan->reason. */
trs_status trs_plan_choose(trs_plan *plan, const char *name);

/* The method that auto takes instead of one that declined or failed, and plan->reason; NULL: there
 * is none.  A method that compares stays a candidate, others do not. */
const trs_method *trs_plan_choose_next(trs_plan *plan, const trs_method *instead_of);

/* The look of plan->method, if it has one, and its analysis unless it declines: choice->verdict. */
trs_status trs_plan_try(trs_plan *plan);

/* True if the context has a GPU, which is looked for if so many numbers are worth it. */
bool trs_plan_finds_gpu(trs_context *context, int64_t numbers);

/* Why the method cannot solve the plan's system; NULL if it can. */
const char *trs_plan_refuses(const trs_plan *plan, const trs_method *method);

/* ---- For the methods ---- */

/* The choice that the plan, or the plan that it is a child of, is made in; NULL: there is none. */
static inline trs_choice *trs_choice_of(const trs_plan *plan) {
  return (plan->root ? plan->root : plan)->choice;
}

/* The verdict that auto takes another method, and why, as half a sentence.  True, for the caller's
 * return; false if there is no verdict. */
bool trs_decline(trs_verdict *verdict, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* True if a look of that method has compared its seconds. */
bool trs_plan_knows(const trs_plan *plan, const trs_method *method);

#endif
