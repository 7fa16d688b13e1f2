/* xla_ffi.h - what handler.c uses of XLA's foreign function interface, versions 0.1 to 0.3.
 *   XLA keeps the layout of these structures within a major version: newer ones have more fields at
 * their ends.  JAX 0.5 has version 0.1, JAX 0.10 has 0.3.  Source: xla/ffi/api/c_api.h of
 * OpenXLA, which jaxlib installs; a test compares the layouts with that file.  The names are XLA's.
 *   An XLA_FFI_Error belongs to who receives it.  All else belongs to XLA, for the time of the
 * call. */
#ifndef TRIREME_JAX_XLA_FFI_H
#define TRIREME_JAX_XLA_FFI_H

#include <stddef.h>
#include <stdint.h>

typedef struct XLA_FFI_Error XLA_FFI_Error;
typedef struct XLA_FFI_ExecutionContext XLA_FFI_ExecutionContext;

enum { XLA_FFI_API_MAJOR = 0, XLA_FFI_API_MINOR = 3 };

/* Every structure begins with its size, and a list that only XLA_FFI_CallFrame uses here. */
typedef enum XLA_FFI_Extension_Type { XLA_FFI_Extension_Metadata = 1 } XLA_FFI_Extension_Type;
typedef struct XLA_FFI_Extension_Base {
  size_t struct_size;
  XLA_FFI_Extension_Type type;
  struct XLA_FFI_Extension_Base *next;
} XLA_FFI_Extension_Base;

typedef struct XLA_FFI_Api_Version {
  size_t struct_size;
  XLA_FFI_Extension_Base *extension_start;
  int major_version, minor_version;
} XLA_FFI_Api_Version;

typedef enum XLA_FFI_Error_Code {
  XLA_FFI_Error_Code_INVALID_ARGUMENT = 3,
  XLA_FFI_Error_Code_RESOURCE_EXHAUSTED = 8,
  XLA_FFI_Error_Code_UNIMPLEMENTED = 12,
  XLA_FFI_Error_Code_INTERNAL = 13
} XLA_FFI_Error_Code;

typedef struct XLA_FFI_Error_Create_Args {
  size_t struct_size;
  XLA_FFI_Extension_Base *extension_start;
  const char *message;
  XLA_FFI_Error_Code errc;
} XLA_FFI_Error_Create_Args;

typedef struct XLA_FFI_Stream_Get_Args {
  size_t struct_size;
  XLA_FFI_Extension_Base *extension_start;
  XLA_FFI_ExecutionContext *ctx;
  void *stream; /* out: CUDA's */
} XLA_FFI_Stream_Get_Args;

typedef struct XLA_FFI_DeviceOrdinal_Get_Args {
  size_t struct_size;
  XLA_FFI_Extension_Base *extension_start;
  XLA_FFI_ExecutionContext *ctx;
  int32_t device_ordinal; /* out */
} XLA_FFI_DeviceOrdinal_Get_Args;

typedef void XLA_FFI_Unused(void);

typedef struct XLA_FFI_Api {
  size_t struct_size;
  XLA_FFI_Extension_Base *extension_start;
  XLA_FFI_Api_Version api_version;
  const void *internal_api;
  XLA_FFI_Error *(*XLA_FFI_Error_Create)(XLA_FFI_Error_Create_Args *args);
  XLA_FFI_Unused *error_get_message, *error_destroy, *handler_register;
  XLA_FFI_Error *(*XLA_FFI_Stream_Get)(XLA_FFI_Stream_Get_Args *args);
  XLA_FFI_Unused *type_register, *context_get, *state_set, *state_get, *memory_allocate;
  XLA_FFI_Unused *memory_free, *pool_schedule, *pool_threads;
  XLA_FFI_Unused *future_create, *future_available, *future_error, *run_id_get;
  /* From jaxlib 0.6.2 on: struct_size tells. */
  XLA_FFI_Error *(*XLA_FFI_DeviceOrdinal_Get)(XLA_FFI_DeviceOrdinal_Get_Args *args);
} XLA_FFI_Api;

typedef enum XLA_FFI_DataType {
  XLA_FFI_DataType_F32 = 11,
  XLA_FFI_DataType_F64 = 12,
  XLA_FFI_DataType_C64 = 15,
  XLA_FFI_DataType_C128 = 18
} XLA_FFI_DataType;

typedef struct XLA_FFI_Buffer {
  size_t struct_size;
  XLA_FFI_Extension_Base *extension_start;
  XLA_FFI_DataType dtype;
  void *data;
  int64_t rank;
  int64_t *dims; /* rank of them */
} XLA_FFI_Buffer;

typedef struct XLA_FFI_ByteSpan {
  const char *ptr;
  size_t len;
} XLA_FFI_ByteSpan;

typedef struct XLA_FFI_Scalar {
  XLA_FFI_DataType dtype;
  void *value;
} XLA_FFI_Scalar;

typedef enum XLA_FFI_AttrType { XLA_FFI_AttrType_SCALAR = 3 } XLA_FFI_AttrType;

/* Arguments, results and attributes: `size` of each. */
typedef struct XLA_FFI_Args {
  size_t struct_size;
  XLA_FFI_Extension_Base *extension_start;
  int64_t size;
  const int *types;
  void **args;
} XLA_FFI_Args;

typedef struct XLA_FFI_Rets {
  size_t struct_size;
  XLA_FFI_Extension_Base *extension_start;
  int64_t size;
  const int *types;
  void **rets;
} XLA_FFI_Rets;

typedef struct XLA_FFI_Attrs {
  size_t struct_size;
  XLA_FFI_Extension_Base *extension_start;
  int64_t size;
  XLA_FFI_AttrType *types;
  XLA_FFI_ByteSpan **names;
  void **attrs;
} XLA_FFI_Attrs;

typedef enum XLA_FFI_ExecutionStage { XLA_FFI_ExecutionStage_EXECUTE = 3 } XLA_FFI_ExecutionStage;

typedef struct XLA_FFI_CallFrame {
  size_t struct_size;
  XLA_FFI_Extension_Base *extension_start;
  const XLA_FFI_Api *api;
  XLA_FFI_ExecutionContext *ctx;
  XLA_FFI_ExecutionStage stage;
  XLA_FFI_Args args;
  XLA_FFI_Rets rets;
  XLA_FFI_Attrs attrs;
} XLA_FFI_CallFrame;

/* XLA asks a handler what it is by a call with this extension. */
typedef struct XLA_FFI_Metadata {
  size_t struct_size;
  XLA_FFI_Api_Version api_version;
  uint32_t traits;
} XLA_FFI_Metadata;

typedef struct XLA_FFI_Metadata_Extension {
  XLA_FFI_Extension_Base extension_base;
  XLA_FFI_Metadata *metadata;
} XLA_FFI_Metadata_Extension;

#endif
