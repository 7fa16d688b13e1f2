/* joint.c - a joint system from the engine's kernels, in host memory. */
#include "solve/multigpu/joint.h"

#include "base/memory.h"
#include "base/scalar.h"
#include "device/arena.h"
#include "solve/cuda/engine/choice.h"
#include "solve/cuda/engine/substitute.h"
#include "solve/cuda/transpose.h"

typedef struct making {
  const trs_joint_way *way;
  const trs_system *S;
  trs_arena memory;  /* of `system` if it is not the caller's */
  trs_system system; /* device */
  trs_gpu_cut *cut;  /* into single rows */
  trs_slices slices; /* its counts */
  trs_slice_level *level;
  trs_gpu_substitution result;
  trs_substitution_found *found; /* pinned */
} making;

static trs_status load(making *m) {
  const trs_system *S = m->S;
  trs_system *T = &m->system;
  *T = *S;
  TRS_TRY(TRS_ARENA_UPLOAD(&m->memory, &T->ptr, S->ptr, S->n + 1));
  TRS_TRY(TRS_ARENA_UPLOAD(&m->memory, &T->idx, S->idx, S->nnz));
  TRS_TRY(trs_arena_upload(&m->memory, &T->val, S->val, S->nnz, trs_scalar_size(S->scalar)));
  if (S->conj) TRS_TRY(trs_gpu_conjugate((void *)T->val, S->nnz, S->scalar, m->way->stream));
  T->conj = false;
  return TRS_SUCCESS;
}

static trs_status find_levels(making *m) {
  const trs_system *S = m->S;
  const double row = (double)S->nnz / (double)S->n - S->has_diagonal;
  trs_slice_rules rules = trs_rows_rules(row, false);
  rules.most_block = 1;
  TRS_TRY(trs_gpu_cut_begin(&m->cut, m->way->device, &m->system, NULL, &rules, NULL, NULL,
                            m->way->stream));
  return trs_gpu_cut_finish(m->cut, &m->slices, &m->level);
}

/* Bands of fewer levels if M had too many entries. */
static trs_status substitute(making *m, bool *made) {
  const int32_t nlevels = m->slices.nlevels;
  trs_gpu_costs gpu = *m->way->gpu;
  gpu.hop_entries *= m->way->members;
  int32_t depth = m->way->depth > 0 ? m->way->depth : trs_substitution_depth(nlevels);
  for (*made = false; depth > 1 && nlevels > 1 && !*made; depth = depth * 3 / 4) {
    trs_bands bands;
    trs_status status = trs_bands_create(&bands, m->level, nlevels, depth, &gpu);
    if (!status)
      status = trs_gpu_substitute(&m->result, made, m->cut, &bands, m->way->most,
                                  m->way->store_float, NULL, NULL, m->found);
    trs_bands_destroy(&bands);
    TRS_TRY(status);
    if (!m->found->overflow) break;
  }
  return TRS_SUCCESS;
}

static trs_status download(const making *m, trs_joint *j) {
  const trs_gpu_substitution *s = &m->result;
  const trs_system *T = &s->joint;
  const trs_stream stream = m->way->stream;
  j->system = *T;
  j->system.ptr = NULL, j->system.idx = NULL, j->system.val = NULL;
  j->ny = s->ny;
  j->nlevels = s->nlevels;
  j->guarded = s->guarded;
  TRS_TRY(TRS_DEVICE_FETCH(&j->system.ptr, T->ptr, T->n + 1, stream));
  TRS_TRY(TRS_DEVICE_FETCH(&j->system.idx, T->idx, T->nnz, stream));
  TRS_TRY(trs_device_fetch(&j->system.val, T->val, T->nnz, trs_scalar_size(T->scalar), stream));
  TRS_TRY(TRS_DEVICE_FETCH(&j->of, s->of, T->n, stream));
  return TRS_DEVICE_FETCH(&j->known, s->known, T->n, stream);
}

static trs_status make_there(making *m, bool *made) {
  TRS_TRY(trs_device_alloc_host(m->way->device, (void **)&m->found));
  TRS_TRY(find_levels(m));
  return substitute(m, made);
}

static trs_status make(making *m, trs_joint *joint, bool *made) {
  TRS_TRY(load(m));
  TRS_TRY(make_there(m, made));
  return *made ? download(m, joint) : TRS_SUCCESS;
}

static void clean(making *m) {
  trs_device *device = m->way->device;
  const trs_stream stream = m->way->stream;
  trs_gpu_substitution_free(&m->result, device, stream);
  trs_gpu_cut_free(m->cut);
  trs_free(m->level);
  trs_arena_free(&m->memory);
  if (m->found) trs_device_free_host(device, m->found);
}

trs_status trs_joint_create(trs_joint *joint, bool *made, const trs_system *S,
                            const trs_joint_way *way) {
  making m = {.way = way, .S = S, .memory = {.device = way->device, .stream = &way->stream}};
  *joint = (trs_joint){0};
  *made = false;
  if (S->n == 0 || S->n > TRS_MOST_JOINT_ROWS) return TRS_SUCCESS;
  const int before = trs_device_enter(way->device);
  trs_status status = make(&m, joint, made);
  const trs_status waited = trs_device_wait(way->stream); /* what is freed may still be read */
  clean(&m);
  trs_device_leave(before);
  if (!status) status = waited;
  if (status || !*made) trs_joint_destroy(joint);
  *made = *made && !status;
  return status;
}

trs_status trs_joint_create_there(trs_gpu_substitution *joint, bool *made, const trs_system *system,
                                  const trs_joint_way *way) {
  making m = {.way = way, .S = system, .system = *system};
  *joint = (trs_gpu_substitution){0};
  *made = false;
  if (system->n == 0 || system->n > TRS_MOST_JOINT_ROWS) return TRS_SUCCESS;
  TRS_ON_DEVICE(way->device);
  trs_status status = make_there(&m, made);
  const trs_status waited = trs_device_wait(way->stream);
  if (!status) status = waited;
  *made = *made && !status;
  if (*made) *joint = m.result;
  if (*made) m.result = (trs_gpu_substitution){0};
  clean(&m);
  return status;
}
