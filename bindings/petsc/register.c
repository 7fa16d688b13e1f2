/* register.c - what PETSc calls when it loads the library, and what all parts of it share. */
#include "trireme_petsc.h"

#include <petscdevice.h>
#include <petscpc.h>
#include <string.h>

trs_petsc_events trs_petsc_event;

typedef struct shared_context {
  char backend[TRS_PETSC_NAME];
  trs_context *context;
  struct shared_context *next;
} shared_context;

static shared_context *contexts;

static PetscErrorCode code_of(trs_status status) {
  switch (status) {
    case TRS_ERROR_ARGUMENT:
      return PETSC_ERR_ARG_WRONG;
    case TRS_ERROR_MEMORY:
      return PETSC_ERR_MEM;
    case TRS_ERROR_STRUCTURE:
      return PETSC_ERR_ARG_WRONGSTATE;
    case TRS_ERROR_ZERO_PIVOT:
    case TRS_ERROR_NOT_FINITE:
      return PETSC_ERR_MAT_LU_ZRPVT;
    case TRS_ERROR_UNSUPPORTED:
      return PETSC_ERR_SUP;
    default:
      return PETSC_ERR_LIB;
  }
}

/* Remedies of Trireme's messages, and what a PETSc user calls them. */
static const char *const remedies[][2] = {
    {"set add_diagonal, which adds them",
     "store one by MatSetValue; for ilu -pc_factor_diagonal_fill adds them"},
    {"use ILU(0), or say by uplo which triangle is stored", "use -pc_type ilu"},
    {"another order, or a larger diagonal, may help",
     "-pc_factor_shift_type nonzero, another order, or a larger diagonal, may help"},
    {"use a shift", "use -pc_factor_shift_type"}};

const char *trs_petsc_message(void) {
  static char text[1024];
  const char *said = trs_last_error()->message;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(remedies); k++) {
    const char *at = strstr(said, remedies[k][0]);
    if (!at) continue;
    (void)PetscSNPrintf(text, sizeof text, "%.*s%s%s", (int)(at - said), said, remedies[k][1],
                        at + strlen(remedies[k][0]));
    return text;
  }
  return said;
}

PetscErrorCode trs_petsc_check(trs_status status) {
  PetscFunctionBegin;
  PetscCheck(!status, PETSC_COMM_SELF, code_of(status), "Trireme: %s", trs_petsc_message());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode trs_petsc_fail(trs_status status, const char *what) {
  PetscFunctionBegin;
  SETERRQ(PETSC_COMM_SELF, code_of(status), "Trireme: %s", what);
}

PetscErrorCode trs_petsc_check_option(trs_status status, const char *option) {
  PetscFunctionBegin;
  PetscCheck(!status, PETSC_COMM_SELF, code_of(status), "Trireme: %s: %s", option,
             trs_last_error()->message);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode trs_petsc_default_backend(char backend[TRS_PETSC_NAME]) {
  PetscMPIInt processes;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &processes));
  PetscCall(PetscStrncpy(backend, processes == 1 ? "auto" : "serial", TRS_PETSC_NAME));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode destroy_contexts(void) {
  PetscFunctionBegin;
  while (contexts) {
    shared_context *first = contexts;
    contexts = first->next;
    trs_context_destroy(first->context);
    PetscCall(PetscFree(first));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode trs_petsc_context(trs_context **context, const char *backend, const char *option) {
  shared_context *it = contexts;
  PetscBool same = PETSC_FALSE;
  PetscFunctionBegin;
  for (; it; it = it->next) {
    PetscCall(PetscStrcmp(it->backend, backend, &same));
    if (same) break;
  }
  if (!it) {
    trs_context *made;
    PetscCall(trs_petsc_check_option(trs_context_create(&made, backend), option));
    PetscCall(PetscNew(&it));
    PetscCall(PetscStrncpy(it->backend, backend, sizeof it->backend));
    it->context = made;
    it->next = contexts;
    if (!contexts) PetscCall(PetscRegisterFinalize(destroy_contexts));
    contexts = it;
  }
  *context = it->context;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode trs_petsc_stream(void **stream) {
  PetscFunctionBegin;
  *stream = NULL;
#if PetscDefined(HAVE_CUDA) && PETSC_VERSION_GE(3, 19, 0) /* 3.18 works on the default stream */
  PetscDeviceContext device;
  void *handle = NULL;
  PetscCall(PetscDeviceContextGetCurrentContext(&device));
  PetscCall(PetscDeviceContextGetStreamHandle(device, &handle));
  if (handle) *stream = *(void **)handle;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode trs_petsc_settle(void) {
  PetscFunctionBegin;
#if PetscDefined(HAVE_CUDA) && PETSC_VERSION_GE(3, 19, 0)
  PetscDeviceContext device;
  PetscCall(PetscDeviceContextGetCurrentContext(&device));
  PetscCall(PetscDeviceContextSynchronize(device));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A program may finalise PETSc and initialise it again: events and types are then registered anew.
 */
PetscErrorCode PetscDLLibraryRegister_trireme_petsc(void) {
  PetscFunctionBegin;
  /* A registered solver type hides PETSc's own ones if it is the first of all. */
  PetscCall(MatInitializePackage());
  PetscCall(PCInitializePackage());
  PetscCall(PetscLogEventRegister("TriremeFactor", MAT_CLASSID, &trs_petsc_event.factor));
  PetscCall(PetscLogEventRegister("TriremeAnalyze", MAT_CLASSID, &trs_petsc_event.analyze));
  PetscCall(PetscLogEventRegister("TriremeUpdate", MAT_CLASSID, &trs_petsc_event.update));
  PetscCall(PetscLogEventRegister("TriremeSolve", MAT_CLASSID, &trs_petsc_event.solve));
  PetscCall(PetscLogEventRegister("TriremeRelaxSet", PC_CLASSID, &trs_petsc_event.relax_setup));
  PetscCall(PetscLogEventRegister("TriremeRelax", PC_CLASSID, &trs_petsc_event.relax));
  PetscCall(trs_petsc_register_factors());
  PetscCall(trs_petsc_register_relax());
  PetscFunctionReturn(PETSC_SUCCESS);
}
