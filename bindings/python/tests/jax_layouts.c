/* jax_layouts.c - prints the layouts that the custom call of trireme.jax relies on: by xla_ffi.h,
 * or with THEIRS by the header of the installed jaxlib, whose version ORDINAL says to name GPUs. */
#ifdef THEIRS
#include "xla/ffi/api/c_api.h"
#else
#include "xla_ffi.h"
#define ORDINAL
#endif
#include <stdio.h>

#define FIELD(type, field) \
  printf("%s.%s %zu %zu\n", #type, #field, offsetof(type, field), sizeof(((type *)0)->field))
#define VALUE(name) printf("%s %d\n", #name, (int)(name))

int main(void) {
  VALUE(XLA_FFI_API_MAJOR);
  VALUE(XLA_FFI_Extension_Metadata);
  VALUE(XLA_FFI_Error_Code_INVALID_ARGUMENT);
  VALUE(XLA_FFI_Error_Code_RESOURCE_EXHAUSTED);
  VALUE(XLA_FFI_Error_Code_UNIMPLEMENTED);
  VALUE(XLA_FFI_Error_Code_INTERNAL);
  VALUE(XLA_FFI_DataType_F32);
  VALUE(XLA_FFI_DataType_F64);
  VALUE(XLA_FFI_DataType_C64);
  VALUE(XLA_FFI_DataType_C128);
  VALUE(XLA_FFI_AttrType_SCALAR);
  VALUE(XLA_FFI_ExecutionStage_EXECUTE);
  FIELD(XLA_FFI_Extension_Base, type);
  FIELD(XLA_FFI_Extension_Base, next);
  FIELD(XLA_FFI_Api_Version, major_version);
  FIELD(XLA_FFI_Api_Version, minor_version);
  FIELD(XLA_FFI_Error_Create_Args, message);
  FIELD(XLA_FFI_Error_Create_Args, errc);
  FIELD(XLA_FFI_Stream_Get_Args, ctx);
  FIELD(XLA_FFI_Stream_Get_Args, stream);
  FIELD(XLA_FFI_Api, struct_size);
  FIELD(XLA_FFI_Api, api_version);
  FIELD(XLA_FFI_Api, XLA_FFI_Error_Create);
  FIELD(XLA_FFI_Api, XLA_FFI_Stream_Get);
#ifdef ORDINAL
  FIELD(XLA_FFI_DeviceOrdinal_Get_Args, ctx);
  FIELD(XLA_FFI_DeviceOrdinal_Get_Args, device_ordinal);
  FIELD(XLA_FFI_Api, XLA_FFI_DeviceOrdinal_Get);
#endif
  FIELD(XLA_FFI_Buffer, dtype);
  FIELD(XLA_FFI_Buffer, data);
  FIELD(XLA_FFI_Buffer, rank);
  FIELD(XLA_FFI_Buffer, dims);
  FIELD(XLA_FFI_ByteSpan, ptr);
  FIELD(XLA_FFI_ByteSpan, len);
  FIELD(XLA_FFI_Scalar, value);
  FIELD(XLA_FFI_Args, args);
  FIELD(XLA_FFI_Rets, rets);
  FIELD(XLA_FFI_Attrs, size);
  FIELD(XLA_FFI_Attrs, types);
  FIELD(XLA_FFI_Attrs, names);
  FIELD(XLA_FFI_Attrs, attrs);
  FIELD(XLA_FFI_CallFrame, extension_start);
  FIELD(XLA_FFI_CallFrame, api);
  FIELD(XLA_FFI_CallFrame, ctx);
  FIELD(XLA_FFI_CallFrame, args);
  FIELD(XLA_FFI_CallFrame, rets);
  FIELD(XLA_FFI_CallFrame, attrs);
  FIELD(XLA_FFI_Metadata, api_version);
  FIELD(XLA_FFI_Metadata, traits);
  FIELD(XLA_FFI_Metadata_Extension, metadata);
  return 0;
}
