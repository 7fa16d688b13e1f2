/* trireme_petsc.h - what the files of libtrireme_petsc share.
 *   PETSc loads the library by -dll_append and calls PetscDLLibraryRegister_trireme_petsc, which
 * registers the MatSolverType "trireme" and the PC "triremerelax" (register.c). */
#ifndef TRIREME_PETSC_H
#define TRIREME_PETSC_H

#include <petscmat.h>
#include <stdbool.h>
#include <trireme.h>

#ifndef PETSC_SUCCESS /* PETSc 3.18 has none */
#if PETSC_VERSION_LT(3, 19, 0)
#define PETSC_SUCCESS 0
#endif
#endif

#if defined(PETSC_USE_REAL_SINGLE)
#define TRS_PETSC_SCALAR (PetscDefined(USE_COMPLEX) ? TRS_SCOMPLEX : TRS_FLOAT)
#elif defined(PETSC_USE_REAL_DOUBLE)
#define TRS_PETSC_SCALAR (PetscDefined(USE_COMPLEX) ? TRS_DCOMPLEX : TRS_DOUBLE)
#else
#error "Trireme has no numbers of half or quadruple precision: build PETSc with double or single"
#endif

/* How PETSc stores row pointers and columns. */
#define TRS_PETSC_INDEXING \
  (PetscDefined(USE_64BIT_INDICES) ? TRS_PTR64 | TRS_IDX64 : TRS_PTR32 | TRS_IDX32)

enum { TRS_PETSC_NAME = 256 }; /* bytes of an option's text */

/* Events of -log_view. */
typedef struct trs_petsc_events {
  PetscLogEvent factor, analyze, update, solve, relax_setup, relax;
} trs_petsc_events;
extern trs_petsc_events trs_petsc_event;

/* Trireme's last message, whose remedy is in PETSc's words; valid until the next call. */
const char *trs_petsc_message(void);
/* Turns a failure into PETSc's error, with that message. */
PetscErrorCode trs_petsc_check(trs_status status);

/* PETSc's error of a failure, with another message than Trireme's. */
PetscErrorCode trs_petsc_fail(trs_status status, const char *what);

/* Where a process works unless it is told: alone on every core or the GPU, beside others on one
 * core each. */
PetscErrorCode trs_petsc_default_backend(char backend[TRS_PETSC_NAME]);

/* As trs_petsc_check; the message begins with the option that it is about. */
PetscErrorCode trs_petsc_check_option(trs_status status, const char *option);

/* The context that the option names, one for all factors of a process; PetscFinalize destroys it.
 */
PetscErrorCode trs_petsc_context(trs_context **context, const char *backend, const char *option);

/* The stream that PETSc orders its work on, a cudaStream_t; NULL: the default stream. */
PetscErrorCode trs_petsc_stream(void **stream);

/* Waits for the work in that stream, unless it is the default one. */
PetscErrorCode trs_petsc_settle(void);

/* Registers all of it; PETSc calls the function by its name. */
PETSC_EXTERN PetscErrorCode PetscDLLibraryRegister_trireme_petsc(void);
PetscErrorCode trs_petsc_register_factors(void);
PetscErrorCode trs_petsc_register_relax(void);

#endif
